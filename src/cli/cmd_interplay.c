/* SPDX-License-Identifier: MIT
 *
 * weft interplay: reads the user's table of blocking functions before the first question, as the
 * session keeps its waits, then asks one analysis.
 */
#include "base/file.h"
#include "cli/ask.h"

struct options {
    const char *from, *to, *object, *table;
    uint64_t limit;
    unsigned list;
    bool is_matrix, is_patterns;
};

#define MEMBER(member) offsetof(struct options, member)
static const char *const lists[] = { "patterns", "threads", "matrix", "pairs",
                                     "objects",  "waits",   "losses", NULL };

static const struct weft_option options[] = {
    WEFT_OPTION_WINDOW(MEMBER(from), MEMBER(to)),
    { 0, "object", "OBJECT", "only waits for this object, by address (0x...) or name",
      WEFT_OPTION_TEXT, MEMBER(object), NULL },
    { 0, "matrix", NULL, "only the wait-for relations of threads", WEFT_OPTION_FLAG,
      MEMBER(is_matrix), NULL },
    { 0, "patterns", NULL, "only the patterns, each of them", WEFT_OPTION_FLAG, MEMBER(is_patterns),
      NULL },
    { 0, "list", "patterns|threads|matrix|pairs|objects|waits|losses",
      "which list is written as CSV (default: patterns)", WEFT_OPTION_CHOICE, MEMBER(list), lists },
    { 0, "table", "FILE", "blocking functions, one a line (see weft-interplay(1))",
      WEFT_OPTION_FILE, MEMBER(table), NULL },
    { 'n', "limit", "N", "rows of each list, at most; 0: all (default: 10 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 10, MOST_TABLE_BYTES = 16 << 20 };

static enum weft_code read_table(struct weft_cli *cli, const char *path)
{
    struct weft_mapped file;
    WEFT_TRY(weft_mapped_open(path, &file, &cli->err));
    const struct weft_str text = { (const char *)file.bytes, (size_t)file.n_bytes };
    enum weft_code code = file.n_bytes > MOST_TABLE_BYTES
                              ? weft_fail(&cli->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                                          "%s: a table of functions has at most 16 MiB", path)
                              : weft_session_blocking_names(cli->session, text, path, &cli->err);
    weft_mapped_close(&file);
    return code;
}

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    const struct options *opts = context;
    enum weft_code code = opts->table ? read_table(cli, opts->table) : WEFT_OK;
    request->interplay.all_processes = cli->common.all_processes;
    request->interplay.object = opts->object ? weft_str_of(opts->object) : (struct weft_str){ 0 };
    return code == WEFT_OK ? weft_cli_window(cli, opts->from, opts->to, &request->interplay.from_ns,
                                             &request->interplay.to_ns)
                           : code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct options *opts = context;
    struct weft_interplay_view how = {
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
        .list = (enum weft_interplay_list)opts->list,
    };
    if (opts->is_matrix)
        how.lists |= 1U << (how.list = WEFT_INTERPLAY_MATRIX);
    if (opts->is_patterns)
        how.lists |= 1U << (how.list = WEFT_INTERPLAY_PATTERNS);
    weft_render_interplay(view, result->interplay, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const struct weft_question question = {
        .analysis = "interplay", .context = &opts, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_interplay = {
    .name = "interplay",
    .summary = "thread interaction: waits, and which thread ended them",
    .arguments = "TRACE",
    .about =
        "Joins each wait of a thread (lock, condition, semaphore, barrier, end of a thread) with\n"
        "the release that ended it. Shows the largest blocker, patterns by kind (convoys, "
        "polling,\n"
        "producers, imbalance, idle threads), wait-for relations, wait and wake sites, and\n"
        "objects. Sources are the program's events, kernel events, or both. What the sources do\n"
        "not contain is listed.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
