/* SPDX-License-Identifier: MIT
 *
 * See followed.h. A program maps its libraries a little after it began, and may load others later:
 * its maps are read at once, and again after ever longer pauses.
 */
#include "record/session/followed.h"

#include "base/vec.h"
#include "record/session/ticks.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RING_NS = 30000000, /* in which a program that loads a library of weft has made its rings */
    FIRST_NS = 20000000,
    MOST_DOUBLINGS = 9, /* at most 10 s between two looks */
};

bool followed_open(struct followed *followed, struct programs *programs, bool has_library,
                   bool follows)
{
    *followed = (struct followed){ .programs = programs,
                                   .has_library = has_library,
                                   .follows = follows,
                                   .of_tid = weft_map_new() };
    return followed->of_tid != NULL;
}

void followed_close(struct followed *followed)
{
    weft_map_free(followed->of_tid);
    WEFT_VEC_FINI(&followed->by_tid);
    WEFT_VEC_FINI(&followed->processes);
    WEFT_VEC_FINI(&followed->unused);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

static struct followed_process *process_of(const struct followed *followed, uint32_t tid)
{
    const uint32_t at = weft_map_find(followed->of_tid, tid);
    return at == WEFT_MAP_NONE || followed->by_tid.items[at] == 0
               ? NULL
               : &followed->processes.items[followed->by_tid.items[at] - 1];
}

/* False without memory. */
static bool set_thread(struct followed *followed, uint32_t tid, struct followed_process *process)
{
    const uint32_t at = weft_map_add(followed->of_tid, tid, NULL);
    while (at != WEFT_MAP_NONE && followed->by_tid.n <= at)
        if (!WEFT_VEC_PUSH(&followed->by_tid))
            return false;
    if (at == WEFT_MAP_NONE)
        return false;
    const uint32_t place = process ? (uint32_t)(process - followed->processes.items) + 1 : 0;
    process = process_of(followed, tid);
    if (process && followed->by_tid.items[at] != place)
        process->n_threads -= process->n_threads > 0;
    if (place && followed->by_tid.items[at] != place)
        followed->processes.items[place - 1].n_threads++;
    followed->by_tid.items[at] = place;
    return true;
}

static struct followed_process *add(struct followed *followed, uint32_t pid, uint32_t parent,
                                    uint64_t start_ns)
{
    struct followed_process *process;
    if (followed->unused.n > 0)
        process = &followed->processes.items[followed->unused.items[--followed->unused.n]];
    else
        process = WEFT_VEC_PUSH(&followed->processes);
    if (process)
        *process = (struct followed_process){ .pid = pid, .parent = parent, .start_ns = start_ns };
    return process && set_thread(followed, pid, process) ? process : NULL;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void look_later(struct followed_process *process, uint64_t now_ns)
{
    const uint32_t n = process->n_looks < MOST_DOUBLINGS ? process->n_looks : MOST_DOUBLINGS;
    process->n_looks++;
    process->due_ns = now_ns + ((uint64_t)FIRST_NS << n);
}

static enum weft_code tell(struct followed *followed, struct followed_process *process,
                           uint64_t now_ns, struct weft_err *err)
{
    const struct program_news news = { .pid = process->pid,
                                       .parent = process->parent,
                                       .start_ns = process->start_ns,
                                       .maps_mark = &process->maps_mark,
                                       .is_new = !process->is_told };
    process->is_told = true;
    look_later(process, now_ns);
    return programs_tell(followed->programs, &news, err);
}

enum weft_code followed_add(struct followed *followed, uint32_t pid, uint32_t parent,
                            uint64_t start_ns, struct weft_err *err)
{
    const uint64_t now_ns = session_clock_ns(CLOCK_MONOTONIC);
    char path[48];
    bool is_good = true;
    if (process_of(followed, pid))
        return WEFT_OK;
    struct followed_process *process = add(followed, pid, parent, start_ns);
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *folder = process ? opendir(path) : NULL;
    for (struct dirent *entry; is_good && folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            is_good = set_thread(followed, (uint32_t)strtoul(entry->d_name, NULL, 10), process);
    if (folder)
        (void)closedir(folder);
    if (!process || !is_good)
        return weft_no_memory(err, "processes");
    process->seen_ns = now_ns;
    process->due_ns = now_ns + RING_NS;
    return followed->has_library ? WEFT_OK : tell(followed, process, now_ns, err);
}

/* ---- records ----------------------------------------------------------------------------------
 */

static enum weft_code take_fork(struct followed *followed, const struct weft_kernel_record *record,
                                struct weft_err *err)
{
    struct followed_process *parent = process_of(followed, record->tid);
    const uint32_t tid = (uint32_t)record->a, pid = (uint32_t)(record->a >> 32);
    if (!parent || parent->pid == pid || !followed->follows) {
        struct followed_process *of = parent && parent->pid == pid ? parent : NULL;
        return (!of && !process_of(followed, tid)) || set_thread(followed, tid, of)
                   ? WEFT_OK
                   : weft_no_memory(err, "processes");
    }
    const struct followed_process *known = process_of(followed, tid);
    if (known && known->pid == pid && known->seen_ns >= record->time_ns)
        return WEFT_OK; /* /proc has shown it before */
    const uint32_t parent_pid = parent->pid;
    const bool is_told = parent->is_told && !parent->has_library;
    struct followed_process *child = add(followed, pid, parent_pid, record->time_ns);
    if (!child)
        return weft_no_memory(err, "processes");
    child->due_ns = UINT64_MAX; /* until it runs another program, it has its parent's */
    child->has_library = !is_told;
    /* Also of one that has a library: it may never make a ring. */
    return programs_tell_fork(followed->programs, pid, parent_pid, record->time_ns, err);
}

static enum weft_code take_exec(struct followed *followed, const struct weft_kernel_record *record,
                                struct weft_err *err)
{
    const uint32_t pid = (uint32_t)record->a, old_tid = (uint32_t)(record->a >> 32);
    struct followed_process *process = process_of(followed, record->tid);
    if (!process)
        process = process_of(followed, pid);
    if (!process || process->pid != pid)
        return WEFT_OK;
    if (!set_thread(followed, pid, process) ||
        (old_tid != pid && !set_thread(followed, old_tid, NULL)))
        return weft_no_memory(err, "processes");
    process->n_threads = 1; /* the others have ended */
    process->is_told = process->has_library = false;
    process->n_looks = 0;
    process->start_ns = record->time_ns;
    process->due_ns = record->time_ns + RING_NS;
    return followed->has_library ? WEFT_OK : tell(followed, process, record->time_ns, err);
}

static enum weft_code take_exit(struct followed *followed, const struct weft_kernel_record *record,
                                struct weft_err *err)
{
    struct followed_process *process = process_of(followed, record->tid);
    if (!process)
        return WEFT_OK;
    if (!set_thread(followed, record->tid, NULL))
        return weft_no_memory(err, "processes");
    if (process->n_threads > 0)
        return WEFT_OK;
    uint32_t *place = WEFT_VEC_PUSH(&followed->unused);
    if (!place)
        return weft_no_memory(err, "processes");
    *place = (uint32_t)(process - followed->processes.items);
    return process->has_library || (followed->has_library && !process->is_told)
               ? WEFT_OK
               : programs_tell_end(followed->programs, process->pid, record->time_ns, err);
}

enum weft_code followed_take(struct followed *followed, const struct weft_kernel_record *record,
                             struct weft_err *err)
{
    if (!followed->of_tid)
        return WEFT_OK;
    switch (record->type) {
    case WEFT_KERNEL_FORK:
        return take_fork(followed, record, err);
    case WEFT_KERNEL_EXEC:
        return take_exec(followed, record, err);
    case WEFT_KERNEL_EXIT:
        return take_exit(followed, record, err);
    default:
        return WEFT_OK;
    }
}

enum weft_code followed_poll(struct followed *followed, uint64_t now_ns, bool all,
                             struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < followed->processes.n; k++) {
        struct followed_process *process = &followed->processes.items[k];
        if (process->n_threads == 0 || process->has_library ||
            (process->due_ns > now_ns && !(all && process->is_told)) ||
            process->due_ns == UINT64_MAX)
            continue;
        process->has_library = programs_has(followed->programs, process->pid);
        if (!process->has_library)
            code = tell(followed, process, now_ns, err);
    }
    return code;
}
