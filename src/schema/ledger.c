/* SPDX-License-Identifier: MIT
 *
 * Names and sums of the ledger.
 */
#include "schema/ledger.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const state_names[WEFT_LEDGER_STATES] = { "recorded", "partly", "not_recorded" };

static const struct {
    const char *name, *text;
} whys[WEFT_LEDGER_WHYS] = {
    [WEFT_LEDGER_NO_REASON] = { "none", "" },
    [WEFT_LEDGER_STATIC] = { "static_program", "static program: no library can be loaded into it" },
    [WEFT_LEDGER_PRIVILEGED] = { "privileged_program",
                                 "setuid, setgid or file capabilities: no library can be loaded" },
    [WEFT_LEDGER_OTHER_LIBC] = { "other_c_library", "not a program of glibc" },
    [WEFT_LEDGER_OTHER_ABI] = { "other_architecture",
                                "program of another architecture or word size" },
    [WEFT_LEDGER_ENVIRONMENT] = { "environment", "started with an environment without LD_PRELOAD" },
    [WEFT_LEDGER_NOT_LOADED] = { "not_loaded", "the library was not loaded, or it ended before" },
    [WEFT_LEDGER_UNREACHABLE] = { "unreachable",
                                  "its library could not open a ring: user, root folder or "
                                  "limits" },
    [WEFT_LEDGER_NO_MEMORY] = { "no_memory", "no memory for its rings" },
    [WEFT_LEDGER_NO_FOLLOW] = { "no_follow", "children were excluded (--no-follow)" },
    [WEFT_LEDGER_RECORDS_LOST] = { "records_lost", "records found no room in its rings" },
    [WEFT_LEDGER_THREADS_LOST] = { "threads_lost", "threads found no ring" },
    [WEFT_LEDGER_OUTLIVED] = { "outlived", "it ran on after the end of the recording" },
    [WEFT_LEDGER_KILLED] = { "recorder_killed", "the recorder was killed while it ran" },
    [WEFT_LEDGER_STOPPED] = { "stopped", "the file could take no more while it ran" },
    [WEFT_LEDGER_ATTACHED] = { "attached", "it ran already when the recording began" },
    [WEFT_LEDGER_NO_LIBRARY] = { "no_library", "weft's libraries were not found" },
    [WEFT_LEDGER_DAMAGED] = { "damaged_ring", "its rings were overwritten" },
    [WEFT_LEDGER_NO_CLOCK] = { "no_clock", "it may not read the clock" },
    [WEFT_LEDGER_UNDECIDED] = { "undecided", "the recorder ended before it had looked at it" },
    [WEFT_LEDGER_NO_KERNEL] = { "no_kernel_records",
                                "the kernel's records of its start were lost" },
};

const char *weft_ledger_state_name(unsigned state)
{
    return state < WEFT_LEDGER_STATES ? state_names[state] : "unknown";
}

const char *weft_ledger_why_name(unsigned why)
{
    return why < WEFT_LEDGER_WHYS ? whys[why].name : "unknown";
}

const char *weft_ledger_why_text(unsigned why)
{
    return why < WEFT_LEDGER_WHYS ? whys[why].text : "unknown reason";
}

bool weft_ledger_is_asked_for(unsigned why)
{
    return why == WEFT_LEDGER_NO_FOLLOW || why == WEFT_LEDGER_OUTLIVED ||
           why == WEFT_LEDGER_ATTACHED;
}

void weft_ledger_add(struct weft_ledger_totals *totals, const struct weft_ledger_process *process)
{
    const unsigned state = process->state < WEFT_LEDGER_STATES ? process->state : 0;
    totals->n_processes++;
    totals->n_in_state[state]++;
    if (state != WEFT_LEDGER_RECORDED && process->why < WEFT_LEDGER_WHYS)
        totals->n_by_why[process->why]++;
    totals->n_missing += state != WEFT_LEDGER_RECORDED && !weft_ledger_is_asked_for(process->why);
    totals->n_threads = weft_add_sat_u64(totals->n_threads, process->n_threads);
    totals->n_lost_threads = weft_add_sat_u64(totals->n_lost_threads, process->n_lost_threads);
    totals->n_lost_records = weft_add_sat_u64(totals->n_lost_records, process->n_lost_records);
}

struct line {
    char *text;
    size_t n, n_most;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(line->text + line->n, line->n_most - line->n, format, arguments);
    va_end(arguments);
    if (n > 0)
        line->n = weft_min_u64(line->n + (size_t)n, line->n_most - 1);
}

void weft_ledger_describe(const struct weft_ledger_totals *totals, char *text, size_t n_text)
{
    const uint64_t n_recorded = totals->n_in_state[WEFT_LEDGER_RECORDED];
    struct line line = { .text = text, .n_most = n_text };
    unsigned n_whys = 0;
    if (n_text == 0)
        return;
    text[0] = '\0';
    add(&line, "%" PRIu64 " process%s", totals->n_processes, totals->n_processes == 1 ? "" : "es");
    if (n_recorded == totals->n_processes) {
        add(&line, totals->n_processes == 1 ? ", recorded" : ", all recorded");
        return;
    }
    add(&line, ": %" PRIu64 " recorded", n_recorded);
    if (totals->n_in_state[WEFT_LEDGER_PARTLY])
        add(&line, ", %" PRIu64 " partly", totals->n_in_state[WEFT_LEDGER_PARTLY]);
    if (totals->n_in_state[WEFT_LEDGER_NOT_RECORDED])
        add(&line, ", %" PRIu64 " not recorded", totals->n_in_state[WEFT_LEDGER_NOT_RECORDED]);
    for (unsigned why = 1; why < WEFT_LEDGER_WHYS; why++)
        if (totals->n_by_why[why])
            add(&line, "%s%" PRIu64 " %s", n_whys++ ? "; " : " (", totals->n_by_why[why],
                whys[why].text);
    if (n_whys)
        add(&line, ")");
}
