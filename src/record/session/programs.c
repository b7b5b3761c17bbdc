/* SPDX-License-Identifier: MIT
 *
 * Follows the recorded processes: finds ring files by inotify, orders them by start, writes what
 * each process has mapped whenever that changed, notices ends by pidfd, and removes files that were
 * read to their end. It also makes the folder, and removes those of recorders that were killed.
 * recorder.c polls it.
 */
#include "record/session/programs.h"

#include "base/checked.h"
#include "base/vec.h"
#include "record/session/mark.h"
#include "record/session/namespace.h"
#include "record/session/ticks.h"
#include "symbols/elf_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Maps are read again at the 1st, 2nd, 4th, 8th ... time that is due after a change, and then each:
 */
enum { STALE_SECONDS = 60, SELDOM_LOOKS = 64 };

/* ---- the folder ------------------------------------------------------------------------------ */

static void remove_files(int folder_fd)
{
    const int fd = dup(folder_fd);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder)
        rewinddir(folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            (void)unlinkat(folder_fd, entry->d_name, 0);
    if (folder)
        (void)closedir(folder);
}

/* One of ours that has not been locked for a while: its recorder was killed. */
static void remove_if_stale(int place_fd, const char *name)
{
    struct stat about;
    if (strncmp(name, "weft-", 5) != 0 || strlen(name) != 11)
        return;
    const int fd = openat(place_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && about.st_uid == geteuid() &&
        about.st_mtime + STALE_SECONDS < time(NULL) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        remove_files(fd);
        (void)unlinkat(place_fd, name, AT_REMOVEDIR);
    }
    (void)close(fd);
}

static void remove_stale(const char *place)
{
    DIR *folder = opendir(place);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        remove_if_stale(dirfd(folder), entry->d_name);
    if (folder)
        (void)closedir(folder);
}

static bool make_folder(struct programs *programs)
{
    const char *const places[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
    for (size_t k = 0; k < sizeof places / sizeof *places && !programs->folder; k++) {
        char *path = NULL;
        if (!places[k] || asprintf(&path, "%s/weft-XXXXXX", places[k]) < 0)
            continue;
        remove_stale(places[k]);
        programs->folder = mkdtemp(path);
        if (!programs->folder)
            free(path);
    }
    return programs->folder != NULL;
}

enum weft_code programs_open(struct programs *programs, struct session_output *output,
                             struct trigger *trigger, struct weft_err *err)
{
    *programs = (struct programs){
        .folder_fd = -1, .notify_fd = -1, .journal.fd = -1, .asks.fd = -1, .output = output
    };
    programs->reading = (struct ring_reading){ .output = output, .trigger = trigger };
    jit_maps_open(&programs->jit, output);
    programs->reading.room = malloc(RING_ROOM_BYTES);
    programs->paths = weft_strtab_new();
    if (!programs->reading.room || !programs->paths)
        return weft_no_memory(err, "programs");
    if (!make_folder(programs))
        return weft_fail_errno(err, errno, "cannot make a folder for rings in /dev/shm or /tmp");
    programs->folder_fd = open(programs->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (programs->folder_fd < 0 || flock(programs->folder_fd, LOCK_EX | LOCK_NB) != 0) {
        (void)weft_fail_errno(err, errno, "cannot open the folder for rings");
        return weft_in_file(err, programs->folder);
    }
    programs->notify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (programs->notify_fd >= 0)
        (void)inotify_add_watch(programs->notify_fd, programs->folder, IN_CREATE | IN_MOVED_TO);
    programs->has_new = true;
    journal_open(programs->folder_fd, &programs->journal);
    ring_files_begin();
    asks_open(&programs->asks, programs->folder_fd);
    return WEFT_OK;
}

void programs_close(struct programs *programs)
{
    for (size_t k = 0; k < programs->files.n; k++)
        ring_file_close(&programs->files.items[k]);
    WEFT_VEC_FINI(&programs->files);
    for (size_t k = 0; k < programs->programs.n; k++)
        if (programs->programs.items[k].pidfd >= 0)
            (void)close(programs->programs.items[k].pidfd);
    WEFT_VEC_FINI(&programs->programs);
    journal_close(&programs->journal);
    namespaces_fini(&programs->spaces);
    asks_close(&programs->asks);
    if (programs->folder_fd >= 0)
        remove_files(programs->folder_fd);
    if (programs->folder)
        (void)rmdir(programs->folder);
    if (programs->folder_fd >= 0)
        (void)close(programs->folder_fd);
    if (programs->notify_fd >= 0)
        (void)close(programs->notify_fd);
    free(programs->folder);
    free(programs->reading.room);
    weft_strtab_free(programs->paths);
    session_filter_close(programs->filter);
    proc_text_fini(&programs->room);
    proc_text_fini(&programs->maps);
    proc_text_fini(&programs->reading.text);
    jit_maps_close(&programs->jit);
}

/* ---- what is written about a process --------------------------------------------------------- */

static enum weft_code put_text(struct programs *programs, enum weft_piece_kind kind,
                               uint32_t stream, uint32_t pid, struct weft_str text,
                               struct weft_err *err)
{
    if (text.n_bytes > WEFT_PIECE_BYTES_MAX)
        text.n_bytes = WEFT_PIECE_BYTES_MAX;
    return session_put(programs->output, kind, stream, pid, WEFT_STR(""), text, err);
}

static enum weft_code put_build_id(struct programs *programs, struct weft_str path,
                                   struct weft_err *err)
{
    struct weft_elf_file file;
    char line[PATH_MAX + 160];
    int n_line = 0;
    if (path.n_bytes >= PATH_MAX)
        return WEFT_OK;
    (void)snprintf(line, sizeof line, "%.*s", (int)path.n_bytes, path.bytes);
    if (!weft_elf_file_open(line, &file))
        return WEFT_OK;
    const struct weft_str id = weft_elf_file_build_id(&file);
    for (size_t k = 0; k < id.n_bytes && k < 64; k++)
        n_line += snprintf(line + n_line, sizeof line - (size_t)n_line, "%02x",
                           (unsigned char)id.bytes[k]);
    weft_elf_file_close(&file);
    if (n_line == 0)
        return WEFT_OK;
    n_line += snprintf(line + n_line, sizeof line - (size_t)n_line, " %.*s\n", (int)path.n_bytes,
                       path.bytes);
    return put_text(programs, WEFT_PIECE_BUILD, 0, 0, (struct weft_str){ line, (size_t)n_line },
                    err);
}

enum maps_found { MAPS_NONE, MAPS_NOW, MAPS_THEN };

static struct weft_str maps_of(const struct proc_text *text)
{
    return (struct weft_str){ text->items, text->n };
}

static enum weft_code put_build_ids(struct programs *programs, struct weft_str maps,
                                    struct weft_err *err)
{
    struct proc_map map;
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && proc_next_map(&maps, &map)) {
        const uint32_t n_before = weft_strtab_count(programs->paths);
        uint32_t path;
        code = weft_strtab_intern(programs->paths, map.path, &path, err);
        if (code != WEFT_OK || path != n_before)
            continue;
        session_filter_module(programs->filter, map.path);
        code = put_build_id(programs, map.path, err);
    }
    return code;
}

/* What was mapped when the ring file NAME was made; false: it is that of a child of fork. */
static bool read_then(const struct programs *programs, const char *name, struct proc_text *maps)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s.maps", name);
    return proc_read_in(programs->folder_fd, path, maps);
}

/* Does another program lie in memory now? Its own code comes first in the maps. */
static bool is_another(struct weft_str then, struct weft_str now)
{
    struct proc_map own, map;
    if (!proc_next_map(&then, &own))
        return false;
    while (proc_next_map(&now, &map)) /* "(deleted)" may have come behind the path */
        if (map.begin == own.begin && map.end == own.end && map.file_off == own.file_off &&
            map.path.n_bytes >= own.path.n_bytes &&
            memcmp(map.path.bytes, own.path.bytes, own.path.n_bytes) == 0)
            return false;
    return true;
}

/* Maps as they are, or, of a program that is gone or has become another one, as they were when it
 * began. Of a child of fork that is gone nothing is known but what its parent had. */
static enum maps_found read_maps(struct programs *programs, const struct program_news *news)
{
    struct proc_text then = { 0 };
    const bool has_then = news->name && news->is_new && read_then(programs, news->name, &then);
    const bool has_now = !news->is_past && proc_read(news->pid, "maps", &programs->maps);
    const bool is_then =
        has_then && (!has_now || is_another(maps_of(&then), maps_of(&programs->maps)));
    if (is_then) {
        const struct proc_text now = programs->maps;
        programs->maps = then;
        then = now;
    }
    proc_text_fini(&then);
    return is_then ? MAPS_THEN : has_now ? MAPS_NOW : MAPS_NONE;
}

/* The same for the same files in the same places. */
static uint64_t mark_of(struct weft_str maps)
{
    static const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    struct proc_map map;
    uint64_t mark = 1;
    while (proc_next_map(&maps, &map)) {
        mark = (mark ^ map.begin) * odd;
        mark = (mark ^ map.end) * odd;
        mark = (mark ^ map.file_off) * odd;
        for (size_t k = 0; k < map.path.n_bytes; k++)
            mark = (mark ^ (unsigned char)map.path.bytes[k]) * odd;
    }
    return mark;
}

static struct program *find_program(const struct programs *programs, uint32_t pid)
{
    for (size_t k = 0; k < programs->programs.n; k++)
        if (programs->programs.items[k].pid == pid)
            return &programs->programs.items[k];
    return NULL;
}

/* Was this written about the process already? From now on it counts as written. */
static bool is_told(const struct programs *programs, const struct program_news *news,
                    struct weft_str maps)
{
    struct program *program = news->maps_mark ? NULL : find_program(programs, news->pid);
    uint64_t *known = program ? &program->maps_mark : news->maps_mark;
    const uint64_t mark = mark_of(maps);
    const bool is_same = known && !news->is_new && *known == mark;
    if (known)
        *known = mark;
    return is_same;
}

static enum weft_code put_maps(struct programs *programs, const struct program_news *news,
                               struct weft_err *err)
{
    const struct weft_str maps = maps_of(&programs->maps);
    if (is_told(programs, news, maps))
        return WEFT_OK;
    const enum weft_code code =
        put_text(programs, WEFT_PIECE_MAPS, news->is_new ? 0 : 1, news->pid, maps, err);
    trigger_forget(programs->reading.trigger, news->pid);
    return code == WEFT_OK ? put_build_ids(programs, maps, err) : code;
}

/* The program's own file. */
static void find_exe(struct programs *programs, const struct program_news *news,
                     enum maps_found found, char exe[PATH_MAX])
{
    struct weft_str maps = maps_of(&programs->maps);
    struct proc_map own;
    *exe = '\0';
    if (found == MAPS_THEN && proc_next_map(&maps, &own))
        (void)snprintf(exe, PATH_MAX, "%.*s", (int)own.path.n_bytes, own.path.bytes);
    else if (!news->is_past)
        (void)proc_link(news->pid, "exe", exe, PATH_MAX);
}

static enum weft_code put_process(struct programs *programs, const struct program_news *news,
                                  enum maps_found found, struct weft_err *err)
{
    char *exe = programs->exe, line[PATH_MAX + 256];
    const uint32_t told = proc_parent(news->pid, &programs->room);
    const bool has_comm = proc_read(news->pid, "comm", &programs->room);
    find_exe(programs, news, found, exe);
    int n_line = snprintf(line, sizeof line, "parent=%" PRIu32 "\nexe=%s\nstart_ns=%" PRIu64 "\n",
                          news->parent ? news->parent : told, exe, news->start_ns);
    if (news->pid_namespace)
        n_line += snprintf(line + n_line, sizeof line - (size_t)n_line, "namespace=%" PRIu32 "\n",
                           news->pid_namespace);
    if (has_comm) /* it ends with a line's end */
        n_line += snprintf(line + n_line, sizeof line - (size_t)n_line, "comm=%.64s",
                           programs->room.items);
    return put_text(programs, WEFT_PIECE_PROCESS, 0, news->pid,
                    (struct weft_str){ line, (size_t)n_line }, err);
}

enum weft_code programs_tell(struct programs *programs, const struct program_news *news,
                             struct weft_err *err)
{
    const enum maps_found found = read_maps(programs, news);
    enum weft_code code = WEFT_OK;
    if (news->is_new) /* its code is that of the program before */
        code = jit_maps_end(&programs->jit, news->pid, false, err);
    if (code == WEFT_OK && news->is_new)
        code = put_process(programs, news, found, err);
    if (code == WEFT_OK && found == MAPS_NOW &&
        !jit_maps_look(&programs->jit, news->pid, maps_of(&programs->maps)))
        code = weft_no_memory(err, "programs");
    return code == WEFT_OK && found != MAPS_NONE ? put_maps(programs, news, err) : code;
}

enum weft_code programs_tell_fork(struct programs *programs, uint32_t pid, uint32_t parent,
                                  uint64_t start_ns, struct weft_err *err)
{
    char line[96];
    const int n_line =
        snprintf(line, sizeof line, "parent=%" PRIu32 "\nstart_ns=%" PRIu64 "\n", parent, start_ns);
    return put_text(programs, WEFT_PIECE_PROCESS, 0, pid, (struct weft_str){ line, (size_t)n_line },
                    err);
}

enum weft_code programs_tell_end(struct programs *programs, uint32_t pid, uint64_t end_ns,
                                 struct weft_err *err)
{
    char line[64];
    const int n_line = snprintf(line, sizeof line, "end_ns=%" PRIu64 "\n", end_ns);
    const enum weft_code code = jit_maps_end(&programs->jit, pid, true, err);
    return code != WEFT_OK ? code
                           : put_text(programs, WEFT_PIECE_PROCESS, 0, pid,
                                      (struct weft_str){ line, (size_t)n_line }, err);
}

/* ---- files that appear ----------------------------------------------------------------------- */

static struct program *program_of(struct programs *programs, uint32_t pid)
{
    struct program *program = find_program(programs, pid);
    if (program)
        return program;
    program = WEFT_VEC_PUSH(&programs->programs);
    if (!program)
        return NULL;
    *program = (struct program){ .pid = pid, .pidfd = -1 };
    program->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    programs->n_all++;
    return program;
}

static bool is_known(const struct programs *programs, const char *name)
{
    for (size_t k = programs->files.n; k-- > 0;)
        if (strcmp(programs->files.items[k].name, name) == 0)
            return true;
    return false;
}

static uint64_t ns_of_ticks(const void *context, uint64_t ticks)
{
    const struct programs *programs = context;
    return session_ns_of_ticks(&programs->pair, programs->ns_per_tick, ticks);
}

/* Do files of both libraries belong to one program? A child of fork has no copy of its maps: a
 * later file that has one is that of another program. */
static bool is_same_program(struct programs *programs, const struct ring_file *file,
                            const struct ring_file *other)
{
    struct proc_text maps = { 0 };
    const bool has_own = read_then(programs, file->name, &programs->maps);
    const bool has_other = read_then(programs, other->name, &maps);
    const bool is_same =
        !has_own || (has_other && !is_another(maps_of(&maps), maps_of(&programs->maps)));
    proc_text_fini(&maps);
    return is_same;
}

/* A second file of one library: the process runs another program, and writes into the one that
 * began first no more. */
static bool supersede(struct programs *programs, struct ring_file *file)
{
    bool is_new_program = true;
    for (size_t k = 0; k < programs->files.n; k++) {
        struct ring_file *other = &programs->files.items[k];
        if (other->pid != file->pid || other->is_broken)
            continue;
        if (other->library == file->library && other->start_ticks <= file->start_ticks)
            other->is_over = true;
        else if (other->library == file->library)
            file->is_over = true;
        else if (!other->is_over && is_new_program)
            is_new_program = !is_same_program(programs, file, other);
    }
    return is_new_program;
}

/* Which process of another namespace writes into it, by the number that it has here. */
static void find_out(struct programs *programs, struct ring_file *file)
{
    char ring[128];
    const char *slash = strrchr(programs->folder, '/');
    (void)snprintf(ring, sizeof ring, "%s/%" PRIu32 ".", slash ? slash + 1 : programs->folder,
                   file->pid);
    file->pid =
        namespaces_writer(&programs->spaces, file->pid_namespace, file->pid, ring, &programs->room);
    file->parent = 0; /* as it is here, if that can be asked */
}

static uint32_t add_to_ledger(struct programs *programs, const struct ring_file *file,
                              const struct program_news *news)
{
    char maps[96];
    (void)snprintf(maps, sizeof maps, "%s.maps", file->name);
    return ledger_add_ring(
        programs->ledger,
        &(struct ledger_ring_news){ .pid = file->pid,
                                    .parent = file->parent,
                                    .library = file->library,
                                    .start_ns = news->start_ns,
                                    .is_fork = faccessat(programs->folder_fd, maps, F_OK, 0) != 0,
                                    .is_new_program = news->is_new,
                                    .exe = programs->exe });
}

/* `is_past`: its process runs another program by now. */
static enum weft_code add_file(struct programs *programs, struct ring_file *file, bool is_past,
                               struct weft_err *err)
{
    if (!file->is_broken && file->is_elsewhere)
        find_out(programs, file);
    const bool is_new_program = !file->is_broken && supersede(programs, file);
    struct ring_file *place = WEFT_VEC_PUSH(&programs->files);
    struct program *program = place && !file->is_broken ? program_of(programs, file->pid) : NULL;
    if (!place || (!program && !file->is_broken)) {
        programs->files.n -= place != NULL;
        return weft_no_memory(err, "programs");
    }
    *place = *file;
    *file = (struct ring_file){ .fd = -1 };
    if (place->is_broken) {
        ledger_bad_ring(programs->ledger, (uint32_t)strtoul(place->name, NULL, 10),
                        session_clock_ns(CLOCK_MONOTONIC));
        return WEFT_OK;
    }
    program->n_files++;
    const struct program_news news = { .pid = place->pid,
                                       .parent = place->parent,
                                       .pid_namespace =
                                           place->is_elsewhere ? place->pid_namespace : 0,
                                       .start_ns = ns_of_ticks(programs, place->start_ticks),
                                       .name = place->name,
                                       .is_new = is_new_program,
                                       .is_past = is_past || place->is_over };
    programs->exe[0] = '\0';
    const enum weft_code code = programs_tell(programs, &news, err);
    place->ledger_ring = add_to_ledger(programs, place, &news);
    return code;
}

/* "PID.LIBRARY.N" */
static bool is_ring_name(const char *name)
{
    const size_t n_name = strlen(name);
    return n_name > 0 && strspn(name, "0123456789.") == n_name && name[0] != '.';
}

/* A process asks for a snapshot (weft mark): the file says why. */
static void take_mark(struct programs *programs, const char *name)
{
    struct ring_reading *reading = &programs->reading;
    const bool is_read = proc_read_in(programs->folder_fd, name, &programs->room);
    (void)unlinkat(programs->folder_fd, name, 0);
    if (reading->wants_snapshot)
        return;
    reading->wants_snapshot = true;
    (void)snprintf(reading->why, sizeof reading->why, "%.100s",
                   is_read ? programs->room.items : "weft mark");
}

/* Files that were not read yet, as the folder lists them. */
struct new_files {
    struct ring_file *items;
    size_t n, cap;
};

static enum weft_code open_new(struct programs *programs, const char *name, struct new_files *files,
                               struct weft_err *err)
{
    for (size_t k = 0; k < files->n; k++) /* a folder that changes may list it twice */
        if (strcmp(files->items[k].name, name) == 0)
            return WEFT_OK;
    struct ring_file *file = WEFT_VEC_PUSH(files);
    if (!file)
        return weft_no_memory(err, "programs");
    if (!ring_file_open(programs->folder_fd, name, file) && !file->is_broken) {
        programs->has_new = true; /* not ready yet */
        files->n--;
    }
    return WEFT_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct ring_file *x = a, *y = b;
    const int by_ticks = (x->start_ticks > y->start_ticks) - (x->start_ticks < y->start_ticks);
    return by_ticks ? by_ticks : strcmp(x->name, y->name);
}

/* Does the process of the file run another program by now? */
static bool has_later(const struct new_files *files, size_t place)
{
    const struct ring_file *file = &files->items[place];
    for (size_t k = place + 1; k < files->n; k++)
        if (files->items[k].pid == file->pid && files->items[k].library == file->library &&
            files->items[k].pid_namespace == file->pid_namespace && !files->items[k].is_broken)
            return true;
    return false;
}

/* As they began: a folder lists them in any order, and a process that runs another program has two.
 */
static enum weft_code add_files(struct programs *programs, struct new_files *files,
                                struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (files->n)
        qsort(files->items, files->n, sizeof *files->items, by_start);
    for (size_t k = 0; k < files->n && code == WEFT_OK; k++)
        code = add_file(programs, &files->items[k], has_later(files, k), err);
    for (size_t k = 0; k < files->n; k++)
        ring_file_close(&files->items[k]);
    return code;
}

static enum weft_code find_files(struct programs *programs, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct new_files files = { 0 };
    const int fd = dup(programs->folder_fd);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    programs->has_new = false;
    if (!folder) {
        if (fd >= 0)
            (void)close(fd);
        return WEFT_OK;
    }
    rewinddir(folder);
    for (struct dirent *entry; code == WEFT_OK && (entry = readdir(folder));)
        if (strncmp(entry->d_name, SESSION_MARK_FRONT, strlen(SESSION_MARK_FRONT)) == 0)
            take_mark(programs, entry->d_name);
        else if (is_ring_name(entry->d_name) && !is_known(programs, entry->d_name))
            code = open_new(programs, entry->d_name, &files, err);
    (void)closedir(folder);
    const enum weft_code added = add_files(programs, &files, err);
    WEFT_VEC_FINI(&files);
    return code == WEFT_OK ? added : code;
}

static void take_notices(struct programs *programs)
{
    char room[4096];
    while (programs->notify_fd >= 0 && read(programs->notify_fd, room, sizeof room) > 0)
        programs->has_new = true;
    if (programs->notify_fd < 0)
        programs->has_new = true;
}

/* ---- processes that are gone ----------------------------------------------------------------- */

static bool is_gone(const struct program *program)
{
    struct pollfd fd = { .fd = program->pidfd, .events = POLLIN };
    return program->pidfd < 0 || poll(&fd, 1, 0) > 0;
}

static void look_for_ends(struct programs *programs)
{
    for (size_t k = 0; k < programs->programs.n; k++) {
        struct program *program = &programs->programs.items[k];
        if (program->is_gone || !is_gone(program))
            continue;
        program->is_gone = true;
        ledger_ended(programs->ledger, program->pid, session_clock_ns(CLOCK_MONOTONIC));
        for (size_t n = 0; n < programs->files.n; n++)
            if (programs->files.items[n].pid == program->pid)
                programs->files.items[n].is_over = true;
    }
}

static void count_file(struct programs *programs, const struct ring_file *file)
{
    ledger_count(programs->ledger, file->ledger_ring,
                 &(struct ledger_counts){
                     .n_records = file->n_records,
                     .n_lost_records = file->lost_records,
                     .n_threads = file->n_threads,
                     .n_lost_threads = (uint32_t)weft_min_u64(file->lost_threads, UINT32_MAX),
                     .is_damaged = file->is_broken });
}

/* A file that was read to its end is removed. */
static void drop_file(struct programs *programs, size_t place)
{
    struct ring_file *file = &programs->files.items[place];
    (void)ring_file_modules_changed(file); /* for the threads that found no slot */
    programs->lost += file->lost_records;
    count_file(programs, file);
    char maps[96];
    (void)snprintf(maps, sizeof maps, "%s.maps", file->name);
    (void)unlinkat(programs->folder_fd, file->name, 0);
    (void)unlinkat(programs->folder_fd, maps, 0);
    ring_file_close(file);
    *file = programs->files.items[--programs->files.n];
}

static enum weft_code drop_programs(struct programs *programs, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = programs->programs.n; code == WEFT_OK && k-- > 0;) {
        struct program *program = &programs->programs.items[k];
        if (!program->is_gone)
            continue;
        code = programs_tell_end(programs, program->pid, session_clock_ns(CLOCK_MONOTONIC), err);
        if (program->pidfd >= 0)
            (void)close(program->pidfd);
        *program = programs->programs.items[--programs->programs.n];
    }
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* May something else be mapped than was written? The program reports that it will load a library,
 * and that may take its time; the C library loads some of its own without a report. */
static bool may_have_loaded(struct ring_file *file)
{
    if (ring_file_modules_changed(file))
        file->n_looks = 0;
    const uint32_t n = file->n_looks++;
    return (n & (n - 1)) == 0 || n % SELDOM_LOOKS == 0;
}

static enum weft_code read_file(struct programs *programs, struct ring_file *file, bool is_due,
                                struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (is_due && !file->is_over && may_have_loaded(file))
        code = programs_tell(programs, &(struct program_news){ .pid = file->pid }, err);
    return code == WEFT_OK ? ring_file_read(file, &programs->reading, is_due || file->is_over, err)
                           : code;
}

static void serve_asks(struct programs *programs)
{
    struct asks *asks = &programs->asks;
    asks_serve(asks);
    for (size_t k = 0; k < asks->reports.n; k++)
        ledger_no_ring(programs->ledger, asks->reports.items[k].pid, asks->reports.items[k].reach,
                       asks->reports.items[k].time_ns);
    asks->reports.n = 0;
}

static void take_journal(struct programs *programs)
{
    const struct journal_reader reader = { .ledger = programs->ledger,
                                           .ns_of = ns_of_ticks,
                                           .context = programs,
                                           .spaces = &programs->spaces,
                                           .room = &programs->room,
                                           .is_final = programs->reading.is_final };
    namespaces_age(&programs->spaces);
    journal_poll(&programs->journal, &reader, session_clock_ns(CLOCK_MONOTONIC));
}

enum weft_code programs_poll(struct programs *programs, bool is_due, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    programs->reading.fill_percent = 0;
    serve_asks(programs);
    take_notices(programs);
    if (is_due)
        asks_tidy(&programs->asks);
    if (is_due) /* before files are looked for, as theirs come first in the journal */
        take_journal(programs);
    if (is_due) /* likewise: what is gone has made all of its own */
        look_for_ends(programs);
    if (programs->has_new)
        code = find_files(programs, err);
    for (size_t k = programs->files.n; code == WEFT_OK && k-- > 0;) {
        struct ring_file *file = &programs->files.items[k];
        code = read_file(programs, file, is_due, err);
        if (is_due)
            count_file(programs, file);
        if (code == WEFT_OK && file->is_over)
            drop_file(programs, k);
    }
    return code == WEFT_OK && is_due ? drop_programs(programs, err) : code;
}

enum weft_code programs_stop(struct programs *programs, struct weft_err *err)
{
    enum weft_code code = programs_poll(programs, true, err);
    asks_stop(&programs->asks);
    for (size_t k = 0; k < programs->files.n; k++)
        ring_file_stop(&programs->files.items[k]);
    programs->reading.is_final = true;
    return code == WEFT_OK ? programs_poll(programs, true, err) : code;
}

bool programs_has(const struct programs *programs, uint32_t pid)
{
    return find_program(programs, pid) != NULL;
}

uint64_t programs_lost(const struct programs *programs)
{
    uint64_t n_lost = programs->lost;
    for (size_t k = 0; k < programs->files.n; k++)
        n_lost += programs->files.items[k].lost_records;
    return n_lost;
}
