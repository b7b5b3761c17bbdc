/* SPDX-License-Identifier: MIT
 *
 * weft shapes: chooses one view among many that exclude each other, resolves patterns to functions
 * and ids to shapes, and asks once.
 */
#include "cli/ask.h"
#include "cli/cli.h"
#include "query/parse.h"
#include "query/part.h"
#include "query/session.h"
#include "query/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes versus --------------------------------------------------------------------------- */

/* weft shapes --new-in A --vs B: what one trace, or part of one, does that another does not.
 * Resolves both sides to files and windows (query/part.h), mines each with the same options, and
 * compares the tables. Two parts of one file share a session. */

struct weft_versus {
    const char *new_in; /* NULL: the argument, from `from` to `to` */
    const char *vs;
    const char *from, *to;
    const char *exclude;              /* pattern of functions; NULL: none */
    struct weft_shapes_opts settings; /* without window and functions */
    uint64_t limit;
};

/* The two sides: 0 is A, 1 is B. Side 1 may share the session of side 0. */
struct sides {
    const struct weft_versus *versus;
    struct weft_part parts[2];
    const char *paths[2];
    struct weft_session *sessions[2];
    union weft_result results[2];
    struct weft_arena *arena;
};

/* ---- what was asked -------------------------------------------------------------------------- */

/* Which files: a side without one is a part of the argument, or of the file of the other side. */
static const char *choose_paths(struct weft_cli *cli, struct sides *sides)
{
    const char *argument = cli->n_inputs > 0 ? cli->inputs[0] : NULL;
    if (argument && sides->parts[0].path)
        return "the file of --new-in and the argument exclude each other";
    sides->paths[0] = sides->parts[0].path ? sides->parts[0].path : argument;
    if (!sides->paths[0])
        return "expected TRACE, or its name in --new-in";
    sides->paths[1] = sides->parts[1].path ? sides->parts[1].path : sides->paths[0];
    cli->inputs[0] = sides->paths[0];
    cli->n_inputs = 1;
    return NULL;
}

/* Reads the options into `sides`; what is the matter with them, or NULL. */
static const char *read_sides(struct weft_cli *cli, struct sides *sides, struct weft_err *err)
{
    const struct weft_versus *versus = sides->versus;
    if (!versus->vs)
        return "--new-in: expected --vs too";
    if (versus->new_in && (versus->from || versus->to))
        return "--new-in and --from/--to exclude each other";
    if (versus->new_in && weft_part_init(&sides->parts[0], versus->new_in, err) != WEFT_OK)
        return err->text;
    if (weft_part_init(&sides->parts[1], versus->vs, err) != WEFT_OK)
        return err->text;
    return choose_paths(cli, sides);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static enum weft_code find_excluded(struct weft_session *session, const char *pattern,
                                    struct weft_arena *arena, const bool **is_excluded,
                                    struct weft_err *err)
{
    const uint32_t n_functions = weft_trace_n_functions(weft_session_trace(session));
    uint32_t *ids = NULL;
    size_t n_ids;
    *is_excluded = NULL;
    if (!pattern)
        return WEFT_OK;
    WEFT_TRY(weft_session_find_functions(session, pattern, &ids, &n_ids, err));
    bool *flags = WEFT_ARENA_NEW(arena, n_functions, bool);
    for (size_t i = 0; flags && i < n_ids; i++)
        flags[ids[i]] = true;
    free(ids);
    *is_excluded = flags;
    return flags ? WEFT_OK : weft_no_memory(err, "functions");
}

static enum weft_code mine(struct weft_cli *cli, struct sides *sides, size_t side)
{
    const struct weft_versus *versus = sides->versus;
    const struct weft_part *part = &sides->parts[side];
    const bool is_argument = side == 0 && !versus->new_in;
    union weft_request request = { .shapes = versus->settings };
    struct weft_window window;
    enum weft_code code = weft_session_window(
        sides->sessions[side], is_argument ? versus->from : part->from,
        is_argument ? versus->to : part->to, &window.from_ns, &window.to_ns, &cli->err);
    if (part->is_part || (is_argument && (versus->from || versus->to)))
        request.shapes.window = &window;
    WEFT_THEN(code, find_excluded(sides->sessions[side], versus->exclude, sides->arena,
                                  &request.shapes.is_excluded, &cli->err));
    WEFT_THEN(code, weft_query_run(sides->sessions[side], "shapes", &request, &sides->results[side],
                                   &cli->err));
    if (code != WEFT_OK)
        (void)weft_in_file(&cli->err, sides->paths[side]);
    return code;
}

static enum weft_code open_sides(struct weft_cli *cli, struct sides *sides)
{
    enum weft_code code = weft_cli_open(cli);
    sides->sessions[0] = sides->sessions[1] = cli->session;
    if (code != WEFT_OK || strcmp(sides->paths[0], sides->paths[1]) == 0)
        return code;
    sides->sessions[1] = NULL;
    code = weft_cli_open_trace(cli, sides->paths[1], &sides->sessions[1]);
    if (code != WEFT_OK)
        (void)weft_in_file(&cli->err, sides->paths[1]);
    return code;
}

/* "app.weft" or "app.weft@1s-2s", whatever the words were. */
static void name_side(const struct sides *sides, size_t side, char *text, size_t n_bytes)
{
    const struct weft_part *part = &sides->parts[side];
    const bool is_argument = side == 0 && !sides->versus->new_in;
    const char *from = is_argument ? sides->versus->from : part->from;
    const char *to = is_argument ? sides->versus->to : part->to;
    const bool has_window = part->is_part || from || to;
    snprintf(text, n_bytes, "%.200s%s%.40s%s%.40s", sides->paths[side], has_window ? "@" : "",
             from ? from : "", has_window ? "-" : "", to ? to : "");
}

static enum weft_code show(struct weft_cli *cli, struct sides *sides)
{
    struct weft_shapes_change_view how = { .limit = sides->versus->limit };
    struct weft_shape_changes changes;
    struct weft_view view;
    char names[2][300];
    for (size_t side = 0; side < 2; side++) {
        how.traces[side] = weft_session_trace(sides->sessions[side]);
        how.tables[side] = sides->results[side].shapes;
        name_side(sides, side, names[side], sizeof names[side]);
        how.names[side] = names[side];
    }
    enum weft_code code =
        weft_shapes_compare(how.traces, how.tables, &cli->run, sides->arena, &changes, &cli->err);
    WEFT_THEN(code, weft_cli_view(cli, &view));
    if (code != WEFT_OK)
        return code;
    weft_render_shapes_changes(&view, &changes, &how);
    return weft_output_close(view.out, &cli->err);
}

static int answer(struct weft_cli *cli, struct sides *sides)
{
    enum weft_code code = open_sides(cli, sides);
    sides->arena = weft_arena_new(0);
    if (code == WEFT_OK && !sides->arena)
        code = weft_no_memory(&cli->err, "shapes");
    for (size_t side = 0; side < 2 && code == WEFT_OK; side++)
        code = mine(cli, sides, side);
    WEFT_THEN(code, show(cli, sides));
    for (size_t side = 0; side < 2; side++)
        weft_result_free(sides->results[side].any);
    weft_arena_free(sides->arena);
    if (sides->sessions[1] != cli->session)
        weft_session_close(sides->sessions[1]);
    return weft_cli_end(cli, code);
}

/* The whole command. Returns the exit status. */
static int weft_cli_shapes_versus(struct weft_cli *cli, const struct weft_versus *versus)
{
    struct sides sides = { .versus = versus };
    struct weft_err err = { 0 };
    const char *wrong = read_sides(cli, &sides, &err);
    int status = wrong ? weft_cli_usage(cli, wrong) : answer(cli, &sides);
    weft_part_fini(&sides.parts[0]);
    weft_part_fini(&sides.parts[1]);
    return status;
}

/* ---- cmd shapes ------------------------------------------------------------------------------ */

struct options {
    uint32_t threshold_halves;
    uint64_t min_count, limit;
    unsigned sort; /* enum weft_shapes_sort */
    const char *exclude, *function, *calls, *from, *to;
    const char *cluster, *new_in, *vs;
    const char *diff[2], *near[2];
    bool threads, list, spikes, drops, rare, verify;
};

#define MEMBER(member) offsetof(struct options, member)

static const char *const sorts[] = { "time",  "count", "mean", "max",    "threads",  "first", "id",
                                     "depth", "p50",   "p99",  "shapes", "surprise", NULL };

static const struct weft_option options[] = {
    { 0, "threshold", "D",
      "largest distance of shapes in a cluster, in steps of 0.5 (default: 1.5)", WEFT_OPTION_HALVES,
      MEMBER(threshold_halves), NULL },
    { 0, "min-count", "N", "omit clusters of fewer calls from the list and the ribbons",
      WEFT_OPTION_COUNT, MEMBER(min_count), NULL },
    { 'x', "exclude", "PATTERN",
      "count functions that contain PATTERN, or match /PATTERN/, as their callers",
      WEFT_OPTION_TEXT, MEMBER(exclude), NULL },
    { 'f', "function", "PATTERN",
      "list clusters and shapes of functions that contain PATTERN, or match /PATTERN/",
      WEFT_OPTION_TEXT, MEMBER(function), NULL },
    { 0, "calls", "PATTERN", "list those that call such a function, directly or not",
      WEFT_OPTION_TEXT, MEMBER(calls), NULL },
    { 0, "from", "TIME", "only from TIME on, such as 1.5s", WEFT_OPTION_TEXT, MEMBER(from), NULL },
    { 0, "to", "TIME", "only before TIME", WEFT_OPTION_TEXT, MEMBER(to), NULL },
    { 0, "cluster", "ID", "one cluster: its shapes drawn, where it occurs, and on which threads",
      WEFT_OPTION_TEXT, MEMBER(cluster), NULL },
    { 0, "diff", "A B", "shapes A and B side by side, and what their distance consists of",
      WEFT_OPTION_PAIR, MEMBER(diff), NULL },
    { 0, "near", "S D", "the shapes within a distance D of shape S", WEFT_OPTION_PAIR, MEMBER(near),
      NULL },
    { 0, "list-shapes", NULL, "every shape (JSON: with its callees)", WEFT_OPTION_FLAG,
      MEMBER(list), NULL },
    { 0, "threads", NULL, "only the number of shapes and clusters of each thread", WEFT_OPTION_FLAG,
      MEMBER(threads), NULL },
    { 0, "spikes", NULL, "calls far longer than others of their cluster", WEFT_OPTION_FLAG,
      MEMBER(spikes), NULL },
    { 0, "drops", NULL, "intervals in which a cluster occurs far less often", WEFT_OPTION_FLAG,
      MEMBER(drops), NULL },
    { 0, "rare", NULL, "shapes seen once or on one thread, and calls slow for their shape",
      WEFT_OPTION_FLAG, MEMBER(rare), NULL },
    { 0, "new-in", "A",
      "with --vs: A is TRACE, TRACE@FROM-TO or @FROM-TO (default: the argument, --from, --to)",
      WEFT_OPTION_TEXT, MEMBER(new_in), NULL },
    { 0, "vs", "B", "shapes and clusters that are new in A against B, gone, or of another rate",
      WEFT_OPTION_TEXT, MEMBER(vs), NULL },
    { 0, "verify", NULL,
      "check order, distances, clusters, ribbons and counts; fails if one is wrong",
      WEFT_OPTION_FLAG, MEMBER(verify), NULL },
    { 's', "sort", "KEY",
      "time, count, mean, max, threads, first, depth or id; of clusters also p50, p99, shapes or "
      "surprise (default: time)",
      WEFT_OPTION_CHOICE, MEMBER(sort), sorts },
    { 'n', "limit", "N",
      "print the first N only (of drawings: N lines); 0: all (default: 25 as text, else all, but "
      "1000 spikes or drops)",
      WEFT_OPTION_COUNT, MEMBER(limit), NULL },
};

enum { TEXT_LIMIT = 25, LINES_LIMIT = 60, SPIKES_LIMIT = 1000 };

/* ---- what was asked -------------------------------------------------------------------------- */

/* One view at a time; the summary when none is named. */
static bool choose_part(const struct options *opts, enum weft_shapes_part *part)
{
    const struct {
        bool is_asked;
        enum weft_shapes_part part;
    } parts[] = {
        { opts->cluster, WEFT_SHAPES_CLUSTER }, { opts->diff[0], WEFT_SHAPES_DIFF },
        { opts->near[0], WEFT_SHAPES_NEAR },    { opts->list, WEFT_SHAPES_LIST },
        { opts->threads, WEFT_SHAPES_THREADS }, { opts->spikes, WEFT_SHAPES_SPIKES },
        { opts->drops, WEFT_SHAPES_DROPS },     { opts->rare, WEFT_SHAPES_RARE },
        { opts->verify, WEFT_SHAPES_VERIFY },
    };
    size_t n_asked = opts->vs || opts->new_in ? 1 : 0;
    *part = WEFT_SHAPES_SUMMARY;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].is_asked) {
            *part = parts[i].part;
            n_asked++;
        }
    return n_asked <= 1;
}

static enum weft_code parse_id(const char *name, const char *text, uint32_t *id,
                               struct weft_err *err)
{
    struct weft_err cause = { 0 };
    uint64_t number;
    if (weft_parse_count(text, 0, UINT32_MAX - 1, &number, &cause) != WEFT_OK)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--%s: %s", name, cause.text);
    *id = (uint32_t)number;
    return WEFT_OK;
}

/* The ids (and the distance) in the arguments. */
static enum weft_code parse_ids(const struct options *opts, struct weft_shapes_view *how,
                                struct weft_err *err)
{
    struct weft_err cause = { 0 };
    enum weft_code code = WEFT_OK;
    if (opts->cluster)
        return parse_id("cluster", opts->cluster, &how->id, err);
    if (opts->diff[0]) {
        code = parse_id("diff", opts->diff[0], &how->id, err);
        return code == WEFT_OK ? parse_id("diff", opts->diff[1], &how->other_id, err) : code;
    }
    if (!opts->near[0])
        return WEFT_OK;
    code = parse_id("near", opts->near[0], &how->id, err);
    if (code == WEFT_OK &&
        weft_parse_halves(opts->near[1], WEFT_HALVES_MAX, &how->bound_halves, &cause) != WEFT_OK)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "--near: %s", cause.text);
    return code;
}

static uint64_t limit_of(const struct weft_cli *cli, const struct options *opts,
                         enum weft_shapes_part part)
{
    if (opts->limit != WEFT_LIMIT_DEFAULT)
        return opts->limit;
    if (cli->common.format != WEFT_FORMAT_TEXT)
        return 0;
    return part == WEFT_SHAPES_CLUSTER || part == WEFT_SHAPES_DIFF ? LINES_LIMIT : TEXT_LIMIT;
}

/* What is the matter with the options, or NULL; *err holds the text of a bad id. */
static const char *check(const struct weft_cli *cli, const struct options *opts,
                         struct weft_shapes_view *how, struct weft_err *err)
{
    const bool is_filtered = opts->function || opts->calls;
    if (!choose_part(opts, &how->part))
        return "--cluster, --diff, --near, --list-shapes, --threads, --spikes, --drops, --rare, "
               "--vs and --verify exclude each other";
    how->sort = (enum weft_shapes_sort)opts->sort;
    if (how->sort >= WEFT_SHAPES_BY_P50 && how->part == WEFT_SHAPES_LIST)
        return "--sort: p50, p99, shapes and surprise are of clusters, not of shapes";
    if (is_filtered && (opts->vs || opts->new_in))
        return "--function and --calls are of the list of clusters and of --list-shapes";
    if (is_filtered && how->part != WEFT_SHAPES_SUMMARY && how->part != WEFT_SHAPES_LIST)
        return "--function and --calls are of the list of clusters and of --list-shapes";
    how->limit = limit_of(cli, opts, how->part);
    return parse_ids(opts, how, err) == WEFT_OK ? NULL : err->text;
}

/* ---- the answer ------------------------------------------------------------------------------ */

struct gallery {
    const struct options *opts;
    struct weft_shapes_opts settings;
    struct weft_window window;
    bool *is_own, *is_called; /* by function id; NULL: all */
    struct weft_shapes_view how;
    struct weft_arena *arena; /* what the others point to */
    char wanted[160];
};

/* "of a function that matches 'a' and calls one that matches 'b'". */
static void describe(const struct options *opts, char *text, size_t n_bytes)
{
    int n = 0;
    if (opts->function)
        n = snprintf(text, n_bytes, "of a function that matches '%.40s'", opts->function);
    if (opts->calls && n >= 0 && (size_t)n < n_bytes)
        snprintf(text + n, n_bytes - (size_t)n, "%s calls one that matches '%.40s'",
                 n > 0 ? " and" : "of a function that", opts->calls);
}

/* The functions that `pattern` names, as flags by function id. */
static enum weft_code find_flags(struct weft_cli *cli, struct weft_arena *arena,
                                 const char *pattern, bool **flags, size_t *n_found)
{
    const uint32_t n_functions = weft_trace_n_functions(weft_session_trace(cli->session));
    uint32_t *ids = NULL;
    *flags = NULL;
    if (!pattern)
        return WEFT_OK;
    WEFT_TRY(weft_session_find_functions(cli->session, pattern, &ids, n_found, &cli->err));
    *flags = WEFT_ARENA_NEW(arena, n_functions, bool);
    for (size_t i = 0; *flags && i < *n_found; i++)
        (*flags)[ids[i]] = true;
    free(ids);
    return *flags ? WEFT_OK : weft_no_memory(&cli->err, "functions");
}

static enum weft_code request(struct weft_cli *cli, void *context, union weft_request *request)
{
    struct gallery *gallery = context;
    const struct options *opts = gallery->opts;
    enum weft_code code = WEFT_OK;
    size_t n_found;
    bool *is_excluded = NULL;
    gallery->arena = weft_arena_new(0);
    if (!gallery->arena)
        return weft_no_memory(&cli->err, "shapes");
    if (opts->from || opts->to) {
        code = weft_cli_window(cli, opts->from, opts->to, &gallery->window.from_ns,
                               &gallery->window.to_ns);
        gallery->settings.window = &gallery->window;
    }
    WEFT_THEN(code, find_flags(cli, gallery->arena, opts->exclude, &is_excluded,
                               &gallery->how.n_excluded));
    WEFT_THEN(code, find_flags(cli, gallery->arena, opts->function, &gallery->is_own, &n_found));
    WEFT_THEN(code, find_flags(cli, gallery->arena, opts->calls, &gallery->is_called, &n_found));
    gallery->settings.is_excluded = is_excluded;
    request->shapes = gallery->settings;
    return code;
}

static enum weft_code verify(struct weft_cli *cli, const struct weft_shapes_table *table,
                             struct weft_arena *arena, struct weft_shapes_view *how)
{
    struct weft_shape_verdict *verdicts =
        WEFT_ARENA_NEW(arena, WEFT_PROMISES, struct weft_shape_verdict);
    how->verdicts = verdicts;
    if (!verdicts)
        return weft_no_memory(&cli->err, "verdicts");
    return weft_shapes_verify(weft_session_trace(cli->session), table, arena, verdicts, &cli->err);
}

/* What a view needs beyond the table. */
static enum weft_code prepare(struct weft_cli *cli, const struct weft_shapes_table *table,
                              struct weft_arena *arena, struct weft_shapes_view *how)
{
    struct weft_err *err = &cli->err;
    struct weft_shapes_pair pair = { 0 };
    struct weft_shape_near *near = NULL;
    struct weft_shape_rare *rare = NULL;
    enum weft_code code = WEFT_OK;
    if (how->part == WEFT_SHAPES_CLUSTER)
        return weft_shapes_check_cluster(table, how->id, err);
    if (how->part == WEFT_SHAPES_NEAR || how->part == WEFT_SHAPES_DIFF)
        code = weft_shapes_check_shape(table, how->id, err);
    if (code == WEFT_OK && how->part == WEFT_SHAPES_DIFF)
        code = weft_shapes_check_shape(table, how->other_id, err);
    if (code != WEFT_OK)
        return code;
    if (how->part == WEFT_SHAPES_NEAR)
        code = weft_shapes_find_near(table, how->id, how->bound_halves, arena, &near, &how->n_near,
                                     err);
    else if (how->part == WEFT_SHAPES_DIFF)
        code =
            weft_shapes_match(table, how->id, how->other_id, (size_t)how->limit, arena, &pair, err);
    else if (how->part == WEFT_SHAPES_RARE)
        code = weft_shape_rare_find(table, how->settings->spike_factor, arena, &rare, &how->n_rare,
                                    err);
    else if (how->part == WEFT_SHAPES_VERIFY)
        code = verify(cli, table, arena, how);
    how->near = near;
    how->rare = rare;
    how->match = pair.nodes;
    how->n_match = pair.n_nodes;
    how->is_match_cut = pair.is_cut;
    return code;
}

static enum weft_code examine(struct weft_cli *cli, void *context, const union weft_result *result)
{
    struct gallery *gallery = context;
    bool *is_listed = NULL;
    enum weft_code code = WEFT_OK;
    if (gallery->is_own || gallery->is_called)
        code = weft_shapes_select(result->shapes, gallery->is_own, gallery->is_called,
                                  gallery->arena, &is_listed, &cli->err);
    gallery->how.is_listed = is_listed;
    return code == WEFT_OK ? prepare(cli, result->shapes, gallery->arena, &gallery->how) : code;
}

static void render(const struct weft_view *view, void *context, const union weft_result *result)
{
    const struct gallery *gallery = context;
    weft_render_shapes(view, result->shapes, &gallery->how);
}

static bool has_broken(const struct weft_shape_verdict *verdicts)
{
    for (size_t i = 0; verdicts && i < WEFT_PROMISES; i++)
        if (verdicts[i].n_wrong > 0)
            return true;
    return false;
}

static int run(struct weft_cli *cli, int argc, char **argv)
{
    struct options opts = { .limit = WEFT_LIMIT_DEFAULT };
    struct gallery gallery = { .opts = &opts };
    struct weft_err wrong = { 0 };
    weft_shapes_defaults(&gallery.settings);
    opts.threshold_halves = gallery.settings.threshold_halves;
    if (!weft_cli_parse(cli, &opts, argc, argv))
        return cli->exit_status;
    const char *text = check(cli, &opts, &gallery.how, &wrong);
    if (text)
        return weft_cli_usage(cli, text);
    gallery.settings.threshold_halves = opts.threshold_halves;
    gallery.settings.min_count = opts.min_count;
    gallery.settings.n_columns = 0;
    gallery.settings.limit = (uint32_t)gallery.how.limit;
    if (opts.limit == WEFT_LIMIT_DEFAULT && gallery.how.limit == 0)
        gallery.settings.limit = SPIKES_LIMIT;
    if (opts.vs || opts.new_in) {
        const struct weft_versus versus = { .new_in = opts.new_in,
                                            .vs = opts.vs,
                                            .from = opts.from,
                                            .to = opts.to,
                                            .exclude = opts.exclude,
                                            .settings = gallery.settings,
                                            .limit = gallery.how.limit };
        return weft_cli_shapes_versus(cli, &versus);
    }
    if (cli->n_inputs == 0)
        return weft_cli_usage(cli, "expected TRACE");
    gallery.how.settings = &gallery.settings;
    gallery.how.excluded = opts.exclude;
    gallery.how.wanted = gallery.wanted;
    describe(&opts, gallery.wanted, sizeof gallery.wanted);
    const struct weft_question question = { .analysis = "shapes",
                                            .context = &gallery,
                                            .request = request,
                                            .examine = examine,
                                            .render = render };
    int status = weft_cli_ask(cli, &question);
    if (status == WEFT_EXIT_DONE && has_broken(gallery.how.verdicts))
        status = WEFT_EXIT_FAILED;
    weft_arena_free(gallery.arena);
    return status;
}

const struct weft_command weft_cmd_shapes = {
    .name = "shapes",
    .summary = "call patterns: calls grouped by their callees",
    .arguments = "TRACE",
    .about =
        "A shape is a function and the set of its callees' shapes: order and repetition do not\n"
        "matter. Similar shapes of one function are a cluster, a call pattern of the program. "
        "Numbers\n"
        "of shapes and clusters stay the same for the same trace and options.",
    .options = options,
    .n_options = sizeof options / sizeof *options,
    .common = WEFT_COMMON_ALL | WEFT_COMMON_PROCESSES,
    .n_inputs_min = 0, /* --new-in may name it */
    .n_inputs_max = 1,
    .run = run,
};
