/* SPDX-License-Identifier: MIT
 *
 * Trees of waits and of critical sections, by the calls that lead there; and the activity of the
 * threads that they waited for, by their calling context trees of these times
 * (model/interval/interval.h).
 */
#include "analysis/interplay/interplay.h"
#include "analysis/interplay/tables.h"
#include "base/map.h"
#include "base/room.h"
#include "model/interval/interval.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_INTERVALS = 512, MOST_FRAMES = 512, LABEL_BYTES = 120 };

struct node {
    uint32_t parent; /* WEFT_ID_NONE: a root */
    uint32_t function_id, name;
    uint64_t count, sum_ns, self_ns;
    bool is_kept;
};

/* A time in which a thread made others wait. */
struct span {
    uint64_t from_ns, to_ns;
    uint32_t thread_id;
};

struct job {
    const struct weft_interplay *interplay;
    const struct weft_lock_tree_opts *opts;
    uint8_t *is_kept;
    struct weft_strtab *texts;
    struct weft_map *node_of; /* by parent and key */
    struct {
        struct node *items; /* callers before callees */
        size_t n, cap;
    } nodes;
    struct {
        struct span *items;
        size_t n, cap;
    } spans;
    struct weft_lock_tree_table *table;
};

/* ---- nodes ----------------------------------------------------------------------------------- */

/* A node below `parent`; of one function, or one text. False without memory. */
static bool enter(struct job *job, uint32_t parent, uint32_t function_id, struct weft_str text,
                  uint32_t *node)
{
    bool is_new;
    uint32_t name;
    if (function_id != WEFT_ID_NONE)
        text = weft_trace_function(job->interplay->trace, function_id)->name;
    if (weft_strtab_intern(job->texts, text, &name, NULL) != WEFT_OK)
        return false;
    *node = weft_map_add(job->node_of, (uint64_t)(parent + 1) << 32 | name, &is_new);
    struct node *made = *node != WEFT_MAP_NONE && is_new ? WEFT_ROOM_PUSH(&job->nodes) : NULL;
    if (made)
        *made = (struct node){ .parent = parent, .function_id = function_id, .name = name };
    return *node != WEFT_MAP_NONE && (made || !is_new);
}

/* A path of calls, then its innermost node. */
static bool enter_place(struct job *job, uint32_t place, uint32_t *node)
{
    const struct weft_interplay *interplay = job->interplay;
    const struct weft_interplay_place *found =
        place == WEFT_ID_NONE ? NULL : &interplay->places.items[place];
    uint32_t frames[MOST_FRAMES];
    size_t n = 0;
    *node = WEFT_ID_NONE;
    for (uint32_t at = found ? found->node : WEFT_ID_NONE; at != WEFT_ID_NONE && n < MOST_FRAMES;
         at = interplay->nodes.items[at].parent)
        frames[n++] = interplay->nodes.items[at].function_id;
    if (found && found->name.n_bytes && !enter(job, *node, WEFT_ID_NONE, found->name, node))
        return false;
    while (n-- > 0)
        if (!enter(job, *node, frames[n], WEFT_STR(""), node))
            return false;
    return *node != WEFT_ID_NONE || enter(job, *node, WEFT_ID_NONE, WEFT_STR("(unknown)"), node);
}

static void add_time(struct job *job, uint32_t node, uint64_t ns)
{
    job->nodes.items[node].self_ns += ns;
    for (; node != WEFT_ID_NONE; node = job->nodes.items[node].parent) {
        job->nodes.items[node].sum_ns += ns;
        job->nodes.items[node].count++;
    }
}

static bool is_object(const struct job *job, uint32_t object)
{
    return job->opts->object_id == UINT64_MAX || job->opts->object_id == object;
}

static uint64_t inside(const struct job *job, uint64_t start_ns, uint64_t end_ns)
{
    return weft_interplay_inside(start_ns, end_ns, job->opts->from_ns, job->opts->to_ns);
}

/* ---- waits and sections ---------------------------------------------------------------------- */

static enum weft_code add_path(struct job *job, uint32_t place, uint64_t ns, struct weft_err *err)
{
    uint32_t node;
    if (ns == 0)
        return WEFT_OK;
    if (!enter_place(job, place, &node))
        return weft_no_memory(err, "a tree of locks");
    add_time(job, node, ns);
    job->table->sum_ns += ns;
    if (place == WEFT_ID_NONE || (job->interplay->places.items[place].node == WEFT_ID_NONE &&
                                  !job->interplay->places.items[place].name.n_bytes))
        job->table->unknown_ns += ns;
    return WEFT_OK;
}

static enum weft_code add_waits(struct job *job, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < job->interplay->waits.n && code == WEFT_OK; i++) {
        const struct weft_wait *wait = &job->interplay->waits.items[i];
        if (job->is_kept[wait->waiter_id] && is_object(job, wait->object))
            code = add_path(job, wait->wait_site, inside(job, wait->start_ns, wait->end_ns), err);
    }
    return code;
}

static enum weft_code add_sections(struct job *job, struct weft_err *err)
{
    size_t n_ops;
    const struct weft_lock_op *ops = weft_locks_ops(job->interplay->locks, &n_ops);
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < n_ops && code == WEFT_OK; i++) {
        const struct weft_lock_object *object =
            weft_locks_object(job->interplay->locks, ops[i].object);
        if (weft_lock_is_held(object->kind) && job->is_kept[ops[i].thread_id] &&
            is_object(job, ops[i].object) && !(ops[i].flags & WEFT_LOCK_FAILED))
            code = add_path(job, job->interplay->hold_place[i],
                            inside(job, ops[i].got_ns, ops[i].end_ns), err);
    }
    return code;
}

/* ---- meanwhile ------------------------------------------------------------------------------- */

static enum weft_code see_blocker(void *context, uint32_t thread_id, uint64_t from_ns,
                                  uint64_t to_ns, struct weft_err *err)
{
    struct job *job = context;
    from_ns = from_ns > job->opts->from_ns ? from_ns : job->opts->from_ns;
    to_ns = to_ns < job->opts->to_ns ? to_ns : job->opts->to_ns;
    if (from_ns >= to_ns)
        return WEFT_OK;
    struct span *span = WEFT_ROOM_PUSH(&job->spans);
    if (!span)
        return weft_no_memory(err, "a tree of locks");
    *span = (struct span){ from_ns, to_ns, thread_id };
    return WEFT_OK;
}

/* The holders of the lock; of what is not held, the thread that ended the wait, until then. */
static enum weft_code find_spans(struct job *job, struct weft_err *err)
{
    const struct weft_interplay *interplay = job->interplay;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < interplay->waits.n && code == WEFT_OK; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        if (!job->is_kept[wait->waiter_id] || !is_object(job, wait->object) ||
            inside(job, wait->start_ns, wait->end_ns) == 0)
            continue;
        const bool is_held = weft_shared_is_held(wait->kind);
        const size_t op = is_held ? weft_locks_find(interplay->locks, wait->waiter_id,
                                                    wait->start_ns, wait->end_ns)
                                  : SIZE_MAX;
        if (op != SIZE_MAX)
            code = weft_locks_blockers(interplay->locks, op, see_blocker, job, err);
        else if (wait->releaser_id != WEFT_ID_NONE)
            code = see_blocker(job, wait->releaser_id, wait->start_ns, wait->release_ns, err);
    }
    return code;
}

static int by_thread(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

static int by_length(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    const uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;
    return x_ns != y_ns ? (x_ns > y_ns ? -1 : 1) : by_thread(a, b);
}

/* However many wait, the time of a thread counts once. */
static void unite_spans(struct job *job)
{
    size_t n = 0;
    if (job->spans.n)
        weft_room_sort(job->spans.items, job->spans.n, sizeof *job->spans.items, by_thread);
    for (size_t i = 0; i < job->spans.n; i++) {
        const struct span span = job->spans.items[i];
        struct span *last = n ? &job->spans.items[n - 1] : NULL;
        if (last && last->thread_id == span.thread_id && span.from_ns <= last->to_ns)
            last->to_ns = span.to_ns > last->to_ns ? span.to_ns : last->to_ns;
        else
            job->spans.items[n++] = span;
    }
    job->spans.n = n;
}

/* Of twins, the one with most calls shows what it did. */
static uint32_t caller_of(const struct job *job, uint32_t thread_id)
{
    const struct weft_twins *twins = weft_locks_twins(job->interplay->locks);
    uint32_t best = thread_id, id = thread_id;
    do {
        if (weft_trace_thread(job->interplay->trace, id)->calls >
            weft_trace_thread(job->interplay->trace, best)->calls)
            best = id;
        id = twins->next[id];
    } while (id != thread_id);
    return best;
}

static bool enter_thread(struct job *job, uint32_t thread_id, uint32_t *node)
{
    const struct weft_thread_info *info =
        &weft_trace_thread(job->interplay->trace, thread_id)->info;
    char text[LABEL_BYTES];
    const int n = snprintf(text, sizeof text, "%.*s (%" PRIu64 ")",
                           (int)(info->name.n_bytes < 80 ? info->name.n_bytes : 80),
                           info->name.bytes, info->tid);
    return enter(job, WEFT_ID_NONE, WEFT_ID_NONE, (struct weft_str){ text, n > 0 ? (size_t)n : 0 },
                 node);
}

static enum weft_code add_contexts(struct job *job, const struct weft_interval *interval,
                                   uint32_t root, struct weft_err *err)
{
    uint32_t *nodes = weft_room_new(interval->n_contexts + 1, sizeof *nodes);
    bool is_good = nodes != NULL;
    for (size_t i = 0; i < interval->n_contexts && is_good; i++) {
        const struct weft_interval_context *context = &interval->contexts[i];
        is_good = enter(job, context->parent == WEFT_ID_NONE ? root : nodes[context->parent],
                        context->function_id, WEFT_STR(""), &nodes[i]);
        if (!is_good)
            break;
        struct node *node = &job->nodes.items[nodes[i]];
        node->count += context->count;
        node->sum_ns += context->sum_ns;
        node->self_ns += context->self_ns + context->folded_ns;
    }
    weft_room_free(nodes);
    return is_good ? WEFT_OK : weft_no_memory(err, "a tree of locks");
}

static enum weft_code add_span(struct job *job, struct weft_interval_reader *reader,
                               const struct span *span, bool is_read, struct weft_err *err)
{
    const uint64_t ns = span->to_ns - span->from_ns;
    struct weft_interval interval;
    uint32_t root;
    if (!enter_thread(job, span->thread_id, &root))
        return weft_no_memory(err, "a tree of locks");
    job->nodes.items[root].sum_ns += ns;
    job->nodes.items[root].count++;
    job->table->sum_ns += ns;
    const uint32_t caller = caller_of(job, span->thread_id);
    if (!is_read || weft_trace_thread(job->interplay->trace, caller)->calls == 0) {
        job->nodes.items[root].self_ns += ns;
        job->table->unknown_ns += ns;
        return WEFT_OK;
    }
    WEFT_TRY(weft_interval_cct(reader, caller, span->from_ns, span->to_ns, &interval, err));
    job->nodes.items[root].self_ns += interval.no_call_ns + interval.outside_ns;
    return add_contexts(job, &interval, root, err);
}

static enum weft_code add_meanwhile(struct job *job, const struct weft_run *run,
                                    struct weft_err *err)
{
    enum weft_code code = find_spans(job, err);
    if (code != WEFT_OK)
        return code;
    unite_spans(job);
    if (job->spans.n)
        weft_room_sort(job->spans.items, job->spans.n, sizeof *job->spans.items, by_length);
    struct weft_interval_reader *reader = weft_interval_reader_new(job->interplay->trace);
    if (!reader)
        return weft_no_memory(err, "a tree of locks");
    for (size_t i = 0; i < job->spans.n && code == WEFT_OK; i++) {
        code = add_span(job, reader, &job->spans.items[i], i < MOST_INTERVALS, err);
        if (code == WEFT_OK && weft_progress_is_cancelled(run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
    }
    weft_interval_reader_free(reader);
    return code;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Siblings beside each other, most time first. */
static int by_parent(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct node *x = &job->nodes.items[i], *y = &job->nodes.items[j];
    if (x->parent != y->parent)
        return x->parent + 1 < y->parent + 1 ? -1 : 1;
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return weft_str_compare(weft_strtab_get(job->texts, x->name),
                            weft_strtab_get(job->texts, y->name));
}

static int by_sum(const void *a, const void *b, void *context)
{
    const struct job *job = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct node *x = &job->nodes.items[i], *y = &job->nodes.items[j];
    if (x->sum_ns != y->sum_ns)
        return x->sum_ns > y->sum_ns ? -1 : 1;
    return (i > j) - (i < j); /* callers first */
}

/* Contexts of most time; a caller has at least the time of its callees, and stands before them. */
static size_t keep_most(struct job *job, uint32_t *order)
{
    const size_t n = job->nodes.n, limit = job->opts->limit;
    const size_t n_kept = limit && limit < n ? limit : n;
    weft_room_sort_r(order, n, sizeof *order, by_sum, job);
    for (size_t i = 0; i < n_kept; i++)
        job->nodes.items[order[i]].is_kept = true;
    return n_kept;
}

static bool emit(struct job *job, const uint32_t *order, const uint32_t *first)
{
    struct weft_lock_tree_table *table = job->table;
    struct {
        uint32_t *items;
        size_t n, cap;
    } stack = { 0 }; /* places in `order` to go on from, by depth */
    const size_t n = job->nodes.n;
    uint32_t row_above = WEFT_ID_NONE, *top = WEFT_ROOM_PUSH(&stack);
    bool is_good = top != NULL;
    if (top)
        *top = first[0];
    while (is_good && stack.n) {
        uint32_t *at = &stack.items[stack.n - 1];
        const uint32_t parent = stack.n == 1 ? WEFT_ID_NONE : order[stack.items[stack.n - 2] - 1];
        const uint32_t id = *at < n ? order[*at] : WEFT_ID_NONE;
        if (id == WEFT_ID_NONE || job->nodes.items[id].parent != parent) {
            stack.n--;
            if (row_above != WEFT_ID_NONE)
                row_above = table->rows[row_above].parent;
            continue;
        }
        ++*at;
        const struct node *node = &job->nodes.items[id];
        if (!node->is_kept)
            continue;
        struct weft_lock_tree_row *row = &table->rows[table->n_rows];
        *row = (struct weft_lock_tree_row){
            .parent = row_above,
            .depth = (uint32_t)stack.n - 1,
            .name = weft_arena_copy(table->arena, weft_strtab_get(job->texts, node->name)),
            .function_id = node->function_id,
            .count = node->count,
            .sum_ns = node->sum_ns,
            .self_ns = node->self_ns,
        };
        row_above = (uint32_t)table->n_rows++;
        top = row->name.bytes ? WEFT_ROOM_PUSH(&stack) : NULL;
        is_good = top != NULL;
        if (top)
            *top = first[id + 1];
    }
    WEFT_ROOM_FINI(&stack);
    return is_good;
}

static bool fill(struct job *job)
{
    const size_t n = job->nodes.n;
    uint32_t *order = weft_room_new(n + 1, sizeof *order),
             *first = weft_room_new(n + 2, sizeof *first);
    bool is_good = order && first;
    for (uint32_t i = 0; is_good && i < n; i++)
        order[i] = i;
    job->table->n_found = n;
    if (is_good) {
        const size_t n_kept = keep_most(job, order);
        job->table->rows = WEFT_ARENA_NEW(job->table->arena, n_kept, struct weft_lock_tree_row);
        weft_room_sort_r(order, n, sizeof *order, by_parent, job);
        for (size_t parent = 0, at = 0; parent <= n; parent++) {
            while (at < n && (size_t)(job->nodes.items[order[at]].parent + 1) < parent)
                at++;
            first[parent] = (uint32_t)at;
        }
        is_good = job->table->rows && emit(job, order, first);
    }
    weft_room_free(order);
    weft_room_free(first);
    return is_good;
}

static enum weft_code work(struct job *job, const struct weft_thread_filter *filter,
                           const struct weft_run *run, struct weft_err *err)
{
    job->texts = weft_strtab_new();
    job->node_of = weft_map_new();
    enum weft_code code = job->texts && job->node_of
                              ? weft_kept_threads(job->interplay->trace, job->interplay->locks,
                                                  filter, NULL, &job->is_kept, err)
                              : weft_no_memory(err, "a tree of locks");
    if (code != WEFT_OK)
        return code;
    switch (job->opts->kind) {
    case WEFT_LOCK_TREE_WAITS:
        code = add_waits(job, err);
        break;
    case WEFT_LOCK_TREE_SECTIONS:
        code = add_sections(job, err);
        break;
    case WEFT_LOCK_TREE_MEANWHILE:
        code = add_meanwhile(job, run, err);
        break;
    }
    return code != WEFT_OK || fill(job) ? code : weft_no_memory(err, "a tree of locks");
}

enum weft_code weft_lock_tree_run(const struct weft_interplay *interplay,
                                  const struct weft_thread_filter *filter,
                                  const struct weft_lock_tree_opts *opts,
                                  const struct weft_run *run, struct weft_lock_tree_table **table,
                                  struct weft_err *err)
{
    struct job job = { .interplay = interplay, .opts = opts };
    *table = NULL;
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    struct weft_arena *arena = weft_arena_new(0);
    job.table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_lock_tree_table) : NULL;
    enum weft_code code = job.table ? WEFT_OK : weft_no_memory(err, "a tree of locks");
    if (job.table) {
        *job.table = (struct weft_lock_tree_table){ .arena = arena,
                                                    .from_ns = opts->from_ns,
                                                    .to_ns = opts->to_ns };
        code = work(&job, filter, run, err);
    }
    weft_strtab_free(job.texts);
    weft_map_free(job.node_of);
    free(job.is_kept);
    WEFT_ROOM_FINI(&job.nodes);
    WEFT_ROOM_FINI(&job.spans);
    if (code == WEFT_OK)
        *table = job.table;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
