/* SPDX-License-Identifier: MIT
 *
 * See tracepoints.h.
 */
#include "record/kernel/tracepoints.h"

#include "kernel/format.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *path;
    const char *fields[WEFT_TRACEPOINT_FIELDS];
} known[WEFT_TRACEPOINTS] = {
    [WEFT_TRACEPOINT_SWITCH] = { "sched/sched_switch",
                                 { "prev_pid", "prev_state", "next_pid", "next_comm" } },
    [WEFT_TRACEPOINT_WAKING] = { "sched/sched_waking", { "pid", "target_cpu" } },
    [WEFT_TRACEPOINT_WOKEN_NEW] = { "sched/sched_wakeup_new", { "pid", "target_cpu" } },
    [WEFT_TRACEPOINT_EXEC] = { "sched/sched_process_exec", { "filename", "pid", "old_pid" } },
    [WEFT_TRACEPOINT_ISSUE] = { "block/block_rq_issue", { "dev", "sector", "bytes", "rwbs" } },
    [WEFT_TRACEPOINT_DONE] = { "block/block_rq_complete", { "dev", "sector", "nr_sector" } },
    [WEFT_TRACEPOINT_FAULT] = { "exceptions/page_fault_user", { "address", "error_code" } },
    [WEFT_TRACEPOINT_RAN] = { "sched/sched_stat_runtime", { "pid", "runtime" } },
};

bool weft_tracepoint_parse(enum weft_tracepoint which, struct weft_str text,
                           struct weft_tracepoint_format *format)
{
    *format = (struct weft_tracepoint_format){ 0 };
    for (size_t i = 0; i < WEFT_TRACEPOINT_FIELDS && known[which].fields[i]; i++)
        if (!kernel_field_in(text, weft_str_of(known[which].fields[i]), &format->fields[i].off,
                             &format->fields[i].n_bytes))
            return false;
    const char *const id = memmem(text.bytes, text.n_bytes, "ID: ", 4);
    format->id = id ? (uint32_t)strtoul(id + 4, NULL, 10) : 0;
    return format->id != 0;
}

static bool read_format(const char *root, enum weft_tracepoint which,
                        struct weft_tracepoint_format *format)
{
    char path[128], text[8192];
    (void)snprintf(path, sizeof path, "%s/events/%s/format", root, known[which].path);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const size_t n_bytes = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    text[n_bytes] = 0;
    return weft_tracepoint_parse(which, (struct weft_str){ text, n_bytes }, format);
}

void weft_tracepoints_read(struct weft_tracepoint_format formats[WEFT_TRACEPOINTS])
{
    for (enum weft_tracepoint i = 0; i < WEFT_TRACEPOINTS; i++)
        if (!read_format("/sys/kernel/tracing", i, &formats[i]) &&
            !read_format("/sys/kernel/debug/tracing", i, &formats[i]))
            formats[i] = (struct weft_tracepoint_format){ 0 };
}
