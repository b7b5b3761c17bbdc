/* SPDX-License-Identifier: MIT
 *
 * What the parts of the XRay importer share: the header, the index of the log by thread, and the
 * tallies of what was lost.
 *
 *   file:   header | piece | piece | piece ...          (file order)
 *   index:  thread 0: its pieces by time; thread 1: ...  (order of first time stamp)
 *
 * A piece is a stretch of records of one thread: the records of one FDR buffer, or a run of basic
 * mode records. Invariants of a finished index: every piece lies inside the file; pieces are sorted
 * by (thread, first_tsc, at_off); thread k owns pieces [first_piece, first_piece + n_pieces).
 */
#ifndef WEFT_INGEST_XRAY_LOG_H
#define WEFT_INGEST_XRAY_LOG_H

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WEFT_XRAY_HEADER_BYTES = 32,
    WEFT_XRAY_METADATA_BYTES = 16,
    WEFT_XRAY_FUNCTION_BYTES = 8,
    WEFT_XRAY_BASIC_BYTES = 32,
};

enum weft_xray_mode { WEFT_XRAY_BASIC = 0, WEFT_XRAY_FDR = 1 };

/* Kinds of FDR metadata records. */
enum weft_xray_metadata {
    WEFT_XRAY_NEW_BUFFER = 0,
    WEFT_XRAY_END_OF_BUFFER = 1,
    WEFT_XRAY_NEW_CPU = 2,
    WEFT_XRAY_TSC_WRAP = 3,
    WEFT_XRAY_WALL_TIME = 4,
    WEFT_XRAY_CUSTOM_EVENT = 5,
    WEFT_XRAY_CALL_ARGUMENT = 6,
    WEFT_XRAY_BUFFER_EXTENTS = 7,
    WEFT_XRAY_TYPED_EVENT = 8,
    WEFT_XRAY_PID = 9,
};

/* First byte of a metadata record of `kind`. */
#define WEFT_XRAY_INTRODUCER(kind) ((uint8_t)((kind) << 1 | 1))

struct weft_xray_header {
    enum weft_xray_mode mode;
    uint16_t version;
    bool is_constant_tsc;
    bool is_nonstop_tsc;
    uint64_t frequency_hz; /* as written; 0 when the runtime could not find it */
    uint64_t buffer_bytes; /* FDR */
};

/* How much of something was met, and where first. */
struct weft_xray_tally {
    uint64_t count;
    uint64_t at_off;
};

static inline void weft_xray_tally_add(struct weft_xray_tally *tally, uint64_t count,
                                       uint64_t at_off)
{
    if (count == 0)
        return;
    if (tally->count == 0 || at_off < tally->at_off)
        tally->at_off = at_off;
    tally->count += count;
}

struct weft_xray_losses {
    struct weft_xray_tally bad_bytes;
    struct weft_xray_tally missing_bytes;    /* the file ends early */
    struct weft_xray_tally duplicate_events; /* in dropped copies of buffers */
};

struct weft_xray_piece {
    uint64_t first_tsc;
    uint64_t at_off; /* of the first record */
    uint64_t n_bytes;
    uint32_t thread;
    bool is_duplicate;
    bool is_truncated; /* its last record may be cut off by the end of the file */
};

struct weft_xray_thread {
    uint64_t tid;
    uint64_t pid; /* 0 unknown */
    uint64_t first_tsc;
    size_t first_piece;
    size_t n_pieces;
    struct weft_xray_losses losses;
};

struct weft_xray_index {
    struct {
        struct weft_xray_piece *items;
        size_t n, cap;
    } pieces;
    struct {
        struct weft_xray_thread *items;
        size_t n, cap;
    } threads;
    struct weft_xray_losses losses; /* of no known thread */
    size_t n_buffers;               /* found in the file, duplicates included; basic: 0 */
    size_t n_duplicates;
    uint64_t zero_tsc;     /* smallest time stamp */
    uint64_t measured_hz;  /* from the wall-time markers, 0 if there are none */
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC at zero_tsc, if has_monotonic */
    bool has_monotonic;
};

/* The log as the decoders see it. */
struct weft_xray_log {
    const struct weft_mapped *file;
    struct weft_xray_header header;
    uint64_t zero_tsc;
    uint64_t limit_ticks; /* time stamps this far behind zero are damage */
    struct weft_tick_scale scale;
};

/* The kernel maps this much around a byte that is touched, aligned to it. */
#define WEFT_XRAY_WINDOW_BYTES (UINT64_C(1) << 16)

/* An index lets go of what it has walked over in steps of this size. */
#define WEFT_XRAY_STEP_BYTES (UINT64_C(1) << 23)

/* Lets go of the pages around [off, end): those that were touched to read it, and some neighbours,
 * which come back when they are touched. */
static inline void weft_xray_let_go(const struct weft_mapped *file, uint64_t off, uint64_t end)
{
    uint64_t from = off / WEFT_XRAY_WINDOW_BYTES * WEFT_XRAY_WINDOW_BYTES;
    uint64_t to =
        (end + WEFT_XRAY_WINDOW_BYTES - 1) / WEFT_XRAY_WINDOW_BYTES * WEFT_XRAY_WINDOW_BYTES;
    to = to < file->n_bytes ? to : file->n_bytes;
    if (from < to)
        weft_mapped_done(file, from, to - from);
}

/* Reads the 32 bytes at the start. TRUNCATED, MALFORMED, or UNSUPPORTED for a newer version. */
WEFT_CHECKED enum weft_code weft_xray_read_header(const struct weft_mapped *file,
                                                  struct weft_xray_header *header,
                                                  struct weft_err *err);

/* Finds threads and pieces. NOMEM only: damage is tallied, not refused. FDR: reads the head of each
 * buffer; basic: reads every record. The caller frees with weft_xray_index_fini, also on failure.
 */
WEFT_CHECKED enum weft_code weft_xray_index_fdr(const struct weft_mapped *file,
                                                const struct weft_xray_header *header,
                                                struct weft_xray_index *index,
                                                struct weft_err *err);
WEFT_CHECKED enum weft_code weft_xray_index_basic(const struct weft_mapped *file,
                                                  const struct weft_xray_header *header,
                                                  struct weft_xray_index *index,
                                                  struct weft_err *err);
void weft_xray_index_fini(struct weft_xray_index *index);

/* Sorts threads by first time stamp and pieces by (thread, time, place), finds zero. For the two
 * functions above. */
WEFT_CHECKED enum weft_code weft_xray_index_sort(struct weft_xray_index *index,
                                                 struct weft_err *err);

#endif
