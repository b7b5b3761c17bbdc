/* SPDX-License-Identifier: MIT
 *
 * The run over one pair of groups: sums (sums.c) to rows, Welch's test of every node with false
 * discovery rates across nodes and looks, bootstrap intervals of the nodes ranked first, then
 * metrics. Runs (runs.c) replace executions as the unit wherever groups have runs of their own.
 * focus.c and causes.c add the verdict to the table.
 */
#include "analysis/compare/compare.h"

#include "analysis/compare/bootstrap.h"
#include "analysis/compare/causes.h"
#include "analysis/compare/focus.h"
#include "analysis/compare/names.h"
#include "analysis/compare/runs.h"
#include "base/error.h"
#include "base/statistics.h"
#include "schema/compare.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>

/* ---- evidence -------------------------------------------------------------------------------- */

/* Evidence of a cause, whose time may lie in many nodes that a sentence calls the same. Adds up,
 * for each cause, each execution's time in all nodes with the cause's likeness (names.c), and
 * tests the two samples. A cause spread over many nodes would pass no test node by node. */

static void find_likenesses(const struct weft_ecct_matrix *matrix, uint64_t *likenesses)
{
    struct weft_frame_path path;
    for (uint32_t node = 0; node < matrix->n_nodes; node++) {
        weft_frame_path_of(matrix, node, &path);
        likenesses[node] = weft_path_likeness(&path);
    }
}

/* A group's time in the nodes that are alike. */
static struct weft_sample sample_of(const struct weft_ecct_matrix *matrix, const uint32_t *items,
                                    size_t n, const uint64_t *likenesses, uint64_t likeness)
{
    struct weft_sample sample = { .n = n };
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double ns = 0;
        for (uint64_t at = matrix->starts[items[i]]; at < matrix->starts[items[i] + 1]; at++)
            ns += likenesses[matrix->node[at]] == likeness ? (double)matrix->ns[at] : 0;
        const double apart = ns - sample.mean; /* Welford */
        sample.mean += apart / (double)(i + 1);
        squares += apart * (ns - sample.mean);
    }
    sample.variance = n > 1 ? squares / (double)(n - 1) : 0;
    return sample;
}

/* Sets p of each cause of the table, whose groups are there. O(causes x values). */
static enum weft_code weft_compare_causes_test(const struct weft_ecct_matrix *matrix,
                                               struct weft_compare_table *table,
                                               struct weft_err *err)
{
    uint64_t *likenesses = calloc(matrix->n_nodes + 1, sizeof *likenesses);
    if (!likenesses)
        return weft_no_memory(err, "the causes");
    find_likenesses(matrix, likenesses);
    for (size_t i = 0; i < table->n_causes; i++) {
        struct weft_compare_cause *cause = &table->causes[i];
        cause->p = 1;
        if (cause->node == WEFT_ID_NONE || i >= WEFT_CAUSES_TESTED)
            continue;
        const uint64_t likeness = likenesses[cause->node];
        const struct weft_sample a =
            sample_of(matrix, table->items_a, table->n_a, likenesses, likeness);
        const struct weft_sample b =
            sample_of(matrix, table->items_b, table->n_b, likenesses, likeness);
        cause->p = b.mean > a.mean ? fmin(1, weft_samples_p(&a, &b) * (double)table->n_causes) : 1;
    }
    free(likenesses);
    return WEFT_OK;
}

/* ---- compare --------------------------------------------------------------------------------- */

#define SEED UINT64_C(0x77656674) /* any number: fixed, so that the answer is */

static const double SURE_P = 0.05;

struct weft_comparer {
    const struct weft_ecct_matrix *matrix;
    struct weft_compare_sums sums;
    struct weft_compare_runs runs;
    struct weft_metric_order *orders;            /* by metric */
    double *scratch;                             /* two values an item */
    double *mean_a_ns, *total_a_ns, *total_b_ns; /* by node of the matrix, of the last question */
};

static enum weft_code fill_comparer(struct weft_comparer *comparer, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = comparer->matrix;
    comparer->orders = calloc(matrix->n_metrics + 1, sizeof *comparer->orders);
    comparer->scratch = calloc(2 * (matrix->n_items + 1), sizeof *comparer->scratch);
    comparer->mean_a_ns = calloc(matrix->n_nodes + 1, sizeof *comparer->mean_a_ns);
    comparer->total_a_ns = calloc(matrix->n_nodes + 1, sizeof *comparer->total_a_ns);
    comparer->total_b_ns = calloc(matrix->n_nodes + 1, sizeof *comparer->total_b_ns);
    if (!comparer->total_b_ns || !comparer->orders || !comparer->scratch || !comparer->mean_a_ns ||
        !comparer->total_a_ns)
        return weft_no_memory(err, "a comparison");
    enum weft_code code = weft_compare_sums_init(&comparer->sums, matrix, err);
    WEFT_THEN(code, weft_compare_runs_init(&comparer->runs, matrix, err));
    for (size_t i = 0; code == WEFT_OK && i < matrix->n_metrics; i++)
        code =
            weft_metric_order_init(&comparer->orders[i], &matrix->metrics[i], matrix->n_items, err);
    return code;
}

enum weft_code weft_comparer_new(const struct weft_ecct_matrix *matrix,
                                 struct weft_comparer **comparer, struct weft_err *err)
{
    *comparer = calloc(1, sizeof **comparer);
    if (!*comparer)
        return weft_no_memory(err, "a comparison");
    (*comparer)->matrix = matrix;
    const enum weft_code code = fill_comparer(*comparer, err);
    if (code != WEFT_OK) {
        weft_comparer_free(*comparer);
        *comparer = NULL;
    }
    return code;
}

void weft_comparer_free(struct weft_comparer *comparer)
{
    if (!comparer)
        return;
    for (size_t i = 0; comparer->orders && i < comparer->matrix->n_metrics; i++)
        weft_metric_order_fini(&comparer->orders[i]);
    weft_compare_sums_fini(&comparer->sums);
    weft_compare_runs_fini(&comparer->runs);
    free(comparer->orders);
    free(comparer->scratch);
    free(comparer->mean_a_ns);
    free(comparer->total_a_ns);
    free(comparer->total_b_ns);
    free(comparer);
}

const struct weft_metric_order *weft_comparer_order(const struct weft_comparer *comparer,
                                                    size_t metric)
{
    return &comparer->orders[metric];
}

/* ---- groups ---------------------------------------------------------------------------------- */

static enum weft_code list_items(struct weft_compare_table *table, const uint8_t *members,
                                 size_t n_items, struct weft_err *err)
{
    for (size_t i = 0; i < n_items; i++) {
        table->n_a += (members[i] & WEFT_IN_A) != 0;
        table->n_b += (members[i] & WEFT_IN_B) != 0;
        table->n_both += members[i] == (WEFT_IN_A | WEFT_IN_B);
        table->n_neither += members[i] == 0;
    }
    table->items_a = WEFT_ARENA_NEW(table->arena, table->n_a, uint32_t);
    table->items_b = WEFT_ARENA_NEW(table->arena, table->n_b, uint32_t);
    if (!table->items_a || !table->items_b)
        return weft_no_memory(err, "a comparison");
    for (size_t i = 0, a = 0, b = 0; i < n_items; i++) {
        if (members[i] & WEFT_IN_A)
            table->items_a[a++] = (uint32_t)i;
        if (members[i] & WEFT_IN_B)
            table->items_b[b++] = (uint32_t)i;
    }
    return WEFT_OK;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Room for what is known of nodes while their table is made. */
struct nodes {
    double *p, *p_together, *adjusted_together; /* of tested nodes */
    uint32_t *tested;                           /* places in the table */
    uint32_t *order;
    size_t n_tested;
};

static bool nodes_init(struct nodes *nodes, size_t n)
{
    *nodes = (struct nodes){ .p = calloc(n + 1, sizeof(double)),
                             .p_together = calloc(n + 1, sizeof(double)),
                             .adjusted_together = calloc(n + 1, sizeof(double)),
                             .tested = calloc(n + 1, sizeof(uint32_t)),
                             .order = calloc(n + 1, sizeof(uint32_t)) };
    return nodes->p && nodes->p_together && nodes->adjusted_together && nodes->tested &&
           nodes->order;
}

static void nodes_fini(struct nodes *nodes)
{
    free(nodes->p);
    free(nodes->p_together);
    free(nodes->adjusted_together);
    free(nodes->tested);
    free(nodes->order);
}

static bool has_value(const struct weft_compare_sums *sums, size_t node)
{
    return sums->nodes[WEFT_GROUP_A][node].n + sums->nodes[WEFT_GROUP_B][node].n > 0;
}

/* Rows for the nodes with a value in a group, or below them, with their inclusive means: sums of
 * whole numbers, made means at the end. */
static enum weft_code list_nodes(struct weft_comparer *comparer, struct weft_compare_table *table,
                                 struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = comparer->matrix;
    const struct weft_compare_sums *sums = &comparer->sums;
    uint64_t *totals = calloc(2 * (matrix->n_nodes + 1), sizeof *totals);
    bool *is_wanted = calloc(matrix->n_nodes + 1, sizeof *is_wanted);
    size_t n = 0;
    for (size_t node = matrix->n_nodes; totals && is_wanted && node-- > 0;) {
        const uint32_t parent = matrix->nodes[node].parent;
        totals[2 * node] += sums->nodes[WEFT_GROUP_A][node].sum_ns;
        totals[2 * node + 1] += sums->nodes[WEFT_GROUP_B][node].sum_ns;
        is_wanted[node] |= has_value(sums, node);
        n += is_wanted[node];
        if (parent != WEFT_ID_NONE) {
            totals[2 * parent] += totals[2 * node];
            totals[2 * parent + 1] += totals[2 * node + 1];
            is_wanted[parent] |= is_wanted[node];
        }
    }
    table->nodes = WEFT_ARENA_NEW(table->arena, n, struct weft_compare_node);
    const bool has_memory = totals && is_wanted && table->nodes;
    for (size_t node = 0; has_memory && node < matrix->n_nodes; node++) {
        const uint64_t n_a = sums->n[WEFT_GROUP_A], n_b = sums->n[WEFT_GROUP_B];
        comparer->mean_a_ns[node] = weft_node_mean(&sums->nodes[WEFT_GROUP_A][node], n_a);
        comparer->total_a_ns[node] = n_a ? (double)totals[2 * node] / (double)n_a : 0;
        comparer->total_b_ns[node] = n_b ? (double)totals[2 * node + 1] / (double)n_b : 0;
        if (is_wanted[node])
            table->nodes[table->n_nodes++] = (struct weft_compare_node){
                .node = (uint32_t)node,
                .total_a_ns = comparer->total_a_ns[node],
                .total_b_ns = comparer->total_b_ns[node],
                .p = 1,
                .p_adjusted = 1,
            };
    }
    free(totals);
    free(is_wanted);
    return has_memory ? WEFT_OK : weft_no_memory(err, "a comparison");
}

/* How likely so large a difference is if both groups are samples of one: the variance is that of
 * both together, so that a small group which missed the rare large values of the other, and so has
 * no variance of its own, proves nothing. */
static double p_together(const struct weft_node_sum *a, uint64_t n_a, const struct weft_node_sum *b,
                         uint64_t n_b, double difference_ns)
{
    const struct weft_node_sum both = { .squares = a->squares + b->squares,
                                        .sum_ns = a->sum_ns + b->sum_ns };
    const double variance = weft_node_variance(&both, n_a + n_b);
    if (!(variance > 0) || n_a == 0 || n_b == 0)
        return 1;
    return weft_normal_p(difference_ns / sqrt(variance * (1 / (double)n_a + 1 / (double)n_b)));
}

/* Executions, or runs as blocks, separate groups. */
static void set_test(struct weft_compare_node *row, const struct weft_welch *welch)
{
    row->difference_ns = welch->difference;
    row->interval = (struct weft_interval_ns){ .low_ns = welch->low, .high_ns = welch->high };
    row->t = welch->t;
    row->df = welch->df;
    row->p = welch->p;
}

/* Gives how likely the difference is if all executions are of one kind. */
static double test_executions(const struct weft_compare_sums *sums, struct weft_compare_node *row)
{
    const struct weft_node_sum *sum_a = &sums->nodes[WEFT_GROUP_A][row->node];
    const struct weft_node_sum *sum_b = &sums->nodes[WEFT_GROUP_B][row->node];
    const uint64_t n_a = sums->n[WEFT_GROUP_A], n_b = sums->n[WEFT_GROUP_B];
    const struct weft_sample a = { .n = n_a,
                                   .mean = weft_node_mean(sum_a, n_a),
                                   .variance = weft_node_variance(sum_a, n_a) };
    const struct weft_sample b = { .n = n_b,
                                   .mean = weft_node_mean(sum_b, n_b),
                                   .variance = weft_node_variance(sum_b, n_b) };
    const struct weft_welch welch = weft_welch_test(&a, &b);
    row->n_a = (uint32_t)sum_a->n;
    row->n_b = (uint32_t)sum_b->n;
    row->mean_a_ns = a.mean;
    row->mean_b_ns = b.mean;
    row->sd_a_ns = sqrt(a.variance);
    row->sd_b_ns = sqrt(b.variance);
    set_test(row, &welch);
    row->effect = weft_hedges_g(&a, &b);
    return p_together(sum_a, n_a, sum_b, n_b, welch.difference);
}

/* The same of runs; `squares` are those of all nodes. */
static double test_runs(const struct weft_compare_runs *runs,
                        const struct weft_run_squares *squares, struct weft_compare_node *row)
{
    const struct weft_sample a = weft_compare_runs_sample(runs, WEFT_GROUP_A, row->mean_a_ns,
                                                          squares->of[WEFT_GROUP_A][row->node]);
    const struct weft_sample b = weft_compare_runs_sample(runs, WEFT_GROUP_B, row->mean_b_ns,
                                                          squares->of[WEFT_GROUP_B][row->node]);
    const struct weft_welch welch = weft_welch_test(&a, &b);
    set_test(row, &welch);
    return weft_compare_runs_p_together(&a, &b);
}

static void count_looks(double *p, size_t n, uint32_t n_looks)
{
    for (size_t i = 0; i < n && n_looks > 1; i++)
        p[i] = fmin(1, p[i] * n_looks);
}

/* Of each node with a value; `squares` are NULL where executions are what is compared. */
static void test_each(const struct weft_comparer *comparer, const struct weft_run_squares *squares,
                      struct weft_compare_table *table, struct nodes *nodes)
{
    const struct weft_compare_sums *sums = &comparer->sums;

    for (size_t i = 0; i < table->n_nodes; i++) {
        struct weft_compare_node *row = &table->nodes[i];
        if (!has_value(sums, row->node))
            continue;
        double together = test_executions(sums, row);
        if (squares)
            together = test_runs(&comparer->runs, squares, row);
        nodes->p_together[nodes->n_tested] = together;
        nodes->p[nodes->n_tested] = row->p;
        nodes->tested[nodes->n_tested++] = (uint32_t)i;
    }
}

static enum weft_code test_nodes(const struct weft_comparer *comparer, uint32_t n_looks,
                                 struct weft_compare_table *table, struct nodes *nodes,
                                 struct weft_err *err)
{
    struct weft_run_squares squares = { 0 };
    enum weft_code code = WEFT_OK;
    if (table->is_by_runs)
        code = weft_compare_runs_squares(&comparer->runs, &comparer->sums, &squares, err);
    if (code == WEFT_OK)
        test_each(comparer, table->is_by_runs ? &squares : NULL, table, nodes);
    weft_run_squares_fini(&squares);
    weft_adjust_p(nodes->p_together, nodes->n_tested, nodes->order, nodes->adjusted_together);
    weft_adjust_p(nodes->p, nodes->n_tested, nodes->order, nodes->p);
    count_looks(nodes->adjusted_together, nodes->n_tested, n_looks);
    count_looks(nodes->p, nodes->n_tested, n_looks);
    for (size_t i = 0; i < nodes->n_tested; i++) {
        struct weft_compare_node *row = &table->nodes[nodes->tested[i]];
        row->p_adjusted = nodes->p[i];
        /* few executions spread over runs as if they had no variance */
        const bool is_rare = table->is_by_runs && row->n_a + row->n_b < WEFT_TRUSTED_EXECUTIONS;
        row->is_sure = row->p_adjusted < SURE_P && nodes->adjusted_together[i] < SURE_P &&
                       !table->is_small && !is_rare;
    }
    return code;
}

static void judge_interval(struct weft_compare_node *row)
{
    row->is_sure = row->is_sure && (row->interval.low_ns > 0 || row->interval.high_ns < 0);
}

static int by_rank(const void *a, const void *b, void *context)
{
    const struct weft_compare_node *nodes = context;
    const struct weft_compare_node *x = &nodes[*(const uint32_t *)a];
    const struct weft_compare_node *y = &nodes[*(const uint32_t *)b];
    if (x->is_sure != y->is_sure)
        return x->is_sure ? -1 : 1;
    const double size_x = fabs(x->difference_ns), size_y = fabs(y->difference_ns);
    if (size_x != size_y)
        return size_x > size_y ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static enum weft_code rank_nodes(struct weft_compare_table *table, const struct nodes *nodes,
                                 struct weft_err *err)
{
    table->ranked = WEFT_ARENA_NEW(table->arena, nodes->n_tested, uint32_t);
    if (!table->ranked)
        return weft_no_memory(err, "a comparison");
    for (size_t i = 0; i < nodes->n_tested; i++)
        if (table->nodes[nodes->tested[i]].difference_ns != 0)
            table->ranked[table->n_ranked++] = nodes->tested[i];
    qsort_r(table->ranked, table->n_ranked, sizeof *table->ranked, by_rank, table->nodes);
    return WEFT_OK;
}

/* ---- bootstrap of the nodes ranked first ----------------------------------------------------- */

/* Values of the nodes chosen, one after the other, of each group. */
struct columns {
    uint32_t *slot;              /* by node of the matrix: place in the choice, or none */
    size_t *starts[WEFT_GROUPS]; /* by place in the choice */
    double *values[WEFT_GROUPS];
};

static bool columns_init(struct columns *columns, const struct weft_comparer *comparer,
                         const struct weft_compare_table *table, size_t n_chosen)
{
    const size_t n_nodes = comparer->matrix->n_nodes;
    *columns = (struct columns){ .slot = calloc(n_nodes + 1, sizeof *columns->slot) };
    bool has_memory = columns->slot != NULL;
    for (size_t node = 0; has_memory && node < n_nodes; node++)
        columns->slot[node] = WEFT_ID_NONE;
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        size_t *starts = columns->starts[group] = calloc(n_chosen + 2, sizeof *starts);
        for (size_t i = 0; has_memory && starts && i < n_chosen; i++) {
            const uint32_t node = table->nodes[table->ranked[i]].node;
            columns->slot[node] = (uint32_t)i;
            starts[i + 1] = starts[i] + comparer->sums.nodes[group][node].n;
        }
        columns->values[group] =
            starts ? calloc(starts[n_chosen] + 1, sizeof *columns->values[group]) : NULL;
        has_memory = has_memory && columns->values[group];
    }
    return has_memory;
}

static void columns_fini(struct columns *columns)
{
    free(columns->slot);
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        free(columns->starts[group]);
        free(columns->values[group]);
    }
}

/* Moves each start to the end of its values, which is where the next begins. */
static void columns_fill(struct columns *columns, const struct weft_ecct_matrix *matrix,
                         const uint8_t *members)
{
    for (size_t item = 0; item < matrix->n_items; item++) {
        if (!members[item])
            continue;
        for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
            const uint32_t slot = columns->slot[matrix->node[at]];
            if (slot == WEFT_ID_NONE || matrix->ns[at] == 0)
                continue;
            for (size_t group = 0; group < WEFT_GROUPS; group++)
                if (members[item] & 1u << group)
                    columns->values[group][columns->starts[group][slot]++] = (double)matrix->ns[at];
        }
    }
}

static struct weft_bootstrap_group column(const struct columns *columns,
                                          const struct weft_compare_sums *sums, size_t group,
                                          size_t slot, uint32_t node)
{
    const size_t n_values = sums->nodes[group][node].n;
    return (struct weft_bootstrap_group){ .values = columns->values[group] +
                                                    columns->starts[group][slot] - n_values,
                                          .n_values = n_values,
                                          .n_all = sums->n[group] };
}

static enum weft_code widen(const struct weft_comparer *comparer, struct weft_compare_table *table,
                            const struct columns *columns, size_t n_chosen, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < n_chosen; i++) {
        struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        const struct weft_bootstrap_group a =
            column(columns, &comparer->sums, WEFT_GROUP_A, i, row->node);
        const struct weft_bootstrap_group b =
            column(columns, &comparer->sums, WEFT_GROUP_B, i, row->node);
        double low_ns, high_ns;
        code = weft_bootstrap_interval(&a, &b, row->df, table->seed + row->node, &low_ns, &high_ns,
                                       err);
        if (code == WEFT_OK) {
            row->interval.low_ns = fmin(row->interval.low_ns, low_ns);
            row->interval.high_ns = fmax(row->interval.high_ns, high_ns);
            judge_interval(row);
        }
    }
    return code;
}

static enum weft_code bootstrap(const struct weft_comparer *comparer,
                                struct weft_compare_table *table,
                                const struct weft_compare_opts *opts, struct weft_err *err)
{
    struct columns columns;
    const size_t n_chosen =
        opts->n_bootstrap < table->n_ranked ? opts->n_bootstrap : table->n_ranked;
    enum weft_code code = WEFT_OK;
    if (columns_init(&columns, comparer, table, n_chosen)) {
        columns_fill(&columns, comparer->matrix, opts->members);
        code = widen(comparer, table, &columns, n_chosen, err);
    } else {
        code = weft_no_memory(err, "a comparison");
    }
    columns_fini(&columns);
    qsort_r(table->ranked, table->n_ranked, sizeof *table->ranked, by_rank, table->nodes);
    return code;
}

static enum weft_code compare_nodes(struct weft_comparer *comparer,
                                    const struct weft_compare_opts *opts,
                                    struct weft_compare_table *table, struct weft_err *err)
{
    struct nodes nodes = { 0 };
    enum weft_code code = list_nodes(comparer, table, err);
    if (code == WEFT_OK && !nodes_init(&nodes, table->n_nodes))
        code = weft_no_memory(err, "a comparison");
    WEFT_THEN(code, test_nodes(comparer, opts->n_looks, table, &nodes, err));
    if (code == WEFT_OK) {
        for (size_t i = 0; i < table->n_nodes; i++)
            judge_interval(&table->nodes[i]);
        code = rank_nodes(table, &nodes, err);
    }
    if (code == WEFT_OK && opts->n_bootstrap > 0 && !table->is_by_runs)
        code = bootstrap(comparer, table, opts, err);
    nodes_fini(&nodes);
    return code;
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* The duration, the first, is what is asked about: its p is its own. The others are looked through.
 */
static enum weft_code adjust_metrics(struct weft_compare_table *table, struct weft_err *err)
{
    struct weft_compare_metric *others = table->n_metrics > 0 ? table->metrics + 1 : NULL;
    const size_t n = table->n_metrics > 0 ? table->n_metrics - 1 : 0;
    double *p = calloc(n + 1, sizeof *p);
    uint32_t *order = calloc(n + 1, sizeof *order);
    const bool has_memory = p && order;
    for (size_t i = 0; has_memory && i < n; i++)
        p[i] = others[i].p;
    if (has_memory)
        weft_adjust_p(p, n, order, p);
    for (size_t i = 0; has_memory && i < n; i++)
        others[i].p_adjusted = p[i];
    free(p);
    free(order);
    return has_memory ? WEFT_OK : weft_no_memory(err, "a comparison");
}

static void compare_metric_by_runs(const struct weft_comparer *comparer, const uint8_t *members,
                                   struct weft_compare_metric *row)
{
    const struct weft_compare_runs *runs = &comparer->runs;
    const double *values = comparer->matrix->metrics[row->metric].values;
    const double means[] = { row->mean_a, row->mean_b };
    struct weft_sample samples[WEFT_GROUPS];
    for (size_t i = 0; i < WEFT_GROUPS; i++) {
        const enum weft_group group = (enum weft_group)i;
        samples[i] = weft_compare_runs_sample(
            runs, group, means[i],
            weft_compare_runs_value_squares(runs, members, group, values, means[i]));
    }
    const struct weft_welch welch = weft_welch_test(&samples[WEFT_GROUP_A], &samples[WEFT_GROUP_B]);
    row->low = welch.low;
    row->high = welch.high;
    row->t = welch.t;
    row->df = welch.df;
    row->p = row->p_adjusted = welch.p;
}

static enum weft_code check_progress(const struct weft_compare_opts *opts, struct weft_err *err)
{
    return weft_progress_is_cancelled(opts->progress)
               ? weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted")
               : WEFT_OK;
}

static enum weft_code compare_metrics(struct weft_comparer *comparer,
                                      const struct weft_compare_opts *opts,
                                      struct weft_compare_table *table, struct weft_err *err)
{
    const size_t n = comparer->matrix->n_metrics;
    table->metrics = WEFT_ARENA_NEW(table->arena, n, struct weft_compare_metric);
    if (!table->metrics)
        return weft_no_memory(err, "a comparison");
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < n; i++) {
        table->metrics[i].metric = (uint32_t)i;
        code = check_progress(opts, err);
        if (code != WEFT_OK)
            break;
        code = weft_compare_metric(
            &comparer->orders[i], opts->members, opts->n_bootstrap > 0 && !table->is_by_runs,
            table->seed ^ ~(uint64_t)i, comparer->scratch, &table->metrics[i], err);
        if (table->is_by_runs)
            compare_metric_by_runs(comparer, opts->members, &table->metrics[i]);
    }
    table->n_metrics = n;
    return code == WEFT_OK ? adjust_metrics(table, err) : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static enum weft_code run(struct weft_comparer *comparer, const struct weft_compare_opts *opts,
                          struct weft_compare_table *table, struct weft_err *err)
{
    const struct weft_causes_base base = { .matrix = comparer->matrix,
                                           .mean_ns = comparer->mean_a_ns,
                                           .total_ns = comparer->total_a_ns,
                                           .total_b_ns = comparer->total_b_ns };
    weft_compare_sums_set(&comparer->sums, opts->members);
    weft_compare_runs_set(&comparer->runs, opts->members);
    table->n_runs_a = comparer->runs.n_runs[WEFT_GROUP_A];
    table->n_runs_b = comparer->runs.n_runs[WEFT_GROUP_B];
    table->runs_are_apart = comparer->runs.are_apart;
    table->is_by_runs = comparer->runs.are_blocks;
    enum weft_code code = list_items(table, opts->members, comparer->matrix->n_items, err);
    table->focus.node = WEFT_ID_NONE;
    table->is_small = table->n_a < WEFT_TRUSTED_EXECUTIONS || table->n_b < WEFT_TRUSTED_EXECUTIONS;
    WEFT_THEN(code, check_progress(opts, err));
    WEFT_THEN(code, compare_nodes(comparer, opts, table, err));
    WEFT_THEN(code, compare_metrics(comparer, opts, table, err));
    if (code == WEFT_OK && opts->n_bootstrap > 0 && !table->is_by_runs)
        code = weft_compare_find_focus(comparer->matrix, &comparer->sums, table, err);
    WEFT_THEN(code, check_progress(opts, err));
    if (code == WEFT_OK && opts->with_causes && table->n_a > 0)
        code = weft_compare_find_causes(&base, table, err);
    WEFT_THEN(code, check_progress(opts, err));
    if (code == WEFT_OK && table->n_causes > 0)
        code = weft_compare_causes_test(comparer->matrix, table, err);
    for (size_t i = 0; i < table->n_causes && opts->n_looks > 1; i++)
        table->causes[i].p = fmin(1, table->causes[i].p * opts->n_looks);
    return code;
}

enum weft_code weft_comparer_run(struct weft_comparer *comparer,
                                 const struct weft_compare_opts *opts,
                                 struct weft_compare_table **table, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    *table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_compare_table) : NULL;
    if (!*table) {
        weft_arena_free(arena);
        return weft_no_memory(err, "a comparison");
    }
    (*table)->arena = arena;
    (*table)->seed = SEED;
    const enum weft_code code = run(comparer, opts, *table, err);
    if (code != WEFT_OK) {
        weft_result_free(*table);
        *table = NULL;
    }
    return code;
}
