/* SPDX-License-Identifier: MIT
 *
 * What one trace does that another does not, or at another rate.
 */
#include "analysis/shapes/clusters.h"
#include "analysis/shapes/compare.h"
#include "query/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rate differs from here on: by factor, and in standard deviations of chance. */
static const double least_factor = 2, least_deviations = 4;

struct comparison {
    const struct weft_trace *const *traces;
    const struct weft_shapes_table *const *tables;
    struct weft_arena *arena;
    struct weft_shape_set sets[2];
    uint32_t *common[2]; /* by function id of a side */
    struct weft_str *names;
    size_t n_names;
    struct weft_shape_union all;
    struct weft_clusters clusters;
    struct weft_shape_changes *changes;
};

/* ---- functions of both ----------------------------------------------------------------------- */

/* "module\0name": the key of a function. */
static struct weft_str key_of(struct weft_arena *arena, const struct weft_function *function)
{
    const size_t n_bytes = function->module.n_bytes + 1 + function->name.n_bytes;
    char *bytes = weft_arena_alloc(arena, n_bytes, 1);
    if (!bytes)
        return (struct weft_str){ 0 };
    if (function->module.n_bytes > 0)
        memcpy(bytes, function->module.bytes, function->module.n_bytes);
    memcpy(bytes + function->module.n_bytes + 1, function->name.bytes, function->name.n_bytes);
    return (struct weft_str){ .bytes = bytes, .n_bytes = n_bytes };
}

static enum weft_code number_functions(struct comparison *comparison, struct weft_strtab *keys,
                                       size_t side, struct weft_err *err)
{
    const struct weft_trace *trace = comparison->traces[side];
    const uint32_t n_functions = weft_trace_n_functions(trace);
    comparison->common[side] = WEFT_ARENA_NEW(comparison->arena, n_functions, uint32_t);
    if (!comparison->common[side])
        return weft_no_memory(err, "a comparison of shapes");
    for (uint32_t id = 0; id < n_functions; id++) {
        const struct weft_function *function = weft_trace_function(trace, id);
        const struct weft_str key = key_of(comparison->arena, function);
        uint32_t number;
        if (!key.bytes)
            return weft_no_memory(err, "a comparison of shapes");
        WEFT_TRY(weft_strtab_intern(keys, key, &number, err));
        comparison->common[side][id] = number;
        comparison->names[number] = function->name;
    }
    return WEFT_OK;
}

static enum weft_code join_functions(struct comparison *comparison, struct weft_err *err)
{
    const size_t n_most = (size_t)weft_trace_n_functions(comparison->traces[0]) +
                          weft_trace_n_functions(comparison->traces[1]);
    struct weft_strtab *keys = weft_strtab_new();
    comparison->names = WEFT_ARENA_NEW(comparison->arena, n_most, struct weft_str);
    enum weft_code code =
        keys && comparison->names ? WEFT_OK : weft_no_memory(err, "a comparison of shapes");
    for (size_t side = 0; side < 2 && code == WEFT_OK; side++)
        code = number_functions(comparison, keys, side, err);
    comparison->n_names = keys ? weft_strtab_count(keys) : 0;
    weft_strtab_free(keys);
    return code;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Adds a shape of a side. */
static void add_shape(struct weft_shape_change *change, size_t side, uint32_t id,
                      const struct weft_shape *shape)
{
    const uint64_t slowest_ns = change->slowest.end_ns - change->slowest.start_ns;
    const bool is_first = change->shape_ids[side] == WEFT_ID_NONE;
    change->count[side] += shape->count;
    change->sum_ns[side] += shape->sum_ns;
    change->n_shapes[side]++;
    if (is_first || id < change->shape_ids[side])
        change->shape_ids[side] = id;
    /* A's occurrences count; B's only while there is none of A's, which come first. */
    if (side == 1 && change->count[0] > 0)
        return;
    if (is_first)
        change->function_id = shape->function_id;
    if (is_first || shape->max_ns > slowest_ns)
        change->slowest = shape->slowest;
}

/* How unlikely so many in A are, given all, if both had the same rate: in standard deviations. */
static double deviations(const struct weft_shape_change *change, double share)
{
    const double n = (double)change->count[0] + (double)change->count[1];
    return fabs((double)change->count[0] - n * share) / sqrt(n * share * (1 - share));
}

/* Fills in the kind and the rank; false if nothing changed. */
static bool judge(const struct comparison *comparison, struct weft_shape_change *change)
{
    const double a_ns = (double)comparison->changes->length_ns[0];
    const double b_ns = (double)comparison->changes->length_ns[1];
    const double scale = a_ns / b_ns; /* from B's length to A's */
    const double count_a = (double)change->count[0], count_b = (double)change->count[1] * scale;
    const double time_b = (double)change->sum_ns[1] * scale;
    change->kind = change->count[1] == 0   ? WEFT_SHAPE_NEW
                   : change->count[0] == 0 ? WEFT_SHAPE_GONE
                                           : WEFT_SHAPE_RATE;
    change->times_rate = count_a / count_b;
    if (change->kind == WEFT_SHAPE_NEW)
        change->surprise = log2(1 + count_a / scale);
    else if (change->kind == WEFT_SHAPE_GONE)
        change->surprise = log2(1 + count_b);
    else
        change->surprise = fabs(log2(change->times_rate));
    change->time_ns = (uint64_t)fabs((double)change->sum_ns[0] - time_b);
    change->score = change->surprise * (double)change->time_ns;
    return change->kind != WEFT_SHAPE_RATE ||
           (change->surprise >= log2(least_factor) &&
            deviations(change, a_ns / (a_ns + b_ns)) >= least_deviations);
}

static int compare_changes(const void *a_ptr, const void *b_ptr)
{
    const struct weft_shape_change *a = a_ptr, *b = b_ptr;
    if (a->score > b->score || a->score < b->score)
        return a->score > b->score ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    for (size_t side = 0; side < 2; side++)
        if (a->shape_ids[side] != b->shape_ids[side])
            return a->shape_ids[side] < b->shape_ids[side] ? -1 : 1;
    return 0;
}

/* Sums what each group has on both sides; `group_of` is by shape of the union, NULL: itself. */
static struct weft_shape_change *sum_groups(const struct comparison *comparison,
                                            const uint32_t *group_of, size_t n_groups)
{
    struct weft_shape_change *groups =
        WEFT_ARENA_NEW(comparison->arena, n_groups, struct weft_shape_change);
    for (size_t i = 0; groups && i < n_groups; i++)
        groups[i].shape_ids[0] = groups[i].shape_ids[1] = WEFT_ID_NONE;
    for (size_t side = 0; groups && side < 2; side++)
        for (uint32_t id = 0; id < comparison->tables[side]->n_shapes; id++) {
            const uint32_t shape = comparison->all.of[side][id];
            add_shape(&groups[group_of ? group_of[shape] : shape], side, id,
                      &comparison->tables[side]->shapes[id]);
        }
    return groups;
}

/* Keeps the groups that are not trivial and changed, best first; returns how many. */
static size_t keep_changed(const struct comparison *comparison, struct weft_shape_change *groups,
                           size_t n_groups, const bool *is_trivial, size_t *n_all, size_t *n_common)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n_groups; i++) {
        struct weft_shape_change change = groups[i];
        if (is_trivial[i])
            continue;
        *n_all += 1;
        *n_common += change.count[0] > 0 && change.count[1] > 0;
        if (judge(comparison, &change))
            groups[n_kept++] = change;
    }
    if (n_kept > 0)
        qsort(groups, n_kept, sizeof *groups, compare_changes);
    return n_kept;
}

static enum weft_code find_changes(struct comparison *comparison, struct weft_err *err)
{
    struct weft_shape_changes *changes = comparison->changes;
    const struct weft_shape_set *set = &comparison->all.set;
    const size_t n_clusters = comparison->clusters.n_clusters;
    bool *is_trivial_shape = WEFT_ARENA_NEW(comparison->arena, set->n_shapes, bool);
    bool *is_trivial = WEFT_ARENA_NEW(comparison->arena, n_clusters, bool);
    changes->shapes = sum_groups(comparison, NULL, set->n_shapes);
    changes->clusters = sum_groups(comparison, comparison->clusters.cluster_of, n_clusters);
    if (!is_trivial_shape || !is_trivial || !changes->shapes || !changes->clusters)
        return weft_no_memory(err, "a comparison of shapes");
    for (size_t i = 0; i < n_clusters; i++)
        is_trivial[i] = comparison->clusters.depth[i] == 1;
    for (size_t i = 0; i < set->n_shapes; i++)
        is_trivial_shape[i] = set->depth[i] == 1;
    changes->n_clusters = keep_changed(comparison, changes->clusters, n_clusters, is_trivial,
                                       &changes->n_all_clusters, &changes->n_common_clusters);
    changes->n_shapes = keep_changed(comparison, changes->shapes, set->n_shapes, is_trivial_shape,
                                     &changes->n_all_shapes, &changes->n_common_shapes);
    return WEFT_OK;
}

enum weft_code weft_shapes_compare(const struct weft_trace *const traces[2],
                                   const struct weft_shapes_table *const tables[2],
                                   const struct weft_run *run, struct weft_arena *arena,
                                   struct weft_shape_changes *changes, struct weft_err *err)
{
    struct comparison comparison = {
        .traces = traces, .tables = tables, .arena = arena, .changes = changes
    };
    const struct weft_clusters_opts opts = { .threshold_halves = tables[0]->threshold_halves };
    *changes = (struct weft_shape_changes){ 0 };
    for (size_t side = 0; side < 2; side++) {
        const uint64_t length_ns = tables[side]->to_ns - tables[side]->from_ns;
        changes->length_ns[side] = length_ns > 0 ? length_ns : 1;
    }
    enum weft_code code = join_functions(&comparison, err);
    for (size_t side = 0; side < 2 && code == WEFT_OK; side++)
        code = weft_shapes_set_of(tables[side], arena, &comparison.sets[side], err);
    if (code == WEFT_OK) {
        const struct weft_shape_side sides[2] = {
            { &comparison.sets[0], comparison.common[0] },
            { &comparison.sets[1], comparison.common[1] },
        };
        code = weft_shape_union_build(sides, comparison.names, comparison.n_names, arena,
                                      &comparison.all, err);
    }
    WEFT_THEN(code, weft_clusters_build(&comparison.all.set, &opts, run, arena,
                                        &comparison.clusters, err));
    return code == WEFT_OK ? find_changes(&comparison, err) : code;
}
