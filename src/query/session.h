/* SPDX-License-Identifier: MIT
 *
 * A session: one opened trace and what analyses share over it. The only door for front ends.
 *
 * What several analyses need (the table of functions, its medians) is computed at the first
 * question and kept until the session is closed. Tables handed out by a session die with it; the
 * results of weft_query_run belong to the caller. A session serves one thread at a time.
 */
#ifndef WEFT_QUERY_SESSION_H
#define WEFT_QUERY_SESSION_H

#include "analysis/calls/calls.h"
#include "analysis/interplay/interplay.h"
#include "analysis/list.h"
#include "analysis/locks/locks.h"
#include "analysis/path/critical_path.h"
#include "analysis/regtime/regtime.h"
#include "analysis/shapes/shapes.h"
#include "analysis/states/states.h"
#include "base/error.h"
#include "base/pool.h"
#include "base/str.h"
#include "model/calls/arguments.h"
#include "model/calls/lod.h"
#include "model/graph/spans.h"
#include "model/locks/locks.h"
#include "model/trace.h"
#include "query/executions.h"
#include "query/findings.h"
#include "query/frequencies.h"
#include "schema/ecct.h"
#include "schema/result.h"

#include <stddef.h>
#include <stdint.h>

struct weft_session;

/* Opens `path`; `run` is copied, what it points to must outlive the session. */
WEFT_CHECKED enum weft_code weft_session_open(const char *path, const struct weft_run *run,
                                              struct weft_session **session, struct weft_err *err);

/* A session of its own over the trace of `base`, for another thread: it shares the trace, and what
 * is known of its waits. `base` must stay open longer. */
WEFT_CHECKED enum weft_code weft_session_share(const struct weft_session *base,
                                               const struct weft_run *run,
                                               struct weft_session **session, struct weft_err *err);

/* NULL is allowed. */
void weft_session_close(struct weft_session *session);

/* weft_trace_hide_paths of the session's trace; before any question. */
WEFT_CHECKED enum weft_code weft_session_hide_paths(struct weft_session *session,
                                                    struct weft_err *err);

const struct weft_trace *weft_session_trace(const struct weft_session *session);

/* Workers, progress and memory ceiling of this session. */
const struct weft_run *weft_session_run(const struct weft_session *session);

/* Restricts the analyses to the threads with these real tids (a tid that was reused gives all of
 * its generations); n_tids 0: all threads. A tid that no thread has is WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_session_keep_tids(struct weft_session *session,
                                                   const uint64_t *tids, size_t n_tids,
                                                   struct weft_err *err);

/* The same by the recorded program: all threads but those of foreign processes
 * (weft_thread_info.is_foreign). Where none is, or all are, all are kept. */
WEFT_CHECKED enum weft_code weft_session_keep_program(struct weft_session *session,
                                                      struct weft_err *err);

/* Of those that are kept, at most `n_most`: of most calls and events. `*n_omitted`: the others. */
WEFT_CHECKED enum weft_code weft_session_keep_busiest(struct weft_session *session, size_t n_most,
                                                      size_t *n_omitted, struct weft_err *err);

/* The same by the trace's dense thread ids, ascending; one that does not exist is WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_session_keep_threads(struct weft_session *session,
                                                      const uint32_t *ids, size_t n_ids,
                                                      struct weft_err *err);

/* What is known of the trace when it is judged why executions are slow; how these were chosen is
 * left open. Computed once: reads the states of all threads, where other programs were recorded. */
WEFT_CHECKED enum weft_code weft_session_facts(struct weft_session *session,
                                               struct weft_source_facts *facts,
                                               struct weft_err *err);

/* The time that `text` names ("1.5s" after the start of the trace, "@123" ns of the source's
 * clock), as ns since the start; a point before the start is the start. */
WEFT_CHECKED enum weft_code weft_session_time(const struct weft_session *session, const char *text,
                                              uint64_t *at_ns, struct weft_err *err);

/* The window from `from` to `to` (as weft_session_time; NULL: the trace's start and end). One that
 * ends before it begins is WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_session_window(const struct weft_session *session,
                                                const char *from, const char *to, uint64_t *from_ns,
                                                uint64_t *to_ns, struct weft_err *err);

/* What graphs of the trace share, kept until the session is closed; NULL without memory. */
struct weft_graph_known *weft_session_known(struct weft_session *session);

/* Of the memory there is, for operations on locks. */
enum { WEFT_SESSION_LOCKS_SHARE = 8 };

/* The operations on locks of the whole trace, read once, with the sites that weft_syncs_look needs
 * where that looks at them; NULL where they are so many that they are not kept, or none matters.
 * Valid until close. */
WEFT_CHECKED enum weft_code weft_session_locks(struct weft_session *session,
                                               const struct weft_locks **locks,
                                               struct weft_err *err);

/* Begins to read them beside other work, on one of the workers if there are several: the next
 * question waits for that. */
void weft_session_locks_begin(struct weft_session *session);

/* The threads kept: an empty filter when all are. */
struct weft_thread_filter weft_session_filter(const struct weft_session *session);

/* How many threads are kept, and the id of each, ascending. */
size_t weft_session_n_kept(const struct weft_session *session);
uint32_t weft_session_kept(const struct weft_session *session, size_t i);

/* Whether the trace contains when threads ran and what they waited for. */
bool weft_session_has_states(const struct weft_session *session);

/* The end of a thread: of its last event, or of the state that it was in then, which may last until
 * the end of the trace. */
WEFT_CHECKED enum weft_code weft_session_thread_end(const struct weft_session *session,
                                                    uint32_t thread_id, uint64_t *end_ns,
                                                    struct weft_err *err);

/* Functions over the whole trace, computed once; valid until close. */
WEFT_CHECKED enum weft_code weft_session_functions(struct weft_session *session,
                                                   const struct weft_functions_table **table,
                                                   struct weft_err *err);

/* Median duration by function id over the whole trace (0 for functions that never returned), if the
 * table of functions is known already; else NULL. n_functions elements, valid until close. */
WEFT_CHECKED enum weft_code weft_session_medians(struct weft_session *session,
                                                 const uint64_t **medians_ns, struct weft_err *err);

/* What functions do that block, besides those that are known: the text of a table (docs/analyses/
 * interplay.md, "Functions"), named `path` in messages. Before the first question about interplay;
 * WEFT_E_MALFORMED tells the line that cannot be read. */
WEFT_CHECKED enum weft_code weft_session_blocking_names(struct weft_session *session,
                                                        struct weft_str text, const char *path,
                                                        struct weft_err *err);

/* All waits of the trace, made once for all sessions that share it: who asks while they are made
 * waits for them. Valid until this session's next question about interplay, or its close. */
WEFT_CHECKED enum weft_code weft_session_interplay(struct weft_session *session,
                                                   const struct weft_interplay **interplay,
                                                   struct weft_err *err);

/* The functions whose name holds `pattern` (letters of either case are the same), or, written
 * /pattern/, matches it as a regular expression (query/match.h). `*ids` (ascending, `*n_ids` of
 * them, may be none) is the caller's to free. A bad expression is WEFT_E_ARG. */
WEFT_CHECKED enum weft_code weft_session_find_functions(const struct weft_session *session,
                                                        const char *pattern, uint32_t **ids,
                                                        size_t *n_ids, struct weft_err *err);

/* The call that `text` names: "TID:FUNCTION:N", the N-th longest call (default: 1) of the function
 * on the thread. The name is the function's whole name, or a part that only its name has. */
WEFT_CHECKED enum weft_code weft_session_find_call(struct weft_session *session, const char *text,
                                                   struct weft_found_call *found,
                                                   struct weft_err *err);

/* The longest span of all threads that is called `text`, or if there is none, whose name holds it;
 * of equal ones the first. */
WEFT_CHECKED enum weft_code weft_session_find_span(const struct weft_session *session,
                                                   const char *text, struct weft_found_span *found,
                                                   struct weft_err *err);

/* The thread with the real tid that `text` names, such as 1234; of a tid that was reused, or that
 * several hosts have, the one with most time between its first and last event in the window, of
 * equal ones the one with most events. */
WEFT_CHECKED enum weft_code weft_session_find_thread(const struct weft_session *session,
                                                     const char *text, uint64_t from_ns,
                                                     uint64_t to_ns, uint32_t *thread_id,
                                                     struct weft_err *err);

/* The arguments of a call that weft_query_run found ("call", "calls"): calls `see` with them, or
 * not at all if it has none (model/calls/arguments.h). */
WEFT_CHECKED enum weft_code
weft_session_arguments(const struct weft_session *session, const struct weft_call_row *call,
                       void (*see)(void *context, const struct weft_walk_call *call), void *context,
                       struct weft_err *err);

/* A thread's calls on `width` columns (model/calls/lod.h), by a reader that the session keeps; the
 * answer is valid until the next. */
WEFT_CHECKED enum weft_code weft_session_lod(struct weft_session *session, uint32_t thread_id,
                                             uint64_t from_ns, uint64_t to_ns, uint32_t width,
                                             struct weft_lod *lod, struct weft_err *err);

/* ---- the registry of analyses ---------------------------------------------------------------- */

/* The tree of what ended on a thread at to_ns and had begun at from_ns (query/build.h). */
struct weft_ecct_request {
    uint32_t thread_id;
    uint64_t from_ns, to_ns; /* to_ns is not before from_ns */
    unsigned max_threads;    /* on a chain; 0: WEFT_ECCT_THREADS */
};

/* Of an analysis that answers with a plain list. */
struct weft_list_request {
    uint64_t from_ns, to_ns;
    uint64_t limit;   /* rows; 0: all */
    const char *sort; /* key of the field to sort by, the largest or first in the alphabet first;
                         NULL: as the analysis has them */
};

/* What to ask; only the member of the analysis asked is read. */
union weft_request {
    struct weft_call_opts call;
    struct weft_calls_opts calls;
    struct weft_ecct_request ecct;
    struct weft_histogram_opts histogram;
    struct weft_tree_opts tree;
    struct weft_executions_request executions;
    struct weft_findings_request findings;
    struct weft_frequencies_request frequencies;
    struct weft_functions_opts functions;
    struct weft_regtime_opts regtime;
    struct weft_outliers_opts outliers;
    struct weft_activity_opts activity;
    struct weft_blocking_opts blocking;
    struct weft_correspondences_opts correspondences;
    struct weft_interplay_opts interplay;
    struct weft_lock_lanes_opts lock_lanes;
    struct weft_lock_tree_opts lock_tree;
    struct weft_interval_opts interval;
    struct weft_list_request list;
    struct weft_locks_opts locks;
    struct weft_path_opts path;
    struct weft_shapes_opts shapes;
    struct weft_states_opts states;
    struct weft_waits_opts waits;
    struct weft_cpu_opts cpu;
};

/* What comes back: the member of the analysis asked. */
union weft_result {
    void *any; /* each is a pointer to a result table */
    struct weft_call_table *call;
    struct weft_calls_table *calls;
    struct weft_ecct_matrix *ecct; /* of one execution */
    struct weft_histogram_table *histogram;
    struct weft_tree_table *tree;
    struct weft_executions_table *executions;
    struct weft_findings *findings;
    struct weft_frequencies_table *frequencies;
    struct weft_functions_table *functions;
    struct weft_regtime_table *regtime;
    struct weft_outliers_table *outliers;
    struct weft_activity_table *activity;
    struct weft_blocking_table *blocking;
    struct weft_correspondences_table *correspondences;
    struct weft_interplay_table *interplay;
    struct weft_lock_lanes_table *lock_lanes;
    struct weft_lock_tree_table *lock_tree;
    struct weft_interval_table *interval;
    struct weft_list_table *list;
    struct weft_locks_table *locks;
    struct weft_path_table *path;
    struct weft_shapes_table *shapes;
    struct weft_states_table *states;
    struct weft_waits_table *waits;
    struct weft_cpu_table *cpu;
};

/* One analysis as front ends see it: it restricts itself to the session's threads. One that answers
 * with a plain list has `list`, `type` and `about`: command, man page, completion, HTTP and the
 * page's table come from these. */
struct weft_analysis {
    const char *name;
    const char *summary;
    enum weft_code (*run)(struct weft_session *session, const union weft_request *request,
                          union weft_result *result, struct weft_err *err);
    weft_list_fn *list;
    const struct weft_table_type *type;
    const char *about; /* a few sentences; lines broken by hand */
};

/* All analyses, sorted by name. */
const struct weft_analysis *weft_analyses(size_t *n_analyses);

/* NULL: none is called so. */
const struct weft_analysis *weft_analysis_find(const char *name);

/* Runs the analysis `name`; an unknown name is WEFT_E_ARG. `request` may be NULL for an analysis
 * that has defaults ("functions"). `result->any` is the caller's, to be freed by weft_result_free.
 */
WEFT_CHECKED enum weft_code weft_query_run(struct weft_session *session, const char *name,
                                           const union weft_request *request,
                                           union weft_result *result, struct weft_err *err);

#endif
