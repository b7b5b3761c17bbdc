/* SPDX-License-Identifier: MIT
 *
 * Reads a ring of the kernel (BPF_MAP_TYPE_RINGBUF) by polling.
 *
 *     page 0      read so far, in bytes: ours to write
 *     page 1      written so far
 *     page 2 ...  the data, mapped twice in a row, so that no record is in two pieces:
 *                 u32 length, with bits 31 (being written) and 30 (thrown away); u32; the record;
 *                 to a multiple of 8
 */
#ifndef WEFT_RECORD_KERNEL_BPF_RING_H
#define WEFT_RECORD_KERNEL_BPF_RING_H

#include "record/kernel/batch.h"

#include <stdatomic.h>

struct weft_bpf_ring {
    _Atomic uint64_t *read;
    const _Atomic uint64_t *written;
    const uint8_t *data;
    uint64_t n_bytes; /* a power of two */
};

/* Adds all finished records to the batch, and lets the kernel have their room. *fill_percent is
 * raised to how full the ring was. Codes of weft_batch_add. */
WEFT_CHECKED enum weft_code weft_bpf_ring_read(struct weft_bpf_ring *ring, struct weft_batch *batch,
                                               uint32_t *fill_percent, struct weft_err *err);

#endif
