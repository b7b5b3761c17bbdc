/* SPDX-License-Identifier: MIT
 *
 * Answers about executions as columns: one row an execution, a table for each metric, the tree that
 * they share, and what a comparison found in it. Texts are numbered.
 */
#include "render/columns/compared.h"

#include "render/columns/columns.h"
#include "render/columns/tables.h"
#include "render/text/compare.h"
#include "render/text/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum weft_code fits(uint64_t n_bytes, struct weft_err *err)
{
    if (n_bytes <= WEFT_COMPARED_BYTES_MAX)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "the answer would have more than %d MiB: ask for less at a time",
                     (int)(WEFT_COMPARED_BYTES_MAX >> 20));
}

/* ---- executions ------------------------------------------------------------------------------ */

/* An item, as its columns are made from it. */
struct item {
    uint64_t id, tid, start_ns, end_ns;
    uint32_t source, flags, thread;
};

/* What the answer has: the matrix with its texts numbered. */
struct listing {
    const struct weft_listing_view *view;
    const struct weft_ecct_matrix *matrix;
    struct weft_arena *arena;
    struct item *items;
    struct weft_str *threads; /* names, each once */
    size_t n_threads;
};

static int by_thread(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_execution_item *items = context;
    const struct weft_str *a = &items[*(const uint32_t *)a_ptr].thread;
    const struct weft_str *b = &items[*(const uint32_t *)b_ptr].thread;
    const size_t n = a->n_bytes < b->n_bytes ? a->n_bytes : b->n_bytes;
    const int order = n ? memcmp(a->bytes, b->bytes, n) : 0;
    return order ? order : (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
}

/* Threads by name, each name once. */
static bool number_threads(struct listing *listing)
{
    const struct weft_ecct_matrix *matrix = listing->matrix;
    uint32_t *order = WEFT_ARENA_NEW(listing->arena, matrix->n_items + 1, uint32_t);
    listing->threads = WEFT_ARENA_NEW(listing->arena, matrix->n_items + 1, struct weft_str);
    if (!order || !listing->threads)
        return false;
    for (uint32_t i = 0; i < matrix->n_items; i++)
        order[i] = i;
    qsort_r(order, matrix->n_items, sizeof *order, by_thread, matrix->items);
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_str name = matrix->items[order[i]].thread;
        if (i == 0 || !weft_str_equal(name, listing->threads[listing->n_threads - 1]))
            listing->threads[listing->n_threads++] = name;
        listing->items[order[i]].thread = (uint32_t)(listing->n_threads - 1);
    }
    return true;
}

static bool list_items(struct listing *listing)
{
    const struct weft_ecct_matrix *matrix = listing->matrix;
    listing->items = WEFT_ARENA_NEW(listing->arena, matrix->n_items + 1, struct item);
    if (!listing->items)
        return false;
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[i];
        listing->items[i] = (struct item){ .id = item->id,
                                           .tid = item->tid,
                                           .start_ns = item->start_ns,
                                           .end_ns = item->end_ns,
                                           .source = item->source,
                                           .flags = item->flags };
    }
    return number_threads(listing);
}

static void put_sources(const struct listing *listing, struct weft_json *json)
{
    weft_json_begin_array(json, "sources");
    for (size_t i = 0; i < listing->matrix->n_sources; i++) {
        const struct weft_execution_source *source = &listing->matrix->sources[i];
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "path", source->path);
        weft_json_str(json, "host", source->host);
        weft_json_str(json, "tag", source->tag);
        listing->view->put_trace(listing->view->context, json, source->path);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

/* What a frame's name says of a state, as data. */
static void put_state(const struct weft_frame *frame, struct weft_json *json)
{
    weft_json_text(json, "state", weft_frame_state_name(frame->state));
    if (frame->state != WEFT_FRAME_BLOCKED)
        return;
    weft_json_text(json, "reason", weft_path_reason_name(frame->reason));
    weft_json_str(json, "wait", weft_frame_wait(frame));
}

static void put_frames(const struct weft_ecct_matrix *matrix, struct weft_json *json)
{
    weft_json_begin_array(json, "frames");
    for (size_t i = 0; i < matrix->n_frames; i++) {
        const struct weft_frame *frame = &matrix->frames[i];
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", frame->name);
        weft_json_str(json, "module", frame->module);
        weft_json_text(json, "kind", weft_frame_kind_name(frame->kind));
        if (frame->kind == WEFT_FRAME_STATE)
            put_state(frame, json);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void put_metric(const struct weft_metric *metric, struct weft_json *json)
{
    enum weft_path_state state;
    enum weft_path_reason reason;
    weft_json_begin_object(json, NULL);
    weft_json_str(json, "name", metric->name);
    weft_json_text(json, "unit", weft_metric_unit_name(metric->unit));
    if (weft_execution_path_value_of(metric->name, &state, &reason)) {
        weft_json_text(json, "state", weft_path_state_name(state));
        if (state == WEFT_PATH_BLOCKED)
            weft_json_text(json, "reason", weft_path_reason_name(reason));
    }
    weft_json_end_object(json);
}

static void put_listing(const void *context, struct weft_json *json)
{
    const struct listing *listing = context;
    const struct weft_ecct_matrix *matrix = listing->matrix;
    weft_json_u64(json, "damaged", matrix->n_damaged);
    weft_json_u64(json, "damaged_metrics", matrix->n_damaged_metrics);
    weft_json_u64(json, "damaged_facts", matrix->n_damaged_facts);
    weft_json_u64(json, "partial_runs", matrix->n_partial);
    if (listing->view->weights)
        weft_json_u64(json, "executions", listing->view->n_all);
    weft_json_begin_array(json, "threads");
    for (size_t i = 0; i < listing->n_threads; i++)
        weft_json_str(json, NULL, listing->threads[i]);
    weft_json_end_array(json);
    weft_json_begin_array(json, "metrics");
    for (size_t i = 0; i < matrix->n_metrics; i++)
        put_metric(&matrix->metrics[i], json);
    weft_json_end_array(json);
    put_sources(listing, json);
    put_frames(matrix, json);
}

#define ROW struct item

static const struct weft_field item_fields[] = {
    WEFT_COLUMN("id", F64, id),
    WEFT_COLUMN("source", U32, source),
    WEFT_COLUMN("tid", F64, tid),
    WEFT_COLUMN("thread", U32, thread),
    WEFT_COLUMN("start_ns", F64, start_ns),
    WEFT_COLUMN("end_ns", F64, end_ns),
    WEFT_COLUMN("flags", U8, flags),
};

const struct weft_table_type weft_matrix_items_type =
    WEFT_TABLE_TYPE("executions_compared", "executions of a comparison", item_fields, ROW);

#undef ROW
#define ROW struct weft_ecct_node

static const struct weft_field node_fields[] = {
    WEFT_COLUMN("parent", I32, parent),
    WEFT_COLUMN("frame", I32, frame),
    WEFT_COLUMN("confidence", U8, confidence),
};

const struct weft_table_type weft_matrix_nodes_type =
    WEFT_TABLE_TYPE("nodes_compared", "nodes of the tree of a comparison", node_fields, ROW);

/* A value a row. */
struct value {
    double value;
};
struct flag {
    uint8_t value;
};
struct word {
    uint32_t value;
};

#undef ROW
#define ROW struct value
static const struct weft_field value_fields[] = { WEFT_COLUMN("value", F64, value) };
static const struct weft_table_type values_type =
    WEFT_TABLE_TYPE("values", "numbers", value_fields, ROW);

#undef ROW
#define ROW struct flag
static const struct weft_field flag_fields[] = { WEFT_COLUMN("value", U8, value) };
static const struct weft_table_type flags_type = WEFT_TABLE_TYPE("flags", "bits", flag_fields, ROW);

#undef ROW
#define ROW struct word
static const struct weft_field word_fields[] = { WEFT_COLUMN("value", U32, value) };
static const struct weft_table_type words_type =
    WEFT_TABLE_TYPE("words", "places", word_fields, ROW);

#define TABLE(name, type, rows, n) ((struct weft_columns_table){ name, &(type), rows, n, NULL })

/* The items, the nodes, and a table for each metric, named by its place. */
static enum weft_code write_listing(const struct listing *listing, struct weft_output *out,
                                    struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = listing->matrix;
    const size_t n_tables = matrix->n_metrics + 3;
    struct weft_columns_table *tables =
        WEFT_ARENA_NEW(listing->arena, n_tables, struct weft_columns_table);
    size_t n = 0;
    if (!tables)
        return weft_no_memory(err, "executions");
    tables[n++] = TABLE("executions", weft_matrix_items_type, listing->items, matrix->n_items);
    tables[n++] = TABLE("nodes", weft_matrix_nodes_type, matrix->nodes, matrix->n_nodes);
    for (size_t i = 0; i < matrix->n_metrics; i++) {
        char *name = WEFT_ARENA_NEW(listing->arena, 32, char);
        if (!name)
            return weft_no_memory(err, "executions");
        snprintf(name, 32, "metric_%zu", i);
        tables[n++] = TABLE(name, values_type, matrix->metrics[i].values, matrix->n_items);
    }
    if (listing->view->weights)
        tables[n++] = TABLE("weights", values_type, listing->view->weights, matrix->n_items);
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += weft_columns_bytes(&tables[i]);
    enum weft_code code = fits(n_bytes, err);
    if (code == WEFT_OK)
        weft_columns_write(tables, n, put_listing, listing, out);
    return code;
}

enum weft_code weft_render_listing(struct weft_output *out, const struct weft_listing_view *view,
                                   struct weft_err *err)
{
    struct listing listing = { .view = view, .matrix = view->matrix, .arena = weft_arena_new(0) };
    if (!listing.arena)
        return weft_no_memory(err, "executions");
    const enum weft_code code = list_items(&listing) ? write_listing(&listing, out, err)
                                                     : weft_no_memory(err, "executions");
    weft_arena_free(listing.arena);
    return code;
}

/* ---- one context ----------------------------------------------------------------------------- */

/* Nodes come after their parents. */
static void sum_context(const struct weft_ecct_matrix *matrix, uint64_t node, uint8_t *is_below,
                        double *context)
{
    for (size_t i = 0; i < matrix->n_nodes; i++) {
        const uint32_t parent = matrix->nodes[i].parent;
        is_below[i] = i == node || (parent != WEFT_ID_NONE && is_below[parent]);
    }
    for (size_t e = 0; e < matrix->n_items; e++) {
        uint64_t ns = 0;
        for (uint64_t k = matrix->starts[e]; k < matrix->starts[e + 1]; k++)
            ns += is_below[matrix->node[k]] ? matrix->ns[k] : 0;
        context[e] = (double)ns;
    }
}

enum weft_code weft_render_context(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                                   uint64_t node, struct weft_err *err)
{
    if (node >= matrix->n_nodes)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "node: expected a number below %zu",
                         matrix->n_nodes);
    uint8_t *is_below = calloc(matrix->n_nodes, sizeof *is_below);
    double *context = calloc(matrix->n_items + 1, sizeof *context);
    enum weft_code code = is_below && context ? WEFT_OK : weft_no_memory(err, "executions");
    if (code == WEFT_OK) {
        const struct weft_columns_table table =
            TABLE("context", values_type, context, matrix->n_items);
        sum_context(matrix, node, is_below, context);
        weft_columns_write(&table, 1, NULL, NULL, out);
    }
    free(context);
    free(is_below);
    return code;
}

/* ---- what differs ---------------------------------------------------------------------------- */

/* What the header of a comparison is made of. */
struct answered {
    const struct weft_compare_table *table;
    struct weft_str verdict;
    size_t answer_bytes; /* of the verdict, its answer; the grounds follow after ". " */
};

static void put_counts(const void *context, struct weft_json *json)
{
    const struct answered *answered = context;
    const struct weft_compare_table *table = answered->table;
    weft_json_str(json, "verdict", answered->verdict);
    const struct weft_str verdict = answered->verdict;
    const size_t n = answered->answer_bytes, n_gap = n < verdict.n_bytes ? strlen(". ") : 0;
    weft_json_str(json, "answer", (struct weft_str){ verdict.bytes, n });
    weft_json_str(json, "grounds",
                  (struct weft_str){ verdict.bytes + n + n_gap, verdict.n_bytes - n - n_gap });
    weft_json_u64(json, "a", table->n_a);
    weft_json_u64(json, "b", table->n_b);
    weft_json_u64(json, "neither", table->n_neither);
    weft_json_u64(json, "both", table->n_both);
    weft_json_bool(json, "by_runs", table->is_by_runs);
    weft_json_bool(json, "too_small", table->is_small);
}

enum weft_code weft_render_compared(struct weft_output *out, const struct weft_compared_view *view,
                                    struct weft_err *err)
{
    const struct weft_compare_table *table = view->table;
    const struct weft_columns_table tables[] = {
        TABLE("nodes", weft_compare_nodes_type, table->nodes, table->n_nodes),
        TABLE("ranked", words_type, table->ranked, table->n_ranked),
        TABLE("metrics", weft_compare_metrics_type, table->metrics, table->n_metrics),
        TABLE("causes", weft_compare_causes_type, table->causes, table->n_causes),
        TABLE("cause_of", words_type, table->cause_of, table->n_causes ? view->n_cause_of : 0),
        TABLE("members", flags_type, view->members, view->n_items),
    };
    const size_t n = sizeof tables / sizeof *tables;
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += weft_columns_bytes(&tables[i]);
    struct weft_output *verdict = NULL;
    enum weft_code code = fits(n_bytes, err);
    WEFT_THEN(code, weft_output_to_memory(&verdict, err));
    if (code == WEFT_OK) {
        struct answered answered = { .table = view->comparison->table };
        weft_render_answer(verdict, view->comparison);
        answered.answer_bytes = weft_output_held(verdict).n_bytes;
        weft_render_grounds(verdict, view->comparison);
        answered.verdict = weft_output_held(verdict);
        weft_columns_write(tables, n, put_counts, &answered, out);
        weft_output_drop(verdict, out);
    }
    return code;
}
