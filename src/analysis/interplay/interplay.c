/* SPDX-License-Identifier: MIT
 *
 * The tables of one window: waits of the chosen threads are clipped to it, sorted by (wait
 * function, release function) and by (waiter, releaser), and summed in runs of equal keys.
 * patterns.c then reads the finished tables.
 */
#include "analysis/interplay/interplay.h"

#include "analysis/interplay/patterns.h"
#include "analysis/interplay/tables.h"
#include "base/map.h"
#include "base/room.h"
#include "model/interplay/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- headline -------------------------------------------------------------------------------- */

/* The pair of waiter and releaser that an answer is mainly about: in the process whose threads
 * wait for each other, for known objects, most often. Union-find over threads, by process or,
 * where processes are unknown, by waits for a known object; the group with the most waits for
 * known objects gives the cell of the headline. */

/* Threads are of one group if they are of one process; where processes are unknown, if they wait
 * for each other for an object. */
struct groups {
    const struct weft_interplay *interplay;
    const struct weft_interplay_table *table;
    struct weft_map *processes;
    uint32_t *parent; /* by thread */
    uint64_t *count;  /* by representative of its group: waits for known objects */
};

static uint32_t group_of(struct groups *groups, uint32_t thread_id)
{
    while (groups->parent[thread_id] != thread_id) {
        groups->parent[thread_id] = groups->parent[groups->parent[thread_id]];
        thread_id = groups->parent[thread_id];
    }
    return thread_id;
}

static void join(struct groups *groups, uint32_t a, uint32_t b)
{
    const uint32_t x = group_of(groups, a), y = group_of(groups, b);
    if (x < y)
        groups->parent[y] = x;
    else
        groups->parent[x] = y;
}

static const struct weft_thread_info *info_of(const struct groups *groups, uint32_t thread_id)
{
    return &weft_trace_thread(groups->interplay->trace, thread_id)->info;
}

/* False without memory. */
static bool join_processes(struct groups *groups, uint32_t n_threads)
{
    for (uint32_t id = 0; id < n_threads; id++) {
        const struct weft_thread_info *info = info_of(groups, id);
        const uint64_t key = (uint64_t)info->host_id << 48 ^ info->pid;
        bool is_new = true;
        const uint32_t place = info->pid ? weft_map_add(groups->processes, key, &is_new) : 0;
        groups->parent[id] = id;
        if (place == WEFT_MAP_NONE)
            return false;
        if (is_new && info->pid)
            groups->count[place] = id; /* the first of the process */
        else if (info->pid)
            join(groups, (uint32_t)groups->count[place], id);
    }
    for (uint32_t id = 0; id < n_threads; id++)
        groups->count[id] = 0;
    return true;
}

static void join_waits(struct groups *groups)
{
    for (size_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->known && !info_of(groups, cell->waiter_id)->pid &&
            !info_of(groups, cell->releaser_id)->pid)
            join(groups, cell->waiter_id, cell->releaser_id);
    }
    for (size_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->known && group_of(groups, cell->waiter_id) == group_of(groups, cell->releaser_id))
            groups->count[group_of(groups, cell->waiter_id)] += cell->known;
    }
}

/* Does the waiter get its work from the releaser? */
static bool is_fed(const struct weft_interplay_table *table, const struct weft_interplay_cell *cell)
{
    for (size_t i = 0; i < table->n_patterns; i++) {
        const struct weft_interplay_pattern *pattern = &table->patterns[i];
        if (pattern->kind != WEFT_PATTERN_FARMER || pattern->thread_id != cell->releaser_id)
            continue;
        for (uint32_t k = 0; k < pattern->n_others; k++)
            if (pattern->others[k] == cell->waiter_id)
                return true;
    }
    return false;
}

/* Waits for work, for the end of a thread, for a point of time. */
static bool is_idle(const struct weft_interplay_table *table,
                    const struct weft_interplay_cell *cell)
{
    const uint8_t kind = cell->object == WEFT_ID_NONE ? (uint8_t)WEFT_SHARED_OTHER
                                                      : table->objects[cell->object].kind;
    return kind == WEFT_SHARED_JOIN || kind == WEFT_SHARED_TIMER || is_fed(table, cell);
}

/* Cells are in the order of their time, idle ones last. */
static uint32_t find(struct groups *groups)
{
    uint32_t best = WEFT_ID_NONE;
    uint64_t best_known = 0;
    bool is_best_inside = false;
    for (uint32_t i = 0; i < groups->table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &groups->table->cells[i];
        if (cell->releaser_id == WEFT_ID_NONE || is_idle(groups->table, cell))
            continue;
        const uint32_t group = group_of(groups, cell->waiter_id);
        const bool is_inside = group == group_of(groups, cell->releaser_id);
        const uint64_t known = is_inside ? groups->count[group] : 0;
        if (best != WEFT_ID_NONE &&
            (known < best_known || (known == best_known && (!is_inside || is_best_inside))))
            continue;
        best = i;
        best_known = known;
        is_best_inside = is_inside;
    }
    return best;
}

/* Sets table->headline; its cells and patterns are there. WEFT_E_NOMEM. O(threads + cells). */
static enum weft_code weft_interplay_find_headline(const struct weft_interplay *interplay,
                                                   struct weft_interplay_table *table,
                                                   struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(interplay->trace);
    struct groups groups = { .interplay = interplay,
                             .table = table,
                             .processes = weft_map_new(),
                             .parent = weft_room_new((size_t)n_threads + 1, sizeof *groups.parent),
                             .count = weft_room_new((size_t)n_threads + 1, sizeof *groups.count) };
    const bool is_good =
        groups.processes && groups.parent && groups.count && join_processes(&groups, n_threads);
    if (is_good) {
        join_waits(&groups);
        table->headline = find(&groups);
    }
    weft_map_free(groups.processes);
    weft_room_free(groups.parent);
    weft_room_free(groups.count);
    return is_good ? WEFT_OK : weft_no_memory(err, "threads");
}

/* ---- interplay ------------------------------------------------------------------------------- */

/* A wait that is asked for, with what it is sorted by. */
struct entry {
    uint32_t wait;                    /* in the model */
    uint32_t wait_name, release_name; /* of functions */
    uint64_t inside_ns;
};

/* What was done with an object by those that are asked about, in the window. */
struct tally {
    uint64_t waits, wait_ns, uncontended, releases;
};

struct job {
    const struct weft_interplay *interplay;
    const struct weft_interplay_opts *opts;
    const struct weft_run *run;
    uint8_t *is_kept;
    uint8_t *is_object;    /* by object: asked for */
    struct tally *tallies; /* likewise */
    struct weft_interplay_names names;
    struct weft_strtab *functions;
    uint32_t *function_of; /* by place: number of its function's name */
    struct {
        struct entry *items;
        size_t n, cap;
    } entries;
    struct {
        struct weft_interplay_pair *items;
        size_t n, cap;
    } pairs;
    struct {
        struct weft_interplay_cell *items;
        size_t n, cap;
    } cells;
    struct weft_interplay_thread *threads; /* by id */
    struct weft_interplay_table *table;
};

static const struct weft_wait *wait_at(const struct job *job, const struct entry *entry)
{
    return &job->interplay->waits.items[entry->wait];
}

/* ---- which waits ----------------------------------------------------------------------------- */

static bool is_object(const struct weft_shared_object *object, struct weft_str asked)
{
    char address[24];
    const int n = snprintf(address, sizeof address, "0x%" PRIx64, object->address);
    return asked.n_bytes == 0 || weft_str_equal(object->name, asked) ||
           (object->address && n > 0 &&
            weft_str_equal((struct weft_str){ address, (size_t)n }, asked));
}

static enum weft_code name_functions(struct job *job, struct weft_err *err)
{
    const size_t n = job->interplay->places.n;
    job->functions = weft_strtab_new();
    job->function_of = weft_room_new(n + 1, sizeof *job->function_of);
    enum weft_code code =
        job->functions && job->function_of ? WEFT_OK : weft_no_memory(err, "the interplay");
    for (uint32_t i = 0; i < n && code == WEFT_OK; i++) {
        uint32_t function_id;
        code = weft_strtab_intern(job->functions,
                                  weft_interplay_function_of(job->interplay, i, &function_id),
                                  &job->function_of[i], err);
    }
    return code;
}

static uint32_t function_name(const struct job *job, uint32_t place)
{
    return place == WEFT_ID_NONE ? WEFT_ID_NONE : job->function_of[place];
}

static enum weft_code choose(struct job *job, struct weft_err *err)
{
    const struct weft_interplay *interplay = job->interplay;
    for (size_t i = 0; i < interplay->objects.n; i++)
        job->is_object[i] = is_object(&interplay->objects.items[i], job->opts->object);
    for (uint32_t i = 0; i < interplay->waits.n; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        if (!job->is_kept[wait->waiter_id] || !job->is_object[wait->object] ||
            !weft_interplay_touches(wait->start_ns, wait->end_ns, job->opts->from_ns,
                                    job->opts->to_ns))
            continue;
        struct entry *entry = WEFT_ROOM_PUSH(&job->entries);
        if (!entry)
            return weft_no_memory(err, "the interplay");
        *entry = (struct entry){ i, function_name(job, wait->wait_site),
                                 function_name(job, wait->release_site),
                                 weft_interplay_inside(wait->start_ns, wait->end_ns,
                                                       job->opts->from_ns, job->opts->to_ns) };
    }
    return WEFT_OK;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool in_window(const struct job *job, uint64_t at_ns)
{
    return at_ns >= job->opts->from_ns && at_ns < job->opts->to_ns;
}

static bool is_had_at_once(const struct job *job, size_t at, const struct weft_lock_op *op)
{
    return weft_lock_is_held(weft_locks_object(job->interplay->locks, op->object)->kind) &&
           !job->interplay->is_wait[at] && in_window(job, op->got_ns) &&
           !(op->flags & (WEFT_LOCK_FAILED | WEFT_LOCK_PARTIAL));
}

/* The end of a thread releases the threads that wait for it. */
static void tally_objects(struct job *job)
{
    const struct weft_interplay *interplay = job->interplay;
    size_t n_ops, n_signals;
    const struct weft_lock_op *ops = weft_locks_ops(interplay->locks, &n_ops);
    const struct weft_lock_signal *signals = weft_locks_signals(interplay->locks, &n_signals);
    for (size_t i = 0; i < job->entries.n; i++) {
        const struct entry *entry = &job->entries.items[i];
        struct tally *tally = &job->tallies[wait_at(job, entry)->object];
        tally->waits++;
        tally->wait_ns += entry->inside_ns;
    }
    for (size_t i = 0; i < n_ops; i++) {
        if (!job->is_kept[ops[i].thread_id])
            continue;
        struct tally *tally = &job->tallies[ops[i].object];
        tally->uncontended += is_had_at_once(job, i, &ops[i]);
        tally->releases +=
            weft_interplay_lets_go(&interplay->objects.items[ops[i].object], &ops[i]) &&
            in_window(job, ops[i].end_ns);
    }
    for (size_t i = 0; i < n_signals; i++)
        if (job->is_kept[signals[i].thread_id] && in_window(job, signals[i].at_ns))
            job->tallies[signals[i].object].releases++;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_functions(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const struct entry *x = a, *y = b;
    if (x->wait_name != y->wait_name)
        return order(x->wait_name, y->wait_name);
    if (x->release_name != y->release_name)
        return order(x->release_name, y->release_name);
    const uint8_t kind = wait_at(job, x)->kind, other = wait_at(job, y)->kind;
    return kind != other ? order(kind, other) : order(x->wait, y->wait);
}

static int by_threads(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const struct weft_wait *x = wait_at(job, a), *y = wait_at(job, b);
    if (x->waiter_id != y->waiter_id)
        return order(x->waiter_id, y->waiter_id);
    if (weft_wait_blocker(x) != weft_wait_blocker(y))
        return order(weft_wait_blocker(x), weft_wait_blocker(y));
    return x->object != y->object
               ? order(x->object, y->object)
               : order(((const struct entry *)a)->wait, ((const struct entry *)b)->wait);
}

/* The more time, then the earlier, is the longest. */
static bool is_longer(uint64_t wait_ns, uint64_t at_ns, uint64_t longest_ns, uint64_t longest_at_ns,
                      bool is_first)
{
    return is_first || wait_ns > longest_ns || (wait_ns == longest_ns && at_ns < longest_at_ns);
}

static bool add_pair(struct job *job, const struct entry *entry, bool is_new)
{
    const struct weft_wait *wait = wait_at(job, entry);
    struct weft_interplay_pair *pair =
        is_new ? WEFT_ROOM_PUSH(&job->pairs) : &job->pairs.items[job->pairs.n - 1];
    if (!pair)
        return false;
    if (is_new && (!weft_interplay_name_site(&job->names, wait->wait_site, &pair->wait_site) ||
                   !weft_interplay_name_site(&job->names, wait->release_site, &pair->release_site)))
        return false;
    const uint64_t wait_ns = wait->end_ns - wait->start_ns;
    pair->kind = wait->kind;
    pair->confidence[wait->confidence]++;
    pair->sum_ns += entry->inside_ns;
    if (is_longer(wait_ns, wait->start_ns, pair->longest_ns, pair->longest_at_ns,
                  pair->count++ == 0)) {
        pair->longest_ns = wait_ns;
        pair->longest_at_ns = wait->start_ns;
        pair->longest_waiter_id = wait->waiter_id;
    }
    return true;
}

static enum weft_code sum_pairs(struct job *job, struct weft_err *err)
{
    struct entry *items = job->entries.items;
    if (job->entries.n)
        weft_room_sort_r(items, job->entries.n, sizeof *items, by_functions, job);
    for (size_t i = 0; i < job->entries.n; i++) {
        const bool is_new = i == 0 || items[i].wait_name != items[i - 1].wait_name ||
                            items[i].release_name != items[i - 1].release_name ||
                            wait_at(job, &items[i])->kind != wait_at(job, &items[i - 1])->kind;
        if (!add_pair(job, &items[i], is_new))
            return weft_no_memory(err, "the interplay");
    }
    return WEFT_OK;
}

/* Entries [from, to) are of one waiter and releaser, by object. */
static enum weft_code add_cell(struct job *job, size_t from, size_t to, struct weft_err *err)
{
    const struct weft_wait *first = wait_at(job, &job->entries.items[from]);
    struct weft_interplay_cell *cell = WEFT_ROOM_PUSH(&job->cells);
    uint64_t object_ns = 0, most_ns = 0;
    uint32_t object = first->object;
    if (!cell)
        return weft_no_memory(err, "the interplay");
    *cell = (struct weft_interplay_cell){ .waiter_id = first->waiter_id,
                                          .releaser_id = weft_wait_blocker(first) };
    for (size_t i = from; i < to; i++) {
        const struct entry *entry = &job->entries.items[i];
        const struct weft_wait *wait = wait_at(job, entry);
        const bool is_new = i == from || wait->object != wait_at(job, entry - 1)->object;
        object_ns = is_new ? entry->inside_ns : object_ns + entry->inside_ns;
        cell->n_objects += is_new;
        cell->known += wait->confidence >= WEFT_SURETY_AMBIGUOUS;
        cell->sum_ns += entry->inside_ns;
        if (object_ns > most_ns) {
            most_ns = object_ns;
            object = wait->object;
        }
        const uint64_t wait_ns = wait->end_ns - wait->start_ns;
        if (is_longer(wait_ns, wait->start_ns, cell->longest_ns, cell->longest_at_ns,
                      cell->count++ == 0)) {
            cell->longest_ns = wait_ns;
            cell->longest_at_ns = wait->start_ns;
        }
    }
    return weft_interplay_name_object(&job->names, object, &cell->object)
               ? WEFT_OK
               : weft_no_memory(err, "the interplay");
}

static enum weft_code sum_cells(struct job *job, struct weft_err *err)
{
    struct entry *items = job->entries.items;
    enum weft_code code = WEFT_OK;
    if (job->entries.n)
        weft_room_sort_r(items, job->entries.n, sizeof *items, by_threads, job);
    for (size_t from = 0, to = 0; from < job->entries.n && code == WEFT_OK; from = to) {
        const struct weft_wait *first = wait_at(job, &items[from]);
        for (to = from + 1; to < job->entries.n; to++) {
            const struct weft_wait *wait = wait_at(job, &items[to]);
            if (wait->waiter_id != first->waiter_id ||
                weft_wait_blocker(wait) != weft_wait_blocker(first))
                break;
        }
        code = add_cell(job, from, to, err);
    }
    return code;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void count_wait(struct job *job, const struct entry *entry)
{
    const struct weft_wait *wait = wait_at(job, entry);
    struct weft_interplay_thread *thread = &job->threads[wait->waiter_id];
    const uint64_t wait_ns = wait->end_ns - wait->start_ns;
    struct weft_interplay_table *table = job->table;
    table->n_waits++;
    table->wait_ns += entry->inside_ns;
    table->by_confidence[wait->confidence]++;
    if (wait->releaser_id == WEFT_ID_NONE)
        table->by_unknown[wait->unknown]++;
    else
        table->n_joined++;
    if (is_longer(wait_ns, wait->start_ns, thread->longest_wait_ns, thread->longest_wait_at_ns,
                  thread->waits++ == 0)) {
        thread->longest_wait_ns = wait_ns;
        thread->longest_wait_at_ns = wait->start_ns;
    }
    thread->wait_ns += entry->inside_ns;
    table->n_lossy += (wait->flags & WEFT_CORRESPONDENCE_LOSSY) != 0;
    thread->failed += (wait->flags & WEFT_CORRESPONDENCE_FAILED) != 0;
    thread->cut += (wait->flags & WEFT_CORRESPONDENCE_CUT_END) != 0;
    if (wait->releaser_id == WEFT_ID_NONE)
        return;
    struct weft_interplay_thread *releaser = &job->threads[wait->releaser_id];
    releaser->released_ns += entry->inside_ns;
    if (releaser->released++ == 0 || wait->release_depth < releaser->least_depth)
        releaser->least_depth = wait->release_depth;
    if (wait->release_depth > releaser->most_depth)
        releaser->most_depth = wait->release_depth;
}

static void count_op(struct job *job, size_t at, const struct weft_lock_op *op)
{
    struct weft_interplay_thread *thread = &job->threads[op->thread_id];
    if (!job->is_object[op->object])
        return;
    thread->uncontended += is_had_at_once(job, at, op);
    if (weft_lock_is_held(weft_locks_object(job->interplay->locks, op->object)->kind) &&
        !(op->flags & (WEFT_LOCK_FAILED | WEFT_LOCK_NO_RELEASE)) && in_window(job, op->end_ns))
        thread->releases++;
}

static void count_operations(struct job *job)
{
    size_t n_ops, n_signals;
    const struct weft_lock_op *ops = weft_locks_ops(job->interplay->locks, &n_ops);
    const struct weft_lock_signal *signals = weft_locks_signals(job->interplay->locks, &n_signals);
    for (size_t i = 0; i < n_ops; i++)
        count_op(job, i, &ops[i]);
    for (size_t i = 0; i < n_signals; i++)
        if (job->is_object[signals[i].object] && in_window(job, signals[i].at_ns))
            job->threads[signals[i].thread_id].releases++;
    for (size_t i = 0; i < job->interplay->io.n; i++) {
        const struct weft_io_call *io = &job->interplay->io.items[i];
        if (!weft_interplay_touches(io->start_ns, io->end_ns, job->opts->from_ns, job->opts->to_ns))
            continue;
        job->threads[io->thread_id].io++;
        job->threads[io->thread_id].io_ns +=
            weft_interplay_inside(io->start_ns, io->end_ns, job->opts->from_ns, job->opts->to_ns);
    }
}

static void find_main_releasers(struct job *job)
{
    for (size_t i = 0; i < job->cells.n; i++) {
        const struct weft_interplay_cell *cell = &job->cells.items[i];
        struct weft_interplay_thread *thread = &job->threads[cell->waiter_id];
        if (cell->releaser_id == WEFT_ID_NONE)
            continue;
        thread->n_releasers++;
        if (cell->sum_ns > thread->main_releaser_ns || thread->main_releaser_id == WEFT_ID_NONE) {
            thread->main_releaser_id = cell->releaser_id;
            thread->main_releaser_ns = cell->sum_ns;
        }
    }
}

/* Threads of the filter that live in the window. */
static bool take_threads(struct job *job)
{
    const uint32_t n_threads = weft_trace_n_threads(job->interplay->trace);
    struct weft_interplay_table *table = job->table;
    table->threads = WEFT_ARENA_NEW(table->arena, n_threads, struct weft_interplay_thread);
    for (uint32_t id = 0; table->threads && id < n_threads; id++) {
        struct weft_interplay_thread *thread = &job->threads[id];
        const uint64_t first_ns = job->interplay->first_ns[id];
        const uint64_t last_ns = job->interplay->last_ns[id];
        if (!job->is_kept[id] || weft_locks_twins(job->interplay->locks)->first[id] != id ||
            first_ns >= job->opts->to_ns || last_ns < job->opts->from_ns || first_ns > last_ns)
            continue;
        thread->first_ns = first_ns > job->opts->from_ns ? first_ns : job->opts->from_ns;
        thread->last_ns = last_ns < job->opts->to_ns ? last_ns : job->opts->to_ns;
        const uint64_t life_ns = thread->last_ns - thread->first_ns;
        const uint64_t longest_ns = weft_interplay_inside(
            thread->longest_wait_at_ns, thread->longest_wait_at_ns + thread->longest_wait_ns,
            thread->first_ns, thread->last_ns);
        thread->never_waits = thread->waits == 0 && thread->io == 0;
        thread->waits_all_along =
            thread->waits > 0 && life_ns > 0 && longest_ns >= life_ns - life_ns / 20;
        table->uncontended += thread->uncontended;
        table->calls[WEFT_BLOCKING_RELEASE] += thread->releases;
        table->io += thread->io;
        table->io_ns += thread->io_ns;
        table->threads[table->n_threads++] = *thread;
    }
    return table->threads != NULL;
}

static enum weft_code count_threads(struct job *job, struct weft_err *err)
{
    const uint32_t n_threads = weft_trace_n_threads(job->interplay->trace);
    job->threads = weft_room_new((size_t)n_threads + 1, sizeof *job->threads);
    if (!job->threads)
        return weft_no_memory(err, "the interplay");
    for (uint32_t id = 0; id < n_threads; id++) {
        job->threads[id].thread_id = id;
        job->threads[id].main_releaser_id = WEFT_ID_NONE;
    }
    for (size_t i = 0; i < job->entries.n; i++)
        count_wait(job, &job->entries.items[i]);
    count_operations(job);
    find_main_releasers(job);
    return take_threads(job) ? WEFT_OK : weft_no_memory(err, "the interplay");
}

/* ---- the table ------------------------------------------------------------------------------- */

static int by_length(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const struct weft_wait *x = wait_at(job, a), *y = wait_at(job, b);
    const uint64_t x_ns = x->end_ns - x->start_ns, y_ns = y->end_ns - y->start_ns;
    if (x_ns != y_ns)
        return order(y_ns, x_ns);
    return x->start_ns != y->start_ns
               ? order(x->start_ns, y->start_ns)
               : order(((const struct entry *)a)->wait, ((const struct entry *)b)->wait);
}

static bool take_rows(struct job *job)
{
    const uint64_t limit = job->opts->limit;
    const size_t n = limit && job->entries.n > limit ? (size_t)limit : job->entries.n;
    if (job->entries.n)
        weft_room_sort_r(job->entries.items, job->entries.n, sizeof *job->entries.items, by_length,
                         job);
    job->table->rows = WEFT_ARENA_NEW(job->table->arena, n, struct weft_correspondence);
    job->table->n_rows = n;
    for (size_t i = 0; job->table->rows && i < n; i++)
        if (!weft_interplay_row(&job->names, wait_at(job, &job->entries.items[i]),
                                &job->table->rows[i]))
            return false;
    return job->table->rows != NULL;
}

/* Sleeps and ends of threads: no thread has anything that the waiter could get sooner. */
static bool is_idle_kind(uint8_t kind)
{
    return kind == WEFT_SHARED_JOIN || kind == WEFT_SHARED_TIMER;
}

static int by_pair_time(const void *a, const void *b)
{
    const struct weft_interplay_pair *x = a, *y = b;
    if (is_idle_kind(x->kind) != is_idle_kind(y->kind))
        return is_idle_kind(x->kind) ? 1 : -1;
    if (x->sum_ns != y->sum_ns)
        return order(y->sum_ns, x->sum_ns);
    if (x->count != y->count)
        return order(y->count, x->count);
    return x->wait_site != y->wait_site ? order(x->wait_site, y->wait_site)
                                        : order(x->release_site, y->release_site);
}

static bool is_idle_cell(const struct job *job, const struct weft_interplay_cell *cell)
{
    return cell->object != WEFT_ID_NONE &&
           is_idle_kind(job->interplay->objects.items[job->names.objects.items[cell->object]].kind);
}

static int by_cell_time(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const struct weft_interplay_cell *x = a, *y = b;
    if (is_idle_cell(job, x) != is_idle_cell(job, y))
        return is_idle_cell(job, x) ? 1 : -1;
    if (x->sum_ns != y->sum_ns)
        return order(y->sum_ns, x->sum_ns);
    return x->waiter_id != y->waiter_id ? order(x->waiter_id, y->waiter_id)
                                        : order(x->releaser_id, y->releaser_id);
}

static int by_object_time(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const struct tally *tallies = job->tallies;
    const struct weft_shared_object *objects = job->interplay->objects.items;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (is_idle_kind(objects[i].kind) != is_idle_kind(objects[j].kind))
        return is_idle_kind(objects[i].kind) ? 1 : -1;
    if (tallies[i].wait_ns != tallies[j].wait_ns)
        return order(tallies[j].wait_ns, tallies[i].wait_ns);
    return order(i, j);
}

/* All objects that were waited for or used, most waited for first, sleeps and joins last: named
 * before any other, their places are their ranks. */
static bool rank_objects(struct job *job)
{
    const size_t n = job->interplay->objects.n;
    uint32_t *ranked = weft_room_new(n + 1, sizeof *ranked), place;
    size_t n_ranked = 0;
    bool is_good = ranked != NULL;
    tally_objects(job);
    for (uint32_t i = 0; is_good && i < n; i++) {
        const struct tally *tally = &job->tallies[i];
        if (job->is_object[i] && (tally->waits || tally->uncontended || tally->releases))
            ranked[n_ranked++] = i;
    }
    if (is_good)
        weft_room_sort_r(ranked, n_ranked, sizeof *ranked, by_object_time, job);
    for (size_t i = 0; is_good && i < n_ranked; i++)
        is_good = weft_interplay_name_object(&job->names, ranked[i], &place);
    weft_room_free(ranked);
    return is_good;
}

/* Objects are what they were to those that are asked about. */
static void set_tallies(struct job *job)
{
    for (size_t i = 0; i < job->table->n_objects; i++) {
        struct weft_shared_object *object = &job->table->objects[i];
        const struct tally *tally = &job->tallies[job->names.objects.items[i]];
        object->waits = tally->waits;
        object->wait_ns = tally->wait_ns;
        object->uncontended = tally->uncontended;
        if (object->kind != WEFT_SHARED_JOIN) /* the end of its thread is one */
            object->releases = tally->releases;
    }
}

static int by_loss(const void *a, const void *b)
{
    const struct weft_interplay_loss *x = a, *y = b;
    return x->from_ns != y->from_ns ? order(x->from_ns, y->from_ns)
                                    : order(x->thread_id, y->thread_id);
}

static bool take_losses(struct job *job)
{
    struct weft_interplay_table *table = job->table;
    const size_t n = job->interplay->losses.n;
    table->losses = WEFT_ARENA_NEW(table->arena, n, struct weft_interplay_loss);
    for (size_t i = 0; table->losses && i < n; i++) {
        const struct weft_loss *loss = &job->interplay->losses.items[i];
        if (weft_interplay_touches(loss->from_ns, loss->to_ns, job->opts->from_ns,
                                   job->opts->to_ns))
            table->losses[table->n_losses++] =
                (struct weft_interplay_loss){ loss->from_ns, loss->to_ns, loss->n_records,
                                              loss->thread_id };
    }
    if (table->n_losses)
        weft_room_sort(table->losses, table->n_losses, sizeof *table->losses, by_loss);
    return table->losses != NULL;
}

static void count_table(struct job *job)
{
    struct weft_interplay_table *table = job->table;
    for (size_t i = 0; i < table->n_objects; i++) {
        table->never_released += table->objects[i].is_never_released;
        table->reused += table->objects[i].is_reused;
    }
    table->lost = job->interplay->lost;
    table->known = job->interplay->known;
    table->sources = job->interplay->sources;
    table->calls[WEFT_BLOCKING_OTHER] = job->interplay->calls[WEFT_BLOCKING_OTHER];
    table->calls[WEFT_BLOCKING_WAIT] = table->n_waits + table->uncontended;
    table->calls[WEFT_BLOCKING_IO] = table->io;
}

static bool fill(struct job *job)
{
    struct weft_interplay_table *table = job->table;
    if (job->pairs.n)
        weft_room_sort(job->pairs.items, job->pairs.n, sizeof *job->pairs.items, by_pair_time);
    if (job->cells.n)
        weft_room_sort_r(job->cells.items, job->cells.n, sizeof *job->cells.items, by_cell_time,
                         job);
    table->n_pairs = job->pairs.n;
    table->n_cells = job->cells.n;
    if (!take_rows(job) || !take_losses(job) ||
        !weft_arena_copy_items(table->arena, &table->pairs, job->pairs.items, job->pairs.n,
                               sizeof *table->pairs) ||
        !weft_arena_copy_items(table->arena, &table->cells, job->cells.items, job->cells.n,
                               sizeof *table->cells) ||
        !weft_interplay_copy_objects(&job->names, table->arena, &table->objects,
                                     &table->n_objects) ||
        !weft_interplay_copy_sites(&job->names, table->arena, &table->sites, &table->n_sites))
        return false;
    set_tallies(job);
    count_table(job);
    return true;
}

static enum weft_code work(struct job *job, const struct weft_thread_filter *filter,
                           struct weft_err *err)
{
    job->is_object = weft_room_new(job->interplay->objects.n + 1, 1);
    job->tallies = weft_room_new(job->interplay->objects.n + 1, sizeof *job->tallies);
    enum weft_code code =
        job->is_object && job->tallies && weft_interplay_names_init(&job->names, job->interplay)
            ? weft_kept_threads(job->interplay->trace, job->interplay->locks, filter,
                                job->opts->all_processes ? NULL : &job->table->left_out,
                                &job->is_kept, err)
            : weft_no_memory(err, "the interplay");
    WEFT_THEN(code, name_functions(job, err));
    WEFT_THEN(code, choose(job, err));
    if (code == WEFT_OK && !rank_objects(job))
        code = weft_no_memory(err, "the interplay");
    WEFT_THEN(code, sum_pairs(job, err));
    WEFT_THEN(code, sum_cells(job, err));
    WEFT_THEN(code, count_threads(job, err));
    if (code == WEFT_OK && !fill(job))
        code = weft_no_memory(err, "the interplay");
    WEFT_THEN(code, weft_interplay_find_patterns(job->interplay, job->is_kept, &job->names,
                                                 job->table, err));
    WEFT_THEN(code, weft_interplay_find_headline(job->interplay, job->table, err));
    return code;
}

static void job_fini(struct job *job)
{
    weft_interplay_names_fini(&job->names);
    weft_strtab_free(job->functions);
    free(job->is_kept);
    weft_room_free(job->is_object);
    weft_room_free(job->tallies);
    weft_room_free(job->function_of);
    weft_room_free(job->threads);
    WEFT_ROOM_FINI(&job->entries);
    WEFT_ROOM_FINI(&job->pairs);
    WEFT_ROOM_FINI(&job->cells);
}

enum weft_code weft_interplay_run(const struct weft_interplay *interplay,
                                  const struct weft_thread_filter *filter,
                                  const struct weft_interplay_opts *opts,
                                  const struct weft_run *run, struct weft_interplay_table **table,
                                  struct weft_err *err)
{
    struct job job = { .interplay = interplay, .opts = opts, .run = run };
    *table = NULL;
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    struct weft_arena *arena = weft_arena_new(0);
    job.table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_interplay_table) : NULL;
    enum weft_code code = job.table ? WEFT_OK : weft_no_memory(err, "the interplay");
    if (code == WEFT_OK) {
        *job.table = (struct weft_interplay_table){ .arena = arena,
                                                    .from_ns = opts->from_ns,
                                                    .to_ns = opts->to_ns };
        code = work(&job, filter, err);
    }
    job_fini(&job);
    if (code == WEFT_OK)
        *table = job.table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
