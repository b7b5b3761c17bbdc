/* SPDX-License-Identifier: MIT
 *
 * Distances of shapes: bounded, with a memory of fixed size, and a stack of its own.
 *
 * d(x, null) = depth(x), so a child of depth <= bound never decides against a pair; and by the
 * triangle inequality |depth(x) - depth(y)| <= d(x, y). Of the Hausdorff distance only the maximum
 * counts: deep children come first, as they are hardest to match, and the search for a nearest one
 * ends where it is no farther than another child's nearest.
 *
 * Whether a distance is within a bound is a simpler question: any child within it will do, and
 * shallow children need none. Where both shapes have one deep child, the answer is that of the two
 * children: so the usual chain of calls that do little but call is followed in a loop.
 */
#include "analysis/shapes/metric.h"

#include <stdlib.h>
#include <string.h>

enum {
    MEMO_WAYS = 2,
    MEMO_MIN_BITS = 12,
    MEMO_MAX_BITS = 21, /* 32 MiB */
    MEMO_ENTRIES_A_SHAPE = 4,
    FUNCTION_DISTANCE = 2, /* of two functions, half units */
};

#define DEFAULT_MAX_WORK (UINT64_C(1) << 30)

/* What an entry of the memory says of a distance. */
enum { IS_EXACTLY = 0, IS_AT_LEAST = 1, IS_AT_MOST = 2, IS_MASK = 3 };

/* What decides most pairs. */
struct spine {
    uint32_t function_id, depth;
    uint32_t deepest;      /* child, if there is one */
    uint32_t second_depth; /* of the deepest child but one; 0: none */
};

struct calls {
    uint64_t all;  /* functions of the children, as bits */
    uint64_t deep; /* the same, of children that have children */
};

struct memo {
    uint32_t a, b; /* a < b */
    uint32_t distance;
    uint32_t stamp; /* generation, and what it says */
};

struct pair {
    uint32_t a, b; /* a < b, so that a is not the deeper one */
    uint32_t bound;
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
    const uint32_t *first_child, *child; /* the set's */
    struct spine *spines;
    struct calls *calls;
    struct frame *frames; /* as many as the deepest shape has levels */
    struct memo *memo;
    uint32_t memo_mask; /* of an entry, the first of a pair */
    uint32_t generation;
    uint64_t work, max_work;
    bool is_spent;
    bool is_rough; /* only whether a distance is within its bound is asked */
    bool
        is_asked; /* the pair decided next is the caller's own: not worth remembering if is_rough */
};

static uint64_t function_bit(uint32_t function_id)
{
    return UINT64_C(1) << ((function_id * UINT32_C(0x9e3779b1)) >> 26);
}

static void fill(struct weft_shape_metric *metric)
{
    const struct weft_shape_set *set = metric->set;
    for (size_t s = 0; s < set->n_shapes; s++) {
        struct calls *calls = &metric->calls[s];
        size_t n;
        const uint32_t *children = weft_shape_children(set, (uint32_t)s, &n);
        metric->spines[s] = (struct spine){
            .function_id = set->function_id[s],
            .depth = set->depth[s],
            .deepest = n ? children[n - 1] : WEFT_SHAPE_NULL,
            .second_depth = n > 1 ? set->depth[children[n - 2]] : 0,
        };
        *calls = (struct calls){ 0 };
        for (size_t k = 0; k < n; k++) {
            uint64_t bit = function_bit(set->function_id[children[k]]);
            calls->all |= bit;
            calls->deep |= set->depth[children[k]] > 1 ? bit : 0;
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
    metric->first_child = set->first_child;
    metric->child = set->child;
    metric->spines = malloc(set->n_shapes * sizeof *metric->spines + 1);
    metric->calls = malloc(set->n_shapes * sizeof *metric->calls + 1);
    metric->frames = malloc(((size_t)deepest + 1) * sizeof *metric->frames);
    metric->memo = calloc((size_t)1 << bits, sizeof *metric->memo);
    metric->memo_mask = ((UINT32_C(1) << bits) - 1) & ~(uint32_t)(MEMO_WAYS - 1);
    if (!metric->spines || !metric->calls || !metric->frames || !metric->memo) {
        weft_shape_metric_free(metric);
        return NULL;
    }
    fill(metric);
    weft_shape_metric_limit(metric, 0);
    return metric;
}

void weft_shape_metric_free(struct weft_shape_metric *metric)
{
    if (!metric)
        return;
    free(metric->spines);
    free(metric->calls);
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
    metric->generation += IS_MASK + 1; /* 0 is that of an entry never used */
    if (metric->generation == 0) {
        memset(metric->memo, 0, ((size_t)metric->memo_mask + MEMO_WAYS) * sizeof *metric->memo);
        metric->generation = IS_MASK + 1;
    }
    metric->work = 0;
    metric->max_work = max_work ? max_work : DEFAULT_MAX_WORK;
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
    return memo->a == a && memo->b == b && (memo->stamp & ~(uint32_t)IS_MASK) == metric->generation;
}

/* True if the answer for the pair's bound is known. */
static bool recall(struct weft_shape_metric *metric, const struct pair *pair, uint32_t *distance)
{
    const struct memo *memo = memo_of(metric, pair->a, pair->b);
    uint32_t bound = pair->bound;
    if (!is_of(metric, memo, pair->a, pair->b) && !is_of(metric, ++memo, pair->a, pair->b))
        return false;
    uint32_t says = memo->stamp & IS_MASK;
    if (says == IS_AT_LEAST && memo->distance <= bound)
        return false;
    if (says == IS_AT_MOST && (!metric->is_rough || memo->distance > bound))
        return false;
    *distance = memo->distance <= bound ? memo->distance : bound + 1;
    return true;
}

/* The latest two of an entry stay. a < b. */
static void remember(struct weft_shape_metric *metric, uint32_t a, uint32_t b, uint32_t distance,
                     uint32_t says)
{
    struct memo *memo = memo_of(metric, a, b);
    if (!is_of(metric, memo, a, b))
        memo[1] = memo[0];
    *memo = (struct memo){ a, b, distance, metric->generation | says };
}

/* ---- a pair --------------------------------------------------------------------------------- */

static struct pair pair_of(uint32_t x, uint32_t y, uint32_t bound)
{
    return (struct pair){ x < y ? x : y, x < y ? y : x, bound };
}

/* With 1 left for the children, one that has children needs a counterpart of the same function. */
static bool is_callee_missing(const struct weft_shape_metric *metric, const struct pair *pair)
{
    const struct calls *a = &metric->calls[pair->a];
    const struct calls *b = &metric->calls[pair->b];
    return (a->deep & ~b->all) || (b->deep & ~a->all);
}

/* True if the pair is decided without matching children: *distance, within the bound or one more.
 */
static bool decide_here(struct weft_shape_metric *metric, const struct pair *pair,
                        uint32_t of_function, uint32_t *distance)
{
    const struct spine *a = &metric->spines[pair->a];
    const struct spine *b = &metric->spines[pair->b];
    *distance = pair->bound + 1;
    if (b->depth - a->depth > pair->bound || of_function > pair->bound || pair->bound == 0)
        return true;
    uint32_t budget = pair->bound - of_function;
    if (b->depth == 1 || (metric->is_rough && b->depth - 1 <= budget)) {
        *distance = b->depth == 1 ? of_function : pair->bound; /* leaves differ in function */
        return true;
    }
    return budget <= 1 && is_callee_missing(metric, pair);
}

/* One deep child each, so deep that no shallow one of the other side is near it? */
static bool is_chain(const struct spine *a, const struct spine *b, uint32_t budget)
{
    return (a->depth - 1) / 2 > budget && a->second_depth <= budget && b->second_depth <= budget;
}

/* The same for a pair of different shapes, from memory too. If false, `pair` is what is to be
 * looked into: when is_rough perhaps a pair further down, with a bound of its own. */
static bool decide(struct weft_shape_metric *metric, struct pair *pair, uint32_t *distance)
{
    const uint32_t bound = pair->bound;
    bool is_decided;
    for (;;) {
        const struct spine *a = &metric->spines[pair->a];
        const struct spine *b = &metric->spines[pair->b];
        uint32_t of_function = a->function_id == b->function_id ? 0 : FUNCTION_DISTANCE;
        is_decided = decide_here(metric, pair, of_function, distance);
        if (is_decided)
            break;
        uint32_t budget = pair->bound - of_function;
        if (!metric->is_rough || !is_chain(a, b, budget)) {
            is_decided = !metric->is_asked && recall(metric, pair, distance);
            break;
        }
        if (a->deepest == b->deepest) {
            *distance = bound;
            return true;
        }
        metric->work++;
        *pair = pair_of(a->deepest, b->deepest, budget);
    }
    if (is_decided && *distance > pair->bound)
        *distance = bound + 1;
    return is_decided;
}

static uint32_t n_children(const struct weft_shape_metric *metric, uint32_t shape)
{
    return metric->first_child[shape + 1] - metric->first_child[shape];
}

static void frame_turn(const struct weft_shape_metric *metric, struct frame *frame, bool is_second)
{
    frame->is_second = is_second;
    frame->is_searching = false;
    frame->outer_left = n_children(metric, is_second ? frame->b : frame->a);
    frame->common_left = n_children(metric, is_second ? frame->a : frame->b);
}

static void frame_begin(const struct weft_shape_metric *metric, struct frame *frame,
                        const struct pair *pair)
{
    bool is_same = metric->spines[pair->a].function_id == metric->spines[pair->b].function_id;
    *frame = (struct frame){ .a = pair->a, .b = pair->b };
    frame->function_distance = is_same ? 0 : FUNCTION_DISTANCE;
    frame->budget = pair->bound - frame->function_distance;
    frame->farthest = metric->is_rough ? frame->budget : 0; /* as if another child were so far */
    frame_turn(metric, frame, false);
}

/* How far the nearest may be to be of use. */
static uint32_t search_bound(const struct frame *frame)
{
    return frame->nearest - 1 < frame->budget ? frame->nearest - 1 : frame->budget;
}

/* Children of `inner` that are not deeper than this: all before the returned number. */
static uint32_t reach(const struct weft_shape_metric *metric, const uint32_t *inner, uint32_t n,
                      uint64_t depth)
{
    uint32_t from = 0;
    while (from < n) {
        uint32_t middle = from + (n - from) / 2;
        if (metric->spines[inner[middle]].depth <= depth)
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
        uint32_t depth = metric->spines[x].depth;
        metric->work++;
        if (depth <= frame->farthest)
            return false;
        uint32_t left = frame->common_left;
        while (left > 0 && inner[left - 1] > x)
            left--;
        metric->work += frame->common_left - left;
        frame->common_left = left;
        if (left > 0 && inner[left - 1] == x)
            continue;
        frame->is_searching = true;
        frame->nearest = depth; /* null's */
        uint32_t n_inner = n_children(metric, frame->is_second ? frame->a : frame->b);
        frame->inner_left = reach(metric, inner, n_inner, (uint64_t)depth + search_bound(frame));
        return true;
    }
    return false;
}

/* Compares the current outer child with those of the other side; true when a pair has to be looked
 * into first. */
static bool search_nearest(struct weft_shape_metric *metric, struct frame *frame, uint32_t x,
                           const uint32_t *inner, struct pair *pair)
{
    while (frame->inner_left > 0 && frame->nearest > frame->farthest && search_bound(frame) > 0) {
        uint32_t y = inner[--frame->inner_left];
        uint32_t bound = search_bound(frame);
        uint32_t distance;
        metric->work++;
        if ((uint64_t)metric->spines[y].depth + bound < metric->spines[x].depth)
            break;
        *pair = pair_of(x, y, bound);
        if (!decide(metric, pair, &distance))
            return true;
        if (distance < frame->nearest)
            frame->nearest = distance;
    }
    return false;
}

/* Goes on until a pair has to be looked into: true. False: the frame is at its end, with the answer
 * in `farthest` (above the budget: too far). */
static bool frame_run(struct weft_shape_metric *metric, struct frame *frame, struct pair *pair)
{
    for (;;) {
        const uint32_t *of_a = metric->child + metric->first_child[frame->a];
        const uint32_t *of_b = metric->child + metric->first_child[frame->b];
        const uint32_t *outer = frame->is_second ? of_b : of_a;
        const uint32_t *inner = frame->is_second ? of_a : of_b;
        if (frame->is_searching) {
            if (search_nearest(metric, frame, outer[frame->outer_left], inner, pair))
                return true;
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

/* Keeps what a finished frame found; its distance, or one more than its bound. */
static uint32_t frame_end(struct weft_shape_metric *metric, const struct frame *frame)
{
    bool is_within = frame->farthest <= frame->budget;
    uint32_t of_children = is_within ? frame->farthest : frame->budget + 1;
    uint32_t distance = frame->function_distance + of_children;
    uint32_t says = !is_within ? IS_AT_LEAST : metric->is_rough ? IS_AT_MOST : IS_EXACTLY;
    if (!metric->is_rough || frame != metric->frames)
        remember(metric, frame->a, frame->b, distance, says);
    return distance;
}

/* In place of the distance of a pair deeper down: within the bound or not is the same. */
static void frame_take(struct frame *frame, uint32_t distance, uint32_t bound)
{
    uint32_t found = distance <= bound ? distance : search_bound(frame) + 1;
    if (found < frame->nearest)
        frame->nearest = found;
}

/* The pair was not decided. Gives a distance within its bound, or one more. */
static uint32_t look_into(struct weft_shape_metric *metric, struct pair pair)
{
    struct frame *frame = metric->frames;
    const uint32_t bound = pair.bound;
    frame_begin(metric, frame, &pair);
    for (;;) {
        if (metric->work > metric->max_work) {
            metric->is_spent = true;
            return bound + 1;
        }
        if (frame_run(metric, frame, &pair)) {
            frame_begin(metric, ++frame, &pair);
            continue;
        }
        uint32_t distance = frame_end(metric, frame);
        uint32_t frame_bound = frame->budget + frame->function_distance;
        if (frame == metric->frames)
            return distance;
        frame_take(--frame, distance, frame_bound);
    }
}

/* Gives up for want of work. */
static bool is_over(struct weft_shape_metric *metric)
{
    if (++metric->work > metric->max_work)
        metric->is_spent = true;
    return metric->is_spent;
}

uint32_t weft_shape_distance(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                             uint32_t bound_halves)
{
    if (is_over(metric))
        return bound_halves + 1;
    if (a == b)
        return 0;
    if (a == WEFT_SHAPE_NULL || b == WEFT_SHAPE_NULL) {
        uint32_t depth = metric->spines[a == WEFT_SHAPE_NULL ? b : a].depth;
        return depth <= bound_halves ? depth : bound_halves + 1;
    }
    struct pair pair = pair_of(a, b, bound_halves);
    uint32_t distance;
    metric->is_rough = metric->is_asked = false;
    return decide(metric, &pair, &distance) ? distance : look_into(metric, pair);
}

bool weft_shape_is_near(struct weft_shape_metric *metric, uint32_t a, uint32_t b,
                        uint32_t bound_halves)
{
    if (is_over(metric) || a == b)
        return !metric->is_spent;
    struct pair pair = pair_of(a, b, bound_halves);
    uint32_t distance;
    metric->is_rough = metric->is_asked = true;
    bool is_decided = decide(metric, &pair, &distance);
    metric->is_asked = false;
    if (is_decided)
        return distance <= bound_halves;
    const uint32_t bound = pair.bound; /* of what may be a pair further down */
    return look_into(metric, pair) <= bound;
}
