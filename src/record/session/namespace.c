/* SPDX-License-Identifier: MIT
 *
 * Translates pids and tids of other pid namespaces by searching /proc: NSpid in status, and for a
 * process the ring file it has mapped. Results are cached by (namespace, number); a number that
 * cannot be translated is marked as unknown (WEFT_NUMBER_UNKNOWN) and stays unique.
 */
#include "record/session/namespace.h"

#include "base/vec.h"
#include "schema/recording.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Processes of other namespaces that are remembered: their numbers are theirs to write. */
enum { MOST_NUMBERS = 1 << 18, MOST_LOOKS = 4 };

/* "NSpid: 4711    12      1": what it calls itself comes last. 0: unknown. */
static uint32_t own_number(uint32_t pid, const char *name, struct proc_text *room)
{
    if (!proc_read(pid, name, room))
        return 0;
    const char *line = strstr(room->items, "\nNSpid:");
    if (!line)
        return 0;
    line += sizeof "\nNSpid:" - 1;
    uint32_t number = 0;
    for (char *end; *line && *line != '\n'; line = end) {
        const unsigned long next = strtoul(line, &end, 10);
        if (end == line)
            break;
        number = (uint32_t)next;
    }
    return number;
}

uint32_t namespace_own_number(uint32_t pid, struct proc_text *room)
{
    return own_number(pid, "status", room);
}

static uint32_t inode_of(uint32_t pid)
{
    char path[48];
    struct stat about;
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/pid", pid);
    return stat(path, &about) == 0 ? (uint32_t)about.st_ino : 0;
}

/* Is there a process of this number, and is `number` in the namespace `inode` its own? */
static bool is_called(uint32_t pid, uint32_t inode, uint32_t number, struct proc_text *room)
{
    return pid < WEFT_NUMBER_UNKNOWN && inode_of(pid) == inode &&
           own_number(pid, "status", room) == number;
}

static bool has_mapped(uint32_t pid, const char *ring, struct proc_text *room)
{
    return proc_read(pid, "maps", room) && strstr(room->items, ring);
}

/* The entry of /proc, or of a folder in it, that `is_it` says is the one; 0: none. */
struct search {
    uint32_t pid, number, inode;
    const char *ring;
    struct proc_text *room;
};

static uint32_t search_in(const char *path, const struct search *search,
                          bool (*is_it)(const struct search *, uint32_t))
{
    uint32_t found = 0;
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && !found && (entry = readdir(folder));) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);
        if (*end == '\0' && number > 0 && number < WEFT_NUMBER_UNKNOWN &&
            is_it(search, (uint32_t)number))
            found = (uint32_t)number;
    }
    if (folder)
        (void)closedir(folder);
    return found;
}

static bool is_process(const struct search *search, uint32_t pid)
{
    return is_called(pid, search->inode, search->number, search->room) &&
           has_mapped(pid, search->ring, search->room);
}

static bool is_thread(const struct search *search, uint32_t tid)
{
    char name[48];
    (void)snprintf(name, sizeof name, "task/%" PRIu32 "/status", tid);
    return own_number(search->pid, name, search->room) == search->number;
}

bool namespace_is_other(uint32_t inode)
{
    struct stat about;
    return inode && stat("/proc/self/ns/pid", &about) == 0 && (uint32_t)about.st_ino != inode;
}

uint32_t namespace_tid(uint32_t pid, uint32_t tid, struct proc_text *room)
{
    const struct search search = { .pid = pid, .number = tid, .room = room };
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    const uint32_t found = search_in(path, &search, is_thread);
    return found ? found : tid | WEFT_NUMBER_UNKNOWN;
}

/* ---- those that are known ---------------------------------------------------------------------
 */

void namespaces_fini(struct namespaces *spaces)
{
    weft_map_free(spaces->of_own);
    WEFT_VEC_FINI(&spaces->numbers);
    *spaces = (struct namespaces){ 0 };
}

void namespaces_age(struct namespaces *spaces)
{
    spaces->n_looks = 0;
}

static uint64_t key_of(uint32_t inode, uint32_t pid)
{
    return pid | (uint64_t)inode << 32;
}

/* 0: not known. */
static uint32_t namespaces_known(const struct namespaces *spaces, uint32_t inode, uint32_t pid)
{
    const uint32_t at =
        spaces->of_own ? weft_map_find(spaces->of_own, key_of(inode, pid)) : WEFT_MAP_NONE;
    return at < spaces->numbers.n ? spaces->numbers.items[at] : 0;
}

/* Without memory it is asked for again. */
static void namespaces_set(struct namespaces *spaces, uint32_t inode, uint32_t pid, uint32_t number)
{
    if (!spaces->of_own && !(spaces->of_own = weft_map_new()))
        return;
    if (spaces->numbers.n >= MOST_NUMBERS) {
        weft_map_reset(spaces->of_own);
        spaces->numbers.n = 0;
    }
    const uint32_t at = weft_map_add(spaces->of_own, key_of(inode, pid), NULL);
    while (at != WEFT_MAP_NONE && spaces->numbers.n <= at)
        if (!WEFT_VEC_PUSH(&spaces->numbers))
            return;
    if (at != WEFT_MAP_NONE)
        spaces->numbers.items[at] = number;
}

uint32_t namespaces_meet(struct namespaces *spaces, uint32_t pid, struct proc_text *room)
{
    const uint32_t inode = inode_of(pid);
    const uint32_t own = namespace_is_other(inode) ? own_number(pid, "status", room) : 0;
    const uint32_t known = own ? namespaces_known(spaces, inode, own) : pid;
    const bool is_reused = known != pid && known != 0 && known < WEFT_NUMBER_UNKNOWN &&
                           !is_called(known, inode, own, room);
    if (known != 0 && !is_reused)
        return known;
    namespaces_set(spaces, inode, own, pid);
    return pid;
}

uint32_t namespaces_writer(struct namespaces *spaces, uint32_t inode, uint32_t pid,
                           const char *ring, struct proc_text *room)
{
    const struct search search = { .number = pid, .inode = inode, .ring = ring, .room = room };
    const uint32_t known = namespaces_known(spaces, inode, pid);
    if (known != 0 && is_called(known, inode, pid, room))
        return known;
    const uint32_t found = search_in("/proc", &search, is_process);
    if (!found && known)
        return known;
    const uint32_t number = found ? found : pid | WEFT_NUMBER_UNKNOWN;
    namespaces_set(spaces, inode, pid, number);
    return number;
}

static void look_through(struct namespaces *spaces, struct proc_text *room)
{
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char *end;
        const unsigned long number = strtoul(entry->d_name, &end, 10);
        if (*end == '\0' && number > 0 && number < WEFT_NUMBER_UNKNOWN)
            (void)namespaces_meet(spaces, (uint32_t)number, room);
    }
    if (folder)
        (void)closedir(folder);
    spaces->n_looks++;
}

uint32_t namespaces_pid(struct namespaces *spaces, uint32_t inode, uint32_t pid,
                        struct proc_text *room)
{
    uint32_t number = namespaces_known(spaces, inode, pid);
    if (number)
        return number;
    if (spaces->n_looks < MOST_LOOKS) /* it may have begun since the last one */
        look_through(spaces, room);
    number = namespaces_known(spaces, inode, pid);
    if (number)
        return number;
    number = pid | WEFT_NUMBER_UNKNOWN;
    namespaces_set(spaces, inode, pid, number);
    return number;
}
