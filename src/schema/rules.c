/* SPDX-License-Identifier: MIT
 *
 * Matching of names against patterns with * and ? in O(pattern * text) without recursion, and names
 * of rule kinds. Parsing and evaluation are in query and analysis/executions; this file is what
 * both share.
 */
#include "schema/rules.h"

void weft_rules_free(struct weft_rules *rules)
{
    if (rules)
        weft_arena_free(rules->arena);
}

/* The last star is the only one that ever needs to take more. */
bool weft_rule_text_matches(struct weft_str pattern, struct weft_str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, taken = 0;
    while (t < text.n_bytes) {
        if (p < pattern.n_bytes && pattern.bytes[p] == '*') {
            star = p++;
            taken = t;
        } else if (p < pattern.n_bytes &&
                   (pattern.bytes[p] == '?' || pattern.bytes[p] == text.bytes[t])) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++taken;
        } else {
            return false;
        }
    }
    while (p < pattern.n_bytes && pattern.bytes[p] == '*')
        p++;
    return p == pattern.n_bytes;
}

const char *weft_rule_kind_name(const struct weft_rule *rule)
{
    static const char *const names[] = { "", "call", "enter", "exit", "span", "begin", "end", "" };
    return rule->kind == WEFT_RULE_EVENT ? weft_event_kind_name(rule->event) : names[rule->kind];
}
