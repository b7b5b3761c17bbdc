/* SPDX-License-Identifier: MIT
 *
 * Replays and cuts of random traces against the obvious: a whole replay is the same file, and a cut
 * is each call and each event clipped by itself.
 */
#include "import/cut.h"
#include "import/replay.h"
#include "plain_trace.h"
#include "random_stored.h"

#include <unistd.h>

enum { SEEDS = 500, SEEDS_A_LINE = 100, MOST_CALLS = 300 };

/* Of which it follows where threads are blocked. */
#define KINDS_OF_STATE                                                                             \
    (1U << WEFT_EVENT_SWITCH | 1U << WEFT_EVENT_WAKING | 1U << WEFT_EVENT_FORK |                   \
     1U << WEFT_EVENT_EXIT)

static char path_a[512], path_b[512], path_c[512], path_d[512];
static char what[400];
static struct weft_run run;

static bool fail(const char *where, const char *text)
{
    (void)snprintf(what, sizeof what, "%s: %s", where, text);
    return false;
}

/* ---- the slow twin --------------------------------------------------------------------------- */

struct window {
    uint64_t from_ns, to_ns;
};

/* What the kernel states of the thread itself, of which it runs at that time. */
static bool slow_is_of_state(const struct weft_event *event)
{
    return (event->kind >= WEFT_EVENT_SWITCH && event->kind <= WEFT_EVENT_SYSCALL_EXIT) ||
           event->kind == WEFT_EVENT_FORK || event->kind == WEFT_EVENT_EXIT;
}

/* Does an event of another thread, in [from, to), wake the thread or give it a CPU? */
static bool slow_comes(const struct plain_trace *trace, uint32_t id, struct window window)
{
    for (uint32_t other = 0; other < trace->n_threads; other++)
        for (size_t i = 0; i < trace->threads[other].n_events && other != id; i++) {
            const struct weft_event *event = &trace->threads[other].events[i];
            if (event->next_thread_id == id && event->time_ns >= window.from_ns &&
                event->time_ns < window.to_ns &&
                (event->kind == WEFT_EVENT_SWITCH || event->kind == WEFT_EVENT_WAKING ||
                 event->kind == WEFT_EVENT_WOKEN))
                return true;
        }
    return false;
}

/* The state in which the thread is blocked at the window's begin, and since before; 0: it is not.
 * As docs/analyses/states.md has it. */
static uint32_t slow_earlier(const struct plain_trace *trace, uint32_t id, struct window window)
{
    const struct plain_thread *thread = &trace->threads[id];
    const struct weft_event *last = NULL;
    bool is_exiting = false;
    for (size_t i = 0; i < thread->n_events; i++) {
        const struct weft_event *event = &thread->events[i];
        if (!slow_is_of_state(event) || event->time_ns >= window.from_ns)
            continue;
        is_exiting |= event->kind == WEFT_EVENT_EXIT;
        if (!last || event->time_ns >= last->time_ns)
            last = event;
    }
    if (!last || last->kind != WEFT_EVENT_SWITCH || last->next_thread_id == id)
        return 0;
    const uint32_t state = last->prev_state & 0xff;
    const bool is_dead = (state & 0x30) || (is_exiting && !(state & 3));
    const bool comes = slow_comes(trace, id, (struct window){ last->time_ns, window.from_ns });
    return is_dead || comes ? 0 : state;
}

/* When the thread is last seen. */
static uint64_t slow_end(const struct plain_thread *thread, struct window window)
{
    return thread->info.last_ns < window.to_ns ? thread->info.last_ns : window.to_ns;
}

static bool slow_is_alive(const struct plain_trace *trace, uint32_t id, struct window window)
{
    const struct plain_thread *thread = &trace->threads[id];
    if (slow_earlier(trace, id, window))
        return true;
    if (thread->n_calls == 0 && thread->n_events == 0)
        return false;
    return (thread->n_cut > 0 || thread->info.first_ns < window.to_ns) &&
           thread->info.last_ns >= window.from_ns;
}

/* False: nothing of it is seen in the window. */
static bool slow_clip_call(const struct plain_thread *thread, const struct plain_call *call,
                           struct window window, struct plain_call *clipped)
{
    const bool returns = !(call->flags & WEFT_CALL_CUT_END);
    const bool begins_before = call->is_cut || call->start_ns < window.from_ns;
    const bool ends_after = !returns || call->end_ns >= window.to_ns;
    if (!call->is_cut && call->start_ns >= window.to_ns)
        return false;
    if (returns && call->end_ns < window.from_ns)
        return false;
    *clipped = *call;
    clipped->is_cut = begins_before;
    clipped->start_ns = begins_before ? 0 : call->start_ns - window.from_ns;
    clipped->end_ns = (ends_after ? slow_end(thread, window) : call->end_ns) - window.from_ns;
    clipped->flags = begins_before ? WEFT_CALL_CUT_START : 0;
    clipped->flags |=
        ends_after ? WEFT_CALL_CUT_END : call->flags & (WEFT_CALL_REPAIRED | WEFT_CALL_TAIL);
    if (begins_before)
        clipped->n_args = 0;
    return true;
}

static bool slow_clip_event(const struct weft_event *event, struct window window,
                            struct weft_event *clipped)
{
    const uint64_t end_ns = event->time_ns + event->duration_ns;
    const bool begins_within = event->time_ns >= window.from_ns && event->time_ns < window.to_ns;
    const bool reaches_into = event->time_ns < window.from_ns && end_ns > window.from_ns;
    if (!begins_within && !reaches_into)
        return false;
    *clipped = *event;
    clipped->time_ns = begins_within ? event->time_ns - window.from_ns : 0;
    clipped->duration_ns =
        (end_ns < window.to_ns ? end_ns : window.to_ns) - window.from_ns - clipped->time_ns;
    if (event->kind == WEFT_EVENT_SPAN)
        clipped->prev_state |= (begins_within ? 0 : (uint32_t)WEFT_SPAN_CUT) |
                               (end_ns > window.to_ns ? (uint32_t)WEFT_SPAN_OPEN : 0);
    return true;
}

/* The switch with which a thread left that is blocked since before the window. */
static struct weft_event slow_switch(uint32_t state)
{
    return (struct weft_event){ .kind = WEFT_EVENT_SWITCH,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .cpu = -1,
                                .prev_state = state | WEFT_SWITCH_EARLIER };
}

/* Did the thread begin to end before the window? */
static bool slow_is_ending(const struct plain_thread *thread, struct window window)
{
    bool is_ending = false;
    for (size_t i = 0; i < thread->n_events; i++)
        is_ending |=
            thread->events[i].kind == WEFT_EVENT_EXIT && thread->events[i].time_ns < window.from_ns;
    return is_ending;
}

/* The exit of such a thread. */
static struct weft_event slow_exit(void)
{
    struct weft_event event = slow_switch(0);
    event.kind = WEFT_EVENT_EXIT;
    event.prev_state = WEFT_EXIT_EARLIER;
    return event;
}

/* Arrays are new, texts are those of the trace. */
static struct plain_thread slow_clip(const struct plain_trace *trace, uint32_t id,
                                     struct window window, const uint32_t *new_ids)
{
    const uint32_t state = slow_earlier(trace, id, window);
    const uint64_t duration_ns = weft_store_meta_get(trace->store)->duration_ns;
    struct plain_thread source = trace->threads[id]; /* lasts while it is blocked */
    if (state && source.info.last_ns < window.from_ns)
        source.info.last_ns = duration_ns;
    const struct plain_thread *from = &source;
    struct plain_thread thread = { .info = from->info };
    uint64_t *new_row = calloc(from->n_calls + 1, sizeof *new_row);
    uint64_t n_rows = 0;
    thread.calls = calloc(from->n_calls + 1, sizeof *thread.calls);
    thread.events = calloc(from->n_events + 3, sizeof *thread.events);
    thread.info.last_ns = slow_end(from, window) - window.from_ns;
    for (size_t i = 0; i < from->n_calls; i++) {
        struct plain_call *call = &thread.calls[thread.n_calls];
        const bool is_kept = slow_clip_call(from, &from->calls[i], window, call);
        thread.n_calls += is_kept;
        thread.n_cut += is_kept && call->is_cut;
        if (i >= from->n_cut)
            new_row[i - from->n_cut] = is_kept && !call->is_cut ? n_rows++ : UINT64_MAX;
    }
    if (slow_is_ending(from, window))
        thread.events[thread.n_events++] = slow_exit();
    if (state)
        thread.events[thread.n_events++] = slow_switch(state);
    for (size_t i = 0; i < from->n_events; i++) {
        struct weft_event *event = &thread.events[thread.n_events];
        const bool is_args = from->events[i].kind == WEFT_EVENT_CALL_ARGS;
        if (is_args && new_row[from->events[i].value] == UINT64_MAX)
            continue;
        if (!slow_clip_event(&from->events[i], window, event))
            continue;
        if (is_args)
            event->value = new_row[from->events[i].value];
        if (event->next_thread_id != WEFT_ID_NONE)
            event->next_thread_id = new_ids[event->next_thread_id];
        thread.n_events++;
    }
    free(new_row);
    return thread;
}

static uint64_t count_flag(const struct plain_thread *thread, uint32_t flag)
{
    uint64_t n = 0;
    for (size_t i = 0; i < thread->n_calls; i++)
        n += (thread->calls[i].flags & flag) != 0;
    return n;
}

static bool counts_same(const struct plain_trace *got, uint32_t id)
{
    const struct plain_thread *thread = &got->threads[id];
    return plain_note(got, WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT, id, "") == thread->n_cut &&
           plain_note(got, WEFT_NOTE_OPEN_AT_END, id, "") ==
               count_flag(thread, WEFT_CALL_CUT_END) &&
           plain_note(got, WEFT_NOTE_MISSING_EXIT, id, "") ==
               count_flag(thread, WEFT_CALL_REPAIRED);
}

/* Is the cut in path_b what the twin makes of the trace? Threads that hold nothing do not count. */
static bool cut_same(const struct plain_trace *from, struct window window, bool counts_matter)
{
    struct plain_trace got = plain_trace_open(path_b);
    uint32_t *new_ids = calloc((size_t)from->n_threads + 1, sizeof *new_ids);
    uint32_t n_alive = 0;
    bool is_same = true;
    for (uint32_t id = 0; id < from->n_threads; id++)
        new_ids[id] = slow_is_alive(from, id, window) ? n_alive++ : WEFT_ID_NONE;
    if (n_alive != got.n_threads)
        is_same = fail("cut", plain_differ("threads", 0, got.n_threads, n_alive));
    for (uint32_t id = 0; id < from->n_threads && is_same; id++) {
        if (new_ids[id] == WEFT_ID_NONE)
            continue;
        struct plain_thread want = slow_clip(from, id, window, new_ids);
        const char *differs = plain_threads_differ(&got.threads[new_ids[id]], &want);
        if (differs)
            is_same = fail("cut", differs);
        else if (counts_matter && !counts_same(&got, new_ids[id]))
            is_same = fail("cut", "notes");
        free(want.calls);
        free(want.events);
    }
    if (is_same && plain_note(&got, WEFT_NOTE_BAD_RECORD, WEFT_ID_NONE, "") != 3)
        is_same = fail("cut", "the importer's note");
    free(new_ids);
    plain_trace_close(&got);
    return is_same;
}

/* ---- replay ---------------------------------------------------------------------------------- */

static bool files_same(const char *a, const char *b)
{
    struct weft_mapped file_a, file_b;
    if (weft_mapped_open(a, &file_a, NULL) != WEFT_OK ||
        weft_mapped_open(b, &file_b, NULL) != WEFT_OK)
        abort();
    const bool is_same = file_a.n_bytes == file_b.n_bytes &&
                         memcmp(file_a.bytes, file_b.bytes, (size_t)file_a.n_bytes) == 0;
    weft_mapped_close(&file_a);
    weft_mapped_close(&file_b);
    return is_same;
}

static void replay_write(const char *from, const char *to, uint32_t block_rows)
{
    struct weft_store *store;
    struct weft_writer *writer;
    struct weft_err err = { 0 };
    if (weft_store_open(from, &store, &err) != WEFT_OK)
        abort();
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)meta->source_name.n_bytes,
                   meta->source_name.bytes);
    const struct weft_writer_opts opts = { .source_name = name,
                                           .bytes_in = meta->bytes_in,
                                           .block_rows = block_rows };
    if (weft_writer_open(to, &opts, &writer, &err) != WEFT_OK ||
        weft_replay_whole(store, weft_writer_sink(writer), &run, &err) != WEFT_OK ||
        weft_writer_commit(writer, NULL, &err) != WEFT_OK) {
        tap_note("%s", err.text);
        abort();
    }
    weft_store_close(store);
}

static bool notes_same(const struct weft_store *got, const struct weft_store *want)
{
    if (weft_store_meta_get(got)->n_notes != weft_store_meta_get(want)->n_notes)
        return false;
    for (size_t i = 0; i < weft_store_meta_get(got)->n_notes; i++) {
        const struct weft_note *a = weft_store_note_get(got, i), *b = weft_store_note_get(want, i);
        if (a->kind != b->kind || a->count != b->count || a->thread_id != b->thread_id ||
            !weft_str_equal(a->detail, b->detail))
            return false;
    }
    return true;
}

/* The file, and its replay in path_c, hold the same. Chunks may stand in another order; a replay of
 * the replay leaves no byte different. */
static bool replay_same(const char *path, uint32_t block_rows)
{
    replay_write(path, path_c, block_rows);
    replay_write(path_c, path_d, block_rows);
    struct plain_trace want = plain_trace_open(path), got = plain_trace_open(path_c);
    const char *differs = got.n_threads == want.n_threads ? NULL : "threads";
    for (uint32_t id = 0; id < got.n_threads && !differs; id++)
        differs = plain_threads_differ(&got.threads[id], &want.threads[id]);
    if (!differs && !notes_same(got.store, want.store))
        differs = "notes";
    plain_trace_close(&want);
    plain_trace_close(&got);
    if (!differs && !files_same(path_c, path_d))
        differs = "bytes";
    return !differs || fail("replay", differs);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Where a call or an event begins or ends, more or less. */
static uint64_t random_edge(const struct plain_trace *trace, uint64_t *state)
{
    const struct plain_thread *thread = &trace->threads[tap_random(state) % trace->n_threads];
    uint64_t at_ns = thread->info.last_ns;
    if (thread->n_calls > 0 && tap_random(state) % 8) {
        const struct plain_call *call = &thread->calls[tap_random(state) % thread->n_calls];
        at_ns = tap_random(state) % 2 ? call->start_ns : call->end_ns;
    }
    if (thread->n_events > 0 && tap_random(state) % 2) {
        const struct weft_event *event = &thread->events[tap_random(state) % thread->n_events];
        at_ns = event->time_ns + (tap_random(state) % 2 ? event->duration_ns : 0);
    }
    return at_ns + tap_random(state) % 3 - (at_ns > 0 && tap_random(state) % 2);
}

static struct window random_window(const struct plain_trace *trace, uint64_t *state)
{
    uint64_t a_ns = random_edge(trace, state), b_ns = random_edge(trace, state);
    if (tap_random(state) % 10 == 0)
        a_ns = 0;
    if (tap_random(state) % 10 == 0)
        b_ns = UINT64_MAX;
    return (struct window){ a_ns < b_ns ? a_ns : b_ns, a_ns < b_ns ? b_ns : a_ns };
}

static enum weft_code cut_file(const char *from, const char *to, struct window window)
{
    const struct weft_cut_opts opts = { .input = from,
                                        .output = to,
                                        .from = { .at_ns = window.from_ns },
                                        .to = { .at_ns = window.to_ns } };
    struct weft_err err = { 0 };
    const enum weft_code code = weft_cut_run(&opts, &run, NULL, &err);
    if (code != WEFT_OK)
        (void)fail("cut", err.text);
    return code;
}

static bool is_anyone_alive(const struct plain_trace *trace, struct window window)
{
    for (uint32_t id = 0; id < trace->n_threads; id++)
        if (slow_is_alive(trace, id, window))
            return true;
    return false;
}

/* A cut, and what a whole replay makes of it. */
static bool window_same(const struct plain_trace *trace, struct window window)
{
    const uint64_t duration_ns = weft_store_meta_get(trace->store)->duration_ns;
    if (window.to_ns > duration_ns)
        window.to_ns = UINT64_MAX;
    const bool is_whole = window.from_ns == 0 && window.to_ns == UINT64_MAX;
    const bool is_possible = window.from_ns < window.to_ns && window.from_ns <= duration_ns &&
                             (is_whole || is_anyone_alive(trace, window));
    const enum weft_code code = cut_file(path_a, path_b, window);
    if (!is_possible || code != WEFT_OK)
        return code == (is_possible ? WEFT_OK : WEFT_E_ARG);
    if (is_whole)
        return true; /* compared as a replay */
    return cut_same(trace, window, true) && replay_same(path_b, 0);
}

static bool case_run(uint64_t seed, const char *bytes)
{
    uint64_t state = seed * 31;
    const struct random_stored stored = {
        .seed = seed,
        .bytes = bytes,
        .most_calls = MOST_CALLS,
        .has_events = seed % 3 == 0,
        .kinds = seed % 2 ? 0 : KINDS_OF_STATE,
        .clock = { .frequency_hz = 2700000000, .zero_ticks = 99 },
    };
    const uint32_t block_rows = random_stored_write(&stored, path_a);
    if (!replay_same(path_a, block_rows))
        return false;
    struct plain_trace trace = plain_trace_open(path_a);
    bool is_same = true;
    for (int k = 0; k < 4 && is_same; k++) {
        const struct window window = random_window(&trace, &state);
        is_same = window_same(&trace, window);
        if (!is_same)
            tap_note("window %" PRIu64 " %" PRIu64, window.from_ns, window.to_ns);
    }
    plain_trace_close(&trace);
    return is_same;
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path_a, sizeof path_a, "%s/oracle_cut.a.weft", root ? root : ".");
    (void)snprintf(path_b, sizeof path_b, "%s/oracle_cut.b.weft", root ? root : ".");
    (void)snprintf(path_d, sizeof path_d, "%s/oracle_cut.d.weft", root ? root : ".");
    (void)snprintf(path_c, sizeof path_c, "%s/oracle_cut.c.weft", root ? root : ".");
    run.pool = weft_pool_new(3);
    char *bytes = random_stored_bytes();
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t i = 0; i < SEEDS_A_LINE && !failed_seed; i++)
            if (!case_run(seed + i, bytes))
                failed_seed = seed + i;
        tap_ok(!failed_seed, "%d random traces from seed %" PRIu64 " on", SEEDS_A_LINE, seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
    free(bytes);
    weft_pool_free(run.pool);
    (void)unlink(path_a);
    (void)unlink(path_b);
    (void)unlink(path_c);
    (void)unlink(path_d);
    return tap_done();
}
