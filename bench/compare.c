/* SPDX-License-Identifier: MIT
 *
 * Comparison after a filter moved: processor time of each question, of synthetic executions.
 *
 * usage: compare [EXECUTIONS [NODES_EACH]]     (default: 100000, 30)
 */
#include "measure.h"
#include "query/comparison.h"
#include "query/database/matrix.h"
#include "schema/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 4000, METRICS = 12, QUESTIONS = 40, EACH_MAX = 256 };

static void must(enum weft_code code, const struct weft_err *err)
{
    if (code == WEFT_OK)
        return;
    fprintf(stderr, "compare: %s\n", err->text);
    exit(1);
}

static struct weft_ecct_matrix *make(size_t n_items, size_t n_each)
{
    static struct weft_ecct_node nodes[NODES];
    static struct weft_frame frames[NODES];
    static char names[NODES][16];
    struct weft_metric metrics[METRICS];
    struct weft_err err = { 0 };
    uint64_t state = 1;
    for (uint32_t i = 0; i < NODES; i++) {
        (void)snprintf(names[i], sizeof names[i], "f%u", i);
        frames[i] = (struct weft_frame){ .name = weft_str_of(names[i]) };
        nodes[i] = (struct weft_ecct_node){
            .parent = i ? (uint32_t)(bench_random(&state) % i) : WEFT_ID_NONE,
            .frame = i ? i : WEFT_ID_NONE,
        };
    }
    for (size_t k = 0; k < METRICS; k++)
        metrics[k] =
            (struct weft_metric){ .name = weft_str_of(names[k]), .unit = WEFT_METRIC_COUNT };
    struct weft_matrix_maker *maker = weft_matrix_maker_new(metrics, METRICS);
    const struct weft_execution_source source = { .path = WEFT_STR("bench.weft") };
    if (!maker)
        exit(1);
    must(weft_matrix_source(maker, &source, &err), &err);
    for (size_t i = 0; i < n_items; i++) {
        uint32_t at[EACH_MAX];
        uint64_t ns[EACH_MAX], sum_ns = 0;
        double values[METRICS];
        uint32_t node = (uint32_t)(bench_random(&state) % 64);
        for (size_t k = 0; k < n_each; k++) {
            node += 1 + (uint32_t)(bench_random(&state) % (2 * (NODES - 100) / (n_each + 1) / 2));
            at[k] = node;
            ns[k] = bench_random(&state) % 100000;
            sum_ns += ns[k];
        }
        for (size_t k = 0; k < METRICS; k++)
            values[k] = (double)(bench_random(&state) % 1000);
        const struct weft_execution_item item = { .start_ns = i * 1000,
                                                  .end_ns = i * 1000 + sum_ns };
        const struct weft_matrix_row row = {
            .item = &item, .nodes = at, .ns = ns, .n_nodes = n_each, .values = values
        };
        must(weft_matrix_add(maker, &row, &err), &err);
    }
    struct weft_ecct_matrix *matrix = NULL;
    const struct weft_matrix_tree tree = {
        .frames = frames, .nodes = nodes, .n_frames = NODES, .n_nodes = NODES
    };
    must(weft_matrix_finish(maker, &tree, &matrix, &err), &err);
    weft_matrix_maker_free(maker);
    return matrix;
}

/* Moves the border between A and B: by little, or anywhere. */
static void ask(struct weft_comparison *comparison, const char *what, bool is_far, uint32_t n_boot,
                bool with_causes)
{
    struct bench_times times = bench_times_new(QUESTIONS);
    struct weft_err err = { 0 };
    uint64_t state = 1;
    for (unsigned i = 0; i < QUESTIONS; i++) {
        char a[64], b[64];
        const double share = is_far ? 10 + (double)(bench_random(&state) % 80) : 50 + 0.2 * i;
        struct weft_compare_table *table;
        (void)snprintf(a, sizeof a, "duration<p%.1f", share);
        (void)snprintf(b, sizeof b, "duration>=p%.1f", share);
        const struct weft_comparison_opts opts = { .a = weft_str_of(a),
                                                   .b = weft_str_of(b),
                                                   .n_bootstrap = n_boot,
                                                   .with_causes = with_causes };
        const uint64_t begin_ns = bench_cpu_ns();
        must(weft_comparison_run(comparison, &opts, &table, &err), &err);
        (void)bench_times_add(&times, begin_ns);
        weft_result_free(table);
    }
    printf("%-28s ", what);
    bench_times_print(&times);
    bench_times_free(&times);
}

int main(int argc, char **argv)
{
    const size_t n_items = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    const size_t n_each = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
    struct weft_comparison *comparison;
    struct weft_err err = { 0 };
    if (n_each < 1 || n_each > EACH_MAX)
        return 2;
    struct weft_ecct_matrix *matrix = make(n_items, n_each);
    printf("%zu executions, %zu nodes, %zu values\n", matrix->n_items, matrix->n_nodes,
           (size_t)matrix->starts[matrix->n_items]);
    must(weft_comparison_of(matrix, &comparison, &err), &err);
    ask(comparison, "filter moved a little", false, 0, false);
    ask(comparison, "filter moved anywhere", true, 0, false);
    ask(comparison, "with bootstrap", true, 64, false);
    ask(comparison, "with causes", true, 0, true);
    weft_comparison_close(comparison);
    return 0;
}
