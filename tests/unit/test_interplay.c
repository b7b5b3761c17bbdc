/* SPDX-License-Identifier: MIT
 *
 * Patterns of interplay, each by a made-up trace in which it is, and by one that just misses it: a
 * wait fewer, a share a little too small, another thread that lets go.
 */
#include "analysis/interplay/interplay.h"
#include "schema/result.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum { MOST_CALLS = 400, MOST_THREADS = 6, FIRST_TID = 10, PID = 7 };

enum function {
    FN_WORK,
    FN_LOCK,
    FN_UNLOCK,
    FN_WAIT,
    FN_TIMED,
    FN_POST,
    FN_BARRIER,
    FN_SLEEP,
    FN_POLL,
    FN_JOIN,
    FUNCTIONS
};

static const char *const names[FUNCTIONS] = {
    "work",          "pthread_mutex_lock", "pthread_mutex_unlock", "sem_wait",
    "sem_timedwait", "sem_post",           "pthread_barrier_wait", "nanosleep",
    "poll",          "pthread_join"
};

struct call {
    uint64_t start_ns, end_ns, args[3];
    unsigned function, n_args;
};

static struct {
    struct call calls[MOST_CALLS]; /* of a thread in order */
    size_t n;
    uint64_t until_ns; /* it lives; 0: no thread */
    uint64_t handle;   /* told when it is made, by the first one */
} threads[MOST_THREADS];

static char path[64];
static struct weft_run run;

/* ---- the trace ------------------------------------------------------------------------------- */

static void put(unsigned thread, enum function function, uint64_t object, uint64_t start_ns,
                uint64_t end_ns)
{
    if (threads[thread].n == MOST_CALLS)
        exit(1);
    threads[thread].calls[threads[thread].n++] =
        (struct call){ .start_ns = start_ns,
                       .end_ns = end_ns,
                       .args = { object },
                       .function = function,
                       .n_args = function == FN_SLEEP ? 0 : 1 };
}

static int by_start(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Waits for semaphore `object` until the other one posts it, `late_ns` before it goes on. */
static void wait_for(unsigned waiter, unsigned poster, uint64_t object, uint64_t start_ns,
                     uint64_t end_ns, uint64_t late_ns)
{
    put(waiter, FN_WAIT, object, start_ns, end_ns);
    put(poster, FN_POST, object, end_ns - late_ns, end_ns - late_ns);
}

static void live(unsigned n_threads, uint64_t until_ns)
{
    memset(threads, 0, sizeof threads);
    for (unsigned i = 0; i < n_threads; i++)
        threads[i].until_ns = until_ns;
}

static enum weft_code tell_call(struct weft_sink *sink, uint32_t id, uint64_t time_ns, uint32_t key,
                                enum weft_call_kind kind, struct weft_err *err)
{
    const struct weft_call_event event = { .time_ns = time_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    return sink->ops->calls(sink, id, &event, 1, err);
}

static enum weft_code tell_thread(struct weft_sink *sink, uint32_t id, struct weft_err *err)
{
    struct call *calls = threads[id].calls;
    enum weft_code code = tell_call(sink, id, 0, FN_WORK, WEFT_CALL_ENTER, err);
    qsort(calls, threads[id].n, sizeof *calls, by_start);
    for (size_t i = 0; i < threads[id].n && code == WEFT_OK; i++) {
        code = tell_call(sink, id, calls[i].start_ns, calls[i].function, WEFT_CALL_ENTER, err);
        for (unsigned k = 0; k < calls[i].n_args && code == WEFT_OK; k++)
            code = tell_call(sink, id, calls[i].args[k], 0, WEFT_CALL_ARG, err);
        if (code == WEFT_OK)
            code = tell_call(sink, id, calls[i].end_ns, calls[i].function, WEFT_CALL_EXIT, err);
    }
    if (code == WEFT_OK)
        code = tell_call(sink, id, threads[id].until_ns, FN_WORK, WEFT_CALL_EXIT, err);
    return code == WEFT_OK ? sink->ops->thread_end(sink, id, 0, err) : code;
}

static enum weft_code tell_forks(struct weft_sink *sink, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 1; id < MOST_THREADS && code == WEFT_OK; id++) {
        const struct weft_event event = { .kind = WEFT_EVENT_FORK,
                                          .cpu = -1,
                                          .value = threads[id].handle,
                                          .next_thread_id = id,
                                          .object_id = WEFT_ID_NONE,
                                          .stack_id = WEFT_ID_NONE };
        if (threads[id].handle)
            code = sink->ops->events(sink, 0, &event, 1, err);
    }
    return code;
}

static enum weft_code announce(struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("told"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t key = 0; key < FUNCTIONS && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < MOST_THREADS && threads[id].until_ns && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = FIRST_TID + id, .pid = PID };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    return code;
}

static enum weft_code tell(struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "interplay", .block_rows = 8 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = announce(sink, err);
    if (code == WEFT_OK)
        code = tell_forks(sink, err);
    for (uint32_t id = 0; id < MOST_THREADS && threads[id].until_ns && code == WEFT_OK; id++)
        code = tell_thread(sink, id, err);
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

typedef void (*look_fn)(const struct weft_interplay *interplay,
                        const struct weft_interplay_table *table);

static void with_table(look_fn look)
{
    const struct weft_interplay_opts opts = { .to_ns = UINT64_MAX };
    struct weft_trace *trace = NULL;
    struct weft_interplay *interplay = NULL;
    struct weft_interplay_table *table = NULL;
    struct weft_err err = { 0 };
    const bool is_good =
        tell(&err) == WEFT_OK && weft_trace_open(path, &trace, &err) == WEFT_OK &&
        weft_interplay_open(trace, NULL, UINT64_MAX, &run, &interplay, &err) == WEFT_OK &&
        weft_interplay_run(interplay, NULL, &opts, &run, &table, &err) == WEFT_OK;
    if (is_good)
        look(interplay, table);
    else
        tap_ok(false, "a trace is answered: %s", err.text);
    weft_result_free(table);
    weft_interplay_close(interplay);
    weft_trace_close(trace);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static unsigned n_of[WEFT_PATTERNS];
static uint32_t thread_of[WEFT_PATTERNS];

static void count(const struct weft_interplay *interplay, const struct weft_interplay_table *table)
{
    (void)interplay;
    memset(n_of, 0, sizeof n_of);
    for (size_t i = 0; i < table->n_patterns; i++) {
        thread_of[table->patterns[i].kind] = table->patterns[i].thread_id;
        n_of[table->patterns[i].kind]++;
    }
}

/* Is the pattern there, as often as is wanted, first of this thread (if any)? */
static void expect(enum weft_pattern_kind kind, unsigned n_wanted, uint32_t thread,
                   const char *about)
{
    with_table(count);
    tap_ok(n_of[kind] == n_wanted && (n_wanted == 0 || thread_of[kind] == thread),
           "%s: %s (%u, thread %u)", weft_pattern_kind_name(kind), about, n_of[kind],
           thread_of[kind]);
}

/* Workers 1 and 2 wait for posts: of each 100 ns so many. Of the second one's waits, some are ended
 * by another thread. */
static void farm(uint64_t first_ns, uint64_t second_ns, unsigned n_other)
{
    live(4, 1100);
    for (unsigned i = 0; i < 10; i++) {
        wait_for(1, 0, 0x10, 100 * i + 1, 100 * i + 1 + first_ns, 1);
        wait_for(2, i < n_other ? 3 : 0, 0x20, 100 * i + 2, 100 * i + 2 + second_ns, 1);
    }
}

static void test_farmer(void)
{
    farm(60, 60, 0);
    expect(WEFT_PATTERN_FARMER, 1, 0, "one posts for two");
    farm(60, 60, 2);
    expect(WEFT_PATTERN_FARMER, 1, 0, "80 % of what one waits");
    farm(60, 60, 3);
    expect(WEFT_PATTERN_FARMER, 0, 0, "70 % of what one waits");
}

static void test_imbalance(void)
{
    farm(80, 20, 0);
    expect(WEFT_PATTERN_IMBALANCE, 1, 2, "a worker works twice as long");
    farm(60, 45, 0);
    expect(WEFT_PATTERN_IMBALANCE, 0, 0, "a worker works a little longer");
}

/* Rounds of three threads; the last one comes at 80, the others at 10 and 20. */
static void march(bool is_same)
{
    live(3, 1100);
    for (unsigned i = 0; i < 9; i++)
        for (unsigned t = 0; t < 3; t++) {
            const unsigned turn = is_same ? t : (t + i) % 3;
            put(t, FN_BARRIER, 0x30, 100 * i + (turn == 2 ? 80 : 10 + 10 * turn), 100 * i + 85);
        }
}

static void look_at_parties(const struct weft_interplay *interplay,
                            const struct weft_interplay_table *table)
{
    bool is_good = table->n_rows > 0 && interplay->waits.n == table->n_rows;
    for (size_t i = 0; i < table->n_rows; i++)
        is_good &= table->rows[i].mode == WEFT_WAIT_FOR_ALL && table->rows[i].n_awaited == 3;
    tap_ok(is_good, "at a barrier each waits for all of three");
}

static void test_barrier(void)
{
    march(true);
    with_table(look_at_parties);
    march(true);
    expect(WEFT_PATTERN_IMBALANCE, 1, 2, "the same one comes last to a barrier");
    march(false);
    expect(WEFT_PATTERN_IMBALANCE, 0, 0, "another one comes last each time");
}

/* Each of three lets the next one go on, or a fourth one does so. */
static void lead(unsigned n_waits, bool is_own)
{
    live(4, 2000);
    for (unsigned i = 0; i < n_waits; i++)
        wait_for(i % 3, is_own ? (i + 2) % 3 : 3, 0x40 + i % 3, 100 * i + 10, 100 * i + 90, 1);
}

static void test_leader(void)
{
    lead(6, true);
    expect(WEFT_PATTERN_LEADER, 1, 0, "three let each other go on");
    lead(5, true);
    expect(WEFT_PATTERN_LEADER, 0, 0, "not often enough");
    lead(9, false);
    expect(WEFT_PATTERN_LEADER, 0, 0, "another one lets them go on");
}

/* A lock from hand to hand: `n` waits, each for who waited before. */
static void convoy(unsigned n)
{
    live(3, 2000);
    put(0, FN_LOCK, 0x50, 1, 1);
    put(0, FN_UNLOCK, 0x50, 100, 100);
    for (unsigned i = 1; i <= n; i++) {
        put(i % 3, FN_LOCK, 0x50, 100 * i - 50, 100 * i + 2);
        put(i % 3, FN_UNLOCK, 0x50, 100 * i + 100, 100 * i + 100);
    }
}

static void test_convoy(void)
{
    convoy(5);
    expect(WEFT_PATTERN_CONVOY, 1, 1, "a lock from hand to hand");
    convoy(3);
    expect(WEFT_PATTERN_CONVOY, 0, 0, "three times only");
}

static void ping(unsigned n)
{
    live(2, 2000);
    for (unsigned i = 0; i < n; i++)
        wait_for(i % 2, 1 - i % 2, 0x60 + i % 2, 100 * i + 10, 100 * i + 90, 1);
}

static void test_ping_pong(void)
{
    ping(9);
    expect(WEFT_PATTERN_PING_PONG, 1, 0, "two wait for each other in turn");
    ping(8);
    expect(WEFT_PATTERN_PING_PONG, 0, 0, "seven turns");
}

static void idle(uint64_t wait_ns)
{
    live(2, 1000);
    for (unsigned i = 0; i < 10; i++)
        wait_for(1, 0, 0x70, 100 * i + 1, 100 * i + 1 + wait_ns, 1);
}

static void test_idle(void)
{
    idle(97);
    expect(WEFT_PATTERN_IDLE_WORKER, 1, 1, "waits 97 % of its life");
    idle(94);
    expect(WEFT_PATTERN_IDLE_WORKER, 0, 0, "waits 94 % of its life");
}

static void hang(enum function function, uint64_t end_ns)
{
    live(2, 1000);
    put(1, function, 0x80, 10, end_ns);
}

static void test_unbounded(void)
{
    hang(FN_WAIT, 990);
    expect(WEFT_PATTERN_UNBOUNDED, 1, 1, "one wait of 98 %");
    hang(FN_TIMED, 990);
    expect(WEFT_PATTERN_UNBOUNDED, 0, 0, "with a timeout");
    hang(FN_WAIT, 950);
    expect(WEFT_PATTERN_UNBOUNDED, 0, 0, "one wait of 94 %");
}

/* `n` sleeps, one in `even_ns` or `odd_ns`, then as many in `later_ns`. */
static void nap(unsigned n, uint64_t even_ns, uint64_t odd_ns, uint64_t later_ns)
{
    uint64_t at_ns = 10;
    live(1, 100000);
    for (unsigned i = 0; i < n; i++, at_ns += i % 2 ? odd_ns : even_ns)
        put(0, FN_SLEEP, 0, at_ns, at_ns + 20);
    for (unsigned i = 0; i < n && later_ns; i++, at_ns += later_ns)
        put(0, FN_SLEEP, 0, at_ns, at_ns + 20);
}

static void test_polling(void)
{
    nap(5, 100, 100, 0);
    expect(WEFT_PATTERN_POLLING, 1, 0, "five sleeps, one in 100 ns");
    nap(4, 100, 100, 0);
    expect(WEFT_PATTERN_POLLING, 0, 0, "four sleeps");
    nap(8, 100, 200, 0);
    expect(WEFT_PATTERN_POLLING, 0, 0, "no period");
    nap(6, 100, 100, 200);
    expect(WEFT_PATTERN_PERIOD_CHANGE, 1, 0, "from one in 100 ns to one in 200");
    nap(6, 100, 100, 140);
    expect(WEFT_PATTERN_PERIOD_CHANGE, 0, 0, "from one in 100 ns to one in 140");
}

/* Six waits: 30 ns from each post until it goes on, and so much work then. */
static void notify(uint64_t work_ns)
{
    uint64_t at_ns = 10;
    live(2, 2000);
    for (unsigned i = 0; i < 7; i++, at_ns += 100 + work_ns)
        wait_for(1, 0, 0x90, at_ns, at_ns + 100, 30);
}

static void test_short_work(void)
{
    notify(20);
    expect(WEFT_PATTERN_SHORT_WORK, 1, 1, "20 ns of work, 30 ns to wake it");
    notify(30);
    expect(WEFT_PATTERN_SHORT_WORK, 0, 0, "as much work as it takes to wake it");
}

/* ---- objects --------------------------------------------------------------------------------- */

static const struct weft_wait *only_wait(const struct weft_interplay *interplay, uint32_t thread_id)
{
    size_t first, end;
    weft_interplay_waits_of(interplay, thread_id, &first, &end);
    return end == first + 1 ? &interplay->waits.items[first] : NULL;
}

static const char *wanted_name;
static uint32_t wanted_number; /* of descriptors */

static void look_at_set(const struct weft_interplay *interplay,
                        const struct weft_interplay_table *table)
{
    const struct weft_wait *wait = only_wait(interplay, 0);
    tap_ok(wait && wait->mode == WEFT_WAIT_FOR_ANY && wait->kind == WEFT_SHARED_FILES,
           "poll waits for any");
    tap_ok(wait && wait->n_awaited == wanted_number && table->n_rows == 1 &&
               table->rows[0].n_awaited == wanted_number && table->rows[0].mode == wait->mode,
           "of %u", wanted_number);
    tap_ok(wait && weft_str_equal(interplay->objects.items[wait->object].name,
                                  weft_str_of(wanted_name)),
           "of %s", wanted_name);
}

static void test_sets(void)
{
    live(1, 100);
    put(0, FN_POLL, 3, 10, 90);
    threads[0].calls[0].args[1] = 5;
    threads[0].calls[0].args[2] = 8;
    threads[0].calls[0].n_args = 3;
    wanted_name = "descriptors 3, 5, 8";
    wanted_number = 3;
    with_table(look_at_set);
    threads[0].calls[0].n_args = 1;
    wanted_name = "descriptor 3";
    wanted_number = 0;
    with_table(look_at_set);
    threads[0].calls[0].args[0] = UINT64_C(0x7f0012345678); /* of another source: a pointer */
    threads[0].calls[0].n_args = 3;
    wanted_name = "poll";
    with_table(look_at_set);
}

static uint64_t wanted_surety;

static void look_at_join(const struct weft_interplay *interplay,
                         const struct weft_interplay_table *table)
{
    const struct weft_wait *wait = only_wait(interplay, 0);
    (void)table;
    tap_ok(wait && wait->releaser_id == (wanted_surety == WEFT_SURETY_RELEASE ? 1 : 2) &&
               wait->confidence == wanted_surety,
           "a join ends by the end of %s", wait ? weft_surety_name(wait->confidence) : "nobody");
}

static void test_joins(void)
{
    live(3, 1000);
    threads[1].until_ns = 500;
    threads[2].until_ns = 600;
    put(0, FN_JOIN, 0x7000, 100, 610);
    wanted_surety = WEFT_SURETY_AMBIGUOUS;
    with_table(look_at_join);
    threads[1].handle = 0x7000;
    wanted_surety = WEFT_SURETY_RELEASE;
    with_table(look_at_join);
}

int main(void)
{
    run = (struct weft_run){ .pool = weft_pool_new(2) };
    (void)snprintf(path, sizeof path, "/tmp/weft_unit_interplay.%d.weft", (int)getpid());
    test_farmer();
    test_imbalance();
    test_barrier();
    test_leader();
    test_convoy();
    test_ping_pong();
    test_idle();
    test_unbounded();
    test_polling();
    test_short_work();
    test_sets();
    test_joins();
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
