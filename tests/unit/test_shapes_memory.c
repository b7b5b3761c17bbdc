/* SPDX-License-Identifier: MIT
 *
 * Shapes with every allocation failing in turn (the linker wraps malloc, calloc and realloc): an
 * error, no leak, no crash.
 */
#include "analysis/shapes/shapes.h"
#include "failing_alloc.h"
#include "schema/result.h"
#include "small_trace.h"
#include "tap.h"

enum { MOST_FAILURES = 100000 };

static const struct weft_trace *trace;
static const struct weft_run *run;

static enum weft_code run_once(uint64_t max_shapes, size_t *n_shapes)
{
    struct weft_shapes_opts opts;
    struct weft_shapes_table *table = NULL;
    weft_shapes_defaults(&opts);
    opts.max_shapes = max_shapes;
    opts.n_columns = 20;
    enum weft_code code = weft_shapes_run(trace, NULL, &opts, run, &table, NULL);
    *n_shapes = code == WEFT_OK ? table->n_shapes : 0;
    weft_result_free(table);
    return code;
}

static void fail_all(uint64_t max_shapes)
{
    size_t n_want = 0;
    int n_failures = 0;
    bool is_good = run_once(max_shapes, &n_want) == WEFT_OK;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        size_t n = 0;
        n_until_failure = n_failures;
        const enum weft_code code = run_once(max_shapes, &n);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good = code == WEFT_OK ? n == n_want : has_failed && code == WEFT_E_NOMEM;
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 0, "at most %" PRIu64 " shapes: %d failed allocations",
           max_shapes, n_failures);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    char path[512];
    struct weft_trace *opened;
    (void)snprintf(path, sizeof path, "%s/test_shapes_memory.weft", root ? root : ".");
    const struct weft_run one = { .pool = weft_pool_new(1) };
    if (small_trace_write(path, NULL) != WEFT_OK ||
        weft_trace_open(path, &opened, NULL) != WEFT_OK || !one.pool)
        abort();
    trace = opened;
    run = &one;
    fail_all(0);
    fail_all(5);
    weft_trace_close(opened);
    weft_pool_free(one.pool);
    (void)remove(path);
    return tap_done();
}
