/* SPDX-License-Identifier: MIT
 *
 * A comparison that is kept: executions of one type, read once, and questions about two groups of
 * them that filters choose (docs/analyses/compare.md). Serves one thread at a time.
 */
#ifndef WEFT_QUERY_COMPARISON_H
#define WEFT_QUERY_COMPARISON_H

#include "base/error.h"
#include "base/pool.h"
#include "base/str.h"
#include "schema/compare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_comparison;

/* Takes the matrix, which is freed with the comparison, or at once after a failure. */
WEFT_CHECKED enum weft_code weft_comparison_of(struct weft_ecct_matrix *matrix,
                                               struct weft_comparison **comparison,
                                               struct weft_err *err);

struct weft_session;
struct weft_executions_table;
struct weft_build_opts;

/* Those of the type called `type` (NULL: of the only one that has any) of the session's trace;
 * `rules` is the file that their rules are of (NULL: none), for the commands that open them, and
 * must stay. WEFT_E_ARG: there are none, or of several types. */
WEFT_CHECKED enum weft_code weft_comparison_of_type(struct weft_session *session,
                                                    const struct weft_executions_table *executions,
                                                    const char *type, const char *rules,
                                                    const struct weft_build_opts *opts,
                                                    struct weft_comparison **comparison,
                                                    struct weft_err *err);

/* All executions of a type (empty: of the only one) of the database `path`; `map_path` (or NULL)
 * is a file of names that stand for other ones. Errors of query/database/database.h;
 * WEFT_E_CANCELLED if `progress` (or NULL), watched by the comparison from now on, says so. */
WEFT_CHECKED enum weft_code weft_comparison_open(const char *path, struct weft_str type,
                                                 const char *map_path,
                                                 const struct weft_progress *progress,
                                                 struct weft_comparison **comparison,
                                                 struct weft_err *err);

/* Frees what questions keep between them, which takes as much memory as the matrix; the next one
 * makes it again. */
void weft_comparison_rest(struct weft_comparison *comparison);

/* NULL is allowed. */
void weft_comparison_close(struct weft_comparison *comparison);

/* From now on questions end with WEFT_E_CANCELLED when `progress` says so; NULL: never. */
void weft_comparison_watch(struct weft_comparison *comparison,
                           const struct weft_progress *progress);

/* Valid until the comparison is closed. */
const struct weft_ecct_matrix *weft_comparison_matrix(const struct weft_comparison *comparison);

struct weft_comparison_opts {
    struct weft_str a, b; /* filters (query/filter.h); empty: all executions */
    uint32_t
        n_bootstrap;  /* nodes ranked first whose intervals are bootstrapped, and metrics; 0:
                       * none, as fast as a dragged filter needs (WEFT_COMPARE_BOOTSTRAP else) */
    bool with_causes; /* groups of B by what makes them slow */
    uint32_t n_looks; /* how many groups are tried (analysis/compare/compare.h); 0 is 1 */
};

/* Chooses the groups and compares them; `*table` is the caller's (weft_result_free). Groups
 * that are empty are no error. WEFT_E_ARG names the filter, A or B, that cannot be read. */
WEFT_CHECKED enum weft_code weft_comparison_run(struct weft_comparison *comparison,
                                                const struct weft_comparison_opts *opts,
                                                struct weft_compare_table **table,
                                                struct weft_err *err);

/* The groups of the last question: bits by item; valid until the next. */
const uint8_t *weft_comparison_members(const struct weft_comparison *comparison);

/* Of the groups of the last question, in `arena`; n_bins from 1 to 4096. WEFT_E_ARG: no such
 * metric. O(items). */
WEFT_CHECKED enum weft_code weft_comparison_histogram(struct weft_comparison *comparison,
                                                      size_t metric, size_t n_bins, bool is_log,
                                                      struct weft_arena *arena,
                                                      struct weft_metric_histogram *histogram,
                                                      struct weft_err *err);

#endif
