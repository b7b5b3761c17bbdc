/* SPDX-License-Identifier: MIT
 *
 * See tasks.h.
 */
#include "record/kernel/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t state_of(char letter)
{
    static const char letters[] = "SDTtXZPI"; /* a bit each, from bit 0 */
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? UINT32_C(1) << (at - letters) : 0;
}

bool weft_task_parse(const char *line, struct weft_task *task)
{
    const char *const name = strchr(line, '(');
    const char *const end = strrchr(line, ')'); /* a name may hold one */
    if (!name || !end || end < name || end[1] != ' ')
        return false;
    const size_t n_bytes = (size_t)(end - name) - 1;
    memset(task->comm, 0, sizeof task->comm);
    memcpy(task->comm, name + 1, n_bytes < sizeof task->comm ? n_bytes : sizeof task->comm - 1);
    task->state = state_of(end[2]);
    task->tid = (uint32_t)strtoul(line, NULL, 10);
    return task->tid > 0;
}

static bool read_task(uint32_t pid, const char *tid, struct weft_task *task)
{
    char path[64], line[512];
    (void)snprintf(path, sizeof path, "/proc/%u/task/%.10s/stat", pid, tid);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    const bool is_read = fgets(line, sizeof line, file) != NULL;
    (void)fclose(file);
    task->pid = pid;
    return is_read && weft_task_parse(line, task);
}

static enum weft_code each_of(uint32_t pid, weft_task_fn fn, void *context, struct weft_err *err)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%u/task", pid);
    DIR *folder = opendir(path);
    enum weft_code code = WEFT_OK;
    struct weft_task task;
    for (struct dirent *entry; code == WEFT_OK && folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]) && read_task(pid, entry->d_name, &task))
            code = fn(context, &task, err);
    if (folder)
        (void)closedir(folder);
    return code;
}

enum weft_code weft_tasks_each(uint32_t pid, weft_task_fn fn, void *context, struct weft_err *err)
{
    if (pid != 0)
        return each_of(pid, fn, context, err);
    DIR *folder = opendir("/proc");
    enum weft_code code = WEFT_OK;
    for (struct dirent *entry; code == WEFT_OK && folder && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]))
            code = each_of((uint32_t)strtoul(entry->d_name, NULL, 10), fn, context, err);
    if (folder)
        (void)closedir(folder);
    return code;
}
