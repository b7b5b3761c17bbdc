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

bool rec_jits_init(struct rec_jits *codes, const struct rec_clocks *clocks)
{
    *codes = (struct rec_jits){ .of_pid = weft_map_new(), .clocks = clocks };
    return codes->of_pid != NULL;
}

void rec_jits_fini(struct rec_jits *codes)
{
    for (size_t k = 0; k < codes->n; k++) {
        weft_jit_table_fini(&codes->items[k].table);
        weft_jitdump_fini(&codes->items[k].dump);
        WEFT_VEC_FINI(&codes->items[k].regions);
    }
    WEFT_VEC_FINI(codes);
    WEFT_VEC_FINI(&codes->first);
    weft_map_free(codes->of_pid);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The one that the process has last, or one that begins with this program. NULL without memory. */
static struct rec_jit *code_of_piece(struct rec_jits *codes, uint32_t pid, uint64_t from_ns)
{
    bool is_new;
    const uint32_t index = weft_map_add(codes->of_pid, pid, &is_new);
    uint32_t last = REC_NO_JIT, n_programs = 0;
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&codes->first)))
        return NULL;
    if (is_new)
        codes->first.items[index] = REC_NO_JIT;
    for (uint32_t k = codes->first.items[index]; k != REC_NO_JIT;
         k = codes->items[k].next, n_programs++)
        last = k;
    if (last != REC_NO_JIT &&
        (codes->items[last].from_ns >= from_ns || n_programs >= MOST_PROGRAMS))
        return &codes->items[last];
    struct rec_jit *code = WEFT_VEC_PUSH(codes);
    if (!code)
        return NULL;
    *code = (struct rec_jit){ .pid = pid, .from_ns = from_ns, .next = REC_NO_JIT };
    const uint32_t number = (uint32_t)codes->n - 1;
    if (last == REC_NO_JIT)
        codes->first.items[index] = number;
    else
        codes->items[last].next = number;
    return code;
}

static uint64_t ns_of_ticks(void *context, uint64_t ticks)
{
    struct rec_jits *codes = context;
    return rec_clock_ns(codes->clocks, &codes->clock_at, ticks);
}

static bool take_dump(struct rec_jits *codes, struct rec_jit *code, struct weft_str bytes,
                      struct weft_jit_names *names)
{
    if (!code->has_dump && !weft_jitdump_init(&code->dump, names))
        return false;
    code->has_dump = true;
    code->dump.names = names;
    code->dump.ns_of_ticks = ns_of_ticks;
    code->dump.context = codes;
    return weft_jitdump_read(&code->dump, bytes);
}

static bool take_regions(struct rec_jit *code, struct weft_str bytes)
{
    struct weft_cursor cur = weft_cur_init(bytes.bytes, bytes.n_bytes, 0);
    while (weft_cur_left(&cur) >= 16 && code->regions.n < MOST_REGIONS) {
        struct rec_jit_region region = { .begin = weft_cur_u64(&cur) };
        region.end = weft_cur_u64(&cur);
        struct rec_jit_region *place =
            region.begin < region.end ? WEFT_VEC_PUSH(&code->regions) : NULL;
        if (place)
            *place = region;
        else if (region.begin < region.end)
            return false;
    }
    return true;
}

bool rec_jits_take(struct rec_jits *codes, const struct rec_piece *piece, uint64_t from_ns,
                   struct weft_str payload, struct weft_strtab *texts)
{
    struct weft_cursor cur = weft_cur_init(payload.bytes, payload.n_bytes, piece->payload_off);
    const uint64_t n_dropped = weft_cur_u64(&cur);
    struct rec_jit *code = cur.fault ? NULL : code_of_piece(codes, piece->pid, from_ns);
    bool is_good = code != NULL || cur.fault;
    if (code) {
        const struct weft_str bytes = { (const char *)cur.at, weft_cur_left(&cur) };
        struct weft_jit_names names = { .table = &code->table, .texts = texts };
        codes->n_dropped_bytes = weft_add_sat_u64(codes->n_dropped_bytes, n_dropped);
        if (piece->stream == WEFT_JIT_MAP)
            is_good = weft_perf_map_read(&names, bytes);
        else if (piece->stream == WEFT_JIT_DUMP)
            is_good = take_dump(codes, code, bytes, &names);
        else if (piece->stream == WEFT_JIT_REGIONS)
            is_good = take_regions(code, bytes);
        else
            cur.fault = true; /* of a later version */
        if (codes->n_bad == 0 && names.n_bad)
            codes->bad_off = piece->payload_off;
        codes->n_bad += names.n_bad;
    }
    if (cur.fault && codes->n_bad++ == 0)
        codes->bad_off = piece->payload_off;
    return is_good;
}

static int by_begin(const void *a_void, const void *b_void)
{
    const struct rec_jit_region *a = a_void, *b = b_void;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

static void join_regions(struct rec_jit *code)
{
    struct rec_jit_region *items = code->regions.items;
    size_t n = 0;
    if (code->regions.n)
        qsort(items, code->regions.n, sizeof *items, by_begin);
    for (size_t k = 0; k < code->regions.n; k++)
        if (n && items[k].begin <= items[n - 1].end)
            items[n - 1].end = weft_max_u64(items[n - 1].end, items[k].end);
        else
            items[n++] = items[k];
    code->regions.n = n;
}

bool rec_jits_seal(struct rec_jits *codes)
{
    bool is_good = true;
    for (size_t k = 0; is_good && k < codes->n; k++) {
        struct rec_jit *code = &codes->items[k];
        weft_jitdump_fini(&code->dump);
        join_regions(code);
        is_good = weft_jit_seal(&code->table);
        codes->n_dropped += code->table.n_dropped;
    }
    return is_good;
}

/* ---- questions ------------------------------------------------------------------------------- */

uint32_t rec_jit_of(const struct rec_jits *codes, uint32_t pid, uint64_t ns)
{
    const uint32_t index = weft_map_find(codes->of_pid, pid);
    uint32_t found = index == WEFT_MAP_NONE ? REC_NO_JIT : codes->first.items[index];
    while (found != REC_NO_JIT && codes->items[found].next != REC_NO_JIT &&
           codes->items[codes->items[found].next].from_ns <= ns)
        found = codes->items[found].next;
    return found;
}

static bool is_in_region(const struct rec_jit *code, uint64_t address)
{
    size_t at;
    WEFT_SEARCH(at, code->regions.n, code->regions.items[at].end <= address);
    return at < code->regions.n && code->regions.items[at].begin <= address;
}

enum rec_jit_found rec_jit_find(const struct rec_jits *codes, const struct rec_jit_view *view,
                                uint64_t address, uint32_t *name)
{
    bool is_in = false;
    for (unsigned k = 0; k < view->n; k++) {
        const struct rec_jit *code = &codes->items[view->parts[k].code];
        *name = weft_jit_find(&code->table, address, view->parts[k].era);
        if (*name != WEFT_JIT_NONE)
            return REC_JIT_NAMED;
        is_in |= is_in_region(code, address);
    }
    return is_in ? REC_JIT_UNNAMED : REC_JIT_NONE;
}
