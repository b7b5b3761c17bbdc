/* SPDX-License-Identifier: MIT
 *
 * Where the instructions of an entry lie: from one address to another, or in a list of ranges.
 */
#include "symbols/cfi.h"
#include "symbols/dwarf.h"

#include <dwarf.h>

/* A number that is read by itself takes as long as so many bytes of a list. */
enum { MOST_RANGES = 1 << 16, ITEM_BYTES = 32, AHEAD_BYTES = 512, NUMBER_COST = 32 };

bool weft_dwarf_number(const struct weft_section *section, uint64_t at, unsigned n_bytes,
                       uint64_t *value)
{
    uint8_t bytes[8] = { 0 };
    if (!weft_section_copy(section, at, bytes, n_bytes))
        return false;
    *value = weft_load_u64(bytes);
    return true;
}

/* An address of .debug_addr. */
static bool address_at(const struct weft_dwarf_entry *entry, uint64_t index, uint64_t *address)
{
    const unsigned n_address = entry->unit->n_address;
    weft_dwarf_bases(entry->dwarf, entry->unit);
    entry->dwarf->n_read += NUMBER_COST;
    return index <= UINT32_MAX &&
           weft_dwarf_number(&entry->dwarf->sections[WEFT_DWARF_ADDRESSES],
                             entry->unit->addr_base + index * n_address, n_address, address);
}

bool weft_dwarf_address(const struct weft_dwarf_entry *entry, struct weft_dwarf_value value,
                        uint64_t *address)
{
    if (value.kind == WEFT_DWARF_ADDRESS_INDEX)
        return address_at(entry, value.value, address);
    *address = value.value;
    return value.kind == WEFT_DWARF_ADDRESS;
}

/* A list that is being read. */
struct listing {
    const struct weft_dwarf_entry *entry;
    struct weft_section *section;
    uint64_t at, base;
    bool (*see)(void *context, uint64_t begin, uint64_t end);
    void *context;
    bool is_over, goes_on; /* the list has ended; `see` wants more */
};

static void hand_out(struct listing *listing, uint64_t begin, uint64_t end)
{
    if (begin < end)
        listing->goes_on = listing->see(listing->context, begin, end);
}

static uint64_t take_address(const struct listing *listing, struct weft_cursor *cur)
{
    return listing->entry->unit->n_address == 8 ? weft_cur_u64(cur) : weft_cur_u32(cur);
}

/* Of .debug_ranges: pairs that count from a base; a pair of the highest address sets that. */
static void old_item(struct listing *listing, struct weft_cursor *cur)
{
    const uint64_t highest = listing->entry->unit->n_address == 8 ? UINT64_MAX : UINT32_MAX;
    const uint64_t begin = take_address(listing, cur);
    const uint64_t end = take_address(listing, cur);
    listing->is_over = cur->fault || (begin == 0 && end == 0);
    if (listing->is_over)
        return;
    if (begin == highest)
        listing->base = end;
    else
        hand_out(listing, listing->base + begin, listing->base + end);
}

static uint64_t take_indexed(struct listing *listing, struct weft_cursor *cur)
{
    uint64_t address = 0;
    if (!address_at(listing->entry, weft_cfi_uleb(cur), &address))
        cur->fault = true;
    return address;
}

/* Of .debug_rnglists. */
static void new_item(struct listing *listing, struct weft_cursor *cur)
{
    uint64_t begin = 0, end = 0;
    switch (weft_cur_u8(cur)) {
    case DW_RLE_base_addressx:
        listing->base = take_indexed(listing, cur);
        break;
    case DW_RLE_startx_endx:
        begin = take_indexed(listing, cur);
        end = take_indexed(listing, cur);
        break;
    case DW_RLE_startx_length:
        begin = take_indexed(listing, cur);
        end = begin + weft_cfi_uleb(cur);
        break;
    case DW_RLE_offset_pair:
        begin = listing->base + weft_cfi_uleb(cur);
        end = listing->base + weft_cfi_uleb(cur);
        break;
    case DW_RLE_base_address:
        listing->base = take_address(listing, cur);
        break;
    case DW_RLE_start_end:
        begin = take_address(listing, cur);
        end = take_address(listing, cur);
        break;
    case DW_RLE_start_length:
        begin = take_address(listing, cur);
        end = begin + weft_cfi_uleb(cur);
        break;
    default:
        listing->is_over = true;
        break;
    }
    listing->is_over |= cur->fault;
    if (!listing->is_over)
        hand_out(listing, begin, end);
}

static bool read_list(struct listing *listing, bool is_new)
{
    struct weft_dwarf *dwarf = listing->entry->dwarf;
    for (unsigned k = 0; k < MOST_RANGES && !listing->is_over && listing->goes_on; k++) {
        struct weft_cursor cur;
        if (dwarf->n_read > dwarf->most_read ||
            !weft_section_view(listing->section, listing->at, ITEM_BYTES, AHEAD_BYTES, &cur))
            break;
        if (is_new)
            new_item(listing, &cur);
        else
            old_item(listing, &cur);
        dwarf->n_read += (uint64_t)(cur.at - cur.start);
        listing->at = weft_cur_offset(&cur);
    }
    return listing->goes_on;
}

/* Where the list is. */
static bool find_list(const struct weft_dwarf_entry *entry, struct weft_section *section,
                      uint64_t *at)
{
    const struct weft_dwarf_unit *unit = entry->unit;
    *at = entry->ranges.value;
    if (entry->ranges.kind == WEFT_DWARF_NUMBER)
        return true;
    weft_dwarf_bases(entry->dwarf, unit);
    entry->dwarf->n_read += NUMBER_COST;
    if (entry->ranges.kind != WEFT_DWARF_LIST_INDEX || entry->ranges.value > UINT32_MAX ||
        !weft_dwarf_number(section, unit->list_base + entry->ranges.value * unit->n_offset,
                           unit->n_offset, at))
        return false;
    *at += unit->list_base;
    return true;
}

bool weft_dwarf_ranges(const struct weft_dwarf_entry *entry,
                       bool (*see)(void *context, uint64_t begin, uint64_t end), void *context)
{
    const bool is_new = entry->unit->version >= 5;
    struct listing listing = { .entry = entry, .see = see, .context = context, .goes_on = true };
    uint64_t begin, end;
    if (entry->ranges.kind == WEFT_DWARF_NONE) {
        if (!weft_dwarf_address(entry, entry->low, &begin))
            return true;
        if (entry->high.kind == WEFT_DWARF_NUMBER)
            end = begin + entry->high.value;
        else if (!weft_dwarf_address(entry, entry->high, &end))
            return true;
        hand_out(&listing, begin, end);
        return listing.goes_on;
    }
    listing.section =
        &entry->dwarf->sections[is_new ? WEFT_DWARF_RANGE_LISTS : WEFT_DWARF_OLD_RANGES];
    weft_dwarf_bases(entry->dwarf, entry->unit);
    listing.base = entry->unit->low;
    return !find_list(entry, listing.section, &listing.at) || read_list(&listing, is_new);
}

/* ---- holding --------------------------------------------------------------------------------- */

struct holding {
    uint64_t address;
    bool is_held;
};

static bool see_range(void *context, uint64_t begin, uint64_t end)
{
    struct holding *holding = context;
    holding->is_held = begin <= holding->address && holding->address < end;
    return !holding->is_held;
}

bool weft_dwarf_holds(const struct weft_dwarf_entry *entry, uint64_t address)
{
    struct holding holding = { .address = address };
    (void)weft_dwarf_ranges(entry, see_range, &holding);
    return holding.is_held;
}
