/* SPDX-License-Identifier: MIT
 *
 * States of traces of a few lines, and who had the processor of a thread that could run: where
 * switches were lost, too.
 */
#include "analysis/states/states.h"
#include "text_trace.h"

#include <unistd.h>

enum { MOST_THREADS = 6 };

static char path[512];
static char text[2048];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list args;
    const size_t n = strlen(text);
    va_start(args, format);
    (void)vsnprintf(text + n, sizeof text - n, format, args);
    va_end(args);
}

/* "running 0-10, preempted 10-30: 3 for 18" */
static void tell(const struct weft_trace *trace, uint32_t thread_id, const struct weft_run *run)
{
    struct weft_thread_filter filter = { .ids = &thread_id, .n_ids = 1 };
    const struct weft_states_opts states_opts = { .to_ns = UINT64_MAX };
    const struct weft_waits_opts waits_opts = { .to_ns = UINT64_MAX };
    struct weft_states_table *states = NULL;
    struct weft_waits_table *waits = NULL;
    text[0] = 0;
    if (weft_states_run(trace, &filter, &states_opts, run, &states, NULL) != WEFT_OK ||
        weft_waits_run(trace, &filter, &waits_opts, run, &waits, NULL) != WEFT_OK)
        abort();
    for (size_t i = 0; i < states->n_rows; i++)
        say("%s%s %" PRIu64 "-%" PRIu64, i > 0 ? ", " : "",
            weft_state_kind_name(states->rows[i].state.kind), states->rows[i].state.start_ns,
            states->rows[i].state.end_ns);
    for (size_t i = 0; waits->n_threads > 0 && i < waits->threads[0].n_rows; i++) {
        const struct weft_waits_row *row = &waits->threads[0].rows[i];
        if (row->kind == WEFT_STATE_PREEMPTED)
            say("; by %d: %" PRIu64, (int)row->other_id, row->sum_ns);
    }
    weft_result_free(states);
    weft_result_free(waits);
}

static const struct {
    const char *name;
    struct text_thread threads[MOST_THREADS];
    size_t n_threads;
    const char *events;
    uint32_t thread_id;
    const char *want;
} cases[] = {
    { "the switch to who had the processor is lost",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } },
      4,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 0 2\n"
      "12 0 irq 3 timer 1\n"
      "13 0 done 3 timer 1\n"
      "30 0 switch 3 1 1\n"
      "40 0 switch 1 1 0\n",
      1,
      "running 0-10, preempted 10-30, running 30-40; by 3: 18; by 2: 2" },
    { "nothing but the switch away from it is seen of who had the processor",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } },
      4,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 0 2\n"
      "30 0 switch 3 1 1\n"
      "40 0 switch 1 1 0\n",
      1,
      "running 0-10, preempted 10-30, running 30-40; by 2: 20" },
    { "it had the processor before its first switch",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      3,
      "3 0 waking 1 2 0\n"
      "5 0 irq 1 timer 1\n"
      "6 0 done 1 timer 1\n"
      "20 0 switch 1 0 2\n"
      "40 0 switch 2 1 0\n",
      2,
      "preempted 3-20, running 20-40; by 1: 17" },
    { "who came unseen was on another processor before",
      { { 0, 0, 0 }, { 0, 0, 1 }, { 1, 0, 0 }, { 2, 0, 0 }, { 3, 0, 0 } },
      5,
      "0 0 switch 0 0 2\n"
      "0 1 switch 1 0 4\n"
      "10 0 switch 2 0 3\n"
      "15 1 irq 4 timer 1\n"
      "16 1 done 4 timer 1\n"
      "22 0 irq 4 timer 1\n"
      "23 0 done 4 timer 1\n"
      "30 0 switch 4 1 2\n"
      "40 0 switch 2 1 0\n",
      2,
      "running 0-10, preempted 10-30, running 30-40; by 3: 12; by 4: 8" },
    { "the program's calls go on when the kernel tells no more",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } },
      3,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 1 2\n"
      "20 0 irq 2 timer 1\n"
      "22 0 done 2 timer 1\n"
      "5 0 enter 1 0\n"
      "60 0 exit 1 0\n",
      1,
      "running 0-10, blocked 10-22, unknown 22-60" },
    { "what another host tells is no word of this one",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 2, 1, 0 } },
      4,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 2 0\n"
      "5 0 switch 2 0 3\n"
      "40 0 switch 3 1 2\n",
      1,
      "running 0-10, unknown 10-40" },
    { "a tid goes to another thread, and nobody saw the first one end",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1 } },
      3,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 1 0\n"
      "30 0 fork 0 2\n"
      "31 0 switch 0 0 2\n"
      "50 0 switch 2 1 0\n",
      1,
      "running 0-10, unknown 10-30" },
    { "it was seen running last",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1 } },
      3,
      "0 0 switch 0 0 1\n"
      "12 0 irq 1 timer 1\n"
      "15 0 done 1 timer 1\n"
      "31 0 switch 0 0 2\n"
      "50 0 switch 2 1 0\n",
      1,
      "running 0-12, interrupted 12-15, unknown 15-31" },
    { "a system call tells the mode from then on",
      { { 0, 0, 0 }, { 1, 0, 0 } },
      2,
      "0 0 switch 0 0 1\n"
      "10 0 call 1 read\n"
      "12 0 return 1 read\n"
      "20 0 switch 1 1 0\n",
      1,
      "running 0-10, running_kernel 10-12, running_user 12-20" },
    { "returns of system calls alone do not",
      { { 0, 0, 0 }, { 1, 0, 0 } },
      2,
      "0 0 switch 0 0 1\n"
      "12 0 return 1 read\n"
      "20 0 switch 1 1 0\n",
      1,
      "running 0-12, running 12-20" },
    { "two traces tell of one thread at the same time",
      { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 1 } },
      3,
      "0 0 switch 0 0 1\n"
      "10 0 switch 1 1 0\n"
      "5 0 irq 2 timer 1\n"
      "6 0 done 2 timer 1\n"
      "50 0 waking 0 1 0\n",
      1,
      "running 0-10, blocked 10-50" },
};

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    (void)snprintf(path, sizeof path, "%s/test_states.%d.weft", root ? root : ".", (int)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct weft_trace *trace = NULL;
        if (text_trace_write(path, cases[i].threads, cases[i].n_threads, cases[i].events) !=
                WEFT_OK ||
            weft_trace_open(path, &trace, NULL) != WEFT_OK)
            abort();
        tell(trace, cases[i].thread_id, &run);
        if (!tap_ok(strcmp(text, cases[i].want) == 0, "%s", cases[i].name))
            tap_note("got %s", text);
        weft_trace_close(trace);
    }
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
