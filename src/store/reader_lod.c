/* SPDX-License-Identifier: MIT
 *
 * Levels of detail of blocks and of groups of blocks. They only save time: what a file lacks, or
 * what does not fit its blocks, is "not known", and the caller looks at the calls.
 */
#include "base/vec.h"
#include "store/contexts.h"
#include "store/lod.h"
#include "store/reader.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

enum { MAX_DETAILS = 1 << 26 }; /* bytes of a stream: no block's are longer */

/* ---- the chunk of a block -------------------------------------------------------------------- */

/* Columns as they stand in the chunk. */
struct details {
    const struct weft_store *store;
    const struct store_thread *thread;
    struct store_block *block;
    struct weft_block_buf *buf;
    const uint32_t *ids;
    size_t n_ids;
    uint64_t n_cells;
    struct weft_cursor streams[WEFT_LOD_STREAMS];
};

static uint32_t id_of_index(const void *context, uint64_t index)
{
    const struct details *details = context;
    return index < details->n_ids ? details->ids[index] : WEFT_ID_NONE;
}

static uint32_t id_of_key(const void *store, uint64_t key)
{
    return key > UINT32_MAX ? WEFT_ID_NONE : weft_store_function_of_key(store, (uint32_t)key);
}

static struct weft_lod_names names_of(const struct store_thread *thread, uint64_t last_ns)
{
    return (struct weft_lod_names){ .last_ns = last_ns,
                                    .cut_calls = (uint32_t)thread->info.cut_calls,
                                    .max_depth = thread->info.max_depth };
}

static enum weft_code details_broken(const struct details *details, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_MALFORMED, details->block->off + details->block->chunk_bytes,
                     "expected the levels of detail of a block of %" PRIu32 " calls, found others",
                     details->block->info.n_rows);
}

/* The chunk behind the block's, if it is whole and speaks of this block. */
static bool chunk_find(struct details *details, struct weft_cursor *in)
{
    const struct weft_mapped *file = &details->store->file;
    const struct store_block *block = details->block;
    const uint64_t end = block->off + block->chunk_bytes;
    struct weft_chunk chunk;
    if (weft_chunk_parse(file->bytes, file->n_bytes, end + weft_chunk_padding(end), &chunk, NULL) !=
            WEFT_OK ||
        chunk.id != WEFT_CHUNK_DETAILS || chunk.codec != WEFT_CODEC_RAW ||
        weft_chunk_verify_once(file->bytes, &chunk, &details->block->is_lod_intact, NULL) !=
            WEFT_OK)
        return false;
    *in =
        weft_cur_init(chunk.stored, chunk.stored_bytes, chunk.off + sizeof(struct weft_disk_chunk));
    const uint64_t thread = weft_cur_varint(in);
    const uint64_t number = weft_cur_varint(in);
    details->n_cells = weft_cur_varint(in);
    return !in->fault && thread == (size_t)(details->thread - details->store->threads.items) &&
           number == (size_t)(block - details->thread->blocks.items);
}

/* Decompresses the streams into the buffer, which they stay in. */
static enum weft_code streams_unpack(struct details *details, struct weft_cursor *in,
                                     struct weft_err *err)
{
    uint32_t raw_bytes[WEFT_LOD_STREAMS];
    size_t n_raw = 0;
    for (int i = 0; i < WEFT_LOD_STREAMS; i++) {
        const uint64_t n_bytes = weft_cur_varint_max(in, MAX_DETAILS);
        if (n_bytes / WEFT_FORMAT_MAX_RATIO > weft_cur_left(in))
            in->fault = true;
        raw_bytes[i] = (uint32_t)n_bytes;
        n_raw += n_bytes;
    }
    uint8_t *raw = in->fault ? NULL : weft_block_buf_raw(details->buf, n_raw + 1);
    if (!raw)
        return in->fault ? details_broken(details, err) : weft_no_memory(err, "a level of detail");
    for (int i = 0; i < WEFT_LOD_STREAMS; i++) {
        const uint8_t codec = weft_cur_u8(in);
        const uint32_t n_bytes = weft_cur_u32(in);
        const uint64_t at_off = weft_cur_offset(in);
        const uint8_t *stored = weft_cur_take(in, n_bytes);
        if (!stored)
            return details_broken(details, err);
        WEFT_TRY(weft_column_decode(weft_block_buf_decoder(details->buf), codec, stored, n_bytes,
                                    raw, raw_bytes[i], at_off, err));
        details->streams[i] = weft_cur_init(raw, raw_bytes[i], at_off);
        raw += raw_bytes[i];
    }
    return weft_cur_left(in) > 0 ? details_broken(details, err) : WEFT_OK;
}

/* Calls of the block that are neither among those left open nor in a unit there must not be, nor
 * the other way round. */
static bool counts_fit(const struct details *details, const struct weft_lod_units *units)
{
    const uint64_t want = details->block->info.n_rows - details->block->n_left;
    uint64_t n = units->calls.n;
    for (size_t i = 0; i < units->sums.n; i++) {
        if (units->sums.items[i].count > want)
            return false;
        n += units->sums.items[i].count;
    }
    return n == want;
}

/* Units of one level, `n` of them; cells have rows. */
static enum weft_code level_take(struct details *details, const struct weft_lod_names *names,
                                 uint64_t n, bool has_rows, struct weft_lod_units *units,
                                 struct weft_err *err)
{
    struct weft_cursor *streams[WEFT_LOD_STREAMS];
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        streams[i] = &details->streams[i];
    uint64_t start_ns = details->block->info.first_ns, n_left = details->block->info.n_rows;
    weft_lod_units_reset(units);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t step_ns = weft_cur_varint(streams[WEFT_LOD_COUNTS]);
        const uint64_t n_rows = has_rows ? weft_cur_varint(streams[WEFT_LOD_COUNTS]) : 0;
        if (step_ns > names->last_ns - start_ns || (i == 0 && step_ns > 0) || n_rows > n_left)
            return details_broken(details, err);
        start_ns += step_ns;
        n_left -= n_rows;
        WEFT_TRY(weft_lod_take(streams, names, start_ns, units, err));
        units->units.items[i].n_rows = (uint32_t)n_rows;
    }
    return counts_fit(details, units) && (!has_rows || n_left == 0) ? WEFT_OK
                                                                    : details_broken(details, err);
}

static enum weft_code details_take(struct details *details, struct weft_lod_units *units,
                                   struct weft_err *err)
{
    const uint64_t n_cells = details->n_cells;
    const uint64_t n_groups = n_cells / WEFT_LOD_GROUP_CELLS + (n_cells % WEFT_LOD_GROUP_CELLS > 0);
    struct weft_lod_names names = names_of(details->thread, details->block->info.last_ns);
    names.function_of = id_of_index;
    names.context = details;
    if (n_cells > weft_cur_left(&details->streams[WEFT_LOD_COUNTS]))
        return details_broken(details, err);
    enum weft_code code = level_take(details, &names, n_groups, false, &units[1], err);
    WEFT_THEN(code, level_take(details, &names, n_cells, true, &units[0], err));
    return code;
}

enum weft_code weft_store_details(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                  struct weft_block_buf *buf, struct weft_lod_units *units,
                                  bool *is_known, struct weft_err *err)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    struct details details = {
        .store = store, .thread = thread, .block = &thread->blocks.items[block], .buf = buf
    };
    struct weft_cursor in;
    *is_known = false;
    if (details.block->info.n_rows == 0 || !chunk_find(&details, &in))
        return WEFT_OK;
    enum weft_code code =
        weft_store_block_functions(store, thread_id, block, buf, &details.ids, &details.n_ids, err);
    WEFT_THEN(code, streams_unpack(&details, &in, err));
    WEFT_THEN(code, details_take(&details, units, err));
    *is_known = code == WEFT_OK;
    if (code != WEFT_OK) {
        (void)weft_in_file(err, store->path);
        (void)weft_within(err, "levels of detail of block %" PRIu64 " of thread %" PRIu32, block,
                          thread_id);
    }
    return code;
}

/* ---- blocks and groups of blocks ------------------------------------------------------------- */

/* How many entries stand before that of the group of `level` that begins at `block`: a block's
 * stands before those of the groups that it completes. */
static uint64_t entry_index(uint64_t block, unsigned level)
{
    const uint64_t last = block + (UINT64_C(1) << (4 * level)) - 1;
    return last + weft_contexts_n_groups(level ? last + 1 : last, level);
}

uint64_t weft_store_n_levels(uint64_t n_blocks)
{
    return n_blocks + weft_contexts_n_groups(n_blocks, 0);
}

enum weft_code weft_store_level(struct weft_store *store, uint32_t thread_id, uint64_t block,
                                unsigned level, struct weft_lod_units *unit, bool *is_known,
                                struct weft_err *err)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    const uint64_t width = UINT64_C(1) << (4 * level);
    weft_lod_units_reset(unit);
    *is_known = false;
    if (level > WEFT_CONTEXT_LEVELS || thread->levels.n == 0 || block % width != 0 ||
        thread->blocks.n - block < width)
        return WEFT_OK;
    const struct store_group *entry = &thread->levels.items[entry_index(block, level)];
    if (entry->n_bytes == 0)
        return WEFT_OK;
    struct weft_cursor in =
        weft_cur_init(store->file.bytes + entry->off, entry->n_bytes, entry->off);
    struct weft_cursor *streams[WEFT_LOD_STREAMS];
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        streams[i] = &in;
    const struct weft_block_info *last = &thread->blocks.items[block + width - 1].info;
    struct weft_lod_names names = names_of(thread, last->last_ns);
    names.function_of = id_of_key;
    names.context = store;
    enum weft_code code =
        weft_lod_take(streams, &names, thread->blocks.items[block].info.first_ns, unit, err);
    if (code == WEFT_OK && weft_cur_left(&in) > 0)
        code = weft_fail(err, WEFT_E_MALFORMED, entry->off,
                         "expected a level of detail of %" PRIu32 " bytes, found a shorter one",
                         entry->n_bytes);
    *is_known = code == WEFT_OK;
    if (code != WEFT_OK) {
        (void)weft_in_file(err, store->path);
        (void)weft_within(err, "levels of detail of thread %" PRIu32, thread_id);
    }
    return code;
}

/* ---- calls across borders -------------------------------------------------------------------- */

const struct weft_open_call *weft_store_left_calls(const struct weft_store *store,
                                                   uint32_t thread_id, uint64_t block,
                                                   size_t *n_calls)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    *n_calls = thread->blocks.items[block].n_left;
    return *n_calls ? &thread->crossing.items[thread->blocks.items[block].first_left] : NULL;
}

const struct weft_open_call *weft_store_open_call(const struct weft_store *store,
                                                  uint32_t thread_id, uint64_t block,
                                                  const struct weft_open_call *above)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    const struct store_thread *thread = &store->threads.items[thread_id];
    if (above && above->depth == 0)
        return NULL;
    if (!above && thread->blocks.items[block].info.n_open == 0)
        return NULL;
    const uint32_t at = above ? thread->below.items[above - thread->crossing.items]
                              : thread->blocks.items[block].top;
    return &thread->crossing.items[at];
}
