/* SPDX-License-Identifier: MIT
 *
 * Detectors on tables that are already summed (producers and workers, idle threads, imbalance,
 * short work), the sentences of all patterns, and their order by cost. Patterns that need the order
 * of waits come from turns.c.
 */
#include "analysis/interplay/patterns.h"

#include "analysis/interplay/turns.h"
#include "base/room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Thresholds, as docs/analyses/interplay.md gives them. */
enum {
    FARMER_WORKERS = 2,
    FARMER_SHARE = 80, /* per cent of what a worker waited */
    IDLE_SHARE = 95,   /* per cent of a life */
    ALL_ALONG_SHARE = 95,
    BALANCE_FACTOR = 2, /* the busiest to the least busy */
    BALANCE_SHARE = 10, /* per cent of a life that they differ */
    SHORT_WAITS = 5,
    SHORT_SHARE = 80,
    FIRST_OF_KIND = 3, /* patterns that stand before those of other kinds, if they cost more */
    NAME_BYTES = 48,
    TEXT_BYTES = 640,
};

struct job {
    const struct weft_interplay *interplay;
    const uint8_t *is_kept;
    struct weft_interplay_names *names;
    struct weft_interplay_table *table;
    struct {
        struct weft_interplay_pattern *items;
        size_t n, cap;
    } patterns;
    uint64_t *ns;     /* by thread: scratch, zero between uses */
    uint32_t *counts; /* likewise */
    uint32_t *farmer; /* by thread: whose worker it is, or WEFT_ID_NONE */
    struct {
        uint32_t *items;
        size_t n, cap;
    } group;
    struct {
        uint64_t *items;
        size_t n, cap;
    } first_ns, second_ns;
};

/* ---- texts ----------------------------------------------------------------------------------- */

struct small {
    char text[80];
};

static struct small time_text(uint64_t ns)
{
    static const struct {
        uint64_t unit_ns;
        const char *name;
    } units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "µs" } };
    struct small small;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ns >= units[i].unit_ns) {
            const double value = (double)ns / (double)units[i].unit_ns;
            (void)snprintf(small.text, sizeof small.text, "%.*f %s",
                           value < 10    ? 2
                           : value < 100 ? 1
                                         : 0,
                           value, units[i].name);
            return small;
        }
    (void)snprintf(small.text, sizeof small.text, "%" PRIu64 " ns", ns);
    return small;
}

/* Three digits, as everywhere. */
static struct small share_text(double share)
{
    const double percent = 100 * share;
    struct small small;
    (void)snprintf(small.text, sizeof small.text, "%.*f %%",
                   percent < 9.995   ? 2
                   : percent < 99.95 ? 1
                                     : 0,
                   percent);
    return small;
}

static struct small thread_text(const struct job *job, uint32_t thread_id)
{
    const struct weft_thread_info *info =
        &weft_trace_thread(job->interplay->trace, thread_id)->info;
    struct small small;
    size_t n = info->name.n_bytes;
    if (n > NAME_BYTES)
        for (n = NAME_BYTES; n > 0 && ((unsigned char)info->name.bytes[n] & 0xc0) == 0x80;)
            n--;
    (void)snprintf(small.text, sizeof small.text, "%.*s (%" PRIu64 ")", (int)n, info->name.bytes,
                   info->tid);
    return small;
}

static double share_of(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

/* Adds a pattern; `others` are the members of the group but `thread_id`. */
static enum weft_code add(struct job *job, const struct weft_interplay_pattern *made,
                          const char *text, struct weft_err *err)
{
    struct weft_interplay_pattern *pattern = WEFT_ROOM_PUSH(&job->patterns);
    struct weft_arena *arena = job->table->arena;
    if (!pattern)
        return weft_no_memory(err, "patterns");
    *pattern = *made;
    pattern->text = weft_arena_copy(arena, weft_str_of(text));
    pattern->others = WEFT_ARENA_NEW(arena, job->group.n, uint32_t);
    for (size_t i = 0; pattern->others && i < job->group.n; i++)
        if (job->group.items[i] != made->thread_id)
            pattern->others[pattern->n_others++] = job->group.items[i];
    return pattern->text.bytes && pattern->others ? WEFT_OK : weft_no_memory(err, "patterns");
}

static enum weft_code join_group(struct job *job, uint32_t thread_id, struct weft_err *err)
{
    uint32_t *place = WEFT_ROOM_PUSH(&job->group);
    if (!place)
        return weft_no_memory(err, "patterns");
    *place = thread_id;
    return WEFT_OK;
}

/* ---- what waits are for ---------------------------------------------------------------------- */

static bool is_signalled(uint8_t kind)
{
    return kind == WEFT_SHARED_CONDITION || kind == WEFT_SHARED_SEMAPHORE ||
           kind == WEFT_SHARED_FUTEX || kind == WEFT_SHARED_OTHER || kind == WEFT_SHARED_FILES;
}

/* Wakeups that only kernel events show count as work given to another thread only within a process.
 */
static bool is_told(const struct job *job, const struct weft_wait *wait)
{
    const struct weft_trace *trace = job->interplay->trace;
    if (!(wait->flags & WEFT_CORRESPONDENCE_NO_OBJECT))
        return true;
    return wait->releaser_id != WEFT_ID_NONE &&
           weft_trace_thread(trace, wait->waiter_id)->info.pid ==
               weft_trace_thread(trace, wait->releaser_id)->info.pid;
}

static bool touches(const struct job *job, const struct weft_wait *wait)
{
    return weft_interplay_touches(wait->start_ns, wait->end_ns, job->table->from_ns,
                                  job->table->to_ns);
}

static uint64_t inside(const struct job *job, const struct weft_wait *wait)
{
    return weft_interplay_inside(wait->start_ns, wait->end_ns, job->table->from_ns,
                                 job->table->to_ns);
}

static uint64_t life_of(const struct weft_interplay_thread *thread)
{
    return thread->last_ns - thread->first_ns;
}

static uint64_t busy_of(const struct weft_interplay_thread *thread)
{
    const uint64_t life_ns = life_of(thread);
    return life_ns > thread->wait_ns ? life_ns - thread->wait_ns : 0;
}

/* The thread for which a thread waited longest in waits that are signalled, and its share of them.
 */
static uint32_t main_signaller(struct job *job, const struct weft_interplay_thread *thread,
                               uint64_t *ns, uint64_t *count, uint64_t *all_ns)
{
    const struct weft_wait *waits = job->interplay->waits.items;
    size_t first, end;
    uint32_t best = WEFT_ID_NONE;
    *ns = *count = *all_ns = 0;
    weft_interplay_waits_of(job->interplay, thread->thread_id, &first, &end);
    for (size_t i = first; i < end; i++) {
        if (!is_signalled(waits[i].kind) || waits[i].releaser_id == WEFT_ID_NONE ||
            !is_told(job, &waits[i]) || !touches(job, &waits[i]))
            continue;
        job->ns[waits[i].releaser_id] += inside(job, &waits[i]);
        job->counts[waits[i].releaser_id]++;
        *all_ns += inside(job, &waits[i]);
        if (best == WEFT_ID_NONE || job->ns[waits[i].releaser_id] > job->ns[best])
            best = waits[i].releaser_id;
    }
    if (best != WEFT_ID_NONE) {
        *ns = job->ns[best];
        *count = job->counts[best];
    }
    for (size_t i = first; i < end; i++)
        if (waits[i].releaser_id != WEFT_ID_NONE)
            job->ns[waits[i].releaser_id] = job->counts[waits[i].releaser_id] = 0;
    return best;
}

/* ---- farmers --------------------------------------------------------------------------------- */

/* Rows are in the order of threads. */
static const struct weft_interplay_thread *thread_row(const struct job *job, uint32_t thread_id)
{
    size_t low = 0, high = job->table->n_threads;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (job->table->threads[middle].thread_id < thread_id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < job->table->n_threads && job->table->threads[low].thread_id == thread_id
               ? &job->table->threads[low]
               : NULL;
}

/* `workers` are places of its workers in the table's threads. */
static enum weft_code name_farmer(struct job *job, uint32_t farmer, const uint32_t *workers,
                                  size_t n_workers, struct weft_err *err)
{
    char text[TEXT_BYTES];
    uint64_t count = 0, wait_ns = 0, life_ns = 0;
    job->group.n = 0;
    for (size_t i = 0; i < n_workers; i++) {
        const struct weft_interplay_thread *thread = &job->table->threads[workers[i]];
        uint64_t ns, n, all_ns;
        (void)main_signaller(job, thread, &ns, &n, &all_ns);
        WEFT_TRY(join_group(job, thread->thread_id, err));
        count += n;
        wait_ns += ns;
        life_ns += life_of(thread);
    }
    (void)snprintf(text, sizeof text,
                   "%s feeds %zu threads: it ended %" PRIu64 " of their waits, %s (%s of lifetime)",
                   thread_text(job, farmer).text, job->group.n, count, time_text(wait_ns).text,
                   share_text(share_of(wait_ns, life_ns)).text);
    const struct weft_interplay_pattern made = { .kind = WEFT_PATTERN_FARMER,
                                                 .thread_id = farmer,
                                                 .object = WEFT_ID_NONE,
                                                 .from_ns = job->table->from_ns,
                                                 .to_ns = job->table->to_ns,
                                                 .count = count,
                                                 .value_ns = wait_ns,
                                                 .share = share_of(wait_ns, life_ns) };
    return add(job, &made, text, err);
}

/* Members of the group differ in how long they do not wait. */
static enum weft_code name_imbalance(struct job *job, uint32_t farmer, struct weft_err *err)
{
    const struct weft_interplay_thread *most = NULL, *least = NULL;
    char text[TEXT_BYTES];
    for (size_t i = 0; i < job->group.n; i++) {
        const struct weft_interplay_thread *thread = thread_row(job, job->group.items[i]);
        if (!thread)
            continue;
        most = !most || busy_of(thread) > busy_of(most) ? thread : most;
        least = !least || busy_of(thread) < busy_of(least) ? thread : least;
    }
    if (!most || most == least || job->group.n < FARMER_WORKERS ||
        busy_of(most) < BALANCE_FACTOR * busy_of(least) ||
        (busy_of(most) - busy_of(least)) * 100 < life_of(most) * BALANCE_SHARE)
        return WEFT_OK;
    (void)snprintf(text, sizeof text, "%s spreads work unevenly: %s works for %s, %s for %s",
                   thread_text(job, farmer).text, thread_text(job, most->thread_id).text,
                   time_text(busy_of(most)).text, thread_text(job, least->thread_id).text,
                   time_text(busy_of(least)).text);
    const struct weft_interplay_pattern made = {
        .kind = WEFT_PATTERN_IMBALANCE,
        .thread_id = most->thread_id,
        .object = WEFT_ID_NONE,
        .from_ns = job->table->from_ns,
        .to_ns = job->table->to_ns,
        .count = job->group.n,
        .value_ns = busy_of(most),
        .before_ns = busy_of(least),
        .share = share_of(busy_of(most), life_of(most)),
    };
    return add(job, &made, text, err);
}

/* Places in the table's threads; those of one farmer beside each other. */
static int by_farmer(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const uint32_t x = job->farmer[job->table->threads[i].thread_id];
    const uint32_t y = job->farmer[job->table->threads[j].thread_id];
    return x != y ? (x < y ? -1 : 1) : (i > j) - (i < j);
}

/* Threads that have a producer: places in `workers`. */
static size_t find_workers(struct job *job, uint32_t *workers)
{
    size_t n = 0;
    for (uint32_t i = 0; i < job->table->n_threads; i++) {
        const struct weft_interplay_thread *thread = &job->table->threads[i];
        uint64_t ns, count, all_ns;
        const uint32_t best = main_signaller(job, thread, &ns, &count, &all_ns);
        if (best == WEFT_ID_NONE || ns * 100 < all_ns * FARMER_SHARE || ns * 2 < thread->wait_ns)
            continue;
        job->farmer[thread->thread_id] = best;
        workers[n++] = i;
    }
    weft_room_sort_r(workers, n, sizeof *workers, by_farmer, job);
    return n;
}

static enum weft_code find_farmers(struct job *job, struct weft_err *err)
{
    const struct weft_interplay_thread *threads = job->table->threads;
    uint32_t *workers = weft_room_new(job->table->n_threads + 1, sizeof *workers);
    const size_t n = workers ? find_workers(job, workers) : 0;
    enum weft_code code = workers ? WEFT_OK : weft_no_memory(err, "patterns");
    for (size_t from = 0, to = 0; from < n && code == WEFT_OK; from = to) {
        const uint32_t farmer = job->farmer[threads[workers[from]].thread_id];
        for (to = from + 1; to < n && job->farmer[threads[workers[to]].thread_id] == farmer;)
            to++;
        if (to - from < FARMER_WORKERS) {
            for (size_t i = from; i < to; i++)
                job->farmer[threads[workers[i]].thread_id] = WEFT_ID_NONE;
            continue;
        }
        code = name_farmer(job, farmer, &workers[from], to - from, err);
        WEFT_THEN(code, name_imbalance(job, farmer, err));
    }
    weft_room_free(workers);
    return code;
}

/* ---- those that hardly do anything ----------------------------------------------------------- */

static const struct weft_wait *longest_wait(const struct job *job,
                                            const struct weft_interplay_thread *thread)
{
    const struct weft_wait *waits = job->interplay->waits.items, *best = NULL;
    size_t first, end;
    weft_interplay_waits_of(job->interplay, thread->thread_id, &first, &end);
    for (size_t i = first; i < end; i++)
        if (touches(job, &waits[i]) && (!best || inside(job, &waits[i]) > inside(job, best)))
            best = &waits[i];
    return best;
}

static enum weft_code name_unbounded(struct job *job, const struct weft_interplay_thread *thread,
                                     const struct weft_wait *wait, struct weft_err *err)
{
    char text[TEXT_BYTES];
    uint32_t object, function_id;
    const struct weft_str function =
        weft_interplay_function_of(job->interplay, wait->wait_site, &function_id);
    if (!weft_interplay_name_object(job->names, wait->object, &object))
        return weft_no_memory(err, "patterns");
    (void)snprintf(text, sizeof text, "%s waits in %.*s for %s (%s of lifetime), no timeout%s",
                   thread_text(job, thread->thread_id).text,
                   (int)(function.n_bytes < 100 ? function.n_bytes : 100), function.bytes,
                   time_text(inside(job, wait)).text,
                   share_text(share_of(inside(job, wait), life_of(thread))).text,
                   wait->flags & WEFT_CORRESPONDENCE_CUT_END ? ", never woken" : "");
    const struct weft_interplay_pattern made = {
        .kind = WEFT_PATTERN_UNBOUNDED,
        .thread_id = thread->thread_id,
        .object = object,
        .from_ns = wait->start_ns,
        .to_ns = wait->end_ns,
        .count = 1,
        .value_ns = inside(job, wait),
        .share = share_of(inside(job, wait), life_of(thread)),
    };
    job->group.n = 0;
    return add(job, &made, text, err);
}

static enum weft_code name_idle(struct job *job, const struct weft_interplay_thread *thread,
                                struct weft_err *err)
{
    char text[TEXT_BYTES];
    const uint32_t farmer = job->farmer[thread->thread_id];
    (void)snprintf(text, sizeof text,
                   "%s is idle %s of its lifetime: %s of work in %" PRIu64 " wake-ups%s%s",
                   thread_text(job, thread->thread_id).text,
                   share_text(share_of(thread->wait_ns, life_of(thread))).text,
                   time_text(busy_of(thread)).text, thread->waits,
                   farmer != WEFT_ID_NONE ? "; spare worker of " : "",
                   farmer != WEFT_ID_NONE ? thread_text(job, farmer).text : "");
    const struct weft_interplay_pattern made = {
        .kind = WEFT_PATTERN_IDLE_WORKER,
        .thread_id = thread->thread_id,
        .object = WEFT_ID_NONE,
        .from_ns = thread->first_ns,
        .to_ns = thread->last_ns,
        .count = thread->waits,
        .value_ns = busy_of(thread),
        .share = share_of(thread->wait_ns, life_of(thread)),
    };
    job->group.n = 0;
    enum weft_code code = farmer != WEFT_ID_NONE ? join_group(job, farmer, err) : WEFT_OK;
    return code == WEFT_OK ? add(job, &made, text, err) : code;
}

static enum weft_code find_idle(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < job->table->n_threads && code == WEFT_OK; i++) {
        const struct weft_interplay_thread *thread = &job->table->threads[i];
        const struct weft_wait *wait = longest_wait(job, thread);
        const uint64_t life_ns = life_of(thread);
        if (!wait || life_ns == 0 || !is_signalled(wait->kind) ||
            wait->flags & WEFT_CORRESPONDENCE_NO_OBJECT)
            continue;
        if (inside(job, wait) >= life_ns - life_ns / 100 * (100 - ALL_ALONG_SHARE) &&
            !(wait->flags & WEFT_CORRESPONDENCE_TIMED))
            code = name_unbounded(job, thread, wait, err);
        else if (thread->wait_ns >= life_ns - life_ns / 100 * (100 - IDLE_SHARE) &&
                 wait->releaser_id != WEFT_ID_NONE)
            code = name_idle(job, thread, err);
    }
    return code;
}

/* ---- work that is not worth waking for --------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t median(uint64_t *items, size_t n)
{
    weft_room_sort(items, n, sizeof *items, by_number);
    return items[n / 2];
}

static enum weft_code short_work_of(struct job *job, const struct weft_interplay_thread *thread,
                                    struct weft_err *err)
{
    const struct weft_wait *waits = job->interplay->waits.items;
    char text[TEXT_BYTES];
    size_t first, end, n_short = 0;
    job->first_ns.n = job->second_ns.n = 0;
    weft_interplay_waits_of(job->interplay, thread->thread_id, &first, &end);
    for (size_t i = first; i + 1 < end; i++) {
        if (!is_signalled(waits[i].kind) || waits[i].releaser_id == WEFT_ID_NONE ||
            !is_told(job, &waits[i]) || !touches(job, &waits[i]) ||
            waits[i + 1].start_ns < waits[i].end_ns)
            continue;
        uint64_t *notify = WEFT_ROOM_PUSH(&job->first_ns), *work = WEFT_ROOM_PUSH(&job->second_ns);
        if (!notify || !work)
            return weft_no_memory(err, "patterns");
        *notify = waits[i].end_ns - waits[i].release_ns;
        *work = waits[i + 1].start_ns - waits[i].end_ns;
        n_short += *work < *notify;
    }
    const size_t n = job->first_ns.n;
    if (n < SHORT_WAITS || n_short * 100 < n * SHORT_SHARE)
        return WEFT_OK;
    const uint64_t notify_ns = median(job->first_ns.items, n);
    const uint64_t work_ns = median(job->second_ns.items, n);
    (void)snprintf(text, sizeof text,
                   "%s: %s to wake it, then %s of work (medians), in %zu of %zu waits",
                   thread_text(job, thread->thread_id).text, time_text(notify_ns).text,
                   time_text(work_ns).text, n_short, n);
    const struct weft_interplay_pattern made = { .kind = WEFT_PATTERN_SHORT_WORK,
                                                 .thread_id = thread->thread_id,
                                                 .object = WEFT_ID_NONE,
                                                 .from_ns = thread->first_ns,
                                                 .to_ns = thread->last_ns,
                                                 .count = n_short,
                                                 .value_ns = work_ns,
                                                 .before_ns = notify_ns,
                                                 .share = share_of(n_short, n) };
    job->group.n = 0;
    if (thread->main_releaser_id != WEFT_ID_NONE) {
        WEFT_TRY(join_group(job, thread->main_releaser_id, err));
    }
    return add(job, &made, text, err);
}

static enum weft_code find_short_work(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < job->table->n_threads && code == WEFT_OK; i++)
        code = short_work_of(job, &job->table->threads[i], err);
    return code;
}

/* ---- what others find ------------------------------------------------------------------------ */

/* What a pattern is, in one sentence. */
static void turns_text(const struct job *job, const struct weft_turns *turns, char text[TEXT_BYTES])
{
    const struct small who = thread_text(job, turns->thread_id), value = time_text(turns->value_ns);
    const size_t n_others = turns->n_threads ? turns->n_threads - 1 : 0;
    switch (turns->kind) {
    case WEFT_PATTERN_LEADER:
        (void)snprintf(text, TEXT_BYTES,
                       "%s and %zu more take turns: %" PRIu64 " hand-offs, %s waited", who.text,
                       n_others, turns->count, value.text);
        break;
    case WEFT_PATTERN_CONVOY:
        (void)snprintf(text, TEXT_BYTES,
                       "%s and %zu more: %" PRIu64
                       " hand-offs in a row to a queued waiter, %s waited",
                       who.text, n_others, turns->count, value.text);
        break;
    case WEFT_PATTERN_PING_PONG:
        (void)snprintf(text, TEXT_BYTES,
                       "%s and another wait for each other in turn: %" PRIu64 " times, %s waited",
                       who.text, turns->count, value.text);
        break;
    case WEFT_PATTERN_IMBALANCE:
        (void)snprintf(text, TEXT_BYTES,
                       "%s arrives last at a barrier of %zu others: %" PRIu64
                       " waits (%s), %s waited",
                       who.text, n_others, turns->count, share_text(turns->share).text, value.text);
        break;
    case WEFT_PATTERN_POLLING:
        (void)snprintf(text, TEXT_BYTES, "%s wakes by timer %" PRIu64 " times, every %s", who.text,
                       turns->count, value.text);
        break;
    default:
        (void)snprintf(text, TEXT_BYTES, "%s changes its polling period from %s to %s", who.text,
                       time_text(turns->before_ns).text, value.text);
        break;
    }
}

static enum weft_code take_turns(void *context, const struct weft_turns *turns,
                                 struct weft_err *err)
{
    struct job *job = context;
    char text[TEXT_BYTES];
    uint32_t object = WEFT_ID_NONE;
    enum weft_code code = WEFT_OK;
    job->group.n = 0;
    for (size_t i = 0; i < turns->n_threads && code == WEFT_OK; i++)
        code = join_group(job, turns->threads[i], err);
    if (code != WEFT_OK)
        return code;
    if (turns->object != WEFT_ID_NONE &&
        !weft_interplay_name_object(job->names, turns->object, &object))
        return weft_no_memory(err, "patterns");
    turns_text(job, turns, text);
    const struct weft_interplay_pattern made = {
        .kind = (uint8_t)turns->kind,
        .thread_id = turns->thread_id,
        .object = object,
        .from_ns = turns->from_ns,
        .to_ns = turns->to_ns,
        .count = turns->count,
        .value_ns = turns->value_ns,
        .before_ns = turns->before_ns,
        .share = turns->share,
    };
    return add(job, &made, text, err);
}

/* Time that threads were kept waiting. A polling thread waits for time alone; one that waits for
 * work is idle. */
static uint64_t cost_of(const struct weft_interplay_pattern *pattern)
{
    switch ((enum weft_pattern_kind)pattern->kind) {
    case WEFT_PATTERN_POLLING:
    case WEFT_PATTERN_PERIOD_CHANGE:
    case WEFT_PATTERN_FARMER:
    case WEFT_PATTERN_IDLE_WORKER:
    case WEFT_PATTERN_UNBOUNDED:
        return 0;
    case WEFT_PATTERN_SHORT_WORK:
        return pattern->count * pattern->before_ns;
    case WEFT_PATTERN_IMBALANCE: /* of a farmer: what the least busy one could do */
        return pattern->object == WEFT_ID_NONE ? pattern->value_ns - pattern->before_ns
                                               : pattern->value_ns;
    default:
        return pattern->value_ns;
    }
}

/* Kinds without a cost: what feeds threads, then timers, then idle threads. */
static unsigned order_of(const struct weft_interplay_pattern *pattern)
{
    switch ((enum weft_pattern_kind)pattern->kind) {
    case WEFT_PATTERN_FARMER:
        return 1;
    case WEFT_PATTERN_POLLING:
        return 2;
    case WEFT_PATTERN_PERIOD_CHANGE:
        return 3;
    case WEFT_PATTERN_UNBOUNDED:
        return 4;
    case WEFT_PATTERN_IDLE_WORKER:
        return 5;
    default:
        return 0;
    }
}

static int by_cost(const void *a, const void *b)
{
    const struct weft_interplay_pattern *x = a, *y = b;
    if (x->is_further != y->is_further)
        return x->is_further ? 1 : -1;
    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    if (order_of(x) != order_of(y))
        return order_of(x) < order_of(y) ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->value_ns != y->value_ns)
        return x->value_ns > y->value_ns ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->object > y->object) - (x->object < y->object);
}

/* What costs most comes first; but more of a kind than a few come after all others. */
static void rank(struct job *job)
{
    struct weft_interplay_pattern *items = job->patterns.items;
    size_t n_of_kind[WEFT_PATTERNS] = { 0 };
    for (size_t i = 0; i < job->patterns.n; i++)
        items[i].cost_ns = cost_of(&items[i]);
    if (job->patterns.n == 0)
        return;
    weft_room_sort(items, job->patterns.n, sizeof *items, by_cost);
    for (size_t i = 0; i < job->patterns.n; i++)
        items[i].is_further = n_of_kind[items[i].kind]++ >= FIRST_OF_KIND;
    weft_room_sort(items, job->patterns.n, sizeof *items, by_cost);
}

static enum weft_code find_all(struct job *job, struct weft_err *err)
{
    const struct weft_turns_question question = {
        .interplay = job->interplay,
        .is_kept = job->is_kept,
        .from_ns = job->table->from_ns,
        .to_ns = job->table->to_ns,
        .see = take_turns,
        .context = job,
    };
    enum weft_code code = find_farmers(job, err);
    WEFT_THEN(code, find_idle(job, err));
    WEFT_THEN(code, find_short_work(job, err));
    return code == WEFT_OK ? weft_turns_find(&question, err) : code;
}

enum weft_code weft_interplay_find_patterns(const struct weft_interplay *interplay,
                                            const uint8_t *is_kept,
                                            struct weft_interplay_names *names,
                                            struct weft_interplay_table *table,
                                            struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    struct job job = { .interplay = interplay,
                       .is_kept = is_kept,
                       .names = names,
                       .table = table,
                       .ns = weft_room_new((size_t)n_threads + 1, sizeof *job.ns),
                       .counts = weft_room_new((size_t)n_threads + 1, sizeof *job.counts),
                       .farmer = weft_room_new((size_t)n_threads + 1, sizeof *job.farmer) };
    enum weft_code code =
        job.ns && job.counts && job.farmer ? WEFT_OK : weft_no_memory(err, "patterns");
    for (uint32_t id = 0; code == WEFT_OK && id < n_threads; id++)
        job.farmer[id] = WEFT_ID_NONE;
    WEFT_THEN(code, find_all(&job, err));
    if (code == WEFT_OK)
        rank(&job);
    table->n_patterns = job.patterns.n;
    if (code == WEFT_OK &&
        !weft_arena_copy_items(table->arena, &table->patterns, job.patterns.items, job.patterns.n,
                               sizeof *table->patterns))
        code = weft_no_memory(err, "patterns");
    weft_room_free(job.ns);
    weft_room_free(job.counts);
    weft_room_free(job.farmer);
    WEFT_ROOM_FINI(&job.patterns);
    WEFT_ROOM_FINI(&job.group);
    WEFT_ROOM_FINI(&job.first_ns);
    WEFT_ROOM_FINI(&job.second_ns);
    return code;
}
