/* SPDX-License-Identifier: MIT
 *
 * A loop with an explicit stack of at most WEFT_PATH_DEPTH_MAX threads instead of recursion. Edges
 * back to a thread on the stack are refused and counted, so that the walk ends; segments come
 * latest first and are reversed at the end. It sees the graph only through its operations, so tests
 * and analysis/ecct use graphs of their own.
 */
#include "analysis/path/walk.h"

#include "base/room.h"

#include <stdlib.h>

/* A thread on which the walk is: the one asked for, or one that ended a wait of the frame below.
 * While it is on the stack, those below are blocked. */
struct frame {
    uint32_t thread_id;
    uint64_t limit_ns;  /* here the wait of the frame below began */
    uint64_t top_ns;    /* here the walk came to this thread */
    size_t first_arrow; /* arrows found since then */
    uint32_t place;     /* in the frames that are kept */
    bool is_uncertain;  /* reached over an inferred edge */
};

struct walk {
    struct weft_graph *graph;
    const struct weft_path_walk_opts *opts;
    struct weft_path_walked *to; /* latest first, while the walk goes on */
    struct frame frames[WEFT_PATH_DEPTH_MAX];
    size_t n_frames;
    uint64_t at_ns;
    uint64_t hop_ns;            /* where it came to a task's poster last */
    struct weft_path_place now; /* of the segment that is added next */
};

static enum weft_code too_many(size_t most, const char *what, struct weft_err *err)
{
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "the path has more than %zu %s: ask for a shorter interval", most, what);
}

static struct frame *top_of(struct walk *walk)
{
    return &walk->frames[walk->n_frames - 1];
}

static bool is_on_stack(const struct walk *walk, uint32_t thread_id)
{
    for (size_t i = 0; i < walk->n_frames; i++)
        if (walk->frames[i].thread_id == thread_id)
            return true;
    return false;
}

/* ---- what is found --------------------------------------------------------------------------- */

static bool is_continued(const struct weft_path_segment *later, const struct weft_path_segment *now)
{
    return later->start_ns == now->end_ns && later->thread_id == now->thread_id &&
           later->state == now->state && later->reason == now->reason && later->cpu == now->cpu &&
           later->flags == now->flags && later->other_thread_id == now->other_thread_id &&
           now->state != WEFT_PATH_BLOCKED && weft_str_equal(later->name, now->name);
}

/* Whether the segment is the same as the one that was added last. */
static bool is_same(struct walk *walk, const struct weft_path_segment *made)
{
    const struct weft_path_segments *segments = &walk->to->segments;
    if (segments->n == 0 || !is_continued(&segments->items[segments->n - 1], made))
        return false;
    if (!walk->opts->with_frames)
        return true;
    const struct weft_path_place *later = &walk->to->places.items[segments->n - 1];
    return later->frame == top_of(walk)->place && weft_str_equal(later->call, walk->now.call);
}

static bool keep_place(struct walk *walk)
{
    if (!walk->opts->with_frames)
        return true;
    walk->to->places.n = walk->to->segments.n - 1; /* some may have been taken back */
    struct weft_path_place *place = WEFT_ROOM_PUSH(&walk->to->places);
    if (!place)
        return false;
    *place = walk->now;
    place->frame = top_of(walk)->place;
    return true;
}

/* What the thread on top did from start_ns until now. The walk is at start_ns then. */
static enum weft_code add_segment(struct walk *walk, const struct weft_graph_state *state,
                                  uint64_t start_ns, uint32_t other_thread_id, unsigned flags,
                                  struct weft_err *err)
{
    struct weft_path_segments *segments = &walk->to->segments;
    const struct frame *frame = top_of(walk);
    if (start_ns == walk->at_ns)
        return WEFT_OK;
    if (frame->is_uncertain || state->is_uncertain)
        flags |= WEFT_PATH_UNCERTAIN;
    if (state->is_timed_out)
        flags |= WEFT_PATH_TIMED_OUT;
    if (!weft_room_reserve(&segments->items, &segments->cap, segments->n + 1,
                           sizeof *segments->items))
        return weft_no_memory(err, "a critical path");
    struct weft_path_segment *made = &segments->items[segments->n];
    *made = (struct weft_path_segment){
        .start_ns = start_ns,
        .end_ns = walk->at_ns,
        .thread_id = frame->thread_id,
        .depth = (uint32_t)walk->n_frames - 1,
        .other_thread_id = other_thread_id,
        .cpu = state->cpu,
        .function_id = WEFT_ID_NONE,
        .other_function_id = WEFT_ID_NONE,
        .name = state->name,
        .state = (uint8_t)state->state,
        .reason = (uint8_t)state->reason,
        .flags = (uint8_t)flags,
    };
    walk->at_ns = start_ns;
    if (is_same(walk, made)) {
        made[-1].start_ns = start_ns;
        return WEFT_OK;
    }
    const size_t most = walk->opts->max_segments;
    if (most && segments->n >= most)
        return too_many(most, "segments", err);
    segments->n++;
    return keep_place(walk) ? WEFT_OK : weft_no_memory(err, "a critical path");
}

/* Arrows at one time make no segments: they are bounded by themselves. */
static enum weft_code add_arrow(struct walk *walk, const struct weft_path_arrow *made,
                                struct weft_err *err)
{
    const size_t most = walk->opts->max_segments;
    if (most && walk->to->arrows.n / WEFT_PATH_ARROWS >= most)
        return too_many(WEFT_PATH_ARROWS * most, "arrows", err);
    struct weft_path_arrow *arrow = WEFT_ROOM_PUSH(&walk->to->arrows);
    if (!arrow)
        return weft_no_memory(err, "a critical path");
    *arrow = *made;
    return WEFT_OK;
}

/* The edge as an arrow that arrives on the top thread now, which waited since start_ns. */
static enum weft_code add_edge(struct walk *walk, const struct weft_graph_edge *edge,
                               uint64_t start_ns, struct weft_err *err)
{
    const struct weft_path_arrow arrow = {
        .from_ns = edge->from_ns,
        .to_ns = walk->at_ns,
        .from_thread_id = edge->from_thread_id,
        .to_thread_id = top_of(walk)->thread_id,
        .wait_ns = walk->at_ns - start_ns,
        .lock = edge->lock,
        .edge = (uint8_t)edge->kind,
        .flags = edge->is_uncertain ? WEFT_PATH_UNCERTAIN : 0,
    };
    return add_arrow(walk, &arrow, err);
}

/* ---- from thread to thread ------------------------------------------------------------------- */

/* Why an edge is not followed; 0: it is. */
static unsigned refusal(const struct walk *walk, const struct weft_graph_edge *edge)
{
    if (is_on_stack(walk, edge->from_thread_id))
        return WEFT_PATH_CYCLE;
    return walk->n_frames < WEFT_PATH_DEPTH_MAX ? 0 : WEFT_PATH_TOO_DEEP;
}

static void count_refusal(struct walk *walk, unsigned why)
{
    walk->to->n_cycles += why == WEFT_PATH_CYCLE;
    walk->to->n_too_deep += why == WEFT_PATH_TOO_DEEP;
}

/* The frame of the thread to which the edge leads from the top one. */
static bool keep_frame(struct walk *walk, const struct weft_graph_edge *edge, uint32_t *place)
{
    if (!walk->opts->with_frames)
        return true;
    struct weft_path_frame *frame = WEFT_ROOM_PUSH(&walk->to->frames);
    if (!frame)
        return false;
    *place = (uint32_t)walk->to->frames.n - 1;
    const uint32_t below = top_of(walk)->place;
    if (edge->is_task)
        *frame = walk->to->frames.items[below];
    else
        *frame = (struct weft_path_frame){ .parent = below,
                                           .lock = edge->lock,
                                           .wait_ns = walk->now.wait_ns,
                                           .call = walk->now.call };
    frame->thread_id = edge->from_thread_id;
    frame->is_task = edge->is_task;
    frame->is_uncertain |= edge->is_uncertain;
    return true;
}

/* Goes over `edge`, which brought to the top thread what it waited for since start_ns; nothing of
 * the source lies before that. `state` is what the thread was meanwhile. A task is all that
 * matters: its source takes the place of the thread. */
static enum weft_code follow(struct walk *walk, const struct weft_graph_state *state,
                             const struct weft_graph_edge *edge, uint64_t start_ns,
                             struct weft_err *err)
{
    WEFT_TRY(add_edge(walk, edge, start_ns, err));
    if (edge->is_task)
        start_ns = top_of(walk)->limit_ns;
    const bool was_sent_before = edge->from_ns <= start_ns;
    const unsigned flags = WEFT_PATH_IN_FLIGHT | (edge->is_uncertain ? WEFT_PATH_UNCERTAIN : 0);
    enum weft_code code = add_segment(walk, state, was_sent_before ? start_ns : edge->from_ns,
                                      edge->from_thread_id, flags, err);
    if (code != WEFT_OK || was_sent_before)
        return code;
    const bool is_uncertain = top_of(walk)->is_uncertain || edge->is_uncertain;
    uint32_t place = 0;
    if (!keep_frame(walk, edge, &place))
        return weft_no_memory(err, "a critical path");
    walk->n_frames += !edge->is_task;
    if (edge->is_task)
        walk->hop_ns = walk->at_ns;
    *top_of(walk) = (struct frame){
        .thread_id = edge->from_thread_id,
        .limit_ns = start_ns,
        .top_ns = walk->at_ns,
        .first_arrow = walk->to->arrows.n,
        .place = place,
        .is_uncertain = is_uncertain,
    };
    return WEFT_OK;
}

/* The top thread reached its limit: back to the thread that waited since then. */
static enum weft_code leave(struct walk *walk, struct weft_err *err)
{
    const struct frame frame = *top_of(walk);
    if (--walk->n_frames == 0)
        return WEFT_OK;
    const struct weft_path_arrow arrow = {
        .from_ns = walk->at_ns,
        .to_ns = walk->at_ns,
        .from_thread_id = top_of(walk)->thread_id,
        .to_thread_id = frame.thread_id,
        .edge = WEFT_PATH_WAIT,
    };
    return add_arrow(walk, &arrow, err);
}

static enum weft_code wait(struct walk *walk, struct weft_graph_state *state, uint64_t start_ns,
                           struct weft_err *err)
{
    struct weft_graph_edge edge = { .from_thread_id = WEFT_ID_NONE };
    const uint64_t end_ns = state->end_ns;
    walk->now.wait_ns = state->start_ns;
    WEFT_TRY(walk->graph->ops->cause(walk->graph, top_of(walk)->thread_id, state, &edge, err));
    unsigned flags = end_ns > walk->at_ns ? WEFT_PATH_UNFINISHED : 0;
    if (!weft_graph_has_source(&edge))
        return add_segment(walk, state, start_ns, WEFT_ID_NONE, flags, err);
    walk->now.lock = edge.lock;
    edge.from_ns = edge.from_ns < walk->at_ns ? edge.from_ns : walk->at_ns;
    const uint64_t least_ns = edge.is_task ? top_of(walk)->limit_ns : start_ns;
    if (edge.is_open)
        return add_segment(walk, state, start_ns, edge.from_thread_id, flags | WEFT_PATH_UNFINISHED,
                           err);
    unsigned why = edge.from_ns > least_ns ? refusal(walk, &edge) : 0;
    if (edge.is_task && edge.from_ns == walk->hop_ns && walk->hop_ns == walk->at_ns)
        why = WEFT_PATH_CYCLE; /* two that post to each other at one time */
    if (!why)
        return follow(walk, state, &edge, start_ns, err);
    count_refusal(walk, why);
    return add_segment(walk, state, start_ns, edge.from_thread_id, flags | why, err);
}

/* Whether an arrow leads to what is before at_ns; one that leaves for a wait that begins there does
 * not. */
static bool is_earlier(const struct weft_path_arrow *arrow, uint64_t at_ns)
{
    return arrow->to_ns < at_ns || (arrow->to_ns == at_ns && arrow->edge != WEFT_PATH_WAIT);
}

/* Forgets what the top thread did before `at_ns`. */
static void take_back(struct walk *walk, uint64_t at_ns)
{
    struct weft_path_segments *segments = &walk->to->segments;
    struct weft_path_arrows *arrows = &walk->to->arrows;
    while (segments->n && segments->items[segments->n - 1].end_ns <= at_ns)
        segments->n--;
    if (segments->n && segments->items[segments->n - 1].start_ns < at_ns)
        segments->items[segments->n - 1].start_ns = at_ns;
    while (arrows->n > top_of(walk)->first_arrow &&
           is_earlier(&arrows->items[arrows->n - 1], at_ns))
        arrows->n--;
    walk->at_ns = at_ns;
}

/* The top thread's history begins here, above its limit: the path continues with its creator, or
 * the first thread that sent it something. */
static enum weft_code begin(struct walk *walk, struct weft_graph_state *state, struct weft_err *err)
{
    const struct frame *frame = top_of(walk);
    struct weft_graph_edge edge = { .from_thread_id = WEFT_ID_NONE };
    enum weft_code code = walk->graph->ops->arrival(walk->graph, frame->thread_id, walk->at_ns,
                                                    frame->top_ns, &edge, err);
    if (code != WEFT_OK || !weft_graph_has_source(&edge) || refusal(walk, &edge))
        return code == WEFT_OK ? add_segment(walk, state, frame->limit_ns, WEFT_ID_NONE, 0, err)
                               : code;
    take_back(walk, edge.to_ns);
    walk->now = (struct weft_path_place){ .wait_ns = frame->limit_ns, .lock = edge.lock };
    *state = (struct weft_graph_state){
        .state = WEFT_PATH_BLOCKED,
        .reason = edge.kind == WEFT_PATH_PACKET ? WEFT_PATH_NETWORK : WEFT_PATH_TASK,
        .cpu = -1,
    };
    return follow(walk, state, &edge, frame->limit_ns, err);
}

static enum weft_code step(struct walk *walk, struct weft_err *err)
{
    const struct frame *frame = top_of(walk);
    struct weft_graph_state state = { .cpu = -1 };
    if (walk->at_ns <= frame->limit_ns)
        return leave(walk, err);
    WEFT_TRY(walk->graph->ops->before(walk->graph, frame->thread_id, walk->at_ns, &state, err));
    const bool has_begin = state.start_ns > frame->limit_ns && state.start_ns < walk->at_ns;
    const uint64_t start_ns = has_begin ? state.start_ns : frame->limit_ns;
    walk->now = (struct weft_path_place){ .wait_ns = start_ns, .call = state.name };
    if (state.state == WEFT_PATH_BLOCKED)
        return wait(walk, &state, start_ns, err);
    if (state.state == WEFT_PATH_UNKNOWN && !has_begin)
        return begin(walk, &state, err);
    return add_segment(walk, &state, start_ns, WEFT_ID_NONE, 0, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct weft_path_arrow *x = a, *y = b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    if (x->to_ns != y->to_ns)
        return x->to_ns < y->to_ns ? -1 : 1;
    if (x->from_thread_id != y->from_thread_id)
        return x->from_thread_id < y->from_thread_id ? -1 : 1;
    return (x->to_thread_id > y->to_thread_id) - (x->to_thread_id < y->to_thread_id);
}

static void put_in_order(struct weft_path_walked *walked)
{
    struct weft_path_segment *items = walked->segments.items;
    for (size_t i = 0, n = walked->segments.n; i < n / 2; i++) {
        const struct weft_path_segment last = items[n - 1 - i];
        items[n - 1 - i] = items[i];
        items[i] = last;
    }
    struct weft_path_place *places = walked->places.items;
    walked->places.n = walked->places.n ? walked->segments.n : 0;
    for (size_t i = 0, n = walked->places.n; i < n / 2; i++) {
        const struct weft_path_place last = places[n - 1 - i];
        places[n - 1 - i] = places[i];
        places[i] = last;
    }
    if (walked->arrows.n && !walked->frames.n) /* not needed with frames */
        qsort(walked->arrows.items, walked->arrows.n, sizeof *walked->arrows.items, by_time);
}

static bool keep_first(struct walk *walk)
{
    struct weft_path_frame *frame =
        walk->opts->with_frames ? WEFT_ROOM_PUSH(&walk->to->frames) : NULL;
    if (frame)
        *frame = (struct weft_path_frame){ .parent = WEFT_ID_NONE,
                                           .thread_id = walk->opts->thread_id,
                                           .wait_ns = walk->opts->from_ns };
    return frame || !walk->opts->with_frames;
}

enum weft_code weft_path_walk(struct weft_graph *graph, const struct weft_path_walk_opts *opts,
                              struct weft_path_walked *walked, struct weft_err *err)
{
    walked->segments.n = walked->arrows.n = walked->frames.n = walked->places.n = 0;
    walked->n_cycles = walked->n_too_deep = 0;
    struct walk *walk = malloc(sizeof *walk); /* not cleared: few of its frames are used */
    if (!walk)
        return weft_no_memory(err, "a critical path");
    walk->graph = graph;
    walk->opts = opts;
    walk->to = walked;
    walk->n_frames = 1;
    walk->at_ns = opts->to_ns;
    walk->hop_ns = UINT64_MAX;
    walk->now = (struct weft_path_place){ 0 };
    walk->frames[0] = (struct frame){ .thread_id = opts->thread_id,
                                      .limit_ns = opts->from_ns,
                                      .top_ns = opts->to_ns };
    enum weft_code code = keep_first(walk) ? WEFT_OK : weft_no_memory(err, "a critical path");
    while (code == WEFT_OK && walk->n_frames > 0)
        code = weft_progress_is_cancelled(opts->progress)
                   ? weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted")
                   : step(walk, err);
    free(walk);
    if (code == WEFT_OK)
        put_in_order(walked);
    return code;
}

void weft_path_walked_fini(struct weft_path_walked *walked)
{
    WEFT_ROOM_FINI(&walked->segments);
    WEFT_ROOM_FINI(&walked->arrows);
    WEFT_ROOM_FINI(&walked->frames);
    WEFT_ROOM_FINI(&walked->places);
}
