/* SPDX-License-Identifier: MIT
 *
 * weft outliers: a fixed length (--longer-than) replaces the test against the median, so it also
 * lifts the other thresholds.
 */
#include "cli/ask.h"

#include <stdlib.h>

struct options {
    const char *function;
    uint64_t longer_than_ns, limit, factor, at_least_ns;
    bool calls, gaps;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 'f', "function", "PATTERN", "only calls of functions that hold PATTERN, or match /PATTERN/",
      WEFT_OPTION_TEXT, MEMBER(function), NULL },
    { 0, "longer-than", "TIME", "every call (and gap) longer than TIME, unusual or not",
      WEFT_OPTION_DURATION, MEMBER(longer_than_ns), NULL },
    { 0, "calls", NULL, "no gaps", WEFT_OPTION_FLAG, MEMBER(calls), NULL },
    { 0, "gaps", NULL, "only gaps: times in which a thread made no call", WEFT_OPTION_FLAG,
      MEMBER(gaps), NULL },
    { 0, "factor", "K", "unusual for its function: K times the median (default: 100)",
      WEFT_OPTION_COUNT, MEMBER(factor), NULL },
    { 0, "at-least", "TIME", "and at least this long (default: 1ms)", WEFT_OPTION_DURATION,
      MEMBER(at_least_ns), NULL },
    { 'n', "limit", "N", "print the first N only; 0: all (default: 40 as text, else 1000)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 40, DATA_LIMIT = 1000 };

/* Asked for a length, everything is long enough to be listed, and the length alone decides. */
static struct weft_outliers_opts settings_of(const struct weft_cli *cli, const struct options *opts)
{
    struct weft_regtime_opts paper = { 0 };
    (void)weft_regtime_preset("paper", &paper);
    uint64_t limit = opts->limit;
    if (limit == WEFT_LIMIT_DEFAULT)
        limit = cli->common.format == WEFT_FORMAT_TEXT ? TEXT_LIMIT : DATA_LIMIT;
    return (struct weft_outliers_opts){
        .outlier_factor = (double)opts->factor,
        .outlier_min_ns = opts->at_least_ns,
        .duration_fraction = opts->longer_than_ns ? 0 : paper.duration_fraction,
        .gap_fraction = opts->longer_than_ns ? 0 : paper.gap_fraction,
        .limit = (uint32_t)limit,
        .with_long = true,
        .no_calls = opts->gaps,
        .no_gaps = opts->calls,
        .min_duration_ns = opts->longer_than_ns,
    };
}

struct search {
    const struct options *opts;
    struct weft_outliers_opts settings;
    uint32_t *ids; /* of the functions asked for; NULL: all */
};

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    struct search *search = context;
    enum weft_code code = WEFT_OK;
    request->outliers = search->settings;
    if (search->opts->function)
        code = weft_session_find_functions(cli->session, search->opts->function, &search->ids,
                                           &request->outliers.n_function_ids, &cli->err);
    request->outliers.function_ids = search->ids;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct search *search = context;
    const struct weft_outliers_view how = { .settings = &search->settings,
                                            .pattern = search->opts->function };
    weft_render_outliers(view, result->outliers, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT, .factor = 100, .at_least_ns = 1000000 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.calls && opts.gaps)
        return weft_cli_usage(cli, "--calls and --gaps exclude each other");
    struct search search = { .opts = &opts, .settings = settings_of(cli, &opts) };
    const struct weft_question question = {
        .analysis = "outliers", .context = &search, .request = request, .render = render
    };
    int status = weft_cli_ask(cli, &question);
    free(search.ids);
    return status;
}

const struct weft_command weft_cmd_outliers = {
    .name = "outliers",
    .summary = "calls and gaps that are unusual for their function or thread",
    .arguments = "TRACE",
    .about = "Most unusual first, with thread, time and callers.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
