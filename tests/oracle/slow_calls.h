/* SPDX-License-Identifier: MIT
 *
 * The calls of one thread, the slow and obvious way: the whole tree in memory, every exit searched
 * for from the top of the stack down. It shares no code with the store; it follows the rules that
 * stand in schema/sink.h.
 */
#ifndef WEFT_TESTS_SLOW_CALLS_H
#define WEFT_TESTS_SLOW_CALLS_H

#include "schema/event.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_MAX_DEPTH = 65535, SLOW_MAX_ARGS = 16 };

struct slow_call {
    uint64_t start_ns, end_ns;
    uint32_t key;
    int64_t level; /* depth relative to the stack the thread began with */
    uint32_t flags;
    uint64_t args[SLOW_MAX_ARGS];
    unsigned n_args;
};

/* An entry or exit that changed the stack. */
struct slow_step {
    uint64_t time_ns;
    bool is_entry;
    uint64_t entries_before; /* rows before this step */
};

struct slow_calls {
    struct slow_call *rows; /* in order of entry */
    size_t n_rows;
    struct slow_call *cut; /* in order of exit: the deepest first */
    size_t n_cut;
    struct slow_step *steps;
    size_t n_steps;
    uint64_t last_ns;
    uint64_t n_repaired, n_ignored, n_backward, n_too_deep, n_open, n_args_dropped;
};

static void slow_step_put(struct slow_calls *calls, uint64_t time_ns, bool is_entry)
{
    calls->steps[calls->n_steps++] = (struct slow_step){ .time_ns = time_ns,
                                                         .is_entry = is_entry,
                                                         .entries_before = calls->n_rows };
}

static void slow_flags_count(struct slow_calls *calls, uint32_t flags)
{
    calls->n_repaired += (flags & WEFT_CALL_REPAIRED) != 0;
    calls->n_open += (flags & WEFT_CALL_CUT_END) != 0;
}

/* Balances `events`; last_ns is what thread_end is told. Free with slow_calls_free. */
__attribute__((unused)) static struct slow_calls
slow_calls_build(const struct weft_call_event *events, size_t n_events, uint64_t last_ns)
{
    struct slow_calls calls = { 0 };
    calls.rows = calloc(n_events + 1, sizeof *calls.rows);
    calls.cut = calloc(n_events + 1, sizeof *calls.cut);
    calls.steps = calloc(n_events * 2 + 1, sizeof *calls.steps);
    size_t *stack = calloc(n_events + 1, sizeof *stack);
    size_t depth = 0;
    size_t n_dropped = 0;            /* open entries beyond the depth limit */
    struct slow_call *latest = NULL; /* the last entry, if it was kept */
    for (size_t i = 0; i < n_events; i++) {
        const struct weft_call_event *event = &events[i];
        if (event->kind == WEFT_CALL_ARG) {
            if (latest && latest->n_args < SLOW_MAX_ARGS)
                latest->args[latest->n_args++] = event->value;
            else
                calls.n_args_dropped++;
            continue;
        }
        uint64_t time_ns = event->time_ns;
        if (time_ns < calls.last_ns) {
            calls.n_backward++;
            time_ns = calls.last_ns;
        }
        calls.last_ns = time_ns;
        if (event->kind == WEFT_CALL_ENTER) {
            latest = NULL;
            if (depth == SLOW_MAX_DEPTH) {
                n_dropped++;
                calls.n_too_deep++;
                continue;
            }
            slow_step_put(&calls, time_ns, true);
            latest = &calls.rows[calls.n_rows];
            *latest = (struct slow_call){
                .start_ns = time_ns,
                .key = event->function_key,
                .level = (int64_t)depth - (int64_t)calls.n_cut,
            };
            stack[depth++] = calls.n_rows++;
            continue;
        }
        const uint32_t exit_flags = event->kind == WEFT_CALL_TAIL_EXIT     ? WEFT_CALL_TAIL
                                    : event->kind == WEFT_CALL_MARKED_EXIT ? event->flags
                                                                           : 0;
        if (n_dropped > 0) {
            n_dropped--;
            continue;
        }
        if (depth == 0) {
            if (calls.n_cut == SLOW_MAX_DEPTH) {
                calls.n_ignored++;
                continue;
            }
            slow_step_put(&calls, time_ns, false);
            calls.cut[calls.n_cut++] = (struct slow_call){
                .end_ns = time_ns,
                .key = event->function_key,
                .flags = WEFT_CALL_CUT_START | exit_flags,
            };
            slow_flags_count(&calls, exit_flags);
            continue;
        }
        size_t match = depth;
        while (match > 0 && calls.rows[stack[match - 1]].key != event->function_key)
            match--;
        if (match == 0) {
            calls.n_ignored++;
            continue;
        }
        while (depth >= match) {
            struct slow_call *call = &calls.rows[stack[--depth]];
            const bool is_own = depth + 1 == match;
            slow_step_put(&calls, time_ns, false);
            call->end_ns = time_ns;
            call->flags = is_own ? exit_flags : WEFT_CALL_REPAIRED;
            slow_flags_count(&calls, call->flags);
        }
    }
    if (last_ns > calls.last_ns)
        calls.last_ns = last_ns;
    calls.n_open += depth;
    while (depth > 0) {
        struct slow_call *call = &calls.rows[stack[--depth]];
        call->end_ns = calls.last_ns;
        call->flags |= WEFT_CALL_CUT_END;
    }
    free(stack);
    return calls;
}

__attribute__((unused)) static void slow_calls_free(struct slow_calls *calls)
{
    free(calls->rows);
    free(calls->cut);
    free(calls->steps);
}

#endif
