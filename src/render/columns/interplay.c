/* SPDX-License-Identifier: MIT
 *
 * One document for each screen of thread interaction: correspondences, summary, blocking, lanes,
 * trees. Words that a column numbers (kinds, confidences, patterns) are listed in the document, so
 * that the page has no list of its own.
 */
#include "render/columns/interplay.h"

#include "base/vec.h"
#include "render/columns/lod.h"
#include "render/columns/tables.h"
#include "render/text/lists.h"
#include "schema/tables.h"

#include <inttypes.h>
#include <stdio.h>

#define N_OF(list) (sizeof(list) / sizeof *(list))

/* ---- what all documents name ----------------------------------------------------------------- */

/* A 64-bit number that a browser's would round: as text. */
static void put_id(struct weft_json *json, const char *key, uint64_t id)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, id);
    weft_json_text(json, key, text);
}

/* Dense ids, or null. */
static void put_dense(struct weft_json *json, const char *key, uint32_t id)
{
    if (id == UINT32_MAX)
        weft_json_null(json, key);
    else
        weft_json_u64(json, key, id);
}

static void put_object(struct weft_json *json, const struct weft_shared_object *object)
{
    weft_json_begin_object(json, NULL);
    put_id(json, "id", object->id);
    weft_json_str(json, "name", object->name);
    weft_json_text(json, "kind", weft_shared_kind_name((enum weft_shared_kind)object->kind));
    put_dense(json, "thread", object->thread_id);
    weft_json_u64(json, "n_waiters", object->n_waiters);
    weft_json_u64(json, "n_releasers", object->n_releasers);
    weft_json_u64(json, "waits", object->waits);
    weft_json_u64(json, "wait_ns", object->wait_ns);
    weft_json_u64(json, "uncontended", object->uncontended);
    weft_json_u64(json, "releases", object->releases);
    weft_json_bool(json, "is_untold", object->is_untold);
    weft_json_bool(json, "is_never_released", object->is_never_released);
    weft_json_bool(json, "is_reused", object->is_reused);
    weft_json_end_object(json);
}

static void put_objects(struct weft_json *json, const struct weft_shared_object *objects, size_t n)
{
    weft_json_begin_array(json, "objects");
    for (size_t i = 0; i < n; i++)
        put_object(json, &objects[i]);
    weft_json_end_array(json);
}

static void put_sites(struct weft_json *json, const struct weft_interplay_site *sites, size_t n)
{
    weft_json_begin_array(json, "sites");
    for (size_t i = 0; i < n; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "function", sites[i].function);
        weft_json_str(json, "call", sites[i].call);
        weft_json_str(json, "path", sites[i].path);
        put_dense(json, "fn", sites[i].function_id);
        weft_json_u64(json, "depth", sites[i].depth);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

/* The words that a column numbers. */
static void put_words(struct weft_json *json, const char *key, unsigned n,
                      const char *(*word)(unsigned))
{
    weft_json_begin_array(json, key);
    for (unsigned i = 0; i < n; i++)
        weft_json_text(json, NULL, word(i));
    weft_json_end_array(json);
}

static const char *shared_word(unsigned i)
{
    return weft_shared_kind_name((enum weft_shared_kind)i);
}

static const char *confidence_word(unsigned i)
{
    return weft_surety_name((enum weft_surety)i);
}

static const char *unknown_word(unsigned i)
{
    return weft_unknown_reason_name((enum weft_unknown_reason)i);
}

static const char *unknown_text(unsigned i)
{
    return weft_unknown_reason_text((enum weft_unknown_reason)i);
}

static const char *pattern_word(unsigned i)
{
    return weft_pattern_kind_name((enum weft_pattern_kind)i);
}

static const char *lane_word(unsigned i)
{
    return weft_lane_state_name((enum weft_lane_state)i);
}

static void put_span(struct weft_json *json, uint64_t from_ns, uint64_t to_ns)
{
    weft_json_u64(json, "from_ns", from_ns);
    weft_json_u64(json, "to_ns", to_ns);
}

/* ---- correspondences ------------------------------------------------------------------------- */

static void put_row_words(struct weft_json *json)
{
    put_words(json, "kinds", WEFT_SHARED_KINDS, shared_word);
    put_words(json, "confidences", WEFT_SURETIES, confidence_word);
    put_words(json, "reasons", WEFT_UNKNOWN_REASONS, unknown_word);
    put_words(json, "reason_texts", WEFT_UNKNOWN_REASONS, unknown_text);
}

static void put_correspondences(const void *context, struct weft_json *json)
{
    const struct weft_correspondences_table *table = context;
    put_span(json, table->from_ns, table->to_ns);
    weft_json_u64(json, "column_ns", table->column_ns);
    weft_json_u64(json, "found", table->n_found);
    weft_json_u64(json, "unknown", table->n_unknown);
    put_row_words(json);
    put_objects(json, table->objects, table->n_objects);
    put_sites(json, table->sites, table->n_sites);
}

void weft_render_correspondences(const struct weft_view *view,
                                 const struct weft_correspondences_table *table)
{
    const struct weft_columns_table tables[] = {
        { "rows", &weft_interplay_waits_type, table->rows, table->n_rows, NULL },
    };
    weft_columns_write(tables, N_OF(tables), put_correspondences, table, view->out);
}

/* ---- the interplay --------------------------------------------------------------------------- */

static void put_pattern(struct weft_json *json, const struct weft_interplay_pattern *pattern)
{
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "kind", pattern_word(pattern->kind));
    weft_json_str(json, "text", pattern->text);
    put_dense(json, "thread", pattern->thread_id);
    weft_json_begin_array(json, "others");
    for (uint32_t i = 0; i < pattern->n_others; i++)
        weft_json_u64(json, NULL, pattern->others[i]);
    weft_json_end_array(json);
    put_dense(json, "object", pattern->object);
    put_span(json, pattern->from_ns, pattern->to_ns);
    weft_json_u64(json, "count", pattern->count);
    weft_json_u64(json, "value_ns", pattern->value_ns);
    weft_json_u64(json, "before_ns", pattern->before_ns);
    weft_json_real(json, "share", pattern->share);
    weft_json_end_object(json);
}

/* What the sources contain, and what that leaves unknown. */
static void put_known(struct weft_json *json, uint32_t known)
{
    weft_json_begin_array(json, "known");
    for (unsigned i = 0; i < WEFT_KNOWN_N; i++)
        if (known & UINT32_C(1) << i)
            weft_json_text(json, NULL, weft_known_name(i));
    weft_json_end_array(json);
    weft_json_begin_array(json, "lacks");
    for (unsigned i = 0; i < WEFT_KNOWN_N; i++) {
        if (known & UINT32_C(1) << i)
            continue;
        weft_json_begin_object(json, NULL);
        weft_json_text(json, "name", weft_known_name(i));
        weft_json_text(json, "text", weft_known_lack(i));
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void put_counts(struct weft_json *json, const char *key, const uint64_t *counts, unsigned n)
{
    weft_json_begin_array(json, key);
    for (unsigned i = 0; i < n; i++)
        weft_json_u64(json, NULL, counts[i]);
    weft_json_end_array(json);
}

struct summary {
    const struct weft_view *view;
    const struct weft_interplay_table *table;
};

static void put_interplay(const void *context, struct weft_json *json)
{
    const struct summary *summary = context;
    const struct weft_interplay_table *table = summary->table;
    put_span(json, table->from_ns, table->to_ns);
    weft_json_u64(json, "waits", table->n_waits);
    weft_json_u64(json, "wait_ns", table->wait_ns);
    weft_json_u64(json, "joined", table->n_joined);
    weft_json_u64(json, "uncontended", table->uncontended);
    weft_json_u64(json, "io", table->io);
    weft_json_u64(json, "io_ns", table->io_ns);
    weft_json_u64(json, "never_released", table->never_released);
    weft_json_u64(json, "reused", table->reused);
    weft_json_u64(json, "lost", table->lost);
    weft_left_out_json(summary->view, &table->left_out, json);
    put_counts(json, "by_confidence", table->by_confidence, WEFT_SURETIES);
    put_counts(json, "by_unknown", table->by_unknown, WEFT_UNKNOWN_REASONS);
    put_row_words(json);
    put_known(json, table->known);
    put_objects(json, table->objects, table->n_objects);
    put_sites(json, table->sites, table->n_sites);
    weft_json_begin_array(json, "patterns");
    for (size_t i = 0; i < table->n_patterns; i++)
        put_pattern(json, &table->patterns[i]);
    weft_json_end_array(json);
}

void weft_render_interplay_columns(const struct weft_view *view,
                                   const struct weft_interplay_table *table)
{
    const struct weft_columns_table tables[] = {
        { "threads", &weft_interplay_threads_type, table->threads, table->n_threads, NULL },
        { "cells", &weft_interplay_cells_type, table->cells, table->n_cells, NULL },
        { "pairs", &weft_interplay_pairs_type, table->pairs, table->n_pairs, NULL },
    };
    const struct summary summary = { view, table };
    weft_columns_write(tables, N_OF(tables), put_interplay, &summary, view->out);
}

/* ---- blocking -------------------------------------------------------------------------------- */

#define ROW struct weft_blocking_column

static const struct weft_field block_fields[] = {
    WEFT_COLUMN("column", U32, column),
    WEFT_COLUMN("wait_ns", F64, wait_ns),
    WEFT_COLUMN("io_ns", F64, io_ns),
};

const struct weft_table_type weft_blocking_type =
    WEFT_TABLE_TYPE("blocking", "time of blocking by columns of time", block_fields, ROW);

static void put_blocking(const void *context, struct weft_json *json)
{
    const struct weft_blocking_table *table = context;
    put_span(json, table->from_ns, table->to_ns);
    weft_json_u64(json, "width", table->width);
}

struct spans {
    struct weft_lod_span *items;
    size_t n, cap;
};

static enum weft_code add_span(struct spans *spans, uint32_t thread_id, size_t first, size_t n,
                               struct weft_err *err)
{
    struct weft_lod_span *span = WEFT_VEC_PUSH(spans);
    if (!span)
        return weft_no_memory(err, "an answer");
    *span = (struct weft_lod_span){ thread_id, first, n };
    return WEFT_OK;
}

enum weft_code weft_render_blocking(const struct weft_view *view,
                                    const struct weft_blocking_table *table, struct weft_err *err)
{
    struct spans spans = { 0 };
    struct {
        struct weft_blocking_column *items;
        size_t n, cap;
    } all = { 0 };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < table->n_threads; i++) {
        const struct weft_blocking_thread *thread = &table->threads[i];
        code = add_span(&spans, thread->thread_id, all.n, thread->n_columns, err);
        for (size_t k = 0; code == WEFT_OK && k < thread->n_columns; k++) {
            struct weft_blocking_column *column = WEFT_VEC_PUSH(&all);
            if (column)
                *column = thread->columns[k];
            else
                code = weft_no_memory(err, "an answer");
        }
    }
    if (code == WEFT_OK) {
        const struct weft_columns_table tables[] = {
            weft_lod_span_table(spans.items, spans.n),
            { "columns", &weft_blocking_type, all.items, all.n, NULL },
        };
        weft_columns_write(tables, N_OF(tables), put_blocking, table, view->out);
    }
    WEFT_VEC_FINI(&spans);
    WEFT_VEC_FINI(&all);
    return code;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

struct lane_row {
    uint32_t thread_id, object;
    uint64_t first_piece, n_pieces;
    uint64_t ns[WEFT_LANE_STATES];
};

#undef ROW
#define ROW struct lane_row

static const struct weft_field lane_fields[] = {
    WEFT_COLUMN("thread", U32, thread_id),
    WEFT_COLUMN("object", U32, object),
    WEFT_COLUMN("first_piece", U32, first_piece),
    WEFT_COLUMN("n_pieces", U32, n_pieces),
    WEFT_COLUMN("held_ns", F64, ns[WEFT_LANE_HELD]),
    WEFT_COLUMN("held_waited_ns", F64, ns[WEFT_LANE_HELD_WAITED]),
    WEFT_COLUMN("waits_ns", F64, ns[WEFT_LANE_WAITS]),
};

const struct weft_table_type weft_lanes_type =
    WEFT_TABLE_TYPE("lanes", "locks of threads", lane_fields, ROW);

#undef ROW
#define ROW struct weft_lane_piece

static const struct weft_field piece_fields[] = {
    WEFT_COLUMN("start_ns", F64, start_ns),
    WEFT_COLUMN("end_ns", F64, end_ns),
    WEFT_COLUMN("held_ns", F64, ns[WEFT_LANE_HELD]),
    WEFT_COLUMN("held_waited_ns", F64, ns[WEFT_LANE_HELD_WAITED]),
    WEFT_COLUMN("waits_ns", F64, ns[WEFT_LANE_WAITS]),
    WEFT_COLUMN("count", U32, count),
    WEFT_COLUMN("state", U8, state),
};

const struct weft_table_type weft_lane_pieces_type =
    WEFT_TABLE_TYPE("lane_pieces", "when locks were held or waited for", piece_fields, ROW);

static void put_lanes(const void *context, struct weft_json *json)
{
    const struct weft_lock_lanes_table *table = context;
    put_span(json, table->from_ns, table->to_ns);
    weft_json_u64(json, "found", table->n_found);
    put_words(json, "states", WEFT_LANE_STATES, lane_word);
    put_objects(json, table->objects, table->n_objects);
}

struct lanes {
    struct {
        struct lane_row *items;
        size_t n, cap;
    } rows;
    struct {
        struct weft_lane_piece *items;
        size_t n, cap;
    } pieces;
};

static bool add_lane(struct lanes *lanes, const struct weft_lock_lane *lane)
{
    struct lane_row *row = WEFT_VEC_PUSH(&lanes->rows);
    if (!row)
        return false;
    *row = (struct lane_row){ lane->thread_id,
                              lane->object,
                              lanes->pieces.n,
                              lane->n_pieces,
                              { lane->ns[0], lane->ns[1], lane->ns[2] } };
    for (size_t i = 0; i < lane->n_pieces; i++) {
        struct weft_lane_piece *piece = WEFT_VEC_PUSH(&lanes->pieces);
        if (!piece)
            return false;
        *piece = lane->pieces[i];
    }
    return true;
}

enum weft_code weft_render_lanes(const struct weft_view *view,
                                 const struct weft_lock_lanes_table *table, struct weft_err *err)
{
    struct lanes lanes = { 0 };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < table->n_lanes; i++)
        if (!add_lane(&lanes, &table->lanes[i]))
            code = weft_no_memory(err, "lanes");
    if (code == WEFT_OK) {
        const struct weft_columns_table tables[] = {
            { "lanes", &weft_lanes_type, lanes.rows.items, lanes.rows.n, NULL },
            { "pieces", &weft_lane_pieces_type, lanes.pieces.items, lanes.pieces.n, NULL },
        };
        weft_columns_write(tables, N_OF(tables), put_lanes, table, view->out);
    }
    WEFT_VEC_FINI(&lanes.rows);
    WEFT_VEC_FINI(&lanes.pieces);
    return code;
}

/* ---- trees ----------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_lock_tree_row

static const struct weft_field node_fields[] = {
    WEFT_COLUMN("parent", I32, parent),        WEFT_COLUMN("depth", U16, depth),
    WEFT_COLUMN("function", I32, function_id), WEFT_COLUMN("count", F64, count),
    WEFT_COLUMN("sum_ns", F64, sum_ns),        WEFT_COLUMN("self_ns", F64, self_ns),
};

const struct weft_table_type weft_lock_tree_type =
    WEFT_TABLE_TYPE("lock_tree", "calling contexts of waits and holds", node_fields, ROW);

static void put_tree(const void *context, struct weft_json *json)
{
    const struct weft_lock_tree_table *table = context;
    put_span(json, table->from_ns, table->to_ns);
    weft_json_u64(json, "total", table->n_found);
    weft_json_u64(json, "sum_ns", table->sum_ns);
    weft_json_u64(json, "unknown_ns", table->unknown_ns);
    weft_json_begin_array(json, "names");
    for (size_t i = 0; i < table->n_rows; i++)
        weft_json_str(json, NULL, table->rows[i].name);
    weft_json_end_array(json);
}

void weft_render_locktree(const struct weft_view *view, const struct weft_lock_tree_table *table)
{
    const struct weft_columns_table tables[] = {
        { "nodes", &weft_lock_tree_type, table->rows, table->n_rows, NULL },
    };
    weft_columns_write(tables, N_OF(tables), put_tree, table, view->out);
}
