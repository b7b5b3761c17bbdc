/* SPDX-License-Identifier: MIT
 *
 * Types of the tables that are only written as binary columns.
 */
#ifndef WEFT_RENDER_COLUMNS_TABLES_H
#define WEFT_RENDER_COLUMNS_TABLES_H

#include "schema/table.h"

extern const struct weft_table_type weft_blocking_type, weft_lane_pieces_type, weft_lanes_type,
    weft_lock_tree_type, weft_lod_items_type, weft_lod_spans_type, weft_matrix_items_type,
    weft_matrix_nodes_type, weft_state_items_type;

#endif
