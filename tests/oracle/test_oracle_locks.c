/* SPDX-License-Identifier: MIT
 *
 * Locks against what really happened: threads that lock, wait and unlock are simulated ns by ns,
 * and the same run is told in four ways - events of a lock library, calls with the lock as
 * argument, futex calls alone, and both events and futex calls, of two merged traces, the events of
 * releases late. Each must lead to what a plain count over the simulated operations gives.
 */
#include "analysis/locks/locks.h"
#include "schema/result.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum {
    SEEDS = 300,
    SEEDS_A_LINE = 50,
    MOST_THREADS = 5,
    MOST_LOCKS = 4,
    MOST_OPS = 600,
    MOST_NS = 700,
    STEP_NS = 4,
    FIRST_TID = 100,
    PID = 77,
    ADDRESS = 0x1000,
};

enum manner { EVENTS, CALLS, FUTEXES, BOTH, MANNERS };

enum function { FN_MAIN, FN_LOCK, FN_UNLOCK, FN_READ, FN_WRITE, FN_RW_UNLOCK, FUNCTIONS };

struct op {
    uint64_t start_ns, got_ns, end_ns;
    unsigned thread, lock;
    bool is_shared, is_told_of_release; /* by a futex call */
};

struct world {
    uint64_t state;
    unsigned n_threads, n_locks;
    bool is_rw[MOST_LOCKS];
    struct op ops[MOST_OPS];
    size_t n_ops;
    size_t held[MOST_THREADS][MOST_LOCKS]; /* operation + 1 */
    size_t waits[MOST_THREADS];            /* operation + 1 */
    uint64_t busy_ns[MOST_THREADS];
};

static char path[64], what[300];
static struct world world;

static uint64_t roll(uint64_t n)
{
    return tap_random(&world.state) % n;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static bool is_free(const struct world *w, unsigned lock, bool is_shared)
{
    for (unsigned t = 0; t < w->n_threads; t++)
        if (w->held[t][lock] && !(is_shared && w->ops[w->held[t][lock] - 1].is_shared))
            return false;
    return true;
}

static void get(struct world *w, unsigned thread, size_t op, uint64_t now_ns)
{
    w->ops[op].got_ns = now_ns;
    w->held[thread][w->ops[op].lock] = op + 1;
    w->waits[thread] = 0;
    w->busy_ns[thread] = now_ns + 1 + roll(8);
}

static void ask(struct world *w, unsigned thread, uint64_t now_ns)
{
    const unsigned lock = (unsigned)roll(w->n_locks);
    const bool is_shared = w->is_rw[lock] && roll(2);
    bool is_in_order = true;
    for (unsigned l = lock; l < w->n_locks; l++)
        is_in_order &= w->held[thread][l] == 0;
    if (w->held[thread][lock] || w->n_ops == MOST_OPS)
        return;
    if (!is_in_order && !is_free(w, lock, is_shared)) /* nobody may wait in a circle */
        return;
    const size_t op = w->n_ops++;
    w->ops[op] =
        (struct op){ .start_ns = now_ns, .thread = thread, .lock = lock, .is_shared = is_shared };
    if (is_free(w, lock, is_shared))
        get(w, thread, op, now_ns);
    else
        w->waits[thread] = op + 1;
}

static bool is_waited_for(const struct world *w, unsigned lock)
{
    for (unsigned t = 0; t < w->n_threads; t++)
        if (w->waits[t] && w->ops[w->waits[t] - 1].lock == lock)
            return true;
    return false;
}

static bool let_go(struct world *w, unsigned thread, uint64_t now_ns)
{
    const unsigned first = (unsigned)roll(w->n_locks);
    for (unsigned i = 0; i < w->n_locks; i++) {
        const unsigned lock = (first + i) % w->n_locks;
        struct op *op = w->held[thread][lock] ? &w->ops[w->held[thread][lock] - 1] : NULL;
        if (!op)
            continue;
        op->end_ns = now_ns;
        op->is_told_of_release = op->start_ns < op->got_ns || is_waited_for(w, lock);
        w->held[thread][lock] = 0;
        w->busy_ns[thread] = now_ns + 1 + roll(8);
        return true;
    }
    return false;
}

static bool act(struct world *w, unsigned thread, uint64_t now_ns, bool is_ending)
{
    if (w->waits[thread]) {
        const size_t op = w->waits[thread] - 1;
        if (is_free(w, w->ops[op].lock, w->ops[op].is_shared))
            get(w, thread, op, now_ns);
        return true;
    }
    if (w->busy_ns[thread] > now_ns)
        return true;
    if (is_ending || roll(2))
        return let_go(w, thread, now_ns) || !is_ending;
    ask(w, thread, now_ns);
    return true;
}

static void simulate(struct world *w)
{
    bool is_busy = true;
    w->n_threads = 2 + (unsigned)roll(MOST_THREADS - 1);
    w->n_locks = 1 + (unsigned)roll(MOST_LOCKS);
    for (unsigned lock = 0; lock < w->n_locks; lock++)
        w->is_rw[lock] = roll(3) == 0;
    const uint64_t last_ns = 40 + roll(MOST_NS);
    for (uint64_t now_ns = 1; is_busy; now_ns++) {
        const unsigned first = (unsigned)roll(w->n_threads);
        is_busy = now_ns < last_ns;
        for (unsigned i = 0; i < w->n_threads; i++)
            is_busy |= act(w, (first + i) % w->n_threads, now_ns, now_ns >= last_ns);
    }
    for (size_t i = 0; i < w->n_ops; i++) { /* so there is time in between */
        w->ops[i].start_ns *= STEP_NS;
        w->ops[i].got_ns *= STEP_NS;
        w->ops[i].end_ns *= STEP_NS;
    }
}

/* ---- how it is told -------------------------------------------------------------------------- */

/* A moment of one thread. */
struct moment {
    uint64_t at_ns;
    size_t op;
    unsigned part; /* 0: asks, 1: gets, 2: lets go */
};

static int by_moment(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if ((x->part == 2) != (y->part == 2)) /* a thread lets go before it asks again */
        return x->part == 2 ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

static size_t moments_of(const struct world *w, unsigned thread, struct moment *moments)
{
    size_t n = 0;
    for (size_t i = 0; i < w->n_ops; i++) {
        const uint64_t at_ns[] = { w->ops[i].start_ns, w->ops[i].got_ns, w->ops[i].end_ns };
        for (unsigned part = 0; part < 3 && w->ops[i].thread == thread; part++)
            moments[n++] = (struct moment){ at_ns[part], i, part };
    }
    qsort(moments, n, sizeof *moments, by_moment);
    return n;
}

static struct weft_event blank(uint64_t at_ns, enum weft_event_kind kind)
{
    return (struct weft_event){ .time_ns = at_ns,
                                .kind = kind,
                                .cpu = -1,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
}

static uint64_t address_of(unsigned lock)
{
    return ADDRESS + lock * UINT64_C(64);
}

/* A release that the kernel saw may be told late. */
static enum weft_code tell_events(struct weft_sink *sink, uint32_t id, const struct world *w,
                                  const struct moment *moments, size_t n, bool is_late,
                                  struct weft_err *err)
{
    static const enum weft_event_kind kinds[] = { WEFT_EVENT_LOCK_REQUEST, WEFT_EVENT_LOCK_ACQUIRED,
                                                  WEFT_EVENT_LOCK_RELEASED };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++) {
        const struct op *op = &w->ops[moments[i].op];
        struct weft_event event = blank(moments[i].at_ns, kinds[moments[i].part]);
        if (is_late && moments[i].part == 2 && op->is_told_of_release)
            event.time_ns += 1 + roll(STEP_NS - 1);
        event.value = address_of(op->lock);
        event.name = !w->is_rw[op->lock] ? WEFT_STR("mutex_lock")
                     : op->is_shared     ? WEFT_STR("rwlock_rdlock")
                                         : WEFT_STR("rwlock_wrlock");
        code = sink->ops->events(sink, id, &event, 1, err);
    }
    return code;
}

static enum weft_code tell_futex(struct weft_sink *sink, uint32_t id, uint64_t from_ns,
                                 uint64_t to_ns, const struct op *op, bool is_wait,
                                 struct weft_err *err)
{
    struct weft_event events[2] = { blank(from_ns, WEFT_EVENT_SYSCALL_ENTER),
                                    blank(to_ns, WEFT_EVENT_SYSCALL_EXIT) };
    events[0].name = events[1].name = WEFT_STR("futex");
    events[0].value = address_of(op->lock);
    events[0].prev_state = is_wait ? 0x80 : 0x81;
    events[0].object_id = is_wait ? 2 : 1;
    return sink->ops->events(sink, id, events, 2, err);
}

/* `margin_ns`: the system call begins after the request, and ends before the thread has the lock.
 */
static enum weft_code tell_futexes(struct weft_sink *sink, uint32_t id, const struct world *w,
                                   const struct moment *moments, size_t n, uint64_t margin_ns,
                                   struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++) {
        const struct op *op = &w->ops[moments[i].op];
        if (moments[i].part == 1 && op->start_ns < op->got_ns)
            code = tell_futex(sink, id, op->start_ns + margin_ns, op->got_ns - margin_ns, op, true,
                              err);
        if (moments[i].part == 2 && op->is_told_of_release)
            code = tell_futex(sink, id, op->end_ns, op->end_ns, op, false, err);
    }
    return code;
}

static enum weft_code tell_calls(struct weft_sink *sink, uint32_t id, const struct world *w,
                                 const struct moment *moments, size_t n, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++) {
        const struct op *op = &w->ops[moments[i].op];
        const uint32_t key = moments[i].part == 2  ? (w->is_rw[op->lock] ? FN_RW_UNLOCK : FN_UNLOCK)
                             : !w->is_rw[op->lock] ? FN_LOCK
                             : op->is_shared       ? FN_READ
                                                   : FN_WRITE;
        const struct weft_call_event calls[] = {
            { .time_ns = moments[i].at_ns, .function_key = key, .kind = WEFT_CALL_ENTER },
            { .value = address_of(op->lock), .kind = WEFT_CALL_ARG },
            { .time_ns = moments[i].at_ns, .function_key = key, .kind = WEFT_CALL_EXIT }
        };
        if (moments[i].part == 0)
            code = sink->ops->calls(sink, id, calls, 2, err);
        else if (moments[i].part == 1)
            code = sink->ops->calls(sink, id, calls + 2, 1, err);
        else
            code = sink->ops->calls(sink, id, calls, 3, err);
    }
    return code;
}

static enum weft_code tell_thread(struct weft_sink *sink, uint32_t id, const struct world *w,
                                  enum manner manner, struct weft_err *err)
{
    static struct moment moments[3 * MOST_OPS];
    const unsigned thread = id % w->n_threads;
    const size_t n = moments_of(w, thread, moments);
    if (manner == CALLS)
        return tell_calls(sink, id, w, moments, n, err);
    if (manner == EVENTS || (manner == BOTH && id < w->n_threads))
        return tell_events(sink, id, w, moments, n, manner == BOTH, err);
    return tell_futexes(sink, id, w, moments, n, manner == BOTH, err);
}

static enum weft_code announce(struct weft_sink *sink, uint32_t n_ids, struct weft_err *err)
{
    static const char *const names[FUNCTIONS] = { "main",
                                                  "pthread_mutex_lock",
                                                  "pthread_mutex_unlock",
                                                  "pthread_rwlock_rdlock",
                                                  "__GI___pthread_rwlock_wrlock",
                                                  "pthread_rwlock_unlock" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("told"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t key = 0; key < FUNCTIONS && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < n_ids && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = FIRST_TID + id % world.n_threads,
                                               .pid = PID,
                                               .generation = id / world.n_threads };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    return code;
}

static enum weft_code tell(const struct world *w, enum manner manner, struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "locks", .block_rows = 4 };
    const uint32_t n_ids = manner == BOTH ? 2 * w->n_threads : w->n_threads;
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = announce(sink, n_ids, err);
    for (uint32_t id = 0; id < n_ids && code == WEFT_OK; id++) {
        code = tell_thread(sink, id, w, manner, err);
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, id, 0, err);
    }
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

/* ---- a plain count --------------------------------------------------------------------------- */

static uint64_t blocked_ns(const struct op *op, const struct op *other)
{
    const uint64_t from_ns = other->got_ns > op->start_ns ? other->got_ns : op->start_ns;
    const uint64_t to_ns = other->end_ns < op->got_ns ? other->end_ns : op->got_ns;
    return other->lock == op->lock && other->thread != op->thread &&
                   !(other->is_shared && op->is_shared) && from_ns < to_ns
               ? to_ns - from_ns
               : 0;
}

static bool differ(const char *field, uint64_t got, uint64_t want)
{
    (void)snprintf(what + strlen(what), sizeof what - strlen(what),
                   "%s is %" PRIu64 ", not %" PRIu64, field, got, want);
    return false;
}

struct question {
    enum manner manner;
    uint64_t from_ns, to_ns;
    unsigned thread; /* MOST_THREADS: all */
};

static bool counts(const struct question *q, const struct op *op)
{
    return op->got_ns >= q->from_ns && op->got_ns <= q->to_ns &&
           (q->thread == MOST_THREADS || q->thread == op->thread);
}

/* A lock may be released in the very ns in which another one asks for it: only the kernel sees that
 * this one slept. */
static bool is_contended(const struct question *q, const struct op *op)
{
    if (q->manner == FUTEXES || q->manner == BOTH)
        return op->start_ns < op->got_ns;
    for (size_t i = 0; i < world.n_ops; i++)
        if (blocked_ns(op, &world.ops[i]))
            return true;
    return false;
}

static const struct weft_locks_row *find_row(const struct weft_locks_table *table, unsigned lock,
                                             uint32_t *place)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].object.address == address_of(lock)) {
            *place = (uint32_t)i;
            return &table->rows[i];
        }
    return NULL;
}

static uint64_t nearest_rank(uint64_t *waits, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (waits[j] < waits[i]) {
                const uint64_t wait = waits[i];
                waits[i] = waits[j];
                waits[j] = wait;
            }
    size_t rank = 1;
    while (100 * rank < 99 * n)
        rank++;
    return n ? waits[rank - 1] : 0;
}

static bool lock_same(const struct question *q, const struct weft_locks_table *table, unsigned lock)
{
    uint64_t waits[MOST_OPS], acquisitions = 0, wait_ns = 0, hold_ns = 0, longest_ns = 0,
                              blocking_ns = 0;
    size_t n_waits = 0;
    uint32_t place = 0;
    for (size_t i = 0; i < world.n_ops; i++) {
        const struct op *op = &world.ops[i];
        if (op->lock != lock || !counts(q, op))
            continue;
        acquisitions++;
        hold_ns += op->end_ns - op->got_ns;
        for (size_t j = 0; j < world.n_ops; j++)
            blocking_ns += blocked_ns(op, &world.ops[j]);
        if (!is_contended(q, op))
            continue;
        waits[n_waits++] = op->got_ns - op->start_ns;
        wait_ns += op->got_ns - op->start_ns;
        longest_ns =
            op->got_ns - op->start_ns > longest_ns ? op->got_ns - op->start_ns : longest_ns;
    }
    const struct weft_locks_row *row = find_row(table, lock, &place);
    const struct weft_locks_row none = { .contended = 0 };
    row = row ? row : &none;
    if (q->manner != FUTEXES && row->acquisitions != acquisitions)
        return differ("acquisitions", row->acquisitions, acquisitions);
    if (q->manner != FUTEXES && row->hold_ns != hold_ns)
        return differ("hold_ns", row->hold_ns, hold_ns);
    if (row->contended != n_waits)
        return differ("contended", row->contended, n_waits);
    if (row->wait_ns != wait_ns)
        return differ("wait_ns", row->wait_ns, wait_ns);
    if (row->longest_wait_ns != longest_ns)
        return differ("longest_wait_ns", row->longest_wait_ns, longest_ns);
    if (row->p99_wait_ns != nearest_rank(waits, n_waits))
        return differ("p99_wait_ns", row->p99_wait_ns, nearest_rank(waits, n_waits));
    /* Futexes alone do not tell when a lock was got that was free: between a release and that it
     * counts as held. */
    const bool is_near =
        q->manner == FUTEXES && row->blocking_ns >= blocking_ns && row->blocking_ns <= wait_ns;
    return is_near || row->blocking_ns == blocking_ns ||
           differ("blocking_ns", row->blocking_ns, blocking_ns);
}

/* Thread ids of the table, back to those of the simulation. */
static unsigned thread_of(uint32_t id)
{
    return id % world.n_threads;
}

static bool pairs_same(const struct question *q, const struct weft_locks_table *table)
{
    uint64_t want_ns = 0, got_ns = 0;
    for (size_t i = 0; i < world.n_ops; i++)
        for (size_t j = 0; j < world.n_ops; j++)
            want_ns += counts(q, &world.ops[i]) ? blocked_ns(&world.ops[i], &world.ops[j]) : 0;
    for (size_t k = 0; k < table->n_pairs; k++) {
        const struct weft_locks_pair *pair = &table->pairs[k];
        uint64_t sum_ns = 0, count = 0;
        for (size_t i = 0; i < world.n_ops; i++)
            for (size_t j = 0; j < world.n_ops; j++) {
                const struct op *op = &world.ops[i], *other = &world.ops[j];
                const bool is_it = counts(q, op) && op->thread == thread_of(pair->waiter_id) &&
                                   other->thread == thread_of(pair->blocker_id) &&
                                   address_of(op->lock) == table->rows[pair->lock].object.address;
                sum_ns += is_it ? blocked_ns(op, other) : 0;
                count += is_it && blocked_ns(op, other);
            }
        if (pair->sum_ns != sum_ns || pair->count != count)
            return differ("a pair", pair->sum_ns, sum_ns);
        got_ns += sum_ns;
    }
    return got_ns == want_ns || differ("pairs", got_ns, want_ns);
}

static bool is_nested(const struct op *first, const struct op *second)
{
    return first->thread == second->thread && first->lock != second->lock &&
           first->got_ns <= second->start_ns && first->end_ns > second->got_ns &&
           first < second; /* a thread asks for one after the other */
}

static bool orders_same(const struct question *q, const struct weft_locks_table *table)
{
    size_t n_rows = 0;
    for (unsigned a = 0; a < world.n_locks; a++)
        for (unsigned b = 0; b < world.n_locks; b++) {
            uint64_t count = 0;
            uint32_t first = 0, second = 0;
            const bool has_both = find_row(table, a, &first) && find_row(table, b, &second);
            for (size_t i = 0; i < world.n_ops; i++)
                for (size_t j = 0; j < world.n_ops; j++)
                    count += world.ops[i].lock == a && world.ops[j].lock == b &&
                             counts(q, &world.ops[j]) && is_nested(&world.ops[i], &world.ops[j]);
            if (!has_both || !count)
                continue;
            n_rows++;
            const struct weft_locks_order *row = NULL;
            for (size_t k = 0; k < table->n_orders; k++)
                if (table->orders[k].first == first && table->orders[k].second == second)
                    row = &table->orders[k];
            if (!row || row->count != count)
                return differ("an order", row ? row->count : 0, count);
        }
    return table->n_orders == n_rows || differ("orders", table->n_orders, n_rows);
}

static bool sums_same(const struct weft_locks_table *table)
{
    uint64_t contexts_ns = 0, pairs_ns = 0;
    for (size_t i = 0; i < table->n_contexts; i++)
        contexts_ns += table->contexts[i].sum_ns;
    for (size_t i = 0; i < table->n_pairs; i++)
        pairs_ns += table->pairs[i].sum_ns;
    return contexts_ns == pairs_ns || differ("contexts", contexts_ns, pairs_ns);
}

static bool table_same(const struct question *q, const struct weft_locks_table *table)
{
    bool is_same = true;
    for (unsigned lock = 0; lock < world.n_locks && is_same; lock++)
        is_same = lock_same(q, table, lock);
    is_same = is_same && sums_same(table);
    if (is_same && q->manner != FUTEXES)
        is_same = pairs_same(q, table);
    if (is_same && q->manner != FUTEXES)
        is_same = orders_same(q, table);
    return is_same;
}

/* ---- the comparison -------------------------------------------------------------------------- */

static bool ask_table(const struct weft_trace *trace, const struct weft_run *run,
                      const struct question *q)
{
    const struct weft_locks_opts opts = { .from_ns = q->from_ns, .to_ns = q->to_ns };
    const uint32_t id = q->thread;
    const struct weft_thread_filter filter = { .ids = &id, .n_ids = q->thread < MOST_THREADS };
    struct weft_locks_table *table = NULL;
    struct weft_err err = { 0 };
    if (weft_locks_run(trace, &filter, &opts, run, &table, &err) != WEFT_OK) {
        (void)snprintf(what, sizeof what, "%.200s", err.text);
        return false;
    }
    const bool is_same = table_same(q, table);
    weft_result_free(table);
    return is_same;
}

static bool try_manner(enum manner manner, const struct weft_run *run)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    struct question q = { .manner = manner, .to_ns = UINT64_MAX, .thread = MOST_THREADS };
    if (tell(&world, manner, &err) != WEFT_OK || weft_trace_open(path, &trace, &err) != WEFT_OK) {
        (void)snprintf(what, sizeof what, "%.200s", err.text);
        return false;
    }
    bool is_same = ask_table(trace, run, &q);
    q.thread = (unsigned)roll(world.n_threads);
    is_same = is_same && ask_table(trace, run, &q);
    q.from_ns = roll(MOST_NS * STEP_NS);
    is_same = is_same && ask_table(trace, run, &q);
    weft_trace_close(trace);
    return is_same;
}

static bool try_seed(uint64_t seed, const struct weft_run *run)
{
    static const char *const names[MANNERS] = { "events", "calls", "futexes", "both" };
    world = (struct world){ .state = seed };
    simulate(&world);
    const unsigned first = (unsigned)(seed % MANNERS);
    const bool was_rw[MOST_LOCKS] = { world.is_rw[0], world.is_rw[1], world.is_rw[2],
                                      world.is_rw[3] };
    for (unsigned i = 0; i < 2; i++) {
        const enum manner manner = (enum manner)((first + i) % MANNERS);
        bool has_rw = false;
        for (unsigned lock = 0; lock < world.n_locks; lock++)
            has_rw |= was_rw[lock];
        if ((manner == FUTEXES || manner == BOTH) && has_rw) /* futexes are told as mutexes' */
            continue;
        (void)snprintf(what, sizeof what, "%s, seed %" PRIu64 ": ", names[manner], seed);
        if (!try_manner(manner, run))
            return false;
    }
    return true;
}

int main(void)
{
    struct weft_run run = { .pool = weft_pool_new(1) };
    const uint64_t seed = tap_seed(1);
    (void)snprintf(path, sizeof path, "/tmp/weft_oracle_locks.%d.weft", (int)getpid());
    bool is_good = true;
    for (uint64_t i = 0; i < SEEDS && is_good; i++) {
        is_good = try_seed(seed + i, &run);
        if (!is_good || (i + 1) % SEEDS_A_LINE == 0)
            tap_ok(is_good, "locks are as they were simulated%s%s", is_good ? "" : ": ",
                   is_good ? "" : what);
    }
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
