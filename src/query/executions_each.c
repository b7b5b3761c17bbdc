/* SPDX-License-Identifier: MIT
 *
 * Executions of several types of calls, found in one pass over the calls of the trace.
 */
#include "query/executions.h"
#include "query/session.h"
#include "schema/result.h"

#include <stdlib.h>

/* Whole calls, of which nothing is asked but their times. */
static bool is_simple(const struct weft_rules *rules)
{
    return rules && rules->n_types == 1 && rules->n_dependencies == 0 &&
           rules->types[0].begin.kind == WEFT_RULE_CALL && rules->types[0].n_metrics == 0;
}

static enum weft_code find(struct weft_session *session, struct weft_rules *rules,
                           const size_t *places, struct weft_executions_table **found,
                           struct weft_executions_table **tables, struct weft_err *err)
{
    const struct weft_executions_opts opts = { .rules = rules };
    const struct weft_thread_filter filter = weft_session_filter(session);
    const enum weft_code code = weft_executions_run_each(
        weft_session_trace(session), &filter, &opts, weft_session_run(session), found, err);
    for (size_t i = 0; i < rules->n_types; i++)
        if (code == WEFT_OK)
            tables[places[i]] = found[i];
        else
            weft_result_free(found[i]);
    if (code != WEFT_E_LIMIT)
        return code;
    if (err)
        *err = (struct weft_err){ 0 };
    return WEFT_OK;
}

enum weft_code weft_session_executions_each(struct weft_session *session,
                                            struct weft_rules *const *rules, size_t n,
                                            struct weft_executions_table **tables,
                                            struct weft_err *err)
{
    struct weft_rules all = { .types = calloc(n + 1, sizeof *all.types) };
    struct weft_executions_table **found = calloc(n + 1, sizeof *found);
    size_t *places = calloc(n + 1, sizeof *places);
    enum weft_code code =
        all.types && found && places ? WEFT_OK : weft_no_memory(err, "executions");
    for (size_t i = 0; i < n; i++) {
        tables[i] = NULL;
        if (code != WEFT_OK || !is_simple(rules[i]))
            continue;
        places[all.n_types] = i;
        all.types[all.n_types++] = rules[i]->types[0];
    }
    if (code == WEFT_OK && all.n_types > 1)
        code = find(session, &all, places, found, tables, err);
    free(all.types);
    free(found);
    free(places);
    return code;
}
