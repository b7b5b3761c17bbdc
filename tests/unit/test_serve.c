/* SPDX-License-Identifier: MIT
 *
 * The server's parts that need no network: questions taken apart, tokens left and found, who works
 * on what when, columns, small files of the user.
 */
#include "render/columns/columns.h"
#include "serve/files.h"
#include "serve/jobs.h"
#include "serve/target.h"
#include "serve/token.h"
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    return root ? root : ".";
}

/* ---- targets --------------------------------------------------------------------------------- */

static void test_split(void)
{
    static const struct {
        const char *text, *token, *path, *query;
        enum weft_code code;
    } rows[] = {
        { "/t/api/lod?a=1", "t", "/api/lod", "a=1", WEFT_OK },
        { "/t/", "t", "/", "", WEFT_OK },
        { "/t", "t", "", "", WEFT_OK },
        { "/t?x", "t", "", "x", WEFT_OK },
        { "/?x?y", "", "", "x?y", WEFT_OK },
        { "//t/", "", "/t/", "", WEFT_OK },
        { "", "", "", "", WEFT_E_ARG },
        { "t/", "", "", "", WEFT_E_ARG },
        { "*", "", "", "", WEFT_E_ARG },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_target target;
        enum weft_code code = weft_target_split(weft_str_of(rows[i].text), &target, NULL);
        tap_ok(code == rows[i].code && weft_str_equal(target.token, weft_str_of(rows[i].token)) &&
                   weft_str_equal(target.path, weft_str_of(rows[i].path)) &&
                   weft_str_equal(target.query, weft_str_of(rows[i].query)),
               "target '%s'", rows[i].text);
    }
}

static void test_query(void)
{
    struct weft_query *query = malloc(sizeof *query);
    struct weft_err err = { 0 };
    const uint64_t all = UINT64_MAX;
    tap_ok(weft_query_read(weft_str_of("from=5&threads=3,1,2&sort=time&to=18446744073709551615"),
                           all, query, NULL) == WEFT_OK &&
               query->from_ns == 5 && query->to_ns == UINT64_MAX && query->threads.n == 3 &&
               query->threads.items[0] == 1 && query->threads.items[2] == 3 &&
               query->sort == WEFT_QUERY_TIME && !weft_query_has(query, WEFT_PARAM_WIDTH) &&
               weft_query_has(query, WEFT_PARAM_FROM),
           "numbers, ids, words");
    tap_ok(weft_query_read(weft_str_of(""), all, query, NULL) == WEFT_OK && query->given == 0,
           "nothing is asked");
    tap_ok(weft_query_read(weft_str_of("from=1"), WEFT_PARAM_BIT(WEFT_PARAM_TO), query, &err) ==
                   WEFT_E_ARG &&
               strcmp(err.text, "no parameter is called 'from' here") == 0,
           "a parameter of another question");
    static const char *const bad[] = {
        "from=",
        "from",
        "=1",
        "from=1&from=1",
        "from=-1",
        "from=+1",
        "from= 1",
        "from=1 ",
        "from=1x",
        "from=0x1",
        "from=1.0",
        "from=18446744073709551616",
        "trace=4294967296",
        "fn=",
        "fn=,",
        "fn=1,",
        "fn=1,,2",
        "fn=1,1",
        "sort=",
        "sort=longestt",
        "self=2",
        "from=%3",
        "from=%",
        "&",
        "from=1&&to=2",
        "%00=1",
        "fn=4294967295",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        tap_ok(weft_query_read(weft_str_of(bad[i]), all, query, NULL) == WEFT_E_ARG,
               "'%s' is refused", bad[i]);
    free(query);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void test_token(void)
{
    struct weft_token a, b, back;
    uint16_t port = 0;
    const char *const paths[] = { "/tmp", "/usr" }, *const turned[] = { "/usr", "/tmp" };
    char *path = weft_token_path(folder(), paths, 2, 0);
    char *other = weft_token_path(folder(), turned, 2, 0);
    char *fixed = weft_token_path(folder(), paths, 2, 80);
    tap_ok(weft_token_new(&a, NULL) == WEFT_OK && weft_token_new(&b, NULL) == WEFT_OK &&
               strlen(a.text) == WEFT_TOKEN_BYTES && strcmp(a.text, b.text) != 0,
           "new tokens differ");
    tap_ok(weft_token_equals(&a, weft_str_of(a.text)) &&
               !weft_token_equals(&a, weft_str_of(b.text)) &&
               !weft_token_equals(&a, (struct weft_str){ a.text, WEFT_TOKEN_BYTES - 1 }) &&
               !weft_token_equals(&a, weft_str_of("")),
           "a token is equal to itself alone");
    tap_ok(strcmp(path, other) != 0 && strcmp(path, fixed) != 0, "names depend on traces and port");
    tap_ok(weft_token_save(path, &a, 1234) && weft_token_load(path, &back, &port) && port == 1234 &&
               strcmp(back.text, a.text) == 0,
           "what was left is found");
    tap_ok(chmod(path, 0640) == 0 && !weft_token_load(path, &back, &port),
           "what others may read is not used");
    tap_ok(weft_token_save(path, &b, 1) && weft_token_load(path, &back, &port) && port == 1,
           "it is replaced");
    (void)unlink(fixed);
    tap_ok(symlink(path, fixed) == 0 && !weft_token_load(fixed, &back, &port),
           "no link is followed");
    static const char *const bad[] = {
        "", "0 %s\n", "65536 %s\n", "12 %.31s\n", "12 %s", "%s 12\n"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        FILE *file = fopen(path, "w");
        const char *text = bad[i];
        for (; *text && file; text++) /* the token in place of the conversion */
            if (*text == '%') {
                size_t n = text[1] == '.' ? 31 : 32;
                fwrite(b.text, 1, n, file);
                text = strchr(text, 's');
            } else {
                fputc(*text, file);
            }
        if (file)
            fclose(file);
        tap_ok(!weft_token_load(path, &back, &port), "damaged file %zu", i);
    }
    (void)unlink(path);
    (void)unlink(fixed);
    free(path);
    free(other);
    free(fixed);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

struct work {
    struct weft_job job;
    _Atomic int *n_running;
    _Atomic bool *may_end; /* NULL: at once */
    bool was_cancelled;
    _Atomic unsigned n_runs;
};

static void run_work(struct weft_job *job, const struct weft_job_worker *worker)
{
    struct work *work = (struct work *)job;
    work->n_runs++;
    if (work->n_running)
        (*work->n_running)++;
    while (work->may_end && !*work->may_end && !weft_progress_is_cancelled(worker->run.progress))
        usleep(1000);
    work->was_cancelled = weft_progress_is_cancelled(worker->run.progress);
    job->is_redone = job->done_fd < 0 && work->was_cancelled;
}

struct asking {
    struct weft_jobs *jobs;
    struct work work;
    enum weft_job_end end;
    _Atomic bool has_ended;
    int sockets[2];
    pthread_t thread;
};

static void *ask_main(void *argument)
{
    struct asking *asking = argument;
    asking->end = weft_jobs_ask(asking->jobs, &asking->work.job, asking->sockets[0]);
    asking->has_ended = true;
    return NULL;
}

static void ask(struct asking *asking, struct weft_jobs *jobs, enum weft_lane lane,
                _Atomic int *n_running, _Atomic bool *may_end)
{
    *asking = (struct asking){ .jobs = jobs,
                               .work = { .job = { .lane = lane, .run = run_work },
                                         .n_running = n_running,
                                         .may_end = may_end } };
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, asking->sockets) != 0 ||
        pthread_create(&asking->thread, NULL, ask_main, asking) != 0)
        abort();
}

static enum weft_job_end wait_for(struct asking *asking)
{
    pthread_join(asking->thread, NULL);
    close(asking->sockets[0]);
    close(asking->sockets[1]);
    return asking->end;
}

static void until(_Atomic int *value, int least)
{
    for (int i = 0; i < 5000 && *value < least; i++)
        usleep(1000);
}

static void test_jobs(void)
{
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_jobs *jobs = NULL;
    struct asking some[3], heavy, gone;
    static struct asking many[WEFT_JOBS_WAITING + 8];
    _Atomic int n_running = 0, n_heavy = 0;
    _Atomic bool may_end = false, never = false;
    if (weft_jobs_new(2, &run, &jobs, NULL) != WEFT_OK)
        abort();
    tap_eq_u64(weft_jobs_workers(jobs), 3, "workers");
    for (int i = 0; i < 3; i++)
        ask(&some[i], jobs, WEFT_LANE_QUICK, &n_running, &may_end);
    until(&n_running, 2);
    ask(&heavy, jobs, WEFT_LANE_HEAVY, &n_heavy, &may_end);
    until(&n_heavy, 1);
    tap_ok(n_running == 2 && n_heavy == 1, "two quick jobs run, and a heavy one beside them");
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        ask(&many[i], jobs, WEFT_LANE_QUICK, NULL, NULL);
    size_t n_refused = 0, n_ran = 0;
    for (size_t n_ended = 0, turn = 0; n_ended < 9 && turn < 10000; turn++) {
        usleep(1000);
        n_ended = 0;
        for (size_t i = 0; i < sizeof many / sizeof *many; i++)
            n_ended += many[i].has_ended;
    }
    may_end = true;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        enum weft_job_end end = wait_for(&many[i]);
        n_refused += end == WEFT_JOB_REFUSED;
        n_ran += end == WEFT_JOB_RAN;
    }
    tap_ok(n_refused == 9 && n_ran == WEFT_JOBS_WAITING - 1, "%zu ran, %zu were refused", n_ran,
           n_refused);
    bool is_ok = wait_for(&heavy) == WEFT_JOB_RAN && !heavy.work.was_cancelled;
    for (int i = 0; i < 3; i++)
        is_ok = wait_for(&some[i]) == WEFT_JOB_RAN && !some[i].work.was_cancelled && is_ok;
    tap_ok(is_ok, "all of them ran");

    n_heavy = 0;
    ask(&heavy, jobs, WEFT_LANE_HEAVY, &n_heavy, &never);
    until(&n_heavy, 1);
    ask(&gone, jobs, WEFT_LANE_HEAVY, NULL, NULL);
    usleep(20000);
    shutdown(gone.sockets[1], SHUT_RDWR);
    tap_ok(wait_for(&gone) == WEFT_JOB_GONE && gone.work.n_runs == 0,
           "a client that goes away leaves the queue");
    shutdown(heavy.sockets[1], SHUT_RDWR);
    tap_ok(wait_for(&heavy) == WEFT_JOB_RAN && heavy.work.was_cancelled,
           "one that goes away later ends its job");

    struct work behind = { .job = { .lane = WEFT_LANE_HEAVY, .makes = &behind, .run = run_work },
                           .n_running = &n_heavy,
                           .may_end = &never };
    n_heavy = 0;
    weft_jobs_leave(jobs, &behind.job);
    until(&n_heavy, 1);
    tap_ok(weft_jobs_progress(jobs, &behind).state == WEFT_JOB_RUNNING,
           "a job that nobody asked for");
    ask(&heavy, jobs, WEFT_LANE_HEAVY, NULL, NULL);
    tap_ok(wait_for(&heavy) == WEFT_JOB_RAN, "a question goes first");
    until(&n_heavy, 2);
    tap_ok(behind.n_runs == 2, "what was interrupted begins anew");

    n_running = 0;
    ask(&some[0], jobs, WEFT_LANE_QUICK, &n_running, &never);
    ask(&some[1], jobs, WEFT_LANE_QUICK, &n_running, &never);
    until(&n_running, 2);
    ask(&some[2], jobs, WEFT_LANE_QUICK, NULL, NULL);
    usleep(20000);
    weft_jobs_stop(jobs);
    tap_ok(wait_for(&some[0]) == WEFT_JOB_RAN && some[0].work.was_cancelled &&
               wait_for(&some[1]) == WEFT_JOB_RAN && some[1].work.was_cancelled &&
               wait_for(&some[2]) == WEFT_JOB_REFUSED,
           "the end cancels what runs, and refuses what waits");
    ask(&heavy, jobs, WEFT_LANE_HEAVY, NULL, NULL);
    tap_ok(wait_for(&heavy) == WEFT_JOB_REFUSED, "and what comes later");
    weft_jobs_free(jobs);
    weft_pool_free(run.pool);
}

/* ---- columns --------------------------------------------------------------------------------- */

struct sample {
    uint64_t wide;
    uint32_t narrow;
    bool flag;
};

static void test_columns(void)
{
#define ROW struct sample
    static const struct weft_field fields[] = {
        WEFT_COLUMN("a", F64, wide),   WEFT_COLUMN("b", U32, wide), WEFT_COLUMN("c", U16, narrow),
        WEFT_COLUMN("d", I32, narrow), WEFT_COLUMN("e", U8, flag),
    };
    static const struct weft_table_type type = WEFT_TABLE_TYPE("t", "a test", fields, ROW);
#undef ROW
    const struct sample rows[] = { { UINT64_MAX, UINT32_MAX, true },
                                   { 3, 70000, false },
                                   { 0, 7, true } };
    const struct weft_columns_table table = { "t", &type, rows, 3, NULL };
    struct weft_output *out = NULL;
    if (weft_output_to_memory(&out, NULL) != WEFT_OK)
        abort();
    weft_columns_write(&table, 1, NULL, NULL, out);
    const struct weft_str held = weft_output_held(out);
    uint32_t magic = 0, n_header = 0, words[3], u32[3];
    int32_t i32[3];
    uint16_t u16[3];
    double f64[3];
    memcpy(&magic, held.bytes, 4);
    memcpy(&n_header, held.bytes + 4, 4);
    const char *data = held.bytes + 8 + n_header;
    memcpy(f64, data, 24);
    memcpy(u32, data + 24, 12);
    memcpy(u16, data + 40, 6);
    memcpy(i32, data + 48, 12);
    memcpy(words, data + 64, 3);
    tap_ok(magic == WEFT_COLUMNS_MAGIC && n_header % 8 == 0 &&
               held.n_bytes == 8 + n_header + weft_columns_bytes(&table) &&
               weft_columns_bytes(&table) == 72,
           "lengths");
    tap_ok(f64[1] > 2.9 && f64[1] < 3.1 && f64[0] > 1.8e19 && u32[0] == UINT32_MAX && u32[1] == 3 &&
               u16[0] == UINT16_MAX && u16[1] == UINT16_MAX && u16[2] == 7 && i32[0] == -1 &&
               i32[2] == 7 && data[64] == 1 && data[65] == 0 && data[66] == 1 && data[67] == 0,
           "values");
    weft_output_abort(out);
}

/* ---- colours --------------------------------------------------------------------------------- */

static void test_colors(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        { "", "{\"functions\":{}}\n" },
        { "# nothing\n\n \t\n", "{\"functions\":{}}\n" },
        { "a b(c, d) , #A0b1C2\r\n", "{\"functions\":{\"a b(c, d)\":\"#A0b1C2\"}}\n" },
        { "a #A0b1C2ff", "{\"functions\":{\"a\":\"#A0b1C2ff\"}}\n" },
        { " {\"f\": \"#000000\"}", "{\"functions\":{\"f\":\"#000000\"}}\n" },
        { "{\"x\": 1, \"functions\": {\"\\u0066\": \"#000000\"}}",
          "{\"functions\":{\"f\":\"#000000\"}}\n" },
        { "a #12345", NULL },
        { "#123456", "{\"functions\":{}}\n" },
        { "a 123456", NULL },
        { "a #12345g", NULL },
        { "{\"f\": \"red\"}", NULL },
        { "{\"f\": 1}", NULL },
        { "{\"f\": \"#000000\"", NULL },
    };
    char path[512];
    snprintf(path, sizeof path, "%s/colors.%d", folder(), (int)getpid());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct weft_output *out = NULL;
        FILE *file = fopen(path, "w");
        if (!file || weft_output_to_memory(&out, NULL) != WEFT_OK)
            abort();
        fputs(rows[i].text, file);
        fclose(file);
        enum weft_code code = weft_colors_read(path, out, NULL);
        tap_ok(rows[i].want ? code == WEFT_OK &&
                                  weft_str_equal(weft_output_held(out), weft_str_of(rows[i].want))
                            : code == WEFT_E_MALFORMED,
               "colours %zu", i);
        weft_output_abort(out);
    }
    (void)unlink(path);
}

int main(void)
{
    test_split();
    test_query();
    test_token();
    test_jobs();
    test_columns();
    test_colors();
    return tap_done();
}
