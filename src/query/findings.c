/* SPDX-License-Identifier: MIT
 *
 * Gathers the facts of each type of executions. What is known of a trace comes with its executions
 * (weft_execution_source.facts), whether they are read from the trace or from a database.
 */
#include "query/findings.h"

#include "analysis/compare/causes_tree.h"
#include "analysis/compare/compare.h"
#include "analysis/compare/names.h"
#include "analysis/compare/tail.h"
#include "analysis/findings/findings.h"
#include "base/vec.h"
#include "query/build.h"
#include "query/choice.h"
#include "query/comparison.h"
#include "query/cuts.h"
#include "query/deadlocks.h"
#include "query/executions.h"
#include "query/synchronization.h"
#include "query/work.h"
#include "render/output.h"
#include "schema/compare_cut.h"
#include "schema/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- findings -------------------------------------------------------------------------------- */

enum { TYPES_MAX = WEFT_FINDINGS_TYPES };

/* What the findings borrow from. */
struct weft_findings_basis {
    struct weft_arena *arena;
    struct {
        struct weft_comparison *comparison;
        struct weft_compare_cut cut;
    } looked[TYPES_MAX];
    struct weft_facts facts[TYPES_MAX];
    size_t n;
    struct weft_ecct_matrix *whole; /* NULL: executions were found */
    struct weft_periods periods;
};

struct gathering {
    const struct weft_findings_request *request;
    struct weft_session *session; /* NULL: of a database */
    struct weft_findings *findings;
    struct weft_findings_basis *basis;
    struct weft_source_facts source; /* of the trace, and of how the type is chosen */
    struct weft_err *err;
};

/* ---- facts of sources ------------------------------------------------------------------------ */

/* Executions of several traces are judged by what is known of all of them. */
static void take_saturation(struct weft_facts *facts, const struct weft_ecct_matrix *matrix)
{
    struct weft_saturation *saturation = &facts->saturation;
    const double all_ns = facts->trace_ns.value;
    for (size_t i = 0; i < matrix->n_sources; i++) {
        const struct weft_source_facts *source = &matrix->sources[i].facts;
        const double share = matrix->n_sources == 1 ? 1
                             : all_ns > 0           ? (double)source->recorded_ns / all_ns
                                                    : 0;
        saturation->is_known = source->has_saturation && (i == 0 || saturation->is_known) &&
                               (matrix->n_sources == 1 || all_ns > 0);
        saturation->own += share * source->own_cpu;
        saturation->other += share * source->other_cpu;
        saturation->idle += share * source->idle_cpu;
        saturation->bound += share * source->bound;
    }
    if (!saturation->is_known)
        *saturation = (struct weft_saturation){ .is_known = false };
}

static void take_sources(struct weft_facts *facts, const struct weft_ecct_matrix *matrix)
{
    double records = 0, lost = 0, recorded_ns = 0;
    bool is_known = matrix->n_sources > 0, has_switches = true, counts_losses = true;
    facts->is_proposed = facts->is_part = facts->is_turn = facts->is_after_sleep = is_known;
    for (size_t i = 0; i < matrix->n_sources; i++) {
        const struct weft_source_facts *source = &matrix->sources[i].facts;
        is_known = is_known && source->is_known;
        records += (double)source->records;
        lost += (double)source->lost_records;
        counts_losses = counts_losses && source->counts_losses;
        recorded_ns += (double)source->recorded_ns;
        has_switches = has_switches && source->has_switches;
        facts->is_proposed = facts->is_proposed && source->is_proposed;
        facts->is_part = facts->is_part && source->is_part;
        facts->is_turn = facts->is_turn && source->is_turn;
        facts->is_after_sleep = facts->is_after_sleep && source->is_after_sleep;
    }
    if (!is_known) { /* as of a database of an earlier version: what the executions themselves show
                      */
        facts->has_switches = weft_matrix_has_switches(matrix) ? WEFT_FACT_YES : WEFT_FACT_NO;
        return;
    }
    facts->has_switches = has_switches ? WEFT_FACT_YES : WEFT_FACT_NO;
    facts->trace_ns = (struct weft_fact){ recorded_ns, true };
    facts->lost = (struct weft_fact){ lost > 0 ? lost / (lost + records) : 0, counts_losses };
    take_saturation(facts, matrix);
}

/* ---- a type ---------------------------------------------------------------------------------- */

/* The groups that were given. */
static enum weft_code compare_given(struct weft_facts *facts, struct weft_comparison *comparison,
                                    struct weft_compare_cut *cut, struct weft_err *err)
{
    const struct weft_comparison_opts how = { .a = weft_str_of(facts->a),
                                              .b = weft_str_of(facts->b),
                                              .n_bootstrap = WEFT_COMPARE_BOOTSTRAP,
                                              .with_causes = true,
                                              .n_looks = 1 };
    const enum weft_code code = weft_comparison_run(comparison, &how, &cut->table, err);
    facts->table = cut->table;
    if (code != WEFT_OK || (cut->table->n_a > 0 && cut->table->n_b > 0))
        return code;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no execution of %.*s is in group %s",
                     (int)facts->type.n_bytes, facts->type.bytes, cut->table->n_a == 0 ? "A" : "B");
}

/* Functions and loop iterations that repeat in any of the traces. */
static bool take_wholes(struct weft_arena *arena, struct weft_facts *facts)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    size_t n = 0;
    for (size_t i = 0; i < matrix->n_sources; i++) {
        const struct weft_str all = matrix->sources[i].facts.wholes;
        for (size_t k = 0; k < all.n_bytes; k++)
            n += all.bytes[k] == 0;
    }
    struct weft_str *wholes = WEFT_ARENA_NEW(arena, n + 1, struct weft_str);
    struct weft_loop_name *loops = WEFT_ARENA_NEW(arena, n + 1, struct weft_loop_name);
    facts->wholes = wholes;
    facts->loops = loops;
    for (size_t i = 0; wholes && loops && i < matrix->n_sources; i++) {
        const struct weft_str all = matrix->sources[i].facts.wholes;
        for (size_t at = 0, end; at < all.n_bytes; at = end + 1) {
            for (end = at; end < all.n_bytes && all.bytes[end] != 0; end++)
                ;
            const struct weft_str name = { all.bytes + at, end - at };
            const struct weft_loop_name loop = weft_loop_name_of(name);
            if (end == all.n_bytes) /* without its NUL it is damaged */
                break;
            if (loop.call.n_bytes > 0)
                loops[facts->n_loops++] = loop;
            else
                wholes[facts->n_wholes++] = name;
        }
    }
    return wholes && loops;
}

static struct weft_facts facts_of(const struct weft_comparison *comparison, struct weft_str type)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    struct weft_facts facts = { .type = type,
                                .matrix = matrix,
                                .all_ns = weft_ecct_matrix_time_ns(matrix) };
    take_sources(&facts, matrix);
    return facts;
}

enum weft_code weft_findings_cut(struct weft_comparison *comparison, struct weft_str type,
                                 struct weft_compare_cut *cut, struct weft_err *err)
{
    struct weft_facts facts = facts_of(comparison, type);
    const struct weft_cut_judge judge = { weft_facts_is_better, &facts };
    struct weft_arena *arena = weft_arena_new(0);
    *cut = (struct weft_compare_cut){ .table = NULL };
    enum weft_code code =
        arena && take_wholes(arena, &facts) ? WEFT_OK : weft_no_memory(err, "a cut");
    WEFT_THEN(code, weft_comparison_cut_find(comparison, &judge, cut, err));
    if (arena)
        weft_arena_free(arena);
    return code;
}

/* The slow ones and the others, at the cut that tells most. */
static enum weft_code compare_slow(struct weft_facts *facts, struct weft_comparison *comparison,
                                   struct weft_compare_cut *cut, struct weft_err *err)
{
    const struct weft_cut_judge judge = { weft_facts_is_better, facts };
    const enum weft_code code = weft_comparison_cut_find(comparison, &judge, cut, err);
    facts->tail = cut->tail;
    facts->table = cut->table;
    facts->a = cut->a;
    facts->b = cut->b;
    return code;
}

static const char *name_of(const struct weft_findings_request *request)
{
    return request->name ? request->name : request->path;
}

static struct weft_finding_choice choice_of(const struct gathering *gathering,
                                            const struct weft_rule_options *rule)
{
    return (struct weft_finding_choice){ .path = name_of(gathering->request),
                                         .rules = gathering->request->rules,
                                         .type = rule->type,
                                         .begin = rule->begin,
                                         .end = rule->end,
                                         .match = rule->match,
                                         .within = rule->within,
                                         .thread = rule->thread,
                                         .metrics = rule->metrics };
}

/* Takes the comparison of a type, which is run when all types are known; `rule` says how to ask for
 * its executions again. */
static enum weft_code look(struct gathering *gathering, struct weft_comparison *comparison,
                           struct weft_str type, const struct weft_rule_options *rule)
{
    struct weft_findings_basis *basis = gathering->basis;
    const struct weft_findings_request *request = gathering->request;
    struct weft_facts *facts = &basis->facts[basis->n];
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    basis->looked[basis->n++].comparison = comparison;
    *facts = facts_of(comparison, weft_arena_copy(basis->arena, type));
    facts->is_versus = request->a || request->b;
    if (!take_wholes(basis->arena, facts))
        return weft_no_memory(gathering->err, "a diagnosis");
    facts->a = request->a ? request->a : "";
    facts->b = request->b ? request->b : "";
    facts->choice = choice_of(gathering, rule);
    if (!facts->is_proposed) /* the last turn of a thread never ends */
        gathering->findings->matrices[gathering->findings->n_matrices++] = matrix;
    return WEFT_OK;
}

static enum weft_code compare_type(void *context, size_t item, unsigned worker,
                                   struct weft_err *err)
{
    struct weft_findings_basis *basis = context;
    struct weft_facts *facts = &basis->facts[item];
    struct weft_comparison *comparison = basis->looked[item].comparison;
    struct weft_compare_cut *cut = &basis->looked[item].cut;
    (void)worker;
    const enum weft_code code = facts->is_versus ? compare_given(facts, comparison, cut, err)
                                                 : compare_slow(facts, comparison, cut, err);
    weft_comparison_rest(comparison);
    return code;
}

/* Types have nothing to do with each other: of a trace they are compared on all workers. */
static enum weft_code compare_types(const struct gathering *gathering)
{
    struct weft_findings_basis *basis = gathering->basis;
    enum weft_code code = WEFT_OK;
    if (gathering->session) {
        const struct weft_run *run = weft_session_run(gathering->session);
        weft_progress_start(run->progress, "comparing", "types", basis->n);
        return weft_pool_run(run->pool, basis->n, compare_type, basis, run->progress,
                             gathering->err);
    }
    for (size_t i = 0; i < basis->n && code == WEFT_OK; i++)
        code = compare_type(basis, i, 0, gathering->err);
    return code;
}

/* ---- a database ------------------------------------------------------------------------------ */

static enum weft_code look_in_database(struct gathering *gathering, struct weft_str type)
{
    struct weft_comparison *comparison;
    const struct weft_rule_options rule = { .type = type.bytes };
    const struct weft_findings_request *request = gathering->request;
    const enum weft_code code = weft_comparison_open(
        request->path, type, request->map, request->progress, &comparison, gathering->err);
    return code == WEFT_OK ? look(gathering, comparison, type, &rule) : code;
}

static enum weft_code look_at_database(struct gathering *gathering)
{
    struct weft_database *database = NULL;
    struct weft_execution_type *types = NULL;
    struct weft_arena *arena = gathering->basis->arena;
    size_t n_types = 0;
    if (gathering->request->rule.type && *gathering->request->rule.type)
        return look_in_database(gathering, weft_str_of(gathering->request->rule.type));
    enum weft_code code =
        weft_database_open(gathering->request->path, WEFT_DATABASE_READ, &database, gathering->err);
    if (code == WEFT_OK)
        weft_database_watch(database, gathering->request->progress);
    WEFT_THEN(code, weft_database_types(database, arena, &types, &n_types, gathering->err));
    weft_database_close(database);
    if (code == WEFT_OK && n_types == 0) /* the same words as those of compare */
        return look_in_database(gathering, WEFT_STR(""));
    for (size_t i = 0; code == WEFT_OK && i < n_types && i < TYPES_MAX; i++) {
        const struct weft_str type = weft_arena_copy(arena, types[i].name);
        code = type.bytes ? look_in_database(gathering, type)
                          : weft_no_memory(gathering->err, "a diagnosis");
    }
    gathering->findings->n_more = n_types > TYPES_MAX ? n_types - TYPES_MAX : 0;
    return code;
}

/* ---- a trace --------------------------------------------------------------------------------- */

/* Those of a type; `rule` says how to ask for them again. */
static enum weft_code look_at_type(struct gathering *gathering,
                                   const struct weft_executions_table *executions,
                                   struct weft_str type, const struct weft_rule_options *rule)
{
    const struct weft_build_opts build = { .path = weft_str_of(name_of(gathering->request)),
                                           .facts = &gathering->source };
    struct weft_comparison *comparison;
    const struct weft_str name = weft_arena_copy(gathering->basis->arena, type);
    if (!name.bytes)
        return weft_no_memory(gathering->err, "a diagnosis");
    const enum weft_code code =
        weft_comparison_of_type(gathering->session, executions, name.bytes,
                                gathering->request->rules, &build, &comparison, gathering->err);
    return code == WEFT_OK ? look(gathering, comparison, name, rule) : code;
}

/* Each type of which the trace has any. */
static enum weft_code look_at_types(struct gathering *gathering,
                                    const struct weft_executions_table *executions)
{
    struct weft_rule_options rule = gathering->request->rule;
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; code == WEFT_OK && i < executions->n_types; i++) {
        const struct weft_str type = executions->types[i].name;
        if (executions->types[i].count == 0)
            continue;
        if (gathering->basis->n == TYPES_MAX) {
            gathering->findings->n_more++;
            continue;
        }
        rule.type = weft_arena_copy(gathering->basis->arena, type).bytes;
        code = look_at_type(gathering, executions, type, &rule);
    }
    if (code == WEFT_OK && gathering->basis->n == 0)
        code = weft_fail(gathering->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "the trace has no execution by these rules");
    return code;
}

/* However many types they have, the trace is read once for all. */
static enum weft_code look_by_rules(struct gathering *gathering, const struct weft_rules *rules,
                                    const struct weft_rule_options *rule)
{
    const union weft_request request = { .executions.opts = { .rules = rules } };
    union weft_result result = { 0 };
    enum weft_code code = weft_session_depend(gathering->session, rules, NULL, gathering->err);
    WEFT_THEN(code,
              weft_query_run(gathering->session, "executions", &request, &result, gathering->err));
    if (code == WEFT_OK && (rule->type || rules->n_types == 1))
        code = look_at_type(gathering, result.executions,
                            rule->type ? weft_str_of(rule->type) : rules->types[0].name, rule);
    else if (code == WEFT_OK)
        code = look_at_types(gathering, result.executions);
    weft_result_free(result.any);
    return code;
}

/* ---- what the trace suggests ----------------------------------------------------------------- */

/* What the trace suggests, one by one. */
struct proposed {
    const struct weft_execution_proposal *items[TYPES_MAX];
    struct weft_rule_options options[TYPES_MAX];
    struct weft_rules *rules[TYPES_MAX];
    struct weft_executions_table *tables[TYPES_MAX]; /* NULL: not found with the others */
    size_t n;
};

static enum weft_code propose(struct gathering *gathering, struct proposed *proposed,
                              const struct weft_execution_proposal *proposal)
{
    WEFT_TRY(weft_proposal_rule(proposal, gathering->basis->arena, &proposed->options[proposed->n],
                                gathering->err));
    proposed->items[proposed->n++] = proposal;
    return WEFT_OK;
}

/* A rule that cannot be read is said when its turn comes. */
static enum weft_code find_proposed(struct gathering *gathering, struct proposed *proposed)
{
    for (size_t i = 0; i < proposed->n; i++) {
        struct weft_err err = { 0 };
        if (weft_rules_of_options(&proposed->options[i], &proposed->rules[i], &err) != WEFT_OK)
            proposed->rules[i] = NULL;
    }
    return weft_session_executions_each(gathering->session, proposed->rules, proposed->n,
                                        proposed->tables, gathering->err);
}

static void proposed_fini(struct proposed *proposed)
{
    for (size_t i = 0; i < proposed->n; i++) {
        weft_rules_free(proposed->rules[i]);
        weft_result_free(proposed->tables[i]);
    }
}

/* What the trace suggests: executions of other programs than threads that wait for them too. */
static enum weft_code look_at_proposal(struct gathering *gathering, struct proposed *proposed,
                                       size_t i)
{
    const struct weft_execution_proposal *proposal = proposed->items[i];
    const struct weft_rule_options *rule = &proposed->options[i];
    struct weft_executions_table *table = proposed->tables[i];
    /* a function that repeats, or a thread's turn, rather than what a program said of itself */
    gathering->source.is_proposed =
        !gathering->request->rule.type &&
        (weft_proposal_is_call(proposal) || proposal->kind == WEFT_PROPOSAL_TURNS);
    gathering->source.is_part = gathering->source.is_proposed && proposal->is_part;
    gathering->source.is_turn =
        gathering->source.is_proposed && proposal->kind == WEFT_PROPOSAL_TURNS;
    gathering->source.is_after_sleep = gathering->source.is_proposed && proposal->is_after_sleep;
    proposed->tables[i] = NULL;
    struct weft_rules *rules = NULL;
    enum weft_code code = WEFT_OK;
    if (table) {
        code = look_at_type(gathering, table, weft_str_of(rule->type), rule);
    } else {
        code = weft_rules_of_options(rule, &rules, gathering->err);
        WEFT_THEN(code, look_by_rules(gathering, rules, rule));
    }
    weft_rules_free(rules);
    weft_result_free(table);
    return code;
}

/* A type that does not fit into memory, or has no executions in the end, is no reason to tell
 * nothing of the others. */
static enum weft_code leave_out(struct gathering *gathering, enum weft_code code, size_t n_looked,
                                const struct weft_execution_proposal *proposal)
{
    struct weft_findings *findings = gathering->findings;
    const bool is_left_out =
        gathering->basis->n == n_looked &&
        (code == WEFT_E_LIMIT || (code == WEFT_E_ARG && !gathering->request->rule.type));
    if (!is_left_out)
        return code;
    findings->left_out[findings->n_left_out++] =
        (struct weft_findings_left_out){ weft_arena_copy(gathering->basis->arena, proposal->name),
                                         *gathering->err };
    *gathering->err = (struct weft_err){ 0 };
    return WEFT_OK;
}

/* What repeats, functions and iterations of loops: a thread that waits in none of the functions, or
 * where its loop begins, has nothing to do. */
static enum weft_code list_wholes(struct gathering *gathering,
                                  const struct weft_execution_proposals *proposals)
{
    struct weft_output *out;
    enum weft_code code = weft_output_to_memory(&out, gathering->err);
    if (code != WEFT_OK)
        return code;
    for (size_t i = 0; i < proposals->n; i++) {
        const struct weft_str name = proposals->items[i].name;
        const bool is_loop = weft_loop_name_of(name).call.n_bytes > 0;
        if ((is_loop || weft_proposal_is_call(&proposals->items[i])) &&
            !memchr(name.bytes, 0, name.n_bytes)) {
            weft_output_write(out, name.bytes, name.n_bytes);
            weft_output_write(out, "", 1);
        }
    }
    if (weft_output_has_failed(out)) /* all of them, or another answer */
        return weft_output_close(out, gathering->err);
    if (weft_output_held(out).n_bytes > 0) {
        gathering->source.wholes = weft_arena_copy(gathering->basis->arena, weft_output_held(out));
        code = gathering->source.wholes.bytes ? WEFT_OK
                                              : weft_no_memory(gathering->err, "a diagnosis");
    }
    weft_output_abort(out);
    return code;
}

/* The thread whose life is that of the program: its first one, else that which lives longest. */
static uint32_t longest_thread(const struct weft_trace *trace)
{
    uint32_t longest = WEFT_ID_NONE;
    uint64_t longest_ns = 0;
    bool is_first = false;
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        const bool is_main = thread->info.pid > 0 && thread->info.tid == thread->info.pid;
        const uint64_t life_ns = thread->last_ns - thread->first_ns;
        if (thread->info.is_foreign || thread->last_ns <= thread->first_ns || is_first > is_main ||
            (is_first == is_main && life_ns <= longest_ns))
            continue;
        longest = id;
        longest_ns = life_ns;
        is_first = is_main;
    }
    return longest;
}

/* Nothing repeats: the critical path of the whole. */
static enum weft_code look_at_whole(struct gathering *gathering)
{
    const struct weft_trace *trace = weft_session_trace(gathering->session);
    const uint32_t id = longest_thread(trace);
    if (id == WEFT_ID_NONE)
        return weft_fail(gathering->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no thread of the trace has two events");
    const struct weft_model_thread *thread = weft_trace_thread(trace, id);
    const struct weft_ecct_request request = { .thread_id = id,
                                               .from_ns = thread->first_ns,
                                               .to_ns = thread->last_ns };
    WEFT_TRY(weft_execution_tree(gathering->session, &request, &gathering->basis->whole,
                                 gathering->err));
    gathering->basis->whole->sources[0].path = weft_str_of(name_of(gathering->request));
    return WEFT_OK;
}

/* Of several ways in which a trace suggests executions the best is taken: what a program marked,
 * before what only looks like work that begins and ends. */
static enum weft_code look_at_proposals(struct gathering *gathering)
{
    struct weft_findings *findings = gathering->findings;
    struct weft_execution_proposals *proposals = NULL;
    enum weft_code code = weft_execution_proposals(gathering->session, &proposals, gathering->err);
    const struct weft_execution_proposal *chosen[WEFT_PROPOSALS_MOST];
    const size_t n_chosen =
        code == WEFT_OK ? weft_proposals_choose(weft_session_trace(gathering->session), proposals,
                                                gathering->request->rule.type, chosen)
                        : 0;
    const size_t n = n_chosen < TYPES_MAX ? n_chosen : TYPES_MAX;
    struct proposed proposed = { .n = 0 };
    WEFT_THEN(code, list_wholes(gathering, proposals));
    for (size_t i = 0; code == WEFT_OK && i < n; i++)
        code = propose(gathering, &proposed, chosen[i]);
    findings->n_more += n_chosen - n;
    WEFT_THEN(code, find_proposed(gathering, &proposed));
    for (size_t i = 0; code == WEFT_OK && i < n; i++) {
        const size_t n_looked = gathering->basis->n;
        code = look_at_proposal(gathering, &proposed, i);
        code = leave_out(gathering, code, n_looked, proposed.items[i]);
    }
    proposed_fini(&proposed);
    if (code == WEFT_OK && gathering->basis->n == 0 && n > 0) {
        *gathering->err = findings->left_out[findings->n_left_out - 1].why;
        code = gathering->err->code;
    }
    if (code == WEFT_OK && n == 0)
        code =
            gathering->request->rule.type
                ? weft_proposals_no_type(proposals, gathering->request->rule.type, gathering->err)
                : look_at_whole(gathering);
    weft_execution_proposals_free(proposals);
    return code;
}

static enum weft_code look_at_trace(struct gathering *gathering)
{
    const struct weft_findings_request *request = gathering->request;
    struct weft_rules *rules = NULL;
    enum weft_code code =
        weft_session_facts(gathering->session, &gathering->source, gathering->err);
    if (code == WEFT_OK)
        weft_session_locks_begin(gathering->session);
    if (code == WEFT_OK && !request->rules && !request->rule.begin)
        return look_at_proposals(gathering);
    WEFT_THEN(code, weft_rules_given(request->rules, &request->rule, &rules, gathering->err));
    WEFT_THEN(code, look_by_rules(gathering, rules, &request->rule));
    weft_rules_free(rules);
    return code;
}

/* ---- what follows from all types ------------------------------------------------------------- */

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
static enum weft_code count_work(const struct gathering *gathering, struct weft_facts *facts)
{
    struct weft_work *work = &facts->work;
    struct weft_work_done *done;
    const struct weft_str function = weft_facts_work_of(facts);
    if (function.n_bytes == 0 || weft_str_equal(function, facts->type))
        return WEFT_OK;
    if (!gathering->session) { /* of a database: as it was counted when that was made */
        const struct weft_work *known = &facts->matrix->sources[0].facts.work;
        if (facts->matrix->n_sources == 1 && known->is_known &&
            weft_str_equal(known->function, function))
            *work = *known;
        return WEFT_OK;
    }
    WEFT_TRY(weft_work_count(weft_session_trace(gathering->session), facts->matrix, function,
                             weft_session_run(gathering->session), &done, gathering->err));
    const struct weft_compare_table *table = facts->table;
    average(done, table->items_a, table->n_a, &work->usual_calls, &work->usual_ns);
    average(done, table->items_b, table->n_b, &work->slow_calls, &work->slow_ns);
    work->function = function;
    work->is_known = work->usual_calls > 0;
    free(done);
    return WEFT_OK;
}

static enum weft_code look_at_locks(struct gathering *gathering,
                                    struct weft_problems_table *problems)
{
    WEFT_TRY(weft_starved_look(gathering->session, problems, gathering->err));
    return weft_syncs_look(gathering->session, gathering->findings->arena, problems,
                           gathering->err);
}

#define MOST_OF_PATH UINT64_C(8000000) /* calls and events, to be read for that */

/* Where nothing is found, the critical path of the whole says what the program is at. */
static enum weft_code look_at_path(struct gathering *gathering)
{
    struct weft_findings_table *table = gathering->findings->table;
    const struct weft_trace *trace =
        gathering->session ? weft_session_trace(gathering->session) : NULL;
    if (!trace || gathering->basis->whole || gathering->request->rule.begin ||
        weft_findings_have_any(table) ||
        weft_trace_meta(trace)->calls + weft_trace_meta(trace)->events > MOST_OF_PATH ||
        longest_thread(trace) == WEFT_ID_NONE)
        return WEFT_OK;
    const enum weft_code code = look_at_whole(gathering);
    if (code == WEFT_E_LIMIT) { /* it is only a line */
        *gathering->err = (struct weft_err){ 0 };
        return WEFT_OK;
    }
    return code == WEFT_OK ? weft_findings_add_path(table, gathering->basis->whole, gathering->err)
                           : code;
}

static enum weft_code judge(struct gathering *gathering)
{
    struct weft_findings_basis *basis = gathering->basis;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < basis->n && code == WEFT_OK; i++) {
        basis->facts[i].periods = &basis->periods;
        code = weft_periods_add(&basis->periods, basis->facts[i].matrix, gathering->err);
    }
    for (size_t i = 0; i < basis->n && code == WEFT_OK; i++)
        code = count_work(gathering, &basis->facts[i]);
    struct weft_findings *findings = gathering->findings;
    WEFT_THEN(code, weft_findings_run(basis->facts, basis->n, &findings->table, gathering->err));
    if (code == WEFT_OK) {
        findings->table->left_out = findings->left_out;
        findings->table->n_left_out = findings->n_left_out;
        findings->table->n_more = findings->n_more;
    }
    if (code == WEFT_OK && gathering->session)
        code = weft_deadlocks_find(gathering->session, findings->arena,
                                   &findings->table->problems->deadlocks,
                                   &findings->table->problems->n_deadlocks, gathering->err);
    if (code == WEFT_OK && findings->table->problems->n_deadlocks == 0)
        code = weft_findings_add_all(findings->table, gathering->err);
    if (code == WEFT_OK && basis->whole)
        code = weft_findings_add_whole(findings->table, basis->whole, gathering->err);
    if (code == WEFT_OK && gathering->session)
        code = look_at_locks(gathering, findings->table->problems);
    return code == WEFT_OK ? look_at_path(gathering) : code;
}

static void release(void *owned)
{
    const struct weft_findings *findings = owned;
    struct weft_findings_basis *basis = findings->basis;
    for (size_t i = 0; i < basis->n; i++) {
        weft_result_free(basis->looked[i].cut.table);
        weft_comparison_close(basis->looked[i].comparison);
    }
    WEFT_VEC_FINI(&basis->periods);
    weft_result_free(findings->table);
    weft_result_free(basis->whole);
}

/* What is gathered lies in the arena of the findings. */
static enum weft_code make_findings(struct gathering *gathering)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_findings *findings = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_findings) : NULL;
    gathering->basis = findings ? WEFT_ARENA_NEW(arena, 1, struct weft_findings_basis) : NULL;
    if (!gathering->basis) {
        weft_arena_free(arena);
        return weft_no_memory(gathering->err, "a diagnosis");
    }
    gathering->basis->arena = findings->arena = arena;
    findings->basis = gathering->basis;
    weft_arena_own(arena, release, findings);
    gathering->findings = findings;
    return WEFT_OK;
}

/* Gathers, of a trace or of a database, and judges. */
static enum weft_code run(struct weft_session *session, const struct weft_findings_request *request,
                          struct weft_findings **findings, struct weft_err *err)
{
    struct gathering gathering = { .request = request, .session = session, .err = err };
    *findings = NULL;
    enum weft_code code = make_findings(&gathering);
    WEFT_THEN(code, session ? look_at_trace(&gathering) : look_at_database(&gathering));
    WEFT_THEN(code, compare_types(&gathering));
    WEFT_THEN(code, judge(&gathering));
    if (code == WEFT_OK)
        *findings = gathering.findings;
    else
        weft_result_free(gathering.findings);
    return code;
}

enum weft_code weft_findings_of_trace(struct weft_session *session,
                                      const struct weft_findings_request *request,
                                      struct weft_findings **findings, struct weft_err *err)
{
    return run(session, request, findings, err);
}

enum weft_code weft_findings_of_database(const struct weft_findings_request *request,
                                         struct weft_findings **findings, struct weft_err *err)
{
    return run(NULL, request, findings, err);
}

/* ---- a database of what a trace suggests ----------------------------------------------------- */

/* The executions of one type, with all that is known of them. */
static enum weft_code store_type(struct weft_session *session, const struct weft_facts *facts,
                                 const struct weft_build_opts *opts, struct weft_database *database,
                                 size_t *n_stored, struct weft_err *err)
{
    const struct weft_rule_options rule = { .type = facts->choice.type,
                                            .begin = facts->choice.begin,
                                            .end = facts->choice.end,
                                            .match = facts->choice.match,
                                            .within = facts->choice.within };
    struct weft_source_facts known = facts->matrix->sources[0].facts;
    struct weft_build_opts build = *opts;
    struct weft_rules *rules = NULL;
    union weft_result result = { 0 };
    known.work = facts->work;
    build.facts = &known;
    enum weft_code code = weft_rules_of_options(&rule, &rules, err);
    const union weft_request request = { .executions.opts.rules = rules };
    WEFT_THEN(code, weft_query_run(session, "executions", &request, &result, err));
    WEFT_THEN(code, weft_executions_build(session, result.executions, database, &build, err));
    if (code == WEFT_OK)
        *n_stored += result.executions->n_rows;
    weft_result_free(result.any);
    weft_rules_free(rules);
    return code;
}

enum weft_code weft_findings_store(struct weft_session *session, const struct weft_build_opts *opts,
                                   const char *path, size_t *n_stored, struct weft_err *err)
{
    const struct weft_findings_request request = { .path = opts->path.bytes };
    struct weft_findings *findings = NULL;
    struct weft_database *database = NULL;
    *n_stored = 0;
    enum weft_code code = weft_findings_of_trace(session, &request, &findings, err);
    if (code == WEFT_OK && findings->basis->n == 0)
        code = weft_proposals_none(err);
    WEFT_THEN(code, weft_database_open(path, WEFT_DATABASE_WRITE, &database, err));
    for (size_t i = 0; code == WEFT_OK && i < findings->basis->n; i++)
        code = store_type(session, &findings->basis->facts[i], opts, database, n_stored, err);
    weft_database_close(database);
    weft_result_free(findings);
    return code;
}
