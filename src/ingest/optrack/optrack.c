/* SPDX-License-Identifier: MIT
 *
 * The import of operation tracking: headers, maps, clock, sessions, then all files in parallel.
 */
#include "ingest/optrack/optrack.h"

#include "base/checked.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/u128.h"
#include "base/vec.h"
#include "ingest/optrack/op_map.h"
#include "ingest/optrack/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* The header's ratio is in thousandths of a tick a nanosecond: a tick is 1 / (ratio * 1 MHz). */
#define HZ_PER_RATIO UINT64_C(1000000)

/* Time stamps are believed up to 2^62 ns (146 years) behind the first. */
#define MOST_NS (UINT64_C(1) << 62)

/* Seconds since the epoch that a sniffer believes: 2001 to 2514. */
#define LEAST_EPOCH_S UINT64_C(1000000000)
#define MOST_EPOCH_S (UINT64_C(1) << 34)

enum {
    V2_HEADER_BYTES = 12,
    V3_HEADER_BYTES = 24,
    RECORD_BYTES = WEFT_OP_RECORD_BYTES,
    BATCH_CALLS = 4096,
    /* 0.1 to 100 ticks a nanosecond. */
    LEAST_RATIO = 100,
    MOST_RATIO = 100000,
};

struct header {
    uint32_t version;
    uint32_t is_internal;
    uint32_t ratio;
    uint64_t epoch_s; /* 0 in version 2 */
    size_t n_bytes;
};

struct tally {
    uint64_t count;
    uint64_t at_off;
};

struct track {
    const struct weft_optrack_input *input;
    struct header header;
    uint64_t pid, session;
    uint32_t generation;
    uint64_t first_ticks; /* the smallest */
    bool has_records;
    struct weft_op_runs runs;
    uint32_t first_key; /* of the map */
    uint32_t thread_id;
    struct tally bad_bytes, missing_bytes;
    uint64_t n_cut_start, n_cut_end; /* calls at the inner edges of runs */
};

struct names {
    uint64_t pid;
    bool is_of_all; /* given by the user */
    bool is_own;    /* opened here */
    const char *path;
    char *own_path;
    struct weft_mapped file;
    struct weft_op_map map;
};

struct import {
    const struct weft_optrack_input *inputs;
    size_t n_inputs;
    const struct weft_optrack_opts *opts;
    struct weft_sink *sink;
    const struct weft_run *run;
    struct {
        struct track *items;
        size_t n, cap;
    } tracks;
    struct {
        struct names *items;
        size_t n, cap;
    } names;
    uint64_t n_short; /* files that end inside their header */
    struct weft_tick_scale scale;
    uint64_t zero_ticks, limit_ticks;
};

static struct weft_progress *progress_of(const struct import *import)
{
    return import->run ? import->run->progress : NULL;
}

static void tally_add(struct tally *tally, uint64_t count, uint64_t at_off)
{
    if (tally->count == 0)
        tally->at_off = at_off;
    tally->count += count;
}

/* ---- headers ----------------------------------------------------------------------------------
 */

/* Reads what is there; false if the bytes end inside the header. */
static bool read_header(const uint8_t *bytes, uint64_t n_bytes, struct header *header)
{
    struct weft_cursor cur = weft_cur_init(bytes, n_bytes, 0);
    header->version = weft_cur_u32(&cur);
    header->is_internal = weft_cur_u32(&cur);
    header->ratio = weft_cur_u32(&cur);
    header->epoch_s = 0;
    header->n_bytes = V2_HEADER_BYTES;
    if (header->version >= 3) {
        (void)weft_cur_u32(&cur); /* padding */
        header->epoch_s = weft_cur_u64(&cur);
        header->n_bytes = V3_HEADER_BYTES;
    }
    return !cur.fault;
}

static bool is_ratio(uint32_t ratio)
{
    return ratio >= LEAST_RATIO && ratio <= MOST_RATIO;
}

static bool sniff_records(const uint8_t *bytes, size_t n_bytes)
{
    struct header header;
    if (!read_header(bytes, n_bytes, &header) || (header.version != 2 && header.version != 3) ||
        header.is_internal > 1 || !is_ratio(header.ratio))
        return false;
    if (header.version == 3 && (header.epoch_s < LEAST_EPOCH_S || header.epoch_s > MOST_EPOCH_S))
        return false;
    return n_bytes - header.n_bytes < RECORD_BYTES ||
           weft_load_u16(bytes + header.n_bytes + 10) <= 1;
}

bool weft_optrack_sniff(const uint8_t *bytes, size_t n_bytes)
{
    return n_bytes && (sniff_records(bytes, n_bytes) || weft_op_map_sniff(bytes, n_bytes));
}

static enum weft_code check_header(const struct header *header, struct weft_err *err)
{
    if (header->version != 2 && header->version != 3)
        return weft_fail(err, WEFT_E_UNSUPPORTED, 0, "expected version 2 or 3, found %" PRIu32,
                         header->version);
    if (header->is_internal > 1)
        return weft_fail(err, WEFT_E_MALFORMED, 4, "expected 0 or 1 for internal, found %" PRIu32,
                         header->is_internal);
    if (!is_ratio(header->ratio))
        return weft_fail(err, WEFT_E_MALFORMED, 8,
                         "expected 0.1 to 100 ticks a nanosecond, found %" PRIu32 ".%03" PRIu32,
                         header->ratio / 1000, header->ratio % 1000);
    return WEFT_OK;
}

/* ---- inputs -----------------------------------------------------------------------------------
 */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The number behind the first dot at or behind *at, which moves behind it. */
static bool number_after_dot(const char **at, uint64_t *number)
{
    const char *dot = strchr(*at, '.');
    uint64_t sum = 0;
    if (!dot || dot[1] < '0' || dot[1] > '9')
        return false;
    const char *digit = dot + 1;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, (unsigned)(*digit - '0'), &sum))
            return false;
    *at = digit;
    *number = sum;
    return true;
}

static enum weft_code add_track(struct import *import, const struct weft_optrack_input *input,
                                struct weft_err *err)
{
    struct header header;
    if (!read_header(input->file.bytes, input->file.n_bytes, &header)) {
        import->n_short++;
        return WEFT_OK;
    }
    enum weft_code code = check_header(&header, err);
    if (code != WEFT_OK)
        return weft_in_file(err, input->path);
    struct track *track = WEFT_VEC_PUSH(&import->tracks);
    if (!track)
        return weft_no_memory(err, "the list of sessions");
    track->input = input;
    track->header = header;
    const char *at = base_name(input->path);
    track->session = import->tracks.n;
    if (number_after_dot(&at, &track->pid))
        (void)number_after_dot(&at, &track->session);
    return WEFT_OK;
}

static struct names *add_names(struct import *import, const char *path, struct weft_err *err)
{
    struct names *names = WEFT_VEC_PUSH(&import->names);
    if (!names) {
        weft_no_memory(err, "the list of maps");
        return NULL;
    }
    const char *at = base_name(path);
    names->path = path;
    (void)number_after_dot(&at, &names->pid);
    return names;
}

static bool is_map(const struct weft_optrack_input *input)
{
    return !sniff_records(input->file.bytes, input->file.n_bytes) &&
           weft_op_map_sniff(input->file.bytes, input->file.n_bytes);
}

static enum weft_code sort_inputs(struct import *import, struct weft_err *err)
{
    for (size_t k = 0; k < import->n_inputs; k++) {
        const struct weft_optrack_input *input = &import->inputs[k];
        enum weft_code code = WEFT_OK;
        bool is_named_map = strncmp(base_name(input->path), "optrack-map.", 12) == 0;
        if (is_named_map || is_map(input)) {
            struct names *names = add_names(import, input->path, err);
            if (!names)
                return WEFT_E_NOMEM;
            names->file = input->file;
        } else {
            code = add_track(import, input, err);
        }
        if (code != WEFT_OK)
            return code;
    }
    if (import->tracks.n == 0)
        return weft_fail(err, WEFT_E_TRUNCATED, WEFT_NO_OFFSET,
                         "expected a file of operation tracking with a header, found none");
    return WEFT_OK;
}

static int compare_tracks(const void *a_void, const void *b_void)
{
    const struct track *a = a_void;
    const struct track *b = b_void;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->session != b->session)
        return a->session < b->session ? -1 : 1;
    return (a->input > b->input) - (a->input < b->input);
}

static void order_tracks(struct import *import)
{
    struct track *tracks = import->tracks.items;
    qsort(tracks, import->tracks.n, sizeof *tracks, compare_tracks);
    for (size_t k = 1; k < import->tracks.n; k++)
        if (tracks[k].pid == tracks[k - 1].pid && tracks[k].session == tracks[k - 1].session)
            tracks[k].generation = tracks[k - 1].generation + 1;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

static const uint8_t *records_of(const struct track *track)
{
    return track->input->file.bytes + track->header.n_bytes;
}

static enum weft_code find_runs(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct import *import = context;
    struct track *track = &import->tracks.items[item];
    size_t n_records = (track->input->file.n_bytes - track->header.n_bytes) / RECORD_BYTES;
    enum weft_code code = weft_op_runs_find(records_of(track), n_records, &track->runs, err);
    if (code == WEFT_OK && n_records) {
        track->has_records = true;
        track->first_ticks = track->runs.items[0].min_ticks;
    }
    weft_progress_add(progress_of(import), track->input->file.n_bytes);
    return code;
}

static enum weft_code for_each_track(struct import *import, weft_pool_fn work, struct weft_err *err)
{
    if (import->run && import->run->pool)
        return weft_pool_run(import->run->pool, import->tracks.n, work, import, progress_of(import),
                             err);
    for (size_t k = 0; k < import->tracks.n; k++) {
        WEFT_TRY(work(import, k, 0, err));
    }
    return WEFT_OK;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static enum weft_code open_given_map(struct import *import, struct weft_err *err)
{
    struct names *names = add_names(import, import->opts->map_path, err);
    if (!names)
        return WEFT_E_NOMEM;
    names->is_of_all = true;
    names->is_own = true;
    return weft_mapped_open(names->path, &names->file, err);
}

static bool has_names(const struct import *import, uint64_t pid)
{
    for (size_t k = 0; k < import->names.n; k++)
        if (import->names.items[k].pid == pid)
            return true;
    return false;
}

/* "DIR/optrack-map.PID", with the digits of the track's own name; NULL without memory or digits. */
static char *path_beside(const struct track *track)
{
    const char *path = track->input->path;
    const char *base = base_name(path);
    const char *dot = strchr(base, '.');
    size_t n_digits = dot ? strspn(dot + 1, "0123456789") : 0;
    size_t n_dir = (size_t)(base - path);
    char *beside = malloc(n_dir + n_digits + 16);
    if (beside)
        (void)snprintf(beside, n_dir + n_digits + 16, "%.*soptrack-map.%.*s", (int)n_dir, path,
                       (int)n_digits, dot ? dot + 1 : "");
    return beside;
}

static enum weft_code open_beside(struct import *import, const struct track *track,
                                  struct weft_err *err)
{
    char *path = path_beside(track);
    if (!path)
        return weft_no_memory(err, "the path of a map");
    if (access(path, F_OK) != 0) {
        free(path);
        return WEFT_OK; /* functions stay #id */
    }
    struct names *names = add_names(import, path, err);
    if (!names) {
        free(path);
        return WEFT_E_NOMEM;
    }
    names->own_path = path;
    names->is_own = true;
    return weft_mapped_open(path, &names->file, err);
}

static enum weft_code find_names(struct import *import, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (import->opts->map_path) {
        for (size_t k = 0; k < import->names.n; k++)
            import->names.items[k].file = (struct weft_mapped){ 0 }; /* the given one rules */
        import->names.n = 0;
        return open_given_map(import, err);
    }
    for (size_t k = 0; import->opts->looks_beside_files && k < import->tracks.n; k++) {
        if (!has_names(import, import->tracks.items[k].pid))
            code = open_beside(import, &import->tracks.items[k], err);
        if (code != WEFT_OK)
            return code;
    }
    return code;
}

static enum weft_code read_names(struct import *import, struct weft_err *err)
{
    enum weft_code code = find_names(import, err);
    for (size_t k = 0; code == WEFT_OK && k < import->names.n; k++) {
        struct names *names = &import->names.items[k];
        code = weft_op_map_read(names->file.bytes, names->file.n_bytes, &names->map, err);
        if (code != WEFT_OK)
            weft_in_file(err, names->path);
    }
    /* Keys of a process begin at 65536 times the place of its map. */
    for (size_t t = 0; t < import->tracks.n; t++) {
        struct track *track = &import->tracks.items[t];
        size_t place = import->names.n; /* no map */
        for (size_t k = import->names.n; k-- > 0;)
            if (import->names.items[k].is_of_all || import->names.items[k].pid == track->pid)
                place = k;
        track->first_key = (uint32_t)place << 16;
    }
    return code;
}

/* ---- announcements ----------------------------------------------------------------------------
 */

static enum weft_code announce_begin(struct import *import, struct weft_err *err)
{
    const struct header *first = &import->tracks.items[0].header;
    uint64_t n_internal = 0;
    bool differs = false;
    for (size_t k = 0; k < import->tracks.n; k++) {
        n_internal += import->tracks.items[k].header.is_internal;
        differs |= import->tracks.items[k].header.ratio != first->ratio;
    }
    char details[160];
    (void)snprintf(details, sizeof details,
                   "version %" PRIu32 ", %zu sessions (%" PRIu64 " internal), %" PRIu32
                   ".%03" PRIu32 " ticks a ns%s",
                   first->version, import->tracks.n, n_internal, first->ratio / 1000,
                   first->ratio % 1000, differs ? " (other files differ)" : "");
    const struct weft_sink_begin begin = { .format = WEFT_STR("optrack"),
                                           .details = weft_str_of(details),
                                           .is_parallel = true };
    return import->sink->ops->begin(import->sink, &begin, err);
}

/* A file was opened not before the second in its header, and not behind its first record: the
 * latest time 0 that follows from any file. */
static void find_realtime(const struct import *import, struct weft_clock *clock)
{
    for (size_t k = 0; k < import->tracks.n; k++) {
        const struct track *track = &import->tracks.items[k];
        uint64_t first_ns =
            weft_ticks_to_ns(&import->scale, track->first_ticks - clock->zero_ticks);
        uint64_t epoch_s = track->header.epoch_s;
        if (!track->has_records || epoch_s < LEAST_EPOCH_S || epoch_s > MOST_EPOCH_S ||
            track->first_ticks - clock->zero_ticks > import->limit_ticks ||
            first_ns > epoch_s * NS_PER_SECOND)
            continue;
        clock->realtime_ns = weft_max_u64(clock->realtime_ns, epoch_s * NS_PER_SECOND - first_ns);
        clock->has_realtime = true;
    }
}

static enum weft_code announce_clock(struct import *import, struct weft_err *err)
{
    uint64_t hz = import->tracks.items[0].header.ratio * HZ_PER_RATIO;
    uint64_t zero_ticks = UINT64_MAX;
    for (size_t k = 0; k < import->tracks.n; k++)
        if (import->tracks.items[k].has_records)
            zero_ticks = weft_min_u64(zero_ticks, import->tracks.items[k].first_ticks);
    zero_ticks = zero_ticks == UINT64_MAX ? 0 : zero_ticks;
    weft_u128 limit = (weft_u128)MOST_NS * hz / NS_PER_SECOND;
    import->limit_ticks = limit > MOST_NS ? MOST_NS : (uint64_t)limit;
    import->scale = weft_tick_scale_init(hz);
    import->zero_ticks = zero_ticks;
    struct weft_clock clock = { .frequency_hz = hz, .zero_ticks = zero_ticks };
    find_realtime(import, &clock);
    return import->sink->ops->clock(import->sink, &clock, err);
}

static enum weft_code announce_functions(struct import *import, struct weft_err *err)
{
    for (size_t k = 0; k < import->names.n; k++) {
        const struct weft_op_map *map = &import->names.items[k].map;
        for (size_t row = 0; row < map->n; row++) {
            const struct weft_function_info info = { .key = (uint32_t)k << 16 | map->items[row].id,
                                                     .name = map->items[row].shown };
            WEFT_TRY(import->sink->ops->function(import->sink, &info, err));
        }
    }
    return WEFT_OK;
}

static enum weft_code announce_threads(struct import *import, struct weft_err *err)
{
    for (size_t k = 0; k < import->tracks.n; k++) {
        struct track *track = &import->tracks.items[k];
        char name[64];
        (void)snprintf(name, sizeof name, "session %" PRIu64 "%s", track->session,
                       track->header.is_internal ? " (internal)" : "");
        const struct weft_thread_info info = { .tid = track->session,
                                               .pid = track->pid,
                                               .generation = track->generation,
                                               .name = weft_str_of(name) };
        WEFT_TRY(import->sink->ops->thread(import->sink, &info, &track->thread_id, err));
    }
    return WEFT_OK;
}

/* ---- records ----------------------------------------------------------------------------------
 */

struct batch {
    struct weft_call_event *calls; /* BATCH_CALLS */
    size_t n_calls;
    uint64_t last_ns;
};

/* Decodes `n_records` <= BATCH_CALLS records. */
static void decode(const struct import *import, struct track *track, uint64_t at_off,
                   size_t n_records, struct batch *batch)
{
    const uint8_t *record = track->input->file.bytes + at_off;
    for (size_t k = 0; k < n_records; k++, record += RECORD_BYTES) {
        uint64_t ticks = weft_load_u64(record);
        uint16_t kind = weft_load_u16(record + 10);
        ticks = weft_sub_sat_u64(ticks, import->zero_ticks);
        if (kind > 1 || ticks > import->limit_ticks) {
            tally_add(&track->bad_bytes, RECORD_BYTES, at_off + k * RECORD_BYTES);
            continue;
        }
        struct weft_call_event *call = &batch->calls[batch->n_calls++];
        call->time_ns = weft_ticks_to_ns(&import->scale, ticks);
        call->function_key = track->first_key | weft_load_u16(record + 8);
        call->kind = kind ? WEFT_CALL_EXIT : WEFT_CALL_ENTER;
        batch->last_ns = weft_max_u64(batch->last_ns, call->time_ns);
    }
}

static enum weft_code deliver_run(const struct import *import, struct track *track,
                                  const struct weft_op_run *run, struct batch *batch,
                                  struct weft_err *err)
{
    struct weft_sink *sink = import->sink;
    uint64_t at_off = track->header.n_bytes + run->begin * RECORD_BYTES;
    for (size_t n_left = run->end - run->begin; n_left;) {
        size_t n_now = n_left < BATCH_CALLS ? n_left : BATCH_CALLS;
        enum weft_code code = WEFT_OK;
        if (weft_progress_is_cancelled(progress_of(import)))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        batch->n_calls = 0;
        decode(import, track, at_off, n_now, batch);
        if (batch->n_calls)
            code = sink->ops->calls(sink, track->thread_id, batch->calls, batch->n_calls, err);
        if (code != WEFT_OK)
            return code;
        weft_mapped_done(&track->input->file, at_off, n_now * RECORD_BYTES);
        weft_progress_add(progress_of(import), n_now * RECORD_BYTES);
        at_off += n_now * RECORD_BYTES;
        n_left -= n_now;
    }
    return WEFT_OK;
}

/* Enters or leaves one operation at the edge of a run. */
static enum weft_code deliver_edge(const struct import *import, const struct track *track,
                                   uint16_t id, uint64_t ticks, enum weft_call_kind kind,
                                   struct weft_err *err)
{
    ticks = weft_sub_sat_u64(ticks, import->zero_ticks);
    if (ticks > import->limit_ticks)
        return WEFT_OK; /* its run was damaged */
    const struct weft_call_event call = { .time_ns = weft_ticks_to_ns(&import->scale, ticks),
                                          .function_key = track->first_key | id,
                                          .kind = (uint8_t)kind };
    return import->sink->ops->calls(import->sink, track->thread_id, &call, 1, err);
}

/* Calls of one session must not be taken for calls of another: what is open at the edge of a run is
 * cut there. At the outer edges the sink does it. */
static enum weft_code deliver_cut_run(const struct import *import, struct track *track, size_t k,
                                      struct weft_op_edges *edges, struct batch *batch,
                                      struct weft_err *err)
{
    const struct weft_op_run *run = &track->runs.items[k];
    enum weft_code code = weft_op_edges_find(records_of(track), run, edges, err);
    for (size_t at = k ? edges->before.n : 0; code == WEFT_OK && at-- > 0; track->n_cut_start++)
        code = deliver_edge(import, track, edges->before.items[at], run->min_ticks, WEFT_CALL_ENTER,
                            err);
    WEFT_THEN(code, deliver_run(import, track, run, batch, err));
    bool is_last = k + 1 == track->runs.n;
    for (size_t at = is_last ? 0 : edges->open.n; code == WEFT_OK && at-- > 0; track->n_cut_end++)
        code =
            deliver_edge(import, track, edges->open.items[at], run->max_ticks, WEFT_CALL_EXIT, err);
    return code;
}

static enum weft_code deliver_records(const struct import *import, struct track *track,
                                      struct batch *batch, struct weft_err *err)
{
    const struct weft_mapped *file = &track->input->file;
    struct weft_op_edges edges = { 0 };
    enum weft_code code = WEFT_OK;
    if (track->runs.n == 1)
        code = deliver_run(import, track, &track->runs.items[0], batch, err);
    for (size_t k = 0; track->runs.n > 1 && code == WEFT_OK && k < track->runs.n; k++)
        code = deliver_cut_run(import, track, k, &edges, batch, err);
    weft_op_edges_fini(&edges);
    uint64_t n_rest = (file->n_bytes - track->header.n_bytes) % RECORD_BYTES;
    if (n_rest)
        tally_add(&track->missing_bytes, RECORD_BYTES - n_rest, file->n_bytes - n_rest);
    if (code != WEFT_OK)
        return code;
    return import->sink->ops->thread_end(import->sink, track->thread_id, batch->last_ns, err);
}

static enum weft_code deliver(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    (void)worker;
    struct import *import = context;
    struct track *track = &import->tracks.items[item];
    struct batch batch = { .calls = calloc(BATCH_CALLS, sizeof *batch.calls) };
    if (!batch.calls)
        return weft_no_memory(err, "a batch of calls");
    enum weft_code code = deliver_records(import, track, &batch, err);
    free(batch.calls);
    if (code != WEFT_OK)
        weft_in_file(err, track->input->path);
    return code;
}

static enum weft_code note(struct import *import, enum weft_note_kind kind,
                           const struct tally *tally, uint32_t thread_id, struct weft_err *err)
{
    if (tally->count == 0)
        return WEFT_OK;
    const struct weft_note row = {
        .kind = kind, .count = tally->count, .thread_id = thread_id, .at_off = tally->at_off
    };
    return import->sink->ops->note(import->sink, &row, err);
}

/* What reuse of the session's number did: the steps, what was overwritten, what was cut. */
static enum weft_code note_runs(struct import *import, const struct track *track,
                                struct weft_err *err)
{
    const struct {
        enum weft_note_kind kind;
        uint64_t count;
    } rows[] = {
        { WEFT_NOTE_TIME_BACKWARD, track->runs.n - 1 },
        { WEFT_NOTE_LOST_RECORDS, track->runs.n_lost },
        { WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT, track->n_cut_start },
        { WEFT_NOTE_OPEN_AT_END, track->n_cut_end },
    };
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < sizeof rows / sizeof *rows; k++) {
        const struct tally tally = { .count = rows[k].count, .at_off = WEFT_NO_OFFSET };
        code = note(import, rows[k].kind, &tally, track->thread_id, err);
    }
    return code;
}

static enum weft_code note_losses(struct import *import, struct weft_err *err)
{
    const struct weft_note headless = { .kind = WEFT_NOTE_TRUNCATED,
                                        .count = import->n_short,
                                        .thread_id = WEFT_ID_NONE,
                                        .at_off = WEFT_NO_OFFSET,
                                        .detail = WEFT_STR("files that end inside their header") };
    enum weft_code code =
        import->n_short ? import->sink->ops->note(import->sink, &headless, err) : WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < import->tracks.n; k++) {
        const struct track *track = &import->tracks.items[k];
        code = note(import, WEFT_NOTE_TRUNCATED, &track->missing_bytes, track->thread_id, err);
        WEFT_THEN(code,
                  note(import, WEFT_NOTE_BAD_RECORD, &track->bad_bytes, track->thread_id, err));
        if (code == WEFT_OK && track->runs.n > 1)
            code = note_runs(import, track, err);
    }
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code import_all(struct import *import, struct weft_err *err)
{
    WEFT_TRY(sort_inputs(import, err));
    order_tracks(import);
    enum weft_code code = read_names(import, err);
    WEFT_THEN(code, for_each_track(import, find_runs, err));
    WEFT_THEN(code, announce_begin(import, err));
    WEFT_THEN(code, announce_clock(import, err));
    WEFT_THEN(code, announce_functions(import, err));
    WEFT_THEN(code, announce_threads(import, err));
    WEFT_THEN(code, for_each_track(import, deliver, err));
    return code == WEFT_OK ? note_losses(import, err) : code;
}

enum weft_code weft_optrack_import(const struct weft_optrack_input *inputs, size_t n_inputs,
                                   const struct weft_optrack_opts *opts, struct weft_sink *sink,
                                   const struct weft_run *run, struct weft_err *err)
{
    static const struct weft_optrack_opts no_opts;
    struct import import = { .inputs = inputs,
                             .n_inputs = n_inputs,
                             .opts = opts ? opts : &no_opts,
                             .sink = sink,
                             .run = run };
    uint64_t n_bytes = 0;
    for (size_t k = 0; k < n_inputs; k++)
        n_bytes += inputs[k].file.n_bytes;
    weft_progress_start(progress_of(&import), "reading", "bytes", n_bytes * 2);
    enum weft_code code = import_all(&import, err);
    for (size_t k = 0; k < import.names.n; k++) {
        struct names *names = &import.names.items[k];
        weft_op_map_fini(&names->map);
        if (names->is_own)
            weft_mapped_close(&names->file);
        free(names->own_path);
    }
    for (size_t k = 0; k < import.tracks.n; k++)
        weft_op_runs_fini(&import.tracks.items[k].runs);
    WEFT_VEC_FINI(&import.names);
    WEFT_VEC_FINI(&import.tracks);
    return code;
}
