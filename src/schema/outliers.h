/* SPDX-License-Identifier: MIT
 *
 * Calls and gaps that are unusual. Times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_OUTLIERS_H
#define WEFT_SCHEMA_OUTLIERS_H

#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_outlier_kind { WEFT_OUTLIER_CALL, WEFT_OUTLIER_GAP };

/* Callers that a row names: lists would grow with the square of the depth otherwise. */
enum { WEFT_OUTLIER_OUTER = 64, WEFT_OUTLIER_INNER = 192 };

/* A call (or a gap between calls) that is unusual for its own function or for its thread. */
struct weft_outlier_row {
    enum weft_outlier_kind kind;
    uint32_t thread_id;
    uint32_t function_id; /* GAP: the function called before it, or WEFT_ID_NONE */
    uint32_t depth;
    uint32_t flags; /* enum weft_call_flag */
    uint64_t start_ns, end_ns;
    uint64_t self_ns;
    uint64_t median_ns;  /* of the function; GAP: of the thread's gaps */
    double times_median; /* duration / max(median, 1); 1 for a function without a median */
    double thread_share; /* duration / thread duration */
    double score;        /* the rank: docs/analyses/outliers.md */
    uint32_t *context;   /* function ids root..caller, n_context elements */
    uint32_t n_context;  /* depth; of deeper calls the WEFT_OUTLIER_OUTER first and the
                            WEFT_OUTLIER_INNER last of them */
    bool is_own;         /* unusual for its own function (k x median and >= 1 ms) */
    bool is_long;        /* notable for the thread (> d, or a gap > g) */
    bool is_deepest;     /* no listed call below it has most (>= 90 %) of its time; GAP: no
                            listed caller is mostly this gap */
};

struct weft_outliers_table {
    struct weft_arena *arena;
    struct weft_outlier_row *rows; /* best score first */
    size_t n_rows;
    uint64_t n_found; /* all that qualified; rows may be fewer (limit) */
    uint64_t n_own, n_long, n_gaps;
};

#endif
