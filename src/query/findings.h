/* SPDX-License-Identifier: MIT
 *
 * Why executions are slow, of a trace or of a database: all facts are gathered here, and judged by
 * analysis/findings. Both give the same answer (docs/analyses/diagnose.md).
 */
#ifndef WEFT_QUERY_FINDINGS_H
#define WEFT_QUERY_FINDINGS_H

#include "base/error.h"
#include "query/comparison.h"
#include "query/rules.h"
#include "schema/compare_cut.h"
#include "schema/findings.h"

#include <stddef.h>

struct weft_session;

enum { WEFT_FINDINGS_TYPES = 16 }; /* of which findings are made, at most */

/* What to look at. NULL: not given. */
struct weft_findings_request {
    struct weft_rule_options rule; /* of a database `type` alone; else all types */
    const char *rules;             /* of a trace: a file. Neither: what the trace suggests */
    const char *map;               /* of a database: names that stand for others */
    const char *a, *b;             /* filters of two groups; else usual and slow executions */
    const char *path;              /* of the trace or database, as it was given */
    const char *name;              /* by which commands that are shown open it; NULL: the path */
    const struct weft_progress *progress; /* of a database: NULL, or what cancels the work */
};

struct weft_findings {
    struct weft_arena *arena;
    struct weft_findings_table *table;
    const struct weft_ecct_matrix
        *matrices[WEFT_FINDINGS_TYPES]; /* in the order looked at, of types */
    size_t n_matrices;                  /* that were asked for */
    struct weft_findings_left_out left_out[WEFT_FINDINGS_TYPES]; /* the table refers to them */
    size_t n_left_out;
    size_t n_more; /* types that were not looked at */
    struct weft_findings_basis *basis;
};

/* WEFT_E_ARG: nothing to look at, or a filter cannot be read. Errors of rules, and of executions.
 */
WEFT_CHECKED enum weft_code weft_findings_of_trace(struct weft_session *session,
                                                   const struct weft_findings_request *request,
                                                   struct weft_findings **findings,
                                                   struct weft_err *err);

/* Errors of query/database/database.h, too. */
WEFT_CHECKED enum weft_code weft_findings_of_database(const struct weft_findings_request *request,
                                                      struct weft_findings **findings,
                                                      struct weft_err *err);

struct weft_build_opts;

/* Adds to the database `path` the executions that findings are made of where no rules are given,
 * with all that is known of them: the database gives the same findings. */
WEFT_CHECKED enum weft_code weft_findings_store(struct weft_session *session,
                                                const struct weft_build_opts *opts,
                                                const char *path, size_t *n_stored,
                                                struct weft_err *err);

/* The usual and the slow executions of a comparison whose type is called `type`, as findings part
 * them; `cut->table` is the caller's. */
WEFT_CHECKED enum weft_code weft_findings_cut(struct weft_comparison *comparison,
                                              struct weft_str type, struct weft_compare_cut *cut,
                                              struct weft_err *err);

#endif
