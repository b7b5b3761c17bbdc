/* SPDX-License-Identifier: MIT
 *
 * How often, and how long, something happens in intervals, against a loop over all of them.
 */
#include "analysis/frequencies.h"
#include "tap.h"

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

/* ---- comparison ------------------------------------------------------------------------------ */

static enum weft_code run(const struct scene *scene, const struct weft_strtab *labels,
                          struct weft_frequencies *frequencies,
                          struct weft_frequencies_table *table, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < scene->n_intervals && code == WEFT_OK; i++) {
        const struct piece *piece = &scene->intervals[i];
        table->n_executions[piece->kind]++;
        code = weft_frequencies_interval(frequencies, piece->scope,
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

static bool is_same(const struct weft_frequencies_table *table,
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
    }
    return is_ok;
}

static bool check(const struct scene *scene, const struct weft_strtab *labels)
{
    struct weft_frequency_row want[LABELS];
    struct weft_frequencies *frequencies = weft_frequencies_new();
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_frequencies_table *table = WEFT_ARENA_NEW(arena, 1, struct weft_frequencies_table);
    struct weft_err err = { 0 };
    table->arena = arena;
    twin_rows(scene, want);
    const bool is_ok =
        run(scene, labels, frequencies, table, &err) == WEFT_OK && is_same(table, want);
    weft_frequencies_free(frequencies);
    weft_frequencies_table_free(table);
    return is_ok;
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
    weft_strtab_free(labels);
    return tap_done();
}
