/* SPDX-License-Identifier: MIT
 *
 * From the walk to the table: functions of segments, threads that had the CPU, sums.
 */
#include "analysis/path/critical_path.h"

#include "analysis/path/spans.h"
#include "analysis/path/stacks.h"
#include "analysis/path/walk.h"
#include "base/map.h"
#include "base/room.h"
#include "base/vec.h"
#include "model/graph/graph.h"
#include "model/graph/locks.h"
#include "model/graph/trace.h"
#include "model/interval/interval.h"
#include "schema/path.h"

#include <stdbool.h>
#include <stdlib.h>

/* ---- locks ----------------------------------------------------------------------------------- */

/* What a critical path went through: locks, conditions, barriers, joined threads. Groups the
 * arrows of a walked path by lock and sorts the rows by time, for the table's list of locks. Names
 * stay owned by the graph, which must outlive the table's making. */

struct rows {
    struct weft_path_lock_row *items;
    size_t n, cap;
};

static int by_sum(const void *a, const void *b, void *context)
{
    const struct weft_path_lock_row *rows = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (rows[i].sum_ns != rows[j].sum_ns)
        return rows[i].sum_ns > rows[j].sum_ns ? -1 : 1;
    return (i > j) - (i < j);
}

/* Adds an arrow; its lock becomes the place of its row. */
static bool add(struct weft_graph *graph, struct weft_path_arrow *arrow, struct weft_map *places,
                struct rows *rows)
{
    bool is_new;
    const uint64_t key = (uint64_t)arrow->lock << 8 | arrow->edge;
    const uint32_t place = weft_map_add(places, key, &is_new);
    struct weft_path_lock_row *row = place != WEFT_MAP_NONE && is_new ? WEFT_VEC_PUSH(rows) : NULL;
    if (place == WEFT_MAP_NONE || place >= rows->n)
        return false;
    if (row)
        *row =
            (struct weft_path_lock_row){ .object = *weft_locks_graph_object(graph, arrow->lock - 1),
                                         .edge = arrow->edge };
    row = &rows->items[place];
    row->count++;
    row->sum_ns += arrow->wait_ns;
    if (arrow->wait_ns > row->longest_ns)
        row->longest_ns = arrow->wait_ns;
    arrow->lock = place + 1;
    return true;
}

/* Puts the rows in order, and the places in the arrows right. */
static bool keep(const struct rows *rows, struct weft_path_table *table)
{
    uint32_t *order = calloc(rows->n + 1, sizeof *order);
    uint32_t *place = calloc(rows->n + 1, sizeof *place);
    bool is_good = order && place;
    table->locks = WEFT_ARENA_NEW(table->arena, rows->n, struct weft_path_lock_row);
    table->n_locks = rows->n;
    is_good = is_good && table->locks;
    for (uint32_t i = 0; is_good && i < rows->n; i++)
        order[i] = i;
    if (is_good && rows->n)
        qsort_r(order, rows->n, sizeof *order, by_sum, rows->items);
    for (uint32_t i = 0; is_good && i < rows->n; i++) {
        struct weft_str *name = &table->locks[i].object.name;
        table->locks[i] = rows->items[order[i]];
        place[order[i]] = i;
        if (name->n_bytes)
            *name = weft_arena_copy(table->arena, *name);
        is_good = name->n_bytes == 0 || name->bytes;
    }
    for (size_t i = 0; is_good && i < table->n_arrows; i++)
        if (table->arrows[i].lock)
            table->arrows[i].lock = place[table->arrows[i].lock - 1] + 1;
    free(order);
    free(place);
    return is_good;
}

/* Sums the arrows of the table by their locks, into table->locks, and makes their `lock` places
 * there. `graph` is the one that was walked (model/graph/locks.h). False without memory. */
static bool weft_path_locks_make(struct weft_graph *graph, struct weft_path_table *table)
{
    struct weft_map *places = weft_map_new();
    struct rows rows = { 0 };
    bool is_good = places != NULL;
    for (size_t i = 0; is_good && i < table->n_arrows; i++)
        if (table->arrows[i].lock)
            is_good = add(graph, &table->arrows[i], places, &rows);
    is_good = is_good && keep(&rows, table);
    WEFT_VEC_FINI(&rows);
    weft_map_free(places);
    return is_good;
}

/* ---- critical path --------------------------------------------------------------------------- */

/* Contexts looked at for one segment; the rest count for their callers. */
enum { CONTEXTS_MAX = 1 << 16 };

/* Of memory: the graph's caches and tables, and the segments. */
enum { GRAPH_SHARE = 2, LOCKS_SHARE = 8 };

struct others {
    struct weft_path_other_row *items;
    size_t n, cap;
    struct weft_map *places; /* by thread */
};

struct sums {
    struct {
        struct weft_path_thread_row *items;
        size_t n, cap;
    } threads;
    struct {
        struct weft_path_function_row *items;
        size_t n, cap;
    } functions;
    struct {
        struct weft_path_span_row *items;
        size_t n, cap;
    } spans;
    struct others preemptors, sharers;
    struct weft_path_reason_row reasons[WEFT_PATH_STATES][WEFT_PATH_REASONS];
    struct weft_map *thread_of, *function_of, *span_of; /* keys to places above */
};

/* A thread that had a CPU during one segment. */
struct occupant {
    uint32_t thread_id;
    uint64_t sum_ns, from_ns, to_ns; /* longest piece */
};

struct job {
    const struct weft_trace *trace;
    const struct weft_path_opts *opts;
    struct weft_graph *graph,
        *graph_of_trace; /* the first adds locks to the second, which is within it */
    struct weft_path_walked walked;
    struct weft_interval_reader *reader;
    struct weft_path_stacks *stacks;
    struct weft_path_spans *spans;
    struct sums sums;
    struct {
        struct occupant *items;
        size_t n, cap;
    } occupants;
    struct {
        uint64_t *items; /* by function: self time in a segment; 0 outside of name_function */
        size_t n, cap;
    } self_ns;
};

/* ---- functions ------------------------------------------------------------------------------- */

static uint32_t group_of(const struct job *job, uint32_t function_id)
{
    return weft_trace_function(job->trace, function_id)->group_id;
}

static enum weft_code add_function(struct job *job, uint32_t function_id, uint64_t sum_ns,
                                   bool is_running, struct weft_err *err)
{
    struct sums *sums = &job->sums;
    bool is_new;
    const uint32_t place = weft_map_add(sums->function_of, group_of(job, function_id), &is_new);
    if (place == WEFT_MAP_NONE)
        return weft_no_memory(err, "a critical path");
    if (is_new) {
        struct weft_path_function_row *row = WEFT_ROOM_PUSH(&sums->functions);
        if (!row)
            return weft_no_memory(err, "a critical path");
        row->function_id = function_id;
    }
    if (is_running)
        sums->functions.items[place].running_ns += sum_ns;
    else
        sums->functions.items[place].waiting_ns += sum_ns;
    return WEFT_OK;
}

/* The time that counts for a context's function: its own, and below opts->call_depth that of its
 * callees. */
static uint64_t time_of(const struct job *job, const struct weft_interval_context *context)
{
    const uint32_t depth = job->opts->call_depth;
    if (depth == WEFT_PATH_INNERMOST || context->depth < depth)
        return context->self_ns + context->folded_ns;
    return context->depth == depth ? context->sum_ns : 0;
}

/* The function in which `thread_id` was longest in [from_ns, to_ns): of equal ones that of the
 * least id. */
static enum weft_code name_function(struct job *job, uint32_t thread_id, uint64_t from_ns,
                                    uint64_t to_ns, uint32_t *function_id, uint64_t *function_ns,
                                    struct weft_interval *interval, struct weft_err *err)
{
    const struct weft_model_thread *thread = weft_trace_thread(job->trace, thread_id);
    *function_id = WEFT_ID_NONE;
    *function_ns = 0;
    *interval = (struct weft_interval){ 0 };
    if (thread->calls + thread->cut_calls == 0)
        return WEFT_OK;
    WEFT_TRY(weft_interval_cct(job->reader, thread_id, from_ns, to_ns, interval, err));
    for (size_t i = 0; i < interval->n_contexts; i++) {
        const uint32_t id = interval->contexts[i].function_id;
        uint64_t *sum_ns = &job->self_ns.items[group_of(job, id)];
        *sum_ns += time_of(job, &interval->contexts[i]);
        if (*sum_ns > *function_ns || (*sum_ns == *function_ns && *sum_ns && id < *function_id)) {
            *function_ns = *sum_ns;
            *function_id = id;
        }
    }
    for (size_t i = 0; i < interval->n_contexts; i++)
        job->self_ns.items[group_of(job, interval->contexts[i].function_id)] = 0;
    return WEFT_OK;
}

/* Names of spans are kept once each: a place is a name. */
static enum weft_code name_span(struct job *job, struct weft_path_segment *segment, bool is_running,
                                struct weft_err *err)
{
    struct sums *sums = &job->sums;
    bool is_new;
    enum weft_code code = weft_path_span(job->spans, segment->thread_id, segment->start_ns,
                                         segment->end_ns, &segment->span, &segment->span_ns, err);
    if (code != WEFT_OK || segment->span.n_bytes == 0)
        return code;
    const uint32_t place =
        weft_map_add(sums->span_of, (uint64_t)(uintptr_t)segment->span.bytes, &is_new);
    struct weft_path_span_row *row =
        is_new && place != WEFT_MAP_NONE ? WEFT_ROOM_PUSH(&sums->spans) : NULL;
    if (place == WEFT_MAP_NONE || place >= sums->spans.n)
        return weft_no_memory(err, "a critical path");
    if (row)
        row->name = segment->span;
    row = &sums->spans.items[place];
    *(is_running ? &row->running_ns : &row->waiting_ns) += segment->span_ns;
    return WEFT_OK;
}

/* The end of a segment with the interrupts that follow it: a sample that a timer takes of what the
 * thread does is taken within an interrupt. */
static uint64_t end_of_samples(const struct weft_path_segments *segments, size_t place)
{
    uint64_t end_ns = segments->items[place].end_ns;
    for (size_t i = place + 1; i < segments->n; i++) {
        const struct weft_path_segment *next = &segments->items[i];
        if (next->thread_id != segments->items[place].thread_id || next->start_ns != end_ns ||
            next->state != WEFT_PATH_INTERRUPTED)
            break;
        end_ns = next->end_ns;
    }
    return end_ns;
}

static enum weft_code refine(struct job *job, size_t place, struct weft_err *err)
{
    struct weft_path_segment *segment = &job->walked.segments.items[place];
    const bool is_running =
        segment->state == WEFT_PATH_RUNNING || segment->state == WEFT_PATH_USER ||
        segment->state == WEFT_PATH_KERNEL || segment->state == WEFT_PATH_INTERRUPTED;
    struct weft_interval interval;
    enum weft_code code =
        name_function(job, segment->thread_id, segment->start_ns, segment->end_ns,
                      &segment->function_id, &segment->function_ns, &interval, err);
    WEFT_THEN(code, weft_path_stack(job->stacks, segment->thread_id, segment->start_ns,
                                    end_of_samples(&job->walked.segments, place), !is_running,
                                    &segment->stack, err));
    WEFT_THEN(code, name_span(job, segment, is_running, err));
    for (size_t i = 0; i < interval.n_contexts && code == WEFT_OK; i++) {
        const uint64_t sum_ns = time_of(job, &interval.contexts[i]);
        if (sum_ns)
            code = add_function(job, interval.contexts[i].function_id, sum_ns, is_running, err);
    }
    return code;
}

/* ---- threads that had the CPU ---------------------------------------------------------------- */

static enum weft_code see_occupant(void *context, uint32_t thread_id, uint64_t from_ns,
                                   uint64_t to_ns, struct weft_err *err)
{
    struct job *job = context;
    struct occupant *occupant = NULL;
    for (size_t i = 0; i < job->occupants.n && !occupant; i++)
        if (job->occupants.items[i].thread_id == thread_id)
            occupant = &job->occupants.items[i];
    if (!occupant) {
        occupant = WEFT_ROOM_PUSH(&job->occupants);
        if (!occupant)
            return weft_no_memory(err, "a critical path");
        occupant->thread_id = thread_id;
    }
    occupant->sum_ns += to_ns - from_ns;
    if (to_ns - from_ns > occupant->to_ns - occupant->from_ns) {
        occupant->from_ns = from_ns;
        occupant->to_ns = to_ns;
    }
    return WEFT_OK;
}

static enum weft_code add_other(struct others *others, const struct occupant *occupant,
                                struct weft_err *err)
{
    bool is_new;
    const uint32_t place = weft_map_add(others->places, occupant->thread_id, &is_new);
    if (place == WEFT_MAP_NONE)
        return weft_no_memory(err, "a critical path");
    if (is_new) {
        struct weft_path_other_row *row = WEFT_ROOM_PUSH(others);
        if (!row)
            return weft_no_memory(err, "a critical path");
        row->thread_id = occupant->thread_id;
    }
    others->items[place].sum_ns += occupant->sum_ns;
    return WEFT_OK;
}

/* The threads that had what the segment waits for, a CPU or a block device. */
static enum weft_code see_others(struct job *job, const struct weft_path_segment *segment,
                                 struct others **others, struct weft_err *err)
{
    const struct weft_graph_ops *ops = job->graph->ops;
    job->occupants.n = 0;
    *others = NULL;
    if (segment->state == WEFT_PATH_PREEMPTED && ops->occupants) {
        *others = &job->sums.preemptors;
        return ops->occupants(job->graph, segment->thread_id, segment->cpu, segment->start_ns,
                              segment->end_ns, see_occupant, job, err);
    }
    if (segment->reason == WEFT_PATH_BLOCK_DEVICE && ops->sharers) {
        *others = &job->sums.sharers;
        return ops->sharers(job->graph, segment->thread_id, segment->start_ns, segment->end_ns,
                            see_occupant, job, err);
    }
    return WEFT_OK;
}

static enum weft_code find_others(struct job *job, struct weft_path_segment *segment,
                                  struct weft_err *err)
{
    const struct occupant *longest = NULL;
    struct others *others;
    enum weft_code code = see_others(job, segment, &others, err);
    for (size_t i = 0; i < job->occupants.n && code == WEFT_OK; i++) {
        const struct occupant *occupant = &job->occupants.items[i];
        if (!longest || occupant->sum_ns > longest->sum_ns)
            longest = occupant;
        code = add_other(others, occupant, err);
    }
    if (code != WEFT_OK || !longest)
        return code;
    struct weft_interval interval;
    uint64_t function_ns;
    segment->other_thread_id = longest->thread_id;
    segment->other_ns = longest->sum_ns;
    code = weft_path_stack(job->stacks, longest->thread_id, longest->from_ns, longest->to_ns, false,
                           &segment->other_stack, err);
    if (code != WEFT_OK)
        return code;
    return name_function(job, longest->thread_id, longest->from_ns, longest->to_ns,
                         &segment->other_function_id, &function_ns, &interval, err);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static enum weft_code add_to_thread(struct job *job, const struct weft_path_segment *segment,
                                    struct weft_err *err)
{
    struct sums *sums = &job->sums;
    bool is_new;
    const uint64_t length_ns = segment->end_ns - segment->start_ns;
    const uint32_t place = weft_map_add(sums->thread_of, segment->thread_id, &is_new);
    if (place == WEFT_MAP_NONE)
        return weft_no_memory(err, "a critical path");
    if (is_new) {
        struct weft_path_thread_row *row = WEFT_ROOM_PUSH(&sums->threads);
        if (!row)
            return weft_no_memory(err, "a critical path");
        row->thread_id = segment->thread_id;
    }
    struct weft_path_thread_row *row = &sums->threads.items[place];
    row->segments++;
    row->sum_ns += length_ns;
    row->by_state_ns[segment->state] += length_ns;
    struct weft_path_reason_row *reason = &sums->reasons[segment->state][segment->reason];
    reason->segments++;
    reason->sum_ns += length_ns;
    return WEFT_OK;
}

#define BY_SUM(name, type, sum, tie)                                                               \
    static int name(const void *a, const void *b)                                                  \
    {                                                                                              \
        const struct type *x = a, *y = b;                                                          \
        const uint64_t x_ns = sum(x), y_ns = sum(y);                                               \
        if (x_ns != y_ns)                                                                          \
            return x_ns > y_ns ? -1 : 1;                                                           \
        return (tie(x) > tie(y)) - (tie(x) < tie(y));                                              \
    }
#define SUM(row) ((row)->sum_ns)
#define BOTH(row) ((row)->running_ns + (row)->waiting_ns)
#define THREAD(row) ((row)->thread_id)
#define FUNCTION(row) ((row)->function_id)
#define STATE(row) ((row)->state * WEFT_PATH_REASONS + (row)->reason)

BY_SUM(by_thread, weft_path_thread_row, SUM, THREAD)
BY_SUM(by_function, weft_path_function_row, BOTH, FUNCTION)
static int by_span(const void *a, const void *b)
{
    const struct weft_path_span_row *x = a, *y = b;
    const uint64_t x_ns = BOTH(x), y_ns = BOTH(y);
    return x_ns != y_ns ? (x_ns > y_ns ? -1 : 1) : weft_str_compare(x->name, y->name);
}

BY_SUM(by_other, weft_path_other_row, SUM, THREAD)
BY_SUM(by_reason, weft_path_reason_row, SUM, STATE)

/* ---- the table ------------------------------------------------------------------------------- */

/* Texts belong to the graph and the stacks, which keep one of each: a place is a text. */
static bool keep_names(struct weft_path_table *table)
{
    struct weft_map *places = weft_map_new();
    struct {
        struct weft_str *items;
        size_t n, cap;
    } kept = { 0 };
    bool is_ok = places != NULL;
    for (size_t i = 0; is_ok && i < 4 * table->n_segments + table->n_spans; i++) {
        const size_t n_before = 4 * table->n_segments;
        struct weft_path_segment *segment = &table->segments[i < n_before ? i / 4 : 0];
        struct weft_str *const names[] = { &segment->name, &segment->stack, &segment->other_stack,
                                           &segment->span };
        struct weft_str *name = i < n_before ? names[i % 4] : &table->spans[i - n_before].name;
        bool is_new = false;
        if (!name->n_bytes)
            continue;
        const uint32_t place = weft_map_add(places, (uint64_t)(uintptr_t)name->bytes, &is_new);
        struct weft_str *copy = is_new && place != WEFT_MAP_NONE ? WEFT_ROOM_PUSH(&kept) : NULL;
        if (copy)
            *copy = weft_arena_copy(table->arena, *name);
        is_ok = place != WEFT_MAP_NONE && place < kept.n && kept.items[place].bytes;
        if (is_ok)
            *name = kept.items[place];
    }
    WEFT_ROOM_FINI(&kept);
    weft_map_free(places);
    return is_ok;
}

static bool fill_table(const struct job *job, struct weft_path_table *table)
{
    const struct sums *sums = &job->sums;
    struct weft_path_reason_row reasons[WEFT_PATH_STATES * WEFT_PATH_REASONS];
    size_t n_reasons = 0;
    for (unsigned state = 0; state < WEFT_PATH_STATES; state++)
        for (unsigned reason = 0; reason < WEFT_PATH_REASONS; reason++)
            if (sums->reasons[state][reason].segments) {
                reasons[n_reasons] = sums->reasons[state][reason];
                reasons[n_reasons].state = (uint8_t)state;
                reasons[n_reasons++].reason = (uint8_t)reason;
            }
    table->n_segments = job->walked.segments.n;
    table->n_arrows = job->walked.arrows.n;
    table->n_threads = sums->threads.n;
    table->n_reasons = n_reasons;
    table->n_functions = sums->functions.n;
    table->n_spans = sums->spans.n;
    table->n_preemptors = sums->preemptors.n;
    table->n_sharers = sums->sharers.n;
#define COPY(member, from)                                                                         \
    weft_arena_copy_items(table->arena, &table->member, from, table->n_##member,                   \
                          sizeof *table->member)
    if (!COPY(segments, job->walked.segments.items) || !COPY(arrows, job->walked.arrows.items) ||
        !COPY(threads, sums->threads.items) || !COPY(reasons, reasons) ||
        !COPY(functions, sums->functions.items) || !COPY(spans, sums->spans.items) ||
        !COPY(preemptors, sums->preemptors.items) || !COPY(sharers, sums->sharers.items))
        return false;
#undef COPY
    qsort(table->threads, table->n_threads, sizeof *table->threads, by_thread);
    qsort(table->reasons, table->n_reasons, sizeof *table->reasons, by_reason);
    qsort(table->functions, table->n_functions, sizeof *table->functions, by_function);
    qsort(table->spans, table->n_spans, sizeof *table->spans, by_span);
    qsort(table->preemptors, table->n_preemptors, sizeof *table->preemptors, by_other);
    qsort(table->sharers, table->n_sharers, sizeof *table->sharers, by_other);
    return keep_names(table);
}

static enum weft_code make_table(const struct job *job, struct weft_path_table **result,
                                 struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_path_table *table = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_path_table) : NULL;
    if (table)
        *table = (struct weft_path_table){
            .arena = arena,
            .thread_id = job->opts->thread_id,
            .from_ns = job->opts->from_ns,
            .to_ns = job->opts->to_ns,
            .n_cycles = job->walked.n_cycles,
            .n_too_deep = job->walked.n_too_deep,
            .has_kernel = weft_trace_has_switches(job->trace),
        };
    if (!table || !fill_table(job, table) || !weft_path_locks_make(job->graph, table)) {
        if (arena)
            weft_arena_free(arena);
        return weft_no_memory(err, "a critical path");
    }
    for (size_t i = 0; i < table->n_segments; i++) {
        const struct weft_path_segment *segment = &table->segments[i];
        const uint64_t length_ns = segment->end_ns - segment->start_ns;
        table->unexplained_ns += weft_path_is_unexplained(segment) ? length_ns : 0;
        table->uncertain_ns += segment->flags & WEFT_PATH_UNCERTAIN ? length_ns : 0;
    }
    *result = table;
    return WEFT_OK;
}

static enum weft_code job_init(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    const size_t n_functions = weft_trace_n_functions(job->trace);
    job->reader = weft_interval_reader_new(job->trace);
    job->sums.thread_of = weft_map_new();
    job->sums.function_of = weft_map_new();
    job->sums.preemptors.places = weft_map_new();
    job->sums.sharers.places = weft_map_new();
    job->sums.span_of = weft_map_new();
    job->stacks = weft_path_stacks_new(job->trace);
    job->spans = weft_path_spans_new(job->trace, job->opts->from_ns, job->opts->to_ns);
    job->self_ns.items = weft_room_new(n_functions + 1, sizeof *job->self_ns.items);
    if (!job->reader || !job->stacks || !job->spans || !job->sums.span_of || !job->sums.thread_of ||
        !job->sums.function_of || !job->sums.preemptors.places || !job->sums.sharers.places ||
        !job->self_ns.items)
        return weft_no_memory(err, "a critical path");
    weft_interval_reader_limit(job->reader, CONTEXTS_MAX);
    enum weft_code code =
        weft_trace_graph_open(job->trace, NULL, job->opts->from_ns, job->opts->to_ns,
                              run->memory_bytes / GRAPH_SHARE, &job->graph_of_trace, err);
    WEFT_THEN(code, weft_locks_graph_open(job->trace, job->graph_of_trace, job->opts->from_ns,
                                          job->opts->to_ns, NULL, run->memory_bytes / LOCKS_SHARE,
                                          &job->graph, err));
    return code;
}

static void job_fini(struct job *job)
{
    weft_interval_reader_free(job->reader);
    weft_map_free(job->sums.thread_of);
    weft_map_free(job->sums.function_of);
    weft_map_free(job->sums.span_of);
    weft_map_free(job->sums.preemptors.places);
    weft_map_free(job->sums.sharers.places);
    weft_path_stacks_free(job->stacks);
    weft_path_spans_free(job->spans);
    WEFT_ROOM_FINI(&job->sums.threads);
    WEFT_ROOM_FINI(&job->sums.functions);
    WEFT_ROOM_FINI(&job->sums.spans);
    WEFT_ROOM_FINI(&job->sums.preemptors);
    WEFT_ROOM_FINI(&job->sums.sharers);
    WEFT_ROOM_FINI(&job->occupants);
    WEFT_ROOM_FINI(&job->self_ns);
    weft_path_walked_fini(&job->walked);
    weft_locks_graph_close(job->graph);
    weft_trace_graph_close(job->graph_of_trace);
}

static enum weft_code fill(struct job *job, const struct weft_run *run, struct weft_err *err)
{
    const struct weft_path_segments *segments = &job->walked.segments;
    enum weft_code code = WEFT_OK;
    weft_progress_start(run->progress, "looking at the path", "segments", segments->n);
    for (size_t i = 0; i < segments->n && code == WEFT_OK; i++) {
        code = refine(job, i, err);
        WEFT_THEN(code, find_others(job, &segments->items[i], err));
        WEFT_THEN(code, add_to_thread(job, &segments->items[i], err));
        if (code == WEFT_OK && weft_progress_is_cancelled(run->progress))
            code = weft_fail(err, WEFT_E_CANCELLED, WEFT_NO_OFFSET, "interrupted");
        weft_progress_add(run->progress, 1);
    }
    return code;
}

enum weft_code weft_path_run(const struct weft_trace *trace, const struct weft_path_opts *opts,
                             const struct weft_run *run, struct weft_path_table **table,
                             struct weft_err *err)
{
    struct job job = { .trace = trace, .opts = opts };
    const struct weft_path_walk_opts walk = {
        .thread_id = opts->thread_id,
        .from_ns = opts->from_ns,
        .to_ns = opts->to_ns,
        .progress = run->progress,
    };
    *table = NULL;
    if (opts->thread_id >= weft_trace_n_threads(trace))
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "the trace has no thread %u",
                         opts->thread_id);
    if (opts->from_ns > opts->to_ns)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "expected an interval that ends after its start");
    enum weft_code code = job_init(&job, run, err);
    WEFT_THEN(code, weft_path_walk(job.graph, &walk, &job.walked, err));
    WEFT_THEN(code, fill(&job, run, err));
    WEFT_THEN(code, make_table(&job, table, err));
    job_fini(&job);
    return code;
}
