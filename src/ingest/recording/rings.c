/* SPDX-License-Identifier: MIT
 *
 * Assembles pieces of rings into one stream for each (process, thread, library, start), with the
 * table of function numbers that its ring file had, and iterates over its records. Units that are
 * missing between pieces are counted as lost, repeated ones skipped; a record without a time or
 * function is dropped and counted.
 */
#include "ingest/recording/rings.h"

#include "base/vec.h"

#include <xxhash.h>

enum {
    UNIT_BYTES = 4,
    LARGE_UNITS = 1 << 14,
    PIECE_HEAD_BYTES = sizeof(struct weft_ring_piece),
    FUNCTIONS_HEAD_BYTES = sizeof(struct weft_functions_piece),
};

/* Numbers that are in no piece, between those of the pieces that are there: so many for each of the
 * file's bytes, and a few. */
enum { LEAST_GAPS = 1 << 20, BYTES_A_GAP = 8 };

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
    const uint64_t first_unit = weft_cur_u64(&cur);
    const uint8_t *name = weft_cur_take(&cur, sizeof((struct weft_ring_piece *)0)->name);
    const bool has_ended = weft_cur_u32(&cur) != 0;
    (void)weft_cur_u32(&cur);
    const uint64_t base_ticks = weft_cur_u64(&cur);
    const uint64_t file_ticks = weft_cur_u64(&cur);
    const uint32_t index = stream_of(rings, &key);
    struct rec_ring_piece *place = index == REC_NONE ? NULL : WEFT_VEC_PUSH(&rings->pieces);
    if (!place)
        return false;
    *place = (struct rec_ring_piece){
        .piece = number, .next = REC_NONE, .first_unit = first_unit, .base_ticks = base_ticks
    };
    struct rec_stream *stream = &rings->items[index];
    const uint32_t own = (uint32_t)(rings->pieces.n - 1);
    if (stream->first == REC_NONE)
        stream->first = own;
    else
        rings->pieces.items[stream->last].next = own;
    stream->last = own;
    stream->file_ticks = file_ticks;
    stream->has_ended |= has_ended;
    memcpy(stream->name, name, sizeof stream->name);
    return true;
}

/* ---- functions ------------------------------------------------------------------------------- */

static uint64_t functions_hash(uint32_t pid, uint64_t file_ticks)
{
    const uint64_t key[] = { pid, file_ticks };
    return XXH3_64bits(key, sizeof key);
}

/* Those of a ring file, which are made if they are not there yet; NULL without memory. */
static struct rec_functions *make_functions(struct rec_rings *rings, uint32_t pid,
                                            uint64_t file_ticks)
{
    for (uint64_t hash = functions_hash(pid, file_ticks);; hash++) {
        bool is_new;
        const uint32_t index = weft_map_add(rings->functions_of_key, hash, &is_new);
        if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&rings->functions)))
            return NULL;
        struct rec_functions *functions = &rings->functions.items[index];
        if (is_new)
            *functions = (struct rec_functions){ .pid = pid, .file_ticks = file_ticks };
        if (functions->pid == pid && functions->file_ticks == file_ticks)
            return functions;
    }
}

/* NULL: the recording holds none of it. */
static const struct rec_functions *find_functions(const struct rec_rings *rings, uint32_t pid,
                                                  uint64_t file_ticks)
{
    for (uint64_t hash = functions_hash(pid, file_ticks);; hash++) {
        const uint32_t index = weft_map_find(rings->functions_of_key, hash);
        if (index == WEFT_MAP_NONE)
            return NULL;
        const struct rec_functions *functions = &rings->functions.items[index];
        if (functions->pid == pid && functions->file_ticks == file_ticks)
            return functions;
    }
}

struct telling {
    struct rec_room room;
    uint64_t n_gaps; /* numbers without a function that may still be made */
};

/* Numbers [first, first + n) have these addresses, little-endian. */
static bool set_functions(struct rec_functions *functions, uint64_t first, const uint8_t *addresses,
                          size_t n)
{
    const size_t n_all = (size_t)first + n > functions->n ? (size_t)first + n : functions->n;
    if (!weft_vec_reserve(&functions->items, &functions->cap, n_all, sizeof *functions->items))
        return false;
    while (functions->n < n_all)
        functions->items[functions->n++] = REC_NO_FUNCTION;
    for (size_t k = 0; k < n; k++)
        functions->items[first + k] = weft_load_u64(addresses + 8 * k);
    return true;
}

/* Pieces come in the order of their numbers; a gap is where one of them was damaged. False without
 * memory. */
static bool add_functions(struct rec_rings *rings, const struct rec_pieces *pieces,
                          const struct rec_piece *piece, struct telling *telling)
{
    struct weft_str payload;
    if (!rec_piece_read(pieces, piece, &telling->room, &payload))
        return false;
    struct weft_cursor cur =
        weft_cur_init((const uint8_t *)payload.bytes, payload.n_bytes, piece->payload_off);
    const uint64_t file_ticks = weft_cur_u64(&cur), first = weft_cur_u64(&cur);
    const size_t n = weft_cur_left(&cur) / sizeof(uint64_t);
    const bool is_sound = payload.n_bytes >= FUNCTIONS_HEAD_BYTES &&
                          first <= WEFT_RING_FUNCTIONS_MAX && n <= WEFT_RING_FUNCTIONS_MAX - first;
    struct rec_functions *functions =
        is_sound ? make_functions(rings, piece->pid, file_ticks) : NULL;
    if (is_sound && !functions)
        return false;
    const uint64_t n_gap = is_sound && first > functions->n ? first - functions->n : 0;
    if (!is_sound || n_gap > telling->n_gaps) {
        if (rings->n_bad_pieces++ == 0)
            rings->bad_off = piece->payload_off;
        return true;
    }
    telling->n_gaps -= n_gap;
    return set_functions(functions, first, weft_cur_take(&cur, n * sizeof(uint64_t)), n);
}

enum weft_code rec_rings_read(const struct rec_pieces *pieces, struct rec_rings *rings,
                              struct weft_err *err)
{
    struct telling telling = { .n_gaps = pieces->file->n_bytes / BYTES_A_GAP + LEAST_GAPS };
    *rings = (struct rec_rings){ .of_key = weft_map_new(), .functions_of_key = weft_map_new() };
    bool is_good = rings->of_key && rings->functions_of_key && pieces->n < REC_NONE;
    for (size_t k = 0; is_good && k < pieces->n; k++)
        if (pieces->items[k].kind == WEFT_PIECE_RING)
            is_good = add_piece(rings, pieces, (uint32_t)k);
        else if (pieces->items[k].kind == WEFT_PIECE_FUNCTIONS)
            is_good = add_functions(rings, pieces, &pieces->items[k], &telling);
    rec_room_fini(&telling.room);
    return is_good ? WEFT_OK : weft_no_memory(err, "rings");
}

void rec_rings_fini(struct rec_rings *rings)
{
    WEFT_VEC_FINI(rings);
    WEFT_VEC_FINI(&rings->pieces);
    for (size_t k = 0; k < rings->functions.n; k++)
        WEFT_VEC_FINI(&rings->functions.items[k]);
    WEFT_VEC_FINI(&rings->functions);
    weft_map_free(rings->of_key);
    weft_map_free(rings->functions_of_key);
}

/* ---- records --------------------------------------------------------------------------------- */

void rec_cursor_init(struct rec_cursor *cursor, const struct rec_pieces *pieces,
                     const struct rec_rings *rings, const struct rec_stream *stream)
{
    const struct rec_functions *functions = find_functions(rings, stream->pid, stream->file_ticks);
    *cursor = (struct rec_cursor){ .pieces = pieces,
                                   .rings = rings,
                                   .next = stream->first,
                                   .functions = functions ? functions->items : NULL,
                                   .n_functions = functions ? functions->n : 0 };
}

void rec_cursor_fini(struct rec_cursor *cursor)
{
    rec_room_fini(&cursor->room);
}

/* The last piece is not needed any more in this reading. */
static void let_go(struct rec_cursor *cursor)
{
    if (cursor->n_units >= LARGE_UNITS)
        weft_mapped_done(cursor->pieces->file, cursor->off, cursor->n_units * UNIT_BYTES);
}

/* Opens the next piece: units that came before are passed over, missing ones are counted. */
static void open_piece(struct rec_cursor *cursor)
{
    const struct rec_ring_piece *ring = &cursor->rings->pieces.items[cursor->next];
    const struct rec_piece *piece = &cursor->pieces->items[ring->piece];
    struct weft_str payload;
    let_go(cursor);
    cursor->next = ring->next;
    cursor->n_units = cursor->at = 0;
    if (!rec_piece_read(cursor->pieces, piece, &cursor->room, &payload)) {
        cursor->has_failed = true;
        cursor->next = REC_NONE;
        return;
    }
    if (payload.n_bytes < PIECE_HEAD_BYTES)
        return;
    const uint64_t first = ring->first_unit;
    const size_t n_units = (payload.n_bytes - PIECE_HEAD_BYTES) / UNIT_BYTES;
    if (cursor->is_begun && first + n_units <= cursor->expected_unit && first + n_units >= first)
        return; /* delivered before */
    cursor->units = (const uint8_t *)payload.bytes + PIECE_HEAD_BYTES;
    cursor->n_units = n_units;
    cursor->off = piece->payload_off;
    if (cursor->is_begun && first != cursor->expected_unit) {
        if (cursor->n_lost_units + cursor->n_bad_units == 0)
            cursor->lost_off = piece->payload_off;
        cursor->n_lost_units += first > cursor->expected_unit ? first - cursor->expected_unit : 0;
        cursor->has_ticks = false;
    }
    if (first < cursor->expected_unit && cursor->is_begun)
        cursor->at = (size_t)(cursor->expected_unit - first);
    else if (ring->base_ticks) {
        cursor->ticks = ring->base_ticks;
        cursor->has_ticks = true;
    }
    cursor->is_begun = true;
    cursor->expected_unit = first + n_units;
}

static void drop_units(struct rec_cursor *cursor, size_t n_units)
{
    if (cursor->n_lost_units + cursor->n_bad_units == 0)
        cursor->lost_off = cursor->off + PIECE_HEAD_BYTES + UNIT_BYTES * cursor->at;
    cursor->n_bad_units += n_units;
    cursor->at += n_units;
}

/* Units of the record at the cursor; 0: it is cut. */
static size_t units_of(const struct rec_cursor *cursor)
{
    const size_t n_left = cursor->n_units - cursor->at;
    const uint32_t unit = rec_unit_at(cursor, cursor->at);
    if (rec_unit_is_call(unit))
        return 1;
    if (n_left < WEFT_WORD_UNITS)
        return 0;
    const uint64_t word = rec_word_at(cursor, cursor->at);
    const size_t n_units =
        WEFT_WORD_UNITS * ((unit & 3) == WEFT_UNIT_OP ? 1 + (size_t)rec_word_count(word) : 1);
    return n_units <= n_left ? n_units : 0;
}

/* The time since the record before, of a whole one that is no TIME. */
static uint64_t delta_of(const struct rec_cursor *cursor)
{
    const uint32_t unit = rec_unit_at(cursor, cursor->at);
    return rec_unit_is_call(unit) ? unit >> WEFT_UNIT_DELTA_SHIFT
                                  : rec_word_at(cursor, cursor->at) >> WEFT_WORD_DELTA_SHIFT;
}

bool rec_cursor_peek_slow(struct rec_cursor *cursor, uint64_t *ticks)
{
    for (;;) {
        while (cursor->at >= cursor->n_units && cursor->next != REC_NONE)
            open_piece(cursor);
        if (cursor->at >= cursor->n_units)
            return false;
        const uint32_t unit = rec_unit_at(cursor, cursor->at);
        const size_t n_units = units_of(cursor);
        if (n_units == 0) {
            drop_units(cursor, cursor->n_units - cursor->at); /* a record that is cut */
        } else if ((unit & 3) == WEFT_UNIT_TIME) {
            cursor->ticks = rec_word_at(cursor, cursor->at) >> 2;
            cursor->has_ticks = true;
            cursor->at += n_units;
        } else if (!cursor->has_ticks) {
            drop_units(cursor, n_units); /* when it happened is not known */
        } else if (rec_unit_is_call(unit) && rec_unit_address(cursor, unit) == REC_NO_FUNCTION) {
            cursor->ticks += delta_of(cursor);
            drop_units(cursor, n_units); /* of which function is not known */
        } else {
            *ticks = cursor->ticks + delta_of(cursor);
            return true;
        }
    }
}
