/* SPDX-License-Identifier: MIT
 *
 * The calls of single occurrences, bounded: the longest of each. A caller lasts at least as long as
 * its callee and is entered before it, so whoever keeps the longest (of equals, the earlier) keeps
 * with every call its callers: what is left is a tree.
 */
#include "base/heap.h"
#include "model/calls/walk.h"
#include "render/page/shapes.h"

#include <stdlib.h>

/* The calls kept so far; once there are as many as may be, the least of them is on top. */
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

#define IS_LESS(a, b) is_less(&(a), &(b))

static void keep(struct heap *heap, const struct weft_page_call *call)
{
    if (heap->n_rows < heap->limit) {
        heap->rows[heap->n_rows++] = *call;
        if (heap->n_rows == heap->limit)
            WEFT_HEAP_MAKE(heap->rows, heap->limit, IS_LESS);
    } else if (is_less(&heap->rows[0], call)) {
        heap->rows[0] = *call;
        WEFT_HEAP_SINK(heap->rows, heap->limit, 0, IS_LESS);
    }
}

static int compare_order(const void *a, const void *b)
{
    const struct weft_page_call *one = a, *two = b;
    return (one->order > two->order) - (one->order < two->order);
}

static bool is_occurrence(const struct weft_walk_call *call, const struct weft_page_wanted *wanted)
{
    return call->function_id == wanted->function_id && call->start_ns == wanted->at->start_ns &&
           call->end_ns == wanted->at->end_ns &&
           !(call->flags & (WEFT_CALL_CUT_START | WEFT_CALL_CUT_END));
}

/* One occurrence while the walk is in it. */
struct open_call {
    struct weft_page_calls *calls;
    struct heap heap;
    uint32_t base_depth;
};

struct reader {
    const struct weft_page_wanted *wanted; /* by start */
    size_t n_wanted, next;                 /* those before `next` began earlier than the walk is */
    struct open_call *open;
    size_t n_open;
};

static void close_call(struct reader *reader, size_t at)
{
    struct open_call *open = &reader->open[at];
    qsort(open->heap.rows, open->heap.n_rows, sizeof *open->heap.rows, compare_order);
    open->calls->rows = open->heap.rows;
    open->calls->n_rows = open->heap.n_rows;
    *open = reader->open[--reader->n_open];
}

static bool open_calls(struct reader *reader, const struct weft_walk_call *call,
                       struct weft_arena *arena)
{
    while (reader->next < reader->n_wanted &&
           reader->wanted[reader->next].at->start_ns < call->start_ns)
        reader->next++;
    for (size_t i = reader->next; i < reader->n_wanted; i++) {
        const struct weft_page_wanted *wanted = &reader->wanted[i];
        if (wanted->at->start_ns > call->start_ns)
            break;
        if (wanted->calls->n_all > 0 || !is_occurrence(call, wanted))
            continue;
        struct heap heap = {
            .rows = WEFT_ARENA_NEW(arena, wanted->limit, struct weft_page_call),
            .limit = wanted->limit,
        };
        if (!heap.rows)
            return false;
        reader->open[reader->n_open++] = (struct open_call){ wanted->calls, heap, call->depth };
        wanted->calls->n_all = 0;
    }
    return true;
}

static void enter(struct reader *reader, const struct weft_walk_call *call)
{
    for (size_t i = 0; i < reader->n_open; i++) {
        struct open_call *open = &reader->open[i];
        keep(&open->heap, &(struct weft_page_call){ .order = open->calls->n_all++,
                                                    .start_ns = call->start_ns,
                                                    .end_ns = call->end_ns,
                                                    .function_id = call->function_id,
                                                    .level = call->depth - open->base_depth });
    }
}

static void leave(struct reader *reader, uint32_t depth)
{
    for (size_t i = reader->n_open; i-- > 0;)
        if (reader->open[i].base_depth == depth)
            close_call(reader, i);
}

static enum weft_code read_all(struct weft_walk *walk, struct reader *reader,
                               struct weft_arena *arena, struct weft_err *err)
{
    struct weft_walk_call call;
    enum weft_step step;
    enum weft_code code = WEFT_OK;
    while (!(code = weft_walk_next(walk, &step, &call, err)) && step != WEFT_STEP_END) {
        if (step == WEFT_STEP_EXIT) {
            leave(reader, call.depth);
            continue;
        }
        if (!open_calls(reader, &call, arena))
            return weft_no_memory(err, "the page's calls");
        enter(reader, &call);
    }
    while (reader->n_open > 0)
        close_call(reader, reader->n_open - 1);
    return code;
}

struct weft_window weft_page_window(const struct weft_page_wanted *wanted, size_t n_wanted)
{
    struct weft_window window = { .from_ns = UINT64_MAX };
    for (size_t i = 0; i < n_wanted; i++) {
        const struct weft_shape_occurrence *at = wanted[i].at;
        window.from_ns = at->start_ns < window.from_ns ? at->start_ns : window.from_ns;
        /* One ns more, for what begins and ends with the occurrence. */
        window.to_ns = at->end_ns + 1 > window.to_ns ? at->end_ns + 1 : window.to_ns;
    }
    return window;
}

enum weft_code weft_page_read_calls(const struct weft_trace *trace, uint32_t thread_id,
                                    const struct weft_page_wanted *wanted, size_t n_wanted,
                                    struct weft_arena *arena, struct weft_err *err)
{
    const struct weft_walk_opts opts = { .window = weft_page_window(wanted, n_wanted) };
    struct reader reader = { .wanted = wanted,
                             .n_wanted = n_wanted,
                             .open = WEFT_ARENA_NEW(arena, n_wanted, struct open_call) };
    struct weft_walk *walk;
    for (size_t i = 0; i < n_wanted; i++)
        *wanted[i].calls = (struct weft_page_calls){ 0 };
    if (!reader.open)
        return weft_no_memory(err, "the page's calls");
    WEFT_TRY(weft_walk_open(trace, thread_id, &opts, &walk, err));
    enum weft_code code = read_all(walk, &reader, arena, err);
    weft_walk_close(walk);
    return code;
}
