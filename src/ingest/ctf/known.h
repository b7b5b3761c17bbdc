/* SPDX-License-Identifier: MIT
 *
 * Which events mean something to weft, and where their fields are: looked up once a class.
 */
#ifndef WEFT_INGEST_CTF_KNOWN_H
#define WEFT_INGEST_CTF_KNOWN_H

#include "ingest/ctf/reader.h"

enum ctf_meaning {
    CTF_MEANS_INSTANT, /* nothing that is known: a point with its fields */
    CTF_MEANS_SWITCH,
    CTF_MEANS_WAKING,
    CTF_MEANS_WOKEN,
    CTF_MEANS_FORK,
    CTF_MEANS_EXIT,
    CTF_MEANS_PROCESS, /* a thread that was there before the trace, or has a new name */
    CTF_MEANS_IRQ_ENTER,
    CTF_MEANS_IRQ_EXIT,
    CTF_MEANS_SYSCALL_ENTER,
    CTF_MEANS_SYSCALL_EXIT,
    CTF_MEANS_IO_BEGIN,
    CTF_MEANS_IO_END,
    CTF_MEANS_SENT,
    CTF_MEANS_RECEIVED,
    CTF_MEANS_CALL,
    CTF_MEANS_RETURN,
    CTF_MEANS_LOCK_REQUEST,
    CTF_MEANS_LOCK_ACQUIRED,
    CTF_MEANS_LOCK_RELEASED,
    CTF_MEANS_MODULE,   /* a program or library is mapped */
    CTF_MEANS_BUILD_ID, /* of one that was */
};

enum { CTF_KNOWN_FIELDS = 5 };

struct ctf_known {
    uint8_t meaning;            /* enum ctf_meaning */
    uint8_t subtype;            /* WOKEN: 1 for a new thread; SYSCALL: 1 if it is told by number */
    struct weft_str event_name; /* without the provider ("sched:") */
    struct weft_str name;       /* what the event of weft is called: "softirq", "futex" */
    uint32_t name_id;           /* of `name` among the names of threads */
    const struct ctf_op *fields[CTF_KNOWN_FIELDS]; /* in the order of the table; NULL: absent */
    /* The thread that the event says it is of; NULL: it does not. */
    const struct ctf_op *tid, *pid, *comm;
    const struct ctf_op *cpu;
};

/* Fills `known` for an event class. `is_kernel`: of a trace of the kernel. */
void ctf_known_make(const struct ctf_stream_plan *stream, const struct ctf_event_plan *event,
                    bool is_kernel, struct ctf_known *known);

/* True if the trace is one of a Linux kernel: its events belong to the thread on their processor.
 */
bool ctf_is_kernel(const struct ctf_trace_plan *plan);

#endif
