/* SPDX-License-Identifier: MIT
 *
 * Unions of two sets of shapes: what is the same in both is one, nothing else is, and the side does
 * not matter. Two sides are parts of one random set under other function ids.
 */
#include "analysis/shapes/compare.h"
#include "analysis/shapes/order.h"
#include "random_shapes.h"
#include "schema/event.h"
#include "tap.h"

enum { N_SETS = 400, MAX_SHAPES = 100, MAX_FUNCTIONS = 9 };

/* A part of a set that has the children of all it has, in canonical order of its own names. */
struct part {
    struct weft_shape_order order;
    uint32_t common_function[MAX_FUNCTIONS]; /* by id of the part: that of the whole */
    uint32_t n_shapes;
    uint32_t *whole_of; /* by raw id of the part: shape of the whole */
};

static const struct weft_str names[MAX_FUNCTIONS] = {
    { "d", sizeof "d" - 1 }, { "a", sizeof "a" - 1 }, { "b", sizeof "b" - 1 },
    { "a", sizeof "a" - 1 }, { "", sizeof "" - 1 },   { "e", sizeof "e" - 1 },
    { "c", sizeof "c" - 1 }, { "f", sizeof "f" - 1 }, { "g", sizeof "g" - 1 },
};

static void take_part(const struct weft_shape_set *whole, struct weft_arena *arena,
                      struct part *part, uint64_t *state)
{
    const uint32_t n = (uint32_t)whole->n_shapes;
    bool *is_in = WEFT_ARENA_NEW(arena, n, bool);
    uint32_t *raw_of = WEFT_ARENA_NEW(arena, n, uint32_t);
    uint32_t *columns = WEFT_ARENA_NEW(arena, 4 * (size_t)n + whole->first_child[n] + 1, uint32_t);
    uint32_t *function_id = columns, *depth = columns + n, *first = columns + 2 * (size_t)n;
    uint32_t *child = columns + 4 * (size_t)n + 1;
    uint32_t own_of[MAX_FUNCTIONS], ranks[MAX_FUNCTIONS];
    part->whole_of = columns + 3 * (size_t)n + 1;
    part->n_shapes = 0;
    const uint32_t turn = random_below(state, MAX_FUNCTIONS);
    for (uint32_t k = 0; k < MAX_FUNCTIONS; k++) {
        own_of[(k + turn) % MAX_FUNCTIONS] = k;
        part->common_function[k] = (k + turn) % MAX_FUNCTIONS;
        ranks[k] = MAX_FUNCTIONS - 1 - k;
    }
    for (uint32_t s = n; s-- > 0;) {
        is_in[s] |= random_below(state, 3) == 0;
        for (uint32_t k = whole->first_child[s]; is_in[s] && k < whole->first_child[s + 1]; k++)
            is_in[whole->child[k]] = true;
    }
    uint32_t n_edges = 0;
    for (uint32_t s = 0; s < n; s++) {
        if (!is_in[s])
            continue;
        const uint32_t raw = part->n_shapes++;
        raw_of[s] = raw;
        part->whole_of[raw] = s;
        function_id[raw] = own_of[whole->function_id[s]];
        depth[raw] = whole->depth[s];
        for (uint32_t k = whole->first_child[s]; k < whole->first_child[s + 1]; k++)
            child[n_edges++] = raw_of[whole->child[k]];
        first[raw + 1] = n_edges;
    }
    const struct weft_shape_set raw = { part->n_shapes, function_id, depth, first, child };
    if (weft_shape_order(&raw, ranks, arena, &part->order, NULL))
        abort();
}

static bool is_child(const struct weft_shape_set *set, uint32_t shape, uint32_t child)
{
    size_t n;
    const uint32_t *children = weft_shape_children(set, shape, &n);
    for (size_t k = 0; k < n; k++)
        if (children[k] == child)
            return true;
    return false;
}

/* The union holds the shape of the side as it is. */
static bool is_kept(const struct weft_shape_union *all, const struct part *part, size_t side)
{
    const struct weft_shape_set *set = &part->order.set;
    for (uint32_t s = 0; s < set->n_shapes; s++) {
        const uint32_t to = all->of[side][s];
        size_t n, n_to;
        const uint32_t *children = weft_shape_children(set, s, &n);
        (void)weft_shape_children(&all->set, to, &n_to);
        if (all->from[side][to] != s || n != n_to || all->set.depth[to] != set->depth[s] ||
            all->set.function_id[to] != part->common_function[set->function_id[s]])
            return false;
        for (size_t k = 0; k < n; k++)
            if (!is_child(&all->set, to, all->of[side][children[k]]))
                return false;
    }
    return true;
}

/* Shapes are shared just if they come from one shape of the whole. */
static bool is_matched(const struct weft_shape_union *all, const struct part parts[2])
{
    uint32_t n_shared = 0;
    for (uint32_t a = 0; a < parts[0].n_shapes; a++)
        for (uint32_t b = 0; b < parts[1].n_shapes; b++) {
            const bool is_same = parts[0].whole_of[parts[0].order.raw_of[a]] ==
                                 parts[1].whole_of[parts[1].order.raw_of[b]];
            if ((all->of[0][a] == all->of[1][b]) != is_same)
                return false;
            n_shared += is_same;
        }
    return all->set.n_shapes == parts[0].n_shapes + parts[1].n_shapes - n_shared;
}

static void test_one(uint64_t *state)
{
    const struct random_shapes_opts opts = {
        .n_shapes = random_below(state, MAX_SHAPES),
        .n_functions = 1 + random_below(state, MAX_FUNCTIONS),
        .max_children = 1 + random_below(state, 10),
        .max_depth = 1 + random_below(state, 10),
        .is_recursive = random_below(state, 2),
    };
    struct random_shapes whole;
    random_shapes_init(&whole, &opts, state);
    struct weft_arena *arena = weft_arena_new(0);
    struct part parts[2];
    struct weft_shape_union all, turned;
    take_part(&whole.set, arena, &parts[0], state);
    take_part(&whole.set, arena, &parts[1], state);
    const struct weft_shape_side sides[3] = {
        { &parts[0].order.set, parts[0].common_function },
        { &parts[1].order.set, parts[1].common_function },
        { &parts[0].order.set, parts[0].common_function },
    };
    if (weft_shape_union_build(sides, names, MAX_FUNCTIONS, arena, &all, NULL) ||
        weft_shape_union_build(sides + 1, names, MAX_FUNCTIONS, arena, &turned, NULL))
        abort();
    tap_ok(is_kept(&all, &parts[0], 0) && is_kept(&all, &parts[1], 1) && is_matched(&all, parts),
           "%u and %u shapes make %zu", parts[0].n_shapes, parts[1].n_shapes, all.set.n_shapes);
    tap_ok(turned.set.n_shapes == all.set.n_shapes &&
               memcmp(turned.from[0], all.from[1], all.set.n_shapes * sizeof(uint32_t)) == 0 &&
               memcmp(turned.from[1], all.from[0], all.set.n_shapes * sizeof(uint32_t)) == 0,
           "the other way round too");
    weft_arena_free(arena);
    random_shapes_fini(&whole);
}

/* Functions of one side that are the same in the common numbering. */
static void test_merged_functions(void)
{
    static const uint32_t function_id[] = { 0, 1, 2 }, depth[] = { 1, 1, 2 };
    static const uint32_t first_child[] = { 0, 0, 0, 2 }, child[] = { 0, 1 };
    static const uint32_t common[] = { 1, 1, 0 };
    const struct weft_shape_set set = { 3, function_id, depth, first_child, child };
    const struct weft_shape_set none = { 0, function_id, depth, first_child, child };
    const struct weft_shape_side sides[2] = { { &set, common }, { &none, common } };
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_union all;
    if (weft_shape_union_build(sides, names, 2, arena, &all, NULL))
        abort();
    tap_ok(all.set.n_shapes == 2 && all.of[0][0] == 0 && all.of[0][1] == 0 && all.of[0][2] == 1 &&
               all.set.first_child[2] == 1,
           "shapes of functions that are one become one");
    tap_ok(all.from[0][0] == 0 && all.from[0][1] == 2 && all.from[1][0] == WEFT_ID_NONE,
           "the lowest stands for them");
    weft_arena_free(arena);
}

int main(void)
{
    uint64_t state = tap_seed(1);
    for (unsigned k = 0; k < N_SETS; k++)
        test_one(&state);
    test_merged_functions();
    return tap_done();
}
