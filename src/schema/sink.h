/* SPDX-License-Identifier: MIT
 *
 * The sink: what an importer or a recorder talks to. An importer knows bytes and this interface; it
 * never sees the store.
 *
 * Order of calls
 *   1. begin, once.
 *   2. clock, function, thread, object, library, process, note: from one thread at a time, at any
 * moment until end. Functions may also become known after calls that use their key.
 *   3. calls, events, thread_end: for *different* threads from different workers at once, if begin
 *      declared is_parallel; for one thread always from one worker at a time and in time order.
 *      note may then also be called concurrently (the sink locks).
 *   4. end, once, by whoever owns the sink (the importer does not call it).
 *
 * The sink balances calls: an exit without an entry, a missing exit and calls open at the edges
 * are mended and counted there, once for every format (docs/ingest/balance.md):
 *   - exit that matches the top of the stack: closes it;
 *   - exit that matches a deeper frame: the frames above are closed at its time,
 * WEFT_CALL_REPAIRED;
 *   - exit with an empty stack: the call was open before the trace; it becomes a caller of all that
 *     this thread did so far, begins at time 0, WEFT_CALL_CUT_START;
 *   - any other exit: ignored;
 *   - a time before the thread's last one: raised to it;
 *   - thread_end: what is open ends at the thread's last event, WEFT_CALL_CUT_END.
 *
 * A trace that is delivered again says more than a source could: WEFT_CALL_MARKED_EXIT is an exit
 * that gives its call the flags it had. With CUT_END it stands for no exit, but for the end of the
 * recording; so calls that were open both before and after it are known.
 */
#ifndef WEFT_SCHEMA_SINK_H
#define WEFT_SCHEMA_SINK_H

#include "base/error.h"
#include "base/str.h"
#include "schema/event.h"
#include "schema/ledger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_sink_begin {
    struct weft_str format;  /* "xray-fdr" */
    struct weft_str details; /* "version 5, 1779 buffers"; may be empty */
    bool is_parallel;        /* threads are delivered from several workers */
    bool has_some_calls;     /* some system calls are recorded, and others are not */
};

struct weft_sink;

struct weft_sink_ops {
    enum weft_code (*begin)(struct weft_sink *, const struct weft_sink_begin *, struct weft_err *);
    enum weft_code (*clock)(struct weft_sink *, const struct weft_clock *, struct weft_err *);
    /* A function key may be announced once; a second announcement must be identical. */
    enum weft_code (*function)(struct weft_sink *, const struct weft_function_info *,
                               struct weft_err *);
    /* Gives the dense thread id: 0, 1, 2 ... in order of announcement, which is the order of
     * threads in every result. */
    enum weft_code (*thread)(struct weft_sink *, const struct weft_thread_info *,
                             uint32_t *thread_id, struct weft_err *);
    enum weft_code (*calls)(struct weft_sink *, uint32_t thread_id,
                            const struct weft_call_event *events, size_t n_events,
                            struct weft_err *);
    /* Events of one thread, in any order of time; they are kept in the order given. CALL_ARGS
     * belongs to the latest ENTER delivered for the thread. A kind that the sink does not keep is
     * counted and noted. */
    enum weft_code (*events)(struct weft_sink *, uint32_t thread_id,
                             const struct weft_event *events, size_t n_events, struct weft_err *);
    /* `last_ns`: the thread's last event of any kind; frees what the sink held open for it. */
    enum weft_code (*thread_end)(struct weft_sink *, uint32_t thread_id, uint64_t last_ns,
                                 struct weft_err *);
    enum weft_code (*note)(struct weft_sink *, const struct weft_note *, struct weft_err *);
    /* NULL: names of objects are not kept. */
    enum weft_code (*object)(struct weft_sink *, const struct weft_object_info *,
                             struct weft_err *);
    /* In any order; NULL: the libraries of functions in stacks are not kept. */
    enum weft_code (*library)(struct weft_sink *, const struct weft_library_function *,
                              struct weft_err *);
    /* A process of the recorded program; NULL: the ledger is not kept. */
    enum weft_code (*process)(struct weft_sink *, const struct weft_ledger_process *,
                              struct weft_err *);
};

/* Embedded as the first member of an implementation. */
struct weft_sink {
    const struct weft_sink_ops *ops;
};

static inline enum weft_code
weft_sink_object(struct weft_sink *sink, const struct weft_object_info *info, struct weft_err *err)
{
    return sink->ops->object ? sink->ops->object(sink, info, err) : WEFT_OK;
}

static inline enum weft_code weft_sink_library(struct weft_sink *sink,
                                               const struct weft_library_function *function,
                                               struct weft_err *err)
{
    return sink->ops->library ? sink->ops->library(sink, function, err) : WEFT_OK;
}

static inline enum weft_code weft_sink_process(struct weft_sink *sink,
                                               const struct weft_ledger_process *process,
                                               struct weft_err *err)
{
    return sink->ops->process ? sink->ops->process(sink, process, err) : WEFT_OK;
}

#endif
