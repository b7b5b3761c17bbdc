/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "cli/regtime_options.h"

struct options {
    struct weft_regtime_options regtime;
    const char *from, *to;
    bool threads, segments;
};

static const struct weft_option options[] = {
    WEFT_REGTIME_OPTIONS(struct options, regtime),
    { 0, "from", "TIME",
      "of the trace from TIME on alone, such as 1.5s; thresholds are of that part",
      WEFT_OPTION_TEXT, offsetof(struct options, from), NULL },
    { 0, "to", "TIME", "of the trace before TIME alone", WEFT_OPTION_TEXT,
      offsetof(struct options, to), NULL },
    { 0, "threads", NULL, "one row a thread (default)", WEFT_OPTION_FLAG,
      offsetof(struct options, threads), NULL },
    { 0, "segments", NULL, "every row of every thread (JSON always has them)", WEFT_OPTION_FLAG,
      offsetof(struct options, segments), NULL },
};

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .regtime.glyphs = WEFT_GLYPHS_DEFAULT };
    union weft_result result = { 0 };
    struct weft_view view;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.threads && opts.segments)
        return weft_cli_usage(cli, "--threads and --segments exclude each other");
    union weft_request request = { .regtime = weft_regtime_settings(&opts.regtime) };
    struct weft_regtime_view how = { .preset = weft_regtime_presets[opts.regtime.preset],
                                     .settings = &request.regtime,
                                     .with_segments = opts.segments };
    struct weft_window window;
    enum weft_code code = weft_cli_open(cli);
    if (code == WEFT_OK && (opts.from || opts.to)) {
        code = weft_cli_window(cli, opts.from, opts.to, &window.from_ns, &window.to_ns);
        request.regtime.window = how.window = &window;
    }
    if (code == WEFT_OK)
        code = weft_query_run(cli->session, "regtime", &request, &result, &cli->err);
    if (code == WEFT_OK)
        code = weft_cli_view(cli, &view);
    if (code == WEFT_OK) {
        weft_render_regtime(&view, result.regtime, &how);
        code = weft_output_close(view.out, &cli->err);
    }
    weft_regtime_table_free(result.regtime);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_regtime = {
    .name = "regtime",
    .summary = "compress each thread to a few rows that keep what is unusual",
    .arguments = "TRACE",
    .about =
        "Long calls and long gaps keep their rows, exact; runs of short calls between them become\n"
        "expressions, whose calling context tree counts every call. What the row budget folds is\n"
        "printed. A threshold is a share of the thread's time (1%) or a time (5ms).",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
