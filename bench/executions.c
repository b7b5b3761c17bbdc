/* SPDX-License-Identifier: MIT
 *
 * Finding executions, without a table of them: processor time, and memory at most.
 *
 * usage: executions TRACE.weft RULE...     (RULE: as in a file of rules, "execution e begin ...")
 */
#include "analysis/executions/executions.h"

#include "measure.h"
#include "query/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct seen {
    uint64_t n, sum_ns;
};

static void must(enum weft_code code, const struct weft_err *err)
{
    if (code == WEFT_OK)
        return;
    fprintf(stderr, "executions: %s\n", err->text);
    exit(1);
}

static enum weft_code see(void *context, const struct weft_execution_row *row, struct weft_err *err)
{
    struct seen *seen = context;
    (void)err;
    seen->n++;
    seen->sum_ns += row->end_ns - row->start_ns;
    return WEFT_OK;
}

int main(int argc, char **argv)
{
    struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    struct rusage usage;
    if (argc < 3 || !run.pool)
        return 2;
    must(weft_trace_open(argv[1], &trace, &err), &err);
    for (int i = 2; i < argc; i++) {
        struct weft_rules *rules = NULL;
        struct seen seen = { 0 };
        must(weft_rules_parse(weft_str_of(argv[i]), &rules, &err), &err);
        const struct weft_executions_opts opts = { .rules = rules };
        const uint64_t begin_ns = bench_cpu_ns();
        must(weft_executions_stream(trace, NULL, &opts, &run, see, &seen, &err), &err);
        const double cpu_ns = (double)(bench_cpu_ns() - begin_ns);
        (void)getrusage(RUSAGE_SELF, &usage);
        printf("%s: %" PRIu64 " executions of %.0f ns, %.0f ns each, %ld kB at most\n", argv[i],
               seen.n, seen.n ? (double)seen.sum_ns / (double)seen.n : 0,
               seen.n ? cpu_ns / (double)seen.n : 0, usage.ru_maxrss);
        weft_rules_free(rules);
    }
    weft_trace_close(trace);
    weft_pool_free(run.pool);
    return 0;
}
