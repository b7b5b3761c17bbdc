/* SPDX-License-Identifier: MIT
 *
 * One call: the one at a point of time, or the next or previous one of its kind.
 */
#include "analysis/calls/call_parts.h"
#include "analysis/calls/calls.h"
#include "base/vec.h"
#include "model/calls/callers.h"
#include "model/calls/overlap.h"

#include <stdlib.h>

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

static enum weft_code fill_table(struct search *search, struct weft_err *err)
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
    return code == WEFT_OK && search->table->is_found ? fill_table(search, err) : code;
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
