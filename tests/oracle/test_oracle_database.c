/* SPDX-License-Identifier: MIT
 *
 * Blocks of a database against a second reader, which follows docs/database.md bit by bit and
 * shares no code with the first: random executions of many kinds, and columns of their own.
 */
#include "query/database/block.h"
#include "tap.h"

#include <math.h>
#include <xxhash.h>

enum { MOST_ROWS = 300, MOST_NODES = 40, MOST_METRICS = 8, N_NODES = 200, N_ROUNDS = 400 };

/* ---- the slow reader ------------------------------------------------------------------------- */

struct slow {
    const uint8_t *bytes;
    size_t n_bits, at; /* in bits */
    bool is_bad;
};

static uint64_t slow_bit(struct slow *from)
{
    if (from->at >= from->n_bits) {
        from->is_bad = true;
        return 1; /* or a class would never end */
    }
    const uint64_t bit = from->bytes[from->at / 8] >> (from->at % 8) & 1;
    from->at++;
    return bit;
}

static uint64_t slow_bits(struct slow *from, unsigned n)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < n; i++)
        number |= slow_bit(from) << i;
    return number;
}

static uint64_t slow_varint(struct slow *from)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 10; i++) {
        const uint64_t byte = slow_bits(from, 8);
        number |= i < 9 || byte < 2 ? (byte & 127) << (7 * i) : 0;
        if (byte < 128)
            return number;
    }
    from->is_bad = true;
    return 0;
}

static int64_t slow_zigzag(uint64_t number)
{
    return number & 1 ? -(int64_t)(number / 2) - 1 : (int64_t)(number / 2);
}

static uint64_t slow_number(struct slow *from, unsigned k)
{
    unsigned class = 0;
    while (slow_bit(from) == 0)
        class ++;
    if (class == 0)
        return slow_bits(from, k);
    const unsigned n_low = class - 1 + k;
    return slow_bits(from, n_low) + ((uint64_t)1 << n_low);
}

static void slow_column(struct slow *from, uint64_t *values, size_t n)
{
    if (n == 0)
        return;
    const uint64_t head = slow_bits(from, 8), form = head % 4;
    const uint64_t base = (uint64_t)slow_zigzag(slow_varint(from));
    for (size_t i = 0; i < n; i++)
        values[i] = base;
    if (form == 3) {
        const size_t n_others = (size_t)slow_varint(from);
        uint64_t *places = calloc(n, sizeof *places), *others = calloc(n, sizeof *others);
        slow_column(from, places, n_others);
        slow_column(from, others, n_others);
        for (size_t i = 0, next = 0; i < n_others; i++) {
            next += places[i];
            values[next++] += others[i];
        }
        free(places);
        free(others);
        return;
    }
    for (size_t i = 0; form != 0 && i < n; i++) {
        const uint64_t number = slow_number(from, (unsigned)(head / 4));
        values[i] += form == 2 ? (uint64_t)slow_zigzag(number) : number;
    }
    while (from->at % 8)
        from->is_bad |= slow_bit(from) != 0;
}

/* An execution, with all that a database may know of it. */
struct row {
    uint64_t flags, tid, thread, start_ns;
    uint64_t ns[N_NODES]; /* by node; 0: none */
    double values[MOST_METRICS + 1];
};

static struct row rows[MOST_ROWS];

static void slow_trees(struct slow *from, size_t n)
{
    static uint64_t table[N_NODES], classes[N_NODES], sizes[MOST_ROWS], lists[MOST_ROWS],
        places[MOST_ROWS * MOST_NODES], threads[3][MOST_ROWS], column[MOST_ROWS];
    const uint64_t start_ns = slow_varint(from), n_table = slow_varint(from);
    slow_column(from, table, n_table);
    slow_column(from, classes, n_table);
    for (size_t i = 1; i < n_table; i++)
        table[i] += table[i - 1];
    const uint64_t n_lists = slow_varint(from);
    size_t n_places = 0;
    slow_column(from, sizes, n_lists);
    for (size_t i = 0; i < n_lists; i++)
        n_places += sizes[i];
    slow_column(from, places, n_places);
    const uint64_t n_threads = slow_varint(from);
    for (size_t i = 0; i < 3; i++)
        slow_column(from, threads[i], n_threads);
    slow_column(from, lists, n);
    slow_column(from, column, n);
    for (size_t i = 0; i < n; i++) {
        rows[i].flags = threads[0][column[i]];
        rows[i].tid = threads[1][column[i]];
        rows[i].thread = threads[2][column[i]];
    }
    slow_column(from, column, n - 1);
    for (size_t i = 0; i < n; i++)
        rows[i].start_ns = i ? rows[i - 1].start_ns + column[i - 1] : start_ns;
    for (size_t node = 0; node < n_table; node++) {
        size_t with[MOST_ROWS], n_with = 0;
        for (size_t i = 0; i < n; i++) {
            size_t at = 0;
            for (size_t k = 0; k < lists[i]; k++)
                at += sizes[k];
            uint64_t place = 0;
            for (size_t k = 0; k < sizes[lists[i]]; k++, place++) {
                place += places[at + k];
                if (place == node)
                    with[n_with++] = i;
            }
        }
        slow_column(from, column, n_with);
        for (size_t i = 0; i < n_with; i++)
            rows[with[i]].ns[table[node]] = column[i];
    }
    static uint64_t sums[MOST_METRICS][MOST_ROWS];
    uint64_t metric = 0;
    const uint64_t n_metrics = slow_varint(from);
    for (size_t m = 0; m < n_metrics; m++) {
        metric += slow_varint(from);
        const uint64_t head = slow_varint(from), form = head / 2;
        uint64_t mask[MOST_ROWS];
        if (head % 2)
            slow_column(from, mask, n);
        slow_column(from, sums[m], n);
        for (size_t i = 0; i < n; i++) {
            for (size_t node = 0; node < n_table && form >= 2; node++)
                if (form == 2 || (form % 2 == 1 && classes[node] == (form - 3) / 2))
                    sums[m][i] += rows[i].ns[table[node]];
            if (form >= 4 && form % 2 == 0)
                sums[m][i] += sums[(form - 4) / 2][i];
            if (head % 2 ? mask[i] == 0 : sums[m][i] == 0)
                continue;
            if (form == 0)
                memcpy(&rows[i].values[metric], &sums[m][i], sizeof(double));
            else
                rows[i].values[metric] = (double)(int64_t)sums[m][i];
        }
    }
}

/* The number of executions, in `rows`; 0: not as it should be. */
static size_t slow_read(const uint8_t *bytes, size_t n_bytes)
{
    struct slow from = { .bytes = bytes, .n_bits = 8 * n_bytes };
    if (slow_bits(&from, 64) != XXH3_64bits(bytes + 8, n_bytes - 8))
        return 0;
    const size_t n = (size_t)slow_varint(&from);
    memset(rows, 0, sizeof rows);
    for (size_t i = 0; i < n; i++)
        for (size_t m = 0; m <= MOST_METRICS; m++)
            rows[i].values[m] = (double)NAN;
    slow_trees(&from, n);
    while (from.at < from.n_bits)
        from.is_bad |= slow_bits(&from, 8) != 0;
    return from.is_bad ? 0 : n;
}

/* ---- random executions ----------------------------------------------------------------------- */

static uint64_t below(uint64_t *state, uint64_t n)
{
    return tap_random(state) % n;
}

/* Mostly near each other, now and then of any size. */
static uint64_t some_number(uint64_t *state, uint64_t kind)
{
    switch (kind % 5) {
    case 0:
        return 1000;
    case 1:
        return 1000 + below(state, 800);
    case 2:
        return below(state, 20) ? 30 + below(state, 3) : 1 + below(state, 3000000);
    case 3:
        return 1 + (tap_random(state) >> (6 + below(state, 58)));
    default:
        return 5000 + below(state, 100) * below(state, 100);
    }
}

/* Metrics 1 to 4 follow from the tree and each other mostly, the others do not. */
static double some_value(uint64_t *state, unsigned metric,
                         const struct weft_database_block_row *row, const uint32_t *classes,
                         bool has_zeros)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < row->n_nodes; i++)
        if (metric == 1 || metric > 4 || classes[row->nodes[i]] == metric)
            sum_ns += row->ns[i] >> 12;
    double value = (double)(sum_ns << 12);
    if (metric > 4)
        value = metric == 5   ? (double)below(state, 3)
                : metric == 6 ? (double)below(state, 1000) / 7 - 50
                              : (below(state, 40) ? 0 : -(double)below(state, UINT64_C(1) << 52));
    if (below(state, 60) == 0)
        value += 1;
    return value == 0 && !has_zeros ? (double)NAN : value;
}

static void random_block(uint64_t seed, struct weft_database_block *block, uint32_t *classes)
{
    uint64_t state = seed;
    static const size_t some_counts[] = { 1, 2, 17, MOST_ROWS };
    const size_t n =
        below(&state, 3) ? 1 + below(&state, MOST_ROWS) : some_counts[below(&state, 4)];
    const uint64_t n_shapes = 1 + below(&state, 6), kind = tap_random(&state),
                   shapes = tap_random(&state);
    const bool has_zeros = below(&state, 3) == 0, has_far = below(&state, 4) == 0;
    const uint64_t most_nodes = below(&state, 8) ? MOST_NODES : below(&state, 3);
    uint64_t start_ns = has_far ? tap_random(&state) >> 8 : below(&state, 1000000);
    for (uint32_t i = 0; i < N_NODES; i++)
        classes[i] = below(&state, 2) ? 0 : 2 + (uint32_t)below(&state, 4);
    weft_database_block_reset(block);
    for (size_t i = 0; i < n; i++) {
        uint32_t nodes[MOST_NODES], node = 0;
        uint64_t ns[MOST_NODES], shape = shapes + below(&state, n_shapes);
        struct weft_database_block_value values[MOST_METRICS];
        struct weft_database_block_row row = { .flags = (uint32_t)below(&state, 2) * 2,
                                               .thread = (uint32_t)below(&state, 9),
                                               .tid = has_far ? tap_random(&state) : 7,
                                               .start_ns = start_ns,
                                               .nodes = nodes,
                                               .ns = ns,
                                               .values = values };
        while (row.n_nodes < most_nodes && (node += 1 + (uint32_t)below(&shape, 30)) < N_NODES) {
            nodes[row.n_nodes] = node;
            ns[row.n_nodes++] = some_number(&state, kind + node);
        }
        for (uint32_t metric = 1; metric <= MOST_METRICS; metric++) {
            const double value = some_value(&state, metric, &row, classes, has_zeros);
            if (!isnan(value))
                values[row.n_values++] = (struct weft_database_block_value){ metric, value };
        }
        if (!weft_database_block_add(block, &row))
            abort();
        start_ns = has_far && below(&state, 20) == 0 ? tap_random(&state) >> 8
                                                     : start_ns + below(&state, 5000);
    }
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static bool is_row(const struct weft_database_block_row *row, const struct row *slow)
{
    double values[MOST_METRICS + 1];
    uint64_t ns[N_NODES] = { 0 };
    for (size_t i = 0; i <= MOST_METRICS; i++)
        values[i] = (double)NAN;
    for (size_t i = 0; i < row->n_nodes; i++)
        ns[row->nodes[i]] = row->ns[i];
    for (size_t i = 0; i < row->n_values; i++)
        values[row->values[i].metric] = row->values[i].value;
    bool is_good = row->flags == slow->flags && row->thread == slow->thread &&
                   row->tid == slow->tid && row->start_ns == slow->start_ns &&
                   memcmp(ns, slow->ns, sizeof ns) == 0;
    for (size_t i = 0; i <= MOST_METRICS; i++)
        is_good = is_good &&
                  (isnan(values[i]) ? isnan(slow->values[i])
                                    : memcmp(&values[i], &slow->values[i], sizeof values[i]) == 0);
    return is_good;
}

static bool is_slow(const struct weft_database_block *block, size_t n)
{
    bool is_good = block->rows.n == n;
    for (size_t i = 0; is_good && i < n; i++) {
        const struct weft_database_block_row row = weft_database_block_row(block, i);
        is_good = is_row(&row, &rows[i]);
    }
    return is_good;
}

static void check_blocks(uint64_t seed)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_database_block block = { 0 }, read = { 0 };
    struct weft_blob_bytes bytes = { 0 };
    uint32_t classes_of_nodes[N_NODES];
    const struct weft_database_block_classes classes = { classes_of_nodes, N_NODES };
    size_t n_rows = 0, n_fast = 0, n_slow = 0, n_bad = 0, n_cut = 0;
    for (uint64_t i = 0; i < N_ROUNDS; i++) {
        random_block(seed + i, &block, classes_of_nodes);
        n_rows += block.rows.n;
        if (!weft_database_block_encode(&block, &classes, arena, &bytes))
            abort();
        weft_database_block_reset(&read);
        const size_t n = slow_read(bytes.items, bytes.n);
        n_slow += is_slow(&block, n);
        n_fast += weft_database_block_decode(bytes.items, bytes.n, arena, &read, NULL) == WEFT_OK &&
                  is_slow(&read, n);
        uint64_t state = seed + i;
        const size_t at = below(&state, bytes.n);
        n_cut +=
            weft_database_block_decode(bytes.items, at, arena, &read, NULL) == WEFT_E_MALFORMED;
        bytes.items[at] ^= (uint8_t)(1 + below(&state, 255));
        n_bad += weft_database_block_decode(bytes.items, bytes.n, arena, &read, NULL) ==
                     WEFT_E_MALFORMED &&
                 is_slow(&read, n);
    }
    tap_note("%zu executions", n_rows);
    tap_eq_u64(n_slow, N_ROUNDS, "the slow reader finds what was written");
    tap_eq_u64(n_fast, N_ROUNDS, "and the fast one the same");
    tap_eq_u64(n_cut, N_ROUNDS, "a block that ends early is refused");
    tap_eq_u64(n_bad, N_ROUNDS, "so is one with another byte; what was read before stays");
    weft_arena_free(arena);
    weft_database_block_fini(&block);
    weft_database_block_fini(&read);
    free(bytes.items);
}

/* ---- columns --------------------------------------------------------------------------------- */

enum { MOST_COLUMN = 200 };

static void random_column(uint64_t *state, int64_t *values, size_t n)
{
    const uint64_t kind = below(state, 6), shift = below(state, 64);
    for (size_t i = 0; i < n; i++) {
        const int64_t number = (int64_t)(tap_random(state) >> shift);
        const int64_t forms[] = { 7,
                                  number,
                                  -number,
                                  (number & 1) ? number : -number,
                                  below(state, 9) ? INT64_MIN : number,
                                  below(state, 3) ? 0 : (int64_t)tap_random(state) };
        values[i] = forms[kind];
    }
}

static void check_columns(uint64_t seed)
{
    enum { N_COLUMNS = 4000 };
    uint64_t state = seed, slow[MOST_COLUMN];
    int64_t values[MOST_COLUMN], read[MOST_COLUMN], scratch[2 * MOST_COLUMN];
    struct weft_blob_bytes bytes = { 0 };
    size_t n_fast = 0, n_slow = 0;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const size_t n = 1 + below(&state, MOST_COLUMN);
        random_column(&state, values, n);
        bytes.n = 0;
        if (!weft_column_write(&bytes, values, n, scratch) || !weft_blob_put(&bytes, 0xa5))
            abort();
        struct weft_cursor cur = weft_cur_init(bytes.items, bytes.n, 0);
        n_fast += weft_column_read(&cur, read, n, scratch) && weft_cur_left(&cur) == 1 &&
                  memcmp(read, values, n * sizeof *values) == 0;
        struct slow from = { .bytes = bytes.items, .n_bits = 8 * bytes.n };
        slow_column(&from, slow, n);
        n_slow += !from.is_bad && from.at + 8 == from.n_bits &&
                  memcmp(slow, values, n * sizeof *values) == 0;
    }
    tap_eq_u64(n_fast, N_COLUMNS, "columns come back, and end where they end");
    tap_eq_u64(n_slow, N_COLUMNS, "bit by bit, too");
    free(bytes.items);
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    check_columns(seed);
    check_blocks(seed);
    return tap_done();
}
