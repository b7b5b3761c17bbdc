/* SPDX-License-Identifier: MIT
 *
 * Finds the release that ended a wait. Of a lock that is held, the last release before the wait's
 * end: the lock was not free before. A signal ends one wait, and none that another signal has
 * ended: of those that wait when it comes, the one that goes on first; a broadcast ends all that
 * wait. At a barrier it is the last one to come, at a join the thread that ends.
 */
#include "base/heap.h"
#include "base/map.h"
#include "base/room.h"
#include "model/events.h"
#include "model/interplay/parts.h"

#include <stdlib.h>

/* What a thread may take to end after its last word. */
#define ENDING_NS UINT64_C(1000000)
/* What a join may take that has not to wait. */
#define AT_ONCE_NS UINT64_C(50000)

/* A thread was created: its creator refers to it by this number. */
struct handle {
    uint64_t pid, number, at_ns;
    uint32_t host_id, thread_id;
};

/* A thread is last heard of. */
struct ending {
    uint64_t pid, at_ns;
    uint32_t host_id, thread_id;
};

struct join {
    struct weft_interplay *interplay;
    const struct weft_lock_op *ops;
    size_t n_ops;
    const struct weft_lock_signal *signals;
    size_t n_signals;
    uint32_t *signal_of; /* by operation: place of the signal that ended it, + 1 */
    uint8_t *is_one_of;  /* by operation: another signal may have */
    struct {
        uint32_t *items; /* operations of an object by start; those that wait; of the signaller */
        size_t n, cap;
    } order, active, own;
    uint32_t n_shared;         /* signals for which more than one waited */
    uint32_t *n_shared_before; /* by operation: when it began to wait */
    uint32_t *n_waiting;       /* by thread: operations of it in `active` */
    struct {
        struct handle *items; /* by host, process, number, time */
        size_t n, cap;
    } handles;
    struct {
        struct ending *items; /* by host, process, time, thread */
        size_t n, cap;
    } endings;
};

/* ---- signals --------------------------------------------------------------------------------- */

static int by_start(const void *a, const void *b, void *context)
{
    const struct weft_lock_op *ops = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (ops[i].start_ns != ops[j].start_ns)
        return ops[i].start_ns < ops[j].start_ns ? -1 : 1;
    return (i > j) - (i < j);
}

/* Operations that wait are a heap, at its top the one that goes on first: operations of an object
 * are in that order. */
#define IS_BEFORE(a, b) ((a) < (b))

static void add_active(struct join *join, uint32_t op)
{
    uint32_t *heap = join->active.items;
    size_t at = join->active.n++;
    for (; at > 0 && heap[(at - 1) / 2] > op; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = op;
}

static uint32_t take_active(struct join *join)
{
    uint32_t *heap = join->active.items;
    const uint32_t op = heap[0];
    heap[0] = heap[--join->active.n];
    WEFT_HEAP_SINK(heap, join->active.n, 0, IS_BEFORE);
    return op;
}

static void begin_to_wait(struct join *join, uint32_t op)
{
    join->n_shared_before[op] = join->n_shared;
    join->n_waiting[join->ops[op].thread_id]++;
    add_active(join, op);
}

/* While it waited, a signal may have ended another one. */
static void end_to_wait(struct join *join, uint32_t op)
{
    join->n_waiting[join->ops[op].thread_id]--;
    join->is_one_of[op] |= join->n_shared > join->n_shared_before[op];
}

/* Signal `at` ends one of those that wait, or all, but none of its own thread. */
static void deliver(struct join *join, size_t at)
{
    const struct weft_lock_signal *signal = &join->signals[at];
    const size_t n_possible = join->active.n - join->n_waiting[signal->thread_id];
    bool is_over = false;
    join->own.n = 0;
    while (join->active.n > 0 && !is_over) {
        const uint32_t op = take_active(join);
        if (join->ops[op].thread_id == signal->thread_id) {
            join->own.items[join->own.n++] = op;
            continue;
        }
        is_over = !signal->is_broadcast;
        join->n_shared += is_over && n_possible > 1;
        join->signal_of[op] = (uint32_t)at + 1;
        end_to_wait(join, op);
    }
    while (join->own.n > 0)
        add_active(join, join->own.items[--join->own.n]);
}

/* Whether a signal may have ended it. */
static bool can_be_ended(const struct join *join, const struct weft_lock_op *op)
{
    return op->got_ns > op->start_ns && !(op->flags & WEFT_LOCK_FAILED) &&
           !weft_interplay_has_failed(join->interplay, op->thread_id, op->got_ns);
}

static enum weft_code sweep(struct join *join, size_t from, size_t to, size_t signal,
                            size_t signal_end, struct weft_err *err)
{
    size_t next = 0;
    join->order.n = join->active.n = join->own.n = 0;
    for (size_t i = from; i < to; i++) {
        uint32_t *place = WEFT_ROOM_PUSH(&join->order);
        if (!place || !WEFT_ROOM_PUSH(&join->active) || !WEFT_ROOM_PUSH(&join->own))
            return weft_no_memory(err, "waits");
        *place = (uint32_t)i;
    }
    join->active.n = 0;
    weft_room_sort_r(join->order.items, join->order.n, sizeof *join->order.items, by_start,
                     (void *)(uintptr_t)join->ops);
    for (; signal < signal_end; signal++) {
        const uint64_t at_ns = join->signals[signal].at_ns;
        for (; next < join->order.n && join->ops[join->order.items[next]].start_ns <= at_ns; next++)
            if (can_be_ended(join, &join->ops[join->order.items[next]]))
                begin_to_wait(join, join->order.items[next]);
        while (join->active.n > 0 && join->ops[join->active.items[0]].got_ns < at_ns)
            end_to_wait(join, take_active(join));
        deliver(join, signal);
    }
    while (join->active.n > 0)
        end_to_wait(join, take_active(join));
    return WEFT_OK;
}

static bool is_signalled(uint8_t lock_kind)
{
    return lock_kind == WEFT_LOCK_CONDITION || lock_kind == WEFT_LOCK_SEMAPHORE ||
           lock_kind == WEFT_LOCK_FUTEX;
}

static enum weft_code match_signals(struct join *join, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t from = 0, to, signal = 0; from < join->n_ops && code == WEFT_OK; from = to) {
        const uint32_t object = join->ops[from].object;
        const struct weft_lock_object *known = weft_locks_object(join->interplay->locks, object);
        for (to = from + 1; to < join->n_ops && join->ops[to].object == object;)
            to++;
        while (signal < join->n_signals && join->signals[signal].object < object)
            signal++;
        size_t end = signal;
        while (end < join->n_signals && join->signals[end].object == object)
            end++;
        if (is_signalled(known->kind) && !known->is_untold && end > signal)
            code = sweep(join, from, to, signal, end, err);
        signal = end;
    }
    return code;
}

/* How many signals of others came while the operation waited; counts to 2. */
static unsigned signals_during(const struct join *join, const struct weft_lock_op *op)
{
    size_t low = 0, high = join->n_signals;
    unsigned n = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct weft_lock_signal *signal = &join->signals[middle];
        if (signal->object < op->object ||
            (signal->object == op->object && signal->at_ns < op->start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < join->n_signals && n < 2; low++) {
        const struct weft_lock_signal *signal = &join->signals[low];
        if (signal->object != op->object || signal->at_ns > op->got_ns)
            break;
        n += signal->thread_id != op->thread_id;
    }
    return n;
}

/* ---- what ended a wait ----------------------------------------------------------------------- */

static int by_handle(const void *a, const void *b)
{
    const struct handle *x = a, *y = b;
    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

static enum weft_code add_handle(struct join *join, const struct weft_event *event,
                                 struct weft_err *err)
{
    const struct weft_twins *twins = weft_locks_twins(join->interplay->locks);
    if (event->value == 0 || event->next_thread_id >= twins->n_threads)
        return WEFT_OK;
    const struct weft_thread_info *info =
        &weft_trace_thread(join->interplay->trace, event->next_thread_id)->info;
    struct handle *made = WEFT_ROOM_PUSH(&join->handles);
    if (!made)
        return weft_no_memory(err, "waits");
    *made = (struct handle){ .pid = info->pid,
                             .number = event->value,
                             .at_ns = event->time_ns,
                             .host_id = info->host_id,
                             .thread_id = twins->first[event->next_thread_id] };
    return WEFT_OK;
}

/* Handles of threads, where their creators recorded them. */
static enum weft_code read_handles(struct join *join, struct weft_err *err)
{
    const struct weft_interplay *interplay = join->interplay;
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    if (weft_trace_meta(interplay->trace)->events_of_kind[WEFT_EVENT_FORK] == 0 || n_threads == 0)
        return WEFT_OK;
    enum weft_code code = weft_events_open(interplay->trace, 0, UINT32_C(1) << WEFT_EVENT_FORK, 0,
                                           interplay->to_ns, &events, err);
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++) {
        weft_events_turn(events, id);
        while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK &&
               event)
            code = add_handle(join, event, err);
    }
    weft_events_close(events);
    if (join->handles.n)
        weft_room_sort(join->handles.items, join->handles.n, sizeof *join->handles.items,
                       by_handle);
    return code;
}

/* The thread that had the handle when the join ended: handles are used again. */
static uint32_t thread_of_handle(const struct join *join, const struct weft_lock_op *op)
{
    const struct weft_thread_info *own =
        &weft_trace_thread(join->interplay->trace, op->thread_id)->info;
    const struct handle wanted = {
        .pid = own->pid,
        .number = weft_locks_object(join->interplay->locks, op->object)->address,
        .at_ns = op->got_ns,
        .host_id = own->host_id,
        .thread_id = WEFT_ID_NONE
    };
    size_t low = 0, high = join->handles.n;
    while (low < high) { /* first that was made later */
        const size_t middle = low + (high - low) / 2;
        if (by_handle(&join->handles.items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct handle *found = low > 0 ? &join->handles.items[low - 1] : NULL;
    return found && found->number == wanted.number && found->pid == wanted.pid &&
                   found->host_id == wanted.host_id
               ? found->thread_id
               : WEFT_ID_NONE;
}

static int by_process(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

static bool find_endings(struct join *join)
{
    const struct weft_twins *twins = weft_locks_twins(join->interplay->locks);
    for (uint32_t id = 0; id < twins->n_threads; id++) {
        const struct weft_thread_info *info = &weft_trace_thread(join->interplay->trace, id)->info;
        if (twins->first[id] != id)
            continue;
        struct ending *made = WEFT_ROOM_PUSH(&join->endings);
        if (!made)
            return false;
        *made = (struct ending){ info->pid, join->interplay->last_ns[id], info->host_id, id };
    }
    if (join->endings.n)
        weft_room_sort(join->endings.items, join->endings.n, sizeof *join->endings.items,
                       by_process);
    return true;
}

/* The thread of the process that was the last to end meanwhile. Its end is recorded a little before
 * it is gone. O(log threads). */
static struct weft_lock_end last_ended(const struct join *join, const struct weft_lock_op *op,
                                       unsigned *n_found)
{
    const struct weft_thread_info *own =
        &weft_trace_thread(join->interplay->trace, op->thread_id)->info;
    const struct ending wanted = { own->pid, op->got_ns, own->host_id, WEFT_ID_NONE };
    const uint64_t least_ns = op->start_ns > ENDING_NS ? op->start_ns - ENDING_NS : 0;
    struct weft_lock_end end = { .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    size_t low = 0, high = join->endings.n;
    while (low < high) { /* first that ended later */
        const size_t middle = low + (high - low) / 2;
        if (by_process(&join->endings.items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n_found = 0; low > 0 && *n_found < 2; low--) {
        const struct ending *ending = &join->endings.items[low - 1];
        if (ending->pid != own->pid || ending->host_id != own->host_id || ending->at_ns < least_ns)
            break;
        if (ending->thread_id == op->thread_id)
            continue;
        *n_found += ending->at_ns < op->start_ns ? 2 : 1;
        if (end.thread_id == WEFT_ID_NONE)
            end =
                (struct weft_lock_end){ ending->at_ns > op->start_ns ? ending->at_ns : op->start_ns,
                                        ending->thread_id, WEFT_ID_NONE };
    }
    return end;
}

/* Of a join by its handle: its thread, if it ended until then; if no handles are recorded, the last
 * one to end. */
static struct weft_lock_end ended_thread(const struct join *join, const struct weft_lock_op *op,
                                         unsigned *n_found)
{
    const uint32_t joined = thread_of_handle(join, op);
    if (joined == WEFT_ID_NONE || joined == op->thread_id ||
        join->interplay->last_ns[joined] > op->got_ns)
        return last_ended(join, op, n_found);
    const uint64_t last_ns = join->interplay->last_ns[joined];
    *n_found = 1;
    return (struct weft_lock_end){ last_ns > op->start_ns ? last_ns : op->start_ns, joined,
                                   WEFT_ID_NONE };
}

static struct weft_lock_end end_of(const struct join *join, size_t at, uint8_t *confidence)
{
    const struct weft_locks *locks = join->interplay->locks;
    const struct weft_lock_op *op = &join->ops[at];
    const struct weft_lock_object *object = weft_locks_object(locks, op->object);
    struct weft_lock_end end = { .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    unsigned n_found = 1;
    if (object->kind == WEFT_LOCK_JOIN && object->thread_id == WEFT_ID_NONE) {
        end = ended_thread(join, op, &n_found);
    } else if (is_signalled(object->kind)) {
        if (join->signal_of[at]) {
            const struct weft_lock_signal *signal = &join->signals[join->signal_of[at] - 1];
            end = (struct weft_lock_end){ signal->at_ns, signal->thread_id, signal->site };
            n_found = join->is_one_of[at] ? 2 : signals_during(join, op);
        }
    } else {
        end = weft_locks_ended_by(locks, at);
    }
    if (end.thread_id != WEFT_ID_NONE)
        *confidence = n_found > 1 ? WEFT_SURETY_AMBIGUOUS : WEFT_SURETY_RELEASE;
    return end;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* It has not ended when its thread, the trace, or what was read of it did. */
static bool is_unfinished(const struct join *join, const struct weft_lock_op *op)
{
    return op->flags & WEFT_LOCK_OPEN ||
           (op->flags & WEFT_LOCK_FAILED && op->got_ns >= join->interplay->to_ns);
}

static uint8_t flags_of(const struct join *join, const struct weft_lock_op *op,
                        const struct weft_lock_object *object)
{
    unsigned flags = 0;
    if (op->flags & WEFT_LOCK_FAILED)
        flags |= is_unfinished(join, op) ? WEFT_CORRESPONDENCE_CUT_END : WEFT_CORRESPONDENCE_FAILED;
    else if (!weft_lock_is_held(object->kind) && object->kind != WEFT_LOCK_BARRIER &&
             weft_interplay_has_failed(join->interplay, op->thread_id, op->got_ns))
        flags |= WEFT_CORRESPONDENCE_FAILED;
    if (op->flags & WEFT_LOCK_NO_REQUEST)
        flags |= WEFT_CORRESPONDENCE_CUT_START;
    if (object->is_untold)
        flags |= WEFT_CORRESPONDENCE_NO_OBJECT;
    if (op->flags & WEFT_LOCK_SHARED)
        flags |= WEFT_CORRESPONDENCE_SHARED;
    if (op->flags & WEFT_LOCK_REACQUIRED)
        flags |= WEFT_CORRESPONDENCE_REACQUIRED;
    return (uint8_t)flags;
}

static uint8_t unknown_of(unsigned flags)
{
    if (flags & WEFT_CORRESPONDENCE_CUT_END)
        return WEFT_UNKNOWN_CUT_END;
    if (flags & WEFT_CORRESPONDENCE_FAILED)
        return WEFT_UNKNOWN_FAILED;
    return flags & WEFT_CORRESPONDENCE_NO_OBJECT ? WEFT_UNKNOWN_NO_OBJECT : WEFT_UNKNOWN_NO_RELEASE;
}

/* The name of a site; a path may replace it later. */
static uint32_t place_of_site(struct join *join, uint32_t site)
{
    return weft_interplay_place(join->interplay, WEFT_ID_NONE,
                                weft_locks_site(join->interplay->locks, site));
}

/* Of a wait that is open: whose hold, or life, it waits for the end of. */
static uint32_t holder_of(const struct join *join, size_t at)
{
    const struct weft_lock_op *op = &join->ops[at];
    const struct weft_lock_object *object = weft_locks_object(join->interplay->locks, op->object);
    if (!is_unfinished(join, op))
        return WEFT_ID_NONE;
    return object->kind == WEFT_LOCK_JOIN && object->thread_id == WEFT_ID_NONE
               ? thread_of_handle(join, op)
               : weft_locks_holder(join->interplay->locks, at);
}

static enum weft_code add_wait(struct join *join, size_t at, struct weft_err *err)
{
    struct weft_interplay *interplay = join->interplay;
    const struct weft_lock_op *op = &join->ops[at];
    const struct weft_lock_object *object = weft_locks_object(interplay->locks, op->object);
    uint8_t confidence = WEFT_SURETY_NONE;
    const uint8_t flags = flags_of(join, op, object);
    const bool has_end =
        !(flags & (WEFT_CORRESPONDENCE_CUT_END | WEFT_CORRESPONDENCE_FAILED)) && !object->is_untold;
    const struct weft_lock_end end =
        has_end ? end_of(join, at, &confidence)
                : (struct weft_lock_end){ .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    struct weft_wait *wait = WEFT_ROOM_PUSH(&interplay->waits);
    if (!wait)
        return weft_no_memory(err, "waits");
    *wait = (struct weft_wait){
        .start_ns = op->start_ns,
        .end_ns = op->got_ns,
        .release_ns = end.at_ns,
        .waiter_id = op->thread_id,
        .releaser_id = end.thread_id,
        .holder_id = holder_of(join, at),
        .object = op->object,
        .wait_site = place_of_site(join, op->site),
        .release_site =
            end.thread_id == WEFT_ID_NONE ? WEFT_ID_NONE : place_of_site(join, end.site),
        .kind = interplay->objects.items[op->object].kind,
        .mode = object->kind == WEFT_LOCK_BARRIER ? WEFT_WAIT_FOR_ALL : WEFT_WAIT_FOR_ONE,
        .confidence = confidence,
        .flags = flags,
        .unknown = unknown_of(flags),
    };
    return WEFT_OK;
}

/* A join of a thread that had ended long before returns at once. */
static bool is_late_join(const struct join *join, size_t at)
{
    const struct weft_lock_op *op = &join->ops[at];
    const struct weft_lock_object *object = weft_locks_object(join->interplay->locks, op->object);
    unsigned n_found;
    if (object->kind != WEFT_LOCK_JOIN || object->thread_id != WEFT_ID_NONE || object->is_untold ||
        op->flags & (WEFT_LOCK_FAILED | WEFT_LOCK_SLEPT) || op->got_ns - op->start_ns >= AT_ONCE_NS)
        return false;
    const struct weft_lock_end end = ended_thread(join, op, &n_found);
    return end.thread_id == WEFT_ID_NONE ||
           join->interplay->last_ns[end.thread_id] + ENDING_NS < op->start_ns;
}

static bool is_wait_op(const struct join *join, size_t at)
{
    return weft_locks_is_contended(join->interplay->locks, at) && !is_late_join(join, at);
}

static void count_op(struct join *join, const struct weft_lock_op *op, bool is_wait)
{
    struct weft_interplay *interplay = join->interplay;
    struct weft_shared_object *object = &interplay->objects.items[op->object];
    const bool is_held = weft_shared_is_held(object->kind);
    object->uncontended +=
        !is_wait && is_held && !(op->flags & (WEFT_LOCK_FAILED | WEFT_LOCK_PARTIAL));
    object->releases += weft_interplay_lets_go(object, op);
}

static void count_signals(struct join *join)
{
    for (size_t i = 0; i < join->n_signals; i++)
        join->interplay->objects.items[join->signals[i].object].releases++;
    for (size_t i = 0; i < join->interplay->objects.n; i++)
        if (join->interplay->objects.items[i].kind == WEFT_SHARED_JOIN)
            join->interplay->objects.items[i].releases++; /* the end of a thread */
}

/* When a thread and its twins are first and last heard of. */
static void find_lives(struct weft_interplay *interplay)
{
    const struct weft_twins *twins = weft_locks_twins(interplay->locks);
    for (uint32_t id = 0; id < twins->n_threads; id++)
        interplay->first_ns[id] = UINT64_MAX;
    for (uint32_t id = 0; id < twins->n_threads; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(interplay->trace, id);
        const uint32_t rep = twins->first[id];
        const uint64_t last_ns =
            thread->last_ns < interplay->to_ns ? thread->last_ns : interplay->to_ns;
        if (thread->first_ns < interplay->first_ns[rep])
            interplay->first_ns[rep] = thread->first_ns;
        if (last_ns > interplay->last_ns[rep])
            interplay->last_ns[rep] = last_ns;
    }
}

static int by_round(const void *a, const void *b, void *context)
{
    const struct weft_wait *waits = context;
    const struct weft_wait *x = &waits[*(const uint32_t *)a], *y = &waits[*(const uint32_t *)b];
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->release_ns != y->release_ns)
        return x->release_ns < y->release_ns ? -1 : 1;
    return (x->releaser_id > y->releaser_id) - (x->releaser_id < y->releaser_id);
}

/* The threads that a barrier waits for: those that the last one releases, and the last one. */
static enum weft_code count_parties(struct weft_interplay *interplay, struct weft_err *err)
{
    struct weft_wait *waits = interplay->waits.items;
    size_t n = 0;
    uint32_t *order = weft_room_new(interplay->waits.n + 1, sizeof *order);
    if (!order)
        return weft_no_memory(err, "waits");
    for (uint32_t i = 0; i < interplay->waits.n; i++)
        if (waits[i].mode == WEFT_WAIT_FOR_ALL && waits[i].releaser_id != WEFT_ID_NONE)
            order[n++] = i;
    weft_room_sort_r(order, n, sizeof *order, by_round, waits);
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && by_round(&order[from], &order[to], waits) == 0)
            to++;
        for (size_t i = from; i < to; i++)
            waits[order[i]].n_awaited = (uint32_t)(to - from) + 1;
    }
    weft_room_free(order);
    return WEFT_OK;
}

enum weft_code weft_interplay_join(struct weft_interplay *interplay, struct weft_err *err)
{
    struct join join = { .interplay = interplay };
    join.ops = weft_locks_ops(interplay->locks, &join.n_ops);
    join.signals = weft_locks_signals(interplay->locks, &join.n_signals);
    join.signal_of = weft_room_new(join.n_ops + 1, sizeof *join.signal_of);
    join.is_one_of = weft_room_new(join.n_ops + 1, sizeof *join.is_one_of);
    join.n_waiting =
        weft_room_new((size_t)weft_trace_n_threads(interplay->trace) + 1, sizeof *join.n_waiting);
    join.n_shared_before = weft_room_new(join.n_ops + 1, sizeof *join.n_shared_before);
    interplay->is_wait = weft_room_new(join.n_ops + 1, 1);
    interplay->hold_place = weft_room_new(join.n_ops + 1, sizeof *interplay->hold_place);
    enum weft_code code = join.signal_of && join.is_one_of && join.n_shared_before &&
                                  join.n_waiting && interplay->is_wait && interplay->hold_place
                              ? WEFT_OK
                              : weft_no_memory(err, "waits");
    if (code == WEFT_OK) {
        find_lives(interplay);
        code = find_endings(&join) ? read_handles(&join, err) : weft_no_memory(err, "waits");
    }
    WEFT_THEN(code, match_signals(&join, err));
    for (size_t i = 0; i < join.n_ops && code == WEFT_OK; i++) {
        const bool is_wait = is_wait_op(&join, i);
        count_op(&join, &join.ops[i], is_wait);
        interplay->is_wait[i] = is_wait;
        interplay->hold_place[i] = place_of_site(&join, join.ops[i].site);
        if (is_wait)
            code = add_wait(&join, i, err);
    }
    if (code == WEFT_OK) {
        count_signals(&join);
        code = count_parties(interplay, err);
    }
    weft_interplay_sort(interplay);
    weft_room_free(join.signal_of);
    weft_room_free(join.is_one_of);
    weft_room_free(join.n_shared_before);
    weft_room_free(join.n_waiting);
    WEFT_ROOM_FINI(&join.order);
    WEFT_ROOM_FINI(&join.active);
    WEFT_ROOM_FINI(&join.own);
    WEFT_ROOM_FINI(&join.handles);
    WEFT_ROOM_FINI(&join.endings);
    return code;
}
