/* SPDX-License-Identifier: MIT
 *
 * Moves executions into or out of a group's sums, or sums the group anew, whichever touches fewer
 * values. 128-bit sums of squares keep the variance exact.
 */
#include "analysis/compare/sums.h"

#include "base/deviation.h"

#include <stdlib.h>
#include <string.h>

enum weft_code weft_compare_sums_init(struct weft_compare_sums *sums,
                                      const struct weft_ecct_matrix *matrix, struct weft_err *err)
{
    *sums = (struct weft_compare_sums){ .matrix = matrix };
    sums->members = calloc(matrix->n_items + 1, 1);
    bool has_memory = sums->members != NULL;
    for (size_t group = 0; group < WEFT_GROUPS; group++) {
        sums->nodes[group] = calloc(matrix->n_nodes + 1, sizeof *sums->nodes[group]);
        has_memory = has_memory && sums->nodes[group];
    }
    if (has_memory)
        return WEFT_OK;
    weft_compare_sums_fini(sums);
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for the sums of %zu nodes",
                     matrix->n_nodes);
}

void weft_compare_sums_fini(struct weft_compare_sums *sums)
{
    free(sums->members);
    for (size_t group = 0; group < WEFT_GROUPS; group++)
        free(sums->nodes[group]);
    *sums = (struct weft_compare_sums){ 0 };
}

static void add_item(const struct weft_ecct_matrix *matrix, size_t item,
                     struct weft_node_sum *restrict nodes)
{
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
        struct weft_node_sum *sum = &nodes[matrix->node[at]];
        const uint64_t ns = matrix->ns[at];
        sum->squares += (weft_u128)ns * ns;
        sum->sum_ns += ns;
        sum->n += ns > 0;
    }
}

static void take_item(const struct weft_ecct_matrix *matrix, size_t item,
                      struct weft_node_sum *restrict nodes)
{
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
        struct weft_node_sum *sum = &nodes[matrix->node[at]];
        const uint64_t ns = matrix->ns[at];
        sum->squares -= (weft_u128)ns * ns;
        sum->sum_ns -= ns;
        sum->n -= ns > 0;
    }
}

/* Values to be added or taken away for a group, and values of the group itself. */
struct effort {
    uint64_t changed, all;
};

static struct effort effort_of(const struct weft_compare_sums *sums, const uint8_t *members,
                               uint8_t bit)
{
    const uint64_t *starts = sums->matrix->starts;
    struct effort effort = { 0 };
    for (size_t item = 0; item < sums->matrix->n_items; item++) {
        const uint64_t n_values = starts[item + 1] - starts[item] + 1;
        effort.changed += (members[item] ^ sums->members[item]) & bit ? n_values : 0;
        effort.all += members[item] & bit ? n_values : 0;
    }
    return effort;
}

static void set_group(struct weft_compare_sums *sums, const uint8_t *members, size_t group)
{
    const struct weft_ecct_matrix *matrix = sums->matrix;
    const uint8_t bit = (uint8_t)(1u << group);
    const struct effort effort = effort_of(sums, members, bit);
    const bool is_anew = effort.all < effort.changed;
    if (is_anew) {
        memset(sums->nodes[group], 0, matrix->n_nodes * sizeof *sums->nodes[group]);
        sums->n[group] = 0;
    }
    for (size_t item = 0; item < matrix->n_items; item++) {
        const bool is_in = members[item] & bit;
        const bool was_in = !is_anew && (sums->members[item] & bit);
        if (is_in && !was_in)
            add_item(matrix, item, sums->nodes[group]);
        else if (was_in && !is_in)
            take_item(matrix, item, sums->nodes[group]);
        sums->n[group] += (uint64_t)is_in - (uint64_t)was_in;
    }
}

void weft_compare_sums_set(struct weft_compare_sums *sums, const uint8_t *members)
{
    for (size_t group = 0; group < WEFT_GROUPS; group++)
        set_group(sums, members, group);
    memcpy(sums->members, members, sums->matrix->n_items);
}

double weft_node_mean(const struct weft_node_sum *sum, uint64_t n)
{
    return n > 0 ? (double)sum->sum_ns / (double)n : 0;
}

double weft_node_variance(const struct weft_node_sum *sum, uint64_t n)
{
    if (n < 2)
        return 0;
    const double deviation = weft_deviation(n, sum->sum_ns, sum->squares);
    return deviation * deviation * ((double)n / (double)(n - 1));
}
