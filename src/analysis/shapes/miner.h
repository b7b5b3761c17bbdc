/* SPDX-License-Identifier: MIT
 *
 * The miner: shapes of the calls of one thread, in one bottom-up walk over its blocks.
 *
 * While a call runs, its frame is in a state: the hash-consed (function, set of the callees' shapes
 * so far). Entering gives the state of the empty set; a callee that ends moves its caller's state
 * along
 *
 *     next = transition(state, shape of the callee)      one look in a direct-mapped cache
 *
 * and when a call ends, its shape is its last state. A state becomes a shape (gets a number) when a
 * call ends in it for the first time. Sets of many callees are not worth a state for each callee
 * more: such a frame turns wide and holds its set itself, until it ends. So is a frame that finds
 * no room for more states. Whether a frame was wide makes no difference to its shape.
 *
 * Repetitions are counted beside the state, a slot for each callee in the order of the set, on a
 * stack of counters.
 *
 * Shapes are numbered by first use; given a finished table of shapes (`known`), they have that
 * table's numbers, and those it does not hold are refused.
 */
#ifndef WEFT_ANALYSIS_SHAPES_MINER_H
#define WEFT_ANALYSIS_SHAPES_MINER_H

#include "analysis/shapes/table.h"
#include "analysis/shapes/tape.h"
#include "base/error.h"
#include "schema/shapes.h"
#include "store/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call that ended. Calls of one shape are disjoint, and come in order of time. */
struct weft_shape_done {
    uint64_t start_ns, end_ns;
    uint32_t shape;
};

/* What is counted of one shape on one thread or partition. */
struct weft_shape_row {
    uint64_t count, sum_ns, min_ns, max_ns;
    weft_u128 sum_squares;           /* of durations */
    uint64_t first_ns, first_end_ns; /* the earliest */
    uint64_t slowest_ns;             /* begin of the longest, and earliest of these */
    uint32_t shape_id;
};

/* How calls were counted. */
struct weft_shape_tally {
    uint64_t calls; /* with a shape */
    uint64_t cut_calls, excluded_calls, limited_calls;
    uint64_t repaired_calls; /* of those with a shape */
};

/* What is known of a frame that crosses the border of a partition. */
struct weft_shape_crossing {
    uint64_t start_ns, end_ns;
    uint64_t row; /* in the thread, or UINT64_MAX */
    uint32_t function_id;
    uint32_t flags; /* enum weft_call_flag */
    uint64_t first; /* its callees' shapes so far: set_shape[first ... first + n) */
    uint32_t n;
    bool is_excluded;
};

/* The borders of a partition: what is open at its begin, by depth, and at its end. */
struct weft_shape_borders {
    struct weft_shape_crossing *carried; /* entered before; n_kept of them are open at the end */
    size_t n_carried, cap_carried, n_kept;
    struct weft_shape_crossing *left; /* entered here, at depth n_kept and below */
    size_t n_left, cap_left;
    uint32_t *set_shape; /* the miner's numbers */
    uint64_t *set_count;
    size_t n_set, cap_set_shape, cap_set_count;
};

void weft_shape_borders_fini(struct weft_shape_borders *borders);

struct weft_shape_limits {
    uint64_t max_shapes;
    uint64_t max_children; /* of all shapes together */
    uint64_t max_states;   /* that are no shapes, or refused ones; affects time alone */
};

struct weft_shape_frame;
struct weft_shape_step;

struct weft_miner {
    struct weft_shape_table states; /* members are shapes; node.shape is the state's, if any */
    struct weft_shape_limits limits;
    const struct weft_shape_table *known; /* NULL: number shapes by first use */
    const bool *is_excluded;              /* by function; NULL: none */
    uint32_t *trivial;                    /* by function: shape of a call without callees */
    uint32_t *entry;                      /* by function: state of a call just entered */
    struct weft_shape_step *steps;        /* the cache */
    uint64_t n_final;                     /* states that are shapes */
    /* Shapes by number, without `known`. */
    uint32_t *state_of;
    uint64_t *repeat_at; /* first of its children's in `repeat` */
    size_t n_shapes, cap_state_of, cap_repeat_at;
    struct weft_shape_repeat *repeat;
    size_t n_repeat, cap_repeat;
    bool is_over; /* a limit refused a shape */
    /* The thread. */
    struct weft_shape_frame *frames; /* by depth */
    size_t n_frames, cap_frames;
    uint64_t *counts;
    size_t cap_counts;
    struct weft_shape_done *done; /* of the last block, with `known` */
    size_t n_done, cap_done;
    /* Without it: of the partition, by shape, and the shapes that have any. */
    struct weft_shape_row *rows;
    uint32_t *touched;
    size_t n_touched, cap_rows, cap_touched;
    struct weft_shape_tape *tape;       /* the caller's, of the partition; NULL: not written */
    uint16_t *shape_at;                 /* the tape's, NULL without one */
    uint64_t tape_row;                  /* of its element 0 */
    struct weft_shape_tally tally;      /* of the partition */
    struct weft_shape_borders *borders; /* NULL when crossing calls have given shapes */
    uint32_t *scratch;
    size_t cap_scratch;
    bool is_broken; /* rows without a caller */
};

/* `known`, `is_excluded` stay the caller's. */
WEFT_CHECKED enum weft_code weft_miner_init(struct weft_miner *miner, uint32_t n_functions,
                                            const struct weft_shape_limits *limits,
                                            const struct weft_shape_table *known,
                                            const bool *is_excluded, struct weft_err *err);
void weft_miner_fini(struct weft_miner *miner);

/* Begins a partition, whose first block has `open` calls. They get the shapes `given` (WEFT_SHAPE_*
 * for none), or if that is NULL, `borders` (zeroed) records them. Depths of the thread are below
 * `depth_bound`. */
WEFT_CHECKED enum weft_code weft_miner_begin(struct weft_miner *miner, uint32_t depth_bound,
                                             const struct weft_open_call *open, size_t n_open,
                                             const uint32_t *given,
                                             struct weft_shape_borders *borders,
                                             struct weft_err *err);

/* The next block: with `known`, miner->done are the calls that ended. Shapes beyond
 * WEFT_TAPE_MAX_SHAPES make the tape useless. */
WEFT_CHECKED enum weft_code weft_miner_block(struct weft_miner *miner,
                                             const struct weft_calls *calls, struct weft_err *err);

/* Ends the partition: miner->done are those that ended since its last row. Of the thread's last
 * partition these are all. Of others, without borders, all but the outermost `n_open`, which the
 * next begins with; with borders none: they record all that the last row leaves open. */
WEFT_CHECKED enum weft_code weft_miner_end(struct weft_miner *miner, bool is_last, size_t n_open,
                                           struct weft_err *err);

/* Moves what was counted in the partition to a new array, of ascending first use. False without
 * memory. */
WEFT_CHECKED bool weft_miner_take_rows(struct weft_miner *miner, struct weft_shape_row **rows,
                                       size_t *n_rows);

#endif
