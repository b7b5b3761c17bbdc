/* SPDX-License-Identifier: MIT
 *
 * Reads symbol tables into sorted arrays. Of several symbols at one address the first function of
 * the file is taken; a symbol without a size ends where the next one starts. All texts are views of
 * the mapped files.
 */
#include "ingest/uftrace/symbols.h"

#include "base/vec.h"
#include "ingest/uftrace/text.h"

#include <stdlib.h>

/* The last symbol of a table without sizes and without an end mark reaches this far. */
enum { LAST_SYMBOL_BYTES = 4096 };

static struct weft_str text_of(const struct weft_mapped *file)
{
    return (struct weft_str){ .bytes = (const char *)file->bytes, .n_bytes = file->n_bytes };
}

struct weft_str weft_uft_path_name(const struct weft_mapped *file)
{
    struct weft_str rest = text_of(file);
    struct weft_str line;
    while (weft_uft_line(&rest, &line) && line.n_bytes && line.bytes[0] == '#')
        if (weft_uft_take(&line, "# path name: "))
            return line;
    return (struct weft_str){ 0 };
}

/* ---- symbols ----------------------------------------------------------------------------------
 */

/* Types of nm: text, weak, PLT entries, and the unknown that mark the end of a section. */
static bool is_function_type(char type)
{
    return type && strchr("TtWwPKki", type) != NULL;
}

static bool parse_symbol(struct weft_str line, struct weft_uft_symbol *symbol)
{
    struct weft_str word;
    uint64_t n_bytes;
    *symbol = (struct weft_uft_symbol){ 0 };
    if (!weft_uft_word(&line, &word) || !weft_uft_hex(word, &symbol->address) ||
        !weft_uft_word(&line, &word))
        return false;
    if (word.n_bytes == 8 && weft_uft_hex(word, &n_bytes)) {
        symbol->end = symbol->address + n_bytes;
        if (symbol->end < symbol->address || !weft_uft_word(&line, &word))
            return false;
    }
    if (word.n_bytes != 1 || line.n_bytes < 2)
        return false;
    symbol->is_function = is_function_type(word.bytes[0]);
    symbol->name = (struct weft_str){ .bytes = line.bytes + 1, .n_bytes = line.n_bytes - 1 };
    return true;
}

static int compare_symbols(const void *a_void, const void *b_void)
{
    const struct weft_uft_symbol *a = a_void;
    const struct weft_uft_symbol *b = b_void;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->name.bytes > b->name.bytes) - (a->name.bytes < b->name.bytes);
}

/* Sorts, and lets each symbol without a size end where another begins. */
static void settle(struct weft_uft_module *module)
{
    struct weft_uft_symbol *items = module->symbols.items;
    size_t n = module->symbols.n;
    bool is_sorted = true;
    for (size_t k = 1; k < n; k++)
        is_sorted &= items[k - 1].address < items[k].address;
    if (!is_sorted && n)
        qsort(items, n, sizeof *items, compare_symbols);
    uint64_t next = UINT64_MAX;
    for (size_t k = n; k-- > 0;) {
        if (k + 1 < n && items[k + 1].address > items[k].address)
            next = items[k + 1].address;
        if (items[k].end)
            continue;
        items[k].end = next;
        if (next == UINT64_MAX && items[k].address < UINT64_MAX - LAST_SYMBOL_BYTES)
            items[k].end = items[k].address + LAST_SYMBOL_BYTES;
    }
}

enum weft_code weft_uft_symbols_read(const struct weft_mapped *file, struct weft_uft_module *module,
                                     struct weft_err *err)
{
    struct weft_str rest = text_of(file);
    struct weft_str line;
    module->path = weft_uft_path_name(file);
    while (weft_uft_line(&rest, &line)) {
        struct weft_uft_symbol symbol;
        if (!parse_symbol(line, &symbol))
            continue;
        struct weft_uft_symbol *slot = WEFT_VEC_PUSH(&module->symbols);
        if (!slot)
            return weft_no_memory(err, "symbols");
        *slot = symbol;
    }
    settle(module);
    return WEFT_OK;
}

uint32_t weft_uft_symbol_at(const struct weft_uft_module *module, uint64_t address)
{
    size_t low = 0;
    size_t high = module->symbols.n;
    while (low < high) { /* the first behind */
        size_t middle = low + (high - low) / 2;
        if (module->symbols.items[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return WEFT_UFT_NO_SYMBOL;
    uint64_t begin = module->symbols.items[low - 1].address;
    while (low && module->symbols.items[low - 1].address == begin)
        low--; /* of several at one place, the first function of the file */
    for (; low < module->symbols.n && module->symbols.items[low].address == begin; low++)
        if (module->symbols.items[low].is_function && address < module->symbols.items[low].end)
            return (uint32_t)low;
    return WEFT_UFT_NO_SYMBOL;
}

/* ---- debug information ------------------------------------------------------------------------
 */

static int compare_debug(const void *a_void, const void *b_void)
{
    const struct weft_uft_debug *a = a_void;
    const struct weft_uft_debug *b = b_void;
    return (a->address > b->address) - (a->address < b->address);
}

enum weft_code weft_uft_debug_read(const struct weft_mapped *file, struct weft_uft_module *module,
                                   struct weft_err *err)
{
    struct weft_str rest = text_of(file);
    struct weft_str line;
    struct weft_uft_debug *debug = NULL;
    while (weft_uft_line(&rest, &line)) {
        if (weft_uft_take(&line, "F: ")) {
            struct weft_str word;
            uint64_t address;
            debug = NULL;
            if (!weft_uft_word(&line, &word) || !weft_uft_hex(word, &address))
                continue;
            debug = WEFT_VEC_PUSH(&module->debug);
            if (!debug)
                return weft_no_memory(err, "debug information");
            debug->address = address;
        } else if (debug && weft_uft_take(&line, "A: ")) {
            debug->args = line;
        } else if (debug && weft_uft_take(&line, "R: ")) {
            debug->rets = line;
        }
    }
    if (module->debug.n)
        qsort(module->debug.items, module->debug.n, sizeof *module->debug.items, compare_debug);
    return WEFT_OK;
}

const struct weft_uft_debug *weft_uft_debug_at(const struct weft_uft_module *module,
                                               uint64_t address)
{
    const struct weft_uft_debug key = { .address = address };
    if (module->debug.n == 0)
        return NULL;
    return bsearch(&key, module->debug.items, module->debug.n, sizeof key, compare_debug);
}

void weft_uft_module_fini(struct weft_uft_module *module)
{
    WEFT_VEC_FINI(&module->symbols);
    WEFT_VEC_FINI(&module->debug);
}
