/* SPDX-License-Identifier: MIT
 *
 * Finds the last kernel event of each host, from block summaries where these suffice, and, for tids
 * used by several threads, the first event of the next one. Computed once for a history, then O(1)
 * for a thread.
 */
#include "model/states/ends.h"

#include "base/checked.h"
#include "base/vec.h"
#include "model/states/machine.h"
#include "store/reader.h"

#include <stdlib.h>

/* ---- the last event of a kernel -------------------------------------------------------------- */

static uint32_t kernel_kinds(void)
{
    uint32_t kinds = 0;
    for (unsigned k = 0; k < WEFT_EVENT_KINDS; k++)
        kinds |= weft_event_is_kernel((enum weft_event_kind)k) ? UINT32_C(1) << k : 0;
    return kinds;
}

/* Stacks with a CPU are kernel events also; those without one are a program's. */
static bool is_of_kernel(const struct weft_event *event)
{
    return weft_event_is_kernel(event->kind) ||
           (event->kind == WEFT_EVENT_SAMPLE && event->cpu >= 0);
}

/* Loads a block of which something is wanted; `*n` 0 if it is damaged: readers of its thread get
 * the error. */
static enum weft_code block_load(const struct weft_trace *trace, uint32_t thread_id, uint64_t block,
                                 struct weft_event_buf *buf, const struct weft_event **events,
                                 size_t *n, struct weft_err *err)
{
    const enum weft_code code =
        weft_store_load_events(weft_trace_store(trace), thread_id, block, buf, events, n, NULL);
    if (code == WEFT_E_NOMEM)
        return weft_no_memory(err, "ends of threads");
    *n = code == WEFT_OK ? *n : 0;
    return WEFT_OK;
}

/* Summaries suffice for blocks of nothing but kernel events; `is_mixed`: the others, as far as they
 * reach beyond what is known. */
static enum weft_code last_find(const struct weft_trace *trace, uint32_t thread_id, bool is_mixed,
                                struct weft_event_buf *buf, uint64_t *last_ns, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(trace);
    const uint32_t kernel = kernel_kinds();
    const uint32_t wanted = kernel | UINT32_C(1) << WEFT_EVENT_SAMPLE;
    const uint64_t n_blocks = weft_store_thread_get(store, thread_id)->n_event_blocks;
    for (uint64_t k = n_blocks; k-- > 0;) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, thread_id, k);
        const struct weft_event *events;
        size_t n;
        if (info->last_ns <= *last_ns || !(info->kinds & wanted) ||
            ((info->kinds & ~kernel) != 0) != is_mixed)
            continue;
        if (!is_mixed) {
            *last_ns = info->last_ns;
            continue;
        }
        WEFT_TRY(block_load(trace, thread_id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n; i++)
            if (is_of_kernel(&events[i]) && events[i].time_ns > *last_ns)
                *last_ns = events[i].time_ns;
    }
    return WEFT_OK;
}

static uint64_t *known_of(const struct weft_state_ends *ends, uint32_t host_id)
{
    return &ends->known_ns.items[weft_map_find(ends->of_host, host_id)];
}

static enum weft_code known_make(struct weft_state_ends *ends, const struct weft_trace *trace,
                                 struct weft_event_buf *buf, struct weft_err *err)
{
    const uint32_t n = weft_trace_n_threads(trace);
    ends->of_host = weft_map_new();
    if (!ends->of_host)
        return weft_no_memory(err, "ends of threads");
    for (uint32_t id = 0; id < n; id++) {
        bool is_new;
        const uint32_t host_id = weft_trace_thread(trace, id)->info.host_id;
        if (weft_map_add(ends->of_host, host_id, &is_new) == WEFT_MAP_NONE)
            return weft_no_memory(err, "ends of threads");
        uint64_t *known_ns = is_new ? WEFT_VEC_PUSH(&ends->known_ns) : NULL;
        if (is_new && !known_ns)
            return weft_no_memory(err, "ends of threads");
    }
    enum weft_code code = WEFT_OK;
    for (unsigned is_mixed = 0; is_mixed < 2; is_mixed++)
        for (uint32_t id = 0; id < n && code == WEFT_OK; id++)
            code = last_find(trace, id, is_mixed, buf,
                             known_of(ends, weft_trace_thread(trace, id)->info.host_id), err);
    return code;
}

/* ---- tids that are used again ---------------------------------------------------------------- */

struct life {
    uint64_t tid, first_ns;
    uint32_t host_id, id;
};

static int by_identity(const void *a, const void *b)
{
    const struct life *x = a, *y = b;
    if (x->host_id != y->host_id)
        return x->host_id < y->host_id ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->first_ns != y->first_ns)
        return x->first_ns < y->first_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool is_one(const struct life *a, const struct life *b)
{
    return a->host_id == b->host_id && a->tid == b->tid;
}

/* The first kernel event of the thread; UINT64_MAX: none. */
static enum weft_code first_find(const struct weft_trace *trace, struct weft_event_buf *buf,
                                 struct life *life, struct weft_err *err)
{
    struct weft_store *store = weft_trace_store(trace);
    const uint64_t n_blocks = weft_store_thread_get(store, life->id)->n_event_blocks;
    life->first_ns = UINT64_MAX;
    if (weft_store_n_arrival_blocks(store, life->id) > 0)
        life->first_ns = weft_store_arrival_block_get(store, life->id, 0)->first_ns;
    for (uint64_t k = 0; k < n_blocks; k++) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, life->id, k);
        const struct weft_event *events;
        size_t n;
        if (info->first_ns >= life->first_ns || !(info->kinds & WEFT_MACHINE_KINDS))
            continue;
        if (!(info->kinds & ~WEFT_MACHINE_KINDS)) {
            life->first_ns = info->first_ns;
            continue;
        }
        WEFT_TRY(block_load(trace, life->id, k, buf, &events, &n, err));
        for (size_t i = 0; i < n; i++)
            if (WEFT_MACHINE_KINDS >> events[i].kind & 1)
                life->first_ns = weft_min_u64(life->first_ns, events[i].time_ns);
    }
    return WEFT_OK;
}

/* lives[0..n) have one tid. */
static enum weft_code next_make(struct weft_state_ends *ends, const struct weft_trace *trace,
                                struct weft_event_buf *buf, struct life *lives, size_t n,
                                struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n && code == WEFT_OK; i++)
        code = first_find(trace, buf, &lives[i], err);
    qsort(lives, n, sizeof *lives, by_identity);
    for (size_t i = 0; i + 1 < n; i++)
        ends->next_ns[lives[i].id] = lives[i + 1].first_ns;
    return code;
}

/* Threads whose tid others may have, too; few do. */
static enum weft_code shared_find(const struct weft_trace *trace, struct life *lives, size_t *n_out,
                                  struct weft_err *err)
{
    const uint32_t n = weft_trace_n_threads(trace);
    struct weft_map *of_tid = weft_map_new();
    uint32_t *counts = calloc((size_t)n + 1, sizeof *counts);
    uint32_t *places = calloc((size_t)n + 1, sizeof *places);
    bool is_good = of_tid && counts && places;
    for (uint32_t id = 0; is_good && id < n; id++) {
        const struct weft_thread_info *info = &weft_trace_thread(trace, id)->info;
        places[id] = weft_map_add(of_tid, (uint64_t)info->host_id << 32 ^ info->tid, NULL);
        is_good = places[id] != WEFT_MAP_NONE;
        if (is_good)
            counts[places[id]]++;
    }
    *n_out = 0;
    for (uint32_t id = 0; is_good && id < n; id++) {
        const struct weft_thread_info *info = &weft_trace_thread(trace, id)->info;
        if (counts[places[id]] > 1 && info->tid != 0) /* 0: an idle task for each CPU */
            lives[(*n_out)++] =
                (struct life){ .tid = info->tid, .host_id = info->host_id, .id = id };
    }
    weft_map_free(of_tid);
    free(counts);
    free(places);
    return is_good ? WEFT_OK : weft_no_memory(err, "ends of threads");
}

static enum weft_code nexts_make(struct weft_state_ends *ends, const struct weft_trace *trace,
                                 struct weft_event_buf *buf, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(trace);
    struct life *lives = calloc((size_t)n_threads + 1, sizeof *lives);
    size_t n = 0;
    ends->next_ns = calloc((size_t)n_threads + 1, sizeof *ends->next_ns);
    enum weft_code code = WEFT_OK;
    if (!lives || !ends->next_ns)
        code = weft_no_memory(err, "ends of threads");
    for (uint32_t id = 0; id < n_threads && code == WEFT_OK; id++)
        ends->next_ns[id] = UINT64_MAX;
    WEFT_THEN(code, shared_find(trace, lives, &n, err));
    if (n > 0)
        qsort(lives, n, sizeof *lives, by_identity);
    for (size_t from = 0, to; from < n && code == WEFT_OK; from = to) {
        for (to = from + 1; to < n && is_one(&lives[from], &lives[to]);)
            to++;
        code = next_make(ends, trace, buf, &lives[from], to - from, err);
    }
    free(lives);
    return code;
}

/* ---- all ------------------------------------------------------------------------------------- */

enum weft_code weft_state_ends_make(struct weft_state_ends *ends, const struct weft_trace *trace,
                                    struct weft_event_buf *buf, struct weft_err *err)
{
    if (ends->next_ns)
        return WEFT_OK;
    enum weft_code code = known_make(ends, trace, buf, err);
    WEFT_THEN(code, nexts_make(ends, trace, buf, err));
    if (code != WEFT_OK)
        weft_state_ends_fini(ends);
    return code;
}

struct weft_state_end weft_state_end_get(const struct weft_state_ends *ends,
                                         const struct weft_trace *trace, uint32_t thread_id)
{
    return (struct weft_state_end){
        .known_ns = *known_of(ends, weft_trace_thread(trace, thread_id)->info.host_id),
        .next_ns = ends->next_ns[thread_id],
    };
}

void weft_state_ends_fini(struct weft_state_ends *ends)
{
    free(ends->next_ns);
    weft_map_free(ends->of_host);
    WEFT_VEC_FINI(&ends->known_ns);
    *ends = (struct weft_state_ends){ 0 };
}
