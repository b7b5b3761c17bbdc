/* SPDX-License-Identifier: MIT
 *
 * Two threads of different traces are one if host, tid and pid agree, their times overlap, and one
 * trace has its calls and the other its kernel events. Candidates are the threads of one tid, so
 * the cost is linear in practice. Threads are announced in the order of the traces, with
 * generations that stay unique.
 */
#include "import/merge_threads.h"

#include "base/checked.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

/* What a trace contains of a thread; traces whose threads are joined contain different things. */
enum tells { TELLS_CALLS = 1, TELLS_KERNEL = 2 };

#define NONE UINT32_MAX

/* A thread of the merged trace. */
struct thread {
    struct weft_thread_info info;
    uint64_t first_ns, last_ns; /* on the merged clock */
    size_t last_trace;          /* that recorded it */
    uint32_t next;              /* with the same tid; NONE: the last */
    uint8_t tells;
    bool is_named_by_kernel;
};

/* Threads of one tid. */
struct chain {
    uint32_t first, last;
};

struct merger {
    const struct weft_replay *replays;
    const uint32_t *hosts;
    uint32_t **thread_ids;
    struct {
        struct thread *items;
        size_t n, cap;
    } threads;
    struct {
        struct chain *items; /* by place of a tid */
        size_t n, cap;
    } of_tid;
    struct weft_map *tids;
    struct weft_strtab *identities; /* (tid, pid, host) */
    struct {
        uint32_t *items; /* by id in identities: above all that are taken */
        size_t n, cap;
    } next_generation;
    struct weft_map *generations; /* id in identities and generation: taken */
};

/* ---- which are one --------------------------------------------------------------------------- */

static bool is_of_kernel(const struct weft_store *store)
{
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        if (meta->events_of_kind[kind] && weft_event_is_kernel((enum weft_event_kind)kind))
            return true;
    return false;
}

static struct thread thread_make(const struct merger *merger, size_t trace, uint32_t id)
{
    const struct weft_replay *replay = &merger->replays[trace];
    const struct weft_store_thread *from = weft_store_thread_get(replay->store, id);
    const bool is_kernel = is_of_kernel(replay->store);
    struct thread thread = {
        .info = from->info,
        .first_ns = weft_replay_time(replay, id, from->cut_calls ? 0 : from->first_ns),
        .last_ns = weft_replay_time(replay, id, from->last_ns),
        .last_trace = trace,
        .next = NONE,
        .is_named_by_kernel = is_kernel,
    };
    thread.info.host_id += merger->hosts[trace];
    if (from->calls + from->cut_calls > 0)
        thread.tells |= TELLS_CALLS;
    if (is_kernel)
        thread.tells |= TELLS_KERNEL;
    return thread;
}

/* For how long both were seen, and one ns more; 0: they are not one. */
static uint64_t common_ns(const struct thread *a, const struct thread *b)
{
    const uint64_t first_ns = weft_max_u64(a->first_ns, b->first_ns);
    const uint64_t last_ns = weft_min_u64(a->last_ns, b->last_ns);
    const bool is_same = a->info.host_id == b->info.host_id && a->info.tid == b->info.tid &&
                         (a->info.pid == b->info.pid || !a->info.pid || !b->info.pid);
    if (!is_same || (a->tells & b->tells) || a->last_trace == b->last_trace || first_ns > last_ns)
        return 0;
    return weft_add_sat_u64(last_ns - first_ns, 1);
}

/* The thread that it is; NONE: a new one. Tid 0 is that of the idle tasks, and is never joined. */
static uint32_t thread_find(const struct merger *merger, uint32_t first,
                            const struct thread *thread)
{
    uint32_t best = NONE;
    uint64_t best_ns = 0;
    for (uint32_t i = first; i != NONE && thread->info.tid; i = merger->threads.items[i].next) {
        const uint64_t ns = common_ns(&merger->threads.items[i], thread);
        if (ns > best_ns) {
            best_ns = ns;
            best = i;
        }
    }
    return best;
}

/* A program's own names of its threads are not cut, unlike the kernel's. */
static void thread_join(struct thread *into, const struct thread *thread)
{
    const bool is_better = into->is_named_by_kernel && !thread->is_named_by_kernel;
    if (thread->info.name.n_bytes && (is_better || !into->info.name.n_bytes)) {
        into->info.name = thread->info.name;
        into->is_named_by_kernel = thread->is_named_by_kernel;
    }
    if (!into->info.pid)
        into->info.pid = thread->info.pid;
    into->info.is_foreign &= thread->info.is_foreign;
    into->first_ns = weft_min_u64(into->first_ns, thread->first_ns);
    into->last_ns = weft_max_u64(into->last_ns, thread->last_ns);
    into->last_trace = thread->last_trace;
    into->tells |= thread->tells;
}

static enum weft_code thread_add(struct merger *merger, struct chain *chain,
                                 const struct thread *thread, uint32_t *id, struct weft_err *err)
{
    struct thread *made = WEFT_VEC_PUSH(&merger->threads);
    if (!made)
        return weft_no_memory(err, "threads");
    *id = (uint32_t)merger->threads.n - 1;
    *made = *thread;
    if (chain->first == NONE)
        chain->first = *id;
    else
        merger->threads.items[chain->last].next = *id;
    chain->last = *id;
    return WEFT_OK;
}

static struct chain *chain_of(struct merger *merger, uint64_t tid)
{
    bool is_new;
    const uint32_t place = weft_map_add(merger->tids, tid, &is_new);
    if (place == WEFT_MAP_NONE)
        return NULL;
    if (!is_new)
        return &merger->of_tid.items[place];
    struct chain *chain = WEFT_VEC_PUSH(&merger->of_tid);
    if (chain)
        *chain = (struct chain){ NONE, NONE };
    return chain;
}

static enum weft_code take(struct merger *merger, size_t trace, uint32_t id, bool joins,
                           struct weft_err *err)
{
    const struct thread thread = thread_make(merger, trace, id);
    uint32_t *to = &merger->thread_ids[trace][id];
    struct chain *chain = chain_of(merger, thread.info.tid);
    if (!chain)
        return weft_no_memory(err, "threads");
    *to = joins ? thread_find(merger, chain->first, &thread) : NONE;
    if (*to == NONE)
        return thread_add(merger, chain, &thread, to, err);
    thread_join(&merger->threads.items[*to], &thread);
    return WEFT_OK;
}

/* ---- identities ------------------------------------------------------------------------------ */

/* (host, pid, tid) with its generation, as far as it is not unique. */
struct identity {
    uint64_t tid, pid;
    uint32_t host_id;
};

static enum weft_code generation_choose(struct merger *merger, struct weft_thread_info *info,
                                        struct weft_err *err)
{
    const struct identity key = { .tid = info->tid, .pid = info->pid, .host_id = info->host_id };
    char bytes[sizeof key.tid + sizeof key.pid + sizeof key.host_id];
    uint32_t id;
    memcpy(bytes, &key.tid, sizeof key.tid);
    memcpy(bytes + sizeof key.tid, &key.pid, sizeof key.pid);
    memcpy(bytes + sizeof key.tid + sizeof key.pid, &key.host_id, sizeof key.host_id);
    WEFT_TRY(
        weft_strtab_intern(merger->identities, (struct weft_str){ bytes, sizeof bytes }, &id, err));
    while (merger->next_generation.n <= id)
        if (!WEFT_VEC_PUSH(&merger->next_generation))
            return weft_no_memory(err, "threads");
    uint32_t *next = &merger->next_generation.items[id];
    if (weft_map_find(merger->generations, (uint64_t)id << 32 | info->generation) != WEFT_MAP_NONE)
        info->generation = *next;
    if (info->generation >= *next)
        *next = info->generation + 1;
    const uint64_t taken = (uint64_t)id << 32 | info->generation;
    return weft_map_add(merger->generations, taken, NULL) == WEFT_MAP_NONE
               ? weft_no_memory(err, "threads")
               : WEFT_OK;
}

static enum weft_code announce(struct merger *merger, struct weft_sink *sink, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < merger->threads.n; i++) {
        struct weft_thread_info *info = &merger->threads.items[i].info;
        uint32_t id = 0;
        code = generation_choose(merger, info, err);
        WEFT_THEN(code, sink->ops->thread(sink, info, &id, err));
    }
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool merger_init(struct merger *merger)
{
    merger->tids = weft_map_new();
    merger->generations = weft_map_new();
    merger->identities = weft_strtab_new();
    return merger->tids && merger->generations && merger->identities;
}

static void merger_fini(struct merger *merger)
{
    WEFT_VEC_FINI(&merger->threads);
    WEFT_VEC_FINI(&merger->of_tid);
    WEFT_VEC_FINI(&merger->next_generation);
    weft_map_free(merger->tids);
    weft_map_free(merger->generations);
    weft_strtab_free(merger->identities);
}

enum weft_code weft_merge_threads(const struct weft_replay *replays, size_t n_replays,
                                  const uint32_t *hosts, bool joins, uint32_t **thread_ids,
                                  struct weft_sink *sink, struct weft_err *err)
{
    struct merger merger = { .replays = replays, .hosts = hosts, .thread_ids = thread_ids };
    enum weft_code code = merger_init(&merger) ? WEFT_OK : weft_no_memory(err, "threads");
    for (size_t k = 0; k < n_replays; k++)
        for (uint32_t id = 0; id < weft_store_meta_get(replays[k].store)->n_threads; id++)
            WEFT_THEN(code, take(&merger, k, id, joins, err));
    WEFT_THEN(code, announce(&merger, sink, err));
    merger_fini(&merger);
    return code;
}
