/* SPDX-License-Identifier: MIT
 *
 * The importer's frame: header or --columns, announcing functions and threads, notes, and the order
 * of the phases (read.c sorts rows by thread, deliver.c nests them). Threads are announced by their
 * first time, then by identity.
 */
#include "ingest/csv/csv.h"

#include "base/vec.h"
#include "ingest/csv/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_BYTES = 60, BOM_BYTES = 3 };

static struct csv_rows rows_of(const uint8_t *bytes, size_t n_bytes)
{
    struct csv_rows rows = { .begin = (const char *)bytes, .at = (const char *)bytes };
    rows.end = rows.begin ? rows.begin + n_bytes : NULL;
    if (n_bytes >= BOM_BYTES && memcmp(bytes, "\xef\xbb\xbf", BOM_BYTES) == 0)
        rows.at += BOM_BYTES;
    rows.separator = csv_separator(rows.at, rows.end);
    return rows;
}

/* ---- columns -------------------------------------------------------------------------------- */

bool weft_csv_sniff(const uint8_t *bytes, size_t n_bytes)
{
    struct csv_rows rows = rows_of(bytes, n_bytes);
    struct csv_row header;
    struct csv_columns columns;
    if (!csv_next_row(&rows, &header) || header.is_torn)
        return false;
    csv_columns_read(&header, &columns);
    return csv_columns_suffice(&columns);
}

/* True if the row names columns rather than being one of them: its start is no time. */
static bool is_header(const struct csv_table *table, const struct csv_row *row)
{
    struct csv_time time;
    uint16_t place = table->columns.of_role[CSV_START];
    return place >= row->n_fields ||
           !csv_time_read(row->fields[place].text, table->columns.items[place].unit, &time);
}

/* Columns that the caller named, by comma; a first line of names is then omitted. */
static enum weft_code named_columns(struct csv_table *table, const char *names,
                                    struct weft_err *err)
{
    struct csv_rows rows = rows_of((const uint8_t *)names, strlen(names));
    rows.separator = ',';
    bool is_row = csv_next_row(&rows, &table->row);
    csv_columns_read(&table->row, &table->columns);
    for (size_t k = 0; k < table->columns.n; k++) {
        struct weft_str name = table->row.fields[k].text;
        if (table->columns.items[k].role == CSV_UNKNOWN)
            return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                             "--columns: expected a column name, or - for one to ignore, found "
                             "\"%.*s\"",
                             name.n_bytes < SHOWN_BYTES ? (int)name.n_bytes : SHOWN_BYTES,
                             name.bytes);
    }
    if (!is_row || !csv_columns_suffice(&table->columns))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "--columns: expected start, end or duration, and name, found \"%.*s\"",
                         SHOWN_BYTES, names);
    struct csv_rows ahead = table->rows;
    if (csv_next_row(&ahead, &table->row) && is_header(table, &table->row))
        table->rows = ahead;
    return WEFT_OK;
}

/* As many of them as there is room for. */
static void name_unknown(struct csv_table *table)
{
    size_t n_used = 0;
    for (size_t k = 0; k < table->columns.n; k++) {
        const struct weft_str name = table->row.fields[k].text;
        const size_t n_left = sizeof table->unknown - n_used;
        if (table->columns.items[k].role != CSV_UNKNOWN)
            continue;
        if (name.n_bytes + 2 * sizeof ", ..." > n_left) {
            (void)snprintf(table->unknown + n_used, n_left, "%s", n_used ? ", ..." : "...");
            return;
        }
        n_used += (size_t)snprintf(table->unknown + n_used, n_left, "%s%.*s", n_used ? ", " : "",
                                   (int)name.n_bytes, name.bytes);
    }
}

static enum weft_code header_columns(struct csv_table *table, struct weft_err *err)
{
    if (!csv_next_row(&table->rows, &table->row))
        return weft_fail(err, WEFT_E_TRUNCATED, 0, "expected a line of column names, found none");
    csv_columns_read(&table->row, &table->columns);
    name_unknown(table);
    if (csv_columns_suffice(&table->columns))
        return WEFT_OK;
    size_t n_line = (size_t)(table->rows.at - table->row.begin);
    return weft_fail_line(err, WEFT_E_MALFORMED, (uint64_t)(table->row.begin - table->rows.begin),
                          1, "expected columns start, end or duration, and name, found \"%.*s\"",
                          n_line < SHOWN_BYTES ? (int)n_line : SHOWN_BYTES, table->row.begin);
}

/* ---- announcements -------------------------------------------------------------------------- */

static enum weft_code announce_table(struct csv_table *table, struct weft_err *err)
{
    char details[64];
    int n = snprintf(details, sizeof details, "%" PRIu64 " rows", table->n_rows);
    const struct weft_sink_begin begin = {
        .format = WEFT_STR("csv"),
        .details = { .bytes = details, .n_bytes = n > 0 ? (size_t)n : 0 },
        .is_parallel = true,
    };
    uint64_t zero_ns = table->first > CSV_BIAS_NS ? table->first - CSV_BIAS_NS : 0;
    const struct weft_clock clock = { .frequency_hz = UINT64_C(1000000000),
                                      .zero_ticks = zero_ns,
                                      .has_realtime = table->has_date,
                                      .realtime_ns = table->has_date ? zero_ns : 0 };
    enum weft_code code = table->sink->ops->begin(table->sink, &begin, err);
    return code == WEFT_OK ? table->sink->ops->clock(table->sink, &clock, err) : code;
}

static enum weft_code announce_functions(struct csv_table *table, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t key = 0; code == WEFT_OK && key < weft_strtab_count(table->functions); key++) {
        struct weft_str both = weft_strtab_get(table->functions, key);
        size_t n_name = table->name_bytes.items[key];
        const struct weft_function_info info = {
            .key = key,
            .name = { both.bytes, n_name },
            .module = { both.bytes + n_name + 1, both.n_bytes - n_name - 1 },
        };
        code = table->sink->ops->function(table->sink, &info, err);
    }
    return code;
}

/* For qsort, which hands on no context: the pointers themselves are sorted. */
static int compare_threads(const void *a, const void *b)
{
    const struct csv_thread *left = *(const struct csv_thread *const *)a;
    const struct csv_thread *right = *(const struct csv_thread *const *)b;
    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    if (left->node != right->node)
        return left->node < right->node ? -1 : 1;
    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    if (left->generation != right->generation)
        return left->generation < right->generation ? -1 : 1;
    return (left > right) - (left < right);
}

static enum weft_code announce_threads(struct csv_table *table, struct weft_err *err)
{
    const struct csv_thread **sorted = calloc(table->threads.n + 1, sizeof(void *));
    table->order = calloc(table->threads.n + 1, sizeof *table->order);
    enum weft_code code = sorted && table->order ? WEFT_OK : weft_no_memory(err, "a table");
    for (size_t k = 0; code == WEFT_OK && k < table->threads.n; k++)
        sorted[k] = &table->threads.items[k];
    if (code == WEFT_OK)
        qsort(sorted, table->threads.n, sizeof *sorted, compare_threads);
    for (size_t k = 0; code == WEFT_OK && k < table->threads.n; k++) {
        table->order[k] = (uint32_t)(sorted[k] - table->threads.items);
        struct csv_thread *thread = &table->threads.items[table->order[k]];
        struct weft_thread_info info = { .tid = thread->tid,
                                         .pid = thread->pid,
                                         .host_id = thread->node,
                                         .generation = thread->generation };
        if (thread->name != WEFT_ID_NONE)
            info.name = weft_strtab_get(table->texts, thread->name);
        code = table->sink->ops->thread(table->sink, &info, &thread->thread_id, err);
    }
    free(sorted);
    return code;
}

/* ---- notes ---------------------------------------------------------------------------------- */

static enum weft_code put_note(struct csv_table *table, enum weft_note_kind kind, uint64_t count,
                               uint64_t at_off, const char *detail, struct weft_err *err)
{
    const struct weft_note note = { .kind = kind,
                                    .count = count,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = at_off,
                                    .detail = weft_str_of(detail) };
    return count ? table->sink->ops->note(table->sink, &note, err) : WEFT_OK;
}

static enum weft_code put_notes(struct csv_table *table, struct weft_err *err)
{
    char detail[128] = "";
    char unknown[sizeof table->unknown + 40];
    uint64_t n_unknown = 0;
    for (size_t k = 0; k < table->columns.n; k++)
        n_unknown += table->columns.items[k].role == CSV_UNKNOWN;
    if (table->first_bad)
        (void)snprintf(detail, sizeof detail, "line %" PRIu64 ": expected %s",
                       table->first_bad_line, table->first_bad);
    enum weft_code code = put_note(table, WEFT_NOTE_BAD_RECORD, table->n_bad_bytes,
                                   table->first_bad_off, detail, err);
    if (code == WEFT_OK && table->open_off != UINT64_MAX)
        code = put_note(table, WEFT_NOTE_TRUNCATED, table->file->n_bytes - table->open_off,
                        table->open_off, "expected a closing quote", err);
    (void)snprintf(unknown, sizeof unknown, "columns without a meaning here: %s", table->unknown);
    WEFT_THEN(code, put_note(table, WEFT_NOTE_NOT_KEPT, n_unknown, WEFT_NO_OFFSET, unknown, err));
    WEFT_THEN(code, put_note(table, WEFT_NOTE_NOT_KEPT, table->n_long_args, WEFT_NO_OFFSET,
                             "arguments of more than 4 GiB", err));
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static enum weft_code check_rows(const struct csv_table *table, struct weft_err *err)
{
    if (table->n_rows)
        return WEFT_OK;
    if (table->first_bad)
        return weft_fail_line(err, WEFT_E_MALFORMED, table->first_bad_off, table->first_bad_line,
                              "expected %s", table->first_bad);
    if (table->open_off != UINT64_MAX)
        return weft_fail(err, WEFT_E_TRUNCATED, table->open_off, "expected a closing quote");
    return weft_fail(err, WEFT_E_TRUNCATED, table->file->n_bytes, "expected rows, found none");
}

static enum weft_code import(struct csv_table *table, const char *columns, struct weft_err *err)
{
    enum weft_code code = columns ? named_columns(table, columns, err) : header_columns(table, err);
    WEFT_THEN(code, csv_read(table, err));
    WEFT_THEN(code, check_rows(table, err));
    WEFT_THEN(code, announce_table(table, err));
    WEFT_THEN(code, announce_functions(table, err));
    WEFT_THEN(code, announce_threads(table, err));
    if (code != WEFT_OK)
        return code;
    weft_progress_start(csv_progress(table), "storing", "rows", table->n_rows);
    code = csv_deliver(table, err);
    return code == WEFT_OK ? put_notes(table, err) : code;
}

static bool make_tables(struct csv_table *table, const struct weft_csv_opts *opts)
{
    table->sorter = weft_sorter_new(opts ? opts->sort_limit_bytes : 0);
    table->functions = weft_strtab_new();
    table->identities = weft_strtab_new();
    table->nodes = weft_strtab_new();
    table->texts = weft_strtab_new();
    return table->sorter && table->functions && table->identities && table->nodes && table->texts;
}

static void free_tables(struct csv_table *table)
{
    weft_sorter_free(table->sorter);
    weft_strtab_free(table->functions);
    weft_strtab_free(table->identities);
    weft_strtab_free(table->nodes);
    weft_strtab_free(table->texts);
    WEFT_VEC_FINI(&table->name_bytes);
    WEFT_VEC_FINI(&table->threads);
    WEFT_VEC_FINI(&table->scratch);
    free(table->order);
    free(table);
}

enum weft_code weft_csv_import(const struct weft_mapped *file, const struct weft_csv_opts *opts,
                               struct weft_sink *sink, const struct weft_run *run,
                               struct weft_err *err)
{
    struct csv_table *table = calloc(1, sizeof *table);
    if (!table)
        return weft_no_memory(err, "a table");
    table->file = file;
    table->sink = sink;
    table->run = run;
    table->first = table->open_off = UINT64_MAX;
    table->rows = rows_of(file->bytes, (size_t)file->n_bytes);
    weft_progress_start(csv_progress(table), "reading", "bytes", file->n_bytes);
    enum weft_code code = make_tables(table, opts) ? import(table, opts ? opts->columns : NULL, err)
                                                   : weft_no_memory(err, "a table");
    free_tables(table);
    return code;
}
