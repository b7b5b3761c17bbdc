/* SPDX-License-Identifier: MIT
 *
 * The state machine itself, fed one step at a time by windows.c; it reads no file.
 * `weft_machine_choose` orders steps of the same nanosecond by what fits the current state, since
 * events of several CPUs have no other order.
 */
#include "model/states/machine.h"

#include "base/checked.h"
#include "base/u128.h"
#include "base/vec.h"

#include <string.h>

/* ---- reasons -------------------------------------------------------------------------------- */

static enum weft_wait_reason softirq_reason(uint64_t vector)
{
    switch (vector) {
    case 1: /* TIMER */
    case 8: /* HRTIMER */
        return WEFT_WAIT_TIMER;
    case 2: /* NET_TX */
    case 3: /* NET_RX */
        return WEFT_WAIT_NETWORK;
    case 4: /* BLOCK */
    case 5: /* IRQ_POLL */
        return WEFT_WAIT_BLOCK_DEVICE;
    case 0: /* HI */
    case 6: /* TASKLET */
        return WEFT_WAIT_DEVICE;
    default: /* SCHED, RCU: whatever they do it for */
        return WEFT_WAIT_UNKNOWN;
    }
}

static bool contains(struct weft_str text, struct weft_str part)
{
    for (size_t i = 0; i + part.n_bytes <= text.n_bytes; i++)
        if (memcmp(text.bytes + i, part.bytes, part.n_bytes) == 0)
            return true;
    return false;
}

enum weft_wait_reason weft_wait_reason_of(struct weft_str interrupt, uint64_t number,
                                          struct weft_str device, bool is_idle)
{
    static const char *const timers[] = { "hrtimer", "timer", "local_timer" };
    static const char *const ipis[] = { "reschedule", "call_function", "call_function_single",
                                        "irq_work" };
    if (interrupt.n_bytes == 0)
        return is_idle ? WEFT_WAIT_UNKNOWN : WEFT_WAIT_THREAD;
    if (weft_str_equal(interrupt, WEFT_STR("softirq")))
        return softirq_reason(number);
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++)
        if (weft_str_equal(interrupt, weft_str_of(timers[i])))
            return WEFT_WAIT_TIMER;
    for (size_t i = 0; i < sizeof ipis / sizeof *ipis; i++)
        if (weft_str_equal(interrupt, weft_str_of(ipis[i])))
            return WEFT_WAIT_IPI;
    if (weft_str_equal(interrupt, WEFT_STR("irq")) &&
        (number == 0 || contains(device, WEFT_STR("timer"))))
        return WEFT_WAIT_TIMER;
    return WEFT_WAIT_DEVICE;
}

/* ---- the state in work ---------------------------------------------------------------------- */

static bool is_running(const struct weft_machine *machine)
{
    return weft_state_is_on_cpu(machine->now.kind);
}

/* Ends the state in work; one of no length leaves no trace. */
static void put(struct weft_machine *machine, uint64_t end_ns)
{
    if (machine->is_born && end_ns > machine->now.start_ns) {
        struct weft_state *state = WEFT_VEC_PUSH(&machine->states);
        machine->has_failed |= state == NULL;
        if (state)
            *state = machine->now;
        if (state)
            state->end_ns = end_ns;
    }
}

static void begin(struct weft_machine *machine, uint64_t start_ns, enum weft_state_kind kind,
                  int32_t cpu)
{
    put(machine, start_ns);
    machine->now = (struct weft_state){
        .start_ns = start_ns,
        .kind = kind,
        .cpu = cpu,
        .waker_thread_id = WEFT_ID_NONE,
        .name = machine->is_in_call ? machine->call : WEFT_STR(""),
    };
    machine->is_born = true;
    machine->is_dead = false;
}

/* On the CPU: in an interrupt, in a system call, or in neither. */
static void run(struct weft_machine *machine, uint64_t start_ns, int32_t cpu, uint8_t flags)
{
    const enum weft_state_kind kind = !machine->has_mode    ? WEFT_STATE_RUNNING
                                      : machine->is_in_call ? WEFT_STATE_RUNNING_KERNEL
                                                            : WEFT_STATE_RUNNING_USER;
    begin(machine, start_ns, machine->n_nested > 0 ? WEFT_STATE_INTERRUPTED : kind, cpu);
    if (machine->n_nested > 0) {
        machine->now.name = machine->nested[machine->n_nested - 1].name;
        machine->now.number = machine->nested[machine->n_nested - 1].number;
    }
    machine->now.flags = flags | (machine->is_idle ? WEFT_STATE_IDLE : 0);
}

/* The same, since it was seen to come to it. */
static void come(struct weft_machine *machine, uint64_t time_ns, int32_t cpu, uint8_t flags)
{
    run(machine, time_ns, cpu, flags);
    machine->has_come = true;
    machine->came_ns = time_ns;
    machine->came_at = machine->states.n;
}

/* It leaves its CPU. Its run time since it came is divided among the states since then, in
 * proportion to their lengths. The clock of a thread may start with its wakeup, so that it is ahead
 * of them; a clock that is far ahead is none. */
static void divide_run_time(struct weft_machine *machine, uint64_t ran_ns, uint64_t end_ns)
{
    enum { MOST_AHEAD_NS = 1000000000 };
    const uint64_t stay_ns = weft_sub_sat_u64(end_ns, machine->came_ns);
    if (!machine->has_come || ran_ns == 0 || ran_ns - weft_min_u64(ran_ns, stay_ns) > MOST_AHEAD_NS)
        return;
    uint64_t before_ns = 0;
    for (size_t i = machine->came_at; i < machine->states.n; i++) {
        struct weft_state *state = &machine->states.items[i];
        const uint64_t until_ns =
            (uint64_t)((weft_u128)ran_ns * weft_sub_sat_u64(state->end_ns, machine->came_ns) /
                       stay_ns);
        state->ran_ns = until_ns - before_ns;
        state->flags |= WEFT_STATE_CLOCKED;
        before_ns = until_ns;
    }
}

/* It runs, though the last that was seen of it says something else. */
static void come_unseen(struct weft_machine *machine, uint64_t time_ns, int32_t cpu)
{
    if (machine->now.kind == WEFT_STATE_BLOCKED)
        machine->now.reason = WEFT_WAIT_UNKNOWN;
    machine->n_nested = 0;
    machine->n_beyond = 0;
    machine->has_come = false;
    run(machine, time_ns, cpu, WEFT_STATE_INFERRED);
}

/* It is not on its CPU any more, since it was seen last. */
static void lose(struct weft_machine *machine)
{
    begin(machine, machine->evidence_ns, WEFT_STATE_UNKNOWN, -1);
    machine->n_nested = 0;
    machine->n_beyond = 0;
    machine->has_come = false;
}

/* ---- the thread's own events ---------------------------------------------------------------- */

bool weft_machine_leaves(uint32_t thread_id, const struct weft_event *event)
{
    return event->kind == WEFT_EVENT_SWITCH && event->next_thread_id != thread_id;
}

enum {
    TASK_UNINTERRUPTIBLE = 2,
    TASK_SLEEPING = 3,
    TASK_STOPPED = 4 | 8,
    TASK_DEAD = 0x10 | 0x20,
    TASK_IDLE = 0x80,
    TASK_STATES = 0xff, /* what is above says only how it was preempted */
};

static void leave(struct weft_machine *machine, const struct weft_event *event)
{
    const uint32_t state = event->prev_state & TASK_STATES;
    machine->n_nested = 0;
    machine->n_beyond = 0;
    if (state & TASK_DEAD || (machine->is_exiting && state != 0 && !(state & TASK_SLEEPING))) {
        begin(machine, event->time_ns, WEFT_STATE_UNKNOWN, -1);
        machine->is_dead = true;
    } else if (state == 0) {
        begin(machine, event->time_ns, WEFT_STATE_PREEMPTED, event->cpu);
        machine->now.waker_thread_id = event->next_thread_id;
    } else {
        begin(machine, event->time_ns, WEFT_STATE_BLOCKED, event->cpu);
        machine->now.reason = WEFT_WAIT_UNKNOWN;
        if (state & TASK_UNINTERRUPTIBLE)
            machine->now.flags |= WEFT_STATE_UNINTERRUPTIBLE;
        if (state & TASK_STOPPED)
            machine->now.flags |= WEFT_STATE_STOPPED;
        if (state & TASK_IDLE)
            machine->now.flags |= WEFT_STATE_IDLE;
        if (event->prev_state & WEFT_SWITCH_EARLIER)
            machine->now.flags |= WEFT_STATE_EARLIER;
    }
}

static void interrupt_enter(struct weft_machine *machine, const struct weft_event *event)
{
    if (machine->n_nested == WEFT_MACHINE_NESTED) {
        machine->n_beyond++;
        return;
    }
    machine->nested[machine->n_nested].name = event->name;
    machine->nested[machine->n_nested].number = event->value;
    machine->n_nested++;
    run(machine, event->time_ns, machine->now.cpu, 0);
}

static void interrupt_exit(struct weft_machine *machine, const struct weft_event *event)
{
    if (machine->n_beyond > 0) {
        machine->n_beyond--;
        return;
    }
    for (size_t i = machine->n_nested; i-- > 0;) {
        if (machine->nested[i].number != event->value ||
            !weft_str_equal(machine->nested[i].name, event->name))
            continue;
        machine->n_nested = i;
        run(machine, event->time_ns, machine->now.cpu, 0);
        return;
    }
}

void weft_machine_own(struct weft_machine *machine, uint32_t thread_id,
                      const struct weft_event *event)
{
    const uint64_t time_ns = event->time_ns;
    const bool comes = event->kind == WEFT_EVENT_SWITCH && event->next_thread_id == thread_id;
    const bool has_moved =
        event->cpu >= 0 && machine->now.cpu >= 0 && event->cpu != machine->now.cpu;
    if (event->kind == WEFT_EVENT_EXIT && event->prev_state & WEFT_EXIT_EARLIER) {
        machine->is_exiting = true;
        return;
    }
    if (comes && !is_running(machine))
        come(machine, time_ns, event->cpu, 0);
    else if (!is_running(machine) || has_moved)
        come_unseen(machine, time_ns, event->cpu);
    machine->evidence_ns = time_ns;
    switch (event->kind) {
    case WEFT_EVENT_SWITCH:
        if (comes)
            break;
        leave(machine, event);
        divide_run_time(machine, event->value, time_ns);
        machine->has_come = false;
        break;
    case WEFT_EVENT_IRQ_ENTER:
        interrupt_enter(machine, event);
        break;
    case WEFT_EVENT_IRQ_EXIT:
        interrupt_exit(machine, event);
        break;
    case WEFT_EVENT_SYSCALL_ENTER:
    case WEFT_EVENT_SYSCALL_EXIT:
        machine->is_in_call = event->kind == WEFT_EVENT_SYSCALL_ENTER;
        machine->has_mode = machine->has_calls;
        machine->call = event->name;
        run(machine, time_ns, machine->now.cpu, 0);
        break;
    case WEFT_EVENT_EXIT:
        machine->is_exiting = true;
        break;
    default:
        break;
    }
}

/* ---- arrivals ------------------------------------------------------------------------------- */

static void arrive_on(struct weft_machine *machine, const struct weft_arrival *arrival)
{
    uint8_t flags = 0;
    if (is_running(machine))
        lose(machine); /* it had left, and comes again */
    if (machine->now.kind == WEFT_STATE_BLOCKED)
        flags = WEFT_STATE_INFERRED;
    machine->n_nested = 0;
    machine->n_beyond = 0;
    come(machine, arrival->time_ns, arrival->cpu, flags);
    machine->evidence_ns = arrival->time_ns;
}

/* Could run from now on. */
static void wake(struct weft_machine *machine, const struct weft_arrival *arrival, uint8_t flags)
{
    if (machine->now.kind == WEFT_STATE_BLOCKED) {
        machine->now.reason = (enum weft_wait_reason)arrival->reason;
        machine->now.waker_thread_id = arrival->source;
        machine->now.wake_ns = arrival->time_ns;
        machine->now.number = arrival->number;
    }
    begin(machine, arrival->time_ns, WEFT_STATE_PREEMPTED, arrival->cpu);
    machine->now.waker_thread_id = arrival->source;
    machine->now.flags = flags;
}

void weft_machine_arrive(struct weft_machine *machine, const struct weft_arrival *arrival)
{
    const bool is_unknown = machine->now.kind == WEFT_STATE_UNKNOWN;
    switch ((enum weft_event_kind)arrival->kind) {
    case WEFT_EVENT_SWITCH:
        if (!arrival->is_displaced)
            arrive_on(machine, arrival);
        else if (is_running(machine) && machine->now.cpu == arrival->cpu)
            lose(machine);
        break;
    case WEFT_EVENT_FORK:
        if (is_unknown)
            wake(machine, arrival, WEFT_STATE_FORKED);
        break;
    default:
        if (machine->now.kind == WEFT_STATE_BLOCKED || (is_unknown && !machine->is_dead))
            wake(machine, arrival, WEFT_STATE_WOKEN);
        break;
    }
}

/* ---- order within one ns -------------------------------------------------------------------- */

static bool fits(const struct weft_machine *machine, const struct weft_arrival *arrival)
{
    const bool is_switch = arrival->kind == WEFT_EVENT_SWITCH;
    switch (machine->now.kind) {
    case WEFT_STATE_PREEMPTED:
        return is_switch && !arrival->is_displaced;
    case WEFT_STATE_BLOCKED:
        return !is_switch && arrival->kind != WEFT_EVENT_FORK;
    case WEFT_STATE_UNKNOWN:
        return !arrival->is_displaced;
    default: /* runs */
        return arrival->is_displaced && arrival->cpu == machine->now.cpu;
    }
}

uint32_t weft_machine_choose(const struct weft_machine *machine, uint32_t thread_id,
                             const struct weft_event *own, const struct weft_arrival *arrivals,
                             size_t n)
{
    if (own && is_running(machine))
        return WEFT_ID_NONE;
    for (size_t i = 0; i < n; i++)
        if (fits(machine, &arrivals[i]))
            return (uint32_t)i;
    if (own && own->kind == WEFT_EVENT_SWITCH && own->next_thread_id == thread_id)
        return WEFT_ID_NONE;
    for (size_t i = 0; i < n; i++)
        if (arrivals[i].kind == WEFT_EVENT_SWITCH && !arrivals[i].is_displaced)
            return (uint32_t)i;
    return own ? WEFT_ID_NONE : 0;
}

/* ---- begin and end -------------------------------------------------------------------------- */

void weft_machine_reset(struct weft_machine *machine, bool is_idle)
{
    struct weft_state *items = machine->states.items;
    const size_t cap = machine->states.cap;
    *machine = (struct weft_machine){ .is_idle = is_idle };
    machine->states.items = items;
    machine->states.cap = cap;
    machine->now.kind = WEFT_STATE_UNKNOWN;
    machine->now.cpu = -1;
    machine->now.waker_thread_id = WEFT_ID_NONE;
}

void weft_machine_sync(struct weft_machine *machine, const struct weft_event *event)
{
    machine->is_born = false; /* nothing ends here */
    leave(machine, event);
}

void weft_machine_finish(struct weft_machine *machine, uint64_t end_ns, uint64_t ran_ns)
{
    put(machine, end_ns);
    if (is_running(machine))
        divide_run_time(machine, ran_ns, end_ns);
}

void weft_machine_end(struct weft_machine *machine, uint64_t known_ns, uint64_t end_ns)
{
    if (!machine->is_born || machine->is_dead)
        return;
    machine->now.flags |= WEFT_STATE_OPEN;
    if (machine->now.kind != WEFT_STATE_UNKNOWN && known_ns < end_ns) {
        begin(machine, weft_max_u64(known_ns, machine->now.start_ns), WEFT_STATE_UNKNOWN, -1);
        machine->now.flags = WEFT_STATE_OPEN;
    }
    put(machine, end_ns);
}

void weft_machine_vanish(struct weft_machine *machine, uint64_t end_ns)
{
    if (!machine->is_born || machine->is_dead)
        return;
    begin(machine, is_running(machine) ? machine->evidence_ns : machine->now.start_ns,
          WEFT_STATE_UNKNOWN, -1);
    put(machine, end_ns);
}
