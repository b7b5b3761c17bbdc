/* SPDX-License-Identifier: MIT
 *
 * A hash map from key (type, scope, matched field) to a chain of open starts, innermost first. Keys
 * without open starts are dropped once they are many, so that memory follows what is open, not what
 * the trace contains.
 */
#include "analysis/executions/pairs.h"

#include "base/checked.h"
#include "base/vec.h"
#include "schema/event.h"

#include <stdlib.h>

enum { LEAST_KEYS = 1024 }; /* are kept, whether anything is open under them or not */

void weft_execution_pairs_fini(struct weft_execution_pairs *pairs)
{
    for (size_t i = 0; i < pairs->pending.n; i++)
        free(pairs->pending.items[i].begin.values);
    weft_map_free(pairs->keys);
    WEFT_VEC_FINI(&pairs->tops);
    WEFT_VEC_FINI(&pairs->pending);
    WEFT_VEC_FINI(&pairs->ends);
    *pairs = (struct weft_execution_pairs){ 0 };
}

void weft_executions_found_fini(struct weft_executions_found *found)
{
    for (size_t i = 0; i < found->n; i++) {
        free(found->items[i].begin);
        free(found->items[i].end);
    }
    WEFT_VEC_FINI(found);
}

/* Of keys under which nothing is open none is kept, but for a few. */
static bool forget_keys(struct weft_execution_pairs *pairs)
{
    size_t n = 0;
    uint64_t *keys = calloc(pairs->n_open + 1, sizeof *keys);
    bool is_ok = keys != NULL;
    for (uint32_t id = 0; is_ok && id < pairs->tops.n; id++)
        if (pairs->tops.items[id] != WEFT_ID_NONE) {
            keys[n] = weft_map_key(pairs->keys, id);
            pairs->tops.items[n++] = pairs->tops.items[id];
        }
    if (is_ok) {
        weft_map_reset(pairs->keys);
        pairs->tops.n = n;
    }
    for (size_t i = 0; is_ok && i < n; i++)
        is_ok = weft_map_add(pairs->keys, keys[i], NULL) != WEFT_MAP_NONE;
    free(keys);
    return is_ok;
}

/* The innermost open one of a key, which is made; NULL without memory. */
static uint32_t *add_key(struct weft_execution_pairs *pairs, uint64_t key)
{
    bool is_new = false;
    if (!pairs->keys)
        pairs->keys = weft_map_new();
    if (!pairs->keys ||
        (pairs->tops.n >= LEAST_KEYS && pairs->tops.n / 4 >= pairs->n_open && !forget_keys(pairs)))
        return NULL;
    const uint32_t id = weft_map_add(pairs->keys, key, &is_new);
    if (id == WEFT_MAP_NONE)
        return NULL;
    if (!is_new)
        return &pairs->tops.items[id];
    uint32_t *top = WEFT_VEC_PUSH(&pairs->tops);
    if (top)
        *top = WEFT_ID_NONE;
    return top;
}

/* The same, NULL if nothing is open. */
static uint32_t *find_key(struct weft_execution_pairs *pairs, uint64_t key)
{
    const uint32_t id = pairs->keys ? weft_map_find(pairs->keys, key) : WEFT_MAP_NONE;
    return id == WEFT_MAP_NONE || pairs->tops.items[id] == WEFT_ID_NONE ? NULL
                                                                        : &pairs->tops.items[id];
}

static bool open_one(struct weft_execution_pairs *pairs, struct weft_execution_point *point)
{
    uint32_t *top = add_key(pairs, point->key);
    uint32_t place = pairs->free - 1;
    if (!top)
        return false;
    if (pairs->free)
        pairs->free = pairs->pending.items[place].below;
    else if (WEFT_VEC_PUSH(&pairs->pending))
        place = (uint32_t)pairs->pending.n - 1;
    else
        return false;
    pairs->pending.items[place] =
        (struct weft_execution_pending){ .begin = *point, .below = *top, .is_open = true };
    point->values = NULL;
    *top = place;
    pairs->n_open++;
    return true;
}

static bool add_row(struct weft_executions_found *found, struct weft_execution_point *begin,
                    uint64_t end_ns, struct weft_execution_point *end)
{
    struct weft_execution_found *row = WEFT_VEC_PUSH(found);
    if (!row)
        return false;
    row->row =
        (struct weft_execution_row){ .type = begin->type,
                                     .thread_id = begin->thread_id,
                                     .end_thread_id = end ? end->thread_id : begin->thread_id,
                                     .flags = end ? 0 : WEFT_EXECUTION_UNFINISHED,
                                     .start_ns = begin->at_ns,
                                     .end_ns = weft_max_u64(end_ns, begin->at_ns),
                                     .key = begin->shown };
    row->begin = begin->values;
    begin->values = NULL;
    if (end) {
        row->end = end->values;
        end->values = NULL;
    }
    return true;
}

/* The ends of a type that made no row; NULL without memory. */
static struct weft_execution_ends *ends_of(struct weft_execution_pairs *pairs, uint32_t type)
{
    while (pairs->ends.n <= type)
        if (!WEFT_VEC_PUSH(&pairs->ends))
            return NULL;
    return &pairs->ends.items[type];
}

static bool drop_one(struct weft_execution_pairs *pairs, uint32_t type)
{
    struct weft_execution_ends *ends = ends_of(pairs, type);
    if (ends)
        ends->dropped++;
    return ends != NULL;
}

/* Ends what is innermost, if anything is open, and, of a late end, if that is of another thread. */
static enum weft_code end_one(struct weft_execution_pairs *pairs,
                              struct weft_execution_point *point, bool is_late, bool *is_matched,
                              struct weft_executions_found *found, struct weft_err *err)
{
    uint32_t *top = find_key(pairs, point->key);
    const uint32_t place = top ? *top : 0;
    struct weft_execution_pending *pending = top ? &pairs->pending.items[place] : NULL;
    *is_matched = pending && (!is_late || pending->begin.thread_id != point->thread_id);
    if (!*is_matched)
        return WEFT_OK;
    *top = pending->below;
    const bool is_ok = point->is_dropped ? drop_one(pairs, point->type)
                                         : add_row(found, &pending->begin, point->at_ns, point);
    free(pending->begin.values);
    pending->begin.values = NULL;
    pending->is_open = false;
    pending->below = pairs->free;
    pairs->free = place + 1;
    pairs->n_open--;
    return is_ok ? WEFT_OK : weft_no_memory(err, "executions");
}

static enum weft_code take_one(struct weft_execution_pairs *pairs,
                               struct weft_execution_point *point, bool is_late, bool *is_matched,
                               struct weft_executions_found *found, struct weft_err *err)
{
    *is_matched = true;
    if (point->is_end)
        return end_one(pairs, point, is_late, is_matched, found, err);
    if (is_late)
        return WEFT_OK;
    return open_one(pairs, point) ? WEFT_OK : weft_no_memory(err, "executions");
}

/* Points of one ns. The end of what the point itself begins anew is of the one before alone: the
 * first of them ends nothing. Other late ends are those that found nothing open when they came:
 * they may find what began on another thread in that ns. */
static enum weft_code take_group(struct weft_execution_pairs *pairs,
                                 struct weft_execution_point *points, size_t n_points,
                                 struct weft_executions_found *found, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    bool is_matched;
    uint8_t few[64] = { 0 };
    uint8_t *is_late = n_points <= sizeof few ? few : calloc(n_points, 1);
    if (!is_late)
        return weft_no_memory(err, "executions");
    for (size_t i = 0; i < n_points && code == WEFT_OK; i++) {
        code = take_one(pairs, &points[i], false, &is_matched, found, err);
        is_late[i] = !is_matched && !points[i].is_turn;
    }
    for (size_t i = 0; i < n_points && code == WEFT_OK; i++) {
        if (!is_late[i])
            continue;
        code = take_one(pairs, &points[i], true, &is_matched, found, err);
        if (code != WEFT_OK || is_matched)
            continue;
        struct weft_execution_ends *ends = ends_of(pairs, points[i].type);
        if (ends)
            ends->unmatched++;
        else
            code = weft_no_memory(err, "executions");
    }
    if (is_late != few)
        free(is_late);
    return code;
}

enum weft_code weft_execution_pairs_take(struct weft_execution_pairs *pairs,
                                         struct weft_execution_point *points, size_t n_points,
                                         bool is_across, struct weft_executions_found *found,
                                         struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0, end; i < n_points && code == WEFT_OK; i = end) {
        end = i + 1;
        while (is_across && end < n_points && points[end].at_ns == points[i].at_ns)
            end++;
        code = take_group(pairs, points + i, end - i, found, err);
    }
    for (size_t i = 0; i < n_points; i++) {
        free(points[i].values);
        points[i].values = NULL;
    }
    return code;
}

enum weft_code weft_execution_pairs_finish(struct weft_execution_pairs *pairs, uint64_t end_ns,
                                           struct weft_executions_found *found,
                                           struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < pairs->pending.n && code == WEFT_OK; i++)
        if (pairs->pending.items[i].is_open &&
            !add_row(found, &pairs->pending.items[i].begin, end_ns, NULL))
            code = weft_no_memory(err, "executions");
    for (size_t i = 0; i < pairs->pending.n; i++)
        free(pairs->pending.items[i].begin.values);
    pairs->pending.n = pairs->tops.n = 0;
    pairs->n_open = 0;
    pairs->free = 0;
    if (pairs->keys)
        weft_map_reset(pairs->keys);
    return code;
}
