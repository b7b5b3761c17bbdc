/* SPDX-License-Identifier: MIT */
#include "render/output.h"

#include "base/file.h"
#include "base/room.h"

#include <errno.h>
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
    bool is_counting; /* bytes go nowhere */
    uint64_t flushed_bytes;
    struct weft_err err;
};

static enum weft_code output_new(struct weft_output **out, struct weft_err *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for output");
    (*out)->fd = -1;
    return WEFT_OK;
}

enum weft_code weft_output_to_file(const char *path, struct weft_output **out, struct weft_err *err)
{
    enum weft_code code = output_new(out, err);
    if (code != WEFT_OK)
        return code;
    code = weft_out_open(path, &(*out)->file, err);
    if (code != WEFT_OK) {
        free(*out);
        *out = NULL;
    }
    return code;
}

enum weft_code weft_output_to_fd(int fd, const char *name, struct weft_output **out,
                                 struct weft_err *err)
{
    enum weft_code code = output_new(out, err);
    if (code != WEFT_OK)
        return code;
    (*out)->fd = fd;
    (*out)->name = name;
    return WEFT_OK;
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

static void flush(struct weft_output *out)
{
    if (out->err.code != WEFT_OK || (!out->file && out->fd < 0 && !out->is_counting))
        return;
    if (out->fd >= 0)
        write_fd(out);
    else if (out->file)
        (void)!weft_out_write(out->file, out->held.items, out->held.n, &out->err);
    out->flushed_bytes += out->held.n;
    out->held.n = 0;
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
        flush(out);
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

void weft_output_printf(struct weft_output *out, const char *format, ...)
{
    char text[PRINTF_BYTES];
    va_list args;
    va_start(args, format);
    int n_bytes = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n_bytes < (int)sizeof text) {
        weft_output_write(out, text, n_bytes > 0 ? (size_t)n_bytes : 0);
        return;
    }
    char *longer = NULL;
    va_start(args, format);
    n_bytes = vasprintf(&longer, format, args);
    va_end(args);
    if (n_bytes >= 0)
        weft_output_write(out, longer, (size_t)n_bytes);
    else
        (void)weft_fail(&out->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for output");
    free(n_bytes >= 0 ? longer : NULL);
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
    flush(out);
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
    WEFT_ROOM_FINI(&out->held);
    free(out);
}
