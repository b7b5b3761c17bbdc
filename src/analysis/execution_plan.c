/* SPDX-License-Identifier: MIT */
#include "analysis/execution_plan.h"

#include "analysis/rule_view.h"
#include "base/vec.h"

#include <stdlib.h>

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for executions");
}

bool weft_rule_is_for_calls(const struct weft_rule *rule)
{
    return rule->kind == WEFT_RULE_CALL || rule->kind == WEFT_RULE_ENTER ||
           rule->kind == WEFT_RULE_EXIT;
}

static bool asks_for_texts(const struct weft_rule_field *field)
{
    return field->kind == WEFT_FIELD_MEMBER || field->kind == WEFT_FIELD_ID;
}

static bool use_asks_for_texts(const struct weft_rule_use *use)
{
    bool asks = use->type->has_match &&
                asks_for_texts(use->is_end ? &use->type->match_end : &use->type->match_begin);
    for (size_t i = 0; i < use->rule->n_conditions; i++)
        asks |= asks_for_texts(&use->rule->conditions[i].field);
    for (size_t i = 0; i < use->type->n_metrics; i++)
        asks |= asks_for_texts(&use->type->metrics[i].field);
    return asks && weft_rule_is_for_calls(use->rule);
}

/* Do begins and ends stand at the same points: entries, say? */
static bool turns(const struct weft_execution_rule *type)
{
    return type->begin.kind == type->end.kind &&
           (type->begin.kind != WEFT_RULE_EVENT || type->begin.event == type->end.event);
}

static void add_use(struct weft_rule_plan *plan, size_t type, bool is_end)
{
    const struct weft_execution_rule *rule = &plan->types[type];
    struct weft_rule_use *use = &plan->uses[plan->n_uses++];
    *use = (struct weft_rule_use){ .type = rule,
                                   .rule = is_end ? &rule->end : &rule->begin,
                                   .type_id = (uint32_t)type,
                                   .is_end = is_end,
                                   .turns = turns(rule) };
    if (use->rule->kind == WEFT_RULE_EVENT)
        plan->event_kinds |= UINT32_C(1) << use->rule->event;
    else if (!weft_rule_is_for_calls(use->rule))
        plan->event_kinds |= UINT32_C(1) << WEFT_EVENT_SPAN;
    plan->with_texts |= use_asks_for_texts(use);
}

/* Which uses each function has. */
static bool list_functions(struct weft_rule_plan *plan)
{
    const uint32_t n_functions = weft_trace_n_functions(plan->trace);
    struct {
        uint32_t *items;
        size_t n, cap;
    } list = { 0 };
    bool is_ok = true;
    plan->functions = calloc((size_t)n_functions + 1, 1);
    plan->starts = calloc((size_t)n_functions + 2, sizeof *plan->starts);
    for (uint32_t id = 0; plan->functions && plan->starts && is_ok && id < n_functions; id++) {
        for (uint32_t u = 0; u < plan->n_uses && is_ok; u++) {
            if (!weft_rule_is_for_calls(plan->uses[u].rule) ||
                !weft_rule_names(plan->uses[u].rule, weft_trace_function(plan->trace, id)->name))
                continue;
            uint32_t *use = WEFT_VEC_PUSH(&list);
            is_ok = use != NULL;
            if (use)
                *use = u;
            plan->functions[id] = 1;
        }
        plan->starts[id + 1] = (uint32_t)list.n;
    }
    plan->use_of = list.items;
    return is_ok && plan->functions && plan->starts;
}

/* Metrics that are named have the first numbers. */
static enum weft_code name_metrics(struct weft_rule_plan *plan, struct weft_err *err)
{
    uint32_t id;
    enum weft_code code = WEFT_OK;
    for (size_t t = 0; t < plan->n_types && code == WEFT_OK; t++)
        for (size_t m = 0; m < plan->types[t].n_metrics && code == WEFT_OK; m++)
            if (plan->types[t].metrics[m].field.kind)
                code =
                    weft_strtab_intern(plan->names.table, plan->types[t].metrics[m].name, &id, err);
    return code;
}

enum weft_code weft_rule_plan_init(struct weft_rule_plan *plan, const struct weft_trace *trace,
                                   const struct weft_execution_rule *types, size_t n_types,
                                   struct weft_err *err)
{
    *plan = (struct weft_rule_plan){ .trace = trace, .types = types, .n_types = n_types };
    (void)pthread_mutex_init(&plan->names.lock, NULL);
    plan->uses = calloc(2 * n_types + 1, sizeof *plan->uses);
    plan->names.table = weft_strtab_new();
    bool has_calls = false;
    for (size_t t = 0; plan->uses && t < n_types; t++) {
        const bool has_end = types[t].end.kind != WEFT_RULE_NONE, ends_first = turns(&types[t]);
        add_use(plan, t, ends_first);
        if (has_end)
            add_use(plan, t, !ends_first);
    }
    for (size_t u = 0; u < plan->n_uses; u++)
        has_calls |= weft_rule_is_for_calls(plan->uses[u].rule);
    if (!plan->uses || !plan->names.table || (has_calls && !list_functions(plan)))
        return no_memory(err);
    return name_metrics(plan, err);
}

void weft_rule_plan_fini(struct weft_rule_plan *plan)
{
    free(plan->uses);
    free(plan->functions);
    free(plan->starts);
    free(plan->use_of);
    weft_strtab_free(plan->names.table);
    (void)pthread_mutex_destroy(&plan->names.lock);
}
