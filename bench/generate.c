/* SPDX-License-Identifier: MIT
 *
 * Writes an XRay log (flight data recorder, version 5) of any size: what measurements at a thousand
 * million calls need. The same arguments give the same bytes.
 *
 * usage: generate [-t THREADS] [-s SEED] [-c CONTEXTS] CALLS OUTPUT
 *
 * Every thread walks a random program of 512 functions on 12 levels, in which a function has few
 * callees and a favourite among them; one call in 20,000 takes long, as a wait does. OUTPUT.tsv
 * names the functions (id, address, name), for weft import --map.
 *
 * With -c, the program has at most so many calling contexts, and a few of the callees of each make
 * most of its calls, as in real programs. Without, nearly every call has a context of its own: the
 * worst case for every analysis that keeps contexts.
 */
#include "measure.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FUNCTIONS = 512,
    LEVELS = 12,
    CALLEES = 6,
    BUFFER_BYTES = 65536,
    HEAD_BYTES = 16,  /* extents */
    START_BYTES = 64, /* thread, wall time, process, CPU */
    RECORD_BYTES = 8,
    PROCESS = 4242,
    FIRST_THREAD = 5000,
};

/* Contexts by number, callees of one next to each other; 0 is the thread itself. */
struct program {
    uint32_t *first; /* one more: of the callees of each */
    uint32_t *function;
};

struct thread {
    const struct program *program; /* NULL: any context */
    uint64_t random;
    uint64_t time_ns;
    uint64_t calls_left;
    uint32_t stack[LEVELS]; /* functions, or contexts of the program */
    unsigned depth;
};

static void put(uint8_t *at, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* A metadata record of kind `kind`. */
static uint8_t *metadata(uint8_t *at, unsigned kind)
{
    memset(at, 0, 16);
    at[0] = (uint8_t)(kind << 1 | 1);
    return at + 1;
}

/* A random tree, breadth first: 1 to 6 callees each while there are numbers left. Callee k of a
 * function is the same function everywhere. */
static bool make_program(struct program *program, uint32_t n, uint64_t seed)
{
    program->first = calloc((size_t)n + 1, sizeof *program->first);
    program->function = calloc(n, sizeof *program->function);
    uint32_t n_made = 1;
    if (!program->first || !program->function)
        return false;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t n_callees = 1 + (uint32_t)(bench_random(&seed) >> 32) % CALLEES;
        program->first[at] = n_made;
        for (uint32_t k = 0; k < n_callees && n_made < n; k++)
            program->function[n_made++] =
                1 + (program->function[at] * 7919U + k * 104729U) % FUNCTIONS;
    }
    program->first[n] = n;
    return true;
}

/* The context that the thread enters next: the first callees of each are called most. 0: none. */
static uint32_t context_below(const struct thread *thread, uint64_t bits)
{
    const struct program *program = thread->program;
    uint32_t at = thread->depth ? thread->stack[thread->depth - 1] : 0;
    uint64_t n = program->first[at + 1] - program->first[at], u = bits % 1024;
    return n ? program->first[at] + (uint32_t)(n * u * u * u >> 30) : 0;
}

static uint32_t callee(struct thread *thread, uint64_t bits)
{
    unsigned pick = bits % 16 < 10 ? 0 : (unsigned)(bits >> 4) % CALLEES;
    uint32_t caller = thread->depth ? thread->stack[thread->depth - 1] : 0;
    return 1 + (uint32_t)((caller * 7919U + pick * 104729U + thread->depth * 31U) % FUNCTIONS);
}

/* The next event; false when the thread has made its calls and returned from all. */
static bool step(struct thread *thread, uint8_t *record)
{
    uint64_t bits = bench_random(&thread->random);
    uint32_t delta_ns = 40 + (uint32_t)(bits >> 40) % 120;
    if ((bits >> 20) % 50 == 0)
        delta_ns += (uint32_t)(bits >> 32) % 2000;
    if ((bits >> 12) % 40000 == 0)
        delta_ns += 1000 * (uint32_t)(1 + (bits >> 28) % 30000);
    const struct program *program = thread->program;
    uint32_t context = program && thread->depth < LEVELS ? context_below(thread, bits >> 8) : 0;
    bool is_room = thread->depth < LEVELS && (!program || context);
    bool is_entry = is_room && (bits % 100 < 58 || thread->depth < 2);
    if (thread->calls_left == 0 && thread->depth == 0)
        return false;
    thread->time_ns += delta_ns;
    put(record + 4, delta_ns, 4);
    if (is_entry && thread->calls_left > 0) {
        uint32_t id = program ? program->function[context] : callee(thread, bits >> 8);
        thread->stack[thread->depth++] = program ? context : id;
        thread->calls_left--;
        put(record, id << 4, 4);
    } else {
        uint32_t at = thread->stack[--thread->depth];
        put(record, (program ? program->function[at] : at) << 4 | 1 << 1, 4);
    }
    return true;
}

/* Fills a buffer of one thread; its size, or 0 when the thread is done. */
static size_t fill(struct thread *thread, unsigned number, uint8_t *buffer)
{
    uint8_t *at = buffer + HEAD_BYTES;
    put(metadata(at, 0), FIRST_THREAD + number, 4);
    at += 16;
    put(metadata(at, 4), thread->time_ns / 1000000000, 8);
    put(at + 9, thread->time_ns / 1000 % 1000000, 4);
    at += 16;
    put(metadata(at, 9), PROCESS, 4);
    at += 16;
    put(metadata(at, 2) + 2, thread->time_ns, 8);
    at += 16;
    uint8_t *begin = at;
    while (at + RECORD_BYTES <= buffer + BUFFER_BYTES - HEAD_BYTES && step(thread, at))
        at += RECORD_BYTES;
    if (at == begin)
        return 0;
    put(metadata(buffer, 7), (uint64_t)(at - buffer - HEAD_BYTES), 8);
    return (size_t)(at - buffer);
}

static bool write_log(FILE *out, struct thread *threads, unsigned n_threads)
{
    static uint8_t buffer[BUFFER_BYTES];
    uint8_t header[32] = { 5, 0, 1, 0, 3 };
    put(header + 8, 1000000000, 8);
    put(header + 16, BUFFER_BYTES, 8);
    bool is_ok = fwrite(header, sizeof header, 1, out) == 1;
    for (bool is_left = true; is_left && is_ok;) {
        is_left = false;
        for (unsigned i = 0; i < n_threads && is_ok; i++) {
            size_t n_bytes = fill(&threads[i], i, buffer);
            is_left = is_left || n_bytes > 0;
            is_ok = n_bytes == 0 || fwrite(buffer, n_bytes, 1, out) == 1;
        }
    }
    return is_ok;
}

static bool write_names(const char *log_path)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s.tsv", log_path);
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    for (unsigned id = 1; id <= FUNCTIONS; id++)
        (void)fprintf(out, "%u\t0x%x\tstage%u::work_%03u\n", id, 0x1000 + id * 64, id % LEVELS, id);
    return fclose(out) == 0;
}

int main(int argc, char **argv)
{
    unsigned n_threads = 16;
    uint64_t seed = 1;
    uint32_t n_contexts = 0;
    for (int option; (option = getopt(argc, argv, "t:s:c:")) != -1;) {
        if (option == 't')
            n_threads = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            seed = strtoull(optarg, NULL, 10);
        else if (option == 'c')
            n_contexts = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind != 2 || n_threads == 0) {
        (void)fputs("usage: generate [-t THREADS] [-s SEED] [-c CONTEXTS] CALLS OUTPUT\n", stderr);
        return 2;
    }
    uint64_t n_calls = strtoull(argv[optind], NULL, 10);
    struct thread *threads = calloc(n_threads, sizeof *threads);
    FILE *out = fopen(argv[optind + 1], "wb");
    struct program program = { 0 };
    bool is_ok =
        threads && out && (n_contexts == 0 || make_program(&program, n_contexts + 1, seed));
    for (unsigned i = 0; is_ok && i < n_threads; i++)
        threads[i] = (struct thread){
            .program = n_contexts ? &program : NULL,
            .random = seed * 1000003 + i,
            .time_ns = 1000000000 + i * 1000,
            .calls_left = n_calls / n_threads + (i < n_calls % n_threads),
        };
    is_ok = is_ok && write_log(out, threads, n_threads) && write_names(argv[optind + 1]);
    if (out && fclose(out) != 0)
        is_ok = false;
    free(threads);
    free(program.first);
    free(program.function);
    if (!is_ok)
        perror(argv[optind + 1]);
    return is_ok ? 0 : 1;
}
