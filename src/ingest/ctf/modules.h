/* SPDX-License-Identifier: MIT
 *
 * Programs and libraries in the address spaces of processes, and the functions that were called in
 * them. A function is (module, address in it); what no module holds has its address alone.
 */
#ifndef WEFT_INGEST_CTF_MODULES_H
#define WEFT_INGEST_CTF_MODULES_H

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "schema/sink.h"

#include <stdbool.h>
#include <stdint.h>

struct ctf_module {
    uint64_t space; /* (host, process) */
    uint64_t base, n_bytes;
    uint32_t path, build_id; /* in `texts` */
    bool is_relative;        /* addresses in the module count from its base */
};

struct ctf_modules {
    struct {
        struct ctf_module *items;
        size_t n, cap;
    } maps; /* sorted by space and base once sealed; of the same base the last counts */
    struct weft_strtab *texts;   /* paths and build ids; 0 is empty */
    struct weft_map *of_address; /* hash of (space, address) -> index in `calls` */
    struct {
        struct ctf_call_site {
            uint64_t space, address;
            uint32_t key;
        } * items;
        size_t n, cap;
    } calls;
    struct weft_strtab *identities; /* of functions: module, build and address as bytes -> key */
    bool is_sealed;
};

bool ctf_modules_init(struct ctf_modules *modules);
void ctf_modules_fini(struct ctf_modules *modules);

/* Adds a mapping; all must be added before functions are looked up. False without memory. */
bool ctf_modules_add(struct ctf_modules *modules, uint64_t space, uint64_t base, uint64_t n_bytes,
                     struct weft_str path, bool is_relative);
/* The build id (raw bytes) of what was added lately at `base`; without that it is ignored. */
bool ctf_modules_build_id(struct ctf_modules *modules, uint64_t space, uint64_t base,
                          struct weft_str build_id);
void ctf_modules_seal(struct ctf_modules *modules);

/* Key of the function at this address; a new one is announced to the sink. WEFT_E_NOMEM and the
 * sink's.
 */
WEFT_CHECKED enum weft_code ctf_modules_function(struct ctf_modules *modules, uint64_t space,
                                                 uint64_t address, struct weft_sink *sink,
                                                 uint32_t *key, struct weft_err *err);

#endif
