/* SPDX-License-Identifier: MIT
 *
 * Executions of a small trace: metrics, proposals, ends on other threads; and every allocation on
 * the way to them fails once.
 */
#include "failing_alloc.h"
#include "query/build.h"
#include "query/rules.h"
#include "query/session.h"
#include "schema/result.h"
#include "store/writer.h"
#include "tap.h"

#include <math.h>

/* Each of the first ones, then some: paths make thousands. */
enum { MOST_FAILURES = 40000, EACH = 250, STEP = 61 };

static char database_path[600];

static struct weft_event event_of(uint64_t at_ns, enum weft_event_kind kind, const char *name)
{
    return (struct weft_event){ .time_ns = at_ns,
                                .kind = kind,
                                .name = weft_str_of(name),
                                .cpu = -1,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
}

/* Ten marked executions of 10 us on thread 0, the last of which ends on thread 1 and the one before
 * never; page faults, reads, waits for a lock, a counter; records are lost in the third. */
static enum weft_code put_marks(struct weft_sink *sink, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < 10 && code == WEFT_OK; i++) {
        const uint64_t at_ns = 100000 * (i + 1);
        struct weft_event events[9];
        events[0] = event_of(at_ns, WEFT_EVENT_SPAN, "request");
        events[0].category = WEFT_STR("execution");
        events[0].duration_ns = 10000;
        events[0].value = i;
        events[0].payload = WEFT_STR("{\"bytes\":2.5,\"name\":\"x\",\"deep\":{\"n\":1}}");
        events[0].prev_state = i == 8 ? WEFT_CALL_CUT_END : 0;
        events[0].next_thread_id = i == 9 ? 1 : WEFT_ID_NONE;
        events[1] = event_of(at_ns + i, WEFT_EVENT_INSTANT, "exceptions:page_fault_user");
        events[2] = event_of(at_ns + 1000, WEFT_EVENT_SYSCALL_EXIT, "pread64");
        events[2].value = 100 * i;
        events[3] = event_of(at_ns + 2000, WEFT_EVENT_SYSCALL_EXIT, "write");
        events[3].value = (uint64_t)(int64_t)-11;
        events[4] = event_of(at_ns + 3000, WEFT_EVENT_LOCK_REQUEST, "pthread_mutex_lock");
        events[4].object_id = 3;
        events[5] =
            event_of(at_ns + 3000 + 500 * i, WEFT_EVENT_LOCK_ACQUIRED, "pthread_mutex_lock");
        events[5].object_id = 3;
        events[6] = event_of(at_ns - 1, WEFT_EVENT_COUNTER, "depth");
        events[6].value = weft_counter_value((double)i);
        events[7] = event_of(at_ns + 10000, WEFT_EVENT_INSTANT, "page_fault_kernel"); /* outside */
        events[8] = event_of(at_ns + 5, WEFT_EVENT_INSTANT, i == 2 ? "records lost" : "other");
        events[8].category = WEFT_STR("recording");
        code = sink->ops->events(sink, 0, events, 9, err);
    }
    return code;
}

static enum weft_code put_calls(struct weft_sink *sink, uint32_t thread, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint64_t i = 0; i < 25 && code == WEFT_OK; i++) {
        const struct weft_call_event calls[] = {
            { .time_ns = 1000 + 100 * i, .function_key = 0, .kind = WEFT_CALL_ENTER },
            { .time_ns = 1010 + 100 * i, .function_key = 1, .kind = WEFT_CALL_ENTER },
            { .time_ns = 1020 + 100 * i, .function_key = 1, .kind = WEFT_CALL_EXIT },
            { .time_ns = 1050 + 100 * i, .function_key = 0, .kind = WEFT_CALL_EXIT },
        };
        struct weft_event events[] = {
            event_of(1005 + 100 * i, WEFT_EVENT_INSTANT, "app:job_start"),
            event_of(1045 + 100 * i, WEFT_EVENT_INSTANT, "app:job_done"),
        };
        struct weft_event args = event_of(1010 + 100 * i, WEFT_EVENT_CALL_ARGS, "");
        events[0].payload = events[1].payload = WEFT_STR("{\"id\":7}");
        args.payload = i == 1 ? WEFT_STR("{\"asked\":64,\"result\":\"EAGAIN\"}")
                              : WEFT_STR("{\"caller\":\"x\",\"asked\":64,\"result\":42}");
        code = sink->ops->calls(sink, thread, calls, 2, err);
        if (code == WEFT_OK)
            code = sink->ops->events(sink, thread, &args, 1, err);
        if (code == WEFT_OK)
            code = sink->ops->calls(sink, thread, calls + 2, 2, err);
        if (code == WEFT_OK)
            code = sink->ops->events(sink, thread, events, 2, err);
    }
    return code;
}

static enum weft_code write_trace(const char *path, struct weft_err *err)
{
    static const char *const functions[] = { "handle", "pread" };
    static const char *const threads[] = { "front", "back" };
    const struct weft_writer_opts opts = { .source_name = "executions" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("executions") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t i = 0; i < 2 && code == WEFT_OK; i++) {
        const struct weft_function_info info = { .key = i, .name = weft_str_of(functions[i]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t i = 0; i < 2 && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 11 + i,
                                               .pid = 11,
                                               .name = weft_str_of(threads[i]) };
        uint32_t id;
        code = sink->ops->thread(sink, &info, &id, err);
    }
    if (code == WEFT_OK)
        code = put_marks(sink, err);
    if (code == WEFT_OK)
        code = put_calls(sink, 1, err);
    for (uint32_t i = 0; i < 2 && code == WEFT_OK; i++)
        code = sink->ops->thread_end(sink, i, 1200000, err);
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

static enum weft_code find(struct weft_session *session, const char *text, bool with_paths,
                           union weft_result *result, struct weft_err *err)
{
    struct weft_rules *rules = NULL;
    enum weft_code code = weft_rules_parse(weft_str_of(text), &rules, err);
    const union weft_request request = { .executions = { .opts = { .rules = rules },
                                                         .with_paths = with_paths } };
    *result = (union weft_result){ 0 };
    if (code == WEFT_OK)
        code = weft_query_run(session, "executions", &request, result, err);
    weft_rules_free(rules);
    return code;
}

static const char marks[] = "execution request is mark:request metric counter:depth";

static void check_metric(const struct weft_executions_table *table, const char *name,
                         const double want[10])
{
    const double *values = weft_executions_metric(table, weft_str_of(name));
    bool is_ok = values != NULL;
    for (size_t i = 0; is_ok && i < 10; i++)
        is_ok = values[i] == want[i] || (isnan(values[i]) && isnan(want[i]));
    tap_ok(is_ok, "metric %s", name);
    for (size_t i = 0; values && !is_ok && i < 10; i++)
        tap_note("%zu: %g, want %g", i, values[i], want[i]);
}

static void metrics(struct weft_session *session)
{
    union weft_result result;
    struct weft_err err = { 0 };
    if (!tap_eq_u64(find(session, marks, false, &result, &err), WEFT_OK, "marks are found")) {
        tap_note("%s", err.text);
        return;
    }
    const struct weft_executions_table *table = result.executions;
    if (tap_eq_u64(table->n_rows, 10, "ten executions")) {
        tap_ok(table->rows[9].end_thread_id == 1 && table->rows[8].end_thread_id == 0,
               "one ends on another thread");
        tap_ok(table->rows[8].flags == WEFT_EXECUTION_UNFINISHED && table->types[0].unfinished == 1,
               "one does not end");
        tap_ok(table->rows[2].flags == WEFT_EXECUTION_LOSSY && table->rows[3].flags == 0,
               "one misses records");
        check_metric(table, "page_faults", (double[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 });
        check_metric(table, "bytes_read",
                     (double[]){ 0, 100, 200, 300, 400, 500, 600, 700, 800, 900 });
        check_metric(table, "bytes_written", (double[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 });
        check_metric(table, "lock_waits", (double[]){ 0, 0, 1, 1, 1, 1, 1, 1, 1, 1 });
        check_metric(table, "lock_wait",
                     (double[]){ 0, 0, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500 });
        check_metric(table, "bytes",
                     (double[]){ 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5, 2.5 });
        check_metric(table, "depth", (double[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 });
        check_metric(table, "depth_change", (double[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 });
        check_metric(table, "duration",
                     (double[]){ 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4, 1e4 });
        tap_ok(!weft_executions_metric(table, WEFT_STR("name")), "texts are no metrics");
    }
    weft_result_free(result.any);
}

static bool is_same_table(const struct weft_executions_table *a,
                          const struct weft_executions_table *b)
{
    if (a->n_types != b->n_types || a->n_rows != b->n_rows || a->n_metrics != b->n_metrics ||
        a->types[0].count != b->types[0].count ||
        !weft_str_equal(a->types[0].name, b->types[0].name))
        return false;
    for (size_t i = 0; i < a->n_rows; i++)
        if (a->rows[i].start_ns != b->rows[i].start_ns || a->rows[i].end_ns != b->rows[i].end_ns ||
            a->rows[i].type != b->rows[i].type || a->rows[i].thread_id != b->rows[i].thread_id ||
            a->rows[i].flags != b->rows[i].flags)
            return false;
    for (size_t m = 0; m < a->n_metrics; m++)
        if (!weft_str_equal(a->metrics[m].name, b->metrics[m].name) ||
            memcmp(a->metrics[m].values, b->metrics[m].values,
                   a->n_rows * sizeof *a->metrics[m].values) != 0)
            return false;
    return true;
}

/* Types that are found in one pass are as if each were the only one; others are left out. */
static void each(struct weft_session *session)
{
    static const char *const texts[] = { "execution h is call:handle",
                                         "execution r is mark:request",
                                         "execution p is call:pread" };
    struct weft_rules *rules[3] = { NULL };
    struct weft_executions_table *tables[3] = { NULL };
    struct weft_err err = { 0 };
    for (size_t i = 0; i < 3; i++)
        if (weft_rules_parse(weft_str_of(texts[i]), &rules[i], &err) != WEFT_OK)
            abort();
    tap_ok(weft_session_executions_each(session, rules, 3, tables, &err) == WEFT_OK, "%s",
           err.text[0] ? err.text : "several types are found");
    tap_ok(tables[0] && !tables[1] && tables[2], "those that are whole calls");
    for (size_t i = 0; i < 3; i += 2) {
        union weft_result alone;
        if (!tables[i] || find(session, texts[i], false, &alone, &err) != WEFT_OK)
            continue;
        tap_ok(is_same_table(tables[i], alone.executions), "%s: as if it were the only one",
               texts[i]);
        weft_result_free(alone.any);
    }
    for (size_t i = 0; i < 3; i++) {
        weft_rules_free(rules[i]);
        weft_result_free(tables[i]);
    }
}

/* Of a call that told what it read: one that failed read nothing. */
static void told_bytes(struct weft_session *session)
{
    union weft_result result;
    struct weft_err err = { 0 };
    bool is_ok = find(session, "execution h is call:handle", false, &result, &err) == WEFT_OK;
    const double *values =
        is_ok ? weft_executions_metric(result.executions, WEFT_STR("bytes_read")) : NULL;
    is_ok = values && result.executions->n_rows == 25;
    for (size_t i = 0; is_ok && i < 25; i++)
        is_ok = values[i] == (i == 1 ? 0 : 42);
    tap_ok(is_ok, "bytes that calls told");
    weft_result_free(result.any);
}

static void proposals(struct weft_session *session)
{
    static const struct {
        const char *name, *begin, *end, *match, *within;
    } wanted[] = {
        { "app:job_start", "instant:app:job_start", "instant:app:job_done", "id", "thread" },
        { "handle", "call:handle", "", "", "" },
        { "request", "mark:request", "", "", "" },
    };
    struct weft_execution_proposals *found = NULL;
    struct weft_err err = { 0 };
    tap_eq_u64(weft_execution_proposals(session, &found, &err), WEFT_OK, "types are proposed");
    tap_eq_u64(found ? found->n : 0, 3, "three of them");
    for (size_t i = 0; found && i < found->n && i < 3; i++) {
        const struct weft_execution_proposal *one = &found->items[i];
        tap_ok(weft_str_equal(one->name, weft_str_of(wanted[i].name)) &&
                   weft_str_equal(one->begin, weft_str_of(wanted[i].begin)) &&
                   weft_str_equal(one->end, weft_str_of(wanted[i].end)) &&
                   weft_str_equal(one->match, weft_str_of(wanted[i].match)) &&
                   weft_str_equal(one->within, weft_str_of(wanted[i].within)),
               "%s: %.*s %.*s", wanted[i].name, (int)one->begin.n_bytes, one->begin.bytes,
               (int)one->end.n_bytes, one->end.bytes);
    }
    weft_execution_proposals_free(found);
}

/* Trees in memory, and in a database that is read again: the file stays whole, whatever fails. */
static enum weft_code trees(struct weft_session *session, const struct weft_executions_table *table)
{
    const struct weft_build_opts opts = { .tag = WEFT_STR("t") };
    struct weft_ecct_matrix *matrix = NULL, *loaded = NULL;
    struct weft_database *database = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_executions_matrix(session, table, 0, &opts, &matrix, &err);
    if (code == WEFT_OK)
        code = weft_database_open(database_path, WEFT_DATABASE_WRITE, &database, &err);
    if (code == WEFT_OK)
        code = weft_executions_build(session, table, database, &opts, &err);
    if (code == WEFT_OK)
        code = weft_database_load(database, WEFT_STR("a"), &loaded, &err);
    if (code == WEFT_OK && (loaded->n_items != matrix->n_items || loaded->n_damaged))
        code = WEFT_E_MALFORMED;
    if (code != WEFT_OK && code != WEFT_E_NOMEM)
        tap_note("%s", err.text);
    weft_database_close(database);
    weft_result_free(matrix);
    weft_result_free(loaded);
    return code;
}

/* What happens during executions of `type`, told apart by `by`. */
static enum weft_code count(struct weft_session *session, const char *type, const char *rule,
                            const char *by, bool of_paths, union weft_result *result,
                            struct weft_err *err)
{
    struct weft_rules *executions = NULL, *counted = NULL;
    union weft_request request = { .frequencies = { .slower_than_ns = 1, .of_paths = of_paths } };
    *result = (union weft_result){ 0 };
    enum weft_code code = weft_rules_parse(weft_str_of(type), &executions, NULL);
    if (code == WEFT_OK)
        code = weft_rules_of_count(rule, by, &counted, NULL);
    request.frequencies.executions = executions;
    request.frequencies.counted = counted;
    if (code == WEFT_OK)
        code = weft_query_run(session, "frequencies", &request, result, err);
    weft_rules_free(executions);
    weft_rules_free(counted);
    return code;
}

static void frequencies(struct weft_session *session)
{
    union weft_result result;
    const enum weft_code code = count(session, "execution b is call:handle",
                                      "exit:* where duration > 1", "name", false, &result, NULL);
    const struct weft_frequencies_table *table = result.frequencies;
    tap_ok(code == WEFT_OK && table->n_rows > 0 &&
               table->rows[0].count[WEFT_FREQUENCY_SLOW] <= table->rows[0].n_all &&
               table->n_executions[WEFT_FREQUENCY_SLOW] > 0 &&
               table->n_executions[WEFT_FREQUENCY_OTHERS] == 0,
           "exits during calls are counted");
    weft_result_free(result.any);
}

static enum weft_code counts(struct weft_session *session)
{
    union weft_result result;
    enum weft_code code =
        count(session, "execution b is call:handle", "exit:* where arg0 != 7 and x != 9", "id,name",
              false, &result, NULL);
    weft_result_free(result.any);
    if (code == WEFT_OK)
        code = count(session, "execution b is call:handle", "call:*", NULL, true, &result, NULL);
    weft_result_free(result.any);
    return code;
}

static enum weft_code all_of_it(struct weft_session *session)
{
    static const char rules[] =
        "execution a is mark:request metric counter:depth metric deep.n\n"
        "execution b begin enter:handle end exit:handle where arg0 != 7\n"
        "execution c begin instant:job_start end instant:job_done match id metric id\n";
    union weft_result result;
    struct weft_execution_proposals *found = NULL;
    enum weft_code code = find(session, rules, true, &result, NULL);
    if (code == WEFT_OK)
        code = trees(session, result.executions);
    weft_result_free(result.any);
    if (code == WEFT_OK)
        code = weft_execution_proposals(session, &found, NULL);
    weft_execution_proposals_free(found);
    return code == WEFT_OK ? counts(session) : code;
}

static void memory(struct weft_session *session)
{
    int n_failures = 0;
    bool is_good = true;
    for (; n_failures < MOST_FAILURES && is_good; n_failures += n_failures < EACH ? 1 : STEP) {
        n_until_failure = n_failures;
        const enum weft_code code = all_of_it(session);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good = code == WEFT_OK || (has_failed && code == WEFT_E_NOMEM);
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > EACH && n_failures < MOST_FAILURES,
           "allocations fail, of some %d", n_failures);
}

/* Which error there is with so much memory: of executions, or of what is counted by labels. */
static void limit(const char *path, uint64_t memory_bytes, bool is_of_labels, const char *expected)
{
    const struct weft_run run = { .pool = weft_pool_new(1), .memory_bytes = memory_bytes };
    struct weft_session *session = NULL;
    union weft_result result = { 0 };
    struct weft_err err = { 0 };
    if (!run.pool || weft_session_open(path, &run, &session, &err) != WEFT_OK)
        abort();
    const enum weft_code code =
        is_of_labels
            ? count(session, "execution b is call:handle", "call:*", "name", false, &result, &err)
            : find(session, "execution a is mark:request metric counter:depth", false, &result,
                   &err);
    tap_ok(expected ? code == WEFT_E_LIMIT && strstr(err.text, expected) : code == WEFT_OK,
           "a ceiling of %" PRIu64 ": %s", memory_bytes, err.text);
    weft_result_free(result.any);
    weft_session_close(session);
    weft_pool_free(run.pool);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_session *session = NULL;
    struct weft_err err = { 0 };
    char path[512];
    (void)snprintf(path, sizeof path, "%s/test_executions.weft", root ? root : ".");
    if (!run.pool || write_trace(path, &err) != WEFT_OK ||
        weft_session_open(path, &run, &session, &err) != WEFT_OK) {
        tap_note("%s", err.text);
        abort();
    }
    (void)snprintf(database_path, sizeof database_path, "%s.db", path);
    (void)remove(database_path);
    metrics(session);
    each(session);
    told_bytes(session);
    proposals(session);
    frequencies(session);
    memory(session);
    weft_session_close(session);
    weft_pool_free(run.pool);
    limit(path, 64, false, NULL);
    limit(path, 1 << 16, true, NULL);
    limit(path, 300, true, "more different labels than half of --mem holds");
    (void)remove(path);
    (void)remove(database_path);
    return tap_done();
}
