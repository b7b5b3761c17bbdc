/* SPDX-License-Identifier: MIT
 *
 * Builds recordings (docs/recording-format.md): pieces, and words of rings.
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

/* ---- words ----------------------------------------------------------------------------------- */

/* The words of one slot, as a library writes them; pieces are cut from them. */
struct rb_ring {
    uint64_t *words;
    size_t n, cap;
    uint64_t ticks; /* of the last record */
    size_t n_cut;   /* words that stand in pieces */
    uint64_t cut_ticks;
    struct weft_ring_piece piece;
    uint32_t pid;
    size_t *ends; /* of records, where pieces may end */
    uint64_t *end_ticks;
    size_t n_ends, cap_ends;
};

__attribute__((unused)) static void rb_word(struct rb_ring *ring, uint64_t word)
{
    if (ring->n == ring->cap) {
        ring->cap = ring->cap * 2 + 64;
        ring->words = realloc(ring->words, ring->cap * sizeof *ring->words);
        if (!ring->words)
            abort();
    }
    ring->words[ring->n++] = word;
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

/* The delta to `ticks`, shifted; with a TIME before it if it is too long. */
__attribute__((unused)) static uint64_t rb_delta(struct rb_ring *ring, uint64_t ticks)
{
    uint64_t delta = ticks - ring->ticks;
    if (delta > WEFT_WORD_DELTA_MAX || ring->n == 0) {
        rb_word(ring, ticks << 2 | WEFT_WORD_TIME);
        delta = 0;
    }
    ring->ticks = ticks;
    return delta << WEFT_WORD_DELTA_SHIFT;
}

__attribute__((unused)) static void rb_call(struct rb_ring *ring, uint64_t ticks, bool is_exit,
                                            uint64_t address)
{
    const uint64_t delta = rb_delta(ring, ticks);
    rb_word(ring, delta | address << WEFT_WORD_ADDRESS_SHIFT | is_exit);
    rb_record_end(ring);
}

__attribute__((unused)) static void rb_op(struct rb_ring *ring, uint64_t ticks, enum weft_op op,
                                          int64_t argument, const uint64_t *extra, size_t n_extra)
{
    const uint64_t delta = rb_delta(ring, ticks);
    const uint64_t bits = (uint64_t)argument & ((UINT64_C(1) << 33) - 1);
    rb_word(ring, delta | bits << WEFT_WORD_ARGUMENT_SHIFT | n_extra << WEFT_WORD_COUNT_SHIFT |
                      (uint64_t)op << WEFT_WORD_OP_SHIFT | WEFT_WORD_OP);
    for (size_t k = 0; k < n_extra; k++)
        rb_word(ring, extra[k]);
    rb_record_end(ring);
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

/* A piece with all records up to the `end`-th (exclusive). */
__attribute__((unused)) static void rb_cut(struct rb *rb, struct rb_ring *ring, size_t end,
                                           uint64_t time_ns)
{
    const size_t n_end = end ? ring->ends[end - 1] : 0;
    struct rb payload = { 0 };
    ring->piece.first_word = ring->n_cut;
    ring->piece.base_ticks = ring->cut_ticks;
    rb_put(&payload, &ring->piece, sizeof ring->piece);
    rb_put(&payload, ring->words + ring->n_cut, (n_end - ring->n_cut) * sizeof *ring->words);
    rb_piece(rb, WEFT_PIECE_RING, 0, ring->pid, time_ns, payload.bytes, payload.n_bytes);
    rb_fini(&payload);
    ring->n_cut = n_end;
    ring->cut_ticks = end ? ring->end_ticks[end - 1] : 0;
}

__attribute__((unused)) static void rb_ring_fini(struct rb_ring *ring)
{
    free(ring->words);
    free(ring->ends);
    free(ring->end_ticks);
    *ring = (struct rb_ring){ 0 };
}

#endif
