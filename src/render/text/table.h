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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum weft_cell_kind {
    WEFT_CELL_TEXT,  /* text */
    WEFT_CELL_ID,    /* number: an identity, printed as it is */
    WEFT_CELL_COUNT, /* number */
    WEFT_CELL_NS,    /* number: a duration */
    WEFT_CELL_AT,    /* number: a point of time, ns since the start of the trace */
    WEFT_CELL_BYTES, /* number */
    WEFT_CELL_SHARE, /* real: 0.01 is printed as 1 % */
    WEFT_CELL_RATIO, /* real */
    WEFT_CELL_BOOL,  /* number: 0 or not */
};

struct weft_cell {
    struct weft_str text;
    double real;
    uint64_t number;
    bool is_null; /* unknown: "-" in text, empty in CSV, null in JSON */
    bool is_bad;  /* loss or outlier: red on a colour terminal */
};

struct weft_column {
    const char *key;  /* CSV and JSON; NULL: only in text */
    const char *head; /* text; NULL: only in CSV and JSON */
    enum weft_cell_kind kind;
};

struct weft_table {
    const struct weft_column *columns;
    size_t n_columns;
    size_t n_rows;
    /* Fills the zeroed `cells`, one a column, of row `row` < n_rows; their text must live as long
     * as the table. */
    void (*row)(const void *context, size_t row, struct weft_cell *cells);
    const void *context;
    bool without_head; /* CSV: rows only */
    /* More members of the JSON object of a row; may be NULL. */
    void (*more)(const void *context, size_t row, struct weft_json *json);
};

enum { WEFT_TABLE_COLUMNS_MAX = 96 };

/* How text may look. */
struct weft_style {
    bool has_colour;
    size_t n_columns; /* width of the terminal; 0: not a terminal, nothing is elided */
};

/* With a width, the widest text column is elided until the table fits. Asks for each row twice, and
 * keeps one at a time. */
void weft_table_text(const struct weft_table *table, const struct weft_style *style,
                     struct weft_output *out);

/* Terminal columns that the text of a table takes, nothing elided; 0 without memory. */
size_t weft_table_columns(const struct weft_table *table);

void weft_table_csv(const struct weft_table *table, struct weft_output *out);

/* An array of objects under `key`, one a line. */
void weft_table_json(const struct weft_table *table, const char *key, struct weft_json *json);

#endif
