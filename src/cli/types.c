/* SPDX-License-Identifier: MIT
 *
 * The types of all tables, as TypeScript: what JSON rows hold, and binary columns by name.
 */
#include "cli/cli.h"
#include "render/columns/tables.h"
#include "render/text/tables.h"
#include "schema/shapes_table.h"
#include "schema/tables.h"

#include <ctype.h>

/* Sorted by the name of the table. */
static const struct weft_table_type *const types[] = {
    &weft_blocking_type,
    &weft_calls_type,
    &weft_compare_causes_type,
    &weft_compare_nodes_type,
    &weft_compare_items_type,
    &weft_compare_metrics_type,
    &weft_cpu_threads_type,
    &weft_cpus_type,
    &weft_findings_type,
    &weft_execution_types_type,
    &weft_executions_type,
    &weft_matrix_items_type,
    &weft_frequencies_type,
    &weft_functions_type,
    &weft_info_threads_type,
    &weft_interplay_cells_type,
    &weft_interplay_losses_type,
    &weft_interplay_objects_type,
    &weft_interplay_pairs_type,
    &weft_interplay_patterns_type,
    &weft_interplay_threads_type,
    &weft_interplay_waits_type,
    &weft_interval_contexts_type,
    &weft_interval_threads_type,
    &weft_lane_pieces_type,
    &weft_lanes_type,
    &weft_lock_contexts_type,
    &weft_lock_convoys_type,
    &weft_lock_opens_type,
    &weft_lock_orders_type,
    &weft_lock_pairs_type,
    &weft_lock_sites_type,
    &weft_lock_tree_type,
    &weft_locks_type,
    &weft_lod_items_type,
    &weft_lod_spans_type,
    &weft_tree_type,
    &weft_matrix_nodes_type,
    &weft_notes_type,
    &weft_outliers_type,
    &weft_path_arrows_type,
    &weft_path_functions_type,
    &weft_path_locks_type,
    &weft_path_others_type,
    &weft_path_reasons_type,
    &weft_path_segments_type,
    &weft_path_spans_type,
    &weft_path_threads_type,
    &weft_processes_type,
    &weft_proposals_type,
    &weft_regtime_threads_type,
    &weft_regtime_segments_type,
    &weft_revealed_type,
    &weft_shape_card_type,
    &weft_shape_clusters_type,
    &weft_shape_drops_type,
    &weft_shape_presences_type,
    &weft_shape_spikes_type,
    &weft_shape_threads_type,
    &weft_shapes_type,
    &weft_shapes_changes_type,
    &weft_shapes_checks_type,
    &weft_shapes_near_type,
    &weft_shapes_pairs_type,
    &weft_shapes_rare_type,
    &weft_sources_type,
    &weft_state_items_type,
    &weft_states_type,
    &weft_trace_functions_type,
    &weft_trace_threads_type,
    &weft_waits_causes_type,
    &weft_waits_threads_type,
};

/* "lock_pairs" as "LockPairs". */
static void put_name(const char *name, struct weft_output *out)
{
    bool is_first = true;
    for (; *name; name++) {
        if (*name == '_')
            is_first = true;
        else
            weft_output_printf(out, "%c", is_first ? toupper((unsigned char)*name) : *name);
        is_first = *name == '_';
    }
}

static bool can_be_unknown(const struct weft_field *field)
{
    return field->get || field->needs || field->zero_is_unknown || field->given.from ||
           field->from == WEFT_FROM_I32 || field->from == WEFT_FROM_F64 ||
           field->from == WEFT_FROM_CHARS ||
           (field->as != WEFT_AS_NUMBER && field->as != WEFT_AS_FLAG && field->as != WEFT_AS_PLACE);
}

static const char *type_of(const struct weft_field *field)
{
    if (field->unit == WEFT_UNIT_TEXT)
        return "string";
    return field->unit == WEFT_UNIT_BOOL ? "boolean" : "number";
}

static void put_row(const struct weft_table_type *type, struct weft_output *out)
{
    size_t n = 0;
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct weft_field *field = &type->fields[i];
        if (!field->key)
            continue;
        if (n++ == 0) {
            weft_output_printf(out, "\n/** A row of JSON: %s. */\nexport interface ", type->doc);
            put_name(type->name, out);
            weft_output_text(out, "Row {\n");
        }
        weft_output_printf(out, "  %s%s: %s%s;%s%s\n", field->key, field->is_for_page ? "?" : "",
                           type_of(field), can_be_unknown(field) ? " | null" : "",
                           field->doc ? " // " : "", field->doc ? field->doc : "");
    }
    if (n > 0)
        weft_output_text(out, "}\n");
}

static void put_columns(const struct weft_table_type *type, struct weft_output *out)
{
    static const char *const arrays[] = { [WEFT_COLUMN_U8] = "Uint8Array",
                                          [WEFT_COLUMN_U16] = "Uint16Array",
                                          [WEFT_COLUMN_U32] = "Uint32Array",
                                          [WEFT_COLUMN_I32] = "Int32Array",
                                          [WEFT_COLUMN_F64] = "Float64Array" };
    size_t n = 0;
    for (size_t i = 0; i < type->n_fields; i++) {
        const struct weft_field *field = &type->fields[i];
        if (!field->column)
            continue;
        if (n++ == 0) {
            weft_output_printf(out, "\n/** Binary columns: %s. */\nexport interface ", type->doc);
            put_name(type->name, out);
            weft_output_text(out, "Columns {\n");
        }
        weft_output_printf(out, "  %s: %s;\n", field->column, arrays[field->type]);
    }
    if (n > 0)
        weft_output_text(out, "}\n");
}

void weft_types_print(struct weft_output *out)
{
    size_t n_analyses;
    const struct weft_analysis *analyses = weft_analyses(&n_analyses);
    weft_output_text(out, "// SPDX-License-Identifier: MIT\n// Written by `weft completion types` "
                          "from the descriptors of tables; not to be changed by hand.\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        put_row(types[i], out);
        put_columns(types[i], out);
    }
    for (size_t i = 0; i < n_analyses; i++)
        if (analyses[i].type)
            put_row(analyses[i].type, out);
    weft_output_text(out, "\n/** Analyses that answer with a plain list: api/NAME. */\n"
                          "export const LISTS = [\n");
    for (size_t i = 0; i < n_analyses; i++)
        if (analyses[i].list)
            weft_output_printf(out, "  { name: '%s', text: '%s' },\n", analyses[i].name,
                               analyses[i].summary);
    weft_output_text(out, "] as const;\n");
}
