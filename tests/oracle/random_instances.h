/* SPDX-License-Identifier: MIT
 *
 * Random calls whose shapes are akin, and what the metric and the clusters read of shapes.
 */
#ifndef WEFT_TESTS_RANDOM_INSTANCES_H
#define WEFT_TESTS_RANDOM_INSTANCES_H

#include "analysis/shapes/set.h"
#include "naive_shapes.h"
#include "random_trace.h"

struct random_tree {
    unsigned n_functions, max_depth, max_children;
};

/* Temper of the trees of one test: few functions, so that they are alike. */
struct random_tree random_tree(struct random_source *random, unsigned max_depth);

struct naive_instance *random_instance(struct naive_memory *memory, struct random_source *random,
                                       const struct random_tree *tree);

/* A copy of which one descendant or the root itself is exchanged: *was for *is. */
struct naive_instance *random_exchange(struct naive_memory *memory, struct random_source *random,
                                       const struct random_tree *tree,
                                       const struct naive_instance *instance,
                                       const struct naive_instance **was,
                                       const struct naive_instance **is);

/* A copy whose calls have their children repeated and shuffled, all but the root. */
struct naive_instance *random_repeat(struct naive_memory *memory, struct random_source *random,
                                     const struct naive_instance *instance);

/* Shapes of a few trees that are variants of each other, with all below them, in canonical order.
 */
struct naive_list random_shapes(struct naive_memory *memory, struct random_source *random,
                                unsigned n_trees, unsigned max_depth);

/* The list as columns: the shape of id i is list->at[i]. Every child is in the list, before its
 * parents. */
struct weft_shape_set shape_set_of(struct naive_memory *memory, const struct naive_list *list);

#endif
