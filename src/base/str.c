/* SPDX-License-Identifier: MIT
 *
 * The interning table: open addressing over XXH3 hashes, texts copied into an arena. An id and the
 * bytes it stands for stay valid until the table is freed. Not thread-safe; the order of ids is the
 * order of first insertion, so it is deterministic only if the callers are.
 */
#include "base/str.h"

#include "base/arena.h"
#include "base/room.h"

#include <ctype.h>
#include <stdlib.h>
#include <xxhash.h>

/* slots[hash & mask] = id + 1, 0 = empty; hashes and texts by id; bytes live in the arena. */
struct weft_strtab {
    struct weft_arena *arena;
    uint32_t *slots;
    size_t mask;
    struct entry {
        struct weft_str text;
        uint64_t hash;
    } * items;
    size_t n, cap;
};

enum { FIRST_SLOTS = 64 };

bool weft_str_begins_with_any(struct weft_str text, const char *const *fronts, size_t n_fronts)
{
    for (size_t i = 0; i < n_fronts; i++) /* most differ in the first byte */
        if (text.n_bytes > 0 && text.bytes[0] == fronts[i][0] && weft_str_begins(text, fronts[i]))
            return true;
    return false;
}

struct weft_str weft_str_without_number(struct weft_str text)
{
    while (text.n_bytes > 0 && text.bytes[text.n_bytes - 1] >= '0' &&
           text.bytes[text.n_bytes - 1] <= '9')
        text.n_bytes--;
    return text;
}

struct weft_str weft_str_stem(struct weft_str text)
{
    struct weft_str stem = weft_str_without_number(text);
    while (stem.n_bytes > 0 && stem.n_bytes < text.n_bytes &&
           !isalnum((unsigned char)stem.bytes[stem.n_bytes - 1]))
        stem.n_bytes--;
    return stem.n_bytes > 0 ? stem : text;
}

struct weft_str weft_str_base(struct weft_str path)
{
    const char *slash = path.n_bytes ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
    const size_t n_before = slash ? (size_t)(slash - path.bytes) + 1 : 0;
    return (struct weft_str){ path.bytes + n_before, path.n_bytes - n_before };
}

int weft_str_compare(struct weft_str a, struct weft_str b)
{
    size_t n_common = a.n_bytes < b.n_bytes ? a.n_bytes : b.n_bytes;
    int order = n_common ? memcmp(a.bytes, b.bytes, n_common) : 0;
    if (order != 0)
        return order < 0 ? -1 : 1;
    return (a.n_bytes > b.n_bytes) - (a.n_bytes < b.n_bytes);
}

struct weft_strtab *weft_strtab_new(void)
{
    struct weft_strtab *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->arena = weft_arena_new(0);
    table->slots = weft_room_new(FIRST_SLOTS, sizeof *table->slots);
    table->mask = FIRST_SLOTS - 1;
    if (!table->arena || !table->slots) {
        weft_strtab_free(table);
        return NULL;
    }
    return table;
}

void weft_strtab_free(struct weft_strtab *table)
{
    if (!table)
        return;
    weft_arena_free(table->arena);
    weft_room_free(table->slots);
    weft_room_free(table->items);
    free(table);
}

static size_t probe(const struct weft_strtab *table, struct weft_str text, uint64_t hash)
{
    size_t slot = (size_t)hash & table->mask;
    for (;; slot = (slot + 1) & table->mask) {
        uint32_t entry = table->slots[slot];
        if (entry == 0)
            return slot;
        const struct entry *known = &table->items[entry - 1];
        if (known->hash == hash && weft_str_equal(known->text, text))
            return slot;
    }
}

static bool grow(struct weft_strtab *table)
{
    size_t n_slots = (table->mask + 1) * 2;
    uint32_t *slots = weft_room_new(n_slots, sizeof *slots);
    if (!slots)
        return false;
    weft_room_free(table->slots);
    table->slots = slots;
    table->mask = n_slots - 1;
    for (size_t id = 0; id < table->n; id++) {
        size_t slot = (size_t)table->items[id].hash & table->mask;
        while (slots[slot] != 0)
            slot = (slot + 1) & table->mask;
        slots[slot] = (uint32_t)id + 1;
    }
    return true;
}

static enum weft_code add(struct weft_strtab *table, struct weft_str text, uint64_t hash,
                          struct weft_err *err)
{
    if (table->n >= UINT32_MAX - 1)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET, "more than 2^32 - 2 strings");
    bool has_room = (table->n + 1) * 2 <= table->mask + 1 || grow(table);
    struct weft_str copy = has_room ? weft_arena_copy(table->arena, text) : (struct weft_str){ 0 };
    struct entry *entry = copy.bytes ? WEFT_ROOM_PUSH(table) : NULL;
    if (!entry)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a string of %zu bytes",
                         text.n_bytes);
    *entry = (struct entry){ .text = copy, .hash = hash };
    return WEFT_OK;
}

enum weft_code weft_strtab_intern(struct weft_strtab *table, struct weft_str text, uint32_t *id,
                                  struct weft_err *err)
{
    uint64_t hash = XXH3_64bits(text.bytes, text.n_bytes);
    uint32_t entry = table->slots[probe(table, text, hash)];
    if (entry == 0) {
        WEFT_TRY(add(table, text, hash, err));
        entry = (uint32_t)table->n;
        table->slots[probe(table, text, hash)] = entry;
    }
    *id = entry - 1;
    return WEFT_OK;
}

uint32_t weft_strtab_count(const struct weft_strtab *table)
{
    return (uint32_t)table->n;
}

struct weft_str weft_strtab_get(const struct weft_strtab *table, uint32_t id)
{
    return table->items[id].text;
}

bool weft_str_is_one_of(struct weft_str text, const char *names)
{
    while (*names) {
        const size_t n_name = (size_t)(strchrnul(names, '|') - names);
        if (n_name == text.n_bytes && memcmp(names, text.bytes, n_name) == 0)
            return true;
        names += n_name;
        names += *names == '|';
    }
    return false;
}
