/* SPDX-License-Identifier: MIT
 *
 * Ribbons of the page at a lower resolution: what merging may change and what it must not.
 */
#include "render/page/shapes.h"
#include "tap.h"

#include <inttypes.h>
#include <string.h>

enum { MAX_RUNS = 60, N_CLUSTERS = 5, SEEDS = 3000 };

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

/* Runs by column, neighbours of different clusters; a column is 100 ns. */
static size_t random_runs(uint64_t *state, struct weft_shape_run *runs)
{
    size_t n = 1 + next(state) % MAX_RUNS;
    uint32_t column = 0;
    for (size_t i = 0; i < n; i++) {
        struct weft_shape_run *run = &runs[i];
        uint32_t gap = (uint32_t)(next(state) % 4 == 0 ? next(state) % 9 : 0);
        uint32_t n_columns = (uint32_t)(1 + next(state) % (next(state) % 5 == 0 ? 40 : 3));
        uint64_t start_ns = (column + gap) * UINT64_C(100) + next(state) % 50;
        *run = (struct weft_shape_run){ .first_column = column + gap,
                                        .n_columns = n_columns,
                                        .cluster_id = (uint32_t)(next(state) % N_CLUSTERS),
                                        .n_others = (uint32_t)(next(state) % 3),
                                        .count = next(state) % 7,
                                        .covered_ns = 1 + next(state) % (n_columns * 100),
                                        .longest = { .start_ns = start_ns,
                                                     .end_ns = start_ns + next(state) % 90 } };
        if (i > 0 && gap == 0 && run->cluster_id == runs[i - 1].cluster_id)
            run->cluster_id = (run->cluster_id + 1) % N_CLUSTERS;
        column = run->first_column + n_columns;
    }
    return n;
}

/* Whether a merged run says of its columns what the runs in them say. */
static bool is_true_of(const struct weft_page_run *merged, const struct weft_shape_ribbon *ribbon,
                       const uint32_t *cluster_at)
{
    uint64_t count = 0, covered_ns = 0, longest_ns = 0;
    for (size_t i = 0; i < ribbon->n_runs; i++) {
        const struct weft_shape_run *run = &ribbon->runs[i];
        if (run->first_column < merged->first_column ||
            run->first_column >= merged->first_column + merged->n_columns ||
            cluster_at[run->cluster_id] != merged->cluster)
            continue;
        uint64_t length_ns = run->longest.end_ns - run->longest.start_ns;
        count += run->count;
        covered_ns += run->covered_ns;
        longest_ns = length_ns > longest_ns ? length_ns : longest_ns;
    }
    return count == merged->count && covered_ns == merged->covered_ns &&
           longest_ns == merged->end_ns - merged->start_ns;
}

/* NULL if all is well. */
static const char *check(const struct weft_shape_ribbon *ribbon, uint32_t cell)
{
    static const uint32_t cluster_at[N_CLUSTERS] = { 3, 1, 0, 2, 4 };
    struct weft_page_run rows[MAX_RUNS];
    struct weft_page_runs merged = { .rows = rows };
    weft_page_merge_runs(ribbon, cell, cluster_at, N_CLUSTERS, &merged);
    if (merged.n_unlisted != 0 || (cell == 1 && merged.n_rows != ribbon->n_runs))
        return "runs are lost";
    size_t at = 0;
    for (size_t i = 0; i < merged.n_rows; i++) {
        uint32_t end = rows[i].first_column + rows[i].n_columns;
        if (i > 0 && rows[i - 1].first_column + rows[i - 1].n_columns > rows[i].first_column)
            return "runs overlap";
        if (at == ribbon->n_runs || ribbon->runs[at].first_column != rows[i].first_column)
            return "a run begins where none did";
        while (at < ribbon->n_runs && ribbon->runs[at].first_column < end)
            at++;
        if (ribbon->runs[at - 1].first_column + ribbon->runs[at - 1].n_columns != end)
            return "a run ends where none did";
        if (!is_true_of(&rows[i], ribbon, cluster_at))
            return "counts, times or the longest are wrong";
    }
    return at == ribbon->n_runs ? NULL : "the end is missing";
}

int main(void)
{
    struct weft_shape_run runs[MAX_RUNS];
    static const uint32_t cells[] = { 1, 2, 4, 8, 24, 48 };
    const char *wrong = NULL;
    uint64_t seed = 1;
    for (; seed <= SEEDS && !wrong; seed++) {
        uint64_t state = seed;
        const struct weft_shape_ribbon ribbon = { .runs = runs,
                                                  .n_runs = random_runs(&state, runs) };
        for (size_t c = 0; c < sizeof cells / sizeof *cells && !wrong; c++)
            wrong = check(&ribbon, cells[c]);
    }
    tap_ok(!wrong, "merged runs, seed %" PRIu64 ": %s", seed - 1, wrong ? wrong : "as they should");
    static const uint32_t unlisted[N_CLUSTERS] = { 9, 9, 9, 9, WEFT_ID_NONE };
    uint64_t state = 7;
    const struct weft_shape_ribbon ribbon = { .runs = runs, .n_runs = random_runs(&state, runs) };
    struct weft_page_run rows[MAX_RUNS];
    struct weft_page_runs merged = { .rows = rows };
    weft_page_merge_runs(&ribbon, 1, unlisted, N_CLUSTERS, &merged);
    tap_ok(merged.n_rows == 0 && merged.n_unlisted == ribbon.n_runs,
           "runs of clusters that are not listed are counted");
    return tap_done();
}
