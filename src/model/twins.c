/* SPDX-License-Identifier: MIT
 *
 * Sorts threads by host, process and tid and joins those that overlap in time; the one with the
 * most calls and events stands for the others. O(n log n) in the number of threads.
 */
#include "model/twins.h"

#include <stdlib.h>

/* A thread, to be sorted. */
struct life {
    uint64_t tid, pid, first_ns, last_ns, weight;
    uint32_t host_id, id;
};

static int by_identity(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_one(const struct life *a, const struct life *b)
{
    return a->tid != 0 && a->tid == b->tid && a->host_id == b->host_id &&
           (a->pid == b->pid || a->pid == 0 || b->pid == 0) && a->first_ns <= b->last_ns &&
           b->first_ns <= a->last_ns;
}

/* lives[from..to) are one thread. */
static void join(const struct life *lives, size_t from, size_t to, struct weft_twins *twins)
{
    size_t best = from;
    for (size_t i = from; i < to; i++)
        if (lives[i].weight > lives[best].weight ||
            (lives[i].weight == lives[best].weight && lives[i].id < lives[best].id))
            best = i;
    for (size_t i = from; i < to; i++) {
        twins->first[lives[i].id] = lives[best].id;
        twins->next[lives[i].id] = lives[i + 1 < to ? i + 1 : from].id;
    }
}

enum weft_code weft_twins_make(const struct weft_trace *trace, struct weft_twins *twins,
                               struct weft_err *err)
{
    const uint32_t n = weft_trace_n_threads(trace);
    struct life *lives = calloc((size_t)n + 1, sizeof *lives);
    *twins = (struct weft_twins){ .first = calloc((size_t)n + 1, sizeof *twins->first),
                                  .next = calloc((size_t)n + 1, sizeof *twins->next),
                                  .n_threads = n };
    const bool is_good = lives && twins->first && twins->next;
    for (uint32_t id = 0; is_good && id < n; id++) {
        const struct weft_model_thread *thread = weft_trace_thread(trace, id);
        lives[id] = (struct life){ .tid = thread->info.tid,
                                   .pid = thread->info.pid,
                                   .first_ns = thread->first_ns,
                                   .last_ns = thread->last_ns,
                                   .weight = thread->events + thread->calls,
                                   .host_id = thread->info.host_id,
                                   .id = id };
    }
    if (is_good)
        qsort(lives, n, sizeof *lives, by_identity);
    for (size_t from = 0, to = 0; is_good && from < n; from = to) {
        for (to = from + 1; to < n && is_one(&lives[to - 1], &lives[to]);)
            to++;
        join(lives, from, to, twins);
    }
    free(lives);
    return is_good ? WEFT_OK : weft_no_memory(err, "threads");
}

void weft_twins_fini(struct weft_twins *twins)
{
    free(twins->first);
    free(twins->next);
    twins->first = twins->next = NULL;
}
