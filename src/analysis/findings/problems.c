/* SPDX-License-Identifier: MIT
 *
 * Groups the nodes of a comparison by what their time is, and compares the groups' time of slow
 * executions with that of usual ones. Called by findings.c; independent of traces and of wording.
 */
#include "analysis/findings/problems.h"

#include "analysis/compare/confidence.h"
#include "analysis/findings/calls.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/chains.h"
#include "analysis/findings/delays.h"
#include "analysis/findings/holds.h"
#include "analysis/findings/kinds.h"
#include "analysis/findings/places.h"
#include "base/map.h"
#include "base/statistics.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of what slow executions take longer: a cause of less is not worth a line of its own, */
static const double LEAST_EXPLAINED = 0.1;
/* and of the time of all: below it is a smaller one. */
static const double SMALL_SHARE = 0.01;
static const double SMALL_OF_WORK = 0.05; /* the same of work that takes longer; */
static const double VAGUE_SHARE = 0.25;   /* the same where no function of the program is known */
static const double AS_USUAL = 0.25;      /* of the mean of slow ones, for a wait that is none */
static const double POSSIBLE_SHARE = 0.6; /* the same of what may be chance */
/* Of the mean of slow executions, that a usual one has to have to count as one that has it, too. */
static const double AS_MUCH = 0.5;
static const double NEARLY_ALL = 0.8;
static const double EVIDENCE_P = 0.05;
enum { TOO_FEW = 4 };               /* slow ones, for a test of what they have in common */
enum { FEW_ITEMS = 20 };            /* executions, of which one may be slow by chance */
static const double FEW = 0.1;      /* of the slow ones, to be worth a line beside other programs */
static const double STILL_SLOW = 2; /* times as long as usual, without what other programs took */
static const double LEAST_OF_WHOLE = 0.02; /* of a critical path, */
static const double AVOIDABLE = 0.1;       /* and of what comes before work on it */

/* Times of one key. */
struct group {
    uint64_t key;
    struct {
        double more_ns, most_ns; /* what slow ones have more, and the most of one node: */
        uint32_t node;
        bool has_holder; /* it names the thread that is waited for, as others may not */
    } kinds[WEFT_PROBLEM_KINDS];
    double more_ns;               /* of all kinds */
    double sum_ns[2], squares[2]; /* of usual and slow executions */
    uint64_t n_main;              /* slow ones of which it is the largest part; */
    uint64_t n_acks;              /* for as long as a delayed ACK; */
    uint64_t n_with[2];           /* usual and slow ones that have AS_MUCH of it, */
    double with_ns;               /* and durations of these slow ones */
    double worst_ns;              /* the most of one slow execution: */
    uint32_t worst;
    uint32_t
        n_locks;     /* of one variable: an array of structures with a lock each; 0: one, or none */
    bool is_outside; /* for the most part: of what slow ones have more */
    bool is_of_end;  /* a wait for the end of a thread */
};

struct grouping {
    const struct weft_finding *finding;
    const struct weft_compare_table *table;
    uint32_t *of; /* by node: group + 1; 0: none */
    struct {
        struct group *items;
        size_t n, cap;
    } groups;
    double *ns;        /* by group, of one execution */
    uint32_t *touched; /* groups that it has */
    size_t n_touched;
    double usual_ns;   /* mean duration of the usual ones */
    double slower_ns;  /* what the slow ones last longer, all together; */
    double outside_ns; /* of that for nothing that the program does */
    size_t n_tests;    /* groups of which slow ones have more */
    struct weft_chain_stacks stacks;
    bool has_failed; /* no memory for these */
};

enum { USUAL, SLOW };

/* ---- groups ---------------------------------------------------------------------------------- */

/* What a node's time is, as far as groups are made of it. */
struct node_kind {
    uint64_t key;
    enum weft_problem_kind kind;
    bool is_of_end, has_holder;
};

/* Is it time of the execution's own thread, of which the place says what to change? */
static bool is_of_place(const struct weft_kind *kind)
{
    return !kind->holder &&
           (kind->kind == WEFT_PROBLEM_CODE || kind->kind == WEFT_PROBLEM_SPIN ||
            kind->kind == WEFT_PROBLEM_ALLOCATOR || kind->kind == WEFT_PROBLEM_FSYNC ||
            kind->kind == WEFT_PROBLEM_DISK || kind->kind == WEFT_PROBLEM_FAULT ||
            kind->kind == WEFT_PROBLEM_MINOR_FAULT);
}

static bool take_node(struct grouping *grouping, const struct weft_compare_node *row,
                      const struct node_kind *kind, struct weft_map *keys)
{
    bool is_new;
    const uint32_t place = weft_map_add(keys, kind->key, &is_new);
    if (place == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&grouping->groups)))
        return false;
    struct group *group = &grouping->groups.items[place];
    const double more_ns = row->difference_ns * (double)grouping->table->n_b;
    if (is_new)
        *group = (struct group){ .key = kind->key, .is_of_end = kind->is_of_end };
    grouping->of[row->node] = place + 1;
    if (more_ns <= 0)
        return true;
    group->more_ns += more_ns;
    group->kinds[kind->kind].more_ns += more_ns;
    const bool has_more = more_ns > group->kinds[kind->kind].most_ns;
    const bool has_holder = group->kinds[kind->kind].has_holder;
    if (kind->has_holder != has_holder ? kind->has_holder : has_more) {
        group->kinds[kind->kind].most_ns = more_ns;
        group->kinds[kind->kind].node = row->node;
        group->kinds[kind->kind].has_holder = kind->has_holder;
    }
    return true;
}

/* Kinds of the rows, and of those that have one the place. False without memory. */
static bool find_kinds(const struct grouping *grouping, struct node_kind *kinds)
{
    const struct weft_compare_table *table = grouping->table;
    const size_t n_nodes = grouping->finding->matrix->n_nodes + 1;
    uint8_t *placed = calloc(n_nodes, sizeof *placed);
    uint32_t *places = calloc(n_nodes, sizeof *places);
    struct weft_frame_path path;
    bool is_good = placed && places;
    for (size_t i = 0; is_good && i < table->n_nodes; i++) {
        weft_frame_path_of(grouping->finding->matrix, table->nodes[i].node, &path);
        struct weft_kind kind = weft_kind_of(&path);
        if (weft_delay_is_of_idle_peer(grouping->finding->type, &kind))
            weft_kind_be_late(&kind, &path);
        kinds[i] = (struct node_kind){ kind.key, kind.kind, kind.is_of_end, kind.holder };
        if (is_of_place(&kind))
            placed[table->nodes[i].node] = (uint8_t)(kind.kind + 1);
    }
    is_good = is_good && weft_places_find(grouping->finding, placed, places);
    for (size_t i = 0; is_good && i < table->n_nodes; i++)
        if (placed[table->nodes[i].node])
            kinds[i].key = weft_place_key(grouping->finding->matrix, kinds[i].key,
                                          places[table->nodes[i].node]);
    free(placed);
    free(places);
    return is_good;
}

/* What most of it is. A holder that works for long is preempted now and then: that is the problem
 * only if it makes nearly all of the wait. */
static enum weft_problem_kind kind_of(const struct group *group)
{
    const bool is_no_cpu =
        group->kinds[WEFT_PROBLEM_LOCK_NO_CPU].more_ns > NEARLY_ALL * group->more_ns;
    enum weft_problem_kind most = WEFT_PROBLEM_UNKNOWN;
    double most_ns = 0;
    for (unsigned kind = 0; kind < WEFT_PROBLEM_KINDS; kind++) {
        if (group->kinds[kind].more_ns <= most_ns ||
            (kind == WEFT_PROBLEM_LOCK_NO_CPU && !is_no_cpu))
            continue;
        most_ns = group->kinds[kind].more_ns;
        most = (enum weft_problem_kind)kind;
    }
    return most;
}

static void join_group(struct group *to, const struct group *from)
{
    to->more_ns += from->more_ns;
    to->n_locks += from->n_locks;
    for (unsigned kind = 0; kind < WEFT_PROBLEM_KINDS; kind++) {
        to->kinds[kind].more_ns += from->kinds[kind].more_ns;
        if (from->kinds[kind].most_ns <= to->kinds[kind].most_ns)
            continue;
        to->kinds[kind].most_ns = from->kinds[kind].most_ns;
        to->kinds[kind].node = from->kinds[kind].node;
    }
}

/* Groups of waits for locks that are one problem. False without memory. */
static bool join_holds(struct grouping *grouping)
{
    const size_t n = grouping->groups.n;
    struct weft_hold *holds = calloc(n + 1, sizeof *holds);
    for (size_t i = 0; holds && i < n; i++) {
        const struct group *group = &grouping->groups.items[i];
        const enum weft_problem_kind kind = kind_of(group);
        if (weft_problem_is_of_lock(kind) && group->more_ns > 0)
            holds[i].node = group->kinds[kind].node;
    }
    const bool is_good = holds && weft_holds_join(grouping->finding->matrix, holds, n);
    for (size_t i = 0; is_good && i < n; i++) {
        struct group *group = &grouping->groups.items[i];
        group->n_locks = holds[i].is_of_array;
        if (holds[i].key)
            group->key = holds[i].key;
        if (holds[i].to == i)
            continue;
        join_group(&grouping->groups.items[holds[i].to], group);
        *group = (struct group){ .key = group->key };
    }
    for (size_t i = 0; is_good && i < grouping->finding->matrix->n_nodes; i++)
        if (grouping->of[i] > 0)
            grouping->of[i] = holds[grouping->of[i] - 1].to + 1;
    free(holds);
    return is_good;
}

static bool make_groups(struct grouping *grouping)
{
    const struct weft_compare_table *table = grouping->table;
    const size_t n = table->n_nodes + 1;
    struct weft_map *keys = weft_map_new();
    struct node_kind *kinds = calloc(n, sizeof *kinds);
    grouping->of = calloc(grouping->finding->matrix->n_nodes + 1, sizeof *grouping->of);
    bool is_good = keys && kinds && grouping->of && find_kinds(grouping, kinds);
    for (size_t i = 0; is_good && i < table->n_nodes; i++)
        is_good =
            table->nodes[i].node == 0 || take_node(grouping, &table->nodes[i], &kinds[i], keys);
    is_good = is_good && join_holds(grouping);
    grouping->ns = calloc(grouping->groups.n + 1, sizeof *grouping->ns);
    grouping->touched = calloc(grouping->groups.n + 1, sizeof *grouping->touched);
    is_good = is_good && grouping->ns && grouping->touched;
    for (size_t i = 0; is_good && i < grouping->groups.n; i++)
        grouping->groups.items[i].is_outside =
            weft_kind_is_outside(kind_of(&grouping->groups.items[i]));
    weft_map_free(keys);
    free(kinds);
    return is_good;
}

static void grouping_fini(struct grouping *grouping)
{
    free(grouping->of);
    WEFT_VEC_FINI(&grouping->groups);
    free(grouping->ns);
    free(grouping->touched);
    weft_chain_stacks_fini(&grouping->stacks);
}

/* ---- executions ------------------------------------------------------------------------------ */

static double duration_of(const struct weft_ecct_matrix *matrix, uint32_t item)
{
    return (double)(matrix->items[item].end_ns - matrix->items[item].start_ns);
}

/* The time of an execution by groups. */
static void take_item(struct grouping *grouping, uint32_t item)
{
    const struct weft_ecct_matrix *matrix = grouping->finding->matrix;
    grouping->n_touched = 0;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
        const uint32_t group = grouping->of[matrix->node[at]];
        if (group == 0 || matrix->ns[at] == 0)
            continue;
        if (grouping->ns[group - 1] == 0) /* times are above 0 */
            grouping->touched[grouping->n_touched++] = group - 1;
        grouping->ns[group - 1] += (double)matrix->ns[at];
    }
}

static void forget_item(struct grouping *grouping)
{
    for (size_t i = 0; i < grouping->n_touched; i++)
        grouping->ns[grouping->touched[i]] = 0;
}

static double usual_mean(const struct grouping *grouping, const struct group *group)
{
    return grouping->table->n_a ? group->sum_ns[USUAL] / (double)grouping->table->n_a : 0;
}

static double slow_mean(const struct grouping *grouping, const struct group *group)
{
    return grouping->table->n_b ? group->sum_ns[SLOW] / (double)grouping->table->n_b : 0;
}

static void sum_up(struct grouping *grouping, unsigned which)
{
    for (size_t i = 0; i < grouping->n_touched; i++) {
        struct group *group = &grouping->groups.items[grouping->touched[i]];
        const double ns = grouping->ns[grouping->touched[i]];
        group->sum_ns[which] += ns;
        group->squares[which] += ns * ns;
    }
}

static void sum_usual(struct grouping *grouping)
{
    const struct weft_compare_table *table = grouping->table;
    for (size_t i = 0; i < table->n_a; i++) {
        take_item(grouping, table->items_a[i]);
        sum_up(grouping, USUAL);
        grouping->usual_ns += duration_of(grouping->finding->matrix, table->items_a[i]);
        forget_item(grouping);
    }
    grouping->usual_ns /= table->n_a ? (double)table->n_a : 1;
}

/* Is it one execution, compared with nothing? */
static bool is_whole_finding(const struct weft_finding *finding)
{
    return finding->table->n_a == 0;
}

/* What an execution has more of than usual: the group with most, of those within the program or of
 * the others. */
struct most {
    struct group *group;
    double ns, sum_ns;
};

static void take_most(struct most *most, struct group *group, double more_ns)
{
    if (more_ns <= 0)
        return;
    most->sum_ns += more_ns;
    if (more_ns <= most->ns)
        return;
    most->ns = more_ns;
    most->group = group;
}

/* The group that a slow execution spends most on beyond what is usual. Time that other programs
 * took is subtracted first: if the execution would be slow without it, too, the program is why. */
static void count_main(struct grouping *grouping, uint32_t item)
{
    const struct weft_finding *finding = grouping->finding;
    const double ns = duration_of(finding->matrix, item);
    struct most inside = { .group = NULL }, outside = { .group = NULL };
    for (size_t i = 0; i < grouping->n_touched; i++) {
        struct group *group = &grouping->groups.items[grouping->touched[i]];
        const double here_ns = grouping->ns[grouping->touched[i]];
        if (here_ns > group->worst_ns) {
            group->worst_ns = here_ns;
            group->worst = item;
        }
        take_most(group->is_outside ? &outside : &inside, group,
                  here_ns - usual_mean(grouping, group));
    }
    const double without_ns = ns - outside.sum_ns;
    const bool is_slow_without =
        finding->is_versus || (without_ns > (double)finding->tail.fast_max_ns &&
                               without_ns > STILL_SLOW * finding->tail.fast_median_ns);
    struct group *main =
        inside.group && (is_slow_without || inside.ns > outside.ns) ? inside.group : outside.group;
    grouping->slower_ns += ns - grouping->usual_ns;
    grouping->outside_ns += outside.sum_ns;
    if (main)
        main->n_main++;
}

static void sum_slow(struct grouping *grouping)
{
    const struct weft_compare_table *table = grouping->table;
    for (size_t i = 0; i < table->n_b; i++) {
        take_item(grouping, table->items_b[i]);
        sum_up(grouping, SLOW);
        count_main(grouping, table->items_b[i]);
        forget_item(grouping);
    }
}

/* Does the execution taken last have it? */
static bool has(const struct grouping *grouping, const struct group *group)
{
    const double ns = grouping->ns[group - grouping->groups.items];
    return ns > 0 && ns >= AS_MUCH * slow_mean(grouping, group);
}

/* Executions that have it. */
static void count_with(struct grouping *grouping, unsigned which)
{
    const struct weft_compare_table *table = grouping->table;
    const uint32_t *items = which == SLOW ? table->items_b : table->items_a;
    const size_t n = which == SLOW ? table->n_b : table->n_a;
    for (size_t i = 0; i < n; i++) {
        take_item(grouping, items[i]);
        for (size_t k = 0; k < grouping->n_touched; k++) {
            struct group *group = &grouping->groups.items[grouping->touched[k]];
            if (!has(grouping, group))
                continue;
            group->n_with[which]++;
            group->n_acks +=
                which == SLOW && weft_delay_is_of_ack(grouping->ns[grouping->touched[k]]);
            if (which == SLOW)
                group->with_ns += duration_of(grouping->finding->matrix, items[i]);
        }
        forget_item(grouping);
    }
}

static struct weft_sample sample_of(double sum, double squares, size_t n)
{
    const double mean = n ? sum / (double)n : 0;
    const double variance = n > 1 ? (squares - sum * mean) / (double)(n - 1) : 0;
    return (struct weft_sample){ n, mean, variance > 0 ? variance : 0 };
}

/* ---- problems -------------------------------------------------------------------------------- */

static double more_ns(const struct grouping *grouping, const struct group *group)
{
    return (slow_mean(grouping, group) - usual_mean(grouping, group)) *
           (double)grouping->table->n_b;
}

/* Threads of the slow executions that have it; 0 without memory, or if their names are not alike.
 * *stem: what these have in common; empty if they are the same. */
static uint32_t n_threads_of(struct grouping *grouping, const struct group *group,
                             struct weft_str *stem)
{
    const struct weft_compare_table *table = grouping->table;
    const struct weft_ecct_matrix *matrix = grouping->finding->matrix;
    const struct weft_str name = matrix->items[group->worst].thread;
    struct weft_map *threads = weft_map_new();
    bool is_good = threads;
    *stem = (struct weft_str){ 0 };
    for (size_t i = 0; is_good && i < table->n_b; i++) {
        const struct weft_execution_item *item = &matrix->items[table->items_b[i]];
        take_item(grouping, table->items_b[i]);
        if (has(grouping, group) && !weft_str_equal(item->thread, name))
            *stem = weft_str_without_number(name);
        if (has(grouping, group))
            is_good = weft_threads_are_alike(item->thread, name) &&
                      weft_map_add(threads, (uint64_t)item->source << 32 ^ item->tid, NULL) !=
                          WEFT_MAP_NONE;
        forget_item(grouping);
    }
    const uint32_t n = is_good ? weft_map_count(threads) : 0;
    weft_map_free(threads);
    return n;
}

/* Is it what the finding's function is called more often for? More calls are not slower code. */
static bool is_more_work(const struct weft_finding *finding, uint32_t node)
{
    struct weft_frame_path path;
    if (finding->verdict != WEFT_VERDICT_MORE_WORK || !finding->work.is_known)
        return false;
    weft_frame_path_of(finding->matrix, node, &path);
    for (size_t i = 0; i < path.n; i++)
        if (weft_str_equal(path.frames[i]->name, finding->work.function))
            return true;
    return false;
}

/* Is it time of a thread of most of which no function is known, or none of the program's, or in
 * which it wakes others? */
static bool is_vague(const struct weft_problem *problem, const struct weft_frame_path *path,
                     const struct weft_path_part *part)
{
    const bool is_of_last = problem->kind == WEFT_PROBLEM_QUEUE && problem->lasting.n > 0;
    const struct weft_chain *chain = is_of_last               ? &problem->lasting
                                     : problem->holding.n > 0 ? &problem->holding
                                                              : &problem->waiting;
    const struct weft_frame *last = chain->n > 0 ? chain->links[chain->n - 1] : NULL;
    const struct weft_frame *function = weft_kind_function(path, part);
    const bool is_of_library = last && (last->module.n_bytes == 0 || weft_frame_is_library(last));
    return (problem->kind == WEFT_PROBLEM_CODE || problem->kind == WEFT_PROBLEM_QUEUE) &&
           (!last || (is_of_library && weft_call_is_known(last->name)) || !function ||
            weft_frame_is_library(function) || weft_call_in(path, part) == WEFT_IN_WAKE);
}

static void describe(struct grouping *grouping, const struct group *group, uint32_t node,
                     struct weft_problem *problem)
{
    const struct weft_ecct_matrix *matrix = grouping->finding->matrix;
    struct weft_frame_path path;
    weft_frame_path_of(matrix, node, &path);
    const struct weft_kind kind = weft_kind_of(&path);
    const struct weft_path_part *part = kind.last     ? &kind.lasting
                                        : kind.holder ? &kind.holding
                                                      : &kind.waiting;
    problem->node = node;
    problem->system_lock = kind.system_lock;
    problem->object = kind.system_lock != WEFT_SYSTEM_LOCK_NONE
                          ? weft_str_of(weft_system_lock_name(kind.system_lock))
                      : kind.object ? kind.object->name
                                    : (struct weft_str){ 0 };
    problem->n_objects = group->n_locks;
    if (problem->n_objects > 1)
        problem->object = weft_hold_variable(problem->object);
    problem->where = kind.where ? kind.where->name : (struct weft_str){ 0 };
    problem->waiter = matrix->items[group->worst].thread;
    problem->holder = kind.holder ? kind.holder->name : (struct weft_str){ 0 };
    problem->last = kind.last ? kind.last->name : (struct weft_str){ 0 };
    problem->preemptor = kind.preemptor ? kind.preemptor->name : (struct weft_str){ 0 };
    problem->n_waiters = n_threads_of(grouping, group, &problem->waiter_stem);
    if (problem->kind == WEFT_PROBLEM_POOL && kind.is_of_pipe &&
        !weft_threads_are_alike(problem->waiter, problem->holder))
        problem->kind = WEFT_PROBLEM_QUEUE; /* stages of a pipeline */
    problem->is_small |= kind.is_timed_out; /* nothing came: it had nothing to do */
    if (weft_delay_is_ack_problem(problem, &kind, group->n_acks))
        problem->kind = WEFT_PROBLEM_DELAYED_ACK;
    grouping->has_failed |=
        !weft_chains_of(&grouping->stacks, grouping->finding, grouping->of,
                        (uint32_t)(group - grouping->groups.items) + 1, problem);
    problem->is_small |= problem->share < VAGUE_SHARE && is_vague(problem, &path, part);
}

/* What usual executions wait for as well is how the program works, not a wakeup that was missed. */
static bool is_usual(const struct weft_problem *problem)
{
    return problem->usual_here_ns >= AS_USUAL * problem->slow_here_ns;
}

static struct weft_kind kind_at(const struct grouping *grouping, uint32_t node)
{
    struct weft_frame_path path;
    weft_frame_path_of(grouping->finding->matrix, node, &path);
    return weft_kind_of(&path);
}

/* Is a limit in time that ended a wait what the program wants? */
static bool is_planned(const struct grouping *grouping, const struct weft_problem *problem,
                       uint32_t node)
{
    const bool is_limit =
        problem->kind == WEFT_PROBLEM_LATE_WAKEUP || problem->kind == WEFT_PROBLEM_TIMEOUT;
    if (!is_limit)
        return false;
    if (is_whole_finding(grouping->finding)) /* a thread that polls is waited for by all */
        return problem->kind == WEFT_PROBLEM_TIMEOUT && kind_at(grouping, node).holder;
    return is_usual(problem) || !weft_delay_is_at_usual_place(grouping->finding, node);
}

/* Work takes longer now and then on any machine that has other work; groups that were given are
 * compared for just that. */
static double small_share(const struct weft_problem *problem)
{
    const bool is_work = problem->kind == WEFT_PROBLEM_CODE ||
                         problem->kind == WEFT_PROBLEM_QUEUE ||
                         problem->kind == WEFT_PROBLEM_MINOR_FAULT;
    return is_work && !problem->finding->is_versus ? SMALL_OF_WORK : SMALL_SHARE;
}

static void measure(const struct grouping *grouping, const struct group *group,
                    struct weft_problem *problem)
{
    const struct weft_finding *finding = grouping->finding;
    const struct weft_compare_table *table = grouping->table;
    const struct weft_sample usual =
        sample_of(group->sum_ns[USUAL], group->squares[USUAL], table->n_a);
    const struct weft_sample slow =
        sample_of(group->sum_ns[SLOW], group->squares[SLOW], table->n_b);
    const double all_ns = weft_ecct_matrix_time_ns(finding->matrix);
    const double slower = grouping->slower_ns;
    problem->n_items = finding->matrix->n_items;
    problem->n_slow = table->n_b;
    problem->n_with = group->n_with[SLOW];
    problem->n_usual_with = group->n_with[USUAL];
    problem->usual_ns = finding->is_versus ? grouping->usual_ns : finding->tail.fast_median_ns;
    problem->slow_ns = group->n_with[SLOW] ? group->with_ns / (double)group->n_with[SLOW] : 0;
    problem->usual_here_ns = usual.mean;
    problem->slow_here_ns = slow.mean;
    problem->p =
        is_whole_finding(finding)
            ? 0
            : fmin(weft_samples_p(&usual, &slow) * (double)grouping->n_tests, 1); /* Bonferroni */
    problem->cost_ns = more_ns(grouping, group);
    problem->share = all_ns > 0 ? problem->cost_ns / all_ns : 0;
    problem->explained = slower > 0 ? fmin(problem->cost_ns / slower, 1) : 0;
    problem->confidence = weft_confidence_basis_of(finding->matrix, table->items_b, table->n_b);
    problem->confidence.p = problem->p;
    problem->confidence.lost = finding->confidence.lost;
    problem->is_evident =
        problem->p <= EVIDENCE_P && (group->n_with[SLOW] > 1 || is_whole_finding(finding));
    /* no CPU is the program's own fault only if it lasts, and others leave it some */
    const bool is_no_fault =
        problem->kind == WEFT_PROBLEM_CPU &&
        (finding->is_full || problem->cost_ns < SMALL_SHARE * (double)finding->trace_ns);
    problem->is_small =
        is_no_fault || problem->kind == WEFT_PROBLEM_UNKNOWN ||
        (problem->kind == WEFT_PROBLEM_LATE_WAKEUP && !problem->is_evident) ||
        (problem->n_items < FEW_ITEMS && !problem->is_evident) ||
        (!problem->is_evident && problem->n_with > TOO_FEW) ||
        problem->share < (problem->is_evident ? small_share(problem) : POSSIBLE_SHARE) ||
        (weft_kind_is_outside(problem->kind) && (double)group->n_main < FEW * (double)table->n_b);
    problem->worst = group->worst;
}

/* Is it a wait of which a whole run would be rid of a tenth, or more? Work and full CPUs are part
 * of every run. */
static bool is_avoidable(const struct weft_problem *problem)
{
    switch (problem->kind) {
    case WEFT_PROBLEM_SERIAL:
    case WEFT_PROBLEM_QUEUE:
    case WEFT_PROBLEM_HEAD_OF_LINE:
    case WEFT_PROBLEM_CPU:
    case WEFT_PROBLEM_OTHER:
    case WEFT_PROBLEM_INTERRUPT:
    case WEFT_PROBLEM_MORE_WORK:
    case WEFT_PROBLEM_CODE:
    case WEFT_PROBLEM_MINOR_FAULT:
    case WEFT_PROBLEM_UNKNOWN:
        return false;
    default:
        return is_whole_finding(problem->finding) && problem->share >= AVOIDABLE;
    }
}

int weft_problem_by_cost(const void *a, const void *b)
{
    const struct weft_problem *x = a, *y = b;
    if (is_avoidable(x) != is_avoidable(y))
        return is_avoidable(x) ? -1 : 1;
    const bool is_x_outside = weft_kind_is_outside(x->kind) && !is_whole_finding(x->finding);
    const bool is_y_outside = weft_kind_is_outside(y->kind) && !is_whole_finding(y->finding);
    if (is_x_outside != is_y_outside)
        return is_x_outside ? 1 : -1;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

bool weft_finding_is_of_other_programs(const struct weft_finding *finding)
{
    return !finding->is_significant && (finding->verdict == WEFT_VERDICT_OTHER_PROGRAM ||
                                        finding->verdict == WEFT_VERDICT_FULL_MACHINE);
}

/* Are enough slow for it without the time that other programs took? */
static bool is_slow_without(const struct grouping *grouping, const struct group *group)
{
    return !group->is_outside && group->n_main > 1 &&
           (double)group->n_main >= FEW * (double)grouping->table->n_b;
}

/* Does it explain enough of what the slow executions last longer? Other programs apart, of what is
 * left without them. */
static bool is_worth_it(const struct grouping *grouping, const struct group *group)
{
    const bool is_whole = is_whole_finding(grouping->finding);
    const double outside_ns =
        group->is_outside ? 0 : fmin(grouping->outside_ns, grouping->slower_ns);
    const double least = is_whole ? LEAST_OF_WHOLE : LEAST_EXPLAINED;
    const double cost_ns = more_ns(grouping, group);
    if (group->is_of_end && grouping->finding->verdict == WEFT_VERDICT_SINGLE)
        return false; /* a program that ends */
    if (weft_finding_is_of_other_programs(grouping->finding) && !is_slow_without(grouping, group))
        return false;
    return grouping->slower_ns > 0 && cost_ns > 0 && (group->n_main > 0 || is_whole) &&
           cost_ns >= least * (grouping->slower_ns - outside_ns);
}

static struct weft_problem problem_of(struct grouping *grouping, const struct group *group)
{
    const enum weft_problem_kind kind = kind_of(group);
    const uint32_t node = group->kinds[kind].node;
    struct weft_problem problem = { .finding = grouping->finding, .kind = kind, .key = group->key };
    if (kind == WEFT_PROBLEM_CODE && is_more_work(grouping->finding, node))
        problem.kind = WEFT_PROBLEM_MORE_WORK;
    measure(grouping, group, &problem);
    if (is_planned(grouping, &problem, node))
        problem.kind = kind_at(grouping, node).otherwise;
    describe(grouping, group, node, &problem);
    return problem;
}

/* Those of a type, from rows[0] on; their number. */
static size_t list_problems(struct grouping *grouping, struct weft_problem *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < grouping->groups.n; i++)
        grouping->n_tests += grouping->groups.items[i].more_ns > 0;
    for (size_t i = 0; i < grouping->groups.n; i++) {
        if (!is_worth_it(grouping, &grouping->groups.items[i]))
            continue;
        const struct weft_problem problem = problem_of(grouping, &grouping->groups.items[i]);
        if (n < WEFT_PROBLEMS_OF_TYPE)
            rows[n++] = problem;
        else if (weft_problem_by_cost(&problem, &rows[n - 1]) < 0)
            rows[n - 1] = problem;
        qsort(rows, n, sizeof *rows, weft_problem_by_cost);
    }
    return n;
}

enum weft_code weft_problems_add(const struct weft_finding *finding,
                                 struct weft_problems_table *table, struct weft_err *err)
{
    struct grouping grouping = { .finding = finding, .table = finding->table };
    const bool is_good = make_groups(&grouping);
    if (is_good) {
        sum_usual(&grouping);
        sum_slow(&grouping);
        count_with(&grouping, USUAL);
        count_with(&grouping, SLOW);
        table->n_rows += list_problems(&grouping, &table->rows[table->n_rows]);
    }
    grouping_fini(&grouping);
    return is_good && !grouping.has_failed ? WEFT_OK : weft_no_memory(err, "problems");
}
