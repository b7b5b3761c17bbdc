/* SPDX-License-Identifier: MIT
 *
 * The lines of a text trace, in two forms:
 *
 *     0 name ns                     --> name tid ns object
 *     1 name ns                     <-- name tid ns object
 */
#ifndef WEFT_INGEST_TEXT_LINE_H
#define WEFT_INGEST_TEXT_LINE_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_text_form { WEFT_TEXT_UNKNOWN, WEFT_TEXT_DIRECTION, WEFT_TEXT_ARROW };

struct weft_text_line {
    uint8_t kind; /* WEFT_CALL_ENTER or WEFT_CALL_EXIT */
    bool has_tid;
    uint64_t tid;
    uint64_t time_ns;
    struct weft_str name;
    struct weft_str object; /* what stands behind the time; may be empty */
};

/* Walks the lines of one file. Begin with bytes and n_bytes set, the rest zero. */
struct weft_text_walk {
    const char *bytes;
    uint64_t n_bytes;
    uint64_t at_off;
    uint64_t line_off;
    uint64_t line_number;
    enum weft_text_form form; /* that of the first record */
};

/* The next record; *is_end at the end. MALFORMED with line and reason: a line that is no record of
 * the file's form, or with directions an empty line before others. */
WEFT_CHECKED enum weft_code weft_text_next(struct weft_text_walk *walk, struct weft_text_line *line,
                                           bool *is_end, struct weft_err *err);

/* Decimal digits only, below 2^64. */
bool weft_text_number(const char *digits, const char *end, uint64_t *number);

#endif
