/* SPDX-License-Identifier: MIT
 *
 * Functions of the trace, from those of its tasks.
 */
#include "ingest/uftrace/trace.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

/* Places are numbers below 2^63; an address that nothing explains is itself, above them. */
#define UNKNOWN_PLACE (UINT64_C(1) << 63)

enum { MOST_NAME_BYTES = 1 << 14 };

static uint64_t identity_of(const struct weft_uft_local *local)
{
    if (local->place.module == SIZE_MAX)
        return UNKNOWN_PLACE | local->address;
    return (uint64_t)local->place.module << 32 | local->place.symbol;
}

/* The name as a person writes it; NULL to keep it. */
static char *plain_name(struct weft_str name)
{
    if (name.n_bytes < 2 || name.n_bytes >= MOST_NAME_BYTES || memcmp(name.bytes, "_Z", 2) != 0)
        return NULL;
    char *text = strndup(name.bytes, name.n_bytes);
    char *plain = text ? cplus_demangle(text, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO) : NULL;
    free(text);
    return plain;
}

static enum weft_code announce(struct weft_uft_trace *trace, const struct weft_uft_local *local,
                               struct weft_err *err)
{
    struct weft_function_info info = { .key = local->key, .address = local->address };
    char *plain = NULL;
    if (local->place.module != SIZE_MAX) {
        const struct weft_uft_module *module = &trace->space.modules[local->place.module];
        const struct weft_uft_symbol *symbol = &module->symbols.items[local->place.symbol];
        plain = plain_name(symbol->name);
        info.name = plain ? weft_str_of(plain) : symbol->name;
        info.module = module->name;
        info.address = symbol->address;
    }
    enum weft_code code = trace->sink->ops->function(trace->sink, &info, err);
    free(plain);
    return code;
}

static enum weft_code number(struct weft_uft_trace *trace, struct weft_uft_track *track,
                             struct weft_map *keys, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < track->locals.rows.n; k++) {
        struct weft_uft_local *local = &track->locals.rows.items[k];
        bool is_new = false;
        local->key = weft_map_add(keys, identity_of(local), &is_new);
        if (local->key == WEFT_MAP_NONE)
            return weft_no_memory(err, "functions");
        if (is_new)
            code = announce(trace, local, err);
    }
    return code;
}

enum weft_code weft_uft_announce_functions(struct weft_uft_trace *trace, struct weft_err *err)
{
    struct weft_map *keys = weft_map_new();
    if (!keys)
        return weft_no_memory(err, "functions");
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < trace->tracks.n; k++)
        code = number(trace, &trace->tracks.items[k], keys, err);
    weft_map_free(keys);
    return code;
}
