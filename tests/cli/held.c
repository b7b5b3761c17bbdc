/* SPDX-License-Identifier: MIT
 *
 * A program to be recorded without a kernel and without functions: two clients put into a store
 * that a flusher locks now and then.
 *
 *     held broken    the flusher holds the lock while it works, 15 ms
 *     held healthy   the flusher works as long before it takes the lock
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 2, REQUESTS = 2500, FLUSH_US = 15000, PAUSE_US = 40000 };

static pthread_mutex_t store = PTHREAD_MUTEX_INITIALIZER;
static bool is_broken;
static atomic_bool is_over;

static uint64_t now_us(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000 + (uint64_t)at.tv_nsec / 1000;
}

static void work_us(uint64_t us)
{
    for (const uint64_t end_us = now_us() + us; now_us() < end_us;)
        ;
}

static void sleep_us(long us)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static void *run_client(void *unused)
{
    for (unsigned i = 0; i < REQUESTS; i++) {
        work_us(40);
        (void)pthread_mutex_lock(&store);
        work_us(3);
        (void)pthread_mutex_unlock(&store);
        sleep_us(100);
    }
    return unused;
}

static void *run_flusher(void *unused)
{
    while (!is_over) {
        sleep_us(PAUSE_US);
        if (!is_broken)
            work_us(FLUSH_US);
        (void)pthread_mutex_lock(&store);
        work_us(is_broken ? FLUSH_US : 5);
        (void)pthread_mutex_unlock(&store);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t clients[CLIENTS], flusher;
    is_broken = argc > 1 && strcmp(argv[1], "broken") == 0;
    if (pthread_create(&flusher, NULL, run_flusher, NULL) != 0)
        return 1;
    (void)pthread_setname_np(flusher, "flusher");
    for (unsigned i = 0; i < CLIENTS; i++) {
        if (pthread_create(&clients[i], NULL, run_client, NULL) != 0)
            return 1;
        (void)pthread_setname_np(clients[i], "client");
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        (void)pthread_join(clients[i], NULL);
    is_over = true;
    return pthread_join(flusher, NULL);
}
