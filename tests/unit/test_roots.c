/* SPDX-License-Identifier: MIT
 *
 * The analysis roots, as front ends ask for it: rows, window, order, limit.
 */
#include "analysis/roots/roots.h"
#include "query/session.h"
#include "text_trace.h"

#include <stdlib.h>
#include <unistd.h>

/* Thread 0 calls function 0, below it 1, then 2; thread 1 calls
 * function 1 three times. */
static const char events[] = "1 0 enter 0 0\n"
                             "2 0 enter 0 1\n"
                             "4 0 exit 0 1\n"
                             "11 0 exit 0 0\n"
                             "12 0 enter 1 1\n"
                             "13 0 exit 1 1\n"
                             "14 0 enter 1 1\n"
                             "15 0 exit 1 1\n"
                             "16 0 enter 1 1\n"
                             "17 0 exit 1 1\n"
                             "20 0 enter 0 2\n"
                             "25 0 exit 0 2\n";

static struct weft_list_table *ask(struct weft_session *session, struct weft_list_request list)
{
    const union weft_request request = { .list = list };
    union weft_result result = { 0 };
    struct weft_err err = { 0 };
    tap_ok(weft_query_run(session, "roots", &request, &result, &err) == WEFT_OK, "it answers");
    return result.list;
}

static void test_rows(struct weft_session *session)
{
    struct weft_list_table *list = ask(session, (struct weft_list_request){ .to_ns = 100 });
    const struct weft_root_row *rows = list->rows;
    tap_ok(list->n_rows == 2 && rows[0].thread_id == 0 && rows[0].count == 2 && rows[0].open == 0,
           "calls without a caller, on each thread");
    tap_ok(rows[0].sum_ns == 15 && rows[0].longest_ns == 10 && rows[0].longest_at_ns == 1,
           "their time, and the longest");
    tap_ok(rows[1].count == 3 && rows[1].sum_ns == 3, "most time first");
    weft_result_free(list);
}

static void test_window(struct weft_session *session)
{
    struct weft_list_table *list =
        ask(session, (struct weft_list_request){ .from_ns = 5, .to_ns = 14 });
    const struct weft_root_row *rows = list->rows;
    tap_ok(list->n_rows == 2 && rows[0].open == 1 && rows[0].count == 0 && rows[0].sum_ns == 6,
           "what is open at the start of the window counts with its time inside");
    tap_ok(rows[0].longest_ns == 6 && rows[0].longest_at_ns == 5, "and may be the longest");
    weft_result_free(list);
}

static void test_order(struct weft_session *session)
{
    struct weft_list_table *list =
        ask(session, (struct weft_list_request){ .to_ns = 100, .sort = "count", .limit = 1 });
    tap_ok(list->n_rows == 1 && list->n_found == 2 &&
               ((const struct weft_root_row *)list->rows)->thread_id == 1,
           "sorted by a column, and cut to the limit");
    weft_result_free(list);
    const union weft_request request = { .list = { .to_ns = 100, .sort = "none" } };
    union weft_result result;
    struct weft_err err = { 0 };
    tap_ok(weft_query_run(session, "roots", &request, &result, &err) == WEFT_E_ARG,
           "a column that does not exist is refused");
}

int main(void)
{
    static const struct text_thread threads[] = { { .tid = TOLD_PROCESS },
                                                  { .tid = TOLD_PROCESS + 1 } };
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_session *session = NULL;
    const struct weft_run run = { .pool = weft_pool_new(2) };
    (void)snprintf(path, sizeof path, "%s/test_roots.%d.weft", root ? root : ".", (int)getpid());
    if (text_trace_write(path, threads, 2, events) != WEFT_OK ||
        weft_session_open(path, &run, &session, NULL) != WEFT_OK)
        abort();
    test_rows(session);
    test_window(session);
    test_order(session);
    weft_session_close(session);
    weft_pool_free(run.pool);
    (void)unlink(path);
    return tap_done();
}
