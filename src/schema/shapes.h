/* SPDX-License-Identifier: MIT
 *
 * The result of Shapes (Muthukuda, "Shapes"; docs/analyses/shapes.md): which behaviours a program
 * has, and when they occur. Plain values in one arena. Thread and function ids are the model's
 * dense ids; times are ns since the start of the trace.
 */
#ifndef WEFT_SCHEMA_SHAPES_H
#define WEFT_SCHEMA_SHAPES_H

#include "base/u128.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How often a child shape is repeated in the occurrences of its parent; min_count >= 1. */
struct weft_shape_repeat {
    uint64_t sum;
    uint32_t min, max; /* saturate */
};

/* One call of a certain shape. */
struct weft_shape_occurrence {
    uint32_t thread_id, shape_id;
    uint64_t start_ns, end_ns;
};

/* A shape: a function and the set of its children's shapes. Null is in every set and never listed.
 * Ids count from 0 in canonical order: depth, function name, function id, children (ids compared
 * lexicographically, shorter first), all ascending. So children have lower ids. */
struct weft_shape {
    uint32_t function_id;
    uint32_t depth; /* 1 without children */
    uint32_t cluster_id;
    uint32_t n_children;
    const uint32_t *children;                /* ids, ascending */
    const struct weft_shape_repeat *repeats; /* of each child */
    uint64_t count;                          /* occurrences, over all threads */
    uint64_t sum_ns, min_ns, max_ns;
    weft_u128 sum_squares; /* of durations in ns */
    uint32_t n_threads;
    struct weft_shape_occurrence first, slowest; /* the earliest; the longest, then earliest; of
                                                    equals, that of the lower thread id */
};

/* Durations of many occurrences. Percentiles are exact (nearest rank). */
struct weft_shape_times {
    uint64_t count, sum_ns, min_ns, max_ns;
    weft_u128 sum_squares; /* of durations in ns */
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
};

/* Occurrences whose duration is from from_ns to before to_ns. */
struct weft_shape_bin {
    uint64_t from_ns, to_ns, count;
};

/* Shapes of one function that are all within the threshold of each other, none below another. */
struct weft_shape_cluster {
    uint32_t function_id;
    uint32_t depth; /* of its deepest shape */
    uint32_t n_shapes;
    const uint32_t *shape_ids; /* in canonical order */
    bool is_trivial;           /* no shape of it has children */
    uint32_t ribbon;           /* among those of the whole trace, 0 on top; WEFT_ID_NONE for none */
    uint32_t n_threads;
    struct weft_shape_times times;
    const struct weft_shape_bin *bins; /* ascending; only those that hold any (model/histogram.h) */
    uint32_t n_bins;
    struct weft_shape_occurrence first, typical, slowest; /* typical: the earliest whose duration is
                                                             the median */
    uint64_t n_spikes, n_drops;                           /* found, not only kept */
    double surprise;                                      /* docs/analyses/shapes.md */
};

/* A cluster on a thread. */
struct weft_shape_presence {
    uint32_t cluster_id;
    uint32_t ribbon; /* of the thread, 0 on top; WEFT_ID_NONE: left out (trivial, too rare) */
    uint64_t first_ns;
    struct weft_shape_times times;
};

/* Columns of one ribbon, next to each other, in which the same cluster dominates: it covers most of
 * the time (of equals the lower id). Columns in which no cluster of the ribbon occurs have no run.
 */
struct weft_shape_run {
    uint32_t first_column, n_columns;
    uint32_t cluster_id;
    uint32_t n_others; /* other clusters of the ribbon present in its columns, at most in one */
    uint64_t count;    /* occurrences of the dominant cluster that begin in the columns */
    uint64_t covered_ns;
    struct weft_shape_occurrence longest; /* of the dominant cluster, that touches the columns */
};

struct weft_shape_ribbon {
    uint32_t n_clusters;
    const uint32_t *cluster_ids; /* ascending */
    uint32_t depth;              /* of the deepest: ribbons ascend by it, by creation if equal */
    const struct weft_shape_run *runs; /* of a thread's ribbon, by column; none without columns */
    size_t n_runs;
};

struct weft_shape_thread {
    uint32_t thread_id;
    uint32_t n_shapes, n_new_shapes; /* not trivial; new: on none of the threads before */
    uint32_t n_clusters, n_new_clusters;
    uint64_t calls;          /* with a shape */
    uint64_t cut_calls;      /* cut by the trace's or window's edges: without a shape */
    uint64_t excluded_calls; /* of excluded functions: their callees count as the caller's */
    uint64_t limited_calls;  /* without a shape because of a limit, see weft_shapes_table */
    const struct weft_shape_presence *presences; /* ascending cluster_id */
    size_t n_presences;
    const struct weft_shape_ribbon *ribbons; /* shallowest first */
    size_t n_ribbons;
    uint32_t group; /* threads of similar behaviour have the same number, from 0 */
};

/* An occurrence longer than max(k x the cluster's median, its p99.9). */
struct weft_shape_spike {
    struct weft_shape_occurrence at;
    uint32_t cluster_id;
    double times_median;
};

/* A stretch of windows in which a cluster occurs less often than `fraction` of its running median.
 */
struct weft_shape_drop {
    uint32_t cluster_id;
    uint64_t from_ns, to_ns;
    uint64_t count;  /* occurrences that begin in it */
    double expected; /* by the running median */
};

struct weft_shapes_table {
    struct weft_arena *arena;
    uint64_t from_ns, to_ns; /* of the window; ribbons' columns divide it evenly */
    uint32_t threshold_halves;
    uint32_t n_columns;
    struct weft_shape *shapes;
    size_t n_shapes, n_trivial_shapes;
    struct weft_shape_cluster *clusters; /* ids count from 0 in order of creation */
    size_t n_clusters, n_trivial_clusters;
    const struct weft_shape_ribbon *ribbons; /* of the whole trace; no runs */
    size_t n_ribbons;
    struct weft_shape_thread *threads; /* ascending thread id */
    size_t n_threads;
    struct weft_shape_spike *spikes; /* highest times_median first; at most the limit */
    size_t n_spikes;
    uint64_t spikes_found;
    struct weft_shape_drop *drops; /* largest loss (expected - count) x mean duration first */
    size_t n_drops;
    uint64_t drops_found;
    uint64_t calls, cut_calls, repaired_calls, excluded_calls;
    uint64_t limited_calls;      /* calls without a shape because there are too many shapes, or they
                                    are too large */
    uint64_t unclustered_shapes; /* alone in their cluster because the comparisons were too many */
    uint64_t undrawn_presences;  /* clusters on threads without runs: there would be too many */
    uint32_t rare_below;         /* clusters of fewer occurrences are in no ribbon */
    uint32_t n_rare_clusters;
};

/* ---- two traces, or two windows of one: A is looked at, B is what it is compared with ----------
 */

enum weft_shape_change_kind {
    WEFT_SHAPE_NEW,  /* in A alone */
    WEFT_SHAPE_GONE, /* in B alone */
    WEFT_SHAPE_RATE, /* far more, or far less often in A */
};

/* A shape, or a cluster of the shapes of both. Index 0 is A, 1 is B. */
struct weft_shape_change {
    enum weft_shape_change_kind kind;
    uint32_t function_id;  /* in A's trace; GONE: in B's */
    uint32_t shape_ids[2]; /* in the tables; of a cluster the lowest; WEFT_ID_NONE: none */
    uint32_t n_shapes[2];  /* of a cluster */
    uint64_t count[2], sum_ns[2];
    double times_rate; /* occurrences per second of A over those of B; infinite: NEW */
    double surprise;   /* bits: docs/analyses/shapes.md */
    uint64_t time_ns;  /* that A has more than B, or less, per length of A */
    double score;      /* surprise x time */
    struct weft_shape_occurrence slowest; /* in A; GONE: in B */
};

struct weft_shape_changes {
    uint64_t length_ns[2];                       /* of the windows */
    struct weft_shape_change *clusters, *shapes; /* highest score first */
    size_t n_clusters, n_shapes;
    size_t n_common_clusters, n_common_shapes; /* in both, at whatever rate */
    size_t n_all_clusters, n_all_shapes;       /* not trivial, in either */
};

#endif
