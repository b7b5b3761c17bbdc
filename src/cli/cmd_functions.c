/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

#include <stdlib.h>

struct options {
    unsigned sort; /* enum weft_functions_sort */
    uint64_t limit;
    const char *filter;
};

static const char *const sorts[] = { "self", "inclusive", "count",   "mean", "max", "p50",
                                     "p99",  "p999",      "threads", "name", NULL };

static const struct weft_option options[] = {
    { 's', "sort", "KEY",
      "self, inclusive, count, mean, max, p50, p99, p999, threads or name (default: self)",
      WEFT_OPTION_CHOICE, offsetof(struct options, sort), sorts },
    { 'n', "limit", "N", "print the first N only; 0: all (default: 40 as text, else all)",
      WEFT_OPTION_COUNT, offsetof(struct options, limit), NULL },
    { 'f', "filter", "PATTERN", "only names that hold PATTERN, or match /PATTERN/",
      WEFT_OPTION_TEXT, offsetof(struct options, filter), NULL },
};

enum { TEXT_LIMIT = 40 };

#define NO_LIMIT_GIVEN UINT64_MAX

static enum weft_code show(struct weft_cli *cli, const struct options *opts,
                           const struct weft_functions_table *table)
{
    struct weft_view view;
    uint32_t *ids = NULL;
    struct weft_functions_view how = { .sort = (enum weft_functions_sort)opts->sort,
                                       .limit = opts->limit,
                                       .pattern = opts->filter };
    enum weft_code code = WEFT_OK;
    if (opts->filter)
        code = weft_session_find_functions(cli->session, opts->filter, &ids, &how.n_function_ids,
                                           &cli->err);
    if (code == WEFT_OK)
        code = weft_cli_view(cli, &view);
    if (code == WEFT_OK) {
        how.function_ids = ids;
        if (opts->limit == NO_LIMIT_GIVEN)
            how.limit = view.format == WEFT_FORMAT_TEXT ? TEXT_LIMIT : 0;
        weft_render_functions(&view, table, &how);
        code = weft_output_close(view.out, &cli->err);
    }
    free(ids);
    return code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = NO_LIMIT_GIVEN };
    union weft_result result = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    enum weft_code code = weft_cli_open(cli);
    if (code == WEFT_OK)
        code = weft_query_run(cli->session, "functions", NULL, &result, &cli->err);
    if (code == WEFT_OK)
        code = show(cli, &opts, result.functions);
    weft_functions_table_free(result.functions);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_functions = {
    .name = "functions",
    .summary = "calls, times and percentiles of every function",
    .arguments = "TRACE",
    .about =
        "Times are of calls that both began and ended inside the trace; calls still open at its\n"
        "end are counted, calls entered before it are neither. Percentiles are exact.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
