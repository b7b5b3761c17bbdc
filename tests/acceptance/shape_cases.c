/* SPDX-License-Identifier: MIT
 *
 * Distances, clusters and ribbons of shapes that are given as numbers, by the program's own code
 * and by the paper's listings (naive_shapes.c). Reads
 *
 *     n_shapes threshold_halves
 *     function n_children child ...      each shape, in ascending order of depth; ids from 0
 *
 * and prints, once after "fast" and once after "naive": "distance" with the lower triangle of the
 * distances in half units, null first and then the shapes; "cluster" with the cluster of each
 * shape; "ribbon" with the ribbon of each cluster, 0 on top.
 */
#include "analysis/shapes/clusters.h"
#include "analysis/shapes/metric.h"
#include "naive_shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct input {
    struct naive_memory memory;
    struct naive_list list;
    struct weft_shape_set set;
    uint32_t threshold_halves;
};

static uint32_t read_number(void)
{
    char word[16];
    if (scanf("%15s", word) != 1)
        abort();
    return (uint32_t)strtoul(word, NULL, 10);
}

static void read_input(struct input *input)
{
    const uint32_t n = read_number();
    input->threshold_halves = read_number();
    uint32_t *function_id = naive_take(&input->memory, n * sizeof *function_id);
    uint32_t *depth = naive_take(&input->memory, n * sizeof *depth);
    uint32_t *first = naive_take(&input->memory, (n + 1) * sizeof *first);
    uint32_t *child = naive_take(&input->memory, (size_t)n * n * sizeof *child), n_child = 0;
    for (uint32_t i = 0; i < n; i++) {
        function_id[i] = read_number();
        struct naive_shape *shape = naive_shape_new(&input->memory, function_id[i]);
        first[i] = n_child;
        for (uint32_t left = read_number(); left > 0; left--) {
            child[n_child++] = read_number();
            naive_child_add(&input->memory, shape, input->list.at[child[n_child - 1]]);
        }
        naive_put(&input->memory, &input->list, shape);
        depth[i] = naive_depth(shape);
    }
    first[n] = n_child;
    input->set = (struct weft_shape_set){ .n_shapes = n,
                                          .function_id = function_id,
                                          .depth = depth,
                                          .first_child = first,
                                          .child = child };
}

static void print_naive(struct input *input)
{
    struct naive_list *list = &input->list;
    printf("naive\ndistance");
    for (size_t i = 0; i < list->n; i++) {
        printf(" %" PRIu32, naive_distance(list->at[i], NULL));
        for (size_t j = 0; j < i; j++)
            printf(" %" PRIu32, naive_distance(list->at[i], list->at[j]));
    }
    struct naive_clusters clusters = naive_clusters(&input->memory, list, input->threshold_halves);
    printf("\ncluster");
    for (size_t i = 0; i < list->n; i++)
        for (size_t c = 0; c < clusters.n; c++)
            for (size_t j = 0; j < clusters.at[c].n_shapes; j++)
                if (clusters.at[c].shapes[j] == i)
                    printf(" %zu", c);
    bool *is_in = naive_take(&input->memory, clusters.n);
    for (size_t c = 0; c < clusters.n; c++)
        is_in[c] = true;
    struct naive_ribbons ribbons = naive_ribbons(&input->memory, list, &clusters, is_in);
    printf("\nribbon");
    for (size_t c = 0; c < clusters.n; c++)
        for (size_t r = 0; r < ribbons.n; r++)
            for (size_t j = 0; j < ribbons.at[r].n_clusters; j++)
                if (ribbons.at[r].clusters[j] == c)
                    printf(" %zu", r);
    printf("\n");
}

static void print_distances(const struct input *input)
{
    struct weft_shape_metric *metric = weft_shape_metric_new(&input->set);
    if (!metric)
        abort();
    printf("fast\ndistance");
    for (uint32_t i = 0; i < input->set.n_shapes; i++) {
        printf(" %" PRIu32, weft_shape_distance(metric, i, WEFT_SHAPE_NULL, UINT32_MAX - 1));
        for (uint32_t j = 0; j < i; j++)
            printf(" %" PRIu32, weft_shape_distance(metric, i, j, UINT32_MAX - 1));
    }
    weft_shape_metric_free(metric);
}

static void print_clusters(struct input *input)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_pool *pool = weft_pool_new(2);
    const struct weft_run run = { .pool = pool };
    const struct weft_clusters_opts opts = { .threshold_halves = input->threshold_halves };
    struct weft_clusters clusters;
    struct weft_cluster_relations *relations;
    uint32_t *ribbon_of, n_ribbons;
    if (weft_clusters_build(&input->set, &opts, &run, arena, &clusters, NULL) ||
        weft_cluster_relations_build(&input->set, &clusters, &relations, NULL))
        abort();
    printf("\ncluster");
    for (size_t i = 0; i < input->set.n_shapes; i++)
        printf(" %" PRIu32, clusters.cluster_of[i]);
    uint32_t *ids = naive_take(&input->memory, clusters.n_clusters * sizeof *ids);
    for (uint32_t c = 0; c < clusters.n_clusters; c++)
        ids[c] = c;
    if (weft_ribbons_build(relations, ids, clusters.n_clusters, arena, &ribbon_of, &n_ribbons,
                           NULL))
        abort();
    printf("\nribbon");
    for (size_t c = 0; c < clusters.n_clusters; c++)
        printf(" %" PRIu32, ribbon_of[c]);
    printf("\n");
    weft_cluster_relations_free(relations);
    weft_pool_free(pool);
    weft_arena_free(arena);
}

int main(void)
{
    struct input input = { 0 };
    read_input(&input);
    print_distances(&input);
    print_clusters(&input);
    print_naive(&input);
    naive_free(&input.memory);
    return 0;
}
