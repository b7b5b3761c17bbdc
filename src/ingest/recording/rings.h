/* SPDX-License-Identifier: MIT
 *
 * Words of rings (schema/recording.h), put together from pieces: a stream for each slot that a
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
    uint64_t first_word, base_ticks;
};

/* What one thread wrote into one slot. */
struct rec_stream {
    uint32_t pid, tid, library;
    uint32_t first, last;        /* in `ring_pieces` */
    uint32_t thread;             /* of the kernel's numbering, once it is known */
    uint32_t true_pid, true_tid; /* likewise: as the kernel calls the thread */
    uint32_t next;               /* of the same thread; REC_NONE: none */
    uint64_t start_ticks;
    char name[16]; /* as the last piece has it */
    bool has_ended;
    bool is_renewed; /* its tid had another thread before */
    bool is_lossy;   /* words are missing somewhere; known once it was surveyed */
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
    struct weft_map *of_key;
    uint64_t n_bad_pieces, bad_off; /* too short for what they should hold */
};

/* WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code rec_rings_read(const struct rec_pieces *pieces, struct rec_rings *rings,
                                           struct weft_err *err);
void rec_rings_fini(struct rec_rings *rings);

/* ---- records --------------------------------------------------------------------------------- */

/* One record: an OP, or a call (words of the kinds ENTER and EXIT, whose op is 0). */
struct rec_record {
    uint64_t ticks;
    uint64_t word;        /* the first one */
    const uint8_t *extra; /* words that follow it */
    unsigned n_extra;
    uint64_t off; /* in the file, of its piece */
};

struct rec_cursor {
    const struct rec_pieces *pieces;
    const struct rec_rings *rings;
    struct rec_room room;
    uint32_t next; /* piece to be opened */
    const uint8_t *words;
    size_t n_words, at;     /* of the open piece */
    uint64_t ticks;         /* of the record before */
    uint64_t expected_word; /* number of the first word of the next piece */
    uint64_t off;           /* of the open piece */
    bool has_ticks;         /* the time is known */
    bool is_begun;          /* a piece was opened */
    bool has_failed;        /* no memory */
    uint64_t n_lost_words;  /* between pieces: thrown away, or damaged */
    uint64_t n_bad_words;   /* that are no records */
    uint64_t lost_off;      /* of the first place where words are missing */
};

void rec_cursor_init(struct rec_cursor *cursor, const struct rec_pieces *pieces,
                     const struct rec_rings *rings, const struct rec_stream *stream);
void rec_cursor_fini(struct rec_cursor *cursor);

static inline uint64_t rec_word_at(const struct rec_cursor *cursor, size_t at)
{
    return weft_load_u64(cursor->words + 8 * at);
}

static inline unsigned rec_word_kind(uint64_t word)
{
    return word & 3;
}

static inline uint64_t rec_word_delta(uint64_t word)
{
    return word >> WEFT_WORD_DELTA_SHIFT;
}

static inline uint64_t rec_word_address(uint64_t word)
{
    return word << (64 - WEFT_WORD_DELTA_SHIFT) >> (64 - WEFT_WORD_DELTA_SHIFT) >>
           WEFT_WORD_ADDRESS_SHIFT;
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
    if (cursor->at < cursor->n_words && cursor->has_ticks) {
        const uint64_t word = rec_word_at(cursor, cursor->at);
        if (rec_word_kind(word) <= WEFT_WORD_EXIT) {
            *ticks = cursor->ticks + rec_word_delta(word);
            return true;
        }
    }
    return rec_cursor_peek_slow(cursor, ticks);
}

/* Takes the record that was peeked at, which happened at `ticks`. */
static inline struct rec_record rec_cursor_take(struct rec_cursor *cursor, uint64_t ticks)
{
    struct rec_record record = { .ticks = ticks,
                                 .word = rec_word_at(cursor, cursor->at++),
                                 .off = cursor->off };
    cursor->ticks = ticks;
    if (rec_word_kind(record.word) == WEFT_WORD_OP) {
        record.extra = cursor->words + 8 * cursor->at;
        record.n_extra = rec_word_count(record.word);
        cursor->at += record.n_extra;
    }
    return record;
}

/* Does it tell that words found no room before it? */
static inline bool rec_is_loss(const struct rec_record *record)
{
    return rec_word_kind(record->word) == WEFT_WORD_OP && rec_word_op(record->word) == WEFT_OP_LOST;
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
