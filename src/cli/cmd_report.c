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
};

/* The file's name without its folder. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Without them the page has what it had before. That there is nothing to look at is no mistake of
 * the user, who asked for a page. */
static enum weft_code ask_findings(struct weft_cli *cli, struct results *results)
{
    const char *name = cli->common.with_paths ? cli->inputs[0] : base_name(cli->inputs[0]);
    struct weft_missing *missing = &results->overview.missing;
    enum weft_code code = weft_report_findings(cli, name, &results->answers, missing);
    if (code != WEFT_OK)
        weft_page_answers_fini(&results->answers);
    if (code == WEFT_E_ARG)
        code = cli->err.code = WEFT_E_UNSUPPORTED;
    return weft_missing_add(missing, "findings", code, &cli->err) ? WEFT_OK : code;
}

static enum weft_code ask(struct weft_cli *cli, const struct options *opts, struct results *results)
{
    union weft_request shapes;
    weft_overview_shapes(&shapes.shapes);
    WEFT_TRY(weft_overview_run(cli->session, &results->settings, &results->overview, &cli->err));
    if (!opts->without_findings)
        WEFT_TRY(ask_findings(cli, results));
    enum weft_code code =
        weft_query_run(cli->session, "shapes", &shapes, &results->shapes, &cli->err);
    return weft_missing_add(&results->overview.missing, "shapes", code, &cli->err) ? WEFT_OK : code;
}

/* Also without a word otherwise: a page that lacks something must not pass for a whole one. */
static void tell_missing(const struct weft_missing *missing)
{
    char reason[640];
    for (size_t i = 0; i < missing->n; i++) {
        weft_err_print(&missing->parts[i].reason, reason, sizeof reason);
        weft_say("weft: the page has no %s: %s\n", missing->parts[i].name, reason);
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
    const struct weft_regtime_view how = { .preset = weft_regtime_presets[opts->regtime.preset],
                                           .settings = &results->settings };
    struct weft_page page = {
        .trace = weft_session_trace(cli->session),
        .name = opts->title ? opts->title : base_name(cli->inputs[0]),
        .functions = results->overview.functions,
        .regtime = results->overview.regtime,
        .activity = results->overview.activity,
        .outliers = results->overview.outliers,
        .shapes = results->shapes.shapes,
        .answers = &results->answers,
        .settings = &how,
        .missing = &results->overview.missing,
        .pool = weft_session_run(cli->session)->pool,
    };
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
