/* SPDX-License-Identifier: MIT */
#include "schema/path.h"

const char *weft_path_state_name(enum weft_path_state state)
{
    static const char *const names[WEFT_PATH_STATES] = { "unknown",      "running",
                                                         "running_user", "running_kernel",
                                                         "interrupted",  "preempted",
                                                         "blocked" };
    return names[state];
}

const char *weft_path_reason_name(enum weft_path_reason reason)
{
    static const char *const names[WEFT_PATH_REASONS] = { "none",         "timer",   "network",
                                                          "block_device", "device",  "ipi",
                                                          "thread",       "lock",    "task",
                                                          "idle_cpu",     "unknown", "call" };
    return names[reason];
}

const char *weft_path_edge_name(enum weft_path_edge edge)
{
    static const char *const names[WEFT_PATH_EDGES] = { "wakeup",  "packet", "release",
                                                        "flow",    "fork",   "condition",
                                                        "barrier", "join",   "wait" };
    return names[edge];
}

#define OPEN_REASONS                                                                               \
    (1U << WEFT_PATH_WAKER_UNKNOWN | 1U << WEFT_PATH_IDLE | 1U << WEFT_PATH_NETWORK |              \
     1U << WEFT_PATH_CALL | 1U << WEFT_PATH_THREAD | 1U << WEFT_PATH_LOCK | 1U << WEFT_PATH_TASK)

bool weft_path_is_unexplained(const struct weft_path_segment *segment)
{
    if (segment->state != WEFT_PATH_BLOCKED || segment->flags & WEFT_PATH_IN_FLIGHT)
        return segment->state == WEFT_PATH_UNKNOWN;
    return OPEN_REASONS >> segment->reason & 1 &&
           (segment->other_thread_id == WEFT_ID_NONE ||
            segment->flags & (WEFT_PATH_CYCLE | WEFT_PATH_TOO_DEEP));
}
