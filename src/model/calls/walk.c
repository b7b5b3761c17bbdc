/* SPDX-License-Identifier: MIT
 *
 * A stack of open frames over the blocks of one thread. Self times of calls that end in their block
 * are summed block by block; for calls that are open across blocks an additional first pass
 * (`find_crossing`) walks the window once and keeps one number for each. Argument texts come from
 * CALL_ARGS events, which are merged by row.
 */
#include "model/calls/walk.h"

#include "base/vec.h"
#include "model/events.h"

#include <inttypes.h>
#include <stdlib.h>

#define NO_DEPTH UINT32_MAX
#define NO_BLOCK UINT64_MAX

/* A call that was entered and not left yet. */
struct frame {
    uint64_t start_ns, end_ns, callees_ns;
    uint64_t row;
    uint64_t block; /* in which it was entered; NO_BLOCK: before the first that is read */
    uint32_t function_id, flags;
};

/* Self times that one block alone does not contain: of calls that are open when it ends. */
struct crossing {
    uint64_t row, self_ns;
};

struct weft_walk {
    struct weft_store *store;
    const struct weft_model_thread *thread;
    struct weft_walk_opts opts;
    uint32_t thread_id;
    struct weft_block_buf *buf;
    struct weft_calls calls;
    size_t at, arg_at; /* in `calls`: next row, next argument */
    uint64_t block;    /* the one in `calls` */
    uint64_t next_block;
    const struct weft_open_call *opening; /* entered before the first block, by depth */
    size_t opening_n, opening_at;
    struct {
        struct weft_open_call *items;
        size_t n, cap;
    } opened;               /* `opening`, when the walk does not begin at the thread's start */
    uint32_t skipped_depth; /* callees of a call that is left out are left out; or NO_DEPTH */
    bool is_over;           /* nothing more will be entered */
    struct {
        struct frame *items;
        size_t n, cap;
    } frames;

    /* Arguments of the step. */
    struct weft_block_buf *opening_buf; /* the block of a call opened before the first block */
    struct weft_calls opening_calls;
    uint64_t opening_block;
    struct weft_events *events; /* CALL_ARGS; NULL: none */
    const struct weft_event *event;
    struct {
        char *items;
        size_t n, cap;
    } text_bytes;
    struct {
        struct weft_str *items;
        size_t n, cap;
    } texts;

    /* with_self */
    uint64_t *self_ns; /* of the rows of the block */
    size_t self_cap;
    uint64_t *opening_self_ns;
    struct {
        struct crossing *items;
        size_t n, cap;
    } crossing; /* by row */
    size_t crossing_at;
    struct {
        size_t *items;
        size_t n, cap;
    } stack; /* rows open, while the self times of a block are summed */
};

/* ---- the window ------------------------------------------------------------------------------ */

/* The first block that holds calls which end at `from_ns` or later (the last one may). */
static uint64_t first_block(const struct weft_store *store, const struct weft_model_thread *thread,
                            uint32_t thread_id, uint64_t from_ns)
{
    uint64_t low = 0, high = thread->n_blocks ? thread->n_blocks - 1 : 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (weft_store_block_get(store, thread_id, middle)->last_ns >= from_ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t weft_walk_calls(const struct weft_trace *trace, uint32_t thread_id,
                         const struct weft_window *window)
{
    const struct weft_store *store = weft_trace_store(trace);
    const struct weft_model_thread *thread = weft_trace_thread(trace, thread_id);
    uint64_t n_calls = 0;
    for (uint64_t block = first_block(store, thread, thread_id, window->from_ns);
         block < thread->n_blocks; block++) {
        const struct weft_block_info *info = weft_store_block_get(store, thread_id, block);
        if (info->n_rows && info->first_ns >= window->to_ns)
            break;
        n_calls += info->n_rows;
    }
    return n_calls;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int compare_crossing(const void *a, const void *b)
{
    const struct crossing *left = a, *right = b;
    return (left->row > right->row) - (left->row < right->row);
}

/* The self time of a call that stayed open at the end of its block. Rows come in ascending order.
 */
static uint64_t crossing_self(struct weft_walk *walk, uint64_t row, uint64_t otherwise_ns)
{
    while (walk->crossing_at < walk->crossing.n &&
           walk->crossing.items[walk->crossing_at].row < row)
        walk->crossing_at++;
    if (walk->crossing_at < walk->crossing.n && walk->crossing.items[walk->crossing_at].row == row)
        return walk->crossing.items[walk->crossing_at].self_ns;
    return otherwise_ns;
}

static uint64_t clipped_duration(const struct weft_walk *walk, size_t i)
{
    return weft_window_clip(&walk->opts.window, walk->calls.end_ns[i]) -
           weft_window_clip(&walk->opts.window, walk->calls.start_ns[i]);
}

/* Self times of the rows of the block: what callees in the block take away, and for those still
 * open at its end what the first reading found. */
static enum weft_code sum_self(struct weft_walk *walk, struct weft_err *err)
{
    const struct weft_calls *calls = &walk->calls;
    if (calls->n_rows > walk->self_cap &&
        !weft_vec_reserve(&walk->self_ns, &walk->self_cap, calls->n_rows, sizeof *walk->self_ns))
        return weft_no_memory(err, "the calls of a thread");
    walk->stack.n = 0;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t duration_ns = clipped_duration(walk, i);
        while (walk->stack.n &&
               calls->depth[walk->stack.items[walk->stack.n - 1]] >= calls->depth[i])
            walk->stack.n--;
        if (walk->stack.n)
            walk->self_ns[walk->stack.items[walk->stack.n - 1]] -= duration_ns;
        walk->self_ns[i] = duration_ns;
        size_t *top = WEFT_VEC_PUSH(&walk->stack);
        if (!top)
            return weft_no_memory(err, "the calls of a thread");
        *top = i;
    }
    for (size_t k = 0; k < walk->stack.n; k++) {
        size_t i = walk->stack.items[k];
        walk->self_ns[i] = crossing_self(walk, calls->first_row + i, walk->self_ns[i]);
    }
    return WEFT_OK;
}

static enum weft_code load_next(struct weft_walk *walk, struct weft_err *err)
{
    if (weft_progress_is_cancelled(walk->opts.progress))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    walk->block = walk->next_block;
    enum weft_code code =
        weft_store_load(walk->store, walk->thread_id, walk->block, walk->buf, &walk->calls, err);
    if (code != WEFT_OK) {
        (void)weft_within(err, "block %" PRIu64, walk->block);
        return code;
    }
    walk->next_block++;
    walk->at = walk->arg_at = 0;
    weft_progress_add(walk->opts.progress, walk->calls.n_rows);
    return walk->opts.with_self ? sum_self(walk, err) : WEFT_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* The block of the thread in which `row` is. */
static uint64_t block_of_row(const struct weft_walk *walk, uint64_t row)
{
    uint64_t low = 0, high = walk->thread->n_blocks;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (weft_store_block_get(walk->store, walk->thread_id, middle)->first_row <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Numbers for a call that was entered before the first block that is read: from its own block. */
static enum weft_code find_opening_args(struct weft_walk *walk, struct weft_walk_call *call,
                                        struct weft_err *err)
{
    uint64_t block = block_of_row(walk, call->row);
    if (!walk->opening_buf)
        walk->opening_buf = weft_block_buf_new();
    if (!walk->opening_buf)
        return weft_no_memory(err, "the calls of a thread");
    if (block != walk->opening_block) {
        walk->opening_block = NO_BLOCK;
        enum weft_code code = weft_store_load(walk->store, walk->thread_id, block,
                                              walk->opening_buf, &walk->opening_calls, err);
        if (code != WEFT_OK) {
            (void)weft_within(err, "block %" PRIu64, block);
            return code;
        }
        walk->opening_block = block;
    }
    const struct weft_calls *calls = &walk->opening_calls;
    size_t at = 0;
    while (at < calls->n_args && calls->first_row + calls->arg_row[at] < call->row)
        at++;
    call->args = calls->arg_value + at;
    while (at + call->n_args < calls->n_args &&
           calls->first_row + calls->arg_row[at + call->n_args] == call->row)
        call->n_args++;
    return WEFT_OK;
}

static void find_row_args(struct weft_walk *walk, size_t i, struct weft_walk_call *call)
{
    const struct weft_calls *calls = &walk->calls;
    while (walk->arg_at < calls->n_args && calls->arg_row[walk->arg_at] < i)
        walk->arg_at++;
    call->args = calls->arg_value + walk->arg_at;
    while (walk->arg_at < calls->n_args && calls->arg_row[walk->arg_at] == i) {
        walk->arg_at++;
        call->n_args++;
    }
}

/* Copies, because the next event may stand in another block. */
static bool keep_text(struct weft_walk *walk, struct weft_str text)
{
    size_t want = walk->text_bytes.n + text.n_bytes;
    struct weft_str *kept = WEFT_VEC_PUSH(&walk->texts);
    if (!kept || !weft_vec_reserve(&walk->text_bytes.items, &walk->text_bytes.cap, want + 1, 1))
        return false;
    if (text.n_bytes)
        memcpy(walk->text_bytes.items + walk->text_bytes.n, text.bytes, text.n_bytes);
    walk->text_bytes.n = want;
    kept->n_bytes = text.n_bytes;
    return true;
}

static enum weft_code find_texts(struct weft_walk *walk, struct weft_walk_call *call,
                                 struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    walk->texts.n = walk->text_bytes.n = 0;
    if (!walk->event || walk->event->value < call->row) {
        weft_events_skip_to_row(walk->events, call->row);
        code = weft_events_next(walk->events, &walk->event, err);
    }
    while (code == WEFT_OK && walk->event && walk->event->value <= call->row) {
        if (walk->event->value == call->row && walk->event->payload.n_bytes > 0 &&
            !keep_text(walk, walk->event->payload))
            return weft_no_memory(err, "the calls of a thread");
        code = weft_events_next(walk->events, &walk->event, err);
    }
    const char *bytes = walk->text_bytes.items;
    for (size_t k = 0; k < walk->texts.n; bytes += walk->texts.items[k++].n_bytes)
        walk->texts.items[k].bytes = bytes;
    call->arg_texts = walk->texts.items;
    call->n_arg_texts = walk->texts.n;
    return code;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Leaves the innermost call. */
static void leave(struct weft_walk *walk, struct weft_walk_call *call, uint64_t *entered_in)
{
    const struct frame *frame = &walk->frames.items[--walk->frames.n];
    uint64_t duration_ns = frame->end_ns - frame->start_ns;
    *entered_in = frame->block;
    call->start_ns = frame->start_ns;
    call->end_ns = frame->end_ns;
    call->self_ns = duration_ns - frame->callees_ns;
    call->row = frame->row;
    call->function_id = frame->function_id;
    call->depth = (uint32_t)walk->frames.n;
    call->flags = frame->flags;
    call->n_args = call->n_arg_texts = 0;
    if (walk->frames.n)
        walk->frames.items[walk->frames.n - 1].callees_ns += duration_ns;
}

/* Clips the call, and makes it the innermost. */
static enum weft_code enter(struct weft_walk *walk, uint64_t block, struct weft_walk_call *call,
                            struct weft_err *err)
{
    const struct weft_window *window = &walk->opts.window;
    if (walk->frames.n == walk->frames.cap &&
        !weft_vec_reserve(&walk->frames.items, &walk->frames.cap, walk->frames.n + 1,
                          sizeof *walk->frames.items))
        return weft_no_memory(err, "the calls of a thread");
    if (call->start_ns < window->from_ns)
        call->flags |= WEFT_CALL_CUT_START;
    if (call->end_ns > window->to_ns)
        call->flags |= WEFT_CALL_CUT_END;
    call->start_ns = weft_window_clip(window, call->start_ns);
    call->end_ns = weft_window_clip(window, call->end_ns);
    walk->frames.items[walk->frames.n++] = (struct frame){ .start_ns = call->start_ns,
                                                           .end_ns = call->end_ns,
                                                           .row = call->row,
                                                           .block = block,
                                                           .function_id = call->function_id,
                                                           .flags = call->flags };
    return walk->events && call->row != UINT64_MAX ? find_texts(walk, call, err) : WEFT_OK;
}

static enum weft_code enter_opening(struct weft_walk *walk, struct weft_walk_call *call,
                                    struct weft_err *err)
{
    const struct weft_open_call *open = &walk->opening[walk->opening_at - 1];
    *call = (struct weft_walk_call){ .start_ns = open->start_ns,
                                     .end_ns = open->end_ns,
                                     .row = open->row,
                                     .function_id = open->function_id,
                                     .depth = open->depth,
                                     .flags = open->flags };
    enum weft_code code = WEFT_OK;
    if (open->row == UINT64_MAX)
        call->flags |= WEFT_CALL_CUT_START;
    else if (walk->opts.with_args)
        code = find_opening_args(walk, call, err);
    if (walk->opening_self_ns)
        call->self_ns = walk->opening_self_ns[open->depth];
    return code == WEFT_OK ? enter(walk, NO_BLOCK, call, err) : code;
}

static enum weft_code enter_row(struct weft_walk *walk, struct weft_walk_call *call,
                                struct weft_err *err)
{
    const struct weft_calls *calls = &walk->calls;
    size_t i = walk->at - 1;
    *call = (struct weft_walk_call){ .start_ns = calls->start_ns[i],
                                     .end_ns = calls->end_ns[i],
                                     .row = calls->first_row + i,
                                     .function_id = calls->function_id[i],
                                     .depth = calls->depth[i],
                                     .flags = calls->flags ? calls->flags[i] : 0 };
    if (calls->n_args)
        find_row_args(walk, i, call);
    if (walk->opts.with_self)
        call->self_ns = walk->self_ns[i];
    return enter(walk, walk->block, call, err);
}

/* What comes next: a call opened before the first block, or a row. */
struct candidate {
    uint64_t start_ns, end_ns;
    uint32_t depth;
    bool is_opening;
};

/* False at the end of the thread. */
static bool peek(const struct weft_walk *walk, struct candidate *next)
{
    if (walk->opening_at < walk->opening_n) {
        const struct weft_open_call *open = &walk->opening[walk->opening_at];
        *next = (struct candidate){ open->start_ns, open->end_ns, open->depth, true };
        return true;
    }
    if (walk->at >= walk->calls.n_rows)
        return false;
    *next = (struct candidate){ walk->calls.start_ns[walk->at], walk->calls.end_ns[walk->at],
                                walk->calls.depth[walk->at], false };
    return true;
}

static bool is_left_out(struct weft_walk *walk, const struct candidate *next)
{
    if (next->depth > walk->skipped_depth)
        return true;
    uint64_t from_ns = walk->opts.window.from_ns;
    bool is_out = next->start_ns < from_ns && next->end_ns <= from_ns;
    walk->skipped_depth = is_out ? next->depth : NO_DEPTH;
    return is_out;
}

/* The next step; of an exit, the block in which the call was entered. */
static enum weft_code next_step(struct weft_walk *walk, enum weft_step *step,
                                struct weft_walk_call *call, uint64_t *entered_in,
                                struct weft_err *err)
{
    struct candidate next = { 0 };
    for (;;) {
        if (!walk->is_over && !peek(walk, &next)) {
            walk->is_over = walk->next_block >= walk->thread->n_blocks;
            WEFT_TRY(walk->is_over ? WEFT_OK : load_next(walk, err));
            continue;
        }
        walk->is_over = walk->is_over || next.start_ns >= walk->opts.window.to_ns;
        if (walk->frames.n > (walk->is_over ? 0 : next.depth)) {
            leave(walk, call, entered_in);
            *step = WEFT_STEP_EXIT;
            return WEFT_OK;
        }
        *step = walk->is_over ? WEFT_STEP_END : WEFT_STEP_ENTER;
        if (walk->is_over)
            return WEFT_OK;
        walk->opening_at += next.is_opening;
        walk->at += !next.is_opening;
        if (!is_left_out(walk, &next))
            return next.is_opening ? enter_opening(walk, call, err) : enter_row(walk, call, err);
    }
}

enum weft_code weft_walk_next(struct weft_walk *walk, enum weft_step *step,
                              struct weft_walk_call *call, struct weft_err *err)
{
    uint64_t entered_in;
    return next_step(walk, step, call, &entered_in, err);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Where the window begins: after the calls that are open there. */
static enum weft_code seek(struct weft_walk *walk, struct weft_err *err)
{
    walk->next_block =
        first_block(walk->store, walk->thread, walk->thread_id, walk->opts.window.from_ns);
    if (walk->next_block == 0) {
        walk->opening = weft_store_cut_calls(walk->store, walk->thread_id, &walk->opening_n);
        return WEFT_OK;
    }
    WEFT_TRY(load_next(walk, err));
    if (!weft_vec_reserve(&walk->opened.items, &walk->opened.cap, walk->calls.n_open,
                          sizeof *walk->opened.items))
        return weft_no_memory(err, "the calls of a thread");
    if (walk->calls.n_open)
        memcpy(walk->opened.items, walk->calls.open,
               walk->calls.n_open * sizeof *walk->opened.items);
    walk->opening = walk->opened.items;
    walk->opening_n = walk->calls.n_open;
    return WEFT_OK;
}

static enum weft_code open_plain(const struct weft_trace *trace, uint32_t thread_id,
                                 const struct weft_walk_opts *opts, struct weft_walk **walk,
                                 struct weft_err *err)
{
    struct weft_walk *made = calloc(1, sizeof *made);
    *walk = made;
    if (!made)
        return weft_no_memory(err, "the calls of a thread");
    made->store = weft_trace_store(trace);
    made->thread = weft_trace_thread(trace, thread_id);
    made->thread_id = thread_id;
    made->opts = *opts;
    made->skipped_depth = NO_DEPTH;
    made->opening_block = NO_BLOCK;
    made->buf = weft_block_buf_new();
    return made->buf ? WEFT_OK : weft_no_memory(err, "the calls of a thread");
}

static bool keep_crossing(struct weft_walk *walk, const struct weft_walk_call *call)
{
    struct crossing *kept = WEFT_VEC_PUSH(&walk->crossing);
    if (kept)
        *kept = (struct crossing){ .row = call->row, .self_ns = call->self_ns };
    return kept != NULL;
}

/* The first reading of with_self: walks the thread and keeps the self times of calls that are open
 * across blocks. */
static enum weft_code find_crossing(struct weft_walk *first, struct weft_err *err)
{
    enum weft_step step = WEFT_STEP_ENTER;
    struct weft_walk_call call;
    uint64_t entered_in = 0;
    enum weft_code code = seek(first, err);
    if (code == WEFT_OK && first->opening_n) {
        first->opening_self_ns = calloc(first->opening_n, sizeof *first->opening_self_ns);
        code = first->opening_self_ns ? WEFT_OK : weft_no_memory(err, "the calls of a thread");
    }
    while (code == WEFT_OK && step != WEFT_STEP_END) {
        code = next_step(first, &step, &call, &entered_in, err);
        if (code != WEFT_OK || step != WEFT_STEP_EXIT)
            continue;
        if (entered_in == NO_BLOCK)
            first->opening_self_ns[call.depth] = call.self_ns;
        else if ((first->is_over || entered_in != first->block) && !keep_crossing(first, &call))
            code = weft_no_memory(err, "the calls of a thread");
    }
    if (first->crossing.n)
        qsort(first->crossing.items, first->crossing.n, sizeof *first->crossing.items,
              compare_crossing);
    return code;
}

static enum weft_code prepare_self(struct weft_walk *walk, const struct weft_trace *trace,
                                   struct weft_err *err)
{
    const struct weft_walk_opts plain = { .window = walk->opts.window,
                                          .progress = walk->opts.progress };
    struct weft_walk *first = NULL;
    enum weft_code code = open_plain(trace, walk->thread_id, &plain, &first, err);
    WEFT_THEN(code, find_crossing(first, err));
    if (code == WEFT_OK) {
        walk->crossing.items = first->crossing.items;
        walk->crossing.n = first->crossing.n;
        walk->crossing.cap = first->crossing.cap;
        walk->opening_self_ns = first->opening_self_ns;
        first->crossing.items = NULL;
        first->opening_self_ns = NULL;
    }
    weft_walk_close(first);
    return code;
}

enum weft_code weft_walk_open(const struct weft_trace *trace, uint32_t thread_id,
                              const struct weft_walk_opts *opts, struct weft_walk **walk,
                              struct weft_err *err)
{
    enum weft_code code = open_plain(trace, thread_id, opts, walk, err);
    if (code == WEFT_OK && opts->with_self)
        code = prepare_self(*walk, trace, err);
    if (code == WEFT_OK && opts->with_args)
        code = weft_events_open(trace, thread_id, 1U << WEFT_EVENT_CALL_ARGS, 0, UINT64_MAX,
                                &(*walk)->events, err);
    WEFT_THEN(code, seek(*walk, err));
    if (code != WEFT_OK) {
        weft_walk_close(*walk);
        *walk = NULL;
    }
    return code;
}

void weft_walk_close(struct weft_walk *walk)
{
    if (!walk)
        return;
    weft_block_buf_free(walk->buf);
    weft_block_buf_free(walk->opening_buf);
    weft_events_close(walk->events);
    WEFT_VEC_FINI(&walk->frames);
    WEFT_VEC_FINI(&walk->opened);
    WEFT_VEC_FINI(&walk->text_bytes);
    WEFT_VEC_FINI(&walk->texts);
    WEFT_VEC_FINI(&walk->crossing);
    WEFT_VEC_FINI(&walk->stack);
    free(walk->self_ns);
    free(walk->opening_self_ns);
    free(walk);
}
