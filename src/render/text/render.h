/* SPDX-License-Identifier: MIT
 *
 * What the commands print: each result as text for people, CSV for spreadsheets, JSON for programs.
 * The JSON and CSV keys are stable; the man pages document them. Failures go to the output.
 */
#ifndef WEFT_RENDER_TEXT_RENDER_H
#define WEFT_RENDER_TEXT_RENDER_H

#include "model/trace.h"
#include "render/output.h"
#include "render/text/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_cpu_table;
struct weft_execution_proposal;
struct weft_executions_table;
struct weft_found_call;
struct weft_found_span;
struct weft_frequencies_table;
struct weft_functions_table;
struct weft_interplay_table;
struct weft_interval_table;
struct weft_list_table;
struct weft_locks_table;
struct weft_outliers_opts;
struct weft_outliers_table;
struct weft_path_table;
struct weft_regtime_opts;
struct weft_regtime_table;
struct weft_shape_changes;
struct weft_shape_match;
struct weft_shape_near;
struct weft_shape_rare;
struct weft_shape_verdict;
struct weft_shapes_opts;
struct weft_shapes_table;
struct weft_source_info;
struct weft_states_table;
struct weft_waits_table;
struct weft_window;

enum weft_format { WEFT_FORMAT_TEXT, WEFT_FORMAT_CSV, WEFT_FORMAT_JSON };

struct weft_view {
    struct weft_output *out;
    const struct weft_trace *trace;
    const char *path; /* of the trace, for headlines */
    enum weft_format format;
    struct weft_style style;
    bool has_filter;     /* only some threads were asked for */
    uint32_t n_left_out; /* threads of other processes than the recorded program's, not shown */
    bool has_ids;        /* JSON: rows have the dense ids of threads and functions too (`fn`) */
};

/* ---- info ---- */

struct weft_info_view {
    bool with_threads; /* text, CSV: a table of the threads too (JSON always has it) */
};
void weft_render_info(const struct weft_view *view, const struct weft_info_view *opts);

/* The same of a database of executions: its sources. */
void weft_render_sources(const struct weft_view *view, const struct weft_source_info *sources,
                         size_t n_sources);

/* ---- executions ---- */

struct weft_executions_view {
    uint64_t slower_than_ns; /* list only those that take so long */
    uint64_t limit;          /* rows of the list; 0: all */
    bool longest_first;      /* else by begin */
};
void weft_render_executions(const struct weft_view *view, const struct weft_executions_table *table,
                            const struct weft_executions_view *opts);

/* What happens during executions; `limit` 0: all rows. */
void weft_render_frequencies(const struct weft_view *view,
                             const struct weft_frequencies_table *table, uint64_t limit);

/* What the statistics do not tell, a line each with `front` before it: losses, ends without a
 * begin, rules that nothing matches. Text has them itself. */
void weft_render_executions_remarks(struct weft_output *out,
                                    const struct weft_executions_table *table, const char *front);

/* Types that the trace suggests, and the command that finds their executions. */
void weft_render_proposals(const struct weft_view *view,
                           const struct weft_execution_proposal *proposals, size_t n_proposals);

/* ---- functions ---- */

enum weft_functions_sort {
    WEFT_SORT_SELF,
    WEFT_SORT_INCLUSIVE,
    WEFT_SORT_COUNT,
    WEFT_SORT_MEAN,
    WEFT_SORT_MAX,
    WEFT_SORT_P50,
    WEFT_SORT_P99,
    WEFT_SORT_P999,
    WEFT_SORT_THREADS,
    WEFT_SORT_NAME,
};

struct weft_functions_view {
    enum weft_functions_sort sort; /* functions of one name stand together */
    uint64_t limit;                /* rows; 0: all */
    const uint32_t *function_ids;  /* only these, ascending; NULL: all */
    size_t n_function_ids;
    const char *pattern; /* that chose them, for the headline; NULL: none */
};
void weft_render_functions(const struct weft_view *view, const struct weft_functions_table *table,
                           const struct weft_functions_view *opts);

/* ---- regtime ---- */

struct weft_regtime_view {
    const char *preset;
    const struct weft_regtime_opts *settings;
    const struct weft_window *window; /* that was asked for; NULL: the whole trace */
    bool with_segments; /* text, CSV: the rows of each thread (JSON always has them) */
};
void weft_render_regtime(const struct weft_view *view, const struct weft_regtime_table *table,
                         const struct weft_regtime_view *opts);

/* The settings as members of the open JSON object. */
void weft_render_regtime_settings(struct weft_json *json, const struct weft_regtime_view *opts);

/* ---- outliers ---- */

struct weft_outliers_view {
    const struct weft_outliers_opts *settings;
    const char *pattern; /* of function names asked for; NULL: all */
};
void weft_render_outliers(const struct weft_view *view, const struct weft_outliers_table *table,
                          const struct weft_outliers_view *opts);

/* ---- plain lists ---- */

void weft_render_list(const struct weft_view *view, const struct weft_list_table *list,
                      const struct weft_table_type *type);

/* ---- locks ---- */

enum weft_locks_list {
    WEFT_LOCKS_LOCKS,
    WEFT_LOCKS_SITES,
    WEFT_LOCKS_BLOCKERS,
    WEFT_LOCKS_CONTEXTS,
    WEFT_LOCKS_ORDERS,
    WEFT_LOCKS_CONVOYS,
    WEFT_LOCKS_OPEN,
    WEFT_LOCKS_LISTS,
};

struct weft_locks_view {
    uint64_t limit;            /* rows of each list; 0: all */
    enum weft_locks_list list; /* CSV: which one */
};

void weft_render_locks(const struct weft_view *view, const struct weft_locks_table *table,
                       const struct weft_locks_view *opts);

/* ---- states, waits, cpu ---- */

/* Of a program alone, of a file that was written before it kept such things, or that broke off. */
#define WEFT_STATES_UNKNOWN                                                                        \
    "No scheduler events (sched_switch) in this trace: states are unknown. Record with weft "      \
    "record\n"                                                                                     \
    "as root, perf sched or LTTng; import again a file made by an older version.\n"

void weft_render_states(const struct weft_view *view, const struct weft_states_table *table);

struct weft_waits_view {
    bool with_causes; /* text, CSV: what each thread's time went to (JSON always has it) */
    uint64_t limit;   /* causes a thread; 0: all */
};
void weft_render_waits(const struct weft_view *view, const struct weft_waits_table *table,
                       const struct weft_waits_view *opts);

struct weft_cpu_view {
    bool with_threads; /* text: the threads of each processor (JSON always has them) */
    uint64_t limit;    /* threads a processor; 0: all */
};
void weft_render_cpu(const struct weft_view *view, const struct weft_cpu_table *table,
                     const struct weft_cpu_view *opts);

/* ---- interval ---- */

struct weft_interval_view {
    const struct weft_found_call *during; /* the call that the interval is; NULL: none */
    bool with_contexts;                   /* text: the contexts too (the others always have them) */
    uint64_t limit;                       /* contexts a thread; 0: all */
};
void weft_render_interval(const struct weft_view *view, const struct weft_interval_table *table,
                          const struct weft_interval_view *opts);

/* ---- path ---- */

struct weft_path_view {
    const struct weft_found_call *during; /* the call that the path is of; NULL: none */
    const struct weft_found_span *span;   /* the span that it is of; NULL: none */
    uint64_t limit;                       /* rows of each list; 0: all */
    uint32_t width;                       /* columns of the picture; 0: none */
};
void weft_render_path(const struct weft_view *view, const struct weft_path_table *table,
                      const struct weft_path_view *opts);

/* ---- interplay ---- */

enum weft_interplay_list {
    WEFT_INTERPLAY_PATTERNS,
    WEFT_INTERPLAY_THREADS,
    WEFT_INTERPLAY_MATRIX,
    WEFT_INTERPLAY_PAIRS,
    WEFT_INTERPLAY_OBJECTS,
    WEFT_INTERPLAY_WAITS,
    WEFT_INTERPLAY_LOSSES,
    WEFT_INTERPLAY_LISTS,
};

struct weft_interplay_view {
    uint64_t limit;                /* rows of each list; 0: all */
    unsigned lists;                /* bits of those that are shown; 0: all */
    enum weft_interplay_list list; /* CSV */
};
void weft_render_interplay(const struct weft_view *view, const struct weft_interplay_table *table,
                           const struct weft_interplay_view *opts);

/* ---- shapes ---- */

enum weft_shapes_part {
    WEFT_SHAPES_SUMMARY, /* threads, clusters; JSON: spikes and drops too */
    WEFT_SHAPES_THREADS,
    WEFT_SHAPES_LIST,
    WEFT_SHAPES_NEAR,
    WEFT_SHAPES_SPIKES,
    WEFT_SHAPES_DROPS,
    WEFT_SHAPES_RARE,
    WEFT_SHAPES_CLUSTER,
    WEFT_SHAPES_DIFF,
    WEFT_SHAPES_VERIFY,
};

/* Of clusters, and of shapes as far as these have them; the greatest first, but for the earliest
 * first occurrence and the lowest id. */
enum weft_shapes_sort {
    WEFT_SHAPES_BY_TIME,
    WEFT_SHAPES_BY_COUNT,
    WEFT_SHAPES_BY_MEAN,
    WEFT_SHAPES_BY_MAX,
    WEFT_SHAPES_BY_THREADS,
    WEFT_SHAPES_BY_FIRST,
    WEFT_SHAPES_BY_ID,
    WEFT_SHAPES_BY_DEPTH,
    WEFT_SHAPES_BY_P50, /* from here on: of clusters alone */
    WEFT_SHAPES_BY_P99,
    WEFT_SHAPES_BY_SHAPES,
    WEFT_SHAPES_BY_SURPRISE,
};

struct weft_shapes_view {
    enum weft_shapes_part part;
    enum weft_shapes_sort sort;
    uint64_t limit; /* rows of each list, or lines of drawings; 0: all */
    const struct weft_shapes_opts *settings;
    const char *excluded; /* pattern of the functions left out; NULL: none */
    size_t n_excluded;    /* functions that match it */
    const bool
        *is_listed;     /* by shape id; clusters without such a shape are not listed; NULL: all */
    const char *wanted; /* what chose them, for people */
    uint32_t id;        /* CLUSTER: of the cluster; NEAR, DIFF: of the shape */
    uint32_t other_id;  /* DIFF */
    uint32_t bound_halves;                /* NEAR */
    const struct weft_shape_near *near;   /* NEAR */
    const struct weft_shape_match *match; /* DIFF: all nodes that the limit admits */
    size_t n_near, n_match;
    bool is_match_cut;
    const struct weft_shape_rare *rare; /* RARE */
    size_t n_rare;
    const struct weft_shape_verdict *verdicts; /* VERIFY: WEFT_PROMISES of them */
};
void weft_render_shapes(const struct weft_view *view, const struct weft_shapes_table *table,
                        const struct weft_shapes_view *opts);

/* A comparison: the view is of A. Index 0 is A, 1 is B. */
struct weft_shapes_change_view {
    const struct weft_trace *traces[2];
    const struct weft_shapes_table *tables[2];
    const char *names[2]; /* as the user wrote them */
    uint64_t limit;       /* rows of each list; 0: all */
};
void weft_render_shapes_changes(const struct weft_view *view,
                                const struct weft_shape_changes *changes,
                                const struct weft_shapes_change_view *opts);

/* ---- shared by the views ---- */

/* For the fields of tables: ids are those of the view's trace, getters refer to `of`. */
struct weft_table_context weft_view_context(const struct weft_view *view, const void *of);

/* Opens a JSON generator on the view's output; NULL (and the failure kept there) without memory. */
struct weft_json *weft_view_json(const struct weft_view *view);

/* Ends the document and its line, and frees. */
void weft_view_json_end(const struct weft_view *view, struct weft_json *json);

/* Text: a line that says that threads of other processes are left out, and how to see them, if it
 * is so. JSON: the member "left_out_threads" of the open object, always. */
void weft_view_left_out(const struct weft_view *view);
void weft_view_left_out_json(const struct weft_view *view, struct weft_json *json);

/* `text` in bold, or dim, if the view has colours. */
void weft_view_head(const struct weft_view *view); /* the trace's path, bold */
/* The first line: file, length, threads, `about`, and whether records are lost. */
void weft_view_headline(const struct weft_view *view, const char *about);
/* A line in memory, and its end: broken between words behind `indent` columns that are written. An
 * empty one is not written. */
struct weft_output *weft_view_line(const struct weft_view *view);
void weft_view_line_end(const struct weft_view *view, struct weft_output *line, size_t indent);
void weft_view_bold(const struct weft_view *view, const char *text);
void weft_view_dim(const struct weft_view *view, const char *text);

#endif
