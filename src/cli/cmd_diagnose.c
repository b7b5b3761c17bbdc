/* SPDX-License-Identifier: MIT */
#include "analysis/compare/causes_tree.h"
#include "analysis/compare/compare.h"
#include "analysis/compare/names.h"
#include "base/vec.h"
#include "cli/ask.h"
#include "cli/compared.h"
#include "model/graph/trace.h"
#include "query/comparison_cut.h"
#include "query/database/database.h"
#include "query/executions.h"
#include "query/work.h"
#include "render/text/compare_words.h"
#include "render/text/diagnose.h"
#include "render/text/diagnose_causes.h"
#include "render/text/diagnose_idle.h"
#include "render/text/notes.h"
#include "schema/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct weft_compared_options compared;
    const char *a, *b;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 0, "a", "FILTER", "compare these executions, such as 'tag=fixed' (default: the usual ones)",
      WEFT_OPTION_TEXT, MEMBER(a), NULL },
    { 0, "b", "FILTER", "with these (default: the slow ones)", WEFT_OPTION_TEXT, MEMBER(b), NULL },
    WEFT_OPTIONS_COMPARED(MEMBER(compared)),
};

enum { TYPES_MAX = 16 };

/* A type that was looked at: what the diagnosis borrows from. */
struct looked {
    struct weft_comparison *comparison;
    struct weft_compare_cut cut;
    struct weft_diagnosis diagnosis;
};

struct doctor {
    struct weft_cli *cli;
    const struct options *opts;
    struct weft_arena *arena;
    struct looked looked[TYPES_MAX];
    size_t n;
    struct weft_rhythms rhythms;
    struct weft_crowd crowd;
    struct weft_str *wholes; /* functions that repeat */
    size_t n_wholes;
    uint64_t trace_ns;        /* that was recorded; of a database 0 */
    double lost;              /* share of the trace's records that are lost; of a database 0 */
    struct weft_err left_out; /* why the last type that was left out is */
    bool is_proposed;         /* the type is a function that repeats, nobody asked for it */
    bool is_part;             /* and most of its calls are parts of others */
    bool is_after_sleep;      /* it is a thread's turn, from the end of its own sleep */
};

static enum weft_code no_memory(struct doctor *doctor)
{
    return weft_fail(&doctor->cli->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for a diagnosis");
}

/* The groups that were given. */
static enum weft_code compare_given(struct doctor *doctor, struct looked *looked)
{
    struct weft_diagnosis *diagnosis = &looked->diagnosis;
    const struct weft_comparison_opts how = { .a = weft_str_of(diagnosis->a),
                                              .b = weft_str_of(diagnosis->b),
                                              .n_bootstrap = WEFT_COMPARE_BOOTSTRAP,
                                              .with_causes = true,
                                              .n_looks = 1 };
    const enum weft_code code =
        weft_comparison_run(looked->comparison, &how, &looked->cut.table, &doctor->cli->err);
    diagnosis->table = looked->cut.table;
    return code;
}

/* The slow ones and the others, at the cut that tells most. */
static enum weft_code compare_slow(struct doctor *doctor, struct looked *looked)
{
    struct weft_diagnosis *diagnosis = &looked->diagnosis;
    const struct weft_cut_judge judge = { weft_diagnosis_is_better, diagnosis };
    const enum weft_code code =
        weft_comparison_cut_find(looked->comparison, &judge, &looked->cut, &doctor->cli->err);
    diagnosis->tail = looked->cut.tail;
    diagnosis->table = looked->cut.table;
    diagnosis->a = looked->cut.a;
    diagnosis->b = looked->cut.b;
    return code;
}

static enum weft_code check_groups(struct doctor *doctor, const struct looked *looked)
{
    const struct weft_compare_table *table = looked->cut.table;
    if (table->n_a > 0 && table->n_b > 0)
        return WEFT_OK;
    return weft_fail(&doctor->cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no execution of %.*s is in group %s", (int)looked->diagnosis.type.n_bytes,
                     looked->diagnosis.type.bytes, table->n_a == 0 ? "A" : "B");
}

/* Of the records that the trace would have; a call has two. 0 without memory. */
static double lost_share(const struct doctor *doctor)
{
    const struct weft_trace *trace = weft_session_trace(doctor->cli->session);
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    const double kept = (double)meta->events + 2 * (double)meta->calls;
    struct weft_note_sums sums;
    struct weft_err err = { 0 };
    double lost = 0;
    if (weft_note_sums(trace, doctor->arena, &sums, &err) != WEFT_OK)
        return 0;
    for (size_t i = 0; i < sums.n_rows; i++)
        if (sums.rows[i].kind == WEFT_NOTE_LOST_RECORDS)
            lost += (double)sums.rows[i].count;
    return lost > 0 ? lost / (lost + kept) : 0;
}

/* Does anything tell who had the processors? */
static bool has_switches(const struct doctor *doctor, const struct weft_ecct_matrix *matrix)
{
    const struct weft_session *session = doctor->cli->session;
    return session ? weft_trace_has_switches(weft_session_trace(session))
                   : weft_matrix_has_switches(matrix);
}

/* Takes the comparison of a type; `command` names its executions. */
static enum weft_code look(struct doctor *doctor, struct weft_comparison *comparison,
                           struct weft_str type, const char *command)
{
    struct looked *looked = &doctor->looked[doctor->n++];
    struct weft_diagnosis *diagnosis = &looked->diagnosis;
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    *looked = (struct looked){ .comparison = comparison };
    *diagnosis = (struct weft_diagnosis){ .type = weft_arena_copy(doctor->arena, type),
                                          .matrix = matrix,
                                          .all_ns = weft_ecct_matrix_time_ns(matrix),
                                          .is_versus = doctor->opts->a || doctor->opts->b,
                                          .is_proposed = doctor->is_proposed,
                                          .is_part = doctor->is_part,
                                          .is_after_sleep = doctor->is_after_sleep,
                                          .is_without_switches = !has_switches(doctor, matrix),
                                          .trace_ns = doctor->trace_ns,
                                          .lost = doctor->lost,
                                          .crowd = doctor->crowd,
                                          .wholes = doctor->wholes,
                                          .n_wholes = doctor->n_wholes,
                                          .a = doctor->opts->a ? doctor->opts->a : "",
                                          .b = doctor->opts->b ? doctor->opts->b : "",
                                          .command = command };
    if (!command)
        return no_memory(doctor);
    if (!doctor->is_proposed) /* the last turn of a thread never ends */
        weft_cli_compared_remark(doctor->cli, comparison);
    if (!diagnosis->is_versus)
        return compare_slow(doctor, looked);
    const enum weft_code code = compare_given(doctor, looked);
    return code == WEFT_OK ? check_groups(doctor, looked) : code;
}

static const char *command_of_rule(struct doctor *doctor, const struct weft_rule_options *rule,
                                   const char *rules)
{
    return weft_cli_compared_command(doctor->cli, "compare", rule, rules, doctor->arena);
}

/* Types that there is no room for are told, not left out without a word. */
static void tell_more_types(struct doctor *doctor, size_t n_more)
{
    if (n_more == 0 || doctor->cli->common.quiet)
        return;
    weft_cli_quiet_line(doctor->cli);
    weft_say("weft: %s more than %d types of executions %s not looked at: --type NAME\n",
             weft_human_count(n_more).text, TYPES_MAX, n_more == 1 ? "is" : "are");
}

/* ---- a database ------------------------------------------------------------------------------ */

static enum weft_code look_in_database(struct doctor *doctor, struct weft_str type)
{
    struct weft_cli *cli = doctor->cli;
    struct weft_comparison *comparison;
    const struct weft_rule_options rule = { .type = type.bytes };
    const enum weft_code code = weft_comparison_open(
        cli->inputs[0], type, doctor->opts->compared.map, &comparison, &cli->err);
    return code == WEFT_OK ? look(doctor, comparison, type, command_of_rule(doctor, &rule, NULL))
                           : code;
}

static enum weft_code look_at_database(struct doctor *doctor)
{
    struct weft_cli *cli = doctor->cli;
    struct weft_database *database = NULL;
    struct weft_execution_type *types = NULL;
    size_t n_types = 0;
    if (doctor->opts->compared.rule.type)
        return look_in_database(doctor, weft_str_of(doctor->opts->compared.rule.type));
    enum weft_code code =
        weft_database_open(cli->inputs[0], WEFT_DATABASE_READ, &database, &cli->err);
    if (code == WEFT_OK)
        code = weft_database_types(database, doctor->arena, &types, &n_types, &cli->err);
    weft_database_close(database);
    if (code == WEFT_OK && n_types == 0) /* the same words as those of compare */
        return look_in_database(doctor, WEFT_STR(""));
    for (size_t i = 0; code == WEFT_OK && i < n_types && i < TYPES_MAX; i++) {
        const struct weft_str type = weft_arena_copy(doctor->arena, types[i].name);
        code = type.bytes ? look_in_database(doctor, type) : no_memory(doctor);
    }
    if (code == WEFT_OK)
        tell_more_types(doctor, n_types > TYPES_MAX ? n_types - TYPES_MAX : 0);
    return code;
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* Those of a type; `rule` says how to ask for them again. */
static enum weft_code look_at_type(struct doctor *doctor,
                                   const struct weft_executions_table *executions,
                                   struct weft_str type, const struct weft_rule_options *rule)
{
    struct weft_comparison *comparison;
    const char *rules = doctor->opts->compared.rules;
    const struct weft_str name = weft_arena_copy(doctor->arena, type);
    if (!name.bytes)
        return no_memory(doctor);
    const enum weft_code code =
        weft_cli_compared_type(doctor->cli, executions, name.bytes, rules, &comparison);
    return code == WEFT_OK ? look(doctor, comparison, name, command_of_rule(doctor, rule, rules))
                           : code;
}

/* Each type of which the trace has any. */
static enum weft_code look_at_types(struct doctor *doctor,
                                    const struct weft_executions_table *executions)
{
    struct weft_rule_options rule = doctor->opts->compared.rule;
    enum weft_code code = WEFT_OK;
    size_t n_more = 0;
    for (uint32_t i = 0; code == WEFT_OK && i < executions->n_types; i++) {
        const struct weft_str type = executions->types[i].name;
        if (executions->types[i].count == 0)
            continue;
        if (doctor->n == TYPES_MAX) {
            n_more++;
            continue;
        }
        rule.type = weft_arena_copy(doctor->arena, type).bytes;
        code = look_at_type(doctor, executions, type, &rule);
    }
    if (code == WEFT_OK && doctor->n == 0)
        code = weft_fail(&doctor->cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "the trace has no execution by these rules");
    if (code == WEFT_OK)
        tell_more_types(doctor, n_more);
    return code;
}

/* However many types they have, the trace is read once for all. */
static enum weft_code look_by_rules(struct doctor *doctor, const struct weft_rules *rules,
                                    const struct weft_rule_options *rule)
{
    union weft_result result;
    enum weft_code code = weft_cli_compared_executions(doctor->cli, rules, &result);
    if (code == WEFT_OK && (rule->type || rules->n_types == 1))
        code = look_at_type(doctor, result.executions,
                            rule->type ? weft_str_of(rule->type) : rules->types[0].name, rule);
    else if (code == WEFT_OK)
        code = look_at_types(doctor, result.executions);
    weft_result_free(result.any);
    return code;
}

static const char *text_or_null(struct doctor *doctor, struct weft_str text)
{
    return text.n_bytes > 0 ? weft_arena_copy(doctor->arena, text).bytes : NULL;
}

/* What the trace suggests: executions of other programs than threads that wait for them too. */
static enum weft_code look_at_proposal(struct doctor *doctor,
                                       const struct weft_execution_proposal *proposal)
{
    struct weft_rules *rules = NULL;
    const struct weft_rule_options rule = { .type = text_or_null(doctor, proposal->name),
                                            .begin = text_or_null(doctor, proposal->begin),
                                            .end = text_or_null(doctor, proposal->end),
                                            .match = text_or_null(doctor, proposal->match),
                                            .within = text_or_null(doctor, proposal->within) };
    enum weft_code code = weft_rules_of_options(&rule, &rules, &doctor->cli->err);
    if (code == WEFT_OK)
        code = look_by_rules(doctor, rules, &rule);
    weft_rules_free(rules);
    return code;
}

enum { PROPOSAL_EXECUTIONS = 10, PROPOSALS_NAMED = 12 };

static bool begins_with(struct weft_str text, const char *start)
{
    return text.n_bytes > strlen(start) && memcmp(text.bytes, start, strlen(start)) == 0;
}

static bool is_call(struct weft_str rule)
{
    return begins_with(rule, "call:");
}

/* Is it a function that repeats, or a thread's turn, rather than what a program said of itself? */
static bool is_guess(struct weft_str rule)
{
    return is_call(rule) || begins_with(rule, "exit:");
}

/* Does a turn begin when the thread has slept of itself? */
static bool is_after_sleep(struct weft_str rule)
{
    static const char *const starts[] = { "exit:nanosleep", "exit:clock_nanosleep", "exit:usleep",
                                          "exit:sleep" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (begins_with(rule, starts[i]))
            return true;
    return false;
}

/* A connection may last as long as its client does, and carry many requests: what the threads of a
 * server do from wait to wait is looked at, too. */
static bool is_beside(const struct weft_execution_proposal *proposal,
                      const struct weft_execution_proposal *best)
{
    return begins_with(best->begin, "syscall_exit:accept") && begins_with(proposal->begin, "exit:");
}

static bool is_wanted(const struct doctor *doctor, const struct weft_execution_proposal *proposal,
                      const struct weft_execution_proposal *best)
{
    const char *type = doctor->opts->compared.rule.type;
    if (type)
        return weft_str_equal(proposal->name, weft_str_of(type));
    return proposal->count >= PROPOSAL_EXECUTIONS &&
           (weft_str_equal(proposal->why, best->why) || is_beside(proposal, best));
}

/* Is it a call that moves bytes, or what the library of C++ is made of, rather than work of the
 * program? How long the one takes says what the other side does; the other calls whatever it is
 * given, as std::function does. */
static bool is_lesser(const struct weft_execution_proposal *proposal)
{
    static const char *const names[] = { "read",  "write",   "pread",    "pwrite", "pread64",
                                         "readv", "writev",  "pwrite64", "recv",   "recvfrom",
                                         "send",  "recvmsg", "sendmsg",  "sendto", "close",
                                         "open",  "openat",  "lseek",    "malloc", "free" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (weft_str_equal(proposal->name, weft_str_of(names[i])))
            return is_call(proposal->begin);
    return is_call(proposal->begin) && weft_name_is_of_std(proposal->name);
}

/* Those are told of if there is nothing else. */
static bool is_work_proposed(const struct doctor *doctor,
                             const struct weft_execution_proposals *proposals)
{
    for (size_t i = 0; i < proposals->n; i++)
        if (is_wanted(doctor, &proposals->items[i], &proposals->items[0]) &&
            !is_lesser(&proposals->items[i]))
            return true;
    return false;
}

/* Names of what the trace suggests: "a, b, c". */
static const char *list_proposals(struct doctor *doctor,
                                  const struct weft_execution_proposals *proposals)
{
    struct weft_output *out;
    if (weft_output_to_memory(&out, &doctor->cli->err) != WEFT_OK)
        return "";
    for (size_t i = 0; i < proposals->n && i < PROPOSALS_NAMED; i++) {
        weft_output_text(out, i ? ", " : "");
        weft_words_name(out, proposals->items[i].name);
    }
    weft_output_text(out, proposals->n > PROPOSALS_NAMED ? " ..." : "");
    const char *text = weft_words_take(out, doctor->arena).bytes;
    weft_output_abort(out);
    return text ? text : "";
}

static enum weft_code nothing_to_look_at(struct doctor *doctor,
                                         const struct weft_execution_proposals *proposals)
{
    const char *type = doctor->opts->compared.rule.type;
    if (type && proposals->n > 0)
        return weft_fail(&doctor->cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "the trace suggests no executions of type '%.60s'; there are %s "
                         "(others: --begin RULE or --rules FILE)",
                         type, list_proposals(doctor, proposals));
    return weft_fail(&doctor->cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "nothing in the trace begins and ends at least %d times: expected "
                     "--begin RULE or --rules FILE; who waits for whom: weft interplay",
                     PROPOSAL_EXECUTIONS);
}

/* A type that does not fit into memory is no reason to tell nothing of the others. */
static enum weft_code leave_out(struct doctor *doctor,
                                const struct weft_execution_proposal *proposal)
{
    if (!doctor->cli->common.quiet)
        weft_say("weft: '%.*s' is left out: %s\n", (int)proposal->name.n_bytes,
                 proposal->name.bytes, doctor->cli->err.text);
    doctor->left_out = doctor->cli->err;
    doctor->cli->err = (struct weft_err){ 0 };
    return WEFT_OK;
}

/* What looked like executions may have none in the end: that is no reason to tell nothing of the
 * others either. */
static bool is_left_out(const struct doctor *doctor, enum weft_code code, size_t n_looked)
{
    return doctor->n == n_looked &&
           (code == WEFT_E_LIMIT || (code == WEFT_E_ARG && !doctor->opts->compared.rule.type));
}

/* Functions that repeat: whoever waits in none of them has nothing to do. */
static enum weft_code take_wholes(struct doctor *doctor,
                                  const struct weft_execution_proposals *proposals)
{
    doctor->wholes = WEFT_ARENA_NEW(doctor->arena, proposals->n, struct weft_str);
    if (!doctor->wholes)
        return no_memory(doctor);
    for (size_t i = 0; i < proposals->n; i++) {
        if (!is_call(proposals->items[i].begin))
            continue;
        struct weft_str *whole = &doctor->wholes[doctor->n_wholes++];
        *whole = weft_arena_copy(doctor->arena, proposals->items[i].name);
        if (!whole->bytes)
            return no_memory(doctor);
    }
    return WEFT_OK;
}

/* Of several ways in which a trace suggests executions the best is taken: what a program marked,
 * before what only looks like work that begins and ends. */
static enum weft_code look_at_proposals(struct doctor *doctor)
{
    struct weft_execution_proposals *proposals = NULL;
    enum weft_code code =
        weft_execution_proposals(doctor->cli->session, &proposals, &doctor->cli->err);
    const bool has_work =
        code == WEFT_OK && !doctor->opts->compared.rule.type && is_work_proposed(doctor, proposals);
    size_t n = 0;
    if (code == WEFT_OK)
        code = take_wholes(doctor, proposals);
    for (size_t i = 0; code == WEFT_OK && i < proposals->n && n < TYPES_MAX; i++) {
        const struct weft_execution_proposal *proposal = &proposals->items[i];
        if (!is_wanted(doctor, proposal, &proposals->items[0]) || (has_work && is_lesser(proposal)))
            continue;
        doctor->is_proposed = !doctor->opts->compared.rule.type && is_guess(proposal->begin);
        doctor->is_part = doctor->is_proposed && proposal->is_part;
        doctor->is_after_sleep = doctor->is_proposed && is_after_sleep(proposal->begin);
        const size_t n_looked = doctor->n;
        code = look_at_proposal(doctor, proposal);
        if (is_left_out(doctor, code, n_looked))
            code = leave_out(doctor, proposal);
        n++;
    }
    if (code == WEFT_OK && doctor->n == 0 && n > 0) {
        doctor->cli->err = doctor->left_out;
        code = doctor->left_out.code;
    }
    if (code == WEFT_OK && n == 0)
        code = nothing_to_look_at(doctor, proposals);
    weft_execution_proposals_free(proposals);
    return code;
}

static enum weft_code look_at_trace(struct doctor *doctor)
{
    struct weft_cli *cli = doctor->cli;
    const struct weft_compared_options *opts = &doctor->opts->compared;
    struct weft_rules *rules = NULL;
    enum weft_code code = weft_cli_open_trace(cli, cli->inputs[0], &cli->session);
    if (code == WEFT_OK) {
        doctor->trace_ns = weft_trace_meta(weft_session_trace(cli->session))->duration_ns;
        doctor->lost = lost_share(doctor);
    }
    if (code == WEFT_OK)
        code = weft_crowd_find(weft_session_trace(cli->session), weft_session_run(cli->session),
                               &doctor->crowd, &cli->err);
    if (code == WEFT_OK && !opts->rules && !opts->rule.begin)
        return look_at_proposals(doctor);
    if (code == WEFT_OK)
        code = weft_cli_compared_rules(cli, opts, &rules);
    if (code == WEFT_OK)
        code = look_by_rules(doctor, rules, &opts->rule);
    weft_rules_free(rules);
    return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* What costs most first; what is healthy in its order. */
static int by_cost(const void *a, const void *b)
{
    const struct weft_diagnosis *x = a, *y = b;
    const unsigned rank_x = weft_diagnosis_rank(x), rank_y = weft_diagnosis_rank(y);
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    const double cost_x = weft_diagnosis_cost_ns(x), cost_y = weft_diagnosis_cost_ns(y);
    return cost_x > cost_y ? -1 : cost_x < cost_y ? 1 : weft_str_compare(x->type, y->type);
}

/* The means of a group. */
static void average(const struct weft_work_done *done, const uint32_t *items, size_t n,
                    double *calls, double *ns)
{
    double sum = 0, sum_ns = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)done[items[i]].calls;
        sum_ns += (double)done[items[i]].ns;
    }
    *calls = n > 0 ? sum / (double)n : 0;
    *ns = sum > 0 ? sum_ns / sum : 0;
}

/* Whether what is slow does more: how often it calls what takes longer. */
static enum weft_code count_work(struct doctor *doctor, struct weft_diagnosis *diagnosis)
{
    const struct weft_session *session = doctor->cli->session;
    struct weft_work *work = &diagnosis->work;
    struct weft_work_done *done;
    if (!session || !weft_diagnosis_is_significant(diagnosis))
        return WEFT_OK;
    work->function = weft_diagnosis_work_of(diagnosis);
    if (work->function.n_bytes == 0 || weft_str_equal(work->function, diagnosis->type))
        return WEFT_OK;
    const enum weft_code code =
        weft_work_count(weft_session_trace(session), diagnosis->matrix, work->function,
                        weft_session_run(session), &done, &doctor->cli->err);
    if (code != WEFT_OK)
        return code;
    const struct weft_compare_table *table = diagnosis->table;
    average(done, table->items_a, table->n_a, &work->usual_calls, &work->usual_ns);
    average(done, table->items_b, table->n_b, &work->slow_calls, &work->slow_ns);
    free(done);
    return WEFT_OK;
}

/* Which are told of elsewhere: what happens to a thread that others wait for is told with them, or
 * does no harm. */
static void relate(struct doctor *doctor, struct weft_diagnosis *diagnoses)
{
    bool is_within[TYPES_MAX] = { 0 };
    const struct weft_diagnosis *unfelt_by[TYPES_MAX] = { 0 };
    for (size_t i = 0; i < doctor->n; i++)
        for (size_t k = 0; k < doctor->n && weft_diagnosis_is_significant(&diagnoses[i]); k++) {
            if (k == i)
                continue;
            is_within[i] |= weft_diagnosis_is_within(&diagnoses[i], &diagnoses[k]);
            if (!weft_diagnosis_serves(&diagnoses[i], &diagnoses[k]))
                continue;
            if (weft_diagnosis_is_felt(&diagnoses[i], &diagnoses[k]))
                is_within[i] = true;
            else
                unfelt_by[i] = &doctor->looked[k].diagnosis;
        }
    for (size_t i = 0; i < doctor->n; i++) {
        diagnoses[i].is_within = is_within[i];
        diagnoses[i].unfelt_by = is_within[i] ? NULL : unfelt_by[i];
    }
}

static enum weft_code show(struct doctor *doctor)
{
    struct weft_view view;
    struct weft_diagnosis diagnoses[TYPES_MAX];
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < doctor->n && code == WEFT_OK; i++) {
        diagnoses[i] = doctor->looked[i].diagnosis;
        diagnoses[i].rhythms = &doctor->rhythms;
        code = weft_rhythms_add(&doctor->rhythms, diagnoses[i].matrix, &doctor->cli->err);
    }
    for (size_t i = 0; i < doctor->n && code == WEFT_OK; i++)
        code = count_work(doctor, &diagnoses[i]);
    if (code == WEFT_OK)
        code = weft_cli_view(doctor->cli, &view);
    if (code != WEFT_OK)
        return code;
    relate(doctor, diagnoses);
    qsort(diagnoses, doctor->n, sizeof *diagnoses, by_cost);
    weft_render_diagnoses(&view, diagnoses, doctor->n);
    return weft_output_close(view.out, &doctor->cli->err);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    struct doctor *doctor = calloc(1, sizeof *doctor);
    if (!doctor)
        return weft_cli_end(cli, weft_fail(&cli->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory"));
    *doctor = (struct doctor){ .cli = cli, .opts = &opts, .arena = weft_arena_new(0) };
    enum weft_code code = doctor->arena ? weft_cli_begin(cli) : no_memory(doctor);
    const bool is_database = code == WEFT_OK && weft_database_is(cli->inputs[0]);
    if (code == WEFT_OK)
        code = weft_cli_compared_fits(cli, &opts.compared, is_database);
    if (code == WEFT_OK)
        code = is_database ? look_at_database(doctor) : look_at_trace(doctor);
    if (code == WEFT_OK)
        code = show(doctor);
    for (size_t i = 0; i < doctor->n; i++) {
        weft_result_free(doctor->looked[i].cut.table);
        weft_comparison_close(doctor->looked[i].comparison);
    }
    WEFT_VEC_FINI(&doctor->rhythms);
    weft_arena_free(doctor->arena);
    free(doctor);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_diagnose = {
    .name = "diagnose",
    .summary = "why some executions are slow, in sentences",
    .arguments = "TRACE|DATABASE",
    .about =
        "Finds the slow executions of each type by itself, compares them with the others, sorts\n"
        "them by what makes them slow, and says it in sentences, with the evidence and the "
        "command\n"
        "that shows more; or says that there is nothing significant. Without rules, the "
        "executions\n"
        "are those that the trace suggests.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_FORMAT | WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
