/* SPDX-License-Identifier: MIT */
#include "ingest/perf/order.h"

#include "base/vec.h"

/* Records that are fetched before they are asked for. */
enum { AHEAD = 8, LINE_BYTES = 64 };

void perf_order_init(const struct perf_file *file, uint64_t most_queued, uint64_t most_kept,
                     struct perf_order *order)
{
    *order = (struct perf_order){
        .file = file, .most_queued = most_queued, .most_kept = most_kept, .is_kept = true
    };
}

void perf_order_fini(struct perf_order *order)
{
    WEFT_VEC_FINI(&order->queue);
    WEFT_VEC_FINI(&order->room);
    WEFT_VEC_FINI(&order->kept);
}

void perf_order_rewind(struct perf_order *order)
{
    order->next = 0;
    order->is_replay = order->is_kept;
    if (order->is_replay)
        return;
    order->at = 0;
    order->queue.n = order->n_sorted = order->n_ready = 0;
    order->last_ns = order->newest_ns = order->round_ns = order->n_late = 0;
}

/* ---- sorting ----------------------------------------------------------------------------------
 */

/* End of the run of ascending times that begins at `from`. */
static size_t run_end(const struct perf_place *places, size_t from, size_t n_places)
{
    size_t end = from + 1;
    while (end < n_places && places[end - 1].time_ns <= places[end].time_ns)
        end++;
    return end;
}

/* Of equal times the first run's come first. */
static void merge(const struct perf_place *first, size_t n_first, const struct perf_place *second,
                  size_t n_second, struct perf_place *out)
{
    while (n_first && n_second) {
        const bool takes_first = first->time_ns <= second->time_ns;
        *out++ = takes_first ? *first++ : *second++;
        n_first -= takes_first;
        n_second -= !takes_first;
    }
    if (n_first)
        memcpy(out, first, n_first * sizeof *out);
    if (n_second)
        memcpy(out, second, n_second * sizeof *out);
}

/* Merges each two neighbouring runs of `from` to `to`. Number of runs left. */
static size_t merge_pairs(const struct perf_place *from, size_t n_places, struct perf_place *to)
{
    size_t n_runs = 0;
    for (size_t at = 0; at < n_places; n_runs++) {
        const size_t middle = run_end(from, at, n_places);
        const size_t end = middle < n_places ? run_end(from, middle, n_places) : middle;
        merge(from + at, middle - at, from + middle, end - middle, to + at);
        at = end;
    }
    return n_runs;
}

/* Sorts what was added; a processor's records are a run already. */
static bool sort(struct perf_order *order)
{
    const size_t n_places = order->queue.n;
    if (order->n_sorted == n_places)
        return true;
    if (!weft_vec_reserve(&order->room.items, &order->room.cap, order->queue.cap,
                          sizeof *order->room.items))
        return false;
    size_t n_runs = 2;
    if (run_end(order->queue.items, 0, n_places) == n_places)
        n_runs = 1;
    while (n_runs > 1) {
        n_runs = merge_pairs(order->queue.items, n_places, order->room.items);
        struct perf_place *items = order->queue.items;
        const size_t cap = order->queue.cap;
        order->queue.items = order->room.items;
        order->queue.cap = order->room.cap;
        order->room.items = items;
        order->room.cap = cap;
    }
    order->n_sorted = n_places;
    return true;
}

/* ---- rounds -----------------------------------------------------------------------------------
 */

/* What was given out leaves the queue. */
static void drop_given(struct perf_order *order)
{
    const size_t n_left = order->queue.n - order->next;
    if (order->next == 0)
        return;
    if (n_left)
        memmove(order->queue.items, order->queue.items + order->next,
                n_left * sizeof *order->queue.items);
    order->queue.n = n_left;
    order->n_sorted = order->n_sorted > order->next ? order->n_sorted - order->next : 0;
    order->next = order->n_ready = 0;
}

/* Makes those up to `limit_ns` ready, and `n_least` at least. */
static bool make_ready(struct perf_order *order, uint64_t limit_ns, size_t n_least)
{
    if (!sort(order))
        return false;
    size_t low = 0;
    size_t high = order->queue.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (order->queue.items[middle].time_ns <= limit_ns)
            low = middle + 1;
        else
            high = middle;
    }
    order->n_ready = low > n_least ? low : n_least;
    return true;
}

static bool is_of_kernel(const struct perf_record *record)
{
    return record->type < PERF_FIRST_OWN;
}

static bool queue_record(struct perf_order *order, const struct perf_record *record, uint64_t at)
{
    struct perf_place *place = WEFT_VEC_PUSH(&order->queue);
    if (!place)
        return false;
    place->at = at;
    place->time_ns = perf_time_of(&order->file->attrs, record->type == PERF_SAMPLE, record->body,
                                  record->n_body, order->file->is_big);
    if (place->time_ns > order->newest_ns)
        order->newest_ns = place->time_ns;
    return true;
}

/* Reads until records are ready, or all are. */
static enum weft_code fill(struct perf_order *order, struct weft_err *err)
{
    const struct perf_records *records = &order->file->records;
    struct perf_record record;
    bool is_good = true;
    drop_given(order);
    while (is_good && order->n_ready == 0) {
        const uint64_t at = order->at;
        if (!perf_record_next(records, &order->at, &record)) {
            is_good = make_ready(order, UINT64_MAX, 0);
            break;
        }
        if (is_of_kernel(&record)) {
            is_good = queue_record(order, &record, at);
            if (order->queue.n >= order->most_queued)
                is_good = is_good && make_ready(order, 0, order->queue.n / 2 + 1);
        } else if (record.type == PERF_OWN_FINISHED_ROUND) {
            is_good = make_ready(order, order->round_ns, 0);
            order->round_ns = order->newest_ns;
        }
    }
    return is_good ? WEFT_OK
                   : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to sort records");
}

/* The place is given out; without room for it all are forgotten. */
static void keep(struct perf_order *order, const struct perf_place *place)
{
    struct perf_place *kept =
        order->is_kept && order->kept.n < order->most_kept ? WEFT_VEC_PUSH(&order->kept) : NULL;
    if (kept) {
        *kept = *place;
    } else if (order->is_kept) {
        WEFT_VEC_FINI(&order->kept);
        order->is_kept = false;
    }
}

/* A time never steps back. */
static void raise_time(struct perf_order *order, struct perf_place *place)
{
    if (place->time_ns < order->last_ns && place->time_ns > 0) {
        order->n_late++;
        place->time_ns = order->last_ns;
    } else if (place->time_ns > 0) {
        order->last_ns = place->time_ns;
    }
}

/* The record that comes a little later lies anywhere: it is under way meanwhile. */
static void fetch_ahead(const struct perf_order *order, const struct perf_place *places, size_t n)
{
    if (order->next + AHEAD >= n)
        return;
    const struct perf_records *records = &order->file->records;
    const uint64_t at = places[order->next + AHEAD].at;
    __builtin_prefetch(records->bytes + at);
    if (records->n_bytes - at > LINE_BYTES)
        __builtin_prefetch(records->bytes + at + LINE_BYTES);
}

enum weft_code perf_order_next(struct perf_order *order, struct perf_record *record,
                               uint64_t *time_ns, bool *is_end, struct weft_err *err)
{
    if (!order->is_replay && order->next == order->n_ready) {
        const enum weft_code code = fill(order, err);
        if (code != WEFT_OK)
            return code;
    }
    const struct perf_place *places = order->is_replay ? order->kept.items : order->queue.items;
    const size_t n_places = order->is_replay ? order->kept.n : order->n_ready;
    *is_end = order->next == n_places;
    if (*is_end)
        return WEFT_OK;
    fetch_ahead(order, places, n_places);
    struct perf_place place = places[order->next++];
    if (!order->is_replay) {
        raise_time(order, &place);
        keep(order, &place);
    }
    *time_ns = place.time_ns;
    (void)perf_record_next(&order->file->records, &place.at, record);
    return WEFT_OK;
}
