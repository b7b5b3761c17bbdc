/* SPDX-License-Identifier: MIT
 *
 * See kernel.h: takes the first means that the privileges allow.
 */
#include "record/kernel/kernel.h"

#include "record/kernel/backend.h"

#include <stdlib.h>

struct weft_kernel {
    const struct weft_kernel_backend *backend;
    void *state;
    struct weft_batch batch;
};

void weft_kernel_gap(struct weft_kernel_gaps *gaps, const char *level, const char *why,
                     const char *mend)
{
    if (gaps->n < WEFT_KERNEL_MISSING_MAX)
        gaps->items[gaps->n++] = (struct weft_kernel_missing){ level, why, mend };
}

enum weft_code weft_kernel_open(const struct weft_kernel_opts *opts, struct weft_kernel **kernel,
                                struct weft_kernel_missing *missing, size_t *n_missing,
                                struct weft_err *err)
{
    static const struct weft_kernel_backend *const all[] = { &weft_kernel_bpf, &weft_kernel_perf };
    struct weft_kernel_gaps gaps = { .items = missing };
    enum weft_code code = WEFT_OK;
    *kernel = NULL;
    for (size_t i = opts->without_bpf; i < sizeof all / sizeof *all && code == WEFT_OK; i++) {
        void *state = NULL;
        code = all[i]->open(opts, &state, &gaps, err);
        if (!state)
            continue;
        *kernel = calloc(1, sizeof **kernel);
        if (*kernel) {
            (*kernel)->backend = all[i];
            (*kernel)->state = state;
            break;
        }
        all[i]->close(state);
        code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for the kernel's records");
    }
    *n_missing = gaps.n;
    return code;
}

enum weft_code weft_kernel_add_target(struct weft_kernel *kernel, uint32_t pid,
                                      struct weft_err *err)
{
    return kernel->backend->add_target(kernel->state, pid, err);
}

enum weft_code weft_kernel_start(struct weft_kernel *kernel, struct weft_err *err)
{
    return kernel->backend->start(kernel->state, err);
}

void weft_kernel_stop(struct weft_kernel *kernel)
{
    kernel->backend->stop(kernel->state);
}

enum weft_code weft_kernel_poll(struct weft_kernel *kernel, weft_kernel_records_fn fn,
                                void *context, uint32_t *fill_percent, struct weft_err *err)
{
    const uint32_t n_cpus = weft_kernel_n_cpus(kernel);
    struct weft_batch *batch = &kernel->batch;
    enum weft_code code = WEFT_OK;
    *fill_percent = 0;
    batch->fn = fn;
    batch->context = context;
    for (uint32_t cpu = 0; code == WEFT_OK && cpu < n_cpus; cpu++) {
        code = kernel->backend->read(kernel->state, cpu, batch, fill_percent, err);
        if (code == WEFT_OK)
            code = weft_batch_end(batch, err);
    }
    return code;
}

uint32_t weft_kernel_n_cpus(const struct weft_kernel *kernel)
{
    return kernel->backend->n_cpus(kernel->state);
}

uint64_t weft_kernel_lost(const struct weft_kernel *kernel, uint32_t cpu)
{
    return kernel->backend->lost(kernel->state, cpu);
}

uint64_t weft_kernel_made(const struct weft_kernel *kernel, uint32_t cpu)
{
    return kernel->backend->made(kernel->state, cpu);
}

uint64_t weft_kernel_run_ns(const struct weft_kernel *kernel)
{
    return kernel->backend->run_ns(kernel->state);
}

uint64_t weft_kernel_skipped(const struct weft_kernel *kernel)
{
    return kernel->backend->skipped(kernel->state);
}

const char *weft_kernel_means(const struct weft_kernel *kernel)
{
    return kernel->backend->name;
}

void weft_kernel_close(struct weft_kernel *kernel)
{
    if (!kernel)
        return;
    kernel->backend->close(kernel->state);
    free(kernel);
}
