/* SPDX-License-Identifier: MIT
 *
 * Random threads in files of tiny blocks, whose calls have texts as arguments that say of which
 * call they are: a walk of any part of a thread has those of each call, all of them and in order.
 */
#include "model/calls/arguments.h"
#include "store/writer.h"
#include "tap.h"

#include <stdlib.h>

enum { TRIALS = 600, TRIALS_A_LINE = 100, MOST_STEPS = 400, WINDOWS = 12 };

static char file[512];
static char what[400]; /* what differed first */

struct trial {
    uint64_t state, end_ns;
    unsigned n_texts[MOST_STEPS]; /* by call */
    uint64_t start_ns[MOST_STEPS];
    size_t n_rows;
};

static bool failed(const struct weft_err *err)
{
    weft_err_print(err, what, sizeof what);
    return false;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Texts of the call entered last, and events of other kinds around them. */
static enum weft_code give_events(struct trial *trial, struct weft_sink *sink, uint64_t now_ns,
                                  struct weft_err *err)
{
    const size_t row = trial->n_rows - 1;
    const unsigned n = tap_random(&trial->state) % 3 ? 0 : (unsigned)tap_random(&trial->state) % 4;
    enum weft_code code = WEFT_OK;
    trial->n_texts[row] = n;
    for (unsigned i = 0; i < 2 * n && code == WEFT_OK; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%zu.%u", row, i / 2);
        const struct weft_event event = { .kind = i % 2 ? WEFT_EVENT_CALL_ARGS : WEFT_EVENT_COUNTER,
                                          .time_ns = now_ns,
                                          .next_thread_id = WEFT_ID_NONE,
                                          .object_id = WEFT_ID_NONE,
                                          .stack_id = WEFT_ID_NONE,
                                          .name = WEFT_STR("counter"),
                                          .payload = i % 2 ? weft_str_of(text) : WEFT_STR("") };
        if (i % 2 || tap_random(&trial->state) % 2)
            code = sink->ops->events(sink, 0, &event, 1, err);
    }
    return code;
}

static enum weft_code give_thread(struct trial *trial, struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_thread_info info = { .tid = 7, .pid = 7, .name = WEFT_STR("walker") };
    const size_t n_steps = 2 + tap_random(&trial->state) % (MOST_STEPS - 2);
    uint64_t now_ns = 100;
    uint32_t thread_id;
    size_t depth = 0;
    enum weft_code code = sink->ops->thread(sink, &info, &thread_id, err);
    for (size_t i = 0; i < n_steps && code == WEFT_OK; i++) {
        const bool is_entry = depth == 0 || tap_random(&trial->state) % 9 < 5;
        const struct weft_call_event event = { .kind = is_entry ? WEFT_CALL_ENTER : WEFT_CALL_EXIT,
                                               .time_ns = now_ns };
        depth += is_entry ? 1 : (size_t)-1;
        code = sink->ops->calls(sink, thread_id, &event, 1, err);
        if (code == WEFT_OK && is_entry) {
            trial->start_ns[trial->n_rows++] = now_ns;
            code = give_events(trial, sink, now_ns, err);
        }
        now_ns += tap_random(&trial->state) % 3;
    }
    trial->end_ns = now_ns + 1;
    return code == WEFT_OK ? sink->ops->thread_end(sink, thread_id, trial->end_ns, err) : code;
}

static bool write_trace(struct trial *trial)
{
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = {
        .source_name = "random",
        .block_rows = 1 + (uint32_t)(tap_random(&trial->state) % 30),
        .block_events = 1 + (uint32_t)(tap_random(&trial->state) % 12),
    };
    if (weft_writer_open(file, &opts, &writer, &err) != WEFT_OK)
        return failed(&err);
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random") };
    const struct weft_function_info function = { .key = 0, .name = WEFT_STR("work") };
    enum weft_code code = sink->ops->begin(sink, &begin, &err);
    if (code == WEFT_OK)
        code = sink->ops->function(sink, &function, &err);
    if (code == WEFT_OK)
        code = give_thread(trial, sink, &err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, &err) == WEFT_OK || failed(&err);
    weft_writer_abort(writer);
    return failed(&err);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_its_texts(const struct trial *trial, const struct weft_walk_call *call)
{
    bool is_same = call->row < trial->n_rows && call->n_arg_texts == trial->n_texts[call->row];
    for (size_t i = 0; is_same && i < call->n_arg_texts; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%" PRIu64 ".%zu", call->row, i);
        is_same = weft_str_equal(call->arg_texts[i], weft_str_of(text));
    }
    if (!is_same)
        (void)snprintf(what, sizeof what, "call %" PRIu64 ": %zu texts, the first \"%.*s\"",
                       call->row, call->n_arg_texts,
                       call->n_arg_texts ? (int)call->arg_texts[0].n_bytes : 0,
                       call->n_arg_texts ? call->arg_texts[0].bytes : "");
    return is_same;
}

static bool walks_same(struct trial *trial, const struct weft_trace *trace)
{
    const uint64_t from_ns = tap_random(&trial->state) % trial->end_ns;
    const struct weft_walk_opts opts = {
        .window = { from_ns, from_ns + tap_random(&trial->state) % 200 },
        .with_args = true,
    };
    struct weft_walk *walk;
    struct weft_err err = { 0 };
    struct weft_walk_call call;
    enum weft_step step = WEFT_STEP_ENTER;
    bool is_same = true;
    enum weft_code code = weft_walk_open(trace, 0, &opts, &walk, &err);
    while (code == WEFT_OK && step != WEFT_STEP_END && is_same) {
        code = weft_walk_next(walk, &step, &call, &err);
        is_same = code != WEFT_OK || step != WEFT_STEP_ENTER || has_its_texts(trial, &call);
    }
    weft_walk_close(walk);
    return code == WEFT_OK ? is_same : failed(&err);
}

struct seen {
    const struct trial *trial;
    bool is_seen, is_same;
};

static void see(void *context, const struct weft_walk_call *call)
{
    struct seen *seen = context;
    seen->is_seen = true;
    seen->is_same = has_its_texts(seen->trial, call);
}

static bool call_same(struct trial *trial, const struct weft_trace *trace)
{
    const uint64_t row = tap_random(&trial->state) % trial->n_rows;
    struct seen seen = { .trial = trial, .is_same = true };
    struct weft_err err = { 0 };
    if (weft_call_arguments(trace, 0, row, trial->start_ns[row], see, &seen, &err) != WEFT_OK)
        return failed(&err);
    if (seen.is_seen != (trial->n_texts[row] > 0))
        (void)snprintf(what, sizeof what, "call %" PRIu64 " alone: %u texts", row,
                       trial->n_texts[row]);
    return seen.is_same && seen.is_seen == (trial->n_texts[row] > 0);
}

static bool is_trial_right(uint64_t seed)
{
    static struct trial trial;
    struct weft_err err = { 0 };
    struct weft_trace *trace;
    trial = (struct trial){ .state = seed * 7919 + 1 };
    if (!write_trace(&trial))
        return false;
    if (weft_trace_open(file, &trace, &err) != WEFT_OK)
        return failed(&err);
    bool is_same = true;
    for (int i = 0; i < WINDOWS && is_same; i++)
        is_same = walks_same(&trial, trace) && call_same(&trial, trace);
    weft_trace_close(trace);
    return is_same;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(file, sizeof file, "%s/arguments.weft", root ? root : ".");
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + TRIALS; seed += TRIALS_A_LINE) {
        uint64_t n = 0;
        while (n < TRIALS_A_LINE && is_trial_right(seed + n))
            n++;
        if (!tap_ok(n == TRIALS_A_LINE, "texts of calls of %d threads from seed %" PRIu64 " on",
                    TRIALS_A_LINE, seed))
            tap_note("seed %" PRIu64 ": %s", seed + n, what);
    }
    (void)remove(file);
    return tap_done();
}
