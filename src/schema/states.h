/* SPDX-License-Identifier: MIT
 *
 * States of threads (docs/analyses/states.md), and the tables of the analyses that are made of
 * them. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_STATES_H
#define WEFT_SCHEMA_STATES_H

#include "base/str.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_state_kind {
    WEFT_STATE_UNKNOWN,        /* not said: before its first event, after its death, lost events */
    WEFT_STATE_RUNNING,        /* on a processor; whether in user mode or the kernel is unknown */
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
    WEFT_STATE_OPEN = 64,     /* its end was not seen, until the last that is known of its host */
    WEFT_STATE_CLOCKED = 128, /* on a processor: the trace has the thread's own run time, ran_ns */
    WEFT_STATE_EARLIER = 256, /* blocked: since before the trace began */
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
    uint64_t ran_ns; /* CLOCKED: run time by the thread's own clock: of the time since it came to
                        the processor, the share of this state. May be longer than the state */
    uint64_t number; /* interrupted, or blocked and woken by one: number or vector */
    struct weft_str name; /* system call that it is in (running, preempted, blocked), or kind
                             of interrupt ("softirq"); may be empty; lives as the history */
    uint16_t flags;       /* enum weft_state_flag */
};

/* Is the thread on a processor? */
static inline bool weft_state_is_on_cpu(enum weft_state_kind kind)
{
    return kind == WEFT_STATE_RUNNING || kind == WEFT_STATE_RUNNING_USER ||
           kind == WEFT_STATE_RUNNING_KERNEL || kind == WEFT_STATE_INTERRUPTED;
}

/* CPU time of the part [from_ns, to_ns) of a state that contains it: by the thread's own clock if
 * it is recorded, else its length, without interrupts; 0 of one off the processor. */
uint64_t weft_state_cpu_ns(const struct weft_state *state, uint64_t from_ns, uint64_t to_ns);

/* Stable lower-case names ("running_user", "block_device"). */
const char *weft_state_kind_name(enum weft_state_kind kind);
const char *weft_wait_reason_name(enum weft_wait_reason reason);

/* ---- modes of running ------------------------------------------------------------------------ */

/* Time on a processor, without interrupts, by what is known of its mode. */
struct weft_run_modes {
    uint64_t user_ns, kernel_ns; /* outside of and in system calls, where those are known */
    uint64_t unknown_ns;         /* of unknown mode */
    uint64_t unsampled_ns;       /* of that, of threads that have no samples */
    uint64_t user_samples, kernel_samples; /* samples by time in either mode */
};

/* What follows from it. */
struct weft_mode_times {
    bool is_known;     /* else the mode of most of the time is unknown, and the others are 0 */
    bool is_estimated; /* from samples, so that there is an interval */
    uint64_t user_ns, kernel_ns;
    uint64_t kernel_low_ns, kernel_high_ns; /* 95 %: Wilson's interval of the share of samples */
    uint64_t unknown_ns;                    /* time that is in neither */
};

struct weft_mode_times weft_run_mode_times(const struct weft_run_modes *modes);

/* Where the times are from: "system_calls", "samples", "system_calls,samples"; NULL: unknown. */
const char *weft_mode_source(const struct weft_run_modes *modes);

/* ---- states --------------------------------------------------------------------------------- */

struct weft_states_row {
    uint32_t thread_id;
    struct weft_state state; /* its name lives in the table's arena */
};

/* By thread, then by time. */
struct weft_states_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_states_row *rows;
    size_t n_rows;
    uint64_t n_found; /* rows may be fewer (limit) */
    bool is_known;    /* the file keeps what others did to a thread */
};

/* ---- waits ---------------------------------------------------------------------------------- */

/* Time of one kind and cause. */
struct weft_waits_row {
    enum weft_state_kind kind;
    enum weft_wait_reason reason; /* blocked */
    struct weft_str name;         /* blocked: system call it waited in; running: the one it ran in;
                                     interrupted: kind of interrupt. May be empty */
    uint32_t other_id;            /* preempted: who had the processor; blocked, reason thread: who
                                     woke it; or WEFT_ID_NONE */
    uint64_t count;               /* states, each counted where it is longest, if it has several */
    uint64_t sum_ns, longest_ns, longest_at_ns;
};

/* A thread in the window; the sum of kind_ns is the part of its life in it, exactly. */
struct weft_waits_thread {
    uint32_t thread_id;
    uint64_t first_ns, last_ns; /* of its life, in the window */
    uint64_t kind_ns[WEFT_STATE_KINDS], kind_count[WEFT_STATE_KINDS];
    uint64_t reason_ns[WEFT_WAIT_REASONS]; /* of blocked */
    struct weft_run_modes modes;
    uint64_t cpu_ns;             /* weft_state_cpu_ns of all */
    uint64_t clocked_ns;         /* of it, by the thread's own clock */
    uint64_t futex_ns;           /* blocked in a futex call, whatever the reason */
    struct weft_waits_row *rows; /* most time first */
    size_t n_rows;
};

struct weft_waits_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_waits_thread *threads; /* those that live in the window, by id */
    size_t n_threads;
    bool is_known; /* as weft_states_table */
};

/* ---- processors ----------------------------------------------------------------------------- */

struct weft_cpu_share {
    uint32_t thread_id;
    uint64_t run_ns; /* with the interrupts that it was stopped for */
    uint64_t cpu_ns; /* weft_state_cpu_ns */
    uint64_t count;  /* times that it came to the processor */
};

/* The sum of the times is the length of the window. */
struct weft_cpu_row {
    uint32_t host_id;
    int32_t cpu;
    struct weft_run_modes modes; /* of threads, idle tasks left out */
    uint64_t interrupted_ns, idle_ns, unknown_ns;
    bool has_idle_task;             /* else idle time is unknown: it is in unknown_ns */
    uint64_t count;                 /* runs of threads, idle ones not counted */
    uint64_t migrations;            /* of these, those of a thread that ran elsewhere before */
    struct weft_cpu_share *threads; /* most time first, idle tasks left out */
    size_t n_threads;
};

struct weft_cpu_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns;
    struct weft_cpu_row *rows; /* by host and number */
    size_t n_rows;
    bool is_known; /* as weft_states_table */
};

#endif
