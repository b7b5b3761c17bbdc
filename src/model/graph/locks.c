/* SPDX-License-Identifier: MIT
 *
 * A decorator: every operation goes to the inner graph, and only `cause` adds to its answer.
 * Operations on locks are read for each process when its first possible lock wait appears; each
 * further reading at least doubles how far it reaches back, up to 2 s, except that a lock still
 * awaited at the end of the trace has everything read to find its holder. Nothing is read where the
 * operations of the whole trace are given.
 */
#include "model/graph/locks.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/locks/names.h"

#include <stdlib.h>
#include <string.h>

/* A lock is asked for so long before its thread sleeps, at most; and waits that begin so long
 * before the path are looked for. */
#define MARGIN_NS UINT64_C(1000000)

/* From the end of a wait in the kernel to that of its call, as a rule. */
#define AWAKE_NS UINT64_C(2000000)

/* From the wakeup of a thread that is killed to its end, at most. */
#define DYING_NS UINT64_C(1000000000)
#define MOST_BACK_NS UINT64_C(2000000000)

enum { KEY_NAME_BYTES = 128, PART_BEFORE = 32 };

/* Locks of a process that the path came to; threads of others have nothing to do with them. */
struct process {
    uint64_t pid; /* 0: of all threads, as this one's process is unknown */
    uint32_t host_id;
    const struct weft_locks *locks; /* NULL: not read */
    struct weft_locks *own;         /* the same, but for those of the whole trace */
    uint64_t read_ns;               /* they are read from here */
    bool is_tried, has_failed;
};

struct locks_graph {
    struct weft_graph graph; /* first */
    const struct weft_trace *trace;
    struct weft_graph *inner;
    const struct weft_locks *whole; /* NULL: not given */
    uint64_t from_ns, to_ns, memory_bytes;
    struct {
        struct process *items;
        size_t n, cap;
    } processes;
    struct weft_strtab *keys, *names; /* of objects, by number */
    struct {
        struct weft_lock_object *items;
        size_t n, cap;
    } objects; /* of edges: they stay when locks are read again */
};

static struct locks_graph *of(struct weft_graph *graph)
{
    return (struct locks_graph *)graph;
}

/* ---- what is known of locks ------------------------------------------------------------------ */

/* Whether anything in the trace may be evidence of locks. */
static bool may_tell(const struct weft_trace *trace)
{
    const uint64_t *n = weft_trace_meta(trace)->events_of_kind;
    if (n[WEFT_EVENT_LOCK_REQUEST] || n[WEFT_EVENT_LOCK_ACQUIRED] || n[WEFT_EVENT_LOCK_RELEASED] ||
        n[WEFT_EVENT_LOCK_FAILED] || n[WEFT_EVENT_SYSCALL_ENTER])
        return true;
    for (uint32_t id = 0; id < weft_trace_n_functions(trace); id++) {
        const uint8_t role = weft_lock_use_of(weft_trace_function(trace, id)->name).role;
        if (role != WEFT_LOCK_NO_ROLE && role != WEFT_LOCK_PASSES)
            return true;
    }
    return false;
}

/* More operations than memory admits: then the path does without their names. */
static enum weft_code read_from(struct locks_graph *graph, struct process *process,
                                uint64_t from_ns, struct weft_err *err)
{
    const struct weft_locks_span span = {
        .from_ns = from_ns,
        .to_ns = weft_add_sat_u64(graph->to_ns, 1),
        .pid = process->pid,
        .host_id = process->host_id,
        .without_sites = true,
    };
    weft_locks_close(process->own);
    process->own = NULL;
    process->read_ns = from_ns;
    enum weft_code code =
        weft_locks_open(graph->trace, &span, graph->memory_bytes, &process->own, err);
    process->locks = process->own;
    if (code == WEFT_OK)
        return WEFT_OK;
    weft_locks_close(process->own);
    process->locks = process->own = NULL;
    process->has_failed = true;
    if (code != WEFT_E_LIMIT)
        return code;
    if (err)
        *err = (struct weft_err){ 0 };
    return WEFT_OK;
}

/* What is read at first: waits of many paths at once begin before them, too, mostly a little. */
static uint64_t least_back_ns(const struct locks_graph *graph)
{
    const uint64_t more_ns = (graph->to_ns - graph->from_ns) / PART_BEFORE;
    return MARGIN_NS + (more_ns < MARGIN_NS ? more_ns : MARGIN_NS);
}

/* Locks from where a wait begins that reaches into the path: what is read from before it is enough
 * for waits within the path, and at least doubles, so that it is not read again for every wait. */
static enum weft_code read_locks(struct locks_graph *graph, struct process *process,
                                 uint64_t start_ns, struct weft_err *err)
{
    const uint64_t begin_ns = start_ns > MARGIN_NS ? start_ns - MARGIN_NS : 0;
    uint64_t back_ns = begin_ns < graph->from_ns ? graph->from_ns - begin_ns : 0;
    const uint64_t read_ns = graph->from_ns - process->read_ns;
    if (graph->whole || process->has_failed || (process->is_tried && back_ns <= read_ns) ||
        (process->is_tried && read_ns >= MOST_BACK_NS))
        return WEFT_OK;
    if (back_ns < least_back_ns(graph))
        back_ns = least_back_ns(graph);
    if (process->is_tried && back_ns < 2 * read_ns)
        back_ns = 2 * read_ns;
    if (back_ns > MOST_BACK_NS)
        back_ns = MOST_BACK_NS;
    process->is_tried = true;
    return read_from(graph, process, graph->from_ns > back_ns ? graph->from_ns - back_ns : 0, err);
}

static enum weft_code process_of(struct locks_graph *graph, uint32_t thread_id,
                                 struct process **process, struct weft_err *err)
{
    const struct weft_thread_info *info = &weft_trace_thread(graph->trace, thread_id)->info;
    for (size_t i = 0; i < graph->processes.n; i++) {
        *process = &graph->processes.items[i];
        if ((*process)->pid == info->pid && (*process)->host_id == info->host_id)
            return WEFT_OK;
    }
    *process = WEFT_VEC_PUSH(&graph->processes);
    if (!*process)
        return weft_no_memory(err, "locks");
    **process = (struct process){ .pid = info->pid,
                                  .host_id = info->host_id,
                                  .locks = graph->whole,
                                  .read_ns = graph->whole ? 0 : graph->from_ns,
                                  .is_tried = graph->whole != NULL,
                                  .has_failed = !may_tell(graph->trace) };
    return WEFT_OK;
}

/* ---- waits ----------------------------------------------------------------------------------- */

/* In a system call that is no futex, a thread waits for no lock; nor in none, where the trace
 * contains all system calls. */
static bool may_be_lock(const struct locks_graph *graph, const struct weft_graph_state *state)
{
    if (state->name.n_bytes == 0)
        return !weft_trace_has_calls(graph->trace) || state->cpu < 0;
    return weft_event_is_futex(state->name);
}

static enum weft_path_edge kind_of(const struct weft_lock_object *object, enum weft_path_edge given)
{
    static const uint8_t kinds[WEFT_LOCK_KINDS] = {
        [WEFT_LOCK_MUTEX] = WEFT_PATH_RELEASE,    [WEFT_LOCK_RWLOCK] = WEFT_PATH_RELEASE,
        [WEFT_LOCK_CONDITION] = WEFT_PATH_SIGNAL, [WEFT_LOCK_BARRIER] = WEFT_PATH_ARRIVAL,
        [WEFT_LOCK_JOIN] = WEFT_PATH_END,         [WEFT_LOCK_SPIN] = WEFT_PATH_RELEASE,
        [WEFT_LOCK_SEMAPHORE] = WEFT_PATH_SIGNAL,
    };
    return object->kind == WEFT_LOCK_FUTEX ? given : (enum weft_path_edge)kinds[object->kind];
}

/* What an object is known by, however often locks are read: as bytes, as it is asked for at each
 * wait. */
static struct weft_str key_of(const struct weft_lock_object *object, char *bytes)
{
    const uint64_t numbers[] = { object->pid, object->address, object->thread_id, object->kind };
    const size_t n_name =
        object->name.n_bytes < KEY_NAME_BYTES ? object->name.n_bytes : KEY_NAME_BYTES;
    memcpy(bytes, numbers, sizeof numbers);
    if (n_name)
        memcpy(bytes + sizeof numbers, object->name.bytes, n_name);
    return (struct weft_str){ bytes, sizeof numbers + n_name };
}

/* The number of an object for edges. */
static enum weft_code number_of(struct locks_graph *graph, const struct weft_lock_object *object,
                                uint32_t *number, struct weft_err *err)
{
    char bytes[4 * sizeof(uint64_t) + KEY_NAME_BYTES];
    uint32_t name;
    enum weft_code code = weft_strtab_intern(graph->keys, key_of(object, bytes), number, err);
    if (code != WEFT_OK || *number < graph->objects.n)
        return code;
    code = weft_strtab_intern(graph->names, object->name, &name, err);
    if (code != WEFT_OK)
        return code;
    struct weft_lock_object *kept = WEFT_VEC_PUSH(&graph->objects);
    if (!kept)
        return weft_no_memory(err, "locks");
    *kept = *object;
    kept->name = weft_strtab_get(graph->names, name);
    return WEFT_OK;
}

/* What ended the wait, where no other source shows it. */
static void find_source(const struct weft_locks *locks, uint32_t thread_id, size_t op,
                        const struct weft_graph_state *state, struct weft_graph_edge *edge)
{
    const struct weft_lock_end end = weft_locks_ended_by(locks, op);
    const uint32_t *first = weft_locks_twins(locks)->first;
    if (end.thread_id == WEFT_ID_NONE || first[end.thread_id] == first[thread_id])
        return;
    *edge =
        (struct weft_graph_edge){ .from_ns = end.at_ns < state->end_ns ? end.at_ns : state->end_ns,
                                  .to_ns = state->end_ns,
                                  .from_thread_id = end.thread_id,
                                  .is_uncertain = state->waker_thread_id != WEFT_ID_NONE };
}

/* The wait is one for a lock if that covers at least half of it. */
static bool covers(const struct weft_lock_op *op, const struct weft_graph_state *state)
{
    const uint64_t start_ns = op->start_ns > state->start_ns ? op->start_ns : state->start_ns;
    const uint64_t end_ns = op->got_ns < state->end_ns ? op->got_ns : state->end_ns;
    return end_ns > start_ns && end_ns - start_ns >= (state->end_ns - state->start_ns) / 2;
}

/* The operation that the wait is one for; SIZE_MAX: none. */
static size_t op_of(const struct weft_locks *locks, uint32_t thread_id,
                    const struct weft_graph_state *state)
{
    size_t n_ops;
    const size_t at = weft_locks_find(locks, thread_id, state->start_ns, state->end_ns);
    return at != SIZE_MAX && covers(&weft_locks_ops(locks, &n_ops)[at], state) ? at : SIZE_MAX;
}

/* The edge, which has a source, is one of the operation's object. */
static enum weft_code take_object(struct locks_graph *graph, const struct weft_locks *locks,
                                  size_t op, struct weft_graph_state *state,
                                  struct weft_graph_edge *edge, struct weft_err *err)
{
    size_t n_ops;
    const struct weft_lock_object *object =
        weft_locks_object(locks, weft_locks_ops(locks, &n_ops)[op].object);
    uint32_t number;
    WEFT_TRY(number_of(graph, object, &number, err));
    edge->kind = kind_of(object, edge->kind);
    edge->lock = number + 1;
    state->reason = weft_lock_is_held(object->kind) ? WEFT_PATH_LOCK : WEFT_PATH_THREAD;
    return WEFT_OK;
}

static enum weft_code refine(struct locks_graph *graph, const struct weft_locks *locks,
                             uint32_t thread_id, struct weft_graph_state *state,
                             struct weft_graph_edge *edge, struct weft_err *err)
{
    const size_t at = op_of(locks, thread_id, state);
    if (at != SIZE_MAX && !weft_graph_has_source(edge))
        find_source(locks, thread_id, at, state, edge);
    return at != SIZE_MAX && weft_graph_has_source(edge)
               ? take_object(graph, locks, at, state, edge, err)
               : WEFT_OK;
}

/* A kernel sees a thread that waits for a lock wake when it is killed: which thread did that, or
 * which interrupt, did not end the wait. Only waits shortly before the end of the thread or the
 * trace may be such. */
static bool may_be_open(const struct locks_graph *graph, uint32_t thread_id,
                        const struct weft_graph_state *state)
{
    const uint64_t last_ns = weft_trace_thread(graph->trace, thread_id)->last_ns;
    return state->end_ns >= last_ns || last_ns - state->end_ns <= DYING_NS;
}

/* Whether the wait is one for a lock that was still asked for when the thread or the trace ended:
 * then it waits for the holder. */
static bool is_open(const struct weft_locks *locks, uint32_t thread_id,
                    struct weft_graph_state *state, struct weft_graph_edge *edge)
{
    size_t n_ops;
    const size_t at = weft_locks_find(locks, thread_id, state->start_ns, state->end_ns);
    const struct weft_lock_op *ops = weft_locks_ops(locks, &n_ops);
    if (at == SIZE_MAX || !(ops[at].flags & WEFT_LOCK_OPEN) || !covers(&ops[at], state) ||
        (weft_graph_has_source(edge) && edge->kind == WEFT_PATH_END)) /* its thread continues */
        return false;
    const uint32_t holder_id = weft_locks_holder(locks, at);
    *edge = (struct weft_graph_edge){ .from_thread_id = holder_id, .is_open = true };
    if (weft_lock_is_held(weft_locks_object(locks, ops[at].object)->kind))
        state->reason = WEFT_PATH_LOCK;
    else
        state->reason = holder_id == WEFT_ID_NONE ? WEFT_PATH_WAKER_UNKNOWN : WEFT_PATH_THREAD;
    return true;
}

/* A wait that time ended, in a loop that waits for a condition with a limit, as Python's threads do
 * for the GIL: it waits for the thread that ends the last one. */
static enum weft_code retry(struct locks_graph *graph, const struct weft_locks *locks,
                            uint32_t thread_id, struct weft_graph_state *state,
                            struct weft_graph_edge *edge, struct weft_err *err)
{
    size_t n_ops;
    const size_t at = op_of(locks, thread_id, state);
    const uint32_t *first = weft_locks_twins(locks)->first;
    if (at == SIZE_MAX)
        return WEFT_OK;
    const bool is_in_one = /* one call, several waits */
        weft_locks_ops(locks, &n_ops)[at].got_ns > state->end_ns + AWAKE_NS;
    const struct weft_lock_end end =
        is_in_one ? weft_locks_ended_by(locks, at) : weft_locks_retried_until(locks, at);
    if (end.thread_id == WEFT_ID_NONE || first[end.thread_id] == first[thread_id] ||
        weft_trace_thread(graph->trace, end.thread_id)->first_ns > state->end_ns)
        return WEFT_OK;
    *edge = (struct weft_graph_edge){ .from_ns = state->end_ns,
                                      .to_ns = state->end_ns,
                                      .from_thread_id = end.thread_id,
                                      .kind = WEFT_PATH_SIGNAL };
    return take_object(graph, locks, at, state, edge, err);
}

/* Whether a lock can explain more of a wait than the inner graph does. */
static bool is_refined(const struct weft_graph_state *state, const struct weft_graph_edge *edge)
{
    if (weft_graph_has_source(edge))
        return edge->kind == WEFT_PATH_WAKEUP || edge->kind == WEFT_PATH_RELEASE;
    return state->reason == WEFT_PATH_WAKER_UNKNOWN || state->reason == WEFT_PATH_IDLE ||
           state->reason == WEFT_PATH_LOCK;
}

/* A lock that is never released may be held since long before the path: then all is read. */
static enum weft_code find_holder(struct locks_graph *graph, struct process *process,
                                  uint32_t thread_id, struct weft_graph_state *state,
                                  struct weft_graph_edge *edge, struct weft_err *err)
{
    if (graph->whole || process->read_ns == 0 || weft_graph_has_source(edge) ||
        state->reason != WEFT_PATH_LOCK)
        return WEFT_OK;
    const enum weft_code code = read_from(graph, process, 0, err);
    if (code == WEFT_OK && process->locks)
        (void)is_open(process->locks, thread_id, state, edge);
    return code;
}

static enum weft_code cause(struct weft_graph *graph, uint32_t thread_id,
                            struct weft_graph_state *state, struct weft_graph_edge *edge,
                            struct weft_err *err)
{
    struct weft_graph *inner = of(graph)->inner;
    enum weft_code code = inner->ops->cause(inner, thread_id, state, edge, err);
    if (code != WEFT_OK || state->reason == WEFT_PATH_TASK || !may_be_lock(of(graph), state))
        return code;
    const bool may_open = may_be_open(of(graph), thread_id, state);
    const bool is_timed_out = state->reason == WEFT_PATH_TIMER && !weft_graph_has_source(edge);
    if (!may_open && !is_timed_out && !is_refined(state, edge))
        return WEFT_OK;
    struct process *process;
    code = process_of(of(graph), thread_id, &process, err);
    WEFT_THEN(code, read_locks(of(graph), process, state->start_ns, err));
    if (code != WEFT_OK || !process->locks)
        return code;
    if (may_open && is_open(process->locks, thread_id, state, edge))
        return find_holder(of(graph), process, thread_id, state, edge, err);
    if (is_timed_out)
        return retry(of(graph), process->locks, thread_id, state, edge, err);
    return is_refined(state, edge) ? refine(of(graph), process->locks, thread_id, state, edge, err)
                                   : WEFT_OK;
}

/* ---- the rest is the inner graph's ----------------------------------------------------------- */

static enum weft_code before(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state, struct weft_err *err)
{
    struct weft_graph *inner = of(graph)->inner;
    return inner->ops->before(inner, thread_id, at_ns, state, err);
}

static enum weft_code arrival(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_graph_edge *edge, struct weft_err *err)
{
    struct weft_graph *inner = of(graph)->inner;
    return inner->ops->arrival(inner, thread_id, from_ns, to_ns, edge, err);
}

static enum weft_code occupants(struct weft_graph *graph, uint32_t thread_id, int32_t cpu,
                                uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                void *context, struct weft_err *err)
{
    struct weft_graph *inner = of(graph)->inner;
    if (!inner->ops->occupants)
        return WEFT_OK;
    return inner->ops->occupants(inner, thread_id, cpu, from_ns, to_ns, see, context, err);
}

static enum weft_code sharers(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, weft_graph_see_fn see, void *context,
                              struct weft_err *err)
{
    struct weft_graph *inner = of(graph)->inner;
    if (!inner->ops->sharers)
        return WEFT_OK;
    return inner->ops->sharers(inner, thread_id, from_ns, to_ns, see, context, err);
}

static const struct weft_graph_ops locks_ops = { before, cause, arrival, occupants, sharers };

enum weft_code weft_locks_graph_open(const struct weft_trace *trace, struct weft_graph *inner,
                                     uint64_t from_ns, uint64_t to_ns,
                                     const struct weft_locks *whole, uint64_t memory_bytes,
                                     struct weft_graph **graph, struct weft_err *err)
{
    struct locks_graph *made = calloc(1, sizeof *made);
    *graph = NULL;
    if (!made)
        return weft_no_memory(err, "a graph");
    made->graph.ops = &locks_ops;
    made->trace = trace;
    made->inner = inner;
    made->from_ns = from_ns;
    made->to_ns = to_ns;
    made->whole = whole;
    made->memory_bytes = memory_bytes;
    made->keys = weft_strtab_new();
    made->names = weft_strtab_new();
    *graph = &made->graph;
    return made->keys && made->names ? WEFT_OK : weft_no_memory(err, "locks");
}

void weft_locks_graph_close(struct weft_graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < of(graph)->processes.n; i++)
        weft_locks_close(of(graph)->processes.items[i].own);
    WEFT_VEC_FINI(&of(graph)->processes);
    weft_strtab_free(of(graph)->keys);
    weft_strtab_free(of(graph)->names);
    WEFT_VEC_FINI(&of(graph)->objects);
    free(graph);
}

const struct weft_lock_object *weft_locks_graph_object(struct weft_graph *graph, uint32_t lock)
{
    return &of(graph)->objects.items[lock];
}
