/* SPDX-License-Identifier: MIT
 *
 * Analyses that answer with a plain list (schema/list.h). Such an analysis is a function of this
 * type, the type of its rows, and a row of the registry (src/query/registry.c); all front ends have
 * it then.
 */
#ifndef WEFT_ANALYSIS_LIST_H
#define WEFT_ANALYSIS_LIST_H

#include "analysis/analysis.h"
#include "schema/list.h"
#include "schema/table.h"

/* The window is never NULL. Rows in an order that is the same for any number of workers. */
typedef enum weft_code weft_list_fn(const struct weft_trace *trace,
                                    const struct weft_thread_filter *filter,
                                    const struct weft_window *window, const struct weft_run *run,
                                    struct weft_list_table **table, struct weft_err *err);

/* A list with room for `n_max` zeroed rows, of which none counts yet; NULL without memory. */
struct weft_list_table *weft_list_new(const struct weft_window *window, size_t n_max,
                                      size_t row_bytes, struct weft_err *err);

/* Hands the list out, or frees it if `code` is an error; returns `code`. */
enum weft_code weft_list_end(struct weft_list_table *list, enum weft_code code,
                             struct weft_list_table **table);

#endif
