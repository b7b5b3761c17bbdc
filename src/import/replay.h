/* SPDX-License-Identifier: MIT
 *
 * Delivers what a .weft file holds to a sink, as if its source were read again: all of it, or what
 * happened within a window of time; with times moved, and with other thread ids and function keys.
 *
 *                   from            to
 *      main  --[------|--------------|----]--      open at both edges: a cut frame, CUT_END
 *      step    [------|--]           |             open at the left edge: a cut frame
 *      step           |     [--]     |             as it was
 *      step           |          [---|---]         open at the right edge: CUT_END
 *
 * Threads are delivered side by side, one block at a time: memory is O(block + depth) a worker.
 * A trace delivered whole gives the same trace: calls, flags, arguments, events, notes.
 */
#ifndef WEFT_IMPORT_REPLAY_H
#define WEFT_IMPORT_REPLAY_H

#include "base/error.h"
#include "base/pool.h"
#include "import/clock_fit.h"
#include "schema/sink.h"
#include "store/reader.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What of a trace is delivered, and as what. Arrays are the caller's. */
struct weft_replay {
    struct weft_store *store;
    uint64_t from_ns, to_ns; /* from <= time < to; to UINT64_MAX: no end */
    uint32_t first_host_id;  /* added to the ids of hosts, as its threads were announced */
    uint64_t shift_ns;       /* added to times after from_ns was taken off */
    /* By thread of the store: the sink's id, already announced; WEFT_ID_NONE leaves it out.
     * Threads of several traces that have one id become one thread: at most one of them may have
     * calls. */
    const uint32_t *thread_ids;
    const uint32_t *function_keys; /* by function id; NULL: their own */
    /* By thread: the state, as a SWITCH has it, in which it is off its CPU at from_ns, and since
     * before (import/cut.c); 0: it is not, or unknown. NULL: of none. */
    const uint32_t *earlier;
    const bool *is_ending;       /* by thread: its exit is before from_ns; NULL: of none */
    atomic_uchar *is_used;       /* by function id: set to 1 where it occurs; may be NULL */
    struct weft_str note_prefix; /* before the detail of notes on the whole trace; may be empty */
    /* By thread: how its host's clock becomes the sink's, after the shift; NULL: it is that one. */
    const struct weft_clock_fit *const *fits;
    int64_t least_ns; /* what becomes 0 of that */
};

/* A thread of one of the traces. */
struct weft_replay_source {
    const struct weft_replay *replay;
    uint32_t thread_id; /* of its store */
};

/* The sink's time. */
uint64_t weft_replay_time(const struct weft_replay *replay, uint32_t thread_id, uint64_t time_ns);

/* True if the thread lived within the window: something happened in it or a call was open, or it
 * is blocked where the window begins. */
bool weft_replay_is_alive(const struct weft_replay *replay, uint32_t thread_id);

/* Delivers names of objects, calls, events, thread ends and notes of the traces, the first one's
 * threads first. The sink has begun (parallel), and the threads are announced. */
WEFT_CHECKED enum weft_code weft_replay_run(const struct weft_replay *replays, size_t n_replays,
                                            struct weft_sink *sink, const struct weft_run *run,
                                            struct weft_err *err);

/* The whole of a trace, from begin to the last note. */
WEFT_CHECKED enum weft_code weft_replay_whole(struct weft_store *store, struct weft_sink *sink,
                                              const struct weft_run *run, struct weft_err *err);

/* Gives the sink a clock, unless its numbers are invalid (a damaged file). */
WEFT_CHECKED enum weft_code weft_replay_clock(const struct weft_clock *clock,
                                              struct weft_sink *sink, struct weft_err *err);

/* Announces a function with a key of its own or another. */
WEFT_CHECKED enum weft_code weft_replay_function(const struct weft_store_function *function,
                                                 uint32_t key, struct weft_sink *sink,
                                                 struct weft_err *err);

#endif
