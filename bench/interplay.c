/* SPDX-License-Identifier: MIT
 *
 * Interplay of threads: processor time of finding all waits of a trace of SyncTrace's size, of the
 * table, and of what a screen asks.
 *
 * usage: interplay make FILE [CALLS]   writes a made-up trace (default: 14,000,000 calls): one
 * thread gives work to 42 others, 100,800 times
 *        interplay many FILE [THREADS]   likewise: so many threads (default: 100,000) wait for one
 * condition at once, then each for its own
 *        interplay TRACE [MEMORY]        measures; MEMORY: ceiling in MiB (default: 1024)
 */
#include "analysis/interplay/interplay.h"

#include "measure.h"
#include "schema/result.h"
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WORKERS = 42,
    WAITS = 2400, /* of each */
    PERIOD_NS = 1000000,
    STEP_NS = 3000,
    WAIT_NS = 300000,
    LATENCY_NS = 2000,
    FUNCTIONS = 400,
    FN_WAIT = FUNCTIONS,
    FN_SIGNAL,
    FN_MAIN,
    ALL_FUNCTIONS,
    MOST_DEPTH = 14,
    CONDITIONS = 0x1000,
    MANY_STEP_NS = 100,
};

/* A thread's calls, in order of time. */
struct writing {
    struct weft_sink *sink;
    struct weft_err *err;
    uint32_t thread_id;
    uint64_t random;
    uint32_t stack[MOST_DEPTH + 2];
    unsigned depth;
    enum weft_code code;
};

static void put(struct writing *w, uint64_t time_ns, uint32_t key, enum weft_call_kind kind)
{
    const struct weft_call_event event = { .time_ns = time_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    if (w->code == WEFT_OK)
        w->code = w->sink->ops->calls(w->sink, w->thread_id, &event, 1, w->err);
}

static void leave_to(struct writing *w, unsigned depth, uint64_t time_ns)
{
    while (w->depth > depth)
        put(w, time_ns, w->stack[--w->depth], WEFT_CALL_EXIT);
}

/* `n_calls` calls in [from_ns, to_ns). */
static void work(struct writing *w, uint64_t from_ns, uint64_t to_ns, unsigned n_calls)
{
    for (unsigned i = 0; i < n_calls; i++) {
        const uint64_t time_ns = from_ns + (to_ns - from_ns) * i / n_calls;
        const unsigned depth = 1 + (unsigned)(bench_random(&w->random) % MOST_DEPTH);
        if (depth < w->depth)
            leave_to(w, depth, time_ns);
        if (w->depth > MOST_DEPTH)
            leave_to(w, MOST_DEPTH, time_ns);
        w->stack[w->depth] = (uint32_t)(bench_random(&w->random) % 3) + 3 * w->depth;
        put(w, time_ns, w->stack[w->depth++], WEFT_CALL_ENTER);
    }
    leave_to(w, 1, to_ns);
}

static void call_with(struct writing *w, uint32_t key, uint64_t from_ns, uint64_t to_ns,
                      uint64_t argument)
{
    put(w, from_ns, key, WEFT_CALL_ENTER);
    put(w, argument, 0, WEFT_CALL_ARG);
    put(w, to_ns, key, WEFT_CALL_EXIT);
}

static uint64_t wait_start(unsigned worker, unsigned wait)
{
    return STEP_NS + (uint64_t)wait * PERIOD_NS + (uint64_t)worker * STEP_NS * 5;
}

static void write_worker(struct writing *w, unsigned worker, unsigned calls_a_wait)
{
    uint64_t at_ns = 0;
    put(w, 0, FN_MAIN, WEFT_CALL_ENTER);
    w->stack[w->depth++] = FN_MAIN;
    for (unsigned i = 0; i < WAITS; i++) {
        const uint64_t start_ns = wait_start(worker, i);
        work(w, at_ns, start_ns, calls_a_wait);
        call_with(w, FN_WAIT, start_ns, start_ns + WAIT_NS, CONDITIONS + 64 * worker);
        at_ns = start_ns + WAIT_NS;
    }
    leave_to(w, 0, at_ns + 1000);
}

static void write_farmer(struct writing *w, unsigned calls_a_wait)
{
    uint64_t at_ns = 0;
    put(w, 0, FN_MAIN, WEFT_CALL_ENTER);
    w->stack[w->depth++] = FN_MAIN;
    for (unsigned i = 0; i < WAITS; i++)
        for (unsigned worker = 0; worker < WORKERS; worker++) {
            const uint64_t signal_ns = wait_start(worker, i) + WAIT_NS - LATENCY_NS;
            if (worker == 0)
                work(w, at_ns, signal_ns, calls_a_wait);
            call_with(w, FN_SIGNAL, signal_ns, signal_ns + 200, CONDITIONS + 64 * worker);
            at_ns = signal_ns + 200;
        }
    leave_to(w, 0, at_ns + 1000);
}

/* ---- many threads ---------------------------------------------------------------------------- */

/* When the waits of a thread end: for the one condition, then for its own. */
static uint64_t shared_end(unsigned n_threads, unsigned thread)
{
    return (uint64_t)n_threads + MANY_STEP_NS * (1 + (uint64_t)thread);
}

static uint64_t own_end(unsigned n_threads, unsigned thread)
{
    return shared_end(n_threads, n_threads + thread);
}

static void write_waiter(struct writing *w, unsigned thread, unsigned n_threads)
{
    const uint64_t shared_ns = shared_end(n_threads, thread), own_ns = own_end(n_threads, thread);
    put(w, 0, FN_MAIN, WEFT_CALL_ENTER);
    call_with(w, FN_WAIT, 1 + thread, shared_ns, CONDITIONS);
    call_with(w, FN_WAIT, shared_ns + 1, own_ns, CONDITIONS + 64 * (1 + (uint64_t)thread));
    put(w, own_ns + 1, FN_MAIN, WEFT_CALL_EXIT);
}

static void write_waker(struct writing *w, unsigned n_threads)
{
    put(w, 0, FN_MAIN, WEFT_CALL_ENTER);
    for (unsigned i = 0; i < 2 * n_threads; i++) {
        const uint64_t at_ns = shared_end(n_threads, i) - MANY_STEP_NS / 2;
        call_with(w, FN_SIGNAL, at_ns, at_ns + 1,
                  i < n_threads ? CONDITIONS : CONDITIONS + 64 * (1 + (uint64_t)i - n_threads));
    }
    put(w, own_end(n_threads, n_threads), FN_MAIN, WEFT_CALL_EXIT);
}

/* ---- traces ---------------------------------------------------------------------------------- */

/* What is made up: threads that are given work, with so many calls; or that wait at once. */
struct plan {
    unsigned n_threads, calls_a_wait;
    bool is_many;
};

static void write_thread(struct writing *w, const struct plan *plan, unsigned thread)
{
    if (plan->is_many && thread == 0)
        write_waker(w, plan->n_threads);
    else if (plan->is_many)
        write_waiter(w, thread - 1, plan->n_threads);
    else if (thread == 0)
        write_farmer(w, plan->calls_a_wait);
    else
        write_worker(w, thread - 1, plan->calls_a_wait);
}

static enum weft_code fill(struct weft_sink *sink, const struct plan *plan, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("made up"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t key = 0; key < ALL_FUNCTIONS && code == WEFT_OK; key++) {
        char text[32];
        (void)snprintf(text, sizeof text, "function_%" PRIu32, key);
        const struct weft_function_info info = {
            .key = key,
            .name = key == FN_WAIT     ? WEFT_STR("pthread_cond_wait")
                    : key == FN_SIGNAL ? WEFT_STR("pthread_cond_signal")
                    : key == FN_MAIN   ? WEFT_STR("run")
                                       : weft_str_of(text),
        };
        code = sink->ops->function(sink, &info, err);
    }
    for (unsigned i = 0; i <= plan->n_threads && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 100 + i, .pid = 100 };
        struct writing w = { .sink = sink, .err = err, .random = i + 1 };
        code = sink->ops->thread(sink, &info, &w.thread_id, err);
        if (code != WEFT_OK)
            break;
        write_thread(&w, plan, i);
        code = w.code == WEFT_OK ? sink->ops->thread_end(sink, w.thread_id, 0, err) : w.code;
    }
    return code;
}

static int fail(const struct weft_err *err)
{
    fprintf(stderr, "interplay: %s\n", err->text);
    return 1;
}

static int make(const char *path, const struct plan *plan)
{
    const struct weft_writer_opts opts = { .source_name = "interplay" };
    struct weft_writer *writer = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_writer_open(path, &opts, &writer, &err);
    if (code == WEFT_OK)
        code = fill(weft_writer_sink(writer), plan, &err);
    if (code == WEFT_OK)
        code = weft_writer_commit(writer, NULL, &err);
    return code == WEFT_OK ? 0 : fail(&err);
}

static uint64_t told(const char *what, uint64_t begin_ns)
{
    const uint64_t now_ns = bench_cpu_ns();
    printf("%-16s %8.3f s\n", what, (double)(now_ns - begin_ns) / 1e9);
    return bench_cpu_ns();
}

static int measure(const char *path, const struct weft_run *run)
{
    struct weft_trace *trace = NULL;
    struct weft_interplay *interplay = NULL;
    struct weft_interplay_table *table = NULL;
    struct weft_correspondences_table *curves = NULL;
    struct weft_lock_lanes_table *lanes = NULL;
    struct weft_blocking_table *blocking = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_trace_open(path, &trace, &err);
    const uint64_t to_ns = code == WEFT_OK ? weft_trace_meta(trace)->duration_ns : 0;
    uint64_t at_ns = bench_cpu_ns();
    if (code == WEFT_OK)
        code = weft_interplay_open(trace, NULL, UINT64_MAX, run, &interplay, &err);
    at_ns = told("all waits", at_ns);
    const struct weft_interplay_opts all = { .to_ns = to_ns, .limit = 1000 };
    if (code == WEFT_OK)
        code = weft_interplay_run(interplay, NULL, &all, run, &table, &err);
    at_ns = told("table", at_ns);
    const struct weft_correspondences_opts seen = {
        .to_ns = to_ns, .object_id = UINT64_MAX, .width = 1600, .limit = 20000
    };
    if (code == WEFT_OK)
        code = weft_correspondences_run(interplay, NULL, &seen, run, &curves, &err);
    at_ns = told("correspondences", at_ns);
    const struct weft_lock_lanes_opts lane = { .to_ns = to_ns,
                                               .object_id = UINT64_MAX,
                                               .width = 1600 };
    if (code == WEFT_OK)
        code = weft_lock_lanes_run(interplay, NULL, &lane, run, &lanes, &err);
    at_ns = told("lanes", at_ns);
    const struct weft_blocking_opts columns = { .to_ns = to_ns, .width = 1600 };
    if (code == WEFT_OK)
        code = weft_blocking_run(interplay, NULL, &columns, run, &blocking, &err);
    (void)told("blocking", at_ns);
    if (code == WEFT_OK)
        printf("%" PRIu64 " waits, %" PRIu64 " joined, %zu rows, %zu patterns\n", table->n_waits,
               table->n_joined, curves->n_rows, table->n_patterns);
    weft_result_free(table);
    weft_result_free(curves);
    weft_result_free(lanes);
    weft_result_free(blocking);
    weft_interplay_close(interplay);
    weft_trace_close(trace);
    return code == WEFT_OK ? 0 : fail(&err);
}

int main(int argc, char **argv)
{
    const bool is_many = argc >= 3 && strcmp(argv[1], "many") == 0;
    if (is_many || (argc >= 3 && strcmp(argv[1], "make") == 0)) {
        const uint64_t asked = argc > 3 ? strtoull(argv[3], NULL, 10) : is_many ? 100000 : 14000000;
        const struct plan plan = {
            .n_threads = is_many ? (unsigned)asked : WORKERS,
            .calls_a_wait = (unsigned)(asked / (WORKERS + 1) / WAITS),
            .is_many = is_many,
        };
        return make(argv[2], &plan);
    }
    if (argc < 2) {
        fputs("usage: interplay make FILE [CALLS] | many FILE [THREADS] | TRACE [MEMORY]\n",
              stderr);
        return 2;
    }
    const struct weft_run run = {
        .pool = weft_pool_new(0),
        .memory_bytes = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1024) << 20,
    };
    const int status = run.pool ? measure(argv[1], &run) : 1;
    weft_pool_free(run.pool);
    return status;
}
