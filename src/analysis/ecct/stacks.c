/* SPDX-License-Identifier: MIT
 *
 * The operations that fill.c asks for, from a trace: which contexts a thread ran in during an
 * interval (short intervals by model/calls/innermost.h, long ones by model/interval), or its stack
 * samples, or its spans, in that order. Frames at and above the kernel's entry are cut off, as the
 * state already says what they would.
 */
#include "analysis/ecct/stacks.h"

#include "analysis/path/spans.h"
#include "analysis/path/stacks.h"
#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/innermost.h"
#include "model/graph/locks.h"
#include "model/graph/waiting.h"
#include "model/interval/interval.h"

#include <stdlib.h>

/* Contexts looked at for one segment; the rest count for their callers. */
enum { CONTEXTS_MAX = 1 << 16 };

/* Of memory: 1/8 + 1/8 + 1/4 + 1/2. */
enum { KEPT_SHARE = 8, BLOCKS_SHARE = 8, INNERMOST_SHARE = 4 };

struct weft_ecct_stacks {
    const struct weft_trace *trace;
    const struct weft_ecct_names *names;
    uint64_t memory_bytes;
    struct weft_interval_reader *reader;
    struct weft_innermost *innermost; /* of short intervals */
    uint64_t turn;                    /* nodes are known of this one alone; from 1 */
    struct {
        uint32_t *items; /* contexts of a block: those that have time; those above one */
        size_t n, cap;
    } touched, above;
    struct weft_path_stacks *samples;
    struct weft_path_spans *spans;
    uint32_t *frames; /* by function: its frame + 1; 0: not known yet */
    struct {
        uint32_t *items; /* by context of an interval: its node */
        size_t n, cap;
    } nodes;
};

struct weft_ecct_stacks *weft_ecct_stacks_new(const struct weft_trace *trace,
                                              const struct weft_ecct_names *names,
                                              uint64_t memory_bytes)
{
    struct weft_ecct_stacks *stacks = calloc(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    *stacks = (struct weft_ecct_stacks){
        .trace = trace,
        .names = names,
        .memory_bytes = memory_bytes,
        .turn = 1,
        .reader = weft_interval_reader_new(trace),
        .innermost = weft_innermost_new(trace, memory_bytes / INNERMOST_SHARE),
        .samples = weft_path_stacks_new(trace),
        .frames = calloc((size_t)weft_trace_n_functions(trace) + 1, sizeof *stacks->frames),
    };
    if (stacks->reader && stacks->innermost && stacks->samples && stacks->frames) {
        weft_interval_reader_limit(stacks->reader, CONTEXTS_MAX);
        weft_interval_reader_keep(stacks->reader, (size_t)(memory_bytes / KEPT_SHARE));
        weft_interval_reader_blocks(stacks->reader, memory_bytes / BLOCKS_SHARE);
        return stacks;
    }
    weft_ecct_stacks_free(stacks);
    return NULL;
}

void weft_ecct_stacks_free(struct weft_ecct_stacks *stacks)
{
    if (!stacks)
        return;
    weft_interval_reader_free(stacks->reader);
    weft_innermost_free(stacks->innermost);
    weft_path_stacks_free(stacks->samples);
    weft_path_spans_free(stacks->spans);
    free(stacks->frames);
    WEFT_VEC_FINI(&stacks->nodes);
    WEFT_VEC_FINI(&stacks->touched);
    WEFT_VEC_FINI(&stacks->above);
    free(stacks);
}

void weft_ecct_stacks_trust(struct weft_ecct_stacks *stacks)
{
    stacks->turn++;
}

bool weft_ecct_stacks_window(struct weft_ecct_stacks *stacks, uint64_t from_ns, uint64_t to_ns)
{
    weft_path_spans_free(stacks->spans);
    stacks->spans = weft_path_spans_new(stacks->trace, from_ns, to_ns);
    return stacks->spans != NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static enum weft_code frame_of(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                               uint32_t function_id, uint32_t *frame, struct weft_err *err)
{
    uint32_t *known = &stacks->frames[function_id];
    enum weft_code code = WEFT_OK;
    if (*known == 0) {
        const struct weft_function *function = weft_trace_function(stacks->trace, function_id);
        code = weft_ecct_tree_frame(tree, function->name, function->module, WEFT_FRAME_FUNCTION,
                                    frame, err);
        *known = code == WEFT_OK ? *frame + 1 : 0;
    }
    *frame = *known - 1;
    return code;
}

/* Below what the node of a context is known, and in which turn: some 2^30 of them differ. */
static uint64_t key_of(const struct weft_ecct_stacks *stacks, const struct weft_ecct_spot *below)
{
    return stacks->turn << 34 | (uint64_t)below->node << 2 | below->confidence;
}

/* Finds the nodes of a context and of those above it up to one that is known below the same spot.
 */
static enum weft_code find_node(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                struct weft_innermost_block *block, uint32_t context,
                                const struct weft_ecct_spot *below, uint32_t *node,
                                struct weft_err *err)
{
    const uint64_t key = key_of(stacks, below);
    enum weft_code code = WEFT_OK;
    stacks->above.n = 0;
    for (; context != WEFT_ID_NONE && block->contexts[context].key != key;
         context = block->contexts[context].parent) {
        uint32_t *above = WEFT_VEC_PUSH(&stacks->above);
        if (!above)
            return weft_no_memory(err, "stacks");
        *above = context;
    }
    *node = context == WEFT_ID_NONE ? below->node : block->contexts[context].node;
    for (size_t i = stacks->above.n; i-- > 0 && code == WEFT_OK;) {
        struct weft_innermost_context *known = &block->contexts[stacks->above.items[i]];
        uint32_t frame;
        code = frame_of(stacks, tree, known->function_id, &frame, err);
        WEFT_THEN(code, weft_ecct_tree_node(tree, *node, frame, below->confidence, node, err));
        if (code != WEFT_OK)
            return code;
        known->node = *node;
        known->key = key;
    }
    return code;
}

/* The node of a context of a block below a spot. Where it was asked for last below the same one it
 * is known, until how certain nodes are counts anew. */
static enum weft_code node_of(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                              struct weft_innermost_block *block, uint32_t context,
                              const struct weft_ecct_spot *below, uint32_t *node,
                              struct weft_err *err)
{
    const struct weft_innermost_context *known = &block->contexts[context];
    if (known->key != key_of(stacks, below))
        return find_node(stacks, tree, block, context, below, node, err);
    *node = known->node;
    return WEFT_OK;
}

/* The nodes of the contexts in [from_ns, to_ns), below a spot. */
static enum weft_code read_contexts(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                    uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                    const struct weft_ecct_spot *below,
                                    struct weft_interval *interval, struct weft_err *err)
{
    const struct weft_model_thread *thread = weft_trace_thread(stacks->trace, thread_id);
    *interval = (struct weft_interval){ 0 };
    stacks->nodes.n = 0;
    if (thread->calls + thread->cut_calls == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_interval_cct(stacks->reader, thread_id, from_ns, to_ns, interval, err);
    for (size_t i = 0; i < interval->n_contexts && code == WEFT_OK; i++) {
        const struct weft_interval_context *context = &interval->contexts[i];
        uint32_t frame, *node = WEFT_VEC_PUSH(&stacks->nodes);
        if (!node)
            return weft_no_memory(err, "stacks");
        code = frame_of(stacks, tree, context->function_id, &frame, err);
        WEFT_THEN(code, weft_ecct_tree_node(tree,
                                            context->parent == WEFT_ID_NONE
                                                ? below->node
                                                : stacks->nodes.items[context->parent],
                                            frame, below->confidence, node, err));
    }
    return code;
}

static enum weft_code add_part(struct weft_ecct_parts *parts, uint32_t node,
                               enum weft_confidence confidence, uint64_t weight,
                               struct weft_err *err)
{
    struct weft_ecct_part *part = weight ? WEFT_VEC_PUSH(parts) : NULL;
    if (part)
        *part = (struct weft_ecct_part){ { node, confidence }, weight };
    return part || weight == 0 ? WEFT_OK : weft_no_memory(err, "stacks");
}

/* The block that has the innermost calls of an interval, or NULL. */
static enum weft_code find_innermost(struct weft_ecct_stacks *stacks, uint32_t thread_id,
                                     uint64_t from_ns, uint64_t to_ns,
                                     struct weft_innermost_block **block, size_t *place,
                                     struct weft_err *err)
{
    *block = NULL;
    return weft_trace_thread(stacks->trace, thread_id)->calls && from_ns < to_ns
               ? weft_innermost_find(stacks->innermost, thread_id, from_ns, to_ns, block, place,
                                     err)
               : WEFT_OK;
}

/* What is on top in an interval: times by context. False without memory. */
static bool sum_innermost(struct weft_ecct_stacks *stacks, struct weft_innermost_block *block,
                          size_t place, const struct weft_ecct_interval *from)
{
    stacks->touched.n = 0;
    for (const struct weft_innermost_call *top = &block->items[place]; top->start_ns < from->to_ns;
         top++) {
        const uint64_t start_ns = top->start_ns > from->from_ns ? top->start_ns : from->from_ns,
                       end_ns = top[1].start_ns < from->to_ns ? top[1].start_ns : from->to_ns;
        if (top->context == WEFT_ID_NONE || end_ns == start_ns)
            continue;
        struct weft_innermost_context *context = &block->contexts[top->context];
        if (context->ns == 0) {
            uint32_t *touched = WEFT_VEC_PUSH(&stacks->touched);
            if (!touched)
                return false;
            *touched = top->context;
        }
        context->ns += end_ns - start_ns;
    }
    return true;
}

static enum weft_code run_innermost(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                    struct weft_innermost_block *block, size_t place,
                                    const struct weft_ecct_interval *from,
                                    const struct weft_ecct_spot *below,
                                    struct weft_ecct_parts *parts, struct weft_err *err)
{
    enum weft_code code =
        sum_innermost(stacks, block, place, from) ? WEFT_OK : weft_no_memory(err, "stacks");
    for (size_t i = 0; i < stacks->touched.n; i++) {
        const uint32_t context = stacks->touched.items[i];
        uint32_t node = 0;
        WEFT_THEN(code, node_of(stacks, tree, block, context, below, &node, err));
        WEFT_THEN(code, add_part(parts, node, below->confidence, block->contexts[context].ns, err));
        block->contexts[context].ns = 0;
    }
    return code;
}

static enum weft_code run_calls(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                const struct weft_ecct_interval *from,
                                const struct weft_ecct_spot *below, struct weft_ecct_parts *parts,
                                struct weft_err *err)
{
    struct weft_interval interval;
    struct weft_innermost_block *block;
    size_t place;
    enum weft_code code =
        find_innermost(stacks, from->thread_id, from->from_ns, from->to_ns, &block, &place, err);
    if (code != WEFT_OK || block)
        return code == WEFT_OK ? run_innermost(stacks, tree, block, place, from, below, parts, err)
                               : code;
    code = read_contexts(stacks, tree, from->thread_id, from->from_ns, from->to_ns, below,
                         &interval, err);
    for (size_t i = 0; i < interval.n_contexts && code == WEFT_OK; i++)
        code = add_part(parts, stacks->nodes.items[i], below->confidence,
                        interval.contexts[i].self_ns + interval.contexts[i].folded_ns, err);
    return code;
}

/* ---- samples and spans ----------------------------------------------------------------------- */

/* Where a thread enters the kernel: what it calls from there is the kernel's. */
static bool enters_kernel(struct weft_str name)
{
    static const char *const starts[] = { "entry_SYSCALL", "do_syscall_", "x64_sys_call",
                                          "asm_exc_",      "asm_sysvec_", "asm_common_interrupt",
                                          "el0t_",         "el0_svc",     "invoke_syscall" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (name.n_bytes >= strlen(starts[i]) &&
            memcmp(name.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* A folded stack, "main;run;step". */
static enum weft_code go_down(struct weft_ecct_tree *tree, struct weft_str stack,
                              struct weft_ecct_spot *spot, struct weft_err *err)
{
    struct weft_str module = { 0 };
    enum weft_code code = WEFT_OK;
    while (stack.n_bytes && code == WEFT_OK) {
        const char *end = memchr(stack.bytes, ';', stack.n_bytes);
        const size_t n = end ? (size_t)(end - stack.bytes) : stack.n_bytes;
        const size_t n_gone = end ? n + 1 : n;
        uint32_t frame;
        if (n) {
            const struct weft_str name = { stack.bytes, n };
            if (enters_kernel(name))
                module = WEFT_STR("[kernel]");
            code = weft_ecct_tree_frame(tree, name, module, WEFT_FRAME_FUNCTION, &frame, err);
            WEFT_THEN(code, weft_ecct_tree_node(tree, spot->node, frame, spot->confidence,
                                                &spot->node, err));
        }
        stack = (struct weft_str){ stack.bytes + n_gone, stack.n_bytes - n_gone };
    }
    return code;
}

/* How a kernel is entered. The frames from there on to the scheduler say of a wait what its state
 * and system call say; but for a fault, which is one of neither. */
static const struct {
    const char *name;
    bool is_kept;
} entries[] = {
    { "entry_SYSCALL", false }, { "asm_exc_", true }, { "asm_", false },
    { "el0t_64_sync", false },  { "el0_svc", false },
};

static bool is_entry(struct weft_str frame, bool *is_kept)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (frame.n_bytes >= strlen(entries[i].name) &&
            memcmp(frame.bytes, entries[i].name, strlen(entries[i].name)) == 0) {
            *is_kept = entries[i].is_kept;
            return true;
        }
    return false;
}

/* The part of a stack that the program has made. */
static struct weft_str without_kernel(struct weft_str stack)
{
    for (size_t at = 0; at < stack.n_bytes;) {
        const char *end = memchr(stack.bytes + at, ';', stack.n_bytes - at);
        const size_t n = end ? (size_t)(end - stack.bytes) - at : stack.n_bytes - at;
        bool is_kept;
        if (is_entry((struct weft_str){ stack.bytes + at, n }, &is_kept))
            return (struct weft_str){ stack.bytes, is_kept ? at + n : at ? at - 1 : 0 };
        at += n + 1;
    }
    return stack;
}

static struct weft_ecct_spot inferred(const struct weft_ecct_spot *spot)
{
    struct weft_ecct_spot made = *spot;
    if (made.confidence < WEFT_CONFIDENCE_INFERRED)
        made.confidence = WEFT_CONFIDENCE_INFERRED;
    return made;
}

static enum weft_code run_samples(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                  const struct weft_ecct_interval *from,
                                  const struct weft_ecct_spot *below, struct weft_ecct_parts *parts,
                                  struct weft_err *err)
{
    const struct weft_path_seen *seen = NULL;
    struct weft_path_seen last = { .weight = 1 };
    size_t n_seen = 0;
    enum weft_code code = weft_path_stacks_seen(stacks->samples, from->thread_id, from->from_ns,
                                                from->samples_to_ns, &seen, &n_seen, err);
    if (code == WEFT_OK && n_seen == 0) {
        code = weft_path_stack(stacks->samples, from->thread_id, from->from_ns, from->from_ns, true,
                               &last.stack, err);
        last.stack = without_kernel(last.stack);
        seen = &last;
        n_seen = last.stack.n_bytes ? 1 : 0;
    }
    for (size_t i = 0; i < n_seen && code == WEFT_OK; i++) {
        struct weft_ecct_spot spot = seen == &last ? inferred(below) : *below;
        code = go_down(tree, seen[i].stack, &spot, err);
        WEFT_THEN(code, add_part(parts, spot.node, spot.confidence, seen[i].weight, err));
    }
    return code;
}

static enum weft_code go_to_span(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                 uint32_t thread_id, uint64_t from_ns, uint64_t to_ns,
                                 struct weft_ecct_spot *spot, bool *is_found, struct weft_err *err)
{
    struct weft_str name;
    uint64_t sum_ns;
    uint32_t frame;
    enum weft_code code =
        weft_path_span(stacks->spans, thread_id, from_ns, to_ns, &name, &sum_ns, err);
    *is_found = code == WEFT_OK && name.n_bytes > 0;
    if (!*is_found)
        return code;
    *spot = inferred(spot);
    code =
        weft_ecct_tree_frame(tree, name, (struct weft_str){ 0 }, WEFT_FRAME_FUNCTION, &frame, err);
    return code == WEFT_OK
               ? weft_ecct_tree_node(tree, spot->node, frame, spot->confidence, &spot->node, err)
               : code;
}

/* ---- the operations -------------------------------------------------------------------------- */

enum { LONG_NS = 10000, SAMPLED_NS = 200000 }; /* shorter ones hold no samples, as a rule */

/* Is the node a call right below `spot`, as of a function of libc in a program whose own functions
 * are not recorded? */
static bool is_outermost(const struct weft_ecct_tree *tree, const struct weft_ecct_spot *spot,
                         uint32_t node)
{
    return node != spot->node && weft_ecct_tree_nodes(tree)[node].parent == spot->node;
}

/* Are the calls that a thread ran in outermost ones, and less than half of the interval? Then
 * samples of its stacks say more of where it ran. */
static bool is_mostly_outside(const struct weft_ecct_tree *tree,
                              const struct weft_ecct_interval *interval,
                              const struct weft_ecct_spot *below,
                              const struct weft_ecct_parts *parts)
{
    uint64_t sum_ns = 0;
    if (interval->to_ns - interval->from_ns < SAMPLED_NS)
        return false;
    for (size_t i = 0; i < parts->n; i++) {
        sum_ns += parts->items[i].weight;
        if (!is_outermost(tree, below, parts->items[i].spot.node))
            return false;
    }
    return sum_ns < (interval->to_ns - interval->from_ns) / 2;
}

/* The first n. */
static void forget_parts(struct weft_ecct_parts *parts, size_t n)
{
    memmove(parts->items, parts->items + n, (parts->n - n) * sizeof *parts->items);
    parts->n -= n;
}

/* What recordings call a function of libc: operations of one kind alike. */
static struct weft_str operation_of(struct weft_str name)
{
    static const struct {
        const char *operation, *names;
    } rows[] = { { "read", "pread|pread64|readv|preadv|preadv64" },
                 { "write", "pwrite|pwrite64|writev|pwritev|pwritev64" },
                 { "fsync", "fdatasync|sync_file_range|msync|sync|syncfs" },
                 { "recv", "recvfrom|recvmsg|recvmmsg" },
                 { "send", "sendto|sendmsg|sendmmsg" },
                 { "poll", "ppoll|select|pselect" },
                 { "epoll_wait", "epoll_pwait|epoll_pwait2" },
                 { "accept", "accept4" },
                 { "nanosleep", "clock_nanosleep|clock_nanosleep_2|usleep|sleep" },
                 { "waitpid", "wait4|waitid|wait" },
                 { "pthread_cond_wait",
                   "pthread_cond_timedwait|pthread_cond_clockwait|pthread_cond_wait_common" },
                 { "pthread_join", "pthread_clockjoin_ex|pthread_timedjoin_np" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (weft_str_is_one_of(name, rows[i].names))
            return weft_str_of(rows[i].operation);
    return name;
}

/* Does a stack go through the function, whatever libc puts around its name? Recordings call
 * operations of one kind alike: pread64 is "read", fdatasync "fsync". */
static bool goes_through(struct weft_str stack, struct weft_str function)
{
    const struct weft_str wanted = operation_of(weft_libc_name(function));
    for (size_t at = 0, n; at < stack.n_bytes; at += n + 1) {
        const char *end = memchr(stack.bytes + at, ';', stack.n_bytes - at);
        n = end ? (size_t)(end - stack.bytes) - at : stack.n_bytes - at;
        const struct weft_str name = weft_libc_name((struct weft_str){ stack.bytes + at, n });
        if (wanted.n_bytes > 0 && weft_str_equal(operation_of(name), wanted))
            return true;
    }
    return false;
}

/* Where a wait began in an outermost call, the stack that was seen of it says more: its callers. */
static enum weft_code go_to_callers(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                    uint32_t thread_id, uint64_t at_ns,
                                    const struct weft_ecct_spot *from, struct weft_ecct_spot *spot,
                                    struct weft_err *err)
{
    struct weft_str stack;
    if (!is_outermost(tree, from, spot->node))
        return WEFT_OK;
    WEFT_TRY(weft_path_stack(stacks->samples, thread_id, at_ns, at_ns, true, &stack, err));
    stack = without_kernel(stack);
    const struct weft_frame *call =
        &weft_ecct_tree_frames(tree)[weft_ecct_tree_nodes(tree)[spot->node].frame];
    if (!goes_through(stack, call->name)) /* of an earlier wait */
        return WEFT_OK;
    *spot = *from;
    return go_down(tree, stack, spot, err);
}

/* Callers of outermost calls, as seen in the last stack before, if that is of the same function.
 * Not of short times, of which there are many. */
static enum weft_code add_callers(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                  const struct weft_ecct_interval *interval,
                                  const struct weft_ecct_spot *below, struct weft_ecct_parts *parts,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < parts->n && code == WEFT_OK; i++)
        if (parts->items[i].weight >= LONG_NS)
            code = go_to_callers(stacks, tree, interval->thread_id, interval->from_ns, below,
                                 &parts->items[i].spot, err);
    return code;
}

static enum weft_code running(void *context, struct weft_ecct_tree *tree,
                              const struct weft_ecct_interval *interval,
                              const struct weft_ecct_spot *below, struct weft_ecct_parts *parts,
                              bool *is_share, struct weft_err *err)
{
    struct weft_ecct_stacks *stacks = context;
    struct weft_ecct_spot spot = *below;
    bool is_found = false;
    enum weft_code code = run_calls(stacks, tree, interval, below, parts, err);
    *is_share = false;
    if (code != WEFT_OK)
        return code;
    if (parts->n && !is_mostly_outside(tree, interval, below, parts))
        return add_callers(stacks, tree, interval, below, parts, err);
    const size_t n_calls = parts->n;
    *is_share = true;
    code = run_samples(stacks, tree, interval, below, parts, err);
    if (code != WEFT_OK || parts->n > n_calls) {
        forget_parts(parts, n_calls);
        return code;
    }
    *is_share = n_calls == 0;
    if (n_calls)
        return add_callers(stacks, tree, interval, below, parts, err);
    code = go_to_span(stacks, tree, interval->thread_id, interval->from_ns, interval->to_ns, &spot,
                      &is_found, err);
    return is_found && code == WEFT_OK ? add_part(parts, spot.node, spot.confidence, 1, err) : code;
}

/* The innermost call at a point of time: of those in one ns, the one that has it to itself. */
static enum weft_code wait_in_call(struct weft_ecct_stacks *stacks, struct weft_ecct_tree *tree,
                                   uint32_t thread_id, uint64_t at_ns, struct weft_ecct_spot *spot,
                                   bool *is_found, struct weft_err *err)
{
    struct weft_interval interval;
    struct weft_innermost_block *block;
    size_t place;
    enum weft_code code =
        find_innermost(stacks, thread_id, at_ns, weft_add_sat_u64(at_ns, 1), &block, &place, err);
    *is_found = code == WEFT_OK && block && block->items[place].context != WEFT_ID_NONE;
    if (*is_found)
        return node_of(stacks, tree, block, block->items[place].context, spot, &spot->node, err);
    if (code != WEFT_OK || block)
        return code;
    code = read_contexts(stacks, tree, thread_id, at_ns, weft_add_sat_u64(at_ns, 1), spot,
                         &interval, err);
    for (size_t i = 0; i < interval.n_contexts && code == WEFT_OK && !*is_found; i++) {
        *is_found = interval.contexts[i].self_ns + interval.contexts[i].folded_ns > 0;
        if (*is_found)
            spot->node = stacks->nodes.items[i];
    }
    return code;
}

static enum weft_code waiting(void *context, struct weft_ecct_tree *tree, uint32_t thread_id,
                              uint64_t at_ns, struct weft_ecct_spot *spot, struct weft_err *err)
{
    struct weft_ecct_stacks *stacks = context;
    const struct weft_ecct_spot from = *spot;
    struct weft_str stack;
    bool is_found;
    enum weft_code code = wait_in_call(stacks, tree, thread_id, at_ns, spot, &is_found, err);
    if (code != WEFT_OK || is_found)
        return code == WEFT_OK ? go_to_callers(stacks, tree, thread_id, at_ns, &from, spot, err)
                               : code;
    code = weft_path_stack(stacks->samples, thread_id, at_ns, at_ns, true, &stack, err);
    if (code == WEFT_OK && stack.n_bytes)
        return go_down(tree, without_kernel(stack), spot, err);
    return code == WEFT_OK ? go_to_span(stacks, tree, thread_id, at_ns, weft_add_sat_u64(at_ns, 1),
                                        spot, &is_found, err)
                           : code;
}

static struct weft_frame thread_frame(void *context, uint32_t thread_id, uint32_t first)
{
    const struct weft_ecct_stacks *stacks = context;
    return weft_ecct_names_frame(stacks->names, thread_id, first);
}

static const struct weft_lock_object *lock_object(void *context, struct weft_graph *graph,
                                                  uint32_t lock)
{
    (void)context;
    return weft_locks_graph_object(graph, lock - 1);
}

const struct weft_ecct_ops weft_ecct_stacks_ops = { running, waiting, thread_frame, lock_object };
