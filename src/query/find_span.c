/* SPDX-License-Identifier: MIT
 *
 * The longest span of a name.
 */
#include "model/events.h"
#include "query/session.h"
#include "schema/calls.h"

#include <string.h>

struct search {
    struct weft_str name;
    bool is_exact; /* else the name is a part of the span's */
    struct weft_found_span *found;
};

static bool contains(struct weft_str text, struct weft_str part)
{
    return part.n_bytes == 0 || (text.n_bytes >= part.n_bytes &&
                                 memmem(text.bytes, text.n_bytes, part.bytes, part.n_bytes));
}

static void look_at(struct search *search, uint32_t thread_id, const struct weft_event *event)
{
    struct weft_found_span *found = search->found;
    if (search->is_exact ? !weft_str_equal(event->name, search->name)
                         : !contains(event->name, search->name))
        return;
    if (found->n_spans++ > 0 && event->duration_ns <= found->end_ns - found->start_ns)
        return;
    const size_t n_bytes =
        event->name.n_bytes < sizeof found->name - 1 ? event->name.n_bytes : sizeof found->name - 1;
    found->thread_id = thread_id;
    found->start_ns = event->time_ns;
    found->end_ns = event->time_ns + event->duration_ns;
    memcpy(found->name, event->name.bytes, n_bytes);
    found->name[n_bytes] = '\0';
}

static enum weft_code search_thread(const struct weft_trace *trace, uint32_t thread_id,
                                    struct search *search, struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_events_open(trace, thread_id, UINT32_C(1) << WEFT_EVENT_SPAN, 0,
                                           UINT64_MAX, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        look_at(search, thread_id, event);
    weft_events_close(events);
    return code;
}

enum weft_code weft_session_find_span(const struct weft_session *session, const char *text,
                                      struct weft_found_span *found, struct weft_err *err)
{
    const struct weft_trace *trace = weft_session_trace(session);
    struct search search = { .name = weft_str_of(text), .is_exact = true, .found = found };
    enum weft_code code = WEFT_OK;
    *found = (struct weft_found_span){ 0 };
    for (int pass = 0; pass < 2 && code == WEFT_OK && found->n_spans == 0; pass++) {
        search.is_exact = pass == 0;
        for (uint32_t id = 0; id < weft_trace_n_threads(trace) && code == WEFT_OK; id++)
            code = search_thread(trace, id, &search, err);
    }
    if (code == WEFT_OK && found->n_spans == 0)
        code = weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "no span is called '%.80s'", text);
    return code;
}
