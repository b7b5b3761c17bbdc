/* SPDX-License-Identifier: MIT
 *
 * Several sources may record one operation. Events of a library contain most; a futex call between
 * request and acquisition shows that the thread slept, and one that wakes is where a release really
 * happened: the library records it later. A wait for a condition releases the lock that the thread
 * acquired last, and acquires it again at its end: no library records that.
 */
#include "model/locks/machine.h"

#include "base/checked.h"
#include "base/room.h"

#include <stdlib.h>

#define OPS_MAX (UINT32_C(1) << 30)

/* In which a thread that was woken for a lock, and did not get it, waits again. */
enum { RETRY_NS = 200000 };

/* A lock that the thread has. */
struct held {
    struct weft_lock_op op;
    unsigned depth;    /* of a lock that a thread may take again */
    bool is_tentative; /* it was awake, but may have had to wait again */
};

struct weft_lock_machine {
    const struct weft_lock_finder *finder;
    struct weft_lock_ops *ops;
    struct weft_lock_signals *signals;
    uint64_t unmatched;
    uint32_t thread_id;
    struct {
        struct held *items;
        size_t n, cap;
    } held;
    struct {
        uint32_t *items;
        size_t n, cap;
    } released; /* seen by the kernel: the library will record these also */
    struct weft_lock_op pending, sleep;
    struct weft_lock_op given; /* what a wait for a condition gave away */
    bool has_pending, has_sleep, has_given;
    uint64_t awake_ns;        /* it woke from a condition, and did nothing since; UINT64_MAX: no */
    bool may_miss_releases;   /* that woke no thread */
    bool is_sleep_of_call;    /* of the function that waits, not of a futex in it */
    bool is_sleep_of_pending; /* a futex between request and acquisition */
};

struct weft_lock_machine *weft_lock_machine_new(const struct weft_lock_finder *finder,
                                                struct weft_lock_ops *ops,
                                                struct weft_lock_signals *signals)
{
    struct weft_lock_machine *machine = calloc(1, sizeof *machine);
    if (machine)
        *machine =
            (struct weft_lock_machine){ .finder = finder,
                                        .ops = ops,
                                        .signals = signals,
                                        .may_miss_releases = weft_lock_finder_may_miss(finder) };
    return machine;
}

void weft_lock_machine_free(struct weft_lock_machine *machine)
{
    if (!machine)
        return;
    WEFT_ROOM_FINI(&machine->held);
    WEFT_ROOM_FINI(&machine->released);
    free(machine);
}

uint64_t weft_lock_machine_unmatched(const struct weft_lock_machine *machine)
{
    return machine->unmatched;
}

static const struct weft_lock_object *object_of(const struct weft_lock_machine *machine,
                                                uint32_t object)
{
    return weft_lock_finder_object(machine->finder, object);
}

static bool is_held_kind(const struct weft_lock_machine *machine, uint32_t object)
{
    return weft_lock_is_held(object_of(machine, object)->kind);
}

/* ---- what comes out -------------------------------------------------------------------------- */

/* Places of operations, and of what is found of each, have 32 bits. */
static enum weft_code check_room(const struct weft_lock_machine *machine, struct weft_err *err)
{
    if (machine->ops->n + machine->signals->n < OPS_MAX)
        return WEFT_OK;
    return weft_fail(err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                     "there are more than %u operations on locks: ask for a shorter interval",
                     OPS_MAX);
}

static enum weft_code emit(struct weft_lock_machine *machine, struct weft_lock_op op,
                           uint64_t end_ns, unsigned flags, struct weft_err *err)
{
    enum weft_code code = check_room(machine, err);
    struct weft_lock_op *kept = code == WEFT_OK ? WEFT_ROOM_PUSH(machine->ops) : NULL;
    if (!kept)
        return code == WEFT_OK ? weft_no_memory(err, "locks") : code;
    op.end_ns = end_ns;
    op.flags |= (uint16_t)flags;
    *kept = op;
    return WEFT_OK;
}

static enum weft_code signal(struct weft_lock_machine *machine, const struct weft_lock_point *point,
                             struct weft_err *err)
{
    enum weft_code code = check_room(machine, err);
    struct weft_lock_signal *kept = code == WEFT_OK ? WEFT_ROOM_PUSH(machine->signals) : NULL;
    if (!kept)
        return code == WEFT_OK ? weft_no_memory(err, "locks") : code;
    *kept = (struct weft_lock_signal){ .at_ns = point->at_ns,
                                       .thread_id = machine->thread_id,
                                       .object = point->object,
                                       .site = point->site,
                                       .is_broadcast = point->is_broadcast };
    return WEFT_OK;
}

static struct weft_lock_op op_of(const struct weft_lock_machine *machine,
                                 const struct weft_lock_point *point, unsigned flags)
{
    return (struct weft_lock_op){ .start_ns = point->at_ns,
                                  .got_ns = point->at_ns,
                                  .thread_id = machine->thread_id,
                                  .object = point->object,
                                  .site = point->site,
                                  .release_site = WEFT_ID_NONE,
                                  .flags =
                                      (uint16_t)(flags | (point->is_shared ? WEFT_LOCK_SHARED : 0)),
                                  .source = point->source,
                                  .depth = point->depth };
}

/* ---- what the thread has --------------------------------------------------------------------- */

static struct held *find_held(struct weft_lock_machine *machine, uint32_t object)
{
    for (size_t i = machine->held.n; i-- > 0;)
        if (machine->held.items[i].op.object == object)
            return &machine->held.items[i];
    return NULL;
}

static void drop_held(struct weft_lock_machine *machine, struct held *held)
{
    const size_t at = (size_t)(held - machine->held.items);
    machine->held.n--;
    memmove(held, held + 1, (machine->held.n - at) * sizeof *held);
}

static enum weft_code hold(struct weft_lock_machine *machine, struct weft_lock_op op,
                           uint64_t got_ns, bool is_tentative, struct weft_err *err)
{
    struct held *held = WEFT_ROOM_PUSH(&machine->held);
    if (!held)
        return weft_no_memory(err, "locks");
    op.got_ns = got_ns;
    *held = (struct held){ .op = op, .depth = 1, .is_tentative = is_tentative };
    return WEFT_OK;
}

static bool forget_released(struct weft_lock_machine *machine, uint32_t object)
{
    for (size_t i = 0; i < machine->released.n; i++)
        if (machine->released.items[i] == object) {
            machine->released.items[i] = machine->released.items[--machine->released.n];
            return true;
        }
    return false;
}

/* Of a lock of events, the library will also record the release that the kernel saw. */
static enum weft_code expect_release(struct weft_lock_machine *machine, uint32_t object,
                                     struct weft_err *err)
{
    if (!(object_of(machine, object)->sources & WEFT_LOCK_BY_EVENTS))
        return WEFT_OK;
    uint32_t *place = WEFT_ROOM_PUSH(&machine->released);
    if (!place)
        return weft_no_memory(err, "locks");
    *place = object;
    return WEFT_OK;
}

/* ---- points of locks ------------------------------------------------------------------------- */

/* A request without an end is forgotten: its acquisition was lost. */
static enum weft_code on_request(struct weft_lock_machine *machine,
                                 const struct weft_lock_point *point, struct weft_err *err)
{
    struct held *held = find_held(machine, point->object);
    (void)err;
    (void)forget_released(machine, point->object);
    if (held && held->is_tentative) /* it was let go meanwhile, unseen */
        drop_held(machine, held);
    machine->pending = op_of(machine, point, 0);
    machine->has_pending = true;
    machine->is_sleep_of_pending = false;
    return WEFT_OK;
}

static enum weft_code on_acquired(struct weft_lock_machine *machine,
                                  const struct weft_lock_point *point, struct weft_err *err)
{
    struct held *held = find_held(machine, point->object);
    const bool is_asked = machine->has_pending && machine->pending.object == point->object;
    struct weft_lock_op op =
        is_asked ? machine->pending : op_of(machine, point, WEFT_LOCK_NO_REQUEST);
    (void)forget_released(machine, point->object);
    if (is_asked)
        machine->has_pending = machine->is_sleep_of_pending = false;
    if (op.site == WEFT_ID_NONE)
        op.site = point->site;
    if (held && !(op.flags & WEFT_LOCK_SHARED) && !object_of(machine, point->object)->is_untold) {
        held->depth++;
        return WEFT_OK;
    }
    return hold(machine, op, point->at_ns, false, err);
}

static enum weft_code on_failed(struct weft_lock_machine *machine,
                                const struct weft_lock_point *point, struct weft_err *err)
{
    const bool is_asked = machine->has_pending && machine->pending.object == point->object;
    struct weft_lock_op op =
        is_asked ? machine->pending : op_of(machine, point, WEFT_LOCK_NO_REQUEST);
    if (is_asked)
        machine->has_pending = machine->is_sleep_of_pending = false;
    op.got_ns = point->at_ns;
    return emit(machine, op, point->at_ns, WEFT_LOCK_FAILED, err);
}

static enum weft_code on_released(struct weft_lock_machine *machine,
                                  const struct weft_lock_point *point, struct weft_err *err)
{
    struct held *held = find_held(machine, point->object);
    machine->has_pending &= point->source != machine->pending.source; /* its end was lost */
    if (point->source == WEFT_LOCK_BY_EVENTS && forget_released(machine, point->object))
        return WEFT_OK;
    if (!held) {
        machine->unmatched++;
        return WEFT_OK;
    }
    if (--held->depth > 0)
        return WEFT_OK;
    struct weft_lock_op op = held->op;
    op.release_site = point->site;
    drop_held(machine, held);
    return emit(machine, op, point->at_ns, 0, err);
}

/* ---- waits that give a lock away ------------------------------------------------------------- */

static enum weft_code give(struct weft_lock_machine *machine, const struct weft_lock_point *point,
                           struct weft_err *err)
{
    machine->has_given = false;
    if (machine->released.n) { /* the kernel saw it go */
        const uint32_t object = machine->released.items[--machine->released.n];
        machine->given = (struct weft_lock_op){ .thread_id = machine->thread_id,
                                                .object = object,
                                                .site = point->site,
                                                .release_site = WEFT_ID_NONE,
                                                .source = WEFT_LOCK_BY_EVENTS };
        machine->has_given = true;
        return WEFT_OK;
    }
    for (size_t i = machine->held.n; i-- > 0;) {
        struct held *held = &machine->held.items[i];
        if (held->op.flags & WEFT_LOCK_SHARED || object_of(machine, held->op.object)->is_untold)
            continue;
        struct weft_lock_op op = held->op;
        drop_held(machine, held);
        machine->given = op;
        op.release_site = point->site;
        machine->has_given = true;
        return emit(machine, op, point->at_ns, 0, err);
    }
    return WEFT_OK;
}

static enum weft_code take_again(struct weft_lock_machine *machine, uint64_t at_ns,
                                 struct weft_err *err)
{
    struct weft_lock_op op = machine->given;
    if (!machine->has_given)
        return WEFT_OK;
    machine->has_given = false;
    op.start_ns = at_ns;
    op.flags = (uint16_t)((op.flags & WEFT_LOCK_SHARED) | WEFT_LOCK_REACQUIRED);
    return hold(machine, op, at_ns, true, err);
}

/* ---- points of sleep ------------------------------------------------------------------------- */

/* A lock that was not free after all is waited for since the first try. Where releases that woke no
 * thread are not recorded, a thread that waits again much later had got it, and released it: for
 * how long it held it is unknown, but no thread waited long for it. */
static enum weft_code sleep_for_lock(struct weft_lock_machine *machine,
                                     const struct weft_lock_point *point, struct weft_err *err)
{
    struct held *held = find_held(machine, point->object);
    if (machine->has_pending && machine->pending.object == point->object) {
        machine->pending.flags |= WEFT_LOCK_SLEPT;
        machine->is_sleep_of_pending = true;
        return WEFT_OK;
    }
    machine->sleep = op_of(machine, point, WEFT_LOCK_SLEPT);
    machine->has_sleep = true;
    if (!held || !held->is_tentative)
        return WEFT_OK;
    const struct weft_lock_op op = held->op;
    drop_held(machine, held);
    if (!machine->may_miss_releases || point->at_ns - op.got_ns <= RETRY_NS) {
        machine->sleep = op;
        machine->sleep.flags |= WEFT_LOCK_SLEPT;
        return WEFT_OK;
    }
    return emit(machine, op, op.got_ns, WEFT_LOCK_NO_RELEASE, err);
}

static enum weft_code on_sleep(struct weft_lock_machine *machine,
                               const struct weft_lock_point *point, struct weft_err *err)
{
    const bool is_call = point->source == WEFT_LOCK_BY_CALLS;
    machine->awake_ns = UINT64_MAX;
    if (machine->is_sleep_of_call && !is_call) {
        machine->sleep.flags |= WEFT_LOCK_SLEPT;
        return WEFT_OK;
    }
    machine->is_sleep_of_pending = machine->has_sleep = false;
    machine->is_sleep_of_call = is_call;
    if (is_held_kind(machine, point->object))
        return sleep_for_lock(machine, point, err);
    machine->sleep = op_of(machine, point, is_call ? 0 : WEFT_LOCK_SLEPT);
    machine->has_sleep = true;
    return object_of(machine, point->object)->kind == WEFT_LOCK_CONDITION
               ? give(machine, point, err)
               : WEFT_OK;
}

static enum weft_code on_awake(struct weft_lock_machine *machine,
                               const struct weft_lock_point *point, struct weft_err *err)
{
    const bool is_call = point->source == WEFT_LOCK_BY_CALLS;
    if (machine->is_sleep_of_pending) {
        machine->is_sleep_of_pending = false;
        return WEFT_OK;
    }
    if (!machine->has_sleep || (machine->is_sleep_of_call && !is_call))
        return WEFT_OK;
    machine->has_sleep = machine->is_sleep_of_call = false;
    struct weft_lock_op op = machine->sleep;
    if (is_held_kind(machine, op.object))
        return hold(machine, op, point->at_ns, true, err);
    op.got_ns = point->at_ns;
    if (object_of(machine, op.object)->kind == WEFT_LOCK_CONDITION && !machine->has_given)
        machine->awake_ns = point->at_ns;
    enum weft_code code = emit(machine, op, point->at_ns, 0, err);
    return code == WEFT_OK ? take_again(machine, point->at_ns, err) : code;
}

/* A lock whose acquisition was not recorded: if the thread woke from a condition just before, it
 * holds it since then. */
static enum weft_code wake_of_lock(struct weft_lock_machine *machine,
                                   const struct weft_lock_point *point, uint64_t awake_ns,
                                   struct weft_err *err)
{
    struct held *held = find_held(machine, point->object);
    struct weft_lock_op op = op_of(machine, point, WEFT_LOCK_NO_REQUEST | WEFT_LOCK_PARTIAL);
    if (!held && awake_ns != UINT64_MAX) {
        op = op_of(machine, point, WEFT_LOCK_NO_REQUEST | WEFT_LOCK_REACQUIRED);
        op.start_ns = op.got_ns = awake_ns;
    }
    if (held) {
        op = held->op;
        drop_held(machine, held);
    }
    op.release_site = point->site;
    enum weft_code code = emit(machine, op, point->at_ns, 0, err);
    return code == WEFT_OK ? expect_release(machine, point->object, err) : code;
}

/* Whoever wakes all at a barrier arrived last. */
static enum weft_code on_wake(struct weft_lock_machine *machine,
                              const struct weft_lock_point *point, struct weft_err *err)
{
    const struct weft_lock_object *object = object_of(machine, point->object);
    const uint64_t awake_ns = machine->awake_ns;
    machine->awake_ns = UINT64_MAX;
    if (machine->is_sleep_of_call && point->source != WEFT_LOCK_BY_CALLS)
        return WEFT_OK;
    if (weft_lock_is_held(object->kind))
        return wake_of_lock(machine, point, awake_ns, err);
    if (object->kind == WEFT_LOCK_BARRIER)
        return emit(machine, op_of(machine, point, 0), point->at_ns, 0, err);
    return signal(machine, point, err);
}

/* ---- a thread -------------------------------------------------------------------------------- */

static void begin(struct weft_lock_machine *machine, uint32_t thread_id)
{
    machine->thread_id = thread_id;
    machine->held.n = machine->released.n = 0;
    machine->awake_ns = UINT64_MAX;
    machine->has_pending = machine->has_sleep = machine->has_given = false;
    machine->is_sleep_of_call = machine->is_sleep_of_pending = false;
}

/* What is open is held, or waited for, until the thread's end. */
static enum weft_code finish(struct weft_lock_machine *machine, struct weft_thread_ends *ends,
                             uint64_t to_ns, struct weft_err *err)
{
    uint64_t since_ns = 0, end_ns = 0;
    unsigned flags = WEFT_LOCK_FAILED;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < machine->held.n; i++)
        since_ns = weft_max_u64(since_ns, machine->held.items[i].op.got_ns);
    if (machine->has_pending)
        since_ns = weft_max_u64(since_ns, machine->pending.start_ns);
    if (machine->has_sleep)
        since_ns = weft_max_u64(since_ns, machine->sleep.start_ns);
    if (machine->held.n || machine->has_pending || machine->has_sleep)
        code = weft_thread_ends_find(ends, machine->thread_id, since_ns, &end_ns, err);
    if (end_ns <= to_ns) /* else it continues beyond what is read */
        flags |= WEFT_LOCK_OPEN;
    end_ns = weft_max_u64(weft_min_u64(end_ns, to_ns), since_ns);
    for (size_t i = 0; i < machine->held.n && code == WEFT_OK; i++)
        code = emit(machine, machine->held.items[i].op, end_ns, WEFT_LOCK_NO_RELEASE, err);
    for (unsigned i = 0; i < 2 && code == WEFT_OK; i++) {
        struct weft_lock_op op = i ? machine->sleep : machine->pending;
        if (!(i ? machine->has_sleep : machine->has_pending))
            continue;
        op.got_ns = end_ns;
        code = emit(machine, op, end_ns, flags, err);
    }
    return code;
}

enum weft_code weft_lock_machine_run(struct weft_lock_machine *machine, uint32_t thread_id,
                                     const struct weft_lock_points *points,
                                     struct weft_thread_ends *ends, uint64_t to_ns,
                                     struct weft_err *err)
{
    typedef enum weft_code (*on_fn)(struct weft_lock_machine *, const struct weft_lock_point *,
                                    struct weft_err *);
    static const on_fn on[] = {
        [WEFT_LOCK_POINT_REQUEST] = on_request, [WEFT_LOCK_POINT_ACQUIRED] = on_acquired,
        [WEFT_LOCK_POINT_FAILED] = on_failed,   [WEFT_LOCK_POINT_RELEASED] = on_released,
        [WEFT_LOCK_POINT_SLEEP] = on_sleep,     [WEFT_LOCK_POINT_AWAKE] = on_awake,
        [WEFT_LOCK_POINT_WAKE] = on_wake,
    };
    enum weft_code code = WEFT_OK;
    begin(machine, thread_id);
    for (size_t i = 0; i < points->n && code == WEFT_OK; i++)
        code = on[points->items[i].kind](machine, &points->items[i], err);
    return code == WEFT_OK ? finish(machine, ends, to_ns, err) : code;
}
