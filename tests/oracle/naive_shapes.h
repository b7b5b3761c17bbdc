/* SPDX-License-Identifier: MIT
 *
 * Shapes a second time: the listings of the paper (Muthukuda, "Shapes") as they stand, on trees
 * with pointers, by recursion, remembering nothing. What was mended: distances are in half units,
 * the second inner minimum of Listing 5.4 is over the other set, and a shape joins the first
 * cluster that takes it (Listing A.1 lacks a `break`).
 */
#ifndef WEFT_TESTS_NAIVE_SHAPES_H
#define WEFT_TESTS_NAIVE_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything is taken from a memory and freed with it. A zeroed one is empty. */
struct naive_memory {
    struct naive_piece *pieces;
};

void *naive_take(struct naive_memory *memory, size_t n_bytes); /* zeroed */
void naive_free(struct naive_memory *memory);

/* Listing 5.1. A function of -1 stands in matching instance pairs for null (Definition 7.4). */
struct naive_instance {
    int64_t function;
    struct naive_instance **children;
    size_t n_children;
};

/* Listing 5.2. The null shape is NULL; it is the first of every shape's children, which are a set.
 */
struct naive_shape {
    int64_t function;
    const struct naive_shape **children;
    size_t n_children;
};

unsigned naive_depth(const struct naive_shape *shape);
bool naive_equal(const struct naive_shape *a, const struct naive_shape *b);
bool naive_contains(const struct naive_shape *shape, const struct naive_shape *child);

/* Whether `shape` is somewhere below `above`. */
bool naive_is_below(const struct naive_shape *shape, const struct naive_shape *above);

/* A shape of `function` without children but null, and a child more if it has not got it yet. */
struct naive_shape *naive_shape_new(struct naive_memory *memory, int64_t function);
void naive_child_add(struct naive_memory *memory, struct naive_shape *shape,
                     const struct naive_shape *child);

/* Listing 5.3, and Definition 7.4: an instance of function -1 reduces to null. */
const struct naive_shape *naive_shape_of(struct naive_memory *memory,
                                         const struct naive_instance *instance);

/* Listing 5.4, in half units. */
uint32_t naive_function_distance(int64_t f, int64_t g);
uint32_t naive_distance(const struct naive_shape *a, const struct naive_shape *b);

/* Definition 7.2, in half units; the instances match. */
uint32_t naive_stack_difference(const struct naive_instance *k, const struct naive_instance *l);

/* Shapes, each once. */
struct naive_list {
    const struct naive_shape **at;
    size_t n, n_max;
};

/* Index of a shape, or SIZE_MAX. */
size_t naive_find(const struct naive_list *list, const struct naive_shape *shape);
void naive_put(struct naive_memory *memory, struct naive_list *list,
               const struct naive_shape *shape);

/* The same with everything below it, null apart. */
void naive_put_all(struct naive_memory *memory, struct naive_list *list,
                   const struct naive_shape *shape);

/* Puts them in canonical order: depth, function name, function, then the children's places in this
 * order, ascending, compared as words are in a dictionary. The list holds the children too. `names`
 * by function; NULL: all alike. */
void naive_sort(struct naive_memory *memory, struct naive_list *list, const char *const *names);

/* Listing A.1. Shapes are indices into a list. */
struct naive_cluster {
    size_t *shapes;
    size_t n_shapes;
    unsigned depth; /* of the deepest */
};

struct naive_clusters {
    struct naive_cluster *at;
    size_t n;
};

/* createClusters. The list is in order of depth. */
struct naive_clusters naive_clusters(struct naive_memory *memory, const struct naive_list *list,
                                     uint32_t threshold_halves);

/* Whether a shape of one is below a shape of the other. */
bool naive_are_kin(const struct naive_list *list, const struct naive_cluster *a,
                   const struct naive_cluster *b);

struct naive_ribbon {
    size_t *clusters; /* ascending */
    size_t n_clusters;
    unsigned depth;
    size_t created;
};

struct naive_ribbons {
    struct naive_ribbon *at; /* shallowest first, by creation if equal */
    size_t n;
};

/* createClusterGroups, of the clusters for which is_in says so. */
struct naive_ribbons naive_ribbons(struct naive_memory *memory, const struct naive_list *list,
                                   const struct naive_clusters *clusters, const bool *is_in);

#endif
