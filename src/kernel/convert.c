/* SPDX-License-Identifier: MIT
 *
 * One function for each meaning that a kernel event can have (kernel/known.h): it names the threads
 * an event refers to and delivers the event of weft. Which thread runs on which CPU is updated here
 * by switches, and corrected where an event contradicts it (n_inferred counts that). It does not
 * depend on the format the event came from.
 */
#include "kernel/convert.h"

enum weft_code kernel_no_memory(struct kernel_convert *convert)
{
    return weft_no_memory(convert->err, "a trace");
}

/* ---- delivery -------------------------------------------------------------------------------- */

/* An event is of the thread, or points to it. */
static void meet(struct kernel_thread *thread, bool is_own)
{
    thread->ran_first |= is_own && !thread->is_met;
    thread->is_known = thread->is_met = true;
}

static void last_set(struct kernel_convert *convert, uint32_t thread, uint64_t time_ns)
{
    struct kernel_thread *place = &convert->threads.items[thread];
    meet(place, true);
    if (place->last_ns < time_ns && !convert->is_survey)
        place->last_ns = time_ns;
}

enum weft_code kernel_deliver(struct kernel_convert *convert, uint32_t thread,
                              struct weft_event *event)
{
    last_set(convert, thread, event->time_ns);
    if (convert->is_survey)
        return WEFT_OK;
    return convert->sink->ops->events(convert->sink, convert->threads.items[thread].thread_id,
                                      event, 1, convert->err);
}

enum weft_code kernel_deliver_call(struct kernel_convert *convert, uint32_t thread,
                                   const struct weft_call_event *call)
{
    last_set(convert, thread, call->time_ns);
    if (convert->is_survey)
        return WEFT_OK;
    return convert->sink->ops->calls(convert->sink, convert->threads.items[thread].thread_id, call,
                                     1, convert->err);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum weft_code kernel_thread_details(struct kernel_convert *convert, uint32_t thread,
                                     const struct kernel_details *details)
{
    struct kernel_thread *place = &convert->threads.items[thread];
    if (!convert->is_survey || place->tid == 0)
        return WEFT_OK;
    if (details->has_pid)
        place->pid = details->pid;
    return kernel_thread_name(&convert->threads, thread, details->comm) ? WEFT_OK
                                                                        : kernel_no_memory(convert);
}

/* The first thread that is known to run. */
static void cpu_begin(struct kernel_convert *convert, struct kernel_cpu *cpu, uint32_t thread)
{
    cpu->first = thread;
    convert->threads.items[thread].is_known |= cpu->has_early;
}

/* The event says which thread runs. */
static enum weft_code thread_runs(struct kernel_convert *convert, const struct kernel_now *now,
                                  struct kernel_cpu *cpu, uint64_t tid)
{
    struct kernel_threads *threads = &convert->threads;
    const uint32_t thread = kernel_thread_of(threads, now->host_id, tid, now->cpu, false);
    if (thread == WEFT_ID_NONE)
        return kernel_no_memory(convert);
    threads->n_inferred += cpu->current != WEFT_ID_NONE && cpu->current != thread;
    if (cpu->current == WEFT_ID_NONE)
        cpu_begin(convert, cpu, thread);
    cpu->current = thread;
    return WEFT_OK;
}

enum weft_code kernel_find_thread(struct kernel_convert *convert, struct kernel_now *now,
                                  struct kernel_cpu *cpu, const struct kernel_details *details)
{
    if (details->has_tid && kernel_find_running(&convert->threads, now, cpu, details->tid))
        return kernel_thread_details(convert, now->thread, details);
    if (details->has_tid) {
        WEFT_TRY(thread_runs(convert, now, cpu, details->tid));
    }
    now->thread = cpu->current;
    if (now->thread != WEFT_ID_NONE)
        return kernel_thread_details(convert, now->thread, details);
    /* No switch was seen yet. In the second reading that means none at all: it is idle. */
    cpu->has_early = true;
    now->thread = kernel_thread_of(&convert->threads, now->host_id, 0, now->cpu, false);
    return now->thread == WEFT_ID_NONE ? kernel_no_memory(convert) : WEFT_OK;
}

enum weft_code kernel_announce_thread(struct kernel_convert *convert, struct kernel_thread *thread)
{
    struct weft_thread_info info = { .tid = thread->tid,
                                     .pid = thread->pid,
                                     .host_id = thread->host_id,
                                     .generation = thread->generation,
                                     .is_foreign = thread->is_foreign };
    if (thread->thread_id != WEFT_ID_NONE)
        return WEFT_OK;
    if (thread->name != WEFT_ID_NONE)
        info.name = weft_strtab_get(convert->threads.names, thread->name);
    return convert->sink->ops->thread(convert->sink, &info, &thread->thread_id, convert->err);
}

enum weft_code kernel_announce_threads(struct kernel_convert *convert, bool all)
{
    const struct kernel_threads *threads = &convert->threads;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < threads->n; k++)
        if (all || threads->items[k].is_known)
            code = kernel_announce_thread(convert, &threads->items[k]);
    return code;
}

enum weft_code kernel_end_threads(struct kernel_convert *convert)
{
    const struct kernel_threads *threads = &convert->threads;
    enum weft_code code = WEFT_OK;
    for (size_t k = 0; code == WEFT_OK && k < threads->n; k++)
        if (threads->items[k].thread_id != WEFT_ID_NONE)
            code = convert->sink->ops->thread_end(convert->sink, threads->items[k].thread_id,
                                                  threads->items[k].last_ns, convert->err);
    return code;
}

enum weft_code kernel_note(struct kernel_convert *convert, enum weft_note_kind kind, uint64_t count,
                           uint64_t at_off, const char *detail)
{
    const struct weft_note note = { .kind = kind,
                                    .count = count,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = at_off,
                                    .detail = weft_str_of(detail) };
    return count ? convert->sink->ops->note(convert->sink, &note, convert->err) : WEFT_OK;
}

/* A thread that an event points to. */
static enum weft_code mention(struct kernel_convert *convert, const struct kernel_now *now,
                              uint64_t tid, int32_t cpu, struct weft_str comm, uint32_t *thread)
{
    *thread = kernel_thread_of(&convert->threads, now->host_id, tid, cpu, true);
    if (*thread == WEFT_ID_NONE)
        return kernel_no_memory(convert);
    if (convert->is_survey && !kernel_thread_name(&convert->threads, *thread, comm))
        return kernel_no_memory(convert);
    return WEFT_OK;
}

static uint32_t id_of(const struct kernel_convert *convert, uint32_t thread)
{
    return convert->threads.items[thread].thread_id;
}

/* ---- scheduling ----------------------------------------------------------------------------- */

/* What the switch says of the thread that it leaves is more than what is known of the CPU. */
static enum weft_code leave(struct kernel_convert *convert, const struct kernel_now *now,
                            struct kernel_cpu *cpu, uint32_t *prev)
{
    const struct weft_str comm = now->texts[3];
    const bool is_current = cpu->current != WEFT_ID_NONE &&
                            kernel_thread_has(&convert->threads, cpu->current, now->numbers[0]);
    *prev = is_current ? cpu->current
                       : kernel_thread_of(&convert->threads, now->host_id, now->numbers[0],
                                          now->cpu, false);
    if (is_current)
        convert->threads.items[*prev].is_used = true;
    if (*prev == WEFT_ID_NONE)
        return kernel_no_memory(convert);
    if (convert->is_survey && !kernel_thread_name(&convert->threads, *prev, comm))
        return kernel_no_memory(convert);
    if (cpu->current == WEFT_ID_NONE)
        cpu_begin(convert, cpu, *prev);
    else if (cpu->current != *prev)
        convert->threads.n_inferred++;
    return WEFT_OK;
}

/* A thread that exits may be preempted, or wait, before it leaves for good: dead or a zombie. */
enum { DEAD_STATES = 0xf0 };

static enum weft_code convert_switch(struct kernel_convert *convert, struct kernel_now *now)
{
    struct kernel_cpu *cpu = kernel_cpu_of(&convert->threads, now->host_id, now->cpu);
    struct kernel_cpu lone = { .current = WEFT_ID_NONE, .first = WEFT_ID_NONE };
    uint32_t prev;
    uint32_t next;
    cpu = cpu ? cpu : &lone;
    WEFT_TRY(leave(convert, now, cpu, &prev));
    next = kernel_thread_of(&convert->threads, now->host_id, now->numbers[1], now->cpu, false);
    if (next == WEFT_ID_NONE ||
        (convert->is_survey && !kernel_thread_name(&convert->threads, next, now->texts[4])))
        return kernel_no_memory(convert);
    meet(&convert->threads.items[next], false);
    cpu->current = next;
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SWITCH);
    event.next_thread_id = id_of(convert, next);
    event.prev_state = (uint32_t)now->numbers[2];
    event.value = now->ran_ns ? now->ran_ns : convert->threads.items[prev].ran_ns;
    convert->threads.items[prev].ran_ns = convert->threads.items[next].ran_ns = 0;
    enum weft_code code = kernel_deliver(convert, prev, &event);
    struct kernel_thread *left = &convert->threads.items[prev];
    left->is_ended |= left->is_leaving && (now->numbers[2] & DEAD_STATES);
    return code;
}

static enum weft_code convert_wakeup(struct kernel_convert *convert, struct kernel_now *now)
{
    uint32_t wakee;
    const int32_t target = kernel_has(now, 1) ? (int32_t)now->numbers[1] : now->cpu;
    WEFT_TRY(mention(convert, now, now->numbers[0], target, now->texts[2], &wakee));
    meet(&convert->threads.items[wakee], false);
    const bool is_waking = now->known->meaning == KERNEL_MEANS_WAKING;
    struct weft_event event =
        kernel_event_of(now, is_waking ? WEFT_EVENT_WAKING : WEFT_EVENT_WOKEN);
    event.next_thread_id = id_of(convert, wakee);
    event.value = (uint64_t)(int64_t)target;
    event.prev_state = now->known->subtype;
    return kernel_deliver(convert, now->thread, &event);
}

static enum weft_code convert_fork(struct kernel_convert *convert, struct kernel_now *now)
{
    const struct weft_str comm = now->texts[2];
    const uint32_t child = kernel_thread_fork(&convert->threads, now->host_id, now->numbers[0]);
    if (child == WEFT_ID_NONE ||
        (convert->is_survey && !kernel_thread_name(&convert->threads, child, comm)))
        return kernel_no_memory(convert);
    /* perf's child_pid is the child's tid; LTTng has both. */
    meet(&convert->threads.items[child], true);
    if (now->known->fields[0] != now->known->fields[1] && kernel_has(now, 1))
        convert->threads.items[child].pid = now->numbers[1];
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_FORK);
    event.next_thread_id = id_of(convert, child);
    event.value = convert->threads.items[child].handle;
    return kernel_deliver(convert, now->thread, &event);
}

static enum weft_code convert_exit(struct kernel_convert *convert, struct kernel_now *now)
{
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_EXIT);
    convert->threads.items[now->thread].is_leaving = true;
    return kernel_deliver(convert, now->thread, &event);
}

/* ---- interrupts, system calls ---------------------------------------------------------------- */

static enum weft_code convert_irq(struct kernel_convert *convert, struct kernel_now *now)
{
    const bool is_enter = now->known->meaning == KERNEL_MEANS_IRQ_ENTER;
    struct weft_event event =
        kernel_event_of(now, is_enter ? WEFT_EVENT_IRQ_ENTER : WEFT_EVENT_IRQ_EXIT);
    event.name = now->known->name;
    event.value = now->numbers[0];
    if (is_enter)
        event.category = now->texts[1]; /* the device */
    return kernel_deliver(convert, now->thread, &event);
}

/* "#59", where the machine is not known, or has no such call. */
static struct weft_str number_text(uint64_t number, char text[static 24])
{
    size_t at = 24;
    do {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    text[--at] = '#';
    return (struct weft_str){ text + at, 24 - at };
}

static enum weft_code numbered_name(struct kernel_convert *convert, enum kernel_abi abi,
                                    uint64_t number, uint32_t *name_id)
{
    uint32_t *kept = number < KERNEL_CALLS ? &convert->threads.call_names[abi][number] : NULL;
    if (kept && *kept) {
        *name_id = *kept - 1;
        return WEFT_OK;
    }
    char text[24];
    struct weft_str name = kernel_syscall_name(abi, number);
    if (name.n_bytes == 0)
        name = number_text(number, text);
    if (weft_strtab_intern(convert->threads.names, name, name_id, NULL) != WEFT_OK)
        return kernel_no_memory(convert);
    if (kept)
        *kept = *name_id + 1;
    return WEFT_OK;
}

/* Arguments of a call that is recorded by number stand behind that. Of the third one there is no
 * more room than for what a futex needs. */
static void syscall_arguments(const struct kernel_now *now, struct weft_event *event)
{
    const unsigned first = now->known->subtype, third = 3;
    if (first && !kernel_has(now, first))
        return;
    event->value = now->numbers[first];
    event->prev_state = (uint32_t)now->numbers[first + 1];
    if (weft_event_is_futex(event->name) && (kernel_has(now, third) || first))
        event->object_id = (uint32_t)now->numbers[third];
}

/* The name of an exit without one is that of the call that the thread is in. */
static enum weft_code convert_syscall(struct kernel_convert *convert, struct kernel_now *now)
{
    struct kernel_threads *threads = &convert->threads;
    struct kernel_thread *thread = &threads->items[now->thread];
    const bool is_enter = now->known->meaning == KERNEL_MEANS_SYSCALL_ENTER;
    struct weft_event event =
        kernel_event_of(now, is_enter ? WEFT_EVENT_SYSCALL_ENTER : WEFT_EVENT_SYSCALL_EXIT);
    uint32_t name_id = now->known->name_id;
    event.value = now->numbers[0];
    if (now->known->subtype) {
        WEFT_TRY(numbered_name(convert, now->abi, now->numbers[is_enter ? 0 : 1], &name_id));
    }
    event.name = weft_strtab_get(threads->names, name_id);
    if (is_enter) {
        syscall_arguments(now, &event);
        event.category = now->texts[2];
        thread->syscall = name_id;
    } else {
        if (event.name.n_bytes == 0 && thread->syscall != WEFT_ID_NONE)
            event.name = weft_strtab_get(threads->names, thread->syscall);
        thread->syscall = WEFT_ID_NONE;
    }
    return kernel_deliver(convert, now->thread, &event);
}

/* ---- devices, packets ------------------------------------------------------------------------ */

/* What a request does: rwbs is a set of bits (LTTng), or letters (perf). */
static struct weft_str operation_of(const struct kernel_now *now)
{
    const struct weft_str letters = now->texts[4];
    if (!kernel_has(now, 4) || letters.n_bytes > 0)
        return letters;
    const uint64_t bits = now->numbers[4];
    if (bits & 2)
        return WEFT_STR("discard");
    return bits & 1 ? WEFT_STR("write") : WEFT_STR("read");
}

static enum weft_code convert_io(struct kernel_convert *convert, struct kernel_now *now)
{
    const bool is_begin = now->known->meaning == KERNEL_MEANS_IO_BEGIN;
    struct weft_event event =
        kernel_event_of(now, is_begin ? WEFT_EVENT_IO_BEGIN : WEFT_EVENT_IO_END);
    event.object_id = (uint32_t)now->numbers[0];
    event.name = operation_of(now);
    event.category = WEFT_STR("block");
    event.value = kernel_has(now, 2) && now->numbers[2] ? now->numbers[2] : now->numbers[3] * 512;
    event.prev_state = (uint32_t)now->numbers[1]; /* pairs begin and end */
    return kernel_deliver(convert, now->thread, &event);
}

static enum weft_code convert_packet(struct kernel_convert *convert, struct kernel_now *now)
{
    const bool is_sent = now->known->meaning == KERNEL_MEANS_SENT;
    struct weft_event event =
        kernel_event_of(now, is_sent ? WEFT_EVENT_PACKET_SENT : WEFT_EVENT_PACKET_RECEIVED);
    event.name = now->known->name;
    event.value = now->numbers[0] | now->numbers[1] << 32;
    event.object_id = (uint32_t)now->numbers[2];
    return kernel_deliver(convert, now->thread, &event);
}

/* ---- state dump ------------------------------------------------------------------------------ */

static enum weft_code convert_process(struct kernel_convert *convert, struct kernel_now *now)
{
    uint32_t thread;
    if (now->numbers[0] == 0)
        return WEFT_OK;
    WEFT_TRY(mention(convert, now, now->numbers[0], -1, now->texts[2], &thread));
    convert->threads.items[thread].is_known = true;
    if (kernel_has(now, 1))
        convert->threads.items[thread].pid = now->numbers[1];
    now->thread = thread;
    return WEFT_OK;
}

enum weft_code kernel_convert_earlier(struct kernel_convert *convert, const struct kernel_now *now,
                                      uint32_t state)
{
    enum { EXITED = 0x10 | 0x20 };
    const struct kernel_thread *thread = &convert->threads.items[now->thread];
    struct weft_event event = kernel_event_of(now, WEFT_EVENT_SWITCH);
    if (convert->is_survey || thread->ran_first || !state || state & EXITED)
        return WEFT_OK;
    event.cpu = -1;
    event.prev_state = state | WEFT_SWITCH_EARLIER;
    return kernel_deliver(convert, now->thread, &event);
}

/* Events of run time come with ticks, and before a thread leaves its CPU. */
static void count_run_time(struct kernel_convert *convert, const struct kernel_now *now)
{
    uint64_t *ran_ns = &convert->threads.items[now->thread].ran_ns;
    if (!convert->is_survey && kernel_thread_has(&convert->threads, now->thread, now->numbers[0]))
        *ran_ns = weft_add_sat_u64(*ran_ns, now->numbers[1]);
}

enum weft_code kernel_convert_event(struct kernel_convert *convert, struct kernel_now *now)
{
    const bool is_of_one = now->known->meaning >= KERNEL_MEANS_IRQ_ENTER;
    if (convert->is_survey && is_of_one && now->known->meaning < KERNEL_MEANINGS) {
        meet(&convert->threads.items[now->thread], true); /* there is no more to meet */
        return WEFT_OK;
    }
    switch ((enum kernel_meaning)now->known->meaning) {
    case KERNEL_MEANS_SWITCH:
        return convert_switch(convert, now);
    case KERNEL_MEANS_WAKING:
    case KERNEL_MEANS_WOKEN:
        return convert_wakeup(convert, now);
    case KERNEL_MEANS_FORK:
        return convert_fork(convert, now);
    case KERNEL_MEANS_EXIT:
        return convert_exit(convert, now);
    case KERNEL_MEANS_IRQ_ENTER:
    case KERNEL_MEANS_IRQ_EXIT:
        return convert_irq(convert, now);
    case KERNEL_MEANS_SYSCALL_ENTER:
    case KERNEL_MEANS_SYSCALL_EXIT:
        return convert_syscall(convert, now);
    case KERNEL_MEANS_IO_BEGIN:
    case KERNEL_MEANS_IO_END:
        return convert_io(convert, now);
    case KERNEL_MEANS_SENT:
    case KERNEL_MEANS_RECEIVED:
        return convert_packet(convert, now);
    case KERNEL_MEANS_PROCESS:
        return convert_process(convert, now);
    case KERNEL_MEANS_RAN:
        count_run_time(convert, now);
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}

enum weft_code kernel_libraries(struct kernel_convert *convert, const struct weft_folded *folded)
{
    struct weft_library_function function;
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; code == WEFT_OK &&
                        weft_folded_next_function(folded, &at, &function.name, &function.module);)
        if (weft_module_is_library(function.module))
            code = weft_sink_library(convert->sink, &function, convert->err);
    return code;
}
