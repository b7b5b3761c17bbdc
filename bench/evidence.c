/* SPDX-License-Identifier: MIT
 *
 * How often chance looks like a difference, and how often intervals hold what was put in.
 *
 * usage: evidence same  ROUNDS [DATABASE [TYPE]]   random splits of executions that are alike
 *        evidence held  ROUNDS [DATABASE [TYPE]]   delays of 2 to 50 % added to half of them
 *        evidence small ROUNDS                     intervals of small, skewed groups
 *
 * Without a database, executions of about 1 ms are made: they compute, wait for a disk, a lock and
 * a timer, with log-normal times. With one, its executions are split, and delays added to them.
 */
#include "analysis/compare/bootstrap.h"
#include "analysis/compare/compare.h"
#include "base/statistics.h"
#include "measure.h"
#include "query/comparison.h"
#include "schema/event.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- executions ------------------------------------------------------------------------------ */

enum { LOCK, DISK, CPU, SLEEP, ROWS, RARE = ROWS, STEADY, PLACES };

static const char *const row_names[ROWS] = { "lock", "disk", "processor", "sleep" };

static void must(enum weft_code code, const struct weft_err *err)
{
    if (code == WEFT_OK)
        return;
    fprintf(stderr, "evidence: %s\n", err->text);
    exit(1);
}

static void *room(size_t n, size_t bytes)
{
    void *memory = calloc(n + 1, bytes);
    if (!memory)
        exit(1);
    return memory;
}

static double uniform(uint64_t *state)
{
    return ((double)(bench_random(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

/* Log-normal around `mean`. */
static double noisy(uint64_t *state, double mean, double sigma)
{
    return mean * exp(sigma * normal(state) - sigma * sigma / 2);
}

/* Executions without sources; a place is a node below the root. */
struct world {
    struct weft_ecct_matrix matrix;
    struct weft_metric duration;
    uint32_t place[ROWS];
    double mean_ns;
};

static double made_ns(uint64_t *state, size_t place)
{
    switch (place) {
    case LOCK:
        return uniform(state) < 0.3 ? noisy(state, 200e3, 0.5) : 0;
    case DISK:
        return noisy(state, 300e3, 0.6);
    case CPU:
        return noisy(state, 500e3, 0.2);
    case SLEEP:
        return uniform(state) < 0.5 ? noisy(state, 60e3, 0.1) : 0;
    case RARE:
        return uniform(state) < 0.02 ? noisy(state, 5e6, 0.5) : 0;
    default:
        return 50000;
    }
}

static void set_duration(struct weft_ecct_matrix *matrix, size_t item)
{
    uint64_t sum_ns = 0;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        sum_ns += matrix->ns[at];
    matrix->items[item].end_ns = matrix->items[item].start_ns + sum_ns;
    matrix->metrics[0].values[item] = (double)sum_ns;
}

/* Other executions of the same kinds with every state. */
static void make_executions(struct world *world, uint64_t *state)
{
    struct weft_ecct_matrix *matrix = &world->matrix;
    uint64_t at = 0;
    for (size_t i = 0; i < matrix->n_items; i++) {
        matrix->starts[i] = at;
        for (uint32_t place = 0; place < PLACES; place++) {
            const double ns = made_ns(state, place);
            if (!(ns >= 1))
                continue;
            matrix->node[at] = place + 1;
            matrix->ns[at++] = (uint64_t)ns;
        }
        matrix->starts[i + 1] = at;
        set_duration(matrix, i);
    }
}

static void make_world(struct world *world, size_t n_items)
{
    static struct weft_frame frames[PLACES + 1];
    static struct weft_ecct_node nodes[PLACES + 1];
    static struct weft_execution_source source;
    nodes[0] = (struct weft_ecct_node){ .parent = WEFT_ID_NONE, .frame = WEFT_ID_NONE };
    for (uint32_t i = 1; i <= PLACES; i++)
        nodes[i] = (struct weft_ecct_node){ .frame = i };
    *world = (struct world){ .mean_ns = 1e6, .duration = { .name = WEFT_STR("duration") } };
    world->duration.values = room(n_items, sizeof(double));
    world->matrix = (struct weft_ecct_matrix){
        .frames = frames,
        .n_frames = PLACES + 1,
        .nodes = nodes,
        .n_nodes = PLACES + 1,
        .sources = &source,
        .n_sources = 1,
        .items = room(n_items, sizeof(struct weft_execution_item)),
        .n_items = n_items,
        .starts = room(n_items + 1, sizeof(uint64_t)),
        .node = room(PLACES * n_items, sizeof(uint32_t)),
        .ns = room(PLACES * n_items, sizeof(uint64_t)),
        .metrics = &world->duration,
        .n_metrics = 1,
    };
    for (uint32_t row = 0; row < ROWS; row++)
        world->place[row] = row + 1;
}

/* Of a database, the nodes of each kind with the most time; a kind without one takes the root. */
static void find_places(struct world *world)
{
    static const char *const kinds[ROWS] = { "blocked: futex", "blocked: block device", "running",
                                             "blocked: timer" };
    const struct weft_ecct_matrix *matrix = &world->matrix;
    double *sums = room(matrix->n_nodes, sizeof *sums);
    for (uint64_t at = 0; at < matrix->starts[matrix->n_items]; at++)
        sums[matrix->node[at]] += (double)matrix->ns[at];
    for (size_t row = 0; row < ROWS; row++)
        for (uint32_t node = 1; node < matrix->n_nodes; node++) {
            const struct weft_str name = matrix->frames[matrix->nodes[node].frame].name;
            if (weft_str_equal(name, weft_str_of(kinds[row])) &&
                sums[node] > sums[world->place[row]])
                world->place[row] = node;
        }
    free(sums);
}

static void read_world(struct world *world, const char *path, const char *type)
{
    struct weft_comparison *comparison;
    struct weft_err err = { 0 };
    must(weft_comparison_open(path, weft_str_of(type), NULL, NULL, &comparison, &err), &err);
    *world = (struct world){ .matrix = *weft_comparison_matrix(comparison) }; /* never closed */
    world->matrix.n_metrics = 1;
    for (size_t i = 0; i < world->matrix.n_items; i++)
        world->mean_ns += world->matrix.metrics[0].values[i] / (double)world->matrix.n_items;
    find_places(world);
    printf("%s: %zu executions of %.0f us\n", path, world->matrix.n_items, world->mean_ns / 1e3);
}

/* ---- questions ------------------------------------------------------------------------------- */

static struct weft_compare_table *compare(const struct weft_ecct_matrix *matrix,
                                          const uint8_t *members)
{
    struct weft_comparer *comparer;
    struct weft_compare_table *table;
    struct weft_err err = { 0 };
    const struct weft_compare_opts opts = { .members = members,
                                            .n_bootstrap = WEFT_COMPARE_BOOTSTRAP };
    must(weft_comparer_new(matrix, &comparer, &err), &err);
    must(weft_comparer_run(comparer, &opts, &table, &err), &err);
    weft_comparer_free(comparer);
    return table;
}

/* `n_a` of them, chosen at random, are A. */
static void split(uint8_t *members, size_t n, size_t n_a, uint64_t *state)
{
    for (size_t i = 0; i < n; i++) {
        const bool is_a = bench_random(state) % (n - i) < n_a;
        members[i] = is_a ? WEFT_IN_A : WEFT_IN_B;
        n_a -= is_a;
    }
}

static void measure_same(struct world *world, size_t n_rounds, bool is_made)
{
    static const double shares[] = { 0.5, 0.2, 0.05, 0.95 };
    const size_t n = world->matrix.n_items;
    uint8_t *members = room(n, 1);
    uint64_t state = 1;
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
        size_t n_found = 0, n_apart = 0, n_places = 0;
        for (size_t round = 0; round < n_rounds; round++) {
            if (is_made)
                make_executions(world, &state);
            split(members, n, (size_t)(shares[k] * (double)n + 0.5), &state);
            struct weft_compare_table *table = compare(&world->matrix, members);
            n_found += table->n_ranked > 0 && table->nodes[table->ranked[0]].is_sure;
            n_apart += table->metrics[0].low > 0 || table->metrics[0].high < 0;
            n_places += table->focus.node != WEFT_ID_NONE && table->focus.is_sure;
            weft_result_free(table);
        }
        printf("%3.0f %% in A: a sure context in %.1f %%, a duration that differs in %.1f %%, one "
               "place in %.1f %% of %zu splits\n",
               100 * shares[k], 100 * (double)n_found / (double)n_rounds,
               100 * (double)n_apart / (double)n_rounds, 100 * (double)n_places / (double)n_rounds,
               n_rounds);
        fflush(stdout);
    }
    free(members);
}

/* A copy of the executions whose B has a delay at a node. */
struct delayed {
    struct weft_ecct_matrix matrix;
    struct weft_metric duration;
};

static struct delayed delay(const struct weft_ecct_matrix *from, const uint8_t *members,
                            uint32_t node, double delay_ns, uint64_t *state)
{
    const size_t n = from->n_items, n_values = from->starts[n];
    struct delayed to = { .matrix = *from, .duration = from->metrics[0] };
    uint64_t end = 0;
    to.matrix.items = room(n, sizeof *to.matrix.items);
    to.matrix.starts = room(n + 1, sizeof(uint64_t));
    to.matrix.node = room(n_values + n, sizeof(uint32_t));
    to.matrix.ns = room(n_values + n, sizeof(uint64_t));
    to.duration.values = room(n, sizeof(double));
    to.matrix.metrics = &to.duration;
    memcpy(to.matrix.items, from->items, n * sizeof *from->items);
    for (size_t i = 0; i < n; i++) {
        uint64_t more_ns = 0, at = from->starts[i];
        to.matrix.starts[i] = end;
        if (members[i] == WEFT_IN_B)
            more_ns = (uint64_t)noisy(state, delay_ns, 0.3);
        while (at < from->starts[i + 1] || more_ns > 0) {
            const bool is_end = at == from->starts[i + 1];
            const uint32_t next =
                is_end || (more_ns > 0 && node < from->node[at]) ? node : from->node[at];
            to.matrix.node[end] = next;
            to.matrix.ns[end] = !is_end && from->node[at] == next ? from->ns[at++] : 0;
            if (next == node) {
                to.matrix.ns[end] += more_ns;
                more_ns = 0;
            }
            end++;
        }
        to.matrix.starts[i + 1] = end;
        set_duration(&to.matrix, i);
    }
    return to;
}

static void delayed_free(struct delayed *delayed)
{
    free(delayed->matrix.items);
    free(delayed->matrix.starts);
    free(delayed->matrix.node);
    free(delayed->matrix.ns);
    free(delayed->duration.values);
}

struct held {
    size_t n_context, n_duration, n_sure, n_first;
};

static void count_held(const struct weft_compare_table *table, uint32_t node, double delay_ns,
                       struct held *held)
{
    const struct weft_compare_metric *duration = &table->metrics[0];
    held->n_duration += duration->low <= delay_ns && delay_ns <= duration->high;
    held->n_first += table->nodes[table->ranked[0]].node == node;
    for (size_t i = 0; i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        if (row->node != node)
            continue;
        held->n_context += row->interval.low_ns <= delay_ns && delay_ns <= row->interval.high_ns;
        held->n_sure += row->is_sure;
    }
}

static void measure_row(struct world *world, size_t row, double part, size_t n_rounds, bool is_made)
{
    const size_t n = world->matrix.n_items;
    const double delay_ns = part * world->mean_ns;
    uint8_t *members = room(n, 1);
    uint64_t state = 1 + (uint64_t)(1000 * part) + row;
    struct held held = { 0 };
    for (size_t round = 0; round < n_rounds; round++) {
        if (is_made)
            make_executions(world, &state);
        split(members, n, n / 2, &state);
        struct delayed delayed =
            delay(&world->matrix, members, world->place[row], delay_ns, &state);
        struct weft_compare_table *table = compare(&delayed.matrix, members);
        count_held(table, world->place[row], delay_ns, &held);
        weft_result_free(table);
        delayed_free(&delayed);
    }
    const double all = (double)n_rounds / 100;
    printf("%-9s %3.0f %%: held %.1f %% by its context, %.1f %% by the duration; sure %.1f %%, "
           "first %.1f %%\n",
           row_names[row], 100 * part, (double)held.n_context / all, (double)held.n_duration / all,
           (double)held.n_sure / all, (double)held.n_first / all);
    fflush(stdout);
    free(members);
}

static void measure_held(struct world *world, size_t n_rounds, bool is_made)
{
    static const double parts[] = { 0.02, 0.05, 0.1, 0.2, 0.5 };
    for (size_t row = 0; row < ROWS; row++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            measure_row(world, row, parts[i], n_rounds, is_made);
}

/* ---- small groups ---------------------------------------------------------------------------- */

enum {
    NORMAL,
    LOG_NORMAL_05,
    EXPONENTIAL,
    LOG_NORMAL_1,
    LOG_NORMAL_15,
    BESIDE,
    TIMES,
    SMALL_MOST = 256
};

/* Of mean 1. */
static double drawn(unsigned times, uint64_t *state)
{
    switch (times) {
    case NORMAL:
        return 1 + 0.2 * normal(state);
    case LOG_NORMAL_05:
        return noisy(state, 1, 0.5);
    case EXPONENTIAL:
        return -log(uniform(state));
    case LOG_NORMAL_1:
        return noisy(state, 1, 1);
    case LOG_NORMAL_15:
        return noisy(state, 1, 1.5);
    default:
        return 2. / 3 + noisy(state, 1. / 3, 1);
    }
}

/* Gives how often the interval holds; n_a of A have the same times if it has any, else none. */
static double hold_small(unsigned times, size_t n_a, size_t n_b, bool has_a, size_t n_rounds)
{
    static double a[SMALL_MOST], b[SMALL_MOST];
    uint64_t state = 1 + times;
    size_t n_held = 0;
    for (size_t round = 0; round < n_rounds; round++) {
        struct weft_err err = { 0 };
        struct weft_sample from = { .n = n_a }, to = { .n = n_b };
        double low, high;
        for (size_t i = 0; i < n_a; i++)
            a[i] = drawn(times, &state);
        for (size_t i = 0; i < n_b; i++)
            b[i] = drawn(times, &state);
        from = has_a ? weft_sample_of(a, n_a) : from;
        to = weft_sample_of(b, n_b);
        const struct weft_welch welch = weft_welch_test(&from, &to);
        const struct weft_bootstrap_group group_a = { a, has_a ? n_a : 0, n_a };
        const struct weft_bootstrap_group group_b = { b, n_b, n_b };
        must(weft_bootstrap_interval(&group_a, &group_b, welch.df, round, &low, &high, &err), &err);
        const double truth = has_a ? 0 : 1;
        n_held += fmin(low, welch.low) <= truth && truth <= fmax(high, welch.high);
    }
    return 100 * (double)n_held / (double)n_rounds;
}

static void measure_small(size_t n_rounds)
{
    static const char *const names[TIMES] = { "normal",        "log-normal, 0.5", "exponential",
                                              "log-normal, 1", "log-normal, 1.5", "constant + 1" };
    static const struct {
        size_t n_a, n_b;
    } sizes[] = {
        { 5, 5 }, { 7, 7 }, { 10, 10 }, { 20, 20 }, { 50, 50 }, { 200, 200 }, { 200, 20 }
    };
    for (unsigned has_a = 0; has_a < 2; has_a++) {
        printf("%-16s", has_a ? "of both groups" : "of B alone");
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            printf(" %4zu,%3zu", sizes[k].n_a, sizes[k].n_b);
        for (unsigned times = 0; times < TIMES; times++) {
            printf("\n%-16s", names[times]);
            for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
                printf(" %8.1f",
                       hold_small(times, sizes[k].n_a, sizes[k].n_b, has_a != 0, n_rounds));
            fflush(stdout);
        }
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    enum { MADE_SAME = 400, MADE_HELD = 300 };
    const size_t n_rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    const bool is_made = argc < 4;
    struct world world;
    if (n_rounds == 0)
        return 2;
    const bool is_same = strcmp(argv[1], "same") == 0;
    if (strcmp(argv[1], "small") == 0) {
        measure_small(n_rounds);
        return 0;
    }
    if (is_made)
        make_world(&world, is_same ? MADE_SAME : MADE_HELD);
    else
        read_world(&world, argv[3], argc > 4 ? argv[4] : "");
    if (is_same)
        measure_same(&world, n_rounds, is_made);
    else
        measure_held(&world, n_rounds, is_made);
    return 0;
}
