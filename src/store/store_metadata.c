/* SPDX-License-Identifier: MIT
 *
 * Parses the metadata chunks: trace, threads, functions, notes, objects, functions of
 * libraries, ledger of processes.
 * Counts are compared with the bytes left before anything is allocated. Texts point into the mapped
 * file, or into decompressed chunks that the store keeps. Unknown tags and kinds of newer writers
 * are skipped.
 */
#include "base/vec.h"
#include "store/store.h"

#include <inttypes.h>

static struct weft_str take_str(struct weft_cursor *in)
{
    const uint64_t n_bytes = weft_cur_varint(in);
    if (n_bytes > weft_cur_left(in))
        in->fault = true;
    const uint8_t *bytes = weft_cur_take(in, (size_t)n_bytes);
    return bytes ? (struct weft_str){ .bytes = (const char *)bytes, .n_bytes = (size_t)n_bytes }
                 : (struct weft_str){ .bytes = "", .n_bytes = 0 };
}

static uint32_t take_u32(struct weft_cursor *in)
{
    const uint64_t value = weft_cur_varint(in);
    if (value > UINT32_MAX)
        in->fault = true;
    return (uint32_t)value;
}

static void clock_parse(struct weft_cursor *in, struct weft_clock *clock)
{
    clock->frequency_hz = weft_cur_varint(in);
    clock->zero_ticks = weft_cur_varint(in);
    const uint64_t flags = weft_cur_varint(in);
    clock->has_monotonic = (flags & WEFT_CLOCK_HAS_MONOTONIC) != 0;
    clock->has_realtime = (flags & WEFT_CLOCK_HAS_REALTIME) != 0;
    clock->monotonic_ns = weft_cur_varint(in);
    clock->realtime_ns = weft_cur_varint(in);
}

static enum weft_code meta_parse(struct weft_store *store, struct weft_cursor *in,
                                 struct weft_err *err)
{
    struct weft_store_meta *meta = &store->meta;
    while (weft_cur_left(in) > 0 && !in->fault) {
        const uint64_t tag = weft_cur_varint(in);
        const struct weft_str text = take_str(in);
        struct weft_cursor field = weft_cur_init(text.bytes, text.n_bytes, 0);
        if (tag == WEFT_META_FORMAT)
            meta->format = text;
        else if (tag == WEFT_META_DETAILS)
            meta->details = text;
        else if (tag == WEFT_META_SOURCE)
            meta->source_name = text;
        else if (tag == WEFT_META_CLOCK)
            clock_parse(&field, &meta->clock);
        else if (tag == WEFT_META_BYTES_IN)
            meta->bytes_in = weft_cur_varint(&field);
        else if (tag == WEFT_META_SOME_CALLS)
            meta->has_some_calls = true;
        in->fault |= field.fault;
    }
    if (in->fault)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected fields of the trace, found a broken one");
    return WEFT_OK;
}

static enum weft_code threads_parse(struct weft_store *store, struct weft_cursor *in,
                                    struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t first = weft_cur_varint(in);
    const uint64_t n_threads = weft_cur_varint(in);
    if (in->fault || first != store->threads.n || n_threads > weft_cur_left(in) / 5)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected threads from %zu on that fit %zu bytes, found %" PRIu64
                         " from %" PRIu64 " on",
                         store->threads.n, weft_cur_left(in), n_threads, first);
    for (uint64_t i = 0; i < n_threads; i++) {
        struct store_thread *thread = WEFT_VEC_PUSH(&store->threads);
        if (!thread)
            return weft_no_memory(err, "the metadata of a trace");
        thread->top = WEFT_ID_NONE;
        thread->info.info.tid = weft_cur_varint(in);
        thread->info.info.pid = weft_cur_varint(in);
        thread->info.info.host_id = take_u32(in);
        thread->info.info.generation = take_u32(in);
        thread->info.info.name = take_str(in);
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " threads, found other bytes", n_threads);
    return WEFT_OK;
}

/* Runs: threads between it and the one before, its own threads. */
static enum weft_code foreign_parse(struct weft_store *store, struct weft_cursor *in,
                                    struct weft_err *err)
{
    size_t at = 0;
    while (weft_cur_left(in) > 0 && !in->fault) {
        const uint64_t at_off = weft_cur_offset(in);
        const uint64_t n_own = weft_cur_varint(in);
        const uint64_t n_foreign = weft_cur_varint(in);
        if (n_own > store->threads.n - at || n_foreign > store->threads.n - at - n_own)
            return weft_fail(err, WEFT_E_MALFORMED, at_off,
                             "expected foreign threads among %zu, found %" PRIu64 " after %" PRIu64,
                             store->threads.n - at, n_foreign, n_own);
        at += (size_t)n_own;
        for (uint64_t i = 0; i < n_foreign; i++)
            store->threads.items[at++].info.info.is_foreign = true;
    }
    if (in->fault)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected runs of foreign threads, found a broken one");
    return WEFT_OK;
}

static enum weft_code functions_parse(struct weft_store *store, struct weft_cursor *in,
                                      struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_functions = weft_cur_varint(in);
    if (in->fault || n_functions > weft_cur_left(in) / 4)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected functions that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_functions);
    for (uint64_t i = 0; i < n_functions; i++) {
        struct weft_store_function *function = WEFT_VEC_PUSH(&store->functions);
        if (!function)
            return weft_no_memory(err, "the metadata of a trace");
        function->key = take_u32(in);
        function->address = weft_cur_varint(in);
        function->name = take_str(in);
        function->module = take_str(in);
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " functions, found other bytes", n_functions);
    return WEFT_OK;
}

static enum weft_code notes_parse(struct weft_store *store, struct weft_cursor *in,
                                  struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_notes = weft_cur_varint(in);
    if (in->fault || n_notes > weft_cur_left(in) / 5)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected notes that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_notes);
    for (uint64_t i = 0; i < n_notes; i++) {
        const uint64_t kind = weft_cur_varint(in);
        struct weft_note note = { .count = weft_cur_varint(in) };
        note.thread_id = take_u32(in) - 1;
        note.at_off = weft_cur_varint(in) - 1;
        note.detail = take_str(in);
        if (kind >= WEFT_NOTE_KINDS) /* of a newer writer: optional by definition */
            continue;
        note.kind = (enum weft_note_kind)kind;
        struct weft_note *added = WEFT_VEC_PUSH(&store->notes);
        if (!added)
            return weft_no_memory(err, "the metadata of a trace");
        *added = note;
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " notes, found other bytes", n_notes);
    return WEFT_OK;
}

/* ---- the ledger ------------------------------------------------------------------------------ */

static enum weft_code ledger_parse(struct weft_store *store, struct weft_cursor *in,
                                   struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_processes = weft_cur_varint(in);
    if (in->fault || n_processes > weft_cur_left(in) / (WEFT_LEDGER_FIELDS + 1))
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected processes that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_processes);
    for (uint64_t i = 0; i < n_processes; i++) {
        struct weft_ledger_process *process = WEFT_VEC_PUSH(&store->processes);
        if (!process)
            return weft_no_memory(err, "the metadata of a trace");
        process->host_id = take_u32(in);
        process->pid = weft_cur_varint(in);
        process->parent = weft_cur_varint(in);
        const uint32_t state = take_u32(in), why = take_u32(in);
        in->fault |= state >= WEFT_LEDGER_STATES;
        process->state = (uint8_t)state;
        /* Of a newer writer: not this one's to name. */
        process->why = why < WEFT_LEDGER_WHYS ? (uint8_t)why : WEFT_LEDGER_WHYS;
        process->levels = (uint8_t)(weft_cur_varint(in) & WEFT_LEDGER_LEVELS);
        process->start_ns = weft_cur_varint(in);
        process->end_ns = weft_cur_varint(in) - 1;
        process->from_ns = weft_cur_varint(in) - 1;
        process->until_ns = weft_cur_varint(in) - 1;
        process->n_threads = take_u32(in);
        process->n_lost_threads = take_u32(in);
        process->n_records = weft_cur_varint(in);
        process->n_lost_records = weft_cur_varint(in);
        process->name = take_str(in);
        weft_ledger_add(&store->meta.ledger, process);
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " processes, found other bytes", n_processes);
    return WEFT_OK;
}

size_t weft_store_n_processes(const struct weft_store *store)
{
    return store->processes.n;
}

const struct weft_ledger_process *weft_store_process_get(const struct weft_store *store,
                                                         size_t process)
{
    return &store->processes.items[process];
}

/* ---- names of objects ------------------------------------------------------------------------ */

static enum weft_code objects_parse(struct weft_store *store, struct weft_cursor *in,
                                    struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_objects = weft_cur_varint(in);
    if (in->fault || n_objects > weft_cur_left(in) / 4)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected objects that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_objects);
    for (uint64_t i = 0; i < n_objects; i++) {
        struct store_object *object = WEFT_VEC_PUSH(&store->objects);
        if (!object)
            return weft_no_memory(err, "the metadata of a trace");
        object->place = store->objects.n;
        object->info.host_id = take_u32(in);
        object->info.pid = weft_cur_varint(in);
        object->info.address = weft_cur_varint(in);
        object->info.name = take_str(in);
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " objects, found other bytes", n_objects);
    return WEFT_OK;
}

static int compare_places(const struct weft_object_info *a, const struct weft_object_info *b)
{
    if (a->host_id != b->host_id)
        return a->host_id < b->host_id ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->address > b->address) - (a->address < b->address);
}

static int compare_objects(const void *a_void, const void *b_void)
{
    const struct store_object *a = a_void;
    const struct store_object *b = b_void;
    const int order = compare_places(&a->info, &b->info);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

void weft_store_sort_objects(struct weft_store *store)
{
    if (store->objects.n)
        qsort(store->objects.items, store->objects.n, sizeof *store->objects.items,
              compare_objects);
}

size_t weft_store_n_objects(const struct weft_store *store)
{
    return store->objects.n;
}

const struct weft_object_info *weft_store_object_get(const struct weft_store *store, size_t object)
{
    return &store->objects.items[object].info;
}

struct weft_str weft_store_object_name(const struct weft_store *store, uint32_t host_id,
                                       uint64_t pid, uint64_t address)
{
    const struct weft_object_info asked = { .host_id = host_id, .pid = pid, .address = address };
    size_t low = 0, high = store->objects.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_places(&store->objects.items[middle].info, &asked) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < store->objects.n && compare_places(&store->objects.items[low].info, &asked) == 0
               ? store->objects.items[low].info.name
               : WEFT_STR("");
}

/* ---- functions of libraries ------------------------------------------------------------------ */

static enum weft_code libraries_parse(struct weft_store *store, struct weft_cursor *in,
                                      struct weft_err *err)
{
    const uint64_t at_off = weft_cur_offset(in);
    const uint64_t n_functions = weft_cur_varint(in);
    if (in->fault || n_functions > weft_cur_left(in) / 2)
        return weft_fail(err, WEFT_E_MALFORMED, at_off,
                         "expected functions that fit %zu bytes, found %" PRIu64, weft_cur_left(in),
                         n_functions);
    for (uint64_t i = 0; i < n_functions; i++) {
        struct weft_library_function function;
        function.name = take_str(in);
        function.module = take_str(in);
        if (function.name.n_bytes == 0 || function.module.n_bytes == 0)
            return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                             "expected the names of a function and of its library, found none");
        struct weft_library_function *added = WEFT_VEC_PUSH(&store->libraries);
        if (!added)
            return weft_no_memory(err, "the metadata of a trace");
        *added = function;
    }
    if (in->fault || weft_cur_left(in) > 0)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(in),
                         "expected %" PRIu64 " functions of libraries, found other bytes",
                         n_functions);
    return WEFT_OK;
}

size_t weft_store_n_libraries(const struct weft_store *store)
{
    return store->libraries.n;
}

const struct weft_library_function *weft_store_library_get(const struct weft_store *store,
                                                           size_t function)
{
    return &store->libraries.items[function];
}

/* ---- chunks ---------------------------------------------------------------------------------- */

bool weft_store_knows_chunk(uint32_t id)
{
    return id == WEFT_CHUNK_META || id == WEFT_CHUNK_THREADS || id == WEFT_CHUNK_FUNCTIONS ||
           id == WEFT_CHUNK_NOTES || id == WEFT_CHUNK_FOREIGN || id == WEFT_CHUNK_OBJECTS ||
           id == WEFT_CHUNK_LEDGER || id == WEFT_CHUNK_LIBRARIES;
}

/* Content of a chunk; if it had to be decompressed, the store owns the bytes from now on. */
static enum weft_code content_open(struct weft_store *store, const struct weft_chunk *chunk,
                                   struct weft_cursor *content, struct weft_err *err)
{
    struct weft_bytes room = { 0 };
    uint8_t **kept = WEFT_VEC_PUSH(&store->rooms);
    if (!kept)
        return weft_no_memory(err, "the metadata of a trace");
    const enum weft_code code = weft_chunk_open(chunk, store->decoder, &room, content, err);
    *kept = room.items;
    return code;
}

enum weft_code weft_store_parse_chunk(struct weft_store *store, const struct weft_chunk *chunk,
                                      struct weft_err *err)
{
    struct weft_cursor content;
    enum weft_code code = content_open(store, chunk, &content, err);
    if (code != WEFT_OK)
        return code;
    const char *place = NULL;
    switch (chunk->id) {
    case WEFT_CHUNK_META:
        place = "trace description";
        code = meta_parse(store, &content, err);
        break;
    case WEFT_CHUNK_THREADS:
        place = "thread table";
        code = threads_parse(store, &content, err);
        break;
    case WEFT_CHUNK_FOREIGN:
        place = "foreign threads";
        code = foreign_parse(store, &content, err);
        break;
    case WEFT_CHUNK_OBJECTS:
        place = "names of objects";
        code = objects_parse(store, &content, err);
        break;
    case WEFT_CHUNK_LIBRARIES:
        place = "functions of libraries";
        code = libraries_parse(store, &content, err);
        break;
    case WEFT_CHUNK_LEDGER:
        place = "ledger of processes";
        code = ledger_parse(store, &content, err);
        break;
    case WEFT_CHUNK_FUNCTIONS:
        place = "function table";
        code = functions_parse(store, &content, err);
        break;
    case WEFT_CHUNK_NOTES:
        place = "notes";
        code = notes_parse(store, &content, err);
        break;
    default:
        break;
    }
    if (code != WEFT_OK)
        (void)weft_within(err, "%s", place);
    return code;
}
