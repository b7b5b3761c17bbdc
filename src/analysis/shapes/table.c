/* SPDX-License-Identifier: MIT
 *
 * Hash-consed sets of shapes.
 */
#include "analysis/shapes/table.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

void weft_shape_table_fini(struct weft_shape_table *table)
{
    free(table->nodes);
    free(table->child);
    free(table->slots);
    *table = (struct weft_shape_table){ 0 };
}

uint64_t weft_shape_hash(uint32_t function_id, const uint32_t *children, size_t n_children)
{
    uint64_t hash = weft_shape_hash_function(function_id);
    for (size_t i = 0; i < n_children; i++)
        hash += weft_shape_hash_child(children[i]);
    return hash;
}

uint32_t weft_shape_table_find(const struct weft_shape_table *table, uint32_t function_id,
                               const uint32_t *children, size_t n_children, uint64_t hash)
{
    if (!table->n_slots)
        return WEFT_SHAPE_NONE;
    size_t mask = table->n_slots - 1;
    for (size_t at = hash & mask; table->slots[at]; at = (at + 1) & mask) {
        const struct weft_shape_node *node = &table->nodes[table->slots[at] - 1];
        if (node->hash == hash && node->function_id == function_id &&
            node->n_children == n_children &&
            (!n_children ||
             memcmp(table->child + node->first, children, n_children * sizeof *children) == 0))
            return table->slots[at] - 1;
    }
    return WEFT_SHAPE_NONE;
}

static void put(uint32_t *slots, size_t n_slots, uint64_t hash, uint32_t entry)
{
    size_t at = hash & (n_slots - 1);
    while (slots[at])
        at = (at + 1) & (n_slots - 1);
    slots[at] = entry;
}

/* At most half of the slots are taken. */
static bool grow_slots(struct weft_shape_table *table)
{
    if (table->n_nodes < table->n_slots / 2)
        return true;
    size_t n_slots = table->n_slots ? table->n_slots * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < table->n_nodes; i++)
        put(slots, n_slots, table->nodes[i].hash, (uint32_t)i + 1);
    free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    return true;
}

uint32_t weft_shape_table_intern(struct weft_shape_table *table, uint32_t function_id,
                                 const uint32_t *children, size_t n_children, uint64_t hash)
{
    uint32_t known = weft_shape_table_find(table, function_id, children, n_children, hash);
    if (known != WEFT_SHAPE_NONE)
        return known;
    if (table->n_nodes >= WEFT_SHAPE_REFUSED || !grow_slots(table) ||
        !weft_vec_reserve(&table->nodes, &table->cap_nodes, table->n_nodes + 1,
                          sizeof *table->nodes) ||
        /* One more, so that there is an array even of shapes without children alone. */
        !weft_vec_reserve(&table->child, &table->cap_child, table->n_child + n_children + 1,
                          sizeof *table->child))
        return WEFT_SHAPE_NONE;
    if (n_children)
        memcpy(table->child + table->n_child, children, n_children * sizeof *children);
    uint32_t id = (uint32_t)table->n_nodes++;
    table->nodes[id] = (struct weft_shape_node){
        .hash = hash,
        .first = table->n_child,
        .function_id = function_id,
        .n_children = (uint32_t)n_children,
        .shape = WEFT_SHAPE_NONE,
    };
    table->n_child += n_children;
    put(table->slots, table->n_slots, hash, id + 1);
    return id;
}
