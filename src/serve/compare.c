/* SPDX-License-Identifier: MIT
 *
 * Executions, and what differs between two groups of them (docs/http-api.md).
 */
#include "schema/compare.h"

#include "query/database/database.h"
#include "query/executions.h"
#include "render/columns/compared.h"
#include "render/text/compare.h"
#include "render/text/render.h"
#include "serve/state.h"

/* ---- types ----------------------------------------------------------------------------------- */

static void put_types(struct weft_json *json, const struct weft_execution_type *types,
                      size_t n_types)
{
    weft_json_begin_array(json, "types");
    for (size_t i = 0; i < n_types; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", types[i].name);
        weft_json_u64(json, "count", types[i].count);
        weft_json_u64(json, "unfinished", types[i].unfinished);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void put_proposals(struct weft_json *json, const struct weft_execution_proposals *proposals)
{
    weft_json_begin_array(json, "proposals");
    for (size_t i = 0; proposals && i < proposals->n; i++) {
        const struct weft_execution_proposal *one = &proposals->items[i];
        weft_json_begin_object(json, NULL);
        weft_json_str(json, "name", one->name);
        weft_json_str(json, "begin", one->begin);
        weft_json_str(json, "end", one->end);
        weft_json_str(json, "match", one->match);
        weft_json_str(json, "within", one->within);
        weft_json_text(json, "why", weft_proposal_why(one->kind));
        weft_json_u64(json, "count", one->count);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

static void render_types(const struct weft_ask *ask, const struct weft_execution_type *types,
                         size_t n_types, const struct weft_execution_proposals *proposals)
{
    const struct weft_view view = weft_ask_view(ask);
    struct weft_json *json = weft_view_json(&view);
    if (!json)
        return; /* the view holds the failure */
    weft_json_begin_object(json, NULL);
    put_types(json, types, n_types);
    put_proposals(json, proposals);
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
}

static enum weft_code types_of_database(const struct weft_ask *ask, struct weft_err *err)
{
    struct weft_database *database = NULL;
    struct weft_execution_type *types = NULL;
    struct weft_arena *arena = weft_arena_new(0);
    size_t n_types = 0;
    if (!arena)
        return weft_no_memory(err, "executions");
    enum weft_code code =
        weft_database_open(ask->database->path, WEFT_DATABASE_READ, &database, err);
    if (code == WEFT_OK && ask->run)
        weft_database_watch(database, ask->run->progress);
    WEFT_THEN(code, weft_database_types(database, arena, &types, &n_types, err));
    if (code == WEFT_OK)
        render_types(ask, types, n_types, NULL);
    weft_database_close(database);
    weft_arena_free(arena);
    return code;
}

WEFT_ENDPOINT(types)
{
    struct weft_execution_proposals *proposals = NULL;
    if (ask->database)
        return types_of_database(ask, err);
    enum weft_code code = weft_execution_proposals(ask->session, &proposals, err);
    if (code == WEFT_OK)
        render_types(ask, NULL, 0, proposals);
    weft_execution_proposals_free(proposals);
    return code;
}

/* ---- executions ------------------------------------------------------------------------------ */

/* Which of the traces served is called so. */
static void put_trace(const void *context, struct weft_json *json, struct weft_str path)
{
    const struct weft_ask *ask = context;
    const struct weft_serve_state *state = ask->state;
    if (ask->served) { /* they are of the trace asked */
        weft_json_u64(json, "trace", ask->query->trace);
        return;
    }
    for (size_t i = 0; i < state->n_traces; i++)
        if (weft_str_equal(path, weft_str_of(state->traces[i].path))) {
            weft_json_u64(json, "trace", i);
            return;
        }
    const struct weft_str name = weft_str_base(path);
    for (size_t i = 0; i < state->n_traces; i++)
        if (weft_str_equal(name, weft_str_of(state->traces[i].name))) {
            weft_json_u64(json, "trace", i);
            return;
        }
    weft_json_null(json, "trace");
}

WEFT_ENDPOINT(executions)
{
    struct weft_comparison *comparison = NULL;
    WEFT_TRY(weft_comparisons_get(ask, &comparison, err));
    const struct weft_listing_view how = { .matrix = weft_comparison_matrix(comparison),
                                           .put_trace = put_trace,
                                           .context = ask };
    ask->answer->type = weft_type_columns;
    return weft_query_has(ask->query, WEFT_PARAM_NODE)
               ? weft_render_context(ask->answer->body, how.matrix, ask->query->node, err)
               : weft_render_listing(ask->answer->body, &how, err);
}

/* ---- compare --------------------------------------------------------------------------------- */

static struct weft_comparison_view comparison_view(const struct weft_ask *ask,
                                                   const struct weft_ecct_matrix *matrix,
                                                   const struct weft_compare_table *table)
{
    return (struct weft_comparison_view){
        .matrix = matrix, .table = table, .a = ask->query->a.bytes, .b = ask->query->b.bytes
    };
}

/* As `weft compare --format csv` writes them. */
static void write_csv(const struct weft_ask *ask, const struct weft_comparison_view *how)
{
    struct weft_view view = weft_ask_view(ask);
    view.format = WEFT_FORMAT_CSV;
    ask->answer->type = weft_type_csv;
    weft_output_set_form(view.out, WEFT_OUTPUT_TEXT);
    weft_render_comparison(&view, how);
}

static enum weft_code write_compared(const struct weft_ask *ask,
                                     const struct weft_comparison *comparison,
                                     const struct weft_compare_table *table, struct weft_err *err)
{
    const struct weft_ecct_matrix *matrix = weft_comparison_matrix(comparison);
    const struct weft_comparison_view how = comparison_view(ask, matrix, table);
    const struct weft_compared_view view = { .comparison = &how,
                                             .table = table,
                                             .members = weft_comparison_members(comparison),
                                             .n_items = matrix->n_items,
                                             .n_cause_of = table->n_b };
    ask->answer->type = weft_type_columns;
    return weft_render_compared(ask->answer->body, &view, err);
}

WEFT_ENDPOINT(compare)
{
    const struct weft_query *query = ask->query;
    const bool is_draft = query->is_draft == 1;
    const struct weft_comparison_opts opts = {
        .a = { query->a.bytes, query->a.n },
        .b = { query->b.bytes, query->b.n },
        .n_bootstrap = is_draft ? 0 : WEFT_COMPARE_BOOTSTRAP,
        .with_causes = !is_draft,
    };
    struct weft_comparison *comparison = NULL;
    struct weft_compare_table *table = NULL;
    enum weft_code code = weft_comparisons_get(ask, &comparison, err);
    WEFT_THEN(code, weft_comparison_run(comparison, &opts, &table, err));
    if (code == WEFT_OK && query->is_csv == 1) {
        const struct weft_comparison_view how =
            comparison_view(ask, weft_comparison_matrix(comparison), table);
        write_csv(ask, &how);
    } else {
        WEFT_THEN(code, write_compared(ask, comparison, table, err));
    }
    weft_result_free(table);
    return code;
}
