/* SPDX-License-Identifier: MIT
 *
 * A buffer before the target, and the escaping that makes names safe for terminals and
 * spreadsheets: bytes that a renderer wrote unescaped are caught again before they leave. A
 * character of UTF-8 that lies across a flush is held back.
 */
#include "render/output.h"

#include "base/file.h"
#include "base/plain.h"
#include "base/room.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_BYTES = 64 * 1024, PRINTF_BYTES = 512 };

/* Bytes wait in `held` until FLUSH_BYTES of them go to `file` or `fd`; memory keeps them all. */
struct weft_output {
    struct {
        char *items;
        size_t n, cap;
    } held;
    struct weft_out *file;
    const char *name; /* of the descriptor */
    int fd;           /* -1: none */
    bool owns_fd;
    bool is_counting; /* bytes go nowhere */
    enum weft_output_form form;
    uint64_t flushed_bytes;
    struct weft_err err;
};

static enum weft_code output_new(struct weft_output **out, struct weft_err *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return weft_no_memory(err, "output");
    (*out)->fd = -1;
    return WEFT_OK;
}

enum weft_code weft_output_to_file(const char *path, struct weft_output **out, struct weft_err *err)
{
    WEFT_TRY(output_new(out, err));
    enum weft_code code = weft_out_open(path, WEFT_ACCESS_UMASK, &(*out)->file, err);
    if (code != WEFT_OK) {
        free(*out);
        *out = NULL;
    }
    return code;
}

enum weft_code weft_output_to_fd(int fd, const char *name, struct weft_output **out,
                                 struct weft_err *err)
{
    WEFT_TRY(output_new(out, err));
    (*out)->fd = fd;
    (*out)->name = name;
    return WEFT_OK;
}

void weft_output_own_fd(struct weft_output *out)
{
    out->owns_fd = true;
}

enum weft_code weft_output_to_memory(struct weft_output **out, struct weft_err *err)
{
    return output_new(out, err);
}

enum weft_code weft_output_to_nothing(struct weft_output **out, struct weft_err *err)
{
    enum weft_code code = output_new(out, err);
    if (code == WEFT_OK)
        (*out)->is_counting = true;
    return code;
}

static void write_fd(struct weft_output *out)
{
    size_t done = 0;
    while (done < out->held.n) {
        ssize_t n = write(out->fd, out->held.items + done, out->held.n - done);
        if (n < 0 && errno == EAGAIN) { /* a descriptor that another program made so */
            struct pollfd wait = { .fd = out->fd, .events = POLLOUT };
            (void)poll(&wait, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            (void)weft_fail_errno(&out->err, errno, "cannot write");
            (void)weft_in_file(&out->err, out->name);
            return;
        }
        done += (size_t)n;
    }
}

/* ---- form ------------------------------------------------------------------------------------ */

void weft_output_set_form(struct weft_output *out, enum weft_output_form form)
{
    out->form = form;
}

enum weft_output_form weft_output_form(const struct weft_output *out)
{
    return out->form;
}

static bool is_text(const struct weft_output *out)
{
    return out->form == WEFT_OUTPUT_TEXT || out->form == WEFT_OUTPUT_COLOUR;
}

/* Bytes at the start of `text` that stay as they are in a form that is not exact: plain ones,
 * newlines, and the colours of this program where it has any. */
static size_t kept_prefix(const struct weft_output *out, struct weft_str text)
{
    static const char *const colours[] = { "\033[0m", "\033[1m", "\033[2m", "\033[31m" };
    if (text.bytes[0] == '\n')
        return 1;
    for (size_t i = 0; out->form == WEFT_OUTPUT_COLOUR && i < sizeof colours / sizeof *colours; i++)
        if (text.n_bytes >= strlen(colours[i]) &&
            memcmp(text.bytes, colours[i], strlen(colours[i])) == 0)
            return strlen(colours[i]);
    return weft_plain_prefix(text);
}

/* Replaces the held bytes from `at` on by their escaped form. */
static void escape_held(struct weft_output *out, size_t at)
{
    const enum weft_plain_form form =
        out->form == WEFT_OUTPUT_JSON ? WEFT_PLAIN_JSON : WEFT_PLAIN_TEXT;
    struct weft_str rest = { out->held.items + at, out->held.n - at };
    char *const old = malloc(rest.n_bytes);
    if (!old) {
        (void)weft_no_memory(&out->err, "output");
        return;
    }
    memcpy(old, rest.bytes, rest.n_bytes);
    rest.bytes = old;
    out->held.n = at;
    while (rest.n_bytes > 0 && out->err.code == WEFT_OK) {
        char escape[WEFT_PLAIN_BYTES];
        size_t n_used = kept_prefix(out, rest);
        const bool is_kept = n_used > 0;
        const size_t n = is_kept ? n_used : weft_plain_escape(rest, form, escape, &n_used);
        char *to = weft_output_room(out, n);
        if (to) {
            memcpy(to, is_kept ? rest.bytes : escape, n);
            out->held.n += n;
        }
        rest.bytes += n_used;
        rest.n_bytes -= n_used;
    }
    free(old);
}

/* Whatever a renderer missed, no byte that is not plain leaves this program in an output that has a
 * form. */
void weft_output_seal(struct weft_output *out)
{
    size_t at = 0;
    while (out->form != WEFT_OUTPUT_EXACT && at < out->held.n) {
        const struct weft_str rest = { out->held.items + at, out->held.n - at };
        const size_t n = kept_prefix(out, rest);
        if (n == 0) {
            escape_held(out, at);
            return;
        }
        at += n;
    }
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Bytes at the end of what is held that begin a character of UTF-8 whose rest is still to come. */
static size_t begun_character(const struct weft_output *out)
{
    for (size_t n = 1; n <= 3 && n <= out->held.n; n++) {
        const unsigned char byte = (unsigned char)out->held.items[out->held.n - n];
        if (byte >= 0xc0) {
            const size_t n_whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            return n < n_whole ? n : 0;
        }
        if (byte < 0x80)
            return 0;
    }
    return 0;
}

static void flush(struct weft_output *out, bool is_last)
{
    if (out->err.code != WEFT_OK || (!out->file && out->fd < 0 && !out->is_counting))
        return;
    const size_t n_begun = is_last ? 0 : begun_character(out);
    char begun[4];
    if (n_begun)
        memcpy(begun, out->held.items + out->held.n - n_begun, n_begun);
    out->held.n -= n_begun;
    weft_output_seal(out);
    if (out->err.code != WEFT_OK)
        return;
    if (out->fd >= 0)
        write_fd(out);
    else if (out->file)
        (void)!weft_out_write(out->file, out->held.items, out->held.n, &out->err);
    out->flushed_bytes += out->held.n;
    out->held.n = 0;
    if (n_begun) { /* room for them was there before */
        memcpy(out->held.items, begun, n_begun);
        out->held.n = n_begun;
    }
}

char *weft_output_room(struct weft_output *out, size_t n_bytes)
{
    if (out->err.code != WEFT_OK)
        return NULL;
    size_t want = out->held.n + n_bytes;
    if (want > out->held.cap &&
        !weft_room_reserve(&out->held.items, &out->held.cap, want, sizeof *out->held.items)) {
        (void)weft_fail(&out->err, WEFT_E_NOMEM, WEFT_NO_OFFSET,
                        "no memory for %zu bytes of output", want);
        return NULL;
    }
    return out->held.items + out->held.n;
}

void weft_output_filled(struct weft_output *out, const char *end)
{
    out->held.n = (size_t)(end - out->held.items);
    if (out->held.n >= FLUSH_BYTES)
        flush(out, false);
}

void weft_output_write(struct weft_output *out, const void *bytes, size_t n_bytes)
{
    char *to = n_bytes ? weft_output_room(out, n_bytes) : NULL;
    if (!to)
        return;
    memcpy(to, bytes, n_bytes);
    weft_output_filled(out, to + n_bytes);
}

void weft_output_text(struct weft_output *out, const char *text)
{
    weft_output_write(out, text, strlen(text));
}

void weft_output_plain(struct weft_output *out, struct weft_str text)
{
    while (text.n_bytes > 0) {
        char escape[WEFT_PLAIN_BYTES];
        size_t n_used = weft_plain_prefix(text);
        if (n_used > 0)
            weft_output_write(out, text.bytes, n_used);
        else
            weft_output_write(out, escape,
                              weft_plain_escape(text, WEFT_PLAIN_TEXT, escape, &n_used));
        text.bytes += n_used;
        text.n_bytes -= n_used;
    }
}

void weft_output_frame(struct weft_output *out, struct weft_str text)
{
    while (text.n_bytes > 0) {
        const char *border = memchr(text.bytes, ';', text.n_bytes);
        const size_t n = border ? (size_t)(border - text.bytes) : text.n_bytes;
        weft_output_plain(out, (struct weft_str){ text.bytes, n });
        weft_output_text(out, border ? ":" : "");
        text.bytes += n + (border != NULL);
        text.n_bytes -= n + (border != NULL);
    }
}

/* True if a spreadsheet could take the cell for a formula: the rule of OWASP, with the forms of
 * full width. */
static bool is_formula(struct weft_str text)
{
    static const char *const starts[] = { "=",
                                          "+",
                                          "-",
                                          "@",
                                          "\t",
                                          "\r",
                                          "\n",
                                          "\xef\xbc\x9d",
                                          "\xef\xbc\x8b",
                                          "\xef\xbc\x8d",
                                          "\xef\xbc\xa0" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (text.n_bytes >= strlen(starts[i]) &&
            memcmp(text.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

void weft_output_csv(struct weft_output *out, struct weft_str text)
{
    bool needs_quotes = false;
    for (size_t i = 0; i < text.n_bytes && !needs_quotes; i++)
        needs_quotes = text.bytes[i] != '\0' && strchr(",\"\r\n", text.bytes[i]);
    weft_output_text(out, needs_quotes ? "\"" : "");
    weft_output_text(out, is_text(out) && is_formula(text) ? "'" : "");
    while (text.n_bytes > 0) {
        const char *quote = memchr(text.bytes, '"', text.n_bytes);
        const size_t n = quote ? (size_t)(quote - text.bytes) : text.n_bytes;
        if (is_text(out))
            weft_output_plain(out, (struct weft_str){ text.bytes, n });
        else
            weft_output_write(out, text.bytes, n);
        weft_output_text(out, quote ? "\"\"" : "");
        text.bytes += n + (quote != NULL);
        text.n_bytes -= n + (quote != NULL);
    }
    weft_output_text(out, needs_quotes ? "\"" : "");
}

__attribute__((format(printf, 4, 0))) static int
print(const struct weft_output *out, char *text, size_t n_bytes, const char *format, va_list args)
{
    return is_text(out) ? (int)weft_plain_vprint(text, n_bytes, format, args)
                        : vsnprintf(text, n_bytes, format, args);
}

void weft_output_printf(struct weft_output *out, const char *format, ...)
{
    char text[PRINTF_BYTES];
    va_list args;
    va_start(args, format);
    int n_bytes = print(out, text, sizeof text, format, args);
    va_end(args);
    if (n_bytes < (int)sizeof text) {
        weft_output_write(out, text, n_bytes > 0 ? (size_t)n_bytes : 0);
        return;
    }
    char *to = weft_output_room(out, (size_t)n_bytes + 1);
    if (!to)
        return;
    va_start(args, format);
    (void)print(out, to, (size_t)n_bytes + 1, format, args);
    va_end(args);
    weft_output_filled(out, to + n_bytes);
}

void weft_output_repeat(struct weft_output *out, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        weft_output_text(out, text);
}

void weft_output_fail(struct weft_output *out, const struct weft_err *err)
{
    if (out->err.code == WEFT_OK)
        out->err = *err;
}

void weft_output_release(struct weft_output *out, struct weft_arena *arena)
{
    struct weft_err err = { 0 };
    if (!arena || weft_arena_has_failed(arena)) {
        (void)weft_no_memory(&err, "texts of the output");
        weft_output_fail(out, &err);
    }
    weft_arena_free(arena);
}

bool weft_output_has_failed(const struct weft_output *out)
{
    return out->err.code != WEFT_OK;
}

uint64_t weft_output_offset(const struct weft_output *out)
{
    return out->flushed_bytes + out->held.n;
}

struct weft_str weft_output_held(const struct weft_output *out)
{
    return (struct weft_str){ .bytes = out->held.items, .n_bytes = out->held.n };
}

void weft_output_clear(struct weft_output *out)
{
    out->held.n = 0;
}

/* First cause wins: `err` may already hold another failure of the same command. */
static void hand_over(const struct weft_err *from, struct weft_err *err)
{
    if (err && err->code == WEFT_OK)
        *err = *from;
}

enum weft_code weft_output_close(struct weft_output *out, struct weft_err *err)
{
    flush(out, true);
    enum weft_code code = out->err.code;
    if (code != WEFT_OK) {
        hand_over(&out->err, err);
        weft_output_abort(out);
        return code;
    }
    code = out->file ? weft_out_commit(out->file, err) : WEFT_OK;
    out->file = NULL;
    weft_output_abort(out);
    return code;
}

void weft_output_abort(struct weft_output *out)
{
    if (!out)
        return;
    weft_out_abort(out->file);
    if (out->owns_fd)
        (void)close(out->fd);
    WEFT_ROOM_FINI(&out->held);
    free(out);
}

void weft_output_drop(struct weft_output *scratch, struct weft_output *out)
{
    struct weft_err err = { 0 };
    if (!scratch)
        (void)weft_no_memory(&err, "texts of the output");
    else
        err = scratch->err;
    if (err.code != WEFT_OK)
        weft_output_fail(out, &err);
    weft_output_abort(scratch);
}
