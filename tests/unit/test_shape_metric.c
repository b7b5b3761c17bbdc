/* SPDX-License-Identifier: MIT
 *
 * Distances of shapes: equal to the definition for any bound and in any order of questions, the
 * paper's theorems, and shapes that are deep or wide.
 */
#include "analysis/shapes/metric.h"
#include "plain_shapes.h"
#include "random_shapes.h"
#include "tap.h"

enum { N_SETS = 400, MAX_SHAPES = 70 };
#define UNBOUNDED (UINT32_MAX - 1)

struct example {
    struct random_shapes raw;
    struct weft_arena *arena;
    struct weft_shape_order order;
    struct naive_shapes naive;
    struct weft_shape_metric *metric;
};

static void example_init(struct example *example, uint64_t *state)
{
    const struct random_shapes_opts opts = {
        .n_shapes = 1 + random_below(state, MAX_SHAPES),
        .n_functions = 1 + random_below(state, 12),
        .max_children = 1 + random_below(state, 10),
        .max_depth = 2 + random_below(state, 12),
        .is_recursive = random_below(state, 2),
    };
    random_shapes_init(&example->raw, &opts, state);
    example->arena = weft_arena_new(0);
    uint32_t *ranks = WEFT_ARENA_NEW(example->arena, opts.n_functions, uint32_t);
    for (uint32_t k = 0; k < opts.n_functions; k++)
        ranks[k] = k;
    if (weft_shape_order(&example->raw.set, ranks, example->arena, &example->order, NULL))
        abort();
    naive_shapes_init(&example->naive, &example->order.set);
    example->metric = weft_shape_metric_new(&example->order.set);
}

static void example_fini(struct example *example)
{
    weft_shape_metric_free(example->metric);
    naive_shapes_fini(&example->naive);
    weft_arena_free(example->arena);
    random_shapes_fini(&example->raw);
}

/* A shape or null, as a row of the naive matrix and as an id. */
static uint32_t pick(const struct example *example, uint64_t *state, uint32_t *row)
{
    *row = random_below(state, example->naive.n);
    return *row + 1 == example->naive.n ? WEFT_SHAPE_NULL : *row;
}

static void test_distances(struct example *example, uint64_t *state)
{
    bool is_right = true;
    for (unsigned k = 0; k < 2000; k++) {
        uint32_t row, column;
        const uint32_t a = pick(example, state, &row);
        const uint32_t b = pick(example, state, &column);
        const uint32_t bound = random_below(state, 4) ? random_below(state, 8) : UNBOUNDED;
        const uint32_t want = naive_distance(&example->naive, row, column);
        const uint32_t got = weft_shape_distance(example->metric, a, b, bound);
        is_right &= got == (want <= bound ? want : bound + 1);
        is_right &= a == WEFT_SHAPE_NULL || b == WEFT_SHAPE_NULL ||
                    weft_shape_is_near(example->metric, a, b, bound) == (want <= bound);
        if (random_below(state, 500) == 0)
            weft_shape_metric_limit(example->metric, 0);
    }
    tap_ok(is_right, "distances of %zu shapes", example->order.set.n_shapes);
}

static void test_axioms(const struct naive_shapes *naive)
{
    bool is_metric = true;
    for (uint32_t a = 0; a < naive->n; a++)
        for (uint32_t b = 0; b < naive->n; b++)
            for (uint32_t c = 0; c < naive->n; c += 3)
                is_metric &= naive_distance(naive, a, c) <=
                                 naive_distance(naive, a, b) + naive_distance(naive, b, c) &&
                             (naive_distance(naive, a, b) == 0) == (a == b);
    tap_ok(is_metric, "a metric on %u shapes", naive->n);
}

/* Stack difference (Definition 7.2) of the pair at `at`, and where its subtree ends. */
static uint32_t stack_difference(const struct weft_shape_set *set,
                                 const struct weft_shape_match *nodes, size_t n, size_t at,
                                 size_t *end)
{
    const struct weft_shape_match *node = &nodes[at];
    uint32_t of_function = 1;
    if (node->a != WEFT_SHAPE_NULL && node->b != WEFT_SHAPE_NULL)
        of_function = set->function_id[node->a] == set->function_id[node->b] ? 0 : 2;
    uint32_t greatest = 0;
    for (*end = at + 1; *end < n && nodes[*end].level > node->level;)
        greatest = naive_max(greatest, stack_difference(set, nodes, n, *end, end));
    return of_function + greatest;
}

/* The subtree at `at` holds, for the shape of one side, each child, and nothing else. */
static bool is_whole(const struct weft_shape_set *set, const struct weft_shape_match *nodes,
                     size_t n, size_t at, bool of_b)
{
    const uint32_t shape = of_b ? nodes[at].b : nodes[at].a;
    size_t n_children = 0;
    const uint32_t *children =
        shape == WEFT_SHAPE_NULL ? NULL : weft_shape_children(set, shape, &n_children);
    for (size_t k = 0; k <= n_children; k++) {
        bool stands = k == n_children; /* null needs no pair */
        for (size_t i = at + 1; i < n && nodes[i].level > nodes[at].level; i++)
            if (nodes[i].level == nodes[at].level + 1)
                stands |= k < n_children && (of_b ? nodes[i].b : nodes[i].a) == children[k];
        if (!stands)
            return false;
    }
    for (size_t i = at + 1; i < n && nodes[i].level > nodes[at].level; i++) {
        const uint32_t child = of_b ? nodes[i].b : nodes[i].a;
        bool is_child = nodes[i].level != nodes[at].level + 1 || child == WEFT_SHAPE_NULL;
        for (size_t k = 0; k < n_children; k++)
            is_child |= children[k] == child;
        if (!is_child)
            return false;
    }
    return true;
}

/* Critical nodes: each has its whole distance from its function and a critical child. */
static bool is_explained(const struct weft_shape_set *set, const struct weft_shape_match *nodes,
                         size_t n, size_t at)
{
    const struct weft_shape_match *node = &nodes[at];
    size_t end;
    uint32_t rest = node->distance - stack_difference(set, node, 1, 0, &end);
    bool is_found = rest == 0;
    for (size_t i = at + 1; i < n && nodes[i].level > node->level; i++)
        if (nodes[i].level == node->level + 1) {
            if (nodes[i].is_critical != (rest > 0 && nodes[i].distance == rest))
                return false;
            is_found |= nodes[i].is_critical;
        }
    return is_found;
}

static void test_match(struct example *example, uint64_t *state)
{
    const struct weft_shape_set *set = &example->order.set;
    bool is_right = true;
    for (unsigned k = 0; k < 30; k++) {
        uint32_t row, column;
        const uint32_t a = pick(example, state, &row);
        const uint32_t b = pick(example, state, &column);
        const bool with_equal = random_below(state, 2);
        struct weft_shape_match *nodes;
        size_t n_nodes, end;
        bool is_cut;
        if (weft_shape_match(example->metric, a, b, with_equal, 20000, example->arena, &nodes,
                             &n_nodes, &is_cut, NULL))
            abort();
        is_right &= n_nodes > 0 && nodes[0].a == a && nodes[0].b == b && nodes[0].level == 0;
        if (is_cut) {
            is_right &= n_nodes == 20000;
            continue;
        }
        for (size_t i = 0; i < n_nodes; i++) {
            if (nodes[i].a == nodes[i].b && !(with_equal && nodes[i].a != WEFT_SHAPE_NULL)) {
                is_right &= nodes[i].distance == 0;
                continue;
            }
            is_right &= stack_difference(set, nodes, n_nodes, i, &end) == nodes[i].distance;
            is_right &= is_whole(set, nodes, n_nodes, i, false);
            is_right &= is_whole(set, nodes, n_nodes, i, true);
            is_right &= !nodes[i].is_critical || is_explained(set, nodes, n_nodes, i);
        }
        is_right &= nodes[0].distance == naive_distance(&example->naive, row, column);
    }
    tap_ok(is_right, "matching pairs of %zu shapes", set->n_shapes);
}

static void test_near(struct example *example, uint64_t *state)
{
    const uint32_t n = (uint32_t)example->order.set.n_shapes;
    const uint32_t shape = random_below(state, n);
    const uint32_t bound = random_below(state, 6);
    struct weft_shape_near *near;
    size_t n_near;
    if (weft_shape_near(example->metric, shape, bound, example->arena, &near, &n_near, NULL))
        abort();
    size_t n_want = 0;
    for (uint32_t other = 0; other < n; other++)
        n_want += other != shape && naive_distance(&example->naive, shape, other) <= bound;
    bool is_right = n_near == n_want;
    for (size_t k = 0; k < n_near; k++) {
        is_right &= near[k].distance == naive_distance(&example->naive, shape, near[k].shape);
        is_right &= k == 0 || near[k - 1].distance < near[k].distance ||
                    (near[k - 1].distance == near[k].distance && near[k - 1].shape < near[k].shape);
    }
    tap_ok(is_right, "%zu shapes within %u of another", n_near, bound);
}

/* What is spent says so, and does no more. */
static void test_limit(struct example *example)
{
    const struct weft_shape_set *set = &example->order.set;
    struct weft_shape_match *nodes;
    size_t n_nodes;
    bool is_cut;
    struct weft_err err = { 0 };
    weft_shape_metric_limit(example->metric, 3);
    for (uint32_t k = 0; k < 4; k++)
        (void)weft_shape_distance(example->metric, 0, (uint32_t)set->n_shapes - 1, 5);
    tap_ok(weft_shape_metric_is_spent(example->metric) &&
               weft_shape_distance(example->metric, 0, 0, 7) == 8 &&
               !weft_shape_is_near(example->metric, 0, 0, 7),
           "work is limited");
    tap_ok(weft_shape_match(example->metric, 0, 0, false, 0, example->arena, &nodes, &n_nodes,
                            &is_cut, &err) == WEFT_E_LIMIT,
           "no match of what is spent: %s", err.text);
    weft_shape_metric_limit(example->metric, 0);
    tap_ok(!weft_shape_metric_is_spent(example->metric) &&
               weft_shape_distance(example->metric, 0, 0, 7) == 0,
           "a limit can be lifted");
}

/* Two chains of equal depth that differ in the middle, and in their lowest functions: a leaf is
 * nearer to null than to another function's. */
static void test_chains(uint32_t depth)
{
    const uint32_t n = 2 * depth;
    uint32_t *columns = calloc((size_t)n * 4 + 1, sizeof *columns);
    if (!columns)
        abort();
    uint32_t *function_id = columns, *depths = columns + n, *child = columns + 2 * (size_t)n;
    uint32_t *first_child = columns + 3 * (size_t)n;
    for (uint32_t s = 0; s < n; s++) { /* even: the one, odd: the other */
        function_id[s] = s == 1 ? 1 : 0;
        depths[s] = s / 2 + 1;
        first_child[s] = s < 2 ? 0 : s - 2;
        if (s >= 2)
            child[s - 2] = s - 2;
    }
    first_child[n] = n - 2;
    function_id[n / 2 + 1] = 2;
    const struct weft_shape_set set = { n, function_id, depths, first_child, child };
    struct weft_shape_metric *metric = weft_shape_metric_new(&set);
    tap_eq_u64(weft_shape_distance(metric, n - 2, n - 1, UNBOUNDED), 3,
               "chains of depth %u that differ twice", depth);
    tap_eq_u64(weft_shape_distance(metric, n - 2, n - 1, 2), 3, "the same, bounded");
    tap_ok(weft_shape_is_near(metric, n - 2, n - 1, 3) &&
               !weft_shape_is_near(metric, n - 2, n - 1, 2),
           "near enough");
    tap_eq_u64(weft_shape_distance(metric, n - 2, WEFT_SHAPE_NULL, UNBOUNDED), depth,
               "a chain and null");
    tap_eq_u64(weft_shape_distance(metric, n - 2, 0, UNBOUNDED), depth - 1, "a chain and its end");
    weft_shape_metric_free(metric);
    free(columns);
}

/* Braids: two shapes a level, both below both of the next. */
static void test_braid(uint32_t depth)
{
    const uint32_t n = 2 * depth;
    uint32_t *columns = calloc((size_t)n * 6 + 1, sizeof *columns);
    if (!columns)
        abort();
    uint32_t *function_id = columns, *depths = columns + n;
    uint32_t *first_child = columns + 2 * (size_t)n, *child = columns + 3 * (size_t)n + 1;
    uint32_t n_edges = 0;
    for (uint32_t s = 0; s < n; s++) {
        function_id[s] = s % 2;
        depths[s] = s / 2 + 1;
        first_child[s] = n_edges;
        for (uint32_t k = 0; s >= 2 && k < 2; k++)
            child[n_edges++] = s / 2 * 2 - 2 + k;
    }
    first_child[n] = n_edges;
    const struct weft_shape_set set = { n, function_id, depths, first_child, child };
    struct weft_shape_metric *metric = weft_shape_metric_new(&set);
    tap_eq_u64(weft_shape_distance(metric, n - 2, n - 1, UNBOUNDED), 2, "tops of a braid of %u",
               depth);
    tap_eq_u64(weft_shape_distance(metric, n - 2, n - 3, UNBOUNDED), 3, "levels of a braid");
    tap_ok(weft_shape_is_near(metric, n - 2, n - 1, 2) &&
               !weft_shape_is_near(metric, n - 2, n - 1, 1),
           "near enough");
    tap_ok(weft_shape_metric_work(metric) < 100u * depth, "in linear time: %" PRIu64 " pairs",
           weft_shape_metric_work(metric));
    weft_shape_metric_free(metric);
    free(columns);
}

int main(void)
{
    uint64_t state = tap_seed(1);
    for (unsigned k = 0; k < N_SETS; k++) {
        struct example example;
        example_init(&example, &state);
        if (example.order.set.n_shapes > 1) {
            test_distances(&example, &state);
            test_axioms(&example.naive);
            test_match(&example, &state);
            test_near(&example, &state);
            test_limit(&example);
        }
        example_fini(&example);
    }
    test_chains(65534);
    test_braid(3000);
    return tap_done();
}
