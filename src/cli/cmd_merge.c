/* SPDX-License-Identifier: MIT
 *
 * weft merge: several traces into one by src/import, which chooses the common clock; then its
 * summary.
 */
#include "cli/cli.h"
#include "cli/outputs.h"
#include "import/merge.h"

#include <stdlib.h>
#include <string.h>

struct options {
    const char *offset;
};

static const struct weft_option options[] = {
    { 0, "offset", "LIST", "add to the times of the traces, in their order: 0,-1.5ms",
      WEFT_OPTION_TEXT, offsetof(struct options, offset), NULL },
};

static enum weft_code merge(struct weft_cli *cli, const int64_t *offsets_ns)
{
    struct weft_merge_opts opts = { .inputs = cli->inputs,
                                    .n_inputs = cli->n_inputs,
                                    .offsets_ns = offsets_ns,
                                    .memory_bytes = cli->common.memory_bytes };
    enum weft_code code = weft_cli_begin(cli);
    WEFT_THEN(code, weft_outputs_trace(cli, cli->common.output, &opts.output));
    WEFT_THEN(code, weft_merge_run(&opts, &cli->run, NULL, &cli->err));
    return code == WEFT_OK ? weft_cli_summarise(cli, opts.output, cli->common.output) : code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    int64_t *offsets_ns;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (!cli->common.output || strcmp(cli->common.output, "-") == 0)
        return weft_cli_usage(cli, "expected -o FILE");
    if (!weft_cli_offsets(cli, opts.offset, &offsets_ns))
        return cli->exit_status;
    const int status = weft_cli_end(cli, merge(cli, offsets_ns));
    free(offsets_ns);
    return status;
}

const struct weft_command weft_cmd_merge = {
    .name = "merge",
    .summary = "make one trace of several",
    .arguments = "TRACE TRACE...",
    .about =
        "Times are aligned by CLOCK_MONOTONIC if all traces have it and are of one host and boot,\n"
        "else by the wall clock; else each starts at 0, and a note records this. Functions of the "
        "same\n"
        "module, name and address become one, as do threads of a kernel and a program trace;\n"
        "other threads stay separate. Prints what 'weft info' does of the new trace.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_FORMAT | WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 2,
    .n_inputs_max = SIZE_MAX,
    .run = run,
    .writes_traces = true,
};
