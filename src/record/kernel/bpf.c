/* SPDX-License-Identifier: MIT
 *
 * Recording by BPF programs (programs.bpf.c).
 */
#include "base/clock.h"
#include "base/vec.h"
#include "record/kernel/backend.h"
#include "record/kernel/bpf_ring.h"
#include "record/kernel/bpf_shared.h"
#include "record/kernel/cpus.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Woverlength-strings"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include "weft_bpf.skel.h"
#pragma GCC diagnostic pop

enum {
    RING_BYTES = 16 << 20,
    COUNT_EVERY_NS = 1000000000, /* run times are counted for a while, then not */
    COUNT_FOR_NS = 20000000,
    PROGRAMS_MAX = 32,
};

struct cpu {
    struct weft_bpf_ring ring;
    int map_fd; /* -1: the CPU is off */
    int sample_fd;
    struct bpf_link *sample_link;
    uint64_t handed_ns;
};

/* Run times of the programs, from a share of the time. */
struct run_time {
    int fd; /* of the switch that turns counting on; -1: it is off */
    bool is_refused;
    uint64_t from_ns; /* the last change */
    uint64_t before_ns;
    uint64_t began_ns;
    uint64_t counted_ns; /* run time seen */
    uint64_t window_ns;  /* in so much time */
};

struct state {
    struct weft_kernel_opts opts;
    struct weft_bpf *skel;
    struct cpu *cpus;
    uint32_t n_cpus;
    struct run_time run;
    bool has_new_targets, is_started;
    struct {
        uint8_t *items;
        size_t n, cap;
    } tasks; /* records of threads that were there, until the first poll */
};

static int keep_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
    (void)level, (void)format, (void)args;
    return 0;
}

/* ---- open */

/* Programs that are loaded only on demand, or where the kernel has their tracepoint. */
static void choose(struct bpf_program *program, const struct btf *btf, bool is_wanted,
                   const char *level, struct weft_kernel_gaps *gaps)
{
    char type[64];
    const char *const section = bpf_program__section_name(program);
    const char *const slash = strchr(section, '/');
    if (is_wanted && slash) {
        (void)snprintf(type, sizeof type, "btf_trace_%s", slash + 1);
        if (btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) < 0) {
            weft_kernel_gap(gaps, level, "this kernel has no tracepoint for it",
                            "use a newer kernel");
            is_wanted = false;
        }
    }
    (void)bpf_program__set_autoload(program, is_wanted);
}

static uint32_t copy_bytes_of(uint32_t wanted)
{
    const uint32_t n_pieces = wanted / WEFT_BPF_COPY_PIECE;
    return (n_pieces < WEFT_BPF_COPY_PIECES ? n_pieces : WEFT_BPF_COPY_PIECES) *
           WEFT_BPF_COPY_PIECE;
}

static void choose_all(struct state *state, const struct btf *btf, struct weft_kernel_gaps *gaps)
{
    struct weft_bpf *skel = state->skel;
    const struct weft_kernel_opts *opts = &state->opts;
    const bool with_waits = opts->wait_threshold_ns != UINT64_MAX;
    choose(skel->progs.on_irq_work, btf, with_waits, "stacks of waits", gaps);
    choose(skel->progs.on_sys_exit, btf, with_waits && opts->with_results, "results of calls",
           gaps);
    choose(skel->progs.on_fault, btf, opts->with_faults, "page faults", gaps);
    choose(skel->progs.on_issue, btf, opts->with_requests, "requests of block devices", gaps);
    choose(skel->progs.on_complete, btf, opts->with_requests, "requests of block devices", gaps);
    choose(skel->progs.on_send, btf, opts->with_network, "network", gaps);
    choose(skel->progs.on_receive, btf, opts->with_network, "network", gaps);
    (void)bpf_program__set_autoload(skel->progs.on_sample, opts->sample_hz > 0);
    skel->rodata->with_waits = with_waits;
    skel->rodata->wait_threshold_ns = opts->wait_threshold_ns;
    skel->rodata->with_all = opts->all_processes;
    skel->rodata->with_counts = opts->with_counts;
    skel->rodata->with_interrupts = opts->with_interrupts;
    skel->rodata->with_results = opts->with_results;
    skel->rodata->sample_ns = opts->sample_hz > 0 ? UINT32_C(1000000000) / opts->sample_hz : 0;
    skel->rodata->copy_bytes = copy_bytes_of(opts->stack_copy_bytes);
    skel->rodata->long_bytes = opts->stack_copy_bytes ? copy_bytes_of(opts->stack_whole_bytes) : 0;
}

/* A power of two that is a multiple of the page size. */
static uint32_t ring_bytes_of(const struct weft_kernel_opts *opts)
{
    const uint32_t wanted = opts->ring_bytes ? opts->ring_bytes : RING_BYTES;
    uint32_t n_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    while (n_bytes < wanted && n_bytes < UINT32_C(1) << 30)
        n_bytes *= 2;
    return n_bytes;
}

static enum weft_code open_ring(struct state *state, uint32_t id, struct weft_err *err)
{
    const uint32_t n_bytes = ring_bytes_of(&state->opts);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct cpu *cpu = &state->cpus[id];
    cpu->map_fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "weft_ring", 0, 0, n_bytes, NULL);
    if (cpu->map_fd < 0)
        return weft_fail_errno(err, errno, "cannot make a ring of %u bytes", n_bytes);
    if (bpf_map_update_elem(bpf_map__fd(state->skel->maps.rings), &id, &cpu->map_fd, BPF_ANY) != 0)
        return weft_fail_errno(err, errno, "cannot use a ring of CPU %u", id);
    void *read = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, cpu->map_fd, 0);
    void *rest =
        mmap(NULL, page + 2 * (size_t)n_bytes, PROT_READ, MAP_SHARED, cpu->map_fd, (off_t)page);
    cpu->ring.read = read == MAP_FAILED ? NULL : read;
    cpu->ring.written = rest == MAP_FAILED ? NULL : rest;
    cpu->ring.data = rest == MAP_FAILED ? NULL : (const uint8_t *)rest + page;
    cpu->ring.n_bytes = n_bytes;
    if (!cpu->ring.read || !cpu->ring.data)
        return weft_fail_errno(err, errno, "cannot map the ring of CPU %u", id);
    return WEFT_OK;
}

static enum weft_code open_rings(struct state *state, struct weft_err *err)
{
    for (uint32_t i = 0; i < state->n_cpus; i++) {
        WEFT_TRY(weft_cpu_is_online(i) ? open_ring(state, i, err) : WEFT_OK);
    }
    return WEFT_OK;
}

/* Samples of a CPU; false: refused. */
static bool open_sampler(struct cpu *cpu, uint32_t id, uint32_t hz)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = hz,
        .freq = 1,
        .disabled = 1,
    };
    cpu->sample_fd = (int)syscall(SYS_perf_event_open, &attr, -1, id, -1, PERF_FLAG_FD_CLOEXEC);
    return cpu->sample_fd >= 0;
}

static void open_samplers(struct state *state, struct weft_kernel_gaps *gaps)
{
    bool is_refused = false;
    for (uint32_t i = 0; state->opts.sample_hz > 0 && i < state->n_cpus && !is_refused; i++)
        is_refused =
            state->cpus[i].map_fd >= 0 && !open_sampler(&state->cpus[i], i, state->opts.sample_hz);
    if (is_refused)
        weft_kernel_gap(gaps, "samples", "perf events of CPUs are refused",
                        "sudo setcap cap_bpf,cap_perfmon=ep \"$(command -v weft)\"");
}

static void close_cpu(struct cpu *cpu)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    (void)bpf_link__destroy(cpu->sample_link);
    if (cpu->sample_fd >= 0)
        (void)close(cpu->sample_fd);
    if (cpu->ring.read)
        (void)munmap((void *)(uintptr_t)cpu->ring.read, page);
    if (cpu->ring.data)
        (void)munmap((void *)(uintptr_t)cpu->ring.written, page + 2 * cpu->ring.n_bytes);
    if (cpu->map_fd >= 0)
        (void)close(cpu->map_fd);
}

static void close_state(void *opened)
{
    struct state *state = opened;
    if (!state)
        return;
    for (uint32_t i = 0; i < state->n_cpus; i++)
        close_cpu(&state->cpus[i]);
    if (state->run.fd >= 0)
        (void)close(state->run.fd);
    weft_bpf__destroy(state->skel);
    WEFT_VEC_FINI(&state->tasks);
    free(state->cpus);
    free(state);
}

static struct state *new_state(const struct weft_kernel_opts *opts)
{
    struct state *state = calloc(1, sizeof *state);
    const int n_cpus = libbpf_num_possible_cpus();
    if (!state)
        return NULL;
    state->opts = *opts;
    state->run.fd = -1;
    state->n_cpus = n_cpus > 0 && n_cpus <= WEFT_BPF_CPUS ? (uint32_t)n_cpus : 0;
    state->cpus = calloc((size_t)state->n_cpus + 1, sizeof *state->cpus);
    for (uint32_t i = 0; state->cpus && i < state->n_cpus; i++)
        state->cpus[i].map_fd = state->cpus[i].sample_fd = -1;
    if (state->cpus)
        return state;
    state->n_cpus = 0;
    close_state(state);
    return NULL;
}

static const char *const all_levels = "wakeups with their cause, stacks of waits, network";

/* Loads the programs; false, and a gap, if that is not allowed here. */
static bool load(struct state *state, struct weft_kernel_gaps *gaps)
{
    struct btf *btf = btf__load_vmlinux_btf();
    if (!btf) {
        weft_kernel_gap(gaps, all_levels, "this kernel does not describe its types (BTF)",
                        "use a kernel with CONFIG_DEBUG_INFO_BTF=y");
        return false;
    }
    choose_all(state, btf, gaps);
    btf__free(btf);
    if (weft_bpf__load(state->skel) == 0)
        return true;
    if (errno == EPERM || errno == EACCES)
        weft_kernel_gap(gaps, all_levels, "BPF programs need CAP_BPF and CAP_PERFMON",
                        "sudo setcap cap_bpf,cap_perfmon=ep \"$(command -v weft)\"");
    else
        weft_kernel_gap(gaps, all_levels, "this kernel does not take weft's BPF programs",
                        "use Linux 5.18 or newer");
    return false;
}

static enum weft_code open_bpf(const struct weft_kernel_opts *opts, void **opened,
                               struct weft_kernel_gaps *gaps, struct weft_err *err)
{
    (void)libbpf_set_print(keep_quiet);
    struct state *state = new_state(opts);
    if (!state)
        return weft_no_memory(err, "the kernel's records");
    state->skel = weft_bpf__open();
    if (!state->skel || state->n_cpus == 0 || !load(state, gaps)) {
        close_state(state);
        return WEFT_OK;
    }
    enum weft_code code = open_rings(state, err);
    if (code != WEFT_OK) {
        close_state(state);
        return code;
    }
    open_samplers(state, gaps);
    *opened = state;
    return WEFT_OK;
}

/* ---- targets and threads that are there */

/* Runs an iterator over all threads, and keeps what it writes. */
static enum weft_code iterate(const struct bpf_program *program, struct state *state, bool is_kept,
                              struct weft_err *err)
{
    const int link_fd = bpf_link_create(bpf_program__fd(program), 0, BPF_TRACE_ITER, NULL);
    const int fd = link_fd >= 0 ? bpf_iter_create(link_fd) : -1;
    ssize_t n_read = fd >= 0 ? 1 : -1;
    while (n_read > 0) {
        enum { CHUNK_BYTES = 1 << 16 };
        if (!weft_vec_reserve(&state->tasks.items, &state->tasks.cap, state->tasks.n + CHUNK_BYTES,
                              1)) {
            errno = ENOMEM;
            n_read = -1;
            break;
        }
        n_read = read(fd, state->tasks.items + state->tasks.n, CHUNK_BYTES);
        state->tasks.n += is_kept && n_read > 0 ? (size_t)n_read : 0;
        if (n_read < 0 && (errno == EAGAIN || errno == EINTR))
            n_read = 1;
    }
    const int saved = errno;
    if (fd >= 0)
        (void)close(fd);
    if (link_fd >= 0)
        (void)close(link_fd);
    return n_read < 0 ? weft_fail_errno(err, saved, "cannot list the threads of the kernel")
                      : WEFT_OK;
}

/* Their threads are marked at the start, or, later, before records are read again: all at once. */
static enum weft_code add_target(void *opened, uint32_t pid, struct weft_err *err)
{
    struct state *state = opened;
    const uint8_t is_target = 1;
    if (bpf_map_update_elem(bpf_map__fd(state->skel->maps.targets), &pid, &is_target, BPF_ANY) != 0)
        return weft_fail_errno(err, errno, "cannot record process %" PRIu32, pid);
    state->has_new_targets = true;
    return WEFT_OK;
}

static enum weft_code mark_targets(struct state *state, struct weft_err *err)
{
    if (!state->has_new_targets)
        return WEFT_OK;
    state->has_new_targets = false;
    return iterate(state->skel->progs.mark_task, state, false, err);
}

/* ---- start and stop */

static enum weft_code start_samplers(struct state *state, struct weft_err *err)
{
    for (uint32_t i = 0; i < state->n_cpus; i++) {
        struct cpu *cpu = &state->cpus[i];
        if (cpu->sample_fd < 0)
            continue;
        cpu->sample_link =
            bpf_program__attach_perf_event(state->skel->progs.on_sample, cpu->sample_fd);
        if (!cpu->sample_link)
            return weft_fail_errno(err, errno, "cannot sample CPU %u", i);
        cpu->sample_fd = -1; /* the link's now */
    }
    return WEFT_OK;
}

static enum weft_code start(void *opened, struct weft_err *err)
{
    struct state *state = opened;
    state->skel->bss->begun_ns = weft_clock_now_ns();
    state->run.began_ns = state->run.from_ns = state->skel->bss->begun_ns;
    if (weft_bpf__attach(state->skel) != 0)
        return weft_fail_errno(err, errno, "cannot attach BPF programs");
    enum weft_code code = start_samplers(state, err);
    state->is_started = code == WEFT_OK;
    WEFT_THEN(code, mark_targets(state, err));
    WEFT_THEN(code, iterate(state->skel->progs.each_task, state, true, err));
    return code;
}

/* Each program takes its time to go, and switches go last: what the others still record would be of
 * threads without a record that they run. */
static void stop(void *opened)
{
    struct state *state = opened;
    struct bpf_link *switches = state->skel->links.on_switch;
    for (uint32_t i = 0; i < state->n_cpus; i++) {
        (void)bpf_link__destroy(state->cpus[i].sample_link);
        state->cpus[i].sample_link = NULL;
    }
    state->skel->links.on_switch = NULL;
    weft_bpf__detach(state->skel);
    (void)bpf_link__destroy(switches);
}

/* ---- run time */

/* Of all programs: how long they have run, and how often they were not run. */
static struct bpf_prog_info sums_of_all(const struct state *state)
{
    struct bpf_prog_info sums = { 0 };
    struct bpf_program *program;
    bpf_object__for_each_program(program, state->skel->obj)
    {
        struct bpf_prog_info info = { 0 };
        uint32_t n_bytes = sizeof info;
        const int fd = bpf_program__fd(program);
        if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &n_bytes) != 0)
            continue;
        sums.run_time_ns += info.run_time_ns;
        sums.recursion_misses += info.recursion_misses;
    }
    return sums;
}

static uint64_t run_ns_of_all(const struct state *state)
{
    return sums_of_all(state).run_time_ns;
}

static uint64_t skipped(const void *opened)
{
    return sums_of_all(opened).recursion_misses;
}

/* Counting the time of programs takes about as long as they do, so it is done a fiftieth of the
 * time. */
static void watch_run_time(struct state *state)
{
    struct run_time *run = &state->run;
    const uint64_t now_ns = weft_clock_now_ns();
    if (run->is_refused)
        return;
    if (run->fd < 0 && (now_ns - run->from_ns >= COUNT_EVERY_NS || run->window_ns == 0)) {
        run->before_ns = run_ns_of_all(state);
        run->fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
        run->is_refused = run->fd < 0;
        run->from_ns = weft_clock_now_ns();
    } else if (run->fd >= 0 && now_ns - run->from_ns >= COUNT_FOR_NS) {
        (void)close(run->fd);
        run->fd = -1;
        run->counted_ns += run_ns_of_all(state) - run->before_ns;
        run->window_ns += now_ns - run->from_ns;
        run->from_ns = now_ns;
    }
}

static uint64_t run_ns(const void *opened)
{
    const struct state *state = opened;
    const struct run_time *run = &state->run;
    if (run->window_ns == 0)
        return 0;
    const double share = (double)run->counted_ns / (double)run->window_ns;
    return (uint64_t)(share * (double)(weft_clock_now_ns() - run->began_ns));
}

/* ---- poll */

static enum weft_code hand_out_tasks(struct state *state, struct weft_batch *batch,
                                     struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct weft_kernel_record record;
    for (size_t at = 0; code == WEFT_OK && at + sizeof record <= state->tasks.n;) {
        memcpy(&record, state->tasks.items + at, sizeof record);
        const size_t n_bytes = sizeof record + record.payload_bytes;
        if (n_bytes > state->tasks.n - at)
            break;
        code = weft_batch_add(batch, &record, state->tasks.items + at + sizeof record, err);
        at += n_bytes;
    }
    WEFT_VEC_FINI(&state->tasks);
    return code;
}

static enum weft_code read_bpf(void *opened, uint32_t i, struct weft_batch *batch,
                               uint32_t *fill_percent, struct weft_err *err)
{
    struct state *state = opened;
    struct cpu *cpu = &state->cpus[i];
    enum weft_code code = WEFT_OK;
    weft_batch_begin(batch, i, &cpu->handed_ns);
    if (i == 0 && state->is_started)
        code = mark_targets(state, err);
    if (code == WEFT_OK && state->tasks.n > 0)
        code = hand_out_tasks(state, batch, err);
    if (code == WEFT_OK && cpu->map_fd >= 0)
        code = weft_bpf_ring_read(&cpu->ring, batch, fill_percent, err);
    if (i == 0)
        watch_run_time(state);
    return code;
}

static uint32_t n_cpus(const void *opened)
{
    return ((const struct state *)opened)->n_cpus;
}

static uint64_t lost(const void *opened, uint32_t cpu)
{
    const struct state *state = opened;
    return __atomic_load_n(&state->skel->bss->cpus[cpu].lost, __ATOMIC_RELAXED);
}

static uint64_t made(const void *opened, uint32_t cpu)
{
    const struct state *state = opened;
    return __atomic_load_n(&state->skel->bss->cpus[cpu].made, __ATOMIC_RELAXED);
}

const struct weft_kernel_backend weft_kernel_bpf = {
    .name = "BPF",
    .open = open_bpf,
    .add_target = add_target,
    .start = start,
    .stop = stop,
    .read = read_bpf,
    .n_cpus = n_cpus,
    .lost = lost,
    .made = made,
    .run_ns = run_ns,
    .skipped = skipped,
    .close = close_state,
};
