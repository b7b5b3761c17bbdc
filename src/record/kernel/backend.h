/* SPDX-License-Identifier: MIT
 *
 * What the two means of recording, BPF programs and perf events, have in common: kernel.c holds one
 * of them and asks it.
 */
#ifndef WEFT_RECORD_KERNEL_BACKEND_H
#define WEFT_RECORD_KERNEL_BACKEND_H

#include "record/kernel/batch.h"

/* Where a means says what it cannot do. */
struct weft_kernel_gaps {
    struct weft_kernel_missing *items;
    size_t n;
};

/* Texts are static; what does not fit any more is dropped. */
void weft_kernel_gap(struct weft_kernel_gaps *gaps, const char *level, const char *why,
                     const char *mend);

struct weft_kernel_backend {
    const char *name;
    /* *state is NULL, and the code WEFT_OK, if the privileges allow none of it. */
    enum weft_code (*open)(const struct weft_kernel_opts *opts, void **state,
                           struct weft_kernel_gaps *gaps, struct weft_err *err);
    enum weft_code (*add_target)(void *state, uint32_t pid, struct weft_err *err);
    enum weft_code (*start)(void *state, struct weft_err *err);
    void (*stop)(void *state);
    /* Begins `batch` with this CPU, and adds what its ring holds now. */
    enum weft_code (*read)(void *state, uint32_t cpu, struct weft_batch *batch,
                           uint32_t *fill_percent, struct weft_err *err);
    uint32_t (*n_cpus)(const void *state);
    uint64_t (*lost)(const void *state, uint32_t cpu);
    uint64_t (*made)(const void *state, uint32_t cpu);
    uint64_t (*run_ns)(const void *state);
    uint64_t (*skipped)(const void *state);
    void (*close)(void *state);
};

extern const struct weft_kernel_backend weft_kernel_bpf;
extern const struct weft_kernel_backend weft_kernel_perf;

#endif
