/* SPDX-License-Identifier: MIT
 *
 * Builds files of operation tracking. Padding is filled with junk, as WiredTiger leaves it.
 */
#ifndef WEFT_TESTS_OPTRACK_BUILDER_H
#define WEFT_TESTS_OPTRACK_BUILDER_H

#include "xray_builder.h"

__attribute__((unused)) static void ob_header(struct xb *file, unsigned version, unsigned internal,
                                              uint32_t ratio, uint64_t epoch_s)
{
    file->version = version;
    xb_int(file, version, 4);
    xb_int(file, internal, 4);
    xb_int(file, ratio, 4);
    if (version >= 3) {
        xb_int(file, 0, 4);
        xb_int(file, epoch_s, 8);
    }
}

/* kind 0 enter, 1 exit */
__attribute__((unused)) static void ob_record(struct xb *file, uint64_t ticks, unsigned id,
                                              unsigned kind)
{
    xb_int(file, ticks, 8);
    xb_int(file, id, 2);
    xb_int(file, kind, 2);
    xb_int(file, 0x55a9, 4);
}

#endif
