/* SPDX-License-Identifier: MIT
 *
 * Sums by context, over summaries of blocks and calls one by one, and what is kept of summaries
 * from query to query: which contexts they name, and what they add.
 *
 * Paths stay in one tree, so that a summary that was read once is added without looking for them.
 */
#ifndef WEFT_MODEL_INTERVAL_SUMS_H
#define WEFT_MODEL_INTERVAL_SUMS_H

#include "store/context_tree.h"
#include "store/reader.h"

struct weft_interval_sum {
    uint64_t count, self_ns; /* modulo 2^64 until the query is complete */
};

/* Of a context in a summary that is kept: nearly all are small. */
struct weft_interval_small {
    uint32_t self_ns;
    uint16_t count;
    uint16_t node;
};

struct weft_interval_kept {
    uint64_t count, self_ns;
    uint32_t node;
};

/* What a summary is of. */
struct weft_interval_key {
    uint32_t thread_id;
    unsigned level; /* 0: a block; WEFT_INTERVAL_PREFIX: all blocks before `block` */
    uint64_t block;
};

#define WEFT_INTERVAL_PREFIX 15U

struct weft_interval_summary {
    struct weft_interval_key key;
    struct weft_interval_kept *kept;   /* directly behind */
    struct weft_interval_small *small; /* behind these */
    size_t n_kept, n_small;
    struct weft_interval_summary *next_in_slot;
    struct weft_interval_summary *newer, *older; /* by use */
};

struct weft_interval_values {
    struct {
        struct weft_interval_sum *items;
        size_t n, cap;
    } sums; /* by context; 0 where no bit is set */
    struct {
        uint64_t *items;
        size_t n, cap;
    } touched; /* a bit for each context */
};

struct weft_interval_sums {
    struct weft_store *store;
    struct weft_block_buf *buf;
    struct weft_context_tree tree;        /* paths; its numbers are not used */
    struct weft_interval_values at;       /* what is added to */
    struct weft_interval_values aside[2]; /* all 0, but for the first n_aside */
    unsigned n_aside;
    struct weft_context_entries entries;
    struct weft_interval_summary **slots;
    struct weft_interval_summary *newest, *oldest;
    size_t n_bytes, most_bytes; /* of summaries; most 0: none is kept */
};

/* False without memory. */
bool weft_interval_sums_init(struct weft_interval_sums *sums, struct weft_store *store);
void weft_interval_sums_fini(struct weft_interval_sums *sums);

/* Keeps summaries of up to so many bytes from query to query, the least recently used go first. */
void weft_interval_sums_keep(struct weft_interval_sums *sums, size_t n_bytes);

/* Before a query: all sums are 0. False without memory, as the next. */
bool weft_interval_sums_start(struct weft_interval_sums *sums);

/* Forgets all paths and summaries, and sums. False without memory. */
bool weft_interval_sums_reset(struct weft_interval_sums *sums);

/* Leaves the `n_keep` contexts of most inclusive time (of equal ones those met first), callers of
 * contexts always among them; the others' time counts for the callers that stay. Sums must not be
 * modulo 2^64, and no summary kept. False without memory. */
bool weft_interval_sums_prune(struct weft_interval_sums *sums, size_t n_keep);

/* All sums become 0; from now on the tree is frozen (weft_context_tree_freeze). */
bool weft_interval_sums_freeze(struct weft_interval_sums *sums);

/* Room for so many contexts more than the tree has. */
bool weft_interval_sums_reserve(struct weft_interval_sums *sums, size_t n_more);

/* Adds to a context of the tree; what is to be subtracted is given modulo 2^64. */
static inline void weft_interval_sums_add(struct weft_interval_sums *sums, uint32_t node,
                                          uint64_t count, uint64_t self_ns)
{
    sums->at.touched.items[node / 64] |= UINT64_C(1) << node % 64;
    sums->at.sums.items[node].count += count;
    sums->at.sums.items[node].self_ns += self_ns;
}

/* Adds time to a context to which something was added before. */
static inline void weft_interval_sums_add_ns(struct weft_interval_sums *sums, uint32_t node,
                                             uint64_t self_ns)
{
    sums->at.sums.items[node].self_ns += self_ns;
}

/* Adds (sign 1) or subtracts (sign UINT64_MAX) the summary of a block or group of blocks;
 * *is_known: there is one. Fails as weft_store_contexts. */
WEFT_CHECKED enum weft_code weft_interval_sums_group(struct weft_interval_sums *sums,
                                                     const struct weft_interval_key *key,
                                                     uint64_t sign, bool *is_known,
                                                     struct weft_err *err);

/* Adds or subtracts a kept summary; false if there is none. To make one, the sums are put aside (at
 * most twice), all become 0, and what was added up until they come back is kept, and added to or
 * subtracted from them, if it `is_whole`. False without memory, or if it is not. */
bool weft_interval_sums_kept(struct weft_interval_sums *sums, const struct weft_interval_key *key,
                             uint64_t sign);
void weft_interval_sums_aside(struct weft_interval_sums *sums);
bool weft_interval_sums_back(struct weft_interval_sums *sums, const struct weft_interval_key *key,
                             uint64_t sign, bool is_whole);

/* Bytes of a kept summary of all contexts, roughly. */
size_t weft_interval_sums_bytes(const struct weft_interval_sums *sums);

#endif
