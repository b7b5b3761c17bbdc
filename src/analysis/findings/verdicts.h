/* SPDX-License-Identifier: MIT
 *
 * What is said of the executions of a type, by the first rule that fires. For analysis/findings.
 */
#ifndef WEFT_ANALYSIS_FINDINGS_VERDICTS_H
#define WEFT_ANALYSIS_FINDINGS_VERDICTS_H

#include "analysis/findings/facts.h"
#include "analysis/findings/rules.h"

/* What other types have to do with it. */
struct weft_relations {
    const struct weft_facts
        *unfelt_by; /* it waits for the thread, and is not slow for it; or NULL */
    bool is_within; /* what makes it slow is what another type waits for */
};

struct weft_judgement {
    enum weft_verdict verdict;
    const char *rule;
    bool is_significant;
    unsigned rank; /* the lower, the earlier it is reported */
};

struct weft_judgement weft_verdict_of(const struct weft_facts *facts,
                                      const struct weft_relations *relations,
                                      struct weft_rule_log *log);

/* Whatever other types have to do with it. */
bool weft_facts_are_significant(const struct weft_facts *facts);

/* Is what makes executions of `part` slow, on their own thread, what those of `whole` wait for? Of
 * a proposed function the latter says more: that another execution waits for it. */
bool weft_facts_is_within(const struct weft_facts *part, const struct weft_facts *whole);

/* The time that the causes within the program cost. */
double weft_facts_cost_ns(const struct weft_facts *facts);

/* The share of the time of usual executions in which their own thread waits for a timer. */
double weft_facts_timer_share(const struct weft_facts *facts);

/* Is a single execution that lasts `ns` worth reporting? Of a proposed function, if it is 100 ms
 * longer than usual, or a twentieth of the time that was recorded. */
bool weft_execution_is_noticed(const struct weft_facts *facts, uint64_t ns);

#endif
