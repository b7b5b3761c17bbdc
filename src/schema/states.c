/* SPDX-License-Identifier: MIT */
#include "schema/states.h"

static const char *const kind_names[WEFT_STATE_KINDS] = { "unknown",        "running_user",
                                                          "running_kernel", "interrupted",
                                                          "preempted",      "blocked" };
static const char *const reason_names[WEFT_WAIT_REASONS] = { "none",         "timer",  "network",
                                                             "block_device", "device", "ipi",
                                                             "thread",       "unknown" };

const char *weft_state_kind_name(enum weft_state_kind kind)
{
    return (size_t)kind < WEFT_STATE_KINDS ? kind_names[kind] : "unknown";
}

const char *weft_wait_reason_name(enum weft_wait_reason reason)
{
    return (size_t)reason < WEFT_WAIT_REASONS ? reason_names[reason] : "unknown";
}

void weft_states_table_free(struct weft_states_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_waits_table_free(struct weft_waits_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}

void weft_cpu_table_free(struct weft_cpu_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
