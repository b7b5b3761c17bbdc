/* SPDX-License-Identifier: MIT
 *
 * A program whose calls are known: each function notes its own entry and exit, and at the end the
 * notes are printed, a line a note: thread number, E or X, address. Built with
 * -finstrument-functions and with XRay.
 *
 * usage: target_calls SEED N_THREADS N_NOTES [jump|late|slow|shallow]
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define PLAIN __attribute__((no_instrument_function, xray_never_instrument, noinline))
#define CALL __attribute__((xray_always_instrument, noinline))
#else
#define PLAIN __attribute__((no_instrument_function, noinline))
#define CALL __attribute__((noinline))
#endif

enum { MAX_THREADS = 64, MAX_DEPTH = 24 };

struct notes {
    unsigned number;
    uint64_t state; /* of the random numbers */
    size_t n_notes;
    size_t n_most;
    uintptr_t *notes; /* address << 1 | is it an exit */
    jmp_buf back;
    int is_jumping;
};

static __thread struct notes *mine;
static const char *how = "";

PLAIN static uint64_t draw(void)
{
    uint64_t z = mine->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    return z ^ (z >> 31);
}

PLAIN static void note(void (*function)(unsigned), int is_exit)
{
    mine->notes[mine->n_notes++] = (uintptr_t)function << 1 | (uintptr_t)is_exit;
}

PLAIN static void spin_us(long us)
{
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - start.tv_sec) * 1000000 + (now.tv_nsec - start.tv_nsec) / 1000 < us);
}

PLAIN static void inner(unsigned depth);

#define FUNCTION(name)                                                                             \
    CALL static void name(unsigned depth)                                                          \
    {                                                                                              \
        note(name, 0);                                                                             \
        inner(depth);                                                                              \
        note(name, 1);                                                                             \
    }
FUNCTION(alpha)
FUNCTION(beta)
FUNCTION(gamma_)
FUNCTION(delta)
FUNCTION(epsilon)

PLAIN static void inner(unsigned depth)
{
    static void (*const functions[])(unsigned) = { alpha, beta, gamma_, delta, epsilon };
    if (strcmp(how, "slow") == 0 && draw() % 64 == 0)
        spin_us(300);
    const unsigned max_depth = strcmp(how, "shallow") == 0 ? 2 : MAX_DEPTH;
    for (unsigned n = (unsigned)(draw() % 4); n > 0 && depth < max_depth; n--) {
        /* Room for the exits of those that are open. */
        if (mine->n_notes + 2 + 2 * depth >= mine->n_most)
            return;
        if (strcmp(how, "jump") == 0 && depth > 4 && draw() % 16 == 0)
            longjmp(mine->back, 1);
        functions[draw() % 5](depth + 1);
    }
}

PLAIN static void *run(void *given)
{
    mine = given;
    (void)setjmp(mine->back);
    while (mine->n_notes + 4 < mine->n_most)
        alpha(1);
    return NULL;
}

PLAIN int main(int argc, char **argv)
{
    static struct notes threads[MAX_THREADS];
    pthread_t ids[MAX_THREADS];
    if (argc < 4)
        return 2;
    const unsigned n_threads = (unsigned)strtoul(argv[2], NULL, 0);
    how = argc > 4 ? argv[4] : "";
    for (unsigned i = 0; i < n_threads; i++) {
        threads[i] = (struct notes){ .number = i,
                                     .state = strtoull(argv[1], NULL, 0) + i,
                                     .n_most = (size_t)strtoul(argv[3], NULL, 0) };
        threads[i].notes = malloc(threads[i].n_most * sizeof(uintptr_t));
        if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(ids[i], NULL);
    for (unsigned i = 0; i < n_threads; i++)
        for (size_t k = 0; k < threads[i].n_notes; k++)
            printf("%u %c %lx\n", i, threads[i].notes[k] & 1 ? 'X' : 'E',
                   (unsigned long)(threads[i].notes[k] >> 1));
    return 0;
}
