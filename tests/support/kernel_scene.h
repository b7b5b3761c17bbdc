/* SPDX-License-Identifier: MIT
 *
 * What happens on a small machine, made up at random: switches, wakeups, interrupts, calls, forks
 * and exits on three processors, no two at the same time. The same scene can be written as
 * perf.data and as trace.dat.
 */
#ifndef WEFT_TESTS_KERNEL_SCENE_H
#define WEFT_TESTS_KERNEL_SCENE_H

#include "kernel_builder.h"
#include "tap.h"

enum { SCENE_CPUS = 3, SCENE_MOST = 400, SCENE_ZERO = 5000 };

struct scene_event {
    uint64_t time_ns;
    uint32_t cpu, tid, other; /* other: next, wakee, child, vector, number of a call */
    uint32_t state;
    uint8_t kind; /* KB_... */
};

struct scene {
    struct scene_event events[SCENE_MOST];
    size_t n;
};

/* Gaps beyond 27 bits need longer times in a ring buffer. */
static uint64_t scene_gap(uint64_t *state)
{
    switch (tap_random(state) % 16) {
    case 0:
        return 1 + tap_random(state) % (UINT64_C(1) << 33);
    case 1:
        return UINT64_C(1) << 27;
    default:
        return 1 + tap_random(state) % 1000;
    }
}

__attribute__((unused)) static void scene_make(uint64_t seed, struct scene *scene)
{
    static const uint8_t kinds[] = { KB_SWITCH,  KB_SWITCH, KB_SWITCH, KB_WAKING, KB_SOFTIRQ,
                                     KB_SYSCALL, KB_ODD,    KB_FORK,   KB_EXIT };
    uint64_t state = seed;
    uint64_t time_ns = SCENE_ZERO;
    uint32_t current[SCENE_CPUS] = { 0 };
    uint32_t next_child = 100;
    scene->n = 1 + tap_random(&state) % SCENE_MOST;
    for (size_t k = 0; k < scene->n; k++) {
        const uint32_t cpu = (uint32_t)(tap_random(&state) % SCENE_CPUS);
        struct scene_event *event = &scene->events[k];
        *event = (struct scene_event){ .time_ns = time_ns,
                                       .cpu = cpu,
                                       .tid = current[cpu],
                                       .kind = kinds[tap_random(&state) % sizeof kinds],
                                       .other = (uint32_t)(tap_random(&state) % 12) * 3 + cpu };
        if (event->kind == KB_SWITCH) { /* a thread stays on its processor */
            event->other = event->other < SCENE_CPUS ? 0 : event->other;
            event->state = (uint32_t)(tap_random(&state) % 3);
            current[cpu] = event->other;
        } else if (event->kind == KB_FORK) {
            event->other = next_child++;
        } else if (event->tid == 0 && event->kind == KB_EXIT) {
            event->kind = KB_SOFTIRQ;
        }
        time_ns += scene_gap(&state);
    }
}

/* The record of an event. */
__attribute__((unused)) static void scene_raw(const struct scene_event *event, struct kb *raw)
{
    char name[16];
    char other[16];
    (void)snprintf(name, sizeof name, "t%u", event->tid);
    (void)snprintf(other, sizeof other, "t%u", event->other);
    switch (event->kind) {
    case KB_SWITCH:
        kb_switch(raw, event->tid, name, event->state, event->other, other);
        break;
    case KB_WAKING:
        kb_waking(raw, event->tid, event->other + 1, other, event->cpu);
        break;
    case KB_SOFTIRQ:
        kb_softirq(raw, event->tid, event->other);
        break;
    case KB_SYSCALL:
        kb_syscall(raw, event->tid, event->other);
        break;
    case KB_ODD:
        kb_odd(raw, event->tid, -(int)event->other, name);
        break;
    case KB_FORK:
        kb_fork(raw, event->tid, event->other, name);
        break;
    default:
        kb_exit(raw, event->tid, name);
    }
}

static void scene_put(const struct scene_event *event, struct kb *records)
{
    struct kb raw = { .is_big = records->is_big };
    scene_raw(event, &raw);
    pb_tracepoint(records, event->tid, event->tid, event->time_ns, event->cpu, &raw);
    kb_fini(&raw);
}

/* Records of perf, in rounds of `per_round` events, in each of which the processors follow each
 * other; 0: in order of time, without rounds. The caller frees. */
__attribute__((unused)) static struct kb scene_records(const struct scene *scene, bool is_big,
                                                       size_t per_round)
{
    struct kb records = { .is_big = is_big };
    const size_t step = per_round ? per_round : scene->n;
    for (size_t at = 0; at < scene->n; at += step) {
        const size_t end = scene->n - at < step ? scene->n : at + step;
        for (uint32_t cpu = 0; cpu < (per_round ? SCENE_CPUS : 1); cpu++)
            for (size_t k = at; k < end; k++)
                if (!per_round || scene->events[k].cpu == cpu)
                    scene_put(&scene->events[k], &records);
        if (per_round)
            pb_round(&records);
    }
    return records;
}

/* Pages of the ring buffers; the caller frees with tb_fini. */
__attribute__((unused)) static struct tb scene_pages(const struct scene *scene, bool is_big)
{
    struct tb tb = { .is_big = is_big, .n_cpus = SCENE_CPUS };
    struct kb raw = { .is_big = is_big };
    for (size_t k = 0; k < scene->n; k++) {
        scene_raw(&scene->events[k], &raw);
        tb_event(&tb, scene->events[k].cpu, scene->events[k].time_ns, &raw);
    }
    for (unsigned k = 0; k < tb.n_cpus; k++)
        tb_close_page(&tb, k);
    kb_fini(&raw);
    return tb;
}

#endif
