/* SPDX-License-Identifier: MIT
 *
 * The answer of an analysis that is a plain list: rows of one type (schema/table.h).
 */
#ifndef WEFT_SCHEMA_LIST_H
#define WEFT_SCHEMA_LIST_H

#include "schema/result.h"

#include <stddef.h>
#include <stdint.h>

struct weft_list_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns; /* of the window */
    void *rows;
    size_t n_rows;
    size_t n_found;   /* rows may be fewer (limit) */
    const char *none; /* why there may be no row: a clause for people; NULL: not known */
};

#endif
