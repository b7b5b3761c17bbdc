/* SPDX-License-Identifier: MIT
 *
 * Inlined functions and names from debugging information of real programs against libdw: at random
 * addresses, and at both ends of each function, the same names.
 */
#include "base/vec.h"
#include "symbols/dwarf.h"
#include "symbols/inlines.h"
#include "tap.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <unistd.h>

/* ---- by libdw ----------------------------------------------------------------------------------
 */

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

struct twin_inlines {
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

static void twin_free(struct twin_inlines *inlines);

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

/* The last one that begins there or before, if it holds the address, by looking at each; NULL:
 * none. */
static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
    const struct range *last = NULL;
    for (size_t k = 0; k < ranges->n; k++) {
        const struct range *range = &ranges->items[k];
        const bool is_later = !last || range->begin > last->begin ||
                              (range->begin == last->begin && range->off > last->off);
        last = range->begin <= address && is_later ? range : last;
    }
    return last && address < last->end ? last : NULL;
}

/* ---- units ----------------------------------------------------------------------------------- */

static bool index_units(struct twin_inlines *inlines)
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
    return true;
}

static struct twin_inlines *twin_open(const char *path)
{
    struct twin_inlines *inlines = calloc(1, sizeof *inlines);
    if (!inlines)
        return NULL;
    if (weft_elf_file_open(path, &inlines->file))
        inlines->dwarf = dwarf_begin_elf(inlines->file.elf, DWARF_C_READ, NULL);
    if (inlines->dwarf && index_units(inlines) && inlines->units.n > 0)
        return inlines;
    twin_free(inlines);
    return NULL;
}

static void twin_free(struct twin_inlines *inlines)
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
static bool find_function(struct twin_inlines *inlines, uint64_t address, Dwarf_Die *function)
{
    const struct range *found = find_range(&inlines->units, address);
    if (!found)
        return false;
    struct unit *unit = &inlines->read.items[found->off];
    Dwarf_Die die;
    if (!unit->is_read && dwarf_offdie(inlines->dwarf, inlines->unit_offs.items[found->off], &die))
        (void)dwarf_getfuncs(&die, keep_function, unit, 0);
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

static size_t twin_at(struct twin_inlines *inlines, uint64_t address, const char **names,
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

/* ---- comparing ---------------------------------------------------------------------------------
 */

enum { MOST_NAMES = 64, RANDOM_PLACES = 8000, MOST_SHOWN = 5 };

struct comparing {
    struct twin_inlines *twin;
    struct weft_inlines *inlines;
    struct weft_dwarf *dwarf;
    uint64_t n_places, n_names, n_wrong;
};

static void compare_at(struct comparing *comparing, uint64_t address)
{
    const char *want[MOST_NAMES], *got[MOST_NAMES];
    const size_t n_want = twin_at(comparing->twin, address, want, MOST_NAMES);
    const size_t n_got = weft_inlines_at(comparing->inlines, address, got, MOST_NAMES);
    bool is_same = n_want == n_got;
    for (size_t k = 0; is_same && k < n_want; k++)
        is_same = strcmp(want[k], got[k]) == 0;
    comparing->n_places++;
    comparing->n_names += n_want;
    if (!is_same && comparing->n_wrong++ < MOST_SHOWN)
        tap_note("at 0x%" PRIx64 ": %zu names, wanted %zu: %s, wanted %s", address, n_got, n_want,
                 n_got ? got[n_got - 1] : "-", n_want ? want[n_want - 1] : "-");
}

/* Names and ends of functions, as libdw has them, are those that are read here. */
static int compare_function(Dwarf_Die *die, void *context)
{
    struct comparing *comparing = context;
    struct weft_dwarf_entry entry;
    Dwarf_Addr low, high;
    if (dwarf_lowpc(die, &low) != 0 || dwarf_highpc(die, &high) != 0 || high <= low)
        return DWARF_CB_OK;
    struct weft_dwarf *dwarf = comparing->dwarf;
    const char *want = name_of(die);
    const bool is_read = weft_dwarf_entry_at(dwarf, dwarf_dieoffset(die), &entry);
    const struct weft_str got = is_read ? weft_dwarf_name(&entry) : WEFT_STR("");
    if (!is_read || strcmp(got.n_bytes ? got.bytes : "??", want) != 0 ||
        !weft_dwarf_holds(&entry, low) || !weft_dwarf_holds(&entry, high - 1) ||
        weft_dwarf_holds(&entry, high)) {
        if (comparing->n_wrong++ < MOST_SHOWN)
            tap_note("function %s at 0x%" PRIx64, want, (uint64_t)low);
    }
    compare_at(comparing, low);
    compare_at(comparing, high - 1);
    return DWARF_CB_OK;
}

static void compare_units(struct comparing *comparing)
{
    for (size_t k = 0; k < comparing->twin->unit_offs.n; k++) {
        Dwarf_Die die;
        if (dwarf_offdie(comparing->twin->dwarf, comparing->twin->unit_offs.items[k], &die))
            (void)dwarf_getfuncs(&die, compare_function, comparing, 0);
    }
}

static void test_program(const char *path)
{
    bool is_nomem;
    struct comparing comparing = { .twin = twin_open(path),
                                   .inlines = weft_inlines_open(path, &is_nomem),
                                   .dwarf = weft_dwarf_open(path, &is_nomem) };
    uint64_t state = tap_seed(3);
    if (!comparing.twin || !comparing.inlines) {
        tap_ok(!comparing.twin == !comparing.inlines, "%s: %s", path,
               comparing.twin ? "only libdw reads it" : "it has no debugging information");
    } else {
        const struct ranges *units = &comparing.twin->units;
        compare_units(&comparing);
        for (unsigned k = 0; k < RANDOM_PLACES; k++) {
            const struct range *unit = &units->items[tap_random(&state) % units->n];
            compare_at(&comparing,
                       unit->begin + tap_random(&state) % (unit->end - unit->begin + 1));
        }
        tap_ok(comparing.n_wrong == 0,
               "%s: %" PRIu64 " places, %" PRIu64 " inlined there: %" PRIu64 " differ", path,
               comparing.n_places, comparing.n_names, comparing.n_wrong);
    }
    if (comparing.twin)
        twin_free(comparing.twin);
    weft_inlines_free(comparing.inlines);
    weft_dwarf_free(comparing.dwarf);
}

int main(int n_args, char **args)
{
    for (int k = 1; k < n_args; k++)
        test_program(args[k]);
    return tap_done();
}
