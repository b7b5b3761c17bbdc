/* SPDX-License-Identifier: MIT */
#include "analysis/critical_path_stacks.h"

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

struct weft_path_stacks {
    const struct weft_trace *trace;
    struct weft_strtab *texts;
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
    if (stacks->texts)
        return stacks;
    free(stacks);
    return NULL;
}

void weft_path_stacks_free(struct weft_path_stacks *stacks)
{
    if (!stacks)
        return;
    weft_strtab_free(stacks->texts);
    for (size_t i = 0; i < WEFT_SLOTS_FEW; i++)
        weft_event_buf_free(stacks->slots[i].buf);
    WEFT_VEC_FINI(&stacks->seen);
    WEFT_VEC_FINI(&stacks->told);
    free(stacks);
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

/* Of a wait, only the last stack before it stays. */
static enum weft_code see_block(struct weft_path_stacks *stacks, const struct slot *slot,
                                uint64_t from_ns, uint64_t to_ns, bool is_wait,
                                struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = events_until(slot, to_ns); i > 0 && code == WEFT_OK; i--) {
        if (slot->is_in_order && slot->events[i - 1].time_ns < from_ns)
            break;
        if (!is_stack(&slot->events[i - 1], from_ns, to_ns))
            continue;
        code = see(stacks, &slot->events[i - 1], err);
        if (is_wait)
            break;
    }
    return code;
}

/* The number of blocks that begin at `at_ns` or earlier. */
static uint64_t blocks_until(const struct weft_path_stacks *stacks, uint32_t thread_id,
                             uint64_t at_ns)
{
    struct weft_store *store = weft_trace_store(stacks->trace);
    uint64_t low;
    WEFT_SEARCH(low, weft_store_thread_get(store, thread_id)->n_event_blocks,
                weft_store_event_block_get(store, thread_id, low)->first_ns <= at_ns);
    return low;
}

/* Collects in `seen`. */
static enum weft_code look(struct weft_path_stacks *stacks, uint32_t thread_id, uint64_t from_ns,
                           uint64_t to_ns, bool is_wait, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(stacks->trace);
    enum weft_code code = WEFT_OK;
    stacks->seen.n = 0;
    if (weft_trace_meta(stacks->trace)->events_of_kind[WEFT_EVENT_SAMPLE] == 0)
        return WEFT_OK;
    if (is_wait) {
        to_ns = from_ns;
        from_ns = from_ns > OLD_NS ? from_ns - OLD_NS : 0;
    }
    uint64_t block = blocks_until(stacks, thread_id, to_ns);
    for (unsigned n = 0; n < BLOCKS_MAX && block > 0 && code == WEFT_OK; n++) {
        const struct weft_event_block_info *info =
            weft_store_event_block_get(store, thread_id, --block);
        if (info->last_ns < from_ns || (is_wait && stacks->seen.n))
            break;
        if (!(info->kinds >> WEFT_EVENT_SAMPLE & 1))
            continue;
        const struct slot *slot;
        code = load(stacks, thread_id, block, &slot, err);
        if (code == WEFT_OK)
            code = see_block(stacks, slot, from_ns, to_ns, is_wait, err);
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
