/* SPDX-License-Identifier: MIT
 *
 * Executions are dealt out in chunks that lie next to each other in time: what is collected of a
 * part of the trace serves all of a chunk. Each worker has a tree of its own; they are joined in
 * the order of the executions, so that neither chunks nor workers show.
 */
#include "query/build.h"

#include "analysis/ecct.h"
#include "base/order.h"
#include "base/vec.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

/* Of executions in a chunk: each collects what lies at its borders again. Nothing of it depends on
 * the number of workers. */
enum { LEAST_ROWS = 16, MOST_ROWS = 16384, MOST_CHUNKS = 8, CHUNKS_OF_WORKER = 2 };

/* A window that is too much is made so many times smaller. */
enum { SMALLER = 8, ROWS_OF_PAUSE = 4096, FEW_ENTRIES = 32 };

/* An execution that was made: its entries in the chunk, and what its path tells. */
struct made {
    size_t first, n;
    double values[WEFT_EXECUTION_PATH_VALUES];
};

struct chunk {
    size_t first, n; /* executions, of those that are built, in the order of the table */
    size_t *places;  /* n: of each, in build->rows */
    size_t places_cap;
    unsigned worker;
    struct {
        struct weft_ecct_entry *items; /* of all, one after the other; nodes of the worker's tree */
        size_t n, cap;
    } entries;
    struct made *made; /* n; in the order of the executions */
    size_t cap, n_made;
    struct weft_order order; /* in which they are made: places in made */
};

struct worker {
    struct weft_ecct_maker *maker;
    struct {
        uint32_t *items; /* by node of its tree: that of the whole + 1; 0: not known yet */
        size_t n, cap;
    } places;
};

/* Where executions go. */
typedef enum weft_code (*put_fn)(void *context, const struct weft_matrix_row *row,
                                 struct weft_err *err);
/* After some of them. */
typedef enum weft_code (*pause_fn)(void *context, struct weft_err *err);

struct build {
    const struct weft_trace *trace;
    const struct weft_executions_table *table; /* NULL: one execution without metrics */
    const struct weft_execution_row *rows;     /* of the table */
    struct weft_spool *spool;                  /* they lie in; or NULL */
    size_t n_table_rows, next_row;             /* next_row: not yet in a chunk */
    bool has_type;                             /* only those of `type` are built */
    uint32_t type;
    size_t n_rows; /* that are built */
    struct weft_ecct_opts opts;
    struct weft_progress *progress;
    struct weft_ecct_names *names;
    struct weft_ecct_tree *tree;
    struct worker *workers;
    unsigned n_workers;
    struct chunk *chunks;
    size_t n_chunks; /* at a time */
    struct weft_metric *metrics;
    const double **columns; /* of each metric: values by row of the table, or NULL: of the path */
    unsigned *path_values;  /* of each metric: which value of the path */
    size_t n_metrics;
    double *values; /* memory of one execution */
    struct {
        struct weft_ecct_entry *items;
        size_t n, cap;
    } row;
    struct {
        uint32_t *items;
        size_t n, cap;
    } nodes;
    struct {
        uint64_t *items;
        size_t n, cap;
    } ns;
    put_fn put;
    pause_fn pause;
    void *context;
};

static enum weft_code no_memory(struct weft_err *err)
{
    return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "out of memory for executions");
}

/* ---- one chunk, on a worker ------------------------------------------------------------------ */

static const struct weft_execution_row *row_of(const struct build *build, const struct chunk *chunk,
                                               size_t i)
{
    return &build->rows[chunk->places[i]];
}

static enum weft_code make_row(struct build *build, struct chunk *chunk, struct worker *worker,
                               struct weft_err *err)
{
    const uint32_t place = chunk->order.items[chunk->n_made].place;
    const struct weft_execution_row *row = row_of(build, chunk, place);
    struct made *made = &chunk->made[place];
    struct weft_ecct_made tree;
    enum weft_code code = weft_ecct_make(worker->maker, row->end_thread_id, row->start_ns,
                                         row->end_ns, build->progress, &tree, err);
    if (code != WEFT_OK)
        return code;
    made->first = chunk->entries.n;
    made->n = tree.filled.n_entries;
    for (size_t i = 0; i < made->n; i++) {
        struct weft_ecct_entry *entry = WEFT_VEC_PUSH(&chunk->entries);
        if (!entry)
            return no_memory(err);
        *entry = tree.filled.entries[i];
    }
    const struct weft_path_table path = { .segments = tree.segments,
                                          .n_segments = tree.n_segments };
    weft_execution_path_values(&path, made->values);
    weft_progress_add(build->progress, 1);
    return WEFT_OK;
}

/* The part of the trace that the next n executions of the chunk need. */
static enum weft_code open_window(const struct build *build, const struct chunk *chunk,
                                  struct worker *worker, size_t n, struct weft_err *err)
{
    uint64_t from_ns = UINT64_MAX, to_ns = 0;
    for (size_t i = chunk->n_made; i < chunk->n_made + n; i++) {
        const struct weft_execution_row *row = row_of(build, chunk, chunk->order.items[i].place);
        from_ns = row->start_ns < from_ns ? row->start_ns : from_ns;
        to_ns = row->end_ns > to_ns ? row->end_ns : to_ns;
    }
    return weft_ecct_maker_window(worker->maker, from_ns, to_ns, err);
}

/* Those that are left of a chunk, with windows of n_window at a time. */
static enum weft_code make_rows(struct build *build, struct chunk *chunk, struct worker *worker,
                                size_t n_window, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t n = 0; code == WEFT_OK && chunk->n_made < chunk->n; n--) {
        const size_t n_left = chunk->n - chunk->n_made;
        if (n == 0) {
            n = n_left < n_window ? n_left : n_window;
            code = open_window(build, chunk, worker, n, err);
        }
        if (code == WEFT_OK)
            code = make_row(build, chunk, worker, err);
        chunk->n_made += code == WEFT_OK;
    }
    return code;
}

/* Paths go backward: what is decoded for one that ends late serves those that end earlier. */
static bool chunk_init(const struct build *build, struct chunk *chunk)
{
    chunk->entries.n = chunk->n_made = 0;
    if (!weft_vec_reserve(&chunk->made, &chunk->cap, chunk->n, sizeof *chunk->made) ||
        !weft_order_reserve(&chunk->order, chunk->n))
        return false;
    for (size_t i = 0; i < chunk->n; i++)
        chunk->order.items[i] =
            (struct weft_order_item){ UINT64_MAX - row_of(build, chunk, i)->end_ns, (uint32_t)i };
    weft_order_sort(&chunk->order, chunk->n);
    return true;
}

/* What is too much for one window is not too much for smaller ones, mostly. */
static enum weft_code make_chunk(void *context, size_t item, unsigned worker_id,
                                 struct weft_err *err)
{
    struct build *build = context;
    struct chunk *chunk = &build->chunks[item];
    struct worker *worker = &build->workers[worker_id];
    enum weft_code code = WEFT_OK;
    chunk->worker = worker_id;
    if (!worker->maker)
        worker->maker = weft_ecct_maker_new(build->trace, build->names, &build->opts);
    if (!worker->maker || !chunk_init(build, chunk))
        return no_memory(err);
    for (size_t n = chunk->n; n > 0; n /= SMALLER) {
        struct weft_err failure = { 0 };
        code = make_rows(build, chunk, worker, n, &failure);
        if (code != WEFT_OK && (code != WEFT_E_LIMIT || n < SMALLER) && err)
            *err = failure;
        if (code != WEFT_E_LIMIT)
            break;
    }
    return code;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* The node of the whole tree for one of a worker's. Those above it are found first. */
static enum weft_code place_of(struct build *build, struct worker *worker, uint32_t node,
                               uint32_t *place, struct weft_err *err)
{
    const struct weft_ecct_tree *tree = weft_ecct_maker_tree(worker->maker);
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(tree);
    while (worker->places.n < weft_ecct_tree_n_nodes(tree))
        if (!WEFT_VEC_PUSH(&worker->places))
            return no_memory(err);
    uint32_t *places = worker->places.items;
    enum weft_code code = WEFT_OK;
    places[0] = 1;
    while (code == WEFT_OK && places[node] == 0) {
        uint32_t lowest = node, id; /* whose parent is known */
        while (places[nodes[lowest].parent] == 0)
            lowest = nodes[lowest].parent;
        const struct weft_frame *frame = &weft_ecct_tree_frames(tree)[nodes[lowest].frame];
        code = weft_ecct_tree_frame(build->tree, frame->name, frame->module,
                                    (enum weft_frame_kind)frame->kind, &id, err);
        if (code == WEFT_OK)
            code = weft_ecct_tree_node(build->tree, places[nodes[lowest].parent] - 1, id,
                                       (enum weft_confidence)nodes[lowest].confidence,
                                       &places[lowest], err);
        places[lowest] += code == WEFT_OK;
    }
    *place = places[node] - 1;
    return code;
}

/* A worker may have found nodes less certain since they were joined. */
static enum weft_code join_confidences(struct build *build, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (unsigned i = 0; i < build->n_workers; i++) {
        const struct worker *worker = &build->workers[i];
        for (size_t k = 1; k < worker->places.n && code == WEFT_OK; k++) {
            const struct weft_ecct_node *from =
                &weft_ecct_tree_nodes(weft_ecct_maker_tree(worker->maker))[k];
            uint32_t place = worker->places.items[k];
            if (place == 0)
                continue;
            const struct weft_ecct_node to = weft_ecct_tree_nodes(build->tree)[place - 1];
            code = weft_ecct_tree_node(build->tree, to.parent, to.frame,
                                       (enum weft_confidence)from->confidence, &place, err);
        }
    }
    return code;
}

static int by_node(const void *a, const void *b)
{
    const struct weft_ecct_entry *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

static void sort_entries(struct weft_ecct_entry *entries, size_t n)
{
    if (n > FEW_ENTRIES) {
        qsort(entries, n, sizeof *entries, by_node);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        const struct weft_ecct_entry entry = entries[i];
        size_t at = i;
        for (; at > 0 && entries[at - 1].node > entry.node; at--)
            entries[at] = entries[at - 1];
        entries[at] = entry;
    }
}

static enum weft_code join_nodes(struct build *build, const struct chunk *chunk, size_t i,
                                 struct weft_err *err)
{
    const struct made *made = &chunk->made[i];
    enum weft_code code = WEFT_OK;
    build->row.n = build->nodes.n = build->ns.n = 0;
    for (size_t k = made->first; k < made->first + made->n && code == WEFT_OK; k++) {
        struct weft_ecct_entry *entry = WEFT_VEC_PUSH(&build->row);
        if (!entry)
            return no_memory(err);
        *entry = chunk->entries.items[k];
        code = place_of(build, &build->workers[chunk->worker], entry->node, &entry->node, err);
    }
    sort_entries(build->row.items, build->row.n);
    for (size_t k = 0; k < build->row.n && code == WEFT_OK; k++) {
        uint32_t *node = WEFT_VEC_PUSH(&build->nodes);
        uint64_t *ns = WEFT_VEC_PUSH(&build->ns);
        if (!node || !ns)
            return no_memory(err);
        *node = build->row.items[k].node;
        *ns = build->row.items[k].ns;
    }
    return code;
}

static enum weft_code join_row(struct build *build, const struct chunk *chunk, size_t i,
                               struct weft_err *err)
{
    const struct weft_execution_row *row = row_of(build, chunk, i);
    const struct weft_thread_info *thread =
        &weft_trace_thread(build->trace, row->end_thread_id)->info;
    const double *of_path = chunk->made[i].values;
    const struct weft_execution_item item = { .id = chunk->first + i,
                                              .flags = row->flags,
                                              .tid = thread->tid,
                                              .thread = thread->name,
                                              .start_ns = row->start_ns,
                                              .end_ns = row->end_ns };
    enum weft_code code = join_nodes(build, chunk, i, err);
    for (size_t k = 0; k < build->n_metrics; k++) {
        const double value = build->columns[k] ? build->columns[k][chunk->places[i]]
                                               : of_path[build->path_values[k]];
        build->values[k] = value == 0 ? (double)NAN : value; /* what is not there counts as 0 */
    }
    const struct weft_matrix_row made = { &item, build->nodes.items, build->ns.items,
                                          build->nodes.n, build->values };
    return code == WEFT_OK ? build->put(build->context, &made, err) : code;
}

static enum weft_code join_chunk(struct build *build, const struct chunk *chunk,
                                 struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < chunk->n && code == WEFT_OK; i++) {
        code = join_row(build, chunk, i, err);
        if (code == WEFT_OK && build->pause && i % ROWS_OF_PAUSE == ROWS_OF_PAUSE - 1)
            code = build->pause(build->context, err);
    }
    return code == WEFT_OK && build->pause ? build->pause(build->context, err) : code;
}

/* The next executions that are built; false without memory. */
static bool fill_chunk(struct build *build, struct chunk *chunk, size_t first, size_t n)
{
    chunk->first = first;
    chunk->n = 0;
    if (!weft_vec_reserve(&chunk->places, &chunk->places_cap, n, sizeof *chunk->places))
        return false;
    while (chunk->n < n && build->next_row < build->n_table_rows) {
        const size_t place = build->next_row++;
        if (!build->has_type || build->rows[place].type == build->type)
            chunk->places[chunk->n++] = place;
        if (place % WEFT_EXECUTIONS_AT_ONCE == WEFT_EXECUTIONS_AT_ONCE - 1)
            weft_spool_forget(build->spool);
    }
    return true;
}

static size_t rows_of_chunk(size_t n_rows)
{
    const size_t n = n_rows / MOST_CHUNKS;
    return n < LEAST_ROWS ? LEAST_ROWS : n > MOST_ROWS ? MOST_ROWS : n;
}

static enum weft_code run(struct build *build, struct weft_pool *pool, struct weft_err *err)
{
    const size_t most = rows_of_chunk(build->n_rows);
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; at < build->n_rows && code == WEFT_OK;) {
        size_t n = 0;
        for (; n < build->n_chunks && at < build->n_rows; n++) {
            const size_t left = build->n_rows - at;
            if (!fill_chunk(build, &build->chunks[n], at, left < most ? left : most))
                return no_memory(err);
            at += build->chunks[n].n;
        }
        code = weft_pool_run(pool, n, make_chunk, build, build->progress, err);
        for (size_t i = 0; i < n && code == WEFT_OK; i++)
            code = join_chunk(build, &build->chunks[i], err);
        if (code == WEFT_OK)
            code = join_confidences(build, err);
    }
    return code;
}

/* ---- what is built --------------------------------------------------------------------------- */

static void build_fini(struct build *build)
{
    for (unsigned i = 0; build->workers && i < build->n_workers; i++) {
        weft_ecct_maker_free(build->workers[i].maker);
        WEFT_VEC_FINI(&build->workers[i].places);
    }
    for (size_t i = 0; build->chunks && i < build->n_chunks; i++) {
        WEFT_VEC_FINI(&build->chunks[i].entries);
        free(build->chunks[i].made);
        weft_order_fini(&build->chunks[i].order);
        free(build->chunks[i].places);
    }
    free(build->workers);
    free(build->chunks);
    free(build->metrics);
    free(build->columns);
    free(build->path_values);
    free(build->values);
    weft_ecct_names_free(build->names);
    weft_ecct_tree_free(build->tree);
    WEFT_VEC_FINI(&build->row);
    WEFT_VEC_FINI(&build->nodes);
    WEFT_VEC_FINI(&build->ns);
}

/* Metrics of the table but for those that follow from the executions, then those of paths. */
static void choose_metrics(struct build *build)
{
    const struct weft_executions_table *table = build->table;
    for (size_t i = 0; table && i < table->n_metrics; i++) {
        const struct weft_metric *metric = &table->metrics[i];
        if (weft_str_equal(metric->name, WEFT_STR("duration")) ||
            weft_str_equal(metric->name, WEFT_STR("start")))
            continue;
        build->columns[build->n_metrics] = metric->values;
        build->metrics[build->n_metrics++] = *metric;
    }
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++) {
        const struct weft_str name = weft_str_of(weft_execution_path_value_name(i));
        if (table && weft_executions_metric(table, name))
            continue;
        build->path_values[build->n_metrics] = i;
        build->metrics[build->n_metrics++] =
            (struct weft_metric){ .name = name, .unit = WEFT_METRIC_NS };
    }
}

static enum weft_code build_init(struct build *build, struct weft_session *session,
                                 const struct weft_executions_table *table, unsigned max_threads,
                                 struct weft_err *err)
{
    const struct weft_run *run = weft_session_run(session);
    const size_t n_metrics = (table ? table->n_metrics : 0) + WEFT_EXECUTION_PATH_VALUES;
    const unsigned n_workers = weft_pool_workers(run->pool);
    *build = (struct build){
        .trace = weft_session_trace(session),
        .table = table,
        .opts = { .max_threads = max_threads, .memory_bytes = run->memory_bytes / n_workers },
        .progress = run->progress,
        .names = weft_ecct_names_new(weft_session_trace(session)),
        .tree = weft_ecct_tree_new(),
        .workers = calloc(n_workers, sizeof *build->workers),
        .n_workers = n_workers,
        .chunks = calloc((size_t)n_workers * CHUNKS_OF_WORKER, sizeof *build->chunks),
        .n_chunks = (size_t)n_workers * CHUNKS_OF_WORKER,
        .metrics = calloc(n_metrics, sizeof *build->metrics),
        .columns = calloc(n_metrics, sizeof *build->columns),
        .path_values = calloc(n_metrics, sizeof *build->path_values),
        .values = calloc(n_metrics, sizeof *build->values),
    };
    if (!build->names || !build->tree || !build->workers || !build->chunks || !build->metrics ||
        !build->columns || !build->path_values || !build->values)
        return no_memory(err);
    choose_metrics(build);
    return WEFT_OK;
}

/* Of all types (WEFT_ID_NONE), or of one. */
static void choose_rows(struct build *build, const struct weft_executions_table *table,
                        uint32_t type)
{
    build->rows = table->rows;
    build->spool = table->spool;
    build->n_table_rows = table->n_rows;
    build->has_type = type != WEFT_ID_NONE;
    build->type = type;
    for (size_t i = 0; i < table->n_rows; i++) {
        build->n_rows += !build->has_type || table->rows[i].type == type;
        weft_executions_passed(table, i);
    }
}

static struct weft_execution_source source_of(const struct weft_trace *trace,
                                              const struct weft_build_opts *opts)
{
    const struct weft_clock *clock = &weft_trace_meta(trace)->clock;
    return (struct weft_execution_source){
        .path = opts->path,
        .host = opts->host,
        .tag = opts->tag,
        .realtime_ns = clock->has_realtime ? clock->realtime_ns : 0,
    };
}

uint64_t weft_trace_fingerprint(const struct weft_trace *trace)
{
    const struct weft_store_meta *meta = weft_trace_meta(trace);
    const uint64_t whole[] = { meta->duration_ns,
                               meta->calls,
                               meta->cut_calls,
                               meta->events,
                               meta->n_threads,
                               meta->n_functions,
                               weft_clock_zero_ns(&meta->clock),
                               meta->clock.has_realtime ? meta->clock.realtime_ns : 0,
                               XXH3_64bits(meta->events_of_kind, sizeof meta->events_of_kind) };
    uint64_t hash = XXH3_64bits(whole, sizeof whole);
    for (uint32_t id = 0; id < meta->n_threads; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        const uint64_t one[] = { hash,           thread->info.tid, thread->calls,
                                 thread->events, thread->first_ns, thread->last_ns };
        hash = XXH3_64bits(one, sizeof one);
    }
    return hash;
}

/* ---- to a database --------------------------------------------------------------------------- */

static enum weft_code put_to_database(void *context, const struct weft_matrix_row *row,
                                      struct weft_err *err)
{
    return weft_database_add(context, row, err);
}

static enum weft_code commit_to_database(void *context, struct weft_err *err)
{
    return weft_database_commit(context, err);
}

static enum weft_code build_type(struct weft_session *session,
                                 const struct weft_executions_table *table, uint32_t type,
                                 struct weft_database *database, const struct weft_build_opts *opts,
                                 struct weft_err *err)
{
    struct build build;
    enum weft_code code = build_init(&build, session, table, opts->max_threads, err);
    choose_rows(&build, table, type);
    build.put = put_to_database;
    build.pause = commit_to_database;
    build.context = database;
    const struct weft_database_source source = {
        .type = table->types[type].name,
        .trace = source_of(build.trace, opts),
        .fingerprint = weft_trace_fingerprint(build.trace),
        .metrics = build.metrics,
        .n_metrics = build.n_metrics,
    };
    if (code == WEFT_OK)
        code = weft_database_begin(database, &source, build.tree, err);
    if (code == WEFT_OK)
        code = run(&build, weft_session_run(session)->pool, err);
    if (code == WEFT_OK)
        code = weft_database_end(database, err);
    build_fini(&build);
    return code;
}

enum weft_code weft_executions_build(struct weft_session *session,
                                     const struct weft_executions_table *table,
                                     struct weft_database *database,
                                     const struct weft_build_opts *opts, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    weft_progress_start(weft_session_run(session)->progress, "trees", "executions", table->n_rows);
    for (uint32_t type = 0; type < table->n_types && code == WEFT_OK; type++) {
        bool has_any = false;
        for (size_t i = 0; i < table->n_rows && !has_any; i++) {
            has_any = table->rows[i].type == type;
            weft_executions_passed(table, i);
        }
        if (has_any)
            code = build_type(session, table, type, database, opts, err);
    }
    return code;
}

/* ---- to a matrix ----------------------------------------------------------------------------- */

static enum weft_code put_to_matrix(void *context, const struct weft_matrix_row *row,
                                    struct weft_err *err)
{
    return weft_matrix_add(context, row, err);
}

static enum weft_code build_matrix(struct build *build, struct weft_session *session,
                                   const struct weft_build_opts *opts,
                                   struct weft_ecct_matrix **matrix, struct weft_err *err)
{
    const struct weft_execution_source source = source_of(build->trace, opts);
    struct weft_matrix_maker *maker = weft_matrix_maker_new(build->metrics, build->n_metrics);
    build->put = put_to_matrix;
    build->context = maker;
    enum weft_code code = maker ? weft_matrix_source(maker, &source, err) : no_memory(err);
    for (size_t i = 0; maker && i < build->n_metrics; i++)
        weft_matrix_keep_metric(maker, i);
    if (code == WEFT_OK)
        code = run(build, weft_session_run(session)->pool, err);
    const struct weft_matrix_tree tree = { weft_ecct_tree_frames(build->tree),
                                           weft_ecct_tree_nodes(build->tree),
                                           weft_ecct_tree_n_frames(build->tree),
                                           weft_ecct_tree_n_nodes(build->tree) };
    if (code == WEFT_OK)
        code = weft_matrix_finish(maker, &tree, matrix, err);
    weft_matrix_maker_free(maker);
    return code;
}

enum weft_code weft_executions_matrix(struct weft_session *session,
                                      const struct weft_executions_table *table, uint32_t type,
                                      const struct weft_build_opts *opts,
                                      struct weft_ecct_matrix **matrix, struct weft_err *err)
{
    struct build build;
    *matrix = NULL;
    if (type >= table->n_types)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "there is no type %u of executions",
                         type);
    enum weft_code code = build_init(&build, session, table, opts->max_threads, err);
    choose_rows(&build, table, type);
    weft_progress_start(build.progress, "trees", "executions", build.n_rows);
    if (code == WEFT_OK)
        code = build_matrix(&build, session, opts, matrix, err);
    build_fini(&build);
    return code;
}

enum weft_code weft_execution_tree(struct weft_session *session,
                                   const struct weft_ecct_request *request,
                                   struct weft_ecct_matrix **matrix, struct weft_err *err)
{
    const struct weft_execution_row row = { .thread_id = request->thread_id,
                                            .end_thread_id = request->thread_id,
                                            .start_ns = request->from_ns,
                                            .end_ns = request->to_ns };
    const struct weft_build_opts opts = { 0 };
    struct build build;
    *matrix = NULL;
    if (request->thread_id >= weft_trace_n_threads(weft_session_trace(session)))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "the trace has no thread %u",
                         request->thread_id);
    enum weft_code code = build_init(&build, session, NULL, request->max_threads, err);
    build.rows = &row;
    build.n_rows = build.n_table_rows = 1;
    if (code == WEFT_OK)
        code = build_matrix(&build, session, &opts, matrix, err);
    build_fini(&build);
    return code;
}

/* ---- paths alone ----------------------------------------------------------------------------- */

static enum weft_code put_to_columns(void *context, const struct weft_matrix_row *row,
                                     struct weft_err *err)
{
    double *const *columns = context;
    (void)err;
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES; i++)
        columns[i][row->item->id] = isnan(row->values[i]) ? 0 : row->values[i];
    return WEFT_OK;
}

enum weft_code weft_executions_add_paths(struct weft_session *session,
                                         struct weft_executions_table *table, struct weft_err *err)
{
    double *columns[WEFT_EXECUTION_PATH_VALUES];
    struct build build;
    enum weft_code code = WEFT_OK;
    for (unsigned i = 0; i < WEFT_EXECUTION_PATH_VALUES && code == WEFT_OK; i++) {
        const char *name = weft_execution_path_value_name(i);
        code =
            weft_executions_add_metric(table, weft_str_of(name), WEFT_METRIC_NS, &columns[i], err);
    }
    if (code != WEFT_OK)
        return code;
    code = build_init(&build, session, NULL, 0, err);
    choose_rows(&build, table, WEFT_ID_NONE);
    build.put = put_to_columns;
    build.context = columns;
    weft_progress_start(build.progress, "paths", "executions", table->n_rows);
    if (code == WEFT_OK)
        code = run(&build, weft_session_run(session)->pool, err);
    build_fini(&build);
    return code;
}
