/* SPDX-License-Identifier: MIT
 *
 * Lists what is waited for in the innermost functions of the program, sorted by function and stack;
 * those found are passed over in the next round, which finds what is around them.
 */
#include "analysis/findings/wrappers.h"

#include "analysis/compare/names.h"
#include "analysis/findings/calls.h"
#include "analysis/findings/kinds.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 };
static const double PURE = 0.9;    /* of a stack's time, for one thing */
static const double WAITING = 0.8; /* of a function's time */
static const double SECOND = 0.01; /* of a function's time, for something else than the most */
static const uint64_t WORKING = 0; /* what: it does not wait */
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* Time of one stack in a function. */
struct stay {
    uint32_t frame;
    uint64_t stack; /* a hash of those that called it */
    uint64_t what;  /* it waits for: a hash; or WORKING */
    double ns;
};

struct stays {
    struct stay *items;
    size_t n, cap;
    uint64_t *stacks; /* by node: a hash of the frames from its thread down to it */
};

static int by_place(const void *a, const void *b)
{
    const struct stay *x = a, *y = b;
    if (x->frame != y->frame)
        return x->frame < y->frame ? -1 : 1;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    return (x->what > y->what) - (x->what < y->what);
}

/* ---- what is waited for where ---------------------------------------------------------------- */

/* By node, the time in it and below. NULL without memory. */
static double *sum_up(const struct weft_ecct_matrix *matrix)
{
    double *sums = calloc(matrix->n_nodes + 1, sizeof *sums);
    for (uint64_t at = 0; sums && at < matrix->starts[matrix->n_items]; at++)
        sums[matrix->node[at]] += (double)matrix->ns[at];
    for (size_t node = matrix->n_nodes; sums && node-- > 1;)
        sums[matrix->nodes[node].parent] += sums[node];
    return sums;
}

static const struct weft_frame *frame_of(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    return &matrix->frames[matrix->nodes[node].frame];
}

static bool is_passed_over(const struct weft_frame *frame)
{
    return frame->kind != WEFT_FRAME_FUNCTION || weft_frame_is_library(frame) ||
           weft_frame_is_call(frame) || (frame->flags & WEFT_FRAME_WRAPS_WAITS);
}

static bool is_end(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    return node == 0 || frame_of(matrix, node)->kind == WEFT_FRAME_THREAD;
}

/* NULL without memory. A parent is before its children. */
static uint64_t *hash_stacks(const struct weft_ecct_matrix *matrix)
{
    uint64_t *stacks = calloc(matrix->n_nodes + 1, sizeof *stacks);
    for (uint32_t node = 1; stacks && node < matrix->n_nodes; node++)
        if (!is_end(matrix, node))
            stacks[node] =
                (stacks[matrix->nodes[node].parent] ^ (matrix->nodes[node].frame + UINT64_C(1))) *
                MULTIPLIER;
    return stacks;
}

/* The innermost function of the program around the node, on the same thread, and what called that.
 * False: there is none. */
static bool place_of(const struct stays *stays, const struct weft_ecct_matrix *matrix,
                     uint32_t node, struct stay *stay)
{
    while (!is_end(matrix, node) && is_passed_over(frame_of(matrix, node)))
        node = matrix->nodes[node].parent;
    if (is_end(matrix, node))
        return false;
    stay->frame = matrix->nodes[node].frame;
    stay->stack = stays->stacks[matrix->nodes[node].parent];
    return true;
}

static bool add(struct stays *stays, const struct weft_ecct_matrix *matrix, uint32_t node,
                uint64_t what, double ns)
{
    struct stay stay = { .what = what, .ns = ns };
    if (ns <= 0 || !place_of(stays, matrix, node, &stay))
        return true;
    struct stay *added = WEFT_VEC_PUSH(stays);
    if (added)
        *added = stay;
    return added;
}

/* What is waited for at a node, on whose thread the path ends or goes over to the one of `next`
 * (NULL). */
static uint64_t what_at(const struct weft_ecct_matrix *matrix, uint32_t node,
                        const struct weft_frame *next)
{
    uint64_t what = next ? 0x10000u + next->waited_for : 0;
    for (; !is_end(matrix, node); node = matrix->nodes[node].parent) {
        const struct weft_frame *frame = frame_of(matrix, node);
        if (frame->kind == WEFT_FRAME_FUNCTION)
            break;
        if (frame->kind == WEFT_FRAME_LOCK)
            what ^= (matrix->nodes[node].frame + UINT64_C(1)) << 32;
        else if (frame->state != WEFT_FRAME_BLOCKED && !next)
            return WORKING;
        else if (!next)
            what ^= 1 + ((uint64_t)frame->reason << 8 | frame->flags);
    }
    return what;
}

/* `own`: by node, the time that no lock or thread below it is for. */
static bool list_stays(struct stays *stays, const struct weft_ecct_matrix *matrix,
                       const double *sums, double *own)
{
    bool is_good = true;
    stays->n = 0;
    memcpy(own, sums, matrix->n_nodes * sizeof *own);
    for (uint32_t node = (uint32_t)matrix->n_nodes; is_good && node-- > 1;) {
        const struct weft_frame *frame = frame_of(matrix, node);
        const uint32_t parent = matrix->nodes[node].parent;
        const bool is_part = frame->kind == WEFT_FRAME_LOCK || frame->kind == WEFT_FRAME_THREAD;
        if (is_part)
            own[parent] -= sums[node];
        if (frame->kind == WEFT_FRAME_THREAD)
            is_good = add(stays, matrix, parent, what_at(matrix, parent, frame), sums[node]);
        else if (frame->kind != WEFT_FRAME_FUNCTION)
            is_good = add(stays, matrix, node, what_at(matrix, node, NULL), own[node]);
    }
    return is_good;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Of one function: times by what it is that a stack waits for most. */
struct judging {
    double all_ns, pure_ns, working_ns;
    uint64_t first; /* what the first stack waits for */
    double other_ns;
};

/* Those of one stack. */
static void judge_stack(struct judging *judging, const struct stay *items, size_t n)
{
    double all_ns = 0, most_ns = 0;
    uint64_t most = 0;
    for (size_t from = 0, to; from < n; from = to) {
        double ns = 0;
        for (to = from; to < n && items[to].what == items[from].what; to++)
            ns += items[to].ns;
        if (items[from].what == WORKING) {
            judging->working_ns += ns;
            continue;
        }
        all_ns += ns;
        if (ns > most_ns) {
            most_ns = ns;
            most = items[from].what;
        }
    }
    judging->all_ns += all_ns;
    if (all_ns <= 0 || most_ns < PURE * all_ns)
        return;
    judging->pure_ns += all_ns;
    if (judging->first == 0)
        judging->first = most;
    if (judging->first != most)
        judging->other_ns += all_ns;
}

/* Those of one function. */
static bool is_wrapper(const struct stay *items, size_t n)
{
    struct judging judging = { 0 };
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from; to < n && items[to].stack == items[from].stack; to++)
            ;
        judge_stack(&judging, items + from, to - from);
    }
    const double second_ns = judging.other_ns < judging.pure_ns - judging.other_ns
                                 ? judging.other_ns
                                 : judging.pure_ns - judging.other_ns;
    return judging.pure_ns >= PURE * judging.all_ns && second_ns > SECOND * judging.all_ns &&
           judging.all_ns >= WAITING * (judging.all_ns + judging.working_ns);
}

/* How many were found. */
static size_t mark(struct weft_ecct_matrix *matrix, const struct stays *stays)
{
    size_t n = 0;
    for (size_t from = 0, to; from < stays->n; from = to) {
        for (to = from; to < stays->n && stays->items[to].frame == stays->items[from].frame; to++)
            ;
        if (!is_wrapper(stays->items + from, to - from))
            continue;
        matrix->frames[stays->items[from].frame].flags |= WEFT_FRAME_WRAPS_WAITS;
        n++;
    }
    return n;
}

bool weft_wrappers_mark(struct weft_ecct_matrix *matrix)
{
    double *sums = sum_up(matrix), *own = calloc(matrix->n_nodes + 1, sizeof *own);
    struct stays stays = { .stacks = hash_stacks(matrix) };
    bool is_good = sums && own && stays.stacks;
    for (size_t i = 0; i < matrix->n_frames; i++)
        if (matrix->frames[i].kind == WEFT_FRAME_FUNCTION)
            matrix->frames[i].flags = 0;
    for (unsigned round = 0; is_good && round < ROUNDS; round++) {
        is_good = list_stays(&stays, matrix, sums, own);
        if (stays.n > 0)
            qsort(stays.items, stays.n, sizeof *stays.items, by_place);
        if (!is_good || mark(matrix, &stays) == 0)
            break;
    }
    free(stays.stacks);
    WEFT_VEC_FINI(&stays);
    free(sums);
    free(own);
    return is_good;
}
