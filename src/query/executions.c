/* SPDX-License-Identifier: MIT */
#include "query/executions.h"

#include "analysis/critical_path.h"
#include "query/session.h"

#include <stdlib.h>

struct paths {
    const struct weft_trace *trace;
    struct weft_executions_table *table;
    struct weft_run run;      /* of one path: all of the memory a worker may have */
    struct weft_pool **pools; /* of one worker each, by worker */
    double *columns[WEFT_EXECUTION_PATH_VALUES];
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for paths of executions");
}

static enum weft_code path_of(void *context, size_t item, unsigned worker, struct weft_err *err)
{
    struct paths *paths = context;
    const struct weft_execution_row *row = &paths->table->rows[item];
    const struct weft_path_opts opts = { .thread_id = row->end_thread_id,
                                         .from_ns = row->start_ns,
                                         .to_ns = row->end_ns,
                                         .call_depth = WEFT_PATH_INNERMOST };
    struct weft_run run = paths->run;
    struct weft_path_table *path = NULL;
    double values[WEFT_EXECUTION_PATH_VALUES];
    if (!paths->pools[worker])
        paths->pools[worker] = weft_pool_new(1);
    run.pool = paths->pools[worker];
    if (!run.pool)
        return no_memory(err);
    enum weft_code code = weft_path_run(paths->trace, &opts, &run, &path, err);
    if (code == WEFT_OK) {
        weft_execution_path_values(path, values);
        for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++)
            paths->columns[i][item] = values[i];
    }
    weft_path_table_free(path);
    return code;
}

enum weft_code weft_executions_add_paths(struct weft_session *session,
                                         struct weft_executions_table *table, struct weft_err *err)
{
    const struct weft_run *run = weft_session_run(session);
    const unsigned n_workers = weft_pool_workers(run->pool);
    struct paths paths = { .trace = weft_session_trace(session),
                           .table = table,
                           .run = { .memory_bytes = run->memory_bytes / n_workers },
                           .pools = calloc(n_workers, sizeof *paths.pools) };
    enum weft_code code = paths.pools ? WEFT_OK : no_memory(err);
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES && code == WEFT_OK; i++) {
        const char *name = weft_execution_path_value_name(i);
        paths.columns[i] = weft_executions_add_metric(table, weft_str_of(name), WEFT_METRIC_NS);
        code = paths.columns[i] ? WEFT_OK : no_memory(err);
    }
    weft_progress_start(run->progress, "paths", "executions", table->n_rows);
    if (code == WEFT_OK)
        code = weft_pool_run(run->pool, table->n_rows, path_of, &paths, run->progress, err);
    for (unsigned i = 0; paths.pools && i < n_workers; i++)
        weft_pool_free(paths.pools[i]);
    free(paths.pools);
    return code;
}
