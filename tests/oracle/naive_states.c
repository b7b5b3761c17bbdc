/* SPDX-License-Identifier: MIT */
#include "naive_states.h"

#include "schema/states.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, DEEP = 8 };

/* Something that concerns a thread in this ns. */
struct item {
    const struct naive_event *from;
    bool is_displaced;
    int32_t cpu; /* displaced */
    int rank;    /* fork, waking, woken, switch, displaced */
    bool is_used;
};

struct nested {
    struct weft_str name;
    uint64_t number;
};

struct thread {
    uint32_t id;
    bool is_idle, is_exiting, is_dead;
    bool is_in_call;
    bool has_calls, has_mode; /* entries of system calls, ever; any of either until now */
    struct weft_str call;
    struct nested nested[64];
    size_t n_nested;
    uint64_t evidence_ns;
    bool is_heard_of;
    uint64_t first_ns, last_ns; /* when something concerned it */
    struct naive_unit now;
    struct naive_unit *units;
    uint64_t time_ns; /* now is since now.state.start_ns; units are filled up to time_ns */
};

static const struct weft_state nothing = { .cpu = -1, .waker_thread_id = WEFT_ID_NONE };

static bool runs(const struct thread *thread)
{
    return thread->now.is_alive && (thread->now.state.kind == WEFT_STATE_RUNNING ||
                                    thread->now.state.kind == WEFT_STATE_RUNNING_USER ||
                                    thread->now.state.kind == WEFT_STATE_RUNNING_KERNEL ||
                                    thread->now.state.kind == WEFT_STATE_INTERRUPTED);
}

/* From `start_ns` on; what was filled in behind it is overwritten later. */
static void become(struct thread *thread, uint64_t start_ns, struct weft_state state)
{
    for (uint64_t t = start_ns; t < thread->time_ns; t++)
        thread->units[t].state = state, thread->units[t].is_alive = true,
        thread->units[t].state.start_ns = start_ns;
    state.start_ns = start_ns;
    thread->now.state = state;
    thread->now.is_alive = true;
    thread->is_dead = false;
}

/* The wait in work ends well: all of it is told why. */
static void explain(struct thread *thread)
{
    for (uint64_t t = thread->now.state.start_ns; t < thread->time_ns; t++)
        thread->units[t] = thread->now;
}

static void run(struct thread *thread, uint64_t t, int32_t cpu, unsigned flags)
{
    struct weft_state state = nothing;
    state.kind = WEFT_STATE_RUNNING;
    if (thread->has_mode)
        state.kind = thread->is_in_call ? WEFT_STATE_RUNNING_KERNEL : WEFT_STATE_RUNNING_USER;
    state.name = thread->is_in_call ? thread->call : WEFT_STR("");
    if (thread->n_nested > 0) {
        const size_t top = (thread->n_nested < DEEP ? thread->n_nested : DEEP) - 1;
        state.kind = WEFT_STATE_INTERRUPTED;
        state.name = thread->nested[top].name;
        state.number = thread->nested[top].number;
    }
    state.cpu = cpu;
    state.flags = (uint8_t)(flags | (thread->is_idle ? WEFT_STATE_IDLE : 0));
    become(thread, t, state);
}

static struct weft_state waiting(const struct thread *thread, enum weft_state_kind kind)
{
    struct weft_state state = nothing;
    state.kind = kind;
    state.name = thread->is_in_call ? thread->call : WEFT_STR("");
    return state;
}

static void off(struct thread *thread, const struct weft_event *event)
{
    const uint32_t bits = event->prev_state & 255;
    struct weft_state state = waiting(thread, WEFT_STATE_BLOCKED);
    thread->n_nested = 0;
    if ((bits & 0x30) || (thread->is_exiting && bits > 3 && bits % 4 == 0)) {
        state.kind = WEFT_STATE_UNKNOWN;
        become(thread, event->time_ns, state);
        thread->is_dead = true;
        return;
    }
    state.cpu = event->cpu;
    if (bits == 0) {
        state.kind = WEFT_STATE_PREEMPTED;
        state.waker_thread_id = event->next_thread_id;
    } else {
        state.reason = WEFT_WAIT_UNKNOWN;
        state.flags =
            (uint8_t)((bits & 2 ? WEFT_STATE_UNINTERRUPTIBLE : 0) |
                      (bits & 12 ? WEFT_STATE_STOPPED : 0) | (bits & 128 ? WEFT_STATE_IDLE : 0));
    }
    become(thread, event->time_ns, state);
}

static void lost(struct thread *thread)
{
    thread->n_nested = 0;
    become(thread, thread->evidence_ns, waiting(thread, WEFT_STATE_UNKNOWN));
}

static void own(struct thread *thread, const struct weft_event *event)
{
    const uint64_t t = event->time_ns;
    const bool comes = event->kind == WEFT_EVENT_SWITCH && event->next_thread_id == thread->id;
    if (!runs(thread) && comes) {
        run(thread, t, event->cpu, 0);
    } else if (!runs(thread) || (event->cpu >= 0 && thread->now.state.cpu >= 0 &&
                                 event->cpu != thread->now.state.cpu)) {
        thread->n_nested = 0;
        run(thread, t, event->cpu, WEFT_STATE_INFERRED);
    }
    thread->evidence_ns = t;
    const int32_t cpu = thread->now.state.cpu;
    if (event->kind == WEFT_EVENT_SWITCH && !comes) {
        off(thread, event);
    } else if (event->kind == WEFT_EVENT_IRQ_ENTER) {
        thread->nested[thread->n_nested].name = event->name;
        thread->nested[thread->n_nested++].number = event->value;
        if (thread->n_nested <= DEEP)
            run(thread, t, cpu, 0);
    } else if (event->kind == WEFT_EVENT_IRQ_EXIT && thread->n_nested > DEEP) {
        thread->n_nested--;
    } else if (event->kind == WEFT_EVENT_IRQ_EXIT) {
        for (size_t i = thread->n_nested; i > 0; i--)
            if (thread->nested[i - 1].number == event->value &&
                weft_str_equal(thread->nested[i - 1].name, event->name)) {
                thread->n_nested = i - 1;
                run(thread, t, cpu, 0);
                break;
            }
    } else if (event->kind == WEFT_EVENT_SYSCALL_ENTER || event->kind == WEFT_EVENT_SYSCALL_EXIT) {
        thread->is_in_call = event->kind == WEFT_EVENT_SYSCALL_ENTER;
        thread->has_mode = thread->has_calls;
        thread->call = event->name;
        run(thread, t, cpu, 0);
    } else if (event->kind == WEFT_EVENT_EXIT) {
        thread->is_exiting = true;
    }
}

/* The interrupt that a thread was serving when it did this. */
static bool interrupt_of(const struct naive_trace *trace, const struct naive_event *at,
                         struct nested *inner, struct weft_str *device)
{
    struct nested stack[64];
    struct weft_str devices[64];
    size_t n = 0;
    for (const struct naive_event *from = trace->events; from < at; from++) {
        const struct weft_event *event = &from->event;
        if (from->source != at->source)
            continue;
        if (event->kind == WEFT_EVENT_SWITCH) {
            n = 0;
        } else if (event->kind == WEFT_EVENT_IRQ_ENTER) {
            devices[n] = event->category;
            stack[n++] = (struct nested){ event->name, event->value };
        } else if (event->kind == WEFT_EVENT_IRQ_EXIT && n > DEEP) {
            n--;
        } else if (event->kind == WEFT_EVENT_IRQ_EXIT) {
            for (size_t i = n; i > 0; i--)
                if (stack[i - 1].number == event->value &&
                    weft_str_equal(stack[i - 1].name, event->name)) {
                    n = i - 1;
                    break;
                }
        }
    }
    if (n == 0)
        return false;
    n = n > DEEP ? DEEP : n;
    *inner = stack[n - 1];
    *device = devices[n - 1];
    return true;
}

static enum weft_wait_reason reason_of(const struct nested *inner, struct weft_str device)
{
    static const struct {
        const char *name;
        uint64_t from, to;
        const char *device;
        enum weft_wait_reason reason;
    } rows[] = {
        { "softirq", 1, 1, "", WEFT_WAIT_TIMER },
        { "softirq", 2, 3, "", WEFT_WAIT_NETWORK },
        { "softirq", 4, 5, "", WEFT_WAIT_BLOCK_DEVICE },
        { "softirq", 8, 8, "", WEFT_WAIT_TIMER },
        { "softirq", 0, 0, "", WEFT_WAIT_DEVICE },
        { "softirq", 6, 6, "", WEFT_WAIT_DEVICE },
        { "softirq", 0, UINT64_MAX, "", WEFT_WAIT_UNKNOWN },
        { "hrtimer", 0, UINT64_MAX, "", WEFT_WAIT_TIMER },
        { "reschedule", 0, UINT64_MAX, "", WEFT_WAIT_IPI },
        { "irq", 0, 0, "", WEFT_WAIT_TIMER },
        { "irq", 0, UINT64_MAX, "arch_timer", WEFT_WAIT_TIMER },
        { "irq", 0, UINT64_MAX, "", WEFT_WAIT_DEVICE },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (weft_str_equal(inner->name, weft_str_of(rows[i].name)) &&
            inner->number >= rows[i].from && inner->number <= rows[i].to &&
            (!*rows[i].device || weft_str_equal(device, weft_str_of(rows[i].device))))
            return rows[i].reason;
    abort();
}

static void woken(const struct naive_trace *trace, struct thread *thread,
                  const struct naive_event *from)
{
    const struct weft_event *event = &from->event;
    if (thread->now.is_alive && thread->now.state.kind == WEFT_STATE_BLOCKED) {
        struct nested inner;
        struct weft_str device;
        struct weft_state *state = &thread->now.state;
        state->reason = from->source < trace->n_idle ? WEFT_WAIT_UNKNOWN : WEFT_WAIT_THREAD;
        if (event->kind != WEFT_EVENT_FORK && interrupt_of(trace, from, &inner, &device)) {
            state->reason = reason_of(&inner, device);
            state->number = inner.number;
        }
        state->waker_thread_id = from->source;
        state->wake_ns = event->time_ns;
        explain(thread);
    }
    struct weft_state state = waiting(thread, WEFT_STATE_PREEMPTED);
    state.cpu = event->kind == WEFT_EVENT_FORK ? event->cpu : (int32_t)event->value;
    state.waker_thread_id = from->source;
    state.flags = event->kind == WEFT_EVENT_FORK ? WEFT_STATE_FORKED : WEFT_STATE_WOKEN;
    become(thread, event->time_ns, state);
}

static void arrives(const struct naive_trace *trace, struct thread *thread, const struct item *item)
{
    const struct weft_event *event = item->from ? &item->from->event : NULL;
    const enum weft_state_kind kind =
        thread->now.is_alive ? thread->now.state.kind : WEFT_STATE_UNKNOWN;
    if (item->is_displaced) {
        if (runs(thread) && thread->now.state.cpu == item->cpu)
            lost(thread);
    } else if (event->kind == WEFT_EVENT_SWITCH) {
        if (runs(thread))
            lost(thread);
        thread->n_nested = 0;
        run(thread, event->time_ns, event->cpu,
            kind == WEFT_STATE_BLOCKED ? WEFT_STATE_INFERRED : 0);
        thread->evidence_ns = event->time_ns;
    } else if (event->kind == WEFT_EVENT_FORK) {
        if (kind == WEFT_STATE_UNKNOWN)
            woken(trace, thread, item->from);
    } else if (kind == WEFT_STATE_BLOCKED || (kind == WEFT_STATE_UNKNOWN && !thread->is_dead)) {
        woken(trace, thread, item->from);
    }
}

static bool fits(const struct thread *thread, const struct item *item)
{
    const bool is_switch = !item->is_displaced && item->from->event.kind == WEFT_EVENT_SWITCH;
    const bool is_fork = !item->is_displaced && item->from->event.kind == WEFT_EVENT_FORK;
    if (runs(thread))
        return item->is_displaced && item->cpu == thread->now.state.cpu;
    if (item->is_displaced)
        return false;
    if (!thread->now.is_alive || thread->now.state.kind == WEFT_STATE_UNKNOWN)
        return true;
    return thread->now.state.kind == WEFT_STATE_PREEMPTED ? is_switch : !is_switch && !is_fork;
}

/* Which of the items is next, or -1 for the thread's own event. */
static int choose(const struct thread *thread, const struct weft_event *mine,
                  const struct item *items, size_t n)
{
    if (mine && runs(thread))
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!items[i].is_used && fits(thread, &items[i]))
            return (int)i;
    if (mine && mine->kind == WEFT_EVENT_SWITCH && mine->next_thread_id == thread->id)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (!items[i].is_used && items[i].rank == 3)
            return (int)i;
    for (size_t i = 0; i < n && !mine; i++)
        if (!items[i].is_used)
            return (int)i;
    return -1;
}

static bool matters(const struct weft_event *event)
{
    return (event->kind >= WEFT_EVENT_SWITCH && event->kind <= WEFT_EVENT_SYSCALL_EXIT) ||
           event->kind == WEFT_EVENT_FORK || event->kind == WEFT_EVENT_EXIT;
}

static int rank_of(const struct weft_event *event)
{
    return event->kind == WEFT_EVENT_FORK     ? 0
           : event->kind == WEFT_EVENT_WAKING ? 1
           : event->kind == WEFT_EVENT_WOKEN  ? 2
                                              : 3;
}

static bool is_before(const struct item *a, const struct item *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->is_displaced)
        return a->cpu < b->cpu;
    const uint32_t a_state = a->rank == 3 ? 0 : a->from->event.prev_state;
    const uint32_t b_state = b->rank == 3 ? 0 : b->from->event.prev_state;
    if (a_state != b_state)
        return a_state < b_state;
    if (a->from->event.cpu != b->from->event.cpu)
        return (uint32_t)a->from->event.cpu + 1 < (uint32_t)b->from->event.cpu + 1;
    if (a->from->source != b->from->source)
        return a->from->source < b->from->source;
    return a->from < b->from;
}

/* Who is on the processors, by their switches. */
struct processors {
    uint32_t on[NAIVE_MOST_CPUS];
};

/* Switches of one ns on a processor, in order: each leaves who is there, if one does. */
static size_t chain(const struct naive_trace *trace, uint64_t t, int32_t cpu, uint32_t current,
                    const struct naive_event **out)
{
    const struct naive_event *all[MOST];
    size_t n = 0;
    for (size_t i = 0; i < trace->n_events; i++) {
        const struct naive_event *event = &trace->events[i];
        if (event->event.kind == WEFT_EVENT_SWITCH && event->event.time_ns == t &&
            event->event.cpu == cpu)
            all[n++] = event;
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        bool is_chained = false;
        for (size_t i = k; i < n; i++) {
            const uint32_t i_prev =
                all[i]->event.next_thread_id == all[i]->source ? WEFT_ID_NONE : all[i]->source;
            const uint32_t best_prev = all[best]->event.next_thread_id == all[best]->source
                                           ? WEFT_ID_NONE
                                           : all[best]->source;
            const uint64_t i_key = (uint64_t)i_prev << 32 | all[i]->event.next_thread_id;
            const uint64_t best_key = (uint64_t)best_prev << 32 | all[best]->event.next_thread_id;
            const bool fits_now = i_prev == current;
            if ((fits_now && !is_chained) || (fits_now == is_chained && i_key < best_key))
                best = i;
            is_chained |= fits_now;
        }
        const struct naive_event *chosen = all[best];
        memmove(&all[k + 1], &all[k], (best - k) * sizeof *all);
        out[k] = all[k] = chosen;
        current = chosen->event.next_thread_id;
    }
    return n;
}

/* Adds who left a processor unseen in this ns; follows who is on it. */
static void displaced_of(const struct naive_trace *trace, uint64_t t, struct processors *processors,
                         struct item *items, uint32_t *targets, size_t *n)
{
    for (int32_t cpu = 0; cpu < NAIVE_MOST_CPUS; cpu++) {
        const struct naive_event *switches[MOST];
        const size_t n_switches = chain(trace, t, cpu, processors->on[cpu], switches);
        for (size_t i = 0; i < n_switches; i++) {
            const struct weft_event *event = &switches[i]->event;
            const bool comes = event->next_thread_id == switches[i]->source;
            const uint32_t on = processors->on[cpu];
            if (!comes && on != WEFT_ID_NONE && on != switches[i]->source) {
                targets[*n] = on;
                items[(*n)++] = (struct item){ .is_displaced = true, .cpu = cpu, .rank = 4 };
            }
            processors->on[cpu] = event->next_thread_id;
        }
    }
}

static void instant(const struct naive_trace *trace, uint64_t t, struct thread *thread,
                    const struct item *displaced, const uint32_t *targets, size_t n_displaced)
{
    const struct naive_event *mine[MOST];
    struct item items[MOST];
    size_t n_mine = 0, n_items = 0, at_mine = 0;
    for (size_t i = 0; i < trace->n_events; i++) {
        const struct naive_event *event = &trace->events[i];
        if (event->event.time_ns != t || !matters(&event->event))
            continue;
        if (event->source == thread->id)
            mine[n_mine++] = event;
        else if (event->event.next_thread_id == thread->id &&
                 (event->event.kind <= WEFT_EVENT_WOKEN || event->event.kind == WEFT_EVENT_FORK))
            items[n_items++] = (struct item){ .from = event, .rank = rank_of(&event->event) };
    }
    for (size_t i = 0; i < n_displaced; i++)
        if (targets[i] == thread->id)
            items[n_items++] = displaced[i];
    if (n_mine + n_items > 0) {
        thread->first_ns = thread->is_heard_of ? thread->first_ns : t;
        thread->last_ns = t;
        thread->is_heard_of = true;
    }
    for (size_t i = 1; i < n_items; i++) /* stable */
        for (size_t k = i; k > 0 && is_before(&items[k], &items[k - 1]); k--) {
            const struct item swap = items[k];
            items[k] = items[k - 1];
            items[k - 1] = swap;
        }
    for (size_t left = n_mine + n_items; left > 0; left--) {
        const struct weft_event *next = at_mine < n_mine ? &mine[at_mine]->event : NULL;
        const int chosen = choose(thread, next, items, n_items);
        if (chosen < 0) {
            own(thread, next);
            at_mine++;
        } else {
            items[chosen].is_used = true;
            arrives(trace, thread, &items[chosen]);
        }
    }
}

/* The thread that has the tid of this one after it. */
static const struct thread *heir(const struct naive_trace *trace, const struct thread *threads,
                                 const struct thread *thread)
{
    const struct thread *found = NULL;
    for (const struct thread *other = threads; other < threads + trace->n_threads; other++) {
        const bool is_later = other->first_ns > thread->first_ns ||
                              (other->first_ns == thread->first_ns && other->id > thread->id);
        if (trace->tids[other->id] == trace->tids[thread->id] && trace->tids[thread->id] != 0 &&
            other->is_heard_of && is_later && (!found || other->first_ns < found->first_ns))
            found = other;
    }
    return found && found->first_ns >= thread->last_ns ? found : NULL;
}

/* From `from_ns` on nothing is known; from `end_ns` on there is no thread. */
static void forget(const struct naive_trace *trace, struct thread *thread, uint64_t from_ns,
                   uint64_t end_ns, unsigned flags)
{
    struct weft_state state = waiting(thread, WEFT_STATE_UNKNOWN);
    state.start_ns = from_ns;
    state.flags = (uint8_t)flags;
    for (uint64_t t = from_ns; t < trace->end_ns; t++)
        thread->units[t] = (struct naive_unit){ .is_alive = t < end_ns, .state = state };
}

/* What is open at the end of the trace: it is so until the last that the kernel tells of anything.
 * Who died is no more; nor is whose tid another one has. */
static void end(const struct naive_trace *trace, const struct thread *threads,
                struct thread *thread)
{
    const struct thread *next = heir(trace, threads, thread);
    const uint64_t start_ns = thread->now.state.start_ns;
    uint64_t known_ns = start_ns;
    if (thread->is_dead) {
        forget(trace, thread, start_ns, start_ns, 0);
        return;
    }
    if (next) {
        forget(trace, thread, runs(thread) ? thread->evidence_ns : start_ns, next->first_ns, 0);
        return;
    }
    for (size_t i = 0; i < trace->n_events; i++)
        if (matters(&trace->events[i].event) && trace->events[i].event.time_ns > known_ns)
            known_ns = trace->events[i].event.time_ns;
    thread->now.state.flags |= WEFT_STATE_OPEN;
    for (uint64_t t = start_ns; t < trace->end_ns; t++)
        thread->units[t] = thread->now;
    if (thread->now.state.kind != WEFT_STATE_UNKNOWN)
        forget(trace, thread, known_ns, trace->end_ns, WEFT_STATE_OPEN);
}

void naive_states(const struct naive_trace *trace,
                  struct naive_unit units[NAIVE_MOST_THREADS][NAIVE_MOST_NS])
{
    static struct thread threads[NAIVE_MOST_THREADS];
    struct processors processors;
    memset(threads, 0, sizeof threads);
    memset(&processors, 0xff, sizeof processors);
    bool has_exits = false; /* of anyone: else calls are not recorded whole */
    for (size_t k = 0; k < trace->n_events; k++)
        has_exits |= trace->events[k].event.kind == WEFT_EVENT_SYSCALL_EXIT;
    for (uint32_t i = 0; i < trace->n_threads; i++) {
        memset(units[i], 0, NAIVE_MOST_NS * sizeof *units[i]);
        threads[i] = (struct thread){ .id = i, .is_idle = i < trace->n_idle, .units = units[i] };
        threads[i].now.state = nothing;
        for (size_t k = 0; k < trace->n_events; k++)
            threads[i].has_calls |= has_exits && trace->events[k].source == i &&
                                    trace->events[k].event.kind == WEFT_EVENT_SYSCALL_ENTER;
    }
    for (uint64_t t = 0; t <= trace->end_ns; t++) {
        struct item displaced[MOST];
        uint32_t targets[MOST];
        size_t n_displaced = 0;
        displaced_of(trace, t, &processors, displaced, targets, &n_displaced);
        for (uint32_t i = 0; i < trace->n_threads; i++) {
            struct thread *thread = &threads[i];
            thread->time_ns = t;
            instant(trace, t, thread, displaced, targets, n_displaced);
            if (t < trace->end_ns)
                units[i][t] = thread->now;
        }
    }
    for (uint32_t i = 0; i < trace->n_threads; i++)
        if (threads[i].now.is_alive)
            end(trace, threads, &threads[i]);
}

bool naive_cpu(const struct naive_trace *trace, int32_t cpu,
               struct naive_unit units[NAIVE_MOST_THREADS][NAIVE_MOST_NS],
               uint32_t on[NAIVE_MOST_NS])
{
    uint32_t current = WEFT_ID_NONE;
    uint64_t since = 0;
    bool has = false;
    for (uint64_t t = 0; t <= trace->end_ns; t++) {
        const struct naive_event *switches[MOST];
        const size_t n = chain(trace, t, cpu, current, switches);
        for (size_t i = 0; i < n; i++) {
            const bool comes = switches[i]->event.next_thread_id == switches[i]->source;
            const uint32_t left = comes ? WEFT_ID_NONE : switches[i]->source;
            for (uint64_t back = t; left != current && left != WEFT_ID_NONE && back-- > since;) {
                const struct naive_unit *unit = &units[left][back];
                if (!unit->is_alive || unit->state.cpu != cpu ||
                    unit->state.kind < WEFT_STATE_RUNNING ||
                    unit->state.kind > WEFT_STATE_INTERRUPTED)
                    break;
                on[back] = left;
            }
            current = switches[i]->event.next_thread_id;
            since = t;
        }
        has |= n > 0;
        on[t] = current;
    }
    return has;
}
