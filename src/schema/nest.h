/* SPDX-License-Identifier: MIT
 *
 * Turns what a thread's source says about its calls - spans with start and end, entries, exits,
 * mixed, ordered by their start - into entries and exits in order of time for a sink.
 *
 *     span a [0, 10)  span b [2, 5)   -->   E a @0   E b @2   X b @5   X a @10
 *
 * What does not nest is repaired so that every call stays:
 *   - a span that outlasts the call around it ends with that call;
 *   - an entry whose exit is not seen before the span around it ends, ends with that span; its own
 *     exit, when it comes, is ignored;
 *   - an exit that matches an entry deeper on the stack ends what is above it, too.
 * The first two and the last are exits missing in the words of the sink, which flags the calls and
 * counts them (docs/ingest/balance.md); where the sink cannot see it, they are counted here.
 */
#ifndef WEFT_SCHEMA_NEST_H
#define WEFT_SCHEMA_NEST_H

#include "base/error.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an exit must agree in with the entry that it ends. */
enum weft_nest_match {
    WEFT_NEST_ANY,  /* nothing: the innermost */
    WEFT_NEST_NAME, /* the name, whatever the module */
    WEFT_NEST_KEY,  /* the function */
};

struct weft_nest;

/* Function keys are below `n_keys`; `name_of_key` gives a number below `n_keys` for the name of
 * each, equal for equal names; NULL: the key itself. NULL without memory. */
struct weft_nest *weft_nest_new(struct weft_sink *sink, uint32_t n_keys,
                                const uint32_t *name_of_key);
void weft_nest_free(struct weft_nest *nest);

/* Begins a thread. One nest does one thread after the other. */
void weft_nest_start(struct weft_nest *nest, uint32_t thread_id);

#define WEFT_NEST_NO_LEVEL UINT32_MAX

/* A call whose begin and end are known. `level` counts the calls around it; it says where a call of
 * no duration belongs that begins when others end, and only that: any numbers that grow inwards do.
 * `flags`, of the call (enum weft_call_flag), are those that a trace says that was exported before;
 * CUT_START counts only at time 0 and within calls like it. Such a call has no entry: no arguments
 * can follow it. */
struct weft_nest_span {
    uint64_t time_ns, end_ns; /* time_ns <= end_ns */
    uint32_t key;
    uint32_t level; /* WEFT_NEST_NO_LEVEL: unknown */
    uint8_t flags;
};

/* Times of these three do not decrease within a thread. */
WEFT_CHECKED enum weft_code weft_nest_span(struct weft_nest *nest,
                                           const struct weft_nest_span *span, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_nest_enter(struct weft_nest *nest, uint64_t time_ns, uint32_t key,
                                            struct weft_err *err);
/* `key` may be WEFT_ID_NONE with WEFT_NEST_ANY. */
WEFT_CHECKED enum weft_code weft_nest_exit(struct weft_nest *nest, uint64_t time_ns,
                                           enum weft_nest_match match, uint32_t key,
                                           struct weft_err *err);

/* How many calls are open. */
size_t weft_nest_depth(const struct weft_nest *nest);

/* The call that the next exit would end; false if it would end none. */
struct weft_nest_open {
    uint32_t key;
    size_t depth;   /* calls around it */
    bool is_latest; /* nothing was entered since */
};
bool weft_nest_peek(const struct weft_nest *nest, enum weft_nest_match match, uint32_t key,
                    struct weft_nest_open *open);

/* Ends the spans that end until `time_ns`, as weft_nest_exit does first. */
WEFT_CHECKED enum weft_code weft_nest_advance(struct weft_nest *nest, uint64_t time_ns,
                                              struct weft_err *err);

/* Hands over what was collected, so that the sink's latest entry is the latest here. */
WEFT_CHECKED enum weft_code weft_nest_flush(struct weft_nest *nest, struct weft_err *err);

/* Ends the thread: its open spans at their own end, its open entries as the sink does; notes what
 * was repaired here. `last_ns`: the thread's last event so far. */
WEFT_CHECKED enum weft_code weft_nest_end(struct weft_nest *nest, uint64_t last_ns,
                                          struct weft_err *err);

#endif
