/* SPDX-License-Identifier: MIT
 *
 * See names.h.
 */
#include "record/kernel/names.h"

#include "base/vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* More addresses have no names, and what does not fit a text comes with the next one. */
enum { MOST_ADDRESSES = 1 << 18, MOST_TEXT_BYTES = 1 << 20, LINE_BYTES = 256 };

static bool see_frames(struct weft_kernel_names *names, const uint8_t *payload, size_t n_bytes)
{
    for (size_t at = 0; at + 8 <= n_bytes; at += 8) {
        uint64_t address;
        memcpy(&address, payload + at, sizeof address);
        if (weft_map_count(names->addresses) < MOST_ADDRESSES &&
            weft_map_add(names->addresses, address, NULL) == WEFT_MAP_NONE)
            return false;
    }
    return true;
}

bool weft_kernel_names_see(struct weft_kernel_names *names,
                           const struct weft_kernel_record *records, size_t n_bytes)
{
    const uint8_t *const bytes = (const uint8_t *)records;
    struct weft_kernel_record record;
    if (!names->addresses)
        names->addresses = weft_map_new();
    if (!names->addresses)
        return false;
    for (size_t at = 0; at + sizeof record <= n_bytes; at += sizeof record + record.payload_bytes) {
        memcpy(&record, bytes + at, sizeof record);
        if (record.type == WEFT_KERNEL_FRAMES &&
            !see_frames(names, bytes + at + sizeof record, record.payload_bytes))
            return false;
    }
    return true;
}

bool weft_kernel_names_read_symbols(struct weft_kernel_names *names)
{
    if (names->has_symbols)
        return true;
    names->has_symbols = true;
    return weft_kallsyms_of_machine(&names->symbols);
}

/* Where a call returns to may be another function than where it was made. */
static bool put_line(struct weft_kernel_names *names, uint64_t address)
{
    const struct weft_str name = weft_kallsyms_find(&names->symbols, address - 1);
    if (name.n_bytes == 0 || name.n_bytes > LINE_BYTES - 32)
        return true;
    if (!weft_vec_reserve(&names->text.items, &names->text.cap, names->text.n + LINE_BYTES, 1))
        return false;
    const int n = snprintf(names->text.items + names->text.n, LINE_BYTES, "%" PRIx64 " %.*s\n",
                           address, (int)name.n_bytes, name.bytes);
    names->text.n += n > 0 ? (size_t)n : 0;
    return true;
}

bool weft_kernel_names_tell(struct weft_kernel_names *names, struct weft_str *text)
{
    const uint32_t n_all = names->addresses ? weft_map_count(names->addresses) : 0;
    bool is_good = n_all == names->n_named || weft_kernel_names_read_symbols(names);
    names->text.n = 0;
    while (is_good && names->n_named < n_all && names->text.n < MOST_TEXT_BYTES)
        is_good = put_line(names, weft_map_key(names->addresses, names->n_named++));
    *text = (struct weft_str){ names->text.items, names->text.n };
    return is_good;
}

void weft_kernel_names_fini(struct weft_kernel_names *names)
{
    weft_map_free(names->addresses);
    weft_kallsyms_fini(&names->symbols);
    WEFT_VEC_FINI(&names->text);
}
