/* SPDX-License-Identifier: MIT
 *
 * See perf_convert.h.
 */
#include "record/kernel/perf_convert.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <linux/perf_event.h>
#include <linux/sched.h>

enum {
    FLAG_HARDIRQ = 0x08, /* of common_flags */
    FLAG_SOFTIRQ = 0x10,
    STATE_PREEMPTED = 0x100,
    FRAMES_MAX = 512,
    KERNEL_FRAMES_MAX = 64,
    FRAMES_NEEDED = 3, /* fewer: there are no frame pointers */
    CPUS_MAX = 1 << 13,
    FIRST_MARKER = 4095, /* -4095 ... -1 stand between the parts of a chain */
    N_REGISTERS = 20,
    COPY_BYTES_MAX = UINT16_MAX - 7 - WEFT_STACK_COPY_REGISTERS * 8,
};

bool weft_perf_convert_init(struct weft_perf_convert *convert)
{
    *convert = (struct weft_perf_convert){ .of_id = weft_map_new(),
                                           .of_tid = weft_map_new(),
                                           .targets = weft_map_new() };
    return convert->of_id && convert->of_tid && convert->targets;
}

void weft_perf_convert_fini(struct weft_perf_convert *convert)
{
    weft_map_free(convert->of_id);
    weft_map_free(convert->of_tid);
    weft_map_free(convert->targets);
    WEFT_VEC_FINI(&convert->kinds);
    WEFT_VEC_FINI(&convert->pids);
    WEFT_VEC_FINI(&convert->runs);
}

bool weft_perf_convert_event(struct weft_perf_convert *convert, uint64_t id, uint8_t kind)
{
    bool is_new;
    const uint32_t index = weft_map_add(convert->of_id, id, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&convert->kinds)))
        return false;
    convert->kinds.items[index] = kind;
    return true;
}

bool weft_perf_convert_thread(struct weft_perf_convert *convert, uint32_t tid, uint32_t pid,
                              bool *is_new)
{
    bool is_added;
    const uint32_t index = weft_map_add(convert->of_tid, tid, &is_added);
    if (is_new)
        *is_new = is_added;
    if (index == WEFT_MAP_NONE || (is_added && !WEFT_VEC_PUSH(&convert->pids)))
        return false;
    if (pid != 0)
        convert->pids.items[index] = pid;
    return true;
}

static uint32_t pid_of(const struct weft_perf_convert *convert, uint32_t tid)
{
    const uint32_t index = weft_map_find(convert->of_tid, tid);
    return index == WEFT_MAP_NONE ? 0 : convert->pids.items[index];
}

static bool is_target(const struct weft_perf_convert *convert, uint32_t pid)
{
    return convert->with_all || weft_map_find(convert->targets, pid) != WEFT_MAP_NONE;
}

/* What every record says of itself. */
struct about {
    uint64_t id, time_ns;
    uint32_t pid, tid;
    uint32_t cpu; /* of a sample */
};

static struct weft_kernel_record record_of(const struct about *about, uint16_t type, uint64_t a,
                                           uint64_t b)
{
    return (struct weft_kernel_record){
        .time_ns = about->time_ns, .tid = about->tid, .type = type, .a = a, .b = b
    };
}

/* ---- tracepoints */

static uint64_t field(const struct weft_tracepoint_format *format, uint32_t index,
                      const uint8_t *raw, size_t n_raw)
{
    const uint32_t off = format->fields[index].off, n_bytes = format->fields[index].n_bytes;
    uint64_t value = 0;
    if (n_bytes <= sizeof value && off <= n_raw && n_bytes <= n_raw - off)
        memcpy(&value, raw + off, n_bytes); /* our own kernel's, so of our byte order */
    return value;
}

/* A text of fixed room, into a payload filled up with zeros. */
static uint16_t text_field(const struct weft_tracepoint_format *format, uint32_t index,
                           const uint8_t *raw, size_t n_raw, char *to, uint16_t n_to)
{
    const uint32_t off = format->fields[index].off, n_bytes = format->fields[index].n_bytes;
    memset(to, 0, n_to);
    if (off <= n_raw && n_bytes <= n_raw - off)
        memcpy(to, raw + off, n_bytes < n_to ? n_bytes : n_to - 1u);
    return n_to;
}

/* What the thread that leaves has reported of its run time, which then starts again; 0: nothing. */
static uint64_t take_run_time(struct weft_perf_convert *convert, uint32_t cpu, uint32_t tid)
{
    if (cpu >= convert->runs.n)
        return 0;
    const struct weft_perf_run run = convert->runs.items[cpu];
    convert->runs.items[cpu] = (struct weft_perf_run){ 0 };
    return run.tid == tid ? run.ran_ns : 0;
}

static enum weft_code count_run_time(struct weft_perf_convert *convert, const struct about *about,
                                     const uint8_t *raw, size_t n_raw, struct weft_err *err)
{
    const struct weft_tracepoint_format *format = &convert->formats[WEFT_TRACEPOINT_RAN];
    const uint32_t tid = (uint32_t)field(format, 0, raw, n_raw);
    while (convert->runs.n <= about->cpu && about->cpu < CPUS_MAX)
        if (!WEFT_VEC_PUSH(&convert->runs))
            return weft_no_memory(err, "threads");
    if (about->cpu >= convert->runs.n || tid == 0)
        return WEFT_OK;
    struct weft_perf_run *run = &convert->runs.items[about->cpu];
    if (run->tid != tid)
        *run = (struct weft_perf_run){ .tid = tid };
    run->ran_ns += field(format, 1, raw, n_raw);
    return WEFT_OK;
}

static enum weft_code add_switch(struct weft_perf_convert *convert, const struct about *about,
                                 const uint8_t *raw, size_t n_raw, struct weft_batch *batch,
                                 struct weft_err *err)
{
    const struct weft_tracepoint_format *format = &convert->formats[WEFT_TRACEPOINT_SWITCH];
    const uint64_t state = field(format, 1, raw, n_raw);
    const uint32_t next = (uint32_t)field(format, 2, raw, n_raw);
    const bool is_preempted = state & STATE_PREEMPTED;
    char comm[16];
    bool is_new = false;
    if (next != 0 && !weft_perf_convert_thread(convert, next, 0, &is_new))
        return weft_no_memory(err, "threads");
    struct weft_kernel_record record =
        record_of(about, WEFT_KERNEL_SWITCH, next | (is_preempted ? 0 : state & 0xff) << 32,
                  pid_of(convert, next) | (uint64_t)is_preempted << 32);
    record.tid = (uint32_t)field(format, 0, raw, n_raw);
    const uint64_t ran_ns = take_run_time(convert, about->cpu, record.tid);
    record.a |= ran_ns >> WEFT_SWITCH_RAN_BITS << WEFT_SWITCH_RAN_HIGH_SHIFT;
    record.b |= ran_ns << WEFT_SWITCH_RAN_LOW_SHIFT;
    if (is_new)
        record.payload_bytes = text_field(format, 3, raw, n_raw, comm, sizeof comm);
    return weft_batch_add(batch, &record, comm, err);
}

static enum weft_code add_waking(struct weft_perf_convert *convert, const struct about *about,
                                 uint16_t type, const uint8_t *raw, size_t n_raw,
                                 struct weft_batch *batch, struct weft_err *err)
{
    const struct weft_tracepoint_format *format = &convert->formats[WEFT_TRACEPOINT_WAKING];
    const uint8_t flags = n_raw > 2 ? raw[2] : 0;
    const uint64_t kind = flags & FLAG_HARDIRQ   ? WEFT_CONTEXT_HARDIRQ
                          : flags & FLAG_SOFTIRQ ? WEFT_CONTEXT_SOFTIRQ
                                                 : WEFT_CONTEXT_THREAD;
    const uint64_t number = kind ? WEFT_CONTEXT_NUMBER_UNKNOWN : 0;
    const uint32_t tid = (uint32_t)field(format, 0, raw, n_raw);
    const struct weft_kernel_record record =
        record_of(about, type, tid | field(format, 1, raw, n_raw) << 32,
                  pid_of(convert, tid) | (kind | number << WEFT_CONTEXT_NUMBER_SHIFT) << 32);
    return weft_batch_add(batch, &record, NULL, err);
}

static enum weft_code add_exec(struct weft_perf_convert *convert, const struct about *about,
                               const uint8_t *raw, size_t n_raw, struct weft_batch *batch,
                               struct weft_err *err)
{
    const struct weft_tracepoint_format *format = &convert->formats[WEFT_TRACEPOINT_EXEC];
    const uint32_t place = (uint32_t)field(format, 0, raw, n_raw); /* offset | bytes << 16 */
    const size_t off = place & 0xffff;
    size_t n_bytes = place >> 16;
    char path[256] = { 0 };
    struct weft_kernel_record record =
        record_of(about, WEFT_KERNEL_EXEC, about->pid | field(format, 2, raw, n_raw) << 32, 0);
    if (n_bytes > sizeof path - 1)
        n_bytes = sizeof path - 1;
    if (off <= n_raw && n_bytes <= n_raw - off) {
        memcpy(path, raw + off, n_bytes);
        record.payload_bytes = (uint16_t)((strlen(path) + 8) & ~(size_t)7);
    }
    return weft_batch_add(batch, &record, path, err);
}

static enum weft_code add_request(struct weft_perf_convert *convert, const struct about *about,
                                  bool is_done, const uint8_t *raw, size_t n_raw,
                                  struct weft_batch *batch, struct weft_err *err)
{
    const struct weft_tracepoint_format *format =
        &convert->formats[is_done ? WEFT_TRACEPOINT_DONE : WEFT_TRACEPOINT_ISSUE];
    const uint64_t n_bytes = field(format, 2, raw, n_raw) * (is_done ? 512 : 1);
    char letters[8];
    struct weft_kernel_record record =
        record_of(about, is_done ? WEFT_KERNEL_IO_DONE : WEFT_KERNEL_IO_ISSUE,
                  field(format, 0, raw, n_raw) | n_bytes << 32, field(format, 1, raw, n_raw));
    if (!is_done)
        record.payload_bytes = text_field(format, 3, raw, n_raw, letters, sizeof letters);
    return weft_batch_add(batch, &record, letters, err);
}

static enum weft_code add_fault(struct weft_perf_convert *convert, const struct about *about,
                                const uint8_t *raw, size_t n_raw, struct weft_batch *batch,
                                struct weft_err *err)
{
    const struct weft_tracepoint_format *format = &convert->formats[WEFT_TRACEPOINT_FAULT];
    const struct weft_kernel_record record = record_of(
        about, WEFT_KERNEL_FAULT, field(format, 0, raw, n_raw), field(format, 1, raw, n_raw));
    return is_target(convert, about->pid) ? weft_batch_add(batch, &record, NULL, err) : WEFT_OK;
}

static enum weft_code add_tracepoint(struct weft_perf_convert *convert, const struct about *about,
                                     uint8_t kind, struct weft_cursor *cur,
                                     struct weft_batch *batch, struct weft_err *err)
{
    const size_t n_raw = weft_cur_u32(cur);
    const uint8_t *const raw = weft_cur_take(cur, n_raw);
    if (!raw)
        return WEFT_OK;
    switch ((enum weft_tracepoint)kind) {
    case WEFT_TRACEPOINT_SWITCH:
        return add_switch(convert, about, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_WAKING:
        return add_waking(convert, about, WEFT_KERNEL_WAKING, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_WOKEN_NEW:
        return add_waking(convert, about, WEFT_KERNEL_WOKEN_NEW, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_EXEC:
        return add_exec(convert, about, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_ISSUE:
    case WEFT_TRACEPOINT_DONE:
        return add_request(convert, about, kind == WEFT_TRACEPOINT_DONE, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_FAULT:
        return add_fault(convert, about, raw, n_raw, batch, err);
    case WEFT_TRACEPOINT_RAN:
        return count_run_time(convert, about, raw, n_raw, err);
    case WEFT_TRACEPOINTS:
        break;
    }
    return WEFT_OK;
}

/* ---- samples of CPUs */

/* Registers of a sample, by number of the kernel's, into our order. */
static void order_registers(const uint64_t *from, uint64_t *to)
{
    static const uint8_t places[WEFT_STACK_COPY_REGISTERS] = {
        8,  7,  6,                      /* ip sp bp */
        12, 13, 14, 15, 16, 17, 18, 19, /* r8 ... r15, behind the twelve before */
        0,  1,  2,  3,  4,  5,          /* ax bx cx dx si di */
    };
    for (size_t i = 0; i < WEFT_STACK_COPY_REGISTERS; i++)
        to[i] = from[places[i]];
}

/* Where code makes no frames, its frame pointer is any number: the chain is short, or ends with
 * what is no address. */
static bool is_plausible(const uint64_t *frames, size_t n_frames)
{
    return n_frames >= FRAMES_NEEDED && frames[n_frames - 1] >= 4096 &&
           frames[n_frames - 1] < UINT64_C(1) << 47;
}

/* False in *is_added: there is none. */
static enum weft_code add_copy(const struct about *about, uint64_t kind, struct weft_cursor *cur,
                               struct weft_batch *batch, bool *is_added, struct weft_err *err)
{
    uint64_t registers[N_REGISTERS];
    const uint64_t abi = weft_cur_u64(cur);
    const uint8_t *const bytes = abi ? weft_cur_take(cur, sizeof registers) : NULL;
    const uint64_t n_room = weft_cur_u64(cur);
    const uint8_t *const stack = weft_cur_take(cur, n_room);
    const uint64_t n_stack = n_room > 0 ? weft_cur_u64(cur) : 0;
    *is_added = bytes && stack && n_stack <= n_room && n_stack <= COPY_BYTES_MAX;
    if (!*is_added)
        return WEFT_OK;
    struct {
        uint64_t registers[WEFT_STACK_COPY_REGISTERS];
        uint8_t stack[COPY_BYTES_MAX];
    } payload;
    memcpy(registers, bytes, sizeof registers);
    order_registers(registers, payload.registers);
    memcpy(payload.stack, stack, n_stack);
    struct weft_kernel_record record = record_of(about, WEFT_KERNEL_STACK_COPY, kind, about->pid);
    record.payload_bytes = (uint16_t)(sizeof payload.registers + (n_stack & ~UINT64_C(7)));
    return weft_batch_add(batch, &record, &payload, err);
}

#define CONTEXT_KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)

/* A chain of both sides, innermost first, with a marker before each. */
struct chain {
    uint64_t frames[FRAMES_MAX]; /* of the user's side */
    uint64_t kernel[KERNEL_FRAMES_MAX];
    size_t n_frames, n_kernel;
};

static void read_chain(struct weft_cursor *cur, uint64_t n_entries, struct chain *chain)
{
    bool is_kernel = false;
    chain->n_frames = chain->n_kernel = 0;
    for (uint64_t i = 0; i < n_entries; i++) {
        const uint64_t address = weft_cur_u64(cur);
        if (address >= (uint64_t)-FIRST_MARKER)
            is_kernel = address == CONTEXT_KERNEL;
        else if (is_kernel && chain->n_kernel < KERNEL_FRAMES_MAX)
            chain->kernel[chain->n_kernel++] = address;
        else if (!is_kernel && chain->n_frames < FRAMES_MAX)
            chain->frames[chain->n_frames++] = address;
    }
}

static enum weft_code add_kernel_frames(const struct about *about, const struct chain *chain,
                                        struct weft_batch *batch, struct weft_err *err)
{
    struct weft_kernel_record record = record_of(about, WEFT_KERNEL_FRAMES, 0, 0);
    record.payload_bytes = (uint16_t)(chain->n_kernel * sizeof *chain->kernel);
    return chain->n_kernel > 0 ? weft_batch_add(batch, &record, chain->kernel, err) : WEFT_OK;
}

/* Of the mode of a sample. */
static uint64_t mode_bits(const struct weft_perf_convert *convert, uint16_t misc)
{
    const uint16_t mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
    if (!convert->with_kernel_side)
        return 0;
    return mode == PERF_RECORD_MISC_KERNEL ? WEFT_STACK_IN_KERNEL
           : mode == PERF_RECORD_MISC_USER ? WEFT_STACK_IN_USER
                                           : 0;
}

static enum weft_code add_sample(struct weft_perf_convert *convert, const struct about *about,
                                 uint16_t misc, struct weft_cursor *cur, struct weft_batch *batch,
                                 struct weft_err *err)
{
    struct chain chain;
    const uint64_t n_entries = weft_cur_u64(cur);
    if (!is_target(convert, about->pid) || n_entries > weft_cur_left(cur) / 8)
        return WEFT_OK;
    read_chain(cur, n_entries, &chain);
    const uint64_t kind =
        WEFT_STACK_SAMPLE | mode_bits(convert, misc) | (uint64_t)convert->sample_ns << 32;
    bool is_copied = false;
    enum weft_code code = add_kernel_frames(about, &chain, batch, err);
    if (code == WEFT_OK && convert->with_copies && !is_plausible(chain.frames, chain.n_frames))
        code = add_copy(about, kind, cur, batch, &is_copied, err);
    struct weft_kernel_record record = record_of(about, WEFT_KERNEL_STACK, kind, about->pid);
    record.payload_bytes = (uint16_t)(chain.n_frames * sizeof *chain.frames);
    return code != WEFT_OK || is_copied || chain.n_frames + chain.n_kernel == 0
               ? code
               : weft_batch_add(batch, &record, chain.frames, err);
}

static enum weft_code add_event(struct weft_perf_convert *convert, uint16_t misc,
                                struct weft_cursor *cur, struct weft_batch *batch,
                                struct weft_err *err)
{
    struct about about = { .id = weft_cur_u64(cur) };
    about.pid = weft_cur_u32(cur);
    about.tid = weft_cur_u32(cur);
    about.time_ns = weft_cur_u64(cur);
    about.cpu = (uint32_t)weft_cur_u64(cur); /* behind it zeros */
    const uint32_t index = weft_map_find(convert->of_id, about.id);
    if (cur->fault || index == WEFT_MAP_NONE)
        return WEFT_OK;
    const uint8_t kind = convert->kinds.items[index];
    if (kind == WEFT_TRACEPOINT_RAN)
        (void)weft_cur_u64(cur); /* period */
    return kind == WEFT_PERF_SAMPLER ? add_sample(convert, &about, misc, cur, batch, err)
                                     : add_tracepoint(convert, &about, kind, cur, batch, err);
}

/* ---- threads */

/* pid, ppid, tid, ptid, time */
static enum weft_code add_fork(struct weft_perf_convert *convert, struct about *about,
                               struct weft_cursor *cur, struct weft_batch *batch,
                               struct weft_err *err)
{
    const uint32_t pid = weft_cur_u32(cur), parent_pid = weft_cur_u32(cur);
    const uint32_t tid = weft_cur_u32(cur);
    about->tid = weft_cur_u32(cur);
    if (cur->fault)
        return WEFT_OK;
    if (is_target(convert, parent_pid) && !convert->with_all &&
        weft_map_add(convert->targets, pid, NULL) == WEFT_MAP_NONE)
        return weft_no_memory(err, "threads");
    if (!weft_perf_convert_thread(convert, tid, pid, NULL))
        return weft_no_memory(err, "threads");
    const struct weft_kernel_record record =
        record_of(about, WEFT_KERNEL_FORK, tid | (uint64_t)pid << 32,
                  pid == parent_pid ? CLONE_THREAD | CLONE_VM : 0);
    return weft_batch_add(batch, &record, NULL, err);
}

static enum weft_code add_exit(struct about *about, struct weft_cursor *cur,
                               struct weft_batch *batch, struct weft_err *err)
{
    const uint32_t pid = weft_cur_u32(cur);
    (void)weft_cur_u32(cur);
    about->tid = weft_cur_u32(cur);
    const struct weft_kernel_record record = record_of(about, WEFT_KERNEL_EXIT, pid, 0);
    return cur->fault ? WEFT_OK : weft_batch_add(batch, &record, NULL, err);
}

static enum weft_code add_name(const struct weft_perf_convert *convert, struct about *about,
                               bool is_exec, struct weft_cursor *cur, struct weft_batch *batch,
                               struct weft_err *err)
{
    const uint32_t pid = weft_cur_u32(cur);
    about->tid = weft_cur_u32(cur);
    char comm[16] = { 0 };
    for (size_t i = 0; i < sizeof comm - 1 && weft_cur_left(cur) > 0; i++)
        if ((comm[i] = (char)weft_cur_u8(cur)) == 0)
            break;
    struct weft_kernel_record record = record_of(about, WEFT_KERNEL_EXEC, pid, 0);
    enum weft_code code = WEFT_OK;
    if (is_exec && convert->formats[WEFT_TRACEPOINT_EXEC].id == 0) /* else that contains more */
        code = weft_batch_add(batch, &record, NULL, err);
    record = record_of(about, WEFT_KERNEL_RENAMED, 0, 0);
    record.payload_bytes = sizeof comm;
    return code == WEFT_OK ? weft_batch_add(batch, &record, comm, err) : code;
}

/* Without tracepoints: of all threads (the record names the other one), or of one's own. */
static enum weft_code add_plain_switch(struct weft_perf_convert *convert, struct about *about,
                                       uint16_t misc, bool has_other, struct weft_cursor *cur,
                                       struct weft_batch *batch, struct weft_err *err)
{
    const bool is_out = misc & PERF_RECORD_MISC_SWITCH_OUT;
    const bool is_preempted = is_out && misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    const uint64_t state = is_out && !is_preempted;
    if (has_other && !is_out) /* was recorded by the one that left */
        return WEFT_OK;
    const uint32_t other_pid = has_other ? weft_cur_u32(cur) : 0;
    const uint32_t other_tid = has_other ? weft_cur_u32(cur) : 0;
    const uint32_t self = about->tid;
    about->tid = is_out ? self : 0;
    const uint32_t next = is_out ? other_tid : self;
    if (next != 0 &&
        !weft_perf_convert_thread(convert, next, is_out ? other_pid : about->pid, NULL))
        return weft_no_memory(err, "threads");
    const struct weft_kernel_record record =
        record_of(about, WEFT_KERNEL_SWITCH, next | state << 32,
                  pid_of(convert, next) | (uint64_t)is_preempted << 32);
    return cur->fault ? WEFT_OK : weft_batch_add(batch, &record, NULL, err);
}

/* What stands at the end of all but samples: pid, tid, time, CPU, id. */
static bool read_end(const uint8_t *bytes, size_t n_bytes, struct about *about)
{
    enum { END_BYTES = 32 };
    if (n_bytes < sizeof(struct perf_event_header) + END_BYTES)
        return false;
    struct weft_cursor cur = weft_cur_init(bytes + n_bytes - END_BYTES, END_BYTES, 0);
    about->pid = weft_cur_u32(&cur);
    about->tid = weft_cur_u32(&cur);
    about->time_ns = weft_cur_u64(&cur);
    (void)weft_cur_u64(&cur);
    about->id = weft_cur_u64(&cur);
    return true;
}

enum weft_code weft_perf_convert(struct weft_perf_convert *convert, const uint8_t *bytes,
                                 size_t n_bytes, struct weft_batch *batch, struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    struct about about = { 0 };
    const uint32_t type = weft_cur_u32(&cur);
    const uint16_t misc = weft_cur_u16(&cur);
    (void)weft_cur_u16(&cur);
    if (type == PERF_RECORD_SAMPLE)
        return add_event(convert, misc, &cur, batch, err);
    if (!read_end(bytes, n_bytes, &about))
        return WEFT_OK;
    switch (type) {
    case PERF_RECORD_LOST:
        (void)weft_cur_u64(&cur);
        convert->n_lost += weft_cur_u64(&cur);
        return WEFT_OK;
    case PERF_RECORD_FORK:
        return add_fork(convert, &about, &cur, batch, err);
    case PERF_RECORD_EXIT:
        return add_exit(&about, &cur, batch, err);
    case PERF_RECORD_COMM:
        return add_name(convert, &about, misc & PERF_RECORD_MISC_COMM_EXEC, &cur, batch, err);
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        return add_plain_switch(convert, &about, misc, type == PERF_RECORD_SWITCH_CPU_WIDE, &cur,
                                batch, err);
    default:
        return WEFT_OK;
    }
}
