/* SPDX-License-Identifier: MIT
 *
 * weft mark: asks running flight recorders for a snapshot (record/session); opens no trace.
 */
#include "cli/cli.h"
#include "record/session/mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *recording;
};

static const struct weft_option options[] = {
    { 'r', "recording", "FILE", "only the flight recorder that writes to FILE, as it was given",
      WEFT_OPTION_FILE, offsetof(struct options, recording), NULL },
};

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    size_t n_told = 0;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const char *why = cli->n_inputs ? cli->inputs[0] : "weft mark";
    enum weft_code code = weft_recorder_mark(opts.recording, why, &n_told, &cli->err);
    if (code == WEFT_OK && n_told == 0)
        code = weft_fail(
            &cli->err, WEFT_E_ARG, WEFT_NO_OFFSET, "no flight recorder of yours is running%s%s",
            opts.recording ? " that writes to " : "", opts.recording ? opts.recording : "");
    cli->n_inputs = 0;
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_mark = {
    .name = "mark",
    .summary = "ask a flight recorder for a snapshot",
    .arguments = "[WHY]",
    .about =
        "Every flight recorder of yours ('weft record --snapshot') writes the last seconds that\n"
        "it keeps to a file.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .n_inputs_min = 0,
    .n_inputs_max = 1,
    .run = run,
    .takes_no_traces = true,
    .takes_words = true,
};
