/* SPDX-License-Identifier: MIT */
#include "record/session/namespace.h"

#include "schema/recording.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "NSpid:	4711	12	1": what it calls itself comes last. 0: it is not told. */
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

static bool has_mapped(uint32_t pid, const char *ring, struct proc_text *room)
{
    return proc_read(pid, "maps", room) && strstr(room->items, ring);
}

/* The entry of /proc, or of a folder in it, that `is_it` says is the one; 0: none. */
struct search {
    uint32_t pid, number;
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
    return own_number(pid, "status", search->room) == search->number &&
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

uint32_t namespace_pid(uint32_t pid, const char *ring, struct proc_text *room)
{
    const struct search search = { .number = pid, .ring = ring, .room = room };
    const uint32_t found = search_in("/proc", &search, is_process);
    return found ? found : pid | WEFT_NUMBER_UNKNOWN;
}

uint32_t namespace_tid(uint32_t pid, uint32_t tid, struct proc_text *room)
{
    const struct search search = { .pid = pid, .number = tid, .room = room };
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    const uint32_t found = search_in(path, &search, is_thread);
    return found ? found : tid | WEFT_NUMBER_UNKNOWN;
}
