/* SPDX-License-Identifier: MIT
 *
 * Groups the arrows of a walked path by lock and sorts the rows by time, for the table's list of
 * locks. Names stay owned by the graph, which must outlive the table's making.
 */
#include "analysis/path/locks.h"

#include "base/map.h"
#include "base/vec.h"
#include "model/graph/locks.h"

#include <stdlib.h>

struct rows {
    struct weft_path_lock_row *items;
    size_t n, cap;
};

static int by_sum(const void *a, const void *b, void *context)
{
    const struct weft_path_lock_row *rows = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (rows[i].sum_ns != rows[j].sum_ns)
        return rows[i].sum_ns > rows[j].sum_ns ? -1 : 1;
    return (i > j) - (i < j);
}

/* Adds an arrow; its lock becomes the place of its row. */
static bool add(struct weft_graph *graph, struct weft_path_arrow *arrow, struct weft_map *places,
                struct rows *rows)
{
    bool is_new;
    const uint64_t key = (uint64_t)arrow->lock << 8 | arrow->edge;
    const uint32_t place = weft_map_add(places, key, &is_new);
    struct weft_path_lock_row *row = place != WEFT_MAP_NONE && is_new ? WEFT_VEC_PUSH(rows) : NULL;
    if (place == WEFT_MAP_NONE || place >= rows->n)
        return false;
    if (row)
        *row =
            (struct weft_path_lock_row){ .object = *weft_locks_graph_object(graph, arrow->lock - 1),
                                         .edge = arrow->edge };
    row = &rows->items[place];
    row->count++;
    row->sum_ns += arrow->wait_ns;
    if (arrow->wait_ns > row->longest_ns)
        row->longest_ns = arrow->wait_ns;
    arrow->lock = place + 1;
    return true;
}

/* Puts the rows in order, and the places in the arrows right. */
static bool keep(const struct rows *rows, struct weft_path_table *table)
{
    uint32_t *order = calloc(rows->n + 1, sizeof *order);
    uint32_t *place = calloc(rows->n + 1, sizeof *place);
    bool is_good = order && place;
    table->locks = WEFT_ARENA_NEW(table->arena, rows->n, struct weft_path_lock_row);
    table->n_locks = rows->n;
    is_good = is_good && table->locks;
    for (uint32_t i = 0; is_good && i < rows->n; i++)
        order[i] = i;
    if (is_good && rows->n)
        qsort_r(order, rows->n, sizeof *order, by_sum, rows->items);
    for (uint32_t i = 0; is_good && i < rows->n; i++) {
        struct weft_str *name = &table->locks[i].object.name;
        table->locks[i] = rows->items[order[i]];
        place[order[i]] = i;
        if (name->n_bytes)
            *name = weft_arena_copy(table->arena, *name);
        is_good = name->n_bytes == 0 || name->bytes;
    }
    for (size_t i = 0; is_good && i < table->n_arrows; i++)
        if (table->arrows[i].lock)
            table->arrows[i].lock = place[table->arrows[i].lock - 1] + 1;
    free(order);
    free(place);
    return is_good;
}

bool weft_path_locks_make(struct weft_graph *graph, struct weft_path_table *table)
{
    struct weft_map *places = weft_map_new();
    struct rows rows = { 0 };
    bool is_good = places != NULL;
    for (size_t i = 0; is_good && i < table->n_arrows; i++)
        if (table->arrows[i].lock)
            is_good = add(graph, &table->arrows[i], places, &rows);
    is_good = is_good && keep(&rows, table);
    WEFT_VEC_FINI(&rows);
    weft_map_free(places);
    return is_good;
}
