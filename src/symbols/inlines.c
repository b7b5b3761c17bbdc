/* SPDX-License-Identifier: MIT */
#include "symbols/inlines.h"

#include "base/vec.h"
#include "symbols/elf_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

/* Scopes within scopes, and ranges of one entry: beyond that it is damage. */
enum { MOST_DEPTH = 128, MOST_RANGES = 1 << 16 };

/* Instructions from `begin` to `end` belong to the entry at `off`. */
struct range {
    uint64_t begin, end;
    Dwarf_Off off;
};

struct ranges {
    struct range *items;
    size_t n, cap;
};

struct unit {
    struct ranges functions;
    bool is_read;
};

struct weft_inlines {
    struct weft_elf_file file;
    Dwarf *dwarf;
    struct ranges units; /* `off`: index in `read` */
    struct {
        struct unit *items;
        size_t n, cap;
    } read;
    struct {
        Dwarf_Off *items; /* of their entries */
        size_t n, cap;
    } unit_offs;
};

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool add_ranges(struct ranges *ranges, Dwarf_Die *die, Dwarf_Off off)
{
    Dwarf_Addr base, begin, end;
    ptrdiff_t at = 0;
    for (unsigned k = 0; k < MOST_RANGES; k++) {
        at = dwarf_ranges(die, at, &base, &begin, &end);
        if (at <= 0)
            break;
        struct range *place = begin < end ? WEFT_VEC_PUSH(ranges) : NULL;
        if (place)
            *place = (struct range){ .begin = begin, .end = end, .off = off };
        else if (begin < end)
            return false;
    }
    return true;
}

static int compare_ranges(const void *a_void, const void *b_void)
{
    const struct range *a = a_void;
    const struct range *b = b_void;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->off > b->off) - (a->off < b->off);
}

static void sort_ranges(struct ranges *ranges)
{
    if (ranges->n > 1)
        qsort(ranges->items, ranges->n, sizeof *ranges->items, compare_ranges);
}

/* NULL: none holds the address. */
static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
    size_t low = 0;
    size_t high = ranges->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && address < ranges->items[low - 1].end ? &ranges->items[low - 1] : NULL;
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool index_units(struct weft_inlines *inlines)
{
    Dwarf_Off off = 0;
    Dwarf_Off next_off;
    size_t n_header_bytes;
    while (dwarf_nextcu(inlines->dwarf, off, &next_off, &n_header_bytes, NULL, NULL, NULL) == 0 &&
           next_off > off) {
        Dwarf_Die die;
        Dwarf_Off *place = WEFT_VEC_PUSH(&inlines->unit_offs);
        if (!place || !WEFT_VEC_PUSH(&inlines->read))
            return false;
        *place = off + n_header_bytes;
        if (dwarf_offdie(inlines->dwarf, *place, &die) &&
            !add_ranges(&inlines->units, &die, inlines->unit_offs.n - 1))
            return false;
        off = next_off;
    }
    sort_ranges(&inlines->units);
    return true;
}

struct weft_inlines *weft_inlines_open(const char *path)
{
    struct weft_inlines *inlines = calloc(1, sizeof *inlines);
    if (!inlines)
        return NULL;
    if (weft_elf_file_open(path, &inlines->file))
        inlines->dwarf = dwarf_begin_elf(inlines->file.elf, DWARF_C_READ, NULL);
    if (inlines->dwarf && index_units(inlines) && inlines->units.n > 0)
        return inlines;
    weft_inlines_free(inlines);
    return NULL;
}

void weft_inlines_free(struct weft_inlines *inlines)
{
    if (!inlines)
        return;
    for (size_t k = 0; k < inlines->read.n; k++)
        WEFT_VEC_FINI(&inlines->read.items[k].functions);
    WEFT_VEC_FINI(&inlines->read);
    WEFT_VEC_FINI(&inlines->units);
    WEFT_VEC_FINI(&inlines->unit_offs);
    if (inlines->dwarf)
        (void)dwarf_end(inlines->dwarf);
    weft_elf_file_close(&inlines->file);
    free(inlines);
}

static int keep_function(Dwarf_Die *die, void *context)
{
    struct unit *unit = context;
    return add_ranges(&unit->functions, die, dwarf_dieoffset(die)) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* The function whose instructions hold the address. */
static bool find_function(struct weft_inlines *inlines, uint64_t address, Dwarf_Die *function)
{
    const struct range *found = find_range(&inlines->units, address);
    if (!found)
        return false;
    struct unit *unit = &inlines->read.items[found->off];
    Dwarf_Die die;
    if (!unit->is_read && dwarf_offdie(inlines->dwarf, inlines->unit_offs.items[found->off], &die))
        (void)dwarf_getfuncs(&die, keep_function, unit, 0);
    if (!unit->is_read)
        sort_ranges(&unit->functions);
    unit->is_read = true;
    found = find_range(&unit->functions, address);
    return found && dwarf_offdie(inlines->dwarf, found->off, function);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* The part of `scope` that holds the address; false: none. */
static bool inner_scope(Dwarf_Die *scope, uint64_t address, Dwarf_Die *inner)
{
    if (dwarf_child(scope, inner) != 0)
        return false;
    do {
        const int tag = dwarf_tag(inner);
        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(inner, address) == 1)
            return true;
    } while (dwarf_siblingof(inner, inner) == 0);
    return false;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = NULL;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        name = dwarf_formstring(&attribute);
    if (!name)
        name = dwarf_diename(die);
    return name ? name : "??";
}

size_t weft_inlines_at(struct weft_inlines *inlines, uint64_t address, const char **names,
                       size_t n_most)
{
    size_t n_names = 0;
    Dwarf_Die scope;
    if (!find_function(inlines, address, &scope))
        return 0;
    for (unsigned depth = 0; depth < MOST_DEPTH && n_names < n_most; depth++) {
        Dwarf_Die inner;
        if (!inner_scope(&scope, address, &inner))
            break;
        if (dwarf_tag(&inner) == DW_TAG_inlined_subroutine)
            names[n_names++] = name_of(&inner);
        scope = inner;
    }
    return n_names;
}
