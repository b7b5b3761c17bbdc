/* SPDX-License-Identifier: MIT
 *
 * Turns the records of one task into what the sink takes.
 */
#ifndef WEFT_INGEST_UFTRACE_TASK_OUT_H
#define WEFT_INGEST_UFTRACE_TASK_OUT_H

#include "ingest/uftrace/perf.h"
#include "ingest/uftrace/walk.h"
#include "schema/sink.h"

enum { WEFT_UFT_BATCH_CALLS = 4096, WEFT_UFT_MOST_DEPTH = 1024, WEFT_UFT_TEXT_BYTES = 1024 };

/* One a worker. */
struct weft_uft_out {
    struct weft_sink *sink;
    uint32_t thread_id;
    uint64_t zero_ns;
    struct weft_call_event *calls; /* WEFT_UFT_BATCH_CALLS */
    size_t n_calls;
    uint64_t last_ns;
    /* Functions that are open, by depth: [base, top). Below base nothing is known. */
    bool uses_depth;
    uint32_t base, top;
    uint32_t *keys; /* WEFT_UFT_MOST_DEPTH */
    uint64_t n_missing, n_ignored;
    char *text; /* WEFT_UFT_TEXT_BYTES */
};

/* Names of events that the program defined: events.txt. */
struct weft_uft_event_names {
    struct {
        struct weft_uft_event_name {
            uint64_t id;
            struct weft_str name;
        } * items;
        size_t n, cap;
    } rows;
};

WEFT_CHECKED enum weft_code weft_uft_out_init(struct weft_uft_out *out, struct weft_err *err);
void weft_uft_out_fini(struct weft_uft_out *out);
void weft_uft_out_begin(struct weft_uft_out *out, struct weft_sink *sink, uint32_t thread_id,
                        uint64_t zero_ns, bool uses_depth);

/* `key`: of the record's function. LOST records are the caller's. */
WEFT_CHECKED enum weft_code weft_uft_out_record(struct weft_uft_out *out,
                                                const struct weft_uft_record *record, uint32_t key,
                                                const struct weft_uft_event_names *names,
                                                struct weft_err *err);
/* Plain records of functions in `locals`. */
WEFT_CHECKED enum weft_code weft_uft_out_plain(struct weft_uft_out *out,
                                               const struct weft_uft_plain *plain, size_t n,
                                               const struct weft_uft_local *locals,
                                               struct weft_err *err);
WEFT_CHECKED enum weft_code weft_uft_out_switches(struct weft_uft_out *out,
                                                  const struct weft_uft_switch *switches, size_t n,
                                                  struct weft_err *err);
WEFT_CHECKED enum weft_code weft_uft_out_flush(struct weft_uft_out *out, struct weft_err *err);

/* Lines "EVENT: id provider:name". NOMEM only. */
WEFT_CHECKED enum weft_code weft_uft_event_names_read(const struct weft_mapped *file,
                                                      struct weft_uft_event_names *names,
                                                      struct weft_err *err);

#endif
