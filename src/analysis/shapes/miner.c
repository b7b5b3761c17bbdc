/* SPDX-License-Identifier: MIT
 *
 * Walks calls and gives each its shape.
 */
#include "analysis/shapes/miner.h"

#include "analysis/shapes/wide.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEP_BITS = 16,
    MAX_NARROW = 64, /* members of a set for which states are made */
};

/* States of frames without one. */
#define FIRST_SPECIAL (UINT32_MAX - 7)
#define STATE_WIDE (UINT32_MAX - 7)
#define STATE_CUT (UINT32_MAX - 6)     /* has no shape: begins or ends outside */
#define STATE_LIMITED (UINT32_MAX - 5) /* has no shape: a callee was refused */
#define STATE_GIVEN (UINT32_MAX - 4)   /* has one from elsewhere */

/* From a state by a callee to the next, in which the callee has the slot. */
struct weft_shape_step {
    uint64_t key; /* 0: none */
    uint32_t next, slot;
};

struct weft_shape_frame {
    uint64_t start_ns, end_ns;
    uint64_t row;    /* in the thread, or UINT64_MAX */
    uint64_t base;   /* of its counters */
    uint32_t n;      /* its counters: members of its set; 0 if it is wide */
    uint32_t state;  /* or STATE_ */
    uint32_t target; /* frame + 1 that its callees count for, or 0 */
    uint32_t owner;  /* the same for itself */
    uint32_t function_id;
    uint32_t given; /* STATE_GIVEN: the shape */
    uint32_t flags;
    bool is_excluded;
    bool is_carried;
    struct weft_shape_wide *wide; /* STATE_WIDE */
};

static const unsigned edges = WEFT_CALL_CUT_START | WEFT_CALL_CUT_END;

void weft_shape_borders_fini(struct weft_shape_borders *borders)
{
    free(borders->carried);
    free(borders->left);
    free(borders->set_shape);
    free(borders->set_count);
    *borders = (struct weft_shape_borders){ 0 };
}

enum weft_code weft_miner_init(struct weft_miner *miner, uint32_t n_functions,
                               const struct weft_shape_limits *limits,
                               const struct weft_shape_table *known, const bool *is_excluded,
                               struct weft_err *err)
{
    *miner = (struct weft_miner){ .limits = *limits, .known = known, .is_excluded = is_excluded };
    miner->trivial = malloc(((size_t)n_functions + 1) * sizeof *miner->trivial);
    miner->entry = malloc(((size_t)n_functions + 1) * sizeof *miner->entry);
    miner->steps = calloc((size_t)1 << STEP_BITS, sizeof *miner->steps);
    if (!miner->trivial || !miner->entry || !miner->steps)
        return weft_no_memory(err, "shapes");
    memset(miner->entry, 0xff, ((size_t)n_functions + 1) * sizeof *miner->entry);
    memset(miner->trivial, 0xff, ((size_t)n_functions + 1) * sizeof *miner->trivial);
    return WEFT_OK;
}

static void drop_frames(struct weft_miner *miner)
{
    while (miner->n_frames > 0)
        weft_shape_wide_free(miner->frames[--miner->n_frames].wide);
}

void weft_miner_fini(struct weft_miner *miner)
{
    drop_frames(miner);
    weft_shape_table_fini(&miner->states);
    free(miner->trivial);
    free(miner->entry);
    free(miner->steps);
    free(miner->state_of);
    free(miner->repeat_at);
    free(miner->repeat);
    free(miner->frames);
    free(miner->counts);
    free(miner->done);
    free(miner->rows);
    free(miner->touched);
    free(miner->scratch);
    *miner = (struct weft_miner){ 0 };
}

/* ---- states ---------------------------------------------------------------------------------- */

/* A number for a state in which a call ended for the first time. False without memory. */
static bool number_state(struct weft_miner *miner, uint32_t state)
{
    struct weft_shape_node *node = &miner->states.nodes[state];
    size_t n = node->n_children;
    if (miner->known) {
        uint32_t known = weft_shape_table_find(miner->known, node->function_id,
                                               miner->states.child + node->first, n, node->hash);
        node->shape = known == WEFT_SHAPE_NONE ? WEFT_SHAPE_REFUSED : known;
        miner->n_final += known != WEFT_SHAPE_NONE;
        return true;
    }
    if (miner->n_shapes >= miner->limits.max_shapes ||
        n > miner->limits.max_children - miner->n_repeat) {
        node->shape = WEFT_SHAPE_REFUSED;
        miner->is_over = true;
        return true;
    }
    if (!weft_vec_reserve(&miner->state_of, &miner->cap_state_of, miner->n_shapes + 1,
                          sizeof *miner->state_of) ||
        !weft_vec_reserve(&miner->repeat_at, &miner->cap_repeat_at, miner->n_shapes + 1,
                          sizeof *miner->repeat_at) ||
        !weft_vec_reserve(&miner->repeat, &miner->cap_repeat, miner->n_repeat + n + 1,
                          sizeof *miner->repeat) ||
        !weft_vec_reserve(&miner->rows, &miner->cap_rows, miner->n_shapes + 1,
                          sizeof *miner->rows) ||
        !weft_vec_reserve(&miner->touched, &miner->cap_touched, miner->n_shapes + 1,
                          sizeof *miner->touched))
        return false;
    miner->n_final++;
    miner->rows[miner->n_shapes].count = 0;
    miner->state_of[miner->n_shapes] = state;
    miner->repeat_at[miner->n_shapes] = miner->n_repeat;
    for (size_t i = 0; i < n; i++)
        miner->repeat[miner->n_repeat + i] = (struct weft_shape_repeat){ .min = UINT32_MAX };
    miner->n_repeat += n;
    node->shape = (uint32_t)miner->n_shapes++;
    if (miner->tape && node->shape == WEFT_TAPE_NARROW_SHAPES)
        return weft_shape_tape_widen(miner->tape);
    return true;
}

/* The state of a call that was just entered; WEFT_SHAPE_NONE without memory. */
static inline uint32_t first_state(struct weft_miner *miner, uint32_t function_id)
{
    uint32_t *entry = &miner->entry[function_id];
    if (__builtin_expect(*entry == WEFT_SHAPE_NONE, 0))
        *entry = weft_shape_table_intern(&miner->states, function_id, NULL, 0,
                                         weft_shape_hash_function(function_id));
    return *entry;
}

static bool learn_trivial(struct weft_miner *miner, uint32_t function_id)
{
    uint32_t state = first_state(miner, function_id);
    if (state == WEFT_SHAPE_NONE ||
        (miner->states.nodes[state].shape == WEFT_SHAPE_NONE && !number_state(miner, state)))
        return false;
    miner->trivial[function_id] = miner->states.nodes[state].shape;
    return true;
}

/* Where `shape` stands among the ascending children, or would. */
static size_t position(const uint32_t *children, size_t n, uint32_t shape)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (children[mid] < shape)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The frame keeps its set itself from now on. */
static bool turn_wide(struct weft_miner *miner, struct weft_shape_frame *frame)
{
    const uint32_t *children = weft_shape_table_children(&miner->states, frame->state);
    frame->wide = weft_shape_wide_new();
    if (!frame->wide)
        return false;
    for (uint32_t i = 0; i < frame->n; i++)
        if (!weft_shape_wide_add(frame->wide, children[i], miner->counts[frame->base + i]))
            return false;
    frame->state = STATE_WIDE;
    frame->n = 0;
    return true;
}

/* Never 0, which is that of an empty entry of the cache. */
static inline uint64_t step_key(uint32_t state, uint32_t shape)
{
    return ((uint64_t)state << 32 | shape) + 1;
}

/* Fills the step of the frame's state by `shape`; turns the frame wide if there is to be none. */
static bool learn_step(struct weft_miner *miner, struct weft_shape_frame *frame, uint32_t shape,
                       struct weft_shape_step *step)
{
    uint32_t state = frame->state;
    const struct weft_shape_node *node = &miner->states.nodes[state];
    const uint32_t *children = miner->states.child + node->first;
    size_t n = node->n_children, slot = position(children, n, shape);
    uint32_t next = state;
    if (slot == n || children[slot] != shape) {
        uint32_t larger[MAX_NARROW + 1];
        if (n >= MAX_NARROW)
            return turn_wide(miner, frame);
        if (slot > 0)
            memcpy(larger, children, slot * sizeof *larger);
        larger[slot] = shape;
        if (n > slot)
            memcpy(larger + slot + 1, children + slot, (n - slot) * sizeof *larger);
        uint64_t hash = node->hash + weft_shape_hash_child(shape);
        if (miner->states.n_nodes - miner->n_final < miner->limits.max_states)
            next = weft_shape_table_intern(&miner->states, node->function_id, larger, n + 1, hash);
        else if ((next = weft_shape_table_find(&miner->states, node->function_id, larger, n + 1,
                                               hash)) == WEFT_SHAPE_NONE)
            return turn_wide(miner, frame);
        if (next == WEFT_SHAPE_NONE)
            return false;
    }
    *step = (struct weft_shape_step){ step_key(state, shape), next, (uint32_t)slot };
    return true;
}

/* Room for one counter more above those of the frame, which is the innermost that has any. */
static bool grow_counts(struct weft_miner *miner, const struct weft_shape_frame *frame)
{
    return weft_vec_reserve(&miner->counts, &miner->cap_counts, frame->base + frame->n + 1,
                            sizeof *miner->counts);
}

static bool add_special(struct weft_shape_frame *frame, uint32_t shape)
{
    return frame->state != STATE_WIDE || weft_shape_wide_add(frame->wide, shape, 1);
}

/* A callee of `shape` ended in the frame. False without memory. */
static inline bool add_callee(struct weft_miner *miner, struct weft_shape_frame *frame,
                              uint32_t shape)
{
    if (__builtin_expect(frame->state >= FIRST_SPECIAL, 0))
        return add_special(frame, shape);
    uint64_t key = step_key(frame->state, shape);
    struct weft_shape_step *step =
        &miner->steps[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - STEP_BITS)];
    if (__builtin_expect(step->key != key, 0)) {
        if (!learn_step(miner, frame, shape, step))
            return false;
        if (frame->state == STATE_WIDE)
            return weft_shape_wide_add(frame->wide, shape, 1);
    }
    if (__builtin_expect(step->next == frame->state, 1)) {
        miner->counts[frame->base + step->slot]++;
        return true;
    }
    if (!grow_counts(miner, frame))
        return false;
    uint64_t *counts = miner->counts + frame->base;
    for (uint32_t i = frame->n; i > step->slot; i--) /* few: a call would take longer */
        counts[i] = counts[i - 1];
    counts[step->slot] = 1;
    frame->n++;
    frame->state = step->next;
    return true;
}

/* ---- ends of calls --------------------------------------------------------------------------- */

static inline void count_call(struct weft_miner *miner, uint64_t start_ns, uint64_t end_ns,
                              uint32_t shape)
{
    struct weft_shape_row *row = &miner->rows[shape];
    uint64_t duration_ns = end_ns - start_ns;
    if (__builtin_expect(row->count == 0, 0)) {
        miner->touched[miner->n_touched++] = shape;
        *row = (struct weft_shape_row){ .min_ns = duration_ns,
                                        .max_ns = duration_ns,
                                        .first_ns = start_ns,
                                        .first_end_ns = end_ns,
                                        .slowest_ns = start_ns,
                                        .shape_id = shape };
    }
    row->count++;
    row->sum_ns += duration_ns;
    row->sum_squares += (weft_u128)duration_ns * duration_ns;
    row->min_ns = duration_ns < row->min_ns ? duration_ns : row->min_ns;
    if (__builtin_expect(duration_ns > row->max_ns, 0)) {
        row->max_ns = duration_ns;
        row->slowest_ns = start_ns;
    }
}

static inline void emit(struct weft_miner *miner, uint64_t start_ns, uint64_t end_ns,
                        uint32_t shape)
{
    if (miner->known)
        miner->done[miner->n_done++] = (struct weft_shape_done){ start_ns, end_ns, shape };
    else
        count_call(miner, start_ns, end_ns, shape);
}

bool weft_miner_take_rows(struct weft_miner *miner, struct weft_shape_row **rows, size_t *n_rows)
{
    *rows = malloc((miner->n_touched + 1) * sizeof **rows);
    *n_rows = *rows ? miner->n_touched : 0;
    for (size_t i = 0; i < miner->n_touched; i++) {
        if (*rows)
            (*rows)[i] = miner->rows[miner->touched[i]];
        miner->rows[miner->touched[i]].count = 0;
    }
    miner->n_touched = 0;
    return *rows != NULL;
}

/* A call that has no shape because of a limit gives none to its callers either. */
static void refuse(struct weft_miner *miner, uint32_t owner)
{
    miner->tally.limited_calls++;
    if (!owner)
        return;
    struct weft_shape_frame *frame = &miner->frames[owner - 1];
    if (frame->state >= FIRST_SPECIAL && frame->state != STATE_WIDE)
        return;
    weft_shape_wide_free(frame->wide);
    frame->wide = NULL;
    frame->n = 0;
    frame->state = STATE_LIMITED;
}

static uint32_t saturate(uint64_t count)
{
    return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void count_repeats(struct weft_miner *miner, uint32_t shape, const uint64_t *counts,
                          size_t n)
{
    struct weft_shape_repeat *repeat = miner->repeat + miner->repeat_at[shape];
    for (size_t i = 0; i < n; i++) {
        uint32_t count = saturate(counts[i]);
        repeat[i].sum += counts[i];
        repeat[i].min = count < repeat[i].min ? count : repeat[i].min;
        repeat[i].max = count > repeat[i].max ? count : repeat[i].max;
    }
}

/* The shape of a wide frame; WEFT_SHAPE_NONE without memory. */
static uint32_t wide_shape(struct weft_miner *miner, struct weft_shape_frame *frame)
{
    const uint32_t *children = NULL;
    const uint64_t *counts = NULL;
    size_t n = 0;
    if (!weft_shape_wide_sort(frame->wide, &children, &counts, &n))
        return WEFT_SHAPE_NONE;
    uint64_t hash = weft_shape_hash(frame->function_id, children, n);
    if (miner->known) {
        uint32_t known = weft_shape_table_find(miner->known, frame->function_id, children, n, hash);
        return known == WEFT_SHAPE_NONE ? WEFT_SHAPE_REFUSED : known;
    }
    uint32_t state = weft_shape_table_find(&miner->states, frame->function_id, children, n, hash);
    if (state == WEFT_SHAPE_NONE) {
        if (miner->n_shapes >= miner->limits.max_shapes ||
            n > miner->limits.max_children - miner->n_repeat) {
            miner->is_over = true;
            return WEFT_SHAPE_REFUSED;
        }
        state = weft_shape_table_intern(&miner->states, frame->function_id, children, n, hash);
    }
    if (state == WEFT_SHAPE_NONE ||
        (miner->states.nodes[state].shape == WEFT_SHAPE_NONE && !number_state(miner, state)))
        return WEFT_SHAPE_NONE;
    uint32_t shape = miner->states.nodes[state].shape;
    if (shape < WEFT_SHAPE_REFUSED)
        count_repeats(miner, shape, counts, n);
    return shape;
}

/* The shape of a frame that ends; WEFT_SHAPE_NONE without memory. */
static uint32_t shape_of(struct weft_miner *miner, struct weft_shape_frame *frame)
{
    if (frame->state == STATE_WIDE)
        return wide_shape(miner, frame);
    struct weft_shape_node *node = &miner->states.nodes[frame->state];
    if (node->shape == WEFT_SHAPE_NONE && !number_state(miner, frame->state))
        return WEFT_SHAPE_NONE;
    if (!miner->known && node->shape != WEFT_SHAPE_REFUSED)
        count_repeats(miner, node->shape, miner->counts + frame->base, frame->n);
    return node->shape;
}

/* Records the borders of a frame; false without memory. */
static bool save_frame(struct weft_miner *miner, struct weft_shape_frame *frame,
                       struct weft_shape_crossing *crossing)
{
    struct weft_shape_borders *borders = miner->borders;
    const uint32_t *children = NULL;
    const uint64_t *counts = NULL;
    size_t n = 0;
    if (frame->state == STATE_WIDE) {
        if (!weft_shape_wide_sort(frame->wide, &children, &counts, &n))
            return false;
    } else if (frame->state < FIRST_SPECIAL) {
        children = weft_shape_table_children(&miner->states, frame->state);
        counts = miner->counts + frame->base;
        n = frame->n;
    }
    if (!weft_vec_reserve(&borders->set_shape, &borders->cap_set_shape, borders->n_set + n + 1,
                          sizeof *borders->set_shape) ||
        !weft_vec_reserve(&borders->set_count, &borders->cap_set_count, borders->n_set + n + 1,
                          sizeof *borders->set_count))
        return false;
    *crossing = (struct weft_shape_crossing){
        .start_ns = frame->start_ns,
        .end_ns = frame->end_ns,
        .row = frame->row,
        .function_id = frame->function_id,
        .flags = frame->flags,
        .first = borders->n_set,
        .n = (uint32_t)n,
        .is_excluded = frame->is_excluded,
    };
    if (n) {
        memcpy(borders->set_shape + borders->n_set, children, n * sizeof *children);
        memcpy(borders->set_count + borders->n_set, counts, n * sizeof *counts);
    }
    borders->n_set += n;
    return true;
}

static bool end_shaped(struct weft_miner *miner, struct weft_shape_frame *frame)
{
    uint32_t shape = frame->state == STATE_GIVEN ? frame->given : shape_of(miner, frame);
    if (shape == WEFT_SHAPE_NONE)
        return false;
    if (shape == WEFT_SHAPE_REFUSED) {
        refuse(miner, frame->owner);
        return true;
    }
    miner->tally.calls++;
    miner->tally.repaired_calls += (frame->flags & WEFT_CALL_REPAIRED) != 0;
    emit(miner, frame->start_ns, frame->end_ns, shape);
    if (miner->tape && frame->row != UINT64_MAX)
        weft_shape_tape_put(miner->tape, frame->row - miner->tape_row, shape);
    return !frame->owner || add_callee(miner, &miner->frames[frame->owner - 1], shape);
}

/* The innermost frame ends. False without memory. */
static bool pop(struct weft_miner *miner)
{
    struct weft_shape_frame *frame = &miner->frames[--miner->n_frames];
    bool is_ok = true;
    if (frame->is_carried && miner->borders)
        is_ok = save_frame(miner, frame, &miner->borders->carried[miner->n_frames]);
    else if (frame->is_excluded)
        miner->tally.excluded_calls++;
    else if (frame->state == STATE_CUT)
        miner->tally.cut_calls++;
    else if (frame->state == STATE_LIMITED)
        refuse(miner, frame->owner);
    else
        is_ok = end_shaped(miner, frame);
    weft_shape_wide_free(frame->wide);
    frame->wide = NULL;
    return is_ok;
}

/* ---- begins of calls ------------------------------------------------------------------------- */

static inline uint32_t target_of(const struct weft_miner *miner)
{
    return miner->n_frames ? miner->frames[miner->n_frames - 1].target : 0;
}

static inline bool is_excluded(const struct weft_miner *miner, uint32_t function_id)
{
    return miner->is_excluded && miner->is_excluded[function_id];
}

/* Enters a call. There is room for its frame. False without memory. */
static bool push(struct weft_miner *miner, const struct weft_shape_crossing *call)
{
    uint32_t owner = target_of(miner), state = STATE_CUT;
    uint64_t base = owner ? miner->frames[owner - 1].base + miner->frames[owner - 1].n : 0;
    if (!(call->flags & edges) && !call->is_excluded)
        state = first_state(miner, call->function_id);
    struct weft_shape_frame *frame = &miner->frames[miner->n_frames++];
    *frame = (struct weft_shape_frame){
        .start_ns = call->start_ns,
        .end_ns = call->end_ns,
        .row = call->row,
        .base = base,
        .state = state,
        .owner = owner,
        .target = call->is_excluded ? owner : (uint32_t)miner->n_frames,
        .function_id = call->function_id,
        .flags = call->flags,
        .is_excluded = call->is_excluded,
    };
    return state != WEFT_SHAPE_NONE;
}

/* A call without callees. False without memory. */
static inline bool add_leaf(struct weft_miner *miner, const struct weft_calls *calls, size_t i)
{
    uint32_t function_id = calls->function_id[i];
    uint32_t shape = miner->trivial[function_id], owner = target_of(miner);
    if (__builtin_expect(shape >= WEFT_SHAPE_REFUSED, 0)) {
        if (shape == WEFT_SHAPE_NONE && !learn_trivial(miner, function_id))
            return false;
        shape = miner->trivial[function_id];
        if (shape == WEFT_SHAPE_REFUSED) {
            refuse(miner, owner);
            return true;
        }
    }
    miner->tally.calls++;
    emit(miner, calls->start_ns[i], calls->end_ns[i], shape);
    if (miner->tape)
        weft_shape_tape_put(miner->tape, calls->first_row + i - miner->tape_row, shape);
    return !owner || add_callee(miner, &miner->frames[owner - 1], shape);
}

static bool enter_row(struct weft_miner *miner, const struct weft_calls *calls, size_t i)
{
    const struct weft_shape_crossing call = {
        .start_ns = calls->start_ns[i],
        .end_ns = calls->end_ns[i],
        .row = calls->first_row + i,
        .function_id = calls->function_id[i],
        .flags = calls->flags ? calls->flags[i] : 0,
        .is_excluded = is_excluded(miner, calls->function_id[i]),
    };
    return push(miner, &call);
}

/* ---- partitions ------------------------------------------------------------------------------ */

static bool room_for_done(struct weft_miner *miner, size_t n_rows)
{
    miner->n_done = 0;
    return !miner->known || weft_vec_reserve(&miner->done, &miner->cap_done,
                                             n_rows + miner->n_frames + 1, sizeof *miner->done);
}

enum weft_code weft_miner_begin(struct weft_miner *miner, uint32_t depth_bound,
                                const struct weft_open_call *open, size_t n_open,
                                const uint32_t *given, struct weft_shape_borders *borders,
                                struct weft_err *err)
{
    drop_frames(miner);
    miner->tally = (struct weft_shape_tally){ 0 };
    miner->borders = borders;
    miner->is_broken = false;
    if (miner->tape && miner->n_shapes >= WEFT_TAPE_NARROW_SHAPES &&
        !weft_shape_tape_widen(miner->tape))
        return weft_no_memory(err, "shapes");
    size_t n_frames = (size_t)depth_bound > n_open ? depth_bound : n_open;
    if (!weft_vec_reserve(&miner->frames, &miner->cap_frames, n_frames + 1,
                          sizeof *miner->frames) ||
        !weft_vec_reserve(&miner->counts, &miner->cap_counts, 1, sizeof *miner->counts) ||
        !room_for_done(miner, n_open))
        return weft_no_memory(err, "shapes");
    if (borders && !weft_vec_reserve(&borders->carried, &borders->cap_carried, n_open + 1,
                                     sizeof *borders->carried))
        return weft_no_memory(err, "shapes");
    for (size_t i = 0; i < n_open; i++) {
        const struct weft_shape_crossing call = {
            .start_ns = open[i].start_ns,
            .end_ns = open[i].end_ns,
            .row = open[i].row,
            .function_id = open[i].function_id,
            .flags = open[i].flags,
            .is_excluded = is_excluded(miner, open[i].function_id),
        };
        if (!push(miner, &call))
            return weft_no_memory(err, "shapes");
        struct weft_shape_frame *frame = &miner->frames[i];
        frame->is_carried = true;
        if (given && frame->state < FIRST_SPECIAL) {
            frame->state = STATE_GIVEN;
            frame->given = given[i];
        }
    }
    if (borders)
        borders->n_carried = n_open;
    return WEFT_OK;
}

/* False without memory, or where the rows are broken. */
static bool walk_rows(struct weft_miner *miner, const struct weft_calls *calls)
{
    const uint32_t *depth = calls->depth;
    size_t n = calls->n_rows;
    for (size_t i = 0; i < n; i++) {
        while (miner->n_frames > depth[i])
            if (!pop(miner))
                return false;
        if (__builtin_expect(miner->n_frames != depth[i], 0)) {
            miner->is_broken = true;
            return false;
        }
        bool is_leaf = i + 1 < n && depth[i + 1] <= depth[i];
        bool is_plain =
            !(calls->flags && calls->flags[i]) && !is_excluded(miner, calls->function_id[i]);
        if (is_leaf && is_plain ? !add_leaf(miner, calls, i) : !enter_row(miner, calls, i))
            return false;
    }
    return true;
}

enum weft_code weft_miner_block(struct weft_miner *miner, const struct weft_calls *calls,
                                struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (!room_for_done(miner, calls->n_rows))
        return weft_no_memory(err, "shapes");
    if (miner->tape)
        code = weft_shape_tape_block(miner->tape, calls, err);
    if (code)
        return code;
    miner->tape_row = miner->tape ? miner->tape->first_row : 0;
    if (walk_rows(miner, calls))
        return WEFT_OK;
    if (miner->is_broken)
        return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                         "expected a caller at every depth, found none");
    return weft_no_memory(err, "shapes");
}

/* How many of the open frames were open when the partition began. */
static size_t n_still_carried(const struct weft_miner *miner)
{
    size_t n = 0;
    while (n < miner->n_frames && miner->frames[n].is_carried)
        n++;
    return n;
}

static bool save_open(struct weft_miner *miner)
{
    struct weft_shape_borders *borders = miner->borders;
    size_t n_kept = n_still_carried(miner);
    borders->n_kept = n_kept;
    borders->n_left = miner->n_frames - n_kept;
    if (!weft_vec_reserve(&borders->left, &borders->cap_left, borders->n_left + 1,
                          sizeof *borders->left))
        return false;
    for (size_t i = 0; i < miner->n_frames; i++)
        if (!save_frame(miner, &miner->frames[i],
                        i < n_kept ? &borders->carried[i] : &borders->left[i - n_kept]))
            return false;
    return true;
}

enum weft_code weft_miner_end(struct weft_miner *miner, bool is_last, size_t n_open,
                              struct weft_err *err)
{
    size_t n_kept = is_last ? 0 : n_open;
    if (miner->borders)
        n_kept = is_last ? n_still_carried(miner) : SIZE_MAX;
    if (!room_for_done(miner, 0))
        return weft_no_memory(err, "shapes");
    while (miner->n_frames > n_kept)
        if (!pop(miner))
            return weft_no_memory(err, "shapes");
    if (miner->borders && !save_open(miner))
        return weft_no_memory(err, "shapes");
    drop_frames(miner);
    return WEFT_OK;
}
