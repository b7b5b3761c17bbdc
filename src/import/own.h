/* SPDX-License-Identifier: MIT
 *
 * What stands in a file, by its first bytes, if this program wrote it.
 */
#ifndef WEFT_IMPORT_OWN_H
#define WEFT_IMPORT_OWN_H

#include "base/error.h"
#include "ingest/recording/recording.h"

enum weft_own {
    WEFT_OWN_NONE, /* neither, or no regular file that can be read */
    WEFT_OWN_TRACE,
    WEFT_OWN_RECORDING,
};

enum weft_own weft_own_of(const char *path);

/* As weft_recording_look, of the file at `path`. */
WEFT_CHECKED enum weft_code weft_own_recording(const char *path, struct weft_recording_about *about,
                                               struct weft_err *err);

#endif
