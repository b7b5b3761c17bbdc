/* SPDX-License-Identifier: MIT
 *
 * See bpf_ring.h.
 */
#include "record/kernel/bpf_ring.h"

#include <string.h>

enum { BIT_BUSY = 31, BIT_DISCARDED = 30, HEAD_BYTES = 8, GIVE_BACK_BYTES = 1 << 16 };

static enum weft_code add(struct weft_batch *batch, const uint8_t *bytes, uint32_t n_bytes,
                          struct weft_err *err)
{
    struct weft_kernel_record record;
    if (n_bytes < sizeof record)
        return WEFT_OK;
    memcpy(&record, bytes, sizeof record);
    if (record.payload_bytes > n_bytes - sizeof record) /* never, by our programs */
        record.payload_bytes = 0;
    return weft_batch_add(batch, &record, bytes + sizeof record, err);
}

enum weft_code weft_bpf_ring_read(struct weft_bpf_ring *ring, struct weft_batch *batch,
                                  uint32_t *fill_percent, struct weft_err *err)
{
    uint64_t read = atomic_load_explicit(ring->read, memory_order_relaxed);
    uint64_t written = atomic_load_explicit(ring->written, memory_order_acquire);
    const uint64_t stop = read + ring->n_bytes; /* however fast the kernel writes */
    const uint64_t fill = (written - read) * 100 / ring->n_bytes;
    uint64_t given_back = read;
    enum weft_code code = WEFT_OK;
    if (fill > *fill_percent)
        *fill_percent = (uint32_t)fill;
    while (code == WEFT_OK && read < written && read < stop) {
        const uint8_t *at = ring->data + (read & (ring->n_bytes - 1));
        const uint32_t word =
            atomic_load_explicit((const _Atomic uint32_t *)(const void *)at, memory_order_acquire);
        if (word >> BIT_BUSY)
            break;
        const uint32_t n_bytes = word & ((UINT32_C(1) << BIT_DISCARDED) - 1);
        if (!(word >> BIT_DISCARDED & 1))
            code = add(batch, at + HEAD_BYTES, n_bytes, err);
        read += (n_bytes + HEAD_BYTES + 7) & ~UINT64_C(7);
        if (read - given_back >= GIVE_BACK_BYTES)
            atomic_store_explicit(ring->read, given_back = read, memory_order_release);
        /* What interrupted the writing of a record is there when the record is. */
        if (read == written)
            written = atomic_load_explicit(ring->written, memory_order_acquire);
    }
    atomic_store_explicit(ring->read, read, memory_order_release);
    return code;
}
