/* SPDX-License-Identifier: MIT
 *
 * Rules of causes: where the cause of slow executions lies, if it is one.
 */
#include "analysis/findings/causes.h"

#include "analysis/compare/causes.h"
#include "analysis/compare/names.h"
#include "analysis/findings/idle.h"
#include "schema/event.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { CAUSE_EXECUTIONS = 3, NOISE_EXECUTIONS = 10, PLACE_DEPTH = 64, HOLDS = 5 };

/* Of all time of the executions, below which a cause is not worth a sentence. */
static const double CAUSE_SHARE = 0.005;
static const double EVIDENCE_P = 0.05;
static const double FOREIGN = 0.05;     /* of the fast executions, that may have it */
static const double MOST = 0.5;         /* of the slow ones */
static const double NOISE = 5;          /* times the usual duration, that noise is not */
static const double MANY = 0.5;         /* of all executions: more are another kind, */
static const double FAR = 3;            /* unless they last so many times as long */
static const double FAR_WAIT = 10;      /* times the usual duration, that a spread does not reach */
static const double PEERS = 1. / 3;     /* of all, that wait for threads that do the same work */
static const double PART = 0.25;        /* of what is slower, that computing has to be */
static const double SMALL_SHARE = 0.2;  /* of all time, */
static const double SMALL_PART = 0.1;   /* of all executions, and */
static const double SMALL = 5;          /* times the usual duration: less is a small tail */
static const double SMALL_COST = 0.1;   /* of all time, of any number of executions that last */
static const double SMALL_FAR = 10;     /* times the usual duration at most */
static const double OFTENER = 1.5;      /* times, that another thread is due, for it to go first */
static const double FEW = 0.2;          /* of all executions: more are no exception */
static const double SLICE_NS = 4e6;     /* that a thread has a processor for while others wait */
static const double MOST_TIME = 0.5;    /* of all time, that waits for a processor are not of few */
static const double QUEUE_NS = 5 * 4e6; /* that it waits where five of them are ready before it */
static const double HELD_SHARE = 0.05;  /* of all time, that waits for holders are not chance */
static const double NOTHING_NS = 1e4;   /* less than it takes to wake a thread twice */
static const double EMPTY_NS = 2000;    /* from one wait to the next: too short for any work */

/* The mean of the usual executions. */
static double usual_ns_of(const struct weft_facts *facts)
{
    return facts->table->metrics[0].mean_a;
}

/* What the executions of a cause last longer than those of A, all together. */
double weft_cause_cost_ns(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const double usual_ns = usual_ns_of(facts);
    return (double)cause->n_items * fmax(0, cause->duration_ns - usual_ns);
}

double weft_cause_share(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    return facts->all_ns > 0 ? weft_cause_cost_ns(facts, cause) / facts->all_ns : 0;
}

const struct weft_compare_node *weft_compare_row_of(const struct weft_compare_table *table,
                                                    uint32_t node)
{
    for (size_t i = 0; i < table->n_nodes; i++)
        if (table->nodes[i].node == node)
            return &table->nodes[i];
    return NULL;
}

bool weft_cause_is_small(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const double share = weft_cause_share(facts, cause);
    const double usual_ns = usual_ns_of(facts);
    if (share < SMALL_COST && cause->duration_ns < SMALL_FAR * usual_ns)
        return true;
    return share < SMALL_SHARE && cause->duration_ns < SMALL * usual_ns &&
           (facts->is_proposed || cause->n_items < SMALL_PART * (double)facts->matrix->n_items);
}

static const struct weft_frame *frame_of(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    static const struct weft_frame none;
    return node == 0 ? &none : &matrix->frames[matrix->nodes[node].frame];
}

bool weft_node_is_blocked(const struct weft_ecct_matrix *matrix, uint32_t node,
                          enum weft_path_reason reason)
{
    return weft_frame_is_blocked(frame_of(matrix, node), reason, 0);
}

/* Does nothing between the root and the node belong to another thread, or to a lock? */
bool weft_node_is_own(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (; node != 0; node = matrix->nodes[node].parent) {
        const unsigned kind = matrix->frames[matrix->nodes[node].frame].kind;
        if (kind == WEFT_FRAME_THREAD || kind == WEFT_FRAME_LOCK)
            return false;
    }
    return true;
}

/* Does the execution's own thread run, as far as is known? */
bool weft_node_is_own_run(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
    return weft_node_is_own(matrix, node) &&
           (frame->kind == WEFT_FRAME_FUNCTION || weft_frame_is_running(frame));
}

/* Is the node what the type is called by, a function that ran? That says nothing of why. */
bool weft_node_is_type_itself(const struct weft_facts *facts, uint32_t node)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    if (frame_of(matrix, node)->state == WEFT_FRAME_RUNNING)
        node = matrix->nodes[node].parent;
    return node != 0 && weft_node_is_own(matrix, node) &&
           weft_str_equal(matrix->frames[matrix->nodes[node].frame].name, facts->type);
}

/* The node of what a thread does that took the processor from another; WEFT_ID_NONE: none did. */
static uint32_t preempter_of(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (uint32_t below = WEFT_ID_NONE; node != 0; node = matrix->nodes[node].parent) {
        if (frame_of(matrix, node)->state == WEFT_FRAME_PREEMPTED)
            return below == WEFT_ID_NONE ? node : below;
        below = node;
    }
    return WEFT_ID_NONE;
}

static bool is_function(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    return node != 0 && matrix->frames[matrix->nodes[node].frame].kind == WEFT_FRAME_FUNCTION;
}

static uint32_t child_of(const struct weft_ecct_matrix *matrix, uint32_t parent, uint32_t frame)
{
    for (uint32_t node = parent + 1; node < matrix->n_nodes; node++) /* a parent is before them */
        if (matrix->nodes[node].parent == parent && matrix->nodes[node].frame == frame)
            return node;
    return WEFT_ID_NONE;
}

/* Are executions of the type, in their own thread, where another one is whose functions lie between
 * `thread` and `node`? Not if it has none. */
static bool is_own_place(const struct weft_ecct_matrix *matrix, uint32_t thread, uint32_t node)
{
    uint32_t frames[PLACE_DEPTH], place = 0;
    size_t n = 0;
    for (; node > thread && n < PLACE_DEPTH; node = matrix->nodes[node].parent)
        if (is_function(matrix, node))
            frames[n++] = matrix->nodes[node].frame;
    if (n == 0 || n == PLACE_DEPTH)
        return false;
    while (n > 0 && place != WEFT_ID_NONE)
        place = child_of(matrix, place, frames[--n]);
    return place != WEFT_ID_NONE;
}

/* Without digits at its end, and what joins them to the rest. */
static struct weft_str stem_of(struct weft_str name)
{
    while (name.n_bytes > 0 && !isalpha((unsigned char)name.bytes[name.n_bytes - 1]))
        name.n_bytes--;
    return name;
}

/* Threads of one name, but for digits. */
bool weft_threads_are_alike(struct weft_str a, struct weft_str b)
{
    const struct weft_frame of_a = { .name = stem_of(a), .kind = WEFT_FRAME_THREAD };
    const struct weft_frame of_b = { .name = stem_of(b), .kind = WEFT_FRAME_THREAD };
    return weft_frame_hash(WEFT_FRAME_HASH, &of_a) == weft_frame_hash(WEFT_FRAME_HASH, &of_b);
}

/* Is the thread of the node `thread`, above the cause's, at the same as executions of the type are?
 * Without functions, it is one of the same name. */
static bool is_peer(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                    uint32_t thread)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    uint32_t node = cause->node;
    if (thread == WEFT_ID_NONE ||
        matrix->frames[matrix->nodes[thread].frame].kind != WEFT_FRAME_THREAD)
        return false;
    while (node > thread && (!is_function(matrix, node) ||
                             weft_frame_is_library(&matrix->frames[matrix->nodes[node].frame])))
        node = matrix->nodes[node].parent;
    if (node <= thread)
        return weft_threads_are_alike(matrix->frames[matrix->nodes[thread].frame].name,
                                      matrix->items[cause->example].thread);
    return is_own_place(matrix, thread, node);
}

/* The node of the thread that is waited for in the end; WEFT_ID_NONE: none is. */
static uint32_t awaited(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (; node != 0; node = matrix->nodes[node].parent)
        if (matrix->frames[matrix->nodes[node].frame].kind == WEFT_FRAME_THREAD)
            return node;
    return WEFT_ID_NONE;
}

/* Is the thread that took a processor named as the one that it took it from, which the execution
 * waits for? So are threads of a server that share work. Where the execution's own thread is named
 * so too, as all are that have no names, that says nothing. */
static bool is_peer_of_awaited(const struct weft_facts *facts,
                               const struct weft_compare_cause *cause, uint32_t preempter)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[preempter].frame];
    const uint32_t thread = awaited(matrix, matrix->nodes[preempter].parent);
    return frame->kind == WEFT_FRAME_THREAD && thread != WEFT_ID_NONE &&
           weft_threads_are_alike(frame->name, matrix->frames[matrix->nodes[thread].frame].name) &&
           !weft_threads_are_alike(frame->name, matrix->items[cause->example].thread);
}

/* Threads that do the same work take the processors from each other; or so many of them wait for
 * each other that this is how they work, and not why a few are slow. */
static bool is_shared(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                      struct weft_rule_try *tried)
{
    const uint32_t preempter = preempter_of(facts->matrix, cause->node);
    if (preempter != WEFT_ID_NONE)
        return is_peer(facts, cause, preempter) || is_peer_of_awaited(facts, cause, preempter);
    return !facts->is_versus &&
           weft_rule_above(tried, "executions", WEFT_RULE_COUNT, cause->n_items,
                           PEERS * (double)facts->matrix->n_items) &&
           weft_rule_below(tried, "duration_ns", WEFT_RULE_NS, cause->duration_ns,
                           FAR * usual_ns_of(facts)) &&
           is_peer(facts, cause, awaited(facts->matrix, cause->node));
}

/* Has a thread the processor that has to be ready more often, and is the execution still in time?
 * That is the order which lets all of them keep their periods (Liu and Layland 1973). */
static bool is_due_first(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                         struct weft_rule_try *tried)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    const uint32_t preempter = preempter_of(matrix, cause->node);
    if (preempter == WEFT_ID_NONE ||
        matrix->frames[matrix->nodes[preempter].frame].kind != WEFT_FRAME_THREAD)
        return false;
    const double own_ns = weft_periods_of_ns(facts->periods, matrix->items[cause->example].thread);
    const double other_ns =
        weft_periods_of_ns(facts->periods, matrix->frames[matrix->nodes[preempter].frame].name);
    return weft_rule_above(tried, "other_period_ns", WEFT_RULE_NS, other_ns, 0) &&
           weft_rule_at_least(tried, "own_period_ns", WEFT_RULE_NS, own_ns, OFTENER * other_ns) &&
           weft_rule_below(tried, "duration_ns", WEFT_RULE_NS, cause->duration_ns, own_ns);
}

/* Has a thread of the program the processor, on a machine that other programs fill? Then there
 * would have been another one, but for them, unless the program keeps to one. */
static bool is_crowded(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                       struct weft_rule_try *tried)
{
    if (preempter_of(facts->matrix, cause->node) == WEFT_ID_NONE)
        return false;
    (void)weft_rule_above(tried, "other_cpu_share", WEFT_RULE_SHARE, facts->saturation.other,
                          facts->saturation.own);
    return weft_saturation_takes_places(&facts->saturation);
}

/* Is it more than chance puts into the slow executions? Any thread of a machine that is shared
 * loses its processor now and then, which makes executions slow and is no cause that they have in
 * common: that has to be significant among all nodes, or, of most slow ones, in all stacks
 * together. What happens to a part of an execution matters only if it makes the whole slow.
 */
static bool is_evident(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                       struct weft_rule_try *tried)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    if (!row || !weft_rule_above(tried, "difference_ns", WEFT_RULE_NS, row->difference_ns, 0))
        return false;
    if (preempter_of(facts->matrix, cause->node) == WEFT_ID_NONE)
        return true;
    if (!facts->is_versus && (!facts->tail.is_found || facts->is_part))
        return false;
    if (facts->is_proposed && weft_rule_below(tried, "longer_ns", WEFT_RULE_NS,
                                              cause->duration_ns - usual_ns_of(facts), SLICE_NS))
        return false; /* a thread that wakes another is preempted by it now and then */
    if ((double)cause->n_items >= MOST * (double)facts->table->n_b)
        return weft_rule_below(tried, "p", WEFT_RULE_RATIO, cause->p, EVIDENCE_P);
    return weft_rule_below(tried, "p", WEFT_RULE_RATIO, row->p_adjusted, EVIDENCE_P) &&
           weft_rule_above(tried, "interval_low_ns", WEFT_RULE_NS, row->interval.low_ns, 0);
}

/* Is it of another kind than what the fast executions do? Where durations do not part slow from
 * fast, the slow ones were chosen by what they have more of: that they have more of it then says
 * nothing, but that the fast ones lack it does. */
static bool is_foreign(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    return row && row->is_sure && row->difference_ns > 0 &&
           (double)row->n_a <= FOREIGN * (double)facts->table->n_a &&
           row->mean_a_ns <= FOREIGN * row->mean_b_ns;
}

/* Do slow executions only sleep longer where all sleep? */
static bool is_longer_sleep(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    return weft_node_is_blocked(facts->matrix, cause->node, WEFT_PATH_TIMER) &&
           weft_node_is_own(facts->matrix, cause->node) && !is_foreign(facts, cause);
}

/* Is it rather another kind of execution than a slow one? Not what a gap separates from the others,
 * unless the function is only proposed; nor what only happens to it. Of a proposed function, what
 * more than half of the executions do is usual, however much longer it lasts. */
static bool is_kind(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                    struct weft_rule_try *tried)
{
    const double many = MANY * (double)facts->matrix->n_items;
    if (preempter_of(facts->matrix, cause->node) != WEFT_ID_NONE)
        return false;
    if (facts->is_proposed &&
        weft_rule_above(tried, "slow_executions", WEFT_RULE_COUNT, (double)facts->table->n_b, many))
        return true;
    return (facts->is_proposed || !facts->tail.is_found) &&
           weft_rule_above(tried, "executions", WEFT_RULE_COUNT, cause->n_items, many) &&
           weft_rule_below(tried, "duration_ns", WEFT_RULE_NS, cause->duration_ns,
                           FAR * usual_ns_of(facts));
}

/* Does the execution's own thread compute where the usual ones compute too? */
static bool is_computing(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    return row && row->mean_a_ns > FOREIGN * row->mean_b_ns &&
           weft_node_is_own_run(facts->matrix, cause->node);
}

/* Do they wait so much longer for what all wait for, at such a cost, that its spread does not
 * explain them? */
static bool is_far_wait(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    return row && row->is_sure && row->difference_ns > 0 && !is_computing(facts, cause) &&
           cause->duration_ns >= FAR_WAIT * facts->tail.fast_median_ns &&
           cause->n_items < FEW * (double)facts->matrix->n_items &&
           weft_cause_share(facts, cause) >= SMALL_SHARE;
}

/* Is the innermost state one that cannot be distinguished from a wait for a CPU, where the trace
 * has no scheduling events? A call that hands bytes over wakes another thread, which may take the
 * CPU.
 */
static bool is_vague_wait(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    const struct weft_frame *frame = frame_of(matrix, node);
    const struct weft_str call = weft_frame_call(frame);
    if (weft_node_is_blocked(matrix, node, WEFT_PATH_WAKER_UNKNOWN)) {
        const uint32_t parent = matrix->nodes[node].parent;
        return parent == 0 || matrix->frames[matrix->nodes[parent].frame].kind == WEFT_FRAME_THREAD;
    }
    return weft_str_equal(call, WEFT_STR("send")) || weft_str_equal(call, WEFT_STR("write")) ||
           weft_frame_is_blocked(frame, WEFT_PATH_THREAD, WEFT_FRAME_IN_FLIGHT) ||
           weft_frame_is_blocked(frame, WEFT_PATH_LOCK, WEFT_FRAME_IN_FLIGHT);
}

/* Do all of them do it for a good part of their time, or is it no more than the proposed function,
 * and are the slow ones not longer than a thread may wait for a CPU? That is where such waits
 * occur, however many there are: where a thread computes, the time slices of a few other threads;
 * where it waits for something, whose end may have to wait, one. */
static bool is_short_where_usual(const struct weft_facts *facts,
                                 const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    const double usual_ns = usual_ns_of(facts);
    const double most_ns = weft_node_is_own_run(facts->matrix, cause->node) ? QUEUE_NS : SLICE_NS;
    const bool is_itself = facts->is_proposed && weft_node_is_type_itself(facts, cause->node);
    const bool is_common =
        row && row->mean_a_ns > PART * usual_ns && weft_cause_share(facts, cause) < MOST_TIME;
    return row && (is_itself || is_common) && cause->duration_ns - usual_ns < most_ns;
}

/* Of few executions, which cost little: are they longer by so little, or for so short a time? */
static bool is_like_preemption(const struct weft_facts *facts,
                               const struct weft_compare_cause *cause)
{
    const double usual_ns = usual_ns_of(facts);
    const double most_ns = weft_node_is_own_run(facts->matrix, cause->node) ? QUEUE_NS : SLICE_NS;
    return weft_cause_share(facts, cause) < SMALL_SHARE &&
           cause->n_items < FEW * (double)facts->matrix->n_items &&
           (cause->duration_ns < SMALL * usual_ns || is_short_where_usual(facts, cause) ||
            (cause->duration_ns - usual_ns < most_ns && cause->n_items < NOISE_EXECUTIONS));
}

/* Is it something that usual executions have too, however short, and that lasts longer if a thread
 * waits for a processor: that one runs, on whatever thread, or that something is waited for which
 * the trace does not record? */
static bool is_longer_there(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[cause->node].frame];
    return row && row->n_a > FOREIGN * (double)facts->table->n_a &&
           (frame->kind == WEFT_FRAME_FUNCTION || weft_frame_is_running(frame) ||
            weft_node_is_blocked(matrix, cause->node, WEFT_PATH_WAKER_UNKNOWN) ||
            weft_frame_call(frame).n_bytes > 0);
}

/* Times that the executions of a cause were at it, those that overlap counted once: at least so
 * many times a holder held the lock. */
static size_t episodes_of(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_table *table = facts->table;
    const uint32_t place = (uint32_t)(cause - table->causes);
    uint64_t after_ns = 0;
    uint32_t source = 0;
    size_t n = 0;
    for (size_t i = 0; i < table->n_b; i++) {
        const struct weft_execution_item *item = &facts->matrix->items[table->items_b[i]];
        if (table->cause_of[i] != place ||
            (n > 0 && item->source == source && item->start_ns < after_ns))
            continue;
        source = item->source;
        after_ns = item->end_ns;
        n++;
    }
    return n;
}

/* Do executions whose own thread runs longer, or is in a state that is unknown, cost more than the
 * cause, and are they more than the times that the lock was held? */
static bool are_own_more(const struct weft_facts *facts, const struct weft_compare_cause *held,
                         size_t n_holds, struct weft_rule_try *tried)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    double own_ns = 0;
    uint64_t n_own = 0;
    for (size_t i = 0; i < facts->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        if (cause->node == WEFT_ID_NONE || awaited(matrix, cause->node) != WEFT_ID_NONE ||
            (!weft_node_is_own_run(matrix, cause->node) &&
             !weft_node_is_blocked(matrix, cause->node, WEFT_PATH_WAKER_UNKNOWN)))
            continue;
        own_ns += weft_cause_cost_ns(facts, cause);
        n_own += cause->n_items;
    }
    const double cost_ns = weft_cause_cost_ns(facts, held);
    return weft_rule_below(tried, "cost_ns", WEFT_RULE_NS, cost_ns, own_ns) &&
           weft_rule_below(tried, "holds", WEFT_RULE_COUNT, (double)n_holds, (double)n_own);
}

/* Is it a lock that other threads hold too long for a CPU that is missing to be the reason? That
 * they hold it is recorded, whatever they do meanwhile. Where CPUs are missing, executions
 * themselves wait for one more often than those that hold a lock. */
static bool is_held_long(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                         struct weft_rule_try *tried)
{
    if (!weft_node_is_blocked(facts->matrix, cause->node, WEFT_PATH_WAKER_UNKNOWN) ||
        !weft_node_is_behind_holder(facts->matrix, cause->node) || cause->p >= EVIDENCE_P ||
        cause->duration_ns - usual_ns_of(facts) < SLICE_NS ||
        weft_cause_share(facts, cause) < HELD_SHARE)
        return false;
    const size_t n_holds = episodes_of(facts, cause);
    return weft_rule_at_least(tried, "holds", WEFT_RULE_COUNT, (double)n_holds, HOLDS) &&
           !are_own_more(facts, cause, n_holds, tried);
}

/* Does the execution's own thread run longer, by what chance may make? */
static bool is_chance(const struct weft_facts *facts, const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    return weft_node_is_own_run(facts->matrix, cause->node) && cause->p >= EVIDENCE_P && row &&
           row->p_adjusted >= EVIDENCE_P;
}

/* Might no more than waits for a processor be behind it, which the trace does not record? What
 * computes or sleeps longer where all do, if that is little; ends of waits, and calls that wake
 * others. */
static bool is_untold(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                      struct weft_rule_try *tried)
{
    (void)weft_rule_below(tried, "longer_ns", WEFT_RULE_NS, cause->duration_ns - usual_ns_of(facts),
                          weft_node_is_own_run(facts->matrix, cause->node) ? QUEUE_NS : SLICE_NS);
    if (is_held_long(facts, cause, tried))
        return false;
    return is_vague_wait(facts->matrix, cause->node) || is_chance(facts, cause) ||
           (facts->is_part && is_computing(facts, cause)) ||
           (is_longer_there(facts, cause) && is_short_where_usual(facts, cause)) ||
           (is_like_preemption(facts, cause) &&
            (is_longer_there(facts, cause) || is_longer_sleep(facts, cause)));
}

/* Is the function, which is only proposed, there to wait for something to do? It does little else,
 * and those that it waits for have nothing to do either; or it is no iteration of a loop, and waits
 * for another thread most of the times that it is called, or always for one that sleeps and then
 * not much longer. */
static bool is_idle(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                    struct weft_rule_try *tried)
{
    const struct weft_compare_node *row = weft_compare_row_of(facts->table, cause->node);
    const double usual_ns = usual_ns_of(facts);
    if (awaited(facts->matrix, cause->node) == WEFT_ID_NONE)
        return false;
    if (weft_facts_is_idle_at(facts, cause->node) && weft_facts_is_there_to_wait(facts))
        return true;
    return (!facts->is_turn && weft_rule_above(tried, "executions", WEFT_RULE_COUNT, cause->n_items,
                                               MANY * (double)facts->matrix->n_items)) ||
           (weft_node_is_blocked(facts->matrix, cause->node, WEFT_PATH_TIMER) && row &&
            row->mean_a_ns > MOST * usual_ns &&
            weft_rule_below(tried, "duration_ns", WEFT_RULE_NS, cause->duration_ns,
                            FAR * usual_ns));
}

/* Does the thread look now and then whether there is something to do, of itself or periodically,
 * and finds nothing as usual? That is no measure of how long it takes if there is. */
static bool is_polling(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                       struct weft_rule_try *tried)
{
    const struct weft_ecct_matrix *matrix = facts->matrix;
    const bool is_by_itself =
        facts->is_after_sleep || (facts->is_turn && usual_ns_of(facts) <= EMPTY_NS) ||
        (facts->periods &&
         weft_periods_of_ns(facts->periods, matrix->items[cause->example].thread) > 0);
    return is_by_itself &&
           !weft_rule_above(tried, "usual_ns", WEFT_RULE_NS, usual_ns_of(facts), NOTHING_NS) &&
           weft_node_is_own_run(matrix, cause->node);
}

/* A CPU that is taken away without a record, as under a hypervisor, looks like computing: of
 * few it has to be far. */
static bool is_noise(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                     struct weft_rule_try *tried)
{
    return weft_rule_below(tried, "executions", WEFT_RULE_COUNT, cause->n_items,
                           NOISE_EXECUTIONS) &&
           weft_rule_below(tried, "duration_ns", WEFT_RULE_NS, cause->duration_ns,
                           NOISE * usual_ns_of(facts)) &&
           is_computing(facts, cause);
}

/* Does it compute where all do, and is that the lesser part of what is slower? Then it is what was
 * left of something that is spread, such as many other programs. */
static bool is_rest(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                    struct weft_rule_try *tried)
{
    const double slower_ns = cause->duration_ns - usual_ns_of(facts);
    return is_computing(facts, cause) && weft_rule_below(tried, "difference_ns", WEFT_RULE_NS,
                                                         cause->difference_ns, PART * slower_ns);
}

/* ---- the table ------------------------------------------------------------------------------- */

static bool is_no_context(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                          struct weft_rule_try *tried)
{
    (void)facts;
    (void)tried;
    return cause->node == WEFT_ID_NONE;
}

static bool always(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                   struct weft_rule_try *tried)
{
    (void)facts;
    (void)cause;
    (void)tried;
    return true;
}

static bool is_cheap(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                     struct weft_rule_try *tried)
{
    return weft_rule_below(tried, "cost_share", WEFT_RULE_SHARE, weft_cause_share(facts, cause),
                           CAUSE_SHARE);
}

static bool is_of_few(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                      struct weft_rule_try *tried)
{
    (void)facts;
    return weft_rule_below(tried, "executions", WEFT_RULE_COUNT, cause->n_items, CAUSE_EXECUTIONS);
}

static bool is_outside(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                       struct weft_rule_try *tried)
{
    (void)tried;
    return weft_node_is_outside(facts->matrix, cause->node);
}

static bool is_more_of_the_same(const struct weft_facts *facts,
                                const struct weft_compare_cause *cause, struct weft_rule_try *tried)
{
    (void)tried;
    return !facts->tail.is_found && !is_foreign(facts, cause) && !is_far_wait(facts, cause);
}

static const struct cause_rule {
    const char *name;
    uint32_t needs; /* enum weft_rule_need */
    bool (*test)(const struct weft_facts *facts, const struct weft_compare_cause *cause,
                 struct weft_rule_try *tried);
    enum weft_cause_place place;
    const char *why;
} cause_rules[] = {
    { "no_context", 0, is_no_context, WEFT_CAUSE_SPREAD, "no context stands out" },
    { "single", WEFT_NEED_SINGLES, always, WEFT_CAUSE_ALONE,
      "too few executions are slow to be compared; each is listed" },
    { "negligible", 0, is_cheap, WEFT_CAUSE_SMALL, "its cost is negligible" },
    { "few", WEFT_NEED_TAIL, is_of_few, WEFT_CAUSE_ALONE,
      "too few executions have it; each is listed" },
    { "few_and_spread", 0, is_of_few, WEFT_CAUSE_SMALL, "too few executions have it" },
    { "noise", WEFT_NEED_CUT, is_noise, WEFT_CAUSE_ALONE,
      "few executions compute a little longer; each is listed" },
    { "idle", WEFT_NEED_CUT | WEFT_NEED_PROPOSED, is_idle, WEFT_CAUSE_SPREAD,
      "they wait for work" },
    { "polling", WEFT_NEED_CUT | WEFT_NEED_PROPOSED, is_polling, WEFT_CAUSE_SPREAD,
      "the usual ones find no work" },
    { "majority", WEFT_NEED_CUT, is_kind, WEFT_CAUSE_SPREAD, "more than half do that" },
    { "rest", WEFT_NEED_CUT, is_rest, WEFT_CAUSE_SPREAD,
      "they compute where all do, and that is the lesser part of what is slower" },
    { "other_program", 0, is_outside, WEFT_CAUSE_OUTSIDE, "another program had the CPU" },
    { "due_first", WEFT_NEED_CUT | WEFT_NEED_PERIODS, is_due_first, WEFT_CAUSE_DUE,
      "a thread that is due more often goes first, and they end in time" },
    { "no_switches", WEFT_NEED_CUT | WEFT_NEED_NO_SWITCHES, is_untold, WEFT_CAUSE_UNTOLD,
      "it may be a wait for a CPU: scheduling events are not recorded" },
    { "same_work", 0, is_shared, WEFT_CAUSE_SHARED,
      "threads that do the same work wait for each other, or share CPUs" },
    { "full_machine", WEFT_NEED_CUT | WEFT_NEED_SATURATION, is_crowded, WEFT_CAUSE_CROWDED,
      "threads of the program share the CPUs that other programs leave" },
    { "more_of_the_same", WEFT_NEED_CUT, is_more_of_the_same, WEFT_CAUSE_SPREAD,
      "the usual ones also do it, and no gap separates the slow ones from them" },
    { "in_program", 0, is_evident, WEFT_CAUSE_INSIDE, "the cause is in the program" },
    { "scheduler_turn", 0, always, WEFT_CAUSE_CHANCE,
      "sharing CPUs makes as much; it is no cause that they have in common" },
};

enum { N_CAUSE_RULES = sizeof cause_rules / sizeof *cause_rules };

enum weft_cause_place weft_cause_place_of(const struct weft_facts *facts,
                                          const struct weft_compare_cause *cause,
                                          struct weft_rule_log *log)
{
    weft_rule_log_begin(log, N_CAUSE_RULES);
    for (size_t i = 0; i < N_CAUSE_RULES; i++) {
        const struct cause_rule *rule = &cause_rules[i];
        const char *missing = weft_rule_missing(facts, rule->needs, false);
        struct weft_rule_try tried = { .n = 0 };
        const bool has_fired = !missing && rule->test(facts, cause, log ? &tried : NULL);
        weft_rule_log_add(log, rule->name, rule->why, has_fired, missing, &tried);
        if (has_fired)
            return rule->place;
    }
    return WEFT_CAUSE_CHANCE; /* the last rule always fires */
}

bool weft_facts_are_mostly(const struct weft_facts *facts, enum weft_verdict verdict,
                           struct weft_rule_try *tried)
{
    static bool (*const tests[])(const struct weft_facts *, const struct weft_compare_cause *,
                                 struct weft_rule_try *) = { is_idle, is_polling, is_kind };
    uint64_t n[3] = { 0 };
    for (size_t i = 0; i < facts->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &facts->table->causes[i];
        if (cause->node == WEFT_ID_NONE ||
            weft_cause_place_of(facts, cause, NULL) != WEFT_CAUSE_SPREAD)
            continue;
        for (size_t k = 0; k < 3; k++)
            if (tests[k](facts, cause, NULL)) {
                n[k] += cause->n_items;
                break;
            }
    }
    return weft_rule_above(tried, "executions", WEFT_RULE_COUNT,
                           (double)n[verdict - WEFT_VERDICT_IDLE],
                           MOST * (double)facts->table->n_b);
}

size_t weft_causes_list(const struct weft_facts *facts, enum weft_cause_place place,
                        const struct weft_compare_cause **list, size_t n_most)
{
    const struct weft_compare_table *table = facts->table;
    size_t n = 0, n_all = 0;
    for (size_t i = 0; table && i < table->n_causes; i++) {
        const struct weft_compare_cause *cause = &table->causes[i];
        if (weft_cause_place_of(facts, cause, NULL) != place)
            continue;
        size_t at = n;
        while (at > 0 && weft_cause_cost_ns(facts, list[at - 1]) < weft_cause_cost_ns(facts, cause))
            at--;
        n_all++;
        if (at == n_most)
            continue;
        n = n < n_most ? n + 1 : n;
        memmove(&list[at + 1], &list[at], (n - 1 - at) * sizeof(*list));
        list[at] = cause;
    }
    return n_all;
}
