/* SPDX-License-Identifier: MIT
 *
 * Chooses between the two sources of a thread's states: the kernel's scheduling events (kernel.c),
 * else its calls (user.c), which also fill the time before, after and between kernel events. Tasks
 * and declared dependencies are applied to both. This is the graph that analysis/path and
 * analysis/ecct open.
 */
#include "model/graph/trace.h"

#include "base/checked.h"
#include "base/search.h"
#include "base/vec.h"
#include "model/calls/slots.h"
#include "model/dependencies.h"
#include "model/events.h"
#include "model/graph/edges.h"
#include "model/graph/graph.h"
#include "model/graph/kernel.h"
#include "model/graph/user.h"
#include "model/graph/waiting.h"
#include "model/trace.h"
#include "store/format.h"

#include <stdlib.h>

/* ---- tasks ----------------------------------------------------------------------------------- */

/* Tasks: the root calls of threads that take one task after the other, and the threads that posted
 * them.
 *
 *     poster   ----[ task  p ]--------------------
 *                          :.............         flow: posted at p, begun at b
 *     thread   --[ others      ]--[ others ]:[ task ]--
 *                          <----- queued --->
 *
 * What the thread did before b has nothing to do with its task, unless it posted it itself.
 *
 * Root calls are kept by block of calls (least recently used first out), each with the flow that
 * posted it, searched at most once for each window of the path. A queued task turns the state
 * before it into a wait, from the moment of posting on. */

struct weft_graph_tasks;

enum { ROOTS_SHARE = 2 };

/* Of a block, all of whose calls are root calls. */
enum { ROOTS_BYTES = 40 * WEFT_FORMAT_BLOCK_ROWS };

/* Ends of flows that are looked at for the origin of one root call. */
enum { FLOWS_MAX = 4096 };

/* Where a root call was posted. */
struct origin {
    uint64_t from_ns;
    uint32_t thread_id; /* WEFT_ID_NONE: unknown */
};

struct root {
    uint64_t start_ns, end_ns;
    uint32_t function_id;
    uint32_t asked; /* for its origin, in this window; 0: it was not */
    struct origin origin;
};

/* The root calls of a block of calls; the first may have been entered in an earlier one. */
struct slot {
    struct {
        struct root *items;
        size_t n, cap;
    } roots;
};

struct weft_graph_tasks {
    const struct weft_trace *trace;
    uint64_t from_ns, to_ns, memory_bytes;
    uint32_t window; /* counts from 1 */
    bool has_flows;
    bool has_names; /* some function is called like one that runs a task */
    struct weft_graph_sources begun;
    struct weft_block_buf *buf;
    struct slot slots[WEFT_SLOTS]; /* a path goes to and fro between a few threads */
    struct weft_slots uses;
};

static bool has_task_names(const struct weft_trace *trace)
{
    const uint32_t n_functions = weft_trace_n_functions(trace);
    uint32_t id = 0;
    while (id < n_functions && !weft_is_task_name(weft_trace_function(trace, id)->name))
        id++;
    return id < n_functions;
}

/* Of the part [from_ns, to_ns] of the trace. */
static enum weft_code weft_graph_tasks_open(const struct weft_trace *trace, uint64_t from_ns,
                                            uint64_t to_ns, uint64_t memory_bytes,
                                            struct weft_graph_tasks **tasks, struct weft_err *err)
{
    struct weft_graph_tasks *made = calloc(1, sizeof *made);
    const uint64_t *of_kind = weft_trace_meta(trace)->events_of_kind;
    *tasks = made;
    if (!made)
        return weft_no_memory(err, "tasks");
    made->trace = trace;
    made->from_ns = from_ns;
    made->to_ns = to_ns;
    made->memory_bytes = memory_bytes;
    made->window = 1;
    made->has_flows = of_kind[WEFT_EVENT_FLOW_BEGIN] > 0 && of_kind[WEFT_EVENT_FLOW_END] > 0;
    made->has_names = has_task_names(trace);
    made->buf = weft_block_buf_new();
    return made->buf ? WEFT_OK : weft_no_memory(err, "tasks");
}

/* From now on of another part; what is known of calls stays. */
static void weft_graph_tasks_window(struct weft_graph_tasks *tasks, uint64_t from_ns,
                                    uint64_t to_ns)
{
    tasks->from_ns = from_ns;
    tasks->to_ns = to_ns;
    tasks->window++;
    weft_graph_sources_fini(&tasks->begun);
}

/* NULL is allowed. */
static void weft_graph_tasks_close(struct weft_graph_tasks *tasks)
{
    if (!tasks)
        return;
    for (size_t i = 0; i < WEFT_SLOTS; i++)
        WEFT_VEC_FINI(&tasks->slots[i].roots);
    weft_graph_sources_fini(&tasks->begun);
    weft_block_buf_free(tasks->buf);
    free(tasks);
}

/* ---- root calls ------------------------------------------------------------------------------ */

static enum weft_code slot_fill(struct slot *slot, const struct weft_calls *calls,
                                struct weft_err *err)
{
    slot->roots.n = 0;
    if (calls->n_open > 0) {
        struct root *root = WEFT_VEC_PUSH(&slot->roots);
        if (!root)
            return weft_no_memory(err, "tasks");
        root->start_ns = calls->open[0].start_ns;
        root->end_ns = calls->open[0].end_ns;
        root->function_id = calls->open[0].function_id;
    }
    for (size_t i = 0; i < calls->n_rows; i++) {
        if (calls->depth[i] > 0)
            continue;
        struct root *root = WEFT_VEC_PUSH(&slot->roots);
        if (!root)
            return weft_no_memory(err, "tasks");
        root->start_ns = calls->start_ns[i];
        root->end_ns = calls->end_ns[i];
        root->function_id = calls->function_id[i];
    }
    return WEFT_OK;
}

static enum weft_code roots_of(struct weft_graph_tasks *tasks, uint32_t thread_id, uint64_t block,
                               const struct slot **found, struct weft_err *err)
{
    bool is_held;
    const size_t most = weft_slots_most(tasks->memory_bytes / ROOTS_SHARE, ROOTS_BYTES);
    const size_t place = weft_slots_find(&tasks->uses, most, thread_id, block, &is_held);
    struct slot *slot = &tasks->slots[place];
    struct weft_calls calls;
    *found = slot;
    if (is_held)
        return WEFT_OK;
    enum weft_code code =
        weft_store_load(weft_trace_store(tasks->trace), thread_id, block, tasks->buf, &calls, err);
    WEFT_THEN(code, slot_fill(slot, &calls, err));
    if (code == WEFT_OK)
        weft_slots_hold(&tasks->uses, place, thread_id, block);
    return code;
}

/* How many blocks of calls begin before at_ns. */
static uint64_t blocks_before(const struct weft_graph_tasks *tasks, uint32_t thread_id,
                              uint64_t at_ns)
{
    struct weft_store *store = weft_trace_store(tasks->trace);
    uint64_t low;
    WEFT_SEARCH(low, weft_store_thread_get(store, thread_id)->n_blocks,
                weft_store_block_get(store, thread_id, low)->first_ns < at_ns);
    return low;
}

/* The first root call of a block that begins at at_ns or later. */
static size_t first_root(const struct slot *slot, uint64_t at_ns)
{
    size_t low;
    WEFT_SEARCH(low, slot->roots.n, slot->roots.items[low].start_ns < at_ns);
    return low;
}

/* The last root call that begins before at_ns, or NULL; lives until a few others are asked for. */
static enum weft_code root_before(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                  uint64_t at_ns, struct root **root, struct weft_err *err)
{
    uint64_t block = blocks_before(tasks, thread_id, at_ns);
    *root = NULL;
    while (block-- > 0 && !*root) {
        const struct slot *slot;
        WEFT_TRY(roots_of(tasks, thread_id, block, &slot, err));
        const size_t n = first_root(slot, at_ns);
        *root = n > 0 ? &slot->roots.items[n - 1] : NULL;
    }
    return WEFT_OK;
}

/* The first one that begins at at_ns or later, where the thread is in none. */
static enum weft_code root_after(struct weft_graph_tasks *tasks, uint32_t thread_id, uint64_t at_ns,
                                 struct root **root, struct weft_err *err)
{
    const uint64_t n_blocks =
        weft_store_thread_get(weft_trace_store(tasks->trace), thread_id)->n_blocks;
    uint64_t block = blocks_before(tasks, thread_id, at_ns);
    *root = NULL;
    for (block -= block > 0; block < n_blocks && !*root; block++) {
        const struct slot *slot;
        WEFT_TRY(roots_of(tasks, thread_id, block, &slot, err));
        const size_t n = first_root(slot, at_ns);
        *root = n < slot->roots.n ? &slot->roots.items[n] : NULL;
    }
    return WEFT_OK;
}

/* ---- where they were posted ------------------------------------------------------------------ */

/* The first flow that ends in [from_ns, to_ns] and was begun by another thread, at until_ns at the
 * latest. */
static enum weft_code first_flow(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                 uint64_t from_ns, uint64_t to_ns, uint64_t until_ns,
                                 struct weft_graph_edge *edge, struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_graph_sources_make(tasks->trace, WEFT_EVENT_FLOW_BEGIN,
                                                  tasks->from_ns, tasks->to_ns, &tasks->begun, err);
    WEFT_THEN(code, weft_events_open(tasks->trace, thread_id, UINT32_C(1) << WEFT_EVENT_FLOW_END,
                                     from_ns, weft_add_sat_u64(to_ns, 1), &events, err));
    for (unsigned n = 0; code == WEFT_OK && n < FLOWS_MAX && !weft_graph_has_source(edge) &&
                         (code = weft_events_next(events, &event, err)) == WEFT_OK && event;
         n++) {
        const struct weft_graph_source *source = weft_graph_sources_find(
            &tasks->begun, weft_graph_key(event), 0, event->time_ns, thread_id);
        if (source && source->at_ns <= until_ns)
            *edge = (struct weft_graph_edge){ .from_ns = source->at_ns,
                                              .to_ns = event->time_ns,
                                              .from_thread_id = source->thread_id,
                                              .kind = WEFT_PATH_FLOW };
    }
    weft_events_close(events);
    return code;
}

/* The first flow that ends on the thread in [from_ns, to_ns] and began on another one. */
static enum weft_code weft_graph_tasks_flow(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                            uint64_t from_ns, uint64_t to_ns,
                                            struct weft_graph_edge *edge, struct weft_err *err)
{
    return tasks->has_flows ? first_flow(tasks, thread_id, from_ns, to_ns, UINT64_MAX, edge, err)
                            : WEFT_OK;
}

/* Looked for once: a path asks for the same ones again and again. */
static enum weft_code origin_find(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                  struct root *root, struct weft_err *err)
{
    struct weft_graph_edge edge = { .from_thread_id = WEFT_ID_NONE };
    enum weft_code code = WEFT_OK;
    if (root->asked == tasks->window)
        return WEFT_OK;
    if (tasks->has_flows)
        code =
            first_flow(tasks, thread_id, root->start_ns, root->end_ns, root->start_ns, &edge, err);
    root->asked = code == WEFT_OK ? tasks->window : 0;
    root->origin = (struct origin){ edge.from_ns, edge.from_thread_id };
    return code;
}

static bool has_origin(const struct root *root)
{
    return root->origin.thread_id != WEFT_ID_NONE;
}

/* ---- states ---------------------------------------------------------------------------------- */

static bool has_tasks(const struct weft_graph_tasks *tasks, uint32_t thread_id)
{
    return weft_store_thread_get(weft_trace_store(tasks->trace), thread_id)->n_blocks > 0;
}

/* The task that begins at at_ns if it was posted while the thread was in another call, or NULL. */
static enum weft_code find_queued(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                  uint64_t at_ns, const struct root **queued, struct weft_err *err)
{
    struct root *root, *before;
    enum weft_code code = root_before(tasks, thread_id, weft_add_sat_u64(at_ns, 1), &root, err);
    *queued = NULL;
    if (code != WEFT_OK || !root || root->start_ns != at_ns)
        return code;
    code = origin_find(tasks, thread_id, root, err);
    if (code != WEFT_OK || !has_origin(root) || root->origin.from_ns == at_ns)
        return code;
    code = root_before(tasks, thread_id, at_ns, &before, err);
    if (code == WEFT_OK && before && before->end_ns > root->origin.from_ns)
        *queued = root;
    return code;
}

/* Makes the state begin where a task does that was posted. */
static enum weft_code clip(struct weft_graph_tasks *tasks, uint32_t thread_id, uint64_t at_ns,
                           struct weft_graph_state *state, struct weft_err *err)
{
    struct root *root;
    enum weft_code code = WEFT_OK;
    for (uint64_t before_ns = at_ns; before_ns > state->start_ns; before_ns = root->start_ns) {
        code = root_before(tasks, thread_id, before_ns, &root, err);
        if (code != WEFT_OK || !root || root->start_ns <= state->start_ns)
            return code;
        code = origin_find(tasks, thread_id, root, err);
        if (code != WEFT_OK)
            return code;
        if (has_origin(root))
            state->start_ns = root->start_ns;
    }
    return code;
}

static void wait_for_task(uint64_t start_ns, uint64_t end_ns, struct weft_graph_state *state)
{
    *state = (struct weft_graph_state){ .start_ns = start_ns,
                                        .end_ns = end_ns,
                                        .state = WEFT_PATH_BLOCKED,
                                        .reason = WEFT_PATH_TASK,
                                        .cpu = -1,
                                        .waker_thread_id = WEFT_ID_NONE };
}

/* In no call, and not blocked either: on the way to a task that may have been posted meanwhile. */
static enum weft_code clip_way(struct weft_graph_tasks *tasks, uint32_t thread_id, uint64_t at_ns,
                               struct weft_graph_state *state, struct weft_err *err)
{
    struct root *before, *task;
    enum weft_code code = root_before(tasks, thread_id, at_ns, &before, err);
    if (code != WEFT_OK || (before && before->end_ns >= at_ns))
        return code;
    const uint64_t idle_ns = before ? before->end_ns : 0;
    code = root_after(tasks, thread_id, at_ns, &task, err);
    if (code == WEFT_OK && task)
        code = origin_find(tasks, thread_id, task, err);
    if (code != WEFT_OK || !task || !has_origin(task) || task->origin.from_ns < idle_ns)
        return code;
    if (task->origin.from_ns == at_ns)
        wait_for_task(at_ns - 1, at_ns, state);
    else if (task->origin.from_ns < at_ns && task->origin.from_ns > state->start_ns)
        state->start_ns = task->origin.from_ns;
    return code;
}

/* Mends a state that ends at at_ns or later: it begins no earlier than a task that was posted; and
 * where one begins at at_ns for which the thread had no time before, it is a wait for that. */
static enum weft_code weft_graph_tasks_before(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                              uint64_t at_ns, struct weft_graph_state *state,
                                              struct weft_err *err)
{
    const struct root *queued;
    if (!tasks->has_flows || !has_tasks(tasks, thread_id))
        return WEFT_OK;
    enum weft_code code = find_queued(tasks, thread_id, at_ns, &queued, err);
    if (code == WEFT_OK && queued)
        wait_for_task(queued->origin.from_ns, at_ns, state);
    if (code == WEFT_OK && state->state != WEFT_PATH_BLOCKED)
        code = clip(tasks, thread_id, at_ns, state, err);
    if (code == WEFT_OK && state->state != WEFT_PATH_BLOCKED)
        code = clip_way(tasks, thread_id, at_ns, state, err);
    return code;
}

/* ---- what ended a wait ----------------------------------------------------------------------- */

/* The task for which the thread waited, with its origin, or NULL. */
static enum weft_code task_after(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                 const struct weft_graph_state *state, struct root **task,
                                 struct weft_err *err)
{
    struct root *before;
    *task = NULL;
    enum weft_code code = root_before(tasks, thread_id, state->end_ns, &before, err);
    if (code != WEFT_OK ||
        (before && before->end_ns > state->start_ns && state->reason != WEFT_PATH_TASK))
        return code;
    code = root_after(tasks, thread_id, state->end_ns, task, err);
    return code == WEFT_OK && *task ? origin_find(tasks, thread_id, *task, err) : code;
}

/* Only the thread that posted it can have ended the wait. */
static bool is_open_question(const struct weft_graph_state *state)
{
    return state->reason == WEFT_PATH_TASK || state->reason == WEFT_PATH_WAKER_UNKNOWN ||
           state->reason == WEFT_PATH_IDLE || state->reason == WEFT_PATH_IPI;
}

static bool is_posted_in(const struct root *task, const struct weft_graph_state *state)
{
    return has_origin(task) && task->origin.from_ns >= state->start_ns;
}

/* What ended a wait, `edge` being what a kernel says of that, if any. A thread that waits in no
 * call and begins a task then has waited for that. */
static enum weft_code weft_graph_tasks_cause(struct weft_graph_tasks *tasks, uint32_t thread_id,
                                             struct weft_graph_state *state,
                                             struct weft_graph_edge *edge, struct weft_err *err)
{
    struct root *task;
    const bool has_source = weft_graph_has_source(edge);
    if ((!tasks->has_flows && !tasks->has_names) || !has_tasks(tasks, thread_id) ||
        (has_source ? edge->kind != WEFT_PATH_WAKEUP : !is_open_question(state)))
        return WEFT_OK;
    enum weft_code code = task_after(tasks, thread_id, state, &task, err);
    if (code != WEFT_OK || !task)
        return code;
    if (has_source) {
        const struct weft_str name = weft_trace_function(tasks->trace, task->function_id)->name;
        edge->is_task = has_origin(task) ? is_posted_in(task, state) : weft_is_task_name(name);
    } else if (is_posted_in(task, state)) {
        const uint64_t from_ns = task->origin.from_ns;
        state->reason = WEFT_PATH_TASK;
        *edge = (struct weft_graph_edge){
            .from_ns = from_ns < state->end_ns ? from_ns : state->end_ns,
            .to_ns = state->end_ns,
            .from_thread_id = task->origin.thread_id,
            .kind = WEFT_PATH_FLOW,
            .is_task = true,
        };
    }
    return WEFT_OK;
}

/* ---- trace ----------------------------------------------------------------------------------- */

/* The source of a thread's states. */
enum teller { NOT_ASKED, KERNEL, PROGRAM };

struct trace_graph {
    struct weft_graph graph; /* first */
    const struct weft_trace *trace;
    struct weft_graph_kernel *kernel; /* NULL: the trace has none */
    struct weft_graph_user *user;
    struct weft_graph_tasks *tasks;
    uint64_t memory_bytes;
    uint64_t kernel_last_ns; /* of its last switch */
    uint8_t *tellers;        /* by thread: enum teller */
};

static struct trace_graph *of(struct weft_graph *graph)
{
    return (struct trace_graph *)graph;
}

static bool is_told_by_kernel(struct trace_graph *graph, uint32_t thread_id)
{
    uint8_t *teller = &graph->tellers[thread_id];
    if (*teller == NOT_ASKED)
        *teller =
            graph->kernel && weft_graph_kernel_knows(graph->kernel, thread_id) ? KERNEL : PROGRAM;
    return *teller == KERNEL;
}

/* Whether the kernel's word does not reach to at_ns: events before or after its trace, or lost. */
static bool is_beyond_kernel(const struct trace_graph *graph, uint64_t at_ns,
                             const struct weft_graph_state *state)
{
    return state->state == WEFT_PATH_UNKNOWN || at_ns > graph->kernel_last_ns ||
           (state->state == WEFT_PATH_BLOCKED && state->end_ns >= graph->kernel_last_ns);
}

/* States from calls where there are none from kernel events. */
static enum weft_code fill_gap(struct trace_graph *graph, uint32_t thread_id, uint64_t at_ns,
                               struct weft_graph_state *state, struct weft_err *err)
{
    struct weft_graph_state inferred;
    if (!is_beyond_kernel(graph, at_ns, state) ||
        weft_trace_thread(graph->trace, thread_id)->calls == 0)
        return WEFT_OK;
    enum weft_code code = weft_graph_user_before(graph->user, thread_id, at_ns, &inferred, err);
    if (code != WEFT_OK || inferred.state == WEFT_PATH_UNKNOWN)
        return code;
    const bool was_unknown = state->state == WEFT_PATH_UNKNOWN;
    const uint64_t least_ns =
        was_unknown || state->state == WEFT_PATH_BLOCKED ? state->start_ns : graph->kernel_last_ns;
    const uint64_t most_ns = was_unknown ? state->end_ns : UINT64_MAX;
    inferred.start_ns = inferred.start_ns > least_ns ? inferred.start_ns : least_ns;
    inferred.end_ns = inferred.end_ns < most_ns ? inferred.end_ns : most_ns;
    inferred.is_of_program = true;
    *state = inferred;
    return WEFT_OK;
}

/* What a declared dependency leads to begins there: the time since what it depends on is a wait for
 * that, whatever else the thread did meanwhile. */
static void apply_dependency(const struct trace_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state)
{
    const struct weft_dependency *dependency =
        weft_trace_dependency(graph->trace, thread_id, at_ns);
    if (!dependency)
        return;
    if (dependency->to_ns == at_ns)
        *state = (struct weft_graph_state){
            .start_ns = dependency->from_ns < at_ns ? dependency->from_ns : at_ns - 1,
            .end_ns = at_ns,
            .state = WEFT_PATH_BLOCKED,
            .reason = WEFT_PATH_TASK,
            .cpu = -1,
            .waker_thread_id = WEFT_ID_NONE,
        };
    else if (state->state != WEFT_PATH_BLOCKED && dependency->to_ns > state->start_ns)
        state->start_ns = dependency->to_ns;
}

/* Did a declared dependency end the wait? */
static bool cause_of_dependency(const struct trace_graph *graph, uint32_t thread_id,
                                const struct weft_graph_state *state, struct weft_graph_edge *edge)
{
    const struct weft_dependency *dependency =
        state->reason == WEFT_PATH_TASK
            ? weft_trace_dependency(graph->trace, thread_id, state->end_ns)
            : NULL;
    if (!dependency || dependency->to_ns != state->end_ns)
        return false;
    *edge = (struct weft_graph_edge){ .from_ns = dependency->from_ns,
                                      .to_ns = dependency->to_ns,
                                      .from_thread_id = dependency->from_thread_id,
                                      .kind = WEFT_PATH_FLOW,
                                      .is_task = true };
    return true;
}

static enum weft_code before(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                             struct weft_graph_state *state, struct weft_err *err)
{
    const bool is_kernel = is_told_by_kernel(of(graph), thread_id);
    enum weft_code code =
        is_kernel ? weft_graph_kernel_before(of(graph)->kernel, thread_id, at_ns, state, err)
                  : weft_graph_user_before(of(graph)->user, thread_id, at_ns, state, err);
    if (code == WEFT_OK && is_kernel)
        code = fill_gap(of(graph), thread_id, at_ns, state, err);
    state->is_of_program |= !is_kernel;
    WEFT_THEN(code, weft_graph_tasks_before(of(graph)->tasks, thread_id, at_ns, state, err));
    if (code == WEFT_OK)
        apply_dependency(of(graph), thread_id, at_ns, state);
    return code;
}

/* A wait of which no wakeup was seen may be one for a lock that was released. */
static enum weft_code cause_of_lock(struct trace_graph *graph, uint32_t thread_id,
                                    struct weft_graph_state *state, struct weft_graph_edge *edge,
                                    struct weft_err *err)
{
    struct weft_graph_state inferred;
    enum weft_code code =
        weft_graph_user_before(graph->user, thread_id, state->end_ns, &inferred, err);
    if (code != WEFT_OK || inferred.reason != WEFT_PATH_LOCK)
        return code;
    code = weft_graph_user_cause(graph->user, thread_id, &inferred, edge, err);
    if (code == WEFT_OK && weft_graph_has_source(edge)) {
        state->reason = WEFT_PATH_LOCK;
        edge->to_ns = state->end_ns;
        edge->from_ns = edge->from_ns < edge->to_ns ? edge->from_ns : edge->to_ns;
    }
    return code;
}

/* Within one machine a packet is received where it is sent: a thread of the program whose call
 * sends, as its library recorded it, where no system calls or packets say so. */
static enum weft_code cause_of_sender(struct trace_graph *graph,
                                      const struct weft_graph_state *state,
                                      struct weft_graph_edge *edge, struct weft_err *err)
{
    bool sends = false;
    if (state->waker_thread_id == WEFT_ID_NONE)
        return WEFT_OK;
    const enum weft_code code =
        weft_graph_user_sends(graph->user, state->waker_thread_id, state->end_ns, &sends, err);
    if (code == WEFT_OK && sends)
        *edge = (struct weft_graph_edge){ .from_ns = state->end_ns,
                                          .to_ns = state->end_ns,
                                          .from_thread_id = state->waker_thread_id,
                                          .kind = WEFT_PATH_PACKET,
                                          .is_uncertain = true };
    return code;
}

static enum weft_code cause_of_kernel(struct trace_graph *graph, uint32_t thread_id,
                                      struct weft_graph_state *state, struct weft_graph_edge *edge,
                                      struct weft_err *err)
{
    enum weft_code code = weft_graph_kernel_cause(graph->kernel, thread_id, state, edge, err);
    if (code == WEFT_OK && state->reason == WEFT_PATH_NETWORK && !weft_graph_has_source(edge))
        return cause_of_sender(graph, state, edge, err);
    if (code != WEFT_OK || weft_graph_has_source(edge) ||
        (state->reason != WEFT_PATH_WAKER_UNKNOWN && state->reason != WEFT_PATH_IDLE))
        return code;
    return cause_of_lock(graph, thread_id, state, edge, err);
}

static enum weft_code cause(struct weft_graph *graph, uint32_t thread_id,
                            struct weft_graph_state *state, struct weft_graph_edge *edge,
                            struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (cause_of_dependency(of(graph), thread_id, state, edge))
        return WEFT_OK;
    if (state->is_of_program)
        code = weft_graph_user_cause(of(graph)->user, thread_id, state, edge, err);
    else if (state->reason != WEFT_PATH_TASK)
        code = cause_of_kernel(of(graph), thread_id, state, edge, err);
    WEFT_THEN(code, weft_graph_tasks_cause(of(graph)->tasks, thread_id, state, edge, err));
    if (code == WEFT_OK && state->reason == WEFT_PATH_TASK && !weft_graph_has_source(edge))
        state->reason = WEFT_PATH_WAKER_UNKNOWN; /* in no call, for an unknown reason */
    else if (code == WEFT_OK && state->is_of_program && state->reason == WEFT_PATH_WAKER_UNKNOWN &&
             !weft_graph_has_source(edge))
        code = weft_graph_user_reason(of(graph)->user, thread_id, state, err);
    return code;
}

static enum weft_code arrival(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, struct weft_graph_edge *edge, struct weft_err *err)
{
    if (of(graph)->tellers[thread_id] == KERNEL)
        return weft_graph_kernel_arrival(of(graph)->kernel, thread_id, from_ns, to_ns, edge, err);
    return weft_graph_tasks_flow(of(graph)->tasks, thread_id, from_ns, to_ns, edge, err);
}

static enum weft_code occupants(struct weft_graph *graph, uint32_t thread_id, int32_t cpu,
                                uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                void *context, struct weft_err *err)
{
    if (!of(graph)->kernel)
        return WEFT_OK;
    return weft_graph_kernel_occupants(of(graph)->kernel, thread_id, cpu, from_ns, to_ns, see,
                                       context, err);
}

static enum weft_code sharers(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                              uint64_t to_ns, weft_graph_see_fn see, void *context,
                              struct weft_err *err)
{
    if (!of(graph)->kernel)
        return weft_graph_user_sharers(of(graph)->user, thread_id, from_ns, to_ns, see, context,
                                       err);
    return weft_graph_kernel_sharers(of(graph)->kernel, thread_id, from_ns, to_ns, see, context,
                                     err);
}

static const struct weft_graph_ops trace_ops = { before, cause, arrival, occupants, sharers };

static enum weft_code open_kernel(struct trace_graph *graph, uint64_t from_ns, uint64_t to_ns,
                                  struct weft_err *err)
{
    if (!weft_trace_has_switches(graph->trace))
        return WEFT_OK;
    const enum weft_code code = weft_graph_kernel_open(
        graph->trace, from_ns, to_ns, graph->memory_bytes / 2, &graph->kernel, err);
    if (code == WEFT_OK)
        graph->kernel_last_ns = weft_graph_kernel_last_ns(graph->kernel);
    return code;
}

enum weft_code weft_trace_graph_window(struct weft_graph *graph, uint64_t from_ns, uint64_t to_ns,
                                       struct weft_err *err)
{
    weft_graph_user_window(of(graph)->user, from_ns, to_ns);
    weft_graph_tasks_window(of(graph)->tasks, from_ns, to_ns);
    if (!of(graph)->kernel)
        return open_kernel(of(graph), from_ns, to_ns, err);
    weft_graph_kernel_window(of(graph)->kernel, from_ns, to_ns);
    return WEFT_OK;
}

enum weft_code weft_trace_graph_open(const struct weft_trace *trace, struct weft_graph_known *known,
                                     uint64_t from_ns, uint64_t to_ns, uint64_t memory_bytes,
                                     struct weft_graph **graph, struct weft_err *err)
{
    struct trace_graph *made = calloc(1, sizeof *made);
    *graph = NULL;
    if (!made)
        return weft_no_memory(err, "a graph");
    made->graph.ops = &trace_ops;
    made->trace = trace;
    made->memory_bytes = memory_bytes;
    made->tellers = calloc((size_t)weft_trace_n_threads(trace) + 1, 1);
    enum weft_code code = made->tellers ? weft_graph_user_open(trace, known, from_ns, to_ns,
                                                               memory_bytes / 4, &made->user, err)
                                        : weft_no_memory(err, "a graph");
    WEFT_THEN(code,
              weft_graph_tasks_open(trace, from_ns, to_ns, memory_bytes / 4, &made->tasks, err));
    WEFT_THEN(code, open_kernel(made, from_ns, to_ns, err));
    if (code == WEFT_OK)
        *graph = &made->graph;
    else
        weft_trace_graph_close(&made->graph);
    return code;
}

void weft_trace_graph_close(struct weft_graph *graph)
{
    if (!graph)
        return;
    weft_graph_kernel_close(of(graph)->kernel);
    weft_graph_user_close(of(graph)->user);
    weft_graph_tasks_close(of(graph)->tasks);
    free(of(graph)->tellers);
    free(graph);
}
