/* SPDX-License-Identifier: MIT
 *
 * The table of threads by (host, tid), with one entry for each generation of a reused tid, and of
 * CPUs by (host, number). A small direct-mapped cache answers most look-ups. After the survey the
 * table is sealed: the second pass takes the same steps and adds nothing.
 */
#include "kernel/threads.h"

#include "base/vec.h"
#include "schema/event.h"

#include <stdio.h>

bool kernel_threads_init(struct kernel_threads *threads)
{
    *threads = (struct kernel_threads){ .of_key = weft_map_new(), .names = weft_strtab_new() };
    return threads->of_key && threads->names;
}

void kernel_threads_fini(struct kernel_threads *threads)
{
    for (size_t k = 0; k < threads->n; k++)
        WEFT_VEC_FINI(&threads->items[k].stack);
    WEFT_VEC_FINI(threads);
    WEFT_VEC_FINI(&threads->current);
    WEFT_VEC_FINI(&threads->first);
    for (size_t h = 0; h < threads->hosts.n; h++)
        WEFT_VEC_FINI(&threads->hosts.items[h]);
    WEFT_VEC_FINI(&threads->hosts);
    weft_map_free(threads->of_key);
    weft_strtab_free(threads->names);
}

void kernel_threads_seal(struct kernel_threads *threads)
{
    threads->is_sealed = true;
    for (size_t k = 0; k < threads->n; k++) {
        struct kernel_thread *thread = &threads->items[k];
        thread->is_used = thread->is_leaving = thread->is_ended = false;
        thread->syscall = WEFT_ID_NONE;
        thread->stack.n = 0;
    }
    for (size_t k = 0; k < threads->current.n; k++)
        threads->current.items[k] = threads->first.items[k];
    for (size_t h = 0; h < threads->hosts.n; h++)
        for (size_t k = 0; k < threads->hosts.items[h].n; k++)
            threads->hosts.items[h].items[k].current = threads->hosts.items[h].items[k].first;
    threads->n_inferred = 0;
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { HOST_SHIFT = 48, IDLE_BIT = 47, PSEUDO_BIT = 46 };

/* A new thread at the end; false without memory. */
static bool thread_add(struct kernel_threads *threads, uint32_t key, uint32_t host_id, uint64_t tid,
                       uint32_t generation)
{
    struct kernel_thread *thread = threads->n < WEFT_ID_NONE ? WEFT_VEC_PUSH(threads) : NULL;
    if (!thread)
        return false;
    *thread = (struct kernel_thread){ .tid = tid,
                                      .host_id = host_id,
                                      .generation = generation,
                                      .name = WEFT_ID_NONE,
                                      .next = WEFT_ID_NONE,
                                      .thread_id = WEFT_ID_NONE,
                                      .key = key,
                                      .syscall = WEFT_ID_NONE };
    return true;
}

/* Index of the key; a new key gets its first thread. WEFT_MAP_NONE without memory. */
static uint32_t key_add(struct kernel_threads *threads, uint64_t key, uint32_t host_id,
                        uint64_t tid, uint32_t generation)
{
    const uint64_t slot = key % KERNEL_GUESSES;
    bool is_new;
    if (threads->guesses[slot].place > 0 && threads->guesses[slot].key == key)
        return threads->guesses[slot].place - 1;
    const uint32_t index = weft_map_add(threads->of_key, key, &is_new);
    if (index == WEFT_MAP_NONE)
        return index;
    if (!is_new) {
        threads->guesses[slot].key = key;
        threads->guesses[slot].place = index + 1;
        return index;
    }
    uint32_t *current = WEFT_VEC_PUSH(&threads->current);
    uint32_t *first = WEFT_VEC_PUSH(&threads->first);
    if (!current || !first || !thread_add(threads, index, host_id, tid, generation))
        return WEFT_MAP_NONE;
    *current = *first = (uint32_t)threads->n - 1;
    return index;
}

/* The tid goes to its next thread. */
static uint32_t renew(struct kernel_threads *threads, uint32_t index)
{
    const uint32_t before = threads->current.items[index];
    if (threads->items[before].next == WEFT_ID_NONE && threads->is_sealed)
        return before; /* its end is known only now: it has no other thread */
    if (threads->items[before].next == WEFT_ID_NONE) {
        const struct kernel_thread *old = &threads->items[before];
        if (!thread_add(threads, index, old->host_id, old->tid, old->generation + 1))
            return WEFT_ID_NONE;
        threads->items[before].next = (uint32_t)threads->n - 1;
    }
    return threads->current.items[index] = threads->items[before].next;
}

uint32_t kernel_thread_of(struct kernel_threads *threads, uint32_t host_id, uint64_t tid,
                          int32_t cpu, bool is_mention)
{
    const bool is_idle = tid == 0;
    const uint32_t place = cpu > 0 ? (uint32_t)cpu : 0;
    const uint64_t key = (uint64_t)host_id << HOST_SHIFT |
                         (is_idle ? UINT64_C(1) << IDLE_BIT | place : (uint32_t)tid);
    const uint32_t index = key_add(threads, key, host_id, (uint32_t)tid, is_idle ? place : 0);
    if (index == WEFT_MAP_NONE)
        return WEFT_ID_NONE;
    uint32_t number = threads->current.items[index];
    if (threads->items[number].is_ended && !is_mention && !is_idle)
        number = renew(threads, index);
    if (number != WEFT_ID_NONE)
        threads->items[number].is_used = true;
    return number;
}

uint32_t kernel_thread_fork(struct kernel_threads *threads, uint32_t host_id, uint64_t tid)
{
    const uint64_t key = (uint64_t)host_id << HOST_SHIFT | (uint32_t)tid;
    const uint32_t index = key_add(threads, key, host_id, (uint32_t)tid, 0);
    if (index == WEFT_MAP_NONE)
        return WEFT_ID_NONE;
    uint32_t number = threads->current.items[index];
    if (threads->items[number].is_used)
        number = renew(threads, index);
    if (number != WEFT_ID_NONE)
        threads->items[number].is_used = true;
    return number;
}

uint32_t kernel_thread_pseudo(struct kernel_threads *threads, uint32_t host_id, uint32_t number,
                              uint64_t tid, uint64_t pid, struct weft_str name)
{
    const uint64_t key = (uint64_t)host_id << HOST_SHIFT | UINT64_C(1) << PSEUDO_BIT | number;
    const uint32_t n_before = (uint32_t)threads->n;
    const uint32_t index = key_add(threads, key, host_id, tid, 0);
    if (index == WEFT_MAP_NONE)
        return WEFT_ID_NONE;
    const uint32_t thread = threads->current.items[index];
    threads->items[thread].is_used = true;
    if (thread == n_before) {
        threads->items[thread].pid = pid;
        if (!kernel_thread_name(threads, thread, name))
            return WEFT_ID_NONE;
    }
    return thread;
}

bool kernel_thread_name(struct kernel_threads *threads, uint32_t thread, struct weft_str name)
{
    const uint32_t known = threads->items[thread].name;
    if (name.n_bytes == 0 ||
        (known != WEFT_ID_NONE && weft_str_equal(weft_strtab_get(threads->names, known), name)))
        return true;
    return weft_strtab_intern(threads->names, name, &threads->items[thread].name, NULL) == WEFT_OK;
}

/* ---- CPUs ----------------------------------------------------------------------------------- */

struct kernel_cpu *kernel_cpu_add(struct kernel_threads *threads, uint32_t host_id, int32_t cpu)
{
    if (cpu < 0 || cpu >= KERNEL_MOST_CPUS || host_id >= KERNEL_MOST_HOSTS)
        return NULL;
    while (threads->hosts.n <= host_id)
        if (!WEFT_VEC_PUSH(&threads->hosts))
            return NULL;
    struct kernel_host *host = &threads->hosts.items[host_id];
    while (host->n <= (uint32_t)cpu) {
        struct kernel_cpu *place = WEFT_VEC_PUSH(host);
        if (!place)
            return NULL;
        *place = (struct kernel_cpu){ .current = WEFT_ID_NONE, .first = WEFT_ID_NONE };
    }
    return &host->items[cpu];
}
