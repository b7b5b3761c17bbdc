/* SPDX-License-Identifier: MIT
 *
 * What POSIX promises of locks, by every kind of them: each answer is printed, a line each. The
 * same lines come out with and without the recorder's library.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_ERRNO = 4711, SHORT_MS = 3 };

static const char *about;

static void say(const char *what, int result)
{
    printf("%s: %s: %d, errno %d\n", about, what, result, errno);
    errno = KEPT_ERRNO;
}

static struct timespec after(clockid_t clock, long ms)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

static void *in_thread(void *(*routine)(void *), void *argument)
{
    pthread_t thread;
    void *value = NULL;
    if (pthread_create(&thread, NULL, routine, argument) != 0 || pthread_join(thread, &value) != 0)
        puts("no thread");
    errno = KEPT_ERRNO;
    return value;
}

/* ---- mutexes */

static void *try_as_other(void *mutex)
{
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    const struct timespec soon_monotonic = after(CLOCK_MONOTONIC, SHORT_MS);
    const struct timespec wrong = { 0, 1000000000 };
    errno = KEPT_ERRNO;
    say("other's trylock", pthread_mutex_trylock(mutex));
    say("other's timedlock", pthread_mutex_timedlock(mutex, &soon));
    say("other's clocklock", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon_monotonic));
    say("other's clocklock by another clock",
        pthread_mutex_clocklock(mutex, CLOCK_BOOTTIME, &soon_monotonic));
    say("other's timedlock until no time", pthread_mutex_timedlock(mutex, &wrong));
    return NULL;
}

static void *unlock_as_other(void *mutex)
{
    say("other's unlock", pthread_mutex_unlock(mutex));
    return NULL;
}

static void *die_with(void *mutex)
{
    say("lock before death", pthread_mutex_lock(mutex));
    return NULL;
}

static void robust(pthread_mutex_t *mutex)
{
    in_thread(die_with, mutex);
    say("lock after death", pthread_mutex_lock(mutex));
    say("consistent", pthread_mutex_consistent(mutex));
    say("unlock", pthread_mutex_unlock(mutex));
    in_thread(die_with, mutex);
    say("trylock after death", pthread_mutex_trylock(mutex));
    say("unlock, not consistent", pthread_mutex_unlock(mutex));
    say("lock of what is beyond recovery", pthread_mutex_lock(mutex));
    say("trylock of it", pthread_mutex_trylock(mutex));
}

static void mutex_of(int type, int is_robust, int protocol)
{
    static const char *const types[] = { "normal", "recursive", "errorcheck", "adaptive" };
    char name[100];
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    const struct timespec past = { 1, 0 };
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, is_robust ? PTHREAD_MUTEX_ROBUST : 0);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    snprintf(name, sizeof name, "%s%s protocol %d", types[type], is_robust ? " robust" : "",
             protocol);
    about = name;
    errno = KEPT_ERRNO;
    const int status = pthread_mutex_init(&mutex, &attributes);
    say("init", status);
    if (status != 0)
        return;
    say("lock", pthread_mutex_lock(&mutex));
    say("trylock again", pthread_mutex_trylock(&mutex));
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
        say("lock again", pthread_mutex_lock(&mutex));
    say("timedlock again, late", pthread_mutex_timedlock(&mutex, &past));
    in_thread(try_as_other, &mutex);
    if (type != PTHREAD_MUTEX_NORMAL && type != PTHREAD_MUTEX_ADAPTIVE_NP)
        in_thread(unlock_as_other, &mutex);
    for (int i = 0; i < (type == PTHREAD_MUTEX_RECURSIVE ? 4 : 1); i++)
        say("unlock", pthread_mutex_unlock(&mutex));
    if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
        say("unlock what is free", pthread_mutex_unlock(&mutex));
    say("timedlock of what is free, late", pthread_mutex_timedlock(&mutex, &past));
    say("unlock", pthread_mutex_unlock(&mutex));
    if (is_robust)
        robust(&mutex);
    say("destroy", pthread_mutex_destroy(&mutex));
}

static void mutexes(void)
{
    for (int type = 0; type <= PTHREAD_MUTEX_ADAPTIVE_NP; type++)
        for (int is_robust = 0; is_robust < 2; is_robust++)
            for (int protocol = PTHREAD_PRIO_NONE; protocol <= PTHREAD_PRIO_PROTECT; protocol++)
                mutex_of(type, is_robust, protocol);
}

/* ---- the other locks */

static void *use_rwlock(void *lock)
{
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    const struct timespec soon_monotonic = after(CLOCK_MONOTONIC, SHORT_MS);
    const struct timespec wrong = { 0, -1 };
    errno = KEPT_ERRNO;
    say("tryrdlock", pthread_rwlock_tryrdlock(lock));
    say("trywrlock", pthread_rwlock_trywrlock(lock));
    say("timedrdlock", pthread_rwlock_timedrdlock(lock, &soon));
    say("timedwrlock", pthread_rwlock_timedwrlock(lock, &soon));
    say("clockrdlock", pthread_rwlock_clockrdlock(lock, CLOCK_MONOTONIC, &soon_monotonic));
    say("clockwrlock", pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &soon_monotonic));
    say("clockwrlock by another clock",
        pthread_rwlock_clockwrlock(lock, CLOCK_BOOTTIME, &soon_monotonic));
    say("timedwrlock until no time", pthread_rwlock_timedwrlock(lock, &wrong));
    return NULL;
}

static void rwlocks(void)
{
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    const struct timespec wrong = { 0, 1000000000 };
    about = "rwlock";
    say("timedrdlock of what is free until no time", pthread_rwlock_timedrdlock(&lock, &wrong));
    say("rdlock", pthread_rwlock_rdlock(&lock));
    say("rdlock again", pthread_rwlock_rdlock(&lock));
    in_thread(use_rwlock, &lock);
    for (int i = 0; i < 5; i++) /* two of the other's are still there */
        say("unlock", pthread_rwlock_unlock(&lock));
    say("wrlock", pthread_rwlock_wrlock(&lock));
    say("wrlock again", pthread_rwlock_wrlock(&lock));
    say("rdlock again", pthread_rwlock_rdlock(&lock));
    in_thread(use_rwlock, &lock);
    say("unlock", pthread_rwlock_unlock(&lock));
    say("trywrlock", pthread_rwlock_trywrlock(&lock));
    say("unlock", pthread_rwlock_unlock(&lock));
}

static void spins(void)
{
    pthread_spinlock_t lock;
    about = "spin";
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    say("lock", pthread_spin_lock(&lock));
    say("trylock", pthread_spin_trylock(&lock));
    say("unlock", pthread_spin_unlock(&lock));
    say("trylock", pthread_spin_trylock(&lock));
    say("unlock", pthread_spin_unlock(&lock));
}

static void on_signal(int number)
{
    (void)number;
}

static void *kill_soon(void *thread)
{
    const struct timespec soon = { 0, SHORT_MS * 1000000 };
    for (int i = 0; i < 10; i++) {
        nanosleep(&soon, NULL);
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    }
    return NULL;
}

static void semaphores(void)
{
    sem_t semaphore;
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    const struct timespec soon_monotonic = after(CLOCK_MONOTONIC, SHORT_MS);
    const struct timespec wrong = { 0, 1000000000 };
    const struct sigaction action = { .sa_handler = on_signal };
    pthread_t self = pthread_self();
    pthread_t killer;
    about = "semaphore";
    sem_init(&semaphore, 0, 1);
    errno = KEPT_ERRNO;
    say("wait", sem_wait(&semaphore));
    say("trywait", sem_trywait(&semaphore));
    say("timedwait", sem_timedwait(&semaphore, &soon));
    say("clockwait", sem_clockwait(&semaphore, CLOCK_MONOTONIC, &soon_monotonic));
    say("clockwait by another clock", sem_clockwait(&semaphore, CLOCK_BOOTTIME, &soon_monotonic));
    say("timedwait until no time", sem_timedwait(&semaphore, &wrong));
    say("post", sem_post(&semaphore));
    say("timedwait of what is free until no time", sem_timedwait(&semaphore, &wrong));
    say("trywait", sem_trywait(&semaphore));
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&killer, NULL, kill_soon, &self);
    errno = KEPT_ERRNO;
    say("wait, interrupted", sem_wait(&semaphore));
    pthread_join(killer, NULL);
    sem_init(&semaphore, 0, SEM_VALUE_MAX);
    errno = KEPT_ERRNO;
    say("post of too many", sem_post(&semaphore));
}

static void conditions(void)
{
    pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    const struct timespec soon_monotonic = after(CLOCK_MONOTONIC, SHORT_MS);
    const struct timespec wrong = { 0, 1000000000 };
    about = "condition";
    say("wait without the mutex", pthread_cond_wait(&condition, &mutex));
    pthread_mutex_lock(&mutex);
    say("timedwait", pthread_cond_timedwait(&condition, &mutex, &soon));
    say("clockwait", pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon_monotonic));
    say("timedwait until no time", pthread_cond_timedwait(&condition, &mutex, &wrong));
    say("signal", pthread_cond_signal(&condition));
    say("broadcast", pthread_cond_broadcast(&condition));
    say("the mutex is ours", pthread_mutex_lock(&mutex));
    say("unlock", pthread_mutex_unlock(&mutex));
}

/* ---- barriers, threads, C11 */

static void *at_barrier(void *barrier)
{
    return (void *)(long)pthread_barrier_wait(barrier);
}

static void barriers(void)
{
    pthread_barrier_t barrier;
    pthread_t threads[4];
    int sum = 0;
    about = "barrier";
    pthread_barrier_init(&barrier, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, at_barrier, &barrier);
    for (int i = 0; i < 4; i++) {
        void *value;
        pthread_join(threads[i], &value);
        sum += (int)(long)value;
    }
    errno = KEPT_ERRNO;
    say("one is told to be the last", sum);
}

static void *sleep_long(void *unused)
{
    const struct timespec time = { 0, 30000000 };
    nanosleep(&time, NULL);
    return unused;
}

static void joins(void)
{
    pthread_t thread;
    void *value = NULL;
    about = "join";
    say("self", pthread_join(pthread_self(), NULL));
    pthread_create(&thread, NULL, sleep_long, &value);
    errno = KEPT_ERRNO;
    say("tryjoin", pthread_tryjoin_np(thread, &value));
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    say("timedjoin", pthread_timedjoin_np(thread, &value, &soon));
    const struct timespec soon_monotonic = after(CLOCK_MONOTONIC, SHORT_MS);
    say("clockjoin", pthread_clockjoin_np(thread, &value, CLOCK_MONOTONIC, &soon_monotonic));
    say("join", pthread_join(thread, &value));
    say("value", value == &value);
    say("setname too long", pthread_setname_np(pthread_self(), "a name of too many bytes"));
    say("setname", pthread_setname_np(pthread_self(), "a name"));
    errno = KEPT_ERRNO;
}

static int c11_thread(void *mutex)
{
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    errno = KEPT_ERRNO;
    say("other's trylock", mtx_trylock(mutex));
    say("other's timedlock", mtx_timedlock(mutex, &soon));
    return 42;
}

static void c11(void)
{
    mtx_t mutex;
    cnd_t condition;
    thrd_t thread;
    int value;
    about = "C11";
    mtx_init(&mutex, mtx_timed | mtx_recursive);
    cnd_init(&condition);
    say("lock", mtx_lock(&mutex));
    say("lock again", mtx_lock(&mutex));
    say("trylock again", mtx_trylock(&mutex));
    thrd_create(&thread, c11_thread, &mutex);
    say("join", thrd_join(thread, &value));
    say("value", value);
    say("unlock", mtx_unlock(&mutex));
    say("unlock", mtx_unlock(&mutex));
    const struct timespec soon = after(CLOCK_REALTIME, SHORT_MS);
    say("timedwait", cnd_timedwait(&condition, &mutex, &soon));
    say("signal", cnd_signal(&condition));
    say("broadcast", cnd_broadcast(&condition));
    say("unlock", mtx_unlock(&mutex));
    say("sleep", thrd_sleep(&(struct timespec){ 0, 1000 }, NULL));
}

/* ---- cancellation */

static pthread_mutex_t held = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t free_semaphore, taken_semaphore;
static int pipe_fds[2];

static void cleaned(void *what)
{
    say(what, pthread_mutex_trylock(&held)); /* by the owner: busy */
    if (strcmp(what, "cancelled in cond_wait") == 0)
        say("unlock in the handler", pthread_mutex_unlock(&held));
    else
        pthread_mutex_unlock(&held);
}

static void *wait_for_cancel(void *what)
{
    char byte;
    const struct timespec day = { 86400, 0 };
    struct timespec until = after(CLOCK_REALTIME, 86400000);
    errno = KEPT_ERRNO;
    pthread_cleanup_push(cleaned, what);
    if (strcmp(what, "cancelled in cond_wait") == 0) {
        pthread_mutex_lock(&held);
        pthread_cond_wait(&never, &held);
    } else if (strcmp(what, "cancelled in sem_wait") == 0) {
        sem_wait(&taken_semaphore);
    } else if (strcmp(what, "cancelled in sem_timedwait") == 0) {
        sem_timedwait(&taken_semaphore, &until);
    } else if (strcmp(what, "cancelled in read") == 0) {
        (void)!read(pipe_fds[0], &byte, 1);
    } else if (strcmp(what, "cancelled before a free sem_wait") == 0) {
        pthread_cancel(pthread_self());
        sem_wait(&free_semaphore);
    } else if (strcmp(what, "a mutex is no point of cancellation") == 0) {
        pthread_cancel(pthread_self());
        pthread_mutex_lock(&held);
        pthread_mutex_unlock(&held);
        pthread_testcancel();
    } else {
        nanosleep(&day, NULL);
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancellation(void)
{
    static const char *const points[] = { "cancelled in cond_wait",
                                          "cancelled in sem_wait",
                                          "cancelled in sem_timedwait",
                                          "cancelled in read",
                                          "cancelled before a free sem_wait",
                                          "a mutex is no point of cancellation",
                                          "cancelled in nanosleep" };
    about = "cancellation";
    sem_init(&free_semaphore, 0, 1);
    sem_init(&taken_semaphore, 0, 0);
    if (pipe(pipe_fds) != 0)
        return;
    for (unsigned i = 0; i < sizeof points / sizeof *points; i++) {
        const struct timespec soon = { 0, 5000000 };
        pthread_t thread;
        void *value;
        pthread_create(&thread, NULL, wait_for_cancel, (void *)(unsigned long)points[i]);
        nanosleep(&soon, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &value);
        errno = KEPT_ERRNO;
        say(points[i], value == PTHREAD_CANCELED);
    }
    int value;
    sem_getvalue(&free_semaphore, &value);
    say("the free semaphore was not taken", value);
}

int main(void)
{
    errno = KEPT_ERRNO;
    mutexes();
    rwlocks();
    spins();
    semaphores();
    conditions();
    barriers();
    joins();
    c11();
    cancellation();
    return 0;
}
