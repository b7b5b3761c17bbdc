/* SPDX-License-Identifier: MIT
 *
 * RegTime as the published tool computes it, to compare with its recorded results. It differs from
 * the product's rules (docs/analyses/regtime.md): thresholds are reached by >=; a gap is tested
 * only between calls at the depth where the expression began; the span is tested before the next
 * call is added, so an expression overshoots it; every run is an expression, however short; and
 * negligible functions are removed, their callees moving up.
 */
#ifndef WEFT_TESTS_REGTIME_COMPAT_H
#define WEFT_TESTS_REGTIME_COMPAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct compat_call {
    uint64_t start_ns, end_ns;
    uint32_t function_id, depth;
};

struct compat_thresholds {
    double duration, gap, span, negligible_percent;
};

/* The tool's list: a call without callees is one entry, any other is two. */
enum compat_kind { COMPAT_CALL, COMPAT_ENTER, COMPAT_EXIT };

struct compat_entry {
    enum compat_kind kind;
    uint32_t function_id, depth;
    uint64_t start_ns, end_ns, duration_ns;
};

struct compat_node {
    uint32_t function_id, depth;
    size_t parent; /* node of the thread, or SIZE_MAX */
    uint64_t sum_ns, calls;
    bool has_callee;
};

struct compat_segment {
    bool is_compressed;
    struct compat_entry entry; /* left alone */
    uint64_t start_ns, end_ns, calls;
    uint32_t depth;
    bool is_plain_call;
    size_t first_node, n_nodes; /* in pre-order */
};

struct compat_result {
    struct compat_segment *segments;
    size_t n_segments;
    struct compat_node *nodes;
    size_t n_nodes;
    bool *is_dropped; /* by function */
    uint64_t calls_kept, events_before, events_after, calls_after;
    uint64_t n_functions, max_depth, start_ns, end_ns;
    uint64_t n_expressions, n_plain, n_uncompressed_calls;
};

/* False if nothing is left to compress. Free the result with compat_free in any case. */
bool compat_run(const struct compat_call *calls, size_t n_calls, uint32_t n_functions,
                const struct compat_thresholds *thresholds, struct compat_result *result);
void compat_free(struct compat_result *result);

#endif
