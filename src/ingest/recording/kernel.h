/* SPDX-License-Identifier: MIT
 *
 * Records of the kernel in order of time, and which thread a ring belongs to.
 */
#ifndef WEFT_INGEST_RECORDING_KERNEL_H
#define WEFT_INGEST_RECORDING_KERNEL_H

#include "ingest/recording/convert.h"
#include "ingest/recording/futexes.h"
#include "ingest/recording/packets.h"
#include "ingest/recording/stacks.h"

/* The records of one CPU. */
struct rec_cpu {
    uint32_t cpu;
    uint32_t first; /* place of its next piece in `order`, up to `end` */
    uint32_t end;
    struct rec_room room;
    struct weft_cursor cur; /* of the piece that is open */
    struct weft_kernel_record record;
    const uint8_t *payload;
    bool has_record;
};

/* A thread of a pid namespace, as the kernel calls it. */
struct rec_inner {
    uint32_t pid, tid;
};

/* All of them, the earliest first. */
struct rec_kernel {
    struct rec_convert *convert;
    uint32_t *order; /* pieces, by CPU, then as they stand in the file */
    struct {
        struct rec_cpu *items; /* by number of the CPU */
        size_t n, cap;
    } cpus;
    uint32_t *heap; /* of those that have a record: by its time, then by place */
    size_t n_heap;
    uint32_t *streams; /* by the time at which they begin */
    size_t next_stream;
    struct weft_map *inner_of; /* number in a namespace | its inode << 32 -> place in `inners` */
    struct {
        struct rec_inner *items; /* the latest thread of each number */
        size_t n, cap;
    } inners;
    struct rec_packets packets;
    struct rec_stacks stacks;
    struct rec_futexes futexes;
    uint64_t n_bad, bad_off; /* records that are cut */
    uint64_t n_unknown;      /* of types that are not known */
    struct kernel_known known[WEFT_KERNEL_TYPES];
};

/* What a record becomes (records.c). `time_ns` since zero. */
WEFT_CHECKED enum weft_code rec_convert_record(struct rec_kernel *kernel, const struct rec_cpu *at);
void rec_known_init(struct rec_kernel *kernel);

#endif
