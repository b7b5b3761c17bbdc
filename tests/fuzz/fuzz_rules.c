/* SPDX-License-Identifier: MIT
 *
 * Any bytes as rules, and, behind a NUL, as the payload of an event that they are applied to. What
 * is refused has a line and a reason; what is accepted is within the limits, and its texts are
 * there.
 */
#include "analysis/executions/rule_view.h"
#include "query/rules.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void must(bool is_so)
{
    if (!is_so)
        abort();
}

/* Fields that belong to threads need a trace. */
static bool is_of_event(const struct weft_rule_field *field)
{
    return field->kind != WEFT_FIELD_THREAD && field->kind != WEFT_FIELD_TID &&
           field->kind != WEFT_FIELD_PID && field->kind != WEFT_FIELD_PROCESS;
}

static void check_field(const struct weft_rule_field *field, struct weft_rule_view *view)
{
    must(field->name.bytes != NULL && field->kind != WEFT_FIELD_NONE);
    if (!is_of_event(field))
        return;
    const struct weft_rule_value value = weft_rule_field_get(view, field);
    must(value.kind != WEFT_VALUE_TEXT || value.text.bytes != NULL);
    must(weft_rule_value_key(&value) == weft_rule_value_key(&value));
}

static void check_rule(const struct weft_rule *rule, struct weft_rule_view *view)
{
    bool is_of_events = true;
    must(rule->kind != WEFT_RULE_NONE && rule->name.bytes && weft_rule_kind_name(rule)[0]);
    must(rule->n_conditions <= 2 * WEFT_RULES_LIST_MAX);
    for (size_t i = 0; i < rule->n_conditions; i++) {
        check_field(&rule->conditions[i].field, view);
        must(rule->conditions[i].text.bytes != NULL);
        is_of_events &= is_of_event(&rule->conditions[i].field);
    }
    if (is_of_events)
        (void)weft_rule_holds(view, rule);
    must(weft_rule_text_matches(WEFT_STR("*"), rule->name));
    (void)weft_rule_names(rule, view->payload);
}

static void check_types(const struct weft_execution_rule *types, size_t n_types,
                        struct weft_rule_view *view)
{
    must(n_types <= WEFT_RULES_TYPES_MAX);
    for (size_t t = 0; t < n_types; t++) {
        const struct weft_execution_rule *type = &types[t];
        must(type->name.bytes && type->n_metrics <= WEFT_RULES_LIST_MAX);
        check_rule(&type->begin, view);
        if (type->end.kind)
            check_rule(&type->end, view);
        else
            must(type->begin.kind == WEFT_RULE_CALL || type->begin.kind == WEFT_RULE_SPAN);
        if (type->has_match) {
            check_field(&type->match_begin, view);
            check_field(&type->match_end, view);
        }
        for (size_t m = 0; m < type->n_metrics; m++)
            must(type->metrics[m].name.bytes != NULL);
    }
}

static void see(void *context, struct weft_str name, double value)
{
    (void)value;
    must(name.bytes || name.n_bytes == 0);
    ++*(unsigned *)context;
}

static void check_text(struct weft_str text, struct weft_str payload)
{
    const struct weft_event event = { .kind = WEFT_EVENT_INSTANT, .name = payload };
    struct weft_rule_view view = { .event = &event, .payload = payload };
    struct weft_rules *rules = NULL;
    struct weft_err err = { 0 };
    unsigned n = 0;
    const enum weft_code code = weft_rules_parse(text, &rules, &err);
    must((code == WEFT_OK) == (rules != NULL) && code == err.code);
    must(code == WEFT_OK || err.text[0]);
    must(code != WEFT_E_MALFORMED || err.line > 0);
    if (rules) {
        check_types(rules->types, rules->n_types, &view);
        check_types(rules->dependencies, rules->n_dependencies, &view);
    }
    weft_rule_view_numbers(&view, see, &n);
    weft_rule_view_fini(&view);
    weft_rules_free(rules);
}

/* The same bytes as an option of a command. */
static void check_option(struct weft_str text)
{
    char *copy = strndup(text.n_bytes ? text.bytes : "", text.n_bytes);
    const struct weft_rule_options options = {
        .begin = copy, .end = copy, .match = copy, .metrics = copy
    };
    const struct weft_rule_options whole = { .begin = copy };
    struct weft_rules *rules = NULL;
    struct weft_err err = { 0 };
    must((weft_rules_of_options(&options, &rules, &err) == WEFT_OK) == (rules != NULL));
    weft_rules_free(rules);
    err = (struct weft_err){ 0 };
    must((weft_rules_of_options(&whole, &rules, &err) == WEFT_OK) == (rules != NULL));
    weft_rules_free(rules);
    err = (struct weft_err){ 0 };
    must((weft_rules_of_count(copy, copy, &rules, &err) == WEFT_OK) == (rules != NULL));
    weft_rules_free(rules);
    err = (struct weft_err){ 0 };
    must((weft_rules_of_count("call:*", copy, &rules, &err) == WEFT_OK) == (rules != NULL));
    weft_rules_free(rules);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *bytes = malloc(n_bytes ? n_bytes : 1); /* exactly as large */
    const uint8_t *end = n_bytes ? memchr(data, 0, n_bytes) : NULL;
    const size_t n_text = end ? (size_t)(end - data) : n_bytes;
    if (bytes && n_bytes)
        memcpy(bytes, data, n_bytes);
    if (bytes) {
        const struct weft_str text = { bytes, n_text };
        const struct weft_str payload =
            end ? (struct weft_str){ bytes + n_text + 1, n_bytes - n_text - 1 }
                : (struct weft_str){ 0 };
        check_text(text, payload);
        check_option(text);
    }
    free(bytes);
    return 0;
}
