/* SPDX-License-Identifier: MIT
 *
 * Sorted runs in a spool, merged by a binary heap. With a limit on the number of results (n_most),
 * a full buffer is sorted and cut instead of spilled, so that a top-N needs O(N) memory. Not
 * thread-safe.
 */
#include "base/runs.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { RUN_BYTES = 16 << 20 };

/* A sorted run, as far as it was not read yet. */
struct run {
    uint8_t *records; /* in the spool; NULL: those in memory */
    const uint8_t *at, *end;
};

struct weft_runs {
    struct weft_spool *spool;
    struct weft_runs_opts opts;
    struct {
        uint8_t *items;
        size_t n, cap; /* records */
        bool is_sorted;
    } held;
    size_t n_run; /* records of a run */
    uint64_t n_added, n_read;
    struct {
        struct run *items;
        size_t n, cap;
    } runs;
    struct {
        size_t *items; /* runs, the one with the least record on top */
        size_t n, cap;
    } heap;
    bool has_read; /* the top's record */
};

struct weft_runs *weft_runs_new(struct weft_spool *spool, const struct weft_runs_opts *opts)
{
    struct weft_runs *runs = calloc(1, sizeof *runs);
    if (!runs)
        return NULL;
    runs->spool = spool;
    runs->opts = *opts;
    runs->n_run = (opts->run_bytes ? opts->run_bytes : RUN_BYTES) / opts->record_bytes;
    runs->n_run += runs->n_run < 2 ? 2 : 0;
    runs->held.is_sorted = true;
    return runs;
}

void weft_runs_free(struct weft_runs *runs)
{
    if (!runs)
        return;
    for (size_t i = 0; i < runs->runs.n; i++)
        weft_spool_drop(runs->spool, runs->runs.items[i].records);
    WEFT_VEC_FINI(&runs->runs);
    WEFT_VEC_FINI(&runs->heap);
    free(runs->held.items);
    free(runs);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void sort_held(struct weft_runs *runs)
{
    if (!runs->held.is_sorted)
        qsort_r(runs->held.items, runs->held.n, runs->opts.record_bytes, runs->opts.compare,
                runs->opts.context);
    runs->held.is_sorted = true;
    if (runs->opts.n_most && runs->held.n > runs->opts.n_most)
        runs->held.n = (size_t)runs->opts.n_most;
}

static enum weft_code spill(struct weft_runs *runs, struct weft_err *err)
{
    const size_t n_bytes = runs->held.n * runs->opts.record_bytes;
    struct run *run = WEFT_VEC_PUSH(&runs->runs);
    if (!run)
        return weft_no_memory(err, "sorting");
    const enum weft_code code =
        weft_spool_array(runs->spool, runs->held.n, runs->opts.record_bytes, &run->records, err);
    if (code != WEFT_OK) {
        runs->runs.n--;
        return code;
    }
    memcpy(run->records, runs->held.items, n_bytes);
    weft_spool_forget(runs->spool);
    run->at = run->records;
    run->end = run->records + n_bytes;
    runs->held.n = 0;
    return WEFT_OK;
}

/* Room for one more. Where few are wanted, the others make room, and nothing is spilled. */
static enum weft_code make_room(struct weft_runs *runs, struct weft_err *err)
{
    if (runs->held.n >= runs->n_run) {
        sort_held(runs);
        if (runs->held.n > runs->n_run / 2)
            return spill(runs, err);
    }
    if (runs->held.n < runs->held.cap)
        return WEFT_OK;
    return weft_vec_reserve(&runs->held.items, &runs->held.cap, runs->held.n + 1,
                            runs->opts.record_bytes)
               ? WEFT_OK
               : weft_no_memory(err, "sorting");
}

enum weft_code weft_runs_add(struct weft_runs *runs, const void *record, struct weft_err *err)
{
    const size_t record_bytes = runs->opts.record_bytes;
    WEFT_TRY(make_room(runs, err));
    uint8_t *to = runs->held.items + runs->held.n * record_bytes;
    memcpy(to, record, record_bytes);
    if (runs->held.n && runs->held.is_sorted)
        runs->held.is_sorted = runs->opts.compare(to - record_bytes, to, runs->opts.context) <= 0;
    runs->held.n++;
    runs->n_added++;
    return WEFT_OK;
}

uint64_t weft_runs_count(const struct weft_runs *runs)
{
    return runs->n_added;
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool is_before(const struct weft_runs *runs, size_t a, size_t b)
{
    return runs->opts.compare(runs->runs.items[a].at, runs->runs.items[b].at, runs->opts.context) <
           0;
}

static void heap_sift(struct weft_runs *runs, size_t at)
{
    size_t *items = runs->heap.items;
    const size_t moved = items[at];
    for (size_t next = 2 * at + 1; next < runs->heap.n; next = 2 * at + 1) {
        next += next + 1 < runs->heap.n && is_before(runs, items[next + 1], items[next]);
        if (!is_before(runs, items[next], moved))
            break;
        items[at] = items[next];
        at = next;
    }
    items[at] = moved;
}

enum weft_code weft_runs_seal(struct weft_runs *runs, struct weft_err *err)
{
    sort_held(runs);
    if (runs->held.n) {
        struct run *run = WEFT_VEC_PUSH(&runs->runs);
        if (!run)
            return weft_no_memory(err, "sorting");
        run->at = runs->held.items;
        run->end = run->at + runs->held.n * runs->opts.record_bytes;
    }
    for (size_t i = 0; i < runs->runs.n; i++) {
        size_t *item = WEFT_VEC_PUSH(&runs->heap);
        if (!item)
            return weft_no_memory(err, "sorting");
        *item = i;
    }
    for (size_t at = runs->heap.n / 2; at-- > 0;)
        heap_sift(runs, at);
    return WEFT_OK;
}

/* Leaves the record that was handed out last. */
static void pass(struct weft_runs *runs)
{
    struct run *run = &runs->runs.items[runs->heap.items[0]];
    run->at += runs->opts.record_bytes;
    if (run->at == run->end) {
        weft_spool_drop(runs->spool, run->records);
        run->records = NULL;
        runs->heap.items[0] = runs->heap.items[--runs->heap.n];
    }
    if (runs->heap.n)
        heap_sift(runs, 0);
}

const void *weft_runs_next(struct weft_runs *runs)
{
    if (runs->has_read)
        pass(runs);
    runs->has_read = runs->heap.n && (runs->opts.n_most == 0 || runs->n_read < runs->opts.n_most);
    if (!runs->has_read) {
        runs->heap.n = 0;
        return NULL;
    }
    runs->n_read++;
    return runs->runs.items[runs->heap.items[0]].at;
}
