/* SPDX-License-Identifier: MIT
 *
 * Loads one block of calls: chunk, head compared with the index, columns, rows,
 * calls that cross its edges. Each buffer belongs to one worker and grows to the largest block it
 * has seen. Further entry points give only the functions, the contexts, or the raw columns of a
 * block.
 */
#include "base/vec.h"
#include "store/block.h"
#include "store/reader.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

/* ---- block decode ---------------------------------------------------------------------------- */

/* Rebuilds the calls of a block from its columns. Safe on any bytes: what does not fit is an
 * error. Decoding in two passes: first functions and depths, which proves that the stack never
 * underflows; then times, which needs no further checks. The two loops are the hot part of every
 * scan over calls. Chunks and checksums are not its business. */

/* Columns before and after. */
struct weft_block_decode {
    const struct weft_block_head *head;
    const uint8_t *columns[WEFT_BLOCK_COLUMNS]; /* decompressed */
    const uint32_t *function_ids; /* by dictionary index; 256 or 65,536 elements, as indexes go */
    uint32_t n_open;              /* calls open at the start, cut frames too */

    uint64_t *start_ns; /* n_rows elements */
    uint64_t *end_ns;   /* n_rows + n_open: the last are the open calls by depth, UINT64_MAX for
                           those that do not end here */
    uint32_t *function_id;
    uint32_t *depth;
    uint32_t *stack; /* n_open + n_rows; afterwards the calls open at the end, by depth: row, or
                        n_rows + depth for an open call */
    uint32_t n_left; /* out: calls on the stack at the end */
};

/* A byte plane with the escaped values beside it. */
struct time_column {
    const uint8_t *plane;
    const uint8_t *ext, *ext_end;
};

#define BAD_DELTA UINT64_MAX

/* Rare: a value that did not fit the plane. BAD_DELTA if bytes are missing or `last_ns` is passed.
 */
__attribute__((noinline)) static uint64_t escape_take(struct time_column *column, uint64_t marker,
                                                      uint64_t now_ns, uint64_t last_ns)
{
    const size_t n_bytes = weft_time_escape_bytes(marker);
    if ((size_t)(column->ext_end - column->ext) < n_bytes || now_ns > last_ns)
        return BAD_DELTA;
    const uint64_t delta_ns = weft_time_escape(marker, column->ext);
    column->ext += n_bytes;
    return delta_ns <= last_ns - now_ns ? delta_ns : BAD_DELTA;
}

static struct time_column time_column_init(const struct weft_block_decode *block,
                                           enum weft_block_column plane)
{
    const uint8_t *ext = block->columns[plane + 1];
    const size_t n_bytes = block->head->columns[plane + 1].raw_bytes;
    return (struct time_column){ block->columns[plane], ext, n_bytes ? ext + n_bytes : ext };
}

/* First pass: functions and depths. Afterwards every depth is one that the stack can have, and the
 * exits before rows are at most those of the block; so the second pass needs no checks. */
__attribute__((always_inline)) static inline bool codes_decode(struct weft_block_decode *block,
                                                               bool is_wide)
{
    const struct weft_block_head *head = block->head;
    const uint32_t n_rows = head->n_rows;
    const uint8_t *code = block->columns[WEFT_COLUMN_CODE];
    const uint32_t *restrict ids = block->function_ids;
    uint32_t *restrict function_id = block->function_id;
    uint32_t *restrict depth_of = block->depth;
    struct weft_cursor more = weft_cur_init(block->columns[WEFT_COLUMN_POPS],
                                            head->columns[WEFT_COLUMN_POPS].raw_bytes, 0);
    uint32_t max_index = 0;
    int64_t depth = block->n_open;
    int64_t sign = 0; /* negative once a depth was */
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t index = *code++;
        if (is_wide)
            index |= (uint32_t)*code++ << 8;
        uint32_t pops = *code++;
        if (__builtin_expect(pops == WEFT_FORMAT_POPS_ESCAPE, 0)) {
            const uint64_t beyond = weft_cur_varint(&more);
            if (beyond > head->n_exits)
                return false;
            pops += (uint32_t)beyond;
        }
        max_index = index > max_index ? index : max_index;
        depth -= pops;
        sign |= depth;
        function_id[row] = ids[index];
        depth_of[row] = (uint32_t)depth++;
    }
    const int64_t n_pops = (int64_t)block->n_open + n_rows - depth;
    return sign >= 0 && n_pops <= head->n_exits && depth >= head->n_exits - n_pops &&
           (n_rows == 0 || max_index < head->n_functions) && !more.fault &&
           weft_cur_left(&more) == 0;
}

/* Second pass: times. Each row ends the calls above its depth. They cannot overflow: a delta below
 * the escapes adds at most 251, and an escaped one is bounded by what is left to last_ns < 2^63. */
static bool times_decode(struct weft_block_decode *block)
{
    const struct weft_block_head *head = block->head;
    const uint32_t n_rows = head->n_rows;
    const uint64_t last_ns = head->last_ns;
    struct time_column gap = time_column_init(block, WEFT_COLUMN_GAP);
    struct time_column tail = time_column_init(block, WEFT_COLUMN_TAIL);
    const uint8_t *tail_at = tail.plane;
    const uint8_t *const tail_end = tail.plane + head->n_exits;
    uint64_t *restrict start_ns = block->start_ns;
    uint64_t *restrict end_ns = block->end_ns;
    const uint32_t *restrict depth_of = block->depth;
    uint32_t *restrict stack = block->stack;
    uint64_t now_ns = head->first_event_ns;
    size_t depth = block->n_open;
    for (size_t row = 0; row < n_rows; row++) {
        for (const size_t target = depth_of[row]; depth > target;) {
            uint64_t delta_ns = *tail_at++;
            if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0)) {
                delta_ns = escape_take(&tail, delta_ns, now_ns, last_ns);
                if (delta_ns == BAD_DELTA)
                    return false;
            }
            now_ns += delta_ns;
            end_ns[stack[--depth]] = now_ns;
        }
        uint64_t delta_ns = gap.plane[row];
        if (__builtin_expect(delta_ns >= WEFT_TIME_ESCAPE_2, 0)) {
            delta_ns = escape_take(&gap, delta_ns, now_ns, last_ns);
            if (delta_ns == BAD_DELTA)
                return false;
        }
        now_ns += delta_ns;
        start_ns[row] = now_ns;
        stack[depth++] = (uint32_t)row;
    }
    while (tail_at < tail_end) {
        uint64_t delta_ns = *tail_at++;
        if (delta_ns >= WEFT_TIME_ESCAPE_2)
            delta_ns = escape_take(&tail, delta_ns, now_ns, last_ns);
        if (delta_ns == BAD_DELTA)
            return false;
        now_ns += delta_ns;
        end_ns[stack[--depth]] = now_ns;
    }
    block->n_left = (uint32_t)depth;
    return now_ns == last_ns && gap.ext == gap.ext_end && tail.ext == tail.ext_end;
}

/* `at_off` names the block in messages. end_ns of rows on the final stack is undefined.
 * WEFT_E_MALFORMED. */
static enum weft_code weft_block_decode(struct weft_block_decode *block, uint64_t at_off,
                                        struct weft_err *err)
{
    const struct weft_block_head *head = block->head;
    for (uint32_t i = 0; i < block->n_open; i++) {
        block->stack[i] = head->n_rows + i;
        block->end_ns[head->n_rows + i] = UINT64_MAX;
    }
    const bool is_good = head->n_functions > WEFT_FORMAT_WIDE_DICT ? codes_decode(block, true)
                                                                   : codes_decode(block, false);
    if (!is_good || !times_decode(block))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected %" PRIu32 " calls and %" PRIu32 " exits from %" PRIu64
                         " to %" PRIu64 " ns, found columns that disagree",
                         head->n_rows, head->n_exits, head->first_event_ns, head->last_ns);
    return WEFT_OK;
}

/* ---- reader load ----------------------------------------------------------------------------- */

enum { NARROW_IDS = 256, WIDE_IDS = 65536 };

/* Arrays that grow to the largest block seen. */
struct weft_block_buf {
    struct weft_column_decoder *decoder;
    uint8_t *raw; /* decompressed columns */
    uint64_t *start_ns, *end_ns, *arg_value;
    uint32_t *function_id, *depth, *stack, *arg_row, *ids;
    uint8_t *flags;
    struct weft_open_call *open;
    size_t cap_raw, cap_start, cap_end, cap_arg_value, cap_function, cap_depth, cap_stack,
        cap_arg_row, cap_ids, cap_flags, cap_open;
    size_t n_ids; /* behind these are 0 */
};

/* A load in work. */
struct load {
    struct weft_store *store;
    struct store_thread *thread;
    struct store_block *block;
    struct weft_block_buf *buf;
    struct weft_block_head head;
    struct weft_cursor packed; /* columns as stored */
    const uint8_t *columns[WEFT_BLOCK_COLUMNS];
};

struct weft_block_buf *weft_block_buf_new(void)
{
    struct weft_block_buf *buf = calloc(1, sizeof *buf);
    if (!buf)
        return NULL;
    buf->decoder = weft_column_decoder_new();
    if (buf->decoder)
        return buf;
    free(buf);
    return NULL;
}

void weft_block_buf_free(struct weft_block_buf *buf)
{
    if (!buf)
        return;
    weft_column_decoder_free(buf->decoder);
    free(buf->raw);
    free(buf->start_ns);
    free(buf->end_ns);
    free(buf->arg_value);
    free(buf->function_id);
    free(buf->depth);
    free(buf->stack);
    free(buf->arg_row);
    free(buf->ids);
    free(buf->flags);
    free(buf->open);
    free(buf);
}

static enum weft_code no_memory(const struct load *load, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, load->block->off, "a block of %" PRIu32 " calls",
                     load->block->info.n_rows);
}

static enum weft_code disagree(const struct load *load, struct weft_err *err, const char *what)
{
    return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                     "expected what the index contains for this block, found other %s", what);
}

/* ---- the chunk ------------------------------------------------------------------------------ */

/* Finds the chunk and its head; its checksum is compared the first time only. */
static enum weft_code head_find(struct load *load, struct weft_err *err)
{
    const struct weft_mapped *file = &load->store->file;
    const struct store_block *block = load->block;
    struct weft_chunk chunk;
    WEFT_TRY(weft_chunk_parse(file->bytes, file->n_bytes, block->off, &chunk, err));
    if (chunk.id != WEFT_CHUNK_CALLS || chunk.codec != WEFT_CODEC_RAW ||
        chunk.chunk_bytes != block->chunk_bytes)
        return disagree(load, err, "chunk");
    WEFT_TRY(weft_chunk_verify_once(file->bytes, &chunk, &load->block->is_intact, err));
    load->packed = weft_cur_init(chunk.stored, chunk.stored_bytes,
                                 block->off + sizeof(struct weft_disk_chunk));
    WEFT_TRY(weft_block_head_parse(&load->packed, &load->head, err));
    struct weft_block_ended ended = { 0 };
    struct weft_block_left left = { 0 };
    for (uint32_t i = 0; i < load->head.n_ended; i++)
        ended = weft_block_ended_parse(&load->packed, &load->head, i, &ended);
    for (uint32_t i = 0; i < load->head.n_left; i++)
        left = weft_block_left_parse(&load->packed, &load->head, i, &left);
    if (load->packed.fault)
        return disagree(load, err, "frames");
    return WEFT_OK;
}

/* The numbers that the arrays are sized by, and those that analyses rely on. */
static enum weft_code head_check(const struct load *load, struct weft_err *err)
{
    const struct weft_block_head *head = &load->head;
    const struct store_block *block = load->block;
    const struct weft_block_info *info = &block->info;
    if (head->thread_id != (size_t)(load->thread - load->store->threads.items) ||
        head->block != (size_t)(block - load->thread->blocks.items))
        return disagree(load, err, "thread or number");
    if (head->n_rows != info->n_rows || head->first_row != info->first_row ||
        head->n_exits != block->n_exits || head->n_functions != info->n_functions ||
        head->n_carried != block->n_carried || head->n_cut_before != block->n_cut_before ||
        head->n_ended != block->n_ended || head->n_left != block->n_left ||
        head->max_level != block->max_level)
        return disagree(load, err, "counts");
    if (head->first_ns != info->first_ns || head->last_ns != info->last_ns ||
        head->first_event_ns != block->info.first_event_ns ||
        head->longest_gap_ns != info->longest_gap_ns)
        return disagree(load, err, "times");
    return WEFT_OK;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Decompresses columns first ... end-1 into buf->raw. */
static enum weft_code columns_unpack(struct load *load, int end, struct weft_err *err)
{
    size_t n_raw = 0;
    for (int i = 0; i < end; i++)
        n_raw += load->head.columns[i].raw_bytes;
    if (!weft_vec_reserve(&load->buf->raw, &load->buf->cap_raw, n_raw + 1, 1))
        return no_memory(load, err);
    uint8_t *raw = load->buf->raw;
    for (int i = 0; i < end; i++) {
        const struct weft_block_column_entry *column = &load->head.columns[i];
        const uint64_t at_off = weft_cur_offset(&load->packed);
        const uint8_t *stored = weft_cur_take(&load->packed, column->stored_bytes);
        if (!stored)
            return weft_fail(err, WEFT_E_MALFORMED, at_off,
                             "expected column %d of %" PRIu32 " bytes, %zu left", i,
                             column->stored_bytes, weft_cur_left(&load->packed));
        const enum weft_code code =
            weft_column_decode(load->buf->decoder, column->codec, stored, column->stored_bytes, raw,
                               column->raw_bytes, at_off, err);
        if (code != WEFT_OK) {
            (void)weft_within(err, "column %d", i);
            return code;
        }
        load->columns[i] = raw;
        raw += column->raw_bytes;
    }
    const size_t n_left = weft_cur_left(&load->packed);
    const uint32_t n_contexts = load->head.columns[WEFT_COLUMN_CONTEXTS].stored_bytes;
    if (end == WEFT_COLUMN_CONTEXTS && n_left != n_contexts)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(&load->packed),
                         "expected %" PRIu32 " bytes of contexts, then the end of the block, "
                         "found %zu bytes",
                         n_contexts, n_left);
    return WEFT_OK;
}

/* The dictionary as function ids. There is an element for every index that a code can hold. */
static enum weft_code ids_read(struct load *load, struct weft_err *err)
{
    const uint32_t n_functions = load->head.n_functions;
    const size_t n_ids = n_functions > WEFT_FORMAT_WIDE_DICT ? WIDE_IDS : NARROW_IDS;
    struct weft_block_buf *buf = load->buf;
    const size_t cap_before = buf->cap_ids;
    if (!weft_vec_reserve(&buf->ids, &buf->cap_ids, n_ids, sizeof *buf->ids))
        return no_memory(load, err);
    memset(buf->ids + cap_before, 0, (buf->cap_ids - cap_before) * sizeof *buf->ids);
    buf->n_ids = buf->n_ids > n_functions ? buf->n_ids : n_functions;
    struct weft_cursor dict =
        weft_cur_init(load->columns[WEFT_COLUMN_DICT],
                      load->head.columns[WEFT_COLUMN_DICT].raw_bytes, load->block->off);
    uint32_t key = 0;
    for (uint32_t i = 0; i < n_functions; i++) {
        key = weft_store_next_key(&dict, i, key);
        buf->ids[i] = weft_store_function_of_key(load->store, key);
        if (dict.fault || buf->ids[i] == WEFT_ID_NONE)
            return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                             "expected function %" PRIu32 " of the block in the function table, "
                             "found key %" PRIu32,
                             i, key);
    }
    if (weft_cur_left(&dict) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                         "expected %" PRIu32 " functions in the block, found more", n_functions);
    for (size_t i = n_functions; i < buf->n_ids; i++)
        buf->ids[i] = 0; /* the decoder reads them before it refuses such an index */
    buf->n_ids = n_functions;
    return WEFT_OK;
}

static enum weft_code rows_reserve(struct load *load, struct weft_err *err)
{
    struct weft_block_buf *buf = load->buf;
    const size_t n_rows = (size_t)load->head.n_rows + 1; /* so that none is NULL */
    const size_t n_open = load->block->info.n_open;
    if (!weft_vec_reserve(&buf->start_ns, &buf->cap_start, n_rows, sizeof *buf->start_ns) ||
        !weft_vec_reserve(&buf->end_ns, &buf->cap_end, n_rows + n_open, sizeof *buf->end_ns) ||
        !weft_vec_reserve(&buf->function_id, &buf->cap_function, n_rows,
                          sizeof *buf->function_id) ||
        !weft_vec_reserve(&buf->depth, &buf->cap_depth, n_rows, sizeof *buf->depth) ||
        !weft_vec_reserve(&buf->stack, &buf->cap_stack, n_rows + n_open, sizeof *buf->stack) ||
        !weft_vec_reserve(&buf->open, &buf->cap_open, n_open + 1, sizeof *buf->open))
        return no_memory(load, err);
    return WEFT_OK;
}

/* Calls open at the start: a walk down the stack as it was then. */
static void open_fill(struct load *load)
{
    uint32_t at = load->block->top;
    for (uint32_t depth = load->block->info.n_open; depth-- > 0;) {
        load->buf->open[depth] = load->thread->crossing.items[at];
        at = load->thread->below.items[at];
    }
}

/* The calls that are entered here and stay open; NULL if there are none. */
static const struct weft_open_call *calls_left(const struct load *load)
{
    return load->head.n_left ? &load->thread->crossing.items[load->block->first_left] : NULL;
}

/* Open calls must end here as the index says, and calls left open be those that it lists. */
static enum weft_code borders_check(struct load *load, const struct weft_block_decode *decoded,
                                    struct weft_err *err)
{
    const uint32_t n_rows = load->head.n_rows;
    const uint32_t n_open = load->block->info.n_open;
    const uint32_t n_ended = load->head.n_ended;
    if (n_ended > n_open || decoded->n_left != n_open - n_ended + load->head.n_left)
        return disagree(load, err, "calls left open");
    for (uint32_t i = 0; i < n_open; i++) {
        const uint64_t end_ns = decoded->end_ns[n_rows + i];
        if (end_ns != (i < n_open - n_ended ? UINT64_MAX : load->buf->open[i].end_ns))
            return disagree(load, err, "ends of open calls");
    }
    const struct weft_open_call *left = calls_left(load);
    for (uint32_t i = 0; i < load->head.n_left; i++) {
        const uint32_t row = decoded->stack[n_open - n_ended + i];
        if (row >= n_rows || left[i].row != load->head.first_row + row ||
            left[i].start_ns != decoded->start_ns[row] ||
            left[i].function_id != decoded->function_id[row])
            return disagree(load, err, "calls left open");
        decoded->end_ns[row] = left[i].end_ns;
    }
    return WEFT_OK;
}

/* The summary that stands in the index, against the rows: once a block. */
static enum weft_code summary_check(const struct load *load, struct weft_err *err)
{
    const struct weft_block_buf *buf = load->buf;
    uint64_t longest_ns = 0;
    uint32_t max_depth = 0;
    for (uint32_t i = 0; i < load->head.n_rows; i++) {
        const uint64_t duration_ns = buf->end_ns[i] - buf->start_ns[i];
        longest_ns = duration_ns > longest_ns ? duration_ns : longest_ns;
        max_depth = buf->depth[i] > max_depth ? buf->depth[i] : max_depth;
    }
    if (load->head.n_rows == 0)
        return WEFT_OK;
    if (buf->start_ns[0] != load->block->info.first_ns)
        return disagree(load, err, "first start");
    if (longest_ns != load->block->info.longest_call_ns)
        return disagree(load, err, "longest call");
    if ((int64_t)max_depth != load->block->max_level + (int64_t)load->thread->info.cut_calls)
        return disagree(load, err, "depths");
    return WEFT_OK;
}

/* ---- sparse columns ------------------------------------------------------------------------- */

static enum weft_code flags_read(struct load *load, const uint8_t **flags, struct weft_err *err)
{
    const uint32_t n_rows = load->head.n_rows;
    const uint32_t n_bytes = load->head.columns[WEFT_COLUMN_FLAGS].raw_bytes;
    const struct weft_open_call *left = calls_left(load);
    uint32_t any = n_bytes;
    for (uint32_t i = 0; i < load->head.n_left; i++)
        any |= left[i].flags;
    *flags = NULL;
    if (!any)
        return WEFT_OK;
    struct weft_block_buf *buf = load->buf;
    if (!weft_vec_reserve(&buf->flags, &buf->cap_flags, n_rows, 1))
        return no_memory(load, err);
    memset(buf->flags, 0, n_rows);
    struct weft_cursor in =
        weft_cur_init(load->columns[WEFT_COLUMN_FLAGS], n_bytes, load->block->off);
    uint64_t next = 0;
    while (weft_cur_left(&in) > 0 && !in.fault) {
        const uint64_t step = weft_cur_varint(&in);
        const uint8_t value = weft_cur_u8(&in);
        if (in.fault || step >= n_rows - next || value == 0 || (value & ~WEFT_FORMAT_CALL_FLAGS))
            return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                             "expected flags of rows below %" PRIu32 ", found others", n_rows);
        buf->flags[next + step] = value;
        next += step + 1;
    }
    for (uint32_t i = 0; i < load->head.n_left; i++)
        buf->flags[left[i].row - load->head.first_row] |= (uint8_t)left[i].flags;
    *flags = buf->flags;
    return in.fault ? disagree(load, err, "flags") : WEFT_OK;
}

static enum weft_code args_read(struct load *load, struct weft_calls *calls, struct weft_err *err)
{
    const uint32_t n_bytes = load->head.columns[WEFT_COLUMN_ARGS].raw_bytes;
    struct weft_block_buf *buf = load->buf;
    struct weft_cursor in =
        weft_cur_init(load->columns[WEFT_COLUMN_ARGS], n_bytes, load->block->off);
    uint64_t row = 0;
    size_t n_args = 0;
    if (n_bytes == 0)
        return WEFT_OK;
    if (!weft_vec_reserve(&buf->arg_row, &buf->cap_arg_row, n_bytes / 2, sizeof *buf->arg_row) ||
        !weft_vec_reserve(&buf->arg_value, &buf->cap_arg_value, n_bytes / 2,
                          sizeof *buf->arg_value))
        return no_memory(load, err);
    while (weft_cur_left(&in) > 0) {
        const uint64_t step = weft_cur_varint(&in);
        const uint64_t value = weft_cur_varint(&in);
        if (in.fault || step >= load->head.n_rows - row)
            return weft_fail(err, WEFT_E_MALFORMED, load->block->off,
                             "expected arguments of rows below %" PRIu32 ", found others",
                             load->head.n_rows);
        row += step;
        buf->arg_row[n_args] = (uint32_t)row;
        buf->arg_value[n_args++] = value;
    }
    calls->arg_row = buf->arg_row;
    calls->arg_value = buf->arg_value;
    calls->n_args = n_args;
    return WEFT_OK;
}

/* ---- the doors ------------------------------------------------------------------------------ */

static struct load load_init(struct weft_store *store, uint32_t thread_id, uint64_t block,
                             struct weft_block_buf *buf)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    struct store_thread *thread = &store->threads.items[thread_id];
    return (struct load){
        .store = store, .thread = thread, .block = &thread->blocks.items[block], .buf = buf
    };
}

/* Names the block in an error. */
static void load_failed(const struct load *load, struct weft_err *err)
{
    (void)weft_in_file(err, load->store->path);
    (void)weft_within(err, "block %zu of thread %zu",
                      (size_t)(load->block - load->thread->blocks.items),
                      (size_t)(load->thread - load->store->threads.items));
}

static enum weft_code rows_load(struct load *load, struct weft_calls *calls, struct weft_err *err)
{
    WEFT_TRY(rows_reserve(load, err));
    open_fill(load);
    struct weft_block_buf *buf = load->buf;
    struct weft_block_decode decode = {
        .head = &load->head,
        .function_ids = buf->ids,
        .n_open = load->block->info.n_open,
        .start_ns = buf->start_ns,
        .end_ns = buf->end_ns,
        .function_id = buf->function_id,
        .depth = buf->depth,
        .stack = buf->stack,
    };
    memcpy(decode.columns, load->columns, sizeof decode.columns);
    enum weft_code code = weft_block_decode(&decode, load->block->off, err);
    WEFT_THEN(code, borders_check(load, &decode, err));
    if (code == WEFT_OK && !atomic_load_explicit(&load->block->is_valid, memory_order_relaxed))
        code = summary_check(load, err);
    *calls = (struct weft_calls){
        .n_rows = load->head.n_rows,
        .first_row = load->head.first_row,
        .start_ns = buf->start_ns,
        .end_ns = buf->end_ns,
        .function_id = buf->function_id,
        .depth = buf->depth,
        .open = buf->open,
        .n_open = load->block->info.n_open,
    };
    WEFT_THEN(code, flags_read(load, &calls->flags, err));
    WEFT_THEN(code, args_read(load, calls, err));
    return code;
}

enum weft_code weft_store_load(struct weft_store *store, uint32_t thread_id, uint64_t block,
                               struct weft_block_buf *buf, struct weft_calls *calls,
                               struct weft_err *err)
{
    struct load load = load_init(store, thread_id, block, buf);
    enum weft_code code = head_find(&load, err);
    WEFT_THEN(code, head_check(&load, err));
    WEFT_THEN(code, columns_unpack(&load, WEFT_COLUMN_CONTEXTS, err)); /* calls do not need these */
    WEFT_THEN(code, ids_read(&load, err));
    WEFT_THEN(code, rows_load(&load, calls, err));
    if (code == WEFT_OK)
        atomic_store_explicit(&load.block->is_valid, true, memory_order_relaxed);
    else
        load_failed(&load, err);
    return code;
}

enum weft_code weft_store_block_functions(struct weft_store *store, uint32_t thread_id,
                                          uint64_t block, struct weft_block_buf *buf,
                                          const uint32_t **ids, size_t *n_ids, struct weft_err *err)
{
    struct load load = load_init(store, thread_id, block, buf);
    enum weft_code code = head_find(&load, err);
    WEFT_THEN(code, head_check(&load, err));
    WEFT_THEN(code, columns_unpack(&load, WEFT_COLUMN_DICT + 1, err));
    WEFT_THEN(code, ids_read(&load, err));
    if (code != WEFT_OK) {
        load_failed(&load, err);
        return code;
    }
    *ids = buf->ids;
    *n_ids = load.head.n_functions;
    return WEFT_OK;
}

enum weft_code weft_store_block_unpack(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                       struct weft_block_buf *buf,
                                       struct weft_block_unpacked *unpacked, struct weft_err *err)
{
    struct load load = load_init(store, thread_id, block, buf);
    const uint32_t n_open = load.block->info.n_open;
    enum weft_code code = head_find(&load, err);
    WEFT_THEN(code, head_check(&load, err));
    WEFT_THEN(code, columns_unpack(&load, WEFT_COLUMN_FLAGS, err));
    WEFT_THEN(code, ids_read(&load, err));
    if (code == WEFT_OK &&
        !weft_vec_reserve(&buf->open, &buf->cap_open, (size_t)n_open + 1, sizeof *buf->open))
        code = no_memory(&load, err);
    if (code != WEFT_OK) {
        load_failed(&load, err);
        return code;
    }
    open_fill(&load);
    *unpacked = (struct weft_block_unpacked){ .head = load.head,
                                              .ids = buf->ids,
                                              .open = buf->open,
                                              .left = calls_left(&load),
                                              .n_open = n_open,
                                              .off = load.block->off };
    memcpy(unpacked->columns, load.columns, sizeof load.columns);
    return WEFT_OK;
}

uint8_t *weft_block_buf_raw(struct weft_block_buf *buf, size_t n_bytes)
{
    return weft_vec_reserve(&buf->raw, &buf->cap_raw, n_bytes, 1) ? buf->raw : NULL;
}

struct weft_column_decoder *weft_block_buf_decoder(struct weft_block_buf *buf)
{
    return buf->decoder;
}

/* ---- contexts ------------------------------------------------------------------------------- */

/* The column alone: head and directory of the block have been read. */
static enum weft_code contexts_unpack(struct load *load, struct weft_cursor *contexts,
                                      struct weft_err *err)
{
    const struct weft_block_column_entry *column = &load->head.columns[WEFT_COLUMN_CONTEXTS];
    struct weft_block_buf *buf = load->buf;
    for (int i = 0; i < WEFT_COLUMN_CONTEXTS; i++)
        (void)weft_cur_take(&load->packed, load->head.columns[i].stored_bytes);
    const uint64_t at_off = weft_cur_offset(&load->packed);
    const uint8_t *stored = weft_cur_take(&load->packed, column->stored_bytes);
    if (!stored)
        return disagree(load, err, "contexts");
    if (!weft_vec_reserve(&buf->raw, &buf->cap_raw, column->raw_bytes + 1, 1))
        return no_memory(load, err);
    *contexts = weft_cur_init(buf->raw, column->raw_bytes, at_off);
    return weft_column_decode(buf->decoder, column->codec, stored, column->stored_bytes, buf->raw,
                              column->raw_bytes, at_off, err);
}

enum weft_code weft_store_block_contexts(struct weft_store *store, uint32_t thread_id,
                                         uint64_t block, struct weft_block_buf *buf,
                                         struct weft_cursor *contexts, struct weft_err *err)
{
    struct load load = load_init(store, thread_id, block, buf);
    enum weft_code code = head_find(&load, err);
    WEFT_THEN(code, head_check(&load, err));
    WEFT_THEN(code, contexts_unpack(&load, contexts, err));
    if (code != WEFT_OK)
        load_failed(&load, err);
    return code;
}
