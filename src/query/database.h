/* SPDX-License-Identifier: MIT
 *
 * The database of executions (docs/database.md): trees and metrics of executions of many traces,
 * runs and builds in one SQLite file, so that traces themselves need not be kept (TC-71). Two
 * writers wait for each other; a writer that is killed loses at most the execution it was writing.
 */
#ifndef WEFT_QUERY_DATABASE_H
#define WEFT_QUERY_DATABASE_H

#include "base/error.h"
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
 * version.
 */
WEFT_CHECKED enum weft_code weft_database_open(const char *path, enum weft_database_mode mode,
                                               struct weft_database **database,
                                               struct weft_err *err);
/* NULL is allowed. */
void weft_database_close(struct weft_database *database);

/* The types of its executions, by name; `*types` lives as the arena. */
WEFT_CHECKED enum weft_code weft_database_types(struct weft_database *database,
                                                struct weft_arena *arena,
                                                struct weft_execution_type **types, size_t *n_types,
                                                struct weft_err *err);

/* All executions of a type (an empty name: of the only one; if there are several, WEFT_E_ARG names
 * them). */
WEFT_CHECKED enum weft_code weft_database_load(struct weft_database *database, struct weft_str type,
                                               struct weft_ecct_matrix **matrix,
                                               struct weft_err *err);

/* Names that stand for other ones, so that versions whose functions were renamed can be compared
 * (TC-53): `from` becomes `to` in every matrix loaded. The file has a line "OLD -> NEW" each. */
WEFT_CHECKED enum weft_code weft_database_map_names(struct weft_database *database,
                                                    const char *path, struct weft_err *err);

#endif
