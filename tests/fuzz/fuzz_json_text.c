/* SPDX-License-Identifier: MIT
 *
 * Any bytes as JSON: what weft takes, yajl takes too, and what only yajl takes has a reason.
 * Members of an object put together again are the object.
 */
#include "render/json_text.h"
#include "render/utf8.h"

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

struct depth {
    unsigned now, most;
};

static int open_one(void *context)
{
    struct depth *depth = context;
    depth->now++;
    depth->most = depth->now > depth->most ? depth->now : depth->most;
    return 1;
}

static int close_one(void *context)
{
    ((struct depth *)context)->now--;
    return 1;
}

static bool yajl_takes(const uint8_t *bytes, size_t n_bytes, unsigned *depth)
{
    const yajl_callbacks callbacks = { .yajl_start_map = open_one,
                                       .yajl_end_map = close_one,
                                       .yajl_start_array = open_one,
                                       .yajl_end_array = close_one };
    struct depth counted = { 0 };
    yajl_handle handle = yajl_alloc(&callbacks, NULL, &counted);
    bool takes = handle && yajl_parse(handle, bytes, n_bytes) == yajl_status_ok &&
                 yajl_complete_parse(handle) == yajl_status_ok;
    yajl_free(handle);
    *depth = counted.most;
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
    check(!is_valid || (yajl_does && is_utf8 && depth <= WEFT_JSON_DEPTH_MAX));
    bool has_reason = !is_utf8 || depth > WEFT_JSON_DEPTH_MAX ||
                      memmem(bytes, n_bytes, "\\u", 2) != NULL; /* half a surrogate pair */
    check(is_valid || !yajl_does || has_reason);
    if (is_valid && weft_json_text_members(text, &members))
        check_members(members);
    return 0;
}
