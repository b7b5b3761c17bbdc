/* SPDX-License-Identifier: MIT
 *
 * One description of a table, three renderings: aligned text with human units, CSV and JSON with
 * exact values under stable keys.
 */
#ifndef WEFT_RENDER_TEXT_TABLE_H
#define WEFT_RENDER_TEXT_TABLE_H

#include "base/str.h"
#include "render/json/json.h"
#include "render/output.h"
#include "schema/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of one type. */
struct weft_table {
    const struct weft_table_type *type;
    const void *rows;
    size_t n_rows;
    size_t row_bytes;             /* from one row to the next; 0: as the type has it */
    const uint32_t *order;        /* places of the rows that are shown; NULL: the first n_rows */
    const char *const *heads;     /* of all fields, instead of the type's; NULL: those */
    uint64_t omitted;             /* bits of fields that are left out everywhere */
    struct weft_table_context in; /* what fields need besides the row */
    bool without_head;            /* CSV: rows only */
    const void *context;          /* of the functions below; each may be NULL */
    /* More members of the JSON object of a row. */
    void (*more)(const void *context, size_t row, struct weft_json *json);
    /* A row has been read, for the last time in this pass. */
    void (*passed)(const void *context, size_t row);
};

enum { WEFT_TABLE_COLUMNS_MAX = 96 };

/* How text may look. */
struct weft_style {
    bool has_colour;
    size_t n_columns; /* of a line, at most; 0: any number, nothing is elided or dropped for it */
};

/* Columns without a value in any row are left out. With a width, text columns are elided and
 * columns of details dropped until the table fits. Asks for each row twice, and keeps one at a
 * time. */
void weft_table_text(const struct weft_table *table, const struct weft_style *style,
                     struct weft_output *out);

/* Columns of a line that the text of a table takes, nothing elided; 0 without memory. */
size_t weft_table_columns(const struct weft_table *table);

void weft_table_csv(const struct weft_table *table, struct weft_output *out);

/* An array of objects under `key`, one a line. */
void weft_table_json(const struct weft_table *table, const char *key, struct weft_json *json);

#endif
