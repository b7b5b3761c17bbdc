/* SPDX-License-Identifier: MIT
 *
 * The 128-bit unsigned integer of gcc and clang, under a name that -Wpedantic accepts.
 */
#ifndef WEFT_BASE_U128_H
#define WEFT_BASE_U128_H

__extension__ typedef unsigned __int128 weft_u128;

#endif
