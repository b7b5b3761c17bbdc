/* SPDX-License-Identifier: MIT
 *
 * Descendants are found by the files task/TID/children, one level after the other. The names of
 * processes are foreign text: only printable ASCII passes.
 */
#include "record/session/tree.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 3, NAME_BYTES = 16 };

static void add_children(uint32_t pid, const char *tid, struct tree *tree, struct proc_text *room)
{
    char name[64];
    (void)snprintf(name, sizeof name, "task/%.20s/children", tid);
    if (!proc_read(pid, name, room))
        return;
    for (char *at = room->items, *end; tree->n < TREE_MAX; at = end) {
        const unsigned long child = strtoul(at, &end, 10);
        if (end == at)
            break;
        tree->pids[tree->n++] = (uint32_t)child;
    }
}

static void add_level(uint32_t pid, struct tree *tree, struct proc_text *room)
{
    char path[48];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/task", pid);
    DIR *tasks = opendir(path);
    for (struct dirent *entry; tasks && (entry = readdir(tasks));)
        if (entry->d_name[0] != '.')
            add_children(pid, entry->d_name, tree, room);
    if (tasks)
        (void)closedir(tasks);
}

void tree_children(uint32_t pid, struct tree *tree, struct proc_text *room)
{
    tree->n = 0;
    add_level(pid, tree, room);
}

void tree_find(uint32_t pid, struct tree *tree, struct proc_text *room)
{
    size_t n_alive = 0;
    tree->n = 0;
    add_level(pid, tree, room);
    for (size_t k = 0; k < tree->n; k++)
        add_level(tree->pids[k], tree, room);
    for (size_t k = 0; k < tree->n; k++)
        if (proc_is_alive(tree->pids[k], room))
            tree->pids[n_alive++] = tree->pids[k];
    tree->n = n_alive;
}

static void copy_name(uint32_t pid, char name[NAME_BYTES], struct proc_text *room)
{
    size_t n = 0;
    if (!proc_read(pid, "comm", room))
        room->n = 0;
    for (; n < room->n && n < NAME_BYTES - 1 && room->items[n] != '\n'; n++)
        name[n] = room->items[n] >= ' ' && room->items[n] <= '~' ? room->items[n] : '?';
    name[n] = '\0';
}

void tree_print(const struct tree *tree, char *text, size_t n_text, struct proc_text *room)
{
    int n = snprintf(text, n_text, "%zu process%s", tree->n, tree->n == 1 ? "" : "es");
    for (size_t k = 0; k < tree->n && n >= 0 && (size_t)n < n_text; k++) {
        char name[NAME_BYTES];
        if (k == NAMES_SHOWN) {
            n += snprintf(text + n, n_text - (size_t)n, ", ...");
            break;
        }
        copy_name(tree->pids[k], name, room);
        n += snprintf(text + n, n_text - (size_t)n, "%s%s %" PRIu32, k ? ", " : " (", name,
                      tree->pids[k]);
    }
    if (tree->n && n >= 0 && (size_t)n < n_text)
        (void)snprintf(text + n, n_text - (size_t)n, ")");
}
