/* SPDX-License-Identifier: MIT
 *
 * What of a trace rules can be met by.
 */
#include "model/operations.h"
#include "query/executions.h"
#include "query/session.h"

#include <ctype.h>

/* Recordings tell system calls as operations. */
static bool has_operations(const struct weft_trace *trace)
{
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++)
        if (weft_operation_is(trace, id, WEFT_STR("*")))
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
    return meta->events_of_kind[rule->event] > 0 || (is_of_system && has_operations(trace));
}

/* Without * at both ends. */
static struct weft_str bare(struct weft_str pattern)
{
    while (pattern.n_bytes && pattern.bytes[0] == '*') {
        pattern.bytes++;
        pattern.n_bytes--;
    }
    while (pattern.n_bytes && pattern.bytes[pattern.n_bytes - 1] == '*')
        pattern.n_bytes--;
    return pattern;
}

static bool holds_in_any_case(struct weft_str text, struct weft_str part)
{
    for (size_t at = 0; part.n_bytes && at + part.n_bytes <= text.n_bytes; at++) {
        size_t n = 0;
        while (n < part.n_bytes &&
               tolower((unsigned char)text.bytes[at + n]) == tolower((unsigned char)part.bytes[n]))
            n++;
        if (n == part.n_bytes)
            return true;
    }
    return false;
}

bool weft_rule_has_function(const struct weft_trace *trace, const struct weft_rule *rule,
                            struct weft_str *other)
{
    const struct weft_str part = bare(rule->name);
    *other = (struct weft_str){ 0 };
    if (rule->kind != WEFT_RULE_CALL && rule->kind != WEFT_RULE_ENTER &&
        rule->kind != WEFT_RULE_EXIT)
        return true;
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++) {
        const struct weft_str name = weft_trace_function(trace, id)->name;
        if (weft_rule_text_matches(rule->name, name))
            return true;
        if (holds_in_any_case(name, part) && (!other->bytes || name.n_bytes < other->n_bytes))
            *other = name;
    }
    return false;
}

/* ---- points ---------------------------------------------------------------------------------- */

struct looking {
    const struct weft_strtab *labels;
    bool for_field, has_point;
};

/* One is enough: what is not there has the label "-". */
static enum weft_code see_point(void *context, const struct weft_execution_row *row,
                                struct weft_err *err)
{
    struct looking *looking = context;
    const struct weft_str label = weft_strtab_get(looking->labels, (uint32_t)row->key);
    (void)err;
    looking->has_point = !looking->for_field || !weft_str_equal(label, WEFT_STR("-"));
    return looking->has_point ? WEFT_E_CANCELLED : WEFT_OK;
}

enum weft_code weft_session_has_point(struct weft_session *session, const struct weft_rule *rule,
                                      const struct weft_rule_field *field, bool *has_point,
                                      struct weft_err *err)
{
    struct weft_rule_metric metric = { .name = WEFT_STR("field") };
    struct weft_execution_rule type = {
        .name = rule->name, .begin = *rule, .metrics = &metric, .n_metrics = field != NULL
    };
    const struct weft_rules rules = { .types = &type, .n_types = 1 };
    struct weft_executions_opts opts = { .rules = &rules, .without_metrics = true };
    struct weft_strtab *labels = opts.labels = weft_strtab_new();
    struct looking looking = { .labels = labels, .for_field = field != NULL };
    type.begin.n_conditions = 0;
    if (field)
        metric.field = *field;
    enum weft_code code =
        labels ? weft_executions_stream(weft_session_trace(session), NULL, &opts,
                                        weft_session_run(session), see_point, &looking, err)
               : weft_no_memory(err, "rules");
    *has_point = looking.has_point;
    weft_strtab_free(labels);
    return code == WEFT_E_CANCELLED && looking.has_point ? WEFT_OK : code;
}
