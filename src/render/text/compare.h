/* SPDX-License-Identifier: MIT
 *
 * A comparison of two groups of executions: as text, with the verdict first, as CSV of its
 * differences, or all of it as JSON.
 */
#ifndef WEFT_RENDER_TEXT_COMPARE_H
#define WEFT_RENDER_TEXT_COMPARE_H

#include "render/json/json.h"
#include "render/text/render.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_gate_view;

struct weft_comparison_view {
    const struct weft_ecct_matrix *matrix;
    const struct weft_compare_table *table;
    const struct weft_metric_histogram *histogram; /* of the duration; NULL: none */
    const char *a, *b;                             /* the filters */
    const char *path;                  /* of the database or trace; "-" in commands if NULL */
    uint64_t limit;                    /* rows of each list; 0: all */
    const struct weft_gate_view *gate; /* in JSON, too; NULL: none */
};

void weft_render_comparison(const struct weft_view *view,
                            const struct weft_comparison_view *comparison);

/* "B is 3.10 ms slower than A ...": the answer, without the point at its end; the grounds, which
 * say what was counted and how far to trust it: sentences, each after ". "; both. */
void weft_render_answer(struct weft_output *out, const struct weft_comparison_view *comparison);
void weft_render_grounds(struct weft_output *out, const struct weft_comparison_view *comparison);
void weft_render_verdict(struct weft_output *out, const struct weft_comparison_view *comparison);

/* Examples of a group, of all durations: up to `n_most` items, ascending by duration, the first,
 * the last and those between them. Returns how many. `picked` has room for n_most. Without memory
 * there are none, and `out` fails. */
size_t weft_pick_items(const struct weft_ecct_matrix *matrix, const uint32_t *items, size_t n_items,
                       size_t n_most, uint32_t *picked, struct weft_output *out);

/* The command that shows an execution: "weft path run.weft --thread 12 --from @1 --to @2". */
void weft_render_open_command(struct weft_output *out, const struct weft_ecct_matrix *matrix,
                              uint32_t item);

#endif
