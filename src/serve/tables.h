/* SPDX-License-Identifier: MIT
 *
 * Types of the tables of binary columns that only the server writes.
 */
#ifndef WEFT_SERVE_TABLES_H
#define WEFT_SERVE_TABLES_H

#include "schema/table.h"

extern const struct weft_table_type weft_matrix_items_type, weft_matrix_nodes_type;

#endif
