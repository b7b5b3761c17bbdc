/* SPDX-License-Identifier: MIT */
#include "ingest/ctf/modules.h"

#include "base/vec.h"
#include "schema/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool ctf_modules_init(struct ctf_modules *modules)
{
    *modules = (struct ctf_modules){ .paths = weft_strtab_new(),
                                     .of_address = weft_map_new(),
                                     .identities = weft_strtab_new() };
    return modules->paths && modules->of_address && modules->identities;
}

void ctf_modules_fini(struct ctf_modules *modules)
{
    WEFT_VEC_FINI(&modules->maps);
    WEFT_VEC_FINI(&modules->calls);
    weft_strtab_free(modules->paths);
    weft_strtab_free(modules->identities);
    weft_map_free(modules->of_address);
}

bool ctf_modules_add(struct ctf_modules *modules, uint64_t space, uint64_t base, uint64_t n_bytes,
                     struct weft_str path, bool is_relative)
{
    struct ctf_module *module = WEFT_VEC_PUSH(&modules->maps);
    if (!module || weft_strtab_intern(modules->paths, path, &module->path, NULL) != WEFT_OK)
        return false;
    module->space = space;
    module->base = base;
    module->n_bytes = n_bytes;
    module->is_relative = is_relative;
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

static struct weft_str base_name(struct weft_str path)
{
    size_t at = path.n_bytes;
    while (at > 0 && path.bytes[at - 1] != '/')
        at--;
    return (struct weft_str){ path.bytes + at, path.n_bytes - at };
}

/* A function that is met for the first time: named after its place, as nm would show it. */
static enum weft_code announce(const struct ctf_modules *modules, uint32_t path, uint64_t address,
                               uint32_t key, struct weft_sink *sink, struct weft_err *err)
{
    char name[320];
    struct weft_str module = { 0 };
    if (path != WEFT_ID_NONE)
        module = weft_strtab_get(modules->paths, path);
    const struct weft_str file = base_name(module);
    const int n_name = snprintf(name, sizeof name, "%.*s%s0x%" PRIx64,
                                (int)(file.n_bytes < 256 ? file.n_bytes : 256),
                                file.n_bytes ? file.bytes : "", file.n_bytes ? "+" : "", address);
    const struct weft_function_info info = {
        .key = key, .name = { name, (size_t)n_name }, .module = module, .address = address
    };
    return sink->ops->function(sink, &info, err);
}

/* The key of (module, address): the same in all processes. */
static enum weft_code identify(struct ctf_modules *modules, uint32_t path, uint64_t address,
                               struct weft_sink *sink, uint32_t *key, struct weft_err *err)
{
    char identity[sizeof path + sizeof address];
    memcpy(identity, &path, sizeof path);
    memcpy(identity + sizeof path, &address, sizeof address);
    const uint32_t n_before = weft_strtab_count(modules->identities);
    const enum weft_code code = weft_strtab_intern(
        modules->identities, (struct weft_str){ identity, sizeof identity }, key, err);
    if (code != WEFT_OK || *key != n_before)
        return code;
    return announce(modules, path, address, *key, sink, err);
}

enum weft_code ctf_modules_function(struct ctf_modules *modules, uint64_t space, uint64_t address,
                                    struct weft_sink *sink, uint32_t *key, struct weft_err *err)
{
    bool is_new;
    const uint64_t mixed = address ^ space * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t index = weft_map_add(modules->of_address, mixed, &is_new);
    if (index == WEFT_MAP_NONE)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for functions");
    if (is_new && !WEFT_VEC_PUSH(&modules->calls))
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for functions");
    struct ctf_call_site *site = &modules->calls.items[index];
    if (!is_new && site->space == space && site->address == address) {
        *key = site->key;
        return WEFT_OK;
    }
    const struct ctf_module *module = find_module(modules, space, address);
    const uint64_t own = module && module->is_relative ? address - module->base : address;
    const enum weft_code code =
        identify(modules, module ? module->path : WEFT_ID_NONE, own, sink, key, err);
    *site = (struct ctf_call_site){ .space = space, .address = address, .key = *key };
    return code;
}
