/* SPDX-License-Identifier: MIT
 *
 * Contexts of a block: its calling context tree, as a column of the block, and of groups of blocks,
 * as the index of intervals (docs/format.md, "Contexts").
 */
#ifndef WEFT_STORE_CONTEXTS_H
#define WEFT_STORE_CONTEXTS_H

#include "base/cursor.h"
#include "base/error.h"
#include "store/block.h"
#include "store/bytes.h"
#include "store/context_tree.h"
#include "store/lod_build.h"

/* The most bytes that contexts may have: of a block (level 0) an eighth of its other columns, of a
 * group half as much for each level, so that all together are at most a quarter. Where contexts
 * are more, nearly every call has its own, and reading the calls is as cheap. */
static inline uint64_t weft_contexts_limit(unsigned level, uint64_t block_bytes)
{
    return block_bytes >> (3 + level);
}

/* Appends the tree. False without memory (bytes->has_failed is set then, too). */
bool weft_contexts_put(const struct weft_context_tree *tree, struct weft_bytes *bytes);

/* The function that a key stands for in the tree to be filled; WEFT_ID_NONE: there is none. */
typedef uint32_t (*weft_contexts_function_fn)(const void *context, uint32_t key);

/* All numbers together: for comparison with what else is known of the block. */
struct weft_contexts_sum {
    uint64_t count, self_ns;
};

/* Reads a tree that weft_contexts_put wrote: its paths are added below node `at` of `into`, and its
 * numbers appended to `entries`. `stack` is scratch memory.
 * WEFT_E_MALFORMED (then both hold a part of it), WEFT_E_NOMEM. */
struct weft_contexts_stack {
    uint32_t *items;
    size_t n, cap;
};
WEFT_CHECKED enum weft_code weft_contexts_read(struct weft_cursor *in,
                                               weft_contexts_function_fn function_of,
                                               const void *context, struct weft_context_tree *into,
                                               uint32_t at, struct weft_contexts_stack *stack,
                                               struct weft_context_entries *entries,
                                               struct weft_contexts_sum *sum, struct weft_err *err);

/* ---- writing --------------------------------------------------------------------------------- */

/* What one thread's contexts need while its blocks are made; reused from thread to thread. */
struct weft_context_walk {
    struct weft_context_tree tree; /* of the block */
    struct {
        uint32_t *items; /* keys of the calls open when the block begins, outermost first */
        size_t n, cap;
    } open;
    struct weft_contexts_stack stack;
    uint64_t last_ns; /* last event of the block before */
    bool has_block;   /* there was one */
    bool is_known;    /* the tree is whole: it has not more contexts than are worth it */
};

/* Makes walk->tree of a finished block from its rows, before they are encoded; walk->open must be
 * set. `cut_keys` are the cut frames that end in it. Every entry and exit is shown to `lod`, too,
 * which was started with the block. False without memory. */
bool weft_context_walk_block(struct weft_context_walk *walk, const struct weft_block_head *head,
                             const struct weft_block_rows *rows, const uint32_t *cut_keys,
                             struct weft_lod_walk *lod);

void weft_context_walk_start(struct weft_context_walk *walk);
void weft_context_walk_fini(struct weft_context_walk *walk);

/* Blocks are joined in groups, groups in groups of a higher level, while a thread is written. */
enum { WEFT_CONTEXT_GROUP = 16, WEFT_CONTEXT_LEVELS = 12 };

/* How many groups are finished when `n_blocks` blocks are, and, of those that the last of these
 * finishes, the levels up to `level`. Groups are numbered so. */
static inline uint64_t weft_contexts_n_groups(uint64_t n_blocks, unsigned level)
{
    uint64_t n = 0;
    const uint64_t before = level ? n_blocks - 1 : n_blocks;
    uint64_t width = WEFT_CONTEXT_GROUP;
    for (unsigned i = 1; i <= WEFT_CONTEXT_LEVELS; i++, width *= WEFT_CONTEXT_GROUP)
        n += before / width;
    return n + level;
}

struct weft_context_groups {
    struct weft_context_level {
        struct weft_context_tree tree;
        uint32_t n_members;
        bool is_broken;       /* a member is not known, or there are too many contexts */
        uint64_t block_bytes; /* of the blocks in it */
    } levels[WEFT_CONTEXT_LEVELS];
    struct weft_bytes entries; /* finished groups, in the order in which they were finished */
    struct weft_bytes scratch;
};

void weft_context_groups_start(struct weft_context_groups *groups);
void weft_context_groups_fini(struct weft_context_groups *groups);

/* Adds a block; `tree` NULL: its contexts are not known. False without memory. */
bool weft_context_groups_add(struct weft_context_groups *groups,
                             const struct weft_context_tree *tree, const uint32_t *cut_keys,
                             size_t n_cut, uint64_t block_bytes);

#endif
