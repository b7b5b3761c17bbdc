/* SPDX-License-Identifier: MIT */
#include "regtime_compat.h"

#include <stdlib.h>
#include <string.h>

static uint64_t duration(const struct compat_call *call)
{
    return call->end_ns - call->start_ns;
}

static uint64_t whole(const struct compat_call *calls, size_t n)
{
    uint64_t end_ns = 0;
    for (size_t i = 0; i < n; i++)
        end_ns = calls[i].end_ns > end_ns ? calls[i].end_ns : end_ns;
    return n ? end_ns - calls[0].start_ns : 0;
}

static void find_dropped(const struct compat_call *calls, size_t n, uint32_t n_functions,
                         double percent, bool *is_dropped)
{
    uint64_t *sums = calloc((size_t)n_functions + 1, sizeof *sums);
    bool *occurs = calloc((size_t)n_functions + 1, sizeof *occurs);
    double whole_ns = (double)whole(calls, n);
    for (size_t i = 0; i < n; i++) {
        sums[calls[i].function_id] += duration(&calls[i]);
        occurs[calls[i].function_id] = true;
    }
    for (uint32_t id = 0; id < n_functions; id++)
        is_dropped[id] = occurs[id] && (double)sums[id] / whole_ns * 100 <= percent;
    free(sums);
    free(occurs);
}

/* Calls that are kept, at their new depths. */
static size_t keep(const struct compat_call *calls, size_t n, const bool *is_dropped,
                   struct compat_call *kept)
{
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_dropped[calls[i].function_id])
            continue;
        uint32_t depth = calls[i].depth, n_callers_dropped = 0;
        for (size_t j = i; j-- > 0 && depth > 0;)
            if (calls[j].depth == depth - 1) {
                n_callers_dropped += is_dropped[calls[j].function_id];
                depth--;
            }
        kept[n_kept] = calls[i];
        kept[n_kept++].depth -= n_callers_dropped;
    }
    return n_kept;
}

static struct compat_entry entry_of(const struct compat_call *call, enum compat_kind kind)
{
    struct compat_entry entry = {
        .kind = kind,
        .function_id = call->function_id,
        .depth = call->depth,
        .start_ns = kind == COMPAT_EXIT ? call->end_ns : call->start_ns,
        .end_ns = kind == COMPAT_ENTER ? call->start_ns : call->end_ns,
        .duration_ns = duration(call),
    };
    return entry;
}

static size_t list_entries(const struct compat_call *calls, size_t n, struct compat_entry *entries)
{
    size_t n_entries = 0, n_open = 0;
    const struct compat_call **open = calloc(n + 1, sizeof(struct compat_call *));
    for (size_t i = 0; i <= n; i++) {
        while (n_open && (i == n || calls[i].depth < n_open))
            entries[n_entries++] = entry_of(open[--n_open], COMPAT_EXIT);
        if (i == n)
            break;
        bool has_callee = i + 1 < n && calls[i + 1].depth > calls[i].depth;
        entries[n_entries++] = entry_of(&calls[i], has_callee ? COMPAT_ENTER : COMPAT_CALL);
        if (has_callee)
            open[n_open++] = &calls[i];
    }
    free(open);
    return n_entries;
}

/* One after the last entry of the expression that begins at `first`. */
static size_t find_end(const struct compat_entry *entries, size_t n, size_t first,
                       const struct compat_thresholds *thresholds, double whole_ns)
{
    uint32_t depth = entries[first].depth;
    uint64_t last_ns = entries[first].end_ns;
    for (size_t i = first + 1; i < n; i++) {
        const struct compat_entry *entry = &entries[i];
        bool is_next = entry->depth == depth && entry->kind != COMPAT_EXIT;
        double gap_ns = (double)entry->start_ns - (double)last_ns;
        double span_ns = (double)(entries[i - 1].end_ns - entries[first].start_ns);
        if ((double)entry->duration_ns >= thresholds->duration * whole_ns ||
            (is_next && gap_ns >= thresholds->gap * whole_ns) ||
            (is_next && span_ns >= thresholds->span * whole_ns))
            return i;
        last_ns = entry->depth == depth ? entry->end_ns : last_ns;
    }
    return n;
}

/* The merged stacks of entries first..end-1, by first occurrence; then made pre-order. */
static size_t merge(const struct compat_entry *entries, size_t first, size_t end,
                    struct compat_node *nodes, uint64_t *calls)
{
    size_t n = 0, at = SIZE_MAX;
    for (size_t i = first; i < end; i++) {
        const struct compat_entry *entry = &entries[i];
        if (entry->kind == COMPAT_EXIT) {
            at = nodes[at].parent;
            continue;
        }
        size_t found = 0;
        while (found < n &&
               (nodes[found].parent != at || nodes[found].function_id != entry->function_id))
            found++;
        if (found == n)
            nodes[n++] = (struct compat_node){ .function_id = entry->function_id,
                                               .depth = entry->depth,
                                               .parent = at };
        if (at != SIZE_MAX)
            nodes[at].has_callee = true;
        nodes[found].sum_ns += entry->duration_ns;
        nodes[found].calls++;
        (*calls)++;
        at = entry->kind == COMPAT_ENTER ? found : at;
    }
    return n;
}

static size_t put_in_order(const struct compat_node *nodes, size_t n, size_t parent,
                           size_t new_parent, struct compat_node *out, size_t n_out)
{
    for (size_t i = 0; i < n; i++) {
        if (nodes[i].parent != parent)
            continue;
        size_t at = n_out++;
        out[at] = nodes[i];
        out[at].parent = new_parent;
        n_out = put_in_order(nodes, n, i, at, out, n_out);
    }
    return n_out;
}

static void add_expression(const struct compat_entry *entries, size_t first, size_t end,
                           struct compat_node *scratch, struct compat_result *result)
{
    struct compat_segment *segment = &result->segments[result->n_segments++];
    *segment = (struct compat_segment){
        .is_compressed = true,
        .start_ns = entries[first].start_ns,
        .end_ns = entries[end - 1].end_ns,
        .depth = entries[first].depth,
        .is_plain_call = end == first + 1 && entries[first].kind == COMPAT_CALL,
        .first_node = result->n_nodes,
    };
    size_t n = merge(entries, first, end, scratch, &segment->calls);
    result->n_nodes = put_in_order(scratch, n, SIZE_MAX, SIZE_MAX, result->nodes, result->n_nodes);
    segment->n_nodes = result->n_nodes - segment->first_node;
    result->n_expressions++;
    result->n_plain += segment->is_plain_call;
    result->calls_after += segment->n_nodes;
    for (size_t i = segment->first_node; i < result->n_nodes; i++)
        result->events_after += result->nodes[i].has_callee ? 2 : 1;
}

static void compress(const struct compat_entry *entries, size_t n,
                     const struct compat_thresholds *thresholds, struct compat_result *result)
{
    double whole_ns = (double)(result->end_ns - result->start_ns);
    struct compat_node *scratch = calloc(n + 1, sizeof *scratch);
    for (size_t i = 0; i < n;) {
        if ((double)entries[i].duration_ns >= thresholds->duration * whole_ns) {
            struct compat_segment *segment = &result->segments[result->n_segments++];
            *segment = (struct compat_segment){ .entry = entries[i] };
            result->events_after++;
            result->calls_after += entries[i].kind != COMPAT_EXIT;
            result->n_uncompressed_calls += entries[i].kind != COMPAT_EXIT;
            i++;
            continue;
        }
        size_t end = find_end(entries, n, i, thresholds, whole_ns);
        add_expression(entries, i, end, scratch, result);
        i = end;
    }
    free(scratch);
}

static void count_calls(const struct compat_call *calls, size_t n, uint32_t n_functions,
                        struct compat_result *result)
{
    bool *occurs = calloc((size_t)n_functions + 1, sizeof *occurs);
    result->calls_kept = n;
    result->start_ns = calls[0].start_ns;
    result->end_ns = calls[0].start_ns + whole(calls, n);
    for (size_t i = 0; i < n; i++) {
        result->n_functions += !occurs[calls[i].function_id];
        occurs[calls[i].function_id] = true;
        result->max_depth = calls[i].depth > result->max_depth ? calls[i].depth : result->max_depth;
    }
    free(occurs);
}

bool compat_run(const struct compat_call *calls, size_t n_calls, uint32_t n_functions,
                const struct compat_thresholds *thresholds, struct compat_result *result)
{
    *result = (struct compat_result){ 0 };
    struct compat_call *kept = calloc(n_calls + 1, sizeof *kept);
    struct compat_entry *entries = calloc(2 * n_calls + 1, sizeof *entries);
    result->is_dropped = calloc((size_t)n_functions + 1, sizeof *result->is_dropped);
    result->segments = calloc(2 * n_calls + 1, sizeof *result->segments);
    result->nodes = calloc(2 * n_calls + 1, sizeof *result->nodes);
    find_dropped(calls, n_calls, n_functions, thresholds->negligible_percent, result->is_dropped);
    size_t n_kept = keep(calls, n_calls, result->is_dropped, kept);
    if (n_kept) {
        count_calls(kept, n_kept, n_functions, result);
        result->events_before = list_entries(kept, n_kept, entries);
        compress(entries, (size_t)result->events_before, thresholds, result);
    }
    free(kept);
    free(entries);
    return n_kept > 0;
}

void compat_free(struct compat_result *result)
{
    free(result->segments);
    free(result->nodes);
    free(result->is_dropped);
    *result = (struct compat_result){ 0 };
}
