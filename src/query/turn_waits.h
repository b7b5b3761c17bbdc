/* SPDX-License-Identifier: MIT
 *
 * Where threads wait, and which of these places each comes back to for something to do: the begin
 * and end of its turns (thread_turns.h).
 */
#ifndef WEFT_QUERY_TURN_WAITS_H
#define WEFT_QUERY_TURN_WAITS_H

#include "base/error.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_LEAST_TURNS = 10 };

/* Waits of a thread at a place. */
struct weft_turn_wait {
    uint32_t thread_id, label; /* in `places` */
    uint64_t count, turn_ns;
    uint64_t n_replies,
        n_requests;  /* of reads: on descriptors that the thread asks, or answers on */
    double log_sum;  /* of the durations in ns */
    uint64_t end_ns; /* of the last one */
    bool is_open;    /* which was not left */
    bool is_amid;    /* chosen for want of a better place, although amid a loop iteration */
};

struct weft_turn_waits {
    struct weft_strtab *places; /* texts for weft_turn_place_of */
    struct weft_map *keys;      /* thread and place -> in `items` */
    struct {
        struct weft_turn_wait *items;
        size_t n, cap;
    };
    uint32_t *longest; /* by thread: in `items`, where it comes back to; WEFT_ID_NONE: nowhere */
};

/* Reads all calls once. To be finished whatever is returned. */
WEFT_CHECKED enum weft_code weft_turn_waits_find(const struct weft_trace *trace,
                                                 const struct weft_run *run,
                                                 struct weft_turn_waits *waits,
                                                 struct weft_err *err);
void weft_turn_waits_fini(struct weft_turn_waits *waits);

/* The function waited in, the one that called it, and those that called that ("outer > inner");
 * empty if they are not known, or not whole. */
struct weft_turn_place {
    struct weft_str name, caller, callers;
};

struct weft_turn_place weft_turn_place_of(struct weft_str label);

/* Is the place a sleep? */
bool weft_turn_is_sleep(const struct weft_turn_waits *waits, uint32_t label);

/* Waits of threads of Python for each other are all of one function, most of which find their lock
 * free: only those count that last so long as it takes to block. */
bool weft_turn_is_of_any_lock(struct weft_str caller);
#define WEFT_BLOCKED_RULE "5us"

#endif
