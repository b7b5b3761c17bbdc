/* SPDX-License-Identifier: MIT
 *
 * Critical paths of random programs of which no kernel tells: threads that poll, read, sync, join
 * and wait for nobody knows what, and make descriptors ready for each other. The twin looks at all
 * there is for each question, and fills the path microsecond by microsecond.
 */
#include "analysis/path/critical_path.h"
#include "schema/result.h"
#include "text_trace.h"

#include <stdarg.h>
#include <stdlib.h>

enum { SEEDS = 600, THREADS = 5, OPS = 8, POINTS = 7, TICKS = 600, TICK_NS = 1000 };
enum { DESCRIPTORS = 4, HANDLES = 3, LONG_CALL = 50, LONG_WAIT = 10 };
enum { LINE_BYTES = 64, TEXT_BYTES = TOLD_LINES * LINE_BYTES };

enum what { POLL, READ, SYNC, JOIN, NAP };

struct op {
    enum what what;
    unsigned start, end, object;
    unsigned ready[2], n_ready; /* POLL, if told */
    bool is_told, is_file;
};

struct point {
    unsigned at, fd;
};

struct forked {
    unsigned at, handle;
};

struct thread {
    struct op ops[OPS];
    struct point points[POINTS];
    unsigned n_ops, n_points, end;
    struct forked forked;
};

struct program {
    struct thread threads[THREADS];
};

/* Of a microsecond. */
struct tick {
    unsigned thread, state, reason, flags;
};

static unsigned draw(uint64_t *state, unsigned n)
{
    return (unsigned)(tap_random(state) % n);
}

/* ---- a program ------------------------------------------------------------------------------- */

static struct op make_op(uint64_t *state, unsigned at)
{
    static const unsigned lengths[] = { 4, 9, 10, 30, 49, 50, 51, 90 };
    struct op op = { .what = (enum what)draw(state, 5),
                     .start = at,
                     .end = at + lengths[draw(state, 8)],
                     .is_told = draw(state, 2) == 0,
                     .is_file = draw(state, 2) == 0 };
    op.object = 1 + draw(state, op.what == JOIN ? HANDLES : DESCRIPTORS);
    op.n_ready = draw(state, 3);
    for (unsigned k = 0; k < op.n_ready; k++)
        op.ready[k] = 1 + draw(state, DESCRIPTORS);
    return op;
}

static void make_thread(struct thread *thread, uint64_t *state, bool is_first)
{
    unsigned at = 1 + draw(state, 60);
    *thread = (struct thread){ .forked = { draw(state, TICKS), 1 + draw(state, HANDLES) } };
    while (thread->n_ops < OPS && at < TICKS - 100) {
        thread->ops[thread->n_ops] = make_op(state, at);
        at = thread->ops[thread->n_ops++].end + 1 + draw(state, 60);
    }
    thread->end = is_first ? TICKS : at + draw(state, 100);
    for (; thread->n_points < POINTS; thread->n_points++)
        thread->points[thread->n_points] =
            (struct point){ draw(state, thread->end), 1 + draw(state, DESCRIPTORS) };
}

struct line {
    unsigned at, order;
    char bytes[LINE_BYTES];
};

static int by_time(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->at != y->at ? (x->at < y->at ? -1 : 1)
                          : (x->order > y->order) - (x->order < y->order);
}

struct lines {
    struct line items[TOLD_LINES];
    unsigned n;
};

__attribute__((format(printf, 3, 4))) static void put(struct lines *lines, unsigned at,
                                                      const char *form, ...)
{
    struct line *line = &lines->items[lines->n];
    char rest[40];
    va_list values;
    va_start(values, form);
    (void)vsnprintf(rest, sizeof rest, form, values);
    va_end(values);
    *line = (struct line){ .at = at, .order = lines->n++ };
    (void)snprintf(line->bytes, sizeof line->bytes, "%u 0 %s\n", at * TICK_NS, rest);
}

static void put_op(struct lines *lines, unsigned id, const struct op *op)
{
    static const unsigned functions[] = { 8, 9, 10, 7, 2 };
    put(lines, op->start, "enter %u %u %u", id, functions[op->what], op->object);
    if (op->what == POLL && op->is_told && op->n_ready == 2)
        put(lines, op->start, "args %u {\"ready\":[%u,%u]}", id, op->ready[0], op->ready[1]);
    else if (op->what == POLL && op->is_told && op->n_ready == 1)
        put(lines, op->start, "args %u {\"ready\":[%u]}", id, op->ready[0]);
    else if (op->what == POLL && op->is_told)
        put(lines, op->start, "args %u {\"ready\":[]}", id);
    put(lines, op->end, "exit %u %u", id, functions[op->what]);
    if ((op->what == READ && op->is_file) || op->what == SYNC)
        put(lines, op->end, "file %u %u", id, (op->end - op->start) * TICK_NS);
}

static void write_program(const struct program *program, char text[TEXT_BYTES])
{
    static struct lines lines;
    size_t n = 0;
    lines.n = 0;
    for (unsigned id = 0; id < THREADS; id++) {
        const struct thread *thread = &program->threads[id];
        put(&lines, 0, "enter %u 0", id);
        for (unsigned i = 0; i < thread->n_ops; i++)
            put_op(&lines, id, &thread->ops[i]);
        for (unsigned i = 0; i < thread->n_points; i++)
            put(&lines, thread->points[i].at, "ready %u %u", id, thread->points[i].fd);
        if (id > 0)
            put(&lines, thread->forked.at, "fork 0 %u %u", id, thread->forked.handle);
        put(&lines, thread->end, "exit %u 0", id);
    }
    qsort(lines.items, lines.n, sizeof *lines.items, by_time);
    for (unsigned i = 0; i < lines.n; i++)
        n += (size_t)snprintf(text + n, TEXT_BYTES - n, "%s", lines.items[i].bytes);
}

/* ---- the twin -------------------------------------------------------------------------------- */

static bool is_wait(const struct op *op)
{
    return (op->what != READ && op->what != SYNC) || op->end - op->start >= LONG_CALL;
}

struct source {
    unsigned thread, at;
    bool is_found, is_uncertain;
};

static struct source who_joined(const struct program *program, const struct op *op, unsigned self,
                                unsigned end)
{
    struct source source = { .is_found = false };
    unsigned latest = 0;
    for (unsigned id = 1; id < THREADS; id++) {
        const struct forked *forked = &program->threads[id].forked;
        if (forked->handle != op->object || forked->at > end || (latest && forked->at + 1 < latest))
            continue;
        latest = forked->at + 1;
        source = (struct source){ id, program->threads[id].end, true, false };
    }
    source.is_found = source.is_found && source.thread != self && source.at > op->start;
    return source;
}

static struct source who_made_ready(const struct program *program, const struct op *op,
                                    unsigned self, unsigned end)
{
    const bool is_told = op->what == POLL && op->is_told;
    const unsigned *fds = is_told ? op->ready : &op->object;
    const unsigned n_fds = is_told ? op->n_ready : 1;
    struct source source = { .is_found = false };
    for (unsigned k = 0; k < n_fds; k++)
        for (unsigned id = 0; id < THREADS; id++)
            for (unsigned i = 0; id != self && i < POINTS; i++) {
                const struct point *point = &program->threads[id].points[i];
                if (point->fd == fds[k] && point->at >= op->start && point->at <= end &&
                    (!source.is_found || point->at < source.at))
                    source = (struct source){ id, point->at, true, true };
            }
    return source;
}

static struct source who_ended(const struct program *program, const struct op *op, unsigned self,
                               unsigned end)
{
    if (op->what == NAP || op->what == SYNC || end - op->start < LONG_WAIT)
        return (struct source){ .is_found = false };
    return op->what == JOIN ? who_joined(program, op, self, end)
                            : who_made_ready(program, op, self, end);
}

/* Why the thread waits, if nobody ended it; `end`: of what is asked for. */
static struct tick nobody(const struct op *op, unsigned self, unsigned end)
{
    struct tick tick = { self, WEFT_PATH_BLOCKED, WEFT_PATH_WAKER_UNKNOWN, 0 };
    const bool is_timed_out = op->what == POLL && op->is_told && op->n_ready == 0;
    if (op->what == JOIN || op->what == NAP)
        return tick;
    tick.reason = is_timed_out ? WEFT_PATH_TIMER : WEFT_PATH_CALL;
    if (op->what == SYNC || (op->what == READ && op->is_file && end == op->end))
        tick.reason = WEFT_PATH_BLOCK_DEVICE;
    tick.flags = is_timed_out ? WEFT_PATH_TIMED_OUT : WEFT_PATH_UNCERTAIN;
    return tick;
}

static void fill(struct tick *ticks, unsigned from, unsigned to, struct tick tick,
                 bool is_uncertain)
{
    tick.flags |= is_uncertain ? WEFT_PATH_UNCERTAIN : 0;
    for (unsigned at = from; at < to; at++)
        ticks[at] = tick;
}

/* The path of the thread in [from, to); `on_way`: bits of threads that wait for it. */
static void find(const struct program *program, unsigned self, unsigned from, unsigned to,
                 unsigned on_way, bool is_uncertain, struct tick *ticks)
{
    const struct thread *thread = &program->threads[self];
    unsigned at = to;
    on_way |= 1u << self;
    while (at > from) {
        const struct op *in = NULL;
        unsigned start = from;
        for (unsigned i = 0; i < thread->n_ops; i++) {
            const struct op *op = &thread->ops[i];
            if (is_wait(op) && op->start < at && at <= op->end)
                in = op;
            else if (is_wait(op) && op->end < at && op->end > start)
                start = op->end;
        }
        if (in)
            start = in->start > from ? in->start : from;
        const unsigned end = at;
        const struct source source =
            in ? who_ended(program, in, self, end) : (struct source){ .is_found = false };
        const unsigned sent = source.at < end ? source.at : end;
        const bool is_before = sent <= start;
        at = start;
        if (!in) {
            fill(ticks, start, end, (struct tick){ self, WEFT_PATH_RUNNING, 0, 0 }, is_uncertain);
        } else if (!source.is_found) {
            fill(ticks, start, end, nobody(in, self, end), is_uncertain);
        } else if (!is_before && on_way >> source.thread & 1) {
            fill(ticks, start, end,
                 (struct tick){ self, WEFT_PATH_BLOCKED, WEFT_PATH_THREAD, WEFT_PATH_CYCLE },
                 is_uncertain);
        } else {
            fill(ticks, is_before ? start : sent, end,
                 (struct tick){ self, WEFT_PATH_BLOCKED, WEFT_PATH_THREAD, WEFT_PATH_IN_FLIGHT },
                 is_uncertain || source.is_uncertain);
            if (!is_before)
                find(program, source.thread, start, sent, on_way,
                     is_uncertain || source.is_uncertain, ticks);
        }
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static bool is_equal(const struct weft_path_table *table, const struct tick *ticks, unsigned from,
                     unsigned to)
{
    unsigned at = from;
    for (size_t i = 0; i < table->n_segments; i++) {
        const struct weft_path_segment *segment = &table->segments[i];
        for (; at < to && at * (uint64_t)TICK_NS < segment->end_ns; at++)
            if (ticks[at].thread != segment->thread_id || ticks[at].state != segment->state ||
                ticks[at].reason != segment->reason || ticks[at].flags != segment->flags)
                return tap_note("at %u us: thread %u state %u reason %u flags %u, want %u %u %u %u",
                                at, segment->thread_id, segment->state, segment->reason,
                                segment->flags, ticks[at].thread, ticks[at].state, ticks[at].reason,
                                ticks[at].flags),
                       false;
    }
    return at == to;
}

static bool check(const struct program *program, const struct weft_trace *trace, unsigned from,
                  unsigned to, const struct weft_run *run)
{
    static struct tick ticks[TICKS];
    const struct weft_path_opts opts = { .thread_id = 0,
                                         .from_ns = from * (uint64_t)TICK_NS,
                                         .to_ns = to * (uint64_t)TICK_NS,
                                         .call_depth = WEFT_PATH_INNERMOST };
    struct weft_path_table *table;
    struct weft_err err = { 0 };
    find(program, 0, from, to, 0, false, ticks);
    if (weft_path_run(trace, &opts, run, &table, &err) != WEFT_OK)
        return tap_note("%s", err.text), false;
    const bool is_good = is_equal(table, ticks, from, to);
    weft_result_free(table);
    return is_good;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    const struct weft_run run = { .pool = weft_pool_new(1) };
    struct text_thread threads[THREADS];
    static char path[512], text[TEXT_BYTES];
    (void)snprintf(path, sizeof path, "%s/oracle_path_waits.weft", root ? root : ".");
    for (unsigned id = 0; id < THREADS; id++)
        threads[id] = (struct text_thread){ .tid = TOLD_PROCESS + id };
    unsigned n_wrong = 0;
    const uint64_t first_seed = tap_seed(1);
    for (uint64_t seed = first_seed; seed < first_seed + SEEDS && n_wrong < 3; seed++) {
        struct program program;
        struct weft_trace *trace = NULL;
        uint64_t state = seed;
        for (unsigned id = 0; id < THREADS; id++)
            make_thread(&program.threads[id], &state, id == 0);
        write_program(&program, text);
        if (text_trace_write(path, threads, THREADS, text) != WEFT_OK ||
            weft_trace_open(path, &trace, NULL) != WEFT_OK)
            abort();
        const unsigned from = draw(&state, TICKS / 2), to = from + 1 + draw(&state, TICKS / 2);
        const bool is_good =
            check(&program, trace, 0, TICKS, &run) && check(&program, trace, from, to, &run);
        if (!is_good)
            tap_note("seed %" PRIu64 "\n%s", seed, n_wrong == 0 ? text : "");
        n_wrong += !is_good;
        weft_trace_close(trace);
    }
    tap_eq_u64(n_wrong, 0, "paths of %d programs without a kernel", SEEDS);
    weft_pool_free(run.pool);
    (void)remove(path);
    return tap_done();
}
