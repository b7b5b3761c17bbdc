/* SPDX-License-Identifier: MIT
 *
 * See jit_maps.h. The files are a program's, and hostile: each is looked for within the process's
 * root folder, has to be a regular file of the process's user or of root that is not older than the
 * process, and of each so much is taken at most. Of a map whole lines are kept, of a dump the
 * records without the code.
 */
#include "record/session/jit_maps.h"

#include "base/vec.h"
#include "record/session/namespace.h"
#include "record/session/ticks.h"
#include "symbols/jitdump.h"
#include "symbols/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MOST_PROCESSES = 256,        /* each holds up to three descriptors */
    MOST_TAKEN_BYTES = 64 << 20, /* of a process */
    MOST_RECORDS = 1 << 21,      /* of a dump */
    STEP_BYTES = 1 << 20,        /* of a piece */
    MOST_REGIONS = 1 << 12,
    MOST_LINE_BYTES = 1 << 12, /* of the first line of a map */
    SLACK_NS = 2000000000,     /* that the times of files and of processes may differ */
};

static void map_fini(struct jit_map *map)
{
    if (map->root_fd >= 0)
        (void)close(map->root_fd);
    if (map->map_fd >= 0)
        (void)close(map->map_fd);
    if (map->dump_fd >= 0)
        (void)close(map->dump_fd);
    WEFT_VEC_FINI(&map->regions);
}

void jit_maps_open(struct jit_maps *maps, struct session_output *output)
{
    *maps = (struct jit_maps){ .output = output, .began_ns = session_clock_ns(CLOCK_REALTIME) };
}

void jit_maps_close(struct jit_maps *maps)
{
    for (size_t k = 0; k < maps->n; k++)
        map_fini(&maps->items[k]);
    WEFT_VEC_FINI(maps);
    proc_text_fini(&maps->room);
}

static struct jit_map *find(const struct jit_maps *maps, uint32_t pid)
{
    for (size_t k = 0; k < maps->n; k++)
        if (maps->items[k].pid == pid)
            return &maps->items[k];
    return NULL;
}

/* ---- memory without a file ------------------------------------------------------------------- */

static int by_begin(const void *a_void, const void *b_void)
{
    const struct jit_region *a = a_void, *b = b_void;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Regions that touch or overlap become one. */
static void join_regions(struct jit_map *map)
{
    size_t n = 0;
    if (map->regions.n)
        qsort(map->regions.items, map->regions.n, sizeof *map->regions.items, by_begin);
    for (size_t k = 0; k < map->regions.n; k++) {
        struct jit_region *last = n ? &map->regions.items[n - 1] : NULL;
        const struct jit_region region = map->regions.items[k];
        if (last && region.begin <= last->end)
            last->end = region.end > last->end ? region.end : last->end;
        else
            map->regions.items[n++] = region;
    }
    map->regions.n = n;
}

/* Runs of nameless memory that can be executed, with what is reserved beside it: code that comes
 * later lies there. False without memory. */
static bool take_regions(struct jit_map *map, struct weft_str text)
{
    struct jit_region run = { 0 };
    struct proc_map mapped = { 0 };
    bool is_code = false, has_more = true;
    while (has_more) {
        has_more = proc_next_mapping(&text, &mapped);
        const bool is_exec = has_more && mapped.rights[2] == 'x';
        const bool is_part = has_more && weft_jit_is_nameless(mapped.path) &&
                             (is_exec || strncmp(mapped.rights, "---", 3) == 0);
        if (is_part && run.end == mapped.begin) {
            run.end = mapped.end;
            is_code |= is_exec;
            continue;
        }
        struct jit_region *place = NULL;
        if (is_code && map->regions.n < MOST_REGIONS) {
            place = WEFT_VEC_PUSH(&map->regions);
            if (!place)
                return false;
            *place = run;
        }
        run = is_part ? (struct jit_region){ mapped.begin, mapped.end } : (struct jit_region){ 0 };
        is_code = is_part && is_exec;
    }
    join_regions(map);
    return true;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* As the process sees it, whatever links lead elsewhere. */
static int open_within(int root_fd, const char *path)
{
    const struct open_how how = { .flags =
                                      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                                  .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
    const int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof how);
    return fd < 0 && errno == ENOSYS ? openat(root_fd, path + strspn(path, "/"), (int)how.flags)
                                     : fd;
}

/* A file that another user could have made would name functions as that user wants, and one that
 * is older than the process is of another one, which had its number before. */
static bool is_its(const struct jit_map *map, int fd)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode) ||
        (about.st_uid != 0 && about.st_uid != map->user))
        return false;
    const uint64_t changed_ns =
        (uint64_t)about.st_mtim.tv_sec * UINT64_C(1000000000) + (uint64_t)about.st_mtim.tv_nsec;
    return changed_ns + SLACK_NS >= map->began_ns;
}

static void keep_if_its(struct jit_map *map, int fd, int *place)
{
    if (fd < 0)
        return;
    if (!is_its(map, fd)) {
        (void)close(fd);
        return;
    }
    if (*place >= 0)
        (void)close(*place);
    *place = fd;
}

/* The one that its path leads to now: some runtimes write another file each time. */
static void open_map(struct jit_map *map)
{
    char path[64];
    struct stat known, found;
    (void)snprintf(path, sizeof path, "/tmp/perf-%" PRIu32 ".map", map->own_pid);
    const int fd = map->root_fd >= 0 ? open_within(map->root_fd, path) : -1;
    if (fd < 0)
        return;
    const bool is_same = map->map_fd >= 0 && fstat(map->map_fd, &known) == 0 &&
                         fstat(fd, &found) == 0 && known.st_ino == found.st_ino &&
                         known.st_dev == found.st_dev;
    if (is_same) {
        (void)close(fd);
        return;
    }
    const int before = map->map_fd;
    keep_if_its(map, fd, &map->map_fd);
    if (map->map_fd != before)
        map->map_bytes = 0;
}

/* "/home/app/.debug/jit/.../jit-4711.dump" of this process: it is mapped so that it is found. */
static bool is_dump(const struct jit_map *map, struct weft_str path)
{
    char name[40];
    const struct weft_str base = weft_str_base(path);
    (void)snprintf(name, sizeof name, "jit-%" PRIu32 ".dump", map->own_pid);
    return path.n_bytes > 0 && path.bytes[0] == '/' && path.n_bytes < PATH_MAX &&
           weft_str_begins(base, name) &&
           (base.n_bytes == strlen(name) || base.bytes[strlen(name)] == ' ');
}

/* The mapping itself, where that is allowed: also if the file has been deleted. */
static void open_dump(struct jit_map *map, struct weft_str text)
{
    struct proc_map mapped;
    char path[PATH_MAX + 64];
    while (map->dump_fd < 0 && proc_next_mapping(&text, &mapped)) {
        if (!is_dump(map, mapped.path))
            continue;
        (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
                       map->pid, mapped.begin, mapped.end);
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0 && map->root_fd >= 0) {
            (void)snprintf(path, sizeof path, "%.*s", (int)mapped.path.n_bytes, mapped.path.bytes);
            fd = open_within(map->root_fd, path);
        }
        keep_if_its(map, fd, &map->dump_fd);
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

/* CLOCK_REALTIME when the process began. */
static uint64_t began_ns(uint32_t pid, struct proc_text *room)
{
    const uint64_t ticks = proc_start(pid, room);
    const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t boot_ns = session_clock_ns(CLOCK_BOOTTIME);
    const uint64_t since_boot_ns =
        hz && ticks < UINT64_MAX / UINT64_C(1000000000) ? ticks * UINT64_C(1000000000) / hz : 0;
    return ticks && since_boot_ns <= boot_ns
               ? session_clock_ns(CLOCK_REALTIME) - (boot_ns - since_boot_ns)
               : 0;
}

static bool has_dump(const struct jit_map *map, struct weft_str text)
{
    struct proc_map mapped;
    bool is_found = false;
    while (!is_found && proc_next_mapping(&text, &mapped))
        is_found = is_dump(map, mapped.path);
    return is_found;
}

static void look_at(struct jit_maps *maps, struct jit_map *map, struct weft_str text)
{
    char root[40];
    (void)snprintf(root, sizeof root, "/proc/%" PRIu32 "/root", map->pid);
    if (map->root_fd < 0)
        map->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const uint32_t user = proc_user(map->pid, &maps->room).user;
    if (user != UINT32_MAX)
        map->user = user;
    open_map(map);
    if (map->dump_fd < 0)
        open_dump(map, text);
}

bool jit_maps_look(struct jit_maps *maps, uint32_t pid, struct weft_str text)
{
    struct jit_map *known = find(maps, pid);
    struct jit_map map = { .pid = pid, .root_fd = -1, .map_fd = -1, .dump_fd = -1 };
    if (!known && !take_regions(&map, text))
        return false;
    if (!known) {
        map.own_pid = namespace_own_number(pid, &maps->room);
        if (map.own_pid == 0)
            map.own_pid = pid;
        if ((map.regions.n == 0 && !has_dump(&map, text)) || maps->n >= MOST_PROCESSES) {
            map_fini(&map);
            return true;
        }
        map.user = UINT32_MAX; /* no file's */
        map.began_ns = began_ns(pid, &maps->room);
        known = WEFT_VEC_PUSH(maps);
        if (!known) {
            map_fini(&map);
            return false;
        }
        *known = map;
    } else if (!take_regions(known, text)) {
        return false;
    }
    look_at(maps, known, text);
    return true;
}

/* ---- what is written ------------------------------------------------------------------------- */

static enum weft_code put(struct jit_maps *maps, struct jit_map *map, enum weft_jit_kind kind,
                          const void *bytes, size_t n_bytes, struct weft_err *err)
{
    const struct weft_jit_piece piece = { .n_dropped_bytes = map->n_dropped_bytes };
    map->n_taken_bytes += n_bytes;
    map->n_dropped_bytes = 0;
    return session_put(maps->output, WEFT_PIECE_JIT, kind, map->pid,
                       (struct weft_str){ (const char *)&piece, sizeof piece },
                       (struct weft_str){ bytes, n_bytes }, err);
}

/* Reads as much as is there; 0: nothing, or the file has become shorter. */
static size_t read_at(int fd, uint64_t off, void *bytes, size_t n_bytes)
{
    size_t n = 0;
    ssize_t n_read = 1;
    while (n < n_bytes && n_read > 0) {
        n_read = pread(fd, (char *)bytes + n, n_bytes - n, (off_t)(off + n));
        n += n_read > 0 ? (size_t)n_read : 0;
        if (n_read < 0 && errno == EINTR)
            n_read = 1;
    }
    return n;
}

static uint64_t size_of(int fd)
{
    struct stat about;
    return fd >= 0 && fstat(fd, &about) == 0 && about.st_size > 0 ? (uint64_t)about.st_size : 0;
}

/* Is the first line one of a map? Another file that has its name is none of ours. */
static bool is_map(const char *bytes, size_t n_bytes)
{
    const char *end = n_bytes ? memchr(bytes, '\n', n_bytes) : NULL;
    struct weft_str name;
    uint64_t begin, n_code;
    return end && weft_perf_map_line((struct weft_str){ bytes, (size_t)(end - bytes) }, &begin,
                                     &n_code, &name);
}

/* Whole lines; the last one of a file may be in work. Of a map that is too long the end is taken:
 * later lines replace earlier ones. */
static enum weft_code put_map(struct jit_maps *maps, struct jit_map *map, char *room,
                              struct weft_err *err)
{
    const uint64_t n_file = size_of(map->map_fd);
    enum weft_code code = WEFT_OK;
    if (n_file < map->map_bytes) /* it was written anew */
        map->map_bytes = 0;
    if (n_file == 0 || !is_its(map, map->map_fd) ||
        (map->map_bytes == 0 && !is_map(room, read_at(map->map_fd, 0, room, MOST_LINE_BYTES))))
        return WEFT_OK;
    const uint64_t n_left =
        map->n_taken_bytes < MOST_TAKEN_BYTES ? MOST_TAKEN_BYTES - map->n_taken_bytes : 0;
    if (n_file - map->map_bytes > n_left) {
        map->n_dropped_bytes += n_file - map->map_bytes - n_left;
        map->map_bytes = n_file - n_left;
    }
    while (code == WEFT_OK && map->map_bytes < n_file) {
        const uint64_t n_rest = n_file - map->map_bytes;
        const size_t n_read = read_at(map->map_fd, map->map_bytes, room,
                                      n_rest < STEP_BYTES ? (size_t)n_rest : STEP_BYTES);
        const char *end = n_read ? memrchr(room, '\n', n_read) : NULL;
        if (!end)
            break;
        const size_t n_lines = (size_t)(end - room) + 1;
        code = put(maps, map, WEFT_JIT_MAP, room, n_lines, err);
        map->map_bytes += n_lines;
    }
    return code;
}

/* A record that is whole goes into the room, shortened; false: none is there yet. */
static bool take_record(struct jit_map *map, uint64_t n_file, uint8_t *room, size_t *n_room)
{
    uint8_t bytes[WEFT_JITDUMP_MOST_BYTES];
    struct weft_jitdump_record record;
    if (n_file - map->dump_bytes < WEFT_JITDUMP_RECORD_BYTES ||
        read_at(map->dump_fd, map->dump_bytes, bytes, WEFT_JITDUMP_RECORD_BYTES) !=
            WEFT_JITDUMP_RECORD_BYTES)
        return false;
    if (!weft_jitdump_look(bytes, &record)) {
        map->is_dump_over = true;
        map->n_dropped_bytes += n_file - map->dump_bytes;
        return false;
    }
    if (record.n_bytes > n_file - map->dump_bytes ||
        read_at(map->dump_fd, map->dump_bytes, bytes, record.n_wanted) != record.n_wanted)
        return false;
    map->dump_bytes += record.n_bytes;
    const uint32_t n_kept = record.n_wanted ? weft_jitdump_shorten(bytes, record.n_wanted) : 0;
    memcpy(room + *n_room, bytes, n_kept);
    *n_room += n_kept;
    return true;
}

static size_t take_head(struct jit_map *map, uint8_t *room)
{
    if (read_at(map->dump_fd, 0, room, WEFT_JITDUMP_HEAD_BYTES) != WEFT_JITDUMP_HEAD_BYTES)
        return 0;
    map->dump_bytes = weft_jitdump_first(room);
    map->has_dump_head = map->dump_bytes > 0;
    map->is_dump_over = !map->has_dump_head;
    room[8] = WEFT_JITDUMP_HEAD_BYTES; /* what else is in the head is not kept */
    room[9] = room[10] = room[11] = 0;
    return map->has_dump_head ? WEFT_JITDUMP_HEAD_BYTES : 0;
}

static enum weft_code put_dump(struct jit_maps *maps, struct jit_map *map, char *room,
                               struct weft_err *err)
{
    const uint64_t n_file = size_of(map->dump_fd);
    enum weft_code code = WEFT_OK;
    size_t n_room = 0, n_records = 0;
    if (map->dump_fd >= 0 && !map->has_dump_head && !map->is_dump_over)
        n_room = take_head(map, (uint8_t *)room);
    while (code == WEFT_OK && map->has_dump_head && !map->is_dump_over &&
           map->dump_bytes < n_file && n_records++ < MOST_RECORDS) {
        if (map->n_taken_bytes + n_room >= MOST_TAKEN_BYTES) {
            map->n_dropped_bytes += n_file - map->dump_bytes;
            map->is_dump_over = true;
        } else if (!take_record(map, n_file, (uint8_t *)room, &n_room)) {
            break;
        }
        if (n_room + WEFT_JITDUMP_MOST_BYTES > STEP_BYTES) {
            code = put(maps, map, WEFT_JIT_DUMP, room, n_room, err);
            n_room = 0;
        }
    }
    return code == WEFT_OK && n_room ? put(maps, map, WEFT_JIT_DUMP, room, n_room, err) : code;
}

static enum weft_code put_regions(struct jit_maps *maps, struct jit_map *map, struct weft_err *err)
{
    return map->regions.n ? put(maps, map, WEFT_JIT_REGIONS, map->regions.items,
                                map->regions.n * sizeof *map->regions.items, err)
                          : WEFT_OK;
}

static enum weft_code put_all(struct jit_maps *maps, struct jit_map *map, bool is_final,
                              struct weft_err *err)
{
    char *room = malloc(STEP_BYTES);
    enum weft_code code = room ? WEFT_OK : weft_no_memory(err, "names of compiled code");
    open_map(map);
    WEFT_THEN(code, put_map(maps, map, room, err));
    WEFT_THEN(code, put_dump(maps, map, room, err));
    if (code == WEFT_OK && is_final)
        code = put_regions(maps, map, err);
    free(room);
    return code;
}

/* A process that ended before its memory was looked at: it can only be asked for a map where weft
 * itself has its root folder and numbers. */
static enum weft_code end_unseen(struct jit_maps *maps, uint32_t pid, struct weft_err *err)
{
    struct jit_map map = { .pid = pid,
                           .own_pid = pid,
                           .user = geteuid(),
                           .began_ns = maps->began_ns,
                           .root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
                           .map_fd = -1,
                           .dump_fd = -1 };
    open_map(&map);
    const enum weft_code code = map.map_fd >= 0 ? put_all(maps, &map, true, err) : WEFT_OK;
    map_fini(&map);
    return code;
}

enum weft_code jit_maps_end(struct jit_maps *maps, uint32_t pid, bool has_ended,
                            struct weft_err *err)
{
    struct jit_map *map = find(maps, pid);
    if (!map)
        return has_ended ? end_unseen(maps, pid, err) : WEFT_OK;
    const enum weft_code code = put_all(maps, map, true, err);
    map_fini(map);
    *map = maps->items[--maps->n];
    return code;
}

enum weft_code jit_maps_put(struct jit_maps *maps, bool is_final, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < maps->n; k++)
        code = put_all(maps, &maps->items[k], is_final, err);
    return code;
}
