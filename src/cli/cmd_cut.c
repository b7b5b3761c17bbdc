/* SPDX-License-Identifier: MIT
 *
 * weft cut: replays a window of a trace into a new file (src/import), then prints its summary.
 */
#include "cli/cli.h"
#include "cli/outputs.h"
#include "import/cut.h"
#include "query/parse.h"

#include <stdio.h>
#include <string.h>

struct options {
    const char *from;
    const char *to;
};

static const struct weft_option options[] = {
    { 0, "from", "TIME", "begin here (default: at the start)", WEFT_OPTION_TEXT,
      offsetof(struct options, from), NULL },
    { 0, "to", "TIME", "end before this (default: at the end)", WEFT_OPTION_TEXT,
      offsetof(struct options, to), NULL },
};

/* Parses one edge; NULL leaves it. False after a complaint. */
static bool parse_edge(struct weft_cli *cli, const char *name, const char *text,
                       struct weft_cut_time *time)
{
    struct weft_time_point point;
    struct weft_err err = { 0 };
    char words[WEFT_ERR_TEXT_BYTES + 16];
    if (!text)
        return true;
    if (weft_parse_time_point(text, &point, &err) == WEFT_OK) {
        *time = (struct weft_cut_time){ .at_ns = point.at_ns, .is_absolute = point.is_absolute };
        return true;
    }
    (void)snprintf(words, sizeof words, "--%s: %s", name, err.text);
    cli->exit_status = weft_cli_usage(cli, words);
    return false;
}

static enum weft_code cut(struct weft_cli *cli, struct weft_cut_opts *opts)
{
    enum weft_code code = weft_cli_begin(cli);
    WEFT_THEN(code, weft_outputs_trace(cli, cli->common.output, &opts->output));
    WEFT_THEN(code, weft_cut_run(opts, &cli->run, NULL, &cli->err));
    cli->common.tids.n = 0; /* the summary is of the whole new trace */
    return code == WEFT_OK ? weft_cli_summarise(cli, opts->output, cli->common.output) : code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (!cli->common.output || strcmp(cli->common.output, "-") == 0)
        return weft_cli_usage(cli, "expected -o FILE");
    struct weft_cut_opts cut_opts = { .input = cli->inputs[0],
                                      .to = { .at_ns = UINT64_MAX },
                                      .tids = cli->common.tids.items,
                                      .n_tids = cli->common.tids.n,
                                      .memory_bytes = cli->common.memory_bytes };
    if (!parse_edge(cli, "from", opts.from, &cut_opts.from) ||
        !parse_edge(cli, "to", opts.to, &cut_opts.to))
        return cli->exit_status;
    return weft_cli_end(cli, cut(cli, &cut_opts));
}

const struct weft_command weft_cmd_cut = {
    .name = "cut",
    .summary = "cut a trace to a time range or threads",
    .arguments = "TRACE",
    .about =
        "Writes the events from --from up to --to, of all threads or those of --tid. TIME counts "
        "from\n"
        "the start of the trace (1.5s, 20ms), or is a time stamp of the source in ns "
        "(@123456789).\n"
        "Calls that cross a boundary are kept and marked. Prints 'weft info' of the new trace.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
    .writes_traces = true,
};
