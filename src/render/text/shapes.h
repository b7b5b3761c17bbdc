/* SPDX-License-Identifier: MIT
 *
 * What the views of Shapes share: names, cells of occurrences, the order and the limit of rows.
 */
#ifndef WEFT_RENDER_TEXT_SHAPES_H
#define WEFT_RENDER_TEXT_SHAPES_H

#include "analysis/shapes/shapes.h"
#include "base/arena.h"
#include "base/deviation.h"
#include "render/text/render.h"
#include "schema/shapes_table.h"

/* One rendering. The arena holds the text of cells. */
struct weft_shapes_page {
    const struct weft_view *view;
    const struct weft_shapes_table *table;
    const struct weft_shapes_view *opts;
    struct weft_arena *arena;
    uint32_t *rows; /* ids of what the list shows, in its order */
    size_t n_rows;  /* before the limit */
    size_t n_shown;
    struct weft_shapes_sum *sums; /* by row of the table's threads */
    uint64_t n_other;             /* clusters that were not asked for */
    uint64_t n_hidden;            /* clusters that --min-count or triviality leaves out */
};

/* ---- of one thing ---------------------------------------------------------------------------- */

const struct weft_function *weft_shapes_function(const struct weft_shapes_page *page, uint32_t id);
struct weft_str weft_shapes_name(const struct weft_shapes_page *page, uint32_t shape_id);

static inline uint64_t weft_shapes_duration(const struct weft_shape_occurrence *at)
{
    return at->end_ns - at->start_ns;
}

static inline uint64_t weft_shapes_mean(uint64_t sum_ns, uint64_t count)
{
    return count ? sum_ns / count : 0;
}

/* Standard deviation, to the nearest nanosecond. */
static inline uint64_t weft_shapes_deviation(const struct weft_shape_times *times)
{
    return (uint64_t)(weft_deviation(times->count, times->sum_ns, times->sum_squares) + 0.5);
}

static inline uint64_t weft_shapes_shape_deviation(const struct weft_shape *shape)
{
    return (uint64_t)(weft_deviation(shape->count, shape->sum_ns, shape->sum_squares) + 0.5);
}

/* "1.5": half units as the paper writes them. */
struct weft_human weft_shapes_distance_text(uint32_t halves);

/* `text` after two blanks for each level, up to a depth that still leaves room. */
struct weft_str weft_shapes_indented(const struct weft_shapes_page *page, uint32_t level,
                                     struct weft_str text);

void weft_shapes_occurrence_json(const struct weft_shapes_page *page, const char *key,
                                 const struct weft_shape_occurrence *at, struct weft_json *json);

/* "   first    1.369123 s  85.2 ms  weft interval --from ... --to ... --tid 7 t.weft". */
void weft_shapes_print_occurrence(const struct weft_shapes_page *page, const char *what,
                                  const struct weft_shape_occurrence *at);

/* Rows of a type, whose getters refer to the result. */
struct weft_table weft_shapes_rows(const struct weft_shapes_page *page,
                                   const struct weft_table_type *type, const void *rows, size_t n);

/* ---- lists ----------------------------------------------------------------------------------- */

/* Keeps the failure in the output; always false. */
bool weft_shapes_no_memory(const struct weft_shapes_page *page, size_t n_rows);

/* Room for `n` ids, 0 to n-1; false (and the failure kept in the output) without memory. */
bool weft_shapes_take_rows(struct weft_shapes_page *page, size_t n);

/* Whether the shape (one of the shapes of the cluster) was asked for. */
bool weft_shapes_is_wanted(const struct weft_shapes_page *page, uint32_t shape_id);
bool weft_shapes_is_wanted_cluster(const struct weft_shapes_page *page, uint32_t cluster_id);

void weft_shapes_apply_limit(struct weft_shapes_page *page);

/* "12 more clusters: --limit 0", if the limit left some out. */
void weft_shapes_print_more(const struct weft_shapes_page *page, const char *what);

/* The numbers that every JSON document of the command begins with. */
void weft_shapes_json_head(const struct weft_shapes_page *page, struct weft_json *json);

/* How long the calls of a cluster last: beside those of its function, and as a histogram of powers
 * of two. */
void weft_shapes_print_times(const struct weft_shapes_page *page,
                             const struct weft_shape_cluster *cluster);

/* The same as members of an object, the histogram in all its bins. */
void weft_shapes_times_json(const struct weft_shapes_page *page,
                            const struct weft_shape_cluster *cluster, struct weft_json *json);

/* ---- views ----------------------------------------------------------------------------------- */

struct weft_table weft_shapes_spikes_table(const struct weft_shapes_page *page);
struct weft_table weft_shapes_drops_table(const struct weft_shapes_page *page);

void weft_shapes_render_summary(struct weft_shapes_page *page);
void weft_shapes_render_threads(struct weft_shapes_page *page);
void weft_shapes_render_list(struct weft_shapes_page *page);
void weft_shapes_render_near(struct weft_shapes_page *page);
void weft_shapes_render_spikes(struct weft_shapes_page *page);
void weft_shapes_render_drops(struct weft_shapes_page *page);
void weft_shapes_render_rare(struct weft_shapes_page *page);
void weft_shapes_render_cluster(struct weft_shapes_page *page);
void weft_shapes_render_diff(struct weft_shapes_page *page);
void weft_shapes_render_verify(struct weft_shapes_page *page);

#endif
