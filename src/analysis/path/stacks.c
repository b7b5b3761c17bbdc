/* SPDX-License-Identifier: MIT
 *
 * Finds the blocks with stack samples of a thread by their summaries, decodes a few at a time
 * (least recently used first out), and collects the stacks of a segment with their weights. For a
 * wait only the last stack before it counts, if recent.
 */
#include "analysis/path/stacks.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/calls/slots.h"

#include <stdlib.h>

/* Blocks looked at for one stack; of more samples, those in the last blocks count. Of blocks that
 * reach beyond as many others, some are looked into when a thread is first asked for. */
enum { BLOCKS_MAX = 4, LOOKED_INTO = 64 };

/* Of lists of stacks that are kept of blocks. */
enum { INDEX_BYTES = 4 << 20 };

/* A stack before a wait that is older than this says nothing of it. */
#define OLD_NS UINT64_C(1000000)

struct seen {
    uint32_t stack;
    uint64_t weight, n_samples, first_ns;
};

/* A decoded block. */
struct slot {
    struct weft_event_buf *buf;
    const struct weft_event *events;
    struct {
        uint32_t *items; /* events that are stacks, by time */
        size_t n, cap;
    } stacks;
};

/* A block of events that holds stacks. */
struct block {
    uint64_t number;
    uint64_t first_ns, last_ns; /* of all its events, or of its stacks */
    uint64_t latest_ns;         /* the last one of this block and of those before */
};

/* Those of a thread, by their first event: importers give events in any order, such as all kernel
 * events of a thread before all of its own. */
struct blocks {
    struct block *items;
    size_t n;
};

/* Which events of a block are stacks. */
struct index {
    uint32_t *items;
    size_t n;
};

struct weft_path_stacks {
    const struct weft_trace *trace;
    struct weft_strtab *texts;
    struct weft_map *of_thread; /* place in `threads` */
    struct {
        struct blocks *items;
        size_t n, cap;
    } threads;
    struct slot slots[WEFT_SLOTS_FEW]; /* a path goes to and fro between a few threads */
    struct weft_slots uses;
    struct index indices[WEFT_SLOTS]; /* of more blocks than are decoded */
    struct weft_slots index_uses;
    struct weft_slots_room index_room;
    struct {
        struct seen *items;
        size_t n, cap;
    } seen;
    struct {
        struct weft_path_seen *items;
        size_t n, cap;
    } seen_stacks;
};

struct weft_path_stacks *weft_path_stacks_new(const struct weft_trace *trace)
{
    struct weft_path_stacks *stacks = calloc(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    stacks->trace = trace;
    stacks->texts = weft_strtab_new();
    stacks->of_thread = weft_map_new();
    stacks->index_room.most_bytes = INDEX_BYTES;
    if (stacks->texts && stacks->of_thread)
        return stacks;
    weft_path_stacks_free(stacks);
    return NULL;
}

void weft_path_stacks_free(struct weft_path_stacks *stacks)
{
    if (!stacks)
        return;
    weft_strtab_free(stacks->texts);
    weft_map_free(stacks->of_thread);
    for (size_t i = 0; i < stacks->threads.n; i++)
        free(stacks->threads.items[i].items);
    WEFT_VEC_FINI(&stacks->threads);
    for (size_t i = 0; i < WEFT_SLOTS_FEW; i++) {
        weft_event_buf_free(stacks->slots[i].buf);
        WEFT_VEC_FINI(&stacks->slots[i].stacks);
    }
    for (size_t i = 0; i < WEFT_SLOTS; i++)
        free(stacks->indices[i].items);
    WEFT_VEC_FINI(&stacks->seen);
    WEFT_VEC_FINI(&stacks->seen_stacks);
    free(stacks);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b, void *context)
{
    const struct weft_event *events = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (events[i].time_ns != events[j].time_ns)
        return events[i].time_ns < events[j].time_ns ? -1 : 1;
    return (i > j) - (i < j);
}

/* Which of the events are stacks. */
static bool find_stacks(struct slot *slot, size_t n_events)
{
    bool is_in_order = true;
    slot->stacks.n = 0;
    for (size_t i = 0; i < n_events; i++) {
        if (slot->events[i].kind != WEFT_EVENT_SAMPLE || slot->events[i].name.n_bytes == 0)
            continue;
        uint32_t *place = WEFT_VEC_PUSH(&slot->stacks);
        if (!place)
            return false;
        *place = (uint32_t)i;
        is_in_order = is_in_order && (slot->stacks.n == 1 ||
                                      slot->events[place[-1]].time_ns <= slot->events[i].time_ns);
    }
    if (!is_in_order)
        qsort_r(slot->stacks.items, slot->stacks.n, sizeof *slot->stacks.items, by_time,
                (void *)(uintptr_t)slot->events);
    return true;
}

/* Keeps the list of the slot; without memory it is made again. */
static void keep_index(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t block,
                       size_t place, const struct slot *slot)
{
    const size_t n_bytes = slot->stacks.n * sizeof *slot->stacks.items;
    struct index *index = &stacks->indices[place];
    free(index->items);
    *index = (struct index){ .items = malloc(n_bytes + 1), .n = slot->stacks.n };
    weft_slots_room_take(&stacks->index_room, place, n_bytes);
    if (index->items) {
        if (n_bytes)
            memcpy(index->items, slot->stacks.items, n_bytes);
        weft_slots_hold(&stacks->index_uses, place, thread_id, block);
    }
    while (weft_slots_room_shrink(&stacks->index_room, &stacks->index_uses, 1, &place)) {
        free(stacks->indices[place].items);
        stacks->indices[place] = (struct index){ .items = NULL };
    }
}

/* The stacks of a block that was decoded: as they were found before, or found now. */
static bool list_stacks(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t block,
                        struct slot *slot, size_t n_events)
{
    bool is_held;
    const size_t place = weft_slots_find(
        &stacks->index_uses, weft_slots_room_for(&stacks->index_room, n_events * sizeof(uint32_t)),
        thread_id, block, &is_held);
    const struct index *index = &stacks->indices[place];
    if (!is_held) {
        if (!find_stacks(slot, n_events))
            return false;
        keep_index(stacks, thread_id, block, place, slot);
        return true;
    }
    slot->stacks.n = 0;
    if (!weft_vec_reserve(&slot->stacks.items, &slot->stacks.cap, index->n + 1,
                          sizeof *slot->stacks.items))
        return false;
    if (index->n)
        memcpy(slot->stacks.items, index->items, index->n * sizeof *index->items);
    slot->stacks.n = index->n;
    return true;
}

static enum weft_code load(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t block,
                           const struct slot **loaded, struct weft_err *err)
{
    bool is_held;
    const size_t place = weft_slots_find(&stacks->uses, WEFT_SLOTS_FEW, thread_id, block, &is_held);
    struct slot *slot = &stacks->slots[place];
    size_t n_events;
    *loaded = slot;
    if (is_held)
        return WEFT_OK;
    if (!slot->buf)
        slot->buf = weft_event_buf_new();
    if (!slot->buf)
        return weft_no_memory(err, "stacks");
    WEFT_TRY(weft_store_load_events(weft_trace_store(stacks->trace), thread_id, block, slot->buf,
                                    &slot->events, &n_events, err));
    if (!list_stacks(stacks, thread_id, block, slot, n_events))
        return weft_no_memory(err, "stacks");
    weft_slots_hold(&stacks->uses, place, thread_id, block);
    return WEFT_OK;
}

static uint64_t time_of(const struct slot *slot, size_t stack)
{
    return slot->events[slot->stacks.items[stack]].time_ns;
}

static int by_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Where two sources meet, a block has the end of the one and the begin of the other: it seems to
 * last as long as the trace, and would be met by every question, but its stacks are of one. */
static enum weft_code look_into(struct weft_path_stacks *stacks, uint32_t thread_id,
                                struct blocks *blocks, struct weft_err *err)
{
    size_t n = 0;
    for (size_t k = 0; k + BLOCKS_MAX < blocks->n && n < LOOKED_INTO; k++) {
        struct block *block = &blocks->items[k];
        const struct slot *slot;
        if (block->last_ns <= blocks->items[k + BLOCKS_MAX].first_ns)
            continue;
        n++;
        const enum weft_code code = load(stacks, thread_id, block->number, &slot, NULL);
        if (code == WEFT_E_NOMEM)
            return weft_no_memory(err, "stacks");
        if (code != WEFT_OK) /* readers of it get the error */
            continue;
        /* the places that follow are compared with what they were */
        block->last_ns = slot->stacks.n ? time_of(slot, slot->stacks.n - 1) : block->first_ns;
        block->latest_ns = slot->stacks.n ? time_of(slot, 0) : block->first_ns;
    }
    for (size_t k = 0; k < blocks->n && n; k++)
        blocks->items[k].first_ns = blocks->items[k].latest_ns;
    return WEFT_OK;
}

static enum weft_code find_blocks(struct weft_path_stacks *stacks, uint32_t thread_id,
                                  struct blocks *blocks, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(stacks->trace);
    const uint64_t n_all = weft_store_thread_get(store, thread_id)->n_event_blocks;
    blocks->n = 0;
    for (uint64_t k = 0; k < n_all; k++)
        blocks->n +=
            weft_store_event_block_get(store, thread_id, k)->kinds >> WEFT_EVENT_SAMPLE & 1;
    blocks->items = calloc(blocks->n + 1, sizeof *blocks->items);
    if (!blocks->items)
        return weft_no_memory(err, "stacks");
    size_t n = 0;
    for (uint64_t k = 0; k < n_all; k++) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        if (info->kinds >> WEFT_EVENT_SAMPLE & 1)
            blocks->items[n++] = (struct block){ k, info->first_ns, info->last_ns, info->first_ns };
    }
    qsort(blocks->items, n, sizeof *blocks->items, by_first);
    const enum weft_code code = look_into(stacks, thread_id, blocks, err);
    qsort(blocks->items, n, sizeof *blocks->items, by_first);
    for (size_t k = 0; k < n; k++)
        blocks->items[k].latest_ns =
            weft_max_u64(blocks->items[k].last_ns, k > 0 ? blocks->items[k - 1].latest_ns : 0);
    return code;
}

static enum weft_code blocks_of(struct weft_path_stacks *stacks, uint32_t thread_id,
                                const struct blocks **blocks, struct weft_err *err)
{
    bool is_new;
    const uint32_t place = weft_map_add(stacks->of_thread, thread_id, &is_new);
    if (place == WEFT_MAP_NONE)
        return weft_no_memory(err, "stacks");
    while (stacks->threads.n <= place) {
        struct blocks *made = WEFT_VEC_PUSH(&stacks->threads);
        if (!made)
            return weft_no_memory(err, "stacks");
        *made = (struct blocks){ 0 };
    }
    struct blocks *found = &stacks->threads.items[place];
    *blocks = found;
    if (found->items)
        return WEFT_OK;
    const enum weft_code code = find_blocks(stacks, thread_id, found, err);
    if (code != WEFT_OK) { /* to be looked for again */
        free(found->items);
        found->items = NULL;
    }
    return code;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static enum weft_code see(struct weft_path_stacks *stacks, const struct weft_event *event,
                          struct weft_err *err)
{
    uint32_t id;
    WEFT_TRY(weft_strtab_intern(stacks->texts, event->name, &id, err));
    size_t i = 0;
    while (i < stacks->seen.n && stacks->seen.items[i].stack != id)
        i++;
    if (i == stacks->seen.n) {
        struct seen *seen = WEFT_VEC_PUSH(&stacks->seen);
        if (!seen)
            return weft_no_memory(err, "stacks");
        *seen = (struct seen){ .stack = id, .first_ns = event->time_ns };
    }
    struct seen *seen = &stacks->seen.items[i];
    seen->weight += event->value;
    seen->n_samples++;
    seen->first_ns = event->time_ns < seen->first_ns ? event->time_ns : seen->first_ns;
    return WEFT_OK;
}

static const struct seen *most_seen(const struct weft_path_stacks *stacks)
{
    const struct seen *best = NULL;
    for (size_t i = 0; i < stacks->seen.n; i++) {
        const struct seen *seen = &stacks->seen.items[i];
        if (!best || seen->weight > best->weight ||
            (seen->weight == best->weight &&
             (seen->n_samples > best->n_samples ||
              (seen->n_samples == best->n_samples && seen->first_ns < best->first_ns))))
            best = seen;
    }
    return best;
}

/* How many stacks of a block lie at `at_ns` or before. */
static size_t stacks_until(const struct slot *slot, uint64_t at_ns)
{
    size_t low;
    WEFT_SEARCH(low, slot->stacks.n, time_of(slot, low) <= at_ns);
    return low;
}

static enum weft_code see_block(struct weft_path_stacks *stacks, const struct slot *slot,
                                uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = stacks_until(slot, to_ns);
         i > 0 && code == WEFT_OK && time_of(slot, i - 1) >= from_ns; i--)
        code = see(stacks, &slot->events[slot->stacks.items[i - 1]], err);
    return code;
}

/* Of a wait, only the last stack before it stays: of this block, or that which was found. */
static enum weft_code see_last(struct weft_path_stacks *stacks, const struct slot *slot,
                               uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    const size_t n = stacks_until(slot, to_ns);
    if (n == 0 || time_of(slot, n - 1) < from_ns ||
        (stacks->seen.n && time_of(slot, n - 1) <= stacks->seen.items[0].first_ns))
        return WEFT_OK;
    stacks->seen.n = 0;
    return see(stacks, &slot->events[slot->stacks.items[n - 1]], err);
}

/* Collects in `seen`. */
static enum weft_code look(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t from_ns,
                           uint64_t to_ns, bool is_wait, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    stacks->seen.n = 0;
    if (weft_trace_meta(stacks->trace)->events_of_kind[WEFT_EVENT_SAMPLE] == 0)
        return WEFT_OK;
    if (is_wait) {
        to_ns = from_ns;
        from_ns = from_ns > OLD_NS ? from_ns - OLD_NS : 0;
    }
    const struct blocks *blocks;
    size_t at;
    code = blocks_of(stacks, thread_id, &blocks, err);
    if (code != WEFT_OK)
        return code;
    WEFT_SEARCH(at, blocks->n, blocks->items[at].first_ns <= to_ns);
    for (unsigned n = 0; n < BLOCKS_MAX && at > 0 && code == WEFT_OK; at--) {
        const struct block *block = &blocks->items[at - 1];
        const struct slot *slot;
        if (block->latest_ns < from_ns ||
            (is_wait && stacks->seen.n && block->latest_ns <= stacks->seen.items[0].first_ns))
            break;
        if (block->last_ns < from_ns)
            continue;
        n++;
        code = load(stacks, thread_id, block->number, &slot, err);
        WEFT_THEN(code, is_wait ? see_last(stacks, slot, from_ns, to_ns, err)
                                : see_block(stacks, slot, from_ns, to_ns, err));
    }
    return code;
}

enum weft_code weft_path_stack(struct weft_path_stacks *stacks, uint32_t thread_id,
                               uint64_t from_ns, uint64_t to_ns, bool is_wait,
                               struct weft_str *stack, struct weft_err *err)
{
    enum weft_code code = look(stacks, thread_id, from_ns, to_ns, is_wait, err);
    const struct seen *best = code == WEFT_OK ? most_seen(stacks) : NULL;
    *stack = best ? weft_strtab_get(stacks->texts, best->stack) : (struct weft_str){ 0 };
    return code;
}

enum weft_code weft_path_stacks_seen(struct weft_path_stacks *stacks, uint32_t thread_id,
                                     uint64_t from_ns, uint64_t to_ns,
                                     const struct weft_path_seen **seen, size_t *n_seen,
                                     struct weft_err *err)
{
    enum weft_code code = look(stacks, thread_id, from_ns, to_ns, false, err);
    stacks->seen_stacks.n = 0;
    for (size_t i = 0; i < stacks->seen.n && code == WEFT_OK; i++) {
        const struct seen *from = &stacks->seen.items[i];
        struct weft_path_seen *made = WEFT_VEC_PUSH(&stacks->seen_stacks);
        if (!made)
            code = weft_no_memory(err, "stacks");
        else /* without weights each counts the same */
            *made = (struct weft_path_seen){ weft_strtab_get(stacks->texts, from->stack),
                                             from->weight ? from->weight : from->n_samples };
    }
    *seen = stacks->seen_stacks.items;
    *n_seen = code == WEFT_OK ? stacks->seen_stacks.n : 0;
    return code;
}
