/* SPDX-License-Identifier: MIT
 *
 * Pages of the kernel's ring buffer, of one CPU in order of time:
 *
 *     u64 time | commit: bytes used, and bits of what was lost | events ...
 *
 *     event:  5 bits kind, 27 bits time since the one before
 *             kind 1 to 28: 4 times as many bytes of data;  0: u32 size, data;
 *             29: padding;  30: u32, upper bits of a longer time;  31: u32, of an absolute time
 */
#ifndef WEFT_INGEST_TRACECMD_PAGES_H
#define WEFT_INGEST_TRACECMD_PAGES_H

#include "ingest/tracecmd/file.h"

struct tracecmd_lane {
    const struct tracecmd_file *file;
    struct tracecmd_cpu cpu;
    uint64_t next_page;      /* of the CPU's bytes */
    const uint8_t *at, *end; /* in the page */
    uint64_t ticks;
    uint64_t time_ns; /* of the record; never steps back */
    struct kernel_record record;
    bool is_end;
    uint64_t n_lost, n_lost_times; /* events that were overwritten; losses without a count */
    uint64_t n_bad_bytes, bad_off; /* of pages that are damaged */
    uint64_t n_back;               /* times that step back */
};

/* At the first record of the CPU. */
void tracecmd_lane_open(const struct tracecmd_file *file, const struct tracecmd_cpu *cpu,
                        struct tracecmd_lane *lane);
/* The next one, or is_end. */
void tracecmd_lane_next(struct tracecmd_lane *lane);

#endif
