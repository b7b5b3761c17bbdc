/* SPDX-License-Identifier: MIT
 *
 * Ribbons at a lower resolution. Time is cut into cells of some columns; runs that are shorter than
 * a cell and begin in the same one become one run:
 *
 *     cell          |       |       |          A A B . C | D D D D D D | E A
 *     runs          A2 B1 C1 D6 E1 A1     -->  A (others 2)  D            E (others 1)
 *
 * It is of the cluster that covers most of their time; its count is of that cluster alone and
 * exact, as is its longest occurrence; `n_others` is what is known at least. Longer runs stay as
 * they are.
 */
#include "render/page/shapes.h"

/* Runs [from, to) of a ribbon. */
struct group {
    const struct weft_shape_run *runs;
    size_t from, to;
};

static bool is_before(const struct weft_shape_run *run, const struct weft_page_run *than)
{
    uint64_t length_ns = run->longest.end_ns - run->longest.start_ns;
    uint64_t than_ns = than->end_ns - than->start_ns;
    return length_ns > than_ns || (length_ns == than_ns && run->longest.start_ns < than->start_ns);
}

/* What the runs of `cluster_id` say in a group. */
static struct weft_page_run sum_of(const struct group *group, uint32_t cluster_id)
{
    struct weft_page_run sum = { .start_ns = UINT64_MAX, .end_ns = UINT64_MAX };
    for (size_t i = group->from; i < group->to; i++) {
        const struct weft_shape_run *run = &group->runs[i];
        if (run->cluster_id != cluster_id)
            continue;
        sum.count += run->count;
        sum.covered_ns += run->covered_ns;
        if (is_before(run, &sum)) {
            sum.start_ns = run->longest.start_ns;
            sum.end_ns = run->longest.end_ns;
            sum.shape_id = run->longest.shape_id;
        }
    }
    return sum;
}

static bool is_first_of_cluster(const struct group *group, size_t at)
{
    for (size_t i = group->from; i < at; i++)
        if (group->runs[i].cluster_id == group->runs[at].cluster_id)
            return false;
    return true;
}

static struct weft_page_run merge(const struct group *group, const uint32_t *cluster_at)
{
    const struct weft_shape_run *first = &group->runs[group->from];
    const struct weft_shape_run *last = &group->runs[group->to - 1];
    struct weft_page_run best = { 0 };
    uint32_t n_clusters = 0, n_others = 0;
    for (size_t i = group->from; i < group->to; i++) {
        if (group->runs[i].n_others > n_others)
            n_others = group->runs[i].n_others;
        if (!is_first_of_cluster(group, i))
            continue;
        struct weft_page_run sum = sum_of(group, group->runs[i].cluster_id);
        sum.cluster = cluster_at[group->runs[i].cluster_id];
        if (n_clusters++ == 0 || sum.covered_ns > best.covered_ns ||
            (sum.covered_ns == best.covered_ns && sum.cluster < best.cluster))
            best = sum;
    }
    best.first_column = first->first_column;
    best.n_columns = last->first_column + last->n_columns - first->first_column;
    best.n_others = n_others > n_clusters - 1 ? n_others : n_clusters - 1;
    return best;
}

/* Up to where the runs from `from` on become one. */
static size_t end_of_group(const struct weft_shape_ribbon *ribbon, size_t from, uint32_t cell)
{
    const struct weft_shape_run *runs = ribbon->runs;
    size_t to = from + 1;
    if (runs[from].n_columns >= cell)
        return to;
    while (to < ribbon->n_runs && runs[to].n_columns < cell &&
           runs[to].first_column / cell == runs[from].first_column / cell)
        to++;
    return to;
}

/* Runs of one cluster that touch are one, where runs were merged. */
static bool joins(struct weft_page_run *last, const struct weft_page_run *next)
{
    if (last->cluster != next->cluster ||
        last->first_column + last->n_columns != next->first_column)
        return false;
    last->n_columns += next->n_columns;
    last->count += next->count;
    last->covered_ns += next->covered_ns;
    if (next->n_others > last->n_others)
        last->n_others = next->n_others;
    if (next->end_ns - next->start_ns > last->end_ns - last->start_ns) {
        last->start_ns = next->start_ns;
        last->end_ns = next->end_ns;
        last->shape_id = next->shape_id;
    }
    return true;
}

void weft_page_merge_runs(const struct weft_shape_ribbon *ribbon, uint32_t cell,
                          const uint32_t *cluster_at, uint32_t n_listed,
                          struct weft_page_runs *runs)
{
    runs->n_rows = 0;
    runs->n_unlisted = 0;
    for (size_t from = 0; from < ribbon->n_runs;) {
        struct group group = { .runs = ribbon->runs,
                               .from = from,
                               .to = end_of_group(ribbon, from, cell) };
        from = group.to;
        struct weft_page_run run = merge(&group, cluster_at);
        if (run.cluster >= n_listed)
            runs->n_unlisted += group.to - group.from;
        else if (runs->n_rows == 0 || !joins(&runs->rows[runs->n_rows - 1], &run))
            runs->rows[runs->n_rows++] = run;
    }
}
