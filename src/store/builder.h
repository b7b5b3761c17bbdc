/* SPDX-License-Identifier: MIT
 *
 * Balances the calls of one thread by the rules of schema/sink.h and collects them as the rows of a
 * block. Memory: O(rows of a block + depth), grown by need, kept when a builder moves on to another
 * thread.
 */
#ifndef WEFT_STORE_BUILDER_H
#define WEFT_STORE_BUILDER_H

#include "base/error.h"
#include "schema/event.h"
#include "store/block.h"
#include "store/contexts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call on the stack. */
struct weft_builder_frame {
    uint64_t start_ns;
    uint32_t key;
    uint32_t function; /* index in functions */
    uint32_t row;      /* in its block; meaningless once carried */
};

struct weft_builder_function {
    uint32_t key;
    uint32_t on_stack; /* activations open now */
    uint32_t stamp;    /* block it was last used in */
    uint32_t index;    /* in that block's dictionary */
};

/* Hash table entry; `place` is 1 + index in functions, 0 free. */
struct weft_builder_slot {
    uint32_t key;
    uint32_t place;
};

/* What the loop over events keeps in registers. */
struct weft_builder_hot {
    uint64_t clock_ns; /* of the latest event seen */
    uint64_t last_ns;  /* of the latest event stored */
    uint64_t longest_call_ns, longest_gap_ns;
    uint32_t depth;      /* frames on the stack */
    uint32_t depth_room; /* frames that fit */
    uint32_t floor;      /* exits at this depth or below are special (carried, cut, dropped) */
    uint32_t n_rows, row_room;
    uint32_t n_exits;
    uint32_t pops; /* exits since the last entry of this block */
    uint32_t n_keys;
    uint32_t max_depth; /* of entries since the last cut frame */
};

/* What was repaired or dropped in this thread. */
struct weft_builder_counts {
    uint64_t calls; /* rows stored */
    uint64_t n_repaired, n_ignored, n_too_deep, n_backward, n_args_dropped;
    uint64_t n_cut_end; /* exits that stand for the end of the recording */
};

struct weft_builder {
    struct weft_builder_hot hot;
    struct weft_builder_counts counts;
    struct weft_block_rows rows;
    struct weft_builder_frame *stack;
    size_t cap_stack;
    struct weft_builder_function *functions;
    size_t n_functions, cap_functions;
    struct weft_builder_slot *slots;
    unsigned slot_bits;
    uint32_t stamp;
    uint32_t carried;   /* frames of the stack that were entered in earlier blocks */
    uint32_t n_dropped; /* entries beyond the depth limit that are open */
    struct {
        uint32_t *items;
        size_t n, cap;
    } cut_keys; /* functions of the cut frames that ended in the block */
    uint32_t last_arg_row;
    uint32_t n_row_args;  /* arguments that row has */
    uint32_t refused_row; /* arguments while this many rows stand belong to a dropped entry */
    uint32_t n_cut;       /* cut frames so far */
    int32_t max_level;    /* of the entries before the last cut frame */
    uint32_t block_rows;  /* rows after which a block is full */
    uint64_t last_ended_ns;
    uint64_t first_row_ns; /* of the block */
    bool is_fresh;         /* the block has no event yet */
    bool has_events;       /* the thread has one */
    uint64_t thread_first_ns;
    struct weft_context_walk walk;
    struct weft_context_groups groups;
    struct weft_lod_thread lod;
    struct weft_block_head head; /* of the block in work: numbers known at its begin */
    struct weft_builder *next;   /* in the writer's free list */
};

/* Called with a full block: encodes it and lets go of its rows (weft_builder_next_block). */
struct weft_builder_flush {
    enum weft_code (*flush)(void *context, struct weft_builder *builder, struct weft_err *err);
    void *context;
};

/* NULL without memory. */
struct weft_builder *weft_builder_new(uint32_t block_rows);
void weft_builder_free(struct weft_builder *builder);

/* Forgets the thread before and starts on another. */
void weft_builder_start(struct weft_builder *builder, uint32_t thread_id);

/* Takes a batch of events. The hot path. WEFT_E_NOMEM, WEFT_E_LIMIT, and what flush returns. */
WEFT_CHECKED enum weft_code
weft_builder_calls(struct weft_builder *builder, const struct weft_call_event *events,
                   size_t n_events, const struct weft_builder_flush *flush, struct weft_err *err);

/* True if the block holds anything to flush. */
bool weft_builder_has_block(const struct weft_builder *builder);

/* Row of the latest entry, in the thread; UINT64_MAX if there is none or it was dropped. */
uint64_t weft_builder_last_row(const struct weft_builder *builder);

/* Completes builder->head (but for the columns) and rows.left, for weft_block_encode. */
WEFT_CHECKED enum weft_code weft_builder_finish_block(struct weft_builder *builder,
                                                      struct weft_err *err);

/* Starts the next block of the same thread. */
void weft_builder_next_block(struct weft_builder *builder);

#endif
