/* SPDX-License-Identifier: MIT
 *
 * Opening, sharing and closing; the filter of threads; tables computed at the first question. The
 * waits of a trace are shared by all sessions over it, counted by their users, and made under a
 * lock so that simultaneous questions make them once.
 */
#include "query/session.h"

#include "analysis/calls/calls.h"
#include "analysis/findings/synchronization.h"
#include "analysis/states/histories.h"
#include "analysis/states/saturation.h"
#include "base/checked.h"
#include "base/room.h"
#include "base/vec.h"
#include "model/calls/scan.h"
#include "model/dependencies.h"
#include "query/parse.h"
#include "query/synchronization.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All waits of a trace, and how many point at them. */
struct waits {
    struct weft_interplay *interplay;
    unsigned n_users;
};

/* What all sessions of a trace have together. */
struct common {
    pthread_mutex_t lock; /* guards what follows, also while it is made */
    struct waits *waits;  /* NULL: not asked yet */
};

/* Of the memory there is, for what graphs share; and what an event of a lock comes to, roughly. */
enum { KNOWN_SHARE = 16, LOCK_BYTES = 64 };

/* Calls and events of a trace, at most, for its operations on locks to be read as a whole: the walk
 * over the calls takes two seconds at most. */
#define LOCKS_OPERATIONS UINT64_C(64000000)

struct weft_session {
    struct weft_trace *trace;
    struct common *common;
    bool is_shared; /* both are another session's */
    struct weft_run run;
    uint32_t *thread_ids; /* kept, ascending; NULL: all */
    size_t n_thread_ids;
    struct weft_functions_table *functions; /* NULL: not asked yet */
    uint64_t *medians_ns;                   /* by function id; NULL: not asked yet */
    struct weft_locks *locks;               /* NULL: not read, or not kept */
    struct {
        bool is_running;
        enum weft_code code;
        struct weft_err err;
    } reading;                         /* of locks, beside other work */
    bool has_locks;                    /* they were asked for */
    struct weft_graph_known *known;    /* NULL: not asked for */
    struct weft_lod_reader *lod;       /* NULL: not asked yet */
    struct weft_blocking_names *names; /* NULL: what is known alone */
    struct waits *waits;               /* of the last question; NULL: not asked yet */
    struct weft_source_facts facts;    /* is_known: asked before */
};

/* With the lock held. NULL is allowed. */
static void let_go(struct waits **waits)
{
    if (*waits && --(*waits)->n_users == 0) {
        weft_interplay_close((*waits)->interplay);
        free(*waits);
    }
    *waits = NULL;
}

enum weft_code weft_session_open(const char *path, const struct weft_run *run,
                                 struct weft_session **session, struct weft_err *err)
{
    struct weft_session *made = calloc(1, sizeof *made);
    *session = NULL;
    if (!made)
        return weft_no_memory(err, "a session");
    made->run = *run;
    made->common = calloc(1, sizeof *made->common);
    enum weft_code code =
        made->common ? weft_trace_open(path, &made->trace, err) : weft_no_memory(err, "a session");
    if (code != WEFT_OK) {
        free(made->common);
        free(made);
        return code;
    }
    pthread_mutex_init(&made->common->lock, NULL);
    *session = made;
    return WEFT_OK;
}

enum weft_code weft_session_hide_paths(struct weft_session *session, struct weft_err *err)
{
    return weft_trace_hide_paths(session->trace, err);
}

enum weft_code weft_session_share(const struct weft_session *base, const struct weft_run *run,
                                  struct weft_session **session, struct weft_err *err)
{
    *session = calloc(1, sizeof **session);
    if (!*session)
        return weft_no_memory(err, "a session");
    **session = (struct weft_session){
        .trace = base->trace, .common = base->common, .is_shared = true, .run = *run
    };
    return WEFT_OK;
}

static void forget_waits(struct weft_session *session)
{
    pthread_mutex_lock(&session->common->lock);
    let_go(&session->waits);
    if (!session->is_shared)
        let_go(&session->common->waits);
    pthread_mutex_unlock(&session->common->lock);
}

/* Were locks being read? Then they are there now, or the failure is. */
static bool end_reading(struct weft_session *session)
{
    const bool was_running = session->reading.is_running;
    if (was_running)
        weft_pool_end_task(session->run.pool);
    session->reading.is_running = false;
    return was_running;
}

void weft_session_close(struct weft_session *session)
{
    if (!session)
        return;
    weft_result_free(session->functions);
    weft_lod_reader_free(session->lod);
    weft_graph_known_free(session->known);
    end_reading(session);
    weft_locks_close(session->locks);
    forget_waits(session);
    weft_blocking_names_free(session->names);
    if (!session->is_shared) {
        pthread_mutex_destroy(&session->common->lock);
        free(session->common);
        weft_trace_close(session->trace);
    }
    free(session->thread_ids);
    free(session->medians_ns);
    free(session);
}

static enum weft_code depend_on(struct weft_trace *trace, const struct weft_executions_table *table,
                                struct weft_err *err)
{
    struct weft_dependency *found = weft_room_new(table->n_rows + 1, sizeof *found);
    if (!found)
        return weft_no_memory(err, "dependencies");
    for (size_t i = 0; i < table->n_rows; i++)
        found[i] = (struct weft_dependency){ .from_ns = table->rows[i].start_ns,
                                             .to_ns = table->rows[i].end_ns,
                                             .from_thread_id = table->rows[i].thread_id,
                                             .to_thread_id = table->rows[i].end_thread_id };
    const enum weft_code code = weft_trace_depend(trace, found, table->n_rows, err);
    weft_room_free(found);
    return code;
}

enum weft_code weft_session_depend(struct weft_session *session, const struct weft_rules *rules,
                                   uint64_t *n_found, struct weft_err *err)
{
    const struct weft_executions_opts opts = { .rules = rules,
                                               .of_dependencies = true,
                                               .without_metrics = true };
    struct weft_executions_table *table = NULL;
    if (n_found)
        *n_found = 0;
    if (rules->n_dependencies == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_executions_run(session->trace, NULL, &opts, &session->run, &table, err);
    WEFT_THEN(code, depend_on(session->trace, table, err));
    if (code == WEFT_OK && n_found)
        *n_found = table->n_rows;
    weft_result_free(table);
    return code;
}

const struct weft_trace *weft_session_trace(const struct weft_session *session)
{
    return session->trace;
}

struct weft_thread_filter weft_session_filter(const struct weft_session *session)
{
    return (struct weft_thread_filter){ .ids = session->thread_ids,
                                        .n_ids = session->n_thread_ids };
}

size_t weft_session_n_kept(const struct weft_session *session)
{
    return weft_scan_n_threads(session->trace, session->thread_ids, session->n_thread_ids);
}

uint32_t weft_session_kept(const struct weft_session *session, size_t i)
{
    return weft_scan_thread_id(session->thread_ids, session->n_thread_ids, i);
}

bool weft_session_has_states(const struct weft_session *session)
{
    return weft_histories_are_known(session->trace);
}

enum weft_code weft_session_thread_end(const struct weft_session *session, uint32_t thread_id,
                                       uint64_t *end_ns, struct weft_err *err)
{
    struct weft_history *history = NULL;
    uint64_t first_ns, last_ns = 0;
    enum weft_code code = weft_history_open(session->trace, 0, &history, err);
    WEFT_THEN(code, weft_history_life(history, thread_id, &first_ns, &last_ns, err));
    weft_history_close(history);
    *end_ns = weft_max_u64(weft_trace_thread(session->trace, thread_id)->last_ns, last_ns);
    return code;
}

struct weft_graph_known *weft_session_known(struct weft_session *session)
{
    if (!session->known)
        session->known =
            weft_graph_known_new(session->trace, session->run.memory_bytes / KNOWN_SHARE);
    return session->known;
}

/* Are they few enough to be kept, and does any say of a wait what it was for? */
static bool may_keep_locks(const struct weft_session *session)
{
    const struct weft_store_meta *meta = weft_trace_meta(session->trace);
    const uint64_t *n = meta->events_of_kind;
    const uint64_t n_locks = n[WEFT_EVENT_LOCK_REQUEST] + n[WEFT_EVENT_LOCK_ACQUIRED] +
                             n[WEFT_EVENT_LOCK_RELEASED] + n[WEFT_EVENT_LOCK_FAILED] +
                             n[WEFT_EVENT_SYSCALL_ENTER];
    return n_locks > 0 && meta->calls + meta->events <= LOCKS_OPERATIONS &&
           (session->run.memory_bytes == 0 ||
            n_locks * LOCK_BYTES <= session->run.memory_bytes / WEFT_SESSION_LOCKS_SHARE);
}

static enum weft_code read_locks(struct weft_session *session, struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_trace_meta(session->trace);
    const struct weft_locks_span span = {
        .to_ns = meta->duration_ns + 1,
        .without_sites =
            !weft_syncs_may_be(session->trace) || meta->calls + meta->events > WEFT_SYNC_OPERATIONS,
    };
    return weft_locks_open(session->trace, &span,
                           session->run.memory_bytes / WEFT_SESSION_LOCKS_SHARE, &session->locks,
                           err);
}

static void read_beside(void *context)
{
    struct weft_session *session = context;
    session->reading.code = read_locks(session, &session->reading.err);
}

void weft_session_locks_begin(struct weft_session *session)
{
    if (session->has_locks || session->reading.is_running || !may_keep_locks(session))
        return;
    session->reading.err = (struct weft_err){ 0 };
    session->reading.is_running = weft_pool_begin_task(session->run.pool, read_beside, session);
}

enum weft_code weft_session_locks(struct weft_session *session, const struct weft_locks **locks,
                                  struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (end_reading(session)) {
        code = session->reading.code;
        if (err && code != WEFT_OK)
            *err = session->reading.err;
    } else if (!session->has_locks && may_keep_locks(session)) {
        code = read_locks(session, err);
    }
    const bool is_too_many = code == WEFT_E_LIMIT || code == WEFT_E_NOMEM;
    session->has_locks = code == WEFT_OK || is_too_many;
    if (code != WEFT_OK) {
        weft_locks_close(session->locks);
        session->locks = NULL;
    }
    *locks = session->locks;
    if (!is_too_many) /* else they are read where they are needed */
        return code;
    if (err)
        *err = (struct weft_err){ 0 };
    return WEFT_OK;
}

const struct weft_run *weft_session_run(const struct weft_session *session)
{
    return &session->run;
}

enum weft_code weft_session_blocking_names(struct weft_session *session, struct weft_str text,
                                           const char *path, struct weft_err *err)
{
    struct weft_blocking_names *names;
    WEFT_TRY(weft_blocking_names_new(text, path, &names, err));
    forget_waits(session);
    weft_blocking_names_free(session->names);
    session->names = names;
    return WEFT_OK;
}

/* All of the trace. */
static enum weft_code make_waits(const struct weft_session *session, struct waits **waits,
                                 struct weft_err *err)
{
    struct waits *made = calloc(1, sizeof *made);
    if (!made)
        return weft_no_memory(err, "a session");
    const enum weft_code code = weft_interplay_open(session->trace, session->names, UINT64_MAX,
                                                    &session->run, &made->interplay, err);
    if (code == WEFT_OK)
        *waits = made;
    else
        free(made);
    return code;
}

enum weft_code weft_session_interplay(struct weft_session *session,
                                      const struct weft_interplay **interplay, struct weft_err *err)
{
    struct common *common = session->common;
    enum weft_code code = WEFT_OK;
    pthread_mutex_lock(&common->lock); /* who asks meanwhile waits for the same */
    let_go(&session->waits);
    if (!common->waits) {
        code = make_waits(session, &common->waits, err);
        if (code == WEFT_OK)
            common->waits->n_users = 1;
    }
    if (code == WEFT_OK) {
        session->waits = common->waits;
        session->waits->n_users++;
    }
    pthread_mutex_unlock(&common->lock);
    *interplay = session->waits ? session->waits->interplay : NULL;
    return code;
}

static bool has_tid(const uint64_t *tids, size_t n_tids, uint64_t tid)
{
    for (size_t i = 0; i < n_tids; i++)
        if (tids[i] == tid)
            return true;
    return false;
}

static bool trace_has_tid(const struct weft_trace *trace, uint64_t tid)
{
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++)
        if (weft_trace_thread(trace, id)->info.tid == tid)
            return true;
    return false;
}

static enum weft_code check_tids(const struct weft_trace *trace, const uint64_t *tids,
                                 size_t n_tids, struct weft_err *err)
{
    uint32_t n_threads = weft_trace_n_threads(trace);
    for (size_t i = 0; i < n_tids; i++)
        if (!trace_has_tid(trace, tids[i]))
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "no thread has tid %" PRIu64 " (of %" PRIu32
                             " threads; 'weft info --threads' lists them)",
                             tids[i], n_threads);
    return WEFT_OK;
}

/* Forgets which threads were kept, and makes room for all; NULL without memory. */
static uint32_t *thread_ids_begin(struct weft_session *session, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(session->trace);
    session->thread_ids = calloc(n_threads, sizeof *session->thread_ids);
    if (!session->thread_ids)
        (void)weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %" PRIu32 " threads",
                        n_threads);
    return session->thread_ids;
}

static void keep_all(struct weft_session *session)
{
    free(session->thread_ids);
    session->thread_ids = NULL;
    session->n_thread_ids = 0;
}

enum weft_code weft_session_keep_tids(struct weft_session *session, const uint64_t *tids,
                                      size_t n_tids, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(session->trace);
    keep_all(session);
    if (n_tids == 0)
        return WEFT_OK;
    WEFT_TRY(check_tids(session->trace, tids, n_tids, err));
    if (!thread_ids_begin(session, err))
        return WEFT_E_NOMEM;
    for (uint32_t id = 0; id < n_threads; id++)
        if (has_tid(tids, n_tids, weft_trace_thread(session->trace, id)->info.tid))
            session->thread_ids[session->n_thread_ids++] = id;
    return WEFT_OK;
}

enum weft_code weft_session_keep_program(struct weft_session *session, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(session->trace);
    const uint32_t n_foreign = weft_trace_n_foreign(session->trace);
    keep_all(session);
    if (n_foreign == 0 || n_foreign == n_threads)
        return WEFT_OK;
    if (!thread_ids_begin(session, err))
        return WEFT_E_NOMEM;
    for (uint32_t id = 0; id < n_threads; id++)
        if (!weft_trace_thread(session->trace, id)->info.is_foreign)
            session->thread_ids[session->n_thread_ids++] = id;
    return WEFT_OK;
}

enum weft_code weft_session_keep_threads(struct weft_session *session, const uint32_t *ids,
                                         size_t n_ids, struct weft_err *err)
{
    keep_all(session);
    if (n_ids == 0)
        return WEFT_OK;
    WEFT_TRY(weft_scan_check(session->trace, ids, n_ids, err));
    session->thread_ids = calloc(n_ids, sizeof *session->thread_ids);
    if (!session->thread_ids)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads", n_ids);
    memcpy(session->thread_ids, ids, n_ids * sizeof *ids);
    session->n_thread_ids = n_ids;
    return WEFT_OK;
}

enum weft_code weft_session_keep_busiest(struct weft_session *session, size_t n_most,
                                         size_t *n_omitted, struct weft_err *err)
{
    const size_t n = weft_session_n_kept(session);
    *n_omitted = n > n_most ? n - n_most : 0;
    if (n <= n_most)
        return WEFT_OK;
    uint32_t *ids = calloc(n, sizeof *ids);
    if (!ids)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu threads", n);
    for (size_t i = 0; i < n; i++)
        ids[i] = weft_session_kept(session, i);
    free(session->thread_ids);
    session->thread_ids = ids;
    session->n_thread_ids = weft_trace_busiest(session->trace, ids, n, n_most);
    return WEFT_OK;
}

enum weft_code weft_session_time(const struct weft_session *session, const char *text,
                                 uint64_t *at_ns, struct weft_err *err)
{
    struct weft_time_point point;
    enum weft_code code = weft_parse_time_point(text, &point, err);
    uint64_t zero =
        point.is_absolute ? weft_clock_zero_ns(&weft_trace_meta(session->trace)->clock) : 0;
    *at_ns = point.at_ns > zero ? point.at_ns - zero : 0;
    return code;
}

enum weft_code weft_session_window(const struct weft_session *session, const char *from,
                                   const char *to, uint64_t *from_ns, uint64_t *to_ns,
                                   struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    *from_ns = 0;
    *to_ns = weft_trace_meta(session->trace)->duration_ns;
    if (from)
        code = weft_session_time(session, from, from_ns, err);
    if (code == WEFT_OK && to)
        code = weft_session_time(session, to, to_ns, err);
    if (code == WEFT_OK && *from_ns > *to_ns)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that starts before %s, found %s",
                         to ? to : "the trace's end", from);
    return code;
}

enum weft_code weft_session_functions(struct weft_session *session,
                                      const struct weft_functions_table **table,
                                      struct weft_err *err)
{
    *table = NULL;
    if (!session->functions) {
        WEFT_TRY(weft_functions_run(session->trace, NULL, NULL, &session->run, &session->functions,
                                    err));
    }
    *table = session->functions;
    return WEFT_OK;
}

/* The medians of the table of functions, which are exact. */
static enum weft_code copy_medians(const struct weft_functions_table *table, uint64_t **medians_ns,
                                   struct weft_err *err)
{
    uint64_t *medians = calloc(table->n_functions + 1, sizeof *medians);
    if (!medians)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu medians",
                         table->n_functions);
    for (size_t i = 0; i < table->n_rows; i++)
        medians[table->rows[i].function_id] = table->rows[i].p50_ns;
    *medians_ns = medians;
    return WEFT_OK;
}

enum weft_code weft_session_medians(struct weft_session *session, const uint64_t **medians_ns,
                                    struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (session->functions && !session->medians_ns)
        code = copy_medians(session->functions, &session->medians_ns, err);
    *medians_ns = session->medians_ns;
    return code;
}

enum weft_code weft_session_lod(struct weft_session *session, uint32_t thread_id, uint64_t from_ns,
                                uint64_t to_ns, uint32_t width, struct weft_lod *lod,
                                struct weft_err *err)
{
    if (!session->lod)
        session->lod = weft_lod_reader_new(session->trace);
    if (!session->lod)
        return weft_no_memory(err, "levels of detail");
    return weft_lod(session->lod, thread_id, from_ns, to_ns, width, lod, err);
}

enum weft_code weft_session_arguments(const struct weft_session *session,
                                      const struct weft_call_row *call,
                                      void (*see)(void *context, const struct weft_walk_call *call),
                                      void *context, struct weft_err *err)
{
    const uint64_t n_cut = weft_trace_thread(session->trace, call->thread_id)->cut_calls;
    if (call->number < n_cut) /* it has no entry */
        return WEFT_OK;
    return weft_call_arguments(session->trace, call->thread_id, call->number - n_cut,
                               call->start_ns, see, context, err);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static uint64_t count_lost(const struct weft_trace *trace)
{
    uint64_t n = 0;
    for (size_t i = 0; i < weft_trace_meta(trace)->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(trace, i);
        if (weft_note_is_lost(note->kind))
            n = weft_add_sat_u64(n, note->count);
    }
    return n;
}

enum weft_code weft_session_facts(struct weft_session *session, struct weft_source_facts *facts,
                                  struct weft_err *err)
{
    const struct weft_store_meta *meta = weft_trace_meta(session->trace);
    struct weft_saturation saturation;
    enum weft_code code = WEFT_OK;
    if (!session->facts.is_known)
        code = weft_saturation_find(session->trace, &session->run, &saturation, err);
    const uint64_t n_lost = count_lost(session->trace);
    if (code == WEFT_OK && !session->facts.is_known)
        session->facts = (struct weft_source_facts){
            .is_known = true,
            .recorded_ns = meta->duration_ns,
            .records = weft_add_sat_u64(meta->events, weft_add_sat_u64(meta->calls, meta->calls)),
            .counts_losses = n_lost > 0 || weft_trace_counts_losses(session->trace),
            .lost_records = n_lost,
            .has_switches = weft_trace_has_switches(session->trace),
            .has_saturation = saturation.is_known,
            .own_cpu = saturation.own,
            .other_cpu = saturation.other,
            .idle_cpu = saturation.idle,
            .bound = saturation.bound
        };
    *facts = session->facts;
    return code;
}
