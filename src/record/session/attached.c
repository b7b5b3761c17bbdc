/* SPDX-License-Identifier: MIT
 *
 * See attached.h. Between the moment at which processes are found and that at which the kernel is
 * recorded others may be forked: they are looked for again then. Later ones the kernel shows, and
 * cgroups are read again, as processes may be moved into them.
 */
#include "record/session/attached.h"

#include "base/vec.h"
#include "record/session/ticks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

static void say(const struct recorder *recorder, const char *text)
{
    if (recorder->opts->say)
        recorder->opts->say(recorder->opts->context, text);
}

enum weft_code attached_open(struct recorder *recorder, struct weft_err *err)
{
    const struct weft_recorder_opts *opts = recorder->opts;
    const struct subjects_opts subjects_opts = { .pid = opts->pid,
                                                 .name = opts->name,
                                                 .cgroup = opts->cgroup,
                                                 .container = opts->container,
                                                 .all = opts->all,
                                                 .follows = opts->follows };
    return opts->argv ? WEFT_OK : subjects_open(&subjects_opts, &recorder->subjects, err);
}

void attached_close(struct recorder *recorder)
{
    for (size_t k = 0; k < recorder->watched.n; k++)
        if (recorder->watched.items[k].fd >= 0)
            (void)close(recorder->watched.items[k].fd);
    WEFT_VEC_FINI(&recorder->watched);
    subjects_close(&recorder->subjects);
}

enum weft_code attached_add_targets(struct recorder *recorder, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && !recorder->opts->all && k < recorder->subjects.n; k++)
        code =
            weft_kernel_add_target(recorder->levels.kernel, recorder->subjects.items[k].pid, err);
    return code;
}

/* Its end is the recording's, if it is the last one of those that were asked for. */
static enum weft_code watch(struct recorder *recorder, uint32_t pid, struct weft_err *err)
{
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0 && errno == ESRCH)
        return WEFT_OK;
    if (fd < 0)
        return weft_fail_errno(err, errno, "cannot watch process %" PRIu32, pid);
    struct pollfd *watched = WEFT_VEC_PUSH(&recorder->watched);
    if (!watched) {
        (void)close(fd);
        return weft_no_memory(err, "processes");
    }
    *watched = (struct pollfd){ .fd = fd, .events = POLLIN };
    return WEFT_OK;
}

/* Without the right to read its maps, its functions have no names. */
static void check_maps(struct recorder *recorder, uint32_t pid)
{
    char text[192];
    if (recorder->has_told_maps || proc_read(pid, "maps", &recorder->subjects.room) ||
        !proc_read(pid, "status", &recorder->subjects.room) ||
        strstr(recorder->subjects.room.items, "\nKthread:\t1") || geteuid() == 0)
        return;
    recorder->has_told_maps = true;
    (void)snprintf(text, sizeof text,
                   "process %" PRIu32 " belongs to another user: its maps cannot be read, and its "
                   "functions have no names; run weft as root",
                   pid);
    say(recorder, text);
}

static enum weft_code take_subject(struct recorder *recorder, const struct subject *subject,
                                   struct weft_err *err)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    enum weft_code code = WEFT_OK;
    check_maps(recorder, subject->pid);
    ledger_attach(recorder->ledger, subject->pid, subject->parent, now_ns);
    if (subject->is_root && !recorder->opts->all)
        code = watch(recorder, subject->pid, err);
    return code == WEFT_OK ? followed_add(&recorder->followed, subject->pid, subject->parent,
                                          recorder->start_ns, err)
                           : code;
}

static void say_subjects(const struct recorder *recorder)
{
    const struct subjects *subjects = &recorder->subjects;
    struct proc_text room = { 0 };
    char processes[192], text[256];
    struct tree *tree = subjects->n > 1 && !recorder->opts->all ? calloc(1, sizeof *tree) : NULL;
    if (!tree)
        return;
    for (; tree->n < subjects->n && tree->n < TREE_MAX; tree->n++)
        tree->pids[tree->n] = subjects->items[tree->n].pid;
    tree_print(tree, processes, sizeof processes, &room);
    (void)snprintf(text, sizeof text, "recording %s", processes);
    say(recorder, text);
    proc_text_fini(&room);
    free(tree);
}

static enum weft_code take_new(struct recorder *recorder, struct weft_err *err)
{
    struct subjects *subjects = &recorder->subjects;
    size_t n_before = 0;
    enum weft_code code = subjects_look_again(subjects, &n_before, err);
    for (size_t k = n_before; code == WEFT_OK && k < subjects->n; k++) {
        if (!recorder->opts->all)
            code = weft_kernel_add_target(recorder->levels.kernel, subjects->items[k].pid, err);
        WEFT_THEN(code, take_subject(recorder, &subjects->items[k], err));
    }
    return code;
}

enum weft_code attached_begin(struct recorder *recorder, struct weft_err *err)
{
    const struct subjects *subjects = &recorder->subjects;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < subjects->n; k++)
        code = take_subject(recorder, &subjects->items[k], err);
    WEFT_THEN(code, take_new(recorder, err));
    if (code == WEFT_OK && !recorder->opts->all && attached_is_over(recorder))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         subjects->n == 1 ? "process %" PRIu32 " ended before it could be recorded"
                                          : "process %" PRIu32
                                            " and the others ended before they could be recorded",
                         subjects->items[0].pid);
    say_subjects(recorder);
    return code;
}

/* Only cgroups get processes that no fork or exec shows. */
enum weft_code attached_poll(struct recorder *recorder, struct weft_err *err)
{
    return recorder->subjects.cgroup[0] ? take_new(recorder, err) : WEFT_OK;
}

enum weft_code attached_take_exec(struct recorder *recorder, uint32_t pid, const char *path,
                                  size_t n_path, struct weft_err *err)
{
    struct subjects *subjects = &recorder->subjects;
    const size_t n_before = subjects->n;
    char text[PATH_BYTES];
    (void)snprintf(text, sizeof text, "%.*s", (int)strnlen(path, n_path), path);
    if (recorder->opts->all)
        return followed_add(&recorder->followed, pid, 0, session_clock_ns(CLOCK_MONOTONIC), err);
    if (!subjects->of_pid || !subjects_is_named(subjects, text))
        return WEFT_OK;
    WEFT_TRY(subjects_add(subjects, pid, err));
    if (subjects->n == n_before)
        return WEFT_OK;
    WEFT_TRY(weft_kernel_add_target(recorder->levels.kernel, pid, err));
    return take_subject(recorder, &subjects->items[n_before], err);
}

bool attached_is_over(struct recorder *recorder)
{
    size_t n_left = 0;
    for (size_t k = 0; k < recorder->watched.n; k++) {
        struct pollfd *watched = &recorder->watched.items[k];
        if (poll(watched, 1, 0) > 0) {
            (void)close(watched->fd);
            continue;
        }
        recorder->watched.items[n_left++] = *watched;
    }
    recorder->watched.n = n_left;
    return n_left == 0;
}

int attached_fd(const struct recorder *recorder)
{
    return recorder->watched.n ? recorder->watched.items[0].fd : -1;
}
