/* SPDX-License-Identifier: MIT
 *
 * Opens the operations on locks - of the whole trace once if it has conditions or barriers, of the
 * worst execution of each problem of a lock - and lets the analyses look at them.
 */
#include "query/synchronization.h"

#include "analysis/findings/synchronization.h"
#include "model/locks/locks.h"
#include "query/evidence.h"
#include "query/session.h"
#include "schema/findings.h"
#include "schema/tables.h"

static const uint64_t MARGIN_NS = UINT64_C(1000000);
enum { LEAST_OVERTAKING = 2 };

enum { SHARE = 2 }; /* of the memory, for locks that are read once: one part in so many */

/* Too many operations for the memory are none. */
static enum weft_code open_locks(struct weft_session *session, const struct weft_locks_span *span,
                                 struct weft_locks **locks, struct weft_err *err)
{
    const struct weft_run *run = weft_session_run(session);
    const enum weft_code code =
        weft_locks_open(weft_session_trace(session), span, run->memory_bytes / SHARE, locks, err);
    if (code != WEFT_E_LIMIT)
        return code;
    weft_locks_close(*locks);
    *locks = NULL;
    if (err)
        *err = (struct weft_err){ 0 };
    return WEFT_OK;
}

enum weft_code weft_syncs_look(struct weft_session *session, struct weft_arena *arena,
                               struct weft_problems_table *problems, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    const struct weft_locks_span span = { .to_ns = meta->duration_ns + 1 };
    const struct weft_locks *locks = NULL;
    struct weft_locks *own = NULL;
    if (meta->calls + meta->events > WEFT_SYNC_OPERATIONS || !weft_syncs_may_be(trace))
        return WEFT_OK;
    enum weft_code code = weft_session_locks(session, &locks, err);
    if (code == WEFT_OK && !locks) {
        code = open_locks(session, &span, &own, err);
        locks = own;
    }
    if (code == WEFT_OK && locks)
        code = weft_syncs_find(trace, locks, arena, &problems->syncs, &problems->n_syncs, err);
    weft_locks_close(own);
    return code;
}

/* ---- writers --------------------------------------------------------------------------------- */

/* Read locks that were asked for after the operation was, and got before. */
static uint64_t count_overtaking(const struct weft_locks *locks, size_t at)
{
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(locks, &n_ops);
    const struct weft_lock_op *writer = &ops[at];
    uint64_t n = 0;
    if (weft_locks_object(locks, writer->object)->kind != WEFT_LOCK_RWLOCK ||
        writer->flags & WEFT_LOCK_SHARED)
        return 0;
    while (at-- > 0 && ops[at].object == writer->object && ops[at].got_ns > writer->start_ns)
        n += (ops[at].flags & (WEFT_LOCK_SHARED | WEFT_LOCK_FAILED)) == WEFT_LOCK_SHARED &&
             ops[at].start_ns > writer->start_ns && ops[at].thread_id != writer->thread_id;
    return n;
}

/* Is the operation one on the problem's lock? */
static bool is_of(const struct weft_trace *trace, const struct weft_locks *locks, size_t at,
                  const struct weft_problem *problem)
{
    const struct weft_table_context context = weft_trace_context(trace, NULL);
    const struct weft_lock_object *object =
        weft_locks_object(locks, weft_locks_ops(locks, &(size_t){ 0 })[at].object);
    char label[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(&context, object, label);
    return problem->object.n_bytes > 0 ? weft_str_equal(problem->object, weft_str_of(label))
                                       : label[0] == '0'; /* an address */
}

static enum weft_code look_at_worst(struct weft_session *session, struct weft_problem *problem,
                                    struct weft_err *err)
{
    const struct weft_execution_item *item = &problem->finding->matrix->items[problem->worst];
    const uint32_t thread_id =
        weft_evidence_thread(weft_session_trace(session), item->tid, item->thread, item->start_ns);
    const struct weft_locks_span span = { .from_ns = item->start_ns > MARGIN_NS
                                                         ? item->start_ns - MARGIN_NS
                                                         : 0,
                                          .to_ns = item->end_ns + 1,
                                          .without_sites = true };
    struct weft_locks *locks = NULL;
    if (thread_id == WEFT_ID_NONE)
        return WEFT_OK;
    const enum weft_code code = open_locks(session, &span, &locks, err);
    const size_t at = code == WEFT_OK && locks
                          ? weft_locks_find(locks, thread_id, item->start_ns, item->end_ns)
                          : SIZE_MAX;
    if (at != SIZE_MAX && is_of(weft_session_trace(session), locks, at, problem))
        problem->n_overtaking = count_overtaking(locks, at);
    if (problem->n_overtaking >= LEAST_OVERTAKING)
        problem->kind = WEFT_PROBLEM_STARVED;
    weft_locks_close(locks);
    return code;
}

enum weft_code weft_starved_look(struct weft_session *session, struct weft_problems_table *problems,
                                 struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_trace_meta(weft_session_trace(session));
    const uint64_t *n = meta->events_of_kind;
    enum weft_code code = WEFT_OK;
    if (n[WEFT_EVENT_LOCK_REQUEST] + n[WEFT_EVENT_LOCK_ACQUIRED] == 0 ||
        meta->calls + meta->events > WEFT_SYNC_OPERATIONS)
        return WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < problems->n_rows; i++)
        if (weft_problem_is_of_lock(problems->rows[i].kind) && !problems->rows[i].is_small &&
            problems->rows[i].finding->table->n_a > 0)
            code = look_at_worst(session, &problems->rows[i], err);
    return code;
}
