/* SPDX-License-Identifier: MIT */
#include "cli/compared.h"

#include "query/database.h"
#include "query/executions.h"

static enum weft_code get_rules(struct weft_cli *cli, const struct weft_compared_options *opts,
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
        code = get_rules(cli, opts, &rules);
    if (code == WEFT_OK)
        code = weft_cli_compared_by_rules(cli, rules, opts->rule.type, comparison);
    weft_rules_free(rules);
    return code;
}

enum weft_code weft_cli_compared_by_rules(struct weft_cli *cli, const struct weft_rules *rules,
                                          const char *type, struct weft_comparison **comparison)
{
    (void)rules;
    (void)type;
    (void)comparison;
    return weft_fail(&cli->err, WEFT_E_UNSUPPORTED, WEFT_NO_OFFSET, "traces: not yet");
}
