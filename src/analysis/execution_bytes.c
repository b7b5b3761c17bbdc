/* SPDX-License-Identifier: MIT */
#include "analysis/execution_bytes.h"

#include "analysis/rule_view.h"
#include "model/events.h"

#include <stddef.h>

enum weft_bytes_way weft_bytes_way_of(struct weft_str name)
{
    static const char *const names[] = {
        "read",     "pread",  "pread64", "readv",  "preadv",   "preadv2",    "recvfrom",
        "recvmsg",  "recv",   "write",   "pwrite", "pwrite64", "writev",     "pwritev",
        "pwritev2", "sendto", "sendmsg", "send",   "sendfile", "sendfile64",
    };
    enum { READS = 9 };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (weft_str_equal(name, weft_str_of(names[i])))
            return i < READS ? WEFT_BYTES_READ : WEFT_BYTES_WRITTEN;
    return WEFT_BYTES_NONE;
}

/* The block in which the rows of a thread are looked up, in ascending order. */
struct rows {
    struct weft_store *store;
    uint32_t thread_id;
    uint64_t next_block;
    struct weft_block_buf *buf;
    struct weft_calls calls;
};

/* The function that the row is a call of; WEFT_ID_NONE if there is no such row. */
static enum weft_code function_of(struct rows *rows, uint64_t row, uint32_t *function_id,
                                  struct weft_err *err)
{
    const uint64_t n_blocks = weft_store_thread_get(rows->store, rows->thread_id)->n_blocks;
    enum weft_code code = WEFT_OK;
    *function_id = WEFT_ID_NONE;
    while (code == WEFT_OK && row >= rows->calls.first_row + rows->calls.n_rows &&
           rows->next_block < n_blocks) {
        const uint64_t block = rows->next_block++;
        const struct weft_block_info *info =
            weft_store_block_get(rows->store, rows->thread_id, block);
        rows->calls = (struct weft_calls){ .first_row = info->first_row, .n_rows = info->n_rows };
        if (row < rows->calls.first_row + info->n_rows)
            code =
                weft_store_load(rows->store, rows->thread_id, block, rows->buf, &rows->calls, err);
    }
    if (code == WEFT_OK && rows->calls.function_id && row >= rows->calls.first_row &&
        row < rows->calls.first_row + rows->calls.n_rows)
        *function_id = rows->calls.function_id[row - rows->calls.first_row];
    return code;
}

static struct weft_rule_value member_of(struct weft_rule_view *view, struct weft_str name)
{
    const struct weft_rule_field field = { .kind = WEFT_FIELD_MEMBER, .name = name };
    return weft_rule_field_get(view, &field);
}

static enum weft_code see_text(struct rows *rows, struct weft_rule_view *view,
                               const struct weft_event *event, weft_bytes_see_fn see, void *context,
                               struct weft_err *err)
{
    uint32_t function_id;
    view->payload = event->payload;
    if (member_of(view, WEFT_STR("asked")).kind != WEFT_VALUE_WHOLE)
        return WEFT_OK;
    const struct weft_rule_value result = member_of(view, WEFT_STR("result"));
    const uint64_t n_bytes =
        result.kind == WEFT_VALUE_WHOLE && result.integer > 0 ? (uint64_t)result.integer : 0;
    const enum weft_code code = function_of(rows, event->value, &function_id, err);
    if (code != WEFT_OK || function_id >= weft_trace_n_functions(view->trace))
        return code;
    const enum weft_bytes_way way =
        weft_bytes_way_of(weft_trace_function(view->trace, function_id)->name);
    return way == WEFT_BYTES_NONE ? WEFT_OK : see(context, way, event->time_ns, n_bytes, err);
}

enum weft_code weft_execution_bytes_read(const struct weft_trace *trace, uint32_t thread_id,
                                         weft_bytes_see_fn see, void *context, struct weft_err *err)
{
    struct rows rows = { .store = weft_trace_store(trace),
                         .thread_id = thread_id,
                         .buf = weft_block_buf_new() };
    struct weft_rule_view view = { .trace = trace, .thread_id = thread_id };
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code =
        rows.buf ? weft_events_open(trace, thread_id, UINT32_C(1) << WEFT_EVENT_CALL_ARGS, 0,
                                    UINT64_MAX, &events, err)
                 : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for bytes of calls");
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        view.event = event;
        code = see_text(&rows, &view, event, see, context, err);
    }
    weft_events_close(events);
    weft_rule_view_fini(&view);
    if (rows.buf)
        weft_block_buf_free(rows.buf);
    return code;
}
