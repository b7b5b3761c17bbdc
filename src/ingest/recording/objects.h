/* SPDX-License-Identifier: MIT
 *
 * Names of the locks, and of what else threads wait for, that are variables of a program or of a
 * library: those that lie in a part of a module that is written to, its .bss too. What lies on a
 * heap or a stack has none.
 */
#ifndef WEFT_INGEST_RECORDING_OBJECTS_H
#define WEFT_INGEST_RECORDING_OBJECTS_H

#include "ingest/recording/names.h"

/* Announces the names of `objects` to the sink (by process, then address, each once): "queue_lock";
 * "queue+0x28" for one within a variable; "lock (libx.so+0x4028)" where several that are met in a
 * process have one name. An address that was that of different variables, as a process ran several
 * programs, has none. O(objects * images of their process, at most 64, * log mappings).
 * WEFT_E_NOMEM and the sink's. */
WEFT_CHECKED enum weft_code rec_objects_tell(struct rec_place *const *objects, size_t n_objects,
                                             const struct rec_spaces *spaces,
                                             const struct weft_strtab *sites,
                                             struct weft_sink *sink, struct weft_err *err);

#endif
