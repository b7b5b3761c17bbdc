/* SPDX-License-Identifier: MIT
 *
 * task.txt: sessions (a program from exec on), tasks, and libraries opened later.
 *
 *     SESS timestamp=S.NS pid=P sid=ID exename="PATH"
 *     TASK timestamp=S.NS tid=T pid=P
 *     FORK timestamp=S.NS pid=CHILD ppid=PARENT
 *     DLOP timestamp=S.NS tid=T sid=ID base=HEX libname="PATH"
 */
#ifndef WEFT_INGEST_UFTRACE_TASKS_H
#define WEFT_INGEST_UFTRACE_TASKS_H

#include "base/error.h"
#include "base/file.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_UFT_NO_SESSION SIZE_MAX

struct weft_uft_session {
    uint64_t time_ns;
    uint64_t pid;
    struct weft_str sid, exe;
};

struct weft_uft_task {
    uint64_t time_ns;
    uint64_t tid, pid;
    uint64_t parent; /* FORK: the process that it comes from, else 0 */
    size_t session;  /* of its process then, or WEFT_UFT_NO_SESSION */
};

struct weft_uft_dlopen {
    uint64_t time_ns;
    uint64_t base;
    struct weft_str sid, path;
};

/* All in the order of the file; texts are views of it. A tid has several rows after an exec. */
struct weft_uft_tasks {
    struct {
        struct weft_uft_session *items;
        size_t n, cap;
    } sessions;
    struct {
        struct weft_uft_task *items;
        size_t n, cap;
    } tasks;
    struct {
        struct weft_uft_dlopen *items;
        size_t n, cap;
    } dlopens;
    uint64_t n_bad_bytes; /* of lines that are none of these */
    uint64_t bad_off;
};

/* NOMEM only: what cannot be read is counted. The caller frees, also after a failure. */
WEFT_CHECKED enum weft_code weft_uft_tasks_read(const struct weft_mapped *file,
                                                struct weft_uft_tasks *tasks, struct weft_err *err);
void weft_uft_tasks_fini(struct weft_uft_tasks *tasks);

#endif
