/* SPDX-License-Identifier: MIT
 *
 * Wrappers of locks. A lock is tried first: when it is free, which is nearly always, one record
 * says so. Whatever the try answers but EBUSY is what the lock itself would have answered
 * (recursive, error-checking, robust, priority-inheriting ones too), and is passed on; after EBUSY
 * the lock itself is asked, and decides between waiting, deadlock and time out.
 */
#include "record/runtime/real.h"

#define IS_OFF WEFT_UNLIKELY(!weft_operations_are_on())

/* `how`: enum weft_ring_lock, and flags. */
WEFT_INLINE void requested(int how, const volatile void *lock, uintptr_t caller)
{
    weft_ring_put2(WEFT_OP_LOCK_REQUEST, how, weft_ring_ticks(), (uintptr_t)lock, caller);
}

/* The end of a try or a wait; returns `result`. */
WEFT_INLINE int decided(enum weft_ring_lock kind, const volatile void *lock, uintptr_t caller,
                        int result)
{
    const bool is_had = result == 0 || result == EOWNERDEAD; /* of a robust mutex: held */
    weft_ring_put2(is_had ? WEFT_OP_LOCK_ACQUIRED : WEFT_OP_LOCK_FAILED,
                   weft_with_result((int)kind, result), weft_ring_ticks(), (uintptr_t)lock, caller);
    return result;
}

/* The lock is released by an expression whose value is the error: the record has the time before,
 * since another thread may have the lock at once, and is written after, when it is true. */
#define RELEASE(of_kind, lock, expression)                                                         \
    do {                                                                                           \
        const uint64_t before = weft_ring_ticks();                                                 \
        const int result = (expression);                                                           \
        if (result == 0)                                                                           \
            weft_ring_put2(WEFT_OP_LOCK_RELEASED, (of_kind), before, (uintptr_t)(lock),            \
                           WEFT_CALLER);                                                           \
        return result;                                                                             \
    } while (0)

/* Tries, then waits. */
#define ACQUIRE(of_kind, lock, busy, try_it, wait_for_it)                                          \
    do {                                                                                           \
        const uintptr_t caller = WEFT_CALLER;                                                      \
        if (WEFT_UNLIKELY(weft_requests_are_all))                                                  \
            requested((of_kind), (lock), caller);                                                  \
        const int result = (try_it);                                                               \
        if (WEFT_LIKELY(result != (busy)))                                                         \
            return decided((of_kind), (lock), caller, result);                                     \
        if (!weft_requests_are_all)                                                                \
            requested((of_kind), (lock), caller);                                                  \
        return decided((of_kind), (lock), caller, (wait_for_it));                                  \
    } while (0)

/* ---- mutexes */

WEFT_INLINE bool is_robust(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & 16;
}

/* Before a robust mutex is waited for. */
static void request_robust(const pthread_mutex_t *mutex, uintptr_t caller)
{
    const bool is_had = __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & 0x3fffffff;
    if (is_had || weft_requests_are_all) /* by the thread of that number */
        requested(WEFT_RING_LOCK_MUTEX, mutex, caller);
}

#define ACQUIRE_MUTEX(mutex, wait_for_it)                                                          \
    do {                                                                                           \
        if (WEFT_UNLIKELY(is_robust(mutex))) {                                                     \
            request_robust((mutex), WEFT_CALLER);                                                  \
            return decided(WEFT_RING_LOCK_MUTEX, (mutex), WEFT_CALLER, (wait_for_it));             \
        }                                                                                          \
        ACQUIRE(WEFT_RING_LOCK_MUTEX, (mutex), EBUSY, WEFT_REAL(pthread_mutex_trylock)(mutex),     \
                (wait_for_it));                                                                    \
    } while (0)

WEFT_WRAP int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_mutex_lock)(mutex);
    ACQUIRE_MUTEX(mutex, WEFT_REAL(pthread_mutex_lock)(mutex));
}

WEFT_WRAP int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_mutex_timedlock)(mutex, until);
    ACQUIRE_MUTEX(mutex, WEFT_REAL(pthread_mutex_timedlock)(mutex, until));
}

WEFT_WRAP int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                      const struct timespec *until)
{
    /* Another clock is an error even when the mutex is free. */
    if (IS_OFF || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return WEFT_REAL(pthread_mutex_clocklock)(mutex, clock, until);
    ACQUIRE_MUTEX(mutex, WEFT_REAL(pthread_mutex_clocklock)(mutex, clock, until));
}

WEFT_WRAP int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_mutex_trylock)(mutex);
    return decided(WEFT_RING_LOCK_MUTEX, mutex, WEFT_CALLER,
                   WEFT_REAL(pthread_mutex_trylock)(mutex));
}

WEFT_WRAP int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_mutex_unlock)(mutex);
    RELEASE(WEFT_RING_LOCK_MUTEX, mutex, WEFT_REAL(pthread_mutex_unlock)(mutex));
}

/* ---- mutexes of C11, which call the library's own */

/* As an error number. */
static int error_of(int result)
{
    switch (result) {
    case thrd_success:
        return 0;
    case thrd_busy:
        return EBUSY;
    case thrd_timedout:
        return ETIMEDOUT;
    case thrd_nomem:
        return ENOMEM;
    default:
        return EINVAL;
    }
}

static int result_of(int error, int result)
{
    (void)error;
    return result;
}

#define ACQUIRE_C11(lock, wait_for_it)                                                             \
    do {                                                                                           \
        const uintptr_t caller = WEFT_CALLER;                                                      \
        if (WEFT_UNLIKELY(weft_requests_are_all))                                                  \
            requested(WEFT_RING_LOCK_MUTEX, (lock), caller);                                       \
        int result = WEFT_REAL(mtx_trylock)(lock);                                                 \
        if (result == thrd_busy) {                                                                 \
            if (!weft_requests_are_all)                                                            \
                requested(WEFT_RING_LOCK_MUTEX, (lock), caller);                                   \
            result = (wait_for_it);                                                                \
        }                                                                                          \
        return result_of(decided(WEFT_RING_LOCK_MUTEX, (lock), caller, error_of(result)), result); \
    } while (0)

WEFT_WRAP int mtx_lock(mtx_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(mtx_lock)(mutex);
    ACQUIRE_C11(mutex, WEFT_REAL(mtx_lock)(mutex));
}

WEFT_WRAP int mtx_timedlock(mtx_t *restrict mutex, const struct timespec *restrict until)
{
    if (IS_OFF)
        return WEFT_REAL(mtx_timedlock)(mutex, until);
    ACQUIRE_C11(mutex, WEFT_REAL(mtx_timedlock)(mutex, until));
}

WEFT_WRAP int mtx_trylock(mtx_t *mutex)
{
    const int result = WEFT_REAL(mtx_trylock)(mutex);
    if (!IS_OFF)
        (void)decided(WEFT_RING_LOCK_MUTEX, mutex, WEFT_CALLER, error_of(result));
    return result;
}

WEFT_WRAP int mtx_unlock(mtx_t *mutex)
{
    if (IS_OFF)
        return WEFT_REAL(mtx_unlock)(mutex);
    RELEASE(WEFT_RING_LOCK_MUTEX, mutex, WEFT_REAL(mtx_unlock)(mutex));
}

/* ---- locks of readers and writers */

WEFT_WRAP int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_rwlock_rdlock)(lock);
    ACQUIRE(WEFT_RING_LOCK_READ, lock, EBUSY, WEFT_REAL(pthread_rwlock_tryrdlock)(lock),
            WEFT_REAL(pthread_rwlock_rdlock)(lock));
}

WEFT_WRAP int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_rwlock_tryrdlock)(lock);
    return decided(WEFT_RING_LOCK_READ, lock, WEFT_CALLER,
                   WEFT_REAL(pthread_rwlock_tryrdlock)(lock));
}

/* An invalid time is an error of these even when the lock is free: so they are not tried first. */
static bool is_time(const struct timespec *until)
{
    return until->tv_nsec >= 0 && until->tv_nsec < 1000000000;
}

WEFT_WRAP int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (IS_OFF || !is_time(until))
        return WEFT_REAL(pthread_rwlock_timedrdlock)(lock, until);
    ACQUIRE(WEFT_RING_LOCK_READ, lock, EBUSY, WEFT_REAL(pthread_rwlock_tryrdlock)(lock),
            WEFT_REAL(pthread_rwlock_timedrdlock)(lock, until));
}

WEFT_WRAP int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                                         const struct timespec *until)
{
    if (IS_OFF || !is_time(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return WEFT_REAL(pthread_rwlock_clockrdlock)(lock, clock, until);
    ACQUIRE(WEFT_RING_LOCK_READ, lock, EBUSY, WEFT_REAL(pthread_rwlock_tryrdlock)(lock),
            WEFT_REAL(pthread_rwlock_clockrdlock)(lock, clock, until));
}

WEFT_WRAP int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_rwlock_wrlock)(lock);
    ACQUIRE(WEFT_RING_LOCK_WRITE, lock, EBUSY, WEFT_REAL(pthread_rwlock_trywrlock)(lock),
            WEFT_REAL(pthread_rwlock_wrlock)(lock));
}

WEFT_WRAP int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_rwlock_trywrlock)(lock);
    return decided(WEFT_RING_LOCK_WRITE, lock, WEFT_CALLER,
                   WEFT_REAL(pthread_rwlock_trywrlock)(lock));
}

WEFT_WRAP int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until)
{
    if (IS_OFF || !is_time(until))
        return WEFT_REAL(pthread_rwlock_timedwrlock)(lock, until);
    ACQUIRE(WEFT_RING_LOCK_WRITE, lock, EBUSY, WEFT_REAL(pthread_rwlock_trywrlock)(lock),
            WEFT_REAL(pthread_rwlock_timedwrlock)(lock, until));
}

WEFT_WRAP int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                                         const struct timespec *until)
{
    if (IS_OFF || !is_time(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return WEFT_REAL(pthread_rwlock_clockwrlock)(lock, clock, until);
    ACQUIRE(WEFT_RING_LOCK_WRITE, lock, EBUSY, WEFT_REAL(pthread_rwlock_trywrlock)(lock),
            WEFT_REAL(pthread_rwlock_clockwrlock)(lock, clock, until));
}

WEFT_WRAP int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_rwlock_unlock)(lock);
    /* While a reader has it, there is no writer. */
    const enum weft_ring_lock kind =
        lock->__data.__cur_writer ? WEFT_RING_LOCK_WRITE : WEFT_RING_LOCK_READ;
    RELEASE(kind, lock, WEFT_REAL(pthread_rwlock_unlock)(lock));
}

/* ---- spin locks */

WEFT_WRAP int pthread_spin_lock(pthread_spinlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_spin_lock)(lock);
    ACQUIRE(WEFT_RING_LOCK_SPIN, lock, EBUSY, WEFT_REAL(pthread_spin_trylock)(lock),
            WEFT_REAL(pthread_spin_lock)(lock));
}

WEFT_WRAP int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_spin_trylock)(lock);
    return decided(WEFT_RING_LOCK_SPIN, lock, WEFT_CALLER, WEFT_REAL(pthread_spin_trylock)(lock));
}

WEFT_WRAP int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    if (IS_OFF)
        return WEFT_REAL(pthread_spin_unlock)(lock);
    RELEASE(WEFT_RING_LOCK_SPIN, lock, WEFT_REAL(pthread_spin_unlock)(lock));
}

/* ---- semaphores: errors are in errno, and waiting for one is a point of cancellation */

struct waiting {
    sem_t *semaphore;
    uintptr_t caller;
    bool is_open;
};

static void waiting_cancelled(struct waiting *waiting)
{
    if (waiting->is_open)
        (void)decided(WEFT_RING_LOCK_SEMAPHORE, waiting->semaphore, waiting->caller, ECANCELED);
}

/* Takes it if it is free, as a wait would; errno is left as it was if it is not. */
static bool take_semaphore(sem_t *semaphore, uintptr_t caller, bool is_timed)
{
    const int how = WEFT_RING_LOCK_SEMAPHORE | (is_timed ? WEFT_REQUEST_TIMED : 0);
    const int kept_errno = errno;
    pthread_testcancel();
    if (weft_requests_are_all)
        requested(how, semaphore, caller);
    if (WEFT_REAL(sem_trywait)(semaphore) == 0) {
        (void)decided(WEFT_RING_LOCK_SEMAPHORE, semaphore, caller, 0);
        return true;
    }
    errno = kept_errno;
    if (!weft_requests_are_all)
        requested(how, semaphore, caller);
    return false;
}

#define TAKE_SEMAPHORE(the_semaphore, is_timed, wait_for_it)                                       \
    do {                                                                                           \
        const uintptr_t caller = WEFT_CALLER;                                                      \
        if (take_semaphore((the_semaphore), caller, (is_timed)))                                   \
            return 0;                                                                              \
        __attribute__((cleanup(waiting_cancelled))) struct waiting waiting = { (the_semaphore),    \
                                                                               caller, true };     \
        const int result = (wait_for_it);                                                          \
        waiting.is_open = false;                                                                   \
        (void)decided(WEFT_RING_LOCK_SEMAPHORE, (the_semaphore), caller, result == 0 ? 0 : errno); \
        return result;                                                                             \
    } while (0)

WEFT_WRAP int sem_wait(sem_t *semaphore)
{
    if (IS_OFF)
        return WEFT_REAL(sem_wait)(semaphore);
    TAKE_SEMAPHORE(semaphore, false, WEFT_REAL(sem_wait)(semaphore));
}

WEFT_WRAP int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until)
{
    if (IS_OFF || !is_time(until))
        return WEFT_REAL(sem_timedwait)(semaphore, until);
    TAKE_SEMAPHORE(semaphore, true, WEFT_REAL(sem_timedwait)(semaphore, until));
}

WEFT_WRAP int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                            const struct timespec *restrict until)
{
    if (IS_OFF || !is_time(until) || (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
        return WEFT_REAL(sem_clockwait)(semaphore, clock, until);
    TAKE_SEMAPHORE(semaphore, true, WEFT_REAL(sem_clockwait)(semaphore, clock, until));
}

WEFT_WRAP int sem_trywait(sem_t *semaphore)
{
    const int result = WEFT_REAL(sem_trywait)(semaphore);
    if (!IS_OFF)
        (void)decided(WEFT_RING_LOCK_SEMAPHORE, semaphore, WEFT_CALLER, result == 0 ? 0 : errno);
    return result;
}

WEFT_WRAP int sem_post(sem_t *semaphore)
{
    if (IS_OFF)
        return WEFT_REAL(sem_post)(semaphore);
    RELEASE(WEFT_RING_LOCK_SEMAPHORE, semaphore, WEFT_REAL(sem_post)(semaphore));
}
