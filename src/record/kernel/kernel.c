/* SPDX-License-Identifier: MIT
 *
 * See kernel.h: takes the first means that the privileges allow.
 */
#include "record/kernel/kernel.h"

#include "record/kernel/backend.h"
#include "record/kernel/names.h"

#include <stdlib.h>

struct weft_kernel {
    const struct weft_kernel_backend *backend;
    void *state;
    struct weft_batch batch;
    struct weft_kernel_names names;
    bool names_at_once;
    weft_kernel_records_fn fn; /* of the poll in work */
    void *context;
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
            (*kernel)->names_at_once = opts->names_at_once;
            break;
        }
        all[i]->close(state);
        code = weft_no_memory(err, "the kernel's records");
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
    if (kernel->names_at_once && !weft_kernel_names_read_symbols(&kernel->names))
        return weft_no_memory(err, "the kernel's records");
    return kernel->backend->start(kernel->state, err);
}

void weft_kernel_stop(struct weft_kernel *kernel)
{
    kernel->backend->stop(kernel->state);
}

static enum weft_code hand_out(void *context, uint32_t cpu,
                               const struct weft_kernel_record *records, size_t n_bytes,
                               struct weft_err *err)
{
    struct weft_kernel *kernel = context;
    if (!weft_kernel_names_see(&kernel->names, records, n_bytes))
        return weft_no_memory(err, "the kernel's records");
    return kernel->fn(kernel->context, cpu, records, n_bytes, err);
}

enum weft_code weft_kernel_names(struct weft_kernel *kernel, struct weft_str *text,
                                 struct weft_err *err)
{
    return weft_kernel_names_tell(&kernel->names, text)
               ? WEFT_OK
               : weft_no_memory(err, "the kernel's records");
}

enum weft_code weft_kernel_poll(struct weft_kernel *kernel, weft_kernel_records_fn fn,
                                void *context, uint32_t *fill_percent, struct weft_err *err)
{
    const uint32_t n_cpus = weft_kernel_n_cpus(kernel);
    struct weft_batch *batch = &kernel->batch;
    enum weft_code code = WEFT_OK;
    *fill_percent = 0;
    kernel->fn = fn;
    kernel->context = context;
    batch->fn = hand_out;
    batch->context = kernel;
    for (uint32_t cpu = 0; code == WEFT_OK && cpu < n_cpus; cpu++) {
        code = kernel->backend->read(kernel->state, cpu, batch, fill_percent, err);
        WEFT_THEN(code, weft_batch_end(batch, err));
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
    weft_kernel_names_fini(&kernel->names);
    free(kernel);
}
