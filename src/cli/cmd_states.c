/* SPDX-License-Identifier: MIT
 *
 * weft states: the states of threads in a window or at one moment (analysis/states/states.h).
 */
#include "cli/ask.h"

struct options {
    const char *at, *from, *to;
    uint64_t limit;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 0, "at", "TIME", "the state of every thread at this point of time", WEFT_OPTION_TEXT,
      MEMBER(at), NULL },
    { 0, "from", "TIME", "states from here on, such as 1.5s or @123456789 (default: start)",
      WEFT_OPTION_TEXT, MEMBER(from), NULL },
    { 0, "to", "TIME", "states up to here (default: end)", WEFT_OPTION_TEXT, MEMBER(to), NULL },
    { 'n', "limit", "N", "rows, at most; 0: all (default: 0)", WEFT_OPTION_COUNT, MEMBER(limit),
      NULL },
};

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct options *opts = context;
    struct weft_states_opts *states = &request->states;
    states->limit = opts->limit;
    if (!opts->at)
        return weft_cli_window(cli, opts->from, opts->to, &states->from_ns, &states->to_ns);
    states->is_moment = true;
    const enum weft_code code =
        weft_session_time(cli->session, opts->at, &states->from_ns, &cli->err);
    states->to_ns = states->from_ns;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    (void)context;
    weft_render_states(view, result->states);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.at && (opts.from || opts.to))
        return weft_cli_usage(cli, "--at and --from/--to exclude each other");
    const struct weft_question question = {
        .analysis = "states", .context = &opts, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_states = {
    .name = "states",
    .summary = "thread states: running, runnable, blocked, and the reason",
    .arguments = "TRACE",
    .about = "From kernel events: intervals without gaps in which a thread ran (in user or kernel "
             "mode),\n"
             "was interrupted, was runnable (preempted), or was blocked, and by what. 'other' is "
             "the thread\n"
             "that woke it or got its CPU.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
