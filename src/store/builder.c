/* SPDX-License-Identifier: MIT
 *
 * The writer's inner loop. The two common events, an entry and the exit of the innermost call, are
 * handled with their state in registers; everything else (missing exits, calls that started before
 * the trace, time stepping back, depth limit) goes through event_put. One builder is used by one
 * worker at a time.
 */
#include "store/builder.h"

#include <inttypes.h>

/* gcc 12 would pack the loop's state into vector registers, because it is stored as a whole on the
 * rare paths, and unpack it for every event: twice the time. */
#if defined(__GNUC__) && !defined(__clang__)
#define SCALAR_LOOP __attribute__((optimize("no-tree-slp-vectorize")))
#else
#define SCALAR_LOOP
#endif
#define HOT_INLINE __attribute__((always_inline)) static inline

enum { FIRST_ROWS = 64, FIRST_DEPTH = 32, FIRST_SLOT_BITS = 6 };

struct weft_builder *weft_builder_new(uint32_t block_rows)
{
    struct weft_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return NULL;
    builder->block_rows = block_rows;
    builder->slot_bits = FIRST_SLOT_BITS;
    builder->slots = calloc((size_t)1 << FIRST_SLOT_BITS, sizeof *builder->slots);
    if (builder->slots)
        return builder;
    free(builder);
    return NULL;
}

void weft_builder_free(struct weft_builder *builder)
{
    if (!builder)
        return;
    struct weft_block_rows *rows = &builder->rows;
    free(rows->function);
    free(rows->pops);
    free(rows->gap);
    free(rows->flags);
    free(rows->tail);
    free(rows->keys);
    weft_bytes_fini(&rows->pops_ext);
    weft_bytes_fini(&rows->gap_ext);
    weft_bytes_fini(&rows->tail_ext);
    weft_bytes_fini(&rows->args);
    weft_bytes_fini(&rows->ended);
    weft_bytes_fini(&rows->left);
    weft_bytes_fini(&rows->contexts);
    weft_context_walk_fini(&builder->walk);
    weft_context_groups_fini(&builder->groups);
    weft_lod_thread_fini(&builder->lod);
    WEFT_VEC_FINI(&builder->cut_keys);
    free(builder->stack);
    free(builder->functions);
    free(builder->slots);
    free(builder);
}

static void block_reset(struct weft_builder *builder)
{
    struct weft_builder_hot *hot = &builder->hot;
    struct weft_block_rows *rows = &builder->rows;
    rows->pops_ext.n = rows->gap_ext.n = rows->tail_ext.n = rows->args.n = 0;
    rows->ended.n = rows->left.n = builder->cut_keys.n = 0;
    rows->has_flags = false;
    hot->longest_call_ns = hot->longest_gap_ns = 0;
    hot->n_rows = hot->n_exits = hot->pops = hot->n_keys = 0;
    hot->row_room = 0; /* so that the first entry comes through make_room */
    hot->floor = builder->n_dropped ? UINT32_MAX : hot->depth;
    hot->max_depth = 0;
    builder->max_level = INT32_MIN;
    builder->refused_row = 0;
    builder->carried = hot->depth;
    builder->stamp++;
    builder->last_arg_row = builder->n_row_args = 0;
    builder->is_fresh = true;
    builder->head.n_carried = hot->depth;
    builder->head.n_cut_before = builder->n_cut;
    builder->head.n_ended = builder->head.n_left = 0;
}

void weft_builder_start(struct weft_builder *builder, uint32_t thread_id)
{
    builder->hot = (struct weft_builder_hot){ .depth_room = builder->hot.depth_room };
    builder->counts = (struct weft_builder_counts){ 0 };
    builder->n_functions = 0;
    builder->n_dropped = builder->n_cut = 0;
    builder->has_events = false;
    builder->stamp = 0;
    builder->thread_first_ns = 0;
    memset(builder->slots, 0, sizeof *builder->slots << builder->slot_bits);
    builder->head = (struct weft_block_head){ .thread_id = thread_id };
    weft_context_walk_start(&builder->walk);
    weft_context_groups_start(&builder->groups);
    weft_lod_thread_start(&builder->lod);
    block_reset(builder);
}

void weft_builder_next_block(struct weft_builder *builder)
{
    builder->head.block++;
    builder->head.first_row += builder->hot.n_rows;
    block_reset(builder);
}

bool weft_builder_has_block(const struct weft_builder *builder)
{
    return builder->hot.n_rows > 0 || builder->hot.n_exits > 0;
}

uint64_t weft_builder_last_row(const struct weft_builder *builder)
{
    const uint32_t n_rows = builder->hot.n_rows;
    return n_rows == builder->refused_row ? UINT64_MAX : builder->head.first_row + n_rows - 1;
}

/* Bytes of a time that does not fit the plane; returns the marker that stands for it there. */
__attribute__((noinline)) static uint8_t escape_put(struct weft_bytes *ext, uint64_t delta_ns)
{
    uint8_t bytes[8];
    weft_store_u64(bytes, delta_ns);
    const size_t n_bytes = delta_ns >> 16 == 0   ? 2
                           : delta_ns >> 24 == 0 ? 3
                           : delta_ns >> 32 == 0 ? 4
                                                 : 8;
    weft_bytes_put(ext, bytes, n_bytes);
    return n_bytes == 8 ? WEFT_TIME_ESCAPE_8 : (uint8_t)(WEFT_TIME_ESCAPE_2 + n_bytes - 2);
}

HOT_INLINE uint8_t time_put(struct weft_bytes *ext, uint64_t delta_ns)
{
    return delta_ns < WEFT_TIME_ESCAPE_2 ? (uint8_t)delta_ns : escape_put(ext, delta_ns);
}

/* Grows one column to `want` elements; all share a capacity that is only raised when all grew. */
static bool column_grow(void *items_ptr, size_t cap, size_t want, size_t item_bytes)
{
    return weft_vec_reserve(items_ptr, &cap, want, item_bytes);
}

/* Room for the exits of all rows of the block besides those there are: then the loop need not ask,
 * since an exit that it stores itself ends a row of the block. */
static enum weft_code exits_grow(struct weft_builder *builder, struct weft_err *err)
{
    struct weft_block_rows *rows = &builder->rows;
    const size_t want = builder->hot.n_exits + rows->cap_rows + 1;
    if (!weft_vec_reserve(&rows->tail, &rows->cap_exits, want, 1))
        return weft_no_memory(err, "the rows of a block");
    return WEFT_OK;
}

static enum weft_code rows_grow(struct weft_builder *builder, struct weft_err *err)
{
    struct weft_block_rows *rows = &builder->rows;
    if (builder->hot.n_rows < rows->cap_rows)
        return exits_grow(builder, err);
    size_t want = rows->cap_rows ? rows->cap_rows * 4 : FIRST_ROWS;
    if (want > builder->block_rows)
        want = builder->block_rows;
    if (!column_grow(&rows->function, rows->cap_rows, want, sizeof *rows->function) ||
        !column_grow(&rows->pops, rows->cap_rows, want, 1) ||
        !column_grow(&rows->gap, rows->cap_rows, want, 1) ||
        !column_grow(&rows->flags, rows->cap_rows, want, 1) ||
        !column_grow(&rows->keys, rows->cap_rows, want, sizeof *rows->keys))
        return weft_no_memory(err, "the rows of a block");
    if (rows->has_flags)
        memset(rows->flags + rows->cap_rows, 0, want - rows->cap_rows);
    rows->cap_rows = want;
    return exits_grow(builder, err);
}

static enum weft_code stack_grow(struct weft_builder *builder, struct weft_err *err)
{
    size_t want = builder->cap_stack ? builder->cap_stack * 2 : FIRST_DEPTH;
    if (want > WEFT_FORMAT_MAX_DEPTH)
        want = WEFT_FORMAT_MAX_DEPTH;
    if (!weft_vec_reserve(&builder->stack, &builder->cap_stack, want, sizeof *builder->stack))
        return weft_no_memory(err, "the rows of a block");
    builder->hot.depth_room =
        (uint32_t)(builder->cap_stack < WEFT_FORMAT_MAX_DEPTH ? builder->cap_stack
                                                              : WEFT_FORMAT_MAX_DEPTH);
    return WEFT_OK;
}

/* The first event of a block: times in it count from here. */
static void block_begin(struct weft_builder *builder, uint64_t time_ns)
{
    builder->is_fresh = false;
    builder->head.first_event_ns = time_ns;
    builder->last_ended_ns = time_ns;
    if (builder->has_events)
        builder->hot.longest_gap_ns = time_ns - builder->hot.last_ns;
    else
        builder->thread_first_ns = time_ns;
    builder->has_events = true;
    builder->hot.last_ns = time_ns;
}

HOT_INLINE uint32_t slot_of(uint32_t key, unsigned bits)
{
    return (key * UINT32_C(0x9e3779b1)) >> (32 - bits);
}

static bool slots_grow(struct weft_builder *builder)
{
    const unsigned bits = builder->slot_bits + 1;
    struct weft_builder_slot *slots = calloc((size_t)1 << bits, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < builder->n_functions; i++) {
        const uint32_t key = builder->functions[i].key;
        uint32_t at = slot_of(key, bits);
        while (slots[at].place)
            at = (at + 1) & ((UINT32_C(1) << bits) - 1);
        slots[at] = (struct weft_builder_slot){ .key = key, .place = (uint32_t)i + 1 };
    }
    free(builder->slots);
    builder->slots = slots;
    builder->slot_bits = bits;
    return true;
}

/* Index of `key` in functions, or UINT32_MAX. */
HOT_INLINE uint32_t function_find(const struct weft_builder *builder, uint32_t key)
{
    const uint32_t mask = (UINT32_C(1) << builder->slot_bits) - 1;
    uint32_t at = slot_of(key, builder->slot_bits);
    while (builder->slots[at].place) {
        if (builder->slots[at].key == key)
            return builder->slots[at].place - 1;
        at = (at + 1) & mask;
    }
    return UINT32_MAX;
}

__attribute__((noinline)) static uint32_t function_add(struct weft_builder *builder, uint32_t key)
{
    if ((builder->n_functions + 1) * 4 > (size_t)1 << builder->slot_bits && !slots_grow(builder))
        return UINT32_MAX;
    if (builder->n_functions == builder->cap_functions &&
        !weft_vec_reserve(&builder->functions, &builder->cap_functions, builder->n_functions + 1,
                          sizeof *builder->functions))
        return UINT32_MAX;
    const uint32_t index = (uint32_t)builder->n_functions++;
    builder->functions[index] = (struct weft_builder_function){ .key = key };
    const uint32_t mask = (UINT32_C(1) << builder->slot_bits) - 1;
    uint32_t at = slot_of(key, builder->slot_bits);
    while (builder->slots[at].place)
        at = (at + 1) & mask;
    builder->slots[at] = (struct weft_builder_slot){ .key = key, .place = index + 1 };
    return index;
}

/* Before an entry that has no room: a full block is flushed, columns and stack grow, and the first
 * event opens the block. `*is_dropped`: the depth limit is reached. */
static enum weft_code make_room(struct weft_builder *builder, uint64_t time_ns,
                                const struct weft_builder_flush *flush, bool *is_dropped,
                                struct weft_err *err)
{
    struct weft_builder_hot *hot = &builder->hot;
    *is_dropped = hot->depth == WEFT_FORMAT_MAX_DEPTH;
    if (*is_dropped) {
        builder->counts.n_too_deep++;
        builder->n_dropped++;
        hot->floor = UINT32_MAX;
        builder->refused_row = hot->n_rows;
        return WEFT_OK;
    }
    if (hot->n_rows == builder->block_rows) {
        WEFT_TRY(flush->flush(flush->context, builder, err));
    }
    if (builder->is_fresh)
        block_begin(builder, time_ns);
    if (hot->n_rows == 0)
        builder->first_row_ns = time_ns;
    if (hot->depth == hot->depth_room && stack_grow(builder, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    if (rows_grow(builder, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    hot->row_room = (uint32_t)(builder->rows.cap_rows < builder->block_rows ? builder->rows.cap_rows
                                                                            : builder->block_rows);
    return WEFT_OK;
}

/* Marks a row that ended in an unusual way. */
static void flag_put(struct weft_block_rows *rows, uint32_t row, uint8_t flags)
{
    if (!rows->has_flags)
        memset(rows->flags, 0, rows->cap_rows);
    rows->has_flags = true;
    rows->flags[row] = flags;
}

/* Adds an exit to the stream. */
static enum weft_code exit_put(struct weft_builder *builder, uint64_t time_ns, struct weft_err *err)
{
    struct weft_builder_hot *hot = &builder->hot;
    if (exits_grow(builder, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    const uint64_t delta_ns = time_ns - hot->last_ns;
    if ((hot->pops > 0 || hot->n_rows == 0) && delta_ns > hot->longest_gap_ns)
        hot->longest_gap_ns = delta_ns;
    builder->rows.tail[hot->n_exits++] = time_put(&builder->rows.tail_ext, delta_ns);
    hot->last_ns = time_ns;
    hot->pops++;
    return WEFT_OK;
}

static void flags_count(struct weft_builder_counts *counts, uint8_t flags)
{
    counts->n_repaired += (flags & WEFT_CALL_REPAIRED) != 0;
    counts->n_cut_end += (flags & WEFT_CALL_CUT_END) != 0;
}

static void ended_put(struct weft_builder *builder, uint64_t end_ns, uint8_t flags)
{
    struct weft_bytes *ended = &builder->rows.ended;
    weft_bytes_put_varint(ended, end_ns - builder->last_ended_ns);
    weft_bytes_put_varint(ended, flags);
    builder->last_ended_ns = end_ns;
    builder->head.n_ended++;
}

/* Ends the innermost frame, wherever it was entered. */
static enum weft_code frame_pop(struct weft_builder *builder, uint64_t time_ns, uint8_t flags,
                                struct weft_err *err)
{
    struct weft_builder_hot *hot = &builder->hot;
    if (exit_put(builder, time_ns, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    flags_count(&builder->counts, flags);
    const struct weft_builder_frame *frame = &builder->stack[--hot->depth];
    builder->functions[frame->function].on_stack--;
    if (hot->depth < builder->carried) {
        builder->carried = hot->floor = hot->depth;
        ended_put(builder, time_ns, flags);
        return WEFT_OK;
    }
    if (time_ns - frame->start_ns > hot->longest_call_ns)
        hot->longest_call_ns = time_ns - frame->start_ns;
    if (flags)
        flag_put(&builder->rows, frame->row, flags);
    return WEFT_OK;
}

/* Entries up to now count their levels from the cut frames there were. */
static void level_fold(struct weft_builder *builder)
{
    struct weft_builder_hot *hot = &builder->hot;
    const int32_t level = (int32_t)hot->max_depth - 1 - (int32_t)builder->n_cut;
    if (hot->max_depth > 0 && level > builder->max_level)
        builder->max_level = level;
    hot->max_depth = 0;
}

/* An exit with an empty stack: its call lies below all that the thread did so far. */
static enum weft_code cut_frame(struct weft_builder *builder, uint64_t time_ns, uint32_t key,
                                uint8_t flags, struct weft_err *err)
{
    if (builder->n_cut == WEFT_FORMAT_MAX_DEPTH) {
        builder->counts.n_ignored++;
        return WEFT_OK;
    }
    if (exit_put(builder, time_ns, err) != WEFT_OK)
        return WEFT_E_NOMEM;
    uint32_t *cut_key = WEFT_VEC_PUSH(&builder->cut_keys);
    if (!cut_key)
        return weft_no_memory(err, "the rows of a block");
    *cut_key = key;
    flags_count(&builder->counts, flags);
    level_fold(builder);
    builder->n_cut++;
    ended_put(builder, time_ns, flags);
    weft_bytes_put_varint(&builder->rows.ended, key);
    return WEFT_OK;
}

/* An exit that is not simply that of the innermost frame of this block. */
static enum weft_code exit_slowly(struct weft_builder *builder, uint64_t time_ns, uint32_t key,
                                  uint8_t flags, struct weft_err *err)
{
    struct weft_builder_hot *hot = &builder->hot;
    if (builder->n_dropped > 0) {
        if (--builder->n_dropped == 0)
            hot->floor = builder->carried;
        return WEFT_OK;
    }
    const uint32_t function = function_find(builder, key);
    const bool is_open = function != UINT32_MAX && builder->functions[function].on_stack > 0;
    if (hot->depth > 0 && !is_open) {
        builder->counts.n_ignored++;
        return WEFT_OK;
    }
    if (builder->is_fresh)
        block_begin(builder, time_ns);
    if (hot->depth == 0)
        return cut_frame(builder, time_ns, key, flags, err);
    while (builder->stack[hot->depth - 1].key != key)
        if (frame_pop(builder, time_ns, WEFT_CALL_REPAIRED, err) != WEFT_OK)
            return WEFT_E_NOMEM;
    return frame_pop(builder, time_ns, flags, err);
}

/* An argument of the entry before. */
static void arg_put(struct weft_builder *builder, uint64_t value)
{
    const uint32_t n_rows = builder->hot.n_rows;
    const uint32_t row = n_rows - 1;
    if (n_rows == builder->refused_row ||
        (row == builder->last_arg_row && builder->n_row_args == WEFT_FORMAT_MAX_CALL_ARGS)) {
        builder->counts.n_args_dropped++;
        return;
    }
    weft_bytes_put_varint(&builder->rows.args, row - builder->last_arg_row);
    weft_bytes_put_varint(&builder->rows.args, value);
    builder->n_row_args = row == builder->last_arg_row ? builder->n_row_args + 1 : 1;
    builder->last_arg_row = row;
}

/* The row of an entry; there is room. False if a new function has no memory. */
HOT_INLINE bool entry_put(struct weft_builder *builder, struct weft_builder_hot *hot,
                          uint64_t time_ns, uint32_t key)
{
    struct weft_block_rows *rows = &builder->rows;
    uint32_t index = function_find(builder, key);
    if (__builtin_expect(index == UINT32_MAX, 0)) {
        index = function_add(builder, key);
        if (index == UINT32_MAX)
            return false;
    }
    struct weft_builder_function *function = &builder->functions[index];
    const uint32_t row = hot->n_rows++;
    function->on_stack++;
    if (__builtin_expect(function->stamp != builder->stamp, 0)) {
        function->stamp = builder->stamp;
        function->index = hot->n_keys;
        rows->keys[hot->n_keys++] = key;
    }
    rows->function[row] = (uint16_t)function->index;
    rows->pops[row] = (uint8_t)hot->pops;
    if (__builtin_expect(hot->pops >= WEFT_FORMAT_POPS_ESCAPE, 0)) {
        rows->pops[row] = WEFT_FORMAT_POPS_ESCAPE;
        weft_bytes_put_varint(&rows->pops_ext, hot->pops - WEFT_FORMAT_POPS_ESCAPE);
    }
    hot->pops = 0;
    const uint64_t delta_ns = time_ns - hot->last_ns;
    hot->last_ns = time_ns;
    if (delta_ns > hot->longest_gap_ns)
        hot->longest_gap_ns = delta_ns;
    rows->gap[row] = time_put(&rows->gap_ext, delta_ns);
    struct weft_builder_frame *frame = &builder->stack[hot->depth++];
    frame->start_ns = time_ns;
    frame->key = key;
    frame->function = index;
    frame->row = row;
    if (hot->depth > hot->max_depth)
        hot->max_depth = hot->depth;
    return true;
}

/* The exit of the innermost frame, which was entered in this block; there is room. */
HOT_INLINE void exit_simply(struct weft_builder *builder, struct weft_builder_hot *hot,
                            uint64_t time_ns)
{
    const struct weft_builder_frame *frame = &builder->stack[--hot->depth];
    const uint64_t delta_ns = time_ns - hot->last_ns;
    const uint64_t duration_ns = time_ns - frame->start_ns;
    hot->last_ns = time_ns;
    if (hot->pops > 0 && delta_ns > hot->longest_gap_ns)
        hot->longest_gap_ns = delta_ns;
    if (duration_ns > hot->longest_call_ns)
        hot->longest_call_ns = duration_ns;
    builder->functions[frame->function].on_stack--;
    builder->rows.tail[hot->n_exits++] = time_put(&builder->rows.tail_ext, delta_ns);
    hot->pops++;
}

static uint8_t exit_flags(const struct weft_call_event *event)
{
    return event->kind == WEFT_CALL_TAIL_EXIT     ? WEFT_CALL_TAIL
           : event->kind == WEFT_CALL_MARKED_EXIT ? event->flags
                                                  : 0;
}

/* Any event, with all that can be unusual about it; works on builder->hot. */
__attribute__((noinline)) static enum weft_code event_put(struct weft_builder *builder,
                                                          const struct weft_call_event *event,
                                                          const struct weft_builder_flush *flush,
                                                          struct weft_err *err)
{
    struct weft_builder_hot *hot = &builder->hot;
    if (event->kind == WEFT_CALL_ARG) {
        arg_put(builder, event->value);
        return WEFT_OK;
    }
    const uint8_t flags = exit_flags(event);
    if (event->kind > WEFT_CALL_MARKED_EXIT || (flags & ~WEFT_FORMAT_CALL_FLAGS))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected a kind of call event, found %u with flags %u", event->kind,
                         flags);
    if (event->time_ns < hot->clock_ns)
        builder->counts.n_backward++;
    else
        hot->clock_ns = event->time_ns;
    const uint64_t time_ns = hot->clock_ns;
    if (event->kind != WEFT_CALL_ENTER)
        return exit_slowly(builder, time_ns, event->function_key, flags, err);
    if (hot->n_rows == hot->row_room || hot->depth == hot->depth_room) {
        bool is_dropped;
        const enum weft_code code = make_room(builder, time_ns, flush, &is_dropped, err);
        if (is_dropped || code != WEFT_OK)
            return code;
    }
    return entry_put(builder, hot, time_ns, event->function_key)
               ? WEFT_OK
               : weft_no_memory(err, "the rows of a block");
}

/* The two usual events are handled here, with the state in registers; all others by event_put. */
SCALAR_LOOP enum weft_code weft_builder_calls(struct weft_builder *builder,
                                              const struct weft_call_event *events, size_t n_events,
                                              const struct weft_builder_flush *flush,
                                              struct weft_err *err)
{
    struct weft_builder_hot hot = builder->hot;
    enum weft_code code = WEFT_OK;
    for (const struct weft_call_event *event = events; event < events + n_events; event++) {
        const uint64_t time_ns = event->time_ns;
        const uint32_t key = event->function_key;
        if (event->kind == WEFT_CALL_ENTER) {
            if (__builtin_expect(time_ns >= hot.clock_ns && hot.n_rows != hot.row_room &&
                                     hot.depth != hot.depth_room,
                                 1)) {
                hot.clock_ns = time_ns;
                if (__builtin_expect(entry_put(builder, &hot, time_ns, key), 1))
                    continue;
                code = weft_no_memory(err, "the rows of a block");
                break;
            }
        } else if (__builtin_expect(event->kind == WEFT_CALL_EXIT && time_ns >= hot.clock_ns &&
                                        hot.depth > hot.floor &&
                                        builder->stack[hot.depth - 1].key == key,
                                    1)) {
            hot.clock_ns = time_ns;
            exit_simply(builder, &hot, time_ns);
            continue;
        }
        builder->hot = hot;
        code = event_put(builder, event, flush, err);
        hot = builder->hot;
        if (code != WEFT_OK)
            break;
    }
    builder->hot = hot;
    return code;
}

/* Frames entered in this block and still open. */
static void left_put(struct weft_builder *builder)
{
    struct weft_bytes *left = &builder->rows.left;
    uint32_t next_row = 0;
    uint64_t base_ns = builder->head.first_ns;
    for (uint32_t i = builder->carried; i < builder->hot.depth; i++) {
        const struct weft_builder_frame *frame = &builder->stack[i];
        weft_bytes_put_varint(left, frame->row - next_row);
        weft_bytes_put_varint(left, frame->start_ns - base_ns);
        weft_bytes_put_varint(left, frame->key);
        next_row = frame->row + 1;
        base_ns = frame->start_ns;
    }
    builder->head.n_left = builder->hot.depth - builder->carried;
}

enum weft_code weft_builder_finish_block(struct weft_builder *builder, struct weft_err *err)
{
    const struct weft_builder_hot *hot = &builder->hot;
    struct weft_block_head *head = &builder->head;
    if (hot->last_ns > WEFT_FORMAT_MAX_NS)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a call at %" PRIu64 " ns: times above 2^63 ns cannot be stored",
                         hot->last_ns);
    head->n_rows = hot->n_rows;
    head->n_exits = hot->n_exits;
    head->n_functions = hot->n_keys;
    head->first_ns = hot->n_rows ? builder->first_row_ns : head->first_event_ns;
    head->last_ns = hot->last_ns;
    head->longest_call_ns = hot->longest_call_ns;
    head->longest_gap_ns = hot->longest_gap_ns;
    level_fold(builder);
    head->max_level =
        hot->n_rows ? builder->max_level : (int32_t)head->n_carried - (int32_t)head->n_cut_before;
    builder->counts.calls += hot->n_rows;
    left_put(builder);
    return WEFT_OK;
}
