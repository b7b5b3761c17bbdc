/* SPDX-License-Identifier: MIT
 *
 * Executions are dealt out in chunks that lie next to each other in time: what is collected of a
 * part of the trace serves all of a chunk. Each worker has a tree of its own; they are joined in
 * the order of the executions, so that neither chunks nor workers show.
 */
#include "query/build.h"

#include "analysis/ecct/ecct.h"
#include "analysis/findings/wrappers.h"
#include "base/marks.h"
#include "base/order.h"
#include "base/turns.h"
#include "base/vec.h"
#include "model/events.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>
#include <xxhash.h>

/* Of executions in a chunk: a process that is killed loses the last one, but each collects what
 * lies at its borders again. Nothing of it depends on the number of workers. */
enum { LEAST_ROWS = 16, MOST_ROWS = 16384, LEAST_CHUNKS = 8 };

/* Roughly, as they are on a processor of 2020: what an execution takes, and a call or event of the
 * trace; how long a chunk should take, and how many times as long as its executions its part of the
 * trace should be. */
#define ROW_NS UINT64_C(10000)
#define EVENT_NS UINT64_C(300)
#define CHUNK_NS UINT64_C(25000000)
enum { DURATIONS_OF_CHUNK = 4 };

/* What workers do to chunks in the order of the chunks. */
enum { FILL, JOIN };

/* An execution that was made: its entries in the chunk, and what its path tells. */
struct made {
    size_t first, n;
    double values[WEFT_EXECUTION_PATH_VALUES];
};

/* A node with an execution's time at it or below. */
struct used {
    uint32_t node;      /* of the worker's tree */
    uint8_t confidence; /* enum weft_confidence: the least of the chunk's executions */
};

struct chunk {
    size_t first, n; /* executions, of those that are built, in the order of the table */
    size_t *places;  /* n: of each, in build->rows */
    size_t places_cap;
    struct {
        struct weft_ecct_entry *items; /* of all, one after the other; nodes of the worker's tree */
        size_t n, cap;
    } entries;
    struct made *made; /* n; in the order of the executions */
    size_t cap, n_made;
    struct weft_order order; /* in which they are made: places in made */
    struct {
        struct used *items;
        size_t n, cap;
    } used;
};

struct worker {
    struct weft_ecct_maker *maker;
    struct chunk chunk; /* that it works at */
    struct {
        uint32_t *items; /* by node of its tree: the last of its chunks that has it */
        size_t n, cap;
    } seen;
    uint32_t n_chunks;
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
    size_t n_rows;   /* that are built */
    uint64_t sum_ns; /* of their durations */
    struct weft_ecct_opts opts;
    struct weft_progress *progress;
    struct weft_ecct_names *names;
    struct weft_ecct_tree *tree;
    struct worker *workers;
    unsigned n_workers;
    size_t n_chunk_rows; /* of each chunk but the last */
    struct weft_turns turns;
    struct weft_metric *metrics;
    const double **columns; /* of each metric: values by row of the table, or NULL: of the path */
    unsigned *path_values;  /* of each metric: which value of the path */
    size_t n_metrics;
    double *values; /* memory of one execution */
    struct {
        uint32_t *items;
        size_t n, cap;
    } nodes;
    uint64_t *ns; /* with the first of nodes, those of an execution in order */
    size_t n_row, cap_ns;
    uint64_t *sums;          /* by node of the whole, where it is marked */
    struct weft_marks marks; /* nodes of an execution */
    size_t cap_sums;
    put_fn put;
    pause_fn pause;
    void *context;
};

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
    WEFT_TRY(weft_ecct_make(worker->maker, row->end_thread_id, row->start_ns, row->end_ns,
                            build->progress, &tree, err));
    made->first = chunk->entries.n;
    made->n = tree.filled.n_entries;
    if (!weft_vec_reserve(&chunk->entries.items, &chunk->entries.cap, made->first + made->n,
                          sizeof *chunk->entries.items))
        return weft_no_memory(err, "executions");
    if (made->n)
        memcpy(chunk->entries.items + made->first, tree.filled.entries,
               made->n * sizeof *chunk->entries.items);
    chunk->entries.n += made->n;
    const struct weft_path_table path = { .segments = tree.segments,
                                          .n_segments = tree.n_segments };
    weft_execution_path_values(&path, made->values);
    weft_progress_add(build->progress, 1);
    return WEFT_OK;
}

/* The part of the trace that the executions of the chunk need. */
static enum weft_code open_window(const struct build *build, const struct chunk *chunk,
                                  struct worker *worker, struct weft_err *err)
{
    uint64_t from_ns = UINT64_MAX, to_ns = 0;
    for (size_t i = 0; i < chunk->n; i++) {
        const struct weft_execution_row *row = row_of(build, chunk, chunk->order.items[i].place);
        from_ns = row->start_ns < from_ns ? row->start_ns : from_ns;
        to_ns = row->end_ns > to_ns ? row->end_ns : to_ns;
    }
    return weft_ecct_maker_window(worker->maker, from_ns, to_ns, err);
}

static enum weft_code make_rows(struct build *build, struct chunk *chunk, struct worker *worker,
                                struct weft_err *err)
{
    enum weft_code code = chunk->n > 0 ? open_window(build, chunk, worker, err) : WEFT_OK;
    while (code == WEFT_OK && chunk->n_made < chunk->n) {
        code = make_row(build, chunk, worker, err);
        chunk->n_made += code == WEFT_OK;
    }
    return code;
}

/* Is there nothing but calls? Then paths stay on their threads, and nothing is collected of a part
 * of the trace. */
static bool has_calls_alone(const struct build *build)
{
    const struct weft_store_meta *meta = weft_trace_meta(build->trace);
    return meta->events == meta->events_of_kind[WEFT_EVENT_COUNTER];
}

/* Paths go backward: what is decoded for one that ends late serves those that end earlier; where
 * they stay on their threads, those of one come one after the other. */
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
    if (!has_calls_alone(build))
        return true;
    for (size_t i = 0; i < chunk->n; i++)
        chunk->order.items[i].key = row_of(build, chunk, chunk->order.items[i].place)->thread_id;
    weft_order_sort(&chunk->order, chunk->n);
    return true;
}

/* The nodes that have time of the chunk's executions, and those above them. */
static bool keep_used(struct chunk *chunk, struct worker *worker)
{
    const struct weft_ecct_tree *tree = weft_ecct_maker_tree(worker->maker);
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(tree);
    const uint32_t number = ++worker->n_chunks;
    chunk->used.n = 0;
    while (worker->seen.n < weft_ecct_tree_n_nodes(tree))
        if (!WEFT_VEC_PUSH(&worker->seen))
            return false;
    uint32_t *seen = worker->seen.items;
    for (size_t i = 0; i < chunk->entries.n; i++)
        for (uint32_t node = chunk->entries.items[i].node; node && seen[node] != number;
             node = nodes[node].parent) {
            struct used *used = WEFT_VEC_PUSH(&chunk->used);
            if (!used)
                return false;
            *used = (struct used){ node, nodes[node].confidence };
            seen[node] = number;
        }
    return true;
}

static enum weft_code make_chunk(struct build *build, struct worker *worker, struct weft_err *err)
{
    struct chunk *chunk = &worker->chunk;
    if (!worker->maker)
        worker->maker = weft_ecct_maker_new(build->trace, build->names, &build->opts);
    if (!worker->maker || !chunk_init(build, chunk))
        return weft_no_memory(err, "executions");
    weft_ecct_maker_trust(worker->maker);
    const enum weft_code code = make_rows(build, chunk, worker, err);
    return code != WEFT_OK || keep_used(chunk, worker) ? code : weft_no_memory(err, "executions");
}

/* ---- joining --------------------------------------------------------------------------------- */

static int by_names(const void *a, const void *b, void *tree)
{
    return weft_ecct_tree_compare(tree, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* The places of the chunk's nodes that were of none before: in the order of their names, as their
 * numbers are of what their worker has made before. */
static enum weft_code place_nodes(struct build *build, struct worker *worker, struct weft_err *err)
{
    const struct chunk *chunk = &worker->chunk;
    const struct weft_ecct_tree *tree = weft_ecct_maker_tree(worker->maker);
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(tree);
    build->nodes.n = 0;
    for (size_t i = 0; i < chunk->used.n; i++) {
        if (worker->places.items[chunk->used.items[i].node])
            continue;
        uint32_t *node = WEFT_VEC_PUSH(&build->nodes);
        if (!node)
            return weft_no_memory(err, "executions");
        *node = chunk->used.items[i].node;
    }
    if (build->nodes.n)
        qsort_r(build->nodes.items, build->nodes.n, sizeof *build->nodes.items, by_names,
                (void *)(uintptr_t)tree);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < build->nodes.n && code == WEFT_OK; i++) {
        const struct weft_ecct_node *node = &nodes[build->nodes.items[i]];
        const struct weft_frame *frame = &weft_ecct_tree_frames(tree)[node->frame];
        uint32_t *place = &worker->places.items[build->nodes.items[i]], id;
        struct weft_frame made = *frame;
        code = weft_ecct_names_module(build->names, frame, &made.module, err);
        WEFT_THEN(code, weft_ecct_tree_add(build->tree, &made, &id, err));
        WEFT_THEN(code, weft_ecct_tree_node(build->tree, worker->places.items[node->parent] - 1, id,
                                            WEFT_CONFIDENCE_EXACT, place, err));
        *place += code == WEFT_OK;
    }
    return code;
}

/* What a chunk tells of its nodes, before its executions are put anywhere. */
static enum weft_code join_nodes(struct build *build, struct worker *worker, struct weft_err *err)
{
    const struct chunk *chunk = &worker->chunk;
    const size_t n_nodes = weft_ecct_tree_n_nodes(weft_ecct_maker_tree(worker->maker));
    while (worker->places.n < n_nodes)
        if (!WEFT_VEC_PUSH(&worker->places))
            return weft_no_memory(err, "executions");
    worker->places.items[0] = 1;
    enum weft_code code = place_nodes(build, worker, err);
    for (size_t i = 0; i < chunk->used.n && code == WEFT_OK; i++) {
        const struct used *used = &chunk->used.items[i];
        if (used->confidence == WEFT_CONFIDENCE_EXACT)
            continue;
        uint32_t place = worker->places.items[used->node] - 1;
        const struct weft_ecct_node to = weft_ecct_tree_nodes(build->tree)[place];
        code = weft_ecct_tree_node(build->tree, to.parent, to.frame,
                                   (enum weft_confidence)used->confidence, &place, err);
    }
    return code;
}

/* Nodes of the whole have numbers of their own, in whose order they are put. */
static enum weft_code join_entries(struct build *build, const struct worker *worker, size_t i,
                                   struct weft_err *err)
{
    const struct chunk *chunk = &worker->chunk;
    const uint32_t *places = worker->places.items;
    const struct made *made = &chunk->made[i];
    const size_t n_nodes = weft_ecct_tree_n_nodes(build->tree);
    uint32_t place;
    build->n_row = 0;
    if (!weft_marks_reserve(&build->marks, n_nodes) ||
        !weft_vec_reserve(&build->sums, &build->cap_sums, n_nodes, sizeof *build->sums) ||
        !weft_vec_reserve(&build->nodes.items, &build->nodes.cap, made->n,
                          sizeof *build->nodes.items) ||
        !weft_vec_reserve(&build->ns, &build->cap_ns, made->n, sizeof *build->ns))
        return weft_no_memory(err, "executions");
    for (size_t k = made->first; k < made->first + made->n; k++) {
        const struct weft_ecct_entry *entry = &chunk->entries.items[k];
        build->sums[places[entry->node] - 1] = entry->ns;
        weft_marks_add(&build->marks, places[entry->node] - 1);
    }
    for (; weft_marks_take(&build->marks, &place); build->n_row++) {
        build->nodes.items[build->n_row] = place;
        build->ns[build->n_row] = build->sums[place];
    }
    return WEFT_OK;
}

static enum weft_code join_row(struct build *build, const struct worker *worker, size_t i,
                               struct weft_err *err)
{
    const struct chunk *chunk = &worker->chunk;
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
    enum weft_code code = join_entries(build, worker, i, err);
    for (size_t k = 0; k < build->n_metrics; k++) {
        const double value = build->columns[k] ? build->columns[k][chunk->places[i]]
                                               : of_path[build->path_values[k]];
        build->values[k] = value == 0 ? (double)NAN : value; /* what is not there counts as 0 */
    }
    const struct weft_matrix_row made = { &item, build->nodes.items, build->ns, build->n_row,
                                          build->values };
    return code == WEFT_OK ? build->put(build->context, &made, err) : code;
}

static enum weft_code join_chunk(struct build *build, struct worker *worker, struct weft_err *err)
{
    enum weft_code code = join_nodes(build, worker, err);
    for (size_t i = 0; i < worker->chunk.n && code == WEFT_OK; i++)
        code = join_row(build, worker, i, err);
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

/* `n` of the build's rows for each `whole` of something of which there is `part` in a chunk. */
static size_t share_of_rows(const struct build *build, uint64_t part, uint64_t whole)
{
    const double n = (double)build->n_rows * ((double)part / (double)(whole ? whole : 1));
    return n < MOST_ROWS ? (size_t)n : MOST_ROWS;
}

static size_t rows_of_chunk(const struct build *build)
{
    const struct weft_store_meta *meta = weft_trace_meta(build->trace);
    const size_t n_most = build->n_rows / LEAST_CHUNKS;
    const uint64_t work_ns = build->n_rows * ROW_NS + (meta->calls + meta->events) * EVENT_NS;
    const size_t n_work = share_of_rows(build, CHUNK_NS, work_ns),
                 n_long = share_of_rows(build, build->n_rows ? build->sum_ns / build->n_rows : 0,
                                        meta->duration_ns / DURATIONS_OF_CHUNK),
                 n = n_work > n_long ? n_work : n_long;
    if (n < n_most && !has_calls_alone(build))
        return n ? n : 1;
    return n_most < LEAST_ROWS ? LEAST_ROWS : n_most > MOST_ROWS ? MOST_ROWS : n_most;
}

/* A chunk, on a worker: joining it is for one at a time, while the others make theirs. */
static enum weft_code build_chunk(void *context, size_t item, unsigned worker_id,
                                  struct weft_err *err)
{
    struct build *build = context;
    struct worker *worker = &build->workers[worker_id];
    const size_t first = item * build->n_chunk_rows, left = build->n_rows - first;
    const size_t n = left < build->n_chunk_rows ? left : build->n_chunk_rows;
    enum weft_code code = weft_turns_wait(&build->turns, FILL, item, err);
    if (code == WEFT_OK && !fill_chunk(build, &worker->chunk, first, n))
        code = weft_no_memory(err, "executions");
    if (code == WEFT_OK) {
        weft_turns_pass(&build->turns, FILL);
        code = make_chunk(build, worker, err);
    }
    WEFT_THEN(code, weft_turns_wait(&build->turns, JOIN, item, err));
    WEFT_THEN(code, join_chunk(build, worker, err));
    if (code == WEFT_OK)
        weft_turns_pass(&build->turns, JOIN);
    else
        weft_turns_fail(&build->turns, item);
    return code;
}

static enum weft_code run(struct build *build, struct weft_pool *pool, struct weft_err *err)
{
    build->n_chunk_rows = rows_of_chunk(build);
    const size_t n_chunks = (build->n_rows + build->n_chunk_rows - 1) / build->n_chunk_rows;
    weft_turns_init(&build->turns);
    const enum weft_code code =
        weft_pool_run(pool, n_chunks, build_chunk, build, build->progress, err);
    weft_turns_fini(&build->turns);
    return code;
}

/* ---- what is built --------------------------------------------------------------------------- */

static void chunk_fini(struct chunk *chunk)
{
    WEFT_VEC_FINI(&chunk->entries);
    WEFT_VEC_FINI(&chunk->used);
    weft_order_fini(&chunk->order);
    free(chunk->made);
    free(chunk->places);
}

static void build_fini(struct build *build)
{
    weft_events_drop(build->trace);
    for (unsigned i = 0; build->workers && i < build->n_workers; i++) {
        weft_ecct_maker_free(build->workers[i].maker);
        WEFT_VEC_FINI(&build->workers[i].places);
        WEFT_VEC_FINI(&build->workers[i].seen);
        chunk_fini(&build->workers[i].chunk);
    }
    free(build->workers);
    free(build->metrics);
    free(build->columns);
    free(build->path_values);
    free(build->values);
    weft_ecct_names_free(build->names);
    weft_ecct_tree_free(build->tree);
    WEFT_VEC_FINI(&build->nodes);
    weft_marks_fini(&build->marks);
    free(build->ns);
    free(build->sums);
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
        .opts = { .max_threads = max_threads,
                  .memory_bytes = run->memory_bytes / 2 / n_workers,
                  .known = weft_session_known(session) },
        .progress = run->progress,
        .tree = weft_ecct_tree_new(),
        .workers = calloc(n_workers, sizeof *build->workers),
        .n_workers = n_workers,
        .metrics = calloc(n_metrics, sizeof *build->metrics),
        .columns = calloc(n_metrics, sizeof *build->columns),
        .path_values = calloc(n_metrics, sizeof *build->path_values),
        .values = calloc(n_metrics, sizeof *build->values),
    };
    weft_events_keep(build->trace, run->memory_bytes);
    if (!build->opts.known || !build->tree || !build->workers || !build->metrics ||
        !build->columns || !build->path_values || !build->values)
        return weft_no_memory(err, "executions");
    choose_metrics(build);
    WEFT_TRY(weft_session_locks(session, &build->opts.locks, err));
    return weft_ecct_names_new(build->trace, &build->names, err);
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
        if (!build->has_type || table->rows[i].type == type) {
            build->n_rows++;
            build->sum_ns += table->rows[i].end_ns - table->rows[i].start_ns;
        }
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
        .facts = opts->facts ? *opts->facts : (struct weft_source_facts){ .is_known = false },
    };
}

/* Kinds of events that count one by one: more would change the fingerprints that databases have. */
enum { FINGERPRINT_KINDS = WEFT_EVENT_CALL_ARGS + 1 };

/* A number that traces of other contents do not have: of their counts and times. */
static uint64_t fingerprint_of(const struct weft_trace *trace)
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
                               XXH3_64bits(meta->events_of_kind,
                                           FINGERPRINT_KINDS * sizeof *meta->events_of_kind) };
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
    return weft_database_commit_blocks(context, err);
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
        .fingerprint = fingerprint_of(build.trace),
        .metrics = build.metrics,
        .n_metrics = build.n_metrics,
    };
    WEFT_THEN(code, weft_database_begin(database, &source, build.tree, err));
    WEFT_THEN(code, run(&build, weft_session_run(session)->pool, err));
    WEFT_THEN(code, weft_database_end(database, err));
    build_fini(&build);
    return code;
}

enum weft_code weft_executions_build(struct weft_session *session,
                                     const struct weft_executions_table *table,
                                     struct weft_database *database,
                                     const struct weft_build_opts *opts, struct weft_err *err)
{
    struct weft_source_facts facts = { .is_known = false };
    struct weft_build_opts known = *opts;
    enum weft_code code = opts->facts ? WEFT_OK : weft_session_facts(session, &facts, err);
    if (!opts->facts)
        known.facts = &facts;
    weft_progress_start(weft_session_run(session)->progress, "trees", "executions", table->n_rows);
    for (uint32_t type = 0; type < table->n_types && code == WEFT_OK; type++) {
        bool has_any = false;
        for (size_t i = 0; i < table->n_rows && !has_any; i++) {
            has_any = table->rows[i].type == type;
            weft_executions_passed(table, i);
        }
        if (has_any)
            code = build_type(session, table, type, database, &known, err);
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
    enum weft_code code =
        maker ? weft_matrix_source(maker, &source, err) : weft_no_memory(err, "executions");
    for (size_t i = 0; maker && i < build->n_metrics; i++)
        weft_matrix_keep_metric(maker, i);
    WEFT_THEN(code, run(build, weft_session_run(session)->pool, err));
    const struct weft_matrix_tree tree = { weft_ecct_tree_frames(build->tree),
                                           weft_ecct_tree_nodes(build->tree),
                                           weft_ecct_tree_n_frames(build->tree),
                                           weft_ecct_tree_n_nodes(build->tree) };
    WEFT_THEN(code, weft_matrix_finish(maker, &tree, matrix, err));
    if (code == WEFT_OK && !weft_wrappers_mark(*matrix))
        code = weft_no_memory(err, "executions");
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
    WEFT_THEN(code, build_matrix(&build, session, opts, matrix, err));
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
    WEFT_THEN(code, build_matrix(&build, session, &opts, matrix, err));
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
    WEFT_THEN(code, run(&build, weft_session_run(session)->pool, err));
    build_fini(&build);
    return code;
}
