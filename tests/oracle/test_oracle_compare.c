/* SPDX-License-Identifier: MIT
 *
 * The statistics of contexts against a slow twin, on random groups: a dense table of plain doubles,
 * mean first, then the squares of what is left. The comparer is kept from one question to the next,
 * as a filter that moves keeps it; the twin begins anew.
 */
#include "analysis/compare/compare.h"
#include "matrix_builder.h"
#include "schema/result.h"
#include "tap.h"

enum { MATRICES = 60, QUESTIONS = 25, MOST_ITEMS = 60, MOST_NODES = 14 };

/* Values near 2^40 ns differ by few: their squares have more digits than a double. */
static const double CLOSE = 1e-9;

struct dense {
    double ns[MOST_ITEMS][MOST_NODES];
    double duration[MOST_ITEMS];
    size_t n_items, n_nodes;
};

struct numbers {
    uint64_t n, n_with;
    double mean, variance, total;
};

static uint64_t random_ns(uint64_t *seed)
{
    static const uint64_t bases[] = { 0, 0, 1, 1000, UINT64_C(1) << 40 };
    return bases[tap_random(seed) % 5] + tap_random(seed) % 1000;
}

static struct weft_ecct_matrix *random_matrix(uint64_t *seed, struct dense *dense)
{
    struct matrix_builder made;
    char name[24];
    *dense = (struct dense){ .n_items = tap_random(seed) % (MOST_ITEMS + 1) };
    matrix_begin(&made);
    (void)matrix_source(&made, "a.weft", "");
    for (size_t i = tap_random(seed) % MOST_NODES; i > 0; i--) {
        (void)snprintf(name, sizeof name, "f%u", (unsigned)(tap_random(seed) % 4));
        (void)matrix_node(&made, (uint32_t)(tap_random(seed) % made.nodes.n), WEFT_FRAME_FUNCTION,
                          name);
    }
    dense->n_nodes = made.nodes.n;
    for (size_t item = 0; item < dense->n_items; item++) {
        matrix_item(&made, 0, "w", item);
        for (uint64_t i = tap_random(seed) % (2 * dense->n_nodes); i > 0; i--) {
            const uint32_t node = (uint32_t)(tap_random(seed) % dense->n_nodes);
            const uint64_t ns = random_ns(seed);
            matrix_value(&made, node, ns);
            dense->ns[item][node] += (double)ns;
            dense->duration[item] += (double)ns;
        }
    }
    return matrix_end(&made);
}

static struct numbers numbers_of(const struct dense *dense, const uint8_t *members, uint8_t bit,
                                 size_t node)
{
    struct numbers numbers = { 0 };
    for (size_t i = 0; i < dense->n_items; i++) {
        numbers.n += (members[i] & bit) != 0;
        numbers.n_with += members[i] & bit && dense->ns[i][node] > 0;
        numbers.mean += members[i] & bit ? dense->ns[i][node] : 0;
    }
    numbers.mean = numbers.n > 0 ? numbers.mean / (double)numbers.n : 0;
    for (size_t i = 0; i < dense->n_items; i++)
        if (members[i] & bit)
            numbers.variance +=
                (dense->ns[i][node] - numbers.mean) * (dense->ns[i][node] - numbers.mean);
    numbers.variance = numbers.n > 1 ? numbers.variance / (double)(numbers.n - 1) : 0;
    return numbers;
}

/* Inclusive: of the node and all below it. */
static double total_of(const struct dense *dense, const struct weft_ecct_matrix *matrix,
                       const uint8_t *members, uint8_t bit, size_t node)
{
    double sum = 0;
    for (size_t below = 0; below < dense->n_nodes; below++) {
        uint32_t at = (uint32_t)below;
        while (at != node && at != WEFT_ID_NONE)
            at = matrix->nodes[at].parent;
        if (at == node)
            sum += numbers_of(dense, members, bit, below).mean;
    }
    return sum;
}

static bool near(double got, double want, double scale)
{
    return got == want || fabs(got - want) <= CLOSE * (fabs(want) + scale);
}

/* Is the row what the twin has? Without two values in each group, or any variance, what is said of
 * t is a convention: it must be a number or an infinity of the right sign. */
static bool is_right(const struct weft_compare_node *row, const struct numbers *a,
                     const struct numbers *b)
{
    const double scale = fabs(a->mean) + fabs(b->mean);
    if (row->n_a != a->n_with || row->n_b != b->n_with || !near(row->mean_a_ns, a->mean, 0) ||
        !near(row->mean_b_ns, b->mean, 0) || !near(row->sd_a_ns, sqrt(a->variance), scale) ||
        !near(row->sd_b_ns, sqrt(b->variance), scale) ||
        !near(row->difference_ns, b->mean - a->mean, scale))
        return false;
    if (isnan(row->t) || isnan(row->effect) || isnan(row->interval.low_ns) ||
        isnan(row->interval.high_ns) || !(row->p >= 0 && row->p <= 1) ||
        !(row->p_adjusted >= row->p * (1 - CLOSE) && row->p_adjusted <= 1))
        return false;
    if (row->is_sure && (a->n < 10 || b->n < 10 || row->p_adjusted >= 0.05 ||
                         (row->interval.low_ns <= 0 && row->interval.high_ns >= 0)))
        return false;
    const double error_a = a->variance / (double)a->n, error_b = b->variance / (double)b->n;
    if (a->n < 2 || b->n < 2 || !(error_a + error_b > 0))
        return a->n < 2 || b->n < 2 ? row->p == 1 : row->p == (a->mean == b->mean);
    const double error = sqrt(error_a + error_b);
    const double df =
        (error_a + error_b) * (error_a + error_b) /
        (error_a * error_a / (double)(a->n - 1) + error_b * error_b / (double)(b->n - 1));
    const double together =
        sqrt(((double)(a->n - 1) * a->variance + (double)(b->n - 1) * b->variance) /
             (double)(a->n + b->n - 2));
    const double bias = 1 - 3 / (4 * (double)(a->n + b->n - 2) - 1);
    /* the rounding of means, in standard errors */
    const double loss = scale * 1e-12 / error;
    return fabs(row->t - (b->mean - a->mean) / error) <= 1e-6 * fabs(row->t) + loss + 1e-9 &&
           fabs(row->df - df) <= 1e-6 * df &&
           fabs(row->effect - (b->mean - a->mean) / together * bias) <=
               1e-6 * fabs(row->effect) + scale * 1e-12 / together + 1e-9 &&
           row->interval.low_ns <= row->difference_ns &&
           row->interval.high_ns >= row->difference_ns;
}

static bool is_right_table(const struct weft_compare_table *table, const struct dense *dense,
                           const struct weft_ecct_matrix *matrix, const uint8_t *members)
{
    size_t at = 0;
    for (size_t node = 0; node < dense->n_nodes; node++) {
        const struct numbers a = numbers_of(dense, members, WEFT_IN_A, node);
        const struct numbers b = numbers_of(dense, members, WEFT_IN_B, node);
        const double total_a = total_of(dense, matrix, members, WEFT_IN_A, node);
        const double total_b = total_of(dense, matrix, members, WEFT_IN_B, node);
        const bool is_listed = at < table->n_nodes && table->nodes[at].node == node;
        if (is_listed != (total_a > 0 || total_b > 0))
            return false;
        if (!is_listed)
            continue;
        const struct weft_compare_node *row = &table->nodes[at++];
        if (!near(row->total_a_ns, total_a, 0) || !near(row->total_b_ns, total_b, 0))
            return false;
        if (a.n_with + b.n_with > 0 && !is_right(row, &a, &b)) {
            tap_note(
                "node %zu: n %" PRIu64 " %" PRIu64 ", means %.17g %.17g, sd %.17g %.17g, t %.17g, "
                "df %.17g, effect %.17g; twin %.17g %.17g, %.17g %.17g",
                node, a.n, b.n, row->mean_a_ns, row->mean_b_ns, row->sd_a_ns, row->sd_b_ns, row->t,
                row->df, row->effect, a.mean, b.mean, sqrt(a.variance), sqrt(b.variance));
            return false;
        }
    }
    return at == table->n_nodes;
}

/* B - A of a node and all below it. */
static double more_of(const struct dense *dense, const struct weft_ecct_matrix *matrix,
                      const uint8_t *members, size_t node)
{
    return total_of(dense, matrix, members, WEFT_IN_B, node) -
           total_of(dense, matrix, members, WEFT_IN_A, node);
}

/* Is the focus the deepest node that has half of the difference, as have all above it? */
static bool is_right_focus(const struct weft_compare_table *table, const struct dense *dense,
                           const struct weft_ecct_matrix *matrix, const uint8_t *members)
{
    const struct weft_compare_focus *focus = &table->focus;
    const double all = more_of(dense, matrix, members, 0), sign = all < 0 ? -1 : 1;
    const double loss = 1e-6 * fabs(all) + 1e-3;
    if (table->n_a < 2 || table->n_b < 2)
        return focus->node == WEFT_ID_NONE;
    for (uint32_t node = focus->context; node != 0; node = matrix->nodes[node].parent)
        if (sign * more_of(dense, matrix, members, node) < sign * all / 2 - loss)
            return false;
    for (uint32_t node = 1; node < dense->n_nodes; node++)
        if (matrix->nodes[node].parent == focus->context && fabs(all) > loss &&
            sign * more_of(dense, matrix, members, node) > sign * all / 2 + loss)
            return false;
    const double scale = total_of(dense, matrix, members, WEFT_IN_A, 0) +
                         total_of(dense, matrix, members, WEFT_IN_B, 0);
    return near(focus->difference_ns, more_of(dense, matrix, members, focus->context), scale) &&
           near(focus->mean_b_ns - focus->mean_a_ns, focus->difference_ns, scale) &&
           (!focus->is_sure || (focus->interval.low_ns > 0) == (focus->difference_ns > 0));
}

/* The duration's p is its own; those of others are adjusted. */
static bool are_metrics_right(const struct weft_compare_table *table)
{
    bool is_ok = table->n_metrics > 0 && table->metrics[0].p_adjusted == table->metrics[0].p;
    for (size_t i = 1; i < table->n_metrics; i++)
        is_ok = is_ok && table->metrics[i].p_adjusted >= table->metrics[i].p * (1 - CLOSE);
    return is_ok;
}

static unsigned test_matrix(uint64_t *seed)
{
    struct dense dense;
    struct weft_ecct_matrix *matrix = random_matrix(seed, &dense);
    struct weft_comparer *comparer;
    uint8_t members[MOST_ITEMS] = { 0 };
    unsigned n_right = 0;
    if (weft_comparer_new(matrix, &comparer, NULL) != WEFT_OK)
        return 0;
    for (unsigned question = 0; question < QUESTIONS; question++) {
        for (size_t i = 0; i < dense.n_items; i++)
            if (question % 5 == 0 || tap_random(seed) % 8 == 0)
                members[i] = (uint8_t)(tap_random(seed) % 4);
        const struct weft_compare_opts opts = { .members = members,
                                                .n_bootstrap = question % 4 == 3 ? 2 : 0,
                                                .with_causes = question % 2 };
        struct weft_compare_table *table = NULL;
        n_right += weft_comparer_run(comparer, &opts, &table, NULL) == WEFT_OK &&
                   is_right_table(table, &dense, matrix, members) && are_metrics_right(table) &&
                   (opts.n_bootstrap == 0 || is_right_focus(table, &dense, matrix, members));
        weft_result_free(table);
    }
    weft_comparer_free(comparer);
    weft_result_free(matrix);
    return n_right;
}

int main(void)
{
    uint64_t seed = tap_seed(7);
    unsigned n_right = 0;
    for (unsigned i = 0; i < MATRICES; i++)
        n_right += test_matrix(&seed);
    tap_eq_u64(n_right, (uint64_t)MATRICES * QUESTIONS,
               "means, deviations, t, effects of contexts");
    return tap_done();
}
