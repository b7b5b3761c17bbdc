/* SPDX-License-Identifier: MIT
 *
 * weft flame: executions of a database or by rules go through a comparison, whose table becomes
 * boxes; a plain trace is folded in memory by the first weight that it has. Drawn by
 * render/export/flame.h.
 */
#include "cli/compared.h"
#include "query/database/database.h"
#include "render/export/export.h"
#include "render/export/flame.h"
#include "schema/result.h"

#include <stdio.h>
#include <unistd.h>

enum format { FORMAT_SVG, FORMAT_FOLDED };
static const char *const formats[] = { "svg", "folded", NULL };
static const char *const weights[] = { "self", "calls", "samples", "stacks", NULL };
enum { WEIGHT_UNSET = sizeof weights / sizeof *weights };

struct options {
    struct weft_compared_options compared;
    const char *a, *b, *strip;
    unsigned format, weight;
    bool diff;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 0, "diff", NULL, "the difference between two groups of executions", WEFT_OPTION_FLAG,
      MEMBER(diff), NULL },
    { 0, "a", "FILTER", "with --diff: the executions of group A (default: all)", WEFT_OPTION_TEXT,
      MEMBER(a), NULL },
    { 0, "b", "FILTER", "group B; without --diff the executions shown (default: all)",
      WEFT_OPTION_TEXT, MEMBER(b), NULL },
    WEFT_OPTIONS_COMPARED(MEMBER(compared)),
    { 0, "strip", "PREFIX", "strip this prefix of names, such as a namespace", WEFT_OPTION_TEXT,
      MEMBER(strip), NULL },
    { 'f', "format", "svg|folded", "a picture, or folded stacks (default: svg)", WEFT_OPTION_CHOICE,
      MEMBER(format), formats },
    { 0, "weight", "self|calls|samples|stacks",
      "of a trace without rules: self time in ns, calls, weights of samples, stacks (default: the "
      "first of self, samples and stacks that the trace has)",
      WEFT_OPTION_CHOICE, MEMBER(weight), weights },
};

static enum weft_code put(struct weft_cli *cli, const struct options *opts,
                          struct weft_flame *flame)
{
    struct weft_output *out;
    if (opts->strip)
        weft_flame_strip(flame, weft_str_of(opts->strip));
    enum weft_code code = WEFT_OK;
    if (!cli->common.with_paths)
        code = weft_flame_hide_paths(flame, cli->session ? weft_session_trace(cli->session) : NULL,
                                     &cli->err);
    if (code == WEFT_OK && opts->format != FORMAT_FOLDED)
        code = weft_flame_fold_nameless(flame, &cli->err);
    WEFT_THEN(code, weft_cli_output(cli, &out));
    if (code != WEFT_OK)
        return code;
    weft_output_set_form(out, WEFT_OUTPUT_TEXT);
    if (opts->format == FORMAT_FOLDED)
        weft_flame_folded(out, flame);
    else
        weft_flame_svg(out, flame);
    return weft_output_close(out, &cli->err);
}

static const char *text_or_all(const char *filter)
{
    return filter && *filter ? filter : "all";
}

/* Of executions: without a difference both groups are those that are shown. */
static enum weft_code of_executions(struct weft_cli *cli, const struct options *opts,
                                    struct weft_arena *arena)
{
    struct weft_comparison *comparison;
    struct weft_compare_table *table = NULL;
    struct weft_flame flame = { 0 };
    char title[512];
    const struct weft_str b = weft_str_of(opts->b ? opts->b : "");
    const struct weft_comparison_opts how = {
        .a = opts->diff ? weft_str_of(opts->a ? opts->a : "") : b,
        .b = b,
        .n_bootstrap = opts->diff ? WEFT_COMPARE_BOOTSTRAP : 0,
    };
    enum weft_code code = weft_cli_compared(cli, &opts->compared, &comparison);
    WEFT_THEN(code, weft_comparison_run(comparison, &how, &table, &cli->err));
    if (code == WEFT_OK && (table->n_b == 0 || table->n_a == 0))
        code = weft_cli_compared_empty(cli, comparison, table->n_b > 0,
                                       table->n_b > 0 ? opts->a : opts->b);
    WEFT_THEN(code, weft_flame_of_table(weft_comparison_matrix(comparison), table, arena, &flame,
                                        &cli->err));
    if (code == WEFT_OK) {
        if (opts->diff)
            (void)snprintf(title, sizeof title, "B: %.200s (%zu) against A: %.200s (%zu)",
                           text_or_all(opts->b), table->n_b, text_or_all(opts->a), table->n_a);
        else
            (void)snprintf(title, sizeof title, "%zu executions, mean: %.200s", table->n_b,
                           text_or_all(opts->b));
        flame.title = weft_str_of(title);
        flame.is_difference = opts->diff;
        code = put(cli, opts, &flame);
    }
    weft_result_free(table);
    weft_comparison_close(comparison);
    return code;
}

static enum weft_code fold(struct weft_cli *cli, enum weft_export_weight weight,
                           struct weft_output **out)
{
    struct weft_export_totals totals;
    const struct weft_thread_filter filter = weft_session_filter(cli->session);
    const struct weft_export_opts how = { .trace = weft_session_trace(cli->session),
                                          .name = cli->inputs[0],
                                          .thread_ids = filter.ids,
                                          .n_thread_ids = filter.n_ids,
                                          .window.to_ns = UINT64_MAX,
                                          .format = WEFT_EXPORT_FOLDED,
                                          .weight = weight,
                                          .progress = cli->progress };
    enum weft_code code = weft_output_to_memory(out, &cli->err);
    WEFT_THEN(code, weft_export_write(&how, *out, &totals, &cli->err));
    if (code == WEFT_OK && weft_output_has_failed(*out))
        code = weft_no_memory(&cli->err, "stacks");
    return code;
}

/* Folds by the weight that was asked for, or else by the first that the trace has anything of. */
static enum weft_code choose(struct weft_cli *cli, const struct options *opts,
                             struct weft_arena *arena, struct weft_output **folded,
                             struct weft_flame *flame, enum weft_export_weight *weight)
{
    static const enum weft_export_weight order[] = { WEFT_EXPORT_SELF, WEFT_EXPORT_SAMPLES,
                                                     WEFT_EXPORT_STACKS };
    const bool is_set = opts->weight != WEIGHT_UNSET;
    const size_t n_tried = is_set ? 1 : sizeof order / sizeof *order;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < n_tried; k++) {
        weft_output_abort(*folded);
        *folded = NULL;
        *weight = is_set ? (enum weft_export_weight)opts->weight : order[k];
        code = fold(cli, *weight, folded);
        WEFT_THEN(code, weft_flame_of_folded(weft_output_held(*folded), arena, flame, &cli->err));
        if (code == WEFT_OK && flame->boxes[0].width > 0)
            return WEFT_OK;
    }
    return code != WEFT_OK ? code
           : is_set        ? weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                                       "the trace has nothing of this weight: without --weight, weft "
                                              "flame takes one that it has")
                           : weft_fail(&cli->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                                       "the trace has no calls, no samples and no stacks");
}

/* Of a trace: its calls, samples or stacks. */
static enum weft_code of_trace(struct weft_cli *cli, const struct options *opts,
                               struct weft_arena *arena)
{
    struct weft_output *folded = NULL;
    struct weft_flame flame = { 0 };
    enum weft_export_weight weight = WEFT_EXPORT_SELF;
    enum weft_code code = weft_cli_open(cli);
    WEFT_THEN(code, choose(cli, opts, arena, &folded, &flame, &weight));
    if (code == WEFT_OK && weight != WEFT_EXPORT_SELF && opts->weight == WEIGHT_UNSET &&
        !cli->common.quiet)
        weft_say("weft: flame: the trace has no calls: these are %s (--weight %s)\n",
                 weight == WEFT_EXPORT_SAMPLES ? "samples by their weights" : "stacks",
                 weights[weight]);
    if (code == WEFT_OK) {
        flame.title = weft_str_of(cli->inputs[0]);
        if (!cli->common.with_paths)
            flame.title = weft_str_base(flame.title);
        flame.is_time = weight == WEFT_EXPORT_SELF;
        code = put(cli, opts, &flame);
    }
    weft_output_abort(folded);
    return code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .weight = WEIGHT_UNSET };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.a && !opts.diff)
        return weft_cli_usage(cli, "--a needs --diff");
    const bool is_executions = weft_database_is(cli->inputs[0]) || opts.compared.rule.begin ||
                               opts.compared.rules || opts.diff || opts.b;
    struct weft_arena *arena = weft_arena_new(0);
    enum weft_code code = !arena          ? weft_no_memory(&cli->err, "a flame graph")
                          : is_executions ? of_executions(cli, &opts, arena)
                                          : of_trace(cli, &opts, arena);
    weft_arena_free(arena);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_flame = {
    .name = "flame",
    .summary = "flame graph of executions, of their difference, or of a trace",
    .arguments = "DATABASE|TRACE",
    .about = "A picture (SVG) or folded stacks. Of executions: each calling context, with all "
             "threads that\n"
             "it depended on; the width is the mean time. With --diff the width is that of group "
             "B, and the\n"
             "colour is the evidence that B is slower or faster there. Without rules: calls, "
             "samples or\n"
             "stacks of the trace.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_PATHS | WEFT_COMMON_OUTPUT | WEFT_COMMON_TID | WEFT_COMMON_WORK |
              WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
