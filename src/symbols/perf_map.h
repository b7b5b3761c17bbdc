/* SPDX-License-Identifier: MIT
 *
 * Perf maps: the text /tmp/perf-PID.map, "ADDRESS SIZE NAME" in each line, both numbers in
 * hexadecimal digits. Lines have no time; where functions overlap the last line counts.
 */
#ifndef WEFT_SYMBOLS_PERF_MAP_H
#define WEFT_SYMBOLS_PERF_MAP_H

#include "symbols/jit_name.h"

/* One line, without its end; false: it is none of a map. An empty line has a size of 0. */
bool weft_perf_map_line(struct weft_str line, uint64_t *begin, uint64_t *n_bytes,
                        struct weft_str *name);

/* Adds all lines of a text, which may be a part of a map. False without memory. */
bool weft_perf_map_read(struct weft_jit_names *names, struct weft_str text);

#endif
