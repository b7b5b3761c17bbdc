/* SPDX-License-Identifier: MIT
 *
 * weft info: the summary of a trace from its directory alone, of a database its sources. Only
 * --private reads the events.
 */
#include "cli/cli.h"
#include "query/database/database.h"
#include "render/text/revealed.h"

struct options {
    bool threads, private;
};

static const struct weft_option options[] = {
    { 0, "threads", NULL, "list the threads too", WEFT_OPTION_FLAG,
      offsetof(struct options, threads), NULL },
    { 0, "private", NULL, "list what the file reveals: command line, hosts, users, paths, names",
      WEFT_OPTION_FLAG, offsetof(struct options, private), NULL },
};

static enum weft_code show_revealed(struct weft_cli *cli)
{
    struct weft_view view;
    struct weft_revealed *revealed = NULL;
    enum weft_code code =
        weft_revealed_find(weft_session_trace(cli->session), cli->progress, &revealed, &cli->err);
    WEFT_THEN(code, weft_cli_view(cli, &view));
    if (code == WEFT_OK) {
        weft_render_revealed(&view, revealed);
        code = weft_output_close(view.out, &cli->err);
    }
    weft_revealed_free(revealed);
    return code;
}

static enum weft_code show_trace(struct weft_cli *cli, const struct options *opts)
{
    struct weft_view view;
    enum weft_code code = weft_cli_open_trace(cli, cli->inputs[0], &cli->session);
    if (code == WEFT_OK && opts->private)
        return show_revealed(cli);
    WEFT_THEN(code, weft_cli_view(cli, &view));
    if (code != WEFT_OK)
        return code;
    weft_render_info(&view, &(struct weft_info_view){ .with_threads = opts->threads });
    return weft_output_close(view.out, &cli->err);
}

static enum weft_code show_sources(struct weft_cli *cli, const struct weft_source_info *sources,
                                   size_t n_sources)
{
    struct weft_view view;
    WEFT_TRY(weft_cli_view(cli, &view));
    weft_render_sources(&view, sources, n_sources);
    return weft_output_close(view.out, &cli->err);
}

static enum weft_code show_database(struct weft_cli *cli)
{
    struct weft_database *database = NULL;
    struct weft_source_info *sources = NULL;
    size_t n_sources = 0;
    struct weft_arena *arena = weft_arena_new(0);
    enum weft_code code =
        arena ? weft_database_open(cli->inputs[0], WEFT_DATABASE_READ, &database, &cli->err)
              : weft_no_memory(&cli->err, "a database");
    WEFT_THEN(code, weft_database_sources(database, arena, &sources, &n_sources, &cli->err));
    weft_database_close(database);
    WEFT_THEN(code, show_sources(cli, sources, n_sources));
    weft_arena_free(arena);
    return code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    enum weft_code code = weft_cli_begin(cli);
    WEFT_THEN(code, weft_database_is(cli->inputs[0]) ? show_database(cli) : show_trace(cli, &opts));
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_info = {
    .name = "info",
    .summary = "contents of a trace, and its data quality",
    .arguments = "TRACE|DATABASE",
    .about = "Reads only the directory of a .weft file, which takes milliseconds at any size "
             "(--private\n"
             "reads all of it). Of a database of executions: its traces, types and tags.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = (WEFT_COMMON_ALL & ~(unsigned)WEFT_COMMON_TID) | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
