/* SPDX-License-Identifier: MIT
 *
 * Of which kind the time of a path is, and with which other paths it is one problem: of paths made
 * by hand.
 */
#include "analysis/compare/names.h"
#include "analysis/findings/calls.h"
#include "analysis/findings/delays.h"
#include "analysis/findings/kinds.h"
#include "analysis/findings/places.h"
#include "analysis/findings/system_locks.h"
#include "problems_scene.h"
#include "tap.h"

/* ---- kinds ----------------------------------------------------------------------------------- */

#define KIND(wanted, letters, ...)                                                                 \
    do {                                                                                           \
        struct scene scene;                                                                        \
        struct weft_frame_path found;                                                              \
        begin(&scene, "request");                                                                  \
        const uint32_t node = PATH(&scene, __VA_ARGS__);                                           \
        set_waits(&scene, node, letters);                                                          \
        weft_frame_path_of(&scene.matrix, node, &found);                                           \
        const struct weft_kind kind = weft_kind_of(&found);                                        \
        tap_ok(kind.kind == (wanted), "%s: %s", weft_problem_kind_name(wanted),                    \
               weft_problem_kind_name(kind.kind));                                                 \
    } while (0)

static void test_kinds(void)
{
    KIND(WEFT_PROBLEM_LOCK, "m", "get", "pthread_mutex_lock", "-m", "@flusher", "flush",
         ":running");
    KIND(WEFT_PROBLEM_LOCK, "r", "get", "-m", "@writer", "parse");
    KIND(WEFT_PROBLEM_LOCK, "-", "get", "__lll_lock_wait", "@flusher", "flush", ":running");
    KIND(WEFT_PROBLEM_LOCK, "mm", "get", "-m", "@b", "get", "-m", "@flusher", "flush", ":running");
    KIND(WEFT_PROBLEM_LOCK_IO, "m", "get", "-m", "@log", "commit", "__GI_fsync",
         ":blocked: block device");
    KIND(WEFT_PROBLEM_LOCK_IO, "m-", "get", "-m", "@log", "commit", "fdatasync", "@jbd2/vda",
         ":running");
    KIND(WEFT_PROBLEM_LOCK_SLEEP, "m", "get", "-m", "@lease", "back_off", "nanosleep",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_LOCK_NO_CPU, "m-", "get", "-m", "@low", "work", ":preempted", "@burner");
    KIND(WEFT_PROBLEM_LOCK, "c", "run", "take_gil", "pthread_cond_timedwait", "@t", "match",
         ":running");
    KIND(WEFT_PROBLEM_LOCK, "c", "run", "-_PyRuntime+0x188", "@t", "match", ":running");
    KIND(WEFT_PROBLEM_LOCK, "", "run", "take_gil", "pthread_cond_timedwait", ":blocked: timer");
    KIND(WEFT_PROBLEM_OTHER, "m-", "get", "-m", "@low", "work", ":preempted", "!burner");
    KIND(WEFT_PROBLEM_FSYNC, "c-", "get", "wait", "@log", "fsync", "!kworker", ":preempted",
         "!burner");
    KIND(WEFT_PROBLEM_LOCK_NET, "m-", "get", "-m", "@b", "ask", "recv", "@peer", "answer",
         ":running");
    KIND(WEFT_PROBLEM_LOCK_WAIT, "mc", "get", "-m", "@b", "wait", "pthread_cond_wait", "@c", "work",
         ":running");
    KIND(WEFT_PROBLEM_ALLOCATOR, "-", "get", "malloc", "__lll_lock_wait_private", "@b", "put",
         ":running");
    KIND(WEFT_PROBLEM_QUEUE, "c", "get", "pthread_cond_wait", "@worker", "work", ":running");
    KIND(WEFT_PROBLEM_FSYNC, "c", "get", "pthread_cond_wait", "@log", "commit", "fsync",
         ":blocked: block device");
    KIND(WEFT_PROBLEM_POOL, "s", "get", "query", "sem_wait", "@b", "export", "query", ":running");
    KIND(WEFT_PROBLEM_POOL, "c", "main", "get", "query", "take", "pthread_cond_wait", "@b", "main",
         "export", "query", "ask", "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_POOL, "c-", "main", "query", "take", "pthread_cond_wait", "@b", "main",
         "query", "recv", "@peer", "answer", "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_POOL, "cc", "main", "get", "query", "take", "pthread_cond_wait", "@a", "main",
         "get", "query", "take", "pthread_cond_wait", "@b", "main", "export", "query", "ask",
         "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_SLEEP, "cc", "main", "update", "lock_row", "pthread_cond_wait", "-row_1",
         "@a", "main", "update", "lock_row", "pthread_cond_wait", "-row_2", "@b", "archive",
         "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_QUEUE, "c", "worker", "next_job", "pthread_cond_wait", "@b", "worker",
         "parse", ":running");
    KIND(WEFT_PROBLEM_QUEUE, "s", "worker", "next_job", "sem_wait", "@b", "worker", "submit",
         ":running");
    KIND(WEFT_PROBLEM_SLEEP, "s", "thread_run", "_PyEval_EvalFrameDefault", "get",
         "PyThread_acquire_lock_timed", "sem_wait", "@b", "thread_run", "_PyEval_EvalFrameDefault",
         "get", "PyThread_acquire_lock_timed", "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_SERIAL, "b", "step", "pthread_barrier_wait", "@slow", "work", ":running");
    KIND(WEFT_PROBLEM_CHILD, "-", "convert", "waitpid", "@child", "main", ":running");
    KIND(WEFT_PROBLEM_NETWORK, "-", "ask", "recv", "@peer", "answer", "nanosleep",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_NETWORK, "", "ask", "recv", ":blocked: network");
    KIND(WEFT_PROBLEM_NETWORK, "-", "ask", "recv", "@peer", "answer", ":running");
    KIND(WEFT_PROBLEM_QUEUE, "-", "ask", "recv", "=resolver", "parse", ":running");
    KIND(WEFT_PROBLEM_SLEEP, "-", "ask", "recv", "=resolver", "parse", "nanosleep",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_LOCK_WAIT, "m-", "get", "-m", "=b", "ask", "recv", "=resolver", "parse",
         ":running");
    KIND(WEFT_PROBLEM_CHILD, "-", "convert", "poll", "<filter", "main", ":running");
    KIND(WEFT_PROBLEM_CHILD, "-", "convert", "read", "<filter", "main", "pread64",
         ":blocked: block device");
    KIND(WEFT_PROBLEM_SLEEP, "-", "convert", "read", "<filter", "main", "nanosleep",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_MINOR_FAULT, "", "decode", "asm_exc_page_fault", "handle_mm_fault",
         ":running");
    KIND(WEFT_PROBLEM_MINOR_FAULT, "-", "ask", "recv", "=worker", "decode", "exc_page_fault",
         ":running");
    KIND(WEFT_PROBLEM_LOCK, "m", "get", "-m", "@worker", "decode", "exc_page_fault", ":running");
    KIND(WEFT_PROBLEM_SLEEP, "-", "convert", "waitpid", "@sleep", "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_QUEUE, "-", "log", "write", "<shipper", "main", "ship", ":running");
    KIND(WEFT_PROBLEM_TIMEOUT, "-", "ask", "recv", "=resolver", "resolve", "poll",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_TIMEOUT, "-", "ask", "pthread_cond_wait", "@resolver", "resolve", "recv",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_LOCK_NET, "m", "ask", "-m", "@resolver", "resolve", "recv",
         ":blocked: timer");
    KIND(WEFT_PROBLEM_POOL, "s-", "serve", "call", "sem_wait", "-slots", "@serve", "serve", "call",
         "read", "=upstream", "answer", "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_POOL, "ss-", "serve", "call", "sem_wait", "-slots", "@serve", "serve", "call",
         "sem_wait", "-slots", "@serve", "serve", "call", "read", "=upstream", "answer",
         ":running");
    KIND(WEFT_PROBLEM_QUEUE, "-", "convert", "poll", "@service", "main", ":running");
    KIND(WEFT_PROBLEM_QUEUE, "-", "convert", "read", "=worker", "work", ":running");
    KIND(WEFT_PROBLEM_OTHER, "--", "convert", "poll", "<filter", "main", ":preempted", "!burner");
    KIND(WEFT_PROBLEM_SLEEP, "", "retry", "__clock_nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_DISK, "", "load", "pread64", ":blocked: block device");
    KIND(WEFT_PROBLEM_FAULT, "", "scan", ":blocked: block device");
    KIND(WEFT_PROBLEM_CPU, "-", "work", ":preempted", "@other");
    KIND(WEFT_PROBLEM_SPIN, "", "wait", "sched_yield", ":running");
    KIND(WEFT_PROBLEM_CODE, "", "compress", ":running");
    KIND(WEFT_PROBLEM_CODE, "", "compress");
    KIND(WEFT_PROBLEM_UNKNOWN, "", "f", ":unknown");
}

/* Waits for a limit in time, and for what no variable is known of. */
static void test_more_kinds(void)
{
    KIND(WEFT_PROBLEM_CONNECT, "", "ask", "connect", ":blocked: network");
    KIND(WEFT_PROBLEM_CONNECT, "-", "ask", "__libc_connect", "@peer", "answer", ":running");
    KIND(WEFT_PROBLEM_LOCK_NET, "m", "get", "-m", "@b", "ask", "connect", ":blocked: network");
    KIND(WEFT_PROBLEM_TIMEOUT, "", "ask", "poll", ":blocked: timer");
    KIND(WEFT_PROBLEM_TIMEOUT, "", "ask", "recvfrom", ":blocked: timer");
    KIND(WEFT_PROBLEM_LATE_WAKEUP, "c", "get", "pthread_cond_wait", "@b", "take",
         "pthread_cond_timedwait", ":blocked: timer");
    KIND(WEFT_PROBLEM_LATE_WAKEUP, "c", "get", "pthread_cond_wait", "@b", "take",
         "pthread_cond_timedwait", ":blocked: thread");
    KIND(WEFT_PROBLEM_SLEEP, "c", "get", "pthread_cond_wait", "@b", "thread_run",
         "JavaThread::sleep", "pthread_cond_timedwait", ":blocked: timer");
    KIND(WEFT_PROBLEM_LOCK, "c", "run", "ObjectMonitor::EnterI(JavaThread*)", "pthread_cond_wait",
         "@t", "match", ":running");
    KIND(WEFT_PROBLEM_LOCK, "", "run", "ObjectMonitor::enter(JavaThread*)",
         "pthread_cond_timedwait", ":blocked: timer");
    KIND(WEFT_PROBLEM_LOCK, "-", "change", "fcntl64", "@copier", "copy", ":running");
    KIND(WEFT_PROBLEM_LOCK, "-", "query", "=snapshot", "publish", "__GI_munmap", ":running");
    KIND(WEFT_PROBLEM_LOCK, "-", "query", "mmap", "=snapshot", "publish", "mprotect", ":running");
    KIND(WEFT_PROBLEM_QUEUE, "c", "query", "pthread_cond_wait", "@snapshot", "publish", "munmap",
         ":running");
    KIND(WEFT_PROBLEM_QUEUE, "-", "query", "@other", "publish", "munmap", ":running");
    KIND(WEFT_PROBLEM_QUEUE, "-", "query", "write", "=b", "query", "publish", ":running");
    KIND(WEFT_PROBLEM_LOCK, "", "get", "pthread_mutex_timedlock", ":blocked: timer");
    KIND(WEFT_PROBLEM_FAULT, "", "scan", "madvise", ":blocked: block device");
    KIND(WEFT_PROBLEM_LOCK_WAIT, "mc", "get", "-m", "@b", "send", "pthread_cond_wait", "@c", "work",
         "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_POOL, "-", "run", "build", "take", "read", "=b", "run", "build", "compile",
         "nanosleep", ":blocked: timer");
    KIND(WEFT_PROBLEM_QUEUE, "-", "run", "build", "take", "read", "=b", "run", "build", "take",
         "read", ":blocked: thread");
}

/* Is a path of an execution of "submit after nanosleep" a wait for a peer that is idle? */
static bool is_peer(const char *type, const char *const *names)
{
    struct scene scene;
    struct weft_frame_path found;
    begin(&scene, "request");
    const uint32_t node = path(&scene, names);
    set_waits(&scene, node, "c");
    weft_frame_path_of(&scene.matrix, node, &found);
    struct weft_kind kind = weft_kind_of(&found);
    if (weft_delay_is_of_idle_peer(weft_str_of(type), &kind))
        weft_kind_be_late(&kind, &found);
    return kind.kind == WEFT_PROBLEM_LATE_WAKEUP;
}

#define IS_PEER(type, ...) is_peer(type, (const char *const[]){ __VA_ARGS__, NULL })
#define WAIT "submit", "render", "wait", "pthread_cond_wait"
#define SLEEP "nanosleep", ":blocked: timer"

static void test_delays(void)
{
    tap_ok(IS_PEER("submit after nanosleep", WAIT, "=submit", "submit", SLEEP) &&
               IS_PEER("submit after nanosleep in submit", WAIT, "=submit", "submit", SLEEP) &&
               IS_PEER("submit after nanosleep", WAIT, "=submit-12", "submit", SLEEP),
           "until a peer comes back from where it is idle");
    tap_ok(!IS_PEER("submit after recv", WAIT, "=submit", "submit", SLEEP) &&
               !IS_PEER("submit after nanosleep", WAIT, "=poller", "submit", SLEEP) &&
               !IS_PEER("submit", WAIT, "=submit", "submit", SLEEP) &&
               !IS_PEER("", WAIT, "=submit", "submit", SLEEP) &&
               !IS_PEER("submit after nanosleep", WAIT, "=submit", "submit", "compile", SLEEP),
           "not for other threads, nor for one at work");
    tap_ok(!IS_PEER("submit after nanosleep", WAIT, "@submit", "submit", SLEEP),
           "nor for one of another process");
    tap_ok(weft_delay_is_of_ack(40e6) && weft_delay_is_of_ack(44e6) &&
               !weft_delay_is_of_ack(30e6) && !weft_delay_is_of_ack(60e6),
           "as long as an ACK is delayed");
}

/* Time that another program takes from this one, but not from what this one asked for. */
static void test_outside(void)
{
    struct scene scene;
    begin(&scene, "request");
    const uint32_t taken = PATH(&scene, "get", ":preempted", "!burner");
    const uint32_t behind = PATH(&scene, "get", "@log", "work", ":preempted", "!burner");
    const uint32_t asked = PATH(&scene, "get", "fsync", "!kworker", ":preempted", "!burner");
    const uint32_t own = PATH(&scene, "get", ":preempted", "@other", ":running");
    tap_ok(weft_node_is_outside(&scene.matrix, taken) &&
               weft_node_is_outside(&scene.matrix, behind) &&
               !weft_node_is_outside(&scene.matrix, asked) &&
               !weft_node_is_outside(&scene.matrix, own),
           "time that other programs took");
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Of a wait of a block device, in each kind of call. */
static void test_block_devices(void)
{
    KIND(WEFT_PROBLEM_FAULT, "", "get", "malloc", ":blocked: block device");
    KIND(WEFT_PROBLEM_FAULT, "", "get", "sem_post", ":blocked: block device");
    KIND(WEFT_PROBLEM_FAULT, "", "get", "pthread_mutex_unlock", ":blocked: block device");
    KIND(WEFT_PROBLEM_FAULT, "", "get", "mmap", ":blocked: block device");
    KIND(WEFT_PROBLEM_FAULT, "", "get", "exc_page_fault", ":blocked: block device");
    KIND(WEFT_PROBLEM_DISK, "", "get", "recv", ":blocked: block device");
    KIND(WEFT_PROBLEM_DISK, "", "get", "pthread_cond_wait", ":blocked: block device");
    KIND(WEFT_PROBLEM_FSYNC, "", "get", "msync", ":blocked: block device");
}

/* Time that another program takes from the thread at the end is no fault of that, however it is
 * waited for. */
static void test_other_programs(void)
{
    KIND(WEFT_PROBLEM_OTHER, "c-", "get", "pthread_cond_wait", "@b", "work", ":preempted",
         "!burner");
    KIND(WEFT_PROBLEM_OTHER, "--", "get", "recv", "@peer", "answer", ":preempted", "!burner");
    KIND(WEFT_PROBLEM_OTHER, "--", "get", "connect", "@peer", "answer", ":preempted", "!burner");
    KIND(WEFT_PROBLEM_OTHER, "--", "get", "waitpid", "@child", "main", ":preempted", "!burner");
    KIND(WEFT_PROBLEM_OTHER, "b-", "get", "pthread_barrier_wait", "@b", "work", ":preempted",
         "!burner");
    KIND(WEFT_PROBLEM_OTHER, "s-", "get", "next", "sem_wait", "@b", "work", ":preempted",
         "!burner");
    KIND(WEFT_PROBLEM_OTHER, "s-", "get", "query", "sem_wait", "@b", "export", "query",
         ":preempted", "!burner");
    KIND(WEFT_PROBLEM_ALLOCATOR, "--", "get", "malloc", "__lll_lock_wait_private", "@b", "put",
         ":preempted", "!burner");
}

/* A holder that does what is of a kind makes the wait for its lock one of another. */
static void test_locks_of_ends(void)
{
    static const struct {
        enum weft_problem_kind end, lock;
    } rows[] = {
        { WEFT_PROBLEM_FSYNC, WEFT_PROBLEM_LOCK_IO },
        { WEFT_PROBLEM_DISK, WEFT_PROBLEM_LOCK_IO },
        { WEFT_PROBLEM_FAULT, WEFT_PROBLEM_LOCK_IO },
        { WEFT_PROBLEM_NETWORK, WEFT_PROBLEM_LOCK_NET },
        { WEFT_PROBLEM_CONNECT, WEFT_PROBLEM_LOCK_NET },
        { WEFT_PROBLEM_DELAYED_ACK, WEFT_PROBLEM_LOCK_NET },
        { WEFT_PROBLEM_TIMEOUT, WEFT_PROBLEM_LOCK_NET },
        { WEFT_PROBLEM_SLEEP, WEFT_PROBLEM_LOCK_SLEEP },
        { WEFT_PROBLEM_CPU, WEFT_PROBLEM_LOCK_NO_CPU },
        { WEFT_PROBLEM_OTHER, WEFT_PROBLEM_OTHER },
        { WEFT_PROBLEM_CHILD, WEFT_PROBLEM_LOCK_WAIT },
        { WEFT_PROBLEM_QUEUE, WEFT_PROBLEM_LOCK_WAIT },
        { WEFT_PROBLEM_SERIAL, WEFT_PROBLEM_LOCK_WAIT },
        { WEFT_PROBLEM_POOL, WEFT_PROBLEM_LOCK_WAIT },
        { WEFT_PROBLEM_LATE_WAKEUP, WEFT_PROBLEM_LOCK_WAIT },
        { WEFT_PROBLEM_CODE, WEFT_PROBLEM_LOCK },
        { WEFT_PROBLEM_MORE_WORK, WEFT_PROBLEM_LOCK },
        { WEFT_PROBLEM_SPIN, WEFT_PROBLEM_LOCK },
        { WEFT_PROBLEM_ALLOCATOR, WEFT_PROBLEM_LOCK },
        { WEFT_PROBLEM_INTERRUPT, WEFT_PROBLEM_LOCK },
        { WEFT_PROBLEM_UNKNOWN, WEFT_PROBLEM_LOCK },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_eq_str(weft_problem_kind_name(weft_kind_of_lock(rows[i].end)),
                   weft_problem_kind_name(rows[i].lock), "a lock whose holder's time is %s",
                   weft_problem_kind_name(rows[i].end));
}

/* ---- locks that are no variables ------------------------------------------------------------- */

/* For which of them the first thread of a path waits. */
static enum weft_system_lock system_lock_of(const struct way *way)
{
    struct scene scene;
    struct weft_frame_path found;
    begin(&scene, "request");
    weft_frame_path_of(&scene.matrix, add_way(&scene, way), &found);
    const struct weft_path_part part = weft_path_part_at(&found, 0);
    const struct weft_path_part next = weft_path_part_at(&found, part.to + 1);
    return weft_system_lock_of(&found, &part, part.to < found.n ? &next : NULL);
}

#define SYSTEM_LOCK(wanted, ...)                                                                   \
    tap_eq_str(weft_system_lock_name(system_lock_of(WAY("-", __VA_ARGS__))),                       \
               weft_system_lock_name(WEFT_SYSTEM_LOCK_##wanted), "%s",                             \
               ((const char *const[]){ __VA_ARGS__ })[1])
/* Threads that wait there for one that changes the address space. */
#define CHANGED "=snapshot", "publish", "munmap", ":running"
#define TOUCHES(wanted, function) SYSTEM_LOCK(wanted, "query", function, CHANGED)

static void test_address_space(void)
{
    TOUCHES(MMAP, "libc.so.6|memcpy");
    TOUCHES(MMAP, "libc.so.6|__memmove_avx_unaligned_erms");
    TOUCHES(MMAP, "libc.so.6|strlen");
    TOUCHES(MMAP, "libc.so.6|__strchr_sse2");
    TOUCHES(MMAP, "libc.so.6|wmemset");
    TOUCHES(MMAP, "libc.so.6|__wmemset_avx2");
    TOUCHES(MMAP, "exc_page_fault");
    TOUCHES(MMAP, "malloc");
    TOUCHES(MMAP, "brk");
    TOUCHES(MMAP, "parse");
    TOUCHES(NONE, "libc.so.6|getaddrinfo");
    TOUCHES(NONE, "libssl.so.3|SSL_read");
    TOUCHES(NONE, "libz.so.1|inflate");
    TOUCHES(NONE, "write");
    SYSTEM_LOCK(NONE, "query", "libc.so.6|memcpy", "@snapshot", "publish", "munmap", ":running");
    SYSTEM_LOCK(NONE, "query", "libc.so.6|memcpy", "=snapshot", "publish", ":running");
    SYSTEM_LOCK(MMAP, "=snapshot", "publish", "mremap", ":running");
    tap_ok(system_lock_of(WAY("c", "query", "parse", CHANGED)) == WEFT_SYSTEM_LOCK_NONE,
           "what is waited for with a condition");
}

static void test_runtimes(void)
{
    SYSTEM_LOCK(GIL, "run", "take_gil", ":blocked: timer");
    SYSTEM_LOCK(GIL, "run", "gvl_acquire_basic", ":blocked: lock");
    SYSTEM_LOCK(GIL, "run", "take_gil", "@t", "match", ":running");
    SYSTEM_LOCK(GIL, "run", "-_PyRuntime+0x188", "@t", "match", ":running");
    SYSTEM_LOCK(GIL, "run", "-_PyRuntime.ceval", "@t", "match", ":running");
    SYSTEM_LOCK(MONITOR, "run", "ObjectMonitor::enter(JavaThread*)", ":blocked: lock");
    SYSTEM_LOCK(MONITOR, "run", "ObjectMonitor::EnterI(JavaThread*)", ":blocked: lock");
    SYSTEM_LOCK(MONITOR, "run", "ObjectMonitor::ReenterI(JavaThread*)", ":blocked: lock");
    SYSTEM_LOCK(NONE, "run", "-_PyRuntime", "@t", "match", ":running");
    SYSTEM_LOCK(NONE, "run", "-_PyRuntimeState", "@t", "match", ":running");
    SYSTEM_LOCK(NONE, "run", "ObjectMonitor::wait(long)", ":blocked: timer");
    SYSTEM_LOCK(NONE, "run", "drop_gil", ":blocked: lock");
    SYSTEM_LOCK(NONE, "run", "take_gil_of", ":blocked: lock");
    SYSTEM_LOCK(NONE, "run", "take_gil", ":running");
    SYSTEM_LOCK(NONE, "run", "take_gil", ":preempted", "@t", "match", ":running");
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint64_t key_of(const struct way *way)
{
    struct scene scene;
    struct weft_frame_path found;
    begin(&scene, "request");
    weft_frame_path_of(&scene.matrix, add_way(&scene, way), &found);
    return weft_kind_of(&found).key;
}

#define ONE(one, other) tap_ok(key_of(one) == key_of(other), "%d: one problem", __LINE__)
#define TWO(one, other) tap_ok(key_of(one) != key_of(other), "%d: two problems", __LINE__)

static void test_keys_of_locks(void)
{
#define LOCKED(function, lock, ...) WAY("m", function, "-" lock, __VA_ARGS__)
#define UNNAMED(function, ...) WAY("m", function, "pthread_mutex_lock", __VA_ARGS__)
    ONE(LOCKED("get", "m", "@b", "work", ":running"), LOCKED("put", "m", "@b", "sort", ":running"));
    ONE(LOCKED("get", "m", "@b", "work", ":running"),
        LOCKED("get", "m", "@b", "fsync", ":blocked: block device"));
    ONE(LOCKED("get", "m", "@b-1", "work"), LOCKED("get", "m", "@b-2", "work"));
    TWO(LOCKED("get", "m", "@b", "work"), LOCKED("get", "m", "@c", "work"));
    TWO(LOCKED("get", "m", "@b", "work"), LOCKED("get", "n", "@b", "work"));
    ONE(UNNAMED("get", "@b", "work"), UNNAMED("get", "@b", "sort"));
    TWO(UNNAMED("get", "@b", "work"), UNNAMED("put", "@b", "work"));
    TWO(LOCKED("get", "m", "@b", ":preempted", "!x"), LOCKED("get", "m", "@b", ":running"));
}

static void test_keys_of_system_locks(void)
{
#define MONITOR(function, ...)                                                                     \
    WAY("c", function, "~ObjectMonitor::enter(JavaThread*)", "pthread_cond_wait", __VA_ARGS__)
#define GIL(function, ...) WAY("c", function, "take_gil", "pthread_cond_timedwait", __VA_ARGS__)
#define MMAP(function, ...) WAY("-", function, "mmap", __VA_ARGS__, "publish", "munmap")
    ONE(MONITOR("get", "@b", "work"), MONITOR("get", "@c", "sort"));
    TWO(MONITOR("get", "@b", "work"), MONITOR("put", "@b", "work"));
    ONE(GIL("get", "@b", "work"), GIL("put", "@c", "work"));
    TWO(GIL("get", "@b", "work"), GIL("get", "@b", ":preempted", "!x"));
    TWO(GIL("get", "@b", "work"), MONITOR("get", "@b", "work"));
    ONE(MMAP("get", "=b"), MMAP("put", "=b"));
    TWO(MMAP("get", "=b"), MMAP("get", "=c"));
    TWO(WAY("-", "=b", "publish", "munmap"), WAY("m", "=b", "publish", "munmap"));
}

static void test_keys_of_threads(void)
{
#define LATE(function, ...)                                                                        \
    WAY("c", function, "pthread_cond_wait", __VA_ARGS__, "take", "pthread_cond_timedwait",         \
        ":blocked: timer")
#define BEHIND(function, ...) WAY("c", function, "pthread_cond_wait", __VA_ARGS__)
    ONE(LATE("get", "-full", "=b"), LATE("get", "-full", "=c"));
    ONE(LATE("get", "-full", "=b"), LATE("put", "-full", "=b"));
    TWO(LATE("get", "-full", "=b"), LATE("get", "-empty", "=b"));
    ONE(LATE("get", "=b"), LATE("get", "=c"));
    TWO(LATE("get", "=b"), LATE("put", "=b"));
    ONE(BEHIND("get", "@b-1", "work"), BEHIND("put", "@b-2", "sort"));
    TWO(BEHIND("get", "@b", "work"), BEHIND("get", "@c", "work"));
    TWO(BEHIND("get", "@b", "work"), BEHIND("get", "@b", "nanosleep", ":blocked: timer"));
}

/* Waits without another thread are known by the function; of work it is the place that counts. */
static void test_keys_of_functions(void)
{
    static const char *const waits[][2] = {
        { "nanosleep", ":blocked: timer" },
        { "waitpid", ":blocked: task" },
        { "recv", ":blocked: network" },
        { "connect", ":blocked: network" },
        { "poll", ":blocked: timer" },
        { "pthread_mutex_timedlock", ":blocked: timer" },
        { "pthread_cond_wait", ":blocked: thread" },
        { "pthread_barrier_wait", ":blocked" },
        { "libc.so.6|f", ":unknown" },
    };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        tap_ok(key_of(WAY("", "get", "libc.so.6|g", waits[i][0], waits[i][1])) !=
                   key_of(WAY("", "put", "libc.so.6|g", waits[i][0], waits[i][1])),
               "in two functions: %s", waits[i][0]);
    ONE(WAY("", "get", "-cv", ":blocked: thread"), WAY("", "put", "-cv", ":blocked: thread"));
    TWO(WAY("", "get", "-cv", ":blocked: thread"), WAY("", "get", "-full", ":blocked: thread"));
    TWO(WAY("", "get", "-cv", ":blocked: thread"), WAY("", "get", ":blocked: thread"));
    ONE(WAY("", "get", ":running"), WAY("", "put", ":running"));
    ONE(WAY("", "get", "fsync", ":blocked: device"), WAY("", "put", "fsync", ":blocked: device"));
    TWO(WAY("", "get", ":running"), WAY("", "get", "fsync", ":blocked: device"));
}

/* The function is never a lock, though that has a name. */
static void test_functions(void)
{
    struct scene scene;
    struct weft_frame_path found;
    begin(&scene, "request");
    weft_frame_path_of(&scene.matrix, PATH(&scene, "get", "pthread_mutex_lock", "-m", "@b"),
                       &found);
    const struct weft_path_part part = weft_path_part_at(&found, 0);
    const struct weft_path_part none = weft_path_part_at(&found, found.n);
    tap_ok(weft_kind_function(&found, &part) == found.frames[0] &&
               weft_kind_of(&found).where == found.frames[0],
           "the function of the program that waits for a lock");
    tap_ok(!weft_kind_function(&found, &none), "no function");
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Nodes are marked from the function of the program down. */
static void test_marks(void)
{
    struct scene scene;
    begin(&scene, "request");
    const uint32_t own = PATH(&scene, "libc.so.6|start_thread", "run", "pread64", ":blocked");
    const uint32_t bare = PATH(&scene, "libc.so.6|start_thread", "pread64", ":blocked");
    const uint32_t futex = PATH(&scene, "futex", "-m", "@b");
    const uint32_t behind = PATH(&scene, "futex", "-m", "@b", "flush");
    bool *has = weft_call_mark_functions(&scene.matrix);
    tap_ok(has && has[own] && has[scene.nodes[own].parent] && has[behind],
           "a function of the program, and what it calls");
    tap_ok(has && !has[0] && !has[1] && !has[bare] && !has[scene.nodes[bare].parent] && !has[futex],
           "libraries, calls, locks, threads and states are none");
    free(has);
}

/* Where the time of a kind lies: mostly in one place, the rest in another, and some without a
 * function, which is where most of the others are, if it is a wait for a disk. */
static void test_bare(void)
{
    static const enum weft_problem_kind kinds[] = { WEFT_PROBLEM_DISK,  WEFT_PROBLEM_FAULT,
                                                    WEFT_PROBLEM_FSYNC, WEFT_PROBLEM_CODE,
                                                    WEFT_PROBLEM_SPIN,  WEFT_PROBLEM_ALLOCATOR };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct scene scene;
        begin(&scene, "request");
        const uint32_t nodes[] = { PATH(&scene, "scan", "pread64"), PATH(&scene, "load", "pread64"),
                                   PATH(&scene, "pread64") };
        static const double more_ns[] = { 700, 200, 100 };
        uint8_t placed[MOST] = { 0 };
        uint32_t places[MOST] = { 0 };
        for (size_t k = 0; k < 3; k++) {
            placed[nodes[k]] = (uint8_t)(kinds[i] + 1);
            scene.rows[scene.table.n_nodes++] =
                (struct weft_compare_node){ .node = nodes[k], .difference_ns = more_ns[k] };
        }
        const struct weft_finding finding = { .matrix = &scene.matrix, .table = &scene.table };
        const bool is_good = weft_places_find(&finding, placed, places);
        tap_ok(is_good && places[nodes[0]] == nodes[0] && places[nodes[1]] == nodes[1] &&
                   places[nodes[2]] == nodes[i < 3 ? 0 : 2],
               "places of %s", weft_problem_kind_name(kinds[i]));
    }
}

/* Waits without a function are where most others of their own kind are. */
static void test_bare_of_kinds(void)
{
    struct scene scene;
    begin(&scene, "request");
    const uint32_t nodes[] = { PATH(&scene, "commit", "fsync"), PATH(&scene, "fsync"),
                               PATH(&scene, "scan", "pread64"), PATH(&scene, "pread64") };
    uint8_t placed[MOST] = { 0 };
    uint32_t places[MOST] = { 0 };
    for (size_t k = 0; k < 4; k++) {
        placed[nodes[k]] = (k < 2 ? WEFT_PROBLEM_FSYNC : WEFT_PROBLEM_DISK) + 1;
        scene.rows[scene.table.n_nodes++] =
            (struct weft_compare_node){ .node = nodes[k], .difference_ns = 100 };
    }
    const struct weft_finding finding = { .matrix = &scene.matrix, .table = &scene.table };
    tap_ok(weft_places_find(&finding, placed, places) && places[nodes[1]] == nodes[0] &&
               places[nodes[3]] == nodes[2],
           "places of two kinds");
}

/* A place is known by the function that it is in, and the one that calls it. */
static void test_place_keys(void)
{
    struct scene scene;
    begin(&scene, "request");
    const uint32_t scan = PATH(&scene, "scan"), load = PATH(&scene, "load");
    const uint32_t lock = PATH(&scene, "scan", "-m"),
                   state = PATH(&scene, "scan", "-m", ":running");
    const uint32_t bare = PATH(&scene, ":running");
    const uint64_t key = weft_place_key(&scene.matrix, 7, scan);
    tap_ok(key != 7 && key == weft_frame_hash(7, &scene.frames[scan]) &&
               key != weft_place_key(&scene.matrix, 7, load) &&
               key != weft_place_key(&scene.matrix, 8, scan),
           "a function's");
    tap_ok(weft_place_key(&scene.matrix, 7, lock) == key &&
               weft_place_key(&scene.matrix, 7, state) == key,
           "that of the nearest function above");
    tap_ok(weft_place_key(&scene.matrix, 7, bare) == 7 && weft_place_key(&scene.matrix, 7, 0) == 7,
           "that of the kind where no function is known");
    const uint32_t one = PATH(&scene, "serve", "rebuild", "scan"),
                   other = PATH(&scene, "serve", "resize", "scan"),
                   same = PATH(&scene, "get", "rebuild", "scan");
    const uint64_t called = weft_place_key(&scene.matrix, 7, one);
    tap_ok(called != weft_place_key(&scene.matrix, 7, other) &&
               called == weft_place_key(&scene.matrix, 7, same) && called != key,
           "and that of its caller");
}

int main(void)
{
    test_kinds();
    test_more_kinds();
    test_delays();
    test_outside();
    test_block_devices();
    test_other_programs();
    test_locks_of_ends();
    test_address_space();
    test_runtimes();
    test_keys_of_locks();
    test_keys_of_system_locks();
    test_keys_of_threads();
    test_keys_of_functions();
    test_functions();
    test_marks();
    test_bare();
    test_bare_of_kinds();
    test_place_keys();
    return tap_done();
}
