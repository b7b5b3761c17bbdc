/* SPDX-License-Identifier: MIT
 *
 * Questions about the shapes of a table: which are near one, and why do two differ.
 */
#ifndef WEFT_QUERY_SHAPES_H
#define WEFT_QUERY_SHAPES_H

#include "analysis/shapes/metric.h"
#include "analysis/shapes/rare.h"
#include "analysis/shapes/verify.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/pool.h"
#include "model/trace.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An id that no shape (cluster) of the table has is WEFT_E_ARG and says the range. */
WEFT_CHECKED enum weft_code weft_shapes_check_shape(const struct weft_shapes_table *table,
                                                    uint64_t id, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_shapes_check_cluster(const struct weft_shapes_table *table,
                                                      uint64_t id, struct weft_err *err);

/* Which shapes are of a function of `is_own` (NULL: any) and call, directly or not, one of
 * `is_called` (NULL: any); both by function id. `*is_listed`, by shape id, lives in `arena`.
 * O(shapes + children). WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_shapes_select(const struct weft_shapes_table *table,
                                               const bool *is_own, const bool *is_called,
                                               struct weft_arena *arena, bool **is_listed,
                                               struct weft_err *err);

/* As weft_shape_near and weft_shape_match (analysis/shapes/metric.h), of a table's shapes. The
 * answer lives in `arena`. */
WEFT_CHECKED enum weft_code weft_shapes_find_near(const struct weft_shapes_table *table,
                                                  uint32_t shape, uint32_t bound_halves,
                                                  struct weft_arena *arena,
                                                  struct weft_shape_near **near, size_t *n_near,
                                                  struct weft_err *err);

struct weft_shapes_pair {
    struct weft_shape_match *nodes;
    size_t n_nodes;
    bool is_cut;
};

WEFT_CHECKED enum weft_code weft_shapes_match(const struct weft_shapes_table *table, uint32_t a,
                                              uint32_t b, size_t limit, struct weft_arena *arena,
                                              struct weft_shapes_pair *pair, struct weft_err *err);

/* What differs between tables[0] (A) and tables[1] (B), of the traces of the same index (maybe the
 * same one). Functions are the same if module and name are; the shapes of both are clustered
 * together with the threshold of A. What is new surprises with log2(1 + how often B would have it
 * at A's rate) bits, what is gone the other way round; another rate counts if it is at least twice
 * or half, and 4 standard deviations from chance, and surprises with |log2(times)| bits. Trivial
 * shapes and clusters are left out. All in `arena`. WEFT_E_NOMEM, WEFT_E_CANCELLED,
 * WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code weft_shapes_compare(const struct weft_trace *const traces[2],
                                                const struct weft_shapes_table *const tables[2],
                                                const struct weft_run *run,
                                                struct weft_arena *arena,
                                                struct weft_shape_changes *changes,
                                                struct weft_err *err);

/* The shapes of a table as plain columns, in `arena`. */
WEFT_CHECKED enum weft_code weft_shapes_set_of(const struct weft_shapes_table *table,
                                               struct weft_arena *arena, struct weft_shape_set *set,
                                               struct weft_err *err);

/* As weft_shape_verify (analysis/shapes/verify.h). */
WEFT_CHECKED enum weft_code weft_shapes_verify(const struct weft_trace *trace,
                                               const struct weft_shapes_table *table,
                                               struct weft_arena *arena,
                                               struct weft_shape_verdict verdicts[WEFT_PROMISES],
                                               struct weft_err *err);

#endif
