/* SPDX-License-Identifier: MIT
 *
 * Identities are byte strings, interned: their dense ids index plain arrays.
 */
#include "import/merge_names.h"

#include "base/map.h"
#include "base/vec.h"
#include "import/replay.h"

#include <inttypes.h>
#include <stdlib.h>

/* What (module, name, address) stands for. A trace may hold the same several times: the first of
 * one trace is the first of the next. */
struct same_name {
    uint32_t trace;   /* that saw it last, 1 + number */
    uint32_t n_in_it; /* how often so far */
};

struct weft_merge_names {
    struct weft_strtab *functions; /* (module, name, address) */
    struct {
        struct same_name *items; /* by id in functions */
        size_t n, cap;
    } same_names;
    struct weft_map *key_of; /* id in functions and occurrence -> index in keys */
    struct {
        uint32_t *items;
        size_t n, cap;
    } keys;
    struct weft_map *used_keys;
    uint64_t next_key; /* no function has it, nor a greater one */
    struct {
        char *items;
        size_t n, cap;
    } room; /* an identity being made */
    uint32_t n_function_traces;
};

struct weft_merge_names *weft_merge_names_new(const struct weft_merge_input *inputs,
                                              size_t n_inputs)
{
    struct weft_merge_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->functions = weft_strtab_new();
    names->key_of = weft_map_new();
    names->used_keys = weft_map_new();
    for (size_t k = 0; k < n_inputs; k++) { /* functions are sorted by key */
        const uint32_t n_functions = weft_store_meta_get(inputs[k].store)->n_functions;
        const uint64_t last =
            n_functions ? weft_store_function_get(inputs[k].store, n_functions - 1)->key : 0;
        names->next_key = last >= names->next_key ? last + 1 : names->next_key;
    }
    if (names->functions && names->key_of && names->used_keys)
        return names;
    weft_merge_names_free(names);
    return NULL;
}

void weft_merge_names_free(struct weft_merge_names *names)
{
    if (!names)
        return;
    weft_strtab_free(names->functions);
    weft_map_free(names->key_of);
    weft_map_free(names->used_keys);
    WEFT_VEC_FINI(&names->same_names);
    WEFT_VEC_FINI(&names->keys);
    WEFT_VEC_FINI(&names->room);
    free(names);
}

/* Appends to the identity; false without memory. */
static bool room_put(struct weft_merge_names *names, const void *bytes, size_t n_bytes)
{
    if (!weft_vec_reserve(&names->room.items, &names->room.cap, names->room.n + n_bytes + 1, 1))
        return false;
    if (n_bytes)
        memcpy(names->room.items + names->room.n, bytes, n_bytes);
    names->room.n += n_bytes;
    return true;
}

static bool room_put_u64(struct weft_merge_names *names, uint64_t value)
{
    return room_put(names, &value, sizeof value);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Its own key, or one that no trace has. */
static enum weft_code key_choose(struct weft_merge_names *names, uint32_t own, uint32_t *key,
                                 struct weft_err *err)
{
    uint64_t chosen = own;
    if (weft_map_find(names->used_keys, own) != WEFT_MAP_NONE)
        chosen = names->next_key++;
    if (chosen > UINT32_MAX) /* the greatest key is taken: any other will do */
        for (chosen = 0; weft_map_find(names->used_keys, chosen) != WEFT_MAP_NONE;)
            chosen++;
    *key = (uint32_t)chosen;
    return weft_map_add(names->used_keys, chosen, NULL) == WEFT_MAP_NONE
               ? weft_no_memory(err, "functions")
               : WEFT_OK;
}

/* How often the trace has had the function before, which is in the room of names. */
static enum weft_code occurrence_of(struct weft_merge_names *names, uint32_t trace, uint32_t *id,
                                    uint32_t *occurrence, struct weft_err *err)
{
    const struct weft_str text = { names->room.items, names->room.n };
    WEFT_TRY(weft_strtab_intern(names->functions, text, id, err));
    while (names->same_names.n <= *id)
        if (!WEFT_VEC_PUSH(&names->same_names))
            return weft_no_memory(err, "functions");
    struct same_name *same = &names->same_names.items[*id];
    if (same->trace != trace)
        *same = (struct same_name){ .trace = trace };
    *occurrence = same->n_in_it++;
    return WEFT_OK;
}

/* The key of a function that another trace may have. */
static enum weft_code key_share(struct weft_merge_names *names,
                                const struct weft_store_function *function, uint32_t trace,
                                uint32_t *key, bool *is_new, struct weft_err *err)
{
    uint32_t id = 0, occurrence = 0; /* gcc 12 does not see that they are set */
    names->room.n = 0;
    if (!room_put_u64(names, function->address) || !room_put_u64(names, function->module.n_bytes) ||
        !room_put(names, function->module.bytes, function->module.n_bytes) ||
        !room_put(names, function->name.bytes, function->name.n_bytes))
        return weft_no_memory(err, "functions");
    WEFT_TRY(occurrence_of(names, trace, &id, &occurrence, err));
    const uint32_t index = weft_map_add(names->key_of, (uint64_t)occurrence << 32 | id, is_new);
    if (index == WEFT_MAP_NONE)
        return weft_no_memory(err, "functions");
    if (!*is_new) {
        *key = names->keys.items[index];
        return WEFT_OK;
    }
    uint32_t *chosen = WEFT_VEC_PUSH(&names->keys);
    if (!chosen)
        return weft_no_memory(err, "functions");
    enum weft_code code = key_choose(names, function->key, chosen, err);
    *key = *chosen;
    return code;
}

enum weft_code weft_merge_functions(struct weft_merge_names *names, const struct weft_store *store,
                                    uint32_t *keys, struct weft_sink *sink, struct weft_err *err)
{
    const uint32_t n_functions = weft_store_meta_get(store)->n_functions;
    const uint32_t trace = ++names->n_function_traces;
    enum weft_code code = WEFT_OK;
    for (uint32_t id = 0; code == WEFT_OK && id < n_functions; id++) {
        const struct weft_store_function *function = weft_store_function_get(store, id);
        const bool is_known =
            function->name.n_bytes || (function->module.n_bytes && function->address);
        bool is_new = true;
        code = is_known ? key_share(names, function, trace, &keys[id], &is_new, err)
                        : key_choose(names, function->key, &keys[id], err);
        if (code == WEFT_OK && is_new)
            code = weft_replay_function(function, keys[id], sink, err);
    }
    return code;
}
