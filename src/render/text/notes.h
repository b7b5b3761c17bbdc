/* SPDX-License-Identifier: MIT
 *
 * The notes of a trace, one row a kind: what was lost, what was mended, over all threads.
 */
#ifndef WEFT_RENDER_TEXT_NOTES_H
#define WEFT_RENDER_TEXT_NOTES_H

#include "base/arena.h"
#include "model/trace.h"
#include "schema/event.h"

#include <stddef.h>
#include <stdint.h>

struct weft_note_sum {
    enum weft_note_kind kind;
    enum weft_note_class class;
    struct weft_str detail; /* a view into the trace; may be empty */
    uint64_t count;
    uint64_t first_off; /* smallest offset in the input, or WEFT_NO_OFFSET */
    uint32_t n_threads; /* places that are threads; 0: the trace as a whole */
    uint32_t thread_id; /* the thread, if it is one; else WEFT_ID_NONE */
};

struct weft_note_sums {
    struct weft_note_sum *rows; /* losses first, then repairs, then the rest */
    size_t n_rows;
    uint64_t lost, repaired; /* sums of the counts of these classes */
};

/* The notes of the file, and one of the file itself if it was recovered: it ends early. All of it
 * lives in `arena`. WEFT_E_NOMEM only. */
WEFT_CHECKED enum weft_code weft_note_sums(const struct weft_trace *trace, struct weft_arena *arena,
                                           struct weft_note_sums *sums, struct weft_err *err);

/* What is missing, by what is counted; sums saturate. */
struct weft_losses {
    uint64_t n_records;
    uint64_t damaged_bytes;   /* not readable */
    uint64_t unwritten_bytes; /* never written: a full disk, or a limit */
    uint64_t n_processes;     /* of the program, of which something is not recorded */
};

struct weft_losses weft_losses_of(const struct weft_note_sums *sums);

/* Stable lower-case name of a class ("lost"). */
const char *weft_note_class_name(enum weft_note_class class);

#endif
