/* SPDX-License-Identifier: MIT
 *
 * The import of an XRay log: header, index, clock, threads, then all threads in parallel, and last
 * the names of the functions that were met and what was lost.
 */
#include "ingest/xray/xray.h"

#include "base/checked.h"
#include "base/u128.h"
#include "ingest/xray/decode.h"
#include "ingest/xray/function_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define NS_PER_SECOND UINT64_C(1000000000)

/* Time stamps are believed up to 2^62 ns (146 years) behind the first. */
#define MOST_NS (UINT64_C(1) << 62)

/* Frequencies that a measurement by wall-time markers may give. */
#define LEAST_MEASURED_HZ UINT64_C(1000000)
#define MOST_MEASURED_HZ UINT64_C(100000000000)

struct import {
    struct weft_xray_log log;
    struct weft_xray_index index;
    struct weft_xray_map *map; /* NULL: no names */
    struct weft_sink *sink;
    const struct weft_run *run;
    struct weft_xray_out *outs; /* one a worker */
    unsigned n_outs;
    uint32_t *thread_ids; /* of the sink, by index thread */
};

static struct weft_progress *progress_of(const struct import *import)
{
    return import->run ? import->run->progress : NULL;
}

/* ---- clock and announcements ------------------------------------------------------------------
 */

/* The header's frequency, else the measured one, else ticks are taken for nanoseconds. */
static uint64_t choose_frequency(const struct import *import, const char **how)
{
    uint64_t measured_hz = import->index.measured_hz;
    *how = "";
    if (import->log.header.frequency_hz)
        return import->log.header.frequency_hz;
    if (measured_hz >= LEAST_MEASURED_HZ && measured_hz <= MOST_MEASURED_HZ) {
        *how = " (not in the log; measured from its wall-time markers)";
        return measured_hz;
    }
    *how = " (not in the log; ticks taken for nanoseconds)";
    return NS_PER_SECOND;
}

static void set_scale(struct weft_xray_log *log, uint64_t frequency_hz, uint64_t zero_tsc)
{
    weft_u128 limit = (weft_u128)MOST_NS * frequency_hz / NS_PER_SECOND;
    log->scale = weft_tick_scale_init(frequency_hz);
    log->zero_tsc = zero_tsc;
    /* Room for the deltas of a whole buffer on top, in ticks and in nanoseconds. */
    log->limit_ticks = limit > MOST_NS ? MOST_NS : (uint64_t)limit;
}

static enum weft_code announce_begin(struct import *import, const char *how, struct weft_err *err)
{
    const struct weft_xray_header *header = &import->log.header;
    bool is_fdr = header->mode == WEFT_XRAY_FDR;
    char buffers[64] = "";
    if (is_fdr)
        (void)snprintf(buffers, sizeof buffers, ", %zu buffers", import->index.n_buffers);
    char details[256];
    (void)snprintf(details, sizeof details, "version %" PRIu16 "%s, %.3f GHz%s%s%s",
                   header->version, buffers, (double)import->log.scale.frequency_hz / 1e9, how,
                   header->is_constant_tsc ? "" : ", clock not constant",
                   header->is_nonstop_tsc ? "" : ", clock may stop");
    const struct weft_sink_begin begin = {
        .format = is_fdr ? WEFT_STR("xray-fdr") : WEFT_STR("xray-basic"),
        .details = weft_str_of(details),
        .is_parallel = true,
    };
    return import->sink->ops->begin(import->sink, &begin, err);
}

static enum weft_code announce_clock(struct import *import, struct weft_err *err)
{
    const struct weft_clock clock = {
        .frequency_hz = import->log.scale.frequency_hz,
        .zero_ticks = import->log.zero_tsc,
        .has_monotonic = import->index.has_monotonic,
        .monotonic_ns = import->index.monotonic_ns,
    };
    return import->sink->ops->clock(import->sink, &clock, err);
}

static enum weft_code announce_threads(struct import *import, struct weft_err *err)
{
    size_t n_threads = import->index.threads.n;
    import->thread_ids = calloc(n_threads ? n_threads : 1, sizeof *import->thread_ids);
    if (!import->thread_ids)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads", n_threads);
    for (size_t k = 0; k < n_threads; k++) {
        const struct weft_xray_thread *thread = &import->index.threads.items[k];
        const struct weft_thread_info info = { .tid = thread->tid, .pid = thread->pid };
        WEFT_TRY(import->sink->ops->thread(import->sink, &info, &import->thread_ids[k], err));
    }
    return WEFT_OK;
}

/* ---- decoding ---------------------------------------------------------------------------------
 */

static enum weft_code decode_piece(const struct import *import, const struct weft_xray_piece *piece,
                                   struct weft_xray_out *out, struct weft_err *err)
{
    enum weft_code code = import->log.header.mode == WEFT_XRAY_FDR
                              ? weft_xray_decode_fdr(&import->log, piece, out, err)
                              : weft_xray_decode_basic(&import->log, piece, out, err);
    if (code != WEFT_OK)
        return weft_within(err, "records from byte 0x%" PRIx64, piece->at_off);
    return WEFT_OK;
}

/* The entries and exits of a dropped copy. Its other losses are those of the original. */
static enum weft_code count_duplicate(const struct import *import,
                                      const struct weft_xray_piece *piece,
                                      struct weft_xray_out *out, struct weft_err *err)
{
    struct weft_xray_losses losses = out->losses;
    struct weft_sink *sink = out->sink;
    uint64_t n_before = out->n_entries_exits;
    uint64_t last_ns = out->last_ns;
    int32_t cpu = out->cpu;
    out->sink = NULL;
    enum weft_code code = decode_piece(import, piece, out, err);
    WEFT_THEN(code, weft_xray_out_flush(out, err));
    weft_xray_tally_add(&losses.duplicate_events, out->n_entries_exits - n_before, piece->at_off);
    out->sink = sink;
    out->losses = losses;
    out->n_entries_exits = n_before;
    out->last_ns = last_ns;
    out->cpu = cpu;
    out->takes_argument = false;
    return code;
}

static enum weft_code decode_pieces(const struct import *import,
                                    const struct weft_xray_thread *thread,
                                    struct weft_xray_out *out, struct weft_err *err)
{
    for (size_t k = 0; k < thread->n_pieces; k++) {
        const struct weft_xray_piece *piece = &import->index.pieces.items[thread->first_piece + k];
        if (weft_progress_is_cancelled(progress_of(import)))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        enum weft_code code = WEFT_OK;
        if (piece->is_duplicate) {
            code = weft_xray_out_flush(out, err);
            WEFT_THEN(code, count_duplicate(import, piece, out, err));
        } else {
            code = decode_piece(import, piece, out, err);
        }
        if (code != WEFT_OK)
            return code;
        weft_xray_let_go(import->log.file, piece->at_off, piece->at_off + piece->n_bytes);
        weft_progress_add(progress_of(import), piece->n_bytes);
    }
    return weft_xray_out_flush(out, err);
}

static enum weft_code decode_thread(void *context, size_t item, unsigned worker,
                                    struct weft_err *err)
{
    struct import *import = context;
    struct weft_xray_thread *thread = &import->index.threads.items[item];
    struct weft_xray_out *out = &import->outs[worker];
    struct weft_sink *sink = import->sink;
    weft_xray_out_begin(out, sink, import->thread_ids[item]);
    enum weft_code code = decode_pieces(import, thread, out, err);
    WEFT_THEN(code, sink->ops->thread_end(sink, out->thread_id, out->last_ns, err));
    struct weft_xray_losses *losses = &thread->losses;
    weft_xray_tally_add(&losses->bad_bytes, out->losses.bad_bytes.count,
                        out->losses.bad_bytes.at_off);
    weft_xray_tally_add(&losses->missing_bytes, out->losses.missing_bytes.count,
                        out->losses.missing_bytes.at_off);
    losses->duplicate_events = out->losses.duplicate_events;
    if (code != WEFT_OK)
        return weft_within(err, "thread %" PRIu64, thread->tid);
    return WEFT_OK;
}

static enum weft_code decode_all(struct import *import, struct weft_err *err)
{
    struct weft_pool *pool = import->run ? import->run->pool : NULL;
    unsigned n_workers = pool ? weft_pool_workers(pool) : 1;
    import->outs = calloc(n_workers, sizeof *import->outs);
    if (!import->outs)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for buffers of %u workers",
                         n_workers);
    for (; import->n_outs < n_workers; import->n_outs++) {
        WEFT_TRY(weft_xray_out_init(&import->outs[import->n_outs], err));
    }
    size_t n_threads = import->index.threads.n;
    if (pool)
        return weft_pool_run(pool, n_threads, decode_thread, import, progress_of(import), err);
    for (size_t k = 0; k < n_threads; k++) {
        WEFT_TRY(decode_thread(import, k, 0, err));
    }
    return WEFT_OK;
}

/* ---- names and notes --------------------------------------------------------------------------
 */

static int compare_keys(const void *a_void, const void *b_void)
{
    uint32_t a = *(const uint32_t *)a_void;
    uint32_t b = *(const uint32_t *)b_void;
    return (a > b) - (a < b);
}

/* All function ids met by any worker, ascending, unique. */
static enum weft_code collect_keys(const struct import *import, uint32_t **keys, size_t *n_keys,
                                   struct weft_err *err)
{
    size_t n_most = WEFT_XRAY_DENSE_KEYS;
    for (unsigned k = 0; k < import->n_outs; k++)
        n_most += weft_map_count(import->outs[k].seen.sparse);
    uint32_t *all = calloc(n_most, sizeof *all);
    if (!all)
        return weft_no_memory(err, "a set of function ids");
    size_t n_all = 0;
    for (uint32_t key = 0; key < WEFT_XRAY_DENSE_KEYS; key++) {
        bool is_seen = false;
        for (unsigned k = 0; k < import->n_outs; k++)
            is_seen |= import->outs[k].seen.dense[key];
        if (is_seen)
            all[n_all++] = key;
    }
    size_t n_dense = n_all;
    for (unsigned k = 0; k < import->n_outs; k++) {
        const struct weft_map *sparse = import->outs[k].seen.sparse;
        for (uint32_t id = 0; id < weft_map_count(sparse); id++)
            all[n_all++] = (uint32_t)weft_map_key(sparse, id);
    }
    qsort(all + n_dense, n_all - n_dense, sizeof *all, compare_keys);
    size_t n_unique = n_dense;
    for (size_t k = n_dense; k < n_all; k++)
        if (n_unique == n_dense || all[k] != all[n_unique - 1])
            all[n_unique++] = all[k];
    *keys = all;
    *n_keys = n_unique;
    return WEFT_OK;
}

/* Functions whose numbers the map does not reach: it is of another program. */
static enum weft_code note_foreign(struct import *import, uint64_t n_beyond, struct weft_err *err)
{
    char detail[64];
    if (n_beyond == 0)
        return WEFT_OK;
    (void)snprintf(detail, sizeof detail, "the map ends at #%" PRIu32,
                   weft_xray_map_last_key(import->map));
    const struct weft_note note = { .kind = WEFT_NOTE_FOREIGN_MAP,
                                    .count = n_beyond,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = WEFT_NO_OFFSET,
                                    .detail = weft_str_of(detail) };
    return import->sink->ops->note(import->sink, &note, err);
}

/* The sink itself counts functions without a name. */
static enum weft_code announce_functions(struct import *import, struct weft_err *err)
{
    if (!import->map)
        return WEFT_OK;
    uint32_t *keys = NULL;
    size_t n_keys = 0;
    uint64_t n_beyond = 0;
    enum weft_code code = collect_keys(import, &keys, &n_keys, err);
    for (size_t k = 0; code == WEFT_OK && k < n_keys; k++) {
        struct weft_function_info info;
        if (weft_xray_map_find(import->map, keys[k], &info))
            code = import->sink->ops->function(import->sink, &info, err);
        else
            n_beyond += keys[k] > weft_xray_map_last_key(import->map);
    }
    free(keys);
    return code == WEFT_OK ? note_foreign(import, n_beyond, err) : code;
}

static enum weft_code note_one(struct import *import, enum weft_note_kind kind,
                               const struct weft_xray_tally *tally, uint32_t thread_id,
                               struct weft_err *err)
{
    if (tally->count == 0)
        return WEFT_OK;
    const struct weft_note note = {
        .kind = kind, .count = tally->count, .thread_id = thread_id, .at_off = tally->at_off
    };
    return import->sink->ops->note(import->sink, &note, err);
}

static enum weft_code note_losses(struct import *import, const struct weft_xray_losses *losses,
                                  uint32_t thread_id, struct weft_err *err)
{
    enum weft_code code =
        note_one(import, WEFT_NOTE_DUPLICATE_BUFFER, &losses->duplicate_events, thread_id, err);
    WEFT_THEN(code, note_one(import, WEFT_NOTE_TRUNCATED, &losses->missing_bytes, thread_id, err));
    WEFT_THEN(code, note_one(import, WEFT_NOTE_BAD_RECORD, &losses->bad_bytes, thread_id, err));
    return code;
}

static enum weft_code note_all(struct import *import, struct weft_err *err)
{
    enum weft_code code = note_losses(import, &import->index.losses, WEFT_ID_NONE, err);
    for (size_t k = 0; code == WEFT_OK && k < import->index.threads.n; k++)
        code =
            note_losses(import, &import->index.threads.items[k].losses, import->thread_ids[k], err);
    return code;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum weft_code open_map(struct import *import, const struct weft_xray_opts *opts,
                               struct weft_err *err)
{
    if (!opts || (!opts->binary_path && !opts->map_path))
        return WEFT_OK;
    if (opts->binary_path && opts->map_path)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a program or a function map, found both");
    return opts->binary_path ? weft_xray_map_open_elf(opts->binary_path, &import->map, err)
                             : weft_xray_map_open(opts->map_path, &import->map, err);
}

static enum weft_code deliver(struct import *import, struct weft_err *err)
{
    const char *how;
    uint64_t frequency_hz = choose_frequency(import, &how);
    set_scale(&import->log, frequency_hz, import->index.zero_tsc);
    enum weft_code code = announce_begin(import, how, err);
    WEFT_THEN(code, announce_clock(import, err));
    WEFT_THEN(code, announce_threads(import, err));
    WEFT_THEN(code, decode_all(import, err));
    WEFT_THEN(code, announce_functions(import, err));
    WEFT_THEN(code, note_all(import, err));
    return code;
}

static enum weft_code index_log(struct import *import, struct weft_err *err)
{
    const struct weft_xray_header *header = &import->log.header;
    enum weft_code code =
        header->mode == WEFT_XRAY_FDR
            ? weft_xray_index_fdr(import->log.file, header, &import->index, err)
            : weft_xray_index_basic(import->log.file, header, &import->index, err);
    return code == WEFT_OK ? code : weft_within(err, "index of the log");
}

enum weft_code weft_xray_import(const struct weft_mapped *log, const struct weft_xray_opts *opts,
                                struct weft_sink *sink, const struct weft_run *run,
                                struct weft_err *err)
{
    struct import import = { .log.file = log, .sink = sink, .run = run };
    weft_progress_start(progress_of(&import), "reading", "bytes", log->n_bytes);
    enum weft_code code = weft_xray_read_header(log, &import.log.header, err);
    WEFT_THEN(code, open_map(&import, opts, err));
    WEFT_THEN(code, index_log(&import, err));
    WEFT_THEN(code, deliver(&import, err));
    for (unsigned k = 0; k < import.n_outs; k++)
        weft_xray_out_fini(&import.outs[k]);
    free(import.outs);
    free(import.thread_ids);
    weft_xray_index_fini(&import.index);
    weft_xray_map_free(import.map);
    return code;
}
