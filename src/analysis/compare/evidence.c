/* SPDX-License-Identifier: MIT
 *
 * Adds up, for each cause, each execution's time in all nodes with the cause's likeness (names.c),
 * and tests the two samples. A cause spread over many nodes would pass no test node by node.
 */
#include "analysis/compare/evidence.h"

#include "analysis/compare/names.h"
#include "base/statistics.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>

static uint64_t likeness_of(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct weft_frame_path path;
    weft_frame_path_of(matrix, node, &path);
    return weft_path_likeness(&path);
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

enum weft_code weft_compare_causes_test(const struct weft_ecct_matrix *matrix,
                                        struct weft_compare_table *table, struct weft_err *err)
{
    uint64_t *likenesses = calloc(matrix->n_nodes + 1, sizeof *likenesses);
    if (!likenesses)
        return weft_no_memory(err, "the causes");
    for (uint32_t node = 0; node < matrix->n_nodes; node++)
        likenesses[node] = likeness_of(matrix, node);
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
