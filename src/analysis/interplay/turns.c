/* SPDX-License-Identifier: MIT
 *
 * Detectors on sequences of waits: runs within one object (convoys, leaders, barriers), within one
 * pair of threads (alternation), within one thread (steady periods). Each sorts the waits by its
 * own key; O(n log n).
 */
#include "analysis/interplay/turns.h"

#include "base/room.h"

#include <stdlib.h>

enum {
    CONVOY_WAITS = 3, /* fewer, one after the other, are no convoy */
    LEADER_THREADS = 3,
    LEADER_TURNS = 6,
    LEADER_SHARE = 90, /* per cent of the waits of an object that members end */
    PING_TURNS = 8,
    PING_SHARE = 80,
    BARRIER_WAITS = 6,
    BARRIER_SHARE = 60,
    POLL_WAITS = 5,
    PERIOD_SPREAD = 25,  /* per cent that a period may differ from the mean of those before */
    PERIOD_LEAST = 3,    /* periods that make a run */
    PERIOD_FACTOR = 150, /* per cent: another period */
};

struct job {
    const struct weft_turns_question *question;
    const struct weft_interplay *interplay;
    uint32_t *order; /* waits by object, then end */
    size_t n_order;
    uint32_t *seen; /* by thread: the last group it was counted in, + 1 */
    uint32_t n_groups;
    uint32_t *function_of; /* by place: of the program's function there */
    uint32_t *turns_of;    /* by thread: scratch, zero between uses */
    struct {
        uint32_t *items;
        size_t n, cap;
    } threads;
};

static const struct weft_wait *wait_at(const struct job *job, size_t place)
{
    return &job->interplay->waits.items[job->order[place]];
}

static bool touches(const struct job *job, const struct weft_wait *wait)
{
    return job->question->is_kept[wait->waiter_id] &&
           weft_interplay_touches(wait->start_ns, wait->end_ns, job->question->from_ns,
                                  job->question->to_ns);
}

/* A group begins; threads are added to it once. */
static void begin_group(struct job *job)
{
    job->n_groups++;
    job->threads.n = 0;
}

static bool add_thread(struct job *job, uint32_t thread_id)
{
    if (job->seen[thread_id] == job->n_groups)
        return true;
    uint32_t *place = WEFT_ROOM_PUSH(&job->threads);
    if (!place)
        return false;
    *place = thread_id;
    job->seen[thread_id] = job->n_groups;
    return true;
}

static enum weft_code tell(struct job *job, struct weft_turns *turns, struct weft_err *err)
{
    turns->threads = job->threads.items;
    turns->n_threads = job->threads.n;
    return job->question->see(job->question->context, turns, err);
}

/* ---- convoys --------------------------------------------------------------------------------- */

/* Waits [from, to) of a lock each end by the release of whoever waited in the one before. */
static enum weft_code convoy(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    struct weft_turns turns = { .kind = WEFT_PATTERN_CONVOY,
                                .thread_id = wait_at(job, from)->waiter_id,
                                .object = wait_at(job, from)->object,
                                .from_ns = wait_at(job, from)->start_ns,
                                .to_ns = wait_at(job, to - 1)->end_ns,
                                .count = to - from,
                                .share = 1 };
    begin_group(job);
    for (size_t i = from; i < to; i++) {
        turns.value_ns += wait_at(job, i)->end_ns - wait_at(job, i)->start_ns;
        if (!add_thread(job, wait_at(job, i)->waiter_id))
            return weft_no_memory(err, "patterns");
    }
    return tell(job, &turns, err);
}

/* The longest run of the lock. */
static enum weft_code find_convoy(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    size_t best = from, best_end = from, begin = from;
    for (size_t i = from + 1; i <= to; i++) {
        if (i < to && wait_at(job, i)->releaser_id == wait_at(job, i - 1)->waiter_id &&
            wait_at(job, i)->start_ns < wait_at(job, i)->release_ns &&
            wait_at(job, i - 1)->end_ns <= wait_at(job, i)->release_ns)
            continue;
        if (i - begin > best_end - best) {
            best = begin;
            best_end = i;
        }
        begin = i;
    }
    return best_end - best > CONVOY_WAITS ? convoy(job, best, best_end, err) : WEFT_OK;
}

/* ---- leaders and followers ------------------------------------------------------------------- */

/* The waiters there are mostly also the releasers. */
static enum weft_code find_leaders(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    struct weft_turns turns = { .kind = WEFT_PATTERN_LEADER,
                                .object = WEFT_ID_NONE,
                                .from_ns = UINT64_MAX };
    size_t n_own = 0, n_known = 0;
    begin_group(job);
    for (size_t i = from; i < to; i++)
        if (!add_thread(job, wait_at(job, i)->waiter_id))
            return weft_no_memory(err, "patterns");
    for (size_t i = from; i < to; i++) {
        const struct weft_wait *wait = wait_at(job, i);
        if (wait->releaser_id == WEFT_ID_NONE)
            continue;
        n_known++;
        n_own += job->seen[wait->releaser_id] == job->n_groups;
        turns.value_ns += wait->end_ns - wait->start_ns;
        turns.from_ns = wait->start_ns < turns.from_ns ? wait->start_ns : turns.from_ns;
        turns.to_ns = wait->end_ns > turns.to_ns ? wait->end_ns : turns.to_ns;
    }
    if (job->threads.n < LEADER_THREADS || n_known < LEADER_TURNS ||
        n_own * 100 < n_known * LEADER_SHARE)
        return WEFT_OK;
    turns.thread_id = job->threads.items[0];
    turns.count = n_own;
    turns.share = (double)n_own / (double)n_known;
    return tell(job, &turns, err);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* The same thread comes last most of the time. */
static enum weft_code find_last(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    struct weft_turns turns = { .kind = WEFT_PATTERN_IMBALANCE,
                                .thread_id = WEFT_ID_NONE,
                                .object = wait_at(job, from)->object,
                                .from_ns = wait_at(job, from)->start_ns,
                                .to_ns = wait_at(job, to - 1)->end_ns };
    size_t n_known = 0, n_best = 0;
    for (size_t i = from; i < to; i++) {
        const uint32_t releaser_id = wait_at(job, i)->releaser_id;
        if (releaser_id == WEFT_ID_NONE)
            continue;
        n_known++;
        if (++job->turns_of[releaser_id] > n_best) {
            n_best = job->turns_of[releaser_id];
            turns.thread_id = releaser_id;
        }
    }
    begin_group(job);
    bool is_good = turns.thread_id == WEFT_ID_NONE || add_thread(job, turns.thread_id);
    for (size_t i = from; i < to && is_good; i++) {
        const struct weft_wait *wait = wait_at(job, i);
        if (wait->releaser_id != WEFT_ID_NONE)
            job->turns_of[wait->releaser_id] = 0;
        if (wait->releaser_id == WEFT_ID_NONE || wait->releaser_id != turns.thread_id)
            continue;
        turns.value_ns += wait->end_ns - wait->start_ns;
        is_good = add_thread(job, wait->waiter_id);
    }
    if (!is_good)
        return weft_no_memory(err, "patterns");
    if (n_known < BARRIER_WAITS || n_best * 100 < n_known * BARRIER_SHARE)
        return WEFT_OK;
    turns.count = n_best;
    turns.share = (double)n_best / (double)n_known;
    return tell(job, &turns, err);
}

static enum weft_code find_of_object(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    switch ((enum weft_shared_kind)wait_at(job, from)->kind) {
    case WEFT_SHARED_MUTEX:
    case WEFT_SHARED_RWLOCK:
    case WEFT_SHARED_SPIN:
        return find_convoy(job, from, to, err);
    case WEFT_SHARED_BARRIER:
        return find_last(job, from, to, err);
    default:
        return WEFT_OK;
    }
}

static int by_object(const void *a, const void *b, void *context)
{
    const struct weft_wait *waits = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (waits[i].object != waits[j].object)
        return waits[i].object < waits[j].object ? -1 : 1;
    if (waits[i].end_ns != waits[j].end_ns)
        return waits[i].end_ns < waits[j].end_ns ? -1 : 1;
    return (i > j) - (i < j);
}

static enum weft_code find_by_object(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    weft_room_sort_r(job->order, job->n_order, sizeof *job->order, by_object,
                     job->interplay->waits.items);
    for (size_t from = 0, to = 0; from < job->n_order && code == WEFT_OK; from = to) {
        for (to = from + 1;
             to < job->n_order && wait_at(job, to)->object == wait_at(job, from)->object;)
            to++;
        if (!job->interplay->objects.items[wait_at(job, from)->object].is_untold)
            code = find_of_object(job, from, to, err);
    }
    return code;
}

/* What is signalled, by the function that waits: each thread may have an object of its own. */
static int by_function(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const uint32_t x = job->function_of[job->interplay->waits.items[i].wait_site];
    const uint32_t y = job->function_of[job->interplay->waits.items[j].wait_site];
    return x != y ? (x < y ? -1 : 1) : (i > j) - (i < j);
}

static bool is_signalled(const struct weft_wait *wait)
{
    return (wait->kind == WEFT_SHARED_CONDITION || wait->kind == WEFT_SHARED_SEMAPHORE ||
            wait->kind == WEFT_SHARED_FUTEX) &&
           wait->wait_site != WEFT_ID_NONE;
}

static enum weft_code find_by_function(struct job *job, struct weft_err *err)
{
    const uint32_t n_waits = (uint32_t)job->interplay->waits.n;
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < job->interplay->places.n; i++)
        (void)weft_interplay_function_of(job->interplay, i, &job->function_of[i]);
    job->n_order = 0;
    for (uint32_t i = 0; i < n_waits; i++)
        if (touches(job, &job->interplay->waits.items[i]) &&
            is_signalled(&job->interplay->waits.items[i]))
            job->order[job->n_order++] = i;
    weft_room_sort_r(job->order, job->n_order, sizeof *job->order, by_function, job);
    for (size_t from = 0, to = 0; from < job->n_order && code == WEFT_OK; from = to) {
        const uint32_t function_id = job->function_of[wait_at(job, from)->wait_site];
        for (to = from + 1;
             to < job->n_order && job->function_of[wait_at(job, to)->wait_site] == function_id;)
            to++;
        if (function_id != WEFT_ID_NONE)
            code = find_leaders(job, from, to, err);
    }
    return code;
}

/* ---- two in turn ----------------------------------------------------------------------------- */

static int by_pair(const void *a, const void *b, void *context)
{
    const struct weft_wait *waits = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct weft_wait *x = &waits[i], *y = &waits[j];
    const uint32_t x_low = x->waiter_id < x->releaser_id ? x->waiter_id : x->releaser_id;
    const uint32_t y_low = y->waiter_id < y->releaser_id ? y->waiter_id : y->releaser_id;
    const uint32_t x_high = x->waiter_id + x->releaser_id - x_low;
    const uint32_t y_high = y->waiter_id + y->releaser_id - y_low;
    if (x_low != y_low)
        return x_low < y_low ? -1 : 1;
    if (x_high != y_high)
        return x_high < y_high ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (i > j) - (i < j);
}

static bool is_same_pair(const struct weft_wait *a, const struct weft_wait *b)
{
    return (a->waiter_id == b->waiter_id && a->releaser_id == b->releaser_id) ||
           (a->waiter_id == b->releaser_id && a->releaser_id == b->waiter_id);
}

static enum weft_code find_turns(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    const struct weft_wait *first = wait_at(job, from);
    struct weft_turns turns = { .kind = WEFT_PATTERN_PING_PONG,
                                .thread_id = first->waiter_id,
                                .object = WEFT_ID_NONE,
                                .from_ns = first->start_ns,
                                .to_ns = wait_at(job, to - 1)->end_ns };
    size_t n_turns = 0;
    for (size_t i = from; i < to; i++) {
        n_turns += i > from && wait_at(job, i)->waiter_id != wait_at(job, i - 1)->waiter_id;
        turns.value_ns += wait_at(job, i)->end_ns - wait_at(job, i)->start_ns;
    }
    if (n_turns < PING_TURNS || n_turns * 100 < (to - from - 1) * PING_SHARE)
        return WEFT_OK;
    begin_group(job);
    if (!add_thread(job, first->waiter_id) || !add_thread(job, first->releaser_id))
        return weft_no_memory(err, "patterns");
    turns.count = n_turns;
    turns.share = (double)n_turns / (double)(to - from - 1);
    return tell(job, &turns, err);
}

/* Barriers and joins have no answer. */
static bool is_answered(const struct weft_wait *wait)
{
    return wait->releaser_id != WEFT_ID_NONE && wait->releaser_id != wait->waiter_id &&
           wait->kind != WEFT_SHARED_BARRIER && wait->kind != WEFT_SHARED_JOIN &&
           !weft_shared_is_held(wait->kind);
}

static enum weft_code find_ping_pong(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    size_t n = 0;
    for (size_t i = 0; i < job->n_order; i++)
        if (is_answered(wait_at(job, i)))
            job->order[n++] = job->order[i];
    weft_room_sort_r(job->order, n, sizeof *job->order, by_pair, job->interplay->waits.items);
    for (size_t from = 0, to = 0; from < n && code == WEFT_OK; from = to) {
        for (to = from + 1; to < n && is_same_pair(wait_at(job, from), wait_at(job, to));)
            to++;
        code = find_turns(job, from, to, err);
    }
    return code;
}

/* ---- polling --------------------------------------------------------------------------------- */

/* Steady periods, one after the other. */
struct run {
    uint64_t from_ns, to_ns, sum_ns, n;
};

static enum weft_code end_run(struct job *job, uint32_t thread_id, struct run *before,
                              const struct run *run, struct weft_err *err)
{
    struct weft_turns turns = { .thread_id = thread_id,
                                .object = WEFT_ID_NONE,
                                .from_ns = run->from_ns,
                                .to_ns = run->to_ns,
                                .count = run->n + 1,
                                .share = 1 };
    enum weft_code code = WEFT_OK;
    if (run->n < PERIOD_LEAST)
        return WEFT_OK;
    begin_group(job);
    if (!add_thread(job, thread_id))
        return weft_no_memory(err, "patterns");
    const uint64_t period_ns = run->sum_ns / run->n;
    const uint64_t before_ns = before->n ? before->sum_ns / before->n : 0;
    turns.value_ns = period_ns;
    const bool is_other = before->n > 0 && (period_ns * 100 >= before_ns * PERIOD_FACTOR ||
                                            before_ns * 100 >= period_ns * PERIOD_FACTOR);
    if (run->n + 1 >= POLL_WAITS && (before->n == 0 || is_other)) {
        turns.kind = WEFT_PATTERN_POLLING;
        code = tell(job, &turns, err);
    }
    if (code == WEFT_OK && is_other) {
        turns.kind = WEFT_PATTERN_PERIOD_CHANGE;
        turns.before_ns = before_ns;
        code = tell(job, &turns, err);
    }
    *before = *run;
    return code;
}

static bool is_steady(const struct run *run, uint64_t period_ns)
{
    const uint64_t mean_ns = run->sum_ns / run->n;
    const uint64_t differ_ns = period_ns > mean_ns ? period_ns - mean_ns : mean_ns - period_ns;
    return differ_ns * 100 <= mean_ns * PERIOD_SPREAD;
}

static bool is_by_time(const struct weft_wait *wait)
{
    return wait->kind == WEFT_SHARED_TIMER ||
           (wait->flags & WEFT_CORRESPONDENCE_TIMED && wait->releaser_id == WEFT_ID_NONE);
}

static enum weft_code find_polling(struct job *job, uint32_t thread_id, struct weft_err *err)
{
    const struct weft_wait *waits = job->interplay->waits.items, *last = NULL;
    struct run run = { 0 }, before = { 0 };
    size_t first, end;
    enum weft_code code = WEFT_OK;
    weft_interplay_waits_of(job->interplay, thread_id, &first, &end);
    for (size_t i = first; i < end && code == WEFT_OK; i++) {
        if (!is_by_time(&waits[i]) || !touches(job, &waits[i]))
            continue;
        const uint64_t period_ns = last ? waits[i].start_ns - last->start_ns : 0;
        if (last && run.n && !is_steady(&run, period_ns)) {
            code = end_run(job, thread_id, &before, &run, err);
            run = (struct run){ 0 };
        }
        if (last) {
            run.from_ns = run.n ? run.from_ns : last->start_ns;
            run.to_ns = waits[i].end_ns;
            run.sum_ns += period_ns;
            run.n++;
        }
        last = &waits[i];
    }
    return code == WEFT_OK ? end_run(job, thread_id, &before, &run, err) : code;
}

/* ---- all ------------------------------------------------------------------------------------- */

static enum weft_code find(struct job *job, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(job->interplay->trace);
    for (uint32_t i = 0; i < job->interplay->waits.n; i++)
        if (touches(job, &job->interplay->waits.items[i]))
            job->order[job->n_order++] = i;
    enum weft_code code = find_by_object(job, err);
    WEFT_THEN(code, find_ping_pong(job, err));
    WEFT_THEN(code, find_by_function(job, err));
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        if (job->question->is_kept[id])
            code = find_polling(job, id, err);
    return code;
}

enum weft_code weft_turns_find(const struct weft_turns_question *question, struct weft_err *err)
{
    const size_t n_threads = weft_trace_n_threads(question->interplay->trace);
    struct job job = { .question = question, .interplay = question->interplay };
    job.order = weft_room_new(question->interplay->waits.n + 1, sizeof *job.order);
    job.seen = weft_room_new(n_threads + 1, sizeof *job.seen);
    job.function_of = weft_room_new(question->interplay->places.n + 1, sizeof *job.function_of);
    job.turns_of = weft_room_new(n_threads + 1, sizeof *job.turns_of);
    enum weft_code code = job.order && job.seen && job.turns_of && job.function_of
                              ? find(&job, err)
                              : weft_no_memory(err, "patterns");
    weft_room_free(job.order);
    weft_room_free(job.seen);
    weft_room_free(job.turns_of);
    weft_room_free(job.function_of);
    WEFT_ROOM_FINI(&job.threads);
    return code;
}
