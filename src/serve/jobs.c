/* SPDX-License-Identifier: MIT
 *
 * One lock guards the queues. A job that a client waits for lives on that client's stack: the
 * worker lets go of it, under the lock, before the client may see that it is done.
 */
#include "serve/jobs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    STACK_BYTES = 1 << 20, /* as the pool's workers have */
    HEAVY_NICE = 5,
};

struct queue {
    struct weft_job *first, *last;
};

/* A worker and what it does now. */
struct weft_job_place {
    struct weft_jobs *jobs;
    struct weft_job_worker worker;
    struct weft_progress progress;
    enum weft_lane lane;
    struct weft_job *job; /* NULL: none */
    bool is_background;
    bool is_idle; /* it waits for `wake` */
    pthread_cond_t wake;
    pthread_t thread;
    bool is_started;
};

struct weft_jobs {
    pthread_mutex_t lock;
    struct queue queues[2]; /* by lane */
    struct queue background;
    size_t n_waiting; /* of clients */
    bool is_closing;
    struct weft_job_place *places;
    unsigned n_places;
};

/* ---- queues ---------------------------------------------------------------------------------- */

static void push(struct queue *queue, struct weft_job *job)
{
    job->next = NULL;
    if (queue->last)
        queue->last->next = job;
    else
        queue->first = job;
    queue->last = job;
}

static struct weft_job *pop(struct queue *queue)
{
    struct weft_job *job = queue->first;
    if (job) {
        queue->first = job->next;
        if (!queue->first)
            queue->last = NULL;
    }
    return job;
}

static void remove_job(struct queue *queue, struct weft_job *job)
{
    struct weft_job *before = NULL, *at = queue->first;
    for (; at && at != job; at = at->next)
        before = at;
    if (!at)
        return;
    *(before ? &before->next : &queue->first) = job->next;
    if (queue->last == job)
        queue->last = before;
}

/* ---- workers --------------------------------------------------------------------------------- */

/* With the lock held. */
static void cancel(struct weft_job_place *place)
{
    atomic_store(&place->progress.is_cancelled, true);
}

static struct weft_job *next_job(struct weft_jobs *jobs, struct weft_job_place *place)
{
    struct weft_job *job = pop(&jobs->queues[place->lane]);
    place->is_background = false;
    if (job) {
        jobs->n_waiting--;
    } else if (place->lane == WEFT_LANE_HEAVY) {
        job = pop(&jobs->background);
        place->is_background = job != NULL;
    }
    return job;
}

/* With the lock held. */
static void finish(struct weft_jobs *jobs, struct weft_job *job)
{
    const uint64_t one = 1;
    job->place = NULL;
    if (job->is_redone && !jobs->is_closing) {
        job->is_redone = false;
        push(&jobs->background, job);
        return;
    }
    job->is_done = true;
    if (job->done_fd >= 0)
        (void)!write(job->done_fd, &one, sizeof one);
}

/* Long jobs have a lower priority than interactive work: quick questions, and the browser that
 * paints their answers. Of this thread, and of its pool's, which are started from it. */
static void be_nice(void)
{
    errno = 0;
    const int now = getpriority(PRIO_PROCESS, 0);
    if (errno == 0)
        (void)setpriority(PRIO_PROCESS, 0, now + HEAVY_NICE);
}

static void *worker_main(void *argument)
{
    struct weft_job_place *place = argument;
    struct weft_jobs *jobs = place->jobs;
    if (place->lane == WEFT_LANE_HEAVY)
        be_nice();
    pthread_mutex_lock(&jobs->lock);
    while (!jobs->is_closing) {
        struct weft_job *job = next_job(jobs, place);
        if (!job) {
            place->is_idle = true;
            pthread_cond_wait(&place->wake, &jobs->lock);
            place->is_idle = false;
            continue;
        }
        place->job = job;
        job->place = place;
        weft_progress_start(&place->progress, NULL, NULL, 0);
        atomic_store(&place->progress.is_cancelled, false);
        pthread_mutex_unlock(&jobs->lock);
        job->run(job, &place->worker);
        pthread_mutex_lock(&jobs->lock);
        place->job = NULL;
        finish(jobs, job);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}

static bool start(struct weft_job_place *place)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    place->is_started = pthread_create(&place->thread, &attributes, worker_main, place) == 0;
    (void)pthread_attr_destroy(&attributes);
    return place->is_started;
}

static bool place_init(struct weft_jobs *jobs, unsigned index, const struct weft_run *run)
{
    struct weft_job_place *place = &jobs->places[index];
    const bool is_heavy = index + 1 == jobs->n_places;
    place->jobs = jobs;
    place->lane = is_heavy ? WEFT_LANE_HEAVY : WEFT_LANE_QUICK;
    place->worker = (struct weft_job_worker){
        .index = index,
        .run = { .pool = is_heavy ? run->pool : weft_pool_new(1),
                 .progress = &place->progress,
                 .memory_bytes = run->memory_bytes },
    };
    return place->worker.run.pool != NULL;
}

enum weft_code weft_jobs_new(unsigned n_quick, const struct weft_run *run, struct weft_jobs **jobs,
                             struct weft_err *err)
{
    struct weft_jobs *made = calloc(1, sizeof *made);
    *jobs = NULL;
    bool is_ok = made != NULL;
    if (made) {
        pthread_mutex_init(&made->lock, NULL);
        made->n_places = n_quick + 1;
        made->places = calloc(made->n_places, sizeof *made->places);
        is_ok = made->places != NULL;
        for (unsigned i = 0; is_ok && i < made->n_places; i++)
            pthread_cond_init(&made->places[i].wake, NULL);
        for (unsigned i = 0; is_ok && i < made->n_places; i++)
            is_ok = place_init(made, i, run);
        for (unsigned i = 0; is_ok && i < made->n_places; i++)
            is_ok = start(&made->places[i]);
    }
    if (!is_ok) {
        if (made)
            weft_jobs_stop(made);
        weft_jobs_free(made);
        return weft_no_memory(err, "the server's workers");
    }
    *jobs = made;
    return WEFT_OK;
}

unsigned weft_jobs_workers(const struct weft_jobs *jobs)
{
    return jobs->n_places;
}

void weft_jobs_stop(struct weft_jobs *jobs)
{
    const uint64_t one = 1;
    pthread_mutex_lock(&jobs->lock);
    jobs->is_closing = true;
    for (unsigned lane = 0; lane < 2; lane++) {
        for (struct weft_job *job; (job = pop(&jobs->queues[lane])); jobs->n_waiting--) {
            job->is_done = job->is_refused = true;
            (void)!write(job->done_fd, &one, sizeof one);
        }
    }
    while (pop(&jobs->background))
        continue;
    for (unsigned i = 0; jobs->places && i < jobs->n_places; i++) {
        cancel(&jobs->places[i]);
        pthread_cond_signal(&jobs->places[i].wake);
    }
    pthread_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; jobs->places && i < jobs->n_places; i++) {
        if (jobs->places[i].is_started)
            pthread_join(jobs->places[i].thread, NULL);
        jobs->places[i].is_started = false;
    }
}

void weft_jobs_free(struct weft_jobs *jobs)
{
    if (!jobs)
        return;
    for (unsigned i = 0; jobs->places && i + 1 < jobs->n_places; i++)
        weft_pool_free(jobs->places[i].worker.run.pool); /* the last one's is not ours */
    for (unsigned i = 0; jobs->places && i < jobs->n_places; i++)
        pthread_cond_destroy(&jobs->places[i].wake);
    pthread_mutex_destroy(&jobs->lock);
    free(jobs->places);
    free(jobs);
}

/* ---- clients --------------------------------------------------------------------------------- */

/* A question goes before jobs without a client, unless it asks for the result of one. */
static void interrupt_background(struct weft_jobs *jobs, const struct weft_job *job)
{
    struct weft_job_place *place = &jobs->places[jobs->n_places - 1];
    if (job->lane == WEFT_LANE_HEAVY && place->job && place->is_background &&
        (!job->makes || place->job->makes != job->makes))
        cancel(place);
}

/* The first idle one: a client alone is served by one worker, whose memory is warm. */
static void wake_one(struct weft_jobs *jobs, enum weft_lane lane)
{
    for (unsigned i = 0; i < jobs->n_places; i++) {
        struct weft_job_place *place = &jobs->places[i];
        if (place->lane == lane && place->is_idle) {
            place->is_idle = false;
            pthread_cond_signal(&place->wake);
            return;
        }
    }
}

static bool enter(struct weft_jobs *jobs, struct weft_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    bool is_taken = !jobs->is_closing && jobs->n_waiting < WEFT_JOBS_WAITING;
    if (is_taken) {
        push(&jobs->queues[job->lane], job);
        jobs->n_waiting++;
        interrupt_background(jobs, job);
        wake_one(jobs, job->lane);
    }
    pthread_mutex_unlock(&jobs->lock);
    return is_taken;
}

/* The client is gone: true if its job had not begun, and is now out of the queue. */
static bool give_up(struct weft_jobs *jobs, struct weft_job *job)
{
    pthread_mutex_lock(&jobs->lock);
    const bool is_waiting = !job->is_done && !job->place;
    if (is_waiting) {
        remove_job(&jobs->queues[job->lane], job);
        jobs->n_waiting--;
    } else if (job->place && !job->makes) {
        cancel(job->place);
    }
    pthread_mutex_unlock(&jobs->lock);
    return is_waiting;
}

enum weft_job_end weft_jobs_ask(struct weft_jobs *jobs, struct weft_job *job, int fd)
{
    job->done_fd = eventfd(0, EFD_CLOEXEC);
    if (job->done_fd < 0 || !enter(jobs, job)) {
        if (job->done_fd >= 0)
            close(job->done_fd);
        return WEFT_JOB_REFUSED;
    }
    struct pollfd waits[2] = { { .fd = job->done_fd, .events = POLLIN },
                               { .fd = fd, .events = POLLRDHUP } };
    bool is_gone = false;
    while (!is_gone && waits[0].revents == 0) {
        int n_ready = poll(waits, 2, -1);
        if (n_ready == 0 || (n_ready < 0 && errno == EINTR)) {
            waits[0].revents = waits[1].revents = 0;
        } else if (n_ready < 0 || waits[1].revents) {
            is_gone = give_up(jobs, job);
            waits[1].fd = -1; /* what runs is waited for */
            waits[1].revents = 0;
            if (n_ready < 0)
                break;
        }
    }
    uint64_t count;
    while (!is_gone && read(job->done_fd, &count, sizeof count) < 0 && errno == EINTR)
        continue;
    pthread_mutex_lock(&jobs->lock); /* the worker has let go of the job */
    const bool is_refused = job->is_refused;
    pthread_mutex_unlock(&jobs->lock);
    close(job->done_fd);
    if (is_gone)
        return WEFT_JOB_GONE;
    return is_refused ? WEFT_JOB_REFUSED : WEFT_JOB_RAN;
}

void weft_jobs_leave(struct weft_jobs *jobs, struct weft_job *job)
{
    job->done_fd = -1;
    pthread_mutex_lock(&jobs->lock);
    if (!jobs->is_closing)
        push(&jobs->background, job);
    wake_one(jobs, WEFT_LANE_HEAVY);
    pthread_mutex_unlock(&jobs->lock);
}

static bool is_queued(const struct queue *queue, const void *makes)
{
    for (const struct weft_job *job = queue->first; job; job = job->next)
        if (job->makes == makes)
            return true;
    return false;
}

struct weft_job_progress weft_jobs_progress(struct weft_jobs *jobs, const void *makes)
{
    struct weft_job_progress out = { .state = WEFT_JOB_NONE };
    pthread_mutex_lock(&jobs->lock);
    struct weft_job_place *place = &jobs->places[jobs->n_places - 1];
    if (place->job && place->job->makes == makes) {
        out.state = WEFT_JOB_RUNNING;
        out.activity = atomic_load(&place->progress.activity);
        out.unit = atomic_load(&place->progress.unit);
        out.done = atomic_load(&place->progress.done);
        out.total = atomic_load(&place->progress.total);
    } else if (is_queued(&jobs->queues[WEFT_LANE_HEAVY], makes) ||
               is_queued(&jobs->background, makes)) {
        out.state = WEFT_JOB_WAITING;
    }
    pthread_mutex_unlock(&jobs->lock);
    return out;
}
