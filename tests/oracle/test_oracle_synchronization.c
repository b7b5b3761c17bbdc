/* SPDX-License-Identifier: MIT
 *
 * Herds and imbalance against plain counts: threads that wait at a condition and at a barrier are
 * simulated, written as calls, and what the trace is said to hold is counted a second time by going
 * through all operations for each of them.
 */
#include "analysis/findings/synchronization.h"
#include "store/writer.h"
#include "tap.h"

#include <math.h>
#include <unistd.h>

enum {
    SEEDS = 300,
    MOST_THREADS = 8,
    MOST_OPS = 4000,
    MOST_SIGNALS = 80,
    PID = 77,
    FIRST_TID = 100,
    CONDITION = 0x1000,
    BARRIER = 0x2000,
    US = 1000,
};

enum function { FN_WAIT, FN_BROADCAST, FN_SIGNAL, FN_BARRIER, FUNCTIONS };

struct op {
    uint64_t start_ns, got_ns;
    unsigned thread;
    bool is_barrier;
};

struct signal {
    uint64_t at_ns;
    bool is_broadcast;
};

static struct world {
    uint64_t state;
    unsigned n_waiters,
        n_parties; /* threads 1 to n_waiters wait; those after them have the barrier */
    struct op ops[MOST_OPS];
    struct signal signals[MOST_SIGNALS];
    size_t n_ops, n_signals;
} world;

static char path[64];

static uint64_t roll(uint64_t n)
{
    return tap_random(&world.state) % n;
}

static void add_op(uint64_t start_ns, uint64_t got_ns, unsigned thread, bool is_barrier)
{
    if (world.n_ops < MOST_OPS)
        world.ops[world.n_ops++] = (struct op){ start_ns, got_ns, thread, is_barrier };
}

/* Broadcasts wake all that wait, signals one; how many of these wait again at once is drawn. */
static void simulate_condition(void)
{
    uint64_t since_ns[MOST_THREADS] = { 0 }, now_ns = 100 * US;
    const uint64_t n_at_once = roll(11), n_broadcasts = roll(11);
    for (unsigned i = 0; i < world.n_waiters; i++)
        since_ns[i] = 1 + i;
    world.n_signals = 10 + roll(MOST_SIGNALS - 10);
    for (size_t k = 0; k < world.n_signals; k++) {
        const bool is_broadcast = roll(10) < n_broadcasts;
        const unsigned only = (unsigned)roll(world.n_waiters);
        world.signals[k] = (struct signal){ now_ns, is_broadcast };
        for (unsigned i = 0; i < world.n_waiters; i++) {
            const uint64_t got_ns = now_ns + 1 + roll(40 * US);
            if ((!is_broadcast && i != only) || since_ns[i] > now_ns)
                continue;
            add_op(since_ns[i], got_ns, 1 + i, false);
            since_ns[i] =
                got_ns + 1 + (roll(10) < n_at_once ? roll(20 * US - 2) : 20 * US + roll(90 * US));
        }
        now_ns += 30 * US + roll(150 * US);
    }
}

/* One thread may have more to do than the others. */
static void simulate_barrier(void)
{
    uint64_t free_ns = 50 * US;
    const unsigned n_rounds = 5 + (unsigned)roll(40), late = (unsigned)roll(world.n_parties);
    const uint64_t more_ns = roll(3) * 40 * US;
    for (unsigned round = 0; round < n_rounds; round++) {
        uint64_t starts_ns[MOST_THREADS], last_ns = 0;
        for (unsigned i = 0; i < world.n_parties; i++) {
            starts_ns[i] = free_ns + 16 * (1 + roll(3 * US)) + i + (i == late ? more_ns : 0);
            last_ns = starts_ns[i] > last_ns ? starts_ns[i] : last_ns;
        }
        for (unsigned i = 0; i < world.n_parties; i++)
            add_op(starts_ns[i], last_ns, 1 + world.n_waiters + i, true);
        free_ns = last_ns + 1 + roll(20 * US);
    }
}

static void simulate(uint64_t seed)
{
    world = (struct world){ .state = seed };
    world.n_waiters = 1 + (unsigned)roll(MOST_THREADS);
    world.n_parties = 2 + (unsigned)roll(MOST_THREADS - 1);
    simulate_condition();
    simulate_barrier();
}

/* ---- as a trace ------------------------------------------------------------------------------ */

static enum weft_code write_call(struct weft_sink *sink, uint32_t id, uint32_t function,
                                 uint64_t address, uint64_t from_ns, uint64_t to_ns,
                                 struct weft_err *err)
{
    const struct weft_call_event calls[] = {
        { .time_ns = from_ns, .function_key = function, .kind = WEFT_CALL_ENTER },
        { .value = address, .kind = WEFT_CALL_ARG },
        { .time_ns = to_ns, .function_key = function, .kind = WEFT_CALL_EXIT }
    };
    return sink->ops->calls(sink, id, calls, 3, err);
}

static enum weft_code write_thread(struct weft_sink *sink, uint32_t id, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; id == 0 && code == WEFT_OK && i < world.n_signals; i++)
        code = write_call(sink, id, world.signals[i].is_broadcast ? FN_BROADCAST : FN_SIGNAL,
                          CONDITION, world.signals[i].at_ns, world.signals[i].at_ns, err);
    for (size_t i = 0; code == WEFT_OK && i < world.n_ops; i++)
        if (world.ops[i].thread == id)
            code = write_call(sink, id, world.ops[i].is_barrier ? FN_BARRIER : FN_WAIT,
                              world.ops[i].is_barrier ? BARRIER : CONDITION, world.ops[i].start_ns,
                              world.ops[i].got_ns, err);
    return code == WEFT_OK ? sink->ops->thread_end(sink, id, 0, err) : code;
}

static enum weft_code announce(struct weft_sink *sink, uint32_t n_ids, struct weft_err *err)
{
    static const char *const names[FUNCTIONS] = { "pthread_cond_wait", "pthread_cond_broadcast",
                                                  "pthread_cond_signal", "pthread_barrier_wait" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("made"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    WEFT_THEN(code, sink->ops->clock(sink, &clock, err));
    for (uint32_t key = 0; key < FUNCTIONS && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < n_ids && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = FIRST_TID + id, .pid = PID };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    return code;
}

static enum weft_code write_trace(struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "synchronization", .block_rows = 16 };
    const uint32_t n_ids = 1 + world.n_waiters + world.n_parties;
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    WEFT_THEN(code, announce(sink, n_ids, err));
    for (uint32_t id = 0; id < n_ids && code == WEFT_OK; id++)
        code = write_thread(sink, id, err);
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

/* ---- plain counts ---------------------------------------------------------------------------- */

/* The last broadcast within a wait; SIZE_MAX: none. */
static size_t broadcast_of(const struct op *op)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < world.n_signals; i++)
        if (world.signals[i].is_broadcast && world.signals[i].at_ns <= op->got_ns)
            found = i;
    return found != SIZE_MAX && world.signals[found].at_ns >= op->start_ns ? found : SIZE_MAX;
}

static bool is_futile(const struct op *op)
{
    for (size_t i = 0; i < world.n_ops; i++)
        if (!world.ops[i].is_barrier && world.ops[i].thread == op->thread &&
            world.ops[i].start_ns >= op->got_ns && world.ops[i].start_ns < op->got_ns + 20 * US)
            return true;
    return false;
}

static uint64_t cost_of(size_t broadcast)
{
    uint64_t end_ns = world.signals[broadcast].at_ns;
    for (size_t i = 0; i < world.n_ops; i++)
        if (!world.ops[i].is_barrier && broadcast_of(&world.ops[i]) == broadcast &&
            is_futile(&world.ops[i]) && world.ops[i].got_ns > end_ns)
            end_ns = world.ops[i].got_ns;
    for (size_t i = broadcast + 1; i < world.n_signals; i++)
        if (world.signals[i].is_broadcast && world.signals[i].at_ns < end_ns)
            end_ns = world.signals[i].at_ns;
    return end_ns - world.signals[broadcast].at_ns;
}

static struct weft_sync_problem herd_of(double trace_ns)
{
    struct weft_sync_problem herd = { .kind = WEFT_SYNC_HERD };
    for (size_t i = 0; i < world.n_signals; i++) {
        herd.n_events += world.signals[i].is_broadcast;
        herd.cost_ns += world.signals[i].is_broadcast ? cost_of(i) : 0;
    }
    for (size_t i = 0; i < world.n_ops; i++) {
        if (world.ops[i].is_barrier || broadcast_of(&world.ops[i]) == SIZE_MAX)
            continue;
        herd.n_woken++;
        herd.n_futile += is_futile(&world.ops[i]);
    }
    herd.share = (double)herd.cost_ns / trace_ns;
    return herd;
}

static bool is_herd(const struct weft_sync_problem *herd)
{
    return herd->n_events >= 20 && herd->n_woken >= 3 * herd->n_events &&
           4 * herd->n_futile >= 3 * herd->n_woken && herd->share >= 0.05;
}

/* Waits for a thread that is the last of its round: its own takes no time. */
static struct weft_sync_problem imbalance_of(unsigned thread)
{
    struct weft_sync_problem sync = { .kind = WEFT_SYNC_IMBALANCE, .tid = FIRST_TID + thread };
    uint64_t first_ns[64], last_ns[64] = { 0 }, life_ns = 0;
    for (unsigned i = 0; i < 64; i++)
        first_ns[i] = UINT64_MAX;
    for (size_t i = 0; i < world.n_ops; i++) {
        const struct op *op = &world.ops[i];
        if (!op->is_barrier)
            continue;
        if (op->start_ns < first_ns[op->thread])
            first_ns[op->thread] = op->start_ns;
        last_ns[op->thread] = op->got_ns;
        sync.n_events += op->start_ns < op->got_ns;
        for (size_t k = 0; k < world.n_ops; k++) {
            const struct op *last = &world.ops[k];
            if (!last->is_barrier || last->thread != thread || last->start_ns != last->got_ns ||
                last->got_ns != op->got_ns || op == last)
                continue;
            sync.n_last++;
            sync.cost_ns += op->got_ns - op->start_ns;
        }
    }
    for (unsigned i = 0; i < 64; i++)
        life_ns += last_ns[i] > 0 ? last_ns[i] - first_ns[i] : 0;
    sync.share = (double)sync.cost_ns / (double)life_ns;
    return sync;
}

static bool is_imbalance(const struct weft_sync_problem *sync, uint64_t wait_ns)
{
    return sync->n_events >= 20 && 4 * sync->n_last >= 3 * sync->n_events &&
           4 * sync->cost_ns >= 3 * wait_ns && sync->share >= 0.1;
}

/* The thread that is waited for most. */
static struct weft_sync_problem worst_imbalance(uint64_t *wait_ns)
{
    struct weft_sync_problem worst = { 0 };
    *wait_ns = 0;
    for (unsigned i = 0; i < world.n_parties; i++) {
        const struct weft_sync_problem one = imbalance_of(1 + world.n_waiters + i);
        *wait_ns += one.cost_ns;
        worst = one.cost_ns > worst.cost_ns ? one : worst;
    }
    return worst;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static bool is_same(const struct weft_sync_problem *got, const struct weft_sync_problem *want)
{
    return got->kind == want->kind && got->n_events == want->n_events &&
           got->n_woken == want->n_woken && got->n_futile == want->n_futile &&
           got->n_last == want->n_last && got->cost_ns == want->cost_ns &&
           fabs(got->share - want->share) < 1e-9 &&
           (got->kind == WEFT_SYNC_HERD || got->tid == want->tid);
}

static const struct weft_sync_problem *find(const struct weft_sync_problem *rows, size_t n,
                                            enum weft_sync_kind kind)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind == kind)
            return &rows[i];
    return NULL;
}

static bool is_right(const struct weft_sync_problem *rows, size_t n, double trace_ns,
                     size_t *n_found)
{
    uint64_t wait_ns;
    const struct weft_sync_problem herd = herd_of(trace_ns), late = worst_imbalance(&wait_ns);
    const struct weft_sync_problem *a = find(rows, n, WEFT_SYNC_HERD);
    const struct weft_sync_problem *b = find(rows, n, WEFT_SYNC_IMBALANCE);
    *n_found += n;
    return (a != NULL) == is_herd(&herd) && (b != NULL) == is_imbalance(&late, wait_ns) &&
           (!a || is_same(a, &herd)) && (!b || is_same(b, &late)) &&
           n == (size_t)(a != NULL) + (b != NULL);
}

static bool try_seed(uint64_t seed, size_t *n_found)
{
    struct weft_err err = { 0 };
    struct weft_trace *trace = NULL;
    struct weft_locks *locks = NULL;
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_sync_problem *rows = NULL;
    size_t n_rows = 0;
    simulate(seed);
    enum weft_code code = write_trace(&err);
    WEFT_THEN(code, weft_trace_open(path, &trace, &err));
    const struct weft_locks_span span = { .to_ns = UINT64_MAX };
    bool is_good = code == WEFT_OK && weft_syncs_may_be(trace) &&
                   weft_locks_open(trace, &span, 0, &locks, &err) == WEFT_OK &&
                   weft_syncs_find(trace, locks, arena, &rows, &n_rows, &err) == WEFT_OK;
    is_good =
        is_good && is_right(rows, n_rows, (double)weft_trace_meta(trace)->duration_ns, n_found);
    weft_locks_close(locks);
    if (trace)
        weft_trace_close(trace);
    weft_arena_free(arena);
    return is_good;
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    size_t n_found = 0;
    bool is_good = true;
    (void)snprintf(path, sizeof path, "/tmp/weft_oracle_sync.%d.weft", (int)getpid());
    for (uint64_t i = 0; i < SEEDS && is_good; i++) {
        is_good = try_seed(seed + i, &n_found);
        if (!is_good)
            tap_ok(false, "seed %" PRIu64, seed + i);
    }
    tap_ok(is_good && n_found > SEEDS / 10, "%zu problems in %d traces are as counted", n_found,
           SEEDS);
    (void)unlink(path);
    return tap_done();
}
