/* SPDX-License-Identifier: MIT
 *
 * See batch.h.
 */
#include "record/kernel/batch.h"

#include <string.h>

void weft_batch_begin(struct weft_batch *batch, uint32_t cpu, uint64_t *handed_ns)
{
    batch->cpu = cpu;
    batch->n_recent = 0;
    batch->n_bytes = 0;
    batch->handed_ns = handed_ns;
    batch->newest_ns = *handed_ns;
}

enum weft_code weft_batch_end(struct weft_batch *batch, struct weft_err *err)
{
    const size_t n_bytes = batch->n_bytes;
    batch->n_bytes = 0;
    batch->n_recent = 0;
    *batch->handed_ns = batch->newest_ns;
    if (n_bytes == 0)
        return WEFT_OK;
    return batch->fn(batch->context, batch->cpu,
                     (const struct weft_kernel_record *)(const void *)batch->bytes, n_bytes, err);
}

static uint64_t time_at(const struct weft_batch *batch, uint32_t at)
{
    uint64_t time_ns;
    memcpy(&time_ns, batch->bytes + at, sizeof time_ns);
    return time_ns;
}

/* Makes room for a record before those of `recent` that are later; sets its time right if it cannot
 * go so far. Returns which of `recent` it is. */
static uint32_t open_place(struct weft_batch *batch, struct weft_kernel_record *record,
                           uint32_t n_bytes)
{
    uint32_t place = batch->n_recent;
    const uint32_t first = batch->n_recent == WEFT_BATCH_DEPTH; /* before it may lie others */
    while (place > first && time_at(batch, batch->recent[place - 1]) > record->time_ns)
        place--;
    const uint64_t before_ns =
        place > 0 ? time_at(batch, batch->recent[place - 1]) : *batch->handed_ns;
    if (record->time_ns < before_ns)
        record->time_ns = before_ns;
    const uint32_t at = place < batch->n_recent ? batch->recent[place] : (uint32_t)batch->n_bytes;
    memmove(batch->bytes + at + n_bytes, batch->bytes + at, batch->n_bytes - at);
    if (batch->n_recent == WEFT_BATCH_DEPTH) { /* forget the oldest */
        memmove(batch->recent, batch->recent + 1, sizeof batch->recent - sizeof batch->recent[0]);
        batch->n_recent--;
        place--;
    }
    for (uint32_t i = batch->n_recent; i > place; i--)
        batch->recent[i] = batch->recent[i - 1] + n_bytes;
    batch->recent[place] = at;
    batch->n_recent++;
    return place;
}

enum weft_code weft_batch_add(struct weft_batch *batch, const struct weft_kernel_record *record,
                              const void *payload, struct weft_err *err)
{
    const uint32_t n_bytes = (uint32_t)sizeof *record + record->payload_bytes;
    if (batch->n_bytes + n_bytes > sizeof batch->bytes) {
        WEFT_TRY(weft_batch_end(batch, err));
    }
    struct weft_kernel_record now = *record;
    uint8_t *at = batch->bytes + batch->recent[open_place(batch, &now, n_bytes)];
    memcpy(at, &now, sizeof now);
    if (now.payload_bytes > 0)
        memcpy(at + sizeof now, payload, now.payload_bytes);
    batch->n_bytes += n_bytes;
    if (now.time_ns > batch->newest_ns)
        batch->newest_ns = now.time_ns;
    return WEFT_OK;
}
