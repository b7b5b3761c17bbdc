/* SPDX-License-Identifier: MIT
 *
 * Thin checks around analysis/shapes for single questions (near, match, verify), so that front ends
 * pass ids without validating them.
 */
#include "query/shapes.h"

#include <inttypes.h>

static enum weft_code check(const char *what, uint64_t id, size_t n, struct weft_err *err)
{
    if (id < n)
        return WEFT_OK;
    if (n == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no %s %" PRIu64 ": there is none", what,
                         id);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no %s %" PRIu64 ": expected 0 to %zu", what,
                     id, n - 1);
}

enum weft_code weft_shapes_check_shape(const struct weft_shapes_table *table, uint64_t id,
                                       struct weft_err *err)
{
    return check("shape", id, table->n_shapes, err);
}

enum weft_code weft_shapes_check_cluster(const struct weft_shapes_table *table, uint64_t id,
                                         struct weft_err *err)
{
    return check("cluster", id, table->n_clusters, err);
}

enum weft_code weft_shapes_select(const struct weft_shapes_table *table, const bool *is_own,
                                  const bool *is_called, struct weft_arena *arena, bool **is_listed,
                                  struct weft_err *err)
{
    bool *calls = WEFT_ARENA_NEW(arena, table->n_shapes, bool);
    bool *listed = WEFT_ARENA_NEW(arena, table->n_shapes, bool);
    *is_listed = listed;
    if (!calls || !listed)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu shapes",
                         table->n_shapes);
    for (size_t i = 0; i < table->n_shapes; i++) {
        const struct weft_shape *shape = &table->shapes[i];
        for (uint32_t c = 0; is_called && c < shape->n_children; c++) {
            const uint32_t child = shape->children[c]; /* below i: judged already */
            calls[i] |= calls[child] || is_called[table->shapes[child].function_id];
        }
        listed[i] = (!is_own || is_own[shape->function_id]) && (!is_called || calls[i]);
    }
    return WEFT_OK;
}

enum weft_code weft_shapes_set_of(const struct weft_shapes_table *table, struct weft_arena *arena,
                                  struct weft_shape_set *set, struct weft_err *err)
{
    size_t n_children = 0;
    for (size_t i = 0; i < table->n_shapes; i++)
        n_children += table->shapes[i].n_children;
    uint32_t *function_id = WEFT_ARENA_NEW(arena, table->n_shapes, uint32_t);
    uint32_t *depth = WEFT_ARENA_NEW(arena, table->n_shapes, uint32_t);
    uint32_t *first = WEFT_ARENA_NEW(arena, table->n_shapes + 1, uint32_t);
    uint32_t *child = WEFT_ARENA_NEW(arena, n_children, uint32_t);
    if (!function_id || !depth || !first || !child)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu shapes",
                         table->n_shapes);
    for (size_t i = 0; i < table->n_shapes; i++) {
        const struct weft_shape *shape = &table->shapes[i];
        function_id[i] = shape->function_id;
        depth[i] = shape->depth;
        first[i + 1] = first[i] + shape->n_children;
        for (uint32_t c = 0; c < shape->n_children; c++)
            child[first[i] + c] = shape->children[c];
    }
    *set = (struct weft_shape_set){ .n_shapes = table->n_shapes,
                                    .function_id = function_id,
                                    .depth = depth,
                                    .first_child = first,
                                    .child = child };
    return WEFT_OK;
}

static enum weft_code metric_of(const struct weft_shapes_table *table, struct weft_arena *arena,
                                struct weft_shape_metric **metric, struct weft_err *err)
{
    struct weft_shape_set *set = WEFT_ARENA_NEW(arena, 1, struct weft_shape_set);
    *metric = NULL;
    if (!set)
        return weft_no_memory(err, "shapes");
    WEFT_TRY(weft_shapes_set_of(table, arena, set, err));
    *metric = weft_shape_metric_new(set);
    return *metric ? WEFT_OK : weft_no_memory(err, "distances");
}

enum weft_code weft_shapes_find_near(const struct weft_shapes_table *table, uint32_t shape,
                                     uint32_t bound_halves, struct weft_arena *arena,
                                     struct weft_shape_near **near, size_t *n_near,
                                     struct weft_err *err)
{
    struct weft_shape_metric *metric;
    enum weft_code code = metric_of(table, arena, &metric, err);
    WEFT_THEN(code, weft_shape_near(metric, shape, bound_halves, arena, near, n_near, err));
    weft_shape_metric_free(metric);
    return code;
}

enum weft_code weft_shapes_match(const struct weft_shapes_table *table, uint32_t a, uint32_t b,
                                 size_t limit, struct weft_arena *arena,
                                 struct weft_shapes_pair *pair, struct weft_err *err)
{
    struct weft_shape_metric *metric;
    enum weft_code code = metric_of(table, arena, &metric, err);
    WEFT_THEN(code, weft_shape_match(metric, a, b, false, limit, arena, &pair->nodes,
                                     &pair->n_nodes, &pair->is_cut, err));
    weft_shape_metric_free(metric);
    return code;
}

enum weft_code weft_shapes_verify(const struct weft_trace *trace,
                                  const struct weft_shapes_table *table, struct weft_arena *arena,
                                  struct weft_shape_verdict verdicts[WEFT_PROMISES],
                                  struct weft_err *err)
{
    struct weft_shape_metric *metric;
    enum weft_code code = metric_of(table, arena, &metric, err);
    WEFT_THEN(code, weft_shape_verify(trace, table, metric, verdicts, err));
    weft_shape_metric_free(metric);
    return code;
}
