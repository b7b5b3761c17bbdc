/* SPDX-License-Identifier: MIT
 *
 * Batches between the decoders and the sink.
 */
#include "base/checked.h"
#include "ingest/xray/decode.h"

#include <stdlib.h>
#include <string.h>

enum weft_code weft_xray_out_init(struct weft_xray_out *out, struct weft_err *err)
{
    memset(out, 0, sizeof *out);
    out->calls = calloc(WEFT_XRAY_BATCH_CALLS, sizeof *out->calls);
    out->events = calloc(WEFT_XRAY_BATCH_EVENTS, sizeof *out->events);
    out->seen.dense = calloc(WEFT_XRAY_DENSE_KEYS, 1);
    out->seen.sparse = weft_map_new();
    if (out->calls && out->events && out->seen.dense && out->seen.sparse)
        return WEFT_OK;
    weft_xray_out_fini(out);
    return weft_no_memory(err, "buffers of one worker");
}

void weft_xray_out_fini(struct weft_xray_out *out)
{
    free(out->calls);
    free(out->events);
    free(out->seen.dense);
    weft_map_free(out->seen.sparse);
    memset(out, 0, sizeof *out);
}

void weft_xray_out_begin(struct weft_xray_out *out, struct weft_sink *sink, uint32_t thread_id)
{
    out->sink = sink;
    out->thread_id = thread_id;
    out->n_calls = 0;
    out->n_events = 0;
    out->losses = (struct weft_xray_losses){ 0 };
    out->last_ns = 0;
    out->n_entries_exits = 0;
    out->cpu = -1;
    out->takes_argument = false;
}

enum weft_code weft_xray_see(struct weft_xray_out *out, uint32_t key, struct weft_err *err)
{
    if (key < WEFT_XRAY_DENSE_KEYS)
        out->seen.dense[key] = 1;
    else if (weft_map_add(out->seen.sparse, key, NULL) == WEFT_MAP_NONE)
        return weft_no_memory(err, "a set of function ids");
    return WEFT_OK;
}

static enum weft_code hand_over(struct weft_xray_out *out, struct weft_err *err)
{
    struct weft_sink *sink = out->sink;
    if (out->n_calls) {
        WEFT_TRY(sink->ops->calls(sink, out->thread_id, out->calls, out->n_calls, err));
    }
    if (out->n_events)
        return sink->ops->events(sink, out->thread_id, out->events, out->n_events, err);
    return WEFT_OK;
}

enum weft_code weft_xray_out_flush(struct weft_xray_out *out, struct weft_err *err)
{
    enum weft_code code = out->sink ? hand_over(out, err) : WEFT_OK;
    out->n_calls = 0;
    out->n_events = 0;
    return code;
}

enum weft_code weft_xray_out_event(struct weft_xray_out *out, const struct weft_event *event,
                                   struct weft_err *err)
{
    if (out->n_calls != 0 || out->n_events == WEFT_XRAY_BATCH_EVENTS) {
        WEFT_TRY(weft_xray_out_flush(out, err));
    }
    out->last_ns = weft_max_u64(out->last_ns, event->time_ns);
    out->events[out->n_events++] = *event;
    return WEFT_OK;
}

enum weft_code weft_xray_out_argument(struct weft_xray_out *out, uint64_t value,
                                      struct weft_err *err)
{
    enum weft_code code = weft_xray_out_room(out, err);
    if (code == WEFT_OK)
        out->calls[out->n_calls++] =
            (struct weft_call_event){ .value = value, .kind = WEFT_CALL_ARG };
    return code;
}

enum weft_code weft_xray_out_cpu(struct weft_xray_out *out, int32_t cpu, uint64_t time_ns,
                                 struct weft_err *err)
{
    if (cpu == out->cpu)
        return WEFT_OK;
    out->cpu = cpu;
    const struct weft_event event = {
        .kind = WEFT_EVENT_COUNTER,
        .time_ns = time_ns,
        .value = weft_counter_value(cpu),
        .cpu = cpu,
        .next_thread_id = WEFT_ID_NONE,
        .object_id = WEFT_ID_NONE,
        .stack_id = WEFT_ID_NONE,
        .name = WEFT_STR("cpu"),
        .category = WEFT_STR("xray"),
    };
    return weft_xray_out_event(out, &event, err);
}
