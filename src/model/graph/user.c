/* SPDX-License-Identifier: MIT
 *
 * States of a part of a thread - a block of calls, or two - come from its spans (spans.h), which
 * are at hand while the walk of the path stays there; locks and what calls were asked for are
 * added.
 */
#include "model/graph/user.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/calls/walk.h"
#include "model/events.h"
#include "model/graph/ends.h"
#include "model/graph/spans.h"
#include "model/graph/wait_arguments.h"
#include "model/graph/waiting.h"
#include "model/states/thread_ends.h"

#include <stdlib.h>

enum { KEPT_PARTS = 2 * 64, LIST_SHARE = 8 };

/* In shorter waits for descriptors it is not worth it to look for what ended them. */
#define LONG_WAIT_NS UINT64_C(10000)

/* So far the clock of calls may be from that of the kernel. */
#define CLOCKS_APART_NS UINT64_C(1000)

/* A lock that was asked for, and had to be released first. */
struct lock_wait {
    uint64_t start_ns, end_ns, key;
};

/* Blocks as a whole. */
struct piece {
    const struct weft_graph_spans *spans; /* NULL: none */
    struct weft_graph_spans *own;         /* the same, if they are not kept for all */
    struct weft_wait_arguments arguments; /* by call of the spans */
    size_t near;                          /* where it was asked last: a path goes step by step */
};

struct part {
    uint64_t from_ns, to_ns;  /* the interval that is covered */
    struct piece now, before; /* paths around the begin of a block go to and fro */
    struct {
        struct lock_wait *items;
        size_t n, cap;
    } locks; /* of the whole interval */
    uint64_t last_use;
    size_t lock_near; /* likewise */
    bool has_locks;
};

struct weft_graph_user {
    const struct weft_trace *trace;
    uint64_t from_ns, to_ns, memory_bytes;
    struct weft_graph_sources released; /* of locks */
    struct weft_events *lock_events;    /* threads may share what is decoded */
    struct weft_graph_ends ends;
    struct part **parts; /* by thread; NULL: not asked for */
    uint32_t *kept;      /* threads with parts */
    size_t n_kept;
    uint64_t n_uses;
    struct weft_graph_known *known;     /* that it shares with others, or its own */
    struct weft_graph_known *own_known; /* NULL: it is not its own */
    struct weft_graph_spans_room room;
};

enum weft_code weft_graph_user_open(const struct weft_trace *trace, struct weft_graph_known *known,
                                    uint64_t from_ns, uint64_t to_ns, uint64_t memory_bytes,
                                    struct weft_graph_user **user, struct weft_err *err)
{
    struct weft_graph_user *made = calloc(1, sizeof *made);
    *user = made;
    if (!made)
        return weft_no_memory(err, "states of threads");
    made->trace = trace;
    made->from_ns = from_ns;
    made->to_ns = to_ns;
    made->memory_bytes = memory_bytes;
    made->parts = calloc((size_t)weft_trace_n_threads(trace) + 1, sizeof(struct part *));
    made->kept = calloc(KEPT_PARTS, sizeof *made->kept);
    if (!known)
        made->own_known = known = weft_graph_known_new(trace, memory_bytes / LIST_SHARE);
    made->known = known;
    return made->parts && made->kept && made->known ? WEFT_OK
                                                    : weft_no_memory(err, "states of threads");
}

void weft_graph_user_window(struct weft_graph_user *user, uint64_t from_ns, uint64_t to_ns)
{
    user->from_ns = from_ns;
    user->to_ns = to_ns;
    weft_graph_sources_fini(&user->released);
    weft_events_close(user->lock_events);
    user->lock_events = NULL;
    weft_graph_ends_fini(&user->ends);
    for (size_t i = 0; i < user->n_kept; i++) {
        struct part *part = user->parts[user->kept[i]];
        part->from_ns = part->to_ns = 0;
        part->locks.n = 0;
        part->has_locks = false;
    }
}

static void piece_fini(struct piece *piece)
{
    weft_graph_spans_free(piece->own);
    weft_wait_arguments_fini(&piece->arguments);
}

static void part_free(struct part *part)
{
    if (!part)
        return;
    piece_fini(&part->now);
    piece_fini(&part->before);
    WEFT_VEC_FINI(&part->locks);
    free(part);
}

void weft_graph_user_close(struct weft_graph_user *user)
{
    if (!user)
        return;
    for (size_t i = 0; i < user->n_kept; i++)
        part_free(user->parts[user->kept[i]]);
    weft_graph_sources_fini(&user->released);
    weft_events_close(user->lock_events);
    weft_graph_ends_fini(&user->ends);
    free(user->parts);
    free(user->kept);
    weft_graph_spans_room_fini(&user->room);
    weft_graph_known_free(user->own_known);
    free(user);
}

static bool has_kind(const struct weft_graph_user *user, enum weft_event_kind kind)
{
    return weft_trace_meta(user->trace)->events_of_kind[kind] > 0;
}

/* ---- a part of a thread ---------------------------------------------------------------------- */

/* Forgets the part that was not used for longest. */
static void make_room(struct weft_graph_user *user)
{
    size_t oldest = 0;
    for (size_t i = 1; i < user->n_kept; i++)
        if (user->parts[user->kept[i]]->last_use < user->parts[user->kept[oldest]]->last_use)
            oldest = i;
    part_free(user->parts[user->kept[oldest]]);
    user->parts[user->kept[oldest]] = NULL;
    user->kept[oldest] = user->kept[--user->n_kept];
}

static struct part *part_of(struct weft_graph_user *user, uint32_t thread_id)
{
    struct part *part = user->parts[thread_id];
    if (!part) {
        if (user->n_kept == KEPT_PARTS)
            make_room(user);
        part = user->parts[thread_id] = calloc(1, sizeof *part);
        if (part)
            user->kept[user->n_kept++] = thread_id;
    }
    if (part)
        part->last_use = ++user->n_uses;
    return part;
}

/* A wait counts if another thread released the lock meanwhile: else it was free. */
static enum weft_code add_lock(struct weft_graph_user *user, struct part *part, uint32_t thread_id,
                               const struct lock_wait *wait, struct weft_err *err)
{
    if (!weft_graph_sources_find(&user->released, wait->key, wait->start_ns, wait->end_ns,
                                 thread_id))
        return WEFT_OK;
    struct lock_wait *kept = WEFT_VEC_PUSH(&part->locks);
    if (!kept)
        return weft_no_memory(err, "states of threads");
    *kept = *wait;
    return WEFT_OK;
}

/* A request without an end, on a lock that no event of the thread follows: it waits for it until
 * the thread ends, if that is not beyond what the path reads. */
static enum weft_code add_open(struct weft_graph_user *user, struct part *part, uint32_t thread_id,
                               struct lock_wait *wait, struct weft_err *err)
{
    struct weft_thread_ends ends = weft_thread_ends_of(user->trace, NULL);
    const enum weft_code code =
        weft_thread_ends_find(&ends, thread_id, wait->start_ns, &wait->end_ns, err);
    if (code != WEFT_OK || wait->end_ns > user->to_ns || wait->end_ns == wait->start_ns)
        return code;
    struct lock_wait *kept = WEFT_VEC_PUSH(&part->locks);
    if (!kept)
        return weft_no_memory(err, "states of threads");
    *kept = *wait;
    return WEFT_OK;
}

/* Waits of one thread for locks do not overlap: the last request before an acquisition counts. */
static enum weft_code read_locks(struct weft_graph_user *user, struct part *part,
                                 uint32_t thread_id, struct weft_err *err)
{
    const struct weft_event *event = NULL;
    struct lock_wait wait = { 0 };
    bool is_open = false;
    enum weft_code code;
    while ((code = weft_events_next(user->lock_events, &event, err)) == WEFT_OK && event) {
        const uint64_t key = weft_graph_key(event);
        if (event->kind == WEFT_EVENT_LOCK_REQUEST) {
            wait = (struct lock_wait){ .start_ns = event->time_ns, .key = key };
            is_open = true;
        } else if (is_open && wait.key == key) {
            wait.end_ns = event->time_ns;
            is_open = false;
            code = add_lock(user, part, thread_id, &wait, err);
            if (code != WEFT_OK)
                return code;
        }
    }
    return code == WEFT_OK && is_open ? add_open(user, part, thread_id, &wait, err) : code;
}

static enum weft_code find_locks(struct weft_graph_user *user, struct part *part,
                                 uint32_t thread_id, struct weft_err *err)
{
    const uint32_t kinds = UINT32_C(1) << WEFT_EVENT_LOCK_REQUEST |
                           UINT32_C(1) << WEFT_EVENT_LOCK_ACQUIRED |
                           UINT32_C(1) << WEFT_EVENT_LOCK_FAILED;
    part->has_locks = true;
    if (!has_kind(user, WEFT_EVENT_LOCK_ACQUIRED) && !has_kind(user, WEFT_EVENT_LOCK_REQUEST) &&
        !has_kind(user, WEFT_EVENT_LOCK_FAILED))
        return WEFT_OK;
    enum weft_code code = weft_graph_sources_make_asked(user->trace, WEFT_EVENT_LOCK_RELEASED,
                                                        WEFT_EVENT_LOCK_REQUEST, user->from_ns,
                                                        user->to_ns, &user->released, err);
    if (code == WEFT_OK && !user->lock_events)
        code = weft_events_open(user->trace, thread_id, kinds, user->from_ns,
                                weft_add_sat_u64(user->to_ns, 1), &user->lock_events, err);
    if (code != WEFT_OK)
        return code;
    weft_events_turn(user->lock_events, thread_id);
    return read_locks(user, part, thread_id, err);
}

/* How many blocks begin before `at_ns`. */
static uint64_t blocks_before(const struct weft_graph_user *user, uint32_t thread_id,
                              uint64_t at_ns)
{
    struct weft_store *store = weft_trace_store(user->trace);
    uint64_t low;
    WEFT_SEARCH(low, weft_store_thread_get(store, thread_id)->n_blocks,
                weft_store_block_get(store, thread_id, low)->first_ns < at_ns);
    return low;
}

/* The block that holds the last call entered before `at_ns`, of `n`, or one before that. */
static uint64_t find_first(uint64_t n, uint64_t n_back)
{
    return n > 1 + n_back ? n - 1 - n_back : 0;
}

static enum weft_code read_part(struct weft_graph_user *user, struct part *part, uint32_t thread_id,
                                uint64_t first, uint64_t end, struct weft_err *err)
{
    weft_graph_spans_free(part->now.own);
    part->now.spans = part->now.own = NULL;
    weft_wait_arguments_forget(&part->now.arguments);
    return weft_graph_spans_of(user->known, thread_id, first, end, &user->room, &part->now.spans,
                               &part->now.own, err);
}

static bool has_all(const struct piece *piece, uint64_t from_ns, uint64_t to_ns)
{
    return piece->spans && piece->spans->from_ns <= from_ns && to_ns <= piece->spans->to_ns;
}

/* Makes the part cover time from the begin of block `first` to at_ns, before which the last of the
 * blocks up to `end` begins. Blocks are read as a whole, and stay: executions that end later, and
 * those of later parts of the trace, ask for the same ones. */
static enum weft_code make_part(struct weft_graph_user *user, struct part *part, uint32_t thread_id,
                                uint64_t first, uint64_t end, uint64_t at_ns, struct weft_err *err)
{
    const uint64_t from_ns =
        first ? weft_store_block_get(weft_trace_store(user->trace), thread_id, first)->first_ns : 0;
    if (!has_all(&part->now, from_ns, at_ns)) {
        const struct piece now = part->now;
        part->now = part->before;
        part->before = now;
    }
    const enum weft_code code = has_all(&part->now, from_ns, at_ns)
                                    ? WEFT_OK
                                    : read_part(user, part, thread_id, first, end, err);
    part->from_ns = code == WEFT_OK ? from_ns : 0;
    part->to_ns = code == WEFT_OK ? at_ns : 0;
    return code;
}

/* ---- states ---------------------------------------------------------------------------------- */

static const struct weft_graph_span *spans_of(const struct part *part)
{
    return part->now.spans->spans.items;
}

/* The span in which the instant before at_ns lies. */
static size_t find_span(struct part *part, uint64_t at_ns)
{
    size_t low;
    WEFT_SEARCH_NEAR(low, part->now.spans->spans.n, part->now.near,
                     spans_of(part)[low].start_ns < at_ns);
    part->now.near = low;
    return low - 1;
}

static uint64_t start_of(const struct part *part, const struct weft_graph_span *span)
{
    return span->start_ns > part->from_ns ? span->start_ns : part->from_ns;
}

static uint64_t end_of(const struct part *part, size_t span)
{
    return span + 1 < part->now.spans->spans.n && spans_of(part)[span + 1].start_ns < part->to_ns
               ? spans_of(part)[span + 1].start_ns
               : part->to_ns;
}

static bool is_inside(const struct part *part, uint64_t at_ns)
{
    return part->from_ns < at_ns && at_ns <= part->to_ns;
}

/* The part that holds the instant before at_ns, with the begin of its state if that waits. */
static enum weft_code need_part(struct weft_graph_user *user, struct part *part, uint32_t thread_id,
                                uint64_t at_ns, struct weft_err *err)
{
    if (is_inside(part, at_ns)) {
        const struct weft_graph_span *span = &spans_of(part)[find_span(part, at_ns)];
        if (span->start_ns > part->from_ns || part->from_ns == 0 ||
            !(span->is_wait || span->is_gap))
            return WEFT_OK;
    }
    const uint64_t end = blocks_before(user, thread_id, at_ns);
    for (uint64_t n_back = 0;; n_back++) {
        const uint64_t first = find_first(end, n_back);
        const enum weft_code code = make_part(user, part, thread_id, first, end, at_ns, err);
        if (code != WEFT_OK || part->from_ns == 0)
            return code;
        const struct weft_graph_span *span = &spans_of(part)[find_span(part, at_ns)];
        if (span->start_ns > part->from_ns || !(span->is_wait || span->is_gap))
            return WEFT_OK;
    }
}

/* The wait for a lock in which the instant before at_ns lies; else the time since the last one and
 * until the next one. */
static const struct lock_wait *find_lock(struct part *part, uint64_t at_ns, uint64_t *start_ns,
                                         uint64_t *end_ns)
{
    size_t low;
    WEFT_SEARCH_NEAR(low, part->locks.n, part->lock_near, part->locks.items[low].start_ns < at_ns);
    part->lock_near = low;
    if (low < part->locks.n && part->locks.items[low].start_ns < *end_ns)
        *end_ns = part->locks.items[low].start_ns;
    const struct lock_wait *wait = low > 0 ? &part->locks.items[low - 1] : NULL;
    if (wait && wait->end_ns >= at_ns)
        return wait;
    if (wait && wait->end_ns > *start_ns)
        *start_ns = wait->end_ns;
    return NULL;
}

static void tell_span(const struct weft_model_thread *thread, struct part *part, uint64_t at_ns,
                      struct weft_graph_state *state)
{
    const size_t place = find_span(part, at_ns);
    const struct weft_graph_span *span = &spans_of(part)[place];
    state->start_ns = start_of(part, span);
    state->end_ns = end_of(part, place) < at_ns ? end_of(part, place) : at_ns;
    state->state = span->is_wait ? WEFT_PATH_BLOCKED : WEFT_PATH_RUNNING;
    if (span->is_wait)
        state->reason = WEFT_PATH_WAKER_UNKNOWN;
    if (!span->is_gap)
        return;
    state->state = WEFT_PATH_BLOCKED;
    state->reason = WEFT_PATH_TASK;
    if (at_ns > thread->last_ns || state->end_ns <= thread->first_ns) { /* it is not alive */
        state->state = WEFT_PATH_UNKNOWN;
        state->reason = WEFT_PATH_NO_REASON;
        if (at_ns > thread->last_ns)
            state->start_ns = state->start_ns > thread->last_ns ? state->start_ns : thread->last_ns;
    }
}

enum weft_code weft_graph_user_before(struct weft_graph_user *user, uint32_t thread_id,
                                      uint64_t at_ns, struct weft_graph_state *state,
                                      struct weft_err *err)
{
    const struct weft_model_thread *thread = weft_trace_thread(user->trace, thread_id);
    struct part *part = part_of(user, thread_id);
    *state = (struct weft_graph_state){ .cpu = -1, .waker_thread_id = WEFT_ID_NONE };
    if (!part)
        return weft_no_memory(err, "states of threads");
    enum weft_code code = part->has_locks ? WEFT_OK : find_locks(user, part, thread_id, err);
    WEFT_THEN(code, need_part(user, part, thread_id, at_ns, err));
    if (code != WEFT_OK)
        return code;
    tell_span(thread, part, at_ns, state);
    const struct lock_wait *lock = find_lock(part, at_ns, &state->start_ns, &state->end_ns);
    if (lock)
        *state = (struct weft_graph_state){ .start_ns = lock->start_ns,
                                            .end_ns = lock->end_ns,
                                            .state = WEFT_PATH_BLOCKED,
                                            .reason = WEFT_PATH_LOCK,
                                            .cpu = -1,
                                            .waker_thread_id = WEFT_ID_NONE };
    return WEFT_OK;
}

/* ---- what ended a wait ----------------------------------------------------------------------- */

static void cause_of_lock(struct weft_graph_user *user, uint32_t thread_id,
                          const struct weft_graph_state *state, struct weft_graph_edge *edge)
{
    uint64_t start_ns = 0, end_ns = UINT64_MAX;
    const struct lock_wait *wait =
        find_lock(user->parts[thread_id], state->end_ns, &start_ns, &end_ns);
    const struct weft_graph_source *source =
        wait ? weft_graph_sources_find(&user->released, wait->key, wait->start_ns, wait->end_ns,
                                       thread_id)
             : NULL;
    if (source)
        *edge = (struct weft_graph_edge){ .from_ns = source->at_ns,
                                          .to_ns = wait->end_ns,
                                          .from_thread_id = source->thread_id,
                                          .kind = WEFT_PATH_RELEASE };
}

/* The call that says what the wait is for, or NULL; of the state that was last returned for the
 * thread.
 */
static const struct weft_wait_call *call_of(struct weft_graph_user *user, uint32_t thread_id,
                                            const struct weft_graph_state *state,
                                            enum weft_wait_for *what)
{
    struct part *part = user->parts[thread_id];
    size_t place;
    *what = WEFT_WAITS_FOR_ANY;
    if (!part || !is_inside(part, state->end_ns))
        return NULL;
    const struct weft_graph_span *span = &spans_of(part)[find_span(part, state->end_ns)];
    WEFT_SEARCH(place, part->now.spans->calls.n,
                part->now.spans->calls.items[place].span_ns < span->start_ns);
    if (!span->is_wait || place == part->now.spans->calls.n ||
        part->now.spans->calls.items[place].span_ns != span->start_ns)
        return NULL;
    *what = (enum weft_wait_for)span->for_what;
    return &part->now.spans->calls.items[place];
}

/* Drops what was read for other parts, if all of it takes too much: it can be read again. */
static void bound_arguments(const struct weft_graph_user *user, const struct piece *but)
{
    uint64_t n_bytes = 0;
    struct piece *pieces[2 * KEPT_PARTS];
    const size_t n = 2 * user->n_kept;
    for (size_t i = 0; i < n; i++) {
        struct part *part = user->parts[user->kept[i / 2]];
        pieces[i] = i % 2 ? &part->before : &part->now;
        n_bytes += weft_wait_arguments_bytes(&pieces[i]->arguments);
    }
    if (user->memory_bytes == 0 || n_bytes <= user->memory_bytes / LIST_SHARE)
        return;
    for (size_t i = 0; i < n; i++)
        if (pieces[i] != but)
            weft_wait_arguments_fini(&pieces[i]->arguments);
}

/* What the arguments of the call show, and the objects that it names. */
static enum weft_code read_arguments(const struct weft_graph_user *user, uint32_t thread_id,
                                     const struct weft_wait_call *call, struct weft_waited *waited,
                                     const uint64_t **objects, struct weft_err *err)
{
    struct piece *piece = &user->parts[thread_id]->now;
    *waited = (struct weft_waited){ 0 };
    const bool is_read = piece->arguments.is_read;
    const enum weft_code code =
        weft_wait_arguments_need(&piece->arguments, user->trace, thread_id,
                                 piece->spans->calls.items, piece->spans->calls.n, err);
    if (code == WEFT_OK)
        *waited = piece->arguments.calls[call - piece->spans->calls.items];
    if (!is_read)
        bound_arguments(user, piece);
    *objects = waited->n_objects ? piece->arguments.objects.items + waited->first : NULL;
    return code;
}

/* The end of the thread that is joined. */
static enum weft_code cause_of_join(struct weft_graph_user *user, uint32_t thread_id,
                                    const struct weft_graph_state *state,
                                    const struct weft_wait_call *call, struct weft_graph_edge *edge,
                                    struct weft_err *err)
{
    struct weft_waited waited;
    const uint64_t *objects;
    enum weft_code code = weft_graph_ends_handles(&user->ends, user->trace, user->to_ns, err);
    WEFT_THEN(code, read_arguments(user, thread_id, call, &waited, &objects, err));
    if (code != WEFT_OK || waited.n_objects == 0)
        return code;
    const uint32_t joined = weft_graph_ends_thread(
        &user->ends, &weft_trace_thread(user->trace, thread_id)->info, objects[0], state->end_ns);
    if (joined == WEFT_ID_NONE || joined == thread_id)
        return WEFT_OK;
    const uint64_t last_ns = weft_trace_thread(user->trace, joined)->last_ns;
    if (last_ns > state->start_ns)
        *edge =
            (struct weft_graph_edge){ .from_ns = last_ns < state->end_ns ? last_ns : state->end_ns,
                                      .to_ns = state->end_ns,
                                      .from_thread_id = joined,
                                      .kind = WEFT_PATH_END };
    return WEFT_OK;
}

/* The first thread that made one of the descriptors ready. */
static enum weft_code cause_of_ready(struct weft_graph_user *user, uint32_t thread_id,
                                     const struct weft_graph_state *state,
                                     const struct weft_wait_call *call,
                                     struct weft_graph_edge *edge, struct weft_err *err)
{
    struct weft_waited waited;
    const uint64_t *objects;
    const struct weft_graph_ready *first = NULL;
    enum weft_code code =
        weft_graph_ends_points(&user->ends, user->trace, user->from_ns, user->to_ns, err);
    if (code != WEFT_OK || user->ends.ready.n == 0)
        return code;
    code = read_arguments(user, thread_id, call, &waited, &objects, err);
    for (size_t i = 0; code == WEFT_OK && i < waited.n_objects; i++) {
        const struct weft_graph_ready *ready =
            weft_graph_ends_ready(&user->ends, &weft_trace_thread(user->trace, thread_id)->info,
                                  thread_id, objects[i], state->start_ns, state->end_ns);
        if (ready && (!first || ready->at_ns < first->at_ns))
            first = ready;
    }
    if (first)
        *edge = (struct weft_graph_edge){ .from_ns = first->at_ns,
                                          .to_ns = state->end_ns,
                                          .from_thread_id = first->thread_id,
                                          .kind = WEFT_PATH_FLOW,
                                          .is_uncertain = true };
    return code;
}

enum weft_code weft_graph_user_cause(struct weft_graph_user *user, uint32_t thread_id,
                                     struct weft_graph_state *state, struct weft_graph_edge *edge,
                                     struct weft_err *err)
{
    enum weft_wait_for what;
    enum weft_code code = WEFT_OK;
    if (state->reason == WEFT_PATH_LOCK)
        cause_of_lock(user, thread_id, state, edge);
    if (state->reason != WEFT_PATH_WAKER_UNKNOWN || state->end_ns - state->start_ns < LONG_WAIT_NS)
        return WEFT_OK;
    const struct weft_wait_call *call = call_of(user, thread_id, state, &what);
    if (call && what == WEFT_WAITS_FOR_THREAD)
        code = cause_of_join(user, thread_id, state, call, edge, err);
    else if (call && what != WEFT_WAITS_FOR_TIMER && what != WEFT_WAITS_FOR_OUTPUT)
        code = cause_of_ready(user, thread_id, state, call, edge, err);
    if (code == WEFT_OK && weft_graph_has_source(edge))
        state->reason = WEFT_PATH_THREAD;
    return code;
}

/* ---- reasons of waits whose end is unexplained ----------------------------------------------- */

/* The wait is a call that was for a file. */
static bool is_of_file(const struct weft_graph_user *user, uint32_t thread_id,
                       const struct weft_graph_state *state)
{
    const struct weft_graph_ends *ends = &user->ends;
    for (size_t i = weft_graph_ends_file(ends, state->end_ns);
         i < ends->files.n && ends->files.items[i].start_ns < state->end_ns; i++)
        if (ends->files.items[i].thread_id == thread_id &&
            ends->files.items[i].end_ns == state->end_ns)
            return true;
    return false;
}

static enum weft_code name_ready(const struct weft_graph_user *user, uint32_t thread_id,
                                 const struct weft_wait_call *call, struct weft_graph_state *state,
                                 struct weft_err *err)
{
    struct weft_waited waited;
    const uint64_t *objects;
    const enum weft_code code = read_arguments(user, thread_id, call, &waited, &objects, err);
    state->name = weft_trace_function(user->trace, call->function_id)->name;
    state->reason = waited.is_timed_out ? WEFT_PATH_TIMER : WEFT_PATH_CALL;
    state->is_uncertain |= !waited.is_timed_out;
    state->is_timed_out = waited.is_timed_out;
    if (waited.is_timed_out)
        state->name = weft_timed_out_name(state->name);
    return code;
}

static enum weft_code name_io(struct weft_graph_user *user, uint32_t thread_id,
                              const struct weft_wait_call *call, struct weft_graph_state *state,
                              struct weft_err *err)
{
    const enum weft_code code =
        weft_graph_ends_points(&user->ends, user->trace, user->from_ns, user->to_ns, err);
    state->name = weft_trace_function(user->trace, call->function_id)->name;
    state->reason = weft_is_sync_name(state->name) || is_of_file(user, thread_id, state)
                        ? WEFT_PATH_BLOCK_DEVICE
                        : WEFT_PATH_CALL;
    state->is_uncertain = true; /* it may also have been without a CPU */
    return code;
}

enum weft_code weft_graph_user_reason(struct weft_graph_user *user, uint32_t thread_id,
                                      struct weft_graph_state *state, struct weft_err *err)
{
    enum weft_wait_for what;
    const struct weft_wait_call *call = call_of(user, thread_id, state, &what);
    if (!call)
        return WEFT_OK;
    switch (what) {
    case WEFT_WAITS_FOR_TIMER:
        state->reason = WEFT_PATH_TIMER;
        return WEFT_OK;
    case WEFT_WAITS_FOR_NETWORK:
        state->reason = WEFT_PATH_NETWORK;
        return WEFT_OK;
    case WEFT_WAITS_FOR_READY:
        return name_ready(user, thread_id, call, state, err);
    case WEFT_WAITS_FOR_INPUT:
    case WEFT_WAITS_FOR_OUTPUT:
        return name_io(user, thread_id, call, state, err);
    default:
        return WEFT_OK;
    }
}

enum weft_code weft_graph_user_sharers(struct weft_graph_user *user, uint32_t thread_id,
                                       uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                       void *context, struct weft_err *err)
{
    enum weft_code code =
        weft_graph_ends_points(&user->ends, user->trace, user->from_ns, user->to_ns, err);
    const struct weft_graph_ends *ends = &user->ends;
    for (size_t i = weft_graph_ends_file(ends, from_ns);
         code == WEFT_OK && i < ends->files.n && ends->files.items[i].start_ns < to_ns; i++) {
        const struct weft_graph_file *file = &ends->files.items[i];
        const uint64_t start_ns = file->start_ns > from_ns ? file->start_ns : from_ns;
        const uint64_t end_ns = file->end_ns < to_ns ? file->end_ns : to_ns;
        if (file->thread_id != thread_id && start_ns < end_ns &&
            file->end_ns - end_ns <= WEFT_GRAPH_BESIDE_NS)
            code = see(context, file->thread_id, start_ns, end_ns, err);
    }
    return code;
}

enum weft_code weft_graph_user_sends(struct weft_graph_user *user, uint32_t thread_id,
                                     uint64_t at_ns, bool *sends, struct weft_err *err)
{
    const struct weft_walk_opts opts = {
        .window = { .from_ns = at_ns - (at_ns < CLOCKS_APART_NS ? at_ns : CLOCKS_APART_NS),
                    .to_ns = weft_add_sat_u64(at_ns, CLOCKS_APART_NS) }
    };
    struct weft_walk *walk = NULL;
    struct weft_walk_call call;
    enum weft_step step = WEFT_STEP_ENTER;
    *sends = false;
    if (weft_trace_thread(user->trace, thread_id)->calls == 0)
        return WEFT_OK;
    enum weft_code code = weft_walk_open(user->trace, thread_id, &opts, &walk, err);
    while (code == WEFT_OK && !*sends &&
           (code = weft_walk_next(walk, &step, &call, err)) == WEFT_OK && step != WEFT_STEP_END)
        *sends = step == WEFT_STEP_ENTER &&
                 weft_is_sending_name(weft_trace_function(user->trace, call.function_id)->name);
    weft_walk_close(walk);
    return code;
}
