/* SPDX-License-Identifier: MIT
 *
 * Wrappers that make, name and join threads. A thread begins in a function of this file, which
 * finds what to run in a table: no memory is allocated for it. When the table is full, the thread
 * begins in its own function, and its first record is that of its first operation.
 */
#include "record/runtime/real.h"

enum { N_STARTS = 256 };

struct start {
    _Atomic bool is_taken;
    void *(*routine)(void *);
    thrd_start_t c11_routine;
    void *argument;
};

static struct start starts[N_STARTS];
static _Atomic unsigned next_start;

static struct start *take_start(void)
{
    for (unsigned i = 0; i < N_STARTS; i++) {
        struct start *start = &starts[atomic_fetch_add(&next_start, 1) % N_STARTS];
        bool is_taken = false;
        if (atomic_compare_exchange_strong(&start->is_taken, &is_taken, true))
            return start;
    }
    return NULL;
}

static struct start begin_thread(struct start *start, bool is_c11)
{
    const struct start copy = { .routine = start->routine,
                                .c11_routine = start->c11_routine,
                                .argument = start->argument };
    atomic_store(&start->is_taken, false);
    weft_ring_put2(WEFT_OP_THREAD_BEGIN, 0, weft_ring_ticks(), (uint64_t)pthread_self(),
                   is_c11 ? (uintptr_t)copy.c11_routine : (uintptr_t)copy.routine);
    return copy;
}

static void *run(void *start)
{
    const struct start copy = begin_thread(start, false);
    return copy.routine(copy.argument);
}

static int run_c11(void *start)
{
    const struct start copy = begin_thread(start, true);
    return copy.c11_routine(copy.argument);
}

static void thread_ends(void)
{
    weft_ring_put(WEFT_OP_THREAD_END, 0, weft_ring_ticks(), NULL, 0);
}

void weft_threads_begin(void)
{
    weft_ring_on_thread_end(thread_ends);
}

/* The new thread may have freed the memory at `at` already, so the kernel looks there: 0 if it has.
 */
static void created(int result, const pthread_t *at, uint64_t before, uintptr_t caller)
{
    const int kept_errno = errno;
    uint64_t thread = 0;
    const struct iovec to = { &thread, sizeof thread };
    const struct iovec from = { (void *)(uintptr_t)at, sizeof *at };
    if (result == 0 && process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0)
        thread = 0;
    errno = kept_errno;
    weft_ring_put2(WEFT_OP_THREAD_CREATE, result, before, thread, caller);
}

WEFT_WRAP int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                             void *(*routine)(void *), void *restrict argument)
{
    struct start *start = weft_ring_is_on ? take_start() : NULL;
    if (!start)
        return WEFT_REAL(pthread_create)(thread, attributes, routine, argument);
    start->routine = routine;
    start->argument = argument;
    const uint64_t before = weft_ring_ticks();
    const int result = WEFT_REAL(pthread_create)(thread, attributes, run, start);
    if (result != 0)
        atomic_store(&start->is_taken, false);
    created(result, thread, before, WEFT_CALLER);
    return result;
}

WEFT_WRAP int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    struct start *start = weft_ring_is_on ? take_start() : NULL;
    if (!start)
        return WEFT_REAL(thrd_create)(thread, routine, argument);
    start->c11_routine = routine;
    start->argument = argument;
    const uint64_t before = weft_ring_ticks();
    const int result = WEFT_REAL(thrd_create)(thread, run_c11, start);
    if (result != thrd_success)
        atomic_store(&start->is_taken, false);
    created(result == thrd_success ? 0 : EAGAIN, thread, before, WEFT_CALLER);
    return result;
}

#define JOIN(thread, is_timed, join_now, error)                                                    \
    do {                                                                                           \
        const uint64_t object = (uint64_t)(thread);                                                \
        WEFT_WAIT(wait, WEFT_WAIT_JOIN);                                                           \
        weft_wait_begin(&wait, (is_timed) ? WEFT_WAIT_TIMED : 0, &object, 1);                      \
        const int result = (join_now);                                                             \
        weft_wait_end(&wait, (error), &object, (error) == 0);                                      \
        return result;                                                                             \
    } while (0)

WEFT_WRAP int pthread_join(pthread_t thread, void **value)
{
    if (!weft_operations_are_on())
        return WEFT_REAL(pthread_join)(thread, value);
    JOIN(thread, false, WEFT_REAL(pthread_join)(thread, value), result);
}

/* It does not wait: only what it achieves is recorded. */
WEFT_WRAP int pthread_tryjoin_np(pthread_t thread, void **value)
{
    const uint64_t object = (uint64_t)thread;
    const int result = WEFT_REAL(pthread_tryjoin_np)(thread, value);
    if (result == 0 && weft_operations_are_on()) {
        WEFT_WAIT(wait, WEFT_WAIT_JOIN);
        weft_wait_begin(&wait, 0, &object, 1);
        weft_wait_end(&wait, 0, &object, 1);
    }
    return result;
}

WEFT_WRAP int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
    if (!weft_operations_are_on())
        return WEFT_REAL(pthread_timedjoin_np)(thread, value, until);
    JOIN(thread, true, WEFT_REAL(pthread_timedjoin_np)(thread, value, until), result);
}

WEFT_WRAP int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock,
                                   const struct timespec *until)
{
    if (!weft_operations_are_on())
        return WEFT_REAL(pthread_clockjoin_np)(thread, value, clock, until);
    JOIN(thread, true, WEFT_REAL(pthread_clockjoin_np)(thread, value, clock, until), result);
}

WEFT_WRAP int thrd_join(thrd_t thread, int *value)
{
    if (!weft_operations_are_on())
        return WEFT_REAL(thrd_join)(thread, value);
    JOIN(thread, false, WEFT_REAL(thrd_join)(thread, value), result == thrd_success ? 0 : EINVAL);
}

/* ---- once: only waits for another thread's call of the routine are recorded */

enum { ONCE_IN_PROGRESS = 1, ONCE_DONE = 2 }; /* bits of the C library's */

static bool must_wait(const int *control)
{
    const int state = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    return state & ONCE_IN_PROGRESS && !(state & ONCE_DONE);
}

WEFT_WRAP int pthread_once(pthread_once_t *control, void (*routine)(void))
{
    if (!must_wait(control) || !weft_operations_are_on())
        return WEFT_REAL(pthread_once)(control, routine);
    const uint64_t object = (uintptr_t)control;
    WEFT_WAIT(wait, WEFT_WAIT_ONCE);
    weft_wait_begin(&wait, 0, &object, 1);
    const int result = WEFT_REAL(pthread_once)(control, routine);
    weft_wait_end(&wait, result, &object, 1);
    return result;
}

WEFT_WRAP void call_once(once_flag *flag, void (*routine)(void))
{
    if (!must_wait(&flag->__data) || !weft_operations_are_on()) {
        WEFT_REAL(call_once)(flag, routine);
        return;
    }
    const uint64_t object = (uintptr_t)flag;
    WEFT_WAIT(wait, WEFT_WAIT_ONCE);
    weft_wait_begin(&wait, 0, &object, 1);
    WEFT_REAL(call_once)(flag, routine);
    weft_wait_end(&wait, 0, &object, 1);
}

/* ---- names */

WEFT_WRAP int pthread_setname_np(pthread_t thread, const char *name)
{
    const int result = WEFT_REAL(pthread_setname_np)(thread, name);
    if (result == 0 && weft_ring_is_on && pthread_equal(thread, pthread_self())) {
        weft_ring_rename(name);
        weft_ring_put_text(WEFT_OP_THREAD_NAME, 0, NULL, 0, name);
    }
    return result;
}
