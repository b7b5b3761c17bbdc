/* SPDX-License-Identifier: MIT
 *
 * The types of the rows of result tables (schema/table.h), and what their contexts hold.
 */
#ifndef WEFT_SCHEMA_TABLES_H
#define WEFT_SCHEMA_TABLES_H

#include "schema/interplay.h"
#include "schema/interval.h"
#include "schema/locks.h"
#include "schema/table.h"

/* Of the result: struct weft_functions_table. */
extern const struct weft_table_type weft_functions_type;

/* Of nothing. */
extern const struct weft_table_type weft_states_type;

/* Of the result; `known` are bits of: */
enum weft_waits_known {
    WEFT_WAITS_STATES = 1,
    WEFT_WAITS_WAKEUPS = 2,
    WEFT_WAITS_INTERRUPTS = 4,
    WEFT_WAITS_CALLS = 8,
};
extern const struct weft_table_type weft_waits_threads_type;
extern const struct weft_table_type weft_waits_causes_type; /* of a struct weft_waits_thread */
extern const struct weft_table_type weft_cpus_type, weft_cpu_threads_type; /* of the result */

/* Of the result: struct weft_locks_table. */
extern const struct weft_table_type weft_locks_type, weft_lock_sites_type, weft_lock_pairs_type,
    weft_lock_contexts_type, weft_lock_orders_type, weft_lock_convoys_type, weft_lock_opens_type;

/* What a lock is called, as calls name it, else its address; of a join the thread: at most
 * WEFT_LOCK_LABEL_BYTES with the NUL, longer names are cut. */
enum { WEFT_LOCK_LABEL_BYTES = 96 };
void weft_lock_label(const struct weft_table_context *context,
                     const struct weft_lock_object *object, char text[WEFT_LOCK_LABEL_BYTES]);

/* Of the result: struct weft_interplay_table, whose `known` they need. */
extern const struct weft_table_type weft_interplay_threads_type, weft_interplay_cells_type,
    weft_interplay_pairs_type, weft_interplay_objects_type, weft_interplay_patterns_type,
    weft_interplay_waits_type, weft_interplay_losses_type;

/* Without any of these bits of `known` no wait of a thread is known, and no call that releases. */
enum {
    WEFT_KNOWN_WAITS = WEFT_KNOWN_OBJECTS | WEFT_KNOWN_UNCONTENDED | WEFT_KNOWN_WAKEUPS,
    WEFT_KNOWN_RELEASES = WEFT_KNOWN_OBJECTS | WEFT_KNOWN_UNCONTENDED,
};

/* Of the result: struct weft_path_table. */
enum { WEFT_PATH_KNOWS_CPUS = 1 }; /* `known`: a kernel */
extern const struct weft_table_type weft_path_segments_type, weft_path_arrows_type,
    weft_path_reasons_type, weft_path_locks_type, weft_path_threads_type, weft_path_functions_type,
    weft_path_spans_type, weft_path_others_type;

/* Of the result. `known`: */
enum { WEFT_OUTLIERS_LONG = 1 }; /* being long for the thread says something */
extern const struct weft_table_type weft_outliers_type;

/* Of a struct weft_regtime_thread. */
extern const struct weft_table_type weft_regtime_segments_type;

/* What a thread did in an interval, in one row. */
struct weft_interval_summary {
    uint32_t thread_id;
    uint32_t top_function_id; /* where it was longest, self time of all contexts; WEFT_ID_NONE */
    uint64_t called_ns, no_call_ns, outside_ns, calls, top_self_ns;
    uint64_t folded_calls, folded_ns;
};
struct weft_interval_of {
    const struct weft_interval_table *table;
    const struct weft_interval_thread *thread; /* of contexts */
};
extern const struct weft_table_type weft_interval_threads_type, weft_interval_contexts_type;

/* Binary columns of calls and of trees. */
extern const struct weft_table_type weft_calls_type, weft_tree_type;

#endif
