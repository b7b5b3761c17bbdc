/* SPDX-License-Identifier: MIT */
#include "ingest/recording/rings.h"

#include "base/vec.h"

#include <xxhash.h>

enum { WORD_BYTES = 8, LARGE_WORDS = 1 << 13, PIECE_HEAD_BYTES = sizeof(struct weft_ring_piece) };

/* ---- streams --------------------------------------------------------------------------------- */

/* What makes a stream itself. */
struct key {
    uint64_t start_ticks;
    uint32_t pid, tid, library, zero;
};

/* A stream whose key has the hash of another one gets the next number that is free. */
static uint32_t stream_of(struct rec_rings *rings, const struct key *key)
{
    for (uint64_t hash = XXH3_64bits(key, sizeof *key);; hash++) {
        bool is_new;
        const uint32_t index = weft_map_add(rings->of_key, hash, &is_new);
        if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(rings)))
            return REC_NONE;
        struct rec_stream *stream = &rings->items[index];
        if (is_new)
            *stream = (struct rec_stream){ .pid = key->pid,
                                           .tid = key->tid,
                                           .library = key->library,
                                           .first = REC_NONE,
                                           .last = REC_NONE,
                                           .thread = REC_NONE,
                                           .next = REC_NONE,
                                           .start_ticks = key->start_ticks };
        if (stream->pid == key->pid && stream->tid == key->tid && stream->library == key->library &&
            stream->start_ticks == key->start_ticks)
            return index;
    }
}

static bool add_piece(struct rec_rings *rings, const struct rec_pieces *pieces, uint32_t number)
{
    const struct rec_piece *piece = &pieces->items[number];
    uint8_t front[PIECE_HEAD_BYTES];
    const size_t n_front = rec_piece_front(pieces, piece, front, sizeof front);
    if (n_front < sizeof front) {
        if (rings->n_bad_pieces++ == 0)
            rings->bad_off = piece->payload_off;
        return true;
    }
    struct weft_cursor cur = weft_cur_init(front, n_front, piece->payload_off);
    struct key key = { .pid = piece->pid };
    key.library = weft_cur_u32(&cur);
    key.tid = weft_cur_u32(&cur);
    key.start_ticks = weft_cur_u64(&cur);
    const uint64_t first_word = weft_cur_u64(&cur);
    const uint8_t *name = weft_cur_take(&cur, sizeof((struct weft_ring_piece *)0)->name);
    const bool has_ended = weft_cur_u32(&cur) != 0;
    (void)weft_cur_u32(&cur);
    const uint64_t base_ticks = weft_cur_u64(&cur);
    const uint32_t index = stream_of(rings, &key);
    struct rec_ring_piece *place = index == REC_NONE ? NULL : WEFT_VEC_PUSH(&rings->pieces);
    if (!place)
        return false;
    *place = (struct rec_ring_piece){
        .piece = number, .next = REC_NONE, .first_word = first_word, .base_ticks = base_ticks
    };
    struct rec_stream *stream = &rings->items[index];
    const uint32_t own = (uint32_t)(rings->pieces.n - 1);
    if (stream->first == REC_NONE)
        stream->first = own;
    else
        rings->pieces.items[stream->last].next = own;
    stream->last = own;
    stream->has_ended |= has_ended;
    memcpy(stream->name, name, sizeof stream->name);
    return true;
}

enum weft_code rec_rings_read(const struct rec_pieces *pieces, struct rec_rings *rings,
                              struct weft_err *err)
{
    *rings = (struct rec_rings){ .of_key = weft_map_new() };
    bool is_good = rings->of_key && pieces->n < REC_NONE;
    for (size_t k = 0; is_good && k < pieces->n; k++)
        if (pieces->items[k].kind == WEFT_PIECE_RING)
            is_good = add_piece(rings, pieces, (uint32_t)k);
    return is_good ? WEFT_OK : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for rings");
}

void rec_rings_fini(struct rec_rings *rings)
{
    WEFT_VEC_FINI(rings);
    WEFT_VEC_FINI(&rings->pieces);
    weft_map_free(rings->of_key);
}

/* ---- records --------------------------------------------------------------------------------- */

void rec_cursor_init(struct rec_cursor *cursor, const struct rec_pieces *pieces,
                     const struct rec_rings *rings, const struct rec_stream *stream)
{
    *cursor = (struct rec_cursor){ .pieces = pieces, .rings = rings, .next = stream->first };
}

void rec_cursor_fini(struct rec_cursor *cursor)
{
    rec_room_fini(&cursor->room);
}

/* The last piece is not needed any more in this reading. */
static void let_go(struct rec_cursor *cursor)
{
    if (cursor->n_words >= LARGE_WORDS)
        weft_mapped_done(cursor->pieces->file, cursor->off, cursor->n_words * WORD_BYTES);
}

/* Opens the next piece: words that came before are passed over, missing ones are counted. */
static void open_piece(struct rec_cursor *cursor)
{
    const struct rec_ring_piece *ring = &cursor->rings->pieces.items[cursor->next];
    const struct rec_piece *piece = &cursor->pieces->items[ring->piece];
    struct weft_str payload;
    let_go(cursor);
    cursor->next = ring->next;
    cursor->n_words = cursor->at = 0;
    if (!rec_piece_read(cursor->pieces, piece, &cursor->room, &payload)) {
        cursor->has_failed = true;
        cursor->next = REC_NONE;
        return;
    }
    if (payload.n_bytes < PIECE_HEAD_BYTES)
        return;
    const uint64_t first = ring->first_word;
    const size_t n_words = (payload.n_bytes - PIECE_HEAD_BYTES) / WORD_BYTES;
    if (cursor->is_begun && first + n_words <= cursor->expected_word && first + n_words >= first)
        return; /* told before */
    cursor->words = (const uint8_t *)payload.bytes + PIECE_HEAD_BYTES;
    cursor->n_words = n_words;
    cursor->off = piece->payload_off;
    if (cursor->is_begun && first != cursor->expected_word) {
        if (cursor->n_lost_words + cursor->n_bad_words == 0)
            cursor->lost_off = piece->payload_off;
        cursor->n_lost_words += first > cursor->expected_word ? first - cursor->expected_word : 0;
        cursor->has_ticks = false;
    }
    if (first < cursor->expected_word && cursor->is_begun)
        cursor->at = (size_t)(cursor->expected_word - first);
    else if (ring->base_ticks) {
        cursor->ticks = ring->base_ticks;
        cursor->has_ticks = true;
    }
    cursor->is_begun = true;
    cursor->expected_word = first + n_words;
}

static void drop_words(struct rec_cursor *cursor, size_t n_words)
{
    if (cursor->n_lost_words + cursor->n_bad_words == 0)
        cursor->lost_off = cursor->off + PIECE_HEAD_BYTES + WORD_BYTES * cursor->at;
    cursor->n_bad_words += n_words;
    cursor->at += n_words;
}

bool rec_cursor_peek_slow(struct rec_cursor *cursor, uint64_t *ticks)
{
    for (;;) {
        while (cursor->at >= cursor->n_words && cursor->next != REC_NONE)
            open_piece(cursor);
        if (cursor->at >= cursor->n_words)
            return false;
        const uint64_t word = rec_word_at(cursor, cursor->at);
        const unsigned kind = rec_word_kind(word);
        const size_t n_words = kind == WEFT_WORD_OP ? 1 + rec_word_count(word) : 1;
        if (kind == WEFT_WORD_TIME) {
            cursor->ticks = word >> 2;
            cursor->has_ticks = true;
            cursor->at++;
        } else if (n_words > cursor->n_words - cursor->at) {
            drop_words(cursor, cursor->n_words - cursor->at); /* a record that is cut */
        } else if (!cursor->has_ticks) {
            drop_words(cursor, n_words); /* when it happened is not known */
        } else {
            *ticks = cursor->ticks + rec_word_delta(word);
            return true;
        }
    }
}
