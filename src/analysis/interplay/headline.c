/* SPDX-License-Identifier: MIT
 *
 * Union-find over threads, by process or, where processes are unknown, by waits for a known object;
 * the group with the most waits for known objects gives the cell of the headline.
 */
#include "analysis/interplay/headline.h"

#include "base/map.h"
#include "base/room.h"

#include <stdlib.h>

/* Threads are of one group if they are of one process; where processes are unknown, if they wait
 * for each other for an object. */
struct groups {
    const struct weft_interplay *interplay;
    const struct weft_interplay_table *table;
    struct weft_map *processes;
    uint32_t *parent; /* by thread */
    uint64_t *count;  /* by representative of its group: waits for known objects */
};

static uint32_t group_of(struct groups *groups, uint32_t thread_id)
{
    while (groups->parent[thread_id] != thread_id) {
        groups->parent[thread_id] = groups->parent[groups->parent[thread_id]];
        thread_id = groups->parent[thread_id];
    }
    return thread_id;
}

static void join(struct groups *groups, uint32_t a, uint32_t b)
{
    const uint32_t x = group_of(groups, a), y = group_of(groups, b);
    if (x < y)
        groups->parent[y] = x;
    else
        groups->parent[x] = y;
}

static const struct weft_thread_info *info_of(const struct groups *groups, uint32_t thread_id)
{
    return &weft_trace_thread(groups->interplay->trace, thread_id)->info;
}

/* False without memory. */
static bool join_processes(struct groups *groups, uint32_t n_threads)
{
    for (uint32_t id = 0; id < n_threads; id++) {
        const struct weft_thread_info *info = info_of(groups, id);
        const uint64_t key = (uint64_t)info->host_id << 48 ^ info->pid;
        bool is_new = true;
        const uint32_t place = info->pid ? weft_map_add(groups->processes, key, &is_new) : 0;
        groups->parent[id] = id;
        if (place == WEFT_MAP_NONE)
            return false;
        if (is_new && info->pid)
            groups->count[place] = id; /* the first of the process */
        else if (info->pid)
            join(groups, (uint32_t)groups->count[place], id);
    }
    for (uint32_t id = 0; id < n_threads; id++)
        groups->count[id] = 0;
    return true;
}

static void join_waits(struct groups *groups)
{
    for (size_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->told && !info_of(groups, cell->waiter_id)->pid &&
            !info_of(groups, cell->releaser_id)->pid)
            join(groups, cell->waiter_id, cell->releaser_id);
    }
    for (size_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->told && group_of(groups, cell->waiter_id) == group_of(groups, cell->releaser_id))
            groups->count[group_of(groups, cell->waiter_id)] += cell->told;
    }
}

/* Cells are in the order of their time. */
static uint32_t find(struct groups *groups)
{
    uint32_t best = WEFT_ID_NONE;
    uint64_t best_told = 0;
    bool is_best_inside = false;
    for (uint32_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->releaser_id == WEFT_ID_NONE)
            continue;
        const uint32_t group = group_of(groups, cell->waiter_id);
        const bool is_inside = group == group_of(groups, cell->releaser_id);
        const uint64_t told = is_inside ? groups->count[group] : 0;
        if (best != WEFT_ID_NONE &&
            (told < best_told || (told == best_told && (!is_inside || is_best_inside))))
            continue;
        best = i;
        best_told = told;
        is_best_inside = is_inside;
    }
    return best;
}

enum weft_code weft_interplay_find_headline(const struct weft_interplay *interplay,
                                            struct weft_interplay_table *table,
                                            struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    struct groups groups = { .interplay = interplay,
                             .table = table,
                             .processes = weft_map_new(),
                             .parent = weft_room_new((size_t)n_threads + 1, sizeof *groups.parent),
                             .count = weft_room_new((size_t)n_threads + 1, sizeof *groups.count) };
    const bool is_good =
        groups.processes && groups.parent && groups.count && join_processes(&groups, n_threads);
    if (is_good) {
        join_waits(&groups);
        table->headline = find(&groups);
    }
    weft_map_free(groups.processes);
    weft_room_free(groups.parent);
    weft_room_free(groups.count);
    return is_good ? WEFT_OK : weft_no_memory(err, "threads");
}
