/* SPDX-License-Identifier: MIT
 *
 * Follows a path from the thread that takes longer to the one that holds it up, and tells by the
 * state of that one, by the kind of lock between them, and by the calls of libc and of the kernel
 * that they wait in, what kind of problem it is. Names of functions of the program play no part.
 */
#include "analysis/findings/kinds.h"

#include "model/graph/waiting.h"
#include "schema/event.h"

#include <string.h>

/* ---- calls ----------------------------------------------------------------------------------- */

/* What a thread does in a function of libc, or of the kernel, that every program calls so. */
enum call {
    CALL_NONE,
    CALL_FSYNC,
    CALL_CHILD,
    CALL_SLEEP,
    CALL_NETWORK,
    CALL_CONNECT,
    CALL_POLL,  /* for any of several descriptors, or for a time */
    CALL_READY, /* for any of several descriptors */
    CALL_FILE,
    CALL_FAULT,
    CALL_LOCK,
    CALL_WAIT,   /* for a condition, a semaphore */
    CALL_SERIAL, /* a barrier, the end of a thread */
    CALL_SPIN,
    CALL_YIELD,
    CALL_ALLOCATOR,
    CALL_MAP, /* changes the address space */
};

#define NAME(text) text, sizeof(text) - 1

static const struct {
    const char *name;
    size_t n_bytes;
    enum call call;
} calls[] = {
    { NAME("fsync"), CALL_FSYNC },
    { NAME("fdatasync"), CALL_FSYNC },
    { NAME("sync"), CALL_FSYNC },
    { NAME("syncfs"), CALL_FSYNC },
    { NAME("msync"), CALL_FSYNC },
    { NAME("sync_file_range"), CALL_FSYNC },
    { NAME("waitpid"), CALL_CHILD },
    { NAME("wait4"), CALL_CHILD },
    { NAME("waitid"), CALL_CHILD },
    { NAME("wait3"), CALL_CHILD },
    { NAME("nanosleep"), CALL_SLEEP },
    { NAME("clock_nanosleep"), CALL_SLEEP },
    { NAME("usleep"), CALL_SLEEP },
    { NAME("sleep"), CALL_SLEEP },
    { NAME("recv"), CALL_NETWORK },
    { NAME("recvfrom"), CALL_NETWORK },
    { NAME("recvmsg"), CALL_NETWORK },
    { NAME("recvmmsg"), CALL_NETWORK },
    { NAME("send"), CALL_NETWORK },
    { NAME("sendto"), CALL_NETWORK },
    { NAME("sendmsg"), CALL_NETWORK },
    { NAME("connect"), CALL_CONNECT },
    { NAME("accept"), CALL_NETWORK },
    { NAME("accept4"), CALL_NETWORK },
    { NAME("poll"), CALL_POLL },
    { NAME("ppoll"), CALL_POLL },
    { NAME("select"), CALL_POLL },
    { NAME("pselect"), CALL_POLL },
    { NAME("epoll_wait"), CALL_READY },
    { NAME("epoll_pwait"), CALL_READY },
    { NAME("epoll_pwait2"), CALL_READY },
    { NAME("read"), CALL_FILE },
    { NAME("pread"), CALL_FILE },
    { NAME("pread64"), CALL_FILE },
    { NAME("preadv"), CALL_FILE },
    { NAME("readv"), CALL_FILE },
    { NAME("write"), CALL_FILE },
    { NAME("pwrite"), CALL_FILE },
    { NAME("pwrite64"), CALL_FILE },
    { NAME("pwritev"), CALL_FILE },
    { NAME("writev"), CALL_FILE },
    { NAME("open"), CALL_FILE },
    { NAME("openat"), CALL_FILE },
    { NAME("open64"), CALL_FILE },
    { NAME("unlink"), CALL_FILE },
    { NAME("rename"), CALL_FILE },
    { NAME("ftruncate"), CALL_FILE },
    { NAME("fallocate"), CALL_FILE },
    { NAME("getdents64"), CALL_FILE },
    { NAME("exc_page_fault"), CALL_FAULT },
    { NAME("asm_exc_page_fault"), CALL_FAULT },
    { NAME("handle_mm_fault"), CALL_FAULT },
    { NAME("filemap_fault"), CALL_FAULT },
    { NAME("pthread_mutex_lock"), CALL_LOCK },
    { NAME("pthread_mutex_timedlock"), CALL_LOCK },
    { NAME("pthread_mutex_clocklock"), CALL_LOCK },
    { NAME("pthread_rwlock_rdlock"), CALL_LOCK },
    { NAME("pthread_rwlock_wrlock"), CALL_LOCK },
    { NAME("pthread_rwlock_rdlock_full64"), CALL_LOCK },
    { NAME("pthread_rwlock_wrlock_full64"), CALL_LOCK },
    { NAME("pthread_spin_lock"), CALL_SPIN },
    { NAME("mtx_lock"), CALL_LOCK },
    { NAME("flock"), CALL_LOCK },
    { NAME("fcntl"), CALL_LOCK },
    { NAME("fcntl64"), CALL_LOCK },
    { NAME("lockf"), CALL_LOCK },
    { NAME("lockf64"), CALL_LOCK },
    { NAME("lll_lock_wait"), CALL_LOCK },
    { NAME("lll_mutex_lock_optimized"), CALL_LOCK },
    { NAME("sync.(*Mutex).Lock"), CALL_LOCK },
    { NAME("sync.(*Mutex).lockSlow"), CALL_LOCK },
    { NAME("sync.(*RWMutex).Lock"), CALL_LOCK },
    { NAME("sync.(*RWMutex).RLock"), CALL_LOCK },
    { NAME("runtime.lock2"), CALL_LOCK },
    { NAME("std::sys::sync::mutex::futex::Mutex::lock_contended"), CALL_LOCK },
    { NAME("std::sys::unix::locks::futex_mutex::Mutex::lock_contended"), CALL_LOCK },
    { NAME("pthread_cond_wait"), CALL_WAIT },
    { NAME("pthread_cond_timedwait"), CALL_WAIT },
    { NAME("pthread_cond_clockwait"), CALL_WAIT },
    { NAME("sem_wait"), CALL_WAIT },
    { NAME("sem_timedwait"), CALL_WAIT },
    { NAME("sem_clockwait"), CALL_WAIT },
    { NAME("pthread_barrier_wait"), CALL_SERIAL },
    { NAME("pthread_join"), CALL_SERIAL },
    { NAME("pthread_clockjoin_ex"), CALL_SERIAL },
    { NAME("sched_yield"), CALL_YIELD },
    { NAME("mmap"), CALL_MAP },
    { NAME("mmap64"), CALL_MAP },
    { NAME("munmap"), CALL_MAP },
    { NAME("mprotect"), CALL_MAP },
    { NAME("mremap"), CALL_MAP },
    { NAME("madvise"), CALL_MAP },
    { NAME("brk"), CALL_MAP },
    { NAME("sbrk"), CALL_MAP },
    { NAME("malloc"), CALL_ALLOCATOR },
    { NAME("calloc"), CALL_ALLOCATOR },
    { NAME("realloc"), CALL_ALLOCATOR },
    { NAME("free"), CALL_ALLOCATOR },
    { NAME("cfree"), CALL_ALLOCATOR },
    { NAME("_int_malloc"), CALL_ALLOCATOR },
    { NAME("_int_free"), CALL_ALLOCATOR },
    { NAME("_int_realloc"), CALL_ALLOCATOR },
    { NAME("malloc_consolidate"), CALL_ALLOCATOR },
    { NAME("arena_get2"), CALL_ALLOCATOR },
    { NAME("lll_lock_wait_private"), CALL_ALLOCATOR },
};

static enum call call_of(struct weft_str name)
{
    const struct weft_str text = weft_libc_name(name);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (text.n_bytes == calls[i].n_bytes &&
            memcmp(text.bytes, calls[i].name, text.n_bytes) == 0)
            return calls[i].call;
    return CALL_NONE;
}

/* The innermost such function of a part: of libc, or the innermost one of the program, as calls
 * that a recorder saw have no module. What a program calls its own callers, further out, says
 * nothing. Where malloc waits for a lock it is malloc that says what for. */
static enum call call_in(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    enum call found = CALL_NONE;
    for (size_t i = part->to; i-- > part->from;) {
        const struct weft_frame *frame = path->frames[i];
        const bool is_function = frame->kind == WEFT_FRAME_FUNCTION;
        const enum call call = is_function                         ? call_of(frame->name)
                               : frame->flags & WEFT_FRAME_IN_CALL ? call_of(weft_frame_call(frame))
                                                                   : CALL_NONE;
        const bool is_own = is_function && !weft_path_is_library(path, part->from, i);
        if (is_own && frame->module.n_bytes > 0)
            return found;
        if (call == CALL_ALLOCATOR)
            return call;
        if (found == CALL_NONE)
            found = call;
        if (is_own && call == CALL_NONE)
            return found;
    }
    return found;
}

/* What contended monitors of Java's threads are entered by; all of their waits are of conditions.
 */
static bool is_monitor(struct weft_str function)
{
    static const char *const starts[] = { "ObjectMonitor::enter", "ObjectMonitor::Enter",
                                          "ObjectMonitor::ReenterI" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (function.n_bytes >= strlen(starts[i]) &&
            memcmp(function.bytes, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* The lock of a language's runtime for which a thread waits there: that of Python's or Ruby's
 * interpreter, or a monitor of Java's; empty: for none. Python's programs without symbols still
 * export the variable that its condition is part of. */
static struct weft_str runtime_lock(const struct weft_frame_path *path,
                                    const struct weft_path_part *part)
{
    static const char variable[] = "_PyRuntime";
    const size_t n = sizeof variable - 1;
    const struct weft_frame *last = part->to > part->from ? path->frames[part->to - 1] : NULL;
    if (last && last->kind == WEFT_FRAME_LOCK && last->name.n_bytes > n &&
        memcmp(last->name.bytes, variable, n) == 0 && strchr("+.", last->name.bytes[n]))
        return WEFT_STR("GIL");
    const struct weft_frame *state = part->state < part->to ? path->frames[part->state] : NULL;
    if (part->is_preempted || (state && state->state == WEFT_FRAME_RUNNING))
        return (struct weft_str){ 0 };
    for (size_t i = part->from; i < part->to; i++) {
        if (path->frames[i]->kind != WEFT_FRAME_FUNCTION)
            continue;
        if (weft_str_is_one_of(path->frames[i]->name, "take_gil|gvl_acquire_basic"))
            return WEFT_STR("GIL");
        if (is_monitor(path->frames[i]->name))
            return WEFT_STR("Java monitor");
    }
    return (struct weft_str){ 0 };
}

/* ---- the thread at the end ------------------------------------------------------------------- */

/* What a thread does that is neither waiting for another one nor for a lock. */
static enum weft_problem_kind end_kind(const struct weft_frame_path *path,
                                       const struct weft_path_part *part)
{
    const enum call call = call_in(path, part);
    const struct weft_frame *state = part->state < part->to ? path->frames[part->state] : NULL;
    if (!state || state->state == WEFT_FRAME_RUNNING || state->state == WEFT_FRAME_NO_STATE)
        return call == CALL_YIELD || call == CALL_SPIN ? WEFT_PROBLEM_SPIN
               : call == CALL_ALLOCATOR                ? WEFT_PROBLEM_ALLOCATOR
                                                       : WEFT_PROBLEM_CODE;
    if (state->state == WEFT_FRAME_INTERRUPTED)
        return WEFT_PROBLEM_INTERRUPT;
    if (state->state == WEFT_FRAME_PREEMPTED)
        return WEFT_PROBLEM_CPU;
    if (state->state == WEFT_FRAME_UNKNOWN)
        return WEFT_PROBLEM_UNKNOWN;
    if (runtime_lock(path, part).n_bytes > 0)
        return WEFT_PROBLEM_LOCK;
    if (call == CALL_FSYNC)
        return WEFT_PROBLEM_FSYNC;
    if (call == CALL_CHILD)
        return WEFT_PROBLEM_CHILD;
    if (call == CALL_CONNECT)
        return WEFT_PROBLEM_CONNECT;
    switch ((enum weft_path_reason)state->reason) {
    case WEFT_PATH_BLOCK_DEVICE:
        return call == CALL_FILE                                             ? WEFT_PROBLEM_DISK
               : call == CALL_NONE || call == CALL_FAULT || call == CALL_MAP ? WEFT_PROBLEM_FAULT
                                                                             : WEFT_PROBLEM_DISK;
    case WEFT_PATH_DEVICE:
        return WEFT_PROBLEM_DISK;
    case WEFT_PATH_NETWORK:
        return WEFT_PROBLEM_NETWORK;
    case WEFT_PATH_TIMER: /* a lock may be waited for until a limit */
        return call == CALL_LOCK ? WEFT_PROBLEM_LOCK : WEFT_PROBLEM_SLEEP;
    case WEFT_PATH_LOCK:
        return call == CALL_ALLOCATOR ? WEFT_PROBLEM_ALLOCATOR : WEFT_PROBLEM_LOCK;
    case WEFT_PATH_THREAD:
    case WEFT_PATH_TASK:
        return WEFT_PROBLEM_QUEUE;
    default:
        break;
    }
    return call == CALL_LOCK        ? WEFT_PROBLEM_LOCK
           : call == CALL_ALLOCATOR ? WEFT_PROBLEM_ALLOCATOR
           : call == CALL_WAIT      ? WEFT_PROBLEM_QUEUE
           : call == CALL_SERIAL    ? WEFT_PROBLEM_SERIAL
           : call == CALL_NETWORK   ? WEFT_PROBLEM_NETWORK
           : call == CALL_SLEEP     ? WEFT_PROBLEM_SLEEP
                                    : WEFT_PROBLEM_UNKNOWN;
}

/* ---- from thread to thread ------------------------------------------------------------------- */

/* By the kind of what is waited for, else by the call in which it waits. */
static bool is_lock(const struct weft_frame *thread, enum call call)
{
    switch (thread->waited_for - 1) {
    case WEFT_LOCK_MUTEX:
    case WEFT_LOCK_RWLOCK:
    case WEFT_LOCK_SPIN:
        return true;
    case -1:
    case WEFT_LOCK_FUTEX:
        return call == CALL_LOCK || call == CALL_ALLOCATOR;
    default:
        return false;
    }
}

static bool is_serial(const struct weft_frame *thread, enum call call)
{
    const int kind = thread->waited_for - 1;
    return kind == WEFT_LOCK_BARRIER || kind == WEFT_LOCK_JOIN || (kind < 0 && call == CALL_SERIAL);
}

/* A lock that is held while its holder does that. */
static enum weft_problem_kind lock_kind(enum weft_problem_kind end)
{
    switch (end) {
    case WEFT_PROBLEM_FSYNC:
    case WEFT_PROBLEM_DISK:
    case WEFT_PROBLEM_FAULT:
        return WEFT_PROBLEM_LOCK_IO;
    case WEFT_PROBLEM_NETWORK:
    case WEFT_PROBLEM_CONNECT:
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
    size_t at = 0;
    while (at + 1 < n && (weft_frame_is_library(path->frames[places[at]]) ||
                          (path->frames[places[at]]->flags & WEFT_FRAME_WRAPS_WAITS) ||
                          call_of(path->frames[places[at]]->name) != CALL_NONE))
        at++;
    return n > 0 ? path->frames[places[at]] : NULL;
}

static bool tells_apart(enum weft_problem_kind kind)
{
    return kind == WEFT_PROBLEM_SLEEP || kind == WEFT_PROBLEM_CHILD ||
           kind == WEFT_PROBLEM_NETWORK || kind == WEFT_PROBLEM_CONNECT ||
           kind == WEFT_PROBLEM_LATE_WAKEUP || kind == WEFT_PROBLEM_TIMEOUT ||
           kind == WEFT_PROBLEM_UNKNOWN || kind == WEFT_PROBLEM_LOCK ||
           kind == WEFT_PROBLEM_QUEUE || kind == WEFT_PROBLEM_SERIAL;
}

/* Are there many such locks? Then where it is asked for distinguishes them. */
static bool is_of_object(const struct weft_kind *kind)
{
    return weft_str_equal(kind->runtime_lock, WEFT_STR("Java monitor"));
}

static uint64_t key_of(const struct weft_frame_path *path, const struct weft_kind *kind,
                       const struct weft_path_part *lock)
{
    uint64_t hash = WEFT_FRAME_HASH;
    const struct weft_frame *function;
    if (kind->runtime_lock.n_bytes > 0) {
        hash = add_text(hash, kind->runtime_lock.bytes);
        hash = add_text(hash, kind->kind == WEFT_PROBLEM_OTHER ? "other" : "lock");
        function = is_of_object(kind) && lock ? weft_kind_function(path, lock) : NULL;
    } else if (lock) { /* without the time that other programs take from its holder */
        hash = add_text(hash, kind->kind == WEFT_PROBLEM_OTHER ? "other" : "lock");
        function = kind->object ? kind->object : weft_kind_function(path, lock);
    } else if (kind->holder && kind->kind != WEFT_PROBLEM_LATE_WAKEUP) {
        hash = add_text(add_text(hash, "thread"), weft_problem_kind_name(kind->kind));
        function = NULL;
    } else { /* whichever thread comes late */
        hash = add_text(hash, weft_problem_kind_name(kind->kind));
        function = tells_apart(kind->kind) ? weft_kind_function(path, &kind->waiting) : NULL;
        if (kind->kind == WEFT_PROBLEM_LATE_WAKEUP && kind->object)
            hash = weft_frame_hash(hash, kind->object);
    }
    if (function)
        hash = weft_frame_hash(hash, function);
    return kind->holder && kind->runtime_lock.n_bytes == 0 && kind->kind != WEFT_PROBLEM_LATE_WAKEUP
               ? weft_frame_hash(hash, kind->holder)
               : hash;
}

static const struct weft_frame *lock_name(const struct weft_frame_path *path,
                                          const struct weft_path_part *part)
{
    return part->to > part->from && path->frames[part->to - 1]->kind == WEFT_FRAME_LOCK
               ? path->frames[part->to - 1]
               : NULL;
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
static bool is_end(enum call call, const struct weft_frame *thread)
{
    return call == CALL_FSYNC || call == CALL_SLEEP || (call == CALL_FILE && is_storage(thread));
}

/* How the last wait for something else than a lock ends. */
enum hop { HOP_NONE, HOP_THREAD, HOP_SEMAPHORE, HOP_POOL, HOP_SERIAL, HOP_CHILD, HOP_NETWORK };

/* A path on the way from its first thread to the one that holds it up. */
struct following {
    const struct weft_frame_path *path;
    struct weft_kind kind;
    struct weft_path_part part, lock; /* where it is; where the last lock is waited for */
    enum call call;                   /* of the part */
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
        for (size_t k = 0; k < sizeof starts / sizeof *starts; k++)
            if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
                path->frames[i]->name.n_bytes >= strlen(starts[k]) &&
                memcmp(path->frames[i]->name.bytes, starts[k], strlen(starts[k])) == 0)
                return true;
    return false;
}

static bool is_own(const struct weft_frame_path *path, const struct weft_path_part *part, size_t at)
{
    return path->frames[at]->kind == WEFT_FRAME_FUNCTION &&
           !weft_path_is_library(path, part->from, at) &&
           call_of(path->frames[at]->name) == CALL_NONE;
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
    const enum call call = call_in(path, a);
    return call != CALL_NONE && call == call_in(path, b);
}

static bool is_read(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    for (size_t i = part->from; i < part->to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
            weft_str_is_one_of(weft_libc_name(path->frames[i]->name), "read|readv"))
            return call_in(path, part) == CALL_FILE;
    return false;
}

/* What takes part in a pool: a condition or a semaphore that one thread waits for until another,
 * which does the same, signals it. */
static bool is_pool(const struct following *it, const struct weft_frame *thread,
                    const struct weft_path_part *next)
{
    const int kind = thread->waited_for - 1;
    const bool is_wait = kind == WEFT_LOCK_CONDITION || kind == WEFT_LOCK_SEMAPHORE ||
                         ((kind < 0 || kind == WEFT_LOCK_FUTEX) && it->call == CALL_WAIT) ||
                         (kind < 0 && is_read(it->path, &it->part)); /* tokens in a pipe */
    if (!is_wait || thread->module.n_bytes > 0)
        return false;
    const struct weft_str wait = innermost_own(it->path, &it->part);
    struct weft_path_part holding = *next; /* past those that wait for the same */
    while (holding.to < it->path->n && !holding.is_preempted && wait.n_bytes > 0 &&
           weft_str_equal(innermost_own(it->path, &holding), wait))
        holding = weft_path_part_at(it->path, holding.to + 1);
    const bool is_reading = it->call == CALL_FILE && are_in_one_call(it->path, &it->part, &holding);
    return !is_reading && is_same_work(it->path, &it->part, &holding);
}

static enum hop hop_of(const struct following *it, const struct weft_frame *thread,
                       const struct weft_path_part *next)
{
    const enum call call = it->call;
    const bool is_ready = call == CALL_POLL || call == CALL_READY;
    const bool is_of_child = thread->flags & WEFT_FRAME_OF_CHILD;
    return call == CALL_CHILD                               ? HOP_CHILD
           : is_of_child && (is_ready || call == CALL_FILE) ? HOP_CHILD
           : call == CALL_NETWORK || call == CALL_CONNECT   ? HOP_NETWORK
           : is_ready && thread->module.n_bytes > 0         ? HOP_NETWORK
           : is_serial(thread, call)                        ? HOP_SERIAL
           : is_pool(it, thread, next)                      ? HOP_POOL
           : thread->waited_for - 1 == WEFT_LOCK_SEMAPHORE  ? HOP_SEMAPHORE
                                                            : HOP_THREAD;
}

/* Is the innermost function the program's, or one that touches its memory: memcpy? Calls of other
 * libraries wait for what these are for. */
static bool may_fault(const struct weft_frame_path *path, const struct weft_path_part *part)
{
    for (size_t i = part->to; i-- > part->from;) {
        const struct weft_frame *frame = path->frames[i];
        if (frame->kind == WEFT_FRAME_FUNCTION)
            return !weft_path_is_library(path, part->from, i) ||
                   (frame->name.n_bytes > 3 &&
                    memmem(frame->name.bytes, 6 < frame->name.n_bytes ? 6 : frame->name.n_bytes,
                           "mem", 3));
    }
    return true;
}

/* Does a page fault, or a change of the address space, wait for the kernel's lock of that? The
 * thread that wakes it is changing it. */
static bool is_of_address_space(const struct following *it, const struct weft_path_part *next)
{
    const struct weft_frame *thread = it->path->frames[it->part.to];
    const bool may_be = it->call == CALL_FAULT || it->call == CALL_MAP ||
                        it->call == CALL_ALLOCATOR ||
                        (it->call == CALL_NONE && may_fault(it->path, &it->part));
    return may_be && thread->waited_for == 0 && (thread->flags & WEFT_FRAME_OF_PROCESS) &&
           call_in(it->path, next) == CALL_MAP;
}

/* Goes over to the thread that the part waits for. */
static void follow(struct following *it)
{
    const struct weft_frame *thread = it->path->frames[it->part.to];
    const struct weft_path_part next = weft_path_part_at(it->path, it->part.to + 1);
    struct weft_kind *kind = &it->kind;
    const struct weft_str of_runtime =
        is_of_address_space(it, &next) ? WEFT_STR("mmap_lock") : runtime_lock(it->path, &it->part);
    const bool is_of_runtime = of_runtime.n_bytes > 0;
    /* what waits for a place in the same pool has none: one further on has it */
    const bool is_in_line = it->hop == HOP_POOL && !kind->last && is_pool(it, thread, &next);
    if (is_of_runtime || is_lock(thread, it->call)) {
        kind->runtime_lock = of_runtime;
        it->has_lock = true;
        it->is_allocator = it->call == CALL_ALLOCATOR;
        it->lock = it->part;
        kind->where = weft_kind_function(it->path, &it->part);
        it->hop = HOP_NONE;
        it->n_threads = 0;
        kind->object = is_of_runtime ? NULL : lock_name(it->path, &it->part);
        kind->last = NULL;
    } else {
        it->n_threads++;
    }
    if (!is_of_runtime && !is_lock(thread, it->call) && it->hop == HOP_NONE) {
        it->hop = hop_of(it, thread, &next);
        kind->is_of_end |= thread->waited_for - 1 == WEFT_LOCK_JOIN;
        kind->is_of_pipe = it->hop == HOP_POOL && it->call == CALL_FILE;
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
    return it->call == CALL_FSYNC  ? WEFT_PROBLEM_FSYNC
           : it->call == CALL_FILE ? WEFT_PROBLEM_DISK
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
    switch (it->hop) {
    case HOP_CHILD: /* what other programs take is no fault of the child */
        return end == WEFT_PROBLEM_OTHER ? end : WEFT_PROBLEM_CHILD;
    case HOP_NETWORK:
        if (!is_network(it))
            return is_plain ? WEFT_PROBLEM_QUEUE : end;
        return call_in(it->path, &it->kind.waiting) == CALL_CONNECT ? WEFT_PROBLEM_CONNECT
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
    return it->hop != HOP_NONE && (end == WEFT_PROBLEM_CODE || end == WEFT_PROBLEM_SLEEP)
               ? WEFT_PROBLEM_LOCK_WAIT
               : lock_kind(end);
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
    return it->kind.holder && it->call == CALL_WAIT && !is_interpreted(it->path, &it->part) &&
           (it->kind.kind == WEFT_PROBLEM_SLEEP ||
            (it->kind.kind == WEFT_PROBLEM_QUEUE && is_sent));
}

struct weft_kind weft_kind_of(const struct weft_frame_path *path)
{
    struct following it = { .path = path, .part = weft_path_part_at(path, 0) };
    it.kind.waiting = it.part;
    for (it.call = call_in(path, &it.part);
         it.part.to < path->n && !it.part.is_preempted && !is_in_device(path, &it.part);
         it.call = call_in(path, &it.part)) {
        it.is_at_end = is_end(it.call, path->frames[it.part.to]);
        if (it.is_at_end)
            break;
        follow(&it);
    }
    it.kind.kind = kind_at(&it, end_of(&it));
    if (is_late(&it))
        it.kind.kind = WEFT_PROBLEM_LATE_WAKEUP;
    if (it.kind.kind == WEFT_PROBLEM_SLEEP && !it.kind.holder &&
        (it.call == CALL_POLL || it.call == CALL_NETWORK))
        it.kind.kind = WEFT_PROBLEM_TIMEOUT;
    it.kind.is_timed_out = it.kind.kind == WEFT_PROBLEM_SLEEP && !it.kind.holder &&
                           (it.call == CALL_WAIT || it.call == CALL_READY);
    it.kind.is_in_flight =
        it.part.state < it.part.to &&
        weft_frame_is_blocked(path->frames[it.part.state], WEFT_PATH_NETWORK, WEFT_FRAME_IN_FLIGHT);
    if (!it.has_lock && it.kind.kind == WEFT_PROBLEM_LOCK)
        it.kind.runtime_lock = runtime_lock(path, &it.part);
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
    kind->kind = WEFT_PROBLEM_LATE_WAKEUP;
    kind->key = key_of(path, kind, NULL);
}

bool weft_kind_is_sleep(struct weft_str function)
{
    return call_of(function) == CALL_SLEEP;
}

bool weft_kind_has_call(struct weft_str function)
{
    return call_of(function) != CALL_NONE || weft_str_equal(function, WEFT_STR("futex"));
}

bool weft_kind_is_of_descriptors(struct weft_str function)
{
    const enum call call = call_of(function);
    return call == CALL_POLL || call == CALL_READY;
}

bool weft_kind_is_outside(enum weft_problem_kind kind)
{
    return kind == WEFT_PROBLEM_OTHER || kind == WEFT_PROBLEM_INTERRUPT;
}
