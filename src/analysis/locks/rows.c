/* SPDX-License-Identifier: MIT
 *
 * Four kinds of rows with one macro each for adding and finishing: a full vector is sorted and
 * equal keys are folded, and it grows only if that frees less than half. So memory follows the
 * number of different rows, not of operations.
 */
#include "analysis/locks/rows.h"

#include "base/room.h"

#include <stdlib.h>

/* Vectors below this many rows are not worth folding. */
enum { FOLD_AT = 4096 };

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int first_of(int a, int b)
{
    return a ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t place_of(struct weft_str name)
{
    return (uint64_t)(uintptr_t)name.bytes;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int site_key(const void *a, const void *b)
{
    const struct weft_locks_site *x = a, *y = b;
    return first_of(compare(x->lock, y->lock), compare(place_of(x->name), place_of(y->name)));
}

static int pair_key(const void *a, const void *b)
{
    const struct weft_locks_pair *x = a, *y = b;
    return first_of(compare(x->lock, y->lock), first_of(compare(x->blocker_id, y->blocker_id),
                                                        compare(x->waiter_id, y->waiter_id)));
}

static int context_key(const void *a, const void *b)
{
    const struct weft_locks_context *x = a, *y = b;
    return first_of(compare(x->lock, y->lock),
                    first_of(compare(x->thread_id, y->thread_id),
                             compare(place_of(x->name), place_of(y->name))));
}

static int order_key(const void *a, const void *b)
{
    const struct weft_locks_order *x = a, *y = b;
    return first_of(compare(x->first, y->first), compare(x->second, y->second));
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void site_sum(void *to_void, const void *from_void)
{
    struct weft_locks_site *to = to_void;
    const struct weft_locks_site *from = from_void;
    to->acquisitions += from->acquisitions;
    to->contended += from->contended;
    to->wait_ns += from->wait_ns;
    to->hold_ns += from->hold_ns;
    to->longest_wait_ns = most(to->longest_wait_ns, from->longest_wait_ns);
}

static void pair_sum(void *to_void, const void *from_void)
{
    struct weft_locks_pair *to = to_void;
    const struct weft_locks_pair *from = from_void;
    to->count += from->count;
    to->sum_ns += from->sum_ns;
    if (from->longest_ns > to->longest_ns ||
        (from->longest_ns == to->longest_ns && from->longest_at_ns < to->longest_at_ns)) {
        to->longest_ns = from->longest_ns;
        to->longest_at_ns = from->longest_at_ns;
    }
}

static void context_sum(void *to_void, const void *from_void)
{
    struct weft_locks_context *to = to_void;
    to->sum_ns += ((const struct weft_locks_context *)from_void)->sum_ns;
}

static void order_sum(void *to_void, const void *from_void)
{
    struct weft_locks_order *to = to_void;
    const struct weft_locks_order *from = from_void;
    to->count += from->count;
    if (from->first_at_ns < to->first_at_ns)
        to->first_at_ns = from->first_at_ns;
}

/* Rows of one key become one. Returns how many there are. */
static size_t fold(void *items, size_t n, size_t item_bytes, int (*key)(const void *, const void *),
                   void (*sum)(void *, const void *))
{
    char *bytes = items;
    size_t n_kept = 0;
    if (n)
        weft_room_sort(items, n, item_bytes, key);
    for (size_t i = 0; i < n; i++) {
        char *row = bytes + i * item_bytes;
        char *last = n_kept ? bytes + (n_kept - 1) * item_bytes : NULL;
        if (last && key(last, row) == 0)
            sum(last, row);
        else
            memmove(bytes + n_kept++ * item_bytes, row, item_bytes);
    }
    return n_kept;
}

/* Makes room for one more: folds, and grows only if that leaves more than half. */
#define ADD(rows, made, key, sum)                                                                  \
    do {                                                                                           \
        if ((rows)->n == (rows)->cap && (rows)->n >= FOLD_AT) {                                    \
            (rows)->n = fold((rows)->items, (rows)->n, sizeof *(rows)->items, (key), (sum));       \
            if ((rows)->n > (rows)->cap / 2 &&                                                     \
                !weft_room_reserve(&(rows)->items, &(rows)->cap, (rows)->cap + 1,                  \
                                   sizeof *(rows)->items))                                         \
                return weft_no_memory(err, "locks");                                               \
        }                                                                                          \
        if (!WEFT_ROOM_PUSH(rows))                                                                 \
            return weft_no_memory(err, "locks");                                                   \
        (rows)->items[(rows)->n - 1] = *(made);                                                    \
        return WEFT_OK;                                                                            \
    } while (0)

enum weft_code weft_locks_site_add(struct weft_locks_sites *sites,
                                   const struct weft_locks_site *made, struct weft_err *err)
{
    ADD(sites, made, site_key, site_sum);
}

enum weft_code weft_locks_pair_add(struct weft_locks_pairs *pairs,
                                   const struct weft_locks_pair *made, struct weft_err *err)
{
    ADD(pairs, made, pair_key, pair_sum);
}

enum weft_code weft_locks_context_add(struct weft_locks_contexts *contexts,
                                      const struct weft_locks_context *made, struct weft_err *err)
{
    ADD(contexts, made, context_key, context_sum);
}

enum weft_code weft_locks_order_add(struct weft_locks_orders *orders,
                                    const struct weft_locks_order *made, struct weft_err *err)
{
    ADD(orders, made, order_key, order_sum);
}

/* ---- the order of the table ------------------------------------------------------------------ */

static int by_site(const void *a, const void *b)
{
    const struct weft_locks_site *x = a, *y = b;
    if (x->lock != y->lock)
        return compare(x->lock, y->lock);
    if (x->wait_ns != y->wait_ns)
        return compare(y->wait_ns, x->wait_ns);
    if (x->acquisitions != y->acquisitions)
        return compare(y->acquisitions, x->acquisitions);
    return weft_str_compare(x->name, y->name);
}

static int by_pair(const void *a, const void *b)
{
    const struct weft_locks_pair *x = a, *y = b;
    return first_of(compare(x->lock, y->lock),
                    first_of(compare(y->sum_ns, x->sum_ns), pair_key(a, b)));
}

static int by_context(const void *a, const void *b)
{
    const struct weft_locks_context *x = a, *y = b;
    const int by_name =
        first_of(compare(x->thread_id, y->thread_id), weft_str_compare(x->name, y->name));
    return first_of(compare(x->lock, y->lock), first_of(compare(y->sum_ns, x->sum_ns), by_name));
}

static int by_order(const void *a, const void *b)
{
    const struct weft_locks_order *x = a, *y = b;
    if ((x->inverse > 0) != (y->inverse > 0))
        return x->inverse > 0 ? -1 : 1;
    return first_of(compare(y->count, x->count), order_key(a, b));
}

static int by_convoy(const void *a, const void *b)
{
    const struct weft_locks_convoy *x = a, *y = b;
    const int by_time = first_of(compare(x->start_ns, y->start_ns), compare(x->lock, y->lock));
    return first_of(compare(y->acquisitions, x->acquisitions),
                    first_of(compare(y->wait_ns, x->wait_ns), by_time));
}

#define FINISH(rows, key, sum, by)                                                                 \
    do {                                                                                           \
        (rows)->n = fold((rows)->items, (rows)->n, sizeof *(rows)->items, (key), (sum));           \
        for (size_t i = 0; i < (rows)->n; i++)                                                     \
            (rows)->items[i].lock = place[(rows)->items[i].lock];                                  \
        if ((rows)->n)                                                                             \
            weft_room_sort((rows)->items, (rows)->n, sizeof *(rows)->items, (by));                 \
    } while (0)

void weft_locks_sites_finish(struct weft_locks_sites *sites, const uint32_t *place)
{
    FINISH(sites, site_key, site_sum, by_site);
}

void weft_locks_pairs_finish(struct weft_locks_pairs *pairs, const uint32_t *place)
{
    FINISH(pairs, pair_key, pair_sum, by_pair);
}

void weft_locks_contexts_finish(struct weft_locks_contexts *contexts, const uint32_t *place)
{
    FINISH(contexts, context_key, context_sum, by_context);
}

void weft_locks_orders_finish(struct weft_locks_orders *orders, const uint32_t *place)
{
    orders->n = fold(orders->items, orders->n, sizeof *orders->items, order_key, order_sum);
    for (size_t i = 0; i < orders->n; i++) {
        const struct weft_locks_order inverse = { .first = orders->items[i].second,
                                                  .second = orders->items[i].first };
        const struct weft_locks_order *found =
            bsearch(&inverse, orders->items, orders->n, sizeof *orders->items, order_key);
        orders->items[i].inverse = found ? found->count : 0;
    }
    for (size_t i = 0; i < orders->n; i++) {
        orders->items[i].first = place[orders->items[i].first];
        orders->items[i].second = place[orders->items[i].second];
    }
    if (orders->n)
        weft_room_sort(orders->items, orders->n, sizeof *orders->items, by_order);
}

void weft_locks_convoys_finish(struct weft_locks_convoys *convoys, const uint32_t *place)
{
    for (size_t i = 0; i < convoys->n; i++)
        convoys->items[i].lock = place[convoys->items[i].lock];
    if (convoys->n)
        weft_room_sort(convoys->items, convoys->n, sizeof *convoys->items, by_convoy);
}
