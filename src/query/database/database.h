/* SPDX-License-Identifier: MIT
 *
 * The database of executions (docs/database.md): trees and metrics of executions of many traces,
 * runs and builds in one SQLite file, so that traces themselves need not be kept (TC-71). Two
 * writers wait for each other; a writer that is killed loses at most what it added since its last
 * commit.
 */
#ifndef WEFT_QUERY_DATABASE_DATABASE_H
#define WEFT_QUERY_DATABASE_DATABASE_H

#include "analysis/ecct/tree.h"
#include "base/error.h"
#include "base/pool.h"
#include "query/database/matrix.h"
#include "schema/ecct.h"

#include <stdbool.h>

struct weft_database;

enum weft_database_mode {
    WEFT_DATABASE_READ,
    WEFT_DATABASE_WRITE, /* made if it does not exist; brought to this version */
};

/* Is the file a database, by its first bytes? */
bool weft_database_is(const char *path);

/* WEFT_E_MALFORMED for another file or a damaged one, WEFT_E_UNSUPPORTED for one of a newer
 * version. Those of older versions are read, and brought to this one by who opens them to write. */
WEFT_CHECKED enum weft_code weft_database_open(const char *path, enum weft_database_mode mode,
                                               struct weft_database **database,
                                               struct weft_err *err);
/* NULL is allowed. */
void weft_database_close(struct weft_database *database);

/* How long to wait for another program that writes; 60 s, if this is not called. Then what is asked
 * for is WEFT_E_IO. */
void weft_database_wait(struct weft_database *database, uint32_t limit_ms);

/* What is read or written from now on ends with WEFT_E_CANCELLED when `progress`, which must live
 * longer, says so; NULL: never. */
void weft_database_watch(struct weft_database *database, const struct weft_progress *progress);

/* The types of its executions, by name; `*types` lives as the arena. */
WEFT_CHECKED enum weft_code weft_database_types(struct weft_database *database,
                                                struct weft_arena *arena,
                                                struct weft_execution_type **types, size_t *n_types,
                                                struct weft_err *err);

/* The sources by type, tag and number, those that are about to be replaced too; `*sources` lives as
 * the arena. */
WEFT_CHECKED enum weft_code weft_database_sources(struct weft_database *database,
                                                  struct weft_arena *arena,
                                                  struct weft_source_info **sources,
                                                  size_t *n_sources, struct weft_err *err);

/* All executions of a type (an empty name: of the only one; if there are several, WEFT_E_ARG names
 * them). Those that are damaged or missing are left out, and counted in the matrix. */
WEFT_CHECKED enum weft_code weft_database_load(struct weft_database *database, struct weft_str type,
                                               struct weft_ecct_matrix **matrix,
                                               struct weft_err *err);

/* Names that stand for other ones, so that versions whose functions were renamed can be compared
 * (TC-53): `from` becomes `to` in every matrix loaded. The file has a line "OLD -> NEW" each. */
WEFT_CHECKED enum weft_code weft_database_map_names(struct weft_database *database,
                                                    const char *path, struct weft_err *err);

/* ---- writing --------------------------------------------------------------------------------- */

/* Where executions come from: one trace, under a type and a tag. */
struct weft_database_source {
    struct weft_str type;               /* of the executions */
    struct weft_execution_source trace; /* its id is not read */
    uint64_t fingerprint;               /* of what is in the trace (query/build.h) */
    const struct weft_metric *metrics;  /* names and units of values; not "duration", "start" */
    size_t n_metrics;
};

/* Executions of `source` follow; nodes are those of `tree`, which must live until
 * weft_database_end. What was added of the same trace (by its fingerprint, whatever its path), type
 * and tag before is replaced: it stays what is loaded until weft_database_end. */
WEFT_CHECKED enum weft_code weft_database_begin(struct weft_database *database,
                                                const struct weft_database_source *source,
                                                const struct weft_ecct_tree *tree,
                                                struct weft_err *err);

/* Adds an execution; row->item->source and id are not read. The first one since a commit takes the
 * database for this writer: others wait until weft_database_commit. */
WEFT_CHECKED enum weft_code weft_database_add(struct weft_database *database,
                                              const struct weft_matrix_row *row,
                                              struct weft_err *err);

/* What was added stays, whatever happens. */
WEFT_CHECKED enum weft_code weft_database_commit(struct weft_database *database,
                                                 struct weft_err *err);

/* The same, but where blocks became full since the last commit, only what is in these: the last
 * one, of at most WEFT_DATABASE_BLOCK_ROWS executions, need not be written twice then. */
WEFT_CHECKED enum weft_code weft_database_commit_blocks(struct weft_database *database,
                                                        struct weft_err *err);

/* All of the source was added: it takes the place of what it replaces. After a failure, or a close
 * without this, what was committed stays (and is loaded if there is nothing that it would replace).
 */
WEFT_CHECKED enum weft_code weft_database_end(struct weft_database *database, struct weft_err *err);

#endif
