/* SPDX-License-Identifier: MIT
 *
 * Constants of the .weft file, version 1 (docs/format.md is normative).
 *
 *     +--------+-------+-------+-----+-------+-----------+--------+
 *     | header | chunk | chunk | ... | chunk | directory | footer |
 *     +--------+-------+-------+-----+-------+-----------+--------+
 *
 * All integers are little-endian; chunks begin at multiples of 8.
 */
#ifndef WEFT_STORE_FORMAT_H
#define WEFT_STORE_FORMAT_H

#include "base/cursor.h"

#include <stddef.h>
#include <stdint.h>

#define WEFT_FORMAT_MAGIC "WEFT\r\n\x1a\n"
#define WEFT_FORMAT_FOOTER_MAGIC "WEFTend\n"

enum {
    WEFT_FORMAT_VERSION = 1,
    WEFT_FORMAT_BLOCK_ROWS = 32768,     /* the writer's default */
    WEFT_FORMAT_MAX_BLOCK_ROWS = 65536, /* limits of the format */
    WEFT_FORMAT_MAX_DEPTH = 65535,      /* calls open at once, and also cut frames of a thread */
    WEFT_FORMAT_MAX_CALL_ARGS = 16,
    WEFT_FORMAT_CALL_FLAGS = 2 | 4 | 8, /* enum weft_call_flag that stand in a file */
    WEFT_FORMAT_CONTEXT_BYTES = 4,      /* a row, of contexts, at most */
    WEFT_FORMAT_MAX_RATIO = 32,         /* a compressed chunk is at least 1/32 of its content */
    WEFT_FORMAT_WIDE_DICT = 256,     /* more functions than this in a block: two bytes an index */
    WEFT_FORMAT_POPS_ESCAPE = 255,   /* this many exits or more before an entry */
    WEFT_FORMAT_BLOCK_EVENTS = 2048, /* the writer's default: a question decodes whole blocks */
    WEFT_FORMAT_MAX_BLOCK_EVENTS = 8192, /* also of all runs of a chunk that threads share */
    WEFT_FORMAT_MAX_PROCESSORS = 1 << 20,
    WEFT_FORMAT_MAX_PAYLOAD_BYTES = 1 << 20, /* of one event, and of all in a block */
    WEFT_FORMAT_MAX_STRINGS_BYTES = 1 << 20, /* names and categories of a block */
    WEFT_FORMAT_MAX_NAME_BYTES = 65535,
    WEFT_LEDGER_FIELDS = 14, /* numbers of a process in the ledger */
};

/* No time is later: about 292 years. */
#define WEFT_FORMAT_MAX_NS ((uint64_t)INT64_MAX)

/* Markers in the byte planes of the time columns: below the first the byte is the value. */
enum {
    WEFT_TIME_ESCAPE_2 = 252, /* the value is in the next 2 bytes of the escape column */
    WEFT_TIME_ESCAPE_3 = 253,
    WEFT_TIME_ESCAPE_4 = 254,
    WEFT_TIME_ESCAPE_8 = 255
};

/* How many bytes a marker has in the escape column, and the value that they are. */
static inline size_t weft_time_escape_bytes(uint64_t marker)
{
    return marker == WEFT_TIME_ESCAPE_8 ? 8 : (size_t)(marker - WEFT_TIME_ESCAPE_2) + 2;
}

static inline uint64_t weft_time_escape(uint64_t marker, const uint8_t *bytes)
{
    if (marker == WEFT_TIME_ESCAPE_2)
        return weft_load_u16(bytes);
    if (marker == WEFT_TIME_ESCAPE_3)
        return weft_load_u16(bytes) | (uint64_t)bytes[2] << 16;
    return marker == WEFT_TIME_ESCAPE_4 ? weft_load_u32(bytes) : weft_load_u64(bytes);
}

struct weft_disk_header { /* docs/format.md, "Header" */
    uint8_t magic[8];
    uint8_t version[2];
    uint8_t header_bytes[2];
    uint8_t reserved[12]; /* written 0; anything else is refused */
    uint8_t checksum[8];  /* XXH3-64 of the bytes before */
};
_Static_assert(sizeof(struct weft_disk_header) == 32, "header size is part of format v1");

struct weft_disk_chunk { /* docs/format.md, "Chunks" */
    uint8_t magic[4];    /* "WEFc" */
    uint8_t id[4];
    uint8_t codec; /* enum weft_codec */
    uint8_t flags; /* enum weft_chunk_flag */
    uint8_t reserved[6];
    uint8_t stored_bytes[8]; /* payload in the file */
    uint8_t raw_bytes[8];    /* payload decompressed */
    uint8_t checksum[8];     /* XXH3-64 of the 32 bytes before and the stored payload */
};
_Static_assert(sizeof(struct weft_disk_chunk) == 40, "chunk header size is part of format v1");
_Static_assert(offsetof(struct weft_disk_chunk, checksum) == 32, "layout is part of format v1");

struct weft_disk_footer { /* docs/format.md, "Footer" */
    uint8_t magic[8];
    uint8_t directory_off[8];
    uint8_t directory_bytes[8]; /* of the chunk with its header */
    uint8_t file_bytes[8];
    uint8_t checksum[8]; /* XXH3-64 of the 32 bytes before */
};
_Static_assert(sizeof(struct weft_disk_footer) == 40, "footer size is part of format v1");

enum weft_codec { WEFT_CODEC_RAW = 0, WEFT_CODEC_ZSTD = 1 };

enum weft_chunk_flag { WEFT_CHUNK_REQUIRED = 1 };

/* Chunk ids as little-endian numbers. */
#define WEFT_CHUNK_ID(a, b, c, d)                                                                  \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define WEFT_CHUNK_MAGIC WEFT_CHUNK_ID('W', 'E', 'F', 'c')
#define WEFT_CHUNK_META WEFT_CHUNK_ID('M', 'E', 'T', 'A')
#define WEFT_CHUNK_THREADS WEFT_CHUNK_ID('T', 'H', 'R', 'D')
#define WEFT_CHUNK_FUNCTIONS WEFT_CHUNK_ID('F', 'U', 'N', 'C')
#define WEFT_CHUNK_FOREIGN WEFT_CHUNK_ID('F', 'R', 'G', 'N')
#define WEFT_CHUNK_OBJECTS WEFT_CHUNK_ID('O', 'B', 'J', 'N')
#define WEFT_CHUNK_LIBRARIES WEFT_CHUNK_ID('L', 'I', 'B', 'F')
#define WEFT_CHUNK_LEDGER WEFT_CHUNK_ID('L', 'E', 'D', 'G')
#define WEFT_CHUNK_NOTES WEFT_CHUNK_ID('N', 'O', 'T', 'E')
#define WEFT_CHUNK_CALLS WEFT_CHUNK_ID('C', 'A', 'L', 'L')
#define WEFT_CHUNK_EVENTS WEFT_CHUNK_ID('E', 'V', 'N', 'T')
#define WEFT_CHUNK_BLOCKS WEFT_CHUNK_ID('B', 'L', 'K', 'S')
#define WEFT_CHUNK_CONTEXTS WEFT_CHUNK_ID('C', 'T', 'X', 'G')
#define WEFT_CHUNK_DETAILS WEFT_CHUNK_ID('L', 'O', 'D', 'C')
#define WEFT_CHUNK_LEVELS WEFT_CHUNK_ID('L', 'O', 'D', 'S')
#define WEFT_CHUNK_EVENT_INDEX WEFT_CHUNK_ID('E', 'V', 'I', 'X')
#define WEFT_CHUNK_SHARED_EVENTS WEFT_CHUNK_ID('E', 'V', 'N', 'S')
#define WEFT_CHUNK_ARRIVALS WEFT_CHUNK_ID('A', 'R', 'R', 'V')
#define WEFT_CHUNK_ARRIVAL_INDEX WEFT_CHUNK_ID('A', 'R', 'I', 'X')
#define WEFT_CHUNK_DIRECTORY WEFT_CHUNK_ID('D', 'I', 'R', 'C')

/* Fields of the META chunk; an unknown tag is skipped. */
enum weft_meta_tag {
    WEFT_META_FORMAT = 1,
    WEFT_META_DETAILS = 2,
    WEFT_META_SOURCE = 3,
    WEFT_META_CLOCK = 4,
    WEFT_META_BYTES_IN = 5,
    WEFT_META_SOME_CALLS = 6,
};

enum { WEFT_CLOCK_HAS_MONOTONIC = 1, WEFT_CLOCK_HAS_REALTIME = 2 };

/* Columns of a CALL block, in file order. */
enum weft_block_column {
    WEFT_COLUMN_DICT,     /* function keys, ascending, varint deltas */
    WEFT_COLUMN_CODE,     /* per row: dictionary index (1 or 2 bytes), exits before it (1 byte) */
    WEFT_COLUMN_POPS,     /* per code of 255 exits: the exits beyond 255, varint */
    WEFT_COLUMN_GAP,      /* per row: ns since the event before, byte plane */
    WEFT_COLUMN_GAP_EXT,  /* escaped values of it */
    WEFT_COLUMN_TAIL,     /* per exit, in time order: ns since the event before, byte plane */
    WEFT_COLUMN_TAIL_EXT, /* escaped values of it */
    WEFT_COLUMN_FLAGS,    /* rows with flags: (row delta, flags) varints */
    WEFT_COLUMN_ARGS,     /* arguments: (row delta, value) varints */
    WEFT_COLUMN_CONTEXTS, /* calling context tree of the block, or nothing */
    WEFT_BLOCK_COLUMNS,
};

/* Columns of an EVNT block, in file order; one value an event, but for the last two. A column whose
 * values are all 0 is omitted. */
enum weft_event_column {
    WEFT_EVENT_COLUMN_KIND, /* 1 byte; omitted when all are of one kind */
    WEFT_EVENT_COLUMN_TIME, /* zigzag varint: ns since the event before; the first: 0 */
    WEFT_EVENT_COLUMN_DURATION,
    WEFT_EVENT_COLUMN_VALUE,    /* varint; enum weft_event_value_code */
    WEFT_EVENT_COLUMN_NAME,     /* 0 empty, else 1 + index in the strings */
    WEFT_EVENT_COLUMN_CATEGORY, /* likewise */
    WEFT_EVENT_COLUMN_LENGTH,   /* bytes of payload */
    WEFT_EVENT_COLUMN_THREAD,   /* next_thread_id + 1 */
    WEFT_EVENT_COLUMN_OBJECT,   /* object_id + 1 */
    WEFT_EVENT_COLUMN_STACK,    /* stack_id + 1 */
    WEFT_EVENT_COLUMN_CPU,      /* zigzag of cpu + 1 */
    WEFT_EVENT_COLUMN_STATE,    /* prev_state */
    WEFT_EVENT_COLUMN_STRINGS,  /* (length, bytes) by first use */
    WEFT_EVENT_COLUMN_PAYLOAD,  /* bytes, end to end */
    WEFT_EVENT_COLUMNS,
};

/* How the value of an event is stored, by its kind. */
enum weft_event_value_code {
    WEFT_VALUE_SIGNED,   /* zigzag of the value as a signed number */
    WEFT_VALUE_RUNNING,  /* zigzag of the difference to the event of the same kind before it */
    WEFT_VALUE_REVERSED, /* bytes in reverse order: short for doubles of few digits */
    WEFT_VALUE_ROW,      /* difference to the event of the same kind before it, never negative */
};

/* Stores an integer; the mirror of weft_load_u64. */
static inline void weft_store_u16(uint8_t *bytes, uint16_t value)
{
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

static inline void weft_store_u32(uint8_t *bytes, uint32_t value)
{
    weft_store_u16(bytes, (uint16_t)value);
    weft_store_u16(bytes + 2, (uint16_t)(value >> 16));
}

static inline void weft_store_u64(uint8_t *bytes, uint64_t value)
{
    weft_store_u32(bytes, (uint32_t)value);
    weft_store_u32(bytes + 4, (uint32_t)(value >> 32));
}

#endif
