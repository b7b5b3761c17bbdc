/* SPDX-License-Identifier: MIT
 *
 * Picks executions, then nodes with all their ancestors, and numbers both anew.
 */
#include "render/page/excerpt.h"

#include <stdlib.h>
#include <string.h>

enum { IN_A = 1, IN_B = 2 };
enum { MOST_A = 1200, MOST_B = 800, MOST_NEITHER = 400, MOST_NODES = 3000, MOST_CAUSES = 64 };
enum { RANKED = 100 }; /* nodes ranked first that are kept, however short */

struct excerpt {
    const struct weft_ecct_matrix *matrix;
    const struct weft_compare_table *table;
    struct weft_arena *arena;
    struct weft_page_excerpt *out;
    uint8_t *members;  /* by item of all */
    double *weights;   /* by item of all; negative: it is not picked */
    uint32_t *item_at; /* by item of all: its place in the excerpt */
    uint32_t *node_at; /* by node of all, likewise; WEFT_ID_NONE: it is not kept */
    size_t n_causes;
};

/* ---- executions ------------------------------------------------------------------------------ */

static int by_duration(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_execution_item *items = context;
    const uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    const uint64_t a_ns = items[a].end_ns - items[a].start_ns;
    const uint64_t b_ns = items[b].end_ns - items[b].start_ns;
    return a_ns != b_ns ? (a_ns > b_ns) - (a_ns < b_ns) : (a > b) - (a < b);
}

/* Picks the last of each of `most` runs of equal length; it stands for its run. */
static void pick_evenly(struct excerpt *excerpt, uint32_t *items, size_t n, size_t most)
{
    const size_t n_picked = n < most ? n : most;
    size_t before = 0;
    qsort_r(items, n, sizeof *items, by_duration, excerpt->matrix->items);
    for (size_t i = 0; i < n_picked; i++) {
        const size_t end = (size_t)((uint64_t)(i + 1) * n / n_picked);
        excerpt->weights[items[end - 1]] = (double)(end - before);
        before = end;
    }
}

static void mark_members(struct excerpt *excerpt)
{
    const struct weft_compare_table *table = excerpt->table;
    for (size_t i = 0; i < table->n_a; i++)
        excerpt->members[table->items_a[i]] |= IN_A;
    for (size_t i = 0; i < table->n_b; i++)
        excerpt->members[table->items_b[i]] |= IN_B;
}

static enum weft_code pick_items(struct excerpt *excerpt, struct weft_err *err)
{
    static const struct {
        uint8_t members;
        size_t most;
    } groups[] = {
        { 0, MOST_NEITHER }, { IN_A, MOST_A }, { IN_B, MOST_B }, { IN_A | IN_B, MOST_B }
    };
    const struct weft_ecct_matrix *matrix = excerpt->matrix;
    uint32_t *items = calloc(matrix->n_items + 1, sizeof *items);
    if (!items)
        return weft_no_memory(err, "a comparison");
    for (size_t i = 0; i < matrix->n_items; i++)
        excerpt->weights[i] = -1;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        size_t n = 0;
        for (size_t i = 0; i < matrix->n_items; i++)
            if (excerpt->members[i] == groups[g].members)
                items[n++] = (uint32_t)i;
        pick_evenly(excerpt, items, n, groups[g].most);
    }
    free(items);
    /* An example that stands for none is there to be shown. */
    for (size_t i = 0; i < excerpt->n_causes; i++)
        if (excerpt->weights[excerpt->table->causes[i].example] < 0)
            excerpt->weights[excerpt->table->causes[i].example] = 0;
    return WEFT_OK;
}

static bool copy_items(struct excerpt *excerpt)
{
    const struct weft_ecct_matrix *matrix = excerpt->matrix;
    struct weft_page_excerpt *out = excerpt->out;
    size_t n = 0;
    for (size_t i = 0; i < matrix->n_items; i++)
        n += excerpt->weights[i] >= 0;
    out->matrix.n_items = n;
    out->matrix.items = WEFT_ARENA_NEW(excerpt->arena, n + 1, struct weft_execution_item);
    out->members = WEFT_ARENA_NEW(excerpt->arena, n + 1, uint8_t);
    out->weights = WEFT_ARENA_NEW(excerpt->arena, n + 1, double);
    if (!out->matrix.items || !out->members || !out->weights)
        return false;
    n = 0;
    for (size_t i = 0; i < matrix->n_items; i++) {
        if (excerpt->weights[i] < 0)
            continue;
        out->matrix.items[n] = matrix->items[i];
        out->members[n] = excerpt->members[i];
        out->weights[n] = excerpt->weights[i];
        excerpt->item_at[i] = (uint32_t)n++;
    }
    return true;
}

static bool copy_metrics(struct excerpt *excerpt)
{
    const struct weft_ecct_matrix *matrix = excerpt->matrix;
    struct weft_ecct_matrix *out = &excerpt->out->matrix;
    out->metrics = WEFT_ARENA_NEW(excerpt->arena, matrix->n_metrics + 1, struct weft_metric);
    if (!out->metrics)
        return false;
    for (size_t m = 0; m < matrix->n_metrics; m++) {
        double *values = WEFT_ARENA_NEW(excerpt->arena, out->n_items + 1, double);
        if (!values)
            return false;
        for (size_t i = 0; i < matrix->n_items; i++)
            if (excerpt->weights[i] >= 0)
                values[excerpt->item_at[i]] = matrix->metrics[m].values[i];
        out->metrics[m] = matrix->metrics[m];
        out->metrics[m].values = values;
    }
    return true;
}

static bool copy_sources(struct excerpt *excerpt, bool with_hosts)
{
    const struct weft_ecct_matrix *matrix = excerpt->matrix;
    struct weft_ecct_matrix *out = &excerpt->out->matrix;
    out->sources =
        WEFT_ARENA_NEW(excerpt->arena, matrix->n_sources + 1, struct weft_execution_source);
    if (!out->sources)
        return false;
    for (size_t i = 0; i < matrix->n_sources; i++) {
        out->sources[i] = matrix->sources[i];
        out->sources[i].path = weft_str_base(matrix->sources[i].path);
        if (!with_hosts)
            out->sources[i].host = WEFT_STR("");
    }
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static double time_of(const struct weft_compare_node *node)
{
    return node->total_a_ns > node->total_b_ns ? node->total_a_ns : node->total_b_ns;
}

/* Those of most time; a parent is before its children and has at least as much. */
static int by_time(const void *a_ptr, const void *b_ptr, void *context)
{
    const struct weft_compare_node *nodes = context;
    const uint32_t a = *(const uint32_t *)a_ptr, b = *(const uint32_t *)b_ptr;
    const double a_ns = time_of(&nodes[a]), b_ns = time_of(&nodes[b]);
    return a_ns != b_ns ? (a_ns < b_ns) - (a_ns > b_ns) : (a > b) - (a < b);
}

/* A node and all above it. */
static void keep_node(struct excerpt *excerpt, uint32_t node)
{
    for (; node != WEFT_ID_NONE && excerpt->node_at[node] == WEFT_ID_NONE;
         node = excerpt->matrix->nodes[node].parent)
        excerpt->node_at[node] = 0;
}

static enum weft_code choose_nodes(struct excerpt *excerpt, struct weft_err *err)
{
    const struct weft_compare_table *table = excerpt->table;
    uint32_t *order = calloc(table->n_nodes + 1, sizeof *order);
    if (!order)
        return weft_no_memory(err, "a comparison");
    for (size_t i = 0; i < table->n_nodes; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, table->n_nodes, sizeof *order, by_time, table->nodes);
    memset(excerpt->node_at, 0xff, (excerpt->matrix->n_nodes + 1) * sizeof *excerpt->node_at);
    if (excerpt->matrix->n_nodes > 0)
        keep_node(excerpt, 0);
    for (size_t i = 0; i < table->n_nodes && i < MOST_NODES; i++)
        keep_node(excerpt, table->nodes[order[i]].node);
    for (size_t i = 0; i < table->n_ranked && i < RANKED; i++)
        keep_node(excerpt, table->nodes[table->ranked[i]].node);
    for (size_t i = 0; i < excerpt->n_causes; i++) {
        keep_node(excerpt, table->causes[i].node);
        keep_node(excerpt, table->causes[i].context);
    }
    free(order);
    return WEFT_OK;
}

/* Nodes and the frames that they have, in their order. */
static bool copy_nodes(struct excerpt *excerpt)
{
    const struct weft_ecct_matrix *matrix = excerpt->matrix;
    struct weft_ecct_matrix *out = &excerpt->out->matrix;
    uint32_t *frame_at = WEFT_ARENA_NEW(excerpt->arena, matrix->n_frames + 1, uint32_t);
    out->nodes = WEFT_ARENA_NEW(excerpt->arena, matrix->n_nodes + 1, struct weft_ecct_node);
    out->frames = WEFT_ARENA_NEW(excerpt->arena, matrix->n_frames + 1, struct weft_frame);
    if (!frame_at || !out->nodes || !out->frames)
        return false;
    memset(frame_at, 0xff, (matrix->n_frames + 1) * sizeof *frame_at);
    out->n_nodes = out->n_frames = 0;
    for (size_t i = 0; i < matrix->n_nodes; i++) {
        if (excerpt->node_at[i] == WEFT_ID_NONE)
            continue;
        struct weft_ecct_node node = matrix->nodes[i];
        if (node.parent != WEFT_ID_NONE)
            node.parent = excerpt->node_at[node.parent];
        if (node.frame < matrix->n_frames) {
            if (frame_at[node.frame] == WEFT_ID_NONE) {
                out->frames[out->n_frames] = matrix->frames[node.frame];
                frame_at[node.frame] = (uint32_t)out->n_frames++;
            }
            node.frame = frame_at[node.frame];
        }
        excerpt->node_at[i] = (uint32_t)out->n_nodes;
        out->nodes[out->n_nodes++] = node;
    }
    return true;
}

/* ---- what differs ---------------------------------------------------------------------------- */

static bool copy_differences(struct excerpt *excerpt)
{
    const struct weft_compare_table *table = excerpt->table;
    struct weft_compare_table *out = &excerpt->out->table;
    uint32_t *place_at = WEFT_ARENA_NEW(excerpt->arena, table->n_nodes + 1, uint32_t);
    out->nodes = WEFT_ARENA_NEW(excerpt->arena, table->n_nodes + 1, struct weft_compare_node);
    out->ranked = WEFT_ARENA_NEW(excerpt->arena, table->n_ranked + 1, uint32_t);
    if (!place_at || !out->nodes || !out->ranked)
        return false;
    out->n_nodes = out->n_ranked = 0;
    for (size_t i = 0; i < table->n_nodes; i++) {
        const uint32_t node = excerpt->node_at[table->nodes[i].node];
        place_at[i] = WEFT_ID_NONE;
        if (node == WEFT_ID_NONE)
            continue;
        place_at[i] = (uint32_t)out->n_nodes;
        out->nodes[out->n_nodes] = table->nodes[i];
        out->nodes[out->n_nodes++].node = node;
    }
    for (size_t i = 0; i < table->n_ranked; i++)
        if (place_at[table->ranked[i]] != WEFT_ID_NONE)
            out->ranked[out->n_ranked++] = place_at[table->ranked[i]];
    return true;
}

static bool copy_causes(struct excerpt *excerpt)
{
    const struct weft_compare_table *table = excerpt->table;
    struct weft_compare_table *out = &excerpt->out->table;
    out->causes = WEFT_ARENA_NEW(excerpt->arena, excerpt->n_causes + 1, struct weft_compare_cause);
    out->cause_of = WEFT_ARENA_NEW(excerpt->arena, table->n_b + 1, uint32_t);
    if (!out->causes || !out->cause_of)
        return false;
    out->n_causes = excerpt->n_causes;
    for (size_t i = 0; i < excerpt->n_causes; i++) {
        struct weft_compare_cause cause = table->causes[i];
        cause.example = excerpt->item_at[cause.example];
        if (cause.node != WEFT_ID_NONE)
            cause.node = excerpt->node_at[cause.node];
        if (cause.context != WEFT_ID_NONE)
            cause.context = excerpt->node_at[cause.context];
        out->causes[i] = cause;
    }
    for (size_t i = 0; i < table->n_b && table->n_causes > 0; i++)
        if (excerpt->weights[table->items_b[i]] >= 0)
            out->cause_of[excerpt->out->n_cause_of++] =
                table->cause_of[i] < out->n_causes ? table->cause_of[i] : WEFT_ID_NONE;
    return true;
}

static bool make_room(struct excerpt *excerpt)
{
    const size_t n_items = excerpt->matrix->n_items + 1;
    excerpt->members = WEFT_ARENA_NEW(excerpt->arena, n_items, uint8_t);
    excerpt->weights = WEFT_ARENA_NEW(excerpt->arena, n_items, double);
    excerpt->item_at = WEFT_ARENA_NEW(excerpt->arena, n_items, uint32_t);
    excerpt->node_at = WEFT_ARENA_NEW(excerpt->arena, excerpt->matrix->n_nodes + 1, uint32_t);
    return excerpt->members && excerpt->weights && excerpt->item_at && excerpt->node_at;
}

enum weft_code weft_page_excerpt_make(const struct weft_ecct_matrix *matrix,
                                      const struct weft_compare_table *table, bool with_hosts,
                                      struct weft_arena *arena, struct weft_page_excerpt *out,
                                      struct weft_err *err)
{
    struct excerpt excerpt = { .matrix = matrix, .table = table, .arena = arena, .out = out };
    *out = (struct weft_page_excerpt){ .matrix = *matrix, .table = *table };
    excerpt.n_causes = table->n_causes < MOST_CAUSES ? table->n_causes : MOST_CAUSES;
    if (!make_room(&excerpt))
        return weft_no_memory(err, "a comparison");
    mark_members(&excerpt);
    WEFT_TRY(pick_items(&excerpt, err));
    WEFT_TRY(choose_nodes(&excerpt, err));
    return copy_items(&excerpt) && copy_metrics(&excerpt) && copy_sources(&excerpt, with_hosts) &&
                   copy_nodes(&excerpt) && copy_differences(&excerpt) && copy_causes(&excerpt)
               ? WEFT_OK
               : weft_no_memory(err, "a comparison");
}
