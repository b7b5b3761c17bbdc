/* SPDX-License-Identifier: MIT
 *
 * The N-th longest call of a function on a thread.
 */
#include "analysis/calls/calls.h"
#include "base/vec.h"
#include "model/calls/scan.h"

#include <stdlib.h>

/* The `rank` longest calls so far, as a heap with the least on top. */
struct heap {
    struct weft_found_call *items;
    size_t n, cap;
};

struct search {
    const uint32_t *function_ids;
    size_t n_function_ids;
    uint8_t *is_wanted; /* by function id */
    uint64_t rank, n_calls;
    struct heap heap;
};

static bool is_less(const struct weft_found_call *a, const struct weft_found_call *b)
{
    uint64_t x = a->end_ns - a->start_ns, y = b->end_ns - b->start_ns;
    if (x != y)
        return x < y;
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->depth > b->depth;
}

static void sift_down(struct heap *heap, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < heap->n && is_less(&heap->items[child + 1], &heap->items[child]))
            child++;
        if (child >= heap->n || !is_less(&heap->items[child], &heap->items[at]))
            return;
        struct weft_found_call call = heap->items[at];
        heap->items[at] = heap->items[child];
        heap->items[child] = call;
        at = child;
    }
}

static void sift_up(struct heap *heap, size_t at)
{
    for (; at > 0 && is_less(&heap->items[at], &heap->items[(at - 1) / 2]); at = (at - 1) / 2) {
        struct weft_found_call call = heap->items[at];
        heap->items[at] = heap->items[(at - 1) / 2];
        heap->items[(at - 1) / 2] = call;
    }
}

static bool see(struct search *search, const struct weft_found_call *call)
{
    struct heap *heap = &search->heap;
    search->n_calls++;
    if (heap->n < search->rank) {
        struct weft_found_call *item = WEFT_VEC_PUSH(heap);
        if (!item)
            return false;
        *item = *call;
        sift_up(heap, heap->n - 1);
    } else if (is_less(&heap->items[0], call)) {
        heap->items[0] = *call;
        sift_down(heap, 0);
    }
    return true;
}

static bool see_block(struct search *search, const struct weft_scan *scan,
                      const struct weft_calls *calls)
{
    for (size_t i = 0; i < calls->n_rows; i++) {
        if (!search->is_wanted[calls->function_id[i]])
            continue;
        const struct weft_found_call call = {
            .start_ns = calls->start_ns[i],
            .end_ns = calls->end_ns[i],
            .thread_id = scan->thread_id,
            .function_id = calls->function_id[i],
            .depth = calls->depth[i],
            .flags = calls->flags ? calls->flags[i] : 0,
        };
        if (!see(search, &call))
            return false;
    }
    return true;
}

/* Whether the block calls one of the functions. */
static enum weft_code is_block_wanted(const struct search *search, struct weft_scan *scan,
                                      uint64_t block, bool *is_wanted, struct weft_err *err)
{
    const uint32_t *ids = NULL;
    size_t n_ids = 0;
    enum weft_code code = weft_scan_functions(scan, block, &ids, &n_ids, err);
    *is_wanted = false;
    for (size_t i = 0; !code && i < n_ids && !*is_wanted; i++)
        *is_wanted = search->is_wanted[ids[i]];
    return code;
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct search *search = context;
    const struct weft_calls *calls = NULL;
    (void)index;
    enum weft_code code = WEFT_OK;
    if (scan->thread->cut_calls) {
        code = weft_scan_next(scan, &calls, err);
        if (!code && !see_block(search, scan, calls))
            code = weft_no_memory(err, "a search");
    }
    for (uint64_t block = 0; !code && block < scan->thread->n_blocks; block++) {
        bool is_wanted = false;
        code = is_block_wanted(search, scan, block, &is_wanted, err);
        if (code || !is_wanted)
            continue;
        weft_scan_seek(scan, block);
        code = weft_scan_next(scan, &calls, err);
        if (!code && !see_block(search, scan, calls))
            code = weft_no_memory(err, "a search");
    }
    return code;
}

enum weft_code weft_longest_call(const struct weft_trace *trace, uint32_t thread_id,
                                 const uint32_t *function_ids, size_t n_function_ids, uint64_t rank,
                                 const struct weft_run *run, struct weft_found_call *found,
                                 struct weft_err *err)
{
    struct search search = { .rank = rank ? rank : 1 };
    search.is_wanted = calloc((size_t)weft_trace_n_functions(trace) + 1, 1);
    if (!search.is_wanted)
        return weft_no_memory(err, "a search");
    for (size_t i = 0; i < n_function_ids; i++)
        search.is_wanted[function_ids[i]] = 1;
    weft_progress_start(run->progress, "search", "calls", weft_scan_calls(trace, &thread_id, 1));
    enum weft_code code =
        weft_scan_threads(trace, &thread_id, 1, NULL, run, run_item, &search, err);
    *found = (struct weft_found_call){ 0 };
    if (!code && search.heap.n == search.rank)
        *found = search.heap.items[0];
    found->n_calls = search.n_calls;
    WEFT_VEC_FINI(&search.heap);
    free(search.is_wanted);
    return code;
}
