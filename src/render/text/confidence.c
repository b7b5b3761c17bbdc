/* SPDX-License-Identifier: MIT
 *
 * See confidence.h.
 */
#include "render/text/confidence.h"

#include "render/human.h"
#include "render/text/compare_words.h"
#include "schema/executions.h"

#include <stdio.h>

static const double HIGH = 0.9;
static const double MEDIUM = 0.6;
static const double MOST_UNNAMED = 0.5; /* of a difference, that does not lower it */
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

const char *weft_confidence_level(double value)
{
    return value >= HIGH ? "high" : value >= MEDIUM ? "medium" : "low";
}

enum reason { UNNAMED, LOSSY, LOST, INFERRED, UNEXPLAINED, CHANCE, REASONS };

/* Does it lower the confidence? */
static bool has_reason(const struct weft_confidence_basis *basis, enum reason reason)
{
    switch (reason) {
    case UNNAMED:
        return basis->unnamed > MOST_UNNAMED;
    case LOSSY:
        return basis->n_lossy > 0;
    case LOST:
        return basis->lost > 0;
    case INFERRED:
        return basis->inferred >= LEAST;
    case UNEXPLAINED:
        return basis->unexplained >= LEAST;
    default:
        return basis->p >= LEAST;
    }
}

static void put_reason(struct weft_output *out, const struct weft_confidence_basis *basis,
                       enum reason reason)
{
    const double share = reason == UNNAMED    ? 1 - basis->unnamed
                         : reason == LOST     ? basis->lost
                         : reason == INFERRED ? basis->inferred
                                              : basis->unexplained;
    char percent[16];
    (void)snprintf(percent, sizeof percent, share < 0.1 ? "%.2g %%" : "%.0f %%", 100 * share);
    if (reason == UNNAMED)
        weft_output_printf(out, "this explains %s of the difference", percent);
    else if (reason == LOSSY)
        weft_output_printf(out, "records are lost in %s of %s",
                           weft_human_count(basis->n_lossy).text,
                           weft_human_plural(basis->n, "execution").text);
    else if (reason == LOST)
        weft_output_printf(out, "%s of the records of the trace are lost", percent);
    else if (reason == INFERRED)
        weft_output_printf(out, "%s of the time of these executions is inferred", percent);
    else if (reason == UNEXPLAINED)
        weft_output_printf(out, "%s of the time of these executions is unexplained", percent);
    else
        weft_output_text(out, weft_human_p(basis->p).text);
}

void weft_confidence_put(struct weft_output *out, const struct weft_confidence_basis *basis)
{
    const double value = weft_confidence_value(basis);
    const char *between = ": ";
    weft_output_printf(out, "%s (%.2f)", weft_confidence_level(value), value);
    for (unsigned k = 0; k < REASONS; k++)
        if (has_reason(basis, k)) {
            weft_output_text(out, between);
            put_reason(out, basis, k);
            between = "; ";
        }
}

void weft_confidence_put_remark(struct weft_output *out, const struct weft_confidence_basis *basis)
{
    if (weft_confidence_value(basis) >= HIGH)
        return;
    weft_output_text(out, " Confidence: ");
    weft_confidence_put(out, basis);
    weft_output_text(out, ".");
}

void weft_confidence_json(struct weft_json *json, const struct weft_confidence_basis *basis,
                          struct weft_output *scratch)
{
    const double value = weft_confidence_value(basis);
    weft_json_begin_object(json, "confidence");
    weft_json_real(json, "value", value);
    weft_json_text(json, "level", weft_confidence_level(value));
    weft_json_begin_array(json, "reasons");
    for (unsigned k = 0; k < REASONS; k++) {
        if (!has_reason(basis, k))
            continue;
        put_reason(scratch, basis, k);
        weft_json_str(json, NULL, weft_output_held(scratch));
        weft_output_clear(scratch);
    }
    weft_json_end_array(json);
    weft_json_end_object(json);
}
