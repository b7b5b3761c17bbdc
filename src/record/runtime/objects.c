/* SPDX-License-Identifier: MIT
 *
 * Wrappers of what makes and destroys objects to wait for: from then on the address is another
 * object, whatever was known of it. Objects that no function initialises cost nothing.
 */
#include "record/runtime/real.h"

/* The time is from before: others may use the address at once. */
#define WRITE(op, of_kind, object, expression)                                                     \
    do {                                                                                           \
        const uint64_t before = weft_ring_ticks();                                                 \
        const int result = (expression);                                                           \
        if (result == 0 && weft_operations_are_on())                                               \
            weft_ring_put2((op), (of_kind), before, (uintptr_t)(object), WEFT_CALLER);             \
        return result;                                                                             \
    } while (0)

#define MADE(of_kind, object, expression) WRITE(WEFT_OP_OBJECT_MADE, of_kind, object, expression)
#define GONE(of_kind, object, expression) WRITE(WEFT_OP_OBJECT_GONE, of_kind, object, expression)

WEFT_WRAP int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *how)
{
    MADE(WEFT_RING_LOCK_MUTEX, mutex, WEFT_REAL(pthread_mutex_init)(mutex, how));
}

WEFT_WRAP int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    GONE(WEFT_RING_LOCK_MUTEX, mutex, WEFT_REAL(pthread_mutex_destroy)(mutex));
}

WEFT_WRAP int mtx_init(mtx_t *mutex, int type)
{
    MADE(WEFT_RING_LOCK_MUTEX, mutex, WEFT_REAL(mtx_init)(mutex, type));
}

WEFT_WRAP void mtx_destroy(mtx_t *mutex)
{
    const uint64_t before = weft_ring_ticks();
    WEFT_REAL(mtx_destroy)(mutex);
    if (weft_operations_are_on())
        weft_ring_put2(WEFT_OP_OBJECT_GONE, WEFT_RING_LOCK_MUTEX, before, (uintptr_t)mutex,
                       WEFT_CALLER);
}

WEFT_WRAP int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *how)
{
    MADE(WEFT_RING_LOCK_WRITE, lock, WEFT_REAL(pthread_rwlock_init)(lock, how));
}

WEFT_WRAP int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    GONE(WEFT_RING_LOCK_WRITE, lock, WEFT_REAL(pthread_rwlock_destroy)(lock));
}

WEFT_WRAP int pthread_spin_init(pthread_spinlock_t *lock, int is_shared)
{
    MADE(WEFT_RING_LOCK_SPIN, lock, WEFT_REAL(pthread_spin_init)(lock, is_shared));
}

WEFT_WRAP int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    GONE(WEFT_RING_LOCK_SPIN, lock, WEFT_REAL(pthread_spin_destroy)(lock));
}

WEFT_WRAP int sem_init(sem_t *semaphore, int is_shared, unsigned value)
{
    MADE(WEFT_RING_LOCK_SEMAPHORE, semaphore, WEFT_REAL(sem_init)(semaphore, is_shared, value));
}

WEFT_WRAP int sem_destroy(sem_t *semaphore)
{
    GONE(WEFT_RING_LOCK_SEMAPHORE, semaphore, WEFT_REAL(sem_destroy)(semaphore));
}

WEFT_WRAP int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *how)
{
    MADE(WEFT_RING_LOCK_CONDITION, condition, WEFT_REAL(pthread_cond_init)(condition, how));
}

/* Waits for those that still wait; they may continue after its lifetime. */
WEFT_WRAP int pthread_cond_destroy(pthread_cond_t *condition)
{
    GONE(WEFT_RING_LOCK_CONDITION, condition, WEFT_REAL(pthread_cond_destroy)(condition));
}

WEFT_WRAP int cnd_init(cnd_t *condition)
{
    MADE(WEFT_RING_LOCK_CONDITION, condition, WEFT_REAL(cnd_init)(condition));
}

WEFT_WRAP void cnd_destroy(cnd_t *condition)
{
    const uint64_t before = weft_ring_ticks();
    WEFT_REAL(cnd_destroy)(condition);
    if (weft_operations_are_on())
        weft_ring_put2(WEFT_OP_OBJECT_GONE, WEFT_RING_LOCK_CONDITION, before, (uintptr_t)condition,
                       WEFT_CALLER);
}

WEFT_WRAP int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *how,
                                   unsigned count)
{
    MADE(WEFT_RING_LOCK_BARRIER, barrier, WEFT_REAL(pthread_barrier_init)(barrier, how, count));
}

WEFT_WRAP int pthread_barrier_destroy(pthread_barrier_t *barrier)
{
    GONE(WEFT_RING_LOCK_BARRIER, barrier, WEFT_REAL(pthread_barrier_destroy)(barrier));
}
