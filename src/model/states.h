/* SPDX-License-Identifier: MIT
 *
 * What the threads of a kernel trace did: per thread disjoint intervals, one after the other
 * without gaps, from the first event that concerns the thread to its death or the end of the trace
 * (docs/analyses/states.md has the rules).
 *
 * An answer touches only the blocks of the thread around the time asked for, and what the file
 * keeps of events of others that concern it (store/reader.h, arrivals). A history remembers what it
 * decoded, within a bound. It belongs to one worker: not thread-safe; open one for each.
 */
#ifndef WEFT_MODEL_STATES_H
#define WEFT_MODEL_STATES_H

#include "base/error.h"
#include "model/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum weft_state_kind {
    WEFT_STATE_UNKNOWN,        /* not said: before its first event, after its death, lost events */
    WEFT_STATE_RUNNING_USER,   /* on a processor, in no system call */
    WEFT_STATE_RUNNING_KERNEL, /* on a processor, in the system call `name` */
    WEFT_STATE_INTERRUPTED,    /* on a processor, which serves the interrupt `name`, `number` */
    WEFT_STATE_PREEMPTED,      /* could run, but waits for a processor */
    WEFT_STATE_BLOCKED,        /* waits: `reason` */
    WEFT_STATE_KINDS,
};

/* What ended the wait, by where the wakeup came from. */
enum weft_wait_reason {
    WEFT_WAIT_NONE, /* not blocked */
    WEFT_WAIT_TIMER,
    WEFT_WAIT_NETWORK,
    WEFT_WAIT_BLOCK_DEVICE,
    WEFT_WAIT_DEVICE,  /* another interrupt */
    WEFT_WAIT_IPI,     /* an interrupt that another processor asked for */
    WEFT_WAIT_THREAD,  /* the thread `waker_thread_id`, which ran and was in no interrupt */
    WEFT_WAIT_UNKNOWN, /* no wakeup seen, or one of an idle processor outside of interrupts */
    WEFT_WAIT_REASONS,
};

enum weft_state_flag {
    WEFT_STATE_UNINTERRUPTIBLE = 1, /* blocked: signals do not end it (usually a disk) */
    WEFT_STATE_STOPPED = 2,         /* blocked: by a signal or a debugger */
    WEFT_STATE_IDLE = 4,      /* blocked: a kernel thread without work; running: an idle task */
    WEFT_STATE_FORKED = 8,    /* preempted: new, never ran before */
    WEFT_STATE_WOKEN = 16,    /* preempted: since its wakeup (else: since it lost its CPU) */
    WEFT_STATE_INFERRED = 32, /* it begins with a switch or a wakeup that was not seen */
    WEFT_STATE_OPEN = 64,     /* it reaches the end of the trace, its end was not seen */
};

struct weft_state {
    uint64_t start_ns, end_ns;
    enum weft_state_kind kind;
    enum weft_wait_reason reason; /* blocked; else WEFT_WAIT_NONE */
    int32_t cpu;                  /* running, interrupted: on it; preempted: waits for it; blocked:
                                     left it; -1 unknown */
    uint32_t waker_thread_id;     /* blocked: who woke it, or in whom the interrupt that did was
                                     served; preempted, woken: the same; forked: the parent;
                                     otherwise preempted: who got the CPU. Or WEFT_ID_NONE */
    uint64_t wake_ns;             /* blocked: when it was woken (== end_ns); 0 without a wakeup */
    uint64_t number;              /* interrupted, or blocked and woken by one: number or vector */
    struct weft_str name; /* system call that it is in (running, preempted, blocked), or kind
                             of interrupt ("softirq"); may be empty; lives as the history */
    uint8_t flags;        /* enum weft_state_flag */
};

/* Stable lower-case names ("running_user", "block_device"). */
const char *weft_state_kind_name(enum weft_state_kind kind);
const char *weft_wait_reason_name(enum weft_wait_reason reason);

/* States of all threads of a trace, decoded when asked, cached within `mem_bytes` (0: 16 MiB). */
struct weft_history;

WEFT_CHECKED enum weft_code weft_history_open(const struct weft_trace *trace, uint64_t mem_bytes,
                                              struct weft_history **history, struct weft_err *err);

/* NULL is allowed. */
void weft_history_close(struct weft_history *history);

/* When the thread is first and last known of, in ns: [first, last) is what its states tile. Both 0
 * if no event of a kernel concerns it. */
WEFT_CHECKED enum weft_code weft_history_life(struct weft_history *history, uint32_t thread_id,
                                              uint64_t *first_ns, uint64_t *last_ns,
                                              struct weft_err *err);

/* The state of `thread_id` in which the instant just before `t_ns` lies: start_ns < t_ns <= end_ns.
 * Before the thread's life it is WEFT_STATE_UNKNOWN from 0 to its begin, after it UNKNOWN to
 * UINT64_MAX. For t_ns 0 the empty UNKNOWN at 0. Fails as loading a block of events does. */
WEFT_CHECKED enum weft_code weft_history_before(struct weft_history *history, uint32_t thread_id,
                                                uint64_t t_ns, struct weft_state *state,
                                                struct weft_err *err);

/* Reads the states of a thread that overlap [from_ns, to_ns), in order, whole (not clipped); only
 * those of its life. Readers of one history may be open at once; close them before it. */
struct weft_states;

WEFT_CHECKED enum weft_code weft_states_open(struct weft_history *history, uint32_t thread_id,
                                             uint64_t from_ns, uint64_t to_ns,
                                             struct weft_states **states, struct weft_err *err);

/* NULL is allowed. */
void weft_states_close(struct weft_states *states);

/* The next state, valid until the next call, or NULL at the end. */
WEFT_CHECKED enum weft_code weft_states_next(struct weft_states *states,
                                             const struct weft_state **state, struct weft_err *err);

/* Who ran on a processor of a host, from its switches alone: intervals without gaps from its first
 * switch on. */
struct weft_cpu_run {
    uint64_t start_ns, end_ns;
    uint32_t thread_id; /* WEFT_ID_NONE: not known */
    bool is_idle;       /* the idle task of the processor */
};

struct weft_cpu_runs;

/* Reads the runs on `cpu` that overlap [from_ns, to_ns), in order, whole. */
WEFT_CHECKED enum weft_code weft_cpu_runs_open(struct weft_history *history, uint32_t host_id,
                                               int32_t cpu, uint64_t from_ns, uint64_t to_ns,
                                               struct weft_cpu_runs **runs, struct weft_err *err);

/* NULL is allowed. */
void weft_cpu_runs_close(struct weft_cpu_runs *runs);

/* The next run, valid until the next call, or NULL at the end. */
WEFT_CHECKED enum weft_code weft_cpu_runs_next(struct weft_cpu_runs *runs,
                                               const struct weft_cpu_run **run,
                                               struct weft_err *err);

#endif
