/* SPDX-License-Identifier: MIT
 *
 * Calls across missing records. What was open when records went missing may have ended in them, and
 * begun again: the next exit that fits may be of another call. So of a stream in which records are
 * missing the open calls are kept, and nothing doubtful is delivered as certain.
 */
#include "base/vec.h"
#include "ingest/recording/deliver.h"

/* Levels that an exit is looked for in: a program may write exits that fit nothing. */
enum { MOST_LEVELS = 1 << 12 };

/* Place of the innermost open call of `key`; SIZE_MAX: none. */
static size_t find_open(const struct rec_source *source, uint32_t key)
{
    const size_t n = source->open.n;
    for (size_t k = 1; k <= n && k <= MOST_LEVELS; k++)
        if (source->open.items[n - k] == key)
            return n - k;
    return SIZE_MAX;
}

static void leave_to(struct rec_source *source, size_t n_open)
{
    source->open.n = n_open;
    if (source->n_doubtful > n_open)
        source->n_doubtful = n_open;
}

enum weft_code rec_put_doubtful(struct rec_delivery *delivery, struct weft_call_event call)
{
    struct rec_source *source = delivery->source;
    if (call.kind == WEFT_CALL_ENTER) {
        uint32_t *key = WEFT_VEC_PUSH(&source->open);
        if (!key)
            return weft_no_memory(delivery->err, "open calls");
        *key = call.function_key;
        return rec_hand_call(delivery, call);
    }
    const size_t place = find_open(source, call.function_key);
    if (place == SIZE_MAX) {
        delivery->n_strays += source->has_lost;
        return source->has_lost ? WEFT_OK : rec_hand_call(delivery, call);
    }
    if (place < source->n_doubtful) {
        call.kind = WEFT_CALL_MARKED_EXIT;
        call.flags = WEFT_CALL_REPAIRED;
    }
    leave_to(source, place);
    return rec_hand_call(delivery, call);
}

/* A wait, or input and output, is over when its thread writes of anything else. */
enum weft_code rec_records_missing(struct rec_delivery *delivery, uint64_t time_ns)
{
    struct rec_source *source = delivery->source;
    enum weft_code code = WEFT_OK;
    source->has_lost = true;
    if (delivery->result.is_open && source->stream->library == WEFT_RING_OPERATIONS)
        code = rec_result_end(delivery);
    while (code == WEFT_OK && source->open.n > 0 &&
           source->open.items[source->open.n - 1] < REC_KNOWN) {
        const struct weft_call_event end = { .time_ns = time_ns,
                                             .function_key = source->open.items[source->open.n - 1],
                                             .kind = WEFT_CALL_MARKED_EXIT,
                                             .flags = WEFT_CALL_REPAIRED };
        leave_to(source, source->open.n - 1);
        code = rec_hand_call(delivery, end);
    }
    source->n_doubtful = source->open.n;
    if (source->stream->library == WEFT_RING_OPERATIONS)
        delivery->is_in_semaphore = false;
    return code == WEFT_OK ? rec_locks_leave(delivery, time_ns) : code;
}
