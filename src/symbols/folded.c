/* SPDX-License-Identifier: MIT
 *
 * Interns the text of a frame once and returns its number; perf and recording stacks are joined
 * from these. Semicolons inside a name become colons, as they separate frames. Inlined functions
 * follow the function they are in, each marked "(inlined)".
 */
#include "symbols/folded.h"

#include "base/vec.h"

#include <string.h>

enum { PLACE_BYTES = 320, MOST_INLINED = 64 };

bool weft_folded_init(struct weft_folded *folded, struct weft_symbols *symbols)
{
    *folded = (struct weft_folded){ .symbols = symbols,
                                    .names = weft_strtab_new(),
                                    .parts = weft_strtab_new() };
    return folded->names && folded->parts;
}

void weft_folded_fini(struct weft_folded *folded)
{
    weft_strtab_free(folded->names);
    weft_strtab_free(folded->parts);
    WEFT_VEC_FINI(&folded->module_of);
    weft_json_fini(&folded->text);
}

/* Adds a name to the one in work, which a semicolon would end. */
static void put_name(struct weft_folded *folded, struct weft_str name)
{
    for (size_t k = 0; k < name.n_bytes; k++)
        weft_json_byte(&folded->text, name.bytes[k] == ';' ? ':' : name.bytes[k]);
}

/* The name in work gets its number. */
static bool end_name(struct weft_folded *folded, uint32_t *id)
{
    const struct weft_str text = { folded->text.bytes, folded->text.n_bytes };
    return !folded->text.has_failed && weft_strtab_intern(folded->names, text, id, NULL) == WEFT_OK;
}

bool weft_folded_place(struct weft_folded *folded, struct weft_str path, uint64_t address,
                       uint32_t *id)
{
    char place[PLACE_BYTES];
    const size_t n_place = weft_symbols_place_name(path, address, place, sizeof place);
    return weft_folded_name(folded, (struct weft_str){ place, n_place }, id);
}

bool weft_folded_name(struct weft_folded *folded, struct weft_str name, uint32_t *id)
{
    weft_json_reset(&folded->text);
    put_name(folded, name);
    return end_name(folded, id);
}

static void put_inlined(struct weft_folded *folded, uint32_t module, uint64_t address)
{
    const char *names[MOST_INLINED];
    const size_t n_names =
        weft_symbols_inlined(folded->symbols, module, address, names, MOST_INLINED);
    folded->text.has_failed |= weft_symbols_nomem(folded->symbols);
    for (size_t k = 0; k < n_names; k++) {
        weft_json_byte(&folded->text, ';');
        put_name(folded, weft_symbols_plain(folded->symbols, names[k]));
        put_name(folded, WEFT_STR(" (inlined)"));
    }
}

/* ---- modules --------------------------------------------------------------------------------- */

/* A function of several modules is of none. */
static bool keep_part(struct weft_folded *folded, struct weft_str part, uint32_t module)
{
    uint32_t number;
    if (weft_strtab_intern(folded->parts, part, &number, NULL) != WEFT_OK)
        return false;
    if (number == folded->module_of.n) {
        uint32_t *added = WEFT_VEC_PUSH(&folded->module_of);
        if (added)
            *added = module;
        return added;
    }
    if (folded->module_of.items[number] != module)
        folded->module_of.items[number] = WEFT_FOLDED_NO_MODULE;
    return true;
}

/* Of a name in a module, "outer;inner (inlined)". */
static bool keep_parts(struct weft_folded *folded, struct weft_str name, struct weft_str path)
{
    uint32_t module;
    bool is_good = weft_strtab_intern(folded->names, weft_str_base(path), &module, NULL) == WEFT_OK;
    for (size_t at = 0, n; is_good && at < name.n_bytes; at += n + 1) {
        const char *end = memchr(name.bytes + at, ';', name.n_bytes - at);
        n = end ? (size_t)(end - name.bytes) - at : name.n_bytes - at;
        is_good = keep_part(folded, (struct weft_str){ name.bytes + at, n }, module);
    }
    return is_good;
}

bool weft_folded_next_function(const struct weft_folded *folded, size_t *at, struct weft_str *name,
                               struct weft_str *module)
{
    while (*at < folded->module_of.n && folded->module_of.items[*at] == WEFT_FOLDED_NO_MODULE)
        ++*at;
    if (*at == folded->module_of.n)
        return false;
    *name = weft_strtab_get(folded->parts, (uint32_t)*at);
    *module = weft_strtab_get(folded->names, folded->module_of.items[*at]);
    ++*at;
    return true;
}

bool weft_folded_in_module(struct weft_folded *folded, uint32_t module, struct weft_str path,
                           uint64_t file_off, unsigned back, uint32_t *id)
{
    if (module == WEFT_FOLDED_NO_MODULE)
        return weft_folded_place(folded, path, file_off, id);
    const uint64_t address = weft_symbols_address(folded->symbols, module, file_off);
    const struct weft_str name = weft_symbols_name(folded->symbols, module, address - back);
    if (name.n_bytes == 0)
        return weft_folded_place(folded, path, address, id);
    weft_json_reset(&folded->text);
    put_name(folded, name);
    put_inlined(folded, module, address - back);
    return end_name(folded, id) && keep_parts(folded, weft_folded_get(folded, *id), path);
}
