/* SPDX-License-Identifier: MIT
 *
 * Where no kernel records them, processes of the program are looked for in /proc: children of those
 * that are known, their threads, and what they run.
 */
#include "base/vec.h"
#include "record/session/ledger_table.h"
#include "record/session/ticks.h"
#include "schema/recording.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Threads of a process whose children are asked for at a time: the journal has those of the rest.
 */
enum { MOST_THREADS = 64, MOST_ANCESTORS = 64 };

/* Is there a process of this number now? */
static bool is_there(uint32_t pid)
{
    return pid < WEFT_NUMBER_UNKNOWN && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

static bool descends(struct ledger *ledger, uint32_t parent)
{
    uint32_t at = parent;
    for (int k = 0; k < MOST_ANCESTORS && at != 0; k++) {
        const struct ledger_process *process = ledger_of_pid(ledger, at);
        if (at == (uint32_t)getpid() || (process && process->end_ns == WEFT_LEDGER_NO_TIME))
            return true;
        at = is_there(at) ? proc_parent(at, &ledger->room) : 0;
    }
    return false;
}

/* One that is not a child of the recorder's when its parent has ended. */
static bool is_orphan_of(struct ledger *ledger, uint32_t pid, uint32_t parent)
{
    const bool is_new =
        proc_start(pid, &ledger->room) >= proc_start((uint32_t)getpid(), &ledger->room);
    return is_new && !is_there(parent) && ledger_of_pid(ledger, parent) &&
           proc_parent(pid, &ledger->room) != 0;
}

bool ledger_is_stranger(struct ledger *ledger, uint32_t pid, uint32_t parent)
{
    return is_there(pid) && !descends(ledger, proc_parent(pid, &ledger->room)) &&
           !is_orphan_of(ledger, pid, parent);
}

bool ledger_has_place(struct ledger *ledger, uint32_t pid, uint32_t parent)
{
    return is_there(pid) ? !ledger_is_stranger(ledger, pid, parent) : descends(ledger, parent);
}

/* It is a copy of its parent, unless it runs another program by now. */
static void meet_child(struct ledger *ledger, uint32_t pid, uint32_t parent)
{
    const struct ledger_process *known = ledger_of_pid(ledger, pid);
    char exe[PATH_MAX];
    const bool has_exe = proc_link(pid, "exe", exe, sizeof exe);
    /* One that has ended and was not waited for yet runs nothing. */
    if (known && (known->end_ns == WEFT_LEDGER_NO_TIME || !has_exe))
        return;
    /* One of another namespace may have been reported, and not been found, before. */
    if (ledger->opts.spaces &&
        namespaces_meet(ledger->opts.spaces, pid, &ledger->numbers_room) != pid)
        return;
    /* Later than all that was seen of it. */
    struct ledger_process *child =
        ledger_add(ledger, pid, parent, session_clock_ns(CLOCK_MONOTONIC));
    if (!child)
        return;
    if (has_exe)
        child->name = child->exe = ledger_name(ledger, exe);
    const struct ledger_process *of = ledger_of_pid(ledger, parent);
    child->is_orphan = !of;
    child->image.is_exec = !of || (has_exe && of->exe && !ledger_is_name(ledger, of->exe, exe));
    if (!child->image.is_exec)
        ledger_inherit(ledger, child, of);
    child->is_changed = true;
}

static void meet_children(struct ledger *ledger, uint32_t pid, uint32_t tid)
{
    char name[48];
    (void)snprintf(name, sizeof name, "task/%" PRIu32 "/children", tid);
    if (!proc_read(pid, name, &ledger->room))
        return;
    char *at = ledger->room.items;
    for (char *end; *at; at = end) {
        const unsigned long child = strtoul(at, &end, 10);
        if (end == at)
            break;
        if (child && child <= UINT32_MAX)
            meet_child(ledger, (uint32_t)child, pid);
    }
}

/* Its threads now. */
static uint32_t look_at_threads(struct ledger *ledger, uint32_t pid)
{
    char path[64];
    uint32_t n_threads = 0;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        n_threads += tid != 0;
        if (tid && n_threads <= MOST_THREADS)
            meet_children(ledger, pid, tid);
    }
    if (folder)
        (void)closedir(folder);
    return n_threads;
}

/* Does it run another program than the one that is known, without a word of its library? */
static void look_at_program(struct ledger *ledger, struct ledger_process *process)
{
    char exe[PATH_MAX];
    if (!proc_link(process->pid, "exe", exe, sizeof exe))
        return;
    if (!process->exe && process->image.is_exec && ledger_is_name(ledger, process->exe_before, exe))
        return; /* what the journal says that it will run, it does not run yet */
    const bool is_same = ledger_is_name(ledger, process->exe, exe);
    const uint32_t name = is_same ? process->exe : ledger_name(ledger, exe);
    if (process->exe && !is_same && !process->image.is_stub)
        ledger_exec(ledger, process, session_clock_ns(CLOCK_MONOTONIC));
    process->is_changed |= name != process->name;
    process->name = process->exe = name;
}

void ledger_scan(struct ledger *ledger)
{
    if (!ledger || !ledger->has_begun || ledger->has_kernel || ledger->is_finished)
        return;
    meet_children(ledger, (uint32_t)getpid(), (uint32_t)getpid()); /* orphans */
    for (size_t k = 0; k < ledger->processes.n; k++) {
        const uint32_t pid = ledger->processes.items[k].pid;
        if (ledger->processes.items[k].end_ns != WEFT_LEDGER_NO_TIME)
            continue;
        if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
            ledger_ended(ledger, pid, session_clock_ns(CLOCK_MONOTONIC));
            continue;
        }
        const uint32_t n_threads = look_at_threads(ledger, pid);
        struct ledger_process *process = &ledger->processes.items[k];
        process->n_seen_threads =
            n_threads > process->n_seen_threads ? n_threads : process->n_seen_threads;
        look_at_program(ledger, process);
    }
}
