/* SPDX-License-Identifier: MIT
 *
 * Calls are read once, on all workers, and only blocks that hold a function that blocks or a moment
 * that is asked about. Each thread keeps a tree of the paths that it was asked for; afterwards they
 * are put together in the order of threads, so that nothing depends on which was first.
 */
#include "model/calls/scan.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/room.h"
#include "model/calls/arguments.h"
#include "model/events.h"
#include "model/interplay/parts.h"
#include "model/states/thread_ends.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a thread was at a time: at the begin of a wait, or when it released. */
struct moment {
    uint64_t at_ns;
    uint32_t thread_id;
    uint32_t slot; /* 2 x wait, + 1 if it is its release; then operations that are held */
};

struct answer {
    uint32_t node; /* of the thread's tree; WEFT_ID_NONE: in no call */
    uint32_t depth;
};

enum { MOST_DESCRIPTOR = 1 << 20, SET_BYTES = 96 };

struct frame {
    uint64_t end_ns;
    uint32_t function_id;
    uint32_t node; /* WEFT_ID_NONE: not asked for */
};

/* A call that blocks, and that is no lock's. */
struct blocking {
    uint64_t start_ns, end_ns, object;
    uint32_t function_id, node, depth;
    uint32_t flags;  /* enum weft_call_flag */
    uint32_t caller; /* in the thread's `callers`; WEFT_ID_NONE: unknown */
    uint32_t n_set;  /* descriptors, if it waits for any of several */
    size_t set;      /* the first of them in the thread's `numbers` */
};

struct thread {
    struct {
        struct weft_interplay_node *items; /* local */
        size_t n, cap;
    } nodes;
    struct weft_map *node_of;
    struct {
        struct blocking *items;
        size_t n, cap;
    } blocking;
    struct {
        uint32_t *items;
        size_t n, cap;
    } numbers;
    struct weft_strtab *callers; /* that arguments of calls name; NULL: none did */
    uint64_t calls[WEFT_BLOCKING_KINDS];
};

struct job {
    struct weft_interplay *interplay;
    struct {
        struct moment *items; /* by thread, time */
        size_t n, cap;
    } moments;
    size_t n_waits;         /* that moments are of */
    struct answer *answers; /* by slot */
    struct thread *threads; /* by id */
    uint32_t *asked;        /* by thread: whose moments its calls answer; or WEFT_ID_NONE */
    uint8_t *is_awaited;    /* by function: a block that calls it is read */
};

/* One thread at work. */
struct work {
    struct job *job;
    struct weft_scan *scan;
    struct thread *thread;
    size_t next, end; /* in moments */
    uint64_t busy_ns; /* until then an outer call blocks */
    uint32_t busy_depth;
    bool is_busy;
    size_t arg;
    struct weft_events *texts;     /* arguments of calls */
    const struct weft_event *text; /* the next; NULL: there is none */
    struct {
        struct frame *items;
        size_t n, cap;
    } stack;
};

/* ---- paths ----------------------------------------------------------------------------------- */

static uint32_t node_add(struct thread *thread, uint32_t parent, uint32_t function_id)
{
    bool is_new;
    if (!thread->node_of)
        thread->node_of = weft_map_new();
    const uint32_t node =
        thread->node_of
            ? weft_map_add(thread->node_of, (uint64_t)parent << 32 | function_id, &is_new)
            : WEFT_MAP_NONE;
    if (node == WEFT_MAP_NONE || !is_new)
        return node;
    struct weft_interplay_node *made = WEFT_ROOM_PUSH(&thread->nodes);
    if (!made)
        return WEFT_MAP_NONE;
    *made = (struct weft_interplay_node){ parent, function_id };
    return node;
}

/* The node of the innermost of the first `depth` frames. False without memory. */
static bool node_of(struct work *work, size_t depth, uint32_t *node)
{
    size_t from = depth;
    *node = WEFT_ID_NONE;
    while (from > 0 && work->stack.items[from - 1].node == WEFT_ID_NONE)
        from--;
    if (from > 0)
        *node = work->stack.items[from - 1].node;
    for (; from < depth; from++) {
        struct frame *frame = &work->stack.items[from];
        *node = node_add(work->thread, *node, frame->function_id);
        if (*node == WEFT_MAP_NONE)
            return false;
        frame->node = *node;
    }
    return true;
}

/* ---- moments --------------------------------------------------------------------------------- */

static enum weft_code answer(struct work *work, struct weft_err *err)
{
    const struct moment *moment = &work->job->moments.items[work->next++];
    struct answer *answer = &work->job->answers[moment->slot];
    if (!node_of(work, work->stack.n, &answer->node))
        return weft_no_memory(err, "calls that block");
    answer->depth = work->stack.n ? (uint32_t)work->stack.n - 1 : 0;
    return WEFT_OK;
}

/* Calls that have ended; one that ends at this very time is still there if it blocks. */
static void pop(struct work *work, uint64_t at_ns)
{
    const struct weft_blocking_use *uses = work->job->interplay->uses;
    while (work->stack.n) {
        const struct frame *top = &work->stack.items[work->stack.n - 1];
        if (top->end_ns > at_ns || (top->end_ns == at_ns && uses[top->function_id].kind))
            break;
        work->stack.n--;
    }
}

/* Answers what is asked of times before `until_ns`. */
static enum weft_code answer_before(struct work *work, uint64_t until_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && work->next < work->end &&
           work->job->moments.items[work->next].at_ns < until_ns) {
        pop(work, work->job->moments.items[work->next].at_ns);
        code = answer(work, err);
    }
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static enum weft_code push(struct work *work, uint32_t depth, uint32_t function_id, uint64_t end_ns,
                           struct weft_err *err)
{
    if (work->stack.n > depth)
        work->stack.n = depth;
    struct frame *frame = WEFT_ROOM_PUSH(&work->stack);
    if (!frame)
        return weft_no_memory(err, "calls that block");
    *frame = (struct frame){ end_ns, function_id, WEFT_ID_NONE };
    return WEFT_OK;
}

static uint64_t first_argument(struct work *work, const struct weft_calls *calls, size_t row)
{
    while (work->arg < calls->n_args && calls->arg_row[work->arg] < row)
        work->arg++;
    return work->arg < calls->n_args && calls->arg_row[work->arg] == row
               ? calls->arg_value[work->arg]
               : UINT64_MAX;
}

/* All arguments of a wait for any of several, if all can be descriptors: the call of another source
 * has a pointer to them. False without memory. */
static bool take_set(struct work *work, const struct weft_calls *calls, size_t row,
                     struct blocking *call)
{
    call->set = work->thread->numbers.n;
    for (size_t arg = work->arg; arg < calls->n_args && calls->arg_row[arg] == row; arg++) {
        if (calls->arg_value[arg] > MOST_DESCRIPTOR) {
            work->thread->numbers.n = call->set;
            call->n_set = 0;
            return true;
        }
        uint32_t *number = WEFT_ROOM_PUSH(&work->thread->numbers);
        if (!number)
            return false;
        *number = (uint32_t)calls->arg_value[arg];
        call->n_set++;
    }
    return true;
}

/* The caller, if the arguments of the call contain it. Rows are asked for in ascending order. */
static enum weft_code find_caller(struct work *work, uint64_t row, uint32_t *caller,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    *caller = WEFT_ID_NONE;
    while (code == WEFT_OK && work->text && work->text->value < row)
        code = weft_events_next(work->texts, &work->text, err);
    if (code != WEFT_OK || !work->text || work->text->value != row)
        return code;
    const struct weft_str name = weft_arguments_caller(work->text->payload);
    struct thread *thread = work->thread;
    if (name.n_bytes && !thread->callers)
        thread->callers = weft_strtab_new();
    if (name.n_bytes && !thread->callers)
        return weft_no_memory(err, "calls that block");
    return name.n_bytes ? weft_strtab_intern(thread->callers, name, caller, err) : WEFT_OK;
}

/* A call that blocks: outermost ones count, and those of locks are known already. */
static enum weft_code see_blocking(struct work *work, const struct weft_calls *calls, size_t row,
                                   struct weft_err *err)
{
    const struct weft_blocking_use *use = &work->job->interplay->uses[calls->function_id[row]];
    const bool is_inner = work->is_busy && calls->depth[row] > work->busy_depth &&
                          calls->start_ns[row] <= work->busy_ns;
    enum weft_code code = WEFT_OK;
    if (!is_inner)
        while (code == WEFT_OK && work->next < work->end &&
               work->job->moments.items[work->next].at_ns == calls->start_ns[row])
            code = answer(work, err);
    if (code != WEFT_OK || is_inner || use->kind == WEFT_BLOCKING_RELEASE)
        return code;
    work->is_busy = true;
    work->busy_ns = calls->end_ns[row];
    work->busy_depth = calls->depth[row];
    if (use->lock.role != WEFT_LOCK_NO_ROLE)
        return WEFT_OK;
    struct blocking *made = WEFT_ROOM_PUSH(&work->thread->blocking);
    if (!made)
        return weft_no_memory(err, "calls that block");
    *made = (struct blocking){ .start_ns = calls->start_ns[row],
                               .end_ns = calls->end_ns[row],
                               .object = first_argument(work, calls, row),
                               .function_id = calls->function_id[row],
                               .depth = calls->depth[row],
                               .flags = calls->flags ? calls->flags[row] : 0 };
    if (use->mode == WEFT_WAIT_FOR_ANY && use->shared == WEFT_SHARED_FILES &&
        !take_set(work, calls, row, made))
        return weft_no_memory(err, "calls that block");
    made->caller = WEFT_ID_NONE;
    if (!work->scan->is_cut)
        code = find_caller(work, calls->first_row + row, &made->caller, err);
    if (code != WEFT_OK)
        return code;
    return node_of(work, work->stack.n, &made->node) ? WEFT_OK
                                                     : weft_no_memory(err, "calls that block");
}

static enum weft_code see_calls(struct work *work, const struct weft_calls *calls,
                                struct weft_err *err)
{
    const struct weft_blocking_use *uses = work->job->interplay->uses;
    uint64_t next_ns =
        work->next < work->end ? work->job->moments.items[work->next].at_ns : UINT64_MAX;
    enum weft_code code = WEFT_OK;
    work->arg = 0;
    for (size_t row = 0; row < calls->n_rows && code == WEFT_OK; row++) {
        const uint32_t function_id = calls->function_id[row];
        const uint8_t kind = uses[function_id].kind;
        if (calls->start_ns[row] >= work->job->interplay->to_ns)
            break;
        if (next_ns < calls->start_ns[row]) {
            code = answer_before(work, calls->start_ns[row], err);
            next_ns =
                work->next < work->end ? work->job->moments.items[work->next].at_ns : UINT64_MAX;
        }
        WEFT_THEN(code, push(work, calls->depth[row], function_id, calls->end_ns[row], err));
        work->thread->calls[kind]++;
        if (kind == WEFT_BLOCKING_OTHER || code != WEFT_OK)
            continue;
        code = see_blocking(work, calls, row, err);
        next_ns = work->next < work->end ? work->job->moments.items[work->next].at_ns : UINT64_MAX;
    }
    return code;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint64_t begin_of(const struct weft_scan *scan, uint64_t block)
{
    return block < scan->thread->n_blocks ? weft_scan_block(scan, block)->first_ns : UINT64_MAX;
}

/* Whether a block must be read. */
static enum weft_code is_wanted(struct work *work, uint64_t block, bool *is_it,
                                struct weft_err *err)
{
    const struct job *job = work->job;
    const uint64_t end_ns = begin_of(work->scan, block + 1);
    const uint32_t *ids;
    size_t n_ids;
    *is_it = work->next < work->end && job->moments.items[work->next].at_ns < end_ns;
    if (*is_it)
        return WEFT_OK;
    enum weft_code code = weft_scan_functions(work->scan, block, &ids, &n_ids, err);
    for (size_t i = 0; code == WEFT_OK && i < n_ids && !*is_it; i++)
        *is_it = job->is_awaited[ids[i]];
    return code;
}

static enum weft_code skip_blocks(struct work *work, struct weft_err *err)
{
    struct weft_scan *scan = work->scan;
    enum weft_code code = WEFT_OK;
    bool is_it = false;
    while (code == WEFT_OK && scan->next_block < scan->thread->n_blocks) {
        code = is_wanted(work, scan->next_block, &is_it, err);
        if (code != WEFT_OK || is_it)
            break;
        const uint32_t n_rows = weft_scan_block(scan, scan->next_block)->n_rows;
        work->thread->calls[WEFT_BLOCKING_OTHER] += n_rows;
        weft_progress_add(scan->progress, n_rows);
        weft_scan_seek(scan, scan->next_block + 1);
    }
    return code;
}

/* Calls that are open when a block begins. */
static enum weft_code see_open(struct work *work, const struct weft_calls *calls,
                               struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t depth = 0; depth < calls->n_open && code == WEFT_OK; depth++) {
        const struct weft_open_call *open = &calls->open[depth];
        if (depth < work->stack.n && work->stack.items[depth].function_id == open->function_id &&
            work->stack.items[depth].end_ns == open->end_ns)
            continue;
        code = push(work, depth, open->function_id, open->end_ns, err);
    }
    if (work->stack.n > calls->n_open)
        work->stack.n = calls->n_open;
    return code;
}

static enum weft_code scan_blocks(struct work *work, struct weft_err *err)
{
    struct weft_scan *scan = work->scan;
    const struct weft_calls *calls = NULL;
    bool is_cut_due = true;
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK) {
        if (!is_cut_due)
            code = skip_blocks(work, err);
        WEFT_THEN(code, weft_scan_next(scan, &calls, err));
        if (code != WEFT_OK || !calls)
            break;
        is_cut_due = false;
        if (calls->n_rows == 0 || calls->start_ns[0] < work->job->interplay->to_ns) {
            if (!scan->is_cut)
                code = see_open(work, calls, err);
            WEFT_THEN(code, see_calls(work, calls, err));
        }
        if (code == WEFT_OK && !scan->is_cut)
            code = answer_before(work, begin_of(scan, scan->next_block), err);
    }
    return code == WEFT_OK ? answer_before(work, UINT64_MAX, err) : code;
}

static size_t first_moment(const struct job *job, uint64_t thread_id)
{
    size_t low = 0, high = job->moments.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (job->moments.items[middle].thread_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum weft_code scan_thread(void *context, struct weft_scan *scan, unsigned worker,
                                  struct weft_err *err)
{
    struct job *job = context;
    struct work work = { .job = job, .scan = scan, .thread = &job->threads[scan->thread_id] };
    const uint32_t asked = job->asked[scan->thread_id];
    (void)worker;
    if (asked != WEFT_ID_NONE) {
        work.next = first_moment(job, asked);
        work.end = first_moment(job, (uint64_t)asked + 1);
    }
    enum weft_code code =
        weft_events_open(job->interplay->trace, scan->thread_id, 1U << WEFT_EVENT_CALL_ARGS, 0,
                         UINT64_MAX, &work.texts, err);
    WEFT_THEN(code, weft_events_next(work.texts, &work.text, err));
    WEFT_THEN(code, scan_blocks(&work, err));
    weft_events_close(work.texts);
    WEFT_ROOM_FINI(&work.stack);
    return code;
}

/* ---- before and after ------------------------------------------------------------------------ */

static int by_thread(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static enum weft_code make_moments(struct job *job, struct weft_err *err)
{
    for (size_t i = 0; i < job->interplay->waits.n; i++) {
        const struct weft_wait *wait = &job->interplay->waits.items[i];
        struct moment *moment = WEFT_ROOM_PUSH(&job->moments);
        if (!moment)
            return weft_no_memory(err, "calls that block");
        *moment = (struct moment){ wait->start_ns, wait->waiter_id, (uint32_t)(2 * i) };
        if (wait->releaser_id == WEFT_ID_NONE)
            continue;
        moment = WEFT_ROOM_PUSH(&job->moments);
        if (!moment)
            return weft_no_memory(err, "calls that block");
        *moment = (struct moment){ wait->release_ns, wait->releaser_id, (uint32_t)(2 * i + 1) };
    }
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(job->interplay->locks, &n_ops);
    for (size_t i = 0; i < n_ops; i++) {
        if (!weft_lock_is_held(weft_locks_object(job->interplay->locks, ops[i].object)->kind) ||
            ops[i].flags & (WEFT_LOCK_FAILED | WEFT_LOCK_PARTIAL))
            continue;
        struct moment *moment = WEFT_ROOM_PUSH(&job->moments);
        if (!moment)
            return weft_no_memory(err, "calls that block");
        *moment = (struct moment){ ops[i].got_ns, ops[i].thread_id,
                                   (uint32_t)(2 * job->interplay->waits.n + i) };
    }
    if (job->moments.n)
        weft_room_sort(job->moments.items, job->moments.n, sizeof *job->moments.items, by_thread);
    return WEFT_OK;
}

/* Of twins, the one of most calls answers. */
static void choose_threads(struct job *job)
{
    const struct weft_trace *trace = job->interplay->trace;
    const struct weft_twins *twins = weft_locks_twins(job->interplay->locks);
    for (uint32_t id = 0; id < twins->n_threads; id++)
        job->asked[id] = WEFT_ID_NONE;
    for (uint32_t id = 0; id < twins->n_threads; id++) {
        uint32_t best = id, twin = id;
        if (twins->first[id] != id)
            continue;
        do {
            const struct weft_model_thread *a = weft_trace_thread(trace, twin);
            const struct weft_model_thread *b = weft_trace_thread(trace, best);
            if (a->calls + a->cut_calls > b->calls + b->cut_calls)
                best = twin;
            twin = twins->next[twin];
        } while (twin != id);
        job->asked[best] = id;
    }
}

static enum weft_code prepare(struct job *job, struct weft_err *err)
{
    struct weft_interplay *interplay = job->interplay;
    const size_t n_functions = weft_trace_n_functions(interplay->trace);
    const size_t n_threads = weft_trace_n_threads(interplay->trace);
    size_t n_ops;
    (void)weft_locks_ops(interplay->locks, &n_ops);
    const size_t n_slots = 2 * interplay->waits.n + n_ops;
    if (n_slots >= UINT32_MAX)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "too many waits: ask for a shorter interval");
    job->answers = weft_room_new(n_slots + 1, sizeof *job->answers);
    job->threads = weft_room_new(n_threads + 1, sizeof *job->threads);
    job->asked = weft_room_new(n_threads + 1, sizeof *job->asked);
    job->is_awaited = weft_room_new(n_functions + 1, 1);
    if (!job->answers || !job->threads || !job->asked || !job->is_awaited)
        return weft_no_memory(err, "calls that block");
    for (size_t i = 0; i < n_functions; i++)
        job->is_awaited[i] = interplay->uses[i].kind != WEFT_BLOCKING_OTHER;
    for (size_t i = 0; i < n_slots; i++)
        job->answers[i].node = WEFT_ID_NONE;
    job->n_waits = interplay->waits.n;
    choose_threads(job);
    return make_moments(job, err);
}

/* The nodes of a thread become nodes of all. */
static enum weft_code merge_nodes(struct weft_interplay *interplay, const struct thread *thread,
                                  uint32_t *global, struct weft_err *err)
{
    for (size_t i = 0; i < thread->nodes.n; i++) {
        const struct weft_interplay_node *node = &thread->nodes.items[i];
        const uint32_t parent = node->parent == WEFT_ID_NONE ? WEFT_ID_NONE : global[node->parent];
        bool is_new;
        global[i] =
            weft_map_add(interplay->node_of, (uint64_t)parent << 32 | node->function_id, &is_new);
        struct weft_interplay_node *made =
            global[i] != WEFT_MAP_NONE && is_new ? WEFT_ROOM_PUSH(&interplay->nodes) : NULL;
        if (global[i] == WEFT_MAP_NONE || (is_new && !made))
            return weft_no_memory(err, "calls that block");
        if (is_new)
            *made = (struct weft_interplay_node){ parent, node->function_id };
    }
    return WEFT_OK;
}

/* A path of the program's own functions needs no other name. */
static bool is_plain(const struct weft_interplay *interplay, uint32_t node)
{
    for (; node != WEFT_ID_NONE; node = interplay->nodes.items[node].parent) {
        const struct weft_blocking_use *use =
            &interplay->uses[interplay->nodes.items[node].function_id];
        if (use->kind == WEFT_BLOCKING_OTHER && use->lock.role == WEFT_LOCK_NO_ROLE)
            return true;
    }
    return false;
}

static uint32_t place_of(struct weft_interplay *interplay, uint32_t node, uint32_t named)
{
    const struct weft_str name = named == WEFT_ID_NONE || is_plain(interplay, node)
                                     ? WEFT_STR("")
                                     : interplay->places.items[named].name;
    return node == WEFT_ID_NONE ? named : weft_interplay_place(interplay, node, name);
}

/* What the function of a wait or release shows of its object. */
static void refine(struct weft_interplay *interplay, struct weft_wait *wait, uint32_t node)
{
    const struct weft_blocking_use *use =
        node == WEFT_ID_NONE ? NULL : &interplay->uses[interplay->nodes.items[node].function_id];
    struct weft_shared_object *object = &interplay->objects.items[wait->object];
    if (!use || use->kind == WEFT_BLOCKING_OTHER)
        return;
    if (use->shared == WEFT_SHARED_SEMAPHORE && object->kind == WEFT_SHARED_CONDITION)
        object->kind = WEFT_SHARED_SEMAPHORE;
    if (use->kind != WEFT_BLOCKING_WAIT)
        return;
    if (use->is_timed)
        wait->flags |= WEFT_CORRESPONDENCE_TIMED;
    if (use->mode != WEFT_WAIT_FOR_ONE)
        wait->mode = use->mode;
}

static enum weft_code take_answers(struct job *job, uint32_t thread_id, const uint32_t *global,
                                   struct weft_err *err)
{
    struct weft_interplay *interplay = job->interplay;
    const uint32_t asked = job->asked[thread_id];
    if (asked == WEFT_ID_NONE)
        return WEFT_OK;
    const size_t end = first_moment(job, (uint64_t)asked + 1);
    for (size_t i = first_moment(job, asked); i < end; i++) {
        const uint32_t slot = job->moments.items[i].slot;
        const struct answer *answer = &job->answers[slot];
        const uint32_t node = answer->node == WEFT_ID_NONE ? WEFT_ID_NONE : global[answer->node];
        if (slot >= 2 * job->n_waits) {
            uint32_t *place = &interplay->hold_place[slot - 2 * job->n_waits];
            *place = place_of(interplay, node, *place);
            continue;
        }
        struct weft_wait *wait = &interplay->waits.items[slot / 2];
        uint32_t *site = slot % 2 ? &wait->release_site : &wait->wait_site;
        *(slot % 2 ? &wait->release_depth : &wait->wait_depth) = answer->depth;
        *site = place_of(interplay, node, *site);
        refine(interplay, wait, node);
        if (*site == WEFT_ID_NONE && node != WEFT_ID_NONE)
            return weft_no_memory(err, "calls that block");
    }
    return WEFT_OK;
}

/* "descriptors 3, 5, 7": a wait for any of them. */
static struct weft_str name_set(const struct blocking *call, const uint32_t *numbers,
                                char text[SET_BYTES])
{
    size_t n = (size_t)snprintf(text, SET_BYTES, "descriptors");
    for (uint32_t i = 0; i < call->n_set; i++) {
        const int more = snprintf(text + n, SET_BYTES - n, "%s %" PRIu32, i ? "," : "", numbers[i]);
        if (more < 0 || n + (size_t)more + 4 >= SET_BYTES) {
            memcpy(text + n, ", ...", i ? 5 : 0);
            n += i ? 5 : 0;
            break;
        }
        n += (size_t)more;
    }
    return (struct weft_str){ text, n };
}

/* Distinguishes sets whose names are too long. */
static uint64_t number_of_set(const struct blocking *call, const uint32_t *numbers)
{
    uint64_t hash = call->n_set;
    for (uint32_t i = 0; i < call->n_set; i++)
        hash = (hash ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return hash;
}

/* What a call waits for, reads or writes; its function stands for what is unknown. */
static uint32_t object_of(struct weft_interplay *interplay, uint64_t pid,
                          const struct blocking *call, const uint32_t *numbers)
{
    const struct weft_blocking_use *use = &interplay->uses[call->function_id];
    const enum weft_shared_kind kind = (enum weft_shared_kind)use->shared;
    const struct weft_str name = weft_trace_function(interplay->trace, call->function_id)->name;
    const bool is_any = use->mode == WEFT_WAIT_FOR_ANY;
    char text[SET_BYTES];
    if (kind != WEFT_SHARED_FILES || call->object == UINT64_MAX)
        return weft_interplay_object(interplay, kind, pid, UINT64_MAX, name);
    if (call->n_set > 1)
        return weft_interplay_object(interplay, kind, pid, number_of_set(call, numbers + call->set),
                                     name_set(call, numbers + call->set, text));
    return is_any && call->object > MOST_DESCRIPTOR
               ? weft_interplay_object(interplay, kind, pid, UINT64_MAX, name)
               : weft_interplay_object(interplay, kind, pid, call->object, WEFT_STR(""));
}

/* Input and output, and waits for what is no lock. */
static enum weft_code take_blocking(struct weft_interplay *interplay, uint32_t thread_id,
                                    const struct blocking *call, const struct thread *thread,
                                    uint32_t node, struct weft_thread_ends *ends,
                                    struct weft_err *err)
{
    const uint32_t *numbers = thread->numbers.items;
    const struct weft_blocking_use *use = &interplay->uses[call->function_id];
    const uint32_t rep = weft_locks_twins(interplay->locks)->first[thread_id];
    const uint64_t pid = weft_trace_thread(interplay->trace, thread_id)->info.pid;
    const uint32_t object = object_of(interplay, pid, call, numbers);
    const struct weft_str caller = call->caller == WEFT_ID_NONE || is_plain(interplay, node)
                                       ? WEFT_STR("")
                                       : weft_strtab_get(thread->callers, call->caller);
    const uint32_t site = weft_interplay_place(interplay, node, caller);
    uint64_t end_ns = call->end_ns;
    if (call->flags & WEFT_CALL_CUT_END) {
        WEFT_TRY(weft_thread_ends_find(ends, rep, call->start_ns, &end_ns, err));
        end_ns = weft_max_u64(end_ns, call->end_ns);
    }
    end_ns = weft_min_u64(end_ns, interplay->to_ns);
    const bool is_cut = call->flags & WEFT_CALL_CUT_END || call->end_ns > interplay->to_ns;
    const bool has_failed = !is_cut && weft_interplay_has_failed(interplay, rep, end_ns);
    if (object == WEFT_ID_NONE || site == WEFT_ID_NONE)
        return weft_no_memory(err, "calls that block");
    if (use->kind == WEFT_BLOCKING_IO) {
        struct weft_io_call *io = WEFT_ROOM_PUSH(&interplay->io);
        if (!io)
            return weft_no_memory(err, "calls that block");
        *io = (struct weft_io_call){ call->start_ns, end_ns, rep, object, site, call->depth };
        return WEFT_OK;
    }
    struct weft_wait *wait = WEFT_ROOM_PUSH(&interplay->waits);
    if (!wait)
        return weft_no_memory(err, "calls that block");
    *wait = (struct weft_wait){
        .start_ns = call->start_ns,
        .end_ns = end_ns,
        .waiter_id = rep,
        .releaser_id = WEFT_ID_NONE,
        .holder_id = WEFT_ID_NONE,
        .object = object,
        .wait_site = site,
        .release_site = WEFT_ID_NONE,
        .wait_depth = call->depth,
        .kind = use->shared,
        .mode = use->mode,
        .n_awaited = call->n_set > 1 ? call->n_set : 0,
        .flags = (uint8_t)((use->is_timed ? WEFT_CORRESPONDENCE_TIMED : 0) |
                           (call->flags & WEFT_CALL_CUT_START ? WEFT_CORRESPONDENCE_CUT_START : 0) |
                           (has_failed ? WEFT_CORRESPONDENCE_FAILED : 0) |
                           (is_cut ? WEFT_CORRESPONDENCE_CUT_END : 0)),
        .unknown = is_cut                             ? WEFT_UNKNOWN_CUT_END
                   : has_failed                       ? WEFT_UNKNOWN_FAILED
                   : use->shared == WEFT_SHARED_TIMER ? WEFT_UNKNOWN_TIMER
                                                      : WEFT_UNKNOWN_OUTSIDE,
    };
    return WEFT_OK;
}

static enum weft_code take_thread(struct job *job, uint32_t thread_id,
                                  struct weft_thread_ends *ends, struct weft_err *err)
{
    const struct thread *thread = &job->threads[thread_id];
    uint32_t *global = weft_room_new(thread->nodes.n + 1, sizeof *global);
    enum weft_code code = global ? merge_nodes(job->interplay, thread, global, err)
                                 : weft_no_memory(err, "calls that block");
    WEFT_THEN(code, take_answers(job, thread_id, global, err));
    for (size_t i = 0; i < thread->blocking.n && code == WEFT_OK; i++)
        code = take_blocking(job->interplay, thread_id, &thread->blocking.items[i], thread,
                             global[thread->blocking.items[i].node], ends, err);
    for (unsigned kind = 0; kind < WEFT_BLOCKING_KINDS; kind++)
        job->interplay->calls[kind] += thread->calls[kind];
    weft_room_free(global);
    return code;
}

static int by_begin(const void *a, const void *b)
{
    const struct weft_io_call *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

/* The kinds of waits, now that those of objects are known. */
static void finish(struct weft_interplay *interplay)
{
    for (size_t i = 0; i < interplay->waits.n; i++) {
        struct weft_wait *wait = &interplay->waits.items[i];
        wait->kind = interplay->objects.items[wait->object].kind;
    }
    weft_interplay_sort(interplay);
    if (interplay->io.n)
        weft_room_sort(interplay->io.items, interplay->io.n, sizeof *interplay->io.items, by_begin);
}

enum weft_code weft_interplay_scan(struct weft_interplay *interplay, const struct weft_run *run,
                                   struct weft_err *err)
{
    struct job job = { .interplay = interplay };
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    struct weft_thread_ends ends =
        weft_thread_ends_of(interplay->trace, weft_locks_twins(interplay->locks));
    enum weft_code code = prepare(&job, err);
    weft_progress_start(run->progress, "reading calls", "calls",
                        weft_scan_calls(interplay->trace, NULL, 0));
    WEFT_THEN(code,
              weft_scan_threads(interplay->trace, NULL, 0, NULL, run, scan_thread, &job, err));
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        code = take_thread(&job, id, &ends, err);
    if (code == WEFT_OK)
        finish(interplay);
    for (uint32_t id = 0; job.threads && id < n_threads; id++) {
        WEFT_ROOM_FINI(&job.threads[id].nodes);
        WEFT_ROOM_FINI(&job.threads[id].blocking);
        WEFT_ROOM_FINI(&job.threads[id].numbers);
        weft_strtab_free(job.threads[id].callers);
        weft_map_free(job.threads[id].node_of);
    }
    WEFT_ROOM_FINI(&job.moments);
    weft_room_free(job.answers);
    weft_room_free(job.threads);
    weft_room_free(job.asked);
    weft_room_free(job.is_awaited);
    return code;
}
