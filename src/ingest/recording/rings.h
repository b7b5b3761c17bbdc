/* SPDX-License-Identifier: MIT
 *
 * Units of rings (schema/recording.h), put together from pieces: a stream for each slot that a
 * thread had, and a cursor that goes through the records of one.
 */
#ifndef WEFT_INGEST_RECORDING_RINGS_H
#define WEFT_INGEST_RECORDING_RINGS_H

#include "base/cursor.h"
#include "base/map.h"
#include "ingest/recording/pieces.h"

#define REC_NONE UINT32_MAX

/* A piece of a stream, in order. */
struct rec_ring_piece {
    uint32_t piece; /* in rec_pieces */
    uint32_t next;  /* of the stream; REC_NONE: the last */
    uint64_t first_unit, base_ticks;
};

/* The functions that the numbers of a ring file are of. */
struct rec_functions {
    uint32_t pid;
    uint64_t file_ticks;
    uint64_t *items; /* addresses; REC_NO_FUNCTION of a number without a record of its function */
    size_t n, cap;
};

#define REC_NO_FUNCTION UINT64_MAX

/* What one thread wrote into one slot. */
struct rec_stream {
    uint32_t pid, tid, library;
    uint32_t first, last;        /* in `ring_pieces` */
    uint32_t thread;             /* of the kernel's numbering, once it is known */
    uint32_t true_pid, true_tid; /* likewise: as the kernel calls the thread */
    uint32_t next;               /* of the same thread; REC_NONE: none */
    uint64_t start_ticks;
    uint64_t file_ticks; /* of its ring file */
    char name[16];       /* as the last piece has it */
    bool has_ended;
    bool is_renewed; /* its tid had another thread before */
    bool is_lossy;   /* units are missing somewhere; known once it was surveyed */
};

struct rec_rings {
    struct {
        struct rec_stream *items; /* by first piece */
        size_t n, cap;
    };
    struct {
        struct rec_ring_piece *items;
        size_t n, cap;
    } pieces;
    struct {
        struct rec_functions *items; /* by first piece */
        size_t n, cap;
    } functions;
    struct weft_map *of_key, *functions_of_key;
    uint64_t n_bad_pieces, bad_off; /* too short for what they should hold */
};

/* WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code rec_rings_read(const struct rec_pieces *pieces, struct rec_rings *rings,
                                           struct weft_err *err);
void rec_rings_fini(struct rec_rings *rings);

/* ---- records --------------------------------------------------------------------------------- */

/* One record: an OP, or a call. */
struct rec_record {
    uint64_t ticks;
    enum weft_unit_kind kind;
    uint64_t address;     /* of the function, of ENTER and EXIT */
    uint64_t word;        /* the first one, of an OP */
    const uint8_t *extra; /* words that follow it */
    unsigned n_extra;
    uint64_t off; /* in the file, of its piece */
};

struct rec_cursor {
    const struct rec_pieces *pieces;
    const struct rec_rings *rings;
    struct rec_room room;
    uint32_t next;             /* piece to be opened */
    const uint64_t *functions; /* addresses by number; NULL: none */
    size_t n_functions;
    const uint8_t *units;
    size_t n_units, at;     /* of the open piece */
    uint64_t ticks;         /* of the record before */
    uint64_t expected_unit; /* number of the first unit of the next piece */
    uint64_t off;           /* of the open piece */
    bool has_ticks;         /* the time is known */
    bool is_begun;          /* a piece was opened */
    bool has_failed;        /* no memory */
    uint64_t n_lost_units;  /* between pieces: thrown away, or damaged */
    uint64_t n_bad_units;   /* that are no records */
    uint64_t lost_off;      /* of the first place where units are missing */
};

void rec_cursor_init(struct rec_cursor *cursor, const struct rec_pieces *pieces,
                     const struct rec_rings *rings, const struct rec_stream *stream);
void rec_cursor_fini(struct rec_cursor *cursor);

static inline uint32_t rec_unit_at(const struct rec_cursor *cursor, size_t at)
{
    return weft_load_u32(cursor->units + 4 * at);
}

static inline uint64_t rec_word_at(const struct rec_cursor *cursor, size_t at)
{
    return weft_load_u64(cursor->units + 4 * at);
}

static inline bool rec_unit_is_call(uint32_t unit)
{
    return (unit & 3) <= WEFT_UNIT_EXIT;
}

/* The address of the function that a call is of. */
static inline uint64_t rec_unit_address(const struct rec_cursor *cursor, uint32_t unit)
{
    const uint32_t number = unit >> WEFT_UNIT_NUMBER_SHIFT & (WEFT_RING_FUNCTIONS_MAX - 1);
    return number < cursor->n_functions ? cursor->functions[number] : REC_NO_FUNCTION;
}

static inline unsigned rec_word_op(uint64_t word)
{
    return word >> WEFT_WORD_OP_SHIFT & 0xff;
}

static inline unsigned rec_word_count(uint64_t word)
{
    return word >> WEFT_WORD_COUNT_SHIFT & WEFT_OP_WORDS_MAX;
}

/* 33 bits, two's complement. */
static inline int64_t rec_word_argument(uint64_t word)
{
    return (int64_t)(word << (64 - WEFT_WORD_DELTA_SHIFT)) >> (64 - 33);
}

/* Goes to the next record, past times and into further pieces; gives its time. False: there is
 * none any more (or no memory). It stays where it is until it is taken. */
bool rec_cursor_peek_slow(struct rec_cursor *cursor, uint64_t *ticks);

static inline bool rec_cursor_peek(struct rec_cursor *cursor, uint64_t *ticks)
{
    if (cursor->at < cursor->n_units && cursor->has_ticks) {
        const uint32_t unit = rec_unit_at(cursor, cursor->at);
        if (rec_unit_is_call(unit) && rec_unit_address(cursor, unit) != REC_NO_FUNCTION) {
            *ticks = cursor->ticks + (unit >> WEFT_UNIT_DELTA_SHIFT);
            return true;
        }
    }
    return rec_cursor_peek_slow(cursor, ticks);
}

/* Takes the record that was peeked at, which happened at `ticks`. */
static inline struct rec_record rec_cursor_take(struct rec_cursor *cursor, uint64_t ticks)
{
    const uint32_t unit = rec_unit_at(cursor, cursor->at);
    struct rec_record record = { .ticks = ticks, .kind = unit & 3, .off = cursor->off };
    cursor->ticks = ticks;
    if (rec_unit_is_call(unit)) {
        record.address = rec_unit_address(cursor, unit);
        cursor->at++;
        return record;
    }
    record.word = rec_word_at(cursor, cursor->at);
    record.n_extra = rec_word_count(record.word);
    record.extra = cursor->units + 4 * (cursor->at + WEFT_WORD_UNITS);
    cursor->at += (1 + (size_t)record.n_extra) * WEFT_WORD_UNITS;
    return record;
}

/* Does it record that there was no room for records before it? */
static inline bool rec_is_loss(const struct rec_record *record)
{
    return record->kind == WEFT_UNIT_OP && rec_word_op(record->word) == WEFT_OP_LOST;
}

/* A further word of a record; 0 beyond its end. */
static inline uint64_t rec_extra(const struct rec_record *record, unsigned place)
{
    return place < record->n_extra ? weft_load_u64(record->extra + 8 * (size_t)place) : 0;
}

/* The text that begins at word `place`: a length, then its bytes; as far as it is there. */
static inline struct weft_str rec_extra_text(const struct rec_record *record, unsigned place)
{
    if (place + 1 >= record->n_extra)
        return (struct weft_str){ "", 0 };
    const size_t n_most = 8 * (size_t)(record->n_extra - place - 1);
    const uint64_t n_bytes = rec_extra(record, place);
    return (struct weft_str){ (const char *)record->extra + 8 * (size_t)(place + 1),
                              n_bytes < n_most ? (size_t)n_bytes : n_most };
}

#endif
