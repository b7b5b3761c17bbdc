/* SPDX-License-Identifier: MIT
 *
 * The input as a database of executions, or, if it does not begin as one, as the bytes of a block
 * of executions, and of one execution of version 1, the checksums of which are put right. What is
 * checked besides the absence of a crash: the promises of schema/ecct.h, memory, and that what is
 * read is written as it was read.
 */
#include "query/database/block.h"
#include "query/database/database.h"
#include "schema/result.h"

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

/* ---- a row ----------------------------------------------------------------------------------- */

static void rows_check(const struct weft_database_block *block)
{
    for (size_t i = 0; i < block->rows.n; i++) {
        const struct weft_database_block_row row = weft_database_block_row(block, i);
        must(weft_database_block_row_end_ns(&row) >= row.start_ns);
        for (size_t k = 0; k < row.n_nodes; k++)
            must(row.ns[k] > 0 && row.nodes[k] > (k ? row.nodes[k - 1] : 0));
        for (size_t k = 0; k < row.n_values; k++)
            must(!isnan(row.values[k].value) &&
                 (k == 0 || row.values[k].metric > row.values[k - 1].metric));
    }
}

static bool is_equal(const struct weft_database_block *x, const struct weft_database_block *y)
{
    bool is_good = x->rows.n == y->rows.n;
    for (size_t i = 0; is_good && i < x->rows.n; i++) {
        const struct weft_database_block_row a = weft_database_block_row(x, i),
                                             b = weft_database_block_row(y, i);
        is_good = a.flags == b.flags && a.thread == b.thread && a.tid == b.tid &&
                  a.start_ns == b.start_ns && a.n_nodes == b.n_nodes && a.n_values == b.n_values;
        for (size_t k = 0; is_good && k < a.n_nodes; k++)
            is_good = a.nodes[k] == b.nodes[k] && a.ns[k] == b.ns[k];
        for (size_t k = 0; is_good && k < a.n_values; k++)
            is_good = a.values[k].metric == b.values[k].metric &&
                      memcmp(&a.values[k].value, &b.values[k].value, sizeof(double)) == 0;
    }
    return is_good;
}

/* The checksum of so many bytes before the rest is put right. */
static void mend(uint8_t *bytes, size_t n_bytes, size_t n_sum)
{
    const uint64_t sum = n_bytes >= n_sum ? XXH3_64bits(bytes + n_sum, n_bytes - n_sum) : 0;
    for (size_t i = 0; n_bytes >= n_sum && i < n_sum; i++)
        bytes[i] = (uint8_t)(sum >> (8 * i));
}

static void block_try(const uint8_t *bytes, size_t n_bytes)
{
    enum { N_CLASSES = 64, SUM_BYTES = 8 };
    uint32_t classes_of_nodes[N_CLASSES];
    const struct weft_database_block_classes classes = { classes_of_nodes, N_CLASSES };
    struct weft_database_block first = { 0 }, again = { 0 }, single = { 0 };
    struct weft_blob_bytes written = { 0 };
    struct weft_arena *arena = weft_arena_new(0);
    uint8_t *mended = malloc(n_bytes + 1);
    must(mended && arena);
    for (uint32_t i = 0; i < N_CLASSES; i++)
        classes_of_nodes[i] = i % 4;
    memcpy(mended, bytes, n_bytes);
    mend(mended, n_bytes, SUM_BYTES);
    if (weft_database_block_decode(mended, n_bytes, arena, &first, NULL) == WEFT_OK) {
        must(weft_arena_bytes(arena) < (1 << 20) + 2000 * n_bytes);
        rows_check(&first);
        must(weft_database_block_encode(&first, &classes, arena, &written));
        must(weft_database_block_decode(written.items, written.n, arena, &again, NULL) == WEFT_OK);
        must(is_equal(&first, &again));
    } else {
        must(first.rows.n == 0 && first.nodes.n == 0 && first.ns.n == 0 && first.values.n == 0);
    }
    memcpy(mended, bytes, n_bytes);
    mend(mended, n_bytes, 2);
    if (weft_database_block_decode_1(mended, n_bytes, &single, NULL) == WEFT_OK)
        must(single.rows.n == 1);
    rows_check(&single);
    free(mended);
    free(written.items);
    weft_arena_free(arena);
    weft_database_block_fini(&first);
    weft_database_block_fini(&again);
    weft_database_block_fini(&single);
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
            weft_result_free(matrix);
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
        block_try(bytes, n_bytes);
    return 0;
}
