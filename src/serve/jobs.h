/* SPDX-License-Identifier: MIT
 *
 * The schedule of computations. Connections have threads of their own that only wait; the work is
 * done by workers: several for quick questions, each alone, and one for heavy ones, which has the
 * pool of all CPUs. A client that goes away while it waits ends its job.
 *
 * Ahead of any question, jobs without a client are done by the heavy worker when it has no
 * question; a question interrupts them, and they begin anew when there is time. The heavy worker
 * and its pool run with less priority than the others.
 */
#ifndef WEFT_SERVE_JOBS_H
#define WEFT_SERVE_JOBS_H

#include "base/error.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WEFT_JOBS_WAITING = 64 }; /* more are refused */

enum weft_lane { WEFT_LANE_QUICK, WEFT_LANE_HEAVY };

/* A worker, as its jobs see it. */
struct weft_job_worker {
    unsigned index;      /* from 0, over all lanes: the heavy one comes last */
    struct weft_run run; /* its pool, its progress: jobs are cancelled through it */
};

struct weft_job {
    /* Set by whoever asks. */
    enum weft_lane lane;
    const void *makes; /* the result that it makes for all clients, or NULL: then it is for its
                          client alone */
    void (*run)(struct weft_job *job, const struct weft_job_worker *worker);
    /* The queue's; zero at first. */
    struct weft_job *next;
    struct weft_job_place *place; /* where it runs; NULL: nowhere */
    int done_fd;                  /* eventfd; -1: no waiter */
    bool is_done, is_refused, is_redone;
};

enum weft_job_end {
    WEFT_JOB_RAN,     /* to its end, or until it was cancelled */
    WEFT_JOB_REFUSED, /* too many wait, or the server ends */
    WEFT_JOB_GONE,    /* the client went away before it began */
};

struct weft_jobs;

/* `run` gives the heavy worker's pool and the ceiling for memory; progress is the workers' own.
 * WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_jobs_new(unsigned n_quick, const struct weft_run *run,
                                          struct weft_jobs **jobs, struct weft_err *err);

/* Workers in all: indices are below it. */
unsigned weft_jobs_workers(const struct weft_jobs *jobs);

/* Has the job done while its client, on socket `fd`, waits. What a client of its own asked for is
 * cancelled when it goes away; what is made for all is finished. */
enum weft_job_end weft_jobs_ask(struct weft_jobs *jobs, struct weft_job *job, int fd);

/* Queues a heavy job without a client. `job` must live until weft_jobs_stop; its `run` returns with
 * `is_redone` set to be run again later (it was cancelled). */
void weft_jobs_leave(struct weft_jobs *jobs, struct weft_job *job);

/* What is known of the making of `makes`. */
enum weft_job_state { WEFT_JOB_NONE, WEFT_JOB_WAITING, WEFT_JOB_RUNNING };

struct weft_job_progress {
    enum weft_job_state state;
    const char *activity, *unit; /* static, or NULL */
    uint64_t done, total;
};
struct weft_job_progress weft_jobs_progress(struct weft_jobs *jobs, const void *makes);

/* Cancels what runs, refuses what waits, and joins the workers. */
void weft_jobs_stop(struct weft_jobs *jobs);

/* After weft_jobs_stop, when there are no more questions; NULL is allowed. */
void weft_jobs_free(struct weft_jobs *jobs);

#endif
