/* SPDX-License-Identifier: MIT
 *
 * A sink before another that gives names to functions that have an address only.
 */
#ifndef WEFT_IMPORT_NAMING_H
#define WEFT_IMPORT_NAMING_H

#include "schema/sink.h"

struct weft_naming;

/* Everything is passed on to `below`. `place`: see weft_symbols_new; not copied. NULL without
 * memory. */
struct weft_naming *weft_naming_new(struct weft_sink *below, const char *place);
/* NULL is allowed. */
void weft_naming_free(struct weft_naming *naming);

struct weft_sink *weft_naming_sink(struct weft_naming *naming);

/* Notes which modules gave no names, and why; called once, after all else. */
WEFT_CHECKED enum weft_code weft_naming_note(struct weft_naming *naming, struct weft_err *err);

#endif
