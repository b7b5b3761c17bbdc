/* SPDX-License-Identifier: MIT
 *
 * Function maps as lines "id TAB address TAB name". The first line may be a heading that begins
 * with "id"; empty lines and lines that begin with # are skipped.
 */
#include "ingest/xray/map_build.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* How much of a wrong field an error shows. */
enum { SHOWN_BYTES = 40 };

struct line {
    struct weft_str text;
    uint64_t at_off;
    uint64_t number;
};

static int shown(struct weft_str text)
{
    return text.n_bytes < SHOWN_BYTES ? (int)text.n_bytes : SHOWN_BYTES;
}

/* Cuts the field up to the next TAB off *rest; false if there is no TAB. */
static bool cut_field(struct weft_str *rest, struct weft_str *field)
{
    const char *tab = memchr(rest->bytes, '\t', rest->n_bytes);
    if (!tab)
        return false;
    *field = (struct weft_str){ .bytes = rest->bytes, .n_bytes = (size_t)(tab - rest->bytes) };
    *rest = (struct weft_str){ .bytes = tab + 1, .n_bytes = rest->n_bytes - field->n_bytes - 1 };
    return true;
}

static bool is_heading(struct weft_str first)
{
    return first.n_bytes == 2 && strncasecmp(first.bytes, "id", 2) == 0;
}

static enum weft_code read_line(struct weft_xray_map *map, const struct line *line,
                                struct weft_err *err)
{
    struct weft_str rest = line->text;
    struct weft_str id_text = { 0 };
    struct weft_str address_text = { 0 };
    if (!cut_field(&rest, &id_text))
        return weft_fail_line(err, WEFT_E_MALFORMED, line->at_off, line->number,
                              "expected id TAB address TAB name, found \"%.*s\"", shown(rest),
                              rest.bytes);
    if (line->number == 1 && is_heading(id_text))
        return WEFT_OK;
    if (!cut_field(&rest, &address_text))
        return weft_fail_line(err, WEFT_E_MALFORMED, line->at_off, line->number,
                              "expected id TAB address TAB name, found only one TAB");
    uint64_t key;
    if (!weft_xray_parse_number(id_text, &key) || key == 0 || key > WEFT_XRAY_MOST_KEY)
        return weft_fail_line(err, WEFT_E_MALFORMED, line->at_off, line->number,
                              "expected a function number from 1 to %" PRIu32 ", found \"%.*s\"",
                              WEFT_XRAY_MOST_KEY, shown(id_text), id_text.bytes);
    uint64_t address;
    if (!weft_xray_parse_number(address_text, &address))
        return weft_fail_line(err, WEFT_E_MALFORMED, line->at_off, line->number,
                              "expected an address, found \"%.*s\"", shown(address_text),
                              address_text.bytes);
    return weft_xray_map_add(map, (uint32_t)key, address, rest, err);
}

enum weft_code weft_xray_map_read_tsv(struct weft_xray_map *map, const uint8_t *bytes,
                                      size_t n_bytes, struct weft_err *err)
{
    struct line line = { .number = 1 };
    for (size_t at = 0; at < n_bytes; line.number++) {
        const char *text = (const char *)bytes + at;
        const char *end = memchr(text, '\n', n_bytes - at);
        size_t n_line = end ? (size_t)(end - text) : n_bytes - at;
        line.at_off = at;
        at += n_line + 1;
        if (n_line && text[n_line - 1] == '\r')
            n_line--;
        if (n_line == 0 || text[0] == '#')
            continue;
        line.text = (struct weft_str){ .bytes = text, .n_bytes = n_line };
        WEFT_TRY(read_line(map, &line, err));
    }
    return WEFT_OK;
}
