/* SPDX-License-Identifier: MIT
 *
 * What tables of the interplay have in common: which waits are asked for, and the objects and sites
 * that their rows name.
 */
#ifndef WEFT_ANALYSIS_INTERPLAY_TABLES_H
#define WEFT_ANALYSIS_INTERPLAY_TABLES_H

#include "analysis/interplay/interplay.h"
#include "analysis/kept_threads.h"

/* Objects and sites that rows name, in the order in which they were first named. */
struct weft_interplay_names {
    const struct weft_interplay *interplay;
    struct weft_map *object_of, *site_of;
    struct {
        uint32_t *items; /* of the model */
        size_t n, cap;
    } objects, sites;
};

bool weft_interplay_names_init(struct weft_interplay_names *names,
                               const struct weft_interplay *interplay);
void weft_interplay_names_fini(struct weft_interplay_names *names);

/* Places in the table, of what the model calls `object` and `site` (WEFT_ID_NONE stays that). False
 * without memory. */
bool weft_interplay_name_object(struct weft_interplay_names *names, uint32_t object,
                                uint32_t *place);
bool weft_interplay_name_site(struct weft_interplay_names *names, uint32_t site, uint32_t *place);

/* Copies of them. False without memory. */
bool weft_interplay_copy_objects(const struct weft_interplay_names *names, struct weft_arena *arena,
                                 struct weft_shared_object **objects, size_t *n_objects);
bool weft_interplay_copy_sites(const struct weft_interplay_names *names, struct weft_arena *arena,
                               struct weft_interplay_site **sites, size_t *n_sites);

/* The site of a node and a name: its function, as shown; lives as the trace or the model. */
struct weft_str weft_interplay_function_of(const struct weft_interplay *interplay, uint32_t place,
                                           uint32_t *function_id);

static inline bool weft_interplay_touches(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns,
                                          uint64_t to_ns)
{
    return start_ns < to_ns && (end_ns > from_ns || (end_ns == start_ns && start_ns >= from_ns));
}

/* The part inside a window. */
static inline uint64_t weft_interplay_inside(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns,
                                             uint64_t to_ns)
{
    const uint64_t first_ns = start_ns > from_ns ? start_ns : from_ns;
    const uint64_t last_ns = end_ns < to_ns ? end_ns : to_ns;
    return last_ns > first_ns ? last_ns - first_ns : 0;
}

/* A wait as a row of a table, alone. False without memory. */
bool weft_interplay_row(struct weft_interplay_names *names, const struct weft_wait *wait,
                        struct weft_correspondence *row);

#endif
