/* SPDX-License-Identifier: MIT
 *
 * Splits text into rows and fields without copying: fields are views, doubled quotes are only
 * flagged and removed by csv_plain. A quote that is never closed makes the row torn; the importer
 * then counts the rest as lost.
 */
#include "ingest/csv/rows.h"

#include <string.h>

static bool is_line_end(char letter)
{
    return letter == '\n' || letter == '\r';
}

/* What stands between quotes; the reader is on the opening one. */
static void quoted_field(struct csv_rows *rows, struct csv_row *row, struct csv_field *field)
{
    const char *begin = ++rows->at;
    for (;;) {
        const char *quote = memchr(rows->at, '"', (size_t)(rows->end - rows->at));
        if (!quote) {
            row->is_torn = row->is_open = true;
            rows->at = rows->end;
            field->text = (struct weft_str){ begin, (size_t)(rows->end - begin) };
            return;
        }
        rows->at = quote + 1;
        if (rows->at == rows->end || *rows->at != '"') {
            field->text = (struct weft_str){ begin, (size_t)(quote - begin) };
            return;
        }
        rows->at++;
        field->has_quotes = true;
    }
}

static void plain_field(struct csv_rows *rows, struct csv_field *field)
{
    const char *begin = rows->at;
    while (rows->at < rows->end && *rows->at != rows->separator && *rows->at != '\n')
        rows->at++;
    const char *end = rows->at;
    if (end > begin && end[-1] == '\r' && (rows->at == rows->end || *rows->at == '\n'))
        end--;
    field->text = (struct weft_str){ begin, (size_t)(end - begin) };
}

/* A field and what ends it; false when the row ends with it. */
static bool next_field(struct csv_rows *rows, struct csv_row *row, struct csv_field *field)
{
    *field = (struct csv_field){ 0 };
    if (rows->at < rows->end && *rows->at == '"') {
        quoted_field(rows, row, field);
        if (rows->at < rows->end && *rows->at == '\r')
            rows->at++;
        struct csv_field rest = { 0 };
        plain_field(rows, &rest);
        row->is_torn |= rest.text.n_bytes > 0;
    } else {
        plain_field(rows, field);
    }
    if (rows->at == rows->end)
        return false;
    return *rows->at++ == rows->separator;
}

bool csv_next_row(struct csv_rows *rows, struct csv_row *row)
{
    while (rows->at < rows->end && is_line_end(*rows->at))
        rows->at++;
    row->begin = rows->at;
    row->n_fields = 0;
    row->is_torn = row->is_open = false;
    if (rows->at == rows->end)
        return false;
    for (bool has_more = true; has_more;) {
        struct csv_field field;
        has_more = next_field(rows, row, &field);
        if (row->n_fields < CSV_MOST_FIELDS)
            row->fields[row->n_fields++] = field;
    }
    return true;
}

char csv_separator(const char *begin, const char *end)
{
    static const char separators[] = ",;\t";
    size_t counts[sizeof separators - 1] = { 0 };
    bool is_quoted = false;
    for (const char *at = begin; at < end && (is_quoted || *at != '\n'); at++) {
        is_quoted ^= *at == '"';
        for (size_t k = 0; !is_quoted && k < sizeof separators - 1; k++)
            counts[k] += *at == separators[k];
    }
    size_t most = 0;
    for (size_t k = 1; k < sizeof separators - 1; k++)
        if (counts[k] > counts[most])
            most = k;
    return separators[most];
}

size_t csv_plain(const struct csv_field *field, char *out)
{
    size_t n = 0;
    for (size_t k = 0; k < field->text.n_bytes; k++) {
        out[n++] = field->text.bytes[k];
        k += field->has_quotes && field->text.bytes[k] == '"';
    }
    return n;
}
