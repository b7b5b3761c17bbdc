/* SPDX-License-Identifier: MIT
 *
 * Clocks of hosts whose kernels recorded packets between them, set to one (docs/ingest/inputs.md).
 *
 *     packets of all traces --> sent by one host, received by another: each once --> lines between
 *     pairs of hosts --> a tree of them, from the first host on, the most accurate ones first
 */
#ifndef WEFT_IMPORT_CLOCK_SYNC_H
#define WEFT_IMPORT_CLOCK_SYNC_H

#include "base/error.h"
#include "import/clock_fit.h"
#include "store/reader.h"

#include <stddef.h>
#include <stdint.h>

/* A trace, and on which time it is. */
struct weft_sync_trace {
    struct weft_store *store;
    uint64_t shift_ns; /* added to its times */
};

/* A clock: of a host in a trace, or of all traces that have the host. */
struct weft_sync_host {
    uint32_t trace;              /* its first */
    uint32_t host_id;            /* there */
    uint64_t n_sent, n_received; /* packets that its line is from */
    struct weft_clock_fit fit;   /* to the clock of the first; fit.next: on the way there */
    bool is_set;                 /* it has a line; the first has none, and needs none */
};

struct weft_clock_sync {
    struct weft_sync_host *hosts; /* by trace and host id; or by host id */
    size_t n_hosts;
    size_t root;  /* whose clock all have */
    size_t n_set; /* hosts that have a line: 0: there is nothing to set */
    bool is_by_trace;
};

/* `is_by_trace`: host ids of different traces say nothing; else a host is the same in all. Reads
 * packets only. At most 2 million are kept, the same ones of every trace. WEFT_E_NOMEM, and as
 * loading a block of events. */
WEFT_CHECKED enum weft_code weft_clock_sync_make(const struct weft_sync_trace *traces,
                                                 size_t n_traces, bool is_by_trace,
                                                 struct weft_clock_sync *sync,
                                                 struct weft_err *err);

/* The place of a host; SIZE_MAX: it has no events of packets. */
size_t weft_clock_sync_host(const struct weft_clock_sync *sync, size_t trace, uint32_t host_id);

void weft_clock_sync_fini(struct weft_clock_sync *sync);

#endif
