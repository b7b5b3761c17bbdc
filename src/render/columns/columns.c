/* SPDX-License-Identifier: MIT
 *
 * The header (JSON, padded to the alignment of the data), then each column copied from the rows in
 * batches, with a loop specialised for each type. Values beyond a column's type are clamped; a
 * big-endian machine does not compile.
 */
#include "render/columns/columns.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "columns are copied from memory: a machine of the other byte order needs swaps here"
#endif

enum { ALIGNMENT = 8, BATCH_ROWS = 4096 };

static const struct {
    const char *name;
    size_t n_bytes;
} types[] = {
    [WEFT_COLUMN_U8] = { "u8", 1 },   [WEFT_COLUMN_U16] = { "u16", 2 },
    [WEFT_COLUMN_U32] = { "u32", 4 }, [WEFT_COLUMN_I32] = { "i32", 4 },
    [WEFT_COLUMN_F64] = { "f64", 8 },
};

static uint64_t aligned(uint64_t n_bytes)
{
    return (n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool is_written(const struct weft_columns_table *table, const struct weft_field *field)
{
    return field->column && !(table->without && strcmp(field->column, table->without) == 0);
}

uint64_t weft_columns_bytes(const struct weft_columns_table *table)
{
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < table->type->n_fields; i++)
        if (is_written(table, &table->type->fields[i]))
            n_bytes += aligned(table->n_rows * types[table->type->fields[i].type].n_bytes);
    return n_bytes;
}

static inline double real_of(uint64_t value, enum weft_from source)
{
    double real = (double)value;
    if (source == WEFT_FROM_F64)
        memcpy(&real, &value, sizeof real);
    return real;
}

static inline uint64_t at_most(uint64_t value, uint64_t max)
{
    return value < max ? value : max;
}

/* One loop a type: `source` is constant in it. */
static inline void fill(char *to, const char *member, size_t row_bytes, size_t n_rows,
                        enum weft_column_type type, enum weft_from source)
{
    for (size_t i = 0; i < n_rows; i++, member += row_bytes) {
        const uint64_t value = weft_member_number(member, source, 0);
        const double real = real_of(value, source);
        const uint32_t word = (uint32_t)at_most(value, UINT32_MAX);
        const uint16_t half = (uint16_t)at_most(value, UINT16_MAX);
        const uint8_t byte = (uint8_t)at_most(value, UINT8_MAX);
        switch (type) {
        case WEFT_COLUMN_U8:
            memcpy(to + i, &byte, sizeof byte);
            break;
        case WEFT_COLUMN_U16:
            memcpy(to + i * sizeof half, &half, sizeof half);
            break;
        case WEFT_COLUMN_U32:
        case WEFT_COLUMN_I32: /* WEFT_ID_NONE is all ones, as -1 is */
            memcpy(to + i * sizeof word, &word, sizeof word);
            break;
        case WEFT_COLUMN_F64:
            memcpy(to + i * sizeof real, &real, sizeof real);
            break;
        }
    }
}

static void write_column(const struct weft_columns_table *table, const struct weft_field *column,
                         struct weft_output *out)
{
    static const char zeros[ALIGNMENT] = { 0 };
    const size_t n_bytes = types[column->type].n_bytes;
    const char *member = (const char *)table->rows + column->offset;
    for (size_t row = 0; row < table->n_rows; row += BATCH_ROWS) {
        size_t n = table->n_rows - row < BATCH_ROWS ? table->n_rows - row : BATCH_ROWS;
        char *to = weft_output_room(out, n * n_bytes);
        if (!to)
            return;
        fill(to, member + row * table->type->row_bytes, table->type->row_bytes, n, column->type,
             column->from);
        weft_output_filled(out, to + n * n_bytes);
    }
    const uint64_t n_data = table->n_rows * n_bytes;
    weft_output_write(out, zeros, (size_t)(aligned(n_data) - n_data));
}

static void put_table(const struct weft_columns_table *table, struct weft_json *json)
{
    weft_json_begin_object(json, NULL);
    weft_json_text(json, "name", table->name);
    weft_json_u64(json, "rows", table->n_rows);
    weft_json_begin_array(json, "columns");
    for (size_t i = 0; i < table->type->n_fields; i++) {
        const struct weft_field *field = &table->type->fields[i];
        if (!is_written(table, field))
            continue;
        weft_json_begin_object(json, NULL);
        weft_json_text(json, "name", field->column);
        weft_json_text(json, "type", types[field->type].name);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
    weft_json_end_object(json);
}

/* The header with its length before it, padded by spaces so that the data begin aligned. */
static void write_header(struct weft_output *header, struct weft_output *out)
{
    struct weft_str text = weft_output_held(header);
    const uint32_t n_bytes = (uint32_t)aligned(text.n_bytes), magic = WEFT_COLUMNS_MAGIC;
    weft_output_write(out, &magic, sizeof magic);
    weft_output_write(out, &n_bytes, sizeof n_bytes);
    weft_output_write(out, text.bytes, text.n_bytes);
    weft_output_repeat(out, " ", n_bytes - text.n_bytes);
}

void weft_columns_write(const struct weft_columns_table *tables, size_t n_tables,
                        void (*more)(const void *context, struct weft_json *json),
                        const void *context, struct weft_output *out)
{
    struct weft_output *header = NULL;
    struct weft_json *json = NULL;
    struct weft_err err = { 0 };
    enum weft_code code = weft_output_to_memory(&header, &err);
    WEFT_THEN(code, weft_json_open(header, &json, &err));
    if (code == WEFT_OK) {
        weft_json_begin_object(json, NULL);
        if (more)
            more(context, json);
        weft_json_begin_array(json, "tables");
        for (size_t i = 0; i < n_tables; i++)
            put_table(&tables[i], json);
        weft_json_end_array(json);
        weft_json_end_object(json);
        weft_json_close(json);
        write_header(header, out);
        for (size_t i = 0; i < n_tables; i++)
            for (size_t c = 0; c < tables[i].type->n_fields; c++)
                if (is_written(&tables[i], &tables[i].type->fields[c]))
                    write_column(&tables[i], &tables[i].type->fields[c], out);
    }
    if (header) {
        enum weft_code header_code = weft_output_close(header, &err);
        code = code == WEFT_OK ? header_code : code;
    }
    if (code != WEFT_OK)
        weft_output_fail(out, &err);
}
