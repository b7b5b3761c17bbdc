/* SPDX-License-Identifier: MIT
 *
 * What the readers of function maps fill in; see function_map.h for what the importer uses.
 */
#ifndef WEFT_INGEST_XRAY_MAP_BUILD_H
#define WEFT_INGEST_XRAY_MAP_BUILD_H

#include "base/str.h"
#include "ingest/xray/function_map.h"

struct weft_xray_function {
    uint32_t key;
    uint32_t name_id; /* in names; the empty string for none */
    uint64_t address;
};

/* Invariant between readers and users: functions are sorted by key, each key once. */
struct weft_xray_map {
    struct {
        struct weft_xray_function *items;
        size_t n, cap;
    } functions;
    struct weft_strtab *names;
    uint32_t module_id; /* in names */
    bool is_mangled;    /* names are as in the program: demangled when one is asked for */
};

/* Function numbers that a log can hold: 28 bits. */
#define WEFT_XRAY_MOST_KEY UINT32_C(0x0fffffff)

/* Appends; keys may come in any order. NOMEM. */
WEFT_CHECKED enum weft_code weft_xray_map_add(struct weft_xray_map *map, uint32_t key,
                                              uint64_t address, struct weft_str name,
                                              struct weft_err *err);

/* Decimal, or hexadecimal after 0x; false on anything else or beyond 64 bits. */
bool weft_xray_parse_number(struct weft_str text, uint64_t *value);

/* The readers. `bytes` outlives only the call. The caller sorts. */
WEFT_CHECKED enum weft_code weft_xray_map_read_elf(struct weft_xray_map *map, const uint8_t *bytes,
                                                   size_t n_bytes, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_xray_map_read_yaml(struct weft_xray_map *map, const uint8_t *bytes,
                                                    size_t n_bytes, struct weft_err *err);
WEFT_CHECKED enum weft_code weft_xray_map_read_tsv(struct weft_xray_map *map, const uint8_t *bytes,
                                                   size_t n_bytes, struct weft_err *err);

#endif
