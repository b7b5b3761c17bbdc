/* SPDX-License-Identifier: MIT */
#include "schema/path.h"

const char *weft_path_state_name(enum weft_path_state state)
{
    static const char *const names[WEFT_PATH_STATES] = { "unknown",        "running_user",
                                                         "running_kernel", "interrupted",
                                                         "preempted",      "blocked" };
    return names[state];
}

const char *weft_path_reason_name(enum weft_path_reason reason)
{
    static const char *const names[WEFT_PATH_REASONS] = { "none",         "timer",  "network",
                                                          "block_device", "device", "ipi",
                                                          "thread",       "lock",   "task",
                                                          "idle_cpu",     "unknown" };
    return names[reason];
}

const char *weft_path_edge_name(enum weft_path_edge edge)
{
    static const char *const names[WEFT_PATH_EDGES] = { "wakeup",  "packet", "release",
                                                        "flow",    "fork",   "condition",
                                                        "barrier", "join",   "wait" };
    return names[edge];
}

void weft_path_table_free(struct weft_path_table *table)
{
    if (table)
        weft_arena_free(table->arena);
}
