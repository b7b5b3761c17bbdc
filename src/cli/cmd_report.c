/* SPDX-License-Identifier: MIT
 *
 * weft report: the findings with what they rest on, query/overview.h and shapes, written as one
 * page (render/page). Parts that failed are named on standard error, also with --quiet, so that an
 * incomplete page is never taken for a complete one.
 */
#include "cli/cli.h"
#include "cli/regtime_options.h"
#include "cli/report_findings.h"
#include "query/overview.h"
#include "render/human.h"
#include "render/page/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct options {
    struct weft_regtime_options regtime;
    const char *title;
    bool without_findings;
};

static const struct weft_option options[] = {
    { 0, "title", "TEXT", "title of the page (default: the name of the trace)", WEFT_OPTION_TEXT,
      offsetof(struct options, title), NULL },
    { 0, "without-findings", NULL, "omit the findings, which take as long as weft diagnose",
      WEFT_OPTION_FLAG, offsetof(struct options, without_findings), NULL },
    WEFT_REGTIME_OPTIONS(struct options, regtime),
};

/* The results that a page holds. */
struct results {
    struct weft_regtime_opts settings;
    struct weft_overview overview;
    union weft_result shapes;
    struct weft_page_answers answers;
    struct weft_regtime_view how;
};

/* Of a thread, and of a page, however large the rest is. */
enum { LEAST_ROWS = 16, LEAST_THREADS = 200 };

/* The file's name without its folder. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without them the page has what it had before. That there is nothing to look at is no mistake of
 * the user, who asked for a page. */
static enum weft_code ask_findings(struct weft_cli *cli, struct weft_page_answers *answers,
                                   struct weft_missing *missing)
{
    const char *name = cli->common.with_paths ? cli->inputs[0] : base_name(cli->inputs[0]);
    enum weft_code code = weft_report_findings(cli, name, answers, missing);
    if (code != WEFT_OK)
        weft_page_answers_fini(answers);
    if (code == WEFT_E_ARG)
        code = cli->err.code = WEFT_E_UNSUPPORTED;
    return weft_missing_add(missing, WEFT_MISSING_FINDINGS, code, &cli->err) ? WEFT_OK : code;
}

/* Rows a thread, if the user did not choose, and threads: what calls over time are cut to. */
struct room {
    struct weft_regtime_opts *settings;
    uint32_t most_rows;
    size_t n_threads, n_omitted;
    bool is_given; /* the user wants as many rows */
};

static enum weft_code keep_threads(struct weft_cli *cli, struct room *room)
{
    size_t n_omitted = 0;
    const enum weft_code code =
        weft_session_keep_busiest(cli->session, room->n_threads, &n_omitted, &cli->err);
    room->n_omitted += n_omitted;
    room->n_threads = weft_session_n_kept(cli->session);
    const size_t n_rows = room->n_threads > 0 ? WEFT_PAGE_ROWS / room->n_threads : 0;
    if (!room->is_given && n_rows > 0 && n_rows < room->settings->glyphs)
        room->settings->glyphs = (uint32_t)n_rows;
    return code;
}

/* Fewer rows of each thread, and then fewer threads, in few steps. False: there is nothing left to
 * be cut. */
static bool cut(struct room *room, uint64_t n_bytes)
{
    /* Rows are mostly two fifths of a page that is too large, or more. */
    const double over = 2.5 * (double)(n_bytes - WEFT_PAGE_BYTES) / WEFT_PAGE_BYTES;
    const double part = over < 0.4 ? 0.6 : over < 0.6 ? 1 - over : 0.4;
    uint32_t *rows = &room->settings->glyphs;
    if (!room->is_given && *rows > LEAST_ROWS) {
        *rows = (uint32_t)(*rows * part);
        *rows = *rows > LEAST_ROWS ? *rows : LEAST_ROWS;
        return true;
    }
    if (room->n_threads <= LEAST_THREADS)
        return false;
    room->n_threads = (size_t)((double)room->n_threads * part);
    room->n_threads = room->n_threads > LEAST_THREADS ? room->n_threads : LEAST_THREADS;
    return true;
}

static struct weft_page page_of(struct weft_cli *cli, const struct options *opts,
                                struct results *results)
{
    results->how = (struct weft_regtime_view){ .preset = weft_regtime_presets[opts->regtime.preset],
                                               .settings = &results->settings };
    return (struct weft_page){
        .trace = weft_session_trace(cli->session),
        .name = opts->title ? opts->title : base_name(cli->inputs[0]),
        .functions = results->overview.functions,
        .regtime = results->overview.regtime,
        .activity = results->overview.activity,
        .outliers = results->overview.outliers,
        .shapes = results->shapes.shapes,
        .answers = &results->answers,
        .settings = &results->how,
        .missing = &results->overview.missing,
        .pool = weft_session_run(cli->session)->pool,
    };
}

/* Rows that were cut for nothing come back: something else is too large. */
static bool restore(struct room *room)
{
    const bool has_any = room->settings->glyphs < room->most_rows && room->n_omitted == 0;
    if (has_any)
        room->settings->glyphs = room->most_rows;
    return has_any;
}

static void miss_rows(const struct room *room, struct weft_missing *missing)
{
    struct weft_err why = { 0 };
    if (room->settings->glyphs >= room->most_rows)
        return;
    const enum weft_code code =
        weft_fail(&why, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                  "a page has room for %" PRIu32 " rows of each thread, instead of %" PRIu32
                  " (--glyphs gives more)",
                  room->settings->glyphs, room->most_rows);
    (void)weft_missing_add(missing, WEFT_MISSING_SOME_ROWS, code, &why);
}

static void miss_threads(const struct room *room, struct weft_missing *missing)
{
    struct weft_err why = { 0 };
    if (room->n_omitted == 0)
        return;
    const enum weft_code code =
        weft_fail(&why, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                  "a page has room for %s, those of most calls and events; %s omitted (--tid "
                  "selects others)",
                  weft_human_plural(room->n_threads, "thread").text,
                  weft_human_plural(room->n_omitted, "thread").text);
    (void)weft_missing_add(missing, WEFT_MISSING_SOME_THREADS, code, &why);
}

/* Calls over time, and the bytes of a page with them that holds as little else as it may. */
static enum weft_code measure(struct weft_cli *cli, const struct options *opts,
                              struct results *results, uint64_t *n_bytes)
{
    weft_overview_fini(&results->overview);
    WEFT_TRY(weft_overview_run(cli->session, &results->settings, &results->overview, &cli->err));
    const struct weft_page page = page_of(cli, opts, results);
    return weft_page_least_bytes(&page, n_bytes, &cli->err);
}

/* Calls over time, as many as a page has room for beside the findings. */
static enum weft_code ask_overview(struct weft_cli *cli, const struct options *opts,
                                   struct results *results)
{
    struct room room = { .settings = &results->settings,
                         .n_threads = WEFT_PAGE_THREADS,
                         .is_given = opts->regtime.glyphs != WEFT_GLYPHS_DEFAULT };
    uint64_t n_bytes;
    WEFT_TRY(keep_threads(cli, &room));
    room.most_rows = results->settings.glyphs;
    WEFT_TRY(measure(cli, opts, results, &n_bytes));
    while (n_bytes > WEFT_PAGE_BYTES && cut(&room, n_bytes)) {
        WEFT_TRY(keep_threads(cli, &room));
        WEFT_TRY(measure(cli, opts, results, &n_bytes));
    }
    if (n_bytes > WEFT_PAGE_BYTES && restore(&room))
        WEFT_TRY(measure(cli, opts, results, &n_bytes));
    miss_rows(&room, &results->overview.missing);
    miss_threads(&room, &results->overview.missing);
    return WEFT_OK;
}

static enum weft_code ask(struct weft_cli *cli, const struct options *opts, struct results *results)
{
    union weft_request shapes;
    struct weft_missing of_findings = { .n = 0 }, *missing = &results->overview.missing;
    weft_overview_shapes(&shapes.shapes);
    if (!opts->without_findings)
        WEFT_TRY(ask_findings(cli, &results->answers, &of_findings));
    WEFT_TRY(ask_overview(cli, opts, results));
    for (size_t i = 0; i < of_findings.n; i++)
        (void)weft_missing_add(missing, of_findings.parts[i].kind, of_findings.parts[i].reason.code,
                               &of_findings.parts[i].reason);
    enum weft_code code =
        weft_query_run(cli->session, "shapes", &shapes, &results->shapes, &cli->err);
    return weft_missing_add(missing, WEFT_MISSING_SHAPES, code, &cli->err) ? WEFT_OK : code;
}

/* Also without a word otherwise: a page that lacks something must not pass for a whole one. */
static void tell_missing(const struct weft_missing *missing)
{
    char reason[640];
    for (size_t i = 0; i < missing->n; i++) {
        weft_err_print(&missing->parts[i].reason, reason, sizeof reason);
        weft_say("weft: the page is without %s: %s\n", weft_missing_name(missing->parts[i].kind),
                 reason);
    }
}

static void tell_written(const struct weft_cli *cli, uint64_t n_bytes, uint32_t n_left_out)
{
    weft_say("weft: wrote %s, %s", cli->common.output, weft_human_bytes(n_bytes).text);
    if (n_left_out > 0)
        weft_say("; %s of other processes omitted (--all-processes)",
                 weft_human_plural(n_left_out, "thread").text);
    weft_say("\n");
}

static enum weft_code write_page(struct weft_cli *cli, const struct options *opts,
                                 struct results *results)
{
    struct weft_view view;
    const struct weft_page page = page_of(cli, opts, results);
    WEFT_TRY(weft_cli_view(cli, &view));
    enum weft_code code = weft_page_write(&page, view.out, &cli->err);
    if (code != WEFT_OK) {
        weft_output_abort(view.out);
        return code;
    }
    uint64_t n_bytes = weft_output_offset(view.out);
    code = weft_output_close(view.out, &cli->err);
    if (code == WEFT_OK)
        tell_missing(page.missing);
    if (code == WEFT_OK && !cli->common.quiet)
        tell_written(cli, n_bytes, view.n_left_out);
    return code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .regtime.glyphs = WEFT_GLYPHS_DEFAULT };
    struct results results = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (!cli->common.output)
        return weft_cli_usage(cli, "expected -o PAGE.html (-o - is standard output)");
    results.settings = weft_regtime_settings(&opts.regtime);
    enum weft_code code = weft_page_check(&cli->err);
    WEFT_THEN(code, weft_cli_open(cli));
    WEFT_THEN(code, ask(cli, &opts, &results));
    WEFT_THEN(code, write_page(cli, &opts, &results));
    weft_page_answers_fini(&results.answers);
    weft_overview_fini(&results.overview);
    weft_result_free(results.shapes.shapes);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_report = {
    .name = "report",
    .summary = "write one self-contained HTML page",
    .arguments = "TRACE -o PAGE.html",
    .about =
        "The page works offline, from a file. It opens on what made the program slow, as weft\n"
        "diagnose has it, with the critical paths and the comparison that say so; then threads\n"
        "over time, outliers, functions, and the call patterns of the program.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_PATHS | WEFT_COMMON_OUTPUT | WEFT_COMMON_TID | WEFT_COMMON_WORK |
              WEFT_COMMON_TALK | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
