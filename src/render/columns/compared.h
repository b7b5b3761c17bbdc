/* SPDX-License-Identifier: MIT
 *
 * Executions and their comparison as binary columns (docs/http-api.md): what `weft serve` answers,
 * and what the report has inside.
 */
#ifndef WEFT_RENDER_COLUMNS_COMPARED_H
#define WEFT_RENDER_COLUMNS_COMPARED_H

#include "base/error.h"
#include "render/json/json.h"
#include "render/output.h"
#include "schema/compare.h"

#include <stddef.h>
#include <stdint.h>

/* Answers with more bytes fail (WEFT_E_LIMIT). */
#define WEFT_COMPARED_BYTES_MAX (UINT64_C(64) << 20)

struct weft_listing_view {
    const struct weft_ecct_matrix *matrix;
    /* Writes "trace", the number of the trace that a source is, or null. */
    void (*put_trace)(const void *context, struct weft_json *json, struct weft_str path);
    const void *context;
    const double *weights; /* by item: for how many executions it stands; NULL: for itself */
    uint64_t n_all;        /* executions that they stand for, together */
};

/* All executions of a matrix: what they are, their metrics, and their tree. */
WEFT_CHECKED enum weft_code weft_render_listing(struct weft_output *out,
                                                const struct weft_listing_view *view,
                                                struct weft_err *err);

/* The time of each item in a node and below. WEFT_E_ARG: there is no such node. */
WEFT_CHECKED enum weft_code weft_render_context(struct weft_output *out,
                                                const struct weft_ecct_matrix *matrix,
                                                uint64_t node, struct weft_err *err);

struct weft_compared_view {
    const struct weft_comparison_view *comparison; /* for the verdict */
    const struct weft_compare_table *table;        /* whose rows are written */
    const uint8_t *members;                        /* by item */
    size_t n_items;
    size_t n_cause_of; /* rows of table->cause_of */
};

WEFT_CHECKED enum weft_code weft_render_compared(struct weft_output *out,
                                                 const struct weft_compared_view *view,
                                                 struct weft_err *err);

#endif
