/* SPDX-License-Identifier: MIT
 *
 * What users write for durations, sizes, shares and thresholds. Every parser takes the whole text
 * or fails with WEFT_E_ARG and a sentence that shows the accepted forms.
 */
#ifndef WEFT_QUERY_PARSE_H
#define WEFT_QUERY_PARSE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* "100ns", "3us", "20ms", "1.5s", "2min", "1h", or "0"; exact, rounded to the nearest ns. A number
 * other than 0 without a unit is refused. */
WEFT_CHECKED enum weft_code weft_parse_duration(const char *text, uint64_t *out_ns,
                                                struct weft_err *err);

/* A point of time: "1.5s" after the start of the trace, or "@123456789" ns of the source's clock.
 */
struct weft_time_point {
    uint64_t at_ns;
    bool is_absolute;
};

WEFT_CHECKED enum weft_code weft_parse_time_point(const char *text, struct weft_time_point *out,
                                                  struct weft_err *err);

/* "4096", "64k", "512M", "2G" (powers of 1024, as "KiB", "MiB", "GiB"), "10MB" (powers of 1000). */
WEFT_CHECKED enum weft_code weft_parse_bytes(const char *text, uint64_t *out_bytes,
                                             struct weft_err *err);

/* "13%" or "0.13": from 0 to 1. */
WEFT_CHECKED enum weft_code weft_parse_fraction(const char *text, double *out,
                                                struct weft_err *err);

/* A threshold: a share of the thread's time ("1%", "0.01"), or a duration ("5ms"). */
struct weft_threshold {
    double fraction;
    uint64_t absolute_ns; /* used instead of the fraction if not 0 */
};

WEFT_CHECKED enum weft_code weft_parse_threshold(const char *text, struct weft_threshold *out,
                                                 struct weft_err *err);

/* A distance of shapes from 0 to `max_halves` / 2 in steps of 0.5, in half units: "1.5" is 3. */
WEFT_CHECKED enum weft_code weft_parse_halves(const char *text, uint32_t max_halves, uint32_t *out,
                                              struct weft_err *err);

/* A decimal integer from `min` to `max`. */
WEFT_CHECKED enum weft_code weft_parse_count(const char *text, uint64_t min, uint64_t max,
                                             uint64_t *out, struct weft_err *err);

#endif
