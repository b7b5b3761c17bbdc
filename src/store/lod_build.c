/* SPDX-License-Identifier: MIT
 *
 * Units from rows, and from smaller units.
 */
#include "store/lod_build.h"

#include "base/checked.h"
#include "store/chunk.h"
#include "store/contexts.h"

enum {
    FIRST_SLOTS = 1024,
    MAX_UNIT = 1 << 14,
    CELLS_A_CUT = 8,
    SLOW_CELLS = 2,     /* a cell is slow if it lasts longer than so many do on average */
    SILENT_ROWS = 64,   /* a silence is long if it is longer than so many rows take on average */
    MOST_SILENCES = 64, /* and so rare that a block has no more */
    SUM_DEPTHS = 64,
    JOINS = 2
};

/* Which calls of a unit stand alone. */
struct sieve {
    unsigned ratio;
    size_t least, most;
};

static const struct sieve of_cells = { WEFT_LOD_CELL_RATIO, 12, 32 };
static const struct sieve of_larger = { 4, 16, 64 };

/* ---- tables ---------------------------------------------------------------------------------- */

static size_t slot_of(const struct weft_lod_table *table, int32_t level, uint32_t function)
{
    return weft_lod_hash(level, function) & (table->n_slots - 1);
}

/* The slot of a pair, or the free one where it belongs. */
static size_t slot_find(const struct weft_lod_table *table, int32_t level, uint32_t function)
{
    size_t at = slot_of(table, level, function);
    for (; table->slots[at]; at = (at + 1) & (table->n_slots - 1)) {
        const struct weft_lod_pair *pair = &table->pairs.items[table->slots[at]];
        if (pair->function == function && pair->level == level)
            break;
    }
    return at;
}

static bool slots_grow(struct weft_lod_table *table)
{
    const size_t n_slots = table->n_slots ? 2 * table->n_slots : FIRST_SLOTS;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    for (size_t i = 1; i < table->pairs.n; i++) {
        const struct weft_lod_pair *pair = &table->pairs.items[i];
        slots[slot_find(table, pair->level, pair->function)] = (uint32_t)i;
    }
    return true;
}

/* The first pair is one that no call can have: free slots lead to it. */
static bool table_start(struct weft_lod_table *table)
{
    if ((table->n_slots == 0 && !slots_grow(table)) ||
        (table->pairs.n == 0 && !WEFT_VEC_PUSH(&table->pairs)))
        return false;
    table->pairs.items[0].level = INT32_MIN;
    return true;
}

/* The pair, made if it is new; NULL without memory. */
static struct weft_lod_pair *pair_get(struct weft_lod_table *table, int32_t level,
                                      uint32_t function)
{
    if (!table_start(table) || (2 * table->pairs.n > table->n_slots && !slots_grow(table)))
        return NULL;
    const size_t at = slot_find(table, level, function);
    if (table->slots[at])
        return &table->pairs.items[table->slots[at]];
    struct weft_lod_pair *pair = WEFT_VEC_PUSH(&table->pairs);
    if (!pair)
        return NULL;
    pair->level = level;
    pair->function = function;
    table->slots[at] = (uint32_t)(table->pairs.n - 1);
    return pair;
}

static void table_reset(struct weft_lod_table *table)
{
    table->pairs.n = 0;
    if (table->slots)
        memset(table->slots, 0, table->n_slots * sizeof *table->slots);
}

static void table_fini(struct weft_lod_table *table)
{
    WEFT_VEC_FINI(&table->pairs);
    free(table->slots);
    table->slots = NULL;
    table->n_slots = 0;
}

/* ---- growing units --------------------------------------------------------------------------- */

static void growing_start(struct weft_lod_growing *growing, uint64_t start_ns)
{
    table_reset(&growing->table);
    growing->calls.n = 0;
    growing->start_ns = start_ns;
    growing->block_bytes = 0;
    growing->n_members = 0;
    growing->is_broken = false;
}

static void growing_fini(struct weft_lod_growing *growing)
{
    table_fini(&growing->table);
    WEFT_VEC_FINI(&growing->calls);
    free(growing->durations);
}

static bool pair_add(struct weft_lod_growing *growing, const struct weft_lod_pair *from)
{
    struct weft_lod_pair *pair = pair_get(&growing->table, from->level, from->function);
    if (!pair)
        return false;
    if (pair->count == 0 || from->first_ns < pair->first_ns)
        pair->first_ns = from->first_ns;
    pair->last_ns = weft_max_u64(pair->last_ns, from->last_ns);
    pair->longest_ns = weft_max_u64(pair->longest_ns, from->longest_ns);
    pair->count += from->count;
    pair->covered_ns += from->covered_ns;
    return true;
}

static bool call_add(struct weft_lod_growing *growing, const struct weft_lod_call *call)
{
    struct weft_lod_call *place = WEFT_VEC_PUSH(&growing->calls);
    if (place)
        *place = *call;
    return place != NULL;
}

static int compare_calls(const void *a, const void *b)
{
    const struct weft_lod_call *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->depth > y->depth) - (x->depth < y->depth);
}

static void swap_u64(uint64_t *a, uint64_t *b)
{
    const uint64_t x = *a;
    *a = *b;
    *b = x;
}

/* The k-th greatest value (from 0), which all before it in `values` are not less than then, nor all
 * behind it greater. Hoare's selection, around the middle value of three. */
static uint64_t select_greatest(uint64_t *values, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (values[mid] > values[low])
            swap_u64(&values[mid], &values[low]);
        if (values[high] > values[low])
            swap_u64(&values[high], &values[low]);
        if (values[high] > values[mid])
            swap_u64(&values[high], &values[mid]);
        const uint64_t pivot = values[mid];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (values[i] > pivot)
                i++;
            while (values[j] < pivot)
                j--;
            if (i >= j)
                break;
            swap_u64(&values[i], &values[j]);
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[k];
}

/* The duration that calls which stand alone exceed. False without memory. */
static bool short_find(struct weft_lod_growing *growing, uint64_t end_ns, const struct sieve *sieve,
                       uint64_t *short_ns)
{
    const size_t n = growing->calls.n;
    size_t n_long = 0;
    *short_ns = (end_ns - growing->start_ns) / sieve->ratio;
    for (size_t i = 0; i < n; i++)
        n_long += growing->calls.items[i].end_ns - growing->calls.items[i].start_ns > *short_ns;
    if (n_long >= sieve->least && n_long <= sieve->most)
        return true;
    const size_t k = n_long < sieve->least ? sieve->least : sieve->most;
    if (n <= k) {
        *short_ns = 0;
        return true;
    }
    if (!weft_vec_reserve(&growing->durations, &growing->cap_durations, n,
                          sizeof *growing->durations))
        return false;
    for (size_t i = 0; i < n; i++)
        growing->durations[i] = growing->calls.items[i].end_ns - growing->calls.items[i].start_ns;
    *short_ns = select_greatest(growing->durations, n, k);
    return true;
}

/* Calls that are short for the unit join the sums; the others are put in order. */
static bool calls_sift(struct weft_lod_growing *growing, uint64_t end_ns, const struct sieve *sieve)
{
    uint64_t short_ns;
    if (!short_find(growing, end_ns, sieve, &short_ns))
        return false;
    size_t n = 0;
    bool is_sorted = true;
    for (size_t i = 0; i < growing->calls.n; i++) {
        const struct weft_lod_call *call = &growing->calls.items[i];
        const uint64_t duration_ns = call->end_ns - call->start_ns;
        if (duration_ns > short_ns) {
            is_sorted &= n == 0 || compare_calls(&growing->calls.items[n - 1], call) <= 0;
            growing->calls.items[n++] = *call;
            continue;
        }
        const struct weft_lod_pair pair = { 1,
                                            duration_ns,
                                            duration_ns,
                                            call->start_ns,
                                            weft_min_u64(call->end_ns, end_ns),
                                            call->function,
                                            call->depth };
        if (!pair_add(growing, &pair))
            return false;
    }
    growing->calls.n = n;
    if (!is_sorted)
        qsort(growing->calls.items, n, sizeof *growing->calls.items, compare_calls);
    return true;
}

/* The sums of one depth while pairs are added in any order. */
struct depth_sum {
    struct weft_lod_sum sum;
    uint64_t most_ns, first_ns, last_ns;
};

static void depth_add(struct depth_sum *into, const struct weft_lod_pair *pair)
{
    struct weft_lod_sum *sum = &into->sum;
    if (sum->count == 0)
        *into = (struct depth_sum){ .sum = { .depth = pair->level,
                                             .function = pair->function,
                                             .longest_function = pair->function },
                                    .first_ns = UINT64_MAX };
    if (pair->covered_ns > into->most_ns ||
        (pair->covered_ns == into->most_ns && pair->function < sum->function)) {
        into->most_ns = pair->covered_ns;
        sum->function = pair->function;
    }
    if (pair->longest_ns > sum->longest_ns ||
        (pair->longest_ns == sum->longest_ns && pair->function < sum->longest_function)) {
        sum->longest_ns = pair->longest_ns;
        sum->longest_function = pair->function;
    }
    sum->count += pair->count;
    sum->covered_ns += pair->covered_ns;
    into->first_ns = weft_min_u64(into->first_ns, pair->first_ns);
    into->last_ns = weft_max_u64(into->last_ns, pair->last_ns);
}

static bool depth_put(const struct depth_sum *depth, uint64_t start_ns, uint64_t end_ns,
                      struct weft_lod_units *units)
{
    struct weft_lod_sum *sum = WEFT_VEC_PUSH(&units->sums);
    if (!sum)
        return false;
    const uint64_t step_ns = weft_lod_step_ns(start_ns, end_ns);
    const uint64_t first = (depth->first_ns - start_ns) / step_ns;
    const uint64_t end = (depth->last_ns - start_ns + step_ns - 1) / step_ns;
    *sum = depth->sum;
    sum->first = (uint8_t)first;
    sum->end = (uint8_t)weft_max_u64(end, first + 1);
    return true;
}

/* Sums of all pairs by depth: of up to SUM_DEPTHS at a time, so that nothing needs sorting. */
static bool sums_put(const struct weft_lod_growing *growing, uint64_t end_ns,
                     struct weft_lod_units *units)
{
    const struct weft_lod_pair *pairs = growing->table.pairs.items;
    const size_t n = growing->table.pairs.n;
    int32_t low = INT32_MAX, high = INT32_MIN;
    for (size_t i = 1; i < n; i++) {
        low = pairs[i].level < low ? pairs[i].level : low;
        high = pairs[i].level > high ? pairs[i].level : high;
    }
    struct depth_sum depths[SUM_DEPTHS];
    for (; low <= high; low += SUM_DEPTHS) {
        for (int i = 0; i < SUM_DEPTHS; i++)
            depths[i].sum.count = 0;
        for (size_t i = 1; i < n; i++)
            if (pairs[i].level >= low && pairs[i].level < low + SUM_DEPTHS)
                depth_add(&depths[pairs[i].level - low], &pairs[i]);
        for (int i = 0; i < SUM_DEPTHS; i++)
            if (depths[i].sum.count > 0 && !depth_put(&depths[i], growing->start_ns, end_ns, units))
                return false;
    }
    return true;
}

/* The unit ends: it is appended to `units`. Its calls and pairs stay, for the unit around it. */
static bool growing_finish(struct weft_lod_growing *growing, uint64_t end_ns,
                           const struct sieve *sieve, struct weft_lod_units *units)
{
    if (!calls_sift(growing, end_ns, sieve))
        return false;
    end_ns = growing->start_ns;
    for (size_t i = 1; i < growing->table.pairs.n; i++)
        end_ns = weft_max_u64(end_ns, growing->table.pairs.items[i].last_ns);
    const size_t n_calls = growing->calls.n, first_call = units->calls.n;
    struct weft_lod_unit *unit = WEFT_VEC_PUSH(&units->units);
    if (!unit || !weft_vec_reserve(&units->calls.items, &units->calls.cap, first_call + n_calls,
                                   sizeof *units->calls.items))
        return false;
    *unit = (struct weft_lod_unit){ .start_ns = growing->start_ns,
                                    .end_ns = end_ns,
                                    .first_call = (uint32_t)first_call,
                                    .n_calls = (uint32_t)n_calls,
                                    .first_sum = (uint32_t)units->sums.n };
    if (n_calls > 0)
        memcpy(units->calls.items + first_call, growing->calls.items,
               n_calls * sizeof *growing->calls.items);
    units->calls.n += n_calls;
    if (!sums_put(growing, end_ns, units))
        return false;
    unit->n_sums = (uint32_t)(units->sums.n - unit->first_sum);
    return true;
}

/* Adds a finished unit to the one around it; `keys`, unless NULL, translates functions. */
static bool growing_add(struct weft_lod_growing *into, const struct weft_lod_growing *from,
                        const uint32_t *keys)
{
    for (size_t i = 0; i < from->calls.n; i++) {
        struct weft_lod_call call = from->calls.items[i];
        if (keys)
            call.function = keys[call.function];
        if (!call_add(into, &call))
            return false;
    }
    for (size_t i = 1; i < from->table.pairs.n; i++) {
        struct weft_lod_pair pair = from->table.pairs.items[i];
        if (keys)
            pair.function = keys[pair.function];
        if (!pair_add(into, &pair))
            return false;
    }
    into->n_members++;
    return true;
}

/* ---- the table of the cell in work ------------------------------------------------------------
 */

static void hot_table_set(struct weft_lod_walk *walk)
{
    walk->hot.pairs = walk->table.pairs.items;
    walk->hot.slots = walk->table.slots;
    walk->hot.mask = (uint32_t)(walk->table.n_slots - 1);
}

static bool hot_table_start(struct weft_lod_walk *walk)
{
    table_reset(&walk->table);
    const bool is_ok = table_start(&walk->table);
    if (is_ok)
        hot_table_set(walk);
    return is_ok;
}

/* ---- the walk over a block ------------------------------------------------------------------- */

void weft_lod_walk_fini(struct weft_lod_walk *walk)
{
    WEFT_VEC_FINI(&walk->frames);
    table_fini(&walk->table);
    WEFT_VEC_FINI(&walk->pairs);
    WEFT_VEC_FINI(&walk->cells);
    WEFT_VEC_FINI(&walk->candidates);
    WEFT_VEC_FINI(&walk->ended);
    free(walk->candidate_of);
    growing_fini(&walk->cell);
    growing_fini(&walk->group);
    growing_fini(&walk->block);
    for (int i = 0; i < 2; i++)
        weft_lod_units_fini(&walk->units[i]);
    weft_lod_units_fini(&walk->whole);
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        weft_bytes_fini(&walk->streams[i]);
    weft_bytes_fini(&walk->payload);
}

static uint64_t part_of(uint64_t span_ns, uint64_t n_parts)
{
    return n_parts ? span_ns / n_parts : UINT64_MAX;
}

bool weft_lod_walk_start(struct weft_lod_walk *walk, const struct weft_block_head *head,
                         size_t n_open, uint32_t cell_rows)
{
    const size_t n_frames = n_open + head->n_rows + 1;
    walk->pairs.n = walk->cells.n = walk->candidates.n = walk->ended.n = 0;
    walk->has_failed = false;
    walk->cell_rows = cell_rows;
    if (!weft_vec_reserve(&walk->frames.items, &walk->frames.cap, n_frames,
                          sizeof *walk->frames.items) ||
        !weft_vec_reserve(&walk->candidate_of, &walk->cap_rows, head->n_rows,
                          sizeof *walk->candidate_of))
        return false;
    for (size_t i = 0; i < n_open; i++)
        walk->frames.items[i] = (struct weft_lod_frame){ .row = WEFT_LOD_CARRIED };
    if (!hot_table_start(walk))
        return false;
    walk->hot.now_ns = head->first_event_ns;
    walk->hot.cell_start_ns = head->first_ns;
    walk->hot.frames = walk->frames.items;
    const uint64_t span_ns = head->last_ns - head->first_ns;
    walk->hot.slow_ns = part_of(span_ns, head->n_rows / cell_rows / SLOW_CELLS);
    walk->hot.silence_ns =
        part_of(span_ns, weft_min_u64(head->n_rows / SILENT_ROWS, MOST_SILENCES));
    walk->hot.n_rows = walk->hot.cell_row = 0;
    walk->hot.cut_rows = cell_rows < CELLS_A_CUT ? 1 : cell_rows / CELLS_A_CUT;
    walk->hot.cell_end = walk->hot.cut_rows;
    walk->hot.n_cut = (int32_t)head->n_cut_before;
    if (head->n_rows == 0)
        return true;
    memset(walk->candidate_of, 0, head->n_rows * sizeof *walk->candidate_of);
    struct weft_lod_walked *cell = WEFT_VEC_PUSH(&walk->cells);
    if (cell)
        cell->start_ns = head->first_ns;
    return cell != NULL;
}

/* Puts the pairs of the cell aside, but for the first, which belongs to no cell. */
static bool cell_end(struct weft_lod_walk *walk)
{
    const size_t n = walk->table.pairs.n - 1;
    if (!weft_vec_reserve(&walk->pairs.items, &walk->pairs.cap, walk->pairs.n + n,
                          sizeof *walk->pairs.items))
        return false;
    if (n > 0)
        memcpy(walk->pairs.items + walk->pairs.n, walk->table.pairs.items + 1,
               n * sizeof *walk->pairs.items);
    walk->pairs.n += n;
    return hot_table_start(walk);
}

static void cell_next(struct weft_lod_walk *walk)
{
    struct weft_lod_hot *hot = &walk->hot;
    const bool is_ok = cell_end(walk);
    struct weft_lod_walked *cell = WEFT_VEC_PUSH(&walk->cells);
    hot->cell_row = hot->n_rows;
    hot->cell_start_ns = hot->now_ns;
    if (is_ok && cell)
        *cell = (struct weft_lod_walked){ hot->now_ns, walk->pairs.n, hot->n_rows };
    else
        walk->has_failed = true;
}

/* Where calls come slowly, a cell of many would lie over many pixels of a screen that shows the
 * whole block: it ends early. */
void weft_lod_cell_check(struct weft_lod_walk *walk)
{
    struct weft_lod_hot *hot = &walk->hot;
    if (hot->cell_end == 0 || hot->n_rows - hot->cell_row >= walk->cell_rows ||
        hot->now_ns - hot->cell_start_ns > hot->slow_ns)
        cell_next(walk);
    hot->cell_end = hot->n_rows + hot->cut_rows;
    if (hot->cell_end - hot->cell_row > walk->cell_rows)
        hot->cell_end = hot->cell_row + walk->cell_rows;
}

void weft_lod_candidate(struct weft_lod_walk *walk, uint32_t depth)
{
    const uint64_t now_ns = walk->hot.now_ns;
    const int32_t level = (int32_t)depth - walk->hot.n_cut;
    const struct weft_lod_frame *frame = &walk->hot.frames[depth];
    if (frame->row == WEFT_LOD_CARRIED) {
        struct weft_lod_ended *ended = WEFT_VEC_PUSH(&walk->ended);
        if (ended)
            *ended = (struct weft_lod_ended){ depth, level, now_ns };
        walk->has_failed |= !ended;
        return;
    }
    struct weft_lod_call *call = WEFT_VEC_PUSH(&walk->candidates);
    if (call) {
        *call = (struct weft_lod_call){ frame->start_ns, now_ns, frame->function, level };
        walk->candidate_of[frame->row] = (uint32_t)walk->candidates.n;
    }
    walk->has_failed |= !call;
}

void weft_lod_pair_add(struct weft_lod_walk *walk, uint32_t depth)
{
    struct weft_lod_hot *hot = &walk->hot;
    const struct weft_lod_frame *frame = &hot->frames[depth];
    const uint64_t duration_ns = hot->now_ns - frame->start_ns;
    struct weft_lod_pair *pair =
        pair_get(&walk->table, (int32_t)depth - hot->n_cut, frame->function);
    if (!pair) {
        walk->has_failed = true;
        return;
    }
    if (pair->count++ == 0)
        pair->first_ns = frame->start_ns;
    pair->covered_ns += duration_ns;
    pair->longest_ns = weft_max_u64(pair->longest_ns, duration_ns);
    pair->last_ns = hot->now_ns;
    hot_table_set(walk);
}

/* Cell `index` of the block is whole: appended to the cells, and joined to its group. */
static bool cell_finish(struct weft_lod_walk *walk, const struct weft_block_head *head,
                        size_t index)
{
    const bool is_last = index + 1 == walk->cells.n;
    const struct weft_lod_walked *cell = &walk->cells.items[index];
    const size_t end_pair = is_last ? walk->pairs.n : cell[1].first_pair;
    const uint64_t end_ns = is_last ? head->last_ns : cell[1].start_ns;
    const uint32_t end_row = is_last ? head->n_rows : cell[1].first_row;
    growing_start(&walk->cell, cell->start_ns);
    for (size_t i = cell->first_pair; i < end_pair; i++)
        if (!pair_add(&walk->cell, &walk->pairs.items[i]))
            return false;
    for (uint32_t row = cell->first_row; row < end_row; row++)
        if (walk->candidate_of[row] &&
            !call_add(&walk->cell, &walk->candidates.items[walk->candidate_of[row] - 1]))
            return false;
    if (!growing_finish(&walk->cell, end_ns, &of_cells, &walk->units[0]))
        return false;
    walk->units[0].units.items[index].n_rows = end_row - cell->first_row;
    return true;
}

/* Functions by their place in the sorted dictionary. */
static void functions_rank(struct weft_lod_walk *walk, const uint16_t *rank)
{
    for (size_t i = 0; i < walk->pairs.n; i++)
        walk->pairs.items[i].function = rank[walk->pairs.items[i].function];
    for (size_t i = 0; i < walk->candidates.n; i++)
        walk->candidates.items[i].function = rank[walk->candidates.items[i].function];
}

/* Joins neighbours that together are not slow. False if there are none. */
static bool cells_join(struct weft_lod_walk *walk, uint64_t last_ns)
{
    struct weft_lod_walked *cells = walk->cells.items;
    const size_t n_cells = walk->cells.n;
    size_t n = 0;
    for (size_t i = 0; i < n_cells; n++) {
        const uint64_t end_ns = i + 2 < n_cells ? cells[i + 2].start_ns : last_ns;
        const bool is_pair = i + 1 < n_cells && end_ns - cells[i].start_ns <= walk->hot.slow_ns;
        cells[n] = cells[i];
        i += is_pair ? 2 : 1;
    }
    walk->cells.n = n;
    return n < n_cells;
}

static bool cells_finish(struct weft_lod_walk *walk, const struct weft_block_head *head,
                         const uint32_t *keys)
{
    weft_lod_units_reset(&walk->units[0]);
    weft_lod_units_reset(&walk->units[1]);
    growing_start(&walk->block, head->first_ns);
    for (size_t i = 0; i < walk->cells.n; i++) {
        if (i % WEFT_LOD_GROUP_CELLS == 0)
            growing_start(&walk->group, walk->cells.items[i].start_ns);
        if (!cell_finish(walk, head, i) || !growing_add(&walk->group, &walk->cell, NULL))
            return false;
        const bool is_last = i + 1 == walk->cells.n;
        if (!is_last && (i + 1) % WEFT_LOD_GROUP_CELLS != 0)
            continue;
        const uint64_t end_ns = is_last ? head->last_ns : walk->cells.items[i + 1].start_ns;
        if (!growing_finish(&walk->group, end_ns, &of_larger, &walk->units[1]) ||
            !growing_add(&walk->block, &walk->group, keys))
            return false;
    }
    return true;
}

/* ---- the chunk of a block -------------------------------------------------------------------- */

/* Groups of cells stand before the cells. */
static bool units_put(struct weft_lod_walk *walk)
{
    struct weft_bytes *streams[WEFT_LOD_STREAMS];
    for (int i = 0; i < WEFT_LOD_STREAMS; i++) {
        streams[i] = &walk->streams[i];
        streams[i]->n = 0;
    }
    for (int level = 1; level >= 0; level--) {
        const struct weft_lod_units *units = &walk->units[level];
        uint64_t start_ns = units->units.items[0].start_ns;
        for (size_t i = 0; i < units->units.n; i++) {
            weft_bytes_put_varint(streams[WEFT_LOD_COUNTS],
                                  units->units.items[i].start_ns - start_ns);
            start_ns = units->units.items[i].start_ns;
            if (level == 0)
                weft_bytes_put_varint(streams[WEFT_LOD_COUNTS], units->units.items[i].n_rows);
            weft_lod_put(units, i, streams);
        }
    }
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        if (streams[i]->has_failed)
            return false;
    return true;
}

/* Makes walk->payload. */
static bool payload_put(struct weft_lod_walk *walk, const struct weft_block_head *head,
                        struct weft_column_encoder *columns)
{
    static const bool is_repetitive[WEFT_LOD_STREAMS] = {
        [WEFT_LOD_CALLS] = true, [WEFT_LOD_SUMS] = true
    };
    struct weft_bytes *payload = &walk->payload;
    if (!units_put(walk))
        return false;
    payload->n = 0;
    weft_bytes_put_varint(payload, head->thread_id);
    weft_bytes_put_varint(payload, head->block);
    weft_bytes_put_varint(payload, walk->cells.n);
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        weft_bytes_put_varint(payload, walk->streams[i].n);
    for (int i = 0; i < WEFT_LOD_STREAMS; i++) {
        const struct weft_bytes *stream = &walk->streams[i];
        const size_t at = payload->n;
        weft_bytes_put(payload, (const uint8_t[5]){ 0 }, 5); /* codec and length, known later */
        const enum weft_codec codec = weft_column_encode(
            columns, is_repetitive[i] ? WEFT_COLUMN_REPETITIVE : WEFT_COLUMN_NOISE, stream->items,
            stream->n, payload);
        if (payload->has_failed)
            return false;
        payload->items[at] = (uint8_t)codec;
        weft_store_u32(payload->items + at + 1, (uint32_t)(payload->n - at - 5));
    }
    return !payload->has_failed;
}

/* Makes the units of the block and their chunk. Where they are more than they are worth, cells are
 * joined and it is tried again; after JOINS times there is no chunk. */
static bool chunk_put(struct weft_lod_walk *walk, const struct weft_block_head *head,
                      const uint32_t *keys, struct weft_column_encoder *columns,
                      struct weft_bytes *chunk)
{
    /* With the contexts at most a third of the rest, that is a quarter of all; the groups of blocks
     * have what is left. */
    const uint64_t contexts = head->columns[WEFT_COLUMN_CONTEXTS].stored_bytes;
    const uint64_t limit = weft_sub_sat_u64((chunk->n - contexts) * 5 / 16, contexts);
    for (int i = 0; i <= JOINS; i++) {
        if (i > 0 && !cells_join(walk, head->last_ns))
            return true;
        if (!cells_finish(walk, head, keys) ||
            (walk->cells.n > 0 && !payload_put(walk, head, columns)))
            return false;
        if (walk->cells.n == 0)
            return true;
        if (walk->payload.n > limit)
            continue;
        weft_chunk_build(WEFT_CHUNK_DETAILS, 0, &walk->payload, NULL, chunk);
        return !walk->payload.has_failed;
    }
    return true;
}

/* ---- a thread -------------------------------------------------------------------------------- */

void weft_lod_thread_start(struct weft_lod_thread *thread)
{
    thread->carried.n = 0;
    thread->entries.n = 0;
    for (size_t i = 0; i < WEFT_LOD_LEVELS; i++)
        thread->groups[i].n_members = 0;
}

void weft_lod_thread_fini(struct weft_lod_thread *thread)
{
    WEFT_VEC_FINI(&thread->carried);
    for (size_t i = 0; i < WEFT_LOD_LEVELS; i++)
        growing_fini(&thread->groups[i]);
    weft_bytes_fini(&thread->entries);
}

/* A call that crossed a border of blocks belongs to the smallest group that holds it whole. */
static bool ended_add(struct weft_lod_thread *thread, const struct weft_lod_ended *ended,
                      uint64_t block)
{
    const struct weft_lod_carried *carried = &thread->carried.items[ended->index];
    for (unsigned i = 0; i < WEFT_LOD_LEVELS; i++) {
        const unsigned shift = 4 * (i + 1);
        if (carried->block >> shift != block >> shift)
            continue;
        const struct weft_lod_call call = { carried->start_ns, ended->end_ns, carried->key,
                                            ended->level };
        return call_add(&thread->groups[i], &call);
    }
    return true;
}

bool weft_lod_thread_walked(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                            const struct weft_block_head *head, const uint32_t *keys, size_t n_open)
{
    if (walk->has_failed)
        return false;
    for (size_t i = 0; i < walk->ended.n; i++)
        if (!ended_add(thread, &walk->ended.items[i], head->block))
            return false;
    if (!weft_vec_reserve(&thread->carried.items, &thread->carried.cap, n_open,
                          sizeof *thread->carried.items))
        return false;
    for (size_t i = 0; i < n_open; i++) {
        const struct weft_lod_frame *frame = &walk->frames.items[i];
        if (frame->row != WEFT_LOD_CARRIED)
            thread->carried.items[i] =
                (struct weft_lod_carried){ frame->start_ns, head->block, keys[frame->function] };
    }
    thread->carried.n = n_open;
    return true;
}

/* Appends the only unit of `units`, or nothing where it is more than it is worth. */
static bool entry_put(struct weft_lod_walk *walk, struct weft_bytes *entries, bool is_known,
                      uint64_t limit)
{
    struct weft_bytes *bytes = &walk->payload;
    struct weft_bytes *streams[WEFT_LOD_STREAMS];
    for (int i = 0; i < WEFT_LOD_STREAMS; i++)
        streams[i] = bytes;
    bytes->n = 0;
    if (is_known)
        weft_lod_put(&walk->whole, 0, streams);
    if (bytes->n > limit)
        bytes->n = 0;
    weft_bytes_put_varint(entries, bytes->n);
    weft_bytes_put(entries, bytes->items, bytes->n);
    return !bytes->has_failed && !entries->has_failed;
}

/* Finishes `growing`, all of whose functions are keys, and writes it down. */
static bool whole_put(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                      struct weft_lod_growing *growing, uint64_t end_ns, unsigned level)
{
    weft_lod_units_reset(&walk->whole);
    growing->is_broken |= growing->calls.n > MAX_UNIT || growing->table.pairs.n > MAX_UNIT;
    if (!growing->is_broken && !growing_finish(growing, end_ns, &of_larger, &walk->whole))
        return false;
    return entry_put(walk, &thread->entries, !growing->is_broken,
                     weft_lod_limit(growing->block_bytes, level));
}

static bool groups_add(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                       const struct weft_block_head *head)
{
    struct weft_lod_growing *member = &walk->block;
    for (unsigned i = 0; i < WEFT_LOD_LEVELS; i++) {
        struct weft_lod_growing *group = &thread->groups[i];
        if (group->n_members == 0)
            growing_start(group, member->start_ns);
        group->block_bytes += member->block_bytes;
        group->is_broken |= member->is_broken || group->calls.n > MAX_UNIT;
        if (group->is_broken)
            group->n_members++;
        else if (!growing_add(group, member, NULL))
            return false;
        if (group->n_members < WEFT_CONTEXT_GROUP)
            return true;
        if (!whole_put(thread, walk, group, head->last_ns, i + 1))
            return false;
        group->n_members = 0;
        member = group;
    }
    return true;
}

bool weft_lod_block_finish(struct weft_lod_thread *thread, struct weft_lod_walk *walk,
                           const struct weft_block_head *head, const uint16_t *rank,
                           const uint32_t *keys, struct weft_column_encoder *columns,
                           struct weft_bytes *chunk)
{
    const uint64_t block_bytes = chunk->n;
    if (!cell_end(walk))
        return false;
    functions_rank(walk, rank);
    if (!chunk_put(walk, head, keys, columns, chunk))
        return false;
    walk->block.block_bytes = block_bytes;
    return whole_put(thread, walk, &walk->block, head->last_ns, 0) &&
           groups_add(thread, walk, head);
}
