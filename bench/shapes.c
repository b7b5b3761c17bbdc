/* SPDX-License-Identifier: MIT
 *
 * Shapes pass by pass: processor time a call, and the peak of memory.
 *
 * usage: shapes TRACE [WORKERS]     (default: 1 worker)
 */
#include "analysis/shapes/shapes.h"

#include "analysis/shapes/mine.h"
#include "measure.h"
#include "model/calls/scan.h"
#include "schema/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static double cpu_s(void)
{
    return (double)bench_cpu_ns() / 1e9;
}

static void report(const char *what, double begin_s, uint64_t n_calls)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    double taken_s = cpu_s() - begin_s;
    printf("%-8s %8.3f s %7.2f ns a call, peak %ld MiB\n", what, taken_s,
           taken_s * 1e9 / (double)(n_calls ? n_calls : 1), usage.ru_maxrss / 1024);
}

static enum weft_code ignore(void *context, size_t item, unsigned worker,
                             const struct weft_shape_done *done, size_t n_done,
                             struct weft_err *err)
{
    (void)context, (void)item, (void)worker, (void)done, (void)n_done, (void)err;
    return WEFT_OK;
}

static enum weft_code decode(void *context, struct weft_scan *scan, unsigned worker,
                             struct weft_err *err)
{
    (void)context, (void)worker;
    const struct weft_calls *calls = NULL;
    enum weft_code code = WEFT_OK;
    while (!(code = weft_scan_next(scan, &calls, err)) && calls)
        continue;
    return code;
}

static enum weft_code measure(const struct weft_trace *trace, const struct weft_run *run,
                              struct weft_err *err)
{
    uint64_t n_calls = weft_trace_meta(trace)->calls;
    const struct weft_mine_opts opts = { 0 };
    const struct weft_shape_replay_sink sink = { .calls = ignore };
    struct weft_mined mined = { 0 };
    struct weft_shape_replay *replay = NULL;
    enum weft_code code = WEFT_OK;
    for (int i = 0; !code && i < 2; i++) {
        double begin_s = cpu_s();
        code = weft_scan_threads(trace, NULL, 0, NULL, run, decode, NULL, err);
        report("decode", begin_s, n_calls);
    }
    double begin_s = cpu_s();
    if (!code)
        code = weft_mine_run(trace, NULL, &opts, run, &mined, err);
    report("mine", begin_s, n_calls);
    if (!code)
        code = weft_shape_replay_new(trace, &mined, &opts, run, &replay, err);
    for (int i = 0; !code && i < 2; i++) {
        begin_s = cpu_s();
        code = weft_shape_replay_run(replay, NULL, 0, &sink, err);
        report("replay", begin_s, n_calls);
    }
    size_t n_trivial = 0;
    for (size_t i = 0; !code && i < mined.set.n_shapes; i++)
        n_trivial += mined.set.depth[i] == 1;
    printf("%" PRIu64 " calls, %zu shapes, %zu trivial\n", n_calls, mined.set.n_shapes, n_trivial);
    weft_shape_replay_free(replay);
    weft_mined_fini(&mined);
    return code;
}

static enum weft_code measure_all(const struct weft_trace *trace, const struct weft_run *run,
                                  struct weft_err *err)
{
    struct weft_shapes_opts opts;
    struct weft_shapes_table *table = NULL;
    weft_shapes_defaults(&opts);
    opts.n_columns = 1200;
    double begin_s = cpu_s();
    enum weft_code code = weft_shapes_run(trace, NULL, &opts, run, &table, err);
    report("all", begin_s, weft_trace_meta(trace)->calls);
    if (!code)
        printf("%zu shapes, %zu clusters (%zu with callees), %zu ribbons, %" PRIu64
               " spikes, %" PRIu64 " drops\n",
               table->n_shapes, table->n_clusters, table->n_clusters - table->n_trivial_clusters,
               table->n_ribbons, table->spikes_found, table->drops_found);
    weft_result_free(table);
    return code;
}

int main(int argc, char **argv)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    char text[512];
    if (argc < 2) {
        (void)fprintf(stderr, "usage: shapes TRACE [WORKERS]\n");
        return 2;
    }
    const struct weft_run run = {
        .pool = weft_pool_new(argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1),
    };
    enum weft_code code = run.pool ? weft_trace_open(argv[1], &trace, &err) : WEFT_E_NOMEM;
    if (!code)
        code = measure(trace, &run, &err);
    if (!code)
        code = measure_all(trace, &run, &err);
    if (code) {
        weft_err_print(&err, text, sizeof text);
        (void)fprintf(stderr, "%s\n", text);
    }
    weft_trace_close(trace);
    weft_pool_free(run.pool);
    return code ? 1 : 0;
}
