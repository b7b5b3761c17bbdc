/* SPDX-License-Identifier: MIT
 *
 * Which threads of a trace that names no processes are of one: of random traces, against all ties
 * in a table that is closed by trying every thread between every two. And what frames say of it.
 */
#include "analysis/ecct/names.h"
#include "model/calls/processes.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum { SEEDS = 400, MOST_THREADS = 9, MOST_EVENTS = 24 };

enum what { FORK, EXEC, WAKE, FUTEX_BEGIN, OTHER_BEGIN, CALL_END, IRQ_BEGIN, IRQ_END, WHATS };

struct scene {
    uint32_t n_threads;
    uint64_t tids[MOST_THREADS]; /* the last one idles */
    struct {
        enum what what;
        uint32_t to;
    } events[MOST_THREADS][MOST_EVENTS];
    bool names_processes;
};

static char path[512];

static void random_scene(struct scene *scene, uint64_t *state)
{
    *scene = (struct scene){ .n_threads = 2 + (uint32_t)(tap_random(state) % (MOST_THREADS - 1)),
                             .names_processes = tap_random(state) % 8 == 0 };
    for (uint32_t t = 0; t < scene->n_threads; t++) {
        const bool is_idle = t == MOST_THREADS - 1;
        scene->tids[t] = is_idle ? 0 : 100 + (t * 7 + tap_random(state) % 7) % 64 * 16 + t;
        for (size_t i = 0; i < MOST_EVENTS; i++) {
            const enum what what = (enum what)(tap_random(state) % (3 * WHATS));
            scene->events[t][i].what = what < WHATS && (what != EXEC || i < 3) ? what : WHATS;
            scene->events[t][i].to = (uint32_t)(tap_random(state) % scene->n_threads);
            if ((what == FORK || what == WAKE) && tap_random(state) % 3)
                scene->events[t][i].what = WHATS; /* else all are of one */
        }
    }
}

/* ---- the trace ------------------------------------------------------------------------------- */

static struct weft_event event_of(const struct scene *scene, uint32_t t, size_t i)
{
    static const struct {
        enum weft_event_kind kind;
        const char *name;
    } kinds[WHATS + 1] = {
        [FORK] = { WEFT_EVENT_FORK, "" },
        [EXEC] = { WEFT_EVENT_INSTANT, "sched:sched_process_exec" },
        [WAKE] = { WEFT_EVENT_WAKING, "" },
        [FUTEX_BEGIN] = { WEFT_EVENT_SYSCALL_ENTER, "futex" },
        [OTHER_BEGIN] = { WEFT_EVENT_SYSCALL_ENTER, "futex_waitv" },
        [CALL_END] = { WEFT_EVENT_SYSCALL_EXIT, "futex" },
        [IRQ_BEGIN] = { WEFT_EVENT_IRQ_ENTER, "timer" },
        [IRQ_END] = { WEFT_EVENT_IRQ_EXIT, "timer" },
        [WHATS] = { WEFT_EVENT_INSTANT, "sched_process_exec_not" },
    };
    const enum what what = scene->events[t][i].what;
    return (struct weft_event){ .time_ns = 10 * i + t,
                                .kind = kinds[what].kind,
                                .name = weft_str_of(kinds[what].name),
                                .next_thread_id = what == FORK || what == WAKE
                                                      ? scene->events[t][i].to
                                                      : WEFT_ID_NONE,
                                .cpu = -1,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE };
}

static enum weft_code write_thread(struct weft_sink *sink, const struct scene *scene, uint32_t t,
                                   struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < MOST_EVENTS && code == WEFT_OK; i++) {
        const struct weft_event event = event_of(scene, t, i);
        code = sink->ops->events(sink, t, &event, 1, err);
    }
    const struct weft_event last = { .time_ns = 1000 + t,
                                     .kind = WEFT_EVENT_SWITCH,
                                     .next_thread_id = WEFT_ID_NONE,
                                     .object_id = WEFT_ID_NONE,
                                     .stack_id = WEFT_ID_NONE };
    if (code == WEFT_OK)
        code = sink->ops->events(sink, t, &last, 1, err);
    return code == WEFT_OK ? sink->ops->thread_end(sink, t, 2000, err) : code;
}

static enum weft_code write_trace(const struct scene *scene, struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "processes", .block_events = 5 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("processes") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t t = 0; t < scene->n_threads && code == WEFT_OK; t++) {
        char name[16];
        (void)snprintf(name, sizeof name, "%c thread", 'a' + (char)t / 2 * 2);
        const struct weft_thread_info info = { .tid = scene->tids[t],
                                               .name = weft_str_of(name),
                                               .pid = scene->names_processes && t == 0 ? 9 : 0 };
        uint32_t id;
        code = sink->ops->thread(sink, &info, &id, err);
    }
    for (uint32_t t = 0; t < scene->n_threads && code == WEFT_OK; t++)
        code = write_thread(sink, scene, t, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err);
    weft_writer_abort(writer);
    return code;
}

/* ---- the twin -------------------------------------------------------------------------------- */

static bool runs_another(const struct scene *scene, uint32_t t)
{
    for (size_t i = 0; i < MOST_EVENTS; i++)
        if (scene->events[t][i].what == EXEC)
            return true;
    return false;
}

/* Which of two came last before an event? */
static bool is_within(const struct scene *scene, uint32_t t, size_t at, enum what begin,
                      enum what end, enum what end_too)
{
    for (size_t i = at; i-- > 0;)
        if (scene->events[t][i].what == begin)
            return true;
        else if (scene->events[t][i].what == end || scene->events[t][i].what == end_too)
            return false;
    return false;
}

/* Interrupts lie within each other; an end without a begin says nothing. */
static bool is_interrupted(const struct scene *scene, uint32_t t, size_t at)
{
    int depth = 0;
    for (size_t i = 0; i < at; i++)
        if (scene->events[t][i].what == IRQ_BEGIN)
            depth++;
        else if (scene->events[t][i].what == IRQ_END && depth > 0)
            depth--;
    return depth > 0;
}

static void twin_leaders(const struct scene *scene, uint32_t *leaders)
{
    bool is_tied[MOST_THREADS][MOST_THREADS] = { 0 };
    const uint32_t n = scene->n_threads;
    for (uint32_t t = 0; t < n; t++)
        for (size_t i = 0; i < MOST_EVENTS; i++) {
            const uint32_t to = scene->events[t][i].to;
            const enum what what = scene->events[t][i].what;
            const bool is_fork = what == FORK && !runs_another(scene, to);
            const bool is_wake = what == WAKE &&
                                 is_within(scene, t, i, FUTEX_BEGIN, OTHER_BEGIN, CALL_END) &&
                                 !is_interrupted(scene, t, i);
            if ((is_fork || is_wake) && scene->tids[t] && scene->tids[to])
                is_tied[t][to] = is_tied[to][t] = true;
        }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                is_tied[a][b] |= is_tied[a][k] && is_tied[k][b];
    for (uint32_t a = 0; a < n; a++) {
        leaders[a] = a;
        for (uint32_t b = 0; b < n; b++)
            if (is_tied[a][b] && scene->tids[b] < scene->tids[leaders[a]])
                leaders[a] = b;
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* The module is empty, or the name of the leader. Two threads each have one name. */
static bool frames_tell(const struct weft_trace *trace, const struct scene *scene,
                        const uint32_t *leaders, struct weft_err *err)
{
    struct weft_ecct_names *names = NULL;
    bool is_ok = weft_ecct_names_new(trace, &names, err) == WEFT_OK;
    for (uint32_t a = 0; is_ok && a < scene->n_threads; a++)
        for (uint32_t b = 0; is_ok && b < scene->n_threads; b++) {
            const struct weft_frame frame = weft_ecct_names_frame(names, a, b);
            const bool is_other = !scene->names_processes && leaders[a] != leaders[b] &&
                                  (a / 2 != b / 2 || !scene->tids[a] != !scene->tids[b]);
            const uint32_t leader = leaders[a];
            char want[16] = "";
            if (is_other && scene->tids[leader])
                (void)snprintf(want, sizeof want, "%c thread", 'a' + (char)leader / 2 * 2);
            is_ok = weft_str_equal(frame.module, weft_str_of(want));
            if (!is_ok)
                tap_note("frame of %u on %u: '%.*s', want '%s'", a, b, (int)frame.module.n_bytes,
                         frame.module.bytes, want);
        }
    weft_ecct_names_free(names);
    return is_ok;
}

static bool check(const struct scene *scene)
{
    uint32_t got[MOST_THREADS] = { 0 }, want[MOST_THREADS];
    struct weft_trace *trace = NULL;
    struct weft_err err = { 0 };
    twin_leaders(scene, want);
    bool is_ok = write_trace(scene, &err) == WEFT_OK &&
                 weft_trace_open(path, &trace, &err) == WEFT_OK &&
                 weft_processes_find(trace, got, &err) == WEFT_OK &&
                 weft_processes_are_unknown(trace) == !scene->names_processes;
    for (uint32_t t = 0; is_ok && t < scene->n_threads; t++)
        if (got[t] != want[t]) {
            tap_note("thread %u: %u, want %u", t, got[t], want[t]);
            is_ok = false;
        }
    is_ok = is_ok && frames_tell(trace, scene, want, &err);
    if (err.code != WEFT_OK)
        tap_note("%s", err.text);
    weft_trace_close(trace);
    return is_ok;
}

int main(void)
{
    const uint64_t seed = tap_seed(1);
    const char *root = getenv("WEFT_BUILD_ROOT");
    static struct scene scene;
    unsigned n_bad = 0;
    (void)snprintf(path, sizeof path, "%s/oracle-processes-%d.weft", root ? root : ".",
                   (int)getpid());
    for (uint64_t i = 0; i < SEEDS && n_bad == 0; i++) {
        uint64_t state = seed + i;
        random_scene(&scene, &state);
        if (!check(&scene)) {
            tap_note("seed %" PRIu64, seed + i);
            n_bad++;
        }
    }
    tap_eq_u64(n_bad, 0, "processes in %d random traces", SEEDS);
    (void)unlink(path);
    return tap_done();
}
