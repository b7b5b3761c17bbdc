/* SPDX-License-Identifier: MIT
 *
 * How long a wait lasts, and where the other thread is, identify both (docs/analyses/diagnose.md).
 */
#include "analysis/findings/delays.h"

#include "analysis/findings/calls.h"
#include "model/graph/waiting.h"
#include "schema/executions.h"
#include "schema/locks.h"

#include <stdlib.h>

static const double ACK_NS = 38e6, ACK_END_NS = 50e6; /* the least of Linux, 40 ms, and a tick */
static const double NEARLY_ALL = 0.8, HALF = 0.5;
enum { LEAST_ACKS = 3 };

bool weft_delay_is_of_ack(double wait_ns)
{
    return wait_ns >= ACK_NS && wait_ns < ACK_END_NS;
}

bool weft_delay_is_ack_problem(const struct weft_problem *problem, const struct weft_kind *kind,
                               uint64_t n_acks)
{
    return problem->kind == WEFT_PROBLEM_NETWORK && kind->holder && !kind->last &&
           kind->is_in_flight && (kind->holder->flags & WEFT_FRAME_OF_PROCESS) &&
           n_acks >= LEAST_ACKS && (double)n_acks >= NEARLY_ALL * (double)problem->n_with;
}

/* Is a condition, or a semaphore, what the execution waits for? */
static bool is_for_signal(const struct weft_frame *thread)
{
    const int object = thread->waited_for - 1;
    return object == WEFT_LOCK_CONDITION || object == WEFT_LOCK_SEMAPHORE ||
           object == WEFT_LOCK_FUTEX;
}

/* Where an execution waits: the node of the program's function, 0 if none is known. As short waits
 * are often without a stack, also what it waits for: a condition, or the call that waits for a
 * descriptor. */
struct place {
    uint32_t node;
    struct weft_str object, call;
};

static struct place place_of(const struct weft_finding *finding, uint32_t node)
{
    struct weft_frame_path path;
    struct place place = { .node = 0 };
    weft_frame_path_of(finding->matrix, node, &path);
    const struct weft_kind kind = weft_kind_of(&path);
    const struct weft_path_part *part = kind.kind != WEFT_PROBLEM_TIMEOUT ? &kind.waiting
                                        : kind.last                       ? &kind.lasting
                                        : kind.holder                     ? &kind.holding
                                                                          : &kind.waiting;
    const struct weft_frame *function = weft_kind_function(&path, part);
    if (kind.object && kind.object->kind == WEFT_FRAME_LOCK)
        place.object = kind.object->name;
    for (size_t i = path.n; i-- > 0; node = finding->matrix->nodes[node].parent) {
        const struct weft_frame *frame = path.frames[i];
        if (i >= part->to || i < part->from || frame->kind != WEFT_FRAME_FUNCTION)
            continue;
        if (frame == function)
            place.node = node;
        if (kind.kind == WEFT_PROBLEM_TIMEOUT && place.call.n_bytes == 0 &&
            weft_frame_is_call(frame))
            place.call = weft_libc_name(frame->name);
    }
    return place;
}

/* Nodes at which executions wait there. */
struct waits {
    bool *is_there;   /* below the place, too */
    bool *is_waiting; /* blocked, or behind another thread */
    bool *has_function;
};

static bool waits_init(struct waits *waits, const struct weft_ecct_matrix *matrix)
{
    waits->is_there = calloc(matrix->n_nodes + 1, sizeof *waits->is_there);
    waits->is_waiting = calloc(matrix->n_nodes + 1, sizeof *waits->is_waiting);
    waits->has_function = weft_call_mark_functions(matrix);
    return waits->is_there && waits->is_waiting && waits->has_function;
}

static void waits_fini(struct waits *waits)
{
    free(waits->is_there);
    free(waits->is_waiting);
    free(waits->has_function);
}

static void mark_waits(const struct weft_ecct_matrix *matrix, const struct place *place,
                       struct waits *waits)
{
    for (uint32_t at = 1; at < matrix->n_nodes; at++) {
        const struct weft_frame *frame = &matrix->frames[matrix->nodes[at].frame];
        const uint32_t parent = matrix->nodes[at].parent;
        const bool is_call = place->call.n_bytes > 0 && frame->kind == WEFT_FRAME_FUNCTION &&
                             !waits->has_function[at] &&
                             weft_str_equal(weft_libc_name(frame->name), place->call);
        const bool is_object = place->object.n_bytes > 0 && frame->kind == WEFT_FRAME_LOCK &&
                               weft_str_equal(frame->name, place->object);
        waits->is_there[at] = at == place->node || is_call || is_object || waits->is_there[parent];
        waits->is_waiting[at] =
            frame->kind == WEFT_FRAME_THREAD ||
            (frame->kind == WEFT_FRAME_STATE && frame->state == WEFT_FRAME_BLOCKED) ||
            waits->is_waiting[parent];
    }
}

static bool has_wait(const struct weft_ecct_matrix *matrix, uint32_t item,
                     const struct waits *waits)
{
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
        if (matrix->ns[at] > 0 && waits->is_there[matrix->node[at]] &&
            waits->is_waiting[matrix->node[at]])
            return true;
    return false;
}

bool weft_delay_is_at_usual_place(const struct weft_finding *finding, uint32_t node)
{
    const struct weft_compare_table *table = finding->table;
    const struct place place = place_of(finding, node);
    struct waits waits;
    size_t n = 0;
    const bool is_good = waits_init(&waits, finding->matrix);
    if (is_good)
        mark_waits(finding->matrix, &place, &waits);
    for (size_t i = 0; is_good && i < table->n_a; i++)
        n += has_wait(finding->matrix, table->items_a[i], &waits);
    waits_fini(&waits);
    return n > 0 && (double)n >= HALF * (double)table->n_a;
}

bool weft_delay_is_of_idle_peer(struct weft_str type, const struct weft_kind *kind)
{
    const struct weft_loop_name loop = weft_loop_name_of(type);
    const struct weft_frame *thread = kind->last ? kind->last : kind->holder;
    return kind->kind == WEFT_PROBLEM_SLEEP && thread && (thread->flags & WEFT_FRAME_OF_PROCESS) &&
           is_for_signal(kind->holder) && weft_call_is_sleep(loop.call) &&
           weft_loop_is_of_thread(&loop, thread->name);
}
