/* SPDX-License-Identifier: MIT
 *
 * Records of perf events, as they lie in a ring of the kernel, made into records of the kernel
 * (schema/recording.h).
 */
#ifndef WEFT_RECORD_KERNEL_PERF_CONVERT_H
#define WEFT_RECORD_KERNEL_PERF_CONVERT_H

#include "base/map.h"
#include "record/kernel/batch.h"
#include "record/kernel/tasks.h"
#include "record/kernel/tracepoints.h"

/* What an event is, besides the tracepoints. */
enum {
    WEFT_PERF_THREADS = WEFT_TRACEPOINTS, /* births, names, switches without tracepoints */
    WEFT_PERF_SAMPLER,
};

/* Registers of a sample: all of x86-64 that unwinding needs, without the segments. */
#define WEFT_PERF_REGISTERS UINT64_C(0xff0fff)

/* Every event is opened with these, so that each record can be identified by its end or its
 * start. */
#define WEFT_PERF_SAMPLE_TYPE                                                                      \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

/* Run time that a CPU's thread has reported by its own clock since it came. */
struct weft_perf_run {
    uint32_t tid; /* 0: none */
    uint64_t ran_ns;
};

struct weft_perf_convert {
    struct weft_tracepoint_format formats[WEFT_TRACEPOINTS];
    struct weft_map *of_id; /* events, by the kernel's number of them */
    struct {
        uint8_t *items; /* by index of the map: enum weft_tracepoint, or WEFT_PERF_... */
        size_t n, cap;
    } kinds;
    struct weft_map *of_tid; /* threads that are known */
    struct {
        uint32_t *items; /* their processes; 0: not known */
        size_t n, cap;
    } pids;
    struct {
        struct weft_perf_run *items; /* by CPU */
        size_t n, cap;
    } runs;
    struct weft_map *targets; /* processes */
    bool with_all;
    bool with_copies;
    bool with_kernel_side; /* samples are of user mode and of the kernel */
    uint32_t sample_ns;    /* that a sample stands for */
    uint64_t n_lost;       /* of the CPU at hand */
};

bool weft_perf_convert_init(struct weft_perf_convert *convert); /* false: no memory */
void weft_perf_convert_fini(struct weft_perf_convert *convert);

/* The kernel's number of an event that was opened. False: no memory. */
bool weft_perf_convert_event(struct weft_perf_convert *convert, uint64_t id, uint8_t kind);

/* A thread, whose process is not known if pid is 0. *is_new may be NULL. False: no memory. */
bool weft_perf_convert_thread(struct weft_perf_convert *convert, uint32_t tid, uint32_t pid,
                              bool *is_new);

/* One record with its head. What is shorter than it should be is passed over. WEFT_E_NOMEM, codes
 * of weft_batch_add. */
WEFT_CHECKED enum weft_code weft_perf_convert(struct weft_perf_convert *convert,
                                              const uint8_t *bytes, size_t n_bytes,
                                              struct weft_batch *batch, struct weft_err *err);

#endif
