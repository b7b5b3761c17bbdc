/* SPDX-License-Identifier: MIT
 *
 * Executions that are too few to be compared: each is looked at for itself.
 */
#include "analysis/findings/singles.h"

#include "analysis/compare/names.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/verdicts.h"

#include <stdlib.h>
#include <string.h>

/* Causes whose place is kept: those beyond are judged again for each execution. */
enum { KEPT_CAUSES = 4096 };

/* Of the first causes: which were judged, and which are of executions each for itself. */
struct alone {
    uint64_t is_judged[KEPT_CAUSES / 64], is_alone[KEPT_CAUSES / 64];
};

static bool is_alone(const struct weft_facts *facts, struct alone *alone, uint32_t cause)
{
    const uint64_t bit = UINT64_C(1) << cause % 64;
    if (cause < KEPT_CAUSES && alone->is_judged[cause / 64] & bit)
        return alone->is_alone[cause / 64] & bit;
    const bool is =
        weft_cause_place_of(facts, &facts->table->causes[cause], NULL) == WEFT_CAUSE_ALONE;
    if (cause < KEPT_CAUSES) {
        alone->is_judged[cause / 64] |= bit;
        alone->is_alone[cause / 64] |= is ? bit : 0;
    }
    return is;
}

size_t weft_singles_list(const struct weft_facts *facts, struct weft_finding_single *list)
{
    const struct weft_compare_table *table = facts->table;
    struct alone alone = { .is_judged = { 0 } };
    size_t n = 0, n_all = 0;
    for (size_t i = 0; table && table->n_causes > 0 && i < table->n_b; i++) {
        const struct weft_execution_item *item = &facts->matrix->items[table->items_b[i]];
        const uint64_t ns = item->end_ns - item->start_ns;
        if (!is_alone(facts, &alone, table->cause_of[i]))
            continue;
        size_t at = n;
        while (at > 0 && list[at - 1].ns < ns)
            at--;
        n_all++;
        if (at == WEFT_SINGLES_MOST)
            continue;
        n = n < WEFT_SINGLES_MOST ? n + 1 : n;
        memmove(&list[at + 1], &list[at], (n - 1 - at) * sizeof *list);
        list[at] = (struct weft_finding_single){ .item = table->items_b[i], .ns = ns };
    }
    return n_all;
}

/* How much longer the execution is at a node than the usual ones. */
static double more_ns(const struct weft_facts *facts, uint32_t item, uint32_t node)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, node);
    double ns = row ? -row->mean_a_ns : 0;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        ns += matrix->node[at] == node ? (double)matrix->ns[at] : 0;
    return ns;
}

/* The nodes at which an execution is longer than the usual ones, the most first. */
static void find_parts(const struct weft_facts *facts, struct weft_finding_single *single)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    uint32_t *parts = single->parts;
    double *most_ns = single->part_ns;
    size_t n = 0;
    for (uint64_t i = matrix->starts[single->item]; i < matrix->starts[single->item + 1]; i++) {
        const double ns = more_ns(facts, single->item, matrix->node[i]);
        size_t at = n;
        while (at > 0 && most_ns[at - 1] < ns)
            at--;
        if (at == WEFT_SINGLE_PARTS || !(ns > 0))
            continue;
        n = n < WEFT_SINGLE_PARTS ? n + 1 : n;
        memmove(&parts[at + 1], &parts[at], (n - 1 - at) * sizeof *parts);
        memmove(&most_ns[at + 1], &most_ns[at], (n - 1 - at) * sizeof *most_ns);
        parts[at] = matrix->node[i];
        most_ns[at] = ns;
    }
    single->n_parts = n;
}

/* The innermost node that has, with all below it, more than half of what the execution is longer;
 * `*ns` is how much. More than one leaf may have it: then it is the caller that they have in
 * common. False without memory. */
static bool find_common(const struct weft_facts *facts, uint32_t item, uint32_t *found, double *ns)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    double *more = calloc(matrix->n_nodes + 1, sizeof *more);
    uint32_t common = 0;
    if (!more)
        return false;
    for (size_t i = 0; i < facts->table->n_nodes; i++)
        more[facts->table->nodes[i].node] = -facts->table->nodes[i].mean_a_ns;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        more[matrix->node[at]] += (double)matrix->ns[at];
    for (size_t node = matrix->n_nodes; node-- > 1;)
        more[matrix->nodes[node].parent] += more[node];
    for (uint32_t node = 1; node < matrix->n_nodes; node++) /* below `common`, if it is of it */
        if (more[node] > more[0] / 2 && matrix->nodes[node].parent == common)
            common = node;
    *ns = more[common];
    free(more);
    *found = common;
    return true;
}

bool weft_single_is_outside(const struct weft_facts *facts, uint32_t item)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    double all_ns = 0, outside_ns = 0;
    for (uint64_t i = matrix->starts[item]; i < matrix->starts[item + 1]; i++) {
        const double ns = more_ns(facts, item, matrix->node[i]);
        if (!(ns > 0))
            continue;
        all_ns += ns;
        outside_ns += weft_node_is_outside(matrix, matrix->node[i]) ? ns : 0;
    }
    return outside_ns > all_ns / 2;
}

bool weft_single_describe(const struct weft_facts *facts, struct weft_finding_single *single)
{
    find_parts(facts, single);
    single->is_outside = weft_single_is_outside(facts, single->item);
    single->is_noticed = weft_execution_is_noticed(facts, single->ns);
    if (single->n_parts == 0)
        return true;
    if (!find_common(facts, single->item, &single->common, &single->common_ns))
        return false;
    single->is_spread = single->common != 0 && single->part_ns[0] < single->common_ns / 2;
    return true;
}
