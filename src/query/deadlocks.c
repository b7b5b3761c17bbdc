/* SPDX-License-Identifier: MIT
 *
 * Takes the cycles that the analysis of locks finds, and names their threads and locks. Reads the
 * last blocks of events of each thread first: most traces end without a wait for a lock.
 */
#include "query/deadlocks.h"

#include "query/session.h"
#include "schema/tables.h"
#include "store/reader.h"

#include <string.h>

enum { LAST_BLOCKS = 4, LOOKED_AT = 4096 }; /* of a thread; threads */

static bool is_operation(enum weft_event_kind kind)
{
    return kind == WEFT_EVENT_LOCK_REQUEST || kind == WEFT_EVENT_LOCK_ACQUIRED ||
           kind == WEFT_EVENT_LOCK_RELEASED || kind == WEFT_EVENT_LOCK_FAILED;
}

/* Is the last operation of a thread a request? */
static enum weft_code waits_at_end(const struct weft_trace *trace, uint32_t thread_id,
                                   struct weft_event_buf *buf, bool *does, struct weft_err *err)
{
    uint64_t block = weft_trace_thread(trace, thread_id)->n_event_blocks;
    for (unsigned n = 0; n < LAST_BLOCKS && block-- > 0; n++) {
        const struct weft_event *events;
        size_t n_events;
        WEFT_TRY(weft_store_load_events(weft_trace_store(trace), thread_id, block, buf, &events,
                                        &n_events, err));
        while (n_events > 0 && !is_operation(events[n_events - 1].kind))
            n_events--;
        *does = n_events > 0 && events[n_events - 1].kind == WEFT_EVENT_LOCK_REQUEST;
        if (n_events > 0)
            return WEFT_OK;
    }
    return WEFT_OK;
}

/* Does any? One suffices: it may hold the lock itself, or wait for the end of another one. */
static enum weft_code may_hang(const struct weft_trace *trace, bool *may, struct weft_err *err)
{
    struct weft_event_buf *buf = weft_event_buf_new();
    enum weft_code code = buf ? WEFT_OK : weft_no_memory(err, "locks");
    *may = false;
    for (uint32_t id = 0;
         code == WEFT_OK && !*may && id < weft_trace_n_threads(trace) && id < LOOKED_AT; id++)
        if (!weft_trace_thread(trace, id)->info.is_foreign)
            code = waits_at_end(trace, id, buf, may, err);
    weft_event_buf_free(buf);
    return code;
}

static bool put_wait(const struct weft_trace *trace, const struct weft_locks_table *table,
                     const struct weft_locks_open *open, struct weft_arena *arena,
                     struct weft_deadlock_wait *wait)
{
    const struct weft_table_context context = weft_trace_context(trace, NULL);
    const struct weft_thread_info *waiter = &weft_trace_thread(trace, open->waiter_id)->info;
    const struct weft_thread_info *holder = &weft_trace_thread(trace, open->holder_id)->info;
    char label[WEFT_LOCK_LABEL_BYTES];
    weft_lock_label(&context, &table->rows[open->lock].object, label);
    *wait = (struct weft_deadlock_wait){
        .cycle = open->deadlock,
        .waiter_tid = waiter->tid,
        .holder_tid = holder->tid,
        .waiter = waiter->name,
        .holder = holder->name,
        .lock = weft_arena_copy(arena, weft_str_of(label)),
        .function = weft_arena_copy(arena, open->function),
        .start_ns = open->start_ns,
        .wait_ns = open->wait_ns,
        .is_join = table->rows[open->lock].object.kind == WEFT_LOCK_JOIN,
    };
    return wait->lock.bytes && wait->function.bytes;
}

enum weft_code weft_deadlocks_find(struct weft_session *session, struct weft_arena *arena,
                                   struct weft_deadlock_wait **waits, size_t *n_waits,
                                   struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    const union weft_request request = { .locks.to_ns = weft_trace_meta(trace)->duration_ns + 1 };
    union weft_result result = { 0 };
    bool may = false;
    *waits = NULL;
    *n_waits = 0;
    WEFT_TRY(may_hang(trace, &may, err));
    if (!may)
        return WEFT_OK;
    enum weft_code code = weft_query_run(session, "locks", &request, &result, err);
    if (code == WEFT_E_LIMIT) { /* too many locks for the memory: nothing is known of them */
        if (err)
            *err = (struct weft_err){ 0 };
        return WEFT_OK;
    }
    const struct weft_locks_table *table = code == WEFT_OK ? result.locks : NULL;
    if (table)
        *waits = WEFT_ARENA_NEW(arena, table->n_opens + 1, struct weft_deadlock_wait);
    if (table && !*waits)
        code = weft_no_memory(err, "locks");
    for (size_t i = 0; code == WEFT_OK && i < table->n_opens && table->opens[i].deadlock; i++)
        if (!put_wait(trace, table, &table->opens[i], arena, &(*waits)[(*n_waits)++]))
            code = weft_no_memory(err, "locks");
    weft_result_free(result.any);
    return code;
}
