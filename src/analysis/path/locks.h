/* SPDX-License-Identifier: MIT
 *
 * What a critical path went through: locks, conditions, barriers, joined threads.
 */
#ifndef WEFT_ANALYSIS_PATH_LOCKS_H
#define WEFT_ANALYSIS_PATH_LOCKS_H

#include "model/graph/graph.h"
#include "schema/path.h"

#include <stdbool.h>

/* Sums the arrows of the table by their locks, into table->locks, and makes their `lock` places
 * there. `graph` is the one that was walked (model/graph/locks.h). False without memory. */
bool weft_path_locks_make(struct weft_graph *graph, struct weft_path_table *table);

#endif
