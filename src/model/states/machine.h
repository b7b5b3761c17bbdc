/* SPDX-License-Identifier: MIT
 *
 * The rules of thread states (docs/analyses/states.md): what one thread does and what others do to
 * it, in order of time, becomes intervals.
 *
 *     own events      switches, interrupts, system calls  \
 *                                                          >  steps  -->  states, end to end
 *     arrivals        gets a CPU, woken, forked           /
 *
 * A switch away from the thread says all there is to know of its state, but for the system call it
 * is in: a machine may begin there.
 */
#ifndef WEFT_MODEL_STATES_MACHINE_H
#define WEFT_MODEL_STATES_MACHINE_H

#include "base/str.h"
#include "model/states/states.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What another thread did to this one. */
struct weft_arrival {
    uint64_t time_ns;
    uint64_t number;   /* of the interrupt in which it was done */
    uint32_t source;   /* thread, or WEFT_ID_NONE */
    int32_t cpu;       /* switch: the one it got; wakeup: the one it is put on */
    uint8_t kind;      /* enum weft_event_kind: switch, waking, woken, fork */
    uint8_t reason;    /* enum weft_wait_reason: of a wait that a wakeup ends */
    bool is_displaced; /* a switch: it had left `cpu` unseen */
};

enum { WEFT_MACHINE_NESTED = 8 };

struct weft_machine {
    struct weft_state now; /* in work: end_ns is not known yet */
    bool is_born, is_dead, is_exiting;
    bool is_in_call; /* a system call, whose name is `call` */
    bool is_idle;    /* the thread is a CPU's idle task */
    bool has_calls;  /* the trace has the thread's system calls, entries and exits */
    bool has_mode;   /* one of them was seen, or the thread is known to be in one */
    bool has_failed; /* no memory */
    struct weft_str call;
    uint64_t evidence_ns; /* of running: when it was seen last */
    bool has_come;        /* it was seen to come to its CPU: */
    uint64_t came_ns;     /* then, */
    size_t came_at;       /* and this is its first state since */
    size_t n_nested;      /* interrupts */
    uint64_t n_beyond;    /* deeper than the stack */
    struct {
        struct weft_str name;
        uint64_t number;
    } nested[WEFT_MACHINE_NESTED];
    struct {
        struct weft_state *items;
        size_t n, cap;
    } states;
};

/* The reason of a wait that ends with a wakeup in that interrupt (an empty name: in none), while an
 * idle task, or a thread, had the CPU. */
enum weft_wait_reason weft_wait_reason_of(struct weft_str interrupt, uint64_t number,
                                          struct weft_str device, bool is_idle);

/* Kinds of a thread's own events that matter: all that kernel events contain of a thread that runs.
 */
#define WEFT_MACHINE_KINDS                                                                         \
    (1U << WEFT_EVENT_SWITCH | 1U << WEFT_EVENT_WAKING | 1U << WEFT_EVENT_WOKEN |                  \
     1U << WEFT_EVENT_IRQ_ENTER | 1U << WEFT_EVENT_IRQ_EXIT | 1U << WEFT_EVENT_SYSCALL_ENTER |     \
     1U << WEFT_EVENT_SYSCALL_EXIT | 1U << WEFT_EVENT_FORK | 1U << WEFT_EVENT_EXIT)

/* Is the event one after which a machine may begin? */
bool weft_machine_leaves(uint32_t thread_id, const struct weft_event *event);

/* Begins with nothing known. */
void weft_machine_reset(struct weft_machine *machine, bool is_idle);

/* Begins behind a switch away from the thread; is_in_call, call and is_exiting are kept. */
void weft_machine_sync(struct weft_machine *machine, const struct weft_event *event);

/* The thread's own event; names must live as long as the states. Time never descends. */
void weft_machine_own(struct weft_machine *machine, uint32_t thread_id,
                      const struct weft_event *event);

void weft_machine_arrive(struct weft_machine *machine, const struct weft_arrival *arrival);

/* Of events of one ns the first that fits the state is taken first: which of `n` arrivals, or
 * WEFT_ID_NONE for the thread's own event, which is there if `own` is not NULL. n > 0 or own. */
uint32_t weft_machine_choose(const struct weft_machine *machine, uint32_t thread_id,
                             const struct weft_event *own, const struct weft_arrival *arrivals,
                             size_t n);

/* Ends the state in work at `end_ns`, where the thread leaves its CPU; `ran_ns`: its run time since
 * it came, 0 if that is unknown. */
void weft_machine_finish(struct weft_machine *machine, uint64_t end_ns, uint64_t ran_ns);

/* The same where the trace ends, unless the thread is dead: the state is known to last until
 * `known_ns`, and what came then is not. */
void weft_machine_end(struct weft_machine *machine, uint64_t known_ns, uint64_t end_ns);

/* The same where the thread is known to be no more, though its end was not seen. */
void weft_machine_vanish(struct weft_machine *machine, uint64_t end_ns);

#endif
