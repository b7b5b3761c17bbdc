/* SPDX-License-Identifier: MIT
 *
 * Scores each shape by bits: how seldom its function has that shape, or how much longer its slowest
 * call is. A shape is marked as not the deepest cause when a listed child inside the same call has
 * most of its time.
 */
#include "analysis/shapes/rare.h"

#include <math.h>
#include <stdlib.h>

/* A listed child that takes this share of the time is the deeper cause. */
static const double deepest_share = 0.9;

/* Slow calls shorter than this are noise of the clock and the scheduler. */
enum { SLOW_MIN_NS = 1000 };

/* How a function is called: by all of its shapes together. */
struct use {
    uint64_t calls;
    uint32_t thread_id; /* of its first shape */
    bool is_shared;     /* called on several threads */
};

struct search {
    const struct weft_shapes_table *table;
    double slow_factor;
    struct use *uses; /* by function id */
};

static uint32_t n_functions_of(const struct weft_shapes_table *table)
{
    uint32_t n_functions = 0;
    for (size_t i = 0; i < table->n_shapes; i++)
        if (table->shapes[i].function_id >= n_functions)
            n_functions = table->shapes[i].function_id + 1;
    return n_functions;
}

static void count_uses(const struct search *search)
{
    for (size_t i = 0; i < search->table->n_shapes; i++) {
        const struct weft_shape *shape = &search->table->shapes[i];
        struct use *use = &search->uses[shape->function_id];
        if (use->calls == 0)
            use->thread_id = shape->first.thread_id;
        use->is_shared |= shape->n_threads > 1 || use->thread_id != shape->first.thread_id;
        use->calls += shape->count;
    }
}

static double log2_ratio(uint64_t whole, uint64_t part)
{
    return part > 0 && whole > part ? log2((double)whole / (double)part) : 0;
}

static uint64_t duration_of(const struct weft_shape_occurrence *at)
{
    return at->end_ns - at->start_ns;
}

/* By how rarely a call of the function has this shape. */
static void judge_count(const struct search *search, const struct weft_shape *shape,
                        struct weft_shape_rare *rare)
{
    const struct use *use = &search->uses[shape->function_id];
    rare->is_once = shape->count == 1 && use->calls > 1;
    rare->is_one_thread = shape->n_threads == 1 && use->is_shared;
    if (!rare->is_once && !rare->is_one_thread)
        return;
    rare->surprise = log2_ratio(use->calls, shape->count);
    rare->time_ns = shape->sum_ns;
    rare->score = rare->surprise * (double)rare->time_ns;
}

/* By how much longer than the others one call of the shape is. */
static void judge_slowest(const struct search *search, const struct weft_shape *shape,
                          struct weft_shape_rare *rare)
{
    if (shape->count < 2)
        return;
    rare->typical_ns = (shape->sum_ns - shape->max_ns) / (shape->count - 1);
    const uint64_t typical_ns = rare->typical_ns > 0 ? rare->typical_ns : 1;
    const double times = (double)shape->max_ns / (double)typical_ns;
    rare->is_slow = times > search->slow_factor && shape->max_ns >= SLOW_MIN_NS;
    if (!rare->is_slow)
        return;
    const uint64_t excess_ns = shape->max_ns - rare->typical_ns;
    const double surprise = log2(times), score = surprise * (double)excess_ns;
    if (score > rare->score) {
        rare->surprise = surprise;
        rare->time_ns = excess_ns;
        rare->score = score;
    }
}

static struct weft_shape_rare judge(const struct search *search, uint32_t id)
{
    const struct weft_shape *shape = &search->table->shapes[id];
    struct weft_shape_rare rare = { .shape_id = id,
                                    .at = shape->slowest,
                                    .function_calls = search->uses[shape->function_id].calls };
    judge_count(search, shape, &rare);
    judge_slowest(search, shape, &rare);
    return rare;
}

static bool is_listed(const struct weft_shape_rare *rare)
{
    return rare->score > 0;
}

static bool lies_in(const struct weft_shape_occurrence *inner,
                    const struct weft_shape_occurrence *outer)
{
    return inner->thread_id == outer->thread_id && inner->start_ns >= outer->start_ns &&
           inner->end_ns <= outer->end_ns;
}

/* Whether a listed child inside the same call has most of its time. `rare` is by shape id. */
static bool is_deepest(const struct search *search, const struct weft_shape_rare *rare, uint32_t id)
{
    const struct weft_shape *shape = &search->table->shapes[id];
    const double most_ns = deepest_share * (double)duration_of(&rare[id].at);
    for (uint32_t i = 0; i < shape->n_children; i++) {
        const struct weft_shape_rare *child = &rare[shape->children[i]];
        if (is_listed(child) && lies_in(&child->at, &rare[id].at) &&
            (double)duration_of(&child->at) >= most_ns)
            return false;
    }
    return true;
}

static int compare_rare(const void *a_ptr, const void *b_ptr)
{
    const struct weft_shape_rare *a = a_ptr, *b = b_ptr;
    if (a->score > b->score || a->score < b->score)
        return a->score > b->score ? -1 : 1;
    return a->shape_id < b->shape_id ? -1 : a->shape_id > b->shape_id;
}

enum weft_code weft_shape_rare_find(const struct weft_shapes_table *table, double slow_factor,
                                    struct weft_arena *arena, struct weft_shape_rare **rare,
                                    size_t *n_rare, struct weft_err *err)
{
    const struct search search = {
        .table = table,
        .slow_factor = slow_factor,
        .uses = WEFT_ARENA_NEW(arena, n_functions_of(table), struct use),
    };
    struct weft_shape_rare *all = WEFT_ARENA_NEW(arena, table->n_shapes, struct weft_shape_rare);
    *rare = all;
    *n_rare = 0;
    if (!search.uses || !all)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu shapes",
                         table->n_shapes);
    count_uses(&search);
    for (uint32_t id = 0; id < table->n_shapes; id++)
        all[id] = judge(&search, id);
    for (uint32_t id = 0; id < table->n_shapes; id++)
        all[id].is_deepest = is_deepest(&search, all, id);
    for (size_t i = 0; i < table->n_shapes; i++)
        if (is_listed(&all[i]))
            all[(*n_rare)++] = all[i];
    if (*n_rare > 0)
        qsort(all, *n_rare, sizeof *all, compare_rare);
    return WEFT_OK;
}
