/* SPDX-License-Identifier: MIT
 *
 * See futexes.h. The library records locks, conditions and semaphores by the address of the object,
 * and the futex is a word in it: those are left to it. What it does not see are words of other
 * runtimes, and all words of processes that it is not in.
 */
#include "ingest/recording/futexes.h"

#include "base/vec.h"
#include "kernel/bytes.h"

#include <xxhash.h>

enum {
    CALL_FUTEX = 202, /* of x86-64 */
    ARGUMENT_BYTES = 32,
    PRIVATE = 0x80,
    OBJECT_BYTES = 64, /* no object of the C library is larger */
    WORD_BYTES = 4,
};

bool rec_futexes_init(struct rec_futexes *futexes)
{
    *futexes = (struct rec_futexes){ .of_wait = weft_map_new(), .of_call = weft_map_new() };
    return futexes->of_wait && futexes->of_call;
}

void rec_futexes_fini(struct rec_futexes *futexes)
{
    weft_map_free(futexes->of_wait);
    weft_map_free(futexes->of_call);
    WEFT_VEC_FINI(&futexes->waits);
    WEFT_VEC_FINI(&futexes->calls);
    WEFT_VEC_FINI(&futexes->open);
}

bool rec_futex_is(const struct weft_kernel_record *record)
{
    const uint32_t kind = (uint32_t)(record->a >> 32);
    return (uint32_t)record->a == CALL_FUTEX && record->payload_bytes >= ARGUMENT_BYTES &&
           (kind == WEFT_CALL_WAITED || kind == WEFT_CALL_WAKES);
}

/* ---- the survey -------------------------------------------------------------------------------
 */

static struct rec_futex futex_of(const uint8_t *payload, uint32_t pid)
{
    return (struct rec_futex){ .address = weft_load_u64(payload + 8),
                               .operation = (uint32_t)weft_load_u64(payload + 16),
                               .value = (uint32_t)weft_load_u64(payload + 24),
                               .pid = pid };
}

static uint64_t mix_of(const struct rec_futex *futex)
{
    const uint64_t words[] = { futex->address, (uint64_t)futex->pid << 32 | futex->operation,
                               futex->value };
    return XXH3_64bits(words, sizeof words);
}

bool rec_futexes_meet(struct rec_futexes *futexes, const uint8_t *payload, uint32_t pid,
                      uint32_t *index)
{
    const struct rec_futex futex = futex_of(payload, pid);
    bool is_new;
    *index = weft_map_add(futexes->of_call, mix_of(&futex), &is_new);
    if (*index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&futexes->calls)))
        return false;
    if (is_new)
        futexes->calls.items[*index] = futex;
    return true;
}

static uint64_t wait_key(uint32_t tid, uint64_t left_ns)
{
    return left_ns ^ (uint64_t)tid << 40 ^ (uint64_t)tid << 62;
}

bool rec_futexes_wait(struct rec_futexes *futexes, uint32_t tid, uint64_t left_ns, uint32_t index)
{
    bool is_new;
    const uint32_t wait = weft_map_add(futexes->of_wait, wait_key(tid, left_ns), &is_new);
    if (wait == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&futexes->waits)))
        return false;
    futexes->waits.items[wait] = index;
    return true;
}

/* Processes with rings of the library of operations. NULL without memory. */
static struct weft_map *find_ringed(const struct rec_rings *rings)
{
    struct weft_map *pids = weft_map_new();
    for (size_t k = 0; pids && k < rings->n; k++) {
        if (weft_map_add(pids, rings->items[k].true_pid, NULL) == WEFT_MAP_NONE) {
            weft_map_free(pids);
            return NULL;
        }
    }
    return pids;
}

/* A word in an object that the library has recorded; or of the end of a thread, which it joins. */
static bool is_known(const struct rec_futex *futex, const struct weft_map *ringed,
                     const struct rec_names *names)
{
    if (weft_map_find(ringed, futex->pid) == WEFT_MAP_NONE)
        return false;
    if (!(futex->operation & PRIVATE))
        return true;
    for (uint64_t back = 0; back < OBJECT_BYTES && back <= futex->address; back += WORD_BYTES)
        if (rec_place_is_met(&names->objects, futex->pid, futex->address - back))
            return true;
    return false;
}

bool rec_futexes_end_survey(struct rec_futexes *futexes, const struct rec_rings *rings,
                            struct rec_names *names)
{
    struct weft_map *ringed = find_ringed(rings);
    bool is_good = ringed != NULL;
    for (size_t k = 0; is_good && k < futexes->calls.n; k++)
        futexes->calls.items[k].is_known = is_known(&futexes->calls.items[k], ringed, names);
    for (size_t k = 0; is_good && k < futexes->calls.n; k++) {
        const struct rec_futex *futex = &futexes->calls.items[k];
        if (!futex->is_known)
            is_good = rec_names_meet(names, &names->objects, futex->pid, futex->address);
        futexes->n_delivered += !futex->is_known;
    }
    weft_map_free(ringed);
    return is_good;
}

/* ---- calls ------------------------------------------------------------------------------------
 */

const struct rec_futex *rec_futexes_of_wait(const struct rec_futexes *futexes, uint32_t tid,
                                            uint64_t left_ns)
{
    const uint32_t wait = weft_map_find(futexes->of_wait, wait_key(tid, left_ns));
    const struct rec_futex *futex =
        wait == WEFT_MAP_NONE ? NULL : &futexes->calls.items[futexes->waits.items[wait]];
    return futex && !futex->is_known ? futex : NULL;
}

const struct rec_futex *rec_futexes_of(struct rec_futexes *futexes, const uint8_t *payload,
                                       uint32_t pid)
{
    const struct rec_futex futex = futex_of(payload, pid);
    const uint32_t index = weft_map_find(futexes->of_call, mix_of(&futex));
    return index == WEFT_MAP_NONE || futexes->calls.items[index].is_known
               ? NULL
               : &futexes->calls.items[index];
}

uint64_t *rec_futexes_open(struct rec_futexes *futexes, uint32_t thread)
{
    while (futexes->open.n <= thread)
        if (!WEFT_VEC_PUSH(&futexes->open))
            return NULL;
    return &futexes->open.items[thread];
}
