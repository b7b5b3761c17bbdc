/* SPDX-License-Identifier: MIT
 *
 * From a question to its answer: reads it, checks it against the trace, has it done by whoever does
 * such things.
 */
#include "serve/state.h"

#include "query/database/database.h"
#include "render/text/render.h"
#include "serve/files.h"
#include "serve/serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char weft_type_json[] = "application/json";
const char weft_type_columns[] = "application/vnd.weft.columns";
const char weft_type_csv[] = "text/csv; charset=utf-8";

/* What an answer may have, and all answers under way together if there is no ceiling for memory. */
#define ANSWER_BYTES_MAX (UINT64_C(64) << 20)
#define ANSWERS_BYTES_MAX (UINT64_C(512) << 20)

enum { MEMORY_SHARE = 4 }; /* answers under way may have one in so many bytes of the ceiling */

/* ---- the vocabulary -------------------------------------------------------------------------- */

#define BIT(param) WEFT_PARAM_BIT(WEFT_PARAM_##param)
#define PART (BIT(TRACE) | BIT(FROM) | BIT(TO) | BIT(THREADS))
#define REGTIME                                                                                    \
    (BIT(PRESET) | BIT(GLYPHS) | BIT(DURATION_NS) | BIT(GAP_NS) | BIT(SPAN_NS) |                   \
     BIT(OUTLIER_FACTOR) | BIT(OUTLIER_MIN_NS))

#define EXECUTIONS                                                                                 \
    (BIT(TRACE) | BIT(DB) | BIT(TYPE) | BIT(BEGIN) | BIT(END) | BIT(MATCH) | BIT(WITHIN))

static const struct weft_endpoint endpoints[] = {
    { "blocking", WEFT_ANSWER_QUICK, PART | BIT(WIDTH), BIT(WIDTH), -1, weft_serve_blocking },
    { "calls", WEFT_ANSWER_HEAVY,
      PART | BIT(FN) | BIT(MIN_NS) | BIT(MAX_NS) | BIT(SORT) | BIT(SELF) | BIT(LIMIT), 0, -1,
      weft_serve_calls },
    { "colors", WEFT_ANSWER_NOW, 0, 0, -1, weft_serve_colors },
    { "compare", WEFT_ANSWER_HEAVY, EXECUTIONS | BIT(A) | BIT(B) | BIT(DRAFT) | BIT(CSV), 0, -1,
      weft_serve_compare },
    { "correspondences", WEFT_ANSWER_QUICK,
      PART | BIT(WIDTH) | BIT(LIMIT) | BIT(OBJECT) | BIT(RELEASERS), 0, -1,
      weft_serve_correspondences },
    { "cut", WEFT_ANSWER_HEAVY, EXECUTIONS, 0, -1, weft_serve_cut },
    { "diagnose", WEFT_ANSWER_HEAVY, EXECUTIONS | BIT(A) | BIT(B) | BIT(EXPLAIN), 0, -1,
      weft_serve_diagnose },
    { "executions", WEFT_ANSWER_HEAVY, EXECUTIONS | BIT(NODE), 0, -1, weft_serve_executions },
    { "functions", WEFT_ANSWER_HEAVY, PART, 0, WEFT_KEPT_FUNCTIONS, weft_serve_functions },
    { "histogram", WEFT_ANSWER_HEAVY, PART | BIT(FN) | BIT(SELF), BIT(FN), -1,
      weft_serve_histogram },
    { "info", WEFT_ANSWER_NOW, BIT(TRACE), 0, -1, weft_serve_info },
    { "interplay", WEFT_ANSWER_HEAVY, PART | BIT(LIMIT) | BIT(ALL), 0, WEFT_KEPT_INTERPLAY,
      weft_serve_interplay },
    { "interval", WEFT_ANSWER_QUICK, PART | BIT(LIMIT), 0, -1, weft_serve_interval },
    { "item", WEFT_ANSWER_QUICK, BIT(TRACE) | BIT(THREAD) | BIT(AT) | BIT(DEPTH),
      BIT(THREAD) | BIT(AT) | BIT(DEPTH), -1, weft_serve_item },
    { "lanes", WEFT_ANSWER_QUICK, PART | BIT(WIDTH) | BIT(LIMIT) | BIT(OBJECT), 0, -1,
      weft_serve_lanes },
    { "locktree", WEFT_ANSWER_QUICK, PART | BIT(KIND) | BIT(LIMIT) | BIT(OBJECT), BIT(KIND), -1,
      weft_serve_locktree },
    { "lod", WEFT_ANSWER_QUICK, PART | BIT(WIDTH) | BIT(DEPTHS), BIT(WIDTH), -1, weft_serve_lod },
    { "names", WEFT_ANSWER_QUICK, BIT(TRACE), 0, WEFT_KEPT_NAMES, weft_serve_names },
    { "notes", WEFT_ANSWER_NOW, BIT(TRACE), 0, -1, weft_serve_notes },
    { "outliers", WEFT_ANSWER_HEAVY,
      PART | BIT(FN) | BIT(MIN_NS) | BIT(LIMIT) | BIT(OUTLIER_FACTOR) | BIT(OUTLIER_MIN_NS), 0, -1,
      weft_serve_outliers },
    { "path", WEFT_ANSWER_QUICK,
      BIT(TRACE) | BIT(THREAD) | BIT(FROM) | BIT(TO) | BIT(DEPTH) | BIT(SPAN) | BIT(LIMIT), 0, -1,
      weft_serve_path },
    { "progress", WEFT_ANSWER_NOW, BIT(TRACE) | BIT(OF), BIT(OF), -1, weft_serve_progress },
    { "regtime", WEFT_ANSWER_HEAVY, PART | REGTIME, 0, WEFT_KEPT_REGTIME, weft_serve_regtime },
    { "shapes", WEFT_ANSWER_HEAVY, BIT(TRACE), 0, WEFT_KEPT_SHAPES, weft_serve_shapes },
    { "states", WEFT_ANSWER_QUICK, PART | BIT(WIDTH), BIT(WIDTH), -1, weft_serve_states },
    { "step", WEFT_ANSWER_QUICK,
      BIT(TRACE) | BIT(THREAD) | BIT(AT) | BIT(DEPTH) | BIT(FN) | BIT(MIN_NS) | BIT(DIRECTION),
      BIT(THREAD) | BIT(AT), -1, weft_serve_step },
    { "subtree", WEFT_ANSWER_QUICK, BIT(TRACE) | BIT(THREAD) | BIT(FROM) | BIT(TO) | BIT(LIMIT),
      BIT(THREAD), -1, weft_serve_subtree },
    { "threads", WEFT_ANSWER_NOW, BIT(TRACE), 0, -1, weft_serve_threads },
    { "traces", WEFT_ANSWER_NOW, 0, 0, -1, weft_serve_traces },
    { "tree", WEFT_ANSWER_QUICK, PART | BIT(LIMIT), 0, -1, weft_serve_tree },
    { "types", WEFT_ANSWER_HEAVY, BIT(TRACE) | BIT(DB), 0, -1, weft_serve_types },
};

static const struct weft_endpoint list_endpoint = { "list", WEFT_ANSWER_HEAVY, PART | BIT(LIMIT), 0,
                                                    -1,     weft_serve_list };

/* NULL: there is none of that name. Of an analysis that answers with a plain list, *list is it. */
static const struct weft_endpoint *endpoint_find(struct weft_str name,
                                                 const struct weft_analysis **list)
{
    size_t n_analyses;
    const struct weft_analysis *analyses = weft_analyses(&n_analyses);
    *list = NULL;
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++)
        if (weft_str_equal(name, weft_str_of(endpoints[i].name)))
            return &endpoints[i];
    for (size_t i = 0; i < n_analyses; i++)
        if (analyses[i].list && weft_str_equal(name, weft_str_of(analyses[i].name)))
            *list = &analyses[i];
    return *list ? &list_endpoint : NULL;
}

/* ---- what endpoints share -------------------------------------------------------------------- */

void weft_answer_fini(struct weft_answer *answer)
{
    weft_output_abort(answer->body);
    *answer = (struct weft_answer){ 0 };
}

struct weft_view weft_ask_view(const struct weft_ask *ask)
{
    return (struct weft_view){
        .out = ask->answer->body,
        .trace = ask->trace,
        .path = ask->served ? ask->served->path : "",
        .format = WEFT_FORMAT_JSON,
        .has_filter = ask->query->threads.n > 0,
        .has_ids = true,
    };
}

enum weft_code weft_ask_number(const struct weft_ask *ask, enum weft_param param, uint64_t given,
                               uint64_t otherwise, uint64_t min, uint64_t max, uint64_t *out,
                               struct weft_err *err)
{
    *out = weft_query_has(ask->query, param) ? given : otherwise;
    if (*out >= min && *out <= max)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", found %" PRIu64,
                     weft_param_name(param), min, max, *out);
}

enum weft_code weft_ask_fits(uint64_t n_bytes, struct weft_err *err)
{
    if (n_bytes <= ANSWER_BYTES_MAX)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "the answer would have more than %" PRIu64
                     " MiB: ask for less at a time (fewer threads, a shorter part, a lower limit)",
                     ANSWER_BYTES_MAX >> 20);
}

/* ---- questions ------------------------------------------------------------------------------- */

static enum weft_code check_needs(const struct weft_endpoint *endpoint,
                                  const struct weft_query *query, struct weft_err *err)
{
    for (unsigned param = 0; param < WEFT_PARAMS; param++)
        if ((endpoint->needs & ~query->given & WEFT_PARAM_BIT(param)) != 0)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "%s is missing",
                             weft_param_name((enum weft_param)param));
    return WEFT_OK;
}

/* The last id is the greatest. */
static enum weft_code check_ids(const struct weft_query_ids *ids, enum weft_param param,
                                uint32_t n_ids, struct weft_err *err)
{
    if (ids->n == 0 || ids->items[ids->n - 1] < n_ids)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "%s: expected ids below %" PRIu32 ", found %" PRIu32, weft_param_name(param),
                     n_ids, ids->items[ids->n - 1]);
}

/* Against the trace: ids exist, the window is one. */
static enum weft_code check_query(const struct weft_query *query, struct weft_ask *ask,
                                  struct weft_err *err)
{
    const struct weft_trace *trace = ask->trace;
    const uint64_t duration_ns = weft_trace_meta(trace)->duration_ns;
    enum weft_code code =
        check_ids(&query->threads, WEFT_PARAM_THREADS, weft_trace_n_threads(trace), err);
    WEFT_THEN(code, check_ids(&query->fn, WEFT_PARAM_FN, weft_trace_n_functions(trace), err));
    WEFT_THEN(code,
              check_ids(&query->releasers, WEFT_PARAM_RELEASERS, weft_trace_n_threads(trace), err));
    if (code == WEFT_OK && query->thread >= weft_trace_n_threads(trace) &&
        weft_query_has(query, WEFT_PARAM_THREAD))
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "thread: expected an id below %" PRIu32,
                         weft_trace_n_threads(trace));
    ask->has_window =
        weft_query_has(query, WEFT_PARAM_FROM) || weft_query_has(query, WEFT_PARAM_TO);
    ask->from_ns = query->from_ns;
    ask->to_ns = weft_query_has(query, WEFT_PARAM_TO) ? query->to_ns : duration_ns;
    if (code == WEFT_OK && ask->has_window && ask->from_ns > ask->to_ns)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that starts before %" PRIu64 " ns, found %" PRIu64,
                         ask->to_ns, ask->from_ns);
    return code;
}

/* ---- answers --------------------------------------------------------------------------------- */

static enum weft_code answer(const struct weft_endpoint *endpoint, const struct weft_ask *ask,
                             struct weft_err *err)
{
    ask->answer->type = weft_type_json;
    enum weft_code code = weft_output_to_memory(&ask->answer->body, err);
    WEFT_THEN(code, endpoint->run(ask, err));
    if (code == WEFT_OK && ask->answer->type == weft_type_json && !ask->answer->is_gzip) {
        weft_output_set_form(ask->answer->body, WEFT_OUTPUT_JSON);
        weft_output_seal(ask->answer->body);
    }
    if (code == WEFT_OK && weft_output_has_failed(ask->answer->body)) {
        code = weft_output_close(ask->answer->body, err);
        ask->answer->body = NULL;
    }
    WEFT_THEN(code, weft_ask_fits(weft_output_offset(ask->answer->body), err));
    if (code != WEFT_OK)
        weft_answer_fini(ask->answer);
    return code;
}

/* A question on its way through a worker. */
struct weft_errand {
    struct weft_job job;
    const struct weft_endpoint *endpoint;
    struct weft_ask ask;
    enum weft_kept keeps;
    bool is_kept;
    struct weft_answer answer; /* of work ahead of any question */
    enum weft_code code;
    struct weft_err err;
};

/* The session of the worker for the trace asked for. */
static enum weft_code find_session(struct weft_ask *ask, const struct weft_job_worker *worker,
                                   bool is_heavy, struct weft_err *err)
{
    struct weft_quick *quick = &ask->state->quick[worker->index];
    enum weft_code code = WEFT_OK;
    ask->run = &worker->run;
    if (!ask->served)
        return WEFT_OK;
    struct weft_session **place = is_heavy ? &ask->served->heavy : &quick->session;
    if (!is_heavy && quick->served != ask->served) {
        weft_session_close(quick->session);
        quick->session = NULL;
    }
    if (!*place)
        code = weft_session_share(ask->served->session, &worker->run, place, err);
    if (!is_heavy)
        quick->served = code == WEFT_OK ? ask->served : NULL;
    ask->session = *place;
    WEFT_THEN(code, weft_session_keep_threads(ask->session, ask->query->threads.items,
                                              ask->query->threads.n, err));
    return code;
}

/* Keeps the answer for later questions. Of two that quick workers made at a time, the first. */
static void keep(struct weft_errand *errand)
{
    struct weft_answer *kept = calloc(1, sizeof *kept), *none = NULL;
    if (!kept)
        return; /* it is made again for the next one */
    *kept = *errand->ask.answer;
    *errand->ask.answer = (struct weft_answer){ 0 };
    if (!atomic_compare_exchange_strong(&errand->ask.served->kept[errand->keeps].ready, &none,
                                        kept)) {
        weft_answer_fini(kept);
        free(kept);
    }
}

static void run_errand(struct weft_job *job, const struct weft_job_worker *worker)
{
    struct weft_errand *errand = (struct weft_errand *)job;
    const bool is_heavy = job->lane == WEFT_LANE_HEAVY;
    if (errand->is_kept && atomic_load(&errand->ask.served->kept[errand->keeps].ready)) {
        errand->code = WEFT_OK; /* someone before asked the same */
        return;
    }
    errand->err = (struct weft_err){ 0 };
    errand->code = find_session(&errand->ask, worker, is_heavy, &errand->err);
    if (errand->code == WEFT_OK)
        errand->code = answer(errand->endpoint, &errand->ask, &errand->err);
    if (errand->code == WEFT_OK && errand->is_kept)
        keep(errand);
}

/* The same without a client: interrupted by a question, it is done later. */
static void run_ahead(struct weft_job *job, const struct weft_job_worker *worker)
{
    struct weft_errand *errand = (struct weft_errand *)job;
    run_errand(job, worker);
    weft_answer_fini(&errand->answer); /* it could not be kept */
    job->is_redone = errand->code == WEFT_E_CANCELLED;
}

static int status_of(enum weft_code code)
{
    switch (code) {
    case WEFT_OK:
        return 200;
    case WEFT_E_ARG:
        return 400;
    case WEFT_E_LIMIT:
        return 413;
    case WEFT_E_NOMEM:
    case WEFT_E_CANCELLED:
        return 503;
    case WEFT_E_IO:
    case WEFT_E_TRUNCATED:
    case WEFT_E_MALFORMED:
    case WEFT_E_UNSUPPORTED:
        break;
    }
    return 500;
}

/* Has the errand done by a worker. */
static void send_errand(struct weft_serve_state *state, struct weft_errand *errand, int fd,
                        struct weft_reply *reply)
{
    switch (weft_jobs_ask(state->jobs, &errand->job, fd)) {
    case WEFT_JOB_RAN:
        break;
    case WEFT_JOB_REFUSED:
        errand->code = weft_fail(&errand->err, WEFT_E_CANCELLED, WEFT_NO_OFFSET,
                                 "too many questions at a time: ask again later");
        break;
    case WEFT_JOB_GONE:
        reply->is_gone = true;
        errand->code = WEFT_E_CANCELLED;
        break;
    }
}

static void do_errand(struct weft_serve_state *state, struct weft_errand *errand, int fd,
                      struct weft_reply *reply)
{
    struct weft_served *served = errand->ask.served;
    if (errand->endpoint->manner == WEFT_ANSWER_NOW)
        errand->code = answer(errand->endpoint, &errand->ask, &errand->err);
    else if (!errand->is_kept || !atomic_load(&served->kept[errand->keeps].ready))
        send_errand(state, errand, fd, reply);
    if (errand->code == WEFT_OK && errand->is_kept)
        reply->kept = atomic_load(&served->kept[errand->keeps].ready);
    if (reply->kept)
        weft_answer_fini(&reply->answer); /* its own, if that could not be kept */
    reply->status = status_of(errand->code);
    reply->err = errand->err;
}

/* What is asked of the whole trace, without options, is kept. */
static void errand_init(struct weft_errand *errand, const struct weft_endpoint *endpoint,
                        const struct weft_query *query)
{
    errand->endpoint = endpoint;
    errand->ask.query = query;
    errand->is_kept = endpoint->keeps >= 0 && (query->given & ~BIT(TRACE)) == 0;
    errand->keeps = errand->is_kept ? (enum weft_kept)endpoint->keeps : WEFT_KEPTS;
    errand->job = (struct weft_job){
        .lane = endpoint->manner == WEFT_ANSWER_HEAVY ? WEFT_LANE_HEAVY : WEFT_LANE_QUICK,
        .makes = errand->is_kept ? &errand->ask.served->kept[errand->keeps] : NULL,
        .run = run_errand,
    };
}

/* What the question is of: a database, a trace, or the server. */
static enum weft_code find_subject(struct weft_serve_state *state,
                                   const struct weft_endpoint *endpoint,
                                   const struct weft_query *query, struct weft_ask *ask,
                                   struct weft_err *err)
{
    if (weft_query_has(query, WEFT_PARAM_DB)) {
        if (query->db >= state->n_databases)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "db: expected a number below %zu",
                             state->n_databases);
        if (weft_query_has(query, WEFT_PARAM_TRACE))
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected trace or db, found both");
        ask->database = &state->databases[query->db];
        return WEFT_OK;
    }
    if (!(endpoint->takes & BIT(TRACE)))
        return WEFT_OK;
    if (query->trace >= state->n_traces)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "trace: expected a number below %zu",
                         state->n_traces);
    ask->served = &state->traces[query->trace];
    ask->trace = weft_session_trace(ask->served->session);
    return check_query(query, ask, err);
}

static void ask_subject(struct weft_serve_state *state, const struct weft_endpoint *endpoint,
                        const struct weft_analysis *list, const struct weft_query *query, int fd,
                        struct weft_reply *reply)
{
    struct weft_errand errand = { .ask = {
                                      .state = state, .list = list, .answer = &reply->answer } };
    enum weft_code code = find_subject(state, endpoint, query, &errand.ask, &reply->err);
    if (code != WEFT_OK) {
        reply->status = status_of(code);
        return;
    }
    errand_init(&errand, endpoint, query);
    do_errand(state, &errand, fd, reply);
}

void weft_state_answer(struct weft_serve_state *state, struct weft_str name, struct weft_str text,
                       int fd, struct weft_reply *reply)
{
    const struct weft_analysis *list;
    const struct weft_endpoint *endpoint = endpoint_find(name, &list);
    *reply = (struct weft_reply){ .status = 404 };
    if (!endpoint) {
        (void)weft_fail(&reply->err, WEFT_E_ARG, WEFT_NO_OFFSET, "there is no such question");
        return;
    }
    struct weft_query *query = malloc(sizeof *query);
    enum weft_code code = query ? weft_query_read(text, endpoint->takes, query, &reply->err)
                                : weft_no_memory(&reply->err, "a question");
    WEFT_THEN(code, check_needs(endpoint, query, &reply->err));
    if (code == WEFT_OK)
        ask_subject(state, endpoint, list, query, fd, reply);
    else
        reply->status = status_of(code);
    free(query);
}

/* ---- ahead of questions ---------------------------------------------------------------------- */

static const struct weft_query whole_trace; /* nothing is given */

/* Waits are found ahead where that takes a few seconds and leaves room for the rest. */
#define AHEAD_CALLS UINT64_C(50000000)
#define AHEAD_BYTES (UINT64_C(512) << 20)

static bool is_done_ahead(const struct weft_serve_state *state,
                          const struct weft_endpoint *endpoint, const struct weft_served *served,
                          uint64_t memory_bytes)
{
    const struct weft_trace *trace = weft_session_trace(served->session);
    return endpoint->keeps != WEFT_KEPT_INTERPLAY ||
           (served == state->traces && weft_trace_meta(trace)->calls <= AHEAD_CALLS &&
            (memory_bytes == 0 || memory_bytes >= AHEAD_BYTES));
}

static void leave_ahead(struct weft_serve_state *state, struct weft_errand *errand,
                        const struct weft_endpoint *endpoint, struct weft_served *served)
{
    errand->ask = (struct weft_ask){ .state = state,
                                     .served = served,
                                     .trace = weft_session_trace(served->session),
                                     .answer = &errand->answer };
    errand->ask.to_ns = weft_trace_meta(errand->ask.trace)->duration_ns;
    errand_init(errand, endpoint, &whole_trace);
    errand->job.lane = WEFT_LANE_HEAVY; /* all workers of its pool, and its session */
    errand->job.run = run_ahead;
    weft_jobs_leave(state->jobs, &errand->job);
}

/* What a page asks first comes first, for all traces; waits of the first trace alone. */
static bool compute_ahead(struct weft_serve_state *state, uint64_t memory_bytes)
{
    static const char *const names[] = { "names", "regtime", "functions", "interplay", "shapes" };
    const size_t n_names = sizeof names / sizeof *names;
    state->ahead = calloc(n_names * state->n_traces + 1, sizeof *state->ahead);
    if (!state->ahead)
        return false;
    for (size_t i = 0; i < n_names * state->n_traces; i++) {
        const struct weft_analysis *list;
        const struct weft_endpoint *endpoint =
            endpoint_find(weft_str_of(names[i / state->n_traces]), &list);
        struct weft_served *served = &state->traces[i % state->n_traces];
        if (is_done_ahead(state, endpoint, served, memory_bytes))
            leave_ahead(state, &state->ahead[i], endpoint, served);
    }
    return true;
}

/* ---- the beginning and the end --------------------------------------------------------------- */

static enum weft_code open_trace(struct weft_served *served, const char *path,
                                 const struct weft_run *run, struct weft_err *err)
{
    const char *slash = strrchr(path, '/');
    served->path = path;
    served->name = slash ? slash + 1 : path;
    enum weft_code code = weft_session_open(path, run, &served->session, err);
    if (code != WEFT_OK)
        (void)weft_in_file(err, path);
    return code;
}

/* Traces and databases are distinguished by their first bytes. */
static enum weft_code open_file(struct weft_serve_state *state, const char *path,
                                const struct weft_run *run, struct weft_err *err)
{
    const char *slash = strrchr(path, '/');
    if (!weft_database_is(path))
        return open_trace(&state->traces[state->n_traces++], path, run, err);
    state->databases[state->n_databases++] =
        (struct weft_served_database){ .path = path, .name = slash ? slash + 1 : path };
    return WEFT_OK;
}

enum weft_code weft_state_init(struct weft_serve_state *state, const struct weft_serve_opts *opts,
                               struct weft_err *err)
{
    const unsigned n_quick = weft_pool_workers(opts->run->pool);
    const uint64_t memory_bytes = opts->run->memory_bytes;
    state->answer_bytes_max = memory_bytes ? memory_bytes / MEMORY_SHARE : ANSWERS_BYTES_MAX;
    state->traces = calloc(opts->n_paths, sizeof *state->traces);
    state->databases = calloc(opts->n_paths, sizeof *state->databases);
    state->quick = calloc((size_t)n_quick + 1, sizeof *state->quick);
    if (!state->traces || !state->databases || !state->quick)
        return weft_no_memory(err, "the server");
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < opts->n_paths; i++)
        code = open_file(state, opts->paths[i], opts->run, err);
    WEFT_THEN(code, weft_output_to_memory(&state->colors, err));
    WEFT_THEN(code, weft_colors_read(opts->colors_path, state->colors, err));
    WEFT_THEN(code, weft_jobs_new(n_quick, opts->run, &state->jobs, err));
    if (code == WEFT_OK && !compute_ahead(state, memory_bytes))
        code = weft_no_memory(err, "the server");
    return code;
}

static void close_trace(struct weft_served *served)
{
    for (int kept = 0; kept < WEFT_KEPTS; kept++) {
        struct weft_answer *answer = atomic_load(&served->kept[kept].ready);
        if (answer)
            weft_answer_fini(answer);
        free(answer);
    }
    weft_session_close(served->heavy);
    weft_session_close(served->session);
}

void weft_state_fini(struct weft_serve_state *state)
{
    const unsigned n_workers = state->jobs ? weft_jobs_workers(state->jobs) : 0;
    weft_jobs_free(state->jobs);
    for (unsigned i = 0; state->quick && i < n_workers; i++)
        weft_session_close(state->quick[i].session);
    for (size_t i = 0; i < state->n_traces; i++)
        close_trace(&state->traces[i]);
    weft_output_abort(state->colors);
    weft_comparisons_fini(&state->comparisons);
    free(state->databases);
    free(state->ahead);
    free(state->quick);
    free(state->traces);
}
