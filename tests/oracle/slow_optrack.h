/* SPDX-License-Identifier: MIT
 *
 * The slow, obvious reader of operation tracking: everything in arrays, runs by joining neighbours
 * until nothing changes, times by 128-bit division. It writes what recording_sink.h would.
 */
#ifndef WEFT_TESTS_SLOW_OPTRACK_H
#define WEFT_TESTS_SLOW_OPTRACK_H

#include "base/u128.h"
#include "recording_sink.h"

enum { SO_MOST_RECORDS = 4096, SO_MOST_STACK = 4096 };

struct so_record {
    uint64_t ticks;
    unsigned id, kind;
    size_t at;
};

struct so_file {
    const uint8_t *bytes;
    size_t n_bytes;
    uint64_t session;
    unsigned version, internal, ratio;
    uint64_t epoch_s;
    size_t n_header;
    struct so_record records[SO_MOST_RECORDS];
    size_t n_records;
    size_t ends[SO_MOST_RECORDS]; /* runs, in the file's order: where each ends */
    size_t n_runs;
};

static uint64_t so_int(const uint8_t *bytes, size_t n_bytes)
{
    uint64_t value = 0;
    for (size_t k = n_bytes; k-- > 0;)
        value = value << 8 | bytes[k];
    return value;
}

static uint64_t so_least(const struct so_file *file, size_t from, size_t to)
{
    uint64_t least = UINT64_MAX;
    for (size_t k = from; k < to; k++)
        least = file->records[k].ticks < least ? file->records[k].ticks : least;
    return least;
}

static uint64_t so_most(const struct so_file *file, size_t from, size_t to)
{
    uint64_t most = 0;
    for (size_t k = from; k < to; k++)
        most = file->records[k].ticks > most ? file->records[k].ticks : most;
    return most;
}

static size_t so_begin(const struct so_file *file, size_t run)
{
    return run ? file->ends[run - 1] : 0;
}

/* Joins run and the one behind it if the second does not lie wholly before the first. */
static bool so_join(struct so_file *file, size_t run)
{
    uint64_t most = so_most(file, file->ends[run], file->ends[run + 1]);
    if (most < so_least(file, so_begin(file, run), file->ends[run]))
        return false;
    memmove(&file->ends[run], &file->ends[run + 1], (file->n_runs - run - 1) * sizeof *file->ends);
    file->n_runs--;
    return true;
}

static void so_find_runs(struct so_file *file)
{
    file->n_runs = file->n_records;
    for (size_t k = 0; k < file->n_records; k++)
        file->ends[k] = k + 1; /* each record alone */
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (size_t run = 0; run + 1 < file->n_runs && !is_changed; run++)
            is_changed = so_join(file, run);
    }
}

static void so_load(struct so_file *file)
{
    file->version = (unsigned)so_int(file->bytes, 4);
    file->internal = (unsigned)so_int(file->bytes + 4, 4);
    file->ratio = (unsigned)so_int(file->bytes + 8, 4);
    file->n_header = file->version == 2 ? 12 : 24;
    file->epoch_s = file->version == 2 ? 0 : so_int(file->bytes + 16, 8);
    for (size_t at = file->n_header; at + 16 <= file->n_bytes; at += 16)
        file->records[file->n_records++] =
            (struct so_record){ .ticks = so_int(file->bytes + at, 8),
                                .id = (unsigned)so_int(file->bytes + at + 8, 2),
                                .kind = (unsigned)so_int(file->bytes + at + 10, 2),
                                .at = at };
    so_find_runs(file);
}

struct so_clock {
    uint64_t zero, hz;
    weft_u128 most;
};

static bool so_is_time(const struct so_clock *clock, uint64_t ticks)
{
    uint64_t span = ticks > clock->zero ? ticks - clock->zero : 0;
    return span <= clock->most;
}

static uint64_t so_ns(const struct so_clock *clock, uint64_t ticks)
{
    weft_u128 span = ticks > clock->zero ? ticks - clock->zero : 0;
    return (uint64_t)(span * 1000000000u / clock->hz);
}

struct so_told {
    uint64_t last_ns;
    uint64_t n_bad, bad_at;
    uint64_t n_cut_start, n_cut_end;
};

/* What is entered before a run and open behind it, by playing it on a stack. */
static size_t so_play(const struct so_file *file, size_t from, size_t to, unsigned *before,
                      unsigned *open, size_t *n_open)
{
    size_t n_before = 0;
    *n_open = 0;
    for (size_t k = from; k < to; k++) {
        const struct so_record *record = &file->records[k];
        size_t at = *n_open;
        if (record->kind > 1)
            continue;
        if (record->kind == 0) {
            open[(*n_open)++] = record->id;
            continue;
        }
        while (at && open[at - 1] != record->id)
            at--;
        if (at)
            *n_open = at - 1;
        else if (*n_open == 0)
            before[n_before++] = record->id;
    }
    return n_before;
}

static void so_tell_run(const struct so_file *file, size_t run, const struct so_clock *clock,
                        struct rec_text *text, struct so_told *told)
{
    static unsigned before[SO_MOST_STACK];
    static unsigned open[SO_MOST_STACK];
    size_t from = so_begin(file, run);
    size_t to = file->ends[run];
    size_t n_open;
    size_t n_before = so_play(file, from, to, before, open, &n_open);
    uint64_t least = so_least(file, from, to);
    uint64_t most = so_most(file, from, to);
    for (size_t k = n_before; run + 1 < file->n_runs && k-- > 0; told->n_cut_start++)
        if (so_is_time(clock, least))
            rec_add(text, "E %u @%" PRIu64 "\n", before[k], so_ns(clock, least));
    for (size_t k = from; k < to; k++) {
        const struct so_record *record = &file->records[k];
        if (record->kind > 1 || !so_is_time(clock, record->ticks)) {
            told->bad_at = told->n_bad ? told->bad_at : record->at;
            told->n_bad += 16;
            continue;
        }
        uint64_t ns = so_ns(clock, record->ticks);
        rec_add(text, "%c %u @%" PRIu64 "\n", "EX"[record->kind], record -> id, ns);
        told->last_ns = ns > told->last_ns ? ns : told->last_ns;
    }
    for (size_t k = n_open; run > 0 && k-- > 0; told->n_cut_end++)
        if (so_is_time(clock, most))
            rec_add(text, "X %u @%" PRIu64 "\n", open[k], so_ns(clock, most));
}

static void so_note(struct rec_text *text, const char *name, uint64_t count, size_t thread)
{
    if (count)
        rec_add(text, "note %s %" PRIu64 " thread %zu\n", name, count, thread);
}

static void so_tell_file(const struct so_file *file, size_t thread, const struct so_clock *clock,
                         struct rec_text *text, struct rec_text *notes)
{
    struct so_told told = { 0 };
    uint64_t n_lost = 0;
    for (size_t run = file->n_runs; run-- > 0;)
        so_tell_run(file, run, clock, text, &told);
    rec_add(text, "end @%" PRIu64 "\n", told.last_ns);
    size_t n_rest = (file->n_bytes - file->n_header) % 16;
    if (n_rest)
        rec_add(notes, "note truncated %zu thread %zu at 0x%zx\n", 16 - n_rest, thread,
                file->n_bytes - n_rest);
    if (told.n_bad)
        rec_add(notes, "note bad_record %" PRIu64 " thread %zu at 0x%" PRIx64 "\n", told.n_bad,
                thread, told.bad_at);
    if (file->n_runs < 2)
        return;
    for (size_t run = 1; run < file->n_runs; run++)
        n_lost += file->ends[run - 1];
    so_note(notes, "time_backward", file->n_runs - 1, thread);
    so_note(notes, "lost_records", n_lost, thread);
    so_note(notes, "exit_without_entry", told.n_cut_start, thread);
    so_note(notes, "open_at_end", told.n_cut_end, thread);
}

static void so_tell_clock(const struct so_file *files, size_t n_files, struct so_clock *clock,
                          struct rec_text *text)
{
    bool has_realtime = false;
    uint64_t realtime = 0;
    clock->zero = UINT64_MAX;
    for (size_t k = 0; k < n_files; k++)
        if (files[k].n_records && so_least(&files[k], 0, files[k].n_records) < clock->zero)
            clock->zero = so_least(&files[k], 0, files[k].n_records);
    clock->zero = clock->zero == UINT64_MAX ? 0 : clock->zero;
    clock->hz = files[0].ratio * UINT64_C(1000000);
    clock->most = ((weft_u128)1 << 62) * clock->hz / 1000000000u;
    clock->most = clock->most > (uint64_t)1 << 62 ? (uint64_t)1 << 62 : clock->most;
    rec_add(text, "clock %" PRIu64 " zero %" PRIu64, clock->hz, clock->zero);
    for (size_t k = 0; k < n_files; k++) {
        uint64_t first = so_least(&files[k], 0, files[k].n_records);
        uint64_t epoch_ns = files[k].epoch_s * 1000000000u;
        if (files[k].n_records == 0 || files[k].epoch_s < 1000000000 ||
            files[k].epoch_s > (uint64_t)1 << 34 || !so_is_time(clock, first) ||
            so_ns(clock, first) > epoch_ns)
            continue;
        has_realtime = true;
        if (epoch_ns - so_ns(clock, first) > realtime)
            realtime = epoch_ns - so_ns(clock, first);
    }
    if (has_realtime)
        rec_add(text, " realtime %" PRIu64, realtime);
    rec_add(text, "\n");
}

/* Files of one process, in order of session, with good headers and without a map. `head` is the
 * line that begins the text. The caller frees. */
__attribute__((unused)) static char *slow_optrack(struct so_file *files, size_t n_files,
                                                  const char *head)
{
    struct rec_text whole = { 0 };
    struct rec_text notes = { 0 };
    struct rec_text *texts = calloc(n_files, sizeof *texts);
    struct so_clock clock;
    for (size_t k = 0; k < n_files; k++)
        so_load(&files[k]);
    rec_add(&whole, "%s", head);
    so_tell_clock(files, n_files, &clock, &whole);
    for (size_t k = 0; k < n_files; k++) {
        rec_add(&whole, "thread %zu tid %" PRIu64 " pid 7 name session %" PRIu64 "%s\n", k,
                files[k].session, files[k].session, files[k].internal ? " (internal)" : "");
        so_tell_file(&files[k], k, &clock, &texts[k], &notes);
    }
    rec_add(&whole, "%s", rec_str(&notes));
    for (size_t k = 0; k < n_files; k++) {
        rec_add(&whole, "-- %zu\n%s", k, rec_str(&texts[k]));
        free(texts[k].bytes);
    }
    free(texts);
    free(notes.bytes);
    return whole.bytes;
}

#endif
