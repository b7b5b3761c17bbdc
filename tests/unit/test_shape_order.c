/* SPDX-License-Identifier: MIT
 *
 * Canonical order: sorted as defined, and the same for every numbering of the same shapes.
 */
#include "analysis/shapes/order.h"
#include "random_shapes.h"
#include "tap.h"

enum { N_SEEDS = 300, MAX_SHAPES = 120 };

/* Definition, by two shapes of an ordered set. */
static int compare(const struct weft_shape_set *set, const uint32_t *ranks, uint32_t a, uint32_t b)
{
    if (set->depth[a] != set->depth[b])
        return set->depth[a] < set->depth[b] ? -1 : 1;
    if (set->function_id[a] != set->function_id[b])
        return ranks[set->function_id[a]] < ranks[set->function_id[b]] ? -1 : 1;
    size_t n_a, n_b;
    const uint32_t *of_a = weft_shape_children(set, a, &n_a);
    const uint32_t *of_b = weft_shape_children(set, b, &n_b);
    for (size_t k = 0; k < n_a && k < n_b; k++)
        if (of_a[k] != of_b[k])
            return of_a[k] < of_b[k] ? -1 : 1;
    return (n_a > n_b) - (n_a < n_b);
}

static bool is_ordered(const struct weft_shape_set *set, const uint32_t *ranks)
{
    for (uint32_t s = 0; s < set->n_shapes; s++) {
        size_t n;
        const uint32_t *children = weft_shape_children(set, s, &n);
        for (size_t k = 0; k < n; k++)
            if (children[k] >= s || (k && children[k - 1] >= children[k]))
                return false;
        if (s && compare(set, ranks, s - 1, s) >= 0)
            return false;
    }
    return true;
}

/* The shape is the raw one: same function and depth, same children under their new ids. */
static bool is_faithful(const struct weft_shape_set *raw, const struct weft_shape_order *order)
{
    const struct weft_shape_set *set = &order->set;
    for (uint32_t s = 0; s < set->n_shapes; s++) {
        const uint32_t from = order->raw_of[s];
        if (order->id_of[from] != s || set->function_id[s] != raw->function_id[from] ||
            set->depth[s] != raw->depth[from] ||
            set->first_child[s + 1] - set->first_child[s] !=
                raw->first_child[from + 1] - raw->first_child[from])
            return false;
        for (uint32_t k = set->first_child[s]; k < set->first_child[s + 1]; k++) {
            const uint32_t edge = order->raw_edge[k];
            if (edge < raw->first_child[from] || edge >= raw->first_child[from + 1] ||
                order->id_of[raw->child[edge]] != set->child[k])
                return false;
        }
    }
    return true;
}

static void shuffle(uint32_t *items, uint32_t n, uint64_t *state)
{
    for (uint32_t k = n; k > 1; k--) {
        const uint32_t at = random_below(state, k);
        const uint32_t moved = items[k - 1];
        items[k - 1] = items[at];
        items[at] = moved;
    }
}

/* The same shapes under other ids, with their children in another order. */
static void renumber(const struct weft_shape_set *raw, struct weft_arena *arena,
                     struct weft_shape_set *other, uint64_t *state)
{
    const uint32_t n = (uint32_t)raw->n_shapes;
    uint32_t *of = WEFT_ARENA_NEW(arena, n, uint32_t);
    uint32_t *back = WEFT_ARENA_NEW(arena, n, uint32_t);
    uint32_t *function_id = WEFT_ARENA_NEW(arena, n, uint32_t);
    uint32_t *depth = WEFT_ARENA_NEW(arena, n, uint32_t);
    uint32_t *first_child = WEFT_ARENA_NEW(arena, n + 1, uint32_t);
    uint32_t *child = WEFT_ARENA_NEW(arena, raw->first_child[n], uint32_t);
    for (uint32_t s = 0; s < n; s++)
        of[s] = s;
    shuffle(of, n, state);
    for (uint32_t s = 0; s < n; s++)
        back[of[s]] = s;
    uint32_t n_edges = 0;
    for (uint32_t s = 0; s < n; s++) {
        size_t n_children;
        const uint32_t *children = weft_shape_children(raw, of[s], &n_children);
        function_id[s] = raw->function_id[of[s]];
        depth[s] = raw->depth[of[s]];
        for (size_t k = 0; k < n_children; k++)
            child[n_edges + k] = back[children[k]];
        shuffle(child + n_edges, (uint32_t)n_children, state);
        n_edges += (uint32_t)n_children;
        first_child[s + 1] = n_edges;
    }
    *other = (struct weft_shape_set){ n, function_id, depth, first_child, child };
}

static bool is_equal(const struct weft_shape_set *a, const struct weft_shape_set *b)
{
    const size_t n = a->n_shapes;
    return n == b->n_shapes && memcmp(a->function_id, b->function_id, n * sizeof(uint32_t)) == 0 &&
           memcmp(a->depth, b->depth, n * sizeof(uint32_t)) == 0 &&
           memcmp(a->first_child, b->first_child, (n + 1) * sizeof(uint32_t)) == 0 &&
           memcmp(a->child, b->child, a->first_child[n] * sizeof(uint32_t)) == 0;
}

/* Names of which some are equal. */
static uint32_t *make_ranks(struct weft_arena *arena, uint32_t n, uint64_t *state)
{
    static const char *const texts[] = { "b", "a", "ab", "", "c", "aa", "b" };
    struct weft_str *names = WEFT_ARENA_NEW(arena, n, struct weft_str);
    uint32_t *ranks = NULL;
    for (uint32_t k = 0; k < n; k++)
        names[k] = weft_str_of(texts[random_below(state, sizeof texts / sizeof *texts)]);
    if (weft_shape_function_ranks(names, n, arena, &ranks, NULL))
        abort();
    bool is_right = true;
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            int by_name = weft_str_compare(names[a], names[b]);
            is_right &= (ranks[a] < ranks[b]) == (by_name < 0 || (by_name == 0 && a < b));
        }
    }
    tap_ok(is_right, "%u functions by name, then id", n);
    return ranks;
}

static void test_one(uint64_t *state)
{
    const struct random_shapes_opts opts = {
        .n_shapes = random_below(state, MAX_SHAPES),
        .n_functions = 1 + random_below(state, 6),
        .max_children = 1 + random_below(state, 40),
        .max_depth = 1 + random_below(state, 12),
        .is_recursive = random_below(state, 2),
    };
    struct random_shapes shapes;
    random_shapes_init(&shapes, &opts, state);
    struct weft_arena *arena = weft_arena_new(0);
    uint32_t *ranks = make_ranks(arena, opts.n_functions, state);
    struct weft_shape_order order, again;
    struct weft_shape_set other;
    renumber(&shapes.set, arena, &other, state);
    if (weft_shape_order(&shapes.set, ranks, arena, &order, NULL) ||
        weft_shape_order(&other, ranks, arena, &again, NULL))
        abort();
    tap_ok(is_ordered(&order.set, ranks) && is_faithful(&shapes.set, &order), "%u shapes in order",
           shapes.n_shapes);
    tap_ok(is_faithful(&other, &again) && is_equal(&order.set, &again.set),
           "%u shapes in any other order", shapes.n_shapes);
    weft_arena_free(arena);
    random_shapes_fini(&shapes);
}

int main(void)
{
    uint64_t state = tap_seed(1);
    for (unsigned k = 0; k < N_SEEDS; k++)
        test_one(&state);
    return tap_done();
}
