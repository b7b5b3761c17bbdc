/* SPDX-License-Identifier: MIT
 *
 * Turns the pieces of one thread into events for the sink, in batches.
 *
 * An output belongs to one worker at a time. Calls and other events of a thread reach the sink in
 * the order of the records. Without a sink the events are counted and forgotten.
 */
#ifndef WEFT_INGEST_XRAY_DECODE_H
#define WEFT_INGEST_XRAY_DECODE_H

#include "base/map.h"
#include "ingest/xray/log.h"
#include "schema/sink.h"

enum {
    WEFT_XRAY_BATCH_CALLS = 4096,
    WEFT_XRAY_BATCH_EVENTS = 64,
    /* Function ids below this are marked in a byte array, larger ones in a map. */
    WEFT_XRAY_DENSE_KEYS = 1 << 18,
};

/* The functions that a worker has met. */
struct weft_xray_seen {
    uint8_t *dense; /* WEFT_XRAY_DENSE_KEYS bytes */
    struct weft_map *sparse;
};

struct weft_xray_out {
    struct weft_sink *sink; /* NULL: count only */
    uint32_t thread_id;
    struct weft_call_event *calls; /* WEFT_XRAY_BATCH_CALLS */
    size_t n_calls;
    struct weft_event *events; /* WEFT_XRAY_BATCH_EVENTS */
    size_t n_events;
    struct weft_xray_seen seen;
    struct weft_xray_losses losses; /* of the current thread */
    uint64_t last_ns;               /* of the current thread */
    uint64_t n_entries_exits;       /* of the current thread */
    int32_t cpu;                    /* last one reported, -1 none */
    bool takes_argument;            /* the last call event was an entry (or its argument) */
};

WEFT_CHECKED enum weft_code weft_xray_out_init(struct weft_xray_out *out, struct weft_err *err);
void weft_xray_out_fini(struct weft_xray_out *out);

/* Begins a thread: forgets what belonged to the last one, except the functions seen. */
void weft_xray_out_begin(struct weft_xray_out *out, struct weft_sink *sink, uint32_t thread_id);

/* Hands over what is batched. */
WEFT_CHECKED enum weft_code weft_xray_out_flush(struct weft_xray_out *out, struct weft_err *err);

/* Makes room for at least one call event, and keeps the order against other events. */
WEFT_CHECKED static inline enum weft_code weft_xray_out_room(struct weft_xray_out *out,
                                                             struct weft_err *err)
{
    if (out->n_calls == WEFT_XRAY_BATCH_CALLS || out->n_events != 0)
        return weft_xray_out_flush(out, err);
    return WEFT_OK;
}

/* Counts in `n_new` > 0 calls that the caller has put behind the others. */
static inline void weft_xray_out_calls(struct weft_xray_out *out, size_t n_new)
{
    out->n_calls += n_new;
    out->n_entries_exits += n_new;
    const struct weft_call_event *last = &out->calls[out->n_calls - 1];
    out->takes_argument = last->kind == WEFT_CALL_ENTER;
    if (last->time_ns > out->last_ns)
        out->last_ns = last->time_ns;
}

/* Remembers that function `key` occurs. */
WEFT_CHECKED enum weft_code weft_xray_see(struct weft_xray_out *out, uint32_t key,
                                          struct weft_err *err);

/* Appends one event that is not a call; `event` may hold views into the log. */
WEFT_CHECKED enum weft_code weft_xray_out_event(struct weft_xray_out *out,
                                                const struct weft_event *event,
                                                struct weft_err *err);

/* The argument of the call before it; only while takes_argument. */
WEFT_CHECKED enum weft_code weft_xray_out_argument(struct weft_xray_out *out, uint64_t value,
                                                   struct weft_err *err);

/* The thread runs on `cpu` from `time_ns` on; reported when it changes. */
WEFT_CHECKED enum weft_code weft_xray_out_cpu(struct weft_xray_out *out, int32_t cpu,
                                              uint64_t time_ns, struct weft_err *err);

/* Nanoseconds of a time stamp; false when it is too far from zero to be true. Before zero: 0. */
static inline bool weft_xray_time(const struct weft_xray_log *log, uint64_t tsc, uint64_t *ticks)
{
    *ticks = tsc > log->zero_tsc ? tsc - log->zero_tsc : 0;
    return *ticks <= log->limit_ticks;
}

/* Decode a piece. Damage is tallied in out->losses; only the sink's failures end it. */
WEFT_CHECKED enum weft_code weft_xray_decode_fdr(const struct weft_xray_log *log,
                                                 const struct weft_xray_piece *piece,
                                                 struct weft_xray_out *out, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_xray_decode_basic(const struct weft_xray_log *log,
                                                   const struct weft_xray_piece *piece,
                                                   struct weft_xray_out *out, struct weft_err *err);

#endif
