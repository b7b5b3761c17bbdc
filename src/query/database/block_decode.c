/* SPDX-License-Identifier: MIT
 *
 * Blocks of executions from bytes (docs/database.md, "blocks.bytes"), for load.c; the reverse of
 * block_encode.c. Every count is checked against a budget of numbers before memory is taken for it,
 * so that a small damaged block cannot ask for much.
 */
#include "base/vec.h"
#include "query/database/layout.h"

#include <math.h>
#include <xxhash.h>

struct decoder {
    struct weft_cursor cur;
    struct weft_arena *arena;
    struct weft_database_block *block;
    size_t n_left; /* numbers that so many bytes may stand for */
    bool has_no_memory;
    size_t n_rows, first_row, first_node, first_value;
    uint32_t *table, *classes, *listed; /* listed: places in the table */
    size_t *list_ends;
    size_t n_table, n_lists;
    struct weft_database_block_head *threads;
    size_t n_threads;
    struct weft_database_layout layout;
    int64_t *column, *scratch;
    size_t n_column;
    struct metric {
        uint32_t id;
        bool has_doubles;
        int64_t *values; /* by row */
        int64_t *mask;   /* NULL: 0 is no value */
    } * metrics;
    size_t n_metrics;
};

/* Whether so many numbers are still allowed. */
static bool spend(struct decoder *from, uint64_t n)
{
    if (n > from->n_left)
        from->cur.fault = true;
    else
        from->n_left -= (size_t)n;
    return !from->cur.fault;
}

static void *checked(struct decoder *from, void *memory)
{
    from->has_no_memory |= memory == NULL;
    return memory;
}

#define NEW(from, n, type) ((type *)checked(from, WEFT_ARENA_NEW((from)->arena, n, type)))

/* Makes room in a part of the block. */
#define RESERVE(from, vec, n)                                                                      \
    (weft_vec_reserve(&(vec)->items, &(vec)->cap, n, sizeof *(vec)->items) ||                      \
     checked(from, NULL) != NULL)

/* n numbers, in a column that the next call may move or change; NULL: a fault, or no memory. */
static const int64_t *get_column(struct decoder *from, size_t n, uint64_t most)
{
    if (!from->column || from->n_column < n) {
        from->n_column = n < 2 * from->n_column ? 2 * from->n_column : n;
        from->column = NEW(from, from->n_column, int64_t);
        from->scratch = NEW(from, 2 * from->n_column, int64_t);
    }
    if (!from->column || !from->scratch ||
        !weft_column_read(&from->cur, from->column, n, from->scratch))
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((uint64_t)from->column[i] > most)
            return NULL;
    return from->column;
}

/* ---- trees ----------------------------------------------------------------------------------- */

static bool get_table(struct decoder *from)
{
    from->n_table = (size_t)weft_cur_varint_max(&from->cur, from->n_left);
    if (from->cur.fault || !spend(from, from->n_table))
        return false;
    from->table = NEW(from, from->n_table, uint32_t);
    from->classes = NEW(from, from->n_table, uint32_t);
    const int64_t *column = get_column(from, from->n_table, UINT32_MAX);
    uint64_t node = 0;
    if (!from->table || !from->classes || !column)
        return false;
    for (size_t i = 0; i < from->n_table; i++) {
        node += (uint64_t)column[i];
        if (column[i] == 0 || node > UINT32_MAX)
            return false;
        from->table[i] = (uint32_t)node;
    }
    column = get_column(from, from->n_table, UINT32_MAX);
    for (size_t i = 0; column && i < from->n_table; i++)
        from->classes[i] = (uint32_t)column[i];
    return column != NULL;
}

static bool get_lists(struct decoder *from)
{
    size_t n_listed = 0;
    from->n_lists = (size_t)weft_cur_varint_max(&from->cur, from->n_rows);
    from->list_ends = NEW(from, from->n_lists, size_t);
    const int64_t *column = from->cur.fault ? NULL : get_column(from, from->n_lists, from->n_table);
    for (size_t i = 0; column && from->list_ends && i < from->n_lists; i++) {
        n_listed += (size_t)column[i];
        from->list_ends[i] = n_listed;
        if (!spend(from, (uint64_t)column[i]))
            return false;
    }
    if (!column || !from->list_ends || !(column = get_column(from, n_listed, UINT32_MAX)))
        return false;
    from->listed = NEW(from, n_listed, uint32_t);
    for (size_t list = 0, i = 0; from->listed && list < from->n_lists; list++)
        for (uint64_t next = 0; i < from->list_ends[list]; i++, next++) {
            next += (uint64_t)column[i];
            if (next >= from->n_table)
                return false;
            from->listed[i] = (uint32_t)next;
        }
    return from->listed != NULL;
}

static bool get_threads(struct decoder *from)
{
    const uint64_t most[] = { UINT32_MAX, UINT64_MAX, UINT32_MAX };
    from->n_threads = (size_t)weft_cur_varint_max(&from->cur, from->n_rows);
    from->threads = NEW(from, from->n_threads, struct weft_database_block_head);
    if (from->cur.fault || !from->threads)
        return false;
    for (unsigned part = 0; part < 3; part++) {
        const int64_t *column = get_column(from, from->n_threads, most[part]);
        if (!column)
            return false;
        for (size_t i = 0; i < from->n_threads; i++)
            switch (part) {
            case 0:
                from->threads[i].flags = (uint32_t)column[i];
                break;
            case 1:
                from->threads[i].tid = (uint64_t)column[i];
                break;
            default:
                from->threads[i].thread = (uint32_t)column[i];
            }
    }
    return true;
}

/* ---- executions ------------------------------------------------------------------------------ */

static struct weft_database_block_head *row_of(const struct decoder *from, size_t i)
{
    return &from->block->rows.items[from->first_row + i];
}

static bool get_rows(struct decoder *from, uint64_t start_ns)
{
    size_t *lists = NEW(from, from->n_rows, size_t);
    const int64_t *column =
        from->n_lists ? get_column(from, from->n_rows, from->n_lists - 1) : NULL;
    size_t n_entries = 0;
    if (!lists || !column)
        return false;
    for (size_t i = 0; i < from->n_rows; i++) {
        const size_t list = lists[i] = (size_t)column[i];
        const size_t n = from->list_ends[list] - (list ? from->list_ends[list - 1] : 0);
        n_entries += n;
        if (!spend(from, n))
            return false;
    }
    uint32_t *places = NEW(from, n_entries, uint32_t);
    from->layout = (struct weft_database_layout){ from->n_table, n_entries, places, NULL, NULL };
    if (!places || !RESERVE(from, &from->block->rows, from->first_row + from->n_rows) ||
        !(column = from->n_threads ? get_column(from, from->n_rows, from->n_threads - 1) : NULL))
        return false;
    for (size_t i = 0, n = 0; i < from->n_rows; i++) {
        *row_of(from, i) = from->threads[column[i]];
        for (size_t k = lists[i] ? from->list_ends[lists[i] - 1] : 0; k < from->list_ends[lists[i]];
             k++)
            places[n++] = from->listed[k];
        row_of(from, i)->nodes_end = from->first_node + n;
    }
    if (!(column = get_column(from, from->n_rows - 1, UINT64_MAX)))
        return false;
    for (size_t i = 0; i < from->n_rows; i++) {
        start_ns += i ? (uint64_t)column[i - 1] : 0;
        row_of(from, i)->start_ns = start_ns;
    }
    from->has_no_memory = !weft_database_layout_make(&from->layout, from->arena);
    return !from->has_no_memory;
}

static bool get_ns(struct decoder *from)
{
    const struct weft_database_layout *layout = &from->layout;
    struct weft_database_block *block = from->block;
    const size_t end = from->first_node + layout->n_entries;
    if (!RESERVE(from, &block->nodes, end) || !RESERVE(from, &block->ns, end))
        return false;
    for (size_t i = 0; i < from->n_table; i++) {
        const size_t first = layout->starts[i], n = layout->starts[i + 1] - first;
        const int64_t *column = get_column(from, n, UINT64_MAX);
        for (size_t k = 0; column && k < n; k++) {
            const size_t entry = from->first_node + layout->entries[first + k];
            block->nodes.items[entry] = from->table[i];
            block->ns.items[entry] = (uint64_t)column[k];
        }
        if (!column)
            return false;
    }
    for (size_t row = 0, i = from->first_node; row < from->n_rows; row++)
        for (uint64_t end_ns = row_of(from, row)->start_ns; i < row_of(from, row)->nodes_end; i++)
            if (block->ns.items[i] == 0 ||
                __builtin_add_overflow(end_ns, block->ns.items[i], &end_ns))
                return false;
    return true;
}

/* ---- metrics --------------------------------------------------------------------------------- */

/* Adds ns of nodes of a class, or of all. */
static void add_ns(const struct decoder *from, const uint64_t *class, int64_t *values)
{
    const struct weft_database_layout *layout = &from->layout;
    const size_t first = from->first_node;
    for (size_t row = 0, i = 0; row < from->n_rows; row++)
        for (; first + i < row_of(from, row)->nodes_end; i++)
            if (!class || from->classes[layout->places[i]] == *class)
                values[row] = (int64_t)((uint64_t)values[row] + from->block->ns.items[first + i]);
}

static bool add_base(const struct decoder *from, uint64_t form, int64_t *values)
{
    const uint64_t more = form - WEFT_VALUES_PLUS_MORE, number = more / 2;
    if (form <= WEFT_VALUES_INTEGERS)
        return true;
    if (form == WEFT_VALUES_PLUS_DURATION || more % 2 == 0) {
        add_ns(from, form == WEFT_VALUES_PLUS_DURATION ? NULL : &number, values);
        return true;
    }
    if (number >= from->n_metrics || from->metrics[number].has_doubles)
        return false;
    for (size_t i = 0; i < from->n_rows; i++)
        values[i] = (int64_t)((uint64_t)values[i] + (uint64_t)from->metrics[number].values[i]);
    return true;
}

static bool copy_column(struct decoder *from, uint64_t most, int64_t **copy)
{
    const int64_t *column = get_column(from, from->n_rows, most);
    *copy = column ? NEW(from, from->n_rows, int64_t) : NULL;
    if (*copy)
        memcpy(*copy, column, from->n_rows * sizeof *column);
    return *copy != NULL;
}

static bool get_metric(struct decoder *from, struct metric *metric)
{
    const uint64_t distance = weft_cur_varint_max(&from->cur, UINT32_MAX);
    const uint64_t head = weft_cur_varint(&from->cur), form = head >> 1;
    const uint64_t id = (from->n_metrics ? metric[-1].id : 0) + distance;
    *metric = (struct metric){ .id = (uint32_t)id, .has_doubles = form == WEFT_VALUES_DOUBLES };
    if (from->cur.fault || id > UINT32_MAX || (distance == 0 && from->n_metrics) ||
        ((head & 1) && !copy_column(from, 1, &metric->mask)) ||
        !copy_column(from, UINT64_MAX, &metric->values) || !add_base(from, form, metric->values))
        return false;
    for (size_t i = 0; metric->has_doubles && i < from->n_rows; i++) {
        double value;
        memcpy(&value, &metric->values[i], sizeof value);
        if (isnan(value))
            return false;
    }
    return true;
}

static bool is_there(const struct metric *metric, size_t row)
{
    return metric->mask ? metric->mask[row] : metric->values[row] != 0;
}

static bool put_values(struct decoder *from)
{
    struct weft_database_block *block = from->block;
    size_t n = from->first_value;
    for (size_t i = 0; i < from->n_metrics; i++)
        for (size_t row = 0; row < from->n_rows; row++)
            n += is_there(&from->metrics[i], row);
    if (!RESERVE(from, &block->values, n))
        return false;
    n = from->first_value;
    for (size_t row = 0; row < from->n_rows; row++) {
        for (size_t i = 0; i < from->n_metrics; i++) {
            const struct metric *metric = &from->metrics[i];
            if (!is_there(metric, row))
                continue;
            struct weft_database_block_value *value = &block->values.items[n++];
            *value = (struct weft_database_block_value){ metric->id, (double)metric->values[row] };
            if (metric->has_doubles)
                memcpy(&value->value, &metric->values[row], sizeof value->value);
        }
        row_of(from, row)->values_end = n;
    }
    return true;
}

static bool get_metrics(struct decoder *from)
{
    const size_t n =
        (size_t)weft_cur_varint_max(&from->cur, from->n_left / from->n_rows); /* at least one */
    if (from->cur.fault || !spend(from, (uint64_t)n * from->n_rows))
        return false;
    from->metrics = NEW(from, n, struct metric);
    if (!from->metrics)
        return false;
    for (; from->n_metrics < n; from->n_metrics++)
        if (!get_metric(from, &from->metrics[from->n_metrics]))
            return false;
    return put_values(from);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool get_block(struct decoder *from)
{
    from->n_rows = (size_t)weft_cur_varint_max(&from->cur, from->n_left);
    const uint64_t start_ns = weft_cur_varint(&from->cur);
    if (from->cur.fault || from->n_rows == 0 || !spend(from, from->n_rows) || !get_table(from) ||
        !get_lists(from) || !get_threads(from) || !get_rows(from, start_ns) || !get_ns(from) ||
        !get_metrics(from))
        return false;
    while (weft_cur_left(&from->cur))
        if (weft_cur_u8(&from->cur) != 0)
            return false;
    return !from->cur.fault;
}

enum weft_code weft_database_block_decode(const uint8_t *bytes, size_t n_bytes,
                                          struct weft_arena *arena,
                                          struct weft_database_block *block, struct weft_err *err)
{
    struct decoder from = {
        .cur = weft_cur_init(bytes, n_bytes, 0),
        .arena = arena,
        .block = block,
        .n_left = n_bytes * WEFT_DATABASE_BLOCK_NUMBERS_OF_BYTE,
        .first_row = block->rows.n,
        .first_node = block->nodes.n,
        .first_value = block->values.n,
    };
    weft_arena_reset(arena);
    const uint64_t sum = weft_cur_u64(&from.cur);
    if (from.cur.fault || sum != XXH3_64bits(from.cur.at, weft_cur_left(&from.cur)))
        return weft_fail(err, WEFT_E_MALFORMED, 0,
                         "expected the checksum of executions, found other bytes");
    const bool is_good = get_block(&from);
    if (from.has_no_memory)
        return weft_no_memory(err, "executions");
    if (!is_good)
        return weft_fail(err, WEFT_E_MALFORMED, weft_cur_offset(&from.cur),
                         "expected executions, found other bytes");
    block->rows.n = from.first_row + from.n_rows;
    block->nodes.n = block->ns.n = from.first_node + from.layout.n_entries;
    block->values.n = block->rows.items[block->rows.n - 1].values_end;
    return WEFT_OK;
}
