/* SPDX-License-Identifier: MIT
 *
 * Resolves rules against a trace once: the functions each rule matches, the event kinds to read,
 * whether arguments or texts are needed, numbers of metrics. points.c then reads nothing that no
 * rule asks for.
 */
#include "analysis/executions/plan.h"

#include "analysis/executions/rule_view.h"
#include "base/vec.h"
#include "model/operations.h"

#include <stdlib.h>

bool weft_rule_use_is_of_calls(const struct weft_rule_use *use)
{
    return use->kind == WEFT_RULE_CALL || use->kind == WEFT_RULE_ENTER ||
           use->kind == WEFT_RULE_EXIT;
}

bool weft_rule_use_is_of_function(const struct weft_trace *trace, const struct weft_rule_use *use,
                                  uint32_t function_id)
{
    return use->of_operations
               ? weft_operation_is(trace, function_id, use->rule->name)
               : weft_rule_names(use->rule, weft_trace_function(trace, function_id)->name);
}

/* Text of arguments: what an operation returned stands there, too. */
static bool asks_for_texts(const struct weft_rule_use *use, const struct weft_rule_field *field)
{
    return field->kind == WEFT_FIELD_MEMBER || field->kind == WEFT_FIELD_ID ||
           (use->of_operations && (field->kind == WEFT_FIELD_RET || field->kind == WEFT_FIELD_FD));
}

static bool asks_for_arguments(const struct weft_rule_use *use, const struct weft_rule_field *field)
{
    return asks_for_texts(use, field) || field->kind == WEFT_FIELD_ARG ||
           field->kind == WEFT_FIELD_FD;
}

static bool asks_for_descriptor(const struct weft_rule_use *use,
                                const struct weft_rule_field *field)
{
    (void)use;
    return field->kind == WEFT_FIELD_FD;
}

/* Does any field of the use ask so? */
static bool any_asks(const struct weft_rule_use *use,
                     bool (*asks)(const struct weft_rule_use *, const struct weft_rule_field *))
{
    const struct weft_execution_rule *type = use->type;
    bool any = type->has_match && asks(use, use->is_end ? &type->match_end : &type->match_begin);
    for (size_t i = 0; i < use->rule->n_conditions; i++)
        any |= asks(use, &use->rule->conditions[i].field);
    for (size_t i = 0; use->is_end && i < type->keep.n_conditions; i++)
        any |= asks(use, &type->keep.conditions[i].field);
    for (size_t i = 0; i < type->n_metrics; i++)
        any |= asks(use, &type->metrics[i].field);
    return any;
}

static bool is_of_operations(const struct weft_trace *trace, const struct weft_rule *rule)
{
    if (rule->kind != WEFT_RULE_EVENT ||
        (rule->event != WEFT_EVENT_SYSCALL_ENTER && rule->event != WEFT_EVENT_SYSCALL_EXIT))
        return false;
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++)
        if (weft_operation_is(trace, id, rule->name))
            return true;
    return false;
}

static struct weft_rule_use use_of(const struct weft_rule_plan *plan, size_t type, bool is_end)
{
    const struct weft_execution_rule *all = &plan->types[type];
    struct weft_rule_use use = { .type = all,
                                 .rule = is_end ? &all->end : &all->begin,
                                 .type_id = (uint32_t)type,
                                 .is_end = is_end };
    use.of_operations = is_of_operations(plan->trace, use.rule);
    use.kind = use.rule->kind;
    if (use.of_operations)
        use.kind = use.rule->event == WEFT_EVENT_SYSCALL_ENTER ? WEFT_RULE_ENTER : WEFT_RULE_EXIT;
    return use;
}

/* The argument of a system call stands at its begin. */
static void add_entries(struct weft_rule_plan *plan, const struct weft_rule_use *use)
{
    if (use->kind != WEFT_RULE_EVENT || use->rule->event != WEFT_EVENT_SYSCALL_EXIT ||
        !any_asks(use, asks_for_descriptor))
        return;
    plan->keeps_entries = true;
    plan->event_kinds |= UINT32_C(1) << WEFT_EVENT_SYSCALL_ENTER;
}

static void add_use(struct weft_rule_plan *plan, const struct weft_rule_use *use)
{
    plan->uses[plan->n_uses++] = *use;
    if (use->kind == WEFT_RULE_EVENT)
        plan->event_kinds |= UINT32_C(1) << use->rule->event;
    else if (!weft_rule_use_is_of_calls(use))
        plan->event_kinds |= UINT32_C(1) << WEFT_EVENT_SPAN;
    else
        plan->with_texts |= any_asks(use, asks_for_texts);
    add_entries(plan, use);
    plan->keeps_arguments |= use->kind == WEFT_RULE_EXIT && any_asks(use, asks_for_arguments);
}

/* Do begins and ends stand at the same points: entries, say? */
static bool do_turn(const struct weft_rule_use *begin, const struct weft_rule_use *end)
{
    return begin->kind == end->kind &&
           (begin->kind != WEFT_RULE_EVENT || begin->rule->event == end->rule->event);
}

static void add_type(struct weft_rule_plan *plan, size_t type)
{
    struct weft_rule_use begin = use_of(plan, type, false), end = use_of(plan, type, true);
    end.turns = do_turn(&begin, &end);
    if (end.turns)
        add_use(plan, &end);
    add_use(plan, &begin);
    if (end.kind != WEFT_RULE_NONE && !end.turns)
        add_use(plan, &end);
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
            if (!weft_rule_use_is_of_calls(&plan->uses[u]) ||
                !weft_rule_use_is_of_function(plan->trace, &plan->uses[u], id))
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
    for (size_t t = 0; plan->uses && t < n_types; t++)
        add_type(plan, t);
    for (size_t u = 0; u < plan->n_uses; u++)
        has_calls |= weft_rule_use_is_of_calls(&plan->uses[u]);
    if (!plan->uses || !plan->names.table || (has_calls && !list_functions(plan)))
        return weft_no_memory(err, "executions");
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
