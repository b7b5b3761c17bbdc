/* SPDX-License-Identifier: MIT
 *
 * Tries the levels from the richest down until one fits the budget, measured by writing it; a cheap
 * compression first rejects levels that are far too large. Shapes are chosen whole, with all their
 * descendants, so that any two sent can be compared. clusters.c and trees.c of this folder write
 * their parts.
 */
#include "render/page/shapes.h"

#include "base/u128.h"
#include "render/columns/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From all to little. Whatever the trace, the last level is small. */
static const struct weft_page_level levels[] = {
    /* cell, longest, listed, full, spreads, members, shapes, trees, nodes, typicals, run_trees,
     * run_nodes, presences, threads, marks */
    { 1, 0, 3000, 600, 600, 16, 6000, 60, 400, 400, 2000, 64, 400, UINT32_MAX, 400 },
    { 1, 1, 3000, 400, 300, 16, 4000, 48, 300, 400, 2000, 48, 200, UINT32_MAX, 400 },
    { 1, 8, 2000, 250, 200, 12, 3000, 32, 200, 250, 1500, 32, 60, UINT32_MAX, 300 },
    { 1, 48, 1500, 200, 150, 12, 2500, 24, 150, 200, 1000, 24, 20, UINT32_MAX, 200 },
    { 1, 192, 1000, 150, 120, 12, 2000, 20, 120, 150, 800, 16, 12, UINT32_MAX, 200 },
    { 2, 192, 1000, 150, 40, 8, 1500, 20, 120, 150, 220, 24, 12, UINT32_MAX, 200 },
    { 4, 192, 1000, 150, 60, 6, 1000, 20, 120, 150, 200, 24, 12, UINT32_MAX, 200 },
    { 8, 384, 1000, 120, 60, 4, 800, 16, 120, 120, 200, 16, 12, UINT32_MAX, 200 },
    { 24, 1200, 600, 100, 40, 3, 400, 12, 80, 50, 100, 16, 8, 4000, 100 },
    { 48, 1200, 600, 80, 20, 3, 300, 12, 60, 12, 0, 0, 6, 1000, 100 },
    { 48, 1200, 600, 80, 20, 3, 300, 12, 60, 12, 0, 0, 6, 200, 100 },
    { 48, 1200, 300, 60, 10, 2, 200, 8, 40, 8, 0, 0, 6, 50, 100 },
};
enum { N_LEVELS = sizeof levels / sizeof *levels };

enum { COVERED_FULL = 16 };

/* ---- what all levels share ------------------------------------------------------------------- */

int weft_page_compare_ranked(const void *a, const void *b)
{
    const struct weft_page_ranked *one = a, *two = b;
    if (one->rank != two->rank)
        return one->rank < two->rank ? 1 : -1;
    return (one->id > two->id) - (one->id < two->id);
}

static bool order_clusters(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    struct weft_page_ranked *ranked =
        WEFT_ARENA_NEW(shapes->arena, table->n_clusters, struct weft_page_ranked);
    shapes->order = WEFT_ARENA_NEW(shapes->arena, table->n_clusters, uint32_t);
    shapes->cluster_at = WEFT_ARENA_NEW(shapes->arena, table->n_clusters, uint32_t);
    if (!ranked || !shapes->order || !shapes->cluster_at)
        return false;
    uint32_t n = 0;
    for (uint32_t id = 0; id < table->n_clusters; id++) {
        shapes->cluster_at[id] = WEFT_ID_NONE;
        if (!table->clusters[id].is_trivial)
            ranked[n++] = (struct weft_page_ranked){ table->clusters[id].times.sum_ns, id };
    }
    qsort(ranked, n, sizeof *ranked, weft_page_compare_ranked);
    for (uint32_t i = 0; i < n; i++) {
        shapes->order[i] = ranked[i].id;
        shapes->cluster_at[ranked[i].id] = i;
    }
    shapes->n_order = n;
    return true;
}

static bool sum_functions(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    const uint32_t n_functions = weft_trace_n_functions(shapes->page->trace);
    shapes->function_times = WEFT_ARENA_NEW(shapes->arena, n_functions, struct weft_shape_times);
    if (!shapes->function_times)
        return false;
    for (size_t c = 0; c < table->n_clusters; c++) {
        struct weft_shape_times *all = &shapes->function_times[table->clusters[c].function_id];
        all->count += table->clusters[c].times.count;
        all->sum_ns += table->clusters[c].times.sum_ns;
        all->sum_squares += table->clusters[c].times.sum_squares;
    }
    return true;
}

static bool order_threads(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    struct weft_page_ranked *ranked =
        WEFT_ARENA_NEW(shapes->arena, table->n_threads, struct weft_page_ranked);
    shapes->thread_rank = WEFT_ARENA_NEW(shapes->arena, table->n_threads, uint64_t);
    if (!ranked || !shapes->thread_rank)
        return false;
    for (uint32_t i = 0; i < table->n_threads; i++)
        ranked[i] = (struct weft_page_ranked){ table->threads[i].calls, i };
    qsort(ranked, table->n_threads, sizeof *ranked, weft_page_compare_ranked);
    for (size_t i = 0; i < table->n_threads; i++)
        shapes->thread_rank[ranked[i].id] = i;
    return true;
}

/* For the runs and ribbons of all threads, and the thread with most clusters. */
static bool make_room(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    size_t n_runs = 1, n_ribbons = 1, n_presences_most = 1;
    for (size_t t = 0; t < table->n_threads; t++) {
        const struct weft_shape_thread *thread = &table->threads[t];
        for (size_t r = 0; r < thread->n_ribbons; r++)
            n_runs += thread->ribbons[r].n_runs;
        n_ribbons += thread->n_ribbons;
        if (thread->n_presences > n_presences_most)
            n_presences_most = thread->n_presences;
    }
    shapes->runs = WEFT_ARENA_NEW(shapes->arena, n_runs, struct weft_page_run);
    shapes->ribbon_ends = WEFT_ARENA_NEW(shapes->arena, n_ribbons, size_t);
    shapes->ranked = WEFT_ARENA_NEW(shapes->arena, n_presences_most, struct weft_page_ranked);
    shapes->shape_at = WEFT_ARENA_NEW(shapes->arena, table->n_shapes, uint32_t);
    shapes->shape_ids = WEFT_ARENA_NEW(shapes->arena, levels[0].shapes, uint32_t);
    shapes->member_at = WEFT_ARENA_NEW(shapes->arena, levels[0].shapes, uint32_t);
    shapes->n_members = WEFT_ARENA_NEW(shapes->arena, shapes->n_order, uint32_t);
    return shapes->runs && shapes->ribbon_ends && shapes->ranked && shapes->shape_at &&
           shapes->shape_ids && shapes->member_at && shapes->n_members;
}

const struct weft_shape_cluster *weft_page_cluster(const struct weft_page_shapes *shapes,
                                                   uint32_t place)
{
    return &shapes->table->clusters[shapes->order[place]];
}

const struct weft_shape_occurrence *weft_page_occurrence(const struct weft_shape_cluster *cluster,
                                                         enum weft_page_kind kind)
{
    return kind == WEFT_PAGE_TYPICAL   ? &cluster->typical
           : kind == WEFT_PAGE_SLOWEST ? &cluster->slowest
                                       : &cluster->first;
}

/* ---- the choice of a level ------------------------------------------------------------------- */

static void take_back(struct weft_page_shapes *shapes, uint32_t n_kept)
{
    while (shapes->n_sent_shapes > n_kept)
        shapes->shape_at[shapes->shape_ids[--shapes->n_sent_shapes]] = WEFT_ID_NONE;
}

static bool add_one(struct weft_page_shapes *shapes, uint32_t shape_id)
{
    if (shapes->shape_at[shape_id] != WEFT_ID_NONE)
        return true;
    if (shapes->n_sent_shapes == shapes->level->shapes)
        return false;
    shapes->shape_at[shape_id] = shapes->n_sent_shapes;
    shapes->shape_ids[shapes->n_sent_shapes++] = shape_id;
    return true;
}

/* A shape with all that is below it, or nothing: so whatever is sent can be compared. */
static void add_shape(struct weft_page_shapes *shapes, uint32_t shape_id)
{
    const uint32_t n_before = shapes->n_sent_shapes;
    bool is_room = add_one(shapes, shape_id);
    for (uint32_t at = n_before; is_room && at < shapes->n_sent_shapes; at++) {
        const struct weft_shape *shape = &shapes->table->shapes[shapes->shape_ids[at]];
        for (uint32_t c = 0; is_room && c < shape->n_children; c++)
            is_room = add_one(shapes, shape->children[c]);
    }
    if (!is_room)
        take_back(shapes, n_before);
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *one = a, *two = b;
    return (*one > *two) - (*one < *two);
}

/* The shapes of the examples of all clusters, then others of each, in turn and in canonical order,
 * up to the limits; in canonical order at last. */
static void choose_shapes(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    for (size_t i = 0; i < table->n_shapes; i++)
        shapes->shape_at[i] = WEFT_ID_NONE;
    shapes->n_sent_shapes = 0;
    for (enum weft_page_kind kind = WEFT_PAGE_TYPICAL; kind < WEFT_PAGE_KINDS; kind++)
        for (uint32_t i = 0; i < shapes->n_full; i++)
            add_shape(shapes, weft_page_occurrence(weft_page_cluster(shapes, i), kind)->shape_id);
    for (uint32_t member = 0; member < shapes->level->members; member++)
        for (uint32_t i = 0; i < shapes->n_full; i++)
            if (member < weft_page_cluster(shapes, i)->n_shapes)
                add_shape(shapes, weft_page_cluster(shapes, i)->shape_ids[member]);
    qsort(shapes->shape_ids, shapes->n_sent_shapes, sizeof *shapes->shape_ids, compare_ids);
    for (uint32_t i = 0; i < shapes->n_sent_shapes; i++)
        shapes->shape_at[shapes->shape_ids[i]] = i;
}

/* The place of each shape sent among those of its cluster, from 1; 0 where they are not listed. */
static void place_members(struct weft_page_shapes *shapes)
{
    memset(shapes->n_members, 0, shapes->n_order * sizeof *shapes->n_members);
    for (uint32_t i = 0; i < shapes->n_sent_shapes; i++) {
        uint32_t cluster_id = shapes->table->shapes[shapes->shape_ids[i]].cluster_id;
        uint32_t place = shapes->cluster_at[cluster_id];
        shapes->member_at[i] = place < shapes->n_full ? ++shapes->n_members[place] : 0;
    }
}

static void choose(struct weft_page_shapes *shapes, const struct weft_page_level *level)
{
    shapes->level = level;
    shapes->n_listed = shapes->n_order < level->listed ? shapes->n_order : level->listed;
    shapes->n_full = shapes->n_listed < level->full ? shapes->n_listed : level->full;
    shapes->n_runs = shapes->n_runs_sent = shapes->n_bare_runs = shapes->n_bare_threads = 0;
    choose_shapes(shapes);
    place_members(shapes);
}

bool weft_page_lists(const struct weft_page_shapes *shapes, uint32_t cluster_id)
{
    return shapes->cluster_at[cluster_id] < shapes->n_listed;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* By time, of those that are listed. */
static void put_presences(struct weft_page_shapes *shapes, const struct weft_shape_thread *thread)
{
    struct weft_page_ranked *ranked = shapes->ranked;
    struct weft_json *json = shapes->json;
    size_t n = 0;
    for (size_t i = 0; i < thread->n_presences; i++)
        if (weft_page_lists(shapes, thread->presences[i].cluster_id))
            ranked[n++] =
                (struct weft_page_ranked){ thread->presences[i].times.sum_ns, (uint32_t)i };
    qsort(ranked, n, sizeof *ranked, weft_page_compare_ranked);
    if (n > shapes->level->presences)
        n = shapes->level->presences;
    weft_json_begin_object(json, "presences");
    weft_json_begin_array(json, "c");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, shapes->cluster_at[thread->presences[ranked[i].id].cluster_id]);
    weft_json_end_array(json);
    weft_json_begin_array(json, "n");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, thread->presences[ranked[i].id].times.count);
    weft_json_end_array(json);
    weft_json_begin_array(json, "sum");
    for (size_t i = 0; i < n; i++)
        weft_json_u64(json, NULL, ranked[i].rank);
    weft_json_end_array(json);
    weft_json_end_object(json);
}

static uint64_t column_start_ns(const struct weft_shapes_table *table, uint32_t column)
{
    return table->from_ns +
           (uint64_t)((weft_u128)(table->to_ns - table->from_ns) * column / table->n_columns);
}

/* In 16ths of the run's time, rounded up: what is there is never 0. */
static uint64_t covered_share(const struct weft_shapes_table *table,
                              const struct weft_page_run *run)
{
    uint64_t span_ns = column_start_ns(table, run->first_column + run->n_columns) -
                       column_start_ns(table, run->first_column);
    if (run->covered_ns >= span_ns)
        return COVERED_FULL;
    uint64_t share =
        (uint64_t)(((weft_u128)run->covered_ns * COVERED_FULL + span_ns - 1) / span_ns);
    return share > 0 ? share : 1;
}

/* Sent is what can be seen, as far as the level allows. */
static bool has_longest(const struct weft_page_shapes *shapes, const struct weft_page_run *run)
{
    const struct weft_shapes_table *table = shapes->table;
    uint64_t column_ns = (table->to_ns - table->from_ns) / table->n_columns;
    return run->end_ns - run->start_ns >= column_ns * shapes->level->longest_columns;
}

/* The rows of one ribbon behind those of the ones before it, column by column. */
enum run_column { RUN_C, RUN_W, RUN_K, RUN_O, RUN_N, RUN_V, RUN_S, RUN_T, RUN_P, N_RUN_COLUMNS };

struct run_place {
    uint32_t end_column;
    uint64_t last_ns;
};

static int64_t run_value(const struct weft_page_shapes *shapes, const struct weft_page_run *run,
                         enum run_column column, const struct run_place *place)
{
    switch (column) {
    case RUN_C:
        return (int64_t)run->first_column - place->end_column;
    case RUN_W:
        return run->n_columns;
    case RUN_K:
        return run->cluster;
    case RUN_O:
        return run->n_others;
    case RUN_N:
        return (int64_t)run->count;
    case RUN_V:
        return (int64_t)covered_share(shapes->table, run);
    case RUN_S:
        return has_longest(shapes, run) ? (int64_t)(run->start_ns - place->last_ns) : 0;
    case RUN_T:
        return has_longest(shapes, run) ? (int64_t)(run->end_ns - run->start_ns) : -1;
    case RUN_P:
        return has_longest(shapes, run) && shapes->shape_at[run->shape_id] != WEFT_ID_NONE
                   ? shapes->member_at[shapes->shape_at[run->shape_id]]
                   : 0;
    case N_RUN_COLUMNS:
        break;
    }
    return 0;
}

static void put_run_column(struct weft_page_shapes *shapes, enum run_column column)
{
    static const char *const keys[N_RUN_COLUMNS] = { "c", "w", "k", "o", "n", "v", "s", "t", "p" };
    weft_json_begin_array(shapes->json, keys[column]);
    size_t at = 0;
    for (size_t r = 0; r < shapes->n_ribbon_ends; r++) {
        struct run_place place = { .last_ns = shapes->table->from_ns };
        for (; at < shapes->ribbon_ends[r]; at++) {
            const struct weft_page_run *run = &shapes->runs[at];
            weft_json_i64(shapes->json, NULL, run_value(shapes, run, column, &place));
            place.end_column = run->first_column + run->n_columns;
            if (has_longest(shapes, run))
                place.last_ns = run->start_ns;
        }
    }
    weft_json_end_array(shapes->json);
}

/* Merges the runs of all ribbons, thread by thread, one ribbon behind the other. */
static void merge_ribbons(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    size_t n_rows = 0;
    shapes->n_ribbon_ends = 0;
    for (size_t t = 0; t < table->n_threads; t++) {
        const struct weft_shape_thread *thread = &table->threads[t];
        const bool is_bare = shapes->thread_rank[t] >= shapes->level->threads;
        shapes->n_bare_threads += is_bare;
        for (size_t r = 0; r < thread->n_ribbons; r++) {
            struct weft_page_runs runs = { .rows = shapes->runs + n_rows };
            shapes->n_runs += thread->ribbons[r].n_runs;
            if (!is_bare)
                weft_page_merge_runs(&thread->ribbons[r], shapes->level->cell, shapes->cluster_at,
                                     shapes->n_listed, &runs);
            for (size_t i = 0; i < runs.n_rows; i++)
                shapes->n_bare_runs += !has_longest(shapes, &runs.rows[i]);
            n_rows += runs.n_rows;
            shapes->ribbon_ends[shapes->n_ribbon_ends++] = n_rows;
        }
    }
    shapes->n_runs_sent = n_rows;
}

/* Of all threads: how many ribbons each has, how many runs and clusters each of these, the runs. */
static void put_ribbons(struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    struct weft_json *json = shapes->json;
    merge_ribbons(shapes);
    weft_json_begin_object(json, "ribbons");
    weft_json_begin_array(json, "ribbons");
    for (size_t t = 0; t < table->n_threads; t++)
        weft_json_u64(json, NULL, table->threads[t].n_ribbons);
    weft_json_end_array(json);
    weft_json_begin_array(json, "runs");
    for (size_t r = 0; r < shapes->n_ribbon_ends; r++)
        weft_json_u64(json, NULL,
                      shapes->ribbon_ends[r] - (r > 0 ? shapes->ribbon_ends[r - 1] : 0));
    weft_json_end_array(json);
    weft_json_begin_array(json, "clusters");
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t r = 0; r < table->threads[t].n_ribbons; r++)
            weft_json_u64(json, NULL, table->threads[t].ribbons[r].n_clusters);
    weft_json_end_array(json);
    for (enum run_column column = RUN_C; column < N_RUN_COLUMNS; column++)
        put_run_column(shapes, column);
    weft_json_end_object(json);
}

static void put_thread(struct weft_page_shapes *shapes, const struct weft_shape_thread *thread)
{
    struct weft_json *json = shapes->json;
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    weft_json_u64(json, "thread", weft_page_thread(shapes->page, thread->thread_id));
    weft_json_u64(json, "shapes", thread->n_shapes);
    weft_json_u64(json, "new_shapes", thread->n_new_shapes);
    weft_json_u64(json, "clusters", thread->n_clusters);
    weft_json_u64(json, "new_clusters", thread->n_new_clusters);
    weft_json_u64(json, "calls", thread->calls);
    weft_json_u64(json, "cut_calls", thread->cut_calls);
    weft_json_u64(json, "excluded_calls", thread->excluded_calls);
    weft_json_u64(json, "limited_calls", thread->limited_calls);
    weft_json_u64(json, "group", thread->group);
    put_presences(shapes, thread);
    weft_json_end_object(json);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Last, because it counts what was written. */
static void put_totals(const struct weft_page_shapes *shapes)
{
    const struct weft_shapes_table *table = shapes->table;
    struct weft_json *json = shapes->json;
    weft_json_begin_object(json, "totals");
    weft_json_u64(json, "shapes", table->n_shapes - table->n_trivial_shapes);
    weft_json_u64(json, "trivial_shapes", table->n_trivial_shapes);
    weft_json_u64(json, "clusters", table->n_clusters - table->n_trivial_clusters);
    weft_json_u64(json, "trivial_clusters", table->n_trivial_clusters);
    weft_json_u64(json, "ribbons", table->n_ribbons);
    weft_json_u64(json, "rare_below", table->rare_below);
    weft_json_u64(json, "rare_clusters", table->n_rare_clusters);
    weft_json_u64(json, "calls", table->calls);
    weft_json_u64(json, "cut_calls", table->cut_calls);
    weft_json_u64(json, "repaired_calls", table->repaired_calls);
    weft_json_u64(json, "excluded_calls", table->excluded_calls);
    weft_json_u64(json, "limited_calls", table->limited_calls);
    weft_json_u64(json, "unclustered_shapes", table->unclustered_shapes);
    weft_json_u64(json, "undrawn", table->undrawn_presences);
    weft_json_u64(json, "spikes", table->spikes_found);
    weft_json_u64(json, "drops", table->drops_found);
    weft_json_u64(json, "runs", shapes->n_runs);
    weft_json_u64(json, "runs_sent", shapes->n_runs_sent);
    weft_json_u64(json, "bare_runs", shapes->n_bare_runs);
    weft_json_u64(json, "rare", shapes->n_rare);
    weft_json_u64(json, "rare_callers", shapes->n_rare_found - shapes->n_rare);
    weft_json_u64(json, "bare_threads", shapes->n_bare_threads);
    weft_json_end_object(json);
}

static enum weft_code put_level(struct weft_page_shapes *shapes,
                                const struct weft_page_level *level, struct weft_json *json,
                                const char *key, struct weft_err *err)
{
    const struct weft_shapes_table *table = shapes->table;
    choose(shapes, level);
    shapes->json = json;
    weft_json_begin_object(json, key);
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    weft_json_u64(json, "columns", table->n_columns);
    weft_json_u64(json, "cell", level->cell);
    weft_json_u64(json, "threshold_halves", table->threshold_halves);
    enum weft_code code = weft_page_put_clusters(shapes, err);
    weft_json_begin_array(json, "threads");
    for (size_t i = 0; i < table->n_threads; i++)
        put_thread(shapes, &table->threads[i]);
    weft_json_end_array(json);
    put_ribbons(shapes);
    put_totals(shapes);
    weft_json_end_object(json);
    return code;
}

/* Whether a level fits the budget. What it takes with little effort is a quarter more than what it
 * takes in the end, or a fifth: levels that are far too large are found out quickly. */
static enum weft_code fits_packed(const struct weft_page_shapes *shapes, struct weft_str text,
                                  bool *fits, struct weft_err *err)
{
    const struct weft_page *page = shapes->page;
    const uint64_t most = page->shapes_bytes;
    uint64_t n_bytes = 0;
    enum weft_code code = weft_packed_bytes(text, WEFT_PACK_FAST, page->pool, &n_bytes, err);
    *fits = n_bytes <= most;
    if (code != WEFT_OK || *fits || n_bytes / 4 * 3 > most)
        return code;
    code = weft_packed_bytes(text, WEFT_PACK_SMALL, page->pool, &n_bytes, err);
    *fits = n_bytes <= most;
    return code;
}

static enum weft_code try_level(struct weft_page_shapes *shapes,
                                const struct weft_page_level *level, bool *fits,
                                struct weft_err *err)
{
    struct weft_output *text = NULL;
    struct weft_json *json = NULL;
    enum weft_code code = weft_output_to_memory(&text, err);
    WEFT_THEN(code, weft_json_open(text, &json, err));
    WEFT_THEN(code, put_level(shapes, level, json, NULL, err));
    weft_json_close(json);
    if (code == WEFT_OK && weft_output_has_failed(text))
        return weft_output_close(text, err); /* what was cut short would seem to fit */
    WEFT_THEN(code, fits_packed(shapes, weft_output_held(text), fits, err));
    weft_output_abort(text);
    return code;
}

static enum weft_code prepare(struct weft_page_shapes *shapes, struct weft_err *err)
{
    shapes->arena = weft_arena_new(0);
    if (!shapes->arena || !order_clusters(shapes) || !sum_functions(shapes) ||
        !order_threads(shapes) || !make_room(shapes))
        return weft_no_memory(err, "the page's shapes");
    enum weft_code code = weft_page_find_rare(shapes, err);
    return code == WEFT_OK ? weft_page_read_trees(shapes, err) : code;
}

enum weft_code weft_page_put_shapes(const struct weft_page *page, struct weft_json *json,
                                    struct weft_err *err)
{
    struct weft_page_shapes shapes = { .page = page, .table = page->shapes };
    if (!page->shapes || page->shapes->n_columns == 0) {
        weft_json_null(json, "shapes");
        return WEFT_OK;
    }
    enum weft_code code = prepare(&shapes, err);
    if (page->missing && weft_missing_add(page->missing, WEFT_MISSING_SHAPES, code, err)) {
        weft_json_null(json, "shapes");
        weft_arena_free(shapes.arena);
        return WEFT_OK;
    }
    size_t level = 0;
    for (bool fits = false; code == WEFT_OK && level + 1 < N_LEVELS; level++) {
        code = try_level(&shapes, &levels[level], &fits, err);
        if (fits)
            break;
    }
    WEFT_THEN(code, put_level(&shapes, &levels[level], json, "shapes", err));
    if (code == WEFT_OK && weft_arena_has_failed(shapes.arena))
        code = weft_no_memory(err, "the page's shapes");
    weft_arena_free(shapes.arena);
    return code;
}
