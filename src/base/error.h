/* SPDX-License-Identifier: MIT
 *
 * Errors: a code, the file, the byte offset, what was expected and found, and the place.
 *
 * Every fallible function returns enum weft_code and takes a caller-owned struct weft_err * last.
 * The first cause wins; each level on the way up may add one place with weft_within(). Nothing here
 * allocates. A NULL struct weft_err * is allowed everywhere and discards the details.
 */
#ifndef WEFT_BASE_ERROR_H
#define WEFT_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_ERR_TEXT_BYTES = 320, WEFT_ERR_PLACE_BYTES = 160, WEFT_ERR_FILE_BYTES = 256 };

/* The numbers are pinned: they appear in tests and in scripts. */
enum weft_code {
    WEFT_OK = 0,
    WEFT_E_IO = 1,          /* the operating system refused: errno's text is in the message */
    WEFT_E_NOMEM = 2,       /* an allocation failed */
    WEFT_E_TRUNCATED = 3,   /* the input ends too early */
    WEFT_E_MALFORMED = 4,   /* the input contradicts its format */
    WEFT_E_UNSUPPORTED = 5, /* well-formed, but newer than this program or outside its subset */
    WEFT_E_LIMIT = 6,       /* a stated limit (depth, memory ceiling) would be exceeded */
    WEFT_E_ARG = 7,         /* the caller asked for something impossible */
    WEFT_E_CANCELLED = 8,   /* the user interrupted the work */
};

#define WEFT_CHECKED __attribute__((warn_unused_result))

/* "No byte offset belongs to this error." */
#define WEFT_NO_OFFSET UINT64_MAX

struct weft_err {
    enum weft_code code;
    uint64_t at_off; /* byte offset in `file`, or WEFT_NO_OFFSET */
    uint64_t line;   /* 1-based line of a text input, or 0 */
    char file[WEFT_ERR_FILE_BYTES];
    char text[WEFT_ERR_TEXT_BYTES];   /* "expected ..., found ..." */
    char place[WEFT_ERR_PLACE_BYTES]; /* "in sample record 4211, event section" */
};

/* Sets `err` unless it already holds a cause; returns `code` (or the first cause's code). */
enum weft_code weft_fail(struct weft_err *err, enum weft_code code, uint64_t at_off,
                         const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same for a text input: names the 1-based line instead of, or besides, the byte. */
enum weft_code weft_fail_line(struct weft_err *err, enum weft_code code, uint64_t at_off,
                              uint64_t line, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* As weft_fail with WEFT_E_IO, appending strerror(errno_value). */
enum weft_code weft_fail_errno(struct weft_err *err, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "no memory for WHAT", as weft_fail with WEFT_E_NOMEM. */
enum weft_code weft_no_memory(struct weft_err *err, const char *what);

/* Names the file of an error that has none yet; returns the error's code. */
enum weft_code weft_in_file(struct weft_err *err, const char *path);

/* Adds an outer place ("thread table") to an error; returns the error's code. */
enum weft_code weft_within(struct weft_err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes "FILE: byte 0x1f40: expected ..., found ... (in ...)" into `out`, always terminated. */
void weft_err_print(const struct weft_err *err, char *out, size_t n_bytes);

/* A step that needs no cleaning up: a failure is the function's. */
#define WEFT_TRY(call)                                                                             \
    do {                                                                                           \
        const enum weft_code try_code = (call);                                                    \
        if (try_code != WEFT_OK)                                                                   \
            return try_code;                                                                       \
    } while (0)

/* The next step of a chain that cleans up at its end: done unless one before has failed. */
#define WEFT_THEN(code, call)                                                                      \
    do {                                                                                           \
        if ((code) == WEFT_OK)                                                                     \
            (code) = (call);                                                                       \
    } while (0)

/* Stable lower-case name of a code ("truncated"). */
const char *weft_code_name(enum weft_code code);

#endif
