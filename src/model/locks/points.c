/* SPDX-License-Identifier: MIT
 *
 * Reads the points of threads in two passes. The survey sees every event once and numbers the
 * objects: which futex words belong together (words.c), which threads have points. Then each thread
 * is read, its events merged with its calls of lock functions by time; only the outermost lock
 * function of a stack counts.
 */
#include "model/locks/points.h"

#include "base/room.h"
#include "model/calls/arguments.h"
#include "model/calls/walk.h"
#include "model/events.h"
#include "model/locks/blocking_names.h"
#include "model/locks/early.h"
#include "model/locks/names.h"
#include "model/locks/words.h"
#include "schema/event.h"

#include <stdlib.h>

/* ---- point ----------------------------------------------------------------------------------- */

/* Turns lock events into points, and
 * sorts the points of a thread only if they are out of order, which is rare. */

/* What an event of a lock, one of WEFT_EVENT_LOCK_*, says of an object; without a site. */
static struct weft_lock_point weft_lock_point_of(const struct weft_event *event, uint32_t object,
                                                 bool is_shared)
{
    return (struct weft_lock_point){
        .at_ns = event->time_ns,
        .object = object,
        .site = WEFT_ID_NONE,
        .kind = event->kind == WEFT_EVENT_LOCK_REQUEST    ? WEFT_LOCK_POINT_REQUEST
                : event->kind == WEFT_EVENT_LOCK_RELEASED ? WEFT_LOCK_POINT_RELEASED
                : event->kind == WEFT_EVENT_LOCK_FAILED || event->prev_state != 0
                    ? WEFT_LOCK_POINT_FAILED
                    : WEFT_LOCK_POINT_ACQUIRED,
        .source = WEFT_LOCK_BY_EVENTS,
        .is_shared = is_shared,
    };
}

static int by_time(const void *a, const void *b)
{
    const struct weft_lock_point *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* By time, and of one time as they were added; numbers them in that order. O(n) if they are in
 * order, else O(n log n). */
static void weft_lock_points_sort(struct weft_lock_points *points)
{
    bool is_ordered = true; /* as points of events mostly are */
    for (size_t i = 1; i < points->n; i++)
        is_ordered &= by_time(&points->items[i - 1], &points->items[i]) <= 0;
    if (!is_ordered)
        weft_room_sort(points->items, points->n, sizeof *points->items, by_time);
    for (size_t i = 0; i < points->n; i++)
        points->items[i].order = (uint32_t)i;
}

/* ---- points ---------------------------------------------------------------------------------- */

#define KIND(name) (UINT32_C(1) << WEFT_EVENT_##name)
#define LOCK_KINDS                                                                                 \
    (KIND(LOCK_REQUEST) | KIND(LOCK_ACQUIRED) | KIND(LOCK_RELEASED) | KIND(LOCK_FAILED))

#define SYSCALL_KINDS (KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT))

enum { CONDITION_BYTES = 8, MOST_SHARE = 4, MEMOS = 64 };

struct open_call {
    uint32_t site, object;
    struct weft_lock_use use;
};

/* The name of the last event of a kind, and what it says. */
struct last_name {
    char bytes[64];
    size_t n_bytes;
    enum weft_lock_kind kind;
    bool is_shared;
};

/* The object of an event that was asked for before. */
struct memo {
    uint64_t number;
    uint32_t object, thread_id;
    bool is_set, is_address;
    uint8_t kind;
};

struct weft_lock_finder {
    const struct weft_trace *trace;
    const struct weft_twins *twins;
    struct weft_locks_span span;
    uint64_t memory_bytes;
    struct weft_strtab *keys, *texts, *sites; /* keys: of objects, by number */
    struct weft_events *events;               /* of the thread in work; NULL: none was yet */
    struct {
        struct weft_lock_object *items;
        size_t n, cap;
    } objects;
    struct weft_lock_words *words;
    struct weft_lock_use *uses; /* by function */
    uint32_t *function_sites;   /* by function; WEFT_ID_NONE: not asked for */
    uint8_t *has_points;        /* by thread: it has events of locks, or futex calls */
    bool has_lock_calls;        /* that must be read: objects' lives alone do not matter */
    bool has_lock_events;
    struct last_name last_names[WEFT_EVENT_KINDS];
    struct memo memos[MEMOS];
    struct weft_lock_early early;
    struct {
        struct weft_lock_life *items;
        size_t n, cap;
    } lives;
    struct {
        struct open_call *items;
        size_t n, cap;
    } stack;
};

/* ---- objects --------------------------------------------------------------------------------- */

/* What makes an object itself. */
struct key {
    uint64_t pid, number;
    uint32_t host_id;
    char tag; /* address, number of the source, text, join, untold */
    uint8_t kind;
    char zero[2];
};
_Static_assert(sizeof(struct key) == 24, "keys are compared as bytes");

static uint64_t pid_of(const struct weft_lock_finder *finder, uint32_t thread_id)
{
    uint32_t id = thread_id;
    do {
        const uint64_t pid = weft_trace_thread(finder->trace, id)->info.pid;
        if (pid)
            return pid;
        id = finder->twins->next[id];
    } while (id != thread_id);
    return 0;
}

static bool is_asked_for(const struct weft_lock_finder *finder, uint32_t thread_id)
{
    const uint64_t pid = finder->span.pid ? pid_of(finder, thread_id) : 0;
    return pid == 0 ||
           (pid == finder->span.pid &&
            weft_trace_thread(finder->trace, thread_id)->info.host_id == finder->span.host_id);
}

static struct key key_of(const struct weft_lock_finder *finder, uint32_t thread_id, char tag,
                         uint64_t number)
{
    return (struct key){ .pid = pid_of(finder, thread_id),
                         .number = number,
                         .host_id = weft_trace_thread(finder->trace, thread_id)->info.host_id,
                         .tag = tag };
}

/* An operation of another kind than before at an address is on another object there. */
static enum weft_code object_add(struct weft_lock_finder *finder, const struct key *key,
                                 enum weft_lock_kind kind, enum weft_lock_source source,
                                 uint32_t *object, struct weft_err *err)
{
    const struct weft_str bytes = { (const char *)key, sizeof *key };
    enum weft_code code = weft_strtab_intern(finder->keys, bytes, object, err);
    if (code != WEFT_OK)
        return code;
    if (*object == finder->objects.n) {
        struct weft_lock_object *made = WEFT_ROOM_PUSH(&finder->objects);
        if (!made)
            return weft_no_memory(err, "locks");
        *made = (struct weft_lock_object){ .address = key->tag == 'a' ? key->number : 0,
                                           .pid = key->pid,
                                           .thread_id = WEFT_ID_NONE,
                                           .kind = (uint8_t)kind,
                                           .is_untold = key->tag == 'u' };
        if (key->tag == 'a')
            made->name = weft_store_object_name(weft_trace_store(finder->trace), key->host_id,
                                                key->pid, key->number);
    }
    struct weft_lock_object *known = &finder->objects.items[*object];
    if (source != WEFT_LOCK_BY_FUTEX && known->sources & ~(unsigned)WEFT_LOCK_BY_FUTEX &&
        kind != known->kind && key->kind == 0 &&
        !(weft_lock_is_held(known->kind) && weft_lock_is_held((uint8_t)kind))) {
        struct key other = *key;
        other.kind = (uint8_t)(1 + kind);
        code = object_add(finder, &other, kind, source, object, err);
        if (code == WEFT_OK)
            finder->objects.items[*object].is_reused = true;
        return code;
    }
    const bool is_semaphore = /* its futex alone is that of a condition */
        kind == WEFT_LOCK_SEMAPHORE && known->sources == WEFT_LOCK_BY_FUTEX;
    if (known->sources == 0 || is_semaphore)
        known->kind = (uint8_t)kind;
    known->sources |= (uint8_t)source;
    if (kind == WEFT_LOCK_RWLOCK && known->kind == WEFT_LOCK_MUTEX)
        known->kind = WEFT_LOCK_RWLOCK;
    return WEFT_OK;
}

/* The same, of the name that events of its kind had last if it still is that. */
static enum weft_lock_kind kind_of_event(struct weft_lock_finder *finder,
                                         const struct weft_event *event, bool *is_shared)
{
    struct last_name *last = &finder->last_names[event->kind];
    const struct weft_str name = event->name;
    if (name.n_bytes == 0 || name.n_bytes > sizeof last->bytes)
        return weft_lock_kind_of_name(name, is_shared);
    if (name.n_bytes != last->n_bytes || memcmp(name.bytes, last->bytes, name.n_bytes) != 0) {
        memcpy(last->bytes, name.bytes, name.n_bytes);
        last->n_bytes = name.n_bytes;
        last->kind = weft_lock_kind_of_name(name, &last->is_shared);
    }
    *is_shared = last->is_shared;
    return last->kind;
}

static enum weft_code object_of_event(struct weft_lock_finder *finder, uint32_t thread_id,
                                      const struct weft_event *event, uint32_t *object,
                                      bool *is_shared, struct weft_err *err)
{
    struct key key = { .number = event->object_id, .tag = 'n' };
    const enum weft_lock_kind kind = kind_of_event(finder, event, is_shared);
    const uint64_t number = event->value ? event->value : event->object_id;
    struct memo *memo = &finder->memos[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % MEMOS];
    if (memo->is_set && memo->number == number && memo->thread_id == thread_id &&
        memo->is_address == (event->value != 0) && memo->kind == (uint8_t)kind) {
        *object = memo->object;
        return WEFT_OK;
    }
    if (event->value)
        key = key_of(finder, thread_id, 'a', event->value);
    const enum weft_code code = object_add(finder, &key, kind, WEFT_LOCK_BY_EVENTS, object, err);
    *memo = (struct memo){ number,          *object,           thread_id,
                           code == WEFT_OK, event->value != 0, (uint8_t)kind };
    return code;
}

/* Points that are kept from the survey, at most. */
static size_t early_most(const struct weft_lock_finder *finder)
{
    return finder->memory_bytes
               ? (size_t)(finder->memory_bytes / MOST_SHARE / sizeof(struct weft_lock_point)) + 1
               : UINT32_MAX;
}

/* ---- futexes --------------------------------------------------------------------------------- */

static bool is_futex(const struct weft_event *event)
{
    return event->object_id != WEFT_ID_NONE && weft_event_is_futex(event->name);
}

static enum weft_code word_of(struct weft_lock_finder *finder, uint32_t thread_id, uint64_t address,
                              struct weft_lock_word **word, struct weft_err *err)
{
    const struct key key = key_of(finder, thread_id, 'a', address);
    return weft_lock_word_of(finder->words, (struct weft_str){ (const char *)&key, sizeof key },
                             word, err);
}

static enum weft_code survey_futex(struct weft_lock_finder *finder, uint32_t thread_id,
                                   const struct weft_event *event, struct weft_err *err)
{
    struct weft_lock_word *word;
    if (!(weft_futex_waits(event) || weft_futex_wakes(event)) ||
        weft_lock_joined(finder->words, thread_id, event) != WEFT_ID_NONE)
        return WEFT_OK;
    const enum weft_code code = word_of(finder, thread_id, event->value, &word, err);
    if (code == WEFT_OK)
        weft_lock_word_see(word, event);
    return code;
}

/* A lock that has events keeps the kind that they give. */
static enum weft_code object_of_word(struct weft_lock_finder *finder, uint32_t thread_id,
                                     uint64_t address, struct weft_lock_word *word,
                                     struct weft_err *err)
{
    const enum weft_lock_kind kind = weft_lock_word_kind(word);
    struct key key = key_of(finder, thread_id, 'a', address);
    uint32_t n_known = weft_strtab_count(finder->keys);
    enum weft_code code = object_add(finder, &key, kind, WEFT_LOCK_BY_FUTEX, &word->object, err);
    const bool is_new = word->object == n_known;
    word->is_made = code == WEFT_OK;
    if (code != WEFT_OK || !is_new || kind != WEFT_LOCK_CONDITION || address % CONDITION_BYTES == 0)
        return code;
    /* The second word of a condition: the object is that of the first. */
    key.number = address - address % CONDITION_BYTES;
    finder->objects.items[word->object].sources = 0;
    return object_add(finder, &key, kind, WEFT_LOCK_BY_FUTEX, &word->object, err);
}

/* ---- the survey ------------------------------------------------------------------------------ */

static bool has_syscalls(const struct weft_lock_finder *finder, uint32_t thread_id)
{
    const struct weft_store *store = weft_trace_store(finder->trace);
    const uint64_t n_blocks = weft_store_thread_get(store, thread_id)->n_event_blocks;
    for (uint64_t i = 0; i < n_blocks; i++)
        if (weft_store_event_block_get(store, thread_id, i)->kinds & SYSCALL_KINDS)
            return true;
    return false;
}

static enum weft_code survey_lock(struct weft_lock_finder *finder, uint32_t thread_id,
                                  const struct weft_event *event, struct weft_err *err)
{
    uint32_t object;
    bool is_shared;
    enum weft_code code = object_of_event(finder, thread_id, event, &object, &is_shared, err);
    const struct weft_lock_point point = weft_lock_point_of(event, object, is_shared);
    finder->has_lock_events = true;
    finder->has_points[thread_id] = 1;
    if (code == WEFT_OK)
        weft_lock_early_add(&finder->early, thread_id, &point);
    return code;
}

static enum weft_code survey_thread(struct weft_lock_finder *finder, struct weft_events *events,
                                    uint32_t thread_id, struct weft_err *err)
{
    const struct weft_event *event = NULL;
    enum weft_code code = WEFT_OK;
    weft_lock_early_begin(&finder->early, thread_id, !has_syscalls(finder, thread_id));
    weft_events_turn(events, thread_id);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        if (event->kind != WEFT_EVENT_SYSCALL_ENTER) {
            code = survey_lock(finder, thread_id, event, err);
        } else if (is_futex(event)) {
            finder->has_points[thread_id] = 1;
            code = survey_futex(finder, thread_id, event, err);
        }
    }
    return code;
}

static bool has_events(const struct weft_trace *trace, uint32_t kinds)
{
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        if (kinds >> kind & 1 && weft_trace_meta(trace)->events_of_kind[kind])
            return true;
    return false;
}

static enum weft_code survey_events(struct weft_lock_finder *finder, struct weft_err *err)
{
    struct weft_events *events = NULL; /* one for all: threads of few events share blocks */
    if (finder->twins->n_threads == 0 ||
        !has_events(finder->trace, LOCK_KINDS | KIND(SYSCALL_ENTER)))
        return WEFT_OK;
    enum weft_code code = weft_events_open(finder->trace, 0, LOCK_KINDS | KIND(SYSCALL_ENTER),
                                           finder->span.from_ns, finder->span.to_ns, &events, err);
    for (uint32_t id = 0; id < finder->twins->n_threads && code == WEFT_OK; id++)
        if (is_asked_for(finder, id))
            code = survey_thread(finder, events, id, err);
    weft_events_close(events);
    return code;
}

static bool has_any_points(const struct weft_lock_finder *finder)
{
    for (uint32_t id = 0; id < finder->twins->n_threads; id++)
        if (finder->has_points[id])
            return true;
    return false;
}

static enum weft_code survey(struct weft_lock_finder *finder, struct weft_err *err)
{
    bool has_lives = false;
    for (uint32_t id = 0; id < weft_trace_n_functions(finder->trace); id++) {
        const struct weft_lock_use use =
            weft_blocking_use_of(finder->span.names, weft_trace_function(finder->trace, id)->name)
                .lock;
        finder->uses[id] = use;
        finder->function_sites[id] = WEFT_ID_NONE;
        const bool is_life = use.role == WEFT_LOCK_MAKES || use.role == WEFT_LOCK_UNMAKES;
        has_lives |= is_life;
        finder->has_lock_calls |=
            !is_life && use.role != WEFT_LOCK_NO_ROLE && use.role != WEFT_LOCK_PASSES;
    }
    const enum weft_code code = survey_events(finder, err);
    finder->has_lock_calls |= has_lives && has_any_points(finder);
    return code;
}

enum weft_code weft_lock_finder_open(const struct weft_trace *trace, const struct weft_twins *twins,
                                     const struct weft_locks_span *span, uint64_t memory_bytes,
                                     struct weft_lock_finder **finder, struct weft_err *err)
{
    struct weft_lock_finder *made = calloc(1, sizeof *made);
    const size_t n_functions = weft_trace_n_functions(trace);
    *finder = made;
    if (!made)
        return weft_no_memory(err, "locks");
    made->trace = trace;
    made->twins = twins;
    made->span = *span;
    made->memory_bytes = memory_bytes;
    made->keys = weft_strtab_new();
    made->texts = weft_strtab_new();
    made->sites = weft_strtab_new();
    made->words = weft_lock_words_new(trace, twins);
    made->has_points = weft_room_new((size_t)twins->n_threads + 1, 1);
    made->uses = weft_room_new(n_functions + 1, sizeof *made->uses);
    made->function_sites = weft_room_new(n_functions + 1, sizeof *made->function_sites);
    if (!made->keys || !made->texts || !made->sites || !made->words || !made->uses ||
        !made->has_points || !made->function_sites)
        return weft_no_memory(err, "locks");
    if (span->without_sites && /* else they need the names of places */
        !weft_lock_early_init(&made->early, twins->n_threads, early_most(made)))
        return weft_no_memory(err, "locks");
    return survey(made, err);
}

void weft_lock_finder_close(struct weft_lock_finder *finder)
{
    if (!finder)
        return;
    weft_events_close(finder->events);
    weft_strtab_free(finder->keys);
    weft_strtab_free(finder->texts);
    weft_strtab_free(finder->sites);
    WEFT_ROOM_FINI(&finder->objects);
    WEFT_ROOM_FINI(&finder->lives);
    WEFT_ROOM_FINI(&finder->stack);
    weft_lock_words_free(finder->words);
    weft_lock_early_fini(&finder->early);
    weft_room_free(finder->has_points);
    weft_room_free(finder->uses);
    weft_room_free(finder->function_sites);
    free(finder);
}

size_t weft_lock_finder_n_objects(const struct weft_lock_finder *finder)
{
    return finder->objects.n;
}

const struct weft_lock_object *weft_lock_finder_object(const struct weft_lock_finder *finder,
                                                       uint32_t object)
{
    return &finder->objects.items[object];
}

const struct weft_lock_life *weft_lock_finder_lives(struct weft_lock_finder *finder,
                                                    int (*order)(const void *, const void *),
                                                    size_t *n_lives)
{
    *n_lives = finder->lives.n;
    if (finder->lives.n)
        weft_room_sort(finder->lives.items, finder->lives.n, sizeof *finder->lives.items, order);
    return finder->lives.items;
}

enum weft_code weft_lock_finder_next_life(struct weft_lock_finder *finder, uint32_t object,
                                          uint32_t nth, uint32_t *id, struct weft_err *err)
{
    struct weft_lock_object *made = WEFT_ROOM_PUSH(&finder->objects);
    if (!made)
        return weft_no_memory(err, "locks");
    finder->objects.items[object].nth = 1;
    *made = finder->objects.items[object];
    made->nth = nth;
    made->is_reused = true;
    *id = (uint32_t)finder->objects.n - 1;
    return WEFT_OK;
}

void weft_lock_finder_finish(struct weft_lock_finder *finder)
{
    weft_events_close(finder->events);
    finder->events = NULL;
    weft_lock_early_fini(&finder->early);
}

bool weft_lock_finder_may_miss(const struct weft_lock_finder *finder)
{
    return weft_trace_meta(finder->trace)->has_some_calls;
}

struct weft_str weft_lock_finder_site(const struct weft_lock_finder *finder, uint32_t site)
{
    return site == WEFT_ID_NONE ? WEFT_STR("") : weft_strtab_get(finder->sites, site);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* What is read of one thread. */
struct reading {
    struct weft_lock_finder *finder;
    struct weft_lock_points *points;
    uint32_t thread_id;
    uint64_t stack_ns;   /* of the last stack sample */
    uint32_t stack_site; /* or WEFT_ID_NONE */
    bool is_asleep;      /* in a futex call that waits */
};

static enum weft_code point_add(struct reading *reading, const struct weft_lock_point *made,
                                struct weft_err *err)
{
    struct weft_lock_points *points = reading->points;
    if (points->n >= UINT32_MAX)
        return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                         "a thread works on locks more than %u times: ask for a shorter interval",
                         UINT32_MAX);
    struct weft_lock_point *point = WEFT_ROOM_PUSH(points);
    if (!point)
        return weft_no_memory(err, "locks");
    *point = *made;
    point->order = (uint32_t)points->n;
    return WEFT_OK;
}

static enum weft_code read_lock(struct reading *reading, const struct weft_event *event,
                                struct weft_err *err)
{
    uint32_t object;
    bool is_shared;
    enum weft_code code =
        object_of_event(reading->finder, reading->thread_id, event, &object, &is_shared, err);
    struct weft_lock_point point = weft_lock_point_of(event, object, is_shared);
    if (code == WEFT_OK && event->category.n_bytes && !reading->finder->span.without_sites)
        code = weft_strtab_intern(reading->finder->sites, event->category, &point.site, err);
    return code == WEFT_OK ? point_add(reading, &point, err) : code;
}

static enum weft_code object_of_futex(struct reading *reading, const struct weft_event *event,
                                      uint32_t *object, struct weft_err *err)
{
    struct weft_lock_finder *finder = reading->finder;
    const uint32_t thread_id = weft_lock_joined(finder->words, reading->thread_id, event);
    struct weft_lock_word *word;
    enum weft_code code;
    if (thread_id != WEFT_ID_NONE) {
        const struct key key = key_of(finder, reading->thread_id, 'j', thread_id);
        code = object_add(finder, &key, WEFT_LOCK_JOIN, WEFT_LOCK_BY_FUTEX, object, err);
        if (code == WEFT_OK)
            finder->objects.items[*object].thread_id = thread_id;
        return code;
    }
    code = word_of(finder, reading->thread_id, event->value, &word, err);
    if (code == WEFT_OK && !word->is_made)
        code = object_of_word(finder, reading->thread_id, event->value, word, err);
    *object = code == WEFT_OK ? word->object : WEFT_ID_NONE;
    return code;
}

static enum weft_code read_futex(struct reading *reading, const struct weft_event *event,
                                 struct weft_err *err)
{
    const bool is_wait = weft_futex_waits(event);
    struct weft_lock_point point = { .at_ns = event->time_ns,
                                     .site = reading->stack_ns == event->time_ns
                                                 ? reading->stack_site
                                                 : WEFT_ID_NONE,
                                     .kind = is_wait ? WEFT_LOCK_POINT_SLEEP : WEFT_LOCK_POINT_WAKE,
                                     .source = WEFT_LOCK_BY_FUTEX,
                                     .is_broadcast = weft_futex_wakes_all(event) };
    reading->is_asleep = false;
    if (!is_wait && !weft_futex_wakes(event))
        return WEFT_OK;
    enum weft_code code = object_of_futex(reading, event, &point.object, err);
    reading->is_asleep = is_wait;
    return code == WEFT_OK ? point_add(reading, &point, err) : code;
}

static enum weft_code read_awake(struct reading *reading, const struct weft_event *event,
                                 struct weft_err *err)
{
    const struct weft_lock_point point = { .at_ns = event->time_ns,
                                           .object = WEFT_ID_NONE,
                                           .site = WEFT_ID_NONE,
                                           .kind = WEFT_LOCK_POINT_AWAKE,
                                           .source = WEFT_LOCK_BY_FUTEX };
    if (!reading->is_asleep || !weft_event_is_futex(event->name))
        return WEFT_OK;
    reading->is_asleep = false;
    return point_add(reading, &point, err);
}

/* A stack of the very time of a point is where that happened. */
static enum weft_code read_stack(struct reading *reading, const struct weft_event *event,
                                 struct weft_err *err)
{
    const struct weft_str site = weft_lock_stack_site(event->name);
    struct weft_lock_points *points = reading->points;
    struct weft_lock_point *last = points->n ? &points->items[points->n - 1] : NULL;
    reading->stack_ns = event->time_ns;
    reading->stack_site = WEFT_ID_NONE;
    if (site.n_bytes == 0)
        return WEFT_OK;
    enum weft_code code =
        weft_strtab_intern(reading->finder->sites, site, &reading->stack_site, err);
    if (code == WEFT_OK && last && last->at_ns == event->time_ns && last->site == WEFT_ID_NONE &&
        last->source == WEFT_LOCK_BY_FUTEX)
        last->site = reading->stack_site;
    return code;
}

static enum weft_code read_events(struct reading *reading, uint32_t thread_id, struct weft_err *err)
{
    struct weft_lock_finder *finder = reading->finder;
    const uint32_t futexes = weft_lock_words_n(finder->words) == 0
                                 ? 0
                                 : KIND(SYSCALL_ENTER) | KIND(SYSCALL_EXIT) |
                                       (finder->span.without_sites ? 0 : KIND(SAMPLE));
    const struct weft_event *event = NULL;
    bool is_known;
    enum weft_code code =
        weft_lock_early_read(&finder->early, thread_id, reading->points, &is_known)
            ? WEFT_OK
            : weft_no_memory(err, "locks");
    if (code != WEFT_OK || is_known)
        return code;
    if (finder->events)
        weft_events_turn(finder->events, thread_id);
    else
        code = weft_events_open(finder->trace, thread_id, LOCK_KINDS | futexes,
                                finder->span.from_ns, finder->span.to_ns, &finder->events, err);
    reading->stack_ns = UINT64_MAX;
    while (code == WEFT_OK && (code = weft_events_next(finder->events, &event, err)) == WEFT_OK &&
           event) {
        if (event->kind == WEFT_EVENT_SAMPLE)
            code = read_stack(reading, event, err);
        else if (event->kind == WEFT_EVENT_SYSCALL_EXIT)
            code = read_awake(reading, event, err);
        else if (event->kind != WEFT_EVENT_SYSCALL_ENTER)
            code = read_lock(reading, event, err);
        else if (is_futex(event))
            code = read_futex(reading, event, err);
        else
            reading->is_asleep = false;
    }
    return code;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Which lock a call is of: its first argument says so. */
static enum weft_code object_of_call(struct weft_lock_finder *finder, uint32_t thread_id,
                                     const struct weft_walk_call *call, struct weft_lock_use use,
                                     enum weft_lock_source source, uint32_t *object,
                                     struct weft_err *err)
{
    struct weft_str name = { 0 };
    uint32_t text_id = 0;
    uint64_t address = call->n_args ? call->args[0] : 0;
    struct key key = key_of(finder, thread_id, 'u', 0);
    if (!address && call->n_arg_texts)
        name = weft_arguments_first(call->arg_texts[0]);
    if (address || weft_argument_address(name, &address)) {
        key = key_of(finder, thread_id, 'a', address);
    } else if (name.n_bytes) {
        WEFT_TRY(weft_strtab_intern(finder->texts, name, &text_id, err));
        key = key_of(finder, thread_id, 't', text_id);
    }
    key.kind = key.tag == 'a' ? 0 : use.kind;
    enum weft_code code = object_add(finder, &key, use.kind, source, object, err);
    if (code == WEFT_OK && key.tag == 't')
        finder->objects.items[*object].name = weft_strtab_get(finder->texts, text_id);
    return code;
}

static enum weft_code site_of(struct weft_lock_finder *finder, uint32_t function_id, uint32_t *site,
                              struct weft_err *err)
{
    uint32_t *known = &finder->function_sites[function_id];
    enum weft_code code = WEFT_OK;
    if (*known == WEFT_ID_NONE)
        code = weft_strtab_intern(
            finder->sites, weft_trace_function(finder->trace, function_id)->name, known, err);
    *site = *known;
    return code;
}

/* A new object at the address: what came before is another one's. */
static enum weft_code add_life(struct reading *reading, const struct weft_walk_call *call,
                               struct weft_lock_use use, struct weft_err *err)
{
    struct weft_lock_finder *finder = reading->finder;
    uint32_t object;
    enum weft_code code = object_of_call(finder, reading->thread_id, call, use,
                                         (enum weft_lock_source)0, &object, err);
    if (code != WEFT_OK || finder->objects.items[object].is_untold)
        return code;
    struct weft_lock_life *life = WEFT_ROOM_PUSH(&finder->lives);
    if (!life)
        return weft_no_memory(err, "locks");
    *life = (struct weft_lock_life){ call->start_ns + (use.role == WEFT_LOCK_UNMAKES), object };
    return WEFT_OK;
}

static bool is_used(struct weft_lock_use use, bool has_lock_events)
{
    const bool is_held = weft_lock_is_held(use.kind);
    return use.role != WEFT_LOCK_NO_ROLE && use.role != WEFT_LOCK_PASSES &&
           use.role != WEFT_LOCK_MAKES && use.role != WEFT_LOCK_UNMAKES &&
           !(is_held && has_lock_events);
}

/* Of a call that no function of the program encloses: what its arguments show. */
static enum weft_code told_site(struct weft_lock_finder *finder, const struct weft_walk_call *call,
                                uint32_t *site, struct weft_err *err)
{
    const struct weft_str caller =
        call->n_arg_texts ? weft_arguments_caller(call->arg_texts[0]) : (struct weft_str){ "", 0 };
    return caller.n_bytes && !finder->span.without_sites
               ? weft_strtab_intern(finder->sites, caller, site, err)
               : WEFT_OK;
}

/* Open calls of the program's own functions: not of locks, and not of the C++ library. */
static uint8_t own_depth(const struct weft_lock_finder *finder)
{
    static const char library[] = "std::";
    unsigned n = 0;
    for (size_t i = 0; i < finder->stack.n && n < UINT8_MAX; i++) {
        const struct open_call *open = &finder->stack.items[i];
        const struct weft_str name = weft_lock_finder_site(finder, open->site);
        n += open->use.role == WEFT_LOCK_NO_ROLE && name.n_bytes > 0 &&
             !(name.n_bytes >= sizeof library - 1 &&
               memcmp(name.bytes, library, sizeof library - 1) == 0);
    }
    return (uint8_t)n;
}

static enum weft_code enter_call(struct reading *reading, const struct weft_walk_call *call,
                                 struct weft_err *err)
{
    static const uint8_t kinds[] = { [WEFT_LOCK_ACQUIRES] = WEFT_LOCK_POINT_REQUEST,
                                     [WEFT_LOCK_RELEASES] = WEFT_LOCK_POINT_RELEASED,
                                     [WEFT_LOCK_WAITS] = WEFT_LOCK_POINT_SLEEP,
                                     [WEFT_LOCK_SIGNALS] = WEFT_LOCK_POINT_WAKE };
    struct weft_lock_finder *finder = reading->finder;
    const uint32_t caller_site =
        finder->stack.n ? finder->stack.items[finder->stack.n - 1].site : WEFT_ID_NONE;
    struct open_call open = { .site = caller_site,
                              .object = WEFT_ID_NONE,
                              .use = finder->uses[call->function_id] };
    enum weft_code code = WEFT_OK;
    if (open.use.role == WEFT_LOCK_NO_ROLE)
        code = site_of(finder, call->function_id, &open.site, err);
    else if (open.use.role == WEFT_LOCK_MAKES || open.use.role == WEFT_LOCK_UNMAKES)
        code = add_life(reading, call, open.use, err);
    if (!is_used(open.use, finder->has_lock_events))
        open.use.role = WEFT_LOCK_NO_ROLE;
    for (size_t i = 0; i < finder->stack.n; i++) /* a lock's own doings are not the program's */
        if (finder->stack.items[i].use.role != WEFT_LOCK_NO_ROLE)
            open.use.role = WEFT_LOCK_NO_ROLE;
    if (code == WEFT_OK && open.use.role != WEFT_LOCK_NO_ROLE && open.site == WEFT_ID_NONE)
        code = told_site(finder, call, &open.site, err);
    if (code == WEFT_OK && open.use.role != WEFT_LOCK_NO_ROLE)
        code = object_of_call(finder, reading->thread_id, call, open.use, WEFT_LOCK_BY_CALLS,
                              &open.object, err);
    struct open_call *place = code == WEFT_OK ? WEFT_ROOM_PUSH(&finder->stack) : NULL;
    if (!place)
        return code == WEFT_OK ? weft_no_memory(err, "locks") : code;
    *place = open;
    if (open.use.role == WEFT_LOCK_NO_ROLE)
        return WEFT_OK;
    const struct weft_lock_point point = { .at_ns = call->start_ns,
                                           .object = open.object,
                                           .site = open.site,
                                           .kind = kinds[open.use.role],
                                           .source = WEFT_LOCK_BY_CALLS,
                                           .is_shared = open.use.is_shared,
                                           .is_broadcast = open.use.is_broadcast,
                                           .depth = open.use.role == WEFT_LOCK_WAITS
                                                        ? own_depth(finder)
                                                        : 0 };
    return point_add(reading, &point, err);
}

static enum weft_code leave_call(struct reading *reading, const struct weft_walk_call *call,
                                 struct weft_err *err)
{
    struct weft_lock_finder *finder = reading->finder;
    const struct open_call open = finder->stack.items[--finder->stack.n];
    const bool acquires = open.use.role == WEFT_LOCK_ACQUIRES;
    const struct weft_lock_point point = { .at_ns = call->end_ns,
                                           .object = open.object,
                                           .site = open.site,
                                           .kind = acquires ? WEFT_LOCK_POINT_ACQUIRED
                                                            : WEFT_LOCK_POINT_AWAKE,
                                           .source = WEFT_LOCK_BY_CALLS,
                                           .is_shared = open.use.is_shared };
    if ((!acquires && open.use.role != WEFT_LOCK_WAITS) || call->flags & WEFT_CALL_CUT_END)
        return WEFT_OK;
    return point_add(reading, &point, err);
}

/* Reads calls, and sets the sites of the first `n_points`, in order of time. */
static enum weft_code read_calls(struct reading *reading, uint32_t thread_id, struct weft_err *err)
{
    struct weft_lock_finder *finder = reading->finder;
    const struct weft_walk_opts opts = { .window = { finder->span.from_ns, finder->span.to_ns },
                                         .with_args = finder->has_lock_calls };
    const size_t n_points = reading->points->n;
    struct weft_walk *walk = NULL;
    struct weft_walk_call call;
    enum weft_step step = WEFT_STEP_ENTER;
    size_t at = 0;
    finder->stack.n = 0;
    enum weft_code code = weft_walk_open(finder->trace, thread_id, &opts, &walk, err);
    while (code == WEFT_OK && (code = weft_walk_next(walk, &step, &call, err)) == WEFT_OK &&
           step != WEFT_STEP_END) {
        const uint64_t now_ns = step == WEFT_STEP_ENTER ? call.start_ns : call.end_ns + 1;
        for (; at < n_points && reading->points->items[at].at_ns < now_ns; at++)
            if (finder->stack.n && finder->stack.items[finder->stack.n - 1].site != WEFT_ID_NONE)
                reading->points->items[at].site = finder->stack.items[finder->stack.n - 1].site;
        code = step == WEFT_STEP_ENTER ? enter_call(reading, &call, err)
                                       : leave_call(reading, &call, err);
    }
    weft_walk_close(walk);
    return code;
}

enum weft_code weft_lock_finder_read(struct weft_lock_finder *finder, uint32_t thread_id,
                                     struct weft_lock_points *points, struct weft_err *err)
{
    struct reading reading = { .finder = finder, .points = points, .thread_id = thread_id };
    enum weft_code code = WEFT_OK;
    uint32_t id = thread_id;
    points->n = 0;
    if (!is_asked_for(finder, thread_id))
        return WEFT_OK;
    do {
        if (finder->has_points[id])
            code = read_events(&reading, id, err);
        id = finder->twins->next[id];
    } while (code == WEFT_OK && id != thread_id);
    weft_lock_points_sort(points);
    do {
        const struct weft_model_thread *thread = weft_trace_thread(finder->trace, id);
        if (code == WEFT_OK && thread->calls + thread->cut_calls > 0 &&
            (finder->has_lock_calls ||
             (points->n && !finder->span.without_sites && !finder->span.without_calls)))
            code = read_calls(&reading, id, err);
        id = finder->twins->next[id];
    } while (code == WEFT_OK && id != thread_id);
    weft_lock_points_sort(points);
    return code;
}
