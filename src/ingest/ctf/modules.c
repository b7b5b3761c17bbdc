/* SPDX-License-Identifier: MIT
 *
 * Resolves addresses of calls: mappings are collected in the first pass and sorted by (address
 * space, base), then searched by halves; a table by address answers repeated calls. A function that
 * is new is announced to the sink without a name; import/naming.h finds that.
 */
#include "ingest/ctf/modules.h"

#include "base/vec.h"
#include "schema/event.h"

#include <stdlib.h>

/* A build id follows what it is of. */
enum { LATELY = 64 };

bool ctf_modules_init(struct ctf_modules *modules)
{
    uint32_t none;
    *modules = (struct ctf_modules){ .texts = weft_strtab_new(),
                                     .of_address = weft_map_new(),
                                     .identities = weft_strtab_new() };
    return modules->texts && modules->of_address && modules->identities &&
           weft_strtab_intern(modules->texts, WEFT_STR(""), &none, NULL) == WEFT_OK;
}

void ctf_modules_fini(struct ctf_modules *modules)
{
    WEFT_VEC_FINI(&modules->maps);
    WEFT_VEC_FINI(&modules->calls);
    weft_strtab_free(modules->texts);
    weft_strtab_free(modules->identities);
    weft_map_free(modules->of_address);
}

bool ctf_modules_add(struct ctf_modules *modules, uint64_t space, uint64_t base, uint64_t n_bytes,
                     struct weft_str path, bool is_relative)
{
    struct ctf_module *module = WEFT_VEC_PUSH(&modules->maps);
    if (!module || weft_strtab_intern(modules->texts, path, &module->path, NULL) != WEFT_OK)
        return false;
    module->space = space;
    module->base = base;
    module->n_bytes = n_bytes;
    module->is_relative = is_relative;
    return true;
}

bool ctf_modules_build_id(struct ctf_modules *modules, uint64_t space, uint64_t base,
                          struct weft_str build_id)
{
    for (size_t k = modules->maps.n; k > 0 && modules->maps.n - k < LATELY; k--) {
        struct ctf_module *module = &modules->maps.items[k - 1];
        if (module->space == space && module->base == base)
            return weft_strtab_intern(modules->texts, build_id, &module->build_id, NULL) == WEFT_OK;
    }
    return true;
}

static int compare_maps(const void *a_void, const void *b_void)
{
    const struct ctf_module *a = a_void;
    const struct ctf_module *b = b_void;
    if (a->space != b->space)
        return a->space < b->space ? -1 : 1;
    if (a->base != b->base)
        return a->base < b->base ? -1 : 1;
    return (a->path > b->path) - (a->path < b->path);
}

void ctf_modules_seal(struct ctf_modules *modules)
{
    if (modules->maps.n)
        qsort(modules->maps.items, modules->maps.n, sizeof *modules->maps.items, compare_maps);
    modules->is_sealed = true;
}

/* The module that holds the address; NULL: none. O(log modules). */
static const struct ctf_module *find_module(const struct ctf_modules *modules, uint64_t space,
                                            uint64_t address)
{
    size_t low = 0;
    size_t high = modules->maps.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct ctf_module *module = &modules->maps.items[middle];
        if (module->space < space || (module->space == space && module->base <= address))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct ctf_module *module = &modules->maps.items[low - 1];
    return module->space == space && address - module->base < module->n_bytes ? module : NULL;
}

/* What makes a function the same in all processes. */
struct identity {
    uint64_t address; /* in the module */
    uint32_t path, build_id;
};

/* The key of a function; a new one is announced to the sink, without a name. */
static enum weft_code identify(struct ctf_modules *modules, const struct identity *identity,
                               struct weft_sink *sink, uint32_t *key, struct weft_err *err)
{
    const uint32_t n_before = weft_strtab_count(modules->identities);
    const struct weft_str bytes = { (const char *)identity, sizeof *identity };
    const enum weft_code code = weft_strtab_intern(modules->identities, bytes, key, err);
    if (code != WEFT_OK || *key != n_before)
        return code;
    const struct weft_function_info info = {
        .key = *key,
        .module = weft_strtab_get(modules->texts, identity->path),
        .address = identity->address,
        .build_id = weft_strtab_get(modules->texts, identity->build_id),
    };
    return sink->ops->function(sink, &info, err);
}

enum weft_code ctf_modules_function(struct ctf_modules *modules, uint64_t space, uint64_t address,
                                    struct weft_sink *sink, uint32_t *key, struct weft_err *err)
{
    bool is_new;
    const uint64_t mixed = address ^ space * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t index = weft_map_add(modules->of_address, mixed, &is_new);
    if (index == WEFT_MAP_NONE)
        return weft_no_memory(err, "functions");
    if (is_new && !WEFT_VEC_PUSH(&modules->calls))
        return weft_no_memory(err, "functions");
    struct ctf_call_site *site = &modules->calls.items[index];
    if (!is_new && site->space == space && site->address == address) {
        *key = site->key;
        return WEFT_OK;
    }
    const struct ctf_module *module = find_module(modules, space, address);
    struct identity identity = { .address = address };
    if (module) {
        identity.address -= module->is_relative ? module->base : 0;
        identity.path = module->path;
        identity.build_id = module->build_id;
    }
    const enum weft_code code = identify(modules, &identity, sink, key, err);
    *site = (struct ctf_call_site){ .space = space, .address = address, .key = *key };
    return code;
}
