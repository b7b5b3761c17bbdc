/* SPDX-License-Identifier: MIT
 *
 * Types of the tables whose rows, or texts, are made for a rendering; those of results are in
 * schema/tables.h.
 */
#ifndef WEFT_RENDER_TEXT_TABLES_H
#define WEFT_RENDER_TEXT_TABLES_H

#include "schema/table.h"

extern const struct weft_table_type weft_compare_causes_type, weft_compare_items_type,
    weft_compare_metrics_type, weft_compare_nodes_type, weft_findings_type,
    weft_execution_types_type, weft_executions_type, weft_frequencies_type, weft_info_threads_type,
    weft_notes_type, weft_processes_type, weft_proposals_type, weft_regtime_threads_type,
    weft_revealed_type, weft_shapes_changes_type, weft_shapes_checks_type, weft_shapes_near_type,
    weft_shapes_pairs_type, weft_shapes_rare_type, weft_sources_type, weft_trace_functions_type,
    weft_trace_threads_type;

#endif
