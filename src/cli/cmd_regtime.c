/* SPDX-License-Identifier: MIT
 *
 * weft regtime: thresholds (regtime_options.c) and a window; text lists threads or segments, JSON
 * has both.
 */
#include "cli/ask.h"
#include "cli/regtime_options.h"

struct options {
    struct weft_regtime_options regtime;
    const char *from, *to;
    bool threads, segments;
};

static const struct weft_option options[] = {
    WEFT_REGTIME_OPTIONS(struct options, regtime),
    { 0, "from", "TIME", "only from TIME on, such as 1.5s; thresholds are of that part",
      WEFT_OPTION_TEXT, offsetof(struct options, from), NULL },
    { 0, "to", "TIME", "only before TIME", WEFT_OPTION_TEXT, offsetof(struct options, to), NULL },
    { 0, "threads", NULL, "one row a thread (default)", WEFT_OPTION_FLAG,
      offsetof(struct options, threads), NULL },
    { 0, "segments", NULL, "every row of every thread (JSON always has them)", WEFT_OPTION_FLAG,
      offsetof(struct options, segments), NULL },
};

struct compression {
    const struct options *opts;
    struct weft_regtime_opts settings;
    struct weft_window window;
};

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    struct compression *compression = context;
    const struct options *opts = compression->opts;
    enum weft_code code = WEFT_OK;
    if (opts->from || opts->to) {
        code = weft_cli_window(cli, opts->from, opts->to, &compression->window.from_ns,
                               &compression->window.to_ns);
        compression->settings.window = &compression->window;
    }
    request->regtime = compression->settings;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct compression *compression = context;
    const struct weft_regtime_view how = {
        .preset = weft_regtime_presets[compression->opts->regtime.preset],
        .settings = &compression->settings,
        .window = compression->settings.window,
        .with_segments = compression->opts->segments,
    };
    weft_render_regtime(view, result->regtime, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .regtime.glyphs = WEFT_GLYPHS_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.threads && opts.segments)
        return weft_cli_usage(cli, "--threads and --segments exclude each other");
    struct compression compression = { .opts = &opts,
                                       .settings = weft_regtime_settings(&opts.regtime) };
    const struct weft_question question = {
        .analysis = "regtime", .context = &compression, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_regtime = {
    .name = "regtime",
    .summary = "compress each thread to a few rows; unusual calls keep their own",
    .arguments = "TRACE",
    .about =
        "Long calls and long gaps keep exact rows. Runs of short calls between them become one "
        "row\n"
        "with a calling context tree (RegTime calls it an expression). What is aggregated to meet "
        "the\n"
        "row budget is printed. A threshold is a share of the thread's time (1%) or a time (5ms).",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
