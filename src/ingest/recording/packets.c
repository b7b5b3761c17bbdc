/* SPDX-License-Identifier: MIT
 *
 * Matches bytes sent with bytes received for each flow by TCP sequence numbers, in queues that
 * share one pool of at most 2^20 entries; the oldest of a full flow is given up. records.c makes
 * packet events of the result.
 */
#include "ingest/recording/packets.h"

#include "base/vec.h"

#define NONE UINT32_MAX

enum { MOST_SENT = 1 << 20 };

bool rec_packets_init(struct rec_packets *packets)
{
    *packets = (struct rec_packets){ .of_flow = weft_map_new(), .free = NONE };
    return packets->of_flow != NULL;
}

void rec_packets_fini(struct rec_packets *packets)
{
    weft_map_free(packets->of_flow);
    WEFT_VEC_FINI(&packets->flows);
    WEFT_VEC_FINI(&packets->sent);
}

uint32_t rec_packets_flow(struct rec_packets *packets, uint64_t hash)
{
    bool is_new;
    const uint32_t index = weft_map_add(packets->of_flow, hash, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&packets->flows)))
        return NONE;
    if (is_new)
        packets->flows.items[index] = (struct rec_flow){ NONE, NONE };
    return index;
}

static struct rec_sent take_first(struct rec_packets *packets, struct rec_flow *flow)
{
    const uint32_t place = flow->first;
    const struct rec_sent sent = packets->sent.items[place];
    flow->first = sent.next;
    if (flow->first == NONE)
        flow->last = NONE;
    packets->sent.items[place].next = packets->free;
    packets->free = place;
    return sent;
}

bool rec_packets_send(struct rec_packets *packets, uint32_t flow, uint32_t seq, uint32_t n_bytes)
{
    struct rec_flow *own = &packets->flows.items[flow];
    uint32_t place = packets->free;
    if (place == NONE && packets->sent.n >= MOST_SENT) {
        if (own->first == NONE)
            return true;
        (void)take_first(packets, own);
        place = packets->free;
    }
    if (place != NONE)
        packets->free = packets->sent.items[place].next;
    else if (WEFT_VEC_PUSH(&packets->sent))
        place = (uint32_t)packets->sent.n - 1;
    else
        return false;
    packets->sent.items[place] = (struct rec_sent){ .seq = seq, .n_bytes = n_bytes, .next = NONE };
    if (own->last == NONE)
        own->first = place;
    else
        packets->sent.items[own->last].next = place;
    own->last = place;
    return true;
}

/* Numbers of bytes go round: what is less than half of them ahead is later. */
static bool is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

bool rec_packets_receive(struct rec_packets *packets, uint32_t flow, uint32_t seq, uint32_t n_bytes,
                         struct rec_sent *sent, bool *is_part)
{
    struct rec_flow *own = &packets->flows.items[flow];
    if (own->first == NONE)
        return false;
    const struct rec_sent *first = &packets->sent.items[own->first];
    if (!is_before(first->seq, seq + n_bytes))
        return false;
    *is_part = is_before(seq, first->seq + first->n_bytes);
    *sent = take_first(packets, own);
    return true;
}
