/* SPDX-License-Identifier: MIT
 *
 * The cursor's slow path: integers of variable length that take more than one byte. Only the
 * shortest form is accepted (no leading zero groups, at most 64 bits), so that a value has one
 * encoding.
 */
#include "base/cursor.h"

enum { VARINT_BYTES = 10 };

uint64_t weft_cur_varint_long(struct weft_cursor *cur)
{
    const uint8_t *at = cur->at;
    size_t n_left = cur->fault ? 0 : weft_cur_left(cur);
    size_t n_most = n_left < VARINT_BYTES ? n_left : VARINT_BYTES;
    uint64_t value = 0;
    for (size_t k = 0; k < n_most; k++) {
        uint64_t byte = at[k];
        value |= (byte & 0x7f) << (7 * k);
        if (byte >= 0x80)
            continue;
        bool overflows = k == VARINT_BYTES - 1 && byte > 1;
        bool is_overlong = k > 0 && byte == 0;
        if (overflows || is_overlong)
            break;
        cur->at += k + 1;
        return value;
    }
    cur->fault = true;
    return 0;
}
