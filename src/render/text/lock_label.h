/* SPDX-License-Identifier: MIT
 *
 * What a lock is called: as calls name it, else its address; a thread that is joined.
 */
#ifndef WEFT_RENDER_TEXT_LOCK_LABEL_H
#define WEFT_RENDER_TEXT_LOCK_LABEL_H

#include "model/trace.h"
#include "schema/locks.h"

enum { WEFT_LOCK_LABEL_BYTES = 96 };

struct weft_lock_label {
    char text[WEFT_LOCK_LABEL_BYTES];
};

/* Longer names are cut. */
void weft_lock_label_make(const struct weft_trace *trace, const struct weft_lock_object *object,
                          struct weft_lock_label *label);

#endif
