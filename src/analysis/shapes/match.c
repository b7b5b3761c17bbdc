/* SPDX-License-Identifier: MIT
 *
 * Why two shapes differ (paper, section 7), and which shapes are near one.
 */
#include "analysis/shapes/metric.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTION_DISTANCE = 2, NULL_DISTANCE = 1, DEFAULT_LIMIT = 1 << 20 };

struct match_vec {
    struct weft_shape_match *items;
    size_t n, cap;
};

struct job {
    struct weft_shape_metric *metric;
    const struct weft_shape_set *set;
    bool with_equal;
    struct match_vec pending; /* a stack: the last is the next in pre-order */
    struct match_vec done;
    uint32_t *nearest_of_a; /* by child of the pair's a */
    size_t cap_nearest;
};

static enum weft_code too_much(const struct weft_shape_metric *metric, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "shapes are too large to compare: gave up after %" PRIu64 " pairs",
                     weft_shape_metric_work(metric));
}

/* ---- the matching pair ---------------------------------------------------------------------- */

static const uint32_t *children_of(const struct job *job, uint32_t shape, size_t *n_children)
{
    *n_children = 0;
    return shape == WEFT_SHAPE_NULL ? NULL : weft_shape_children(job->set, shape, n_children);
}

static size_t position(const uint32_t *items, size_t n, uint32_t item)
{
    size_t from = 0;
    while (from < n) {
        size_t middle = from + (n - from) / 2;
        if (items[middle] < item)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

/* The one of `others` (ascending) nearest to x: the lowest of the nearest; null if it is nearer. */
static uint32_t nearest(struct job *job, uint32_t x, const uint32_t *others, size_t n,
                        uint32_t *distance)
{
    uint32_t best = WEFT_SHAPE_NULL;
    size_t at = position(others, n, x);
    bool is_there = at < n && others[at] == x;
    *distance = is_there ? 0 : job->set->depth[x];
    if (is_there)
        return x;
    for (size_t k = 0; k<n && * distance> 0; k++) {
        uint32_t bound = best == WEFT_SHAPE_NULL ? *distance : *distance - 1;
        uint32_t found = weft_shape_distance(job->metric, x, others[k], bound);
        if (found <= bound) {
            *distance = found;
            best = others[k];
        }
    }
    return best;
}

static bool push(struct job *job, const struct weft_shape_match *parent, uint32_t a, uint32_t b,
                 uint32_t distance, uint32_t children_distance)
{
    struct weft_shape_match *match = WEFT_VEC_PUSH(&job->pending);
    if (!match)
        return false;
    *match = (struct weft_shape_match){
        .a = a,
        .b = b,
        .level = parent->level + 1,
        .distance = distance,
        .is_critical = parent->is_critical && distance > 0 && distance == children_distance,
    };
    return true;
}

/* Half units of the pair's functions alone. */
static uint32_t of_functions(const struct job *job, uint32_t a, uint32_t b)
{
    if (a == WEFT_SHAPE_NULL || b == WEFT_SHAPE_NULL)
        return NULL_DISTANCE;
    return job->set->function_id[a] == job->set->function_id[b] ? 0 : FUNCTION_DISTANCE;
}

static void reverse(struct match_vec *vec, size_t from)
{
    for (size_t low = from, high = vec->n; low + 1 < high; low++) {
        const struct weft_shape_match moved = vec->items[low];
        vec->items[low] = vec->items[--high];
        vec->items[high] = moved;
    }
}

/* Pairs of a's children, then those of b's that are new. */
static bool push_children(struct job *job, const struct weft_shape_match *match)
{
    size_t n_a, n_b;
    const uint32_t *of_a = children_of(job, match->a, &n_a);
    const uint32_t *of_b = children_of(job, match->b, &n_b);
    uint32_t rest = match->distance - of_functions(job, match->a, match->b);
    uint32_t distance;
    if (!weft_vec_reserve(&job->nearest_of_a, &job->cap_nearest, n_a, sizeof *job->nearest_of_a))
        return false;
    for (size_t k = 0; k < n_a; k++) {
        job->nearest_of_a[k] = nearest(job, of_a[k], of_b, n_b, &distance);
        if (!push(job, match, of_a[k], job->nearest_of_a[k], distance, rest))
            return false;
    }
    for (size_t k = 0; k < n_b; k++) {
        uint32_t partner = nearest(job, of_b[k], of_a, n_a, &distance);
        bool stands = partner != WEFT_SHAPE_NULL &&
                      job->nearest_of_a[position(of_a, n_a, partner)] == of_b[k];
        if (!stands && !push(job, match, partner, of_b[k], distance, rest))
            return false;
    }
    return true;
}

static enum weft_code expand(struct job *job, size_t limit, bool *is_cut, struct weft_err *err)
{
    while (job->pending.n > 0 && !*is_cut) {
        struct weft_shape_match *match = WEFT_VEC_PUSH(&job->done);
        if (!match)
            return weft_no_memory(err, "a match of shapes");
        *match = job->pending.items[--job->pending.n];
        size_t from = job->pending.n;
        const struct weft_shape_match expanded = *match;
        if ((expanded.a != expanded.b || job->with_equal) && !push_children(job, &expanded))
            return weft_no_memory(err, "a match of shapes");
        if (weft_shape_metric_is_spent(job->metric))
            return too_much(job->metric, err);
        reverse(&job->pending, from);
        *is_cut = job->done.n == limit && job->pending.n > 0;
    }
    return WEFT_OK;
}

enum weft_code weft_shape_match(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                                bool with_equal, size_t limit, struct weft_arena *arena,
                                struct weft_shape_match **nodes, size_t *n_nodes, bool *is_cut,
                                struct weft_err *err)
{
    struct job job = { .metric = metric,
                       .set = weft_shape_metric_set(metric),
                       .with_equal = with_equal };
    *nodes = NULL;
    *n_nodes = 0;
    *is_cut = false;
    struct weft_shape_match *root = WEFT_VEC_PUSH(&job.pending);
    enum weft_code code = root ? WEFT_OK : weft_no_memory(err, "a match of shapes");
    if (!code) {
        uint32_t distance = weft_shape_distance(metric, a, b, UINT32_MAX - 1);
        *root = (struct weft_shape_match){
            .a = a, .b = b, .distance = distance, .is_critical = distance > 0
        };
        code = weft_shape_metric_is_spent(metric) ? too_much(metric, err) : WEFT_OK;
    }
    if (!code)
        code = expand(&job, limit ? limit : DEFAULT_LIMIT, is_cut, err);
    if (!code) {
        *nodes = WEFT_ARENA_NEW(arena, job.done.n, struct weft_shape_match);
        code = *nodes ? WEFT_OK : weft_no_memory(err, "a match of shapes");
    }
    if (!code) {
        memcpy(*nodes, job.done.items, job.done.n * sizeof **nodes);
        *n_nodes = job.done.n;
    }
    WEFT_VEC_FINI(&job.pending);
    WEFT_VEC_FINI(&job.done);
    free(job.nearest_of_a);
    return code;
}

/* ---- neighbours ----------------------------------------------------------------------------- */

static int by_distance(const void *a, const void *b)
{
    const struct weft_shape_near *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

enum weft_code weft_shape_near(struct weft_shape_metric *metric, uint32_t shape,
                               uint32_t bound_halves, struct weft_arena *arena,
                               struct weft_shape_near **near, size_t *n_near, struct weft_err *err)
{
    const struct weft_shape_set *set = weft_shape_metric_set(metric);
    struct {
        struct weft_shape_near *items;
        size_t n, cap;
    } found = { 0 };
    enum weft_code code = WEFT_OK;
    *near = NULL;
    *n_near = 0;
    for (uint32_t other = 0; !code && other < set->n_shapes; other++) {
        uint32_t distance = weft_shape_distance(metric, shape, other, bound_halves);
        if (weft_shape_metric_is_spent(metric)) {
            code = too_much(metric, err);
        } else if (other != shape && distance <= bound_halves) {
            struct weft_shape_near *item = WEFT_VEC_PUSH(&found);
            if (item)
                *item = (struct weft_shape_near){ .shape = other, .distance = distance };
            else
                code = weft_no_memory(err, "a match of shapes");
        }
    }
    if (!code) {
        *near = WEFT_ARENA_NEW(arena, found.n, struct weft_shape_near);
        code = *near ? WEFT_OK : weft_no_memory(err, "a match of shapes");
    }
    if (!code && found.n) {
        qsort(found.items, found.n, sizeof *found.items, by_distance);
        memcpy(*near, found.items, found.n * sizeof **near);
    }
    *n_near = code ? 0 : found.n;
    WEFT_VEC_FINI(&found);
    return code;
}
