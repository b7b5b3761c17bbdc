/* SPDX-License-Identifier: MIT
 *
 * The columns of states, waits and CPUs.
 */
#include "schema/states.h"
#include "schema/tables.h"

WEFT_NAME_OF(kind_name, weft_state_kind_name, enum weft_state_kind)
WEFT_NAME_OF(reason_name, weft_wait_reason_name, enum weft_wait_reason)

/* ---- modes of running ------------------------------------------------------------------------ */

enum mode { MODE_USER, MODE_KERNEL, MODE_MARGIN, MODE_LOW, MODE_HIGH, MODE_UNKNOWN };

static uint64_t margin_of(const struct weft_mode_times *times)
{
    const uint64_t below_ns = times->kernel_ns - times->kernel_low_ns;
    const uint64_t above_ns = times->kernel_high_ns - times->kernel_ns;
    return below_ns > above_ns ? below_ns : above_ns;
}

static WEFT_GET(get_mode)
{
    const struct weft_run_modes *modes = (const void *)((const char *)row + field->offset);
    const struct weft_mode_times times = weft_run_mode_times(modes);
    const uint64_t values[] = {
        [MODE_USER] = times.user_ns,        [MODE_KERNEL] = times.kernel_ns,
        [MODE_MARGIN] = margin_of(&times),  [MODE_LOW] = times.kernel_low_ns,
        [MODE_HIGH] = times.kernel_high_ns, [MODE_UNKNOWN] = times.unknown_ns
    };
    cell->number = values[field->arg];
    if (field->arg <= MODE_KERNEL)
        cell->is_null = !times.is_known;
    else if (field->arg <= MODE_HIGH)
        cell->is_null = !times.is_estimated;
}

static WEFT_GET(get_mode_source)
{
    const char *source = weft_mode_source((const void *)((const char *)row + field->offset));
    cell->text = weft_str_of(source ? source : "");
    cell->is_null = !source;
}

/* User and kernel time of ROW, the same in all tables: unknown where the mode is, with an interval
 * where it is estimated from samples. */
#define MODE(key, head, mode, ...)                                                                 \
    WEFT_GETTER(key, head, NS, get_mode, __VA_ARGS__, .offset = offsetof(ROW, modes), .arg = mode)
#define MODES(user_key, kernel_key, ...)                                                           \
    MODE(user_key, "user", MODE_USER, "running in user mode", .is_detail = true, __VA_ARGS__),     \
        MODE(kernel_key, "kernel", MODE_KERNEL, "running in the kernel", .is_detail = true,        \
             __VA_ARGS__),                                                                         \
        MODE(NULL, "+-", MODE_MARGIN, "margin of both, if estimated from samples",                 \
             .is_detail = true, __VA_ARGS__),                                                      \
        MODE("kernel_low_ns", NULL, MODE_LOW, "lower bound of kernel time, 95 %", __VA_ARGS__),    \
        MODE("kernel_high_ns", NULL, MODE_HIGH, "upper bound of kernel time, 95 %", __VA_ARGS__),  \
        MODE("mode_unknown_ns", NULL, MODE_UNKNOWN, "running in an unknown mode", __VA_ARGS__),    \
        WEFT_GETTER("mode_source", NULL, TEXT, get_mode_source,                                    \
                    "where the modes are from: system_calls, samples or both",                     \
                    .offset = offsetof(ROW, modes), __VA_ARGS__)

static uint64_t running_ns(const struct weft_run_modes *modes)
{
    return modes->user_ns + modes->kernel_ns + modes->unknown_ns;
}

/* ---- states ---------------------------------------------------------------------------------- */

#define ROW struct weft_states_row

static WEFT_GET(get_reason)
{
    weft_field_read(field, context, row, cell);
    cell->is_null |= ((const ROW *)row)->state.kind != WEFT_STATE_BLOCKED;
}

static WEFT_GET(get_clocked)
{
    weft_field_read(field, context, row, cell);
    cell->is_null = !(((const ROW *)row)->state.flags & WEFT_STATE_CLOCKED);
}

/* Of an interrupt, or of a wait that one ended. */
static WEFT_GET(get_number)
{
    const struct weft_state *state = &((const ROW *)row)->state;
    weft_field_read(field, context, row, cell);
    cell->is_null = state->kind != WEFT_STATE_INTERRUPTED &&
                    (state->kind != WEFT_STATE_BLOCKED || state->reason == WEFT_WAIT_THREAD ||
                     state->wake_ns == 0);
}

#define FLAG(key, flag, ...)                                                                       \
    WEFT_FIELD(key, NULL, BOOL, state.flags, __VA_ARGS__, .as = WEFT_AS_FLAG, .arg = flag)

static const struct weft_field state_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_FIELD("start_ns", "start", AT, state.start_ns, "start of the state"),
    WEFT_FIELD("end_ns", NULL, AT, state.end_ns, "end of the state"),
    WEFT_DURATION("duration_ns", "time", state.start_ns, state.end_ns, "its duration"),
    WEFT_FIELD("cpu_ns", NULL, NS, state.ran_ns, "run time by the thread's own clock",
               .get = get_clocked),
    WEFT_FIELD("state", "state", TEXT, state.kind, "running, preempted, blocked ...",
               .as = WEFT_AS_NAME, .name = kind_name),
    WEFT_FIELD("reason", "reason", TEXT, state.reason, "what ended a wait", .as = WEFT_AS_NAME,
               .name = reason_name, .get = get_reason),
    WEFT_FIELD("name", "in", TEXT, state.name, "system call, or kind of interrupt",
               .zero_is_unknown = true),
    WEFT_FIELD("number", NULL, ID, state.number, "number of the interrupt", .get = get_number),
    WEFT_FIELD("cpu", "cpu", ID, state.cpu, "the CPU"),
    WEFT_FIELD_THREAD("other_tid", "other", "other", "woken by / for", state.waker_thread_id,
                      "the thread that woke it or got its CPU"),
    WEFT_FIELD("wake_ns", NULL, AT, state.wake_ns, "when it was woken", .zero_is_unknown = true),
    FLAG("uninterruptible", WEFT_STATE_UNINTERRUPTIBLE, "signals do not end the wait"),
    FLAG("stopped", WEFT_STATE_STOPPED, "by a signal or a debugger"),
    FLAG("idle", WEFT_STATE_IDLE, "a kernel thread without work, or an idle task"),
    FLAG("forked", WEFT_STATE_FORKED, "new, never ran before"),
    FLAG("woken", WEFT_STATE_WOKEN, "preempted since its wakeup"),
    FLAG("inferred", WEFT_STATE_INFERRED, "its start is inferred"),
    FLAG("open", WEFT_STATE_OPEN, "its end is not recorded"),
    FLAG("earlier", WEFT_STATE_EARLIER, "since before the trace"),
    WEFT_FIELD_ID("thread_id", thread_id, "id of the thread"),
};

const struct weft_table_type weft_states_type =
    WEFT_TABLE_TYPE("states", "states of threads", state_fields, ROW);

/* ---- waits ----------------------------------------------------------------------------------- */

#undef ROW
#define ROW struct weft_waits_thread

static WEFT_GET(get_running)
{
    cell->number = running_ns(&((const ROW *)row)->modes);
}

static WEFT_GET(get_unexplained)
{
    const ROW *thread = row;
    const uint64_t life_ns = thread->last_ns - thread->first_ns;
    cell->real = weft_share_of(
        thread->reason_ns[WEFT_WAIT_UNKNOWN] + thread->kind_ns[WEFT_STATE_UNKNOWN], life_ns);
    cell->is_null = life_ns == 0;
}

#define NEEDS(bit) .needs = WEFT_WAITS_##bit
#define REASON(key, head, reason, ...)                                                             \
    WEFT_FIELD(key, head, NS, reason_ns[reason], __VA_ARGS__, NEEDS(WAKEUPS))

static const struct weft_field wait_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_FIELD("first_ns", NULL, AT, first_ns, "start of its lifetime in the window"),
    WEFT_FIELD("last_ns", NULL, AT, last_ns, "end of its lifetime in the window"),
    WEFT_DURATION("life_ns", "lifetime", first_ns, last_ns, "its lifetime in the window"),
    WEFT_FIELD("cpu_ns", "CPU time", NS, cpu_ns, "CPU time", NEEDS(STATES)),
    WEFT_FIELD("cpu_clocked_ns", NULL, NS, clocked_ns, "of it, by the thread's own clock",
               NEEDS(STATES), .zero_is_unknown = true),
    WEFT_GETTER("running_ns", NULL, NS, get_running, "on a CPU", NEEDS(STATES)),
    MODES("running_user_ns", "running_kernel_ns", NEEDS(STATES)),
    WEFT_FIELD("interrupted_ns", "irq", NS, kind_ns[WEFT_STATE_INTERRUPTED],
               "stopped by interrupts", .is_detail = true, NEEDS(INTERRUPTS)),
    WEFT_FIELD("preempted_ns", "preempted", NS, kind_ns[WEFT_STATE_PREEMPTED],
               "runnable, without a CPU", NEEDS(STATES)),
    WEFT_FIELD("blocked_ns", "blocked", NS, kind_ns[WEFT_STATE_BLOCKED], "blocked", NEEDS(STATES)),
    WEFT_FIELD("unknown_ns", "unknown", NS, kind_ns[WEFT_STATE_UNKNOWN], "state unknown",
               .is_detail = true, NEEDS(STATES)),
    REASON("timer_ns", "timer", WEFT_WAIT_TIMER, "blocked until a timer"),
    REASON("network_ns", "network", WEFT_WAIT_NETWORK, "blocked until a network interrupt"),
    REASON("block_device_ns", "disk", WEFT_WAIT_BLOCK_DEVICE, "blocked until a block device"),
    REASON("device_ns", "device", WEFT_WAIT_DEVICE, "blocked until another device",
           .is_detail = true),
    REASON("ipi_ns", NULL, WEFT_WAIT_IPI, "blocked until an interrupt of another CPU"),
    REASON("woken_by_thread_ns", "thread", WEFT_WAIT_THREAD, "blocked until a thread"),
    WEFT_FIELD("unexplained_ns", "unexplained", NS, reason_ns[WEFT_WAIT_UNKNOWN],
               "blocked, reason unknown", NEEDS(STATES)),
    WEFT_FIELD("futex_ns", "in futex", NS, futex_ns, "blocked in futex calls", .is_detail = true,
               NEEDS(CALLS)),
    WEFT_FIELD("preempted", NULL, COUNT, kind_count[WEFT_STATE_PREEMPTED], "times preempted",
               NEEDS(STATES)),
    WEFT_FIELD("blocked", NULL, COUNT, kind_count[WEFT_STATE_BLOCKED], "times blocked",
               NEEDS(STATES)),
    WEFT_GETTER("unexplained_share", NULL, SHARE, get_unexplained,
                "share of its lifetime that is unexplained or unknown", NEEDS(STATES)),
    WEFT_FIELD_ID("thread_id", thread_id, "id of the thread"),
};

const struct weft_table_type weft_waits_threads_type =
    WEFT_TABLE_TYPE("waits", "what threads spent their time on", wait_fields, ROW);

#undef ROW
#define ROW struct weft_waits_row

static WEFT_GET(get_cause_tid)
{
    const struct weft_waits_thread *thread = context->of;
    cell->number = context->thread(context->trace, thread->thread_id)->tid;
}

static WEFT_GET(get_cause_reason)
{
    weft_field_read(field, context, row, cell);
    cell->is_null |= ((const ROW *)row)->kind != WEFT_STATE_BLOCKED;
}

static WEFT_GET(get_cause_share)
{
    const struct weft_waits_thread *thread = context->of;
    cell->real = weft_share_of(((const ROW *)row)->sum_ns, thread->last_ns - thread->first_ns);
}

static const struct weft_field cause_fields[] = {
    WEFT_GETTER("tid", NULL, ID, get_cause_tid, "tid of the thread"),
    WEFT_FIELD("state", "state", TEXT, kind, "state", .as = WEFT_AS_NAME, .name = kind_name),
    WEFT_FIELD("reason", "reason", TEXT, reason, "what ended the waits", .as = WEFT_AS_NAME,
               .name = reason_name, .get = get_cause_reason),
    WEFT_FIELD("name", "in", TEXT, name, "system call, or kind of interrupt",
               .zero_is_unknown = true),
    WEFT_FIELD_THREAD("other_tid", "other", "other", "thread", other_id,
                      "the thread that had the CPU or woke it"),
    WEFT_FIELD("count", "count", COUNT, count, "states"),
    WEFT_FIELD("sum_ns", "time", NS, sum_ns, "their time"),
    WEFT_GETTER("share", "of life", SHARE, get_cause_share, "share of the thread's life"),
    WEFT_FIELD("longest_ns", "longest", NS, longest_ns, "the longest one"),
    WEFT_FIELD("longest_at_ns", "at", AT, longest_at_ns, "its start"),
};

const struct weft_table_type weft_waits_causes_type =
    WEFT_TABLE_TYPE("wait_causes", "what a thread's time went to", cause_fields, ROW);

/* ---- CPUs ------------------------------------------------------------------------------------ */

#undef ROW
#define ROW struct weft_cpu_row

static uint64_t window_of(const struct weft_table_context *context)
{
    const struct weft_cpu_table *table = context->of;
    return table->to_ns - table->from_ns;
}

static WEFT_GET(get_busy)
{
    const ROW *cpu = row;
    cell->real = weft_share_of(running_ns(&cpu->modes) + cpu->interrupted_ns, window_of(context));
    cell->is_null = window_of(context) == 0;
}

static WEFT_GET(get_cpu_running)
{
    cell->number = running_ns(&((const ROW *)row)->modes);
}

static const struct weft_field cpu_fields[] = {
    WEFT_FIELD("host", NULL, ID, host_id, "its host"),
    WEFT_FIELD("cpu", "cpu", ID, cpu, "its number"),
    WEFT_GETTER("busy_share", "busy", SHARE, get_busy, "share of the window that it was busy"),
    WEFT_GETTER("running_ns", "running", NS, get_cpu_running, "threads ran, but idle tasks"),
    MODES("user_ns", "kernel_ns", .needs = 0),
    WEFT_FIELD("interrupted_ns", "irq", NS, interrupted_ns, "in interrupts", NEEDS(INTERRUPTS)),
    WEFT_FIELD("idle_ns", "idle", NS, idle_ns, "idle", .given = WEFT_MEMBER(ROW, has_idle_task)),
    WEFT_FIELD("unknown_ns", "unknown", NS, unknown_ns, "unknown"),
    WEFT_FIELD("runs", "runs", COUNT, count, "times that a thread came to it"),
    WEFT_FIELD("migrations", "migrations", COUNT, migrations, "of these, from another CPU"),
    WEFT_FIELD("threads_run", "threads", COUNT, n_threads, "threads that ran on it"),
};

const struct weft_table_type weft_cpus_type =
    WEFT_TABLE_TYPE("cpus", "what each CPU did", cpu_fields, ROW);

#undef ROW
#define ROW struct weft_cpu_share

static WEFT_GET(get_cpu_share)
{
    cell->real = weft_share_of(((const ROW *)row)->run_ns, window_of(context));
    cell->is_null = window_of(context) == 0;
}

static const struct weft_field cpu_thread_fields[] = {
    WEFT_FIELD_THREAD("tid", "tid", "thread", "thread", thread_id, "the thread"),
    WEFT_FIELD("run_ns", "time", NS, run_ns, "on the CPU, interrupts included"),
    WEFT_GETTER("share", "of window", SHARE, get_cpu_share, "share of the window"),
    WEFT_FIELD("cpu_ns", "CPU time", NS, cpu_ns, "CPU time there"),
    WEFT_FIELD("runs", "runs", COUNT, count, "times that it came to the CPU"),
};

const struct weft_table_type weft_cpu_threads_type =
    WEFT_TABLE_TYPE("cpu_threads", "the threads of a CPU", cpu_thread_fields, ROW);
