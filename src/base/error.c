/* SPDX-License-Identifier: MIT
 *
 * Fills and prints struct weft_err. Everything works on buffers of fixed size inside the struct,
 * since an error may report that there is no memory. Text that comes from a trace is made plain
 * when the error is printed, not when it is stored.
 */
#include "base/error.h"

#include "base/plain.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const code_names[] = {
    [WEFT_OK] = "ok",
    [WEFT_E_IO] = "io",
    [WEFT_E_NOMEM] = "nomem",
    [WEFT_E_TRUNCATED] = "truncated",
    [WEFT_E_MALFORMED] = "malformed",
    [WEFT_E_UNSUPPORTED] = "unsupported",
    [WEFT_E_LIMIT] = "limit",
    [WEFT_E_ARG] = "arg",
    [WEFT_E_CANCELLED] = "cancelled",
};

const char *weft_code_name(enum weft_code code)
{
    size_t n_codes = sizeof code_names / sizeof *code_names;
    return (size_t)code < n_codes ? code_names[code] : "unknown";
}

/* True if `err` takes a cause now: it exists and holds none yet. */
static bool begin_cause(struct weft_err *err, enum weft_code code, uint64_t at_off, uint64_t line)
{
    if (!err || err->code != WEFT_OK)
        return false;
    err->code = code;
    err->at_off = at_off;
    err->line = line;
    err->file[0] = err->text[0] = err->place[0] = '\0';
    return true;
}

static enum weft_code first_code(const struct weft_err *err, enum weft_code code)
{
    return err ? err->code : code;
}

enum weft_code weft_fail(struct weft_err *err, enum weft_code code, uint64_t at_off,
                         const char *format, ...)
{
    if (begin_cause(err, code, at_off, 0)) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return first_code(err, code);
}

enum weft_code weft_fail_line(struct weft_err *err, enum weft_code code, uint64_t at_off,
                              uint64_t line, const char *format, ...)
{
    if (begin_cause(err, code, at_off, line)) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return first_code(err, code);
}

enum weft_code weft_fail_errno(struct weft_err *err, int errno_value, const char *format, ...)
{
    if (begin_cause(err, WEFT_E_IO, WEFT_NO_OFFSET, 0)) {
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        size_t n_bytes = strlen(err->text);
        char reason[128];
        const char *words = strerror_r(errno_value, reason, sizeof reason);
        snprintf(err->text + n_bytes, sizeof err->text - n_bytes, ": %s", words);
    }
    return first_code(err, WEFT_E_IO);
}

enum weft_code weft_no_memory(struct weft_err *err, const char *what)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %s", what);
}

enum weft_code weft_in_file(struct weft_err *err, const char *path)
{
    if (!err)
        return WEFT_E_IO;
    if (err->file[0] == '\0')
        snprintf(err->file, sizeof err->file, "%s", path);
    return err->code;
}

enum weft_code weft_within(struct weft_err *err, const char *format, ...)
{
    if (!err)
        return WEFT_E_MALFORMED;
    size_t n_bytes = strlen(err->place);
    if (n_bytes > 0 && n_bytes + 2 < sizeof err->place) {
        memcpy(err->place + n_bytes, ", ", 3);
        n_bytes += 2;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(err->place + n_bytes, sizeof err->place - n_bytes, format, args);
    va_end(args);
    return err->code;
}

/* Appends to a bounded buffer, foreign text made plain; what does not fit is cut. */
__attribute__((format(printf, 4, 5))) static void append(char *out, size_t n_bytes, size_t *at,
                                                         const char *format, ...)
{
    if (*at >= n_bytes)
        return;
    va_list args;
    va_start(args, format);
    *at += weft_plain_vprint(out + *at, n_bytes - *at, format, args);
    va_end(args);
}

void weft_err_print(const struct weft_err *err, char *out, size_t n_bytes)
{
    size_t at = 0;
    if (n_bytes == 0)
        return;
    out[0] = '\0';
    if (err->file[0] != '\0')
        append(out, n_bytes, &at, "%s: ", err->file);
    if (err->line != 0)
        append(out, n_bytes, &at, "line %" PRIu64 ": ", err->line);
    else if (err->at_off != WEFT_NO_OFFSET)
        append(out, n_bytes, &at, "byte 0x%" PRIx64 ": ", err->at_off);
    append(out, n_bytes, &at, "%s", err->text);
    if (err->place[0] != '\0')
        append(out, n_bytes, &at, " (in %s)", err->place);
}
