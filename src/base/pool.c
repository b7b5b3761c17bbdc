/* SPDX-License-Identifier: MIT
 *
 * The caller is worker 0; the others wait for a task or a loop on a condition. A loop ends when all
 * its items were handed out, and every worker has left it, so that its context may live on the
 * caller's stack; a worker that comes late finds no loop.
 */
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_WORKERS = 256 };

struct loop {
    weft_pool_fn fn;
    void *context;
    struct weft_progress *progress;
    size_t n_items;
    _Atomic size_t next_item;
    _Atomic bool is_stopped;
    pthread_mutex_t lock; /* guards what follows */
    size_t failed_item;
    enum weft_code code;
    struct weft_err err;
};

enum { STACK_BYTES = 1 << 20 };

struct worker {
    struct weft_pool *pool;
    unsigned index;
    pthread_t thread;
};

struct weft_pool {
    unsigned n_workers;
    unsigned n_started; /* threads besides the caller */
    struct worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t has_work, is_done;
    struct loop *loop;   /* NULL: none */
    uint64_t generation; /* counts loops */
    unsigned n_inside;   /* threads that work on the loop, besides the caller */
    bool is_closing;
    struct {
        enum { TASK_NONE, TASK_WAITS, TASK_RUNS, TASK_IS_DONE } state;
        void (*fn)(void *context);
        void *context;
    } task;
};

void weft_progress_start(struct weft_progress *progress, const char *activity, const char *unit,
                         uint64_t total)
{
    if (!progress)
        return;
    atomic_store(&progress->done, 0);
    atomic_store(&progress->total, total);
    atomic_store(&progress->unit, unit);
    atomic_store(&progress->activity, activity);
}

static unsigned online_cpus(void)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return n_cpus > 0 ? (unsigned)n_cpus : 1;
}

struct weft_pool *weft_pool_new(unsigned n_workers)
{
    struct weft_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    n_workers = n_workers ? n_workers : online_cpus();
    pool->n_workers = n_workers < MAX_WORKERS ? n_workers : MAX_WORKERS;
    pool->workers = calloc(pool->n_workers, sizeof *pool->workers);
    if (!pool->workers) {
        free(pool);
        return NULL;
    }
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->has_work, NULL);
    pthread_cond_init(&pool->is_done, NULL);
    return pool;
}

unsigned weft_pool_workers(const struct weft_pool *pool)
{
    return pool->n_workers;
}

/* Items are handed out in ascending order, so when one fails all lower ones are finished or
 * running: the lowest failure is the same for any number of workers. */
static void record_failure(struct loop *loop, size_t item, enum weft_code code,
                           const struct weft_err *err)
{
    pthread_mutex_lock(&loop->lock);
    if (item < loop->failed_item) {
        loop->failed_item = item;
        loop->code = code;
        loop->err = *err;
        weft_fail(&loop->err, code, WEFT_NO_OFFSET, "item %zu", item); /* if fn gave no cause */
    }
    pthread_mutex_unlock(&loop->lock);
    atomic_store(&loop->is_stopped, true);
}

static void work(struct loop *loop, unsigned worker)
{
    while (!atomic_load(&loop->is_stopped) && !weft_progress_is_cancelled(loop->progress)) {
        size_t item = atomic_fetch_add(&loop->next_item, 1);
        if (item >= loop->n_items)
            return;
        struct weft_err err = { 0 };
        enum weft_code code = loop->fn(loop->context, item, worker, &err);
        if (code != WEFT_OK)
            record_failure(loop, item, code, &err);
    }
}

/* With the lock held, which it releases meanwhile. */
static void run_task(struct weft_pool *pool)
{
    pool->task.state = TASK_RUNS;
    pthread_mutex_unlock(&pool->lock);
    pool->task.fn(pool->task.context);
    pthread_mutex_lock(&pool->lock);
    pool->task.state = TASK_IS_DONE;
    pthread_cond_broadcast(&pool->is_done);
}

/* Likewise. */
static void join_loop(struct weft_pool *pool, unsigned worker)
{
    struct loop *loop = pool->loop;
    pool->n_inside++;
    pthread_mutex_unlock(&pool->lock);
    work(loop, worker);
    pthread_mutex_lock(&pool->lock);
    if (--pool->n_inside == 0)
        pthread_cond_broadcast(&pool->is_done);
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct weft_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->is_closing && pool->generation == seen && pool->task.state != TASK_WAITS)
            pthread_cond_wait(&pool->has_work, &pool->lock);
        if (pool->is_closing)
            break;
        if (pool->task.state == TASK_WAITS) {
            run_task(pool);
            continue;
        }
        seen = pool->generation;
        if (pool->loop)
            join_loop(pool, self->index);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Starts the threads; fewer than asked for is no error, only slower. Called before any work. Their
 * stacks are small: the usual ones would count 8 MiB each against a ceiling for memory. */
static void start_threads(struct weft_pool *pool)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (pool->n_started + 1 < pool->n_workers) {
        struct worker *worker = &pool->workers[pool->n_started + 1];
        *worker = (struct worker){ .pool = pool, .index = pool->n_started + 1 };
        if (pthread_create(&worker->thread, &attributes, worker_main, worker) != 0)
            break;
        pool->n_started++;
    }
    (void)pthread_attr_destroy(&attributes);
}

static void run_in_parallel(struct weft_pool *pool, struct loop *loop)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->n_started == 0)
        start_threads(pool);
    pool->loop = loop;
    pool->generation++;
    pthread_cond_broadcast(&pool->has_work);
    pthread_mutex_unlock(&pool->lock);
    work(loop, 0);
    pthread_mutex_lock(&pool->lock);
    pool->loop = NULL; /* all of it is handed out */
    while (pool->n_inside > 0)
        pthread_cond_wait(&pool->is_done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

bool weft_pool_begin_task(struct weft_pool *pool, void (*fn)(void *context), void *context)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->n_started == 0)
        start_threads(pool);
    const bool begins = pool->n_started > 0 && pool->task.state == TASK_NONE;
    if (begins) {
        pool->task.state = TASK_WAITS;
        pool->task.fn = fn;
        pool->task.context = context;
        pthread_cond_signal(&pool->has_work);
    }
    pthread_mutex_unlock(&pool->lock);
    return begins;
}

void weft_pool_end_task(struct weft_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->task.state == TASK_WAITS)
        run_task(pool);
    while (pool->task.state == TASK_RUNS)
        pthread_cond_wait(&pool->is_done, &pool->lock);
    pool->task.state = TASK_NONE;
    pthread_mutex_unlock(&pool->lock);
}

enum weft_code weft_pool_run(struct weft_pool *pool, size_t n_items, weft_pool_fn fn, void *context,
                             struct weft_progress *progress, struct weft_err *err)
{
    struct loop loop = {
        .fn = fn,
        .context = context,
        .progress = progress,
        .n_items = n_items,
        .failed_item = SIZE_MAX,
    };
    pthread_mutex_init(&loop.lock, NULL);
    if (n_items > 1 && pool->n_workers > 1)
        run_in_parallel(pool, &loop);
    else
        work(&loop, 0);
    pthread_mutex_destroy(&loop.lock);
    if (loop.code != WEFT_OK) {
        if (err && err->code == WEFT_OK)
            *err = loop.err;
        return loop.code;
    }
    if (weft_progress_is_cancelled(progress))
        return weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    return WEFT_OK;
}

void weft_pool_free(struct weft_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    pthread_cond_broadcast(&pool->has_work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i <= pool->n_started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->has_work);
    pthread_cond_destroy(&pool->is_done);
    free(pool->workers);
    free(pool);
}
