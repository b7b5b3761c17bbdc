/* SPDX-License-Identifier: MIT */
#include "render/text/gate.h"

#include "render/text/compare_words.h"
#include "schema/event.h"

#include <math.h>
#include <string.h>

enum { ROWS = 10, EXAMPLES = 3 };

static void put_amount(struct weft_output *out, const struct weft_gate_view *gate, double amount)
{
    if (!isfinite(amount))
        weft_output_text(out, "-");
    else if (gate->result->is_relative)
        weft_output_text(out, weft_human_growth(amount, 1).text);
    else
        weft_output_printf(out, "%s%s", amount < 0 ? "-" : "+",
                           weft_human_metric(fabs(amount), gate->unit).text);
}

static void put_units(struct weft_output *out, const struct weft_gate_result *result)
{
    switch (result->units) {
    case WEFT_GATE_RUNS:
        weft_output_printf(out, "%s of A, %s of B", weft_human_plural(result->n_a, "run").text,
                           weft_human_plural(result->n_b, "run").text);
        break;
    case WEFT_GATE_PAIRS:
        weft_output_printf(out, "%s with executions of both",
                           weft_human_plural(result->n_a, "run").text);
        break;
    case WEFT_GATE_EXECUTIONS:
        weft_output_printf(out, "one run, %s of A, %s of B",
                           weft_human_plural(result->n_a, "execution").text,
                           weft_human_plural(result->n_b, "execution").text);
        break;
    }
}

void weft_render_gate(struct weft_output *out, const struct weft_gate_view *gate)
{
    const struct weft_gate_result *result = gate->result;
    weft_output_printf(out, "gate '%s': %s: %s against %s, ", gate->text,
                       !result->is_decided ? "not decided"
                       : result->is_worse  ? "B is worse"
                                           : "passed",
                       weft_human_metric(result->value_b, gate->unit).text,
                       weft_human_metric(result->value_a, gate->unit).text);
    put_amount(out, gate, result->change);
    if (isfinite(result->low) && isfinite(result->high)) {
        weft_output_text(out, " (95 % ");
        put_amount(out, gate, result->low);
        weft_output_text(out, " to ");
        put_amount(out, gate, result->high);
        weft_output_text(out, ")");
    }
    weft_output_text(out, "; ");
    put_units(out, result);
    if (!result->is_decided)
        weft_output_printf(out,
                           "; too few %s: at least %s on each side are needed to find what they "
                           "differ by anyway",
                           result->units == WEFT_GATE_EXECUTIONS ? "executions" : "runs",
                           weft_human_count(result->n_needed).text);
    weft_output_text(out, "\n");
}

void weft_render_gate_json(struct weft_json *json, const struct weft_gate_view *gate)
{
    static const char *const units[] = { [WEFT_GATE_RUNS] = "runs",
                                         [WEFT_GATE_PAIRS] = "pairs",
                                         [WEFT_GATE_EXECUTIONS] = "executions" };
    const struct weft_gate_result *result = gate->result;
    weft_json_begin_object(json, "gate");
    weft_json_text(json, "gate", gate->text);
    weft_json_text(json, "result",
                   !result->is_decided ? "not decided"
                   : result->is_worse  ? "worse"
                                       : "passed");
    weft_json_text(json, "units", units[result->units]);
    weft_json_u64(json, "n_a", result->n_a);
    weft_json_u64(json, "n_b", result->n_b);
    weft_json_u64(json, "n_needed", result->n_needed);
    weft_json_real(json, "value_a", result->value_a);
    weft_json_real(json, "value_b", result->value_b);
    weft_json_bool(json, "relative", result->is_relative);
    weft_json_real(json, "change", result->change);
    weft_json_real(json, "low", result->low);
    weft_json_real(json, "high", result->high);
    weft_json_real(json, "allowed", result->allowed);
    weft_json_end_object(json);
}

/* Words as Markdown: names of functions and threads are not markup. With `has_code`, what is
 * between backticks is code, in which nothing can be escaped, nor need be but what ends a cell. */
static void put_markdown(struct weft_output *out, struct weft_output *scratch, bool has_code)
{
    static const char markup[] = "\\`*_{}[]<>()#|&~!$";
    const struct weft_str text = weft_output_held(scratch);
    bool is_code = false;
    for (size_t i = 0; i < text.n_bytes; i++) {
        const char letter = text.bytes[i];
        if (has_code && letter == '`')
            is_code = !is_code;
        else if (!is_code && letter != '\0' && strchr(markup, letter))
            weft_output_text(out, "\\");
        weft_output_write(out, is_code && letter == '|' ? "/" : &letter, 1);
    }
    weft_output_clear(scratch);
}

static void put_differences(struct weft_output *out, struct weft_output *scratch,
                            const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const size_t n = table->n_ranked < ROWS ? table->n_ranked : ROWS;
    weft_output_text(out, "\n| B - A | 95 % | adjusted | mean A | mean B | where |\n"
                          "| ---: | :--- | :--- | ---: | ---: | :--- |\n");
    for (size_t i = 0; i < n; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        weft_output_printf(
            out, "| %s%s | %s to %s | %s | %s | %s | ", weft_human_change(row->difference_ns).text,
            row->is_sure ? "" : " (unsure)", weft_human_change(row->interval.low_ns).text,
            weft_human_change(row->interval.high_ns).text, weft_human_p(row->p_adjusted).text,
            weft_human_mean(row->mean_a_ns).text, weft_human_mean(row->mean_b_ns).text);
        weft_words_where(scratch, comparison->matrix, row->node);
        put_markdown(out, scratch, false);
        weft_output_text(out, " |\n");
    }
}

static void put_causes(struct weft_output *out, struct weft_output *scratch,
                       const struct weft_comparison_view *comparison)
{
    const struct weft_compare_table *table = comparison->table;
    const size_t n = table->n_causes < ROWS ? table->n_causes : ROWS;
    if (n == 0)
        return;
    weft_output_text(out, "\nWhat makes executions of B slow:\n\n");
    for (size_t i = 0; i < n; i++) {
        const struct weft_compare_cause *cause = &table->causes[i];
        weft_output_printf(
            out, "- %s, %s on average: ", weft_human_plural(cause->n_items, "execution").text,
            weft_human_mean(cause->duration_ns).text);
        weft_words_cause(scratch, comparison->matrix, cause->node);
        put_markdown(out, scratch, true);
        weft_output_text(out, "\n");
    }
}

static void put_examples(struct weft_output *out, const struct weft_comparison_view *comparison)
{
    uint32_t picked[EXAMPLES];
    const struct weft_compare_table *table = comparison->table;
    const size_t n =
        weft_pick_items(comparison->matrix, table->items_b, table->n_b, EXAMPLES, picked, out);
    weft_output_text(out, "\nExecutions of B to look at:\n\n");
    for (size_t i = n; i-- > 0;) {
        weft_output_text(out, "    ");
        weft_render_open_command(out, comparison->matrix, picked[i]);
        weft_output_text(out, "\n");
    }
}

void weft_render_gate_report(struct weft_output *out, const struct weft_gate_view *gate,
                             const struct weft_comparison_view *comparison)
{
    struct weft_output *scratch;
    struct weft_err err = { 0 };
    if (weft_output_to_memory(&scratch, &err) != WEFT_OK) {
        weft_output_fail(out, &err);
        return;
    }
    weft_output_printf(out, "## %s\n\n",
                       !gate->result->is_decided ? "Performance: not decided"
                       : gate->result->is_worse  ? "Performance: B is worse"
                                                 : "Performance: passed");
    weft_render_gate(out, gate);
    weft_output_text(out, "\n");
    weft_render_verdict(scratch, comparison);
    put_markdown(out, scratch, true);
    weft_output_printf(out, ".\n\nA: `%s`, B: `%s`\n", *comparison->a ? comparison->a : "all",
                       *comparison->b ? comparison->b : "all");
    put_differences(out, scratch, comparison);
    put_causes(out, scratch, comparison);
    put_examples(out, comparison);
    weft_output_drop(scratch, out);
}
