/* SPDX-License-Identifier: MIT
 *
 * The verdict of a comparison (analysis/compare/verdict.h) in sentences.
 */
#include "analysis/compare/verdict.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/confidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "; 34 % of that is ", "; all of that is ": a context may differ by more than the duration, as
 * another one differs the other way. */
static void put_of_that(struct weft_output *out, double share)
{
    if (share > 1)
        weft_output_text(out, "; all of that is ");
    else
        weft_output_printf(out, "; %.0f %% of that is ", 100 * share);
}

/* ", and 12 % waiting in `f`": beside what others did to it, what the program does itself. */
static void put_in_program(struct weft_output *out, const struct weft_comparison_view *comparison,
                           const struct weft_compare_verdict *verdict)
{
    const double share = verdict->context_share;
    if (!verdict->is_in_program)
        return;
    weft_output_printf(out, share < 0.1 ? ", and %.2g %% " : ", and %.0f %% ", 100 * share);
    weft_words_cause(out, comparison->matrix, comparison->table->focus.node);
}

/* "; 66 % of that is preempted, in many contexts" */
static void put_state(struct weft_output *out, const struct weft_comparison_view *comparison,
                      const struct weft_compare_verdict *verdict)
{
    char name[32];
    const struct weft_str is = comparison->matrix->metrics[verdict->state->metric].name;
    (void)snprintf(name, sizeof name, "%.*s", (int)is.n_bytes, is.bytes);
    for (char *at = strchr(name, '_'); at; at = strchr(at, '_'))
        *at = ' ';
    weft_output_printf(out, "; %.0f %% of that is %s, in many contexts", 100 * verdict->share,
                       name);
}

/* "; 34 % of that is blocked: block device in `f`, 97 % with all else that is done there" */
static void put_where(struct weft_output *out, const struct weft_comparison_view *comparison,
                      const struct weft_compare_verdict *verdict)
{
    switch (verdict->where) {
    case WEFT_COMPARE_AT_FOCUS:
        put_of_that(out, verdict->share);
        weft_words_cause(out, comparison->matrix, comparison->table->focus.node);
        if (verdict->has_context)
            weft_output_printf(out, ", %.0f %% with all else that is done there",
                               100 * verdict->context_share);
        break;
    case WEFT_COMPARE_AT_STATE:
        put_state(out, comparison, verdict);
        put_in_program(out, comparison, verdict);
        break;
    case WEFT_COMPARE_AT_NODE:
        put_of_that(out, verdict->share);
        weft_words_cause(out, comparison->matrix, verdict->node->node);
        put_in_program(out, comparison, verdict);
        break;
    case WEFT_COMPARE_LIKELY:
        weft_output_printf(out, "; %.0f %% of that seems to be ", 100 * verdict->share);
        weft_words_cause(out, comparison->matrix, verdict->node->node);
        weft_output_printf(out, " (%s)", weft_human_p(verdict->node->p_adjusted).text);
        break;
    case WEFT_COMPARE_NOWHERE:
        weft_output_text(out, "; no context stands out");
    }
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
}

static void put_same(struct weft_output *out, const struct weft_comparison_view *comparison,
                     const struct weft_compare_verdict *verdict)
{
    weft_output_text(out, "no evidence that B lasts longer or shorter than A: ");
    weft_words_change(out, verdict->duration, WEFT_METRIC_NS);
    put_counts(out, comparison->table);
    if (verdict->node) {
        weft_output_printf(out, "; but its time differs: %s ",
                           weft_human_change(verdict->node->difference_ns).text);
        weft_words_cause(out, comparison->matrix, verdict->node->node);
    }
}

static void put_differs(struct weft_output *out, const struct weft_comparison_view *comparison,
                        const struct weft_compare_verdict *verdict)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_metric *duration = verdict->duration;
    weft_output_printf(out, "B is %s %s than A (", weft_human_mean(fabs(duration->difference)).text,
                       duration->difference > 0 ? "slower" : "faster");
    const struct weft_human share = weft_human_growth(duration->difference, duration->mean_a);
    if (share.text[0])
        weft_output_printf(out, "%s, ", share.text);
    weft_output_printf(out, "95 %% %s to %s, n = %s and %s)", weft_human_change(duration->low).text,
                       weft_human_change(duration->high).text, weft_human_count(table->n_a).text,
                       weft_human_count(table->n_b).text);
    put_where(out, comparison, verdict);
}

static void put_answer(struct weft_output *out, const struct weft_comparison_view *comparison,
                       const struct weft_compare_verdict *verdict)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_metric *duration = verdict->duration;
    switch (verdict->kind) {
    case WEFT_COMPARE_EMPTY:
        weft_output_printf(out, "nothing to compare: group %s has no execution",
                           table->n_a == 0 && table->n_b == 0 ? "A, and group B,"
                           : table->n_a == 0                  ? "A"
                                                              : "B");
        break;
    case WEFT_COMPARE_TOO_FEW:
        weft_output_printf(out, "too few executions for a verdict: B lasts %s, A %s on average",
                           weft_human_mean(duration->mean_b).text,
                           weft_human_mean(duration->mean_a).text);
        put_counts(out, table);
        break;
    case WEFT_COMPARE_IN_PLACE:
        put_in_place(out, comparison, duration);
        break;
    case WEFT_COMPARE_SAME:
        put_same(out, comparison, verdict);
        break;
    case WEFT_COMPARE_DIFFERS:
        put_differs(out, comparison, verdict);
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
                           ". Executions were counted, of %s of A and %s of B: too few to separate "
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

void weft_render_answer(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    const struct weft_compare_verdict verdict =
        weft_compare_verdict_of(comparison->matrix, comparison->table);
    put_answer(out, comparison, &verdict);
}

void weft_render_grounds(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const struct weft_compare_verdict verdict = weft_compare_verdict_of(comparison->matrix, table);
    if (verdict.kind != WEFT_COMPARE_EMPTY && verdict.kind != WEFT_COMPARE_TOO_FEW) {
        put_runs(out, table);
        put_small(out, table);
    }
    if (table->n_a == 0 || table->n_b == 0 ||
        weft_confidence_level(weft_confidence_value(&verdict.confidence)) == WEFT_CONFIDENCE_HIGH)
        return;
    weft_output_text(out, ". Confidence: ");
    weft_confidence_put(out, &verdict.confidence);
}

void weft_render_verdict(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    weft_render_answer(out, comparison);
    weft_render_grounds(out, comparison);
}
