/* SPDX-License-Identifier: MIT
 *
 * weft diagnose: asks for findings, of a trace or of a database, and prints them.
 */
#include "cli/cli.h"
#include "cli/compared.h"
#include "query/database/database.h"
#include "query/findings.h"
#include "render/human.h"
#include "render/text/diagnose.h"

struct options {
    struct weft_compared_options compared;
    const char *a, *b;
    struct weft_findings_view how;
};

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 0, "a", "FILTER", "compare these executions, such as 'tag=fixed' (default: the usual ones)",
      WEFT_OPTION_TEXT, MEMBER(a), NULL },
    { 0, "b", "FILTER", "with these (default: the slow ones)", WEFT_OPTION_TEXT, MEMBER(b), NULL },
    { 0, "explain", NULL, "which rules were tried, which fired, and why", WEFT_OPTION_FLAG,
      MEMBER(how.with_rules), NULL },
    { 0, "all", NULL, "also smaller findings", WEFT_OPTION_FLAG, MEMBER(how.with_all), NULL },
    WEFT_OPTIONS_COMPARED(MEMBER(compared)),
};

/* What is not in the findings is said on stderr: types that are omitted, and executions that are
 * damaged or did not end. */
static void remark(struct weft_cli *cli, const struct weft_findings *findings)
{
    for (size_t i = 0; i < findings->n_matrices; i++)
        weft_cli_compared_remark(cli, findings->matrices[i]);
    for (size_t i = 0; i < findings->n_left_out && !cli->common.quiet; i++)
        weft_say("weft: '%.*s' is omitted: %s\n", (int)findings->left_out[i].type.n_bytes,
                 findings->left_out[i].type.bytes, findings->left_out[i].why.text);
    if (findings->n_more == 0 || cli->common.quiet)
        return;
    weft_cli_quiet_line(cli);
    weft_say("weft: %s of %s types of executions were not analyzed: --type NAME\n",
             weft_human_count(findings->n_more).text,
             weft_human_count(findings->n_more + WEFT_FINDINGS_TYPES).text);
}

static enum weft_code diagnose(struct weft_cli *cli, const struct options *opts,
                               struct weft_findings **findings)
{
    const struct weft_compared_options *compared = &opts->compared;
    const struct weft_findings_request request = { .rule = compared->rule,
                                                   .rules = compared->rules,
                                                   .map = compared->map,
                                                   .a = opts->a,
                                                   .b = opts->b,
                                                   .path = cli->inputs[0],
                                                   .progress = cli->run.progress };
    const bool is_database = weft_database_is(cli->inputs[0]);
    WEFT_TRY(weft_cli_compared_fits(cli, compared, is_database));
    if (is_database)
        return weft_findings_of_database(&request, findings, &cli->err);
    enum weft_code code = weft_cli_open_trace(cli, cli->inputs[0], &cli->session);
    return code == WEFT_OK ? weft_findings_of_trace(cli->session, &request, findings, &cli->err)
                           : code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    struct weft_findings *findings = NULL;
    struct weft_view view;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    enum weft_code code = weft_cli_begin(cli);
    WEFT_THEN(code, diagnose(cli, &opts, &findings));
    if (code == WEFT_OK) {
        remark(cli, findings);
        code = weft_cli_view(cli, &view);
    }
    if (code == WEFT_OK) {
        opts.how.with_details = cli->common.verbose;
        weft_render_findings(&view, findings->table, &opts.how);
        code = weft_output_close(view.out, &cli->err);
    }
    weft_result_free(findings);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_diagnose = {
    .name = "diagnose",
    .summary = "why requests are slow",
    .arguments = "TRACE|DATABASE",
    .about =
        "Finds the slow executions of each type by itself, compares them with the others, and\n"
        "lists what makes them slow, each cause once: its cost, the thread that holds up, those\n"
        "that wait, the evidence, what to change, and the command that shows more. Without rules,\n"
        "the executions are those that the trace suggests; where nothing repeats, the critical\n"
        "path of the main thread is listed. --verbose says all that is known of each type.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_FORMAT | WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
