/* SPDX-License-Identifier: MIT
 *
 * From facts to findings: each type is judged for itself, then with what others have to do with it;
 * all that a sentence may say of it is filled in.
 */
#include "analysis/findings/findings.h"

#include "analysis/compare/causes_tree.h"
#include "analysis/compare/confidence.h"
#include "analysis/compare/names.h"
#include "analysis/compare/verdict.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/idle.h"
#include "analysis/findings/kinds.h"
#include "analysis/findings/problems.h"
#include "analysis/findings/rank.h"
#include "analysis/findings/singles.h"
#include "analysis/findings/verdicts.h"
#include "schema/executions.h"

#include <stdlib.h>
#include <string.h>

enum { TYPES_OF_ALL = 3, LEAST_OF_ALL = 20 };
static const double MUCH_OF_ALL = 0.3;           /* of the time of all executions, and */
static const double OF_TRACE = 0.05;             /* of the recorded time, that is worth a finding */
static const double MOST_OF_ALL = 0.5;           /* of the time of all executions, to be said */
static const double FAR_FEWER = 4, NEARLY = 0.7; /* of two cuts */
/* Of what the first cause costs: what costs less is no sentence. */
static const double FURTHER = 0.1;
/* Of what they are slower: less is a part of why they are. */
static const double MAIN_SHARE = 0.5;

/* ---- cuts ------------------------------------------------------------------------------------ */

/* The same executions, at that cut. */
static struct weft_facts facts_at(const struct weft_facts *facts,
                                  const struct weft_compare_cut *cut)
{
    struct weft_facts at = *facts;
    at.table = cut->table;
    at.tail = cut->tail;
    return at;
}

/* Does a cut explain more than the other: at a greater cost, or at nearly the same of far fewer? */
static bool tells_more(const struct weft_facts *facts, const struct weft_facts *than)
{
    const double cost_ns = weft_facts_cost_ns(facts), other_ns = weft_facts_cost_ns(than);
    const double n_slow = (double)facts->tail.n_slow, n_other = (double)than->tail.n_slow;
    if (n_slow * FAR_FEWER <= n_other)
        return cost_ns >= NEARLY * other_ns;
    if (n_other * FAR_FEWER <= n_slow)
        return other_ns < NEARLY * cost_ns;
    return cost_ns > other_ns;
}

bool weft_facts_is_better(const void *facts, const struct weft_compare_cut *first,
                          const struct weft_compare_cut *second)
{
    const struct weft_facts x = facts_at(facts, first);
    const struct weft_facts y = facts_at(facts, second);
    const bool is_first = weft_facts_are_significant(&x);
    const bool is_second = weft_facts_are_significant(&y);
    if (!x.table || is_first != is_second)
        return !x.table || is_second;
    if (is_first)
        return tells_more(&y, &x);
    return (y.tail.is_found || y.tail.is_alone) && !x.tail.is_found;
}

/* ---- causes ---------------------------------------------------------------------------------- */

static bool is_below(const struct weft_ecct_matrix *matrix, uint32_t node, uint32_t ancestor)
{
    while (node > ancestor) /* a parent is before its children */
        node = matrix->nodes[node].parent;
    return node == ancestor;
}

/* Does something from `node` up to `ancestor`, which it is below, only happen to a thread? */
static bool is_mishap_below(const struct weft_ecct_matrix *matrix, uint32_t node, uint32_t ancestor)
{
    for (; node > ancestor; node = matrix->nodes[node].parent)
        if (weft_frame_happens_anywhere(&matrix->frames[matrix->nodes[node].frame]))
            return true;
    return false;
}

/* The node that shows a cause: its own, or one below it that has at least half as much of the
 * difference, and so shows which thread shares what is waited for. Not what only happens to the
 * thread: one that computes for long is preempted now and then, and that is no reason why it
 * computes. */
static uint32_t told_node(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_table *table = facts->table;
    const struct weft_compare_node *named = weft_compare_row_of(table, cause->node);
    const struct weft_compare_node *most = NULL;
    for (size_t i = 0; named && cause->node != 0 && i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        if (row != named && row->difference_ns >= named->difference_ns / 2 &&
            row->difference_ns > 0 && is_below(facts->matrix, row->node, cause->node) &&
            !is_mishap_below(facts->matrix, row->node, cause->node) &&
            (!most || row->difference_ns > most->difference_ns))
            most = row;
    }
    return most ? most->node : cause->node;
}

/* Of the executions of a cause, and of what they have more of. False without memory. */
static bool basis_of(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                     struct weft_confidence_basis *basis)
{
    const struct weft_compare_table *table = facts->table;
    const struct weft_compare_node *row = weft_compare_row_of(table, cause->node);
    const uint32_t place = (uint32_t)(cause - table->causes);
    uint32_t *items = calloc(table->n_b + 1, sizeof *items);
    size_t n = 0;
    if (!items)
        return false;
    for (size_t i = 0; i < table->n_b; i++)
        if (table->cause_of[i] == place)
            items[n++] = table->items_b[i];
    *basis = weft_confidence_basis_of(facts->matrix, items, n);
    free(items);
    basis->unnamed = 1 - cause->explained;
    basis->p = row && row->node != 0 ? row->p_adjusted : cause->p;
    basis->lost = facts->lost.value;
    return true;
}

/* ---- one type -------------------------------------------------------------------------------- */

struct filling {
    const struct weft_facts *facts;
    struct weft_relations relations;
    struct weft_finding *finding;
    struct weft_rule_log log;
};

static bool fill_causes(struct filling *filling)
{
    const struct weft_facts *facts = filling->facts;
    struct weft_finding *finding = filling->finding;
    const size_t n = facts->table ? facts->table->n_causes : 0;
    finding->causes = WEFT_ARENA_NEW(filling->log.arena, n + 1, struct weft_finding_cause);
    for (size_t i = 0; finding->causes && i < n; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        const enum weft_cause_place place = weft_cause_place_of(facts, cause, &filling->log);
        finding->causes[i] =
            (struct weft_finding_cause){ .cause = cause,
                                         .row = weft_compare_row_of(facts->table, cause->node),
                                         .place = place,
                                         .cost_ns = weft_cause_cost_ns(facts, cause),
                                         .share = weft_cause_share(facts, cause),
                                         .is_small = weft_cause_is_small(facts, cause),
                                         .is_in_part = cause->explained < MAIN_SHARE,
                                         .told_node = told_node(facts, cause),
                                         .tried = filling->log.tried };
        if (!basis_of(facts, cause, &finding->causes[i].confidence))
            return false;
        finding->n_causes++;
    }
    return finding->causes && !filling->log.is_out_of_memory;
}

static void fill_places(struct weft_finding *finding)
{
    for (unsigned place = 0; place < WEFT_CAUSE_PLACES; place++) {
        struct weft_finding_causes *at = &finding->at[place];
        for (size_t i = 0; i < finding->n_causes; i++) {
            const struct weft_finding_cause *cause = &finding->causes[i];
            if (cause->place != place)
                continue;
            size_t k = at->n;
            while (k > 0 && at->items[k - 1]->cost_ns < cause->cost_ns)
                k--;
            at->n_all++;
            if (k == WEFT_PLACE_CAUSES)
                continue;
            at->n = at->n < WEFT_PLACE_CAUSES ? at->n + 1 : at->n;
            memmove(&at->items[k + 1], &at->items[k], (at->n - 1 - k) * sizeof *at->items);
            at->items[k] = cause;
        }
        for (size_t i = 0; i < at->n; i++)
            at->n_items += at->items[i]->cause->n_items;
    }
    const struct weft_finding_causes *inside = &finding->at[WEFT_CAUSE_INSIDE];
    while (inside->n > 0 && finding->n_further + 1 < inside->n &&
           inside->items[finding->n_further + 1]->share >= FURTHER * inside->items[0]->share)
        finding->n_further++;
}

/* Nodes that have at least half as much of the difference, in the same context. */
static bool fill_beside(struct filling *filling)
{
    struct weft_finding *finding = filling->finding;
    const struct weft_compare_table *table = finding->table;
    const struct weft_finding_causes *inside = &finding->at[WEFT_CAUSE_INSIDE];
    const struct weft_compare_cause *first = inside->n > 0 ? inside->items[0]->cause : NULL;
    const struct weft_compare_node *named = first ? inside->items[0]->row : NULL;
    if (!named || first->context == 0)
        return true;
    finding->beside = WEFT_ARENA_NEW(filling->log.arena, table->n_ranked + 1, uint32_t);
    for (size_t i = 0; finding->beside && i < table->n_ranked; i++) {
        const struct weft_compare_node *row = &table->nodes[table->ranked[i]];
        if (row != named && row->difference_ns >= named->difference_ns / 2 &&
            is_below(finding->matrix, row->node, first->context) &&
            !weft_node_is_outside(finding->matrix, row->node))
            finding->beside[finding->n_beside++] = row->node;
    }
    return finding->beside;
}

/* Single slow executions, and their place in the text: before all else if nothing else is
 * significant, and one is noticed. */
static bool fill_singles(struct filling *filling)
{
    struct weft_finding *finding = filling->finding;
    const bool has_causes = finding->at[WEFT_CAUSE_INSIDE].n > 0;
    finding->single =
        WEFT_ARENA_NEW(filling->log.arena, WEFT_SINGLES_MOST, struct weft_finding_single);
    if (!finding->single)
        return false;
    finding->n_all_singles = weft_singles_list(filling->facts, finding->single);
    finding->n_single = finding->n_all_singles < WEFT_SINGLES_MOST ? finding->n_all_singles
                                                                   : (size_t)WEFT_SINGLES_MOST;
    for (size_t i = 0; i < finding->n_single; i++)
        if (!weft_single_describe(filling->facts, &finding->single[i]))
            return false;
    if (finding->n_single == 0 || finding->is_versus || finding->tail.is_alone ||
        finding->verdict == WEFT_VERDICT_PAUSE || finding->verdict == WEFT_VERDICT_TRIFLE ||
        (!has_causes && !finding->tail.is_found))
        return true;
    const bool is_first = !finding->is_significant && filling->facts->is_proposed &&
                          finding->single[0].is_noticed && !finding->single[0].is_outside;
    finding->singles = is_first ? WEFT_SINGLES_BEFORE : WEFT_SINGLES_AFTER;
    return true;
}

/* Of the sentences: that of the first cause, or of all executions if there is none. */
static void fill_confidence(struct weft_finding *finding, double lost)
{
    const struct weft_finding_causes *inside = &finding->at[WEFT_CAUSE_INSIDE];
    if (finding->table && finding->is_versus)
        finding->confidence = weft_compare_verdict_of(finding->matrix, finding->table).confidence;
    else if (inside->n > 0)
        finding->confidence = inside->items[0]->confidence;
    else
        finding->confidence = weft_confidence_basis_of(finding->matrix, NULL, 0);
    finding->confidence.lost = lost;
}

static void fill_verdict(struct filling *filling)
{
    const struct weft_facts *facts = filling->facts;
    const struct weft_judgement judgement =
        weft_verdict_of(facts, &filling->relations, &filling->log);
    *filling->finding = (struct weft_finding){
        .type = facts->type,
        .matrix = facts->matrix,
        .table = facts->table,
        .tail = facts->tail,
        .a = facts->a,
        .b = facts->b,
        .choice = facts->choice,
        .is_versus = facts->is_versus,
        .has_no_switches = facts->has_switches == WEFT_FACT_NO,
        .verdict = judgement.verdict,
        .rule = judgement.rule,
        .is_significant = judgement.is_significant,
        .rank = judgement.rank,
        .cost_ns = weft_facts_cost_ns(facts),
        .trace_ns = facts->trace_ns.value < 0x1p64 ? (uint64_t)facts->trace_ns.value : UINT64_MAX,
        .lost = facts->lost.is_known ? facts->lost.value : -1,
        .timer_share = judgement.verdict == WEFT_VERDICT_PAUSE ? weft_facts_timer_share(facts) : 0,
        .work = facts->work,
        .felt_by = filling->relations.unfelt_by ? filling->relations.unfelt_by->type
                                                : (struct weft_str){ 0 },
        .own_cpu = facts->saturation.own,
        .other_cpu = facts->saturation.other,
        .tried = filling->log.tried,
    };
}

static bool fill(struct filling *filling)
{
    struct weft_finding *finding = filling->finding;
    fill_verdict(filling);
    if (!fill_causes(filling))
        return false;
    fill_places(finding);
    finding->is_full = weft_saturation_is_full(&filling->facts->saturation) &&
                       finding->at[WEFT_CAUSE_OUTSIDE].n + finding->at[WEFT_CAUSE_CROWDED].n > 0;
    fill_confidence(finding, filling->facts->lost.value);
    return fill_beside(filling) && fill_singles(filling);
}

/* ---- all types ------------------------------------------------------------------------------- */

/* What others have to do with a type: what happens to a thread that others wait for is reported
 * with them, or does no harm. False without memory. */
static bool find_relations(const struct weft_facts *facts, size_t n, size_t i,
                           struct weft_relations *relations)
{
    *relations = (struct weft_relations){ .is_within = false };
    if (!weft_facts_are_significant(&facts[i]))
        return true;
    for (size_t k = 0; k < n; k++) {
        bool serves;
        if (k == i)
            continue;
        relations->is_within |= weft_facts_is_within(&facts[i], &facts[k]);
        if (!weft_facts_find_serves(&facts[i], &facts[k], &serves))
            return false;
        if (serves && weft_facts_is_felt(&facts[i], &facts[k]))
            relations->is_within = true;
        else if (serves)
            relations->unfelt_by = &facts[k];
    }
    if (relations->is_within)
        relations->unfelt_by = NULL;
    return true;
}

/* What costs most first; what is healthy in its order. */
static int by_cost(const void *a, const void *b)
{
    const struct weft_finding *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    return weft_str_compare(x->type, y->type);
}

/* The executions of a matrix of one, as slow ones beside no usual ones. */
static struct weft_compare_table *table_of_one(struct weft_arena *arena,
                                               const struct weft_ecct_matrix *matrix)
{
    struct weft_compare_table *table = WEFT_ARENA_NEW(arena, 1, struct weft_compare_table);
    const size_t n = (size_t)matrix->starts[1];
    if (!table)
        return NULL;
    table->items_b = WEFT_ARENA_NEW(arena, 1, uint32_t);
    table->nodes = WEFT_ARENA_NEW(arena, n + 1, struct weft_compare_node);
    table->n_b = 1;
    for (size_t i = 0; table->nodes && i < n; i++)
        table->nodes[table->n_nodes++] =
            (struct weft_compare_node){ .node = matrix->node[i],
                                        .n_b = 1,
                                        .mean_b_ns = (double)matrix->ns[i],
                                        .difference_ns = (double)matrix->ns[i] };
    return table->items_b && table->nodes ? table : NULL;
}

/* Threads of Go carry goroutines from one to the other: which of them waits for which says nothing
 * of these. Is it such a wait, or work? */
static bool is_of_goroutines(const struct weft_problem *problem)
{
    struct weft_frame_path path;
    weft_frame_path_of(problem->finding->matrix, problem->node, &path);
    for (size_t i = 0; i < path.n; i++)
        if (path.frames[i]->kind == WEFT_FRAME_FUNCTION &&
            weft_str_is_one_of(path.frames[i]->name,
                               "runtime.goexit|runtime.goexit.abi0|runtime.mcall|runtime.schedule|"
                               "runtime.findRunnable|runtime.mstart1|runtime.mstart.abi0"))
            return true;
    return false;
}

static bool is_of_loop(const struct weft_problem *problem)
{
    return weft_loop_name_of(problem->finding->type).call.n_bytes > 0;
}

/* Loop iterations of such threads are none of a goroutine, nor are those of threads of their name
 * of which no stack is known. */
static enum weft_code put_goroutines_last(struct weft_findings_table *table, struct weft_err *err)
{
    struct weft_problems_table *problems = table->problems;
    for (size_t i = 0; i < problems->n_rows; i++) {
        if (!is_of_loop(&problems->rows[i]) || !is_of_goroutines(&problems->rows[i]))
            continue;
        table->has_goroutines = true;
        for (size_t k = 0; k < problems->n_rows; k++)
            problems->rows[k].is_small |=
                is_of_loop(&problems->rows[k]) &&
                weft_threads_are_alike(problems->rows[k].waiter, problems->rows[i].waiter);
    }
    return table->has_goroutines ? weft_problems_rank(problems, table->n_rows, err) : WEFT_OK;
}

enum weft_code weft_findings_add_whole(struct weft_findings_table *table,
                                       const struct weft_ecct_matrix *matrix, struct weft_err *err)
{
    struct weft_compare_table *compared = table_of_one(table->arena, matrix);
    struct weft_finding *whole = WEFT_ARENA_NEW(table->arena, 1, struct weft_finding);
    if (!compared || !whole)
        return weft_no_memory(err, "findings");
    *whole = (struct weft_finding){ .type = matrix->items[0].thread,
                                    .matrix = matrix,
                                    .table = compared,
                                    .is_versus = true,
                                    .verdict = WEFT_VERDICTS };
    table->whole = whole;
    struct weft_problems_table *problems = table->problems;
    const size_t n_before = problems->n_rows;
    WEFT_TRY(weft_problems_add(whole, problems, err));
    /* a program that hangs has no path worth reading */
    for (size_t i = n_before; i < problems->n_rows; i++) {
        const bool is_of_go = is_of_goroutines(&problems->rows[i]);
        problems->rows[i].is_small |= problems->n_deadlocks > 0 || is_of_go;
        table->has_goroutines |= is_of_go;
    }
    return WEFT_OK;
}

/* ---- what all executions spend their time on ------------------------------------------------- */

/* All executions of a matrix, as slow ones beside no usual ones. */
static struct weft_compare_table *table_of_all(struct weft_arena *arena,
                                               const struct weft_ecct_matrix *matrix)
{
    struct weft_compare_table *table = WEFT_ARENA_NEW(arena, 1, struct weft_compare_table);
    const double n = (double)matrix->n_items;
    if (!table)
        return NULL;
    table->items_b = WEFT_ARENA_NEW(arena, matrix->n_items + 1, uint32_t);
    table->nodes = WEFT_ARENA_NEW(arena, matrix->n_nodes + 1, struct weft_compare_node);
    if (!table->items_b || !table->nodes)
        return NULL;
    table->n_b = matrix->n_items;
    table->n_nodes = matrix->n_nodes;
    for (size_t i = 0; i < matrix->n_items; i++)
        table->items_b[i] = (uint32_t)i;
    for (size_t i = 0; i < matrix->n_nodes; i++)
        table->nodes[i].node = (uint32_t)i;
    for (uint64_t at = 0; at < matrix->starts[matrix->n_items]; at++)
        table->nodes[matrix->node[at]].mean_b_ns += (double)matrix->ns[at] / n;
    for (size_t i = 0; i < matrix->n_nodes; i++)
        table->nodes[i].difference_ns = table->nodes[i].mean_b_ns;
    return table;
}

/* Threads in each other's way: of other waits it is unknown whether they are meant. */
static bool is_of_threads(enum weft_problem_kind kind)
{
    return weft_problem_is_of_lock(kind) || kind == WEFT_PROBLEM_POOL ||
           kind == WEFT_PROBLEM_ALLOCATOR || kind == WEFT_PROBLEM_SPIN;
}

static bool is_worth_all(const struct weft_problem *problem, const struct weft_finding *finding)
{
    return is_of_threads(problem->kind) && problem->share >= MUCH_OF_ALL &&
           problem->cost_ns >= OF_TRACE * (double)finding->trace_ns;
}

/* Does it say more than that a thread works, or waits? */
static bool is_telling(const struct weft_problem *problem)
{
    return problem->kind != WEFT_PROBLEM_UNKNOWN && !weft_kind_is_outside(problem->kind) &&
           (problem->kind != WEFT_PROBLEM_CODE || problem->holder.n_bytes > 0 ||
            problem->waiting.n > 0);
}

static bool is_work(const struct weft_problem *problem)
{
    return problem->kind == WEFT_PROBLEM_CODE || problem->kind == WEFT_PROBLEM_CPU;
}

static bool keep(struct weft_findings_table *table, const struct weft_problem *problem,
                 const struct weft_problem **kept)
{
    struct weft_problem *copy = WEFT_ARENA_NEW(table->arena, 1, struct weft_problem);
    if (copy)
        *copy = *problem;
    *kept = copy;
    return copy;
}

/* Rows from `first` on are of all executions of the finding's type. */
static enum weft_code keep_of_all(struct weft_findings_table *table, struct weft_finding *finding,
                                  size_t first, struct weft_err *err)
{
    struct weft_problems_table *problems = table->problems;
    size_t n = first;
    for (size_t i = first; i < problems->n_rows; i++) {
        const struct weft_problem *problem = &problems->rows[i];
        if (is_worth_all(problem, finding))
            problems->rows[n++] = *problem;
        else if (problem->share >= MOST_OF_ALL && is_telling(problem) && !is_work(problem) &&
                 !keep(table, problem, &finding->mostly))
            return weft_no_memory(err, "findings");
    }
    problems->n_rows = n;
    return WEFT_OK;
}

static enum weft_code add_all_of(struct weft_findings_table *table, struct weft_finding *finding,
                                 struct weft_err *err)
{
    struct weft_finding *all = WEFT_ARENA_NEW(table->arena, 1, struct weft_finding);
    struct weft_compare_table *compared = table_of_all(table->arena, finding->matrix);
    const size_t first = table->problems->n_rows;
    if (!all || !compared)
        return weft_no_memory(err, "findings");
    *all = *finding;
    all->table = compared;
    all->all_of = finding;
    all->is_versus = true;
    all->verdict = WEFT_VERDICTS;
    WEFT_TRY(weft_problems_add(all, table->problems, err));
    return keep_of_all(table, finding, first, err);
}

bool weft_findings_have_any(const struct weft_findings_table *table)
{
    const struct weft_problems_table *problems = table->problems;
    bool has_any = problems->n_deadlocks > 0 || problems->n_syncs > 0;
    for (size_t i = 0; i < problems->n_rows; i++)
        has_any |= !problems->rows[i].is_small;
    return has_any;
}

/* A path that sleeps, or that waits for another program, does not say what could be changed. */
static bool is_of_path(const struct weft_problem *problem)
{
    return is_telling(problem) && problem->kind != WEFT_PROBLEM_SLEEP &&
           problem->kind != WEFT_PROBLEM_NETWORK && problem->kind != WEFT_PROBLEM_CHILD;
}

enum weft_code weft_findings_add_path(struct weft_findings_table *table,
                                      const struct weft_ecct_matrix *matrix, struct weft_err *err)
{
    struct weft_problems_table *problems = table->problems;
    const size_t n_before = problems->n_rows;
    enum weft_code code = weft_findings_add_whole(table, matrix, err);
    for (size_t i = n_before; i < problems->n_rows && code == WEFT_OK; i++)
        if (problems->rows[i].share >= MOST_OF_ALL && is_of_path(&problems->rows[i]) &&
            !is_of_goroutines(&problems->rows[i]) &&
            !keep(table, &problems->rows[i], &table->path_mostly))
            code = weft_no_memory(err, "findings");
    problems->n_rows = n_before;
    table->whole = NULL;
    return code;
}

enum weft_code weft_findings_add_all(struct weft_findings_table *table, struct weft_err *err)
{
    size_t n = 0;
    if (weft_findings_have_any(table))
        return WEFT_OK;
    for (size_t i = 0; i < table->n_rows && n < TYPES_OF_ALL; i++) {
        struct weft_finding *finding = &table->rows[i];
        if (finding->is_versus || finding->is_significant ||
            finding->matrix->n_items < LEAST_OF_ALL)
            continue;
        WEFT_TRY(add_all_of(table, finding, err));
        n++;
    }
    return weft_problems_rank(table->problems, table->n_rows, err);
}

static void release_problems(void *owned)
{
    const struct weft_findings_table *table = owned;
    weft_result_free(table->problems);
}

enum weft_code weft_findings_run(const struct weft_facts *facts, size_t n,
                                 struct weft_findings_table **table, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_findings_table *made =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_findings_table) : NULL;
    bool is_good = made;
    *table = NULL;
    if (made) {
        *made = (struct weft_findings_table){
            .arena = arena, .rows = WEFT_ARENA_NEW(arena, n + 1, struct weft_finding)
        };
        is_good = made->rows;
    }
    for (size_t i = 0; is_good && i < n; i++) {
        struct filling filling = { .facts = &facts[i],
                                   .finding = &made->rows[made->n_rows++],
                                   .log = { .arena = arena } };
        is_good = find_relations(facts, n, i, &filling.relations) && fill(&filling);
    }
    if (!is_good) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "findings");
    }
    qsort(made->rows, made->n_rows, sizeof *made->rows, by_cost);
    enum weft_code code = weft_problems_run(made, &made->problems, err);
    WEFT_THEN(code, put_goroutines_last(made, err));
    if (code != WEFT_OK) {
        weft_arena_free(arena);
        return code;
    }
    weft_arena_own(arena, release_problems, made);
    *table = made;
    return WEFT_OK;
}
