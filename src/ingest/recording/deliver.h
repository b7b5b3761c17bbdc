/* SPDX-License-Identifier: MIT
 *
 * What a thread of rings is delivered with.
 */
#ifndef WEFT_INGEST_RECORDING_DELIVER_H
#define WEFT_INGEST_RECORDING_DELIVER_H

#include "base/json_text.h"
#include "ingest/recording/convert.h"

enum { REC_BATCH = 1024, REC_EVENT_BATCH = 64, REC_CACHE_BITS = 10 };

/* A lock that a thread has, or waits for. */
struct rec_held {
    uint64_t object;
    unsigned kind; /* enum weft_ring_lock */
};

/* One stream of the thread. */
struct rec_source {
    struct rec_cursor cursor;
    const struct rec_stream *stream;
    uint64_t ticks; /* of its next record */
    bool has_next;
    size_t clock_at;
    uint32_t image;
    uint64_t image_end_ns; /* since zero */
    uint64_t n_missed;     /* units that the cursor had missed when it was last looked at */
    bool is_lossy;         /* records are missing somewhere in its stream */
    bool has_lost;         /* records are missing before the record in work */
    struct {
        uint32_t *items; /* keys of its open calls, if its stream is lossy */
        size_t n, cap;
    } open;
    size_t n_doubtful; /* of them, outermost first: records went missing since they were entered */
    struct {
        struct rec_held *items; /* locks it has, likewise; the latest last */
        size_t n, cap;
    } held;
    struct rec_held asked; /* the lock that it waits for */
    bool is_asking;
};

/* An execution that has begun on the thread. */
struct rec_mark {
    uint64_t id, start_ns;
    uint32_t type; /* in mark_types of the thread */
    struct weft_json_text payload;
};

/* What is recorded of the operation's call that was entered last (result.c). */
struct rec_result {
    struct weft_json_text text; /* without its end */
    uint64_t start_ns, end_ns;
    uint32_t key; /* of the function that the call is of */
    bool is_open;
};

struct rec_delivery {
    struct rec_convert *convert;
    struct rec_thread *thread;
    struct weft_err *err;
    uint32_t thread_id, pid;
    struct rec_source *source; /* in work */
    struct weft_call_event calls[REC_BATCH];
    size_t n_calls;
    struct weft_event events[REC_EVENT_BATCH];
    size_t n_events;
    struct {
        uint64_t address;
        uint32_t image, key;
    } cache[1 << REC_CACHE_BITS];
    struct {
        struct rec_mark *items;
        size_t n, cap;
    } marks;
    struct weft_strtab *types;
    struct rec_lost lost;
    uint64_t n_strays;                   /* exits whose entries are missing */
    bool is_in_semaphore;                /* asked for, not got yet */
    uint32_t semaphore_key;              /* of the function that asked */
    uint32_t wait_keys[WEFT_WAIT_KINDS]; /* of the latest wait of each kind */
    struct rec_result result;
    uint64_t epoll_fd;    /* of the latest wait for a set of epoll */
    uint64_t io_start_ns; /* of the latest input or output */
};

WEFT_CHECKED enum weft_code rec_flush_calls(struct rec_delivery *delivery);
WEFT_CHECKED enum weft_code rec_flush_events(struct rec_delivery *delivery);

static inline enum weft_code rec_hand_call(struct rec_delivery *delivery,
                                           struct weft_call_event call)
{
    delivery->calls[delivery->n_calls++] = call;
    return delivery->n_calls < REC_BATCH ? WEFT_OK : rec_flush_calls(delivery);
}

/* open_calls.c: an entry or exit of a stream in which records are missing. An exit behind them that
 * may be of a later call than the one that is open is marked as repaired; one whose entry is
 * missing is omitted, for it would be taken for that of a call from before the trace. */
WEFT_CHECKED enum weft_code rec_put_doubtful(struct rec_delivery *delivery,
                                             struct weft_call_event call);
/* Records are missing before the record in work, which happened at `time_ns`. */
WEFT_CHECKED enum weft_code rec_records_missing(struct rec_delivery *delivery, uint64_t time_ns);

/* result.c: the call of the function `key`, entered just now, came from the function at `caller`.
 */
void rec_result_begin(struct rec_delivery *delivery, uint32_t key, uint64_t time_ns,
                      uint64_t caller);
/* It asked for so many bytes. */
void rec_result_asked(struct rec_delivery *delivery, uint64_t n_bytes);
/* It ends: by an error number or 0, a result (an error with a minus), what it found. What is not of
 * the call that was begun last is omitted. */
WEFT_CHECKED enum weft_code rec_result_error(struct rec_delivery *delivery, uint32_t key,
                                             uint32_t error);
WEFT_CHECKED enum weft_code rec_result_value(struct rec_delivery *delivery, uint32_t key,
                                             int64_t result);
WEFT_CHECKED enum weft_code rec_result_objects(struct rec_delivery *delivery, uint32_t key,
                                               const char *name, const uint64_t *objects,
                                               size_t n_objects);
/* What is known is delivered. */
WEFT_CHECKED enum weft_code rec_result_end(struct rec_delivery *delivery);

static inline enum weft_code rec_put_call(struct rec_delivery *delivery, uint8_t kind,
                                          uint64_t time_or_value, uint32_t key)
{
    const struct weft_call_event call = { .time_ns = time_or_value,
                                          .function_key = key,
                                          .kind = kind };
    if (delivery->result.is_open && kind == WEFT_CALL_ENTER) {
        const enum weft_code code = rec_result_end(delivery);
        if (code != WEFT_OK)
            return code;
    }
    if (kind == WEFT_CALL_EXIT)
        delivery->result.end_ns = time_or_value;
    return delivery->source->is_lossy && kind != WEFT_CALL_ARG ? rec_put_doubtful(delivery, call)
                                                               : rec_hand_call(delivery, call);
}

/* Views in the event need to live until it is flushed: those of the record in work do. */
static inline enum weft_code rec_put_event(struct rec_delivery *delivery,
                                           const struct weft_event *event)
{
    delivery->events[delivery->n_events++] = *event;
    return delivery->n_events < REC_EVENT_BATCH ? WEFT_OK : rec_flush_events(delivery);
}

/* ops.c: what an operation becomes. */
WEFT_CHECKED enum weft_code rec_deliver_op(struct rec_delivery *delivery,
                                           const struct rec_record *record, uint64_t time_ns);
/* Locks of a thread that missed records are given back where it writes again: it may have done so,
 * and taken them again. */
WEFT_CHECKED enum weft_code rec_locks_leave(struct rec_delivery *delivery, uint64_t time_ns);
/* Key of the function at an address of the source in work. */
uint32_t rec_function_key(struct rec_delivery *delivery, uint64_t address);

/* marks.c: executions. */
WEFT_CHECKED enum weft_code rec_mark_begin(struct rec_delivery *delivery, uint64_t id,
                                           struct weft_str type, uint64_t time_ns);
WEFT_CHECKED enum weft_code rec_mark_end(struct rec_delivery *delivery, uint64_t id,
                                         struct weft_str type, uint64_t time_ns);
/* A metric of the execution; of one that the thread does not have it is a counter. */
WEFT_CHECKED enum weft_code rec_mark_metric(struct rec_delivery *delivery,
                                            const struct rec_record *record, uint64_t time_ns);
/* What is still open is put by, for another thread may have ended it. */
WEFT_CHECKED enum weft_code rec_marks_leave(struct rec_delivery *delivery);

/* A thread whose end was not recorded lasts as long as its process and the recording: what is open
 * then lasts until then, though the thread has no event there. Times are since zero. */
uint64_t rec_life_end(const struct rec_convert *convert, const struct kernel_thread *known,
                      uint32_t pid, uint64_t last_ns);

static inline struct weft_event rec_event_of(enum weft_event_kind kind, uint64_t time_ns)
{
    return (struct weft_event){ .time_ns = time_ns,
                                .kind = kind,
                                .cpu = -1,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
}

#endif
