/* SPDX-License-Identifier: MIT */
#include "cli/compared.h"

#include "query/build.h"
#include "query/database.h"
#include "query/executions.h"

enum weft_code weft_cli_compared_rules(struct weft_cli *cli,
                                       const struct weft_compared_options *opts,
                                       struct weft_rules **rules)
{
    if (opts->rules && opts->rule.begin)
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--rules and --begin exclude each other");
    if (opts->rules)
        return weft_rules_read(opts->rules, rules, &cli->err);
    if (opts->rule.begin)
        return weft_rules_of_options(&opts->rule, rules, &cli->err);
    return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "a trace has no executions by itself: expected --begin RULE or --rules FILE, "
                     "or a database of executions ('weft executions --help')");
}

static enum weft_code open_database(struct weft_cli *cli, const struct weft_compared_options *opts,
                                    struct weft_comparison **comparison)
{
    const struct weft_str type = weft_str_of(opts->rule.type ? opts->rule.type : "");
    return weft_comparison_open(cli->inputs[0], type, opts->map, comparison, &cli->err);
}

enum weft_code weft_cli_compared(struct weft_cli *cli, const struct weft_compared_options *opts,
                                 struct weft_comparison **comparison)
{
    struct weft_rules *rules = NULL;
    *comparison = NULL;
    enum weft_code code = weft_cli_begin(cli);
    if (code == WEFT_OK && weft_database_is(cli->inputs[0]))
        return open_database(cli, opts, comparison);
    if (code == WEFT_OK)
        code = weft_cli_open_trace(cli, cli->inputs[0], &cli->session);
    if (code == WEFT_OK)
        code = weft_cli_compared_rules(cli, opts, &rules);
    if (code == WEFT_OK)
        code = weft_cli_compared_by_rules(cli, rules, opts->rule.type, comparison);
    weft_rules_free(rules);
    return code;
}

/* The place of the type `name`, or of the only one (NULL) that has executions. */
static enum weft_code choose_type(struct weft_cli *cli, const struct weft_executions_table *table,
                                  const char *name, uint32_t *type)
{
    size_t n_found = 0;
    for (uint32_t i = 0; i < table->n_types; i++) {
        const bool is_wanted = !name || weft_str_equal(table->types[i].name, weft_str_of(name));
        if (!is_wanted || table->types[i].count == 0)
            continue;
        *type = i;
        n_found++;
    }
    if (n_found == 1)
        return WEFT_OK;
    if (n_found > 1)
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "executions of %zu types: expected --type NAME, such as '%.*s'", n_found,
                         (int)table->types[*type].name.n_bytes, table->types[*type].name.bytes);
    return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "the trace has no execution by these rules%s%s", name ? " of type " : "",
                     name ? name : "");
}

enum weft_code weft_cli_compared_by_rules(struct weft_cli *cli, const struct weft_rules *rules,
                                          const char *type, struct weft_comparison **comparison)
{
    union weft_request request = { .executions.opts.rules = rules };
    union weft_result result = { 0 };
    const struct weft_build_opts opts = { .path = weft_str_of(cli->inputs[0]) };
    struct weft_ecct_matrix *matrix = NULL;
    uint32_t place = 0;
    *comparison = NULL;
    enum weft_code code = weft_query_run(cli->session, "executions", &request, &result, &cli->err);
    if (code == WEFT_OK)
        code = choose_type(cli, result.executions, type, &place);
    if (code == WEFT_OK)
        code = weft_executions_matrix(cli->session, result.executions, place, &opts, &matrix,
                                      &cli->err);
    weft_query_discard("executions", &result);
    return code == WEFT_OK ? weft_comparison_of(matrix, comparison, &cli->err) : code;
}
