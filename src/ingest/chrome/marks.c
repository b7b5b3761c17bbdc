/* SPDX-License-Identifier: MIT
 *
 * What weft's own export says of a call besides its arguments: the last member of args,
 * "weft":{"flags":["cut_start"],"depth":3}, either part of which may be missing.
 */
#include "ingest/chrome/trace.h"

/* Longest such member: four flags and ten digits. */
enum { MOST_BYTES = 96 };

static bool take_flags(const struct weft_json_value *list, struct chrome_marks *marks)
{
    struct weft_json_reader reader = weft_json_reader_of(list->bytes, list->n_bytes);
    if (list->type != WEFT_JSON_ARRAY)
        return false;
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value word;
        bool is_end;
        if (!weft_json_element(&reader, is_first, &is_end))
            return false;
        if (is_end)
            return true;
        if (!weft_json_value(&reader, &word) || word.type != WEFT_JSON_STRING)
            return false;
        const uint8_t flag =
            weft_call_flag_named((struct weft_str){ .bytes = word.bytes, .n_bytes = word.n_bytes });
        if (!flag)
            return false;
        marks->flags |= flag;
    }
}

/* All members of the object have to be known: else it is an argument that has this name. */
static bool take_members(const char *begin, const char *end, struct chrome_marks *marks)
{
    struct weft_json_reader reader = weft_json_reader_of(begin, (size_t)(end - begin));
    reader.at++;
    for (bool is_first = true;; is_first = false) {
        struct weft_json_value key, value;
        uint64_t level;
        bool is_end;
        if (!weft_json_member(&reader, is_first, &key, &is_end))
            return false;
        if (is_end)
            return reader.at == end && !is_first;
        if (!weft_json_value(&reader, &value))
            return false;
        const struct weft_str name = { .bytes = key.bytes, .n_bytes = key.n_bytes };
        if (weft_str_equal(name, WEFT_STR("depth"))) {
            if (!chrome_whole_number(&value, &level) || level >= WEFT_NEST_NO_LEVEL)
                return false;
            marks->level = (uint32_t)level;
        } else if (!weft_str_equal(name, WEFT_STR("flags")) || !take_flags(&value, marks)) {
            return false;
        }
    }
}

bool chrome_marks_take(struct weft_str *args, struct chrome_marks *marks)
{
    static const char key[] = "\"weft\":";
    const size_t n_key = sizeof key - 1;
    *marks = (struct chrome_marks){ .level = WEFT_NEST_NO_LEVEL };
    if (args->n_bytes < n_key + 4 || *args->bytes != '{' ||
        memcmp(args->bytes + args->n_bytes - 2, "}}", 2) != 0)
        return false;
    const char *end = args->bytes + args->n_bytes - 1;
    size_t n_tail = args->n_bytes - 2 < MOST_BYTES ? args->n_bytes - 2 : MOST_BYTES;
    const char *object = memrchr(end - n_tail, '{', n_tail);
    if (!object || (size_t)(object - args->bytes) < n_key + 1)
        return false;
    const char *member = object - n_key;
    bool is_only = member == args->bytes + 1;
    if (memcmp(member, key, n_key) != 0 || (!is_only && member[-1] != ',') ||
        !take_members(object, end, marks))
        return false;
    args->n_bytes = is_only ? 0 : (size_t)(member - 1 - args->bytes);
    return true;
}
