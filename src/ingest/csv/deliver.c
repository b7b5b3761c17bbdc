/* SPDX-License-Identifier: MIT
 *
 * Sorted rows become entries and exits, thread by thread.
 */
#include "base/vec.h"
#include "ingest/csv/table.h"
#include "schema/nest.h"

#include <stdlib.h>

/* Rows of one start that are looked at together. */
enum { MOST_TOGETHER = 1 << 16 };

struct worker {
    struct weft_nest *nest;
    struct csv_text text; /* arguments without doubled quotes */
    struct {
        struct csv_record *items;
        size_t n, cap;
    } together;
};

struct delivery {
    const struct csv_table *table;
    struct worker *workers;
};

static enum weft_code send_args(const struct csv_table *table, struct worker *worker,
                                uint32_t thread_id, const struct csv_record *record,
                                struct weft_err *err)
{
    const struct csv_field field = {
        .text = { .bytes = table->rows.begin + csv_args_off(record->args),
                  .n_bytes = record->n_args },
        .has_quotes = record->args >> 63,
    };
    struct weft_event event = { .time_ns = record->time - table->first,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .cpu = -1,
                                .kind = WEFT_EVENT_CALL_ARGS,
                                .payload = field.text };
    if (field.has_quotes) {
        if (!weft_vec_reserve(&worker->text.items, &worker->text.cap, record->n_args, 1))
            return weft_no_memory(err, "the delivery of rows");
        event.payload = (struct weft_str){ .bytes = worker->text.items,
                                           .n_bytes = csv_plain(&field, worker->text.items) };
    }
    enum weft_code code = weft_nest_flush(worker->nest, err);
    return code == WEFT_OK ? table->sink->ops->events(table->sink, thread_id, &event, 1, err)
                           : code;
}

/* Outer first: by level, then the longer, then as in the file. */
static int compare_rows(const void *a, const void *b)
{
    const struct csv_record *left = a;
    const struct csv_record *right = b;
    if (left->level != right->level)
        return left->level < right->level ? -1 : 1;
    if (left->end != right->end)
        return left->end > right->end ? -1 : 1;
    return left->place < right->place ? -1 : 1;
}

/* True if rows of one start stand in an order in which each lies in what is around it by level: so
 * they did when they were exported. Rows without duration change places in no other way. */
static bool nests_as_it_stands(const struct csv_record *rows, size_t n_rows)
{
    const struct csv_record *around = NULL;
    for (size_t k = 0; k < n_rows; k++) {
        if (around && (rows[k].level <= around->level || rows[k].end > around->end))
            return false;
        if (rows[k].end > rows[k].time)
            around = &rows[k];
    }
    return true;
}

static enum weft_code deliver_row(const struct csv_table *table, struct worker *worker,
                                  uint32_t thread_id, const struct csv_record *row,
                                  struct weft_err *err)
{
    struct weft_nest_span span = {
        .time_ns = row->time - table->first,
        .end_ns = row->end - table->first,
        .key = row->key,
        .level = row->level,
        .flags = csv_args_flags(row->args),
    };
    if (row->n_args) /* it was entered in the trace */
        span.flags &= (uint8_t)~WEFT_CALL_CUT_START;
    enum weft_code code = weft_nest_span(worker->nest, &span, err);
    return code == WEFT_OK && row->n_args ? send_args(table, worker, thread_id, row, err) : code;
}

static enum weft_code deliver_together(const struct csv_table *table, struct worker *worker,
                                       uint32_t thread_id, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    struct csv_record *rows = worker->together.items;
    bool has_levels = csv_has(&table->columns, CSV_LEVEL);
    if (worker->together.n > 1 && !(has_levels && nests_as_it_stands(rows, worker->together.n))) {
        for (size_t k = 0; k < worker->together.n; k++)
            rows[k].place = (uint32_t)k;
        qsort(rows, worker->together.n, sizeof *rows, compare_rows);
    }
    for (size_t k = 0; code == WEFT_OK && k < worker->together.n; k++)
        code = deliver_row(table, worker, thread_id, &rows[k], err);
    worker->together.n = 0;
    return code;
}

static enum weft_code take_record(const struct csv_table *table, struct worker *worker,
                                  uint32_t thread_id, const struct weft_sort_record *sorted,
                                  struct weft_err *err)
{
    if (worker->together.n &&
        (worker->together.items[0].time != sorted->key || worker->together.n == MOST_TOGETHER)) {
        WEFT_TRY(deliver_together(table, worker, thread_id, err));
    }
    struct csv_record *record = WEFT_VEC_PUSH(&worker->together);
    if (!record)
        return weft_no_memory(err, "the delivery of rows");
    memcpy(record, sorted, sizeof *record);
    return WEFT_OK;
}

static enum weft_code deliver_lane(const struct csv_table *table, struct worker *worker,
                                   uint32_t thread_id, struct weft_sort_reader *reader,
                                   struct weft_err *err)
{
    for (;;) {
        const struct weft_sort_record *records;
        size_t n_records;
        enum weft_code code = weft_sort_reader_next(reader, &records, &n_records, err);
        if (code == WEFT_OK && weft_progress_is_cancelled(csv_progress(table)))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        for (size_t k = 0; code == WEFT_OK && k < n_records; k++)
            code = take_record(table, worker, thread_id, &records[k], err);
        if (code != WEFT_OK)
            return code;
        if (n_records == 0)
            return deliver_together(table, worker, thread_id, err);
        weft_progress_add(csv_progress(table), n_records);
    }
}

static enum weft_code deliver_thread(void *context, size_t item, unsigned number,
                                     struct weft_err *err)
{
    struct delivery *delivery = context;
    const struct csv_table *table = delivery->table;
    struct worker *worker = &delivery->workers[number];
    const struct csv_thread *thread = &table->threads.items[table->order[item]];
    struct weft_sort_reader *reader = NULL;
    if (!worker->nest)
        worker->nest = weft_nest_new(table->sink, weft_strtab_count(table->functions), NULL);
    enum weft_code code = worker->nest ? WEFT_OK : weft_no_memory(err, "the delivery of rows");
    WEFT_THEN(code, weft_sort_reader_open(table->sorter, table->order[item], &reader, err));
    if (code != WEFT_OK)
        return code;
    weft_nest_start(worker->nest, thread->thread_id);
    worker->together.n = 0;
    code = deliver_lane(table, worker, thread->thread_id, reader, err);
    WEFT_THEN(code, weft_nest_end(worker->nest, 0, err));
    weft_sort_reader_close(reader);
    return code;
}

static enum weft_code for_each_thread(struct delivery *delivery, struct weft_err *err)
{
    const struct csv_table *table = delivery->table;
    if (table->run && table->run->pool)
        return weft_pool_run(table->run->pool, table->threads.n, deliver_thread, delivery,
                             csv_progress(table), err);
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < table->threads.n; k++)
        code = deliver_thread(delivery, k, 0, err);
    return code;
}

enum weft_code csv_deliver(struct csv_table *table, struct weft_err *err)
{
    struct delivery delivery = { .table = table };
    unsigned n_workers = 1;
    if (table->run && table->run->pool)
        n_workers = weft_pool_workers(table->run->pool);
    delivery.workers = calloc(n_workers, sizeof *delivery.workers);
    if (!delivery.workers)
        return weft_no_memory(err, "the delivery of rows");
    enum weft_code code = for_each_thread(&delivery, err);
    for (unsigned k = 0; k < n_workers; k++) {
        weft_nest_free(delivery.workers[k].nest);
        WEFT_VEC_FINI(&delivery.workers[k].text);
        WEFT_VEC_FINI(&delivery.workers[k].together);
    }
    free(delivery.workers);
    return code;
}
