/* SPDX-License-Identifier: MIT
 *
 * Chooses within a limit of cells: clusters of a thread by their time, longest first, as long as
 * their columns fit; the rest are counted as omitted.
 */
#include "analysis/shapes/drawn.h"

#include "base/checked.h"
#include "schema/event.h"

#include <stdlib.h>

struct drawn {
    uint64_t sum_ns, n_cells;
    uint32_t cluster_id;
    size_t place; /* among the thread's clusters */
};

static int by_time(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return (x->cluster_id > y->cluster_id) - (x->cluster_id < y->cluster_id);
}

static uint64_t most_cells(const struct weft_shape_drawing *drawing,
                           const struct weft_shape_times *times)
{
    const uint64_t span_ns = drawing->window.to_ns - drawing->window.from_ns;
    const uint64_t column_ns = weft_max_u64(span_ns / drawing->n_columns, 1);
    const uint64_t n_columns = drawing->n_columns;
    if (times->count >= n_columns || times->sum_ns / column_ns >= n_columns)
        return n_columns;
    return weft_min_u64(2 * times->count + times->sum_ns / column_ns, n_columns);
}

bool weft_shapes_draw(const struct weft_shape_drawing *drawing,
                      const struct weft_shape_presence *presences, size_t n, uint32_t *ribbon,
                      uint64_t *n_left)
{
    struct drawn *order = malloc((n + 1) * sizeof *order);
    size_t n_order = 0, at = 0;
    uint64_t n_cells = 0;
    *n_left = 0;
    if (!order)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (ribbon[i] == WEFT_ID_NONE)
            continue;
        const struct weft_shape_times *times = &presences[i].times;
        order[n_order++] =
            (struct drawn){ times->sum_ns, most_cells(drawing, times), presences[i].cluster_id, i };
    }
    qsort(order, n_order, sizeof *order, by_time);
    while (at < n_order && order[at].n_cells <= drawing->max_cells - n_cells)
        n_cells += order[at++].n_cells;
    *n_left = n_order - at;
    for (; at < n_order; at++)
        ribbon[order[at].place] = WEFT_ID_NONE;
    free(order);
    return true;
}
