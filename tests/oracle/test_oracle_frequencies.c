/* SPDX-License-Identifier: MIT
 *
 * How often, and how long, something happens in intervals, against a loop over all of them.
 */
#include "analysis/executions/frequencies.h"
#include "base/statistics.h"
#include "schema/compare.h"
#include "tap.h"

#include <math.h>

enum { SEEDS = 3000, MOST = 40, LABELS = 4, SCOPES = 3 };

struct piece {
    uint64_t start_ns, end_ns, scope;
    unsigned kind; /* group, or label */
};

struct scene {
    struct piece intervals[MOST], items[MOST];
    size_t n_intervals, n_items;
};

static struct piece random_piece(uint64_t *state, unsigned n_kinds)
{
    struct piece piece = { .start_ns = tap_random(state) % 30,
                           .scope = tap_random(state) % SCOPES << 33,
                           .kind = (unsigned)(tap_random(state) % n_kinds) };
    piece.end_ns = piece.start_ns + tap_random(state) % 8;
    return piece;
}

static void random_scene(struct scene *scene, uint64_t *state)
{
    scene->n_intervals = tap_random(state) % MOST;
    scene->n_items = tap_random(state) % MOST;
    for (size_t i = 0; i < scene->n_intervals; i++)
        scene->intervals[i] = random_piece(state, WEFT_FREQUENCY_GROUPS);
    for (size_t i = 0; i < scene->n_items; i++)
        scene->items[i] = random_piece(state, LABELS);
}

/* ---- the twin -------------------------------------------------------------------------------- */

/* Is any ns of the item in the interval? A point is of the ns that it is at. */
static void twin_count(const struct piece *interval, const struct piece *item,
                       struct weft_frequency_row *row)
{
    bool is_in = false;
    for (uint64_t t = interval->start_ns; t < interval->end_ns; t++) {
        const bool is_shared = t >= item->start_ns && t < item->end_ns;
        row->sum_ns[interval->kind] += is_shared;
        is_in |= is_shared || (item->start_ns == item->end_ns && t == item->start_ns);
    }
    row->count[interval->kind] += is_in;
}

static void twin_rows(const struct scene *scene, struct weft_frequency_row rows[LABELS])
{
    memset(rows, 0, LABELS * sizeof *rows);
    for (size_t i = 0; i < scene->n_items; i++) {
        struct weft_frequency_row *row = &rows[scene->items[i].kind];
        row->n_all++;
        for (size_t k = 0; k < scene->n_intervals; k++)
            if (scene->intervals[k].scope == scene->items[i].scope)
                twin_count(&scene->intervals[k], &scene->items[i], row);
    }
}

/* What an interval has of a label: its time, or how many. */
static double twin_value(const struct scene *scene, const struct piece *interval, unsigned label,
                         bool has_time)
{
    struct weft_frequency_row row = { 0 };
    for (size_t i = 0; i < scene->n_items; i++)
        if (scene->items[i].kind == label && scene->items[i].scope == interval->scope)
            twin_count(interval, &scene->items[i], &row);
    return (double)(has_time ? row.sum_ns[interval->kind] : row.count[interval->kind]);
}

static struct weft_sample twin_sample(const struct scene *scene, unsigned group, unsigned label,
                                      bool has_time)
{
    struct weft_sample sample = { 0 };
    double squares = 0;
    for (size_t i = 0; i < scene->n_intervals; i++)
        if (scene->intervals[i].kind == group) {
            sample.mean += twin_value(scene, &scene->intervals[i], label, has_time);
            sample.n++;
        }
    sample.mean /= sample.n ? (double)sample.n : 1;
    for (size_t i = 0; i < scene->n_intervals; i++)
        if (scene->intervals[i].kind == group)
            squares +=
                pow(twin_value(scene, &scene->intervals[i], label, has_time) - sample.mean, 2);
    sample.variance = sample.n > 1 ? squares / (double)(sample.n - 1) : 0;
    return sample;
}

/* The same p as that of the twin; NaN with few executions in a group. */
static bool is_same_p(const struct scene *scene, const struct weft_frequency_row *row)
{
    const unsigned label = (unsigned)(row->label.bytes[0] - 'a');
    const bool has_time = row->sum_ns[0] + row->sum_ns[1] > 0;
    const struct weft_sample slow = twin_sample(scene, WEFT_FREQUENCY_SLOW, label, has_time),
                             others = twin_sample(scene, WEFT_FREQUENCY_OTHERS, label, has_time);
    if (slow.n < WEFT_TRUSTED_EXECUTIONS || others.n < WEFT_TRUSTED_EXECUTIONS)
        return isnan(row->p) && isnan(row->p_adjusted);
    const double want = weft_samples_p(&others, &slow);
    if (fabs(row->p - want) <= 1e-9 && row->p_adjusted >= row->p * (1 - 1e-9) &&
        row->p_adjusted <= 1)
        return true;
    tap_note("row %c: p %g, adjusted %g; want %g", row->label.bytes[0], row->p, row->p_adjusted,
             want);
    return false;
}

/* ---- comparison ------------------------------------------------------------------------------ */

static enum weft_code run(const struct scene *scene, const struct weft_strtab *labels,
                          struct weft_frequencies *frequencies,
                          struct weft_frequencies_table *table, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < scene->n_intervals && code == WEFT_OK; i++) {
        const struct piece *piece = &scene->intervals[i];
        table->n_executions[piece->kind]++;
        code = weft_frequencies_interval(frequencies, piece->scope, (uint32_t)i,
                                         (enum weft_frequency_group)piece->kind, piece->start_ns,
                                         piece->end_ns, err);
    }
    if (code == WEFT_OK)
        code = weft_frequencies_seal(frequencies, err);
    for (size_t i = 0; i < scene->n_items && code == WEFT_OK; i++) {
        const struct piece *piece = &scene->items[i];
        code = weft_frequencies_count(frequencies, piece->scope, piece->kind, piece->start_ns,
                                      piece->end_ns, err);
    }
    return code == WEFT_OK ? weft_frequencies_finish(frequencies, labels, table, err) : code;
}

static double more(const struct weft_frequencies_table *table, const uint64_t *sums)
{
    double mean[2] = { 0, 0 };
    for (unsigned g = 0; g < 2; g++)
        mean[g] = table->n_executions[g] ? (double)sums[g] / (double)table->n_executions[g] : 0;
    return mean[0] - mean[1];
}

static bool is_in_order(const struct weft_frequencies_table *table, size_t i)
{
    const struct weft_frequency_row *a = &table->rows[i - 1], *b = &table->rows[i];
    if (more(table, a->sum_ns) != more(table, b->sum_ns))
        return more(table, a->sum_ns) > more(table, b->sum_ns);
    if (more(table, a->count) != more(table, b->count))
        return more(table, a->count) > more(table, b->count);
    return weft_str_compare(a->label, b->label) < 0;
}

static bool is_same(const struct scene *scene, const struct weft_frequencies_table *table,
                    const struct weft_frequency_row *want)
{
    size_t n_want = 0;
    for (unsigned i = 0; i < LABELS; i++)
        n_want += want[i].count[0] + want[i].count[1] > 0;
    bool is_ok = table->n_rows == n_want;
    for (size_t i = 0; i < table->n_rows && is_ok; i++) {
        const struct weft_frequency_row *row = &table->rows[i],
                                        *twin = &want[row->label.bytes[0] - 'a'];
        is_ok = row->n_all == twin->n_all &&
                memcmp(row->count, twin->count, sizeof row->count) == 0 &&
                memcmp(row->sum_ns, twin->sum_ns, sizeof row->sum_ns) == 0 &&
                (i == 0 || is_in_order(table, i));
        if (!is_ok)
            tap_note("row %c: %" PRIu64 " %" PRIu64 ", %" PRIu64 " ns %" PRIu64 " ns; want %" PRIu64
                     " %" PRIu64 ", %" PRIu64 " ns %" PRIu64 " ns",
                     row->label.bytes[0], row->count[0], row->count[1], row->sum_ns[0],
                     row->sum_ns[1], twin->count[0], twin->count[1], twin->sum_ns[0],
                     twin->sum_ns[1]);
        is_ok = is_ok && is_same_p(scene, row);
    }
    return is_ok;
}

static bool check(const struct scene *scene, const struct weft_strtab *labels)
{
    struct weft_frequency_row want[LABELS];
    struct weft_frequencies *frequencies = weft_frequencies_new(0, 0);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_frequencies_table *table = WEFT_ARENA_NEW(arena, 1, struct weft_frequencies_table);
    struct weft_err err = { 0 };
    table->arena = arena;
    twin_rows(scene, want);
    const bool is_ok =
        run(scene, labels, frequencies, table, &err) == WEFT_OK && is_same(scene, table, want);
    weft_frequencies_free(frequencies);
    weft_result_free(table);
    return is_ok;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

enum { SLOW = 12, OTHERS = 20 };

/* `n_slow` executions that each have all items of label a, and as many others as there always are
 * that have none: a p, if there may be one. */
static void apart_scene(struct scene *scene, size_t n_slow)
{
    scene->n_intervals = n_slow + OTHERS;
    for (size_t i = 0; i < scene->n_intervals; i++)
        scene->intervals[i] = i < n_slow
                                  ? (struct piece){ 0, 10, 0, WEFT_FREQUENCY_SLOW }
                                  : (struct piece){ 20 + i, 21 + i, 0, WEFT_FREQUENCY_OTHERS };
    scene->n_items = 3;
    for (size_t i = 0; i < scene->n_items; i++)
        scene->items[i] = (struct piece){ i, i + 2, 0, 0 };
}

/* Within bounds: is there a p, are there too many? */
struct tested {
    bool has_p, is_too_much, is_done;
};

static struct tested test_within(const struct weft_strtab *labels, size_t n_slow,
                                 uint64_t memory_bytes, uint64_t n_looks)
{
    static struct scene scene;
    struct weft_frequencies *frequencies = weft_frequencies_new(memory_bytes, n_looks);
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_frequencies_table table = { .arena = arena };
    struct weft_err err = { 0 };
    apart_scene(&scene, n_slow);
    const bool is_done = run(&scene, labels, frequencies, &table, &err) == WEFT_OK &&
                         table.n_rows == 1 &&
                         table.rows[0].count[WEFT_FREQUENCY_SLOW] == 3 * n_slow;
    const struct tested tested = { is_done && !isnan(table.rows[0].p), table.is_too_much, is_done };
    weft_frequencies_free(frequencies);
    weft_arena_free(arena);
    return tested;
}

static bool is_tested(struct tested tested)
{
    return tested.is_done && tested.has_p && !tested.is_too_much;
}

static bool is_given_up(struct tested tested)
{
    return tested.is_done && !tested.has_p && tested.is_too_much;
}

static void test_bounds(const struct weft_strtab *labels)
{
    const uint64_t pair_bytes = 120, share = 4, n_looks = 3 * SLOW; /* no look is at another one */
    tap_ok(is_tested(test_within(labels, SLOW, 0, 0)), "without bounds");
    tap_ok(is_tested(test_within(labels, SLOW, SLOW * pair_bytes * share, 0)),
           "as many pairs as there is memory for");
    tap_ok(is_given_up(test_within(labels, SLOW, SLOW * pair_bytes * share - 1, 0)),
           "a pair more: counted, but not tested");
    tap_ok(is_tested(test_within(labels, SLOW, 0, n_looks)), "as many looks as it may take");
    tap_ok(is_given_up(test_within(labels, SLOW, 0, n_looks - 1)), "a look more: not tested");
    for (size_t n = 2; n <= SLOW; n++) {
        const struct tested tested = test_within(labels, n, 0, 0);
        tap_ok(tested.is_done && !tested.is_too_much &&
                   tested.has_p == (n >= WEFT_TRUSTED_EXECUTIONS),
               "%zu slow ones", n);
    }
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    static const char *const names[LABELS] = { "a", "b", "c", "d" };
    struct weft_strtab *labels = weft_strtab_new();
    static struct scene scene;
    unsigned n_bad = 0;
    uint32_t id;
    for (unsigned i = 0; i < LABELS; i++)
        n_bad += weft_strtab_intern(labels, weft_str_of(names[i]), &id, NULL) != WEFT_OK;
    for (uint64_t i = 0; i < SEEDS && n_bad == 0; i++) {
        uint64_t state = seed + i;
        random_scene(&scene, &state);
        if (!check(&scene, labels)) {
            tap_note("seed %" PRIu64, seed + i);
            n_bad++;
        }
    }
    tap_eq_u64(n_bad, 0, "frequencies in %d random scenes", SEEDS);
    test_bounds(labels);
    weft_strtab_free(labels);
    return tap_done();
}
