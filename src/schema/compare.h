/* SPDX-License-Identifier: MIT
 *
 * What differs between two groups of executions (docs/analyses/compare.md). Node ids are those of
 * the matrix compared (schema/ecct.h).
 */
#ifndef WEFT_SCHEMA_COMPARE_H
#define WEFT_SCHEMA_COMPARE_H

#include "schema/ecct.h"
#include "schema/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs of each group, for runs to be compared. */
enum { WEFT_RUNS_MIN = 3 };

/* Executions of a group, below which it is not trusted: what is rare may be missing from it. */
enum { WEFT_TRUSTED_EXECUTIONS = 10 };

/* So many nodes, of those ranked first, have intervals of the bootstrap too. */
enum { WEFT_COMPARE_BOOTSTRAP = 64 };

enum { WEFT_CAUSES_TESTED = 64 };

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
    double t, df, p;                  /* Welch, of executions or of runs; p raw */
    double p_adjusted;                /* Benjamini-Hochberg, over all nodes that were tested */
    double effect;                    /* Hedges' g */
    bool is_sure; /* p_adjusted < 0.05, with the variance of both groups together too; at least 10
                   * in each group; interval without 0 */
};

struct weft_compare_metric {
    uint32_t metric; /* place in the matrix */
    double mean_a, mean_b, sd_a, sd_b;
    double p50_a, p50_b, p99_a, p99_b;
    double difference, low, high, t, df, p, effect;
    double p_adjusted; /* of the duration p; of the others Benjamini-Hochberg, over these */
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
    double explained;  /* share of what the items last longer that lies in what is named, wherever
                        * that occurs; 0 to 1; 1 if nothing is named */
    double p;          /* that group B has more, by chance, of all nodes that are called the same;
                        * Bonferroni's over the causes; 1 beyond the first WEFT_CAUSES_TESTED */
};

/* Where most of the difference lies, apart from what other programs took: a node and all below. */
struct weft_compare_focus {
    uint32_t context;            /* the deepest that has half of it; the root if it is spread */
    uint32_t node;               /* what has most of it there; WEFT_ID_NONE: not looked for */
    double node_ns;              /* exclusive difference of that */
    double mean_a_ns, mean_b_ns; /* of the context with all below */
    double difference_ns;        /* of these */
    struct weft_interval_ns interval; /* Welch's */
    double p;                         /* Bonferroni's over all nodes */
    bool is_sure; /* p < 0.05, or the node is sure; at least 10 in each group, interval without 0 */
};

struct weft_compare_table {
    struct weft_arena *arena;
    uint32_t *items_a, *items_b; /* ascending places in the matrix */
    size_t n_a, n_b, n_neither, n_both;
    uint64_t n_runs_a, n_runs_b; /* runs (sources) that the groups are of */
    bool runs_are_apart;         /* no run has executions of both */
    bool is_by_runs; /* and there are enough: intervals, t, df, p are of runs, not of executions */
    bool is_small;   /* a group has fewer than WEFT_TRUSTED_EXECUTIONS: no node is sure */
    struct weft_compare_node *nodes; /* by node, those with a value in A or B, or below them */
    size_t n_nodes;
    uint32_t *ranked; /* places in nodes: largest |exclusive difference| first, sure ones before */
    size_t n_ranked;
    struct weft_compare_metric *metrics; /* in the matrix's order */
    size_t n_metrics;
    struct weft_compare_focus focus; /* if intervals are those of the bootstrap, of executions */
    struct weft_compare_cause
        *causes; /* most items first; the largest difference first of equals */
    size_t n_causes;
    uint32_t *cause_of; /* of items_b: place in causes; in an excerpt WEFT_ID_NONE: none of them */
    uint64_t seed;      /* of the bootstrap: fixed, so that the answer is */
};

/* Executions that last longer than the others by more than chance spreads them
 * (docs/analyses/diagnose.md). */
struct weft_slow_tail {
    bool is_found;  /* the slow ones are a hump of their own */
    bool is_worthy; /* they cost enough to be looked at, even if durations do not part them */
    bool is_alone;  /* one to four, far from all others: too few to be compared, each for itself */
    uint64_t n_fast, n_slow;
    uint64_t fast_max_ns, slow_min_ns; /* no duration lies between */
    double fast_median_ns, slow_median_ns;
    double separation; /* of a cut between humps: the share of the variance of log durations that
                        * lies between both */
    double p; /* of a cut in the tail: how likely such a tail is by chance, over all places */
    double excess_share; /* of all time: what the slow ones last longer than the fast median */
};

/* How often the values of a metric lie in each of n_bins bins of equal width, from low to high, or
 * of equal ratio; the same bins for all three. */
struct weft_metric_histogram {
    double low, high; /* of all executions; is_log: of those above 0 */
    bool is_log;
    size_t n_bins;
    uint32_t *all, *a, *b;                /* by bin; the last one has `high` too */
    uint32_t below_all, below_a, below_b; /* is_log: values that are not above 0 */
};

/* Where bin `bin` begins; bin n_bins is where the last one ends. */
double weft_metric_histogram_edge(const struct weft_metric_histogram *histogram, size_t bin);

/* Between which a gate compares. */
enum weft_gate_units {
    WEFT_GATE_RUNS,       /* each run (source) gives one number: those of A against those of B */
    WEFT_GATE_PAIRS,      /* all runs have executions of both: the change within each */
    WEFT_GATE_EXECUTIONS, /* one run has both: its executions */
};

/* Whether B is worse than A by more than is allowed. */
struct weft_gate_result {
    enum weft_gate_units units;
    bool is_decided;          /* there were enough runs */
    bool is_worse;            /* the change exceeds what is allowed, and the interval is above 0 */
    uint64_t n_a, n_b;        /* runs, or executions */
    uint64_t n_needed;        /* on each side, to decide */
    double value_a, value_b;  /* of the statistic: mean of the runs' */
    bool is_relative;         /* change, low, high, allowed: 0.05 is 5 % of value_a */
    double change, low, high; /* 95 %; infinite if there is none */
    double allowed;
};

#endif
