/* SPDX-License-Identifier: MIT
 *
 * Byte slices, and a table that interns them once under dense ids (0, 1, 2 ... by first
 * occurrence).
 */
#ifndef WEFT_BASE_STR_H
#define WEFT_BASE_STR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A view of bytes that someone else owns; never assumed to end with NUL or to be valid UTF-8. */
struct weft_str {
    const char *bytes;
    size_t n_bytes;
};

#define WEFT_STR(literal) ((struct weft_str){ .bytes = "" literal, .n_bytes = sizeof(literal) - 1 })

static inline struct weft_str weft_str_of(const char *text)
{
    return (struct weft_str){ .bytes = text, .n_bytes = strlen(text) };
}

static inline bool weft_str_equal(struct weft_str a, struct weft_str b)
{
    return a.n_bytes == b.n_bytes && (a.n_bytes == 0 || memcmp(a.bytes, b.bytes, a.n_bytes) == 0);
}

static inline bool weft_str_begins(struct weft_str text, const char *front)
{
    const size_t n = strlen(front);
    return text.n_bytes >= n && memcmp(text.bytes, front, n) == 0;
}

static inline bool weft_str_ends(struct weft_str text, const char *end)
{
    const size_t n = strlen(end);
    return text.n_bytes >= n && memcmp(text.bytes + text.n_bytes - n, end, n) == 0;
}

/* Cuts `front` off, if the text begins with it. */
static inline bool weft_str_take(struct weft_str *text, const char *front)
{
    const size_t n = strlen(front);
    if (!weft_str_begins(*text, front))
        return false;
    *text = (struct weft_str){ text->bytes + n, text->n_bytes - n };
    return true;
}

/* Cuts `end` off, if the text ends with it. */
static inline bool weft_str_take_end(struct weft_str *text, const char *end)
{
    const bool is_there = weft_str_ends(*text, end);
    text->n_bytes -= is_there ? strlen(end) : 0;
    return is_there;
}

/* Does the text begin with one of `n_fronts`, none of them empty? WEFT_STR_BEGINS: of an array of
 * them. */
bool weft_str_begins_with_any(struct weft_str text, const char *const *fronts, size_t n_fronts);
#define WEFT_STR_BEGINS(text, fronts)                                                              \
    weft_str_begins_with_any(text, fronts, sizeof(fronts) / sizeof *(fronts))

/* Without the digits at the end. */
struct weft_str weft_str_without_number(struct weft_str text);

/* "io" of "io-12": without the number at the end, and what joins it to the rest. The whole text if
 * nothing else would be left. */
struct weft_str weft_str_stem(struct weft_str text);

/* What stands behind the last slash of a path. */
struct weft_str weft_str_base(struct weft_str path);

/* Bytewise order, shorter first on a common prefix: -1, 0, 1. */
int weft_str_compare(struct weft_str a, struct weft_str b);

struct weft_strtab;

/* Returns NULL without memory. The caller frees the table. */
struct weft_strtab *weft_strtab_new(void);
void weft_strtab_free(struct weft_strtab *table);

/* Stores a copy of `text` once and gives its id in `*id`. Expected O(bytes). WEFT_E_NOMEM, or
 * WEFT_E_LIMIT after 2^32 - 1 strings. */
WEFT_CHECKED enum weft_code weft_strtab_intern(struct weft_strtab *table, struct weft_str text,
                                               uint32_t *id, struct weft_err *err);

uint32_t weft_strtab_count(const struct weft_strtab *table);

/* The bytes of `id` < count; valid until the table is freed, and followed by a NUL. */
struct weft_str weft_strtab_get(const struct weft_strtab *table, uint32_t id);

/* Is `text` one of the names in "one|two"? O(bytes). */
bool weft_str_is_one_of(struct weft_str text, const char *names);

#endif
