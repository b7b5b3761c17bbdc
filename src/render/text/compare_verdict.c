/* SPDX-License-Identifier: MIT
 *
 * The verdict of a comparison: whether B differs from A, by how much, and where.
 */
#include "analysis/compare/names.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"
#include "schema/event.h"

#include <math.h>
#include <stdio.h>
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
static const struct weft_compare_node *sure_node(const struct weft_comparison_view *comparison,
                                                 double difference_ns)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_node *first = NULL;
    for (size_t i = 0; i < table->n_ranked; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        const double share = row->difference_ns / difference_ns;
        if (!row->is_sure)
            break;
        if (share >= LEAST_SHARE && !weft_node_is_outside(comparison->matrix, row->node))
            return row;
        if (!first && share > 0)
            first = row;
    }
    return first;
}

static bool is_path_value(struct weft_str name)
{
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++)
        if (weft_str_equal(name, weft_str_of(weft_execution_path_value_name(i))))
            return true;
    return false;
}

/* The state on the path of which most of the difference is, if there is evidence; NULL if not. */
static const struct weft_compare_metric *most_state(const struct weft_comparison_view *comparison,
                                                    double difference_ns)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_metric *most = NULL;
    for (size_t i = 0; i < table->n_metrics; i++) {
        const struct weft_compare_metric *row = &table->metrics[i];
        const double share = row->difference / difference_ns;
        if (is_path_value(comparison->matrix->metrics[row->metric].name) &&
            row->p_adjusted < EVIDENCE_P && share > 0 &&
            (!most || share > most->difference / difference_ns))
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
            (frame->kind == WEFT_FRAME_STATE && weft_frame_begins_with(frame, "blocked")))
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

bool weft_comparison_differs_in_place(const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_focus *focus = &table->focus;
    const struct weft_compare_metric *duration = duration_of(table);
    if (!duration || focus->node == WEFT_ID_NONE || !focus->is_sure || focus->context == 0 ||
        fabs(focus->difference_ns) < TRIFLE * duration->mean_a)
        return false;
    return is_waiting(comparison->matrix, focus->node) ||
           focus->mean_a_ns <= NEW * focus->mean_b_ns || focus->mean_b_ns <= NEW * focus->mean_a_ns;
}

/* "; 34 % of that is ", "; all of that is ": a context may differ by more than the duration, as
 * another one differs the other way. */
static void put_of_that(struct weft_output *out, double share)
{
    if (share > 1)
        weft_output_text(out, "; all of that is ");
    else
        weft_output_printf(out, "; %.0f %% of that is ", 100 * share);
}

/* "34 % of that is blocked: block device in `f`, 97 % with what else is done there" */
static void put_focus(struct weft_output *out, const struct weft_comparison_view *comparison,
                      const struct weft_compare_focus *focus, double difference_ns)
{
    const double of_node = focus->node_ns / difference_ns,
                 of_all = focus->difference_ns / difference_ns;
    put_of_that(out, of_node);
    weft_words_cause(out, comparison->matrix, focus->node);
    if (fabs(of_all - of_node) >= LEAST_SHARE && focus->context != 0)
        weft_output_printf(out, ", %.0f %% with all else that is done there", 100 * of_all);
}

/* ", and 12 % waiting in `f`": beside what others did to it, what the program does itself. */
static void put_in_program(struct weft_output *out, const struct weft_comparison_view *comparison,
                           double difference_ns)
{
    const struct weft_compare_focus *focus = &comparison->table->focus;
    const double share = focus->difference_ns / difference_ns;
    if (!(share > 0) || !weft_comparison_differs_in_place(comparison))
        return;
    weft_output_printf(out, share < 0.1 ? ", and %.2g %% " : ", and %.0f %% ", 100 * share);
    weft_words_cause(out, comparison->matrix, focus->node);
}

/* "; 78 % of that is blocked: timer in `f`". A difference that is spread over many contexts is
 * told by its state: "; 66 % of that is preempted, in many contexts"; one whose context is not sure
 * beside all others by what seems to be it. */
static void put_where(struct weft_output *out, const struct weft_comparison_view *comparison,
                      double difference_ns)
{
    const struct weft_compare_node *node = sure_node(comparison, difference_ns);
    const struct weft_compare_metric *state = most_state(comparison, difference_ns);
    const struct weft_compare_node *likely = likely_node(comparison->table, difference_ns);
    const struct weft_compare_focus *focus = sure_focus(comparison->table, difference_ns);
    const double of_node = node ? node->difference_ns / difference_ns : 0,
                 of_state = state ? state->difference / difference_ns : 0;
    if (focus && focus->node_ns / difference_ns >= LEAST_SHARE) {
        put_focus(out, comparison, focus, difference_ns);
    } else if (of_node < LEAST_SHARE && of_state >= LEAST_SHARE) {
        char name[32];
        const struct weft_str is = comparison->matrix->metrics[state->metric].name;
        (void)snprintf(name, sizeof name, "%.*s", (int)is.n_bytes, is.bytes);
        for (char *at = strchr(name, '_'); at; at = strchr(at, '_'))
            *at = ' ';
        weft_output_printf(out, "; %.0f %% of that is %s, in many contexts", 100 * of_state, name);
        put_in_program(out, comparison, difference_ns);
    } else if (of_node >= LEAST_SHARE) {
        put_of_that(out, of_node);
        weft_words_cause(out, comparison->matrix, node->node);
        if (weft_node_is_outside(comparison->matrix, node->node))
            put_in_program(out, comparison, difference_ns);
    } else if (likely) {
        weft_output_printf(out, "; %.0f %% of that seems to be ",
                           100 * likely->difference_ns / difference_ns);
        weft_words_cause(out, comparison->matrix, likely->node);
        weft_output_printf(out, " (%s)", weft_human_p(likely->p_adjusted).text);
    } else {
        weft_output_text(out, "; no context stands out");
    }
}

/* Where groups are of different runs: executions of one run are alike for reasons of that run. */
static void put_runs(struct weft_output *out, const struct weft_compare_table *table)
{
    if (!table->runs_are_apart || table->n_runs_a == 0 || table->n_runs_b == 0)
        return;
    if (table->is_by_runs)
        weft_output_printf(out, ". Runs were compared: %s of A and %s of B",
                           weft_human_count(table->n_runs_a).text,
                           weft_human_count(table->n_runs_b).text);
    else
        weft_output_printf(out,
                           ". Executions were counted, of %s of A and %s of B: too few to tell "
                           "what runs differ by anyway",
                           weft_human_plural(table->n_runs_a, "run").text,
                           weft_human_count(table->n_runs_b).text);
}

static void put_small(struct weft_output *out, const struct weft_compare_table *table)
{
    if (table->is_small)
        weft_output_printf(out,
                           ". A group of fewer than %d executions is not to be trusted: what is "
                           "rare may be missing from it",
                           WEFT_TRUSTED_EXECUTIONS);
}

static size_t n_sure(const struct weft_compare_table *table)
{
    size_t n = 0;
    while (n < table->n_ranked && table->nodes[table->ranked[n]].is_sure)
        n++;
    return n;
}

static void put_counts(struct weft_output *out, const struct weft_compare_table *table)
{
    weft_output_printf(out, " (n = %s and %s)", weft_human_count(table->n_a).text,
                       weft_human_count(table->n_b).text);
}

/* Where it differs, though its duration shows no evidence: what is spread over all hides it. */
static void put_in_place(struct weft_output *out, const struct weft_comparison_view *comparison,
                         const struct weft_compare_metric *duration)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_focus *focus = &table->focus;
    weft_output_printf(out, "B is %s %s than A in one place (95 %% %s to %s",
                       weft_human_mean(fabs(focus->difference_ns)).text,
                       focus->difference_ns > 0 ? "slower" : "faster",
                       weft_human_change(focus->interval.low_ns).text,
                       weft_human_change(focus->interval.high_ns).text);
    weft_output_printf(out, ", n = %s and %s): ", weft_human_count(table->n_a).text,
                       weft_human_count(table->n_b).text);
    weft_words_cause(out, comparison->matrix, focus->node);
    weft_output_text(out, "; of the whole duration there is no evidence: ");
    weft_words_change(out, duration, WEFT_METRIC_NS);
    put_runs(out, table);
    put_small(out, table);
}

static void put_no_evidence(struct weft_output *out, const struct weft_comparison_view *comparison,
                            const struct weft_compare_metric *duration)
{
    const struct weft_compare_table *table = comparison->table;
    weft_output_text(out, "no evidence that B lasts longer or shorter than A: ");
    weft_words_change(out, duration, WEFT_METRIC_NS);
    put_counts(out, table);
    const struct weft_compare_node *row =
        n_sure(table) > 0 ? &table->nodes[table->ranked[0]] : NULL;
    if (row && fabs(row->difference_ns) >= TRIFLE * duration->mean_a) {
        weft_output_printf(out, "; but its time differs: %s ",
                           weft_human_change(row->difference_ns).text);
        weft_words_cause(out, comparison->matrix, row->node);
    }
    put_runs(out, table);
    put_small(out, table);
}

static void put_verdict(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_metric *duration = duration_of(table);
    if (table->n_a == 0 || table->n_b == 0 || !duration) {
        weft_output_printf(out, "nothing to compare: group %s has no execution",
                           table->n_a == 0 && table->n_b == 0 ? "A, and group B,"
                           : table->n_a == 0                  ? "A"
                                                              : "B");
        return;
    }
    if (table->n_a < 2 || table->n_b < 2) {
        weft_output_printf(out, "too few executions for a verdict: B lasts %s, A %s on average",
                           weft_human_mean(duration->mean_b).text,
                           weft_human_mean(duration->mean_a).text);
        put_counts(out, table);
        return;
    }
    const bool has_evidence = duration->p < EVIDENCE_P && (duration->low > 0 || duration->high < 0);
    if (!has_evidence && weft_comparison_differs_in_place(comparison)) {
        put_in_place(out, comparison, duration);
        return;
    }
    if (!has_evidence) {
        put_no_evidence(out, comparison, duration);
        return;
    }
    weft_output_printf(out, "B is %s %s than A (", weft_human_mean(fabs(duration->difference)).text,
                       duration->difference > 0 ? "slower" : "faster");
    const struct weft_human share = weft_human_growth(duration->difference, duration->mean_a);
    if (share.text[0])
        weft_output_printf(out, "%s, ", share.text);
    weft_output_printf(out, "95 %% %s to %s, n = %s and %s)", weft_human_change(duration->low).text,
                       weft_human_change(duration->high).text, weft_human_count(table->n_a).text,
                       weft_human_count(table->n_b).text);
    put_where(out, comparison, duration->difference);
    put_runs(out, table);
    put_small(out, table);
}

/* Of both groups: what is lost or inferred in either may be what they seem to differ by. */
struct weft_confidence_basis
weft_comparison_confidence(const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_metric *duration = duration_of(table);
    const struct weft_confidence_basis a =
        weft_confidence_basis_of(comparison->matrix, table->items_a, table->n_a);
    struct weft_confidence_basis basis =
        weft_confidence_basis_of(comparison->matrix, table->items_b, table->n_b);
    basis.n += a.n;
    basis.n_lossy += a.n_lossy;
    basis.inferred = fmax(a.inferred, basis.inferred);
    basis.unexplained = fmax(a.unexplained, basis.unexplained);
    if (duration && duration->p < EVIDENCE_P)
        basis.p = duration->p;
    return basis;
}

void weft_render_verdict(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    const struct weft_confidence_basis basis = weft_comparison_confidence(comparison);
    put_verdict(out, comparison);
    if (comparison->table->n_a == 0 || comparison->table->n_b == 0 ||
        strcmp(weft_confidence_level(weft_confidence_value(&basis)), "high") == 0)
        return;
    weft_output_text(out, ". Confidence: ");
    weft_confidence_put(out, &basis);
}
