/* SPDX-License-Identifier: MIT
 *
 * The importer's frame: what the META pieces describe, the ledger of processes, the parallel loops
 * over threads (survey.c, then deliver.c), and the notes. Threads of the recorded program are
 * announced before those of the rest of the machine.
 */
#include "ingest/recording/recording.h"

#include "base/vec.h"
#include "ingest/recording/convert.h"
#include "ingest/recording/deliver.h"
#include "ingest/recording/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_UNPACKED_BYTES (UINT64_C(1) << 40)

/* Culled functions that are named. */
enum { MOST_CULLED_NOTES = 16, DETAIL_BYTES = 512, LEAST_SHARED_NS = 1000000000 };

bool weft_recording_sniff(const uint8_t *bytes, size_t n_bytes)
{
    const size_t n_magic = sizeof WEFT_RECORDING_MAGIC - 1;
    return n_bytes >= n_magic && memcmp(bytes, WEFT_RECORDING_MAGIC, n_magic) == 0;
}

/* ---- what is known of the whole ---------------------------------------------------------------
 */

/* What the last pieces of their kinds say. */
struct about {
    char command[200], levels[160], folder[256], host[128], lost_threads[24], skipped[24],
        further[24], lost_reports[24];
    char target[24], follows[8], stopped[64], unwritten[24], ended[64], stop[24];
    struct weft_record_cost cost;
    uint64_t end_ns;
    bool has_cost, has_end;
};

static void take_text(struct weft_str text, const char *name, char *value, size_t n_value)
{
    struct weft_str line, key, found;
    while (rec_next_line(&text, &line))
        if (rec_key_value(line, &key, &found) && weft_str_equal(key, weft_str_of(name)))
            (void)snprintf(value, n_value, "%.*s", (int)weft_min_u64(found.n_bytes, n_value - 1),
                           found.bytes);
}

static bool read_cost(struct weft_str payload, struct weft_record_cost *cost)
{
    struct weft_cursor cur = weft_cur_init(payload.bytes, payload.n_bytes, 0);
    cost->recorder_cpu_ns = weft_cur_u64(&cur);
    cost->target_cpu_ns = weft_cur_u64(&cur);
    cost->bpf_ns = weft_cur_u64(&cur);
    cost->bytes = weft_cur_u64(&cur);
    cost->events = weft_cur_u64(&cur);
    cost->lost = weft_cur_u64(&cur);
    return !cur.fault;
}

static bool read_about(const struct rec_pieces *pieces, struct about *about)
{
    struct rec_room room = { 0 };
    bool is_good = true;
    *about = (struct about){ 0 };
    for (size_t k = 0; is_good && k < pieces->n; k++) {
        const struct rec_piece *piece = &pieces->items[k];
        struct weft_str payload;
        about->end_ns = weft_max_u64(about->end_ns, piece->time_ns);
        about->has_end |= piece->kind == WEFT_PIECE_END;
        if (piece->kind != WEFT_PIECE_META && piece->kind != WEFT_PIECE_COST)
            continue;
        is_good = rec_piece_read(pieces, piece, &room, &payload);
        if (is_good && piece->kind == WEFT_PIECE_COST)
            about->has_cost |= read_cost(payload, &about->cost);
        if (is_good && piece->kind == WEFT_PIECE_META) {
            take_text(payload, "command", about->command, sizeof about->command);
            take_text(payload, "levels", about->levels, sizeof about->levels);
            take_text(payload, "host", about->host, sizeof about->host);
            take_text(payload, "lost_threads", about->lost_threads, sizeof about->lost_threads);
            take_text(payload, "skipped", about->skipped, sizeof about->skipped);
            take_text(payload, "further", about->further, sizeof about->further);
            take_text(payload, "lost_reports", about->lost_reports, sizeof about->lost_reports);
            take_text(payload, "folder", about->folder, sizeof about->folder);
            take_text(payload, "target", about->target, sizeof about->target);
            take_text(payload, "follows", about->follows, sizeof about->follows);
            take_text(payload, "stopped", about->stopped, sizeof about->stopped);
            take_text(payload, "ended", about->ended, sizeof about->ended);
            take_text(payload, "stop_ns", about->stop, sizeof about->stop);
            take_text(payload, "unwritten", about->unwritten, sizeof about->unwritten);
        }
    }
    rec_room_fini(&room);
    return is_good;
}

/* What the recorder took; as a share only of what lasted so long that its start and end hardly
 * count. */
static int describe_cost(const struct rec_convert *convert, const struct about *about, char *text,
                         size_t n_text)
{
    const uint64_t lasted_ns = weft_sub_sat_u64(convert->end_ns, convert->zero_ns);
    const uint64_t own_ns = weft_add_sat_u64(about->cost.recorder_cpu_ns, about->cost.bpf_ns);
    int n = snprintf(text, n_text, "recorder %.1f ms CPU", (double)own_ns / 1e6);
    if (lasted_ns >= LEAST_SHARED_NS)
        n += snprintf(text + n, n_text - (size_t)n, " (%.2f %% of a CPU)",
                      100.0 * (double)own_ns / (double)lasted_ns);
    return n;
}

/* Was a library in any process? Recordings without a ledger do not say so. */
static bool has_library(const struct rec_ledger *ledger)
{
    bool is_found = ledger->n == 0;
    for (size_t k = 0; k < ledger->n; k++)
        is_found = is_found || (ledger->items[k].levels & WEFT_LEDGER_BY_LIBRARY);
    return is_found;
}

/* The levels that were asked for, but for those of the libraries where these were in no process. */
static int describe_levels(const struct rec_convert *convert, const struct about *about, char *text,
                           size_t n_text)
{
    const bool with_library = has_library(&convert->ledger);
    int n = 0;
    for (const char *at = about->levels; *at;) {
        const int n_level = (int)strcspn(at, ",");
        const bool is_of_library = (n_level == 5 && memcmp(at, "locks", 5) == 0) ||
                                   (n_level == 9 && memcmp(at, "functions", 9) == 0);
        if (with_library || !is_of_library)
            n += snprintf(text + n, n_text - (size_t)n, "%s%.*s", n ? ", " : "", n_level, at);
        at += n_level;
        at += strspn(at, ", ");
    }
    return n;
}

/* "./prog 3; functions, locks; recorder 14.2 ms CPU (1.20 % of a processor)" */
static int describe(const struct rec_convert *convert, const struct about *about, char *text,
                    size_t n_text)
{
    char levels[sizeof about->levels] = "";
    describe_levels(convert, about, levels, sizeof levels);
    int n = snprintf(text, n_text, "%s%s%s", about->command,
                     about->command[0] && levels[0] ? "; " : "", levels);
    if (about->has_cost) {
        n += snprintf(text + n, n_text - (size_t)n, "%s", n ? "; " : "");
        n += describe_cost(convert, about, text + n, n_text - (size_t)n);
    }
    if (!about->has_end)
        n += snprintf(text + n, n_text - (size_t)n, "%sthe recorder did not end it", n ? "; " : "");
    if (about->ended[0])
        n += snprintf(text + n, n_text - (size_t)n, "%s%s", n ? "; " : "", about->ended);
    return n;
}

enum weft_code weft_recording_look(const struct weft_mapped *file,
                                   struct weft_recording_about *about, struct weft_err *err)
{
    struct rec_pieces pieces;
    struct about found = { 0 };
    enum weft_code code = rec_pieces_open(file, MOST_UNPACKED_BYTES, NULL, &pieces, err);
    if (code == WEFT_OK && !read_about(&pieces, &found))
        code = weft_no_memory(err, "a recording");
    rec_pieces_close(&pieces);
    about->has_end = found.has_end;
    memcpy(about->host, found.host, sizeof about->host);
    memcpy(about->folder, found.folder, sizeof about->folder);
    return code;
}

/* The earliest time there is: nothing was recorded before the first pair of clocks. */
static void set_zero(struct rec_convert *convert)
{
    convert->zero_ns = convert->clocks.n ? convert->clocks.first_ns : 0;
    for (size_t k = 0; convert->clocks.n == 0 && k < convert->pieces.n; k++)
        if (k == 0 || convert->pieces.items[k].time_ns < convert->zero_ns)
            convert->zero_ns = convert->pieces.items[k].time_ns;
}

static void take_number(const char *text, uint64_t *number)
{
    struct weft_str digits = weft_str_of(text);
    if (!rec_take_decimal(&digits, number))
        *number = 0;
}

static enum weft_code take_about(struct rec_convert *convert, struct about *about)
{
    uint64_t stop_ns;
    if (!read_about(&convert->pieces, about))
        return kernel_no_memory(&convert->kernel);
    take_number(about->skipped, &convert->n_skipped);
    take_number(about->lost_threads, &convert->n_lost_threads);
    take_number(about->further, &convert->n_further);
    take_number(about->lost_reports, &convert->n_lost_reports);
    take_number(about->target, &convert->target);
    convert->follows = strcmp(about->follows, "no") != 0;
    take_number(about->stop, &stop_ns);
    convert->end_ns =
        stop_ns > convert->zero_ns ? weft_min_u64(stop_ns, about->end_ns) : about->end_ns;
    return WEFT_OK;
}

/* A file that could take no more says so at its end. */
static enum weft_code note_stopped(struct rec_convert *convert, const struct about *about)
{
    char detail[DETAIL_BYTES];
    uint64_t n_unwritten;
    if (!about->stopped[0])
        return WEFT_OK;
    take_number(about->unwritten, &n_unwritten);
    (void)snprintf(detail, sizeof detail, "the recording stopped: %s", about->stopped);
    return kernel_note(&convert->kernel, WEFT_NOTE_UNWRITTEN, weft_max_u64(n_unwritten, 1),
                       WEFT_NO_OFFSET, detail);
}

/* ---- the ledger --------------------------------------------------------------------------------
 */

static uint64_t since_zero(const struct rec_convert *convert, uint64_t ns)
{
    return ns == WEFT_LEDGER_NO_TIME ? ns : weft_sub_sat_u64(ns, convert->zero_ns);
}

static enum weft_code put_processes(struct rec_convert *convert, struct weft_ledger_totals *totals)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < convert->ledger.n; k++) {
        struct weft_ledger_process process = convert->ledger.items[k];
        process.start_ns = since_zero(convert, process.start_ns);
        process.end_ns = since_zero(convert, process.end_ns);
        process.from_ns = since_zero(convert, process.from_ns);
        process.until_ns = since_zero(convert, process.until_ns);
        weft_ledger_add(totals, &process);
        code = weft_sink_process(convert->kernel.sink, &process, convert->kernel.err);
    }
    return code;
}

/* Records and threads that were lost have notes of their own; so has a recording without an end. */
static enum weft_code note_processes(struct rec_convert *convert,
                                     const struct weft_ledger_totals *totals)
{
    enum weft_code code = WEFT_OK;
    for (unsigned why = 1; code == WEFT_OK && why < WEFT_LEDGER_WHYS; why++) {
        if (why == WEFT_LEDGER_RECORDS_LOST || why == WEFT_LEDGER_THREADS_LOST ||
            why == WEFT_LEDGER_KILLED)
            continue;
        code =
            kernel_note(&convert->kernel,
                        weft_ledger_is_asked_for(why) ? WEFT_NOTE_EXCLUDED : WEFT_NOTE_NOT_RECORDED,
                        totals->n_by_why[why], WEFT_NO_OFFSET, weft_ledger_why_text(why));
    }
    return code;
}

/* Without its last piece, or where the file took no more, what ran later is missing. */
static enum weft_code deliver_ledger(struct rec_convert *convert, const struct about *about)
{
    struct weft_ledger_totals totals = { 0 };
    char detail[DETAIL_BYTES];
    if (!about->has_end)
        rec_ledger_break(&convert->ledger, WEFT_LEDGER_KILLED, about->end_ns);
    else if (about->stopped[0])
        rec_ledger_break(&convert->ledger, WEFT_LEDGER_STOPPED, about->end_ns);
    enum weft_code code = put_processes(convert, &totals);
    WEFT_THEN(code, note_processes(convert, &totals));
    if (code != WEFT_OK || about->has_end)
        return code;
    (void)snprintf(detail, sizeof detail,
                   "the recording has no end: what ran after %.3f s is missing",
                   1e-9 * (double)weft_sub_sat_u64(about->end_ns, convert->zero_ns));
    return kernel_note(&convert->kernel, WEFT_NOTE_NOT_RECORDED,
                       weft_max_u64(totals.n_by_why[WEFT_LEDGER_KILLED], 1), WEFT_NO_OFFSET,
                       detail);
}

static enum weft_code announce(struct rec_convert *convert, const struct about *about)
{
    struct weft_sink *sink = convert->kernel.sink;
    char details[DETAIL_BYTES];
    const int n_details = describe(convert, about, details, sizeof details);
    const struct weft_sink_begin begin = { .format = WEFT_STR("weft record"),
                                           .details = { details, (size_t)n_details },
                                           .is_parallel = true,
                                           .has_some_calls = convert->has_futexes };
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = convert->zero_ns,
                                      .monotonic_ns = convert->zero_ns,
                                      .realtime_ns = convert->clocks.first_realtime_ns,
                                      .has_monotonic = true,
                                      .has_realtime = convert->clocks.first_realtime_ns != 0 };
    const enum weft_code code = sink->ops->begin(sink, &begin, convert->kernel.err);
    return code == WEFT_OK ? sink->ops->clock(sink, &clock, convert->kernel.err) : code;
}

/* ---- threads, by several workers ----------------------------------------------------------------
 */

static enum weft_code survey_item(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct rec_convert *convert = context;
    (void)worker;
    return rec_survey_thread(convert, &convert->threads.items[item], err);
}

static enum weft_code deliver_item(void *context, size_t item, unsigned worker,
                                   struct weft_err *err)
{
    struct rec_convert *convert = context;
    (void)worker;
    return rec_deliver_thread(convert, &convert->threads.items[item], err);
}

static enum weft_code for_threads(struct rec_convert *convert, weft_pool_fn fn)
{
    struct weft_pool *pool = convert->run ? convert->run->pool : NULL;
    enum weft_code code = WEFT_OK;
    if (pool)
        return weft_pool_run(pool, convert->threads.n, fn, convert, rec_progress_of(convert),
                             convert->kernel.err);
    for (size_t k = 0; code == WEFT_OK && k < convert->threads.n; k++)
        code = fn(convert, k, 0, convert->kernel.err);
    return code;
}

/* ---- notes -------------------------------------------------------------------------------------
 */

static enum weft_code note_culled(struct rec_convert *convert)
{
    uint64_t n_rest = 0;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < convert->culled.n; k++) {
        const struct rec_culled *culled = &convert->culled.items[k];
        char detail[DETAIL_BYTES];
        uint32_t path, module;
        uint64_t address;
        struct weft_str name = { 0 };
        if (k >= MOST_CULLED_NOTES) {
            n_rest++;
            continue;
        }
        code = rec_function_place(&convert->spaces, culled->image, culled->address, &path, &address,
                                  convert->kernel.err);
        if (code == WEFT_OK && path != WEFT_ID_NONE)
            code = weft_symbols_module(
                convert->spaces.symbols, weft_strtab_get(convert->spaces.texts, path),
                rec_build_id(&convert->spaces, path), &module, convert->kernel.err);
        if (code == WEFT_OK && path != WEFT_ID_NONE)
            name = weft_symbols_name(convert->spaces.symbols, module, address);
        if (name.n_bytes)
            (void)snprintf(detail, sizeof detail, "calls of %.*s: not recorded after %" PRIu64,
                           (int)weft_min_u64(name.n_bytes, 300), name.bytes, culled->n_calls);
        else
            (void)snprintf(detail, sizeof detail,
                           "calls of 0x%" PRIx64 ": not recorded after %" PRIu64, culled->address,
                           culled->n_calls);
        WEFT_THEN(code,
                  kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, 1, WEFT_NO_OFFSET, detail));
    }
    return code == WEFT_OK ? kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, n_rest,
                                         WEFT_NO_OFFSET, "calls of further functions")
                           : code;
}

static enum weft_code note_lost_piece(struct rec_convert *convert, const struct rec_piece *piece,
                                      struct rec_room *room)
{
    struct weft_str payload;
    char detail[160];
    if (!rec_piece_read(&convert->pieces, piece, room, &payload))
        return kernel_no_memory(&convert->kernel);
    struct weft_cursor cur = weft_cur_init(payload.bytes, payload.n_bytes, piece->payload_off);
    const uint64_t n_lost = weft_cur_u64(&cur);
    const uint64_t since_ns = weft_cur_u64(&cur);
    (void)snprintf(detail, sizeof detail,
                   "of the kernel, CPU %" PRIu32 ", between %.6f s and %.6f s", piece->stream,
                   1e-9 * (double)weft_sub_sat_u64(since_ns, convert->zero_ns),
                   1e-9 * (double)weft_sub_sat_u64(piece->time_ns, convert->zero_ns));
    return kernel_note(&convert->kernel, WEFT_NOTE_LOST_RECORDS, cur.fault ? 0 : n_lost,
                       piece->payload_off, detail);
}

/* Each stands where it happened, up to so many. */
static enum weft_code note_lost(struct rec_convert *convert)
{
    struct rec_room room = { 0 };
    enum weft_code code = WEFT_OK;
    size_t n_noted = 0;
    for (size_t k = 0; code == WEFT_OK && k < convert->pieces.n; k++)
        if (convert->pieces.items[k].kind == WEFT_PIECE_LOST && n_noted++ < 4096)
            code = note_lost_piece(convert, &convert->pieces.items[k], &room);
    rec_room_fini(&room);
    return code;
}

static enum weft_code note_all(struct rec_convert *convert)
{
    const struct rec_pieces *pieces = &convert->pieces;
    const struct {
        enum weft_note_kind kind;
        uint64_t count, at_off;
        const char *detail;
    } notes[] = {
        { WEFT_NOTE_BAD_RECORD, pieces->n_bad_bytes, pieces->bad_off, "damaged chunks" },
        { WEFT_NOTE_TRUNCATED, pieces->n_missing_bytes, pieces->missing_off,
          "the last chunk is truncated" },
        { WEFT_NOTE_UNKNOWN_RECORD, pieces->n_unknown, pieces->unknown_off, "pieces" },
        { WEFT_NOTE_BAD_RECORD, convert->rings.n_bad_pieces, convert->rings.bad_off,
          "chunks of rings" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_lost_threads, WEFT_NO_OFFSET,
          "threads for which there was no ring; WEFT_RECORD_SLOTS=N allows more" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_skipped, WEFT_NO_OFFSET,
          "events that interrupted the recording of another one of their kind" },
        { WEFT_NOTE_BAD_RECORD, convert->ledger.n_bad, convert->ledger.bad_off,
          "entries of the ledger" },
        { WEFT_NOTE_NOT_RECORDED, convert->n_further, WEFT_NO_OFFSET,
          "processes beyond those that the recorder lists" },
        { WEFT_NOTE_LOST_RECORDS, convert->n_lost_reports, WEFT_NO_OFFSET,
          "reports of forks, programs and failures: processes or reasons may be missing" },
        { WEFT_NOTE_THREADS_NAMED, convert->n_renamed, WEFT_NO_OFFSET, "" },
        { WEFT_NOTE_CONTENDED_ONLY, convert->n_futex_waits, WEFT_NO_OFFSET,
          "those shorter than --wait-threshold (100 us), and locks that were free" },
        { WEFT_NOTE_TIME_BACKWARD, convert->clocks.n_backward, WEFT_NO_OFFSET, "pairs of clocks" },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sizeof notes / sizeof *notes; k++)
        code = kernel_note(&convert->kernel, notes[k].kind, notes[k].count, notes[k].at_off,
                           notes[k].detail);
    WEFT_THEN(code, note_lost(convert));
    WEFT_THEN(code, rec_note_jit(convert));
    return code == WEFT_OK ? note_culled(convert) : code;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static enum weft_code end_threads(struct rec_convert *convert)
{
    struct kernel_threads *threads = &convert->kernel.threads;
    for (size_t k = 0; k < convert->threads.n; k++) {
        struct rec_thread *thread = &convert->threads.items[k];
        struct kernel_thread *place = &threads->items[thread->thread];
        if (thread->is_ended)
            place->thread_id = WEFT_ID_NONE; /* the sink has got its end */
        place->is_ended |= thread->ended_libraries != 0;
        place->last_ns = weft_max_u64(place->last_ns, thread->last_ns);
    }
    for (size_t k = 0; k < threads->n; k++) {
        struct kernel_thread *place = &threads->items[k];
        if (place->thread_id != WEFT_ID_NONE && place->tid != 0 && !place->is_foreign)
            place->last_ns = rec_life_end(convert, place, (uint32_t)place->pid, place->last_ns);
    }
    return kernel_end_threads(&convert->kernel);
}

static enum weft_code deliver_rings(struct rec_convert *convert)
{
    weft_progress_start(rec_progress_of(convert), "storing", "threads", convert->threads.n);
    enum weft_code code = for_threads(convert, deliver_item);
    WEFT_THEN(code, rec_deliver_marks(convert));
    return code == WEFT_OK ? end_threads(convert) : code;
}

/* Those of the recorded program stand before the rest of the machine. */
static enum weft_code announce_threads(struct rec_convert *convert)
{
    const struct kernel_threads *threads = &convert->kernel.threads;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < threads->n; k++) {
        struct kernel_thread *thread = &threads->items[k];
        const bool is_own = rec_is_own(convert, thread);
        thread->is_foreign = convert->target && !is_own;
        if (thread->is_known && is_own)
            code = kernel_announce_thread(&convert->kernel, thread);
    }
    return code == WEFT_OK ? kernel_announce_threads(&convert->kernel, false) : code;
}

static enum weft_code convert_all(struct rec_convert *convert, struct rec_kernel *kernel)
{
    struct about about;
    enum weft_code code = take_about(convert, &about);
    WEFT_THEN(code, rec_kernel_survey(kernel));
    WEFT_THEN(code, for_threads(convert, survey_item));
    WEFT_THEN(code, rec_kernel_end_survey(kernel));
    WEFT_THEN(code, announce(convert, &about));
    WEFT_THEN(code, note_stopped(convert, &about));
    WEFT_THEN(code, deliver_ledger(convert, &about));
    WEFT_THEN(code, rec_name_threads(convert));
    WEFT_THEN(code, announce_threads(convert));
    WEFT_THEN(code, rec_survey_end(convert, convert->kernel.err));
    WEFT_THEN(code, rec_kernel_deliver(kernel));
    WEFT_THEN(code, deliver_rings(convert));
    return code == WEFT_OK ? note_all(convert) : code;
}

static enum weft_code read_parts(struct rec_convert *convert, const struct weft_mapped *file,
                                 const struct weft_recording_opts *opts)
{
    struct weft_err *err = convert->kernel.err;
    const char *symbols_path = opts ? opts->symbols_path : NULL;
    const uint64_t most = opts && opts->most_unpacked ? opts->most_unpacked : MOST_UNPACKED_BYTES;
    const bool has_room = kernel_threads_init(&convert->kernel.threads);
    if (!rec_names_init(&convert->names) || !has_room || !convert->mark_types ||
        !rec_starts_init(&convert->starts))
        return kernel_no_memory(&convert->kernel);
    enum weft_code code = rec_pieces_open(file, most, convert->run, &convert->pieces, err);
    WEFT_THEN(code, rec_clocks_read(&convert->pieces, &convert->clocks, err));
    set_zero(convert);
    WEFT_THEN(code, rec_spaces_read(&convert->pieces, &convert->clocks,
                                    convert->run ? convert->run->memory_bytes : 0, symbols_path,
                                    &convert->spaces, err));
    WEFT_THEN(code,
              rec_ledger_read(&convert->pieces, convert->spaces.texts, &convert->ledger, err));
    return code == WEFT_OK ? rec_rings_read(&convert->pieces, &convert->rings, err) : code;
}

static void convert_fini(struct rec_convert *convert)
{
    rec_rings_fini(&convert->rings);
    rec_ledger_fini(&convert->ledger);
    rec_spaces_fini(&convert->spaces);
    rec_clocks_fini(&convert->clocks);
    rec_pieces_close(&convert->pieces);
    rec_names_fini(&convert->names);
    kernel_threads_fini(&convert->kernel.threads);
    WEFT_VEC_FINI(&convert->threads);
    WEFT_VEC_FINI(&convert->place_of);
    WEFT_VEC_FINI(&convert->begins);
    WEFT_VEC_FINI(&convert->watches);
    WEFT_VEC_FINI(&convert->marks);
    WEFT_VEC_FINI(&convert->culled);
    weft_strtab_free(convert->mark_types);
    rec_starts_fini(&convert->starts);
}

enum weft_code weft_recording_import(const struct weft_mapped *file,
                                     const struct weft_recording_opts *opts, struct weft_sink *sink,
                                     const struct weft_run *run, struct weft_err *err)
{
    struct weft_err local = { 0 };
    struct rec_convert convert = { .kernel = { .sink = sink, .err = err ? err : &local },
                                   .run = run,
                                   .mark_types = weft_strtab_new() };
    struct rec_kernel *kernel = NULL;
    weft_progress_start(rec_progress_of(&convert), "reading", "bytes", file->n_bytes);
    enum weft_code code = read_parts(&convert, file, opts);
    WEFT_THEN(code, rec_kernel_open(&convert, &kernel));
    WEFT_THEN(code, convert_all(&convert, kernel));
    rec_kernel_close(kernel);
    convert_fini(&convert);
    return code;
}
