/* SPDX-License-Identifier: MIT
 *
 * weft interval: a window by times, or by one call; contexts are listed for few threads, or on
 * request.
 */
#include "cli/ask.h"

struct options {
    const char *from, *to, *during;
    uint64_t limit;
    bool contexts;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
    { 0, "during", "TID:FUNCTION:N",
      "the interval of the N-th longest call of FUNCTION on thread TID (default: the longest)",
      WEFT_OPTION_TEXT, MEMBER(during), NULL },
    { 0, "contexts", NULL, "the calls of every thread too (default: of up to 4 threads)",
      WEFT_OPTION_FLAG, MEMBER(contexts), NULL },
    { 'n', "limit", "N", "contexts a thread, at most; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 20, FEW_THREADS = 4 };

struct span {
    const struct options *opts;
    struct weft_found_call during;
};

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    struct span *span = context;
    const struct options *opts = span->opts;
    struct weft_interval_opts *interval = &request->interval;
    if (!opts->during)
        return weft_cli_window(cli, opts->from, opts->to, &interval->from_ns, &interval->to_ns);
    enum weft_code code =
        weft_session_find_call(cli->session, opts->during, &span->during, &cli->err);
    interval->from_ns = span->during.start_ns;
    interval->to_ns = span->during.end_ns;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct span *span = context;
    const struct options *opts = span->opts;
    struct weft_interval_view how = {
        .during = opts->during ? &span->during : NULL,
        .with_contexts = opts->contexts || result->interval->n_threads <= FEW_THREADS,
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
    };
    weft_render_interval(view, result->interval, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    struct span span = { .opts = &opts };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.during && (opts.from || opts.to))
        return weft_cli_usage(cli, "--during and --from/--to exclude each other");
    const struct weft_question question = {
        .analysis = "interval", .context = &span, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_interval = {
    .name = "interval",
    .summary = "time of each thread in a time range, by function",
    .arguments = "TRACE",
    .about =
        "Exact for any interval, and as fast for a long one as for a short one: the file contains\n"
        "partial sums. Calls are cut at the range boundaries. 'outside calls' is time between the\n"
        "first and the last event of a thread in which it was in no recorded function.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
