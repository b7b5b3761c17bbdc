/* SPDX-License-Identifier: MIT
 *
 * Critical paths of small traces: what the kernel tells, what programs tell, who had the processor,
 * functions. The sequences named "known" are those of public descriptions; times and fields alone.
 */
#include "analysis/path/critical_path.h"
#include "failing_alloc.h"
#include "schema/result.h"
#include "text_trace.h"

enum { TEXT_BYTES = 4096, MOST_FAILURES = 100000 };

struct told_case {
    const char *name;
    uint32_t n_threads;
    struct text_thread threads[8];
    const char *events;
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    const char *path;
};

/* Threads in the comments are by number; "~" is in flight, "?" inferred, "<" who had the processor,
 * or the function. */
static const struct told_case cases[] = {
    { "known: scheduling alone",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      "10 0 switch 1 0 2\n"
      "20 0 switch 2 3 1\n"
      "30 0 switch 1 0 2\n"
      "40 0 switch 2 0 1\n",
      2,
      10,
      40,
      "2:running 10-20, 2:blocked(unknown) 20-30, 2:running 30-40" },
    { "known: packets between two machines",
      6,
      { { 0, 0, 0 }, { 200, 0, 0 }, { 201, 0, 0 }, { 0, 1, 0 }, { 100, 1, 0 }, { 101, 1, 0 } },
      "5 1 switch 4 1 5\n"
      "10 0 switch 2 0 1\n"
      "13 0 sent 1 1\n"
      "15 0 switch 1 1 2\n"
      "30 1 irq 5 softirq 3\n"
      "33 1 received 5 1\n"
      "35 1 waking 5 4 1\n"
      "38 1 done 5 softirq 3\n"
      "40 1 switch 5 0 4\n"
      "45 1 sent 4 2\n"
      "55 1 switch 4 1 5\n"
      "60 0 irq 2 softirq 3\n"
      "65 0 received 2 2\n"
      "70 0 waking 2 1\n"
      "72 0 done 2 softirq 3\n"
      "75 0 switch 2 0 1\n"
      "95 0 switch 1 0 2\n",
      1,
      10,
      95,
      "1:running 10-15, 4:blocked(network) 15-35~, 4:preempted 35-40 <5, "
      "4:running 40-45, 1:blocked(network) 45-70~, 1:preempted 70-75 <2, "
      "1:running 75-95" },
    { "known: packets of which one side is known",
      4,
      { { 0, 0, 0 }, { 200, 0, 0 }, { 201, 0, 0 }, { 202, 0, 0 } },
      "7 0 switch 3 1 2\n"
      "10 0 switch 2 0 1\n"
      "13 0 sent 1 1\n"
      "15 0 switch 1 1 2\n"
      "60 0 irq 2 softirq 3\n"
      "65 0 received 2 2\n"
      "70 0 waking 2 1\n"
      "72 0 done 2 softirq 3\n"
      "75 0 switch 2 0 1\n"
      "90 0 waking 1 3\n"
      "95 0 switch 1 0 3\n",
      3,
      7,
      95,
      "1:unknown 7-10, 1:running 10-15, 1:blocked(network) 15-70, 1:preempted 70-75 <2, "
      "1:running 75-90, 3:preempted 90-95 <1" },
    { "a wait within a wait, which a disk ended",
      4,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "0 1 switch 0 0 2\n"
      "5 0 switch 1 1 3\n"
      "8 1 switch 2 1 0\n"
      "12 0 switch 3 2 0\n"
      "20 0 irq 0 softirq 4\n"
      "21 0 waking 0 3\n"
      "22 0 done 0 softirq 4\n"
      "23 0 switch 0 0 3\n"
      "30 0 waking 3 2 1\n"
      "31 1 switch 0 0 2\n"
      "38 1 waking 2 1\n"
      "39 0 switch 3 1 1\n"
      "45 0 switch 1 1 0\n",
      1,
      0,
      45,
      "1:running 0-5, 2:running 5-8, 3:running 8-12, "
      "3:blocked(block_device) 12-21, 3:preempted 21-23, 3:running 23-30, "
      "2:preempted 30-31, 2:running 31-38, 1:preempted 38-39 <3, 1:running 39-45" },
    { "the path of a child begins with its parent",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "5 0 fork 1 2\n"
      "8 1 switch 0 0 2\n"
      "20 1 switch 2 1 0\n",
      2,
      2,
      20,
      "1:running 2-5, 2:preempted 5-8 <1, 2:running 8-20" },
    { "who had a processor, though the switch to it is lost",
      4,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 0 2\n"
      "12 0 irq 3 timer 1\n"
      "13 0 done 3 timer 1\n"
      "30 0 switch 3 1 1\n"
      "40 0 switch 1 1 0\n",
      1,
      0,
      40,
      "1:running 0-10, 1:preempted 10-30 <3, 1:running 30-40" },
    { "a processor that idles wakes nobody",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 0, 1 } },
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 1 0\n"
      "20 1 waking 2 1\n"
      "21 0 switch 0 0 1\n"
      "30 0 switch 1 1 0\n",
      1,
      0,
      30,
      "1:running 0-10, 1:blocked(idle_cpu) 10-20, 1:preempted 20-21, "
      "1:running 21-30" },
    { "without a kernel: a lock that another released",
      2,
      { { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 enter 0 0\n"
      "0 0 enter 1 4\n"
      "5 0 request 1 9\n"
      "6 0 acquired 1 9\n"
      "10 0 request 0 9\n"
      "30 0 released 1 9\n"
      "32 0 acquired 0 9\n"
      "40 0 exit 1 4\n"
      "50 0 exit 0 0\n",
      0,
      0,
      50,
      "0:running 0-10 <main, 1:running 10-30 <helper, 0:blocked(lock) 30-32~ <main, "
      "0:running 32-50 <main" },
    { "without a kernel: a task that another posted",
      2,
      { { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 enter 1 4\n"
      "3 0 enter 0 3\n"
      "10 0 exit 0 3\n"
      "20 0 begin 1 33\n"
      "25 0 enter 0 3\n"
      "25 0 end 0 33\n"
      "30 0 exit 0 3\n"
      "40 0 exit 1 4\n",
      0,
      3,
      30,
      "1:running 3-20 <helper, 0:blocked(task) 20-25~, 0:running 25-30 <task" },
    { "without a kernel: a task that stands behind another one",
      2,
      { { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 enter 1 4\n"
      "3 0 enter 0 3\n"
      "8 0 begin 1 33\n"
      "20 0 exit 0 3\n"
      "20 0 enter 0 6\n"
      "21 0 end 0 33\n"
      "30 0 exit 0 6\n"
      "40 0 exit 1 4\n",
      0,
      3,
      30,
      "1:running 3-8 <helper, 0:blocked(task) 8-20~ <task, 0:running 20-30 <RunTask" },
    { "who wakes a thread in no call posted its task: what it did before does not matter",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "0 1 switch 0 0 2\n"
      "1 0 enter 1 6\n"
      "5 0 exit 1 6\n"
      "10 0 switch 1 1 0\n"
      "30 1 waking 2 1 0\n"
      "32 0 switch 0 0 1\n"
      "33 0 enter 1 6\n"
      "40 0 exit 1 6\n"
      "41 0 switch 1 1 0\n"
      "41 1 switch 2 1 0\n",
      1,
      1,
      40,
      "2:running 1-30, 1:preempted 30-32, 1:running 32-40 <RunTask" },
    { "a task posted when its thread could run already",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "0 1 switch 0 0 2\n"
      "1 0 enter 1 6\n"
      "5 0 exit 1 6\n"
      "10 0 switch 1 1 0\n"
      "30 0 irq 0 hrtimer 0\n"
      "31 0 waking 0 1 0\n"
      "32 0 done 0 hrtimer 0\n"
      "35 1 begin 2 7\n"
      "37 0 switch 0 0 1\n"
      "38 0 enter 1 3\n"
      "39 0 end 1 7\n"
      "45 0 exit 1 3\n"
      "46 0 switch 1 1 0\n"
      "46 1 switch 2 1 0\n",
      1,
      1,
      45,
      "2:running 1-35, 1:preempted 35-37, 1:running 37-45 <task" },
    { "calls tell what a kernel's trace that ended before does not",
      3,
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      "0 0 switch 0 0 1\n"
      "0 1 switch 0 0 2\n"
      "2 0 enter 1 3\n"
      "12 0 exit 1 3\n"
      "15 0 switch 1 1 0\n"
      "16 1 switch 2 1 0\n"
      "20 1 enter 2 4\n"
      "50 1 begin 2 7\n"
      "55 0 enter 1 3\n"
      "56 0 end 1 7\n"
      "60 0 exit 1 3\n"
      "70 1 exit 2 4\n",
      1,
      2,
      60,
      "2:running 2-16, 2:blocked(unknown) 16-20, 2:running 20-50 <helper, "
      "1:blocked(task) 50-55~, 1:running 55-60 <task" },
    { "without a kernel: a function that waits",
      1,
      { { 1, 0, 0 } },
      "0 0 enter 0 0\n"
      "10 0 enter 0 2\n"
      "30 0 exit 0 2\n"
      "40 0 exit 0 0\n",
      0,
      0,
      40,
      "0:running 0-10 <main, 0:blocked(unknown) 10-30 <cond_wait, "
      "0:running 30-40 <main" },
    { "without a kernel: the end of a thread that is joined; the handle was another one's before",
      3,
      { { 1001, 0, 0 }, { 1002, 0, 0 }, { 1003, 0, 0 } },
      "0 0 enter 0 0\n"
      "100 0 fork 0 2 77\n"
      "200 0 enter 2 1\n"
      "300 0 exit 2 1\n"
      "1000 0 fork 0 1 77\n"
      "2000 0 enter 1 4\n"
      "3000 0 enter 0 7 77\n"
      "60000 0 exit 1 4\n"
      "62000 0 exit 0 7\n"
      "65000 0 fork 0 2 77\n"
      "70000 0 exit 0 0\n",
      0,
      0,
      70000,
      "0:running 0-3000 <main, 1:running 3000-60000 <helper, "
      "0:blocked(thread) 60000-62000~ <pthread_join, 0:running 62000-70000 <main" },
    { "without a kernel: a thread that is joined when it has ended",
      2,
      { { 1001, 0, 0 }, { 1002, 0, 0 } },
      "0 0 enter 0 0\n"
      "1000 0 fork 0 1 77\n"
      "2000 0 enter 1 4\n"
      "3000 0 exit 1 4\n"
      "5000 0 enter 0 7 77\n"
      "25000 0 exit 0 7\n"
      "30000 0 exit 0 0\n",
      0,
      0,
      30000,
      "0:running 0-5000 <main, 0:blocked(unknown) 5000-25000 <pthread_join, "
      "0:running 25000-30000 <main" },
    { "without a kernel: who made a descriptor ready that was polled; others, and the thread "
      "itself, "
      "do not count",
      3,
      { { 1001, 0, 0 }, { 1002, 0, 0 }, { 1003, 0, 0 } },
      "0 0 enter 0 0\n"
      "0 0 enter 1 4\n"
      "0 0 enter 2 1\n"
      "500 0 ready 2 5\n"
      "1000 0 enter 0 8 5\n"
      "1000 0 args 0 {\"ready\":[5]}\n"
      "10000 0 ready 2 6\n"
      "20000 0 ready 0 5\n"
      "40000 0 ready 1 5\n"
      "40500 0 ready 2 5\n"
      "41000 0 exit 0 8\n"
      "50000 0 exit 0 0\n"
      "60000 0 exit 1 4\n"
      "60000 0 exit 2 1\n",
      0,
      0,
      50000,
      "0:running 0-1000 <main, 1:running 1000-40000? <helper, "
      "0:blocked(thread) 40000-41000~? <poll, 0:running 41000-50000 <main" },
    { "without a kernel: who wrote what was read",
      2,
      { { 1001, 0, 0 }, { 1002, 0, 0 } },
      "0 0 enter 0 0\n"
      "0 0 enter 1 4\n"
      "1000 0 enter 0 9 5\n"
      "60000 0 ready 1 5\n"
      "61000 0 exit 0 9\n"
      "70000 0 exit 0 0\n"
      "70000 0 exit 1 4\n",
      0,
      0,
      70000,
      "0:running 0-1000 <main, 1:running 1000-60000? <helper, "
      "0:blocked(thread) 60000-61000~? <read, 0:running 61000-70000 <main" },
    { "without a kernel: a poll whose time was over",
      1,
      { { 1001, 0, 0 } },
      "0 0 enter 0 0\n"
      "1000 0 enter 0 8 5\n"
      "1000 0 args 0 {\"ready\":[]}\n"
      "41000 0 exit 0 8\n"
      "50000 0 exit 0 0\n",
      0,
      0,
      50000,
      "0:running 0-1000 <main, 0:blocked(timer) 1000-41000 <poll, "
      "0:running 41000-50000 <main" },
    { "without a kernel: a poll that nobody is known to have ended",
      1,
      { { 1001, 0, 0 } },
      "0 0 enter 0 0\n"
      "1000 0 enter 0 8 5\n"
      "41000 0 exit 0 8\n"
      "50000 0 exit 0 0\n",
      0,
      0,
      50000,
      "0:running 0-1000 <main, 0:blocked(call) 1000-41000? <poll, "
      "0:running 41000-50000 <main" },
    { "without a kernel: reads, short, long and of a file; asked for in the middle of the last one",
      1,
      { { 1001, 0, 0 } },
      "0 0 enter 0 0\n"
      "1000 0 enter 0 9 5\n"
      "50999 0 exit 0 9\n"
      "60000 0 enter 0 9 5\n"
      "110000 0 exit 0 9\n"
      "120000 0 enter 0 9 5\n"
      "190000 0 exit 0 9\n"
      "190000 0 file 0 70000\n"
      "200000 0 enter 0 10 5\n"
      "300000 0 exit 0 10\n"
      "300000 0 file 0 100000\n"
      "310000 0 exit 0 0\n",
      0,
      0,
      210000,
      "0:running 0-60000 <read, 0:blocked(call) 60000-110000? <read, "
      "0:running 110000-120000 <main, 0:blocked(block_device) 120000-190000? <read, "
      "0:running 190000-200000 <main, 0:blocked(block_device) 200000-210000? <fsync" },
};

static size_t put_segment(const struct weft_trace *trace, const struct weft_path_segment *segment,
                          char *text, size_t n_bytes)
{
    char other[64] = "";
    if (segment->other_thread_id != WEFT_ID_NONE && segment->state == WEFT_PATH_PREEMPTED)
        (void)snprintf(other, sizeof other, " <%u", segment->other_thread_id);
    else if (segment->function_id != WEFT_ID_NONE)
        (void)snprintf(other, sizeof other, " <%s",
                       weft_trace_function(trace, segment->function_id)->name.bytes);
    return (size_t)snprintf(
        text, n_bytes, "%u:%s%s%s%s %" PRIu64 "-%" PRIu64 "%s%s%s", segment->thread_id,
        weft_path_state_name(segment->state), segment->reason ? "(" : "",
        segment->reason ? weft_path_reason_name(segment->reason) : "", segment->reason ? ")" : "",
        segment->start_ns, segment->end_ns, segment->flags & WEFT_PATH_IN_FLIGHT ? "~" : "",
        segment->flags & WEFT_PATH_UNCERTAIN ? "?" : "", other);
}

static enum weft_code find_path(const struct weft_trace *trace, const struct told_case *one,
                                const struct weft_run *run, char text[TEXT_BYTES],
                                struct weft_err *err)
{
    const struct weft_path_opts opts = { .thread_id = one->thread_id,
                                         .from_ns = one->from_ns,
                                         .to_ns = one->to_ns,
                                         .call_depth = WEFT_PATH_INNERMOST };
    struct weft_path_table *table;
    size_t n = 0;
    text[0] = 0;
    enum weft_code code = weft_path_run(trace, &opts, run, &table, err);
    for (size_t i = 0; code == WEFT_OK && i < table->n_segments && n < TEXT_BYTES - 128; i++) {
        if (i)
            n += (size_t)snprintf(text + n, TEXT_BYTES - n, ", ");
        n += put_segment(trace, &table->segments[i], text + n, TEXT_BYTES - n);
    }
    weft_result_free(table);
    return code;
}

static void check_sums(const struct weft_trace *trace, const struct told_case *one,
                       const struct weft_run *run)
{
    const struct weft_path_opts opts = { .thread_id = one->thread_id,
                                         .from_ns = one->from_ns,
                                         .to_ns = one->to_ns,
                                         .call_depth = WEFT_PATH_INNERMOST };
    struct weft_path_table *table;
    uint64_t by_thread_ns = 0, by_reason_ns = 0;
    if (weft_path_run(trace, &opts, run, &table, NULL) != WEFT_OK)
        abort();
    for (size_t i = 0; i < table->n_threads; i++)
        by_thread_ns += table->threads[i].sum_ns;
    for (size_t i = 0; i < table->n_reasons; i++)
        by_reason_ns += table->reasons[i].sum_ns;
    tap_eq_u64(by_thread_ns, one->to_ns - one->from_ns, "%s: threads add up", one->name);
    tap_eq_u64(by_reason_ns, one->to_ns - one->from_ns, "%s: reasons add up", one->name);
    weft_result_free(table);
}

/* Each allocation fails in turn: an error, no leak, no crash. */
static void check_memory(const struct weft_trace *trace, const struct told_case *one,
                         const struct weft_run *run)
{
    char text[TEXT_BYTES];
    int n_failures = 0;
    bool is_good = true;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        n_until_failure = n_failures;
        const enum weft_code code = find_path(trace, one, run, text, NULL);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good =
            has_failed ? code == WEFT_E_NOMEM || strcmp(text, one->path) == 0 : code == WEFT_OK;
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 10, "%s: %d failed allocations", one->name, n_failures);
}

static void check_case(const struct told_case *one, const char *path, const struct weft_run *run)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    char text[TEXT_BYTES];
    if (text_trace_write(path, one->threads, one->n_threads, one->events) != WEFT_OK ||
        weft_trace_open(path, &trace, &err) != WEFT_OK)
        abort();
    if (tap_ok(find_path(trace, one, run, text, &err) == WEFT_OK, "%s: is found", one->name))
        tap_eq_str(text, one->path, "%s", one->name);
    else
        tap_note("%s", err.text);
    check_sums(trace, one, run);
    check_memory(trace, one, run);
    weft_trace_close(trace);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_critical_path.weft", root ? root : ".");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    if (!run.pool)
        abort();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i], path, &run);
    weft_pool_free(run.pool);
    (void)remove(path);
    return tap_done();
}
