/* SPDX-License-Identifier: MIT
 *
 * weft functions: the session's table of functions, which the session computes once; --filter
 * chooses rows of it by name.
 */
#include "cli/ask.h"

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

/* What is shown: of which functions, and how. */
struct listing {
    struct weft_functions_view how;
    uint32_t *ids; /* that the filter admits; NULL: all */
};

static enum weft_code examine(struct weft_cli *cli, void *context, const union weft_result *result)
{
    struct listing *listing = context;
    (void)result;
    if (!listing->how.pattern)
        return WEFT_OK;
    enum weft_code code = weft_session_find_functions(
        cli->session, listing->how.pattern, &listing->ids, &listing->how.n_function_ids, &cli->err);
    listing->how.function_ids = listing->ids;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    struct listing *listing = context;
    listing->how.limit = weft_cli_limit(view, listing->how.limit, TEXT_LIMIT);
    weft_render_functions(view, result->functions, &listing->how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    struct listing listing = { .how = { .sort = (enum weft_functions_sort)opts.sort,
                                        .limit = opts.limit,
                                        .pattern = opts.filter } };
    const struct weft_question question = {
        .analysis = "functions", .context = &listing, .examine = examine, .render = render
    };
    int status = weft_cli_ask(cli, &question);
    free(listing.ids);
    return status;
}

const struct weft_command weft_cmd_functions = {
    .name = "functions",
    .summary = "calls, times and percentiles of every function",
    .arguments = "TRACE",
    .about = "Times are of calls that start and end in the trace. Calls still open at its end are "
             "counted;\n"
             "calls entered before it are not. Percentiles are exact.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
