/* SPDX-License-Identifier: MIT */
#include "analysis/calls/calls.h"
#include "naive.h"

#include <math.h>
#include <stdlib.h>

static int caller_of(const struct memory_thread *thread, size_t i)
{
    for (int j = (int)i - 1; j >= 0 && thread->calls[i].depth; j--)
        if (thread->calls[j].depth == thread->calls[i].depth - 1)
            return j;
    return -1;
}

/* The sibling before call i, or -1. */
static int sibling_before(const struct memory_thread *thread, size_t i)
{
    for (int j = (int)i - 1; j >= 0 && thread->calls[j].depth >= thread->calls[i].depth; j--)
        if (thread->calls[j].depth == thread->calls[i].depth)
            return j;
    return -1;
}

static uint64_t ns_of(const struct memory_call *call)
{
    return call->end_ns - call->start_ns;
}

/* Values of 8 significant bits: what a histogram slot begins with. */
static uint64_t slot_floor(uint64_t value)
{
    unsigned shift = 0;
    while (value >> shift >= 256)
        shift++;
    return value >> shift << shift;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t gap_median(const struct memory_thread *thread)
{
    uint64_t *gaps = calloc(thread->n_calls + 1, sizeof *gaps);
    size_t n = 0;
    for (size_t i = 0; i < thread->n_calls; i++) {
        int before = sibling_before(thread, i);
        if (before >= 0)
            gaps[n++] = thread->calls[i].start_ns - thread->calls[before].end_ns;
    }
    qsort(gaps, n, sizeof *gaps, by_value);
    uint64_t median = n ? slot_floor(gaps[(n + 1) / 2 - 1]) : 0;
    free(gaps);
    return median;
}

static struct weft_outlier_row make_row(const struct memory_trace *trace, uint32_t t, size_t i,
                                        enum weft_outlier_kind kind, uint64_t start, uint64_t end,
                                        uint64_t median, uint64_t whole)
{
    const struct memory_thread *thread = &trace->threads[t];
    struct weft_outlier_row row = { .kind = kind,
                                    .thread_id = t,
                                    .depth = thread->calls[i].depth,
                                    .start_ns = start,
                                    .end_ns = end,
                                    .median_ns = median,
                                    .is_deepest = true };
    row.context = calloc((size_t)row.depth + 1, sizeof *row.context);
    for (int up = caller_of(thread, i); up >= 0; up = caller_of(thread, (size_t)up))
        row.context[thread->calls[up].depth] = thread->calls[up].function_id;
    row.times_median = (double)(end - start) / (double)(median ? median : 1);
    row.thread_share = whole ? (double)(end - start) / (double)whole : 0;
    double share = row.thread_share > 1e-6 ? row.thread_share : 1e-6;
    row.score = log2(1 + row.times_median) * (1 + log10(share) / 6);
    return row;
}

struct limits {
    uint64_t whole, d, g, gap_median;
};

static bool is_listed(const struct memory_thread *thread,
                      const struct weft_functions_table *functions,
                      const struct weft_outliers_opts *opts, const struct limits *limits, size_t i,
                      bool *is_own, bool *is_long)
{
    const struct memory_call *call = &thread->calls[i];
    const struct weft_function_row *row =
        &functions->rows[functions->row_of_function[call->function_id]];
    bool is_wanted = !opts->function_ids;
    for (size_t k = 0; k < opts->n_function_ids; k++)
        is_wanted = is_wanted || opts->function_ids[k] == call->function_id;
    double times = opts->outlier_factor * (double)(row->p50_ns ? row->p50_ns : 1);
    *is_own = row->count > row->open_count && ns_of(call) >= opts->outlier_min_ns &&
              ns_of(call) > (uint64_t)floor(times);
    *is_long = ns_of(call) > limits->d;
    return is_wanted && (*is_own || (*is_long && opts->with_long)) &&
           ns_of(call) >= opts->min_duration_ns;
}

static uint64_t self_of(const struct memory_thread *thread, size_t i)
{
    uint64_t self = ns_of(&thread->calls[i]);
    for (size_t j = i + 1; j < thread->n_calls; j++)
        if (caller_of(thread, j) == (int)i)
            self -= ns_of(&thread->calls[j]);
    return self;
}

/* Gaps of more than g that are at least half as long. */
static size_t count_alike(const struct memory_thread *thread, uint64_t g, uint64_t gap)
{
    size_t n = 0;
    for (size_t i = 0; i < thread->n_calls; i++) {
        int before = sibling_before(thread, i);
        uint64_t ns = before < 0 ? 0 : thread->calls[i].start_ns - thread->calls[before].end_ns;
        n += before >= 0 && ns > g && 2 * ns >= gap;
    }
    return n;
}

static size_t add_thread(const struct memory_trace *trace, uint32_t t,
                         const struct weft_functions_table *functions,
                         const struct weft_outliers_opts *opts, struct weft_outlier_row *rows)
{
    const struct memory_thread *thread = &trace->threads[t];
    size_t n = 0;
    struct limits limits = { .gap_median = gap_median(thread) };
    for (size_t i = 0; i < thread->n_calls; i++)
        if (thread->calls[i].end_ns - thread->calls[0].start_ns > limits.whole)
            limits.whole = thread->calls[i].end_ns - thread->calls[0].start_ns;
    limits.d = (uint64_t)floor(opts->duration_fraction * (double)limits.whole);
    limits.g = (uint64_t)floor(opts->gap_fraction * (double)limits.whole);
    size_t *row_of = calloc(thread->n_calls + 1, sizeof *row_of);
    for (size_t i = 0; i < thread->n_calls; i++) {
        const struct memory_call *call = &thread->calls[i];
        int before = sibling_before(thread, i);
        uint64_t gap = before < 0 ? 0 : call->start_ns - thread->calls[before].end_ns;
        if (before >= 0 && gap > limits.g && opts->with_long && !opts->function_ids &&
            gap >= opts->min_duration_ns) {
            rows[n] = make_row(trace, t, i, WEFT_OUTLIER_GAP, thread->calls[before].end_ns,
                               call->start_ns, limits.gap_median, limits.whole);
            rows[n].function_id = thread->calls[before].function_id;
            rows[n].is_long = true;
            rows[n].score /= (double)count_alike(thread, limits.g, gap);
            for (int up = caller_of(thread, i); up >= 0; up = caller_of(thread, (size_t)up))
                if (row_of[up] && gap * 10 >= ns_of(&thread->calls[up]) * 9)
                    rows[n].is_deepest = false;
            n++;
        }
        bool is_own, is_long;
        if (!is_listed(thread, functions, opts, &limits, i, &is_own, &is_long))
            continue;
        const struct weft_function_row *function =
            &functions->rows[functions->row_of_function[call->function_id]];
        uint64_t median = function->count > function->open_count ? function->p50_ns : 0;
        rows[n] = make_row(trace, t, i, WEFT_OUTLIER_CALL, call->start_ns, call->end_ns, median,
                           limits.whole);
        if (function->count == function->open_count) { /* no median */
            double share = rows[n].thread_share > 1e-6 ? rows[n].thread_share : 1e-6;
            rows[n].times_median = 1;
            rows[n].score = log2(2) * (1 + log10(share) / 6);
        }
        rows[n].function_id = call->function_id;
        rows[n].flags = call->flags;
        rows[n].self_ns = self_of(thread, i);
        rows[n].is_own = is_own;
        rows[n].is_long = is_long;
        row_of[i] = ++n;
        for (int up = caller_of(thread, i); up >= 0; up = caller_of(thread, (size_t)up))
            if (row_of[up] && ns_of(call) * 10 >= ns_of(&thread->calls[up]) * 9)
                rows[row_of[up] - 1].is_deepest = false;
    }
    free(row_of);
    return n;
}

/* Whether a stays before b: rows were made in (thread, pre-order) order, so equals do not swap. */
static bool is_before(const struct weft_outlier_row *a, const struct weft_outlier_row *b)
{
    if (a->score < b->score || a->score > b->score)
        return a->score > b->score;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->thread_id <= b->thread_id;
}

size_t naive_outliers(const struct memory_trace *trace,
                      const struct weft_functions_table *functions,
                      const struct weft_outliers_opts *opts, struct weft_outlier_row **rows)
{
    size_t n = 0, n_max = 1;
    for (uint32_t t = 0; t < trace->n_threads; t++)
        n_max += 2 * trace->threads[t].n_calls;
    struct weft_outlier_row *all = calloc(n_max, sizeof *all);
    for (uint32_t t = 0; t < trace->n_threads; t++)
        n += add_thread(trace, t, functions, opts, all + n);
    for (size_t i = 1; i < n; i++) /* insertion sort, stable */
        for (size_t j = i; j > 0 && !is_before(&all[j - 1], &all[j]); j--) {
            struct weft_outlier_row swap = all[j];
            all[j] = all[j - 1];
            all[j - 1] = swap;
        }
    *rows = all;
    return n;
}
