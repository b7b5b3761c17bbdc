/* SPDX-License-Identifier: MIT
 *
 * Columns of integers in few bits (docs/database.md, "Columns"): numbers that are alike differ
 * little from one of them, and how little is coded in a class and the bits below it.
 */
#ifndef WEFT_QUERY_DATABASE_COLUMN_H
#define WEFT_QUERY_DATABASE_COLUMN_H

#include "base/cursor.h"

struct weft_blob_bytes {
    uint8_t *items;
    size_t n, cap;
};

/* These append, and are false without memory. */
bool weft_blob_put(struct weft_blob_bytes *bytes, uint8_t byte);
bool weft_blob_put_varint(struct weft_blob_bytes *bytes, uint64_t value);

/* Appends n integers in the shortest of the forms; `scratch` has room for 2 n. O(n). */
bool weft_column_write(struct weft_blob_bytes *bytes, const int64_t *values, size_t n,
                       int64_t *scratch);

/* Reads what weft_column_write wrote of n integers; `scratch` has room for 2 n. A column may be
 * shorter than its numbers are many: the caller bounds n first. False for other bytes; then the
 * cursor may stand anywhere. */
bool weft_column_read(struct weft_cursor *cur, int64_t *values, size_t n, int64_t *scratch);

#endif
