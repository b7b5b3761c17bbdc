/* SPDX-License-Identifier: MIT
 *
 * States of threads against a literal simulation (naive_states.c), on random kernel traces: with
 * lost events, switches that were not seen, many events in one ns, forks, exits; in blocks so small
 * that there are many windows, and with so little memory that they are decoded again and again.
 * A program tells of its threads too, in no order of time.
 * States tile a thread's life, and the order of delivery does not matter.
 */
#include "analysis/states/states.h"
#include "naive_states.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum { SEEDS = 1250, SEEDS_A_LINE = 250, MOST_EVENTS = 400 };

static char path[64];
static char what[400];
static struct naive_event events[MOST_EVENTS];
static struct naive_unit units[NAIVE_MOST_THREADS][NAIVE_MOST_NS];
static uint32_t on[NAIVE_MOST_CPUS][NAIVE_MOST_NS]; /* filled by cpus_same */

/* ---- a random trace ------------------------------------------------------------------------- */

struct scheduler {
    uint64_t state;
    uint64_t time_ns;
    uint32_t n_threads, n_cpus;
    uint32_t on[NAIVE_MOST_CPUS];
    uint64_t tids[NAIVE_MOST_THREADS];
    uint64_t last_ns[NAIVE_MOST_THREADS];
    uint64_t renewed_ns; /* when a tid goes to another thread, heir[1] after heir[0] */
    uint32_t heir[2];
    unsigned lost_percent, odd_percent, tie_percent, told_percent;
    struct naive_trace trace;
};

static uint64_t roll(struct scheduler *s, uint64_t n)
{
    return tap_random(&s->state) % n;
}

static struct weft_event event_of(const struct scheduler *s, enum weft_event_kind kind, int32_t cpu)
{
    return (struct weft_event){ .time_ns = s->time_ns,
                                .kind = kind,
                                .cpu = cpu,
                                .next_thread_id = WEFT_ID_NONE,
                                .object_id = WEFT_ID_NONE,
                                .stack_id = WEFT_ID_NONE,
                                .name = WEFT_STR(""),
                                .category = WEFT_STR(""),
                                .payload = WEFT_STR("") };
}

static void interrupt_fill(struct scheduler *s, struct weft_event *event)
{
    static const char *const names[] = { "irq", "softirq", "hrtimer", "reschedule" };
    event->name = weft_str_of(names[roll(s, 4)]);
    event->value = roll(s, 10);
    if (event->kind == WEFT_EVENT_IRQ_ENTER && weft_str_equal(event->name, WEFT_STR("irq")) &&
        roll(s, 3) == 0)
        event->category = WEFT_STR("arch_timer");
}

static struct weft_event random_event(struct scheduler *s, int32_t cpu, uint32_t source)
{
    static const uint8_t kinds[] = {
        WEFT_EVENT_SWITCH,        WEFT_EVENT_SWITCH,       WEFT_EVENT_SWITCH,
        WEFT_EVENT_WAKING,        WEFT_EVENT_WAKING,       WEFT_EVENT_WOKEN,
        WEFT_EVENT_IRQ_ENTER,     WEFT_EVENT_IRQ_EXIT,     WEFT_EVENT_IRQ_ENTER,
        WEFT_EVENT_SYSCALL_ENTER, WEFT_EVENT_SYSCALL_EXIT, WEFT_EVENT_FORK,
        WEFT_EVENT_EXIT,          WEFT_EVENT_INSTANT,      WEFT_EVENT_IRQ_EXIT,
        WEFT_EVENT_SWITCH,
    };
    static const uint32_t left[] = { 0, 0, 0x100, 1, 1, 2, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x400 };
    static const char *const calls[] = { "read", "futex", "nanosleep" };
    struct weft_event event = event_of(s, (enum weft_event_kind)kinds[roll(s, sizeof kinds)], cpu);
    switch (event.kind) {
    case WEFT_EVENT_SWITCH:
        event.next_thread_id = (uint32_t)roll(s, s->n_threads);
        if (event.next_thread_id == source && roll(s, 4))
            event.next_thread_id = (source + 1) % s->n_threads;
        if (roll(s, 30) == 0)
            event.next_thread_id = WEFT_ID_NONE;
        event.prev_state = left[roll(s, sizeof left / sizeof *left)];
        break;
    case WEFT_EVENT_WAKING:
    case WEFT_EVENT_WOKEN:
        event.value = roll(s, s->n_cpus);
        event.prev_state = event.kind == WEFT_EVENT_WOKEN && roll(s, 3) == 0;
        event.next_thread_id = (uint32_t)roll(s, s->n_threads);
        break;
    case WEFT_EVENT_FORK:
        event.next_thread_id = (uint32_t)roll(s, s->n_threads);
        break;
    case WEFT_EVENT_IRQ_ENTER:
    case WEFT_EVENT_IRQ_EXIT:
        interrupt_fill(s, &event);
        break;
    case WEFT_EVENT_SYSCALL_ENTER:
    case WEFT_EVENT_SYSCALL_EXIT:
        event.name = weft_str_of(calls[roll(s, 3)]);
        break;
    default:
        event.name = WEFT_STR("mark");
        break;
    }
    if (roll(s, 40) == 0)
        event.cpu = -1;
    return event;
}

/* The thread that it is by then. */
static uint32_t thread_at(const struct scheduler *s, uint64_t time_ns, uint32_t thread)
{
    return thread == s->heir[0] || thread == s->heir[1] ? s->heir[time_ns >= s->renewed_ns]
                                                        : thread;
}

/* Tids that come twice: of threads one after the other, and of any. */
static void tids_make(struct scheduler *s)
{
    for (uint32_t i = 0; i < s->n_threads; i++)
        s->tids[i] = i < s->n_cpus ? 0 : 100 + i;
    s->heir[0] = s->heir[1] = WEFT_ID_NONE - 1;
    if (s->n_threads < s->n_cpus + 4 || roll(s, 2))
        return;
    s->heir[0] = s->n_cpus + (uint32_t)roll(s, 2);
    s->heir[1] = s->n_cpus + 2;
    s->renewed_ns = roll(s, NAIVE_MOST_NS);
    s->tids[s->heir[1]] = s->tids[s->heir[0]];
    if (roll(s, 3) == 0)
        s->tids[s->n_cpus + 3] = s->tids[s->heir[0]];
}

static void trace_make(struct scheduler *s, uint64_t seed)
{
    *s = (struct scheduler){ .state = seed };
    s->n_cpus = 1 + (uint32_t)roll(s, NAIVE_MOST_CPUS);
    s->n_threads = s->n_cpus + (uint32_t)roll(s, NAIVE_MOST_THREADS - s->n_cpus + 1);
    s->lost_percent = (unsigned)roll(s, 3) * 10;
    s->odd_percent = (unsigned)roll(s, 3) * 8;
    s->tie_percent = (unsigned)roll(s, 3) * 40;
    s->told_percent = (unsigned)roll(s, 3) * 30;
    const size_t n_events = roll(s, MOST_EVENTS) + 1;
    size_t n = 0;
    for (uint32_t i = 0; i < s->n_cpus; i++)
        s->on[i] = i;
    tids_make(s);
    while (n < n_events && s->time_ns + 8 < NAIVE_MOST_NS) {
        const uint32_t cpu = (uint32_t)roll(s, s->n_cpus);
        const bool is_odd = roll(s, 100) < s->odd_percent;
        uint32_t source = is_odd ? (uint32_t)roll(s, s->n_threads) : s->on[cpu];
        if (roll(s, 100) >= s->tie_percent)
            s->time_ns += roll(s, 4);
        source = thread_at(s, s->time_ns, source);
        struct weft_event event = random_event(s, (int32_t)cpu, source);
        event.next_thread_id = thread_at(s, s->time_ns, event.next_thread_id);
        if (event.kind == WEFT_EVENT_SWITCH && event.next_thread_id != WEFT_ID_NONE)
            s->on[cpu] = event.next_thread_id;
        if (roll(s, 100) < s->lost_percent)
            continue;
        events[n++] = (struct naive_event){ .event = event, .source = source };
    }
    s->trace = (struct naive_trace){ .events = events,
                                     .n_events = n,
                                     .n_threads = s->n_threads,
                                     .n_idle = s->n_cpus,
                                     .tids = s->tids,
                                     .end_ns = n ? events[n - 1].event.time_ns : 0 };
}

/* ---- writing -------------------------------------------------------------------------------- */

/* What a program tells changes no state, whenever it was. */
static enum weft_code told_deliver(struct scheduler *s, struct weft_sink *sink, uint32_t thread,
                                   struct weft_err *err)
{
    struct weft_event event = event_of(s, roll(s, 2) ? WEFT_EVENT_SPAN : WEFT_EVENT_INSTANT, -1);
    event.name = WEFT_STR("told");
    event.time_ns = roll(s, s->trace.end_ns + 1);
    if (event.kind == WEFT_EVENT_SPAN)
        event.duration_ns = roll(s, s->trace.end_ns - event.time_ns + 1);
    return sink->ops->events(sink, thread, &event, 1, err);
}

static enum weft_code event_deliver(struct scheduler *s, struct weft_sink *sink,
                                    const struct naive_event *event, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (code == WEFT_OK && roll(s, 100) < s->told_percent)
        code = told_deliver(s, sink, event->source, err);
    return code == WEFT_OK ? sink->ops->events(sink, event->source, &event->event, 1, err) : code;
}

/* In order of time, or thread by thread. */
static enum weft_code events_deliver(struct scheduler *s, struct weft_sink *sink,
                                     struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    const bool is_by_thread = roll(s, 2);
    if (!is_by_thread) {
        for (size_t i = 0; i < s->trace.n_events && code == WEFT_OK; i++)
            code = event_deliver(s, sink, &events[i], err);
        return code;
    }
    for (uint32_t k = s->n_threads; k-- > 0;) {
        for (size_t i = 0; i < s->trace.n_events && code == WEFT_OK; i++)
            if (events[i].source == k)
                code = event_deliver(s, sink, &events[i], err);
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, k, 0, err);
    }
    return code;
}

static bool trace_write(struct scheduler *s)
{
    struct weft_err err = { 0 };
    struct weft_writer *writer = NULL;
    const struct weft_writer_opts opts = { .block_events = 1 + (uint32_t)roll(s, 40) };
    enum weft_code code = weft_writer_open(path, &opts, &writer, &err);
    if (code != WEFT_OK)
        return false;
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random"),
                                           .is_parallel = roll(s, 2) };
    code = sink->ops->begin(sink, &begin, &err);
    for (uint32_t i = 0; i < s->n_threads && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = s->tids[i], .generation = i };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, &err);
    }
    if (code == WEFT_OK)
        code = events_deliver(s, sink, &err);
    if (code == WEFT_OK)
        code = weft_writer_commit(writer, NULL, &err);
    else
        weft_writer_abort(writer);
    if (code != WEFT_OK)
        weft_err_print(&err, what, sizeof what);
    return code == WEFT_OK;
}

/* ---- comparing ------------------------------------------------------------------------------ */

static bool differ(const char *name, uint32_t thread, uint64_t t, uint64_t got, uint64_t want)
{
    (void)snprintf(what, sizeof what,
                   "thread %u at %" PRIu64 ", %s: got %" PRIu64 ", want %" PRIu64, thread, t, name,
                   got, want);
    return false;
}

#define SAME(field)                                                                                \
    do {                                                                                           \
        if (got->field != want->field)                                                             \
            return differ(#field, thread, t, (uint64_t)got->field, (uint64_t)want->field);         \
    } while (0)

static bool state_same(uint32_t thread, uint64_t t, const struct weft_state *got,
                       const struct weft_state *want)
{
    SAME(kind);
    SAME(start_ns);
    SAME(reason);
    SAME(cpu);
    SAME(waker_thread_id);
    SAME(wake_ns);
    SAME(number);
    SAME(flags);
    if (!weft_str_equal(got->name, want->name))
        return differ("name", thread, t, got->name.n_bytes, want->name.n_bytes);
    return true;
}

/* Each ns asked for on its own, in a random order of threads. */
static bool answers_same(struct scheduler *s, struct weft_history *history)
{
    for (uint64_t k = 0; k < s->trace.end_ns * s->n_threads; k++) {
        const uint32_t thread = (uint32_t)roll(s, s->n_threads);
        const uint64_t t = roll(s, s->trace.end_ns);
        const struct naive_unit *want = &units[thread][t];
        struct weft_state got;
        if (weft_history_before(history, thread, t + 1, &got, NULL) != WEFT_OK)
            return differ("fails", thread, t, 0, 0);
        if (got.start_ns > t || got.end_ns <= t)
            return differ("not around", thread, t, got.start_ns, got.end_ns);
        if (!want->is_alive && got.kind != WEFT_STATE_UNKNOWN)
            return differ("lives", thread, t, got.kind, 0);
        if (want->is_alive && !state_same(thread, t, &got, &want->state))
            return false;
    }
    return true;
}

/* All states of a part in order: they tile it. */
static bool thread_same(struct scheduler *s, struct weft_history *history, uint32_t thread)
{
    uint64_t first_ns, last_ns;
    struct weft_states *states;
    const uint64_t from_ns = roll(s, 2) ? 0 : roll(s, s->trace.end_ns + 1);
    const uint64_t to_ns = roll(s, 2) ? UINT64_MAX : from_ns + roll(s, s->trace.end_ns + 1);
    if (weft_history_life(history, thread, &first_ns, &last_ns, NULL) != WEFT_OK ||
        weft_states_open(history, thread, from_ns, to_ns, &states, NULL) != WEFT_OK)
        return differ("fails", thread, 0, 0, 0);
    const struct weft_state *state;
    uint64_t at_ns = UINT64_MAX, end_ns = 0;
    bool is_good = true;
    while (is_good && weft_states_next(states, &state, NULL) == WEFT_OK && state) {
        if (at_ns != UINT64_MAX && state->start_ns != at_ns)
            is_good = differ("gap", thread, at_ns, state->start_ns, at_ns);
        if (at_ns == UINT64_MAX && state->start_ns > (from_ns > first_ns ? from_ns : first_ns))
            is_good = differ("begins late", thread, from_ns, state->start_ns, first_ns);
        if (state->end_ns <= state->start_ns || state->end_ns <= from_ns ||
            state->start_ns >= to_ns)
            is_good = differ("outside", thread, state->start_ns, from_ns, to_ns);
        for (uint64_t t = state->start_ns; t < state->end_ns && is_good; t++)
            is_good = units[thread][t].is_alive
                          ? state_same(thread, t, state, &units[thread][t].state)
                          : differ("lives", thread, t, 1, 0);
        end_ns = at_ns = state->end_ns;
    }
    weft_states_close(states);
    if (is_good && from_ns < last_ns && to_ns > first_ns && to_ns > from_ns &&
        end_ns < (to_ns < last_ns ? to_ns : last_ns))
        is_good = differ("ends early", thread, from_ns, end_ns, to_ns < last_ns ? to_ns : last_ns);
    for (uint64_t t = 0; t < s->trace.end_ns && is_good; t++)
        if (units[thread][t].is_alive != (t >= first_ns && t < last_ns))
            is_good = differ("life", thread, t, first_ns, last_ns);
    return is_good;
}

static bool cpus_same(struct scheduler *s, struct weft_history *history)
{
    for (uint32_t cpu = 0; cpu < s->n_cpus; cpu++) {
        struct weft_cpu_runs *runs;
        const uint64_t from_ns = roll(s, s->trace.end_ns + 1);
        const uint64_t to_ns = roll(s, 2) ? UINT64_MAX : from_ns + roll(s, s->trace.end_ns + 1);
        const bool has = naive_cpu(&s->trace, (int32_t)cpu, units, on[cpu]);
        if (weft_cpu_runs_open(history, 0, (int32_t)cpu, from_ns, to_ns, &runs, NULL) != WEFT_OK)
            return differ("fails", cpu, 0, 0, 0);
        const struct weft_cpu_run *run;
        uint64_t at_ns = from_ns;
        bool is_good = true;
        while (is_good && weft_cpu_runs_next(runs, &run, NULL) == WEFT_OK && run) {
            is_good = run->start_ns <= at_ns && run->end_ns > at_ns && run->start_ns < to_ns;
            for (at_ns = run->start_ns; at_ns < run->end_ns; at_ns++)
                is_good = is_good && on[cpu][at_ns] == run->thread_id;
            if (!is_good)
                (void)differ("run", cpu, at_ns, run->thread_id, on[cpu][at_ns - 1]);
        }
        weft_cpu_runs_close(runs);
        if (is_good && at_ns < (to_ns < s->trace.end_ns ? to_ns : s->trace.end_ns) && has)
            is_good = differ("runs end", cpu, at_ns, 0, 0);
        if (!is_good)
            return false;
    }
    return true;
}

/* Who had the processor while a thread could run: sums by thread. */
static bool preempted_same(struct scheduler *s, const struct weft_waits_thread *thread)
{
    uint64_t want[NAIVE_MOST_THREADS + 1] = { 0 };
    for (uint64_t t = 0; t < s->trace.end_ns; t++) {
        const struct naive_unit *unit = &units[thread->thread_id][t];
        const int32_t cpu = unit->state.cpu;
        if (!unit->is_alive || unit->state.kind != WEFT_STATE_PREEMPTED)
            continue;
        uint32_t other = cpu >= 0 ? on[cpu][t] : WEFT_ID_NONE;
        if (other == WEFT_ID_NONE || other == thread->thread_id || other < s->trace.n_idle)
            other = NAIVE_MOST_THREADS;
        want[other]++;
    }
    for (size_t k = 0; k < thread->n_rows; k++) {
        const uint32_t other = thread->rows[k].other_id;
        if (thread->rows[k].kind == WEFT_STATE_PREEMPTED)
            want[other == WEFT_ID_NONE ? NAIVE_MOST_THREADS : other] -= thread->rows[k].sum_ns;
    }
    for (uint32_t i = 0; i <= NAIVE_MOST_THREADS; i++)
        if (want[i] != 0)
            return differ("preempted by", thread->thread_id, i, want[i], 0);
    return true;
}

/* The sums of threads and processors are those of the units. */
static bool waits_same(struct scheduler *s, const struct weft_trace *trace,
                       const struct weft_run *run)
{
    const struct weft_waits_opts opts = { .to_ns = UINT64_MAX };
    struct weft_waits_table *table;
    if (weft_waits_run(trace, NULL, &opts, run, &table, NULL) != WEFT_OK)
        return differ("waits fail", 0, 0, 0, 0);
    bool is_same = true;
    size_t at = 0;
    for (uint32_t i = 0; i < s->n_threads && is_same; i++) {
        uint64_t kinds[WEFT_STATE_KINDS] = { 0 }, reasons[WEFT_WAIT_REASONS] = { 0 }, life_ns = 0;
        for (uint64_t t = 0; t < s->trace.end_ns; t++) {
            kinds[units[i][t].state.kind] += units[i][t].is_alive;
            reasons[units[i][t].state.reason] += units[i][t].is_alive;
            life_ns += units[i][t].is_alive;
        }
        if (life_ns == 0)
            continue;
        const struct weft_waits_thread *thread = &table->threads[at++];
        uint64_t sum_ns = 0;
        for (size_t k = 0; k < thread->n_rows; k++)
            sum_ns += thread->rows[k].sum_ns;
        is_same = at <= table->n_threads && thread->thread_id == i && sum_ns == life_ns &&
                  thread->last_ns - thread->first_ns == life_ns &&
                  memcmp(kinds, thread->kind_ns, sizeof kinds) == 0 &&
                  memcmp(reasons, thread->reason_ns, sizeof reasons) == 0;
        if (!is_same)
            (void)differ("sums", i, thread->first_ns, sum_ns, life_ns);
        is_same = is_same && preempted_same(s, thread);
    }
    weft_result_free(table);
    return is_same;
}

static bool sums_same(struct scheduler *s, const struct weft_trace *trace,
                      const struct weft_run *run)
{
    const struct weft_cpu_opts opts = { .from_ns = roll(s, s->trace.end_ns + 1),
                                        .to_ns = UINT64_MAX };
    struct weft_cpu_table *table;
    if (weft_cpus_run(trace, NULL, &opts, run, &table, NULL) != WEFT_OK)
        return differ("cpu fails", 0, 0, 0, 0);
    uint64_t got_ns = 0, want_ns = 0;
    for (size_t k = 0; k < table->n_rows; k++)
        got_ns += table->rows[k].modes.user_ns + table->rows[k].modes.kernel_ns +
                  table->rows[k].modes.unknown_ns + table->rows[k].interrupted_ns +
                  table->rows[k].idle_ns;
    weft_result_free(table);
    for (uint32_t i = 0; i < s->n_threads; i++)
        for (uint64_t t = opts.from_ns; t < s->trace.end_ns; t++)
            want_ns += units[i][t].is_alive && units[i][t].state.cpu >= 0 &&
                       units[i][t].state.kind >= WEFT_STATE_RUNNING &&
                       units[i][t].state.kind <= WEFT_STATE_INTERRUPTED;
    return got_ns == want_ns || differ("processors", 0, opts.from_ns, got_ns, want_ns);
}

static bool file_same(struct scheduler *s, const struct weft_run *run)
{
    struct weft_err err = { 0 };
    struct weft_trace *trace;
    struct weft_history *history;
    if (weft_trace_open(path, &trace, &err) != WEFT_OK) {
        weft_err_print(&err, what, sizeof what);
        return false;
    }
    bool is_same = weft_history_open(trace, roll(s, 2) ? 0 : 1000, &history, &err) == WEFT_OK &&
                   answers_same(s, history);
    for (uint32_t i = 0; i < s->n_threads && is_same; i++)
        is_same = thread_same(s, history, i);
    is_same =
        is_same && cpus_same(s, history) && waits_same(s, trace, run) && sums_same(s, trace, run);
    weft_history_close(history);
    weft_trace_close(trace);
    return is_same;
}

static bool seed_run(uint64_t seed, const struct weft_run *run)
{
    struct scheduler s;
    trace_make(&s, seed);
    naive_states(&s.trace, units);
    return trace_write(&s) && file_same(&s, run);
}

int main(void)
{
    const uint64_t first = tap_seed(1);
    const struct weft_run run = { .pool = weft_pool_new(2) };
    (void)snprintf(path, sizeof path, "/tmp/test_oracle_states.%d.weft", (int)getpid());
    for (uint64_t at = 0; at < SEEDS; at += SEEDS_A_LINE) {
        uint64_t seed = first + at;
        while (seed < first + at + SEEDS_A_LINE && seed_run(seed, &run))
            seed++;
        if (!tap_ok(seed == first + at + SEEDS_A_LINE,
                    "seeds %" PRIu64 " to %" PRIu64 ": states are those of the simulation",
                    first + at, first + at + SEEDS_A_LINE - 1)) {
            tap_note("seed %" PRIu64 ": %s", seed, what);
            break;
        }
    }
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
