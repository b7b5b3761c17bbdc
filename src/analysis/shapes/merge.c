/* SPDX-License-Identifier: MIT
 *
 * Joins what workers and partitions have found.
 */
#include "analysis/shapes/parts.h"
#include "analysis/shapes/wide.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

void weft_part_found_fini(struct weft_part_found *found)
{
    free(found->rows);
    weft_shape_borders_fini(&found->borders);
    *found = (struct weft_part_found){ 0 };
}

void weft_merged_fini(struct weft_merged *merged)
{
    weft_shape_table_fini(&merged->table);
    free(merged->repeats);
    *merged = (struct weft_merged){ 0 };
}

/* ---- shapes ---------------------------------------------------------------------------------- */

struct member {
    uint32_t shape;
    struct weft_shape_repeat repeat;
};

struct members {
    struct member *items;
    uint32_t *shapes;
    size_t cap_items, cap_shapes;
};

static void members_fini(struct members *members)
{
    free(members->items);
    free(members->shapes);
}

static bool members_ready(struct members *members, size_t n)
{
    return weft_vec_reserve(&members->items, &members->cap_items, n + 1, sizeof *members->items) &&
           weft_vec_reserve(&members->shapes, &members->cap_shapes, n + 1, sizeof *members->shapes);
}

static int by_shape(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    return (x->shape > y->shape) - (x->shape < y->shape);
}

static void add_repeat(struct weft_shape_repeat *to, const struct weft_shape_repeat *from)
{
    to->sum += from->sum;
    to->min = from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
}

/* Adds a set whose members are sorted. */
static uint32_t merge_set(struct weft_merged *merged, uint32_t function_id,
                          const struct members *members, size_t n)
{
    struct weft_shape_table *table = &merged->table;
    size_t n_nodes = table->n_nodes;
    for (size_t i = 0; i < n; i++)
        members->shapes[i] = members->items[i].shape;
    if (!weft_vec_reserve(&merged->repeats, &merged->cap_repeats, table->n_child + n + 1,
                          sizeof *merged->repeats))
        return WEFT_SHAPE_NONE;
    uint32_t id = weft_shape_table_intern(table, function_id, members->shapes, n,
                                          weft_shape_hash(function_id, members->shapes, n));
    if (id == WEFT_SHAPE_NONE)
        return id;
    struct weft_shape_repeat *repeats = merged->repeats + table->nodes[id].first;
    for (size_t i = 0; i < n; i++) {
        if (table->n_nodes > n_nodes)
            repeats[i] = members->items[i].repeat;
        else
            add_repeat(&repeats[i], &members->items[i].repeat);
    }
    return id;
}

enum weft_code weft_merge_miner(struct weft_merged *merged, const struct weft_miner *miner,
                                uint32_t **map, struct weft_err *err)
{
    struct members members = { 0 };
    bool is_ok = (*map = malloc((miner->n_shapes + 1) * sizeof **map)) != NULL;
    for (size_t shape = 0; is_ok && shape < miner->n_shapes; shape++) {
        uint32_t state = miner->state_of[shape];
        const struct weft_shape_node *node = &miner->states.nodes[state];
        const uint32_t *children = weft_shape_table_children(&miner->states, state);
        is_ok = members_ready(&members, node->n_children);
        for (uint32_t i = 0; is_ok && i < node->n_children; i++)
            members.items[i] = (struct member){
                .shape = (*map)[children[i]],
                .repeat = miner->repeat[miner->repeat_at[shape] + i],
            };
        if (!is_ok)
            break;
        if (node->n_children > 1)
            qsort(members.items, node->n_children, sizeof *members.items, by_shape);
        (*map)[shape] = merge_set(merged, node->function_id, &members, node->n_children);
        is_ok = (*map)[shape] != WEFT_SHAPE_NONE;
    }
    members_fini(&members);
    return is_ok ? WEFT_OK : weft_no_memory(err, "shapes");
}

/* Adds a set with counts of one call, sorted; WEFT_SHAPE_NONE without memory. */
static uint32_t merge_call(struct weft_merged *merged, uint32_t function_id,
                           const uint32_t *children, const uint64_t *counts, size_t n_children)
{
    struct members members = { 0 };
    uint32_t id = WEFT_SHAPE_NONE;
    if (members_ready(&members, n_children)) {
        for (size_t i = 0; i < n_children; i++) {
            uint32_t count = counts[i] < UINT32_MAX ? (uint32_t)counts[i] : UINT32_MAX;
            members.items[i] = (struct member){ children[i], { counts[i], count, count } };
        }
        id = merge_set(merged, function_id, &members, n_children);
    }
    members_fini(&members);
    return id;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void row_add(struct weft_shape_row *row, const struct weft_shape_row *from)
{
    bool is_first = row->count == 0;
    /* Two that begin at once: the first takes no time. */
    if (is_first || from->first_ns < row->first_ns ||
        (from->first_ns == row->first_ns && from->first_end_ns < row->first_end_ns)) {
        row->first_ns = from->first_ns;
        row->first_end_ns = from->first_end_ns;
    }
    if (is_first || from->max_ns > row->max_ns ||
        (from->max_ns == row->max_ns && from->slowest_ns < row->slowest_ns)) {
        row->max_ns = from->max_ns;
        row->slowest_ns = from->slowest_ns;
    }
    row->min_ns = is_first || from->min_ns < row->min_ns ? from->min_ns : row->min_ns;
    row->sum_ns += from->sum_ns;
    row->sum_squares += from->sum_squares;
    row->count += from->count;
}

static void row_count(struct weft_shape_row *row, uint64_t start_ns, uint64_t end_ns)
{
    uint64_t duration_ns = end_ns - start_ns;
    const struct weft_shape_row one = { .count = 1,
                                        .sum_ns = duration_ns,
                                        .min_ns = duration_ns,
                                        .max_ns = duration_ns,
                                        .sum_squares = (weft_u128)duration_ns * duration_ns,
                                        .first_ns = start_ns,
                                        .first_end_ns = end_ns,
                                        .slowest_ns = start_ns,
                                        .shape_id = row->shape_id };
    row_add(row, &one);
}

/* ---- partitions ------------------------------------------------------------------------------ */

/* A call that crosses a border. */
struct open_call {
    struct weft_shape_crossing call;
    struct weft_shape_wide *set;
    size_t part; /* the first that it is carried into, in the thread */
};

struct joiner {
    struct weft_mined *mined;
    struct weft_mined_thread *thread;
    struct weft_merged *merged;
    struct weft_joined_calls *joined;
    struct {
        struct open_call *items; /* by depth */
        size_t n, cap;
    } stack;
    uint32_t *row_of; /* by shape: row + 1, or 0 */
    size_t cap_row_of, n_row_of;
    size_t cap_rows;
};

static void joiner_fini(struct joiner *joiner)
{
    for (size_t i = 0; i < joiner->stack.n; i++)
        weft_shape_wide_free(joiner->stack.items[i].set);
    free(joiner->stack.items);
    free(joiner->row_of);
}

/* The thread's row of a shape, or NULL without memory. */
static struct weft_shape_row *row_of(struct joiner *joiner, uint32_t shape)
{
    struct weft_mined_thread *thread = joiner->thread;
    if (shape >= joiner->n_row_of) {
        size_t want = joiner->merged->table.n_nodes;
        if (!weft_vec_reserve(&joiner->row_of, &joiner->cap_row_of, want, sizeof *joiner->row_of))
            return NULL;
        memset(joiner->row_of + joiner->n_row_of, 0,
               (want - joiner->n_row_of) * sizeof *joiner->row_of);
        joiner->n_row_of = want;
    }
    if (!joiner->row_of[shape]) {
        if (!weft_vec_reserve(&thread->rows, &joiner->cap_rows, thread->n_rows + 1,
                              sizeof *thread->rows))
            return NULL;
        thread->rows[thread->n_rows++] = (struct weft_shape_row){ .shape_id = shape };
        joiner->row_of[shape] = (uint32_t)thread->n_rows;
    }
    return &thread->rows[joiner->row_of[shape] - 1];
}

static bool push(struct joiner *joiner, const struct weft_shape_crossing *call, size_t part)
{
    struct weft_shape_wide *set = weft_shape_wide_new();
    struct open_call *open = set ? WEFT_VEC_PUSH(&joiner->stack) : NULL;
    if (!open) {
        weft_shape_wide_free(set);
        return false;
    }
    *open = (struct open_call){ .call = *call, .set = set, .part = part };
    return true;
}

static bool add_set(struct open_call *open, const struct weft_shape_borders *borders,
                    const struct weft_shape_crossing *call, const uint32_t *map)
{
    for (uint32_t i = 0; i < call->n; i++)
        if (!weft_shape_wide_add(open->set, map[borders->set_shape[call->first + i]],
                                 borders->set_count[call->first + i]))
            return false;
    return true;
}

/* The innermost call that callees at `depth` count for. */
static struct open_call *caller_of(struct joiner *joiner, size_t depth)
{
    while (depth > 0 && joiner->stack.items[depth - 1].call.is_excluded)
        depth--;
    return depth > 0 ? &joiner->stack.items[depth - 1] : NULL;
}

/* Gives the call that ends its shape. False without memory. */
static bool end_call(struct joiner *joiner, const struct open_call *open, uint32_t *shape)
{
    struct weft_shape_tally *tally = &joiner->thread->tally;
    const struct weft_shape_crossing *call = &open->call;
    const uint32_t *children = NULL;
    const uint64_t *counts = NULL;
    size_t n = 0;
    tally->excluded_calls += call->is_excluded;
    if (call->is_excluded)
        return true;
    if (call->flags & (WEFT_CALL_CUT_START | WEFT_CALL_CUT_END)) {
        tally->cut_calls++;
        return true;
    }
    if (!weft_shape_wide_sort(open->set, &children, &counts, &n))
        return false;
    *shape = merge_call(joiner->merged, call->function_id, children, counts, n);
    struct weft_shape_row *row = *shape != WEFT_SHAPE_NONE ? row_of(joiner, *shape) : NULL;
    if (!row)
        return false;
    row_count(row, call->start_ns, call->end_ns);
    struct weft_joined_call *joined = WEFT_VEC_PUSH(joiner->joined);
    if (!joined)
        return false;
    *joined = (struct weft_joined_call){ call->row, *shape,
                                         (size_t)(joiner->thread - joiner->mined->threads) };
    tally->calls++;
    tally->repaired_calls += (call->flags & WEFT_CALL_REPAIRED) != 0;
    struct open_call *caller = caller_of(joiner, joiner->stack.n - 1);
    return !caller || weft_shape_wide_add(caller->set, *shape, 1);
}

/* The innermost open call ends, in part `part` of the thread or where that begins. */
static bool pop(struct joiner *joiner, size_t part)
{
    size_t depth = joiner->stack.n - 1;
    struct open_call *open = &joiner->stack.items[depth];
    struct weft_mine_part *parts = joiner->mined->parts + joiner->thread->first_part;
    uint32_t shape = WEFT_SHAPE_NONE;
    bool is_ok = end_call(joiner, open, &shape);
    for (size_t i = open->part; is_ok && i <= part && i < joiner->thread->n_parts; i++)
        if (depth < parts[i].n_given)
            parts[i].given[depth] = shape;
    weft_shape_wide_free(open->set);
    joiner->stack.n--;
    return is_ok;
}

static bool add_rows(struct joiner *joiner, const struct weft_part_found *found,
                     const uint32_t *map)
{
    for (size_t i = 0; i < found->n_rows; i++) {
        struct weft_shape_row *row = row_of(joiner, map[found->rows[i].shape_id]);
        if (!row)
            return false;
        row_add(row, &found->rows[i]);
    }
    return true;
}

/* False without memory. */
static bool add_part(struct joiner *joiner, size_t index, const struct weft_part_found *found,
                     const uint32_t *map)
{
    const struct weft_shape_borders *borders = &found->borders;
    struct weft_mine_part *part = &joiner->mined->parts[joiner->thread->first_part + index];
    part->given = malloc((borders->n_carried + 1) * sizeof *part->given);
    if (!part->given || !add_rows(joiner, found, map))
        return false;
    while (joiner->stack.n > borders->n_carried)
        if (!pop(joiner, index))
            return false;
    part->n_given = borders->n_carried;
    memset(part->given, 0xff, (borders->n_carried + 1) * sizeof *part->given);
    for (size_t i = 0; i < borders->n_carried; i++)
        if ((i == joiner->stack.n && !push(joiner, &borders->carried[i], index)) ||
            !add_set(&joiner->stack.items[i], borders, &borders->carried[i], map))
            return false;
    while (joiner->stack.n > borders->n_kept)
        if (!pop(joiner, index))
            return false;
    for (size_t i = 0; i < borders->n_left; i++)
        if (!push(joiner, &borders->left[i], index + 1) ||
            !add_set(&joiner->stack.items[joiner->stack.n - 1], borders, &borders->left[i], map))
            return false;
    return true;
}

static void add_tally(struct weft_shape_tally *to, const struct weft_shape_tally *from)
{
    to->calls += from->calls;
    to->cut_calls += from->cut_calls;
    to->excluded_calls += from->excluded_calls;
    to->limited_calls += from->limited_calls;
    to->repaired_calls += from->repaired_calls;
}

enum weft_code weft_join_parts(struct weft_mined *mined, struct weft_mined_thread *thread,
                               const struct weft_part_found *found, uint32_t *const *maps,
                               struct weft_merged *merged, struct weft_joined_calls *joined,
                               struct weft_err *err)
{
    struct joiner joiner = { .mined = mined, .thread = thread, .merged = merged, .joined = joined };
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < thread->n_parts; i++) {
        const struct weft_part_found *part = &found[thread->first_part + i];
        if (mined->parts[thread->first_part + i].is_empty)
            continue;
        add_tally(&thread->tally, &part->tally);
        is_ok = add_part(&joiner, i, part, maps[mined->parts[thread->first_part + i].worker]);
    }
    while (is_ok && joiner.stack.n > 0)
        is_ok = pop(&joiner, thread->n_parts - 1);
    joiner_fini(&joiner);
    return is_ok ? WEFT_OK : weft_no_memory(err, "shapes");
}
