/* SPDX-License-Identifier: MIT
 *
 * From events of CTF to events of weft: what the parts of the importer share.
 */
#ifndef WEFT_INGEST_CTF_CONVERT_H
#define WEFT_INGEST_CTF_CONVERT_H

#include "ingest/ctf/known.h"
#include "ingest/ctf/modules.h"
#include "ingest/ctf/payload.h"
#include "ingest/ctf/threads.h"
#include "schema/sink.h"

/* What is known of a trace of the input. */
struct ctf_source {
    struct ctf_known *known; /* by event class of the metadata */
    uint32_t host_id;
    bool is_kernel;
    bool is_user; /* of one process, or of a user's */
    uint64_t pid; /* of all its events; 0: they say it, or nobody knows */
    struct weft_str comm;
};

struct ctf_convert {
    struct ctf_reader *reader;
    struct weft_sink *sink;
    struct ctf_source *sources; /* one a trace */
    struct ctf_threads threads;
    struct ctf_modules modules;
    struct ctf_payload payload;
    struct weft_map *objects; /* (process, address) -> dense id */
    bool is_survey;           /* the first reading: nothing is delivered */
    uint64_t zero_ns;         /* the reader's time that becomes 0 */
    uint64_t n_events;
    struct weft_err *err;
};

/* The event in work. */
struct ctf_now {
    const struct ctf_event *event;
    const struct ctf_known *known;
    const struct ctf_source *source;
    const struct ctf_value *values;
    uint64_t time_ns; /* after zero_ns */
    int32_t cpu;      /* -1 unknown */
    uint32_t thread;  /* in convert->threads, after it was found */
};

static inline bool ctf_has(const struct ctf_now *now, unsigned field)
{
    return now->known->fields[field] != NULL;
}

/* 0 for a field that is not there. */
static inline uint64_t ctf_number(const struct ctf_now *now, unsigned field)
{
    const struct ctf_op *op = now->known->fields[field];
    return op && op->kind <= CTF_OP_VARINT ? now->values[op->slot].number : 0;
}

/* Empty for a field that is not there, or is no text. */
struct weft_str ctf_text(const struct ctf_now *now, const struct ctf_op *op);

/* Finds the thread that the event belongs to: now->thread. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code ctf_find_thread(struct ctf_convert *convert, struct ctf_now *now);

/* Hands an event or a call of `thread` to the sink; nothing in the first reading. */
WEFT_CHECKED enum weft_code ctf_deliver(struct ctf_convert *convert, uint32_t thread,
                                        struct weft_event *event);
WEFT_CHECKED enum weft_code ctf_deliver_call(struct ctf_convert *convert, uint32_t thread,
                                             const struct weft_call_event *call);

/* An event of no thread, object, stack. */
struct weft_event ctf_event_of(const struct ctf_now *now, enum weft_event_kind kind);

WEFT_CHECKED enum weft_code ctf_no_memory(struct ctf_convert *convert);

/* The meanings (kernel.c, user.c). */
WEFT_CHECKED enum weft_code ctf_convert_kernel(struct ctf_convert *convert, struct ctf_now *now);
WEFT_CHECKED enum weft_code ctf_convert_user(struct ctf_convert *convert, struct ctf_now *now);

#endif
