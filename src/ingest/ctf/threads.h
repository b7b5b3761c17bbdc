/* SPDX-License-Identifier: MIT
 *
 * Threads of a CTF trace, and which of them runs on which processor. Events are read twice: first
 * to meet the threads, their names and processes, then to deliver. Both times the same steps are
 * taken, so that the number of a thread, its place in `items`, is the same.
 */
#ifndef WEFT_INGEST_CTF_THREADS_H
#define WEFT_INGEST_CTF_THREADS_H

#include "base/error.h"
#include "base/map.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { CTF_MOST_CPUS = 4096, CTF_MOST_HOSTS = 1024 };

struct ctf_thread {
    uint64_t tid, pid;
    uint32_t host_id, generation;
    uint32_t name;      /* in the table of names; WEFT_ID_NONE: none */
    uint32_t next;      /* the thread that had the tid after it; WEFT_ID_NONE: none */
    uint32_t thread_id; /* of the sink */
    uint32_t syscall;   /* name of the system call it is in; WEFT_ID_NONE: none */
    uint64_t last_ns;
    bool is_used;    /* met in this reading */
    bool is_leaving; /* its exit was seen */
    bool is_ended;   /* it left its processor for the last time */
    struct {
        uint32_t *items; /* functions it is in */
        size_t n, cap;
    } stack;
};

struct ctf_cpu {
    uint32_t current; /* WEFT_ID_NONE: not known yet */
    uint32_t first;   /* the thread that its first switch leaves */
};

struct ctf_threads {
    struct {
        struct ctf_thread *items;
        size_t n, cap;
    };
    struct weft_map *of_key; /* -> index in `current` and `first` */
    struct {
        uint32_t *items;
        size_t n, cap;
    } current, first;        /* threads by key: now, and before the others of its tid */
    struct weft_map *of_cpu; /* (host, processor) -> index in `cpus` */
    struct {
        struct ctf_cpu *items;
        size_t n, cap;
    } cpus;
    struct weft_strtab *names;
    bool is_sealed;
    uint64_t n_inferred; /* switches that were not seen, in this reading */
};

bool ctf_threads_init(struct ctf_threads *threads);
void ctf_threads_fini(struct ctf_threads *threads);

/* Begins to read again; no thread is added from now on. */
void ctf_threads_seal(struct ctf_threads *threads);

/* Number of the thread with this tid now. Of tid 0 every processor has its own. A tid whose thread
 * has ended gets a new one, unless `is_mention`. WEFT_ID_NONE without memory. */
uint32_t ctf_thread_of(struct ctf_threads *threads, uint32_t host_id, uint64_t tid, int32_t cpu,
                       bool is_mention);

/* A thread that begins: a new one, if the tid was in use. */
uint32_t ctf_thread_fork(struct ctf_threads *threads, uint32_t host_id, uint64_t tid);

/* The thread of events that name none: of a file or of a whole trace. */
uint32_t ctf_thread_pseudo(struct ctf_threads *threads, uint32_t host_id, uint32_t number,
                           uint64_t tid, uint64_t pid, struct weft_str name);

/* NULL without memory, or for processors beyond CTF_MOST_CPUS. */
struct ctf_cpu *ctf_cpu_of(struct ctf_threads *threads, uint32_t host_id, int32_t cpu);

/* An empty name is no name. False without memory. */
bool ctf_thread_name(struct ctf_threads *threads, uint32_t thread, struct weft_str name);

#endif
