/* SPDX-License-Identifier: MIT
 *
 * Distances of shapes: bounded, with a memory of fixed size, and a stack of its own.
 *
 * d(x, null) = depth(x), so a child of depth <= bound never decides against a pair; and by the
 * triangle inequality |depth(x) - depth(y)| <= d(x, y). Of the Hausdorff distance only the maximum
 * counts: deep children come first, as they are hardest to match, and the search for a nearest one
 * ends where it is no farther than another child's nearest.
 */
#include "analysis/shape_metric.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEMO_WAYS = 2,
    MEMO_MIN_BITS = 12,
    MEMO_MAX_BITS = 21, /* 32 MiB */
    MEMO_ENTRIES_A_SHAPE = 16,
    FUNCTION_DISTANCE = 2, /* of two functions, half units */
};
#define IS_EXACT UINT32_C(1)

/* What decides most pairs, side by side. */
struct node {
    uint32_t function_id, depth;
    uint32_t first_child, n_children;
    uint64_t called; /* functions of its children, as bits */
    uint64_t deep;   /* the same, of children that have children */
};

/* A distance, or what it is at least. */
struct memo {
    uint32_t a, b; /* a < b */
    uint32_t distance;
    uint32_t stamp; /* generation, and IS_EXACT */
};

/* A pair while its children are matched: those of one side (outer) in turn, each with those of the
 * other side (inner), from the last of both on. */
struct frame {
    uint32_t a, b;
    uint32_t function_distance;
    uint32_t budget;   /* what the children may make up */
    uint32_t farthest; /* greatest distance of a child to its nearest so far */
    uint32_t nearest;  /* distance of the current outer child to its nearest so far */
    uint32_t outer_left, inner_left, common_left;
    bool is_second;    /* outer is b's */
    bool is_searching; /* there is a current outer child: the one at outer_left */
};

struct weft_shape_metric {
    const struct weft_shape_set *set;
    const uint32_t *child;
    struct node *nodes;
    struct frame *frames; /* as many as the deepest shape has levels */
    struct memo *memo;
    uint32_t memo_mask; /* of an entry, the first of a pair */
    uint32_t generation;
    uint64_t work, max_work;
    bool is_spent;
};

static uint64_t function_bit(uint32_t function_id)
{
    return UINT64_C(1) << ((function_id * UINT32_C(0x9e3779b1)) >> 26);
}

static void fill_nodes(struct weft_shape_metric *metric, const struct weft_shape_set *set)
{
    for (size_t s = 0; s < set->n_shapes; s++) {
        struct node *node = &metric->nodes[s];
        size_t n_children;
        const uint32_t *children = weft_shape_children(set, (uint32_t)s, &n_children);
        *node = (struct node){ .function_id = set->function_id[s],
                               .depth = set->depth[s],
                               .first_child = set->first_child[s],
                               .n_children = (uint32_t)n_children };
        for (size_t k = 0; k < n_children; k++) {
            uint64_t bit = function_bit(set->function_id[children[k]]);
            node->called |= bit;
            node->deep |= set->depth[children[k]] > 1 ? bit : 0;
        }
    }
}

struct weft_shape_metric *weft_shape_metric_new(const struct weft_shape_set *set)
{
    struct weft_shape_metric *metric = calloc(1, sizeof *metric);
    if (!metric)
        return NULL;
    uint32_t deepest = set->n_shapes ? set->depth[set->n_shapes - 1] : 0;
    uint32_t bits = MEMO_MIN_BITS;
    while (bits < MEMO_MAX_BITS && set->n_shapes * MEMO_ENTRIES_A_SHAPE > (size_t)1 << bits)
        bits++;
    metric->set = set;
    metric->child = set->child;
    metric->nodes = malloc(set->n_shapes * sizeof *metric->nodes + 1);
    metric->frames = malloc(((size_t)deepest + 1) * sizeof *metric->frames);
    metric->memo = calloc((size_t)1 << bits, sizeof *metric->memo);
    metric->memo_mask = ((UINT32_C(1) << bits) - 1) & ~(uint32_t)(MEMO_WAYS - 1);
    if (!metric->nodes || !metric->frames || !metric->memo) {
        weft_shape_metric_free(metric);
        return NULL;
    }
    fill_nodes(metric, set);
    weft_shape_metric_limit(metric, 0);
    return metric;
}

void weft_shape_metric_free(struct weft_shape_metric *metric)
{
    if (!metric)
        return;
    free(metric->nodes);
    free(metric->frames);
    free(metric->memo);
    free(metric);
}

const struct weft_shape_set *weft_shape_metric_set(const struct weft_shape_metric *metric)
{
    return metric->set;
}

void weft_shape_metric_limit(struct weft_shape_metric *metric, uint64_t max_work)
{
    metric->generation += 2; /* leaves room for IS_EXACT; 0 is an entry never used */
    if (metric->generation == 0) {
        memset(metric->memo, 0, ((size_t)metric->memo_mask + MEMO_WAYS) * sizeof *metric->memo);
        metric->generation = 2;
    }
    metric->work = 0;
    metric->max_work = max_work ? max_work : UINT64_MAX;
    metric->is_spent = false;
}

uint64_t weft_shape_metric_work(const struct weft_shape_metric *metric)
{
    return metric->work;
}

bool weft_shape_metric_is_spent(const struct weft_shape_metric *metric)
{
    return metric->is_spent;
}

void weft_shape_metric_spend(struct weft_shape_metric *metric, uint64_t work)
{
    metric->work += work;
    metric->is_spent |= metric->work > metric->max_work;
}

/* ---- memory --------------------------------------------------------------------------------- */

static struct memo *memo_of(struct weft_shape_metric *metric, uint32_t a, uint32_t b)
{
    uint64_t key = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
    return &metric->memo[(uint32_t)(key >> 32) & metric->memo_mask];
}

static bool is_of(const struct weft_shape_metric *metric, const struct memo *memo, uint32_t a,
                  uint32_t b)
{
    return memo->a == a && memo->b == b && (memo->stamp & ~IS_EXACT) == metric->generation;
}

/* True if the answer for this bound is known. a < b. */
static bool recall(struct weft_shape_metric *metric, uint32_t a, uint32_t b, uint32_t bound,
                   uint32_t *distance)
{
    const struct memo *memo = memo_of(metric, a, b);
    if (!is_of(metric, memo, a, b) && !is_of(metric, ++memo, a, b))
        return false;
    if (!(memo->stamp & IS_EXACT) && memo->distance <= bound)
        return false;
    *distance = memo->distance <= bound ? memo->distance : bound + 1;
    return true;
}

/* The latest two of an entry stay. a < b. */
static void remember(struct weft_shape_metric *metric, uint32_t a, uint32_t b, uint32_t distance,
                     uint32_t is_exact)
{
    struct memo *memo = memo_of(metric, a, b);
    if (!is_of(metric, memo, a, b))
        memo[1] = memo[0];
    *memo = (struct memo){ a, b, distance, metric->generation | is_exact };
}

/* ---- a pair --------------------------------------------------------------------------------- */

/* True if the pair is decided without looking at children, or from memory; a < b. */
static bool decide(struct weft_shape_metric *metric, uint32_t a, uint32_t b, uint32_t bound,
                   uint32_t *distance)
{
    const struct node *x = &metric->nodes[a];
    const struct node *y = &metric->nodes[b];
    uint32_t of_function = x->function_id == y->function_id ? 0 : FUNCTION_DISTANCE;
    *distance = bound + 1;
    if (y->depth - x->depth > bound || of_function > bound || bound == 0)
        return true;
    if (y->depth == 1) {
        *distance = of_function; /* different shapes without children have different functions */
        return true;
    }
    /* With 1 left, a child that has children needs a counterpart of the same function. */
    if (bound - of_function <= 1 && ((x->deep & ~y->called) | (y->deep & ~x->called)))
        return true;
    return recall(metric, a, b, bound, distance);
}

static void frame_turn(const struct weft_shape_metric *metric, struct frame *frame, bool is_second)
{
    frame->is_second = is_second;
    frame->is_searching = false;
    frame->outer_left = metric->nodes[is_second ? frame->b : frame->a].n_children;
    frame->common_left = metric->nodes[is_second ? frame->a : frame->b].n_children;
}

static void frame_begin(struct weft_shape_metric *metric, struct frame *frame, uint32_t a,
                        uint32_t b, uint32_t bound)
{
    bool is_same = metric->nodes[a].function_id == metric->nodes[b].function_id;
    *frame = (struct frame){ .a = a, .b = b };
    frame->function_distance = is_same ? 0 : FUNCTION_DISTANCE;
    frame->budget = bound - frame->function_distance;
    frame_turn(metric, frame, false);
}

/* How far the nearest may be to be of use. */
static uint32_t search_bound(const struct frame *frame)
{
    return frame->nearest - 1 < frame->budget ? frame->nearest - 1 : frame->budget;
}

/* Children of `inner` that are not too deep for x: all before the returned number. */
static uint32_t reach(const struct weft_shape_metric *metric, const uint32_t *inner, uint32_t n,
                      uint64_t depth)
{
    uint32_t from = 0;
    while (from < n) {
        uint32_t middle = from + (n - from) / 2;
        if (metric->nodes[inner[middle]].depth <= depth)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

/* The next outer child that may raise the maximum and is not on the other side too; false at the
 * end of the side. Children ascend by depth: where one is not deep enough, none that is left is. */
static bool next_outer(struct weft_shape_metric *metric, struct frame *frame, const uint32_t *outer,
                       const uint32_t *inner)
{
    while (frame->outer_left > 0) {
        uint32_t x = outer[--frame->outer_left];
        const struct node *node = &metric->nodes[x];
        metric->work++;
        if (node->depth <= frame->farthest)
            return false;
        uint32_t left = frame->common_left;
        while (left > 0 && inner[left - 1] > x)
            left--;
        metric->work += frame->common_left - left;
        frame->common_left = left;
        if (left > 0 && inner[left - 1] == x)
            continue;
        frame->is_searching = true;
        frame->nearest = node->depth; /* null's */
        uint32_t n_inner = metric->nodes[frame->is_second ? frame->a : frame->b].n_children;
        frame->inner_left =
            reach(metric, inner, n_inner, (uint64_t)node->depth + search_bound(frame));
        return true;
    }
    return false;
}

/* Compares the current outer child with those of the other side; false when a pair has to be looked
 * into, which is then inner[inner_left]. */
static bool search_nearest(struct weft_shape_metric *metric, struct frame *frame, uint32_t x,
                           const uint32_t *inner)
{
    while (frame->inner_left > 0 && frame->nearest > frame->farthest) {
        uint32_t y = inner[--frame->inner_left];
        uint32_t bound = search_bound(frame);
        uint32_t distance;
        metric->work++;
        if ((uint64_t)metric->nodes[y].depth + bound < metric->nodes[x].depth)
            break;
        if (!decide(metric, x < y ? x : y, x < y ? y : x, bound, &distance))
            return false;
        if (distance < frame->nearest)
            frame->nearest = distance;
    }
    return true;
}

/* Goes on until a pair of children has to be looked into: true, and the pair in *x, *y. False: the
 * frame is at its end, with the answer in `farthest` (above the budget: too far). */
static bool frame_run(struct weft_shape_metric *metric, struct frame *frame, uint32_t *x,
                      uint32_t *y)
{
    for (;;) {
        const uint32_t *of_a = metric->child + metric->nodes[frame->a].first_child;
        const uint32_t *of_b = metric->child + metric->nodes[frame->b].first_child;
        const uint32_t *outer = frame->is_second ? of_b : of_a;
        const uint32_t *inner = frame->is_second ? of_a : of_b;
        if (frame->is_searching) {
            if (!search_nearest(metric, frame, outer[frame->outer_left], inner)) {
                *x = outer[frame->outer_left];
                *y = inner[frame->inner_left];
                return true;
            }
            frame->is_searching = false;
            if (frame->nearest > frame->farthest)
                frame->farthest = frame->nearest;
            if (frame->farthest > frame->budget)
                return false;
        }
        if (next_outer(metric, frame, outer, inner))
            continue;
        if (frame->is_second)
            return false;
        frame_turn(metric, frame, true);
    }
}

/* Keeps what a finished frame found; its distance, or bound + 1. */
static uint32_t frame_end(struct weft_shape_metric *metric, const struct frame *frame)
{
    bool is_within = frame->farthest <= frame->budget;
    uint32_t children = is_within ? frame->farthest : frame->budget + 1;
    uint32_t distance = frame->function_distance + children;
    remember(metric, frame->a, frame->b, distance, is_within ? IS_EXACT : 0);
    return distance;
}

/* The pair (a, b), a < b, was not decided. */
static uint32_t look_into(struct weft_shape_metric *metric, uint32_t a, uint32_t b, uint32_t bound)
{
    struct frame *frame = metric->frames;
    frame_begin(metric, frame, a, b, bound);
    for (;;) {
        uint32_t x, y;
        if (metric->work > metric->max_work) {
            metric->is_spent = true;
            return bound + 1;
        }
        if (frame_run(metric, frame, &x, &y)) {
            uint32_t inner_bound = search_bound(frame);
            frame_begin(metric, ++frame, x < y ? x : y, x < y ? y : x, inner_bound);
            continue;
        }
        uint32_t distance = frame_end(metric, frame);
        if (frame == metric->frames)
            return distance;
        frame--;
        if (distance < frame->nearest)
            frame->nearest = distance;
    }
}

uint32_t weft_shape_distance(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                             uint32_t bound_halves)
{
    if (metric->is_spent || ++metric->work > metric->max_work) {
        metric->is_spent = true;
        return bound_halves + 1;
    }
    if (a == b)
        return 0;
    if (a == WEFT_SHAPE_NULL || b == WEFT_SHAPE_NULL) {
        uint32_t depth = metric->nodes[a == WEFT_SHAPE_NULL ? b : a].depth;
        return depth <= bound_halves ? depth : bound_halves + 1;
    }
    uint32_t low = a < b ? a : b;
    uint32_t high = a < b ? b : a;
    uint32_t distance;
    if (decide(metric, low, high, bound_halves, &distance))
        return distance;
    return look_into(metric, low, high, bound_halves);
}
