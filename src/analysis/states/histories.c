/* SPDX-License-Identifier: MIT
 *
 * Opens a history for a worker when it first asks, with its share of the memory, so that idle
 * workers cost nothing. Names are copied to the table's arena, as a history dies before the table.
 */
#include "analysis/states/histories.h"

#include "model/calls/scan.h"
#include "model/events.h"
#include "model/graph/trace.h"

#include <stdlib.h>

enum { MOST_BYTES = 16 << 20, SHARE = 4 };

enum weft_code weft_histories_init(struct weft_histories *histories, const struct weft_trace *trace,
                                   const struct weft_thread_filter *filter, uint64_t from_ns,
                                   uint64_t to_ns, const struct weft_run *run, struct weft_err *err)
{
    const uint32_t *ids = filter ? filter->ids : NULL;
    const size_t n_ids = filter ? filter->n_ids : 0;
    const unsigned n = weft_pool_workers(run->pool);
    uint64_t mem_bytes = run->memory_bytes / SHARE / n;
    enum weft_code code = weft_scan_check(trace, ids, n_ids, err);
    if (code == WEFT_OK && from_ns > to_ns)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    if (code != WEFT_OK)
        return code;
    if (mem_bytes == 0 || mem_bytes > MOST_BYTES)
        mem_bytes = MOST_BYTES;
    *histories = (struct weft_histories){ .trace = trace,
                                          .items = calloc(n, sizeof *histories->items),
                                          .n = n,
                                          .mem_bytes = mem_bytes,
                                          .n_items = weft_scan_n_threads(trace, ids, n_ids) };
    if (!histories->items)
        return weft_no_memory(err, "states of threads");
    weft_events_keep(trace, run->memory_bytes); /* threads share chunks */
    return WEFT_OK;
}

void weft_histories_fini(struct weft_histories *histories)
{
    if (histories->items)
        weft_events_drop(histories->trace);
    for (unsigned i = 0; histories->items && i < histories->n; i++)
        weft_history_close(histories->items[i]);
    free(histories->items);
    histories->items = NULL;
}

enum weft_code weft_histories_get(struct weft_histories *histories, unsigned worker,
                                  struct weft_history **history, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (!histories->items[worker])
        code = weft_history_open(histories->trace, histories->mem_bytes, &histories->items[worker],
                                 err);
    *history = histories->items[worker];
    return code;
}

bool weft_histories_are_known(const struct weft_trace *trace)
{
    return weft_store_has_arrivals(weft_trace_store(trace)) && weft_trace_has_switches(trace);
}

bool weft_name_copy(struct weft_arena *arena, struct weft_str text, struct weft_str *last)
{
    if (text.n_bytes == 0)
        *last = WEFT_STR("");
    else if (!weft_str_equal(*last, text))
        *last = weft_arena_copy(arena, text);
    return text.n_bytes == 0 || last->bytes != NULL;
}
