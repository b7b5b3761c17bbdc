/* SPDX-License-Identifier: MIT
 *
 * The model over a store in memory: names and groups, scans in any order, bad thread ids, and what
 * every analysis does with empty threads, cancelled work and a selection of threads.
 */
#include "analysis/calls/calls.h"
#include "analysis/regtime/regtime.h"
#include "analysis/states/states.h"
#include "base/checked.h"
#include "model/calls/scan.h"
#include "random_trace.h"
#include "tap.h"

#include <stdlib.h>

static struct weft_trace *open_memory(const struct memory_trace *memory)
{
    char path[MEMORY_PATH_BYTES];
    struct weft_trace *trace = NULL;
    memory_store_path(memory, path);
    return weft_trace_open(path, &trace, NULL) ? NULL : trace;
}

static void test_names(void)
{
    const struct weft_store_function functions[] = {
        { .name = WEFT_STR("f"), .key = 3 },
        { .key = 17 },
        { .name = WEFT_STR("g"), .module = WEFT_STR("lib.so"), .key = 20 },
        { .name = WEFT_STR("f"), .key = 21 },
        { .name = WEFT_STR("g"), .key = 22 },
        { .name = WEFT_STR("g"), .module = WEFT_STR("lib.so"), .key = 23 },
        { .name = WEFT_STR("bad\xff"), .key = 24 },
    };
    static const struct {
        const char *name;
        uint32_t group_id, n_in_group;
    } want[] = { { "f", 0, 2 },
                 { "#17", 1, 1 },
                 { "g", 2, 2 },
                 { "f", 0, 2 },
                 { "g", 3, 1 },
                 { "g", 2, 2 },
                 { "bad\xef\xbf\xbd", 4, 1 } };
    struct memory_thread thread = { 0 };
    struct memory_trace memory = { .threads = &thread,
                                   .n_threads = 1,
                                   .n_functions = 7,
                                   .block_rows = 4,
                                   .functions = functions };
    struct weft_trace *trace = open_memory(&memory);
    for (uint32_t i = 0; i < 7; i++) {
        const struct weft_function *function = weft_trace_function(trace, i);
        tap_ok(weft_str_equal(function->name, weft_str_of(want[i].name)) &&
                   function->group_id == want[i].group_id &&
                   function->n_in_group == want[i].n_in_group,
               "function %u: name %s, group %u of %u", i, want[i].name, want[i].group_id,
               want[i].n_in_group);
    }
    struct weft_str name = weft_trace_thread(trace, 0)->info.name;
    tap_ok(weft_str_equal(name, weft_str_of("T100")),
           "a thread without a name is shown by its tid");
    weft_trace_close(trace);
}

struct seen {
    const struct memory_trace *memory;
    unsigned n_bad;
    uint64_t n_calls;
};

static bool is_call(const struct weft_scan *scan, const struct weft_calls *calls, size_t i,
                    const struct memory_call *want)
{
    uint32_t flags = calls->flags ? calls->flags[i] : 0;
    (void)scan;
    return calls->start_ns[i] == want->start_ns && calls->end_ns[i] == want->end_ns &&
           calls->function_id[i] == want->function_id && calls->depth[i] == want->depth &&
           flags == want->flags;
}

/* Twice from the start, then the later half again. */
static enum weft_code walk(void *context, struct weft_scan *scan, unsigned worker,
                           struct weft_err *err)
{
    (void)worker;
    struct seen *seen = context;
    const struct memory_thread *thread = &seen->memory->threads[scan->thread_id];
    enum weft_code code = WEFT_OK;
    for (unsigned pass = 0; pass < 3 && !code; pass++) {
        const struct weft_calls *calls = NULL;
        uint64_t next = 0, half = scan->thread->n_blocks / 2;
        weft_scan_rewind(scan);
        if (pass == 2) {
            weft_scan_seek(scan, half);
            next = weft_min_u64(thread->n_calls, thread->n_cut + half * seen->memory->block_rows);
        }
        while (!(code = weft_scan_next(scan, &calls, err)) && calls)
            for (size_t i = 0; i < calls->n_rows; i++, next++)
                seen->n_bad += scan->first_call + i != next || next >= thread->n_calls ||
                               !is_call(scan, calls, i, &thread->calls[next]);
        seen->n_bad += next != thread->n_calls;
    }
    bool has_calls = false;
    uint64_t start_ns = 0, end_ns = 0, last_ns = 0;
    if (!code)
        code = weft_scan_extent(scan, &has_calls, &start_ns, &end_ns, err);
    for (size_t i = 0; i < thread->n_calls; i++)
        last_ns = thread->calls[i].end_ns > last_ns ? thread->calls[i].end_ns : last_ns;
    seen->n_bad += has_calls != (thread->n_calls > 0) || end_ns != last_ns ||
                   (has_calls && start_ns != thread->calls[0].start_ns);
    return code;
}

static void test_scans(void)
{
    struct random_source random = { tap_seed(5) };
    struct weft_pool *pool = weft_pool_new(1);
    struct weft_run run = { .pool = pool };
    struct seen seen = { 0 };
    unsigned n_failed = 0;
    for (unsigned i = 0; i < 1000; i++) {
        struct memory_trace memory = random_trace(&random, i % 20 == 0 ? 700 : 60);
        struct weft_trace *trace = open_memory(&memory);
        seen.memory = &memory;
        n_failed += weft_scan_threads(trace, NULL, 0, NULL, &run, walk, &seen, NULL) != WEFT_OK;
        weft_trace_close(trace);
        random_trace_free(&memory);
    }
    tap_ok(n_failed == 0 && seen.n_bad == 0, "1,000 traces scanned: every call, in order");
    weft_pool_free(pool);
}

static void test_ids(void)
{
    struct random_source random = { 9 };
    struct memory_trace memory = random_trace(&random, 30);
    while (memory.n_threads < 3) {
        random_trace_free(&memory);
        memory = random_trace(&random, 30);
    }
    struct weft_trace *trace = open_memory(&memory);
    static const uint32_t good[] = { 0, 2 }, high[] = { 1, 3 }, twice[] = { 1, 1 },
                          back[] = { 2, 0 };
    tap_ok(!weft_scan_check(trace, NULL, 0, NULL), "no ids: all threads");
    tap_ok(!weft_scan_check(trace, good, 2, NULL), "ascending ids");
    tap_ok(weft_scan_check(trace, high, 2, NULL) == WEFT_E_ARG, "an id that does not exist");
    tap_ok(weft_scan_check(trace, twice, 2, NULL) == WEFT_E_ARG, "an id twice");
    tap_ok(weft_scan_check(trace, back, 2, NULL) == WEFT_E_ARG, "ids that descend");
    tap_eq_u64(weft_scan_calls(trace, good, 2),
               weft_trace_thread(trace, 0)->calls + weft_trace_thread(trace, 2)->calls,
               "calls of a selection");
    struct weft_pool *pool = weft_pool_new(2);
    struct weft_run run = { .pool = pool };
    struct weft_thread_filter filter = { good, 2 };
    struct weft_regtime_opts opts;
    struct weft_regtime_table *all = NULL, *some = NULL;
    bool is_ok = weft_regtime_preset("fine", &opts) && !weft_regtime_preset("coarse", &opts) &&
                 !weft_regtime_run(trace, NULL, &opts, &run, &all, NULL) &&
                 !weft_regtime_run(trace, &filter, &opts, &run, &some, NULL);
    tap_ok(is_ok && all->n_threads == 3 && some->n_threads == 2 &&
               some->threads[1].thread_id == 2 &&
               some->threads[1].n_rows_all == all->threads[2].n_rows_all,
           "RegTime of a selection");
    struct weft_progress progress = { .is_cancelled = true };
    struct weft_run stopped = { .pool = pool, .progress = &progress };
    struct weft_functions_table *functions = NULL;
    tap_ok(weft_functions_run(trace, NULL, NULL, &stopped, &functions, NULL) == WEFT_E_CANCELLED,
           "interrupted work says so");
    opts.gap_fraction = -1;
    struct weft_regtime_table *none = NULL;
    tap_ok(weft_regtime_run(trace, NULL, &opts, &run, &none, NULL) == WEFT_E_ARG,
           "a negative fraction is refused");
    weft_result_free(all);
    weft_result_free(some);
    weft_pool_free(pool);
    weft_trace_close(trace);
    random_trace_free(&memory);
}

/* A thread without calls, and one whose only call was cut at both edges. */
static void test_edges(void)
{
    struct memory_call cut = { .end_ns = 50, .flags = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END };
    struct memory_thread threads[] = { { 0 },
                                       { .calls = &cut, .n_calls = 1, .n_cut = 1, .last_ns = 50 } };
    struct memory_trace memory = {
        .threads = threads, .n_threads = 2, .n_functions = 1, .block_rows = 3
    };
    struct weft_trace *trace = open_memory(&memory);
    struct weft_pool *pool = weft_pool_new(1);
    struct weft_run run = { .pool = pool };
    struct weft_regtime_opts opts;
    struct weft_outliers_opts outliers_opts = { .outlier_factor = 100, .with_long = true };
    struct weft_activity_opts activity_opts = { .threshold_ns = 10 };
    struct weft_functions_table *functions = NULL;
    struct weft_regtime_table *regtime = NULL;
    struct weft_outliers_table *outliers = NULL;
    struct weft_activity_table *activity = NULL;
    tap_ok(!weft_functions_run(trace, NULL, NULL, &run, &functions, NULL) &&
               functions->n_rows == 1 && functions->rows[0].cut_ns == 50 &&
               functions->rows[0].count == 0,
           "functions: a cut call counts as cut alone");
    tap_ok(weft_regtime_preset("paper", &opts) &&
               !weft_regtime_run(trace, NULL, &opts, &run, &regtime, NULL) &&
               regtime->threads[0].n_rows_all == 0 && regtime->threads[1].n_notable == 1 &&
               regtime->threads[1].rows[0].flags == (WEFT_REGTIME_CUT_START | WEFT_REGTIME_CUT_END),
           "RegTime: no row without calls; the cut call is a row with its marks");
    tap_ok(!weft_outliers_run(trace, NULL, functions, &outliers_opts, &run, &outliers, NULL) &&
               outliers->n_rows == 1 && !outliers->rows[0].is_own && outliers->rows[0].is_long,
           "outliers: a function without a median has none of its own");
    tap_ok(!weft_activity_run(trace, NULL, &activity_opts, &run, &activity, NULL) &&
               activity->threads[0].n_pauses == 0 && activity->threads[1].still_ns == 0,
           "activity: nothing is silent where there is one event");
    weft_result_free(functions);
    weft_result_free(regtime);
    weft_result_free(outliers);
    weft_result_free(activity);
    weft_pool_free(pool);
    weft_trace_close(trace);
}

int main(void)
{
    test_names();
    test_scans();
    test_ids();
    test_edges();
    return tap_done();
}
