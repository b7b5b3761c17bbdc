/* SPDX-License-Identifier: MIT
 *
 * Renumbers operations and signals after everything was read: each life (init to destroy) of an
 * address in which something happened becomes an object of its own, the first of them keeps the
 * number. A hold does not reach beyond its life.
 */
#include "model/locks/lives.h"

#include "base/room.h"

#include <stdlib.h>

/* A life of an object in which something was done. */
struct piece {
    uint32_t object, life; /* lives begun until then */
    uint32_t id;
};

struct split {
    const struct weft_lock_life *lives; /* by object, then time */
    size_t n_lives;
    struct {
        struct piece *items; /* by object, then life */
        size_t n, cap;
    } pieces;
};

static int by_life(const void *a, const void *b)
{
    const struct weft_lock_life *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static int by_piece(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    return (x->life > y->life) - (x->life < y->life);
}

/* The place after the last life that began until then, of this object or one before. */
static size_t life_after(const struct split *split, uint32_t object, uint64_t at_ns)
{
    const struct weft_lock_life wanted = { at_ns, object };
    size_t low = 0, high = split->n_lives;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (by_life(&split->lives[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Does the object have more than one life? Then which it is in. */
static bool find_life(const struct split *split, uint32_t object, uint64_t at_ns,
                      struct piece *piece)
{
    const size_t after = life_after(split, object, at_ns);
    const bool has_before = after > 0 && split->lives[after - 1].object == object;
    const bool has_after = after < split->n_lives && split->lives[after].object == object;
    *piece = (struct piece){ .object = object, .life = has_before ? (uint32_t)after : 0 };
    return has_before || has_after;
}

static bool see(struct split *split, uint32_t object, uint64_t at_ns)
{
    struct piece piece;
    if (!find_life(split, object, at_ns, &piece))
        return true;
    struct piece *kept = WEFT_ROOM_PUSH(&split->pieces);
    if (kept)
        *kept = piece;
    return kept != NULL;
}

/* The first piece of each object keeps its number. */
static enum weft_code number_pieces(struct split *split, struct weft_lock_finder *finder,
                                    struct weft_err *err)
{
    struct piece *items = split->pieces.items;
    uint32_t nth = 0;
    size_t n = 0;
    enum weft_code code = WEFT_OK;
    if (split->pieces.n)
        weft_room_sort(items, split->pieces.n, sizeof *items, by_piece);
    for (size_t i = 0; i < split->pieces.n && code == WEFT_OK; i++) {
        if (n > 0 && by_piece(&items[n - 1], &items[i]) == 0)
            continue;
        const bool is_first = n == 0 || items[n - 1].object != items[i].object;
        nth = is_first ? 1 : nth + 1;
        items[n] = items[i];
        items[n].id = items[i].object;
        if (!is_first)
            code = weft_lock_finder_next_life(finder, items[i].object, nth, &items[n].id, err);
        n++;
    }
    split->pieces.n = n;
    return code;
}

static uint32_t id_of(const struct split *split, uint32_t object, uint64_t at_ns)
{
    struct piece wanted;
    if (!find_life(split, object, at_ns, &wanted))
        return object;
    const struct piece *found =
        bsearch(&wanted, split->pieces.items, split->pieces.n, sizeof wanted, by_piece);
    return found ? found->id : object;
}

/* When the next life begins. */
static uint64_t life_end(const struct split *split, uint32_t object, uint64_t at_ns)
{
    const size_t after = life_after(split, object, at_ns);
    return after < split->n_lives && split->lives[after].object == object
               ? split->lives[after].from_ns
               : UINT64_MAX;
}

static void clip(const struct split *split, struct weft_lock_op *op)
{
    const uint64_t end_ns = life_end(split, op->object, op->start_ns);
    if (op->flags & WEFT_LOCK_NO_RELEASE && end_ns < op->end_ns)
        op->end_ns = end_ns > op->got_ns ? end_ns : op->got_ns;
}

enum weft_code weft_lock_lives_split(struct weft_lock_finder *finder, struct weft_lock_ops *ops,
                                     struct weft_lock_signals *signals, struct weft_err *err)
{
    struct split split = { .lives = NULL };
    bool is_good = true;
    split.lives = weft_lock_finder_lives(finder, by_life, &split.n_lives);
    if (split.n_lives == 0)
        return WEFT_OK;
    for (size_t i = 0; i < ops->n && is_good; i++)
        is_good = see(&split, ops->items[i].object, ops->items[i].start_ns);
    for (size_t i = 0; i < signals->n && is_good; i++)
        is_good = see(&split, signals->items[i].object, signals->items[i].at_ns);
    enum weft_code code =
        is_good ? number_pieces(&split, finder, err) : weft_no_memory(err, "locks");
    for (size_t i = 0; i < ops->n && code == WEFT_OK; i++) {
        clip(&split, &ops->items[i]);
        ops->items[i].object = id_of(&split, ops->items[i].object, ops->items[i].start_ns);
    }
    for (size_t i = 0; i < signals->n && code == WEFT_OK; i++)
        signals->items[i].object = id_of(&split, signals->items[i].object, signals->items[i].at_ns);
    WEFT_ROOM_FINI(&split.pieces);
    return code;
}
