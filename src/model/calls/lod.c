/* SPDX-License-Identifier: MIT
 *
 * From the largest units that are short enough, down to calls; then from parts to items.
 */
#include "model/calls/lod.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/calls/lod_lanes.h"
#include "model/calls/parts.h"
#include "store/block_part.h"
#include "store/lod.h"
#include "store/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- lod cache ------------------------------------------------------------------------------- */

/* What a reader of levels of detail keeps from query to query: a few blocks, opened, and the cells
 * of many. Least recently used ones go first: cells by thread
 * and block in a hash table with chains, in a list by last use, at most 64 MiB. A cell's calls are
 * copied out of their block, so that they stay valid when the block is dropped. */

/* The calls of a cell or of a part of a block, as weft_calls has them. */
struct weft_lod_rows {
    const uint64_t *start_ns, *end_ns;
    const uint32_t *function_id, *depth;
    uint32_t n;
};

struct weft_lod_cell_rows {
    struct weft_lod_rows rows;
    uint64_t *room; /* that they stand in; NULL: not asked for */
};

/* Cells of a block. */
struct weft_lod_details {
    struct weft_lod_cell_rows *rows; /* by cell; or NULL */
    struct weft_lod_units units[2];  /* weft_store_details */
    bool is_known;
    uint32_t thread_id;
    uint64_t block;
    size_t n_bytes;
    struct weft_lod_details *next_in_slot;  /* hash table */
    struct weft_lod_details *newer, *older; /* by use */
};

struct weft_lod_cache {
    struct weft_store *store;
    struct weft_block_buf *buf; /* for reading cells */
    struct weft_parts opened;
    struct weft_lod_details **slots;
    struct weft_lod_details *newest, *oldest;
    size_t n_bytes;
};

enum { SLOTS = 1 << 12, MOST_BYTES = 64 << 20 };

/* False without memory. */
static bool weft_lod_cache_init(struct weft_lod_cache *cache, struct weft_store *store)
{
    cache->store = store;
    cache->buf = weft_block_buf_new();
    cache->slots = calloc(SLOTS, sizeof(struct weft_lod_details *));
    return cache->buf && cache->slots;
}

static void details_free(struct weft_lod_details *details)
{
    for (size_t i = 0; details->rows && i < details->units[0].units.n; i++)
        free(details->rows[i].room);
    free(details->rows);
    weft_lod_units_fini(&details->units[0]);
    weft_lod_units_fini(&details->units[1]);
    free(details);
}

static void weft_lod_cache_fini(struct weft_lod_cache *cache)
{
    weft_parts_fini(&cache->opened);
    weft_block_buf_free(cache->buf);
    while (cache->newest) {
        struct weft_lod_details *older = cache->newest->older;
        details_free(cache->newest);
        cache->newest = older;
    }
    free(cache->slots);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static struct weft_lod_details **slot_of(struct weft_lod_cache *cache, uint32_t thread_id,
                                         uint64_t block)
{
    return &cache->slots[(block * 31 + thread_id * UINT64_C(769)) % SLOTS];
}

/* Takes the entry out of the order of use. */
static void order_leave(struct weft_lod_cache *cache, struct weft_lod_details *details)
{
    *(details->newer ? &details->newer->older : &cache->newest) = details->older;
    *(details->older ? &details->older->newer : &cache->oldest) = details->newer;
}

static void order_enter(struct weft_lod_cache *cache, struct weft_lod_details *details)
{
    details->newer = NULL;
    details->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = details;
    cache->newest = details;
}

static void details_drop(struct weft_lod_cache *cache, struct weft_lod_details *details)
{
    struct weft_lod_details **link = slot_of(cache, details->thread_id, details->block);
    while (*link != details)
        link = &(*link)->next_in_slot;
    *link = details->next_in_slot;
    order_leave(cache, details);
    cache->n_bytes -= details->n_bytes;
    details_free(details);
}

/* Room for so many bytes, but not that of `kept`. */
static void make_room(struct weft_lod_cache *cache, size_t n_bytes,
                      const struct weft_lod_details *kept)
{
    while (cache->oldest && cache->oldest != kept && cache->n_bytes + n_bytes > MOST_BYTES)
        details_drop(cache, cache->oldest);
}

static size_t units_bytes(const struct weft_lod_units *units)
{
    return units->units.cap * sizeof *units->units.items +
           units->calls.cap * sizeof *units->calls.items +
           units->sums.cap * sizeof *units->sums.items;
}

static enum weft_code details_read(struct weft_lod_cache *cache, struct weft_lod_details *details,
                                   struct weft_err *err)
{
    enum weft_code code = weft_store_details(cache->store, details->thread_id, details->block,
                                             cache->buf, details->units, &details->is_known, err);
    if (code) {
        details_free(details);
        return code;
    }
    details->n_bytes =
        sizeof *details + units_bytes(&details->units[0]) + units_bytes(&details->units[1]);
    make_room(cache, details->n_bytes, NULL);
    struct weft_lod_details **slot = slot_of(cache, details->thread_id, details->block);
    details->next_in_slot = *slot;
    *slot = details;
    order_enter(cache, details);
    cache->n_bytes += details->n_bytes;
    return WEFT_OK;
}

/* Its cells; valid until the next call. */
static enum weft_code weft_lod_cache_details(struct weft_lod_cache *cache, uint32_t thread_id,
                                             uint64_t block, struct weft_lod_details **out,
                                             struct weft_err *err)
{
    struct weft_lod_details *details = *slot_of(cache, thread_id, block);
    while (details && (details->thread_id != thread_id || details->block != block))
        details = details->next_in_slot;
    enum weft_code code = WEFT_OK;
    if (details) {
        order_leave(cache, details);
        order_enter(cache, details);
    } else {
        details = calloc(1, sizeof *details);
        if (!details)
            return weft_no_memory(err, "a level of detail");
        details->thread_id = thread_id;
        details->block = block;
        code = details_read(cache, details, err);
    }
    if (code == WEFT_OK)
        *out = details;
    return code;
}

/* ---- the calls of a cell --------------------------------------------------------------------- */

static bool rows_copy(struct weft_lod_cell_rows *cell, const struct weft_calls *calls)
{
    const size_t n = calls->n_rows;
    uint64_t *start_ns = malloc(n * 24 + 1);
    if (!start_ns)
        return false;
    uint64_t *end_ns = start_ns + n;
    uint32_t *function_id = (uint32_t *)(end_ns + n), *depth = function_id + n;
    memcpy(start_ns, calls->start_ns, n * sizeof *start_ns);
    memcpy(end_ns, calls->end_ns, n * sizeof *end_ns);
    memcpy(function_id, calls->function_id, n * sizeof *function_id);
    memcpy(depth, calls->depth, n * sizeof *depth);
    cell->rows = (struct weft_lod_rows){ start_ns, end_ns, function_id, depth, (uint32_t)n };
    cell->room = start_ns;
    return true;
}

/* The calls of cell `index` of those cells, which begins with row `first` of the block; valid as
 * long as they. *is_loaded: the block had to be decoded. */
static enum weft_code weft_lod_cache_cell(struct weft_lod_cache *cache,
                                          struct weft_lod_details *details, size_t index,
                                          uint64_t first, const struct weft_lod_rows **rows,
                                          bool *is_loaded, struct weft_err *err)
{
    const size_t n_cells = details->units[0].units.n;
    const uint32_t n = details->units[0].units.items[index].n_rows;
    if (!details->rows)
        details->rows = calloc(n_cells, sizeof *details->rows);
    if (!details->rows)
        return weft_no_memory(err, "the calls of a cell");
    *rows = &details->rows[index].rows;
    *is_loaded = false;
    if (details->rows[index].room)
        return WEFT_OK;
    struct weft_block_part *part = NULL;
    struct weft_calls calls;
    enum weft_code code = weft_parts_open(&cache->opened, cache->store, details->thread_id,
                                          details->block, &part, err);
    if (!code)
        code = weft_block_part_rows(part, first, first + n, &calls, err);
    if (code)
        return code;
    *is_loaded = true;
    make_room(cache, (size_t)n * 24, details);
    if (!rows_copy(&details->rows[index], &calls))
        return weft_no_memory(err, "the calls of a cell");
    details->n_bytes += (size_t)n * 24;
    cache->n_bytes += (size_t)n * 24;
    return WEFT_OK;
}

/* ---- lod ------------------------------------------------------------------------------------- */

/* Units larger than cells are at most so long; cells, WEFT_LOD_MAX_PIXELS. */
enum { GROUP_PIXELS = 4 };

struct weft_lod_reader {
    const struct weft_trace *trace;
    struct weft_lod_cache cache;
    struct weft_lod_lanes lanes;
    struct weft_lod_units unit; /* a block or a group of blocks */
};

/* A query in work. */
struct query {
    struct weft_lod_reader *reader;
    struct weft_lod_lanes *lanes;
    struct weft_store *store;
    const struct weft_model_thread *thread;
    uint32_t thread_id;
    uint64_t from_ns, to_ns, pixel_ns;
    struct weft_lod *lod;
    struct weft_err *err;
};

struct weft_lod_reader *weft_lod_reader_new(const struct weft_trace *trace)
{
    struct weft_lod_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->trace = trace;
    if (weft_lod_cache_init(&reader->cache, weft_trace_store(trace)))
        return reader;
    weft_lod_reader_free(reader);
    return NULL;
}

void weft_lod_reader_free(struct weft_lod_reader *reader)
{
    if (!reader)
        return;
    weft_lod_cache_fini(&reader->cache);
    weft_lod_lanes_fini(&reader->lanes);
    weft_lod_units_fini(&reader->unit);
    free(reader);
}

static const struct weft_block_info *info_of(const struct query *query, uint64_t block)
{
    return weft_store_block_get(query->store, query->thread_id, block);
}

/* First block with an event at or after `time_ns`; the number of blocks if there is none. */
static uint64_t find_block(const struct query *query, uint64_t time_ns)
{
    uint64_t low = 0, high = query->thread->n_blocks;
    while (low < high) {
        uint64_t mid = low + (high - low) / 2;
        if (info_of(query, mid)->last_ns < time_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A call longer than a pixel, if it has a part in the interval. */
static bool put_long(const struct query *query, uint64_t start_ns, uint64_t end_ns, uint32_t depth,
                     uint32_t function_id)
{
    if (start_ns >= query->to_ns || end_ns <= query->from_ns)
        return true;
    return weft_lod_lanes_call(query->lanes, start_ns, end_ns, depth, function_id);
}

/* Is a unit fine enough? Then its short calls are no longer than a pixel, and it not than `pixels`.
 */
static bool is_fine(const struct query *query, const struct weft_lod_unit *unit, unsigned pixels)
{
    return unit->longest_ns <= query->pixel_ns &&
           (unit->end_ns - unit->start_ns) / pixels <= query->pixel_ns;
}

/* Has the unit a part in the interval? If not, calls that begin in it may still reach in. */
static bool is_inside(const struct query *query, const struct weft_lod_unit *unit)
{
    return unit->start_ns < query->to_ns && unit->end_ns >= query->from_ns;
}

/* A call of a unit. Short ones join the unit's cluster. */
static bool put_call(const struct query *query, const struct weft_lod_unit *unit, uint64_t start_ns,
                     uint64_t end_ns, uint32_t depth, uint32_t function_id)
{
    const uint64_t duration_ns = end_ns - start_ns;
    if (duration_ns > query->pixel_ns)
        return put_long(query, start_ns, end_ns, depth, function_id);
    const bool begins_inside = start_ns >= query->from_ns && start_ns < query->to_ns;
    if (!begins_inside && !is_inside(query, unit))
        return true;
    const struct weft_lod_part part = {
        .start_ns = start_ns,
        .end_ns = weft_max_u64(start_ns, weft_min_u64(end_ns, unit->end_ns)),
        .count = 1,
        .covered_ns = duration_ns,
        .longest_ns = duration_ns,
        .depth = depth,
        .function_id = function_id,
        .longest_function_id = function_id,
    };
    return weft_lod_lanes_add(query->lanes, unit->start_ns, &part);
}

static bool put_sum(const struct query *query, const struct weft_lod_unit *unit,
                    const struct weft_lod_sum *sum)
{
    const uint64_t step_ns = weft_lod_step_ns(unit->start_ns, unit->end_ns);
    const struct weft_lod_part part = {
        .start_ns = weft_min_u64(unit->start_ns + sum->first * step_ns, unit->end_ns),
        .end_ns = weft_min_u64(unit->start_ns + sum->end * step_ns, unit->end_ns),
        .count = sum->count,
        .covered_ns = sum->covered_ns,
        .longest_ns = sum->longest_ns,
        .depth = (uint32_t)sum->depth,
        .function_id = sum->function,
        .longest_function_id = sum->longest_function,
    };
    return weft_lod_lanes_add(query->lanes, unit->start_ns, &part);
}

static bool put_unit(const struct query *query, const struct weft_lod_units *units, size_t index)
{
    const struct weft_lod_unit *unit = &units->units.items[index];
    for (uint32_t i = 0; i < unit->n_calls; i++) {
        const struct weft_lod_call *call = &units->calls.items[unit->first_call + i];
        if (!put_call(query, unit, call->start_ns, call->end_ns, (uint32_t)call->depth,
                      call->function))
            return false;
    }
    const uint32_t n_sums = is_inside(query, unit) ? unit->n_sums : 0;
    for (uint32_t i = 0; i < n_sums; i++)
        if (!put_sum(query, unit, &units->sums.items[unit->first_sum + i]))
            return false;
    return true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Rows of a block. Short calls count if they begin in the interval. */
static bool put_rows(const struct query *query, const struct weft_lod_rows *rows)
{
    const uint64_t from_ns = query->from_ns, to_ns = query->to_ns, pixel_ns = query->pixel_ns;
    size_t i = 0;
    for (; i < rows->n && rows->start_ns[i] < to_ns; i++) {
        const uint64_t start_ns = rows->start_ns[i], end_ns = rows->end_ns[i];
        const uint64_t duration_ns = end_ns - start_ns;
        const uint32_t depth = rows->depth[i], function_id = rows->function_id[i];
        if (duration_ns > pixel_ns) {
            if (end_ns > from_ns &&
                !weft_lod_lanes_call(query->lanes, start_ns, end_ns, depth, function_id))
                return false;
            continue;
        }
        const struct weft_lod_part part = { start_ns,    end_ns, 1,           duration_ns,
                                            duration_ns, depth,  function_id, function_id };
        if (start_ns >= from_ns && !weft_lod_lanes_add(query->lanes, start_ns, &part))
            return false;
    }
    query->lod->parts.calls += i;
    return true;
}

/* Of the calls that are open before the first of a block's rows in the interval, those entered in
 * the block: others were put with the block in which they begin. */
static bool put_rows_open(const struct query *query, const struct weft_calls *calls,
                          uint64_t block_row)
{
    for (size_t i = 0; i < calls->n_open; i++) {
        const struct weft_open_call *open = &calls->open[i];
        if (open->row != UINT64_MAX && open->row >= block_row &&
            open->end_ns - open->start_ns > query->pixel_ns &&
            !put_long(query, open->start_ns, open->end_ns, open->depth, open->function_id))
            return false;
    }
    return true;
}

static enum weft_code put_block_rows(const struct query *query, uint64_t block)
{
    struct weft_block_part *part = NULL;
    struct weft_calls calls;
    enum weft_code code = weft_parts_open(&query->reader->cache.opened, query->reader->cache.store,
                                          query->thread_id, block, &part, query->err);
    if (!code)
        code = weft_block_part_rows(part, weft_block_part_find(part, query->from_ns),
                                    weft_block_part_find(part, query->to_ns), &calls, query->err);
    if (code)
        return code;
    query->lod->parts.loaded++;
    const struct weft_lod_rows rows = { calls.start_ns, calls.end_ns, calls.function_id,
                                        calls.depth, (uint32_t)calls.n_rows };
    return put_rows_open(query, &calls, info_of(query, block)->first_row) && put_rows(query, &rows)
               ? WEFT_OK
               : weft_no_memory(query->err, "a level of detail");
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* A block's cells in work. */
struct cells {
    uint64_t row; /* first of the next cell */
    struct weft_lod_details *details;
    const struct weft_open_call *left; /* the calls open at the block's end that are still to put */
    size_t n_left;
    uint64_t block, first_row;
};

/* Puts the calls left open that were entered before row `end` of the block: they belong to the unit
 * that ends there. NULL: passes them over. */
static bool put_left(const struct query *query, struct cells *cells,
                     const struct weft_lod_unit *unit, uint64_t end)
{
    for (; cells->n_left > 0 && cells->left->row - cells->first_row < end; cells->n_left--) {
        const struct weft_open_call *call = cells->left++;
        if (unit &&
            !put_call(query, unit, call->start_ns, call->end_ns, call->depth, call->function_id))
            return false;
    }
    return true;
}

/* A unit of the block that ends at row `end`. */
static enum weft_code put_details(const struct query *query, struct cells *cells, unsigned level,
                                  size_t index, uint64_t end)
{
    const struct weft_lod_units *units = &cells->details->units[level];
    return put_unit(query, units, index) && put_left(query, cells, &units->units.items[index], end)
               ? WEFT_OK
               : weft_no_memory(query->err, "a level of detail");
}

/* Do none of the cell's short calls reach into the interval, which begins later? They begin before
 * the next cell does. */
static bool is_before(const struct query *query, const struct cells *cells, size_t index)
{
    const struct weft_lod_units *units = &cells->details->units[0];
    const struct weft_lod_unit *unit = &units->units.items[index];
    return index + 1 < units->units.n && unit[1].start_ns < query->from_ns &&
           unit->longest_ns < query->from_ns - unit[1].start_ns;
}

static enum weft_code put_cell(const struct query *query, struct cells *cells, size_t index)
{
    const struct weft_lod_unit *unit = &cells->details->units[0].units.items[index];
    const uint64_t first = cells->row, end = first + unit->n_rows;
    cells->row = end;
    if (is_before(query, cells, index) || is_fine(query, unit, WEFT_LOD_MAX_PIXELS)) {
        query->lod->parts.cells++;
        return put_details(query, cells, 0, index, end);
    }
    (void)put_left(query, cells, NULL, end); /* they are among the rows */
    const struct weft_lod_rows *rows = NULL;
    bool is_loaded = false;
    enum weft_code code = weft_lod_cache_cell(&query->reader->cache, cells->details, index, first,
                                              &rows, &is_loaded, query->err);
    if (code)
        return code;
    query->lod->parts.loaded += is_loaded;
    return put_rows(query, rows) ? WEFT_OK : weft_no_memory(query->err, "a level of detail");
}

/* Groups of cells where they are fine enough, else cells, where these are, else calls. */
static enum weft_code put_cells(const struct query *query, struct cells *cells)
{
    struct weft_lod_details *details = cells->details;
    const size_t n = details->units[0].units.n;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && !code; i++) {
        const size_t group = i / WEFT_LOD_GROUP_CELLS;
        if (details->units[0].units.items[i].start_ns >= query->to_ns)
            break;
        if (i % WEFT_LOD_GROUP_CELLS != 0 ||
            !is_fine(query, &details->units[1].units.items[group], GROUP_PIXELS)) {
            code = put_cell(query, cells, i);
            continue;
        }
        query->lod->parts.cell_groups++;
        for (; i < n && i / WEFT_LOD_GROUP_CELLS == group; i++)
            cells->row += details->units[0].units.items[i].n_rows;
        i--;
        code = put_details(query, cells, 1, group, cells->row);
    }
    return code;
}

static enum weft_code put_block(const struct query *query, uint64_t block)
{
    const struct weft_block_info *info = info_of(query, block);
    /* With less than a call a pixel, cells cannot be fine enough. */
    if (query->pixel_ns == 0 || (info->last_ns - info->first_ns) / query->pixel_ns >= info->n_rows)
        return put_block_rows(query, block);
    struct cells cells = { .block = block, .first_row = info->first_row };
    enum weft_code code = weft_lod_cache_details(&query->reader->cache, query->thread_id, block,
                                                 &cells.details, query->err);
    if (code)
        return code;
    if (!cells.details->is_known) {
        query->lod->n_unknown += info->n_rows > 0;
        return put_block_rows(query, block);
    }
    cells.left = weft_store_left_calls(query->store, query->thread_id, block, &cells.n_left);
    return put_cells(query, &cells);
}

/* ---- blocks and groups of blocks ------------------------------------------------------------- */

/* The unit of 16^level blocks from `block` on, as far as the index of blocks shows: without the
 * calls that stand alone it may be shorter, not longer. */
static struct weft_lod_unit level_unit(const struct query *query, uint64_t block, unsigned level)
{
    const uint64_t last = block + (UINT64_C(1) << (4 * level)) - 1;
    const uint64_t start_ns = info_of(query, block)->first_ns;
    return (struct weft_lod_unit){ .start_ns = start_ns,
                                   .end_ns =
                                       weft_max_u64(start_ns, info_of(query, last)->last_ns) };
}

/* The calls that are open at the unit's end and were entered in it. */
static bool put_level_left(const struct query *query, const struct weft_lod_unit *unit,
                           uint64_t block, uint64_t end)
{
    const uint64_t first_row = info_of(query, block)->first_row;
    const struct weft_open_call *call =
        weft_store_open_call(query->store, query->thread_id, end, NULL);
    for (; call && call->row != UINT64_MAX && call->row >= first_row;
         call = weft_store_open_call(query->store, query->thread_id, end, call))
        if (!put_call(query, unit, call->start_ns, call->end_ns, call->depth, call->function_id))
            return false;
    return true;
}

/* Puts the largest group of blocks that begins at *block and is fine enough, or the block, and
 * moves *block behind it. The last block is looked at by itself: behind it nothing says which calls
 * are open. */
static enum weft_code put_level(const struct query *query, uint64_t *block)
{
    const uint64_t n_blocks = query->thread->n_blocks;
    int level = -1;
    for (unsigned next = 0; next <= WEFT_CONTEXT_LEVEL_MAX; next++) {
        const uint64_t width = UINT64_C(1) << (4 * next);
        if (*block % width != 0 || width >= n_blocks - *block)
            break;
        const struct weft_lod_unit unit = level_unit(query, *block, next);
        if (!is_fine(query, &unit, GROUP_PIXELS))
            break;
        level = (int)next;
    }
    for (; level >= 0; level--) {
        bool is_known = false;
        enum weft_code code =
            weft_store_level(query->store, query->thread_id, *block, (unsigned)level,
                             &query->reader->unit, &is_known, query->err);
        if (code)
            return code;
        if (!is_known || !is_fine(query, &query->reader->unit.units.items[0], GROUP_PIXELS))
            continue;
        const uint64_t end = *block + (UINT64_C(1) << (4 * level));
        const struct weft_lod_unit *unit = &query->reader->unit.units.items[0];
        if (!put_unit(query, &query->reader->unit, 0) || !put_level_left(query, unit, *block, end))
            return weft_no_memory(query->err, "a level of detail");
        *(level ? &query->lod->parts.block_groups : &query->lod->parts.blocks) += 1;
        *block = end;
        return WEFT_OK;
    }
    return put_block(query, (*block)++);
}

/* The calls that are open when the first block begins. They began before the interval, unless it
 * begins at 0 as cut frames do. */
static bool put_open(const struct query *query, uint64_t block)
{
    const struct weft_lod_unit cut = { .end_ns = UINT64_MAX };
    const struct weft_open_call *call =
        weft_store_open_call(query->store, query->thread_id, block, NULL);
    for (; call; call = weft_store_open_call(query->store, query->thread_id, block, call)) {
        const bool is_long = call->end_ns - call->start_ns > query->pixel_ns;
        if ((is_long || (call->start_ns == 0 && query->from_ns == 0)) &&
            !put_call(query, &cut, call->start_ns, call->end_ns, call->depth, call->function_id))
            return false;
    }
    return true;
}

static enum weft_code put_blocks(const struct query *query)
{
    uint64_t block = find_block(query, query->from_ns);
    if (block == query->thread->n_blocks) /* only calls open at the end reach so far */
        block -= block > 0;
    if (query->thread->n_blocks == 0)
        return WEFT_OK;
    if (!put_open(query, block))
        return weft_no_memory(query->err, "a level of detail");
    enum weft_code code = WEFT_OK;
    while (!code && block < query->thread->n_blocks &&
           info_of(query, block)->first_event_ns < query->to_ns)
        code = put_level(query, &block);
    return code;
}

enum weft_code weft_lod(struct weft_lod_reader *reader, uint32_t thread_id, uint64_t from_ns,
                        uint64_t to_ns, uint32_t width, struct weft_lod *lod, struct weft_err *err)
{
    *lod = (struct weft_lod){ 0 };
    if (width == 0 || width > WEFT_LOD_MAX_WIDTH)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected 1 to %d pixels, found %u",
                         WEFT_LOD_MAX_WIDTH, width);
    to_ns = weft_max_u64(from_ns, to_ns);
    const struct weft_model_thread *thread = weft_trace_thread(reader->trace, thread_id);
    const struct query query = {
        .reader = reader,
        .lanes = &reader->lanes,
        .store = weft_trace_store(reader->trace),
        .thread = thread,
        .thread_id = thread_id,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .pixel_ns = (to_ns - from_ns) / width,
        .lod = lod,
        .err = err,
    };
    lod->pixel_ns = query.pixel_ns;
    if (!weft_lod_lanes_start(&reader->lanes, from_ns, to_ns, width, thread->max_depth + 1))
        return weft_no_memory(err, "a level of detail");
    enum weft_code code = put_blocks(&query);
    if (!code && !weft_lod_lanes_end(&reader->lanes, &lod->items, &lod->n_items))
        code = weft_no_memory(err, "a level of detail");
    return code;
}
