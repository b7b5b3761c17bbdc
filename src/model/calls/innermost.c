/* SPDX-License-Identifier: MIT
 *
 * Unrolls a block of calls into the sequence of its innermost calls once enough requests hit the
 * same block to pay for it (about a quarter of the cost of answering them one by one). A request
 * that no single kept block covers gets no answer, and the caller falls back to model/interval.
 * Blocks are dropped by last use, within the memory given.
 */
#include "model/calls/innermost.h"

#include "base/map.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/calls/slots.h"
#include "store/block_part.h"
#include "store/format.h"

#include <stdlib.h>

/* Of a block of calls that all differ in time; and how many calls can be unrolled in the time of
 * one question answered without that. A block whose questions have cost a quarter of unrolling it
 * is mostly asked for again. */
enum {
    ROW_BYTES = 2 * sizeof(struct weft_innermost_call) + sizeof(struct weft_innermost_context),
    BLOCK_BYTES = WEFT_FORMAT_BLOCK_ROWS * ROW_BYTES,
    ROWS_OF_QUESTION = 32,
    QUARTER = 4,
    LEAST_BLOCKS = 4,
    NEAR = 64
};

/* A call that is open. */
struct frame {
    uint64_t end_ns;
    uint32_t context;
};

/* Where the last answer for a thread came from: most questions are for the same block. */
struct near {
    uint64_t from_ns, to_ns; /* that it covers; both 0: there was none */
    uint64_t number;
    size_t slot;
    uint32_t thread_id;
};

struct weft_innermost {
    const struct weft_trace *trace;
    struct weft_innermost_block blocks[WEFT_SLOTS];
    struct weft_slots uses;
    struct weft_slots_room room;
    bool is_off;             /* there is no memory for it */
    uint64_t near;           /* the block that was asked for last */
    struct near nears[NEAR]; /* by thread */
    struct weft_block_part *part;
    struct weft_map *children; /* by parent and function: contexts of the block that is read */
    struct {
        struct frame *items;
        size_t n, cap;
    } stack;
};

struct weft_innermost *weft_innermost_new(const struct weft_trace *trace, uint64_t memory_bytes)
{
    struct weft_innermost *innermost = calloc(1, sizeof *innermost);
    if (!innermost)
        return NULL;
    innermost->trace = trace;
    innermost->room.most_bytes = memory_bytes;
    innermost->is_off = memory_bytes && memory_bytes / BLOCK_BYTES < LEAST_BLOCKS;
    innermost->part = weft_block_part_new();
    innermost->children = weft_map_new();
    if (innermost->part && innermost->children)
        return innermost;
    weft_innermost_free(innermost);
    return NULL;
}

void weft_innermost_free(struct weft_innermost *innermost)
{
    if (!innermost)
        return;
    for (size_t i = 0; i < WEFT_SLOTS; i++) {
        free(innermost->blocks[i].items);
        free(innermost->blocks[i].contexts);
    }
    weft_block_part_free(innermost->part);
    weft_map_free(innermost->children);
    WEFT_VEC_FINI(&innermost->stack);
    free(innermost);
}

/* ---- reading a block ------------------------------------------------------------------------- */

static uint32_t top_of(const struct weft_innermost *innermost)
{
    return innermost->stack.n ? innermost->stack.items[innermost->stack.n - 1].context
                              : WEFT_ID_NONE;
}

/* From start_ns on another one is on top; there is room for it. */
static void change(const struct weft_innermost *innermost, struct weft_innermost_block *block,
                   uint64_t start_ns)
{
    const uint32_t context = top_of(innermost);
    struct weft_innermost_call *last = block->n ? &block->items[block->n - 1] : NULL;
    if (last && last->start_ns == start_ns) /* the one before has no time */
        last->context = context;
    else if (!last || last->context != context)
        block->items[block->n++] = (struct weft_innermost_call){ start_ns, context };
}

static bool enter(struct weft_innermost *innermost, struct weft_innermost_block *block,
                  uint32_t function_id, uint64_t end_ns)
{
    const uint32_t parent = top_of(innermost);
    const uint64_t key = ((uint64_t)parent + 1) << 32 | function_id;
    bool is_new;
    const uint32_t context = weft_map_add(innermost->children, key, &is_new);
    struct frame *frame = WEFT_VEC_PUSH(&innermost->stack);
    if (!frame || context == WEFT_MAP_NONE ||
        !weft_vec_reserve(&block->contexts, &block->contexts_cap, (size_t)context + 1,
                          sizeof *block->contexts))
        return false;
    if (is_new)
        block->contexts[block->n_contexts++] =
            (struct weft_innermost_context){ .parent = parent, .function_id = function_id };
    *frame = (struct frame){ end_ns, context };
    return true;
}

/* Those that were entered before the block are open at from_ns; those that end later stay. */
static bool read_calls(struct weft_innermost *innermost, struct weft_innermost_block *block,
                       const struct weft_calls *calls, uint64_t from_ns, uint64_t to_ns)
{
    weft_map_reset(innermost->children);
    innermost->stack.n = block->n = block->n_contexts = 0;
    if (!weft_vec_reserve(&block->items, &block->cap, 2 * calls->n_rows + calls->n_open + 2,
                          sizeof *block->items))
        return false;
    for (size_t i = 0; i < calls->n_open; i++)
        if (!enter(innermost, block, calls->open[i].function_id, calls->open[i].end_ns))
            return false;
    change(innermost, block, from_ns);
    for (size_t i = 0; i < calls->n_rows; i++) {
        while (innermost->stack.n > calls->depth[i]) {
            const uint64_t end_ns = innermost->stack.items[--innermost->stack.n].end_ns;
            change(innermost, block, end_ns);
        }
        if (!enter(innermost, block, calls->function_id[i], calls->end_ns[i]))
            return false;
        change(innermost, block, calls->start_ns[i]);
    }
    while (innermost->stack.n && innermost->stack.items[innermost->stack.n - 1].end_ns <= to_ns) {
        const uint64_t end_ns = innermost->stack.items[--innermost->stack.n].end_ns;
        change(innermost, block, end_ns);
    }
    block->items[block->n++] = (struct weft_innermost_call){ to_ns, WEFT_ID_NONE };
    return true;
}

static enum weft_code read_block(struct weft_innermost *innermost, uint32_t thread_id,
                                 uint64_t number, struct weft_innermost_block *block,
                                 struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(innermost->trace);
    const struct weft_block_info *info = weft_store_block_get(store, thread_id, number);
    const uint64_t from_ns =
        number ? weft_store_block_get(store, thread_id, number - 1)->last_ns : info->first_event_ns;
    struct weft_calls calls;
    enum weft_code code = weft_block_part_open(store, thread_id, number, innermost->part, err);
    WEFT_THEN(code, weft_block_part_rows(innermost->part, 0,
                                         weft_block_part_n_rows(innermost->part), &calls, err));
    if (code == WEFT_OK && !read_calls(innermost, block, &calls, from_ns, info->last_ns))
        code = weft_no_memory(err, "calls");
    block->is_read = code == WEFT_OK;
    return code;
}

/* Lists grow to those of the largest block. */
static void drop_surplus(struct weft_innermost *innermost)
{
    size_t slot;
    while (weft_slots_room_shrink(&innermost->room, &innermost->uses, 1, &slot)) {
        free(innermost->blocks[slot].items);
        free(innermost->blocks[slot].contexts);
        innermost->blocks[slot] = (struct weft_innermost_block){ .items = NULL };
    }
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The first block that ends behind from_ns, if it holds all of the interval; else NULL. */
static const struct weft_block_info *block_of(struct weft_innermost *innermost, uint32_t thread_id,
                                              uint64_t from_ns, uint64_t to_ns, uint64_t *number)
{
    struct weft_store *store = weft_trace_store(innermost->trace);
    const uint64_t n_blocks = weft_trace_thread(innermost->trace, thread_id)->n_blocks;
    uint64_t low;
    WEFT_SEARCH_NEAR(low, n_blocks, innermost->near,
                     weft_store_block_get(store, thread_id, low)->last_ns <= from_ns);
    innermost->near = *number = low;
    const struct weft_block_info *info =
        low < n_blocks ? weft_store_block_get(store, thread_id, low) : NULL;
    return info && to_ns <= info->last_ns && (low > 0 || from_ns >= info->first_event_ns) ? info
                                                                                          : NULL;
}

/* The block of the last answer for the thread, if it covers this interval also; or NULL. */
static struct weft_innermost_block *find_near(struct weft_innermost *innermost, uint32_t thread_id,
                                              uint64_t from_ns, uint64_t to_ns)
{
    const struct near *near = &innermost->nears[thread_id % NEAR];
    return near->thread_id == thread_id && from_ns >= near->from_ns && to_ns <= near->to_ns &&
                   weft_slots_use(&innermost->uses, near->slot, thread_id, near->number) &&
                   innermost->blocks[near->slot].is_read
               ? &innermost->blocks[near->slot]
               : NULL;
}

static void tell(struct weft_innermost_block *block, uint64_t at_ns, size_t *place)
{
    WEFT_SEARCH_NEAR(*place, block->n, block->near, block->items[*place].start_ns <= at_ns);
    block->near = *place;
    *place -= 1;
}

enum weft_code weft_innermost_find(struct weft_innermost *innermost, uint32_t thread_id,
                                   uint64_t from_ns, uint64_t to_ns,
                                   struct weft_innermost_block **block, size_t *place,
                                   struct weft_err *err)
{
    uint64_t number;
    bool is_held;
    *block = find_near(innermost, thread_id, from_ns, to_ns);
    if (*block) {
        tell(*block, from_ns, place);
        return WEFT_OK;
    }
    const struct weft_block_info *info =
        innermost->is_off ? NULL : block_of(innermost, thread_id, from_ns, to_ns, &number);
    if (!info || info->n_rows > WEFT_FORMAT_BLOCK_ROWS) /* larger ones, of others, are not kept */
        return WEFT_OK;
    const uint64_t n_bytes = info->n_rows * (uint64_t)ROW_BYTES;
    const size_t slot =
        weft_slots_find(&innermost->uses, weft_slots_room_for(&innermost->room, n_bytes), thread_id,
                        number, &is_held);
    struct weft_innermost_block *found = &innermost->blocks[slot];
    if (!is_held) {
        found->is_read = false;
        found->n_asked = found->near = 0;
        weft_slots_hold(&innermost->uses, slot, thread_id, number);
        if (n_bytes > innermost->room.bytes[slot])
            weft_slots_room_take(&innermost->room, slot, n_bytes);
        drop_surplus(innermost);
    }
    if (!found->is_read && ++found->n_asked < info->n_rows / ROWS_OF_QUESTION / QUARTER)
        return WEFT_OK;
    WEFT_TRY(found->is_read ? WEFT_OK : read_block(innermost, thread_id, number, found, err));
    tell(found, from_ns, place);
    innermost->nears[thread_id % NEAR] = (struct near){
        .from_ns = found->items[0].start_ns,
        .to_ns = info->last_ns,
        .number = number,
        .slot = slot,
        .thread_id = thread_id,
    };
    *block = found;
    return WEFT_OK;
}
