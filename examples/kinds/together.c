/* SPDX-License-Identifier: MIT
 *
 * Faults of how threads work together, whichever request suffers from them.
 */
#include "kinds.h"

#include <stdlib.h>

/* ---- all threads of a pool are woken for one job ---- */

enum { POOL_THREADS = 24 };

static pthread_mutex_t jobs_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs_ready = PTHREAD_COND_INITIALIZER;
static unsigned n_jobs;

CALL void take_job(void)
{
    pthread_mutex_lock(&jobs_mutex);
    while (n_jobs == 0)
        pthread_cond_wait(&jobs_ready, &jobs_mutex);
    n_jobs--;
    pthread_mutex_unlock(&jobs_mutex);
}

static void *pool_main(void *unused)
{
    for (;;) {
        take_job();
        compute_us(50);
    }
    return unused;
}

CALL void start_pool(bool is_broken)
{
    pthread_t thread;
    (void)is_broken;
    for (unsigned i = 0; i < POOL_THREADS; i++)
        if (pthread_create(&thread, NULL, pool_main, NULL) != 0)
            fail("pthread_create");
}

CALL void submit_job(unsigned number, bool is_broken)
{
    (void)number;
    pthread_mutex_lock(&jobs_mutex);
    n_jobs++;
    if (is_broken)
        pthread_cond_broadcast(&jobs_ready);
    else
        pthread_cond_signal(&jobs_ready);
    pthread_mutex_unlock(&jobs_mutex);
}

/* ---- one of two threads has most of the work of each step ---- */

enum { STEPS = 300 };

static pthread_barrier_t step_barrier;
static bool is_unequal;

CALL void solve_part(unsigned us)
{
    compute_us(us);
}

CALL void run_steps(unsigned us)
{
    for (unsigned i = 0; i < STEPS; i++) {
        solve_part(us);
        pthread_barrier_wait(&step_barrier);
    }
}

static void *solver_main(void *unused)
{
    run_steps(is_unequal ? 300 : 800);
    return unused;
}

CALL void solve(bool is_broken)
{
    pthread_t solver;
    is_unequal = is_broken;
    pthread_barrier_init(&step_barrier, NULL, 2);
    if (pthread_create(&solver, NULL, solver_main, NULL) != 0)
        fail("pthread_create");
    run_steps(is_broken ? 1300 : 800);
    pthread_join(solver, NULL);
}

/* ---- readers that overlap keep a writer out ---- */

enum { READERS = 4 };

static pthread_rwlock_t settings_lock;
static volatile bool is_busy_time;

CALL void read_settings(unsigned us)
{
    pthread_rwlock_rdlock(&settings_lock);
    pause_us(us);
    pthread_rwlock_unlock(&settings_lock);
}

static void *reader_main(void *unused)
{
    for (unsigned i = 0;; i++) {
        if (is_busy_time)
            read_settings(300 + i % 5 * 40);
        pause_us(is_busy_time ? 60 : 1000);
    }
    return unused;
}

CALL void start_readers(bool is_broken)
{
    pthread_rwlockattr_t attributes;
    pthread_t thread;
    pthread_rwlockattr_init(&attributes);
    if (!is_broken)
        pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&settings_lock, &attributes);
    for (unsigned i = 0; i < READERS; i++)
        if (pthread_create(&thread, NULL, reader_main, NULL) != 0)
            fail("pthread_create");
}

CALL void read_for_a_while(bool is_broken)
{
    (void)is_broken;
    pause_us(100000);
    is_busy_time = true;
    pause_us(25000);
    is_busy_time = false;
}

CALL void update_settings(unsigned number, bool is_broken)
{
    (void)is_broken;
    compute_us(50);
    pthread_rwlock_wrlock(&settings_lock);
    compute_us(5 + number % 3);
    pthread_rwlock_unlock(&settings_lock);
}

const struct kind together_kinds[] = {
    { "herd", start_pool, submit_job, NULL, 0, 0, NULL },
    { "imbalance", NULL, NULL, NULL, 0, 0, solve },
    { "starvation", start_readers, update_settings, read_for_a_while, 0, 0, NULL },
    { 0 },
};
