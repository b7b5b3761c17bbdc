/* SPDX-License-Identifier: MIT
 *
 * "TID:FUNCTION:N": one call named by how long it is.
 */
#include "analysis/calls/calls.h"
#include "query/parse.h"
#include "query/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* More would be read into memory for nothing. */
enum { MAX_RANK = 1000000, SHOWN_NAMES = 3 };

struct wanted {
    uint64_t tid;
    char *name; /* the caller's to free */
    uint64_t rank;
};

static enum weft_code bad_form(const char *text, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected TID:FUNCTION or TID:FUNCTION:N (the N-th longest), found '%.80s'",
                     text);
}

/* Names may hold colons: the rank is what stands behind the last one, if that is a number. */
static enum weft_code parse(const char *text, struct wanted *wanted, struct weft_err *err)
{
    const char *colon = strchr(text, ':');
    char *tid = colon ? strndup(text, (size_t)(colon - text)) : NULL;
    wanted->rank = 1;
    if (!colon)
        return bad_form(text, err);
    enum weft_code code =
        tid ? weft_parse_count(tid, 0, UINT64_MAX, &wanted->tid, NULL) : WEFT_E_NOMEM;
    free(tid);
    if (code != WEFT_OK)
        return bad_form(text, err);
    const char *last = strrchr(colon + 1, ':');
    size_t n_bytes = strlen(colon + 1);
    if (last && weft_parse_count(last + 1, 1, MAX_RANK, &wanted->rank, NULL) == WEFT_OK)
        n_bytes = (size_t)(last - colon - 1);
    if (n_bytes == 0)
        return bad_form(text, err);
    wanted->name = strndup(colon + 1, n_bytes);
    return wanted->name ? WEFT_OK : weft_no_memory(err, "a name");
}

static enum weft_code find_thread(const struct weft_trace *trace, uint64_t tid, uint32_t *thread_id,
                                  struct weft_err *err)
{
    for (uint32_t id = 0; id < weft_trace_n_threads(trace); id++)
        if (weft_trace_thread(trace, id)->info.tid == tid) {
            *thread_id = id;
            return WEFT_OK;
        }
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no thread has tid %" PRIu64 " ('weft info --threads' lists them)", tid);
}

/* Functions of exactly this name. */
static size_t keep_exact(const struct weft_trace *trace, const char *name, uint32_t *ids, size_t n)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++)
        if (weft_str_equal(weft_trace_function(trace, ids[i])->name, weft_str_of(name)))
            ids[n_kept++] = ids[i];
    return n_kept;
}

/* Whether all are functions of one name. */
static bool is_one_name(const struct weft_trace *trace, const uint32_t *ids, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!weft_str_equal(weft_trace_function(trace, ids[i])->name,
                            weft_trace_function(trace, ids[0])->name))
            return false;
    return n > 0;
}

static enum weft_code not_one(const struct weft_trace *trace, const char *name, const uint32_t *ids,
                              size_t n, struct weft_err *err)
{
    char names[256] = "";
    size_t at = 0;
    for (size_t i = 0; i < n && i < SHOWN_NAMES && at < sizeof names; i++) {
        struct weft_str found = weft_trace_function(trace, ids[i])->name;
        int n_new = snprintf(names + at, sizeof names - at, "%s%.*s", i ? ", " : "",
                             (int)(found.n_bytes < 60 ? found.n_bytes : 60), found.bytes);
        at += n_new > 0 ? (size_t)n_new : 0;
    }
    if (n == 0)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no function is called '%.80s' ('weft functions' lists them)", name);
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "expected the name of one function, found '%.80s', which %zu have in theirs: "
                     "%s%s",
                     name, n, names, n > SHOWN_NAMES ? ", ..." : "");
}

static enum weft_code find(struct weft_session *session, const struct wanted *wanted,
                           struct weft_found_call *found, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    uint32_t thread_id = 0, *ids = NULL;
    size_t n = 0;
    enum weft_code code = find_thread(trace, wanted->tid, &thread_id, err);
    WEFT_THEN(code, weft_session_find_functions(session, wanted->name, &ids, &n, err));
    if (code != WEFT_OK)
        return code;
    size_t n_exact = 0;
    for (size_t i = 0; i < n; i++)
        n_exact +=
            weft_str_equal(weft_trace_function(trace, ids[i])->name, weft_str_of(wanted->name));
    if (n_exact)
        n = keep_exact(trace, wanted->name, ids, n);
    code = is_one_name(trace, ids, n) ? weft_longest_call(trace, thread_id, ids, n, wanted->rank,
                                                          weft_session_run(session), found, err)
                                      : not_one(trace, wanted->name, ids, n, err);
    free(ids);
    if (code == WEFT_OK && found->n_calls < wanted->rank)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "thread %" PRIu64 " has %" PRIu64 " calls of '%.80s', not %" PRIu64,
                         wanted->tid, found->n_calls, wanted->name, wanted->rank);
    return code;
}

static uint64_t overlap_ns(const struct weft_model_thread *thread, uint64_t from_ns, uint64_t to_ns)
{
    const uint64_t first_ns = thread->first_ns > from_ns ? thread->first_ns : from_ns;
    const uint64_t last_ns = thread->last_ns < to_ns ? thread->last_ns : to_ns;
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

enum weft_code weft_session_find_thread(const struct weft_session *session, const char *text,
                                        uint64_t from_ns, uint64_t to_ns, uint32_t *thread_id,
                                        struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    uint64_t tid = 0, longest_ns = 0, most_events = 0;
    enum weft_code code = weft_parse_count(text, 0, UINT64_MAX, &tid, err);
    WEFT_THEN(code, find_thread(trace, tid, thread_id, err));
    for (uint32_t id = 0; code == WEFT_OK && id < weft_trace_n_threads(trace); id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        const uint64_t here_ns = overlap_ns(thread, from_ns, to_ns);
        if (thread->info.tid != tid || here_ns < longest_ns ||
            (here_ns == longest_ns && thread->events <= most_events))
            continue;
        longest_ns = here_ns;
        most_events = thread->events;
        *thread_id = id;
    }
    return code;
}

enum weft_code weft_session_find_call(struct weft_session *session, const char *text,
                                      struct weft_found_call *found, struct weft_err *err)
{
    struct wanted wanted = { 0 };
    enum weft_code code = parse(text, &wanted, err);
    WEFT_THEN(code, find(session, &wanted, found, err));
    free(wanted.name);
    return code;
}
