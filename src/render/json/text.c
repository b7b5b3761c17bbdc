/* SPDX-License-Identifier: MIT
 *
 * The strict reader of base/json_read.h for texts that are copied into other JSON, and the members
 * of an object one by one, for serve/files.c and the exports.
 */
#include "render/json/text.h"

#include "base/json_read.h"
#include "base/utf8.h"

static struct weft_json_reader strict_reader(struct weft_str text)
{
    struct weft_json_reader reader = weft_json_reader_of(text.bytes, text.n_bytes);
    reader.is_strict = true;
    return reader;
}

bool weft_json_text_is_valid(struct weft_str text)
{
    struct weft_json_reader reader = strict_reader(text);
    struct weft_json_value value;
    if (weft_utf8_valid_prefix(text) < text.n_bytes || !weft_json_value(&reader, &value))
        return false;
    weft_json_blanks(&reader);
    return reader.at == reader.end;
}

bool weft_json_text_members(struct weft_str text, struct weft_str *members)
{
    struct weft_json_reader reader = strict_reader(text);
    struct weft_json_value value;
    *members = (struct weft_str){ 0 };
    if (weft_json_peek(&reader) != '{' || !weft_json_value(&reader, &value))
        return false;
    const char *end = value.bytes + value.n_bytes - 1;
    const char *begin = weft_json_skip_blanks(value.bytes + 1, end);
    while (end > begin && (unsigned char)end[-1] <= ' ')
        end--;
    if (end > begin)
        *members = (struct weft_str){ begin, (size_t)(end - begin) };
    return true;
}

bool weft_json_text_member(struct weft_str *members, struct weft_str *key, struct weft_str *value)
{
    struct weft_json_reader reader = strict_reader(*members);
    struct weft_json_value name, read;
    bool is_end;
    if (members->n_bytes == 0 || !weft_json_member(&reader, true, &name, &is_end))
        return false;
    weft_json_blanks(&reader);
    const char *begin = reader.at;
    if (!weft_json_value(&reader, &read))
        return false;
    *key = (struct weft_str){ name.bytes, name.n_bytes };
    *value = (struct weft_str){ begin, (size_t)(reader.at - begin) };
    (void)weft_json_take(&reader, ',');
    *members = (struct weft_str){ reader.at, (size_t)(reader.end - reader.at) };
    return true;
}

size_t weft_json_text_unescape(struct weft_str text, char *out)
{
    const struct weft_json_value value = { .bytes = text.bytes, .n_bytes = text.n_bytes };
    return weft_json_unescape(&value, out);
}
