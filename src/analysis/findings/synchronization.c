/* SPDX-License-Identifier: MIT
 *
 * Goes through the operations on each condition and each barrier once, in the order of time: of
 * conditions each wakeup is given to the last broadcast before it, and is futile if the thread
 * waits there again at once; of barriers each wait is given to the thread that came last.
 */
#include "analysis/findings/synchronization.h"

#include "base/vec.h"
#include "model/locks/names.h"
#include "schema/tables.h"

#include <stdlib.h>

/* A thread that waits again so soon did nothing. */
static const uint64_t AT_ONCE_NS = 20000;
static const double MOST_FUTILE = 0.75;
static const double LEAST_HERD_SHARE = 0.05; /* of the duration */
static const double MOSTLY_LAST = 0.75;      /* of the waits at a barrier, by time and number */
static const double LEAST_WAIT_SHARE = 0.1;  /* of the time of its threads */
enum { LEAST_EVENTS = 20, LEAST_WOKEN = 3 };

/* The one that can have more than half (Boyer and Moore 1981). */
struct vote {
    uint32_t id;
    uint64_t weight;
};

struct finder {
    const struct weft_trace *trace;
    const struct weft_locks *locks;
    const struct weft_lock_op *ops;
    const struct weft_lock_signal *signals;
    size_t n_signals;
    struct weft_arena *arena;
    struct per_thread {
        uint32_t object; /* that the rest is of, + 1 */
        uint64_t got_ns; /* of its last operation, */
        size_t signal;   /* and the broadcast that ended it; SIZE_MAX: none */
        uint64_t sum_ns; /* waits that it ended */
        uint64_t n_last; /* their number */
        uint64_t longest_ns;
        size_t longest; /* operation */
        uint32_t site;  /* of its last one */
    } * threads;
    struct {
        struct weft_sync_problem *items;
        size_t n, cap;
    } rows;
};

static void vote_for(struct vote *vote, uint32_t id, uint64_t weight)
{
    if (vote->id == id) {
        vote->weight += weight;
    } else if (weight > vote->weight) {
        vote->weight = weight - vote->weight;
        vote->id = id;
    } else {
        vote->weight -= weight;
    }
}

static struct weft_str text_of(struct finder *finder, uint32_t site)
{
    return site == WEFT_ID_NONE
               ? (struct weft_str){ 0 }
               : weft_arena_copy(finder->arena, weft_locks_site(finder->locks, site));
}

/* Threads of an object. */
struct threads {
    uint32_t n;
    uint64_t life_ns;
};

/* What a thread has of the object; new if it had nothing. */
static struct per_thread *thread_at(struct finder *finder, uint32_t thread_id, uint32_t object,
                                    struct threads *threads)
{
    const struct weft_model_thread *info = weft_trace_thread(finder->trace, thread_id);
    struct per_thread *thread = &finder->threads[thread_id];
    if (thread->object == object + 1)
        return thread;
    threads->n++;
    threads->life_ns += info->last_ns - info->first_ns;
    *thread = (struct per_thread){ .object = object + 1, .signal = SIZE_MAX, .site = WEFT_ID_NONE };
    return thread;
}

static bool name(struct finder *finder, struct weft_sync_problem *row, uint32_t object,
                 uint32_t thread_id, uint32_t other_id)
{
    const struct weft_table_context context = weft_trace_context(finder->trace, NULL);
    const struct weft_thread_info *thread = &weft_trace_thread(finder->trace, thread_id)->info;
    char label[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(&context, weft_locks_object(finder->locks, object), label);
    row->object = weft_arena_copy(finder->arena, weft_str_of(label));
    row->thread = thread->name;
    row->tid = thread->tid;
    row->other = weft_trace_thread(finder->trace, other_id)->info.name;
    return row->object.bytes;
}

static bool add(struct finder *finder, const struct weft_sync_problem *row)
{
    struct weft_sync_problem *made = WEFT_VEC_PUSH(&finder->rows);
    if (made)
        *made = *row;
    return made;
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* What is summed up of a condition. */
struct herd {
    struct weft_sync_problem row;
    struct vote waker, from, woken, woken_in;
    struct threads threads;
    uint64_t worst_ns;
    size_t worst; /* signal */
};

/* Of the broadcasts that are at signals [from, to): until when those woken for nothing came. */
static void add_costs(struct finder *finder, struct herd *herd, const uint64_t *awake_ns,
                      size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct weft_lock_signal *signal = &finder->signals[i];
        if (!signal->is_broadcast)
            continue;
        uint64_t end_ns = awake_ns[i - from];
        for (size_t next = i + 1; next < to && finder->signals[next].at_ns < end_ns; next++)
            if (finder->signals[next].is_broadcast) {
                end_ns = finder->signals[next].at_ns;
                break;
            }
        const uint64_t ns = end_ns > signal->at_ns ? end_ns - signal->at_ns : 0;
        herd->row.cost_ns += ns;
        herd->row.n_events++;
        vote_for(&herd->waker, signal->thread_id, 1);
        vote_for(&herd->from, signal->site, 1);
        if (ns <= herd->worst_ns)
            continue;
        herd->worst_ns = ns;
        herd->worst = i;
    }
}

/* A wait: was the one before it ended for nothing? */
static void take_wait(struct finder *finder, struct herd *herd, const struct weft_lock_op *op,
                      uint64_t *awake_ns, size_t from, size_t signal)
{
    struct per_thread *thread = thread_at(finder, op->thread_id, op->object, &herd->threads);
    if (thread->signal != SIZE_MAX && op->start_ns >= thread->got_ns &&
        op->start_ns - thread->got_ns < AT_ONCE_NS) {
        herd->row.n_futile++;
        uint64_t *last_ns = &awake_ns[thread->signal - from];
        *last_ns = thread->got_ns > *last_ns ? thread->got_ns : *last_ns;
    }
    const bool is_woken = signal != SIZE_MAX && finder->signals[signal].at_ns >= op->start_ns;
    thread->got_ns = op->got_ns;
    thread->signal = is_woken ? signal : SIZE_MAX;
    if (!is_woken)
        return;
    herd->row.n_woken++;
    vote_for(&herd->woken, op->thread_id, 1);
    vote_for(&herd->woken_in, op->site, 1);
}

static bool is_herd(const struct weft_sync_problem *row)
{
    return row->n_events >= LEAST_EVENTS && row->n_woken >= LEAST_WOKEN * row->n_events &&
           (double)row->n_futile >= MOST_FUTILE * (double)row->n_woken &&
           row->share >= LEAST_HERD_SHARE;
}

static bool keep_herd(struct finder *finder, struct herd *herd, uint32_t object)
{
    const double all_ns = (double)weft_trace_meta(finder->trace)->duration_ns;
    struct weft_sync_problem *row = &herd->row;
    row->kind = WEFT_SYNC_HERD;
    row->share = all_ns > 0 ? (double)row->cost_ns / all_ns : 0;
    if (!is_herd(row))
        return true;
    const struct weft_lock_signal *worst = &finder->signals[herd->worst];
    row->n_others = herd->threads.n;
    row->function = text_of(finder, herd->from.id);
    row->other_function = text_of(finder, herd->woken_in.id);
    row->worst_tid = weft_trace_thread(finder->trace, worst->thread_id)->info.tid;
    row->worst_thread_id = worst->thread_id;
    row->worst_start_ns = worst->at_ns;
    row->worst_end_ns = worst->at_ns + herd->worst_ns;
    return name(finder, row, object, herd->waker.id, herd->woken.id) && add(finder, row);
}

/* Operations [from, to) are of a condition. False without memory. */
static bool look_at_condition(struct finder *finder, size_t from, size_t to, size_t first,
                              size_t last)
{
    struct herd herd = { .waker.id = WEFT_ID_NONE,
                         .from.id = WEFT_ID_NONE,
                         .woken.id = WEFT_ID_NONE,
                         .woken_in.id = WEFT_ID_NONE };
    uint64_t *awake_ns = calloc(last - first + 1, sizeof *awake_ns);
    size_t signal = SIZE_MAX, next = first;
    if (!awake_ns)
        return false;
    for (size_t i = from; i < to; i++) {
        for (; next < last && finder->signals[next].at_ns <= finder->ops[i].got_ns; next++)
            signal = finder->signals[next].is_broadcast ? next : signal;
        take_wait(finder, &herd, &finder->ops[i], awake_ns, first, signal);
    }
    add_costs(finder, &herd, awake_ns, first, last);
    free(awake_ns);
    return keep_herd(finder, &herd, finder->ops[from].object);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Waits at a barrier. */
struct barrier {
    uint64_t wait_ns, n_waits;
    struct threads threads;
    struct vote in;
    uint32_t last; /* the thread that the others wait for most; WEFT_ID_NONE: none */
};

static void take_arrival(struct finder *finder, struct barrier *barrier, size_t at)
{
    const struct weft_lock_op *op = &finder->ops[at];
    thread_at(finder, op->thread_id, op->object, &barrier->threads)->site = op->site;
    const struct weft_lock_end end = weft_locks_ended_by(finder->locks, at);
    if (end.thread_id == WEFT_ID_NONE || end.thread_id == op->thread_id)
        return;
    const uint64_t ns = op->got_ns - op->start_ns;
    struct per_thread *last = thread_at(finder, end.thread_id, op->object, &barrier->threads);
    barrier->wait_ns += ns;
    barrier->n_waits++;
    vote_for(&barrier->in, op->site, 1);
    last->sum_ns += ns;
    last->n_last++;
    if (ns > last->longest_ns) {
        last->longest_ns = ns;
        last->longest = at;
    }
    if (barrier->last == WEFT_ID_NONE || last->sum_ns > finder->threads[barrier->last].sum_ns)
        barrier->last = end.thread_id;
}

static bool look_at_barrier(struct finder *finder, size_t from, size_t to)
{
    struct barrier barrier = { .last = WEFT_ID_NONE, .in.id = WEFT_ID_NONE };
    for (size_t i = from; i < to; i++)
        take_arrival(finder, &barrier, i);
    if (barrier.last == WEFT_ID_NONE || barrier.n_waits < LEAST_EVENTS ||
        barrier.threads.life_ns == 0)
        return true;
    const struct per_thread *last = &finder->threads[barrier.last];
    const struct weft_lock_op *longest = &finder->ops[last->longest];
    struct weft_sync_problem row = {
        .kind = WEFT_SYNC_IMBALANCE,
        .n_others = barrier.threads.n - 1,
        .n_events = barrier.n_waits,
        .n_last = last->n_last,
        .cost_ns = last->sum_ns,
        .share = (double)last->sum_ns / (double)barrier.threads.life_ns,
        .function = text_of(finder, last->site),
        .other_function = text_of(finder, barrier.in.id),
        .worst_tid = weft_trace_thread(finder->trace, longest->thread_id)->info.tid,
        .worst_thread_id = longest->thread_id,
        .worst_start_ns = longest->start_ns,
        .worst_end_ns = longest->got_ns
    };
    if ((double)last->sum_ns < MOSTLY_LAST * (double)barrier.wait_ns ||
        (double)last->n_last < MOSTLY_LAST * (double)barrier.n_waits ||
        row.share < LEAST_WAIT_SHARE)
        return true;
    return name(finder, &row, finder->ops[from].object, barrier.last, longest->thread_id) &&
           add(finder, &row);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_share(const void *a, const void *b)
{
    const struct weft_sync_problem *x = a, *y = b;
    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return weft_str_compare(x->object, y->object);
}

static bool look_at_all(struct finder *finder, size_t n_ops)
{
    bool is_good = true;
    size_t signal = 0;
    for (size_t from = 0, to; is_good && from < n_ops; from = to) {
        const uint32_t id = finder->ops[from].object;
        const struct weft_lock_object *object = weft_locks_object(finder->locks, id);
        for (to = from; to < n_ops && finder->ops[to].object == id;)
            to++;
        while (signal < finder->n_signals && finder->signals[signal].object < id)
            signal++;
        const size_t first = signal;
        while (signal < finder->n_signals && finder->signals[signal].object == id)
            signal++;
        if (object->is_untold)
            continue;
        if (object->kind == WEFT_LOCK_CONDITION && signal > first)
            is_good = look_at_condition(finder, from, to, first, signal);
        else if (object->kind == WEFT_LOCK_BARRIER)
            is_good = look_at_barrier(finder, from, to);
    }
    return is_good;
}

bool weft_syncs_may_be(const struct weft_trace *trace)
{
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++) {
        const struct weft_lock_use use = weft_lock_use_of(weft_trace_function(trace, id)->name);
        if (use.role != WEFT_LOCK_NO_ROLE &&
            (use.kind == WEFT_LOCK_BARRIER ||
             (use.kind == WEFT_LOCK_CONDITION && use.is_broadcast)))
            return true;
    }
    return false;
}

enum weft_code weft_syncs_find(const struct weft_trace *trace, const struct weft_locks *locks,
                               struct weft_arena *arena, struct weft_sync_problem **rows,
                               size_t *n_rows, struct weft_err *err)
{
    struct finder finder = { .trace = trace, .locks = locks, .arena = arena };
    size_t n_ops;
    finder.ops = weft_locks_ops(locks, &n_ops);
    finder.signals = weft_locks_signals(locks, &finder.n_signals);
    finder.threads = calloc((size_t)weft_trace_n_threads(trace) + 1, sizeof *finder.threads);
    bool is_good = finder.threads && look_at_all(&finder, n_ops);
    *n_rows = finder.rows.n;
    *rows = is_good ? WEFT_ARENA_NEW(arena, finder.rows.n + 1, struct weft_sync_problem) : NULL;
    is_good = is_good && *rows;
    for (size_t i = 0; is_good && i < finder.rows.n; i++)
        (*rows)[i] = finder.rows.items[i];
    if (is_good)
        qsort(*rows, *n_rows, sizeof **rows, by_share);
    free(finder.threads);
    WEFT_VEC_FINI(&finder.rows);
    return is_good ? WEFT_OK : weft_no_memory(err, "problems of synchronization");
}
