/* SPDX-License-Identifier: MIT
 *
 * A program that says which functions it calls, by calling the hooks itself: of many functions,
 * more than have a number, at addresses of all kinds, from several threads at once that meet new
 * ones at the same time, soon after each other and late. Prints a line a call: process, thread, E
 * or X, address, ticks before and after.
 *
 * usage: target_numbers SEED N_THREADS N_CALLS N_FUNCTIONS [fork]
 */
#include "record/runtime/ring.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool weft_clock_is_odd; /* this program has the counter */

uint64_t weft_clock_ticks(void)
{
    return weft_ring_counter();
}

#define PLAIN __attribute__((no_instrument_function, noinline))

/* Of the C library, which do nothing, unless a recorder takes their place. */
void __cyg_profile_func_enter(void *function, void *callsite);
void __cyg_profile_func_exit(void *function, void *callsite);

enum { MAX_THREADS = 16, N_HOT = 16, LATE_TICKS = 4 * WEFT_DELTA_MAX };

struct call {
    uint64_t address, before, after;
    int is_exit;
};

struct thread {
    unsigned number;
    uint64_t state; /* of the random numbers */
    uint64_t n_calls, n_functions;
    struct call *calls;
    pthread_t id;
};

static pthread_barrier_t start;

PLAIN static uint64_t draw(struct thread *thread, uint64_t n)
{
    uint64_t z = thread->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return (z ^ (z >> 31)) % n;
}

/* The first few are the odd ones; of the others one in 64 differs from another one in high bits
 * alone. */
PLAIN static uint64_t address_of(uint64_t function)
{
    static const uint64_t odd[] = { 0, 1, UINT64_MAX, (UINT64_C(1) << 47) - 1, UINT64_C(1) << 47 };
    if (function < sizeof odd / sizeof *odd)
        return odd[function];
    const uint64_t near = 0x400000 + 16 * (function / 64 * 64 + 1);
    if (function % 64 == 0)
        return near | (1 + function / 64 % 0x1ffff) << 47;
    return function % 64 < 32 ? 0x400000 + 16 * function : 0x7f0000000000 + 48 * function;
}

PLAIN static void call(struct thread *thread, struct call *call)
{
    void *address;
    call->address = address_of(draw(thread, draw(thread, 2) ? N_HOT : thread->n_functions));
    call->is_exit = (int)draw(thread, 2);
    memcpy(&address, &call->address, sizeof address);
    call->before = weft_ring_ticks();
    (call->is_exit ? __cyg_profile_func_exit : __cyg_profile_func_enter)(address, NULL);
    call->after = weft_ring_ticks();
    while (draw(thread, 256) == 0 && weft_ring_ticks() - call->after < LATE_TICKS)
        continue;
}

PLAIN static void *run(void *given)
{
    struct thread *thread = given;
    (void)pthread_barrier_wait(&start);
    for (uint64_t k = 0; k < thread->n_calls; k++)
        call(thread, &thread->calls[k]);
    return NULL;
}

PLAIN static void print(const struct thread *thread)
{
    for (uint64_t k = 0; k < thread->n_calls; k++)
        printf("%d %u %c %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", (int)getpid(), thread->number,
               thread->calls[k].is_exit ? 'X' : 'E', thread->calls[k].address,
               thread->calls[k].before, thread->calls[k].after);
    fflush(stdout);
}

/* The same thread goes on in a child, with functions that the parent has had and others. */
PLAIN static void go_on_in_child(struct thread *thread)
{
    const pid_t child = fork();
    thread->state += child == 0;
    for (uint64_t k = 0; child == 0 && k < thread->n_calls; k++)
        call(thread, &thread->calls[k]);
    if (child > 0) {
        (void)waitpid(child, NULL, 0);
        return;
    }
    print(thread);
    _exit(0);
}

PLAIN int main(int argc, char **argv)
{
    static struct thread threads[MAX_THREADS];
    const unsigned n_threads = argc > 4 ? (unsigned)strtoul(argv[2], NULL, 0) : 0;
    if (n_threads == 0 || n_threads > MAX_THREADS || pthread_barrier_init(&start, NULL, n_threads))
        return 2;
    for (unsigned i = 0; i < n_threads; i++) {
        threads[i] = (struct thread){ .number = i,
                                      .state = strtoull(argv[1], NULL, 0) * MAX_THREADS + i,
                                      .n_calls = strtoull(argv[3], NULL, 0),
                                      .n_functions = strtoull(argv[4], NULL, 0) };
        threads[i].calls = calloc(threads[i].n_calls, sizeof *threads[i].calls);
        if (!threads[i].calls)
            return 1;
    }
    for (unsigned i = 1; i < n_threads; i++)
        if (pthread_create(&threads[i].id, NULL, run, &threads[i]) != 0)
            return 1;
    (void)run(&threads[0]);
    for (unsigned i = 1; i < n_threads; i++)
        pthread_join(threads[i].id, NULL);
    for (unsigned i = 0; i < n_threads; i++)
        print(&threads[i]);
    if (argc > 5 && strcmp(argv[5], "fork") == 0)
        go_on_in_child(&threads[0]);
    return 0;
}
