/* SPDX-License-Identifier: MIT
 *
 * A .weft file as an input of any form (input.h).
 */
#ifndef WEFT_IMPORT_STORED_H
#define WEFT_IMPORT_STORED_H

#include "import/input.h"
#include "store/reader.h"

struct weft_stored {
    struct weft_input input;
    struct weft_store *store;
};

/* Opens `path`, which must outlive it. Errors name the file. */
WEFT_CHECKED enum weft_code weft_stored_open(const char *path, const struct weft_input_opts *opts,
                                             struct weft_stored *stored, struct weft_err *err);

void weft_stored_close(struct weft_stored *stored);

#endif
