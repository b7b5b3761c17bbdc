/* SPDX-License-Identifier: MIT
 *
 * The calls of one occurrence, bounded: the longest of them. A caller lasts at least as long as its
 * callee and is entered before it, so whoever keeps the longest (of equals, the earlier) keeps with
 * every call its callers: what is left is a tree.
 */
#include "model/walk.h"
#include "render/page_shapes.h"

#include <stdlib.h>

/* The calls kept so far, the least of them on top. */
struct heap {
    struct weft_page_call *rows;
    size_t n_rows, limit;
};

/* True if `a` is to be given up before `b`. */
static bool is_less(const struct weft_page_call *a, const struct weft_page_call *b)
{
    uint64_t a_ns = a->end_ns - a->start_ns, b_ns = b->end_ns - b->start_ns;
    return a_ns != b_ns ? a_ns < b_ns : a->order > b->order;
}

static void swap(struct weft_page_call *a, struct weft_page_call *b)
{
    struct weft_page_call held = *a;
    *a = *b;
    *b = held;
}

static void sink(struct heap *heap, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->n_rows; child++)
            if (is_less(&heap->rows[child], &heap->rows[least]))
                least = child;
        if (least == at)
            return;
        swap(&heap->rows[at], &heap->rows[least]);
        at = least;
    }
}

static void keep(struct heap *heap, const struct weft_page_call *call)
{
    if (heap->n_rows == heap->limit) {
        if (!is_less(&heap->rows[0], call))
            return;
        heap->rows[0] = *call;
        sink(heap, 0);
        return;
    }
    size_t at = heap->n_rows++;
    heap->rows[at] = *call;
    while (at > 0 && is_less(&heap->rows[at], &heap->rows[(at - 1) / 2])) {
        swap(&heap->rows[at], &heap->rows[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static int compare_order(const void *a, const void *b)
{
    const struct weft_page_call *one = a, *two = b;
    return (one->order > two->order) - (one->order < two->order);
}

static bool is_occurrence(const struct weft_walk_call *call, uint32_t function_id,
                          const struct weft_shape_occurrence *at)
{
    return call->function_id == function_id && call->start_ns == at->start_ns &&
           call->end_ns == at->end_ns && !(call->flags & (WEFT_CALL_CUT_START | WEFT_CALL_CUT_END));
}

/* Numbers the entries from the occurrence's own to its exit. */
static enum weft_code collect(struct weft_walk *walk, uint32_t function_id,
                              const struct weft_shape_occurrence *at, struct heap *heap,
                              uint64_t *n_all, struct weft_err *err)
{
    struct weft_walk_call call;
    enum weft_step step;
    uint32_t base_depth = 0;
    enum weft_code code;
    while (!(code = weft_walk_next(walk, &step, &call, err)) && step != WEFT_STEP_END) {
        if (*n_all == 0) {
            if (step != WEFT_STEP_ENTER || !is_occurrence(&call, function_id, at))
                continue;
            base_depth = call.depth;
        } else if (step == WEFT_STEP_EXIT) {
            if (call.depth == base_depth)
                break;
            continue;
        }
        keep(heap, &(struct weft_page_call){ .order = (*n_all)++,
                                             .start_ns = call.start_ns,
                                             .end_ns = call.end_ns,
                                             .function_id = call.function_id,
                                             .level = call.depth - base_depth });
    }
    return code;
}

enum weft_code weft_page_read_calls(const struct weft_trace *trace, uint32_t function_id,
                                    const struct weft_shape_occurrence *at, size_t limit,
                                    struct weft_arena *arena, struct weft_page_calls *calls,
                                    struct weft_err *err)
{
    /* One ns more, for what begins and ends with the occurrence. */
    const struct weft_walk_opts opts = {
        .window = { .from_ns = at->start_ns, .to_ns = at->end_ns + 1 },
    };
    struct heap heap = { .rows = WEFT_ARENA_NEW(arena, limit, struct weft_page_call),
                         .limit = limit };
    struct weft_walk *walk;
    *calls = (struct weft_page_calls){ 0 };
    if (!heap.rows)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu calls", limit);
    enum weft_code code = weft_walk_open(trace, at->thread_id, &opts, &walk, err);
    if (code != WEFT_OK)
        return code;
    code = collect(walk, function_id, at, &heap, &calls->n_all, err);
    weft_walk_close(walk);
    qsort(heap.rows, heap.n_rows, sizeof *heap.rows, compare_order);
    calls->rows = heap.rows;
    calls->n_rows = heap.n_rows;
    return code;
}
