/* SPDX-License-Identifier: MIT
 *
 * The directory as the importer sees it: what its parts share.
 */
#ifndef WEFT_INGEST_UFTRACE_TRACE_H
#define WEFT_INGEST_UFTRACE_TRACE_H

#include "ingest/uftrace/task_out.h"
#include "ingest/uftrace/tasks.h"

/* A task: one file of records. */
struct weft_uft_track {
    const struct weft_folder_file *file;
    uint64_t tid, pid;
    char name[WEFT_UFT_COMM_BYTES];
    struct weft_uft_epochs epochs;
    struct weft_uft_locals locals;
    uint64_t first_ns; /* UINT64_MAX: it has no records */
    uint32_t thread_id;
    size_t first_switch, n_switches;
    struct weft_uft_tally bad_bytes, missing_bytes, lost;
    uint64_t n_missing, n_ignored;
};

struct weft_uft_trace {
    const struct weft_folder *folder;
    struct weft_sink *sink;
    const struct weft_run *run;
    struct weft_uft_info info;
    struct weft_uft_tasks tasks;
    struct weft_uft_space space;
    struct weft_uft_perf perf;
    struct weft_uft_event_names event_names;
    struct {
        struct weft_uft_track *items;
        size_t n, cap;
    } tracks;
    struct weft_uft_out *outs; /* one a worker */
    unsigned n_outs;
    uint64_t zero_ns;
};

/* Numbers the functions that the tasks met, in the order of the tasks and of their first calls, and
 * announces them to the sink. */
WEFT_CHECKED enum weft_code weft_uft_announce_functions(struct weft_uft_trace *trace,
                                                        struct weft_err *err);

#endif
