/* SPDX-License-Identifier: MIT
 *
 * The walk backward through the execution graph (docs/analyses/critical-path.md).
 *
 *     at (thread, to): what was it just before?
 *       ran, or could have run    that is a segment of the path; go on before it
 *       was blocked               go to its waker, and on until the time at which it was
 *                                 blocked; then come back, and go on before that
 */
#ifndef WEFT_ANALYSIS_PATH_WALK_H
#define WEFT_ANALYSIS_PATH_WALK_H

#include "base/pool.h"
#include "model/graph/graph.h"

#include <stdbool.h>

enum {
    WEFT_PATH_DEPTH_MAX = 64, /* waits within waits that are followed */
    WEFT_PATH_ARROWS = 4,     /* for each segment that is admitted */
};

struct weft_path_walk_opts {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    size_t max_segments; /* more, or WEFT_PATH_ARROWS times as many arrows, are WEFT_E_LIMIT; 0: any
                            number */
    const struct weft_progress *progress; /* asked whether the work was interrupted; may be NULL */
    bool with_frames; /* wants frames, and a place of each segment; segments of several are not
                         joined then, and arrows are in no order */
};

/* On which thread the path was, and which wait of another one it stood for. */
struct weft_path_frame {
    uint32_t parent; /* of the thread that waited; WEFT_ID_NONE: the thread asked for */
    uint32_t thread_id;
    uint32_t lock;        /* number of what was waited for + 1; 0: not known */
    uint64_t wait_ns;     /* here the wait began */
    struct weft_str call; /* the system call in which it waited; may be empty */
    bool is_task;         /* took the place of a thread, to which it had brought something to do */
    bool is_uncertain;
};

/* What a segment does not contain itself. */
struct weft_path_place {
    uint32_t frame;       /* place in frames */
    uint32_t lock;        /* BLOCKED: as above */
    uint64_t wait_ns;     /* BLOCKED: where the wait began; it may go on in flight */
    struct weft_str call; /* of the state, before what ended it was looked for */
};

struct weft_path_segments {
    struct weft_path_segment *items;
    size_t n, cap;
};

struct weft_path_arrows {
    struct weft_path_arrow *items;
    size_t n, cap;
};

struct weft_path_walked {
    struct weft_path_segments segments; /* in order of time; names are the graph's */
    struct weft_path_arrows arrows;     /* by from_ns, then to_ns */
    uint64_t n_cycles, n_too_deep;
    struct {
        struct weft_path_frame *items; /* a parent is before its children */
        size_t n, cap;
    } frames;
    struct {
        struct weft_path_place *items; /* of each segment */
        size_t n, cap;
    } places;
};

/* The path of opts->thread_id; function_id and other_ns are left to others. Of PREEMPTED segments
 * other_thread_id is WEFT_ID_NONE. `walked`, all zero or of a path before, is the caller's to
 * free, also after a failure. Time:
 * O(segments x WEFT_PATH_DEPTH_MAX) and as many questions to the graph. */
WEFT_CHECKED enum weft_code weft_path_walk(struct weft_graph *graph,
                                           const struct weft_path_walk_opts *opts,
                                           struct weft_path_walked *walked, struct weft_err *err);

void weft_path_walked_fini(struct weft_path_walked *walked);

#endif
