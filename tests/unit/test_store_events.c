/* SPDX-License-Identifier: MIT
 *
 * Events that are no calls: what is written is what is read, in the order given, with blocks so
 * small that there are many; the bytes depend neither on batches, nor on workers, nor on waiting.
 */
#include "base/pool.h"
#include "random_calls.h"
#include "random_events.h"
#include "store/event_cache.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tap.h"

enum { MAX_THREADS = 5, SEEDS = 2000, SEEDS_A_LINE = 250, PARALLEL_SEEDS = 200, CAP = 4 << 20 };

static char path[512];
static char what[300];  /* what differed first */
static char text[4096]; /* payloads are taken from it */

/* What a thread does, in order: calls and other events. */
struct twin {
    struct weft_call_event *calls;
    struct weft_event *events; /* as they must come back */
    bool *is_call;             /* per step */
    size_t n_steps, n_calls, n_events;
    uint64_t n_dropped; /* arguments without a call */
    uint64_t last_ns;
    uint64_t counts[WEFT_EVENT_KINDS];
};

static bool failed(const struct weft_err *err)
{
    weft_err_print(err, what, sizeof what);
    return false;
}

static bool differ(const char *name, uint64_t at, uint64_t got, uint64_t want)
{
    (void)snprintf(what, sizeof what, "%s at %" PRIu64 ": got %" PRIu64 ", want %" PRIu64, name, at,
                   got, want);
    return false;
}

#define SAME(got, want, name, at)                                                                  \
    do {                                                                                           \
        const uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want);                           \
        if (got_ != want_)                                                                         \
            return differ(name, (uint64_t)(at), got_, want_);                                      \
    } while (0)

/* ---- what to write -------------------------------------------------------------------------- */

static void twin_build(struct twin *twin, uint64_t seed, uint32_t n_threads)
{
    uint64_t state = seed;
    const size_t n_steps = tap_random(&state) % 400;
    uint32_t *stack = calloc(n_steps + 1, sizeof *stack);
    *twin = (struct twin){ .n_steps = n_steps };
    twin->calls = calloc(n_steps + 1, sizeof *twin->calls);
    twin->events = calloc(n_steps + 1, sizeof *twin->events);
    twin->is_call = calloc(n_steps + 1, sizeof *twin->is_call);
    struct random_calls calls = {
        .state = tap_random(&state), .n_functions = 5, .enter_percent = 50, .odd_percent = 10
    };
    random_calls_fill(&calls, twin->calls, n_steps, stack);
    free(stack);
    struct random_events events = { .state = tap_random(&state),
                                    .time_ns = tap_random(&state) % 100000,
                                    .n_threads = n_threads,
                                    .most_bytes = tap_random(&state) % 3 ? 60 : 0,
                                    .bytes = text,
                                    .n_bytes = sizeof text };
    events.kinds = tap_random(&state) % 2 ? 0 : 1u << tap_random(&state) % WEFT_EVENT_KINDS;
    const unsigned call_percent = (unsigned)(tap_random(&state) % 4) * 30;
    for (size_t i = 0; i < n_steps; i++) {
        twin->is_call[i] = tap_random(&state) % 100 < call_percent;
        if (twin->is_call[i]) {
            const struct weft_call_event *call = &twin->calls[twin->n_calls++];
            if (call->kind != WEFT_CALL_ARG && call->time_ns > twin->last_ns)
                twin->last_ns = call->time_ns;
        } else {
            twin->events[twin->n_events++] = random_event(&events);
        }
    }
}

static void twin_free(struct twin *twin)
{
    free(twin->calls);
    free(twin->events);
    free(twin->is_call);
}

/* Hands over the steps from `*step` to `end`, in random batches. */
static enum weft_code steps_write(struct weft_sink *sink, uint32_t thread_id,
                                  const struct twin *twin, size_t first, size_t end,
                                  uint64_t *state, struct weft_err *err)
{
    size_t call = 0;
    size_t event = 0;
    for (size_t i = 0; i < first; i++)
        *(twin->is_call[i] ? &call : &event) += 1;
    enum weft_code code = WEFT_OK;
    for (size_t at = first; at < end && code == WEFT_OK;) {
        const size_t most = 1 + tap_random(state) % 40;
        size_t n = 1;
        while (n < most && at + n < end && twin->is_call[at + n] == twin->is_call[at])
            n++;
        if (twin->is_call[at])
            code = sink->ops->calls(sink, thread_id, twin->calls + call, n, err);
        else
            code = sink->ops->events(sink, thread_id, twin->events + event, n, err);
        *(twin->is_call[at] ? &call : &event) += n;
        at += n;
    }
    return code;
}

/* From now on twin->events are what must come back: arguments know their call. */
static void twin_expect(struct twin *twin)
{
    uint64_t n_rows = 0;
    size_t n_kept = 0;
    for (size_t i = 0, call = 0, event = 0; i < twin->n_steps; i++) {
        if (twin->is_call[i]) {
            n_rows += twin->calls[call++].kind == WEFT_CALL_ENTER;
            continue;
        }
        struct weft_event kept = twin->events[event++];
        const uint64_t end_ns = kept.time_ns + kept.duration_ns;
        twin->last_ns = end_ns > twin->last_ns ? end_ns : twin->last_ns;
        if (kept.kind == WEFT_EVENT_CALL_ARGS) {
            kept.value = n_rows - 1;
            twin->n_dropped += n_rows == 0;
            if (n_rows == 0)
                continue;
        }
        twin->counts[kept.kind]++;
        twin->events[n_kept++] = kept;
    }
    twin->n_events = n_kept;
}

/* ---- reading back --------------------------------------------------------------------------- */

static bool block_same(const struct weft_event_block_info *info, const struct weft_event *got,
                       const struct weft_event *want, size_t n_events, uint64_t block)
{
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
    uint32_t kinds = 0;
    for (size_t i = 0; i < n_events; i++) {
        const uint64_t end_ns = want[i].time_ns + want[i].duration_ns;
        if (!event_same(&got[i], &want[i]))
            return differ(weft_event_kind_name(want[i].kind), block, got[i].value, want[i].value);
        first_ns = want[i].time_ns < first_ns ? want[i].time_ns : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
        kinds |= 1u << want[i].kind;
    }
    SAME(info->n_events, n_events, "events of block", block);
    SAME(info->first_ns, first_ns, "first time of block", block);
    SAME(info->last_ns, last_ns, "last time of block", block);
    SAME(info->kinds, kinds, "kinds of block", block);
    return true;
}

/* Whether what the buffer says of the order of what was loaded last is so. */
static bool order_same(const struct weft_event_buf *buf, const struct weft_event *events, size_t n)
{
    bool is_in_order = true;
    for (size_t i = 0; i < n; i++)
        is_in_order &=
            events[i].duration_ns == 0 && (i == 0 || events[i - 1].time_ns <= events[i].time_ns);
    return is_in_order || !weft_event_buf_is_in_order(buf);
}

static bool thread_same(struct weft_store *store, uint32_t thread_id, const struct twin *want,
                        struct weft_event_buf *buf)
{
    const struct weft_store_thread *thread = weft_store_thread_get(store, thread_id);
    SAME(thread->events, want->n_events, "events of thread", thread_id);
    SAME(thread->last_ns, want->last_ns, "last event of thread", thread_id);
    size_t n_seen = 0;
    for (uint64_t i = 0; i < thread->n_event_blocks; i++) {
        const struct weft_event *events;
        size_t n_events;
        struct weft_err err = { 0 };
        if (weft_store_load_events(store, thread_id, i, buf, &events, &n_events, &err) != WEFT_OK)
            return failed(&err);
        if (n_seen + n_events > want->n_events)
            return differ("events of blocks", i, n_seen + n_events, want->n_events);
        if (!block_same(weft_store_event_block_get(store, thread_id, i), events,
                        want->events + n_seen, n_events, i))
            return false;
        if (!order_same(buf, events, n_events))
            return differ("order of block", i, true, false);
        if (n_seen == 0 && thread->first_ns > events[0].time_ns)
            return differ("first event of thread", thread_id, thread->first_ns, events[0].time_ns);
        n_seen += n_events;
    }
    SAME(n_seen, want->n_events, "events of all blocks", thread_id);
    return true;
}

/* Blocks of all threads in some order, with several buffers, whatever stays decoded. */
static bool kept_same(struct weft_store *store, const struct twin *twins, uint32_t n_threads)
{
    static const uint64_t bounds[] = { 1, 300000, UINT64_C(1) << 30, 20000 };
    struct weft_event_buf *bufs[3] = { weft_event_buf_new(), weft_event_buf_new(),
                                       weft_event_buf_new() };
    bool is_same = bufs[0] && bufs[1] && bufs[2];
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        weft_store_keep_events(store, bounds[i]);
        for (uint32_t k = 0; k < 2 * n_threads && is_same; k++)
            is_same =
                thread_same(store, k * 7 % n_threads, &twins[k * 7 % n_threads], bufs[k * k % 3]);
        if (i % 2)
            weft_store_drop_events(store);
    }
    for (size_t i = 0; i < 3; i++)
        weft_event_buf_free(bufs[i]);
    return is_same;
}

static bool dropped_same(const struct weft_store *store, const struct twin *twins,
                         uint32_t n_threads)
{
    uint64_t n_want = 0;
    uint64_t n_got = 0;
    for (uint32_t i = 0; i < n_threads; i++)
        n_want += twins[i].n_dropped;
    for (size_t i = 0; i < weft_store_meta_get(store)->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(store, i);
        if (note->kind == WEFT_NOTE_NOT_KEPT &&
            weft_str_equal(note->detail, WEFT_STR("arguments of a dropped call")))
            n_got += note->count;
    }
    SAME(n_got, n_want, "dropped arguments", 0);
    return true;
}

static bool file_same(const struct twin *twins, uint32_t n_threads)
{
    struct weft_err err = { 0 };
    struct weft_store *store;
    if (weft_store_open(path, &store, &err) != WEFT_OK)
        return failed(&err);
    struct weft_event_buf *buf = weft_event_buf_new();
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    bool is_same = !meta->is_recovered && meta->n_threads == n_threads && buf;
    if (!is_same)
        (void)snprintf(what, sizeof what, "the file needed recovery");
    uint64_t n_events = 0;
    for (uint32_t i = 0; i < n_threads && is_same; i++) { /* twice: unchecked the second time */
        is_same = thread_same(store, i, &twins[i], buf) && thread_same(store, i, &twins[i], buf);
        n_events += twins[i].n_events;
    }
    if (is_same && meta->events != n_events)
        is_same = differ("events", 0, meta->events, n_events);
    for (int kind = 0; kind < WEFT_EVENT_KINDS && is_same; kind++) {
        uint64_t n_want = 0;
        for (uint32_t i = 0; i < n_threads; i++)
            n_want += twins[i].counts[kind];
        if (meta->events_of_kind[kind] != n_want)
            is_same = differ("events of kind", (uint64_t)kind, meta->events_of_kind[kind], n_want);
    }
    is_same =
        is_same && dropped_same(store, twins, n_threads) && kept_same(store, twins, n_threads);
    weft_store_keep_events(store, 100000);
    is_same = is_same && (n_threads == 0 || thread_same(store, 0, &twins[0], buf));
    weft_store_close(store); /* first: a buffer is its own */
    weft_event_buf_free(buf);
    return is_same;
}

/* ---- one after the other, threads in turn --------------------------------------------------- */

static enum weft_code writer_begin(struct weft_writer **writer, const struct weft_writer_opts *opts,
                                   bool is_parallel, uint32_t n_threads, struct weft_err *err)
{
    enum weft_code code = weft_writer_open(path, opts, writer, err);
    if (code != WEFT_OK) {
        *writer = NULL;
        return code;
    }
    struct weft_sink *sink = weft_writer_sink(*writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random"),
                                           .is_parallel = is_parallel };
    code = sink->ops->begin(sink, &begin, err);
    for (uint32_t i = 0; i < n_threads && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 100 + i };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, err);
    }
    return code;
}

static bool writer_end(struct weft_writer *writer, enum weft_code code, struct weft_err *err)
{
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err) == WEFT_OK || failed(err);
    weft_writer_abort(writer);
    return failed(err);
}

static bool serial_write(const struct twin *twins, uint32_t n_threads, uint64_t seed)
{
    uint64_t state = seed;
    struct weft_err err = { 0 };
    const struct weft_writer_opts opts = {
        .source_name = "random",
        .block_rows = 1 + (uint32_t)(tap_random(&state) % 60),
        .block_events = tap_random(&state) % 4 ? 1 + (uint32_t)(tap_random(&state) % 60) : 0,
    };
    struct weft_writer *writer;
    enum weft_code code = writer_begin(&writer, &opts, false, n_threads, &err);
    size_t at[MAX_THREADS] = { 0 };
    for (uint32_t n_left = n_threads; n_left > 0 && code == WEFT_OK;) {
        const uint32_t i = (uint32_t)(tap_random(&state) % n_threads);
        const size_t left = twins[i].n_steps - at[i];
        const size_t n = left ? 1 + tap_random(&state) % left : 0;
        n_left -= left > 0 && n == left;
        if (left > 0)
            code =
                steps_write(weft_writer_sink(writer), i, &twins[i], at[i], at[i] + n, &state, &err);
        at[i] += n;
        uint32_t n_done = 0;
        for (uint32_t j = 0; j < n_threads; j++)
            n_done += at[j] == twins[j].n_steps;
        n_left = n_threads - n_done;
    }
    return writer_end(writer, code, &err);
}

static bool case_run(uint64_t seed)
{
    uint64_t state = seed;
    struct twin twins[MAX_THREADS];
    const uint32_t n_threads = 1 + (uint32_t)(tap_random(&state) % MAX_THREADS);
    for (uint32_t i = 0; i < n_threads; i++)
        twin_build(&twins[i], tap_random(&state), n_threads);
    bool is_same = serial_write(twins, n_threads, tap_random(&state));
    for (uint32_t i = 0; i < n_threads; i++)
        twin_expect(&twins[i]);
    is_same = is_same && file_same(twins, n_threads);
    for (uint32_t i = 0; i < n_threads; i++)
        twin_free(&twins[i]);
    return is_same;
}

/* ---- all at once ---------------------------------------------------------------------------- */

struct job {
    struct weft_sink *sink;
    const struct twin *twins;
    uint64_t seed;
};

static enum weft_code thread_write(void *context, size_t item, unsigned worker,
                                   struct weft_err *err)
{
    const struct job *job = context;
    const uint32_t thread_id = (uint32_t)item;
    uint64_t state = job->seed + item;
    (void)worker;
    const enum weft_code code = steps_write(job->sink, thread_id, &job->twins[item], 0,
                                            job->twins[item].n_steps, &state, err);
    return code == WEFT_OK ? job->sink->ops->thread_end(job->sink, thread_id, 0, err) : code;
}

static bool parallel_write(const struct twin *twins, unsigned n_workers, uint64_t backlog_bytes,
                           uint64_t seed)
{
    struct weft_err err = { 0 };
    const struct weft_writer_opts opts = { .backlog_limit_bytes = backlog_bytes,
                                           .block_rows = 25,
                                           .block_events = 20 };
    struct weft_writer *writer;
    enum weft_code code = writer_begin(&writer, &opts, true, MAX_THREADS, &err);
    struct weft_pool *pool = weft_pool_new(n_workers);
    struct job job = { .twins = twins, .seed = seed };
    if (code == WEFT_OK) {
        job.sink = weft_writer_sink(writer);
        code = weft_pool_run(pool, MAX_THREADS, thread_write, &job, NULL, &err);
    }
    weft_pool_free(pool);
    return writer_end(writer, code, &err);
}

static size_t file_read(uint8_t *bytes)
{
    FILE *file = fopen(path, "rb");
    const size_t n_bytes = file ? fread(bytes, 1, CAP, file) : 0;
    if (file)
        (void)fclose(file);
    return n_bytes;
}

static bool parallel_run(uint64_t seed, uint8_t *first, uint8_t *bytes)
{
    static const unsigned workers[] = { 1, 2, 4, 2, 4 };
    uint64_t state = seed;
    struct twin twins[MAX_THREADS];
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        twin_build(&twins[i], tap_random(&state), MAX_THREADS);
    size_t n_first = 0;
    bool is_same = true;
    for (size_t i = 0; i < sizeof workers / sizeof workers[0] && is_same; i++) {
        const uint64_t backlog_bytes = i < 3 ? 0 : 1; /* all in memory, or all spilled */
        is_same = parallel_write(twins, workers[i], backlog_bytes, tap_random(&state));
        const size_t n_bytes = is_same ? file_read(i ? bytes : first) : 0;
        if (i == 0)
            n_first = n_bytes;
        else if (is_same && (n_bytes != n_first || memcmp(bytes, first, n_first) != 0))
            is_same = differ("bytes with workers", workers[i], n_bytes, n_first);
    }
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        twin_expect(&twins[i]);
    is_same = is_same && file_same(twins, MAX_THREADS);
    for (uint32_t i = 0; i < MAX_THREADS; i++)
        twin_free(&twins[i]);
    return is_same;
}

/* ---- limits --------------------------------------------------------------------------------- */

static uint64_t note_count(const struct weft_store *store, const char *detail)
{
    for (size_t i = 0; i < weft_store_meta_get(store)->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(store, i);
        if (note->kind == WEFT_NOTE_NOT_KEPT && weft_str_equal(note->detail, weft_str_of(detail)))
            return note->count;
    }
    return 0;
}

/* Names and payloads up to the limit are kept, and blocks end early for them. */
static void long_texts(void)
{
    enum { MOST = 1 << 20, EACH = 100 << 10, N_EACH = 12 };
    char *bytes = malloc(MOST + 1);
    memset(bytes, 'y', MOST + 1);
    struct weft_event events[N_EACH + 5] = { 0 };
    for (int i = 0; i < N_EACH; i++) {
        events[i] = (struct weft_event){ .kind = WEFT_EVENT_INSTANT, .time_ns = 7 };
        events[i].payload = (struct weft_str){ bytes, EACH };
    }
    events[N_EACH].payload = (struct weft_str){ bytes, MOST };
    events[N_EACH + 1].payload = (struct weft_str){ bytes, MOST + 1 };
    events[N_EACH + 2].name = (struct weft_str){ bytes, 65535 };
    events[N_EACH + 2].category = (struct weft_str){ bytes, 65534 };
    events[N_EACH + 3].name = (struct weft_str){ bytes, 65536 };
    events[N_EACH + 4] = (struct weft_event){ .kind = WEFT_EVENT_CALL_ARGS };
    events[N_EACH + 4].payload = (struct weft_str){ bytes, MOST + 1 };
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    const struct weft_call_event call = { .time_ns = 1, .function_key = 1 };
    enum weft_code code = writer_begin(&writer, &(struct weft_writer_opts){ 0 }, false, 1, &err);
    struct weft_sink *sink = weft_writer_sink(writer);
    if (code == WEFT_OK)
        code = sink->ops->calls(sink, 0, &call, 1, &err);
    if (code == WEFT_OK)
        code = sink->ops->events(sink, 0, events, N_EACH + 5, &err);
    if (!tap_ok(writer_end(writer, code, &err), "long names and payloads are written"))
        tap_note("%s", what);
    struct twin want = { .events = events, .n_events = N_EACH + 4, .last_ns = 7 };
    events[N_EACH + 1].payload = WEFT_STR("");
    events[N_EACH + 3].name.n_bytes = 65535;
    struct weft_store *store;
    struct weft_event_buf *buf = weft_event_buf_new();
    if (weft_store_open(path, &store, &err) == WEFT_OK && buf) {
        tap_ok(thread_same(store, 0, &want, buf), "long names and payloads are read: %s", what);
        tap_eq_u64(note_count(store, "payload over 1 MiB"), 2, "payloads too long");
        tap_eq_u64(note_count(store, "end of a name over 64 KiB"), 1, "names too long");
        const uint64_t n_blocks = weft_store_thread_get(store, 0)->n_event_blocks;
        tap_eq_u64(n_blocks, N_EACH / 2 + 2, "blocks end after 256 KiB of text");
        weft_store_close(store);
    }
    weft_event_buf_free(buf);
    free(bytes);
}

/* Arguments of calls beyond the depth limit are dropped with them. */
static void deep_calls(void)
{
    enum { DEPTH = 65540, LIMIT = 65535 };
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    enum weft_code code =
        writer_begin(&writer, &(struct weft_writer_opts){ .block_rows = 1000 }, false, 1, &err);
    struct weft_sink *sink = weft_writer_sink(writer);
    for (int i = 0; i < DEPTH && code == WEFT_OK; i++) {
        const struct weft_call_event call = { .time_ns = 1 };
        const struct weft_event args = { .kind = WEFT_EVENT_CALL_ARGS, .time_ns = 1 };
        code = sink->ops->calls(sink, 0, &call, 1, &err);
        if (code == WEFT_OK)
            code = sink->ops->events(sink, 0, &args, 1, &err);
    }
    tap_ok(writer_end(writer, code, &err), "%d open calls with arguments are written", DEPTH);
    struct weft_store *store;
    if (!tap_ok(weft_store_open(path, &store, &err) == WEFT_OK, "they are read"))
        return;
    struct weft_event_buf *buf = weft_event_buf_new();
    const struct weft_store_thread *thread = weft_store_thread_get(store, 0);
    uint64_t row = 0;
    bool is_good = true;
    for (uint64_t i = 0; i < thread->n_event_blocks && is_good; i++) {
        const struct weft_event *events;
        size_t n_events = 0;
        is_good = weft_store_load_events(store, 0, i, buf, &events, &n_events, &err) == WEFT_OK;
        for (size_t j = 0; j < n_events && is_good; j++, row++)
            is_good = events[j].value == row;
    }
    tap_ok(is_good, "arguments name the rows of their calls");
    tap_eq_u64(row, LIMIT, "arguments of calls that are kept");
    tap_eq_u64(note_count(store, "arguments of a dropped call"), DEPTH - LIMIT, "dropped ones");
    weft_event_buf_free(buf);
    weft_store_close(store);
}

static void refusals(void)
{
    static const struct {
        const char *name;
        struct weft_event event;
        enum weft_code code;
    } rows[] = {
        { "a time", { .time_ns = UINT64_C(1) << 63 }, WEFT_E_LIMIT },
        { "a duration", { .time_ns = 5, .duration_ns = INT64_MAX - 4 }, WEFT_E_LIMIT },
        { "a kind", { .kind = WEFT_EVENT_KINDS }, WEFT_E_ARG },
        { "a thread", { .next_thread_id = 1 }, WEFT_E_ARG },
        { "nothing", { .time_ns = 5, .duration_ns = INT64_MAX - 5 }, WEFT_OK },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct weft_err err = { 0 };
        struct weft_writer *writer;
        enum weft_code code =
            writer_begin(&writer, &(struct weft_writer_opts){ 0 }, false, 1, &err);
        struct weft_sink *sink = weft_writer_sink(writer);
        if (code == WEFT_OK)
            code = sink->ops->events(sink, 0, &rows[i].event, 1, &err);
        tap_eq_u64(code, rows[i].code, "an event with %s out of range", rows[i].name);
        weft_writer_abort(writer);
    }
}

/* Who keeps least, or ends first, takes nothing from another. */
static void keepers(void)
{
    struct event_cache cache = { 0 };
    weft_event_cache_begin(&cache, 1000);
    weft_event_cache_begin(&cache, 10);
    tap_eq_u64(cache.most_bytes, 1000, "two keep events: as many as the first one wants");
    weft_event_cache_end(&cache);
    tap_eq_u64(cache.most_bytes, 1000, "and still when the other one has ended");
    weft_event_cache_end(&cache);
    tap_eq_u64(cache.most_bytes, 0, "none when both have");
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/events.weft", root ? root : ".");
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i * i / 7 % 26);
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t i = 0; i < SEEDS_A_LINE && !failed_seed; i++)
            if (!case_run(seed + i))
                failed_seed = seed + i;
        tap_ok(!failed_seed, "%d random traces from seed %" PRIu64 " on", SEEDS_A_LINE, seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
    uint8_t *one = malloc(CAP);
    uint8_t *other = malloc(CAP);
    uint64_t failed_seed = 0;
    for (uint64_t seed = first; seed < first + PARALLEL_SEEDS && !failed_seed; seed++)
        if (!parallel_run(seed, one, other))
            failed_seed = seed;
    tap_ok(!failed_seed, "1, 2, 4 workers, waiting in memory or in a file: the same bytes");
    if (failed_seed)
        tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    long_texts();
    deep_calls();
    keepers();
    refusals();
    free(one);
    free(other);
    (void)remove(path);
    return tap_done();
}
