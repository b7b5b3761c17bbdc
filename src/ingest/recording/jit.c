/* SPDX-License-Identifier: MIT
 *
 * See jit.h. Pieces stand in the order in which they were written: those of a program behind the
 * PROCESS that it began with.
 */
#include "ingest/recording/jit.h"

#include "base/checked.h"
#include "base/cursor.h"
#include "base/search.h"
#include "base/vec.h"
#include "symbols/perf_map.h"

enum { MOST_REGIONS = 1 << 16, MOST_PROGRAMS = 1 << 10 };

/* What functions take of a ceiling on memory, and what one needs, name and all. */
enum { MEMORY_SHARE = 4, FUNCTION_BYTES = 192 };

bool rec_jits_init(struct rec_jits *jits, const struct rec_clocks *clocks, uint64_t memory_bytes)
{
    *jits = (struct rec_jits){ .of_pid = weft_map_new(), .clocks = clocks };
    jits->n_most = memory_bytes ? memory_bytes / MEMORY_SHARE / FUNCTION_BYTES : UINT64_MAX;
    return jits->of_pid != NULL;
}

void rec_jits_fini(struct rec_jits *jits)
{
    for (size_t k = 0; k < jits->n; k++) {
        weft_jit_table_fini(&jits->items[k].table);
        weft_jitdump_fini(&jits->items[k].dump);
        WEFT_VEC_FINI(&jits->items[k].regions);
    }
    WEFT_VEC_FINI(jits);
    WEFT_VEC_FINI(&jits->first);
    weft_map_free(jits->of_pid);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The one that the process has last, or one that begins with this program. NULL without memory. */
static struct rec_jit *jit_of_piece(struct rec_jits *jits, uint32_t pid, uint64_t from_ns)
{
    bool is_new;
    const uint32_t index = weft_map_add(jits->of_pid, pid, &is_new);
    uint32_t last = REC_NO_JIT, n_programs = 0;
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&jits->first)))
        return NULL;
    if (is_new)
        jits->first.items[index] = REC_NO_JIT;
    for (uint32_t k = jits->first.items[index]; k != REC_NO_JIT;
         k = jits->items[k].next, n_programs++)
        last = k;
    if (last != REC_NO_JIT && (jits->items[last].from_ns >= from_ns || n_programs >= MOST_PROGRAMS))
        return &jits->items[last];
    struct rec_jit *jit = WEFT_VEC_PUSH(jits);
    if (!jit)
        return NULL;
    *jit = (struct rec_jit){ .pid = pid, .from_ns = from_ns, .next = REC_NO_JIT };
    const uint32_t number = (uint32_t)jits->n - 1;
    if (last == REC_NO_JIT)
        jits->first.items[index] = number;
    else
        jits->items[last].next = number;
    return jit;
}

static uint64_t ns_of_ticks(void *context, uint64_t ticks)
{
    struct rec_jits *jits = context;
    return rec_clock_ns(jits->clocks, &jits->clock_at, ticks);
}

/* Does the piece begin with the head of a file? A recorder that met a program twice has read its
 * dump twice. */
static bool is_begin(struct weft_str bytes)
{
    return bytes.n_bytes >= WEFT_JITDUMP_HEAD_BYTES &&
           weft_jitdump_first((const uint8_t *)bytes.bytes) != 0;
}

static bool take_dump(struct rec_jits *jits, struct rec_jit *jit, struct weft_str bytes,
                      struct weft_jit_names *names)
{
    if (jit->has_dump && is_begin(bytes)) {
        weft_jitdump_fini(&jit->dump);
        jit->has_dump = false;
    }
    if (!jit->has_dump && !weft_jitdump_init(&jit->dump, names))
        return false;
    jit->has_dump = true;
    jit->dump.names = names;
    jit->dump.ns_of_ticks = ns_of_ticks;
    jit->dump.context = jits;
    return weft_jitdump_read(&jit->dump, bytes);
}

static bool take_regions(struct rec_jit *jit, struct weft_str bytes)
{
    struct weft_cursor cur = weft_cur_init(bytes.bytes, bytes.n_bytes, 0);
    while (weft_cur_left(&cur) >= 16 && jit->regions.n < MOST_REGIONS) {
        struct rec_jit_region region = { .begin = weft_cur_u64(&cur) };
        region.end = weft_cur_u64(&cur);
        struct rec_jit_region *place =
            region.begin < region.end ? WEFT_VEC_PUSH(&jit->regions) : NULL;
        if (place)
            *place = region;
        else if (region.begin < region.end)
            return false;
    }
    return true;
}

/* `*is_known`: the kind is one of this version. False without memory. */
static bool take_bytes(struct rec_jits *jits, struct rec_jit *jit, const struct rec_piece *piece,
                       struct weft_str bytes, struct weft_strtab *texts, bool *is_known)
{
    struct weft_jit_names names = { .table = &jit->table, .texts = texts };
    const uint64_t n_before = jit->table.n;
    const uint64_t n_left = weft_sub_sat_u64(jits->n_most, jits->n_all);
    bool is_good = true;
    *is_known = true;
    jit->table.has_limit = true;
    jit->table.n_most = (size_t)weft_min_u64(n_before + n_left, WEFT_JIT_MOST);
    if (piece->stream == WEFT_JIT_MAP)
        is_good = weft_perf_map_read(&names, bytes);
    else if (piece->stream == WEFT_JIT_DUMP)
        is_good = take_dump(jits, jit, bytes, &names);
    else if (piece->stream == WEFT_JIT_REGIONS)
        is_good = take_regions(jit, bytes);
    else
        *is_known = false;
    if (jits->n_bad == 0 && names.n_bad)
        jits->bad_off = piece->payload_off;
    jits->n_bad += names.n_bad;
    jits->n_all += jit->table.n - n_before;
    return is_good;
}

bool rec_jits_take(struct rec_jits *jits, const struct rec_piece *piece, uint64_t from_ns,
                   struct weft_str payload, struct weft_strtab *texts)
{
    struct weft_cursor cur = weft_cur_init(payload.bytes, payload.n_bytes, piece->payload_off);
    const uint64_t n_dropped = weft_cur_u64(&cur);
    bool is_known = !cur.fault;
    if (is_known) {
        struct rec_jit *jit = jit_of_piece(jits, piece->pid, from_ns);
        const struct weft_str bytes = { (const char *)cur.at, weft_cur_left(&cur) };
        if (!jit || !take_bytes(jits, jit, piece, bytes, texts, &is_known))
            return false;
        jits->n_dropped_bytes = weft_add_sat_u64(jits->n_dropped_bytes, n_dropped);
    }
    if (!is_known && jits->n_bad++ == 0)
        jits->bad_off = piece->payload_off;
    return true;
}

static int by_begin(const void *a_void, const void *b_void)
{
    const struct rec_jit_region *a = a_void, *b = b_void;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void join_regions(struct rec_jit *jit)
{
    struct rec_jit_region *items = jit->regions.items;
    size_t n = 0;
    if (jit->regions.n)
        qsort(items, jit->regions.n, sizeof *items, by_begin);
    for (size_t k = 0; k < jit->regions.n; k++)
        if (n && items[k].begin <= items[n - 1].end)
            items[n - 1].end = weft_max_u64(items[n - 1].end, items[k].end);
        else
            items[n++] = items[k];
    jit->regions.n = n;
}

bool rec_jits_seal(struct rec_jits *jits)
{
    bool is_good = true;
    for (size_t k = 0; is_good && k < jits->n; k++) {
        struct rec_jit *jit = &jits->items[k];
        weft_jitdump_fini(&jit->dump);
        join_regions(jit);
        is_good = weft_jit_seal(&jit->table);
        jits->n_dropped += jit->table.n_dropped;
    }
    return is_good;
}

/* ---- questions ------------------------------------------------------------------------------- */

uint32_t rec_jit_of(const struct rec_jits *jits, uint32_t pid, uint64_t ns)
{
    const uint32_t index = weft_map_find(jits->of_pid, pid);
    uint32_t found = index == WEFT_MAP_NONE ? REC_NO_JIT : jits->first.items[index];
    while (found != REC_NO_JIT && jits->items[found].next != REC_NO_JIT &&
           jits->items[jits->items[found].next].from_ns <= ns)
        found = jits->items[found].next;
    return found;
}

static bool is_in_region(const struct rec_jit *jit, uint64_t address)
{
    size_t at;
    WEFT_SEARCH(at, jit->regions.n, jit->regions.items[at].end <= address);
    return at < jit->regions.n && jit->regions.items[at].begin <= address;
}

enum rec_jit_found rec_jit_find(const struct rec_jits *jits, const struct rec_jit_view *view,
                                uint64_t address, uint32_t *name)
{
    bool is_in = false;
    for (unsigned k = 0; k < view->n; k++) {
        const struct rec_jit *jit = &jits->items[view->parts[k].jit];
        *name = weft_jit_find(&jit->table, address, view->parts[k].era);
        if (*name != WEFT_JIT_NONE)
            return REC_JIT_NAMED;
        is_in |= is_in_region(jit, address);
    }
    return is_in ? REC_JIT_UNNAMED : REC_JIT_NONE;
}
