/* SPDX-License-Identifier: MIT
 *
 * Single calls, their histograms and their trees against naive twins: every call of a random trace
 * is looked at, one by one.
 */
#include "analysis/calls/calls.h"
#include "model/histogram.h"
#include "random_trace.h"
#include "tap.h"

#include <stdlib.h>

enum { TRACES = 4000, IDS = 12 };

struct subject {
    const struct memory_trace *memory;
    struct weft_trace *trace;
    struct random_source *random;
    const struct weft_run *run;
};

/* ---- what is in a trace ---------------------------------------------------------------------- */

static bool is_in(const struct weft_window *window, const struct memory_call *call)
{
    if (!window)
        return true;
    if (call->start_ns == call->end_ns)
        return call->start_ns >= window->from_ns && call->start_ns < window->to_ns;
    return call->start_ns < window->to_ns && call->end_ns > window->from_ns;
}

static bool is_listed(const uint32_t *ids, size_t n_ids, uint32_t id)
{
    for (size_t i = 0; i < n_ids; i++)
        if (ids[i] == id)
            return true;
    return ids == NULL;
}

static uint64_t inside_ns(const struct weft_window *window, const struct memory_call *call)
{
    uint64_t from_ns = call->start_ns, to_ns = call->end_ns;
    if (window && from_ns < window->from_ns)
        from_ns = window->from_ns;
    if (window && to_ns > window->to_ns)
        to_ns = window->to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static uint64_t self_ns(const struct memory_thread *thread, size_t at,
                        const struct weft_window *window)
{
    uint64_t self_ns = inside_ns(window, &thread->calls[at]);
    for (size_t i = at + 1; i < thread->n_calls && thread->calls[i].depth > thread->calls[at].depth;
         i++)
        if (thread->calls[i].depth == thread->calls[at].depth + 1)
            self_ns -= inside_ns(window, &thread->calls[i]);
    return self_ns;
}

static int64_t caller_of(const struct memory_thread *thread, int64_t at)
{
    for (int64_t i = at - 1; i >= 0 && thread->calls[at].depth > 0; i--)
        if (thread->calls[i].depth + 1 == thread->calls[at].depth)
            return i;
    return -1;
}

static bool row_is(const struct weft_call_row *row, const struct subject *subject, uint32_t t,
                   size_t at)
{
    const struct memory_thread *thread = &subject->memory->threads[t];
    const struct memory_call *call = &thread->calls[at];
    uint32_t flags = call->flags | (at < thread->n_cut ? WEFT_CALL_CUT_START : 0);
    return row->thread_id == t && row->number == at && row->start_ns == call->start_ns &&
           row->end_ns == call->end_ns && row->function_id == call->function_id &&
           row->depth == call->depth && row->flags == flags;
}

/* Random ids, ascending; NULL: all. */
static const uint32_t *random_ids(const struct subject *subject, uint32_t ids[IDS], size_t *n)
{
    *n = 0;
    if (random_below(subject->random, 2))
        return NULL;
    for (uint32_t id = 0; id < IDS; id++)
        if (random_below(subject->random, 3) == 0)
            ids[(*n)++] = id;
    return ids;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* What the calls are chosen and sorted by: their duration, or their self time in the window. */
static uint64_t length_ns(const struct weft_calls_opts *opts, const struct memory_thread *thread,
                          size_t at)
{
    return opts->is_self ? self_ns(thread, at, opts->window)
                         : thread->calls[at].end_ns - thread->calls[at].start_ns;
}

/* A call, and what it is sorted by. */
struct place {
    uint64_t length_ns, start_ns;
    uint32_t t;
    size_t at;
};

static bool is_before(const struct place *a, const struct place *b, enum weft_calls_order order)
{
    if (order == WEFT_CALLS_LONGEST && a->length_ns != b->length_ns)
        return a->length_ns > b->length_ns;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->t < b->t || (a->t == b->t && a->at < b->at);
}

static bool wants(const struct weft_calls_opts *opts, const struct memory_thread *thread, size_t at)
{
    const struct memory_call *call = &thread->calls[at];
    const uint64_t ns = length_ns(opts, thread, at);
    return is_in(opts->window, call) && ns >= opts->min_ns && ns <= opts->max_ns &&
           is_listed(opts->function_ids, opts->n_function_ids, call->function_id);
}

/* All calls that are wanted, in no order. */
static size_t all_wanted(const struct subject *subject, const struct weft_calls_opts *opts,
                         struct place *places)
{
    size_t n = 0;
    for (uint32_t t = 0; t < subject->memory->n_threads; t++) {
        const struct memory_thread *thread = &subject->memory->threads[t];
        for (size_t i = 0; i < thread->n_calls; i++)
            if (wants(opts, thread, i))
                places[n++] =
                    (struct place){ length_ns(opts, thread, i), thread->calls[i].start_ns, t, i };
    }
    return n;
}

/* The row of this call is at the place that the number of calls before it says. */
static bool check_call(const struct subject *subject, const struct weft_calls_table *table,
                       const struct weft_calls_opts *opts, const struct place *places, size_t n,
                       const struct place *own)
{
    size_t place = 0;
    for (size_t i = 0; i < n; i++)
        place += is_before(&places[i], own, opts->order);
    return place >= opts->limit ||
           (place < table->n_rows && table->rows[place].length_ns == own->length_ns &&
            row_is(&table->rows[place], subject, own->t, own->at));
}

static bool test_calls(const struct subject *subject, const struct weft_window *window)
{
    uint32_t ids[IDS];
    struct weft_calls_opts opts = {
        .window = window,
        .min_ns = random_below(subject->random, 2) ? 0 : random_below(subject->random, 60),
        .max_ns = random_below(subject->random, 2) ? UINT64_MAX : random_below(subject->random, 99),
        .is_self = random_below(subject->random, 2),
        .order = random_below(subject->random, 2) ? WEFT_CALLS_LONGEST : WEFT_CALLS_EARLIEST,
        .limit = 1 + (uint32_t)random_below(subject->random, 40),
    };
    opts.function_ids = random_ids(subject, ids, &opts.n_function_ids);
    struct weft_calls_table *table = NULL;
    if (weft_calls_run(subject->trace, NULL, &opts, subject->run, &table, NULL))
        return false;
    size_t n_all = 0;
    for (uint32_t t = 0; t < subject->memory->n_threads; t++)
        n_all += subject->memory->threads[t].n_calls;
    struct place *places = calloc(n_all + 1, sizeof *places);
    const size_t n = all_wanted(subject, &opts, places);
    uint64_t sum_ns = 0;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < n; i++) {
        sum_ns += places[i].length_ns;
        is_ok = check_call(subject, table, &opts, places, n, &places[i]);
    }
    is_ok = is_ok && table->n_found == n && table->sum_ns == sum_ns && !table->is_partial &&
            table->is_self == opts.is_self && table->n_rows == (n < opts.limit ? n : opts.limit);
    free(places);
    weft_result_free(table);
    return is_ok;
}

/* The calls of one thread in pre-order, as many as asked for. */
static bool test_subtree(const struct subject *subject, const struct weft_window *window)
{
    const uint32_t t = (uint32_t)random_below(subject->random, subject->memory->n_threads);
    const struct memory_thread *thread = &subject->memory->threads[t];
    const struct weft_thread_filter filter = { &t, 1 };
    const struct weft_calls_opts opts = { .window = window,
                                          .max_ns = UINT64_MAX,
                                          .order = WEFT_CALLS_EARLIEST,
                                          .limit = 1 + (uint32_t)random_below(subject->random, 50),
                                          .ends_at_limit = true };
    struct weft_calls_table *table = NULL;
    if (weft_calls_run(subject->trace, &filter, &opts, subject->run, &table, NULL))
        return false;
    size_t n = 0, n_all = 0;
    bool is_ok = true;
    for (size_t i = 0; is_ok && i < thread->n_calls; i++) {
        if (!is_in(window, &thread->calls[i]))
            continue;
        n_all++;
        if (n < opts.limit)
            is_ok = n < table->n_rows && row_is(&table->rows[n++], subject, t, i);
    }
    is_ok = is_ok && table->n_rows == n && (table->is_partial || table->n_found == n_all) &&
            (!table->is_partial || n_all > n);
    weft_result_free(table);
    return is_ok;
}

/* ---- histograms ------------------------------------------------------------------------------ */

static bool test_histogram(const struct subject *subject, const struct weft_window *window)
{
    uint32_t ids[IDS];
    struct weft_histogram_opts opts = { .window = window,
                                        .is_self = random_below(subject->random, 2) };
    opts.function_ids = random_ids(subject, ids, &opts.n_function_ids);
    struct weft_histogram_table *table = NULL;
    if (weft_histogram_run(subject->trace, NULL, &opts, subject->run, &table, NULL))
        return false;
    uint64_t n = 0, sum_ns = 0, min_ns = UINT64_MAX, max_ns = 0;
    uint64_t *left = calloc(table->n_rows + 1, sizeof *left);
    bool is_ok = true;
    for (uint32_t t = 0; t < subject->memory->n_threads; t++)
        for (size_t i = 0; i < subject->memory->threads[t].n_calls; i++) {
            const struct memory_call *call = &subject->memory->threads[t].calls[i];
            if (!is_in(window, call) ||
                !is_listed(opts.function_ids, opts.n_function_ids, call->function_id))
                continue;
            uint64_t value_ns = opts.is_self ? self_ns(&subject->memory->threads[t], i, window)
                                             : call->end_ns - call->start_ns;
            size_t bin = 0;
            while (bin < table->n_rows && value_ns >= table->rows[bin].to_ns)
                bin++;
            is_ok = is_ok && bin < table->n_rows && value_ns >= table->rows[bin].from_ns;
            left[bin]++;
            n++;
            sum_ns += value_ns;
            min_ns = value_ns < min_ns ? value_ns : min_ns;
            max_ns = value_ns > max_ns ? value_ns : max_ns;
        }
    uint64_t sums_ns = 0;
    for (size_t bin = 0; bin < table->n_rows; bin++) {
        is_ok = is_ok && left[bin] == table->rows[bin].count;
        sums_ns += table->rows[bin].sum_ns;
    }
    is_ok = is_ok && table->count == n && table->sum_ns == sum_ns && sums_ns == sum_ns &&
            table->min_ns == (n ? min_ns : 0) && table->max_ns == max_ns;
    if (!is_ok)
        tap_note("histogram of %s: %" PRIu64 " calls, %" PRIu64 " ns, from %" PRIu64 " to %" PRIu64
                 "; wanted %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                 opts.is_self ? "self times" : "durations", table->count, table->sum_ns,
                 table->min_ns, table->max_ns, n, sum_ns, min_ns, max_ns);
    free(left);
    weft_result_free(table);
    return is_ok;
}

/* Every value lies in its bin, and bins follow each other. */
static bool test_bins(struct random_source *random)
{
    bool is_ok = weft_bin_floor(0) == 0 && weft_bin_of(UINT64_MAX) + 1 == WEFT_BINS;
    for (unsigned i = 0; is_ok && i < 100000; i++) {
        uint64_t value = (random_below(random, UINT64_MAX)) >> random_below(random, 64);
        uint32_t bin = weft_bin_of(value);
        is_ok = bin < WEFT_BINS && weft_bin_floor(bin) <= value &&
                (bin + 1 == WEFT_BINS || value < weft_bin_floor(bin + 1));
    }
    return is_ok;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Whether call `at` has the path of the row. */
static bool has_path(const struct weft_tree_table *table, uint32_t row,
                     const struct memory_thread *thread, int64_t at)
{
    for (; row != WEFT_ID_NONE && at >= 0;
         row = table->rows[row].parent, at = caller_of(thread, at))
        if (table->rows[row].function_id != thread->calls[at].function_id)
            return false;
    return row == WEFT_ID_NONE && at < 0;
}

static bool check_tree_row(const struct subject *subject, const struct weft_tree_table *table,
                           const struct weft_window *window, uint32_t row)
{
    uint64_t count = 0, sum_ns = 0, own_ns = 0;
    for (uint32_t t = 0; t < subject->memory->n_threads; t++)
        for (size_t i = 0; i < subject->memory->threads[t].n_calls; i++) {
            const struct memory_thread *thread = &subject->memory->threads[t];
            if (!is_in(window, &thread->calls[i]) || !has_path(table, row, thread, (int64_t)i))
                continue;
            count++;
            sum_ns += inside_ns(window, &thread->calls[i]);
            own_ns += self_ns(thread, i, window);
        }
    const struct weft_tree_row *got = &table->rows[row];
    return got->count == count && got->sum_ns == sum_ns && got->self_ns == own_ns;
}

/* Pre-order, siblings by time. */
static bool is_ordered(const struct weft_tree_table *table)
{
    for (uint32_t i = 0; i < table->n_rows; i++) {
        const struct weft_tree_row *row = &table->rows[i];
        bool is_root = row->parent == WEFT_ID_NONE;
        if (is_root ? row->depth != 0
                    : row->parent >= i || table->rows[row->parent].depth + 1 != row->depth)
            return false;
        for (uint32_t j = is_root ? 0 : row->parent + 1; j < i; j++) {
            if (table->rows[j].depth < row->depth)
                return false;
            if (table->rows[j].parent == row->parent && table->rows[j].sum_ns < row->sum_ns)
                return false;
        }
    }
    return true;
}

/* The store in memory has no block for a thread of nothing but cut frames, as files have: intervals
 * would not see it. */
static bool has_bare_cut(const struct memory_trace *memory)
{
    for (uint32_t t = 0; t < memory->n_threads; t++)
        if (memory->threads[t].n_cut > 0 && memory->threads[t].n_calls == memory->threads[t].n_cut)
            return true;
    return false;
}

static bool test_tree(const struct subject *subject, const struct weft_window *window)
{
    if (has_bare_cut(subject->memory))
        return true;
    const struct weft_window all = { 0, UINT64_MAX >> 1 };
    struct weft_tree_opts opts = { .from_ns = all.from_ns, .to_ns = all.to_ns };
    if (window)
        opts = (struct weft_tree_opts){ window->from_ns, window->to_ns, 0 };
    if (random_below(subject->random, 2))
        opts.limit = 1 + (uint32_t)random_below(subject->random, 12);
    struct weft_tree_table *table = NULL;
    if (weft_tree_run(subject->trace, NULL, &opts, subject->run, &table, NULL))
        return false;
    bool is_ok = is_ordered(table) && (!opts.limit || table->n_rows <= opts.limit);
    uint64_t rows_self_ns = 0, all_self_ns = 0, called_ns = 0;
    for (uint32_t row = 0; is_ok && row < table->n_rows; row++) {
        is_ok = check_tree_row(subject, table, window ? window : &all, row);
        rows_self_ns += table->rows[row].self_ns;
    }
    for (uint32_t t = 0; t < subject->memory->n_threads; t++)
        for (size_t i = 0; i < subject->memory->threads[t].n_calls; i++) {
            const struct memory_thread *thread = &subject->memory->threads[t];
            all_self_ns += is_in(window, &thread->calls[i]) ? self_ns(thread, i, window) : 0;
            called_ns += thread->calls[i].depth == 0 ? inside_ns(window, &thread->calls[i]) : 0;
        }
    is_ok = is_ok && rows_self_ns + table->folded_self_ns == all_self_ns &&
            table->called_ns == called_ns &&
            (table->n_rows == table->n_found || table->n_rows == opts.limit);
    if (!is_ok)
        tap_note("tree: %zu rows of %" PRIu64 ", limit %u, self %" PRIu64 " + %" PRIu64
                 ", wanted %" PRIu64 "; called %" PRIu64 ", wanted %" PRIu64 "; ordered %d",
                 table->n_rows, table->n_found, opts.limit, rows_self_ns, table->folded_self_ns,
                 all_self_ns, table->called_ns, called_ns, is_ordered(table));
    weft_result_free(table);
    return is_ok;
}

/* ---- one call -------------------------------------------------------------------------------- */

/* The call that the options name, or -1. */
static int64_t naive_call(const struct memory_thread *thread, const struct weft_call_opts *opts)
{
    int64_t found = -1;
    for (size_t i = 0; i < thread->n_calls; i++) {
        const struct memory_call *call = &thread->calls[i];
        bool is_depth = opts->depth == WEFT_CALL_ANY_DEPTH || call->depth == opts->depth;
        bool is_kind = is_depth && call->end_ns - call->start_ns >= opts->min_ns &&
                       is_listed(opts->function_ids, opts->n_function_ids, call->function_id);
        if (opts->which == WEFT_CALL_AT && is_depth && call->start_ns <= opts->at_ns) {
            /* of several that begin there the last one */
            bool is_there = call->end_ns > opts->at_ns || call->start_ns == opts->at_ns;
            found = is_there ? (int64_t)i : found;
        } else if (opts->which == WEFT_CALL_NEXT && is_kind && call->start_ns > opts->at_ns) {
            return (int64_t)i;
        } else if (opts->which == WEFT_CALL_PREVIOUS && is_kind && call->start_ns < opts->at_ns) {
            found = (int64_t)i;
        }
    }
    return found;
}

static bool check_callees(const struct memory_thread *thread, size_t at,
                          const struct weft_call_table *table)
{
    uint64_t n = 0;
    for (size_t c = 0; c < table->n_callees; c++) {
        const struct weft_callee_row *row = &table->callees[c];
        uint64_t count = 0, sum_ns = 0, own_ns = 0;
        for (size_t i = at + 1;
             i < thread->n_calls && thread->calls[i].depth > thread->calls[at].depth; i++) {
            if (thread->calls[i].depth != thread->calls[at].depth + 1 ||
                thread->calls[i].function_id != row->function_id)
                continue;
            count++;
            sum_ns += thread->calls[i].end_ns - thread->calls[i].start_ns;
            own_ns += self_ns(thread, i, NULL);
        }
        n += count;
        if (row->count != count || row->sum_ns != sum_ns || row->self_ns != own_ns ||
            (c > 0 && table->callees[c - 1].sum_ns < sum_ns))
            return false;
    }
    for (size_t i = at + 1; i < thread->n_calls && thread->calls[i].depth > thread->calls[at].depth;
         i++)
        n -= thread->calls[i].depth == thread->calls[at].depth + 1;
    return n == 0;
}

static bool check_one(const struct subject *subject, const struct weft_call_opts *opts,
                      const struct weft_call_table *table)
{
    const struct memory_thread *thread = &subject->memory->threads[opts->thread_id];
    int64_t at = naive_call(thread, opts);
    if (at < 0 || !table->is_found)
        return at < 0 && !table->is_found;
    bool is_ok = row_is(&table->call, subject, opts->thread_id, (size_t)at) &&
                 table->self_ns == self_ns(thread, (size_t)at, NULL) &&
                 check_callees(thread, (size_t)at, table);
    int64_t caller = caller_of(thread, at);
    for (uint32_t depth = table->call.depth; is_ok && depth > 0; depth--) {
        is_ok = row_is(&table->callers[depth - 1], subject, opts->thread_id, (size_t)caller);
        caller = caller_of(thread, caller);
    }
    return is_ok;
}

static bool test_call(const struct subject *subject)
{
    uint32_t ids[IDS];
    const uint32_t t = (uint32_t)random_below(subject->random, subject->memory->n_threads);
    const struct memory_thread *thread = &subject->memory->threads[t];
    const struct memory_call none = { 0 };
    const struct memory_call *near =
        thread->n_calls ? &thread->calls[random_below(subject->random, thread->n_calls)] : &none;
    struct weft_call_opts opts = {
        .which = (enum weft_call_which)random_below(subject->random, 3),
        .thread_id = t,
        .at_ns = (random_below(subject->random, 2) ? near->start_ns : near->end_ns) +
                 random_below(subject->random, 2),
        .depth = near->depth + (uint32_t)(random_below(subject->random, 8) == 0),
    };
    if (random_below(subject->random, 16) == 0)
        opts.at_ns = random_below(subject->random, 2) ? 0 : UINT64_MAX;
    if (opts.which != WEFT_CALL_AT) {
        opts.function_ids = random_ids(subject, ids, &opts.n_function_ids);
        opts.min_ns = random_below(subject->random, 2) ? 0 : random_below(subject->random, 60);
        opts.depth = random_below(subject->random, 2) ? opts.depth : WEFT_CALL_ANY_DEPTH;
    }
    struct weft_call_table *table = NULL;
    if (weft_call_run(subject->trace, &opts, subject->run, &table, NULL))
        return false;
    bool is_ok = check_one(subject, &opts, table);
    if (!is_ok)
        tap_note("which %d thread %u at %" PRIu64 " depth %u: found %d number %" PRIu64
                 ", wanted %" PRId64,
                 (int)opts.which, t, opts.at_ns, opts.depth, table->is_found, table->call.number,
                 naive_call(thread, &opts));
    weft_result_free(table);
    return is_ok;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool test_trace(struct random_source *random, const struct memory_trace *memory,
                       struct weft_pool *pool)
{
    char path[MEMORY_PATH_BYTES];
    const struct weft_run run = { .pool = pool };
    struct subject subject = { .memory = memory, .random = random, .run = &run };
    const struct weft_window window = random_window(random, memory);
    const struct weft_window *part = random_below(random, 4) ? &window : NULL;
    memory_store_path(memory, path);
    if (weft_trace_open(path, &subject.trace, NULL))
        return false;
    const char *wrong = NULL;
    if (!test_calls(&subject, part))
        wrong = "calls";
    else if (!test_subtree(&subject, part))
        wrong = "subtree";
    else if (!test_histogram(&subject, part))
        wrong = "histogram";
    else if (!test_tree(&subject, part))
        wrong = "tree";
    for (unsigned i = 0; i < 8 && !wrong; i++)
        wrong = test_call(&subject) ? NULL : "call";
    if (wrong)
        tap_note("%s, window [%" PRIu64 ", %" PRIu64 ") %s", wrong, window.from_ns, window.to_ns,
                 part ? "" : "not used");
    weft_trace_close(subject.trace);
    return wrong == NULL;
}

int main(void)
{
    struct random_source random = { tap_seed(61) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(3) };
    unsigned n_bad = 0;
    tap_ok(test_bins(&random), "bins hold their values, and follow each other");
    for (unsigned i = 0; i < TRACES && n_bad == 0; i++) {
        struct memory_trace trace = random_trace(&random, i % 100 == 0 ? 400 : 60);
        n_bad += !test_trace(&random, &trace, pools[i % 2]);
        if (n_bad)
            random_trace_print(&trace);
        random_trace_free(&trace);
    }
    tap_ok(n_bad == 0, "%d random traces", TRACES);
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    return tap_done();
}
