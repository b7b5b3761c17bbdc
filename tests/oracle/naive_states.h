/* SPDX-License-Identifier: MIT
 *
 * Thread states, slowly: all events of a trace in order of time, one ns after the other, and for
 * every thread and every ns what it did in it. Shares no code with the model.
 */
#ifndef WEFT_TESTS_NAIVE_STATES_H
#define WEFT_TESTS_NAIVE_STATES_H

#include "model/states/states.h"
#include "schema/event.h"

enum { NAIVE_MOST_NS = 512, NAIVE_MOST_THREADS = 12, NAIVE_MOST_CPUS = 4 };

struct naive_event {
    struct weft_event event;
    uint32_t source;
};

/* Events of a source stand in its order, and their times never descend. */
struct naive_trace {
    const struct naive_event *events;
    size_t n_events;
    uint32_t n_threads;
    uint32_t n_idle;      /* of them, the first */
    const uint64_t *tids; /* by thread; 0: an idle task */
    uint64_t end_ns;      /* the last event */
};

/* What a thread did in one ns. */
struct naive_unit {
    bool is_alive;
    struct weft_state state; /* end_ns is not set */
};

/* units[thread][ns], ns < end_ns. */
void naive_states(const struct naive_trace *trace,
                  struct naive_unit units[NAIVE_MOST_THREADS][NAIVE_MOST_NS]);

/* on[ns]: who ran on the processor in that ns, from its switches, and from what naive_states gave
 * for who left it without having come; WEFT_ID_NONE: not known. False: there is no switch. */
bool naive_cpu(const struct naive_trace *trace, int32_t cpu,
               struct naive_unit units[NAIVE_MOST_THREADS][NAIVE_MOST_NS],
               uint32_t on[NAIVE_MOST_NS]);

#endif
