/* SPDX-License-Identifier: MIT
 *
 * Makes keys of holders: with the function in which the holder is, for locks without a name; with
 * the variable, for locks of arrays. Groups of one key are one problem.
 */
#include "analysis/findings/holds.h"

#include "analysis/findings/kinds.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_LOCKS = 3 }; /* of one variable, to be an array of them */

struct weft_str weft_hold_variable(struct weft_str lock)
{
    static const char offset[] = "+0x";
    const char *plus =
        lock.n_bytes ? memmem(lock.bytes, lock.n_bytes, offset, sizeof offset - 1) : NULL;
    const char *index = lock.n_bytes ? memchr(lock.bytes, '[', lock.n_bytes) : NULL;
    const char *end = index && index > lock.bytes ? index : plus;
    return end ? (struct weft_str){ lock.bytes, (size_t)(end - lock.bytes) } : lock;
}

/* Of the variable that the lock is a part of; members of structures in arrays differ. */
static uint64_t key_of_variable(const struct weft_kind *kind)
{
    const struct weft_str name = kind->object->name;
    struct weft_frame variable = *kind->object;
    variable.name = weft_hold_variable(name);
    uint64_t hash = weft_frame_hash(weft_frame_hash(WEFT_FRAME_HASH, kind->holder), &variable);
    const char *member = name.n_bytes ? memchr(name.bytes, ']', name.n_bytes) : NULL;
    for (; member && member < name.bytes + name.n_bytes; member++)
        hash = (hash ^ (unsigned char)*member) * UINT64_C(0x100000001b3);
    return hash;
}

static void find_key(const struct weft_ecct_matrix *matrix, struct weft_hold *hold)
{
    struct weft_frame_path path;
    weft_frame_path_of(matrix, hold->node, &path);
    const struct weft_kind kind = weft_kind_of(&path);
    const struct weft_frame *function = weft_kind_function(&path, &kind.holding);
    if (kind.system_lock != WEFT_SYSTEM_LOCK_NONE || !kind.holder)
        return;
    hold->is_of_array = kind.object;
    if (kind.object)
        hold->key = key_of_variable(&kind);
    else if (function)
        hold->key = weft_frame_hash(weft_frame_hash(WEFT_FRAME_HASH, kind.holder), function);
}

bool weft_holds_join(const struct weft_ecct_matrix *matrix, struct weft_hold *holds, size_t n)
{
    struct weft_map *numbers = weft_map_new();
    uint32_t *counts = calloc(n + 1, sizeof *counts), *firsts = calloc(n + 1, sizeof *firsts);
    bool is_good = numbers && counts && firsts;
    for (size_t i = 0; is_good && i < n; i++) {
        if (holds[i].node > 0)
            find_key(matrix, &holds[i]);
        const uint32_t number = holds[i].key ? weft_map_add(numbers, holds[i].key, NULL) : 0;
        is_good = number != WEFT_MAP_NONE;
        if (is_good && holds[i].key && counts[number]++ == 0)
            firsts[number] = (uint32_t)i;
    }
    for (size_t i = 0; is_good && i < n; i++) {
        const uint32_t number = holds[i].key ? weft_map_find(numbers, holds[i].key) : 0;
        const bool is_joined =
            holds[i].key && (!holds[i].is_of_array || counts[number] >= FEW_LOCKS);
        holds[i].to = is_joined ? firsts[number] : (uint32_t)i;
        holds[i].key = is_joined ? holds[i].key : 0;
        holds[i].is_of_array = is_joined && holds[i].is_of_array;
    }
    weft_map_free(numbers);
    free(counts);
    free(firsts);
    return is_good;
}
