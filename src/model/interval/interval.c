/* SPDX-License-Identifier: MIT
 *
 * Answers from contexts, and from the calls of the blocks at the borders.
 */
#include "model/interval/interval.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/parts.h"
#include "model/interval/sums.h"
#include "store/block_part.h"

#include <stdlib.h>

/* ---- walk ------------------------------------------------------------------------------------ */

/* Adds the calls of a part of a block, clipped to an interval, to the sums of their contexts. Two
 * ways through the rows of a block: with starts and ends (few rows, or calls open at the start of
 * the interval), or as the stored steps of time, which is faster because no time is reconstructed.
 * Both add self time to the innermost node. */

/* What is added of one block: what happens from from_ns on before to_ns. */
struct weft_interval_walk {
    uint64_t from_ns, to_ns;
    uint64_t now_ns, limit_ns; /* the block's own borders; then: reached, and to be reached */
    uint64_t sign;             /* 1, or UINT64_MAX to subtract */
    bool counts_open;          /* calls that are open at from_ns count */
};

/* Room for calls that are open; zeroed: empty. */
struct weft_interval_walker {
    struct weft_interval_sums *sums;
    struct {
        struct weft_interval_frame {
            uint64_t end_ns;
            uint32_t node; /* its context */
        } * items;
        size_t n, cap;
    } stack;
    struct {
        uint32_t *items; /* the contexts of the calls open, the root's first */
        size_t n, cap;
    } nodes;
};

/* Of a block whose times are known. */
enum { FEW_ROWS = 256 };

static void weft_interval_walker_fini(struct weft_interval_walker *walker)
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

/* *n_calls: rows looked at. Fails as weft_block_part_rows. */
static enum weft_code weft_interval_walk_part(struct weft_interval_walker *walker,
                                              struct weft_block_part *part,
                                              struct weft_interval_walk walk, uint64_t *n_calls,
                                              struct weft_err *err)
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

/* ---- interval -------------------------------------------------------------------------------- */

/* A group has so many blocks, or groups of the level below. */
enum { GROUP = 16, NO_PREFIXES = UINT8_MAX };

/* Signs of what is added. */
#define PLUS UINT64_C(1)
#define MINUS UINT64_MAX

/* What a walk over the interval is for, when the number of contexts has a limit. */
enum stage {
    STAGE_ALL,    /* all contexts, as long as they are few enough */
    STAGE_SEARCH, /* those of most time; nothing is subtracted */
    STAGE_FOLD,   /* sums of these, and what is left over */
};

struct weft_interval_reader {
    const struct weft_trace *trace;
    struct weft_interval_sums sums;
    struct weft_parts opened;
    size_t max_contexts; /* 0: any number */
    enum stage stage;
    bool is_over; /* there are more: the walk ends */
    struct weft_interval_parts parts;
    struct weft_interval_walker walker;
    struct {
        uint64_t *items; /* a bit for each context: it is in the answer */
        size_t n, cap;
    } kept;
    struct {
        uint32_t *items; /* by context: its index in the answer, if it is there */
        size_t n, cap;
    } index;
    struct {
        struct weft_interval_context *items;
        size_t n, cap;
    } contexts;
};

/* A query in work. */
struct query {
    struct weft_interval_reader *reader;
    struct weft_store *store;
    const struct weft_model_thread *thread;
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    struct weft_err *err;
};

struct weft_interval_reader *weft_interval_reader_new(const struct weft_trace *trace)
{
    struct weft_interval_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->trace = trace;
    reader->walker.sums = &reader->sums;
    if (weft_interval_sums_init(&reader->sums, weft_trace_store(trace)))
        return reader;
    weft_interval_reader_free(reader);
    return NULL;
}

void weft_interval_reader_limit(struct weft_interval_reader *reader, size_t n_contexts)
{
    reader->max_contexts = n_contexts;
}

void weft_interval_reader_keep(struct weft_interval_reader *reader, size_t n_bytes)
{
    weft_interval_sums_keep(&reader->sums, n_bytes);
}

void weft_interval_reader_blocks(struct weft_interval_reader *reader, uint64_t n_bytes)
{
    weft_parts_keep(&reader->opened, n_bytes);
}

void weft_interval_reader_free(struct weft_interval_reader *reader)
{
    if (!reader)
        return;
    weft_parts_fini(&reader->opened);
    weft_interval_sums_fini(&reader->sums);
    weft_interval_walker_fini(&reader->walker);
    WEFT_VEC_FINI(&reader->kept);
    WEFT_VEC_FINI(&reader->index);
    WEFT_VEC_FINI(&reader->contexts);
    free(reader);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static const struct weft_block_info *info_of(const struct query *query, uint64_t block)
{
    return weft_store_block_get(query->store, query->thread_id, block);
}

static enum weft_code part_open(const struct query *query, uint64_t block,
                                struct weft_block_part **part)
{
    return weft_parts_open(&query->reader->opened, query->store, query->thread_id, block, part,
                           query->err);
}

/* First block with an event at or after `time_ns`, or the last one. */
static uint64_t find_block(const struct query *query, uint64_t time_ns)
{
    uint64_t low = 0, high = query->thread->n_blocks - 1;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (info_of(query, mid)->last_ns < time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* After something was added: are there too many contexts? In a search, those of least time go. */
static enum weft_code limit_check(const struct query *query)
{
    struct weft_interval_reader *reader = query->reader;
    if (reader->max_contexts == 0 || reader->stage == STAGE_FOLD ||
        reader->sums.tree.n <= reader->max_contexts)
        return WEFT_OK;
    if (reader->stage == STAGE_ALL)
        reader->is_over = true;
    else if (!weft_interval_sums_prune(&reader->sums, reader->max_contexts / 2))
        return weft_no_memory(query->err, "an interval");
    return WEFT_OK;
}

/* ---- blocks that are looked at --------------------------------------------------------------- */

static enum weft_code walk_part(const struct query *query, struct weft_block_part *part,
                                struct weft_interval_walk walk)
{
    uint64_t n_calls = 0;
    const enum weft_code code =
        weft_interval_walk_part(&query->reader->walker, part, walk, &n_calls, query->err);
    query->reader->parts.calls += n_calls;
    return code ? code : limit_check(query);
}

/* A block as its contexts have it: from the event before it to its last. */
static struct weft_interval_walk whole_walk(const struct query *query, uint64_t block,
                                            uint64_t sign)
{
    return (struct weft_interval_walk){ .to_ns = UINT64_MAX,
                                        .now_ns = block ? info_of(query, block - 1)->last_ns
                                                        : info_of(query, 0)->first_event_ns,
                                        .limit_ns = info_of(query, block)->last_ns,
                                        .sign = sign };
}

static enum weft_code add_summary(const struct query *query, uint64_t block, unsigned level,
                                  uint64_t sign, bool *is_known)
{
    const struct weft_interval_key key = { query->thread_id, level, block };
    return weft_interval_sums_group(&query->reader->sums, &key, sign, is_known, query->err);
}

/* Adds or subtracts a block whose contexts are not known, which are kept. */
static enum weft_code add_walked(const struct query *query, uint64_t block, uint64_t sign)
{
    struct weft_interval_sums *sums = &query->reader->sums;
    struct weft_block_part *part = NULL;
    enum weft_code code = part_open(query, block, &part);
    if (code)
        return code;
    if (query->reader->max_contexts > 0 || sums->most_bytes == 0)
        return walk_part(query, part, whole_walk(query, block, sign));
    const struct weft_interval_key key = { query->thread_id, 0, block };
    weft_interval_sums_aside(sums);
    code = walk_part(query, part, whole_walk(query, block, PLUS));
    if (!weft_interval_sums_back(sums, &key, sign, code == WEFT_OK) && !code)
        code = weft_no_memory(query->err, "an interval");
    return code;
}

/* Adds or subtracts a block that lies inside or outside as a whole. */
static enum weft_code add_block(const struct query *query, uint64_t block, uint64_t sign)
{
    bool is_known = false;
    enum weft_code code = add_summary(query, block, 0, sign, &is_known);
    query->reader->parts.blocks += is_known;
    if (code || is_known)
        return code ? code : limit_check(query);
    return add_walked(query, block, sign);
}

static bool has_most_rows(const struct query *query, struct weft_block_part *part)
{
    const size_t n_before = weft_block_part_find(part, query->from_ns);
    return weft_block_part_find(part, query->to_ns) - n_before > weft_block_part_n_rows(part) / 2;
}

/* Adds the part of a block at a border of the interval that lies inside. Where more than half of
 * its calls do, and its contexts are known, those without the part that lies outside. */
static enum weft_code add_border(const struct query *query, uint64_t block, bool is_first)
{
    const bool is_last = block + 1 == query->thread->n_blocks;
    struct weft_block_part *part = NULL;
    enum weft_code code = part_open(query, block, &part);
    if (code)
        return code;
    struct weft_interval_walk inside = whole_walk(query, block, PLUS);
    inside.from_ns = query->from_ns;
    inside.to_ns = query->to_ns;
    inside.counts_open = is_first;
    if (block == 0 && info_of(query, 0)->n_open > 0)
        inside.now_ns = 0;
    if (is_last) /* calls still open end at the thread's last event of any kind */
        inside.limit_ns = query->thread->last_ns;
    const bool is_one_sided = query->from_ns <= inside.now_ns || query->to_ns > inside.limit_ns;
    bool is_known = false;
    if (is_one_sided && block > 0 && !is_last && query->reader->stage != STAGE_SEARCH &&
        has_most_rows(query, part))
        code = add_summary(query, block, 0, PLUS, &is_known);
    if (code || !is_known)
        return code ? code : walk_part(query, part, inside);
    query->reader->parts.remainders++;
    struct weft_interval_walk outside = whole_walk(query, block, MINUS);
    if (query->from_ns <= inside.now_ns)
        outside.from_ns = query->to_ns;
    else
        outside.to_ns = query->from_ns;
    code = walk_part(query, part, outside);
    /* The calls that are open where the interval begins. */
    inside.to_ns = weft_min_u64(query->from_ns, inside.to_ns);
    inside.limit_ns = inside.now_ns;
    return code || !is_first ? code : walk_part(query, part, inside);
}

/* ---- blocks that lie inside as a whole ------------------------------------------------------- */

/* The blocks from `begin` on before `end`. */
struct range {
    uint64_t begin, end;
};

/* Adds or subtracts `n` units from `block` on; those of a group that is not known, block by block.
 */
static enum weft_code add_units(const struct query *query, uint64_t block, uint64_t n,
                                unsigned level, uint64_t sign)
{
    const uint64_t width = UINT64_C(1) << (4 * level);
    enum weft_code code = WEFT_OK;
    for (uint64_t end = block + n * width; block < end && !code && !query->reader->is_over;
         block += width) {
        bool is_known = false;
        if (level == 0) {
            code = add_block(query, block, sign);
            continue;
        }
        code = add_summary(query, block, level, sign, &is_known);
        query->reader->parts.groups += is_known;
        if (!code && is_known)
            code = limit_check(query);
        else if (!code)
            code = add_units(query, block, GROUP, level - 1, sign);
    }
    return code;
}

/* Is the group of the next level around block `block` known, so that a part of it may be left out?
 */
static bool has_group(const struct query *query, uint64_t block, unsigned level)
{
    const uint64_t width = (uint64_t)GROUP << (4 * level);
    return level < WEFT_CONTEXT_LEVEL_MAX && query->reader->stage != STAGE_SEARCH &&
           block < query->thread->n_blocks &&
           weft_store_has_contexts(query->store, query->thread_id, block / width * width,
                                   level + 1);
}

/* The end of the range that lies between two multiples of 16 units becomes one of them: units up to
 * the one inside are added, or, where that is less, those up to the one outside are subtracted. */
static enum weft_code add_begin(const struct query *query, struct range *range, unsigned level)
{
    const uint64_t over = (range->begin >> (4 * level)) % GROUP;
    const uint64_t width = UINT64_C(1) << (4 * level);
    if (over == 0)
        return WEFT_OK;
    const uint64_t begin = range->begin;
    if (over < GROUP / 2 && has_group(query, begin, level)) {
        range->begin -= over * width;
        query->reader->parts.subtracted += over;
        return add_units(query, range->begin, over, level, MINUS);
    }
    range->begin += (GROUP - over) * width;
    return add_units(query, begin, GROUP - over, level, PLUS);
}

static enum weft_code add_end(const struct query *query, struct range *range, unsigned level)
{
    const uint64_t over = (range->end >> (4 * level)) % GROUP;
    const uint64_t width = UINT64_C(1) << (4 * level);
    if (over == 0)
        return WEFT_OK;
    const uint64_t end = range->end;
    if (over > GROUP / 2 && has_group(query, end, level)) {
        range->end += (GROUP - over) * width;
        query->reader->parts.subtracted += GROUP - over;
        return add_units(query, end, GROUP - over, level, MINUS);
    }
    range->end -= over * width;
    return add_units(query, range->end, over, level, PLUS);
}

/* A range within one group: what it leaves of the group is subtracted from it. */
static enum weft_code add_group_rest(const struct query *query, const struct range *range,
                                     unsigned level)
{
    const uint64_t width = (uint64_t)GROUP << (4 * level);
    const uint64_t group = range->begin / width * width;
    query->reader->parts.subtracted += width - (range->end - range->begin);
    enum weft_code code = add_units(query, group, 1, level + 1, PLUS);
    if (!code)
        code = add_units(query, group, (range->begin - group) >> (4 * level), level, MINUS);
    if (!code)
        code =
            add_units(query, range->end, (group + width - range->end) >> (4 * level), level, MINUS);
    return code;
}

static enum weft_code add_range(const struct query *query, struct range range,
                                unsigned prefix_level);

/* From which level on sums of all blocks before a border are kept from query to query, so that they
 * take half of what may be kept at most. */
static unsigned prefix_level_find(const struct query *query)
{
    const struct weft_interval_reader *reader = query->reader;
    if (reader->max_contexts > 0 || reader->sums.most_bytes == 0)
        return NO_PREFIXES;
    unsigned level = 1;
    while (level < WEFT_CONTEXT_LEVEL_MAX &&
           (query->thread->n_blocks >> (4 * level)) >
               reader->sums.most_bytes / 2 / weft_interval_sums_bytes(&reader->sums))
        level++;
    return level;
}

/* Adds or subtracts the sums of all blocks before `end`. */
static enum weft_code add_prefix(const struct query *query, uint64_t end, uint64_t sign)
{
    struct weft_interval_sums *sums = &query->reader->sums;
    query->reader->parts.prefixes++;
    const struct weft_interval_key key = { query->thread_id, WEFT_INTERVAL_PREFIX, end };
    if (end == 0 || weft_interval_sums_kept(sums, &key, sign))
        return WEFT_OK;
    const struct weft_interval_parts parts = query->reader->parts;
    weft_interval_sums_aside(sums);
    enum weft_code code =
        weft_interval_sums_reserve(sums, 0) ? WEFT_OK : weft_no_memory(query->err, "an interval");
    if (!code)
        code = add_range(query, (struct range){ 0, end }, NO_PREFIXES);
    query->reader->parts = parts;
    if (!weft_interval_sums_back(sums, &key, sign, code == WEFT_OK) && !code)
        code = weft_no_memory(query->err, "an interval");
    return code;
}

static enum weft_code add_prefixes(const struct query *query, const struct range *range,
                                   unsigned level)
{
    if ((range->end - range->begin) >> (4 * level) <= 2)
        return add_range(query, *range, NO_PREFIXES);
    const enum weft_code code = add_prefix(query, range->end, PLUS);
    return code ? code : add_prefix(query, range->begin, MINUS);
}

/* Adds blocks begin ... end - 1: level by level, as long as a border of groups lies between the
 * ends. From `prefix_level` on, kept sums of all blocks before the ends. */
static enum weft_code add_range(const struct query *query, struct range range,
                                unsigned prefix_level)
{
    enum weft_code code = WEFT_OK;
    for (unsigned level = 0; !code && !query->reader->is_over && range.begin < range.end; level++) {
        if (level == prefix_level)
            return add_prefixes(query, &range, level);
        const uint64_t width = (uint64_t)GROUP << (4 * level);
        const uint64_t n = (range.end - range.begin) >> (4 * level);
        const bool has_border = (range.begin + width - 1) / width <= range.end / width;
        if (level == WEFT_CONTEXT_LEVEL_MAX || (!has_border && n <= GROUP / 2))
            return add_units(query, range.begin, n, level, PLUS);
        if (!has_border && has_group(query, range.begin, level))
            return add_group_rest(query, &range, level);
        if (!has_border)
            return add_units(query, range.begin, n, level, PLUS);
        code = add_begin(query, &range, level);
        if (!code)
            code = add_end(query, &range, level);
    }
    return code;
}

static enum weft_code add_blocks(const struct query *query)
{
    if (query->thread->n_blocks == 0)
        return WEFT_OK;
    const uint64_t first = find_block(query, query->from_ns);
    const uint64_t end = find_block(query, query->to_ns); /* not all of it lies inside */
    enum weft_code code = add_border(query, first, true);
    const struct weft_interval_reader *reader = query->reader;
    if (!code && !reader->is_over && end > first + 1)
        code = add_range(query, (struct range){ first + 1, end }, prefix_level_find(query));
    if (!code && !reader->is_over && end > first)
        code = add_border(query, end, false);
    return code;
}

/* All contexts, or, where they are too many, those of most time and what they leave over. */
static enum weft_code add_all(const struct query *query)
{
    struct weft_interval_reader *reader = query->reader;
    const bool is_fresh = reader->sums.tree.n == 1; /* else paths of other queries count too */
    reader->stage = STAGE_ALL;
    reader->is_over = false;
    enum weft_code code = add_blocks(query);
    if (!code && reader->is_over && !is_fresh) {
        reader->is_over = false;
        reader->parts = (struct weft_interval_parts){ 0 };
        code = weft_interval_sums_reset(&reader->sums) ? add_blocks(query)
                                                       : weft_no_memory(query->err, "an interval");
    }
    if (code || !reader->is_over)
        return code;
    reader->stage = STAGE_SEARCH;
    reader->is_over = false;
    const size_t kept_bytes = reader->sums.most_bytes;
    weft_interval_sums_keep(&reader->sums, 0);
    code = weft_interval_sums_reset(&reader->sums) ? add_blocks(query)
                                                   : weft_no_memory(query->err, "an interval");
    reader->stage = STAGE_FOLD;
    reader->parts = (struct weft_interval_parts){ 0 };
    if (!code && (!weft_interval_sums_prune(&reader->sums, reader->max_contexts / 2) ||
                  !weft_interval_sums_freeze(&reader->sums)))
        code = weft_no_memory(query->err, "an interval");
    if (!code)
        code = add_blocks(query);
    reader->sums.most_bytes = kept_bytes;
    return code;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static uint64_t overlap_ns(const struct query *query, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t begin_ns = weft_max_u64(from_ns, query->from_ns);
    uint64_t end_ns = to_ns < query->to_ns ? to_ns : query->to_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Which contexts are in the answer: those with a call or time in the interval, and their callers.
 * Others are of calls that ended as the interval began, or were subtracted. Callers have lower
 * numbers, so that one walk down finds them. */
static bool keep_contexts(struct weft_interval_reader *reader)
{
    const struct weft_interval_sums *sums = &reader->sums;
    const size_t n_words = sums->at.touched.n;
    if (!weft_vec_reserve(&reader->kept.items, &reader->kept.cap, n_words,
                          sizeof *reader->kept.items) ||
        !weft_vec_reserve(&reader->index.items, &reader->index.cap, sums->tree.n,
                          sizeof *reader->index.items))
        return false;
    uint64_t *kept = reader->kept.items;
    memset(kept, 0, n_words * sizeof *kept);
    reader->kept.n = n_words;
    for (size_t i = n_words; i-- > 0;) {
        for (uint64_t left = UINT64_MAX; ((sums->at.touched.items[i] | kept[i]) & left) != 0;) {
            const int bit = 63 - __builtin_clzll((sums->at.touched.items[i] | kept[i]) & left);
            const uint32_t node = (uint32_t)(i * 64 + (size_t)bit);
            left = (UINT64_C(1) << bit) - 1;
            const struct weft_interval_sum *sum = &sums->at.sums.items[node];
            if (!(kept[i] >> bit & 1) && sum->count == 0 && sum->self_ns == 0)
                continue;
            kept[i] |= UINT64_C(1) << bit;
            const uint32_t parent = sums->tree.nodes[node].parent;
            if (parent != WEFT_ID_NONE)
                kept[parent / 64] |= UINT64_C(1) << parent % 64;
        }
    }
    kept[0] &= ~UINT64_C(1); /* the root */
    return true;
}

/* Remainders are no contexts of the answer: they stand apart from those below. */
static bool is_remainder(const struct weft_interval_reader *reader, uint32_t node)
{
    return reader->sums.tree.nodes[node].function == WEFT_ID_NONE;
}

/* Numbers the contexts of the answer, in order. Returns how many they are. */
static size_t index_contexts(struct weft_interval_reader *reader)
{
    uint32_t n = 0;
    for (size_t i = 0; i < reader->kept.n; i++) {
        for (uint64_t word = reader->kept.items[i]; word; word &= word - 1) {
            const uint32_t node = (uint32_t)(i * 64 + (size_t)__builtin_ctzll(word));
            if (!is_remainder(reader, node))
                reader->index.items[node] = n++;
        }
    }
    return n;
}

/* One context of the answer, after its caller, or what its caller leaves over. */
static void put_context(struct weft_interval_reader *reader, uint32_t node,
                        struct weft_interval *interval)
{
    const struct weft_context *context = &reader->sums.tree.nodes[node];
    const struct weft_interval_sum *sum = &reader->sums.at.sums.items[node];
    struct weft_interval_context *contexts = reader->contexts.items;
    const uint32_t parent = context->parent == reader->sums.tree.root
                                ? WEFT_ID_NONE
                                : reader->index.items[context->parent];
    interval->calls += sum->count;
    if (is_remainder(reader, node)) {
        interval->folded_calls += sum->count;
        interval->folded_ns += sum->self_ns;
        if (parent != WEFT_ID_NONE) {
            contexts[parent].folded_calls = sum->count;
            contexts[parent].folded_ns = sum->self_ns;
            contexts[parent].sum_ns += sum->self_ns;
        }
        return;
    }
    contexts[reader->index.items[node]] = (struct weft_interval_context){
        .parent = parent,
        .function_id = context->function,
        .depth = parent == WEFT_ID_NONE ? 0 : contexts[parent].depth + 1,
        .count = sum->count,
        .sum_ns = sum->self_ns,
        .self_ns = sum->self_ns,
    };
}

/* Copies the contexts without the root; inclusive sums from the leaves up. */
static enum weft_code make_contexts(const struct query *query, struct weft_interval *interval)
{
    struct weft_interval_reader *reader = query->reader;
    const bool is_ok = keep_contexts(reader);
    const size_t n = is_ok ? index_contexts(reader) : 0;
    if (!is_ok || !weft_vec_reserve(&reader->contexts.items, &reader->contexts.cap, n,
                                    sizeof *reader->contexts.items))
        return weft_no_memory(query->err, "an interval");
    struct weft_interval_context *contexts = reader->contexts.items;
    for (size_t i = 0; i < reader->kept.n; i++)
        for (uint64_t word = reader->kept.items[i]; word; word &= word - 1)
            put_context(reader, (uint32_t)(i * 64 + (size_t)__builtin_ctzll(word)), interval);
    for (size_t i = n; i-- > 0;)
        if (contexts[i].parent != WEFT_ID_NONE)
            contexts[contexts[i].parent].sum_ns += contexts[i].sum_ns;
    interval->contexts = contexts;
    interval->n_contexts = n;
    return WEFT_OK;
}

enum weft_code weft_interval_cct(struct weft_interval_reader *reader, uint32_t thread_id,
                                 uint64_t from_ns, uint64_t to_ns, struct weft_interval *interval,
                                 struct weft_err *err)
{
    struct query query = {
        .reader = reader,
        .store = weft_trace_store(reader->trace),
        .thread = weft_trace_thread(reader->trace, thread_id),
        .thread_id = thread_id,
        .from_ns = from_ns,
        .to_ns = weft_max_u64(from_ns, to_ns),
        .err = err,
    };
    *interval = (struct weft_interval){ 0 };
    reader->parts = (struct weft_interval_parts){ 0 };
    if (!weft_interval_sums_start(&reader->sums))
        return weft_no_memory(err, "an interval");
    enum weft_code code = add_all(&query);
    if (!code)
        code = make_contexts(&query, interval);
    if (code)
        return code;
    const struct weft_model_thread *thread = query.thread;
    uint64_t first_ns = thread->cut_calls ? 0 : thread->first_ns;
    uint64_t alive_ns = thread->n_blocks ? overlap_ns(&query, first_ns, thread->last_ns) : 0;
    uint64_t called_ns = interval->folded_ns;
    for (size_t i = 0; i < interval->n_contexts; i++)
        called_ns += interval->contexts[i].self_ns;
    interval->outside_ns = query.to_ns - query.from_ns - alive_ns;
    interval->no_call_ns = alive_ns - called_ns;
    interval->parts = reader->parts;
    return WEFT_OK;
}
