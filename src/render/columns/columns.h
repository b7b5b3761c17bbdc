/* SPDX-License-Identifier: MIT
 *
 * Tables as little-endian columns, for programs that read them by the million
 * (docs/http-api.md, "Columns").
 */
#ifndef WEFT_RENDER_COLUMNS_COLUMNS_H
#define WEFT_RENDER_COLUMNS_COLUMNS_H

#include "render/json/json.h"
#include "render/output.h"
#include "schema/table.h"

#include <stddef.h>
#include <stdint.h>

/* The first word of the document: "WFTC". */
#define WEFT_COLUMNS_MAGIC UINT32_C(0x43544657)

struct weft_columns_table {
    const char *name;
    const struct weft_table_type *type; /* whose fields with a column are written */
    const void *rows;
    size_t n_rows;
    const char *without; /* a column that is left out; may be NULL */
};

/* Bytes that the data of a table take, without the header. */
uint64_t weft_columns_bytes(const struct weft_columns_table *table);

/* Writes the document. `more` (may be NULL) adds members to the header. Failures go to the output.
 */
void weft_columns_write(const struct weft_columns_table *tables, size_t n_tables,
                        void (*more)(const void *context, struct weft_json *json),
                        const void *context, struct weft_output *out);

#endif
