/* SPDX-License-Identifier: MIT
 *
 * A table of parameters with type, range and place in `struct weft_query`; an endpoint states which
 * of them it takes. Nothing of the client's text passes unchecked; what errors repeat of it is
 * short ASCII.
 */
#include "serve/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum kind { NUMBER, CHOICE, IDS, TEXT };

enum { SHOWN_BYTES = 40, NUMBER_DIGITS = 20 };

static const char *const sorts[] = { "longest", "time", NULL };
static const char *const directions[] = { "next", "previous", NULL };
static const char *const flags[] = { "0", "1", NULL };
static const char *const kept[] = { "regtime", "functions", "shapes", NULL };
static const char *const kinds[] = { "waits", "sections", "meanwhile", NULL };
const char *const weft_query_presets[] = { "paper", "fine", NULL };

/* One row a parameter, in the order of enum weft_param. */
struct row {
    const char *name;
    enum kind kind;
    size_t field;
    uint64_t max;
    const char *const *choices;
};

#define FIELD(member) offsetof(struct weft_query, member)

static const struct row rows[] = {
    { "trace", NUMBER, FIELD(trace), UINT32_MAX, NULL },
    { "from", NUMBER, FIELD(from_ns), UINT64_MAX, NULL },
    { "to", NUMBER, FIELD(to_ns), UINT64_MAX, NULL },
    { "threads", IDS, FIELD(threads), UINT32_MAX - 1, NULL },
    { "thread", NUMBER, FIELD(thread), UINT32_MAX - 1, NULL },
    { "fn", IDS, FIELD(fn), UINT32_MAX - 1, NULL },
    { "min_ns", NUMBER, FIELD(min_ns), UINT64_MAX, NULL },
    { "max_ns", NUMBER, FIELD(max_ns), UINT64_MAX, NULL },
    { "limit", NUMBER, FIELD(limit), UINT32_MAX, NULL },
    { "width", NUMBER, FIELD(width), UINT32_MAX, NULL },
    { "at", NUMBER, FIELD(at_ns), UINT64_MAX, NULL },
    { "depth", NUMBER, FIELD(depth), UINT32_MAX, NULL },
    { "depths", NUMBER, FIELD(depths), UINT32_MAX, NULL },
    { "sort", CHOICE, FIELD(sort), 0, sorts },
    { "direction", CHOICE, FIELD(direction), 0, directions },
    { "self", CHOICE, FIELD(is_self), 0, flags },
    { "of", CHOICE, FIELD(of), 0, kept },
    { "preset", CHOICE, FIELD(preset), 0, weft_query_presets },
    { "glyphs", NUMBER, FIELD(glyphs), UINT32_MAX, NULL },
    { "duration_ns", NUMBER, FIELD(duration_ns), UINT64_MAX, NULL },
    { "gap_ns", NUMBER, FIELD(gap_ns), UINT64_MAX, NULL },
    { "span_ns", NUMBER, FIELD(span_ns), UINT64_MAX, NULL },
    { "outlier_factor", NUMBER, FIELD(outlier_factor), UINT32_MAX, NULL },
    { "outlier_min_ns", NUMBER, FIELD(outlier_min_ns), UINT64_MAX, NULL },
    { "span", TEXT, FIELD(span), WEFT_QUERY_TEXT, NULL },
    { "db", NUMBER, FIELD(db), UINT32_MAX, NULL },
    { "type", TEXT, FIELD(type), WEFT_QUERY_TEXT, NULL },
    { "begin", TEXT, FIELD(begin), WEFT_QUERY_TEXT, NULL },
    { "end", TEXT, FIELD(end), WEFT_QUERY_TEXT, NULL },
    { "match", TEXT, FIELD(match), WEFT_QUERY_TEXT, NULL },
    { "within", TEXT, FIELD(within), WEFT_QUERY_TEXT, NULL },
    { "a", TEXT, FIELD(a), WEFT_QUERY_TEXT, NULL },
    { "b", TEXT, FIELD(b), WEFT_QUERY_TEXT, NULL },
    { "draft", CHOICE, FIELD(is_draft), 0, flags },
    { "csv", CHOICE, FIELD(is_csv), 0, flags },
    { "node", NUMBER, FIELD(node), UINT32_MAX - 1, NULL },
    { "object", NUMBER, FIELD(object), UINT64_MAX, NULL },
    { "releasers", IDS, FIELD(releasers), UINT32_MAX - 1, NULL },
    { "kind", CHOICE, FIELD(kind), 0, kinds },
    { "all", CHOICE, FIELD(is_all), 0, flags },
    { "explain", CHOICE, FIELD(is_explained), 0, flags },
};
_Static_assert(sizeof rows / sizeof *rows == WEFT_PARAMS, "one row a parameter");

const char *weft_param_name(enum weft_param param)
{
    return rows[param].name;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static struct weft_str part(const char *begin, const char *end)
{
    return (struct weft_str){ .bytes = begin, .n_bytes = (size_t)(end - begin) };
}

/* Where `c` first stands in the text, or its end. */
static const char *find(struct weft_str text, char c)
{
    const char *at = text.n_bytes ? memchr(text.bytes, c, text.n_bytes) : NULL;
    return at ? at : text.bytes + text.n_bytes;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes %41 into `to`, which has room for the text; false for a percent sign without two digits.
 */
static bool decode(struct weft_str text, char *to, struct weft_str *out)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n_bytes; i++) {
        char c = text.bytes[i];
        if (c == '%') {
            int high = i + 2 < text.n_bytes ? hex_digit(text.bytes[i + 1]) : -1;
            int low = i + 2 < text.n_bytes ? hex_digit(text.bytes[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        to[n++] = c;
    }
    *out = (struct weft_str){ .bytes = to, .n_bytes = n };
    return true;
}

/* Text from a client, fit to be shown back to it: ASCII, and not much. */
struct shown {
    char text[SHOWN_BYTES + 4];
};

static struct shown show(struct weft_str text)
{
    struct shown out = { 0 };
    size_t n = text.n_bytes < SHOWN_BYTES ? text.n_bytes : SHOWN_BYTES;
    for (size_t i = 0; i < n; i++) {
        char c = text.bytes[i];
        out.text[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    if (n < text.n_bytes)
        memcpy(out.text + n, "...", 4);
    return out;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Digits alone: no sign, no space, no point. */
static bool read_number(struct weft_str text, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (text.n_bytes == 0 || text.n_bytes > NUMBER_DIGITS)
        return false;
    for (size_t i = 0; i < text.n_bytes; i++) {
        char c = text.bytes[i];
        if (c < '0' || c > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(c - '0'), &value))
            return false;
    }
    *out = value;
    return value <= max;
}

static enum weft_code bad_value(const struct row *row, struct weft_str value, struct weft_err *err)
{
    if (row->kind == TEXT)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "%s: expected 1 to %" PRIu64 " bytes of text, found '%s'", row->name,
                         row->max, show(value).text);
    if (row->kind == CHOICE)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s: expected %s, %s%s%s, found '%s'",
                         row->name, row->choices[0], row->choices[1], row->choices[2] ? ", " : "",
                         row->choices[2] ? row->choices[2] : "", show(value).text);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "%s: expected %s from 0 to %" PRIu64 ", found '%s'", row->name,
                     row->kind == IDS ? "whole numbers, by commas," : "a whole number", row->max,
                     show(value).text);
}

static int compare_ids(const void *a_ptr, const void *b_ptr)
{
    uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    return (a > b) - (a < b);
}

static enum weft_code read_ids(const struct row *row, struct weft_str value,
                               struct weft_query_ids *ids, struct weft_err *err)
{
    const char *end = value.bytes + value.n_bytes;
    for (const char *at = value.bytes;; at++) {
        uint64_t id = 0;
        struct weft_str one = part(at, find(part(at, end), ','));
        if (ids->n == WEFT_QUERY_IDS)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s: expected at most %d ids",
                             row->name, WEFT_QUERY_IDS);
        if (!read_number(one, row->max, &id))
            return bad_value(row, one, err);
        ids->items[ids->n++] = (uint32_t)id;
        at += one.n_bytes;
        if (at == end)
            break;
    }
    qsort(ids->items, ids->n, sizeof *ids->items, compare_ids);
    for (size_t i = 1; i < ids->n; i++)
        if (ids->items[i] == ids->items[i - 1])
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s: %" PRIu32 " comes twice",
                             row->name, ids->items[i]);
    return WEFT_OK;
}

static bool read_text(const struct row *row, struct weft_str value, struct weft_query_text *text)
{
    if (value.n_bytes == 0 || value.n_bytes > row->max)
        return false;
    for (size_t i = 0; i < value.n_bytes; i++)
        if ((unsigned char)value.bytes[i] < ' ' || value.bytes[i] == 127)
            return false;
    memcpy(text->bytes, value.bytes, value.n_bytes);
    text->n = value.n_bytes;
    return true;
}

static bool read_choice(const struct row *row, struct weft_str value, uint64_t *out)
{
    for (uint64_t i = 0; row->choices[i]; i++)
        if (weft_str_equal(value, weft_str_of(row->choices[i]))) {
            *out = i;
            return true;
        }
    return false;
}

static enum weft_code read_value(const struct row *row, struct weft_str value,
                                 struct weft_query *query, struct weft_err *err)
{
    void *field = (char *)query + row->field;
    if (row->kind == IDS)
        return read_ids(row, value, field, err);
    if (row->kind == TEXT)
        return read_text(row, value, field) ? WEFT_OK : bad_value(row, value, err);
    bool is_read =
        row->kind == CHOICE ? read_choice(row, value, field) : read_number(value, row->max, field);
    return is_read ? WEFT_OK : bad_value(row, value, err);
}

/* ---- targets and queries --------------------------------------------------------------------- */

enum weft_code weft_target_split(struct weft_str text, struct weft_target *target,
                                 struct weft_err *err)
{
    const char *end = text.bytes + text.n_bytes, *question = find(text, '?');
    *target = (struct weft_target){ .token = part(end, end),
                                    .path = part(end, end),
                                    .query = part(end, end) };
    if (text.n_bytes == 0 || text.bytes[0] != '/')
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected a path that starts with '/'");
    const char *slash = find(part(text.bytes + 1, question), '/');
    target->token = part(text.bytes + 1, slash);
    target->path = part(slash, question);
    if (question < end)
        target->query = part(question + 1, end);
    if (target->query.n_bytes > WEFT_QUERY_BYTES)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "expected a query of at most %d bytes",
                         WEFT_QUERY_BYTES);
    return WEFT_OK;
}

static const struct row *find_row(struct weft_str name, uint64_t takes)
{
    for (size_t i = 0; i < WEFT_PARAMS; i++)
        if ((takes & WEFT_PARAM_BIT(i)) && weft_str_equal(name, weft_str_of(rows[i].name)))
            return &rows[i];
    return NULL;
}

/* "name=value", still encoded. */
static enum weft_code read_pair(struct weft_str pair, uint64_t takes, struct weft_query *query,
                                struct weft_err *err)
{
    char buffer[WEFT_QUERY_BYTES];
    struct weft_str name, value;
    const char *end = pair.bytes + pair.n_bytes, *equals = find(pair, '=');
    if (equals == end)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected name=value, found '%s'",
                         show(pair).text);
    if (!decode(part(pair.bytes, equals), buffer, &name) ||
        !decode(part(equals + 1, end), buffer + name.n_bytes, &value))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected two hexadecimal digits behind '%%' in '%s'", show(pair).text);
    const struct row *row = find_row(name, takes);
    if (!row)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no parameter is called '%s' here",
                         show(name).text);
    const uint64_t bit = WEFT_PARAM_BIT(row - rows);
    if (query->given & bit)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s comes twice", row->name);
    query->given |= bit;
    return read_value(row, value, query, err);
}

enum weft_code weft_query_read(struct weft_str text, uint64_t takes, struct weft_query *query,
                               struct weft_err *err)
{
    *query = (struct weft_query){ 0 };
    const char *end = text.bytes + text.n_bytes;
    enum weft_code code = WEFT_OK;
    if (text.n_bytes > WEFT_QUERY_BYTES)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "expected a query of at most %d bytes",
                         WEFT_QUERY_BYTES);
    for (const char *at = text.bytes; code == WEFT_OK && at < end;) {
        struct weft_str pair = part(at, find(part(at, end), '&'));
        code = read_pair(pair, takes, query, err);
        at += pair.n_bytes + (at + pair.n_bytes < end);
    }
    return code;
}
