/* SPDX-License-Identifier: MIT
 *
 * An execution as the database keeps it: a few bytes for each of its nodes (docs/database.md,
 * "executions.tree").
 */
#ifndef WEFT_QUERY_DATABASE_BLOB_H
#define WEFT_QUERY_DATABASE_BLOB_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_blob_value {
    uint32_t metric;
    double value; /* no NAN */
};

/* Numbers of nodes, threads and metrics are those of the database. */
struct weft_blob_execution {
    uint32_t flags; /* enum weft_execution_flag */
    uint32_t thread;
    uint64_t tid;
    uint64_t start_ns;
    struct {
        uint32_t *items; /* ascending strictly, none is 0 */
        size_t n, cap;
    } nodes;
    struct {
        uint64_t *items; /* of each node; none is 0; their sum is the duration */
        size_t n, cap;
    } ns;
    struct {
        struct weft_blob_value *items; /* by metric, ascending strictly */
        size_t n, cap;
    } values;
};

struct weft_blob_bytes {
    uint8_t *items;
    size_t n, cap;
};

/* Replaces what `bytes` holds. False without memory. */
bool weft_blob_encode(const struct weft_blob_execution *execution, struct weft_blob_bytes *bytes);

/* What numbers of a blob must be below. */
struct weft_blob_limits {
    uint32_t n_nodes, n_threads, n_metrics;
};

/* Reads any bytes; memory is O(n_bytes). WEFT_E_MALFORMED for what weft_blob_encode does not write,
 * WEFT_E_NOMEM. `execution` is used again from call to call. */
WEFT_CHECKED enum weft_code weft_blob_decode(const uint8_t *bytes, size_t n_bytes,
                                             const struct weft_blob_limits *limits,
                                             struct weft_blob_execution *execution,
                                             struct weft_err *err);

/* The end of the execution: start_ns and all ns of its nodes. */
uint64_t weft_blob_end_ns(const struct weft_blob_execution *execution);

void weft_blob_execution_fini(struct weft_blob_execution *execution);

#endif
