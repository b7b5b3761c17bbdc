/* SPDX-License-Identifier: MIT
 *
 * Trees of executions: the paper's figures, small traces, and random ones, of which trees hold all
 * the time, for any number of workers, through a database or not.
 */
#include "plain_world.h"
#include "query/build.h"
#include "schema/result.h"
#include "text_trace.h"

#include <math.h>
#include <unistd.h>

enum { PATH_BYTES = 512, TEXT_BYTES = 1 << 16 };

static char folder[PATH_BYTES];

static char *path_of(const char *name)
{
    char *path = malloc(2 * PATH_BYTES);
    (void)snprintf(path, (size_t)2 * PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static void must(enum weft_code code, const struct weft_err *err)
{
    if (code == WEFT_OK)
        return;
    tap_note("%s: %s", err->file, err->text);
    abort();
}

/* ---- the paper's figures --------------------------------------------------------------------- */

struct figure {
    const char *name, *rows, *edges;
    struct {
        uint32_t thread_id;
        uint64_t from_ns, to_ns;
        const char *stack;
    } stacks[10];
    unsigned max_threads;
    uint64_t from_ns, to_ns;
    const char *tree;
};

static const struct figure figures[] = {
    { "figure 3",
      "0: 1 R 3 B 7 R 11 / 1: 1 R 6 D 7 R 11",
      "1@7>0@7",
      { { 0, 1, 11, "A" },
        { 0, 2, 7, "A;B" },
        { 0, 9, 10, "A;C" },
        { 1, 1, 2, "X" },
        { 1, 3, 4, "C" },
        { 1, 5, 8, "C" },
        { 1, 10, 11, "X" } },
      0,
      1,
      11,
      "A=4 A;B=1 A;B;T1;C=2 A;B;T1;C;blocked: block device=1 A;B;T1;running=1 A;C=1" },
    { "figure 4",
      "0: 1 R 2 B 4 R 5 / 1: 2 R 4 / 2: 2 R 5",
      "1@3>0@3 2@4>0@4",
      { { 0, 1, 5, "A" }, { 1, 2, 4, "B" }, { 2, 2, 5, "C" } },
      0,
      1,
      5,
      "A=2 A;T2;C=2" },
    { "figure 4, the other way round",
      "0: 1 R 2 B 4 R 5 / 1: 2 R 4 R 5 / 2: 2 R 5",
      "1@4>0@4 2@3>0@3",
      { { 0, 1, 5, "A" }, { 1, 2, 5, "B" }, { 2, 2, 5, "C" } },
      0,
      1,
      5,
      "A=2 A;T1;B=2" },
    { "a chain of three, of which two are admitted",
      "0: 0 R 1 B 9 R 10 / 1: 0 R 2 B 7 R 10 / 2: 0 R 10",
      "1@9>0@9 2@7>1@7",
      { { 0, 0, 10, "A" }, { 1, 0, 10, "B" }, { 2, 0, 10, "C" } },
      2,
      0,
      10,
      "A=2 A;T1;B=3 A;T1;B;blocked: further threads=5" },
};

static void check_figure(const struct figure *figure)
{
    struct plain_world *world = calloc(1, sizeof *world);
    struct plain_spents *spents = calloc(1, sizeof *spents);
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    const struct weft_path_walk_opts opts = { .from_ns = figure->from_ns,
                                              .to_ns = figure->to_ns,
                                              .with_frames = true };
    struct weft_path_walked walked = { 0 };
    struct weft_ecct_filled filled;
    struct weft_err err = { 0 };
    char text[WORLD_TEXT];
    plain_graph_read(&world->plain, figure->rows, figure->edges);
    world->plain.graph.ops = &world_ops;
    world->idle_thread_id = WEFT_ID_NONE;
    for (size_t at = 0; at < WORLD_LENGTH; at++)
        world->occupants[at] = WEFT_ID_NONE;
    for (size_t i = 0; i < 10 && figure->stacks[i].stack; i++)
        for (uint64_t at = figure->stacks[i].from_ns; at < figure->stacks[i].to_ns; at++)
            world->stacks[figure->stacks[i].thread_id][at] = figure->stacks[i].stack;
    struct weft_ecct_fill *fill =
        weft_ecct_fill_new(tree, &world_stacks, world, figure->max_threads);
    must(weft_path_walk(&world->plain.graph, &opts, &walked, &err), &err);
    must(weft_ecct_fill(fill, &world->plain.graph, &walked, &filled, &err), &err);
    spents_read(spents, tree, &filled);
    spents_text(spents, text);
    tap_eq_str(text, figure->tree, "%s", figure->name);
    weft_path_walked_fini(&walked);
    weft_ecct_fill_free(fill);
    weft_ecct_tree_free(tree);
    free(spents);
    free(world);
}

/* ---- traces ---------------------------------------------------------------------------------- */

struct text {
    char *bytes;
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(text->bytes + text->n, TEXT_BYTES - text->n, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < TEXT_BYTES - text->n)
        text->n += (size_t)n;
}

static void put_node(struct text *text, const struct weft_ecct_matrix *matrix, uint32_t node)
{
    if (matrix->nodes[node].parent != 0)
        put_node(text, matrix, matrix->nodes[node].parent);
    const struct weft_frame *frame = &matrix->frames[matrix->nodes[node].frame];
    put(text, "%s%.*s", matrix->nodes[node].parent ? ";" : "", (int)frame->name.n_bytes,
        frame->name.bytes);
}

/* Executions, their nodes and metrics, and the confidences: all but the ids. */
static char *text_of(const struct weft_ecct_matrix *matrix)
{
    struct text text = { malloc(TEXT_BYTES), 0 };
    text.bytes[0] = 0;
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[i];
        put(&text, "%s%" PRIu64 " %" PRIu64 "-%" PRIu64 ":", i ? "\n" : "", item->tid,
            item->start_ns, item->end_ns);
        for (uint64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++) {
            put(&text, " ");
            put_node(&text, matrix, matrix->node[k]);
            put(&text, "=%" PRIu64, matrix->ns[k]);
        }
        for (size_t k = 2; k < matrix->n_metrics; k++)
            if (!isnan(matrix->metrics[k].values[i]))
                put(&text, " %.*s=%g", (int)matrix->metrics[k].name.n_bytes,
                    matrix->metrics[k].name.bytes, matrix->metrics[k].values[i]);
    }
    for (size_t i = 1; i < matrix->n_nodes; i++)
        put(&text, "%s%s", i > 1 ? " " : "\n", weft_confidence_name(matrix->nodes[i].confidence));
    return text.bytes;
}

static struct weft_executions_table *table_new(const struct weft_execution_row *rows, size_t n_rows)
{
    static struct weft_execution_type type = { .name = { "request", 7 } };
    static struct weft_executions_table table;
    static struct weft_execution_row copy[64];
    memcpy(copy, rows, n_rows * sizeof *rows);
    table = (struct weft_executions_table){
        .types = &type, .n_types = 1, .rows = copy, .n_rows = n_rows
    };
    return &table;
}

/* The tree of rows of a trace, built by so many workers. */
static char *build(const char *path, const struct weft_execution_row *rows, size_t n_rows,
                   unsigned n_workers, struct weft_ecct_matrix **matrix)
{
    const struct weft_run run = { .pool = weft_pool_new(n_workers) };
    const struct weft_build_opts opts = { .path = weft_str_of(path) };
    struct weft_session *session;
    struct weft_err err = { 0 };
    must(weft_session_open(path, &run, &session, &err), &err);
    must(weft_executions_matrix(session, table_new(rows, n_rows), 0, &opts, matrix, &err), &err);
    weft_session_close(session);
    weft_pool_free(run.pool);
    return text_of(*matrix);
}

/* A database of them, written twice; the second takes the place of the first. */
static void build_database(const char *path, const struct weft_execution_row *rows, size_t n_rows,
                           unsigned n_workers, const char *file)
{
    const struct weft_run run = { .pool = weft_pool_new(n_workers) };
    const struct weft_build_opts opts = { .path = weft_str_of(path), .tag = WEFT_STR("tag") };
    struct weft_session *session;
    struct weft_database *database;
    struct weft_err err = { 0 };
    must(weft_session_open(path, &run, &session, &err), &err);
    must(weft_database_open(file, WEFT_DATABASE_WRITE, &database, &err), &err);
    for (size_t i = 0; i < 2; i++)
        must(weft_executions_build(session, table_new(rows, n_rows), database, &opts, &err), &err);
    weft_database_close(database);
    weft_session_close(session);
    weft_pool_free(run.pool);
}

static char *text_of_database(const char *file)
{
    struct weft_database *database;
    struct weft_ecct_matrix *matrix;
    struct weft_err err = { 0 };
    must(weft_database_open(file, WEFT_DATABASE_READ, &database, &err), &err);
    must(weft_database_load(database, WEFT_STR(""), &matrix, &err), &err);
    weft_database_close(database);
    char *text = text_of(matrix);
    weft_result_free(matrix);
    return text;
}

static bool has_same_bytes(const char *a, const char *b)
{
    FILE *files[2] = { fopen(a, "rb"), fopen(b, "rb") };
    int x = 0, y = 0;
    if (!files[0] || !files[1])
        abort();
    while (x == y && x != EOF) {
        x = getc(files[0]);
        y = getc(files[1]);
    }
    (void)fclose(files[0]);
    (void)fclose(files[1]);
    return x == y;
}

/* Thread 1 is preempted by 3, waits for 2, which naps; its calls are known, those of 2 as well. */
static void check_told(void)
{
    const struct text_thread threads[] = { { 0, 0, 0 }, { 11, 0, 0 }, { 12, 0, 0 }, { 13, 0, 0 } };
    const char *events = "0 0 switch 0 0 1\n"
                         "0 1 switch 0 0 2\n"
                         "1 0 enter 1 0\n"
                         "5 0 switch 1 0 3\n"
                         "15 0 switch 3 1 1\n"
                         "20 0 enter 1 1\n"
                         "25 0 switch 1 1 0\n"
                         "10 1 enter 2 4\n"
                         "30 1 switch 2 1 0\n"
                         "50 1 irq 0 hrtimer 0\n"
                         "51 1 waking 0 2 1\n"
                         "52 1 done 0 hrtimer 0\n"
                         "55 1 switch 0 0 2\n"
                         "60 1 waking 2 1 0\n"
                         "65 0 switch 0 0 1\n"
                         "70 0 exit 1 1\n"
                         "80 0 exit 1 0\n"
                         "90 1 exit 2 4\n"
                         "95 0 switch 1 1 0\n"
                         "96 1 switch 2 1 0\n";
    char *path = path_of("told.weft");
    const struct weft_execution_row row = {
        .thread_id = 1, .end_thread_id = 1, .start_ns = 2, .end_ns = 80
    };
    struct weft_ecct_matrix *matrix = NULL;
    if (text_trace_write(path, threads, 4, events) != WEFT_OK)
        abort();
    char *text = build(path, &row, 1, 1, &matrix);
    tap_eq_str(text,
               "11 2-80: main=18 main;work=10 main;work;preempted=5 "
               "main;work;thread;helper=10 main;work;thread;helper;blocked: timer=21 "
               "main;work;thread;helper;preempted=4 main;preempted;thread;running=10 running=38 "
               "preempted=19 blocked_timer=21\n"
               "exact exact exact exact exact exact exact exact exact exact",
               "a trace of calls and a kernel");
    free(text);
    weft_result_free(matrix);
    (void)unlink(path);
    free(path);
}

/* Thread 1 is preempted by 2: of another process, which its program started, if it is known which
 * threads are not of it. */
static void check_kin(void)
{
    const char *events = "0 0 switch 0 0 1\n"
                         "1 0 enter 1 0\n"
                         "5 0 switch 1 0 2\n"
                         "15 0 switch 2 1 1\n"
                         "20 0 exit 1 0\n";
    for (unsigned is_told = 0; is_told < 2; is_told++) {
        const struct text_thread threads[] = {
            { 0, 0, 0 }, { 11, 0, 0 }, { 12, 0, 0 }, { is_told ? TOLD_FOREIGN : 13, 0, 0 }
        };
        char *path = path_of("kin.weft");
        const struct weft_execution_row row = {
            .thread_id = 1, .end_thread_id = 1, .start_ns = 2, .end_ns = 18
        };
        struct weft_ecct_matrix *matrix = NULL;
        if (text_trace_write(path, threads, 4, events) != WEFT_OK)
            abort();
        free(build(path, &row, 1, 1, &matrix));
        size_t n_threads = 0, n_other = 0;
        for (size_t i = 0; i < matrix->n_frames; i++) {
            n_threads += matrix->frames[i].kind == WEFT_FRAME_THREAD;
            n_other += matrix->frames[i].module.n_bytes > 0;
        }
        tap_ok(n_threads == 1 && n_other == !is_told, "what the program started is %s",
               is_told ? "of it" : "another program, if nobody tells");
        weft_result_free(matrix);
        (void)unlink(path);
        free(path);
    }
}

/* ---- random traces --------------------------------------------------------------------------- */

enum { N_THREADS = 6, N_ROWS = 40, N_TRACES = 40 };

/* Two processors; threads call and return while they run, wake each other, and wait. */
static char *random_events(uint64_t *state)
{
    struct text text = { malloc(TEXT_BYTES), 0 };
    uint32_t on[2] = { 0, 1 }, depth[N_THREADS] = { 0 }, stack[N_THREADS][8];
    uint64_t at_ns = 0;
    put(&text, "0 0 switch 5 1 0\n0 1 switch 5 1 1\n");
    for (size_t n = 0; n < 200; n++) {
        const unsigned cpu = (unsigned)(tap_random(state) % 2);
        const uint32_t now = on[cpu], other = (uint32_t)(tap_random(state) % N_THREADS);
        at_ns += 1 + tap_random(state) % 40;
        if (tap_random(state) % 3 == 0 && other != on[0] && other != on[1]) {
            put(&text, "%" PRIu64 " %u switch %u %u %u\n", at_ns, cpu, now,
                (unsigned)(tap_random(state) % 3 != 0), other);
            on[cpu] = other;
        } else if (tap_random(state) % 3 == 0 && other != now) {
            put(&text, "%" PRIu64 " %u waking %u %u %u\n", at_ns, cpu, now, other, cpu);
        } else if (depth[now] < 8 && tap_random(state) % 2) {
            stack[now][depth[now]] = (uint32_t)(tap_random(state) % 7);
            put(&text, "%" PRIu64 " %u enter %u %u\n", at_ns, cpu, now, stack[now][depth[now]++]);
        } else if (depth[now]) {
            put(&text, "%" PRIu64 " %u exit %u %u\n", at_ns, cpu, now, stack[now][--depth[now]]);
        }
    }
    return text.bytes;
}

static bool is_whole(const struct weft_ecct_matrix *matrix)
{
    for (size_t i = 0; i < matrix->n_items; i++) {
        uint64_t sum_ns = 0;
        for (uint64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++)
            sum_ns += matrix->ns[k];
        if (sum_ns != matrix->items[i].end_ns - matrix->items[i].start_ns)
            return false;
    }
    return true;
}

static void check_random(uint64_t seed)
{
    char *path = path_of("random.weft"), *file = path_of("trees.db"), *other = path_of("other.db");
    size_t n_whole = 0, n_same = 0, n_equal = 0, n_stored = 0, n_single = 0, n_nodes = 0;
    for (size_t i = 0; i < N_TRACES; i++) {
        uint64_t state = seed + i, start_ns = 0;
        struct text_thread threads[N_THREADS];
        struct weft_execution_row rows[N_ROWS];
        struct weft_ecct_matrix *matrix, *again;
        char *events = random_events(&state);
        for (uint32_t k = 0; k < N_THREADS; k++)
            threads[k] = (struct text_thread){ .tid = k == 5 ? 0 : 100 + k };
        if (text_trace_write(path, threads, N_THREADS, events) != WEFT_OK)
            abort();
        for (size_t k = 0; k < N_ROWS; k++) {
            start_ns += tap_random(&state) % 100;
            rows[k] = (struct weft_execution_row){ .thread_id = (uint32_t)(tap_random(&state) % 5),
                                                   .start_ns = start_ns };
            rows[k].end_thread_id = rows[k].thread_id;
            rows[k].end_ns = start_ns + tap_random(&state) % 600;
        }
        char *one = build(path, rows, N_ROWS, 1, &matrix),
             *many = build(path, rows, N_ROWS, 3, &again);
        build_database(path, rows, N_ROWS, 1, file);
        build_database(path, rows, N_ROWS, 3, other);
        char *stored = text_of_database(file);
        n_whole += is_whole(matrix);
        n_same += strcmp(one, many) == 0;
        n_stored += strcmp(one, stored) == 0;
        n_equal += has_same_bytes(file, other);
        (void)unlink(file);
        (void)unlink(other);
        n_nodes += matrix->n_nodes;
        weft_result_free(again);
        weft_result_free(matrix);
        free(many);
        char *first = build(path, &rows[7], 1, 1, &matrix);
        n_single += is_whole(matrix);
        weft_result_free(matrix);
        free(first);
        free(one);
        free(stored);
        free(events);
    }
    (void)unlink(path);
    free(path);
    free(file);
    free(other);
    tap_eq_u64(n_whole, N_TRACES, "times sum to the durations, exactly");
    tap_eq_u64(n_single, N_TRACES, "of single ones, too");
    tap_eq_u64(n_same, N_TRACES, "three workers find what one finds");
    tap_eq_u64(n_stored, N_TRACES, "what comes out of a database is what would be without");
    tap_eq_u64(n_equal, N_TRACES, "databases of one worker and of three have the same bytes");
    tap_ok(n_nodes > 20 * (size_t)N_TRACES, "there were nodes: %zu", n_nodes);
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(folder, sizeof folder, "%s/test_ecct.XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(folder))
        abort();
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        check_figure(&figures[i]);
    check_told();
    check_kin();
    check_random(seed);
    if (rmdir(folder) != 0)
        abort();
    return tap_done();
}
