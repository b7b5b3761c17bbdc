/* SPDX-License-Identifier: MIT
 *
 * weft import: options for names, CSV columns and clock offsets, then src/import; then the summary
 * of the new trace. Without -o the output is named after the first input, in the current folder.
 */
#include "cli/cli.h"
#include "cli/outputs.h"
#include "import/import.h"
#include "import/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *binary;
    const char *map;
    const char *symbols;
    const char *columns;
    const char *offset;
};

static const struct weft_option options[] = {
    { 'b', "binary", "PROGRAM", "take function names from the instrumented program",
      WEFT_OPTION_FILE, offsetof(struct options, binary), NULL },
    { 'm', "map", "FILE", "take function names from an llvm-xray YAML map or a TSV table",
      WEFT_OPTION_FILE, offsetof(struct options, map), NULL },
    { 's', "symbols", "PLACE", "take names of functions from programs and libraries in this folder",
      WEFT_OPTION_FILE, offsetof(struct options, symbols), NULL },
    { 0, "columns", "NAMES", "the input is CSV with these columns: start_us,dur_us,name,-,tid",
      WEFT_OPTION_TEXT, offsetof(struct options, columns), NULL },
    { 0, "offset", "LIST", "add to the times of the inputs, in their order: 0,-1.5ms",
      WEFT_OPTION_TEXT, offsetof(struct options, offset), NULL },
};

/* "dir/log.fdr" and "dir/log.fdr.zst" become "log.weft" in the current folder; the caller frees. */
static char *default_output(const char *input)
{
    size_t end = strlen(input);
    while (end > 1 && input[end - 1] == '/')
        end--;
    char *base = strcmp(input, "-") == 0 ? strdup("stdin") : strndup(input, end);
    char *path = NULL;
    if (!base)
        return NULL;
    const char *slash = strrchr(base, '/');
    char *name = base + (slash ? slash + 1 - base : 0);
    name[weft_input_stem(name)] = '\0';
    const char *dot = strrchr(name, '.');
    const int n_bytes = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    if (asprintf(&path, "%.*s.weft", n_bytes, name) < 0)
        path = NULL;
    free(base);
    return path;
}

static enum weft_code import(struct weft_cli *cli, const struct options *opts,
                             const int64_t *offsets_ns, const char *path)
{
    struct weft_import_opts import_opts = { .inputs = cli->inputs,
                                            .n_inputs = cli->n_inputs,
                                            .binary_path = opts->binary,
                                            .map_path = opts->map,
                                            .symbols_path = opts->symbols,
                                            .columns = opts->columns,
                                            .offsets_ns = offsets_ns,
                                            .memory_bytes = cli->common.memory_bytes };
    struct weft_writer_totals totals = { 0 };
    enum weft_code code = weft_cli_begin(cli);
    WEFT_THEN(code, weft_outputs_trace(cli, path, &import_opts.output));
    WEFT_THEN(code, weft_import_run(&import_opts, &cli->run, &totals, &cli->err));
    return code == WEFT_OK ? weft_cli_summarise(cli, import_opts.output, path) : code;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { 0 };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if (opts.binary && opts.map)
        return weft_cli_usage(cli, "--binary and --map exclude each other");
    if (!cli->common.output && cli->n_inputs > 1)
        return weft_cli_usage(cli, "several inputs need -o FILE");
    if (cli->common.output && strcmp(cli->common.output, "-") == 0)
        return weft_cli_usage(cli, "a trace cannot be written to standard output");
    int64_t *offsets_ns;
    if (!weft_cli_offsets(cli, opts.offset, &offsets_ns))
        return cli->exit_status;
    char *made = cli->common.output ? NULL : default_output(cli->inputs[0]);
    const char *path = cli->common.output ? cli->common.output : made;
    enum weft_code code =
        path ? import(cli, &opts, offsets_ns, path) : weft_no_memory(&cli->err, "a path");
    int status = weft_cli_end(cli, code);
    free(made);
    free(offsets_ns);
    return status;
}

const struct weft_command weft_cmd_import = {
    .name = "import",
    .summary = "convert traces of other tools to .weft",
    .arguments = "INPUT...",
    .about =
        "The format is detected by content: LLVM XRay logs (flight data recorder, basic mode), "
        "uftrace\n"
        "directories, CTF (LTTng), perf.data, trace.dat (trace-cmd), WiredTiger operation tracking "
        "(a\n"
        "directory or its files), text traces (direction name ns, or --> name tid ns), trace "
        "event\n"
        "JSON (Chrome, Perfetto), CSV of spans with a line of column names, or .weft files. An "
        "input\n"
        "is a file, a directory, a pipe, or - for standard input; it may be compressed by gzip or\n"
        "zstd. Inputs of several traces are merged as by 'weft merge'. Without -o, the output has "
        "the\n"
        "name of the input, with .weft, in the current folder. Prints 'weft info' of it.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_FORMAT | WEFT_COMMON_OUTPUT | WEFT_COMMON_WORK | WEFT_COMMON_TALK,
    .n_inputs_min = 1,
    .n_inputs_max = SIZE_MAX,
    .run = run,
    .writes_traces = true,
    .takes_no_traces = true, /* it makes them, of recordings too */
};
