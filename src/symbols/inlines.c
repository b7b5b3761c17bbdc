/* SPDX-License-Identifier: MIT
 *
 * Inlined functions: which unit, which function, and which scopes within it hold an address.
 */
#include "symbols/inlines.h"

#include "base/vec.h"
#include "symbols/dwarf.h"

#include <dwarf.h>

/* Scopes within scopes: beyond that it is damage. */
enum { MOST_DEPTH = 128 };

/* Instructions from `begin` to `end` belong to the entry at `off`. */
struct range {
    uint64_t begin, end, off;
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
    struct weft_dwarf *dwarf;
    struct weft_strtab *names;
    struct ranges units; /* `off`: index in `read` */
    struct unit *read;   /* by unit */
    uint64_t n_ranges;   /* in all of them */
    bool is_nomem;       /* there was no memory for an answer */
};

/* ---- ranges ---------------------------------------------------------------------------------- */

struct adding {
    struct weft_inlines *inlines;
    struct ranges *ranges;
    uint64_t off;
    bool is_full; /* more than the file can have, or no memory */
};

static bool add_range(void *context, uint64_t begin, uint64_t end)
{
    struct adding *adding = context;
    struct weft_inlines *inlines = adding->inlines;
    const bool is_damage = inlines->n_ranges >= inlines->dwarf->most_ranges;
    struct range *place = is_damage ? NULL : WEFT_VEC_PUSH(adding->ranges);
    inlines->is_nomem |= !place && !is_damage;
    adding->is_full = !place;
    if (!place)
        return false;
    *place = (struct range){ .begin = begin, .end = end, .off = adding->off };
    inlines->n_ranges++;
    return true;
}

/* False: there is no room for more. */
static bool add_ranges(struct weft_inlines *inlines, struct ranges *ranges,
                       const struct weft_dwarf_entry *entry, uint64_t off)
{
    struct adding adding = { .inlines = inlines, .ranges = ranges, .off = off };
    (void)weft_dwarf_ranges(entry, add_range, &adding);
    return !adding.is_full;
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
    const size_t n_units = weft_dwarf_n_units(inlines->dwarf);
    inlines->read = calloc(n_units, sizeof *inlines->read);
    for (size_t k = 0; inlines->read && k < n_units; k++) {
        struct weft_dwarf_entry entry;
        if (weft_dwarf_unit_entry(inlines->dwarf, k, &entry) &&
            !add_ranges(inlines, &inlines->units, &entry, k))
            break;
    }
    sort_ranges(&inlines->units);
    return inlines->read && !inlines->is_nomem;
}

struct weft_inlines *weft_inlines_open(const char *path, bool *is_nomem)
{
    struct weft_inlines *inlines = calloc(1, sizeof *inlines);
    *is_nomem = !inlines;
    if (!inlines)
        return NULL;
    inlines->names = weft_strtab_new();
    inlines->dwarf = weft_dwarf_open(path, is_nomem);
    inlines->is_nomem |= !inlines->names || (inlines->dwarf && !index_units(inlines));
    if (inlines->dwarf && inlines->units.n > 0 && !weft_inlines_nomem(inlines))
        return inlines;
    *is_nomem |= weft_inlines_nomem(inlines);
    weft_inlines_free(inlines);
    return NULL;
}

bool weft_inlines_nomem(const struct weft_inlines *inlines)
{
    return inlines->is_nomem || (inlines->dwarf && weft_dwarf_nomem(inlines->dwarf));
}

void weft_inlines_free(struct weft_inlines *inlines)
{
    if (!inlines)
        return;
    const size_t n_units = inlines->read ? weft_dwarf_n_units(inlines->dwarf) : 0;
    for (size_t k = 0; k < n_units; k++)
        WEFT_VEC_FINI(&inlines->read[k].functions);
    free(inlines->read);
    WEFT_VEC_FINI(&inlines->units);
    weft_strtab_free(inlines->names);
    weft_dwarf_free(inlines->dwarf);
    free(inlines);
}

static void read_functions(struct weft_inlines *inlines, size_t index)
{
    struct unit *unit = &inlines->read[index];
    struct weft_dwarf_entry entry;
    bool has_entry = weft_dwarf_unit_entry(inlines->dwarf, index, &entry);
    for (; has_entry; has_entry = weft_dwarf_follow(&entry))
        if (entry.tag == DW_TAG_subprogram &&
            !add_ranges(inlines, &unit->functions, &entry, entry.off))
            break;
    sort_ranges(&unit->functions);
    unit->is_read = true;
}

/* The function whose instructions hold the address. */
static bool find_function(struct weft_inlines *inlines, uint64_t address,
                          struct weft_dwarf_entry *function)
{
    const struct range *found = find_range(&inlines->units, address);
    if (!found)
        return false;
    struct unit *unit = &inlines->read[found->off];
    if (!unit->is_read)
        read_functions(inlines, (size_t)found->off);
    found = find_range(&unit->functions, address);
    return found && weft_dwarf_entry_at(inlines->dwarf, found->off, function);
}

/* ---- scopes ---------------------------------------------------------------------------------- */

/* The part of `scope` that holds the address; false: none. */
static bool inner_scope(const struct weft_dwarf_entry *scope, uint64_t address,
                        struct weft_dwarf_entry *inner)
{
    bool has_inner = weft_dwarf_inner(scope, inner);
    for (; has_inner; has_inner = weft_dwarf_beside(inner))
        if ((inner->tag == DW_TAG_inlined_subroutine || inner->tag == DW_TAG_lexical_block) &&
            weft_dwarf_holds(inner, address))
            return true;
    return false;
}

/* A name that lives as long as the table; NULL without memory. */
static const char *name_of(struct weft_inlines *inlines, const struct weft_dwarf_entry *entry)
{
    const struct weft_str name = weft_dwarf_name(entry);
    uint32_t id;
    if (name.n_bytes == 0)
        return "??";
    const struct weft_str whole = { name.bytes, name.n_bytes + 1 }; /* with its NUL */
    return weft_strtab_intern(inlines->names, whole, &id, NULL) == WEFT_OK
               ? weft_strtab_get(inlines->names, id).bytes
               : NULL;
}

size_t weft_inlines_at(struct weft_inlines *inlines, uint64_t address, const char **names,
                       size_t n_most)
{
    size_t n_names = 0;
    struct weft_dwarf_entry scope, inner;
    if (!find_function(inlines, address, &scope))
        return 0;
    for (unsigned depth = 0; depth < MOST_DEPTH && n_names < n_most; depth++) {
        if (!inner_scope(&scope, address, &inner))
            break;
        if (inner.tag == DW_TAG_inlined_subroutine) {
            names[n_names] = name_of(inlines, &inner);
            inlines->is_nomem |= !names[n_names];
            if (!names[n_names])
                break;
            n_names++;
        }
        scope = inner;
    }
    return n_names;
}
