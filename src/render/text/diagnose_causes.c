/* SPDX-License-Identifier: MIT */
#include "render/text/diagnose_causes.h"

#include "analysis/compare/causes.h"
#include "analysis/compare/names.h"
#include "render/text/compare.h"
#include "render/text/compare_words.h"
#include "render/text/diagnose_idle.h"
#include "schema/event.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { CAUSE_EXECUTIONS = 3, NOISE_EXECUTIONS = 10, PLACE_DEPTH = 64 };

/* Of all time of the executions, below which a cause is not worth a sentence. */
static const double CAUSE_SHARE = 0.005;
static const double EVIDENCE_P = 0.05;
static const double FOREIGN = 0.05;    /* of the fast executions, that may have it */
static const double MOST = 0.5;        /* of the slow ones */
static const double NOISE = 5;         /* times the usual duration, that noise is not */
static const double MANY = 0.5;        /* of all executions: more are another kind, */
static const double FAR = 3;           /* unless they last so many times as long */
static const double FAR_WAIT = 10;     /* times the usual duration, that a spread does not reach */
static const double PEERS = 1. / 3;    /* of all, that wait for threads that do the same work */
static const double PART = 0.25;       /* of what is slower, that computing has to be */
static const double SMALL_SHARE = 0.2; /* of all time, */
static const double SMALL_PART = 0.1;  /* of all executions, and */
static const double SMALL = 5;         /* times the usual duration: less is a small tail */
static const double SMALL_COST = 0.1;  /* of all time, of any number of executions that last */
static const double SMALL_FAR = 10;    /* times the usual duration at most */
static const double TINY_COST = 0.05;  /* of all time, of what somebody asked about */
static const double MILD = 2;          /* times the usual duration, that nobody notices */
static const double MUCH = 0.5;        /* of what they last longer, that more calls have to be */
static const double LONGER_CALL = 2; /* times as long as usual: the call is slow, not its number */
static const double TRIFLE = 0.002;  /* of the time that was recorded; */
static const double TRIFLE_SHORT = 0.01; /* of executions that are longer by less than this: */
static const double SHORT_NS = 10e6;
static const double NOTICED_NS = 100e6; /* that somebody who waits for it notices */
static const double NOTICED = 0.05;     /* of the time that was recorded, of single executions */
static const double OFTENER = 1.5;      /* times, that another thread is due, for it to go first */
static const double FEW = 0.2;          /* of all executions: more are no exception */
static const double SLICE_NS = 4e6;     /* that a thread has a processor for while others wait */
static const double MOST_TIME = 0.5;    /* of all time, that waits for a processor are not of few */
static const double QUEUE_NS = 5 * 4e6; /* that it waits where five of them are ready before it */
static const double NOTHING_NS = 1e4;   /* less than it takes to wake a thread twice */
static const double PAUSE = 0.5;        /* of the time of fast executions, that is for a timer */

/* What the executions of a cause last longer than those of A, all together. */
static double cost_ns(const struct weft_diagnosis *diagnosis,
                      const struct weft_compare_cause *cause)
{
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    return (double)cause->n_items * fmax(0, cause->duration_ns - usual_ns);
}

const struct weft_compare_node *weft_compare_row_of(const struct weft_compare_table *table,
                                                    uint32_t node)
{
    for (size_t i = 0; i < table->n_nodes; i++)
        if (table->nodes[i].node == node)
            return &table->nodes[i];
    return NULL;
}

static bool is_state(const struct weft_ecct_matrix *matrix, uint32_t node, struct weft_str name)
{
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
    return node != 0 && frame->kind == WEFT_FRAME_STATE && weft_str_equal(frame->name, name);
}

/* The node of what a thread does that took the processor from another; WEFT_ID_NONE: none did. */
static uint32_t preempter_of(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (uint32_t below = WEFT_ID_NONE; node != 0; node = matrix->nodes[node].parent) {
        if (is_state(matrix, node, WEFT_STR("preempted")))
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
static bool is_alike(struct weft_str a, struct weft_str b)
{
    const struct weft_frame of_a = { .name = stem_of(a), .kind = WEFT_FRAME_THREAD };
    const struct weft_frame of_b = { .name = stem_of(b), .kind = WEFT_FRAME_THREAD };
    return weft_frame_hash(WEFT_FRAME_HASH, &of_a) == weft_frame_hash(WEFT_FRAME_HASH, &of_b);
}

/* Is the thread of the node `thread`, above the cause's, at the same as executions of the type are?
 * Without functions, it is one of the same name. */
static bool is_peer(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause,
                    uint32_t thread)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    uint32_t node = cause->node;
    if (thread == WEFT_ID_NONE ||
        matrix->frames[matrix->nodes[thread].frame].kind != WEFT_FRAME_THREAD)
        return false;
    while (node > thread && (!is_function(matrix, node) ||
                             weft_frame_is_library(&matrix->frames[matrix->nodes[node].frame])))
        node = matrix->nodes[node].parent;
    if (node <= thread)
        return is_alike(matrix->frames[matrix->nodes[thread].frame].name,
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
static bool is_peer_of_awaited(const struct weft_diagnosis *diagnosis,
                               const struct weft_compare_cause *cause, uint32_t preempter)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[preempter].frame];
    const uint32_t thread = awaited(matrix, matrix->nodes[preempter].parent);
    return frame->kind == WEFT_FRAME_THREAD && thread != WEFT_ID_NONE &&
           is_alike(frame->name, matrix->frames[matrix->nodes[thread].frame].name) &&
           !is_alike(frame->name, matrix->items[cause->example].thread);
}

/* Threads that do the same work take the processors from each other; or so many of them wait for
 * each other that this is how they work, and not why a few are slow. */
static bool is_shared(const struct weft_diagnosis *diagnosis,
                      const struct weft_compare_cause *cause)
{
    const uint32_t preempter = preempter_of(diagnosis->matrix, cause->node);
    if (preempter != WEFT_ID_NONE)
        return is_peer(diagnosis, cause, preempter) ||
               is_peer_of_awaited(diagnosis, cause, preempter);
    return !diagnosis->is_versus && cause->n_items > PEERS * (double)diagnosis->matrix->n_items &&
           cause->duration_ns < FAR * diagnosis->table->metrics[0].mean_a &&
           is_peer(diagnosis, cause, awaited(diagnosis->matrix, cause->node));
}

/* Has a thread the processor that has to be ready more often, and is the execution still in time?
 * That is the order which lets all of them keep their periods (Liu and Layland 1973). */
static bool is_due_first(const struct weft_diagnosis *diagnosis,
                         const struct weft_compare_cause *cause)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    const uint32_t preempter = preempter_of(matrix, cause->node);
    if (!diagnosis->rhythms || preempter == WEFT_ID_NONE ||
        matrix->frames[matrix->nodes[preempter].frame].kind != WEFT_FRAME_THREAD)
        return false;
    const double own_ns =
        weft_rhythms_period_ns(diagnosis->rhythms, matrix->items[cause->example].thread);
    const double other_ns = weft_rhythms_period_ns(
        diagnosis->rhythms, matrix->frames[matrix->nodes[preempter].frame].name);
    return other_ns > 0 && OFTENER * other_ns <= own_ns && cause->duration_ns < own_ns;
}

/* Has a thread of the program the processor, on a machine that other programs fill? Then there
 * would have been another one, but for them, unless the program keeps to one. */
static bool is_crowded(const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause)
{
    return !diagnosis->is_versus && weft_crowd_takes_places(&diagnosis->crowd) &&
           preempter_of(diagnosis->matrix, cause->node) != WEFT_ID_NONE;
}

/* Is it more than chance puts into the slow executions? Any thread of a machine that is shared
 * loses its processor now and then, which makes executions slow and is no cause that they have in
 * common: that has to be significant among all nodes, or, of most slow ones, in all stacks
 * together. What happens to a part of an execution matters only if it makes the whole slow.
 */
static bool is_evident(const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    if (!row || !(row->difference_ns > 0))
        return false;
    if (preempter_of(diagnosis->matrix, cause->node) == WEFT_ID_NONE)
        return true;
    if (!diagnosis->is_versus && (!diagnosis->tail.is_found || diagnosis->is_part))
        return false;
    if (diagnosis->is_proposed &&
        cause->duration_ns - diagnosis->table->metrics[0].mean_a < SLICE_NS)
        return false; /* whoever wakes a thread is preempted by it now and then */
    if ((double)cause->n_items >= MOST * (double)diagnosis->table->n_b)
        return cause->p < EVIDENCE_P;
    return row->p_adjusted < EVIDENCE_P && row->interval.low_ns > 0;
}

/* Is it of another kind than what the fast executions do? Where durations do not part slow from
 * fast, the slow ones were chosen by what they have more of: that they have more of it then says
 * nothing, but that the fast ones lack it does. */
static bool is_foreign(const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    return row && row->is_sure && row->difference_ns > 0 &&
           (double)row->n_a <= FOREIGN * (double)diagnosis->table->n_a &&
           row->mean_a_ns <= FOREIGN * row->mean_b_ns;
}

/* Is it rather another kind of execution than a slow one? Not what a gap parts from the others,
 * unless nobody asked about the function; nor what only happens to it. What more than half of them
 * do is how it is, however much longer that lasts, of a function that nobody asked about. */
static bool is_kind(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause)
{
    const double many = MANY * (double)diagnosis->matrix->n_items;
    if (preempter_of(diagnosis->matrix, cause->node) != WEFT_ID_NONE)
        return false;
    if (diagnosis->is_proposed && (double)diagnosis->table->n_b > many)
        return true;
    return (diagnosis->is_proposed || !diagnosis->tail.is_found) && cause->n_items > many &&
           cause->duration_ns < FAR * diagnosis->table->metrics[0].mean_a;
}

static bool is_own(const struct weft_ecct_matrix *matrix, uint32_t node);
static bool is_type_itself(const struct weft_diagnosis *diagnosis, uint32_t node);
static bool is_computing(const struct weft_diagnosis *diagnosis,
                         const struct weft_compare_cause *cause);

/* Do they wait so much longer for what all wait for, at such a cost, that no spread of that tells
 * them? */
static bool is_far_wait(const struct weft_diagnosis *diagnosis,
                        const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    return row && row->is_sure && row->difference_ns > 0 && !is_computing(diagnosis, cause) &&
           cause->duration_ns >= FAR_WAIT * diagnosis->tail.fast_median_ns &&
           cause->n_items < FEW * (double)diagnosis->matrix->n_items &&
           weft_cause_share(diagnosis, cause) >= SMALL_SHARE;
}

/* Does the execution's own thread run, as far as is known? */
static bool is_own_run(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
    return is_own(matrix, node) &&
           (frame->kind == WEFT_FRAME_FUNCTION || weft_frame_is_running(frame));
}

/* Does the execution's own thread compute where the usual ones compute too? */
static bool is_computing(const struct weft_diagnosis *diagnosis,
                         const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    return row && row->mean_a_ns > FOREIGN * row->mean_b_ns &&
           is_own_run(diagnosis->matrix, cause->node);
}

/* Is the innermost state one of which a wait for a processor cannot be told apart, where the trace
 * does not say who had it? A call that hands bytes over wakes another thread, which may take it. */
static bool is_vague_wait(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    static const char *const states[] = { "blocked: in send", "blocked: in write",
                                          "blocked: thread, in flight",
                                          "blocked: lock, in flight" };
    if (is_state(matrix, node, WEFT_STR("blocked: unknown"))) {
        const uint32_t parent = matrix->nodes[node].parent;
        return parent == 0 || matrix->frames[matrix->nodes[parent].frame].kind == WEFT_FRAME_THREAD;
    }
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (is_state(matrix, node, weft_str_of(states[i])))
            return true;
    return false;
}

static bool is_longer_sleep(const struct weft_diagnosis *diagnosis,
                            const struct weft_compare_cause *cause);

/* Do all of them do it for a good part of their time, or is it no more than the function that
 * nobody asked about, and are the slow ones not longer than a thread may wait for a processor? That
 * is where such waits are met, however many there are: of what computes, the turns of a few other
 * threads; of a wait for something, whose end may have to wait, one. */
static bool is_short_where_usual(const struct weft_diagnosis *diagnosis,
                                 const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    const double most_ns = is_own_run(diagnosis->matrix, cause->node) ? QUEUE_NS : SLICE_NS;
    const bool is_itself = diagnosis->is_proposed && is_type_itself(diagnosis, cause->node);
    const bool is_common =
        row && row->mean_a_ns > PART * usual_ns && weft_cause_share(diagnosis, cause) < MOST_TIME;
    return row && (is_itself || is_common) && cause->duration_ns - usual_ns < most_ns;
}

/* Of few executions, which cost little: are they longer by so little, or for so short a time? */
static bool is_like_preemption(const struct weft_diagnosis *diagnosis,
                               const struct weft_compare_cause *cause)
{
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    const double most_ns = is_own_run(diagnosis->matrix, cause->node) ? QUEUE_NS : SLICE_NS;
    return weft_cause_share(diagnosis, cause) < SMALL_SHARE &&
           cause->n_items < FEW * (double)diagnosis->matrix->n_items &&
           (cause->duration_ns < SMALL * usual_ns || is_short_where_usual(diagnosis, cause) ||
            (cause->duration_ns - usual_ns < most_ns && cause->n_items < NOISE_EXECUTIONS));
}

/* Is it something that usual executions have too, however short, and that lasts longer if a thread
 * waits for a processor: that one runs, on whatever thread, or that something is waited for which
 * the trace does not tell of? */
static bool is_longer_there(const struct weft_diagnosis *diagnosis,
                            const struct weft_compare_cause *cause)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[cause->node].frame];
    return row && row->n_a > FOREIGN * (double)diagnosis->table->n_a &&
           (frame->kind == WEFT_FRAME_FUNCTION || weft_frame_is_running(frame) ||
            is_state(matrix, cause->node, WEFT_STR("blocked: unknown")) ||
            (frame->kind == WEFT_FRAME_STATE && weft_frame_begins_with(frame, "blocked: in ")));
}

/* Might no more than waits for a processor be behind it, which the trace does not tell of? What
 * computes or sleeps longer where all do, if that is little; ends of waits, and calls that wake
 * others. */
static bool is_untold(const struct weft_diagnosis *diagnosis,
                      const struct weft_compare_cause *cause)
{
    if (!diagnosis->is_without_switches || diagnosis->is_versus)
        return false;
    return is_vague_wait(diagnosis->matrix, cause->node) ||
           (diagnosis->is_part && is_computing(diagnosis, cause)) ||
           (is_longer_there(diagnosis, cause) && is_short_where_usual(diagnosis, cause)) ||
           (is_like_preemption(diagnosis, cause) &&
            (is_longer_there(diagnosis, cause) || is_longer_sleep(diagnosis, cause)));
}

/* Is the function, which nobody asked about, there to wait for something to do? It does little
 * else, and those that it waits for have nothing to do either; or it waits for another thread most
 * of the times that it is called, or always for one that sleeps and then not much longer. */
static bool is_idle(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause)
{
    const struct weft_compare_node *row = weft_compare_row_of(diagnosis->table, cause->node);
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    if (!diagnosis->is_proposed || awaited(diagnosis->matrix, cause->node) == WEFT_ID_NONE)
        return false;
    if (weft_diagnosis_is_idle_at(diagnosis, cause->node) &&
        weft_diagnosis_is_there_to_wait(diagnosis))
        return true;
    return cause->n_items > MANY * (double)diagnosis->matrix->n_items ||
           (is_state(diagnosis->matrix, cause->node, WEFT_STR("blocked: timer")) && row &&
            row->mean_a_ns > MOST * usual_ns && cause->duration_ns < FAR * usual_ns);
}

/* Does the thread look now and then whether there is something to do, of itself or in a rhythm, and
 * finds nothing as usual? That is no measure of how long it takes if there is. */
static bool is_polling(const struct weft_diagnosis *diagnosis,
                       const struct weft_compare_cause *cause)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    const bool is_by_itself =
        diagnosis->is_after_sleep ||
        (diagnosis->rhythms &&
         weft_rhythms_period_ns(diagnosis->rhythms, matrix->items[cause->example].thread) > 0);
    return diagnosis->is_proposed && is_by_itself &&
           diagnosis->table->metrics[0].mean_a <= NOTHING_NS && is_own_run(matrix, cause->node);
}

/* A processor that is not told of as taken away, as under a hypervisor, looks like computing: of
 * few it has to be far. */
static bool is_noise(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause)
{
    return cause->n_items < NOISE_EXECUTIONS &&
           cause->duration_ns < NOISE * diagnosis->table->metrics[0].mean_a &&
           is_computing(diagnosis, cause);
}

/* Does it compute where all do, and is that the lesser part of what is slower? Then it is what was
 * left of something that is spread, such as many other programs. */
static bool is_rest(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause)
{
    const double slower_ns = cause->duration_ns - diagnosis->table->metrics[0].mean_a;
    return is_computing(diagnosis, cause) && cause->difference_ns < PART * slower_ns;
}

double weft_cause_share(const struct weft_diagnosis *diagnosis,
                        const struct weft_compare_cause *cause)
{
    return diagnosis->all_ns > 0 ? cost_ns(diagnosis, cause) / diagnosis->all_ns : 0;
}

bool weft_cause_is_small(const struct weft_diagnosis *diagnosis,
                         const struct weft_compare_cause *cause)
{
    const double share = weft_cause_share(diagnosis, cause);
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    if (share < SMALL_COST && cause->duration_ns < SMALL_FAR * usual_ns)
        return true;
    return share < SMALL_SHARE && cause->duration_ns < SMALL * usual_ns &&
           (diagnosis->is_proposed ||
            cause->n_items < SMALL_PART * (double)diagnosis->matrix->n_items);
}

/* Does it make nobody wait who would notice? A tail of few is what percentiles are looked at for:
 * it may cost little, if those that have it are as long as usual, nearly, or by a few turns of a
 * scheduler longer. */
static bool is_minor(const struct weft_diagnosis *diagnosis, const struct weft_compare_cause *cause)
{
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    const bool is_short = cause->duration_ns - usual_ns < SHORT_NS;
    if (!diagnosis->is_proposed)
        return is_short && cause->duration_ns < SMALL_FAR * usual_ns &&
               weft_cause_share(diagnosis, cause) < TINY_COST;
    return weft_cause_is_small(diagnosis, cause) &&
           (is_short || cause->duration_ns < MILD * usual_ns);
}

/* Are all causes within the program like that? */
static bool all_causes(const struct weft_diagnosis *diagnosis,
                       bool (*is)(const struct weft_diagnosis *, const struct weft_compare_cause *))
{
    for (size_t i = 0; i < diagnosis->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &diagnosis->table->causes[i];
        if (weft_cause_place_of(diagnosis, cause) == WEFT_CAUSE_INSIDE && !is(diagnosis, cause))
            return false;
    }
    return true;
}

bool weft_diagnosis_is_minor(const struct weft_diagnosis *diagnosis)
{
    return !diagnosis->is_versus && diagnosis->table && all_causes(diagnosis, is_minor);
}

bool weft_diagnosis_is_more_work(const struct weft_diagnosis *diagnosis)
{
    const struct weft_work *work = &diagnosis->work;
    const struct weft_compare_cause *first;
    if (!(work->usual_calls > 0) || !diagnosis->table ||
        weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, &first, 1) == 0)
        return false;
    const double more_ns = (work->slow_calls - work->usual_calls) * work->usual_ns;
    return more_ns >= MUCH * first->difference_ns && work->slow_ns < LONGER_CALL * work->usual_ns;
}

struct weft_str weft_diagnosis_work_of(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *list[2];
    struct weft_frame_path path;
    size_t places[WEFT_NAMED_FUNCTIONS];
    if (!diagnosis->is_proposed || diagnosis->is_versus || !diagnosis->table ||
        weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, list, 2) != 1 ||
        !is_own_run(diagnosis->matrix, list[0]->node))
        return WEFT_STR("");
    weft_frame_path_of(diagnosis->matrix, list[0]->node, &path);
    const struct weft_path_part part = weft_path_part_at(&path, 0);
    if (weft_path_functions(&path, &part, places) == 0)
        return WEFT_STR("");
    return path.frames[places[0]]->name;
}

enum weft_cause_place weft_cause_place_of(const struct weft_diagnosis *diagnosis,
                                          const struct weft_compare_cause *cause)
{
    if (cause->node == WEFT_ID_NONE)
        return WEFT_CAUSE_SPREAD;
    if (diagnosis->tail.is_alone)
        return WEFT_CAUSE_ALONE;
    if (weft_cause_share(diagnosis, cause) < CAUSE_SHARE)
        return WEFT_CAUSE_SMALL;
    if (cause->n_items < CAUSE_EXECUTIONS)
        return diagnosis->tail.is_found ? WEFT_CAUSE_ALONE : WEFT_CAUSE_SMALL;
    if (!diagnosis->is_versus && is_noise(diagnosis, cause))
        return WEFT_CAUSE_ALONE;
    if (!diagnosis->is_versus && is_rest(diagnosis, cause))
        return WEFT_CAUSE_SPREAD;
    if (!diagnosis->is_versus &&
        (is_kind(diagnosis, cause) || is_idle(diagnosis, cause) || is_polling(diagnosis, cause)))
        return WEFT_CAUSE_SPREAD;
    if (weft_node_is_outside(diagnosis->matrix, cause->node))
        return WEFT_CAUSE_OUTSIDE;
    if (!diagnosis->is_versus && is_due_first(diagnosis, cause))
        return WEFT_CAUSE_DUE;
    if (is_untold(diagnosis, cause))
        return WEFT_CAUSE_UNTOLD;
    if (is_shared(diagnosis, cause))
        return WEFT_CAUSE_SHARED;
    if (is_crowded(diagnosis, cause))
        return WEFT_CAUSE_CROWDED;
    if (!diagnosis->is_versus && !diagnosis->tail.is_found && !is_foreign(diagnosis, cause) &&
        !is_far_wait(diagnosis, cause))
        return WEFT_CAUSE_SPREAD;
    return is_evident(diagnosis, cause) ? WEFT_CAUSE_INSIDE : WEFT_CAUSE_CHANCE;
}

const char *weft_diagnosis_ordinary(const struct weft_diagnosis *diagnosis)
{
    static const char *const why[] = { "they wait for something to do",
                                       "the others find nothing to do",
                                       "more than half of them do that" };
    uint64_t n[3] = { 0 };
    for (size_t i = 0; i < diagnosis->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &diagnosis->table->causes[i];
        if (!diagnosis->is_proposed || weft_cause_place_of(diagnosis, cause) != WEFT_CAUSE_SPREAD ||
            cause->node == WEFT_ID_NONE)
            continue;
        if (is_idle(diagnosis, cause))
            n[0] += cause->n_items;
        else if (is_polling(diagnosis, cause))
            n[1] += cause->n_items;
        else if (is_kind(diagnosis, cause))
            n[2] += cause->n_items;
    }
    for (size_t k = 0; k < 3; k++)
        if (2 * n[k] > diagnosis->table->n_b)
            return why[k];
    return NULL;
}

size_t weft_causes_list(const struct weft_diagnosis *diagnosis, enum weft_cause_place place,
                        const struct weft_compare_cause **list, size_t n_most)
{
    const struct weft_compare_table *table = diagnosis->table;
    size_t n = 0, n_all = 0;
    for (size_t i = 0; table && i < table->n_causes; i++) {
        const struct weft_compare_cause *cause = &table->causes[i];
        if (weft_cause_place_of(diagnosis, cause) != place)
            continue;
        size_t at = n;
        while (at > 0 && cost_ns(diagnosis, list[at - 1]) < cost_ns(diagnosis, cause))
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

bool weft_diagnosis_has_evidence(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_table *table = diagnosis->table;
    const struct weft_compare_metric *duration = &table->metrics[0];
    const struct weft_comparison_view comparison = { .matrix = diagnosis->matrix, .table = table };
    if (table->n_metrics == 0 || table->n_a < 2 || table->n_b < 2)
        return false;
    if (weft_comparison_differs_in_place(&comparison))
        return true;
    return duration->p < EVIDENCE_P && (duration->low > 0 || duration->high < 0);
}

/* Does nothing between the root and the node belong to another thread, or to a lock? */
static bool is_own(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    for (; node != 0; node = matrix->nodes[node].parent) {
        const unsigned kind = matrix->frames[matrix->nodes[node].frame].kind;
        if (kind == WEFT_FRAME_THREAD || kind == WEFT_FRAME_LOCK)
            return false;
    }
    return true;
}

/* Is the node what the type is called by, a function that ran? That says nothing of why. */
static bool is_type_itself(const struct weft_diagnosis *diagnosis, uint32_t node)
{
    const struct weft_ecct_matrix *matrix = diagnosis->matrix;
    if (is_state(matrix, node, WEFT_STR("running")))
        node = matrix->nodes[node].parent;
    return node != 0 && is_own(matrix, node) &&
           weft_str_equal(matrix->frames[matrix->nodes[node].frame].name, diagnosis->type);
}

double weft_diagnosis_timer_share(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_table *table = diagnosis->table;
    double sum_ns = 0;
    for (size_t i = 0; i < table->n_nodes; i++)
        if (is_state(diagnosis->matrix, table->nodes[i].node, WEFT_STR("blocked: timer")) &&
            is_own(diagnosis->matrix, table->nodes[i].node))
            sum_ns += table->nodes[i].mean_a_ns;
    return table->metrics[0].mean_a > 0 ? sum_ns / table->metrics[0].mean_a : 0;
}

/* Do slow executions only sleep longer where all sleep? */
static bool is_longer_sleep(const struct weft_diagnosis *diagnosis,
                            const struct weft_compare_cause *cause)
{
    return is_state(diagnosis->matrix, cause->node, WEFT_STR("blocked: timer")) &&
           is_own(diagnosis->matrix, cause->node) && !is_foreign(diagnosis, cause);
}

bool weft_diagnosis_is_pause(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_table *table = diagnosis->table;
    if (!diagnosis->is_proposed || !table || table->n_metrics == 0 ||
        weft_diagnosis_timer_share(diagnosis) < PAUSE)
        return false;
    for (size_t i = 0; i < table->n_causes; i++)
        if (weft_cause_place_of(diagnosis, &table->causes[i]) == WEFT_CAUSE_INSIDE &&
            !is_longer_sleep(diagnosis, &table->causes[i]))
            return false;
    return true;
}

/* By how much the slow executions that have a cause in the program are longer, the most of each. */
static double longer_ns(const struct weft_diagnosis *diagnosis)
{
    const double usual_ns = diagnosis->table->metrics[0].mean_a;
    double most_ns = 0;
    for (size_t i = 0; i < diagnosis->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &diagnosis->table->causes[i];
        if (weft_cause_place_of(diagnosis, cause) == WEFT_CAUSE_INSIDE)
            most_ns = fmax(most_ns, cause->duration_ns - usual_ns);
    }
    return most_ns;
}

bool weft_diagnosis_is_trifle(const struct weft_diagnosis *diagnosis)
{
    if (!diagnosis->is_proposed || !diagnosis->table || diagnosis->table->n_metrics == 0)
        return false;
    const double all_ns = (double)diagnosis->trace_ns, ns = longer_ns(diagnosis);
    const double share = ns < SHORT_NS ? TRIFLE_SHORT : TRIFLE;
    return ns < NOTICED_NS && weft_diagnosis_cost_ns(diagnosis) < share * all_ns;
}

bool weft_execution_is_noticed(const struct weft_diagnosis *diagnosis, uint64_t ns)
{
    const double longer = (double)ns - diagnosis->tail.fast_median_ns;
    return !diagnosis->is_proposed || longer >= NOTICED_NS ||
           longer >= NOTICED * (double)diagnosis->trace_ns;
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

/* Where the innermost thread of a path begins, behind its frame; 0: it is the execution's own. */
static size_t last_thread(const struct weft_frame_path *path)
{
    size_t from = path->n;
    while (from > 0 && path->frames[from - 1]->kind != WEFT_FRAME_THREAD)
        from--;
    return from;
}

bool weft_diagnosis_is_within(const struct weft_diagnosis *part, const struct weft_diagnosis *whole)
{
    const struct weft_compare_cause *inner, *outer;
    struct weft_frame_path path;
    if (!part->is_proposed || part->is_versus || !weft_diagnosis_is_significant(part) ||
        !weft_diagnosis_is_significant(whole))
        return false;
    (void)weft_causes_list(part, WEFT_CAUSE_INSIDE, &inner, 1);
    (void)weft_causes_list(whole, WEFT_CAUSE_INSIDE, &outer, 1);
    if (!is_own(part->matrix, inner->node))
        return false;
    weft_frame_path_of(part->matrix, inner->node, &path);
    const uint64_t end = end_of(&path, 0);
    weft_frame_path_of(whole->matrix, outer->node, &path);
    const size_t from = last_thread(&path);
    return from > 0 && end != 0 && end == end_of(&path, from) &&
           is_alike(path.frames[from - 1]->name, part->matrix->items[inner->example].thread);
}

bool weft_diagnosis_is_significant(const struct weft_diagnosis *diagnosis)
{
    const struct weft_compare_cause *first;
    if (!diagnosis->table)
        return false;
    if (diagnosis->is_versus)
        return weft_diagnosis_has_evidence(diagnosis);
    return !weft_diagnosis_is_pause(diagnosis) && !weft_diagnosis_is_trifle(diagnosis) &&
           !weft_diagnosis_is_minor(diagnosis) && !diagnosis->unfelt_by &&
           !weft_diagnosis_is_more_work(diagnosis) &&
           weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, &first, 1) > 0;
}

unsigned weft_diagnosis_rank(const struct weft_diagnosis *diagnosis)
{
    enum { TELLS, IS_PART, IS_TAIL, IS_SLOW, HAS_ALONE, HEALTHY };
    const struct weft_compare_cause *first;
    if (weft_diagnosis_is_significant(diagnosis)) {
        const bool is_cause =
            !diagnosis->is_versus && weft_causes_list(diagnosis, WEFT_CAUSE_INSIDE, &first, 1) > 0;
        if (is_cause && is_type_itself(diagnosis, first->node))
            return IS_SLOW;
        if (diagnosis->is_within || diagnosis->is_part)
            return IS_PART;
        return is_cause && all_causes(diagnosis, weft_cause_is_small) ? IS_TAIL : TELLS;
    }
    return diagnosis->table && weft_causes_list(diagnosis, WEFT_CAUSE_ALONE, &first, 1) > 0
               ? HAS_ALONE
               : HEALTHY;
}

double weft_diagnosis_cost_ns(const struct weft_diagnosis *diagnosis)
{
    double sum_ns = 0;
    for (size_t i = 0; diagnosis->table && i < diagnosis->table->n_causes; i++) {
        const struct weft_compare_cause *cause = &diagnosis->table->causes[i];
        if (weft_cause_place_of(diagnosis, cause) == WEFT_CAUSE_INSIDE)
            sum_ns += cost_ns(diagnosis, cause);
    }
    return sum_ns;
}
