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

void weft_ecct_matrix_free(struct weft_ecct_matrix *matrix)
{
    if (matrix)
        weft_arena_free(matrix->arena);
}
