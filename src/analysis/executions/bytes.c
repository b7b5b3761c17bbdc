/* SPDX-License-Identifier: MIT
 *
 * Reads the argument texts of one thread's calls for `metrics.c` of this folder. The function of a
 * row comes from its block of calls, decoded once for all rows in it, since texts come in order of
 * rows.
 */
#include "analysis/executions/bytes.h"

#include "analysis/executions/rule_view.h"
#include "base/search.h"
#include "model/events.h"

#include <stddef.h>
#include <stdlib.h>

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

struct weft_bytes_reader {
    struct weft_store *store;
    uint32_t thread_id;
    struct weft_rule_view view;
    struct weft_events *events;
    struct weft_block_buf *buf;
    struct weft_calls calls; /* the block in which a row was looked up last */
};

/* The block that the row lies in, if there is one; blocks have their rows in ascending order. */
static const struct weft_block_info *block_of(const struct weft_bytes_reader *reader, uint64_t row,
                                              uint64_t *block)
{
    const uint64_t n_blocks = weft_store_thread_get(reader->store, reader->thread_id)->n_blocks;
    WEFT_SEARCH(*block, n_blocks,
                weft_store_block_get(reader->store, reader->thread_id, *block)->first_row <= row);
    if (*block == 0)
        return NULL;
    const struct weft_block_info *info =
        weft_store_block_get(reader->store, reader->thread_id, --*block);
    return row - info->first_row < info->n_rows ? info : NULL;
}

/* The function that the row is a call of; WEFT_ID_NONE if there is no such row. */
static enum weft_code function_of(struct weft_bytes_reader *reader, uint64_t row,
                                  uint32_t *function_id, struct weft_err *err)
{
    struct weft_calls *calls = &reader->calls;
    uint64_t block;
    *function_id = WEFT_ID_NONE;
    if (row < calls->first_row || row - calls->first_row >= calls->n_rows) {
        *calls = (struct weft_calls){ 0 };
        if (!block_of(reader, row, &block))
            return WEFT_OK;
        WEFT_TRY(weft_store_load(reader->store, reader->thread_id, block, reader->buf, calls, err));
    }
    *function_id = calls->function_id[row - calls->first_row];
    return WEFT_OK;
}

static struct weft_rule_value member_of(struct weft_rule_view *view, struct weft_str name)
{
    const struct weft_rule_field field = { .kind = WEFT_FIELD_MEMBER, .name = name };
    return weft_rule_field_get(view, &field);
}

static enum weft_code see_text(struct weft_bytes_reader *reader, const struct weft_event *event,
                               struct weft_bytes_moved *moved, struct weft_err *err)
{
    struct weft_rule_view *view = &reader->view;
    uint32_t function_id;
    view->event = event;
    view->payload = event->payload;
    if (member_of(view, WEFT_STR("asked")).kind != WEFT_VALUE_WHOLE)
        return WEFT_OK;
    const struct weft_rule_value result = member_of(view, WEFT_STR("result"));
    moved->at_ns = event->time_ns;
    moved->n_bytes =
        result.kind == WEFT_VALUE_WHOLE && result.integer > 0 ? (uint64_t)result.integer : 0;
    const enum weft_code code = function_of(reader, event->value, &function_id, err);
    if (code == WEFT_OK && function_id < weft_trace_n_functions(view->trace))
        moved->way = weft_bytes_way_of(weft_trace_function(view->trace, function_id)->name);
    return code;
}

enum weft_code weft_bytes_reader_open(const struct weft_trace *trace, uint32_t thread_id,
                                      uint64_t from_ns, uint64_t to_ns,
                                      struct weft_bytes_reader **reader_ptr, struct weft_err *err)
{
    struct weft_bytes_reader *reader = calloc(1, sizeof *reader);
    *reader_ptr = reader;
    if (reader)
        reader->buf = weft_block_buf_new();
    if (!reader || !reader->buf)
        return weft_no_memory(err, "bytes of calls");
    reader->store = weft_trace_store(trace);
    reader->thread_id = thread_id;
    reader->view = (struct weft_rule_view){ .trace = trace, .thread_id = thread_id };
    return weft_events_open(trace, thread_id, UINT32_C(1) << WEFT_EVENT_CALL_ARGS, from_ns, to_ns,
                            &reader->events, err);
}

void weft_bytes_reader_close(struct weft_bytes_reader *reader)
{
    if (!reader)
        return;
    weft_events_close(reader->events);
    weft_rule_view_fini(&reader->view);
    if (reader->buf)
        weft_block_buf_free(reader->buf);
    free(reader);
}

enum weft_code weft_bytes_reader_next(struct weft_bytes_reader *reader,
                                      struct weft_bytes_moved *moved, struct weft_err *err)
{
    const struct weft_event *event = NULL;
    enum weft_code code = WEFT_OK;
    *moved = (struct weft_bytes_moved){ WEFT_BYTES_NONE, 0, 0 };
    while (code == WEFT_OK && moved->way == WEFT_BYTES_NONE &&
           (code = weft_events_next(reader->events, &event, err)) == WEFT_OK && event)
        code = see_text(reader, event, moved, err);
    return code;
}
