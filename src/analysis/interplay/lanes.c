/* SPDX-License-Identifier: MIT
 *
 * Lanes of locks: when each thread had an object, had it while others waited, and waited for it.
 */
#include "analysis/interplay/interplay.h"
#include "analysis/interplay/tables.h"
#include "base/room.h"

#include <stdlib.h>

struct piece {
    uint64_t start_ns, end_ns;
    uint32_t thread_id, object;
    uint8_t state; /* enum weft_lane_state */
};

struct span {
    uint64_t start_ns, end_ns;
};

struct job {
    const struct weft_interplay *interplay;
    const struct weft_lock_lanes_opts *opts;
    uint8_t *is_kept;
    uint32_t *by_object; /* waits by object, then begin */
    struct weft_interplay_names names;
    struct {
        struct piece *items; /* by thread, object, begin */
        size_t n, cap;
    } pieces;
    struct {
        struct span *items; /* when anybody waits for the object in work; apart */
        size_t n, cap;
    } waited;
    struct {
        struct weft_lock_lane *items;
        size_t n, cap;
    } lanes;
    struct {
        struct weft_lane_piece *items; /* of the lane in work */
        size_t n, cap;
    } drawn;
    struct weft_lock_lanes_table *table;
};

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool is_asked_for(const struct job *job, uint32_t object)
{
    return job->opts->object_id == UINT64_MAX || job->opts->object_id == object;
}

/* The part inside the window. */
static bool add_piece(struct job *job, uint32_t thread_id, uint32_t object, uint64_t start_ns,
                      uint64_t end_ns, enum weft_lane_state state)
{
    if (!job->is_kept[thread_id] || start_ns >= end_ns ||
        !weft_interplay_touches(start_ns, end_ns, job->opts->from_ns, job->opts->to_ns))
        return true;
    struct piece *piece = WEFT_ROOM_PUSH(&job->pieces);
    if (piece)
        *piece = (struct piece){
            .start_ns = start_ns > job->opts->from_ns ? start_ns : job->opts->from_ns,
            .end_ns = end_ns < job->opts->to_ns ? end_ns : job->opts->to_ns,
            .thread_id = thread_id,
            .object = object,
            .state = (uint8_t)state,
        };
    return piece != NULL;
}

static bool join_waited(struct job *job, const struct weft_wait *wait)
{
    struct span *last = job->waited.n ? &job->waited.items[job->waited.n - 1] : NULL;
    if (last && wait->start_ns <= last->end_ns) {
        last->end_ns = wait->end_ns > last->end_ns ? wait->end_ns : last->end_ns;
        return true;
    }
    struct span *span = WEFT_ROOM_PUSH(&job->waited);
    if (span)
        *span = (struct span){ wait->start_ns, wait->end_ns };
    return span != NULL;
}

static int by_object(const void *a, const void *b, void *context)
{
    const struct weft_wait *waits = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (waits[i].object != waits[j].object)
        return order(waits[i].object, waits[j].object);
    return waits[i].start_ns != waits[j].start_ns ? order(waits[i].start_ns, waits[j].start_ns)
                                                  : order(i, j);
}

/* A hold, divided where others begin and cease to wait. */
static bool add_hold(struct job *job, const struct weft_lock_op *op)
{
    size_t low = 0, high = job->waited.n;
    uint64_t at_ns = op->got_ns;
    bool is_good = true;
    while (low < high) { /* first that ends after it begins */
        const size_t middle = low + (high - low) / 2;
        if (job->waited.items[middle].end_ns <= op->got_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < job->waited.n && job->waited.items[low].start_ns < op->end_ns && is_good; low++) {
        const struct span *span = &job->waited.items[low];
        const uint64_t from_ns = span->start_ns > op->got_ns ? span->start_ns : op->got_ns;
        const uint64_t to_ns = span->end_ns < op->end_ns ? span->end_ns : op->end_ns;
        is_good = add_piece(job, op->thread_id, op->object, at_ns, from_ns, WEFT_LANE_HELD) &&
                  add_piece(job, op->thread_id, op->object, from_ns, to_ns, WEFT_LANE_HELD_WAITED);
        at_ns = to_ns;
    }
    return is_good && add_piece(job, op->thread_id, op->object, at_ns, op->end_ns, WEFT_LANE_HELD);
}

static bool find_pieces(struct job *job)
{
    const struct weft_interplay *interplay = job->interplay;
    size_t n_ops, wait = 0, op = 0;
    const struct weft_lock_op *ops = weft_locks_ops(interplay->locks, &n_ops);
    bool is_good = true;
    for (uint32_t object = 0; object < interplay->objects.n && is_good; object++) {
        const bool is_it = is_asked_for(job, object);
        const bool is_told = !interplay->objects.items[object].is_untold;
        job->waited.n = 0;
        for (; wait < interplay->waits.n && is_good; wait++) {
            const struct weft_wait *other = &interplay->waits.items[job->by_object[wait]];
            if (other->object != object)
                break;
            is_good = !is_it || (join_waited(job, other) &&
                                 add_piece(job, other->waiter_id, object, other->start_ns,
                                           other->end_ns, WEFT_LANE_WAITS));
        }
        for (; op < n_ops && ops[op].object == object && is_good; op++)
            if (is_it && is_told && !(ops[op].flags & WEFT_LOCK_FAILED) &&
                weft_lock_is_held(weft_locks_object(interplay->locks, object)->kind))
                is_good = add_hold(job, &ops[op]);
    }
    return is_good;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static int by_lane(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return order(x->thread_id, y->thread_id);
    if (x->object != y->object)
        return order(x->object, y->object);
    if (x->start_ns != y->start_ns)
        return order(x->start_ns, y->start_ns);
    return x->end_ns != y->end_ns ? order(x->end_ns, y->end_ns) : order(x->state, y->state);
}

static void set_state(struct weft_lane_piece *drawn)
{
    for (uint8_t state = 0; state < WEFT_LANE_STATES; state++)
        if (drawn->ns[state] > drawn->ns[drawn->state])
            drawn->state = state;
}

/* Pieces that lie within one column's width of each other are one; else each is drawn as it is. */
static bool draw(struct job *job, const struct piece *piece, uint64_t column_ns)
{
    struct weft_lane_piece *last = job->drawn.n ? &job->drawn.items[job->drawn.n - 1] : NULL;
    const uint64_t ns = piece->end_ns - piece->start_ns;
    if (last && ns < column_ns && piece->end_ns - last->start_ns < column_ns) {
        last->end_ns = piece->end_ns > last->end_ns ? piece->end_ns : last->end_ns;
        last->ns[piece->state] += ns;
        last->count++;
        set_state(last);
        return true;
    }
    struct weft_lane_piece *made = WEFT_ROOM_PUSH(&job->drawn);
    if (!made)
        return false;
    *made = (struct weft_lane_piece){
        .start_ns = piece->start_ns, .end_ns = piece->end_ns, .count = 1, .state = piece->state
    };
    made->ns[piece->state] = ns;
    return true;
}

static bool make_lane(struct job *job, size_t from, size_t to)
{
    const uint64_t window_ns = job->opts->to_ns - job->opts->from_ns;
    const uint64_t column_ns = job->opts->width ? window_ns / job->opts->width : 0;
    struct weft_lock_lane *lane = WEFT_ROOM_PUSH(&job->lanes);
    if (!lane)
        return false;
    lane->thread_id = job->pieces.items[from].thread_id;
    lane->object = job->pieces.items[from].object;
    job->drawn.n = 0;
    for (size_t i = from; i < to; i++) {
        const struct piece *piece = &job->pieces.items[i];
        lane->ns[piece->state] += piece->end_ns - piece->start_ns;
        if (!draw(job, piece, column_ns))
            return false;
    }
    lane->n_pieces = job->drawn.n;
    return weft_arena_copy_items(job->table->arena, &lane->pieces, job->drawn.items, job->drawn.n,
                                 sizeof *lane->pieces);
}

/* Most waiting, then most holding while others wait, then most holding first. */
static int by_weight(const void *a, const void *b)
{
    static const uint8_t states[] = { WEFT_LANE_WAITS, WEFT_LANE_HELD_WAITED, WEFT_LANE_HELD };
    const struct weft_lock_lane *x = a, *y = b;
    for (size_t i = 0; i < sizeof states; i++)
        if (x->ns[states[i]] != y->ns[states[i]])
            return order(y->ns[states[i]], x->ns[states[i]]);
    return x->thread_id != y->thread_id ? order(x->thread_id, y->thread_id)
                                        : order(x->object, y->object);
}

static int by_thread(const void *a, const void *b)
{
    const struct weft_lock_lane *x = a, *y = b;
    return x->thread_id != y->thread_id ? order(x->thread_id, y->thread_id) : by_weight(a, b);
}

static bool fill(struct job *job)
{
    struct weft_lock_lanes_table *table = job->table;
    const uint32_t limit = job->opts->limit;
    if (job->pieces.n)
        weft_room_sort(job->pieces.items, job->pieces.n, sizeof *job->pieces.items, by_lane);
    for (size_t from = 0, to = 0; from < job->pieces.n; from = to) {
        const struct piece *first = &job->pieces.items[from];
        for (to = from + 1; to < job->pieces.n &&
                            job->pieces.items[to].thread_id == first->thread_id &&
                            job->pieces.items[to].object == first->object;)
            to++;
        if (!make_lane(job, from, to))
            return false;
    }
    table->n_found = job->lanes.n;
    if (job->lanes.n)
        weft_room_sort(job->lanes.items, job->lanes.n, sizeof *job->lanes.items, by_weight);
    table->n_lanes = limit && job->lanes.n > limit ? limit : job->lanes.n;
    if (table->n_lanes)
        weft_room_sort(job->lanes.items, table->n_lanes, sizeof *job->lanes.items, by_thread);
    for (size_t i = 0; i < table->n_lanes; i++)
        if (!weft_interplay_name_object(&job->names, job->lanes.items[i].object,
                                        &job->lanes.items[i].object))
            return false;
    return weft_arena_copy_items(table->arena, &table->lanes, job->lanes.items, table->n_lanes,
                                 sizeof *table->lanes) &&
           weft_interplay_copy_objects(&job->names, table->arena, &table->objects,
                                       &table->n_objects);
}

static enum weft_code work(struct job *job, const struct weft_thread_filter *filter,
                           struct weft_err *err)
{
    const size_t n_waits = job->interplay->waits.n;
    job->by_object = weft_room_new(n_waits + 1, sizeof *job->by_object);
    WEFT_TRY(job->by_object && weft_interplay_names_init(&job->names, job->interplay)
                 ? weft_kept_threads(job->interplay->trace, job->interplay->locks, filter, NULL,
                                     &job->is_kept, err)
                 : weft_no_memory(err, "lanes"));
    for (uint32_t i = 0; i < n_waits; i++)
        job->by_object[i] = i;
    weft_room_sort_r(job->by_object, n_waits, sizeof *job->by_object, by_object,
                     job->interplay->waits.items);
    return find_pieces(job) && fill(job) ? WEFT_OK : weft_no_memory(err, "lanes");
}

enum weft_code weft_lock_lanes_run(const struct weft_interplay *interplay,
                                   const struct weft_thread_filter *filter,
                                   const struct weft_lock_lanes_opts *opts,
                                   const struct weft_run *run, struct weft_lock_lanes_table **table,
                                   struct weft_err *err)
{
    struct job job = { .interplay = interplay, .opts = opts };
    (void)run;
    *table = NULL;
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    struct weft_arena *arena = weft_arena_new(0);
    job.table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_lock_lanes_table) : NULL;
    enum weft_code code = job.table ? WEFT_OK : weft_no_memory(err, "lanes");
    if (job.table) {
        *job.table = (struct weft_lock_lanes_table){ .arena = arena,
                                                     .from_ns = opts->from_ns,
                                                     .to_ns = opts->to_ns };
        code = work(&job, filter, err);
    }
    weft_interplay_names_fini(&job.names);
    free(job.is_kept);
    weft_room_free(job.by_object);
    WEFT_ROOM_FINI(&job.pieces);
    WEFT_ROOM_FINI(&job.waited);
    WEFT_ROOM_FINI(&job.lanes);
    WEFT_ROOM_FINI(&job.drawn);
    if (code == WEFT_OK)
        *table = job.table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
