/* SPDX-License-Identifier: MIT
 *
 * Which bytes that one socket sent another one received: reads need not take what writes gave, but
 * bytes have numbers.
 */
#ifndef WEFT_INGEST_RECORDING_PACKETS_H
#define WEFT_INGEST_RECORDING_PACKETS_H

#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes sent and not received yet, as far as they were seen. */
struct rec_sent {
    uint32_t seq, n_bytes;
    uint32_t next; /* of the flow; UINT32_MAX: the last */
};

struct rec_packets {
    struct weft_map *of_flow; /* hash of a flow -> index in `flows` */
    struct {
        struct rec_flow {
            uint32_t first, last; /* in `sent` */
        } * items;
        size_t n, cap;
    } flows;
    struct {
        struct rec_sent *items;
        size_t n, cap;
    } sent;
    uint32_t free; /* list of those that may be used again */
};

bool rec_packets_init(struct rec_packets *packets);
void rec_packets_fini(struct rec_packets *packets);

/* The number of a flow; UINT32_MAX without memory. */
uint32_t rec_packets_flow(struct rec_packets *packets, uint64_t hash);

/* False without memory. Beyond a million the oldest bytes of the flow are forgotten. */
bool rec_packets_send(struct rec_packets *packets, uint32_t flow, uint32_t seq, uint32_t n_bytes);

/* Takes the next send of the flow of which [seq, seq + n_bytes) is a part, or lies behind; false:
 * none. `*is_part`: it is a part (else it was never seen to be received). */
bool rec_packets_receive(struct rec_packets *packets, uint32_t flow, uint32_t seq, uint32_t n_bytes,
                         struct rec_sent *sent, bool *is_part);

#endif
