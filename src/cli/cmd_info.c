/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct options {
    bool threads;
};

static const struct weft_option options[] = {
    { 0, "threads", NULL, "list the threads too", WEFT_OPTION_FLAG,
      offsetof(struct options, threads), NULL },
};

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    struct weft_view view;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    enum weft_code code = weft_cli_open(cli);
    if (code == WEFT_OK)
        code = weft_cli_view(cli, &view);
    if (code == WEFT_OK) {
        weft_render_info(&view, &(struct weft_info_view){ .with_threads = opts.threads });
        code = weft_output_close(view.out, &cli->err);
    }
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_info = {
    .name = "info",
    .summary = "what is in a trace, and what was lost or repaired",
    .arguments = "TRACE",
    .about = "Reads the directory of a .weft file only: it takes milliseconds at any size.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = (WEFT_COMMON_ALL & ~(unsigned)WEFT_COMMON_TID) | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
