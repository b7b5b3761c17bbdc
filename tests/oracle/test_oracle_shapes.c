/* SPDX-License-Identifier: MIT
 *
 * weft_shapes_run against its naive twin on random traces, and what must hold of every table.
 */
#include "analysis/shapes/shapes.h"
#include "naive_shapes_table.h"
#include "random_trace.h"
#include "schema/result.h"
#include "shapes_equal.h"
#include "tap.h"

#include <stdlib.h>

enum { TRACES = 1200, BIG_EVERY = 100, RHYTHMS = 40 };

/* A random trace with names, and options that suit it. */
struct fixture {
    struct memory_trace trace;
    struct weft_store_function functions[16];
    char names[16][8];
    bool is_excluded[16];
    struct weft_window window;
    uint32_t thread_ids[4];
    struct weft_thread_filter filter;
    struct weft_shapes_opts opts;
};

static void make_names(struct random_source *random, struct fixture *fixture)
{
    for (uint32_t f = 0; f < fixture->trace.n_functions; f++) {
        (void)snprintf(fixture->names[f], sizeof fixture->names[f], "%c%u",
                       (int)('a' + random_below(random, 3)), (unsigned)random_below(random, 12));
        fixture->functions[f] = (struct weft_store_function){
            .name = weft_str_of(fixture->names[f]),
            .key = f,
        };
    }
    if (random_below(random, 3) > 0)
        fixture->trace.functions = fixture->functions;
}

static void make_opts(struct random_source *random, struct fixture *fixture)
{
    weft_shapes_defaults(&fixture->opts);
    if (random_below(random, 2))
        fixture->opts.threshold_halves = (uint32_t)random_below(random, 7);
    if (random_below(random, 3) == 0)
        fixture->opts.min_count = random_below(random, 6);
    if (random_below(random, 2))
        fixture->opts.n_columns = 1 + (uint32_t)random_below(random, 50);
    if (random_below(random, 2))
        fixture->opts.max_cells = 1 + random_below(random, 100);
    if (random_below(random, 2))
        fixture->opts.spike_factor = (double)random_below(random, 5);
    fixture->opts.spike_least_ns = random_below(random, 100);
    fixture->opts.n_windows = 1 + (uint32_t)random_below(random, 40);
    fixture->opts.limit = (uint32_t)(random_below(random, 2) ? 0 : random_below(random, 5));
    /* Durations of all calls on tapes; shapes of all, of some threads, of none. */
    if (random_below(random, 2))
        fixture->opts.max_tape_bytes =
            1 + random_below(random, random_below(random, 2) ? 20 : 2000);
    for (uint32_t f = 0; f < fixture->trace.n_functions; f++)
        fixture->is_excluded[f] = random_below(random, 4) == 0;
    if (random_below(random, 3) == 0)
        fixture->opts.is_excluded = fixture->is_excluded;
    fixture->window.from_ns = random_below(random, 1500);
    fixture->window.to_ns = fixture->window.from_ns + random_below(random, 4000);
    if (random_below(random, 3) == 0)
        fixture->opts.window = &fixture->window;
    for (uint32_t t = 0; t < fixture->trace.n_threads; t++)
        if (random_below(random, 2))
            fixture->thread_ids[fixture->filter.n_ids++] = t;
    fixture->filter.ids = fixture->thread_ids;
}

static void fixture_init(struct fixture *fixture, struct random_source *random, size_t max_calls)
{
    *fixture = (struct fixture){ .trace = random_trace(random, max_calls) };
    make_names(random, fixture);
    make_opts(random, fixture);
}

static struct weft_shapes_table *run(const struct memory_trace *memory,
                                     const struct weft_thread_filter *filter,
                                     const struct weft_shapes_opts *opts, struct weft_pool *pool)
{
    char path[MEMORY_PATH_BYTES];
    memory_store_path(memory, path);
    struct weft_trace *trace = NULL;
    struct weft_shapes_table *table = NULL;
    struct weft_err err = { 0 };
    const struct weft_run workers = { .pool = pool };
    if (weft_trace_open(path, &trace, &err) ||
        weft_shapes_run(trace, filter, opts, &workers, &table, &err))
        tap_note("code %d: %s", (int)err.code, err.text);
    weft_trace_close(trace);
    return table;
}

static bool overlap(const struct weft_shape_occurrence *a, const struct weft_shape_occurrence *b)
{
    return a->thread_id == b->thread_id && a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

static uint32_t ribbon_on(const struct weft_shapes_table *table, uint32_t thread_id,
                          uint32_t cluster_id)
{
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t i = 0; i < table->threads[t].n_presences; i++)
            if (table->threads[t].thread_id == thread_id &&
                table->threads[t].presences[i].cluster_id == cluster_id)
                return table->threads[t].presences[i].ribbon;
    return WEFT_ID_NONE;
}

/* Neither those of one cluster nor those of one ribbon overlap. */
static bool nothing_overlaps(const struct weft_shapes_table *table,
                             const struct naive_result *naive)
{
    for (size_t i = 0; i < naive->n_occurrences; i++)
        for (size_t j = 0; j < i; j++) {
            const struct weft_shape_occurrence *a = &naive->occurrences[i];
            const struct weft_shape_occurrence *b = &naive->occurrences[j];
            if (!overlap(a, b))
                continue;
            const uint32_t c = table->shapes[a->shape_id].cluster_id;
            const uint32_t d = table->shapes[b->shape_id].cluster_id;
            const uint32_t ribbon = ribbon_on(table, a->thread_id, c);
            if (c == d || (ribbon != WEFT_ID_NONE && ribbon == ribbon_on(table, a->thread_id, d)))
                return false;
        }
    return true;
}

static bool check_naive(struct fixture *fixture, struct weft_pool *pool)
{
    struct naive_memory memory = { 0 };
    struct naive_result want =
        naive_shapes(&memory, &fixture->trace, &fixture->filter, &fixture->opts);
    struct weft_shapes_table *got = run(&fixture->trace, &fixture->filter, &fixture->opts, pool);
    const bool is_ok = got && shapes_tables_equal(got, &want.table) && nothing_overlaps(got, &want);
    weft_result_free(got);
    naive_free(&memory);
    return is_ok;
}

/* Any blocks, any number of workers: the same table. */
static bool check_parts(struct fixture *fixture, struct random_source *random,
                        struct weft_pool *const *pools)
{
    struct weft_shapes_table *want =
        run(&fixture->trace, &fixture->filter, &fixture->opts, pools[0]);
    bool is_ok = want != NULL;
    for (size_t i = 0; is_ok && i < 3; i++) {
        fixture->trace.block_rows = 1 + (uint32_t)random_below(random, 50);
        fixture->trace.is_early = random_below(random, 2);
        struct weft_shapes_table *got =
            run(&fixture->trace, &fixture->filter, &fixture->opts, pools[i]);
        is_ok = got && shapes_tables_equal(got, want);
        weft_result_free(got);
    }
    weft_result_free(want);
    return is_ok;
}

/* The trace without the excluded calls, whose callees become their caller's. */
static struct memory_trace without_excluded(const struct fixture *fixture)
{
    struct memory_trace trace = fixture->trace;
    trace.threads = calloc(trace.n_threads, sizeof *trace.threads);
    for (uint32_t t = 0; t < trace.n_threads; t++) {
        const struct memory_thread *from = &fixture->trace.threads[t];
        struct memory_thread *to = &trace.threads[t];
        to->calls = calloc(from->n_calls + 1, sizeof *to->calls);
        to->last_ns = from->last_ns;
        for (size_t i = 0; i < from->n_calls; i++) {
            if (fixture->is_excluded[from->calls[i].function_id])
                continue;
            uint32_t depth = 0; /* callers that stay */
            uint32_t above = from->calls[i].depth;
            for (size_t j = i; j-- > 0 && above > 0;)
                if (from->calls[j].depth + 1 == above) {
                    above--;
                    depth += !fixture->is_excluded[from->calls[j].function_id];
                }
            to->n_cut += i < from->n_cut;
            to->calls[to->n_calls] = from->calls[i];
            to->calls[to->n_calls++].depth = depth;
        }
    }
    return trace;
}

static bool check_exclusion(struct fixture *fixture, struct weft_pool *pool)
{
    struct memory_trace rest = without_excluded(fixture);
    struct weft_shapes_opts opts = fixture->opts;
    opts.is_excluded = NULL;
    struct weft_shapes_table *want = run(&rest, &fixture->filter, &opts, pool);
    opts.is_excluded = fixture->is_excluded;
    struct weft_shapes_table *got = run(&fixture->trace, &fixture->filter, &opts, pool);
    if (got && want) { /* it alone knows what is not there */
        want->excluded_calls = got->excluded_calls;
        for (size_t t = 0; t < want->n_threads; t++)
            want->threads[t].excluded_calls = got->threads[t].excluded_calls;
    }
    const bool is_ok = got && want && shapes_tables_equal(got, want);
    weft_result_free(want);
    weft_result_free(got);
    random_trace_free(&rest);
    return is_ok;
}

/* Few shapes allowed: the first that end, and the same whatever the blocks and workers. */
static bool check_limit(struct fixture *fixture, struct random_source *random,
                        struct weft_pool *const *pools)
{
    fixture->opts.max_shapes = 1 + random_below(random, 12);
    return check_naive(fixture, pools[random_below(random, 3)]) &&
           check_parts(fixture, random, pools);
}

static uint64_t add_call(struct memory_thread *thread, uint32_t function_id, uint32_t depth,
                         uint64_t start_ns, uint64_t end_ns)
{
    thread->calls[thread->n_calls++] = (struct memory_call){
        .start_ns = start_ns, .end_ns = end_ns, .function_id = function_id, .depth = depth
    };
    return end_ns;
}

/* Thousands of calls of two or three shapes, now and then a slow one or a pause. */
static void add_rhythm(struct random_source *random, struct memory_thread *thread, size_t n_calls)
{
    uint64_t at_ns = 0;
    thread->calls = calloc(2 * n_calls, sizeof *thread->calls);
    for (size_t i = 0; i < n_calls; i++) {
        const uint32_t kind = (uint32_t)random_below(random, 5);
        const uint64_t slow_ns = random_below(random, 300) ? 0 : random_below(random, 3000);
        const uint64_t start_ns = at_ns + random_below(random, 6);
        const uint64_t end_ns = start_ns + 4 + random_below(random, 6) + slow_ns;
        at_ns = add_call(thread, kind == 4, 0, start_ns, end_ns);
        if (kind >= 3)
            (void)add_call(thread, 2, 1, start_ns + 1, end_ns - 1);
        if (random_below(random, 500) == 0)
            at_ns += random_below(random, 10000);
    }
    thread->last_ns = at_ns;
}

/* Spikes and drops, of which random traces have too few calls. */
static bool check_rhythm(struct random_source *random, struct weft_pool *pool, size_t *n_spikes,
                         size_t *n_drops)
{
    struct memory_trace trace = { .n_threads = 1 + (uint32_t)random_below(random, 2),
                                  .n_functions = 3,
                                  .block_rows = 1 + (uint32_t)random_below(random, 900) };
    struct memory_thread threads[2] = { 0 };
    struct weft_shapes_opts opts;
    struct naive_memory memory = { 0 };
    weft_shapes_defaults(&opts);
    opts.spike_factor = (double)random_below(random, 40) / 4;
    opts.spike_least_ns = random_below(random, 1000);
    opts.drop_fraction = (double)(1 + random_below(random, 9)) / 10;
    opts.n_windows = 1 + (uint32_t)random_below(random, 60);
    opts.limit = (uint32_t)random_below(random, 3);
    if (random_below(random, 2))
        opts.max_tape_bytes = 1; /* durations by reading: of so many calls in histograms */
    for (uint32_t t = 0; t < trace.n_threads; t++)
        add_rhythm(random, &threads[t], 1500);
    trace.threads = threads;
    struct naive_result want = naive_shapes(&memory, &trace, NULL, &opts);
    struct weft_shapes_table *got = run(&trace, NULL, &opts, pool);
    const bool is_ok = got && shapes_tables_equal(got, &want.table);
    *n_spikes += want.table.spikes_found;
    *n_drops += want.table.drops_found;
    weft_result_free(got);
    naive_free(&memory);
    for (uint32_t t = 0; t < trace.n_threads; t++)
        free(threads[t].calls);
    return is_ok;
}

static void test_rhythm(struct random_source *random, struct weft_pool *const *pools)
{
    size_t n_spikes = 0, n_drops = 0, n_bad = 0;
    for (size_t i = 0; i < RHYTHMS && n_bad == 0; i++)
        n_bad += !check_rhythm(random, pools[i % 3], &n_spikes, &n_drops);
    tap_ok(n_bad == 0 && n_spikes > 0 && n_drops > 0,
           "%d long traces with %zu spikes and %zu drops", RHYTHMS, n_spikes, n_drops);
}

static void print_fixture(const struct fixture *fixture)
{
    random_trace_print(&fixture->trace);
    for (uint32_t f = 0; f < fixture->trace.n_functions; f++)
        tap_note("function %u is %s%s", f, fixture->trace.functions ? fixture->names[f] : "unnamed",
                 fixture->opts.is_excluded && fixture->is_excluded[f] ? ", excluded" : "");
    for (size_t i = 0; i < fixture->filter.n_ids; i++)
        tap_note("of thread %u", fixture->thread_ids[i]);
    if (fixture->opts.window)
        tap_note("window [%" PRIu64 ", %" PRIu64 ")", fixture->window.from_ns,
                 fixture->window.to_ns);
    tap_note("threshold %u, min_count %" PRIu64
             ", columns %u, windows %u, spikes from %g, limit %u,"
             " max_shapes %" PRIu64,
             fixture->opts.threshold_halves, fixture->opts.min_count, fixture->opts.n_columns,
             fixture->opts.n_windows, fixture->opts.spike_factor, fixture->opts.limit,
             fixture->opts.max_shapes);
}

enum check { CHECK_NAIVE, CHECK_PARTS, CHECK_EXCLUSION, CHECK_LIMIT, N_CHECKS };

static unsigned test_random(struct random_source *random, enum check check,
                            struct weft_pool *const *pools)
{
    unsigned n = check == CHECK_NAIVE ? TRACES : TRACES / 4;
    for (unsigned i = 0; i < n; i++) {
        struct fixture fixture;
        fixture_init(&fixture, random, i % BIG_EVERY == 0 ? 300 : 50);
        const bool is_ok = check == CHECK_NAIVE       ? check_naive(&fixture, pools[i % 3])
                           : check == CHECK_PARTS     ? check_parts(&fixture, random, pools)
                           : check == CHECK_EXCLUSION ? check_exclusion(&fixture, pools[i % 3])
                                                      : check_limit(&fixture, random, pools);
        if (!is_ok)
            print_fixture(&fixture);
        random_trace_free(&fixture.trace);
        if (!is_ok)
            return 0;
    }
    return n;
}

int main(void)
{
    static const char *const names[N_CHECKS] = {
        [CHECK_NAIVE] = "the table of the naive twin, and no overlaps",
        [CHECK_PARTS] = "the same table for any blocks and any number of workers",
        [CHECK_EXCLUSION] = "excluded functions are as if they had not been called",
        [CHECK_LIMIT] = "too many shapes: the same kept, the rest counted",
    };
    struct random_source random = { tap_seed(47) };
    struct weft_pool *pools[] = { weft_pool_new(1), weft_pool_new(2), weft_pool_new(4) };
    for (enum check check = 0; check < N_CHECKS; check++) {
        unsigned n = test_random(&random, check, pools);
        tap_ok(n > 0, "%s: %u random traces", names[check], n);
    }
    test_rhythm(&random, pools);
    for (size_t i = 0; i < 3; i++)
        weft_pool_free(pools[i]);
    return tap_done();
}
