/* SPDX-License-Identifier: MIT
 *
 * One pass over the operations by object (waits, percentiles, convoys) and one by thread (the order
 * of acquisition), then the table. Rows are folded by rows.c while they are summed; holders'
 * activity is context.c's.
 */
#include "analysis/locks/locks.h"

#include "analysis/kept_threads.h"
#include "analysis/locks/context.h"
#include "analysis/locks/rows.h"
#include "base/room.h"
#include "base/vec.h"
#include "model/graph/ends.h"
#include "model/graph/trace.h"
#include "model/locks/locks.h"
#include "schema/locks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- open ------------------------------------------------------------------------------------ */

/* Waits that had not ended when their thread or the trace did: by which threads, for which locks,
 * their holders, and cycles of waiters and holders. Collects waits without an end, names joined
 * threads by their handles, and finds deadlocks as cycles of the function "wait -> open wait of
 * its holder": each wait has one successor, so one marking walk finds all in O(n). */

struct weft_locks_opens {
    struct weft_locks_open *items;
    size_t n, cap;
};

/* Adds the operation at that place, which must be open. WEFT_E_NOMEM. */
static enum weft_code weft_locks_open_add(struct weft_locks_opens *opens,
                                          const struct weft_locks *locks, size_t at,
                                          struct weft_err *err)
{
    size_t n_ops;
    const struct weft_lock_op *op = &weft_locks_ops(locks, &n_ops)[at];
    struct weft_locks_open *open = WEFT_VEC_PUSH(opens);
    if (!open)
        return weft_no_memory(err, "locks");
    *open = (struct weft_locks_open){ .lock = op->object,
                                      .waiter_id = op->thread_id,
                                      .holder_id = weft_locks_holder(locks, at),
                                      .function = weft_locks_site(locks, op->site),
                                      .start_ns = op->start_ns,
                                      .wait_ns = op->got_ns - op->start_ns };
    return WEFT_OK;
}

/* ---- joins by handle ------------------------------------------------------------------------- */

static bool is_join_by_handle(const struct weft_locks *locks, const struct weft_locks_open *open)
{
    const struct weft_lock_object *object = weft_locks_object(locks, open->lock);
    return object->kind == WEFT_LOCK_JOIN && open->holder_id == WEFT_ID_NONE && !object->is_untold;
}

static enum weft_code name_joined(struct weft_locks_opens *opens, const struct weft_trace *trace,
                                  const struct weft_locks *locks, struct weft_err *err)
{
    struct weft_graph_ends ends = { 0 };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < opens->n && code == WEFT_OK; i++) {
        struct weft_locks_open *open = &opens->items[i];
        if (!is_join_by_handle(locks, open))
            continue;
        code = weft_graph_ends_handles(&ends, trace, UINT64_MAX, err);
        if (code == WEFT_OK)
            open->holder_id = weft_graph_ends_thread(
                &ends, &weft_trace_thread(trace, open->waiter_id)->info,
                weft_locks_object(locks, open->lock)->address, open->start_ns);
    }
    weft_graph_ends_fini(&ends);
    return code;
}

/* ---- cycles --------------------------------------------------------------------------------- */

/* The open wait of each thread, + 1: the last that began, if there are two. */
static uint32_t *waits_of(const struct weft_locks_opens *opens, size_t n_threads)
{
    uint32_t *wait_of = calloc(n_threads + 1, sizeof *wait_of);
    for (uint32_t i = 0; i < opens->n && wait_of; i++) {
        uint32_t *of = &wait_of[opens->items[i].waiter_id];
        if (!*of || opens->items[*of - 1].start_ns <= opens->items[i].start_ns)
            *of = i + 1;
    }
    return wait_of;
}

/* The wait that the holder of this one is in, + 1; 0: none. */
static uint32_t next_of(const struct weft_locks_opens *opens, const uint32_t *wait_of, uint32_t at)
{
    const uint32_t holder_id = opens->items[at - 1].holder_id;
    return holder_id == WEFT_ID_NONE ? 0 : wait_of[holder_id];
}

/* From each wait on to that of its holder, until one was seen before: if in this walk, from there
 * on it is a cycle. */
static enum weft_code find_cycles(struct weft_locks_opens *opens, size_t n_threads,
                                  uint32_t *n_deadlocks, struct weft_err *err)
{
    uint32_t *wait_of = waits_of(opens, n_threads);
    uint32_t *seen = calloc(opens->n + 2, sizeof *seen);
    *n_deadlocks = 0;
    for (uint32_t first = 1; first <= opens->n && wait_of && seen; first++) {
        uint32_t at = first;
        for (; at && !seen[at]; at = next_of(opens, wait_of, at))
            seen[at] = first;
        if (!at || seen[at] != first || opens->items[at - 1].deadlock)
            continue;
        ++*n_deadlocks;
        for (uint32_t order = 0; !opens->items[at - 1].deadlock; at = next_of(opens, wait_of, at)) {
            opens->items[at - 1].deadlock = *n_deadlocks;
            opens->items[at - 1].order = order++;
        }
    }
    const bool is_good = wait_of && seen;
    free(wait_of);
    free(seen);
    return is_good ? WEFT_OK : weft_no_memory(err, "locks");
}

static int by_thread(const void *a, const void *b)
{
    const struct weft_locks_open *x = a, *y = b;
    if (x->waiter_id != y->waiter_id)
        return x->waiter_id < y->waiter_id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

static int by_rank(const void *a, const void *b)
{
    const struct weft_locks_open *x = a, *y = b;
    const uint32_t x_rank = x->deadlock - 1, y_rank = y->deadlock - 1; /* none: last */
    if (x_rank != y_rank)
        return x_rank < y_rank ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns > y->wait_ns ? -1 : 1;
    return by_thread(a, b);
}

/* Names the threads that are joined by their handles; numbers the cycles, each from the thread
 * with the lowest id on; puts cycles first, then the longest waits. `place` says where each lock
 * stands in the table. Reads which thread made which, if a join is open. */
static enum weft_code weft_locks_opens_finish(struct weft_locks_opens *opens,
                                              const struct weft_trace *trace,
                                              const struct weft_locks *locks, const uint32_t *place,
                                              uint32_t *n_deadlocks, struct weft_err *err)
{
    *n_deadlocks = 0;
    if (opens->n == 0)
        return WEFT_OK;
    qsort(opens->items, opens->n, sizeof *opens->items, by_thread);
    enum weft_code code = name_joined(opens, trace, locks, err);
    WEFT_THEN(code, find_cycles(opens, weft_trace_n_threads(trace), n_deadlocks, err));
    qsort(opens->items, opens->n, sizeof *opens->items, by_rank);
    for (size_t i = 0; i < opens->n; i++)
        opens->items[i].lock = place[opens->items[i].lock];
    return code;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Fewer waits for the one before, one after the other, are no convoy. */
enum { CONVOY_WAITS = 3, SHARE = 2 };

/* A lock that its thread has, while the thread's operations are gone through. */
struct having {
    uint64_t end_ns;
    uint32_t object;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_locks_opts *opts;
    const struct weft_run *run;
    struct weft_locks *locks;
    const struct weft_lock_op *ops;
    size_t n_ops;
    struct weft_left_out left_out;
    uint8_t *is_kept;            /* by thread: it is asked for, or a twin */
    struct weft_locks_row *rows; /* by object */
    uint64_t *last_seen;         /* by thread: the last object counted for it, + 1 */
    uint32_t *last_waited;       /* by thread: the last object that it waited for, + 1 */
    uint64_t shared_ns;          /* waits for the object in work that its own waiters ended */
    struct weft_strtab *names;
    struct weft_locks_sites sites;
    struct weft_locks_pairs pairs;
    struct weft_locks_contexts contexts;
    struct weft_locks_orders orders;
    struct weft_locks_convoys convoys;
    struct weft_locks_opens opens;
    struct {
        struct weft_locks_blame *items;
        size_t n, cap;
    } blames;
    struct {
        uint64_t *items;
        size_t n, cap;
    } waits; /* of the object in work */
    struct {
        struct having *items;
        size_t n, cap;
    } having;
    size_t op; /* in work */
};

/* ---- which operations count ------------------------------------------------------------------ */

static bool is_asked_for(const struct weft_lock_object *object, struct weft_str lock)
{
    char address[24];
    const int n = snprintf(address, sizeof address, "0x%" PRIx64, object->address);
    return lock.n_bytes == 0 || (object->name.n_bytes && weft_str_equal(object->name, lock)) ||
           (object->address && n > 0 &&
            weft_str_equal((struct weft_str){ address, (size_t)n }, lock));
}

/* Of whatever lock. */
static bool is_within(const struct job *job, const struct weft_lock_op *op)
{
    return op->got_ns >= job->opts->from_ns && op->got_ns <= job->opts->to_ns &&
           job->is_kept[op->thread_id];
}

static bool counts(const struct job *job, const struct weft_lock_op *op)
{
    return is_within(job, op) &&
           is_asked_for(weft_locks_object(job->locks, op->object), job->opts->lock);
}

static size_t count_locks_within(const struct job *job)
{
    size_t n = 0;
    uint32_t last = WEFT_ID_NONE;
    for (size_t i = 0; i < job->n_ops; i++)
        if (job->ops[i].object != last && is_within(job, &job->ops[i])) {
            last = job->ops[i].object;
            n++;
        }
    return n;
}

/* Is there any such lock? */
static enum weft_code check_lock(const struct job *job, struct weft_err *err)
{
    const struct weft_str lock = job->opts->lock;
    const size_t n_objects = weft_locks_n_objects(job->locks);
    bool is_known = lock.n_bytes == 0;
    for (uint32_t object = 0; object < n_objects && !is_known; object++)
        is_known = is_asked_for(weft_locks_object(job->locks, object), lock);
    if (is_known)
        return WEFT_OK;
    const size_t n_locks = count_locks_within(job);
    const int n_shown = lock.n_bytes < 80 ? (int)lock.n_bytes : 80;
    if (n_locks == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no lock is called '%.*s': no lock operations recorded", n_shown,
                         lock.bytes);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no lock has the name or address '%.*s'; there %s %zu "
                     "('weft locks' lists %s)",
                     n_shown, lock.bytes, n_locks == 1 ? "is" : "are", n_locks,
                     n_locks == 1 ? "it" : "them");
}

/* ---- idle ------------------------------------------------------------------------------------ */

/* A wait for work is in the loop of its thread: in the function that the thread starts with, or in
 * one that it calls. */
enum { LOOP_DEPTH = 2 };

/* Waits for new work or for the end of a thread, outside of any request. Where calls are unknown,
 * threads are often named after the function that they start with. */
static bool is_idle(const struct job *job, const struct weft_lock_op *op)
{
    const struct weft_thread_info *thread = &weft_trace_thread(job->trace, op->thread_id)->info;
    const struct weft_str site = weft_locks_site(job->locks, op->site);
    switch ((enum weft_lock_kind)weft_locks_object(job->locks, op->object)->kind) {
    case WEFT_LOCK_JOIN:
        return op->depth <= LOOP_DEPTH || thread->tid == thread->pid;
    case WEFT_LOCK_CONDITION:
    case WEFT_LOCK_SEMAPHORE:
    case WEFT_LOCK_FUTEX:
        return op->depth ? op->depth <= LOOP_DEPTH
                         : site.n_bytes > 0 && weft_str_equal(site, thread->name);
    case WEFT_LOCK_MUTEX:
    case WEFT_LOCK_RWLOCK:
    case WEFT_LOCK_SPIN:
    case WEFT_LOCK_BARRIER:
    case WEFT_LOCK_KINDS:
        break;
    }
    return false;
}

/* A wait for what is not held, of a length. Outside of loops it delays its thread. */
static void count_event_wait(const struct job *job, const struct weft_lock_op *op, uint64_t wait_ns,
                             struct weft_locks_row *row)
{
    const bool is_barrier = weft_locks_object(job->locks, op->object)->kind == WEFT_LOCK_BARRIER;
    if (is_idle(job, op))
        row->idle_ns += wait_ns;
    else if (op->depth || is_barrier)
        row->blame_ns += wait_ns;
}

/* What the threads that wait for it mostly give each other, such as connections of a pool, is no
 * queue of work: no wait for it is idle. */
static void finish_blame(struct job *job, uint32_t object)
{
    struct weft_locks_row *row = &job->rows[object];
    const uint8_t kind = weft_locks_object(job->locks, object)->kind;
    if (weft_lock_is_held(kind)) {
        row->blame_ns = row->blocking_ns;
    } else if (kind != WEFT_LOCK_JOIN && row->blocking_ns > 0 &&
               job->shared_ns >= row->blocking_ns / 2) {
        row->blame_ns = row->wait_ns;
        row->idle_ns = 0;
    }
    job->shared_ns = 0;
}

/* ---- one operation --------------------------------------------------------------------------- */

static enum weft_code see_blocker(void *context, uint32_t thread_id, uint64_t from_ns,
                                  uint64_t to_ns, struct weft_err *err)
{
    struct job *job = context;
    const struct weft_lock_op *op = &job->ops[job->op];
    const struct weft_locks_pair pair = { .lock = op->object,
                                          .blocker_id = thread_id,
                                          .waiter_id = op->thread_id,
                                          .count = 1,
                                          .sum_ns = to_ns - from_ns,
                                          .longest_ns = to_ns - from_ns,
                                          .longest_at_ns = from_ns };
    struct weft_locks_blame *blame = WEFT_ROOM_PUSH(&job->blames);
    if (!blame)
        return weft_no_memory(err, "locks");
    *blame = (struct weft_locks_blame){ from_ns, to_ns, thread_id, op->object };
    job->rows[op->object].blocking_ns += to_ns - from_ns;
    if (job->last_waited[thread_id] == op->object + 1)
        job->shared_ns += to_ns - from_ns;
    return weft_locks_pair_add(&job->pairs, &pair, err);
}

static enum weft_code count_wait(struct job *job, const struct weft_lock_op *op,
                                 struct weft_locks_row *row, struct weft_err *err)
{
    const uint64_t wait_ns = op->got_ns - op->start_ns;
    uint64_t *place = WEFT_ROOM_PUSH(&job->waits);
    if (!place)
        return weft_no_memory(err, "locks");
    *place = wait_ns;
    row->contended++;
    row->wait_ns += wait_ns;
    job->last_waited[op->thread_id] = op->object + 1;
    if (!weft_lock_is_held(weft_locks_object(job->locks, op->object)->kind))
        count_event_wait(job, op, wait_ns, row);
    if (wait_ns > row->longest_wait_ns) {
        row->longest_wait_ns = wait_ns;
        row->longest_wait_at_ns = op->start_ns;
    }
    return weft_locks_blockers(job->locks, job->op, see_blocker, job, err);
}

static enum weft_code count_op(struct job *job, size_t at, struct weft_err *err)
{
    const struct weft_lock_op *op = &job->ops[at];
    struct weft_locks_row *row = &job->rows[op->object];
    const bool is_contended = weft_locks_is_contended(job->locks, at);
    const uint64_t hold_ns = op->end_ns - op->got_ns;
    const bool is_open = op->flags & WEFT_LOCK_OPEN;
    enum weft_code code = WEFT_OK;
    job->op = at;
    if (job->last_seen[op->thread_id] != (uint64_t)op->object + 1)
        row->threads++;
    job->last_seen[op->thread_id] = (uint64_t)op->object + 1;
    row->open += is_open;
    row->failed += op->flags & WEFT_LOCK_FAILED && !is_open;
    row->acquisitions += !(op->flags & WEFT_LOCK_FAILED);
    row->partial += (op->flags & (WEFT_LOCK_PARTIAL | WEFT_LOCK_NO_RELEASE)) != 0;
    row->hold_ns += hold_ns;
    if (hold_ns > row->longest_hold_ns)
        row->longest_hold_ns = hold_ns;
    if (is_contended)
        code = count_wait(job, op, row, err);
    if (is_open && code == WEFT_OK)
        code = weft_locks_open_add(&job->opens, job->locks, at, err);
    const struct weft_locks_site site = {
        .lock = op->object,
        .name = weft_locks_site(job->locks, op->site),
        .acquisitions = !(op->flags & WEFT_LOCK_FAILED),
        .contended = is_contended,
        .wait_ns = is_contended ? op->got_ns - op->start_ns : 0,
        .longest_wait_ns = is_contended ? op->got_ns - op->start_ns : 0,
        .hold_ns = hold_ns,
    };
    return code == WEFT_OK ? weft_locks_site_add(&job->sites, &site, err) : code;
}

/* ---- one lock -------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Nearest rank: the least that 99 of 100 do not exceed. */
static void finish_waits(struct job *job, struct weft_locks_row *row)
{
    const size_t n = job->waits.n;
    if (n) {
        weft_room_sort(job->waits.items, n, sizeof *job->waits.items, by_value);
        row->p99_wait_ns = job->waits.items[(n * 99 + 99) / 100 - 1];
    }
    job->waits.n = 0;
}

/* Operations [from, to) each waited, but for the first, for the one before. */
static enum weft_code end_convoy(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    struct weft_locks_row *row = &job->rows[job->ops[from].object];
    if (to - from <= CONVOY_WAITS)
        return WEFT_OK;
    struct weft_locks_convoy *convoy = WEFT_ROOM_PUSH(&job->convoys);
    if (!convoy)
        return weft_no_memory(err, "locks");
    *convoy = (struct weft_locks_convoy){ .lock = job->ops[from].object,
                                          .start_ns = job->ops[from].got_ns,
                                          .end_ns = job->ops[to - 1].got_ns,
                                          .acquisitions = to - from };
    for (size_t i = from; i < to; i++) {
        bool is_new = true;
        for (size_t j = from; j < i && is_new && i - j < 64; j++)
            is_new = job->ops[j].thread_id != job->ops[i].thread_id;
        convoy->threads += is_new;
        convoy->wait_ns += i > from ? job->ops[i].got_ns - job->ops[i].start_ns : 0;
    }
    row->convoys++;
    if (to - from > row->longest_convoy)
        row->longest_convoy = to - from;
    return WEFT_OK;
}

/* Whether the operation waited for the one before it, on a lock that is held. */
static bool waited_for(const struct job *job, size_t before, size_t at)
{
    const struct weft_lock_op *a = &job->ops[before], *b = &job->ops[at];
    return a->thread_id != b->thread_id && b->start_ns < a->end_ns && a->end_ns <= b->got_ns &&
           a->got_ns < a->end_ns && counts(job, a) && counts(job, b) &&
           !((a->flags | b->flags) & WEFT_LOCK_FAILED);
}

static enum weft_code find_convoys(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    const struct weft_lock_object *object = weft_locks_object(job->locks, job->ops[from].object);
    enum weft_code code = WEFT_OK;
    size_t begin = from;
    if (!weft_lock_is_held(object->kind) || object->is_untold)
        return WEFT_OK;
    for (size_t i = from + 1; i <= to && code == WEFT_OK; i++) {
        if (i < to && waited_for(job, i - 1, i))
            continue;
        code = end_convoy(job, begin, i, err);
        begin = i;
    }
    return code;
}

static enum weft_code count_object(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = from; i < to && code == WEFT_OK; i++) {
        if (counts(job, &job->ops[i]))
            code = count_op(job, i, err);
        if (code == WEFT_OK && weft_progress_is_cancelled(job->run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    }
    finish_waits(job, &job->rows[job->ops[from].object]);
    finish_blame(job, job->ops[from].object);
    weft_progress_add(job->run->progress, to - from);
    return code == WEFT_OK ? find_convoys(job, from, to, err) : code;
}

/* ---- the order of acquisition ---------------------------------------------------------------- */

/* The locks that the thread holds when it acquires this one. Where an acquisition was not recorded,
 * its time is unknown; where a release was not, whether the lock is still held. */
static enum weft_code add_orders(struct job *job, const struct weft_lock_op *op,
                                 struct weft_err *err)
{
    const bool is_told = counts(job, op) && !(op->flags & WEFT_LOCK_PARTIAL);
    enum weft_code code = WEFT_OK;
    size_t n_kept = 0;
    for (size_t i = 0; i < job->having.n; i++)
        if (job->having.items[i].end_ns > op->got_ns)
            job->having.items[n_kept++] = job->having.items[i];
    job->having.n = n_kept;
    for (size_t i = 0; i < n_kept && code == WEFT_OK && is_told; i++) {
        const struct weft_locks_order order = { .first = job->having.items[i].object,
                                                .second = op->object,
                                                .count = 1,
                                                .first_at_ns = op->got_ns };
        if (order.first != order.second)
            code = weft_locks_order_add(&job->orders, &order, err);
    }
    if (op->flags & WEFT_LOCK_NO_RELEASE)
        return code;
    struct having *having = code == WEFT_OK ? WEFT_ROOM_PUSH(&job->having) : NULL;
    if (!having)
        return code == WEFT_OK ? weft_no_memory(err, "locks") : code;
    *having = (struct having){ op->end_ns, op->object };
    return WEFT_OK;
}

static enum weft_code find_orders(struct job *job, struct weft_err *err)
{
    const uint32_t *by_thread = weft_locks_by_thread(job->locks);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < job->n_ops && code == WEFT_OK; i++) {
        const struct weft_lock_op *op = &job->ops[by_thread[i]];
        const struct weft_lock_object *object = weft_locks_object(job->locks, op->object);
        if (i == 0 || op->thread_id != job->ops[by_thread[i - 1]].thread_id)
            job->having.n = 0;
        if (weft_lock_is_held(object->kind) && !object->is_untold &&
            !(op->flags & WEFT_LOCK_FAILED))
            code = add_orders(job, op, err);
    }
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Blame, then waits that are not idle, then all waits. */
static int by_blame(const void *a, const void *b, void *context)
{
    const struct weft_locks_row *rows = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const uint64_t i_other_ns = rows[i].wait_ns - rows[i].idle_ns;
    const uint64_t j_other_ns = rows[j].wait_ns - rows[j].idle_ns;
    if (rows[i].blame_ns != rows[j].blame_ns)
        return rows[i].blame_ns > rows[j].blame_ns ? -1 : 1;
    if (i_other_ns != j_other_ns)
        return i_other_ns > j_other_ns ? -1 : 1;
    if (rows[i].wait_ns != rows[j].wait_ns)
        return rows[i].wait_ns > rows[j].wait_ns ? -1 : 1;
    if (rows[i].acquisitions != rows[j].acquisitions)
        return rows[i].acquisitions > rows[j].acquisitions ? -1 : 1;
    return (i > j) - (i < j);
}

/* ---- places of locks without a name ---------------------------------------------------------- */

static int by_place(const void *a, const void *b, void *context)
{
    const struct weft_locks_row *rows = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (rows[i].object.kind != rows[j].object.kind)
        return rows[i].object.kind < rows[j].object.kind ? -1 : 1;
    const int by_name = weft_str_compare(rows[i].object.place, rows[j].object.place);
    return by_name ? by_name : (i > j) - (i < j);
}

/* Where each is first acquired or waited for, and which of those with the same kind and place it
 * is, in the order of the table. `order` is overwritten. */
static void name_places(struct job *job, struct weft_locks_table *table, const uint32_t *place,
                        uint32_t *order)
{
    for (size_t i = 0; i < job->n_ops; i++) {
        const struct weft_lock_op *op = &job->ops[i];
        const struct weft_locks_row *row = &job->rows[op->object];
        if (!row->acquisitions && !row->failed && !row->open)
            continue;
        struct weft_lock_object *object = &table->rows[place[op->object]].object;
        if (object->place.n_bytes == 0)
            object->place = weft_locks_site(job->locks, op->site);
    }
    for (uint32_t i = 0; i < table->n_rows; i++)
        order[i] = i;
    if (table->n_rows)
        weft_room_sort_r(order, table->n_rows, sizeof *order, by_place, table->rows);
    for (size_t i = 1; i < table->n_rows; i++) {
        const struct weft_lock_object *before = &table->rows[order[i - 1]].object;
        struct weft_lock_object *object = &table->rows[order[i]].object;
        if (before->kind == object->kind && weft_str_equal(before->place, object->place))
            object->nth_of_place = before->nth_of_place + 1;
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool copy_names(struct weft_arena *arena, struct weft_locks_table *table)
{
    bool is_good = true;
#define COPY(member)                                                                               \
    if (is_good && (member).n_bytes) {                                                             \
        (member) = weft_arena_copy(arena, (member));                                               \
        is_good = (member).bytes != NULL;                                                          \
    }
    for (size_t i = 0; i < table->n_rows; i++) {
        COPY(table->rows[i].object.name)
        COPY(table->rows[i].object.place)
    }
    for (size_t i = 0; i < table->n_sites; i++)
        COPY(table->sites[i].name)
    for (size_t i = 0; i < table->n_contexts; i++)
        COPY(table->contexts[i].name)
    for (size_t i = 0; i < table->n_opens; i++)
        COPY(table->opens[i].function)
#undef COPY
    return is_good;
}

/* Objects that count, most blame first; `place` of each in that order. */
static size_t sort_rows(struct job *job, uint32_t *order, uint32_t *place)
{
    const size_t n_objects = weft_locks_n_objects(job->locks);
    size_t n = 0;
    for (uint32_t object = 0; object < n_objects; object++)
        if (job->rows[object].acquisitions || job->rows[object].failed || job->rows[object].open)
            order[n++] = object;
    weft_room_sort_r(order, n, sizeof *order, by_blame, job->rows);
    for (size_t i = 0; i < n; i++)
        place[order[i]] = (uint32_t)i;
    return n;
}

/* Orders of which one lock does not count are left out. */
static void drop_orders(struct job *job)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < job->orders.n; i++) {
        const struct weft_locks_order *order = &job->orders.items[i];
        if (job->rows[order->first].acquisitions && job->rows[order->second].acquisitions)
            job->orders.items[n_kept++] = *order;
    }
    job->orders.n = n_kept;
}

static enum weft_code fill_table(struct job *job, uint32_t *order, uint32_t *place,
                                 struct weft_locks_table *table, struct weft_err *err)
{
    table->n_rows = sort_rows(job, order, place);
    table->rows = WEFT_ARENA_NEW(table->arena, table->n_rows, struct weft_locks_row);
    if (!table->rows)
        return weft_no_memory(err, "locks");
    for (size_t i = 0; i < table->n_rows; i++) {
        table->rows[i] = job->rows[order[i]];
        table->rows[i].object = *weft_locks_object(job->locks, order[i]);
    }
    name_places(job, table, place, order);
    for (size_t i = 0; i < job->n_ops; i++)
        for (unsigned bit = 0; bit < WEFT_LOCK_N_SOURCES; bit++)
            table->operations[bit] += job->ops[i].source >> bit & 1 && counts(job, &job->ops[i]);
    drop_orders(job);
    weft_locks_sites_finish(&job->sites, place);
    weft_locks_pairs_finish(&job->pairs, place);
    weft_locks_contexts_finish(&job->contexts, place);
    weft_locks_orders_finish(&job->orders, place);
    weft_locks_convoys_finish(&job->convoys, place);
    WEFT_TRY(weft_locks_opens_finish(&job->opens, job->trace, job->locks, place,
                                     &table->n_deadlocks, err));
#define COPY(member)                                                                               \
    (table->n_##member = job->member.n,                                                            \
     weft_arena_copy_items(table->arena, &table->member, job->member.items, job->member.n,         \
                           sizeof *table->member))
    return COPY(sites) && COPY(pairs) && COPY(contexts) && COPY(orders) && COPY(convoys) &&
                   COPY(opens) && copy_names(table->arena, table)
               ? WEFT_OK
               : weft_no_memory(err, "locks");
#undef COPY
}

static enum weft_code make_table(struct job *job, struct weft_locks_table **result,
                                 struct weft_err *err)
{
    const size_t n_objects = weft_locks_n_objects(job->locks);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_locks_table *table =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_locks_table) : NULL;
    uint32_t *order = weft_room_new(n_objects + 1, sizeof *order);
    uint32_t *place = weft_room_new(n_objects + 1, sizeof *place);
    if (table)
        *table = (struct weft_locks_table){ .arena = arena,
                                            .from_ns = job->opts->from_ns,
                                            .to_ns = job->opts->to_ns,
                                            .left_out = job->left_out,
                                            .unmatched = weft_locks_unmatched(job->locks),
                                            .has_others = job->n_ops > 0,
                                            .has_switches = weft_trace_has_switches(job->trace) };
    const enum weft_code code = table && order && place ? fill_table(job, order, place, table, err)
                                                        : weft_no_memory(err, "locks");
    weft_room_free(order);
    weft_room_free(place);
    if (code == WEFT_OK)
        *result = table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}

static void job_fini(struct job *job)
{
    weft_locks_close(job->locks);
    weft_strtab_free(job->names);
    free(job->is_kept);
    weft_room_free(job->last_seen);
    weft_room_free(job->last_waited);
    weft_room_free(job->rows);
    WEFT_ROOM_FINI(&job->sites);
    WEFT_ROOM_FINI(&job->pairs);
    WEFT_ROOM_FINI(&job->contexts);
    WEFT_ROOM_FINI(&job->orders);
    WEFT_ROOM_FINI(&job->convoys);
    WEFT_VEC_FINI(&job->opens);
    WEFT_ROOM_FINI(&job->blames);
    WEFT_ROOM_FINI(&job->waits);
    WEFT_ROOM_FINI(&job->having);
}

static enum weft_code work(struct job *job, struct weft_err *err)
{
    job->ops = weft_locks_ops(job->locks, &job->n_ops);
    job->rows = weft_room_new(weft_locks_n_objects(job->locks) + 1, sizeof *job->rows);
    job->last_seen =
        weft_room_new((size_t)weft_trace_n_threads(job->trace) + 1, sizeof *job->last_seen);
    job->last_waited =
        weft_room_new((size_t)weft_trace_n_threads(job->trace) + 1, sizeof *job->last_waited);
    job->names = weft_strtab_new();
    if (!job->rows || !job->last_seen || !job->last_waited || !job->names)
        return weft_no_memory(err, "locks");
    enum weft_code code = check_lock(job, err);
    weft_progress_start(job->run->progress, "looking at locks", "operations", job->n_ops);
    for (size_t from = 0, to = 0; from < job->n_ops && code == WEFT_OK; from = to) {
        for (to = from + 1; to < job->n_ops && job->ops[to].object == job->ops[from].object;)
            to++;
        code = count_object(job, from, to, err);
    }
    WEFT_THEN(code, find_orders(job, err));
    WEFT_THEN(code,
              weft_locks_contexts_find(job->trace, weft_locks_twins(job->locks), job->blames.items,
                                       job->blames.n, job->run, job->names, &job->contexts, err));
    return code;
}

enum weft_code weft_locks_run(const struct weft_trace *trace,
                              const struct weft_thread_filter *filter,
                              const struct weft_locks_opts *opts, const struct weft_run *run,
                              struct weft_locks_table **table, struct weft_err *err)
{
    struct job job = { .trace = trace, .opts = opts, .run = run };
    *table = NULL;
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    const struct weft_locks_span span = { .to_ns = opts->to_ns < UINT64_MAX ? opts->to_ns + 1
                                                                            : opts->to_ns };
    enum weft_code code = weft_locks_open(trace, &span, run->memory_bytes / SHARE, &job.locks, err);
    WEFT_THEN(code,
              weft_kept_threads(trace, job.locks, filter,
                                opts->all_processes ? NULL : &job.left_out, &job.is_kept, err));
    WEFT_THEN(code, work(&job, err));
    WEFT_THEN(code, make_table(&job, table, err));
    job_fini(&job);
    return code;
}
