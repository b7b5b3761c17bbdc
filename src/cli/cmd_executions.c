/* SPDX-License-Identifier: MIT
 *
 * weft executions: builds rules from options or a file, lists or counts what they find, or proposes
 * rules when there are none. Half of the file explains empty answers: which name, field or
 * condition of a rule the trace does not contain.
 */
#include "cli/ask.h"
#include "query/build.h"
#include "query/choice.h"
#include "query/executions.h"
#include "query/findings.h"
#include "query/rules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

struct options {
    struct weft_rule_options rule;
    const char *rules, *database, *tag, *host, *count, *by;
    uint64_t slower_than_ns, limit;
    unsigned sort;
    bool with_paths, without_metrics;
};

#define MEMBER(member) offsetof(struct options, member)
static const char *const sorts[] = { "start", "duration", NULL };
enum { NO_SORT = 2 };

static const struct weft_option options[] = {
    { 0, "begin", "RULE",
      "start of an execution, such as enter:NAME, begin:NAME, instant:NAME, "
      "syscall_exit:accept, each with 'where FIELD=VALUE'; or a whole one: call:NAME, span:NAME, "
      "mark:NAME, syscall:NAME",
      WEFT_OPTION_TEXT, MEMBER(rule.begin), NULL },
    { 0, "end", "RULE", "its end; the same point as the start: from one to the next",
      WEFT_OPTION_TEXT, MEMBER(rule.end), NULL },
    { 0, "match", "FIELD[=FIELD]",
      "a field, such as id or fd, that start and end share (default: same thread)",
      WEFT_OPTION_TEXT, MEMBER(rule.match), NULL },
    { 0, "within", "thread|process|trace",
      "scope of the end (default: the thread, with --match the process)", WEFT_OPTION_TEXT,
      MEMBER(rule.within), NULL },
    { 0, "thread", "NAME|TID", "only executions that start on such a thread", WEFT_OPTION_TEXT,
      MEMBER(rule.thread), NULL },
    { 0, "metric", "NAME[=FIELD],...",
      "fields of start or end, or counters (counter:NAME), as metrics", WEFT_OPTION_TEXT,
      MEMBER(rule.metrics), NULL },
    { 0, "type", "NAME", "name of the type; with --rules: only this; alone: a detected one",
      WEFT_OPTION_TEXT, MEMBER(rule.type), NULL },
    { 0, "rules", "FILE", "types of executions, from a file of rules", WEFT_OPTION_FILE,
      MEMBER(rules), NULL },
    { 0, "path", NULL, "also the time in each state on the critical path of each", WEFT_OPTION_FLAG,
      MEMBER(with_paths), NULL },
    { 0, "no-metrics", NULL, "only durations: reads only what the rules need", WEFT_OPTION_FLAG,
      MEMBER(without_metrics), NULL },
    { 0, "db", "FILE", "add their trees and metrics to this database (created if missing)",
      WEFT_OPTION_DATABASE, MEMBER(database), NULL },
    { 0, "tag", "TEXT", "with --db: tag of version, configuration or run", WEFT_OPTION_TEXT,
      MEMBER(tag), NULL },
    { 0, "host", "TEXT", "with --db: the machine", WEFT_OPTION_TEXT, MEMBER(host), NULL },
    { 0, "slower-than", "TIME", "list only those of at least TIME, the longest first",
      WEFT_OPTION_DURATION, MEMBER(slower_than_ns), NULL },
    { 0, "count", "RULE",
      "instead of a list: how often this occurs in slow ones (--slower-than) and others, and "
      "how long; with --path: on their critical paths",
      WEFT_OPTION_TEXT, MEMBER(count), NULL },
    { 0, "by", "FIELD,...", "with --count: fields by which events are grouped (default: name)",
      WEFT_OPTION_TEXT, MEMBER(by), NULL },
    { 0, "sort", "start|duration", "by start, or the longest first", WEFT_OPTION_CHOICE,
      MEMBER(sort), sorts },
    { 'n', "limit", "N", "rows of the list, at most; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 20 };

struct asked {
    const struct options *opts;
    struct weft_rules *rules;
};

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct asked *asked = context;
    request->executions.opts.rules = asked->rules;
    request->executions.opts.without_metrics = asked->opts->without_metrics;
    request->executions.with_paths = asked->opts->with_paths;
    return weft_session_depend(cli->session, asked->rules, NULL, &cli->err);
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct asked *asked = context;
    const struct options *opts = asked->opts;
    const struct weft_executions_view how = {
        .slower_than_ns = opts->slower_than_ns,
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
        .longest_first = opts->sort == NO_SORT ? opts->slower_than_ns > 0 : opts->sort == 1,
    };
    weft_render_executions(view, result->executions, &how);
}

/* A name that no function has, and one that it may have been meant for, which is of the trace. */
static void tell_no_function(struct weft_cli *cli, const struct weft_rule *rule,
                             struct weft_str other)
{
    weft_cli_quiet_line(cli);
    weft_say("weft: no function has the name '%.*s'", (int)rule->name.n_bytes, rule->name.bytes);
    if (other.n_bytes)
        weft_say("; one is '%.*s'", (int)other.n_bytes, other.bytes);
    weft_say("\n");
}

/* Rules of a kind that the trace has nothing of: no system calls were recorded, mostly; and rules
 * for functions that it does not have. */
static void tell_absent(struct weft_cli *cli, const struct weft_rules *rules)
{
    const struct weft_trace *trace = weft_session_trace(cli->session);
    for (size_t i = 0; i < 2 * rules->n_types && !cli->common.quiet; i++) {
        const struct weft_execution_rule *type = &rules->types[i / 2];
        const struct weft_rule *rule = i % 2 ? &type->end : &type->begin;
        struct weft_str other;
        if (!weft_rule_has_kind(trace, rule)) {
            weft_cli_quiet_line(cli);
            weft_say("weft: no event of kind '%s' in the trace, as in '%.*s'\n",
                     weft_rule_kind_name(rule), (int)type->name.n_bytes, type->name.bytes);
        } else if (!weft_rule_has_function(trace, rule, &other)) {
            tell_no_function(cli, rule, other);
        }
    }
}

static void tell_unmet(struct weft_cli *cli, const struct weft_rule *rule, struct weft_str field)
{
    weft_cli_quiet_line(cli);
    if (field.bytes)
        weft_say("weft: no %s:%.*s has the field '%.*s'\n", weft_rule_kind_name(rule),
                 (int)rule->name.n_bytes, rule->name.bytes, (int)field.n_bytes, field.bytes);
    else
        weft_say("weft: there is no %s:%.*s\n", weft_rule_kind_name(rule), (int)rule->name.n_bytes,
                 rule->name.bytes);
}

/* All that its conditions ask for is there, but nothing with such values. */
static void tell_conditions(struct weft_cli *cli, const struct weft_rule *rule)
{
    weft_cli_quiet_line(cli);
    weft_say("weft: of %s:%.*s none meets the condition%s on ", weft_rule_kind_name(rule),
             (int)rule->name.n_bytes, rule->name.bytes, rule->n_conditions > 1 ? "s" : "");
    for (size_t i = 0; i < rule->n_conditions; i++)
        weft_say("%s'%.*s'", i ? ", " : "", (int)rule->conditions[i].field.name.n_bytes,
                 rule->conditions[i].field.name.bytes);
    weft_say("\n");
}

/* Why nothing meets a rule for what the trace does have: its name, a field that it asks for, or, as
 * nothing `is_met`, its conditions. */
static enum weft_code explain_rule(struct weft_cli *cli, const struct weft_rule *rule,
                                   const struct weft_rule_field *match, bool is_met)
{
    const struct weft_trace *trace = weft_session_trace(cli->session);
    struct weft_str other;
    bool has_point = true, has_all = true;
    if (rule->kind == WEFT_RULE_NONE || !weft_rule_has_kind(trace, rule) ||
        !weft_rule_has_function(trace, rule, &other))
        return WEFT_OK; /* which tell_absent reports */
    enum weft_code code = weft_session_has_point(cli->session, rule, NULL, &has_point, &cli->err);
    if (code == WEFT_OK && !has_point)
        tell_unmet(cli, rule, (struct weft_str){ 0 });
    for (size_t i = 0; code == WEFT_OK && has_point && i <= rule->n_conditions; i++) {
        const bool is_match = i == rule->n_conditions;
        const struct weft_rule_field *field = is_match ? match : &rule->conditions[i].field;
        bool has_field = true;
        if (field)
            code = weft_session_has_point(cli->session, rule, field, &has_field, &cli->err);
        if (code == WEFT_OK && !has_field)
            tell_unmet(cli, rule, field->name);
        has_all &= has_field;
    }
    if (code == WEFT_OK && has_point && has_all && !is_met && rule->n_conditions > 0)
        tell_conditions(cli, rule);
    return code;
}

/* Types of which nothing was found, or nothing that ended. */
static enum weft_code explain(struct weft_cli *cli, const struct weft_rules *rules,
                              const struct weft_executions_table *table)
{
    enum weft_code code = WEFT_OK;
    for (size_t t = 0; t < table->n_types && !cli->common.quiet && code == WEFT_OK; t++) {
        const struct weft_execution_rule *rule = &rules->types[t];
        const struct weft_execution_type *type = &table->types[t];
        if (type->count == 0)
            code = explain_rule(cli, &rule->begin, rule->has_match ? &rule->match_begin : NULL,
                                type->left_out > 0);
        if (code == WEFT_OK && type->count == type->unfinished)
            code = explain_rule(cli, &rule->end, rule->has_match ? &rule->match_end : NULL,
                                type->left_out + type->ends_unmatched > 0);
    }
    return code;
}

/* ---- what happens during executions ---------------------------------------------------------- */

struct asked_frequencies {
    const struct options *opts;
    struct weft_rules *executions, *counted;
};

static enum weft_code request_frequencies(struct weft_cli *cli, void *context,
                                          union weft_request *request)
{
    const struct asked_frequencies *asked = context;
    request->frequencies =
        (struct weft_frequencies_request){ .executions = asked->executions,
                                           .counted = asked->counted,
                                           .slower_than_ns = asked->opts->slower_than_ns,
                                           .of_paths = asked->opts->with_paths };
    return weft_session_depend(cli->session, asked->executions, NULL, &cli->err);
}

/* Fields that nothing of what is counted has: all their labels are "-". */
static enum weft_code explain_labels(struct weft_cli *cli, const struct weft_execution_rule *type)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < type->n_metrics && code == WEFT_OK; i++) {
        const struct weft_rule_field *field = &type->metrics[i].field;
        bool has_field;
        code = weft_session_has_point(cli->session, &type->begin, field, &has_field, &cli->err);
        if (code == WEFT_OK && !has_field)
            tell_unmet(cli, &type->begin, field->name);
    }
    return code;
}

static enum weft_code examine_frequencies(struct weft_cli *cli, void *context,
                                          const union weft_result *result)
{
    const struct asked_frequencies *asked = context;
    const struct weft_frequencies_table *table = result->frequencies;
    const uint64_t *n = table->n_executions;
    const bool has_executions = n[WEFT_FREQUENCY_SLOW] + n[WEFT_FREQUENCY_OTHERS] > 0;
    enum weft_code code = WEFT_OK;
    tell_absent(cli, asked->executions);
    tell_absent(cli, asked->counted);
    if (cli->common.quiet)
        return WEFT_OK;
    for (size_t t = 0; t < asked->executions->n_types && !has_executions && code == WEFT_OK; t++) {
        code = explain_rule(cli, &asked->executions->types[t].begin, NULL, false);
        WEFT_THEN(code, explain_rule(cli, &asked->executions->types[t].end, NULL, true));
    }
    if (code == WEFT_OK && has_executions)
        code = table->n_rows ? explain_labels(cli, asked->counted->types)
                             : explain_rule(cli, &asked->counted->types->begin, NULL, true);
    return code;
}

static void render_frequencies(const struct weft_view *view, void *context,
                               const union weft_result *result)
{
    const struct asked_frequencies *asked = context;
    weft_render_frequencies(view, result->frequencies,
                            weft_cli_limit(view, asked->opts->limit, TEXT_LIMIT));
}

/* Takes the rules of executions. */
static int count(struct weft_cli *cli, const struct options *opts, struct weft_rules *executions)
{
    struct asked_frequencies asked = { .opts = opts, .executions = executions };
    const struct weft_question question = {
        .analysis = "frequencies",
        .context = &asked,
        .request = request_frequencies,
        .examine = examine_frequencies,
        .render = render_frequencies,
    };
    const enum weft_code code =
        weft_rules_of_count(opts->count, opts->by, &asked.counted, &cli->err);
    const int status = code == WEFT_OK ? weft_cli_ask(cli, &question) : weft_cli_end(cli, code);
    weft_rules_free(asked.counted);
    weft_rules_free(executions);
    return status;
}

static struct weft_str text_or_none(const char *text)
{
    return text ? weft_str_of(text) : WEFT_STR("");
}

static bool has_values(const struct weft_executions_table *table, struct weft_str name)
{
    const double *values = weft_executions_metric(table, name);
    for (size_t i = 0; values && i < table->n_rows; i++)
        if (!isnan(values[i]))
            return true;
    return false;
}

/* Metrics that were asked for and that no execution has: a name that is wrong, mostly. */
static void tell_missing(struct weft_cli *cli, const struct asked *asked,
                         const struct weft_executions_table *table)
{
    for (size_t t = 0; t < asked->rules->n_types; t++) {
        const struct weft_execution_rule *type = &asked->rules->types[t];
        for (size_t i = 0; i < type->n_metrics && table->n_rows && !cli->common.quiet; i++) {
            const struct weft_str name = type->metrics[i].name;
            if (has_values(table, name) ||
                (asked->opts->without_metrics && !type->metrics[i].field.kind))
                continue;
            weft_cli_quiet_line(cli);
            weft_say("weft: no execution has the metric '%.*s'\n", (int)name.n_bytes, name.bytes);
        }
    }
}

/* Of CSV and JSON, which have no place for sentences. */
static enum weft_code tell_remarks(struct weft_cli *cli, const struct weft_executions_table *table)
{
    struct weft_output *out;
    if (cli->common.format == WEFT_FORMAT_TEXT || cli->common.quiet)
        return WEFT_OK;
    WEFT_TRY(weft_output_to_fd(2, "standard error", &out, &cli->err));
    weft_cli_quiet_line(cli);
    weft_output_set_form(out, WEFT_OUTPUT_TEXT);
    weft_render_executions_remarks(out, table, "weft: ");
    return weft_output_close(out, &cli->err);
}

/* Adds what was found to the database. */
static enum weft_code store(struct weft_cli *cli, void *context, const union weft_result *result)
{
    const struct asked *asked = context;
    const struct options *opts = asked->opts;
    const struct weft_build_opts build = { .path = weft_str_of(cli->inputs[0]),
                                           .host = text_or_none(opts->host),
                                           .tag = text_or_none(opts->tag) };
    struct weft_database *database = NULL;
    tell_missing(cli, asked, result->executions);
    tell_absent(cli, asked->rules);
    enum weft_code code = explain(cli, asked->rules, result->executions);
    WEFT_THEN(code, tell_remarks(cli, result->executions));
    if (code == WEFT_OK && !opts->database)
        return WEFT_OK;
    WEFT_THEN(code, weft_database_open(opts->database, WEFT_DATABASE_WRITE, &database, &cli->err));
    WEFT_THEN(code,
              weft_executions_build(cli->session, result->executions, database, &build, &cli->err));
    weft_database_close(database);
    if (code == WEFT_OK && !cli->common.quiet) {
        weft_cli_quiet_line(cli);
        weft_say(result->executions->n_rows
                     ? "weft: %zu executions in %s\n"
                     : "weft: %zu executions: nothing was added to %s, and nothing replaced\n",
                 result->executions->n_rows, opts->database);
    }
    return code;
}

static enum weft_code get_rules(struct weft_cli *cli, const struct options *opts,
                                struct weft_rules **rules)
{
    if (!opts->rules)
        return weft_rules_of_options(&opts->rule, rules, &cli->err);
    enum weft_code code = weft_rules_read(opts->rules, rules, &cli->err);
    if (code == WEFT_OK && (*rules)->n_types == 0)
        code =
            weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                      "expected a type of executions at least, found none: 'execution NAME begin "
                      "RULE end RULE', or 'execution NAME is RULE'");
    else if (code == WEFT_OK && opts->rule.type)
        code = weft_rules_choose(*rules, opts->rule.type, &cli->err);
    return code == WEFT_OK ? code : weft_in_file(&cli->err, opts->rules);
}

/* Without rules, into a database: the executions that `weft diagnose` looks at. */
static int store_proposed(struct weft_cli *cli, const struct options *opts)
{
    const struct weft_build_opts build = { .path = weft_str_of(cli->inputs[0]),
                                           .host = text_or_none(opts->host),
                                           .tag = text_or_none(opts->tag) };
    size_t n = 0;
    enum weft_code code = weft_cli_open(cli);
    WEFT_THEN(code, weft_findings_store(cli->session, &build, opts->database, &n, &cli->err));
    if (code == WEFT_OK && !cli->common.quiet) {
        weft_cli_quiet_line(cli);
        weft_say("weft: %zu executions in %s\n", n, opts->database);
    }
    return weft_cli_end(cli, code);
}

/* Without rules: which ones the trace suggests. */
static int propose(struct weft_cli *cli, const struct options *opts)
{
    struct weft_execution_proposals *proposals = NULL;
    struct weft_view view;
    if (opts->rule.end || opts->rule.match || opts->rule.within || opts->rule.thread ||
        opts->rule.metrics || opts->rule.type || opts->slower_than_ns || opts->count ||
        ((opts->tag || opts->host) && !opts->database) || opts->with_paths ||
        opts->without_metrics || opts->sort != NO_SORT)
        return weft_cli_usage(cli, "expected --begin RULE or --rules FILE; "
                                   "'weft executions TRACE' lists detected types");
    if (opts->database)
        return store_proposed(cli, opts);
    enum weft_code code = weft_cli_open(cli);
    WEFT_THEN(code, weft_execution_proposals(cli->session, &proposals, &cli->err));
    WEFT_THEN(code, weft_cli_view(cli, &view));
    if (code == WEFT_OK) {
        weft_render_proposals(&view, proposals->items, proposals->n);
        code = weft_output_close(view.out, &cli->err);
    }
    weft_execution_proposals_free(proposals);
    return weft_cli_end(cli, code);
}

/* The rules of a detected type, by its name: they live as long as `proposals`. */
static enum weft_code find_type(struct weft_cli *cli, struct weft_rule_options *rule,
                                struct weft_execution_proposals **proposals)
{
    enum weft_code code = weft_cli_open(cli);
    WEFT_THEN(code, weft_execution_proposals(cli->session, proposals, &cli->err));
    const char *type = rule->type, *thread = rule->thread, *metrics = rule->metrics;
    for (size_t i = 0; code == WEFT_OK && i < (*proposals)->n && !rule->begin; i++)
        if (weft_str_equal((*proposals)->items[i].name, weft_str_of(type)))
            code =
                weft_proposal_rule(&(*proposals)->items[i], (*proposals)->arena, rule, &cli->err);
    rule->thread = thread;
    rule->metrics = metrics;
    return code != WEFT_OK || rule->begin ? code
                                          : weft_proposals_no_type(*proposals, type, &cli->err);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT, .sort = NO_SORT };
    struct weft_execution_proposals *proposals = NULL;
    struct asked asked = { .opts = &opts };
    const struct weft_question question = {
        .analysis = "executions",
        .context = &asked,
        .request = request,
        .examine = store,
        .render = render,
    };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const bool is_of_type = !opts.rules && !opts.rule.begin && opts.rule.type && !opts.rule.end &&
                            !opts.rule.match && !opts.rule.within;
    if (!opts.rules && !opts.rule.begin && !is_of_type)
        return propose(cli, &opts);
    if ((opts.tag || opts.host) && !opts.database)
        return weft_cli_usage(cli, "--tag and --host belong to --db FILE");
    if (opts.rules && (opts.rule.begin || opts.rule.end || opts.rule.match || opts.rule.within ||
                       opts.rule.thread || opts.rule.metrics))
        return weft_cli_usage(cli, "--rules, and --begin, --end, --match, --within, --thread, "
                                   "--metric exclude each other");
    if (opts.by && !opts.count)
        return weft_cli_usage(cli, "--by belongs to --count RULE");
    if (opts.count && opts.database)
        return weft_cli_usage(cli, "--count and --db exclude each other");
    if (opts.count && (opts.sort != NO_SORT || opts.rule.metrics))
        return weft_cli_usage(cli,
                              "--sort and --metric belong to the list, which --count replaces");
    enum weft_code code = is_of_type ? find_type(cli, &opts.rule, &proposals) : WEFT_OK;
    WEFT_THEN(code, get_rules(cli, &opts, &asked.rules));
    weft_execution_proposals_free(proposals);
    if (code == WEFT_OK && opts.count)
        return count(cli, &opts, asked.rules);
    const int status = code == WEFT_OK ? weft_cli_ask(cli, &question) : weft_cli_end(cli, code);
    weft_rules_free(asked.rules);
    return status;
}

const struct weft_command weft_cmd_executions = {
    .name = "executions",
    .summary = "find repeated operations (requests, iterations) and the slow ones",
    .arguments = "TRACE",
    .about =
        "An execution is a request, an iteration or another repeated operation. Rules name its "
        "start\n"
        "and end: calls, spans, marks of the program, tracepoints, system calls. Prints number,\n"
        "durations and metrics; with --slower-than the slow ones. Without rules, lists the types\n"
        "that are detected in the trace.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
