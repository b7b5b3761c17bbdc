/* SPDX-License-Identifier: MIT
 *
 * What a page goes without where it would be too large: comparisons one after the other, then
 * paths, the last first, as many as it takes; it says so. And which threads a page is of, and which
 * of several threads with one tid a path is of.
 */
#include "analysis/regtime/regtime.h"
#include "query/evidence.h"
#include "query/overview.h"
#include "query/session.h"
#include "render/page/answers.h"
#include "render/page/page.h"
#include "small_session.h"
#include "tap.h"

enum { PATHS = 3, COMPARISONS = 2, ANSWER_BYTES = 50000 };

static struct weft_output *output(size_t n_bytes)
{
    struct weft_output *out;
    if (weft_output_to_memory(&out, NULL) != WEFT_OK)
        abort();
    weft_output_repeat(out, "x", n_bytes);
    return out;
}

static void add(struct weft_page_answers *answers, enum weft_page_answer_kind kind,
                const char *question)
{
    answers->items[answers->n++] =
        (struct weft_page_answer){ kind, question, output(ANSWER_BYTES) };
}

/* Findings, paths, threads, comparisons of three answers each. */
static void fill(struct weft_page_answers *answers)
{
    static const char *const paths[PATHS] = { "path?thread=0", "path?thread=1", "path?thread=2" };
    static const char *const names[COMPARISONS] = { "first", "second" };
    add(answers, WEFT_PAGE_FINDINGS, "diagnose");
    for (unsigned i = 0; i < PATHS; i++)
        add(answers, WEFT_PAGE_PATH, paths[i]);
    add(answers, WEFT_PAGE_FINDINGS, "threads");
    for (unsigned i = 0; i < COMPARISONS; i++) {
        add(answers, WEFT_PAGE_COMPARISON, "executions?type=a");
        add(answers, WEFT_PAGE_COMPARISON, "compare?type=a");
        add(answers, WEFT_PAGE_COMPARISON, "cut?type=a");
        answers->proposals[answers->n_proposals++] = (struct weft_page_proposal){
            .name = weft_str_of(names[i]), .begin = "", .end = "", .match = "", .within = ""
        };
    }
}

static bool has(struct weft_str page, const char *text)
{
    return memmem(page.bytes, page.n_bytes, text, strlen(text)) != NULL;
}

/* With so many bytes too few for all answers. */
static void check(struct weft_page *page, uint64_t n_lacking, size_t n_comparisons, size_t n_paths)
{
    struct weft_page_answers answers;
    struct weft_missing missing = { .n = 0 };
    if (weft_page_answers_init(&answers, page->trace, NULL, NULL) != WEFT_OK)
        abort();
    fill(&answers);
    struct weft_output *out = output(0);
    page->answers = &answers;
    page->missing = &missing;
    /* Beside answers there is the data of a small trace, of less than 40 kB. */
    page->taken_bytes = WEFT_PAGE_BYTES - weft_page_answers_bytes(&answers) - 40000 + n_lacking;
    tap_eq_u64(weft_page_data(page, out, NULL), WEFT_OK, "%" PRIu64 " bytes too few", n_lacking);
    size_t n[3] = { 0 };
    for (size_t i = 0; i < answers.n; i++)
        n[answers.items[i].kind]++;
    tap_ok(n[WEFT_PAGE_FINDINGS] == 2 && n[WEFT_PAGE_COMPARISON] == 3 * n_comparisons &&
               answers.n_proposals == n_comparisons && n[WEFT_PAGE_PATH] == n_paths,
           "%zu comparisons and %zu paths remain: %zu answers, %zu", n_comparisons, n_paths,
           n[WEFT_PAGE_COMPARISON], n[WEFT_PAGE_PATH]);
    const struct weft_str data = weft_output_held(out);
    tap_ok(has(data, "some comparisons: a page has at most 2 MB") == (n_comparisons < COMPARISONS),
           "which the page says of comparisons");
    tap_ok(has(data, "some critical paths: a page has at most 2 MB") == (n_paths < PATHS),
           "and of paths");
    const uint64_t n_kinds = (n_comparisons < COMPARISONS ? 1U : 0) + (n_paths < PATHS ? 1U : 0);
    tap_eq_u64(missing.n, n_kinds, "each once");
    weft_output_abort(out);
    weft_page_answers_fini(&answers);
}

static void test_answers(struct weft_session *session)
{
    struct weft_regtime_opts settings = { 0 };
    const struct weft_regtime_view how = { .preset = "paper", .settings = &settings };
    struct weft_overview overview = { 0 };
    (void)weft_regtime_preset("paper", &settings);
    if (!tap_ok(weft_overview_run(session, &settings, &overview, NULL) == WEFT_OK, "the tables"))
        return;
    struct weft_page page = { .trace = weft_session_trace(session),
                              .name = "small",
                              .functions = overview.functions,
                              .regtime = overview.regtime,
                              .activity = overview.activity,
                              .outliers = overview.outliers,
                              .settings = &how };
    const uint64_t of_one = 3 * ANSWER_BYTES;
    check(&page, 0, 2, 3);
    check(&page, of_one, 1, 3);
    check(&page, 2 * of_one, 0, 3);
    check(&page, 2 * of_one + ANSWER_BYTES, 0, 2);
    check(&page, 3 * of_one, 0, 0);
    check(&page, WEFT_PAGE_BYTES, 0, 0);
    weft_overview_fini(&overview);
}

/* The busiest, by id; the same for any order of those given. */
static void test_busiest(struct weft_session *session)
{
    const struct weft_trace *trace = weft_session_trace(session);
    const uint32_t n = weft_trace_n_threads(trace);
    uint32_t ids[SMALL_THREADS] = { 2, 0, 1 }, most = 0;
    size_t n_omitted = 0;
    uint64_t least_kept = UINT64_MAX, most_left = 0;
    tap_eq_u64(n, SMALL_THREADS, "threads");
    tap_eq_u64(weft_trace_busiest(trace, ids, n, 2), 2, "two of them");
    for (uint32_t id = 0; id < n; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        const uint64_t all = thread->calls + thread->events;
        if (id == ids[0] || id == ids[1])
            least_kept = all < least_kept ? all : least_kept;
        else
            most_left = all;
    }
    tap_ok(ids[0] < ids[1] && least_kept >= most_left, "by id, those with most calls and events");
    tap_ok(weft_session_keep_busiest(session, 2, &n_omitted, NULL) == WEFT_OK && n_omitted == 1 &&
               weft_session_n_kept(session) == 2 && weft_session_kept(session, 0) == ids[0] &&
               weft_session_kept(session, 1) == ids[1],
           "a session keeps the same");
    most = weft_session_kept(session, 0);
    tap_ok(weft_session_keep_busiest(session, 2, &n_omitted, NULL) == WEFT_OK && n_omitted == 0 &&
               weft_session_kept(session, 0) == most,
           "and all of few");
}

/* Threads with one tid: on two hosts at the same time, and one before. */
static void write_twins(const char *path)
{
    static const char *const names[] = { "early", "server", "client" };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "twins" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("twins") };
    if (weft_writer_open(path, &opts, &writer, NULL) != WEFT_OK)
        abort();
    struct weft_sink *sink = weft_writer_sink(writer);
    enum weft_code code = sink->ops->begin(sink, &begin, NULL);
    for (uint32_t i = 0; i < 3; i++) {
        const uint64_t at_ns = i == 0 ? 0 : 1000 + i;
        const struct weft_thread_info info = {
            .tid = 7, .pid = 7, .name = weft_str_of(names[i]), .host_id = i
        };
        const struct weft_call_event calls[] = {
            { .time_ns = at_ns, .function_key = 1, .kind = WEFT_CALL_ENTER },
            { .time_ns = at_ns + 500, .function_key = 1, .kind = WEFT_CALL_EXIT },
        };
        uint32_t thread_id;
        WEFT_THEN(code, sink->ops->thread(sink, &info, &thread_id, NULL));
        WEFT_THEN(code, sink->ops->calls(sink, thread_id, calls, 2, NULL));
        WEFT_THEN(code, sink->ops->thread_end(sink, thread_id, at_ns + 500, NULL));
    }
    if (code != WEFT_OK || weft_writer_commit(writer, NULL, NULL) != WEFT_OK)
        abort();
}

static void test_twins(const char *path)
{
    static const struct {
        uint64_t tid;
        const char *name;
        uint64_t at_ns;
        uint32_t want;
    } rows[] = {
        { 7, "client", 1100, 2 }, { 7, "server", 1100, 1 }, { 7, "early", 100, 0 },
        { 7, "other", 100, 0 },   { 7, "early", 1100, 1 },  { 8, "client", 1100, WEFT_ID_NONE },
    };
    struct weft_trace *trace;
    write_twins(path);
    if (weft_trace_open(path, &trace, NULL) != WEFT_OK)
        abort();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_eq_u64(
            weft_evidence_thread(trace, rows[i].tid, weft_str_of(rows[i].name), rows[i].at_ns),
            rows[i].want, "tid %" PRIu64 " %s at %" PRIu64, rows[i].tid, rows[i].name,
            rows[i].at_ns);
    weft_trace_close(trace);
    (void)remove(path);
}

int main(void)
{
    char path[512];
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_session *session = small_trace_open("test_page_fit", &run, path, sizeof path);
    test_answers(session);
    test_busiest(session);
    weft_session_close(session);
    weft_pool_free(run.pool);
    (void)remove(path);
    test_twins(path);
    return tap_done();
}
