/* SPDX-License-Identifier: MIT
 *
 * Answers that the trace's directory or index contains, without reading its blocks.
 */
#include "render/text/directory.h"
#include "render/text/render.h"
#include "schema/interval.h"
#include "serve/files.h"
#include "serve/state.h"

#include <stdlib.h>

WEFT_ENDPOINT(traces)
{
    const struct weft_view view = weft_ask_view(ask);
    struct weft_json *json = weft_view_json(&view);
    (void)err;
    if (!json)
        return WEFT_OK; /* the view holds the failure */
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "version", WEFT_VERSION);
    weft_json_begin_array(json, "traces");
    for (size_t i = 0; i < ask->state->n_traces; i++) {
        const struct weft_served *served = &ask->state->traces[i];
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "id", i);
        weft_json_text(json, "name", served->name);
        weft_render_trace_entry(json, weft_session_trace(served->session));
        weft_json_bool(json, "has_states", weft_session_has_states(served->session));
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_json_begin_array(json, "databases");
    for (size_t i = 0; i < ask->state->n_databases; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "id", i);
        weft_json_text(json, "name", ask->state->databases[i].name);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
    return WEFT_OK;
}

WEFT_ENDPOINT(info)
{
    const struct weft_view view = weft_ask_view(ask);
    (void)err;
    weft_render_info(&view, &(struct weft_info_view){ 0 });
    return WEFT_OK;
}

WEFT_ENDPOINT(threads)
{
    const struct weft_view view = weft_ask_view(ask);
    (void)err;
    weft_render_threads(&view, NULL, 0);
    return WEFT_OK;
}

/* By the contexts of the whole trace, which the file keeps: no call is read. */
static void sum_names(const struct weft_interval_table *table, struct weft_name_sum *sums)
{
    for (size_t i = 0; i < table->n_threads; i++)
        for (size_t k = 0; k < table->threads[i].n_rows; k++) {
            const struct weft_interval_row *row = &table->threads[i].rows[k];
            sums[row->function_id].count += row->count;
            sums[row->function_id].self_ns += row->self_ns;
        }
}

WEFT_ENDPOINT(names)
{
    const union weft_request request = { .interval = { .to_ns = ask->to_ns } };
    union weft_result result;
    const uint32_t n_functions = weft_trace_n_functions(ask->trace);
    struct weft_name_sum *sums = calloc((size_t)n_functions + 1, sizeof *sums);
    if (!sums)
        return weft_no_memory(err, "names");
    enum weft_code code = weft_query_run(ask->session, "interval", &request, &result, err);
    if (code == WEFT_OK) {
        const struct weft_view view = weft_ask_view(ask);
        sum_names(result.interval, sums);
        weft_render_names(&view, sums);
    }
    weft_result_free(result.any);
    free(sums);
    return code;
}

WEFT_ENDPOINT(notes)
{
    return weft_notes_read(ask->served->path, ask->answer->body, err);
}

WEFT_ENDPOINT(colors)
{
    const struct weft_str text = weft_output_held(ask->state->colors);
    (void)err;
    weft_output_write(ask->answer->body, text.bytes, text.n_bytes);
    return WEFT_OK;
}

WEFT_ENDPOINT(progress)
{
    static const char *const states[] = {
        [WEFT_JOB_NONE] = "none", [WEFT_JOB_WAITING] = "waiting", [WEFT_JOB_RUNNING] = "running"
    };
    static const enum weft_kept kept_of[] = { [WEFT_QUERY_REGTIME] = WEFT_KEPT_REGTIME,
                                              [WEFT_QUERY_FUNCTIONS] = WEFT_KEPT_FUNCTIONS,
                                              [WEFT_QUERY_SHAPES] = WEFT_KEPT_SHAPES };
    const void *makes = &ask->served->kept[kept_of[ask->query->of]];
    const struct weft_job_progress progress = weft_jobs_progress(ask->state->jobs, makes);
    const bool is_ready = atomic_load(&ask->served->kept[kept_of[ask->query->of]].ready) != NULL;
    const struct weft_view view = weft_ask_view(ask);
    struct weft_json *json = weft_view_json(&view);
    (void)err;
    if (!json)
        return WEFT_OK; /* the view holds the failure */
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "state", is_ready ? "ready" : states[progress.state]);
    weft_json_text(json, "activity", progress.activity ? progress.activity : "");
    weft_json_u64(json, "done", progress.done);
    weft_json_u64(json, "total", progress.total);
    weft_json_text(json, "unit", progress.unit ? progress.unit : "");
    weft_json_end_object(json);
    weft_view_json_end(&view, json);
    return WEFT_OK;
}
