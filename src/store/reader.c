/* SPDX-License-Identifier: MIT
 *
 * Opening and the simple getters. The directory leads to all metadata; if it is missing or damaged,
 * everything read so far is dropped and the file is scanned instead (store_recover.c). Afterwards
 * the structure needs no further checks by the callers.
 */
#include "store/reader.h"

#include "base/vec.h"
#include "store/store.h"

#include <assert.h>
#include <inttypes.h>

void weft_store_reset(struct weft_store *store)
{
    for (size_t i = 0; i < store->threads.n; i++) {
        struct store_thread *thread = &store->threads.items[i];
        WEFT_VEC_FINI(&thread->blocks);
        WEFT_VEC_FINI(&thread->crossing);
        WEFT_VEC_FINI(&thread->below);
        WEFT_VEC_FINI(&thread->cut);
        WEFT_VEC_FINI(&thread->groups);
        WEFT_VEC_FINI(&thread->levels);
        WEFT_VEC_FINI(&thread->event_blocks);
    }
    for (size_t i = 0; i < store->arrivals.n; i++)
        WEFT_VEC_FINI(&store->arrivals.items[i]);
    for (size_t i = 0; i < store->rooms.n; i++)
        free(store->rooms.items[i]);
    WEFT_VEC_FINI(&store->arrivals);
    WEFT_VEC_FINI(&store->processors);
    WEFT_VEC_FINI(&store->threads);
    WEFT_VEC_FINI(&store->functions);
    WEFT_VEC_FINI(&store->id_of_key);
    WEFT_VEC_FINI(&store->notes);
    WEFT_VEC_FINI(&store->objects);
    WEFT_VEC_FINI(&store->libraries);
    WEFT_VEC_FINI(&store->processes);
    WEFT_VEC_FINI(&store->rooms);
    store->has_index = false;
    store->meta = (struct weft_store_meta){
        .format = WEFT_STR(""),
        .details = WEFT_STR(""),
        .source_name = WEFT_STR(""),
        .clock = { .frequency_hz = 1000000000 },
        .version = WEFT_FORMAT_VERSION,
    };
}

void weft_store_close(struct weft_store *store)
{
    if (!store)
        return;
    weft_event_cache_fini(&store->event_cache);
    weft_store_reset(store);
    weft_column_decoder_free(store->decoder);
    weft_mapped_close(&store->file);
    free(store->path);
    free(store);
}

static enum weft_code header_check(const struct weft_store *store, struct weft_err *err)
{
    const uint8_t *bytes = store->file.bytes;
    const uint64_t n_bytes = store->file.n_bytes;
    struct weft_disk_header header;
    if (n_bytes == 0)
        return weft_fail(err, WEFT_E_TRUNCATED, WEFT_NO_OFFSET,
                         "expected a .weft file or a database of executions, found an empty file: "
                         "nothing was written yet, or its writer was killed before anything was "
                         "('weft executions TRACE --db' adds executions to it)");
    if (n_bytes < sizeof header.magic)
        return weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a .weft file, found %" PRIu64 " bytes",
                         n_bytes);
    if (memcmp(bytes, WEFT_FORMAT_MAGIC, sizeof header.magic) != 0)
        return weft_fail(
            err, WEFT_E_MALFORMED, 0,
            "expected a .weft file (57 45 46 54 0d 0a 1a 0a) or a database of executions, "
            "found %02x %02x %02x %02x %02x %02x %02x %02x; weft import makes one of "
            "other traces",
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]);
    if (n_bytes < sizeof header)
        return weft_fail(err, WEFT_E_TRUNCATED, n_bytes,
                         "expected a header of %zu bytes, found %" PRIu64, sizeof header, n_bytes);
    memcpy(&header, bytes, sizeof header);
    const uint64_t sum = weft_checksum(&header, offsetof(struct weft_disk_header, checksum));
    if (sum != weft_load_u64(header.checksum))
        return weft_fail(err, WEFT_E_MALFORMED, offsetof(struct weft_disk_header, checksum),
                         "expected header checksum %016" PRIx64 ", found %016" PRIx64, sum,
                         weft_load_u64(header.checksum));
    static const uint8_t zero[sizeof header.reserved];
    const unsigned version = weft_load_u16(header.version);
    if (version == 0 || version > WEFT_FORMAT_VERSION ||
        weft_load_u16(header.header_bytes) != sizeof header ||
        memcmp(header.reserved, zero, sizeof zero) != 0)
        return weft_fail(err, WEFT_E_UNSUPPORTED, offsetof(struct weft_disk_header, version),
                         "expected format version %d, found version %u", WEFT_FORMAT_VERSION,
                         version);
    return WEFT_OK;
}

/* Reads one chunk that the directory names. */
static enum weft_code entry_read(struct weft_store *store, struct weft_cursor *in,
                                 struct weft_err *err)
{
    const uint8_t *file = store->file.bytes;
    const uint32_t id = weft_cur_u32(in);
    const uint64_t off = weft_cur_u64(in);
    const uint64_t n_bytes = weft_cur_u64(in);
    struct weft_chunk chunk;
    WEFT_TRY(weft_chunk_parse(file, store->file.n_bytes, off, &chunk, err));
    if (chunk.id != id || chunk.chunk_bytes != n_bytes)
        return weft_fail(err, WEFT_E_MALFORMED, off,
                         "expected the chunk that the directory names, found another");
    if (id == WEFT_CHUNK_CONTEXTS || id == WEFT_CHUNK_LEVELS)
        return weft_store_parse_groups(store, &chunk, err);
    const bool is_event_index = id == WEFT_CHUNK_EVENT_INDEX || id == WEFT_CHUNK_ARRIVAL_INDEX;
    if (!weft_store_knows_chunk(id) && id != WEFT_CHUNK_BLOCKS && !is_event_index) {
        if (!(chunk.flags & WEFT_CHUNK_REQUIRED))
            return WEFT_OK;
        return weft_fail(err, WEFT_E_UNSUPPORTED, off,
                         "expected a known kind of chunk, found a required one of a newer version");
    }
    WEFT_TRY(weft_chunk_verify(file, &chunk, err));
    if (is_event_index)
        return weft_store_parse_event_index(store, &chunk, err);
    return id == WEFT_CHUNK_BLOCKS ? weft_store_parse_blocks(store, &chunk, err)
                                   : weft_store_parse_chunk(store, &chunk, err);
}

static enum weft_code directory_read(struct weft_store *store, const struct weft_chunk *directory,
                                     struct weft_err *err)
{
    struct weft_bytes room = { 0 };
    struct weft_cursor in;
    enum weft_code code = weft_chunk_verify(store->file.bytes, directory, err);
    WEFT_THEN(code, weft_chunk_open(directory, store->decoder, &room, &in, err));
    if (code == WEFT_OK && weft_cur_left(&in) % 20 != 0)
        code =
            weft_fail(err, WEFT_E_MALFORMED, directory->off,
                      "expected a directory of 20 bytes an entry, found %zu", directory->raw_bytes);
    while (code == WEFT_OK && weft_cur_left(&in) > 0)
        code = entry_read(store, &in, err);
    weft_bytes_fini(&room);
    return code;
}

static enum weft_code contents_read(struct weft_store *store, struct weft_err *err)
{
    const struct weft_mapped *file = &store->file;
    struct weft_disk_footer footer;
    if (file->n_bytes < sizeof(struct weft_disk_header) + sizeof footer)
        return weft_fail(err, WEFT_E_TRUNCATED, file->n_bytes, "expected a footer, found none");
    const uint64_t footer_off = file->n_bytes - sizeof footer;
    memcpy(&footer, file->bytes + footer_off, sizeof footer);
    if (memcmp(footer.magic, WEFT_FORMAT_FOOTER_MAGIC, sizeof footer.magic) != 0 ||
        weft_load_u64(footer.checksum) !=
            weft_checksum(&footer, offsetof(struct weft_disk_footer, checksum)) ||
        weft_load_u64(footer.file_bytes) != file->n_bytes)
        return weft_fail(err, WEFT_E_TRUNCATED, footer_off, "expected a footer, found none");
    struct weft_chunk directory;
    enum weft_code code = weft_chunk_parse(file->bytes, footer_off,
                                           weft_load_u64(footer.directory_off), &directory, err);
    if (code == WEFT_OK && (directory.id != WEFT_CHUNK_DIRECTORY ||
                            directory.chunk_bytes != weft_load_u64(footer.directory_bytes)))
        code = weft_fail(err, WEFT_E_MALFORMED, directory.off, "expected the directory");
    WEFT_THEN(code, directory_read(store, &directory, err));
    WEFT_THEN(code, weft_store_finish(store, err));
    return code;
}

/* Damage in what stands behind the blocks is no reason to give up. */
static enum weft_code contents_find(struct weft_store *store, struct weft_err *err)
{
    struct weft_err damage = { 0 };
    const enum weft_code code = contents_read(store, &damage);
    if (code != WEFT_E_TRUNCATED && code != WEFT_E_MALFORMED) {
        if (code != WEFT_OK && err)
            *err = damage;
        return code;
    }
    weft_store_reset(store);
    return weft_store_recover(store, err);
}

enum weft_code weft_store_open_mapped(const char *path, struct weft_mapped *file,
                                      struct weft_store **store_out, struct weft_err *err)
{
    struct weft_store *store = calloc(1, sizeof *store);
    if (!store) {
        weft_mapped_close(file);
        return weft_no_memory(err, "a trace");
    }
    store->file = *file;
    *file = (struct weft_mapped){ 0 };
    weft_store_reset(store);
    store->path = strdup(path);
    store->decoder = weft_column_decoder_new();
    enum weft_code code = store->path && store->decoder ? WEFT_OK : weft_no_memory(err, "a trace");
    WEFT_THEN(code, header_check(store, err));
    WEFT_THEN(code, contents_find(store, err));
    if (code == WEFT_OK) {
        *store_out = store;
        return WEFT_OK;
    }
    weft_store_close(store);
    (void)weft_in_file(err, path);
    return code;
}

enum weft_code weft_store_open(const char *path, struct weft_store **store, struct weft_err *err)
{
    struct weft_mapped file;
    const enum weft_code code = weft_mapped_open(path, &file, err);
    return code == WEFT_OK ? weft_store_open_mapped(path, &file, store, err) : code;
}

bool weft_store_sniff(const uint8_t *bytes, size_t n_bytes)
{
    const size_t n_magic = sizeof WEFT_FORMAT_MAGIC - 1;
    return n_bytes >= n_magic && memcmp(bytes, WEFT_FORMAT_MAGIC, n_magic) == 0;
}

const struct weft_store_meta *weft_store_meta_get(const struct weft_store *store)
{
    return &store->meta;
}

const struct weft_store_thread *weft_store_thread_get(const struct weft_store *store,
                                                      uint32_t thread_id)
{
    assert(thread_id < store->threads.n);
    return &store->threads.items[thread_id].info;
}

const struct weft_store_function *weft_store_function_get(const struct weft_store *store,
                                                          uint32_t function_id)
{
    assert(function_id < store->functions.n);
    return &store->functions.items[function_id];
}

const struct weft_note *weft_store_note_get(const struct weft_store *store, size_t note)
{
    assert(note < store->notes.n);
    return &store->notes.items[note];
}

const struct weft_block_info *weft_store_block_get(const struct weft_store *store,
                                                   uint32_t thread_id, uint64_t block)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].blocks.n);
    return &store->threads.items[thread_id].blocks.items[block].info;
}

const struct weft_event_block_info *weft_store_event_block_get(const struct weft_store *store,
                                                               uint32_t thread_id, uint64_t block)
{
    assert(thread_id < store->threads.n && block < store->threads.items[thread_id].event_blocks.n);
    return &store->threads.items[thread_id].event_blocks.items[block].info;
}

static const struct store_event_blocks *arrivals_of(const struct weft_store *store, uint32_t row)
{
    return row < store->arrivals.n ? &store->arrivals.items[row] : NULL;
}

bool weft_store_has_arrivals(const struct weft_store *store)
{
    return store->arrivals.n > 0;
}

uint64_t weft_store_n_arrival_blocks(const struct weft_store *store, uint32_t row)
{
    const struct store_event_blocks *blocks = arrivals_of(store, row);
    return blocks ? blocks->n : 0;
}

const struct weft_event_block_info *weft_store_arrival_block_get(const struct weft_store *store,
                                                                 uint32_t row, uint64_t block)
{
    assert(row < store->arrivals.n && block < store->arrivals.items[row].n);
    return &store->arrivals.items[row].items[block].info;
}

uint32_t weft_store_n_processors(const struct weft_store *store)
{
    return (uint32_t)store->processors.n;
}

struct weft_store_processor weft_store_processor_get(const struct weft_store *store,
                                                     uint32_t processor)
{
    assert(processor < store->processors.n);
    const struct store_processor *item = &store->processors.items[processor];
    return (struct weft_store_processor){ .host_id = item->host_id,
                                          .cpu = item->cpu,
                                          .row = (uint32_t)store->threads.n + processor };
}

const struct weft_open_call *weft_store_cut_calls(const struct weft_store *store,
                                                  uint32_t thread_id, size_t *n_calls)
{
    assert(thread_id < store->threads.n);
    *n_calls = (size_t)store->threads.items[thread_id].info.cut_calls;
    return store->threads.items[thread_id].crossing.items;
}
