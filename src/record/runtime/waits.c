/* SPDX-License-Identifier: MIT
 *
 * Wrappers of waits for something that is no lock: conditions, barriers, time, readiness, children.
 * A thread that is cancelled meanwhile unwinds through the wrapper, which ends its record.
 */
#include "record/runtime/real.h"

#define IS_OFF WEFT_UNLIKELY(!weft_operations_are_on())

enum { MAX_OBJECTS = WEFT_OP_WORDS_MAX - 1 };

static void write_wait(enum weft_op op, int64_t argument, uintptr_t caller, uint64_t now,
                       const uint64_t *objects, unsigned n_objects)
{
    uint64_t words[WEFT_OP_WORDS_MAX];
    words[0] = caller;
    for (unsigned i = 0; i < n_objects; i++)
        words[1 + i] = objects[i];
    weft_ring_put(op, argument, now, words, 1 + n_objects);
}

void weft_wait_begin(struct weft_wait *wait, int flags, const uint64_t *objects, unsigned n_objects)
{
    wait->is_open = true;
    write_wait(WEFT_OP_WAIT_BEGIN, (int)wait->kind | flags, wait->caller, weft_ring_ticks(),
               objects, n_objects);
}

void weft_wait_end(struct weft_wait *wait, int64_t result, const uint64_t *objects,
                   unsigned n_objects)
{
    wait->is_open = false;
    write_wait(WEFT_OP_WAIT_END, weft_with_result((int)wait->kind, result), wait->caller,
               weft_ring_ticks(), objects, n_objects);
}

void weft_wait_cancelled(struct weft_wait *wait)
{
    if (wait->is_open)
        weft_wait_end(wait, ECANCELED, NULL, 0);
}

/* Error number of a call that gives -1. */
static int error_of(int64_t result)
{
    return result == -1 ? errno : 0;
}

/* ---- conditions: the mutex is given back and had again */

struct condition_wait {
    const void *condition;
    const void *mutex;
    uintptr_t caller;
    bool is_open;
};

static void condition_begin(struct condition_wait *wait, bool is_timed)
{
    const uint64_t now = weft_ring_ticks();
    const uint64_t object = (uintptr_t)wait->condition;
    wait->is_open = true;
    weft_ring_put2(WEFT_OP_LOCK_RELEASED, WEFT_RING_LOCK_MUTEX, now, (uintptr_t)wait->mutex,
                   wait->caller);
    write_wait(WEFT_OP_WAIT_BEGIN, WEFT_WAIT_CONDITION | (is_timed ? WEFT_WAIT_TIMED : 0),
               wait->caller, now, &object, 1);
}

static void condition_end(struct condition_wait *wait, int error)
{
    const uint64_t now = weft_ring_ticks();
    const uint64_t object = (uintptr_t)wait->condition;
    wait->is_open = false;
    write_wait(WEFT_OP_WAIT_END, weft_with_result(WEFT_WAIT_CONDITION, error), wait->caller, now,
               &object, error ? 0 : 1);
    weft_ring_put2(WEFT_OP_LOCK_ACQUIRED, WEFT_RING_LOCK_MUTEX, now, (uintptr_t)wait->mutex,
                   wait->caller);
}

static void condition_cancelled(struct condition_wait *wait)
{
    if (wait->is_open)
        condition_end(wait, ECANCELED);
}

#define CONDITION_WAIT(the_condition, the_mutex, is_timed, wait_for_it, error)                     \
    do {                                                                                           \
        __attribute__((cleanup(condition_cancelled))) struct condition_wait wait = {               \
            (the_condition), (the_mutex), WEFT_CALLER, false                                       \
        };                                                                                         \
        condition_begin(&wait, (is_timed));                                                        \
        const int result = (wait_for_it);                                                          \
        condition_end(&wait, (error));                                                             \
        return result;                                                                             \
    } while (0)

WEFT_WRAP int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_cond_wait)(condition, mutex);
    CONDITION_WAIT(condition, mutex, false, WEFT_REAL(pthread_cond_wait)(condition, mutex), result);
}

WEFT_WRAP int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                     const struct timespec *until)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_cond_timedwait)(condition, mutex, until);
    CONDITION_WAIT(condition, mutex, true,
                   WEFT_REAL(pthread_cond_timedwait)(condition, mutex, until), result);
}

WEFT_WRAP int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                     clockid_t clock, const struct timespec *until)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
    CONDITION_WAIT(condition, mutex, true,
                   WEFT_REAL(pthread_cond_clockwait)(condition, mutex, clock, until), result);
}

static int c11_error(int result)
{
    return result == thrd_success ? 0 : result == thrd_timedout ? ETIMEDOUT : EINVAL;
}

WEFT_WRAP int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(cnd_wait)(condition, mutex);
    CONDITION_WAIT(condition, mutex, false, WEFT_REAL(cnd_wait)(condition, mutex),
                   c11_error(result));
}

WEFT_WRAP int cnd_timedwait(cnd_t *restrict condition, mtx_t *restrict mutex,
                            const struct timespec *restrict until)
{
    if (IS_OFF)
        return WEFT_REAL(cnd_timedwait)(condition, mutex, until);
    CONDITION_WAIT(condition, mutex, true, WEFT_REAL(cnd_timedwait)(condition, mutex, until),
                   c11_error(result));
}

/* Before the real one: a thread that it wakes may run at once. */
WEFT_INLINE void signalled(const void *condition, bool is_broadcast, uintptr_t caller)
{
    weft_ring_put2(WEFT_OP_SIGNAL, WEFT_WAIT_CONDITION | (is_broadcast ? 256 : 0),
                   weft_ring_ticks(), (uintptr_t)condition, caller);
}

WEFT_WRAP int pthread_cond_signal(pthread_cond_t *condition)
{
    if (!IS_OFF)
        signalled(condition, false, WEFT_CALLER);
    return WEFT_REAL(pthread_cond_signal)(condition);
}

WEFT_WRAP int pthread_cond_broadcast(pthread_cond_t *condition)
{
    if (!IS_OFF)
        signalled(condition, true, WEFT_CALLER);
    return WEFT_REAL(pthread_cond_broadcast)(condition);
}

WEFT_WRAP int cnd_signal(cnd_t *condition)
{
    if (!IS_OFF)
        signalled(condition, false, WEFT_CALLER);
    return WEFT_REAL(cnd_signal)(condition);
}

WEFT_WRAP int cnd_broadcast(cnd_t *condition)
{
    if (!IS_OFF)
        signalled(condition, true, WEFT_CALLER);
    return WEFT_REAL(cnd_broadcast)(condition);
}

/* ---- barriers */

WEFT_WRAP int pthread_barrier_wait(pthread_barrier_t *barrier)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_barrier_wait)(barrier);
    const uint64_t object = (uintptr_t)barrier;
    WEFT_WAIT(wait, WEFT_WAIT_BARRIER);
    weft_wait_begin(&wait, WEFT_WAIT_ALL, &object, 1);
    const int result = WEFT_REAL(pthread_barrier_wait)(barrier);
    weft_wait_end(&wait, result, &object, 1);
    return result;
}

/* ---- sleep: instead of an object, the ns that were asked for (of a point in time: 0) */

#define SLEEP(type, ns, sleep_now, error)                                                          \
    do {                                                                                           \
        const uint64_t asked_ns = (ns);                                                            \
        WEFT_WAIT(wait, WEFT_WAIT_SLEEP);                                                          \
        weft_wait_begin(&wait, WEFT_WAIT_TIMED, &asked_ns, 1);                                     \
        const type result = (sleep_now);                                                           \
        weft_wait_end(&wait, (error), NULL, 0);                                                    \
        return result;                                                                             \
    } while (0)

static uint64_t ns_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

WEFT_WRAP unsigned sleep(unsigned seconds)
{
    if (IS_OFF)
        return WEFT_REAL(sleep)(seconds);
    SLEEP(unsigned, seconds *UINT64_C(1000000000), WEFT_REAL(sleep)(seconds), result ? EINTR : 0);
}

WEFT_WRAP int usleep(useconds_t us)
{
    if (IS_OFF)
        return WEFT_REAL(usleep)(us);
    SLEEP(int, us *UINT64_C(1000), WEFT_REAL(usleep)(us), error_of(result));
}

WEFT_WRAP int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (IS_OFF)
        return WEFT_REAL(nanosleep)(time, rest);
    SLEEP(int, ns_of(time), WEFT_REAL(nanosleep)(time, rest), error_of(result));
}

WEFT_WRAP int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                              struct timespec *rest)
{
    if (IS_OFF)
        return WEFT_REAL(clock_nanosleep)(clock, flags, time, rest);
    SLEEP(int, flags &TIMER_ABSTIME ? 0 : ns_of(time),
          WEFT_REAL(clock_nanosleep)(clock, flags, time, rest), result);
}

WEFT_WRAP int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    if (IS_OFF)
        return WEFT_REAL(thrd_sleep)(time, rest);
    SLEEP(int, ns_of(time), WEFT_REAL(thrd_sleep)(time, rest),
          result == 0    ? 0
          : result == -1 ? EINTR
                         : EINVAL);
}

/* ---- readiness: any of several descriptors; a call that does not wait is not recorded */

static unsigned polled(const struct pollfd *fds, nfds_t n_fds, bool is_ready, uint64_t *objects)
{
    unsigned n_objects = 0;
    for (nfds_t i = 0; i < n_fds && n_objects < MAX_OBJECTS; i++)
        if (fds[i].fd >= 0 && (!is_ready || fds[i].revents))
            objects[n_objects++] = (uint64_t)fds[i].fd;
    return n_objects;
}

#define POLL(fds, n_fds, is_timed, poll_now)                                                       \
    do {                                                                                           \
        uint64_t objects[MAX_OBJECTS];                                                             \
        WEFT_WAIT(wait, WEFT_WAIT_POLL);                                                           \
        weft_wait_begin(&wait, (is_timed) ? WEFT_WAIT_TIMED : 0, objects,                          \
                        polled((fds), (n_fds), false, objects));                                   \
        const int result = (poll_now);                                                             \
        weft_wait_end(&wait, error_of(result), objects,                                            \
                      result > 0 ? polled((fds), (n_fds), true, objects) : 0);                     \
        return result;                                                                             \
    } while (0)

static bool is_zero(const struct timespec *time)
{
    return time && time->tv_sec == 0 && time->tv_nsec == 0;
}

WEFT_WRAP int poll(struct pollfd *fds, nfds_t n_fds, int timeout)
{
    if (IS_OFF || timeout == 0)
        return WEFT_REAL(poll)(fds, n_fds, timeout);
    POLL(fds, n_fds, timeout > 0, WEFT_REAL(poll)(fds, n_fds, timeout));
}

WEFT_WRAP int __poll_chk(struct pollfd *fds, nfds_t n_fds, int timeout, size_t n_room)
{
    if (IS_OFF || timeout == 0 || n_room / sizeof *fds < n_fds)
        return WEFT_REAL(__poll_chk)(fds, n_fds, timeout, n_room);
    POLL(fds, n_fds, timeout > 0, WEFT_REAL(__poll_chk)(fds, n_fds, timeout, n_room));
}

WEFT_WRAP int ppoll(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
                    const sigset_t *mask)
{
    if (IS_OFF || is_zero(timeout))
        return WEFT_REAL(ppoll)(fds, n_fds, timeout, mask);
    POLL(fds, n_fds, timeout != NULL, WEFT_REAL(ppoll)(fds, n_fds, timeout, mask));
}

WEFT_WRAP int __ppoll_chk(struct pollfd *fds, nfds_t n_fds, const struct timespec *timeout,
                          const sigset_t *mask, size_t n_room)
{
    if (IS_OFF || is_zero(timeout) || n_room / sizeof *fds < n_fds)
        return WEFT_REAL(__ppoll_chk)(fds, n_fds, timeout, mask, n_room);
    POLL(fds, n_fds, timeout != NULL, WEFT_REAL(__ppoll_chk)(fds, n_fds, timeout, mask, n_room));
}

static unsigned selected(int n_fds, const fd_set *const sets[3], uint64_t *objects)
{
    unsigned n_objects = 0;
    for (int fd = 0; fd < n_fds && n_objects < MAX_OBJECTS; fd++) {
        bool is_in = false;
        for (unsigned i = 0; i < 3; i++) /* a set may be longer than the type of the C library */
            is_in |= sets[i] && (((const long *)sets[i])[fd / (8 * (int)sizeof(long))] >>
                                     (fd % (8 * (int)sizeof(long))) &
                                 1);
        if (is_in)
            objects[n_objects++] = (uint64_t)fd;
    }
    return n_objects;
}

#define SELECT(n_fds, a, b, c, is_timed, select_now)                                               \
    do {                                                                                           \
        const fd_set *const sets[] = { (a), (b), (c) };                                            \
        uint64_t objects[MAX_OBJECTS];                                                             \
        WEFT_WAIT(wait, WEFT_WAIT_POLL);                                                           \
        weft_wait_begin(&wait, (is_timed) ? WEFT_WAIT_TIMED : 0, objects,                          \
                        selected((n_fds), sets, objects));                                         \
        const int result = (select_now);                                                           \
        weft_wait_end(&wait, error_of(result), objects,                                            \
                      result > 0 ? selected((n_fds), sets, objects) : 0);                          \
        return result;                                                                             \
    } while (0)

WEFT_WRAP int select(int n_fds, fd_set *restrict readable, fd_set *restrict writable,
                     fd_set *restrict special, struct timeval *restrict timeout)
{
    if (IS_OFF || (timeout && timeout->tv_sec == 0 && timeout->tv_usec == 0))
        return WEFT_REAL(select)(n_fds, readable, writable, special, timeout);
    SELECT(n_fds, readable, writable, special, timeout != NULL,
           WEFT_REAL(select)(n_fds, readable, writable, special, timeout));
}

WEFT_WRAP int pselect(int n_fds, fd_set *restrict readable, fd_set *restrict writable,
                      fd_set *restrict special, const struct timespec *restrict timeout,
                      const sigset_t *restrict mask)
{
    if (IS_OFF || is_zero(timeout))
        return WEFT_REAL(pselect)(n_fds, readable, writable, special, timeout, mask);
    SELECT(n_fds, readable, writable, special, timeout != NULL,
           WEFT_REAL(pselect)(n_fds, readable, writable, special, timeout, mask));
}

/* Of epoll, the object is the set. What is ready has the words that the program gave it: those are
 * recorded where they are given, so that a reader finds the descriptors. */
static unsigned epolled(const struct epoll_event *events, int n_events, uint64_t *objects)
{
    unsigned n_objects = 0;
    for (; (int)n_objects < n_events && n_objects < MAX_OBJECTS; n_objects++)
        objects[n_objects] = events[n_objects].data.u64;
    return n_objects;
}

#define EPOLL(epoll_fd, events, is_timed, wait_now)                                                \
    do {                                                                                           \
        uint64_t objects[MAX_OBJECTS] = { (uint64_t)(epoll_fd) };                                  \
        WEFT_WAIT(wait, WEFT_WAIT_EPOLL);                                                          \
        weft_wait_begin(&wait, (is_timed) ? WEFT_WAIT_TIMED : 0, objects, 1);                      \
        const int result = (wait_now);                                                             \
        weft_wait_end(&wait, error_of(result), objects, epolled((events), result, objects));       \
        return result;                                                                             \
    } while (0)

WEFT_WRAP int epoll_ctl(int epoll_fd, int what, int fd, struct epoll_event *event)
{
    const uint64_t data = event && what != EPOLL_CTL_DEL ? event->data.u64 : 0;
    const int result = WEFT_REAL(epoll_ctl)(epoll_fd, what, fd, event);
    if (!IS_OFF && result == 0 && what != EPOLL_CTL_DEL) {
        const uint64_t words[] = { (uint64_t)epoll_fd, (uint64_t)fd, data };
        weft_ring_put(WEFT_OP_EPOLL_WATCH, 0, weft_ring_ticks(), words, 3);
    }
    return result;
}

WEFT_WRAP int epoll_wait(int fd, struct epoll_event *events, int n_events, int timeout)
{
    if (IS_OFF || timeout == 0)
        return WEFT_REAL(epoll_wait)(fd, events, n_events, timeout);
    EPOLL(fd, events, timeout > 0, WEFT_REAL(epoll_wait)(fd, events, n_events, timeout));
}

WEFT_WRAP int epoll_pwait(int fd, struct epoll_event *events, int n_events, int timeout,
                          const sigset_t *mask)
{
    if (IS_OFF || timeout == 0)
        return WEFT_REAL(epoll_pwait)(fd, events, n_events, timeout, mask);
    EPOLL(fd, events, timeout > 0, WEFT_REAL(epoll_pwait)(fd, events, n_events, timeout, mask));
}

WEFT_WRAP int epoll_pwait2(int fd, struct epoll_event *events, int n_events,
                           const struct timespec *timeout, const sigset_t *mask)
{
    if (IS_OFF || is_zero(timeout))
        return WEFT_REAL(epoll_pwait2)(fd, events, n_events, timeout, mask);
    EPOLL(fd, events, timeout != NULL,
          WEFT_REAL(epoll_pwait2)(fd, events, n_events, timeout, mask));
}

/* ---- children: the object is the process id that was asked for, then the one that ended */

#define WAIT_CHILD(asked, wait_now)                                                                \
    do {                                                                                           \
        const uint64_t object = (uint64_t)(int64_t)(asked);                                        \
        WEFT_WAIT(wait, WEFT_WAIT_CHILD);                                                          \
        weft_wait_begin(&wait, 0, &object, 1);                                                     \
        const pid_t result = (wait_now);                                                           \
        const uint64_t ended = (uint64_t)result;                                                   \
        weft_wait_end(&wait, error_of(result), &ended, result > 0);                                \
        return result;                                                                             \
    } while (0)

WEFT_WRAP pid_t wait(int *status)
{
    if (IS_OFF)
        return WEFT_REAL(wait)(status);
    WAIT_CHILD(-1, WEFT_REAL(wait)(status));
}

WEFT_WRAP pid_t waitpid(pid_t pid, int *status, int flags)
{
    if (IS_OFF || flags & WNOHANG)
        return WEFT_REAL(waitpid)(pid, status, flags);
    WAIT_CHILD(pid, WEFT_REAL(waitpid)(pid, status, flags));
}

WEFT_WRAP pid_t wait3(int *status, int flags, struct rusage *usage)
{
    if (IS_OFF || flags & WNOHANG)
        return WEFT_REAL(wait3)(status, flags, usage);
    WAIT_CHILD(-1, WEFT_REAL(wait3)(status, flags, usage));
}

WEFT_WRAP pid_t wait4(pid_t pid, int *status, int flags, struct rusage *usage)
{
    if (IS_OFF || flags & WNOHANG)
        return WEFT_REAL(wait4)(pid, status, flags, usage);
    WAIT_CHILD(pid, WEFT_REAL(wait4)(pid, status, flags, usage));
}

WEFT_WRAP int waitid(idtype_t type, id_t id, siginfo_t *info, int flags)
{
    if (IS_OFF || flags & WNOHANG)
        return WEFT_REAL(waitid)(type, id, info, flags);
    const uint64_t object = (uint64_t)(type == P_PID ? (int64_t)id : -1);
    WEFT_WAIT(wait, WEFT_WAIT_CHILD);
    weft_wait_begin(&wait, 0, &object, 1);
    const int result = WEFT_REAL(waitid)(type, id, info, flags);
    const uint64_t ended = result == 0 && info ? (uint64_t)info->si_pid : 0;
    weft_wait_end(&wait, error_of(result), &ended, ended != 0);
    return result;
}
