/* SPDX-License-Identifier: MIT
 *
 * See subjects.h. Everything is looked up in /proc and /sys/fs/cgroup, where a process may end at
 * any time: one that is gone is left out. The recorder itself is no subject.
 */
#include "record/session/subjects.h"

#include "base/vec.h"
#include "record/session/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

enum { COMM_BYTES = 15, MOST_DEPTH = 24, LEAST_ID_BYTES = 4, FULL_ID_BYTES = 64 };

/* ---- processes --------------------------------------------------------------------------------
 */

static enum weft_code add(struct subjects *subjects, uint32_t pid, bool is_root,
                          struct weft_err *err)
{
    bool is_new;
    if (pid == 0 || pid == (uint32_t)getpid() || !proc_is_alive(pid, &subjects->room))
        return WEFT_OK;
    const uint32_t place = weft_map_add(subjects->of_pid, pid, &is_new);
    if (place == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(subjects)))
        return weft_no_memory(err, "processes");
    if (is_new)
        subjects->items[place] =
            (struct subject){ .pid = pid, .parent = proc_parent(pid, &subjects->room) };
    subjects->items[place].is_root |= is_root;
    subjects->n_matched += is_root;
    return WEFT_OK;
}

enum weft_code subjects_add(struct subjects *subjects, uint32_t pid, struct weft_err *err)
{
    return add(subjects, pid, true, err);
}

/* What descends from those that are known. */
static enum weft_code add_descendants(struct subjects *subjects, struct weft_err *err)
{
    struct tree *tree = subjects->opts.follows ? malloc(sizeof *tree) : NULL;
    enum weft_code code = WEFT_OK;
    if (subjects->opts.follows && !tree)
        return weft_no_memory(err, "processes");
    for (size_t k = 0; tree && code == WEFT_OK && k < subjects->n; k++) {
        tree_children(subjects->items[k].pid, tree, &subjects->room);
        for (size_t i = 0; code == WEFT_OK && i < tree->n; i++)
            code = add(subjects, tree->pids[i], false, err);
    }
    free(tree);
    return code;
}

static enum weft_code each_process(struct subjects *subjects,
                                   bool (*is_meant)(struct subjects *, uint32_t pid),
                                   struct weft_err *err)
{
    DIR *folder = opendir("/proc");
    enum weft_code code = WEFT_OK;
    for (struct dirent *entry; code == WEFT_OK && folder && (entry = readdir(folder));) {
        const uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && is_meant(subjects, pid))
            code = add(subjects, pid, true, err);
    }
    if (folder)
        (void)closedir(folder);
    return code;
}

/* Threads of the kernel run no program. */
static bool is_any(struct subjects *subjects, uint32_t pid)
{
    char exe[PATH_MAX];
    (void)subjects;
    return proc_link(pid, "exe", exe, sizeof exe);
}

bool subjects_is_named(const struct subjects *subjects, const char *path)
{
    const char *slash = strrchr(path, '/');
    return subjects->opts.name && strcmp(slash ? slash + 1 : path, subjects->opts.name) == 0;
}

/* The kernel's name is cut; a program may also have given itself another one. */
static bool is_named(struct subjects *subjects, uint32_t pid)
{
    const char *name = subjects->opts.name;
    char exe[PATH_MAX];
    if (proc_read(pid, "comm", &subjects->room)) {
        struct weft_str comm = { subjects->room.items, strcspn(subjects->room.items, "\n") };
        struct weft_str asked = weft_str_of(name);
        if (weft_str_equal(comm, asked) ||
            (asked.n_bytes > COMM_BYTES && comm.n_bytes == COMM_BYTES &&
             memcmp(comm.bytes, name, COMM_BYTES) == 0 && !proc_link(pid, "exe", exe, sizeof exe)))
            return true;
    }
    return proc_link(pid, "exe", exe, sizeof exe) && subjects_is_named(subjects, exe);
}

static enum weft_code find_process(struct subjects *subjects, struct weft_err *err)
{
    const uint32_t pid = subjects->opts.pid;
    if (!proc_read(pid, "status", &subjects->room))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "there is no process %" PRIu32, pid);
    const char *group = strstr(subjects->room.items, "\nTgid:");
    const uint32_t leader = group ? (uint32_t)strtoul(group + 6, NULL, 10) : pid;
    const char *state = strstr(subjects->room.items, "\nState:\t");
    if (leader != pid)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "%" PRIu32 " is a thread of process %" PRIu32 ": use -p %" PRIu32, pid,
                         leader, leader);
    if (state && (state[8] == 'Z' || state[8] == 'X'))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "process %" PRIu32 " has ended", pid);
    return add(subjects, pid, true, err);
}

/* ---- cgroups ----------------------------------------------------------------------------------
 */

static bool is_cgroup(const char *path)
{
    char file[PATH_MAX];
    return snprintf(file, sizeof file, "%s/cgroup.procs", path) < (int)sizeof file &&
           access(file, F_OK) == 0;
}

static bool take_cgroup(struct subjects *subjects, const char *front, const char *path)
{
    char text[sizeof subjects->cgroup];
    const bool is_found = snprintf(text, sizeof text, "%s%s%s", front,
                                   *front && *path != '/' ? "/" : "", path) < (int)sizeof text &&
                          is_cgroup(text);
    if (is_found)
        memcpy(subjects->cgroup, text, sizeof text);
    return is_found;
}

/* The whole path, one below the mount, or, in version 1, below a hierarchy of it. */
static bool find_cgroup(struct subjects *subjects, const char *path)
{
    char front[PATH_MAX];
    if (strstr(path, "..") || take_cgroup(subjects, "", path) ||
        take_cgroup(subjects, CGROUPS, path))
        return subjects->cgroup[0] != '\0';
    DIR *folder = opendir(CGROUPS);
    bool is_found = false;
    for (struct dirent *entry; !is_found && folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' &&
            snprintf(front, sizeof front, CGROUPS "/%s", entry->d_name) < (int)sizeof front)
            is_found = take_cgroup(subjects, front, path);
    if (folder)
        (void)closedir(folder);
    return is_found;
}

static enum weft_code add_cgroup(struct subjects *subjects, const char *path, unsigned depth,
                                 struct weft_err *err)
{
    char below[PATH_MAX];
    struct stat about;
    enum weft_code code = WEFT_OK;
    DIR *folder = opendir(path);
    FILE *file = snprintf(below, sizeof below, "%s/cgroup.procs", path) < (int)sizeof below
                     ? fopen(below, "re")
                     : NULL;
    for (uint32_t pid; code == WEFT_OK && file && fscanf(file, "%" SCNu32, &pid) == 1;)
        code = add(subjects, pid, true, err);
    if (file)
        (void)fclose(file);
    for (struct dirent *entry; code == WEFT_OK && folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && depth < MOST_DEPTH &&
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below &&
            lstat(below, &about) == 0 && S_ISDIR(about.st_mode))
            code = add_cgroup(subjects, below, depth + 1, err);
    if (folder)
        (void)closedir(folder);
    return code;
}

/* ---- containers -------------------------------------------------------------------------------
 */

/* What of a cgroup's name is the container's: "docker-ID.scope", "libpod-ID.scope",
 * "cri-containerd-ID.scope", "lxc.payload.NAME", "systemd-nspawn@NAME.service",
 * "machine-NAME.scope"; of others all. */
static struct weft_str container_of(const char *name)
{
    static const char *const fronts[] = { "docker-",  "libpod-",       "cri-containerd-",
                                          "crio-",    "lxc.payload.",  "systemd-nspawn@",
                                          "machine-", "libpod_parent-" };
    static const char *const ends[] = { ".scope", ".service" };
    struct weft_str text = weft_str_of(name);
    for (size_t k = 0; k < sizeof fronts / sizeof *fronts; k++)
        if (strncmp(name, fronts[k], strlen(fronts[k])) == 0) {
            text = weft_str_of(name + strlen(fronts[k]));
            break;
        }
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        const size_t n_end = strlen(ends[k]);
        if (text.n_bytes > n_end && memcmp(text.bytes + text.n_bytes - n_end, ends[k], n_end) == 0)
            text.n_bytes -= n_end;
    }
    return text;
}

static bool is_hex(struct weft_str text)
{
    for (size_t k = 0; k < text.n_bytes; k++)
        if (!isxdigit((unsigned char)text.bytes[k]))
            return false;
    return text.n_bytes > 0;
}

static bool is_container(const char *name, const char *id)
{
    const struct weft_str found = container_of(name), asked = weft_str_of(id);
    if (weft_str_equal(found, asked))
        return true;
    return asked.n_bytes >= LEAST_ID_BYTES && found.n_bytes == FULL_ID_BYTES && is_hex(found) &&
           asked.n_bytes < found.n_bytes && memcmp(found.bytes, asked.bytes, asked.n_bytes) == 0;
}

/* In version 1 each hierarchy has a folder of the container: any of them will do. */
static enum weft_code find_container(struct subjects *subjects, const char *path, unsigned depth,
                                     struct weft_err *err)
{
    char below[PATH_MAX];
    struct stat about;
    enum weft_code code = WEFT_OK;
    DIR *folder = opendir(path);
    for (struct dirent *entry; code == WEFT_OK && folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.' || depth >= MOST_DEPTH ||
            snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= (int)sizeof below ||
            lstat(below, &about) != 0 || !S_ISDIR(about.st_mode))
            continue;
        if (!is_container(entry->d_name, subjects->opts.container)) {
            code = find_container(subjects, below, depth + 1, err);
            continue;
        }
        const char *known = strrchr(subjects->cgroup, '/');
        if (known && !weft_str_equal(container_of(known + 1), container_of(entry->d_name)))
            code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "--container %s: several containers have such an id: write more of it",
                             subjects->opts.container);
        else if (!known)
            (void)take_cgroup(subjects, "", below);
    }
    if (folder)
        (void)closedir(folder);
    return code;
}

static enum weft_code find_group(struct subjects *subjects, struct weft_err *err)
{
    const struct subjects_opts *opts = &subjects->opts;
    enum weft_code code = WEFT_OK;
    if (opts->cgroup && !find_cgroup(subjects, opts->cgroup))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--cgroup %s: there is no such cgroup",
                         opts->cgroup);
    if (opts->container)
        code = find_container(subjects, CGROUPS, 0, err);
    if (code == WEFT_OK && opts->container && !subjects->cgroup[0])
        return weft_fail(
            err, WEFT_E_ARG, WEFT_NO_OFFSET,
            "--container %s: no container that runs has this id: expected the id, or its "
            "first digits, of docker or podman ('ps --no-trunc'), or the name of one of "
            "lxc or systemd-nspawn",
            opts->container);
    return code;
}

/* ---- all --------------------------------------------------------------------------------------
 */

/* n_named: what was matched up to the cgroup. */
static enum weft_code find_all(struct subjects *subjects, size_t *n_named, struct weft_err *err)
{
    const struct subjects_opts *opts = &subjects->opts;
    enum weft_code code = WEFT_OK;
    if (opts->all)
        code = each_process(subjects, is_any, err);
    if (code == WEFT_OK && opts->name)
        code = each_process(subjects, is_named, err);
    *n_named = subjects->n_matched;
    if (code == WEFT_OK && subjects->cgroup[0])
        code = add_cgroup(subjects, subjects->cgroup, 0, err);
    return code == WEFT_OK ? add_descendants(subjects, err) : code;
}

enum weft_code subjects_open(const struct subjects_opts *opts, struct subjects *subjects,
                             struct weft_err *err)
{
    *subjects = (struct subjects){ .opts = *opts, .of_pid = weft_map_new() };
    if (!subjects->of_pid)
        return weft_no_memory(err, "processes");
    enum weft_code code = opts->pid ? find_process(subjects, err) : WEFT_OK;
    WEFT_THEN(code, find_group(subjects, err));
    const size_t n_before = subjects->n_matched;
    size_t n_named = 0;
    WEFT_THEN(code, find_all(subjects, &n_named, err));
    if (code != WEFT_OK)
        return code;
    if (opts->name && n_named == n_before)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--name %s: no process has this name",
                         opts->name);
    if (subjects->cgroup[0] && subjects->n_matched == n_named)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s: no process runs in this cgroup",
                         subjects->cgroup);
    return WEFT_OK;
}

enum weft_code subjects_look_again(struct subjects *subjects, size_t *n_before,
                                   struct weft_err *err)
{
    size_t n_named;
    *n_before = subjects->n;
    return find_all(subjects, &n_named, err);
}

void subjects_close(struct subjects *subjects)
{
    weft_map_free(subjects->of_pid);
    WEFT_VEC_FINI(subjects);
    proc_text_fini(&subjects->room);
}
