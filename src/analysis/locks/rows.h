/* SPDX-License-Identifier: MIT
 *
 * Rows of the table of locks, while they are summed: one is pushed for each contribution, and those
 * of one key are folded into one before the vector grows.
 */
#ifndef WEFT_ANALYSIS_LOCKS_ROWS_H
#define WEFT_ANALYSIS_LOCKS_ROWS_H

#include "base/error.h"
#include "schema/locks.h"

struct weft_locks_sites {
    struct weft_locks_site *items;
    size_t n, cap;
};

struct weft_locks_pairs {
    struct weft_locks_pair *items;
    size_t n, cap;
};

struct weft_locks_contexts {
    struct weft_locks_context *items;
    size_t n, cap;
};

struct weft_locks_orders {
    struct weft_locks_order *items;
    size_t n, cap;
};

struct weft_locks_convoys {
    struct weft_locks_convoy *items;
    size_t n, cap;
};

/* Each adds a row, and folds those of one key. Names are compared by their place: they live in one
 * string table. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_locks_site_add(struct weft_locks_sites *sites,
                                                const struct weft_locks_site *made,
                                                struct weft_err *err);
WEFT_CHECKED enum weft_code weft_locks_pair_add(struct weft_locks_pairs *pairs,
                                                const struct weft_locks_pair *made,
                                                struct weft_err *err);
WEFT_CHECKED enum weft_code weft_locks_context_add(struct weft_locks_contexts *contexts,
                                                   const struct weft_locks_context *made,
                                                   struct weft_err *err);
WEFT_CHECKED enum weft_code weft_locks_order_add(struct weft_locks_orders *orders,
                                                 const struct weft_locks_order *made,
                                                 struct weft_err *err);

/* One row a key, in the order of the table; of orders, `inverse` is set. `place` says where each
 * lock stands in the table. */
void weft_locks_sites_finish(struct weft_locks_sites *sites, const uint32_t *place);
void weft_locks_pairs_finish(struct weft_locks_pairs *pairs, const uint32_t *place);
void weft_locks_contexts_finish(struct weft_locks_contexts *contexts, const uint32_t *place);
void weft_locks_orders_finish(struct weft_locks_orders *orders, const uint32_t *place);
void weft_locks_convoys_finish(struct weft_locks_convoys *convoys, const uint32_t *place);

#endif
