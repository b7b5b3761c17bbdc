/* SPDX-License-Identifier: MIT
 *
 * Function maps: the number, address and name of each instrumented function.
 *
 * From an ELF program: numbers are given as the XRay runtime gives them, 1, 2, 3 ... by runs of
 * sleds of one function in section xray_instr_map. From a file: `llvm-xray extract` YAML, or lines
 * "id TAB address TAB name" with an optional heading.
 */
#ifndef WEFT_INGEST_XRAY_FUNCTION_MAP_H
#define WEFT_INGEST_XRAY_FUNCTION_MAP_H

#include "base/error.h"
#include "schema/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_xray_map;

/* Reads the instrumented program. Errors name the file, and what was expected and found:
 * WEFT_E_MALFORMED for a program without sleds, WEFT_E_UNSUPPORTED for another machine. */
WEFT_CHECKED enum weft_code weft_xray_map_open_elf(const char *path, struct weft_xray_map **map,
                                                   struct weft_err *err);

/* Reads a YAML or TSV file, distinguished by content. An ELF program is accepted too. */
WEFT_CHECKED enum weft_code weft_xray_map_open(const char *path, struct weft_xray_map **map,
                                               struct weft_err *err);

/* The same from bytes in memory, which need not outlive the call; errors name no file. */
WEFT_CHECKED enum weft_code weft_xray_map_read(const uint8_t *bytes, size_t n_bytes,
                                               struct weft_xray_map **map, struct weft_err *err);

void weft_xray_map_free(struct weft_xray_map *map);

/* Functions in the map, and the largest number among them. */
size_t weft_xray_map_count(const struct weft_xray_map *map);
uint32_t weft_xray_map_last_key(const struct weft_xray_map *map);

/* Fills *info for function `key`; false if the map does not hold it. A function that the program
 * has no symbol for has an empty name. Views live as long as the map. O(log n). Not const: C++
 * names are demangled when they are asked for, since a log names few of a large program's
 * functions. */
bool weft_xray_map_find(struct weft_xray_map *map, uint32_t key, struct weft_function_info *info);

#endif
