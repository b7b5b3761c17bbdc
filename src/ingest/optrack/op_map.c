/* SPDX-License-Identifier: MIT
 *
 * Reads the table of operation names and shortens C++ signatures to what a reader looks for, unless
 * two names become equal. Ids may be written as signed 16-bit numbers. The whole table is checked
 * before any record is read.
 */
#include "ingest/optrack/op_map.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHOWN_BYTES = 40 };

/* ---- lines ------------------------------------------------------------------------------------
 */

static bool is_digit(char letter)
{
    return letter >= '0' && letter <= '9';
}

/* Id, one blank, and all the rest is the name: clang's names hold blanks. */
static bool parse_line(struct weft_str text, struct weft_op_name *row)
{
    size_t at = 0;
    bool is_negative = text.n_bytes && text.bytes[0] == '-';
    int32_t value = 0;
    at += is_negative;
    size_t first = at;
    for (; at < text.n_bytes && is_digit(text.bytes[at]) && value <= UINT16_MAX; at++)
        value = value * 10 + (text.bytes[at] - '0');
    value = is_negative ? -value : value;
    if (at == first || value < INT16_MIN || value > UINT16_MAX)
        return false;
    if (at + 1 >= text.n_bytes || text.bytes[at] != ' ')
        return false;
    row->id = (uint16_t)(value & UINT16_MAX);
    row->name = (struct weft_str){ .bytes = text.bytes + at + 1, .n_bytes = text.n_bytes - at - 1 };
    return true;
}

/* The line at *at_off without its end; *at_off moves behind it. */
static struct weft_str next_line(const uint8_t *bytes, uint64_t n_bytes, uint64_t *at_off,
                                 bool *is_whole)
{
    const char *line = (const char *)bytes + *at_off;
    const char *end = memchr(line, '\n', n_bytes - *at_off);
    size_t n_line = end ? (size_t)(end - line) : n_bytes - *at_off;
    *is_whole = end != NULL;
    *at_off += n_line + (end != NULL);
    while (n_line && (line[n_line - 1] == '\r' || line[n_line - 1] == ' '))
        n_line--;
    return (struct weft_str){ .bytes = line, .n_bytes = n_line };
}

static bool is_letter(char letter)
{
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

bool weft_op_map_sniff(const uint8_t *bytes, size_t n_bytes)
{
    size_t n_lines = 0;
    for (uint64_t at_off = 0; at_off < n_bytes;) {
        bool is_whole;
        struct weft_op_name row;
        struct weft_str text = next_line(bytes, n_bytes, &at_off, &is_whole);
        if (!is_whole && n_lines)
            break;
        if (!parse_line(text, &row) || !is_letter(row.name.bytes[0]))
            return false;
        /* A text trace ends its lines with a time. */
        if (is_digit(text.bytes[text.n_bytes - 1]) && memchr(row.name.bytes, ' ', row.name.n_bytes))
            return false;
        n_lines++;
    }
    return n_lines > 0;
}

/* ---- names ------------------------------------------------------------------------------------
 */

static bool is_of_name(char letter)
{
    return is_letter(letter) || is_digit(letter) || letter == '$' || letter == '.';
}

/* True if the text from `at`, a parenthesis, to the end is one balanced group. */
static bool is_one_group(struct weft_str text, size_t at)
{
    size_t depth = 0;
    for (; at < text.n_bytes; at++) {
        depth += text.bytes[at] == '(';
        if (text.bytes[at] == ')' && depth-- == 1)
            return at + 1 == text.n_bytes;
    }
    return false;
}

struct weft_str weft_op_short_name(struct weft_str name)
{
    const char *open = memchr(name.bytes, '(', name.n_bytes);
    if (!open || memchr(name.bytes, '<', name.n_bytes) || memchr(name.bytes, ':', name.n_bytes))
        return name;
    size_t end = (size_t)(open - name.bytes);
    size_t begin = end;
    while (begin && is_of_name(name.bytes[begin - 1]))
        begin--;
    if (begin == end || begin == 0 || is_digit(name.bytes[begin]) || !is_one_group(name, end))
        return name;
    if (name.bytes[begin - 1] != ' ' && name.bytes[begin - 1] != '*')
        return name;
    return (struct weft_str){ .bytes = name.bytes + begin, .n_bytes = end - begin };
}

static int compare_shown(const void *a_void, const void *b_void)
{
    const struct weft_op_name *a = a_void;
    const struct weft_op_name *b = b_void;
    int order = weft_str_compare(a->shown, b->shown);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

/* Shortens the names; two that would become one stay as they are. */
static void shorten(struct weft_op_map *map)
{
    if (map->n == 0)
        return;
    for (size_t k = 0; k < map->n; k++)
        map->items[k].shown = weft_op_short_name(map->items[k].name);
    qsort(map->items, map->n, sizeof *map->items, compare_shown);
    for (size_t from = 0, to; from < map->n; from = to) {
        bool is_one = true;
        for (to = from + 1;
             to < map->n && weft_str_equal(map->items[to].shown, map->items[from].shown); to++)
            is_one &= weft_str_equal(map->items[to].name, map->items[from].name);
        for (size_t k = from; k < to && !is_one; k++)
            map->items[k].shown = map->items[k].name;
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int compare_ids(const void *a_void, const void *b_void)
{
    const struct weft_op_name *a = a_void;
    const struct weft_op_name *b = b_void;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Each id once; the same line twice does no harm. */
static enum weft_code settle(struct weft_op_map *map, struct weft_err *err)
{
    size_t n_kept = 0;
    if (map->n)
        qsort(map->items, map->n, sizeof *map->items, compare_ids);
    for (size_t k = 0; k < map->n; k++) {
        const struct weft_op_name *row = &map->items[k];
        const struct weft_op_name *last = n_kept ? &map->items[n_kept - 1] : NULL;
        if (!last || last->id != row->id)
            map->items[n_kept++] = *row;
        else if (!weft_str_equal(last->name, row->name))
            return weft_fail_line(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, row->line,
                                  "expected one name for operation %" PRIu16
                                  ", found another in line %" PRIu64,
                                  row->id, last->line);
    }
    map->n = n_kept;
    shorten(map);
    if (map->n)
        qsort(map->items, map->n, sizeof *map->items, compare_ids);
    return WEFT_OK;
}

enum weft_code weft_op_map_read(const uint8_t *bytes, uint64_t n_bytes, struct weft_op_map *map,
                                struct weft_err *err)
{
    uint64_t line = 1;
    for (uint64_t at_off = 0; at_off < n_bytes; line++) {
        bool is_whole;
        uint64_t line_off = at_off;
        struct weft_op_name row = { .line = line };
        struct weft_str text = next_line(bytes, n_bytes, &at_off, &is_whole);
        if (text.n_bytes == 0)
            continue;
        if (!parse_line(text, &row))
            return weft_fail_line(
                err, WEFT_E_MALFORMED, line_off, line,
                "expected an operation's id, a blank and its function, found \"%.*s\"",
                text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES, text.bytes);
        struct weft_op_name *slot = WEFT_VEC_PUSH(map);
        if (!slot)
            return weft_no_memory(err, "the map of operations");
        *slot = row;
    }
    return settle(map, err);
}

void weft_op_map_fini(struct weft_op_map *map)
{
    WEFT_VEC_FINI(map);
}
