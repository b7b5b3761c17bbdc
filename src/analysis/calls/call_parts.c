/* SPDX-License-Identifier: MIT
 *
 * A short call is read row by row; of a long one the file's sums are asked. Sums go by paths: they
 * say what they should unless another call of the same path, of no duration, stands where the call
 * begins; then it is read.
 */
#include "analysis/calls/call_parts.h"

#include "base/map.h"
#include "base/vec.h"
#include "model/calls/callers.h"
#include "model/calls/overlap.h"
#include "model/interval/interval.h"
#include "schema/calls.h"

#include <stdlib.h>

enum { READ_BLOCKS = 2 }; /* a call that reaches beyond so many is long */

struct parts {
    struct {
        struct weft_callee_row *items;
        size_t n, cap;
    } callees;
    struct weft_map *place_of; /* function: callee */
    uint64_t called_ns;        /* by direct callees */
};

/* ---- row by row ------------------------------------------------------------------------------ */

static struct weft_callee_row *callee_of(struct parts *parts, uint32_t function_id)
{
    bool is_new = false;
    if (!parts->place_of)
        parts->place_of = weft_map_new();
    uint32_t place =
        parts->place_of ? weft_map_add(parts->place_of, function_id, &is_new) : WEFT_MAP_NONE;
    if (place == WEFT_MAP_NONE)
        return NULL;
    if (!is_new)
        return &parts->callees.items[place];
    struct weft_callee_row *row = WEFT_VEC_PUSH(&parts->callees);
    if (row)
        row->function_id = function_id;
    return row;
}

/* A call `level` below the one asked for, 1 or 2; *child is the function of the latest of level 1.
 */
static bool add_call(struct parts *parts, uint32_t level, uint32_t function_id,
                     uint64_t duration_ns, uint32_t *child)
{
    if (level == 1)
        *child = function_id;
    struct weft_callee_row *row = level <= 2 ? callee_of(parts, *child) : NULL;
    if (level > 2 || !row)
        return level > 2;
    if (level == 2) {
        row->self_ns -= duration_ns;
        return true;
    }
    row->count++;
    row->sum_ns += duration_ns;
    row->self_ns += duration_ns;
    parts->called_ns += duration_ns;
    return true;
}

/* Adds the rows of the block from `row` on, until one is not below the call. */
static bool add_rows(struct parts *parts, const struct weft_calls *calls, size_t row,
                     uint32_t depth, uint32_t *child, bool *is_end)
{
    for (; row < calls->n_rows; row++) {
        if (calls->depth[row] <= depth) {
            *is_end = true;
            return true;
        }
        if (!add_call(parts, calls->depth[row] - depth, calls->function_id[row],
                      calls->end_ns[row] - calls->start_ns[row], child))
            return false;
    }
    return true;
}

/* The block that holds row `row` of the thread. */
static uint64_t block_of_row(const struct weft_scan *scan, uint64_t row)
{
    uint64_t low = 0, high = scan->thread->n_blocks;
    while (low + 1 < high) {
        uint64_t mid = low + (high - low) / 2;
        if (weft_scan_block(scan, mid)->first_row <= row)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* The cut frames above a cut frame are its callee, and that one's. */
static bool add_cut(struct parts *parts, const struct weft_scan *scan, uint32_t depth,
                    uint32_t *child)
{
    size_t n = 0;
    const struct weft_open_call *cut =
        weft_store_cut_calls(weft_trace_store(scan->trace), scan->thread_id, &n);
    for (size_t i = (size_t)depth + 1; i < n; i++)
        if (!add_call(parts, (uint32_t)(i - depth), cut[i].function_id,
                      cut[i].end_ns - cut[i].start_ns, child))
            return false;
    return true;
}

static enum weft_code read_parts(struct weft_scan *scan, const struct weft_open_call *call,
                                 struct parts *parts, struct weft_err *err)
{
    const bool is_cut = call->row == UINT64_MAX;
    uint32_t child = WEFT_ID_NONE;
    uint64_t row = is_cut ? 0 : call->row + 1;
    bool is_end = false;
    if (is_cut && !add_cut(parts, scan, call->depth, &child))
        return weft_no_memory(err, "the parts of a call");
    for (uint64_t block = block_of_row(scan, row); !is_end && block < scan->thread->n_blocks;
         block++) {
        const struct weft_calls *calls = NULL;
        if (weft_progress_is_cancelled(scan->progress))
            return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        weft_scan_seek(scan, block);
        enum weft_code code = weft_scan_next(scan, &calls, err);
        if (code != WEFT_OK || !calls)
            return code;
        const size_t first = row > calls->first_row ? (size_t)(row - calls->first_row) : 0;
        if (!add_rows(parts, calls, first, call->depth, &child, &is_end))
            return weft_no_memory(err, "the parts of a call");
    }
    return WEFT_OK;
}

/* ---- by the file's sums ---------------------------------------------------------------------- */

/* Callers come first, so that a path is found in one walk over the contexts. */
static uint32_t find_context(const struct weft_interval *interval, uint32_t parent,
                             uint32_t function_id)
{
    for (size_t i = parent == WEFT_ID_NONE ? 0 : parent + 1; i < interval->n_contexts; i++)
        if (interval->contexts[i].parent == parent &&
            interval->contexts[i].function_id == function_id)
            return (uint32_t)i;
    return WEFT_ID_NONE;
}

static bool take_callees(struct parts *parts, const struct weft_interval *interval, uint32_t of)
{
    for (size_t i = 0; i < interval->n_contexts; i++) {
        const struct weft_interval_context *context = &interval->contexts[i];
        if (context->parent != of)
            continue;
        struct weft_callee_row *row = callee_of(parts, context->function_id);
        if (!row)
            return false;
        row->count = context->count;
        row->sum_ns = context->sum_ns;
        row->self_ns = context->self_ns;
        parts->called_ns += context->sum_ns;
    }
    return true;
}

/* Callees of no duration where the call ends are not in [start, end): they are counted here. */
static enum weft_code add_last(struct weft_scan *scan, const struct weft_open_call *call,
                               struct parts *parts, struct weft_err *err)
{
    bool is_end = false;
    for (uint64_t block = weft_overlap_block(scan, call->end_ns);
         !is_end && block < scan->thread->n_blocks; block++) {
        const struct weft_calls *calls = NULL;
        weft_scan_seek(scan, block);
        enum weft_code code = weft_scan_next(scan, &calls, err);
        if (code != WEFT_OK || !calls)
            return code;
        for (size_t row = weft_calls_find(calls, call->end_ns); !is_end && row < calls->n_rows;
             row++) {
            uint32_t child = WEFT_ID_NONE;
            is_end = calls->start_ns[row] > call->end_ns || calls->depth[row] <= call->depth;
            if (!is_end && calls->depth[row] == call->depth + 1 &&
                !add_call(parts, 1, calls->function_id[row], 0, &child))
                return weft_no_memory(err, "the parts of a call");
        }
    }
    return WEFT_OK;
}

static enum weft_code ask_sums(struct weft_scan *scan, const struct weft_call_stack *stack,
                               struct parts *parts, struct weft_err *err)
{
    const struct weft_open_call *call = &stack->items[stack->n - 1];
    struct weft_interval_reader *reader = weft_interval_reader_new(scan->trace);
    struct weft_interval interval;
    if (!reader)
        return weft_no_memory(err, "the parts of a call");
    enum weft_code code =
        weft_interval_cct(reader, scan->thread_id, call->start_ns, call->end_ns, &interval, err);
    uint32_t context = WEFT_ID_NONE;
    for (size_t depth = 0; code == WEFT_OK && depth < stack->n; depth++) {
        context = find_context(&interval, context, stack->items[depth].function_id);
        if (context == WEFT_ID_NONE)
            code = weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected the sums of a call of depth %zu, found none", depth);
    }
    if (code == WEFT_OK && !take_callees(parts, &interval, context))
        code = weft_no_memory(err, "the parts of a call");
    weft_interval_reader_free(reader);
    return code == WEFT_OK ? add_last(scan, call, parts, err) : code;
}

/* ---- which way ------------------------------------------------------------------------------- */

/* Whether a call that is no caller begins where the call does, and before it; also if that lies in
 * an earlier block, and is not known. Leaves the call's block loaded. */
static enum weft_code has_twin(struct weft_scan *scan, const struct weft_call_stack *stack,
                               bool *is_twin, struct weft_err *err)
{
    const struct weft_open_call *call = &stack->items[stack->n - 1];
    const struct weft_calls *calls = NULL;
    *is_twin = false;
    if (call->row == UINT64_MAX)
        return WEFT_OK;
    weft_scan_seek(scan, block_of_row(scan, call->row));
    enum weft_code code = weft_scan_next(scan, &calls, err);
    if (code != WEFT_OK || !calls)
        return code;
    size_t row = (size_t)(call->row - calls->first_row), depth = call->depth;
    for (; row > 0 && calls->start_ns[row - 1] == call->start_ns; row--) {
        if (calls->depth[row - 1] >= depth)
            *is_twin = true;
        else
            depth = calls->depth[row - 1];
    }
    *is_twin = *is_twin || row == 0;
    return WEFT_OK;
}

/* Whether the call ends in one of the next blocks. */
static bool is_short(const struct weft_scan *scan, const struct weft_open_call *call)
{
    uint64_t block = call->row == UINT64_MAX ? 0 : block_of_row(scan, call->row);
    return block + READ_BLOCKS >= scan->thread->n_blocks ||
           weft_scan_block(scan, block + READ_BLOCKS)->first_ns >= call->end_ns;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int compare_callees(const void *a_ptr, const void *b_ptr)
{
    const struct weft_callee_row *a = a_ptr, *b = b_ptr;
    if (a->sum_ns != b->sum_ns)
        return a->sum_ns > b->sum_ns ? -1 : 1;
    return (a->function_id > b->function_id) - (a->function_id < b->function_id);
}

static enum weft_code fill_table(struct weft_call_table *table, const struct weft_open_call *call,
                                 struct parts *parts, struct weft_err *err)
{
    const size_t n = parts->callees.n;
    table->callees = WEFT_ARENA_NEW(table->arena, n, struct weft_callee_row);
    if (!table->callees)
        return weft_no_memory(err, "the parts of a call");
    if (n > 0) {
        qsort(parts->callees.items, n, sizeof *parts->callees.items, compare_callees);
        memcpy(table->callees, parts->callees.items, n * sizeof *parts->callees.items);
    }
    table->n_callees = n;
    table->self_ns = call->end_ns - call->start_ns - parts->called_ns;
    return WEFT_OK;
}

enum weft_code weft_call_parts(struct weft_scan *scan, const struct weft_call_stack *stack,
                               struct weft_call_table *table, struct weft_err *err)
{
    const struct weft_open_call *call = &stack->items[stack->n - 1];
    struct parts parts = { 0 };
    bool is_read = is_short(scan, call);
    enum weft_code code = is_read ? WEFT_OK : has_twin(scan, stack, &is_read, err);
    WEFT_THEN(code,
              is_read ? read_parts(scan, call, &parts, err) : ask_sums(scan, stack, &parts, err));
    WEFT_THEN(code, fill_table(table, call, &parts, err));
    weft_map_free(parts.place_of);
    WEFT_VEC_FINI(&parts.callees);
    return code;
}
