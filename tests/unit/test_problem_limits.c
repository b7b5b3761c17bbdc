/* SPDX-License-Identifier: MIT
 *
 * Limits: what is small among the problems, and which waits until a limit in time are faults.
 */
#include "analysis/findings/calls.h"
#include "analysis/findings/delays.h"
#include "problems_scene.h"
#include "tap.h"

#define TAKE "render", "pthread_cond_wait", "=pool", "take"
#define LATE WAY("c", TAKE, "pthread_cond_timedwait", ":blocked: timer")

/* ---- what is small --------------------------------------------------------------------------- */

/* Of the time of all executions 12 slow ones of 36 spend `share` there more than usual ones do. */
static double base_for(double share)
{
    return 12 * MS * (1 - share) / (36 * share);
}

#define HANDLE WAY("", "handle", ":running")
/* Slow ones that have a path for a share of the time of all; groups that were given, or slow ones
 * that were detected. */
#define SHARE(share, ...)                                                                          \
    .base_ns = base_for(share), .usual = { { 24, HANDLE, 1 } }, .slow = { { 12, __VA_ARGS__, MS } }
#define DETECTED(share, ...) SHARE(share, __VA_ARGS__), .is_detected = true

static void test_small_work(void)
{
    const struct way *code = WAY("", "compress", ":running");
    const struct way *queue =
        WAY("c", "get", "pthread_cond_wait", "@worker", "compress", ":running");
    const struct way *lock = WAY("m", "get", "-m", "@worker", "compress", ":running");
    FOUND("slower_code small", DETECTED(0.04, code));
    FOUND("slower_code", DETECTED(0.06, code));
    FOUND("waiting_for_thread small", DETECTED(0.04, queue));
    FOUND("waiting_for_thread", DETECTED(0.06, queue));
    FOUND("lock_contention", DETECTED(0.04, lock));
    FOUND("lock_contention", DETECTED(0.011, lock));
    FOUND("lock_contention small", DETECTED(0.009, lock));
    FOUND("slower_code", SHARE(0.011, code));
    FOUND("slower_code small", SHARE(0.009, code));
    FOUND("waiting_for_thread", SHARE(0.011, queue));
    FOUND("waiting_for_thread small", SHARE(0.009, queue));
}

/* A function that slow executions call more often is no slower code. */
static const char *found_of_work(double share, const char *function)
{
    static struct compared it;
    compare(&it, &(const struct beside){ DETECTED(share, WAY("", "compress", ":running")) });
    it.finding.verdict = WEFT_VERDICT_MORE_WORK;
    it.finding.work = (struct weft_work){ .is_known = true, .function = weft_str_of(function) };
    return said_of(problems_of(&it.finding, 1));
}

static void test_more_work(void)
{
    tap_eq_str(found_of_work(0.011, "compress"), "more_work", "more calls are small below 1 %%");
    tap_eq_str(found_of_work(0.009, "compress"), "more_work small", "and not above");
    tap_eq_str(found_of_work(0.04, "parse"), "slower_code small", "not if others are called more");
}

/* What is found where nothing says which thread has a CPU. */
static const char *found_without_switches(const struct beside *beside)
{
    static struct compared it;
    compare(&it, beside);
    it.finding.has_no_switches = true;
    return said_of(problems_of(&it.finding, 1));
}

static void test_vague(void)
{
    const struct way *read = WAY("", "libc.so.6|read", ":running");
    const struct way *posting = WAY("", "put", "sem_post", ":running");
    const struct way *signaling =
        WAY("c", "get", "pthread_cond_wait", "@b", "put", "pthread_cond_signal", ":running");
    const struct way *behind = WAY("c", "pthread_cond_wait", "@worker", "read");
    FOUND("slower_code small", SHARE(0.2, read));
    FOUND("slower_code", SHARE(0.3, read));
    FOUND("slower_code small", SHARE(0.2, WAY("", "read", ":running")));
    FOUND("slower_code small", SHARE(0.2, posting));
    FOUND("slower_code", SHARE(0.3, posting));
    FOUND("waiting_for_thread small", SHARE(0.2, signaling));
    FOUND("waiting_for_thread", SHARE(0.3, signaling));
    FOUND("waiting_for_thread small", SHARE(0.2, behind));
    FOUND("waiting_for_thread", SHARE(0.3, behind));
    FOUND("waiting_for_thread small",
          SHARE(0.2, WAY("c", "libc.so.6|pthread_cond_wait", "@worker", "read")));
    FOUND("slower_code", SHARE(0.2, WAY("", "put", "copy", ":running")));
    FOUND("waiting_for_thread",
          SHARE(0.2, WAY("c", "pthread_cond_wait", "@b", "put", "copy", ":running")));
    FOUND("memory_allocator", SHARE(0.2, WAY("", "libc.so.6|malloc", ":running")));
}

/* The functions of the last thread, else of the holder, else of the execution's own are asked. */
static void test_vague_threads(void)
{
    FOUND("waiting_for_thread",
          SHARE(0.2, WAY("--", "get", "recv", "=b", "ask", "recv", "=c", "parse", ":running")));
    FOUND("waiting_for_thread small", SHARE(0.2, WAY("--", "get", "recv", "=b", "ask", "recv", "=c",
                                                     "libc.so.6|memcpy", ":running")));
    FOUND("waiting_for_thread", SHARE(0.2, WAY("--", "libc.so.6|recv", "=b", "libc.so.6|recv", "=c",
                                               "parse", ":running")));
    FOUND("waiting_for_thread", SHARE(0.2, WAY("c", "get", "-cv", "@b", "put", ":running")));
    FOUND("waiting_for_thread small", SHARE(0.2, WAY("c", "get", "-cv", "@b", ":running")));
}

/* Where most of the time is without functions, though some is not; and where the name of a call is
 * that of a function of the program. */
static void test_vague_functions(void)
{
    const struct way *bare = WAY("c", "get", "pthread_cond_wait", "@worker", ":running");
    const struct way *named = WAY("c", "get", "pthread_cond_wait", "@worker", "work", ":running");
    FOUND("waiting_for_thread small", .base_ns = base_for(0.2), .usual = { { 24, HANDLE, 1 } },
          .slow = { { 8, bare, MS }, { 4, named, MS } });
    FOUND("waiting_for_thread", .base_ns = base_for(0.2), .usual = { { 24, HANDLE, 1 } },
          .slow = { { 4, bare, MS }, { 8, named, MS } });
    FOUND("slower_code", SHARE(0.2, WAY("", "server|send", ":running")));
    tap_eq_str(found_without_switches(&(const struct beside){ SHARE(0.2, WAY("", "read")) }),
               "slower_code small", "without scheduling events a call of libc is vague as well");
    tap_eq_str(found_without_switches(&(const struct beside){ SHARE(0.2, WAY("", "server|send")) }),
               "slower_code", "and a function of the program is not");
}

/* ---- what may be chance, or no fault of the program ------------------------------------------ */

#define SLEEP WAY("", "back_off", "nanosleep", ":blocked: timer")
/* One of `n` executions has a path for a share of the time of all. */
#define ONE_OF(n, share, way)                                                                      \
    .base_ns = MS * (1 - (share)) / ((n) * (share)), .usual = { { (n)-1, HANDLE, 1 } },            \
    .slow = { { 1, way, MS } }

/* Too few for a test are worth a look if they cost most of the time, of enough executions. */
static void test_chance(void)
{
    FOUND("sleep", ONE_OF(25, 0.65, SLEEP));
    FOUND("sleep small", ONE_OF(25, 0.55, SLEEP));
    FOUND("sleep", ONE_OF(20, 0.65, SLEEP));
    FOUND("sleep small", ONE_OF(19, 0.65, SLEEP));
    FOUND("late_wakeup small", .base_ns = 1, .slow = { { 1, LATE, MS } },
          .usual = { { 12, WAY("c", TAKE, "work", ":running"), 100 }, { 12, HANDLE, 100 } });
    FOUND("unknown small", SHARE(0.8, WAY("", "get", ":unknown")));
}

/* `n` of 40 slow executions sleep; p is multiplied by the groups of which these have more. */
static void test_too_few(void)
{
#define SLEEPING(n)                                                                                \
    .usual = { { 20, HANDLE, 100 } }, .slow = {                                                    \
        { n, SLEEP, MS },                                                                          \
        { 20, WAY("", "ask", "recv", ":blocked: network"), 200 },                                  \
        { 20 - (n), WAY("", "commit", "fsync", ":blocked: device"), 200 }                          \
    }
    FOUND("sleep", SLEEPING(4));
    FOUND("sleep small", SLEEPING(5));
    FOUND("sleep small", SLEEPING(8));
    FOUND("sleep", SLEEPING(12));
    FOUND("sleep", .usual = { { 20, HANDLE, 100 } },
          .slow = { { 8, SLEEP, MS }, { 32, HANDLE, 100 } });
}

/* Sharing CPUs within the program is a fault if it lasts, and other programs leave it some. */
static const char *found_in_trace(const struct way *way, bool is_full, double trace_ns)
{
    static struct compared it;
    compare(&it, &(const struct beside){ SHARE(0.5, way) });
    it.finding.is_full = is_full;
    it.finding.trace_ns = (uint64_t)trace_ns;
    return said_of(problems_of(&it.finding, 1));
}

static void test_cpu(void)
{
    const struct way *taken = WAY("-", "get", ":preempted", "@other");
    const struct way *code = WAY("", "compress", ":running");
    tap_eq_str(found_in_trace(taken, false, 1100 * MS), "cpu_saturation", "more than 1 %% of it");
    tap_eq_str(found_in_trace(taken, false, 1300 * MS), "cpu_saturation small", "less than that");
    tap_eq_str(found_in_trace(taken, true, 1100 * MS), "cpu_saturation small", "CPUs are full");
    tap_eq_str(found_in_trace(code, true, 1300 * MS), "slower_code", "code, whatever the CPUs do");
}

/* Slow executions sleep, and spend a third of their time in another way; `n` of 12 are slow for
 * that for the most part. */
static const char *found_beside(const struct way *other, unsigned n)
{
    static struct compared it;
    compare(&it,
            &(const struct beside){ .base_ns = MS,
                                    .slow_base = other,
                                    .usual = { { 24, HANDLE, 1 } },
                                    .slow = { { 12 - n, SLEEP, 2 * MS }, { n, SLEEP, MS / 2 } },
                                    .is_detected = true });
    it.finding.tail = (struct weft_slow_tail){ .fast_max_ns = MS, .fast_median_ns = MS };
    return said_of(problems_of(&it.finding, 1));
}

/* Another program is worth a line if a tenth are slow for it, whatever it costs; a cause within the
 * program is if one is. */
static void test_other_program(void)
{
    const struct way *other = WAY("-", "handle", ":preempted", "!burner");
    const struct way *disk = WAY("", "commit", "fsync", ":blocked: device");
    tap_eq_str(found_beside(other, 1), "sleep; other_program small", "one in twelve");
    tap_eq_str(found_beside(other, 2), "sleep; other_program", "two in twelve");
    tap_eq_str(found_beside(disk, 1), "sleep; fsync", "one in twelve waits longer for a disk");
}

/* A wait that a limit ended as nothing came is small, however long; not a sleep. */
static void test_nothing_came(void)
{
    FOUND("sleep small", SHARE(0.8, WAY("", "serve", "epoll_wait", ":blocked: timer")));
    FOUND("sleep small", SHARE(0.8, WAY("", "next", "pthread_cond_timedwait", ":blocked: timer")));
    FOUND("sleep", SHARE(0.8, WAY("", "back_off", "nanosleep", ":blocked: timer")));
    FOUND("sleep", SHARE(0.8, WAY("c", "get", "pthread_cond_wait", "@b", "back_off", "nanosleep",
                                  ":blocked: timer")));
}

/* ---- limits in time -------------------------------------------------------------------------- */

#define SELECT WAY("", "ask", "select", ":blocked: timer")
#define SLOW(way) .slow = { { 12, way, MS } }
/* `n` of 24 usual executions spend so long on a path. */
#define SOME_USUAL(n, way, ns) .usual = { { 24 - (n), HANDLE, 100 }, { n, way, ns } }

static void test_half_wait(void)
{
    const struct way *pool = WAY("c", TAKE, "work", ":running");
    const struct way *reply = WAY("", "ask", "select", ":blocked: network");
    FOUND("late_wakeup", SOME_USUAL(12, pool, 100), SLOW(LATE));
    FOUND("sleep", SOME_USUAL(11, pool, 100), SLOW(LATE));
    FOUND("sleep", SOME_USUAL(0, pool, 100), SLOW(LATE));
    FOUND("time_out", SOME_USUAL(12, reply, 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(11, reply, 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(0, reply, 100), SLOW(SELECT));
}

/* What usual executions spend on the same limit is how the program works. */
static void test_as_usual(void)
{
    FOUND("late_wakeup", SOME_USUAL(12, LATE, 0.48 * MS), SLOW(LATE));
    FOUND("sleep", SOME_USUAL(12, LATE, 0.52 * MS), SLOW(LATE));
    FOUND("time_out", SOME_USUAL(12, SELECT, 0.48 * MS), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, SELECT, 0.52 * MS), SLOW(SELECT));
}

/* Without the limit the time is what it would be else; other kinds have no limit, and where nothing
 * is usual none is planned. */
static void test_otherwise(void)
{
    const struct way *stolen = WAY("c", TAKE, "pthread_cond_timedwait", ":blocked: thread");
    FOUND("late_wakeup", SOME_USUAL(12, WAY("c", TAKE, "work", ":running"), 100), SLOW(stolen));
    FOUND("waiting_for_thread", SOME_USUAL(0, stolen, 100), SLOW(stolen));
    FOUND("network", SOME_USUAL(0, HANDLE, 100), SLOW(WAY("", "ask", "recv", ":blocked: network")));
    FOUND("time_out", .slow = { { 1, SELECT, MS } });
    FOUND("late_wakeup", .slow = { { 1, LATE, MS } });
}

/* Short waits without a stack count by the condition, or by the call. */
static void test_same_object(void)
{
#define OF(object, ...) WAY("c", __VA_ARGS__ "pthread_cond_wait", object, "=pool", "work")
    const struct way *late = WAY("c", "render", "pthread_cond_wait", "-full", "=pool", "take",
                                 "pthread_cond_timedwait", ":blocked: timer");
    FOUND("late_wakeup", SOME_USUAL(12, OF("-full", ), 100), SLOW(late));
    FOUND("late_wakeup", SOME_USUAL(12, OF("-full", "draw", ), 100), SLOW(late));
    FOUND("sleep", SOME_USUAL(12, OF("-empty", ), 100), SLOW(late));
    FOUND("late_wakeup", SOME_USUAL(12, OF("-empty", "render", ), 100), SLOW(late));
    FOUND("sleep", SOME_USUAL(12, OF("-empty", "draw", ), 100), SLOW(late));
}

static void test_same_call(void)
{
    FOUND("time_out", SOME_USUAL(12, WAY("", "select", ":blocked: network"), 100), SLOW(SELECT));
    FOUND("time_out", SOME_USUAL(12, WAY("", "__GI___select", ":blocked: network"), 100),
          SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, WAY("", "poll", ":blocked: network"), 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, WAY("", "accept_all", "select", ":blocked: network"), 100),
          SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, WAY("c", "pthread_cond_wait", "=pool", "work"), 100), SLOW(LATE));
}

/* Being in a function is no wait. */
static void test_waiting(void)
{
#define IN_ASK(...) WAY("-", "ask", "select", __VA_ARGS__)
    FOUND("time_out", SOME_USUAL(12, IN_ASK(":blocked: network"), 100), SLOW(SELECT));
    FOUND("time_out", SOME_USUAL(12, IN_ASK("@peer", "answer", ":running"), 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, IN_ASK(":running"), 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, IN_ASK(":preempted"), 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, WAY("", "ask", "select"), 100), SLOW(SELECT));
    FOUND("sleep", SOME_USUAL(12, IN_ASK(":blocked: network"), 0), SLOW(SELECT));
}

int main(void)
{
    test_small_work();
    test_more_work();
    test_vague();
    test_vague_threads();
    test_vague_functions();
    test_chance();
    test_too_few();
    test_cpu();
    test_other_program();
    test_nothing_came();
    test_half_wait();
    test_as_usual();
    test_otherwise();
    test_same_object();
    test_same_call();
    test_waiting();
    return tap_done();
}
