/* SPDX-License-Identifier: MIT */
#include "random_instances.h"

#include <stdlib.h>

struct random_tree random_tree(struct random_source *random, unsigned max_depth)
{
    return (struct random_tree){
        .n_functions = 1 + (unsigned)random_below(random, 5),
        .max_depth = 1 + (unsigned)random_below(random, max_depth),
        .max_children = 1 + (unsigned)random_below(random, 4),
    };
}

static struct naive_instance *instance_new(struct naive_memory *memory, int64_t function,
                                           size_t max_children)
{
    struct naive_instance *instance = naive_take(memory, sizeof *instance);
    instance->function = function;
    instance->children = naive_take(memory, max_children * sizeof(void *));
    return instance;
}

struct naive_instance *random_instance(struct naive_memory *memory, struct random_source *random,
                                       const struct random_tree *tree)
{
    struct naive_instance *instance =
        instance_new(memory, (int64_t)random_below(random, tree->n_functions), tree->max_children);
    if (tree->max_depth == 1)
        return instance;
    struct random_tree below = *tree;
    below.max_depth--;
    size_t n_children = random_below(random, tree->max_children + 1);
    while (instance->n_children < n_children)
        instance->children[instance->n_children++] = random_instance(memory, random, &below);
    return instance;
}

static size_t count_calls(const struct naive_instance *instance)
{
    size_t n = 1;
    for (size_t i = 0; i < instance->n_children; i++)
        n += count_calls(instance->children[i]);
    return n;
}

/* A copy in which the call that is number `at` in pre-order is `other`. */
static struct naive_instance *exchange(struct naive_memory *memory,
                                       const struct naive_instance *instance, size_t at,
                                       struct naive_instance *other,
                                       const struct naive_instance **was)
{
    if (at == 0) {
        *was = instance;
        return other;
    }
    struct naive_instance *copy = instance_new(memory, instance->function, instance->n_children);
    *copy = (struct naive_instance){ .function = copy->function,
                                     .children = copy->children,
                                     .n_children = instance->n_children };
    at--;
    for (size_t i = 0; i < instance->n_children; i++) {
        size_t n = count_calls(instance->children[i]);
        copy->children[i] = at < n ? exchange(memory, instance->children[i], at, other, was)
                                   : instance->children[i];
        at = at < n ? SIZE_MAX : at == SIZE_MAX ? at : at - n;
    }
    return copy;
}

struct naive_instance *random_exchange(struct naive_memory *memory, struct random_source *random,
                                       const struct random_tree *tree,
                                       const struct naive_instance *instance,
                                       const struct naive_instance **was,
                                       const struct naive_instance **is)
{
    struct random_tree small = *tree;
    small.max_depth = 1 + (unsigned)random_below(random, tree->max_depth);
    struct naive_instance *other = random_instance(memory, random, &small);
    *is = other;
    return exchange(memory, instance, random_below(random, count_calls(instance)), other, was);
}

struct naive_instance *random_repeat(struct naive_memory *memory, struct random_source *random,
                                     const struct naive_instance *instance)
{
    struct naive_instance *copy =
        instance_new(memory, instance->function, 3 * instance->n_children);
    for (size_t i = 0; i < instance->n_children; i++)
        for (size_t n = 1 + random_below(random, 3); n > 0; n--) {
            size_t at = random_below(random, copy->n_children + 1);
            copy->children[copy->n_children++] = copy->children[at];
            copy->children[at] = random_repeat(memory, random, instance->children[i]);
        }
    return copy;
}

struct naive_list random_shapes(struct naive_memory *memory, struct random_source *random,
                                unsigned n_trees, unsigned max_depth)
{
    struct random_tree tree = random_tree(random, max_depth);
    struct naive_list list = { 0 };
    const struct naive_instance *instance = random_instance(memory, random, &tree), *was, *is;
    for (unsigned i = 0; i < n_trees; i++) {
        naive_put_all(memory, &list, naive_shape_of(memory, instance));
        instance = random_below(random, 3) == 0
                       ? random_instance(memory, random, &tree)
                       : random_exchange(memory, random, &tree, instance, &was, &is);
    }
    naive_sort(memory, &list, NULL);
    return list;
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

struct weft_shape_set shape_set_of(struct naive_memory *memory, const struct naive_list *list)
{
    size_t n_children = 0;
    for (size_t i = 0; i < list->n; i++)
        n_children += list->at[i]->n_children - 1;
    uint32_t *function_id = naive_take(memory, list->n * sizeof *function_id);
    uint32_t *depth = naive_take(memory, list->n * sizeof *depth);
    uint32_t *first_child = naive_take(memory, (list->n + 1) * sizeof *first_child);
    uint32_t *child = naive_take(memory, n_children * sizeof *child), n = 0;
    for (size_t i = 0; i < list->n; i++) {
        function_id[i] = (uint32_t)list->at[i]->function;
        depth[i] = naive_depth(list->at[i]);
        first_child[i] = n;
        for (size_t j = 1; j < list->at[i]->n_children; j++) /* 0 is null */
            child[n++] = (uint32_t)naive_find(list, list->at[i]->children[j]);
        qsort(child + first_child[i], n - first_child[i], sizeof *child, by_id);
    }
    first_child[list->n] = n;
    return (struct weft_shape_set){ .n_shapes = list->n,
                                    .function_id = function_id,
                                    .depth = depth,
                                    .first_child = first_child,
                                    .child = child };
}
