/* SPDX-License-Identifier: MIT
 *
 * See idle.h.
 */
#include "analysis/findings/idle.h"

#include "analysis/compare/names.h"
#include "analysis/findings/causes.h"
#include "analysis/findings/verdicts.h"
#include "model/graph/waiting.h"
#include "schema/event.h"
#include "schema/executions.h"
#include "schema/locks.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED_CAUSES = 8 };

static const double REST = 0.1;      /* of the time, that is not idle */
static const double REST_NS = 1e4;   /* or so long: less than it takes to wake a thread twice */
static const double SERVED = 1. / 3; /* of the executions, that wait for a thread */
static const double WAITED = 0.1;    /* of the time of each */

/* ---- idle ------------------------------------------------------------------------------------ */

static bool is_whole(const struct weft_facts *facts, struct weft_str name)
{
    for (size_t i = 0; i < facts->n_wholes; i++)
        if (weft_str_equal(facts->wholes[i], name))
            return true;
    return false;
}

/* Is any of the functions from `from` to `to` one that repeats? */
static bool is_at_work(const struct weft_facts *facts, const struct weft_frame_path *path,
                       size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION && is_whole(facts, path->frames[i]->name))
            return true;
    return false;
}

static bool is_of_lock(struct weft_str name)
{
    static const char *const starts[] = { "pthread_mutex", "pthread_rwlock", "pthread_spin" };
    return WEFT_STR_BEGINS(name, starts);
}

/* Is the innermost function before `to`, of the thread there, one that waits for something to come?
 * A lock is waited for without such a function, or in one of its own. */
static bool is_in_wait(const struct weft_frame_path *path, size_t to)
{
    while (to > 0 && path->frames[to - 1]->kind != WEFT_FRAME_FUNCTION &&
           path->frames[to - 1]->kind != WEFT_FRAME_THREAD)
        to--;
    if (to == 0 || path->frames[to - 1]->kind == WEFT_FRAME_THREAD)
        return false;
    const struct weft_str name = path->frames[to - 1]->name;
    return !is_of_lock(name) &&
           (weft_is_wait_name(name) || weft_wait_for_of_name(name) == WEFT_WAITS_FOR_INPUT);
}

/* Does the recording say that the thread at `at` was waited for because it held a lock? Then the
 * names of functions within the call of libc, known where it has debug symbols, do not matter. */
static bool is_behind_lock(const struct weft_frame_path *path, size_t at)
{
    const uint8_t waited_for = path->frames[at]->waited_for;
    return waited_for > 0 && weft_lock_is_held((uint8_t)(waited_for - 1));
}

static size_t first_thread(const struct weft_frame_path *path)
{
    size_t at = 0;
    while (at < path->n && path->frames[at]->kind != WEFT_FRAME_THREAD)
        at++;
    return at;
}

/* Does the thread wait elsewhere than where its iterations begin? Only if it is known where it
 * waits, and begins. */
static bool is_amid_iteration(const struct weft_facts *facts, const struct weft_frame_path *path,
                              size_t from)
{
    const struct weft_str thread = path->frames[from - 1]->name;
    bool has_loop = false, has_call = false;
    for (size_t i = from; i < path->n; i++)
        has_call |= path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
                    weft_is_wait_name(weft_libc_name(path->frames[i]->name));
    for (size_t k = 0; has_call && k < facts->n_loops; k++) {
        if (!weft_loop_is_of_thread(&facts->loops[k], thread))
            continue;
        has_loop = true;
        for (size_t i = from; i < path->n; i++)
            if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
                weft_str_equal(weft_libc_name(path->frames[i]->name), facts->loops[k].call))
                return false;
    }
    return has_loop;
}

/* Does the last thread of a path wait, in no function that repeats? One that waits for a device is
 * at work. */
static bool is_last_idle(const struct weft_facts *facts, const struct weft_frame_path *path)
{
    const size_t from = weft_path_last_thread(path);
    if (from == 0 || from == path->n)
        return false;
    const struct weft_frame *end = path->frames[path->n - 1];
    return end->state == WEFT_FRAME_BLOCKED && end->reason != WEFT_PATH_BLOCK_DEVICE &&
           end->reason != WEFT_PATH_DEVICE && !is_at_work(facts, path, from, path->n) &&
           !is_amid_iteration(facts, path, from);
}

bool weft_facts_is_idle_at(const struct weft_facts *facts, uint32_t node)
{
    struct weft_frame_path path;
    if (facts->n_wholes == 0 || node == 0 || node == WEFT_ID_NONE)
        return false;
    weft_frame_path_of(facts->matrix, node, &path);
    const size_t first = first_thread(&path);
    return first < path.n && !is_behind_lock(&path, first) && is_in_wait(&path, first) &&
           is_last_idle(facts, &path);
}

bool weft_node_is_behind_holder(const struct weft_ecct_matrix *matrix, uint32_t node)
{
    struct weft_frame_path path;
    weft_frame_path_of(matrix, node, &path);
    const size_t from = weft_path_last_thread(&path);
    return from > 0 && path.n < WEFT_PATH_DEPTH && !is_in_wait(&path, from - 1);
}

bool weft_facts_is_there_to_wait(const struct weft_facts *facts)
{
    const struct weft_compare_table *table = facts->table;
    double idle_ns = 0;
    if (!facts->is_proposed || facts->n_wholes == 0 || !table || table->n_metrics == 0)
        return false;
    const double usual_ns = table->metrics[0].mean_a;
    for (size_t i = 0; i < table->n_nodes; i++)
        if (table->nodes[i].mean_a_ns > 0 && weft_facts_is_idle_at(facts, table->nodes[i].node))
            idle_ns += table->nodes[i].mean_a_ns;
    return usual_ns - idle_ns <= REST_NS || usual_ns - idle_ns <= REST * usual_ns;
}

/* ---- executions that wait for it ------------------------------------------------------------- */

static uint64_t likeness_of(struct weft_str thread)
{
    const struct weft_frame frame = { .name = thread, .kind = WEFT_FRAME_THREAD };
    return weft_frame_hash(WEFT_FRAME_HASH, &frame);
}

/* Does a path lead to a thread like that, because it is waited for? */
static bool leads_to(const struct weft_frame_path *path, uint64_t likeness)
{
    for (size_t i = 0; i < path->n; i++) {
        const struct weft_frame *frame = path->frames[i];
        if (frame->kind != WEFT_FRAME_THREAD)
            continue;
        if (i > 0 && path->frames[i - 1]->state == WEFT_FRAME_PREEMPTED)
            return false;
        if (weft_frame_hash(WEFT_FRAME_HASH, frame) == likeness)
            return true;
    }
    return false;
}

/* By node: is it a wait for the thread at work? NULL without memory; the caller frees. */
static bool *mark_waits(const struct weft_facts *other, uint64_t likeness)
{
    const struct weft_ecct_matrix *matrix = other->matrix;
    bool *is_wait = calloc(matrix->n_nodes + 1, sizeof *is_wait);
    struct weft_frame_path path;
    for (uint32_t node = 1; is_wait && node < matrix->n_nodes; node++) {
        weft_frame_path_of(matrix, node, &path);
        is_wait[node] =
            leads_to(&path, likeness) && !(other->n_wholes > 0 && is_last_idle(other, &path));
    }
    return is_wait;
}

static bool waits_long(const struct weft_ecct_matrix *matrix, const bool *is_wait, size_t item)
{
    double all_ns = 0, waited_ns = 0;
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
        all_ns += (double)matrix->ns[at];
        waited_ns += is_wait[matrix->node[at]] ? (double)matrix->ns[at] : 0;
    }
    return waited_ns > 0 && waited_ns >= WAITED * all_ns;
}

bool weft_facts_find_serves(const struct weft_facts *facts, const struct weft_facts *other,
                            bool *serves)
{
    const struct weft_ecct_matrix *matrix = other->matrix;
    *serves = false;
    if (!facts->is_proposed || facts->matrix->n_items == 0 || matrix->n_items == 0)
        return true;
    const uint64_t likeness = likeness_of(facts->matrix->items[0].thread);
    if (likeness_of(matrix->items[0].thread) == likeness)
        return true;
    bool *is_wait = mark_waits(other, likeness);
    if (!is_wait)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        n += waits_long(matrix, is_wait, i);
    free(is_wait);
    *serves = (double)n >= SERVED * (double)matrix->n_items;
    return true;
}

bool weft_facts_is_felt(const struct weft_facts *facts, const struct weft_facts *other)
{
    const struct weft_compare_cause *list[LISTED_CAUSES];
    const uint64_t likeness = likeness_of(facts->matrix->items[0].thread);
    struct weft_frame_path path;
    if (!other->table || !weft_facts_are_significant(other))
        return false;
    const size_t n = weft_causes_list(other, WEFT_CAUSE_INSIDE, list, LISTED_CAUSES);
    for (size_t i = 0; i < n && i < LISTED_CAUSES; i++) {
        weft_frame_path_of(other->matrix, list[i]->node, &path);
        if (leads_to(&path, likeness))
            return true;
    }
    return false;
}
