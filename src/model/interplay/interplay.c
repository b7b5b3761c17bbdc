/* SPDX-License-Identifier: MIT
 *
 * Opening and closing of the model, and what all sources share: shared objects and places with
 * their numbers, wait failures, the order of waits, totals of each object. join.c, kernel.c and
 * scan.c of this folder add the waits, loss.c marks those near lost records.
 */
#include "model/interplay/interplay.h"

#include "base/map.h"
#include "base/room.h"
#include "model/events.h"
#include "model/graph/trace.h"
#include "model/interplay/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHARE = 2, MOST_LABEL = 160, MOST_NAME = 96 };

/* ---- places and objects ---------------------------------------------------------------------- */

/* Interned texts have one address each. */
static bool text_of(struct weft_interplay *interplay, struct weft_str text, struct weft_str *kept)
{
    uint32_t id;
    if (weft_strtab_intern(interplay->texts, text, &id, NULL) != WEFT_OK)
        return false;
    *kept = weft_strtab_get(interplay->texts, id);
    return true;
}

/* Opening fails in the end (check_memory). */
static uint32_t no_memory(struct weft_interplay *interplay)
{
    interplay->is_out_of_memory = true;
    return WEFT_ID_NONE;
}

uint32_t weft_interplay_place(struct weft_interplay *interplay, uint32_t node, struct weft_str name)
{
    uint32_t text = 0;
    bool is_new;
    if (weft_strtab_intern(interplay->texts, name, &text, NULL) != WEFT_OK)
        return no_memory(interplay);
    const uint32_t place = weft_map_add(interplay->place_of, (uint64_t)node << 32 | text, &is_new);
    if (place == WEFT_MAP_NONE || (!is_new && place >= interplay->places.n))
        return no_memory(interplay);
    if (!is_new)
        return place;
    struct weft_interplay_place *made = WEFT_ROOM_PUSH(&interplay->places);
    if (!made)
        return no_memory(interplay);
    *made = (struct weft_interplay_place){ .node = node,
                                           .name = weft_strtab_get(interplay->texts, text) };
    return place;
}

static struct weft_str label(struct weft_interplay *interplay, char *text, int n)
{
    struct weft_str kept = WEFT_STR("?");
    const size_t n_text = (size_t)n < MOST_LABEL ? (size_t)n : MOST_LABEL - 1;
    if (n > 0 && !text_of(interplay, (struct weft_str){ text, n_text }, &kept))
        (void)no_memory(interplay);
    return kept;
}

uint32_t weft_interplay_object(struct weft_interplay *interplay, enum weft_shared_kind kind,
                               uint64_t pid, uint64_t number, struct weft_str name)
{
    char text[MOST_LABEL];
    uint32_t name_id, found;
    if (weft_strtab_intern(interplay->texts, name, &name_id, NULL) != WEFT_OK)
        return no_memory(interplay);
    const uint64_t words[] = { pid, number, (uint64_t)kind << 32 | name_id };
    const struct weft_str key = { (const char *)words, sizeof words };
    const size_t n_locks = weft_locks_n_objects(interplay->locks);
    if (weft_strtab_intern(interplay->object_keys, key, &found, NULL) != WEFT_OK)
        return no_memory(interplay);
    if (n_locks + found < interplay->objects.n)
        return (uint32_t)n_locks + found;
    struct weft_shared_object *made = WEFT_ROOM_PUSH(&interplay->objects);
    if (!made)
        return no_memory(interplay);
    const int n =
        name.n_bytes
            ? snprintf(text, sizeof text, "%.*s",
                       (int)(name.n_bytes < MOST_NAME ? name.n_bytes : MOST_NAME), name.bytes)
        : kind == WEFT_SHARED_FILES
            ? snprintf(text, sizeof text, "descriptor %" PRIu64, number)
            : snprintf(text, sizeof text, "%s", weft_shared_kind_name(kind));
    *made = (struct weft_shared_object){ .id = interplay->objects.n - 1,
                                         .name = label(interplay, text, n),
                                         .pid = pid,
                                         .thread_id = WEFT_ID_NONE,
                                         .kind = (uint8_t)kind };
    return (uint32_t)interplay->objects.n - 1;
}

static struct weft_str name_of_lock(struct weft_interplay *interplay,
                                    const struct weft_lock_object *object)
{
    char text[MOST_LABEL];
    const struct weft_thread_info *joined =
        object->thread_id != WEFT_ID_NONE
            ? &weft_trace_thread(interplay->trace, object->thread_id)->info
            : NULL;
    int n;
    if (joined)
        n = snprintf(text, sizeof text, "%" PRIu64 " %.*s", joined->tid,
                     (int)(joined->name.n_bytes < MOST_NAME ? joined->name.n_bytes : MOST_NAME),
                     joined->name.bytes);
    else if (object->name.n_bytes)
        n = snprintf(text, sizeof text, "%.*s",
                     (int)(object->name.n_bytes < MOST_NAME ? object->name.n_bytes : MOST_NAME),
                     object->name.bytes);
    else if (object->address)
        n = snprintf(text, sizeof text, "0x%" PRIx64, object->address);
    else
        n = snprintf(text, sizeof text, "%s", object->is_untold ? "(any)" : "(no address)");
    if (object->nth && n > 0 && n < MOST_LABEL)
        n += snprintf(text + n, sizeof text - (size_t)n, " #%" PRIu32, object->nth);
    return label(interplay, text, n);
}

static enum weft_code take_objects(struct weft_interplay *interplay, struct weft_err *err)
{
    const size_t n = weft_locks_n_objects(interplay->locks);
    for (uint32_t i = 0; i < n; i++) {
        const struct weft_lock_object *object = weft_locks_object(interplay->locks, i);
        struct weft_shared_object *made = WEFT_ROOM_PUSH(&interplay->objects);
        if (!made)
            return weft_no_memory(err, "the interplay");
        *made = (struct weft_shared_object){ .id = i,
                                             .name = name_of_lock(interplay, object),
                                             .address = object->address,
                                             .pid = object->pid,
                                             .thread_id = object->thread_id,
                                             .kind = weft_shared_of_lock(object->kind),
                                             .is_untold = object->is_untold,
                                             .is_reused = object->is_reused };
        interplay->sources |= object->sources;
    }
    return WEFT_OK;
}

/* ---- waits that fail ------------------------------------------------------------------------- */

static int by_thread(const void *a, const void *b)
{
    const struct weft_wait_failure *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

bool weft_interplay_has_failed(const struct weft_interplay *interplay, uint32_t thread_id,
                               uint64_t end_ns)
{
    const struct weft_wait_failure wanted = { end_ns, thread_id };
    return interplay->failures.n > 0 &&
           bsearch(&wanted, interplay->failures.items, interplay->failures.n, sizeof wanted,
                   by_thread) != NULL;
}

static enum weft_code see_instant(struct weft_interplay *interplay, uint32_t thread_id,
                                  const struct weft_event *event, struct weft_err *err)
{
    if (weft_str_equal(event->category, WEFT_STR("recording")) &&
        weft_str_equal(event->name, WEFT_STR("records lost")))
        return weft_interplay_add_loss(interplay, thread_id, event->time_ns, event->value)
                   ? WEFT_OK
                   : weft_no_memory(err, "the interplay");
    if (!weft_str_equal(event->category, WEFT_STR("wait")))
        return WEFT_OK;
    struct weft_wait_failure *failure = WEFT_ROOM_PUSH(&interplay->failures);
    if (!failure)
        return weft_no_memory(err, "the interplay");
    *failure = (struct weft_wait_failure){ event->time_ns, thread_id };
    return WEFT_OK;
}

/* Instants of the category "wait" record timeouts and errors, others losses (weft record). */
static enum weft_code read_instants(struct weft_interplay *interplay, struct weft_err *err)
{
    const uint32_t instants = UINT32_C(1) << WEFT_EVENT_INSTANT;
    const struct weft_twins *twins = weft_locks_twins(interplay->locks);
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    if (weft_trace_meta(interplay->trace)->events_of_kind[WEFT_EVENT_INSTANT] == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_events_open(interplay->trace, 0, instants, 0, interplay->to_ns, &events, err);
    for (uint32_t id = 0; id < twins->n_threads && code == WEFT_OK; id++) {
        weft_events_turn(events, id);
        while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK &&
               event)
            code = see_instant(interplay, twins->first[id], event, err);
    }
    weft_events_close(events);
    if (interplay->failures.n)
        weft_room_sort(interplay->failures.items, interplay->failures.n,
                       sizeof *interplay->failures.items, by_thread);
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

static enum weft_code make_room(struct weft_interplay *interplay, struct weft_err *err)
{
    const size_t n_functions = weft_trace_n_functions(interplay->trace);
    const size_t n_threads = weft_trace_n_threads(interplay->trace);
    interplay->texts = weft_strtab_new();
    interplay->place_of = weft_map_new();
    interplay->node_of = weft_map_new();
    interplay->object_keys = weft_strtab_new();
    interplay->first_ns = weft_room_new(n_threads + 1, sizeof *interplay->first_ns);
    interplay->last_ns = weft_room_new(n_threads + 1, sizeof *interplay->last_ns);
    interplay->uses = weft_room_new(n_functions + 1, sizeof *interplay->uses);
    if (!interplay->texts || !interplay->place_of || !interplay->node_of ||
        !interplay->object_keys || !interplay->first_ns || !interplay->last_ns || !interplay->uses)
        return weft_no_memory(err, "the interplay");
    for (uint32_t id = 0; id < n_functions; id++)
        interplay->uses[id] =
            weft_blocking_use_of(interplay->names, weft_trace_function(interplay->trace, id)->name);
    return WEFT_OK;
}

static void count_lost(struct weft_interplay *interplay)
{
    for (size_t i = 0; i < weft_trace_meta(interplay->trace)->n_notes; i++) {
        const struct weft_note *note = weft_trace_note(interplay->trace, i);
        if (weft_note_is_lost(note->kind))
            interplay->lost += note->count ? note->count : 1;
    }
}

/* Losses without a time: any missing release may be among them. */
static bool has_untimed_losses(const struct weft_interplay *interplay)
{
    uint64_t n_timed = 0;
    for (size_t i = 0; i < interplay->losses.n; i++)
        n_timed += interplay->losses.items[i].n_records;
    return interplay->lost > n_timed;
}

/* Kernel events can show sleeps before the first and after the last event of the thread itself. */
static void widen_lives(struct weft_interplay *interplay)
{
    for (size_t i = 0; i < interplay->waits.n; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        if (wait->start_ns < interplay->first_ns[wait->waiter_id])
            interplay->first_ns[wait->waiter_id] = wait->start_ns;
        if (wait->end_ns > interplay->last_ns[wait->waiter_id])
            interplay->last_ns[wait->waiter_id] = wait->end_ns;
    }
}

static void find_known(struct weft_interplay *interplay)
{
    const struct weft_store_meta *meta = weft_trace_meta(interplay->trace);
    const uint32_t recorded = WEFT_LOCK_BY_EVENTS | WEFT_LOCK_BY_CALLS;
    bool has_objects = false, has_io = false;
    for (size_t i = 0; i < interplay->objects.n; i++)
        has_objects |= !interplay->objects.items[i].is_untold;
    for (uint32_t id = 0; id < meta->n_functions; id++)
        has_io |= interplay->uses[id].kind == WEFT_BLOCKING_IO;
    if (meta->calls + meta->cut_calls > 0)
        interplay->known |= WEFT_KNOWN_CALLS;
    if (has_objects)
        interplay->known |= WEFT_KNOWN_OBJECTS;
    if (interplay->sources & recorded)
        interplay->known |= WEFT_KNOWN_UNCONTENDED | WEFT_KNOWN_HOLDS;
    if (weft_trace_has_switches(interplay->trace) &&
        meta->events_of_kind[WEFT_EVENT_WAKING] + meta->events_of_kind[WEFT_EVENT_WOKEN] > 0)
        interplay->known |= WEFT_KNOWN_WAKEUPS | WEFT_KNOWN_IO;
    if (has_io)
        interplay->known |= WEFT_KNOWN_IO;
}

static int by_waiter(const void *a, const void *b)
{
    const struct weft_wait *x = a, *y = b;
    if (x->waiter_id != y->waiter_id)
        return x->waiter_id < y->waiter_id ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

void weft_interplay_sort(struct weft_interplay *interplay)
{
    if (interplay->waits.n)
        weft_room_sort(interplay->waits.items, interplay->waits.n, sizeof *interplay->waits.items,
                       by_waiter);
}

/* Counts a pair of object and thread once. False without memory. */
static bool count_once(struct weft_map *seen, uint32_t object, uint32_t thread_id, uint32_t *count)
{
    bool is_new = false;
    if (weft_map_add(seen, (uint64_t)object << 32 | thread_id, &is_new) == WEFT_MAP_NONE)
        return false;
    *count += is_new;
    return true;
}

/* The threads that released, whether another thread waited or not. */
static enum weft_code count_releasers(struct weft_interplay *interplay, struct weft_err *err)
{
    struct weft_shared_object *objects = interplay->objects.items;
    struct weft_map *seen = weft_map_new();
    size_t n_ops, n_signals;
    const struct weft_lock_op *ops = weft_locks_ops(interplay->locks, &n_ops);
    const struct weft_lock_signal *signals = weft_locks_signals(interplay->locks, &n_signals);
    bool is_good = seen != NULL;
    for (size_t i = 0; i < n_ops && is_good; i++)
        if (weft_interplay_lets_go(&objects[ops[i].object], &ops[i]))
            is_good = count_once(seen, ops[i].object, ops[i].thread_id,
                                 &objects[ops[i].object].n_releasers);
    for (size_t i = 0; i < n_signals && is_good; i++)
        is_good = count_once(seen, signals[i].object, signals[i].thread_id,
                             &objects[signals[i].object].n_releasers);
    for (size_t i = 0; i < interplay->waits.n && is_good; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        if (wait->releaser_id != WEFT_ID_NONE)
            is_good = count_once(seen, wait->object, wait->releaser_id,
                                 &objects[wait->object].n_releasers);
    }
    weft_map_free(seen);
    return is_good ? WEFT_OK : weft_no_memory(err, "the interplay");
}

/* Totals of each object: waits, waiters, releasers. */
static enum weft_code count_objects(struct weft_interplay *interplay, struct weft_err *err)
{
    struct weft_map *seen = weft_map_new();
    bool is_good = seen != NULL;
    for (size_t i = 0; i < interplay->waits.n && is_good; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        struct weft_shared_object *object = &interplay->objects.items[wait->object];
        is_good = count_once(seen, wait->object, wait->waiter_id, &object->n_waiters);
        object->waits++;
        object->wait_ns += wait->end_ns - wait->start_ns;
    }
    weft_map_free(seen);
    for (size_t i = 0; i < interplay->objects.n; i++) {
        struct weft_shared_object *object = &interplay->objects.items[i];
        object->is_never_released = i < weft_locks_n_objects(interplay->locks) &&
                                    object->waits > 0 && object->releases == 0 &&
                                    !object->is_untold;
    }
    return is_good ? count_releasers(interplay, err) : weft_no_memory(err, "the interplay");
}

static enum weft_code check_memory(const struct weft_interplay *interplay, struct weft_err *err)
{
    return interplay->is_out_of_memory ? weft_no_memory(err, "the interplay") : WEFT_OK;
}

enum weft_code weft_interplay_open(const struct weft_trace *trace,
                                   const struct weft_blocking_names *names, uint64_t to_ns,
                                   const struct weft_run *run, struct weft_interplay **interplay,
                                   struct weft_err *err)
{
    struct weft_interplay *made = calloc(1, sizeof *made);
    *interplay = NULL;
    if (!made)
        return weft_no_memory(err, "the interplay");
    const struct weft_locks_span span = { .to_ns = to_ns, .without_calls = true, .names = names };
    made->trace = trace;
    made->names = names;
    made->to_ns = to_ns;
    enum weft_code code = make_room(made, err);
    WEFT_THEN(code, weft_locks_open(trace, &span, run->memory_bytes / SHARE, &made->locks, err));
    WEFT_THEN(code, take_objects(made, err));
    WEFT_THEN(code, read_instants(made, err));
    WEFT_THEN(code, weft_interplay_join(made, err));
    WEFT_THEN(code, check_memory(made, err));
    WEFT_THEN(code,
              weft_trace_has_switches(trace) ? weft_interplay_kernel(made, run, err) : WEFT_OK);
    WEFT_THEN(code, weft_interplay_scan(made, run, err));
    WEFT_THEN(code, weft_interplay_sleeps(made, err));
    WEFT_THEN(code, check_memory(made, err));
    WEFT_THEN(code, count_objects(made, err));
    if (code == WEFT_OK) {
        count_lost(made);
        weft_interplay_order_losses(made);
        weft_interplay_mark_losses(made, has_untimed_losses(made));
        widen_lives(made);
        find_known(made);
        *interplay = made;
    } else {
        weft_interplay_close(made);
    }
    return code;
}

void weft_interplay_close(struct weft_interplay *interplay)
{
    if (!interplay)
        return;
    weft_locks_close(interplay->locks);
    WEFT_ROOM_FINI(&interplay->waits);
    WEFT_ROOM_FINI(&interplay->io);
    WEFT_ROOM_FINI(&interplay->sleeps);
    WEFT_ROOM_FINI(&interplay->failures);
    WEFT_ROOM_FINI(&interplay->losses);
    WEFT_ROOM_FINI(&interplay->objects);
    WEFT_ROOM_FINI(&interplay->places);
    WEFT_ROOM_FINI(&interplay->nodes);
    weft_room_free(interplay->is_wait);
    weft_room_free(interplay->hold_place);
    weft_room_free(interplay->first_ns);
    weft_room_free(interplay->last_ns);
    weft_room_free(interplay->uses);
    weft_strtab_free(interplay->texts);
    weft_map_free(interplay->place_of);
    weft_map_free(interplay->node_of);
    weft_strtab_free(interplay->object_keys);
    free(interplay);
}

static size_t first_of_thread(const struct weft_interplay *interplay, uint64_t thread_id)
{
    size_t low = 0, high = interplay->waits.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (interplay->waits.items[middle].waiter_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void weft_interplay_waits_of(const struct weft_interplay *interplay, uint32_t thread_id,
                             size_t *first, size_t *end)
{
    *first = first_of_thread(interplay, thread_id);
    *end = first_of_thread(interplay, (uint64_t)thread_id + 1);
}
