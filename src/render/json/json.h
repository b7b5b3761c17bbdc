/* SPDX-License-Identifier: MIT
 *
 * JSON out: valid UTF-8 whatever bytes names hold, 64-bit integers exact.
 * Failures go to the output below and are reported when that is closed.
 */
#ifndef WEFT_RENDER_JSON_JSON_H
#define WEFT_RENDER_JSON_JSON_H

#include "base/error.h"
#include "base/str.h"
#include "render/output.h"

#include <stdbool.h>
#include <stdint.h>

struct weft_json;

/* `out` is borrowed. */
WEFT_CHECKED enum weft_code weft_json_open(struct weft_output *out, struct weft_json **json,
                                           struct weft_err *err);

/* Frees the generator, not the output; NULL is allowed. */
void weft_json_close(struct weft_json *json);

/* As weft_output_release, of the output that the JSON is written to. */
void weft_json_release(struct weft_json *json, struct weft_arena *arena);

/* Every value takes the key under which it stands in an object; NULL inside arrays and at the
 * top. */
void weft_json_begin_object(struct weft_json *json, const char *key);
void weft_json_end_object(struct weft_json *json);
void weft_json_begin_array(struct weft_json *json, const char *key);
void weft_json_end_array(struct weft_json *json);
void weft_json_u64(struct weft_json *json, const char *key, uint64_t value);
void weft_json_i64(struct weft_json *json, const char *key, int64_t value);
void weft_json_real(struct weft_json *json, const char *key, double value); /* not finite: null */
void weft_json_bool(struct weft_json *json, const char *key, bool value);
void weft_json_null(struct weft_json *json, const char *key);
void weft_json_str(struct weft_json *json, const char *key, struct weft_str value);
void weft_json_text(struct weft_json *json, const char *key, const char *value);

/* Begins a new line of output: the rows of long arrays stand one a line. */
void weft_json_new_line(struct weft_json *json);

/* `text` as a JSON string with its quotes, by itself: valid UTF-8 whatever it holds. */
void weft_json_quoted(struct weft_output *out, struct weft_str text);

/* The shortest decimal that reads back as the same double. */
struct weft_real_text {
    char text[32];
};
struct weft_real_text weft_real_text(double value);

#endif
