/* SPDX-License-Identifier: MIT
 *
 * The slow, obvious reader of uftrace directories: text by sscanf, everything in arrays that are
 * searched from end to end, one frame list a task. It knows the formats of values that
 * test_oracle_uftrace.c draws, and writes what recording_sink.h would.
 */
#ifndef WEFT_TESTS_SLOW_UFTRACE_H
#define WEFT_TESTS_SLOW_UFTRACE_H

#include "base/folder.h"
#include "recording_sink.h"

enum { SU_MOST = 64, SU_MOST_FUNCTIONS = 512, SU_MOST_FRAMES = 4096 };

struct su_symbol {
    uint64_t address, end;
    char type;
    char name[40], module[40], path[80];
};

struct su_mapping {
    uint64_t begin, end;
    char sid[32], path[80];
};

struct su_row { /* of task.txt */
    char kind;  /* S T F D */
    uint64_t time, tid, pid, base;
    char sid[32], path[80];
};

struct su_function {
    uint64_t unknown; /* an address that nothing explains; else symbol */
    const struct su_symbol *symbol;
};

struct su_task {
    const struct weft_folder_file *file;
    uint64_t tid, first;
    unsigned thread;
    uint64_t n_bad, bad_at, n_missing_bytes, missing_at, n_lost, lost_at, n_missing, n_ignored;
};

struct su {
    const struct weft_folder *folder;
    struct su_symbol symbols[SU_MOST];
    struct su_mapping maps[SU_MOST];
    struct su_row rows[SU_MOST];
    struct su_function functions[SU_MOST_FUNCTIONS];
    struct su_task tasks[SU_MOST];
    size_t n_symbols, n_maps, n_rows, n_functions, n_tasks;
    uint64_t zero;
};

static uint64_t su_int(const uint8_t *bytes, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t k = n_bytes; k-- > 0;)
        value = value << 8 | bytes[k];
    return value;
}

/* Calls `fn` with each line of the files whose names end so. */
static void su_lines(struct su *su, const char *suffix,
                     void (*fn)(struct su *, const char *name, const char *line))
{
    for (size_t k = 0; k < su->folder->n_files; k++) {
        const struct weft_folder_file *file = &su->folder->files[k];
        const char *at = strstr(file->name, suffix);
        if (!at || at[strlen(suffix)])
            continue;
        char line[256];
        size_t n = 0;
        for (uint64_t off = 0; off < file->file.n_bytes; off++) {
            char letter = (char)file->file.bytes[off];
            if (letter != '\n' && n + 1 < sizeof line)
                line[n++] = letter;
            if (letter != '\n')
                continue;
            line[n] = '\0';
            fn(su, file->name, line);
            n = 0;
        }
    }
}

/* ---- metadata ---------------------------------------------------------------------------------
 */

static void su_read_symbol(struct su *su, const char *file_name, const char *line)
{
    static char path[80];
    struct su_symbol *symbol = &su->symbols[su->n_symbols];
    if (sscanf(line, "# path name: %79s", path) == 1)
        return;
    if (sscanf(line, "%" SCNx64 " %c %39s", &symbol->address, &symbol->type, symbol->name) != 3)
        return;
    const char *slash = strrchr(path, '/');
    (void)file_name;
    (void)snprintf(symbol->path, sizeof symbol->path, "%s", path);
    (void)snprintf(symbol->module, sizeof symbol->module, "%.39s", slash ? slash + 1 : path);
    su->n_symbols++;
}

static void su_read_map(struct su *su, const char *file_name, const char *line)
{
    struct su_mapping *map = &su->maps[su->n_maps];
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %79s", &map->begin, &map->end,
               map->path) == 3 &&
        map->path[0] != '[' && sscanf(file_name, "sid-%31[^.]", map->sid) == 1)
        su->n_maps++;
    else
        return;
    struct su_mapping *last = map - 1; /* parts of one file count from its first */
    if (su->n_maps > 1 && strcmp(last->sid, map->sid) == 0 && strcmp(last->path, map->path) == 0) {
        last->end = map->end;
        su->n_maps--;
    }
}

static void su_read_row(struct su *su, const char *file_name, const char *line)
{
    struct su_row row = { .kind = line[0] };
    uint64_t seconds = 0;
    uint64_t ns = 0;
    (void)file_name;
    (void)sscanf(line + 5, "timestamp=%" SCNu64 ".%" SCNu64, &seconds, &ns);
    row.time = seconds * 1000000000u + ns;
    const char *rest = strchr(line + 15, ' ');
    if (row.kind == 'S')
        (void)sscanf(rest, " pid=%" SCNu64 " sid=%31s", &row.pid, row.sid);
    if (row.kind == 'T')
        (void)sscanf(rest, " tid=%" SCNu64 " pid=%" SCNu64, &row.tid, &row.pid);
    if (row.kind == 'F') {
        (void)sscanf(rest, " pid=%" SCNu64 " ppid=%" SCNu64, &row.tid, &row.base);
        row.pid = row.tid;
    }
    if (row.kind == 'D')
        (void)sscanf(rest, " tid=%" SCNu64 " sid=%31s base=%" SCNx64 " libname=\"%79[^\"]",
                     &row.tid, row.sid, &row.base, row.path);
    su->rows[su->n_rows++] = row;
}

/* A symbol reaches to the next one of its module. */
static void su_end_symbols(struct su *su)
{
    for (size_t k = 0; k < su->n_symbols; k++) {
        struct su_symbol *symbol = &su->symbols[k];
        symbol->end = UINT64_MAX;
        for (size_t other = 0; other < su->n_symbols; other++)
            if (strcmp(su->symbols[other].path, symbol->path) == 0 &&
                su->symbols[other].address > symbol->address &&
                su->symbols[other].address < symbol->end)
                symbol->end = su->symbols[other].address;
    }
}

static const struct su_symbol *su_symbol_at(const struct su *su, const char *path, uint64_t offset)
{
    for (size_t k = 0; k < su->n_symbols; k++)
        if (strcmp(su->symbols[k].path, path) == 0 && offset >= su->symbols[k].address &&
            offset < su->symbols[k].end && strchr("TtP", su->symbols[k].type))
            return &su->symbols[k];
    return NULL;
}

/* The session of a process at a time. */
static const char *su_session_of(const struct su *su, uint64_t pid, uint64_t time)
{
    const struct su_row *best = NULL;
    for (size_t k = 0; k < su->n_rows; k++)
        if (su->rows[k].kind == 'S' && su->rows[k].pid == pid && su->rows[k].time <= time &&
            (!best || su->rows[k].time >= best->time))
            best = &su->rows[k];
    return best ? best->sid : NULL;
}

/* The session of a task at a time: of its last row by then, else of its first. */
static const char *su_sid_at(const struct su *su, uint64_t tid, uint64_t time)
{
    const char *sid = NULL;
    for (size_t k = 0; k < su->n_rows; k++) {
        const struct su_row *row = &su->rows[k];
        if ((row->kind != 'T' && row->kind != 'F') || row->tid != tid || (sid && row->time > time))
            continue;
        const char *own = su_session_of(su, row->pid, row->time);
        if (!own && row->kind == 'F')
            own = su_session_of(su, row->base, row->time);
        sid = own ? own : sid;
    }
    for (size_t k = 0; !sid && k < su->n_rows; k++)
        if (su->rows[k].kind == 'S')
            sid = su->rows[k].sid;
    return sid;
}

static const struct su_symbol *su_resolve(const struct su *su, uint64_t tid, uint64_t time,
                                          uint64_t address)
{
    const struct su_symbol *symbol = NULL;
    const char *sid = su_sid_at(su, tid, time);
    for (size_t k = 0; sid && !symbol && k < su->n_maps; k++)
        if (strcmp(su->maps[k].sid, sid) == 0 && address >= su->maps[k].begin &&
            address < su->maps[k].end)
            symbol = su_symbol_at(su, su->maps[k].path, address - su->maps[k].begin);
    for (size_t k = su->n_rows; sid && !symbol && k-- > 0;)
        if (su->rows[k].kind == 'D' && su->rows[k].time <= time &&
            strcmp(su->rows[k].sid, sid) == 0 && address >= su->rows[k].base)
            symbol = su_symbol_at(su, su->rows[k].path, address - su->rows[k].base);
    return symbol;
}

static unsigned su_key(struct su *su, const struct su_symbol *symbol, uint64_t address)
{
    for (size_t k = 0; k < su->n_functions; k++)
        if (su->functions[k].symbol == symbol && (symbol || su->functions[k].unknown == address))
            return (unsigned)k;
    su->functions[su->n_functions].symbol = symbol;
    su->functions[su->n_functions].unknown = address;
    return (unsigned)su->n_functions++;
}

/* ---- values -----------------------------------------------------------------------------------
 */

/* What is recorded with a function: letters i (32 bits), d (64), s, f (64), c, u (16). */
static const char *su_spec(const struct su_symbol *symbol, bool is_exit)
{
    static const char *const specs[][3] = {
        { "add", "id", "i" }, { "name", "s", "s" }, { "half", "f", "" }, { "qfun", "cu", "" }
    };
    for (size_t k = 0; symbol && k < sizeof specs / sizeof *specs; k++)
        if (strcmp(specs[k][0], symbol->name) == 0)
            return specs[k][1 + is_exit];
    return "";
}

/* Length of the data with its padding, or 0 if it does not fit. */
static size_t su_measure(const char *spec, const uint8_t *bytes, size_t n_bytes)
{
    size_t at = 0;
    for (; *spec; spec++) {
        size_t n_value = *spec == 'd' || *spec == 'f' ? 8 : 4;
        if (*spec == 's' && at + 2 > n_bytes)
            return 0;
        if (*spec == 's')
            n_value = (2 + su_int(bytes + at, 2) + 3) & ~(size_t)3;
        if (at + n_value > n_bytes)
            return 0;
        at += n_value;
    }
    at = (at + 7) & ~(size_t)7;
    return at <= n_bytes ? at : 0;
}

/* Up to the first zero; quotes and backslashes are marked, control characters are numbers. */
static void su_quote(struct rec_text *text, char quote, const uint8_t *bytes, size_t n_bytes)
{
    rec_add(text, "%c", quote);
    for (size_t k = 0; k < n_bytes && bytes[k]; k++) {
        if (bytes[k] < 32 || bytes[k] == 127)
            rec_add(text, "\\x%02x", bytes[k]);
        else if (bytes[k] == quote || bytes[k] == '\\')
            rec_add(text, "\\%c", bytes[k]);
        else
            rec_add(text, "%c", bytes[k]);
    }
    rec_add(text, "%c", quote);
}

static void su_print(struct rec_text *text, const char *spec, const uint8_t *bytes, uint64_t *first)
{
    size_t at = 0;
    *first = 0;
    for (size_t k = 0; spec[k]; k++) {
        double number;
        rec_add(text, "%s", k ? ", " : "");
        switch (spec[k]) {
        case 's':
            su_quote(text, '"', bytes + at + 2, su_int(bytes + at, 2));
            at += (2 + su_int(bytes + at, 2) + 3) & ~(size_t)3;
            continue;
        case 'f':
            memcpy(&number, bytes + at, 8);
            rec_add(text, "%.9g", number);
            break;
        case 'c':
            su_quote(text, '\'', bytes + at, 1);
            break;
        case 'u':
            rec_add(text, "%u", (unsigned)su_int(bytes + at, 2));
            break;
        case 'i':
            rec_add(text, "%d", (int)(uint32_t)su_int(bytes + at, 4));
            break;
        default:
            rec_add(text, "%" PRId64, (int64_t)su_int(bytes + at, 8));
            break;
        }
        if (k == 0)
            *first = su_int(bytes + at, spec[k] == 'f' || spec[k] == 'd' ? 8
                                        : spec[k] == 'i'                 ? 4
                                        : spec[k] == 'u'                 ? 2
                                                                         : 1);
        at += spec[k] == 'd' || spec[k] == 'f' ? 8 : 4;
    }
}

static void su_hex(struct rec_text *text, const uint8_t *bytes, size_t n_bytes)
{
    for (size_t k = 0; k < n_bytes; k++)
        rec_add(text, "%02x", bytes[k]);
}

/* Data that nothing explains: the text holds 510 bytes of it. */
static void su_raw(struct rec_text *text, const uint8_t *bytes, size_t n_bytes)
{
    rec_add(text, "{");
    su_hex(text, bytes, n_bytes < 510 ? n_bytes : 510);
    rec_add(text, "}");
}

/* An instant's payload is written by the recorder as digits. */
static void su_instant(struct rec_text *text, const char *name, uint64_t value, uint64_t time,
                       const char *payload)
{
    rec_add(text, "I %s %" PRIu64 " cpu -1 @%" PRIu64 " \"", name, value, time);
    su_hex(text, (const uint8_t *)payload, strlen(payload));
    rec_add(text, "\"\n");
}

static void su_values(struct rec_text *text, const char *spec, const uint8_t *bytes, size_t n_bytes,
                      bool is_exit, uint64_t time)
{
    struct rec_text payload = { 0 };
    uint64_t first = 0;
    if (spec) {
        su_print(&payload, spec, bytes, &first);
    } else {
        su_raw(&payload, bytes, n_bytes);
    }
    if (is_exit)
        su_instant(text, "return value", first, time, rec_str(&payload));
    else
        rec_add(text, "call_args  [uftrace] 0 @%" PRIu64 " %s\n", time, rec_str(&payload));
    free(payload.bytes);
}

/* ---- frames -----------------------------------------------------------------------------------
 */

struct su_frames {
    struct {
        unsigned depth, key;
    } items[SU_MOST_FRAMES];
    size_t n;
};

/* Leaves the frames at `depth` and deeper: one exit, of the outermost. */
static void su_close(struct su_frames *frames, unsigned depth, uint64_t time, struct su_task *task,
                     struct rec_text *text)
{
    size_t at = frames->n;
    while (at && frames->items[at - 1].depth >= depth)
        at--;
    if (at == frames->n)
        return;
    rec_add(text, "X %u @%" PRIu64 "\n", frames->items[at].key, time);
    task->n_missing++;
    frames->n = at;
}

static void su_call(struct su_frames *frames, bool is_exit, unsigned depth, unsigned key,
                    uint64_t time, struct su_task *task, struct rec_text *text)
{
    if (!is_exit) {
        su_close(frames, depth, time, task, text);
        frames->items[frames->n].depth = depth;
        frames->items[frames->n++].key = key;
        rec_add(text, "E %u @%" PRIu64 "\n", key, time);
        return;
    }
    if (frames->n && depth < frames->items[0].depth)
        su_close(frames, 0, time, task, text);
    if (frames->n == 0) {
        rec_add(text, "X %u @%" PRIu64 "\n", key, time);
        return;
    }
    for (size_t k = 0; k < frames->n; k++) {
        if (frames->items[k].depth != depth || frames->items[k].key != key)
            continue;
        frames->n = k;
        rec_add(text, "X %u @%" PRIu64 "\n", key, time);
        return;
    }
    task->n_ignored++;
    su_close(frames, depth, time, task, text);
}

/* ---- records ----------------------------------------------------------------------------------
 */

struct su_place {
    uint64_t time, address;
    unsigned type, depth;
    bool has_more, is_record;
};

static struct su_place su_look(const struct weft_mapped *file, uint64_t at)
{
    struct su_place place = { 0 };
    if (at + 16 > file->n_bytes)
        return place;
    uint64_t word = su_int(file->bytes + at + 8, 8);
    place.time = su_int(file->bytes + at, 8);
    place.type = word % 4;
    place.has_more = word / 4 % 2;
    place.depth = (unsigned)(word / 64 % 1024);
    place.address = word / 65536;
    place.is_record = word / 8 % 8 == 5 && place.time < (uint64_t)1 << 62;
    return place;
}

/* A record that fits behind the last: not earlier, and at most 2^42 ns later. */
static bool su_fits(const struct weft_mapped *file, uint64_t at, uint64_t last)
{
    struct su_place place = su_look(file, at);
    if (!place.is_record)
        return false;
    if (place.type == 2)
        return place.time == 0;
    if (last == 0)
        return place.time > 0;
    return place.time >= last && place.time - last <= (uint64_t)1 << 42;
}

static uint64_t su_search(const struct weft_mapped *file, uint64_t at, uint64_t last)
{
    for (; at + 16 <= file->n_bytes; at += 8)
        if (su_fits(file, at, last))
            return at;
    return file->n_bytes;
}

/* Length of the data behind the record that ends at `at`; *spec NULL if it was found by searching.
 */
static uint64_t su_data(const struct weft_mapped *file, uint64_t at, uint64_t last,
                        const char **spec)
{
    uint64_t n_data = su_measure(*spec, file->bytes + at, file->n_bytes - at);
    if (n_data && (at + n_data == file->n_bytes || su_fits(file, at + n_data, last)))
        return n_data;
    *spec = NULL;
    return su_search(file, at, last) - at;
}

static void su_event(struct rec_text *text, const struct su_place *place, const uint8_t *bytes,
                     size_t n_bytes, uint64_t time)
{
    static const char *const known[][4] = {
        { "proc/statm", "vmsize_kb", "vmrss_kb", "shared_kb" },
        { "page-fault", "major", "minor" },
        { "pmu-cycle", "cycles", "instructions" },
        { "pmu-cache", "refers", "misses" },
        { "pmu-branch", "branch", "misses" },
    };
    static const unsigned kinds[] = { 0, 1, 0, 1, 2, 2, 3, 3, 4, 4 };
    static const char verbs[] = "rrddrdrdrd";
    struct rec_text payload = { 0 };
    char name[32];
    uint64_t which = place->address - 100001;
    size_t n_labels = 0;
    (void)snprintf(name, sizeof name, "event:%" PRIu64, place->address);
    if (place->address == 1000000)
        (void)snprintf(name, sizeof name, "prog:tick");
    if (place->address == 100011 || place->address == 100012)
        (void)snprintf(name, sizeof name, "watch:%s", place->address == 100011 ? "cpu" : "var");
    if (which < 10) {
        const char *const *row = known[kinds[which]];
        (void)snprintf(name, sizeof name, "%s:%s", verbs[which] == 'r' ? "read" : "diff", row[0]);
        n_labels = kinds[which] ? 2 : 3;
        for (size_t k = 0; n_bytes == n_labels * 8 && k < n_labels; k++)
            rec_add(&payload, "%s%s=%" PRId64, k ? " " : "", row[k + 1],
                    (int64_t)su_int(bytes + 8 * k, 8));
    }
    if (place->address == 100011 && n_bytes == 4)
        rec_add(&payload, "cpu=%u", (unsigned)su_int(bytes, 4));
    if (n_bytes && !payload.n_bytes)
        su_raw(&payload, bytes, n_bytes);
    su_instant(text, name, place->address, time, rec_str(&payload));
    free(payload.bytes);
}

struct su_pass {
    struct su_task *task;
    struct rec_text *text; /* NULL: only meet the functions */
    struct su_frames frames;
    uint64_t last, last_told;
};

static void su_told(struct su_pass *pass, uint64_t time)
{
    pass->last_told = time > pass->last_told ? time : pass->last_told;
}

/* Tells a record and its data; the place behind. */
static uint64_t su_record(struct su *su, struct su_pass *pass, uint64_t at,
                          const struct su_place *place)
{
    const struct weft_mapped *file = &pass->task->file->file;
    uint64_t time = place->time > su->zero ? place->time - su->zero : 0;
    bool is_exit = place->type == 1;
    at += 16;
    if (place->type == 2) {
        pass->task->lost_at =
            pass->task->n_lost || place->address == 0 ? pass->task->lost_at : at - 16;
        pass->task->n_lost += place->address;
        return at;
    }
    if (place->time < pass->task->first)
        pass->task->first = place->time;
    if (place->type == 3) {
        uint64_t n_left = file->n_bytes - at;
        uint64_t n_data = place->has_more && n_left >= 2 ? su_int(file->bytes + at, 2) : 0;
        uint64_t n_all = place->has_more ? (2 + n_data + 7) / 8 * 8 : 0;
        if (n_all > n_left) {
            if (pass->task->n_missing_bytes == 0)
                pass->task->missing_at = at;
            pass->task->n_missing_bytes += n_all - n_left;
            n_data = 0;
        }
        if (pass->text) {
            su_event(pass->text, place, file->bytes + at + 2, n_data, time);
            su_told(pass, time);
        }
        return n_all > n_left ? file->n_bytes : at + n_all;
    }
    const struct su_symbol *symbol = su_resolve(su, pass->task->tid, place->time, place->address);
    unsigned key = su_key(su, symbol, place->address);
    const char *spec = su_spec(symbol, is_exit);
    pass->last = place->time;
    uint64_t n_data = place->has_more ? su_data(file, at, pass->last, &spec) : 0;
    if (pass->text) {
        su_call(&pass->frames, is_exit, place->depth, key, time, pass->task, pass->text);
        if (n_data)
            su_values(pass->text, spec, file->bytes + at, n_data, is_exit, time);
        su_told(pass, time);
    }
    return at + n_data;
}

static void su_walk(struct su *su, struct su_task *task, struct rec_text *text)
{
    static struct su_pass pass;
    const struct weft_mapped *file = &task->file->file;
    struct su_task fresh = { .file = task->file, .tid = task->tid, .thread = task->thread };
    fresh.first = UINT64_MAX;
    *task = fresh;
    memset(&pass, 0, sizeof pass);
    pass.task = task;
    pass.text = text;
    uint64_t at = 0;
    while (at + 16 <= file->n_bytes) {
        struct su_place place = su_look(file, at);
        if (place.is_record) {
            at = su_record(su, &pass, at, &place);
            continue;
        }
        uint64_t next = su_search(file, at + 8, pass.last);
        task->bad_at = task->n_bad ? task->bad_at : at;
        task->n_bad += next - at;
        at = next;
    }
    if (at < file->n_bytes) {
        task->missing_at = task->n_missing_bytes ? task->missing_at : at;
        task->n_missing_bytes += 16 - (file->n_bytes - at);
    }
    if (text)
        rec_add(text, "end @%" PRIu64 "\n", pass.last_told);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void su_note(struct rec_text *text, const char *name, uint64_t count, unsigned thread,
                    bool has_place, uint64_t at)
{
    if (count == 0)
        return;
    rec_add(text, "note %s %" PRIu64 " thread %u", name, count, thread);
    if (has_place)
        rec_add(text, " at 0x%" PRIx64, at);
    rec_add(text, "\n");
}

static int su_compare(const void *a_void, const void *b_void)
{
    const struct su_task *a = a_void;
    const struct su_task *b = b_void;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->tid < b->tid ? -1 : 1;
}

static uint64_t su_pid(const struct su *su, uint64_t tid)
{
    for (size_t k = 0; k < su->n_rows; k++)
        if ((su->rows[k].kind == 'T' || su->rows[k].kind == 'F') && su->rows[k].tid == tid)
            return su->rows[k].pid;
    return 0;
}

static void su_find_tasks(struct su *su)
{
    su->zero = UINT64_MAX;
    for (size_t k = 0; k < su->folder->n_files; k++) {
        struct su_task *task = &su->tasks[su->n_tasks];
        char rest;
        if (sscanf(su->folder->files[k].name, "%" SCNu64 ".da%c", &task->tid, &rest) != 2)
            continue;
        task->file = &su->folder->files[k];
        su->n_tasks++;
        su_walk(su, task, NULL);
        su->zero = task->first < su->zero ? task->first : su->zero;
    }
    su->zero = su->zero == UINT64_MAX ? 0 : su->zero;
    su->n_functions = 0; /* they are numbered in the order of the tasks */
    qsort(su->tasks, su->n_tasks, sizeof *su->tasks, su_compare);
    for (size_t k = 0; k < su->n_tasks; k++) {
        su->tasks[k].thread = (unsigned)k;
        su_walk(su, &su->tasks[k], NULL);
    }
}

/* `head` is the line that begins the text; tasks are named "prog". The caller frees. */
__attribute__((unused)) static char *slow_uftrace(const struct weft_folder *folder,
                                                  const char *head)
{
    static struct su su;
    struct rec_text texts[SU_MOST] = { 0 };
    struct rec_text notes = { 0 };
    struct rec_text whole = { 0 };
    memset(&su, 0, sizeof su);
    su.folder = folder;
    su_lines(&su, ".sym", su_read_symbol);
    su_end_symbols(&su);
    su_lines(&su, ".map", su_read_map);
    su_lines(&su, "task.txt", su_read_row);
    su_find_tasks(&su);
    rec_add(&whole, "%sclock 1000000000 zero %" PRIu64 " monotonic %" PRIu64 "\n", head, su.zero,
            su.zero);
    for (size_t k = 0; k < su.n_tasks; k++)
        rec_add(&whole, "thread %zu tid %" PRIu64 " pid %" PRIu64 " name prog\n", k,
                su.tasks[k].tid, su_pid(&su, su.tasks[k].tid));
    for (size_t k = 0; k < su.n_functions; k++) {
        const struct su_symbol *symbol = su.functions[k].symbol;
        rec_add(&whole, "function %zu %s [%s] 0x%" PRIx64 "\n", k, symbol ? symbol->name : "",
                symbol ? symbol->module : "", symbol ? symbol->address : su.functions[k].unknown);
    }
    for (size_t k = 0; k < su.n_tasks; k++) {
        struct su_task *task = &su.tasks[k];
        su_walk(&su, task, &texts[k]);
        su_note(&notes, "truncated", task->n_missing_bytes, (unsigned)k, true, task->missing_at);
        su_note(&notes, "bad_record", task->n_bad, (unsigned)k, true, task->bad_at);
        su_note(&notes, "lost_records", task->n_lost, (unsigned)k, true, task->lost_at);
        su_note(&notes, "missing_exit", task->n_missing, (unsigned)k, false, 0);
        su_note(&notes, "exit_ignored", task->n_ignored, (unsigned)k, false, 0);
    }
    rec_add(&whole, "%s", rec_str(&notes));
    for (size_t k = 0; k < su.n_tasks; k++) {
        rec_add(&whole, "-- %zu\n%s", k, rec_str(&texts[k]));
        free(texts[k].bytes);
    }
    free(notes.bytes);
    return whole.bytes;
}

#endif
