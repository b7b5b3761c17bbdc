/* SPDX-License-Identifier: MIT
 *
 * Numbers the objects and call sites that rows mention, in order of first mention, and copies them
 * into the table's arena at the end. A site's path omits the innermost functions that only
 * implement waiting.
 */
#include "analysis/interplay/tables.h"

#include "base/map.h"
#include "base/room.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_FRAMES = 512, MOST_PATH = 1 << 16 };

bool weft_interplay_names_init(struct weft_interplay_names *names,
                               const struct weft_interplay *interplay)
{
    *names = (struct weft_interplay_names){ .interplay = interplay,
                                            .object_of = weft_map_new(),
                                            .site_of = weft_map_new() };
    return names->object_of && names->site_of;
}

void weft_interplay_names_fini(struct weft_interplay_names *names)
{
    weft_map_free(names->object_of);
    weft_map_free(names->site_of);
    WEFT_ROOM_FINI(&names->objects);
    WEFT_ROOM_FINI(&names->sites);
}

bool weft_interplay_name_object(struct weft_interplay_names *names, uint32_t object,
                                uint32_t *place)
{
    bool is_new;
    *place = weft_map_add(names->object_of, object, &is_new);
    uint32_t *kept = *place != WEFT_MAP_NONE && is_new ? WEFT_ROOM_PUSH(&names->objects) : NULL;
    if (kept)
        *kept = object;
    return *place != WEFT_MAP_NONE && (kept || !is_new);
}

bool weft_interplay_name_site(struct weft_interplay_names *names, uint32_t site, uint32_t *place)
{
    bool is_new;
    *place = WEFT_ID_NONE;
    if (site == WEFT_ID_NONE)
        return true;
    *place = weft_map_add(names->site_of, site, &is_new);
    uint32_t *kept = *place != WEFT_MAP_NONE && is_new ? WEFT_ROOM_PUSH(&names->sites) : NULL;
    if (kept)
        *kept = site;
    return *place != WEFT_MAP_NONE && (kept || !is_new);
}

bool weft_interplay_copy_objects(const struct weft_interplay_names *names, struct weft_arena *arena,
                                 struct weft_shared_object **objects, size_t *n_objects)
{
    *n_objects = names->objects.n;
    *objects = WEFT_ARENA_NEW(arena, names->objects.n, struct weft_shared_object);
    for (size_t i = 0; *objects && i < names->objects.n; i++) {
        (*objects)[i] = names->interplay->objects.items[names->objects.items[i]];
        (*objects)[i].name = weft_arena_copy(arena, (*objects)[i].name);
        if (!(*objects)[i].name.bytes)
            return false;
    }
    return *objects != NULL;
}

/* ---- sites ----------------------------------------------------------------------------------- */

/* Is a function part of how threads wait, and no call site of a program? */
static bool is_tool(const struct weft_interplay *interplay, uint32_t function_id)
{
    const struct weft_blocking_use *use = &interplay->uses[function_id];
    return use->kind != WEFT_BLOCKING_OTHER || use->lock.role != WEFT_LOCK_NO_ROLE;
}

struct weft_str weft_interplay_function_of(const struct weft_interplay *interplay, uint32_t place,
                                           uint32_t *function_id)
{
    const struct weft_interplay_place *found =
        place == WEFT_ID_NONE ? NULL : &interplay->places.items[place];
    uint32_t node = found ? found->node : WEFT_ID_NONE;
    *function_id = WEFT_ID_NONE;
    for (; node != WEFT_ID_NONE; node = interplay->nodes.items[node].parent)
        if (!is_tool(interplay, interplay->nodes.items[node].function_id)) {
            *function_id = interplay->nodes.items[node].function_id;
            return weft_trace_function(interplay->trace, *function_id)->name;
        }
    return found && found->name.n_bytes ? found->name : WEFT_STR("(unknown)");
}

/* Frames of a path, innermost first; at most MOST_FRAMES. */
static size_t frames_of(const struct weft_interplay *interplay, uint32_t node, uint32_t *frames)
{
    size_t n = 0;
    for (; node != WEFT_ID_NONE && n < MOST_FRAMES; node = interplay->nodes.items[node].parent)
        frames[n++] = interplay->nodes.items[node].function_id;
    return n;
}

static bool make_path(const struct weft_interplay *interplay, struct weft_arena *arena,
                      const uint32_t *frames, size_t n, struct weft_str *path)
{
    size_t n_bytes = 0, at = 0;
    while (n > 0 && is_tool(interplay, frames[0])) { /* the call itself, and what it is made of */
        frames++;
        n--;
    }
    for (size_t i = 0; i < n; i++)
        n_bytes += weft_trace_function(interplay->trace, frames[i])->name.n_bytes + 1;
    char *text = WEFT_ARENA_NEW(arena, n_bytes + 1, char);
    for (size_t i = n; text && i-- > 0;) {
        const struct weft_str name = weft_trace_function(interplay->trace, frames[i])->name;
        if (at)
            text[at++] = ';';
        memcpy(text + at, name.bytes, name.n_bytes);
        at += name.n_bytes;
    }
    *path = (struct weft_str){ text, at };
    return text != NULL;
}

static bool make_site(const struct weft_interplay *interplay, struct weft_arena *arena,
                      uint32_t place, struct weft_interplay_site *site)
{
    const struct weft_interplay_place *found = &interplay->places.items[place];
    uint32_t frames[MOST_FRAMES];
    const size_t n = frames_of(interplay, found->node, frames);
    struct weft_str call = WEFT_STR("");
    site->function =
        weft_arena_copy(arena, weft_interplay_function_of(interplay, place, &site->function_id));
    if (n > 0 && interplay->uses[frames[0]].kind != WEFT_BLOCKING_OTHER)
        call = weft_trace_function(interplay->trace, frames[0])->name;
    site->call = weft_arena_copy(arena, call);
    site->depth = n ? (uint32_t)n - 1 : 0;
    if (!site->function.bytes || !site->call.bytes)
        return false;
    if (site->function_id == WEFT_ID_NONE) {
        site->path = site->function;
        return true;
    }
    return make_path(interplay, arena, frames, n, &site->path);
}

bool weft_interplay_copy_sites(const struct weft_interplay_names *names, struct weft_arena *arena,
                               struct weft_interplay_site **sites, size_t *n_sites)
{
    *n_sites = names->sites.n;
    *sites = WEFT_ARENA_NEW(arena, names->sites.n, struct weft_interplay_site);
    for (size_t i = 0; *sites && i < names->sites.n; i++)
        if (!make_site(names->interplay, arena, names->sites.items[i], &(*sites)[i]))
            return false;
    return *sites != NULL;
}

/* ---- rows ------------------------------------------------------------------------------------ */

bool weft_interplay_row(struct weft_interplay_names *names, const struct weft_wait *wait,
                        struct weft_correspondence *row)
{
    const uint64_t wait_ns = wait->end_ns - wait->start_ns;
    *row = (struct weft_correspondence){
        .start_ns = wait->start_ns,
        .end_ns = wait->end_ns,
        .first_release_ns = wait->release_ns,
        .last_release_ns = wait->release_ns,
        .count = 1,
        .sum_ns = wait_ns,
        .longest_ns = wait_ns,
        .waiter_id = wait->waiter_id,
        .releaser_id = wait->releaser_id,
        .holder_id = wait->holder_id,
        .wait_depth = wait->wait_depth,
        .release_depth = wait->release_depth,
        .n_objects = 1,
        .n_awaited = wait->n_awaited,
        .kind = wait->kind,
        .mode = wait->mode,
        .confidence = wait->confidence,
        .flags = wait->flags,
        .unknown = wait->unknown,
    };
    return weft_interplay_name_object(names, wait->object, &row->object) &&
           weft_interplay_name_site(names, wait->wait_site, &row->wait_site) &&
           weft_interplay_name_site(names, wait->release_site, &row->release_site);
}
