/* SPDX-License-Identifier: MIT
 *
 * perf-cpuN.dat: records of the kernel's perf ring as they came, with pid, tid and time behind
 * each. Switches and names of tasks are taken from them.
 */
#ifndef WEFT_INGEST_UFTRACE_PERF_H
#define WEFT_INGEST_UFTRACE_PERF_H

#include "base/error.h"
#include "base/folder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_uft_switch_kind { WEFT_UFT_SWITCH_IN, WEFT_UFT_SWITCH_OUT, WEFT_UFT_PREEMPTED };

enum { WEFT_UFT_COMM_BYTES = 16 };

struct weft_uft_switch {
    uint64_t time_ns;
    uint32_t tid;
    uint16_t cpu;
    uint8_t kind;
};

struct weft_uft_comm {
    uint64_t time_ns;
    uint32_t tid;
    char name[WEFT_UFT_COMM_BYTES];
};

struct weft_uft_perf {
    struct {
        struct weft_uft_switch *items; /* by tid, then time, then cpu */
        size_t n, cap;
    } switches;
    struct {
        struct weft_uft_comm *items; /* by tid, then time */
        size_t n, cap;
    } comms;
    uint64_t n_lost;    /* reported by the kernel */
    uint64_t n_unknown; /* records of other kinds */
    uint64_t n_bad_bytes;
};

/* Reads all of them. NOMEM only: damage ends a file and is counted. The caller frees, also after a
 * failure. */
WEFT_CHECKED enum weft_code weft_uft_perf_read(const struct weft_folder *folder,
                                               struct weft_uft_perf *perf, struct weft_err *err);
void weft_uft_perf_fini(struct weft_uft_perf *perf);

/* The switches of one task: from *begin on, the number of them. */
size_t weft_uft_switches_of(const struct weft_uft_perf *perf, uint64_t tid, size_t *begin);

/* The last name of a task, or NULL. */
const char *weft_uft_comm_of(const struct weft_uft_perf *perf, uint64_t tid);

#endif
