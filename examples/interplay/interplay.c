/* SPDX-License-Identifier: MIT
 *
 * Threads that wait for each other, in every way that threads do, and that know for whom: each wait
 * is logged by the program itself - who waited, from when to when, and who let it go on - so that
 * what a tool says of a recording can be compared.
 *
 *     interplay MODE LOG [ROUNDS]
 *
 * A line of LOG is: kind, tid that waited, tid that released, before and after the wait in ns of
 * CLOCK_MONOTONIC, and how often the thread went to sleep meanwhile, separated by tabs. Who
 * released is 0 where nobody did; a thread that found what it wanted did not sleep.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, MOST_LINES = 200000, HELD_US = 60, POLLS = 8 };

#define PLAIN __attribute__((no_instrument_function)) static
#define CALL __attribute__((noinline)) static

struct line {
    const char *kind;
    int waiter, releaser;
    uint64_t before_ns, after_ns;
    long n_sleeps;
};

static struct line lines[MOST_LINES];
static atomic_uint n_lines;
static unsigned n_rounds = 50;
static int main_tid;

PLAIN uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

PLAIN int own_tid(void)
{
    static _Thread_local int tid;
    if (tid == 0)
        tid = (int)syscall(SYS_gettid);
    return tid;
}

PLAIN long n_sleeps(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

static _Thread_local long n_sleeps_before;

/* Now, before a wait. */
PLAIN uint64_t begin_wait_ns(void)
{
    n_sleeps_before = n_sleeps();
    return now_ns();
}

PLAIN void log_wait(const char *kind, int releaser, uint64_t before_ns, uint64_t after_ns)
{
    const unsigned at = atomic_fetch_add(&n_lines, 1);
    if (at < MOST_LINES)
        lines[at] = (struct line){ .kind = kind,
                                   .waiter = own_tid(),
                                   .releaser = releaser,
                                   .before_ns = before_ns,
                                   .after_ns = after_ns,
                                   .n_sleeps = n_sleeps() - n_sleeps_before };
}

PLAIN bool write_log(const char *path)
{
    FILE *file = fopen(path, "w");
    const unsigned n = n_lines < MOST_LINES ? n_lines : MOST_LINES;
    if (!file)
        return false;
    for (unsigned i = 0; i < n; i++)
        fprintf(file, "%s\t%d\t%d\t%llu\t%llu\t%ld\n", lines[i].kind, lines[i].waiter,
                lines[i].releaser, (unsigned long long)lines[i].before_ns,
                (unsigned long long)lines[i].after_ns, lines[i].n_sleeps);
    return fclose(file) == 0;
}

/* Computes, and is not to be taken from the processor for longer than it takes. */
CALL void work_us(unsigned us)
{
    const uint64_t end_ns = now_ns() + us * UINT64_C(1000);
    while (now_ns() < end_ns)
        for (volatile unsigned i = 0; i < 50; i++)
            ;
}

PLAIN void start(pthread_t *thread, void *(*routine)(void *), void *argument)
{
    if (pthread_create(thread, NULL, routine, argument) != 0) {
        fputs("interplay: cannot make a thread\n", stderr);
        exit(1);
    }
}

PLAIN void name(const char *text, unsigned number)
{
    char whole[16];
    snprintf(whole, sizeof whole, "%s %u", text, number);
    pthread_setname_np(pthread_self(), whole);
}

/* Runs a routine in several threads, which get their numbers, and waits for all. */
PLAIN void run_threads(unsigned n_threads, void *(*routine)(void *))
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < n_threads; i++)
        start(&threads[i], routine, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

/* ---- mutex: who had it last knows that it was the last -----------------------------------------
 */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static int last_of_mutex, last_of_inner;

/* Whoever has it sleeps now and then, so that others come meanwhile. */
CALL void hold(void)
{
    static _Thread_local unsigned n;
    const struct timespec nap = { 0, HELD_US * 1000 };
    work_us(HELD_US / 2);
    if (n++ % 2)
        nanosleep(&nap, NULL);
}

CALL void update(void)
{
    const uint64_t before_ns = begin_wait_ns();
    pthread_mutex_lock(&mutex);
    log_wait("mutex", last_of_mutex, before_ns, now_ns());
    hold();
    last_of_mutex = own_tid();
    pthread_mutex_unlock(&mutex);
}

CALL void *mutex_thread(void *number)
{
    name("updater", (unsigned)(uintptr_t)number);
    for (unsigned i = 0; i < n_rounds; i++) {
        update();
        work_us(HELD_US / 2);
    }
    return NULL;
}

CALL void update_inner(void)
{
    const uint64_t before_ns = begin_wait_ns();
    pthread_mutex_lock(&inner);
    log_wait("mutex", last_of_inner, before_ns, now_ns());
    hold();
    last_of_inner = own_tid();
    pthread_mutex_unlock(&inner);
}

CALL void *nested_thread(void *number)
{
    name("nester", (unsigned)(uintptr_t)number);
    for (unsigned i = 0; i < n_rounds; i++) {
        if ((i + (uintptr_t)number) % 2) {
            update_inner();
            continue;
        }
        const uint64_t before_ns = begin_wait_ns();
        pthread_mutex_lock(&mutex);
        log_wait("mutex", last_of_mutex, before_ns, now_ns());
        update_inner();
        last_of_mutex = own_tid();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

/* Tries until it has it; nobody sleeps. */
CALL void *try_thread(void *number)
{
    name("trier", (unsigned)(uintptr_t)number);
    for (unsigned i = 0; i < n_rounds; i++) {
        while (pthread_mutex_trylock(&mutex) != 0)
            sched_yield();
        work_us(HELD_US / 4);
        pthread_mutex_unlock(&mutex);
        work_us(HELD_US / 4);
    }
    return NULL;
}

/* ---- rwlock: releases are told one by one ------------------------------------------------------
 */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_flag telling = ATOMIC_FLAG_INIT;
static atomic_int last_of_rwlock;

CALL void rw_release(void)
{
    while (atomic_flag_test_and_set(&telling))
        ;
    last_of_rwlock = own_tid();
    pthread_rwlock_unlock(&rwlock);
    atomic_flag_clear(&telling);
}

/* Another reader may come and go until this one looks: only a writer knows for sure. */
CALL void write_shared(void)
{
    const uint64_t before_ns = begin_wait_ns();
    pthread_rwlock_wrlock(&rwlock);
    log_wait("rwlock", last_of_rwlock, before_ns, now_ns());
    hold();
    rw_release();
}

CALL void read_shared(void)
{
    pthread_rwlock_rdlock(&rwlock);
    hold();
    rw_release();
}

CALL void *rwlock_thread(void *number)
{
    name("sharer", (unsigned)(uintptr_t)number);
    for (unsigned i = 0; i < n_rounds; i++) {
        if ((uintptr_t)number % 2)
            write_shared();
        else
            read_shared();
        work_us(HELD_US);
    }
    return NULL;
}

/* ---- workers: each is told by whom it is woken --------------------------------------------------
 */

struct worker {
    pthread_cond_t wanted;
    sem_t tickets;
    atomic_bool is_idle;
    atomic_int giver;
};

static struct worker workers[THREADS];
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_queued;
static bool is_closed;

CALL void do_task(unsigned number)
{
    work_us(20 + number % 3 * 30);
}

/* With the queue's mutex; true if there is something to do. */
CALL bool wait_for_work(struct worker *self)
{
    while (n_queued == 0 && !is_closed) {
        self->is_idle = true;
        self->giver = 0;
        const uint64_t before_ns = begin_wait_ns();
        pthread_cond_wait(&self->wanted, &queue);
        if (self->giver) /* else nobody woke it */
            log_wait("condition", self->giver, before_ns, now_ns());
        self->is_idle = false;
    }
    return n_queued > 0;
}

CALL void *queue_worker(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    name("worker", number);
    pthread_mutex_lock(&queue);
    while (wait_for_work(&workers[number])) {
        n_queued--;
        pthread_mutex_unlock(&queue);
        do_task(number);
        pthread_mutex_lock(&queue);
    }
    pthread_mutex_unlock(&queue);
    return NULL;
}

/* With the queue's mutex: wakes one that nobody has woken. */
CALL void wake_one(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (workers[i].is_idle && workers[i].giver == 0) {
            workers[i].giver = own_tid();
            pthread_cond_signal(&workers[i].wanted);
            return;
        }
}

CALL void put_task(void)
{
    pthread_mutex_lock(&queue);
    n_queued++;
    wake_one();
    pthread_mutex_unlock(&queue);
}

/* All wait, and none was woken: on a busy machine, all tasks may be there before a worker runs. */
PLAIN bool all_are_idle(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (!workers[i].is_idle || workers[i].giver != 0)
            return false;
    return true;
}

CALL void run_queue(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_cond_init(&workers[i].wanted, NULL);
        start(&threads[i], queue_worker, (void *)(uintptr_t)i);
    }
    for (unsigned i = 0; i < n_rounds * 4; i++) {
        while (i % 5 == 0 && !all_are_idle())
            sched_yield();
        put_task();
        work_us(i % 5 ? 30 : 400);
    }
    pthread_mutex_lock(&queue);
    is_closed = true;
    for (unsigned i = 0; i < THREADS; i++)
        wake_one();
    pthread_mutex_unlock(&queue);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- condition: all are woken at once -----------------------------------------------------------
 */

static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static unsigned turn;
static atomic_uint n_following; /* that wait for the next turn */
static int turner;

CALL void *follower(void *number)
{
    unsigned seen = 0;
    name("follower", (unsigned)(uintptr_t)number);
    pthread_mutex_lock(&queue);
    while (seen < n_rounds) {
        n_following += turn == seen;
        while (turn == seen) {
            const uint64_t before_ns = begin_wait_ns();
            const unsigned was = turn;
            pthread_cond_wait(&turned, &queue);
            if (turn != was)
                log_wait("condition", turner, before_ns, now_ns());
        }
        seen = turn;
    }
    pthread_mutex_unlock(&queue);
    return NULL;
}

CALL void run_condition(void)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        start(&threads[i], follower, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < n_rounds; i++) {
        work_us(300);
        while (i % 2 == 0 && n_following < THREADS) /* else a busy machine may let none wait */
            sched_yield();
        pthread_mutex_lock(&queue);
        turn++;
        n_following = 0;
        turner = own_tid();
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&queue);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* ---- semaphores: one thread lets the next go, round and round
 * ------------------------------------ */

CALL void *runner(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument, next = (number + 1) % THREADS;
    name("runner", number);
    for (unsigned i = 0; i < n_rounds; i++) {
        const uint64_t before_ns = begin_wait_ns();
        while (sem_wait(&workers[number].tickets) != 0)
            ;
        log_wait("semaphore", workers[number].giver, before_ns, now_ns());
        work_us(HELD_US);
        workers[next].giver = own_tid();
        sem_post(&workers[next].tickets);
    }
    return NULL;
}

CALL void run_semaphore(void)
{
    for (unsigned i = 0; i < THREADS; i++)
        sem_init(&workers[i].tickets, 0, 0);
    workers[0].giver = main_tid;
    sem_post(&workers[0].tickets);
    run_threads(THREADS, runner);
}

/* ---- barrier: one waits until all others are there, and comes last
 * -------------------------------- */

static pthread_barrier_t barrier;
static atomic_int last_of_round, marchers[THREADS];
static atomic_uint n_there;

/* Does that thread sleep? Of one that may lose its processor at any time, no clock can tell. */
PLAIN bool sleeps(int tid)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = 0;
    const char *name_end = strrchr(text, ')'); /* TID (NAME) STATE ... */
    return name_end && strncmp(name_end, ") S", 3) == 0;
}

/* The others have told that they come; when they sleep, they are there. */
CALL void come_last(unsigned round)
{
    while (n_there < (round + 1) * (THREADS - 1))
        sched_yield();
    for (unsigned i = 0; i < THREADS; i++)
        while (marchers[i] != own_tid() && !sleeps(marchers[i]))
            work_us(20);
    work_us(500);
    last_of_round = own_tid();
}

CALL void *marcher(void *argument)
{
    const unsigned number = (unsigned)(uintptr_t)argument;
    name("marcher", number);
    marchers[number] = own_tid();
    for (unsigned i = 0; i < n_rounds; i++) {
        const bool is_last = i % THREADS == number;
        if (is_last)
            come_last(i);
        else
            n_there++;
        const uint64_t before_ns = begin_wait_ns();
        pthread_barrier_wait(&barrier);
        if (!is_last)
            log_wait("barrier", last_of_round, before_ns, now_ns());
        pthread_barrier_wait(&barrier); /* before the next round tells who is the last */
    }
    return NULL;
}

CALL void run_barrier(void)
{
    pthread_barrier_init(&barrier, NULL, THREADS);
    run_threads(THREADS, marcher);
}

/* ---- making threads, and waiting until they are there, and gone
 * ----------------------------------- */

static pthread_cond_t born = PTHREAD_COND_INITIALIZER;
static int child_tid;

CALL void *child(void *number)
{
    name("child", (unsigned)(uintptr_t)number);
    work_us(200);
    pthread_mutex_lock(&queue);
    child_tid = own_tid();
    pthread_cond_signal(&born);
    pthread_mutex_unlock(&queue);
    work_us(300);
    return NULL;
}

CALL void make_thread(unsigned number)
{
    pthread_t thread;
    int tid;
    pthread_mutex_lock(&queue);
    child_tid = 0;
    start(&thread, child, (void *)(uintptr_t)number);
    while (child_tid == 0) {
        const uint64_t before_ns = begin_wait_ns();
        pthread_cond_wait(&born, &queue);
        if (child_tid)
            log_wait("condition", child_tid, before_ns, now_ns());
    }
    tid = child_tid;
    pthread_mutex_unlock(&queue);
    const uint64_t before_ns = begin_wait_ns();
    pthread_join(thread, NULL);
    log_wait("join", tid, before_ns, now_ns());
}

CALL void run_create(void)
{
    for (unsigned i = 0; i < n_rounds; i++)
        make_thread(i);
}

/* ---- a monitor that is never asked; a thread that looks again and again
 * --------------------------- */

static sem_t never;

CALL void *monitor(void *unused)
{
    name("monitor", 0);
    const uint64_t before_ns = begin_wait_ns();
    log_wait("semaphore", 0, before_ns, UINT64_MAX);
    while (sem_wait(&never) != 0)
        ;
    return unused;
}

CALL void poll_every_us(unsigned us)
{
    for (unsigned i = 0; i < POLLS; i++) {
        const struct timespec period = { 0, (long)us * 1000 };
        const uint64_t before_ns = begin_wait_ns();
        nanosleep(&period, NULL);
        log_wait("timer", 0, before_ns, now_ns());
    }
}

CALL void *poller(void *unused)
{
    name("poller", 0);
    poll_every_us(30000);
    poll_every_us(5000);
    return unused;
}

CALL void run_hang(const char *path)
{
    pthread_t threads[2];
    sem_init(&never, 0, 0);
    start(&threads[0], monitor, NULL);
    start(&threads[1], poller, NULL);
    pthread_join(threads[1], NULL);
    work_us(1000);
    _exit(write_log(path) ? 0 : 1);
}

/* ---- all
 * ------------------------------------------------------------------------------------------- */

CALL bool run_mode(const char *mode, const char *path)
{
    if (strcmp(mode, "mutex") == 0)
        run_threads(THREADS, mutex_thread);
    else if (strcmp(mode, "nested") == 0)
        run_threads(THREADS, nested_thread);
    else if (strcmp(mode, "trylock") == 0)
        run_threads(THREADS, try_thread);
    else if (strcmp(mode, "rwlock") == 0)
        run_threads(THREADS, rwlock_thread);
    else if (strcmp(mode, "queue") == 0)
        run_queue();
    else if (strcmp(mode, "condition") == 0)
        run_condition();
    else if (strcmp(mode, "semaphore") == 0)
        run_semaphore();
    else if (strcmp(mode, "barrier") == 0)
        run_barrier();
    else if (strcmp(mode, "create") == 0)
        run_create();
    else if (strcmp(mode, "hang") == 0)
        run_hang(path);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    main_tid = own_tid();
    if (argc > 3)
        n_rounds = (unsigned)strtoul(argv[3], NULL, 10);
    if (argc < 3 || !run_mode(argv[1], argv[2])) {
        fputs("usage: interplay mutex|nested|trylock|rwlock|queue|condition|semaphore|barrier|"
              "create|hang LOG [ROUNDS]\n",
              stderr);
        return 2;
    }
    return write_log(argv[2]) ? 0 : 1;
}
