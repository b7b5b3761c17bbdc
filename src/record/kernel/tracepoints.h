/* SPDX-License-Identifier: MIT
 *
 * The tracepoints that are recorded by perf events, and where tracefs says their fields lie.
 */
#ifndef WEFT_RECORD_KERNEL_TRACEPOINTS_H
#define WEFT_RECORD_KERNEL_TRACEPOINTS_H

#include "base/str.h"

enum weft_tracepoint {
    WEFT_TRACEPOINT_SWITCH, /* prev_pid prev_state next_pid next_comm */
    WEFT_TRACEPOINT_WAKING, /* pid target_cpu */
    WEFT_TRACEPOINT_WOKEN_NEW,
    WEFT_TRACEPOINT_EXEC,  /* filename pid old_pid */
    WEFT_TRACEPOINT_ISSUE, /* dev sector bytes rwbs */
    WEFT_TRACEPOINT_DONE,  /* dev sector nr_sector */
    WEFT_TRACEPOINT_FAULT, /* address error_code */
    WEFT_TRACEPOINT_RAN,   /* pid runtime */
    WEFT_TRACEPOINTS,
};

enum { WEFT_TRACEPOINT_FIELDS = 4 };

struct weft_tracepoint_format {
    uint32_t id; /* 0: it cannot be read here */
    struct {
        uint32_t off;
        uint32_t n_bytes;
    } fields[WEFT_TRACEPOINT_FIELDS];
};

/* Reads a format as tracefs shows it; false: a field is missing. */
bool weft_tracepoint_parse(enum weft_tracepoint which, struct weft_str text,
                           struct weft_tracepoint_format *format);

/* Reads all of them. Those that the user may not read have the id 0. */
void weft_tracepoints_read(struct weft_tracepoint_format formats[WEFT_TRACEPOINTS]);

#endif
