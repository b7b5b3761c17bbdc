/* SPDX-License-Identifier: MIT
 *
 * Reads notes and colours with a limit on their size, checks JSON before it is passed on
 * (render/json/text.h), and accepts colours also as lines. about.c answers with these; nothing here
 * writes.
 */
#include "serve/files.h"

#include "base/file.h"
#include "base/str.h"
#include "render/json/json.h"
#include "render/json/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum weft_code check_size(const char *path, const struct weft_mapped *file,
                                 struct weft_err *err)
{
    if (file->n_bytes <= WEFT_SMALL_FILE_BYTES)
        return WEFT_OK;
    enum weft_code code = weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                                    "expected a file of at most %d bytes, found %" PRIu64,
                                    WEFT_SMALL_FILE_BYTES, file->n_bytes);
    (void)weft_in_file(err, path);
    return code;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* "app.weft" gives "app.notes.json"; a path that ends otherwise gets the ending. */
static char *notes_path(const char *path)
{
    static const char ending[] = ".weft";
    size_t n_bytes = strlen(path);
    if (n_bytes >= sizeof ending - 1 && strcmp(path + n_bytes - (sizeof ending - 1), ending) == 0)
        n_bytes -= sizeof ending - 1;
    char *notes = NULL;
    return asprintf(&notes, "%.*s.notes.json", (int)n_bytes, path) < 0 ? NULL : notes;
}

static enum weft_code copy_notes(const char *path, struct weft_output *out, struct weft_err *err)
{
    struct weft_mapped file;
    WEFT_TRY(weft_mapped_open(path, &file, err));
    const struct weft_str text = { (const char *)file.bytes, (size_t)file.n_bytes };
    enum weft_code code = check_size(path, &file, err);
    if (code == WEFT_OK && !weft_json_text_is_valid(text)) {
        code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, "expected one JSON document");
        (void)weft_in_file(err, path);
    }
    if (code == WEFT_OK)
        weft_output_write(out, text.bytes, text.n_bytes);
    weft_mapped_close(&file);
    return code;
}

enum weft_code weft_notes_read(const char *path, struct weft_output *out, struct weft_err *err)
{
    char *notes = notes_path(path);
    enum weft_code code = WEFT_OK;
    if (!notes)
        return weft_no_memory(err, "a path");
    if (access(notes, F_OK) == 0)
        code = copy_notes(notes, out, err);
    else
        weft_output_text(out, "{}\n");
    free(notes);
    return code;
}

/* ---- colours --------------------------------------------------------------------------------- */

/* "#rrggbb", or with two more digits for how opaque it is. */
static bool is_color(struct weft_str text)
{
    if ((text.n_bytes != 7 && text.n_bytes != 9) || text.bytes[0] != '#')
        return false;
    for (size_t i = 1; i < text.n_bytes; i++)
        if (!strchr("0123456789abcdefABCDEF", text.bytes[i]) || text.bytes[i] == '\0')
            return false;
    return true;
}

/* A key of JSON output, which takes them as C strings. */
static enum weft_code put_color(struct weft_json *json, struct weft_str name, struct weft_str color,
                                struct weft_err *err)
{
    char *key = name.n_bytes ? strndup(name.bytes, name.n_bytes) : NULL;
    if (!key)
        return weft_fail(err, name.n_bytes ? WEFT_E_NOMEM : WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected the name of a function before its colour");
    weft_json_str(json, key, color);
    free(key);
    return WEFT_OK;
}

static enum weft_code put_members(struct weft_json *json, struct weft_str members,
                                  struct weft_err *err)
{
    struct weft_str key, value;
    while (weft_json_text_member(&members, &key, &value)) {
        const bool is_text = value.n_bytes > 2 && value.bytes[0] == '"';
        const struct weft_str color = { value.bytes + 1, is_text ? value.n_bytes - 2 : 0 };
        if (!is_text || !is_color(color))
            return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected a colour such as \"#1f77b4\", found %.*s",
                             (int)(value.n_bytes < 40 ? value.n_bytes : 40), value.bytes);
        char *name = malloc(key.n_bytes + 1);
        const size_t n_name = name ? weft_json_text_unescape(key, name) : 0;
        enum weft_code code = put_color(json, (struct weft_str){ name, n_name }, color, err);
        free(name);
        if (code != WEFT_OK)
            return code;
    }
    return WEFT_OK;
}

static enum weft_code put_document(struct weft_json *json, struct weft_str text,
                                   struct weft_err *err)
{
    struct weft_str members = { NULL, 0 }, rest, key, value, inner;
    if (!weft_json_text_is_valid(text) || !weft_json_text_members(text, &members))
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, "expected a JSON object");
    rest = members;
    while (weft_json_text_member(&rest, &key, &value))
        if (weft_str_equal(key, WEFT_STR("functions")) && weft_json_text_members(value, &inner))
            return put_members(json, inner, err);
    return put_members(json, members, err);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';' || c == '\r';
}

static struct weft_str trimmed(struct weft_str text)
{
    while (text.n_bytes > 0 && is_blank(text.bytes[text.n_bytes - 1]))
        text.n_bytes--;
    for (; text.n_bytes > 0 && is_blank(text.bytes[0]); text.n_bytes--)
        text.bytes++;
    return text;
}

/* "NAME #RRGGBB": names may hold blanks, colours do not. */
static enum weft_code put_line(struct weft_json *json, struct weft_str line, uint64_t number,
                               struct weft_err *err)
{
    line = trimmed(line);
    if (line.n_bytes == 0 || line.bytes[0] == '#')
        return WEFT_OK;
    size_t at = line.n_bytes;
    while (at > 0 && !is_blank(line.bytes[at - 1]))
        at--;
    const struct weft_str color = { line.bytes + at, line.n_bytes - at };
    const struct weft_str name = trimmed((struct weft_str){ line.bytes, at });
    if (name.n_bytes == 0 || !is_color(color))
        return weft_fail_line(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET, number,
                              "expected NAME #RRGGBB, found '%.*s'",
                              (int)(line.n_bytes < 60 ? line.n_bytes : 60), line.bytes);
    return put_color(json, name, color, err);
}

static enum weft_code put_lines(struct weft_json *json, struct weft_str text, struct weft_err *err)
{
    const char *at = text.bytes, *end = at + text.n_bytes;
    enum weft_code code = WEFT_OK;
    for (uint64_t number = 1; code == WEFT_OK && at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = newline ? newline : end;
        code = put_line(json, (struct weft_str){ at, (size_t)(line_end - at) }, number, err);
        at = newline ? newline + 1 : end;
    }
    return code;
}

static enum weft_code put_file(const char *path, struct weft_json *json, struct weft_err *err)
{
    struct weft_mapped file;
    WEFT_TRY(weft_mapped_open(path, &file, err));
    const struct weft_str text = { (const char *)file.bytes, (size_t)file.n_bytes };
    size_t first = 0;
    while (first < text.n_bytes && strchr(" \t\r\n", text.bytes[first]) && text.bytes[first])
        first++;
    enum weft_code code = check_size(path, &file, err);
    WEFT_THEN(code, first < text.n_bytes && text.bytes[first] == '{' ? put_document(json, text, err)
                                                                     : put_lines(json, text, err));
    weft_mapped_close(&file);
    if (code != WEFT_OK)
        (void)weft_in_file(err, path);
    return code;
}

enum weft_code weft_colors_read(const char *path, struct weft_output *out, struct weft_err *err)
{
    struct weft_json *json;
    enum weft_code code = weft_json_open(out, &json, err);
    if (code != WEFT_OK)
        return code;
    weft_json_begin_object(json, NULL);
    weft_json_begin_object(json, "functions");
    if (path)
        code = put_file(path, json, err);
    weft_json_end_object(json);
    weft_json_end_object(json);
    weft_json_close(json);
    weft_output_text(out, "\n");
    return code;
}
