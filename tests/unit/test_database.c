/* SPDX-License-Identifier: MIT
 *
 * The database of executions: what is added comes back, from several writers, from those that were
 * killed, and from files that are damaged.
 */
#include "query/database/block.h"
#include "query/database/database.h"
#include "schema/result.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_EXECUTIONS = 200, PATH_BYTES = 512, TEXT_BYTES = 1 << 18, MOST_NODES = 24 };

static char folder[PATH_BYTES];

static const char *path_of(const char *name)
{
    static char paths[4][2 * PATH_BYTES];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static const char *new_path(const char *name)
{
    const char *path = path_of(name);
    (void)unlink(path);
    return path;
}

static void must(enum weft_code code, const struct weft_err *err)
{
    if (code == WEFT_OK)
        return;
    tap_note("%s: %s", err->file, err->text);
    abort();
}

/* ---- random executions ----------------------------------------------------------------------- */

static const struct weft_metric metrics[] = {
    { .name = { "page_faults", 11 }, .unit = WEFT_METRIC_COUNT },
    { .name = { "share", 5 }, .unit = WEFT_METRIC_NUMBER }
};

static uint32_t random_node(struct weft_ecct_tree *tree, uint64_t *state, uint32_t parent)
{
    char name[32];
    uint32_t frame = 0, node = 0;
    (void)snprintf(name, sizeof name, "f%d", (int)(tap_random(state) % 6));
    struct weft_err err = { 0 };
    must(weft_ecct_tree_frame(tree, weft_str_of(name), WEFT_STR("prog"),
                              (enum weft_frame_kind)(tap_random(state) % WEFT_FRAME_KINDS), &frame,
                              &err),
         &err);
    must(weft_ecct_tree_node(tree, parent, frame,
                             (enum weft_confidence)(tap_random(state) % WEFT_CONFIDENCES), &node,
                             &err),
         &err);
    return node;
}

struct random_row {
    struct weft_execution_item item;
    uint32_t nodes[MOST_NODES];
    uint64_t ns[MOST_NODES];
    size_t n;
    double values[2];
};

static void random_row(struct weft_ecct_tree *tree, uint64_t seed, struct random_row *row)
{
    static const char *const threads[] = { "main", "worker", "T1" };
    uint64_t state = seed, sum_ns = 0;
    const uint32_t flags = tap_random(&state) % 3 ? 0 : 2;
    const uint64_t tid = 100 + tap_random(&state) % 5;
    const uint64_t start_ns = tap_random(&state) >> 10;
    *row = (struct random_row){ .item = { .flags = flags, .tid = tid, .start_ns = start_ns } };
    row->item.thread = weft_str_of(threads[tap_random(&state) % 3]);
    for (size_t want = tap_random(&state) % MOST_NODES; want > 0; want--) {
        uint32_t node = 0;
        for (unsigned depth = 1 + (unsigned)(tap_random(&state) % 5); depth > 0; depth--)
            node = random_node(tree, &state, node);
        size_t at = row->n;
        while (at > 0 && row->nodes[at - 1] > node)
            at--;
        if (at > 0 && row->nodes[at - 1] == node)
            continue;
        memmove(&row->nodes[at + 1], &row->nodes[at], (row->n - at) * sizeof *row->nodes);
        memmove(&row->ns[at + 1], &row->ns[at], (row->n - at) * sizeof *row->ns);
        row->nodes[at] = node;
        const unsigned shift = 24 + (unsigned)(tap_random(&state) % 40);
        row->ns[at] = 1 + (tap_random(&state) >> shift);
        row->n++;
    }
    for (size_t i = 0; i < row->n; i++)
        sum_ns += row->ns[i];
    row->item.end_ns = row->item.start_ns + sum_ns;
    row->values[0] = tap_random(&state) % 2 ? (double)NAN : (double)(tap_random(&state) % 1000);
    row->values[1] =
        tap_random(&state) % 2 ? (double)NAN : (double)(tap_random(&state) % 1000) / 7 - 50;
}

/* ---- as text --------------------------------------------------------------------------------- */

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

static void put_path(struct text *text, const struct weft_frame *frames,
                     const struct weft_ecct_node *nodes, uint32_t node)
{
    if (nodes[node].parent != 0)
        put_path(text, frames, nodes, nodes[node].parent);
    const struct weft_frame *frame = &frames[nodes[node].frame];
    put(text, "%s%.*s/%u", nodes[node].parent ? ";" : "", (int)frame->name.n_bytes,
        frame->name.bytes, frame->kind);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Paths of one execution, in order of their text. */
static void put_nodes(struct text *text, const struct weft_frame *frames,
                      const struct weft_ecct_node *nodes, const uint32_t *node, const uint64_t *ns,
                      size_t n)
{
    static char lines[MOST_NODES][256];
    for (size_t i = 0; i < n; i++) {
        char bytes[TEXT_BYTES / 64];
        struct text line = { bytes, 0 };
        put_path(&line, frames, nodes, node[i]);
        (void)snprintf(lines[i], sizeof lines[i], " %.180s=%" PRIu64, bytes, ns[i]);
    }
    qsort(lines, n, sizeof lines[0], by_text);
    for (size_t i = 0; i < n; i++)
        put(text, "%s", lines[i]);
}

static void put_item(struct text *text, const struct weft_execution_item *item)
{
    put(text, "%" PRIu64 " %.*s %u %" PRIu64 "-%" PRIu64, item->tid, (int)item->thread.n_bytes,
        item->thread.bytes, item->flags, item->start_ns, item->end_ns);
}

static void put_value(struct text *text, double value)
{
    if (isnan(value))
        put(text, " -");
    else
        put(text, " %.17g", value);
}

static char *text_of_rows(uint64_t seed, size_t n_rows)
{
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    struct text text = { malloc(TEXT_BYTES), 0 };
    text.bytes[0] = 0;
    for (size_t i = 0; i < n_rows; i++) {
        struct random_row row;
        random_row(tree, seed + i, &row);
        put_item(&text, &row.item);
        put_nodes(&text, weft_ecct_tree_frames(tree), weft_ecct_tree_nodes(tree), row.nodes, row.ns,
                  row.n);
        put_value(&text, row.values[0]);
        put_value(&text, row.values[1]);
        put(&text, "\n");
    }
    weft_ecct_tree_free(tree);
    return text.bytes;
}

static double value_of(const struct weft_ecct_matrix *matrix, const char *name, size_t item)
{
    for (size_t i = 0; i < matrix->n_metrics; i++)
        if (weft_str_equal(matrix->metrics[i].name, weft_str_of(name)))
            return matrix->metrics[i].values[item];
    return (double)NAN;
}

static char *text_of(const struct weft_ecct_matrix *matrix)
{
    struct text text = { malloc(TEXT_BYTES), 0 };
    text.bytes[0] = 0;
    for (size_t i = 0; i < matrix->n_items; i++) {
        const uint64_t at = matrix->starts[i];
        put_item(&text, &matrix->items[i]);
        put_nodes(&text, matrix->frames, matrix->nodes, matrix->node + at, matrix->ns + at,
                  (size_t)(matrix->starts[i + 1] - at));
        put_value(&text, value_of(matrix, "page_faults", i));
        put_value(&text, value_of(matrix, "share", i));
        put(&text, "\n");
    }
    return text.bytes;
}

/* ---- adding and loading ---------------------------------------------------------------------- */

struct added {
    const char *type, *tag;
    uint64_t fingerprint, seed;
    size_t n_rows, batch;
    bool is_left;   /* without an end */
    int told_fd;    /* gets a byte after each commit; -1: none */
    bool by_blocks; /* commits full blocks, where there are any */
};

static void add(const char *path, const struct added *added)
{
    struct weft_err err = { 0 };
    struct weft_database *database;
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    const struct weft_database_source source = {
        .type = weft_str_of(added->type),
        .trace = { .path = WEFT_STR("some.weft"),
                   .host = WEFT_STR("here"),
                   .tag = weft_str_of(added->tag),
                   .realtime_ns = 1234567890123456789 },
        .fingerprint = added->fingerprint,
        .metrics = metrics,
        .n_metrics = 2,
    };
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
    must(weft_database_begin(database, &source, tree, &err), &err);
    for (size_t i = 0; i < added->n_rows; i++) {
        struct random_row row;
        random_row(tree, added->seed + i, &row);
        const struct weft_matrix_row made = { &row.item, row.nodes, row.ns, row.n, row.values };
        must(weft_database_add(database, &made, &err), &err);
        if ((i + 1) % added->batch)
            continue;
        must(added->by_blocks ? weft_database_commit_blocks(database, &err)
                              : weft_database_commit(database, &err),
             &err);
        if (added->told_fd >= 0 && write(added->told_fd, "", 1) != 1)
            abort();
    }
    if (!added->by_blocks)
        must(weft_database_commit(database, &err), &err);
    if (!added->is_left)
        must(weft_database_end(database, &err), &err);
    weft_database_close(database);
    weft_ecct_tree_free(tree);
}

static struct weft_ecct_matrix *load(const char *path, const char *type)
{
    struct weft_err err = { 0 };
    struct weft_database *database;
    struct weft_ecct_matrix *matrix;
    must(weft_database_open(path, WEFT_DATABASE_READ, &database, &err), &err);
    must(weft_database_load(database, weft_str_of(type), &matrix, &err), &err);
    weft_database_close(database);
    return matrix;
}

static size_t count_of(const char *path, const char *type)
{
    struct weft_ecct_matrix *matrix = load(path, type);
    const size_t n = matrix->n_items;
    weft_result_free(matrix);
    return n;
}

static void is_as_added(const char *path, const char *type, uint64_t seed, size_t n_rows,
                        const char *what)
{
    struct weft_ecct_matrix *matrix = load(path, type);
    char *got = text_of(matrix), *want = text_of_rows(seed, n_rows);
    tap_ok(strcmp(got, want) == 0, "%s: what is loaded is what was added", what);
    free(got);
    free(want);
    weft_result_free(matrix);
}

static const struct added plain = { "request", "base", 1, 77, N_EXECUTIONS, 64, false, -1, false };

static void check_round_trip(uint64_t seed)
{
    const char *path = new_path("round.db");
    struct added added = plain;
    added.seed = seed;
    add(path, &added);
    is_as_added(path, "request", seed, N_EXECUTIONS, "one source");
    struct weft_ecct_matrix *matrix = load(path, "");
    tap_eq_u64(matrix->n_sources, 1, "the only type is found");
    tap_ok(weft_str_equal(matrix->sources[0].tag, WEFT_STR("base")) &&
               weft_str_equal(matrix->sources[0].path, WEFT_STR("some.weft")) &&
               matrix->sources[0].realtime_ns == 1234567890123456789,
           "the source is there");
    tap_ok(weft_str_equal(matrix->metrics[0].name, WEFT_STR("duration")) &&
               weft_str_equal(matrix->metrics[1].name, WEFT_STR("start")) &&
               matrix->metrics[0].values[1] ==
                   (double)(matrix->items[1].end_ns - matrix->items[1].start_ns),
           "duration and start come first");
    bool is_ordered = matrix->nodes[0].parent == UINT32_MAX;
    for (size_t i = 1; i < matrix->n_nodes; i++)
        is_ordered = is_ordered && matrix->nodes[i].parent < i;
    for (size_t i = 0; i < matrix->n_items; i++)
        for (uint64_t k = matrix->starts[i] + 1; k < matrix->starts[i + 1]; k++)
            is_ordered = is_ordered && matrix->node[k - 1] < matrix->node[k];
    tap_ok(is_ordered, "parents are before children, and entries by node");
    weft_result_free(matrix);
}

static void check_sources(void)
{
    const char *path = new_path("sources.db");
    struct added added = plain;
    add(path, &added);
    added.tag = "new";
    added.seed = 500;
    add(path, &added);
    added.type = "frame";
    add(path, &added);
    tap_eq_u64(count_of(path, "request"), (uint64_t)2 * N_EXECUTIONS, "two tags are two sources");
    tap_eq_u64(count_of(path, "frame"), N_EXECUTIONS, "types are told apart");
    add(path, &added);
    tap_eq_u64(count_of(path, "frame"), N_EXECUTIONS, "the same one again replaces");
    added.n_rows = 10;
    added.is_left = true;
    add(path, &added);
    is_as_added(path, "frame", 500, N_EXECUTIONS, "one that was not ended replaces nothing");
    added.fingerprint = 2;
    add(path, &added);
    tap_eq_u64(count_of(path, "frame"), N_EXECUTIONS + 10, "and stands, if there is no other");
    added.is_left = false;
    added.n_rows = 20;
    add(path, &added);
    tap_eq_u64(count_of(path, "frame"), N_EXECUTIONS + 20, "until it is added as a whole");
}

/* ---- several writers ------------------------------------------------------------------------- */

static void check_two_writers(void)
{
    const char *path = new_path("two.db");
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            struct added added = plain;
            added.fingerprint = 10 + (uint64_t)i;
            added.seed = 1000 * (uint64_t)i;
            added.batch = 7;
            add(path, &added);
            _exit(0);
        }
    }
    bool is_good = true;
    for (int i = 0; i < 3; i++) {
        int status = 1;
        is_good = waitpid(children[i], &status, 0) == children[i] && status == 0 && is_good;
    }
    tap_ok(is_good, "three writers at once come to their ends");
    struct weft_ecct_matrix *matrix = load(path, "request");
    char *got = text_of(matrix);
    size_t n_found = 0;
    for (uint64_t i = 0; i < 3; i++) {
        char *want = text_of_rows(1000 * i, N_EXECUTIONS);
        n_found += strstr(got, want) != NULL;
        free(want);
    }
    tap_eq_u64(n_found, 3, "and all that they added is there");
    free(got);
    weft_result_free(matrix);
}

/* Three add the same trace at once: who was replaced meanwhile is told, who began last stands. */
static void check_same_trace(void)
{
    const char *path = new_path("same.db");
    const struct weft_database_source source = { .type = WEFT_STR("request"), .fingerprint = 5 };
    struct weft_database *writers[3];
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    struct weft_err err = { 0 };
    for (size_t i = 0; i < 2; i++) {
        must(weft_database_open(path, WEFT_DATABASE_WRITE, &writers[i], &err), &err);
        must(weft_database_begin(writers[i], &source, tree, &err), &err);
    }
    must(weft_database_end(writers[1], &err), &err);
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &writers[2], &err), &err);
    must(weft_database_begin(writers[2], &source, tree, &err), &err);
    const enum weft_code code = weft_database_end(writers[0], &err);
    tap_ok(code == WEFT_E_IO && strstr(err.text, "at the same time"),
           "who was replaced is told: %s", err.text);
    must(weft_database_end(writers[2], &err), &err);
    tap_ok(true, "who began last stands");
    for (size_t i = 0; i < 3; i++)
        weft_database_close(writers[i]);
    weft_ecct_tree_free(tree);
}

/* Kills a writer after so many commits, and some time. */
static size_t kill_writer(const char *path, uint64_t *state)
{
    int told[2];
    if (pipe(told) != 0)
        abort();
    const pid_t child = fork();
    if (child == 0) {
        struct added added = plain;
        added.batch = 5;
        added.told_fd = told[1];
        added.by_blocks = true;
        (void)close(told[0]);
        add(path, &added);
        _exit(0);
    }
    (void)close(told[1]);
    size_t n_commits = 0;
    char byte;
    for (uint64_t want = tap_random(state) % 40; n_commits < want && read(told[0], &byte, 1) == 1;)
        n_commits++;
    const struct timespec pause = { .tv_nsec = (long)(tap_random(state) % 3000000) };
    (void)nanosleep(&pause, NULL);
    (void)kill(child, SIGKILL);
    (void)waitpid(child, NULL, 0);
    while (read(told[0], &byte, 1) == 1)
        n_commits++;
    (void)close(told[0]);
    return n_commits * 5;
}

static void check_killed(uint64_t seed)
{
    uint64_t state = seed;
    size_t n_kept = 0, n_whole = 0, n_rounds = 15;
    for (size_t i = 0; i < n_rounds; i++) {
        const char *path = new_path("killed.db");
        const size_t n_told = kill_writer(path, &state);
        struct weft_err err = { 0 };
        struct weft_database *database;
        struct weft_ecct_matrix *matrix = NULL;
        if (weft_database_open(path, WEFT_DATABASE_READ, &database, &err) == WEFT_OK) {
            if (weft_database_load(database, WEFT_STR(""), &matrix, &err) != WEFT_OK)
                matrix = NULL;
            weft_database_close(database);
        }
        const size_t n = matrix ? matrix->n_items : 0;
        char *got = matrix ? text_of(matrix) : strdup(""), *want = text_of_rows(plain.seed, n);
        n_kept += n >= n_told;
        n_whole += strcmp(got, want) == 0;
        free(got);
        free(want);
        weft_result_free(matrix);
        add(path, &plain);
        n_whole += count_of(path, "request") == N_EXECUTIONS;
    }
    tap_eq_u64(n_kept, n_rounds, "what was committed before SIGKILL is there");
    tap_eq_u64(n_whole, 2 * n_rounds, "and whole; the next writer replaces it");
}

/* Full blocks stay, and what came after them if no block became full since the commit before. */
static void check_full_blocks(void)
{
    struct added added = plain;
    const char *path = new_path("blocks.db");
    const size_t n_each[] = { 1000, 1500, 700 }, n_kept[] = { 1000, 2 * 1024, 700 };
    added.by_blocks = added.is_left = true;
    for (size_t i = 0; i < 3; i++) {
        char tag[8];
        (void)snprintf(tag, sizeof tag, "t%zu", i);
        added.tag = tag;
        added.n_rows = i == 1 ? 2 * n_each[i] : n_each[i];
        added.batch = n_each[i];
        const size_t n_before = i ? count_of(path, "request") : 0;
        add(path, &added);
        const size_t n = count_of(path, "request") - n_before;
        tap_eq_u64(n, n_kept[i], "%zu executions, committed each %zu", added.n_rows, added.batch);
    }
    added.is_left = false;
    added.tag = "t1";
    added.n_rows = 3000;
    add(path, &added);
    tap_eq_u64(count_of(path, "request"), 1700 + 3000, "all of them when they end");
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void change(const char *path, const char *sql)
{
    sqlite3 *file;
    if (sqlite3_open(path, &file) != SQLITE_OK ||
        sqlite3_exec(file, sql, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    (void)sqlite3_close(file);
}

static void fails(const char *path, enum weft_database_mode mode, enum weft_code want,
                  const char *text)
{
    struct weft_err err = { 0 };
    struct weft_database *database;
    const enum weft_code code = weft_database_open(path, mode, &database, &err);
    tap_ok(code == want && strstr(err.text, text) && strcmp(err.file, path) == 0, "%s: %s",
           weft_code_name(want), err.text);
    weft_database_close(database);
}

static void check_refusals(void)
{
    const char *path = new_path("refused.db");
    FILE *file = fopen(path, "w");
    (void)fputs("this is a text, and no database at all; it is long enough to be one\n", file);
    (void)fclose(file);
    tap_ok(!weft_database_is(path), "a text is no database");
    fails(path, WEFT_DATABASE_READ, WEFT_E_MALFORMED, "found another file");
    fails(path_of("missing.db"), WEFT_DATABASE_READ, WEFT_E_IO, "No such file");
    (void)unlink(path);
    change(path, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    tap_ok(weft_database_is(path), "a database is one by its first bytes");
    fails(path, WEFT_DATABASE_WRITE, WEFT_E_MALFORMED, "of another program");
    (void)unlink(path);
    add(path, &plain);
    change(path, "PRAGMA user_version = 7");
    fails(path, WEFT_DATABASE_READ, WEFT_E_UNSUPPORTED, "version 7");
    fails(path, WEFT_DATABASE_WRITE, WEFT_E_UNSUPPORTED, "version 7");
    change(path, "PRAGMA user_version = 0");
    fails(path, WEFT_DATABASE_READ, WEFT_E_MALFORMED, "version 1 to 4, found 0");
    fails(path, WEFT_DATABASE_WRITE, WEFT_E_MALFORMED, "version 1 to 4, found 0");
    change(path, "PRAGMA user_version = 1");
    fails(path, WEFT_DATABASE_READ, WEFT_E_MALFORMED, "found others");
    fails(path, WEFT_DATABASE_WRITE, WEFT_E_MALFORMED, "found others");
    change(path, "PRAGMA user_version = 4; CREATE TRIGGER t AFTER INSERT ON sources BEGIN "
                 "DELETE FROM blocks; END");
    fails(path, WEFT_DATABASE_WRITE, WEFT_E_MALFORMED, "found others");
    change(path, "DROP TRIGGER t; DROP TABLE metrics");
    fails(path, WEFT_DATABASE_READ, WEFT_E_MALFORMED, "found 6");
}

static void check_types(void)
{
    const char *path = new_path("types.db");
    struct weft_err err = { 0 };
    struct weft_database *database;
    struct weft_ecct_matrix *matrix;
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
    tap_ok(weft_database_load(database, WEFT_STR(""), &matrix, &err) == WEFT_E_ARG &&
               strstr(err.text, "no executions yet"),
           "an empty one: %s", err.text);
    weft_database_close(database);
    struct added added = plain;
    add(path, &added);
    added.type = "frame";
    add(path, &added);
    must(weft_database_open(path, WEFT_DATABASE_READ, &database, &err), &err);
    err = (struct weft_err){ 0 };
    tap_ok(weft_database_load(database, WEFT_STR(""), &matrix, &err) == WEFT_E_ARG &&
               strstr(err.text, "frame, request"),
           "several types: %s", err.text);
    err = (struct weft_err){ 0 };
    tap_ok(weft_database_load(database, WEFT_STR("other"), &matrix, &err) == WEFT_E_ARG &&
               strstr(err.text, "'other'"),
           "an unknown type: %s", err.text);
    weft_database_close(database);
}

static void check_locked(void)
{
    const char *path = new_path("locked.db");
    struct weft_err err = { 0 };
    struct weft_database *database;
    sqlite3 *other;
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    const struct weft_database_source source = { .type = WEFT_STR("t") };
    add(path, &plain);
    if (sqlite3_open(path, &other) != SQLITE_OK ||
        sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
    weft_database_wait(database, 20);
    tap_ok(weft_database_begin(database, &source, tree, &err) == WEFT_E_IO &&
               strstr(err.text, "another program"),
           "locked: %s", err.text);
    tap_eq_u64(count_of(path, "request"), N_EXECUTIONS, "readers read meanwhile");
    (void)sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
    (void)sqlite3_close(other);
    err = (struct weft_err){ 0 };
    tap_eq_u64(weft_database_begin(database, &source, tree, &err), WEFT_OK, "and later it goes on");
    weft_database_close(database);
    weft_ecct_tree_free(tree);
}

/* Changes a database of three blocks, and loads the rest. */
static void damage(const char *path, const char *sql, uint64_t n_lost)
{
    change(path, sql);
    struct weft_ecct_matrix *matrix = load(path, "request");
    const uint64_t n_added = WEFT_DATABASE_BLOCK_ROWS + 2 * N_EXECUTIONS;
    tap_ok(matrix->n_damaged > 0 && matrix->n_items > 0 &&
               matrix->n_damaged + matrix->n_items == n_added &&
               (n_lost == 0 || matrix->n_damaged == n_lost),
           "%s: %" PRIu64 " left out of %" PRIu64, sql, matrix->n_damaged, n_added);
    tap_eq_u64(matrix->n_damaged_metrics, strstr(sql, "metrics") != NULL, "metrics left out");
    weft_result_free(matrix);
}

static void check_damage(void)
{
    static const struct {
        const char *sql;
        uint64_t n_lost; /* 0: some */
    } cases[] = {
        { "UPDATE blocks SET bytes = CAST(substr(bytes, 1, 40) || x'ffff' || substr(bytes, 43) AS "
          "BLOB) WHERE id = (SELECT max(id) FROM blocks)",
          N_EXECUTIONS },
        { "UPDATE blocks SET bytes = x'' WHERE id = 1 << 32", WEFT_DATABASE_BLOCK_ROWS },
        { "UPDATE blocks SET bytes = NULL WHERE id > 1 << 32 AND id < 2 << 32", N_EXECUTIONS },
        { "UPDATE blocks SET bytes = 17 WHERE id = 1 << 32", WEFT_DATABASE_BLOCK_ROWS },
        { "DELETE FROM blocks WHERE id > 1 << 32 AND id < 2 << 32", N_EXECUTIONS },
        { "DELETE FROM threads WHERE id = 2", 0 },
        { "DELETE FROM nodes WHERE id = 1", 0 },
        { "UPDATE frames SET kind = 99 WHERE id = 1", 0 },
        { "UPDATE nodes SET parent = id WHERE id = 2", 0 },
        { "UPDATE nodes SET id = 1 << 60 WHERE id = 2", 0 },
        { "DELETE FROM metrics WHERE id = 1", 0 },
        { "UPDATE frames SET name = x'41' WHERE id = 1", 0 }, /* as where a page stands twice */
        { "UPDATE nodes SET frame = 'x' WHERE id = 1", 0 },
        { "UPDATE threads SET name = NULL WHERE id = 2", 0 },
        { "UPDATE metrics SET unit = 99 WHERE id = 1", 0 },
        { "UPDATE frames SET name = 'other' WHERE id = 1", 0 }, /* what only sums tell */
        { "UPDATE frames SET module = module || 'x' WHERE id = 1", 0 },
        { "UPDATE frames SET kind = (kind + 1) % 2 WHERE id = 1", 0 },
        { "UPDATE nodes SET parent = 0 WHERE id = (SELECT max(id) FROM nodes WHERE parent > 0)",
          0 },
        { "UPDATE nodes SET confidence = (confidence + 1) % 3 WHERE id = 1", 0 },
        { "UPDATE threads SET name = name || ' ' WHERE id = 1", 0 },
        { "UPDATE metrics SET name = 'pagefaults' WHERE id = 1", 0 },
    };
    char whole[2 * PATH_BYTES];
    (void)snprintf(whole, sizeof whole, "%s", new_path("whole.db"));
    struct added added = plain;
    added.n_rows = WEFT_DATABASE_BLOCK_ROWS + N_EXECUTIONS;
    added.batch = added.n_rows;
    add(whole, &added);
    added.tag = "other";
    added.n_rows = N_EXECUTIONS;
    add(whole, &added);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = new_path("damage.db");
        char command[8 * PATH_BYTES];
        (void)snprintf(command, sizeof command, "cp '%s' '%s'", whole, path);
        if (system(command) != 0)
            abort();
        damage(path, cases[i].sql, cases[i].n_lost);
    }
}

/* A source that is not as it was written, or gone, ends the reading. */
static void check_damaged_sources(void)
{
    static const char *const cases[] = {
        "UPDATE sources SET tag = 'base2'",       "UPDATE sources SET type = 'requesu'",
        "UPDATE sources SET fingerprint = 2",     "UPDATE sources SET host = 'there'",
        "UPDATE sources SET path = 'other.weft'", "UPDATE sources SET realtime_ns = 5",
        "UPDATE sources SET metrics = x''",       "UPDATE sources SET executions = executions - 1",
        "UPDATE sources SET is_complete = 0",     "UPDATE sources SET id = id + 1",
        "UPDATE sources SET unfinished = 0",      "DELETE FROM sources",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *path = new_path("sources.db");
        struct weft_err err = { 0 };
        struct weft_database *database;
        struct weft_ecct_matrix *matrix = NULL;
        add(path, &plain);
        change(path, cases[i]);
        must(weft_database_open(path, WEFT_DATABASE_READ, &database, &err), &err);
        tap_ok(weft_database_load(database, WEFT_STR("request"), &matrix, &err) ==
                       WEFT_E_MALFORMED &&
                   strstr(err.text, "reading sources: the database is damaged"),
               "%s: %s", cases[i], err.text);
        weft_result_free(matrix);
        weft_database_close(database);
    }
}

static void check_names(void)
{
    const char *path = new_path("names.db"), *names = new_path("names.txt");
    struct weft_err err = { 0 };
    struct weft_database *database;
    struct weft_ecct_matrix *matrix;
    FILE *file = fopen(names, "w");
    (void)fputs("# renamed\nf1 -> f0\n\n  f2->x -> f3\r\nf4 -> g  \n", file);
    (void)fclose(file);
    add(path, &plain);
    must(weft_database_open(path, WEFT_DATABASE_READ, &database, &err), &err);
    must(weft_database_map_names(database, names, &err), &err);
    must(weft_database_load(database, WEFT_STR(""), &matrix, &err), &err);
    bool has_old = false, has_new = false, is_whole = true;
    for (size_t i = 0; i < matrix->n_frames; i++) {
        has_old |= weft_str_equal(matrix->frames[i].name, WEFT_STR("f1")) ||
                   weft_str_equal(matrix->frames[i].name, WEFT_STR("f4"));
        has_new |= weft_str_equal(matrix->frames[i].name, WEFT_STR("g"));
    }
    for (size_t i = 0; i < matrix->n_items; i++) {
        uint64_t sum_ns = 0;
        for (uint64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++) {
            sum_ns += matrix->ns[k];
            is_whole =
                is_whole && (k == matrix->starts[i] || matrix->node[k - 1] < matrix->node[k]);
        }
        is_whole = is_whole && sum_ns == matrix->items[i].end_ns - matrix->items[i].start_ns;
    }
    for (size_t i = 1; i < matrix->n_nodes; i++)
        for (size_t k = 1; k < i && is_whole; k++)
            is_whole = matrix->nodes[i].parent != matrix->nodes[k].parent ||
                       matrix->nodes[i].frame != matrix->nodes[k].frame;
    tap_ok(!has_old && has_new, "names stand for others");
    tap_ok(is_whole, "nodes of one path are one, times are kept");
    weft_result_free(matrix);
    file = fopen(names, "w");
    (void)fputs("a -> b\nc = d\n", file);
    (void)fclose(file);
    err = (struct weft_err){ 0 };
    tap_ok(weft_database_map_names(database, names, &err) == WEFT_E_MALFORMED && err.line == 2 &&
               strstr(err.text, "c = d"),
           "a bad line: %s", err.text);
    weft_database_close(database);
}

static int64_t number_in(const char *path, const char *sql)
{
    sqlite3 *file;
    sqlite3_stmt *statement;
    if (sqlite3_open(path, &file) != SQLITE_OK ||
        sqlite3_prepare_v2(file, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        abort();
    const int64_t number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(file);
    return number;
}

/* The facts that are read of a source which was added with these. */
static struct weft_source_facts facts_read(const struct weft_source_facts *facts)
{
    const char *path = new_path("facts.db");
    struct weft_err err = { 0 };
    struct weft_database *database;
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    struct random_row row;
    const struct weft_database_source source = {
        .type = WEFT_STR("request"),
        .trace = { .path = WEFT_STR("some.weft"),
                   .host = WEFT_STR("here"),
                   .tag = WEFT_STR("base"),
                   .facts = *facts },
        .metrics = metrics,
        .n_metrics = 2,
    };
    random_row(tree, 1, &row);
    const struct weft_matrix_row made = { &row.item, row.nodes, row.ns, row.n, row.values };
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
    must(weft_database_begin(database, &source, tree, &err), &err);
    must(weft_database_add(database, &made, &err), &err);
    must(weft_database_end(database, &err), &err);
    weft_database_close(database);
    weft_ecct_tree_free(tree);
    struct weft_ecct_matrix *matrix = load(path, "request");
    struct weft_source_facts read = matrix->sources[0].facts;
    read.wholes.bytes = read.work.function.bytes = NULL; /* lie in the matrix */
    weft_result_free(matrix);
    return read;
}

/* Numbers that no recorder writes are unknown: none becomes 0, whatever the sum of the row. */
static void check_facts(void)
{
    static const struct weft_source_facts whole = {
        .is_known = true,
        .recorded_ns = 5000000000,
        .records = 1000,
        .lost_records = 3,
        .has_switches = true,
        .has_saturation = true,
        .own_cpu = 1 + 0x1p-52, /* a quotient that was rounded up */
        .other_cpu = 0.25,
        .idle_cpu = 0.125,
        .bound = 1,
        .wholes = { "take\0serve", 11 },
        .work = { .is_known = true,
                  .function = { "take", 4 },
                  .usual_calls = 2,
                  .slow_calls = 40,
                  .usual_ns = 1e3,
                  .slow_ns = 1.5e3 },
    };
    struct weft_source_facts read = facts_read(&whole);
    tap_ok(read.is_known && read.recorded_ns == whole.recorded_ns && read.records == 1000 &&
               read.lost_records == 3 && read.has_switches && !read.is_proposed,
           "facts are read as they were written");
    tap_ok(read.has_saturation && read.own_cpu == whole.own_cpu && read.other_cpu == 0.25 &&
               read.idle_cpu == 0.125 && read.bound == 1,
           "so is the use of CPUs, to the last bit");
    tap_ok(read.wholes.n_bytes == 11 && read.work.is_known && read.work.function.n_bytes == 4 &&
               read.work.usual_calls == 2 && read.work.slow_calls == 40 &&
               read.work.usual_ns == 1e3 && read.work.slow_ns == 1.5e3,
           "so are functions, and counts of calls");
    static const double bad[] = { -1, 7, (double)NAN, (double)INFINITY };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct weft_source_facts facts = whole;
        facts.other_cpu = bad[i];
        facts.work.slow_ns = i == 1 ? (double)NAN : bad[i];
        read = facts_read(&facts);
        tap_ok(read.is_known && !read.has_saturation && !read.work.is_known, "%g is unknown",
               bad[i]);
    }
    struct weft_source_facts facts = whole;
    facts.lost_records = UINT64_MAX;
    tap_ok(!facts_read(&facts).is_known, "fewer than no lost records: nothing is known");
    facts = whole;
    facts.work.usual_calls = 0;
    tap_ok(!facts_read(&facts).work.is_known, "no call as usual: nothing to compare with");
}

static void zero_page(const char *path, int64_t page)
{
    const int64_t page_bytes = number_in(path, "PRAGMA page_size");
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    char *zeros = calloc(1, (size_t)page_bytes);
    if (fd < 0 || pwrite(fd, zeros, (size_t)page_bytes, (page - 1) * page_bytes) != page_bytes)
        abort();
    (void)close(fd);
    free(zeros);
}

/* A page of blocks is overwritten: those of other pages are there. */
static void check_damaged_page(void)
{
    const char *path = new_path("page.db");
    struct added added = plain;
    added.n_rows = 3 * WEFT_DATABASE_BLOCK_ROWS;
    added.batch = added.n_rows;
    add(path, &added);
    zero_page(path, number_in(path, "SELECT pageno FROM dbstat WHERE name = 'blocks' AND "
                                    "pagetype = 'overflow' ORDER BY path LIMIT 1"));
    struct weft_ecct_matrix *matrix = load(path, "request");
    tap_ok(matrix->n_damaged > 0 && matrix->n_items > 0 &&
               matrix->n_items + matrix->n_damaged == added.n_rows,
           "a page of zeros: %zu of %zu executions are there", matrix->n_items, added.n_rows);
    weft_result_free(matrix);
}

/* The page of facts alone is overwritten, and then a row of it. */
static void check_damaged_facts(void)
{
    const char *path = new_path("facts_page.db");
    add(path, &plain);
    change(path, "INSERT INTO facts SELECT id, 1, 5, 7, 0, 0, 0, 0, 0, x'', x'', NULL, 0 FROM "
                 "sources WHERE NOT EXISTS (SELECT 1 FROM facts)");
    struct weft_ecct_matrix *matrix = load(path, "request");
    tap_ok(matrix->n_damaged_facts == 1 && matrix->n_items == plain.n_rows &&
               !matrix->sources[0].facts.is_known,
           "a row of facts with a wrong sum: they are unknown, and counted");
    weft_result_free(matrix);
    zero_page(path, number_in(path, "SELECT rootpage FROM sqlite_master WHERE name = 'facts'"));
    matrix = load(path, "request");
    tap_ok(matrix->n_damaged_facts == 1 && matrix->n_damaged == 0 &&
               matrix->n_items == plain.n_rows && !matrix->sources[0].facts.is_known,
           "a page of facts of zeros: %zu of %zu executions are there, the facts are counted",
           matrix->n_items, (size_t)plain.n_rows);
    weft_result_free(matrix);
}

/* ---- version 1 ------------------------------------------------------------------------------- */

static const char version_1[] = "tests/data/database/version_1.db"; /* the first of `plain` */
enum { N_VERSION_1 = 20 };

/* A copy of it that has its executions so many times, as one source. */
static const char *copy_version_1(const char *name, unsigned n_times)
{
    const char *path = new_path(name);
    char text[8 * PATH_BYTES];
    (void)snprintf(text, sizeof text, "cp '%s' '%s' && chmod u+w '%s'", version_1, path, path);
    if (system(text) != 0)
        abort();
    (void)snprintf(text, sizeof text,
                   "WITH RECURSIVE k(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM k WHERE i + 1 < "
                   "%u) INSERT INTO executions SELECT id + i * %d, tree FROM executions, k WHERE "
                   "%u > 1; UPDATE sources SET executions = %u",
                   n_times, N_VERSION_1, n_times, n_times * N_VERSION_1);
    change(path, text);
    return path;
}

static void check_version_1(void)
{
    const char *path = copy_version_1("v1.db", 1);
    is_as_added(path, "request", plain.seed, N_VERSION_1, "version 1");
    tap_eq_u64((uint64_t)number_in(path, "PRAGMA user_version"), 1, "readers leave it so");
    struct added added = plain;
    added.tag = "other";
    add(path, &added);
    tap_ok(number_in(path, "PRAGMA user_version") == 4 &&
               number_in(path, "SELECT count(*) FROM sqlite_master WHERE name = 'executions'") == 0,
           "writers bring it up");
    tap_eq_u64(count_of(path, "request"), N_VERSION_1 + N_EXECUTIONS, "with all that it had");
    struct weft_ecct_matrix *matrix = load(path, "request");
    char *got = text_of(matrix), *want = text_of_rows(plain.seed, N_VERSION_1);
    tap_ok(strncmp(got, want, strlen(want)) == 0, "as it was");
    free(got);
    free(want);
    weft_result_free(matrix);
    path = copy_version_1("v1.db", 300);
    change(path, "UPDATE executions SET tree = x'00' WHERE (id & 0xffffffff) IN (5, 3000); DELETE "
                 "FROM executions WHERE (id & 0xffffffff) BETWEEN 100 AND 109");
    for (int turn = 0; turn < 2; turn++) {
        matrix = load(path, "request");
        tap_ok(matrix->n_damaged == 12 && matrix->n_items == 300 * N_VERSION_1 - 12,
               "damage is counted %s", turn ? "after" : "before");
        weft_result_free(matrix);
        struct weft_err err = { 0 };
        struct weft_database *database;
        must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
        weft_database_close(database);
    }
}

/* Killed in the middle it is what it was. */
static void check_killed_upgrade(uint64_t seed)
{
    enum { N_ROUNDS = 12, N_TIMES = 1000 };
    uint64_t state = seed;
    size_t n_whole = 0;
    for (size_t i = 0; i < N_ROUNDS; i++) {
        const char *path = copy_version_1("v1_killed.db", N_TIMES);
        const pid_t child = fork();
        if (child == 0) {
            struct weft_err err = { 0 };
            struct weft_database *database;
            must(weft_database_open(path, WEFT_DATABASE_WRITE, &database, &err), &err);
            for (;;)
                (void)pause();
        }
        const struct timespec pause = { .tv_nsec = (long)(tap_random(&state) % 100000000) };
        (void)nanosleep(&pause, NULL);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        struct weft_ecct_matrix *matrix = load(path, "request");
        const bool is_whole =
            matrix->n_items == (size_t)N_TIMES * N_VERSION_1 && !matrix->n_damaged;
        const int64_t version = number_in(path, "PRAGMA user_version");
        n_whole += is_whole && (version == 1 || version == 4);
        weft_result_free(matrix);
    }
    tap_eq_u64(n_whole, N_ROUNDS, "killed while it is brought up: all is there");
}

/* The tables of version 2 are those of this one without sums. */
static void check_version_2(void)
{
    const char *path = new_path("v2.db");
    add(path, &plain);
    change(path, "ALTER TABLE frames DROP COLUMN sum; ALTER TABLE nodes DROP COLUMN sum; "
                 "ALTER TABLE threads DROP COLUMN sum; ALTER TABLE metrics DROP COLUMN sum; "
                 "ALTER TABLE sources DROP COLUMN sum; DROP TABLE facts; PRAGMA user_version = 2");
    is_as_added(path, "request", plain.seed, N_EXECUTIONS, "version 2");
    tap_eq_u64((uint64_t)number_in(path, "PRAGMA user_version"), 2, "readers leave it so");
    struct added added = plain;
    added.tag = "other";
    add(path, &added);
    tap_eq_u64((uint64_t)number_in(path, "PRAGMA user_version"), 4, "writers bring it up");
    tap_eq_u64(count_of(path, "request"), 2 * N_EXECUTIONS, "with all that it had");
    tap_eq_u64((uint64_t)number_in(path, "SELECT count(*) FROM nodes WHERE sum IS NULL"), 0,
               "each row has its sum");
}

/* A reader that opened it before it was brought up reads it afterwards. */
static void check_upgraded_meanwhile(void)
{
    const char *path = copy_version_1("v1.db", 1);
    struct weft_err err = { 0 };
    struct weft_database *reader, *writer;
    struct weft_ecct_matrix *matrix;
    must(weft_database_open(path, WEFT_DATABASE_READ, &reader, &err), &err);
    must(weft_database_open(path, WEFT_DATABASE_WRITE, &writer, &err), &err);
    weft_database_close(writer);
    must(weft_database_load(reader, WEFT_STR("request"), &matrix, &err), &err);
    tap_eq_u64(matrix->n_items, N_VERSION_1, "brought up while a reader has it open");
    weft_result_free(matrix);
    weft_database_close(reader);
}

/* Commits, however many, leave full blocks and one rest. */
static void check_blocks(void)
{
    const char *path = new_path("blocks.db");
    struct added added = plain;
    added.n_rows = WEFT_DATABASE_BLOCK_ROWS + 300;
    added.batch = 50;
    added.is_left = true;
    add(path, &added);
    tap_eq_u64((uint64_t)number_in(path, "SELECT count(*) FROM blocks"), 2, "no rests pile up");
    tap_eq_u64((uint64_t)number_in(path, "SELECT max(id) & 0xffffffff FROM blocks"),
               WEFT_DATABASE_BLOCK_ROWS, "a block is named by its first execution");
    tap_eq_u64(count_of(path, "request"), WEFT_DATABASE_BLOCK_ROWS + 300, "and all is there");
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(folder, sizeof folder, "%s/test_database.XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(folder))
        abort();
    check_round_trip(seed);
    check_sources();
    check_two_writers();
    check_same_trace();
    check_killed(seed);
    check_full_blocks();
    check_refusals();
    check_types();
    check_locked();
    check_damage();
    check_damaged_page();
    check_damaged_facts();
    check_facts();
    check_names();
    check_version_1();
    check_version_2();
    check_damaged_sources();
    check_killed_upgrade(seed);
    check_upgraded_meanwhile();
    check_blocks();
    char command[2 * PATH_BYTES];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
    return tap_done();
}
