/* SPDX-License-Identifier: MIT
 *
 * Runs a program while the kernel level records it, and says what that took.
 *
 *     bench_record_kernel [OPTION...] PROGRAM [ARGUMENT...]
 *
 * Options: none (run it only), waits, samples, network, requests, faults, perf (without BPF),
 * copies, count; out=FILE (the records as they are read). bench/record/kernel runs the comparison.
 */
#include "record/kernel/kernel.h"

#include "base/clock.h"
#include "base/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 10000000 };

struct run {
    struct weft_kernel *kernel;
    struct weft_kernel_opts opts;
    bool is_off;
    int out_fd;
    uint64_t n_bytes, n_records;
    uint32_t fill_percent;
};

static enum weft_code take(void *context, uint32_t cpu, const struct weft_kernel_record *records,
                           size_t n_bytes, struct weft_err *err)
{
    struct run *run = context;
    (void)cpu;
    run->n_bytes += n_bytes;
    for (size_t at = 0; at < n_bytes; run->n_records++) {
        struct weft_kernel_record record;
        memcpy(&record, (const uint8_t *)records + at, sizeof record);
        at += sizeof record + record.payload_bytes;
    }
    return run->out_fd < 0 ? WEFT_OK : weft_fd_write(run->out_fd, records, n_bytes, err);
}

static void fail(const struct weft_err *err)
{
    char text[1024];
    weft_err_print(err, text, sizeof text);
    (void)fprintf(stderr, "%s\n", text);
    _exit(1);
}

/* False: it is no option. */
static bool set_option(struct run *run, const char *word)
{
    struct weft_kernel_opts *opts = &run->opts;
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        { "none", &run->is_off },
        { "network", &opts->with_network },
        { "requests", &opts->with_requests },
        { "faults", &opts->with_faults },
        { "perf", &opts->without_bpf },
        { "count", &opts->with_counts },
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(word, flags[i].word) == 0)
            return *flags[i].flag = true, true;
    if (strcmp(word, "waits") == 0)
        opts->wait_threshold_ns = 100000;
    else if (strcmp(word, "samples") == 0)
        opts->sample_hz = 997;
    else if (strcmp(word, "copies") == 0)
        opts->stack_copy_bytes = 8192;
    else if (strncmp(word, "out=", 4) == 0)
        run->out_fd = open(word + 4, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    else
        return false;
    return true;
}

/* A child that waits for a byte before it becomes the program. */
static pid_t start_program(char **words, int *go)
{
    int ends[2];
    char byte;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[1]);
        if (read(ends[0], &byte, 1) == 1)
            (void)execvp(words[0], words);
        _exit(127);
    }
    (void)close(ends[0]);
    *go = ends[1];
    return pid;
}

static void begin(struct run *run, uint32_t pid)
{
    struct weft_err err = { 0 };
    struct weft_kernel_missing missing[WEFT_KERNEL_MISSING_MAX];
    size_t n_missing = 0;
    enum weft_code code = weft_kernel_open(&run->opts, &run->kernel, missing, &n_missing, &err);
    for (size_t i = 0; i < n_missing; i++)
        (void)fprintf(stderr, "missing: %s: %s\n", missing[i].level, missing[i].why);
    if (code == WEFT_OK && run->kernel)
        code = weft_kernel_add_target(run->kernel, pid, &err);
    if (code == WEFT_OK && run->kernel)
        code = weft_kernel_start(run->kernel, &err);
    if (code != WEFT_OK)
        fail(&err);
}

static void poll_once(struct run *run)
{
    struct weft_err err = { 0 };
    uint32_t fill = 0;
    if (run->kernel && weft_kernel_poll(run->kernel, take, run, &fill, &err) != WEFT_OK)
        fail(&err);
    if (fill > run->fill_percent)
        run->fill_percent = fill;
}

static uint64_t ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

static uint64_t n_switches(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static uint64_t cpu_ns(int who)
{
    struct rusage usage;
    (void)getrusage(who, &usage);
    return ns_of(&usage.ru_utime) + ns_of(&usage.ru_stime);
}

/* Polls until the program has ended; its exit status. */
static int watch(struct run *run, pid_t pid)
{
    const struct timespec pause = { .tv_nsec = POLL_NS };
    int status = 0;
    if (!run->kernel)
        return waitpid(pid, &status, 0) == pid ? status : -1;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        (void)nanosleep(&pause, NULL);
        poll_once(run);
    }
    return status;
}

int main(int argc, char **argv)
{
    struct run run = { .opts.wait_threshold_ns = UINT64_MAX, .out_fd = -1 };
    int at = 1, go = -1;
    while (at < argc && set_option(&run, argv[at]))
        at++;
    if (at == argc)
        return 2;
    const pid_t pid = start_program(argv + at, &go);
    if (pid < 0)
        return 1;
    if (!run.is_off)
        begin(&run, (uint32_t)pid);
    const uint64_t begun_ns = weft_clock_now_ns(), own_ns = cpu_ns(RUSAGE_SELF);
    (void)!write(go, "x", 1);
    const int status = watch(&run, pid);
    const uint64_t wall_ns = weft_clock_now_ns() - begun_ns;
    uint64_t n_lost = 0, bpf_ns = 0;
    if (run.kernel) {
        weft_kernel_stop(run.kernel);
        poll_once(&run);
        bpf_ns = weft_kernel_run_ns(run.kernel);
        for (uint32_t i = 0; i < weft_kernel_n_cpus(run.kernel); i++)
            n_lost += weft_kernel_lost(run.kernel, i);
    }
    (void)fprintf(stderr,
                  "RUN wall_ns %" PRIu64 " target_ns %" PRIu64 " recorder_ns %" PRIu64
                  " bpf_ns %" PRIu64 " records %" PRIu64 " bytes %" PRIu64 " lost %" PRIu64
                  " switches %" PRIu64 " fill %u status %d\n",
                  wall_ns, cpu_ns(RUSAGE_CHILDREN), cpu_ns(RUSAGE_SELF) - own_ns, bpf_ns,
                  run.n_records, run.n_bytes, n_lost, n_switches(RUSAGE_CHILDREN), run.fill_percent,
                  status);
    weft_kernel_close(run.kernel);
    return 0;
}
