/* SPDX-License-Identifier: MIT
 *
 * Fields that several tables of Shapes have. `of` is the result, struct weft_shapes_table.
 */
#ifndef WEFT_SCHEMA_SHAPES_TABLE_H
#define WEFT_SCHEMA_SHAPES_TABLE_H

#include "schema/shapes.h"
#include "schema/table.h"

/* Mean and standard deviation of the struct weft_shape_times at field->offset. */
weft_get weft_get_times_mean, weft_get_times_deviation;

/* Durations: the member `times` of ROW; `__VA_ARGS__` holds for the percentiles. */
#define WEFT_SHAPE_TIMES(times, ...)                                                               \
    WEFT_FIELD("count", "calls", COUNT, times.count, "calls"),                                     \
        WEFT_FIELD("total_ns", "total", NS, times.sum_ns, "their time"),                           \
        WEFT_GETTER("mean_ns", "mean", NS, weft_get_times_mean, "mean",                            \
                    .offset = offsetof(ROW, times)),                                               \
        WEFT_GETTER("stddev_ns", "std dev", NS, weft_get_times_deviation, "standard deviation",    \
                    .offset = offsetof(ROW, times), .is_detail = true),                            \
        WEFT_FIELD("min_ns", NULL, NS, times.min_ns, "shortest"),                                  \
        WEFT_FIELD("p50_ns", "p50", NS, times.p50_ns, "median", .is_detail = true, __VA_ARGS__),   \
        WEFT_FIELD("p90_ns", NULL, NS, times.p90_ns, "90th percentile", __VA_ARGS__),              \
        WEFT_FIELD("p99_ns", "p99", NS, times.p99_ns, "99th percentile", __VA_ARGS__),             \
        WEFT_FIELD("p999_ns", NULL, NS, times.p999_ns, "99.9th percentile", __VA_ARGS__),          \
        WEFT_FIELD("max_ns", "max", NS, times.max_ns, "longest")

/* Of the struct weft_shape at field->offset. */
weft_get weft_get_shape_mean, weft_get_shape_deviation;

/* What a shape is: the members below `shape` ("" or "shape.") of ROW, but its id. */
#define WEFT_SHAPE_FIELDS(shape, offset_)                                                          \
    WEFT_FIELD("cluster", "cluster", ID, shape cluster_id, "its cluster"),                         \
        WEFT_FIELD("count", "calls", COUNT, shape count, "calls"),                                 \
        WEFT_FIELD("total_ns", "total", NS, shape sum_ns, "their time"),                           \
        WEFT_GETTER("mean_ns", "mean", NS, weft_get_shape_mean, "mean", .offset = (offset_)),      \
        WEFT_GETTER("stddev_ns", "std dev", NS, weft_get_shape_deviation, "standard deviation",    \
                    .offset = (offset_)),                                                          \
        WEFT_FIELD("min_ns", "min", NS, shape min_ns, "shortest"),                                 \
        WEFT_FIELD("max_ns", "max", NS, shape max_ns, "longest"),                                  \
        WEFT_FIELD("threads", "threads", COUNT, shape n_threads, "threads"),                       \
        WEFT_FIELD("depth", "depth", COUNT, shape depth, "levels of calls"),                       \
        WEFT_FIELD("callees", "callees", COUNT, shape n_children, "different callees"),            \
        WEFT_FIELD("first_ns", "first seen", AT, shape first.start_ns, "start of the first"),      \
        WEFT_FIELD("first_tid", NULL, ID, shape first.thread_id, "its thread", .as = WEFT_AS_TID), \
        WEFT_FIELD("slowest_ns", "slowest at", AT, shape slowest.start_ns,                         \
                   "start of the slowest"),                                                        \
        WEFT_FIELD("slowest_tid", NULL, ID, shape slowest.thread_id, "its thread",                 \
                   .as = WEFT_AS_TID),                                                             \
        WEFT_FIELD("function", "function", TEXT, shape function_id, "the function",                \
                   .as = WEFT_AS_FUNCTION),                                                        \
        WEFT_FIELD("function_id", NULL, ID, shape function_id, "its number in the source",         \
                   .as = WEFT_AS_FUNCTION_KEY)

/* The call `at` of ROW: thread, start, duration. */
#define WEFT_SHAPE_OCCURRENCE(at)                                                                  \
    WEFT_FIELD("tid", "tid", ID, at.thread_id, "its thread", .as = WEFT_AS_TID),                   \
        WEFT_FIELD("start_ns", "start", AT, at.start_ns, "its start"),                             \
        WEFT_DURATION("duration_ns", "time", at.start_ns, at.end_ns, "its duration")

/* A cluster on a thread, for people. */
struct weft_shape_card_row {
    uint32_t thread_id;
    struct weft_shape_presence presence;
};

/* Shapes and clusters of a thread and those before it. */
struct weft_shapes_sum {
    uint64_t n_shapes, n_clusters;
};

extern const struct weft_table_type weft_shapes_type, weft_shape_clusters_type,
    weft_shape_presences_type, weft_shape_card_type, weft_shape_spikes_type, weft_shape_drops_type;
extern const struct weft_table_type weft_shape_threads_type; /* of an array of weft_shapes_sum */

#endif
