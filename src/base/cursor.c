/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"

uint64_t weft_cur_varint(struct weft_cursor *cur)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = weft_cur_u8(cur);
        if (cur->fault)
            return 0;
        bool overflows = shift == 63 && byte > 1;
        bool is_overlong = shift > 0 && byte == 0;
        if (overflows || is_overlong)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cur->fault = true;
    return 0;
}
