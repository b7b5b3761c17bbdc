/* SPDX-License-Identifier: MIT
 *
 * Names of what findings hold, and which of them come first.
 */
#include "schema/findings.h"

#include "schema/problems.h"

const char *weft_cause_place_name(enum weft_cause_place place)
{
    static const char *const names[WEFT_CAUSE_PLACES] = {
        [WEFT_CAUSE_INSIDE] = "program",  [WEFT_CAUSE_OUTSIDE] = "other program",
        [WEFT_CAUSE_DUE] = "due first",   [WEFT_CAUSE_SHARED] = "shared",
        [WEFT_CAUSE_CROWDED] = "crowded", [WEFT_CAUSE_CHANCE] = "chance",
        [WEFT_CAUSE_UNTOLD] = "untold",   [WEFT_CAUSE_SPREAD] = "spread",
        [WEFT_CAUSE_SMALL] = "small",     [WEFT_CAUSE_ALONE] = "alone",
    };
    return names[place];
}

const char *weft_rule_outcome_name(enum weft_rule_outcome outcome)
{
    static const char *const names[] = {
        [WEFT_RULE_PASSED] = "passed", [WEFT_RULE_SKIPPED] = "skipped", [WEFT_RULE_FIRED] = "fired"
    };
    return names[outcome];
}

size_t weft_finding_slowest(const struct weft_finding *finding,
                            uint32_t slowest[WEFT_FINDING_SLOWEST])
{
    const struct weft_execution_item *items = finding->matrix->items;
    uint64_t ns[WEFT_FINDING_SLOWEST];
    size_t n = 0;
    for (size_t i = 0; i < finding->matrix->n_items; i++) {
        const uint64_t own_ns = items[i].end_ns - items[i].start_ns;
        size_t at = n;
        while (at > 0 && ns[at - 1] < own_ns)
            at--;
        if (at == WEFT_FINDING_SLOWEST)
            continue;
        if (n < WEFT_FINDING_SLOWEST)
            n++;
        for (size_t k = n - 1; k > at; k--) {
            ns[k] = ns[k - 1];
            slowest[k] = slowest[k - 1];
        }
        ns[at] = own_ns;
        slowest[at] = (uint32_t)i;
    }
    return n;
}

const struct weft_finding *weft_findings_first(const struct weft_findings_table *findings)
{
    const struct weft_problems_table *problems = findings->problems;
    for (size_t i = 0; i < problems->n_rows; i++)
        if (problems->rows[i].finding != findings->whole)
            return problems->rows[i].finding;
    return findings->n_rows > 0 ? &findings->rows[0] : NULL;
}
