/* SPDX-License-Identifier: MIT
 *
 * Recording by perf events, where BPF programs are not allowed. What a privilege allows comes in
 * three steps: tracepoints of all CPUs; switches and samples of all CPUs, without tracepoints; or
 * the targets alone, as any user may record them.
 *
 * Each CPU has one ring, that of the event which records threads; all others write into it.
 */
#include "base/clock.h"
#include "base/vec.h"
#include "record/kernel/backend.h"
#include "record/kernel/cpus.h"
#include "record/kernel/perf_convert.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    RING_BYTES = 16 << 20,
    LEAST_RING_BYTES = 1 << 16,
    USER_RING_BYTES = 1 << 19, /* as much as a user without privileges may lock */
    RECORD_BYTES_MAX = 1 << 16,
};

enum reach {
    REACH_TRACEPOINTS,
    REACH_PROCESSORS,
    REACH_TARGETS,
};

struct cpu {
    struct perf_event_mmap_page *page; /* NULL: the CPU has no ring */
    size_t map_bytes;
    uint64_t ring_bytes;
    int ring_fd; /* of the event that the ring belongs to */
    uint64_t handed_ns;
    uint64_t n_lost;
};

struct state {
    struct weft_kernel_opts opts;
    enum reach reach;
    struct weft_perf_convert convert;
    struct cpu *cpus;
    uint32_t n_cpus;
    struct {
        int *items;
        size_t n, cap;
    } fds;
    struct {
        struct weft_task *items;
        size_t n, cap;
    } tasks; /* that were there, until the first poll */
    uint64_t begun_ns;
    uint8_t scratch[RECORD_BYTES_MAX]; /* a record that lies around the end of a ring */
};

/* ---- events */

static struct perf_event_attr attr_of(const struct state *state, uint8_t kind)
{
    const bool is_own = state->reach == REACH_TARGETS;
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = WEFT_PERF_SAMPLE_TYPE,
        .disabled = 1,
        .inherit = is_own,
        .exclude_kernel = is_own,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .watermark = 1, /* no reader is to be woken */
        .wakeup_watermark = UINT32_MAX,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    if (kind < WEFT_TRACEPOINTS) {
        attr.type = PERF_TYPE_TRACEPOINT;
        attr.config = state->convert.formats[kind].id;
        attr.sample_type |= PERF_SAMPLE_RAW;
        attr.sample_period = 1;
        if (kind == WEFT_TRACEPOINT_RAN) /* counts ns: else there would be a sample a ns */
            attr.sample_type |= PERF_SAMPLE_PERIOD;
    } else if (kind == WEFT_PERF_SAMPLER) {
        attr.config = PERF_COUNT_SW_CPU_CLOCK;
        attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
        attr.exclude_callchain_kernel = is_own;
        attr.sample_freq = state->opts.sample_hz;
        attr.freq = 1;
    } else {
        attr.task = attr.comm = attr.comm_exec = 1;
        attr.context_switch = state->reach != REACH_TRACEPOINTS;
    }
    if (kind == WEFT_PERF_SAMPLER && state->opts.stack_copy_bytes > 0) {
        attr.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr.sample_regs_user = WEFT_PERF_REGISTERS;
        attr.sample_stack_user = state->opts.stack_copy_bytes & ~UINT32_C(7);
    }
    return attr;
}

static int open_fd(const struct state *state, uint8_t kind, int tid, uint32_t cpu)
{
    struct perf_event_attr attr = attr_of(state, kind);
    return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static enum weft_code keep_fd(struct state *state, int fd, uint8_t kind, struct weft_err *err)
{
    uint64_t id = 0;
    int *kept = WEFT_VEC_PUSH(&state->fds);
    if (!kept) {
        (void)close(fd);
        return weft_no_memory(err, "events");
    }
    *kept = fd;
    if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
        return weft_fail_errno(err, errno, "cannot identify an event");
    if (!weft_perf_convert_event(&state->convert, id, kind))
        return weft_no_memory(err, "events");
    return WEFT_OK;
}

/* A ring as large as wanted, or as large as this user may have. */
static enum weft_code open_ring(const struct state *state, struct cpu *cpu, int fd,
                                struct weft_err *err)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t n_bytes = page;
    const uint64_t wanted = state->opts.ring_bytes          ? state->opts.ring_bytes
                            : state->reach == REACH_TARGETS ? USER_RING_BYTES
                                                            : RING_BYTES;
    while (n_bytes < wanted)
        n_bytes *= 2;
    for (;; n_bytes /= 2) {
        void *map = mmap(NULL, page + n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED) {
            cpu->page = map;
            cpu->map_bytes = page + n_bytes;
            cpu->ring_bytes = n_bytes;
            cpu->ring_fd = fd;
            return WEFT_OK;
        }
        if ((errno != EPERM && errno != ENOMEM) || n_bytes <= LEAST_RING_BYTES)
            return weft_fail_errno(err, errno, "cannot map a ring of %ju bytes",
                                   (uintmax_t)n_bytes);
    }
}

/* An event that writes into the ring of its CPU, which it makes if there is none yet. */
static enum weft_code open_event(struct state *state, uint8_t kind, int tid, uint32_t id,
                                 struct weft_err *err)
{
    struct cpu *cpu = &state->cpus[id];
    const int fd = open_fd(state, kind, tid, id);
    if (fd < 0)
        return weft_fail_errno(err, errno, "cannot open an event of CPU %u", id);
    WEFT_TRY(keep_fd(state, fd, kind, err));
    if (!cpu->page)
        return open_ring(state, cpu, fd, err);
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->ring_fd) != 0)
        return weft_fail_errno(err, errno, "cannot share the ring of CPU %u", id);
    return WEFT_OK;
}

static bool is_wanted(const struct state *state, uint8_t kind)
{
    const struct weft_kernel_opts *opts = &state->opts;
    if (kind == WEFT_PERF_THREADS)
        return true;
    if (kind == WEFT_PERF_SAMPLER)
        return opts->sample_hz > 0;
    if (state->reach != REACH_TRACEPOINTS || state->convert.formats[kind].id == 0)
        return false;
    if (kind == WEFT_TRACEPOINT_ISSUE || kind == WEFT_TRACEPOINT_DONE)
        return opts->with_requests;
    return kind != WEFT_TRACEPOINT_FAULT || opts->with_faults;
}

/* The events of a thread, or of all (-1), on a CPU; the one of threads makes the ring. */
static enum weft_code open_cpu(struct state *state, int tid, uint32_t cpu, struct weft_err *err)
{
    enum weft_code code = open_event(state, WEFT_PERF_THREADS, tid, cpu, err);
    for (uint8_t kind = 0; code == WEFT_OK && kind <= WEFT_PERF_SAMPLER; kind++)
        if (kind != WEFT_PERF_THREADS && is_wanted(state, kind))
            code = open_event(state, kind, tid, cpu, err);
    return code;
}

static enum weft_code open_cpus(struct state *state, int tid, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; code == WEFT_OK && i < state->n_cpus; i++)
        if (weft_cpu_is_online(i))
            code = open_cpu(state, tid, i, err);
    return code;
}

/* ---- what is allowed */

static bool can_open(struct state *state, enum reach reach, uint8_t kind)
{
    state->reach = reach;
    const int fd = open_fd(state, kind, reach == REACH_TARGETS ? 0 : -1, 0);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* The furthest reach; false: none. */
static bool find_reach(struct state *state, struct weft_kernel_gaps *gaps)
{
    const bool has_formats = state->convert.formats[WEFT_TRACEPOINT_SWITCH].id != 0 &&
                             state->convert.formats[WEFT_TRACEPOINT_WAKING].id != 0;
    if (has_formats && can_open(state, REACH_TRACEPOINTS, WEFT_TRACEPOINT_SWITCH))
        return true;
    if (can_open(state, REACH_PROCESSORS, WEFT_PERF_THREADS)) {
        weft_kernel_gap(gaps, "wakeups, requests of block devices", "tracefs cannot be read",
                        "sudo mount -o remount,mode=755 /sys/kernel/tracing");
        return true;
    }
    weft_kernel_gap(gaps, "scheduling of all threads, wakeups, requests of block devices",
                    "perf events of CPUs are refused",
                    "sudo sysctl kernel.perf_event_paranoid=-1; "
                    "sudo mount -o remount,mode=755 /sys/kernel/tracing");
    if (can_open(state, REACH_TARGETS, WEFT_PERF_THREADS))
        return true;
    weft_kernel_gap(gaps, "samples and switches of the program", "all perf events are refused",
                    "sudo sysctl kernel.perf_event_paranoid=2");
    return false;
}

static void close_state(void *opened)
{
    struct state *state = opened;
    for (uint32_t i = 0; i < state->n_cpus; i++)
        if (state->cpus[i].page)
            (void)munmap(state->cpus[i].page, state->cpus[i].map_bytes);
    for (size_t i = 0; i < state->fds.n; i++)
        (void)close(state->fds.items[i]);
    weft_perf_convert_fini(&state->convert);
    WEFT_VEC_FINI(&state->fds);
    WEFT_VEC_FINI(&state->tasks);
    free(state->cpus);
    free(state);
}

static struct state *new_state(const struct weft_kernel_opts *opts)
{
    struct state *state = calloc(1, sizeof *state);
    const long n_cpus = sysconf(_SC_NPROCESSORS_CONF);
    if (!state)
        return NULL;
    state->opts = *opts;
    state->cpus = calloc((size_t)n_cpus, sizeof *state->cpus);
    state->n_cpus = state->cpus ? (uint32_t)n_cpus : 0;
    const bool is_made = weft_perf_convert_init(&state->convert);
    state->convert.with_all = opts->all_processes;
    state->convert.with_copies = opts->stack_copy_bytes > 0;
    state->convert.sample_ns = opts->sample_hz > 0 ? UINT32_C(1000000000) / opts->sample_hz : 0;
    if (state->cpus && is_made)
        return state;
    close_state(state);
    return NULL;
}

static enum weft_code open_perf(const struct weft_kernel_opts *opts, void **opened,
                                struct weft_kernel_gaps *gaps, struct weft_err *err)
{
    struct state *state = new_state(opts);
    if (!state)
        return weft_no_memory(err, "the kernel's records");
    weft_tracepoints_read(state->convert.formats);
    enum weft_code code = WEFT_OK;
    if (find_reach(state, gaps)) {
        state->convert.with_kernel_side = state->reach != REACH_TARGETS;
        *opened = state;
        code = state->reach == REACH_TARGETS ? WEFT_OK : open_cpus(state, -1, err);
    }
    if (!*opened || code != WEFT_OK) {
        *opened = NULL;
        close_state(state);
    }
    return code;
}

/* ---- targets, start and stop */

static enum weft_code open_thread(void *context, const struct weft_task *task, struct weft_err *err)
{
    return open_cpus(context, (int)task->tid, err);
}

static enum weft_code add_target(void *opened, uint32_t pid, struct weft_err *err)
{
    struct state *state = opened;
    if (weft_map_add(state->convert.targets, pid, NULL) == WEFT_MAP_NONE)
        return weft_no_memory(err, "a target");
    return state->reach == REACH_TARGETS ? weft_tasks_each(pid, open_thread, state, err) : WEFT_OK;
}

static enum weft_code note_task(void *context, const struct weft_task *task, struct weft_err *err)
{
    struct state *state = context;
    struct weft_task *noted = WEFT_VEC_PUSH(&state->tasks);
    if (!noted || !weft_perf_convert_thread(&state->convert, task->tid, task->pid, NULL))
        return weft_no_memory(err, "threads");
    *noted = *task;
    return WEFT_OK;
}

static void switch_all(struct state *state, unsigned long request)
{
    for (size_t i = 0; i < state->fds.n; i++)
        (void)ioctl(state->fds.items[i], request, 0);
}

static enum weft_code start(void *opened, struct weft_err *err)
{
    struct state *state = opened;
    state->begun_ns = weft_clock_now_ns();
    switch_all(state, PERF_EVENT_IOC_ENABLE);
    if (state->reach != REACH_TARGETS)
        return weft_tasks_each(0, note_task, state, err);
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; code == WEFT_OK && i < weft_map_count(state->convert.targets); i++)
        code = weft_tasks_each((uint32_t)weft_map_key(state->convert.targets, i), note_task, state,
                               err);
    return code;
}

static void stop(void *opened)
{
    switch_all(opened, PERF_EVENT_IOC_DISABLE);
}

/* ---- poll */

static enum weft_code hand_out_tasks(struct state *state, struct weft_batch *batch,
                                     struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < state->tasks.n; i++) {
        const struct weft_task *task = &state->tasks.items[i];
        const struct weft_kernel_record record = {
            .time_ns = state->begun_ns,
            .tid = task->tid,
            .type = WEFT_KERNEL_TASK,
            .payload_bytes = sizeof task->comm,
            .a = task->tid | (uint64_t)task->pid << 32,
            .b = task->state,
        };
        code = weft_batch_add(batch, &record, task->comm, err);
    }
    WEFT_VEC_FINI(&state->tasks);
    return code;
}

/* A record as it lies, or put together when it lies around the end. */
static const uint8_t *whole(struct state *state, const struct cpu *cpu, uint64_t off,
                            size_t n_bytes)
{
    const uint8_t *const data = (const uint8_t *)cpu->page + (cpu->map_bytes - cpu->ring_bytes);
    const size_t at = off & (cpu->ring_bytes - 1);
    const size_t n_first = cpu->ring_bytes - at;
    if (n_bytes <= n_first)
        return data + at;
    memcpy(state->scratch, data + at, n_first);
    memcpy(state->scratch + n_first, data, n_bytes - n_first);
    return state->scratch;
}

static enum weft_code read_ring(struct state *state, struct cpu *cpu, struct weft_batch *batch,
                                uint32_t *fill_percent, struct weft_err *err)
{
    const uint64_t head = __atomic_load_n(&cpu->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = cpu->page->data_tail;
    const uint64_t fill = (head - tail) * 100 / cpu->ring_bytes;
    enum weft_code code = WEFT_OK;
    if (fill > *fill_percent)
        *fill_percent = (uint32_t)fill;
    while (code == WEFT_OK && head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        memcpy(&header, whole(state, cpu, tail, sizeof header), sizeof header);
        if (header.size < sizeof header || header.size > head - tail)
            break; /* never, by a kernel in order */
        code = weft_perf_convert(&state->convert, whole(state, cpu, tail, header.size), header.size,
                                 batch, err);
        tail += header.size;
    }
    __atomic_store_n(&cpu->page->data_tail, tail, __ATOMIC_RELEASE);
    cpu->n_lost += state->convert.n_lost;
    state->convert.n_lost = 0;
    return code;
}

static enum weft_code read_perf(void *opened, uint32_t i, struct weft_batch *batch,
                                uint32_t *fill_percent, struct weft_err *err)
{
    struct state *state = opened;
    struct cpu *cpu = &state->cpus[i];
    enum weft_code code = WEFT_OK;
    weft_batch_begin(batch, i, &cpu->handed_ns);
    if (state->tasks.n > 0)
        code = hand_out_tasks(state, batch, err);
    if (code == WEFT_OK && cpu->page)
        code = read_ring(state, cpu, batch, fill_percent, err);
    return code;
}

static uint32_t n_cpus(const void *opened)
{
    return ((const struct state *)opened)->n_cpus;
}

static uint64_t lost(const void *opened, uint32_t cpu)
{
    return ((const struct state *)opened)->cpus[cpu].n_lost;
}

static uint64_t none(const void *opened, uint32_t cpu)
{
    (void)opened, (void)cpu;
    return 0;
}

static uint64_t nothing(const void *opened)
{
    (void)opened;
    return 0;
}

const struct weft_kernel_backend weft_kernel_perf = {
    .name = "perf events",
    .open = open_perf,
    .add_target = add_target,
    .start = start,
    .stop = stop,
    .read = read_perf,
    .n_cpus = n_cpus,
    .lost = lost,
    .made = none,
    .run_ns = nothing,
    .skipped = nothing,
    .close = close_state,
};
