/* SPDX-License-Identifier: MIT
 *
 * Compares layouts for the columns of a block of calls: bytes a call, ns of processor time a call
 * to encode from balanced events, and to decode to start, end, function and depth. The table in
 * docs/performance-store.md comes from here.
 *
 * usage: store_layout [--calls N] [DUMP...]
 *
 * DUMP: for each thread u64 tid, u64 number of events, and struct weft_call_event for each, native
 * byte order. Without a dump, a seeded generator makes N calls (default 4,000,000). Build:
 *
 *     cc -O2 -std=gnu17 -D_GNU_SOURCE -Isrc bench/store_layout.c -lzstd -o store_layout
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "schema/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

enum { MOST_ROWS = 65536, MOST_DEPTH = 65536, MOST_KEYS = 65536, ROOM = MOST_ROWS * 40, RUNS = 3 };

static void fail(const char *what)
{
    (void)fprintf(stderr, "store_layout: %s\n", what);
    exit(1);
}

static void *room(size_t n_bytes)
{
    void *bytes = calloc(1, n_bytes);
    if (!bytes)
        fail("no memory");
    return bytes;
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- blocks of balanced events -------------------------------------------------------------- */

/* Rows as a builder has them: entries in order, and the exits between them. */
struct block {
    uint32_t n_rows, n_exits, n_functions, n_open;
    uint64_t first_ns;
    uint16_t *function; /* dictionary index */
    uint32_t *pops;     /* exits before the row */
    uint64_t *gap, *tail;
    uint64_t *start, *end; /* end only of rows that end in the block */
    uint32_t *depth;
};

static struct block block_new(void)
{
    return (struct block){
        .function = room(MOST_ROWS * sizeof(uint16_t)),
        .pops = room(MOST_ROWS * sizeof(uint32_t)),
        .gap = room(MOST_ROWS * sizeof(uint64_t)),
        .tail = room((MOST_ROWS + MOST_DEPTH) * sizeof(uint64_t)),
        .start = room(MOST_ROWS * sizeof(uint64_t)),
        .end = room((MOST_ROWS + MOST_DEPTH) * sizeof(uint64_t)),
        .depth = room(MOST_ROWS * sizeof(uint32_t)),
    };
}

/* Cuts the events of a thread, of which those that do not balance are left out, into blocks. */
struct cutter {
    const struct weft_call_event *events;
    uint64_t n_events, at;
    uint64_t last_ns;
    uint32_t keys[MOST_DEPTH], rows[MOST_DEPTH]; /* the stack */
    uint32_t depth;
    uint32_t stamp;
    uint32_t *stamp_of, *index_of; /* by function key modulo MOST_KEYS */
};

static bool cutter_next(struct cutter *cutter, struct block *block, uint32_t block_rows)
{
    uint32_t pops = 0;
    block->n_rows = block->n_exits = block->n_functions = 0;
    block->n_open = cutter->depth;
    block->first_ns = cutter->last_ns;
    for (uint32_t i = 0; i < cutter->depth; i++)
        cutter->rows[i] = UINT32_MAX;
    cutter->stamp++;
    while (cutter->at < cutter->n_events) {
        const struct weft_call_event *event = &cutter->events[cutter->at];
        if (event->kind == WEFT_CALL_ENTER && block->n_rows == block_rows)
            break;
        cutter->at++;
        const uint64_t time_ns =
            event->time_ns > cutter->last_ns ? event->time_ns : cutter->last_ns;
        if (event->kind == WEFT_CALL_ENTER && cutter->depth < MOST_DEPTH) {
            const uint32_t key = event->function_key % MOST_KEYS;
            if (cutter->stamp_of[key] != cutter->stamp) {
                cutter->stamp_of[key] = cutter->stamp;
                cutter->index_of[key] = block->n_functions++;
            }
            const uint32_t row = block->n_rows++;
            block->function[row] = (uint16_t)cutter->index_of[key];
            block->pops[row] = pops;
            block->gap[row] = time_ns - cutter->last_ns;
            block->start[row] = time_ns;
            block->end[row] = 0;
            block->depth[row] = cutter->depth;
            cutter->keys[cutter->depth] = event->function_key;
            cutter->rows[cutter->depth++] = row;
            cutter->last_ns = time_ns;
            pops = 0;
        } else if (event->kind == WEFT_CALL_EXIT || event->kind == WEFT_CALL_TAIL_EXIT) {
            uint32_t match = cutter->depth;
            while (match > 0 && cutter->keys[match - 1] != event->function_key)
                match--;
            while (match > 0 && cutter->depth >= match) {
                const uint32_t row = cutter->rows[--cutter->depth];
                if (row != UINT32_MAX)
                    block->end[row] = time_ns;
                block->tail[block->n_exits++] = time_ns - cutter->last_ns;
                cutter->last_ns = time_ns;
                pops++;
            }
        }
    }
    return block->n_rows > 0;
}

/* ---- columns -------------------------------------------------------------------------------- */

struct codec {
    ZSTD_CCtx *matches, *entropy;
    ZSTD_DCtx *decoder;
    uint8_t *raw[4]; /* columns before compression */
    size_t n_raw[4];
    uint8_t *packed;
    size_t n_packed[4];
    uint8_t *unpacked[4];
    uint64_t *start, *end;
    uint32_t *depth, *stack;
    uint16_t *function;
};

static void codec_init(struct codec *codec)
{
    codec->matches = ZSTD_createCCtx();
    codec->entropy = ZSTD_createCCtx();
    codec->decoder = ZSTD_createDCtx();
    if (!codec->matches || !codec->entropy || !codec->decoder)
        fail("no memory");
    ZSTD_CCtx_setParameter(codec->matches, ZSTD_c_compressionLevel, 1);
    ZSTD_CCtx_setParameter(codec->entropy, ZSTD_c_compressionLevel, -100);
    ZSTD_CCtx_setParameter(codec->entropy, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
    for (int i = 0; i < 4; i++) {
        codec->raw[i] = room(ROOM);
        codec->unpacked[i] = room(ROOM);
    }
    codec->packed = room(8 * ROOM);
    codec->start = room(MOST_ROWS * sizeof(uint64_t));
    codec->end = room((MOST_ROWS + MOST_DEPTH) * sizeof(uint64_t));
    codec->depth = room(MOST_ROWS * sizeof(uint32_t));
    codec->stack = room((MOST_ROWS + MOST_DEPTH) * sizeof(uint32_t));
    codec->function = room(MOST_ROWS * sizeof(uint16_t));
}

/* Compresses columns 0 ... n-1; bit i of `entropy` chooses the entropy coder alone. */
static size_t columns_pack(struct codec *codec, int n_columns, unsigned entropy)
{
    size_t n_packed = 0;
    for (int i = 0; i < n_columns; i++) {
        ZSTD_CCtx *context = entropy >> i & 1 ? codec->entropy : codec->matches;
        codec->n_packed[i] =
            ZSTD_compress2(context, codec->packed + n_packed, ROOM, codec->raw[i], codec->n_raw[i]);
        if (ZSTD_isError(codec->n_packed[i]))
            fail("zstd");
        n_packed += codec->n_packed[i];
    }
    return n_packed;
}

static void columns_unpack(struct codec *codec, int n_columns)
{
    const uint8_t *at = codec->packed;
    for (int i = 0; i < n_columns; i++) {
        if (ZSTD_decompressDCtx(codec->decoder, codec->unpacked[i], ROOM, at, codec->n_packed[i]) !=
            codec->n_raw[i])
            fail("zstd");
        at += codec->n_packed[i];
    }
}

static uint8_t *varint_put(uint8_t *at, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t varint_take(const uint8_t **at)
{
    uint64_t value = *(*at)++;
    if (value < 0x80)
        return value;
    value &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
        const uint64_t byte = *(*at)++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* Function index and exits before, the same in all layouts of events. */
static void code_put(struct codec *codec, const struct block *block, int column)
{
    uint8_t *at = codec->raw[column];
    for (uint32_t i = 0; i < block->n_rows; i++) {
        *at++ = (uint8_t)block->function[i];
        if (block->n_functions > 256)
            *at++ = (uint8_t)(block->function[i] >> 8);
        *at++ = (uint8_t)(block->pops[i] < 255 ? block->pops[i] : 255);
        if (block->pops[i] >= 255)
            at = varint_put(at, block->pops[i] - 255);
    }
    codec->n_raw[column] = (size_t)(at - codec->raw[column]);
}

static inline uint32_t code_take(const uint8_t **at, bool is_wide, uint32_t *pops)
{
    uint32_t function = *(*at)++;
    if (is_wide)
        function |= (uint32_t) * (*at)++ << 8;
    *pops = *(*at)++;
    if (*pops == 255)
        *pops += (uint32_t)varint_take(at);
    return function;
}

/* Rebuilds a block from events, GAP and TAIL giving the next delta. */
#define EVENTS_DECODE(codec, block, code, GAP, TAIL)                                               \
    do {                                                                                           \
        uint64_t now = (block)->first_ns;                                                          \
        uint32_t depth = (block)->n_open, exits = 0;                                               \
        const bool is_wide = (block)->n_functions > 256;                                           \
        for (uint32_t i = 0; i < depth; i++)                                                       \
            (codec)->stack[i] = MOST_ROWS + i;                                                     \
        for (uint32_t row = 0; row < (block)->n_rows; row++) {                                     \
            uint32_t n_pops;                                                                       \
            (codec)->function[row] = (uint16_t)code_take(&(code), is_wide, &n_pops);               \
            for (exits += n_pops; n_pops > 0; n_pops--) {                                          \
                now += (TAIL);                                                                     \
                (codec)->end[(codec)->stack[--depth]] = now;                                       \
            }                                                                                      \
            now += (GAP);                                                                          \
            (codec)->start[row] = now;                                                             \
            (codec)->depth[row] = depth;                                                           \
            (codec)->stack[depth++] = row;                                                         \
        }                                                                                          \
        for (; exits < (block)->n_exits; exits++) {                                                \
            now += (TAIL);                                                                         \
            (codec)->end[(codec)->stack[--depth]] = now;                                           \
        }                                                                                          \
    } while (0)

/* ---- the layouts ---------------------------------------------------------------------------- */

/* 1. Start deltas and durations, functions, depths: four columns of varints, zstd 1. */
static size_t rows_encode(struct codec *codec, const struct block *block)
{
    uint8_t *at[4] = { codec->raw[0], codec->raw[1], codec->raw[2], codec->raw[3] };
    uint64_t last_ns = block->first_ns;
    int64_t last_depth = 0;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        const int64_t step = (int64_t)block->depth[i] - last_depth;
        at[0] = varint_put(at[0], block->start[i] - last_ns);
        at[1] = varint_put(at[1], block->end[i] ? block->end[i] - block->start[i] + 1 : 0);
        at[2] = varint_put(at[2], block->function[i]);
        at[3] = varint_put(at[3], (uint64_t)(step * 2) ^ (uint64_t)(step >> 63));
        last_ns = block->start[i];
        last_depth = block->depth[i];
    }
    for (int i = 0; i < 4; i++)
        codec->n_raw[i] = (size_t)(at[i] - codec->raw[i]);
    return columns_pack(codec, 4, 0);
}

static void rows_decode(struct codec *codec, const struct block *block)
{
    columns_unpack(codec, 4);
    const uint8_t *at[4] = { codec->unpacked[0], codec->unpacked[1], codec->unpacked[2],
                             codec->unpacked[3] };
    uint64_t now = block->first_ns;
    int64_t depth = 0;
    for (uint32_t i = 0; i < block->n_rows; i++) {
        now += varint_take(&at[0]);
        const uint64_t duration = varint_take(&at[1]);
        const uint64_t step = varint_take(&at[3]);
        codec->start[i] = now;
        codec->end[i] = duration ? now + duration - 1 : 0;
        codec->function[i] = (uint16_t)varint_take(&at[2]);
        depth += (int64_t)(step >> 1) ^ -(int64_t)(step & 1);
        codec->depth[i] = (uint32_t)depth;
    }
}

/* 2. Gaps and tails as varints in two columns, functions and exits in a third, zstd 1. */
static size_t varints_encode(struct codec *codec, const struct block *block)
{
    uint8_t *gap = codec->raw[0];
    uint8_t *tail = codec->raw[1];
    for (uint32_t i = 0; i < block->n_rows; i++)
        gap = varint_put(gap, block->gap[i]);
    for (uint32_t i = 0; i < block->n_exits; i++)
        tail = varint_put(tail, block->tail[i]);
    codec->n_raw[0] = (size_t)(gap - codec->raw[0]);
    codec->n_raw[1] = (size_t)(tail - codec->raw[1]);
    code_put(codec, block, 2);
    return columns_pack(codec, 3, 0);
}

static void varints_decode(struct codec *codec, const struct block *block)
{
    columns_unpack(codec, 3);
    const uint8_t *gap = codec->unpacked[0];
    const uint8_t *tail = codec->unpacked[1];
    const uint8_t *code = codec->unpacked[2];
    EVENTS_DECODE(codec, block, code, varint_take(&gap), varint_take(&tail));
}

/* 3. and 4. Gaps and tails as byte planes with escapes beside. */
static inline uint64_t plane_take(const uint8_t **plane, const uint8_t **more)
{
    uint64_t value = *(*plane)++;
    if (value >= 252) {
        static const uint8_t sizes[4] = { 2, 3, 4, 8 };
        const uint8_t n_bytes = sizes[value - 252];
        value = 0;
        memcpy(&value, *more, n_bytes);
        *more += n_bytes;
    }
    return value;
}

static void plane_put(uint64_t value, uint8_t **plane, uint8_t **more)
{
    if (value < 252) {
        *(*plane)++ = (uint8_t)value;
        return;
    }
    const unsigned kind = value >> 16 == 0 ? 0 : value >> 24 == 0 ? 1 : value >> 32 == 0 ? 2 : 3;
    const size_t n_bytes = kind == 3 ? 8 : kind + 2;
    *(*plane)++ = (uint8_t)(252 + kind);
    memcpy(*more, &value, n_bytes);
    *more += n_bytes;
}

static size_t planes_encode(struct codec *codec, const struct block *block, unsigned entropy)
{
    uint8_t *gap = codec->raw[0];
    uint8_t *tail = codec->raw[1];
    uint8_t *more = codec->raw[2];
    for (uint32_t i = 0; i < block->n_rows; i++)
        plane_put(block->gap[i], &gap, &more);
    uint8_t *more_tail = more;
    for (uint32_t i = 0; i < block->n_exits; i++)
        plane_put(block->tail[i], &tail, &more_tail);
    codec->n_raw[0] = block->n_rows;
    codec->n_raw[1] = block->n_exits;
    codec->n_raw[2] = (size_t)(more_tail - codec->raw[2]);
    code_put(codec, block, 3);
    return columns_pack(codec, 4, entropy);
}

static size_t planes_matches_encode(struct codec *codec, const struct block *block)
{
    return planes_encode(codec, block, 0);
}

static size_t planes_entropy_encode(struct codec *codec, const struct block *block)
{
    return planes_encode(codec, block, 3);
}

static void planes_decode(struct codec *codec, const struct block *block)
{
    columns_unpack(codec, 4);
    const uint8_t *gap = codec->unpacked[0];
    const uint8_t *tail = codec->unpacked[1];
    const uint8_t *more = codec->unpacked[2];
    const uint8_t *code = codec->unpacked[3];
    const uint8_t *more_tail = more;
    static const uint8_t sizes[4] = { 2, 3, 4, 8 };
    for (uint32_t i = 0; i < block->n_rows; i++) /* a file would store where they begin */
        more_tail += gap[i] >= 252 ? sizes[gap[i] - 252] : 0;
    EVENTS_DECODE(codec, block, code, plane_take(&gap, &more), plane_take(&tail, &more_tail));
}

/* 5. Bit-packed: runs of 128 values, each at the width of the greatest; nothing behind it. */
enum { RUN = 128 };

static uint8_t *bits_put(uint8_t *at, const uint64_t *values, size_t n_values)
{
    uint64_t any = 0;
    for (size_t i = 0; i < n_values; i++)
        any |= values[i];
    const unsigned width = any ? 64u - (unsigned)__builtin_clzll(any) : 0;
    *at++ = (uint8_t)width;
    memset(at, 0, n_values * width / 8 + 17);
    for (size_t i = 0; i < n_values; i++) {
        const size_t bit = i * width;
        uint64_t low;
        memcpy(&low, at + bit / 8, 8);
        low |= values[i] << bit % 8;
        memcpy(at + bit / 8, &low, 8);
        if (width + bit % 8 > 64)
            at[bit / 8 + 8] = (uint8_t)(values[i] >> (64 - bit % 8));
    }
    return at + (n_values * width + 7) / 8;
}

static const uint8_t *bits_take(const uint8_t *at, uint64_t *values, size_t n_values)
{
    const unsigned width = *at++;
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    for (size_t i = 0; i < n_values; i++) {
        const size_t bit = i * width;
        uint64_t low;
        memcpy(&low, at + bit / 8, 8);
        low >>= bit % 8;
        if (width + bit % 8 > 64)
            low |= (uint64_t)at[bit / 8 + 8] << (64 - bit % 8);
        values[i] = low & mask;
    }
    return at + (n_values * width + 7) / 8;
}

static size_t bits_encode(struct codec *codec, const struct block *block)
{
    uint8_t *at = codec->packed;
    uint64_t values[RUN];
    for (uint32_t i = 0; i < block->n_rows; i += RUN) {
        const uint32_t n = block->n_rows - i < RUN ? block->n_rows - i : RUN;
        at = bits_put(at, block->gap + i, n);
        for (uint32_t j = 0; j < n; j++)
            values[j] = block->function[i + j];
        at = bits_put(at, values, n);
        for (uint32_t j = 0; j < n; j++)
            values[j] = block->pops[i + j];
        at = bits_put(at, values, n);
    }
    for (uint32_t i = 0; i < block->n_exits; i += RUN)
        at = bits_put(at, block->tail + i, block->n_exits - i < RUN ? block->n_exits - i : RUN);
    return (size_t)(at - codec->packed);
}

static void bits_decode(struct codec *codec, const struct block *block)
{
    static uint64_t gaps[MOST_ROWS], tails[MOST_ROWS + MOST_DEPTH];
    uint64_t functions[RUN], pops[RUN];
    const uint8_t *at = codec->packed;
    uint8_t *code_at = codec->unpacked[0];
    for (uint32_t i = 0; i < block->n_rows; i += RUN) {
        const uint32_t n = block->n_rows - i < RUN ? block->n_rows - i : RUN;
        at = bits_take(at, gaps + i, n);
        at = bits_take(at, functions, n);
        at = bits_take(at, pops, n);
        for (uint32_t j = 0; j < n; j++) {
            *code_at++ = (uint8_t)functions[j];
            if (block->n_functions > 256)
                *code_at++ = (uint8_t)(functions[j] >> 8);
            *code_at++ = (uint8_t)(pops[j] < 255 ? pops[j] : 255);
            if (pops[j] >= 255)
                code_at = varint_put(code_at, pops[j] - 255);
        }
    }
    for (uint32_t i = 0; i < block->n_exits; i += RUN)
        at = bits_take(at, tails + i, block->n_exits - i < RUN ? block->n_exits - i : RUN);
    const uint8_t *code = codec->unpacked[0];
    const uint64_t *gap = gaps;
    const uint64_t *tail = tails;
    EVENTS_DECODE(codec, block, code, *gap++, *tail++);
}

static const struct layout {
    const char *name;
    size_t (*encode)(struct codec *, const struct block *);
    void (*decode)(struct codec *, const struct block *);
} layouts[] = {
    { "start and duration varints, zstd 1", rows_encode, rows_decode },
    { "gap and tail varints, zstd 1", varints_encode, varints_decode },
    { "gap and tail planes, zstd 1", planes_matches_encode, planes_decode },
    { "gap and tail planes, entropy only", planes_entropy_encode, planes_decode },
    { "gap and tail, bit-packed", bits_encode, bits_decode },
};
enum { N_LAYOUTS = sizeof layouts / sizeof layouts[0] };

/* ---- measuring ------------------------------------------------------------------------------ */

struct measure {
    uint64_t n_calls, n_bytes;
    double encode_ns, decode_ns;
};

static void block_compare(const struct codec *codec, const struct block *block)
{
    for (uint32_t i = 0; i < block->n_rows; i++)
        if (codec->start[i] != block->start[i] || codec->depth[i] != block->depth[i] ||
            codec->function[i] != block->function[i] ||
            (block->end[i] && codec->end[i] != block->end[i]))
            fail("a layout does not give back what it got");
}

/* Best of a few runs, block by block, so that a moment of other work does not count. */
static void block_measure(struct codec *codec, const struct block *block,
                          struct measure measures[N_LAYOUTS])
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        double encode_ns = 1e18, decode_ns = 1e18;
        size_t n_bytes = 0;
        for (int run = 0; run < RUNS; run++) {
            const double begin_ns = now_ns();
            n_bytes = layouts[i].encode(codec, block);
            const double middle_ns = now_ns();
            layouts[i].decode(codec, block);
            const double end_ns = now_ns();
            if (middle_ns - begin_ns < encode_ns)
                encode_ns = middle_ns - begin_ns;
            if (end_ns - middle_ns < decode_ns)
                decode_ns = end_ns - middle_ns;
        }
        block_compare(codec, block);
        measures[i].n_calls += block->n_rows;
        measures[i].n_bytes += n_bytes;
        measures[i].encode_ns += encode_ns;
        measures[i].decode_ns += decode_ns;
    }
}

static void thread_measure(struct codec *codec, struct block *block, struct cutter *cutter,
                           uint32_t block_rows, struct measure measures[N_LAYOUTS])
{
    cutter->at = cutter->last_ns = cutter->depth = 0;
    while (cutter_next(cutter, block, block_rows))
        block_measure(codec, block, measures);
}

/* Calls of a program that walks trees: the same few shapes again and again, times that scatter. */
static struct weft_call_event *events_generate(uint64_t n_calls, uint64_t *n_events)
{
    struct weft_call_event *events = room((2 * n_calls + 64) * sizeof *events);
    uint64_t state = 1, time_ns = 0, n = 0;
    for (uint64_t calls = 0; calls < n_calls;) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t shape = (uint32_t)(state >> 60);
        const uint32_t n_deep = 1 + shape % 7;
        for (uint32_t i = 0; i < 2 * n_deep && calls < n_calls; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const uint32_t noise = (uint32_t)(state >> 58);
            const bool is_enter = i < n_deep;
            time_ns += 20 + noise / 2 + (noise == 7 ? (state >> 40) % 3000 : 0);
            events[n++] = (struct weft_call_event){
                .time_ns = time_ns,
                .function_key = 16 * (is_enter ? i : 2 * n_deep - 1 - i) + shape,
                .kind = is_enter ? WEFT_CALL_ENTER : WEFT_CALL_EXIT,
            };
            calls += is_enter;
        }
    }
    *n_events = n;
    return events;
}

static void measures_print(const char *source, uint32_t block_rows,
                           const struct measure measures[N_LAYOUTS])
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        const double n_calls = (double)measures[i].n_calls;
        printf("| %s | %" PRIu32 " | %s | %.3f | %.1f | %.1f |\n", source, block_rows,
               layouts[i].name, (double)measures[i].n_bytes / n_calls,
               measures[i].encode_ns / n_calls, measures[i].decode_ns / n_calls);
    }
}

static void dump_measure(const char *path, struct codec *codec, struct block *block,
                         struct cutter *cutter, uint32_t block_rows)
{
    struct measure measures[N_LAYOUTS] = { 0 };
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("cannot open the dump");
    for (uint64_t head[2]; fread(head, sizeof head, 1, file) == 1;) {
        struct weft_call_event *events = room((head[1] + 1) * sizeof *events);
        if (fread(events, sizeof *events, head[1], file) != head[1])
            fail("the dump ends early");
        cutter->events = events;
        cutter->n_events = head[1];
        thread_measure(codec, block, cutter, block_rows, measures);
        free(events);
    }
    (void)fclose(file);
    const char *name = strrchr(path, '/');
    measures_print(name ? name + 1 : path, block_rows, measures);
}

int main(int argc, char **argv)
{
    static struct codec codec;
    static struct cutter cutter;
    static const uint32_t sizes[] = { 16384, 32768, 65536 };
    struct block block = block_new();
    uint64_t n_calls = 4000000;
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--calls") == 0) {
        n_calls = strtoull(argv[2], NULL, 10);
        first = 3;
    }
    codec_init(&codec);
    cutter.stamp_of = room(MOST_KEYS * sizeof(uint32_t));
    cutter.index_of = room(MOST_KEYS * sizeof(uint32_t));
    printf("| trace | rows a block | layout | bytes a call | encode ns | decode ns |\n");
    printf("| --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int arg = first; arg < argc; arg++)
            dump_measure(argv[arg], &codec, &block, &cutter, sizes[i]);
        if (first < argc)
            continue;
        struct measure measures[N_LAYOUTS] = { 0 };
        struct weft_call_event *events = events_generate(n_calls, &cutter.n_events);
        cutter.events = events;
        thread_measure(&codec, &block, &cutter, sizes[i], measures);
        measures_print("generated", sizes[i], measures);
        free(events);
    }
    return 0;
}
