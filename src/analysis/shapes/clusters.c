/* SPDX-License-Identifier: MIT
 *
 * First fit, function by function. Shapes come by ascending depth, and a cluster's first member is
 * its shallowest: clusters whose first member is too shallow for a shape are closed for good.
 *
 * A shape's descendants of its own function that are near enough in depth bar their clusters before
 * any is tried; there are none without recursion, which one word a shape records. Ancestors come
 * later in the order, so that none is in a cluster yet.
 */
#include "analysis/shapes/clusters.h"

#include "analysis/shapes/metric.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdlib.h>

#define NO_SHAPE UINT32_MAX
#define DEFAULT_MAX_WORK (UINT64_C(1) << 29)

/* One that may still grow. */
struct open_cluster {
    uint32_t first, last; /* members, the first stands for the cluster */
};

struct worker {
    struct weft_shape_metric *metric;
    uint32_t *visited; /* [n_shapes]: 1 + the shape whose descendants were sought last */
    struct {
        struct open_cluster *items;
        size_t n, cap;
    } clusters; /* of the function, in order of creation */
    struct {
        uint32_t *items;
        size_t n, cap;
    } stack;
    uint64_t n_unclustered;
};

/* Shapes of one function: a range of shape_of. */
struct function {
    uint32_t first, n_shapes;
};

struct job {
    const struct weft_shape_set *set;
    struct weft_run run;
    uint32_t threshold;
    uint64_t max_work;
    struct worker *workers;
    struct function *functions; /* those with shapes, most shapes first */
    size_t n_functions;
    uint32_t *shape_of; /* by function, ascending ids */
    uint64_t *below;    /* by shape: functions of all its descendants, as bits */

    /* By shape; a function's workers touch its shapes alone. */
    uint32_t *leader; /* first member of its cluster */
    uint32_t *next;   /* member of its cluster, or NO_SHAPE */
    uint32_t *barred; /* of a leader: 1 + the shape that may not join */
};

/* ---- before --------------------------------------------------------------------------------- */

static uint64_t function_bit(uint32_t function_id)
{
    return UINT64_C(1) << (function_id % 64);
}

static void find_below(struct job *job)
{
    const struct weft_shape_set *set = job->set;
    for (size_t s = 0; s < set->n_shapes; s++) {
        size_t n_children;
        const uint32_t *children = weft_shape_children(set, (uint32_t)s, &n_children);
        for (size_t k = 0; k < n_children; k++)
            job->below[s] |= job->below[children[k]] | function_bit(set->function_id[children[k]]);
    }
}

static int by_size(const void *a, const void *b)
{
    const struct function *x = a, *y = b;
    if (x->n_shapes != y->n_shapes)
        return x->n_shapes > y->n_shapes ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts the shapes by function; `ends` [greatest function id + 2] is scratch. */
static void sort_by_function(struct job *job, size_t n_ids, uint32_t *ends)
{
    const struct weft_shape_set *set = job->set;
    for (size_t s = 0; s < set->n_shapes; s++)
        ends[set->function_id[s] + 1]++;
    for (size_t id = 0; id < n_ids; id++) {
        if (ends[id + 1])
            job->functions[job->n_functions++] = (struct function){ ends[id], ends[id + 1] };
        ends[id + 1] += ends[id];
    }
    for (size_t s = 0; s < set->n_shapes; s++)
        job->shape_of[ends[set->function_id[s]]++] = (uint32_t)s;
    qsort(job->functions, job->n_functions, sizeof *job->functions, by_size);
}

/* ---- one function --------------------------------------------------------------------------- */

static bool push_shape(struct worker *worker, uint32_t shape)
{
    uint32_t *item = WEFT_VEC_PUSH(&worker->stack);
    if (item)
        *item = shape;
    return item != NULL;
}

/* Bars the clusters of the shape's descendants. Those that are too shallow are so for the metric
 * too, and so is all below them. False without memory. */
static bool bar_descendants(struct job *job, struct worker *worker, uint32_t shape)
{
    const struct weft_shape_set *set = job->set;
    uint32_t function_id = set->function_id[shape];
    uint64_t bit = function_bit(function_id);
    worker->stack.n = 0;
    if (!(job->below[shape] & bit))
        return true;
    if (!push_shape(worker, shape))
        return false;
    while (worker->stack.n > 0) {
        size_t n_children;
        const uint32_t *children =
            weft_shape_children(set, worker->stack.items[--worker->stack.n], &n_children);
        weft_shape_metric_spend(worker->metric, n_children);
        for (size_t k = n_children; k-- > 0;) {
            uint32_t child = children[k];
            if (set->depth[shape] - set->depth[child] > job->threshold)
                break;
            if (worker->visited[child] == shape + 1)
                continue;
            worker->visited[child] = shape + 1;
            if (set->function_id[child] == function_id)
                job->barred[job->leader[child]] = shape + 1;
            if ((job->below[child] & bit) && !push_shape(worker, child))
                return false;
        }
    }
    return true;
}

/* All members within the threshold, none of them below? */
static bool fits(struct job *job, struct worker *worker, uint32_t shape, uint32_t leader)
{
    if (job->barred[leader] == shape + 1)
        return false;
    for (uint32_t member = leader; member != NO_SHAPE; member = job->next[member])
        if (!weft_shape_is_near(worker->metric, shape, member, job->threshold))
            return false;
    return true;
}

/* Puts the shape in its cluster; `*closed` of the clusters are. */
static bool place(struct job *job, struct worker *worker, uint32_t shape, size_t *closed)
{
    const uint32_t *depth = job->set->depth;
    if (!bar_descendants(job, worker, shape))
        return false;
    if (weft_shape_metric_is_spent(worker->metric))
        *closed = worker->clusters.n;
    while (*closed < worker->clusters.n &&
           depth[shape] - depth[worker->clusters.items[*closed].first] > job->threshold)
        ++*closed;
    for (size_t k = *closed; k < worker->clusters.n; k++) {
        struct open_cluster *cluster = &worker->clusters.items[k];
        if (!fits(job, worker, shape, cluster->first)) {
            if (weft_shape_metric_is_spent(worker->metric))
                break;
            continue;
        }
        job->leader[shape] = cluster->first;
        job->next[cluster->last] = shape;
        cluster->last = shape;
        return true;
    }
    struct open_cluster *cluster = WEFT_VEC_PUSH(&worker->clusters);
    if (cluster)
        *cluster = (struct open_cluster){ .first = shape, .last = shape };
    return cluster != NULL;
}

/* A function's part of the work is that of its shapes: at least 1. */
static uint64_t share_of(const struct job *job, const struct function *function)
{
    uint64_t n = job->set->n_shapes;
    uint64_t whole = job->max_work / n * function->n_shapes;
    uint64_t rest = job->max_work % n * function->n_shapes / n;
    return whole + rest > 0 ? whole + rest : 1;
}

static enum weft_code run_function(void *context, size_t item, unsigned w, struct weft_err *err)
{
    struct job *job = context;
    struct worker *worker = &job->workers[w];
    const struct function *function = &job->functions[item];
    const uint32_t *shapes = job->shape_of + function->first;
    size_t closed = 0;
    worker->clusters.n = 0;
    weft_shape_metric_limit(worker->metric, share_of(job, function));
    for (uint32_t k = 0; k < function->n_shapes; k++) {
        if (!place(job, worker, shapes[k], &closed))
            return weft_no_memory(err, "clusters of shapes");
        if (weft_shape_metric_is_spent(worker->metric)) {
            worker->n_unclustered += function->n_shapes - k; /* this one is alone already */
            break;
        }
        if (weft_progress_is_cancelled(job->run.progress))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    }
    weft_progress_add(job->run.progress, function->n_shapes);
    return WEFT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool init_workers(struct job *job, unsigned n_workers)
{
    job->workers = calloc(n_workers, sizeof *job->workers);
    for (unsigned w = 0; job->workers && w < n_workers; w++) {
        struct worker *worker = &job->workers[w];
        worker->metric = weft_shape_metric_new(job->set);
        worker->visited = calloc(job->set->n_shapes + 1, sizeof *worker->visited);
        if (!worker->metric || !worker->visited)
            return false;
    }
    return job->workers != NULL;
}

static bool init_job(struct job *job, unsigned n_workers)
{
    size_t n = job->set->n_shapes;
    size_t n_ids = 0;
    for (size_t s = 0; s < n; s++)
        n_ids = job->set->function_id[s] >= n_ids ? (size_t)job->set->function_id[s] + 1 : n_ids;
    uint32_t *ends = calloc(n_ids + 1, sizeof *ends);
    job->functions = calloc(n_ids + 1, sizeof *job->functions);
    job->shape_of = malloc((n + 1) * sizeof *job->shape_of);
    job->below = calloc(n + 1, sizeof *job->below);
    job->leader = malloc((n + 1) * sizeof *job->leader);
    job->next = malloc((n + 1) * sizeof *job->next);
    job->barred = calloc(n + 1, sizeof *job->barred);
    bool is_ready = ends && job->functions && job->shape_of && job->below && job->leader &&
                    job->next && job->barred && init_workers(job, n_workers);
    if (is_ready) {
        for (size_t s = 0; s < n; s++) {
            job->leader[s] = (uint32_t)s;
            job->next[s] = NO_SHAPE;
        }
        find_below(job);
        sort_by_function(job, n_ids, ends);
    }
    free(ends);
    return is_ready;
}

static void fini_job(struct job *job, unsigned n_workers)
{
    for (unsigned w = 0; job->workers && w < n_workers; w++) {
        struct worker *worker = &job->workers[w];
        weft_shape_metric_free(worker->metric);
        free(worker->visited);
        WEFT_VEC_FINI(&worker->clusters);
        WEFT_VEC_FINI(&worker->stack);
    }
    free(job->workers);
    free(job->functions);
    free(job->shape_of);
    free(job->below);
    free(job->leader);
    free(job->next);
    free(job->barred);
}

/* Numbers the clusters by their first members, which is the order of creation. */
static enum weft_code number(const struct job *job, unsigned n_workers, struct weft_arena *arena,
                             struct weft_clusters *clusters, struct weft_err *err)
{
    const struct weft_shape_set *set = job->set;
    uint32_t n_clusters = 0;
    for (size_t s = 0; s < set->n_shapes; s++)
        n_clusters += job->leader[s] == s;
    *clusters = (struct weft_clusters){
        .n_clusters = n_clusters,
        .cluster_of = WEFT_ARENA_NEW(arena, set->n_shapes, uint32_t),
        .first_member = WEFT_ARENA_NEW(arena, (size_t)n_clusters + 1, uint32_t),
        .member = WEFT_ARENA_NEW(arena, set->n_shapes, uint32_t),
        .depth = WEFT_ARENA_NEW(arena, n_clusters, uint32_t),
    };
    if (!clusters->cluster_of || !clusters->first_member || !clusters->member || !clusters->depth)
        return weft_no_memory(err, "clusters of shapes");
    uint32_t at = 0;
    uint32_t cluster = 0;
    for (uint32_t s = 0; s < set->n_shapes; s++) {
        if (job->leader[s] != s)
            continue;
        for (uint32_t member = s; member != NO_SHAPE; member = job->next[member]) {
            clusters->cluster_of[member] = cluster;
            clusters->member[at++] = member;
            clusters->depth[cluster] = set->depth[member];
        }
        clusters->first_member[++cluster] = at;
    }
    for (unsigned w = 0; w < n_workers; w++)
        clusters->n_unclustered += job->workers[w].n_unclustered;
    return WEFT_OK;
}

enum weft_code weft_clusters_build(const struct weft_shape_set *set,
                                   const struct weft_clusters_opts *opts,
                                   const struct weft_run *run, struct weft_arena *arena,
                                   struct weft_clusters *clusters, struct weft_err *err)
{
    unsigned n_workers = weft_pool_workers(run->pool);
    struct job job = {
        .set = set,
        .run = *run,
        .threshold = opts->threshold_halves,
        .max_work = opts->max_work ? opts->max_work : DEFAULT_MAX_WORK,
    };
    enum weft_code code =
        init_job(&job, n_workers) ? WEFT_OK : weft_no_memory(err, "clusters of shapes");
    weft_progress_start(run->progress, "clustering", "shapes", set->n_shapes);
    if (!code)
        code = weft_pool_run(run->pool, job.n_functions, run_function, &job, run->progress, err);
    if (!code)
        code = number(&job, n_workers, arena, clusters, err);
    fini_job(&job, n_workers);
    return code;
}
