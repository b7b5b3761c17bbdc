/* SPDX-License-Identifier: MIT
 *
 * Rows become records: names and threads become numbers, times become nanoseconds.
 */
#include "base/checked.h"
#include "base/vec.h"
#include "ingest/csv/table.h"

/* Bytes between two reports of progress and looks at cancellation. */
enum { STEP_BYTES = 1 << 22 };

/* Shown ids of threads that have a name instead of a number. */
#define LABEL_SHOWN (UINT64_C(1) << 32)

/* The row's field of a role; empty if there is no such column, or the row is too short. */
static struct csv_field field_of(const struct csv_table *table, enum csv_role role)
{
    uint16_t place = table->columns.of_role[role];
    return place < table->row.n_fields ? table->row.fields[place] : (struct csv_field){ 0 };
}

/* Appends a field, without its doubled quotes, to the scratch text. */
static bool append(struct csv_table *table, const struct csv_field *field)
{
    struct csv_text *text = &table->scratch;
    if (!weft_vec_reserve(&text->items, &text->cap, text->n + field->text.n_bytes + 1, 1))
        return false;
    text->n += csv_plain(field, text->items + text->n);
    return true;
}

static bool append_parting(struct csv_table *table)
{
    return append(table, &(struct csv_field){ .text = { "", 1 } }); /* a NUL */
}

static struct weft_str scratch_text(const struct csv_table *table)
{
    return (struct weft_str){ .bytes = table->scratch.items, .n_bytes = table->scratch.n };
}

/* ---- functions ------------------------------------------------------------------------------ */

static enum weft_code function_of(struct csv_table *table, uint32_t *key, struct weft_err *err)
{
    struct csv_field name = field_of(table, CSV_NAME);
    struct csv_field category = field_of(table, CSV_CATEGORY);
    table->scratch.n = 0;
    if (!append(table, &name))
        return weft_no_memory(err, "names and threads");
    size_t name_bytes = table->scratch.n;
    if (!append_parting(table) || !append(table, &category))
        return weft_no_memory(err, "names and threads");
    enum weft_code code = weft_strtab_intern(table->functions, scratch_text(table), key, err);
    if (code != WEFT_OK || *key < table->name_bytes.n)
        return code;
    size_t *added = WEFT_VEC_PUSH(&table->name_bytes);
    if (!added)
        return weft_no_memory(err, "names and threads");
    *added = name_bytes;
    return WEFT_OK;
}

/* ---- threads -------------------------------------------------------------------------------- */

static bool whole_number(const struct weft_str *text, uint64_t *number)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < text->n_bytes; k++) {
        unsigned digit = (unsigned)(text->bytes[k] - '0');
        if (digit > 9 || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *number = sum;
    return text->n_bytes > 0;
}

static enum weft_code intern_field(struct csv_table *table, struct weft_strtab *strings,
                                   const struct csv_field *field, uint32_t *id,
                                   struct weft_err *err)
{
    table->scratch.n = 0;
    if (!append(table, field))
        return weft_no_memory(err, "names and threads");
    return weft_strtab_intern(strings, scratch_text(table), id, err);
}

/* A number as it is; a name gets one that is no likely id. */
static enum weft_code shown_id(struct csv_table *table, enum csv_role role, uint64_t *number,
                               struct weft_err *err)
{
    struct csv_field field = field_of(table, role);
    uint32_t label;
    *number = 0;
    if (field.text.n_bytes == 0 || whole_number(&field.text, number))
        return WEFT_OK;
    enum weft_code code = intern_field(table, table->texts, &field, &label, err);
    *number = LABEL_SHOWN + label;
    return code;
}

/* What of node, process and thread is no number: "east/rpc". WEFT_ID_NONE if all is. */
static enum weft_code label_of(struct csv_table *table, uint32_t *label, struct weft_err *err)
{
    static const enum csv_role parts[] = { CSV_NODE, CSV_PID, CSV_TID };
    static const struct csv_field slash = { .text = { "/", 1 } };
    uint64_t number;
    table->scratch.n = 0;
    *label = WEFT_ID_NONE;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        struct csv_field field = field_of(table, parts[k]);
        if (field.text.n_bytes == 0 || (parts[k] != CSV_NODE && whole_number(&field.text, &number)))
            continue;
        if ((table->scratch.n && !append(table, &slash)) || !append(table, &field))
            return weft_no_memory(err, "names and threads");
    }
    if (table->scratch.n == 0)
        return WEFT_OK;
    return weft_strtab_intern(table->texts, scratch_text(table), label, err);
}

/* The thread of the row's identity is new: what is it? */
static enum weft_code add_thread(struct csv_table *table, struct weft_err *err)
{
    struct csv_thread thread = { .first = UINT64_MAX };
    struct csv_field node = field_of(table, CSV_NODE);
    struct csv_field generation = field_of(table, CSV_GENERATION);
    uint64_t number;
    if (whole_number(&generation.text, &number))
        thread.generation = (uint32_t)weft_min_u64(number, UINT32_MAX);
    enum weft_code code = shown_id(table, CSV_PID, &thread.pid, err);
    WEFT_THEN(code, shown_id(table, CSV_TID, &thread.tid, err));
    WEFT_THEN(code, intern_field(table, table->nodes, &node, &thread.node, err));
    WEFT_THEN(code, label_of(table, &thread.name, err));
    if (code != WEFT_OK)
        return code;
    if (!csv_has(&table->columns, CSV_TID))
        thread.tid = thread.pid ? thread.pid : table->threads.n + 1;
    struct csv_thread *added = WEFT_VEC_PUSH(&table->threads);
    if (!added)
        return weft_no_memory(err, "names and threads");
    *added = thread;
    return WEFT_OK;
}

/* "T7" is how weft shows thread 7 that has no name. */
static bool is_no_name(const struct csv_field *name, const struct csv_field *tid)
{
    return name->text.n_bytes == tid->text.n_bytes + 1 && *name->text.bytes == 'T' &&
           tid->text.n_bytes &&
           memcmp(name->text.bytes + 1, tid->text.bytes, tid->text.n_bytes) == 0;
}

static enum weft_code name_thread(struct csv_table *table, struct csv_thread *thread,
                                  struct weft_err *err)
{
    struct csv_field name = field_of(table, CSV_THREAD_NAME);
    struct csv_field tid = field_of(table, CSV_TID);
    if (name.text.n_bytes == 0)
        return WEFT_OK;
    if (!is_no_name(&name, &tid))
        return intern_field(table, table->texts, &name, &thread->name, err);
    thread->name = WEFT_ID_NONE;
    return WEFT_OK;
}

static enum weft_code thread_of(struct csv_table *table, uint32_t *thread, struct weft_err *err)
{
    static const enum csv_role parts[] = { CSV_NODE, CSV_PID, CSV_TID, CSV_GENERATION };
    table->scratch.n = 0;
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        struct csv_field field = field_of(table, parts[k]);
        if (!append(table, &field) || !append_parting(table))
            return weft_no_memory(err, "names and threads");
    }
    enum weft_code code = weft_strtab_intern(table->identities, scratch_text(table), thread, err);
    if (code == WEFT_OK && *thread == table->threads.n)
        code = add_thread(table, err);
    return code == WEFT_OK ? name_thread(table, &table->threads.items[*thread], err) : code;
}

/* ---- times ---------------------------------------------------------------------------------- */

static uint64_t biased(const struct weft_decimal_ns *time)
{
    return CSV_BIAS_NS + (uint64_t)time->ns;
}

/* A duration without a unit counts ns; beside a clock's time it counts seconds, as clocks do. */
static bool read_duration(const struct csv_table *table, bool is_clock,
                          struct weft_decimal_ns *duration)
{
    const struct csv_column *column = &table->columns.items[table->columns.of_role[CSV_DURATION]];
    struct csv_time time;
    enum weft_decimal_unit unit = is_clock && !column->has_unit ? WEFT_DECIMAL_S : column->unit;
    if (!csv_time_read(field_of(table, CSV_DURATION).text, unit, &time) || time.since.ns < 0)
        return false;
    *duration = time.since;
    return true;
}

/* Why the row is no span, or NULL. */
static const char *read_times(struct csv_table *table, struct csv_record *record)
{
    const struct csv_columns *columns = &table->columns;
    struct csv_time start;
    struct csv_time end;
    if (!csv_time_read(field_of(table, CSV_START).text,
                       columns->items[columns->of_role[CSV_START]].unit, &start))
        return "a start that is a time";
    record->time = biased(&start.since);
    table->has_date |= start.has_date;
    if (csv_has(columns, CSV_END)) {
        if (!csv_time_read(field_of(table, CSV_END).text,
                           columns->items[columns->of_role[CSV_END]].unit, &end))
            return "an end that is a time";
    } else {
        struct weft_decimal_ns duration;
        if (!read_duration(table, start.is_clock, &duration))
            return "a duration that is a number from 0";
        end.since = weft_decimal_add(start.since, duration);
    }
    record->end = biased(&end.since);
    return record->end >= record->time ? NULL : "an end that is not before the start";
}

/* ---- flags and arguments ----------------------------------------------------------------- */

/* Words that weft's export writes; others mean nothing here. */
static uint8_t read_flags(struct weft_str text)
{
    uint8_t flags = 0;
    for (size_t at = 0; at < text.n_bytes; at++) {
        size_t begin = at;
        while (at < text.n_bytes && text.bytes[at] != ' ')
            at++;
        flags |= weft_call_flag_named((struct weft_str){ text.bytes + begin, at - begin });
    }
    return flags;
}

static void read_args(struct csv_table *table, struct csv_record *record)
{
    struct csv_field args = field_of(table, CSV_ARGS);
    uint64_t off = 0;
    if (args.text.n_bytes > UINT32_MAX)
        table->n_long_args++;
    else
        record->n_args = (uint32_t)args.text.n_bytes;
    if (record->n_args)
        off = (uint64_t)(args.text.bytes - table->rows.begin);
    record->args = csv_args_pack(off, args.has_quotes, read_flags(field_of(table, CSV_FLAGS).text));
}

/* ---- rows ----------------------------------------------------------------------------------- */

static enum weft_code add_row(struct csv_table *table, struct csv_record *record,
                              struct weft_err *err)
{
    uint32_t thread;
    uint64_t level;
    struct csv_field level_field = field_of(table, CSV_LEVEL);
    enum weft_code code = function_of(table, &record->key, err);
    WEFT_THEN(code, thread_of(table, &thread, err));
    if (code != WEFT_OK)
        return code;
    read_args(table, record);
    if (whole_number(&level_field.text, &level))
        record->level = (uint32_t)weft_min_u64(level, UINT32_MAX);
    struct csv_thread *seen = &table->threads.items[thread];
    seen->first = weft_min_u64(seen->first, record->time);
    seen->last = weft_max_u64(seen->last, record->end);
    table->first = weft_min_u64(table->first, record->time);
    table->n_rows++;
    struct weft_sort_record sorted;
    memcpy(&sorted, record, sizeof sorted);
    return weft_sorter_add(table->sorter, thread, &sorted, err);
}

static void bad_row(struct csv_table *table, const char *expected)
{
    if (table->n_bad_bytes == 0) {
        table->first_bad = expected;
        table->first_bad_off = (uint64_t)(table->row.begin - table->rows.begin);
        table->first_bad_line = table->line;
    }
    table->n_bad_bytes += (uint64_t)(table->rows.at - table->row.begin);
}

static enum weft_code take_row(struct csv_table *table, struct weft_err *err)
{
    struct csv_record record = { 0 };
    if (table->row.is_open) {
        table->open_off = (uint64_t)(table->row.begin - table->rows.begin);
        return WEFT_OK;
    }
    const char *expected =
        table->row.is_torn ? "a separator behind a closing quote" : read_times(table, &record);
    if (!expected && field_of(table, CSV_NAME).text.n_bytes == 0)
        expected = "a name";
    if (!expected)
        return add_row(table, &record, err);
    bad_row(table, expected);
    return WEFT_OK;
}

static enum weft_code step(struct csv_table *table, struct weft_err *err)
{
    uint64_t at_off = (uint64_t)(table->rows.at - table->rows.begin);
    if (at_off - table->reported_off < STEP_BYTES)
        return WEFT_OK;
    weft_progress_add(csv_progress(table), at_off - table->reported_off);
    weft_mapped_done(table->file, table->reported_off, at_off - table->reported_off);
    table->reported_off = at_off;
    if (weft_progress_is_cancelled(csv_progress(table)))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

/* Lines that end between two places. */
static uint64_t count_lines(const char *at, const char *end)
{
    uint64_t n = 0;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        n++;
        at++;
    }
    return n;
}

enum weft_code csv_read(struct csv_table *table, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    const char *counted = table->rows.begin;
    table->line = 1;
    while (code == WEFT_OK && csv_next_row(&table->rows, &table->row)) {
        if (table->n_bad_bytes == 0) { /* only the first bad row is named by its line */
            table->line += count_lines(counted, table->row.begin);
            counted = table->row.begin;
        }
        code = take_row(table, err);
        WEFT_THEN(code, step(table, err));
    }
    return code;
}
