/* SPDX-License-Identifier: MIT
 *
 * Which thread ran on a CPU, run by run, from the switches stored for it. Where the thread that a
 * switch leaves is not the one of the switch before (a lost event), the run is split at the time
 * since which the other thread was seen running. The graph and `weft waits` read these.
 */
#include "base/checked.h"
#include "model/states/history.h"
#include "model/states/states.h"

#include <stdlib.h>

struct weft_cpu_runs {
    const struct weft_trace *trace;
    struct weft_history *history;
    struct weft_store *store;
    struct weft_event_buf *buf; /* of the history */
    uint32_t row;
    int32_t cpu;
    uint64_t from_ns, to_ns;
    uint64_t block, n_blocks;
    size_t at;               /* in the block */
    struct weft_cpu_run run; /* in work: thread_id since start_ns */
    struct weft_cpu_run done;
    struct weft_cpu_run came; /* the second half of a run, of the thread whose arrival was not
                                 recorded; empty if none is left */
    bool has_run, is_over;
};

enum { SWITCH_UNSEEN = 1 }; /* a state: not from the thread of the switch before */

/* The CPU's row of arrivals; WEFT_ID_NONE if nothing ran on it. */
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

static struct weft_cpu_run run_of(const struct weft_cpu_runs *runs, uint32_t thread_id,
                                  uint64_t start_ns, uint64_t end_ns)
{
    const bool is_known = thread_id < weft_trace_n_threads(runs->trace);
    return (struct weft_cpu_run){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .thread_id = is_known ? thread_id : WEFT_ID_NONE,
        .is_idle = is_known && weft_trace_thread(runs->trace, thread_id)->info.tid == 0,
    };
}

enum weft_code weft_cpu_runs_open(struct weft_history *history, uint32_t host_id, int32_t cpu,
                                  uint64_t from_ns, uint64_t to_ns, struct weft_cpu_runs **runs_out,
                                  struct weft_err *err)
{
    struct weft_cpu_runs *runs = calloc(1, sizeof *runs);
    *runs_out = runs;
    if (!runs)
        return weft_no_memory(err, "runs on a CPU");
    runs->history = history;
    runs->trace = weft_history_trace(history);
    runs->store = weft_trace_store(runs->trace);
    runs->cpu = cpu;
    runs->from_ns = from_ns;
    runs->to_ns = to_ns;
    runs->row = row_find(runs->store, host_id, cpu);
    runs->buf = weft_history_cpu_buf(history, cpu);
    if (runs->row != WEFT_ID_NONE)
        runs->n_blocks = weft_store_n_arrival_blocks(runs->store, runs->row);
    runs->block = block_find(runs, from_ns);
    const enum weft_code code =
        runs->buf ? first_find(runs, err) : weft_no_memory(err, "runs on a CPU");
    runs->has_run = runs->n_blocks > 0 && runs->block == 0 && runs->at == 0;
    runs->run = run_of(runs, WEFT_ID_NONE, 0, 0); /* before the first switch of all */
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

/* The next switch; at the end of the row an event at the trace's end, once. The buffer may have
 * been used by others in between. */
static enum weft_code switch_next(struct weft_cpu_runs *runs, struct weft_event *event,
                                  bool *is_last, struct weft_err *err)
{
    *is_last = false;
    for (; runs->block < runs->n_blocks; runs->block++, runs->at = 0) {
        const struct weft_event *events;
        size_t n;
        WEFT_TRY(weft_store_load_arrivals(runs->store, runs->row, runs->block, runs->buf, &events,
                                          &n, err));
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

/* Since when a thread had been seen on the CPU without a break, up to `until_ns`. */
static enum weft_code seen_since(struct weft_cpu_runs *runs, uint32_t thread_id, uint64_t from_ns,
                                 uint64_t until_ns, uint64_t *since_ns, struct weft_err *err)
{
    struct weft_state state;
    enum weft_code code = WEFT_OK;
    *since_ns = until_ns;
    while (code == WEFT_OK && *since_ns > from_ns) {
        code = weft_history_before(runs->history, thread_id, *since_ns, &state, err);
        if (code != WEFT_OK || state.cpu != runs->cpu || !weft_state_is_on_cpu(state.kind))
            break;
        *since_ns = weft_max_u64(state.start_ns, from_ns);
    }
    return code;
}

/* The run in work ends with a switch away from `left_id`, which came unseen meanwhile. */
static enum weft_code run_split(struct weft_cpu_runs *runs, uint32_t left_id, struct weft_err *err)
{
    const uint64_t end_ns = runs->done.end_ns;
    if (left_id >= weft_trace_n_threads(runs->trace) || end_ns <= runs->from_ns)
        return WEFT_OK;
    uint64_t since_ns;
    const enum weft_code code =
        seen_since(runs, left_id, runs->done.start_ns, end_ns, &since_ns, err);
    runs->done.end_ns = since_ns;
    runs->came = run_of(runs, left_id, since_ns, end_ns);
    return code;
}

/* Takes one switch: the run before it is done, and perhaps split. */
static enum weft_code run_take(struct weft_cpu_runs *runs, struct weft_err *err)
{
    struct weft_event event;
    bool is_last;
    enum weft_code code = switch_next(runs, &event, &is_last, err);
    if (code != WEFT_OK)
        return code;
    runs->done = runs->run;
    runs->done.end_ns = runs->has_run ? event.time_ns : 0;
    runs->is_over = is_last || event.time_ns >= runs->to_ns;
    if (event.prev_state == SWITCH_UNSEEN && runs->has_run)
        code = run_split(runs, event.object_id, err);
    runs->run = run_of(runs, event.next_thread_id, event.time_ns, UINT64_MAX);
    runs->has_run = true;
    return code;
}

static bool is_asked(const struct weft_cpu_runs *runs, const struct weft_cpu_run *run)
{
    return run->start_ns < run->end_ns && run->end_ns > runs->from_ns &&
           run->start_ns < runs->to_ns;
}

enum weft_code weft_cpu_runs_next(struct weft_cpu_runs *runs, const struct weft_cpu_run **run,
                                  struct weft_err *err)
{
    *run = NULL;
    for (;;) {
        if (runs->came.end_ns > 0) {
            runs->done = runs->came;
            runs->came.end_ns = 0;
        } else if (runs->is_over) {
            return WEFT_OK;
        } else {
            WEFT_TRY(run_take(runs, err));
        }
        if (is_asked(runs, &runs->done)) {
            *run = &runs->done;
            return WEFT_OK;
        }
    }
}
