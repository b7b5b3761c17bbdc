/* SPDX-License-Identifier: MIT
 *
 * See verdict.h.
 */
#include "analysis/compare/verdict.h"

#include "analysis/compare/names.h"
#include "schema/event.h"

#include <math.h>
#include <string.h>

static const double EVIDENCE_P = 0.05;
static const double LEAST_SHARE = 0.1; /* of a difference, for a context to stand for it */
static const double NEW = 0.05;        /* of a group's time in a context, if the other has less */
static const double TRIFLE = 0.01;     /* of the duration: a context that differs by less */

static const struct weft_compare_metric *duration_of(const struct weft_compare_table *table)
{
    return table->n_metrics > 0 ? &table->metrics[0] : NULL;
}

/* The first node that goes the same way, if sure, and if it is enough for itself one of the program
 * rather than one of another program that had the processor; NULL if none is. */
static const struct weft_compare_node *sure_node(const struct weft_ecct_matrix *matrix,
                                                 const struct weft_compare_table *table,
                                                 double difference_ns)
{
    const struct weft_compare_node *first = NULL;
    for (size_t i = 0; i < table->n_ranked; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        const double share = row->difference_ns / difference_ns;
        if (!row->is_sure)
            break;
        if (share >= LEAST_SHARE && !weft_node_is_outside(matrix, row->node))
            return row;
        if (!first && share > 0)
            first = row;
    }
    return first;
}

static bool is_path_value(struct weft_str name)
{
    enum weft_path_state state;
    enum weft_path_reason reason;
    return weft_execution_path_value_of(name, &state, &reason);
}

/* The state on the path of which most of the difference is, if there is evidence; NULL if not. */
static const struct weft_compare_metric *most_state(const struct weft_ecct_matrix *matrix,
                                                    const struct weft_compare_table *table,
                                                    double difference_ns)
{
    const struct weft_compare_metric *most = NULL;
    for (size_t i = 0; i < table->n_metrics; i++) {
        const struct weft_compare_metric *row = &table->metrics[i];
        const double share = row->difference / difference_ns;
        if (is_path_value(matrix->metrics[row->metric].name) && row->p_adjusted < EVIDENCE_P &&
            share > 0 && (!most || share > most->difference / difference_ns))
            most = row;
    }
    return most;
}

/* Of the nodes that are not sure the largest that goes the same way, if it is most of the
 * difference and has some evidence for itself; NULL if not. */
static const struct weft_compare_node *likely_node(const struct weft_compare_table *table,
                                                   double difference_ns)
{
    for (size_t i = 0; i < table->n_ranked; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        if (!row->is_sure && row->p < EVIDENCE_P &&
            row->difference_ns / difference_ns >= LEAST_SHARE)
            return row;
    }
    return NULL;
}

static bool is_waiting(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (; node != 0; node = matrix->nodes[node].parent) {
        const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
        if (frame->kind == WEFT_FRAME_THREAD || frame->kind == WEFT_FRAME_LOCK ||
            frame->state == WEFT_FRAME_BLOCKED)
            return true;
    }
    return false;
}

/* What has most of the difference, apart from what other programs took, if that is sure and goes
 * the same way as `difference_ns`; NULL if not. */
static const struct weft_compare_focus *sure_focus(const struct weft_compare_table *table,
                                                   double difference_ns)
{
    const struct weft_compare_focus *focus = &table->focus;
    const double share = focus->difference_ns / difference_ns;
    return focus->node != WEFT_ID_NONE && focus->is_sure && share >= LEAST_SHARE ? focus : NULL;
}

/* Does B differ from A in one context for sure, whatever there is of the whole duration? One in
 * which a thread waits, or that the other group has next to nothing of. */
static bool differs_in_place(const struct weft_ecct_matrix *matrix,
                             const struct weft_compare_table *table)
{
    const struct weft_compare_focus *focus = &table->focus;
    const struct weft_compare_metric *duration = duration_of(table);
    if (!duration || focus->node == WEFT_ID_NONE || !focus->is_sure || focus->context == 0 ||
        fabs(focus->difference_ns) < TRIFLE * duration->mean_a)
        return false;
    return is_waiting(matrix, focus->node) || focus->mean_a_ns <= NEW * focus->mean_b_ns ||
           focus->mean_b_ns <= NEW * focus->mean_a_ns;
}

static size_t n_sure(const struct weft_compare_table *table)
{
    size_t n = 0;
    while (n < table->n_ranked && table->nodes[table->ranked[n]].is_sure)
        n++;
    return n;
}

static bool is_longer_or_shorter(const struct weft_compare_metric *duration)
{
    return duration->p < EVIDENCE_P && (duration->low > 0 || duration->high < 0);
}

bool weft_compare_has_evidence(const struct weft_ecct_matrix *matrix,
                               const struct weft_compare_table *table)
{
    return table->n_metrics > 0 && table->n_a >= 2 && table->n_b >= 2 &&
           (differs_in_place(matrix, table) || is_longer_or_shorter(&table->metrics[0]));
}

/* Beside what others did to it, what the program does itself. */
static bool is_in_program(const struct weft_ecct_matrix *matrix,
                          const struct weft_compare_table *table, double difference_ns)
{
    return table->focus.difference_ns / difference_ns > 0 && differs_in_place(matrix, table);
}

/* A difference that is spread over many contexts is named by its state; one whose context is not
 * sure beside all others by what seems to be it. */
static void find_where(struct weft_compare_verdict *verdict, const struct weft_ecct_matrix *matrix,
                       const struct weft_compare_table *table, double difference_ns)
{
    const struct weft_compare_node *node = sure_node(matrix, table, difference_ns);
    const struct weft_compare_metric *state = most_state(matrix, table, difference_ns);
    const struct weft_compare_node *likely = likely_node(table, difference_ns);
    const struct weft_compare_focus *focus = sure_focus(table, difference_ns);
    const double of_node = node ? node->difference_ns / difference_ns : 0,
                 of_state = state ? state->difference / difference_ns : 0;
    verdict->context_share = table->focus.difference_ns / difference_ns;
    if (focus && focus->node_ns / difference_ns >= LEAST_SHARE) {
        verdict->where = WEFT_COMPARE_AT_FOCUS;
        verdict->share = focus->node_ns / difference_ns;
        verdict->has_context =
            fabs(verdict->context_share - verdict->share) >= LEAST_SHARE && focus->context != 0;
    } else if (of_node < LEAST_SHARE && of_state >= LEAST_SHARE) {
        verdict->where = WEFT_COMPARE_AT_STATE;
        verdict->state = state;
        verdict->share = of_state;
        verdict->is_in_program = is_in_program(matrix, table, difference_ns);
    } else if (of_node >= LEAST_SHARE) {
        verdict->where = WEFT_COMPARE_AT_NODE;
        verdict->node = node;
        verdict->share = of_node;
        verdict->is_in_program =
            weft_node_is_outside(matrix, node->node) && is_in_program(matrix, table, difference_ns);
    } else if (likely) {
        verdict->where = WEFT_COMPARE_LIKELY;
        verdict->node = likely;
        verdict->share = likely->difference_ns / difference_ns;
    }
}

/* Of both groups: what is lost or inferred in either may be what they seem to differ by. */
static struct weft_confidence_basis confidence_of(const struct weft_ecct_matrix *matrix,
                                                  const struct weft_compare_table *table)
{
    const struct weft_compare_metric *duration = duration_of(table);
    const struct weft_confidence_basis a =
        weft_confidence_basis_of(matrix, table->items_a, table->n_a);
    struct weft_confidence_basis basis =
        weft_confidence_basis_of(matrix, table->items_b, table->n_b);
    basis.n += a.n;
    basis.n_lossy += a.n_lossy;
    basis.inferred = fmax(a.inferred, basis.inferred);
    basis.unexplained = fmax(a.unexplained, basis.unexplained);
    if (duration && duration->p < EVIDENCE_P)
        basis.p = duration->p;
    return basis;
}

/* What differs though the durations do not. */
static const struct weft_compare_node *other_node(const struct weft_compare_table *table,
                                                  const struct weft_compare_metric *duration)
{
    const struct weft_compare_node *row =
        n_sure(table) > 0 ? &table->nodes[table->ranked[0]] : NULL;
    return row && fabs(row->difference_ns) >= TRIFLE * duration->mean_a ? row : NULL;
}

struct weft_compare_verdict weft_compare_verdict_of(const struct weft_ecct_matrix *matrix,
                                                    const struct weft_compare_table *table)
{
    struct weft_compare_verdict verdict = { .duration = duration_of(table),
                                            .confidence = confidence_of(matrix, table) };
    const struct weft_compare_metric *duration = verdict.duration;
    if (table->n_a == 0 || table->n_b == 0 || !duration)
        return verdict;
    if (table->n_a < 2 || table->n_b < 2) {
        verdict.kind = WEFT_COMPARE_TOO_FEW;
    } else if (is_longer_or_shorter(duration)) {
        verdict.kind = WEFT_COMPARE_DIFFERS;
        find_where(&verdict, matrix, table, duration->difference);
    } else if (differs_in_place(matrix, table)) {
        verdict.kind = WEFT_COMPARE_IN_PLACE;
    } else {
        verdict.kind = WEFT_COMPARE_SAME;
        verdict.node = other_node(table, duration);
    }
    return verdict;
}
