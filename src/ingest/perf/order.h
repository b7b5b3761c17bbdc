/* SPDX-License-Identifier: MIT
 *
 * Records in order of time. perf empties the ring buffers of the processors in rounds: what comes
 * after a round's end is not earlier than what the round before it held. So records wait for one
 * round more than their own, sorted, and equal times stay in the order of the file.
 */
#ifndef WEFT_INGEST_PERF_ORDER_H
#define WEFT_INGEST_PERF_ORDER_H

#include "ingest/perf/file.h"

struct perf_place {
    uint64_t time_ns;
    uint64_t at; /* in the records */
};

struct perf_order {
    const struct perf_file *file;
    uint64_t most_queued, most_kept;
    uint64_t at; /* the next record to read */
    struct {
        struct perf_place *items;
        size_t n, cap;
    } queue, room;
    size_t n_sorted; /* of the queue */
    size_t next;     /* to give out, of the n_ready first */
    size_t n_ready;
    uint64_t last_ns;             /* given out last */
    uint64_t newest_ns, round_ns; /* the latest time met, and at the end of the round before */
    uint64_t n_late;              /* records that came too late to be sorted in */
    struct {
        struct perf_place *items; /* as they were given out: not sorted again, if they are few */
        size_t n, cap;
    } kept;
    bool is_kept, is_replay;
};

void perf_order_init(const struct perf_file *file, uint64_t most_queued, uint64_t most_kept,
                     struct perf_order *order);
void perf_order_fini(struct perf_order *order);
/* Begins again with the first record, after the last one was given out. */
void perf_order_rewind(struct perf_order *order);

/* The next record and its time (0: it tells none); *is_end after the last one. WEFT_E_NOMEM.
 * Amortised O(log processors). */
WEFT_CHECKED enum weft_code perf_order_next(struct perf_order *order, struct perf_record *record,
                                            uint64_t *time_ns, bool *is_end, struct weft_err *err);

#endif
