/* SPDX-License-Identifier: MIT
 *
 * Marks nodes from the root down: a parent precedes its children, so one pass suffices, with the
 * number of parts matched so far for each node.
 */
#include "query/filter_context.h"

#include "base/arena.h"
#include "query/match.h"
#include "schema/event.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 512 };

/* One of the names of "a>b": the frames that it fits. */
struct part {
    struct weft_str name; /* followed by a NUL */
    bool *fits;           /* by frame */
};

struct search {
    const struct weft_ecct_matrix *matrix;
    struct weft_arena *arena;
    struct part parts[PARTS_MAX];
    size_t n_parts;
    struct weft_err *err;
};

static struct weft_str trim(struct weft_str text)
{
    while (text.n_bytes > 0 && text.bytes[0] == ' ') {
        text.bytes++;
        text.n_bytes--;
    }
    while (text.n_bytes > 0 && text.bytes[text.n_bytes - 1] == ' ')
        text.n_bytes--;
    return text;
}

/* The texts between the bytes `mark`, without spaces around them. */
static enum weft_code split(struct search *search, struct weft_str text, char mark)
{
    search->n_parts = 0;
    for (const char *end = text.bytes + text.n_bytes; text.bytes <= end;) {
        const char *next =
            text.bytes < end ? memchr(text.bytes, mark, (size_t)(end - text.bytes)) : NULL;
        const size_t n_bytes = (size_t)((next ? next : end) - text.bytes);
        if (search->n_parts == PARTS_MAX)
            return weft_fail(search->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                             "a context of more than %d frames", PARTS_MAX);
        struct part *part = &search->parts[search->n_parts++];
        part->name = weft_arena_copy(
            search->arena, trim((struct weft_str){ .bytes = text.bytes, .n_bytes = n_bytes }));
        if (!part->name.bytes)
            return weft_no_memory(search->err, "a filter");
        text.bytes += n_bytes + 1;
    }
    return WEFT_OK;
}

/* Marks the frames of exactly this name; false if there is none. */
static bool find_whole(const struct weft_ecct_matrix *matrix, struct weft_str name, bool *fits)
{
    bool is_found = false;
    for (size_t i = 0; i < matrix->n_frames; i++)
        is_found |= fits[i] = weft_str_equal(matrix->frames[i].name, name);
    return is_found;
}

/* Marks those that match a pattern (query/match.h). */
static enum weft_code find_pattern(struct search *search, const struct part *part)
{
    struct weft_matcher *matcher;
    enum weft_code code = weft_matcher_new(part->name.bytes, &matcher, search->err);
    for (size_t i = 0; code == WEFT_OK && i < search->matrix->n_frames; i++)
        code = weft_matcher_matches(matcher, search->matrix->frames[i].name, &part->fits[i],
                                    search->err);
    weft_matcher_free(matcher);
    return code;
}

static enum weft_code find_parts(struct search *search, bool is_whole)
{
    for (size_t k = 0; k < search->n_parts; k++) {
        struct part *part = &search->parts[k];
        part->fits = WEFT_ARENA_NEW(search->arena, search->matrix->n_frames, bool);
        if (!part->fits)
            return weft_no_memory(search->err, "a filter");
        if (find_whole(search->matrix, part->name, part->fits) || is_whole)
            continue;
        WEFT_TRY(part->name.n_bytes > 0 ? find_pattern(search, part) : WEFT_OK);
    }
    return WEFT_OK;
}

/* Follows each path from the root: how many parts it has met so far. If it must be the whole path,
 * each frame is the next part, or the path is lost. */
static enum weft_code follow(struct search *search, bool is_whole, bool *is_in, bool *is_found)
{
    const struct weft_ecct_matrix *matrix = search->matrix;
    const uint32_t lost = UINT32_MAX;
    uint32_t *met = WEFT_ARENA_NEW(search->arena, matrix->n_nodes, uint32_t);
    if (!met)
        return weft_no_memory(search->err, "a filter");
    *is_found = false;
    for (size_t node = 0; node < matrix->n_nodes; node++) {
        const uint32_t parent = matrix->nodes[node].parent;
        is_in[node] = parent != WEFT_ID_NONE && is_in[parent];
        if (parent == WEFT_ID_NONE || is_in[node])
            continue;
        met[node] = met[parent];
        if (met[node] == lost)
            continue;
        if (search->parts[met[node]].fits[matrix->nodes[node].frame])
            met[node]++;
        else if (is_whole)
            met[node] = lost;
        is_in[node] = met[node] == search->n_parts;
        *is_found |= is_in[node];
    }
    return WEFT_OK;
}

static enum weft_code try_parts(struct search *search, struct weft_str text, char mark,
                                bool is_whole, bool *is_in, bool *is_found)
{
    enum weft_code code = split(search, text, mark);
    WEFT_THEN(code, find_parts(search, is_whole));
    WEFT_THEN(code, follow(search, is_whole, is_in, is_found));
    return code;
}

/* No name holds a NUL that matters: the whole text is one part. */
static enum weft_code try_one(struct search *search, struct weft_str text, bool *is_in,
                              bool *is_found)
{
    return try_parts(search, text, '\0', false, is_in, is_found);
}

static bool is_regex(struct weft_str text)
{
    return text.n_bytes > 1 && text.bytes[0] == '/' && text.bytes[text.n_bytes - 1] == '/';
}

static enum weft_code mark(struct search *search, struct weft_str text, bool *is_in)
{
    bool is_found = false;
    enum weft_code code = WEFT_OK;
    if (!is_regex(text) && memchr(text.bytes, ';', text.n_bytes))
        code = try_parts(search, text, ';', true, is_in, &is_found);
    if (code == WEFT_OK && !is_found)
        code = try_one(search, text, is_in, &is_found);
    if (code == WEFT_OK && !is_found && !is_regex(text) && memchr(text.bytes, '>', text.n_bytes))
        code = try_parts(search, text, '>', false, is_in, &is_found);
    if (code == WEFT_OK && !is_found)
        return weft_fail(search->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no execution has a context '%.*s': expected the name of a frame, or a "
                         "part of it, or a path of them such as 'handle>fsync'",
                         text.n_bytes > 80 ? 80 : (int)text.n_bytes, text.bytes);
    return code;
}

enum weft_code weft_context_mark(const struct weft_ecct_matrix *matrix, struct weft_str text,
                                 bool *is_in, struct weft_err *err)
{
    struct search *search = calloc(1, sizeof *search);
    struct weft_arena *arena = weft_arena_new(0);
    enum weft_code code;
    if (!search || !arena) {
        code = weft_no_memory(err, "a filter");
    } else {
        *search = (struct search){ .matrix = matrix, .arena = arena, .err = err };
        code = mark(search, text, is_in);
    }
    weft_arena_free(arena);
    free(search);
    return code;
}

void weft_context_times(const struct weft_ecct_matrix *matrix, const bool *is_in, double *times_ns)
{
    for (size_t item = 0; item < matrix->n_items; item++) {
        uint64_t sum_ns = 0;
        for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
            sum_ns += is_in[matrix->node[at]] ? matrix->ns[at] : 0;
        times_ns[item] = (double)sum_ns;
    }
}
