/* SPDX-License-Identifier: MIT
 *
 * weft cpu: the table of analysis/states/cpu.h, with the threads of each CPU on request.
 */
#include "cli/ask.h"

struct options {
    const char *from, *to;
    uint64_t limit;
    bool threads;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
    { 0, "threads", NULL, "the threads that ran on each CPU", WEFT_OPTION_FLAG, MEMBER(threads),
      NULL },
    { 'n', "limit", "N", "threads a CPU, at most; 0: all (default: 10 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 10 };

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct options *opts = context;
    return weft_cli_window(cli, opts->from, opts->to, &request->cpu.from_ns, &request->cpu.to_ns);
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct options *opts = context;
    struct weft_cpu_view how = { .with_threads = opts->threads,
                                 .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT) };
    weft_render_cpu(view, result->cpu, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const struct weft_question question = {
        .analysis = "cpu", .context = &opts, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_cpu = {
    .name = "cpu",
    .summary = "time of each CPU: running, interrupts, idle",
    .arguments = "TRACE",
    .about = "From kernel events: how long each CPU ran threads, served interrupts and was idle. "
             "Also how\n"
             "often threads were scheduled on it, and migrated from another CPU.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
