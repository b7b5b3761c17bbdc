/* SPDX-License-Identifier: MIT
 *
 * Puts the records of a CPU in order and hands them out in large pieces. A record can lie behind
 * one with a later time only when it interrupted the writing of that: a few places at most.
 */
#ifndef WEFT_RECORD_KERNEL_BATCH_H
#define WEFT_RECORD_KERNEL_BATCH_H

#include "record/kernel/kernel.h"

enum {
    WEFT_BATCH_BYTES = 1 << 18,
    WEFT_BATCH_DEPTH = 16, /* a record goes before so many others at most */
};

struct weft_batch {
    weft_kernel_records_fn fn;
    void *context;
    uint32_t cpu;
    uint32_t n_recent;
    uint32_t recent[WEFT_BATCH_DEPTH]; /* where the last records begin, ascending */
    uint64_t *handed_ns;               /* time of the last record that was handed out */
    uint64_t newest_ns;                /* of the last one here */
    size_t n_bytes;
    _Alignas(8) uint8_t bytes[WEFT_BATCH_BYTES];
};

/* Begins with a CPU; *handed_ns stays its own from one poll to the next. */
void weft_batch_begin(struct weft_batch *batch, uint32_t cpu, uint64_t *handed_ns);

/* A record and its payload. One that would have to go further back than all that is still here gets
 * the time of its forerunner. Codes of `fn`. */
WEFT_CHECKED enum weft_code weft_batch_add(struct weft_batch *batch,
                                           const struct weft_kernel_record *record,
                                           const void *payload, struct weft_err *err);

/* Hands out the rest. Codes of `fn`. */
WEFT_CHECKED enum weft_code weft_batch_end(struct weft_batch *batch, struct weft_err *err);

#endif
