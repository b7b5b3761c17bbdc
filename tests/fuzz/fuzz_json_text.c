/* SPDX-License-Identifier: MIT
 *
 * Any bytes as JSON: what weft takes, yajl takes too, and what only yajl takes has a reason.
 * Members of an object put together again are the object.
 */
#include "base/json_read.h"
#include "base/utf8.h"
#include "render/json/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

static void check(bool is_ok)
{
    if (!is_ok)
        abort();
}

struct seen {
    unsigned depth, most;
    unsigned n_values; /* in the outermost list */
};

static void see_value(struct seen *seen)
{
    seen->n_values += seen->depth == 1;
}

static int see_null(void *context)
{
    see_value(context);
    return 1;
}

static int see_bool(void *context, int value)
{
    (void)value;
    return see_null(context);
}

static int see_text(void *context, const unsigned char *bytes, size_t n_bytes)
{
    (void)bytes;
    (void)n_bytes;
    return see_null(context);
}

static int see_number(void *context, const char *bytes, size_t n_bytes)
{
    (void)bytes;
    (void)n_bytes;
    return see_null(context);
}

static int see_begin(void *context)
{
    struct seen *seen = context;
    see_value(seen);
    seen->depth++;
    seen->most = seen->depth > seen->most ? seen->depth : seen->most;
    return 1;
}

static int see_end(void *context)
{
    ((struct seen *)context)->depth--;
    return 1;
}

/* As the only value of a list: by itself yajl does not mind half a string behind it. */
static bool yajl_takes(const uint8_t *bytes, size_t n_bytes, unsigned *depth)
{
    const yajl_callbacks callbacks = { .yajl_null = see_null,
                                       .yajl_boolean = see_bool,
                                       .yajl_number = see_number,
                                       .yajl_string = see_text,
                                       .yajl_start_map = see_begin,
                                       .yajl_end_map = see_end,
                                       .yajl_start_array = see_begin,
                                       .yajl_end_array = see_end };
    static const uint8_t open[] = "[", close[] = "]";
    struct seen seen = { 0 };
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &seen);
    bool takes = handle && yajl_parse(handle, open, 1) == yajl_status_ok &&
                 yajl_parse(handle, bytes, n_bytes) == yajl_status_ok && seen.depth == 1 &&
                 yajl_parse(handle, close, 1) == yajl_status_ok &&
                 yajl_complete_parse(handle) == yajl_status_ok && seen.n_values == 1;
    yajl_free(handle);
    *depth = seen.most ? seen.most - 1 : 0;
    return takes;
}

/* Every member is valid by itself, and unescaping its key gives UTF-8. */
static void check_members(struct weft_str members)
{
    struct weft_str key, value;
    while (weft_json_text_member(&members, &key, &value)) {
        check(weft_json_text_is_valid(value));
        char *text = malloc(key.n_bytes + 1);
        size_t n_bytes = text ? weft_json_text_unescape(key, text) : 0;
        check(n_bytes <= key.n_bytes);
        check(weft_utf8_valid_prefix((struct weft_str){ text, n_bytes }) == n_bytes);
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct weft_str text = { .bytes = (const char *)bytes, .n_bytes = n_bytes }, members;
    bool is_utf8 = weft_utf8_valid_prefix(text) == n_bytes;
    bool is_valid = weft_json_text_is_valid(text);
    unsigned depth;
    bool yajl_does = yajl_takes(bytes, n_bytes, &depth);
    check(!is_valid || (yajl_does && is_utf8 && depth <= WEFT_JSON_STRICT_DEPTH));
    bool has_reason = !is_utf8 || depth > WEFT_JSON_STRICT_DEPTH ||
                      memmem(bytes, n_bytes, "\\u", 2) || /* half a surrogate pair */
                      (n_bytes && (memchr(bytes, '\v', n_bytes) || memchr(bytes, '\f', n_bytes)));
    check(is_valid || !yajl_does || has_reason);
    if (is_valid && weft_json_text_members(text, &members))
        check_members(members);
    return 0;
}
