/* SPDX-License-Identifier: MIT
 *
 * Resolves both sides to files and windows (query/part.h), mines each with the same options, and
 * compares the tables. Two parts of one file share a session.
 */
#include "cli/shapes_versus.h"

#include "query/part.h"
#include "query/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int weft_cli_shapes_versus(struct weft_cli *cli, const struct weft_versus *versus)
{
    struct sides sides = { .versus = versus };
    struct weft_err err = { 0 };
    const char *wrong = read_sides(cli, &sides, &err);
    int status = wrong ? weft_cli_usage(cli, wrong) : answer(cli, &sides);
    weft_part_fini(&sides.parts[0]);
    weft_part_fini(&sides.parts[1]);
    return status;
}
