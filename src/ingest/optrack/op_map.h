/* SPDX-License-Identifier: MIT
 *
 * Maps of operation ids: lines "id name", one file a process.
 */
#ifndef WEFT_INGEST_OPTRACK_OP_MAP_H
#define WEFT_INGEST_OPTRACK_OP_MAP_H

#include "base/error.h"
#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids are 16 bits; -1 and 65535 are the same id. */
struct weft_op_name {
    uint16_t id;
    uint64_t line;
    struct weft_str name; /* a view of the map's bytes */
    struct weft_str shown;
};

struct weft_op_map {
    struct weft_op_name *items; /* ascending by id, each once, names not empty */
    size_t n, cap;
};

/* True if every whole line of the bytes is a line of a map. */
bool weft_op_map_sniff(const uint8_t *bytes, size_t n_bytes);

/* MALFORMED with the line: not an id and a name, or an id with two names. The names live as long
 * as the bytes. The caller frees, also after a failure. */
WEFT_CHECKED enum weft_code weft_op_map_read(const uint8_t *bytes, uint64_t n_bytes,
                                             struct weft_op_map *map, struct weft_err *err);
void weft_op_map_fini(struct weft_op_map *map);

/* The name without return type and parameters, as gcc writes it in C, when that is unambiguous;
 * else as it is. clang: "int f(char *, int)". */
struct weft_str weft_op_short_name(struct weft_str name);

#endif
