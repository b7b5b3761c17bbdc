/* SPDX-License-Identifier: MIT
 *
 * Sorts executions in runs (base/runs.h) that may lie in files, and keeps their metric values in
 * the spool beside them, by position. Order: start, longest first, then the rest of the row, so
 * that results do not depend on workers.
 */
#include "analysis/executions/gather.h"

#include "base/runs.h"

#include <stdlib.h>
#include <string.h>

/* Values are put one behind the other into pieces of the spool. */
enum { PIECE_BYTES = 1 << 20 };

struct weft_execution_gather {
    struct weft_execution_sizes sizes;
    struct weft_spool *spool; /* NULL once it is the caller's */
    struct weft_runs *runs;
    uint8_t *piece;
    size_t piece_left; /* bytes */
    bool has_values;
};

static int by_start(const void *a_void, const void *b_void, void *context)
{
    const struct weft_execution_gathered *a = a_void, *b = b_void;
    const struct weft_execution_row *x = &a->row, *y = &b->row;
    (void)context;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    if (x->thread_id != y->thread_id)
        return x->thread_id < y->thread_id ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->end_thread_id != y->end_thread_id)
        return x->end_thread_id < y->end_thread_id ? -1 : 1;
    if (x->flags != y->flags)
        return x->flags < y->flags ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

struct weft_execution_gather *weft_execution_gather_new(const struct weft_execution_sizes *sizes)
{
    const struct weft_runs_opts opts = { .record_bytes = sizeof(struct weft_execution_gathered),
                                         .compare = by_start,
                                         .run_bytes = sizes->run_bytes };
    struct weft_execution_gather *gather = calloc(1, sizeof *gather);
    if (!gather)
        return NULL;
    gather->sizes = *sizes;
    gather->spool = weft_spool_new(sizes->spool_bytes);
    gather->runs = gather->spool ? weft_runs_new(gather->spool, &opts) : NULL;
    if (!gather->runs) {
        weft_execution_gather_free(gather);
        return NULL;
    }
    return gather;
}

void weft_execution_gather_free(struct weft_execution_gather *gather)
{
    if (!gather)
        return;
    weft_runs_free(gather->runs);
    weft_spool_free(gather->spool);
    free(gather);
}

static enum weft_code reserve_values(struct weft_execution_gather *gather, size_t n_bytes,
                                     struct weft_err *err)
{
    if (n_bytes <= gather->piece_left)
        return WEFT_OK;
    gather->piece_left = n_bytes > PIECE_BYTES ? n_bytes : PIECE_BYTES;
    const enum weft_code code =
        weft_spool_array(gather->spool, gather->piece_left, 1, &gather->piece, err);
    if (code != WEFT_OK)
        gather->piece_left = 0;
    return code;
}

static enum weft_code keep_values(struct weft_execution_gather *gather,
                                  const struct weft_execution_found *found,
                                  const struct weft_execution_values **kept, struct weft_err *err)
{
    const size_t n_begin = found->begin ? found->begin->n : 0;
    const size_t n_end = found->end ? found->end->n : 0;
    const size_t n_bytes = sizeof **kept + (n_begin + n_end) * sizeof(struct weft_metric_value);
    if (n_begin + n_end == 0)
        return WEFT_OK;
    WEFT_TRY(reserve_values(gather, n_bytes, err));
    struct weft_execution_values *values = (void *)gather->piece;
    values->n = n_begin + n_end;
    if (n_begin)
        memcpy(values->items, found->begin->items, n_begin * sizeof *values->items);
    if (n_end)
        memcpy(values->items + n_begin, found->end->items, n_end * sizeof *values->items);
    gather->piece += n_bytes;
    gather->piece_left -= n_bytes;
    gather->has_values = true;
    *kept = values;
    return WEFT_OK;
}

enum weft_code weft_execution_gather_add(struct weft_execution_gather *gather,
                                         const struct weft_execution_found *found,
                                         struct weft_err *err)
{
    struct weft_execution_gathered gathered = { .row = found->row,
                                                .sequence = weft_runs_count(gather->runs) };
    const enum weft_code code = keep_values(gather, found, &gathered.values, err);
    return code == WEFT_OK ? weft_runs_add(gather->runs, &gathered, err) : code;
}

const struct weft_execution_sizes *
weft_execution_gather_sizes(const struct weft_execution_gather *gather)
{
    return &gather->sizes;
}

size_t weft_execution_gather_count(const struct weft_execution_gather *gather)
{
    return (size_t)weft_runs_count(gather->runs);
}

bool weft_execution_gather_has_values(const struct weft_execution_gather *gather)
{
    return gather->has_values;
}

enum weft_code weft_execution_gather_seal(struct weft_execution_gather *gather,
                                          struct weft_err *err)
{
    return weft_runs_seal(gather->runs, err);
}

struct weft_spool *weft_execution_gather_spool(const struct weft_execution_gather *gather)
{
    return gather->spool;
}

struct weft_spool *weft_execution_gather_take_spool(struct weft_execution_gather *gather)
{
    struct weft_spool *spool = gather->spool;
    weft_runs_free(gather->runs);
    gather->runs = NULL;
    gather->spool = NULL;
    return spool;
}

const struct weft_execution_gathered *
weft_execution_gather_next(struct weft_execution_gather *gather)
{
    return weft_runs_next(gather->runs);
}
