/* SPDX-License-Identifier: MIT
 *
 * Mining: partitions, wide sets, limits, deep and broad calls. (The numbers themselves are checked
 * against a naive twin, tests/oracle.)
 */
#include "analysis/shapes/mine.h"
#include "analysis/shapes/shapes.h"
#include "random_stored.h"
#include "schema/result.h"
#include "tap.h"

enum { TRACES = 150, MOST_CUTS = 64 };

static struct weft_pool *pools[2];

static struct weft_trace *must_open(const char *path)
{
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    if (weft_trace_open(path, &trace, &err) != WEFT_OK) {
        tap_note("%s: %s", path, err.text);
        abort();
    }
    return trace;
}

/* ---- what is compared ------------------------------------------------------------------------ */

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return weft_shape_mix(sum * 31 + value);
}

/* Everything that mining found, as one number. */
static uint64_t sum_of_mined(const struct weft_mined *mined)
{
    const struct weft_shape_set *set = &mined->set;
    uint64_t sum = set->n_shapes;
    for (uint32_t s = 0; s < set->n_shapes; s++) {
        size_t n = 0;
        const uint32_t *children = weft_shape_children(set, s, &n);
        sum = mix(mix(sum, set->function_id[s]), set->depth[s]);
        for (size_t i = 0; i < n; i++) {
            const struct weft_shape_repeat *repeat = &mined->repeats[set->first_child[s] + i];
            sum = mix(mix(mix(mix(sum, children[i]), repeat->sum), repeat->min), repeat->max);
        }
    }
    for (size_t t = 0; t < mined->n_threads; t++) {
        const struct weft_mined_thread *thread = &mined->threads[t];
        sum = mix(mix(sum, thread->tally.calls), thread->tally.cut_calls);
        sum = mix(mix(sum, thread->tally.excluded_calls), thread->tally.limited_calls);
        sum = mix(mix(sum, thread->tally.repaired_calls), thread->n_rows);
        for (size_t i = 0; i < thread->n_rows; i++) {
            const struct weft_shape_row *row = &thread->rows[i];
            sum = mix(mix(mix(sum, row->shape_id), row->count), row->sum_ns);
            sum = mix(mix(mix(sum, row->min_ns), row->max_ns), row->first_ns);
            sum = mix(mix(sum, row->first_end_ns), row->slowest_ns);
        }
    }
    return sum;
}

struct heard {
    const struct weft_mined *mined;
    uint64_t calls[STORED_MOST_THREADS]; /* by mined thread: order does not count */
    uint64_t n_calls;
    uint64_t n_shapes, n_rows;
};

static enum weft_code hear(void *context, size_t part, unsigned worker,
                           const struct weft_shape_done *done, size_t n_done, struct weft_err *err)
{
    (void)worker, (void)err;
    struct heard *heard = context;
    uint64_t sum = 0;
    for (size_t i = 0; i < n_done; i++)
        sum += mix(mix(done[i].start_ns, done[i].end_ns), done[i].shape);
    __atomic_fetch_add(&heard->calls[heard->mined->parts[part].item], sum, __ATOMIC_RELAXED);
    __atomic_fetch_add(&heard->n_calls, n_done, __ATOMIC_RELAXED);
    return WEFT_OK;
}

/* Mines and replays; aborts on failure. */
static uint64_t sum_of(const struct weft_trace *trace, const struct weft_mine_opts *opts,
                       struct weft_pool *pool, struct heard *heard)
{
    struct weft_mined mined;
    struct weft_err err = { 0 };
    const struct weft_run run = { .pool = pool };
    struct weft_shape_replay *replay = NULL;
    const struct weft_shape_replay_sink sink = { .context = heard, .calls = hear };
    *heard = (struct heard){ .mined = &mined };
    if (weft_mine_run(trace, NULL, opts, &run, &mined, &err) != WEFT_OK ||
        weft_shape_replay_new(trace, &mined, opts, &run, &replay, &err) != WEFT_OK ||
        weft_shape_replay_run(replay, NULL, 0, &sink, &err) != WEFT_OK) {
        tap_note("code %d: %s %s", (int)err.code, err.text, err.place);
        abort();
    }
    uint64_t sum = sum_of_mined(&mined);
    heard->n_shapes = mined.set.n_shapes;
    for (size_t t = 0; t < mined.n_threads; t++)
        heard->n_rows += mined.threads[t].n_rows;
    heard->mined = NULL;
    weft_shape_replay_free(replay);
    weft_mined_fini(&mined);
    return sum;
}

/* ---- random traces --------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct weft_mine_cut *x = a, *y = b;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    return (x->block > y->block) - (x->block < y->block);
}

static size_t random_cuts(uint64_t *state, const struct weft_trace *trace,
                          struct weft_mine_cut *cuts)
{
    size_t n = tap_random(state) % MOST_CUTS;
    for (size_t i = 0; i < n; i++) {
        uint32_t id = (uint32_t)(tap_random(state) % weft_trace_n_threads(trace));
        cuts[i] = (struct weft_mine_cut){
            .thread_id = id,
            .block = tap_random(state) % (weft_trace_thread(trace, id)->n_blocks + 2),
        };
    }
    qsort(cuts, n, sizeof *cuts, by_place);
    return n;
}

/* Rows of shapes on threads, if they are limited, are no more, and those of the first shapes. */
static bool has_rows_in_limit(const struct weft_trace *trace, const struct weft_mine_opts *opts,
                              uint64_t sum, const struct heard *heard)
{
    struct heard other;
    struct weft_mine_opts unlimited = *opts;
    unlimited.max_rows = 0;
    const uint64_t want = sum_of(trace, &unlimited, pools[0], &other);
    if (opts->max_rows == 0 || other.n_rows <= opts->max_rows)
        return sum == want;
    unlimited.max_shapes = heard->n_shapes;
    return heard->n_rows <= opts->max_rows && heard->n_shapes < other.n_shapes &&
           (heard->n_shapes == 0 || sum_of(trace, &unlimited, pools[0], &other) == sum);
}

/* One trace: every way of mining it must give the same. */
static bool is_same_anyhow(const struct weft_trace *trace, uint64_t *state)
{
    struct weft_mine_cut cuts[MOST_CUTS];
    bool is_excluded[16] = { false };
    struct weft_window window = { tap_random(state) % 3000, 0 };
    window.to_ns = window.from_ns + tap_random(state) % 9000000;
    for (size_t f = 0; f < 16; f++)
        is_excluded[f] = tap_random(state) % 4 == 0;
    struct weft_mine_opts opts = {
        .window = tap_random(state) % 3 ? NULL : &window,
        .is_excluded = tap_random(state) % 3 ? NULL : is_excluded,
        .max_shapes = tap_random(state) % 4 ? 0 : 1 + tap_random(state) % 20,
        .max_rows = tap_random(state) % 4 ? 0 : 1 + tap_random(state) % 30,
    };
    struct heard heard, other;
    const uint64_t want = sum_of(trace, &opts, pools[0], &heard);
    bool is_same = has_rows_in_limit(trace, &opts, want, &heard);
    if (!is_same)
        tap_note("rows beyond their limit, or not of the first shapes");
    for (unsigned way = 0; is_same && way < 8; way++) {
        struct weft_mine_opts changed = opts;
        changed.max_states = way & 1 ? 1 + tap_random(state) % 4 : 0;
        changed.max_tape_bytes = way < 3 ? 0 : 1 + tap_random(state) % 2000;
        changed.cuts = cuts;
        changed.n_cuts = way & 2 ? random_cuts(state, trace, cuts) : 0;
        is_same = sum_of(trace, &changed, pools[way % 2], &other) == want &&
                  memcmp(&heard, &other, sizeof heard) == 0;
        if (!is_same)
            tap_note("way %u differs", way);
    }
    return is_same;
}

static void test_random(const char *path)
{
    char *bytes = random_stored_bytes();
    uint64_t state = tap_seed(11);
    unsigned n = 0;
    for (; n < TRACES; n++) {
        const struct random_stored stored = { .seed = tap_random(&state) % 1000000,
                                              .bytes = bytes,
                                              .most_calls = 400 };
        (void)random_stored_write(&stored, path);
        struct weft_trace *trace = must_open(path);
        const bool is_ok = is_same_anyhow(trace, &state);
        weft_trace_close(trace);
        if (!is_ok) {
            tap_note("trace of seed %" PRIu64, stored.seed);
            break;
        }
    }
    tap_ok(n == TRACES, "cuts, windows, few states, workers: the same: %u random traces", n);
    free(bytes);
}

/* ---- made traces ----------------------------------------------------------------------------- */

struct made {
    struct weft_writer *writer;
    struct weft_sink *sink;
    uint64_t time_ns;
};

static struct made make(const char *path)
{
    const struct weft_writer_opts opts = { .source_name = "made" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("made") };
    const struct weft_thread_info info = { .tid = 1, .name = WEFT_STR("t") };
    struct made made = { 0 };
    uint32_t id;
    if (weft_writer_open(path, &opts, &made.writer, NULL) != WEFT_OK)
        abort();
    made.sink = weft_writer_sink(made.writer);
    if (made.sink->ops->begin(made.sink, &begin, NULL) != WEFT_OK ||
        made.sink->ops->thread(made.sink, &info, &id, NULL) != WEFT_OK)
        abort();
    return made;
}

static void call(struct made *made, uint32_t key, enum weft_call_kind kind)
{
    const struct weft_call_event event = { .time_ns = ++made->time_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    if (made->sink->ops->calls(made->sink, 0, &event, 1, NULL) != WEFT_OK)
        abort();
}

static struct weft_trace *finish(struct made *made, const char *path)
{
    if (made->sink->ops->thread_end(made->sink, 0, 0, NULL) != WEFT_OK ||
        weft_writer_commit(made->writer, NULL, NULL) != WEFT_OK)
        abort();
    return must_open(path);
}

static struct weft_shapes_table *must_run(const struct weft_trace *trace, uint64_t max_shapes)
{
    struct weft_shapes_opts opts;
    struct weft_shapes_table *table = NULL;
    struct weft_err err = { 0 };
    const struct weft_run run = { .pool = pools[1] };
    weft_shapes_defaults(&opts);
    opts.max_shapes = max_shapes;
    opts.n_columns = 50;
    if (weft_shapes_run(trace, NULL, &opts, &run, &table, &err) != WEFT_OK) {
        tap_note("code %d: %s", (int)err.code, err.text);
        abort();
    }
    return table;
}

/* Recursion as deep as the store allows. */
static void test_deep(const char *path)
{
    enum { DEPTH = 65535 };
    struct made made = make(path);
    for (int i = 0; i < DEPTH; i++)
        call(&made, 7, WEFT_CALL_ENTER);
    for (int i = 0; i < DEPTH; i++)
        call(&made, 7, WEFT_CALL_EXIT);
    struct weft_trace *trace = finish(&made, path);
    struct weft_shapes_table *table = must_run(trace, 0);
    tap_ok(table->n_shapes == DEPTH && table->shapes[DEPTH - 1].depth == DEPTH &&
               table->shapes[DEPTH - 1].count == 1 && table->calls == DEPTH,
           "recursion of %d frames: as many shapes", DEPTH);
    weft_result_free(table);
    table = must_run(trace, 1000);
    tap_ok(table->n_shapes == 1000 && table->calls == 1000 && table->limited_calls == DEPTH - 1000,
           "of which a limit of 1,000 leaves the innermost");
    weft_result_free(table);
    weft_trace_close(trace);
}

/* One call with very many different callees, each called twice, and one callee three times: more
 * shapes than two bytes can tell apart. */
static void test_broad(const char *path)
{
    enum { CALLEES = 70000 };
    struct made made = make(path);
    call(&made, 0, WEFT_CALL_ENTER);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 1; i <= CALLEES; i++) {
            call(&made, i, WEFT_CALL_ENTER);
            call(&made, i, WEFT_CALL_EXIT);
        }
    call(&made, 5, WEFT_CALL_ENTER);
    call(&made, 5, WEFT_CALL_EXIT);
    call(&made, 0, WEFT_CALL_EXIT);
    struct weft_trace *trace = finish(&made, path);
    struct weft_shapes_table *table = must_run(trace, 0);
    const struct weft_shape *root = &table->shapes[table->n_shapes - 1];
    uint64_t sum = 0;
    bool is_seen = true;
    for (uint32_t i = 0; i < root->n_children; i++) {
        const struct weft_shape *callee = &table->shapes[root->children[i]];
        const struct weft_shape_cluster *cluster = &table->clusters[callee->cluster_id];
        sum += root->repeats[i].sum;
        is_seen = is_seen && cluster->times.p50_ns == 1 &&
                  cluster->typical.shape_id == root->children[i] &&
                  cluster->typical.start_ns == callee->first.start_ns;
    }
    tap_ok(table->n_shapes == CALLEES + 1 && root->n_children == CALLEES &&
               sum == 2 * CALLEES + 1 && is_seen,
           "one call with %d different callees", CALLEES);
    weft_result_free(table);
    weft_trace_close(trace);
}

/* A trace without calls, and one in which every call is cut. */
static void test_empty(const char *path)
{
    struct made made = make(path);
    struct weft_trace *trace = finish(&made, path);
    struct weft_shapes_table *table = must_run(trace, 0);
    tap_ok(table->n_shapes == 0 && table->n_threads == 1 && table->n_clusters == 0,
           "a thread without calls has no shapes");
    weft_result_free(table);
    weft_trace_close(trace);
    made = make(path);
    call(&made, 3, WEFT_CALL_ENTER);
    call(&made, 4, WEFT_CALL_ENTER);
    trace = finish(&made, path);
    table = must_run(trace, 0);
    tap_ok(table->n_shapes == 0 && table->cut_calls == 2, "calls that never end have no shapes");
    weft_result_free(table);
    weft_trace_close(trace);
}

/* 0 calls (1 calls (2)) and 0 calls 2, 2: shapes in order, repetitions, one cluster of 0. */
static void test_small(const char *path)
{
    struct made made = make(path);
    static const struct {
        uint32_t key;
        enum weft_call_kind kind;
    } steps[] = {
        { 0, WEFT_CALL_ENTER }, { 1, WEFT_CALL_ENTER }, { 2, WEFT_CALL_ENTER },
        { 2, WEFT_CALL_EXIT },  { 1, WEFT_CALL_EXIT },  { 0, WEFT_CALL_EXIT },
        { 0, WEFT_CALL_ENTER }, { 2, WEFT_CALL_ENTER }, { 2, WEFT_CALL_EXIT },
        { 2, WEFT_CALL_ENTER }, { 2, WEFT_CALL_EXIT },  { 0, WEFT_CALL_EXIT },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        call(&made, steps[i].key, steps[i].kind);
    struct weft_trace *trace = finish(&made, path);
    struct weft_shapes_table *table = must_run(trace, 0);
    /* 2 | 0(2), 1(2) | 0(1(2)) */
    tap_eq_u64(table->n_shapes, 4, "four shapes");
    tap_ok(table->n_shapes == 4 && table->shapes[0].count == 3 &&
               table->shapes[1].function_id == 0 && table->shapes[1].repeats[0].min == 2 &&
               table->shapes[3].depth == 3 && table->shapes[3].children[0] == 2,
           "in canonical order, with repetitions");
    weft_result_free(table);
    weft_trace_close(trace);
}

int main(void)
{
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/test_shapes.weft", root ? root : ".");
    pools[0] = weft_pool_new(1);
    pools[1] = weft_pool_new(3);
    test_small(path);
    test_empty(path);
    test_random(path);
    test_deep(path);
    test_broad(path);
    weft_pool_free(pools[0]);
    weft_pool_free(pools[1]);
    (void)remove(path);
    return tap_done();
}
