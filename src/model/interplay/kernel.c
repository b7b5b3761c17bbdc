/* SPDX-License-Identifier: MIT
 *
 * Evidence of waits in kernel events: that the thread slept, and which thread woke it. The last
 * sleep within a wait is the one that its end belongs to. Sleeps in no wait that is known are waits
 * of their own: for whoever woke the thread, by what they wait for a kernel does not say.
 */
#include "base/room.h"
#include "model/interplay/parts.h"
#include "model/states/states.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY_SHARE = 8, MOST_HISTORY_BYTES = 16 << 20, LEAST_NS = 1000 };

/* A sleep, and the wait in which it ends. */
struct sleep {
    struct weft_sleep record;
    size_t wait; /* SIZE_MAX: none */
};

struct thread {
    struct {
        struct sleep *items;
        size_t n, cap;
    } sleeps;
};

struct job {
    struct weft_interplay *interplay;
    struct weft_history **histories; /* by worker */
    struct thread *threads;
    uint64_t mem_bytes;
};

/* ---- on all workers: sleeps of a thread ------------------------------------------------------ */

/* The wait of the thread in which the sleep ends; waits nest in none but calls that the user has
 * named. `at` only grows. */
static size_t find_wait(const struct weft_interplay *interplay, size_t *at, size_t end,
                        const struct weft_state *state)
{
    while (*at < end && interplay->waits.items[*at].end_ns + LEAST_NS < state->end_ns)
        ++*at;
    const struct weft_wait *wait = *at < end ? &interplay->waits.items[*at] : NULL;
    return wait && wait->start_ns < state->end_ns && wait->start_ns <= state->start_ns + LEAST_NS
               ? *at
               : SIZE_MAX;
}

static bool in_io(const struct weft_interplay *interplay, size_t n_io, uint32_t thread_id,
                  uint64_t at_ns)
{
    size_t low = 0, high = n_io;
    while (low < high) { /* first that begins after it */
        const size_t middle = low + (high - low) / 2;
        const struct weft_io_call *io = &interplay->io.items[middle];
        if (io->thread_id < thread_id || (io->thread_id == thread_id && io->start_ns <= at_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && interplay->io.items[low - 1].thread_id == thread_id &&
           interplay->io.items[low - 1].end_ns >= at_ns;
}

static enum weft_code add_sleep(struct thread *thread, uint32_t thread_id,
                                const struct weft_state *state, size_t wait, uint32_t waker_id,
                                struct weft_err *err)
{
    struct sleep *sleep = WEFT_ROOM_PUSH(&thread->sleeps);
    if (!sleep)
        return weft_no_memory(err, "sleeps");
    *sleep = (struct sleep){ .record = { .start_ns = state->start_ns,
                                         .end_ns = state->end_ns,
                                         .wake_ns = state->wake_ns,
                                         .thread_id = thread_id,
                                         .waker_id = waker_id,
                                         .reason = (uint8_t)state->reason,
                                         .is_open = state->flags & WEFT_STATE_OPEN,
                                         .is_earlier = state->flags & WEFT_STATE_EARLIER },
                             .wait = wait };
    const size_t n = state->name.n_bytes < sizeof sleep->record.call
                         ? state->name.n_bytes
                         : sizeof sleep->record.call - 1;
    if (n)
        memcpy(sleep->record.call, state->name.bytes, n);
    return WEFT_OK;
}

static enum weft_code see_state(struct job *job, uint32_t rep, const struct weft_state *state,
                                size_t *at, size_t end, struct weft_err *err)
{
    struct weft_interplay *interplay = job->interplay;
    const struct weft_twins *twins = weft_locks_twins(interplay->locks);
    uint32_t waker_id = WEFT_ID_NONE;
    if (state->kind != WEFT_STATE_BLOCKED || state->flags & WEFT_STATE_IDLE ||
        state->start_ns >= interplay->to_ns)
        return WEFT_OK;
    if (state->reason == WEFT_WAIT_THREAD && state->waker_thread_id != WEFT_ID_NONE)
        waker_id = twins->first[state->waker_thread_id];
    const size_t wait = find_wait(interplay, at, end, state);
    return add_sleep(&job->threads[rep], rep, state, wait,
                     waker_id == rep ? WEFT_ID_NONE : waker_id, err);
}

static enum weft_code see_thread(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct job *job = context;
    const uint32_t rep = (uint32_t)item;
    const struct weft_twins *twins = weft_locks_twins(job->interplay->locks);
    size_t first, end;
    uint32_t id = rep;
    enum weft_code code = WEFT_OK;
    if (twins->first[rep] != rep)
        return WEFT_OK;
    if (!job->histories[worker])
        code =
            weft_history_open(job->interplay->trace, job->mem_bytes, &job->histories[worker], err);
    weft_interplay_waits_of(job->interplay, rep, &first, &end);
    do {
        struct weft_states *states = NULL;
        const struct weft_state *state = NULL;
        size_t at = first;
        WEFT_THEN(code, weft_states_open(job->histories[worker], id, 0, job->interplay->to_ns,
                                         &states, err));
        while (code == WEFT_OK && (code = weft_states_next(states, &state, err)) == WEFT_OK &&
               state)
            code = see_state(job, rep, state, &at, end, err);
        weft_states_close(states);
        id = twins->next[id];
    } while (id != rep && code == WEFT_OK);
    return code;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* Of what is signalled, the last signal of the waker until it woke the thread. */
static bool signalled(const struct weft_interplay *interplay, const struct weft_wait *wait,
                      const struct weft_sleep *sleep, uint64_t *at_ns)
{
    size_t n, low = 0, high;
    const struct weft_lock_signal *signals = weft_locks_signals(interplay->locks, &n);
    high = n;
    while (low < high) { /* first after the wakeup */
        const size_t middle = low + (high - low) / 2;
        if (signals[middle].object < wait->object ||
            (signals[middle].object == wait->object &&
             signals[middle].at_ns <= sleep->wake_ns + LEAST_NS))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && signals[low - 1].object == wait->object &&
           signals[low - 1].at_ns >= wait->start_ns;
         low--)
        if (signals[low - 1].thread_id == sleep->waker_id) {
            *at_ns = signals[low - 1].at_ns;
            return true;
        }
    return false;
}

/* A join whose thread only the kernel events show. */
static bool is_join_by(const struct weft_interplay *interplay, const struct weft_wait *wait,
                       const struct weft_sleep *sleep)
{
    return wait->kind == WEFT_SHARED_JOIN && wait->confidence == WEFT_SURETY_AMBIGUOUS &&
           weft_trace_thread(interplay->trace, wait->waiter_id)->info.pid ==
               weft_trace_thread(interplay->trace, sleep->waker_id)->info.pid;
}

/* Kernel events show which thread woke this one. */
static void confirm(struct weft_interplay *interplay, struct weft_wait *wait,
                    const struct weft_sleep *sleep)
{
    uint64_t at_ns;
    if (sleep->waker_id == WEFT_ID_NONE || wait->flags & WEFT_CORRESPONDENCE_CUT_END)
        return;
    if (wait->releaser_id == sleep->waker_id && wait->confidence != WEFT_SURETY_AMBIGUOUS) {
        wait->confidence = WEFT_SURETY_CONFIRMED;
        return;
    }
    if (wait->kind == WEFT_SHARED_CONDITION || wait->kind == WEFT_SHARED_SEMAPHORE ||
        wait->kind == WEFT_SHARED_FUTEX) {
        if (signalled(interplay, wait, sleep, &at_ns)) {
            wait->releaser_id = sleep->waker_id;
            wait->release_ns = at_ns;
            wait->confidence = WEFT_SURETY_CONFIRMED;
            return;
        }
    }
    if (is_join_by(interplay, wait, sleep)) {
        wait->releaser_id = sleep->waker_id;
        wait->release_ns = sleep->wake_ns;
        wait->confidence = WEFT_SURETY_CONFIRMED;
        return;
    }
    if (wait->releaser_id != WEFT_ID_NONE || wait->flags & WEFT_CORRESPONDENCE_FAILED)
        return;
    wait->releaser_id = sleep->waker_id;
    wait->release_ns = sleep->wake_ns;
    wait->confidence = WEFT_SURETY_WAKEUP;
}

static bool is_io_reason(uint8_t reason)
{
    return reason == WEFT_WAIT_BLOCK_DEVICE || reason == WEFT_WAIT_NETWORK ||
           reason == WEFT_WAIT_DEVICE;
}

static enum weft_shared_kind kind_of_call(const char *call, uint8_t reason)
{
    static const char *const polls[] = { "poll",       "ppoll",       "select",      "pselect6",
                                         "epoll_wait", "epoll_pwait", "epoll_pwait2" };
    if (strcmp(call, "wait4") == 0 || strcmp(call, "waitid") == 0)
        return WEFT_SHARED_PROCESS;
    if (strncmp(call, "futex", 5) == 0)
        return WEFT_SHARED_FUTEX;
    for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
        if (strcmp(call, polls[i]) == 0)
            return WEFT_SHARED_FILES;
    return reason == WEFT_WAIT_TIMER ? WEFT_SHARED_TIMER : WEFT_SHARED_OTHER;
}

/* How many is unknown: the number is an argument, and a sleep is recorded with its call alone. */
static bool waits_for_any(const char *call, enum weft_shared_kind kind)
{
    return kind == WEFT_SHARED_FILES || strcmp(call, "futex_waitv") == 0;
}

/* A sleep that no event of a program explains. */
static enum weft_code take_sleep(struct weft_interplay *interplay, const struct weft_sleep *sleep,
                                 struct weft_err *err)
{
    const uint32_t thread_id = sleep->thread_id;
    const enum weft_shared_kind kind = kind_of_call(sleep->call, sleep->reason);
    const uint64_t pid = weft_trace_thread(interplay->trace, thread_id)->info.pid;
    const struct weft_str name =
        sleep->call[0] ? weft_str_of(sleep->call) : WEFT_STR("(in the kernel)");
    const bool is_io = is_io_reason(sleep->reason) && kind != WEFT_SHARED_FUTEX;
    const uint32_t object =
        weft_interplay_object(interplay, is_io ? WEFT_SHARED_FILES : kind, pid, UINT64_MAX, name);
    const uint32_t site = weft_interplay_place(interplay, WEFT_ID_NONE, name);
    if (object == WEFT_ID_NONE || site == WEFT_ID_NONE)
        return weft_no_memory(err, "sleeps");
    if (is_io) {
        struct weft_io_call *io = WEFT_ROOM_PUSH(&interplay->io);
        if (!io)
            return weft_no_memory(err, "sleeps");
        *io = (struct weft_io_call){ sleep->start_ns, sleep->end_ns, thread_id, object, site, 0 };
        return WEFT_OK;
    }
    struct weft_wait *wait = WEFT_ROOM_PUSH(&interplay->waits);
    if (!wait)
        return weft_no_memory(err, "sleeps");
    const bool is_known = sleep->waker_id != WEFT_ID_NONE && !sleep->is_open;
    *wait = (struct weft_wait){
        .start_ns = sleep->start_ns,
        .end_ns = sleep->end_ns,
        .release_ns = is_known ? sleep->wake_ns : 0,
        .waiter_id = thread_id,
        .releaser_id = is_known ? sleep->waker_id : WEFT_ID_NONE,
        .holder_id = WEFT_ID_NONE,
        .object = object,
        .wait_site = site,
        .release_site =
            is_known ? weft_interplay_place(interplay, WEFT_ID_NONE, WEFT_STR("")) : WEFT_ID_NONE,
        .kind = (uint8_t)kind,
        .mode = waits_for_any(sleep->call, kind) ? WEFT_WAIT_FOR_ANY : WEFT_WAIT_FOR_ONE,
        .confidence = is_known ? WEFT_SURETY_WAKEUP : WEFT_SURETY_NONE,
        .flags = (uint8_t)(WEFT_CORRESPONDENCE_NO_OBJECT |
                           (sleep->is_earlier ? WEFT_CORRESPONDENCE_CUT_START : 0) |
                           (sleep->is_open ? WEFT_CORRESPONDENCE_CUT_END : 0)),
        .unknown = sleep->is_open                     ? WEFT_UNKNOWN_CUT_END
                   : sleep->reason == WEFT_WAIT_TIMER ? WEFT_UNKNOWN_TIMER
                   : is_io_reason(sleep->reason) || kind != WEFT_SHARED_FUTEX
                       ? WEFT_UNKNOWN_OUTSIDE
                       : WEFT_UNKNOWN_NO_RELEASE,
    };
    return WEFT_OK;
}

static enum weft_code take_thread(struct job *job, uint32_t thread_id, struct weft_err *err)
{
    struct weft_interplay *interplay = job->interplay;
    const struct thread *thread = &job->threads[thread_id];
    for (size_t i = 0; i < thread->sleeps.n; i++) {
        const struct sleep *sleep = &thread->sleeps.items[i];
        if (sleep->wait == SIZE_MAX) {
            struct weft_sleep *kept = WEFT_ROOM_PUSH(&interplay->sleeps);
            if (!kept)
                return weft_no_memory(err, "sleeps");
            *kept = sleep->record;
        } else if (i + 1 == thread->sleeps.n || thread->sleeps.items[i + 1].wait != sleep->wait) {
            confirm(interplay, &interplay->waits.items[sleep->wait], &sleep->record);
        }
    }
    return WEFT_OK;
}

/* The wait that the sleep is part of, of those until `end`. */
static size_t wait_around(const struct weft_interplay *interplay, size_t first, size_t end,
                          const struct weft_sleep *sleep)
{
    size_t low = first, high = end;
    while (low < high) { /* first that begins after the sleep */
        const size_t middle = low + (high - low) / 2;
        if (interplay->waits.items[middle].start_ns <= sleep->start_ns + LEAST_NS)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first && interplay->waits.items[low - 1].end_ns + LEAST_NS >= sleep->end_ns
               ? low - 1
               : SIZE_MAX;
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

enum weft_code weft_interplay_kernel(struct weft_interplay *interplay, const struct weft_run *run,
                                     struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    const unsigned n_workers = weft_pool_workers(run->pool);
    uint64_t mem_bytes = run->memory_bytes / MEMORY_SHARE / n_workers;
    if (mem_bytes == 0 || mem_bytes > MOST_HISTORY_BYTES)
        mem_bytes = MOST_HISTORY_BYTES;
    struct job job = { .interplay = interplay,
                       .histories = weft_room_new(n_workers, sizeof *job.histories),
                       .threads = weft_room_new((size_t)n_threads + 1, sizeof *job.threads),
                       .mem_bytes = mem_bytes };
    enum weft_code code = job.histories && job.threads ? WEFT_OK : weft_no_memory(err, "sleeps");
    weft_progress_start(run->progress, "looking at wakeups", "threads", n_threads);
    WEFT_THEN(code, weft_pool_run(run->pool, n_threads, see_thread, &job, run->progress, err));
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        code = take_thread(&job, id, err);
    for (uint32_t id = 0; job.threads && id < n_threads; id++)
        WEFT_ROOM_FINI(&job.threads[id].sleeps);
    for (unsigned i = 0; job.histories && i < n_workers; i++)
        weft_history_close(job.histories[i]);
    weft_room_free(job.histories);
    weft_room_free(job.threads);
    return code;
}

enum weft_code weft_interplay_sleeps(struct weft_interplay *interplay, struct weft_err *err)
{
    const size_t n_io = interplay->io.n, n_waits = interplay->waits.n;
    size_t first = 0, end = 0;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < interplay->sleeps.n && code == WEFT_OK; i++) {
        const struct weft_sleep *sleep = &interplay->sleeps.items[i];
        if (i == 0 || sleep->thread_id != sleep[-1].thread_id) {
            for (first = end;
                 first < n_waits && interplay->waits.items[first].waiter_id < sleep->thread_id;)
                first++;
            for (end = first;
                 end < n_waits && interplay->waits.items[end].waiter_id == sleep->thread_id;)
                end++;
        }
        const size_t wait = wait_around(interplay, first, end, sleep);
        if (wait != SIZE_MAX)
            confirm(interplay, &interplay->waits.items[wait], sleep);
        else if (!in_io(interplay, n_io, sleep->thread_id, sleep->end_ns))
            code = take_sleep(interplay, sleep, err);
    }
    weft_interplay_sort(interplay);
    if (interplay->io.n)
        weft_room_sort(interplay->io.items, interplay->io.n, sizeof *interplay->io.items, by_begin);
    return code;
}
