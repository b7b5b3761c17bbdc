/* SPDX-License-Identifier: MIT
 *
 * What events of a Linux kernel mean. An event belongs to the thread that runs on its processor;
 * which one that is follows from switches, and from contexts where events have them.
 */
#include "ingest/ctf/convert.h"

#include <inttypes.h>
#include <stdio.h>

/* A thread that an event points to. */
static enum weft_code mention(struct ctf_convert *convert, const struct ctf_now *now, uint64_t tid,
                              int32_t cpu, struct weft_str comm, uint32_t *thread)
{
    *thread = ctf_thread_of(&convert->threads, now->source->host_id, tid, cpu, true);
    if (*thread == WEFT_ID_NONE)
        return ctf_no_memory(convert);
    if (convert->is_survey && !ctf_thread_name(&convert->threads, *thread, comm))
        return ctf_no_memory(convert);
    return WEFT_OK;
}

static uint32_t id_of(const struct ctf_convert *convert, uint32_t thread)
{
    return convert->threads.items[thread].thread_id;
}

/* ---- scheduling ----------------------------------------------------------------------------- */

/* What the switch says of the thread that it leaves is more than what is known of the processor. */
static enum weft_code leave(struct ctf_convert *convert, const struct ctf_now *now,
                            struct ctf_cpu *cpu, uint32_t *prev)
{
    const struct weft_str comm = ctf_text(now, now->known->fields[3]);
    *prev =
        ctf_thread_of(&convert->threads, now->source->host_id, ctf_number(now, 0), now->cpu, false);
    if (*prev == WEFT_ID_NONE)
        return ctf_no_memory(convert);
    if (convert->is_survey && !ctf_thread_name(&convert->threads, *prev, comm))
        return ctf_no_memory(convert);
    if (cpu->current == WEFT_ID_NONE)
        cpu->first = *prev;
    else if (cpu->current != *prev)
        convert->threads.n_inferred++;
    return WEFT_OK;
}

static enum weft_code convert_switch(struct ctf_convert *convert, struct ctf_now *now)
{
    struct ctf_cpu *cpu = ctf_cpu_of(&convert->threads, now->source->host_id, now->cpu);
    struct ctf_cpu lone = { .current = WEFT_ID_NONE, .first = WEFT_ID_NONE };
    uint32_t prev;
    uint32_t next;
    cpu = cpu ? cpu : &lone;
    enum weft_code code = leave(convert, now, cpu, &prev);
    if (code != WEFT_OK)
        return code;
    next =
        ctf_thread_of(&convert->threads, now->source->host_id, ctf_number(now, 1), now->cpu, false);
    if (next == WEFT_ID_NONE ||
        (convert->is_survey &&
         !ctf_thread_name(&convert->threads, next, ctf_text(now, now->known->fields[4]))))
        return ctf_no_memory(convert);
    cpu->current = next;
    struct weft_event event = ctf_event_of(now, WEFT_EVENT_SWITCH);
    event.next_thread_id = id_of(convert, next);
    event.prev_state = (uint32_t)ctf_number(now, 2);
    code = ctf_deliver(convert, prev, &event);
    struct ctf_thread *left = &convert->threads.items[prev];
    left->is_ended |= left->is_leaving;
    return code;
}

static enum weft_code convert_wakeup(struct ctf_convert *convert, struct ctf_now *now)
{
    uint32_t wakee;
    const int32_t target = ctf_has(now, 1) ? (int32_t)ctf_number(now, 1) : now->cpu;
    const enum weft_code code = mention(convert, now, ctf_number(now, 0), target,
                                        ctf_text(now, now->known->fields[2]), &wakee);
    if (code != WEFT_OK)
        return code;
    const bool is_waking = now->known->meaning == CTF_MEANS_WAKING;
    struct weft_event event = ctf_event_of(now, is_waking ? WEFT_EVENT_WAKING : WEFT_EVENT_WOKEN);
    event.next_thread_id = id_of(convert, wakee);
    event.value = (uint64_t)(int64_t)target;
    event.prev_state = now->known->subtype;
    return ctf_deliver(convert, now->thread, &event);
}

static enum weft_code convert_fork(struct ctf_convert *convert, struct ctf_now *now)
{
    const struct weft_str comm = ctf_text(now, now->known->fields[2]);
    const uint32_t child =
        ctf_thread_fork(&convert->threads, now->source->host_id, ctf_number(now, 0));
    if (child == WEFT_ID_NONE ||
        (convert->is_survey && !ctf_thread_name(&convert->threads, child, comm)))
        return ctf_no_memory(convert);
    /* perf's child_pid is the child's tid; LTTng has both. */
    if (now->known->fields[0] != now->known->fields[1] && ctf_has(now, 1))
        convert->threads.items[child].pid = ctf_number(now, 1);
    struct weft_event event = ctf_event_of(now, WEFT_EVENT_FORK);
    event.next_thread_id = id_of(convert, child);
    return ctf_deliver(convert, now->thread, &event);
}

static enum weft_code convert_exit(struct ctf_convert *convert, struct ctf_now *now)
{
    struct weft_event event = ctf_event_of(now, WEFT_EVENT_EXIT);
    convert->threads.items[now->thread].is_leaving = true;
    return ctf_deliver(convert, now->thread, &event);
}

/* ---- interrupts, system calls ---------------------------------------------------------------- */

static enum weft_code convert_irq(struct ctf_convert *convert, struct ctf_now *now)
{
    const bool is_enter = now->known->meaning == CTF_MEANS_IRQ_ENTER;
    struct weft_event event =
        ctf_event_of(now, is_enter ? WEFT_EVENT_IRQ_ENTER : WEFT_EVENT_IRQ_EXIT);
    event.name = now->known->name;
    event.value = ctf_number(now, 0);
    if (is_enter)
        event.category = ctf_text(now, now->known->fields[1]); /* the device */
    return ctf_deliver(convert, now->thread, &event);
}

/* "#59": the numbers differ between architectures. */
static enum weft_code numbered_name(struct ctf_convert *convert, uint64_t number, uint32_t *name_id)
{
    char text[24];
    const int n_text = snprintf(text, sizeof text, "#%" PRIu64, number);
    return weft_strtab_intern(convert->threads.names, (struct weft_str){ text, (size_t)n_text },
                              name_id, NULL) == WEFT_OK
               ? WEFT_OK
               : ctf_no_memory(convert);
}

/* The name of an exit without one is that of the call that the thread is in. */
static enum weft_code convert_syscall(struct ctf_convert *convert, struct ctf_now *now)
{
    struct ctf_threads *threads = &convert->threads;
    struct ctf_thread *thread = &threads->items[now->thread];
    const bool is_enter = now->known->meaning == CTF_MEANS_SYSCALL_ENTER;
    struct weft_event event =
        ctf_event_of(now, is_enter ? WEFT_EVENT_SYSCALL_ENTER : WEFT_EVENT_SYSCALL_EXIT);
    uint32_t name_id = now->known->name_id;
    event.value = ctf_number(now, 0);
    if (now->known->subtype) {
        const enum weft_code code =
            numbered_name(convert, ctf_number(now, is_enter ? 0 : 1), &name_id);
        if (code != WEFT_OK)
            return code;
    }
    event.name = weft_strtab_get(threads->names, name_id);
    if (is_enter) {
        event.prev_state = (uint32_t)ctf_number(now, 1);
        event.category = ctf_text(now, now->known->fields[2]);
        thread->syscall = name_id;
    } else {
        if (event.name.n_bytes == 0 && thread->syscall != WEFT_ID_NONE)
            event.name = weft_strtab_get(threads->names, thread->syscall);
        thread->syscall = WEFT_ID_NONE;
    }
    return ctf_deliver(convert, now->thread, &event);
}

/* ---- devices, packets ------------------------------------------------------------------------ */

/* What a request does: rwbs is a set of bits (LTTng), or letters (perf). */
static struct weft_str operation_of(const struct ctf_now *now)
{
    const struct ctf_op *op = now->known->fields[4];
    const struct weft_str letters = ctf_text(now, op);
    if (!op || letters.n_bytes > 0)
        return letters;
    const uint64_t bits = ctf_number(now, 4);
    if (bits & 2)
        return WEFT_STR("discard");
    return bits & 1 ? WEFT_STR("write") : WEFT_STR("read");
}

static enum weft_code convert_io(struct ctf_convert *convert, struct ctf_now *now)
{
    const bool is_begin = now->known->meaning == CTF_MEANS_IO_BEGIN;
    struct weft_event event = ctf_event_of(now, is_begin ? WEFT_EVENT_IO_BEGIN : WEFT_EVENT_IO_END);
    event.object_id = (uint32_t)ctf_number(now, 0);
    event.name = operation_of(now);
    event.category = WEFT_STR("block");
    event.value =
        ctf_has(now, 2) && ctf_number(now, 2) ? ctf_number(now, 2) : ctf_number(now, 3) * 512;
    event.prev_state = (uint32_t)ctf_number(now, 1); /* pairs begin and end */
    return ctf_deliver(convert, now->thread, &event);
}

static enum weft_code convert_packet(struct ctf_convert *convert, struct ctf_now *now)
{
    const bool is_sent = now->known->meaning == CTF_MEANS_SENT;
    struct weft_event event =
        ctf_event_of(now, is_sent ? WEFT_EVENT_PACKET_SENT : WEFT_EVENT_PACKET_RECEIVED);
    event.name = now->known->name;
    event.value = ctf_number(now, 0) | ctf_number(now, 1) << 32;
    event.object_id = (uint32_t)ctf_number(now, 2);
    return ctf_deliver(convert, now->thread, &event);
}

/* ---- state dump ------------------------------------------------------------------------------ */

static enum weft_code convert_process(struct ctf_convert *convert, struct ctf_now *now)
{
    uint32_t thread;
    if (ctf_number(now, 0) == 0)
        return WEFT_OK;
    const enum weft_code code = mention(convert, now, ctf_number(now, 0), -1,
                                        ctf_text(now, now->known->fields[2]), &thread);
    if (code == WEFT_OK && ctf_has(now, 1))
        convert->threads.items[thread].pid = ctf_number(now, 1);
    return code;
}

enum weft_code ctf_convert_kernel(struct ctf_convert *convert, struct ctf_now *now)
{
    switch ((enum ctf_meaning)now->known->meaning) {
    case CTF_MEANS_SWITCH:
        return convert_switch(convert, now);
    case CTF_MEANS_WAKING:
    case CTF_MEANS_WOKEN:
        return convert_wakeup(convert, now);
    case CTF_MEANS_FORK:
        return convert_fork(convert, now);
    case CTF_MEANS_EXIT:
        return convert_exit(convert, now);
    case CTF_MEANS_IRQ_ENTER:
    case CTF_MEANS_IRQ_EXIT:
        return convert_irq(convert, now);
    case CTF_MEANS_SYSCALL_ENTER:
    case CTF_MEANS_SYSCALL_EXIT:
        return convert_syscall(convert, now);
    case CTF_MEANS_IO_BEGIN:
    case CTF_MEANS_IO_END:
        return convert_io(convert, now);
    case CTF_MEANS_SENT:
    case CTF_MEANS_RECEIVED:
        return convert_packet(convert, now);
    case CTF_MEANS_PROCESS:
        return convert_process(convert, now);
    default:
        return WEFT_OK;
    }
}
