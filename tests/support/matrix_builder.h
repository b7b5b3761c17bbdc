/* SPDX-License-Identifier: MIT
 *
 * Matrices of executions made by hand:
 *
 *     struct matrix_builder made;
 *     matrix_begin(&made);
 *     uint32_t read = matrix_node(&made, 0, WEFT_FRAME_FUNCTION, "read");
 *     matrix_item(&made, source, "worker", start_ns);
 *     matrix_value(&made, read, 1000);                       // of this item
 *     struct weft_ecct_matrix *matrix = matrix_end(&made);   // duration and start are its metrics
 */
#ifndef WEFT_TESTS_MATRIX_BUILDER_H
#define WEFT_TESTS_MATRIX_BUILDER_H

#include "base/vec.h"
#include "schema/ecct.h"
#include "schema/event.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX_METRICS_MAX = 16 };

struct matrix_builder {
    struct weft_arena *arena;
    struct {
        struct weft_frame *items;
        size_t n, cap;
    } frames;
    struct {
        struct weft_ecct_node *items;
        size_t n, cap;
    } nodes;
    struct {
        struct weft_execution_source *items;
        size_t n, cap;
    } sources;
    struct {
        struct weft_execution_item *items;
        size_t n, cap;
    } items;
    struct {
        uint64_t *items;
        size_t n, cap;
    } starts;
    struct matrix_value {
        uint64_t ns;
        uint32_t node;
    } row[4096];
    size_t n_row;
    struct {
        uint32_t *items;
        size_t n, cap;
    } node;
    struct {
        uint64_t *items;
        size_t n, cap;
    } ns;
    struct weft_metric metrics[MATRIX_METRICS_MAX];
    struct {
        double *items;
        size_t n, cap;
    } values[MATRIX_METRICS_MAX];
    size_t n_metrics;
};

static inline struct weft_str matrix_text(struct matrix_builder *made, const char *text)
{
    return weft_arena_copy(made->arena, weft_str_of(text));
}

static inline uint32_t matrix_node(struct matrix_builder *made, uint32_t parent,
                                   enum weft_frame_kind kind, const char *name)
{
    uint32_t frame = 0;
    while (frame < made->frames.n &&
           (made->frames.items[frame].kind != kind ||
            !weft_str_equal(made->frames.items[frame].name, weft_str_of(name))))
        frame++;
    if (frame == made->frames.n) {
        struct weft_frame *new_frame = WEFT_VEC_PUSH(&made->frames);
        *new_frame = (struct weft_frame){ .name = matrix_text(made, name), .kind = (uint8_t)kind };
        weft_frame_read_state(new_frame);
    }
    for (uint32_t i = 1; i < made->nodes.n; i++)
        if (made->nodes.items[i].parent == parent && made->nodes.items[i].frame == frame)
            return i;
    struct weft_ecct_node *node = WEFT_VEC_PUSH(&made->nodes);
    *node = (struct weft_ecct_node){ .parent = parent, .frame = frame };
    return (uint32_t)made->nodes.n - 1;
}

static inline uint32_t matrix_metric(struct matrix_builder *made, const char *name,
                                     enum weft_metric_unit unit)
{
    assert(made->n_metrics < MATRIX_METRICS_MAX);
    made->metrics[made->n_metrics] =
        (struct weft_metric){ .name = matrix_text(made, name), .unit = unit };
    return (uint32_t)made->n_metrics++;
}

static inline void matrix_begin(struct matrix_builder *made)
{
    *made = (struct matrix_builder){ .arena = weft_arena_new(0) };
    struct weft_ecct_node *root = WEFT_VEC_PUSH(&made->nodes);
    *root = (struct weft_ecct_node){ .parent = WEFT_ID_NONE, .frame = WEFT_ID_NONE };
    (void)matrix_metric(made, "duration", WEFT_METRIC_NS);
    (void)matrix_metric(made, "start", WEFT_METRIC_NS);
}

static inline uint32_t matrix_source(struct matrix_builder *made, const char *path, const char *tag)
{
    struct weft_execution_source *source = WEFT_VEC_PUSH(&made->sources);
    *source = (struct weft_execution_source){ .path = matrix_text(made, path),
                                              .tag = matrix_text(made, tag),
                                              .host = WEFT_STR("here"),
                                              .id = made->sources.n };
    return (uint32_t)made->sources.n - 1;
}

static inline int matrix_by_node(const void *a, const void *b)
{
    const struct matrix_value *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Ends the item that is open: its values by node, each once. */
static inline void matrix_close_item(struct matrix_builder *made)
{
    uint64_t sum_ns = 0;
    if (made->items.n == 0)
        return;
    qsort(made->row, made->n_row, sizeof *made->row, matrix_by_node);
    for (size_t i = 0; i < made->n_row; i++) {
        sum_ns += made->row[i].ns;
        if (i > 0 && made->row[i].node == made->row[i - 1].node) {
            made->ns.items[made->ns.n - 1] += made->row[i].ns;
            continue;
        }
        *WEFT_VEC_PUSH(&made->node) = made->row[i].node;
        *WEFT_VEC_PUSH(&made->ns) = made->row[i].ns;
    }
    made->n_row = 0;
    struct weft_execution_item *item = &made->items.items[made->items.n - 1];
    item->end_ns = item->start_ns + sum_ns;
    made->values[0].items[made->items.n - 1] = (double)sum_ns;
    made->values[1].items[made->items.n - 1] = (double)item->start_ns;
}

static inline void matrix_item(struct matrix_builder *made, uint32_t source, const char *thread,
                               uint64_t start_ns)
{
    matrix_close_item(made);
    struct weft_execution_item *item = WEFT_VEC_PUSH(&made->items);
    *item = (struct weft_execution_item){ .id = made->items.n,
                                          .source = source,
                                          .tid = 7,
                                          .thread = matrix_text(made, thread),
                                          .start_ns = start_ns };
    *WEFT_VEC_PUSH(&made->starts) = made->ns.n;
    for (size_t i = 0; i < made->n_metrics; i++)
        *WEFT_VEC_PUSH(&made->values[i]) = (double)NAN;
}

static inline void matrix_value(struct matrix_builder *made, uint32_t node, uint64_t ns)
{
    assert(made->n_row < sizeof made->row / sizeof *made->row);
    made->row[made->n_row++] = (struct matrix_value){ .node = node, .ns = ns };
}

/* Of the item that is open; not of "duration" and "start". */
static inline void matrix_number(struct matrix_builder *made, uint32_t metric, double value)
{
    made->values[metric].items[made->items.n - 1] = value;
}

#define MATRIX_TAKE(made, to, from)                                                                \
    ((void)weft_arena_copy_items((made)->arena, &(to), (from).items, (from).n,                     \
                                 sizeof *(from).items),                                            \
     free((from).items))

/* The caller's, to be freed by weft_ecct_matrix_free. */
static inline struct weft_ecct_matrix *matrix_end(struct matrix_builder *made)
{
    struct weft_ecct_matrix *matrix = WEFT_ARENA_NEW(made->arena, 1, struct weft_ecct_matrix);
    matrix_close_item(made);
    *WEFT_VEC_PUSH(&made->starts) = made->ns.n;
    *matrix = (struct weft_ecct_matrix){ .arena = made->arena,
                                         .n_frames = made->frames.n,
                                         .n_nodes = made->nodes.n,
                                         .n_sources = made->sources.n,
                                         .n_items = made->items.n,
                                         .n_metrics = made->n_metrics };
    MATRIX_TAKE(made, matrix->frames, made->frames);
    MATRIX_TAKE(made, matrix->nodes, made->nodes);
    MATRIX_TAKE(made, matrix->sources, made->sources);
    MATRIX_TAKE(made, matrix->items, made->items);
    MATRIX_TAKE(made, matrix->starts, made->starts);
    MATRIX_TAKE(made, matrix->node, made->node);
    MATRIX_TAKE(made, matrix->ns, made->ns);
    for (size_t i = 0; i < made->n_metrics; i++)
        MATRIX_TAKE(made, made->metrics[i].values, made->values[i]);
    (void)weft_arena_copy_items(made->arena, &matrix->metrics, made->metrics, made->n_metrics,
                                sizeof *made->metrics);
    return matrix;
}

#endif
