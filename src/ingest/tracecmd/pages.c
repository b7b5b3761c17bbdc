/* SPDX-License-Identifier: MIT
 *
 * Iterates over the events of one CPU's ring buffer pages: time extension, absolute stamps,
 * padding, lost events. A page that contradicts itself is skipped from there on and its bytes
 * counted. tracecmd.c merges the CPUs.
 */
#include "ingest/tracecmd/pages.h"

#include "base/u128.h"
#include "kernel/bytes.h"

enum { KIND_PADDING = 29, KIND_EXTEND = 30, KIND_STAMP = 31, DELTA_BITS = 27, STAMP_BITS = 59 };

/* Of the commit of a page. */
#define COMMIT_MISSED (UINT64_C(1) << 31)
#define COMMIT_COUNTED (UINT64_C(1) << 30)
#define COMMIT_MASK ((UINT64_C(1) << 27) - 1)

static uint64_t load_long(const uint8_t *bytes, size_t n_bytes, bool is_big)
{
    return n_bytes == 8 ? kernel_load_u64(bytes, is_big) : kernel_load_u32(bytes, is_big);
}

static void count_bad(struct tracecmd_lane *lane, const uint8_t *at, uint64_t n_bytes)
{
    if (lane->n_bad_bytes == 0)
        lane->bad_off = lane->cpu.at_off + (uint64_t)(at - lane->cpu.bytes);
    lane->n_bad_bytes += n_bytes;
}

/* The count of lost events stands behind the events, if there was room. */
static void count_lost(struct tracecmd_lane *lane, const uint8_t *page, uint64_t commit)
{
    const struct tracecmd_file *file = lane->file;
    const uint64_t at = file->data_off + (commit & COMMIT_MASK);
    if (!(commit & COMMIT_MISSED))
        return;
    if (commit & COMMIT_COUNTED && at + file->commit_bytes <= file->page_bytes)
        lane->n_lost += load_long(page + at, file->commit_bytes, file->formats.is_big);
    else
        lane->n_lost_times++;
}

/* The next page that holds something; false: there is none. */
static bool open_page(struct tracecmd_lane *lane)
{
    const struct tracecmd_file *file = lane->file;
    const bool is_big = file->formats.is_big;
    while (lane->next_page < lane->cpu.n_bytes) {
        const uint8_t *page = lane->cpu.bytes + lane->next_page;
        const uint64_t n_left = lane->cpu.n_bytes - lane->next_page;
        if (n_left < file->page_bytes) {
            count_bad(lane, page, n_left);
            break;
        }
        lane->next_page += file->page_bytes;
        const uint64_t commit = load_long(page + file->commit_off, file->commit_bytes, is_big);
        const uint64_t n_used = commit & COMMIT_MASK;
        if (n_used > file->page_bytes - file->data_off) {
            count_bad(lane, page, file->page_bytes);
            continue;
        }
        count_lost(lane, page, commit);
        lane->ticks = kernel_load_u64(page, is_big);
        lane->at = page + file->data_off;
        lane->end = lane->at + n_used;
        return true;
    }
    lane->next_page = lane->cpu.n_bytes;
    return false;
}

/* The rest of the page is not read. */
static void give_up_page(struct tracecmd_lane *lane, const uint8_t *at)
{
    count_bad(lane, at, (uint64_t)(lane->end - at));
    lane->at = lane->end;
}

/* A stamp has 59 bits; the others are those of the time before. */
static uint64_t whole_stamp(uint64_t stamp, uint64_t before)
{
    const uint64_t high = before >> STAMP_BITS << STAMP_BITS;
    if (high == 0)
        return stamp;
    stamp |= high;
    return stamp < before ? stamp + (UINT64_C(1) << STAMP_BITS) : stamp;
}

/* Takes one event of the page; false: it was no record. */
static bool take_event(struct tracecmd_lane *lane)
{
    const bool is_big = lane->file->formats.is_big;
    const uint8_t *begin = lane->at;
    struct weft_cursor cur = weft_cur_init(begin, (size_t)(lane->end - begin), 0);
    const uint32_t word = kernel_cur_u32(&cur, is_big);
    const uint32_t kind = is_big ? word >> DELTA_BITS : word & 31;
    const uint64_t delta = is_big ? word & ((UINT32_C(1) << DELTA_BITS) - 1) : word >> 5;
    uint64_t n_data = (uint64_t)kind * 4;
    if (kind == KIND_PADDING && delta == 0 && !cur.fault) {
        lane->at = lane->end; /* nothing follows */
        return false;
    }
    if (kind == KIND_PADDING) { /* its size counts itself */
        n_data = kernel_cur_u32(&cur, is_big);
        n_data = n_data >= 4 ? n_data - 4 : UINT64_MAX;
    } else if (kind >= KIND_EXTEND) {
        n_data = 0;
        const uint64_t high = (uint64_t)kernel_cur_u32(&cur, is_big) << DELTA_BITS;
        lane->ticks = kind == KIND_EXTEND ? lane->ticks + high + delta
                                          : whole_stamp(high | delta, lane->ticks);
    } else if (kind == 0) {
        n_data = kernel_cur_u32(&cur, is_big);
        n_data = n_data >= 4 ? (n_data - 4 + 3) / 4 * 4 : UINT64_MAX;
    }
    if (cur.fault || n_data > weft_cur_left(&cur)) {
        give_up_page(lane, begin);
        return false;
    }
    lane->record.bytes = weft_cur_take(&cur, (size_t)n_data);
    lane->record.n_bytes = (size_t)n_data;
    lane->at = cur.at;
    if (kind < KIND_EXTEND)
        lane->ticks += delta;
    return kind < KIND_PADDING;
}

static uint64_t time_of(const struct tracecmd_file *file, uint64_t ticks)
{
    uint64_t time_ns = ticks;
    if (file->has_tsc)
        time_ns =
            (uint64_t)((weft_u128)(ticks - file->tsc_offset) * file->tsc_mult >> file->tsc_shift);
    return time_ns + file->offset_ns;
}

void tracecmd_lane_open(const struct tracecmd_file *file, const struct tracecmd_cpu *cpu,
                        struct tracecmd_lane *lane)
{
    *lane = (struct tracecmd_lane){ .file = file, .cpu = *cpu };
    tracecmd_lane_next(lane);
}

void tracecmd_lane_next(struct tracecmd_lane *lane)
{
    while (!lane->is_end) {
        if (lane->at == lane->end) {
            lane->is_end = !open_page(lane);
            continue;
        }
        if (!take_event(lane))
            continue;
        const uint64_t time_ns = time_of(lane->file, lane->ticks);
        lane->n_back += time_ns < lane->time_ns;
        if (time_ns > lane->time_ns)
            lane->time_ns = time_ns;
        break;
    }
}
