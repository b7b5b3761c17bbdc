/* SPDX-License-Identifier: MIT
 *
 * weft_regtime_run against its naive twin on random traces, thresholds and budgets.
 */
#include "analysis/regtime/regtime.h"
#include "naive.h"
#include "random_trace.h"
#include "schema/functions.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { TRACES = 6000 };

static bool rows_equal(const struct weft_regtime_row *a, const struct weft_regtime_row *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->level == b->level &&
           a->parent == b->parent && a->function_id == b->function_id &&
           a->n_folded == b->n_folded && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
           a->count == b->count && a->records == b->records && a->sum_ns == b->sum_ns &&
           a->self_ns == b->self_ns && a->min_ns == b->min_ns && a->max_ns == b->max_ns &&
           a->sum_squares == b->sum_squares;
}

static bool totals_equal(const struct weft_regtime_thread *a, const struct weft_regtime_thread *b)
{
    return a->thread_id == b->thread_id && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
           a->duration_ns == b->duration_ns && a->gap_ns == b->gap_ns && a->span_ns == b->span_ns &&
           !(a->factor < b->factor) && !(a->factor > b->factor) &&
           a->calls_before == b->calls_before && a->cut_before == b->cut_before &&
           a->rows_after == b->rows_after && a->records_before == b->records_before &&
           a->records_after == b->records_after && a->n_notable == b->n_notable &&
           a->n_expressions == b->n_expressions && a->n_nodes == b->n_nodes &&
           a->n_others == b->n_others && a->n_gaps == b->n_gaps &&
           a->sliver_calls == b->sliver_calls && a->sliver_ns == b->sliver_ns &&
           a->folded_nodes == b->folded_nodes && a->folded_calls == b->folded_calls &&
           a->folded_ns == b->folded_ns && a->expression_ns == b->expression_ns &&
           a->negligible_nodes == b->negligible_nodes && a->negligible_ns == b->negligible_ns &&
           a->memory_rows == b->memory_rows;
}

static void print_row(const char *who, const struct weft_regtime_row *row)
{
    tap_note("%s kind %d flags %u level %u parent %d f%d folded %u [%" PRIu64 ", %" PRIu64
             "] count %" PRIu64 " records %" PRIu64 " sum %" PRIu64 " self %" PRIu64 " min %" PRIu64
             " max %" PRIu64,
             who, (int)row->kind, row->flags, row->level, (int)row->parent, (int)row->function_id,
             row->n_folded, row->start_ns, row->end_ns, row->count, row->records, row->sum_ns,
             row->self_ns, row->min_ns, row->max_ns);
}

static void print_thread(const char *who, const struct weft_regtime_thread *thread)
{
    tap_note("%s factor %g d %" PRIu64 " g %" PRIu64 " f %" PRIu64 " rows %" PRIu64
             " records %" PRIu64 "/%" PRIu64 " slivers %" PRIu64 "/%" PRIu64 " folded %" PRIu64
             "/%" PRIu64 "/%" PRIu64 " negligible %" PRIu64 "/%" PRIu64 " expression %" PRIu64,
             who, thread->factor, thread->duration_ns, thread->gap_ns, thread->span_ns,
             thread->rows_after, thread->records_before, thread->records_after,
             thread->sliver_calls, thread->sliver_ns, thread->folded_nodes, thread->folded_calls,
             thread->folded_ns, thread->negligible_nodes, thread->negligible_ns,
             thread->expression_ns);
    for (size_t i = 0; i < thread->n_rows_all; i++)
        print_row(who, &thread->rows[i]);
}

static bool compare_thread(const struct weft_regtime_thread *got,
                           const struct weft_regtime_thread *want)
{
    bool is_ok = totals_equal(got, want) && got->n_rows_all == want->n_rows_all;
    for (size_t i = 0; is_ok && i < want->n_rows_all; i++)
        is_ok = rows_equal(&got->rows[i], &want->rows[i]);
    if (!is_ok) {
        print_thread("got", got);
        print_thread("want", want);
    }
    return is_ok;
}

/* What RegTime finds out by itself: exact medians of the whole trace. */
static struct weft_regtime_opts naive_opts(const struct memory_trace *memory,
                                           const struct weft_regtime_opts *opts,
                                           uint64_t *medians_ns)
{
    struct weft_regtime_opts want = *opts;
    struct weft_function_row rows[16];
    if (opts->medians_ns || opts->outlier_factor <= 0)
        return want;
    memset(medians_ns, 0, 16 * sizeof *medians_ns);
    size_t n = naive_functions(memory, rows);
    for (size_t i = 0; i < n; i++)
        medians_ns[rows[i].function_id] = rows[i].p50_ns;
    want.medians_ns = medians_ns;
    return want;
}

/* ---- windows --------------------------------------------------------------------------------- */

static struct weft_regtime_thread naive_window(const struct memory_trace *memory, uint32_t t,
                                               const struct weft_regtime_opts *opts)
{
    struct weft_regtime_opts whole = *opts;
    if (!opts->window)
        return naive_regtime(memory, t, opts);
    struct memory_thread part = clip_thread(&memory->threads[t], opts->window);
    struct memory_trace trace = *memory;
    trace.threads = &part;
    trace.n_threads = 1;
    whole.window = NULL;
    struct weft_regtime_thread thread = naive_regtime(&trace, 0, &whole);
    thread.thread_id = t;
    free(part.calls);
    return thread;
}

/* The most rows a thread that a ceiling allows; 0: as many as are asked for. */
static uint32_t naive_rows(const struct memory_trace *memory, const uint32_t *ids, size_t n_ids,
                           uint32_t glyphs, uint64_t memory_bytes)
{
    for (uint32_t rows = 1; memory_bytes; rows++) {
        uint64_t n_rows = 0, n_all = 0;
        for (size_t i = 0; i < n_ids; i++) {
            uint64_t n_calls = memory->threads[ids[i]].n_calls;
            n_rows += n_calls < rows ? n_calls : rows;
            n_all += glyphs && glyphs < n_calls ? glyphs : n_calls;
        }
        if (n_all <= memory_bytes / 1536)
            return 0;
        if (n_rows > memory_bytes / 1536)
            return rows > 1 ? rows - 1 : 1;
    }
    return 0;
}

static struct weft_regtime_thread naive_bounded(const struct memory_trace *memory, uint32_t t,
                                                const struct weft_regtime_opts *opts, uint32_t rows)
{
    struct weft_regtime_opts bounded = *opts;
    bounded.glyphs = rows && (!opts->glyphs || rows < opts->glyphs) ? rows : opts->glyphs;
    struct weft_regtime_thread thread = naive_window(memory, t, &bounded);
    bool has_lost = thread.folded_nodes > thread.negligible_nodes || thread.factor > 1;
    thread.memory_rows = has_lost && bounded.glyphs != opts->glyphs ? rows : 0;
    return thread;
}

/* Threads whose bit is set; all if none is. */
static bool compare(const struct memory_trace *memory, const struct weft_regtime_opts *opts,
                    uint64_t chosen, uint64_t memory_bytes, struct weft_pool *pool)
{
    uint64_t medians_ns[16];
    const struct weft_regtime_opts want_opts = naive_opts(memory, opts, medians_ns);
    uint32_t ids[64], all[64];
    struct weft_thread_filter filter = { .ids = ids };
    for (uint32_t t = 0; t < memory->n_threads && t < 64; t++)
        if (chosen >> t & 1)
            ids[filter.n_ids++] = t;
    char path[MEMORY_PATH_BYTES];
    memory_store_path(memory, path);
    struct weft_trace *trace = NULL;
    struct weft_regtime_table *table = NULL;
    for (uint32_t t = 0; t < 64; t++)
        all[t] = t;
    uint32_t rows =
        naive_rows(memory, filter.n_ids ? ids : all,
                   filter.n_ids ? filter.n_ids : memory->n_threads, opts->glyphs, memory_bytes);
    struct weft_run run = { .pool = pool, .memory_bytes = memory_bytes };
    struct weft_err err = { 0 };
    if (weft_trace_open(path, &trace, &err) ||
        weft_regtime_run(trace, &filter, opts, &run, &table, &err)) {
        tap_note("error: %s", err.text);
        return false;
    }
    bool is_ok = table->n_threads == (filter.n_ids ? filter.n_ids : memory->n_threads);
    uint64_t rows_after = 0;
    for (uint32_t i = 0; is_ok && i < table->n_threads; i++) {
        uint32_t t = filter.n_ids ? ids[i] : i;
        struct weft_regtime_thread want = naive_bounded(memory, t, &want_opts, rows);
        is_ok = compare_thread(&table->threads[i], &want);
        rows_after += want.rows_after;
        free(want.rows);
    }
    is_ok = is_ok && table->rows_after == rows_after;
    weft_result_free(table);
    weft_trace_close(trace);
    return is_ok;
}

static struct weft_regtime_opts random_opts(struct random_source *random, uint64_t *medians_ns)
{
    static const double fractions[] = { 0, 0.001, 0.005, 0.01, 0.05, 0.13, 0.3, 1 };
    struct weft_regtime_opts opts = {
        .duration_fraction = fractions[random_below(random, 8)],
        .gap_fraction = fractions[random_below(random, 8)],
        .span_fraction = fractions[random_below(random, 8)],
        .outlier_factor = (double)random_below(random, 20),
        .outlier_min_ns = random_below(random, 50),
    };
    if (random_below(random, 3) == 0)
        (void)weft_regtime_preset(random_below(random, 2) ? "paper" : "fine", &opts);
    opts.glyphs = (uint32_t)(random_below(random, 3) ? 1 + random_below(random, 40) : 0);
    if (random_below(random, 4) == 0)
        opts.duration_ns = 1 + random_below(random, 300);
    if (random_below(random, 4) == 0)
        opts.gap_ns = 1 + random_below(random, 100);
    if (random_below(random, 4) == 0)
        opts.span_ns = 1 + random_below(random, 1000);
    if (random_below(random, 3) == 0)
        opts.negligible_fraction = (double)random_below(random, 100) / 1000;
    for (size_t i = 0; i < 16; i++)
        medians_ns[i] = random_below(random, 20);
    if (random_below(random, 2))
        opts.medians_ns = medians_ns;
    return opts;
}

int main(void)
{
    struct random_source random = { tap_seed(7) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(3) };
    unsigned n_bad = 0;
    for (unsigned i = 0; i < TRACES && n_bad == 0; i++) {
        uint64_t medians_ns[16];
        struct memory_trace trace = random_trace(&random, i % 50 == 0 ? 400 : 1 + i % 80);
        struct weft_regtime_opts opts = random_opts(&random, medians_ns);
        uint64_t chosen = random_below(&random, 3) ? 0 : random_below(&random, 16);
        struct weft_window window = random_window(&random, &trace);
        if (random_below(&random, 2))
            opts.window = &window;
        static const uint64_t ceilings[] = { 0, 4096, 16384, 49152, 1 << 20 };
        uint64_t memory_bytes = ceilings[random_below(&random, 5)];
        n_bad += !compare(&trace, &opts, chosen, memory_bytes, pools[i % 2]);
        if (n_bad) {
            tap_note("ceiling %" PRIu64, memory_bytes);
            tap_note("trace %u: d %g/%" PRIu64 " g %g/%" PRIu64 " f %g/%" PRIu64
                     " glyphs %u negligible %g",
                     i, opts.duration_fraction, opts.duration_ns, opts.gap_fraction, opts.gap_ns,
                     opts.span_fraction, opts.span_ns, opts.glyphs, opts.negligible_fraction);
            if (opts.window)
                tap_note("window [%" PRIu64 ", %" PRIu64 ")", window.from_ns, window.to_ns);
            random_trace_print(&trace);
        }
        random_trace_free(&trace);
    }
    tap_ok(n_bad == 0, "%d random traces, thresholds and budgets", TRACES);
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    return tap_done();
}
