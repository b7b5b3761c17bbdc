/* SPDX-License-Identifier: MIT
 *
 * Answers from contexts, and from the calls of the blocks at the borders.
 */
#include "model/interval.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/callers.h"
#include "store/context_tree.h"

#include <stdlib.h>

enum { CACHED_BLOCKS = 8 };

/* An open call during a walk. */
struct frame {
    uint64_t end_ns;
    uint32_t node; /* its context */
};

struct cached {
    struct weft_block_buf *buf;
    struct weft_calls calls;
    uint32_t thread_id;
    uint64_t block;
    uint64_t used; /* turn of its last use; 0: empty */
};

struct weft_interval_reader {
    const struct weft_trace *trace;
    struct weft_context_tree tree;
    struct weft_block_buf *contexts_buf;
    struct cached cached[CACHED_BLOCKS];
    uint64_t turn;
    struct {
        struct frame *items;
        size_t n, cap;
    } stack;
    struct {
        uint32_t *items; /* by depth: row of an open call */
        size_t n, cap;
    } chain;
    struct {
        uint32_t *items; /* by context: its index in the answer, or WEFT_ID_NONE */
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

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for an interval");
}

struct weft_interval_reader *weft_interval_reader_new(const struct weft_trace *trace)
{
    struct weft_interval_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->trace = trace;
    reader->contexts_buf = weft_block_buf_new();
    bool is_ok = reader->contexts_buf != NULL;
    for (size_t i = 0; i < CACHED_BLOCKS && is_ok; i++)
        is_ok = (reader->cached[i].buf = weft_block_buf_new()) != NULL;
    if (is_ok)
        return reader;
    weft_interval_reader_free(reader);
    return NULL;
}

void weft_interval_reader_free(struct weft_interval_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < CACHED_BLOCKS; i++)
        weft_block_buf_free(reader->cached[i].buf);
    weft_block_buf_free(reader->contexts_buf);
    weft_context_tree_fini(&reader->tree);
    WEFT_VEC_FINI(&reader->stack);
    WEFT_VEC_FINI(&reader->chain);
    WEFT_VEC_FINI(&reader->index);
    WEFT_VEC_FINI(&reader->contexts);
    free(reader);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static const struct weft_block_info *info_of(const struct query *query, uint64_t block)
{
    return weft_store_block_get(query->store, query->thread_id, block);
}

static enum weft_code load(const struct query *query, uint64_t block,
                           const struct weft_calls **calls)
{
    struct weft_interval_reader *reader = query->reader;
    struct cached *place = &reader->cached[0];
    for (size_t i = 0; i < CACHED_BLOCKS; i++) {
        struct cached *cached = &reader->cached[i];
        if (cached->used && cached->thread_id == query->thread_id && cached->block == block) {
            cached->used = ++reader->turn;
            *calls = &cached->calls;
            return WEFT_OK;
        }
        if (cached->used < place->used)
            place = cached;
    }
    place->used = 0;
    enum weft_code code = weft_store_load(query->store, query->thread_id, block, place->buf,
                                          &place->calls, query->err);
    if (code)
        return code;
    place->thread_id = query->thread_id;
    place->block = block;
    place->used = ++reader->turn;
    *calls = &place->calls;
    return WEFT_OK;
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

/* ---- calls of a block, clipped --------------------------------------------------------------- */

/* What is added of one block: from the event before it, or the interval's begin, to its last event,
 * or the interval's end. */
struct part {
    const struct weft_calls *calls;
    size_t first, end; /* rows that begin in the interval */
    uint64_t now_ns, limit_ns;
    bool is_first; /* of the interval: calls that are open count */
};

/* Pushes a call that was entered before the interval or the block. */
static bool push_open(const struct query *query, const struct part *part,
                      const struct weft_open_call *open)
{
    struct weft_interval_reader *reader = query->reader;
    size_t n = reader->stack.n;
    uint32_t below = n ? reader->stack.items[n - 1].node : reader->tree.root;
    struct frame *frame = WEFT_VEC_PUSH(&reader->stack);
    uint32_t node =
        frame ? weft_context_child(&reader->tree, below, open->function_id) : WEFT_ID_NONE;
    if (node == WEFT_ID_NONE)
        return false;
    *frame = (struct frame){ open->end_ns, node };
    bool is_inside = open->start_ns < query->from_ns ? open->end_ns > query->from_ns
                                                     : open->start_ns < query->to_ns;
    reader->tree.nodes[node].count += part->is_first && is_inside;
    return true;
}

/* The calls that are open before row `first`, but for those that have ended and are no caller of
 * it. */
static bool push_all_open(const struct query *query, const struct part *part)
{
    struct weft_interval_reader *reader = query->reader;
    const struct weft_calls *calls = part->calls;
    size_t n_open = weft_calls_depth(calls, part->first);
    size_t n_callers = part->first < calls->n_rows ? calls->depth[part->first] : 0;
    if (!weft_vec_reserve(&reader->chain.items, &reader->chain.cap, n_open,
                          sizeof *reader->chain.items))
        return false;
    size_t n_left = weft_calls_chain(calls, part->first, reader->chain.items);
    for (size_t depth = 0; depth < n_open; depth++) {
        const struct weft_open_call open =
            weft_calls_chained(calls, reader->chain.items, n_left, depth);
        bool is_before = open.start_ns < query->from_ns && open.end_ns <= query->from_ns;
        if (is_before && depth >= n_callers)
            break;
        if (!push_open(query, part, &open))
            return false;
    }
    return true;
}

/* The rows that begin in the interval; nothing here needs clipping. */
static bool walk_rows(struct weft_interval_reader *reader, struct part *part)
{
    const struct weft_calls *calls = part->calls;
    struct weft_context_tree *tree = &reader->tree;
    struct frame *stack = reader->stack.items;
    size_t depth = reader->stack.n;
    uint32_t node = depth ? stack[depth - 1].node : tree->root;
    uint64_t now_ns = part->now_ns;
    for (size_t i = part->first; i < part->end; i++) {
        while (depth > calls->depth[i]) {
            uint64_t exit_ns = stack[--depth].end_ns;
            tree->nodes[node].self_ns += exit_ns - now_ns;
            now_ns = exit_ns;
            node = depth ? stack[depth - 1].node : tree->root;
        }
        tree->nodes[node].self_ns += calls->start_ns[i] - now_ns;
        now_ns = calls->start_ns[i];
        node = weft_context_child(tree, node, calls->function_id[i]);
        if (__builtin_expect(node == WEFT_ID_NONE, 0))
            return false;
        tree->nodes[node].count++;
        stack[depth++] = (struct frame){ calls->end_ns[i], node };
    }
    reader->stack.n = depth;
    part->now_ns = now_ns;
    return true;
}

/* The calls that end after the last row, and what is left. */
static void walk_out(struct weft_interval_reader *reader, const struct part *part)
{
    uint64_t now_ns = part->now_ns;
    for (;;) {
        size_t depth = reader->stack.n;
        const struct frame *top = depth ? &reader->stack.items[depth - 1] : NULL;
        uint32_t node = top ? top->node : reader->tree.root;
        uint64_t until_ns = top && top->end_ns < part->limit_ns ? top->end_ns : part->limit_ns;
        if (until_ns > now_ns) {
            reader->tree.nodes[node].self_ns += until_ns - now_ns;
            now_ns = until_ns;
        }
        if (!top || top->end_ns > part->limit_ns)
            return;
        reader->stack.n--;
    }
}

static bool walk_block(const struct query *query, const struct weft_calls *calls, uint64_t now_ns,
                       uint64_t last_ns, bool is_first)
{
    struct weft_interval_reader *reader = query->reader;
    struct part part = {
        .calls = calls,
        .first = weft_calls_find(calls, query->from_ns),
        .end = weft_calls_find(calls, query->to_ns),
        .now_ns = weft_max_u64(now_ns, query->from_ns),
        .limit_ns = last_ns < query->to_ns ? last_ns : query->to_ns,
        .is_first = is_first,
    };
    reader->stack.n = 0;
    if (!push_all_open(query, &part) ||
        !weft_vec_reserve(&reader->stack.items, &reader->stack.cap,
                          reader->stack.n + part.end - part.first, sizeof *reader->stack.items) ||
        !walk_rows(reader, &part))
        return false;
    walk_out(reader, &part);
    return true;
}

static enum weft_code decode_block(const struct query *query, uint64_t block, bool is_first)
{
    const struct weft_calls *calls = NULL;
    enum weft_code code = load(query, block, &calls);
    if (code)
        return code;
    uint64_t now_ns = block ? info_of(query, block - 1)->last_ns
                            : (calls->n_open ? 0 : info_of(query, 0)->first_event_ns);
    /* Calls still open end at the thread's last event of any kind. */
    bool is_last = block + 1 == query->thread->n_blocks;
    uint64_t last_ns = is_last ? query->thread->last_ns : info_of(query, block)->last_ns;
    return walk_block(query, calls, now_ns, last_ns, is_first) ? WEFT_OK : no_memory(query->err);
}

/* ---- blocks that lie inside as a whole ------------------------------------------------------- */

/* Adds the largest group that begins at *block and ends by `end`, and moves *block behind it. */
static enum weft_code add_group(const struct query *query, uint64_t *block, uint64_t end)
{
    struct weft_interval_reader *reader = query->reader;
    unsigned level = 0;
    while (level < WEFT_CONTEXT_LEVEL_MAX && *block % (UINT64_C(16) << (4 * level)) == 0 &&
           end - *block >= UINT64_C(16) << (4 * level))
        level++;
    for (;; level--) {
        bool is_known = false;
        enum weft_code code =
            weft_store_contexts(query->store, query->thread_id, *block, level, reader->contexts_buf,
                                &reader->tree, &is_known, query->err);
        if (!code && !is_known && level > 0)
            continue;
        if (!code && !is_known)
            code = decode_block(query, *block, false);
        *block += UINT64_C(1) << (4 * level);
        return code;
    }
}

static enum weft_code add_blocks(const struct query *query)
{
    if (query->thread->n_blocks == 0)
        return WEFT_OK;
    uint64_t block = find_block(query, query->from_ns);
    uint64_t end = find_block(query, query->to_ns); /* not all of it lies inside */
    enum weft_code code = decode_block(query, block, true);
    for (block++; !code && block < end;)
        code = add_group(query, &block, end);
    if (!code && block == end)
        code = decode_block(query, end, false);
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
 * Others are of calls that ended as the interval began. */
static bool number_contexts(struct weft_interval_reader *reader, size_t *n_kept)
{
    const struct weft_context_tree *tree = &reader->tree;
    if (!weft_vec_reserve(&reader->index.items, &reader->index.cap, tree->n,
                          sizeof *reader->index.items))
        return false;
    uint32_t *index = reader->index.items;
    for (size_t i = 0; i < tree->n; i++)
        index[i] = WEFT_ID_NONE;
    for (size_t i = tree->n; i-- > 1;)
        if (index[i] != WEFT_ID_NONE || tree->nodes[i].count || tree->nodes[i].self_ns)
            index[i] = index[tree->nodes[i].parent] = 0;
    *n_kept = 0;
    for (size_t i = 1; i < tree->n; i++)
        if (index[i] != WEFT_ID_NONE)
            index[i] = (uint32_t)(*n_kept)++;
    return true;
}

/* Copies the tree without its root; inclusive sums from the leaves up. */
static enum weft_code make_contexts(const struct query *query, struct weft_interval *interval)
{
    struct weft_interval_reader *reader = query->reader;
    const struct weft_context_tree *tree = &reader->tree;
    size_t n = 0;
    if (!number_contexts(reader, &n) ||
        !weft_vec_reserve(&reader->contexts.items, &reader->contexts.cap, n,
                          sizeof *reader->contexts.items))
        return no_memory(query->err);
    const uint32_t *index = reader->index.items;
    struct weft_interval_context *contexts = reader->contexts.items;
    for (size_t i = 1; i < tree->n; i++) {
        const struct weft_context *node = &tree->nodes[i];
        uint32_t parent = node->parent == tree->root ? WEFT_ID_NONE : index[node->parent];
        if (index[i] == WEFT_ID_NONE)
            continue;
        contexts[index[i]] = (struct weft_interval_context){
            .parent = parent,
            .function_id = node->function,
            .depth = parent == WEFT_ID_NONE ? 0 : contexts[parent].depth + 1,
            .count = node->count,
            .sum_ns = node->self_ns,
            .self_ns = node->self_ns,
        };
        interval->calls += node->count;
    }
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
    if (!weft_context_tree_reset(&reader->tree))
        return no_memory(err);
    enum weft_code code = add_blocks(&query);
    if (!code)
        code = make_contexts(&query, interval);
    if (code)
        return code;
    const struct weft_model_thread *thread = query.thread;
    uint64_t first_ns = thread->cut_calls ? 0 : thread->first_ns;
    uint64_t alive_ns = thread->n_blocks ? overlap_ns(&query, first_ns, thread->last_ns) : 0;
    uint64_t called_ns = 0;
    for (size_t i = 0; i < interval->n_contexts; i++)
        called_ns += interval->contexts[i].self_ns;
    interval->outside_ns = query.to_ns - query.from_ns - alive_ns;
    interval->no_call_ns = alive_ns - called_ns;
    return WEFT_OK;
}
