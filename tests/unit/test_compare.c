/* SPDX-License-Identifier: MIT
 *
 * Comparison of groups: what chance finds, what was put in, causes, and the same by any way.
 */
#include "analysis/compare/bootstrap.h"
#include "analysis/compare/compare.h"
#include "base/statistics.h"
#include "matrix_builder.h"
#include "schema/result.h"
#include "tap.h"

/* ---- noise ----------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    return ((double)(tap_random(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

/* Log-normal: about `mean`, never negative, with a long tail. */
static uint64_t noisy(uint64_t *state, double mean, double sigma)
{
    return (uint64_t)(mean * exp(sigma * normal(state) - sigma * sigma / 2));
}

enum { LOCK, DISK, CPU, SLEEP, RARE, STEADY, PLACES };

struct scene {
    uint32_t place[PLACES];
};

static void scene_begin(struct matrix_builder *made, struct scene *scene)
{
    matrix_begin(made);
    const uint32_t handle = matrix_node(made, 0, WEFT_FRAME_FUNCTION, "handle");
    const uint32_t lock = matrix_node(made, handle, WEFT_FRAME_FUNCTION, "acquire");
    const uint32_t load = matrix_node(made, handle, WEFT_FRAME_FUNCTION, "load");
    const uint32_t nap = matrix_node(made, handle, WEFT_FRAME_FUNCTION, "retry");
    scene->place[LOCK] = matrix_node(made, lock, WEFT_FRAME_STATE, "blocked: futex");
    scene->place[DISK] = matrix_node(made, load, WEFT_FRAME_STATE, "blocked: disk");
    scene->place[CPU] = matrix_node(made, handle, WEFT_FRAME_STATE, "running");
    scene->place[SLEEP] = matrix_node(made, nap, WEFT_FRAME_STATE, "blocked: timer");
    scene->place[RARE] = matrix_node(made, load, WEFT_FRAME_STATE, "preempted");
    scene->place[STEADY] = matrix_node(made, load, WEFT_FRAME_STATE, "running");
    (void)matrix_source(made, "a.weft", "base");
}

/* An execution of about 1 ms. */
static void scene_item(struct matrix_builder *made, const struct scene *scene, uint64_t *state,
                       uint64_t start_ns)
{
    matrix_item(made, 0, "worker", start_ns);
    matrix_value(made, scene->place[CPU], noisy(state, 500e3, 0.2));
    matrix_value(made, scene->place[DISK], noisy(state, 300e3, 0.6));
    matrix_value(made, scene->place[STEADY], 50000);
    if (uniform(state) < 0.3)
        matrix_value(made, scene->place[LOCK], noisy(state, 200e3, 0.5));
    if (uniform(state) < 0.02)
        matrix_value(made, scene->place[RARE], noisy(state, 5e6, 0.5));
    if (uniform(state) < 0.5)
        matrix_value(made, scene->place[SLEEP], noisy(state, 60e3, 0.1));
}

static struct weft_compare_table *compare(struct weft_comparer *comparer, const uint8_t *members,
                                          uint32_t n_bootstrap, bool with_causes)
{
    const struct weft_compare_opts opts = { .members = members,
                                            .n_bootstrap = n_bootstrap,
                                            .with_causes = with_causes };
    struct weft_compare_table *table = NULL;
    struct weft_err err = { 0 };
    if (weft_comparer_run(comparer, &opts, &table, &err) != WEFT_OK)
        tap_note("%s", err.text);
    return table;
}

static bool has_sure(const struct weft_compare_table *table)
{
    return table->n_ranked > 0 && table->nodes[table->ranked[0]].is_sure;
}

static const struct weft_compare_node *row_of(const struct weft_compare_table *table, uint32_t node)
{
    for (size_t i = 0; i < table->n_nodes; i++)
        if (table->nodes[i].node == node)
            return &table->nodes[i];
    return NULL;
}

/* ---- chance ---------------------------------------------------------------------------------- */

static const double SAME_SHARE = 0.024; /* of splits, that were found to differ over many seeds */
static const double HELD_SHARE = 0.953; /* of intervals, that hold what was put in */

/* How many of n happenings of a probability are exceeded less than once in a million times: of
 * 1,000 splits 52, of 200 17. */
static unsigned chance_most(unsigned n, double share)
{
    double term = pow(1 - share, n), sum = term;
    unsigned k = 0;
    while (1 - sum > 1e-6 && k < n) {
        term *= (double)(n - k) / (k + 1) * share / (1 - share);
        sum += term;
        k++;
    }
    return k;
}

/* Random splits of executions that differ by nothing: as many in A as the share says. */
static void test_same(uint64_t seed, double share, unsigned n_splits, const char *name)
{
    enum { ITEMS = 400 };
    struct matrix_builder made;
    struct scene scene;
    scene_begin(&made, &scene);
    for (uint64_t i = 0; i < ITEMS; i++)
        scene_item(&made, &scene, &seed, i * 1000000);
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *comparer;
    uint8_t members[ITEMS];
    unsigned n_found = 0;
    if (!tap_ok(weft_comparer_new(matrix, &comparer, NULL) == WEFT_OK, "a comparer"))
        return;
    for (unsigned split = 0; split < n_splits; split++) {
        for (size_t i = 0; i < ITEMS; i++)
            members[i] = uniform(&seed) < share ? WEFT_IN_A : WEFT_IN_B;
        struct weft_compare_table *table = compare(comparer, members, 0, false);
        n_found += table && has_sure(table);
        weft_result_free(table);
    }
    tap_note("%s: %u of %u splits with a sure node", name, n_found, n_splits);
    const unsigned n_most = chance_most(n_splits, SAME_SHARE);
    tap_ok(n_found <= n_most, "%s: at most 5 %% of random splits differ, but for chance", name);
    weft_comparer_free(comparer);
    weft_result_free(matrix);
}

/* Runs that differ by more than their executions do: random splits of whole runs, as many in A as
 * in B or `n_a` of them. */
static void test_same_runs(uint64_t seed, size_t n_runs, size_t n_a, unsigned n_splits)
{
    enum { OF_RUN = 30, MOST_RUNS = 40 };
    uint8_t members[OF_RUN * MOST_RUNS];
    unsigned n_found = 0, n_by_runs = 0;
    for (unsigned split = 0; split < n_splits; split++) {
        struct matrix_builder made;
        struct scene scene;
        scene_begin(&made, &scene);
        for (size_t run = 0; run < n_runs; run++) {
            const double lock = exp(0.3 * normal(&seed)), disk = exp(0.3 * normal(&seed));
            const uint32_t source = run == 0 ? 0 : matrix_source(&made, "b.weft", "other");
            const size_t n = OF_RUN / 2 + tap_random(&seed) % (OF_RUN / 2);
            for (size_t i = 0; i < n; i++) {
                members[made.items.n] = run < n_a ? WEFT_IN_A : WEFT_IN_B;
                matrix_item(&made, source, "worker", i * 1000000);
                matrix_value(&made, scene.place[CPU], noisy(&seed, 500e3, 0.2));
                matrix_value(&made, scene.place[DISK], noisy(&seed, disk * 300e3, 0.2));
                matrix_value(&made, scene.place[LOCK], noisy(&seed, lock * 200e3, 0.2));
                matrix_value(&made, scene.place[STEADY], 50000);
            }
        }
        struct weft_ecct_matrix *matrix = matrix_end(&made);
        struct weft_comparer *comparer;
        if (weft_comparer_new(matrix, &comparer, NULL) == WEFT_OK) {
            struct weft_compare_table *table = compare(comparer, members, 0, false);
            n_found += has_sure(table);
            n_by_runs += table->is_by_runs;
            weft_result_free(table);
        }
        weft_comparer_free(comparer);
        weft_result_free(matrix);
    }
    tap_note("%zu against %zu runs: %u of %u with a sure node", n_a, n_runs - n_a, n_found,
             n_splits);
    tap_eq_u64(n_by_runs, n_splits, "runs are what is compared");
    tap_ok(n_found <= chance_most(n_splits, 0.05), "%zu against %zu runs differ by chance alone",
           n_a, n_runs - n_a);
}

/* One execution of each of three runs has a context, none of three others: nearly the same times
 * are no variance that could be known. */
static void test_rare_in_runs(uint64_t seed)
{
    enum { OF_RUN = 20, RUNS = 6 };
    uint8_t members[OF_RUN * RUNS];
    struct matrix_builder made;
    struct scene scene;
    scene_begin(&made, &scene);
    for (size_t run = 0; run < RUNS; run++) {
        const uint32_t source = run == 0 ? 0 : matrix_source(&made, "b.weft", "other");
        for (size_t i = 0; i < OF_RUN; i++) {
            members[made.items.n] = run < RUNS / 2 ? WEFT_IN_A : WEFT_IN_B;
            matrix_item(&made, source, "worker", i * 1000000);
            matrix_value(&made, scene.place[CPU], noisy(&seed, 500e3, 0.2));
            if (run < RUNS / 2 && i == 3)
                matrix_value(&made, scene.place[RARE], noisy(&seed, 300e3, 0.01));
        }
    }
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *comparer;
    if (weft_comparer_new(matrix, &comparer, NULL) == WEFT_OK) {
        struct weft_compare_table *table = compare(comparer, members, 0, false);
        const struct weft_compare_node *row = row_of(table, scene.place[RARE]);
        tap_ok(table->is_by_runs && row->p_adjusted < 0.05 && !row->is_sure,
               "a context of one execution of each run is not sure");
        weft_result_free(table);
    }
    weft_comparer_free(comparer);
    weft_result_free(matrix);
}

/* ---- what was put in ------------------------------------------------------------------------- */

/* Delays of a known size in B: large ones are found. How many of 50 intervals hold them. */
static unsigned test_injected(uint64_t seed, size_t place, double part, const char *name)
{
    enum { ROUNDS = 50, ITEMS = 300 };
    const double mean_ns = 1e6, delay_ns = part * mean_ns;
    unsigned n_held = 0, n_sure = 0, n_first = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct matrix_builder made;
        struct scene scene;
        uint8_t members[ITEMS];
        scene_begin(&made, &scene);
        for (size_t i = 0; i < ITEMS; i++) {
            members[i] = i % 2 ? WEFT_IN_B : WEFT_IN_A;
            scene_item(&made, &scene, &seed, i * 1000000);
            if (members[i] == WEFT_IN_B)
                matrix_value(&made, scene.place[place], noisy(&seed, delay_ns, 0.3));
        }
        struct weft_ecct_matrix *matrix = matrix_end(&made);
        struct weft_comparer *comparer;
        if (weft_comparer_new(matrix, &comparer, NULL) != WEFT_OK)
            return 0;
        struct weft_compare_table *table = compare(comparer, members, 3, false);
        const struct weft_compare_node *row = row_of(table, scene.place[place]);
        n_held += row->interval.low_ns <= delay_ns && delay_ns <= row->interval.high_ns;
        n_sure += row->is_sure;
        n_first += table->nodes[table->ranked[0]].node == scene.place[place];
        weft_result_free(table);
        weft_comparer_free(comparer);
        weft_result_free(matrix);
    }
    tap_note("%s %.0f %%: held %u, sure %u, first %u of %d", name, 100 * part, n_held, n_sure,
             n_first, ROUNDS);
    if (part >= 0.5)
        tap_ok(n_sure == ROUNDS && n_first == ROUNDS, "%s of %.0f %% is sure, and first", name,
               100 * part);
    return n_held;
}

/* ---- the same by any way --------------------------------------------------------------------- */

static bool same_tables(const struct weft_compare_table *a, const struct weft_compare_table *b)
{
    if (a->n_nodes != b->n_nodes || a->n_ranked != b->n_ranked || a->n_causes != b->n_causes ||
        a->n_a != b->n_a || a->n_b != b->n_b)
        return false;
    return memcmp(a->nodes, b->nodes, a->n_nodes * sizeof *a->nodes) == 0 &&
           memcmp(a->ranked, b->ranked, a->n_ranked * sizeof *a->ranked) == 0 &&
           memcmp(a->metrics, b->metrics, a->n_metrics * sizeof *a->metrics) == 0 &&
           memcmp(a->causes, b->causes, a->n_causes * sizeof *a->causes) == 0;
}

/* A comparer that is asked again and again answers as a new one. */
static void test_kept(uint64_t seed)
{
    enum { ITEMS = 200, QUESTIONS = 60 };
    struct matrix_builder made;
    struct scene scene;
    scene_begin(&made, &scene);
    for (uint64_t i = 0; i < ITEMS; i++)
        scene_item(&made, &scene, &seed, i * 1000000);
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *kept, *anew;
    uint8_t members[ITEMS] = { 0 };
    unsigned n_same = 0;
    if (weft_comparer_new(matrix, &kept, NULL) != WEFT_OK)
        return;
    for (unsigned question = 0; question < QUESTIONS; question++) {
        const uint64_t n_changed = tap_random(&seed) % (question % 3 ? 10 : ITEMS);
        for (uint64_t i = 0; i < n_changed; i++)
            members[tap_random(&seed) % ITEMS] = (uint8_t)(tap_random(&seed) % 4);
        if (weft_comparer_new(matrix, &anew, NULL) != WEFT_OK)
            break;
        struct weft_compare_table *a = compare(kept, members, 4, true);
        struct weft_compare_table *b = compare(anew, members, 4, true);
        n_same += same_tables(a, b);
        weft_result_free(a);
        weft_result_free(b);
        weft_comparer_free(anew);
    }
    tap_eq_u64(n_same, QUESTIONS, "sums that are kept are those made anew");
    weft_comparer_free(kept);
    weft_result_free(matrix);
}

/* ---- causes ---------------------------------------------------------------------------------- */

/* Sleeps reached by two callers in two threads, disk waits, and some that nothing slows. */
static void test_causes(uint64_t seed)
{
    enum { ITEMS = 600 };
    struct matrix_builder made;
    uint8_t members[ITEMS];
    matrix_begin(&made);
    (void)matrix_source(&made, "a.weft", "");
    const uint32_t batch = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "batch");
    const uint32_t run = matrix_node(&made, batch, WEFT_FRAME_STATE, "running");
    uint32_t nap[2];
    for (int i = 0; i < 2; i++) {
        uint32_t at = matrix_node(&made, batch, WEFT_FRAME_FUNCTION, i ? "insert" : "update");
        at = matrix_node(&made, at, WEFT_FRAME_FUNCTION, "get_pointer");
        at = matrix_node(&made, at, WEFT_FRAME_FUNCTION, "wait_before_retry");
        at = matrix_node(&made, at, WEFT_FRAME_FUNCTION, "nanosleep");
        nap[i] = matrix_node(&made, at, WEFT_FRAME_STATE, "blocked: timer");
    }
    uint32_t disk = matrix_node(&made, batch, WEFT_FRAME_FUNCTION, "checkpoint");
    const uint32_t check_run = matrix_node(&made, disk, WEFT_FRAME_STATE, "running");
    disk = matrix_node(&made, disk, WEFT_FRAME_FUNCTION, "fdatasync");
    disk = matrix_node(&made, disk, WEFT_FRAME_STATE, "blocked: disk");
    unsigned n_nap = 0, n_disk = 0;
    for (uint64_t i = 0; i < ITEMS; i++) {
        matrix_item(&made, 0, "w", i * 1000000);
        matrix_value(&made, run, noisy(&seed, 300e3, 0.1));
        members[i] = i % 20 < 2 ? WEFT_IN_B : WEFT_IN_A;
        if (i % 20 == 0) {
            matrix_value(&made, nap[i / 20 % 2], noisy(&seed, 60e6, 0.05));
            n_nap++;
        } else if (i % 20 == 1) {
            matrix_value(&made, disk, noisy(&seed, 2e6, 0.2));
            matrix_value(&made, check_run, noisy(&seed, 1e6, 0.2));
            n_disk++;
        }
    }
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *comparer;
    if (weft_comparer_new(matrix, &comparer, NULL) != WEFT_OK)
        return;
    struct weft_compare_table *table = compare(comparer, members, 16, true);
    tap_eq_u64(table->n_causes, 2, "two causes are two groups");
    for (size_t i = 0; i < table->n_causes; i++)
        tap_note("cause %zu: node %u, context %u, %u items, %.0f ns", i, table->causes[i].node,
                 table->causes[i].context, table->causes[i].n_items,
                 table->causes[i].difference_ns);
    bool is_nap[2] = { false, false };
    for (size_t i = 0; i < table->n_causes && i < 2; i++)
        is_nap[i] = table->causes[i].node == nap[0] || table->causes[i].node == nap[1];
    tap_ok(is_nap[0] != is_nap[1], "one of them sleeps");
    tap_eq_u64(table->causes[is_nap[0] ? 0 : 1].n_items, n_nap, "by either caller");
    tap_eq_u64(table->causes[is_nap[0] ? 1 : 0].node, disk, "the other waits for the disk");
    tap_eq_u64(table->causes[is_nap[0] ? 1 : 0].n_items, n_disk, "all that wait for the disk");
    for (size_t i = 0; i < table->n_causes; i++)
        tap_ok(fabs(table->causes[i].explained - (is_nap[i] ? 1 : 2.0 / 3)) < 0.05,
               "cause %zu explains its share of the difference, in either place (%.3f)", i,
               table->causes[i].explained);
    weft_result_free(table);
    weft_comparer_free(comparer);
    weft_result_free(matrix);
}

/* A thread of the program and one of another program take the processor from all slow executions;
 * the program's own is named if it does a tenth of it, though the other does more. */
static void test_preempted(uint64_t seed, double own_share, bool is_own)
{
    enum { ITEMS = 200 };
    struct matrix_builder made;
    uint8_t members[ITEMS];
    matrix_begin(&made);
    (void)matrix_source(&made, "a.weft", "");
    const uint32_t step = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "step");
    const uint32_t run = matrix_node(&made, step, WEFT_FRAME_STATE, "running");
    const uint32_t lost = matrix_node(&made, step, WEFT_FRAME_STATE, "preempted");
    const uint32_t own = matrix_node(&made, lost, WEFT_FRAME_THREAD, "telemetry");
    const uint32_t other = matrix_node(&made, lost, WEFT_FRAME_THREAD, "zip");
    made.frames.items[made.nodes.items[other].frame].module = matrix_text(&made, "zip");
    const uint32_t encode = matrix_node(&made, own, WEFT_FRAME_FUNCTION, "encode");
    const uint32_t compress = matrix_node(&made, other, WEFT_FRAME_FUNCTION, "compress");
    for (uint64_t i = 0; i < ITEMS; i++) {
        matrix_item(&made, 0, "control", i * 1000000);
        matrix_value(&made, run, noisy(&seed, 300e3, 0.1));
        members[i] = i % 2 ? WEFT_IN_B : WEFT_IN_A;
        if (members[i] == WEFT_IN_A)
            continue;
        matrix_value(&made, encode, noisy(&seed, own_share * 10e6, 0.05));
        matrix_value(&made, compress, noisy(&seed, (1 - own_share) * 10e6, 0.05));
    }
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *comparer;
    if (weft_comparer_new(matrix, &comparer, NULL) != WEFT_OK)
        return;
    struct weft_compare_table *table = compare(comparer, members, 16, true);
    tap_ok(table->n_causes == 1 && table->causes[0].node == (is_own ? encode : compress),
           "%.0f %% of what preempts is the program's own: it is %s", own_share * 100,
           is_own ? "named" : "not named");
    tap_ok(table->n_causes == 1 &&
               fabs(table->causes[0].explained - (is_own ? own_share : 1 - own_share)) < 0.05,
           "and it explains its share of the difference");
    weft_result_free(table);
    weft_comparer_free(comparer);
    weft_result_free(matrix);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static void test_small_groups(uint64_t seed)
{
    enum { ITEMS = 3 };
    struct matrix_builder made;
    struct scene scene;
    scene_begin(&made, &scene);
    for (uint64_t i = 0; i < ITEMS; i++)
        scene_item(&made, &scene, &seed, i * 1000000);
    struct weft_ecct_matrix *matrix = matrix_end(&made);
    struct weft_comparer *comparer;
    if (weft_comparer_new(matrix, &comparer, NULL) != WEFT_OK)
        return;
    for (unsigned which = 0; which < 64; which++) {
        const uint8_t members[ITEMS] = { which & 3, which >> 2 & 3, which >> 4 & 3 };
        struct weft_compare_table *table = compare(comparer, members, 4, true);
        bool is_sound = table != NULL;
        for (size_t i = 0; is_sound && i < table->n_nodes; i++)
            is_sound = !table->nodes[i].is_sure && table->nodes[i].p >= 0 &&
                       table->nodes[i].p_adjusted <= 1 && !isnan(table->nodes[i].t);
        if (!is_sound)
            tap_ok(false, "groups of few or no executions, %u", which);
        weft_result_free(table);
    }
    tap_ok(true, "groups of few or no executions");
    weft_comparer_free(comparer);
    weft_result_free(matrix);
}

static void test_statistics(void)
{
    static const struct {
        double t, df, p;
    } rows[] = {
        /* by closed forms: df 1 is Cauchy, df 2 is algebraic */
        { 1, 1, 0.5 }, { 2, 2, 0.18350341907227408 }, { 0, 5, 1 }, { 12.706204736174694, 1, 0.05 },
        { 1e9, 3, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(fabs(weft_student_p(rows[i].t, rows[i].df) - rows[i].p) < 1e-12,
               "p of t %g with %g degrees", rows[i].t, rows[i].df);
    tap_ok(fabs(weft_student_p(2, 1e7) - weft_normal_p(2)) < 1e-7, "many degrees are normal");
    for (double df = 0.7; df < 1e6; df *= 1.7)
        if (fabs(weft_student_p(weft_student_95(df), df) - 0.05) > 1e-7)
            tap_ok(false, "95 %% of %g degrees", df);
    tap_ok(true, "95 %% of any degrees");
    double p[] = { 0.01, 0.04, 0.03, 0.005 };
    uint32_t order[4];
    weft_adjust_p(p, 4, order, p);
    tap_ok(fabs(p[0] - 0.02) < 1e-15 && fabs(p[1] - 0.04) < 1e-15 && fabs(p[2] - 0.04) < 1e-15 &&
               fabs(p[3] - 0.02) < 1e-15,
           "Benjamini and Hochberg's example");
}

/* By draws and by moments: the same interval. */
static void test_bootstrap(uint64_t seed)
{
    enum { FEW = 500, MANY = 2000 };
    double a[MANY], b[MANY], low[2], high[2];
    for (size_t i = 0; i < MANY; i++) {
        a[i] = (double)noisy(&seed, 1e6, 0.8);
        b[i] = (double)noisy(&seed, 2e6, 0.8);
    }
    for (unsigned k = 0; k < 2; k++) { /* beside many zeros: what counts is the number of values */
        const size_t n = k ? FEW : MANY / 2;
        const struct weft_bootstrap_group from = { a, n, 2 * n }, to = { b, n, 2 * n };
        if (weft_bootstrap_interval(&from, &to, 1000, 1, &low[k], &high[k], NULL) != WEFT_OK)
            return;
    }
    tap_ok(high[0] > low[0] && high[1] > low[1], "intervals have a width");
    const double ratio = (high[1] - low[1]) / (high[0] - low[0]);
    tap_ok(ratio > 1.2 && ratio < 1.65, "half the values: sqrt(2) as wide (%.2f)", ratio);
}

/* Small groups of skewed times, that A does not have: their logarithms show the tail. */
static void test_small_skewed(uint64_t seed)
{
    enum { ROUNDS = 400, SIZE = 7 };
    static const double zeros[SIZE];
    double b[SIZE];
    unsigned n_held = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double low, high;
        for (size_t i = 0; i < SIZE; i++)
            b[i] = (double)noisy(&seed, 1e6, 1);
        const struct weft_bootstrap_group from = { zeros, 0, SIZE }, to = { b, SIZE, SIZE };
        if (weft_bootstrap_interval(&from, &to, SIZE - 1, round, &low, &high, NULL) != WEFT_OK)
            return;
        n_held += low <= 1e6 && 1e6 <= high;
    }
    tap_note("%u of %d intervals of %d log-normal times hold their mean", n_held, ROUNDS, SIZE);
    tap_ok(ROUNDS - n_held <= chance_most(ROUNDS, 1 - HELD_SHARE),
           "small groups of skewed times, but for chance");
    const double far[] = { 1, 1e9, 1, 1e9, 1, 1e9 };
    const struct weft_bootstrap_group from = { zeros, 0, 6 }, to = { far, 6, 6 };
    double low, high;
    if (weft_bootstrap_interval(&from, &to, 5, 1, &low, &high, NULL) == WEFT_OK)
        tap_ok(isfinite(low) && high <= 1001 * 5e8, "however skewed, an interval ends");
}

int main(void)
{
    const uint64_t seed = tap_seed(20261123);
    test_statistics();
    test_bootstrap(seed);
    test_small_skewed(seed);
    test_small_groups(seed);
    test_kept(seed);
    test_causes(seed);
    test_preempted(seed, 0.2, true);
    test_preempted(seed, 0.05, false);
    test_same(seed, 0.5, 1000, "halves");
    test_same(seed, 0.05, 200, "a small part");
    test_same(seed, 0.95, 200, "a large part");
    test_same_runs(seed, 6, 3, 300);
    test_same_runs(seed, 20, 10, 200);
    test_same_runs(seed, 20, 3, 200);
    test_rare_in_runs(seed);
    static const char *const names[] = { "a lock", "a disk", "a processor", "a sleep" };
    static const double parts[] = { 0.02, 0.1, 0.5 };
    unsigned n_held = 0, n_all = 0;
    for (size_t place = LOCK; place <= SLEEP; place++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++, n_all += 50)
            n_held += test_injected(seed + 3 * place + i, place, parts[i], names[place]);
    tap_note("%u of %u intervals hold what was put in", n_held, n_all);
    tap_ok(n_all - n_held <= chance_most(n_all, 1 - HELD_SHARE),
           "what was put in lies in 95 %% of the intervals, but for chance");
    return tap_done();
}
