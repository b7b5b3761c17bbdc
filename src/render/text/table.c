/* SPDX-License-Identifier: MIT */
#include "render/text/table.h"

#include "base/arena.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "render/human.h"
#include "render/put.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMN_GAP = 2,
    BELOW_MAX = 4,
    BELOW_INDENT = 4,
    READABLE_TEXT_COLUMNS = 28,
    LEAST_TEXT_COLUMNS = 12
};

/* ---- cells ----------------------------------------------------------------------------------- */

static bool is_omitted(const struct weft_table *table, size_t field)
{
    return field < 64 && table->omitted >> field & 1;
}

/* Of CSV and JSON. */
static bool is_written(const struct weft_table *table, size_t field)
{
    const struct weft_field *described = &table->type->fields[field];
    return described->key && !is_omitted(table, field) &&
           (!described->is_for_page || table->in.is_for_page);
}

/* A place in a table. Texts that getters make lie in the arena until the next row. */
struct cursor {
    struct weft_table_context context;
    const void *row;
    const struct weft_field *written[WEFT_TABLE_COLUMNS_MAX]; /* by CSV and JSON */
    size_t n_written;
};

static struct cursor begin_rows(const struct weft_table *table, struct weft_arena *arena,
                                bool is_text)
{
    struct cursor cursor = { .context = table->in };
    cursor.context.arena = arena;
    cursor.context.is_text = is_text;
    for (size_t i = 0; i < table->type->n_fields; i++)
        if (is_written(table, i))
            cursor.written[cursor.n_written++] = &table->type->fields[i];
    return cursor;
}

static void go_to(const struct weft_table *table, size_t row, struct cursor *cursor)
{
    const size_t row_bytes = table->row_bytes ? table->row_bytes : table->type->row_bytes;
    cursor->context.place = table->order ? table->order[row] : row;
    cursor->row = (const char *)table->rows + cursor->context.place * row_bytes;
    weft_arena_reset(cursor->context.arena);
}

static struct weft_cell read_cell(const struct weft_field *field, const struct cursor *cursor)
{
    struct weft_cell cell = { 0 };
    weft_field_cell(field, &cursor->context, cursor->row, &cell);
    return cell;
}

static void pass(const struct weft_table *table, size_t row)
{
    if (table->passed)
        table->passed(table->context, row);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* The width of every column, and the formatted cells of one row: each row is asked for twice, so
 * that a table of any length takes no more memory than that. */
struct layout {
    const struct weft_table *table;
    const struct weft_style *style;
    struct weft_arena *arena; /* of the row */
    struct cursor cursor;
    size_t n_fields;         /* that are columns */
    size_t below[BELOW_MAX]; /* fields below the row */
    size_t n_below;
    size_t n_dropped; /* that are neither empty nor details */
    size_t fields[WEFT_TABLE_COLUMNS_MAX];
    struct weft_str heads[WEFT_TABLE_COLUMNS_MAX];
    struct weft_str texts[WEFT_TABLE_COLUMNS_MAX];
    bool are_text[WEFT_TABLE_COLUMNS_MAX];
    bool are_bad[WEFT_TABLE_COLUMNS_MAX];
    bool have_values[WEFT_TABLE_COLUMNS_MAX]; /* in some row */
    size_t widths[WEFT_TABLE_COLUMNS_MAX];
};

static struct weft_human human_number(const struct weft_cell *cell, enum weft_unit unit)
{
    struct weft_human out;
    switch (unit) {
    case WEFT_UNIT_COUNT:
        return weft_human_count(cell->number);
    case WEFT_UNIT_NS:
        return weft_human_ns(cell->number);
    case WEFT_UNIT_AT:
        return weft_human_at(cell->number);
    case WEFT_UNIT_BYTES:
        return weft_human_bytes(cell->number);
    case WEFT_UNIT_SHARE:
        return weft_human_share(cell->real);
    case WEFT_UNIT_RATIO:
        return weft_human_ratio(cell->real);
    case WEFT_UNIT_BOOL:
        return (struct weft_human){ .text = { cell->number ? 'y' : '-' } };
    case WEFT_UNIT_ID:
    case WEFT_UNIT_TEXT:
        break;
    }
    *weft_put_u64(out.text, cell->number) = '\0';
    return out;
}

static struct weft_str format_cell(struct layout *layout, const struct weft_cell *cell,
                                   enum weft_unit unit)
{
    if (cell->is_null)
        return WEFT_STR("-");
    if (unit == WEFT_UNIT_TEXT)
        return weft_plain(layout->arena, cell->text);
    struct weft_human human = human_number(cell, unit);
    return weft_arena_copy(layout->arena, weft_str_of(human.text));
}

static void widen(struct layout *layout, size_t column, struct weft_str text)
{
    size_t n_columns = weft_utf8_columns(text);
    if (n_columns > layout->widths[column])
        layout->widths[column] = n_columns;
}

/* Unknown, zero, "no" and empty text are no values; any identity or point of time is one. */
static bool has_value(const struct weft_cell *cell, enum weft_unit unit)
{
    if (cell->is_null)
        return false;
    switch (unit) {
    case WEFT_UNIT_TEXT:
        return cell->text.n_bytes > 0;
    case WEFT_UNIT_ID:
    case WEFT_UNIT_AT:
        return true;
    case WEFT_UNIT_SHARE:
    case WEFT_UNIT_RATIO:
        return cell->real < 0 || cell->real > 0;
    case WEFT_UNIT_COUNT:
    case WEFT_UNIT_NS:
    case WEFT_UNIT_BYTES:
    case WEFT_UNIT_BOOL:
        break;
    }
    return cell->number != 0;
}

static void format_row(struct layout *layout, size_t row)
{
    const struct weft_table *table = layout->table;
    go_to(table, row, &layout->cursor);
    for (size_t i = 0; i < layout->n_fields; i++) {
        const struct weft_field *field = &table->type->fields[layout->fields[i]];
        const struct weft_cell cell = read_cell(field, &layout->cursor);
        layout->texts[i] = format_cell(layout, &cell, field->unit);
        layout->are_bad[i] = cell.is_bad;
        layout->have_values[i] |= has_value(&cell, field->unit);
    }
    pass(table, row);
}

/* ---- which columns, and how wide ------------------------------------------------------------- */

static void drop_column(struct layout *layout, size_t column)
{
    const size_t n_after = --layout->n_fields - column;
#define SHIFT(member)                                                                              \
    memmove(&layout->member[column], &layout->member[column + 1], n_after * sizeof *layout->member)
    SHIFT(fields);
    SHIFT(heads);
    SHIFT(are_text);
    SHIFT(have_values);
    SHIFT(widths);
#undef SHIFT
}

/* Columns without a value in any row. The first of numbers stays: rows are ranked by it, and it may
 * be what was asked for. */
static void drop_empty(struct layout *layout)
{
    size_t first = 0;
    while (first < layout->n_fields &&
           (layout->are_text[first] ||
            layout->table->type->fields[layout->fields[first]].unit == WEFT_UNIT_ID))
        first++;
    for (size_t i = layout->n_fields; i-- > 0 && layout->n_fields > 1;)
        if (!layout->have_values[i] && i != first)
            drop_column(layout, i);
}

/* The widest text column above `least`, or SIZE_MAX. */
static size_t widest_text(const struct layout *layout, size_t least)
{
    size_t widest = SIZE_MAX, width = least;
    for (size_t i = 0; i < layout->n_fields; i++) {
        if (layout->are_text[i] && layout->widths[i] > width &&
            !layout->table->type->fields[layout->fields[i]].is_whole) {
            widest = i;
            width = layout->widths[i];
        }
    }
    return widest;
}

static size_t all_columns(const struct layout *layout)
{
    size_t n_all = 0;
    for (size_t i = 0; i < layout->n_fields; i++)
        n_all += layout->widths[i] + (n_all > 0 ? COLUMN_GAP : 0);
    return n_all;
}

static bool is_too_wide(const struct layout *layout)
{
    return layout->style->n_columns > 0 && all_columns(layout) > layout->style->n_columns;
}

static void narrow_texts(struct layout *layout, size_t least)
{
    size_t widest;
    while (is_too_wide(layout) && (widest = widest_text(layout, least)) != SIZE_MAX)
        layout->widths[widest]--;
}

/* The columns of details, from the last one on. */
static void drop_details(struct layout *layout)
{
    for (size_t i = layout->n_fields; i-- > 1 && is_too_wide(layout);)
        if (layout->table->type->fields[layout->fields[i]].is_detail)
            drop_column(layout, i);
}

/* Numbers from the last one on, if that is what it takes: names say what a row is about. */
static void drop_numbers(struct layout *layout)
{
    for (size_t i = layout->n_fields; i-- > 1 && is_too_wide(layout);)
        if (!layout->are_text[i]) {
            drop_column(layout, i);
            layout->n_dropped++;
        }
}

/* Makes all columns fit the line: narrows texts as far as they stay readable, then drops details,
 * then narrows further, then drops numbers. */
static void fit_width(struct layout *layout)
{
    narrow_texts(layout, READABLE_TEXT_COLUMNS);
    drop_details(layout);
    narrow_texts(layout, LEAST_TEXT_COLUMNS);
    drop_numbers(layout);
    narrow_texts(layout, 4);
}

static void choose_fields(struct layout *layout)
{
    const struct weft_table *table = layout->table;
    for (size_t i = 0; i < table->type->n_fields; i++) {
        const char *head = table->heads ? table->heads[i] : table->type->fields[i].head;
        if (!head || is_omitted(table, i))
            continue;
        if (table->type->fields[i].is_below && layout->style->n_columns > 0) {
            assert(layout->n_below < BELOW_MAX);
            layout->below[layout->n_below++] = i;
            continue;
        }
        assert(layout->n_fields < WEFT_TABLE_COLUMNS_MAX);
        layout->fields[layout->n_fields] = i;
        layout->are_text[layout->n_fields] = table->type->fields[i].unit == WEFT_UNIT_TEXT;
        layout->heads[layout->n_fields++] = weft_str_of(head);
    }
}

static bool lay_out(struct layout *layout)
{
    layout->arena = weft_arena_new(0);
    if (!layout->arena)
        return false;
    layout->cursor = begin_rows(layout->table, layout->arena, true);
    choose_fields(layout);
    for (size_t i = 0; i < layout->n_fields; i++)
        widen(layout, i, layout->heads[i]);
    for (size_t row = 0; row < layout->table->n_rows; row++) {
        format_row(layout, row);
        for (size_t i = 0; i < layout->n_fields; i++)
            widen(layout, i, layout->texts[i]);
    }
    if (layout->table->n_rows > 0)
        drop_empty(layout);
    fit_width(layout);
    return true;
}

static void put_blanks(size_t n, struct weft_output *out)
{
    static const char blanks[] = "                                ";
    for (; n >= sizeof blanks; n -= sizeof blanks - 1)
        weft_output_write(out, blanks, sizeof blanks - 1);
    weft_output_write(out, blanks, n);
}

/* Text to the left, numbers to the right; blanks wait until something follows them. */
static void print_cell(const struct layout *layout, size_t column, struct weft_str text,
                       const char *colour, size_t *n_blank, struct weft_output *out)
{
    bool is_text = layout->are_text[column];
    size_t width = layout->widths[column];
    struct weft_str shown = is_text ? weft_utf8_elide(layout->arena, text, width) : text;
    size_t n_columns = weft_utf8_columns(shown);
    size_t n_pad = width > n_columns ? width - n_columns : 0;
    bool has_colour = layout->style->has_colour && colour && shown.n_bytes > 0;
    *n_blank += is_text ? 0 : n_pad;
    if (shown.n_bytes > 0) {
        put_blanks(*n_blank, out);
        *n_blank = 0;
    }
    if (has_colour)
        weft_output_text(out, colour);
    weft_output_write(out, shown.bytes, shown.n_bytes);
    if (has_colour)
        weft_output_text(out, "\033[0m");
    *n_blank += COLUMN_GAP + (is_text ? n_pad : 0);
}

/* The fields below a row that have a value, a line each. */
static void print_below(struct layout *layout, size_t row, struct weft_output *out)
{
    const size_t width = layout->style->n_columns - BELOW_INDENT;
    go_to(layout->table, row, &layout->cursor);
    for (size_t i = 0; i < layout->n_below; i++) {
        const struct weft_field *field = &layout->table->type->fields[layout->below[i]];
        const struct weft_cell cell = read_cell(field, &layout->cursor);
        if (!has_value(&cell, field->unit))
            continue;
        const struct weft_str text = format_cell(layout, &cell, field->unit);
        put_blanks(BELOW_INDENT, out);
        const struct weft_str shown =
            field->is_whole ? text : weft_utf8_elide(layout->arena, text, width);
        weft_output_write(out, shown.bytes, shown.n_bytes);
        weft_output_text(out, "\n");
    }
}

static void print_layout(struct layout *layout, struct weft_output *out)
{
    size_t n_blank = 0;
    for (size_t i = 0; i < layout->n_fields; i++)
        print_cell(layout, i, layout->heads[i], "\033[2m", &n_blank, out);
    weft_output_text(out, "\n");
    for (size_t row = 0; row < layout->table->n_rows && !weft_output_has_failed(out); row++) {
        format_row(layout, row);
        n_blank = 0;
        for (size_t i = 0; i < layout->n_fields; i++)
            print_cell(layout, i, layout->texts[i], layout->are_bad[i] ? "\033[31m" : NULL,
                       &n_blank, out);
        weft_output_text(out, "\n");
        if (layout->n_below > 0)
            print_below(layout, row, out);
    }
    if (layout->n_dropped > 0)
        weft_output_printf(out, "%s: --wide\n",
                           weft_human_plural(layout->n_dropped, "more column").text);
}

static void no_memory(const struct weft_table *table, struct weft_output *out)
{
    struct weft_err err = { 0 };
    (void)weft_fail(&err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a table of %zu rows",
                    table->n_rows);
    weft_output_fail(out, &err);
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
    if (lay_out(&layout))
        print_layout(&layout, out);
    else
        no_memory(table, out);
    weft_output_release(out, layout.arena);
}

/* ---- CSV and JSON ---------------------------------------------------------------------------- */

static void put_number(uint64_t number, struct weft_output *out)
{
    char digits[WEFT_PUT_U64_BYTES];
    weft_output_write(out, digits, (size_t)(weft_put_u64(digits, number) - digits));
}

static void csv_cell(const struct weft_cell *cell, enum weft_unit unit, struct weft_output *out)
{
    if (cell->is_null)
        return;
    if (unit == WEFT_UNIT_TEXT)
        weft_output_csv(out, cell->text);
    else if (weft_unit_is_real(unit))
        weft_output_text(out, weft_real_text(cell->real).text);
    else
        put_number(unit == WEFT_UNIT_BOOL ? cell->number != 0 : cell->number, out);
}

static void csv_head(const struct weft_table *table, struct weft_output *out)
{
    const char *separator = "";
    for (size_t i = 0; i < table->type->n_fields; i++) {
        if (!is_written(table, i))
            continue;
        weft_output_printf(out, "%s%s", separator, table->type->fields[i].key);
        separator = ",";
    }
    weft_output_text(out, "\n");
}

static void csv_row(const struct weft_table *table, size_t row, struct cursor *cursor,
                    struct weft_output *out)
{
    const char *separator = "";
    go_to(table, row, cursor);
    for (size_t i = 0; i < cursor->n_written; i++) {
        const struct weft_cell cell = read_cell(cursor->written[i], cursor);
        weft_output_text(out, separator);
        csv_cell(&cell, cursor->written[i]->unit, out);
        separator = ",";
    }
    weft_output_text(out, "\n");
    pass(table, row);
}

void weft_table_csv(const struct weft_table *table, struct weft_output *out)
{
    struct weft_arena *arena = weft_arena_new(0);
    if (!arena) {
        no_memory(table, out);
        return;
    }
    struct cursor cursor = begin_rows(table, arena, false);
    if (!table->without_head)
        csv_head(table, out);
    for (size_t row = 0; row < table->n_rows && !weft_output_has_failed(out); row++)
        csv_row(table, row, &cursor, out);
    weft_output_release(out, arena);
}

static void json_cell(const struct weft_field *field, const struct weft_cell *cell,
                      struct weft_json *json)
{
    if (cell->is_null)
        weft_json_null(json, field->key);
    else if (field->unit == WEFT_UNIT_TEXT)
        weft_json_str(json, field->key, cell->text);
    else if (weft_unit_is_real(field->unit))
        weft_json_real(json, field->key, cell->real);
    else if (field->unit == WEFT_UNIT_BOOL)
        weft_json_bool(json, field->key, cell->number != 0);
    else
        weft_json_u64(json, field->key, cell->number);
}

static void json_row(const struct weft_table *table, size_t row, struct cursor *cursor,
                     struct weft_json *json)
{
    go_to(table, row, cursor);
    weft_json_new_line(json);
    weft_json_begin_object(json, NULL);
    for (size_t i = 0; i < cursor->n_written; i++) {
        const struct weft_cell cell = read_cell(cursor->written[i], cursor);
        json_cell(cursor->written[i], &cell, json);
    }
    if (table->more)
        table->more(table->context, row, json);
    weft_json_end_object(json);
    pass(table, row);
}

void weft_table_json(const struct weft_table *table, const char *key, struct weft_json *json)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct cursor cursor = begin_rows(table, arena, false);
    weft_json_begin_array(json, key);
    for (size_t row = 0; arena && row < table->n_rows; row++)
        json_row(table, row, &cursor, json);
    weft_json_end_array(json);
    weft_json_release(json, arena);
}
