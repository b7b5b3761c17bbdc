/* SPDX-License-Identifier: MIT */
#include "render/text/table.h"

#include "base/arena.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "render/human.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_GAP = 2, LEAST_TEXT_COLUMNS = 12 };

/* ---- text ------------------------------------------------------------------------------------ */

/* The width of every column, and the formatted cells of one row: each row is asked for twice, so
 * that a table of any length takes no more memory than that. */
struct layout {
    const struct weft_table *table;
    const struct weft_style *style;
    struct weft_arena *arena; /* of the row */
    struct weft_str texts[WEFT_TABLE_COLUMNS_MAX];
    bool are_bad[WEFT_TABLE_COLUMNS_MAX];
    size_t widths[WEFT_TABLE_COLUMNS_MAX];
};

static struct weft_human human_number(const struct weft_cell *cell, enum weft_cell_kind kind)
{
    struct weft_human out;
    switch (kind) {
    case WEFT_CELL_COUNT:
        return weft_human_count(cell->number);
    case WEFT_CELL_NS:
        return weft_human_ns(cell->number);
    case WEFT_CELL_AT:
        return weft_human_at(cell->number);
    case WEFT_CELL_BYTES:
        return weft_human_bytes(cell->number);
    case WEFT_CELL_SHARE:
        return weft_human_share(cell->real);
    case WEFT_CELL_RATIO:
        return weft_human_ratio(cell->real);
    case WEFT_CELL_BOOL:
        return (struct weft_human){ .text = { cell->number ? 'y' : '-' } };
    case WEFT_CELL_ID:
    case WEFT_CELL_TEXT:
        break;
    }
    snprintf(out.text, sizeof out.text, "%" PRIu64, cell->number);
    return out;
}

static struct weft_str format_cell(struct layout *layout, const struct weft_cell *cell,
                                   enum weft_cell_kind kind)
{
    if (cell->is_null)
        return WEFT_STR("-");
    if (kind == WEFT_CELL_TEXT)
        return weft_plain(layout->arena, cell->text);
    struct weft_human human = human_number(cell, kind);
    return weft_arena_copy(layout->arena, weft_str_of(human.text));
}

static void widen(struct layout *layout, size_t column, struct weft_str text)
{
    size_t n_columns = weft_utf8_columns(text);
    if (n_columns > layout->widths[column])
        layout->widths[column] = n_columns;
}

static void format_row(struct layout *layout, size_t row)
{
    const struct weft_table *table = layout->table;
    struct weft_cell cells[WEFT_TABLE_COLUMNS_MAX] = { 0 };
    weft_arena_reset(layout->arena);
    table->row(table->context, row, cells);
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!table->columns[i].head)
            continue;
        layout->texts[i] = format_cell(layout, &cells[i], table->columns[i].kind);
        layout->are_bad[i] = cells[i].is_bad;
    }
}

/* The widest text column that may still be narrowed, or SIZE_MAX. */
static size_t widest_text(const struct layout *layout)
{
    size_t widest = SIZE_MAX, width = LEAST_TEXT_COLUMNS;
    for (size_t i = 0; i < layout->table->n_columns; i++) {
        bool is_text =
            layout->table->columns[i].head && layout->table->columns[i].kind == WEFT_CELL_TEXT;
        if (is_text && layout->widths[i] > width) {
            widest = i;
            width = layout->widths[i];
        }
    }
    return widest;
}

static size_t all_columns(const struct layout *layout)
{
    size_t n_all = 0;
    for (size_t i = 0; i < layout->table->n_columns; i++)
        if (layout->table->columns[i].head)
            n_all += layout->widths[i] + (n_all > 0 ? COLUMN_GAP : 0);
    return n_all;
}

/* Narrows the widest text columns until all columns fit the terminal, as far as that goes. */
static void fit_width(struct layout *layout)
{
    size_t n_all = all_columns(layout), widest;
    while (layout->style->n_columns > 0 && n_all > layout->style->n_columns &&
           (widest = widest_text(layout)) != SIZE_MAX) {
        layout->widths[widest]--;
        n_all--;
    }
}

static bool lay_out(struct layout *layout)
{
    const struct weft_table *table = layout->table;
    assert(table->n_columns <= WEFT_TABLE_COLUMNS_MAX);
    layout->arena = weft_arena_new(0);
    if (!layout->arena)
        return false;
    for (size_t i = 0; i < table->n_columns; i++)
        if (table->columns[i].head)
            widen(layout, i, weft_str_of(table->columns[i].head));
    for (size_t row = 0; row < table->n_rows; row++) {
        format_row(layout, row);
        for (size_t i = 0; i < table->n_columns; i++)
            if (table->columns[i].head)
                widen(layout, i, layout->texts[i]);
    }
    fit_width(layout);
    return true;
}

/* Text to the left, numbers to the right; blanks wait until something follows them. */
static void print_cell(const struct layout *layout, size_t column, struct weft_str text,
                       const char *colour, size_t *n_blank, struct weft_output *out)
{
    bool is_text = layout->table->columns[column].kind == WEFT_CELL_TEXT;
    size_t width = layout->widths[column];
    struct weft_str shown = is_text ? weft_utf8_elide(layout->arena, text, width) : text;
    size_t n_columns = weft_utf8_columns(shown);
    size_t n_pad = width > n_columns ? width - n_columns : 0;
    bool has_colour = layout->style->has_colour && colour && shown.n_bytes > 0;
    *n_blank += is_text ? 0 : n_pad;
    if (shown.n_bytes > 0) {
        weft_output_repeat(out, " ", *n_blank);
        *n_blank = 0;
    }
    weft_output_text(out, has_colour ? colour : "");
    weft_output_write(out, shown.bytes, shown.n_bytes);
    weft_output_text(out, has_colour ? "\033[0m" : "");
    *n_blank += COLUMN_GAP + (is_text ? n_pad : 0);
}

static void print_head(const struct layout *layout, struct weft_output *out)
{
    size_t n_blank = 0;
    for (size_t i = 0; i < layout->table->n_columns; i++)
        if (layout->table->columns[i].head)
            print_cell(layout, i, weft_str_of(layout->table->columns[i].head), "\033[2m", &n_blank,
                       out);
    weft_output_text(out, "\n");
}

static void print_row(struct layout *layout, size_t row, struct weft_output *out)
{
    size_t n_blank = 0;
    format_row(layout, row);
    for (size_t i = 0; i < layout->table->n_columns; i++)
        if (layout->table->columns[i].head)
            print_cell(layout, i, layout->texts[i], layout->are_bad[i] ? "\033[31m" : NULL,
                       &n_blank, out);
    weft_output_text(out, "\n");
}

static void print_layout(struct layout *layout, struct weft_output *out)
{
    print_head(layout, out);
    for (size_t row = 0; row < layout->table->n_rows && !weft_output_has_failed(out); row++)
        print_row(layout, row, out);
}

size_t weft_table_columns(const struct weft_table *table)
{
    struct weft_style style = { 0 };
    struct layout layout = { .table = table, .style = &style };
    size_t n_all = lay_out(&layout) ? all_columns(&layout) : 0;
    weft_arena_free(layout.arena);
    return n_all;
}

void weft_table_text(const struct weft_table *table, const struct weft_style *style,
                     struct weft_output *out)
{
    struct layout layout = { .table = table, .style = style };
    if (lay_out(&layout)) {
        print_layout(&layout, out);
    } else {
        struct weft_err err = { 0 };
        (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a table of %zu rows",
                        table->n_rows);
        weft_output_fail(out, &err);
    }
    weft_output_release(out, layout.arena);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static bool is_real(enum weft_cell_kind kind)
{
    return kind == WEFT_CELL_SHARE || kind == WEFT_CELL_RATIO;
}

static void csv_cell(const struct weft_cell *cell, enum weft_cell_kind kind,
                     struct weft_output *out)
{
    if (cell->is_null)
        return;
    if (kind == WEFT_CELL_TEXT)
        weft_output_csv(out, cell->text);
    else if (is_real(kind))
        weft_output_text(out, weft_real_text(cell->real).text);
    else
        weft_output_printf(out, "%" PRIu64,
                           kind == WEFT_CELL_BOOL ? cell->number != 0 : cell->number);
}

static void csv_head(const struct weft_table *table, struct weft_output *out)
{
    const char *separator = "";
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!table->columns[i].key)
            continue;
        weft_output_printf(out, "%s%s", separator, table->columns[i].key);
        separator = ",";
    }
    weft_output_text(out, "\n");
}

static void csv_row(const struct weft_table *table, size_t row, struct weft_output *out)
{
    struct weft_cell cells[WEFT_TABLE_COLUMNS_MAX] = { 0 };
    const char *separator = "";
    table->row(table->context, row, cells);
    for (size_t i = 0; i < table->n_columns; i++) {
        if (!table->columns[i].key)
            continue;
        weft_output_text(out, separator);
        csv_cell(&cells[i], table->columns[i].kind, out);
        separator = ",";
    }
    weft_output_text(out, "\n");
}

void weft_table_csv(const struct weft_table *table, struct weft_output *out)
{
    if (!table->without_head)
        csv_head(table, out);
    for (size_t row = 0; row < table->n_rows && !weft_output_has_failed(out); row++)
        csv_row(table, row, out);
}

static void json_cell(const struct weft_column *column, const struct weft_cell *cell,
                      struct weft_json *json)
{
    if (cell->is_null)
        weft_json_null(json, column->key);
    else if (column->kind == WEFT_CELL_TEXT)
        weft_json_str(json, column->key, cell->text);
    else if (is_real(column->kind))
        weft_json_real(json, column->key, cell->real);
    else if (column->kind == WEFT_CELL_BOOL)
        weft_json_bool(json, column->key, cell->number != 0);
    else
        weft_json_u64(json, column->key, cell->number);
}

void weft_table_json(const struct weft_table *table, const char *key, struct weft_json *json)
{
    weft_json_begin_array(json, key);
    for (size_t row = 0; row < table->n_rows; row++) {
        struct weft_cell cells[WEFT_TABLE_COLUMNS_MAX] = { 0 };
        table->row(table->context, row, cells);
        weft_json_new_line(json);
        weft_json_begin_object(json, NULL);
        for (size_t i = 0; i < table->n_columns; i++)
            if (table->columns[i].key)
                json_cell(&table->columns[i], &cells[i], json);
        if (table->more)
            table->more(table->context, row, json);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}
