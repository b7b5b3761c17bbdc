/* SPDX-License-Identifier: MIT
 *
 * Sorted arrays of mappings, one for each process, updated as records arrive: a new mapping
 * replaces what it overlaps, fork copies, exec clears. Each change gives the space a new version,
 * by which stacks.c recognises stacks it has already named.
 */
#include "ingest/perf/spaces.h"

#include "base/search.h"
#include "base/vec.h"

bool perf_spaces_init(struct perf_spaces *spaces)
{
    *spaces = (struct perf_spaces){ .of_pid = weft_map_new() };
    return spaces->of_pid != NULL;
}

void perf_spaces_fini(struct perf_spaces *spaces)
{
    for (size_t k = 0; k < spaces->n; k++)
        WEFT_VEC_FINI(&spaces->items[k].maps);
    WEFT_VEC_FINI(spaces);
    weft_map_free(spaces->of_pid);
}

struct perf_space *perf_space_of(struct perf_spaces *spaces, uint32_t pid)
{
    bool is_new;
    const uint32_t index = weft_map_add(spaces->of_pid, pid, &is_new);
    if (index == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(spaces)))
        return NULL;
    if (is_new)
        spaces->items[index].version = ++spaces->n_versions;
    return &spaces->items[index];
}

/* The first mapping that ends behind `address`. */
static size_t lower_bound(const struct perf_space *space, uint64_t address)
{
    size_t low;
    WEFT_SEARCH(low, space->maps.n, space->maps.items[low].end <= address);
    return low;
}

/* Replaces mappings [first, last) by `n_new` ones. */
static bool splice(struct perf_space *space, size_t first, size_t last,
                   const struct perf_mapping *new_maps, size_t n_new)
{
    const size_t n_behind = space->maps.n - last;
    if (!weft_vec_reserve(&space->maps.items, &space->maps.cap, space->maps.n + n_new,
                          sizeof *space->maps.items))
        return false;
    struct perf_mapping *items = space->maps.items;
    memmove(items + first + n_new, items + last, n_behind * sizeof *items);
    memcpy(items + first, new_maps, n_new * sizeof *items);
    space->maps.n = first + n_new + n_behind;
    return true;
}

bool perf_space_add(struct perf_spaces *spaces, uint32_t pid, const struct perf_mapping *mapping)
{
    struct perf_space *space = perf_space_of(spaces, pid);
    struct perf_mapping parts[3];
    size_t n_parts = 0;
    if (!space)
        return false;
    if (mapping->begin >= mapping->end || space->maps.n >= PERF_MOST_MAPPINGS)
        return true;
    const size_t first = lower_bound(space, mapping->begin);
    size_t last = first;
    while (last < space->maps.n && space->maps.items[last].begin < mapping->end)
        last++;
    if (last > first && space->maps.items[first].begin < mapping->begin) {
        parts[n_parts] = space->maps.items[first];
        parts[n_parts++].end = mapping->begin;
    }
    parts[n_parts++] = *mapping;
    if (last > first && space->maps.items[last - 1].end > mapping->end) {
        parts[n_parts] = space->maps.items[last - 1];
        parts[n_parts].file_off += mapping->end - parts[n_parts].begin;
        parts[n_parts++].begin = mapping->end;
    }
    space->version = ++spaces->n_versions;
    return splice(space, first, last, parts, n_parts);
}

bool perf_space_clear(struct perf_spaces *spaces, uint32_t pid)
{
    struct perf_space *space = perf_space_of(spaces, pid);
    if (!space)
        return false;
    space->maps.n = 0;
    space->version = ++spaces->n_versions;
    return true;
}

bool perf_space_copy(struct perf_spaces *spaces, uint32_t from_pid, uint32_t to_pid)
{
    const uint32_t from = weft_map_find(spaces->of_pid, from_pid);
    if (from_pid == to_pid || from == WEFT_MAP_NONE)
        return true;
    struct perf_space *space = perf_space_of(spaces, to_pid);
    if (!space)
        return false;
    const struct perf_space *parent = &spaces->items[from];
    space->maps.n = 0;
    space->version = ++spaces->n_versions;
    return parent->maps.n == 0 || splice(space, 0, 0, parent->maps.items, parent->maps.n);
}

const struct perf_mapping *perf_space_find(const struct perf_space *space, uint64_t address)
{
    const size_t place = lower_bound(space, address);
    return place < space->maps.n && space->maps.items[place].begin <= address
               ? &space->maps.items[place]
               : NULL;
}
