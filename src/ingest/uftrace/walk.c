/* SPDX-License-Identifier: MIT
 *
 * The loop over 16-byte records, run twice for each task. Records without data whose function is in
 * the cache take a short path (weft_uft_walk_plain); the rest resolve functions (space.h) and
 * measure data (argspec.h). After damage it resynchronises on the magic bits and a plausible time.
 */
#include "ingest/uftrace/walk.h"

#include "base/cursor.h"
#include "base/vec.h"

#include <string.h>

enum { MAGIC = 5, EPOCH_SHIFT = 48, CACHE_BITS = 12 };
_Static_assert(1 << CACHE_BITS == WEFT_UFT_CACHE, "the hash has as many bits as the cache");

/* Bits of a record's second word that say: entry or exit, no data, the magic. */
enum { PLAIN_MASK = 0x3e, PLAIN_BITS = MAGIC << 3 };

/* After damage, the next record is believed to be at most this much later (about 73 minutes). */
#define MOST_GAP_NS (UINT64_C(1) << 42)

enum weft_code weft_uft_locals_init(struct weft_uft_locals *locals, struct weft_err *err)
{
    locals->map = weft_map_new();
    if (!locals->map)
        return weft_no_memory(err, "functions of a task");
    return WEFT_OK;
}

void weft_uft_locals_fini(struct weft_uft_locals *locals)
{
    weft_map_free(locals->map);
    WEFT_VEC_FINI(&locals->rows);
    locals->map = NULL;
}

void weft_uft_walk_begin(struct weft_uft_walk *walk, const struct weft_uft_info *info,
                         const struct weft_uft_space *space, const struct weft_uft_epochs *epochs,
                         struct weft_uft_locals *locals, const struct weft_mapped *file)
{
    memset(walk, 0, sizeof *walk);
    walk->info = info;
    walk->space = space;
    walk->epochs = epochs;
    walk->locals = locals;
    walk->bytes = file->bytes;
    walk->n_bytes = file->n_bytes;
    for (size_t k = 0; k < WEFT_UFT_CACHE; k++)
        walk->cache[k].key = UINT64_MAX; /* no epoch has this number */
}

/* ---- functions --------------------------------------------------------------------------------
 */

static void find_epoch(struct weft_uft_walk *walk, uint64_t time_ns)
{
    const struct weft_uft_epochs *epochs = walk->epochs;
    walk->epoch = weft_uft_epoch_at(epochs, time_ns);
    walk->epoch_from_ns = epochs->begins.items[walk->epoch];
    walk->epoch_to_ns =
        walk->epoch + 1 < epochs->begins.n ? epochs->begins.items[walk->epoch + 1] : UINT64_MAX;
}

static enum weft_code add_local(struct weft_uft_walk *walk, uint64_t key, uint64_t address,
                                uint32_t *local, struct weft_err *err)
{
    bool is_new;
    *local = weft_map_add(walk->locals->map, key, &is_new);
    if (*local == WEFT_MAP_NONE)
        return weft_no_memory(err, "functions of a task");
    if (!is_new)
        return WEFT_OK;
    struct weft_uft_local *row = WEFT_VEC_PUSH(&walk->locals->rows);
    if (!row)
        return weft_no_memory(err, "functions of a task");
    row->address = address;
    row->place = weft_uft_place_of(walk->space, walk->epochs, walk->epoch, address);
    return WEFT_OK;
}

static inline size_t slot_of(uint64_t key)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CACHE_BITS));
}

/* The number of the function at an address. */
static inline enum weft_code find_local(struct weft_uft_walk *walk, uint64_t time_ns,
                                        uint64_t address, uint32_t *local, struct weft_err *err)
{
    if (time_ns < walk->epoch_from_ns || time_ns >= walk->epoch_to_ns)
        find_epoch(walk, time_ns);
    uint64_t key = address | (uint64_t)walk->epoch << EPOCH_SHIFT;
    size_t slot = slot_of(key);
    if (walk->cache[slot].key == key) {
        *local = walk->cache[slot].local;
        return WEFT_OK;
    }
    enum weft_code code = add_local(walk, key, address, local, err);
    walk->cache[slot].key = key;
    walk->cache[slot].local = *local;
    return code;
}

/* NULL in *args: nothing says what a call of the function has. */
static enum weft_code args_of(const struct weft_uft_walk *walk, uint32_t local, bool is_exit,
                              const struct weft_uft_args **args, struct weft_err *err)
{
    struct weft_uft_local *row = &walk->locals->rows.items[local];
    enum weft_code code = WEFT_OK;
    if (!row->knows_args[is_exit]) {
        row->knows_args[is_exit] = true;
        if (row->place.module != SIZE_MAX)
            code = weft_uft_args_of(walk->info, &walk->space->modules[row->place.module],
                                    row->place.symbol, is_exit, &row->args[is_exit],
                                    &row->has_args[is_exit], err);
    }
    *args = row->has_args[is_exit] ? &row->args[is_exit] : NULL;
    return code;
}

/* ---- records ----------------------------------------------------------------------------------
 */

/* True if the 16 bytes may be a record. */
static inline bool is_record(uint64_t time_ns, uint64_t word)
{
    return (word >> 3 & 7) == MAGIC && time_ns < WEFT_UFT_MOST_NS;
}

/* The same where bytes of another kind may stand: the time must fit, too. */
static bool is_plausible(const struct weft_uft_walk *walk, uint64_t at_off)
{
    if (walk->n_bytes - at_off < WEFT_UFT_RECORD_BYTES)
        return false;
    uint64_t time_ns = weft_load_u64(walk->bytes + at_off);
    uint64_t word = weft_load_u64(walk->bytes + at_off + 8);
    if (!is_record(time_ns, word))
        return false;
    if ((word & 3) == WEFT_UFT_LOST)
        return time_ns == 0;
    if (walk->last_ns == 0)
        return time_ns > 0;
    return time_ns >= walk->last_ns && time_ns - walk->last_ns <= MOST_GAP_NS;
}

/* The next place from `at_off` on, in steps of 8 bytes, where a record may stand; else the end. */
static uint64_t find_record(const struct weft_uft_walk *walk, uint64_t at_off)
{
    while (walk->n_bytes - at_off >= WEFT_UFT_RECORD_BYTES) {
        if (is_plausible(walk, at_off))
            return at_off;
        at_off += 8;
    }
    return walk->n_bytes;
}

/* The length of data whose specification is known, if a record or the end follows it. */
static bool measure_known(const struct weft_uft_walk *walk, const struct weft_uft_args *args,
                          size_t *n_data)
{
    uint64_t n_left = walk->n_bytes - walk->at_off;
    *n_data = args ? weft_uft_args_size(args, walk->bytes + walk->at_off, n_left) : 0;
    if (*n_data == 0)
        return false;
    return *n_data == n_left || is_plausible(walk, walk->at_off + *n_data);
}

static enum weft_code take_call_data(struct weft_uft_walk *walk, struct weft_uft_record *record,
                                     struct weft_err *err)
{
    const enum weft_code code =
        args_of(walk, record->local, record->type == WEFT_UFT_EXIT, &record->args, err);
    if (!measure_known(walk, record->args, &record->n_data)) {
        record->args = NULL;
        record->n_data = (size_t)(find_record(walk, walk->at_off) - walk->at_off);
    }
    record->data = walk->bytes + walk->at_off;
    walk->at_off += record->n_data;
    return code;
}

/* u16 length, data, padding to 8. */
static void take_event_data(struct weft_uft_walk *walk, struct weft_uft_record *record)
{
    uint64_t n_left = walk->n_bytes - walk->at_off;
    uint64_t n_data = n_left >= 2 ? weft_load_u16(walk->bytes + walk->at_off) : 0;
    uint64_t n_all = (2 + n_data + 7) / 8 * 8;
    if (n_left < 2 || n_all > n_left) {
        weft_uft_tally_add(&walk->missing_bytes, n_all - n_left, walk->at_off);
        walk->at_off = walk->n_bytes;
        return;
    }
    record->data = walk->bytes + walk->at_off + 2;
    record->n_data = (size_t)n_data;
    walk->at_off += n_all;
}

/* Passes over what is no record; false at the end. */
static bool skip_damage(struct weft_uft_walk *walk)
{
    uint64_t next = find_record(walk, walk->at_off + 8);
    weft_uft_tally_add(&walk->bad_bytes, next - walk->at_off, walk->at_off);
    walk->at_off = next;
    return next < walk->n_bytes;
}

static bool find_next(struct weft_uft_walk *walk, uint64_t *time_ns, uint64_t *word)
{
    do {
        uint64_t n_left = walk->n_bytes - walk->at_off;
        if (n_left < WEFT_UFT_RECORD_BYTES) {
            if (n_left)
                weft_uft_tally_add(&walk->missing_bytes, WEFT_UFT_RECORD_BYTES - n_left,
                                   walk->at_off);
            walk->at_off = walk->n_bytes;
            return false;
        }
        *time_ns = weft_load_u64(walk->bytes + walk->at_off);
        *word = weft_load_u64(walk->bytes + walk->at_off + 8);
        if (is_record(*time_ns, *word))
            return true;
    } while (skip_damage(walk));
    return false;
}

enum weft_code weft_uft_walk_next(struct weft_uft_walk *walk, struct weft_uft_record *record,
                                  bool *is_end, struct weft_err *err)
{
    uint64_t time_ns;
    uint64_t word;
    *is_end = !find_next(walk, &time_ns, &word);
    if (*is_end)
        return WEFT_OK;
    record->type = (enum weft_uft_type)(word & 3);
    record->time_ns = time_ns;
    record->at_off = walk->at_off;
    record->depth = (uint32_t)(word >> 6 & 1023);
    record->n_data = 0;
    walk->at_off += WEFT_UFT_RECORD_BYTES;
    if (record->type >= WEFT_UFT_LOST) {
        record->id = word >> 16;
        if (record->type == WEFT_UFT_EVENT && (word & 4))
            take_event_data(walk, record);
        return WEFT_OK;
    }
    walk->last_ns = time_ns;
    enum weft_code code = find_local(walk, time_ns, word >> 16, &record->local, err);
    if (code == WEFT_OK && (word & 4))
        code = take_call_data(walk, record, err);
    return code;
}

size_t weft_uft_walk_plain(struct weft_uft_walk *walk, struct weft_uft_plain *plain, size_t n_most)
{
    if (walk->at_off == walk->n_bytes)
        return 0;
    const uint8_t *record = walk->bytes + walk->at_off;
    uint64_t n_left = (walk->n_bytes - walk->at_off) / WEFT_UFT_RECORD_BYTES;
    size_t n_here = n_left < n_most ? (size_t)n_left : n_most;
    uint64_t epoch_bits = (uint64_t)walk->epoch << EPOCH_SHIFT;
    uint64_t to_ns = walk->epoch_to_ns < WEFT_UFT_MOST_NS ? walk->epoch_to_ns : WEFT_UFT_MOST_NS;
    size_t n = 0;
    for (; n < n_here; n++, record += WEFT_UFT_RECORD_BYTES) {
        uint64_t time_ns = weft_load_u64(record);
        uint64_t word = weft_load_u64(record + 8);
        uint64_t key = word >> 16 | epoch_bits;
        size_t slot = slot_of(key);
        if ((word & PLAIN_MASK) != PLAIN_BITS || time_ns < walk->epoch_from_ns ||
            time_ns >= to_ns || walk->cache[slot].key != key)
            break;
        plain[n] = (struct weft_uft_plain){ .time_ns = time_ns,
                                            .local = walk->cache[slot].local,
                                            .depth = (uint16_t)(word >> 6 & 1023),
                                            .is_exit = word & 1 };
    }
    if (n)
        walk->last_ns = plain[n - 1].time_ns;
    walk->at_off += n * WEFT_UFT_RECORD_BYTES;
    return n;
}
