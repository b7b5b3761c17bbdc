/* SPDX-License-Identifier: MIT
 *
 * See jitdump.h. A record says how long it is: one that is cut, or says what cannot be, ends the
 * reading; one whose contents are wrong is passed over. Code that is moved leaves nothing behind.
 */
#include "symbols/jitdump.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <string.h>

/* "JiTD" as a number, and of the other byte order. */
#define MAGIC UINT32_C(0x4a695444)

enum { VERSION = 1, MOST_HEAD_BYTES = 4096, FLAG_TICKS = 1 };
enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE };

/* From the record's begin on. */
enum {
    LOAD_NAME = WEFT_JITDUMP_RECORD_BYTES + 40,
    MOVE_BYTES = WEFT_JITDUMP_RECORD_BYTES + 48,
    DEBUG_ENTRIES = WEFT_JITDUMP_RECORD_BYTES + 16,
    ENTRY_NAME = DEBUG_ENTRIES + 16,
};

/* ---- heads ----------------------------------------------------------------------------------- */

uint32_t weft_jitdump_first(const uint8_t *bytes)
{
    const uint32_t n_head = weft_load_u32(bytes + 8);
    return weft_load_u32(bytes) == MAGIC && weft_load_u32(bytes + 4) == VERSION &&
                   n_head >= WEFT_JITDUMP_HEAD_BYTES && n_head <= MOST_HEAD_BYTES
               ? n_head
               : 0;
}

bool weft_jitdump_look(const uint8_t *bytes, struct weft_jitdump_record *record)
{
    *record = (struct weft_jitdump_record){ .id = weft_load_u32(bytes),
                                            .n_bytes = weft_load_u32(bytes + 4),
                                            .time = weft_load_u64(bytes + 8) };
    const uint32_t n_most = record->id == CODE_MOVE    ? MOVE_BYTES
                            : record->id == CODE_CLOSE ? WEFT_JITDUMP_RECORD_BYTES
                            : record->id == CODE_LOAD || record->id == CODE_DEBUG_INFO
                                ? WEFT_JITDUMP_MOST_BYTES
                                : 0;
    record->n_wanted = record->n_bytes < n_most ? record->n_bytes : n_most;
    return record->n_bytes >= WEFT_JITDUMP_RECORD_BYTES;
}

static void store_u32(uint8_t *bytes, uint32_t number)
{
    for (unsigned k = 0; k < 4; k++)
        bytes[k] = (uint8_t)(number >> (8 * k));
}

/* Up to a text's NUL, which stands at `at` or behind; a text that is longer than what is held is
 * cut. */
static uint32_t end_of_text(uint8_t *bytes, uint32_t n_bytes, uint32_t at)
{
    if (at >= n_bytes)
        return 0;
    const uint8_t *end = memchr(bytes + at, 0, n_bytes - at);
    if (!end && n_bytes < WEFT_JITDUMP_MOST_BYTES)
        return 0;
    if (!end)
        bytes[n_bytes - 1] = 0;
    return end ? (uint32_t)(end - bytes) + 1 : n_bytes;
}

uint32_t weft_jitdump_shorten(uint8_t *bytes, uint32_t n_wanted)
{
    uint32_t n_kept = 0;
    switch (weft_load_u32(bytes)) {
    case CODE_LOAD:
        n_kept = end_of_text(bytes, n_wanted, LOAD_NAME);
        break;
    case CODE_MOVE:
        n_kept = n_wanted == MOVE_BYTES ? n_wanted : 0;
        break;
    case CODE_DEBUG_INFO:
        n_kept = end_of_text(bytes, n_wanted, ENTRY_NAME);
        if (n_kept && weft_load_u64(bytes + DEBUG_ENTRIES - 8) == 0)
            n_kept = 0;
        if (n_kept) {
            store_u32(bytes + DEBUG_ENTRIES - 8, 1);
            store_u32(bytes + DEBUG_ENTRIES - 4, 0);
        }
        break;
    case CODE_CLOSE:
        n_kept = n_wanted;
        break;
    default:
        break;
    }
    if (n_kept)
        store_u32(bytes + 4, n_kept);
    return n_kept;
}

/* ---- records --------------------------------------------------------------------------------- */

bool weft_jitdump_init(struct weft_jitdump *dump, struct weft_jit_names *names)
{
    *dump = (struct weft_jitdump){ .names = names, .of_index = weft_map_new() };
    return dump->of_index != NULL;
}

void weft_jitdump_fini(struct weft_jitdump *dump)
{
    weft_map_free(dump->of_index);
    WEFT_VEC_FINI(&dump->index_names);
    *dump = (struct weft_jitdump){ 0 };
}

/* A text that must end within what is left, unless that is all of a longer record that matters;
 * NULL: it does not. */
static const char *take_text(struct weft_cursor *cur, size_t *n_text)
{
    const size_t n_left = weft_cur_left(cur);
    const size_t n_whole = (size_t)(cur->end - cur->start) + WEFT_JITDUMP_RECORD_BYTES;
    const uint8_t *end = n_left && !cur->fault ? memchr(cur->at, 0, n_left) : NULL;
    if (!end && n_left && n_whole == WEFT_JITDUMP_MOST_BYTES)
        end = cur->end - 1;
    if (!end) {
        cur->fault = true;
        return NULL;
    }
    *n_text = (size_t)(end - cur->at);
    return (const char *)weft_cur_take(cur, *n_text + 1);
}

/* Remembers what a number stands for; without room its moves have no name. */
static bool set_index(struct weft_jitdump *dump, uint64_t index, uint32_t name)
{
    if (dump->index_names.n >= WEFT_JIT_MOST)
        return true;
    bool is_new;
    const uint32_t at = weft_map_add(dump->of_index, index, &is_new);
    if (at == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&dump->index_names)))
        return false;
    dump->index_names.items[at] = name;
    return true;
}

static bool take_load(struct weft_jitdump *dump, struct weft_cursor *cur, uint64_t ns)
{
    size_t n_text = 0;
    uint32_t name;
    (void)weft_cur_take(cur, 16); /* process, thread, and where the code is mapped */
    const uint64_t begin = weft_cur_u64(cur);
    const uint64_t n_bytes = weft_cur_u64(cur);
    const uint64_t index = weft_cur_u64(cur);
    const char *text = take_text(cur, &n_text);
    if (cur->fault || begin > UINT64_MAX - n_bytes) {
        dump->names->n_bad++;
        return true;
    }
    const bool has_place = dump->n_place_file > 0 && dump->place_address == begin;
    const struct weft_str file = { dump->place_file, has_place ? dump->n_place_file : 0 };
    dump->n_place_file = 0;
    if (weft_jit_is_full(dump->names->table)) {
        dump->names->table->n_dropped += n_bytes > 0;
        return true;
    }
    return weft_jit_intern(dump->names, (struct weft_str){ text, n_text }, file,
                           has_place ? dump->place_line : 0, &name) &&
           set_index(dump, index, name) &&
           weft_jit_add(dump->names->table, begin, n_bytes, ns, name);
}

static bool take_move(struct weft_jitdump *dump, struct weft_cursor *cur, uint64_t ns)
{
    (void)weft_cur_take(cur, 16);
    const uint64_t old_begin = weft_cur_u64(cur);
    const uint64_t begin = weft_cur_u64(cur);
    const uint64_t n_bytes = weft_cur_u64(cur);
    const uint64_t index = weft_cur_u64(cur);
    const uint32_t at = weft_map_find(dump->of_index, index);
    if (cur->fault || at == WEFT_MAP_NONE || begin > UINT64_MAX - n_bytes ||
        old_begin > UINT64_MAX - n_bytes) {
        dump->names->n_bad++;
        return true;
    }
    struct weft_jit_table *table = dump->names->table;
    return weft_jit_add(table, old_begin, n_bytes, ns, WEFT_JIT_NONE) &&
           weft_jit_add(table, begin, n_bytes, ns, dump->index_names.items[at]);
}

/* Of the entries the first one says where the function is. It comes before the code. */
static void take_debug_info(struct weft_jitdump *dump, struct weft_cursor *cur)
{
    size_t n_text = 0;
    const uint64_t address = weft_cur_u64(cur);
    const uint64_t n_entries = weft_cur_u64(cur);
    (void)weft_cur_u64(cur);
    const uint32_t line = weft_cur_u32(cur);
    (void)weft_cur_u32(cur);
    const char *file = n_entries && !cur->fault ? take_text(cur, &n_text) : NULL;
    dump->n_place_file = 0;
    if (!file) {
        dump->names->n_bad += n_entries > 0;
        return;
    }
    if (n_text > sizeof dump->place_file) { /* its end names the file */
        file += n_text - sizeof dump->place_file;
        n_text = sizeof dump->place_file;
    }
    memcpy(dump->place_file, file, n_text);
    dump->n_place_file = n_text;
    dump->place_address = address;
    dump->place_line = line;
}

static bool take_record(struct weft_jitdump *dump, const struct weft_jitdump_record *record,
                        struct weft_cursor *cur)
{
    uint64_t ns = record->time;
    if (dump->is_ticks)
        ns = dump->ns_of_ticks ? dump->ns_of_ticks(dump->context, ns) : 0;
    switch (record->id) {
    case CODE_LOAD:
        return take_load(dump, cur, ns);
    case CODE_MOVE:
        return take_move(dump, cur, ns);
    case CODE_DEBUG_INFO:
        take_debug_info(dump, cur);
        return true;
    default:
        dump->is_over |= record->id == CODE_CLOSE;
        return true;
    }
}

static bool take_head(struct weft_jitdump *dump, struct weft_cursor *cur)
{
    const uint8_t *head = weft_cur_left(cur) >= WEFT_JITDUMP_HEAD_BYTES ? cur->at : NULL;
    const uint32_t n_head = head ? weft_jitdump_first(head) : 0;
    if (!n_head || !weft_cur_take(cur, n_head)) {
        dump->names->n_bad++;
        return false;
    }
    dump->has_head = true;
    dump->is_ticks = weft_load_u64(head + 32) & FLAG_TICKS;
    return true;
}

bool weft_jitdump_read(struct weft_jitdump *dump, struct weft_str bytes)
{
    struct weft_cursor cur = weft_cur_init(bytes.bytes, bytes.n_bytes, 0);
    if (!dump->has_head && !dump->is_over)
        dump->is_over = !take_head(dump, &cur);
    while (!dump->is_over && weft_cur_left(&cur) > 0) {
        struct weft_jitdump_record record;
        const size_t n_left = weft_cur_left(&cur);
        if (n_left < WEFT_JITDUMP_RECORD_BYTES || !weft_jitdump_look(cur.at, &record) ||
            record.n_bytes > n_left) {
            dump->names->n_bad++;
            dump->is_over = true;
            break;
        }
        const size_t n_own = record.n_wanted > WEFT_JITDUMP_RECORD_BYTES
                                 ? record.n_wanted
                                 : WEFT_JITDUMP_RECORD_BYTES;
        struct weft_cursor own =
            weft_cur_init(cur.at + WEFT_JITDUMP_RECORD_BYTES, n_own - WEFT_JITDUMP_RECORD_BYTES, 0);
        if (!take_record(dump, &record, &own))
            return false;
        (void)weft_cur_take(&cur, record.n_bytes);
    }
    return true;
}
