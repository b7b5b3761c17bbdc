/* SPDX-License-Identifier: MIT
 *
 * Names of kinds of problems, as JSON has them.
 */
#include "schema/problems.h"

#include "schema/findings.h"

const char *weft_problem_kind_name(enum weft_problem_kind kind)
{
    static const char *const names[WEFT_PROBLEM_KINDS] = {
        [WEFT_PROBLEM_LOCK] = "lock_contention",
        [WEFT_PROBLEM_LOCK_IO] = "lock_held_across_io",
        [WEFT_PROBLEM_LOCK_NET] = "lock_held_across_network",
        [WEFT_PROBLEM_LOCK_SLEEP] = "lock_held_while_sleeping",
        [WEFT_PROBLEM_LOCK_WAIT] = "lock_held_while_waiting",
        [WEFT_PROBLEM_LOCK_NO_CPU] = "lock_holder_without_cpu",
        [WEFT_PROBLEM_STARVED] = "writer_starvation",
        [WEFT_PROBLEM_ALLOCATOR] = "memory_allocator",
        [WEFT_PROBLEM_SPIN] = "spinning",
        [WEFT_PROBLEM_SERIAL] = "serial_section",
        [WEFT_PROBLEM_POOL] = "pool_too_small",
        [WEFT_PROBLEM_HEAD_OF_LINE] = "head_of_line",
        [WEFT_PROBLEM_QUEUE] = "waiting_for_thread",
        [WEFT_PROBLEM_FSYNC] = "fsync",
        [WEFT_PROBLEM_DISK] = "disk_io",
        [WEFT_PROBLEM_FAULT] = "page_faults",
        [WEFT_PROBLEM_MINOR_FAULT] = "minor_page_faults",
        [WEFT_PROBLEM_NETWORK] = "network",
        [WEFT_PROBLEM_CONNECT] = "connect",
        [WEFT_PROBLEM_DELAYED_ACK] = "delayed_ack",
        [WEFT_PROBLEM_LATE_WAKEUP] = "late_wakeup",
        [WEFT_PROBLEM_TIMEOUT] = "time_out",
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

const char *weft_system_lock_name(enum weft_system_lock lock)
{
    static const char *const names[WEFT_SYSTEM_LOCKS] = { [WEFT_SYSTEM_LOCK_NONE] = "",
                                                          [WEFT_SYSTEM_LOCK_GIL] = "GIL",
                                                          [WEFT_SYSTEM_LOCK_MONITOR] =
                                                              "Java monitor",
                                                          [WEFT_SYSTEM_LOCK_MMAP] = "mmap_lock" };
    return names[lock];
}

bool weft_problems_have(const struct weft_problems_table *table, const struct weft_finding *finding)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_problem *problem = &table->rows[i];
        if (problem->finding == finding || problem->finding->all_of == finding)
            return true;
        for (size_t k = 0; k < problem->n_also; k++)
            if (problem->also[k] == finding || problem->also[k]->all_of == finding)
                return true;
    }
    return false;
}

const char *weft_sync_kind_name(enum weft_sync_kind kind)
{
    static const char *const names[WEFT_SYNC_KINDS] = {
        [WEFT_SYNC_HERD] = "thundering_herd", [WEFT_SYNC_IMBALANCE] = "load_imbalance"
    };
    return kind < WEFT_SYNC_KINDS ? names[kind] : "unknown";
}

size_t weft_problems_n_leading(const struct weft_problems_table *table)
{
    const struct weft_problem *first = table->n_rows > 0 ? &table->rows[0] : NULL;
    const bool is_request =
        first && !first->is_small && (first->finding->all_of || first->finding->table->n_a > 0);
    size_t n = 0;
    while (n < table->n_syncs && (!is_request || table->syncs[n].share > first->share))
        n++;
    return n;
}
