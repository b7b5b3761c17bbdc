/* SPDX-License-Identifier: MIT
 *
 * What differs between two groups of executions (docs/analyses/compare.md). Node ids are those of
 * the matrix compared (schema/ecct.h).
 */
#ifndef WEFT_SCHEMA_COMPARE_H
#define WEFT_SCHEMA_COMPARE_H

#include "base/arena.h"
#include "schema/ecct.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft_interval_ns {
    double low_ns, high_ns; /* 95 % */
};

/* A node; absent values are 0. Differences are B - A. */
struct weft_compare_node {
    uint32_t node;
    uint32_t n_a, n_b;                /* executions that have it */
    double mean_a_ns, mean_b_ns;      /* exclusive */
    double sd_a_ns, sd_b_ns;          /* exclusive; of the sample (n - 1) */
    double total_a_ns, total_b_ns;    /* inclusive means */
    double difference_ns;             /* exclusive */
    struct weft_interval_ns interval; /* of the difference: Welch's, and for the first ranked ones
                                       * at least that of the bootstrap */
    double t, df, p;                  /* Welch; p raw */
    double p_adjusted;                /* Benjamini-Hochberg, over all nodes that were tested */
    double effect;                    /* Hedges' g */
    bool is_sure; /* p_adjusted < 0.05, with the variance of both groups together too; at least 10
                   * in each group; interval without 0 */
};

struct weft_compare_metric {
    uint32_t metric; /* place in the matrix */
    double mean_a, mean_b, sd_a, sd_b;
    double p50_a, p50_b, p99_a, p99_b;
    double difference, low, high, t, df, p, p_adjusted, effect;
};

/* Executions of B that are slow for one reason (CP-67, TC 4.4). */
struct weft_compare_cause {
    uint32_t node; /* the largest exclusive difference to A's mean; WEFT_ID_NONE: none stands out */
    uint32_t n_items;
    double difference_ns; /* of that node, mean over the items */
    double duration_ns;   /* mean */
    uint32_t example;     /* the item next to the mean */
    uint32_t context; /* the deepest node below which at least half of what is slower lies; the root
                       * if that is spread */
    double context_ns; /* inclusive difference of that node, mean over the items */
};

struct weft_compare_table {
    struct weft_arena *arena;
    uint32_t *items_a, *items_b; /* ascending places in the matrix */
    size_t n_a, n_b, n_neither, n_both;
    struct weft_compare_node *nodes; /* by node, those with a value in A or B, or below them */
    size_t n_nodes;
    uint32_t *ranked; /* places in nodes: largest |exclusive difference| first, sure ones before */
    size_t n_ranked;
    struct weft_compare_metric *metrics; /* in the matrix's order */
    size_t n_metrics;
    struct weft_compare_cause
        *causes; /* most items first; the largest difference first of equals */
    size_t n_causes;
    uint32_t *cause_of; /* of items_b: place in causes */
    uint64_t seed;      /* of the bootstrap: fixed, so that the answer is */
};

/* NULL is allowed. */
void weft_compare_table_free(struct weft_compare_table *table);

#endif
