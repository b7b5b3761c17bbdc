/* SPDX-License-Identifier: MIT
 *
 * See list.h. Rows are sorted by any of their fields, as the descriptor reads it.
 */
#include "query/list.h"

#include <stdlib.h>
#include <string.h>

/* What a row is sorted by. */
struct sorted {
    struct weft_cell cell;
    bool is_text, is_real;
    size_t place;
};

/* The unknown last; texts in the order of the alphabet, numbers the largest first. */
static int compare_sorted(const void *a_ptr, const void *b_ptr)
{
    const struct sorted *a = a_ptr, *b = b_ptr;
    int order = a->cell.is_null - b->cell.is_null;
    if (order == 0 && a->is_text)
        order = weft_str_compare(a->cell.text, b->cell.text);
    else if (order == 0 && a->is_real)
        order = (a->cell.real < b->cell.real) - (a->cell.real > b->cell.real);
    else if (order == 0)
        order = (a->cell.number < b->cell.number) - (a->cell.number > b->cell.number);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static const struct weft_field *find_field(const struct weft_table_type *type, const char *key)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].key && strcmp(type->fields[i].key, key) == 0)
            return &type->fields[i];
    return NULL;
}

static enum weft_code sort_rows(const struct weft_trace *trace, const struct weft_table_type *type,
                                const char *key, struct weft_list_table *table,
                                struct weft_err *err)
{
    const struct weft_field *field = find_field(type, key);
    if (!field)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "sort: no column is called '%.60s'", key);
    const size_t n = table->n_rows;
    struct sorted *sorted = WEFT_ARENA_NEW(table->arena, n, struct sorted);
    char *rows = weft_arena_alloc(table->arena, (n + 1) * type->row_bytes, _Alignof(max_align_t));
    if (!sorted || !rows)
        return weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to sort %zu rows", n);
    struct weft_table_context context = weft_trace_context(trace, table);
    context.arena = table->arena;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = (struct sorted){ .place = context.place = i,
                                     .is_text = field->unit == WEFT_UNIT_TEXT,
                                     .is_real = weft_unit_is_real(field->unit) };
        weft_field_cell(field, &context, (const char *)table->rows + i * type->row_bytes,
                        &sorted[i].cell);
    }
    qsort(sorted, n, sizeof *sorted, compare_sorted);
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * type->row_bytes,
               (const char *)table->rows + sorted[i].place * type->row_bytes, type->row_bytes);
    table->rows = rows;
    return WEFT_OK;
}

enum weft_code weft_list_run(struct weft_session *session, const struct weft_analysis *analysis,
                             const struct weft_list_request *request,
                             struct weft_list_table **table, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    const struct weft_thread_filter filter = weft_session_filter(session);
    const struct weft_window window = { request->from_ns, request->to_ns };
    enum weft_code code =
        analysis->list(trace, &filter, &window, weft_session_run(session), table, err);
    if (code == WEFT_OK && request->sort)
        code = sort_rows(trace, analysis->type, request->sort, *table, err);
    if (code == WEFT_OK && request->limit && request->limit < (*table)->n_rows)
        (*table)->n_rows = (size_t)request->limit;
    if (code != WEFT_OK) {
        weft_result_free(*table);
        *table = NULL;
    }
    return code;
}
