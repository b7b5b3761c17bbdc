/* SPDX-License-Identifier: MIT
 *
 * Descends the tree of nodes into the branch that has at least half, for as long as one has.
 */
#include "analysis/findings/places.h"

#include "analysis/findings/calls.h"
#include "schema/problems.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 4 }; /* of a kind */
static const double MOST = 0.5;

struct placing {
    const struct weft_ecct_matrix *matrix;
    const uint8_t *kinds;
    uint32_t *places;
    double *more_ns;    /* by node: what slow executions have more there; */
    double *sums_ns;    /* and below it, of the kind, as far as it has no place */
    bool *has_function; /* by node: of the program, there or above */
    bool *is_in;        /* is it the place that was found last, or below that? */
};

/* Is no function of the program known there, of a wait that has one elsewhere? */
static bool is_bare(const struct placing *placing, uint32_t node)
{
    const unsigned kind = placing->kinds[node] ? placing->kinds[node] - 1U : WEFT_PROBLEM_KINDS;
    return !placing->has_function[node] &&
           (kind == WEFT_PROBLEM_DISK || kind == WEFT_PROBLEM_FAULT || kind == WEFT_PROBLEM_FSYNC);
}

static bool is_open(const struct placing *placing, uint32_t node, unsigned kind)
{
    return placing->kinds[node] == kind + 1 && placing->places[node] == 0 &&
           !is_bare(placing, node);
}

/* Sums up; a parent is before its children. */
static void sum_up(struct placing *placing, unsigned kind)
{
    const struct weft_ecct_node *nodes = placing->matrix->nodes;
    const size_t n = placing->matrix->n_nodes;
    for (size_t node = 0; node < n; node++)
        placing->sums_ns[node] =
            is_open(placing, (uint32_t)node, kind) ? placing->more_ns[node] : 0;
    for (size_t node = n; node-- > 1;)
        placing->sums_ns[nodes[node].parent] += placing->sums_ns[node];
}

/* The deepest node that has at least half of all, or the root. */
static uint32_t find_place(const struct placing *placing)
{
    const struct weft_ecct_node *nodes = placing->matrix->nodes;
    uint32_t place = 0;
    for (uint32_t node = 1; node < placing->matrix->n_nodes; node++)
        if (nodes[node].parent == place && placing->sums_ns[node] >= MOST * placing->sums_ns[0])
            place = node;
    return place;
}

static void take_place(struct placing *placing, unsigned kind, uint32_t place)
{
    const struct weft_ecct_node *nodes = placing->matrix->nodes;
    memset(placing->is_in, 0, placing->matrix->n_nodes * sizeof *placing->is_in);
    for (uint32_t node = place; node < placing->matrix->n_nodes; node++) {
        placing->is_in[node] = node == place || (node > 0 && placing->is_in[nodes[node].parent]);
        if (placing->is_in[node] && is_open(placing, node, kind))
            placing->places[node] = place;
    }
}

/* Short waits are often without a stack: they are where most of the others are. */
static void take_bare(struct placing *placing, unsigned kind, uint32_t place)
{
    for (uint32_t node = 1; node < placing->matrix->n_nodes; node++)
        if (placing->kinds[node] == kind + 1 && is_bare(placing, node))
            placing->places[node] = place;
}

static void place_kind(struct placing *placing, unsigned kind)
{
    for (unsigned n = 0; n < MOST_PLACES; n++) {
        sum_up(placing, kind);
        const uint32_t place = placing->sums_ns[0] > 0 ? find_place(placing) : 0;
        if (place == 0)
            return;
        take_place(placing, kind, place);
        if (n == 0)
            take_bare(placing, kind, place);
    }
}

bool weft_places_find(const struct weft_finding *finding, const uint8_t *kinds, uint32_t *places)
{
    const struct weft_compare_table *table = finding->table;
    const size_t n = finding->matrix->n_nodes + 1;
    struct placing placing = { .matrix = finding->matrix, .kinds = kinds, .places = places };
    bool has[WEFT_PROBLEM_KINDS] = { false };
    placing.more_ns = calloc(n, sizeof *placing.more_ns);
    placing.sums_ns = calloc(n, sizeof *placing.sums_ns);
    placing.is_in = calloc(n, sizeof *placing.is_in);
    placing.has_function = weft_call_mark_functions(finding->matrix);
    const bool is_good =
        placing.more_ns && placing.sums_ns && placing.is_in && placing.has_function;
    for (size_t i = 0; is_good && i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        placing.more_ns[row->node] = row->difference_ns > 0 ? row->difference_ns : 0;
        if (kinds[row->node])
            has[kinds[row->node] - 1] = true;
    }
    for (unsigned kind = 0; is_good && kind < WEFT_PROBLEM_KINDS; kind++)
        if (has[kind])
            place_kind(&placing, kind);
    free(placing.more_ns);
    free(placing.sums_ns);
    free(placing.is_in);
    free(placing.has_function);
    return is_good;
}

uint64_t weft_place_key(const struct weft_ecct_matrix *matrix, uint64_t key, uint32_t place)
{
    enum { FUNCTIONS = 2 };
    for (unsigned n = 0; place && n < FUNCTIONS; place = matrix->nodes[place].parent) {
        const struct weft_frame *frame = &matrix->frames[matrix->nodes[place].frame];
        if (frame->kind != WEFT_FRAME_FUNCTION)
            continue;
        key = weft_frame_hash(key, frame);
        n++;
    }
    return key;
}
