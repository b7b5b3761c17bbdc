/* SPDX-License-Identifier: MIT
 *
 * How far a sentence about executions can be trusted: statistics say how likely chance is, but
 * nothing of records that are lost and of causes that are inferred (docs/analyses/diagnose.md,
 * "Confidence").
 */
#ifndef WEFT_ANALYSIS_COMPARE_CONFIDENCE_H
#define WEFT_ANALYSIS_COMPARE_CONFIDENCE_H

#include "schema/findings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the executions items[0 .. n), or of all, if items is NULL. O(values of these). */
struct weft_confidence_basis weft_confidence_basis_of(const struct weft_ecct_matrix *matrix,
                                                      const uint32_t *items, size_t n);

/* 0 to 1: (1 - p) x (1 - lossy share) x (1 - lost) x (1 - unexplained - inferred / 2),
 * x 2 (1 - unnamed), if more than half is not explained by what is named. */
double weft_confidence_value(const struct weft_confidence_basis *basis);

/* High from 0.9 on, medium from 0.6 on. */
enum weft_confidence_level { WEFT_CONFIDENCE_LOW, WEFT_CONFIDENCE_MEDIUM, WEFT_CONFIDENCE_HIGH };
enum weft_confidence_level weft_confidence_level(double value);

/* Why a confidence is not 1. */
enum weft_confidence_reason {
    WEFT_REASON_UNNAMED,
    WEFT_REASON_LOSSY,
    WEFT_REASON_LOST,
    WEFT_REASON_INFERRED,
    WEFT_REASON_UNEXPLAINED,
    WEFT_REASON_CHANCE,
    WEFT_CONFIDENCE_REASONS,
};
bool weft_confidence_has_reason(const struct weft_confidence_basis *basis,
                                enum weft_confidence_reason reason);

#endif
