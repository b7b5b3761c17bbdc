/* SPDX-License-Identifier: MIT */
#include "random_trace.h"

#include "tap.h"

#include <stdlib.h>

uint64_t random_below(struct random_source *random, uint64_t bound)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t x = random->state;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (x ^ (x >> 31)) % bound;
}

/* Mostly nothing or little, sometimes long, as the trace's temper has it. */
static uint64_t random_step(struct random_source *random, uint64_t temper)
{
    uint64_t kind = random_below(random, 20 + temper);
    if (kind < 9)
        return 0;
    if (kind < 15)
        return 1 + random_below(random, 3);
    if (kind < 18)
        return 5 + random_below(random, 40);
    return kind < 20 ? 100 + random_below(random, 2000) : 1;
}

static void random_thread(struct random_source *random, struct memory_thread *thread,
                          size_t max_calls, uint32_t n_functions)
{
    uint64_t temper = random_below(random, 60), at_ns = 0;
    size_t n_max = random_below(random, max_calls + 1), open[64], n_open = 0;
    uint32_t max_depth = 1 + (uint32_t)random_below(random, 12);
    uint64_t rise = 30 + random_below(random, 40);
    thread->calls = calloc(n_max + 8, sizeof *thread->calls);
    if (random_below(random, 3) == 0)
        thread->n_cut = random_below(random, 4);
    for (size_t i = 0; i < thread->n_cut; i++) {
        thread->calls[i] =
            (struct memory_call){ .function_id = (uint32_t)random_below(random, n_functions),
                                  .depth = (uint32_t)i,
                                  .flags = WEFT_CALL_CUT_START };
        open[n_open++] = thread->n_calls++;
    }
    if (thread->n_cut == 0)
        at_ns = random_below(random, 50);
    while (thread->n_calls < n_max + thread->n_cut || n_open) {
        at_ns += random_step(random, temper);
        bool can_enter = thread->n_calls < n_max + thread->n_cut && n_open < max_depth + 4U;
        bool enters = can_enter && (n_open == 0 || random_below(random, 100) < rise);
        if (enters) {
            struct memory_call *call = &thread->calls[thread->n_calls];
            call->start_ns = at_ns;
            call->function_id = (uint32_t)random_below(random, n_functions);
            call->depth = (uint32_t)n_open;
            open[n_open++] = thread->n_calls++;
        } else if (!can_enter && random_below(random, 6) == 0) {
            break; /* what is open now stays open */
        } else if (n_open) {
            struct memory_call *call = &thread->calls[open[--n_open]];
            call->end_ns = at_ns;
            if (random_below(random, 20) == 0)
                call->flags |= WEFT_CALL_REPAIRED;
        }
    }
    thread->last_ns = at_ns;
    while (n_open) {
        thread->calls[open[--n_open]].end_ns = at_ns;
        thread->calls[open[n_open]].flags |= WEFT_CALL_CUT_END;
    }
}

struct memory_trace random_trace(struct random_source *random, size_t max_calls)
{
    struct memory_trace trace = {
        .n_threads = 1 + (uint32_t)random_below(random, 3),
        .n_functions = 1 + (uint32_t)random_below(random, 9),
        .block_rows = 1 + (uint32_t)random_below(random, 40),
        .is_early = random_below(random, 2),
    };
    trace.threads = calloc(trace.n_threads, sizeof *trace.threads);
    for (uint32_t i = 0; i < trace.n_threads; i++)
        random_thread(random, &trace.threads[i], max_calls, trace.n_functions);
    return trace;
}

void random_trace_free(struct memory_trace *trace)
{
    for (uint32_t i = 0; i < trace->n_threads; i++)
        free(trace->threads[i].calls);
    free(trace->threads);
}

void random_trace_print(const struct memory_trace *trace)
{
    tap_note("block_rows %u early %d", trace->block_rows, trace->is_early);
    for (uint32_t t = 0; t < trace->n_threads; t++)
        for (size_t i = 0; i < trace->threads[t].n_calls; i++) {
            const struct memory_call *call = &trace->threads[t].calls[i];
            tap_note("thread %u call %zu depth %u f%u [%" PRIu64 ", %" PRIu64 "] flags %u", t, i,
                     call->depth, call->function_id, call->start_ns, call->end_ns, call->flags);
        }
}

struct weft_window random_window(struct random_source *random, const struct memory_trace *trace)
{
    uint64_t times[2] = { 0, UINT64_MAX };
    for (size_t i = 0; i < 2; i++) {
        const struct memory_thread *thread =
            &trace->threads[random_below(random, trace->n_threads)];
        if (thread->n_calls == 0 || random_below(random, 6) == 0)
            continue;
        const struct memory_call *call = &thread->calls[random_below(random, thread->n_calls)];
        times[i] =
            (random_below(random, 2) ? call->start_ns : call->end_ns) + random_below(random, 2);
    }
    return times[0] < times[1] ? (struct weft_window){ times[0], times[1] }
                               : (struct weft_window){ times[1], times[0] };
}

static uint64_t clip(const struct weft_window *window, uint64_t at_ns)
{
    return at_ns < window->from_ns ? window->from_ns
           : at_ns > window->to_ns ? window->to_ns
                                   : at_ns;
}

struct memory_thread clip_thread(const struct memory_thread *thread,
                                 const struct weft_window *window)
{
    struct memory_thread part = { .calls = calloc(thread->n_calls + 1, sizeof *part.calls),
                                  .last_ns = clip(window, thread->last_ns) };
    bool is_out_at[64] = { false };
    for (size_t i = 0; i < thread->n_calls; i++) {
        struct memory_call call = thread->calls[i];
        bool is_out = call.start_ns >= window->to_ns ||
                      (call.start_ns < window->from_ns && call.end_ns <= window->from_ns) ||
                      (call.depth > 0 && is_out_at[call.depth - 1]);
        is_out_at[call.depth] = is_out;
        if (is_out)
            continue;
        bool is_cut = call.start_ns < window->from_ns || i < thread->n_cut;
        part.n_cut += is_cut;
        call.flags |= (is_cut ? WEFT_CALL_CUT_START : 0) |
                      (call.end_ns > window->to_ns ? WEFT_CALL_CUT_END : 0);
        call.start_ns = clip(window, call.start_ns);
        call.end_ns = clip(window, call.end_ns);
        part.calls[part.n_calls++] = call;
    }
    return part;
}

struct memory_trace clip_trace(const struct memory_trace *trace, const struct weft_window *window)
{
    struct memory_trace part = *trace;
    part.threads = calloc(trace->n_threads, sizeof *part.threads);
    for (uint32_t t = 0; t < trace->n_threads; t++)
        part.threads[t] = clip_thread(&trace->threads[t], window);
    return part;
}
