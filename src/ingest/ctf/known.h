/* SPDX-License-Identifier: MIT
 *
 * Which events mean something to weft, and where their fields are: looked up once a class.
 */
#ifndef WEFT_INGEST_CTF_KNOWN_H
#define WEFT_INGEST_CTF_KNOWN_H

#include "ingest/ctf/reader.h"
#include "kernel/known.h"

/* What events of user space mean, beside enum kernel_meaning. */
enum ctf_user_meaning {
    CTF_MEANS_CALL = KERNEL_MEANINGS,
    CTF_MEANS_RETURN,
    CTF_MEANS_LOCK_REQUEST,
    CTF_MEANS_LOCK_ACQUIRED,
    CTF_MEANS_LOCK_RELEASED,
    CTF_MEANS_MODULE,   /* a program or library is mapped */
    CTF_MEANS_BUILD_ID, /* of one that was */
};

struct ctf_known {
    struct kernel_known base;
    const struct ctf_op *fields[KERNEL_FIELDS]; /* those of base; NULL: absent */
    /* The thread that the event says it is of; NULL: it does not. */
    const struct ctf_op *tid, *pid, *comm;
    const struct ctf_op *cpu;
};

/* Fills `known` for an event class. `is_kernel`: of a trace of the kernel. False without memory. */
bool ctf_known_make(const struct ctf_stream_plan *stream, const struct ctf_event_plan *event,
                    bool is_kernel, struct ctf_known *known);

/* True if the trace is one of a Linux kernel: its events belong to the thread on their CPU.
 */
bool ctf_is_kernel(const struct ctf_trace_plan *plan);

#endif
