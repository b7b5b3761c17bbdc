/* SPDX-License-Identifier: MIT
 *
 * Files with debugging information, their units, and the abbreviations of those.
 */
#include "base/vec.h"
#include "symbols/cfi.h"
#include "symbols/dwarf.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>

enum {
    HEADER_BYTES = 48, /* the longest of a unit */
    SCAN_BYTES = 4096,
    MOST_CODES = 1 << 16,
    MOST_SPECS = 1 << 18,
    MOST_ABBREV_BYTES = 4 << 20,
    LINK_BYTES = 4096,
    BUILD_ID_BYTES = 64,
    MOST_READINGS = 64,
    LEAST_RANGE_BYTES = 2, /* of an entry, or of an item of a list */
};
#define MOST_READ_BYTES (UINT64_C(1) << 30)

/* ---- files ----------------------------------------------------------------------------------- */

static void open_sections(struct weft_dwarf *dwarf)
{
    static const char *const names[WEFT_DWARF_SECTIONS] = {
        ".debug_info",        ".debug_abbrev", ".debug_str",    ".debug_line_str",
        ".debug_str_offsets", ".debug_addr",   ".debug_ranges", ".debug_rnglists",
    };
    for (size_t k = 0; k < WEFT_DWARF_SECTIONS; k++)
        (void)weft_section_open(&dwarf->sections[k], &dwarf->file, names[k]);
}

static bool read_unit(struct weft_section *info, uint64_t off, struct weft_dwarf_unit *unit)
{
    struct weft_cursor cur;
    *unit = (struct weft_dwarf_unit){ .off = off };
    if (!weft_section_view(info, off, HEADER_BYTES, SCAN_BYTES, &cur))
        return false;
    uint64_t n_bytes = weft_cur_u32(&cur);
    unit->n_offset = n_bytes == UINT32_MAX ? 8 : 4;
    if (unit->n_offset == 8)
        n_bytes = weft_cur_u64(&cur);
    const uint64_t n_left = info->n_bytes - off - (uint64_t)(cur.at - cur.start);
    unit->end = off + (uint64_t)(cur.at - cur.start) + n_bytes;
    if (cur.fault || n_bytes == 0 || n_bytes > n_left)
        return false;
    unit->version = (uint8_t)weft_cur_u16(&cur);
    uint8_t type = DW_UT_compile;
    if (unit->version >= 5) {
        type = weft_cur_u8(&cur);
        unit->n_address = weft_cur_u8(&cur);
    }
    unit->abbrev_off = unit->n_offset == 8 ? weft_cur_u64(&cur) : weft_cur_u32(&cur);
    if (unit->version < 5)
        unit->n_address = weft_cur_u8(&cur);
    if (type == DW_UT_skeleton || type == DW_UT_split_compile)
        (void)weft_cur_u64(&cur);
    if (type == DW_UT_type || type == DW_UT_split_type)
        (void)weft_cur_take(&cur, 8 + (size_t)unit->n_offset);
    unit->first = off + (uint64_t)(cur.at - cur.start);
    return !cur.fault && unit->first <= unit->end;
}

static bool is_read(const struct weft_dwarf_unit *unit)
{
    return unit->version >= 2 && unit->version <= 5 &&
           (unit->n_address == 8 || unit->n_address == 4);
}

static bool read_units(struct weft_dwarf *dwarf)
{
    struct weft_section *info = &dwarf->sections[WEFT_DWARF_INFO];
    struct weft_dwarf_unit unit;
    for (uint64_t off = 0; off < info->n_bytes && read_unit(info, off, &unit); off = unit.end) {
        if (!is_read(&unit))
            continue;
        struct weft_dwarf_unit *place = WEFT_VEC_PUSH(&dwarf->units);
        dwarf->is_nomem |= !place;
        if (!place)
            return false;
        *place = unit;
    }
    return dwarf->units.n > 0 && !info->is_nomem;
}

/* Entries and lists are read again and again, but what names are made of is found within limits. An
 * entry, or an item of a list, makes one range: more there are only if entries share a list, as no
 * compiler writes it. */
static void set_limits(struct weft_dwarf *dwarf)
{
    const struct weft_section *sections = dwarf->sections;
    const uint64_t n_ranges = sections[WEFT_DWARF_INFO].n_bytes +
                              sections[WEFT_DWARF_OLD_RANGES].n_bytes +
                              sections[WEFT_DWARF_RANGE_LISTS].n_bytes;
    const uint64_t n_bytes = n_ranges + sections[WEFT_DWARF_ABBREV].n_bytes;
    dwarf->most_ranges = n_ranges / LEAST_RANGE_BYTES;
    dwarf->most_read = n_bytes < UINT64_MAX / MOST_READINGS - MOST_READ_BYTES
                           ? n_bytes * MOST_READINGS + MOST_READ_BYTES
                           : UINT64_MAX;
}

struct weft_dwarf *weft_dwarf_of(const struct weft_elf_file *file, bool *is_nomem)
{
    struct weft_dwarf *dwarf = calloc(1, sizeof *dwarf);
    *is_nomem = !dwarf;
    if (!dwarf)
        return NULL;
    dwarf->file = *file;
    if (!weft_elf_file_is_scattered(file) && !weft_elf_file_is_big(file))
        open_sections(dwarf);
    set_limits(dwarf);
    if (dwarf->sections[WEFT_DWARF_INFO].n_bytes && dwarf->sections[WEFT_DWARF_ABBREV].n_bytes &&
        read_units(dwarf))
        return dwarf;
    *is_nomem = weft_dwarf_nomem(dwarf);
    weft_dwarf_free(dwarf);
    return NULL;
}

static struct weft_dwarf *open_file(const char *path, bool *is_nomem)
{
    struct weft_elf_file file;
    *is_nomem = false;
    if (!weft_elf_file_open(path, &file))
        return NULL;
    struct weft_dwarf *dwarf = weft_dwarf_of(&file, is_nomem);
    if (dwarf)
        dwarf->owns_file = true;
    else
        weft_elf_file_close(&file);
    return dwarf;
}

/* .gnu_debugaltlink: the path of a file that several share, and its build id. */
static void open_alt(struct weft_dwarf *dwarf, const char *path)
{
    struct weft_section link = { 0 };
    char bytes[LINK_BYTES + BUILD_ID_BYTES], other[PATH_MAX];
    const bool has_link = weft_section_open(&link, &dwarf->file, ".gnu_debugaltlink");
    const size_t n = (size_t)link.n_bytes;
    const bool is_good = has_link && n < sizeof bytes && weft_section_copy(&link, 0, bytes, n);
    weft_section_fini(&link);
    const char *end = is_good ? memchr(bytes, 0, n) : NULL;
    if (!end)
        return;
    const char *slash = strrchr(path, '/');
    const int n_folder = bytes[0] == '/' || !slash ? 0 : (int)(slash + 1 - path);
    if (snprintf(other, sizeof other, "%.*s%s", n_folder, path, bytes) >= PATH_MAX)
        return;
    const struct weft_str id = { end + 1, n - (size_t)(end + 1 - bytes) };
    dwarf->alt = open_file(other, &dwarf->is_nomem);
    if (dwarf->alt && !weft_str_equal(weft_elf_file_build_id(&dwarf->alt->file), id)) {
        weft_dwarf_free(dwarf->alt);
        dwarf->alt = NULL;
    }
}

struct weft_dwarf *weft_dwarf_open(const char *path, bool *is_nomem)
{
    struct weft_dwarf *dwarf = open_file(path, is_nomem);
    if (dwarf)
        open_alt(dwarf, path);
    return dwarf;
}

bool weft_dwarf_nomem(const struct weft_dwarf *dwarf)
{
    bool is_nomem = dwarf->is_nomem || (dwarf->alt && weft_dwarf_nomem(dwarf->alt));
    for (size_t k = 0; k < WEFT_DWARF_SECTIONS; k++)
        is_nomem |= dwarf->sections[k].is_nomem;
    return is_nomem;
}

void weft_dwarf_free(struct weft_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t k = 0; k < WEFT_DWARF_SECTIONS; k++)
        weft_section_fini(&dwarf->sections[k]);
    for (size_t k = 0; k < WEFT_DWARF_HELD_ABBREVS; k++) {
        WEFT_VEC_FINI(&dwarf->abbrevs[k].codes);
        WEFT_VEC_FINI(&dwarf->abbrevs[k].specs);
    }
    WEFT_VEC_FINI(&dwarf->units);
    WEFT_VEC_FINI(&dwarf->text);
    if (dwarf->owns_file)
        weft_elf_file_close(&dwarf->file);
    weft_dwarf_free(dwarf->alt);
    free(dwarf);
}

size_t weft_dwarf_n_units(const struct weft_dwarf *dwarf)
{
    return dwarf->units.n;
}

/* ---- abbreviations --------------------------------------------------------------------------- */

/* False at the end of the specifications, or without memory. */
static bool read_spec(struct weft_dwarf_abbrevs *abbrevs, struct weft_cursor *cur, bool *is_nomem)
{
    const uint64_t name = weft_cfi_uleb(cur);
    const uint64_t form = weft_cfi_uleb(cur);
    const int64_t number = form == DW_FORM_implicit_const ? weft_cfi_sleb(cur) : 0;
    if (cur->fault || (name == 0 && form == 0))
        return false;
    const bool fits = abbrevs->specs.n < MOST_SPECS && form <= UINT16_MAX;
    struct weft_dwarf_spec *spec = fits ? WEFT_VEC_PUSH(&abbrevs->specs) : NULL;
    *is_nomem |= fits && !spec;
    cur->fault |= !spec;
    if (spec)
        *spec = (struct weft_dwarf_spec){ .name = name <= UINT16_MAX ? (uint16_t)name : 0,
                                          .form = (uint16_t)form,
                                          .number = number };
    return spec != NULL;
}

static int by_code(const void *a_void, const void *b_void)
{
    const struct weft_dwarf_abbrev *a = a_void;
    const struct weft_dwarf_abbrev *b = b_void;
    if (a->code != b->code)
        return a->code < b->code ? -1 : 1;
    return (a->specs_at > b->specs_at) - (a->specs_at < b->specs_at);
}

static bool read_abbrevs(struct weft_dwarf_abbrevs *abbrevs, struct weft_cursor *cur,
                         bool *is_nomem)
{
    uint64_t code;
    bool is_sorted = true;
    while ((code = weft_cfi_uleb(cur)) != 0) {
        const uint64_t tag = weft_cfi_uleb(cur);
        const bool has_inner = weft_cur_u8(cur) != 0;
        const uint32_t specs_at = (uint32_t)abbrevs->specs.n;
        while (read_spec(abbrevs, cur, is_nomem))
            ;
        if (cur->fault || abbrevs->codes.n >= MOST_CODES)
            return false;
        const size_t n = abbrevs->codes.n;
        is_sorted = is_sorted && (n == 0 || abbrevs->codes.items[n - 1].code < code);
        struct weft_dwarf_abbrev *abbrev = WEFT_VEC_PUSH(&abbrevs->codes);
        *is_nomem |= !abbrev;
        if (!abbrev)
            return false;
        *abbrev = (struct weft_dwarf_abbrev){ .code = code,
                                              .specs_at = specs_at,
                                              .n_specs = (uint32_t)abbrevs->specs.n - specs_at,
                                              .tag = tag <= UINT16_MAX ? (uint16_t)tag : UINT16_MAX,
                                              .has_inner = has_inner };
    }
    if (!is_sorted)
        qsort(abbrevs->codes.items, abbrevs->codes.n, sizeof *abbrevs->codes.items, by_code);
    return !cur->fault;
}

/* The table at an offset: units often share one. NULL: damage, or no memory. */
static const struct weft_dwarf_abbrevs *abbrevs_at(struct weft_dwarf *dwarf, uint64_t off)
{
    struct weft_dwarf_abbrevs *place = &dwarf->abbrevs[0];
    struct weft_cursor cur;
    for (size_t k = 0; k < WEFT_DWARF_HELD_ABBREVS; k++) {
        struct weft_dwarf_abbrevs *held = &dwarf->abbrevs[k];
        if (held->is_used && held->off == off) {
            held->last_used = ++dwarf->n_used;
            return held;
        }
        if (held->last_used < place->last_used)
            place = held;
    }
    place->is_used = false;
    place->codes.n = place->specs.n = 0;
    dwarf->n_read += WEFT_DWARF_JUMP_COST;
    struct weft_section *section = &dwarf->sections[WEFT_DWARF_ABBREV];
    const uint64_t n_left = off < section->n_bytes ? section->n_bytes - off : 0;
    /* A table says nowhere how long it is: more is looked at as long as that may be what is wrong.
     */
    for (size_t n = SCAN_BYTES; !place->is_used; n *= 8) {
        place->codes.n = place->specs.n = 0;
        if (dwarf->n_read > dwarf->most_read || !weft_section_view(section, off, n, n, &cur))
            return NULL;
        place->is_used = read_abbrevs(place, &cur, &dwarf->is_nomem);
        dwarf->n_read += (uint64_t)(cur.at - cur.start);
        if (!place->is_used && (n >= n_left || n >= MOST_ABBREV_BYTES))
            return NULL;
    }
    place->off = off;
    place->last_used = ++dwarf->n_used;
    return place;
}

const struct weft_dwarf_abbrev *weft_dwarf_abbrev(struct weft_dwarf *dwarf,
                                                  const struct weft_dwarf_unit *unit, uint64_t code,
                                                  const struct weft_dwarf_spec **specs)
{
    const struct weft_dwarf_abbrevs *abbrevs = abbrevs_at(dwarf, unit->abbrev_off);
    if (!abbrevs)
        return NULL;
    const struct weft_dwarf_abbrev *items = abbrevs->codes.items;
    const size_t n = abbrevs->codes.n;
    size_t low = 0, high = n;
    *specs = abbrevs->specs.items;
    if (code - 1 < n && items[code - 1].code == code) /* they are mostly 1, 2, 3 ... */
        return &items[code - 1];
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && items[low].code == code ? &items[low] : NULL;
}
