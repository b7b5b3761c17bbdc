/* SPDX-License-Identifier: MIT
 *
 * How a process comes to the file of its ring: it makes it in the folder of the recording, or,
 * where it cannot, asks the recorder for it (schema/recording.h). Settings are read once, from the
 * environment that the program starts with.
 */
#ifndef WEFT_RECORD_RUNTIME_REACH_H
#define WEFT_RECORD_RUNTIME_REACH_H

#include "schema/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file that is mapped, and where its parts are. */
struct weft_reach {
    struct weft_ring_file *file;
    size_t n_bytes;
    uint32_t n_slots, n_units, functions_cap;
    uint64_t functions_off, data_off;
    enum weft_ring_reach why; /* the process did not make it itself */
};

/* Makes and maps a file for this process; `is_new`: it runs a new program, whose maps are kept.
 * False: the process is not to be recorded, or cannot be, which is reported to the recorder where
 * that is possible.
 */
bool weft_reach_open(struct weft_reach *reach, bool is_new);

/* Reports to the recorder that this process is not recorded. Keeps errno. */
void weft_reach_report(enum weft_ring_reach why);

/* Gives memory to bytes [from, from + n_bytes) of the file that was opened last; false when there
 * is none. */
bool weft_reach_populate(struct weft_ring_file *file, size_t from, size_t n_bytes);

/* Lets the calling process write the units of slot `place`; false: it may have no more. */
bool weft_reach_unlock(const struct weft_ring_file *file, uint32_t place);

/* The folder of the recording, or NULL; the number of slots that a file has room for. */
const char *weft_reach_folder(void);
uint64_t weft_reach_slots(void);

/* A descriptor to read the filters by, which lie at `path` in the folder; -1: there are none. */
int weft_reach_filter(const char *path);

/* The variable of the environment as a number, `otherwise` if it is none. */
uint64_t weft_reach_setting(const char *name, uint64_t otherwise);

#endif
