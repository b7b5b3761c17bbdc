/* SPDX-License-Identifier: MIT
 *
 * Locks of a trace of a few lines: what is missing in it is mended and marked; every allocation may
 * fail; with very little memory it is the same.
 */
#include "analysis/locks/locks.h"
#include "failing_alloc.h"
#include "model/locks/locks.h"
#include "schema/result.h"
#include "text_trace.h"

enum { MOST_FAILURES = 100000 };

static const struct text_thread threads[] = { { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } };

/* 1 has lock 7 while 2 and 3 wait; its release is told late; of lock 8 nobody saw the request, of 9
 * no release; 5 is released by who never had it. */
static const char events[] = "1 0 enter 0 1\n"
                             "10 0 request 0 7\n"
                             "12 0 acquired 0 7\n"
                             "15 0 enter 0 4\n"
                             "30 0 exit 0 4\n"
                             "44 0 released 0 7\n"
                             "50 0 acquired 0 8\n"
                             "55 0 released 0 8\n"
                             "57 0 released 0 5\n"
                             "60 0 exit 0 1\n"
                             "20 1 request 1 7\n"
                             "40 1 acquired 1 7\n"
                             "48 1 released 1 7\n"
                             "25 1 request 2 7\n"
                             "49 1 acquired 2 7\n"
                             "51 1 released 2 7\n"
                             "52 1 request 2 9\n"
                             "53 1 acquired 2 9\n"
                             "70 1 request 2 4\n";

static enum weft_code find(const struct weft_trace *trace, const struct weft_run *run,
                           struct weft_locks_table **table, struct weft_err *err)
{
    const struct weft_locks_opts opts = { .to_ns = UINT64_MAX };
    return weft_locks_run(trace, NULL, &opts, run, table, err);
}

static void check_table(const struct weft_locks_table *table)
{
    const struct weft_locks_row *row = table->rows;
    tap_eq_u64(table->n_rows, 4, "locks that somebody asked for");
    tap_eq_u64(table->operations[0], 6, "told by events");
    tap_eq_u64(table->unmatched, 1, "a release of what nobody had");
    tap_eq_u64(row->acquisitions, 3, "acquisitions of the first");
    tap_eq_u64(row->contended, 2, "two had to wait");
    tap_eq_u64(row->wait_ns, 20 + 24, "so long");
    tap_eq_u64(row->hold_ns, 28 + 8 + 2, "a hold ends when another one has the lock");
    tap_eq_u64(row->blocking_ns, 20 + 15 + 8, "of which holders explain");
    tap_eq_u64(table->n_pairs, 3, "who made whom wait");
    tap_eq_u64(table->pairs[0].sum_ns, 20, "the most");
    tap_eq_u64(table->pairs[0].blocker_id, 0, "by whom");
    tap_eq_u64(table->pairs[0].waiter_id, 1, "whom");
    uint64_t n_open = 0, partial = 0, helper_ns = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        n_open += table->rows[i].open;
        partial += table->rows[i].partial;
    }
    for (size_t i = 0; i < table->n_contexts; i++)
        if (weft_str_equal(table->contexts[i].name, WEFT_STR("helper")))
            helper_ns += table->contexts[i].sum_ns;
    tap_eq_u64(n_open, 1, "one waits until the end");
    tap_eq_u64(partial, 1, "one is never released");
    tap_eq_u64(helper_ns, 10 + 5, "in the helper while others waited");
    tap_eq_u64(table->n_sites > 0 && table->sites[0].acquisitions, 1, "from one place each");
}

static void check_model(const struct weft_trace *trace)
{
    const struct weft_locks_span span = { .to_ns = UINT64_MAX };
    struct weft_locks *locks = NULL;
    struct weft_err err = { 0 };
    if (weft_locks_open(trace, &span, 0, &locks, &err) != WEFT_OK)
        abort();
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(locks, &n_ops);
    const size_t wait = weft_locks_find(locks, 2, 30, 45);
    tap_ok(wait != SIZE_MAX && ops[wait].start_ns == 25 && ops[wait].got_ns == 49,
           "the wait at a time is found");
    const struct weft_lock_end end = weft_locks_ended_by(locks, wait);
    tap_eq_u64(end.thread_id, 1, "who ended it");
    tap_eq_u64(end.at_ns, 48, "and when");
    tap_ok(weft_locks_find(locks, 0, 30, 45) == SIZE_MAX, "who has it does not wait");
    weft_locks_close(locks);
}

/* Each allocation fails in turn: an error, no leak, no crash. */
static void check_memory(const struct weft_trace *trace, const struct weft_run *run)
{
    int n_failures = 0;
    bool is_good = true;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        struct weft_locks_table *table = NULL;
        n_until_failure = n_failures;
        const enum weft_code code = find(trace, run, &table, NULL);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        weft_result_free(table);
        is_good = code == (has_failed ? WEFT_E_NOMEM : WEFT_OK);
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 10, "%d failed allocations", n_failures);
}

/* What is found does not depend on the memory that is allowed. */
static void check_limit(const struct weft_trace *trace, const struct weft_run *run)
{
    const struct weft_run little = { .pool = run->pool, .memory_bytes = 600 };
    struct weft_locks_table *table = NULL;
    struct weft_err err = { 0 };
    if (tap_ok(find(trace, &little, &table, &err) == WEFT_OK, "with little memory: %s", err.text))
        check_table(table);
    weft_result_free(table);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_trace *trace = NULL;
    struct weft_locks_table *table = NULL;
    struct weft_err err = { 0 };
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_locks.weft", root ? root : ".");
    if (!run.pool || text_trace_write(path, threads, 3, events) != WEFT_OK ||
        weft_trace_open(path, &trace, &err) != WEFT_OK)
        abort();
    if (tap_ok(find(trace, &run, &table, &err) == WEFT_OK, "locks are found"))
        check_table(table);
    weft_result_free(table);
    check_model(trace);
    check_memory(trace, &run);
    check_limit(trace, &run);
    weft_trace_close(trace);
    weft_pool_free(run.pool);
    (void)remove(path);
    return tap_done();
}
