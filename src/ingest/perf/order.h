/* SPDX-License-Identifier: MIT
 *
 * Records in order of time. perf empties the ring buffers of the CPUs in rounds: what comes after a
 * round's end is not earlier than what the round before it held. So records wait for one round more
 * than their own, sorted, and equal times stay in the order of the file. What waits is 16 bytes a
 * record, in memory up to a share of the ceiling, else in a temporary file.
 */
#ifndef WEFT_INGEST_PERF_ORDER_H
#define WEFT_INGEST_PERF_ORDER_H

#include "base/spool.h"
#include "ingest/perf/file.h"

struct perf_place {
    uint64_t time_ns;
    uint64_t at; /* in the records */
};

struct perf_order {
    const struct perf_file *file;
    struct weft_spool *spool; /* of places and room */
    uint64_t most_queued, most_kept;
    uint64_t at; /* the next record to read */
    struct {
        struct perf_place *items; /* those given out, while they are kept, and those that wait */
        size_t n, cap;
    } places;
    struct {
        struct perf_place *items;
        size_t cap;
    } room;
    size_t n_sorted;
    size_t next, n_ready;         /* to give out; those from n_ready on wait */
    uint64_t last_ns;             /* given out last */
    uint64_t newest_ns, round_ns; /* the latest time met, and at the end of the round before */
    uint64_t n_late;              /* records that came too late to be sorted in */
    bool is_kept;                 /* few enough: they are not sorted again */
};

/* `memory_bytes`: the ceiling that all share; 0: none. False without memory. */
bool perf_order_init(const struct perf_file *file, uint64_t most_queued, uint64_t most_kept,
                     uint64_t memory_bytes, struct perf_order *order);
void perf_order_fini(struct perf_order *order);
/* Begins again with the first record, after the last one was given out. */
void perf_order_rewind(struct perf_order *order);

/* Makes records ready, if there are more. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code perf_order_fill(struct perf_order *order, struct weft_err *err);

/* The record that comes a little later lies anywhere: it is under way meanwhile. */
static inline void perf_order_fetch_ahead(const struct perf_order *order)
{
    enum { AHEAD = 8, LINE_BYTES = 64 };
    if (order->next + AHEAD >= order->n_ready)
        return;
    const uintptr_t bytes =
        (uintptr_t)order->file->records.bytes + order->places.items[order->next + AHEAD].at;
    __builtin_prefetch((const void *)bytes);
    __builtin_prefetch((const void *)(bytes + LINE_BYTES)); /* beyond the end it does nothing */
}

/* The next record and its time (0: it has none); *is_end after the last one. WEFT_E_NOMEM.
 * Amortised O(log CPUs). */
WEFT_CHECKED static inline enum weft_code perf_order_next(struct perf_order *order,
                                                          struct perf_record *record,
                                                          uint64_t *time_ns, bool *is_end,
                                                          struct weft_err *err)
{
    if (order->next == order->n_ready) {
        const enum weft_code code = perf_order_fill(order, err);
        if (code != WEFT_OK)
            return code;
    }
    *is_end = order->next == order->n_ready;
    if (*is_end)
        return WEFT_OK;
    perf_order_fetch_ahead(order);
    uint64_t at = order->places.items[order->next].at;
    *time_ns = order->places.items[order->next++].time_ns;
    (void)perf_record_next(&order->file->records, &at, record);
    return WEFT_OK;
}

#endif
