/* SPDX-License-Identifier: MIT
 *
 * Builds recordings (docs/recording-format.md): pieces, and records of rings.
 */
#ifndef WEFT_TESTS_RECORDING_BUILDER_H
#define WEFT_TESTS_RECORDING_BUILDER_H

#include "schema/recording.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

struct rb {
    uint8_t *bytes;
    size_t n_bytes, cap;
    bool is_packed; /* pieces that follow */
};

__attribute__((unused)) static void rb_put(struct rb *rb, const void *bytes, size_t n_bytes)
{
    if (rb->n_bytes + n_bytes > rb->cap) {
        rb->cap = (rb->n_bytes + n_bytes) * 2 + 64;
        rb->bytes = realloc(rb->bytes, rb->cap);
        if (!rb->bytes)
            abort();
    }
    if (n_bytes)
        memcpy(rb->bytes + rb->n_bytes, bytes, n_bytes);
    rb->n_bytes += n_bytes;
}

__attribute__((unused)) static void rb_fini(struct rb *rb)
{
    free(rb->bytes);
    *rb = (struct rb){ 0 };
}

__attribute__((unused)) static void rb_head(struct rb *rb)
{
    struct weft_recording_head head = { .version = WEFT_RECORDING_VERSION,
                                        .head_bytes = sizeof head };
    memcpy(head.magic, WEFT_RECORDING_MAGIC, sizeof head.magic);
    head.checksum = XXH3_64bits(&head, offsetof(struct weft_recording_head, checksum));
    rb_put(rb, &head, sizeof head);
}

__attribute__((unused)) static void rb_piece(struct rb *rb, enum weft_piece_kind kind,
                                             uint32_t stream, uint32_t pid, uint64_t time_ns,
                                             const void *payload, size_t n_payload)
{
    static const uint8_t zeros[8];
    const size_t cap = ZSTD_compressBound(n_payload);
    uint8_t *packed = malloc(cap + sizeof(struct weft_piece_head) + 1);
    if (!packed)
        abort();
    uint8_t *stored = packed + sizeof(struct weft_piece_head);
    size_t n_stored = n_payload;
    if (rb->is_packed)
        n_stored = ZSTD_compress(stored, cap, payload, n_payload, 1);
    else if (n_payload)
        memcpy(stored, payload, n_payload);
    struct weft_piece_head head = { .magic = WEFT_PIECE_MAGIC,
                                    .kind = (uint16_t)kind,
                                    .codec = rb->is_packed,
                                    .stored_bytes = (uint32_t)n_stored,
                                    .raw_bytes = (uint32_t)n_payload,
                                    .stream = stream,
                                    .pid = pid,
                                    .time_ns = time_ns };
    const size_t n_summed = offsetof(struct weft_piece_head, checksum);
    /* The sum goes over the head without it, then the payload. */
    memcpy(packed + sizeof head - n_summed, &head, n_summed);
    head.checksum = XXH3_64bits(packed + sizeof head - n_summed, n_summed + n_stored);
    rb_put(rb, &head, sizeof head);
    rb_put(rb, stored, n_stored);
    rb_put(rb, zeros, (8 - n_stored % 8) % 8);
    free(packed);
}

__attribute__((unused)) static void rb_text(struct rb *rb, enum weft_piece_kind kind,
                                            uint32_t stream, uint32_t pid, uint64_t time_ns,
                                            const char *text)
{
    rb_piece(rb, kind, stream, pid, time_ns, text, strlen(text));
}

__attribute__((unused)) static void rb_clock(struct rb *rb, uint64_t ticks, uint64_t ns,
                                             uint64_t realtime_ns)
{
    const struct weft_clock_pair pair = { ticks, ns, realtime_ns };
    rb_piece(rb, WEFT_PIECE_CLOCK, 0, 0, ns, &pair, sizeof pair);
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* The units of one slot, as a library writes them; pieces are cut from them. */
struct rb_ring {
    uint32_t *units;
    size_t n, cap;
    uint64_t ticks; /* of the last record */
    size_t n_cut;   /* units that stand in pieces */
    uint64_t cut_ticks;
    struct weft_ring_piece piece;
    uint32_t pid;
    size_t *ends; /* of records, where pieces may end */
    uint64_t *end_ticks;
    size_t n_ends, cap_ends;
    /* Each ring has a file of its own. */
    uint64_t *functions; /* addresses by number */
    size_t n_functions, n_told;
};

__attribute__((unused)) static void rb_unit(struct rb_ring *ring, uint32_t unit)
{
    if (ring->n == ring->cap) {
        ring->cap = ring->cap * 2 + 64;
        ring->units = realloc(ring->units, ring->cap * sizeof *ring->units);
        if (!ring->units)
            abort();
    }
    ring->units[ring->n++] = unit;
}

__attribute__((unused)) static void rb_word(struct rb_ring *ring, uint64_t word)
{
    rb_unit(ring, (uint32_t)word);
    rb_unit(ring, (uint32_t)(word >> 32));
}

__attribute__((unused)) static void rb_record_end(struct rb_ring *ring)
{
    if (ring->n_ends == ring->cap_ends) {
        ring->cap_ends = ring->cap_ends * 2 + 64;
        ring->ends = realloc(ring->ends, ring->cap_ends * sizeof *ring->ends);
        ring->end_ticks = realloc(ring->end_ticks, ring->cap_ends * sizeof *ring->end_ticks);
        if (!ring->ends || !ring->end_ticks)
            abort();
    }
    ring->ends[ring->n_ends] = ring->n;
    ring->end_ticks[ring->n_ends++] = ring->ticks;
}

/* The delta to `ticks`; with a TIME before it if it is too long. */
__attribute__((unused)) static uint64_t rb_delta(struct rb_ring *ring, uint64_t ticks)
{
    uint64_t delta = ticks - ring->ticks;
    if (delta > WEFT_DELTA_MAX || ring->n == 0) {
        rb_word(ring, ticks << 2 | WEFT_UNIT_TIME);
        delta = 0;
    }
    ring->ticks = ticks;
    return delta;
}

__attribute__((unused)) static void rb_op(struct rb_ring *ring, uint64_t ticks, enum weft_op op,
                                          int64_t argument, const uint64_t *extra, size_t n_extra)
{
    const uint64_t delta = rb_delta(ring, ticks);
    const uint64_t bits = (uint64_t)argument & ((UINT64_C(1) << 33) - 1);
    rb_word(ring, delta << WEFT_WORD_DELTA_SHIFT | bits << WEFT_WORD_ARGUMENT_SHIFT |
                      n_extra << WEFT_WORD_COUNT_SHIFT | (uint64_t)op << WEFT_WORD_OP_SHIFT |
                      WEFT_UNIT_OP);
    for (size_t k = 0; k < n_extra; k++)
        rb_word(ring, extra[k]);
    rb_record_end(ring);
}

/* The number of a function; 0 is address 0. */
__attribute__((unused)) static uint32_t rb_number(struct rb_ring *ring, uint64_t address)
{
    if (!ring->functions) {
        ring->functions = calloc(WEFT_RING_FUNCTIONS_MAX, sizeof *ring->functions);
        ring->n_functions = 1;
    }
    for (uint32_t number = 0; ring->functions && number < ring->n_functions; number++)
        if (ring->functions[number] == address)
            return number;
    if (!ring->functions || ring->n_functions == WEFT_RING_FUNCTIONS_MAX)
        abort();
    ring->functions[ring->n_functions] = address;
    return (uint32_t)ring->n_functions++;
}

/* Of a function that has a number. */
__attribute__((unused)) static void rb_call(struct rb_ring *ring, uint64_t ticks, bool is_exit,
                                            uint64_t address)
{
    const uint32_t delta = (uint32_t)rb_delta(ring, ticks);
    rb_unit(ring, delta << WEFT_UNIT_DELTA_SHIFT |
                      rb_number(ring, address) << WEFT_UNIT_NUMBER_SHIFT | is_exit);
    rb_record_end(ring);
}

/* Of one that has none. */
__attribute__((unused)) static void rb_call_far(struct rb_ring *ring, uint64_t ticks, bool is_exit,
                                                uint64_t address)
{
    rb_op(ring, ticks, is_exit ? WEFT_OP_EXIT_FAR : WEFT_OP_ENTER_FAR, 0, &address, 1);
}

/* Words `front`, then a text. */
__attribute__((unused)) static void rb_op_text(struct rb_ring *ring, uint64_t ticks,
                                               enum weft_op op, const uint64_t *front,
                                               size_t n_front, const char *text)
{
    uint64_t extra[WEFT_OP_WORDS_MAX] = { 0 };
    for (size_t k = 0; k < n_front; k++)
        extra[k] = front[k];
    extra[n_front] = strlen(text);
    memcpy(extra + n_front + 1, text, strlen(text));
    rb_op(ring, ticks, op, 0, extra, n_front + 1 + (strlen(text) + 7) / 8);
}

__attribute__((unused)) static uint64_t rb_file_ticks(const struct rb_ring *ring)
{
    return ring->piece.start_ticks + ((uint64_t)ring->piece.tid << 40) +
           ((uint64_t)ring->piece.library << 60);
}

/* A piece with the functions that none has told of yet, if there are any. */
__attribute__((unused)) static void rb_functions(struct rb *rb, struct rb_ring *ring,
                                                 uint64_t time_ns)
{
    const struct weft_functions_piece piece = { .file_ticks = rb_file_ticks(ring),
                                                .first = ring->n_told };
    struct rb payload = { 0 };
    if (ring->n_told == ring->n_functions)
        return;
    rb_put(&payload, &piece, sizeof piece);
    rb_put(&payload, ring->functions + ring->n_told,
           (ring->n_functions - ring->n_told) * sizeof *ring->functions);
    rb_piece(rb, WEFT_PIECE_FUNCTIONS, 0, ring->pid, time_ns, payload.bytes, payload.n_bytes);
    rb_fini(&payload);
    ring->n_told = ring->n_functions;
}

/* A piece with all records up to the `end`-th (exclusive), after one with their functions. */
__attribute__((unused)) static void rb_cut(struct rb *rb, struct rb_ring *ring, size_t end,
                                           uint64_t time_ns)
{
    const size_t n_end = end ? ring->ends[end - 1] : 0;
    struct rb payload = { 0 };
    rb_functions(rb, ring, time_ns);
    ring->piece.first_unit = ring->n_cut;
    ring->piece.base_ticks = ring->cut_ticks;
    ring->piece.file_ticks = rb_file_ticks(ring);
    rb_put(&payload, &ring->piece, sizeof ring->piece);
    rb_put(&payload, ring->units + ring->n_cut, (n_end - ring->n_cut) * sizeof *ring->units);
    rb_piece(rb, WEFT_PIECE_RING, 0, ring->pid, time_ns, payload.bytes, payload.n_bytes);
    rb_fini(&payload);
    ring->n_cut = n_end;
    ring->cut_ticks = end ? ring->end_ticks[end - 1] : 0;
}

__attribute__((unused)) static void rb_ring_fini(struct rb_ring *ring)
{
    free(ring->units);
    free(ring->ends);
    free(ring->end_ticks);
    free(ring->functions);
    *ring = (struct rb_ring){ 0 };
}

#endif
