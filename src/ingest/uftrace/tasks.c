/* SPDX-License-Identifier: MIT
 *
 * Parses task.txt and assigns each task the latest session of its process that had started by then.
 * A line that cannot be read is counted in bytes and skipped.
 */
#include "ingest/uftrace/tasks.h"

#include "base/vec.h"
#include "ingest/uftrace/text.h"

#include <stdlib.h>

static bool number(struct weft_str line, const char *key, uint64_t *value)
{
    struct weft_str word;
    return weft_uft_field(line, key, &word) && weft_uft_decimal(word, value);
}

static bool timestamp(struct weft_str line, uint64_t *time_ns)
{
    struct weft_str word;
    return weft_uft_field(line, "timestamp=", &word) && weft_uft_timestamp(word, time_ns);
}

/* A path between quotes at the end of the line; it may hold blanks. */
static bool quoted(struct weft_str line, const char *key, struct weft_str *text)
{
    size_t n_key = strlen(key);
    const char *at = line.n_bytes ? memmem(line.bytes, line.n_bytes, key, n_key) : NULL;
    if (!at)
        return false;
    const char *begin = at + n_key;
    const char *end = line.bytes + line.n_bytes;
    while (end > begin && end[-1] != '"')
        end--;
    if (end - begin < 2 || begin[0] != '"')
        return false;
    *text = (struct weft_str){ .bytes = begin + 1, .n_bytes = (size_t)(end - begin) - 2 };
    return true;
}

/* True if the line is understood; *is_full is set without memory. */
static bool read_session(struct weft_uft_tasks *tasks, struct weft_str line, bool *is_full)
{
    struct weft_uft_session session = { 0 };
    if (!timestamp(line, &session.time_ns) || !number(line, "pid=", &session.pid) ||
        !weft_uft_field(line, "sid=", &session.sid) || !quoted(line, "exename=", &session.exe))
        return false;
    struct weft_uft_session *slot = WEFT_VEC_PUSH(&tasks->sessions);
    *is_full = !slot;
    if (slot)
        *slot = session;
    return true;
}

static bool add_task(struct weft_uft_tasks *tasks, struct weft_uft_task task, bool *is_full)
{
    struct weft_uft_task *slot = WEFT_VEC_PUSH(&tasks->tasks);
    *is_full = !slot;
    if (slot)
        *slot = task;
    return true;
}

static bool read_task(struct weft_uft_tasks *tasks, struct weft_str line, bool *is_full)
{
    struct weft_uft_task task = { 0 };
    return timestamp(line, &task.time_ns) && number(line, "tid=", &task.tid) &&
           number(line, "pid=", &task.pid) && add_task(tasks, task, is_full);
}

static bool read_fork(struct weft_uft_tasks *tasks, struct weft_str line, bool *is_full)
{
    struct weft_uft_task task = { 0 };
    if (!timestamp(line, &task.time_ns) || !number(line, "pid=", &task.pid) ||
        !number(line, "ppid=", &task.parent))
        return false;
    task.tid = task.pid;
    return add_task(tasks, task, is_full);
}

static bool read_dlopen(struct weft_uft_tasks *tasks, struct weft_str line, bool *is_full)
{
    struct weft_uft_dlopen opened = { 0 };
    struct weft_str base;
    if (!timestamp(line, &opened.time_ns) || !weft_uft_field(line, "sid=", &opened.sid) ||
        !weft_uft_field(line, "base=", &base) || !weft_uft_hex(base, &opened.base) ||
        !quoted(line, "libname=", &opened.path))
        return false;
    struct weft_uft_dlopen *slot = WEFT_VEC_PUSH(&tasks->dlopens);
    *is_full = !slot;
    if (slot)
        *slot = opened;
    return true;
}

static bool read_line(struct weft_uft_tasks *tasks, struct weft_str line, bool *is_full)
{
    if (weft_uft_take(&line, "TASK "))
        return read_task(tasks, line, is_full);
    if (weft_uft_take(&line, "SESS "))
        return read_session(tasks, line, is_full);
    if (weft_uft_take(&line, "FORK "))
        return read_fork(tasks, line, is_full);
    if (weft_uft_take(&line, "DLOP "))
        return read_dlopen(tasks, line, is_full);
    return line.n_bytes == 0;
}

/* ---- sessions of tasks ------------------------------------------------------------------------
 */

/* A session's place in order of (pid, time, line). */
struct rank {
    uint64_t pid, time_ns;
    size_t session;
};

static int compare_ranks(const void *a_void, const void *b_void)
{
    const struct rank *a = a_void;
    const struct rank *b = b_void;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->session > b->session) - (a->session < b->session);
}

/* The latest session of a process that began by then. */
static size_t session_of(const struct rank *ranks, size_t n_ranks, uint64_t pid, uint64_t time_ns)
{
    const struct rank key = { .pid = pid, .time_ns = time_ns, .session = SIZE_MAX };
    size_t low = 0;
    size_t high = n_ranks;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_ranks(&ranks[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low && ranks[low - 1].pid == pid ? ranks[low - 1].session : WEFT_UFT_NO_SESSION;
}

static enum weft_code find_sessions(struct weft_uft_tasks *tasks, struct weft_err *err)
{
    size_t n_ranks = tasks->sessions.n;
    struct rank *ranks = calloc(n_ranks + 1, sizeof *ranks);
    if (!ranks)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu sessions", n_ranks);
    for (size_t k = 0; k < n_ranks; k++)
        ranks[k] = (struct rank){ .pid = tasks->sessions.items[k].pid,
                                  .time_ns = tasks->sessions.items[k].time_ns,
                                  .session = k };
    qsort(ranks, n_ranks, sizeof *ranks, compare_ranks);
    for (size_t k = 0; k < tasks->tasks.n; k++) {
        struct weft_uft_task *task = &tasks->tasks.items[k];
        task->session = session_of(ranks, n_ranks, task->pid, task->time_ns);
        if (task->session == WEFT_UFT_NO_SESSION && task->parent)
            task->session = session_of(ranks, n_ranks, task->parent, task->time_ns);
    }
    free(ranks);
    return WEFT_OK;
}

enum weft_code weft_uft_tasks_read(const struct weft_mapped *file, struct weft_uft_tasks *tasks,
                                   struct weft_err *err)
{
    struct weft_str rest = { .bytes = (const char *)file->bytes, .n_bytes = file->n_bytes };
    struct weft_str line;
    while (weft_uft_line(&rest, &line)) {
        bool is_full = false;
        if (!read_line(tasks, line, &is_full)) {
            if (tasks->n_bad_bytes == 0)
                tasks->bad_off = (uint64_t)(line.bytes - (const char *)file->bytes);
            tasks->n_bad_bytes += line.n_bytes;
        }
        if (is_full)
            return weft_no_memory(err, "the list of tasks");
    }
    return find_sessions(tasks, err);
}

void weft_uft_tasks_fini(struct weft_uft_tasks *tasks)
{
    WEFT_VEC_FINI(&tasks->sessions);
    WEFT_VEC_FINI(&tasks->tasks);
    WEFT_VEC_FINI(&tasks->dlopens);
}
