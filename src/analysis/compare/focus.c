/* SPDX-License-Identifier: MIT
 *
 * Walks from the root to the deepest node that still has half of the difference, names it by the
 * largest difference below it, and tests the time of the whole subtree. Preemption and interrupts
 * give the name only when little else is there.
 */
#include "analysis/compare/focus.h"

#include "analysis/compare/causes_tree.h"
#include "base/statistics.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>

static const double HALF = 0.5;   /* of the difference, for a context to have it */
static const double NAMING = 0.1; /* of what goes its way there, for what does not only happen to a
                                   * thread to name it */
static const double SURE_P = 0.05;

/* What is known of a node; a parent is before its children. */
struct place {
    double own_ns, total_ns; /* B - A: exclusive, inclusive; without what other programs took */
    bool is_outside;         /* another program had the CPU */
    bool is_mishap;          /* happens to a thread anywhere: preempted, interrupted */
    bool is_in;              /* the context, or below it */
};

struct focusing {
    const struct weft_ecct_matrix *matrix;
    struct place *places;
    double sign; /* of the difference */
};

static void fill_place(struct focusing *focusing, const struct weft_compare_sums *sums,
                       uint32_t node)
{
    const struct weft_ecct_matrix *matrix = focusing->matrix;
    struct place *place = &focusing->places[node];
    const double mean_a_ns =
        weft_node_mean(&sums->nodes[WEFT_GROUP_A][node], sums->n[WEFT_GROUP_A]);
    const double mean_b_ns =
        weft_node_mean(&sums->nodes[WEFT_GROUP_B][node], sums->n[WEFT_GROUP_B]);
    if (node != 0) {
        const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
        const struct place *parent = &focusing->places[matrix->nodes[node].parent];
        const bool is_taken =
            parent->is_mishap && frame->kind == WEFT_FRAME_THREAD && frame->module.n_bytes > 0;
        place->is_outside = parent->is_outside || is_taken;
        place->is_mishap = parent->is_mishap || weft_frame_happens_anywhere(frame);
    }
    place->own_ns = place->is_outside ? 0 : mean_b_ns - mean_a_ns;
    place->total_ns = place->own_ns;
}

static void fill_places(struct focusing *focusing, const struct weft_compare_sums *sums)
{
    const struct weft_ecct_matrix *matrix = focusing->matrix;
    for (uint32_t node = 0; node < matrix->n_nodes; node++)
        fill_place(focusing, sums, node);
    for (size_t node = matrix->n_nodes; node-- > 1;)
        focusing->places[matrix->nodes[node].parent].total_ns += focusing->places[node].total_ns;
}

/* The deepest node that has at least half of all of the difference, as have all above it. */
static uint32_t find_context(const struct focusing *focusing, uint32_t *best_child)
{
    const struct weft_ecct_matrix *matrix = focusing->matrix;
    const struct place *places = focusing->places;
    const double sign = focusing->sign;
    uint32_t context = 0;
    for (uint32_t node = 0; node < matrix->n_nodes; node++)
        best_child[node] = 0;
    for (uint32_t node = 1; node < matrix->n_nodes; node++) {
        uint32_t *best = &best_child[matrix->nodes[node].parent];
        if (sign * places[node].total_ns > (*best ? sign * places[*best].total_ns : 0))
            *best = node;
    }
    while (best_child[context] != 0 &&
           sign * places[best_child[context]].total_ns >= HALF * sign * places[0].total_ns)
        context = best_child[context];
    return context;
}

static void mark_context(struct focusing *focusing, uint32_t context)
{
    const struct weft_ecct_matrix *matrix = focusing->matrix;
    focusing->places[context].is_in = true;
    for (uint32_t node = context + 1; node < matrix->n_nodes; node++)
        focusing->places[node].is_in = focusing->places[matrix->nodes[node].parent].is_in;
}

/* What names it: the largest difference at the context or below; what happens to a thread anywhere
 * only if there is little else. */
static uint32_t find_name(const struct focusing *focusing, uint32_t context)
{
    double sums_ns[2] = { 0, 0 }, most_ns[2] = { 0, 0 }; /* of work and waits, of mishaps */
    uint32_t found[2] = { WEFT_ID_NONE, WEFT_ID_NONE };
    for (uint32_t node = context; node < focusing->matrix->n_nodes; node++) {
        const struct place *place = &focusing->places[node];
        const double ns = focusing->sign * place->own_ns;
        const bool of = place->is_mishap;
        if (!(ns > 0) || !place->is_in)
            continue;
        sums_ns[of] += ns;
        if (ns > most_ns[of]) {
            most_ns[of] = ns;
            found[of] = node;
        }
    }
    return found[0] != WEFT_ID_NONE && sums_ns[0] >= NAMING * (sums_ns[0] + sums_ns[1]) ? found[0]
                                                                                        : found[1];
}

/* A group's time at the context and below. */
static struct weft_sample sample_of(const struct focusing *focusing, const uint32_t *items,
                                    size_t n)
{
    const struct weft_ecct_matrix *matrix = focusing->matrix;
    struct weft_sample sample = { .n = n };
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double ns = 0;
        for (uint64_t at = matrix->starts[items[i]]; at < matrix->starts[items[i] + 1]; at++) {
            const struct place *place = &focusing->places[matrix->node[at]];
            ns += place->is_in && !place->is_outside ? (double)matrix->ns[at] : 0;
        }
        const double apart = ns - sample.mean; /* Welford */
        sample.mean += apart / (double)(i + 1);
        squares += apart * (ns - sample.mean);
    }
    sample.variance = n > 1 ? squares / (double)(n - 1) : 0;
    return sample;
}

static bool is_sure_node(const struct weft_compare_table *table, uint32_t node)
{
    for (size_t i = 0; i < table->n_nodes; i++)
        if (table->nodes[i].node == node)
            return table->nodes[i].is_sure;
    return false;
}

static void test(const struct focusing *focusing, struct weft_compare_table *table)
{
    struct weft_compare_focus *focus = &table->focus;
    const struct weft_sample a = sample_of(focusing, table->items_a, table->n_a);
    const struct weft_sample b = sample_of(focusing, table->items_b, table->n_b);
    const struct weft_welch welch = weft_welch_test(&a, &b);
    focus->mean_a_ns = a.mean;
    focus->mean_b_ns = b.mean;
    focus->interval = (struct weft_interval_ns){ .low_ns = welch.low, .high_ns = welch.high };
    focus->p = fmin(1, weft_samples_p(&a, &b) * (double)table->n_nodes);
    focus->is_sure = (focus->p < SURE_P || is_sure_node(table, focus->node)) && !table->is_small &&
                     (welch.low > 0 || welch.high < 0);
}

enum weft_code weft_compare_find_focus(const struct weft_ecct_matrix *matrix,
                                       const struct weft_compare_sums *sums,
                                       struct weft_compare_table *table, struct weft_err *err)
{
    struct focusing focusing = { .matrix = matrix,
                                 .places = calloc(matrix->n_nodes + 1, sizeof *focusing.places) };
    uint32_t *best_child = calloc(matrix->n_nodes + 1, sizeof *best_child);
    struct weft_compare_focus *focus = &table->focus;
    const bool has_memory = focusing.places && best_child;
    *focus = (struct weft_compare_focus){ .node = WEFT_ID_NONE, .p = 1 };
    if (has_memory && matrix->n_nodes > 0 && table->n_a > 1 && table->n_b > 1) {
        fill_places(&focusing, sums);
        focusing.sign = focusing.places[0].total_ns < 0 ? -1 : 1;
        focus->context = find_context(&focusing, best_child);
        mark_context(&focusing, focus->context);
        focus->node = find_name(&focusing, focus->context);
        focus->node_ns = focus->node == WEFT_ID_NONE ? 0 : focusing.places[focus->node].own_ns;
        focus->difference_ns = focusing.places[focus->context].total_ns;
        test(&focusing, table);
    }
    free(focusing.places);
    free(best_child);
    return has_memory ? WEFT_OK : weft_no_memory(err, "a comparison");
}
