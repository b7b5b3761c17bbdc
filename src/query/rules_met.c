/* SPDX-License-Identifier: MIT
 *
 * What of a trace rules can be met by.
 */
#include "model/operations.h"
#include "query/executions.h"

/* Recordings tell system calls as operations. */
static bool has_operation(const struct weft_trace *trace, const struct weft_rule *rule)
{
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++)
        if (weft_operation_is(trace, id, rule->name))
            return true;
    return false;
}

bool weft_rule_has_kind(const struct weft_trace *trace, const struct weft_rule *rule)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    switch (rule->kind) {
    case WEFT_RULE_NONE:
        return true;
    case WEFT_RULE_CALL:
    case WEFT_RULE_ENTER:
    case WEFT_RULE_EXIT:
        return meta->calls > 0;
    case WEFT_RULE_SPAN:
    case WEFT_RULE_BEGIN:
    case WEFT_RULE_END:
        return meta->events_of_kind[WEFT_EVENT_SPAN] > 0;
    case WEFT_RULE_EVENT:
        break;
    }
    const bool is_of_system =
        rule->event == WEFT_EVENT_SYSCALL_ENTER || rule->event == WEFT_EVENT_SYSCALL_EXIT;
    return meta->events_of_kind[rule->event] > 0 || (is_of_system && has_operation(trace, rule));
}
