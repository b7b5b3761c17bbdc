/* SPDX-License-Identifier: MIT
 *
 * Turns the segments of a walked path into nodes with times. A wait continues in the thread that
 * ended it, up to a limit of threads on the chain; time without a CPU or in a device queue is
 * shared between the threads that used it, in whole nanoseconds whose sum is exact (largest
 * remainder). Recent system calls and waits are cached, as paths repeat.
 */
#include "analysis/ecct/fill.h"

#include "base/u128.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Threads that are listed in one wait for a device, at most; the rest is omitted. */
enum { MOST_SHARERS = 256 };

/* Of a stack, from its innermost one, in which a system call is looked for. */
enum { MOST_FRAMES = 64 };

/* Where a frame of the path hangs in the tree. */
struct place {
    struct weft_ecct_spot spot;
    unsigned n_threads; /* on the chain, with this one; 0: not known yet */
    bool is_over;       /* the chain is too long: all of it is spent here */
};

/* A thread that held what the path waited for. */
struct piece {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    uint64_t sum_ns; /* of a device: of all requests of the thread */
};

/* Where a wait hangs: it is asked for by what the path went to, and by what is left of the wait. */
struct wait {
    uint64_t at_ns;
    uint32_t thread_id;
    struct weft_ecct_spot from, to;
    bool is_known;
};

/* What a system call is below a node: paths make few, again and again. */
enum { CALLS = 256, CALL_BYTES = 32 };

struct call {
    uint32_t node, frame;
    bool is_told;    /* by the stack itself */
    uint8_t n_bytes; /* 0: not known */
    char name[CALL_BYTES];
};

enum { WAITS = 16 };

struct weft_ecct_fill {
    struct weft_ecct_tree *tree;
    const struct weft_ecct_ops *ops;
    void *stacks;
    unsigned max_threads;
    struct weft_graph *graph;
    const struct weft_path_walked *walked;
    struct weft_ecct_filled filled;
    struct {
        struct place *items; /* by frame of the path */
        size_t n, cap;
    } places;
    struct {
        struct piece *items;
        size_t n, cap;
    } pieces;
    struct weft_ecct_parts parts, shares;
    struct wait waits[WAITS]; /* of this path */
    struct call calls[CALLS];
    uint32_t running, preempted;           /* their frames + 1; 0: not known */
    uint32_t states[WEFT_PATH_REASONS][2]; /* frames + 1 of waits, in flight or not; 0: not known */
    struct {
        struct weft_ecct_entry *items;
        size_t n, cap;
    } entries;
    struct {
        uint32_t *items; /* by node: its entry + 1; 0: none */
        size_t n, cap;
    } entry_of;
};

/* ---- shares ---------------------------------------------------------------------------------- */

static const struct weft_frame running = { .name = { "running", 7 },
                                           .kind = WEFT_FRAME_STATE,
                                           .state = WEFT_FRAME_RUNNING };
static const struct weft_frame taken = { .name = { "preempted", 9 },
                                         .kind = WEFT_FRAME_STATE,
                                         .state = WEFT_FRAME_PREEMPTED };

struct remainder {
    uint64_t rest;
    size_t part;
};

static int by_rest(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    if (x->rest != y->rest)
        return x->rest > y->rest ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* Without memory the first parts get what is left: less fair, and still the sum. */
static void give_rest(struct weft_ecct_part *parts, const uint64_t *rests, size_t n_parts,
                      uint64_t left)
{
    struct remainder *order = left ? calloc(n_parts, sizeof *order) : NULL;
    for (size_t i = 0; order && i < n_parts; i++)
        order[i] = (struct remainder){ rests[i], i };
    if (order)
        qsort(order, n_parts, sizeof *order, by_rest);
    for (size_t i = 0; i < left; i++)
        parts[order ? order[i].part : i].weight++;
    free(order);
}

/* What a weight comes to, rounded down, and its remainder: of sums of more than 64 bits, which
 * remainders are compared by, the upper ones. */
static uint64_t share_of(uint64_t weight, weft_u128 sum, uint64_t total, uint64_t *rest)
{
    const weft_u128 product = (weft_u128)total * weight;
    if ((sum | product) >> 64 == 0) {
        *rest = (uint64_t)product % (uint64_t)sum;
        return (uint64_t)product / (uint64_t)sum;
    }
    *rest = (uint64_t)(sum >> 64 ? product % sum >> 64 : product % sum);
    return (uint64_t)(product / sum);
}

static void share_out(struct weft_ecct_part *parts, size_t n_parts, weft_u128 sum, uint64_t total)
{
    uint64_t left = total, few[16];
    uint64_t *rests = n_parts <= sizeof few / sizeof *few ? few : calloc(n_parts, sizeof *rests);
    for (size_t i = 0; i < n_parts; i++) {
        uint64_t rest;
        parts[i].weight = share_of(parts[i].weight, sum, total, &rest);
        if (rests)
            rests[i] = rest;
        left -= parts[i].weight;
    }
    if (rests)
        give_rest(parts, rests, n_parts, left);
    else
        for (size_t i = 0; i < left; i++)
            parts[i].weight++;
    if (rests != few)
        free(rests);
}

void weft_ecct_share(struct weft_ecct_part *parts, size_t n_parts, uint64_t total)
{
    weft_u128 sum = 0;
    for (size_t i = 0; i < n_parts; i++)
        sum += parts[i].weight;
    if (sum && sum != total) /* else each has its share */
        share_out(parts, n_parts, sum, total);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static enum weft_code go_down(struct weft_ecct_fill *fill, const struct weft_frame *frame,
                              struct weft_ecct_spot *spot, struct weft_err *err)
{
    uint32_t id;
    enum weft_code code = weft_ecct_tree_add(fill->tree, frame, &id, err);
    return code == WEFT_OK
               ? weft_ecct_tree_node(fill->tree, spot->node, id, spot->confidence, &spot->node, err)
               : code;
}

static enum weft_code go_to_state(struct weft_ecct_fill *fill, const char *name,
                                  enum weft_frame_state state, struct weft_ecct_spot *spot,
                                  struct weft_err *err)
{
    const struct weft_frame frame = { .name = weft_str_of(name),
                                      .kind = WEFT_FRAME_STATE,
                                      .state = (uint8_t)state };
    return go_down(fill, &frame, spot, err);
}

/* Likewise, of a frame that is the same each time: `*known` is its number + 1, 0 at first. */
static enum weft_code go_to_known(struct weft_ecct_fill *fill, uint32_t *known,
                                  const struct weft_frame *frame, struct weft_ecct_spot *spot,
                                  struct weft_err *err)
{
    uint32_t id;
    if (*known == 0) {
        WEFT_TRY(weft_ecct_tree_add(fill->tree, frame, &id, err));
        *known = id + 1;
    }
    return weft_ecct_tree_node(fill->tree, spot->node, *known - 1, spot->confidence, &spot->node,
                               err);
}

static void doubt(struct weft_ecct_spot *spot, enum weft_confidence confidence)
{
    if (confidence > spot->confidence)
        spot->confidence = confidence;
}

static bool holds(struct weft_str text, struct weft_str part)
{
    return text.n_bytes >= part.n_bytes &&
           memmem(text.bytes, text.n_bytes, part.bytes, part.n_bytes) != NULL;
}

/* Whether the stack of a thread shows the system call itself: the function that makes it, or what
 * the kernel did in it. */
static bool tells_of_call(const struct weft_ecct_tree *tree, uint32_t node, struct weft_str call)
{
    const struct weft_ecct_node *nodes = weft_ecct_tree_nodes(tree);
    const struct weft_frame *frames = weft_ecct_tree_frames(tree);
    for (unsigned i = 0; node && i < MOST_FRAMES; i++, node = nodes[node].parent) {
        const struct weft_frame *frame = &frames[nodes[node].frame];
        if (frame->kind != WEFT_FRAME_FUNCTION)
            return false;
        if ((i == 0 && holds(frame->name, call)) || holds(frame->name, WEFT_STR("entry_SYSCALL")))
            return true;
    }
    return false;
}

static enum weft_code find_call(struct weft_ecct_fill *fill, struct weft_str name, uint32_t node,
                                struct call *call, struct weft_err *err)
{
    call->n_bytes = 0;
    call->node = node;
    call->is_told = tells_of_call(fill->tree, node, name);
    const enum weft_code code = call->is_told
                                    ? WEFT_OK
                                    : weft_ecct_tree_frame(fill->tree, name, (struct weft_str){ 0 },
                                                           WEFT_FRAME_FUNCTION, &call->frame, err);
    if (code == WEFT_OK && name.n_bytes <= CALL_BYTES) {
        memcpy(call->name, name.bytes, name.n_bytes);
        call->n_bytes = (uint8_t)name.n_bytes;
    }
    return code;
}

static enum weft_code go_to_call(struct weft_ecct_fill *fill, struct weft_str name,
                                 struct weft_ecct_spot *spot, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (name.n_bytes == 0)
        return WEFT_OK;
    struct call *call = &fill->calls[(spot->node ^ name.n_bytes << 3) % CALLS];
    if (call->node != spot->node || call->n_bytes != name.n_bytes ||
        memcmp(call->name, name.bytes, name.n_bytes) != 0)
        code = find_call(fill, name, spot->node, call, err);
    return code == WEFT_OK && !call->is_told
               ? weft_ecct_tree_node(fill->tree, spot->node, call->frame, spot->confidence,
                                     &spot->node, err)
               : code;
}

static enum weft_code spend(struct weft_ecct_fill *fill, const struct weft_ecct_spot *spot,
                            uint64_t ns, struct weft_err *err)
{
    if (ns == 0)
        return WEFT_OK;
    while (fill->entry_of.n <= spot->node)
        if (!WEFT_VEC_PUSH(&fill->entry_of))
            return weft_no_memory(err, "the tree of a path");
    uint32_t *place = &fill->entry_of.items[spot->node];
    struct weft_ecct_entry *entry =
        *place ? &fill->entries.items[*place - 1] : WEFT_VEC_PUSH(&fill->entries);
    if (!entry)
        return weft_no_memory(err, "the tree of a path");
    if (*place == 0)
        *place = (uint32_t)fill->entries.n;
    entry->node = spot->node;
    entry->ns += ns;
    return WEFT_OK;
}

/* ---- chains ---------------------------------------------------------------------------------- */

static enum weft_code place_of(struct weft_ecct_fill *fill, uint32_t frame, struct place *place,
                               struct weft_err *err);

static uint32_t first_thread(const struct weft_ecct_fill *fill)
{
    return fill->walked->frames.items[0].thread_id;
}

static bool is_on_chain(const struct weft_ecct_fill *fill, uint32_t frame, uint32_t thread_id)
{
    const struct weft_path_frame *frames = fill->walked->frames.items;
    for (; frame != WEFT_ID_NONE; frame = frames[frame].parent)
        if (frames[frame].thread_id == thread_id)
            return true;
    return false;
}

static enum weft_code go_to_stack(struct weft_ecct_fill *fill, uint32_t thread_id, uint64_t at_ns,
                                  struct weft_ecct_spot *spot, struct weft_err *err)
{
    struct wait *wait = &fill->waits[(at_ns ^ at_ns >> 7 ^ thread_id) % WAITS];
    if (wait->is_known && wait->at_ns == at_ns && wait->thread_id == thread_id &&
        wait->from.node == spot->node && wait->from.confidence == spot->confidence) {
        *spot = wait->to;
        return WEFT_OK;
    }
    wait->from = *spot;
    const enum weft_code code =
        fill->ops->waiting(fill->stacks, fill->tree, thread_id, at_ns, spot, err);
    wait->at_ns = at_ns;
    wait->thread_id = thread_id;
    wait->to = *spot;
    wait->is_known = code == WEFT_OK;
    return code;
}

/* What number `lock` of a path stands for; NULL of 0, nothing. */
static const struct weft_lock_object *object_of(const struct weft_ecct_fill *fill, uint32_t lock)
{
    return lock ? fill->ops->lock(fill->stacks, fill->graph, lock) : NULL;
}

/* "futex in serve (0x7f01c8000b60)" without what another run has elsewhere, and each thread may
 * have of its own. */
static struct weft_str without_address(struct weft_str name)
{
    static const char front[] = " (0x";
    const char *at =
        name.n_bytes ? memmem(name.bytes, name.n_bytes, front, sizeof front - 1) : NULL;
    return at ? (struct weft_str){ name.bytes, (size_t)(at - name.bytes) } : name;
}

/* What the thread of the frame waited in: its stack, the system call, the lock. */
static enum weft_code go_to_wait(struct weft_ecct_fill *fill, uint32_t thread_id, uint64_t wait_ns,
                                 struct weft_str call, uint32_t lock, struct weft_ecct_spot *spot,
                                 struct weft_err *err)
{
    enum weft_code code = go_to_stack(fill, thread_id, wait_ns, spot, err);
    WEFT_THEN(code, go_to_call(fill, call, spot, err));
    const struct weft_lock_object *object = object_of(fill, lock);
    const struct weft_frame frame = { .name = object ? without_address(object->name)
                                                     : (struct weft_str){ 0 },
                                      .kind = WEFT_FRAME_LOCK };
    return code == WEFT_OK && frame.name.n_bytes ? go_down(fill, &frame, spot, err) : code;
}

/* From the waiting thread to the one that the path went on in. */
static enum weft_code hang(struct weft_ecct_fill *fill, const struct weft_path_frame *frame,
                           struct place *place, struct weft_err *err)
{
    const uint32_t parent = frame->parent;
    enum weft_code code = WEFT_OK;
    *place = (struct place){ .n_threads = 1 };
    if (parent != WEFT_ID_NONE) {
        code = place_of(fill, parent, place, err);
        if (code != WEFT_OK || place->is_over)
            return code;
        code = go_to_wait(fill, fill->walked->frames.items[parent].thread_id, frame->wait_ns,
                          frame->call, frame->lock, &place->spot, err);
        place->n_threads++;
    }
    if (frame->is_uncertain)
        doubt(&place->spot, WEFT_CONFIDENCE_INFERRED);
    if (code != WEFT_OK)
        return code;
    if (place->n_threads > fill->max_threads) {
        fill->filled.n_too_deep++;
        place->is_over = true;
        return go_to_state(fill, "blocked: further threads", WEFT_FRAME_BLOCKED, &place->spot, err);
    }
    struct weft_frame thread =
        fill->ops->thread(fill->stacks, frame->thread_id, first_thread(fill));
    const struct weft_lock_object *object = object_of(fill, frame->lock);
    if (thread.name.n_bytes == 0)
        thread.name = WEFT_STR("idle");
    if (object)
        thread.waited_for = (uint8_t)(object->kind + 1);
    return go_down(fill, &thread, &place->spot, err);
}

static enum weft_code place_of(struct weft_ecct_fill *fill, uint32_t frame, struct place *place,
                               struct weft_err *err)
{
    const struct weft_path_frame *from = &fill->walked->frames.items[frame];
    enum weft_code code = WEFT_OK;
    if (fill->places.items[frame].n_threads == 0) {
        struct place made = { .n_threads = 1 };
        if (from->parent != WEFT_ID_NONE || from->is_task)
            code = hang(fill, from, &made, err);
        fill->places.items[frame] = made;
    }
    *place = fill->places.items[frame];
    return code;
}

/* ---- running --------------------------------------------------------------------------------- */

static int by_names(const void *a, const void *b, void *tree)
{
    const struct weft_ecct_part *x = a, *y = b;
    return weft_ecct_tree_compare(tree, x->spot.node, y->spot.node);
}

/* Spends an interval on the stacks of a thread that ran in it. `call` is the system call that it
 * was in, `ending` the name of a state below, or NULL. `ns` is the interval's length, or its share.
 */
static enum weft_code run(struct weft_ecct_fill *fill, const struct weft_ecct_interval *interval,
                          uint64_t ns, struct weft_str call, const char *ending,
                          const struct weft_ecct_spot *below, struct weft_err *err)
{
    const uint64_t length_ns = interval->to_ns - interval->from_ns;
    uint64_t sum_ns = 0;
    bool is_share = false;
    fill->parts.n = 0;
    enum weft_code code =
        fill->ops->running(fill->stacks, fill->tree, interval, below, &fill->parts, &is_share, err);
    for (size_t i = 0; i < fill->parts.n; i++)
        sum_ns += fill->parts.items[i].weight;
    if (code == WEFT_OK && (sum_ns == 0 || (!is_share && sum_ns < length_ns))) {
        struct weft_ecct_part *rest = WEFT_VEC_PUSH(&fill->parts);
        if (!rest)
            return weft_no_memory(err, "the tree of a path");
        *rest = (struct weft_ecct_part){ *below, length_ns - sum_ns };
    }
    /* what is left over when they are shared out goes by their order */
    if (!is_share && ns != length_ns && fill->parts.n > 1)
        qsort_r(fill->parts.items, fill->parts.n, sizeof *fill->parts.items, by_names, fill->tree);
    weft_ecct_share(fill->parts.items, fill->parts.n, ns);
    for (size_t i = 0; i < fill->parts.n && code == WEFT_OK; i++) {
        struct weft_ecct_spot spot = fill->parts.items[i].spot;
        if (fill->parts.items[i].weight == 0)
            continue;
        code = go_to_call(fill, call, &spot, err);
        if (code == WEFT_OK && (ending || spot.node == below->node))
            code = ending ? go_to_state(fill, ending, WEFT_FRAME_INTERRUPTED, &spot, err)
                          : go_to_known(fill, &fill->running, &running, &spot, err);
        WEFT_THEN(code, spend(fill, &spot, fill->parts.items[i].weight, err));
    }
    return code;
}

/* ---- waiting for what others have ------------------------------------------------------------ */

static enum weft_code see_occupant(void *context, uint32_t thread_id, uint64_t from_ns,
                                   uint64_t to_ns, struct weft_err *err)
{
    struct weft_ecct_fill *fill = context;
    struct piece *piece = WEFT_VEC_PUSH(&fill->pieces);
    if (!piece)
        return weft_no_memory(err, "the tree of a path");
    *piece = (struct piece){ thread_id, from_ns, to_ns, to_ns - from_ns };
    return WEFT_OK;
}

static enum weft_code see_sharer(void *context, uint32_t thread_id, uint64_t from_ns,
                                 uint64_t to_ns, struct weft_err *err)
{
    struct weft_ecct_fill *fill = context;
    for (size_t i = 0; i < fill->pieces.n; i++)
        if (fill->pieces.items[i].thread_id == thread_id) {
            fill->pieces.items[i].sum_ns += to_ns - from_ns;
            return WEFT_OK;
        }
    return fill->pieces.n < MOST_SHARERS ? see_occupant(context, thread_id, from_ns, to_ns, err)
                                         : WEFT_OK;
}

/* The frame of another thread below a spot; false: its time stays at the spot. */
static enum weft_code go_to_other(struct weft_ecct_fill *fill, uint32_t frame, uint32_t thread_id,
                                  struct weft_ecct_spot *spot, bool *is_there, struct weft_err *err)
{
    const struct weft_frame thread = fill->ops->thread(fill->stacks, thread_id, first_thread(fill));
    *is_there = thread.name.n_bytes > 0;
    if (!*is_there)
        return WEFT_OK;
    if (is_on_chain(fill, frame, thread_id)) {
        fill->filled.n_on_chain++;
        *is_there = false;
        return WEFT_OK;
    }
    return go_down(fill, &thread, spot, err);
}

/* Splits a segment of length_ns between the pieces and, last, `own`: into fill->shares. */
static bool share_pieces(struct weft_ecct_fill *fill, uint64_t own, uint64_t length_ns)
{
    fill->shares.n = 0;
    for (size_t i = 0; i <= fill->pieces.n; i++) {
        struct weft_ecct_part *part = WEFT_VEC_PUSH(&fill->shares);
        if (!part)
            return false;
        part->weight = i < fill->pieces.n ? fill->pieces.items[i].sum_ns : own;
    }
    weft_ecct_share(fill->shares.items, fill->shares.n, length_ns);
    return true;
}

/* The threads that had the CPU ran there: each interval counts with its length, the rest belongs to
 * none. */
static enum weft_code preempted(struct weft_ecct_fill *fill,
                                const struct weft_path_segment *segment, uint32_t frame,
                                struct weft_ecct_spot *spot, struct weft_err *err)
{
    const uint64_t length_ns = segment->end_ns - segment->start_ns;
    uint64_t sum_ns = 0;
    enum weft_code code = WEFT_OK;
    fill->pieces.n = 0;
    if (fill->graph->ops->occupants)
        code = fill->graph->ops->occupants(fill->graph, segment->thread_id, segment->cpu,
                                           segment->start_ns, segment->end_ns, see_occupant, fill,
                                           err);
    for (size_t i = 0; i < fill->pieces.n; i++)
        sum_ns += fill->pieces.items[i].sum_ns;
    if (code == WEFT_OK &&
        !share_pieces(fill, sum_ns < length_ns ? length_ns - sum_ns : 0, length_ns))
        code = weft_no_memory(err, "the tree of a path");
    for (size_t i = 0; i < fill->pieces.n && code == WEFT_OK; i++) {
        const struct piece *piece = &fill->pieces.items[i];
        const struct weft_ecct_interval interval = { piece->thread_id, piece->from_ns, piece->to_ns,
                                                     piece->to_ns };
        const uint64_t ns = fill->shares.items[i].weight;
        struct weft_ecct_spot other = *spot;
        bool is_there;
        code = go_to_other(fill, frame, piece->thread_id, &other, &is_there, err);
        WEFT_THEN(code, is_there
                            ? run(fill, &interval, ns, (struct weft_str){ 0 }, NULL, &other, err)
                            : spend(fill, spot, ns, err));
    }
    return code == WEFT_OK ? spend(fill, spot, fill->shares.items[fill->pieces.n].weight, err)
                           : code;
}

/* The thread's own request is one of those that the device served, all the time. */
static enum weft_code shared_device(struct weft_ecct_fill *fill,
                                    const struct weft_path_segment *segment, uint32_t frame,
                                    struct weft_ecct_spot *spot, struct weft_err *err)
{
    const uint64_t length_ns = segment->end_ns - segment->start_ns;
    enum weft_code code = WEFT_OK;
    fill->pieces.n = 0;
    if (fill->graph->ops->sharers)
        code = fill->graph->ops->sharers(fill->graph, segment->thread_id, segment->start_ns,
                                         segment->end_ns, see_sharer, fill, err);
    if (code == WEFT_OK && !share_pieces(fill, length_ns, length_ns))
        code = weft_no_memory(err, "the tree of a path");
    for (size_t i = 0; i < fill->pieces.n && code == WEFT_OK; i++) {
        const struct piece *piece = &fill->pieces.items[i];
        struct weft_ecct_spot other = *spot;
        bool is_there;
        doubt(&other, WEFT_CONFIDENCE_INFERRED);
        code = go_to_other(fill, frame, piece->thread_id, &other, &is_there, err);
        if (code == WEFT_OK && is_there)
            code = fill->ops->waiting(fill->stacks, fill->tree, piece->thread_id, piece->from_ns,
                                      &other, err);
        WEFT_THEN(code, spend(fill, is_there ? &other : spot, fill->shares.items[i].weight, err));
    }
    return code == WEFT_OK ? spend(fill, spot, fill->shares.items[fill->pieces.n].weight, err)
                           : code;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The end of a segment with the interrupts that follow it: a sample that a timer takes of what the
 * thread does is taken within an interrupt. */
static uint64_t end_of_samples(const struct weft_path_walked *walked, size_t place)
{
    const struct weft_path_segment *segments = walked->segments.items;
    uint64_t end_ns = segments[place].end_ns;
    for (size_t i = place + 1; i < walked->segments.n; i++) {
        if (segments[i].thread_id != segments[place].thread_id || segments[i].start_ns != end_ns ||
            segments[i].state != WEFT_PATH_INTERRUPTED)
            break;
        end_ns = segments[i].end_ns;
    }
    return end_ns;
}

enum { NAME_BYTES = 96 };

/* "blocked: block device, in flight"; "blocked: in poll"; "blocked: poll, timed out" */
static void name_wait(const struct weft_path_segment *segment, bool is_named, char name[NAME_BYTES])
{
    const struct weft_str call = segment->name;
    if (is_named) {
        (void)snprintf(name, NAME_BYTES, "blocked: %s%.*s",
                       segment->reason == WEFT_PATH_CALL ? "in " : "",
                       (int)(call.n_bytes < 64 ? call.n_bytes : 64), call.bytes);
        return;
    }
    (void)snprintf(name, NAME_BYTES, "blocked: %s%s",
                   weft_path_reason_name((enum weft_path_reason)segment->reason),
                   segment->flags & WEFT_PATH_IN_FLIGHT ? ", in flight" : "");
    for (char *at = name; *at; at++)
        *at = *at == '_' ? ' ' : *at;
}

static uint8_t flags_of(const struct weft_path_segment *segment, bool is_named)
{
    if (is_named)
        return segment->flags & WEFT_PATH_TIMED_OUT ? WEFT_FRAME_TIMED_OUT : WEFT_FRAME_IN_CALL;
    return segment->flags & WEFT_PATH_IN_FLIGHT ? WEFT_FRAME_IN_FLIGHT : 0;
}

/* Waits that only their reason names have the same frame each time. */
static enum weft_code go_to_reason(struct weft_ecct_fill *fill,
                                   const struct weft_path_segment *segment,
                                   struct weft_ecct_spot *spot, struct weft_err *err)
{
    const bool is_named = segment->flags & WEFT_PATH_TIMED_OUT ||
                          (segment->reason == WEFT_PATH_CALL && segment->name.n_bytes > 0);
    const bool is_in_flight = segment->flags & WEFT_PATH_IN_FLIGHT;
    uint32_t *known = &fill->states[segment->reason][is_in_flight];
    char name[NAME_BYTES] = "";
    if (is_named || *known == 0)
        name_wait(segment, is_named, name);
    const struct weft_frame frame = { .name = weft_str_of(name),
                                      .kind = WEFT_FRAME_STATE,
                                      .state = WEFT_FRAME_BLOCKED,
                                      .reason = segment->reason,
                                      .flags = flags_of(segment, is_named) };
    return is_named ? go_down(fill, &frame, spot, err)
                    : go_to_known(fill, known, &frame, spot, err);
}

static enum weft_code blocked(struct weft_ecct_fill *fill, const struct weft_path_segment *segment,
                              const struct weft_path_place *place, struct weft_ecct_spot *spot,
                              struct weft_err *err)
{
    const bool is_queued =
        segment->reason == WEFT_PATH_TASK && segment->flags & WEFT_PATH_IN_FLIGHT;
    enum weft_code code = WEFT_OK;
    if (segment->reason == WEFT_PATH_WAKER_UNKNOWN || segment->reason == WEFT_PATH_IDLE)
        doubt(spot, WEFT_CONFIDENCE_UNEXPLAINED);
    if (!is_queued)
        code = go_to_wait(fill, segment->thread_id, place->wait_ns, place->call, place->lock, spot,
                          err);
    WEFT_THEN(code, go_to_reason(fill, segment, spot, err));
    if (code != WEFT_OK)
        return code;
    if (segment->reason == WEFT_PATH_BLOCK_DEVICE)
        return shared_device(fill, segment, place->frame, spot, err);
    const uint64_t length_ns = segment->end_ns - segment->start_ns;
    const struct weft_ecct_interval interval = { segment->thread_id, segment->start_ns,
                                                 segment->end_ns, segment->end_ns };
    /* what stood before a task in its queue is what the thread did meanwhile */
    return is_queued ? run(fill, &interval, length_ns, (struct weft_str){ 0 }, NULL, spot, err)
                     : spend(fill, spot, length_ns, err);
}

static enum weft_code ran(struct weft_ecct_fill *fill, size_t i, const struct weft_ecct_spot *spot,
                          struct weft_err *err)
{
    const struct weft_path_segment *segment = &fill->walked->segments.items[i];
    const struct weft_ecct_interval interval = { segment->thread_id, segment->start_ns,
                                                 segment->end_ns, end_of_samples(fill->walked, i) };
    const bool is_interrupted = segment->state == WEFT_PATH_INTERRUPTED;
    char ending[NAME_BYTES];
    if (is_interrupted)
        (void)snprintf(ending, sizeof ending, "interrupted%s%.*s",
                       segment->name.n_bytes ? ": " : "",
                       (int)(segment->name.n_bytes < 64 ? segment->name.n_bytes : 64),
                       segment->name.n_bytes ? segment->name.bytes : "");
    return run(fill, &interval, segment->end_ns - segment->start_ns,
               segment->state == WEFT_PATH_KERNEL ? segment->name : (struct weft_str){ 0 },
               is_interrupted ? ending : NULL, spot, err);
}

static enum weft_code fill_segment(struct weft_ecct_fill *fill, size_t i, struct weft_err *err)
{
    const struct weft_path_segment *segment = &fill->walked->segments.items[i];
    const struct weft_path_place *from = &fill->walked->places.items[i];
    struct place place;
    enum weft_code code = place_of(fill, from->frame, &place, err);
    if (code != WEFT_OK)
        return code;
    struct weft_ecct_spot spot = place.spot;
    if (segment->flags & WEFT_PATH_UNCERTAIN)
        doubt(&spot, WEFT_CONFIDENCE_INFERRED);
    if (place.is_over)
        return spend(fill, &spot, segment->end_ns - segment->start_ns, err);
    switch ((enum weft_path_state)segment->state) {
    case WEFT_PATH_PREEMPTED:
        code = go_to_wait(fill, segment->thread_id, segment->start_ns, from->call, 0, &spot, err);
        WEFT_THEN(code, go_to_known(fill, &fill->preempted, &taken, &spot, err));
        return code == WEFT_OK ? preempted(fill, segment, from->frame, &spot, err) : code;
    case WEFT_PATH_BLOCKED:
        return blocked(fill, segment, from, &spot, err);
    case WEFT_PATH_UNKNOWN:
        doubt(&spot, WEFT_CONFIDENCE_UNEXPLAINED);
        code = go_to_state(fill, "unknown", WEFT_FRAME_UNKNOWN, &spot, err);
        return code == WEFT_OK ? spend(fill, &spot, segment->end_ns - segment->start_ns, err)
                               : code;
    default:
        return ran(fill, i, &spot, err);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

struct weft_ecct_fill *weft_ecct_fill_new(struct weft_ecct_tree *tree,
                                          const struct weft_ecct_ops *ops, void *stacks,
                                          unsigned max_threads)
{
    struct weft_ecct_fill *fill = calloc(1, sizeof *fill);
    if (fill)
        *fill =
            (struct weft_ecct_fill){ .tree = tree,
                                     .ops = ops,
                                     .stacks = stacks,
                                     .max_threads = max_threads ? max_threads : WEFT_ECCT_THREADS };
    return fill;
}

void weft_ecct_fill_free(struct weft_ecct_fill *fill)
{
    if (!fill)
        return;
    WEFT_VEC_FINI(&fill->places);
    WEFT_VEC_FINI(&fill->pieces);
    WEFT_VEC_FINI(&fill->parts);
    WEFT_VEC_FINI(&fill->shares);
    WEFT_VEC_FINI(&fill->entries);
    WEFT_VEC_FINI(&fill->entry_of);
    free(fill);
}

enum weft_code weft_ecct_fill(struct weft_ecct_fill *fill, struct weft_graph *graph,
                              const struct weft_path_walked *walked,
                              struct weft_ecct_filled *filled, struct weft_err *err)
{
    for (size_t i = 0; i < fill->entries.n; i++)
        fill->entry_of.items[fill->entries.items[i].node] = 0;
    fill->entries.n = fill->places.n = 0;
    for (size_t i = 0; i < WAITS; i++)
        fill->waits[i].is_known = false;
    fill->graph = graph;
    fill->walked = walked;
    fill->filled = (struct weft_ecct_filled){ 0 };
    for (size_t i = 0; i < walked->frames.n; i++)
        if (!WEFT_VEC_PUSH(&fill->places))
            return weft_no_memory(err, "the tree of a path");
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < walked->segments.n && code == WEFT_OK; i++)
        code = fill_segment(fill, i, err);
    fill->filled.entries = fill->entries.items;
    fill->filled.n_entries = fill->entries.n;
    *filled = fill->filled;
    return code;
}
