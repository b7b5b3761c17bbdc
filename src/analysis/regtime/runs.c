/* SPDX-License-Identifier: MIT
 *
 * RegTime's passes: notable calls, then runs.
 */
#include "analysis/regtime/runs.h"

#include "base/vec.h"
#include "schema/regtime.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs ------------------------------------------------------------------------------------ */

void weft_regtime_builder_fini(struct regtime_builder *builder)
{
    free(builder->notable.items);
    free(builder->items.items);
    free(builder->before);
    free(builder->after);
    free(builder->frames);
    free(builder->number_at);
    free(builder->end_at);
    free(builder->node_at);
    free(builder->is_marked);
    weft_regtime_tree_fini(&builder->tree);
    weft_regtime_shrinker_fini(&builder->shrinker);
    weft_regtime_candidates_fini(&builder->candidates);
    weft_median_tally_fini(&builder->tally);
    *builder = (struct regtime_builder){ 0 };
}

static bool ready_depths(struct regtime_builder *builder, size_t cap)
{
    if (cap <= builder->cap_depth)
        return true;
    free(builder->frames);
    free(builder->number_at);
    free(builder->end_at);
    free(builder->node_at);
    free(builder->is_marked);
    builder->frames = calloc(cap, sizeof *builder->frames);
    builder->number_at = calloc(cap, sizeof *builder->number_at);
    builder->end_at = calloc(cap, sizeof *builder->end_at);
    builder->node_at = calloc(cap, sizeof *builder->node_at);
    builder->is_marked = calloc(cap, sizeof *builder->is_marked);
    bool is_ok = builder->frames && builder->number_at && builder->end_at && builder->node_at &&
                 builder->is_marked;
    builder->cap_depth = is_ok ? cap : 0;
    return is_ok;
}

enum weft_code weft_regtime_builder_ready(struct regtime_builder *builder, uint32_t depth_bound,
                                          uint32_t n_functions, struct weft_err *err)
{
    if (!builder->before) {
        builder->n_functions = n_functions;
        builder->before = calloc((size_t)n_functions + 1, sizeof *builder->before);
        builder->after = calloc((size_t)n_functions + 1, sizeof *builder->after);
    }
    bool is_ok = builder->before && builder->after;
    return is_ok && ready_depths(builder, (size_t)depth_bound + 2) ? WEFT_OK
                                                                   : weft_no_memory(err, "RegTime");
}

/* ---- pass A: notable calls ------------------------------------------------------------------- */

/* The open call at this depth and its callers are notable. */
static bool mark_callers(struct regtime_builder *builder, int64_t depth)
{
    for (; depth >= 0 && !builder->is_marked[depth]; depth--) {
        uint64_t *number = WEFT_VEC_PUSH(&builder->notable);
        if (!number)
            return false;
        *number = builder->number_at[depth];
        builder->is_marked[depth] = 1;
    }
    return true;
}

static bool mark_block(struct regtime_builder *builder, const struct weft_scan *scan,
                       const struct weft_calls *calls)
{
    const uint64_t duration_ns = builder->limits.duration_ns, gap_ns = builder->limits.gap_ns;
    uint64_t *end_at = builder->end_at, *number_at = builder->number_at;
    int64_t prev = builder->prev_depth;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t start_ns = calls->start_ns[i], end_ns = calls->end_ns[i];
        int64_t depth = calls->depth[i];
        bool is_gap = depth <= prev && start_ns - end_at[depth] > gap_ns;
        if (__builtin_expect(is_gap, 0) && !mark_callers(builder, depth - 1))
            return false;
        end_at[depth] = end_ns;
        number_at[depth] = scan->first_call + i;
        builder->is_marked[depth] = 0;
        prev = depth;
        if (__builtin_expect(end_ns - start_ns > duration_ns, 0) && !mark_callers(builder, depth))
            return false;
    }
    builder->prev_depth = prev;
    return true;
}

/* Takes up the stack where a block begins after others were skipped. */
static void mark_resume(struct regtime_builder *builder, const struct weft_scan *scan,
                        const struct weft_calls *calls)
{
    for (size_t i = 0; i < calls->n_open; i++) {
        const struct weft_open_call *open = &calls->open[i];
        bool is_cut = open->row == UINT64_MAX;
        builder->end_at[i] = open->end_ns;
        builder->number_at[i] = is_cut ? open->depth : scan->thread->cut_calls + open->row;
        builder->is_marked[i] = 0;
    }
    builder->prev_depth = (int64_t)calls->n_open - 1;
}

/* A block matters for its own long calls and gaps, and for where the call before a gap at the next
 * block's border ended. */
static bool is_quiet(const struct regtime_builder *builder, const struct weft_scan *scan,
                     uint64_t block)
{
    const struct weft_block_info *info = weft_scan_block(scan, block);
    if (info->longest_call_ns > builder->limits.duration_ns ||
        info->longest_gap_ns > builder->limits.gap_ns)
        return false;
    if (block + 1 == scan->thread->n_blocks)
        return true;
    info = weft_scan_block(scan, block + 1);
    return info->longest_gap_ns <= builder->limits.gap_ns;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Ascending and each once: a call may have been marked again after a skip. */
static void sort_notable(struct regtime_builder *builder)
{
    uint64_t *numbers = builder->notable.items;
    size_t n = 0;
    if (builder->notable.n)
        qsort(numbers, builder->notable.n, sizeof *numbers, by_number);
    for (size_t i = 0; i < builder->notable.n; i++)
        if (i == 0 || numbers[i] != numbers[i - 1])
            numbers[n++] = numbers[i];
    builder->notable.n = n;
}

enum weft_code weft_regtime_mark(struct regtime_builder *builder, struct weft_scan *scan,
                                 struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    builder->notable.n = 0;
    builder->prev_depth = -1;
    bool was_skipped = false;
    weft_scan_rewind(scan);
    for (;;) {
        const struct weft_calls *calls = NULL;
        uint64_t block = scan->next_block;
        if (scan->is_cut_done && block < scan->thread->n_blocks && is_quiet(builder, scan, block)) {
            weft_scan_seek(scan, block + 1);
            was_skipped = true;
            continue;
        }
        code = weft_scan_next(scan, &calls, err);
        if (code || !calls)
            break;
        if (was_skipped)
            mark_resume(builder, scan, calls);
        was_skipped = false;
        if (!mark_block(builder, scan, calls)) {
            code = weft_no_memory(err, "RegTime");
            break;
        }
    }
    sort_notable(builder);
    weft_scan_rewind(scan);
    return code;
}

/* ---- pass B: runs ---------------------------------------------------------------------------- */

static enum weft_code broken(const struct weft_scan *scan, const char *what, uint64_t at_ns,
                             struct weft_err *err)
{
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "internal error: RegTime's invariant \"%s\" fails at %" PRIu64
                     " ns of thread %" PRIu64,
                     what, at_ns, scan->thread->info.tid);
}

static struct regtime_item *push_item(struct regtime_builder *builder, enum weft_regtime_kind kind,
                                      uint64_t start_ns, uint64_t end_ns)
{
    struct regtime_item *item = WEFT_VEC_PUSH(&builder->items);
    if (!item)
        return NULL;
    item->kind = kind;
    item->level = (uint32_t)builder->n_open;
    item->parent = builder->frames[builder->n_open].item;
    item->function_id = WEFT_ID_NONE;
    item->start_ns = start_ns;
    item->end_ns = end_ns;
    return item;
}

/* Adds the run to the sliver of the innermost open notable call. */
static bool add_sliver(struct regtime_builder *builder)
{
    const struct regtime_tree *tree = &builder->tree;
    const struct regtime_item *run = &builder->run;
    struct regtime_item *sliver = &builder->frames[builder->n_open].sliver;
    if (sliver->count == 0) {
        sliver->start_ns = run->start_ns;
        sliver->min_ns = UINT64_MAX;
    }
    sliver->end_ns = run->end_ns;
    sliver->span_ns += run->end_ns - run->start_ns;
    sliver->count += run->count;
    sliver->n_inner += run->n_inner;
    sliver->sum_ns += run->sum_ns;
    sliver->min_ns = run->min_ns < sliver->min_ns ? run->min_ns : sliver->min_ns;
    sliver->max_ns = run->max_ns > sliver->max_ns ? run->max_ns : sliver->max_ns;
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        if (!weft_regtime_is_root(node) &&
            !weft_regtime_candidate_add(&builder->candidates, &sliver->owner, node->function_id,
                                        node->max_ns))
            return false;
    }
    return true;
}

static bool add_expression(struct regtime_builder *builder)
{
    const struct regtime_item *run = &builder->run;
    struct regtime_item *item =
        push_item(builder, WEFT_REGTIME_EXPRESSION, run->start_ns, run->end_ns);
    if (!item)
        return false;
    item->root = (uint32_t)builder->tree.run_root;
    item->has_deferred = run->has_deferred;
    item->count = run->count;
    item->n_inner = run->n_inner;
    item->sum_ns = run->sum_ns;
    item->min_ns = run->min_ns;
    item->max_ns = run->max_ns;
    item->first_call = run->first_call;
    item->first_block = run->first_block;
    builder->n_expressions++;
    builder->is_over =
        builder->max_rows && builder->notable.n + builder->n_expressions > builder->max_rows;
    return true;
}

/* What stays of a finished run's node: counts its calls and checks it. */
static enum weft_code weft_regtime_check_node(struct regtime_builder *builder,
                                              const struct weft_scan *scan, size_t at,
                                              struct weft_err *err)
{
    const struct regtime_node *node = &builder->tree.nodes[at];
    builder->after[node->function_id].count += node->count;
    builder->after[node->function_id].sum_ns += node->sum_ns;
    if (node->max_ns > builder->limits.duration_ns)
        return broken(scan, "no expression holds a long call", node->first_start_ns, err);
    return WEFT_OK;
}

/* Ends the current run, if any: an expression or a sliver. */
static enum weft_code finish_run(struct regtime_builder *builder, const struct weft_scan *scan,
                                 struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    struct regtime_item *run = &builder->run;
    if (!tree->run_root)
        return WEFT_OK;
    uint64_t span_ns = run->end_ns - run->start_ns;
    bool is_expression = span_ns > builder->limits.gap_ns || builder->is_one_run;
    for (size_t i = tree->run_root + 1; i < tree->n_nodes; i++) {
        const struct regtime_node *node = &tree->nodes[i];
        if (weft_regtime_is_root(node))
            continue; /* the sink */
        run->count += node->count;
        run->n_inner += node->n_inner;
        if (is_expression && weft_regtime_is_sunk(tree, node))
            continue; /* a later pass counts them */
        enum weft_code code = weft_regtime_check_node(builder, scan, i, err);
        if (code)
            return code;
    }
    if (span_ns > builder->limits.span_ns)
        return broken(scan, "no expression is too long", run->start_ns, err);
    if (is_expression ? !add_expression(builder) : !add_sliver(builder))
        return weft_no_memory(err, "RegTime");
    weft_regtime_tree_end(tree, is_expression);
    return WEFT_OK;
}

static void open_frame(struct regtime_builder *builder, uint32_t item, uint64_t start_ns,
                       uint64_t end_ns)
{
    builder->frames[builder->n_open] = (struct regtime_frame){
        .item = item,
        .start_ns = start_ns,
        .end_ns = end_ns,
        .sliver = { .kind = WEFT_REGTIME_SLIVER },
    };
}

/* Ends the innermost notable call (or the thread): its last run, gap, sliver. */
static enum weft_code close_frame(struct regtime_builder *builder, const struct weft_scan *scan,
                                  struct weft_err *err)
{
    enum weft_code code = finish_run(builder, scan, err);
    if (code)
        return code;
    struct regtime_frame *frame = &builder->frames[builder->n_open];
    bool is_thread = builder->n_open == 0;
    if (!is_thread && frame->has_child &&
        frame->end_ns - frame->last_child_end_ns > builder->limits.gap_ns &&
        !push_item(builder, WEFT_REGTIME_GAP, frame->last_child_end_ns, frame->end_ns))
        return weft_no_memory(err, "RegTime");
    if (frame->sliver.count) {
        struct regtime_item *item =
            push_item(builder, WEFT_REGTIME_SLIVER, frame->sliver.start_ns, frame->sliver.end_ns);
        if (!item)
            return weft_no_memory(err, "RegTime");
        frame->sliver.level = item->level;
        frame->sliver.parent = item->parent;
        frame->sliver.function_id = WEFT_ID_NONE;
        *item = frame->sliver;
    }
    builder->n_open -= !is_thread;
    return WEFT_OK;
}

struct call {
    uint64_t number, start_ns, end_ns;
    uint32_t function_id, depth, flags;
};

static uint32_t row_flags(const struct call *call)
{
    uint32_t flags = 0;
    if (call->flags & WEFT_CALL_CUT_START)
        flags |= WEFT_REGTIME_CUT_START;
    if (call->flags & WEFT_CALL_CUT_END)
        flags |= WEFT_REGTIME_CUT_END;
    if (call->flags & WEFT_CALL_REPAIRED)
        flags |= WEFT_REGTIME_REPAIRED;
    return flags;
}

static enum weft_code add_notable(struct regtime_builder *builder, const struct weft_scan *scan,
                                  const struct call *call, struct weft_err *err)
{
    enum weft_code code = finish_run(builder, scan, err);
    if (code)
        return code;
    struct regtime_item *item = push_item(builder, WEFT_REGTIME_CALL, call->start_ns, call->end_ns);
    if (!item)
        return weft_no_memory(err, "RegTime");
    uint64_t duration_ns = call->end_ns - call->start_ns;
    item->function_id = call->function_id;
    item->flags = row_flags(call);
    item->self_ns = duration_ns;
    builder->after[call->function_id].count++;
    builder->after[call->function_id].sum_ns += duration_ns;
    builder->next_notable++;
    builder->n_open++;
    open_frame(builder, (uint32_t)builder->items.n - 1, call->start_ns, call->end_ns);
    return WEFT_OK;
}

static bool begin_run(struct regtime_builder *builder, const struct weft_scan *scan,
                      const struct call *call)
{
    uint32_t root = weft_regtime_tree_begin(&builder->tree, call->depth);
    builder->run = (struct regtime_item){
        .start_ns = call->start_ns,
        .min_ns = UINT64_MAX,
        .first_call = call->number,
        .first_block = scan->is_cut ? WEFT_NO_BLOCK : scan->next_block - 1,
    };
    builder->node_at[call->depth] = root;
    return root != 0;
}

/* Adds a call to the run at its level, or begins one. */
static enum weft_code add_to_run(struct regtime_builder *builder, const struct weft_scan *scan,
                                 const struct call *call, struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    struct regtime_item *run = &builder->run;
    if (tree->run_root && call->end_ns - run->start_ns > builder->limits.span_ns) {
        enum weft_code code = finish_run(builder, scan, err);
        if (code)
            return code;
    }
    if (!tree->run_root && !begin_run(builder, scan, call))
        return weft_no_memory(err, "RegTime");
    uint32_t root = (uint32_t)tree->run_root;
    uint32_t node = weft_regtime_tree_child(tree, root, call->function_id);
    if (!node)
        return weft_no_memory(err, "RegTime");
    weft_regtime_tree_call(tree, root, node, call->start_ns, call->end_ns);
    builder->node_at[call->depth + 1] = node;
    uint64_t duration_ns = call->end_ns - call->start_ns;
    run->end_ns = call->end_ns;
    run->sum_ns += duration_ns;
    run->min_ns = duration_ns < run->min_ns ? duration_ns : run->min_ns;
    run->max_ns = duration_ns > run->max_ns ? duration_ns : run->max_ns;
    return WEFT_OK;
}

/* A child of a notable call, or a root call. */
static enum weft_code add_top(struct regtime_builder *builder, const struct weft_scan *scan,
                              const struct call *call, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (!code && builder->n_open > call->depth)
        code = close_frame(builder, scan, err);
    if (code)
        return code;
    struct regtime_frame *frame = &builder->frames[builder->n_open];
    uint64_t from_ns = frame->has_child ? frame->last_child_end_ns : frame->start_ns;
    bool can_gap = frame->has_child || builder->n_open > 0;
    if (can_gap && call->start_ns - from_ns > builder->limits.gap_ns) {
        code = finish_run(builder, scan, err);
        if (!code && !push_item(builder, WEFT_REGTIME_GAP, from_ns, call->start_ns))
            code = weft_no_memory(err, "RegTime");
    }
    frame->has_child = true;
    frame->last_child_end_ns = call->end_ns;
    if (frame->item != WEFT_ID_NONE) {
        builder->items.items[frame->item].has_calls = true;
        builder->items.items[frame->item].self_ns -= call->end_ns - call->start_ns;
    }
    if (code)
        return code;
    bool is_notable = builder->next_notable < builder->notable.n &&
                      builder->notable.items[builder->next_notable] == call->number;
    return is_notable ? add_notable(builder, scan, call, err)
                      : add_to_run(builder, scan, call, err);
}

/* Shows a block to the tally, unless an earlier attempt at this thread has. */
static enum weft_code tally_block(struct regtime_builder *builder, const struct weft_scan *scan,
                                  const struct weft_calls *calls, struct weft_err *err)
{
    if (!builder->is_tallying || scan->first_call < builder->n_tallied)
        return WEFT_OK;
    builder->n_tallied = scan->first_call + calls->n_rows;
    return weft_median_tally_block(&builder->tally, calls) ? WEFT_OK
                                                           : weft_no_memory(err, "RegTime");
}

/* Counts what went in, apart from how it is sorted below. */
static void count_block(struct regtime_builder *builder, const struct weft_scan *scan,
                        const struct weft_calls *calls)
{
    struct regtime_check *before = builder->before;
    for (size_t i = 0; i < calls->n_rows; i++) {
        struct regtime_check *check = &before[calls->function_id[i]];
        check->count++;
        check->sum_ns += calls->end_ns[i] - calls->start_ns[i];
    }
    if (scan->is_cut)
        return; /* not entries seen */
    builder->n_calls += calls->n_rows;
    /* A call one deeper than the one before is that one's first; cut frames made the first call. */
    const uint32_t *depth = calls->depth;
    uint32_t n_inner = 0;
    if (calls->n_rows && scan->first_call != scan->thread->cut_calls)
        n_inner = depth[0] > builder->prev_depth;
    for (size_t i = 1; i < calls->n_rows; i++)
        n_inner += depth[i] > depth[i - 1];
    builder->n_inner_all += n_inner;
}

static enum weft_code build_block(struct regtime_builder *builder, const struct weft_scan *scan,
                                  const struct weft_calls *calls, struct weft_err *err)
{
    const uint64_t gap_ns = builder->limits.gap_ns;
    struct regtime_tree *tree = &builder->tree;
    uint64_t *end_at = builder->end_at;
    uint32_t *node_at = builder->node_at;
    size_t n_open = builder->n_open;
    int64_t prev = builder->prev_depth;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t start_ns = calls->start_ns[i], end_ns = calls->end_ns[i];
        uint32_t depth = calls->depth[i], function_id = calls->function_id[i];
        if (depth > n_open) { /* inside a run */
            uint32_t parent = node_at[depth];
            uint32_t node = weft_regtime_tree_child(tree, parent, function_id);
            if (__builtin_expect(!node, 0))
                return weft_no_memory(err, "RegTime");
            weft_regtime_tree_call(tree, parent, node, start_ns, end_ns);
            tree->nodes[parent].n_inner += depth > prev;
            node_at[depth + 1] = node;
            if (__builtin_expect(depth <= prev && start_ns - end_at[depth] > gap_ns, 0))
                return broken(scan, "no expression holds a long gap", start_ns, err);
        } else {
            struct call call = {
                .number = scan->first_call + i,
                .start_ns = start_ns,
                .end_ns = end_ns,
                .function_id = function_id,
                .depth = depth,
                .flags = calls->flags ? calls->flags[i] : 0,
            };
            enum weft_code code = add_top(builder, scan, &call, err);
            if (code || builder->is_over)
                return code;
            n_open = builder->n_open;
        }
        end_at[depth] = end_ns;
        prev = depth;
    }
    builder->prev_depth = prev;
    return WEFT_OK;
}

/* Everything that refers to a node by its number gets the new one. In a later pass, a call may be
 * open in a settled context that went: it goes on in the sink, of whatever function. */
static bool renumber(struct regtime_builder *builder)
{
    const struct regtime_link *links = builder->shrinker.links;
    for (size_t i = 0; i < builder->items.n; i++)
        if (builder->items.items[i].kind == WEFT_REGTIME_EXPRESSION)
            builder->items.items[i].root = links[builder->items.items[i].root].next;
    bool is_open = builder->tree.run_root || builder->tree.is_reopened;
    for (int64_t d = (int64_t)builder->n_open; is_open && d <= builder->prev_depth + 1; d++) {
        uint32_t moved = links[builder->node_at[d]].next;
        builder->node_at[d] = moved ? moved : weft_regtime_tree_sink(&builder->tree, 0);
        if (!builder->node_at[d])
            return false;
    }
    return true;
}

/* Makes room for the nodes of `n_rows` more calls, if the tree is at its bound; of the nodes from
 * *first_live on subtrees may be deferred. */
static enum weft_code weft_regtime_make_room(struct regtime_builder *builder, size_t n_rows,
                                             size_t *first_live, struct weft_err *err)
{
    struct regtime_shrinker *shrinker = &builder->shrinker;
    struct regtime_tree *tree = &builder->tree;
    if (!shrinker->max_nodes || tree->n_nodes == 0 || tree->n_nodes + n_rows <= shrinker->max_nodes)
        return WEFT_OK;
    if (!weft_regtime_shrink(shrinker, tree, &builder->candidates, first_live))
        return weft_no_memory(err, "RegTime");
    builder->run.has_deferred = builder->run.has_deferred || shrinker->has_deferred;
    return renumber(builder) ? WEFT_OK : weft_no_memory(err, "RegTime");
}

static void build_begin(struct regtime_builder *builder)
{
    size_t n_bytes = ((size_t)builder->n_functions + 1) * sizeof *builder->before;
    memset(builder->before, 0, n_bytes);
    memset(builder->after, 0, n_bytes);
    weft_regtime_tree_reset(&builder->tree);
    weft_regtime_candidates_reset(&builder->candidates);
    builder->items.n = 0;
    builder->n_inner_all = builder->n_calls = builder->n_expressions = 0;
    builder->n_open = builder->next_notable = 0;
    weft_regtime_shrinker_reset(&builder->shrinker, builder->max_nodes);
    builder->prev_depth = -1;
    builder->is_over = builder->max_rows && builder->notable.n > builder->max_rows;
    open_frame(builder, WEFT_ID_NONE, 0, 0);
}

static enum weft_code check_totals(const struct regtime_builder *builder,
                                   const struct weft_scan *scan, struct weft_err *err)
{
    if (builder->next_notable != builder->notable.n)
        return broken(scan, "every notable call is a row", 0, err);
    for (uint32_t id = 0; id < builder->n_functions; id++)
        if (builder->before[id].count != builder->after[id].count ||
            builder->before[id].sum_ns != builder->after[id].sum_ns)
            return broken(scan, "calls and time per function stay", 0, err);
    return WEFT_OK;
}

/* ---- later ----------------------------------------------------------------------------------- */

/* RegTime's later passes: the contexts of a run that were deferred for want of memory. A pass
 * reads the calls of the run again, finds the deferred nodes by their callers, and builds what
 * lies under them; what does not fit is deferred again. Every context is counted whole in one
 * pass, so the result is the same for any ceiling. */

/* Nodes that are there keep their numbers and get no more callees. */
static void settle(struct regtime_tree *tree)
{
    for (size_t i = 1; i < tree->n_nodes; i++)
        tree->nodes[i].is_settled = tree->nodes[i].is_closed = 1;
}

/* The deferred nodes of one run take callees now. */
static bool activate(struct regtime_builder *builder, uint32_t root)
{
    struct regtime_tree *tree = &builder->tree;
    struct regtime_shrinker *shrinker = &builder->shrinker;
    if (!weft_regtime_links_ready(shrinker, tree, 0))
        return false;
    for (size_t i = 1; i < tree->n_nodes; i++) {
        struct regtime_node *node = &tree->nodes[i];
        struct regtime_link *link = &shrinker->links[i]; /* `other`: the root */
        link->other =
            weft_regtime_is_root(node) ? (uint32_t)i : shrinker->links[node->parent].other;
        if (node->is_deferred && link->other == root)
            node->is_deferred = node->is_closed = 0;
    }
    return true;
}

/* Adds a call where its caller or it is of this pass. */
static void add_call(struct regtime_tree *tree, uint32_t parent, uint32_t at, uint64_t start_ns,
                     uint64_t end_ns, bool is_first)
{
    struct regtime_node *caller = &tree->nodes[parent];
    uint64_t self_ns = caller->self_ns;
    if (caller->is_settled && tree->nodes[at].is_settled)
        return;
    weft_regtime_tree_call(tree, parent, at, start_ns, end_ns);
    if (caller->is_settled)
        caller->self_ns = self_ns;
    else
        caller->n_inner += is_first;
}

/* The calls of `calls` that have the numbers [from, to). */
static enum weft_code read_block(struct regtime_builder *builder, const struct weft_scan *scan,
                                 const struct weft_calls *calls, uint64_t from, uint64_t to,
                                 struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    uint32_t *node_at = builder->node_at;
    size_t begin = from > scan->first_call ? (size_t)(from - scan->first_call) : 0;
    size_t end =
        to - scan->first_call < calls->n_rows ? (size_t)(to - scan->first_call) : calls->n_rows;
    for (size_t i = begin; i < end; i++) {
        uint32_t depth = calls->depth[i], parent = node_at[depth];
        uint32_t node = weft_regtime_tree_child(tree, parent, calls->function_id[i]);
        if (!node)
            return weft_no_memory(err, "RegTime");
        add_call(tree, parent, node, calls->start_ns[i], calls->end_ns[i],
                 depth > builder->prev_depth);
        node_at[depth + 1] = node;
        builder->prev_depth = depth;
    }
    return WEFT_OK;
}

static enum weft_code read_run(struct regtime_builder *builder, struct weft_scan *scan,
                               const struct regtime_item *run, size_t *first_live,
                               struct weft_err *err)
{
    const struct weft_calls *calls = NULL;
    uint64_t end = run->first_call + run->count;
    enum weft_code code = WEFT_OK;
    if (run->first_block == WEFT_NO_BLOCK)
        weft_scan_rewind(scan);
    else
        weft_scan_seek(scan, run->first_block);
    while (!code && !(code = weft_scan_next(scan, &calls, err)) && calls &&
           scan->first_call < end) {
        code = weft_regtime_make_room(builder, calls->n_rows, first_live, err);
        if (!code)
            code = read_block(builder, scan, calls, run->first_call, end, err);
    }
    return code;
}

/* One pass over the expression `item`. */
static enum weft_code add_deferred(struct regtime_builder *builder, struct weft_scan *scan,
                                   size_t item, struct weft_err *err)
{
    struct regtime_tree *tree = &builder->tree;
    const struct regtime_item *run = &builder->items.items[item];
    size_t first_live = tree->n_nodes;
    settle(tree);
    if (!activate(builder, run->root) || !weft_regtime_tree_reopen(tree))
        return weft_no_memory(err, "RegTime");
    builder->run.has_deferred = false;
    builder->n_open = run->level;
    builder->prev_depth = (int64_t)run->level - 1;
    builder->node_at[run->level] = run->root;
    enum weft_code code = read_run(builder, scan, run, &first_live, err);
    for (size_t i = first_live; !code && i < tree->n_nodes; i++)
        if (i != tree->sink && !weft_regtime_is_sunk(tree, &tree->nodes[i]))
            code = weft_regtime_check_node(builder, scan, i, err);
    weft_regtime_tree_end(tree, true);
    settle(tree);
    builder->items.items[item].has_deferred = builder->run.has_deferred;
    first_live = tree->n_nodes;
    return code ? code : weft_regtime_make_room(builder, 0, &first_live, err);
}

/* After the thread was read once: reads each expression again that has deferred nodes, until none
 * has. About contexts / max_nodes readings. Does nothing where nothing was deferred. */
static enum weft_code weft_regtime_build_deferred(struct regtime_builder *builder,
                                                  struct weft_scan *scan, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (bool is_left = true; !code && is_left;) {
        is_left = false;
        for (size_t i = 0; !code && i < builder->items.n; i++) {
            if (!builder->items.items[i].has_deferred)
                continue;
            code = add_deferred(builder, scan, i, err);
            is_left = is_left || builder->items.items[i].has_deferred;
        }
    }
    return code;
}

/* ---- pass B over a thread -------------------------------------------------------------------- */

enum weft_code weft_regtime_build(struct regtime_builder *builder, struct weft_scan *scan,
                                  struct weft_err *err)
{
    const struct weft_calls *calls = NULL;
    enum weft_code code = WEFT_OK;
    build_begin(builder);
    weft_scan_rewind(scan);
    while (!code && !builder->is_over && !(code = weft_scan_next(scan, &calls, err)) && calls) {
        size_t first_live = builder->tree.run_root ? builder->tree.run_root : builder->tree.n_nodes;
        count_block(builder, scan, calls);
        code = tally_block(builder, scan, calls, err);
        if (!code)
            code = weft_regtime_make_room(builder, calls->n_rows, &first_live, err);
        if (!code)
            code = build_block(builder, scan, calls, err);
    }
    while (!code && !builder->is_over && builder->n_open > 0)
        code = close_frame(builder, scan, err);
    if (!code && !builder->is_over)
        code = close_frame(builder, scan, err); /* the thread */
    if (!code && !builder->is_over)
        code = weft_regtime_build_deferred(builder, scan, err);
    if (!code && !builder->is_over)
        code = check_totals(builder, scan, err);
    weft_scan_rewind(scan);
    return code;
}
