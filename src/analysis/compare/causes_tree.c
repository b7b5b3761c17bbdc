/* SPDX-License-Identifier: MIT
 *
 * Copies the matrix' tree, with preemption and interruption moved to below the root unless they
 * happen in a function that only B calls; and finds the node to which a named cause is anchored.
 * Kept apart from causes.c because `weft diagnose` and the renderers also ask which frames are of
 * that kind.
 */
#include "analysis/compare/causes_tree.h"

#include "analysis/compare/names.h"
#include "schema/event.h"

#include <stdlib.h>
#include <string.h>

static const double UNUSUAL = 0.05; /* of B's time in a function, if A has less */

static bool tree_alloc(struct weft_cause_tree *tree, size_t n_nodes)
{
    *tree = (struct weft_cause_tree){ .of = calloc(n_nodes + 1, sizeof *tree->of),
                                      .parent = calloc(n_nodes + 1, sizeof *tree->parent),
                                      .frame = calloc(n_nodes + 1, sizeof *tree->frame),
                                      .mean_ns = calloc(n_nodes + 1, sizeof *tree->mean_ns),
                                      .total_ns = calloc(n_nodes + 1, sizeof *tree->total_ns),
                                      .is_usual = calloc(n_nodes + 1, sizeof *tree->is_usual) };
    return tree->of && tree->parent && tree->frame && tree->mean_ns && tree->total_ns &&
           tree->is_usual;
}

void weft_cause_tree_fini(struct weft_cause_tree *tree)
{
    free(tree->of);
    free(tree->parent);
    free(tree->frame);
    free(tree->mean_ns);
    free(tree->total_ns);
    free(tree->is_usual);
}

bool weft_frame_happens_anywhere(const struct weft_frame *frame)
{
    return frame->state == WEFT_FRAME_PREEMPTED || frame->state == WEFT_FRAME_INTERRUPTED;
}

bool weft_matrix_has_switches(const struct weft_ecct_matrix *matrix)
{
    for (size_t i = 0; i < matrix->n_metrics; i++)
        if (weft_str_equal(matrix->metrics[i].name, WEFT_STR("preemptions")))
            return true;
    for (size_t i = 0; i < matrix->n_frames; i++)
        if (weft_frame_happens_anywhere(&matrix->frames[i]))
            return true;
    return false;
}

/* Is the function around a node part of executions of A, too? What happens to a thread in a
 * function that only slow ones call is of that function. */
static bool is_usual(const struct weft_causes_base *base, uint32_t node)
{
    const struct weft_ecct_matrix *matrix = base->matrix;
    node = matrix->nodes[node].parent;
    while (node != 0 && matrix->frames[matrix->nodes[node].frame].kind != WEFT_FRAME_FUNCTION)
        node = matrix->nodes[node].parent;
    return base->total_ns[node] >= UNUSUAL * base->total_b_ns[node];
}

bool weft_cause_tree_init(struct weft_cause_tree *tree, const struct weft_causes_base *base,
                          struct weft_map *keys)
{
    const struct weft_ecct_matrix *matrix = base->matrix;
    if (!tree_alloc(tree, matrix->n_nodes) || weft_map_add(keys, UINT64_MAX, NULL) == WEFT_MAP_NONE)
        return false;
    tree->parent[0] = WEFT_ID_NONE;
    for (size_t node = 1; node < matrix->n_nodes; node++) {
        const uint32_t frame = matrix->nodes[node].frame;
        const bool is_apart =
            weft_frame_happens_anywhere(&matrix->frames[frame]) && is_usual(base, (uint32_t)node);
        const uint32_t parent = is_apart ? 0 : tree->of[matrix->nodes[node].parent];
        const uint32_t id = weft_map_add(keys, (uint64_t)parent << 32 | frame, NULL);
        if (id == WEFT_MAP_NONE)
            return false;
        tree->of[node] = id;
        tree->parent[id] = parent;
        tree->frame[id] = frame;
    }
    tree->n = weft_map_count(keys);
    weft_map_reset(keys);
    for (size_t node = 0; node < matrix->n_nodes; node++) {
        tree->mean_ns[tree->of[node]] += base->mean_ns[node];
        tree->is_usual[tree->of[node]] |= base->total_ns[node] >= UNUSUAL * base->total_b_ns[node];
    }
    memcpy(tree->total_ns, tree->mean_ns, tree->n * sizeof *tree->total_ns);
    for (size_t id = tree->n; id-- > 1;)
        tree->total_ns[tree->parent[id]] += tree->total_ns[id];
    return true;
}

static bool is_wait(const struct weft_frame *frame)
{
    return frame->kind == WEFT_FRAME_THREAD || frame->kind == WEFT_FRAME_LOCK ||
           frame->state == WEFT_FRAME_BLOCKED;
}

uint32_t weft_cause_tree_anchor(const struct weft_cause_tree *tree,
                                const struct weft_ecct_matrix *matrix, uint32_t named)
{
    uint32_t wait = WEFT_ID_NONE, function = WEFT_ID_NONE, below = WEFT_ID_NONE;
    for (uint32_t node = named; node != 0; below = node, node = tree->parent[node]) {
        const struct weft_frame *frame = &matrix->frames[tree->frame[node]];
        if (weft_frame_happens_anywhere(frame))
            return below != WEFT_ID_NONE &&
                           matrix->frames[tree->frame[below]].kind == WEFT_FRAME_THREAD
                       ? below
                       : node;
        if (is_wait(frame))
            wait = node;
        else if (function == WEFT_ID_NONE && frame->kind == WEFT_FRAME_FUNCTION)
            function = node;
    }
    return wait != WEFT_ID_NONE ? wait : function != WEFT_ID_NONE ? function : named;
}

/* The frame above a node; the root has none. */
static uint32_t frame_above(const struct weft_cause_tree *tree, uint32_t node)
{
    const uint32_t parent = tree->parent[node];
    return parent == 0 ? WEFT_ID_NONE : tree->frame[parent];
}

bool weft_cause_tree_is_like(const struct weft_cause_tree *tree, uint32_t node, uint32_t anchor)
{
    for (; node != 0; node = tree->parent[node])
        if (tree->frame[node] == tree->frame[anchor] &&
            frame_above(tree, node) == frame_above(tree, anchor))
            return true;
    return false;
}
