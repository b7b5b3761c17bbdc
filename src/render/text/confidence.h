/* SPDX-License-Identifier: MIT
 *
 * How far a sentence about executions can be trusted: statistics say how likely chance is, but
 * nothing of records that are lost and of causes that are inferred (docs/analyses/diagnose.md,
 * "Confidence").
 */
#ifndef WEFT_RENDER_TEXT_CONFIDENCE_H
#define WEFT_RENDER_TEXT_CONFIDENCE_H

#include "render/json/json.h"
#include "render/output.h"
#include "schema/compare.h"
#include "schema/ecct.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_confidence_basis {
    uint64_t n, n_lossy;          /* executions, and those in which records are lost */
    double inferred, unexplained; /* shares of their time */
    double unnamed;               /* share of a difference that its named cause does not explain;
                                   * 0: all is explained, or nothing is named */
    double p;                     /* that chance makes the difference; 0: not tested */
    double lost;                  /* share of the trace's records that are lost; 0: none, or
                                   * not known, as of a database */
};

/* Of the executions items[0 .. n), or of all, if items is NULL. O(values of these). */
struct weft_confidence_basis weft_confidence_basis_of(const struct weft_ecct_matrix *matrix,
                                                      const uint32_t *items, size_t n);

/* 0 to 1: (1 - p) x (1 - lossy share) x (1 - lost) x (1 - unexplained - inferred / 2),
 * x 2 (1 - unnamed), if more than half is not explained by what is named. */
double weft_confidence_value(const struct weft_confidence_basis *basis);
/* "high" from 0.9 on, "medium" from 0.6 on, "low". */
const char *weft_confidence_level(double value);

/* "low (0.45): 99 % of the time of these executions is inferred; ..." */
void weft_confidence_put(struct weft_output *out, const struct weft_confidence_basis *basis);
/* The same as a sentence after others; nothing if it is high. */
void weft_confidence_put_remark(struct weft_output *out, const struct weft_confidence_basis *basis);
/* "confidence": an object of value, level, reasons. */
void weft_confidence_json(struct weft_json *json, const struct weft_confidence_basis *basis,
                          struct weft_output *scratch);

#endif
