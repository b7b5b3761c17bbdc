/* SPDX-License-Identifier: MIT
 *
 * Two ways through the rows of a block: with starts and ends (few rows, or calls open at the start
 * of the interval), or as the stored steps of time, which is faster because no time is
 * reconstructed. Both add self time to the innermost node.
 */
#include "model/interval/walk.h"

#include "base/checked.h"
#include "base/vec.h"

/* Of a block whose times are known. */
enum { FEW_ROWS = 256 };

void weft_interval_walker_fini(struct weft_interval_walker *walker)
{
    WEFT_VEC_FINI(&walker->stack);
    WEFT_VEC_FINI(&walker->nodes);
}

/* ---- rows with their starts and ends --------------------------------------------------------- */

/* Pushes a call that was entered before the interval or the block. */
static bool push_open(struct weft_interval_walker *walker, const struct weft_interval_walk *walk,
                      const struct weft_open_call *open)
{
    size_t n = walker->stack.n;
    uint32_t below = n ? walker->stack.items[n - 1].node : walker->sums->tree.root;
    struct weft_interval_frame *frame = WEFT_VEC_PUSH(&walker->stack);
    uint32_t node =
        frame ? weft_context_child(&walker->sums->tree, below, open->function_id) : WEFT_ID_NONE;
    if (node == WEFT_ID_NONE)
        return false;
    *frame = (struct weft_interval_frame){ open->end_ns, node };
    bool is_inside = open->start_ns < walk->from_ns ? open->end_ns > walk->from_ns
                                                    : open->start_ns < walk->to_ns;
    if (walk->counts_open && is_inside)
        weft_interval_sums_add(walker->sums, node, walk->sign, 0);
    return true;
}

/* The calls that are open before the first row, but for those that have ended and are no caller of
 * it. */
static bool push_all_open(struct weft_interval_walker *walker,
                          const struct weft_interval_walk *walk, const struct weft_calls *calls)
{
    const size_t n_callers = calls->n_rows ? calls->depth[0] : 0;
    for (size_t depth = 0; depth < calls->n_open; depth++) {
        const struct weft_open_call *open = &calls->open[depth];
        const bool is_before = open->start_ns < walk->from_ns && open->end_ns <= walk->from_ns;
        if (is_before && depth >= n_callers)
            break;
        if (!push_open(walker, walk, open))
            return false;
    }
    return true;
}

/* The rows, which begin in the interval; nothing here needs clipping. */
static bool walk_rows(struct weft_interval_walker *walker, struct weft_interval_walk *walk,
                      const struct weft_calls *calls)
{
    struct weft_interval_sums *sums = walker->sums;
    struct weft_context_tree *tree = &sums->tree;
    struct weft_interval_frame *stack = walker->stack.items;
    size_t depth = walker->stack.n;
    uint32_t node = depth ? stack[depth - 1].node : tree->root;
    uint64_t now_ns = walk->now_ns;
    const uint64_t sign = walk->sign;
    for (size_t i = 0; i < calls->n_rows; i++) {
        while (depth > calls->depth[i]) {
            uint64_t exit_ns = stack[--depth].end_ns;
            weft_interval_sums_add(sums, node, 0, sign * (exit_ns - now_ns));
            now_ns = exit_ns;
            node = depth ? stack[depth - 1].node : tree->root;
        }
        weft_interval_sums_add(sums, node, 0, sign * (calls->start_ns[i] - now_ns));
        now_ns = calls->start_ns[i];
        node = weft_context_child(tree, node, calls->function_id[i]);
        if (__builtin_expect(node == WEFT_ID_NONE, 0))
            return false;
        weft_interval_sums_add(sums, node, sign, 0);
        stack[depth++] = (struct weft_interval_frame){ calls->end_ns[i], node };
    }
    walker->stack.n = depth;
    walk->now_ns = now_ns;
    return true;
}

/* The calls that end after the last row, and what is left. */
static void walk_out(struct weft_interval_walker *walker, const struct weft_interval_walk *walk)
{
    uint64_t now_ns = walk->now_ns;
    for (;;) {
        size_t depth = walker->stack.n;
        const struct weft_interval_frame *top = depth ? &walker->stack.items[depth - 1] : NULL;
        uint32_t node = top ? top->node : walker->sums->tree.root;
        uint64_t until_ns = top && top->end_ns < walk->limit_ns ? top->end_ns : walk->limit_ns;
        if (until_ns > now_ns) {
            weft_interval_sums_add(walker->sums, node, 0, walk->sign * (until_ns - now_ns));
            now_ns = until_ns;
        }
        if (!top || top->end_ns > walk->limit_ns)
            return;
        walker->stack.n--;
    }
}

/* A few rows, or none, and calls that may end where the interval begins. */
static enum weft_code walk_calls(struct weft_interval_walker *walker, struct weft_block_part *part,
                                 struct weft_interval_walk walk, size_t first, size_t end,
                                 struct weft_err *err)
{
    struct weft_calls calls;
    enum weft_code code = weft_block_part_rows(part, first, end, &calls, err);
    if (code)
        return code;
    walker->stack.n = 0;
    if (!weft_interval_sums_reserve(walker->sums, calls.n_rows + calls.n_open + 1) ||
        !push_all_open(walker, &walk, &calls) ||
        !weft_vec_reserve(&walker->stack.items, &walker->stack.cap,
                          walker->stack.n + calls.n_rows + 1, sizeof *walker->stack.items) ||
        !walk_rows(walker, &walk, &calls))
        return weft_no_memory(err, "an interval");
    walk_out(walker, &walk);
    return WEFT_OK;
}

/* ---- rows as steps --------------------------------------------------------------------------- */

/* Adds the time up to an event; earlier ones, before the interval, add nothing. */
static void step_to(struct weft_interval_sums *sums, struct weft_interval_walk *walk, uint32_t node,
                    uint64_t time_ns)
{
    if (time_ns <= walk->now_ns)
        return;
    weft_interval_sums_add(sums, node, 0, walk->sign * (time_ns - walk->now_ns));
    walk->now_ns = time_ns;
}

/* Enters the calls that are open when the interval begins, leaves those that end before the first
 * row, and enters that: all with their times. False without memory. */
static bool steps_begin(struct weft_interval_walker *walker, struct weft_interval_walk *walk,
                        struct weft_block_steps *steps)
{
    struct weft_interval_sums *sums = walker->sums;
    uint32_t *stack = walker->nodes.items;
    uint64_t time_ns = steps->first_ns;
    size_t n = steps->n_open;
    stack[0] = sums->tree.root;
    weft_interval_sums_add(sums, stack[0], 0, 0);
    for (; n > steps->depth[0]; n--) {
        time_ns += weft_block_steps_time(&steps->tails, &steps->tail_ext);
        if (time_ns > walk->from_ns || walk->from_ns == 0) /* cut frames begin at 0 */
            break;
    }
    for (size_t i = 0; i < n; i++) {
        stack[i + 1] = weft_context_child(&sums->tree, stack[i], steps->open[i]);
        if (stack[i + 1] == WEFT_ID_NONE)
            return false;
        weft_interval_sums_add(sums, stack[i + 1], walk->counts_open ? walk->sign : 0, 0);
    }
    while (n > steps->depth[0]) {
        step_to(sums, walk, stack[n--], time_ns);
        if (n > steps->depth[0])
            time_ns += weft_block_steps_time(&steps->tails, &steps->tail_ext);
    }
    time_ns += weft_block_steps_time(&steps->gaps, &steps->gap_ext);
    step_to(sums, walk, stack[n], time_ns);
    return true;
}

/* The rows; the time before the first has been added. Returns the depth behind them, or SIZE_MAX
 * without memory. */
__attribute__((always_inline)) static inline size_t
steps_walk(struct weft_interval_walker *walker, const struct weft_interval_walk *walk,
           struct weft_block_steps *steps, bool is_wide)
{
    struct weft_interval_sums *sums = walker->sums;
    uint32_t *stack = walker->nodes.items;
    const uint8_t *code = steps->code, *gaps = steps->gaps, *gap_ext = steps->gap_ext;
    const uint8_t *tails = steps->tails, *tail_ext = steps->tail_ext;
    const uint64_t sign = walk->sign;
    size_t depth = steps->depth[0];
    for (size_t i = 0; i < steps->n_rows; i++) {
        for (const size_t target = steps->depth[i]; depth > target; depth--)
            weft_interval_sums_add_ns(sums, stack[depth],
                                      sign * weft_block_steps_time(&tails, &tail_ext));
        if (i > 0)
            weft_interval_sums_add_ns(sums, stack[depth],
                                      sign * weft_block_steps_time(&gaps, &gap_ext));
        const uint32_t function = weft_block_steps_function(steps, &code, is_wide);
        const uint32_t node = weft_context_any_child(&sums->tree, stack[depth], function);
        if (__builtin_expect(node == WEFT_ID_NONE, 0))
            return SIZE_MAX;
        weft_interval_sums_add(sums, node, sign, 0);
        stack[++depth] = node;
    }
    steps->tails = tails;
    steps->tail_ext = tail_ext;
    return depth;
}

/* The exits behind the last row, and what is left. */
static void steps_end(struct weft_interval_walker *walker, struct weft_interval_walk *walk,
                      struct weft_block_steps *steps, size_t depth)
{
    const uint32_t *stack = walker->nodes.items;
    uint64_t time_ns = walk->now_ns = steps->last_ns;
    for (size_t i = 0; i < steps->n_behind; i++) {
        time_ns += weft_block_steps_time(&steps->tails, &steps->tail_ext);
        if (time_ns > walk->limit_ns)
            break;
        step_to(walker->sums, walk, stack[depth--], time_ns);
    }
    step_to(walker->sums, walk, stack[depth], walk->limit_ns);
}

/* The rows begin later than the interval, so that every call open at its begin ends in it. */
static enum weft_code walk_steps(struct weft_interval_walker *walker, struct weft_block_part *part,
                                 struct weft_interval_walk walk, size_t first, size_t end,
                                 struct weft_err *err)
{
    struct weft_block_steps steps;
    enum weft_code code = weft_block_part_steps(part, first, end, &steps, err);
    if (code)
        return code;
    const size_t n_stack = steps.n_open + steps.n_rows + 1;
    if (!weft_interval_sums_reserve(walker->sums, n_stack) ||
        !weft_vec_reserve(&walker->nodes.items, &walker->nodes.cap, n_stack,
                          sizeof *walker->nodes.items) ||
        !steps_begin(walker, &walk, &steps))
        return weft_no_memory(err, "an interval");
    const size_t depth = steps.is_wide ? steps_walk(walker, &walk, &steps, true)
                                       : steps_walk(walker, &walk, &steps, false);
    if (depth == SIZE_MAX)
        return weft_no_memory(err, "an interval");
    steps_end(walker, &walk, &steps, depth);
    return WEFT_OK;
}

enum weft_code weft_interval_walk_part(struct weft_interval_walker *walker,
                                       struct weft_block_part *part, struct weft_interval_walk walk,
                                       uint64_t *n_calls, struct weft_err *err)
{
    const size_t first = weft_block_part_find(part, walk.from_ns);
    const size_t end = weft_block_part_find(part, walk.to_ns);
    walk.now_ns = weft_max_u64(walk.now_ns, walk.from_ns);
    walk.limit_ns = weft_min_u64(walk.limit_ns, walk.to_ns);
    *n_calls = end - first;
    const bool is_at_hand = weft_block_part_is_whole(part) && end - first <= FEW_ROWS;
    const bool begins_later =
        !is_at_hand && first < end && weft_block_part_start_ns(part, first) > walk.from_ns;
    return begins_later ? walk_steps(walker, part, walk, first, end, err)
                        : walk_calls(walker, part, walk, first, end, err);
}
