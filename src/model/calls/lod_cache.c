/* SPDX-License-Identifier: MIT
 *
 * The cache behind model/calls/lod.c: cells by thread and block in a hash table with chains, in a
 * list by last use, at most 64 MiB. A cell's calls are copied out of their block, so that they stay
 * valid when the block is dropped.
 */
#include "model/calls/lod_cache.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << 12, MOST_BYTES = 64 << 20 };

bool weft_lod_cache_init(struct weft_lod_cache *cache, struct weft_store *store)
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

void weft_lod_cache_fini(struct weft_lod_cache *cache)
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

enum weft_code weft_lod_cache_details(struct weft_lod_cache *cache, uint32_t thread_id,
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

enum weft_code weft_lod_cache_cell(struct weft_lod_cache *cache, struct weft_lod_details *details,
                                   size_t index, uint64_t first, const struct weft_lod_rows **rows,
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
