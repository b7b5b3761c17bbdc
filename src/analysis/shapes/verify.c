/* SPDX-License-Identifier: MIT
 *
 * Recomputes order, metric, clusters, ribbons and counts of a finished table, on random triples and
 * bounded pairs where all would be too many. Only `weft shapes --verify` and tests ask; it shares
 * no code with the miner but the metric.
 */
#include "analysis/shapes/verify.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_TRIPLES = 1 << 16, MAX_PAIRS = 1 << 20, MAX_STEPS = 1 << 29 };

#define ANY_DISTANCE (UINT32_MAX - 1)

struct checks {
    const struct weft_trace *trace;
    const struct weft_shapes_table *table;
    struct weft_shape_metric *metric;
    struct weft_shape_verdict *verdicts;
    uint8_t *below; /* by shape id: marks, all 0 between checks */
};

static void judge(const struct checks *checks, enum weft_shape_promise promise, bool is_kept,
                  uint32_t a, uint32_t b)
{
    struct weft_shape_verdict *verdict = &checks->verdicts[promise];
    verdict->n_checked++;
    if (is_kept)
        return;
    if (verdict->n_wrong++ == 0) {
        verdict->ids[0] = a;
        verdict->ids[1] = b;
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static int compare_children(const struct weft_shape *a, const struct weft_shape *b)
{
    for (uint32_t i = 0; i < a->n_children && i < b->n_children; i++)
        if (a->children[i] != b->children[i])
            return a->children[i] < b->children[i] ? -1 : 1;
    return a->n_children < b->n_children ? -1 : a->n_children > b->n_children;
}

static int compare_shapes(const struct checks *checks, const struct weft_shape *a,
                          const struct weft_shape *b)
{
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    int order = weft_str_compare(weft_trace_function(checks->trace, a->function_id)->name,
                                 weft_trace_function(checks->trace, b->function_id)->name);
    if (order != 0)
        return order;
    if (a->function_id != b->function_id)
        return a->function_id < b->function_id ? -1 : 1;
    return compare_children(a, b);
}

/* Children ascend, are lower than their parent, and one of them makes it as deep as it is. */
static bool is_sound(const struct checks *checks, uint32_t id)
{
    const struct weft_shape *shape = &checks->table->shapes[id];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < shape->n_children; i++) {
        if (shape->children[i] >= id || (i > 0 && shape->children[i] <= shape->children[i - 1]))
            return false;
        const uint32_t child_depth = checks->table->shapes[shape->children[i]].depth;
        depth = child_depth > depth ? child_depth : depth;
    }
    return shape->depth == depth + 1;
}

static void check_order(const struct checks *checks)
{
    const struct weft_shape *shapes = checks->table->shapes;
    for (uint32_t id = 0; id < checks->table->n_shapes; id++) {
        const uint32_t before = id > 0 ? id - 1 : id;
        judge(checks, WEFT_PROMISE_ORDER,
              is_sound(checks, id) &&
                  (id == 0 || compare_shapes(checks, &shapes[id - 1], &shapes[id]) < 0),
              before, id);
    }
}

/* ---- metric ---------------------------------------------------------------------------------- */

static uint32_t next_random(uint64_t *state, size_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % n);
}

static uint32_t distance(const struct checks *checks, uint32_t a, uint32_t b)
{
    return weft_shape_distance(checks->metric, a, b, ANY_DISTANCE);
}

/* One shape anywhere, the two others from its neighbourhood or its cluster: distant ones say
 * little. */
static void check_triple(const struct checks *checks, uint64_t *state)
{
    const struct weft_shapes_table *table = checks->table;
    const uint32_t a = next_random(state, table->n_shapes);
    const struct weft_shape_cluster *cluster = &table->clusters[table->shapes[a].cluster_id];
    const uint32_t b = cluster->shape_ids[next_random(state, cluster->n_shapes)];
    const uint32_t span = table->n_shapes < 64 ? (uint32_t)table->n_shapes : 64;
    const uint32_t c = (a + next_random(state, span)) % (uint32_t)table->n_shapes;
    const uint32_t ab = distance(checks, a, b), bc = distance(checks, b, c);
    const uint32_t ac = distance(checks, a, c);
    const bool is_identity =
        distance(checks, a, a) == 0 && (ab == 0) == (a == b) && (ac == 0) == (a == c);
    const bool is_symmetric = distance(checks, b, a) == ab && distance(checks, c, a) == ac;
    judge(checks, WEFT_PROMISE_METRIC,
          is_identity && is_symmetric && ac <= ab + bc && ab <= ac + bc && bc <= ab + ac, a, c);
}

static void check_metric(const struct checks *checks)
{
    uint64_t state = 1;
    for (size_t i = 0; i < MAX_TRIPLES && checks->table->n_shapes > 0; i++)
        check_triple(checks, &state);
}

/* ---- clusters -------------------------------------------------------------------------------- */

/* Bits of `below`. */
enum { IS_MEMBER = 1, IS_BELOW = 2 };

static void mark(const struct checks *checks, uint32_t cluster_id)
{
    const struct weft_shape_cluster *cluster = &checks->table->clusters[cluster_id];
    for (uint32_t i = 0; i < cluster->n_shapes; i++)
        checks->below[cluster->shape_ids[i]] |= IS_MEMBER;
}

/* Marks what is below a member: parents have higher ids, so one walk down does it. */
static void spread(const struct checks *checks)
{
    for (size_t id = checks->table->n_shapes; id-- > 0;) {
        const struct weft_shape *shape = &checks->table->shapes[id];
        for (uint32_t c = 0; checks->below[id] != 0 && c < shape->n_children; c++)
            checks->below[shape->children[c]] |= IS_BELOW;
    }
}

static void judge_members(const struct checks *checks, enum weft_shape_promise promise,
                          uint32_t cluster_id)
{
    const struct weft_shape_cluster *cluster = &checks->table->clusters[cluster_id];
    for (uint32_t i = 0; i < cluster->n_shapes; i++)
        judge(checks, promise, !(checks->below[cluster->shape_ids[i]] & IS_BELOW),
              cluster->shape_ids[i], cluster->shape_ids[0]);
}

static void unmark(const struct checks *checks)
{
    memset(checks->below, 0, checks->table->n_shapes);
}

static void check_pairs(const struct checks *checks, const struct weft_shape_cluster *cluster,
                        uint64_t every, uint64_t *n_seen)
{
    const struct weft_shapes_table *table = checks->table;
    for (uint32_t i = 0; i < cluster->n_shapes; i++)
        for (uint32_t j = 0; j < i; j++) {
            const uint32_t a = cluster->shape_ids[i], b = cluster->shape_ids[j];
            if ((*n_seen)++ % every == 0)
                judge(checks, WEFT_PROMISE_CLUSTERS,
                      table->shapes[a].function_id == table->shapes[b].function_id &&
                          weft_shape_distance(checks->metric, a, b, table->threshold_halves) <=
                              table->threshold_halves,
                      a, b);
        }
}

/* Only shapes of one function can be below each other, so few clusters need the walk. */
static bool may_nest(const struct weft_shapes_table *table,
                     const struct weft_shape_cluster *cluster)
{
    const uint32_t lowest = table->shapes[cluster->shape_ids[0]].depth;
    return cluster->n_shapes > 1 && lowest < cluster->depth;
}

static void check_nesting(const struct checks *checks, uint32_t cluster_id)
{
    mark(checks, cluster_id);
    spread(checks);
    judge_members(checks, WEFT_PROMISE_CLUSTERS, cluster_id);
    unmark(checks);
}

static void check_clusters(const struct checks *checks)
{
    const struct weft_shapes_table *table = checks->table;
    uint64_t n_pairs = 0, n_seen = 0, n_steps = 0;
    for (uint32_t id = 0; id < table->n_clusters; id++)
        n_pairs += (uint64_t)table->clusters[id].n_shapes * (table->clusters[id].n_shapes - 1) / 2;
    for (uint32_t id = 0; id < table->n_clusters; id++) {
        check_pairs(checks, &table->clusters[id], n_pairs / MAX_PAIRS + 1, &n_seen);
        if (!may_nest(table, &table->clusters[id]) || n_steps > MAX_STEPS)
            continue;
        check_nesting(checks, id);
        n_steps += table->n_shapes;
    }
}

/* ---- ribbons --------------------------------------------------------------------------------- */

static void check_ribbon(const struct checks *checks, const struct weft_shape_ribbon *ribbon)
{
    for (uint32_t i = 0; i < ribbon->n_clusters; i++)
        mark(checks, ribbon->cluster_ids[i]);
    spread(checks);
    for (uint32_t i = 0; i < ribbon->n_clusters; i++)
        judge_members(checks, WEFT_PROMISE_RIBBONS, ribbon->cluster_ids[i]);
    unmark(checks);
}

static void check_ribbons(const struct checks *checks)
{
    const struct weft_shapes_table *table = checks->table;
    for (size_t i = 0; i < table->n_ribbons; i++)
        check_ribbon(checks, &table->ribbons[i]);
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t i = 0; i < table->threads[t].n_ribbons; i++)
            check_ribbon(checks, &table->threads[t].ribbons[i]);
}

/* ---- counts ---------------------------------------------------------------------------------- */

struct sum {
    uint64_t count, sum_ns;
};

static void check_counts(const struct checks *checks, struct sum *of_threads)
{
    const struct weft_shapes_table *table = checks->table;
    uint64_t calls = 0, thread_calls = 0;
    for (size_t t = 0; t < table->n_threads; t++) {
        thread_calls += table->threads[t].calls;
        for (size_t i = 0; i < table->threads[t].n_presences; i++) {
            const struct weft_shape_presence *presence = &table->threads[t].presences[i];
            of_threads[presence->cluster_id].count += presence->times.count;
            of_threads[presence->cluster_id].sum_ns += presence->times.sum_ns;
        }
    }
    for (uint32_t id = 0; id < table->n_clusters; id++) {
        const struct weft_shape_cluster *cluster = &table->clusters[id];
        struct sum of_shapes = { 0 };
        for (uint32_t s = 0; s < cluster->n_shapes; s++) {
            of_shapes.count += table->shapes[cluster->shape_ids[s]].count;
            of_shapes.sum_ns += table->shapes[cluster->shape_ids[s]].sum_ns;
        }
        judge(checks, WEFT_PROMISE_COUNTS,
              of_shapes.count == cluster->times.count &&
                  of_shapes.sum_ns == cluster->times.sum_ns &&
                  of_threads[id].count == cluster->times.count &&
                  of_threads[id].sum_ns == cluster->times.sum_ns,
              id, id);
        calls += of_shapes.count;
    }
    judge(checks, WEFT_PROMISE_COUNTS, calls == table->calls && calls == thread_calls, 0, 0);
}

enum weft_code weft_shape_verify(const struct weft_trace *trace,
                                 const struct weft_shapes_table *table,
                                 struct weft_shape_metric *metric,
                                 struct weft_shape_verdict verdicts[WEFT_PROMISES],
                                 struct weft_err *err)
{
    const struct checks checks = { .trace = trace,
                                   .table = table,
                                   .metric = metric,
                                   .verdicts = verdicts,
                                   .below = calloc(table->n_shapes + 1, 1) };
    struct sum *of_threads = calloc(table->n_clusters + 1, sizeof *of_threads);
    enum weft_code code = WEFT_OK;
    memset(verdicts, 0, WEFT_PROMISES * sizeof *verdicts);
    if (checks.below && of_threads) {
        check_order(&checks);
        check_metric(&checks);
        check_clusters(&checks);
        check_ribbons(&checks);
        check_counts(&checks, of_threads);
        if (weft_shape_metric_is_spent(metric))
            code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "shapes too large to compare");
    } else {
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu shapes",
                         table->n_shapes);
    }
    free(checks.below);
    free(of_threads);
    return code;
}
