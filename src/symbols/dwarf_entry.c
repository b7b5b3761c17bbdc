/* SPDX-License-Identifier: MIT
 *
 * Entries of debugging information: their values by form, their order, and their names.
 */
#include "base/vec.h"
#include "symbols/cfi.h"
#include "symbols/dwarf.h"

#include <dwarf.h>

enum {
    ENTRY_BYTES = 512, /* looked at for an entry, unless that is longer */
    LONGEST_ENTRY = 64 << 10,
    AHEAD_BYTES = 16 << 10, /* entries are mostly read one after the other */
    MOST_STEPS = 16,        /* from an entry to what it is made of */
    NAME_BYTES = 256,       /* looked at at once */
    LONGEST_NAME = 64 << 10,
    NAME_PART = 8, /* a byte of a name takes as long as this part of one of an entry */
};

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t take_number(struct weft_cursor *cur, unsigned n_bytes)
{
    uint64_t value = 0;
    const uint8_t *bytes = weft_cur_take(cur, n_bytes);
    for (unsigned k = 0; bytes && k < n_bytes; k++)
        value |= (uint64_t)bytes[k] << 8 * k;
    return value;
}

static void skip(struct weft_cursor *cur, uint64_t n_bytes)
{
    if (n_bytes > weft_cur_left(cur))
        cur->fault = true;
    else
        (void)weft_cur_take(cur, (size_t)n_bytes);
}

static struct weft_dwarf_value take_text(struct weft_cursor *cur)
{
    const uint64_t at = weft_cur_offset(cur);
    while (weft_cur_u8(cur) != 0)
        ;
    return (struct weft_dwarf_value){ WEFT_DWARF_TEXT, at };
}

/* Forms whose bytes are a number of known length. 0: it is another one. */
static unsigned fixed_bytes(uint16_t form, const struct weft_dwarf_unit *unit,
                            enum weft_dwarf_kind *kind)
{
    switch (form) {
    case DW_FORM_addr:
        *kind = WEFT_DWARF_ADDRESS;
        return unit->n_address;
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
        *kind = WEFT_DWARF_STR_INDEX;
        return 1U + form - DW_FORM_strx1;
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
        *kind = WEFT_DWARF_ADDRESS_INDEX;
        return 1U + form - DW_FORM_addrx1;
    case DW_FORM_strp:
        *kind = WEFT_DWARF_STR;
        return unit->n_offset;
    case DW_FORM_line_strp:
        *kind = WEFT_DWARF_LINE_STR;
        return unit->n_offset;
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_strp_sup:
        *kind = WEFT_DWARF_ALT_STR;
        return unit->n_offset;
    case DW_FORM_GNU_ref_alt:
        *kind = WEFT_DWARF_ALT_REF;
        return unit->n_offset;
    case DW_FORM_ref_sup4:
        *kind = WEFT_DWARF_ALT_REF;
        return 4;
    case DW_FORM_ref_sup8:
        *kind = WEFT_DWARF_ALT_REF;
        return 8;
    case DW_FORM_ref_addr:
        *kind = WEFT_DWARF_REF;
        return unit->version == 2 ? unit->n_address : unit->n_offset;
    case DW_FORM_sec_offset:
        return unit->n_offset;
    case DW_FORM_data1:
    case DW_FORM_flag:
        return 1;
    case DW_FORM_data2:
        return 2;
    case DW_FORM_data4:
        return 4;
    case DW_FORM_data8:
        return 8;
    default:
        return 0;
    }
}

/* An entry of the same unit. */
static struct weft_dwarf_value take_ref(struct weft_cursor *cur, uint16_t form,
                                        const struct weft_dwarf_unit *unit)
{
    const uint64_t by = form == DW_FORM_ref_udata ? weft_cfi_uleb(cur)
                                                  : take_number(cur, 1U << (form - DW_FORM_ref1));
    if (by >= unit->end - unit->off)
        return (struct weft_dwarf_value){ 0 };
    return (struct weft_dwarf_value){ WEFT_DWARF_REF, unit->off + by };
}

/* An expression: that of an address, or of an offset in a structure; others are of no use. */
static struct weft_dwarf_value take_location(struct weft_cursor *cur,
                                             const struct weft_dwarf_unit *unit, uint64_t n_bytes)
{
    struct weft_dwarf_value value = { 0 };
    if (n_bytes == 0 || n_bytes > weft_cur_left(cur)) {
        skip(cur, n_bytes);
        return value;
    }
    const uint64_t end = weft_cur_offset(cur) + n_bytes;
    const unsigned operation = weft_cur_u8(cur);
    if (operation == DW_OP_addr && n_bytes == 1U + unit->n_address)
        value = (struct weft_dwarf_value){ WEFT_DWARF_ADDRESS, take_number(cur, unit->n_address) };
    else if (operation == DW_OP_addrx && n_bytes > 1)
        value = (struct weft_dwarf_value){ WEFT_DWARF_ADDRESS_INDEX, weft_cfi_uleb(cur) };
    else if (operation == DW_OP_plus_uconst && n_bytes > 1)
        value = (struct weft_dwarf_value){ WEFT_DWARF_NUMBER, weft_cfi_uleb(cur) };
    const uint64_t at = weft_cur_offset(cur);
    if (at > end)
        cur->fault = true;
    else
        skip(cur, end - at);
    return cur->fault || at != end ? (struct weft_dwarf_value){ 0 } : value;
}

/* What has a length of its own. */
static struct weft_dwarf_value take_other(struct weft_cursor *cur,
                                          const struct weft_dwarf_unit *unit, uint16_t form)
{
    switch (form) {
    case DW_FORM_udata:
        return (struct weft_dwarf_value){ WEFT_DWARF_NUMBER, weft_cfi_uleb(cur) };
    case DW_FORM_sdata:
        return (struct weft_dwarf_value){ WEFT_DWARF_NUMBER, (uint64_t)weft_cfi_sleb(cur) };
    case DW_FORM_string:
        return take_text(cur);
    case DW_FORM_strx:
        return (struct weft_dwarf_value){ WEFT_DWARF_STR_INDEX, weft_cfi_uleb(cur) };
    case DW_FORM_addrx:
        return (struct weft_dwarf_value){ WEFT_DWARF_ADDRESS_INDEX, weft_cfi_uleb(cur) };
    case DW_FORM_rnglistx:
        return (struct weft_dwarf_value){ WEFT_DWARF_LIST_INDEX, weft_cfi_uleb(cur) };
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        return take_ref(cur, form, unit);
    case DW_FORM_block1:
        return take_location(cur, unit, weft_cur_u8(cur));
    case DW_FORM_block2:
        skip(cur, weft_cur_u16(cur));
        break;
    case DW_FORM_block4:
        skip(cur, weft_cur_u32(cur));
        break;
    case DW_FORM_block:
    case DW_FORM_exprloc:
        return take_location(cur, unit, weft_cfi_uleb(cur));
    case DW_FORM_data16:
        skip(cur, 16);
        break;
    case DW_FORM_ref_sig8:
        skip(cur, 8);
        break;
    case DW_FORM_loclistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        (void)weft_cfi_uleb(cur);
        break;
    case DW_FORM_flag_present:
        break;
    default: /* nothing says how long it is */
        cur->fault = true;
        break;
    }
    return (struct weft_dwarf_value){ 0 };
}

static struct weft_dwarf_value take_value(struct weft_cursor *cur,
                                          const struct weft_dwarf_unit *unit,
                                          const struct weft_dwarf_spec *spec)
{
    enum weft_dwarf_kind kind = WEFT_DWARF_NUMBER;
    uint16_t form = spec->form;
    if (form == DW_FORM_implicit_const)
        return (struct weft_dwarf_value){ WEFT_DWARF_NUMBER, (uint64_t)spec->number };
    if (form == DW_FORM_indirect) {
        const uint64_t own = weft_cfi_uleb(cur);
        form = own <= UINT16_MAX ? (uint16_t)own : DW_FORM_indirect; /* once: else it is refused */
    }
    const unsigned n_bytes = fixed_bytes(form, unit, &kind);
    if (n_bytes)
        return (struct weft_dwarf_value){ kind, take_number(cur, n_bytes) };
    return take_other(cur, unit, form);
}

/* Where a value of interest is kept; NULL: it is of none. */
static struct weft_dwarf_value *place_of(struct weft_dwarf_entry *entry, uint16_t name)
{
    switch (name) {
    case DW_AT_name:
        return &entry->name;
    case DW_AT_linkage_name:
        return &entry->linkage_name;
    case DW_AT_abstract_origin:
        return &entry->origin;
    case DW_AT_specification:
        return &entry->specification;
    case DW_AT_low_pc:
        return &entry->low;
    case DW_AT_high_pc:
        return &entry->high;
    case DW_AT_ranges:
        return &entry->ranges;
    case DW_AT_sibling:
        return &entry->sibling;
    case DW_AT_location:
        return &entry->location;
    case DW_AT_type:
        return &entry->type;
    case DW_AT_byte_size:
        return &entry->n_bytes;
    case DW_AT_data_member_location:
        return &entry->member_off;
    case DW_AT_upper_bound:
        return &entry->upper_bound;
    case DW_AT_count:
        return &entry->count;
    case DW_AT_language:
        return &entry->language;
    case DW_AT_str_offsets_base:
        return &entry->str_base;
    case DW_AT_addr_base:
        return &entry->addr_base;
    case DW_AT_rnglists_base:
        return &entry->list_base;
    default:
        return NULL;
    }
}

/* ---- entries --------------------------------------------------------------------------------- */

static bool parse(struct weft_cursor *cur, struct weft_dwarf_entry *entry)
{
    const struct weft_dwarf_spec *specs;
    const uint64_t code = weft_cfi_uleb(cur);
    if (cur->fault || code == 0) {
        entry->next = weft_cur_offset(cur);
        return !cur->fault;
    }
    const struct weft_dwarf_abbrev *abbrev =
        weft_dwarf_abbrev(entry->dwarf, entry->unit, code, &specs);
    if (!abbrev)
        return false;
    entry->tag = abbrev->tag;
    entry->has_inner = abbrev->has_inner;
    for (uint32_t k = 0; k < abbrev->n_specs && !cur->fault; k++) {
        const struct weft_dwarf_spec *spec = &specs[abbrev->specs_at + k];
        struct weft_dwarf_value *place = place_of(entry, spec->name);
        const struct weft_dwarf_value value = take_value(cur, entry->unit, spec);
        if (place)
            *place = value;
    }
    entry->next = weft_cur_offset(cur);
    return !cur->fault;
}

/* The length of an entry is known only once it is read: more is looked at if it is cut. */
static bool read_entry(struct weft_dwarf *dwarf, const struct weft_dwarf_unit *unit, uint64_t off,
                       struct weft_dwarf_entry *entry)
{
    struct weft_section *info = &dwarf->sections[WEFT_DWARF_INFO];
    if (off < dwarf->last_off || off - dwarf->last_off > AHEAD_BYTES)
        dwarf->n_read += WEFT_DWARF_JUMP_COST;
    dwarf->last_off = off;
    if (off < unit->first || off >= unit->end || dwarf->n_read > dwarf->most_read)
        return false;
    for (size_t n = ENTRY_BYTES;; n = LONGEST_ENTRY) {
        const size_t n_view = n < unit->end - off ? n : (size_t)(unit->end - off);
        struct weft_cursor cur;
        *entry = (struct weft_dwarf_entry){ .dwarf = dwarf, .unit = unit, .off = off };
        if (!weft_section_view(info, off, n_view, AHEAD_BYTES, &cur))
            return false;
        const bool is_good = parse(&cur, entry);
        dwarf->n_read += (uint64_t)(cur.at - cur.start);
        if (is_good)
            return true;
        if (!cur.fault || n == LONGEST_ENTRY || n_view < n)
            return false;
    }
}

bool weft_dwarf_unit_entry(struct weft_dwarf *dwarf, size_t index, struct weft_dwarf_entry *entry)
{
    const struct weft_dwarf_unit *unit = &dwarf->units.items[index];
    return read_entry(dwarf, unit, unit->first, entry);
}

bool weft_dwarf_entry_at(struct weft_dwarf *dwarf, uint64_t off, struct weft_dwarf_entry *entry)
{
    size_t low = 0, high = dwarf->units.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (dwarf->units.items[middle].off <= off)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && read_entry(dwarf, &dwarf->units.items[low - 1], off, entry);
}

bool weft_dwarf_follow(struct weft_dwarf_entry *entry)
{
    return read_entry(entry->dwarf, entry->unit, entry->next, entry);
}

bool weft_dwarf_inner(const struct weft_dwarf_entry *entry, struct weft_dwarf_entry *inner)
{
    *inner = *entry;
    return entry->has_inner && weft_dwarf_follow(inner) && inner->tag != 0;
}

/* Past what is within it: the entry says where that ends, or it is read. */
bool weft_dwarf_beside(struct weft_dwarf_entry *entry)
{
    uint64_t depth = 0;
    if (entry->has_inner && entry->sibling.kind == WEFT_DWARF_REF &&
        entry->sibling.value >= entry->next)
        return read_entry(entry->dwarf, entry->unit, entry->sibling.value, entry) &&
               entry->tag != 0;
    do {
        depth += entry->tag != 0 && entry->has_inner;
        if (!weft_dwarf_follow(entry))
            return false;
        if (entry->tag != 0)
            continue;
        if (depth == 0)
            return false;
        depth--;
    } while (depth > 0 || entry->tag == 0);
    return true;
}

void weft_dwarf_bases(struct weft_dwarf *dwarf, const struct weft_dwarf_unit *unit)
{
    struct weft_dwarf_unit *own = &dwarf->units.items[unit - dwarf->units.items];
    struct weft_dwarf_entry entry;
    if (own->has_bases)
        return;
    own->has_bases = true;
    /* Without a base it lies behind the header of its section. */
    own->str_base = own->addr_base = own->n_offset == 8 ? 16 : 8;
    own->list_base = own->n_offset == 8 ? 20 : 12;
    if (!read_entry(dwarf, own, own->first, &entry)) {
        own->has_bases = dwarf->n_read <= dwarf->most_read; /* more may be read another time */
        return;
    }
    if (entry.str_base.kind == WEFT_DWARF_NUMBER)
        own->str_base = entry.str_base.value;
    if (entry.addr_base.kind == WEFT_DWARF_NUMBER)
        own->addr_base = entry.addr_base.value;
    if (entry.list_base.kind == WEFT_DWARF_NUMBER)
        own->list_base = entry.list_base.value;
    if (entry.language.kind == WEFT_DWARF_NUMBER)
        own->language = entry.language.value;
    (void)weft_dwarf_address(&entry, entry.low, &own->low);
}

/* ---- names ----------------------------------------------------------------------------------- */

/* A text that ends with NUL. */
static struct weft_str text_at(struct weft_dwarf *to, struct weft_section *section, uint64_t at)
{
    for (size_t n = NAME_BYTES; n <= LONGEST_NAME; n *= 4) {
        const bool has_room = weft_vec_reserve(&to->text.items, &to->text.cap, n, 1);
        to->is_nomem |= !has_room;
        to->n_read += n / NAME_PART;
        if (!has_room || at >= section->n_bytes || to->n_read > to->most_read)
            break;
        const uint64_t n_left = section->n_bytes - at;
        const size_t n_read = n < n_left ? n : (size_t)n_left;
        if (!weft_section_copy(section, at, to->text.items, n_read))
            break;
        if (memchr(to->text.items, 0, n_read))
            return weft_str_of(to->text.items);
        if (n_read < n)
            break;
    }
    return WEFT_STR("");
}

static struct weft_str text_of(struct weft_dwarf *to, const struct weft_dwarf_entry *entry,
                               struct weft_dwarf_value value)
{
    struct weft_dwarf *dwarf = entry->dwarf;
    uint64_t at;
    switch (value.kind) {
    case WEFT_DWARF_TEXT:
        return text_at(to, &dwarf->sections[WEFT_DWARF_INFO], value.value);
    case WEFT_DWARF_STR:
        return text_at(to, &dwarf->sections[WEFT_DWARF_STRINGS], value.value);
    case WEFT_DWARF_LINE_STR:
        return text_at(to, &dwarf->sections[WEFT_DWARF_LINE_STRINGS], value.value);
    case WEFT_DWARF_ALT_STR:
        return dwarf->alt ? text_at(to, &dwarf->alt->sections[WEFT_DWARF_STRINGS], value.value)
                          : WEFT_STR("");
    case WEFT_DWARF_STR_INDEX:
        weft_dwarf_bases(dwarf, entry->unit);
        if (value.value > UINT32_MAX ||
            !weft_dwarf_number(&dwarf->sections[WEFT_DWARF_STR_OFFSETS],
                               entry->unit->str_base + value.value * entry->unit->n_offset,
                               entry->unit->n_offset, &at))
            return WEFT_STR("");
        return text_at(to, &dwarf->sections[WEFT_DWARF_STRINGS], at);
    default:
        return WEFT_STR("");
    }
}

/* What an entry is made of, or declared by. */
static bool origin_of(struct weft_dwarf_entry *entry)
{
    const struct weft_dwarf_value value =
        entry->origin.kind != WEFT_DWARF_NONE ? entry->origin : entry->specification;
    if (value.kind == WEFT_DWARF_ALT_REF)
        return entry->dwarf->alt && weft_dwarf_entry_at(entry->dwarf->alt, value.value, entry);
    return value.kind == WEFT_DWARF_REF && weft_dwarf_entry_at(entry->dwarf, value.value, entry);
}

struct weft_str weft_dwarf_name(const struct weft_dwarf_entry *entry)
{
    for (int is_plain = 0; is_plain < 2; is_plain++) {
        struct weft_dwarf_entry at = *entry;
        for (unsigned step = 0; step < MOST_STEPS; step++) {
            const struct weft_str name =
                text_of(entry->dwarf, &at, is_plain ? at.name : at.linkage_name);
            if (name.n_bytes)
                return name;
            if (!origin_of(&at))
                break;
        }
    }
    return WEFT_STR("");
}
