/* SPDX-License-Identifier: MIT
 *
 * A comparison with every allocation failing in turn (the linker wraps malloc, calloc and realloc):
 * an error, no leak, no crash; and the same answer where it does not fail.
 */
#include "analysis/compare/compare.h"
#include "failing_alloc.h"
#include "matrix_builder.h"
#include "query/comparison.h"
#include "schema/result.h"
#include "tap.h"

enum { MOST_FAILURES = 100000, RUNS = 8, ITEMS = 160 };

static struct weft_ecct_matrix *make_matrix(void)
{
    struct matrix_builder made;
    uint64_t state = 5;
    matrix_begin(&made);
    const uint32_t handle = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "handle");
    const uint32_t run = matrix_node(&made, handle, WEFT_FRAME_STATE, "running");
    const uint32_t load = matrix_node(&made, handle, WEFT_FRAME_FUNCTION, "load");
    const uint32_t disk = matrix_node(&made, load, WEFT_FRAME_STATE, "blocked: disk");
    const uint32_t lost = matrix_node(&made, load, WEFT_FRAME_STATE, "preempted");
    for (unsigned i = 0; i < RUNS; i++)
        (void)matrix_source(&made, "run.weft", i % 2 ? "new" : "base");
    for (uint64_t i = 0; i < ITEMS; i++) {
        matrix_item(&made, (uint32_t)(i / (ITEMS / RUNS)), "worker", i * 1000000);
        matrix_value(&made, run, 500000 + tap_random(&state) % 100000);
        if (i % 10 == 0)
            matrix_value(&made, disk, 9000000 + tap_random(&state) % 1000000);
        if (i % 33 == 0)
            matrix_value(&made, lost, 4000000);
    }
    return matrix_end(&made);
}

static enum weft_code run_once(const char *a, const char *b, struct weft_arena *arena,
                               struct weft_ecct_matrix *matrix, size_t *n_ranked)
{
    const struct weft_comparison_opts opts = {
        .a = weft_str_of(a), .b = weft_str_of(b), .n_bootstrap = 8, .with_causes = true
    };
    struct weft_comparison *comparison;
    struct weft_compare_table *table = NULL;
    struct weft_metric_histogram histogram;
    struct weft_err err = { 0 };
    enum weft_code code = weft_comparison_of(matrix, &comparison, &err);
    if (code == WEFT_OK)
        code = weft_comparison_run(comparison, &opts, &table, &err);
    if (code == WEFT_OK)
        code = weft_comparison_histogram(comparison, 0, 16, true, arena, &histogram, &err);
    *n_ranked = table ? table->n_ranked : 0;
    weft_result_free(table);
    weft_comparison_close(comparison);
    return code;
}

static void fail_all(const char *a, const char *b)
{
    size_t n_want = 0;
    int n_failures = 0;
    struct weft_arena *arena = weft_arena_new(0);
    bool is_good = run_once(a, b, arena, make_matrix(), &n_want) == WEFT_OK && n_want > 0;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        size_t n = 0;
        struct weft_ecct_matrix *matrix = make_matrix();
        n_until_failure = n_failures;
        const enum weft_code code = run_once(a, b, arena, matrix, &n);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good = code == WEFT_OK ? n == n_want : has_failed && code == WEFT_E_NOMEM;
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 20, "%s against %s: %d failed allocations", a, b, n_failures);
    weft_arena_free(arena);
}

int main(void)
{
    fail_all("duration<5ms", "duration>=5ms");
    fail_all("tag=base", "tag=new and context('load')<20ms");
    return tap_done();
}
