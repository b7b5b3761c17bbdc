/* SPDX-License-Identifier: MIT
 *
 * CPU time by the clocks of threads, and user and kernel time from system calls and samples.
 */
#include "analysis/states/states.h"
#include "kernel/known.h"
#include "text_trace.h"

#include <unistd.h>

static char path[512];

static const struct text_thread threads[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 0, 0 } };

static const struct {
    const char *name;
    const char *events;
    uint64_t from_ns, to_ns;
    uint64_t cpu_ns, clocked_ns;
    bool is_known;
    uint64_t user_ns, kernel_ns, unknown_ns;
    const char *source; /* NULL: none */
} cases[] = {
    { "the clock of a thread is ahead of its time on the processor",
      "0 0 switch 0 0 1\n100 0 switch 1 1 0 130\n", 0, 1000, 130, 130, false, 0, 0, 100, NULL },
    { "a clock that is behind", "0 0 switch 0 0 1\n100 0 switch 1 1 0 90\n", 0, 1000, 90, 90, false,
      0, 0, 100, NULL },
    { "half of a stay has half of its run time", "0 0 switch 0 0 1\n100 0 switch 1 1 0 130\n", 0,
      50, 65, 65, false, 0, 0, 50, NULL },
    { "no clock: the time on the processor", "0 0 switch 0 0 1\n100 0 switch 1 1 0\n", 0, 1000, 100,
      0, false, 0, 0, 100, NULL },
    { "a clock that is a second ahead is none",
      "0 0 switch 0 0 1\n100 0 switch 1 1 0 18446744073709551615\n", 0, 1000, 100, 0, false, 0, 0,
      100, NULL },
    { "interrupts are within the clock, and without one no CPU time",
      "0 0 switch 0 0 1\n10 0 irq 1 timer 1\n20 0 done 1 timer 1\n50 0 switch 1 0 2 50\n"
      "60 0 switch 2 0 1\n70 0 irq 1 timer 1\n80 0 done 1 timer 1\n100 0 switch 1 1 0\n",
      0, 1000, 80, 50, false, 0, 0, 70, NULL },
    { "a switch to the thread that was not seen: its run time is not known",
      "0 0 switch 0 0 2\n50 0 irq 1 timer 1\n60 0 done 1 timer 1\n100 0 switch 1 1 0 90\n", 0, 1000,
      40, 0, false, 0, 0, 40, NULL },
    { "system calls tell the mode",
      "0 0 switch 0 0 1\n1 0 call 1 read\n41 0 return 1 read\n100 0 switch 1 1 0 100\n", 0, 1000,
      100, 100, true, 59, 40, 1, "system_calls" },
    { "samples tell the shares of modes",
      "0 0 switch 0 0 1\n10 0 sample 1 kernel\n30 0 sample 1 kernel\n50 0 sample 1 user\n"
      "70 0 sample 1 kernel\n80 0 sample 1 -\n100 0 switch 1 1 0 100\n",
      0, 1000, 100, 100, true, 25, 75, 0, "samples" },
    { "samples of unknown mode tell nothing",
      "0 0 switch 0 0 1\n10 0 sample 1 -\n100 0 switch 1 1 0 100\n", 0, 1000, 100, 100, false, 0, 0,
      100, NULL },
};

static void check(size_t i, const struct weft_run *run)
{
    uint32_t thread_id = 1;
    struct weft_thread_filter filter = { .ids = &thread_id, .n_ids = 1 };
    const struct weft_waits_opts opts = { .from_ns = cases[i].from_ns, .to_ns = cases[i].to_ns };
    struct weft_trace *trace = NULL;
    struct weft_waits_table *waits = NULL;
    if (text_trace_write(path, threads, 3, cases[i].events) != WEFT_OK ||
        weft_trace_open(path, &trace, NULL) != WEFT_OK ||
        weft_waits_run(trace, &filter, &opts, run, &waits, NULL) != WEFT_OK ||
        waits->n_threads != 1)
        abort();
    const struct weft_waits_thread *thread = &waits->threads[0];
    const struct weft_mode_times times = weft_run_mode_times(&thread->modes);
    const char *source = weft_mode_source(&thread->modes);
    const bool is_same_source = source && cases[i].source ? strcmp(source, cases[i].source) == 0
                                                          : source == cases[i].source;
    if (!tap_ok(thread->cpu_ns == cases[i].cpu_ns && thread->clocked_ns == cases[i].clocked_ns,
                "CPU time: %s", cases[i].name))
        tap_note("got %" PRIu64 ", by its clock %" PRIu64, thread->cpu_ns, thread->clocked_ns);
    if (!tap_ok(times.is_known == cases[i].is_known && times.user_ns == cases[i].user_ns &&
                    times.kernel_ns == cases[i].kernel_ns &&
                    times.unknown_ns == cases[i].unknown_ns && is_same_source,
                "modes: %s", cases[i].name))
        tap_note("got user %" PRIu64 ", kernel %" PRIu64 ", unknown %" PRIu64 ", from %s",
                 times.user_ns, times.kernel_ns, times.unknown_ns, source ? source : "nothing");
    weft_result_free(waits);
    weft_trace_close(trace);
}

/* Wilson's interval, 95 %, of published tables. */
static void check_interval(void)
{
    static const struct {
        uint64_t kernel, all, low, high; /* of 10,000 ns */
    } wanted[] = { { 9, 10, 5958, 9821 },
                   { 0, 10, 0, 2775 },
                   { 10, 10, 7225, 10000 },
                   { 50, 100, 4038, 5962 },
                   { 1, 1, 2065, 10000 } };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct weft_run_modes modes = { .unknown_ns = 10000,
                                              .kernel_samples = wanted[i].kernel,
                                              .user_samples = wanted[i].all - wanted[i].kernel };
        const struct weft_mode_times times = weft_run_mode_times(&modes);
        if (!tap_ok(times.is_estimated && times.kernel_low_ns == wanted[i].low &&
                        times.kernel_high_ns == wanted[i].high &&
                        times.user_ns + times.kernel_ns == 10000,
                    "%d of %d samples in the kernel", (int)wanted[i].kernel, (int)wanted[i].all))
            tap_note("got %" PRIu64 " to %" PRIu64, times.kernel_low_ns, times.kernel_high_ns);
    }
    const struct weft_run_modes most = { .unknown_ns = 100, .unsampled_ns = 90, .user_samples = 3 };
    tap_ok(!weft_run_mode_times(&most).is_known, "samples of few threads say nothing of all");
}

/* Without a few named ones all are recorded; by number all are. */
static void check_calls(void)
{
    const struct kernel_known named = { .meaning = KERNEL_MEANS_SYSCALL_ENTER };
    const struct kernel_known numbered = { .meaning = KERNEL_MEANS_SYSCALL_ENTER, .subtype = 1 };
    const struct kernel_known other = { .meaning = KERNEL_MEANS_SWITCH };
    struct kernel_calls calls = { 0 };
    kernel_calls_add(&calls, &other);
    tap_ok(!kernel_calls_are_some(&calls), "none at all are not some");
    kernel_calls_add(&calls, &named);
    tap_ok(kernel_calls_are_some(&calls), "a few are some");
    kernel_calls_add(&calls, &numbered);
    tap_ok(!kernel_calls_are_some(&calls), "those by number are all");
    calls = (struct kernel_calls){ .n_named = 300 };
    tap_ok(!kernel_calls_are_some(&calls), "hundreds are all");
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    (void)snprintf(path, sizeof path, "%s/test_run_modes.%d.weft", root ? root : ".",
                   (int)getpid());
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(i, &run);
    check_interval();
    check_calls();
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
