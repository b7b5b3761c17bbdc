/* SPDX-License-Identifier: MIT
 *
 * weft waits: wait-block analysis of threads (analysis/states/waits.h); causes are listed for few
 * threads, or on request.
 */
#include "cli/ask.h"

struct options {
    const char *from, *to;
    uint64_t limit;
    bool causes;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
    { 0, "causes", NULL, "what the time of every thread went to (default: of up to 4 threads)",
      WEFT_OPTION_FLAG, MEMBER(causes), NULL },
    { 'n', "limit", "N", "causes a thread, at most; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 20, FEW_THREADS = 4 };

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct options *opts = context;
    return weft_cli_window(cli, opts->from, opts->to, &request->waits.from_ns,
                           &request->waits.to_ns);
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct options *opts = context;
    struct weft_waits_view how = {
        .with_causes = opts->causes || result->waits->n_threads <= FEW_THREADS,
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
    };
    if (view->format == WEFT_FORMAT_CSV)
        how.with_causes = opts->causes;
    weft_render_waits(view, result->waits, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const struct weft_question question = {
        .analysis = "waits", .context = &opts, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_waits = {
    .name = "waits",
    .summary = "wait analysis: time of each thread by state and cause",
    .arguments = "TRACE",
    .about = "From kernel events: the lifetime of each thread, divided without rest into running,\n"
             "interrupted, preempted and blocked. Also what blocked it, in which system call, its "
             "waker,\n"
             "and which threads had the CPU while it was runnable.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
