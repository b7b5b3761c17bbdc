/* SPDX-License-Identifier: MIT
 *
 * A generic tree of executions (docs/analyses/ecct.md): the union of many trees, one node for each
 * path of frames from the root, numbered in the order in which they were added.
 */
#ifndef WEFT_ANALYSIS_ECCT_TREE_H
#define WEFT_ANALYSIS_ECCT_TREE_H

#include "base/error.h"
#include "schema/ecct.h"

struct weft_ecct_tree;

/* Has its root, node 0. NULL without memory. */
struct weft_ecct_tree *weft_ecct_tree_new(void);
/* NULL is allowed. */
void weft_ecct_tree_free(struct weft_ecct_tree *tree);

/* Frames of one name and kind are one frame: its module is that of the first one, so that builds of
 * other paths can be compared; threads are distinguished by their modules also. Expected O(bytes).
 * WEFT_E_NOMEM, WEFT_E_LIMIT. */
WEFT_CHECKED enum weft_code weft_ecct_tree_frame(struct weft_ecct_tree *tree, struct weft_str name,
                                                 struct weft_str module, enum weft_frame_kind kind,
                                                 uint32_t *frame, struct weft_err *err);

/* The same with what its state is, if it is one. */
WEFT_CHECKED enum weft_code weft_ecct_tree_add(struct weft_ecct_tree *tree,
                                               const struct weft_frame *frame, uint32_t *id,
                                               struct weft_err *err);

/* The child of `parent` with that frame; its confidence becomes the lesser one. Expected O(1). */
WEFT_CHECKED enum weft_code weft_ecct_tree_node(struct weft_ecct_tree *tree, uint32_t parent,
                                                uint32_t frame, enum weft_confidence confidence,
                                                uint32_t *node, struct weft_err *err);

/* All nodes are exact again: only what is added from now on lowers their confidence. O(n). */
void weft_ecct_tree_trust(struct weft_ecct_tree *tree);

/* The order of two nodes by the names of their frames from the root on, whatever they are numbered:
 * those above come first. O(depth). */
int weft_ecct_tree_compare(const struct weft_ecct_tree *tree, uint32_t a, uint32_t b);

size_t weft_ecct_tree_n_frames(const struct weft_ecct_tree *tree);
size_t weft_ecct_tree_n_nodes(const struct weft_ecct_tree *tree);

/* Names live as the tree; the structs until something is added. */
const struct weft_frame *weft_ecct_tree_frames(const struct weft_ecct_tree *tree);
const struct weft_ecct_node *weft_ecct_tree_nodes(const struct weft_ecct_tree *tree);

#endif
