/* SPDX-License-Identifier: MIT
 *
 * Stacks that samples tell, of threads whose events come in any order: all that a kernel tells,
 * then all that the thread tells itself, or parts of both in turn. The twin looks at every event.
 */
#include "analysis/path/stacks.h"
#include "store/writer.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

enum { SEEDS = 150, STREAMS = 3, EVENTS = 120, QUESTIONS = 60, NAMES = 5, BLOCK_EVENTS = 8 };
enum { STEP_NS = 200000, OLD_NS = 1000000, MOST_BLOCKS = 4 };

struct scene {
    struct weft_event events[STREAMS * EVENTS]; /* in the order in which they are told */
    size_t n;
    uint64_t end_ns;
};

static const char *const names[NAMES] = { "main", "main;run", "main;run;step", "main;wait", "a;b" };

/* Each stream in order of time, or not; no two samples at once. */
static void make_scene(struct scene *scene, uint64_t *state)
{
    *scene = (struct scene){ .end_ns = 0 };
    for (unsigned stream = 0; stream < STREAMS; stream++) {
        const bool is_jumping = tap_random(state) % 4 == 0, is_kernel = tap_random(state) % 3 > 0;
        uint64_t at_ns = 0;
        for (unsigned i = 0; i < EVENTS; i++) {
            at_ns = is_jumping ? tap_random(state) % (EVENTS * STEP_NS)
                               : at_ns + 1 + tap_random(state) % STEP_NS;
            const bool is_sample = is_kernel && tap_random(state) % 2;
            struct weft_event *event = &scene->events[scene->n];
            *event =
                (struct weft_event){ .time_ns = at_ns * STREAMS + stream,
                                     .next_thread_id = WEFT_ID_NONE,
                                     .object_id = WEFT_ID_NONE,
                                     .stack_id = WEFT_ID_NONE,
                                     .kind = is_sample ? WEFT_EVENT_SAMPLE : WEFT_EVENT_INSTANT,
                                     .value = tap_random(state) % 4,
                                     .name = WEFT_STR("point") };
            if (is_sample)
                event->name = weft_str_of(names[tap_random(state) % NAMES]);
            for (size_t k = 0; k < scene->n; k++)
                if (scene->events[k].time_ns == event->time_ns)
                    event->name = WEFT_STR(""); /* no stack */
            scene->end_ns = event->time_ns > scene->end_ns ? event->time_ns : scene->end_ns;
            scene->n++;
        }
    }
}

static enum weft_code write_scene(const struct scene *scene, const char *path, struct weft_err *err)
{
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .block_events = BLOCK_EVENTS };
    const struct weft_sink_begin begin = { .format = WEFT_STR("scene") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    const struct weft_thread_info info = { .tid = 10, .pid = 10, .name = WEFT_STR("t") };
    uint32_t thread_id;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    if (code == WEFT_OK)
        code = sink->ops->thread(sink, &info, &thread_id, err);
    if (code == WEFT_OK)
        code = sink->ops->events(sink, 0, scene->events, scene->n, err);
    if (code == WEFT_OK)
        code = sink->ops->thread_end(sink, 0, scene->end_ns, err);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err);
    weft_writer_abort(writer);
    return code;
}

static bool is_stack(const struct weft_event *event, uint64_t from_ns, uint64_t to_ns)
{
    return event->kind == WEFT_EVENT_SAMPLE && event->name.n_bytes && event->time_ns >= from_ns &&
           event->time_ns <= to_ns;
}

/* Of more blocks than these only the last are looked at. */
static bool is_askable(const struct weft_trace *trace, uint64_t from_ns, uint64_t to_ns)
{
    struct weft_store *store = weft_trace_store(trace);
    unsigned n = 0;
    for (uint64_t k = 0; k < weft_store_thread_get(store, 0)->n_event_blocks; k++) {
        const struct weft_event_block_info *info = weft_store_event_block_get(store, 0, k);
        n += info->kinds >> WEFT_EVENT_SAMPLE & 1 && info->first_ns <= to_ns &&
             info->last_ns >= from_ns;
    }
    return n <= MOST_BLOCKS;
}

/* The last stack at `at_ns` or not long before. */
static struct weft_str last_before(const struct scene *scene, uint64_t at_ns)
{
    const struct weft_event *last = NULL;
    for (size_t k = 0; k < scene->n; k++)
        if (is_stack(&scene->events[k], at_ns > OLD_NS ? at_ns - OLD_NS : 0, at_ns) &&
            (!last || scene->events[k].time_ns > last->time_ns))
            last = &scene->events[k];
    return last ? last->name : (struct weft_str){ 0 };
}

static uint64_t weight_of(const struct scene *scene, struct weft_str name, uint64_t from_ns,
                          uint64_t to_ns)
{
    uint64_t weight = 0, n = 0;
    for (size_t k = 0; k < scene->n; k++)
        if (is_stack(&scene->events[k], from_ns, to_ns) &&
            weft_str_equal(scene->events[k].name, name)) {
            weight += scene->events[k].value;
            n++;
        }
    return weight ? weight : n;
}

static bool ask_seen(const struct scene *scene, struct weft_path_stacks *stacks, uint64_t from_ns,
                     uint64_t to_ns)
{
    const struct weft_path_seen *seen;
    size_t n_seen, n_want = 0;
    struct weft_err err = { 0 };
    if (weft_path_stacks_seen(stacks, 0, from_ns, to_ns, &seen, &n_seen, &err) != WEFT_OK)
        return false;
    for (unsigned k = 0; k < NAMES; k++)
        n_want += weight_of(scene, weft_str_of(names[k]), from_ns, to_ns) > 0;
    bool is_same = n_seen == n_want;
    for (size_t k = 0; k < n_seen; k++)
        is_same = is_same && seen[k].weight == weight_of(scene, seen[k].stack, from_ns, to_ns);
    return is_same;
}

static bool ask_wait(const struct scene *scene, struct weft_path_stacks *stacks, uint64_t at_ns)
{
    struct weft_str stack;
    struct weft_err err = { 0 };
    return weft_path_stack(stacks, 0, at_ns, at_ns, true, &stack, &err) == WEFT_OK &&
           weft_str_equal(stack, last_before(scene, at_ns));
}

static bool ask(const struct scene *scene, const struct weft_trace *trace, uint64_t *state,
                unsigned *n_asked)
{
    struct weft_path_stacks *stacks = weft_path_stacks_new(trace);
    bool is_same = stacks != NULL;
    for (unsigned k = 0; k < QUESTIONS && is_same; k++) {
        const uint64_t from_ns = tap_random(state) % (scene->end_ns + 2),
                       to_ns = from_ns + tap_random(state) % (3 * OLD_NS),
                       old_ns = from_ns > OLD_NS ? from_ns - OLD_NS : 0;
        if (is_askable(trace, from_ns, to_ns)) {
            is_same = ask_seen(scene, stacks, from_ns, to_ns);
            ++*n_asked;
        }
        if (is_same && is_askable(trace, old_ns, from_ns)) {
            is_same = ask_wait(scene, stacks, from_ns);
            ++*n_asked;
        }
    }
    weft_path_stacks_free(stacks);
    return is_same;
}

int main(void)
{
    char path[] = "/tmp/weft-stacks-XXXXXX";
    static struct scene scene;
    unsigned n_asked = 0;
    const int fd = mkstemp(path);
    if (fd < 0)
        abort();
    (void)close(fd);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t state = seed;
        struct weft_trace *trace = NULL;
        struct weft_err err = { 0 };
        make_scene(&scene, &state);
        if (write_scene(&scene, path, &err) != WEFT_OK ||
            weft_trace_open(path, &trace, &err) != WEFT_OK)
            tap_ok(false, "seed %u: %s", (unsigned)seed, err.text);
        else if (!ask(&scene, trace, &state, &n_asked))
            tap_ok(false, "seed %u: the stacks of the twin", (unsigned)seed);
        weft_trace_close(trace);
    }
    (void)unlink(path);
    tap_ok(n_asked > SEEDS * QUESTIONS / 4, "%u questions", n_asked);
    return tap_done();
}
