/* SPDX-License-Identifier: MIT
 *
 * Tries party counts from the number of threads downward, with every offset of a cut first round,
 * and accepts the first under which all complete rounds hold; bounded by MOST_PARTIES and
 * MOST_TRIES.
 */
#include "model/locks/rounds.h"

#include "base/map.h"
#include "base/room.h"

#include <stdlib.h>

enum { MOST_PARTIES = 4096, MOST_TRIES = 64 };

struct rounds {
    const struct weft_lock_op *ops;
    uint32_t *order; /* by start */
    uint32_t *seen;  /* by place of the thread: the round it was last in, + 1 */
    uint32_t *place; /* by operation: of its thread */
    size_t n;
};

static int by_start(const void *a, const void *b, void *context)
{
    const struct weft_lock_op *ops = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (ops[i].start_ns != ops[j].start_ns)
        return ops[i].start_ns < ops[j].start_ns ? -1 : 1;
    return (i > j) - (i < j);
}

/* Is a round from place `from` on, of `n_parties`? */
static bool is_round(struct rounds *rounds, size_t from, size_t n_parties, uint32_t number)
{
    const uint64_t last_ns = rounds->ops[rounds->order[from + n_parties - 1]].start_ns;
    for (size_t i = from; i < from + n_parties; i++) {
        const uint32_t op = rounds->order[i];
        if (rounds->ops[op].got_ns < last_ns || rounds->seen[rounds->place[op]] == number)
            return false;
        rounds->seen[rounds->place[op]] = number;
    }
    return true;
}

/* Are all of them rounds, but for those that are cut at both ends? */
static bool are_rounds(struct rounds *rounds, size_t offset, size_t n_parties, uint32_t *number)
{
    if (offset + n_parties > rounds->n)
        return false;
    for (size_t from = offset; from + n_parties <= rounds->n; from += n_parties)
        if (!is_round(rounds, from, n_parties, ++*number))
            return false;
    return true;
}

static void fill(const struct rounds *rounds, size_t offset, size_t n_parties, uint32_t *last_of)
{
    for (size_t from = offset; from + n_parties <= rounds->n; from += n_parties)
        for (size_t i = from; i < from + n_parties; i++)
            last_of[rounds->order[i]] = rounds->order[from + n_parties - 1];
}

/* As many as there are threads, or if that is not so, fewer; each may be cut at the begin. */
static void find(struct rounds *rounds, size_t n_threads, uint32_t *last_of)
{
    uint32_t number = 0;
    size_t n_tries = 0;
    for (size_t n_parties = n_threads; n_parties >= 2 && n_tries < MOST_TRIES; n_parties--)
        for (size_t offset = 0; offset < n_parties && n_tries < MOST_TRIES; offset++) {
            n_tries++;
            if (are_rounds(rounds, offset, n_parties, &number)) {
                fill(rounds, offset, n_parties, last_of);
                return;
            }
        }
}

enum weft_code weft_lock_rounds_find(const struct weft_lock_op *ops, size_t n, uint32_t *last_of,
                                     struct weft_err *err)
{
    struct rounds rounds = { .ops = ops,
                             .order = weft_room_new(n + 1, sizeof *rounds.order),
                             .place = weft_room_new(n + 1, sizeof *rounds.place),
                             .seen = weft_room_new(n + 1, sizeof *rounds.seen) };
    struct weft_map *threads = weft_map_new();
    bool is_good = rounds.order && rounds.place && rounds.seen && threads;
    for (uint32_t i = 0; i < n && is_good; i++) {
        last_of[i] = UINT32_MAX;
        rounds.place[i] = weft_map_add(threads, ops[i].thread_id, NULL);
        is_good = rounds.place[i] != WEFT_MAP_NONE;
        if (!(ops[i].flags & WEFT_LOCK_FAILED))
            rounds.order[rounds.n++] = i;
    }
    if (is_good) {
        weft_room_sort_r(rounds.order, rounds.n, sizeof *rounds.order, by_start,
                         (void *)(uintptr_t)ops);
        if (weft_map_count(threads) <= MOST_PARTIES)
            find(&rounds, weft_map_count(threads), last_of);
    }
    weft_map_free(threads);
    weft_room_free(rounds.order);
    weft_room_free(rounds.place);
    weft_room_free(rounds.seen);
    return is_good ? WEFT_OK : weft_no_memory(err, "barriers");
}
