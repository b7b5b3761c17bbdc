/* SPDX-License-Identifier: MIT
 *
 * From executions that were found in a trace to their trees (docs/analyses/ecct.md): into a
 * database, or into a matrix in memory.
 */
#ifndef WEFT_QUERY_BUILD_H
#define WEFT_QUERY_BUILD_H

#include "query/database/database.h"
#include "query/session.h"
#include "schema/executions.h"

struct weft_build_opts {
    struct weft_str path;                  /* of the trace, as it was given */
    struct weft_str host;                  /* may be empty */
    struct weft_str tag;                   /* may be empty */
    unsigned max_threads;                  /* on a chain; 0: WEFT_ECCT_THREADS */
    const struct weft_source_facts *facts; /* of the trace and the choice; NULL: of the
                                            * trace (to a database), or unknown (a matrix) */
};

/* Trees of all executions of the table, on all workers of the session, added to a database: one
 * source for each type that has any. The same trace, type and tag again replaces what was there.
 * What was added so far stays when it is interrupted. Metrics are those of the table, and the times
 * that the paths tell. Memory: some thousand executions at a time, within the session's ceiling. */
WEFT_CHECKED enum weft_code weft_executions_build(struct weft_session *session,
                                                  const struct weft_executions_table *table,
                                                  struct weft_database *database,
                                                  const struct weft_build_opts *opts,
                                                  struct weft_err *err);

/* The same of one type (place in the table's types) as a matrix. */
WEFT_CHECKED enum weft_code
weft_executions_matrix(struct weft_session *session, const struct weft_executions_table *table,
                       uint32_t type, const struct weft_build_opts *opts,
                       struct weft_ecct_matrix **matrix, struct weft_err *err);

/* The tree of one interval of one thread, as a matrix of one execution: the analysis "ecct". */
WEFT_CHECKED enum weft_code weft_execution_tree(struct weft_session *session,
                                                const struct weft_ecct_request *request,
                                                struct weft_ecct_matrix **matrix,
                                                struct weft_err *err);

/* Adds the values of critical paths (schema/executions.h) to the metrics: of each execution, on all
 * workers, what is collected of a part of the trace serving many of them. */
WEFT_CHECKED enum weft_code weft_executions_add_paths(struct weft_session *session,
                                                      struct weft_executions_table *table,
                                                      struct weft_err *err);

#endif
