/* SPDX-License-Identifier: MIT
 *
 * Sorts executions by run, and computes for each node how much the sums of runs differ from their
 * group's mean, in one pass over the values with sparse clearing. compare.c takes its tests from
 * these when each group has runs of its own.
 */
#include "analysis/compare/runs.h"

#include "schema/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Counting: items of a source stay in order. */
static void sort_items(struct weft_compare_runs *runs)
{
    const struct weft_ecct_matrix *matrix = runs->matrix;
    for (size_t i = 0; i < matrix->n_items; i++)
        runs->starts[matrix->items[i].source + 1]++;
    for (size_t source = 0; source < matrix->n_sources; source++)
        runs->starts[source + 1] += runs->starts[source];
    for (size_t i = 0; i < matrix->n_items; i++)
        runs->order[runs->starts[matrix->items[i].source]++] = (uint32_t)i;
    for (size_t source = matrix->n_sources; source > 0; source--)
        runs->starts[source] = runs->starts[source - 1];
    runs->starts[0] = 0;
}

enum weft_code weft_compare_runs_init(struct weft_compare_runs *runs,
                                      const struct weft_ecct_matrix *matrix, struct weft_err *err)
{
    *runs = (struct weft_compare_runs){
        .matrix = matrix,
        .order = calloc(matrix->n_items + 1, sizeof *runs->order),
        .starts = calloc(matrix->n_sources + 2, sizeof *runs->starts),
        .n = { calloc(matrix->n_sources + 1, sizeof *runs->n[0]),
               calloc(matrix->n_sources + 1, sizeof *runs->n[0]) },
    };
    if (!runs->order || !runs->starts || !runs->n[WEFT_GROUP_A] || !runs->n[WEFT_GROUP_B])
        return weft_no_memory(err, "runs");
    sort_items(runs);
    return WEFT_OK;
}

void weft_compare_runs_fini(struct weft_compare_runs *runs)
{
    free(runs->order);
    free(runs->starts);
    for (size_t group = 0; group < WEFT_GROUPS; group++)
        free(runs->n[group]);
}

void weft_compare_runs_set(struct weft_compare_runs *runs, const uint8_t *members)
{
    const struct weft_ecct_matrix *matrix = runs->matrix;
    runs->are_apart = true;
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        runs->n_runs[group] = 0;
        memset(runs->n[group], 0, matrix->n_sources * sizeof *runs->n[group]);
        for (size_t i = 0; i < matrix->n_items; i++)
            runs->n[group][matrix->items[i].source] += members[i] >> group & 1;
    }
    for (size_t source = 0; source < matrix->n_sources; source++) {
        runs->n_runs[WEFT_GROUP_A] += runs->n[WEFT_GROUP_A][source] > 0;
        runs->n_runs[WEFT_GROUP_B] += runs->n[WEFT_GROUP_B][source] > 0;
        if (runs->n[WEFT_GROUP_A][source] > 0 && runs->n[WEFT_GROUP_B][source] > 0)
            runs->are_apart = false;
    }
    runs->are_blocks = runs->are_apart && runs->n_runs[WEFT_GROUP_A] >= WEFT_RUNS_MIN &&
                       runs->n_runs[WEFT_GROUP_B] >= WEFT_RUNS_MIN;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Sums of one run; only what is touched is cleared. */
struct run_sums {
    uint64_t *ns;    /* by node */
    double *touched; /* squares of the sizes of runs that have the node */
    uint32_t *nodes;
    size_t n_nodes;
};

static bool run_sums_init(struct run_sums *run, size_t n_nodes)
{
    *run = (struct run_sums){ .ns = calloc(n_nodes + 1, sizeof *run->ns),
                              .touched = calloc(n_nodes + 1, sizeof *run->touched),
                              .nodes = calloc(n_nodes + 1, sizeof *run->nodes) };
    return run->ns && run->touched && run->nodes;
}

static void run_sums_fini(struct run_sums *run)
{
    free(run->ns);
    free(run->touched);
    free(run->nodes);
}

static void add_run(const struct weft_compare_runs *runs, const uint8_t *members, size_t source,
                    enum weft_group group, struct run_sums *run)
{
    const struct weft_ecct_matrix *matrix = runs->matrix;
    for (size_t i = runs->starts[source]; i < runs->starts[source + 1]; i++) {
        const uint32_t item = runs->order[i];
        if (!(members[item] >> group & 1))
            continue;
        for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
            const uint32_t node = matrix->node[at];
            if (run->ns[node] == 0 && matrix->ns[at] > 0)
                run->nodes[run->n_nodes++] = node;
            run->ns[node] += matrix->ns[at];
        }
    }
}

/* Squares what the run's sums differ by, and forgets them. */
static void end_run(const struct weft_compare_sums *sums, enum weft_group group, double n,
                    struct run_sums *run, double *squares)
{
    for (size_t i = 0; i < run->n_nodes; i++) {
        const uint32_t node = run->nodes[i];
        const double mean = weft_node_mean(&sums->nodes[group][node], sums->n[group]);
        const double apart = (double)run->ns[node] - mean * n;
        squares[node] += apart * apart;
        run->touched[node] += n * n;
        run->ns[node] = 0;
    }
    run->n_nodes = 0;
}

static void square_group(const struct weft_compare_runs *runs, const struct weft_compare_sums *sums,
                         enum weft_group group, struct run_sums *run, double *squares)
{
    double all = 0;
    for (size_t source = 0; source < runs->matrix->n_sources; source++) {
        const double n = (double)runs->n[group][source];
        if (runs->n[group][source] == 0)
            continue;
        all += n * n;
        add_run(runs, sums->members, source, group, run);
        end_run(sums, group, n, run, squares);
    }
    for (size_t node = 0; node < runs->matrix->n_nodes; node++) { /* runs that lack the node */
        const double mean = weft_node_mean(&sums->nodes[group][node], sums->n[group]);
        squares[node] += mean * mean * (all - run->touched[node]);
        run->touched[node] = 0;
    }
}

enum weft_code weft_compare_runs_squares(const struct weft_compare_runs *runs,
                                         const struct weft_compare_sums *sums,
                                         struct weft_run_squares *squares, struct weft_err *err)
{
    struct run_sums run;
    const size_t n_nodes = runs->matrix->n_nodes;
    bool has_memory = run_sums_init(&run, n_nodes);
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        squares->of[group] = calloc(n_nodes + 1, sizeof *squares->of[group]);
        has_memory = has_memory && squares->of[group];
    }
    for (size_t group = 0; has_memory && group < WEFT_GROUPS; group++)
        square_group(runs, sums, (enum weft_group)group, &run, squares->of[group]);
    run_sums_fini(&run);
    return has_memory ? WEFT_OK : weft_no_memory(err, "runs");
}

void weft_run_squares_fini(struct weft_run_squares *squares)
{
    for (size_t group = 0; group < WEFT_GROUPS; group++)
        free(squares->of[group]);
}

/* ---- samples --------------------------------------------------------------------------------- */

double weft_compare_runs_value_squares(const struct weft_compare_runs *runs, const uint8_t *members,
                                       enum weft_group group, const double *values, double mean)
{
    double squares = 0;
    for (size_t source = 0; source < runs->matrix->n_sources; source++) {
        double sum = 0;
        for (size_t i = runs->starts[source]; i < runs->starts[source + 1]; i++) {
            const uint32_t item = runs->order[i];
            sum += members[item] >> group & 1 && !isnan(values[item]) ? values[item] : 0;
        }
        const double apart = sum - mean * (double)runs->n[group][source];
        squares += apart * apart;
    }
    return squares;
}

struct weft_sample weft_compare_runs_sample(const struct weft_compare_runs *runs,
                                            enum weft_group group, double mean, double squares)
{
    const double n_runs = (double)runs->n_runs[group];
    double n = 0;
    for (size_t source = 0; source < runs->matrix->n_sources; source++)
        n += (double)runs->n[group][source];
    struct weft_sample sample = { .n = runs->n_runs[group], .mean = mean };
    if (sample.n > 1)
        sample.variance = n_runs * n_runs / (n_runs - 1) * squares / (n * n);
    return sample;
}

double weft_compare_runs_p_together(const struct weft_sample *a, const struct weft_sample *b)
{
    const double n_a = (double)a->n, n_b = (double)b->n, df = n_a + n_b - 2;
    const double variance = ((n_a - 1) * a->variance + (n_b - 1) * b->variance) / df;
    const double difference = b->mean - a->mean;
    if (!(variance > 0))
        return difference == 0 ? 1 : 0;
    return weft_student_p(difference / sqrt(variance * (1 / n_a + 1 / n_b)), df);
}
