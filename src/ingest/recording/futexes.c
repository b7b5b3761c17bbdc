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
    *futexes = (struct rec_futexes){ .of_wait = weft_map_new(),
                                     .of_call = weft_map_new(),
                                     .sites = weft_strtab_new() };
    return futexes->of_wait && futexes->of_call && futexes->sites;
}

void rec_futexes_fini(struct rec_futexes *futexes)
{
    weft_map_free(futexes->of_wait);
    weft_map_free(futexes->of_call);
    weft_strtab_free(futexes->sites);
    WEFT_VEC_FINI(&futexes->waits);
    WEFT_VEC_FINI(&futexes->calls);
    WEFT_VEC_FINI(&futexes->open);
}

/* Calls of x86-64 that stand for what the library of operations records; REC_KNOWN: none. */
static enum rec_known function_of(uint32_t call)
{
    static const struct {
        uint16_t call;
        uint8_t function;
    } functions[] = {
        { 0, REC_READ },      { 1, REC_WRITE },    { 7, REC_POLL },    { 17, REC_READ },
        { 18, REC_WRITE },    { 19, REC_READ },    { 20, REC_WRITE },  { 23, REC_POLL },
        { 35, REC_SLEEP },    { 42, REC_CONNECT }, { 43, REC_ACCEPT }, { 44, REC_SEND },
        { 45, REC_RECV },     { 46, REC_SEND },    { 47, REC_RECV },   { 61, REC_WAITPID },
        { 74, REC_FSYNC },    { 75, REC_FSYNC },   { 230, REC_SLEEP }, { 232, REC_EPOLL },
        { 247, REC_WAITPID }, { 270, REC_POLL },   { 271, REC_POLL },  { 281, REC_EPOLL },
        { 288, REC_ACCEPT },  { 295, REC_READ },   { 296, REC_WRITE }, { 299, REC_RECV },
        { 307, REC_SEND },    { 441, REC_EPOLL },
    };
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (functions[k].call == call)
            return (enum rec_known)functions[k].function;
    return REC_KNOWN;
}

bool rec_futex_is(const struct weft_kernel_record *record)
{
    const uint32_t kind = (uint32_t)(record->a >> 32), call = (uint32_t)record->a;
    if (record->payload_bytes < ARGUMENT_BYTES)
        return false;
    return call == CALL_FUTEX ? kind == WEFT_CALL_WAITED || kind == WEFT_CALL_WAKES
                              : kind == WEFT_CALL_WAITED && function_of(call) != REC_KNOWN;
}

/* ---- the survey -------------------------------------------------------------------------------
 */

static struct rec_futex futex_of(const uint8_t *payload, uint32_t pid)
{
    return (struct rec_futex){ .address = weft_load_u64(payload + 8),
                               .operation = (uint32_t)weft_load_u64(payload + 16),
                               .value = (uint32_t)weft_load_u64(payload + 24),
                               .pid = pid,
                               .function = REC_KNOWN };
}

/* Of its arguments the descriptor alone matters. */
static struct rec_futex call_of(uint32_t call, const uint8_t *payload, uint32_t pid)
{
    const enum rec_known function = function_of(call);
    const bool has_descriptor = function >= REC_READ && function != REC_POLL &&
                                function != REC_SLEEP && function != REC_WAITPID;
    return (struct rec_futex){ .address = has_descriptor ? weft_load_u64(payload + 8) : 0,
                               .pid = pid,
                               .function = function };
}

static uint64_t mix_of(const struct rec_futex *futex)
{
    const uint64_t words[] = { futex->address, (uint64_t)futex->pid << 32 | futex->operation,
                               (uint64_t)futex->function << 32 | futex->value };
    return XXH3_64bits(words, sizeof words);
}

bool rec_futexes_meet(struct rec_futexes *futexes, const struct weft_kernel_record *record,
                      const uint8_t *payload, uint32_t pid, uint32_t *index)
{
    const uint32_t call = (uint32_t)record->a;
    const struct rec_futex futex =
        call == CALL_FUTEX ? futex_of(payload, pid) : call_of(call, payload, pid);
    bool is_new;
    *index = weft_map_add(futexes->of_call, mix_of(&futex), &is_new);
    if (*index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&futexes->calls)))
        return false;
    if (is_new) {
        futexes->calls.items[*index] = futex;
        futexes->calls.items[*index].site = WEFT_ID_NONE;
    }
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

bool rec_futexes_see_site(struct rec_futexes *futexes, uint32_t tid, uint64_t left_ns,
                          struct weft_str site)
{
    const uint32_t wait = weft_map_find(futexes->of_wait, wait_key(tid, left_ns));
    struct rec_futex *futex =
        wait == WEFT_MAP_NONE ? NULL : &futexes->calls.items[futexes->waits.items[wait]];
    return !futex || site.n_bytes == 0 || futex->site != WEFT_ID_NONE ||
           weft_strtab_intern(futexes->sites, site, &futex->site, NULL) == WEFT_OK;
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
    if (futex->function != REC_KNOWN || !(futex->operation & PRIVATE))
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
        if (!futex->is_known && futex->function != REC_KNOWN)
            rec_names_meet_known(names, (enum rec_known)futex->function);
        else if (!futex->is_known)
            is_good = rec_names_meet_futex(names, futex->pid, futex->address,
                                           futex->site == WEFT_ID_NONE
                                               ? (struct weft_str){ 0 }
                                               : weft_strtab_get(futexes->sites, futex->site));
        futexes->n_delivered += !futex->is_known && futex->function == REC_KNOWN;
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

struct rec_futex_open *rec_futexes_open(struct rec_futexes *futexes, uint32_t thread)
{
    while (futexes->open.n <= thread)
        if (!WEFT_VEC_PUSH(&futexes->open))
            return NULL;
    return &futexes->open.items[thread];
}
