/* SPDX-License-Identifier: MIT
 *
 * See kernel.h: takes the first means that the privileges allow.
 */
#include "record/kernel/kernel.h"

#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/kernel/backend.h"
#include "schema/recording.h"
#include "symbols/kallsyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ----------------------------------------------------------------------------------- */

/* Names of the kernel's functions that stacks lie in. Addresses are collected as records go by;
 * the kernel's table of symbols is read when names are asked for, as that takes a tenth of a
 * second. */

struct weft_kernel_names {
    struct weft_map *addresses; /* each once, in order of appearance */
    uint32_t n_named;           /* of them, the first ones */
    bool has_symbols;
    struct weft_kallsyms symbols;
    struct {
        char *items;
        size_t n, cap;
    } text;
};

/* More addresses have no names, and what does not fit a text comes with the next one. */
enum { MOST_ADDRESSES = 1 << 18, MOST_TEXT_BYTES = 1 << 20, LINE_BYTES = 256 };

static bool see_frames(struct weft_kernel_names *names, const uint8_t *payload, size_t n_bytes)
{
    for (size_t at = 0; at + 8 <= n_bytes; at += 8) {
        uint64_t address;
        memcpy(&address, payload + at, sizeof address);
        if (weft_map_count(names->addresses) < MOST_ADDRESSES &&
            weft_map_add(names->addresses, address, NULL) == WEFT_MAP_NONE)
            return false;
    }
    return true;
}

/* Whole records. False without memory. */
static bool weft_kernel_names_see(struct weft_kernel_names *names,
                                  const struct weft_kernel_record *records, size_t n_bytes)
{
    const uint8_t *const bytes = (const uint8_t *)records;
    struct weft_kernel_record record;
    if (!names->addresses)
        names->addresses = weft_map_new();
    if (!names->addresses)
        return false;
    for (size_t at = 0; at + sizeof record <= n_bytes; at += sizeof record + record.payload_bytes) {
        memcpy(&record, bytes + at, sizeof record);
        if (record.type == WEFT_KERNEL_FRAMES &&
            !see_frames(names, bytes + at + sizeof record, record.payload_bytes))
            return false;
    }
    return true;
}

/* False without memory. */
static bool weft_kernel_names_read_symbols(struct weft_kernel_names *names)
{
    if (names->has_symbols)
        return true;
    names->has_symbols = true;
    return weft_kallsyms_of_machine(&names->symbols);
}

/* Where a call returns to may be another function than where it was made. */
static bool put_line(struct weft_kernel_names *names, uint64_t address)
{
    const struct weft_str name = weft_kallsyms_find(&names->symbols, address - 1);
    if (name.n_bytes == 0 || name.n_bytes > LINE_BYTES - 32)
        return true;
    if (!weft_vec_reserve(&names->text.items, &names->text.cap, names->text.n + LINE_BYTES, 1))
        return false;
    const int n = snprintf(names->text.items + names->text.n, LINE_BYTES, "%" PRIx64 " %.*s\n",
                           address, (int)name.n_bytes, name.bytes);
    names->text.n += n > 0 ? (size_t)n : 0;
    return true;
}

/* Lines ADDRESS NAME of addresses that were not written yet. False without memory. */
static bool weft_kernel_names_tell(struct weft_kernel_names *names, struct weft_str *text)
{
    const uint32_t n_all = names->addresses ? weft_map_count(names->addresses) : 0;
    bool is_good = n_all == names->n_named || weft_kernel_names_read_symbols(names);
    names->text.n = 0;
    while (is_good && names->n_named < n_all && names->text.n < MOST_TEXT_BYTES)
        is_good = put_line(names, weft_map_key(names->addresses, names->n_named++));
    *text = (struct weft_str){ names->text.items, names->text.n };
    return is_good;
}

static void weft_kernel_names_fini(struct weft_kernel_names *names)
{
    weft_map_free(names->addresses);
    weft_kallsyms_fini(&names->symbols);
    WEFT_VEC_FINI(&names->text);
}

/* ---- kernel ---------------------------------------------------------------------------------- */

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
