/* SPDX-License-Identifier: MIT
 *
 * weft export: chooses the format and the form of the output (exact bytes or escaped), and states
 * on standard error what the format cannot hold. render/export/ writes.
 */
#include "cli/cli.h"
#include "render/export/export.h"
#include "render/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
    unsigned format; /* enum weft_export_format; WEFT_EXPORT_FORMATS: none given */
    unsigned weight; /* enum weft_export_weight */
    const char *from, *to;
    bool raw;
};

static const char *const formats[] = { "chrome", "perfetto", "folded", "csv", "speedscope", NULL };
static const char *const weights[] = { "self", "calls", "samples", "stacks", NULL };

#define MEMBER(member) offsetof(struct options, member)

static const struct weft_option options[] = {
    { 'f', "format", "FORMAT", "chrome, perfetto, folded, csv or speedscope", WEFT_OPTION_CHOICE,
      MEMBER(format), formats },
    { 0, "from", "TIME", "only what happens from TIME on, such as 1.5s or @123456789",
      WEFT_OPTION_TEXT, MEMBER(from), NULL },
    { 0, "to", "TIME", "only what happens before TIME", WEFT_OPTION_TEXT, MEMBER(to), NULL },
    { 0, "weight", "self|calls|samples|stacks",
      "folded: self time in ns, calls, weights of samples, stacks (default: self)",
      WEFT_OPTION_CHOICE, MEMBER(weight), weights },
    { 0, "raw", NULL, "CSV: names exactly as they are, unsafe for terminals and spreadsheets",
      WEFT_OPTION_FLAG, MEMBER(raw), NULL },
};

/* The file's name without its folder. */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What the file does not hold is said once, on standard error. */
static void tell_lost(const struct options *opts, const struct weft_export_totals *totals)
{
    const char *format = formats[opts->format];
    if (totals->events_lost)
        weft_say("weft: %s only holds calls: %s other events omitted\n", format,
                 weft_human_count(totals->events_lost).text);
    if (totals->weightless)
        weft_say("weft: %s stacks have no duration: omitted; --weight stacks counts them\n",
                 weft_human_count(totals->weightless).text);
    if (totals->args_lost)
        weft_say("weft: %s does not hold arguments: those of %s calls omitted\n", format,
                 weft_human_count(totals->args_lost).text);
    if (totals->threads_merged)
        weft_say(
            "weft: %s identifies threads by process and thread id: %s share the row of another\n",
            format, weft_human_count(totals->threads_merged).text);
}

/* Half open: without --to, what happens at the very end belongs to it too. */
static enum weft_code find_window(struct weft_cli *cli, const struct options *opts,
                                  struct weft_window *window)
{
    enum weft_code code =
        weft_cli_window(cli, opts->from, opts->to, &window->from_ns, &window->to_ns);
    if (!opts->to)
        window->to_ns = UINT64_MAX;
    return code;
}

static enum weft_output_form form_of(const struct options *opts)
{
    switch ((enum weft_export_format)opts->format) {
    case WEFT_EXPORT_CSV:
        return opts->raw ? WEFT_OUTPUT_EXACT : WEFT_OUTPUT_TEXT;
    case WEFT_EXPORT_FOLDED:
        return WEFT_OUTPUT_TEXT;
    case WEFT_EXPORT_CHROME:
    case WEFT_EXPORT_SPEEDSCOPE:
        return WEFT_OUTPUT_JSON;
    default:
        return WEFT_OUTPUT_EXACT;
    }
}

static enum weft_code write_export(struct weft_cli *cli, const struct options *opts,
                                   struct weft_export_totals *totals)
{
    struct weft_thread_filter filter = weft_session_filter(cli->session);
    struct weft_export_opts how = {
        .trace = weft_session_trace(cli->session),
        .name = base_name(cli->inputs[0]),
        .thread_ids = filter.ids,
        .n_thread_ids = filter.n_ids,
        .format = (enum weft_export_format)opts->format,
        .weight = (enum weft_export_weight)opts->weight,
        .progress = cli->progress,
    };
    struct weft_output *out;
    enum weft_code code = find_window(cli, opts, &how.window);
    WEFT_THEN(code, weft_cli_output(cli, &out));
    if (code != WEFT_OK)
        return code;
    weft_output_set_form(out, form_of(opts));
    code = weft_export_write(&how, out, totals, &cli->err);
    if (code != WEFT_OK) {
        weft_output_abort(out);
        return code;
    }
    uint64_t n_bytes = weft_output_offset(out);
    code = weft_output_close(out, &cli->err);
    weft_cli_quiet_line(cli);
    if (code == WEFT_OK && !cli->common.quiet && cli->common.output &&
        strcmp(cli->common.output, "-") != 0)
        weft_say("weft: wrote %s, %s\n", cli->common.output, weft_human_bytes(n_bytes).text);
    return code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .format = WEFT_EXPORT_FORMATS };
    struct weft_export_totals totals = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.format == WEFT_EXPORT_FORMATS)
        return weft_cli_usage(cli, "expected --format chrome, perfetto, folded, csv or speedscope");
    if (opts.weight != WEFT_EXPORT_SELF && opts.format != WEFT_EXPORT_FOLDED)
        return weft_cli_usage(cli, "--weight belongs to --format folded");
    if (opts.raw && opts.format != WEFT_EXPORT_CSV)
        return weft_cli_usage(cli, "--raw belongs to --format csv");
    if (opts.format == WEFT_EXPORT_PERFETTO && !cli->common.output && isatty(STDOUT_FILENO))
        return weft_cli_usage(cli, "perfetto is binary: expected -o FILE, or a pipe");
    enum weft_code code = weft_cli_open(cli);
    WEFT_THEN(code, write_export(cli, &opts, &totals));
    if (code == WEFT_OK && !cli->common.quiet)
        tell_lost(&opts, &totals);
    return weft_cli_end(cli, code);
}

const struct weft_command weft_cmd_export = {
    .name = "export",
    .summary = "write the trace for other tools",
    .arguments = "TRACE --format FORMAT",
    .about = "chrome      Chrome trace events (JSON): chrome://tracing, Perfetto\n"
             "perfetto    Perfetto's own format: ui.perfetto.dev, trace_processor\n"
             "folded      folded stacks: flamegraph.pl, speedscope\n"
             "csv         one line a call\n"
             "speedscope  speedscope's own format",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_PATHS | WEFT_COMMON_OUTPUT | WEFT_COMMON_TID | WEFT_COMMON_MEMORY |
              WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
