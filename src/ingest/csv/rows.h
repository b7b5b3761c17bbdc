/* SPDX-License-Identifier: MIT
 *
 * Rows of comma-separated values (RFC 4180): fields in quotes may hold separators, line ends and
 * doubled quotes. Lines end with LF or CRLF.
 */
#ifndef WEFT_INGEST_CSV_ROWS_H
#define WEFT_INGEST_CSV_ROWS_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { CSV_MOST_FIELDS = 256 };

/* A field as it stands in the text, without the quotes around it. */
struct csv_field {
    struct weft_str text;
    bool has_quotes; /* doubled ones inside: csv_plain makes them single */
};

struct csv_rows {
    const char *begin, *at, *end;
    char separator;
};

struct csv_row {
    const char *begin;
    size_t n_fields; /* those beyond CSV_MOST_FIELDS are omitted */
    bool is_torn;    /* a quote without its end, or letters behind the closing one */
    bool is_open;    /* torn, because the text ends within quotes */
    struct csv_field fields[CSV_MOST_FIELDS];
};

/* The next row that is not empty; false at the end. */
bool csv_next_row(struct csv_rows *rows, struct csv_row *row);

/* The separator of a text by its first line: of comma, semicolon and TAB the most frequent. */
char csv_separator(const char *begin, const char *end);

/* Copies a field with its doubled quotes single; `out` has room for text.n_bytes. Returns how many
 * bytes. */
size_t csv_plain(const struct csv_field *field, char *out);

#endif
