/* SPDX-License-Identifier: MIT
 *
 * Tables as little-endian columns, for programs that read them by the million
 * (docs/http-api.md, "Columns").
 */
#ifndef WEFT_RENDER_COLUMNS_COLUMNS_H
#define WEFT_RENDER_COLUMNS_COLUMNS_H

#include "render/json/json.h"
#include "render/output.h"

#include <stddef.h>
#include <stdint.h>

/* The first word of the document: "WFTC". */
#define WEFT_COLUMNS_MAGIC UINT32_C(0x43544657)

enum weft_column_type {
    WEFT_COLUMN_U8,
    WEFT_COLUMN_U16,
    WEFT_COLUMN_U32,
    WEFT_COLUMN_I32,
    WEFT_COLUMN_F64,
};

/* What the member of a row is that a column is made from. */
enum weft_column_source {
    WEFT_FROM_BOOL,
    WEFT_FROM_U8,
    WEFT_FROM_U32,
    WEFT_FROM_U64,
    WEFT_FROM_F64, /* for columns of WEFT_COLUMN_F64 alone */
};

/* A column of the rows of an array of structs. Numbers too large for their column are its largest
 * (u8, u16, u32) or rounded (f64: above 2^53); WEFT_ID_NONE is -1 in an i32. */
struct weft_columns_column {
    const char *name;
    enum weft_column_type type;
    enum weft_column_source source;
    size_t offset; /* of the member */
};

struct weft_columns_table {
    const char *name;
    const struct weft_columns_column *columns;
    size_t n_columns;
    const void *rows; /* of n_rows elements, row_bytes each */
    size_t n_rows, row_bytes;
};

/* Bytes that the data of a table take, without the header. */
uint64_t weft_columns_bytes(const struct weft_columns_table *table);

/* Writes the document. `more` (may be NULL) adds members to the header. Failures go to the output.
 */
void weft_columns_write(const struct weft_columns_table *tables, size_t n_tables,
                        void (*more)(const void *context, struct weft_json *json),
                        const void *context, struct weft_output *out);

#endif
