/* SPDX-License-Identifier: MIT
 *
 * Reads the scheduling records of all CPUs and sorts them by task; uftrace.c looks up those of each
 * task. After a record of impossible size the rest of that file is counted as lost.
 */
#include "ingest/uftrace/perf.h"

#include "base/cursor.h"
#include "base/vec.h"
#include "ingest/uftrace/text.h"

#include <stdlib.h>

/* Types of records, and bits of `misc`, in linux/perf_event.h. */
enum { PERF_LOST = 2, PERF_COMM = 3, PERF_EXIT = 4, PERF_FORK = 7, PERF_SWITCH = 14 };
enum { PERF_SWITCH_OUT = 1 << 13, PERF_SWITCH_PREEMPT = 1 << 14 };

enum { HEADER_BYTES = 8, SAMPLE_BYTES = 16 };

struct record {
    uint32_t type;
    uint16_t misc;
    const uint8_t *body; /* between header and sample */
    size_t n_body;
    uint32_t tid; /* of the sample */
    uint64_t time_ns;
};

static bool add_switch(struct weft_uft_perf *perf, const struct record *record, uint16_t cpu)
{
    struct weft_uft_switch *slot = WEFT_VEC_PUSH(&perf->switches);
    if (!slot)
        return false;
    slot->time_ns = record->time_ns;
    slot->tid = record->tid;
    slot->cpu = cpu;
    slot->kind = (uint8_t)(!(record->misc & PERF_SWITCH_OUT)    ? WEFT_UFT_SWITCH_IN
                           : record->misc & PERF_SWITCH_PREEMPT ? WEFT_UFT_PREEMPTED
                                                                : WEFT_UFT_SWITCH_OUT);
    return true;
}

static bool add_comm(struct weft_uft_perf *perf, const struct record *record)
{
    if (record->n_body < 8)
        return true;
    struct weft_uft_comm *slot = WEFT_VEC_PUSH(&perf->comms);
    if (!slot)
        return false;
    slot->time_ns = record->time_ns;
    slot->tid = weft_load_u32(record->body + 4);
    for (size_t k = 0; k + 8 < record->n_body && k + 1 < WEFT_UFT_COMM_BYTES; k++) {
        if (record->body[k + 8] == '\0')
            break;
        slot->name[k] = (char)record->body[k + 8];
    }
    return true;
}

static bool take(struct weft_uft_perf *perf, const struct record *record, uint16_t cpu)
{
    switch (record->type) {
    case PERF_SWITCH:
        return add_switch(perf, record, cpu);
    case PERF_COMM:
        return add_comm(perf, record);
    case PERF_LOST:
        perf->n_lost += record->n_body >= 16 ? weft_load_u64(record->body + 8) : 1;
        return true;
    case PERF_EXIT: /* known from the task's own file */
    case PERF_FORK:
        return true;
    default:
        perf->n_unknown++;
        return true;
    }
}

static enum weft_code read_cpu(struct weft_uft_perf *perf, const struct weft_mapped *file,
                               uint16_t cpu, struct weft_err *err)
{
    struct weft_cursor cur = weft_cur_init(file->bytes, file->n_bytes, 0);
    while (weft_cur_left(&cur) > 0) {
        size_t n_left = weft_cur_left(&cur);
        struct record record = { .type = weft_cur_u32(&cur), .misc = weft_cur_u16(&cur) };
        uint16_t n_bytes = weft_cur_u16(&cur);
        if (cur.fault || n_bytes < HEADER_BYTES + SAMPLE_BYTES || n_bytes > n_left) {
            perf->n_bad_bytes += n_left; /* nothing says where the next record begins */
            return WEFT_OK;
        }
        record.n_body = (size_t)n_bytes - HEADER_BYTES - SAMPLE_BYTES;
        record.body = weft_cur_take(&cur, record.n_body);
        (void)weft_cur_u32(&cur); /* pid */
        record.tid = weft_cur_u32(&cur);
        record.time_ns = weft_cur_u64(&cur);
        if (!take(perf, &record, cpu))
            return weft_no_memory(err, "scheduling events");
    }
    return WEFT_OK;
}

static int compare_switches(const void *a_void, const void *b_void)
{
    const struct weft_uft_switch *a = a_void;
    const struct weft_uft_switch *b = b_void;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->kind != b->kind)
        return (a->kind > b->kind) - (a->kind < b->kind);
    return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static int compare_comms(const void *a_void, const void *b_void)
{
    const struct weft_uft_comm *a = a_void;
    const struct weft_uft_comm *b = b_void;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* "perf-cpuN.dat" */
static bool parse_cpu(const char *file_name, uint64_t *cpu)
{
    struct weft_str name = weft_str_of(file_name);
    struct weft_str digits;
    return weft_uft_take(&name, "perf-cpu") && weft_uft_until(&name, '.', &digits) &&
           weft_str_equal(name, WEFT_STR("dat")) && weft_uft_decimal(digits, cpu) &&
           *cpu <= UINT16_MAX;
}

enum weft_code weft_uft_perf_read(const struct weft_folder *folder, struct weft_uft_perf *perf,
                                  struct weft_err *err)
{
    for (size_t k = 0; k < folder->n_files; k++) {
        uint64_t cpu;
        if (!parse_cpu(folder->files[k].name, &cpu))
            continue;
        enum weft_code code = read_cpu(perf, &folder->files[k].file, (uint16_t)cpu, err);
        if (code != WEFT_OK)
            return weft_in_file(err, folder->files[k].path);
    }
    if (perf->switches.n)
        qsort(perf->switches.items, perf->switches.n, sizeof *perf->switches.items,
              compare_switches);
    if (perf->comms.n)
        qsort(perf->comms.items, perf->comms.n, sizeof *perf->comms.items, compare_comms);
    return WEFT_OK;
}

void weft_uft_perf_fini(struct weft_uft_perf *perf)
{
    WEFT_VEC_FINI(&perf->switches);
    WEFT_VEC_FINI(&perf->comms);
}

/* The first switch of a task not below `tid`. */
static size_t lower_bound(const struct weft_uft_perf *perf, uint64_t tid)
{
    size_t low = 0;
    size_t high = perf->switches.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (perf->switches.items[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t weft_uft_switches_of(const struct weft_uft_perf *perf, uint64_t tid, size_t *begin)
{
    *begin = lower_bound(perf, tid);
    return lower_bound(perf, tid + 1) - *begin;
}

const char *weft_uft_comm_of(const struct weft_uft_perf *perf, uint64_t tid)
{
    const char *name = NULL;
    for (size_t k = 0; k < perf->comms.n; k++)
        if (perf->comms.items[k].tid == tid)
            name = perf->comms.items[k].name;
    return name;
}
