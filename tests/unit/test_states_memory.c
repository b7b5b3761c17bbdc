/* SPDX-License-Identifier: MIT
 *
 * States of threads without memory: whichever allocation fails, the answer is an error and nothing
 * leaks; where it succeeds, it is the answer as ever. The same for writing what others did.
 */
#include "analysis/states/states.h"
#include "failing_alloc.h"
#include "model/states/states.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum { MAX_ALLOCATIONS = 2000, N_EVENTS = 300, N_THREADS = 6 };

static char path[64];

static struct weft_event event_of(uint64_t *state, uint64_t time_ns)
{
    static const uint8_t kinds[] = { WEFT_EVENT_SWITCH,    WEFT_EVENT_WAKING,
                                     WEFT_EVENT_IRQ_ENTER, WEFT_EVENT_IRQ_EXIT,
                                     WEFT_EVENT_SWITCH,    WEFT_EVENT_SYSCALL_ENTER,
                                     WEFT_EVENT_FORK,      WEFT_EVENT_SYSCALL_EXIT };
    struct weft_event event = { .time_ns = time_ns,
                                .kind = (enum weft_event_kind)kinds[tap_random(state) % 8],
                                .cpu = (int32_t)(tap_random(state) % 2),
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .name = WEFT_STR("futex"),
                                .category = WEFT_STR(""),
                                .payload = WEFT_STR("") };
    if (event.kind == WEFT_EVENT_SWITCH || event.kind == WEFT_EVENT_WAKING ||
        event.kind == WEFT_EVENT_FORK)
        event.next_thread_id = (uint32_t)(tap_random(state) % N_THREADS);
    event.prev_state = (uint32_t)(tap_random(state) % 3);
    return event;
}

static enum weft_code trace_write(void)
{
    uint64_t state = 1;
    struct weft_writer *writer = NULL;
    const struct weft_writer_opts opts = { .block_events = 16 };
    const struct weft_sink_begin begin = { .format = WEFT_STR("test") };
    enum weft_code code = weft_writer_open(path, &opts, &writer, NULL);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    code = sink->ops->begin(sink, &begin, NULL);
    for (uint32_t i = 0; i < N_THREADS && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = i };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, NULL);
    }
    for (uint64_t i = 0; i < N_EVENTS && code == WEFT_OK; i++) {
        const struct weft_event event = event_of(&state, i * 3);
        code = sink->ops->events(sink, (uint32_t)(tap_random(&state) % N_THREADS), &event, 1, NULL);
    }
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, NULL);
    weft_writer_abort(writer);
    return code;
}

static enum weft_code tables_ask(const struct weft_trace *trace, const struct weft_run *run,
                                 uint64_t *sum)
{
    const struct weft_states_opts states_opts = { .to_ns = UINT64_MAX };
    const struct weft_waits_opts waits_opts = { .to_ns = UINT64_MAX };
    const struct weft_cpu_opts cpu_opts = { .to_ns = UINT64_MAX };
    struct weft_states_table *states = NULL;
    struct weft_waits_table *waits = NULL;
    struct weft_cpu_table *cpu = NULL;
    enum weft_code code = weft_states_run(trace, NULL, &states_opts, run, &states, NULL);
    if (code == WEFT_OK)
        code = weft_waits_run(trace, NULL, &waits_opts, run, &waits, NULL);
    if (code == WEFT_OK)
        code = weft_cpus_run(trace, NULL, &cpu_opts, run, &cpu, NULL);
    if (code == WEFT_OK)
        *sum = states->n_found + waits->n_threads * 1000 + cpu->n_rows * 100000;
    weft_result_free(states);
    weft_result_free(waits);
    weft_result_free(cpu);
    return code;
}

/* With hardly any cache, so that windows are let go, too. */
static enum weft_code moments_ask(const struct weft_trace *trace, uint64_t *sum)
{
    struct weft_history *history;
    enum weft_code code = weft_history_open(trace, 500, &history, NULL);
    for (uint64_t t = 0; t < N_EVENTS * 3 && code == WEFT_OK; t += 37) {
        struct weft_state state;
        code = weft_history_before(history, (uint32_t)(t % N_THREADS), t, &state, NULL);
        *sum += code == WEFT_OK ? state.start_ns : 0;
    }
    weft_history_close(history);
    return code;
}

static enum weft_code all_ask(const struct weft_trace *trace, const struct weft_run *run,
                              uint64_t *sum)
{
    *sum = 0;
    const enum weft_code code = tables_ask(trace, run, sum);
    return code == WEFT_OK ? moments_ask(trace, sum) : code;
}

int main(void)
{
    struct weft_trace *trace = NULL;
    const struct weft_run run = { .pool = weft_pool_new(1) };
    (void)snprintf(path, sizeof path, "/tmp/test_states_memory.%d.weft", (int)getpid());
    int n_failed = 0;
    enum weft_code code = WEFT_E_NOMEM;
    for (; code == WEFT_E_NOMEM && n_failed < MAX_ALLOCATIONS; n_failed++) {
        n_until_failure = n_failed;
        code = trace_write();
        n_until_failure = -1;
    }
    tap_ok(code == WEFT_OK, "writing: %d allocations, each of which failed once", n_failed - 1);
    tap_ok(weft_trace_open(path, &trace, NULL) == WEFT_OK, "what is written opens");
    uint64_t want = 0;
    tap_ok(all_ask(trace, &run, &want) == WEFT_OK && want > 100000,
           "with memory there are answers");
    uint64_t got = 0;
    for (n_failed = 0, code = WEFT_E_NOMEM; code == WEFT_E_NOMEM && n_failed < MAX_ALLOCATIONS;
         n_failed++) {
        n_until_failure = n_failed;
        code = all_ask(trace, &run, &got);
        n_until_failure = -1;
    }
    tap_ok(code == WEFT_OK && got == want,
           "asking: %d allocations, each of which failed once; then the same answers",
           n_failed - 1);
    weft_trace_close(trace);
    weft_pool_free(run.pool);
    (void)unlink(path);
    return tap_done();
}
