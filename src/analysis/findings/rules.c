/* SPDX-License-Identifier: MIT
 *
 * See rules.h.
 */
#include "analysis/findings/rules.h"

const char *weft_rule_missing(const struct weft_facts *facts, uint32_t needs, bool has_cause)
{
    const struct {
        uint32_t need;
        bool is_there;
        const char *name;
    } all[] = {
        { WEFT_NEED_COMPARED, facts->table, "slow executions" },
        { WEFT_NEED_GIVEN, facts->is_versus, "groups that are given" },
        { WEFT_NEED_CUT, !facts->is_versus, "groups by duration" },
        { WEFT_NEED_PROPOSED, facts->is_proposed, "executions that the trace suggests" },
        { WEFT_NEED_SINGLES, facts->tail.is_alone, "only single slow executions" },
        { WEFT_NEED_CAUSE, has_cause, "a cause within the program" },
        { WEFT_NEED_TAIL, facts->tail.is_found, "a gap between usual and slow durations" },
        { WEFT_NEED_TRACE_NS, facts->trace_ns.is_known, "the recorded duration" },
        { WEFT_NEED_SATURATION, facts->saturation.is_known, "CPU use of other programs" },
        { WEFT_NEED_PERIODS, facts->periods, "periods of threads" },
        { WEFT_NEED_WORK, facts->work.is_known, "counts of calls" },
        { WEFT_NEED_NO_SWITCHES, facts->has_switches == WEFT_FACT_NO,
          "a trace without scheduling events" },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (needs & all[i].need && !all[i].is_there)
            return all[i].name;
    return NULL;
}

static void keep(struct weft_rule_try *tried, const struct weft_rule_number *number)
{
    if (tried && tried->n < WEFT_RULE_NUMBERS)
        tried->numbers[tried->n++] = *number;
}

bool weft_rule_below(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                     double value, double limit)
{
    keep(tried, &(struct weft_rule_number){ name, value, limit, unit });
    return value < limit;
}

bool weft_rule_above(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                     double value, double limit)
{
    keep(tried, &(struct weft_rule_number){ name, value, limit, unit });
    return value > limit;
}

bool weft_rule_at_least(struct weft_rule_try *tried, const char *name, enum weft_rule_unit unit,
                        double value, double limit)
{
    return !weft_rule_below(tried, name, unit, value, limit);
}

void weft_rule_log_begin(struct weft_rule_log *log, size_t n_most)
{
    if (!log)
        return;
    log->tried = (struct weft_rules_tried){ .items = WEFT_ARENA_NEW(log->arena, n_most,
                                                                    struct weft_rule_tried) };
    log->is_out_of_memory = log->is_out_of_memory || !log->tried.items;
}

void weft_rule_log_add(struct weft_rule_log *log, const char *name, const char *why, bool has_fired,
                       const char *missing, const struct weft_rule_try *tried)
{
    if (!log || !log->tried.items)
        return;
    struct weft_rule_tried *made = &log->tried.items[log->tried.n++];
    *made = (struct weft_rule_tried){ .name = name,
                                      .why = why,
                                      .outcome = missing     ? WEFT_RULE_SKIPPED
                                                 : has_fired ? WEFT_RULE_FIRED
                                                             : WEFT_RULE_PASSED,
                                      .missing = missing,
                                      .n_numbers = tried->n };
    for (size_t i = 0; i < tried->n; i++)
        made->numbers[i] = tried->numbers[i];
}
