/* SPDX-License-Identifier: MIT
 *
 * Two lists that only append, one of calls and one of events, and a binary heap for points ahead of
 * time and the few that come out of order. Taking the earliest compares three heads; equal times
 * keep the order in which they came.
 */
#include "analysis/executions/queue.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists ----------------------------------------------------------------------------------- */

void weft_execution_list_fini(struct weft_execution_list *list)
{
    for (size_t i = list->at; i < list->n; i++)
        free(list->items[i].values);
    WEFT_VEC_FINI(list);
    list->at = 0;
}

struct weft_execution_point *weft_execution_list_add(struct weft_execution_list *list)
{
    if (list->n == list->cap && list->at > list->n / 2) {
        list->n -= list->at;
        memmove(list->items, list->items + list->at, list->n * sizeof *list->items);
        list->at = 0;
    }
    return WEFT_VEC_PUSH(list);
}

/* ---- the queue ------------------------------------------------------------------------------- */

void weft_execution_queue_fini(struct weft_execution_queue *queue)
{
    for (unsigned i = 0; i < WEFT_POINT_LISTS; i++)
        weft_execution_list_fini(&queue->lists[i]);
    for (size_t i = 0; i < queue->heap.n; i++)
        free(queue->heap.items[i].values);
    WEFT_VEC_FINI(&queue->heap);
}

static bool is_before(const struct weft_execution_point *a, const struct weft_execution_point *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->sequence < b->sequence;
}

static bool heap_put(struct weft_execution_queue *queue, const struct weft_execution_point *point)
{
    if (!WEFT_VEC_PUSH(&queue->heap))
        return false;
    struct weft_execution_point *items = queue->heap.items;
    size_t at = queue->heap.n - 1;
    for (; at > 0 && is_before(point, &items[(at - 1) / 2]); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = *point;
    return true;
}

static void heap_drop(struct weft_execution_queue *queue)
{
    struct weft_execution_point *items = queue->heap.items;
    const size_t n = --queue->heap.n;
    const struct weft_execution_point last = items[n];
    size_t at = 0;
    for (size_t next = 1; next < n; next = 2 * at + 1) {
        next += next + 1 < n && is_before(&items[next + 1], &items[next]);
        if (!is_before(&items[next], &last))
            break;
        items[at] = items[next];
        at = next;
    }
    items[at] = last;
}

bool weft_execution_queue_put(struct weft_execution_queue *queue, unsigned list,
                              const struct weft_execution_point *point, bool is_ahead)
{
    struct weft_execution_list *points = &queue->lists[list];
    struct weft_execution_point made = *point;
    made.sequence = (uint64_t)list << 63 | queue->n_put[list];
    const bool is_last =
        points->at == points->n || points->items[points->n - 1].at_ns <= made.at_ns;
    if (is_ahead || !is_last) {
        if (!heap_put(queue, &made))
            return false;
    } else {
        struct weft_execution_point *place = weft_execution_list_add(points);
        if (!place)
            return false;
        *place = made;
    }
    queue->n_put[list]++;
    return true;
}

/* The first of a list, if it is before `first`. */
static const struct weft_execution_point *earlier(const struct weft_execution_list *list,
                                                  const struct weft_execution_point *first)
{
    if (list->at == list->n || (first && !is_before(&list->items[list->at], first)))
        return first;
    return &list->items[list->at];
}

bool weft_execution_queue_take(struct weft_execution_queue *queue, uint64_t before_ns,
                               struct weft_execution_point *point)
{
    const struct weft_execution_point *of_heap = queue->heap.n ? queue->heap.items : NULL;
    const struct weft_execution_point *of_calls = earlier(&queue->lists[0], of_heap);
    const struct weft_execution_point *first = earlier(&queue->lists[1], of_calls);
    if (!first || first->at_ns >= before_ns)
        return false;
    *point = *first;
    if (first == of_heap) {
        heap_drop(queue);
        return true;
    }
    struct weft_execution_list *list = &queue->lists[first == of_calls ? 0 : 1];
    if (++list->at == list->n)
        list->at = list->n = 0;
    return true;
}
