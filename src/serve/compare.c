/* SPDX-License-Identifier: MIT
 *
 * Executions, and what differs between two groups of them (docs/http-api.md).
 */
#include "schema/compare.h"

#include "query/database/database.h"
#include "query/executions.h"
#include "render/columns/columns.h"
#include "render/text/compare.h"
#include "render/text/render.h"
#include "render/text/tables.h"
#include "serve/state.h"
#include "serve/tables.h"

#include <stdlib.h>
#include <string.h>

/* ---- types ----------------------------------------------------------------------------------- */

static void put_types(struct weft_json *json, const struct weft_execution_type *types,
                      size_t n_types)
{
    weft_json_begin_array(json, "types");
    for (size_t i = 0; i < n_types; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", types[i].name);
        weft_json_u64(json, "count", types[i].count);
        weft_json_u64(json, "unfinished", types[i].unfinished);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void put_proposals(struct weft_json *json, const struct weft_execution_proposals *proposals)
{
    weft_json_begin_array(json, "proposals");
    for (size_t i = 0; proposals && i < proposals->n; i++) {
        const struct weft_execution_proposal *one = &proposals->items[i];
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", one->name);
        weft_json_str(json, "begin", one->begin);
        weft_json_str(json, "end", one->end);
        weft_json_str(json, "match", one->match);
        weft_json_str(json, "within", one->within);
        weft_json_text(json, "why", weft_proposal_why(one->kind));
        weft_json_u64(json, "count", one->count);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void render_types(const struct weft_ask *ask, const struct weft_execution_type *types,
                         size_t n_types, const struct weft_execution_proposals *proposals)
{
    const struct weft_view view = weft_ask_view(ask);
    struct weft_json *json = weft_view_json(&view);
    if (!json)
        return; /* the view holds the failure */
    weft_json_begin_object(json, NULL);
    put_types(json, types, n_types);
    put_proposals(json, proposals);
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
}

static enum weft_code types_of_database(const struct weft_ask *ask, struct weft_err *err)
{
    struct weft_database *database = NULL;
    struct weft_execution_type *types = NULL;
    struct weft_arena *arena = weft_arena_new(0);
    size_t n_types = 0;
    if (!arena)
        return weft_no_memory(err, "executions");
    enum weft_code code =
        weft_database_open(ask->database->path, WEFT_DATABASE_READ, &database, err);
    if (code == WEFT_OK && ask->run)
        weft_database_watch(database, ask->run->progress);
    WEFT_THEN(code, weft_database_types(database, arena, &types, &n_types, err));
    if (code == WEFT_OK)
        render_types(ask, types, n_types, NULL);
    weft_database_close(database);
    weft_arena_free(arena);
    return code;
}

WEFT_ENDPOINT(types)
{
    struct weft_execution_proposals *proposals = NULL;
    if (ask->database)
        return types_of_database(ask, err);
    enum weft_code code = weft_execution_proposals(ask->session, &proposals, err);
    if (code == WEFT_OK)
        render_types(ask, NULL, 0, proposals);
    weft_execution_proposals_free(proposals);
    return code;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* An item, as its columns are made from it. */
struct item {
    uint64_t id, tid, start_ns, end_ns;
    uint32_t source, flags, thread;
};

/* What the answer has: the matrix with its texts numbered. */
struct listing {
    const struct weft_ask *ask;
    const struct weft_ecct_matrix *matrix;
    struct weft_arena *arena;
    struct item *items;
    struct weft_str *threads; /* names, each once */
    size_t n_threads;
    double *context; /* by item: time in the node asked for; NULL: none */
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

/* The time of each item in a node and below: nodes come after their parents. */
static enum weft_code sum_context(struct listing *listing, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = listing->matrix;
    const struct weft_query *query = listing->ask->query;
    if (!weft_query_has(query, WEFT_PARAM_NODE))
        return WEFT_OK;
    if (query->node >= matrix->n_nodes)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "node: expected a number below %zu",
                         matrix->n_nodes);
    uint8_t *is_below = WEFT_ARENA_NEW(listing->arena, matrix->n_nodes, uint8_t);
    listing->context = WEFT_ARENA_NEW(listing->arena, matrix->n_items + 1, double);
    if (!is_below || !listing->context)
        return weft_no_memory(err, "executions");
    for (size_t i = 0; i < matrix->n_nodes; i++) {
        const uint32_t parent = matrix->nodes[i].parent;
        is_below[i] = i == query->node || (parent != WEFT_ID_NONE && is_below[parent]);
    }
    for (size_t e = 0; e < matrix->n_items; e++) {
        uint64_t ns = 0;
        for (uint64_t k = matrix->starts[e]; k < matrix->starts[e + 1]; k++)
            ns += is_below[matrix->node[k]] ? matrix->ns[k] : 0;
        listing->context[e] = (double)ns;
    }
    return WEFT_OK;
}

/* Which of the traces served is called so. */
static void put_trace(struct weft_json *json, const struct weft_serve_state *state,
                      struct weft_str path)
{
    for (size_t i = 0; i < state->n_traces; i++)
        if (weft_str_equal(path, weft_str_of(state->traces[i].path))) {
            weft_json_u64(json, "trace", i);
            return;
        }
    const struct weft_str name = weft_str_base(path);
    for (size_t i = 0; i < state->n_traces; i++)
        if (weft_str_equal(name, weft_str_of(state->traces[i].name))) {
            weft_json_u64(json, "trace", i);
            return;
        }
    weft_json_null(json, "trace");
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
        if (listing->ask->served) /* they are of the trace asked */
            weft_json_u64(json, "trace", listing->ask->query->trace);
        else
            put_trace(json, listing->ask->state, source->path);
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
static enum weft_code write_listing(const struct listing *listing, struct weft_err *err)
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
    if (listing->context)
        tables[n++] = TABLE("context", values_type, listing->context, matrix->n_items);
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += weft_columns_bytes(&tables[i]);
    enum weft_code code = weft_ask_fits(n_bytes, err);
    if (code == WEFT_OK)
        weft_columns_write(tables, n, put_listing, listing, listing->ask->answer->body);
    return code;
}

/* Only the time in a context: the rest is known. */
static void write_context(const struct listing *listing)
{
    const struct weft_columns_table table =
        TABLE("context", values_type, listing->context, listing->matrix->n_items);
    weft_columns_write(&table, 1, NULL, NULL, listing->ask->answer->body);
}

WEFT_ENDPOINT(executions)
{
    struct weft_comparison *comparison = NULL;
    WEFT_TRY(weft_comparisons_get(ask, &comparison, err));
    struct listing listing = { .ask = ask,
                               .matrix = weft_comparison_matrix(comparison),
                               .arena = weft_arena_new(0) };
    ask->answer->type = weft_type_columns;
    if (!listing.arena)
        return weft_no_memory(err, "executions");
    enum weft_code code = sum_context(&listing, err);
    if (code == WEFT_OK && listing.context)
        write_context(&listing);
    else if (code == WEFT_OK)
        code =
            list_items(&listing) ? write_listing(&listing, err) : weft_no_memory(err, "executions");
    weft_arena_free(listing.arena);
    return code;
}

/* ---- compare --------------------------------------------------------------------------------- */

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

static struct weft_comparison_view comparison_view(const struct weft_ask *ask,
                                                   const struct weft_ecct_matrix *matrix,
                                                   const struct weft_compare_table *table)
{
    return (struct weft_comparison_view){
        .matrix = matrix, .table = table, .a = ask->query->a.bytes, .b = ask->query->b.bytes
    };
}

/* As `weft compare --format csv` writes them. */
static void write_csv(const struct weft_ask *ask, const struct weft_comparison_view *how)
{
    struct weft_view view = weft_ask_view(ask);
    view.format = WEFT_FORMAT_CSV;
    ask->answer->type = weft_type_csv;
    weft_output_set_form(view.out, WEFT_OUTPUT_TEXT);
    weft_render_comparison(&view, how);
}

static enum weft_code write_compared(const struct weft_ask *ask,
                                     const struct weft_comparison *comparison,
                                     const struct weft_compare_table *table, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    const uint8_t *members = weft_comparison_members(comparison);
    const struct weft_columns_table tables[] = {
        TABLE("nodes", weft_compare_nodes_type, table->nodes, table->n_nodes),
        TABLE("ranked", words_type, table->ranked, table->n_ranked),
        TABLE("metrics", weft_compare_metrics_type, table->metrics, table->n_metrics),
        TABLE("causes", weft_compare_causes_type, table->causes, table->n_causes),
        TABLE("cause_of", words_type, table->cause_of, table->n_causes ? table->n_b : 0),
        TABLE("members", flags_type, members, matrix->n_items),
    };
    const size_t n = sizeof tables / sizeof *tables;
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++)
        n_bytes += weft_columns_bytes(&tables[i]);
    const struct weft_comparison_view how = comparison_view(ask, matrix, table);
    struct weft_output *verdict = NULL;
    enum weft_code code = weft_ask_fits(n_bytes, err);
    ask->answer->type = weft_type_columns;
    WEFT_THEN(code, weft_output_to_memory(&verdict, err));
    if (code == WEFT_OK) {
        struct answered answered = { .table = table };
        weft_render_answer(verdict, &how);
        answered.answer_bytes = weft_output_held(verdict).n_bytes;
        weft_render_grounds(verdict, &how);
        answered.verdict = weft_output_held(verdict);
        weft_columns_write(tables, n, put_counts, &answered, ask->answer->body);
        weft_output_drop(verdict, ask->answer->body);
    }
    return code;
}

WEFT_ENDPOINT(compare)
{
    const struct weft_query *query = ask->query;
    const bool is_draft = query->is_draft == 1;
    const struct weft_comparison_opts opts = {
        .a = { query->a.bytes, query->a.n },
        .b = { query->b.bytes, query->b.n },
        .n_bootstrap = is_draft ? 0 : WEFT_COMPARE_BOOTSTRAP,
        .with_causes = !is_draft,
    };
    struct weft_comparison *comparison = NULL;
    struct weft_compare_table *table = NULL;
    enum weft_code code = weft_comparisons_get(ask, &comparison, err);
    WEFT_THEN(code, weft_comparison_run(comparison, &opts, &table, err));
    if (code == WEFT_OK && query->is_csv == 1) {
        const struct weft_comparison_view how =
            comparison_view(ask, weft_comparison_matrix(comparison), table);
        write_csv(ask, &how);
    } else {
        WEFT_THEN(code, write_compared(ask, comparison, table, err));
    }
    weft_result_free(table);
    return code;
}
