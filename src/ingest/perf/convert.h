/* SPDX-License-Identifier: MIT
 *
 * From records of perf to events of weft: what the parts of the importer share.
 */
#ifndef WEFT_INGEST_PERF_CONVERT_H
#define WEFT_INGEST_PERF_CONVERT_H

#include "ingest/perf/order.h"
#include "ingest/perf/stacks.h"
#include "kernel/convert.h"

struct perf_convert {
    struct kernel_convert kernel; /* sink, threads, err; is_survey */
    struct perf_file *file;
    struct perf_order order;
    struct perf_stacks stacks;
    struct weft_json_text json;
    struct kernel_known known_switch; /* of records of switches */
    struct kernel_known known_fork;
    struct kernel_known known_exit;
    bool has_switches, has_forks, has_exits; /* tracepoints record them: records need not */
    bool has_idle; /* idle threads are recorded too: all of the machine is */
    bool has_zero;
    uint64_t zero_ns; /* perf's time that becomes 0 */
    uint64_t n_lost, n_lost_samples, n_throttled;
    uint64_t n_short;    /* samples that are too short for what they should hold */
    uint64_t n_formless; /* events of tracepoints whose format is not known */
};

/* What a record of the kernel about processes does (records.c). */
WEFT_CHECKED enum weft_code perf_convert_record(struct perf_convert *convert,
                                                const struct perf_record *record, uint64_t time_ns);

/* Finds the thread that a sample, or the end of a record, names. */
WEFT_CHECKED enum weft_code perf_find_thread(struct perf_convert *convert,
                                             const struct perf_sample *sample,
                                             struct kernel_now *now);

#endif
