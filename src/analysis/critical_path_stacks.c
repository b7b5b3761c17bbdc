/* SPDX-License-Identifier: MIT */
#include "analysis/critical_path_stacks.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/slots.h"

#include <stdlib.h>

/* Blocks looked at for one stack; of more samples, those in the last blocks count. */
enum { BLOCKS_MAX = 4 };

/* A stack before a wait that is older than this tells nothing of it. */
#define OLD_NS UINT64_C(1000000)

struct seen {
    uint32_t stack;
    uint64_t weight, n_samples, first_ns;
};

/* A decoded block. */
struct slot {
    struct weft_event_buf *buf;
    const struct weft_event *events;
    size_t n_events;
    bool is_in_order; /* of time */
};

/* A block of events that holds stacks. */
struct block {
    uint64_t number, first_ns, last_ns;
    uint64_t latest_ns; /* the last event of this one and of those before */
};

/* Those of a thread, by their first event: importers give events in any order, such as all that a
 * kernel tells of a thread before all that it tells itself. */
struct blocks {
    struct block *items;
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
    struct {
        struct seen *items;
        size_t n, cap;
    } seen;
    struct {
        struct weft_path_seen *items;
        size_t n, cap;
    } told;
};

struct weft_path_stacks *weft_path_stacks_new(const struct weft_trace *trace)
{
    struct weft_path_stacks *stacks = calloc(1, sizeof *stacks);
    if (!stacks)
        return NULL;
    stacks->trace = trace;
    stacks->texts = weft_strtab_new();
    stacks->of_thread = weft_map_new();
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
    for (size_t i = 0; i < WEFT_SLOTS_FEW; i++)
        weft_event_buf_free(stacks->slots[i].buf);
    WEFT_VEC_FINI(&stacks->seen);
    WEFT_VEC_FINI(&stacks->told);
    free(stacks);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static int by_first(const void *a, const void *b)
{
    const struct block *x = a, *y = b;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool find_blocks(struct weft_store *store, uint32_t thread_id, struct blocks *blocks)
{
    const uint64_t n_all = weft_store_thread_get(store, thread_id)->n_event_blocks;
    for (uint64_t k = 0; k < n_all; k++)
        blocks->n +=
            weft_store_event_block_get(store, thread_id, k)->kinds >> WEFT_EVENT_SAMPLE & 1;
    blocks->items = calloc(blocks->n + 1, sizeof *blocks->items);
    if (!blocks->items)
        return false;
    size_t n = 0;
    for (uint64_t k = 0; k < n_all; k++) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        if (info->kinds >> WEFT_EVENT_SAMPLE & 1)
            blocks->items[n++] = (struct block){ k, info->first_ns, info->last_ns, info->last_ns };
    }
    qsort(blocks->items, n, sizeof *blocks->items, by_first);
    for (size_t k = 1; k < n; k++)
        blocks->items[k].latest_ns =
            weft_max_u64(blocks->items[k].last_ns, blocks->items[k - 1].latest_ns);
    return true;
}

/* NULL without memory. */
static const struct blocks *blocks_of(struct weft_path_stacks *stacks, uint32_t thread_id)
{
    bool is_new;
    const uint32_t place = weft_map_add(stacks->of_thread, thread_id, &is_new);
    if (place == WEFT_MAP_NONE)
        return NULL;
    while (stacks->threads.n <= place) {
        struct blocks *made = WEFT_VEC_PUSH(&stacks->threads);
        if (!made)
            return NULL;
        *made = (struct blocks){ 0 };
    }
    struct blocks *blocks = &stacks->threads.items[place];
    return blocks->items || find_blocks(weft_trace_store(stacks->trace), thread_id, blocks) ? blocks
                                                                                            : NULL;
}

static enum weft_code load(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t block,
                           const struct slot **loaded, struct weft_err *err)
{
    bool is_held;
    const size_t place = weft_slots_find(&stacks->uses, WEFT_SLOTS_FEW, thread_id, block, &is_held);
    struct slot *slot = &stacks->slots[place];
    *loaded = slot;
    if (is_held)
        return WEFT_OK;
    if (!slot->buf)
        slot->buf = weft_event_buf_new();
    if (!slot->buf)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for stacks");
    enum weft_code code = weft_store_load_events(weft_trace_store(stacks->trace), thread_id, block,
                                                 slot->buf, &slot->events, &slot->n_events, err);
    if (code != WEFT_OK)
        return code;
    slot->is_in_order = true;
    for (size_t i = 1; i < slot->n_events && slot->is_in_order; i++)
        slot->is_in_order = slot->events[i - 1].time_ns <= slot->events[i].time_ns;
    weft_slots_hold(&stacks->uses, place, thread_id, block);
    return WEFT_OK;
}

static enum weft_code see(struct weft_path_stacks *stacks, const struct weft_event *event,
                          struct weft_err *err)
{
    uint32_t id;
    enum weft_code code = weft_strtab_intern(stacks->texts, event->name, &id, err);
    if (code != WEFT_OK)
        return code;
    size_t i = 0;
    while (i < stacks->seen.n && stacks->seen.items[i].stack != id)
        i++;
    if (i == stacks->seen.n) {
        struct seen *seen = WEFT_VEC_PUSH(&stacks->seen);
        if (!seen)
            return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for stacks");
        *seen = (struct seen){ .stack = id, .first_ns = event->time_ns };
    }
    struct seen *seen = &stacks->seen.items[i];
    seen->weight += event->value;
    seen->n_samples++;
    seen->first_ns = event->time_ns < seen->first_ns ? event->time_ns : seen->first_ns;
    return WEFT_OK;
}

static bool is_stack(const struct weft_event *event, uint64_t from_ns, uint64_t to_ns)
{
    return event->kind == WEFT_EVENT_SAMPLE && event->name.n_bytes && event->time_ns >= from_ns &&
           event->time_ns <= to_ns;
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

/* How many events lie at `at_ns` or before, or more. */
static size_t events_until(const struct slot *slot, uint64_t at_ns)
{
    if (!slot->is_in_order)
        return slot->n_events;
    size_t low;
    WEFT_SEARCH(low, slot->n_events, slot->events[low].time_ns <= at_ns);
    return low;
}

static enum weft_code see_block(struct weft_path_stacks *stacks, const struct slot *slot,
                                uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = events_until(slot, to_ns); i > 0 && code == WEFT_OK; i--) {
        if (slot->is_in_order && slot->events[i - 1].time_ns < from_ns)
            break;
        if (is_stack(&slot->events[i - 1], from_ns, to_ns))
            code = see(stacks, &slot->events[i - 1], err);
    }
    return code;
}

/* Of a wait, only the last stack before it stays: of this block, or that which was found. */
static enum weft_code see_last(struct weft_path_stacks *stacks, const struct slot *slot,
                               uint64_t from_ns, uint64_t to_ns, struct weft_err *err)
{
    const struct weft_event *last = NULL;
    if (stacks->seen.n)
        from_ns = stacks->seen.items[0].first_ns + 1;
    for (size_t i = events_until(slot, to_ns); i > 0; i--) {
        const struct weft_event *event = &slot->events[i - 1];
        if (slot->is_in_order && (last || event->time_ns < from_ns))
            break;
        if (is_stack(event, from_ns, to_ns) && (!last || event->time_ns > last->time_ns))
            last = event;
    }
    if (!last)
        return WEFT_OK;
    stacks->seen.n = 0;
    return see(stacks, last, err);
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
    const struct blocks *blocks = blocks_of(stacks, thread_id);
    if (!blocks)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for stacks");
    size_t at;
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
        if (code == WEFT_OK)
            code = is_wait ? see_last(stacks, slot, from_ns, to_ns, err)
                           : see_block(stacks, slot, from_ns, to_ns, err);
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
    stacks->told.n = 0;
    for (size_t i = 0; i < stacks->seen.n && code == WEFT_OK; i++) {
        const struct seen *from = &stacks->seen.items[i];
        struct weft_path_seen *made = WEFT_VEC_PUSH(&stacks->told);
        if (!made)
            code = weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for stacks");
        else /* weights may not be told: each counts the same then */
            *made = (struct weft_path_seen){ weft_strtab_get(stacks->texts, from->stack),
                                             from->weight ? from->weight : from->n_samples };
    }
    *seen = stacks->told.items;
    *n_seen = code == WEFT_OK ? stacks->told.n : 0;
    return code;
}
