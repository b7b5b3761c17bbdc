/* SPDX-License-Identifier: MIT
 *
 * Names of kinds of problems, as JSON has them.
 */
#include "schema/problems.h"

const char *weft_problem_kind_name(enum weft_problem_kind kind)
{
    static const char *const names[WEFT_PROBLEM_KINDS] = {
        [WEFT_PROBLEM_LOCK] = "lock_contention",
        [WEFT_PROBLEM_LOCK_IO] = "lock_held_across_io",
        [WEFT_PROBLEM_LOCK_NET] = "lock_held_across_network",
        [WEFT_PROBLEM_LOCK_SLEEP] = "lock_held_while_sleeping",
        [WEFT_PROBLEM_LOCK_WAIT] = "lock_held_while_waiting",
        [WEFT_PROBLEM_LOCK_NO_CPU] = "lock_holder_without_cpu",
        [WEFT_PROBLEM_ALLOCATOR] = "memory_allocator",
        [WEFT_PROBLEM_SPIN] = "spinning",
        [WEFT_PROBLEM_SERIAL] = "serial_section",
        [WEFT_PROBLEM_POOL] = "pool_too_small",
        [WEFT_PROBLEM_QUEUE] = "waiting_for_thread",
        [WEFT_PROBLEM_FSYNC] = "fsync",
        [WEFT_PROBLEM_DISK] = "disk_io",
        [WEFT_PROBLEM_FAULT] = "page_faults",
        [WEFT_PROBLEM_NETWORK] = "network",
        [WEFT_PROBLEM_SLEEP] = "sleep",
        [WEFT_PROBLEM_CHILD] = "child_process",
        [WEFT_PROBLEM_CPU] = "cpu_saturation",
        [WEFT_PROBLEM_OTHER] = "other_program",
        [WEFT_PROBLEM_INTERRUPT] = "interrupts",
        [WEFT_PROBLEM_MORE_WORK] = "more_work",
        [WEFT_PROBLEM_CODE] = "slower_code",
        [WEFT_PROBLEM_UNKNOWN] = "unknown",
    };
    return kind < WEFT_PROBLEM_KINDS ? names[kind] : "unknown";
}

bool weft_problems_have(const struct weft_problems_table *table, const struct weft_finding *finding)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_problem *problem = &table->rows[i];
        if (problem->finding == finding)
            return true;
        for (size_t k = 0; k < problem->n_also; k++)
            if (problem->also[k] == finding)
                return true;
    }
    return false;
}
