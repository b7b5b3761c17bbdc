/* SPDX-License-Identifier: MIT
 *
 * The threads that /proc shows.
 */
#ifndef WEFT_RECORD_KERNEL_TASKS_H
#define WEFT_RECORD_KERNEL_TASKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_task {
    uint32_t tid;
    uint32_t pid;
    uint32_t state; /* as sched_switch shows it */
    char comm[16];  /* filled up with zeros */
};

typedef enum weft_code (*weft_task_fn)(void *context, const struct weft_task *task,
                                       struct weft_err *err);

/* Calls `fn` with every thread of the process, or of all processes (pid 0), that can be read. Those
 * that end meanwhile are passed over. Codes of `fn`. */
WEFT_CHECKED enum weft_code weft_tasks_each(uint32_t pid, weft_task_fn fn, void *context,
                                            struct weft_err *err);

/* Reads a line of /proc/PID/task/TID/stat: "17 (a name) S ..."; false: it is none. */
bool weft_task_parse(const char *line, struct weft_task *task);

#endif
