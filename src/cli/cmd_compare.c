/* SPDX-License-Identifier: MIT
 *
 * weft compare: two groups by filters, the table of their difference, and the gate. Exit status 1
 * means only that the gate found B worse; faults use other codes. The comparison is
 * query/comparison.h, the verdict's text render/text.
 */
#include "base/private.h"
#include "cli/ask.h"
#include "cli/compared.h"
#include "cli/outputs.h"
#include "query/gate.h"
#include "render/text/compare.h"
#include "render/text/gate.h"
#include "schema/result.h"

#include <stdio.h>

struct options {
    struct weft_compared_options compared;
    const char *a, *b, *gate, *report;
    uint64_t limit;
    bool with_paths;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 0, "a", "FILTER", "the executions of group A, such as 'duration<20ms' (default: all)",
      WEFT_OPTION_TEXT, MEMBER(a), NULL },
    { 0, "b", "FILTER", "those of group B, such as 'tag=new and thread=worker' (default: all)",
      WEFT_OPTION_TEXT, MEMBER(b), NULL },
    WEFT_OPTIONS_COMPARED(MEMBER(compared)),
    { 'n', "limit", "N", "rows of each list, at most; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
    { 0, "gate", "LIMIT",
      "exit with 1 if B is worse, with evidence, than 'METRIC mean|median|pNN +LIMIT' allows, such "
      "as 'duration p99 +5%'",
      WEFT_OPTION_TEXT, MEMBER(gate), NULL },
    { 0, "report", "FILE", "with --gate: write a report in Markdown", WEFT_OPTION_OUTPUT,
      MEMBER(report), NULL },
    { 0, "with-paths", NULL,
      "with --report: keep absolute paths; by default only the names of files are written",
      WEFT_OPTION_FLAG, MEMBER(with_paths), NULL },
};

enum { TEXT_LIMIT = 20, HISTOGRAM_BINS = 16 };

struct asked {
    struct weft_cli *cli;
    const struct options *opts;
    struct weft_comparison *comparison;
    struct weft_compare_table *table;
    struct weft_arena *arena;
    struct weft_metric_histogram histogram;
    struct weft_gate gate;
    struct weft_gate_result gate_result;
    struct weft_gate_view gate_view;
};

static enum weft_metric_unit unit_of(const struct asked *asked)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(asked->comparison);
    for (size_t i = 0; i < matrix->n_metrics; i++)
        if (weft_str_equal(matrix->metrics[i].name, weft_str_of(asked->gate.metric)))
            return matrix->metrics[i].unit;
    return WEFT_METRIC_NUMBER;
}

static struct weft_comparison_view how(const struct asked *asked, uint64_t limit)
{
    return (struct weft_comparison_view){ .matrix = weft_comparison_matrix(asked->comparison),
                                          .table = asked->table,
                                          .histogram = &asked->histogram,
                                          .a = asked->opts->a ? asked->opts->a : "",
                                          .b = asked->opts->b ? asked->opts->b : "",
                                          .path = asked->cli->inputs[0],
                                          .limit = limit };
}

/* The report without the folders of absolute paths. */
static void write_without_paths(struct asked *asked, const struct weft_gate_view *gate,
                                struct weft_comparison_view *view, struct weft_output *out)
{
    struct weft_output *text = NULL;
    struct weft_private *rules = weft_private_new();
    struct weft_err err = { 0 };
    struct weft_str shown = { 0 };
    view->path = weft_str_base(weft_str_of(view->path)).bytes;
    for (size_t i = 0; rules && i < view->matrix->n_sources; i++)
        (void)weft_private_add(rules, view->matrix->sources[i].path);
    enum weft_code code = rules ? weft_output_to_memory(&text, &err) : WEFT_E_NOMEM;
    if (code == WEFT_OK) {
        weft_render_gate_report(text, gate, view);
        shown = weft_private_text(rules, asked->arena, weft_output_held(text));
    }
    if (!shown.bytes || weft_output_has_failed(text))
        (void)weft_no_memory(&err, "a report");
    if (err.code != WEFT_OK)
        weft_output_fail(out, &err);
    weft_output_write(out, shown.bytes, shown.n_bytes);
    weft_output_abort(text);
    weft_private_free(rules);
}

static enum weft_code write_report(struct asked *asked, const struct weft_gate_view *gate)
{
    struct weft_output *out;
    struct weft_err *err = &asked->cli->err;
    struct weft_comparison_view view = how(asked, 0);
    WEFT_TRY(weft_outputs_open(asked->cli, asked->opts->report, &out));
    weft_output_set_form(out, WEFT_OUTPUT_TEXT);
    if (asked->opts->with_paths)
        weft_render_gate_report(out, gate, &view);
    else
        write_without_paths(asked, gate, &view, out);
    return weft_output_close(out, err);
}

static enum weft_code show_gate(struct asked *asked, struct weft_output *out)
{
    weft_render_gate(out, &asked->gate_view);
    return asked->opts->report ? write_report(asked, &asked->gate_view) : WEFT_OK;
}

/* The gate comes first as text; of JSON it is part, and else it is said on stderr. */
static enum weft_code tell_gate(struct asked *asked, const struct weft_view *view)
{
    struct weft_output *err_out;
    if (!asked->opts->gate)
        return WEFT_OK;
    if (view->format == WEFT_FORMAT_TEXT)
        return show_gate(asked, view->out);
    WEFT_TRY(weft_output_to_fd(2, "standard error", &err_out, &asked->cli->err));
    weft_output_set_form(err_out, WEFT_OUTPUT_TEXT);
    enum weft_code code = show_gate(asked, err_out);
    const enum weft_code closed = weft_output_close(err_out, &asked->cli->err);
    return code == WEFT_OK ? closed : code;
}

static enum weft_code show(struct asked *asked)
{
    struct weft_view view;
    WEFT_TRY(weft_cli_view(asked->cli, &view));
    struct weft_comparison_view comparison =
        how(asked, weft_cli_limit(&view, asked->opts->limit, TEXT_LIMIT));
    if (asked->opts->gate) {
        asked->gate_view = (struct weft_gate_view){ .result = &asked->gate_result,
                                                    .text = asked->opts->gate,
                                                    .unit = unit_of(asked) };
        comparison.gate = &asked->gate_view;
    }
    enum weft_code code = tell_gate(asked, &view);
    weft_render_comparison(&view, &comparison);
    const enum weft_code closed = weft_output_close(view.out, &asked->cli->err);
    return code == WEFT_OK ? closed : code;
}

/* A group without an execution is a filter that is wrong, mostly. */
static enum weft_code check_groups(struct asked *asked)
{
    const struct weft_compare_table *table = asked->table;
    const bool is_a = table->n_a == 0;
    const char *filter = is_a ? asked->opts->a : asked->opts->b;
    if (table->n_a > 0 && table->n_b > 0)
        return WEFT_OK;
    return weft_cli_compared_empty(asked->cli, asked->comparison, is_a, filter);
}

static enum weft_code compare(struct asked *asked)
{
    struct weft_err *err = &asked->cli->err;
    const struct options *opts = asked->opts;
    const struct weft_comparison_opts how = { .a = weft_str_of(opts->a ? opts->a : ""),
                                              .b = weft_str_of(opts->b ? opts->b : ""),
                                              .n_bootstrap = WEFT_COMPARE_BOOTSTRAP,
                                              .with_causes = true };
    enum weft_code code = weft_cli_compared(asked->cli, &opts->compared, &asked->comparison);
    WEFT_THEN(code, weft_comparison_run(asked->comparison, &how, &asked->table, err));
    WEFT_THEN(code, check_groups(asked));
    WEFT_THEN(code, weft_comparison_histogram(asked->comparison, 0, HISTOGRAM_BINS, true,
                                              asked->arena, &asked->histogram, err));
    if (code == WEFT_OK && opts->gate)
        code = weft_gate_check(&asked->gate, asked->comparison, &asked->gate_result, err);
    return code == WEFT_OK ? show(asked) : code;
}

static int refuse_gate(struct weft_cli *cli)
{
    char text[sizeof cli->err.text + 16];
    (void)snprintf(text, sizeof text, "--gate: %s", cli->err.text);
    return weft_cli_usage(cli, text);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.report && !opts.gate)
        return weft_cli_usage(cli, "--report needs --gate");
    if (!opts.a && !opts.b)
        return weft_cli_usage(cli, "expected --a FILTER, --b FILTER or both: of all executions "
                                   "nothing is left to compare with");
    struct asked asked = { .cli = cli, .opts = &opts };
    if (opts.gate && weft_gate_parse(opts.gate, &asked.gate, &cli->err) != WEFT_OK)
        return refuse_gate(cli); /* 1 would say that B is worse */
    asked.arena = weft_arena_new(0);
    enum weft_code code =
        asked.arena ? WEFT_OK
                    : weft_fail(&cli->err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to compare");
    WEFT_THEN(code, compare(&asked));
    const bool is_worse = code == WEFT_OK && asked.gate_result.is_worse;
    weft_result_free(asked.table);
    weft_comparison_close(asked.comparison);
    weft_arena_free(asked.arena);
    const int status = weft_cli_end(cli, code);
    return status == WEFT_EXIT_DONE && is_worse ? WEFT_EXIT_FAILED : status;
}

const struct weft_command weft_cmd_compare = {
    .name = "compare",
    .summary = "compare two groups of requests or other executions",
    .arguments = "DATABASE|TRACE",
    .about =
        "Compares two groups of executions that filters select: how much longer those of B take,\n"
        "with the evidence; in which calling contexts, on all threads that they depend on; and "
        "which\n"
        "causes the slow ones have. The executions come from a database, or from a trace by rules.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_FORMAT | WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
