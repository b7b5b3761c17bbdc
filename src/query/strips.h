/* SPDX-License-Identifier: MIT
 *
 * States of a session's threads from kernel events, as so many pixels can show them.
 */
#ifndef WEFT_QUERY_STRIPS_H
#define WEFT_QUERY_STRIPS_H

#include "query/session.h"

/* A state longer than a pixel, or several that follow each other: kind, reason and name are those
 * of the longest. */
struct weft_strip_item {
    uint64_t start_ns, end_ns;
    uint64_t longest_ns;
    uint64_t running_ns; /* of it, on a CPU; an idle task's idling is not */
    uint32_t count;
    uint32_t kind, reason; /* enum weft_state_kind, enum weft_wait_reason */
    uint32_t name;         /* index into the names */
};

struct weft_strips {
    struct weft_history *history; /* the names lie in it */
    struct {
        struct weft_lod_span *items;
        size_t n, cap;
    } threads;
    struct {
        struct weft_strip_item *items;
        size_t n, cap;
    } items;
    struct {
        struct weft_str *items;
        size_t n, cap;
    } names;
    uint64_t from_ns, to_ns, pixel_ns;
    bool is_known; /* as weft_states_table */
};

/* Without a thread, for [from_ns, to_ns) on `width` pixels. To be freed after a failure, too. */
WEFT_CHECKED enum weft_code weft_strips_init(struct weft_strips *strips,
                                             const struct weft_session *session, uint64_t from_ns,
                                             uint64_t to_ns, uint64_t width, struct weft_err *err);

/* WEFT_E_NOMEM, WEFT_E_CANCELLED, and errors of reading. */
WEFT_CHECKED enum weft_code weft_strips_add(struct weft_strips *strips,
                                            const struct weft_session *session, uint32_t thread_id,
                                            struct weft_err *err);
void weft_strips_fini(struct weft_strips *strips);

#endif
