/* SPDX-License-Identifier: MIT
 *
 * Executions: from a begin to the end with the same number and type, on the same thread, or else of
 * the same process.
 */
#include "base/vec.h"
#include "ingest/recording/deliver.h"

#include <stdlib.h>

/* Executions open at once on a thread are looked for there up to these; halves of others are kept
 * up to so many. */
enum { MOST_OPEN = 1 << 12, MOST_LOOSE = 1 << 20 };

static struct weft_event span_of(uint64_t start_ns, uint64_t end_ns, uint64_t id,
                                 struct weft_str type)
{
    struct weft_event event = rec_event_of(WEFT_EVENT_SPAN, start_ns);
    event.duration_ns = end_ns > start_ns ? end_ns - start_ns : 0;
    event.value = id;
    event.name = type;
    event.category = WEFT_STR("execution");
    return event;
}

/* Innermost first. NULL: not open here. */
static struct rec_mark *find_open(struct rec_delivery *delivery, uint64_t id, struct weft_str type)
{
    for (size_t k = delivery->marks.n; k-- > 0;) {
        struct rec_mark *mark = &delivery->marks.items[k];
        if (mark->id == id && weft_str_equal(weft_strtab_get(delivery->types, mark->type), type))
            return mark;
    }
    return NULL;
}

/* One whose other half is not of this thread. */
static enum weft_code put_loose(struct rec_delivery *delivery, uint64_t id, struct weft_str type,
                                uint64_t at_ns, bool is_end)
{
    struct rec_convert *convert = delivery->convert;
    struct rec_loose_mark mark = {
        .id = id,
        .at_ns = at_ns,
        .pid = delivery->pid,
        .thread = (uint32_t)(delivery->thread - convert->threads.items),
        .is_end = is_end,
    };
    enum weft_code code = WEFT_OK;
    (void)pthread_mutex_lock(&convert->names.lock);
    if (convert->marks.n >= MOST_LOOSE) {
        convert->n_marks_dropped++;
    } else {
        code = weft_strtab_intern(convert->mark_types, type, &mark.type, delivery->err);
        struct rec_loose_mark *place = code == WEFT_OK ? WEFT_VEC_PUSH(&convert->marks) : NULL;
        if (place)
            *place = mark;
        else if (code == WEFT_OK)
            code = weft_no_memory(delivery->err, "executions");
    }
    (void)pthread_mutex_unlock(&convert->names.lock);
    return code;
}

enum weft_code rec_mark_begin(struct rec_delivery *delivery, uint64_t id, struct weft_str type,
                              uint64_t time_ns)
{
    uint32_t type_id;
    if (delivery->marks.n >= MOST_OPEN)
        return put_loose(delivery, id, type, time_ns, false);
    const enum weft_code code = weft_strtab_intern(delivery->types, type, &type_id, delivery->err);
    struct rec_mark *mark = code == WEFT_OK ? WEFT_VEC_PUSH(&delivery->marks) : NULL;
    if (!mark)
        return code == WEFT_OK ? weft_no_memory(delivery->err, "executions") : code;
    *mark = (struct rec_mark){ .id = id, .start_ns = time_ns, .type = type_id };
    return WEFT_OK;
}

enum weft_code rec_mark_end(struct rec_delivery *delivery, uint64_t id, struct weft_str type,
                            uint64_t time_ns)
{
    struct rec_mark *mark = find_open(delivery, id, type);
    if (!mark)
        return put_loose(delivery, id, type, time_ns, true);
    struct weft_event event = span_of(mark->start_ns, time_ns, id, type);
    if (mark->payload.n_bytes) {
        weft_json_byte(&mark->payload, '}');
        event.payload = (struct weft_str){ mark->payload.bytes, mark->payload.n_bytes };
    }
    enum weft_code code = mark->payload.has_failed ? weft_no_memory(delivery->err, "executions")
                                                   : rec_put_event(delivery, &event);
    if (code == WEFT_OK && event.payload.n_bytes)
        code = rec_flush_events(delivery);
    weft_json_fini(&mark->payload);
    const size_t at = (size_t)(mark - delivery->marks.items);
    delivery->marks.n--;
    memmove(mark, mark + 1, (delivery->marks.n - at) * sizeof *mark);
    return code;
}

enum weft_code rec_mark_metric(struct rec_delivery *delivery, const struct rec_record *record,
                               uint64_t time_ns)
{
    const uint64_t id = rec_extra(record, 0), value = rec_extra(record, 1);
    const struct weft_str name = rec_extra_text(record, 2);
    struct rec_mark *mark = NULL;
    for (size_t k = delivery->marks.n; k-- > 0 && !mark;)
        if (delivery->marks.items[k].id == id)
            mark = &delivery->marks.items[k];
    if (!mark) {
        struct weft_event event = rec_event_of(WEFT_EVENT_COUNTER, time_ns);
        event.name = name;
        event.value = value;
        return rec_put_event(delivery, &event);
    }
    weft_json_byte(&mark->payload, mark->payload.n_bytes ? ',' : '{');
    weft_json_string(&mark->payload, name.bytes, name.n_bytes);
    weft_json_byte(&mark->payload, ':');
    weft_json_double(&mark->payload, weft_counter_double(value));
    return mark->payload.has_failed ? weft_no_memory(delivery->err, "executions") : WEFT_OK;
}

enum weft_code rec_marks_leave(struct rec_delivery *delivery)
{
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < delivery->marks.n; k++) {
        const struct rec_mark *mark = &delivery->marks.items[k];
        code = put_loose(delivery, mark->id, weft_strtab_get(delivery->types, mark->type),
                         mark->start_ns, false);
    }
    return code;
}

/* ---- across threads ---------------------------------------------------------------------------
 */

/* Types are compared as texts: their numbers depend on the order of arrival. */
static int by_identity(const void *a_void, const void *b_void, void *types)
{
    const struct rec_loose_mark *a = a_void;
    const struct rec_loose_mark *b = b_void;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    if (a->type != b->type)
        return weft_str_compare(weft_strtab_get(types, a->type), weft_strtab_get(types, b->type));
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    if (a->is_end != b->is_end)
        return a->is_end ? 1 : -1;
    return (a->thread > b->thread) - (a->thread < b->thread);
}

static uint32_t thread_of(const struct rec_convert *convert, const struct rec_loose_mark *mark)
{
    const uint32_t thread = convert->threads.items[mark->thread].thread;
    return convert->kernel.threads.items[thread].thread_id;
}

/* One whose end was not seen (`end` is NULL) says so as calls do. */
static enum weft_code deliver_span(struct rec_convert *convert, const struct rec_loose_mark *begin,
                                   const struct rec_loose_mark *end)
{
    struct weft_sink *sink = convert->kernel.sink;
    const uint64_t end_ns = end ? end->at_ns : convert->threads.items[begin->thread].last_ns;
    struct weft_event event =
        span_of(begin->at_ns, end_ns, begin->id, weft_strtab_get(convert->mark_types, begin->type));
    event.prev_state = end ? 0 : WEFT_CALL_CUT_END;
    if (end && end->thread != begin->thread)
        event.next_thread_id = thread_of(convert, end);
    return sink->ops->events(sink, thread_of(convert, begin), &event, 1, convert->kernel.err);
}

/* An end belongs to the last begin before it. What never ends lasts until its thread does. */
enum weft_code rec_deliver_marks(struct rec_convert *convert)
{
    const struct rec_loose_mark *open = NULL;
    uint64_t n_lone = 0;
    enum weft_code code = WEFT_OK;
    if (convert->marks.n)
        qsort_r(convert->marks.items, convert->marks.n, sizeof *convert->marks.items, by_identity,
                convert->mark_types);
    for (size_t k = 0; code == WEFT_OK && k <= convert->marks.n; k++) {
        const struct rec_loose_mark *mark = k < convert->marks.n ? &convert->marks.items[k] : NULL;
        const bool is_same = open && mark && open->pid == mark->pid && open->id == mark->id &&
                             open->type == mark->type;
        if (open && is_same && mark->is_end) {
            code = deliver_span(convert, open, mark);
            open = NULL;
            continue;
        }
        if (open)
            code = deliver_span(convert, open, NULL);
        n_lone += mark && mark->is_end;
        open = mark && !mark->is_end ? mark : NULL;
    }
    WEFT_THEN(code, kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT, n_lone, WEFT_NO_OFFSET,
                                "ends of executions of which no begin is known"));
    return code == WEFT_OK ? kernel_note(&convert->kernel, WEFT_NOTE_NOT_KEPT,
                                         convert->n_marks_dropped, WEFT_NO_OFFSET,
                                         "executions from one thread to another, beyond a million")
                           : code;
}
