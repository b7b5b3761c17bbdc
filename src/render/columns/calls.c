/* SPDX-License-Identifier: MIT
 *
 * The lists of columns of calls and trees, and the JSON of histograms and of a single call with its
 * arguments. Workers of src/serve call these; the page reads the names that stand here.
 */
#include "render/columns/calls.h"

#include "render/columns/columns.h"
#include "schema/calls.h"
#include "schema/interval.h"
#include "schema/tables.h"

#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

static void put_calls_meta(const void *context, struct weft_json *json)
{
    const struct weft_calls_table *table = context;
    weft_json_u64(json, "total", table->n_found);
    weft_json_u64(json, "total_ns", table->sum_ns);
    weft_json_bool(json, "is_partial", table->is_partial);
}

void weft_render_calls(const struct weft_view *view, const struct weft_calls_table *table)
{
    const struct weft_columns_table columns = { "calls", &weft_calls_type, table->rows,
                                                table->n_rows, table->is_self ? NULL : "self_ns" };
    weft_columns_write(&columns, 1, put_calls_meta, table, view->out);
}

static void put_tree_meta(const void *context, struct weft_json *json)
{
    const struct weft_tree_table *table = context;
    weft_json_u64(json, "from_ns", table->from_ns);
    weft_json_u64(json, "to_ns", table->to_ns);
    weft_json_u64(json, "total", table->n_found);
    weft_json_u64(json, "folded_self_ns", table->folded_self_ns);
    weft_json_u64(json, "called_ns", table->called_ns);
    weft_json_u64(json, "no_call_ns", table->no_call_ns);
    weft_json_u64(json, "outside_ns", table->outside_ns);
}

void weft_render_tree(const struct weft_view *view, const struct weft_tree_table *table)
{
    const struct weft_columns_table columns = { "nodes", &weft_tree_type, table->rows,
                                                table->n_rows, NULL };
    weft_columns_write(&columns, 1, put_tree_meta, table, view->out);
}

/* ---- histograms ------------------------------------------------------------------------------ */

void weft_render_histogram(const struct weft_view *view, const struct weft_histogram_table *table,
                           bool is_self)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "of", is_self ? "self" : "duration");
    weft_json_u64(json, "count", table->count);
    weft_json_u64(json, "sum_ns", table->sum_ns);
    weft_json_u64(json, "min_ns", table->min_ns);
    weft_json_u64(json, "max_ns", table->max_ns);
    weft_json_begin_array(json, "bins");
    for (size_t i = 0; i < table->n_rows; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "from_ns", table->rows[i].from_ns);
        weft_json_u64(json, "to_ns", table->rows[i].to_ns);
        weft_json_u64(json, "count", table->rows[i].count);
        weft_json_u64(json, "sum_ns", table->rows[i].sum_ns);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}

/* ---- one call -------------------------------------------------------------------------------- */

void weft_call_args_see(void *context, const struct weft_walk_call *call)
{
    struct weft_call_args *args = context;
    args->numbers = WEFT_ARENA_NEW(args->arena, call->n_args, uint64_t);
    args->texts = WEFT_ARENA_NEW(args->arena, call->n_arg_texts, struct weft_str);
    args->is_failed = !args->numbers || !args->texts;
    if (args->is_failed)
        return;
    args->n_numbers = call->n_args;
    args->n_texts = call->n_arg_texts;
    if (call->n_args)
        memcpy(args->numbers, call->args, call->n_args * sizeof *call->args);
    for (size_t i = 0; i < call->n_arg_texts; i++) {
        args->texts[i] = weft_arena_copy(args->arena, call->arg_texts[i]);
        args->is_failed = args->is_failed || !args->texts[i].bytes;
    }
}

static void put_arguments(struct weft_json *json, const struct weft_call_args *args)
{
    weft_json_begin_object(json, "arguments");
    weft_json_begin_array(json, "numbers");
    for (size_t i = 0; i < args->n_numbers; i++)
        weft_json_u64(json, NULL, args->numbers[i]);
    weft_json_end_array(json);
    weft_json_begin_array(json, "texts");
    for (size_t i = 0; i < args->n_texts; i++)
        weft_json_str(json, NULL, args->texts[i]);
    weft_json_end_array(json);
    weft_json_end_object(json);
}

static void put_flags(struct weft_json *json, uint32_t flags)
{
    weft_json_begin_array(json, "flags");
    for (unsigned i = 0; i < WEFT_CALL_N_FLAGS; i++)
        if (flags >> i & 1)
            weft_json_text(json, NULL, weft_call_flag_name(i));
    weft_json_end_array(json);
}

/* The members that all calls have. */
static void put_call(struct weft_json *json, const struct weft_call_row *call)
{
    weft_json_u64(json, "thread", call->thread_id);
    weft_json_u64(json, "function", call->function_id);
    weft_json_u64(json, "depth", call->depth);
    weft_json_u64(json, "start_ns", call->start_ns);
    weft_json_u64(json, "end_ns", call->end_ns);
    put_flags(json, call->flags);
}

static void put_callees(struct weft_json *json, const struct weft_call_table *table)
{
    weft_json_begin_array(json, "children");
    for (size_t i = 0; i < table->n_callees; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "function", table->callees[i].function_id);
        weft_json_u64(json, "count", table->callees[i].count);
        weft_json_u64(json, "sum_ns", table->callees[i].sum_ns);
        weft_json_u64(json, "self_ns", table->callees[i].self_ns);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}

void weft_render_call(const struct weft_view *view, const struct weft_call_table *table,
                      const struct weft_call_view *opts)
{
    struct weft_json *json = weft_view_json(view);
    if (!json)
        return;
    weft_json_begin_object(json, NULL);
    weft_json_bool(json, "found", table->is_found);
    if (table->is_found) {
        put_call(json, &table->call);
        weft_json_u64(json, "self_ns", table->self_ns);
        if (opts->args)
            put_arguments(json, opts->args);
        weft_json_begin_array(json, "ancestors");
        for (uint32_t depth = 0; depth < table->call.depth; depth++) {
            weft_json_begin_object(json, NULL);
            put_call(json, &table->callers[depth]);
            weft_json_end_object(json);
        }
        weft_json_end_array(json);
        if (opts->with_callees)
            put_callees(json, table);
    }
    weft_json_end_object(json);
    weft_view_json_end(view, json);
}
