/* SPDX-License-Identifier: MIT
 *
 * Which rules led to a finding: those that were tried, in order, with what they compared.
 */
#include "render/text/compare_words.h"
#include "render/text/diagnose.h"

static struct weft_human value_of(double value, enum weft_rule_unit unit)
{
    struct weft_human text;
    if (unit == WEFT_RULE_NS)
        return value < 0 ? weft_human_change(value) : weft_human_mean(value);
    (void)snprintf(text.text, sizeof text.text, unit == WEFT_RULE_SHARE ? "%.3g %%" : "%.4g",
                   unit == WEFT_RULE_SHARE ? 100 * value : value);
    return text;
}

static void put_rule(struct weft_output *out, const struct weft_rule_tried *rule)
{
    weft_output_printf(out, "\n    %-8s %s", weft_rule_outcome_name(rule->outcome), rule->name);
    if (rule->missing)
        weft_output_printf(out, " (needs %s)", rule->missing);
    for (size_t i = 0; i < rule->n_numbers; i++) {
        const struct weft_rule_number *number = &rule->numbers[i];
        weft_output_printf(out, "%s%s %s, limit %s", i ? "; " : ": ", number->name,
                           value_of(number->value, number->unit).text,
                           value_of(number->limit, number->unit).text);
    }
    if (rule->outcome == WEFT_RULE_FIRED)
        weft_output_printf(out, "\n             %s", rule->why);
}

static void put_rules(struct weft_output *out, const struct weft_rules_tried *tried)
{
    for (size_t i = 0; i < tried->n; i++)
        put_rule(out, &tried->items[i]);
    weft_output_text(out, "\n");
}

void weft_explain_put(struct weft_output *out, const struct weft_finding *finding)
{
    weft_output_text(out, "\n  rules of `");
    weft_words_name(out, finding->type);
    weft_output_printf(out, "`: %s", finding->rule);
    put_rules(out, &finding->tried);
    for (size_t i = 0; i < finding->n_causes; i++) {
        const struct weft_finding_cause *cause = &finding->causes[i];
        weft_output_printf(out, "\n  rules of the cause of %s (",
                           weft_human_plural(cause->cause->n_items, "execution").text);
        weft_words_cause(out, finding->matrix, cause->cause->node);
        weft_output_printf(out, "): %s", weft_cause_place_name(cause->place));
        put_rules(out, &cause->tried);
    }
}

void weft_explain_json(struct weft_json *json, const struct weft_rules_tried *tried)
{
    static const char *const units[] = { [WEFT_RULE_NS] = "ns",
                                         [WEFT_RULE_SHARE] = "share",
                                         [WEFT_RULE_COUNT] = "count",
                                         [WEFT_RULE_RATIO] = "ratio" };
    weft_json_begin_array(json, "explain");
    for (size_t i = 0; i < tried->n; i++) {
        const struct weft_rule_tried *rule = &tried->items[i];
        weft_json_new_line(json);
        weft_json_begin_object(json, NULL);
        weft_json_text(json, "rule", rule->name);
        weft_json_text(json, "outcome", weft_rule_outcome_name(rule->outcome));
        if (rule->missing)
            weft_json_text(json, "needs", rule->missing);
        if (rule->outcome == WEFT_RULE_FIRED)
            weft_json_text(json, "why", rule->why);
        weft_json_begin_array(json, "numbers");
        for (size_t k = 0; k < rule->n_numbers; k++) {
            weft_json_begin_object(json, NULL);
            weft_json_text(json, "name", rule->numbers[k].name);
            weft_json_real(json, "value", rule->numbers[k].value);
            weft_json_real(json, "limit", rule->numbers[k].limit);
            weft_json_text(json, "unit", units[rule->numbers[k].unit]);
            weft_json_end_object(json);
        }
        weft_json_end_array(json);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}
