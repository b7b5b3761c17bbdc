/* SPDX-License-Identifier: MIT
 *
 * Finds or makes the comparison of a request, by a key of everything that chooses its executions.
 * Wrong rules and types are errors of the client (WEFT_E_ARG), not of the server.
 */
#include "serve/comparisons.h"

#include "query/build.h"
#include "query/rules.h"
#include "serve/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the question is of, as one text; control characters, which texts do not hold, separate. */
static char *key_of(const struct weft_ask *ask)
{
    const struct weft_query *query = ask->query;
    char *key = NULL;
    int n = asprintf(&key, "%s\n%s\n%s\n%s\n%s\n%s",
                     ask->database ? ask->database->path : ask->served->path, query->type.bytes,
                     query->begin.bytes, query->end.bytes, query->match.bytes, query->within.bytes);
    return n < 0 ? NULL : key;
}

static struct weft_comparison_slot *find_slot(struct weft_comparisons *comparisons, const char *key)
{
    for (size_t i = 0; i < WEFT_COMPARISONS; i++)
        if (comparisons->slots[i].key && strcmp(comparisons->slots[i].key, key) == 0)
            return &comparisons->slots[i];
    return NULL;
}

static void empty_slot(struct weft_comparison_slot *slot)
{
    weft_comparison_close(slot->comparison);
    free(slot->key);
    *slot = (struct weft_comparison_slot){ 0 };
}

/* A free slot, or that of the one not used for longest. */
static struct weft_comparison_slot *make_room(struct weft_comparisons *comparisons)
{
    struct weft_comparison_slot *oldest = &comparisons->slots[0];
    for (size_t i = 1; i < WEFT_COMPARISONS; i++)
        if (comparisons->slots[i].used < oldest->used)
            oldest = &comparisons->slots[i];
    empty_slot(oldest);
    return oldest;
}

static const char *given(const struct weft_query_text *text)
{
    return text->n > 0 ? text->bytes : NULL;
}

static enum weft_code check(const struct weft_ask *ask, struct weft_err *err)
{
    const struct weft_query *query = ask->query;
    const bool has_rules = query->begin.n + query->end.n + query->match.n + query->within.n > 0;
    if (ask->database && has_rules)
        return weft_fail(
            err, WEFT_E_ARG, WEFT_NO_OFFSET,
            "begin, end, match and within are for traces: a database has its executions");
    if (ask->served && !query->begin.n)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "begin is missing: the start of an execution, such as call:NAME");
    return WEFT_OK;
}

/* The matrix of the only type that the rules have. */
static enum weft_code of_rules(const struct weft_ask *ask, const struct weft_rules *rules,
                               struct weft_comparison **comparison, struct weft_err *err)
{
    const union weft_request request = { .executions = { .opts = { .rules = rules } } };
    struct weft_source_facts facts;
    const struct weft_build_opts opts = { .path = weft_str_of(ask->served->name), .facts = &facts };
    union weft_result result = { 0 };
    struct weft_ecct_matrix *matrix = NULL;
    enum weft_code code = weft_session_facts(ask->session, &facts, err);
    WEFT_THEN(code, weft_query_run(ask->session, "executions", &request, &result, err));
    WEFT_THEN(code,
              weft_executions_matrix(ask->session, result.executions, 0, &opts, &matrix, err));
    weft_result_free(result.any);
    return code == WEFT_OK ? weft_comparison_of(matrix, comparison, err) : code;
}

/* Executions of a trace, by rules as `weft executions` has them. */
static enum weft_code of_trace(const struct weft_ask *ask, struct weft_comparison **comparison,
                               struct weft_err *err)
{
    const struct weft_query *query = ask->query;
    const struct weft_rule_options options = { .type = given(&query->type),
                                               .begin = given(&query->begin),
                                               .end = given(&query->end),
                                               .match = given(&query->match),
                                               .within = given(&query->within) };
    struct weft_rules *rules = NULL;
    enum weft_code code = weft_rules_of_options(&options, &rules, err);
    if (code == WEFT_E_MALFORMED)
        code = err->code = WEFT_E_ARG; /* the client's */
    WEFT_THEN(code, of_rules(ask, rules, comparison, err));
    weft_rules_free(rules);
    return code;
}

enum weft_code weft_comparisons_get(const struct weft_ask *ask, struct weft_comparison **comparison,
                                    struct weft_err *err)
{
    struct weft_comparisons *comparisons = &ask->state->comparisons;
    const struct weft_query_text *type = &ask->query->type;
    enum weft_code code = check(ask, err);
    if (code != WEFT_OK)
        return code;
    char *key = key_of(ask);
    struct weft_comparison_slot *slot = key ? find_slot(comparisons, key) : NULL;
    if (!key)
        return weft_no_memory(err, "executions");
    if (!slot) {
        slot = make_room(comparisons);
        code = ask->database ? weft_comparison_open(ask->database->path,
                                                    (struct weft_str){ type->bytes, type->n }, NULL,
                                                    ask->run->progress, &slot->comparison, err)
                             : of_trace(ask, &slot->comparison, err);
        if (code != WEFT_OK) {
            free(key);
            return code;
        }
        slot->key = key;
    } else {
        free(key);
    }
    weft_comparison_watch(slot->comparison, ask->run->progress);
    slot->used = ++comparisons->clock;
    *comparison = slot->comparison;
    return WEFT_OK;
}

void weft_comparisons_fini(struct weft_comparisons *comparisons)
{
    for (size_t i = 0; i < WEFT_COMPARISONS; i++)
        empty_slot(&comparisons->slots[i]);
}
