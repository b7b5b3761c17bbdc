/* SPDX-License-Identifier: MIT
 *
 * weft path: chooses the thread and interval by times, by a call or by a span, adds declared
 * dependencies to the session, and asks for the critical path.
 */
#include "base/checked.h"
#include "cli/ask.h"
#include "query/rules.h"
#include "schema/calls.h"

struct options {
    const char *thread, *from, *to, *during, *span, *rules;
    uint64_t limit, width, call_depth;
};

#define MEMBER(member) offsetof(struct options, member)
#define NO_NUMBER UINT64_MAX

static const struct weft_option options[] = {
    { 0, "thread", "TID", "whose path", WEFT_OPTION_TEXT, MEMBER(thread), NULL },
    { 0, "from", "TIME",
      "start of the path, such as 1.5s or @123456789 (default: the thread's first event)",
      WEFT_OPTION_TEXT, MEMBER(from), NULL },
    { 0, "to", "TIME", "its end (default: where the thread's last state or event does)",
      WEFT_OPTION_TEXT, MEMBER(to), NULL },
    { 0, "during", "TID:FUNCTION:N",
      "the path of the N-th longest call of FUNCTION on thread TID (default: the longest)",
      WEFT_OPTION_TEXT, MEMBER(during), NULL },
    { 0, "span", "NAME", "the path of the longest span with this name, or whose name contains it",
      WEFT_OPTION_TEXT, MEMBER(span), NULL },
    { 0, "call-depth", "N",
      "name the functions called at this depth, 0 being the outermost (default: the innermost)",
      WEFT_OPTION_COUNT, MEMBER(call_depth), NULL },
    { 0, "rules", "FILE", "a file of rules, whose dependencies (depend ...) the path also follows",
      WEFT_OPTION_FILE, MEMBER(rules), NULL },
    { 0, "width", "COLUMNS", "of the picture; 0: none (default: 60)", WEFT_OPTION_COUNT,
      MEMBER(width), NULL },
    { 'n', "limit", "N",
      "rows of each list, the longest segments; 0: all (default: 20 as text, else all)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 20, PICTURE_WIDTH = 60, WIDTH_MAX = 10000 };

struct asked {
    const struct options *opts;
    struct weft_found_call during;
    struct weft_found_span span;
};

static enum weft_code window(struct weft_cli *cli, const struct options *opts,
                             struct weft_path_opts *path)
{
    enum weft_code code = weft_cli_window(cli, opts->from, opts->to, &path->from_ns, &path->to_ns);
    WEFT_THEN(code, weft_session_find_thread(cli->session, opts->thread, path->from_ns, path->to_ns,
                                             &path->thread_id, &cli->err));
    if (code != WEFT_OK)
        return code;
    const struct weft_model_thread *thread =
        weft_trace_thread(weft_session_trace(cli->session), path->thread_id);
    if (!opts->from && thread->first_ns > path->from_ns)
        path->from_ns = thread->first_ns < path->to_ns ? thread->first_ns : path->to_ns;
    if (opts->to)
        return WEFT_OK;
    uint64_t end_ns;
    code = weft_session_thread_end(cli->session, path->thread_id, &end_ns, &cli->err);
    if (end_ns < path->to_ns)
        path->to_ns = weft_max_u64(end_ns, path->from_ns);
    return code;
}

static enum weft_code of_span(struct weft_cli *cli, const struct options *opts,
                              struct weft_found_span *span, struct weft_path_opts *path)
{
    enum weft_code code = weft_session_find_span(cli->session, opts->span, span, &cli->err);
    path->thread_id = span->thread_id;
    path->from_ns = span->start_ns;
    path->to_ns = span->end_ns;
    return code;
}

/* The dependencies of a file of rules become edges. */
static enum weft_code depend(struct weft_cli *cli, const char *path)
{
    struct weft_rules *rules = NULL;
    enum weft_code code = path ? weft_rules_read(path, &rules, &cli->err) : WEFT_OK;
    if (code == WEFT_OK && rules)
        code = weft_session_depend(cli->session, rules, NULL, &cli->err);
    weft_rules_free(rules);
    return code;
}

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    struct asked *asked = context;
    const struct options *opts = asked->opts;
    struct weft_path_opts *path = &request->path;
    const enum weft_code declared = depend(cli, opts->rules);
    if (declared != WEFT_OK)
        return declared;
    path->call_depth =
        opts->call_depth < UINT32_MAX ? (uint32_t)opts->call_depth : WEFT_PATH_INNERMOST;
    if (opts->span)
        return of_span(cli, opts, &asked->span, path);
    if (!opts->during)
        return window(cli, opts, path);
    enum weft_code code =
        weft_session_find_call(cli->session, opts->during, &asked->during, &cli->err);
    path->thread_id = asked->during.thread_id;
    path->from_ns = asked->during.start_ns;
    path->to_ns = asked->during.end_ns;
    return code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct asked *asked = context;
    const struct options *opts = asked->opts;
    struct weft_path_view how = {
        .during = opts->during ? &asked->during : NULL,
        .span = opts->span ? &asked->span : NULL,
        .limit = weft_cli_limit(view, opts->limit, TEXT_LIMIT),
        .width = opts->width < WIDTH_MAX ? (uint32_t)opts->width : WIDTH_MAX,
    };
    weft_render_path(view, result->path, &how);
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT,
                            .width = PICTURE_WIDTH,
                            .call_depth = NO_NUMBER };
    struct asked asked = { .opts = &opts };
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    if ((opts.during || opts.span) && (opts.thread || opts.from || opts.to))
        return weft_cli_usage(cli, "--during or --span, and --thread, --from, --to exclude each "
                                   "other");
    if (opts.during && opts.span)
        return weft_cli_usage(cli, "--during and --span exclude each other");
    if (!opts.during && !opts.span && !opts.thread)
        return weft_cli_usage(cli, "expected --thread TID, --during TID:FUNCTION:N or --span NAME");
    const struct weft_question question = {
        .analysis = "path", .context = &asked, .request = request, .render = render
    };
    return weft_cli_ask(cli, &question);
}

const struct weft_command weft_cmd_path = {
    .name = "path",
    .summary = "critical path of a thread, request or call across threads",
    .arguments = "TRACE",
    .about =
        "The critical path: where the thread was blocked, what the thread that woke it did "
        "before,\n"
        "and so on. Its segments cover the interval without gap or overlap. Unresolved waits keep\n"
        "their cause; unexplained time is listed last. Without scheduler events, locks and flows\n"
        "replace wakeups.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL & ~(unsigned)WEFT_COMMON_TID,
    .n_inputs_min = 1,
    .n_inputs_max = 1,
    .run = run,
};
