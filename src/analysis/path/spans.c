/* SPDX-License-Identifier: MIT
 *
 * Reads the spans of a thread when it is first asked for, sorted by start, and picks among at most
 * LOOKED_AT that overlap a segment the one that covers it most. Threads never asked for are never
 * read.
 */
#include "analysis/path/spans.h"

#include "base/map.h"
#include "base/room.h"
#include "base/search.h"
#include "model/events.h"

#include <stdlib.h>

enum { LOOKED_AT = 4096 };

struct span {
    uint64_t start_ns, end_ns;
    uint32_t name; /* in names */
};

/* Those of one thread, by start_ns, then by end_ns. */
struct list {
    struct span *items;
    size_t n, cap;
};

struct weft_path_spans {
    const struct weft_trace *trace;
    uint64_t from_ns, to_ns;
    struct weft_strtab *names;
    struct weft_map *of_thread; /* place in lists */
    struct {
        struct list *items;
        size_t n, cap;
    } lists;
};

struct weft_path_spans *weft_path_spans_new(const struct weft_trace *trace, uint64_t from_ns,
                                            uint64_t to_ns)
{
    struct weft_path_spans *spans = calloc(1, sizeof *spans);
    if (!spans)
        return NULL;
    *spans = (struct weft_path_spans){
        .trace = trace,
        .from_ns = from_ns,
        .to_ns = to_ns,
        .names = weft_strtab_new(),
        .of_thread = weft_map_new(),
    };
    if (spans->names && spans->of_thread)
        return spans;
    weft_path_spans_free(spans);
    return NULL;
}

void weft_path_spans_free(struct weft_path_spans *spans)
{
    if (!spans)
        return;
    for (size_t i = 0; i < spans->lists.n; i++)
        WEFT_ROOM_FINI(&spans->lists.items[i]);
    WEFT_ROOM_FINI(&spans->lists);
    weft_strtab_free(spans->names);
    weft_map_free(spans->of_thread);
    free(spans);
}

static enum weft_code add(struct weft_path_spans *spans, struct list *list,
                          const struct weft_event *event, struct weft_err *err)
{
    struct span *span = WEFT_ROOM_PUSH(list);
    if (!span)
        return weft_no_memory(err, "spans");
    span->start_ns = event->time_ns;
    span->end_ns = event->time_ns + event->duration_ns;
    return weft_strtab_intern(spans->names, event->name, &span->name, err);
}

static int by_start(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

static enum weft_code read_thread(struct weft_path_spans *spans, uint32_t thread_id,
                                  struct list *list, struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_events_open(spans->trace, thread_id, UINT32_C(1) << WEFT_EVENT_SPAN,
                                           spans->from_ns, spans->to_ns, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event)
        code = add(spans, list, event, err);
    weft_events_close(events);
    if (list->n)
        weft_room_sort(list->items, list->n, sizeof *list->items, by_start);
    return code;
}

static enum weft_code list_of(struct weft_path_spans *spans, uint32_t thread_id,
                              const struct list **list, struct weft_err *err)
{
    bool is_new;
    const uint32_t place = weft_map_add(spans->of_thread, thread_id, &is_new);
    struct list *made = is_new && place != WEFT_MAP_NONE ? WEFT_ROOM_PUSH(&spans->lists) : NULL;
    if (place == WEFT_MAP_NONE || place >= spans->lists.n)
        return weft_no_memory(err, "spans");
    *list = &spans->lists.items[place];
    return made ? read_thread(spans, thread_id, made, err) : WEFT_OK;
}

/* How many begin before at_ns. */
static size_t begun_before(const struct list *list, uint64_t at_ns)
{
    size_t low;
    WEFT_SEARCH(low, list->n, list->items[low].start_ns < at_ns);
    return low;
}

enum weft_code weft_path_span(struct weft_path_spans *spans, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_str *name, uint64_t *sum_ns,
                              struct weft_err *err)
{
    const struct list *list = NULL;
    uint64_t best_ns = 0, shortest_ns = UINT64_MAX;
    *name = (struct weft_str){ 0 };
    *sum_ns = 0;
    if (weft_trace_meta(spans->trace)->events_of_kind[WEFT_EVENT_SPAN] == 0)
        return WEFT_OK;
    WEFT_TRY(list_of(spans, thread_id, &list, err));
    size_t i = begun_before(list, to_ns);
    for (const size_t least = i > LOOKED_AT ? i - LOOKED_AT : 0; i > least; i--) {
        const struct span *span = &list->items[i - 1];
        const uint64_t start_ns = span->start_ns > from_ns ? span->start_ns : from_ns;
        const uint64_t end_ns = span->end_ns < to_ns ? span->end_ns : to_ns;
        const uint64_t length_ns = span->end_ns - span->start_ns;
        if (start_ns >= end_ns || end_ns - start_ns < best_ns ||
            (end_ns - start_ns == best_ns && length_ns > shortest_ns))
            continue;
        best_ns = end_ns - start_ns;
        shortest_ns = length_ns;
        *name = weft_strtab_get(spans->names, span->name);
    }
    *sum_ns = best_ns;
    return WEFT_OK;
}
