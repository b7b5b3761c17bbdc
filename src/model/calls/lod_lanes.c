/* SPDX-License-Identifier: MIT
 *
 * Joins neighbouring short calls of one depth and pixel column into clusters, whose function is the
 * one that covers most time. Columns are found without a division for each call: times ascend
 * within a query, and the border of the next column is kept exactly (step and remainder). At the
 * end items are sorted by depth by counting, then by start.
 */
#include "model/calls/lod_lanes.h"

#include "base/checked.h"
#include "base/vec.h"

void weft_lod_lanes_fini(struct weft_lod_lanes *lanes)
{
    for (size_t i = 0; i < lanes->lanes.n; i++)
        WEFT_VEC_FINI(&lanes->lanes.items[i].votes);
    WEFT_VEC_FINI(&lanes->lanes);
    WEFT_VEC_FINI(&lanes->found);
    WEFT_VEC_FINI(&lanes->sorted);
    WEFT_VEC_FINI(&lanes->first);
}

bool weft_lod_lanes_start(struct weft_lod_lanes *lanes, uint64_t from_ns, uint64_t to_ns,
                          uint32_t width, size_t n_depths)
{
    while (lanes->lanes.n < n_depths)
        if (!WEFT_VEC_PUSH(&lanes->lanes))
            return false;
    for (size_t i = 0; i < lanes->lanes.n; i++) {
        lanes->lanes.items[i].item.count = 0;
        lanes->lanes.items[i].votes.n = 0;
    }
    lanes->found.n = 0;
    lanes->from_ns = from_ns;
    lanes->span_ns = to_ns - from_ns;
    lanes->width = width;
    lanes->step_ns = lanes->span_ns / width;
    lanes->rest = lanes->span_ns % width;
    lanes->column = 0;
    lanes->next_ns = from_ns + lanes->step_ns;
    lanes->next_rest = lanes->rest;
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Column `column`, of which the next begins at from + floor((column + 1) * span / width). */
static void column_set(struct weft_lod_lanes *lanes, uint64_t column)
{
    const uint64_t rests = (column + 1) * lanes->rest; /* both below 2^17: no overflow */
    lanes->column = column;
    lanes->next_ns = lanes->from_ns + (column + 1) * lanes->step_ns + rests / lanes->width;
    lanes->next_rest = rests % lanes->width;
}

/* The last column that begins at or before `time_ns`; times never descend in a query. */
static inline uint32_t column_of(struct weft_lod_lanes *lanes, uint64_t time_ns)
{
    if (__builtin_expect(time_ns < lanes->next_ns, 1))
        return (uint32_t)lanes->column;
    if (lanes->step_ns > 0) {
        const uint64_t far = (time_ns - lanes->next_ns) / (lanes->step_ns + 1);
        if (far > 0) /* not beyond the column: no column is longer */
            column_set(lanes, weft_min_u64(lanes->column + far, lanes->width - 1));
    }
    while (time_ns >= lanes->next_ns && lanes->column + 1 < lanes->width) {
        lanes->column++;
        lanes->next_ns += lanes->step_ns;
        lanes->next_rest += lanes->rest;
        if (lanes->next_rest >= lanes->width) {
            lanes->next_rest -= lanes->width;
            lanes->next_ns++;
        }
    }
    return (uint32_t)lanes->column;
}

/* ---- clusters -------------------------------------------------------------------------------- */

static bool cluster_end(struct weft_lod_lanes *lanes, struct weft_lod_lane *lane)
{
    const struct weft_lod_vote *best = &lane->votes.items[0];
    for (size_t i = 1; i < lane->votes.n; i++) {
        const struct weft_lod_vote *vote = &lane->votes.items[i];
        if (vote->covered_ns > best->covered_ns ||
            (vote->covered_ns == best->covered_ns && vote->function_id < best->function_id))
            best = vote;
    }
    lane->item.function_id = best->function_id;
    lane->votes.n = 0;
    struct weft_lod_item *item = WEFT_VEC_PUSH(&lanes->found);
    if (item)
        *item = lane->item;
    lane->item.count = 0;
    return item != NULL;
}

static bool vote_add(struct weft_lod_lane *lane, uint32_t function_id, uint64_t covered_ns)
{
    for (size_t i = 0; i < lane->votes.n; i++) {
        if (lane->votes.items[i].function_id == function_id) {
            lane->votes.items[i].covered_ns += covered_ns;
            return true;
        }
    }
    struct weft_lod_vote *vote = WEFT_VEC_PUSH(&lane->votes);
    if (vote)
        *vote = (struct weft_lod_vote){ covered_ns, function_id };
    return vote != NULL;
}

bool weft_lod_lanes_call(struct weft_lod_lanes *lanes, uint64_t start_ns, uint64_t end_ns,
                         uint32_t depth, uint32_t function_id)
{
    struct weft_lod_item *item = WEFT_VEC_PUSH(&lanes->found);
    if (!item)
        return false;
    *item = (struct weft_lod_item){
        .start_ns = start_ns,
        .end_ns = end_ns,
        .count = 1,
        .covered_ns = end_ns - start_ns,
        .longest_ns = end_ns - start_ns,
        .depth = depth,
        .function_id = function_id,
        .longest_function_id = function_id,
    };
    return true;
}

bool weft_lod_lanes_add(struct weft_lod_lanes *lanes, uint64_t unit_ns,
                        const struct weft_lod_part *part)
{
    const uint32_t column = column_of(lanes, unit_ns);
    struct weft_lod_lane *lane = &lanes->lanes.items[part->depth];
    struct weft_lod_item *item = &lane->item;
    if (item->count > 0 && item->column != column && !cluster_end(lanes, lane))
        return false;
    if (item->count == 0)
        *item = (struct weft_lod_item){
            .start_ns = part->start_ns,
            .depth = part->depth,
            .longest_function_id = part->longest_function_id,
            .column = column,
            .is_cluster = true,
        };
    item->start_ns = weft_min_u64(item->start_ns, part->start_ns);
    item->end_ns = weft_max_u64(item->end_ns, part->end_ns);
    item->count += part->count;
    item->covered_ns += part->covered_ns;
    if (part->longest_ns > item->longest_ns) {
        item->longest_ns = part->longest_ns;
        item->longest_function_id = part->longest_function_id;
    }
    return vote_add(lane, part->function_id, part->covered_ns);
}

/* ---- items ----------------------------------------------------------------------------------- */

static bool is_before(const struct weft_lod_item *a, const struct weft_lod_item *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->is_cluster < b->is_cluster;
}

/* Items of a depth are nearly in order: only a cluster comes late, when the next one begins. */
static void depth_sort(struct weft_lod_item *items, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (!is_before(&items[i], &items[i - 1]))
            continue;
        const struct weft_lod_item item = items[i];
        size_t at = i;
        for (; at > 0 && is_before(&item, &items[at - 1]); at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

/* The columns of calls, which were not asked for in order. */
static void columns_fill(struct weft_lod_lanes *lanes, struct weft_lod_item *items, size_t n)
{
    column_set(lanes, 0);
    for (size_t i = 0; i < n; i++)
        if (!items[i].is_cluster)
            items[i].column = column_of(lanes, items[i].start_ns);
}

bool weft_lod_lanes_end(struct weft_lod_lanes *lanes, const struct weft_lod_item **items,
                        size_t *n_items)
{
    const size_t n_depths = lanes->lanes.n;
    for (size_t i = 0; i < n_depths; i++)
        if (lanes->lanes.items[i].item.count > 0 && !cluster_end(lanes, &lanes->lanes.items[i]))
            return false;
    const size_t n = lanes->found.n;
    if (!weft_vec_reserve(&lanes->sorted.items, &lanes->sorted.cap, n + 1,
                          sizeof *lanes->sorted.items) ||
        !weft_vec_reserve(&lanes->first.items, &lanes->first.cap, n_depths + 1,
                          sizeof *lanes->first.items))
        return false;
    size_t *first = lanes->first.items;
    memset(first, 0, (n_depths + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[lanes->found.items[i].depth + 1]++;
    for (size_t i = 1; i <= n_depths; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < n; i++)
        lanes->sorted.items[first[lanes->found.items[i].depth]++] = lanes->found.items[i];
    for (size_t i = 0, begin = 0; i < n_depths; begin = first[i++]) {
        depth_sort(lanes->sorted.items + begin, first[i] - begin);
        columns_fill(lanes, lanes->sorted.items + begin, first[i] - begin);
    }
    *items = lanes->sorted.items;
    *n_items = n;
    return true;
}
