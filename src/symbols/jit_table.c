/* SPDX-License-Identifier: MIT
 *
 * A segment tree over the begins and ends of all functions: each function stands in the at most 2
 * log n nodes that make up its addresses, in order of time. The nodes above an address are all that
 * can cover it; in each, the last one of the era is found by bisection.
 */
#include "symbols/jit_table.h"

#include "base/search.h"
#include "base/vec.h"

#include <stdlib.h>

/* Of functions in nodes. Mostly a function has one or two; nested ones may have many more. */
enum { MOST_PLACES = 1 << 24 };

void weft_jit_table_fini(struct weft_jit_table *table)
{
    WEFT_VEC_FINI(table);
    free(table->bounds);
    free(table->places);
    free(table->first_of);
    *table = (struct weft_jit_table){ 0 };
}

bool weft_jit_is_full(const struct weft_jit_table *table)
{
    return table->n >= (table->has_limit ? table->n_most : WEFT_JIT_MOST);
}

bool weft_jit_add(struct weft_jit_table *table, uint64_t begin, uint64_t n_bytes, uint64_t from_ns,
                  uint32_t name)
{
    if (n_bytes > UINT32_MAX)
        n_bytes = UINT32_MAX;
    if (n_bytes == 0 || begin > UINT64_MAX - n_bytes)
        return true;
    if (weft_jit_is_full(table)) {
        table->n_dropped++;
        return true;
    }
    struct weft_jit_function *code = WEFT_VEC_PUSH(table);
    if (code)
        *code = (struct weft_jit_function){
            .begin = begin, .from_ns = from_ns, .n_bytes = (uint32_t)n_bytes, .name = name
        };
    return code != NULL;
}

/* ---- by time --------------------------------------------------------------------------------- */

static int by_time(const void *a_void, const void *b_void, void *items_void)
{
    const uint32_t a = *(const uint32_t *)a_void;
    const uint32_t b = *(const uint32_t *)b_void;
    const struct weft_jit_function *items = items_void;
    if (items[a].from_ns != items[b].from_ns)
        return items[a].from_ns < items[b].from_ns ? -1 : 1;
    return (a > b) - (a < b);
}

/* Mostly they are in order already. */
static bool sort_by_time(struct weft_jit_table *table)
{
    bool is_sorted = true;
    for (size_t k = 1; is_sorted && k < table->n; k++)
        is_sorted = table->items[k - 1].from_ns <= table->items[k].from_ns;
    if (is_sorted)
        return true;
    uint32_t *order = calloc(table->n, sizeof *order);
    struct weft_jit_function *sorted = calloc(table->n, sizeof *sorted);
    for (uint32_t k = 0; order && k < table->n; k++)
        order[k] = k;
    if (order && sorted) {
        qsort_r(order, table->n, sizeof *order, by_time, table->items);
        for (size_t k = 0; k < table->n; k++)
            sorted[k] = table->items[order[k]];
        memcpy(table->items, sorted, table->n * sizeof *sorted);
    }
    const bool is_good = order && sorted;
    free(order);
    free(sorted);
    return is_good;
}

/* ---- by address ------------------------------------------------------------------------------ */

static int by_address(const void *a_void, const void *b_void)
{
    const uint64_t a = *(const uint64_t *)a_void;
    const uint64_t b = *(const uint64_t *)b_void;
    return (a > b) - (a < b);
}

static bool find_bounds(struct weft_jit_table *table)
{
    uint64_t *bounds = calloc(2 * table->n + 1, sizeof *bounds);
    uint32_t n = 0;
    if (!bounds)
        return false;
    for (size_t k = 0; k < table->n; k++) {
        bounds[2 * k] = table->items[k].begin;
        bounds[2 * k + 1] = table->items[k].begin + table->items[k].n_bytes;
    }
    if (table->n)
        qsort(bounds, 2 * table->n, sizeof *bounds, by_address);
    for (size_t k = 0; k < 2 * table->n; k++)
        if (n == 0 || bounds[k] != bounds[n - 1])
            bounds[n++] = bounds[k];
    table->bounds = bounds;
    table->n_bounds = n;
    table->n_segments = n ? n - 1 : 0;
    return true;
}

/* The segment that begins at or below the address. */
static uint32_t segment_of(const struct weft_jit_table *table, uint64_t address)
{
    size_t at;
    WEFT_SEARCH(at, table->n_bounds, table->bounds[at] <= address);
    return (uint32_t)at - 1;
}

/* The nodes that make up a function's addresses: node 1 is the root, the segments are the nodes
 * from n_segments on. Gives how many; each is counted, or, in the second round, gets the number. */
static uint32_t visit(struct weft_jit_table *table, uint32_t number, bool is_counted)
{
    const struct weft_jit_function *code = &table->items[number];
    uint32_t low = segment_of(table, code->begin) + table->n_segments;
    uint32_t high = segment_of(table, code->begin + code->n_bytes) + table->n_segments;
    uint32_t nodes[64], n_nodes = 0;
    for (; low < high; low >>= 1, high >>= 1) {
        if (low & 1)
            nodes[n_nodes++] = low++;
        if (high & 1)
            nodes[n_nodes++] = --high;
    }
    for (uint32_t k = 0; k < n_nodes; k++)
        if (is_counted)
            table->first_of[nodes[k] + 1]++;
        else
            table->places[table->first_of[nodes[k]]++] = number;
    return n_nodes;
}

bool weft_jit_seal(struct weft_jit_table *table)
{
    uint32_t n_places = 0;
    if (!sort_by_time(table) || !find_bounds(table))
        return false;
    const size_t n_nodes = 2 * (size_t)table->n_segments;
    table->first_of = calloc(n_nodes + 2, sizeof *table->first_of);
    if (!table->first_of)
        return false;
    for (uint32_t k = 0; k < table->n; k++) {
        n_places += visit(table, k, true);
        if (n_places <= MOST_PLACES)
            continue;
        table->n_dropped += table->n - k - 1;
        table->n = k + 1;
    }
    table->places = calloc((size_t)n_places + 1, sizeof *table->places);
    if (!table->places)
        return false;
    for (size_t k = 1; k < n_nodes + 2; k++)
        table->first_of[k] += table->first_of[k - 1];
    for (uint32_t k = 0; k < table->n; k++)
        (void)visit(table, k, false);
    /* Each now stands at the next one's first. */
    memmove(table->first_of + 1, table->first_of, (n_nodes + 1) * sizeof *table->first_of);
    table->first_of[0] = 0;
    return true;
}

/* ---- questions ------------------------------------------------------------------------------- */

uint32_t weft_jit_era(const struct weft_jit_table *table, uint64_t ns)
{
    size_t at;
    WEFT_SEARCH(at, table->n, table->items[at].from_ns <= ns);
    return (uint32_t)at;
}

uint32_t weft_jit_find(const struct weft_jit_table *table, uint64_t address, uint32_t era)
{
    uint32_t best = 0; /* its number + 1 */
    if (table->n_segments == 0 || address < table->bounds[0] ||
        address >= table->bounds[table->n_segments])
        return WEFT_JIT_NONE;
    for (uint32_t node = segment_of(table, address) + table->n_segments; node > 0; node >>= 1) {
        const uint32_t *places = table->places + table->first_of[node];
        const size_t n_places = table->first_of[node + 1] - table->first_of[node];
        size_t at;
        WEFT_SEARCH(at, n_places, places[at] < era);
        if (at > 0 && places[at - 1] + 1 > best)
            best = places[at - 1] + 1;
    }
    return best ? table->items[best - 1].name : WEFT_JIT_NONE;
}
