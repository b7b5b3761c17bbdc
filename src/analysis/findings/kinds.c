/* SPDX-License-Identifier: MIT
 *
 * Follows a path from the thread that takes longer to the one that holds it up, and tells by the
 * state of that one, by the kind of lock between them, and by the calls of libc and of the kernel
 * that they wait in, what kind of problem it is. Names of functions of the program play no part.
 */
#include "analysis/findings/kinds.h"

#include "analysis/findings/calls.h"
#include "analysis/findings/system_locks.h"
#include "model/graph/waiting.h"
#include "schema/event.h"

#include <string.h>

/* ---- the thread at the end ------------------------------------------------------------------- */

static enum weft_problem_kind run_kind(enum weft_in_call call)
{
    return call == WEFT_IN_YIELD || call == WEFT_IN_SPIN ? WEFT_PROBLEM_SPIN
           : call == WEFT_IN_ALLOCATOR                   ? WEFT_PROBLEM_ALLOCATOR
           : call == WEFT_IN_FAULT                       ? WEFT_PROBLEM_MINOR_FAULT
                                                         : WEFT_PROBLEM_CODE;
}

/* Of a wait of a block device: a page is read wherever memory is touched. */
static enum weft_problem_kind block_kind(enum weft_in_call call)
{
    switch (call) {
    case WEFT_IN_NONE:
    case WEFT_IN_FAULT:
    case WEFT_IN_MAP:
    case WEFT_IN_ALLOCATOR:
    case WEFT_IN_WAKE:
        return WEFT_PROBLEM_FAULT;
    default:
        return WEFT_PROBLEM_DISK;
    }
}

/* Of a wait that the kernel gives no reason for. */
static enum weft_problem_kind call_kind(enum weft_in_call call)
{
    return call == WEFT_IN_LOCK        ? WEFT_PROBLEM_LOCK
           : call == WEFT_IN_ALLOCATOR ? WEFT_PROBLEM_ALLOCATOR
           : call == WEFT_IN_WAIT      ? WEFT_PROBLEM_QUEUE
           : call == WEFT_IN_SERIAL    ? WEFT_PROBLEM_SERIAL
           : call == WEFT_IN_NETWORK   ? WEFT_PROBLEM_NETWORK
           : call == WEFT_IN_SLEEP     ? WEFT_PROBLEM_SLEEP
                                       : WEFT_PROBLEM_UNKNOWN;
}

static enum weft_problem_kind blocked_kind(enum weft_path_reason reason, enum weft_in_call call)
{
    if (call == WEFT_IN_FSYNC)
        return WEFT_PROBLEM_FSYNC;
    if (call == WEFT_IN_CHILD)
        return WEFT_PROBLEM_CHILD;
    if (call == WEFT_IN_CONNECT)
        return WEFT_PROBLEM_CONNECT;
    switch (reason) {
    case WEFT_PATH_BLOCK_DEVICE:
        return block_kind(call);
    case WEFT_PATH_DEVICE:
        return WEFT_PROBLEM_DISK;
    case WEFT_PATH_NETWORK:
        return WEFT_PROBLEM_NETWORK;
    case WEFT_PATH_TIMER: /* a lock may be waited for until a limit */
        return call == WEFT_IN_LOCK ? WEFT_PROBLEM_LOCK : WEFT_PROBLEM_SLEEP;
    case WEFT_PATH_LOCK:
        return call == WEFT_IN_ALLOCATOR ? WEFT_PROBLEM_ALLOCATOR : WEFT_PROBLEM_LOCK;
    case WEFT_PATH_THREAD:
    case WEFT_PATH_TASK:
        return WEFT_PROBLEM_QUEUE;
    default:
        return call_kind(call);
    }
}

/* What a thread does that is neither waiting for another one nor for a lock. */
static enum weft_problem_kind end_kind(const struct weft_frame_path *path,
                                       const struct weft_path_part *part)
{
    const enum weft_in_call call = weft_call_in(path, part);
    const struct weft_frame *state = part->state < part->to ? path->frames[part->state] : NULL;
    if (!state || state->state == WEFT_FRAME_RUNNING || state->state == WEFT_FRAME_NO_STATE)
        return run_kind(call);
    if (state->state == WEFT_FRAME_INTERRUPTED)
        return WEFT_PROBLEM_INTERRUPT;
    if (state->state == WEFT_FRAME_PREEMPTED)
        return WEFT_PROBLEM_CPU;
    if (state->state == WEFT_FRAME_UNKNOWN)
        return WEFT_PROBLEM_UNKNOWN;
    if (weft_system_lock_of(path, part, NULL) != WEFT_SYSTEM_LOCK_NONE)
        return WEFT_PROBLEM_LOCK;
    return blocked_kind((enum weft_path_reason)state->reason, call);
}

/* ---- from thread to thread ------------------------------------------------------------------- */

/* By the kind of what is waited for, else by the call in which it waits. */
static bool is_lock(const struct weft_frame *thread, enum weft_in_call call)
{
    switch (thread->waited_for - 1) {
    case WEFT_LOCK_MUTEX:
    case WEFT_LOCK_RWLOCK:
    case WEFT_LOCK_SPIN:
        return true;
    case -1:
    case WEFT_LOCK_FUTEX:
        return call == WEFT_IN_LOCK || call == WEFT_IN_ALLOCATOR;
    default:
        return false;
    }
}

static bool is_serial(const struct weft_frame *thread, enum weft_in_call call)
{
    const int kind = thread->waited_for - 1;
    return kind == WEFT_LOCK_BARRIER || kind == WEFT_LOCK_JOIN ||
           (kind < 0 && call == WEFT_IN_SERIAL);
}

enum weft_problem_kind weft_kind_of_lock(enum weft_problem_kind end)
{
    switch (end) {
    case WEFT_PROBLEM_FSYNC:
    case WEFT_PROBLEM_DISK:
    case WEFT_PROBLEM_FAULT:
        return WEFT_PROBLEM_LOCK_IO;
    case WEFT_PROBLEM_NETWORK:
    case WEFT_PROBLEM_CONNECT:
    case WEFT_PROBLEM_DELAYED_ACK:
    case WEFT_PROBLEM_TIMEOUT:
        return WEFT_PROBLEM_LOCK_NET;
    case WEFT_PROBLEM_SLEEP:
        return WEFT_PROBLEM_LOCK_SLEEP;
    case WEFT_PROBLEM_CPU:
        return WEFT_PROBLEM_LOCK_NO_CPU;
    case WEFT_PROBLEM_OTHER: /* it is no fault of the holder */
        return WEFT_PROBLEM_OTHER;
    case WEFT_PROBLEM_CHILD:
    case WEFT_PROBLEM_QUEUE:
    case WEFT_PROBLEM_SERIAL:
    case WEFT_PROBLEM_POOL:
    case WEFT_PROBLEM_LATE_WAKEUP:
        return WEFT_PROBLEM_LOCK_WAIT;
    default:
        return WEFT_PROBLEM_LOCK;
    }
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}

const struct weft_frame *weft_kind_function(const struct weft_frame_path *path,
                                            const struct weft_path_part *part)
{
    size_t places[WEFT_NAMED_FUNCTIONS];
    const size_t n = weft_path_functions(path, part, places);
    const struct weft_frame *function = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct weft_frame *frame = path->frames[places[i]];
        if (frame->kind != WEFT_FRAME_FUNCTION)
            continue; /* a lock: its name is that of what is waited for */
        function = frame;
        if (!weft_frame_is_library(frame) && !(frame->flags & WEFT_FRAME_WRAPS_WAITS) &&
            weft_call_of(frame->name) == WEFT_IN_NONE)
            break;
    }
    return function;
}

static bool tells_apart(enum weft_problem_kind kind)
{
    return kind == WEFT_PROBLEM_SLEEP || kind == WEFT_PROBLEM_CHILD ||
           kind == WEFT_PROBLEM_NETWORK || kind == WEFT_PROBLEM_CONNECT ||
           kind == WEFT_PROBLEM_LATE_WAKEUP || kind == WEFT_PROBLEM_TIMEOUT ||
           kind == WEFT_PROBLEM_UNKNOWN || kind == WEFT_PROBLEM_LOCK ||
           kind == WEFT_PROBLEM_QUEUE || kind == WEFT_PROBLEM_SERIAL;
}

/* What is waited for in a part, if it has a name. */
static const struct weft_frame *lock_name(const struct weft_frame_path *path,
                                          const struct weft_path_part *part)
{
    size_t to = part->to;
    while (to > part->from && path->frames[to - 1]->kind == WEFT_FRAME_STATE)
        to--;
    return to > part->from && path->frames[to - 1]->kind == WEFT_FRAME_LOCK ? path->frames[to - 1]
                                                                            : NULL;
}

static uint64_t key_of(const struct weft_frame_path *path, const struct weft_kind *kind,
                       const struct weft_path_part *lock)
{
    uint64_t hash = WEFT_FRAME_HASH;
    const struct weft_frame *function;
    const bool is_of_system = kind->system_lock != WEFT_SYSTEM_LOCK_NONE;
    /* of monitors there are many */
    const bool is_monitor = kind->system_lock == WEFT_SYSTEM_LOCK_MONITOR;
    if (is_of_system) {
        hash = add_text(hash, weft_system_lock_name(kind->system_lock));
        hash = add_text(hash, kind->kind == WEFT_PROBLEM_OTHER ? "other" : "lock");
        function = is_monitor && lock ? weft_kind_function(path, lock) : NULL;
    } else if (lock) { /* without the time that other programs take from its holder */
        hash = add_text(hash, kind->kind == WEFT_PROBLEM_OTHER ? "other" : "lock");
        function = kind->object ? kind->object : weft_kind_function(path, lock);
    } else if (kind->holder && kind->kind != WEFT_PROBLEM_LATE_WAKEUP) {
        hash = add_text(add_text(hash, "thread"), weft_problem_kind_name(kind->kind));
        function = NULL;
    } else { /* whichever thread comes late */
        hash = add_text(hash, weft_problem_kind_name(kind->kind));
        function = tells_apart(kind->kind) ? lock_name(path, &kind->waiting) : NULL;
        if (tells_apart(kind->kind) && !function)
            function = weft_kind_function(path, &kind->waiting);
    }
    if (function)
        hash = weft_frame_hash(hash, function);
    /* a runtime's lock has a holder after the other, an address space few that change it */
    const bool is_any = (is_of_system && kind->system_lock != WEFT_SYSTEM_LOCK_MMAP) ||
                        kind->kind == WEFT_PROBLEM_LATE_WAKEUP;
    return kind->holder && !is_any ? weft_frame_hash(hash, kind->holder) : hash;
}

/* Threads of the kernel that end waits for files: processes of their own, called after what they
 * serve. */
static bool is_storage(const struct weft_frame *thread)
{
    static const char *const names[] = {
        "kworker", "jbd2/", "kswapd", "xfsaild/", "xfs-", "btrfs-"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (thread->name.n_bytes >= strlen(names[i]) &&
            memcmp(thread->name.bytes, names[i], strlen(names[i])) == 0)
            return thread->module.n_bytes > 0;
    return false;
}

/* Does the call say more than which thread ended the wait? */
static bool is_end(enum weft_in_call call, const struct weft_frame *thread)
{
    return call == WEFT_IN_FSYNC || call == WEFT_IN_SLEEP ||
           (call == WEFT_IN_FILE && is_storage(thread));
}

/* How the last wait for something else than a lock ends. */
enum hop { HOP_NONE, HOP_THREAD, HOP_SEMAPHORE, HOP_POOL, HOP_SERIAL, HOP_CHILD, HOP_NETWORK };

/* A path on the way from its first thread to the one that holds it up. */
struct following {
    const struct weft_frame_path *path;
    struct weft_kind kind;
    struct weft_path_part part, lock; /* where it is; where the last lock is waited for */
    enum weft_in_call call;           /* of the part */
    enum hop hop;                     /* the first one behind the last lock */
    size_t n_threads;                 /* behind the last lock */
    bool has_lock, is_allocator, is_at_end;
};

/* Functions of an interpreter, in which all threads of all its programs are. */
static bool is_interpreted(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    static const char *const starts[] = { "_PyEval_",         "PyEval_",    "PyThread_",
                                          "Py_RunMain",       "rb_vm_exec", "vm_exec",
                                          "JavaCalls::call_", "thread_run", "Interpreter",
                                          "pythread_" };
    for (size_t i = part->from; i < part->to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
            WEFT_STR_BEGINS(path->frames[i]->name, starts))
            return true;
    return false;
}

static bool is_own(const struct weft_frame_path *path, const struct weft_path_part *part, size_t at)
{
    return path->frames[at]->kind == WEFT_FRAME_FUNCTION &&
           !weft_path_is_library(path, part->from, at) &&
           weft_call_of(path->frames[at]->name) == WEFT_IN_NONE;
}

/* Is the thread in that function, other than as the one in which it begins? */
static bool is_within(const struct weft_frame_path *path, const struct weft_path_part *part,
                      struct weft_str function)
{
    bool is_first = true;
    for (size_t i = part->from; i < part->to; i++) {
        if (!is_own(path, part, i))
            continue;
        if (!is_first && weft_str_equal(path->frames[i]->name, function))
            return true;
        is_first = false;
    }
    return false;
}

/* Do both threads do the same work, of which there may be no more at a time: are they in one
 * function that takes something, uses it and gives it back? It is the one that waits, or a near
 * caller of that; but not where threads begin. */
static bool is_same_work(const struct weft_frame_path *path, const struct weft_path_part *waiting,
                         const struct weft_path_part *holding)
{
    enum { NEAR = 4 };
    if (is_interpreted(path, waiting) || is_interpreted(path, holding))
        return false;
    unsigned n = 0;
    for (size_t i = waiting->to; i-- > waiting->from && n < NEAR;) {
        if (!is_own(path, waiting, i))
            continue;
        n++;
        if (is_within(path, waiting, path->frames[i]->name) &&
            is_within(path, holding, path->frames[i]->name))
            return true;
    }
    return false;
}

/* The innermost function of the program that does not wait for all of it; empty: none is known. */
static struct weft_str innermost_own(const struct weft_frame_path *path,
                                     const struct weft_path_part *part)
{
    for (size_t i = part->to; i-- > part->from;)
        if (is_own(path, part, i) && !(path->frames[i]->flags & WEFT_FRAME_WRAPS_WAITS))
            return path->frames[i]->name;
    return (struct weft_str){ 0 };
}

/* Are both in one call, read, at the end? What reads, too, has no token that another one waits
 * for. */
static bool are_in_one_call(const struct weft_frame_path *path, const struct weft_path_part *a,
                            const struct weft_path_part *b)
{
    const enum weft_in_call call = weft_call_in(path, a);
    return call != WEFT_IN_NONE && call == weft_call_in(path, b);
}

/* Is it in one of those calls of libc, of files? */
static bool is_in_file_call(const struct weft_frame_path *path, const struct weft_path_part *part,
                            const char *names)
{
    if (weft_call_in(path, part) != WEFT_IN_FILE)
        return false;
    for (size_t i = part->from; i < part->to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
            weft_str_is_one_of(weft_libc_name(path->frames[i]->name), names))
            return true;
    return false;
}

/* What takes part in a pool: a condition or a semaphore that one thread waits for until another,
 * which does the same, signals it. */
static bool is_pool(const struct following *it, const struct weft_frame *thread,
                    const struct weft_path_part *next)
{
    const int kind = thread->waited_for - 1;
    const bool is_wait =
        kind == WEFT_LOCK_CONDITION || kind == WEFT_LOCK_SEMAPHORE ||
        ((kind < 0 || kind == WEFT_LOCK_FUTEX) && it->call == WEFT_IN_WAIT) ||
        (kind < 0 && is_in_file_call(it->path, &it->part, "read|readv")); /* tokens in a pipe */
    if (!is_wait || thread->module.n_bytes > 0)
        return false;
    const struct weft_str wait = innermost_own(it->path, &it->part);
    struct weft_path_part holding = *next; /* past those that wait for the same */
    while (holding.to < it->path->n && !holding.is_preempted && wait.n_bytes > 0 &&
           weft_call_in(it->path, &holding) == it->call &&
           weft_str_equal(innermost_own(it->path, &holding), wait))
        holding = weft_path_part_at(it->path, holding.to + 1);
    const bool is_reading =
        it->call == WEFT_IN_FILE && are_in_one_call(it->path, &it->part, &holding);
    return !is_reading && is_same_work(it->path, &it->part, &holding);
}

static enum hop hop_of(const struct following *it, const struct weft_frame *thread,
                       const struct weft_path_part *next)
{
    const enum weft_in_call call = it->call;
    const bool is_ready = call == WEFT_IN_POLL || call == WEFT_IN_READY;
    const bool is_of_child = thread->flags & WEFT_FRAME_OF_CHILD;
    const bool is_output = call == WEFT_IN_FILE && /* of the child, not what it reads */
                           !is_in_file_call(it->path, &it->part, "write|writev");
    return call == WEFT_IN_CHILD                                ? HOP_CHILD
           : is_of_child && (is_ready || is_output)             ? HOP_CHILD
           : call == WEFT_IN_NETWORK || call == WEFT_IN_CONNECT ? HOP_NETWORK
           : is_ready && thread->module.n_bytes > 0             ? HOP_NETWORK
           : is_serial(thread, call)                            ? HOP_SERIAL
           : is_pool(it, thread, next)                          ? HOP_POOL
           : thread->waited_for - 1 == WEFT_LOCK_SEMAPHORE      ? HOP_SEMAPHORE
                                                                : HOP_THREAD;
}

/* Goes over to the thread that the part waits for. */
static void follow(struct following *it)
{
    const struct weft_frame *thread = it->path->frames[it->part.to];
    const struct weft_path_part next = weft_path_part_at(it->path, it->part.to + 1);
    struct weft_kind *kind = &it->kind;
    const enum weft_system_lock system_lock = weft_system_lock_of(it->path, &it->part, &next);
    const bool is_of_system = system_lock != WEFT_SYSTEM_LOCK_NONE;
    /* what waits for a place in the same pool has none: one further on has it */
    const bool is_in_line = it->hop == HOP_POOL && !kind->last && is_pool(it, thread, &next);
    if (is_of_system || is_lock(thread, it->call)) {
        kind->system_lock = system_lock;
        it->has_lock = true;
        it->is_allocator = it->call == WEFT_IN_ALLOCATOR;
        it->lock = it->part;
        kind->where = weft_kind_function(it->path, &it->part);
        it->hop = HOP_NONE;
        it->n_threads = 0;
        kind->object = is_of_system ? NULL : lock_name(it->path, &it->part);
        kind->last = NULL;
    } else {
        it->n_threads++;
    }
    if (!is_of_system && !is_lock(thread, it->call) && it->hop == HOP_NONE) {
        it->hop = hop_of(it, thread, &next);
        kind->is_of_end |= thread->waited_for - 1 == WEFT_LOCK_JOIN;
        kind->is_of_pipe = it->hop == HOP_POOL && it->call == WEFT_IN_FILE;
        if (!it->has_lock)
            kind->object = lock_name(it->path, &it->part);
    }
    if (it->has_lock ? it->hop == HOP_NONE : it->hop == HOP_THREAD || is_in_line || !kind->holder) {
        kind->holder = thread;
        kind->holding = next;
    } else {
        kind->last = thread;
        kind->lasting = next;
    }
    it->part = next;
}

/* What the thread at the end does. */
static enum weft_problem_kind end_of(struct following *it)
{
    const bool is_taken = it->part.is_preempted && it->part.to < it->path->n;
    if (is_taken) {
        it->kind.preemptor = it->kind.last = it->path->frames[it->part.to];
        it->kind.lasting = weft_path_part_at(it->path, it->part.to + 1);
    }
    if (is_taken && it->kind.preemptor->module.n_bytes > 0)
        return WEFT_PROBLEM_OTHER;
    if (!it->is_at_end)
        return end_kind(it->path, &it->part);
    return it->call == WEFT_IN_FSYNC  ? WEFT_PROBLEM_FSYNC
           : it->call == WEFT_IN_FILE ? WEFT_PROBLEM_DISK
                                      : WEFT_PROBLEM_SLEEP;
}

/* Is the peer of a socket another program, or a thread that waits for no other? A thread of this
 * program that waits for others in turn is no network; nor is any thread of this process. */
static bool is_network(const struct following *it)
{
    const struct weft_frame *peer = it->has_lock ? it->kind.last : it->kind.holder;
    return !peer || peer->module.n_bytes > 0 ||
           (it->n_threads == 1 && !(peer->flags & WEFT_FRAME_OF_PROCESS));
}

/* Of a wait for something else than a lock. */
static enum weft_problem_kind wait_kind(const struct following *it, enum weft_problem_kind end)
{
    const bool is_plain = end == WEFT_PROBLEM_CODE || end == WEFT_PROBLEM_UNKNOWN;
    if (end == WEFT_PROBLEM_OTHER) /* it is no fault of the thread at the end */
        return end;
    switch (it->hop) {
    case HOP_CHILD:
        return end == WEFT_PROBLEM_SLEEP ? end : WEFT_PROBLEM_CHILD;
    case HOP_NETWORK:
        if (!is_network(it))
            return is_plain ? WEFT_PROBLEM_QUEUE : end;
        return weft_call_in(it->path, &it->kind.waiting) == WEFT_IN_CONNECT ? WEFT_PROBLEM_CONNECT
                                                                            : WEFT_PROBLEM_NETWORK;
    case HOP_SERIAL:
        return is_plain ? WEFT_PROBLEM_SERIAL : end;
    case HOP_POOL:
        return WEFT_PROBLEM_POOL;
    case HOP_SEMAPHORE:
        return is_plain ? WEFT_PROBLEM_QUEUE : end;
    default:
        return is_plain && it->kind.holder ? WEFT_PROBLEM_QUEUE : end;
    }
}

static enum weft_problem_kind kind_at(const struct following *it, enum weft_problem_kind end)
{
    if (it->is_allocator)
        return WEFT_PROBLEM_ALLOCATOR;
    if (!it->has_lock)
        return wait_kind(it, end);
    if (it->hop == HOP_NETWORK && is_network(it))
        return WEFT_PROBLEM_LOCK_NET;
    if (it->hop != HOP_NONE && (end == WEFT_PROBLEM_CODE || end == WEFT_PROBLEM_SLEEP))
        return WEFT_PROBLEM_LOCK_WAIT;
    const bool is_time_out = end == WEFT_PROBLEM_SLEEP && it->call == WEFT_IN_NETWORK;
    return weft_kind_of_lock(is_time_out ? WEFT_PROBLEM_TIMEOUT : end);
}

/* Does it wait for a disk? The thread behind that is one whose requests the disk served. */
static bool is_in_device(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    return part->state < part->to &&
           weft_frame_is_blocked(path->frames[part->state], WEFT_PATH_BLOCK_DEVICE,
                                 path->frames[part->state]->flags);
}

/* Does another thread wait for a condition or a semaphore until a limit in time; or for a signal of
 * the execution's thread, which waits for it: did another one get the last? Interpreters sleep so
 * as well. */
static bool is_late(const struct following *it)
{
    const struct weft_frame *state =
        it->part.state < it->part.to ? it->path->frames[it->part.state] : NULL;
    const bool is_sent = state && weft_frame_is_blocked(state, WEFT_PATH_THREAD, state->flags);
    return it->kind.holder && it->call == WEFT_IN_WAIT && !is_interpreted(it->path, &it->part) &&
           (it->kind.kind == WEFT_PROBLEM_SLEEP ||
            (it->kind.kind == WEFT_PROBLEM_QUEUE && is_sent));
}

struct weft_kind weft_kind_of(const struct weft_frame_path *path)
{
    struct following it = { .path = path, .part = weft_path_part_at(path, 0) };
    it.kind.waiting = it.part;
    for (it.call = weft_call_in(path, &it.part);
         it.part.to < path->n && !it.part.is_preempted && !is_in_device(path, &it.part);
         it.call = weft_call_in(path, &it.part)) {
        it.is_at_end = is_end(it.call, path->frames[it.part.to]);
        if (it.is_at_end)
            break;
        follow(&it);
    }
    it.kind.kind = kind_at(&it, end_of(&it));
    it.kind.otherwise = it.kind.kind;
    if (is_late(&it))
        it.kind.kind = WEFT_PROBLEM_LATE_WAKEUP;
    if (it.kind.kind == WEFT_PROBLEM_SLEEP &&
        (it.call == WEFT_IN_POLL || it.call == WEFT_IN_NETWORK))
        it.kind.kind = WEFT_PROBLEM_TIMEOUT;
    it.kind.is_timed_out = it.kind.kind == WEFT_PROBLEM_SLEEP && !it.kind.holder &&
                           (it.call == WEFT_IN_WAIT || it.call == WEFT_IN_READY);
    it.kind.is_in_flight =
        it.part.state < it.part.to &&
        weft_frame_is_blocked(path->frames[it.part.state], WEFT_PATH_NETWORK, WEFT_FRAME_IN_FLIGHT);
    if (!it.has_lock && it.kind.kind == WEFT_PROBLEM_LOCK)
        it.kind.system_lock = weft_system_lock_of(path, &it.part, NULL);
    it.kind.key = key_of(path, &it.kind, it.has_lock ? &it.lock : NULL);
    return it.kind;
}

/* Functions of the program in a part; their number, at most `most`. */
static size_t list_own(const struct weft_frame_path *path, const struct weft_path_part *part,
                       const struct weft_frame **own, size_t most)
{
    size_t n = 0;
    for (size_t i = part->from; i < part->to && n < most; i++)
        if (is_own(path, part, i))
            own[n++] = path->frames[i];
    return n;
}

/* Does the other thread sleep in functions that the waiting one is in, too, and in none that these
 * call? Then it is between two pieces of work. */
static bool is_between(const struct weft_frame_path *path, const struct weft_path_part *waiting,
                       const struct weft_path_part *sleeping)
{
    enum { MOST_OWN = 32 };
    const struct weft_frame *a[MOST_OWN], *b[MOST_OWN];
    const size_t n_a = list_own(path, waiting, a, MOST_OWN);
    const size_t n_b = list_own(path, sleeping, b, MOST_OWN);
    for (size_t i = 0; i < n_b; i++)
        if (i >= n_a || !weft_str_equal(a[i]->name, b[i]->name))
            return false;
    return n_b > 0;
}

void weft_kind_be_late(struct weft_kind *kind, const struct weft_frame_path *path)
{
    const struct weft_path_part *sleeping = kind->last ? &kind->lasting : &kind->holding;
    if (is_interpreted(path, sleeping) || !is_between(path, &kind->waiting, sleeping))
        return; /* an interpreter's threads of all kinds have one name */
    kind->otherwise = kind->kind;
    kind->kind = WEFT_PROBLEM_LATE_WAKEUP;
    kind->key = key_of(path, kind, NULL);
}

bool weft_kind_is_outside(enum weft_problem_kind kind)
{
    return kind == WEFT_PROBLEM_OTHER || kind == WEFT_PROBLEM_INTERRUPT;
}
