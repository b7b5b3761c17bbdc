/* SPDX-License-Identifier: MIT */
#include "naive.h"
#include "schema/functions.h"

#include <stdlib.h>

/* Whether call i lies inside another call of its function; cut frames count only for each other. */
static bool is_nested(const struct memory_thread *thread, size_t i)
{
    uint32_t depth = thread->calls[i].depth;
    for (size_t j = i; j-- > 0 && depth > 0;) {
        if (thread->calls[j].depth != depth - 1)
            continue;
        depth--;
        bool is_same_kind = (j < thread->n_cut) == (i < thread->n_cut);
        if (thread->calls[j].function_id == thread->calls[i].function_id && is_same_kind)
            return true;
    }
    return false;
}

static uint64_t self_of(const struct memory_thread *thread, size_t i)
{
    const struct memory_call *call = &thread->calls[i];
    uint64_t self = call->end_ns - call->start_ns;
    for (size_t j = i + 1; j < thread->n_calls && thread->calls[j].depth > call->depth; j++)
        if (thread->calls[j].depth == call->depth + 1)
            self -= thread->calls[j].end_ns - thread->calls[j].start_ns;
    return self;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* ceil(n * q), at least 1. */
static uint64_t ranked(const uint64_t *sorted, size_t n, size_t q_numerator, size_t q_denominator)
{
    size_t rank = (n * q_numerator + q_denominator - 1) / q_denominator;
    return n ? sorted[(rank ? rank : 1) - 1] : 0;
}

static bool add_thread(const struct memory_trace *trace, uint32_t t, struct weft_function_row *row,
                       uint64_t *durations, size_t *n, uint64_t *sum)
{
    const struct memory_thread *thread = &trace->threads[t];
    bool occurs = false;
    for (size_t i = 0; i < thread->n_calls; i++) {
        const struct memory_call *call = &thread->calls[i];
        if (call->function_id != row->function_id)
            continue;
        occurs = true;
        uint64_t duration = call->end_ns - call->start_ns;
        uint64_t outermost = is_nested(thread, i) ? 0 : duration;
        if (i < thread->n_cut) {
            row->cut_count++;
            row->cut_ns += outermost;
        } else if (call->flags & WEFT_CALL_CUT_END) {
            row->count++;
            row->open_count++;
            row->open_ns += outermost;
            row->open_self_ns += self_of(thread, i);
        } else {
            row->count++;
            row->inclusive_ns += outermost;
            row->self_ns += self_of(thread, i);
            bool is_first = *n == 0;
            bool is_longer = duration > row->max_ns ||
                             (duration == row->max_ns && call->start_ns < row->max_start_ns);
            if (is_first || is_longer) {
                row->max_ns = duration;
                row->max_thread_id = t;
                row->max_start_ns = call->start_ns;
            }
            durations[(*n)++] = duration;
            *sum += duration;
        }
    }
    return occurs;
}

size_t naive_functions(const struct memory_trace *trace, struct weft_function_row *rows)
{
    size_t n_rows = 0, n_all = 1;
    for (uint32_t t = 0; t < trace->n_threads; t++)
        n_all += trace->threads[t].n_calls;
    uint64_t *durations = calloc(n_all, sizeof *durations);
    for (uint32_t f = 0; f < trace->n_functions; f++) {
        struct weft_function_row row = { .function_id = f, .max_thread_id = WEFT_ID_NONE };
        size_t n = 0;
        uint64_t sum = 0;
        for (uint32_t t = 0; t < trace->n_threads; t++)
            row.n_threads += add_thread(trace, t, &row, durations, &n, &sum);
        qsort(durations, n, sizeof *durations, by_value);
        row.min_ns = n ? durations[0] : 0;
        row.mean_ns = n ? sum / n : 0;
        row.p50_ns = ranked(durations, n, 1, 2);
        row.p90_ns = ranked(durations, n, 9, 10);
        row.p99_ns = ranked(durations, n, 99, 100);
        row.p999_ns = ranked(durations, n, 999, 1000);
        if (row.n_threads)
            rows[n_rows++] = row;
    }
    free(durations);
    return n_rows;
}
