/* SPDX-License-Identifier: MIT */
#include "naive_shapes.h"

#include <stdlib.h>
#include <string.h>

struct naive_piece {
    struct naive_piece *next;
    _Alignas(16) uint64_t bytes[];
};

void *naive_take(struct naive_memory *memory, size_t n_bytes)
{
    struct naive_piece *piece = calloc(1, sizeof *piece + n_bytes);
    if (!piece)
        abort();
    piece->next = memory->pieces;
    memory->pieces = piece;
    return piece->bytes;
}

void naive_free(struct naive_memory *memory)
{
    while (memory->pieces) {
        struct naive_piece *next = memory->pieces->next;
        free(memory->pieces);
        memory->pieces = next;
    }
}

/* ---- Listing 5.2 ------------------------------------------------------------------------------
 */

unsigned naive_depth(const struct naive_shape *shape)
{
    if (!shape)
        return 0;
    unsigned deepest = 0;
    for (size_t i = 0; i < shape->n_children; i++) {
        unsigned depth = naive_depth(shape->children[i]);
        if (depth > deepest)
            deepest = depth;
    }
    return 1 + deepest;
}

bool naive_contains(const struct naive_shape *shape, const struct naive_shape *child)
{
    for (size_t i = 0; i < shape->n_children; i++)
        if (naive_equal(shape->children[i], child))
            return true;
    return false;
}

bool naive_equal(const struct naive_shape *a, const struct naive_shape *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->function != b->function || a->n_children != b->n_children)
        return false;
    for (size_t i = 0; i < a->n_children; i++)
        if (!naive_contains(b, a->children[i]))
            return false;
    return true;
}

bool naive_is_below(const struct naive_shape *shape, const struct naive_shape *above)
{
    if (!above)
        return false;
    for (size_t i = 0; i < above->n_children; i++)
        if (naive_equal(above->children[i], shape) || naive_is_below(shape, above->children[i]))
            return true;
    return false;
}

void naive_child_add(struct naive_memory *memory, struct naive_shape *shape,
                     const struct naive_shape *child)
{
    if (naive_contains(shape, child))
        return;
    const struct naive_shape **children =
        naive_take(memory, (shape->n_children + 1) * sizeof *children);
    for (size_t i = 0; i < shape->n_children; i++)
        children[i] = shape->children[i];
    children[shape->n_children++] = child;
    shape->children = children;
}

struct naive_shape *naive_shape_new(struct naive_memory *memory, int64_t function)
{
    struct naive_shape *shape = naive_take(memory, sizeof *shape);
    shape->function = function;
    naive_child_add(memory, shape, NULL);
    return shape;
}

/* ---- Listing 5.3 ------------------------------------------------------------------------------
 */

const struct naive_shape *naive_shape_of(struct naive_memory *memory,
                                         const struct naive_instance *instance)
{
    if (instance->function == -1)
        return NULL;
    struct naive_shape *shape = naive_shape_new(memory, instance->function);
    for (size_t i = 0; i < instance->n_children; i++)
        naive_child_add(memory, shape, naive_shape_of(memory, instance->children[i]));
    return shape;
}

/* ---- Listing 5.4 ------------------------------------------------------------------------------
 */

uint32_t naive_function_distance(int64_t f, int64_t g)
{
    if (f == g)
        return 0;
    if (f == -1 || g == -1)
        return 1;
    return 2;
}

/* From the child of `from` that is furthest from the whole of `to`. */
static uint32_t furthest(const struct naive_shape *from, const struct naive_shape *to)
{
    uint32_t max = 0;
    for (size_t i = 0; i < from->n_children; i++) {
        uint32_t min = UINT32_MAX;
        for (size_t j = 0; j < to->n_children && min > 0; j++) { /* nothing is nearer than 0 */
            uint32_t d = naive_distance(from->children[i], to->children[j]);
            if (d < min)
                min = d;
        }
        if (min > max)
            max = min;
    }
    return max;
}

static uint32_t hausdorff_distance(const struct naive_shape *a, const struct naive_shape *b)
{
    uint32_t furthest_to_b = furthest(a, b), furthest_to_a = furthest(b, a);
    return furthest_to_b > furthest_to_a ? furthest_to_b : furthest_to_a;
}

uint32_t naive_distance(const struct naive_shape *a, const struct naive_shape *b)
{
    const struct naive_shape *children[] = { NULL };
    const struct naive_shape nothing = { .function = -1, .children = children, .n_children = 1 };
    if (!a && !b)
        return 0;
    if (!a)
        a = &nothing;
    if (!b)
        b = &nothing;
    return naive_function_distance(a->function, b->function) + hausdorff_distance(a, b);
}

uint32_t naive_stack_difference(const struct naive_instance *k, const struct naive_instance *l)
{
    uint32_t max = 0;
    for (size_t i = 0; i < k->n_children; i++) {
        uint32_t d = naive_stack_difference(k->children[i], l->children[i]);
        if (d > max)
            max = d;
    }
    return naive_function_distance(k->function, l->function) + max;
}

/* ---- lists of shapes --------------------------------------------------------------------------
 */

size_t naive_find(const struct naive_list *list, const struct naive_shape *shape)
{
    for (size_t i = 0; i < list->n; i++)
        if (naive_equal(list->at[i], shape))
            return i;
    return SIZE_MAX;
}

void naive_put(struct naive_memory *memory, struct naive_list *list,
               const struct naive_shape *shape)
{
    if (naive_find(list, shape) != SIZE_MAX)
        return;
    if (list->n == list->n_max) {
        list->n_max = list->n_max ? 2 * list->n_max : 16;
        const struct naive_shape **at = naive_take(memory, list->n_max * sizeof *at);
        for (size_t i = 0; i < list->n; i++)
            at[i] = list->at[i];
        list->at = at;
    }
    list->at[list->n++] = shape;
}

void naive_put_all(struct naive_memory *memory, struct naive_list *list,
                   const struct naive_shape *shape)
{
    if (!shape)
        return;
    naive_put(memory, list, shape);
    for (size_t i = 0; i < shape->n_children; i++)
        naive_put_all(memory, list, shape->children[i]);
}

struct place {
    const struct naive_shape *shape;
    size_t *children; /* places of the children in canonical order, ascending; null apart */
    size_t n_children;
};

static struct place place_of(struct naive_memory *memory, const struct naive_list *sorted,
                             const struct naive_shape *shape)
{
    struct place place = { .shape = shape };
    place.children = naive_take(memory, shape->n_children * sizeof *place.children);
    for (size_t i = 0; i < sorted->n; i++)
        if (naive_contains(shape, sorted->at[i]))
            place.children[place.n_children++] = i;
    return place;
}

/* Of shapes of the same depth. */
static bool is_before(const struct place *a, const struct place *b, const char *const *names)
{
    const int64_t f = a->shape->function, g = b->shape->function;
    const int order = names ? strcmp(names[f], names[g]) : 0;
    if (order != 0 || f != g)
        return order != 0 ? order < 0 : f < g;
    for (size_t i = 0; i < a->n_children && i < b->n_children; i++)
        if (a->children[i] != b->children[i])
            return a->children[i] < b->children[i];
    return a->n_children < b->n_children;
}

void naive_sort(struct naive_memory *memory, struct naive_list *list, const char *const *names)
{
    struct naive_list sorted = { 0 };
    struct place *places = naive_take(memory, list->n * sizeof *places);
    for (unsigned depth = 1; sorted.n < list->n; depth++) {
        size_t n = 0;
        for (size_t i = 0; i < list->n; i++) {
            if (naive_depth(list->at[i]) != depth)
                continue;
            const struct place place = place_of(memory, &sorted, list->at[i]);
            size_t at = n++;
            for (; at > 0 && is_before(&place, &places[at - 1], names); at--)
                places[at] = places[at - 1];
            places[at] = place;
        }
        for (size_t i = 0; i < n; i++)
            naive_put(memory, &sorted, places[i].shape);
    }
    *list = sorted;
}

/* ---- Listing A.1 ------------------------------------------------------------------------------
 */

static bool takes(const struct naive_list *list, const struct naive_cluster *cluster,
                  const struct naive_shape *shape, uint32_t threshold_halves)
{
    for (size_t i = 0; i < cluster->n_shapes; i++) {
        const struct naive_shape *member = list->at[cluster->shapes[i]];
        if (shape->function != member->function ||
            naive_distance(shape, member) > threshold_halves || naive_is_below(shape, member) ||
            naive_is_below(member, shape))
            return false;
    }
    return true;
}

static void cluster_add(struct naive_cluster *cluster, const struct naive_list *list, size_t shape)
{
    cluster->shapes[cluster->n_shapes++] = shape;
    if (naive_depth(list->at[shape]) > cluster->depth)
        cluster->depth = naive_depth(list->at[shape]);
}

struct naive_clusters naive_clusters(struct naive_memory *memory, const struct naive_list *list,
                                     uint32_t threshold_halves)
{
    struct naive_clusters clusters = { .at = naive_take(memory, list->n * sizeof *clusters.at) };
    for (size_t i = 0; i < list->n; i++) {
        size_t c = 0;
        while (c < clusters.n && !takes(list, &clusters.at[c], list->at[i], threshold_halves))
            c++;
        if (c == clusters.n)
            clusters.at[clusters.n++].shapes = naive_take(memory, list->n * sizeof(size_t));
        cluster_add(&clusters.at[c], list, i);
    }
    return clusters;
}

bool naive_are_kin(const struct naive_list *list, const struct naive_cluster *a,
                   const struct naive_cluster *b)
{
    for (size_t i = 0; i < a->n_shapes; i++)
        for (size_t j = 0; j < b->n_shapes; j++) {
            const struct naive_shape *x = list->at[a->shapes[i]], *y = list->at[b->shapes[j]];
            if (naive_is_below(x, y) || naive_is_below(y, x))
                return true;
        }
    return false;
}

/* The next cluster by descending depth, by id if equal, of those to do; or clusters->n. */
static size_t deepest_left(const struct naive_clusters *clusters, const bool *is_left)
{
    size_t best = clusters->n;
    for (size_t i = 0; i < clusters->n; i++)
        if (is_left[i] && (best == clusters->n || clusters->at[i].depth > clusters->at[best].depth))
            best = i;
    return best;
}

static bool has_room(const struct naive_list *list, const struct naive_clusters *clusters,
                     const struct naive_ribbon *ribbon, size_t cluster)
{
    for (size_t i = 0; i < ribbon->n_clusters; i++)
        if (naive_are_kin(list, &clusters->at[ribbon->clusters[i]], &clusters->at[cluster]))
            return false;
    return true;
}

static void ribbon_add(struct naive_ribbon *ribbon, const struct naive_clusters *clusters,
                       size_t cluster)
{
    size_t at = ribbon->n_clusters++;
    for (; at > 0 && ribbon->clusters[at - 1] > cluster; at--)
        ribbon->clusters[at] = ribbon->clusters[at - 1];
    ribbon->clusters[at] = cluster;
    if (clusters->at[cluster].depth > ribbon->depth)
        ribbon->depth = clusters->at[cluster].depth;
}

static void ribbons_sort(struct naive_ribbons *ribbons)
{
    for (size_t i = 1; i < ribbons->n; i++)
        for (size_t j = i; j > 0 && ribbons->at[j].depth < ribbons->at[j - 1].depth; j--) {
            struct naive_ribbon swap = ribbons->at[j];
            ribbons->at[j] = ribbons->at[j - 1];
            ribbons->at[j - 1] = swap;
        }
}

struct naive_ribbons naive_ribbons(struct naive_memory *memory, const struct naive_list *list,
                                   const struct naive_clusters *clusters, const bool *is_in)
{
    struct naive_ribbons ribbons = { .at = naive_take(memory, clusters->n * sizeof *ribbons.at) };
    bool *is_left = naive_take(memory, clusters->n + 1);
    for (size_t i = 0; i < clusters->n; i++)
        is_left[i] = is_in[i];
    for (size_t c; (c = deepest_left(clusters, is_left)) < clusters->n; is_left[c] = false) {
        size_t r = 0;
        while (r < ribbons.n && !has_room(list, clusters, &ribbons.at[r], c))
            r++;
        if (r == ribbons.n)
            ribbons.at[ribbons.n++] = (struct naive_ribbon){
                .clusters = naive_take(memory, clusters->n * sizeof(size_t)),
                .created = r,
            };
        ribbon_add(&ribbons.at[r], clusters, c);
    }
    ribbons_sort(&ribbons);
    return ribbons;
}
