/* SPDX-License-Identifier: MIT
 *
 * Blocks of executions to bytes (docs/database.md, "blocks.bytes"), for blocks.c: lists of nodes
 * and threads are written once and referred to, times are a column for each node, and a metric
 * mostly equal to another is written as the difference from it. The bytes end with a checksum. The
 * only failure is a lack of memory.
 */
#include "base/map.h"
#include "base/vec.h"
#include "query/database/layout.h"

#include <math.h>
#include <xxhash.h>

/* Integers beyond this are not sure to be what they seem. */
#define MOST_INTEGER 9007199254740992.0

/* Of more classes the others are as nodes of none. */
enum { MOST_CLASSES = 64, NEAR_NODES = 1024 };

/* Different things of one kind, by first appearance. */
struct distinct {
    struct weft_map *map;
    const void **items;
    size_t *n_bytes;
    size_t n;
    uint32_t *of_row;
};

struct encoder {
    const struct weft_database_block *block;
    struct weft_arena *arena;
    struct weft_blob_bytes *bytes;
    size_t n_rows;
    struct distinct lists;   /* of nodes */
    struct distinct threads; /* with flags */
    uint32_t *table, *classes;
    size_t n_table, n_listed, n_classes;
    uint32_t *places; /* of each entry's node in the table */
    struct weft_database_layout layout;
    int64_t *column, *scratch;
    int64_t *sums; /* ns, by class and row */
    uint32_t *metrics;
    int64_t **values; /* of metrics; NULL for those that are no integers */
    size_t n_metrics;
    size_t *next; /* by row: its first value that was not written yet */
};

/* ---- what is there but once ------------------------------------------------------------------ */

static bool distinct_init(struct distinct *distinct, struct weft_arena *arena, size_t n_rows)
{
    distinct->map = weft_map_new();
    distinct->items = WEFT_ARENA_NEW(arena, n_rows, const void *);
    distinct->n_bytes = WEFT_ARENA_NEW(arena, n_rows, size_t);
    distinct->of_row = WEFT_ARENA_NEW(arena, n_rows, uint32_t);
    return distinct->map && distinct->items && distinct->n_bytes && distinct->of_row;
}

static bool distinct_add(struct distinct *distinct, const void *item, size_t n_bytes, size_t row)
{
    for (uint64_t key = n_bytes ? XXH3_64bits(item, n_bytes) : 0;; key++) {
        bool is_new;
        const uint32_t id = weft_map_add(distinct->map, key, &is_new);
        if (id == WEFT_MAP_NONE)
            return false;
        if (is_new) {
            distinct->items[id] = item;
            distinct->n_bytes[id] = n_bytes;
            distinct->n++;
        }
        if (is_new || (distinct->n_bytes[id] == n_bytes &&
                       (n_bytes == 0 || memcmp(distinct->items[id], item, n_bytes) == 0))) {
            distinct->of_row[row] = id;
            return true;
        }
    }
}

static bool find_distinct(struct encoder *to)
{
    bool is_good = distinct_init(&to->lists, to->arena, to->n_rows) &&
                   distinct_init(&to->threads, to->arena, to->n_rows);
    for (size_t i = 0; is_good && i < to->n_rows; i++) {
        const struct weft_database_block_row row = weft_database_block_row(to->block, i);
        is_good = distinct_add(&to->lists, row.nodes, row.n_nodes * sizeof *row.nodes, i) &&
                  distinct_add(&to->threads, &to->block->rows.items[i],
                               offsetof(struct weft_database_block_head, start_ns), i);
    }
    for (size_t i = 0; is_good && i < to->lists.n; i++)
        to->n_listed += to->lists.n_bytes[i] / sizeof *to->table;
    return is_good;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts numbers, and leaves each once; their new count. */
static size_t sort_unique(uint32_t *items, size_t n)
{
    size_t n_kept = 0;
    if (n)
        qsort(items, n, sizeof *items, by_number);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || items[i] != items[i - 1])
            items[n_kept++] = items[i];
    return n_kept;
}

/* The block's nodes in their order, and the place of each entry's among them. */
static bool make_table(struct encoder *to)
{
    const size_t n = to->block->nodes.n;
    const uint32_t *nodes = to->block->nodes.items;
    struct weft_map *numbers = weft_map_new();
    uint32_t near[NEAR_NODES] = { 0 }; /* the last entry of a node, by some of its bits */
    to->places = WEFT_ARENA_NEW(to->arena, n, uint32_t);
    bool is_good = numbers && to->places;
    for (size_t i = 0; is_good && i < n; i++) {
        const uint32_t before = near[nodes[i] % NEAR_NODES];
        near[nodes[i] % NEAR_NODES] = (uint32_t)i;
        to->places[i] = before < i && nodes[before] == nodes[i]
                            ? to->places[before]
                            : weft_map_add(numbers, nodes[i], NULL);
        is_good = to->places[i] != WEFT_MAP_NONE;
    }
    to->n_table = is_good ? weft_map_count(numbers) : 0;
    to->table = WEFT_ARENA_NEW(to->arena, to->n_table, uint32_t);
    uint32_t *place_of = WEFT_ARENA_NEW(to->arena, to->n_table, uint32_t);
    is_good = is_good && to->table && place_of;
    for (size_t i = 0; is_good && i < to->n_table; i++)
        to->table[i] = (uint32_t)weft_map_key(numbers, (uint32_t)i);
    if (is_good)
        (void)sort_unique(to->table, to->n_table);
    for (size_t i = 0; is_good && i < to->n_table; i++)
        place_of[weft_map_find(numbers, to->table[i])] = (uint32_t)i;
    for (size_t i = 0; is_good && i < n; i++)
        to->places[i] = place_of[to->places[i]];
    weft_map_free(numbers);
    return is_good;
}

/* The nodes' classes, by first appearance. */
static bool number_classes(struct encoder *to, const struct weft_database_block_classes *classes)
{
    struct weft_map *numbers = weft_map_new();
    to->classes = WEFT_ARENA_NEW(to->arena, to->n_table, uint32_t);
    const bool is_good = to->classes && numbers && weft_map_add(numbers, 0, NULL) == 0;
    for (size_t i = 0; is_good && i < to->n_table; i++) {
        const uint32_t node = to->table[i], class = node < classes->n ? classes->items[node] : 0,
                       number = weft_map_count(numbers) < MOST_CLASSES
                                    ? weft_map_add(numbers, class, NULL)
                                    : weft_map_find(numbers, class);
        to->classes[i] = number == WEFT_MAP_NONE ? 0 : number;
    }
    to->n_classes = numbers ? weft_map_count(numbers) : 0;
    weft_map_free(numbers);
    return is_good;
}

static bool make_layout(struct encoder *to)
{
    to->layout = (struct weft_database_layout){ .n_nodes = to->n_table,
                                                .n_entries = to->block->nodes.n,
                                                .places = to->places };
    return weft_database_layout_make(&to->layout, to->arena);
}

/* ---- trees ----------------------------------------------------------------------------------- */

static bool put_column(struct encoder *to, size_t n)
{
    return weft_column_write(to->bytes, to->column, n, to->scratch);
}

static bool put_table(struct encoder *to)
{
    for (size_t i = 0; i < to->n_table; i++)
        to->column[i] = (int64_t)to->table[i] - (i ? (int64_t)to->table[i - 1] : 0);
    if (!weft_blob_put_varint(to->bytes, to->n_table) || !put_column(to, to->n_table))
        return false;
    for (size_t i = 0; i < to->n_table; i++)
        to->column[i] = to->classes[i];
    return put_column(to, to->n_table);
}

static bool put_lists(struct encoder *to)
{
    size_t n = 0;
    for (size_t i = 0; i < to->lists.n; i++)
        to->column[i] = (int64_t)(to->lists.n_bytes[i] / sizeof(uint32_t));
    if (!weft_blob_put_varint(to->bytes, to->lists.n) || !put_column(to, to->lists.n))
        return false;
    for (size_t i = 0; i < to->lists.n; i++) {
        const size_t n_nodes = to->lists.n_bytes[i] / sizeof(uint32_t);
        const uint32_t *nodes = to->lists.items[i],
                       *places = n_nodes ? to->places + (nodes - to->block->nodes.items) : NULL;
        int64_t next = 0;
        for (size_t k = 0; k < n_nodes; k++) {
            const int64_t place = places[k];
            to->column[n++] = place - next;
            next = place + 1;
        }
    }
    return put_column(to, n);
}

static bool put_threads(struct encoder *to)
{
    const struct distinct *threads = &to->threads;
    const struct weft_database_block_head *head;
    if (!weft_blob_put_varint(to->bytes, threads->n))
        return false;
    for (size_t i = 0; i < threads->n; i++) {
        head = threads->items[i];
        to->column[i] = head->flags;
    }
    if (!put_column(to, threads->n))
        return false;
    for (size_t i = 0; i < threads->n; i++) {
        head = threads->items[i];
        to->column[i] = (int64_t)head->tid;
    }
    if (!put_column(to, threads->n))
        return false;
    for (size_t i = 0; i < threads->n; i++) {
        head = threads->items[i];
        to->column[i] = head->thread;
    }
    return put_column(to, threads->n);
}

static bool put_rows(struct encoder *to)
{
    const struct weft_database_block_head *rows = to->block->rows.items;
    for (size_t i = 0; i < to->n_rows; i++)
        to->column[i] = to->lists.of_row[i];
    if (!put_column(to, to->n_rows))
        return false;
    for (size_t i = 0; i < to->n_rows; i++)
        to->column[i] = to->threads.of_row[i];
    if (!put_column(to, to->n_rows))
        return false;
    for (size_t i = 1; i < to->n_rows; i++)
        to->column[i - 1] = (int64_t)(rows[i].start_ns - rows[i - 1].start_ns);
    return put_column(to, to->n_rows - 1);
}

static bool put_ns(struct encoder *to)
{
    const struct weft_database_layout *layout = &to->layout;
    bool is_good = true;
    for (size_t i = 0; is_good && i < to->n_table; i++) {
        const size_t first = layout->starts[i], n = layout->starts[i + 1] - first;
        for (size_t k = 0; k < n; k++)
            to->column[k] = (int64_t)to->block->ns.items[layout->entries[first + k]];
        is_good = put_column(to, n);
    }
    return is_good;
}

/* ---- metrics --------------------------------------------------------------------------------- */

static bool find_metrics(struct encoder *to)
{
    const struct weft_database_block_value *values = to->block->values.items;
    struct weft_map *numbers = weft_map_new();
    bool is_good = numbers != NULL;
    for (size_t i = 0; is_good && i < to->block->values.n; i++)
        is_good = weft_map_add(numbers, values[i].metric, NULL) != WEFT_MAP_NONE;
    to->n_metrics = is_good ? weft_map_count(numbers) : 0;
    to->metrics = WEFT_ARENA_NEW(to->arena, to->n_metrics, uint32_t);
    to->values = WEFT_ARENA_NEW(to->arena, to->n_metrics, int64_t *);
    to->next = WEFT_ARENA_NEW(to->arena, to->n_rows, size_t);
    is_good = is_good && to->metrics && to->values && to->next;
    for (size_t i = 0; is_good && i < to->n_metrics; i++)
        to->metrics[i] = (uint32_t)weft_map_key(numbers, (uint32_t)i);
    if (is_good)
        (void)sort_unique(to->metrics, to->n_metrics);
    weft_map_free(numbers);
    return is_good;
}

static bool sum_classes(struct encoder *to)
{
    const struct weft_database_block *block = to->block;
    to->sums = WEFT_ARENA_NEW(to->arena, (to->n_classes + 1) * to->n_rows, int64_t);
    if (!to->sums)
        return false;
    for (size_t row = 0, i = 0; row < to->n_rows; row++)
        for (; i < block->rows.items[row].nodes_end; i++) {
            const size_t class = to->classes[to->layout.places[i]];
            const uint64_t ns = block->ns.items[i];
            int64_t *sum = &to->sums[class * to->n_rows + row],
                    *duration = &to->sums[to->n_classes * to->n_rows + row];
            *sum = (int64_t)((uint64_t)*sum + ns);
            *duration = (int64_t)((uint64_t)*duration + ns);
        }
    return true;
}

static bool is_integer(double value)
{
    return fabs(value) < MOST_INTEGER && value == trunc(value) && !(value == 0 && signbit(value));
}

/* The next metric's numbers by row, 0 for those without one. */
struct values {
    int64_t *items;
    uint8_t *is_there;
    bool has_doubles; /* items are their bits */
    bool has_zeros;
};

static bool values_get(struct encoder *to, uint32_t metric, struct values *values)
{
    const double **found = WEFT_ARENA_NEW(to->arena, to->n_rows, const double *);
    *values = (struct values){ .items = WEFT_ARENA_NEW(to->arena, to->n_rows, int64_t),
                               .is_there = WEFT_ARENA_NEW(to->arena, to->n_rows, uint8_t) };
    if (!found || !values->items || !values->is_there)
        return false;
    for (size_t i = 0; i < to->n_rows; i++) {
        const struct weft_database_block_row row = weft_database_block_row(to->block, i);
        if (to->next[i] < row.n_values && row.values[to->next[i]].metric == metric)
            found[i] = &row.values[to->next[i]++].value;
        values->is_there[i] = found[i] != NULL;
        values->has_doubles |= found[i] && !is_integer(*found[i]);
    }
    for (size_t i = 0; i < to->n_rows; i++) {
        if (!found[i])
            continue;
        if (values->has_doubles)
            memcpy(&values->items[i], found[i], sizeof *found[i]);
        else
            values->items[i] = (int64_t)*found[i];
        values->has_zeros |= values->items[i] == 0;
    }
    return true;
}

/* Whether fewer than *n_most numbers differ, which becomes their count. */
static bool is_nearer(const int64_t *values, const int64_t *other, size_t n, size_t *n_most)
{
    size_t n_different = 0;
    for (size_t i = 0; i < n && n_different < *n_most; i++)
        n_different += values[i] != other[i];
    if (n_different >= *n_most)
        return false;
    *n_most = n_different;
    return true;
}

/* What is mostly equal to a metric already: fewest numbers of it are to be written then. */
static uint64_t find_form(const struct encoder *to, size_t metric, const int64_t **base)
{
    const int64_t *values = to->values[metric], *durations = to->sums + to->n_classes * to->n_rows;
    uint64_t form = WEFT_VALUES_INTEGERS;
    size_t n_different = 0;
    *base = NULL;
    for (size_t i = 0; i < to->n_rows; i++)
        n_different += values[i] != 0;
    if (is_nearer(values, durations, to->n_rows, &n_different)) {
        form = WEFT_VALUES_PLUS_DURATION;
        *base = durations;
    }
    for (size_t i = 0; i < to->n_classes; i++)
        if (is_nearer(values, to->sums + i * to->n_rows, to->n_rows, &n_different)) {
            form = WEFT_VALUES_PLUS_MORE + 2 * i;
            *base = to->sums + i * to->n_rows;
        }
    for (size_t i = 0; i < metric; i++)
        if (to->values[i] && is_nearer(values, to->values[i], to->n_rows, &n_different)) {
            form = WEFT_VALUES_PLUS_MORE + 2 * i + 1;
            *base = to->values[i];
        }
    return form;
}

static bool put_metric(struct encoder *to, size_t metric)
{
    const uint32_t before = metric ? to->metrics[metric - 1] : 0;
    const int64_t *base = NULL;
    uint64_t form = WEFT_VALUES_DOUBLES;
    struct values values;
    if (!values_get(to, to->metrics[metric], &values))
        return false;
    if (!values.has_doubles) {
        to->values[metric] = values.items;
        form = find_form(to, metric, &base);
    }
    if (!weft_blob_put_varint(to->bytes, to->metrics[metric] - before) ||
        !weft_blob_put_varint(to->bytes, form << 1 | values.has_zeros))
        return false;
    for (size_t i = 0; values.has_zeros && i < to->n_rows; i++)
        to->column[i] = values.is_there[i];
    if (values.has_zeros && !put_column(to, to->n_rows))
        return false;
    for (size_t i = 0; i < to->n_rows; i++)
        to->column[i] = (int64_t)((uint64_t)values.items[i] - (base ? (uint64_t)base[i] : 0));
    return put_column(to, to->n_rows);
}

static bool put_metrics(struct encoder *to)
{
    bool is_good = weft_blob_put_varint(to->bytes, to->n_metrics);
    for (size_t i = 0; is_good && i < to->n_metrics; i++)
        is_good = put_metric(to, i);
    return is_good;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool make_columns(struct encoder *to)
{
    const size_t n_most = to->n_listed > to->n_rows ? to->n_listed : to->n_rows;
    to->column = WEFT_ARENA_NEW(to->arena, n_most, int64_t);
    to->scratch = WEFT_ARENA_NEW(to->arena, 2 * n_most, int64_t);
    return to->column && to->scratch;
}

static bool put_checksum(struct encoder *to)
{
    const size_t n_numbers =
        to->n_rows * (1 + to->n_metrics) + to->n_table + to->n_listed + to->block->nodes.n;
    while (to->bytes->n < n_numbers / WEFT_DATABASE_BLOCK_NUMBERS_OF_BYTE + 1)
        if (!weft_blob_put(to->bytes, 0))
            return false;
    const uint64_t sum = XXH3_64bits(to->bytes->items + WEFT_DATABASE_BLOCK_CHECKSUM_BYTES,
                                     to->bytes->n - WEFT_DATABASE_BLOCK_CHECKSUM_BYTES);
    for (unsigned i = 0; i < WEFT_DATABASE_BLOCK_CHECKSUM_BYTES; i++)
        to->bytes->items[i] = (uint8_t)(sum >> (8 * i));
    return true;
}

bool weft_database_block_encode(const struct weft_database_block *block,
                                const struct weft_database_block_classes *classes,
                                struct weft_arena *arena, struct weft_blob_bytes *bytes)
{
    struct encoder to = { .block = block, .arena = arena, .bytes = bytes, .n_rows = block->rows.n };
    weft_arena_reset(arena);
    bytes->n = 0;
    bool is_good = true;
    for (unsigned i = 0; is_good && i < WEFT_DATABASE_BLOCK_CHECKSUM_BYTES; i++)
        is_good = weft_blob_put(bytes, 0);
    is_good = is_good && find_distinct(&to) && make_table(&to) && number_classes(&to, classes) &&
              make_layout(&to) && make_columns(&to) && find_metrics(&to) && sum_classes(&to) &&
              weft_blob_put_varint(bytes, to.n_rows) &&
              weft_blob_put_varint(bytes, block->rows.items[0].start_ns) && put_table(&to) &&
              put_lists(&to) && put_threads(&to) && put_rows(&to) && put_ns(&to) &&
              put_metrics(&to) && put_checksum(&to);
    weft_map_free(to.lists.map);
    weft_map_free(to.threads.map);
    return is_good;
}
