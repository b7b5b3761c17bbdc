/* SPDX-License-Identifier: MIT
 *
 * Why executions are slow: the JSON of `weft diagnose` (docs/http-api.md).
 */
#include "query/findings.h"

#include "render/text/diagnose.h"
#include "render/text/render.h"
#include "serve/state.h"

static const char *given(const struct weft_query_text *text)
{
    return text->n > 0 ? text->bytes : NULL;
}

/* Executions of a database are found already; those of a trace are what rules or the trace itself
 * name. */
static enum weft_code check(const struct weft_ask *ask, struct weft_err *err)
{
    const struct weft_query *query = ask->query;
    if (ask->database && query->begin.n + query->end.n + query->match.n + query->within.n > 0)
        return weft_fail(
            err, WEFT_E_ARG, WEFT_NO_OFFSET,
            "begin, end, match and within are for traces: a database has its executions");
    if (!query->begin.n && query->end.n + query->match.n + query->within.n > 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "begin is missing: the start of an execution, such as call:NAME");
    return WEFT_OK;
}

/* Rules that cannot be read are an error of the client, unlike a file that is damaged. */
static enum weft_code check_rules(const struct weft_rule_options *rule, struct weft_err *err)
{
    struct weft_rules *rules = NULL;
    if (!rule->begin)
        return WEFT_OK;
    enum weft_code code = weft_rules_of_options(rule, &rules, err);
    if (code == WEFT_E_MALFORMED)
        code = err->code = WEFT_E_ARG;
    weft_rules_free(rules);
    return code;
}

WEFT_ENDPOINT(diagnose)
{
    const struct weft_query *query = ask->query;
    const struct weft_findings_request request = {
        .rule = { .type = given(&query->type),
                  .begin = given(&query->begin),
                  .end = given(&query->end),
                  .match = given(&query->match),
                  .within = given(&query->within) },
        .a = given(&query->a),
        .b = given(&query->b),
        .path = ask->database ? ask->database->path : ask->served->path,
        .name = ask->database ? ask->database->name : ask->served->name,
        .progress = ask->run->progress
    };
    struct weft_findings *findings = NULL;
    enum weft_code code = check(ask, err);
    WEFT_THEN(code, check_rules(&request.rule, err));
    WEFT_THEN(code, ask->database ? weft_findings_of_database(&request, &findings, err)
                                  : weft_findings_of_trace(ask->session, &request, &findings, err));
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        const struct weft_findings_view how = { .with_rules = query->is_explained == 1 };
        weft_render_findings(&view, findings->table, &how);
    }
    weft_result_free(findings);
    return code;
}
