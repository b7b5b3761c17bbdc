/* SPDX-License-Identifier: MIT
 *
 * Random threads, some of which have one number, or also one name, in files of tiny blocks, and
 * random executions: calls that each makes, counted by looking at every execution for every call.
 */
#include "query/work.h"
#include "store/writer.h"
#include "tap.h"

#include <stdlib.h>

enum { TRIALS = 400, TRIALS_A_LINE = 100, THREADS = 3, MOST_CALLS = 60, MOST_ITEMS = 12 };

static char file[512];
static char what[400]; /* what differed first */

struct call {
    struct weft_str name; /* of its thread */
    uint64_t tid, start_ns, end_ns;
    uint32_t key;
};

struct trial {
    uint64_t state, last_ns;
    struct call calls[THREADS * MOST_CALLS];
    size_t n_calls;
    struct weft_execution_item items[MOST_ITEMS];
    size_t n_items;
};

static bool failed(const struct weft_err *err)
{
    weft_err_print(err, what, sizeof what);
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

static struct weft_str some_name(struct trial *trial)
{
    return tap_random(&trial->state) % 2 ? WEFT_STR("worker") : WEFT_STR("workers");
}

/* Calls of functions 0 and 1, called alike, and 2, within each other; all end. */
static enum weft_code give_thread(struct trial *trial, struct weft_sink *sink, uint64_t tid,
                                  struct weft_err *err)
{
    const struct weft_str name = some_name(trial);
    const struct weft_thread_info info = { .tid = tid, .pid = 7, .name = name };
    struct call *open[MOST_CALLS];
    size_t depth = 0, n_left = tap_random(&trial->state) % MOST_CALLS;
    uint64_t now_ns = tap_random(&trial->state) % 50;
    uint32_t thread_id;
    enum weft_code code = sink->ops->thread(sink, &info, &thread_id, err);
    while (code == WEFT_OK && n_left + depth > 0) {
        const bool is_entry = n_left > 0 && (depth == 0 || tap_random(&trial->state) % 2);
        struct weft_call_event event = { .kind = WEFT_CALL_EXIT, .time_ns = now_ns };
        if (is_entry) {
            struct call *call = &trial->calls[trial->n_calls++];
            *call =
                (struct call){ name, tid, now_ns, 0, (uint32_t)(tap_random(&trial->state) % 3) };
            event.kind = WEFT_CALL_ENTER;
            event.function_key = call->key;
            open[depth++] = call;
            n_left--;
        } else {
            open[--depth]->end_ns = now_ns;
            event.function_key = open[depth]->key;
        }
        code = sink->ops->calls(sink, thread_id, &event, 1, err);
        now_ns += tap_random(&trial->state) % 4;
    }
    trial->last_ns = now_ns > trial->last_ns ? now_ns : trial->last_ns;
    return code == WEFT_OK ? sink->ops->thread_end(sink, thread_id, now_ns, err) : code;
}

static bool write_trace(struct trial *trial)
{
    static const char *const names[] = { "part", "part", "other" };
    static const char *const modules[] = { "a", "b", "a" };
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "random", .block_rows = 7 };
    if (weft_writer_open(file, &opts, &writer, &err) != WEFT_OK)
        return failed(&err);
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random") };
    enum weft_code code = sink->ops->begin(sink, &begin, &err);
    for (uint32_t i = 0; i < 3 && code == WEFT_OK; i++) {
        const struct weft_function_info function = { .key = i,
                                                     .name = weft_str_of(names[i]),
                                                     .module = weft_str_of(modules[i]) };
        code = sink->ops->function(sink, &function, &err);
    }
    for (unsigned i = 0; i < THREADS && code == WEFT_OK; i++)
        code = give_thread(trial, sink, 7 + tap_random(&trial->state) % 2, &err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, &err) == WEFT_OK || failed(&err);
    weft_writer_abort(writer);
    return failed(&err);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void make_items(struct trial *trial)
{
    trial->n_items = tap_random(&trial->state) % MOST_ITEMS;
    for (size_t i = 0; i < trial->n_items; i++) {
        const uint64_t start_ns = tap_random(&trial->state) % (trial->last_ns + 1);
        trial->items[i] = (struct weft_execution_item){
            .tid = 7 + tap_random(&trial->state) % 3,
            .thread = some_name(trial),
            .start_ns = start_ns,
            .end_ns = start_ns + tap_random(&trial->state) % 60,
        };
    }
}

/* The item of a call, or n_items. */
static size_t item_of(const struct trial *trial, const struct call *call)
{
    size_t found = trial->n_items;
    for (size_t i = 0; i < trial->n_items; i++)
        if (trial->items[i].tid == call->tid &&
            weft_str_equal(trial->items[i].thread, call->name) &&
            trial->items[i].start_ns <= call->start_ns &&
            (found == trial->n_items || trial->items[i].start_ns >= trial->items[found].start_ns))
            found = i;
    return found < trial->n_items && call->end_ns <= trial->items[found].end_ns ? found
                                                                                : trial->n_items;
}

static bool is_same(const struct trial *trial, const struct weft_work_done *done)
{
    struct weft_work_done slow[MOST_ITEMS + 1] = { 0 };
    for (size_t i = 0; i < trial->n_calls; i++) {
        const struct call *call = &trial->calls[i];
        if (call->key == 2)
            continue;
        struct weft_work_done *own = &slow[item_of(trial, call)];
        own->calls++;
        own->ns += call->end_ns - call->start_ns;
    }
    for (size_t i = 0; i < trial->n_items; i++)
        if (slow[i].calls != done[i].calls || slow[i].ns != done[i].ns) {
            (void)snprintf(what, sizeof what, "execution %zu: %" PRIu64 " calls, want %" PRIu64, i,
                           done[i].calls, slow[i].calls);
            return false;
        }
    return true;
}

static bool is_trial_right(uint64_t seed, struct weft_pool *pool)
{
    static struct trial trial;
    struct weft_err err = { 0 };
    struct weft_trace *trace;
    struct weft_work_done *done = NULL;
    trial = (struct trial){ .state = seed * 7919 + 1 };
    if (!write_trace(&trial))
        return false;
    make_items(&trial);
    if (weft_trace_open(file, &trace, &err) != WEFT_OK)
        return failed(&err);
    const struct weft_ecct_matrix matrix = { .items = trial.items, .n_items = trial.n_items };
    const struct weft_run run = { .pool = pool };
    const enum weft_code code =
        weft_work_count(trace, &matrix, WEFT_STR("part"), &run, &done, &err);
    const bool is_right = code == WEFT_OK ? is_same(&trial, done) : failed(&err);
    free(done);
    weft_trace_close(trace);
    return is_right;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    struct weft_pool *pool = weft_pool_new(2);
    (void)snprintf(file, sizeof file, "%s/work.weft", root ? root : ".");
    if (!pool)
        return 1;
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + TRIALS; seed += TRIALS_A_LINE) {
        uint64_t n = 0;
        while (n < TRIALS_A_LINE && is_trial_right(seed + n, pool))
            n++;
        if (!tap_ok(n == TRIALS_A_LINE, "calls of executions of %d traces from seed %" PRIu64 " on",
                    TRIALS_A_LINE, seed))
            tap_note("seed %" PRIu64 ": %s", seed + n, what);
    }
    weft_pool_free(pool);
    (void)remove(file);
    return tap_done();
}
