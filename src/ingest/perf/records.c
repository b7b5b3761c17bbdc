/* SPDX-License-Identifier: MIT
 *
 * Records of the kernel other than samples: names, processes, what is mapped where, what was lost.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "ingest/perf/convert.h"
#include "kernel/bytes.h"

/* Of `misc`. */
enum {
    MISC_CPU_MODE = 7,
    MISC_KERNEL = 1,
    MISC_COMM_EXEC = 1 << 13,
    MISC_SWITCH_OUT = 1 << 13,
    MISC_SWITCH_PREEMPT = 1 << 14,
    MISC_MMAP_BUILD_ID = 1 << 14,
};

enum { STATE_RUNNING = 0, STATE_SLEEPING = 1 };

static struct weft_cursor body_of(const struct perf_record *record)
{
    return weft_cur_init(record->body, record->n_body, 0);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static enum weft_code convert_comm(struct perf_convert *convert, const struct perf_record *record)
{
    struct weft_cursor cur = body_of(record);
    const uint32_t pid = kernel_cur_u32(&cur, convert->file->is_big);
    const uint32_t tid = kernel_cur_u32(&cur, convert->file->is_big);
    const struct kernel_details details = { .pid = pid,
                                            .has_pid = (int32_t)pid > 0,
                                            .comm = kernel_text_in(cur.at, weft_cur_left(&cur)) };
    if (cur.fault || tid == 0 || (int32_t)tid < 0)
        return WEFT_OK;
    if (record->misc & MISC_COMM_EXEC && !convert->kernel.is_survey &&
        !perf_space_clear(&convert->stacks.spaces, pid))
        return kernel_no_memory(&convert->kernel);
    const uint32_t thread = kernel_thread_of(&convert->kernel.threads, 0, tid, -1, true);
    return thread == WEFT_ID_NONE ? kernel_no_memory(&convert->kernel)
                                  : kernel_thread_details(&convert->kernel, thread, &details);
}

/* ---- processes --------------------------------------------------------------------------------
 */

struct task {
    uint32_t pid, parent_pid, tid, parent_tid;
};

static bool read_task(const struct perf_convert *convert, const struct perf_record *record,
                      struct task *task)
{
    struct weft_cursor cur = body_of(record);
    task->pid = kernel_cur_u32(&cur, convert->file->is_big);
    task->parent_pid = kernel_cur_u32(&cur, convert->file->is_big);
    task->tid = kernel_cur_u32(&cur, convert->file->is_big);
    task->parent_tid = kernel_cur_u32(&cur, convert->file->is_big);
    return !cur.fault && (int32_t)task->tid > 0;
}

/* The thread that the record names as the one it is of, on its CPU. */
static enum weft_code begin_event(struct perf_convert *convert, const struct perf_record *record,
                                  uint32_t tid, uint32_t pid, struct kernel_now *now)
{
    struct perf_sample sample;
    if (!perf_trailer_read(&convert->file->attrs, record->body, record->n_body,
                           convert->file->is_big, &sample))
        sample.cpu = -1;
    sample.tid = (int32_t)tid;
    sample.pid = (int32_t)pid;
    sample.has_tid = sample.tid >= 0;
    now->cpu = sample.cpu;
    return perf_find_thread(convert, &sample, now);
}

/* At the start perf writes what existed before, without a time. Later on tracepoints are more
 * exact, if they were recorded. */
static enum weft_code convert_fork(struct perf_convert *convert, const struct perf_record *record,
                                   uint64_t time_ns)
{
    struct kernel_now now = { .known = &convert->known_fork,
                              .time_ns = kernel_time_since(time_ns, convert->zero_ns) };
    struct task task;
    if (!read_task(convert, record, &task))
        return WEFT_OK;
    if (task.pid != task.parent_pid && !convert->kernel.is_survey &&
        !perf_space_copy(&convert->stacks.spaces, task.parent_pid, task.pid))
        return kernel_no_memory(&convert->kernel);
    if (time_ns == 0) {
        const struct kernel_details details = { .pid = task.pid, .has_pid = (int32_t)task.pid > 0 };
        const uint32_t thread = kernel_thread_of(&convert->kernel.threads, 0, task.tid, -1, true);
        return thread == WEFT_ID_NONE ? kernel_no_memory(&convert->kernel)
                                      : kernel_thread_details(&convert->kernel, thread, &details);
    }
    if (convert->has_forks)
        return WEFT_OK;
    enum weft_code code = begin_event(convert, record, task.parent_tid, task.parent_pid, &now);
    now.numbers[0] = task.tid;
    now.numbers[1] = task.pid;
    return code == WEFT_OK ? kernel_convert_event(&convert->kernel, &now) : code;
}

static enum weft_code convert_exit(struct perf_convert *convert, const struct perf_record *record,
                                   uint64_t time_ns)
{
    struct kernel_now now = { .known = &convert->known_exit,
                              .time_ns = kernel_time_since(time_ns, convert->zero_ns) };
    struct task task;
    if (convert->has_exits || time_ns == 0 || !read_task(convert, record, &task))
        return WEFT_OK;
    const enum weft_code code = begin_event(convert, record, task.tid, task.pid, &now);
    return code == WEFT_OK ? kernel_convert_event(&convert->kernel, &now) : code;
}

/* ---- switches ---------------------------------------------------------------------------------
 */

/* perf record --switch-events: a thread leaves its CPU, and a record of a whole CPU names the one
 * that comes next. */
static enum weft_code convert_switch(struct perf_convert *convert, const struct perf_record *record,
                                     uint64_t time_ns)
{
    struct perf_sample sample;
    struct weft_cursor cur = body_of(record);
    if (convert->has_switches || time_ns == 0 || record->type != PERF_SWITCH_CPU_WIDE ||
        !(record->misc & MISC_SWITCH_OUT) ||
        !perf_trailer_read(&convert->file->attrs, record->body, record->n_body,
                           convert->file->is_big, &sample) ||
        !sample.has_tid)
        return WEFT_OK;
    struct kernel_now now = { .known = &convert->known_switch,
                              .time_ns = kernel_time_since(time_ns, convert->zero_ns),
                              .cpu = sample.cpu };
    (void)kernel_cur_u32(&cur, convert->file->is_big);
    now.numbers[0] = (uint32_t)sample.tid;
    now.numbers[1] = kernel_cur_u32(&cur, convert->file->is_big);
    now.numbers[2] = record->misc & MISC_SWITCH_PREEMPT ? STATE_RUNNING : STATE_SLEEPING;
    return cur.fault ? WEFT_OK : kernel_convert_event(&convert->kernel, &now);
}

/* ---- mappings ---------------------------------------------------------------------------------
 */

/* A path that is met first, with the build id in its record; that of the header counts more. False
 * without memory. */
static bool meet_path(struct perf_convert *convert, struct weft_str path, struct weft_str build_id,
                      uint32_t *id)
{
    struct weft_strtab *paths = convert->stacks.symbols.paths;
    const uint32_t n_before = weft_strtab_count(paths);
    if (weft_strtab_intern(paths, path, id, NULL) != WEFT_OK)
        return false;
    if (*id != n_before || build_id.n_bytes == 0)
        return true;
    struct perf_build_id *place = WEFT_VEC_PUSH(&convert->file->build_ids);
    if (!place)
        return false;
    place->n_bytes = (uint8_t)weft_min_u64(build_id.n_bytes, PERF_BUILD_ID_BYTES);
    memcpy(place->bytes, build_id.bytes, place->n_bytes);
    place->path = path;
    return true;
}

static enum weft_code convert_mmap(struct perf_convert *convert, const struct perf_record *record)
{
    enum { DEVICE_BYTES = 24, BUILD_ID_AT = 4, RIGHTS_BYTES = 8 };
    const bool is_big = convert->file->is_big;
    struct weft_cursor cur = body_of(record);
    struct perf_mapping mapping;
    struct weft_str build_id = { 0 };
    const uint32_t pid = kernel_cur_u32(&cur, is_big);
    (void)kernel_cur_u32(&cur, is_big);
    mapping.begin = kernel_cur_u64(&cur, is_big);
    mapping.end = weft_add_sat_u64(mapping.begin, kernel_cur_u64(&cur, is_big));
    mapping.file_off = kernel_cur_u64(&cur, is_big);
    if (record->type == PERF_MMAP2) {
        const char *device = (const char *)weft_cur_take(&cur, DEVICE_BYTES);
        if (device && record->misc & MISC_MMAP_BUILD_ID)
            build_id = (struct weft_str){ device + BUILD_ID_AT, (uint8_t)*device };
        (void)weft_cur_take(&cur, RIGHTS_BYTES);
    }
    const struct weft_str path = kernel_text_in(cur.at, weft_cur_left(&cur));
    if (convert->kernel.is_survey || cur.fault || (record->misc & MISC_CPU_MODE) == MISC_KERNEL)
        return WEFT_OK;
    return meet_path(convert, path, build_id, &mapping.path) &&
                   perf_space_add(&convert->stacks.spaces, pid, &mapping)
               ? WEFT_OK
               : kernel_no_memory(&convert->kernel);
}

/* ---- losses -----------------------------------------------------------------------------------
 */

static void count_lost(struct perf_convert *convert, const struct perf_record *record)
{
    const size_t at = record->type == PERF_LOST ? 8 : 0; /* behind the id */
    const uint64_t n_lost =
        record->n_body >= at + 8 ? kernel_load_u64(record->body + at, convert->file->is_big) : 1;
    uint64_t *count = record->type == PERF_LOST ? &convert->n_lost : &convert->n_lost_samples;
    if (!convert->kernel.is_survey)
        *count = weft_add_sat_u64(*count, n_lost);
}

enum weft_code perf_convert_record(struct perf_convert *convert, const struct perf_record *record,
                                   uint64_t time_ns)
{
    switch (record->type) {
    case PERF_COMM:
        return convert_comm(convert, record);
    case PERF_FORK:
        return convert_fork(convert, record, time_ns);
    case PERF_EXIT:
        return convert_exit(convert, record, time_ns);
    case PERF_MMAP:
    case PERF_MMAP2:
        return convert_mmap(convert, record);
    case PERF_SWITCH:
    case PERF_SWITCH_CPU_WIDE:
        return convert_switch(convert, record, time_ns);
    case PERF_LOST:
    case PERF_LOST_SAMPLES:
        count_lost(convert, record);
        return WEFT_OK;
    case PERF_THROTTLE:
        convert->n_throttled += !convert->kernel.is_survey;
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}
