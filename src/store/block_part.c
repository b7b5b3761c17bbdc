/* SPDX-License-Identifier: MIT
 *
 * Random access in a block: prefix sums of the time columns every 64 values (SSE2 where there is),
 * depths four rows at a time, and open calls found by depths. After 32 searches in one block all of
 * its times are decoded once. The scans of model/calls and model/interval read the edges of a range
 * with it.
 */
#include "store/block_part.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/vec.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* After so many searches in one block all of its times are decoded: that costs as much. */
enum { MARK_VALUES = 64, ASKED_OFTEN = 32 };

/* Rows whose least depth is known: a search for a caller passes by all of them at once. */
enum { LOW_ROWS = 32 };

#define BYTES_ALL(byte) (UINT64_C(0x0101010101010101) * (byte))

/* A plane with its escapes, up to some value: their sum, and the escaped bytes among them. */
struct mark {
    uint64_t sum_ns;
    uint64_t ext;
};

/* A column of times. */
struct plane {
    const uint8_t *values, *ext;
    size_t n, n_ext;
    struct {
        struct mark *items; /* before value 0, 64, 128 ..., and at the end */
        size_t n, cap;
    } marks;
};

struct weft_block_part {
    struct weft_block_buf *buf;
    struct weft_store *store;
    struct weft_block_unpacked block;
    uint32_t thread_id;
    bool is_open;
    bool is_whole; /* start_ns and end_ns are those of all rows */
    uint32_t n_asked;
    size_t near; /* the row that was looked for last */
    struct plane gaps, tails;
    uint32_t depth_end; /* calls open at the block's end */
    struct {
        uint32_t *items;
        size_t n, cap;
    } depth, low, function_id, stack, chain; /* low: the least depth of LOW_ROWS rows each */
    struct {
        uint64_t *items;
        size_t n, cap;
    } start_ns, end_ns;
    struct {
        struct weft_open_call *items;
        size_t n, cap;
    } open;
};

struct weft_block_part *weft_block_part_new(void)
{
    struct weft_block_part *part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->buf = weft_block_buf_new();
    if (part->buf)
        return part;
    free(part);
    return NULL;
}

void weft_block_part_free(struct weft_block_part *part)
{
    if (!part)
        return;
    weft_block_buf_free(part->buf);
    WEFT_VEC_FINI(&part->gaps.marks);
    WEFT_VEC_FINI(&part->tails.marks);
    WEFT_VEC_FINI(&part->depth);
    WEFT_VEC_FINI(&part->low);
    WEFT_VEC_FINI(&part->function_id);
    WEFT_VEC_FINI(&part->stack);
    WEFT_VEC_FINI(&part->chain);
    WEFT_VEC_FINI(&part->start_ns);
    WEFT_VEC_FINI(&part->end_ns);
    WEFT_VEC_FINI(&part->open);
    free(part);
}

static enum weft_code no_memory(const struct weft_block_part *part, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, part->block.off, "a part of a block of %" PRIu32 " calls",
                     part->block.head.n_rows);
}

static enum weft_code disagree(const struct weft_block_part *part, struct weft_err *err,
                               const char *what)
{
    return weft_fail(err, WEFT_E_MALFORMED, part->block.off,
                     "expected what the index contains for this block, found other %s", what);
}

/* ---- sums of times --------------------------------------------------------------------------- */

/* The four numbers of two bytes, each with those below it; the sum of all is the highest. */
static inline uint64_t word_prefix(uint64_t pairs)
{
    return pairs * UINT64_C(0x0001000100010001);
}

/* Adds an escape to the mark; false if its bytes are missing, or the sum becomes more than
 * `limit_ns`. */
static bool escape_add(const struct plane *plane, size_t index, uint64_t limit_ns,
                       struct mark *mark)
{
    if (weft_time_escape_bytes(plane->values[index]) > plane->n_ext - mark->ext)
        return false;
    const uint8_t *value = plane->values + index, *ext = plane->ext + mark->ext;
    const uint64_t delta_ns = weft_block_steps_time(&value, &ext);
    mark->ext = (uint64_t)(ext - plane->ext);
    if (mark->sum_ns > limit_ns || delta_ns > limit_ns - mark->sum_ns)
        return false;
    mark->sum_ns += delta_ns;
    return true;
}

#ifndef __SSE2__
/* The highest bit of each of eight values that is an escape (252 or more). */
static inline uint64_t word_escapes(uint64_t word)
{
    const uint64_t high = word & BYTES_ALL(0xfc), low7 = BYTES_ALL(0x7f);
    const uint64_t differs = high ^ BYTES_ALL(0xfc); /* 0 in an escape */
    return ~(((differs & low7) + low7) | differs | low7);
}

/* Sums of neighbours, each in two bytes. */
static inline uint64_t word_pairs(uint64_t word)
{
    return (word & UINT64_C(0x00ff00ff00ff00ff)) + (word >> 8 & UINT64_C(0x00ff00ff00ff00ff));
}
#endif

/* The sum of 16 values that are no escapes, and a bit for each that is one. */
static inline uint64_t sum16(const uint8_t *values, uint64_t *escapes)
{
#ifdef __SSE2__
    __m128i all;
    memcpy(&all, values, sizeof all);
    const __m128i least = _mm_set1_epi8((char)WEFT_TIME_ESCAPE_2);
    const __m128i is_escape = _mm_cmpeq_epi8(_mm_max_epu8(all, least), all);
    const __m128i sums = _mm_sad_epu8(_mm_andnot_si128(is_escape, all), _mm_setzero_si128());
    *escapes = (uint64_t)_mm_movemask_epi8(is_escape);
    return (uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums)));
#else
    uint64_t pairs = 0;
    *escapes = 0;
    for (int i = 0; i < 16; i += 8) {
        const uint64_t word = weft_load_u64(values + i), high = word_escapes(word) >> 7;
        pairs += word_pairs(word & ~(high * 255));
        *escapes |= (high * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return word_prefix(pairs) >> 48;
#endif
}

/* Adds the values from `index` on, MARK_VALUES or those before `end`: the escapes after the others,
 * so that a branch is taken for each escape only. */
static bool group_add(const struct plane *plane, size_t index, size_t end, uint64_t limit_ns,
                      struct mark *mark)
{
    const uint8_t *values = plane->values + index;
    const size_t n = end - index < MARK_VALUES ? end - index : MARK_VALUES;
    uint8_t rest[16] = { 0 };
    if (n % 16)
        memcpy(rest, values + n / 16 * 16, n % 16);
    uint64_t escapes = 0;
    for (size_t i = 0; i < n; i += 16) {
        uint64_t among = 0;
        mark->sum_ns += sum16(n - i >= 16 ? values + i : rest, &among);
        escapes |= among << i;
    }
    for (; escapes; escapes &= escapes - 1)
        if (!escape_add(plane, index + (size_t)__builtin_ctzll(escapes), limit_ns, mark))
            return false;
    return true;
}

/* Makes the marks. False if the plane is longer than limit_ns or does not use up its escapes. */
static bool marks_make(struct plane *plane, uint64_t limit_ns)
{
    struct mark mark = { 0 };
    struct mark *marks = plane->marks.items;
    for (size_t i = 0; i < plane->n; i += MARK_VALUES) {
        *marks++ = mark;
        if (!group_add(plane, i, plane->n, limit_ns, &mark))
            return false;
    }
    *marks = mark;
    return mark.sum_ns <= limit_ns && mark.ext == plane->n_ext;
}

/* Where the values before `index` end. */
static struct mark mark_at(const struct plane *plane, size_t index)
{
    if (index == plane->n) /* the last mark need not be a 64th */
        return plane->marks.items[(plane->n + MARK_VALUES - 1) / MARK_VALUES];
    struct mark mark = plane->marks.items[index / MARK_VALUES];
    (void)group_add(plane, index / MARK_VALUES * MARK_VALUES, index, UINT64_MAX, &mark);
    return mark;
}

/* When `n_rows` calls have been entered and `n_exits` left. */
static uint64_t time_of(const struct weft_block_part *part, size_t n_rows, size_t n_exits)
{
    return part->block.head.first_event_ns + mark_at(&part->gaps, n_rows).sum_ns +
           mark_at(&part->tails, n_exits).sum_ns;
}

/* Exits before row `row` is entered, or, for the number of rows, before the block ends with these
 * many calls open. */
static size_t exits_before(const struct weft_block_part *part, size_t row, size_t n_open)
{
    return part->block.n_open + row - n_open;
}

static uint64_t start_of(const struct weft_block_part *part, size_t row)
{
    if (part->is_whole)
        return part->start_ns.items[row];
    return time_of(part, row + 1, exits_before(part, row, part->depth.items[row]));
}

/* ---- depths ---------------------------------------------------------------------------------- */

/* The depths of rows `row` ... n - 1, one by one; `depth` calls are open before. False if exits are
 * more than the block has. */
static bool depths_step(struct weft_block_part *part, struct weft_cursor *more, size_t row,
                        size_t n, int64_t *depth)
{
    const struct weft_block_head *head = &part->block.head;
    const size_t step = head->n_functions > WEFT_FORMAT_WIDE_DICT ? 3 : 2;
    const uint8_t *code = part->block.columns[WEFT_COLUMN_CODE] + row * step + step - 1;
    for (; row < n; row++, code += step) {
        int64_t pops = *code;
        if (__builtin_expect(pops == WEFT_FORMAT_POPS_ESCAPE, 0)) {
            const uint64_t beyond = weft_cur_varint(more);
            if (beyond > head->n_exits)
                return false;
            pops += (int64_t)beyond;
        }
        *depth -= pops;
        if (*depth < 0)
            return false;
        part->depth.items[row] = (uint32_t)(*depth)++;
    }
    return true;
}

/* The exits before each of four rows, in two bytes each. */
static inline uint64_t pops_load(const uint8_t *code, bool is_wide)
{
    if (!is_wide)
        return weft_load_u64(code) >> 8 & UINT64_C(0x00ff00ff00ff00ff);
    return code[2] | (uint64_t)code[5] << 16 | (uint64_t)code[8] << 32 | (uint64_t)code[11] << 48;
}

/* Four rows at a time, up to one that has 255 exits or more before it; returns where it stands. */
__attribute__((always_inline)) static inline size_t
depths_leap(struct weft_block_part *part, bool is_wide, size_t row, int64_t *depth)
{
    const uint8_t *code = part->block.columns[WEFT_COLUMN_CODE];
    const size_t n_rows = part->block.head.n_rows;
    int32_t *restrict depth_of = (int32_t *)part->depth.items;
    int32_t at = (int32_t)*depth; /* four times 254 exits a step: it cannot overflow */
    for (; n_rows - row >= 4; row += 4) {
        const uint64_t each = pops_load(code + (is_wide ? 3 : 2) * row, is_wide);
        if (__builtin_expect((each + UINT64_C(0x0001000100010001)) & UINT64_C(0x0100010001000100),
                             0))
            break;
        const uint64_t pops = word_prefix(each);
        for (int k = 0; k < 4; k++)
            depth_of[row + (size_t)k] = at + k - (int32_t)(pops >> 16 * k & 0xffff);
        at += 4 - (int32_t)(pops >> 48);
    }
    *depth = at;
    return row;
}

/* The deepest row must be as deep as the index says: callers rely on it. */
static bool deepest_fits(const struct weft_block_part *part)
{
    const uint64_t n_cut = part->store->threads.items[part->thread_id].info.cut_calls;
    const size_t n_rows = part->block.head.n_rows;
    uint32_t deepest = 0;
    for (size_t row = 0; row < n_rows; row++)
        deepest = part->depth.items[row] > deepest ? part->depth.items[row] : deepest;
    return n_rows == 0 || (int64_t)deepest == part->block.head.max_level + (int64_t)n_cut;
}

/* The least depths of each LOW_ROWS rows; returns the least of all, or of `low`. */
static int32_t lows_make(struct weft_block_part *part, int32_t low)
{
    const int32_t *depth_of = (const int32_t *)part->depth.items;
    const size_t n_rows = part->block.head.n_rows;
    for (size_t first = 0; first < n_rows; first += LOW_ROWS) {
        const size_t n = n_rows - first < LOW_ROWS ? n_rows - first : LOW_ROWS;
        int32_t here = INT32_MAX;
        for (size_t i = 0; i < n; i++)
            here = depth_of[first + i] < here ? depth_of[first + i] : here;
        part->low.items[first / LOW_ROWS] = (uint32_t)here;
        low = here < low ? here : low;
    }
    return low;
}

/* All of them, and what they must be like; *least is the least number of calls open. */
static bool depths_make(struct weft_block_part *part, uint32_t *least)
{
    const struct weft_block_head *head = &part->block.head;
    const bool is_wide = head->n_functions > WEFT_FORMAT_WIDE_DICT;
    struct weft_cursor more = weft_cur_init(part->block.columns[WEFT_COLUMN_POPS],
                                            head->columns[WEFT_COLUMN_POPS].raw_bytes, 0);
    const size_t n_rows = head->n_rows;
    int64_t depth = part->block.n_open;
    for (size_t row = 0; row < n_rows;) {
        row =
            is_wide ? depths_leap(part, true, row, &depth) : depths_leap(part, false, row, &depth);
        const size_t end = n_rows - row < 4 ? n_rows : row + 4;
        if (!depths_step(part, &more, row, end, &depth))
            return false;
        row = end;
    }
    const int32_t low = lows_make(part, (int32_t)part->block.n_open);
    const int64_t n_pops = (int64_t)part->block.n_open + head->n_rows - depth;
    const int64_t depth_end = depth - (head->n_exits - n_pops);
    if (low < 0 || n_pops > head->n_exits || depth_end < 0 || more.fault ||
        weft_cur_left(&more) > 0 || !deepest_fits(part))
        return false;
    part->depth_end = (uint32_t)depth_end;
    *least = (uint32_t)(depth_end < low ? depth_end : low);
    return true;
}

/* First row from `row` on that has fewer than `n_open` calls around it; n_rows if there is none. */
static size_t below_find(const struct weft_block_part *part, size_t row, uint32_t n_open)
{
    const uint32_t *depth = part->depth.items;
    const size_t n_rows = part->block.head.n_rows;
    while (row < n_rows && row % LOW_ROWS && depth[row] >= n_open)
        row++;
    if (row % LOW_ROWS)
        return row;
    while (n_rows - row >= LOW_ROWS && part->low.items[row / LOW_ROWS] >= n_open)
        row += LOW_ROWS;
    while (row < n_rows && depth[row] >= n_open)
        row++;
    return row;
}

/* The last row before `row` with at most `depth` calls around it; SIZE_MAX if there is none. */
static size_t caller_find(const struct weft_block_part *part, size_t row, uint32_t depth)
{
    const uint32_t *depth_of = part->depth.items;
    while (row % LOW_ROWS && depth_of[row - 1] > depth)
        row--;
    if (row % LOW_ROWS)
        return row - 1;
    while (row >= LOW_ROWS && part->low.items[row / LOW_ROWS - 1] > depth)
        row -= LOW_ROWS;
    while (row > 0 && depth_of[row - 1] > depth)
        row--;
    return row - 1;
}

/* The rows of the `n_open` calls that are open before row `row`, in chain[] by depth, from the
 * element returned on; those below were entered before the block. */
static uint32_t chain_find(struct weft_block_part *part, size_t row, uint32_t n_open)
{
    for (; n_open > 0; n_open--) {
        row = caller_find(part, row, n_open - 1);
        if (row == SIZE_MAX || part->depth.items[row] + 1 != n_open)
            return n_open;
        part->chain.items[n_open - 1] = (uint32_t)row;
    }
    return 0;
}

/* The ends of calls low ... n_open - 1 of the stack before row `row`, in end_ns[] by depth, as far
 * as they end in the block; returns how many calls of the stack are left at its end. */
static uint32_t ends_find(const struct weft_block_part *part, size_t row, uint32_t n_open,
                          uint32_t low, uint64_t *end_ns)
{
    const size_t n_rows = part->block.head.n_rows;
    while (n_open > low) {
        row = below_find(part, row, n_open);
        const uint32_t left = row < n_rows ? part->depth.items[row] : part->depth_end;
        for (; n_open > left && n_open > low; n_open--)
            end_ns[n_open - 1] = time_of(part, row, exits_before(part, row, n_open) + 1);
        if (row == n_rows)
            break;
    }
    return n_open;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool plane_set(struct weft_block_part *part, struct plane *plane, int column, size_t n)
{
    plane->values = part->block.columns[column];
    plane->ext = part->block.columns[column + 1];
    plane->n = n;
    plane->n_ext = part->block.head.columns[column + 1].raw_bytes;
    return weft_vec_reserve(&plane->marks.items, &plane->marks.cap, n / MARK_VALUES + 2,
                            sizeof *plane->marks.items);
}

static bool part_reserve(struct weft_block_part *part)
{
    const struct weft_block_head *head = &part->block.head;
    const size_t n_stack = (size_t)part->block.n_open + head->n_rows + 1;
    return weft_vec_reserve(&part->depth.items, &part->depth.cap, (size_t)head->n_rows + 1,
                            sizeof *part->depth.items) &&
           weft_vec_reserve(&part->low.items, &part->low.cap, head->n_rows / LOW_ROWS + 1,
                            sizeof *part->low.items) &&
           weft_vec_reserve(&part->chain.items, &part->chain.cap, n_stack,
                            sizeof *part->chain.items) &&
           weft_vec_reserve(&part->end_ns.items, &part->end_ns.cap, n_stack,
                            sizeof *part->end_ns.items) &&
           plane_set(part, &part->gaps, WEFT_COLUMN_GAP, head->n_rows) &&
           plane_set(part, &part->tails, WEFT_COLUMN_TAIL, head->n_exits);
}

static uint32_t function_of(const struct weft_block_part *part, size_t row)
{
    const uint8_t *code = part->block.columns[WEFT_COLUMN_CODE];
    if (part->block.head.n_functions <= WEFT_FORMAT_WIDE_DICT)
        return part->block.ids[code[2 * row]];
    return part->block.ids[code[3 * row] | (uint32_t)code[3 * row + 1] << 8];
}

/* Calls open at the start must end here as the index says, and calls left open be those that it
 * lists.
 */
static enum weft_code borders_check(struct weft_block_part *part, uint32_t least,
                                    struct weft_err *err)
{
    const struct weft_block_unpacked *block = &part->block;
    const uint32_t n_ended = block->head.n_ended, n_left = block->head.n_left;
    if (n_ended > block->n_open || least != block->n_open - n_ended ||
        part->depth_end - least != n_left)
        return disagree(part, err, "calls left open");
    (void)ends_find(part, 0, block->n_open, least, part->end_ns.items);
    for (uint32_t i = least; i < block->n_open; i++)
        if (part->end_ns.items[i] != block->open[i].end_ns)
            return disagree(part, err, "ends of open calls");
    if (chain_find(part, block->head.n_rows, part->depth_end) != least)
        return disagree(part, err, "calls left open");
    for (uint32_t i = 0; i < n_left; i++) {
        const uint32_t row = part->chain.items[least + i];
        if (block->left[i].row != block->head.first_row + row ||
            block->left[i].start_ns != start_of(part, row) ||
            block->left[i].function_id != function_of(part, row))
            return disagree(part, err, "calls left open");
    }
    return WEFT_OK;
}

static enum weft_code part_make(struct weft_block_part *part, struct weft_err *err)
{
    if (!part_reserve(part))
        return no_memory(part, err);
    const struct weft_block_head *head = &part->block.head;
    const uint64_t limit_ns = head->last_ns - head->first_event_ns;
    uint32_t least = 0;
    if (!depths_make(part, &least) || !marks_make(&part->gaps, limit_ns) ||
        !marks_make(&part->tails, limit_ns) ||
        time_of(part, part->gaps.n, part->tails.n) != head->last_ns ||
        (head->n_rows > 0 && start_of(part, 0) != head->first_ns))
        return weft_fail(err, WEFT_E_MALFORMED, part->block.off,
                         "expected %" PRIu32 " calls and %" PRIu32 " exits from %" PRIu64
                         " to %" PRIu64 " ns, found columns that disagree",
                         head->n_rows, head->n_exits, head->first_event_ns, head->last_ns);
    return borders_check(part, least, err);
}

static void part_failed(const struct weft_block_part *part, struct weft_err *err)
{
    (void)weft_in_file(err, part->store->path);
    (void)weft_within(err, "block %" PRIu64 " of thread %" PRIu32, part->block.head.block,
                      part->thread_id);
}

enum weft_code weft_block_part_open(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                    struct weft_block_part *part, struct weft_err *err)
{
    part->store = store;
    part->thread_id = thread_id;
    part->is_open = part->is_whole = false;
    part->n_asked = 0;
    WEFT_TRY(weft_store_block_unpack(store, thread_id, block, part->buf, &part->block, err));
    enum weft_code code = part_make(part, err);
    part->is_open = code == WEFT_OK;
    if (code != WEFT_OK)
        part_failed(part, err);
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

bool weft_block_part_is_whole(const struct weft_block_part *part)
{
    return part->is_whole;
}

size_t weft_block_part_n_rows(const struct weft_block_part *part)
{
    return part->block.head.n_rows;
}

uint64_t weft_block_part_start_ns(const struct weft_block_part *part, size_t row)
{
    return start_of(part, row);
}

/* Rows in work: `n_open` calls are open before the first. */
struct range {
    size_t first, n;
    uint32_t n_open;
    uint32_t n_below; /* of these, entered before the block */
};

static struct range range_of(const struct weft_block_part *part, size_t first, size_t end)
{
    return (struct range){ .first = first,
                           .n = end - first,
                           .n_open =
                               first ? part->depth.items[first - 1] + 1 : part->block.n_open };
}

static bool range_reserve(struct weft_block_part *part, const struct range *range)
{
    const size_t n_stack = range->n + range->n_open + 1;
    return weft_vec_reserve(&part->start_ns.items, &part->start_ns.cap, range->n + 1,
                            sizeof *part->start_ns.items) &&
           weft_vec_reserve(&part->end_ns.items, &part->end_ns.cap, 2 * n_stack,
                            sizeof *part->end_ns.items) &&
           weft_vec_reserve(&part->function_id.items, &part->function_id.cap, range->n + 1,
                            sizeof *part->function_id.items) &&
           weft_vec_reserve(&part->stack.items, &part->stack.cap, n_stack,
                            sizeof *part->stack.items) &&
           weft_vec_reserve(&part->open.items, &part->open.cap, (size_t)range->n_open + 1,
                            sizeof *part->open.items);
}

/* Where the times of the rows stand. */
static void steps_seek(const struct weft_block_part *part, const struct range *range,
                       struct weft_block_steps *steps)
{
    const size_t exit = exits_before(part, range->first, range->n_open);
    const struct mark gap = mark_at(&part->gaps, range->first);
    const struct mark tail = mark_at(&part->tails, exit);
    steps->gaps = part->gaps.values + range->first;
    steps->gap_ext = part->gaps.ext + gap.ext;
    steps->tails = part->tails.values + exit;
    steps->tail_ext = part->tails.ext + tail.ext;
    steps->first_ns = part->block.head.first_event_ns + gap.sum_ns + tail.sum_ns;
}

/* Times of the rows; stack[] then holds the calls open behind them, by depth: row, counted from the
 * first, or n + depth of a call that was open before. Returns how many they are. */
static uint32_t times_decode(struct weft_block_part *part, const struct range *range)
{
    const uint32_t *restrict depth_of = part->depth.items + range->first;
    uint64_t *restrict start_ns = part->start_ns.items;
    uint64_t *restrict end_ns = part->end_ns.items;
    uint32_t *restrict stack = part->stack.items;
    struct weft_block_steps steps;
    steps_seek(part, range, &steps);
    uint64_t now_ns = steps.first_ns;
    uint32_t depth = range->n_open;
    for (uint32_t i = 0; i < depth; i++)
        stack[i] = (uint32_t)range->n + i;
    for (size_t i = 0; i < range->n; i++) {
        for (const uint32_t target = depth_of[i]; depth > target;) {
            now_ns += weft_block_steps_time(&steps.tails, &steps.tail_ext);
            end_ns[stack[--depth]] = now_ns;
        }
        now_ns += weft_block_steps_time(&steps.gaps, &steps.gap_ext);
        start_ns[i] = now_ns;
        stack[depth++] = (uint32_t)i;
    }
    return depth;
}

/* The ends of the calls that are open behind the rows, but for those entered before the block. */
static void open_ends(struct weft_block_part *part, const struct range *range, uint32_t n_open,
                      uint64_t *by_depth)
{
    const struct weft_block_unpacked *block = &part->block;
    const uint32_t *stack = part->stack.items;
    uint32_t low = range->n_below < n_open ? range->n_below : n_open;
    while (low > 0 && stack[low - 1] < range->n)
        low--;
    const uint32_t n_left = ends_find(part, range->first + range->n, n_open, low, by_depth);
    const uint32_t least = block->n_open - block->head.n_ended;
    for (uint32_t i = low; i < n_open; i++)
        part->end_ns.items[stack[i]] = i < n_left ? block->left[i - least].end_ns : by_depth[i];
}

/* Starts and ends of the rows, and the ends of calls of the block that are open before. */
static void ends_decode(struct weft_block_part *part, const struct range *range)
{
    const uint32_t n_open = times_decode(part, range);
    open_ends(part, range, n_open, part->end_ns.items + range->n + range->n_open + 1);
}

/* Keeps the times of all rows; without memory they stay to be found one by one. */
static void whole_decode(struct weft_block_part *part)
{
    const struct range range = { .n = part->block.head.n_rows,
                                 .n_open = part->block.n_open,
                                 .n_below = part->block.n_open };
    if (!range_reserve(part, &range))
        return;
    ends_decode(part, &range);
    part->is_whole = true;
}

size_t weft_block_part_find(struct weft_block_part *part, uint64_t time_ns)
{
    if (!part->is_whole && ++part->n_asked >= ASKED_OFTEN)
        whole_decode(part);
    const size_t n_rows = part->block.head.n_rows;
    size_t row;
    if (part->is_whole)
        WEFT_SEARCH_NEAR(row, n_rows, part->near, part->start_ns.items[row] < time_ns);
    else
        WEFT_SEARCH(row, n_rows, start_of(part, row) < time_ns);
    part->near = row;
    return row;
}

/* The calls open before the first row. */
static void open_fill(struct weft_block_part *part, const struct range *range)
{
    const struct weft_block_unpacked *block = &part->block;
    for (uint32_t i = 0; i < range->n_open; i++) {
        struct weft_open_call *open = &part->open.items[i];
        if (i < range->n_below) {
            *open = block->open[i];
            continue;
        }
        const uint32_t row = part->chain.items[i];
        const size_t end_at = part->is_whole ? row : range->n + i;
        *open = (struct weft_open_call){ .start_ns = start_of(part, row),
                                         .end_ns = part->end_ns.items[end_at],
                                         .row = block->head.first_row + row,
                                         .function_id = function_of(part, row),
                                         .depth = i };
    }
}

/* The codes of the rows; an index beyond the dictionary is found here. */
static enum weft_code codes_check(const struct weft_block_part *part, const struct range *range,
                                  struct weft_block_steps *steps, struct weft_err *err)
{
    steps->is_wide = part->block.head.n_functions > WEFT_FORMAT_WIDE_DICT;
    steps->ids = part->block.ids;
    steps->code = part->block.columns[WEFT_COLUMN_CODE] + range->first * (steps->is_wide ? 3 : 2);
    const uint8_t *code = steps->code;
    uint32_t max_index = 0;
    if (steps->is_wide) {
        for (size_t i = 0; i < range->n; i++, code += 3) {
            const uint32_t index = code[0] | (uint32_t)code[1] << 8;
            max_index = index > max_index ? index : max_index;
        }
    } else {
        for (size_t i = 0; i < range->n; i++)
            max_index = code[2 * i] > max_index ? code[2 * i] : max_index;
    }
    if (range->n == 0 || max_index < part->block.head.n_functions)
        return WEFT_OK;
    const enum weft_code code_of_failure = disagree(part, err, "functions");
    part_failed(part, err);
    return code_of_failure;
}

static enum weft_code functions_decode(struct weft_block_part *part, const struct range *range,
                                       struct weft_err *err)
{
    struct weft_block_steps steps;
    const enum weft_code code = codes_check(part, range, &steps, err);
    for (size_t i = 0; i < range->n && code == WEFT_OK; i++)
        part->function_id.items[i] = weft_block_steps_function(&steps, &steps.code, steps.is_wide);
    return code;
}

enum weft_code weft_block_part_rows(struct weft_block_part *part, size_t first, size_t end,
                                    struct weft_calls *calls, struct weft_err *err)
{
    assert(part->is_open && first <= end && end <= part->block.head.n_rows);
    struct range range = range_of(part, first, end);
    if (!range_reserve(part, &range))
        return no_memory(part, err);
    range.n_below = chain_find(part, first, range.n_open);
    if (!part->is_whole)
        ends_decode(part, &range);
    open_fill(part, &range);
    WEFT_TRY(functions_decode(part, &range, err));
    *calls = (struct weft_calls){
        .n_rows = range.n,
        .first_row = part->block.head.first_row + first,
        .start_ns = part->start_ns.items + (part->is_whole ? first : 0),
        .end_ns = part->end_ns.items + (part->is_whole ? first : 0),
        .function_id = part->function_id.items,
        .depth = part->depth.items + first,
        .open = part->open.items,
        .n_open = range.n_open,
    };
    return WEFT_OK;
}

enum weft_code weft_block_part_steps(struct weft_block_part *part, size_t first, size_t end,
                                     struct weft_block_steps *steps, struct weft_err *err)
{
    assert(part->is_open && first < end && end <= part->block.head.n_rows);
    struct range range = range_of(part, first, end);
    if (!weft_vec_reserve(&part->function_id.items, &part->function_id.cap,
                          (size_t)range.n_open + 1, sizeof *part->function_id.items))
        return no_memory(part, err);
    WEFT_TRY(codes_check(part, &range, steps, err));
    steps_seek(part, &range, steps);
    range.n_below = chain_find(part, first, range.n_open);
    for (uint32_t i = 0; i < range.n_open; i++)
        part->function_id.items[i] = i < range.n_below ? part->block.open[i].function_id
                                                       : function_of(part, part->chain.items[i]);
    const size_t n_rows = part->block.head.n_rows;
    const uint32_t n_after = end < n_rows ? part->depth.items[end] : part->depth_end;
    steps->depth = part->depth.items + first;
    steps->open = part->function_id.items;
    steps->n_open = range.n_open;
    steps->n_rows = range.n;
    steps->n_behind = part->depth.items[end - 1] + 1 - n_after;
    steps->last_ns = start_of(part, end - 1);
    return WEFT_OK;
}
