/* SPDX-License-Identifier: MIT
 *
 * One call: the one at a point of time, or the next or previous one of its kind.
 */
#include "analysis/calls/calls.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/calls/callers.h"
#include "model/calls/overlap.h"
#include "model/calls/scan.h"
#include "model/interval/interval.h"
#include "schema/calls.h"

#include <stdlib.h>

/* ---- call parts ------------------------------------------------------------------------------ */

/* What one call spent its time on: self time, and its direct callees by function. A short call is
 * read row by row; of a long one the file's sums are asked. Sums go by paths: they say what they
 * should unless another call of the same path, of no duration, stands where the call begins; then
 * it is read. */

/* A call with its callers: stack[n_stack - 1] is the call, those before it its callers by depth. */
struct weft_call_stack {
    const struct weft_open_call *items;
    size_t n;
};

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

/* Fills self_ns, callees and n_callees of the table, in its arena. */
static enum weft_code weft_call_parts(struct weft_scan *scan, const struct weft_call_stack *stack,
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

/* ---- call ------------------------------------------------------------------------------------ */

struct search {
    const struct weft_call_opts *opts;
    struct weft_scan *scan;
    uint8_t *is_wanted; /* by function id; NULL: all */
    struct weft_call_table *table;
    struct {
        struct weft_open_call *items; /* the call found, with its callers, by depth */
        size_t n, cap;
    } stack;
    struct {
        uint32_t *items;
        size_t n, cap;
    } chain;
};

/* ---- stacks ---------------------------------------------------------------------------------- */

/* The first `n` cut frames. */
static const struct weft_open_call *cut_frames(const struct search *search, size_t *n)
{
    return weft_store_cut_calls(weft_trace_store(search->scan->trace), search->scan->thread_id, n);
}

static bool stack_from_cut(struct search *search, size_t n)
{
    size_t n_cut = 0;
    const struct weft_open_call *cut = cut_frames(search, &n_cut);
    if (!weft_vec_reserve(&search->stack.items, &search->stack.cap, n + 1,
                          sizeof *search->stack.items))
        return false;
    if (n > 0)
        memcpy(search->stack.items, cut, n * sizeof *cut);
    search->stack.n = n;
    return true;
}

/* The calls open after the rows before `row` were entered; `n` of them at most. */
static bool stack_from_rows(struct search *search, const struct weft_calls *calls, size_t row,
                            size_t n)
{
    const size_t n_all = weft_calls_depth(calls, row);
    if (!weft_vec_reserve(&search->chain.items, &search->chain.cap, n_all + 1,
                          sizeof *search->chain.items) ||
        !weft_vec_reserve(&search->stack.items, &search->stack.cap, n_all + 1,
                          sizeof *search->stack.items))
        return false;
    const size_t n_left = weft_calls_chain(calls, row, search->chain.items);
    search->stack.n = n < n_all ? n : n_all;
    for (size_t depth = 0; depth < search->stack.n; depth++)
        search->stack.items[depth] = weft_calls_chained(calls, search->chain.items, n_left, depth);
    return true;
}

static enum weft_code load(struct search *search, uint64_t block, const struct weft_calls **calls,
                           struct weft_err *err)
{
    if (weft_progress_is_cancelled(search->scan->progress))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    weft_scan_seek(search->scan, block);
    return weft_scan_next(search->scan, calls, err);
}

/* ---- at a point of time ---------------------------------------------------------------------- */

/* The last block whose first call does not begin after `at_ns`; UINT64_MAX: none. */
static uint64_t block_at(const struct weft_scan *scan, uint64_t at_ns)
{
    if (scan->thread->n_blocks == 0 || weft_scan_block(scan, 0)->first_ns > at_ns)
        return UINT64_MAX;
    return at_ns == UINT64_MAX ? scan->thread->n_blocks - 1 : weft_overlap_block(scan, at_ns + 1);
}

/* Whether the stack's last call is open at the point, or begins there. */
static bool is_there(const struct search *search)
{
    const struct weft_call_opts *opts = search->opts;
    if (search->stack.n <= opts->depth)
        return false;
    const struct weft_open_call *call = &search->stack.items[opts->depth];
    return call->end_ns > opts->at_ns || call->start_ns == opts->at_ns;
}

/* A call of no duration that begins at the point, and is left before the last call that does. */
static enum weft_code find_left(struct search *search, uint64_t n_blocks, struct weft_err *err)
{
    const struct weft_call_opts *opts = search->opts;
    bool is_there = true;
    for (; is_there && n_blocks > 0; n_blocks--) {
        const struct weft_calls *calls = NULL;
        enum weft_code code = load(search, n_blocks - 1, &calls, err);
        if (code != WEFT_OK || !calls)
            return code;
        size_t row =
            opts->at_ns == UINT64_MAX ? calls->n_rows : weft_calls_find(calls, opts->at_ns + 1);
        for (; row > 0 && calls->start_ns[row - 1] == opts->at_ns; row--) {
            if (calls->depth[row - 1] != opts->depth)
                continue;
            search->table->is_found = true;
            return stack_from_rows(search, calls, row, SIZE_MAX) ? WEFT_OK
                                                                 : weft_no_memory(err, "a call");
        }
        is_there = row == 0;
    }
    size_t n_cut = 0;
    const struct weft_open_call *cut = cut_frames(search, &n_cut);
    if (!is_there || opts->depth >= n_cut || cut[opts->depth].start_ns != opts->at_ns)
        return WEFT_OK;
    search->table->is_found = true;
    return stack_from_cut(search, (size_t)opts->depth + 1) ? WEFT_OK
                                                           : weft_no_memory(err, "a call");
}

static enum weft_code find_at(struct search *search, struct weft_err *err)
{
    const struct weft_call_opts *opts = search->opts;
    const uint64_t block = block_at(search->scan, opts->at_ns);
    const size_t wanted = (size_t)opts->depth + 1;
    const struct weft_calls *calls = NULL;
    bool is_ok = true;
    if (block == UINT64_MAX) {
        size_t n_cut = 0;
        (void)cut_frames(search, &n_cut);
        is_ok = stack_from_cut(search, wanted < n_cut ? wanted : n_cut);
    } else {
        enum weft_code code = load(search, block, &calls, err);
        if (code != WEFT_OK || !calls)
            return code;
        const size_t row =
            opts->at_ns == UINT64_MAX ? calls->n_rows : weft_calls_find(calls, opts->at_ns + 1);
        is_ok = stack_from_rows(search, calls, row, wanted);
    }
    if (!is_ok)
        return weft_no_memory(err, "a call");
    search->table->is_found = is_there(search);
    return search->stack.n < wanted ? find_left(search, block + 1, err) : WEFT_OK;
}

/* ---- the next, the previous ------------------------------------------------------------------ */

static bool is_match(const struct search *search, uint32_t function_id, uint32_t depth,
                     uint64_t duration_ns)
{
    const struct weft_call_opts *opts = search->opts;
    return (opts->depth == WEFT_CALL_ANY_DEPTH || depth == opts->depth) &&
           duration_ns >= opts->min_ns && (!search->is_wanted || search->is_wanted[function_id]);
}

/* Whether calls of the block may match. */
static enum weft_code is_worth_it(struct search *search, uint64_t block, bool *out,
                                  struct weft_err *err)
{
    const struct weft_block_info *info = weft_scan_block(search->scan, block);
    const uint32_t depth = search->opts->depth;
    const uint32_t *ids = NULL;
    size_t n_ids = 0;
    *out = info->longest_call_ns >= search->opts->min_ns &&
           (depth == WEFT_CALL_ANY_DEPTH || depth <= info->max_depth);
    if (!*out || !search->is_wanted)
        return WEFT_OK;
    enum weft_code code = weft_scan_functions(search->scan, block, &ids, &n_ids, err);
    *out = false;
    for (size_t i = 0; code == WEFT_OK && i < n_ids && !*out; i++)
        *out = search->is_wanted[ids[i]] != 0;
    return code;
}

/* Looks through the rows from `first` to before `end`, in the direction of the search. */
static enum weft_code look_through(struct search *search, const struct weft_calls *calls,
                                   size_t first, size_t end, struct weft_err *err)
{
    const bool is_back = search->opts->which == WEFT_CALL_PREVIOUS;
    for (size_t i = first; i < end; i++) {
        const size_t row = is_back ? end - 1 - (i - first) : i;
        if (!is_match(search, calls->function_id[row], calls->depth[row],
                      calls->end_ns[row] - calls->start_ns[row]))
            continue;
        search->table->is_found = true;
        return stack_from_rows(search, calls, row + 1, SIZE_MAX) ? WEFT_OK
                                                                 : weft_no_memory(err, "a call");
    }
    return WEFT_OK;
}

static enum weft_code look_in_block(struct search *search, uint64_t block, struct weft_err *err)
{
    const uint64_t at_ns = search->opts->at_ns;
    const struct weft_calls *calls = NULL;
    bool is_worth = false;
    enum weft_code code = is_worth_it(search, block, &is_worth, err);
    if (code == WEFT_OK && is_worth)
        code = load(search, block, &calls, err);
    if (code != WEFT_OK || !calls)
        return code;
    if (search->opts->which == WEFT_CALL_PREVIOUS)
        return look_through(search, calls, 0, weft_calls_find(calls, at_ns), err);
    const size_t first = at_ns == UINT64_MAX ? calls->n_rows : weft_calls_find(calls, at_ns + 1);
    return look_through(search, calls, first, calls->n_rows, err);
}

static enum weft_code find_next(struct search *search, struct weft_err *err)
{
    uint64_t block = block_at(search->scan, search->opts->at_ns);
    enum weft_code code = WEFT_OK;
    for (block = block == UINT64_MAX ? 0 : block;
         code == WEFT_OK && !search->table->is_found && block < search->scan->thread->n_blocks;
         block++)
        code = look_in_block(search, block, err);
    return code;
}

static enum weft_code find_previous(struct search *search, struct weft_err *err)
{
    uint64_t n_left = block_at(search->scan, search->opts->at_ns) + 1; /* none: 0 */
    enum weft_code code = WEFT_OK;
    for (; code == WEFT_OK && !search->table->is_found && n_left > 0; n_left--)
        code = look_in_block(search, n_left - 1, err);
    size_t n_cut = 0;
    const struct weft_open_call *cut = cut_frames(search, &n_cut);
    for (size_t i = n_cut; code == WEFT_OK && !search->table->is_found && i > 0; i--)
        if (cut[i - 1].start_ns < search->opts->at_ns &&
            is_match(search, cut[i - 1].function_id, cut[i - 1].depth,
                     cut[i - 1].end_ns - cut[i - 1].start_ns)) {
            search->table->is_found = true;
            code = stack_from_cut(search, i) ? WEFT_OK : weft_no_memory(err, "a call");
        }
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct weft_call_row row_of(const struct search *search, size_t depth)
{
    const struct weft_open_call *call = &search->stack.items[depth];
    const bool is_cut = call->row == UINT64_MAX;
    return (struct weft_call_row){
        .start_ns = call->start_ns,
        .end_ns = call->end_ns,
        .length_ns = call->end_ns - call->start_ns,
        .number = is_cut ? call->depth : search->scan->thread->cut_calls + call->row,
        .thread_id = search->scan->thread_id,
        .function_id = call->function_id,
        .depth = call->depth,
        .flags = call->flags | (is_cut ? WEFT_CALL_CUT_START : 0),
    };
}

static enum weft_code fill_call_table(struct search *search, struct weft_err *err)
{
    struct weft_call_table *table = search->table;
    const size_t n_callers = search->stack.n - 1;
    const struct weft_call_stack stack = { search->stack.items, search->stack.n };
    table->callers = WEFT_ARENA_NEW(table->arena, n_callers, struct weft_call_row);
    if (!table->callers)
        return weft_no_memory(err, "a call");
    for (size_t depth = 0; depth < n_callers; depth++)
        table->callers[depth] = row_of(search, depth);
    table->call = row_of(search, n_callers);
    return weft_call_parts(search->scan, &stack, table, err);
}

static enum weft_code run_item(void *context, struct weft_scan *scan, unsigned index,
                               struct weft_err *err)
{
    struct search *search = context;
    enum weft_code code = WEFT_OK;
    (void)index;
    search->scan = scan;
    switch (search->opts->which) {
    case WEFT_CALL_AT:
        code = find_at(search, err);
        break;
    case WEFT_CALL_NEXT:
        code = find_next(search, err);
        break;
    case WEFT_CALL_PREVIOUS:
        code = find_previous(search, err);
        break;
    }
    return code == WEFT_OK && search->table->is_found ? fill_call_table(search, err) : code;
}

static bool search_init(struct search *search, const struct weft_call_opts *opts,
                        uint32_t n_functions)
{
    struct weft_arena *arena = weft_arena_new(0);
    *search = (struct search){ .opts = opts };
    search->table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_call_table) : NULL;
    if (search->table)
        search->table->arena = arena;
    else if (arena)
        weft_arena_free(arena);
    if (opts->function_ids)
        search->is_wanted = calloc((size_t)n_functions + 1, 1);
    for (size_t i = 0; search->is_wanted && i < opts->n_function_ids; i++)
        if (opts->function_ids[i] < n_functions)
            search->is_wanted[opts->function_ids[i]] = 1;
    return search->table && (search->is_wanted || !opts->function_ids);
}

enum weft_code weft_call_run(const struct weft_trace *trace, const struct weft_call_opts *opts,
                             const struct weft_run *run, struct weft_call_table **table,
                             struct weft_err *err)
{
    struct search search;
    *table = NULL;
    WEFT_TRY(weft_scan_check(trace, &opts->thread_id, 1, err));
    enum weft_code code =
        search_init(&search, opts, weft_trace_n_functions(trace))
            ? weft_scan_threads(trace, &opts->thread_id, 1, NULL, run, run_item, &search, err)
            : weft_no_memory(err, "a call");
    if (code == WEFT_OK)
        *table = search.table;
    else
        weft_result_free(search.table);
    free(search.is_wanted);
    WEFT_VEC_FINI(&search.stack);
    WEFT_VEC_FINI(&search.chain);
    return code;
}
