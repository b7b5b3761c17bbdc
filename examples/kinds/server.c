/* SPDX-License-Identifier: MIT
 *
 * usage: kinds KIND [--healthy] | --list
 *
 * A listener puts requests into a queue, three workers take them out, and one more thread does what
 * the kind wants in the background.
 */
#include "kinds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORKERS = 3, QUEUE = 4096 };

static const struct kind *kind;
static bool is_broken = true;
static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static unsigned queue[QUEUE], n_put, n_taken;
static volatile bool is_over;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void compute_us(unsigned us)
{
    const uint64_t end_ns = cpu_ns() + (uint64_t)us * 1000;
    while (cpu_ns() < end_ns)
        for (volatile unsigned i = 0; i < 200; i++)
            ;
}

void pause_us(unsigned us)
{
    const struct timespec time = { us / 1000000, (long)(us % 1000000) * 1000 };
    nanosleep(&time, NULL);
}

void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* The next request; false at the end. */
static bool take_request(unsigned *number)
{
    pthread_mutex_lock(&queue_mutex);
    while (n_put == n_taken && !is_over)
        pthread_cond_wait(&has_work, &queue_mutex);
    const bool has_any = n_put != n_taken;
    if (has_any)
        *number = queue[n_taken++ % QUEUE];
    pthread_mutex_unlock(&queue_mutex);
    return has_any;
}

static void *worker_main(void *unused)
{
    unsigned number;
    while (take_request(&number))
        kind->handle(number, is_broken);
    return unused;
}

static void *background_main(void *unused)
{
    while (!is_over)
        kind->background(is_broken);
    return unused;
}

static void listen_for_requests(void)
{
    const unsigned n = kind->n_requests ? kind->n_requests : 600;
    for (unsigned i = 0; i < n; i++) {
        pause_us(kind->every_us ? kind->every_us : 1000);
        pthread_mutex_lock(&queue_mutex);
        queue[n_put++ % QUEUE] = i;
        pthread_cond_signal(&has_work);
        pthread_mutex_unlock(&queue_mutex);
    }
    pthread_mutex_lock(&queue_mutex);
    is_over = true;
    pthread_cond_broadcast(&has_work);
    pthread_mutex_unlock(&queue_mutex);
}

static void serve(void)
{
    pthread_t workers[WORKERS], background;
    if (kind->setup)
        kind->setup(is_broken);
    for (unsigned i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, worker_main, NULL) != 0)
            fail("pthread_create");
    if (kind->background && pthread_create(&background, NULL, background_main, NULL) != 0)
        fail("pthread_create");
    listen_for_requests();
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    if (kind->background)
        pthread_join(background, NULL);
}

static const struct kind *find(const char *name)
{
    const struct kind *const lists[] = { lock_kinds,     wait_kinds,  work_kinds,
                                         together_kinds, event_kinds, delay_kinds };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const struct kind *one = lists[i]; one->name; one++) {
            if (!name)
                puts(one->name);
            else if (strcmp(one->name, name) == 0)
                return one;
        }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        (void)find(NULL);
        return 0;
    }
    kind = argc > 1 ? find(argv[1]) : NULL;
    is_broken = argc <= 2 || strcmp(argv[2], "--healthy") != 0;
    if (!kind) {
        fprintf(stderr, "usage: %s KIND [--healthy] | --list\n", argv[0]);
        return 2;
    }
    if (kind->run)
        kind->run(is_broken);
    else
        serve();
    return 0;
}
