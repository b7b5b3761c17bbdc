/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct options {
    const char *from, *to, *during;
    uint64_t limit;
    bool contexts;
};

#define MEMBER(member) offsetof(struct options, member)
#define NO_LIMIT_GIVEN UINT64_MAX

static const struct weft_option options[] = {
    { 0, "from", "TIME", "where the interval begins, such as 1.5s or @123456789 (default: start)",
      WEFT_OPTION_TEXT, MEMBER(from), NULL },
    { 0, "to", "TIME", "where it ends (default: end)", WEFT_OPTION_TEXT, MEMBER(to), NULL },
    { 0, "during", "TID:FUNCTION:N",
      "the interval of the N-th longest call of FUNCTION on thread TID (default: the longest)",
      WEFT_OPTION_TEXT, MEMBER(during), NULL },
    { 0, "contexts", NULL, "the calls of every thread too (default: of up to 4 threads)",
      WEFT_OPTION_FLAG, MEMBER(contexts), NULL },
    { 'n', "limit", "N", "contexts a thread, at most; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 20, FEW_THREADS = 4 };

static enum weft_code choose(struct weft_cli *cli, const struct options *opts,
                             struct weft_interval_opts *interval, struct weft_found_call *during)
{
    if (!opts->during)
        return weft_cli_window(cli, opts->from, opts->to, &interval->from_ns, &interval->to_ns);
    enum weft_code code = weft_session_find_call(cli->session, opts->during, during, &cli->err);
    interval->from_ns = during->start_ns;
    interval->to_ns = during->end_ns;
    return code;
}

static enum weft_code show(struct weft_cli *cli, const struct options *opts,
                           const struct weft_interval_table *table,
                           const struct weft_found_call *during)
{
    struct weft_view view;
    enum weft_code code = weft_cli_view(cli, &view);
    if (code != WEFT_OK)
        return code;
    struct weft_interval_view how = {
        .during = opts->during ? during : NULL,
        .with_contexts = opts->contexts || table->n_threads <= FEW_THREADS,
        .limit = opts->limit,
    };
    if (opts->limit == NO_LIMIT_GIVEN)
        how.limit = view.format == WEFT_FORMAT_TEXT ? TEXT_LIMIT : 0;
    weft_render_interval(&view, table, &how);
    return weft_output_close(view.out, &cli->err);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = NO_LIMIT_GIVEN };
    union weft_request request = { 0 };
    union weft_result result = { 0 };
    struct weft_found_call during = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.during && (opts.from || opts.to))
        return weft_cli_usage(cli, "--during and --from/--to exclude each other");
    enum weft_code code = weft_cli_open(cli);
    if (code == WEFT_OK)
        code = choose(cli, &opts, &request.interval, &during);
    if (code == WEFT_OK)
        code = weft_query_run(cli->session, "interval", &request, &result, &cli->err);
    if (code == WEFT_OK)
        code = show(cli, &opts, result.interval, &during);
    weft_interval_table_free(result.interval);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_interval = {
    .name = "interval",
    .summary = "what every thread did from one point of time to another",
    .arguments = "TRACE",
    .about =
        "Exact for any interval, and as fast for a long one as for a short one: the file keeps "
        "sums\n"
        "of its parts. Calls are cut at the interval's borders. 'in no call' is time between the\n"
        "first and the last event of a thread in which it was in no recorded function.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
