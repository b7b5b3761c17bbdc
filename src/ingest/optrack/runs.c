/* SPDX-License-Identifier: MIT
 *
 * Finds the runs with a stack of candidates, O(records): a stretch that overlaps an earlier one in
 * time is joined with it. It also finds the calls that are open at the edges of a run, so that an
 * entry overwritten by a newer session becomes a cut call instead of an error.
 */
#include "ingest/optrack/runs.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "base/vec.h"

#include <stdbool.h>

static struct weft_op_run joined(struct weft_op_run a, struct weft_op_run b)
{
    return (struct weft_op_run){ .begin = a.begin,
                                 .end = b.end,
                                 .min_ticks = weft_min_u64(a.min_ticks, b.min_ticks),
                                 .max_ticks = weft_max_u64(a.max_ticks, b.max_ticks) };
}

/* Puts a stretch behind the runs so far, which descend in time; false without memory. */
static bool push(struct weft_op_runs *runs, struct weft_op_run run)
{
    while (runs->n && run.max_ticks >= runs->items[runs->n - 1].min_ticks)
        run = joined(runs->items[--runs->n], run);
    if (runs->n == WEFT_OP_MOST_RUNS)
        while (runs->n)
            run = joined(runs->items[--runs->n], run);
    struct weft_op_run *slot = WEFT_VEC_PUSH(runs);
    if (slot)
        *slot = run;
    return slot != NULL;
}

static void reverse(struct weft_op_runs *runs)
{
    for (size_t k = 0; k < runs->n / 2; k++) {
        struct weft_op_run swapped = runs->items[k];
        runs->items[k] = runs->items[runs->n - 1 - k];
        runs->items[runs->n - 1 - k] = swapped;
    }
}

/* The end of the records from `begin` on whose times do not step back. */
static size_t end_of_stretch(const uint8_t *records, size_t n_records, size_t begin)
{
    uint64_t last = weft_load_u64(records + begin * WEFT_OP_RECORD_BYTES);
    size_t k = begin + 1;
    for (; k < n_records; k++) {
        uint64_t ticks = weft_load_u64(records + k * WEFT_OP_RECORD_BYTES);
        if (ticks < last)
            break;
        last = ticks;
    }
    return k;
}

enum weft_code weft_op_runs_find(const uint8_t *records, size_t n_records,
                                 struct weft_op_runs *runs, struct weft_err *err)
{
    for (size_t begin = 0; begin < n_records;) {
        size_t end = end_of_stretch(records, n_records, begin);
        const struct weft_op_run stretch = {
            .begin = begin,
            .end = end,
            .min_ticks = weft_load_u64(records + begin * WEFT_OP_RECORD_BYTES),
            .max_ticks = weft_load_u64(records + (end - 1) * WEFT_OP_RECORD_BYTES),
        };
        if (!push(runs, stretch))
            return weft_no_memory(err, "runs of records");
        begin = end;
    }
    for (size_t k = 1; k < runs->n; k++)
        runs->n_lost += runs->items[k].begin;
    reverse(runs);
    return WEFT_OK;
}

void weft_op_runs_fini(struct weft_op_runs *runs)
{
    WEFT_VEC_FINI(runs);
}

/* ---- edges ------------------------------------------------------------------------------------
 */

static bool leave(struct weft_op_edges *edges, uint16_t id)
{
    size_t at = edges->open.n;
    while (at && edges->open.items[at - 1] != id)
        at--;
    if (at) {
        edges->open.n = at - 1;
        return true;
    }
    if (edges->open.n)
        return true; /* the sink ignores it */
    uint16_t *slot = WEFT_VEC_PUSH(&edges->before);
    if (slot)
        *slot = id;
    return slot != NULL;
}

static bool enter(struct weft_op_edges *edges, uint16_t id)
{
    uint16_t *slot = WEFT_VEC_PUSH(&edges->open);
    if (slot)
        *slot = id;
    return slot != NULL;
}

enum weft_code weft_op_edges_find(const uint8_t *records, const struct weft_op_run *run,
                                  struct weft_op_edges *edges, struct weft_err *err)
{
    edges->before.n = edges->open.n = 0;
    for (size_t k = run->begin; k < run->end; k++) {
        const uint8_t *record = records + k * WEFT_OP_RECORD_BYTES;
        uint16_t id = weft_load_u16(record + 8);
        uint16_t kind = weft_load_u16(record + 10);
        if (kind > 1)
            continue;
        if (!(kind ? leave(edges, id) : enter(edges, id)))
            return weft_no_memory(err, "open operations");
    }
    return WEFT_OK;
}

void weft_op_edges_fini(struct weft_op_edges *edges)
{
    WEFT_VEC_FINI(&edges->before);
    WEFT_VEC_FINI(&edges->open);
}
