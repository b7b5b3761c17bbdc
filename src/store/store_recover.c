/* SPDX-License-Identifier: MIT
 *
 * A file without its footer: its writer was killed, the disk was full, or bytes were lost. Chunks
 * are found by walking from one to the next; where that fails, by searching for the next one whose
 * checksum is right. Metadata stands before the blocks that need it, so every finished block opens.
 */
#include "base/vec.h"
#include "store/store.h"

struct scan {
    struct weft_store *store;
    struct {
        struct weft_chunk *items;
        size_t n, cap;
    } chunks;
    uint64_t lost_bytes;
    uint64_t budget_bytes; /* of payload that may still be summed: a hostile file could make the
                              search quadratic */
};

static bool is_footer(const struct weft_store *store, uint64_t off)
{
    const struct weft_mapped *file = &store->file;
    return file->n_bytes - off == sizeof(struct weft_disk_footer) &&
           memcmp(file->bytes + off, WEFT_FORMAT_FOOTER_MAGIC, 8) == 0;
}

/* A whole and undamaged chunk at `off`? */
static bool chunk_find(struct scan *scan, uint64_t off, struct weft_chunk *chunk)
{
    const struct weft_mapped *file = &scan->store->file;
    if (weft_chunk_parse(file->bytes, file->n_bytes, off, chunk, NULL) != WEFT_OK ||
        chunk->chunk_bytes > scan->budget_bytes)
        return false;
    scan->budget_bytes -= chunk->chunk_bytes;
    return weft_chunk_verify(file->bytes, chunk, NULL) == WEFT_OK;
}

static enum weft_code scan_chunks(struct scan *scan, struct weft_err *err)
{
    const uint64_t file_bytes = scan->store->file.n_bytes;
    uint64_t off = sizeof(struct weft_disk_header);
    while (off < file_bytes && !is_footer(scan->store, off)) {
        struct weft_chunk chunk;
        if (!chunk_find(scan, off, &chunk)) {
            const uint64_t step = file_bytes - off < 8 ? file_bytes - off : 8;
            scan->lost_bytes += step;
            off += step;
            continue;
        }
        struct weft_chunk *kept = WEFT_VEC_PUSH(&scan->chunks);
        if (!kept)
            return weft_fail(err, WEFT_E_NOMEM, off, "the chunks of a broken file");
        *kept = chunk;
        off += chunk.chunk_bytes + weft_chunk_padding(chunk.chunk_bytes);
    }
    return WEFT_OK;
}

static bool has_chunk(const struct scan *scan, uint32_t id)
{
    for (size_t i = 0; i < scan->chunks.n; i++)
        if (scan->chunks.items[i].id == id)
            return true;
    return false;
}

static struct weft_cursor payload_of(const struct weft_chunk *chunk)
{
    return weft_cur_init(chunk->stored, chunk->stored_bytes,
                         chunk->off + sizeof(struct weft_disk_chunk));
}

/* A block of calls that does not follow its thread's last one (that was lost) is lost too. Of a
 * chunk that lost some of its blocks, all bytes count; but arrivals say nothing that events do not.
 */
static enum weft_code block_take(struct scan *scan, const struct weft_chunk *chunk,
                                 struct weft_err *err)
{
    enum weft_code code = WEFT_E_MALFORMED;
    uint64_t n_lost = 0;
    if (chunk->codec == WEFT_CODEC_RAW && chunk->id == WEFT_CHUNK_CALLS)
        code = weft_store_add_block(scan->store, chunk, payload_of(chunk), NULL);
    else if (chunk->codec == WEFT_CODEC_RAW)
        code = weft_store_add_event_chunk(scan->store, chunk, &n_lost, NULL);
    if (code == WEFT_E_NOMEM)
        return weft_fail(err, code, chunk->off, "the index of blocks");
    if (code != WEFT_OK || (n_lost > 0 && chunk->id != WEFT_CHUNK_ARRIVALS))
        scan->lost_bytes += chunk->chunk_bytes;
    return WEFT_OK;
}

static enum weft_code metadata_take(struct scan *scan, const struct weft_chunk *chunk,
                                    struct weft_err *err)
{
    const enum weft_code code = weft_store_parse_chunk(scan->store, chunk, NULL);
    if (code == WEFT_E_NOMEM)
        return weft_fail(err, code, chunk->off, "the metadata of a broken file");
    if (code != WEFT_OK)
        scan->lost_bytes += chunk->chunk_bytes;
    return WEFT_OK;
}

/* Which indexes take the place of the heads of blocks. */
struct indexes {
    bool has_calls, has_events, has_arrivals;
};

static enum weft_code chunk_take(struct scan *scan, const struct weft_chunk *chunk,
                                 struct indexes indexes, struct weft_err *err)
{
    if (weft_store_knows_chunk(chunk->id))
        return metadata_take(scan, chunk, err);
    switch (chunk->id) {
    case WEFT_CHUNK_CALLS:
        return indexes.has_calls ? WEFT_OK : block_take(scan, chunk, err);
    case WEFT_CHUNK_EVENTS:
    case WEFT_CHUNK_SHARED_EVENTS:
        return indexes.has_events ? WEFT_OK : block_take(scan, chunk, err);
    case WEFT_CHUNK_ARRIVALS:
        return indexes.has_arrivals ? WEFT_OK : block_take(scan, chunk, err);
    case WEFT_CHUNK_BLOCKS:
        return indexes.has_calls ? weft_store_parse_blocks(scan->store, chunk, err) : WEFT_OK;
    case WEFT_CHUNK_EVENT_INDEX:
        return indexes.has_events ? weft_store_parse_event_index(scan->store, chunk, err) : WEFT_OK;
    case WEFT_CHUNK_ARRIVAL_INDEX:
        return indexes.has_arrivals ? weft_store_parse_event_index(scan->store, chunk, err)
                                    : WEFT_OK;
    case WEFT_CHUNK_DIRECTORY:
        return WEFT_OK;
    default:
        break;
    }
    if (!(chunk->flags & WEFT_CHUNK_REQUIRED))
        return WEFT_OK;
    return weft_fail(err, WEFT_E_UNSUPPORTED, chunk->off,
                     "expected a known kind of chunk, found a required one of a newer version");
}

static enum weft_code chunks_take(struct scan *scan, struct indexes indexes, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < scan->chunks.n && code == WEFT_OK; i++)
        code = chunk_take(scan, &scan->chunks.items[i], indexes, err);
    return code;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

struct key_list {
    uint32_t *items;
    size_t n, cap;
};

static bool key_put(struct key_list *keys, uint32_t key)
{
    uint32_t *place = WEFT_VEC_PUSH(keys);
    if (place)
        *place = key;
    return place != NULL;
}

/* The functions of a block's dictionary; a broken one will be reported when the block is loaded. */
static bool keys_of_block(const struct weft_store *store, const struct weft_chunk *chunk,
                          struct weft_bytes *room, struct key_list *keys)
{
    struct weft_cursor in = payload_of(chunk);
    struct weft_block_head head;
    struct weft_block_ended ended = { 0 };
    struct weft_block_left left = { 0 };
    if (weft_block_head_parse(&in, &head, NULL) != WEFT_OK)
        return true;
    for (uint32_t i = 0; i < head.n_ended; i++) {
        ended = weft_block_ended_parse(&in, &head, i, &ended);
        if (i >= head.n_carried && !key_put(keys, ended.cut_key))
            return false;
    }
    for (uint32_t i = 0; i < head.n_left; i++)
        left = weft_block_left_parse(&in, &head, i, &left);
    const struct weft_block_column_entry *column = &head.columns[WEFT_COLUMN_DICT];
    const uint8_t *stored = weft_cur_take(&in, column->stored_bytes);
    room->n = 0;
    if (!weft_bytes_reserve(room, column->raw_bytes))
        return false;
    if (!stored || weft_column_decode(store->decoder, column->codec, stored, column->stored_bytes,
                                      room->items, column->raw_bytes, chunk->off, NULL) != WEFT_OK)
        return true;
    struct weft_cursor dict = weft_cur_init(room->items, column->raw_bytes, 0);
    uint32_t key = 0;
    for (uint32_t i = 0; i < head.n_functions; i++) {
        key = weft_store_next_key(&dict, i, key);
        if (!dict.fault && !key_put(keys, key))
            return false;
    }
    return true;
}

/* Functions that occur in the blocks, but whose table was not written yet: unnamed. */
static enum weft_code functions_complete(struct scan *scan, struct weft_err *err)
{
    struct weft_store *store = scan->store;
    struct key_list keys = { 0 };
    struct weft_bytes room = { 0 };
    bool has_memory = true;
    for (size_t i = 0; i < store->functions.n && has_memory; i++)
        has_memory = key_put(&keys, store->functions.items[i].key);
    const size_t n_known = keys.n;
    uint32_t *known = keys.items;
    keys = (struct key_list){ 0 };
    if (n_known > 0)
        qsort(known, n_known, sizeof *known, compare_u32);
    for (size_t i = 0; i < scan->chunks.n && has_memory; i++)
        if (scan->chunks.items[i].id == WEFT_CHUNK_CALLS)
            has_memory = keys_of_block(store, &scan->chunks.items[i], &room, &keys);
    if (keys.n > 0)
        qsort(keys.items, keys.n, sizeof *keys.items, compare_u32);
    for (size_t i = 0; i < keys.n && has_memory; i++) {
        const uint32_t key = keys.items[i];
        if ((i > 0 && keys.items[i - 1] == key) ||
            (n_known > 0 && bsearch(&key, known, n_known, sizeof key, compare_u32)))
            continue;
        struct weft_store_function *function = WEFT_VEC_PUSH(&store->functions);
        has_memory = function != NULL;
        if (function)
            *function = (struct weft_store_function){ .name = WEFT_STR(""),
                                                      .module = WEFT_STR(""),
                                                      .key = key };
    }
    free(known);
    WEFT_VEC_FINI(&keys);
    weft_bytes_fini(&room);
    return has_memory ? WEFT_OK : weft_no_memory(err, "the functions of a broken file");
}

enum weft_code weft_store_recover(struct weft_store *store, struct weft_err *err)
{
    struct scan scan = { .store = store };
    scan.budget_bytes = store->file.n_bytes * 4;
    enum weft_code code = scan_chunks(&scan, err);
    const uint64_t scanned_lost = scan.lost_bytes;
    const struct indexes indexes = { .has_calls = has_chunk(&scan, WEFT_CHUNK_BLOCKS),
                                     .has_events = has_chunk(&scan, WEFT_CHUNK_EVENT_INDEX),
                                     .has_arrivals = has_chunk(&scan, WEFT_CHUNK_ARRIVAL_INDEX) };
    bool uses_index = indexes.has_calls || indexes.has_events || indexes.has_arrivals;
    if (code == WEFT_OK && uses_index) {
        code = chunks_take(&scan, indexes, NULL);
        if (code == WEFT_E_MALFORMED || code == WEFT_E_TRUNCATED) {
            weft_store_reset(store);
            scan.lost_bytes = scanned_lost;
            uses_index = false;
            code = WEFT_OK;
        } else if (code != WEFT_OK) {
            code = weft_fail(err, code, WEFT_NO_OFFSET, "the file cannot be recovered");
        }
    }
    if (code == WEFT_OK && !uses_index)
        code = chunks_take(&scan, (struct indexes){ 0 }, err);
    WEFT_THEN(code, functions_complete(&scan, err));
    WEFT_THEN(code, weft_store_finish(store, err));
    store->meta.is_recovered = true;
    store->meta.lost_bytes = scan.lost_bytes;
    WEFT_VEC_FINI(&scan.chunks);
    if (code != WEFT_OK)
        (void)weft_within(err, "recovery of a file without its directory");
    return code;
}
