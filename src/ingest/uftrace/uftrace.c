/* SPDX-License-Identifier: MIT
 *
 * The import of a uftrace directory. Every task is walked twice, tasks in parallel: first to meet
 * the functions and find time 0, then to deliver.
 */
#include "ingest/uftrace/uftrace.h"

#include "base/checked.h"
#include "base/vec.h"
#include "ingest/uftrace/text.h"
#include "ingest/uftrace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Plain records that are taken at once. */
enum { MOST_PLAIN = 256 };

/* Bytes between two reports of progress and looks at cancellation. */
#define STEP_BYTES (UINT64_C(1) << 18)

static struct weft_progress *progress_of(const struct weft_uft_trace *trace)
{
    return trace->run ? trace->run->progress : NULL;
}

static const struct weft_mapped *file_named(const struct weft_folder *folder, const char *name)
{
    for (size_t k = 0; k < folder->n_files; k++)
        if (strcmp(folder->files[k].name, name) == 0)
            return &folder->files[k].file;
    return NULL;
}

/* ---- metadata ---------------------------------------------------------------------------------
 */

static enum weft_code read_metadata(struct weft_uft_trace *trace, struct weft_err *err)
{
    const struct weft_mapped *info = file_named(trace->folder, "info");
    const struct weft_mapped *tasks = file_named(trace->folder, "task.txt");
    const struct weft_mapped *events = file_named(trace->folder, "events.txt");
    enum weft_code code = info ? weft_uft_info_read(info, &trace->info, err)
                               : weft_fail(err, WEFT_E_TRUNCATED, WEFT_NO_OFFSET,
                                           "expected a file \"info\" in the directory");
    if (code != WEFT_OK)
        return weft_in_file(err, "info"), code;
    if (tasks)
        code = weft_uft_tasks_read(tasks, &trace->tasks, err);
    if (code == WEFT_OK && events)
        code = weft_uft_event_names_read(events, &trace->event_names, err);
    WEFT_THEN(code, weft_uft_perf_read(trace->folder, &trace->perf, err));
    WEFT_THEN(code, weft_uft_space_open(trace->folder, &trace->tasks,
                                        trace->info.features & WEFT_UFT_SYM_REL_ADDR, trace->run,
                                        &trace->space, err));
    return code;
}

/* ---- tasks ------------------------------------------------------------------------------------
 */

/* "TID.dat" */
static bool parse_tid(const char *file_name, uint64_t *tid)
{
    struct weft_str name = weft_str_of(file_name);
    struct weft_str digits;
    return weft_uft_until(&name, '.', &digits) && weft_str_equal(name, WEFT_STR("dat")) &&
           weft_uft_decimal(digits, tid) && *tid <= UINT32_MAX;
}

/* The last name that the kernel recorded, else the program's, as the kernel would cut it. */
static void name_track(const struct weft_uft_trace *trace, struct weft_uft_track *track)
{
    const char *comm = weft_uft_comm_of(&trace->perf, track->tid);
    size_t session = track->epochs.sessions[track->epochs.begins.n - 1];
    struct weft_str name = { 0 };
    if (comm)
        name = weft_str_of(comm);
    else if (session != WEFT_UFT_NO_SESSION)
        name = weft_uft_base_name(trace->tasks.sessions.items[session].exe);
    (void)snprintf(track->name, sizeof track->name, "%.*s",
                   name.n_bytes < sizeof track->name ? (int)name.n_bytes
                                                     : (int)sizeof track->name - 1,
                   name.n_bytes ? name.bytes : "");
}

static enum weft_code add_track(struct weft_uft_trace *trace, const struct weft_folder_file *file,
                                uint64_t tid, struct weft_err *err)
{
    struct weft_uft_track *track = WEFT_VEC_PUSH(&trace->tracks);
    if (!track)
        return weft_no_memory(err, "the list of tasks");
    track->file = file;
    track->tid = tid;
    track->first_ns = UINT64_MAX;
    for (size_t k = trace->tasks.tasks.n; k-- > 0;)
        if (trace->tasks.tasks.items[k].tid == tid)
            track->pid = trace->tasks.tasks.items[k].pid;
    track->n_switches = weft_uft_switches_of(&trace->perf, tid, &track->first_switch);
    enum weft_code code = weft_uft_locals_init(&track->locals, err);
    WEFT_THEN(code, weft_uft_epochs_find(&trace->space, tid, &track->epochs, err));
    if (code == WEFT_OK)
        name_track(trace, track);
    return code;
}

static enum weft_code list_tracks(struct weft_uft_trace *trace, struct weft_err *err)
{
    for (size_t k = 0; k < trace->folder->n_files; k++) {
        uint64_t tid;
        const struct weft_folder_file *file = &trace->folder->files[k];
        WEFT_TRY(parse_tid(file->name, &tid) ? add_track(trace, file, tid, err) : WEFT_OK);
    }
    return WEFT_OK;
}

/* ---- first walk -------------------------------------------------------------------------------
 */

/* Reports progress from time to time; CANCELLED when the user wants it. */
static enum weft_code step(const struct weft_uft_trace *trace, const struct weft_uft_walk *walk,
                           uint64_t *reported_off, struct weft_err *err)
{
    weft_progress_add(progress_of(trace), walk->at_off - *reported_off);
    *reported_off = walk->at_off;
    if (weft_progress_is_cancelled(progress_of(trace)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

static enum weft_code survey(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    const struct weft_uft_trace *trace = context;
    struct weft_uft_track *track = &trace->tracks.items[item];
    struct weft_uft_walk walk;
    struct weft_uft_record record;
    struct weft_uft_plain plain[MOST_PLAIN];
    uint64_t reported_off = 0;
    weft_uft_walk_begin(&walk, &trace->info, &trace->space, &track->epochs, &track->locals,
                        &track->file->file);
    for (bool is_end = false;;) {
        size_t n_plain = weft_uft_walk_plain(&walk, plain, MOST_PLAIN);
        for (size_t k = 0; k < n_plain; k++)
            track->first_ns = weft_min_u64(track->first_ns, plain[k].time_ns);
        enum weft_code code = weft_uft_walk_next(&walk, &record, &is_end, err);
        if (code == WEFT_OK && (is_end || walk.at_off - reported_off >= STEP_BYTES))
            code = step(trace, &walk, &reported_off, err);
        if (code != WEFT_OK || is_end)
            return code;
        if (record.type != WEFT_UFT_LOST)
            track->first_ns = weft_min_u64(track->first_ns, record.time_ns);
    }
}

static void find_zero(struct weft_uft_trace *trace)
{
    trace->zero_ns = UINT64_MAX;
    for (size_t k = 0; k < trace->tracks.n; k++) {
        struct weft_uft_track *track = &trace->tracks.items[k];
        if (track->n_switches)
            track->first_ns = weft_min_u64(track->first_ns,
                                           trace->perf.switches.items[track->first_switch].time_ns);
        trace->zero_ns = weft_min_u64(trace->zero_ns, track->first_ns);
    }
    if (trace->zero_ns == UINT64_MAX)
        trace->zero_ns = 0;
}

static int compare_tracks(const void *a_void, const void *b_void)
{
    const struct weft_uft_track *a = a_void;
    const struct weft_uft_track *b = b_void;
    if (a->first_ns != b->first_ns)
        return a->first_ns < b->first_ns ? -1 : 1;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return (a->file > b->file) - (a->file < b->file);
}

/* ---- announcements ----------------------------------------------------------------------------
 */

static enum weft_code announce_begin(struct weft_uft_trace *trace, struct weft_err *err)
{
    const struct weft_uft_info *info = &trace->info;
    char details[128];
    (void)snprintf(details, sizeof details, "version %" PRIu32 "%s%.*s, %zu tasks%s%s",
                   info->version, info->writer.n_bytes ? ", written by " : "",
                   info->writer.n_bytes < 32 ? (int)info->writer.n_bytes : 32,
                   info->writer.n_bytes ? info->writer.bytes : "", trace->tracks.n,
                   info->features & WEFT_UFT_ESTIMATE_RETURN ? ", returns estimated" : "",
                   info->is_monotonic ? "" : ", not CLOCK_MONOTONIC");
    const struct weft_sink_begin begin = { .format = WEFT_STR("uftrace"),
                                           .details = weft_str_of(details),
                                           .is_parallel = true };
    return trace->sink->ops->begin(trace->sink, &begin, err);
}

static enum weft_code announce_threads(struct weft_uft_trace *trace, struct weft_err *err)
{
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = trace->zero_ns,
                                      .has_monotonic = trace->info.is_monotonic,
                                      .monotonic_ns = trace->zero_ns };
    enum weft_code code = trace->sink->ops->clock(trace->sink, &clock, err);
    for (size_t k = 0; code == WEFT_OK && k < trace->tracks.n; k++) {
        struct weft_uft_track *track = &trace->tracks.items[k];
        const struct weft_thread_info info = { .tid = track->tid,
                                               .pid = track->pid,
                                               .name = weft_str_of(track->name) };
        code = trace->sink->ops->thread(trace->sink, &info, &track->thread_id, err);
    }
    return code;
}

/* ---- second walk ------------------------------------------------------------------------------
 */

/* Lets go of the pages behind the walk. */
static void let_go(const struct weft_uft_track *track, uint64_t from_off, uint64_t to_off)
{
    weft_mapped_done(&track->file->file, from_off, to_off - from_off);
}

static enum weft_code deliver_records(const struct weft_uft_trace *trace,
                                      struct weft_uft_track *track, struct weft_uft_out *out,
                                      struct weft_err *err)
{
    struct weft_uft_walk walk;
    struct weft_uft_record record = { 0 };
    struct weft_uft_plain plain[MOST_PLAIN];
    uint64_t reported_off = 0;
    enum weft_code code = WEFT_OK;
    weft_uft_walk_begin(&walk, &trace->info, &trace->space, &track->epochs, &track->locals,
                        &track->file->file);
    for (bool is_end = false; code == WEFT_OK;) {
        size_t n_plain = weft_uft_walk_plain(&walk, plain, MOST_PLAIN);
        code = weft_uft_out_plain(out, plain, n_plain, track->locals.rows.items, err);
        WEFT_THEN(code, weft_uft_walk_next(&walk, &record, &is_end, err));
        if (code == WEFT_OK && (is_end || walk.at_off - reported_off >= STEP_BYTES)) {
            let_go(track, reported_off, walk.at_off);
            code = step(trace, &walk, &reported_off, err);
        }
        if (code != WEFT_OK || is_end)
            break;
        if (record.type == WEFT_UFT_LOST) {
            weft_uft_tally_add(&track->lost, record.id, record.at_off);
            continue;
        }
        uint32_t key =
            record.type == WEFT_UFT_EVENT ? 0 : track->locals.rows.items[record.local].key;
        code = weft_uft_out_record(out, &record, key, &trace->event_names, err);
    }
    track->bad_bytes = walk.bad_bytes;
    track->missing_bytes = walk.missing_bytes;
    return code;
}

static enum weft_code deliver(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    const struct weft_uft_trace *trace = context;
    struct weft_uft_track *track = &trace->tracks.items[item];
    struct weft_uft_out *out = &trace->outs[worker];
    weft_uft_out_begin(out, trace->sink, track->thread_id, trace->zero_ns,
                       trace->info.max_stack <= WEFT_UFT_MOST_DEPTH);
    enum weft_code code = deliver_records(trace, track, out, err);
    WEFT_THEN(code, weft_uft_out_flush(out, err));
    if (code == WEFT_OK && track->n_switches)
        code = weft_uft_out_switches(out, &trace->perf.switches.items[track->first_switch],
                                     track->n_switches, err);
    WEFT_THEN(code, trace->sink->ops->thread_end(trace->sink, track->thread_id, out->last_ns, err));
    track->n_missing = out->n_missing;
    track->n_ignored = out->n_ignored;
    if (code != WEFT_OK)
        weft_in_file(err, track->file->path);
    return code;
}

static enum weft_code for_each_track(struct weft_uft_trace *trace, weft_pool_fn work,
                                     struct weft_err *err)
{
    if (trace->run && trace->run->pool)
        return weft_pool_run(trace->run->pool, trace->tracks.n, work, trace, progress_of(trace),
                             err);
    for (size_t k = 0; k < trace->tracks.n; k++) {
        WEFT_TRY(work(trace, k, 0, err));
    }
    return WEFT_OK;
}

static enum weft_code deliver_all(struct weft_uft_trace *trace, struct weft_err *err)
{
    struct weft_pool *pool = trace->run ? trace->run->pool : NULL;
    unsigned n_workers = pool ? weft_pool_workers(pool) : 1;
    trace->outs = calloc(n_workers, sizeof *trace->outs);
    if (!trace->outs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for buffers of %u workers",
                         n_workers);
    for (; trace->n_outs < n_workers; trace->n_outs++) {
        WEFT_TRY(weft_uft_out_init(&trace->outs[trace->n_outs], err));
    }
    return for_each_track(trace, deliver, err);
}

/* ---- notes ------------------------------------------------------------------------------------
 */

static enum weft_code note(struct weft_uft_trace *trace, enum weft_note_kind kind,
                           struct weft_uft_tally tally, uint32_t thread_id, const char *detail,
                           struct weft_err *err)
{
    if (tally.count == 0)
        return WEFT_OK;
    const struct weft_note row = { .kind = kind,
                                   .count = tally.count,
                                   .thread_id = thread_id,
                                   .at_off = tally.at_off,
                                   .detail = weft_str_of(detail) };
    return trace->sink->ops->note(trace->sink, &row, err);
}

static struct weft_uft_tally number_of(uint64_t count)
{
    return (struct weft_uft_tally){ .count = count, .at_off = WEFT_NO_OFFSET };
}

static enum weft_code note_track(struct weft_uft_trace *trace, const struct weft_uft_track *track,
                                 struct weft_err *err)
{
    const struct {
        enum weft_note_kind kind;
        struct weft_uft_tally tally;
    } rows[] = {
        { WEFT_NOTE_TRUNCATED, track->missing_bytes },
        { WEFT_NOTE_BAD_RECORD, track->bad_bytes },
        { WEFT_NOTE_LOST_RECORDS, track->lost },
        { WEFT_NOTE_MISSING_EXIT, number_of(track->n_missing) },
        { WEFT_NOTE_EXIT_IGNORED, number_of(track->n_ignored) },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sizeof rows / sizeof *rows; k++)
        code = note(trace, rows[k].kind, rows[k].tally, track->thread_id, "", err);
    return code;
}

static uint64_t count_kernel_files(const struct weft_folder *folder)
{
    uint64_t n_files = 0;
    for (size_t k = 0; k < folder->n_files; k++)
        n_files += strncmp(folder->files[k].name, "kernel-cpu", 10) == 0 &&
                   folder->files[k].file.n_bytes > 0;
    return n_files;
}

static enum weft_code note_all(struct weft_uft_trace *trace, struct weft_err *err)
{
    const struct weft_uft_perf *perf = &trace->perf;
    const struct weft_uft_tally bad_lines = { .count = trace->tasks.n_bad_bytes,
                                              .at_off = trace->tasks.bad_off };
    const struct {
        enum weft_note_kind kind;
        struct weft_uft_tally tally;
        const char *detail;
    } rows[] = {
        { WEFT_NOTE_BAD_RECORD, bad_lines, "task.txt" },
        { WEFT_NOTE_BAD_RECORD, number_of(perf->n_bad_bytes), "scheduling" },
        { WEFT_NOTE_UNKNOWN_RECORD, number_of(perf->n_unknown), "scheduling" },
        { WEFT_NOTE_LOST_RECORDS, number_of(perf->n_lost), "scheduling" },
        { WEFT_NOTE_UNKNOWN_RECORD, number_of(count_kernel_files(trace->folder)),
          "files of kernel functions, not read" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sizeof rows / sizeof *rows; k++)
        code = note(trace, rows[k].kind, rows[k].tally, WEFT_ID_NONE, rows[k].detail, err);
    for (size_t k = 0; code == WEFT_OK && k < trace->tracks.n; k++)
        code = note_track(trace, &trace->tracks.items[k], err);
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code import_all(struct weft_uft_trace *trace, struct weft_err *err)
{
    enum weft_code code = read_metadata(trace, err);
    WEFT_THEN(code, list_tracks(trace, err));
    if (code == WEFT_OK && trace->tracks.n == 0)
        code = weft_fail(err, WEFT_E_TRUNCATED, WEFT_NO_OFFSET,
                         "expected a file of records (TID.dat), found none");
    WEFT_THEN(code, for_each_track(trace, survey, err));
    if (code != WEFT_OK)
        return code;
    find_zero(trace);
    qsort(trace->tracks.items, trace->tracks.n, sizeof *trace->tracks.items, compare_tracks);
    code = announce_begin(trace, err);
    WEFT_THEN(code, announce_threads(trace, err));
    WEFT_THEN(code, weft_uft_announce_functions(trace, err));
    WEFT_THEN(code, deliver_all(trace, err));
    return code == WEFT_OK ? note_all(trace, err) : code;
}

static void trace_fini(struct weft_uft_trace *trace)
{
    for (unsigned k = 0; k < trace->n_outs; k++)
        weft_uft_out_fini(&trace->outs[k]);
    free(trace->outs);
    for (size_t k = 0; k < trace->tracks.n; k++) {
        weft_uft_locals_fini(&trace->tracks.items[k].locals);
        weft_uft_epochs_fini(&trace->tracks.items[k].epochs);
    }
    WEFT_VEC_FINI(&trace->tracks);
    WEFT_VEC_FINI(&trace->event_names.rows);
    weft_uft_space_fini(&trace->space);
    weft_uft_perf_fini(&trace->perf);
    weft_uft_tasks_fini(&trace->tasks);
}

enum weft_code weft_uftrace_import_folder(const struct weft_folder *folder, struct weft_sink *sink,
                                          const struct weft_run *run, struct weft_err *err)
{
    struct weft_uft_trace trace = { .folder = folder, .sink = sink, .run = run };
    uint64_t n_bytes = 0;
    for (size_t k = 0; k < folder->n_files; k++) {
        uint64_t tid;
        n_bytes += parse_tid(folder->files[k].name, &tid) ? folder->files[k].file.n_bytes : 0;
    }
    weft_progress_start(progress_of(&trace), "reading", "bytes", n_bytes * 2);
    enum weft_code code = import_all(&trace, err);
    trace_fini(&trace);
    return code;
}

bool weft_uftrace_sniff_dir(const char *path)
{
    uint8_t bytes[8];
    return weft_uft_is_info(bytes, weft_folder_peek(path, "info", bytes, sizeof bytes));
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n_name = strlen(name);
    size_t n_suffix = strlen(suffix);
    return n_name > n_suffix && strcmp(name + n_name - n_suffix, suffix) == 0;
}

static bool is_wanted(const char *name)
{
    return strcmp(name, "info") == 0 || ends_with(name, ".txt") || ends_with(name, ".dat") ||
           ends_with(name, ".map") || ends_with(name, ".sym") || ends_with(name, ".dbg");
}

enum weft_code weft_uftrace_import(const char *path, struct weft_sink *sink,
                                   const struct weft_run *run, struct weft_err *err)
{
    struct weft_folder folder;
    enum weft_code code = weft_folder_open(path, is_wanted, &folder, err);
    WEFT_THEN(code, weft_uftrace_import_folder(&folder, sink, run, err));
    weft_folder_close(&folder);
    if (code != WEFT_OK && code != WEFT_E_CANCELLED)
        weft_in_file(err, path);
    return code;
}
