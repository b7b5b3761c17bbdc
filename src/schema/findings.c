/* SPDX-License-Identifier: MIT
 *
 * Names of what findings hold.
 */
#include "schema/findings.h"

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
