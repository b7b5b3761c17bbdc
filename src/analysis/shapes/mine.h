/* SPDX-License-Identifier: MIT
 *
 * Mining: the shapes of a trace in canonical order, with what is counted of them on every thread;
 * and replaying: the calls of the trace again, each with its shape.
 *
 * A thread may be cut into partitions at any block. Each is mined alone:
 *
 *          partition 0          partition 1           partition 2
 *       +----------------+ +------------------+ +------------------+
 *     f |..g( ) h(       | |     g( )   )     | |  h( )  )         |
 *
 * calls that lie within have a shape at once; of those open at a border each partition records
 * which shapes their callees had, and joining neighbours adds these sets. The result does not
 * depend on the cuts, nor on the number of workers.
 *
 * Where a limit is met, the trace is mined again in a defined order, thread by thread and call by
 * call: shapes are accepted by first end of a call until there are too many. If they are then on so
 * many threads that their rows are too many, again with room for fewer shapes.
 */
#ifndef WEFT_ANALYSIS_SHAPES_MINE_H
#define WEFT_ANALYSIS_SHAPES_MINE_H

#include "analysis/analysis.h"
#include "analysis/shapes/miner.h"
#include "analysis/shapes/set.h"
#include "analysis/shapes/tape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A partition begins at this block, in the numbers of scans (model/calls/scan.h). */
struct weft_mine_cut {
    uint32_t thread_id;
    uint64_t block;
};

struct weft_mine_opts {
    const struct weft_window *window;
    const bool *is_excluded;          /* by function id */
    uint64_t max_shapes;              /* 0: WEFT_MINE_MAX_SHAPES */
    uint64_t max_children;            /* of all shapes; 0: WEFT_MINE_MAX_CHILDREN */
    uint64_t max_rows;                /* of shapes on threads; 0: any number */
    uint64_t max_states;              /* 0: the default. Changes nothing but time */
    uint64_t max_tape_bytes;          /* 0: the default. Changes nothing but time */
    const struct weft_mine_cut *cuts; /* ascending; NULL: threads of very many calls are cut, so
                                         that all workers have work */
    size_t n_cuts;
};

enum {
    WEFT_MINE_MAX_SHAPES = 1 << 19,
    WEFT_MINE_MAX_CHILDREN = 1 << 23,
    WEFT_MINE_MAX_STATES = 1 << 18, /* that are no shapes, of a miner */
};

struct weft_mined_thread {
    uint32_t thread_id;
    struct weft_shape_row *rows; /* ascending shape */
    size_t n_rows;
    struct weft_shape_tally tally;
    size_t first_part, n_parts;
    bool is_taped;
};

/* Partitions, by thread and block. */
struct weft_mine_part {
    size_t item; /* the mined thread */
    uint64_t first_block, end_block;
    uint32_t *given; /* shapes of the calls open at its begin, by depth */
    size_t n_given;
    bool is_empty;
    unsigned worker;             /* that mined it */
    struct weft_shape_tape tape; /* in the worker's numbers; all of a thread have one, or none */
};

/* The shapes of a worker: shape_of[its number], as its tapes have it. */
struct weft_mine_names {
    uint32_t *shape_of;
    size_t n_shapes, cap_shapes;
};

struct weft_mined {
    struct weft_arena *arena;
    struct weft_shape_set set;         /* in canonical order */
    struct weft_shape_repeat *repeats; /* of each of set.child */
    struct weft_shape_table table;     /* the same sets, to look them up; nodes are shapes */
    struct weft_mined_thread *threads; /* selected, ascending id */
    size_t n_threads;
    struct weft_mine_part *parts;
    size_t n_parts;
    struct weft_mine_names *names; /* by worker */
    unsigned n_names;
    bool has_durations; /* every call's is on a tape */
};

/* WEFT_E_NOMEM, WEFT_E_CANCELLED, and what loading a block returns. */
WEFT_CHECKED enum weft_code weft_mine_run(const struct weft_trace *trace,
                                          const struct weft_thread_filter *filter,
                                          const struct weft_mine_opts *opts,
                                          const struct weft_run *run, struct weft_mined *mined,
                                          struct weft_err *err);
void weft_mined_fini(struct weft_mined *mined);

/* Receives the calls of partitions again, block by block. Those of a partition that do not contain
 * each other come in order of time; partitions of a thread may be shown at once. */
struct weft_shape_replay_sink {
    void *context;
    enum weft_code (*begin)(void *context, size_t part, unsigned worker, struct weft_err *err);
    enum weft_code (*calls)(void *context, size_t part, unsigned worker,
                            const struct weft_shape_done *done, size_t n_done,
                            struct weft_err *err);
    enum weft_code (*end)(void *context, size_t part, unsigned worker, struct weft_err *err);
};

struct weft_shape_replay;

/* Everything stays the caller's and must outlive the replay. */
WEFT_CHECKED enum weft_code
weft_shape_replay_new(const struct weft_trace *trace, const struct weft_mined *mined,
                      const struct weft_mine_opts *opts, const struct weft_run *run,
                      struct weft_shape_replay **replay, struct weft_err *err);
void weft_shape_replay_free(struct weft_shape_replay *replay);

/* One pass over the mined threads `items` (ascending; NULL: all). */
WEFT_CHECKED enum weft_code weft_shape_replay_run(struct weft_shape_replay *replay,
                                                  const size_t *items, size_t n_items,
                                                  const struct weft_shape_replay_sink *sink,
                                                  struct weft_err *err);

#endif
