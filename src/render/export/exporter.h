/* SPDX-License-Identifier: MIT
 *
 * What an export format implements, and what it may use. The driver (export.c) walks the threads
 * and calls it back; a format writes to the output and keeps a state of its own.
 */
#ifndef WEFT_RENDER_EXPORT_EXPORTER_H
#define WEFT_RENDER_EXPORT_EXPORTER_H

#include "base/arena.h"
#include "render/export/export.h"
#include "render/put.h"

struct weft_exporter {
    const struct weft_export_opts *opts;
    const struct weft_trace *trace;
    struct weft_output *out;
    struct weft_export_totals *totals;
    void *state; /* of the format: state_bytes, zeroed */

    /* The thread now written. */
    uint32_t thread_id;
    const struct weft_model_thread *thread;
    struct weft_str thread_label; /* its name, with its tid if others have the same name */

    /* Fragments of output by function, made at first use (format's `label`). */
    struct weft_str *labels;
    struct weft_arena *arena;
    struct weft_output *scratch;
};

struct weft_export_format_ops {
    size_t state_bytes;
    uint32_t event_kinds; /* that it writes; bit k: enum weft_event_kind k */
    bool wants_self;      /* self times at entries */
    bool wants_args;      /* arguments of calls */
    bool merges_threads;  /* identifies threads by process and thread id alone */
    /* All may be NULL but `enter`. Failures of memory go to the output (weft_output_fail). */
    void (*begin)(struct weft_exporter *exporter);
    void (*thread_begin)(struct weft_exporter *exporter);
    void (*enter)(struct weft_exporter *exporter, const struct weft_walk_call *call);
    void (*leave)(struct weft_exporter *exporter, const struct weft_walk_call *call);
    void (*calls_end)(struct weft_exporter *exporter);
    void (*event)(struct weft_exporter *exporter, const struct weft_event *event);
    void (*thread_end)(struct weft_exporter *exporter);
    void (*end)(struct weft_exporter *exporter);
    void (*fini)(struct weft_exporter *exporter);
    /* Writes to `exporter->scratch` what stands for a function. */
    void (*label)(struct weft_exporter *exporter, uint32_t function_id);
};

extern const struct weft_export_format_ops weft_export_chrome, weft_export_perfetto,
    weft_export_folded, weft_export_csv, weft_export_speedscope;

/* Keeps "no memory" in the output. */
void weft_exporter_no_memory(struct weft_exporter *exporter);

/* The slow half of weft_exporter_label. */
struct weft_str weft_exporter_make_label(struct weft_exporter *exporter, uint32_t function_id);

/* The fragment of a function; empty after a failure. */
static inline struct weft_str weft_exporter_label(struct weft_exporter *exporter,
                                                  uint32_t function_id)
{
    struct weft_str label = exporter->labels[function_id];
    return label.bytes ? label : weft_exporter_make_label(exporter, function_id);
}

/* The arguments of a call as members of a JSON object, without its braces: texts that are JSON
 * objects give their members, other texts "args"; numbers "arg0", "arg1" ... False if there are
 * none, and nothing was written. */
bool weft_put_json_args(struct weft_output *out, const struct weft_walk_call *call);

/* The names of the flags (enum weft_call_flag) that are set, each between two `quote`, one from the
 * other by `separator`. */
void weft_put_flags(struct weft_output *out, uint32_t flags, const char *quote,
                    const char *separator);

/* A decimal number. */
void weft_put_number(struct weft_output *out, uint64_t value);

#endif
