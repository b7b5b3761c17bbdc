/* SPDX-License-Identifier: MIT
 *
 * Critical paths of thousands of random graphs, against a twin that fills one element for each
 * nanosecond; and of programs that are executed again with a part of their path made shorter.
 */
#include "plain_twin.h"
#include "schema/path.h"

#include <stddef.h>

enum { N_GRAPHS = 4000, N_PROGRAMS = 2000 };

static bool is_tiled(const struct weft_path_walked *walked, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t at_ns = from_ns;
    for (size_t i = 0; i < walked->segments.n; i++) {
        const struct weft_path_segment *segment = &walked->segments.items[i];
        if (segment->start_ns != at_ns || segment->end_ns <= at_ns)
            return false;
        at_ns = segment->end_ns;
    }
    return at_ns == to_ns;
}

/* No arrow leads back in time, and one stands wherever the path changes threads. */
static bool is_joined(const struct weft_path_walked *walked)
{
    const struct weft_path_segment *segments = walked->segments.items;
    for (size_t i = 0; i < walked->arrows.n; i++)
        if (walked->arrows.items[i].from_ns > walked->arrows.items[i].to_ns)
            return false;
    for (size_t i = 0; i + 1 < walked->segments.n; i++) {
        bool is_left = segments[i].thread_id == segments[i + 1].thread_id, is_reached = is_left;
        for (size_t k = 0; k < walked->arrows.n; k++) {
            const struct weft_path_arrow *arrow = &walked->arrows.items[k];
            is_left |= arrow->from_ns == segments[i].end_ns &&
                       arrow->from_thread_id == segments[i].thread_id;
            is_reached |= arrow->to_thread_id == segments[i + 1].thread_id &&
                          arrow->to_ns >= segments[i].end_ns &&
                          arrow->to_ns <= segments[i + 1].end_ns;
        }
        if (!is_left || !is_reached)
            return false;
    }
    return true;
}

static bool is_equal(const struct twin *twin, const struct weft_path_walked *walked)
{
    for (size_t i = 0; i < walked->segments.n; i++) {
        const struct weft_path_segment *segment = &walked->segments.items[i];
        const unsigned refused = WEFT_PATH_CYCLE | WEFT_PATH_TOO_DEEP;
        const char letter = segment->flags & WEFT_PATH_IN_FLIGHT ? '~'
                            : segment->flags & refused           ? '?'
                                                                 : plain_letter(segment);
        for (uint64_t at = segment->start_ns; at < segment->end_ns; at++)
            if (twin->path[at].thread_id != segment->thread_id || twin->path[at].letter != letter)
                return false;
    }
    return true;
}

static void check_graphs(uint64_t seed)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    struct twin *twin = calloc(1, sizeof *twin);
    size_t n_tiled = 0, n_joined = 0, n_equal = 0, n_arrows = 0, n_cycles = 0, n_flights = 0;
    if (!plain || !twin)
        abort();
    for (size_t i = 0; i < N_GRAPHS; i++) {
        uint64_t state = seed + i;
        struct weft_path_walked walked = { 0 };
        struct weft_err err = { 0 };
        const uint32_t n_threads = 1 + (uint32_t)(tap_random(&state) % 12);
        random_graph(&state, plain, n_threads);
        struct weft_path_walk_opts opts = { .thread_id = (uint32_t)(tap_random(&state) % n_threads),
                                            .max_segments = 8 * LENGTH };
        opts.from_ns = tap_random(&state) % LENGTH;
        opts.to_ns = opts.from_ns + tap_random(&state) % (LENGTH - opts.from_ns);
        if (weft_path_walk(&plain->graph, &opts, &walked, &err) != WEFT_OK)
            abort();
        twin_fill(twin, plain, opts.thread_id, opts.from_ns, opts.to_ns);
        n_tiled += is_tiled(&walked, opts.from_ns, opts.to_ns);
        n_joined += is_joined(&walked);
        const bool is_same = is_equal(twin, &walked);
        if (!is_same && n_equal == i)
            tap_note("differs: seed %" PRIu64, seed + i);
        n_equal += is_same;
        n_arrows += walked.arrows.n;
        n_cycles += walked.n_cycles;
        for (size_t k = 0; k < walked.segments.n; k++)
            n_flights += walked.segments.items[k].flags & WEFT_PATH_IN_FLIGHT ? 1 : 0;
        weft_path_walked_fini(&walked);
    }
    tap_eq_u64(n_tiled, N_GRAPHS, "paths fill their interval without hole or overlap");
    tap_eq_u64(n_joined, N_GRAPHS, "arrows join segments, none leads back in time");
    tap_eq_u64(n_equal, N_GRAPHS, "paths are those of the twin");
    tap_ok(n_arrows > N_GRAPHS && n_cycles > 100 && n_flights > 100,
           "there were arrows (%zu), rings (%zu), messages under way (%zu)", n_arrows, n_cycles,
           n_flights);
    free(plain);
    free(twin);
}

/* ---- programs -------------------------------------------------------------------------------- */

enum { N_OPS = 160, N_WORKERS = 12 };

/* One step of a thread's program: it runs, says that something is done, or waits until an earlier
 * step of another thread has said so. */
enum op_kind { OP_RUN, OP_SIGNAL, OP_WAIT };

struct op {
    enum op_kind kind;
    uint32_t thread_id;
    uint64_t length_ns;
    size_t signal;     /* OP_WAIT: which step */
    uint64_t begin_ns; /* when it was executed */
};

struct program {
    struct op ops[N_OPS];
    size_t n;
    uint64_t state;
    bool is_busy[N_WORKERS]; /* serves a request now */
};

static size_t add_op(struct program *program, enum op_kind kind, uint32_t thread_id, size_t signal)
{
    if (program->n == N_OPS)
        abort();
    program->ops[program->n] = (struct op){ .kind = kind,
                                            .thread_id = thread_id,
                                            .length_ns = 1 + tap_random(&program->state) % 12,
                                            .signal = signal };
    return program->n++;
}

/* A thread runs, asks an idle one to do something, sometimes another one whose answer it does not
 * need, and waits for the answer. Threads that serve requests wait for them. */
static void add_task(struct program *program, uint32_t thread_id, unsigned depth)
{
    program->is_busy[thread_id] = true;
    for (unsigned n = 1 + (unsigned)(tap_random(&program->state) % 3); n > 0; n--) {
        const uint32_t helper = (uint32_t)(tap_random(&program->state) % N_WORKERS);
        (void)add_op(program, OP_RUN, thread_id, 0);
        if (depth == 0 || program->is_busy[helper] || program->n > N_OPS / 2)
            continue;
        const size_t request = add_op(program, OP_SIGNAL, thread_id, 0);
        (void)add_op(program, OP_WAIT, helper, request);
        add_task(program, helper, depth - 1);
        const size_t answer = add_op(program, OP_SIGNAL, helper, 0);
        if (tap_random(&program->state) % 4)
            (void)add_op(program, OP_WAIT, thread_id, answer);
        else
            for (size_t k = request + 1; k < program->n; k++) /* they may not be done when asked */
                program->is_busy[program->ops[k].thread_id] = true;
    }
    (void)add_op(program, OP_RUN, thread_id, 0);
    program->is_busy[thread_id] = false;
}

static void random_program(struct program *program, uint64_t seed)
{
    *program = (struct program){ .state = seed };
    add_task(program, 0, 5);
}

/* Executes, each thread on a processor of its own; gives the times at which they end. */
static void execute(struct program *program, uint64_t ends_ns[N_WORKERS])
{
    memset(ends_ns, 0, N_WORKERS * sizeof *ends_ns);
    struct op *ops = program->ops;
    for (size_t i = 0; i < program->n; i++) {
        uint64_t *now_ns = &ends_ns[ops[i].thread_id];
        ops[i].begin_ns = *now_ns;
        if (ops[i].kind == OP_RUN)
            *now_ns += ops[i].length_ns;
        else if (ops[i].kind == OP_WAIT && ops[ops[i].signal].begin_ns > *now_ns)
            *now_ns = ops[ops[i].signal].begin_ns;
    }
}

static void add_state(struct plain_row *row, char letter, uint64_t from_ns, uint64_t to_ns)
{
    if (from_ns == to_ns)
        return;
    if (row->n == 0)
        row->at_ns[row->n++] = from_ns;
    row->state[row->n - 1] = letter;
    row->at_ns[row->n++] = to_ns;
}

static void draw_program(const struct program *program, struct plain_graph *plain)
{
    const struct op *ops = program->ops;
    *plain = (struct plain_graph){ .graph = { .ops = &plain_ops } };
    for (size_t i = 0; i < program->n; i++) {
        const struct op *op = &ops[i];
        const uint64_t done_ns = op->kind == OP_WAIT ? ops[op->signal].begin_ns : 0;
        if (op->kind == OP_RUN)
            add_state(&plain->rows[op->thread_id], 'R', op->begin_ns, op->begin_ns + op->length_ns);
        if (op->kind != OP_WAIT || done_ns <= op->begin_ns)
            continue;
        add_state(&plain->rows[op->thread_id], 'B', op->begin_ns, done_ns);
        plain->edges[plain->n_edges++] = (struct plain_edge){ .from = ops[op->signal].thread_id,
                                                              .to = op->thread_id,
                                                              .from_ns = done_ns,
                                                              .to_ns = done_ns };
    }
}

/* The step of a thread that runs at `at_ns`. */
static struct op *op_at(struct program *program, uint32_t thread_id, uint64_t at_ns)
{
    struct op *ops = program->ops;
    for (size_t i = 0; i < program->n; i++)
        if (ops[i].kind == OP_RUN && ops[i].thread_id == thread_id && ops[i].begin_ns <= at_ns &&
            at_ns < ops[i].begin_ns + ops[i].length_ns)
            return &ops[i];
    return NULL;
}

static bool is_shorter(struct program *program, const struct weft_path_segment *segment,
                       uint64_t end_ns)
{
    uint64_t ends_ns[N_WORKERS];
    struct op *op = op_at(program, segment->thread_id, segment->start_ns);
    if (!op)
        return false;
    op->length_ns--;
    execute(program, ends_ns);
    const bool is_ok = ends_ns[0] == end_ns - 1;
    op->length_ns++;
    execute(program, ends_ns);
    return is_ok;
}

static void check_programs(uint64_t seed)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    struct program *program = calloc(1, sizeof *program);
    size_t n_segments = 0, n_shorter = 0, n_waits = 0, n_depth = 0;
    if (!plain || !program)
        abort();
    for (size_t i = 0; i < N_PROGRAMS; i++) {
        uint64_t ends_ns[N_WORKERS];
        random_program(program, seed + i);
        execute(program, ends_ns);
        draw_program(program, plain);
        const struct weft_path_walk_opts opts = { .to_ns = ends_ns[0],
                                                  .max_segments = 8 * (ends_ns[0] + 1) };
        struct weft_path_walked walked = { 0 };
        struct weft_err err = { 0 };
        if (weft_path_walk(&plain->graph, &opts, &walked, &err) != WEFT_OK)
            abort();
        for (size_t k = 0; k < walked.segments.n; k++) {
            const struct weft_path_segment *segment = &walked.segments.items[k];
            n_waits += segment->state != WEFT_PATH_USER;
            n_depth += segment->depth > 1;
            n_segments++;
            n_shorter += is_shorter(program, segment, ends_ns[0]);
        }
        weft_path_walked_fini(&walked);
    }
    tap_eq_u64(n_waits, 0, "every wait is replaced by what it was for");
    tap_eq_u64(n_shorter, n_segments, "each segment made shorter makes the execution shorter");
    tap_ok(n_depth > 1000, "there were waits within waits: %zu segments", n_depth);
    free(plain);
    free(program);
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    check_graphs(seed);
    check_programs(seed);
    return tap_done();
}
