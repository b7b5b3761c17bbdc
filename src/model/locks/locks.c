/* SPDX-License-Identifier: MIT
 *
 * Opens the operations (points.c, machine.c), sorts them by object and acquisition time, repairs
 * holds that overlap, and answers the questions about a wait: what ended it, which holds blocked
 * it, the holder. `latest_ns`, the maximum of all ends so far, lets a search backward stop early.
 */
#include "model/locks/locks.h"

#include "base/order.h"
#include "base/room.h"
#include "model/locks/machine.h"
#include "model/locks/points.h"
#include "model/locks/rounds.h"

#include <stdlib.h>

/* ---- lives ----------------------------------------------------------------------------------- */

/* Objects that are made and destroyed: one address may be several objects, one after the other.
 * Renumbers operations and signals after everything was read: each life (init to destroy) of an
 * address in which something happened becomes an object of its own, the first of them keeps the
 * number. A hold does not reach beyond its life. */

/* A life of an object in which something was done. */
struct piece {
    uint32_t object, life; /* lives begun until then */
    uint32_t id;
};

struct split {
    const struct weft_lock_life *lives; /* by object, then time */
    size_t n_lives;
    struct {
        struct piece *items; /* by object, then life */
        size_t n, cap;
    } pieces;
};

static int by_life(const void *a, const void *b)
{
    const struct weft_lock_life *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_piece(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->life > y->life) - (x->life < y->life);
}

/* The place after the last life that began until then, of this object or one before. */
static size_t life_after(const struct split *split, uint32_t object, uint64_t at_ns)
{
    const struct weft_lock_life wanted = { at_ns, object };
    size_t low = 0, high = split->n_lives;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_life(&split->lives[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Does the object have more than one life? Then which it is in. */
static bool find_life(const struct split *split, uint32_t object, uint64_t at_ns,
                      struct piece *piece)
{
    const size_t after = life_after(split, object, at_ns);
    const bool has_before = after > 0 && split->lives[after - 1].object == object;
    const bool has_after = after < split->n_lives && split->lives[after].object == object;
    *piece = (struct piece){ .object = object, .life = has_before ? (uint32_t)after : 0 };
    return has_before || has_after;
}

static bool see_life(struct split *split, uint32_t object, uint64_t at_ns)
{
    struct piece piece;
    if (!find_life(split, object, at_ns, &piece))
        return true;
    struct piece *kept = WEFT_ROOM_PUSH(&split->pieces);
    if (kept)
        *kept = piece;
    return kept != NULL;
}

/* The first piece of each object keeps its number. */
static enum weft_code number_pieces(struct split *split, struct weft_lock_finder *finder,
                                    struct weft_err *err)
{
    struct piece *items = split->pieces.items;
    uint32_t nth = 0;
    size_t n = 0;
    enum weft_code code = WEFT_OK;
    if (split->pieces.n)
        weft_room_sort(items, split->pieces.n, sizeof *items, by_piece);
    for (size_t i = 0; i < split->pieces.n && code == WEFT_OK; i++) {
        if (n > 0 && by_piece(&items[n - 1], &items[i]) == 0)
            continue;
        const bool is_first = n == 0 || items[n - 1].object != items[i].object;
        nth = is_first ? 1 : nth + 1;
        items[n] = items[i];
        items[n].id = items[i].object;
        if (!is_first)
            code = weft_lock_finder_next_life(finder, items[i].object, nth, &items[n].id, err);
        n++;
    }
    split->pieces.n = n;
    return code;
}

static uint32_t id_of(const struct split *split, uint32_t object, uint64_t at_ns)
{
    struct piece wanted;
    if (!find_life(split, object, at_ns, &wanted))
        return object;
    const struct piece *found =
        bsearch(&wanted, split->pieces.items, split->pieces.n, sizeof wanted, by_piece);
    return found ? found->id : object;
}

/* When the next life begins. */
static uint64_t life_end(const struct split *split, uint32_t object, uint64_t at_ns)
{
    const size_t after = life_after(split, object, at_ns);
    return after < split->n_lives && split->lives[after].object == object
               ? split->lives[after].from_ns
               : UINT64_MAX;
}

static void clip_life(const struct split *split, struct weft_lock_op *op)
{
    const uint64_t end_ns = life_end(split, op->object, op->start_ns);
    if (op->flags & WEFT_LOCK_NO_RELEASE && end_ns < op->end_ns)
        op->end_ns = end_ns > op->got_ns ? end_ns : op->got_ns;
}

/* What is asked of, or done to, an object from its next life on is another object's: operations (by
 * their begin) and signals get its number. What was held at the end of a life ends there. After all
 * reading, before anything is put in order. WEFT_E_NOMEM. O(n log n). */
static enum weft_code weft_lock_lives_split(struct weft_lock_finder *finder,
                                            struct weft_lock_ops *ops,
                                            struct weft_lock_signals *signals, struct weft_err *err)
{
    struct split split = { .lives = NULL };
    bool is_good = true;
    split.lives = weft_lock_finder_lives(finder, by_life, &split.n_lives);
    if (split.n_lives == 0)
        return WEFT_OK;
    for (size_t i = 0; i < ops->n && is_good; i++)
        is_good = see_life(&split, ops->items[i].object, ops->items[i].start_ns);
    for (size_t i = 0; i < signals->n && is_good; i++)
        is_good = see_life(&split, signals->items[i].object, signals->items[i].at_ns);
    enum weft_code code =
        is_good ? number_pieces(&split, finder, err) : weft_no_memory(err, "locks");
    for (size_t i = 0; i < ops->n && code == WEFT_OK; i++) {
        clip_life(&split, &ops->items[i]);
        ops->items[i].object = id_of(&split, ops->items[i].object, ops->items[i].start_ns);
    }
    for (size_t i = 0; i < signals->n && code == WEFT_OK; i++)
        signals->items[i].object = id_of(&split, signals->items[i].object, signals->items[i].at_ns);
    WEFT_ROOM_FINI(&split.pieces);
    return code;
}

/* ---- locks ----------------------------------------------------------------------------------- */

/* Operations after a release of unknown begin that are asked whether they waited for it. */
enum { LOOK_AHEAD = 1024, MOST_RETRIES = 4096, SHARE = 2 };

/* Waits with a limit that are one wait: of the limit, and from one to the next. */
#define LONGEST_RETRY_NS UINT64_C(20000000)
#define RETRIED_NS UINT64_C(50000)

struct weft_locks {
    const struct weft_trace *trace;
    struct weft_twins twins;
    struct weft_lock_finder *finder;
    struct weft_lock_ops ops; /* by object, got_ns */
    struct weft_lock_signals signals;
    struct weft_order order; /* room to sort in */
    uint32_t *by_thread;
    uint64_t *latest_ns; /* by operation: until when those up to it, of its object, were held */
    uint32_t *last_of;   /* by operation of a barrier: the last arrival of its round, or none */
    uint64_t unmatched, to_ns;
};

/* ---- order ----------------------------------------------------------------------------------- */

static int by_object(const void *a, const void *b)
{
    const struct weft_lock_op *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->got_ns != y->got_ns)
        return x->got_ns < y->got_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

static int by_signal(const void *a, const void *b)
{
    const struct weft_lock_signal *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->thread_id > y->thread_id) - (x->thread_id < y->thread_id);
}

/* By object, then got_ns, and where those are the same by the rest. */
static enum weft_code sort(struct weft_locks *locks, struct weft_err *err)
{
    struct weft_lock_ops *ops = &locks->ops;
    struct weft_order *order = &locks->order;
    if (!weft_order_reserve(order, ops->n))
        return weft_no_memory(err, "locks");
    for (size_t i = 0; i < ops->n; i++)
        order->items[i] = (struct weft_order_item){ ops->items[i].got_ns, (uint32_t)i };
    weft_order_sort(order, ops->n);
    for (size_t i = 0; i < ops->n; i++)
        order->items[i].key = ops->items[order->items[i].place].object;
    weft_order_sort(order, ops->n);
    if (!weft_order_apply(order, ops->n, ops->items, sizeof *ops->items))
        return weft_no_memory(err, "locks");
    for (size_t from = 0, to = 0; from < ops->n; from = to) {
        for (to = from + 1; to < ops->n && ops->items[to].object == ops->items[from].object &&
                            ops->items[to].got_ns == ops->items[from].got_ns;)
            to++;
        if (to - from > 1)
            weft_room_sort(&ops->items[from], to - from, sizeof *ops->items, by_object);
    }
    return WEFT_OK;
}

/* ---- what only all operations together show -------------------------------------------------- */

static bool is_one_object(const struct weft_lock_ops *ops, size_t i, size_t j)
{
    return j < ops->n && ops->items[i].object == ops->items[j].object;
}

/* Until when those up to each operation, of its object, were held. */
static void find_latest(struct weft_locks *locks)
{
    const struct weft_lock_ops *ops = &locks->ops;
    for (size_t i = 0; i < ops->n; i++) {
        const uint64_t before_ns =
            i > 0 && is_one_object(ops, i - 1, i) ? locks->latest_ns[i - 1] : 0;
        locks->latest_ns[i] = ops->items[i].end_ns > before_ns ? ops->items[i].end_ns : before_ns;
    }
}

/* From when on those from each operation on, of its object, wait: as keys of the order, which has
 * room, as they were sorted. */
static void find_earliest(struct weft_locks *locks)
{
    const struct weft_lock_ops *ops = &locks->ops;
    for (size_t i = ops->n; i-- > 0;) {
        const uint64_t after_ns =
            is_one_object(ops, i, i + 1) ? locks->order.items[i + 1].key : UINT64_MAX;
        const uint64_t start_ns = ops->items[i].start_ns;
        locks->order.items[i].key = start_ns < after_ns ? start_ns : after_ns;
    }
}

/* A release of a lock whose acquisition was not recorded: it was held while others waited for it,
 * since the release before it. Looks no further where nothing beyond can matter. */
static void find_begin(struct weft_locks *locks, size_t at)
{
    struct weft_lock_ops *ops = &locks->ops;
    struct weft_lock_op *op = &ops->items[at];
    uint64_t start_ns = op->end_ns, before_ns = 0;
    for (size_t i = at; i-- > 0 && is_one_object(ops, i, at) && at - i <= LOOK_AHEAD &&
                        locks->latest_ns[i] > before_ns;)
        if (ops->items[i].end_ns <= op->end_ns && ops->items[i].end_ns > before_ns)
            before_ns = ops->items[i].end_ns;
    for (size_t i = at + 1; is_one_object(ops, at, i) && i - at <= LOOK_AHEAD &&
                            locks->order.items[i].key < start_ns && start_ns > before_ns;
         i++)
        if (ops->items[i].thread_id != op->thread_id && ops->items[i].start_ns < start_ns)
            start_ns = ops->items[i].start_ns;
    op->start_ns = op->got_ns = start_ns > before_ns ? start_ns : before_ns;
}

static enum weft_code find_begins(struct weft_locks *locks, struct weft_err *err)
{
    struct weft_lock_ops *ops = &locks->ops;
    bool has_found = false;
    for (size_t i = 0; i < ops->n; i++)
        if (ops->items[i].flags & WEFT_LOCK_PARTIAL &&
            weft_lock_is_held(weft_locks_object(locks, ops->items[i].object)->kind)) {
            if (!has_found) {
                find_latest(locks);
                find_earliest(locks);
            }
            find_begin(locks, i);
            has_found = true;
        }
    return has_found ? sort(locks, err) : WEFT_OK;
}

/* A hold ends at the latest when another thread acquires the lock: releases are recorded late. */
static void clip(const struct weft_locks *locks, struct weft_lock_ops *ops)
{
    size_t next = SIZE_MAX, next_exclusive = SIZE_MAX; /* of the same object */
    for (size_t i = ops->n; i-- > 0;) {
        struct weft_lock_op *op = &ops->items[i];
        const struct weft_lock_object *object = weft_locks_object(locks, op->object);
        if (!is_one_object(ops, i, i + 1))
            next = next_exclusive = SIZE_MAX;
        if (!weft_lock_is_held(object->kind) || object->is_untold || op->flags & WEFT_LOCK_FAILED)
            continue;
        const size_t after = op->flags & WEFT_LOCK_SHARED ? next_exclusive : next;
        if (after != SIZE_MAX && ops->items[after].thread_id != op->thread_id &&
            op->end_ns > ops->items[after].got_ns) {
            op->end_ns = ops->items[after].got_ns;
            op->flags |= WEFT_LOCK_CLIPPED;
        }
        next = i;
        if (!(op->flags & WEFT_LOCK_SHARED))
            next_exclusive = i;
    }
}

static enum weft_code index_ops(struct weft_locks *locks, struct weft_err *err)
{
    const struct weft_lock_ops *ops = &locks->ops;
    struct weft_order_item *items = locks->order.items; /* there is room: they were sorted */
    locks->by_thread = weft_room_new(ops->n + 1, sizeof *locks->by_thread);
    if (!locks->by_thread)
        return weft_no_memory(err, "locks");
    find_latest(locks);
    for (size_t i = 0; i < ops->n; i++)
        items[i] = (struct weft_order_item){ ops->items[i].got_ns, (uint32_t)i };
    weft_order_sort(&locks->order, ops->n);
    for (size_t i = 0; i < ops->n; i++)
        items[i].key = ops->items[items[i].place].thread_id;
    weft_order_sort(&locks->order, ops->n);
    for (size_t i = 0; i < ops->n; i++)
        locks->by_thread[i] = items[i].place;
    weft_order_fini(&locks->order);
    return WEFT_OK;
}

/* The last arrival of each round of each barrier. */
static enum weft_code find_rounds(struct weft_locks *locks, struct weft_err *err)
{
    const struct weft_lock_ops *ops = &locks->ops;
    enum weft_code code = WEFT_OK;
    locks->last_of = weft_room_new(ops->n + 1, sizeof *locks->last_of);
    if (!locks->last_of)
        return weft_no_memory(err, "locks");
    for (size_t from = 0, to = 0; from < ops->n && code == WEFT_OK; from = to) {
        const struct weft_lock_object *object = weft_locks_object(locks, ops->items[from].object);
        for (to = from + 1; is_one_object(ops, from, to);)
            to++;
        if (object->kind != WEFT_LOCK_BARRIER || object->is_untold)
            continue;
        code = weft_lock_rounds_find(&ops->items[from], to - from, &locks->last_of[from], err);
        for (size_t i = from; i < to; i++)
            if (locks->last_of[i] != WEFT_ID_NONE)
                locks->last_of[i] += (uint32_t)from;
    }
    return code;
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint64_t last_of(const struct weft_locks *locks, uint32_t thread_id, uint64_t to_ns)
{
    uint64_t last_ns = 0;
    uint32_t id = thread_id;
    do {
        const uint64_t here_ns = weft_trace_thread(locks->trace, id)->last_ns;
        last_ns = here_ns > last_ns ? here_ns : last_ns;
        id = locks->twins.next[id];
    } while (id != thread_id);
    return last_ns < to_ns ? last_ns : to_ns;
}

static enum weft_code read_all(struct weft_locks *locks, uint64_t to_ns, struct weft_err *err)
{
    struct weft_lock_points points = { 0 };
    struct weft_lock_machine *machine =
        weft_lock_machine_new(locks->finder, &locks->ops, &locks->signals);
    struct weft_thread_ends ends = weft_thread_ends_of(locks->trace, &locks->twins);
    enum weft_code code = machine ? WEFT_OK : weft_no_memory(err, "locks");
    for (uint32_t id = 0; id < locks->twins.n_threads && code == WEFT_OK; id++) {
        if (locks->twins.first[id] != id)
            continue;
        code = weft_lock_finder_read(locks->finder, id, &points, err);
        if (code == WEFT_OK && points.n)
            code = weft_lock_machine_run(machine, id, &points, &ends, to_ns, err);
    }
    if (machine)
        locks->unmatched = weft_lock_machine_unmatched(machine);
    weft_lock_machine_free(machine);
    weft_lock_finder_finish(locks->finder);
    WEFT_ROOM_FINI(&points);
    return code;
}

enum weft_code weft_locks_open(const struct weft_trace *trace, const struct weft_locks_span *span,
                               uint64_t memory_bytes, struct weft_locks **locks,
                               struct weft_err *err)
{
    struct weft_locks *made = calloc(1, sizeof *made);
    *locks = made;
    if (!made)
        return weft_no_memory(err, "locks");
    made->trace = trace;
    made->to_ns = span->to_ns;
    enum weft_code code = weft_twins_make(trace, &made->twins, err);
    WEFT_THEN(code, weft_lock_finder_open(trace, &made->twins, span, memory_bytes / SHARE,
                                          &made->finder, err));
    WEFT_THEN(code, read_all(made, span->to_ns, err));
    if (code != WEFT_OK)
        return code;
    code = weft_lock_lives_split(made->finder, &made->ops, &made->signals, err);
    if (code != WEFT_OK)
        return code;
    if (made->signals.n)
        weft_room_sort(made->signals.items, made->signals.n, sizeof *made->signals.items,
                       by_signal);
    code = sort(made, err);
    if (code == WEFT_OK)
        made->latest_ns = weft_room_new(made->ops.n + 1, sizeof *made->latest_ns);
    WEFT_THEN(code, made->latest_ns ? find_begins(made, err) : weft_no_memory(err, "locks"));
    if (code != WEFT_OK)
        return code;
    clip(made, &made->ops);
    code = index_ops(made, err);
    return code == WEFT_OK ? find_rounds(made, err) : code;
}

void weft_locks_close(struct weft_locks *locks)
{
    if (!locks)
        return;
    weft_lock_finder_close(locks->finder);
    weft_twins_fini(&locks->twins);
    WEFT_ROOM_FINI(&locks->ops);
    WEFT_ROOM_FINI(&locks->signals);
    weft_order_fini(&locks->order);
    weft_room_free(locks->by_thread);
    weft_room_free(locks->latest_ns);
    weft_room_free(locks->last_of);
    free(locks);
}

const struct weft_lock_op *weft_locks_ops(const struct weft_locks *locks, size_t *n_ops)
{
    *n_ops = locks->ops.n;
    return locks->ops.items;
}

const uint32_t *weft_locks_by_thread(const struct weft_locks *locks)
{
    return locks->by_thread;
}

const struct weft_lock_signal *weft_locks_signals(const struct weft_locks *locks, size_t *n_signals)
{
    *n_signals = locks->signals.n;
    return locks->signals.items;
}

size_t weft_locks_n_objects(const struct weft_locks *locks)
{
    return weft_lock_finder_n_objects(locks->finder);
}

const struct weft_lock_object *weft_locks_object(const struct weft_locks *locks, uint32_t object)
{
    return weft_lock_finder_object(locks->finder, object);
}

struct weft_str weft_locks_site(const struct weft_locks *locks, uint32_t site)
{
    return weft_lock_finder_site(locks->finder, site);
}

const struct weft_twins *weft_locks_twins(const struct weft_locks *locks)
{
    return &locks->twins;
}

uint64_t weft_locks_unmatched(const struct weft_locks *locks)
{
    return locks->unmatched;
}

/* ---- what a wait was for --------------------------------------------------------------------- */

/* It continues beyond what was read. */
static bool is_cut(const struct weft_locks *locks, const struct weft_lock_op *op)
{
    return op->flags & WEFT_LOCK_FAILED && op->got_ns >= locks->to_ns;
}

/* The last signal of another thread during the wait. */
static struct weft_lock_end last_signal(const struct weft_locks *locks,
                                        const struct weft_lock_op *op)
{
    const struct weft_lock_signal *items = locks->signals.items;
    size_t low = 0, high = locks->signals.n; /* first after (object, got_ns) */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].object < op->object ||
            (items[middle].object == op->object && items[middle].at_ns <= op->got_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0; low--) {
        const struct weft_lock_signal *signal = &items[low - 1];
        if (signal->object != op->object || signal->at_ns < op->start_ns)
            break;
        if (signal->thread_id != op->thread_id)
            return (struct weft_lock_end){ signal->at_ns, signal->thread_id, signal->site };
    }
    return (struct weft_lock_end){ .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
}

static struct weft_lock_end end_of_thread(const struct weft_locks *locks,
                                          const struct weft_lock_op *op)
{
    const uint32_t thread_id = weft_locks_object(locks, op->object)->thread_id;
    if (thread_id == WEFT_ID_NONE)
        return (struct weft_lock_end){ .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    const uint64_t last_ns = last_of(locks, thread_id, op->got_ns);
    return (struct weft_lock_end){ last_ns > op->start_ns ? last_ns : op->start_ns, thread_id,
                                   WEFT_ID_NONE };
}

/* The last arrival at a barrier; where rounds are not known, of the threads that left it when this
 * one did: a round ends when a thread leaves. */
static struct weft_lock_end last_arrival(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    struct weft_lock_end end = { .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    if (locks->last_of[at] != WEFT_ID_NONE) {
        const struct weft_lock_op *last = &locks->ops.items[locks->last_of[at]];
        return locks->last_of[at] == at
                   ? end
                   : (struct weft_lock_end){ last->start_ns, last->thread_id, last->site };
    }
    for (size_t i = at + 1; i-- > 0 && is_one_object(&locks->ops, i, at);) {
        const struct weft_lock_op *other = &locks->ops.items[i];
        if (other->got_ns < op->start_ns)
            break;
        if (other->thread_id != op->thread_id && other->start_ns >= op->start_ns &&
            (end.thread_id == WEFT_ID_NONE || other->start_ns > end.at_ns))
            end = (struct weft_lock_end){ other->start_ns, other->thread_id, other->site };
    }
    for (size_t i = at + 1; is_one_object(&locks->ops, at, i) && i - at <= LOOK_AHEAD; i++) {
        const struct weft_lock_op *other = &locks->ops.items[i];
        if (other->thread_id != op->thread_id && other->start_ns >= op->start_ns &&
            other->start_ns <= op->got_ns &&
            (end.thread_id == WEFT_ID_NONE || other->start_ns > end.at_ns))
            end = (struct weft_lock_end){ other->start_ns, other->thread_id, other->site };
    }
    return end;
}

/* Holds of other threads that overlap the wait, latest first. `see` may be NULL: then whether there
 * is one. */
static enum weft_code see_holders(const struct weft_locks *locks, size_t at, weft_locks_see_fn see,
                                  void *context, bool *has_any, struct weft_err *err)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    enum weft_code code = WEFT_OK;
    *has_any = false;
    for (size_t i = at; i-- > 0 && is_one_object(&locks->ops, i, at) && code == WEFT_OK;) {
        const struct weft_lock_op *other = &locks->ops.items[i];
        if (locks->latest_ns[i] <= op->start_ns)
            break;
        const uint64_t from_ns = other->got_ns > op->start_ns ? other->got_ns : op->start_ns;
        const uint64_t to_ns = other->end_ns < op->got_ns ? other->end_ns : op->got_ns;
        if (from_ns >= to_ns || other->thread_id == op->thread_id ||
            other->flags & WEFT_LOCK_FAILED || (other->flags & op->flags & WEFT_LOCK_SHARED))
            continue;
        *has_any = true;
        if (!see)
            break;
        code = see(context, other->thread_id, from_ns, to_ns, err);
    }
    return code;
}

static struct weft_lock_end last_release(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    struct weft_lock_end end = { .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    for (size_t i = at; i-- > 0 && is_one_object(&locks->ops, i, at);) {
        const struct weft_lock_op *other = &locks->ops.items[i];
        if (locks->latest_ns[i] < op->start_ns ||
            (end.thread_id != WEFT_ID_NONE && locks->latest_ns[i] <= end.at_ns))
            break; /* none before is later */
        if (other->thread_id == op->thread_id || other->flags & WEFT_LOCK_FAILED ||
            other->end_ns < op->start_ns || other->end_ns > op->got_ns ||
            other->got_ns == other->end_ns || (other->flags & op->flags & WEFT_LOCK_SHARED))
            continue;
        if (end.thread_id == WEFT_ID_NONE || other->end_ns > end.at_ns)
            end = (struct weft_lock_end){ other->end_ns, other->thread_id, other->release_site };
    }
    return end;
}

struct weft_lock_end weft_locks_ended_by(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    const struct weft_lock_object *object = weft_locks_object(locks, op->object);
    if (object->is_untold || op->start_ns == op->got_ns || op->flags & WEFT_LOCK_OPEN ||
        is_cut(locks, op))
        return (struct weft_lock_end){ .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    switch ((enum weft_lock_kind)object->kind) {
    case WEFT_LOCK_MUTEX:
    case WEFT_LOCK_RWLOCK:
    case WEFT_LOCK_SPIN:
        return last_release(locks, at);
    case WEFT_LOCK_BARRIER:
        return last_arrival(locks, at);
    case WEFT_LOCK_JOIN:
        return end_of_thread(locks, op);
    default:
        return last_signal(locks, op);
    }
}

enum weft_code weft_locks_blockers(const struct weft_locks *locks, size_t at, weft_locks_see_fn see,
                                   void *context, struct weft_err *err)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    const struct weft_lock_object *object = weft_locks_object(locks, op->object);
    bool has_any;
    if (object->is_untold)
        return WEFT_OK;
    if (weft_lock_is_held(object->kind))
        return see_holders(locks, at, see, context, &has_any, err);
    const struct weft_lock_end end = weft_locks_ended_by(locks, at);
    if (end.thread_id == WEFT_ID_NONE || end.at_ns <= op->start_ns)
        return WEFT_OK;
    return see(context, end.thread_id, op->start_ns, end.at_ns, err);
}

uint32_t weft_locks_holder(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    const struct weft_lock_object *object = weft_locks_object(locks, op->object);
    uint32_t own_id = WEFT_ID_NONE, last_id = WEFT_ID_NONE;
    if (object->is_untold || !weft_lock_is_held(object->kind))
        return object->is_untold ? WEFT_ID_NONE : object->thread_id;
    for (size_t i = at; i-- > 0 && is_one_object(&locks->ops, i, at);) {
        const struct weft_lock_op *other = &locks->ops.items[i];
        const bool has_it = other->end_ns > op->got_ns ||
                            (other->end_ns == op->got_ns && other->flags & WEFT_LOCK_NO_RELEASE);
        if (other->flags & WEFT_LOCK_FAILED || (other->flags & op->flags & WEFT_LOCK_SHARED))
            continue;
        if (has_it && other->thread_id != op->thread_id)
            return other->thread_id;
        if (has_it && own_id == WEFT_ID_NONE)
            own_id = other->thread_id;
        if (last_id == WEFT_ID_NONE && other->flags & WEFT_LOCK_NO_RELEASE &&
            !(other->flags & WEFT_LOCK_CLIPPED))
            last_id = other->thread_id;
    }
    return own_id != WEFT_ID_NONE ? own_id : last_id;
}

bool weft_locks_is_contended(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *op = &locks->ops.items[at];
    const struct weft_lock_object *object = weft_locks_object(locks, op->object);
    bool has_any = false;
    if (op->got_ns == op->start_ns)
        return false;
    if (op->flags & WEFT_LOCK_OPEN || is_cut(locks, op))
        return true;
    if (object->kind == WEFT_LOCK_BARRIER && !object->is_untold && !(op->flags & WEFT_LOCK_SLEPT))
        return weft_locks_ended_by(locks, at).thread_id != WEFT_ID_NONE;
    if (!weft_lock_is_held(object->kind) || op->flags & WEFT_LOCK_SLEPT)
        return true;
    if (!object->is_untold)
        (void)see_holders(locks, at, NULL, NULL, &has_any, NULL);
    return has_any;
}

/* ---- by thread and time ---------------------------------------------------------------------- */

/* The place in by_thread of the first that the thread got after from_ns. */
static size_t first_after(const struct weft_locks *locks, uint32_t id, uint64_t from_ns)
{
    size_t low = 0, high = locks->ops.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct weft_lock_op *op = &locks->ops.items[locks->by_thread[middle]];
        if (op->thread_id < id || (op->thread_id == id && op->got_ns <= from_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct weft_lock_end weft_locks_retried_until(const struct weft_locks *locks, size_t at)
{
    const struct weft_lock_op *ops = locks->ops.items, *op = &ops[at];
    const struct weft_lock_end none = { .thread_id = WEFT_ID_NONE, .site = WEFT_ID_NONE };
    uint64_t last_ns = op->got_ns;
    if (weft_locks_object(locks, op->object)->kind != WEFT_LOCK_CONDITION ||
        op->got_ns - op->start_ns > LONGEST_RETRY_NS)
        return none;
    const size_t first = first_after(locks, op->thread_id, op->got_ns);
    for (size_t i = first; i < locks->ops.n && i - first < MOST_RETRIES; i++) {
        const struct weft_lock_op *next = &ops[locks->by_thread[i]];
        if (next->thread_id != op->thread_id)
            return none;
        if (next->object != op->object) /* the mutex of the wait is got again at its end */
            continue;
        if (next->start_ns > last_ns + RETRIED_NS ||
            next->got_ns - next->start_ns > LONGEST_RETRY_NS)
            return none;
        const struct weft_lock_end end = weft_locks_ended_by(locks, locks->by_thread[i]);
        if (end.thread_id != WEFT_ID_NONE)
            return end;
        last_ns = next->got_ns;
    }
    return none;
}

size_t weft_locks_find(const struct weft_locks *locks, uint32_t thread_id, uint64_t from_ns,
                       uint64_t to_ns)
{
    const uint32_t id = locks->twins.first[thread_id];
    const struct weft_lock_op *ops = locks->ops.items;
    size_t low = first_after(locks, id, from_ns), best = SIZE_MAX;
    uint64_t most_ns = 0, last_ns = UINT64_MAX;
    for (; low < locks->ops.n; low++) {
        const struct weft_lock_op *op = &ops[locks->by_thread[low]];
        if (op->thread_id != id || op->got_ns > last_ns)
            break;
        const uint64_t start_ns = op->start_ns > from_ns ? op->start_ns : from_ns;
        const uint64_t end_ns = op->got_ns < to_ns ? op->got_ns : to_ns;
        if (start_ns < end_ns && end_ns - start_ns > most_ns) {
            most_ns = end_ns - start_ns;
            best = locks->by_thread[low];
        }
        if (op->got_ns >= to_ns &&
            !(op->flags &
              WEFT_LOCK_PARTIAL)) /* a thread waits for one at a time; it may get two at once */
            last_ns = op->got_ns;
    }
    return best;
}
