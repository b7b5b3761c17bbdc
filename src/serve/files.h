/* SPDX-License-Identifier: MIT
 *
 * Small files of the user beside his traces: notes, colours. Paths come from the command line,
 * never from a client.
 */
#ifndef WEFT_SERVE_FILES_H
#define WEFT_SERVE_FILES_H

#include "base/error.h"
#include "render/output.h"

enum { WEFT_SMALL_FILE_BYTES = 1 << 20 };

/* The notes of the trace `path` ("app.weft": "app.notes.json") as they are, or {} if there are
 * none. WEFT_E_LIMIT if they are too large, WEFT_E_MALFORMED if they are not JSON. */
WEFT_CHECKED enum weft_code weft_notes_read(const char *path, struct weft_output *out,
                                            struct weft_err *err);

/* The document {functions: {NAME: "#rrggbb"}} of a file of colours; `path` NULL: of none. The file
 * is a JSON object, of such members or with them under "functions"; or lines "NAME #RRGGBB" (any
 * blanks or a comma between, # comments), as NonSequitur's colour files are. WEFT_E_MALFORMED names
 * the line. */
WEFT_CHECKED enum weft_code weft_colors_read(const char *path, struct weft_output *out,
                                             struct weft_err *err);

#endif
