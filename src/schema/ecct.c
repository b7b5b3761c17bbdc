/* SPDX-License-Identifier: MIT */
#include "schema/ecct.h"

const char *weft_frame_kind_name(enum weft_frame_kind kind)
{
    static const char *const names[WEFT_FRAME_KINDS] = { "function", "state", "lock", "thread" };
    return names[kind];
}

const char *weft_confidence_name(enum weft_confidence confidence)
{
    static const char *const names[WEFT_CONFIDENCES] = { "exact", "inferred", "unexplained" };
    return names[confidence];
}

double weft_ecct_matrix_time_ns(const struct weft_ecct_matrix *matrix)
{
    double sum_ns = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        sum_ns += (double)(matrix->items[i].end_ns - matrix->items[i].start_ns);
    return sum_ns;
}

uint64_t weft_ecct_matrix_unfinished(const struct weft_ecct_matrix *matrix)
{
    uint64_t n = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        n += (matrix->items[i].flags & WEFT_EXECUTION_UNFINISHED) != 0;
    return n;
}
