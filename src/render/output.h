/* SPDX-License-Identifier: MIT
 *
 * Where rendered bytes go: a file that appears whole or not at all, an open descriptor, or memory.
 * Writing never fails on the spot: the first failure is kept, later bytes are dropped, and
 * weft_output_close reports it.
 */
#ifndef WEFT_RENDER_OUTPUT_H
#define WEFT_RENDER_OUTPUT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_output;

/* What becomes of foreign text that is not plain (base/plain.h) on its way out. */
enum weft_output_form {
    WEFT_OUTPUT_EXACT,  /* nothing: bytes */
    WEFT_OUTPUT_TEXT,   /* escapes of text; CSV cells cannot be taken for formulas */
    WEFT_OUTPUT_COLOUR, /* the same, besides the colours of this program */
    WEFT_OUTPUT_JSON,   /* escapes of JSON, which readers undo: strings alone hold such text */
};

/* Writes `path` through a temporary that is renamed on close. */
WEFT_CHECKED enum weft_code weft_output_to_file(const char *path, struct weft_output **out,
                                                struct weft_err *err);

/* Writes to the open descriptor `fd`, which stays open; `name` names it in errors and must
 * outlive the output. */
WEFT_CHECKED enum weft_code weft_output_to_fd(int fd, const char *name, struct weft_output **out,
                                              struct weft_err *err);

/* From now on the descriptor is closed with the output. */
void weft_output_own_fd(struct weft_output *out);

/* Collects in memory; see weft_output_held. */
WEFT_CHECKED enum weft_code weft_output_to_memory(struct weft_output **out, struct weft_err *err);

/* Counts the bytes (weft_output_offset) and keeps none. */
WEFT_CHECKED enum weft_code weft_output_to_nothing(struct weft_output **out, struct weft_err *err);

/* Outputs begin as exact ones. */
void weft_output_set_form(struct weft_output *out, enum weft_output_form form);
enum weft_output_form weft_output_form(const struct weft_output *out);

/* Bytes; newlines stay in every form. */
void weft_output_write(struct weft_output *out, const void *bytes, size_t n_bytes);
void weft_output_text(struct weft_output *out, const char *text);
/* Foreign text, made plain in every form. */
void weft_output_plain(struct weft_output *out, struct weft_str text);
/* A frame of a folded stack: plain, and without the semicolon that would end it. */
void weft_output_frame(struct weft_output *out, struct weft_str text);
/* A text cell of CSV, in quotes where it must be; exact only in an exact output. */
void weft_output_csv(struct weft_output *out, struct weft_str text);
/* As printf; arguments of %s are foreign text. */
void weft_output_printf(struct weft_output *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Room for `n_bytes` bytes that the caller fills himself, for output that is formatted by the
 * million; NULL once anything failed. Then `weft_output_filled` says up to where. */
char *weft_output_room(struct weft_output *out, size_t n_bytes);
void weft_output_filled(struct weft_output *out, const char *end);

/* `count` times the same text. */
void weft_output_repeat(struct weft_output *out, const char *text, size_t count);

/* Keeps a failure that arose while rendering (not in this output). */
void weft_output_fail(struct weft_output *out, const struct weft_err *err);

/* Frees an arena in which texts of this output were made; NULL, or one that ran out of memory,
 * fails the output: texts may be missing in it. */
void weft_output_release(struct weft_output *out, struct weft_arena *arena);

/* True once anything failed: long renderings may stop early. */
bool weft_output_has_failed(const struct weft_output *out);

uint64_t weft_output_offset(const struct weft_output *out);

/* Gives all that a memory output holds the form that was set. */
void weft_output_seal(struct weft_output *out);

/* What a memory output holds so far; valid until the next write. */
struct weft_str weft_output_held(const struct weft_output *out);

/* Forgets what a memory output holds, and keeps its memory. */
void weft_output_clear(struct weft_output *out);

/* Flushes, renames a file into place, frees; reports the first failure, after which a file's old
 * contents stand. */
WEFT_CHECKED enum weft_code weft_output_close(struct weft_output *out, struct weft_err *err);

/* Throws away what was not flushed (a file: everything) and frees; NULL is allowed. */
void weft_output_abort(struct weft_output *out);

/* The same of an output in memory whose texts went to `out`, which fails if that has; NULL: there
 * was no memory for it. */
void weft_output_drop(struct weft_output *scratch, struct weft_output *out);

#endif
