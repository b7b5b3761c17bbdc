/* SPDX-License-Identifier: MIT
 *
 * The window begins at the first `@` whose rest reads as FROM-TO, so that names of files may
 * contain `@`.
 */
#include "query/part.h"

#include "query/parse.h"

#include <stdlib.h>
#include <string.h>

/* Whether text[0, n_bytes) is empty or names a point of time; *copy is then the text, NULL if it is
 * empty. */
static bool read_end(const char *text, size_t n_bytes, char **copy, struct weft_err *err)
{
    struct weft_time_point point;
    *copy = NULL;
    if (n_bytes == 0)
        return true;
    *copy = strndup(text, n_bytes);
    if (!*copy) {
        (void)weft_no_memory(err, "a time");
        return false;
    }
    if (weft_parse_time_point(*copy, &point, NULL) == WEFT_OK)
        return true;
    free(*copy);
    *copy = NULL;
    return false;
}

/* "FROM-TO", either may be empty; false (and nothing kept) if it is not that. */
static bool read_window(const char *text, struct weft_part *part, struct weft_err *err)
{
    const char *dash = strchr(text, '-');
    if (!dash || !read_end(text, (size_t)(dash - text), &part->from, err))
        return false;
    if (read_end(dash + 1, strlen(dash + 1), &part->to, err))
        return true;
    free(part->from);
    part->from = NULL;
    return false;
}

enum weft_code weft_part_init(struct weft_part *part, const char *text, struct weft_err *err)
{
    struct weft_err cause = { 0 };
    const char *at = strchr(text, '@');
    *part = (struct weft_part){ 0 };
    while (at && !read_window(at + 1, part, &cause) && cause.code == WEFT_OK)
        at = strchr(at + 1, '@');
    if (cause.code != WEFT_OK)
        return weft_fail(err, cause.code, WEFT_NO_OFFSET, "%s", cause.text);
    part->is_part = at != NULL;
    const size_t n_bytes = at ? (size_t)(at - text) : strlen(text);
    if (n_bytes == 0 || (!at && text[0] == '@'))
        return at ? WEFT_OK
                  : weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                              "expected TRACE, TRACE@FROM-TO or @FROM-TO (such as @1.5s-2s), found "
                              "'%.80s'",
                              text);
    part->path = strndup(text, n_bytes);
    if (part->path)
        return WEFT_OK;
    weft_part_fini(part);
    return weft_no_memory(err, "a name");
}

void weft_part_fini(struct weft_part *part)
{
    free(part->path);
    free(part->from);
    free(part->to);
    *part = (struct weft_part){ 0 };
}
