/* SPDX-License-Identifier: MIT
 *
 * See list.h.
 */
#include "analysis/list.h"

struct weft_list_table *weft_list_new(const struct weft_window *window, size_t n_max,
                                      size_t row_bytes, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_list_table *list = arena ? WEFT_ARENA_NEW(arena, 1, struct weft_list_table) : NULL;
    void *rows = list && n_max < SIZE_MAX / row_bytes
                     ? weft_arena_alloc(arena, (n_max + 1) * row_bytes, _Alignof(max_align_t))
                     : NULL;
    if (!rows) {
        weft_arena_free(arena);
        (void)weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu rows", n_max);
        return NULL;
    }
    memset(rows, 0, (n_max + 1) * row_bytes);
    *list = (struct weft_list_table){
        .arena = arena, .from_ns = window->from_ns, .to_ns = window->to_ns, .rows = rows
    };
    return list;
}

enum weft_code weft_list_end(struct weft_list_table *list, enum weft_code code,
                             struct weft_list_table **table)
{
    *table = list;
    list->n_found = list->n_rows;
    if (code != WEFT_OK) {
        weft_result_free(list);
        *table = NULL;
    }
    return code;
}
