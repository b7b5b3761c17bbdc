/* SPDX-License-Identifier: MIT
 *
 * Inside a history: windows in which states are decoded, from a switch away from the thread in one
 * block of its events to the last such switch in the next block:
 *
 *     block k-1               block k                 block k+1
 *     ..........S.....  |  ..............S..  |  ........S......
 *               |<----- window k ------->|<-- window k+1 -->|
 *
 * A switch starts a window if nothing else happened to the thread in the same ns, so that the
 * states do not depend on where decoding began. Blocks without one make a window longer.
 */
#ifndef WEFT_MODEL_STATES_WINDOWS_H
#define WEFT_MODEL_STATES_WINDOWS_H

#include "base/map.h"
#include "model/states/arrival_reader.h"
#include "model/states/ends.h"
#include "model/states/history.h"
#include "model/states/machine.h"

enum {
    WEFT_HISTORY_BLOCKS = 3,
    WEFT_HISTORY_CPU_BUFS = 16,
    WEFT_HISTORY_GUESSES = 256,
    WEFT_HISTORY_NEAR = 64
};
#define WEFT_HISTORY_NONE UINT32_MAX

/* States of a window; in a list by use. */
struct weft_state_slot {
    struct weft_state *states; /* NULL: not decoded, or let go */
    size_t n;
    uint64_t end_window; /* the next window of the thread; n_blocks + 1: there is none */
    size_t near;         /* the state that was asked for last */
    uint32_t newer, older;
    bool is_known;
};

/* The switch in a block of events at which a window starts. */
struct weft_state_sync {
    uint64_t time_ns;
    uint32_t index; /* of the event in its block; NONE: there is none */
};

/* A block of events, of which some change states. */
struct weft_state_block {
    uint64_t number;   /* among the thread's blocks of events */
    uint64_t first_ns; /* none of those is earlier */
};

/* Windows count blocks that change states, and those alone. */
struct weft_thread_facts {
    struct weft_state_block *blocks; /* of the history */
    uint64_t n_blocks;
    uint64_t first_exit_block; /* with an exit; UINT64_MAX: none */
    bool has_calls;            /* entries of system calls: the exits alone do not give the mode */
    bool is_ordered;           /* what changes states in one follows on what does in the other */
};

struct weft_history {
    const struct weft_trace *trace;
    struct weft_store *store;
    uint64_t most_bytes, used_bytes;
    struct weft_strtab *names;
    uint32_t guesses[WEFT_HISTORY_GUESSES]; /* 1 + a name, by where it stood; 0: none */
    struct weft_event_buf
        *blocks[WEFT_HISTORY_BLOCKS]; /* of own events: even, odd, and small blocks */
    struct weft_event_buf *arrival_buf;
    struct weft_event_buf *cpu_bufs[WEFT_HISTORY_CPU_BUFS]; /* by CPU; NULL: not used yet */
    struct weft_state_ends ends;                            /* made when a thread's is asked for */
    struct weft_machine machine;
    struct weft_arrival_list arrivals; /* of the window in work */
    struct weft_map *of_window;        /* thread and window -> slot */
    struct {
        struct weft_state_slot *items;
        size_t n, cap;
    } slots;
    uint32_t newest, oldest;
    struct {
        uint32_t thread_id;
        uint32_t slot; /* 1 + the one that was asked for last; 0: none */
    } near[WEFT_HISTORY_NEAR];
    struct weft_map *of_block; /* thread and block -> sync */
    struct {
        struct weft_state_sync *items;
        size_t n, cap;
    } syncs;
    struct weft_map *of_thread; /* -> facts */
    struct {
        struct weft_thread_facts *items;
        size_t n, cap;
    } facts;
};

/* A window in work. */
struct weft_state_window {
    uint32_t thread_id;
    uint64_t number, end; /* it is [number, end) in windows */
    struct weft_state_sync start, stop;
    size_t at_arrival;
    uint64_t time_ns; /* never descends */
    uint64_t ran_ns;  /* of the switch at `stop` */
};

/* `*facts` lives as long as the history. */
WEFT_CHECKED enum weft_code weft_history_facts(struct weft_history *history, uint32_t thread_id,
                                               struct weft_thread_facts *facts,
                                               struct weft_err *err);

/* Where window `window` > 0 starts, in the block before; index NONE: it does not. */
WEFT_CHECKED enum weft_code weft_window_start(struct weft_history *history, uint32_t thread_id,
                                              const struct weft_thread_facts *facts,
                                              uint64_t window, struct weft_state_sync *sync,
                                              struct weft_err *err);

/* The window in which the instant just before `t_ns` lies. */
WEFT_CHECKED enum weft_code weft_window_of(struct weft_history *history, uint32_t thread_id,
                                           const struct weft_thread_facts *facts, uint64_t t_ns,
                                           uint64_t *window, struct weft_err *err);

/* Fills history->machine.states with those of window->number, and finds where that ends. */
WEFT_CHECKED enum weft_code weft_window_decode(struct weft_history *history,
                                               const struct weft_thread_facts *facts,
                                               struct weft_state_window *window,
                                               struct weft_err *err);

#endif
