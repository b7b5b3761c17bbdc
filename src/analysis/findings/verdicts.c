/* SPDX-License-Identifier: MIT
 *
 * Rules of verdicts: what is said of the executions of a type.
 */
#include "analysis/findings/verdicts.h"

#include "analysis/compare/names.h"
#include "analysis/compare/verdict.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/findings.h"
#include "analysis/findings/singles.h"
#include "schema/event.h"

#include <math.h>

static const double EVIDENCE_P = 0.05;
static const double SMALL_SHARE = 0.2; /* of all time, */
static const double SMALL_FAR = 10;    /* times the usual duration at most */
static const double TINY_COST = 0.05;  /* of all time, of a type that was asked for */
static const double MILD = 2;          /* times the usual duration, that is not noticed */
static const double MUCH = 0.5;        /* of what they last longer, that more calls have to be */
static const double MUCH_MORE = 100;   /* times as many calls */
static const double LONGER_CALL = 2; /* times as long as usual: the call is slow, not its number */
static const double TRIFLE = 0.002;  /* of the time that was recorded; */
static const double TRIFLE_SHORT = 0.01; /* of executions that are longer by less than this: */
static const double SHORT_NS = 10e6;
static const double NOTICED_NS = 100e6; /* that a user who waits for it notices */
static const double NOTICED = 0.05;     /* of the time that was recorded, of single executions */
static const double PAUSE = 0.5;        /* of the time of fast executions, that is for a timer */

/* What a rule looks at. */
struct judged {
    const struct weft_facts *facts;
    const struct weft_relations *relations;
    const struct weft_compare_cause *first; /* within the program; NULL: there is none */
};

double weft_facts_cost_ns(const struct weft_facts *facts)
{
    double sum_ns = 0;
    for (size_t i = 0; facts->table && i < facts->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        if (weft_cause_place_of(facts, cause, NULL) == WEFT_CAUSE_INSIDE)
            sum_ns += weft_cause_cost_ns(facts, cause);
    }
    return sum_ns;
}

/* Is the wait too short to be noticed? A tail of few is what percentiles are looked at for: it may
 * cost little, if those that have it are as long as usual, nearly, or by a few turns of a
 * scheduler longer. */
static bool is_minor(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const double usual_ns = facts->table->metrics[0].mean_a;
    const bool is_short = cause->duration_ns - usual_ns < SHORT_NS;
    if (!facts->is_proposed)
        return is_short && cause->duration_ns < SMALL_FAR * usual_ns &&
               weft_cause_share(facts, cause) < TINY_COST;
    return weft_cause_is_small(facts, cause) && (is_short || cause->duration_ns < MILD * usual_ns);
}

/* Are all causes within the program like that? */
static bool all_causes(const struct weft_facts *facts,
                       bool (*is)(const struct weft_facts *, const struct weft_compare_cause *))
{
    for (size_t i = 0; i < facts->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        if (weft_cause_place_of(facts, cause, NULL) == WEFT_CAUSE_INSIDE && !is(facts, cause))
            return false;
    }
    return true;
}

static bool is_unnoticed(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_compare_cause *first = judged->first;
    (void)weft_rule_below(tried, "longer_ns", WEFT_RULE_NS,
                          first->duration_ns - judged->facts->table->metrics[0].mean_a, SHORT_NS);
    (void)weft_rule_below(tried, "cost_share", WEFT_RULE_SHARE,
                          weft_cause_share(judged->facts, first),
                          judged->facts->is_proposed ? SMALL_SHARE : TINY_COST);
    return all_causes(judged->facts, is_minor);
}

static bool is_more_work(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_work *work = &judged->facts->work;
    const double more_ns = (work->slow_calls - work->usual_calls) * work->usual_ns;
    return weft_rule_at_least(tried, "more_calls_ns", WEFT_RULE_NS, more_ns,
                              MUCH * judged->first->difference_ns) &&
           weft_rule_below(tried, "call_ns", WEFT_RULE_NS, work->slow_ns,
                           LONGER_CALL * work->usual_ns);
}

/* So much more that it is no larger task of the same kind. */
static bool is_much_more_work(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_work *work = &judged->facts->work;
    return is_more_work(judged, tried) &&
           weft_rule_at_least(tried, "calls", WEFT_RULE_COUNT, work->slow_calls,
                              MUCH_MORE * work->usual_calls) &&
           weft_rule_at_least(tried, "cost_share", WEFT_RULE_SHARE,
                              weft_cause_share(judged->facts, judged->first), TINY_COST);
}

struct weft_str weft_facts_work_of(const struct weft_facts *facts)
{
    const struct weft_compare_cause *list[2];
    struct weft_frame_path path;
    size_t places[WEFT_NAMED_FUNCTIONS];
    if (!facts->is_proposed || facts->is_versus || !facts->table ||
        weft_causes_list(facts, WEFT_CAUSE_INSIDE, list, 2) != 1 ||
        !weft_node_is_own_run(facts->matrix, list[0]->node))
        return WEFT_STR("");
    weft_frame_path_of(facts->matrix, list[0]->node, &path);
    const struct weft_path_part part = weft_path_part_at(&path, 0);
    if (weft_path_functions(&path, &part, places) == 0)
        return WEFT_STR("");
    return path.frames[places[0]]->name;
}

double weft_facts_timer_share(const struct weft_facts *facts)
{
    const struct weft_compare_table *table = facts->table;
    double sum_ns = 0;
    for (size_t i = 0; i < table->n_nodes; i++)
        if (weft_node_is_blocked(facts->matrix, table->nodes[i].node, WEFT_PATH_TIMER) &&
            weft_node_is_own(facts->matrix, table->nodes[i].node))
            sum_ns += table->nodes[i].mean_a_ns;
    return table->metrics[0].mean_a > 0 ? sum_ns / table->metrics[0].mean_a : 0;
}

static bool is_own_sleep(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    return weft_node_is_blocked(facts->matrix, cause->node, WEFT_PATH_TIMER) &&
           weft_node_is_own(facts->matrix, cause->node);
}

static bool is_pause(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_facts *facts = judged->facts;
    const struct weft_compare_table *table = facts->table;
    if (table->n_metrics == 0 || weft_rule_below(tried, "timer_share", WEFT_RULE_SHARE,
                                                 weft_facts_timer_share(facts), PAUSE))
        return false;
    for (size_t i = 0; i < table->n_causes; i++)
        if (weft_cause_place_of(facts, &table->causes[i], NULL) == WEFT_CAUSE_INSIDE &&
            !is_own_sleep(facts, &table->causes[i]))
            return false;
    return true;
}

/* By how much the slow executions that have a cause in the program are longer, the most of each. */
static double longer_ns(const struct weft_facts *facts)
{
    const double usual_ns = facts->table->metrics[0].mean_a;
    double most_ns = 0;
    for (size_t i = 0; i < facts->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        if (weft_cause_place_of(facts, cause, NULL) == WEFT_CAUSE_INSIDE)
            most_ns = fmax(most_ns, cause->duration_ns - usual_ns);
    }
    return most_ns;
}

static bool is_trifle(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_facts *facts = judged->facts;
    const double ns = longer_ns(facts);
    const double share = ns < SHORT_NS ? TRIFLE_SHORT : TRIFLE;
    return weft_rule_below(tried, "longer_ns", WEFT_RULE_NS, ns, NOTICED_NS) &&
           weft_rule_below(tried, "cost_ns", WEFT_RULE_NS, weft_facts_cost_ns(facts),
                           share * facts->trace_ns.value);
}

bool weft_execution_is_noticed(const struct weft_facts *facts, uint64_t ns)
{
    const double longer = (double)ns - facts->tail.fast_median_ns;
    return !facts->is_proposed || !facts->trace_ns.is_known || longer >= NOTICED_NS ||
           longer >= NOTICED * facts->trace_ns.value;
}

/* What the innermost thread of a cause does: names of its functions and state, as one number; 0
 * without functions. */
static uint64_t end_of(const struct weft_frame_path *path, size_t from)
{
    const struct weft_path_part part = weft_path_part_at(path, from);
    size_t places[WEFT_NAMED_FUNCTIONS];
    const size_t n = weft_path_functions(path, &part, places);
    uint64_t hash = WEFT_FRAME_HASH;
    if (n == 0)
        return 0;
    hash = weft_frame_hash(hash, path->frames[places[0]]);
    return part.state < part.to ? weft_frame_hash(hash, path->frames[part.state]) : hash;
}

/* ---- the table ------------------------------------------------------------------------------- */

enum { FEW_EXECUTIONS = 10 };

/* In the order in which types are reported. */
enum { TELLS, IS_PART, IS_TAIL, IS_SLOW, HAS_SINGLES, HEALTHY };

static bool always(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)judged;
    (void)tried;
    return true;
}

static bool has_evidence(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_compare_table *table = judged->facts->table;
    if (table->n_metrics > 0)
        (void)weft_rule_below(tried, "p", WEFT_RULE_RATIO, table->metrics[0].p, EVIDENCE_P);
    return weft_compare_has_evidence(judged->facts->matrix, table);
}

/* Another program had the processor, of all of them: that is no fault of this one. */
static bool is_each_outside(const struct judged *judged, struct weft_rule_try *tried)
{
    struct weft_finding_single list[WEFT_SINGLES_MOST];
    const size_t n = weft_singles_list(judged->facts, list);
    (void)tried;
    for (size_t i = 0; i < n && i < WEFT_SINGLES_MOST; i++)
        if (!weft_single_is_outside(judged->facts, list[i].item))
            return false;
    return n > 0;
}

static bool is_none_noticed(const struct judged *judged, struct weft_rule_try *tried)
{
    struct weft_finding_single list[WEFT_SINGLES_MOST];
    const size_t n = weft_singles_list(judged->facts, list);
    if (n > 0 && judged->facts->is_proposed && judged->facts->trace_ns.is_known)
        (void)weft_rule_below(tried, "longer_ns", WEFT_RULE_NS,
                              (double)list[0].ns - judged->facts->tail.fast_median_ns,
                              fmin(NOTICED_NS, NOTICED * judged->facts->trace_ns.value));
    for (size_t i = 0; i < n && i < WEFT_SINGLES_MOST; i++)
        if (weft_execution_is_noticed(judged->facts, list[i].ns))
            return false;
    return true;
}

static bool is_unfelt(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)tried; /* a wait for another thread is felt by the executions themselves */
    return judged->relations->unfelt_by &&
           weft_node_is_own(judged->facts->matrix, judged->first->node);
}

static bool is_itself(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)tried;
    return weft_node_is_type_itself(judged->facts, judged->first->node);
}

static bool is_part_of_other(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)tried;
    return judged->relations->is_within;
}

static bool is_part(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)tried;
    return judged->facts->is_part;
}

static bool is_small_tail(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)weft_rule_below(tried, "cost_share", WEFT_RULE_SHARE,
                          weft_cause_share(judged->facts, judged->first), SMALL_SHARE);
    return all_causes(judged->facts, weft_cause_is_small);
}

/* Executions of a place, of its first causes. */
static double items_at(const struct weft_facts *facts, enum weft_cause_place place)
{
    const struct weft_compare_cause *list[WEFT_PLACE_CAUSES];
    const size_t n = weft_causes_list(facts, place, list, WEFT_PLACE_CAUSES);
    uint64_t sum = 0;
    for (size_t i = 0; i < n && i < WEFT_PLACE_CAUSES; i++)
        sum += list[i]->n_items;
    return (double)sum;
}

static bool is_most(const struct weft_facts *facts, double n_items, struct weft_rule_try *tried)
{
    return weft_rule_above(tried, "executions", WEFT_RULE_COUNT, n_items,
                           (double)facts->tail.n_slow / 2);
}

/* Other programs make most of them slow, by themselves or by what they leave: more by themselves?
 */
static bool is_other_program(const struct judged *judged, struct weft_rule_try *tried)
{
    const double n_outside = items_at(judged->facts, WEFT_CAUSE_OUTSIDE);
    const double n_crowded = items_at(judged->facts, WEFT_CAUSE_CROWDED);
    return is_most(judged->facts, n_outside + n_crowded, tried) && n_outside >= n_crowded;
}

static bool is_full_machine(const struct judged *judged, struct weft_rule_try *tried)
{
    return is_most(judged->facts,
                   items_at(judged->facts, WEFT_CAUSE_OUTSIDE) +
                       items_at(judged->facts, WEFT_CAUSE_CROWDED),
                   tried);
}

static bool is_due_first(const struct judged *judged, struct weft_rule_try *tried)
{
    return is_most(judged->facts, items_at(judged->facts, WEFT_CAUSE_DUE), tried);
}

static bool is_idle(const struct judged *judged, struct weft_rule_try *tried)
{
    return weft_facts_are_mostly(judged->facts, WEFT_VERDICT_IDLE, tried);
}

static bool is_polling(const struct judged *judged, struct weft_rule_try *tried)
{
    return weft_facts_are_mostly(judged->facts, WEFT_VERDICT_POLLING, tried);
}

static bool is_majority(const struct judged *judged, struct weft_rule_try *tried)
{
    return weft_facts_are_mostly(judged->facts, WEFT_VERDICT_MAJORITY, tried);
}

static bool is_too_few(const struct judged *judged, struct weft_rule_try *tried)
{
    const struct weft_slow_tail *tail = &judged->facts->tail;
    return weft_rule_below(tried, "executions", WEFT_RULE_COUNT,
                           (double)(tail->n_fast + tail->n_slow), FEW_EXECUTIONS);
}

static bool is_not_apart(const struct judged *judged, struct weft_rule_try *tried)
{
    (void)tried;
    return judged->facts->tail.is_worthy;
}

enum {
    COMPARED = WEFT_NEED_COMPARED,
    GIVEN = WEFT_NEED_COMPARED | WEFT_NEED_GIVEN,
    CUT = WEFT_NEED_COMPARED | WEFT_NEED_CUT,
    CAUSE = WEFT_NEED_COMPARED | WEFT_NEED_CUT | WEFT_NEED_CAUSE,
    TAIL = WEFT_NEED_COMPARED | WEFT_NEED_TAIL,
    PROPOSED = WEFT_NEED_PROPOSED
};

static const struct verdict_rule {
    enum weft_verdict verdict;
    const char *name;
    uint32_t needs; /* enum weft_rule_need */
    bool (*test)(const struct judged *judged, struct weft_rule_try *tried);
    bool is_significant;
    unsigned rank; /* of what is significant */
    const char *why;
} verdict_rules[] = {
    { WEFT_VERDICT_DIFFERS, "differs", GIVEN, has_evidence, true, TELLS,
      "the groups differ in duration, or for sure in one context" },
    { WEFT_VERDICT_SAME, "same", WEFT_NEED_GIVEN, always, false, 0,
      "there is no evidence that the groups differ" },
    { WEFT_VERDICT_PAUSE, "pause", CUT | PROPOSED, is_pause, false, 0,
      "it is a pause of the program: at least half of its time is a timer" },
    { WEFT_VERDICT_SINGLE_OTHER_PROGRAM, "single_other_program", CUT | WEFT_NEED_SINGLES,
      is_each_outside, false, 0, "another program had the CPU in each single slow execution" },
    { WEFT_VERDICT_SINGLE_UNNOTICED, "single_unnoticed", CUT | WEFT_NEED_SINGLES, is_none_noticed,
      false, 0, "the single slow executions are too short to be noticed" },
    { WEFT_VERDICT_SINGLE, "single", CUT | WEFT_NEED_SINGLES, always, false, 0,
      "single executions are far slower; there are too few for a common cause" },
    { WEFT_VERDICT_TRIFLE, "trifle", CAUSE | PROPOSED | WEFT_NEED_TRACE_NS, is_trifle, false, 0,
      "slow executions cost a negligible part of the recorded time" },
    { WEFT_VERDICT_MORE_WORK, "much_more_work", CAUSE | WEFT_NEED_WORK, is_much_more_work, true,
      IS_SLOW, "they call a function a hundred times as often, or more" },
    { WEFT_VERDICT_MORE_WORK, "more_work", CAUSE | WEFT_NEED_WORK, is_more_work, false, 0,
      "they call a function more often, which is as fast as usual" },
    { WEFT_VERDICT_UNFELT, "unfelt", CAUSE, is_unfelt, false, 0,
      "executions that wait for the thread are not slow for it" },
    { WEFT_VERDICT_UNNOTICED, "unnoticed", CAUSE, is_unnoticed, false, 0,
      "it costs little, and they are not much longer" },
    { WEFT_VERDICT_ITSELF, "itself", CAUSE, is_itself, true, IS_SLOW,
      "the function that the type is called by is longer itself" },
    { WEFT_VERDICT_PART_OF_OTHER, "part_of_other", CAUSE, is_part_of_other, true, IS_PART,
      "another type of executions is slow because it waits for this" },
    { WEFT_VERDICT_PART, "part", CAUSE, is_part, true, IS_PART,
      "most calls of the function are parts of others that repeat" },
    { WEFT_VERDICT_SMALL_TAIL, "small_tail", CAUSE, is_small_tail, true, IS_TAIL,
      "they have a cause in common, which costs little" },
    { WEFT_VERDICT_CAUSE, "cause_in_program", CAUSE, always, true, TELLS,
      "they have a cause in the program in common" },
    { WEFT_VERDICT_OTHER_PROGRAM, "other_program", TAIL, is_other_program, false, 0,
      "another program had the CPU in most slow executions" },
    { WEFT_VERDICT_FULL_MACHINE, "full_machine", TAIL, is_full_machine, false, 0,
      "most slow executions share the CPUs that other programs leave" },
    { WEFT_VERDICT_DUE_FIRST, "due_first", TAIL, is_due_first, false, 0,
      "in most slow executions a thread that is due more often goes first" },
    { WEFT_VERDICT_IDLE, "idle", TAIL | PROPOSED, is_idle, false, 0,
      "most slow executions wait for something to do" },
    { WEFT_VERDICT_POLLING, "polling", TAIL | PROPOSED, is_polling, false, 0,
      "the usual executions find nothing to do" },
    { WEFT_VERDICT_MAJORITY, "majority", TAIL | PROPOSED, is_majority, false, 0,
      "more than half of the executions do that" },
    { WEFT_VERDICT_NO_COMMON_CAUSE, "no_common_cause", TAIL, always, false, 0,
      "the slow executions have no cause in common that stands out" },
    { WEFT_VERDICT_TOO_FEW, "too_few", 0, is_too_few, false, 0,
      "there are too few executions to separate slow ones" },
    { WEFT_VERDICT_NOT_APART, "not_apart", 0, is_not_apart, false, 0,
      "no gap and no cause separates the slowest executions from the others" },
    { WEFT_VERDICT_NONE_SLOW, "none_slow", 0, always, false, 0,
      "no execution is slower than the spread of all" },
};

enum { N_VERDICT_RULES = sizeof verdict_rules / sizeof *verdict_rules };

struct weft_judgement weft_verdict_of(const struct weft_facts *facts,
                                      const struct weft_relations *relations,
                                      struct weft_rule_log *log)
{
    struct judged judged = { .facts = facts, .relations = relations };
    const struct verdict_rule *fired = NULL;
    if (weft_causes_list(facts, WEFT_CAUSE_INSIDE, &judged.first, 1) == 0)
        judged.first = NULL;
    weft_rule_log_begin(log, N_VERDICT_RULES);
    for (size_t i = 0; i < N_VERDICT_RULES && !fired; i++) { /* the last one always fires */
        const struct verdict_rule *rule = &verdict_rules[i];
        const char *missing = weft_rule_missing(facts, rule->needs, judged.first);
        struct weft_rule_try tried = { .n = 0 };
        if (!missing && rule->test(&judged, log ? &tried : NULL))
            fired = rule;
        weft_rule_log_add(log, rule->name, rule->why, fired, missing, &tried);
    }
    const struct weft_compare_cause *single;
    struct weft_judgement judgement = { .verdict = fired->verdict,
                                        .rule = fired->name,
                                        .is_significant = fired->is_significant,
                                        .rank = fired->rank };
    if (!fired->is_significant)
        judgement.rank =
            weft_causes_list(facts, WEFT_CAUSE_ALONE, &single, 1) > 0 ? HAS_SINGLES : HEALTHY;
    else if (facts->is_versus && facts->is_part)
        judgement.rank = IS_PART;
    return judgement;
}

bool weft_facts_are_significant(const struct weft_facts *facts)
{
    const struct weft_relations none = { .is_within = false };
    return weft_verdict_of(facts, &none, NULL).is_significant;
}

bool weft_facts_is_within(const struct weft_facts *part, const struct weft_facts *whole)
{
    const struct weft_compare_cause *inner, *outer;
    struct weft_frame_path path;
    if (!part->is_proposed || part->is_versus || !weft_facts_are_significant(part) ||
        !weft_facts_are_significant(whole))
        return false;
    (void)weft_causes_list(part, WEFT_CAUSE_INSIDE, &inner, 1);
    (void)weft_causes_list(whole, WEFT_CAUSE_INSIDE, &outer, 1);
    if (!weft_node_is_own(part->matrix, inner->node))
        return false;
    weft_frame_path_of(part->matrix, inner->node, &path);
    const uint64_t end = end_of(&path, 0);
    weft_frame_path_of(whole->matrix, outer->node, &path);
    const size_t from = weft_path_last_thread(&path);
    return from > 0 && end != 0 && end == end_of(&path, from) &&
           weft_threads_are_alike(path.frames[from - 1]->name,
                                  part->matrix->items[inner->example].thread);
}
