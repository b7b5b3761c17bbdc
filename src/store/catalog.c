/* SPDX-License-Identifier: MIT
 *
 * Tables of what the sink announced, texts interned, and their encoding as chunks. Notes of the
 * same kind, thread and detail are added up; they are sorted before they are written, so that the
 * order in which workers reported them does not matter.
 */
#include "store/catalog.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/format.h"

#include <inttypes.h>

/* Texts are ids in `texts`. */
struct catalog_thread {
    uint64_t tid, pid;
    uint32_t host_id, generation, name;
    bool is_foreign;
};

struct catalog_function {
    uint64_t address;
    uint32_t key, name, module;
};

struct catalog_object {
    uint64_t pid, address;
    uint32_t host_id, name;
};

struct catalog_process {
    struct weft_ledger_process info; /* without its name */
    uint32_t name;
};

struct catalog_note {
    uint64_t count, at_off;
    uint32_t kind, thread_id, detail;
};

struct weft_catalog {
    struct weft_strtab *texts;
    struct weft_map *function_of_key; /* key -> index in functions */
    struct weft_map *seen;            /* keys that occur */
    struct weft_map *note_of;         /* see note_key */
    struct {
        struct catalog_thread *items;
        size_t n, cap;
    } threads;
    struct {
        struct catalog_function *items;
        size_t n, cap;
    } functions;
    struct {
        struct catalog_note *items;
        size_t n, cap;
    } notes;
    struct {
        struct catalog_object *items;
        size_t n, cap;
    } objects;
    struct {
        struct catalog_library {
            uint32_t name, module; /* WEFT_ID_NONE: several modules have it */
        } * items;
        size_t n, cap;
    } libraries;
    struct weft_map *library_of_name;
    struct {
        struct catalog_process *items;
        size_t n, cap;
    } processes;
    size_t n_threads_put, n_functions_put;
    uint32_t format, details, source;
    uint64_t bytes_in;
    struct weft_clock clock;
    bool has_clock;
    bool has_some_calls;
    bool is_meta_put; /* and nothing changed since */
};

struct weft_catalog *weft_catalog_new(struct weft_str source_name, uint64_t bytes_in)
{
    struct weft_catalog *catalog = calloc(1, sizeof *catalog);
    if (!catalog)
        return NULL;
    catalog->texts = weft_strtab_new();
    catalog->function_of_key = weft_map_new();
    catalog->seen = weft_map_new();
    catalog->note_of = weft_map_new();
    catalog->library_of_name = weft_map_new();
    catalog->bytes_in = bytes_in;
    uint32_t empty;
    if (catalog->texts && catalog->function_of_key && catalog->seen && catalog->note_of &&
        catalog->library_of_name &&
        weft_strtab_intern(catalog->texts, WEFT_STR(""), &empty, NULL) == WEFT_OK &&
        weft_strtab_intern(catalog->texts, source_name, &catalog->source, NULL) == WEFT_OK)
        return catalog;
    weft_catalog_free(catalog);
    return NULL;
}

void weft_catalog_free(struct weft_catalog *catalog)
{
    if (!catalog)
        return;
    weft_strtab_free(catalog->texts);
    weft_map_free(catalog->function_of_key);
    weft_map_free(catalog->seen);
    weft_map_free(catalog->note_of);
    weft_map_free(catalog->library_of_name);
    WEFT_VEC_FINI(&catalog->threads);
    WEFT_VEC_FINI(&catalog->functions);
    WEFT_VEC_FINI(&catalog->notes);
    WEFT_VEC_FINI(&catalog->objects);
    WEFT_VEC_FINI(&catalog->libraries);
    WEFT_VEC_FINI(&catalog->processes);
    free(catalog);
}

enum weft_code weft_catalog_begin(struct weft_catalog *catalog, const struct weft_sink_begin *begin,
                                  struct weft_err *err)
{
    const enum weft_code code =
        weft_strtab_intern(catalog->texts, begin->format, &catalog->format, err);
    catalog->has_some_calls = begin->has_some_calls;
    if (code != WEFT_OK)
        return code;
    return weft_strtab_intern(catalog->texts, begin->details, &catalog->details, err);
}

void weft_catalog_clock(struct weft_catalog *catalog, const struct weft_clock *clock)
{
    catalog->clock = *clock;
    catalog->has_clock = true;
    catalog->is_meta_put = false;
}

enum weft_code weft_catalog_function(struct weft_catalog *catalog,
                                     const struct weft_function_info *info, struct weft_err *err)
{
    struct catalog_function function = { .key = info->key, .address = info->address };
    bool is_new;
    if (weft_strtab_intern(catalog->texts, info->name, &function.name, err) != WEFT_OK ||
        weft_strtab_intern(catalog->texts, info->module, &function.module, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    const uint32_t index = weft_map_add(catalog->function_of_key, info->key, &is_new);
    if (index == WEFT_MAP_NONE)
        return weft_no_memory(err, "threads and functions");
    if (is_new) {
        struct catalog_function *added = WEFT_VEC_PUSH(&catalog->functions);
        if (!added)
            return weft_no_memory(err, "threads and functions");
        *added = function;
        return WEFT_OK;
    }
    const struct catalog_function *known = &catalog->functions.items[index];
    if (known->name == function.name && known->module == function.module &&
        known->address == function.address)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                     "expected one function of key %" PRIu32 ", found two: %s and %s", info->key,
                     weft_strtab_get(catalog->texts, known->name).bytes,
                     weft_strtab_get(catalog->texts, function.name).bytes);
}

enum weft_code weft_catalog_thread(struct weft_catalog *catalog,
                                   const struct weft_thread_info *info, uint32_t *thread_id,
                                   struct weft_err *err)
{
    struct catalog_thread thread = {
        .tid = info->tid,
        .pid = info->pid,
        .host_id = info->host_id,
        .generation = info->generation,
        .is_foreign = info->is_foreign,
    };
    if (weft_strtab_intern(catalog->texts, info->name, &thread.name, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    struct catalog_thread *added = WEFT_VEC_PUSH(&catalog->threads);
    if (!added)
        return weft_no_memory(err, "threads and functions");
    *added = thread;
    *thread_id = (uint32_t)(catalog->threads.n - 1);
    return WEFT_OK;
}

/* Kind, thread and detail in 64 bits; details beyond 2^24 share the last. */
static uint64_t note_key(const struct catalog_note *note)
{
    const uint32_t detail = note->detail < (1u << 24) ? note->detail : (1u << 24) - 1;
    return (uint64_t)note->kind << 56 | (uint64_t)detail << 32 | note->thread_id;
}

enum weft_code weft_catalog_note(struct weft_catalog *catalog, const struct weft_note *note,
                                 struct weft_err *err)
{
    struct catalog_note row = {
        .kind = (uint32_t)note->kind,
        .thread_id = note->thread_id,
        .count = note->count,
        .at_off = note->at_off,
    };
    bool is_new;
    if (weft_strtab_intern(catalog->texts, note->detail, &row.detail, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    const uint32_t index = weft_map_add(catalog->note_of, note_key(&row), &is_new);
    if (index == WEFT_MAP_NONE)
        return weft_no_memory(err, "threads and functions");
    if (is_new) {
        struct catalog_note *added = WEFT_VEC_PUSH(&catalog->notes);
        if (!added)
            return weft_no_memory(err, "threads and functions");
        *added = row;
        return WEFT_OK;
    }
    struct catalog_note *known = &catalog->notes.items[index];
    known->count = weft_add_sat_u64(known->count, row.count);
    known->at_off = weft_min_u64(known->at_off, row.at_off);
    return WEFT_OK;
}

enum weft_code weft_catalog_seen(struct weft_catalog *catalog, const uint32_t *keys, size_t n_keys,
                                 struct weft_err *err)
{
    for (size_t i = 0; i < n_keys; i++)
        if (weft_map_add(catalog->seen, keys[i], NULL) == WEFT_MAP_NONE)
            return weft_no_memory(err, "threads and functions");
    return WEFT_OK;
}

enum weft_code weft_catalog_object(struct weft_catalog *catalog,
                                   const struct weft_object_info *info, struct weft_err *err)
{
    struct catalog_object object = { .pid = info->pid,
                                     .address = info->address,
                                     .host_id = info->host_id };
    if (weft_strtab_intern(catalog->texts, info->name, &object.name, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    struct catalog_object *added = WEFT_VEC_PUSH(&catalog->objects);
    if (!added)
        return weft_no_memory(err, "threads and functions");
    *added = object;
    return WEFT_OK;
}

enum weft_code weft_catalog_library(struct weft_catalog *catalog,
                                    const struct weft_library_function *function,
                                    struct weft_err *err)
{
    struct catalog_library made;
    WEFT_TRY(weft_strtab_intern(catalog->texts, function->name, &made.name, err));
    WEFT_TRY(weft_strtab_intern(catalog->texts, function->module, &made.module, err));
    const uint32_t before = weft_map_find(catalog->library_of_name, made.name);
    if (before != WEFT_MAP_NONE) {
        struct catalog_library *same = &catalog->libraries.items[before];
        same->module = same->module == made.module ? made.module : WEFT_ID_NONE;
        return WEFT_OK;
    }
    if (weft_map_add(catalog->library_of_name, made.name, NULL) == WEFT_MAP_NONE)
        return weft_no_memory(err, "threads and functions");
    struct catalog_library *added = WEFT_VEC_PUSH(&catalog->libraries);
    if (!added)
        return weft_no_memory(err, "threads and functions");
    *added = made;
    return WEFT_OK;
}

enum weft_code weft_catalog_process(struct weft_catalog *catalog,
                                    const struct weft_ledger_process *process, struct weft_err *err)
{
    struct catalog_process made = { .info = *process };
    made.info.name = (struct weft_str){ 0 };
    if (weft_strtab_intern(catalog->texts, process->name, &made.name, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    struct catalog_process *added = WEFT_VEC_PUSH(&catalog->processes);
    if (!added)
        return weft_no_memory(err, "threads and functions");
    *added = made;
    return WEFT_OK;
}

uint32_t weft_catalog_n_threads(const struct weft_catalog *catalog)
{
    return (uint32_t)catalog->threads.n;
}

static int compare_u32(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

enum weft_code weft_catalog_complete(struct weft_catalog *catalog, uint64_t *n_unnamed,
                                     uint64_t *n_functions, struct weft_err *err)
{
    const uint32_t n_seen = weft_map_count(catalog->seen);
    uint32_t *keys = malloc((n_seen ? n_seen : 1) * sizeof *keys);
    if (!keys)
        return weft_no_memory(err, "threads and functions");
    size_t n_keys = 0;
    *n_unnamed = 0;
    for (uint32_t i = 0; i < n_seen; i++) {
        const uint64_t key = weft_map_key(catalog->seen, i);
        const uint32_t index = weft_map_find(catalog->function_of_key, key);
        if (index == WEFT_MAP_NONE)
            keys[n_keys++] = (uint32_t)key;
        else if (weft_strtab_get(catalog->texts, catalog->functions.items[index].name).n_bytes == 0)
            *n_unnamed += 1;
    }
    *n_unnamed += n_keys;
    qsort(keys, n_keys, sizeof *keys, compare_u32);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n_keys && code == WEFT_OK; i++)
        code = weft_catalog_function(catalog, &(struct weft_function_info){ .key = keys[i] }, err);
    free(keys);
    *n_functions = catalog->functions.n;
    return code;
}

static void put_text(const struct weft_catalog *catalog, struct weft_bytes *out, uint32_t text)
{
    weft_bytes_put_str(out, weft_strtab_get(catalog->texts, text));
}

/* A field of the META chunk: tag, length, content. */
static void put_field(struct weft_bytes *out, enum weft_meta_tag tag,
                      const struct weft_bytes *content)
{
    weft_bytes_put_varint(out, (uint64_t)tag);
    weft_bytes_put_str(
        out, (struct weft_str){ .bytes = (const char *)content->items, .n_bytes = content->n });
    if (content->has_failed)
        out->has_failed = true;
}

static void put_text_field(const struct weft_catalog *catalog, struct weft_bytes *out,
                           enum weft_meta_tag tag, uint32_t text)
{
    weft_bytes_put_varint(out, (uint64_t)tag);
    put_text(catalog, out, text);
}

static void put_clock(struct weft_bytes *out, const struct weft_clock *clock)
{
    struct weft_bytes content = { 0 };
    weft_bytes_put_varint(&content, clock->frequency_hz);
    weft_bytes_put_varint(&content, clock->zero_ticks);
    weft_bytes_put_varint(&content, (clock->has_monotonic ? WEFT_CLOCK_HAS_MONOTONIC : 0u) |
                                        (clock->has_realtime ? WEFT_CLOCK_HAS_REALTIME : 0u));
    weft_bytes_put_varint(&content, clock->has_monotonic ? clock->monotonic_ns : 0);
    weft_bytes_put_varint(&content, clock->has_realtime ? clock->realtime_ns : 0);
    put_field(out, WEFT_META_CLOCK, &content);
    weft_bytes_fini(&content);
}

void weft_catalog_put_meta(struct weft_catalog *catalog, struct weft_bytes *payload)
{
    payload->n = 0;
    if (catalog->is_meta_put)
        return;
    put_text_field(catalog, payload, WEFT_META_FORMAT, catalog->format);
    put_text_field(catalog, payload, WEFT_META_DETAILS, catalog->details);
    put_text_field(catalog, payload, WEFT_META_SOURCE, catalog->source);
    if (catalog->has_clock)
        put_clock(payload, &catalog->clock);
    struct weft_bytes bytes_in = { 0 };
    weft_bytes_put_varint(&bytes_in, catalog->bytes_in);
    put_field(payload, WEFT_META_BYTES_IN, &bytes_in);
    bytes_in.n = 0;
    if (catalog->has_some_calls)
        put_field(payload, WEFT_META_SOME_CALLS, &bytes_in);
    weft_bytes_fini(&bytes_in);
    catalog->is_meta_put = true;
}

void weft_catalog_put_threads(struct weft_catalog *catalog, uint32_t end_thread,
                              struct weft_bytes *payload)
{
    payload->n = 0;
    const size_t first = catalog->n_threads_put;
    if (end_thread <= first)
        return;
    weft_bytes_put_varint(payload, first);
    weft_bytes_put_varint(payload, end_thread - first);
    for (size_t i = first; i < end_thread; i++) {
        const struct catalog_thread *thread = &catalog->threads.items[i];
        weft_bytes_put_varint(payload, thread->tid);
        weft_bytes_put_varint(payload, thread->pid);
        weft_bytes_put_varint(payload, thread->host_id);
        weft_bytes_put_varint(payload, thread->generation);
        put_text(catalog, payload, thread->name);
    }
    catalog->n_threads_put = end_thread;
}

void weft_catalog_put_foreign(const struct weft_catalog *catalog, struct weft_bytes *payload)
{
    size_t last_end = 0, i = 0;
    payload->n = 0;
    while (i < catalog->threads.n) {
        const size_t first = i;
        while (i < catalog->threads.n && catalog->threads.items[i].is_foreign)
            i++;
        if (i > first) {
            weft_bytes_put_varint(payload, first - last_end);
            weft_bytes_put_varint(payload, i - first);
            last_end = i;
        } else {
            i++;
        }
    }
}

void weft_catalog_put_objects(const struct weft_catalog *catalog, struct weft_bytes *payload)
{
    payload->n = 0;
    if (catalog->objects.n == 0)
        return;
    weft_bytes_put_varint(payload, catalog->objects.n);
    for (size_t i = 0; i < catalog->objects.n; i++) {
        const struct catalog_object *object = &catalog->objects.items[i];
        weft_bytes_put_varint(payload, object->host_id);
        weft_bytes_put_varint(payload, object->pid);
        weft_bytes_put_varint(payload, object->address);
        put_text(catalog, payload, object->name);
    }
}

void weft_catalog_put_libraries(const struct weft_catalog *catalog, struct weft_bytes *payload)
{
    const struct catalog_library *items = catalog->libraries.items;
    uint64_t n = 0;
    payload->n = 0;
    for (size_t i = 0; i < catalog->libraries.n; i++)
        n += items[i].module != WEFT_ID_NONE;
    if (n == 0)
        return;
    weft_bytes_put_varint(payload, n);
    for (size_t i = 0; i < catalog->libraries.n; i++) {
        if (items[i].module == WEFT_ID_NONE)
            continue;
        put_text(catalog, payload, items[i].name);
        put_text(catalog, payload, items[i].module);
    }
}

void weft_catalog_put_ledger(const struct weft_catalog *catalog, struct weft_bytes *payload)
{
    payload->n = 0;
    if (catalog->processes.n == 0)
        return;
    weft_bytes_put_varint(payload, catalog->processes.n);
    for (size_t i = 0; i < catalog->processes.n; i++) {
        const struct weft_ledger_process *process = &catalog->processes.items[i].info;
        const uint64_t fields[WEFT_LEDGER_FIELDS] = {
            process->host_id,      process->pid,           process->parent,
            process->state,        process->why,           process->levels,
            process->start_ns,     process->end_ns + 1,    process->from_ns + 1,
            process->until_ns + 1, process->n_threads,     process->n_lost_threads,
            process->n_records,    process->n_lost_records
        };
        for (size_t k = 0; k < WEFT_LEDGER_FIELDS; k++)
            weft_bytes_put_varint(payload, fields[k]);
        put_text(catalog, payload, catalog->processes.items[i].name);
    }
}

void weft_catalog_put_functions(struct weft_catalog *catalog, struct weft_bytes *payload)
{
    payload->n = 0;
    const size_t first = catalog->n_functions_put;
    if (first == catalog->functions.n)
        return;
    weft_bytes_put_varint(payload, catalog->functions.n - first);
    for (size_t i = first; i < catalog->functions.n; i++) {
        const struct catalog_function *function = &catalog->functions.items[i];
        weft_bytes_put_varint(payload, function->key);
        weft_bytes_put_varint(payload, function->address);
        put_text(catalog, payload, function->name);
        put_text(catalog, payload, function->module);
    }
    catalog->n_functions_put = catalog->functions.n;
}

/* Order of notes that does not depend on the order of arrival: kind, thread, detail. */
static int compare_notes(const void *a, const void *b, void *texts)
{
    const struct catalog_note *x = a;
    const struct catalog_note *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return weft_str_compare(weft_strtab_get(texts, x->detail), weft_strtab_get(texts, y->detail));
}

enum weft_code weft_catalog_put_notes(struct weft_catalog *catalog, struct weft_bytes *payload,
                                      struct weft_err *err)
{
    payload->n = 0;
    if (catalog->notes.n == 0)
        return WEFT_OK;
    qsort_r(catalog->notes.items, catalog->notes.n, sizeof *catalog->notes.items, compare_notes,
            catalog->texts);
    weft_bytes_put_varint(payload, catalog->notes.n);
    for (size_t i = 0; i < catalog->notes.n; i++) {
        const struct catalog_note *note = &catalog->notes.items[i];
        weft_bytes_put_varint(payload, note->kind);
        weft_bytes_put_varint(payload, note->count);
        weft_bytes_put_varint(payload, (uint64_t)(uint32_t)(note->thread_id + 1));
        weft_bytes_put_varint(payload, note->at_off + 1);
        put_text(catalog, payload, note->detail);
    }
    return payload->has_failed ? weft_no_memory(err, "threads and functions") : WEFT_OK;
}
