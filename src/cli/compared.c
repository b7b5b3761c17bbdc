/* SPDX-License-Identifier: MIT
 *
 * Decides between a database and a trace with rules, opens either as a query/comparison.h, and
 * explains empty groups by the tags and types that exist.
 */
#include "cli/compared.h"

#include "base/listing.h"
#include "query/build.h"
#include "query/database/database.h"
#include "query/executions.h"
#include "render/text/compare_words.h"

#include <stdio.h>

static enum weft_code open_database(struct weft_cli *cli, const struct weft_compared_options *opts,
                                    struct weft_comparison **comparison)
{
    const struct weft_str type = weft_str_of(opts->rule.type ? opts->rule.type : "");
    return weft_comparison_open(cli->inputs[0], type, opts->map, cli->run.progress, comparison,
                                &cli->err);
}

/* The executions of the session's trace by these rules, of all types in one pass; the rules'
 * dependencies become part of the session. `*executions` is the caller's (weft_result_free
 * "executions", after a failure too). */
static enum weft_code find_executions(struct weft_cli *cli, const struct weft_rules *rules,
                                      union weft_result *executions)
{
    const union weft_request request = { .executions.opts.rules = rules };
    const enum weft_code code = weft_session_depend(cli->session, rules, NULL, &cli->err);
    *executions = (union weft_result){ 0 };
    return code == WEFT_OK
               ? weft_query_run(cli->session, "executions", &request, executions, &cli->err)
               : code;
}

/* The trace of the session by these rules; of several types the one that the options name. */
static enum weft_code compare_by_rules(struct weft_cli *cli,
                                       const struct weft_compared_options *opts,
                                       const struct weft_rules *rules,
                                       struct weft_comparison **comparison)
{
    const struct weft_build_opts build = { .path = weft_str_of(cli->inputs[0]) };
    union weft_result result;
    enum weft_code code = find_executions(cli, rules, &result);
    WEFT_THEN(code, weft_comparison_of_type(cli->session, result.executions, opts->rule.type,
                                            opts->rules, &build, comparison, &cli->err));
    weft_result_free(result.any);
    return code;
}

enum weft_code weft_cli_compared_fits(struct weft_cli *cli,
                                      const struct weft_compared_options *opts, bool is_database)
{
    const struct weft_rule_options *rule = &opts->rule;
    if (is_database && (opts->rules || rule->begin || rule->end || rule->match || rule->within ||
                        rule->thread || rule->metrics))
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "the executions of a database are found already: expected --type and "
                         "filters, found options that find them in a trace (--begin, --end, "
                         "--match, --within, --thread, --metric, --rules)");
    if (!is_database && opts->map)
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--map belongs to a database, whose executions may be of several "
                         "versions; this is a trace");
    return WEFT_OK;
}

enum weft_code weft_cli_compared(struct weft_cli *cli, const struct weft_compared_options *opts,
                                 struct weft_comparison **comparison)
{
    struct weft_rules *rules = NULL;
    *comparison = NULL;
    enum weft_code code = weft_cli_begin(cli);
    const bool is_database = code == WEFT_OK && weft_database_is(cli->inputs[0]);
    WEFT_THEN(code, weft_cli_compared_fits(cli, opts, is_database));
    if (code == WEFT_OK && is_database) {
        code = open_database(cli, opts, comparison);
    } else {
        WEFT_THEN(code, weft_cli_open_trace(cli, cli->inputs[0], &cli->session));
        WEFT_THEN(code, weft_rules_given(opts->rules, &opts->rule, &rules, &cli->err));
        WEFT_THEN(code, compare_by_rules(cli, opts, rules, comparison));
        weft_rules_free(rules);
    }
    if (code == WEFT_OK)
        weft_cli_compared_remark(cli, weft_comparison_matrix(*comparison));
    return code;
}

void weft_cli_compared_remark(struct weft_cli *cli, const struct weft_ecct_matrix *matrix)
{
    const uint64_t n_unfinished = weft_ecct_matrix_unfinished(matrix);
    if (cli->common.quiet || matrix->n_damaged + matrix->n_damaged_metrics +
                                     matrix->n_damaged_facts + matrix->n_partial + n_unfinished ==
                                 0)
        return;
    weft_cli_quiet_line(cli);
    if (matrix->n_partial > 0)
        weft_say("weft: of %s of %s not all executions are there: adding them was cut off, or goes "
                 "on; weft executions --db adds them all\n",
                 weft_human_count(matrix->n_partial).text,
                 weft_human_plural(matrix->n_sources, "run").text);
    if (matrix->n_damaged > 0)
        weft_say("weft: omitted: %s, damaged in the database\n",
                 weft_human_plural(matrix->n_damaged, "execution").text);
    if (matrix->n_damaged_metrics > 0)
        weft_say("weft: omitted: %s, damaged in the database\n",
                 weft_human_plural(matrix->n_damaged_metrics, "metric").text);
    if (matrix->n_damaged_facts > 0)
        weft_say("weft: omitted: details of the traces of %s of %s (recorded time, losses), "
                 "damaged in the database; weft executions --db adds them again\n",
                 weft_human_count(matrix->n_damaged_facts).text,
                 weft_human_plural(matrix->n_sources, "run").text);
    if (n_unfinished > 0)
        weft_say("weft: %s of %s did not end in the trace, and may last longer ('not "
                 "flag=unfinished' leaves such out)\n",
                 weft_human_count(n_unfinished).text,
                 weft_human_plural(matrix->n_items, "execution").text);
}

/* Tags of the sources, each once. */
static void list_tags(const struct weft_ecct_matrix *matrix, struct weft_listing *tags)
{
    for (size_t i = 0; i < matrix->n_sources; i++) {
        const struct weft_str tag = matrix->sources[i].tag;
        size_t same = 0;
        while (same < i && !weft_str_equal(matrix->sources[same].tag, tag))
            same++;
        if (same == i && tag.n_bytes > 0)
            weft_listing_add(tags, tag);
    }
}

enum weft_code weft_cli_compared_empty(struct weft_cli *cli,
                                       const struct weft_comparison *comparison, bool is_a,
                                       const char *filter)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    uint64_t shortest = UINT64_MAX, longest = 0;
    struct weft_listing tags = { 0 };
    if (matrix->n_items == 0)
        return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "there is no execution to choose from: all are damaged");
    list_tags(matrix, &tags);
    for (size_t i = 0; i < matrix->n_items; i++) {
        const uint64_t ns = matrix->items[i].end_ns - matrix->items[i].start_ns;
        shortest = ns < shortest ? ns : shortest;
        longest = ns > longest ? ns : longest;
    }
    return weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no execution is in group %s (%.400s); of %s, the shortest lasts %s, the "
                     "longest %s%s%s",
                     is_a ? "A" : "B", filter && *filter ? filter : "all",
                     weft_human_plural(matrix->n_items, "execution").text,
                     weft_human_ns(shortest).text, weft_human_ns(longest).text,
                     tags.n ? "; tags: " : "", tags.text);
}
