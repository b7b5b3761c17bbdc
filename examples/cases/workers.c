/* SPDX-License-Identifier: MIT
 *
 * A farmer parses pages and gives out what there is to do; sixteen workers wait for it most of
 * their time, and what they get is unequal. One thread does nothing but compress scripts, so little
 * that telling the farmer takes longer than the work. Fixed: three workers share all tasks, and the
 * farmer compresses the small scripts itself.
 *
 * After SyncTrace V, farmer and workers in Firefox.
 */
#include "cases.h"

enum { N_WORKERS = 16, N_WORKERS_FIXED = 3, MAX_TASKS = 1024 };

struct queue {
    const char *name;
    pthread_mutex_t mutex;
    pthread_cond_t has_tasks;
    unsigned costs_us[MAX_TASKS];
    uint64_t ids[MAX_TASKS];
    unsigned n_put;
    unsigned n_taken;
    bool is_closed;
};

static struct case_options options;
static struct queue tasks = { .name = "tasks",
                              .mutex = PTHREAD_MUTEX_INITIALIZER,
                              .has_tasks = PTHREAD_COND_INITIALIZER };
static struct queue scripts = { .name = "scripts",
                                .mutex = PTHREAD_MUTEX_INITIALIZER,
                                .has_tasks = PTHREAD_COND_INITIALIZER };
static pthread_mutex_t done_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t is_done = PTHREAD_COND_INITIALIZER;
static unsigned n_done;
static uint64_t next_id;

CASE_CALL void put_task(struct queue *queue, unsigned cost_us)
{
    pthread_mutex_lock(&queue->mutex);
    queue->costs_us[queue->n_put % MAX_TASKS] = cost_us;
    queue->ids[queue->n_put % MAX_TASKS] = next_id;
    queue->n_put++;
    weft_mark_task_queued(queue->name, next_id++);
    pthread_cond_signal(&queue->has_tasks);
    pthread_mutex_unlock(&queue->mutex);
}

CASE_CALL bool wait_for_task(struct queue *queue, unsigned *cost_us, uint64_t *id)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->n_put == queue->n_taken && !queue->is_closed)
        pthread_cond_wait(&queue->has_tasks, &queue->mutex);
    const bool is_open = queue->n_put != queue->n_taken;
    if (is_open) {
        *cost_us = queue->costs_us[queue->n_taken % MAX_TASKS];
        *id = queue->ids[queue->n_taken++ % MAX_TASKS];
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_open;
}

CASE_CALL void tell_farmer(void)
{
    pthread_mutex_lock(&done_mutex);
    n_done++;
    pthread_cond_signal(&is_done);
    pthread_mutex_unlock(&done_mutex);
}

CASE_CALL void run_task(unsigned cost_us)
{
    case_work_us(cost_us);
}

CASE_CALL void compress_script(unsigned cost_us)
{
    case_work_us(cost_us);
}

CASE_CALL void *work(void *unused)
{
    unsigned cost_us;
    uint64_t id;
    case_name("worker");
    while (wait_for_task(&tasks, &cost_us, &id)) {
        weft_mark_task_begin(tasks.name, id);
        run_task(cost_us);
        weft_mark_task_end(tasks.name, id);
        tell_farmer();
    }
    return unused;
}

CASE_CALL void *compress(void *unused)
{
    unsigned cost_us;
    uint64_t id;
    case_name("compressor");
    while (wait_for_task(&scripts, &cost_us, &id)) {
        weft_mark_task_begin(scripts.name, id);
        compress_script(cost_us);
        weft_mark_task_end(scripts.name, id);
        tell_farmer();
    }
    return unused;
}

CASE_CALL void parse_page(void)
{
    case_work_us(1500);
}

CASE_CALL void wait_for_all(unsigned n_tasks)
{
    pthread_mutex_lock(&done_mutex);
    while (n_done < n_tasks)
        pthread_cond_wait(&is_done, &done_mutex);
    n_done -= n_tasks;
    pthread_mutex_unlock(&done_mutex);
}

/* Four tasks a page, one of them large, and a script. */
CASE_CALL void load_page(unsigned number)
{
    unsigned n_tasks = 4;
    parse_page();
    for (unsigned i = 0; i < 4; i++)
        put_task(&tasks, i == number % 4 ? 1200 : 150);
    if (options.is_fixed) {
        compress_script(5);
    } else {
        put_task(&scripts, 5);
        n_tasks++;
    }
    wait_for_all(n_tasks);
}

CASE_PLAIN void close_queue(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->has_tasks);
    pthread_mutex_unlock(&queue->mutex);
}

int main(int argc, char **argv)
{
    pthread_t workers[N_WORKERS];
    pthread_t compressor;
    options = case_options(argc, argv, 100);
    const unsigned n_workers = options.is_fixed ? N_WORKERS_FIXED : N_WORKERS;
    uint64_t *durations = calloc(options.n_runs + 1, sizeof *durations);
    if (!durations)
        return 1;
    case_name("farmer");
    for (unsigned i = 0; i < n_workers; i++)
        case_start(&workers[i], work, NULL);
    case_start(&compressor, compress, NULL);
    for (unsigned i = 0; i < options.n_runs; i++) {
        const uint64_t start_ns = case_now_ns();
        weft_mark_begin("page", i);
        load_page(i);
        weft_mark_end("page", i);
        durations[i] = case_now_ns() - start_ns;
    }
    close_queue(&tasks);
    close_queue(&scripts);
    for (unsigned i = 0; i < n_workers; i++)
        pthread_join(workers[i], NULL);
    pthread_join(compressor, NULL);
    case_say("pages", durations, options.n_runs);
    free(durations);
    return 0;
}
