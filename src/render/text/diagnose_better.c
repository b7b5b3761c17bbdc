/* SPDX-License-Identifier: MIT */
#include "render/text/diagnose.h"

/* The same executions, at that cut. */
static struct weft_diagnosis diagnosis_at(const struct weft_diagnosis *diagnosis,
                                          const struct weft_compare_cut *cut)
{
    struct weft_diagnosis at = *diagnosis;
    at.table = cut->table;
    at.tail = cut->tail;
    return at;
}

bool weft_diagnosis_is_better(const void *diagnosis, const struct weft_compare_cut *first,
                              const struct weft_compare_cut *second)
{
    const struct weft_diagnosis x = diagnosis_at(diagnosis, first);
    const struct weft_diagnosis y = diagnosis_at(diagnosis, second);
    const bool is_first = weft_diagnosis_is_significant(&x);
    const bool is_second = weft_diagnosis_is_significant(&y);
    if (!x.table || is_first != is_second)
        return !x.table || is_second;
    if (is_first)
        return weft_diagnosis_cost_ns(&y) > weft_diagnosis_cost_ns(&x);
    return y.tail.is_alone && !x.tail.is_found;
}
