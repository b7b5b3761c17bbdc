/* SPDX-License-Identifier: MIT
 *
 * Entries of call frame information: headers, CIEs, and the addresses of FDEs.
 */
#include "symbols/cfi.h"

#include <dwarf.h>

enum { PE_FORMAT = 0x0f, PE_BASE = 0x70, MOST_AUGMENTATION = 16, ADDRESS_BYTES = 8 };

#define LENGTH_64 UINT32_C(0xffffffff)

/* ---- numbers --------------------------------------------------------------------------------- */

uint64_t weft_cfi_uleb(struct weft_cursor *cur)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = weft_cur_u8(cur);
        const uint64_t bits = byte & 0x7f;
        if (bits && (shift >= 64 || bits << shift >> shift != bits))
            cur->fault = true;
        value |= shift < 64 ? bits << shift : 0;
        if (byte < 0x80)
            return cur->fault ? 0 : value;
    }
}

int64_t weft_cfi_sleb(struct weft_cursor *cur)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = weft_cur_u8(cur);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += shift < 64 ? 7 : 0;
    } while (byte >= 0x80);
    if (shift < 64 && byte & 0x40)
        value |= UINT64_MAX << shift;
    return cur->fault ? 0 : (int64_t)value;
}

static uint64_t take_format(struct weft_cursor *cur, uint8_t format)
{
    switch (format) {
    case DW_EH_PE_uleb128:
        return weft_cfi_uleb(cur);
    case DW_EH_PE_sleb128:
        return (uint64_t)weft_cfi_sleb(cur);
    case DW_EH_PE_udata2:
        return weft_cur_u16(cur);
    case DW_EH_PE_sdata2:
        return (uint64_t)(int16_t)weft_cur_u16(cur);
    case DW_EH_PE_udata4:
        return weft_cur_u32(cur);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int32_t)weft_cur_u32(cur);
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return weft_cur_u64(cur);
    default:
        cur->fault = true;
        return 0;
    }
}

bool weft_cfi_pointer(struct weft_cursor *cur, uint8_t encoding, uint64_t address,
                      uint64_t data_base, uint64_t *value)
{
    const uint8_t base = encoding & PE_BASE;
    if (encoding == DW_EH_PE_omit || encoding & DW_EH_PE_indirect)
        return false;
    if (base == DW_EH_PE_aligned) {
        (void)weft_cur_take(cur, -address % ADDRESS_BYTES);
        *value = weft_cur_u64(cur);
        return encoding == DW_EH_PE_aligned && !cur->fault;
    }
    *value = take_format(cur, encoding & PE_FORMAT);
    if (base == DW_EH_PE_pcrel)
        *value += address;
    else if (base == DW_EH_PE_datarel)
        *value += data_base;
    return !cur->fault &&
           (base == DW_EH_PE_absptr || base == DW_EH_PE_pcrel || base == DW_EH_PE_datarel);
}

/* ---- headers --------------------------------------------------------------------------------- */

bool weft_cfi_entry(const struct weft_cfi_source *source, struct weft_cursor cur, uint64_t offset,
                    struct weft_cfi_entry *entry)
{
    *entry = (struct weft_cfi_entry){ .offset = offset };
    uint64_t n_bytes = weft_cur_u32(&cur);
    const bool is_64 = n_bytes == LENGTH_64;
    if (is_64)
        n_bytes = weft_cur_u64(&cur);
    entry->id_at = offset + (is_64 ? 12 : 4);
    entry->next = entry->id_at + n_bytes;
    entry->is_end = n_bytes == 0;
    if (cur.fault || entry->next < entry->id_at)
        return false;
    if (entry->is_end)
        return true;
    const bool has_long_id = is_64 && source->is_debug_frame;
    const uint64_t id = has_long_id ? weft_cur_u64(&cur) : weft_cur_u32(&cur);
    if (cur.fault || n_bytes < (has_long_id ? 8 : 4))
        return false;
    if (source->is_debug_frame) {
        entry->is_cie = id == (has_long_id ? UINT64_MAX : UINT32_MAX);
        entry->cie_offset = id;
    } else {
        entry->is_cie = id == 0;
        entry->cie_offset = entry->id_at - id;
    }
    return entry->is_cie || entry->cie_offset < UINT64_MAX / 2;
}

/* Behind the id. */
static bool skip_header(const struct weft_cfi_source *source, const struct weft_cfi_entry *entry,
                        struct weft_cursor *cur)
{
    const uint64_t n_length = entry->id_at - entry->offset;
    const size_t n_id = source->is_debug_frame && n_length > 4 ? 8 : 4;
    return weft_cur_take(cur, (size_t)n_length + n_id) != NULL;
}

static uint64_t address_of(const struct weft_cfi_source *source, const struct weft_cursor *cur)
{
    return source->section_address + weft_cur_offset(cur);
}

/* ---- CIE ------------------------------------------------------------------------------------- */

/* What the letters behind a 'z' announce. An unknown one ends what can be understood of the data,
 * whose length is known. */
static bool take_augmentation(const struct weft_cfi_source *source, struct weft_cursor data,
                              const uint8_t *letters, size_t n_letters, struct weft_cfi_cie *cie)
{
    for (size_t k = 1; k < n_letters; k++) {
        uint64_t unused;
        uint8_t encoding;
        switch (letters[k]) {
        case 'R':
            cie->encoding = weft_cur_u8(&data);
            break;
        case 'L':
            (void)weft_cur_u8(&data);
            break;
        case 'P':
            encoding = weft_cur_u8(&data);
            if (encoding != DW_EH_PE_omit &&
                !weft_cfi_pointer(&data, encoding & (uint8_t)~DW_EH_PE_indirect,
                                  address_of(source, &data), 0, &unused))
                return false;
            break;
        case 'S':
            cie->is_signal_frame = true;
            break;
        case 'B':
            break;
        default:
            return !data.fault;
        }
    }
    return !data.fault;
}

static const uint8_t *take_letters(struct weft_cursor *cur, size_t *n_letters)
{
    const uint8_t *letters = cur->at;
    for (*n_letters = 0; weft_cur_u8(cur) != 0; ++*n_letters)
        ;
    return cur->fault || *n_letters > MOST_AUGMENTATION ? NULL : letters;
}

bool weft_cfi_cie(const struct weft_cfi_source *source, struct weft_cursor cur,
                  const struct weft_cfi_entry *entry, struct weft_cfi_cie *cie)
{
    size_t n_letters;
    *cie = (struct weft_cfi_cie){ .encoding = DW_EH_PE_absptr };
    if (!entry->is_cie || !skip_header(source, entry, &cur))
        return false;
    const uint8_t version = weft_cur_u8(&cur);
    const uint8_t *letters = take_letters(&cur, &n_letters);
    if (!letters || version < 1 || version == 2 || version > 4)
        return false;
    const bool is_old = n_letters == 2 && memcmp(letters, "eh", 2) == 0;
    if (is_old)
        (void)weft_cur_take(&cur, ADDRESS_BYTES);
    else if (n_letters && letters[0] != 'z')
        return false;
    /* Version 4 has the sizes of addresses and segments. */
    if (version == 4 && (weft_cur_u8(&cur) != ADDRESS_BYTES || weft_cur_u8(&cur) != 0))
        return false;
    cie->code_align = weft_cfi_uleb(&cur);
    cie->data_align = weft_cfi_sleb(&cur);
    cie->return_register = version == 1 ? weft_cur_u8(&cur) : weft_cfi_uleb(&cur);
    if (n_letters && !is_old) {
        const uint64_t n_data = weft_cfi_uleb(&cur);
        cie->has_augmentation = true;
        if (n_data > weft_cur_left(&cur) ||
            !take_augmentation(source, weft_cur_sub(&cur, (size_t)n_data), letters, n_letters, cie))
            return false;
    }
    cie->program = cur;
    return !cur.fault && cie->return_register < WEFT_CFI_REGISTERS;
}

/* ---- FDE ------------------------------------------------------------------------------------- */

bool weft_cfi_range(const struct weft_cfi_source *source, const struct weft_cfi_cie *cie,
                    struct weft_cursor cur, const struct weft_cfi_entry *entry, uint64_t *begin,
                    uint64_t *end, struct weft_cursor *program)
{
    uint64_t n_covered;
    if (entry->is_cie || !skip_header(source, entry, &cur) ||
        !weft_cfi_pointer(&cur, cie->encoding, address_of(source, &cur), 0, begin) ||
        !weft_cfi_pointer(&cur, cie->encoding & PE_FORMAT, 0, 0, &n_covered))
        return false;
    if (cie->has_augmentation) {
        const uint64_t n_data = weft_cfi_uleb(&cur);
        if (n_data > weft_cur_left(&cur))
            return false;
        (void)weft_cur_take(&cur, (size_t)n_data);
    }
    *program = cur;
    return !cur.fault && !__builtin_add_overflow(*begin, n_covered, end);
}
