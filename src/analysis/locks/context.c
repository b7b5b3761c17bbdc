/* SPDX-License-Identifier: MIT
 *
 * Goes through the holders thread by thread: its calls once, in order, with the set of waits that
 * it blocks at the time; where a thread has no calls, its stack samples. An interval counts in full
 * for every wait open in it.
 */
#include "analysis/locks/context.h"

#include "base/room.h"
#include "model/calls/walk.h"
#include "model/events.h"
#include "model/locks/names.h"

#include <stdlib.h>

struct sample {
    uint64_t at_ns;
    struct weft_str name;
};

struct job {
    const struct weft_trace *trace;
    const struct weft_twins *twins;
    const struct weft_run *run;
    struct weft_strtab *names;
    struct weft_locks_contexts *contexts;
    const struct weft_locks_blame *blames; /* of one thread, by begin */
    size_t n_blames;
    size_t next; /* the first that has not begun */
    struct {
        size_t *items;
        size_t n, cap;
    } open; /* those that have, and have not ended */
    struct {
        struct weft_str *items;
        size_t n, cap;
    } stack;
    struct {
        struct sample *items;
        size_t n, cap;
    } samples;
};

static int by_thread(const void *a, const void *b)
{
    const struct weft_locks_blame *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    if (x->to_ns != y->to_ns)
        return x->to_ns < y->to_ns ? -1 : 1;
    return (x->lock > y->lock) - (x->lock < y->lock);
}

static enum weft_code name_of(struct job *job, struct weft_str text, struct weft_str *name,
                              struct weft_err *err)
{
    uint32_t id;
    enum weft_code code = weft_strtab_intern(job->names, text, &id, err);
    if (code == WEFT_OK)
        *name = weft_strtab_get(job->names, id);
    return code;
}

static enum weft_code add(struct job *job, const struct weft_locks_blame *blame,
                          struct weft_str name, uint64_t from_ns, uint64_t to_ns,
                          struct weft_err *err)
{
    const struct weft_locks_context made = {
        .lock = blame->lock, .thread_id = blame->thread_id, .name = name, .sum_ns = to_ns - from_ns
    };
    return weft_locks_context_add(job->contexts, &made, err);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* From from_ns to to_ns the thread was in one function. */
static enum weft_code see_piece(struct job *job, uint64_t from_ns, uint64_t to_ns,
                                struct weft_err *err)
{
    const struct weft_str name =
        job->stack.n ? job->stack.items[job->stack.n - 1] : (struct weft_str){ 0 };
    enum weft_code code = WEFT_OK;
    for (; job->next < job->n_blames && job->blames[job->next].from_ns < to_ns; job->next++) {
        size_t *place = WEFT_ROOM_PUSH(&job->open);
        if (!place)
            return weft_no_memory(err, "locks");
        *place = job->next;
    }
    for (size_t i = 0; i < job->open.n && code == WEFT_OK;) {
        const struct weft_locks_blame *blame = &job->blames[job->open.items[i]];
        const uint64_t start_ns = blame->from_ns > from_ns ? blame->from_ns : from_ns;
        const uint64_t end_ns = blame->to_ns < to_ns ? blame->to_ns : to_ns;
        if (start_ns < end_ns)
            code = add(job, blame, name, start_ns, end_ns, err);
        if (blame->to_ns <= to_ns)
            job->open.items[i] = job->open.items[--job->open.n];
        else
            i++;
    }
    return code;
}

static enum weft_code step(struct job *job, enum weft_step step, const struct weft_walk_call *call,
                           struct weft_err *err)
{
    if (step == WEFT_STEP_EXIT) {
        job->stack.n--;
        return WEFT_OK;
    }
    struct weft_str *place = WEFT_ROOM_PUSH(&job->stack);
    if (!place)
        return weft_no_memory(err, "locks");
    return name_of(job, weft_trace_function(job->trace, call->function_id)->name, place, err);
}

static enum weft_code see_calls(struct job *job, uint32_t thread_id, uint64_t to_ns,
                                struct weft_err *err)
{
    const struct weft_walk_opts opts = { .window = { job->blames[0].from_ns, to_ns },
                                         .progress = job->run->progress };
    struct weft_walk *walk = NULL;
    struct weft_walk_call call;
    enum weft_step what = WEFT_STEP_ENTER;
    uint64_t at_ns = job->blames[0].from_ns;
    job->next = job->open.n = job->stack.n = 0;
    enum weft_code code = weft_walk_open(job->trace, thread_id, &opts, &walk, err);
    while (code == WEFT_OK) {
        code = weft_walk_next(walk, &what, &call, err);
        if (code != WEFT_OK || what == WEFT_STEP_END)
            break;
        const uint64_t now_ns = what == WEFT_STEP_ENTER ? call.start_ns : call.end_ns;
        if (now_ns > at_ns)
            code = see_piece(job, at_ns, now_ns, err);
        at_ns = now_ns > at_ns ? now_ns : at_ns;
        WEFT_THEN(code, step(job, what, &call, err));
        if (code == WEFT_OK && weft_progress_is_cancelled(job->run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    }
    weft_walk_close(walk);
    return code == WEFT_OK && at_ns < to_ns ? see_piece(job, at_ns, to_ns, err) : code;
}

/* ---- samples --------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return weft_str_compare(x->name, y->name);
}

/* Samples of the thread: where its program was. */
static enum weft_code read_samples(struct job *job, uint32_t thread_id, uint64_t to_ns,
                                   struct weft_err *err)
{
    struct weft_events *events = NULL;
    const struct weft_event *event = NULL;
    enum weft_code code = weft_events_open(job->trace, thread_id, UINT32_C(1) << WEFT_EVENT_SAMPLE,
                                           job->blames[0].from_ns, to_ns, &events, err);
    while (code == WEFT_OK && (code = weft_events_next(events, &event, err)) == WEFT_OK && event) {
        const struct weft_str site = weft_lock_stack_site(event->name);
        if (site.n_bytes == 0)
            continue;
        struct sample *sample = WEFT_ROOM_PUSH(&job->samples);
        if (!sample) {
            code = weft_no_memory(err, "locks");
            break;
        }
        sample->at_ns = event->time_ns;
        code = name_of(job, site, &sample->name, err);
    }
    weft_events_close(events);
    return code;
}

/* The first sample after at_ns. */
static size_t find_sample(const struct job *job, uint64_t at_ns)
{
    size_t low = 0, high = job->samples.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (job->samples.items[middle].at_ns <= at_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum weft_code see_samples(struct job *job, const struct weft_locks_blame *blame,
                                  struct weft_err *err)
{
    uint64_t at_ns = blame->from_ns;
    struct weft_str name = { 0 };
    enum weft_code code = WEFT_OK;
    for (size_t i = find_sample(job, at_ns);
         i < job->samples.n && job->samples.items[i].at_ns <= blame->to_ns && code == WEFT_OK;
         i++) {
        const struct sample *sample = &job->samples.items[i];
        name = sample->name;
        code = add(job, blame, name, at_ns, sample->at_ns, err);
        at_ns = sample->at_ns;
    }
    return code == WEFT_OK && at_ns < blame->to_ns ? add(job, blame, name, at_ns, blame->to_ns, err)
                                                   : code;
}

/* ---- threads --------------------------------------------------------------------------------- */

static enum weft_code see_thread(struct job *job, struct weft_err *err)
{
    const uint32_t thread_id = job->blames[0].thread_id;
    enum weft_code code = WEFT_OK;
    uint64_t to_ns = 0;
    uint32_t id = thread_id;
    for (size_t i = 0; i < job->n_blames; i++)
        to_ns = job->blames[i].to_ns > to_ns ? job->blames[i].to_ns : to_ns;
    job->samples.n = 0;
    do {
        const struct weft_model_thread *thread = weft_trace_thread(job->trace, id);
        if (thread->calls + thread->cut_calls > 0)
            return see_calls(job, id, to_ns, err);
        if (thread->events)
            code = read_samples(job, id, to_ns, err);
        id = job->twins->next[id];
    } while (id != thread_id && code == WEFT_OK);
    if (job->samples.n)
        weft_room_sort(job->samples.items, job->samples.n, sizeof *job->samples.items, by_time);
    for (size_t i = 0; i < job->n_blames && code == WEFT_OK; i++)
        code = see_samples(job, &job->blames[i], err);
    return code;
}

enum weft_code weft_locks_contexts_find(const struct weft_trace *trace,
                                        const struct weft_twins *twins,
                                        struct weft_locks_blame *blames, size_t n_blames,
                                        const struct weft_run *run, struct weft_strtab *names,
                                        struct weft_locks_contexts *contexts, struct weft_err *err)
{
    struct job job = {
        .trace = trace, .twins = twins, .run = run, .names = names, .contexts = contexts
    };
    enum weft_code code = WEFT_OK;
    if (n_blames)
        weft_room_sort(blames, n_blames, sizeof *blames, by_thread);
    for (size_t from = 0, to = 0; from < n_blames && code == WEFT_OK; from = to) {
        for (to = from + 1; to < n_blames && blames[to].thread_id == blames[from].thread_id;)
            to++;
        job.blames = blames + from;
        job.n_blames = to - from;
        code = see_thread(&job, err);
    }
    WEFT_ROOM_FINI(&job.open);
    WEFT_ROOM_FINI(&job.stack);
    WEFT_ROOM_FINI(&job.samples);
    return code;
}
