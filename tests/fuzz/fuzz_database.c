/* SPDX-License-Identifier: MIT
 *
 * The input as a database of executions, or, if it does not begin as one, as the bytes of one
 * execution, the checksum of which is put right. What is checked besides the absence of a crash:
 * the promises of schema/ecct.h, and that what is read is written as it was read.
 */
#include "query/database.h"
#include "query/database_blob.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <xxhash.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

enum { MAX_INPUT = 1 << 17 };

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

/* ---- one execution --------------------------------------------------------------------------- */

static bool is_equal(const struct weft_blob_execution *a, const struct weft_blob_execution *b)
{
    bool is_good = a->flags == b->flags && a->thread == b->thread && a->tid == b->tid &&
                   a->start_ns == b->start_ns && a->nodes.n == b->nodes.n &&
                   a->values.n == b->values.n;
    for (size_t i = 0; is_good && i < a->nodes.n; i++)
        is_good = a->nodes.items[i] == b->nodes.items[i] && a->ns.items[i] == b->ns.items[i];
    for (size_t i = 0; is_good && i < a->values.n; i++)
        is_good = a->values.items[i].metric == b->values.items[i].metric &&
                  fabs(a->values.items[i].value - b->values.items[i].value) == 0;
    return is_good;
}

static void blob_try(const uint8_t *bytes, size_t n_bytes)
{
    const struct weft_blob_limits limits = { 1000, 100, 50 };
    struct weft_blob_execution first = { 0 }, again = { 0 };
    struct weft_blob_bytes written = { 0 };
    uint8_t *mended = malloc(n_bytes + 1);
    must(mended != NULL);
    memcpy(mended, bytes, n_bytes);
    if (n_bytes >= 2) {
        const uint64_t sum = XXH3_64bits(mended + 2, n_bytes - 2);
        mended[0] = (uint8_t)sum;
        mended[1] = (uint8_t)(sum >> 8);
    }
    if (weft_blob_decode(mended, n_bytes, &limits, &first, NULL) == WEFT_OK) {
        bool has_infinity = false;
        for (size_t i = 0; i < first.values.n; i++)
            has_infinity |= isinf(first.values.items[i].value);
        must(weft_blob_encode(&first, &written));
        must(weft_blob_decode(written.items, written.n, &limits, &again, NULL) == WEFT_OK);
        must(has_infinity || is_equal(&first, &again));
        must(weft_blob_end_ns(&first) >= first.start_ns);
    }
    free(mended);
    free(written.items);
    weft_blob_execution_fini(&first);
    weft_blob_execution_fini(&again);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void matrix_check(const struct weft_ecct_matrix *matrix)
{
    must(matrix->n_nodes > 0 && matrix->nodes[0].parent == UINT32_MAX);
    for (size_t i = 1; i < matrix->n_nodes; i++)
        must(matrix->nodes[i].parent < i && matrix->nodes[i].frame < matrix->n_frames &&
             matrix->nodes[i].confidence < WEFT_CONFIDENCES);
    for (size_t i = 0; i < matrix->n_frames; i++)
        must(matrix->frames[i].kind < WEFT_FRAME_KINDS);
    for (size_t i = 0; i < matrix->n_items; i++) {
        uint64_t sum_ns = 0;
        must(matrix->items[i].source < matrix->n_sources);
        for (uint64_t k = matrix->starts[i]; k < matrix->starts[i + 1]; k++) {
            must(matrix->node[k] > 0 && matrix->node[k] < matrix->n_nodes);
            must(k == matrix->starts[i] || matrix->node[k - 1] < matrix->node[k]);
            sum_ns += matrix->ns[k];
        }
        must(sum_ns == matrix->items[i].end_ns - matrix->items[i].start_ns);
    }
    for (size_t i = 0; i < matrix->n_metrics; i++)
        must(matrix->metrics[i].name.bytes && matrix->metrics[i].values);
}

static void load_all(struct weft_database *database)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_execution_type *types;
    size_t n_types;
    must(arena != NULL);
    if (weft_database_types(database, arena, &types, &n_types, NULL) == WEFT_OK)
        for (size_t i = 0; i < n_types && i < 8; i++) {
            struct weft_ecct_matrix *matrix;
            if (weft_database_load(database, types[i].name, &matrix, NULL) == WEFT_OK)
                matrix_check(matrix);
            weft_ecct_matrix_free(matrix);
        }
    weft_arena_free(arena);
}

/* Adds an execution, or is told why not. */
static void add_one(struct weft_database *database)
{
    const struct weft_metric metric = { .name = WEFT_STR("m"), .unit = WEFT_METRIC_COUNT };
    const struct weft_database_source source = {
        .type = WEFT_STR("t"), .fingerprint = 1, .metrics = &metric, .n_metrics = 1
    };
    const struct weft_execution_item item = { .thread = WEFT_STR("main"), .end_ns = 5 };
    struct weft_ecct_tree *tree = weft_ecct_tree_new();
    uint32_t frame = 0, node = 0;
    const uint64_t ns = 5;
    const double value = 7;
    must(tree && weft_ecct_tree_frame(tree, WEFT_STR("f"), WEFT_STR(""), WEFT_FRAME_FUNCTION,
                                      &frame, NULL) == WEFT_OK);
    must(weft_ecct_tree_node(tree, 0, frame, WEFT_CONFIDENCE_EXACT, &node, NULL) == WEFT_OK);
    const struct weft_matrix_row row = { &item, &node, &ns, 1, &value };
    if (weft_database_begin(database, &source, tree, NULL) == WEFT_OK &&
        weft_database_add(database, &row, NULL) == WEFT_OK &&
        weft_database_end(database, NULL) == WEFT_OK)
        load_all(database);
    weft_ecct_tree_free(tree);
}

static void file_try(const uint8_t *bytes, size_t n_bytes)
{
    char path[] = "/tmp/fuzz_database.XXXXXX", journal[64];
    struct weft_database *database;
    const int fd = mkstemp(path);
    must(fd >= 0 && write(fd, bytes, n_bytes) == (ssize_t)n_bytes);
    (void)close(fd);
    if (weft_database_open(path, WEFT_DATABASE_READ, &database, NULL) == WEFT_OK) {
        weft_database_wait(database, 1);
        load_all(database);
        weft_database_close(database);
    }
    if (weft_database_open(path, WEFT_DATABASE_WRITE, &database, NULL) == WEFT_OK) {
        weft_database_wait(database, 1);
        add_one(database);
        weft_database_close(database);
    }
    (void)unlink(path);
    (void)snprintf(journal, sizeof journal, "%s-journal", path);
    (void)unlink(journal);
    (void)snprintf(journal, sizeof journal, "%s-wal", path);
    (void)unlink(journal);
    (void)snprintf(journal, sizeof journal, "%s-shm", path);
    (void)unlink(journal);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    static const char magic[] = "SQLite format 3";
    if (n_bytes > MAX_INPUT)
        return 0;
    if (n_bytes >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0)
        file_try(bytes, n_bytes);
    else
        blob_try(bytes, n_bytes);
    return 0;
}
