/* SPDX-License-Identifier: MIT
 *
 * See confidence.h.
 */
#include "analysis/compare/confidence.h"

#include "schema/executions.h"

static const double HIGH = 0.9;
static const double MEDIUM = 0.6;
static const double MOST_UNNAMED = 0.5; /* of a difference, that does not lower it */
static const double LEAST_LOST = 0.001; /* of the records */
static const double LEAST = 0.005;      /* what lowers it by less is no reason */

struct sums {
    uint64_t n_lossy;
    double ns[WEFT_CONFIDENCES];
};

static void add_item(const struct weft_ecct_matrix *matrix, uint32_t item, struct sums *sums)
{
    sums->n_lossy += (matrix->items[item].flags & WEFT_EXECUTION_LOSSY) != 0;
    for (uint64_t k = matrix->starts[item]; k < matrix->starts[item + 1]; k++)
        sums->ns[matrix->nodes[matrix->node[k]].confidence] += (double)matrix->ns[k];
}

struct weft_confidence_basis weft_confidence_basis_of(const struct weft_ecct_matrix *matrix,
                                                      const uint32_t *items, size_t n)
{
    struct sums sums = { 0 };
    n = items ? n : matrix->n_items;
    for (size_t i = 0; i < n; i++)
        add_item(matrix, items ? items[i] : (uint32_t)i, &sums);
    double all_ns = 0;
    for (size_t k = 0; k < WEFT_CONFIDENCES; k++)
        all_ns += sums.ns[k];
    const double whole = all_ns > 0 ? all_ns : 1;
    return (struct weft_confidence_basis){
        .n = n,
        .n_lossy = sums.n_lossy,
        .inferred = sums.ns[WEFT_CONFIDENCE_INFERRED] / whole,
        .unexplained = sums.ns[WEFT_CONFIDENCE_UNEXPLAINED] / whole,
    };
}

static double lossy_share(const struct weft_confidence_basis *basis)
{
    return basis->n ? (double)basis->n_lossy / (double)basis->n : 0;
}

/* What is named has to be at least half of the difference. */
static double named_factor(const struct weft_confidence_basis *basis)
{
    return basis->unnamed > MOST_UNNAMED ? (1 - basis->unnamed) / (1 - MOST_UNNAMED) : 1;
}

double weft_confidence_value(const struct weft_confidence_basis *basis)
{
    const double certain = 1 - basis->unexplained - basis->inferred / 2;
    const double value = (1 - basis->p) * (1 - lossy_share(basis)) * (1 - basis->lost) *
                         (certain > 0 ? certain : 0) * named_factor(basis);
    return value > 0 ? value : 0;
}

enum weft_confidence_level weft_confidence_level(double value)
{
    return value >= HIGH     ? WEFT_CONFIDENCE_HIGH
           : value >= MEDIUM ? WEFT_CONFIDENCE_MEDIUM
                             : WEFT_CONFIDENCE_LOW;
}

bool weft_confidence_has_reason(const struct weft_confidence_basis *basis,
                                enum weft_confidence_reason reason)
{
    switch (reason) {
    case WEFT_REASON_UNNAMED:
        return basis->unnamed > MOST_UNNAMED;
    case WEFT_REASON_LOSSY:
        return basis->n_lossy > 0;
    case WEFT_REASON_LOST:
        return basis->lost >= LEAST_LOST;
    case WEFT_REASON_INFERRED:
        return basis->inferred >= LEAST;
    case WEFT_REASON_UNEXPLAINED:
        return basis->unexplained >= LEAST;
    default:
        return basis->p >= LEAST;
    }
}
