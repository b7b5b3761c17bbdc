/* SPDX-License-Identifier: MIT
 *
 * The data of the report page with every allocation failing in turn (the linker wraps malloc,
 * calloc and realloc): an error, no leak, no crash, and never a page that lacks something. And each
 * part of it failing in turn: the page is there, with the others, and says what it lacks and why.
 */
#include "analysis/regtime/regtime.h"
#include "failing_alloc.h"
#include "query/overview.h"
#include "query/session.h"
#include "render/page/page.h"
#include "small_session.h"
#include "tap.h"

enum { MOST_FAILURES = 100000 };

/* WEFT_OK, the bytes and their sum; or why not. */
static enum weft_code write_once(const struct weft_page *page, bool is_all, uint64_t *n_bytes,
                                 uint64_t *sum)
{
    struct weft_output *out;
    enum weft_code code = weft_output_to_memory(&out, NULL);
    if (code != WEFT_OK)
        return code;
    code = is_all ? weft_page_data(page, out, NULL) : weft_page_shapes_data(page, out, NULL);
    const struct weft_str held = weft_output_held(out);
    *n_bytes = held.n_bytes;
    *sum = 0;
    for (size_t i = 0; i < held.n_bytes; i++)
        *sum = *sum * 31 + (uint8_t)held.bytes[i];
    const enum weft_code out_code = weft_output_close(out, NULL);
    return code != WEFT_OK ? code : out_code;
}

/* Lets the first allocation fail, then the second, and so on until the work is done without. */
static void fail_all(const struct weft_page *page, bool is_all, const char *name)
{
    uint64_t n_want = 0, want = 0;
    int n_failures = 0;
    bool is_good = write_once(page, is_all, &n_want, &want) == WEFT_OK;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        uint64_t n_bytes = 0, sum = 0;
        n_until_failure = n_failures;
        const enum weft_code code = write_once(page, is_all, &n_bytes, &sum);
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        is_good =
            code == WEFT_OK ? n_bytes == n_want && sum == want : has_failed && code == WEFT_E_NOMEM;
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
        if (!has_failed)
            break;
    }
    tap_ok(is_good && n_failures > 0, "%s: %d failed allocations, %" PRIu64 " bytes", name,
           n_failures, n_want);
}

static void test_pages(struct weft_session *session)
{
    struct weft_regtime_opts settings = { 0 };
    const struct weft_regtime_view how = { .preset = "paper", .settings = &settings };
    struct weft_overview overview = { 0 };
    union weft_request request;
    union weft_result result = { 0 };
    (void)weft_regtime_preset("paper", &settings);
    weft_overview_shapes(&request.shapes);
    if (tap_ok(weft_overview_run(session, &settings, &overview, NULL) == WEFT_OK &&
                   weft_query_run(session, "shapes", &request, &result, NULL) == WEFT_OK,
               "a page's tables")) {
        struct weft_page page = { .trace = weft_session_trace(session),
                                  .name = "small",
                                  .functions = overview.functions,
                                  .regtime = overview.regtime,
                                  .activity = overview.activity,
                                  .outliers = overview.outliers,
                                  .shapes = result.shapes,
                                  .settings = &how };
        fail_all(&page, true, "the whole");
        fail_all(&page, false, "shapes");
        page.shapes_bytes = 100; /* no level fits: all are tried */
        fail_all(&page, false, "as few shapes as there can be");
    }
    weft_result_free(result.shapes);
    weft_overview_fini(&overview);
}

/* The page of what there is, with allocation n failing while its parts are made. */
static enum weft_code make_parts(struct weft_session *session, int n, struct weft_missing *missing,
                                 struct weft_output *out)
{
    struct weft_regtime_opts settings = { 0 };
    const struct weft_regtime_view how = { .preset = "paper", .settings = &settings };
    struct weft_overview overview;
    union weft_request request;
    union weft_result result = { 0 };
    struct weft_err err = { 0 };
    (void)weft_regtime_preset("paper", &settings);
    weft_overview_shapes(&request.shapes);
    n_until_failure = n;
    enum weft_code code = weft_overview_run(session, &settings, &overview, &err);
    const enum weft_code shapes_code =
        code == WEFT_OK ? weft_query_run(session, "shapes", &request, &result, &err) : WEFT_OK;
    const bool has_failed = n_until_failure < 0;
    n_until_failure = -1;
    if (shapes_code != WEFT_OK &&
        !weft_missing_add(&overview.missing, WEFT_MISSING_SHAPES, shapes_code, &err))
        code = shapes_code;
    const struct weft_page page = { .trace = weft_session_trace(session),
                                    .name = "small",
                                    .functions = overview.functions,
                                    .regtime = overview.regtime,
                                    .activity = overview.activity,
                                    .outliers = overview.outliers,
                                    .shapes = result.shapes,
                                    .settings = &how,
                                    .missing = &overview.missing };
    if (code == WEFT_OK)
        code = weft_page_data(&page, out, &err);
    *missing = overview.missing;
    weft_result_free(result.shapes);
    weft_overview_fini(&overview);
    return code == WEFT_OK && !has_failed ? WEFT_E_CANCELLED : code; /* all have had their turn */
}

static bool is_said(struct weft_str page, const struct weft_missing *missing)
{
    char text[160];
    for (size_t i = 0; i < missing->n; i++) {
        (void)snprintf(text, sizeof text,
                       "\"detail\":\"%s: ", weft_missing_name(missing->parts[i].kind));
        if (!memmem(page.bytes, page.n_bytes, text, strlen(text)))
            return false;
    }
    return page.n_bytes > 0 && page.bytes[page.n_bytes - 1] == '}';
}

static void test_parts(const char *path, const struct weft_run *run)
{
    const unsigned all = 1U << WEFT_MISSING_FUNCTIONS | 1U << WEFT_MISSING_CALLS |
                         1U << WEFT_MISSING_PAUSES | 1U << WEFT_MISSING_OUTLIERS |
                         1U << WEFT_MISSING_SHAPES;
    unsigned seen = 0;
    int n = 0;
    bool is_good = true;
    enum weft_code code = WEFT_OK;
    for (; n < MOST_FAILURES && is_good && code == WEFT_OK; n += 3) {
        struct weft_missing missing;
        struct weft_output *out;
        struct weft_session *session;
        if (weft_session_open(path, run, &session, NULL) != WEFT_OK ||
            weft_output_to_memory(&out, NULL) != WEFT_OK)
            abort();
        code = make_parts(session, n, &missing, out);
        is_good = (code == WEFT_OK || code == WEFT_E_CANCELLED) && missing.n <= 1 &&
                  is_said(weft_output_held(out), &missing);
        for (size_t i = 0; i < missing.n; i++)
            seen |= 1U << missing.parts[i].kind;
        if (!is_good)
            tap_note("allocation %d: %s, %zu missing", n, weft_code_name(code), missing.n);
        weft_output_abort(out);
        weft_session_close(session);
    }
    tap_ok(is_good && code == WEFT_E_CANCELLED, "a part that fails is left out, and said: %d times",
           n / 3);
    tap_eq_u64(seen, all, "each part in its turn");
}

int main(void)
{
    char path[512];
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct weft_session *session = small_trace_open("test_page_memory", &run, path, sizeof path);
    test_pages(session);
    weft_session_close(session);
    test_parts(path, &run);
    weft_pool_free(run.pool);
    (void)remove(path);
    return tap_done();
}
