/* SPDX-License-Identifier: MIT
 *
 * Threads of a trace of the kernel, and which of them runs on which CPU. Events are read twice:
 * first to meet the threads, their names and processes, then to deliver. Both times the same steps
 * are taken, so that the number of a thread, its place in `items`, is the same.
 */
#ifndef WEFT_KERNEL_THREADS_H
#define WEFT_KERNEL_THREADS_H

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"
#include "kernel/syscalls.h"

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL_MOST_CPUS = 4096, KERNEL_MOST_HOSTS = 1024, KERNEL_GUESSES = 256 };

struct kernel_thread {
    uint64_t tid, pid;
    uint32_t host_id, generation;
    uint32_t name;      /* in the table of names; WEFT_ID_NONE: none */
    uint32_t next;      /* the thread that had the tid after it; WEFT_ID_NONE: none */
    uint32_t thread_id; /* of the sink */
    uint32_t key;       /* index of its tid in `current` */
    uint32_t syscall;   /* name of the system call it is in; WEFT_ID_NONE: none */
    uint64_t last_ns;
    uint64_t handle; /* its pthread_t; 0: unknown */
    uint64_t ran_ns; /* by its own clock, since it came to its CPU; 0: unknown */
    bool is_used;    /* met in this reading */
    bool is_known;   /* an event is of it, or points to it */
    bool is_met;     /* an event other than those of the threads at the start */
    bool ran_first;  /* the first of them is its own: it may have run since the start */
    bool is_leaving; /* its exit was seen */
    bool is_ended;   /* it left its CPU for the last time */
    bool is_own;     /* of the recorded program, and so are those that it makes */
    bool is_foreign; /* as the sink gets it (weft_thread_info) */
    struct {
        uint32_t *items; /* functions it is in */
        size_t n, cap;
    } stack;
};

/* A CPU. */
struct kernel_cpu {
    uint32_t current; /* WEFT_ID_NONE: not known yet */
    uint32_t first;   /* the thread that its first switch leaves */
    bool has_early;   /* events before that: they are of `first`, once it is known */
};

struct kernel_threads {
    struct {
        struct kernel_thread *items;
        size_t n, cap;
    };
    struct weft_map *of_key; /* -> index in `current` and `first` */
    struct {
        uint64_t key;
        uint32_t place;        /* 1 + index; 0: none */
    } guesses[KERNEL_GUESSES]; /* keys that were asked for, by their last bits */
    struct {
        uint32_t *items;
        size_t n, cap;
    } current, first; /* threads by key: now, and before the others of its tid */
    struct {
        struct kernel_host {
            struct kernel_cpu *items; /* by number */
            size_t n, cap;
        } * items;
        size_t n, cap;
    } hosts;
    struct weft_strtab *names;
    uint32_t call_names[KERNEL_ABIS][KERNEL_CALLS]; /* 1 + a name, of calls recorded by number; 0:
                                                       not asked yet */
    bool is_sealed;
    uint64_t n_inferred; /* switches that were not seen, in this reading */
};

bool kernel_threads_init(struct kernel_threads *threads);
void kernel_threads_fini(struct kernel_threads *threads);

/* Begins to read again; no thread is added from now on. */
void kernel_threads_seal(struct kernel_threads *threads);

/* Number of the thread with this tid now. Of tid 0 every CPU has its own. A tid whose thread has
 * ended gets a new one, unless `is_mention`. WEFT_ID_NONE without memory. */
uint32_t kernel_thread_of(struct kernel_threads *threads, uint32_t host_id, uint64_t tid,
                          int32_t cpu, bool is_mention);

/* A thread that begins: a new one, if the tid was in use. */
uint32_t kernel_thread_fork(struct kernel_threads *threads, uint32_t host_id, uint64_t tid);

/* The thread of events that name none: of a file or of a whole trace. */
uint32_t kernel_thread_pseudo(struct kernel_threads *threads, uint32_t host_id, uint32_t number,
                              uint64_t tid, uint64_t pid, struct weft_str name);

/* Does the thread have this tid still? It is then the one that kernel_thread_of gives. */
static inline bool kernel_thread_has(const struct kernel_threads *threads, uint32_t thread,
                                     uint64_t tid)
{
    const struct kernel_thread *place = &threads->items[thread];
    return place->tid == tid && !place->is_ended && threads->current.items[place->key] == thread;
}

/* NULL without memory, and for CPUs or hosts beyond KERNEL_MOST_CPUS and KERNEL_MOST_HOSTS; valid
 * until the next one is met. */
struct kernel_cpu *kernel_cpu_add(struct kernel_threads *threads, uint32_t host_id, int32_t cpu);

static inline struct kernel_cpu *kernel_cpu_of(struct kernel_threads *threads, uint32_t host_id,
                                               int32_t cpu)
{
    if (host_id < threads->hosts.n && cpu >= 0 && (uint32_t)cpu < threads->hosts.items[host_id].n)
        return &threads->hosts.items[host_id].items[cpu];
    return kernel_cpu_add(threads, host_id, cpu);
}

/* An empty name is no name. False without memory. */
bool kernel_thread_name(struct kernel_threads *threads, uint32_t thread, struct weft_str name);

#endif
