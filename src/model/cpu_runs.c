/* SPDX-License-Identifier: MIT */
#include "model/history.h"
#include "model/states.h"

#include <stdlib.h>

struct weft_cpu_runs {
    const struct weft_trace *trace;
    struct weft_store *store;
    struct weft_event_buf *buf; /* of the history */
    uint32_t row;
    uint64_t from_ns, to_ns;
    uint64_t block, n_blocks;
    size_t at;               /* in the block */
    struct weft_cpu_run run; /* in work: thread_id since start_ns */
    struct weft_cpu_run done;
    bool has_run, is_over;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "runs on a processor");
}

/* The processor's row of arrivals; WEFT_ID_NONE if nothing ran on it. */
static uint32_t row_find(const struct weft_store *store, uint32_t host_id, int32_t cpu)
{
    uint32_t low = 0;
    uint32_t high = weft_store_n_processors(store);
    while (low < high) {
        const uint32_t mid = low + (high - low) / 2;
        const struct weft_store_processor processor = weft_store_processor_get(store, mid);
        if (processor.host_id < host_id || (processor.host_id == host_id && processor.cpu < cpu))
            low = mid + 1;
        else
            high = mid;
    }
    if (low == weft_store_n_processors(store))
        return WEFT_ID_NONE;
    const struct weft_store_processor processor = weft_store_processor_get(store, low);
    return processor.host_id == host_id && processor.cpu == cpu ? processor.row : WEFT_ID_NONE;
}

/* The last block that begins at or before `t_ns`, or 0. */
static uint64_t block_find(const struct weft_cpu_runs *runs, uint64_t t_ns)
{
    uint64_t low = 0;
    uint64_t high = runs->n_blocks;
    while (low < high) {
        const uint64_t mid = low + (high - low) / 2;
        if (weft_store_arrival_block_get(runs->store, runs->row, mid)->first_ns <= t_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 ? low - 1 : 0;
}

/* The last switch at or before the begin. */
static enum weft_code first_find(struct weft_cpu_runs *runs, struct weft_err *err)
{
    const struct weft_event *events;
    size_t low = 0;
    size_t high = 0;
    enum weft_code code = WEFT_OK;
    if (runs->block < runs->n_blocks)
        code = weft_store_load_arrivals(runs->store, runs->row, runs->block, runs->buf, &events,
                                        &high, err);
    while (code == WEFT_OK && low < high) {
        const size_t mid = low + (high - low) / 2;
        if (events[mid].time_ns <= runs->from_ns)
            low = mid + 1;
        else
            high = mid;
    }
    runs->at = low > 0 ? low - 1 : 0;
    return code;
}

enum weft_code weft_cpu_runs_open(struct weft_history *history, uint32_t host_id, int32_t cpu,
                                  uint64_t from_ns, uint64_t to_ns, struct weft_cpu_runs **runs_out,
                                  struct weft_err *err)
{
    struct weft_cpu_runs *runs = calloc(1, sizeof *runs);
    *runs_out = runs;
    if (!runs)
        return no_memory(err);
    runs->trace = weft_history_trace(history);
    runs->store = weft_trace_store(runs->trace);
    runs->from_ns = from_ns;
    runs->to_ns = to_ns;
    runs->row = row_find(runs->store, host_id, cpu);
    runs->buf = weft_history_cpu_buf(history, cpu);
    if (runs->row != WEFT_ID_NONE)
        runs->n_blocks = weft_store_n_arrival_blocks(runs->store, runs->row);
    runs->block = block_find(runs, from_ns);
    const enum weft_code code = runs->buf ? first_find(runs, err) : no_memory(err);
    if (code != WEFT_OK) {
        weft_cpu_runs_close(runs);
        *runs_out = NULL;
    }
    return code;
}

void weft_cpu_runs_close(struct weft_cpu_runs *runs)
{
    free(runs);
}

static void run_begin(struct weft_cpu_runs *runs, const struct weft_event *event)
{
    const uint32_t thread_id = event->next_thread_id;
    runs->run = (struct weft_cpu_run){
        .start_ns = event->time_ns,
        .thread_id = thread_id,
        .left_id = WEFT_ID_NONE,
        .is_idle =
            thread_id != WEFT_ID_NONE && weft_trace_thread(runs->trace, thread_id)->info.tid == 0,
    };
    runs->has_run = true;
}

/* The next switch; at the end of the row an event at the trace's end, once. The buffer may have
 * been used by others in between. */
static enum weft_code switch_next(struct weft_cpu_runs *runs, struct weft_event *event,
                                  bool *is_last, struct weft_err *err)
{
    *is_last = false;
    for (; runs->block < runs->n_blocks; runs->block++, runs->at = 0) {
        const struct weft_event *events;
        size_t n;
        const enum weft_code code = weft_store_load_arrivals(runs->store, runs->row, runs->block,
                                                             runs->buf, &events, &n, err);
        if (code != WEFT_OK)
            return code;
        if (runs->at < n) {
            *event = events[runs->at++];
            return WEFT_OK;
        }
    }
    *is_last = true;
    *event = (struct weft_event){ .time_ns = weft_trace_meta(runs->trace)->duration_ns,
                                  .next_thread_id = WEFT_ID_NONE };
    return WEFT_OK;
}

enum weft_code weft_cpu_runs_next(struct weft_cpu_runs *runs, const struct weft_cpu_run **run,
                                  struct weft_err *err)
{
    *run = NULL;
    while (!runs->is_over) {
        struct weft_event event;
        bool is_last;
        const enum weft_code code = switch_next(runs, &event, &is_last, err);
        if (code != WEFT_OK)
            return code;
        const bool has_run = runs->has_run;
        runs->done = runs->run;
        runs->done.end_ns = event.time_ns;
        if (event.prev_state == 1) /* not from the thread of the switch before */
            runs->done.left_id = event.object_id;
        runs->is_over = is_last || event.time_ns >= runs->to_ns;
        run_begin(runs, &event);
        if (!has_run || runs->done.end_ns <= runs->done.start_ns ||
            runs->done.end_ns <= runs->from_ns)
            continue;
        if (runs->done.start_ns < runs->to_ns)
            *run = &runs->done;
        return WEFT_OK;
    }
    return WEFT_OK;
}
