/* SPDX-License-Identifier: MIT
 *
 * A natural merge sort of record offsets: a CPU's records are runs already. Times never step back;
 * a record that is late is raised and counted. The order of a small trace is kept for the second
 * pass, that of a large one is computed again.
 */
#include "ingest/perf/order.h"

#include "base/search.h"

#include <string.h>

/* One in so many bytes of a ceiling. */
enum { MEMORY_SHARE = 16, LEAST_PLACES = 1024 };
#define DEFAULT_BYTES (UINT64_C(256) << 20)

bool perf_order_init(const struct perf_file *file, uint64_t most_queued, uint64_t most_kept,
                     uint64_t memory_bytes, struct perf_order *order)
{
    *order = (struct perf_order){ .file = file,
                                  .spool = weft_spool_new(memory_bytes ? memory_bytes / MEMORY_SHARE
                                                                       : DEFAULT_BYTES),
                                  .most_queued = most_queued,
                                  .most_kept = most_kept,
                                  .is_kept = true };
    return order->spool != NULL;
}

void perf_order_fini(struct perf_order *order)
{
    weft_spool_free(order->spool);
    *order = (struct perf_order){ 0 };
}

/* Room for `want` places, of which the first `n` stay; false without memory. */
static bool reserve(struct perf_order *order, struct perf_place **items, size_t *cap, size_t n,
                    size_t want)
{
    struct perf_place *made;
    size_t n_made = 2 * *cap > LEAST_PLACES ? 2 * *cap : LEAST_PLACES;
    if (want <= *cap)
        return true;
    n_made = n_made > want ? n_made : want;
    if (weft_spool_array(order->spool, n_made, sizeof *made, &made, NULL) != WEFT_OK)
        return false;
    if (n)
        memcpy(made, *items, n * sizeof *made);
    weft_spool_drop(order->spool, *items);
    *items = made;
    *cap = n_made;
    return true;
}

void perf_order_rewind(struct perf_order *order)
{
    order->next = 0;
    if (order->is_kept)
        return;
    order->at = 0;
    order->places.n = order->n_sorted = order->n_ready = 0;
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

/* Merges two runs that follow each other; of equal times the first run's come first. There is room
 * for that. */
static void merge(struct perf_place *places, size_t n_first, size_t n_places,
                  struct perf_place *room)
{
    const struct perf_place *first = room, *first_end = room + n_first;
    const struct perf_place *second = places + n_first, *second_end = places + n_places;
    memcpy(room, places, n_first * sizeof *room);
    while (first < first_end && second < second_end) {
        const bool takes_first = first->time_ns <= second->time_ns;
        *places++ = takes_first ? *first++ : *second++;
    }
    if (first < first_end)
        memcpy(places, first, (size_t)(first_end - first) * sizeof *places);
}

/* Merges each two neighbouring runs; *n_runs are left. False without memory. */
static bool merge_pairs(struct perf_order *order, struct perf_place *places, size_t n_places,
                        size_t *n_runs)
{
    *n_runs = 0;
    for (size_t at = 0; at < n_places; ++*n_runs) {
        const size_t middle = run_end(places, at, n_places);
        const size_t end = middle < n_places ? run_end(places, middle, n_places) : middle;
        if (end > middle && !reserve(order, &order->room.items, &order->room.cap, 0, middle - at))
            return false;
        if (end > middle)
            merge(places + at, middle - at, end - at, order->room.items);
        at = end;
    }
    return true;
}

/* Sorts those that wait; a CPU's records are a run already. */
static bool sort(struct perf_order *order)
{
    struct perf_place *waiting = order->places.items + order->n_ready;
    const size_t n_waiting = order->places.n - order->n_ready;
    size_t n_runs = 2;
    bool is_good = true;
    if (order->n_sorted == order->places.n || run_end(waiting, 0, n_waiting) == n_waiting)
        n_runs = 1;
    while (is_good && n_runs > 1)
        is_good = merge_pairs(order, waiting, n_waiting, &n_runs);
    order->n_sorted = order->places.n;
    return is_good;
}

/* ---- rounds -----------------------------------------------------------------------------------
 */

/* Forgets what was given out, if that is too much to be kept. */
static void drop_given(struct perf_order *order)
{
    const size_t n_left = order->places.n - order->n_ready;
    order->is_kept &= order->n_ready <= order->most_kept;
    if (order->is_kept)
        return;
    if (n_left && order->n_ready)
        memmove(order->places.items, order->places.items + order->n_ready,
                n_left * sizeof *order->places.items);
    order->places.n = n_left;
    order->n_sorted = order->n_sorted > order->n_ready ? order->n_sorted - order->n_ready : 0;
    order->next = order->n_ready = 0;
}

/* A time never steps back. */
static void raise_times(struct perf_order *order, struct perf_place *places, size_t n_places)
{
    for (size_t i = 0; i < n_places; i++) {
        if (places[i].time_ns < order->last_ns && places[i].time_ns > 0) {
            order->n_late++;
            places[i].time_ns = order->last_ns;
        } else if (places[i].time_ns > 0) {
            order->last_ns = places[i].time_ns;
        }
    }
}

/* Gives out those up to `limit_ns`, and `n_least` at least. */
static bool make_ready(struct perf_order *order, uint64_t limit_ns, size_t n_least)
{
    if (order->places.n == order->n_ready)
        return true;
    if (!sort(order))
        return false;
    struct perf_place *waiting = order->places.items + order->n_ready;
    size_t n;
    WEFT_SEARCH(n, order->places.n - order->n_ready, waiting[n].time_ns <= limit_ns);
    n = n > n_least ? n : n_least;
    raise_times(order, waiting, n);
    order->n_ready += n;
    return true;
}

static bool is_of_kernel(const struct perf_record *record)
{
    return record->type < PERF_FIRST_OWN;
}

static bool queue_record(struct perf_order *order, const struct perf_record *record, uint64_t at)
{
    if (!reserve(order, &order->places.items, &order->places.cap, order->places.n,
                 order->places.n + 1))
        return false;
    struct perf_place *place = &order->places.items[order->places.n++];
    place->at = at;
    place->time_ns = perf_time_of(&order->file->attrs, record->type == PERF_SAMPLE, record->body,
                                  record->n_body, order->file->is_big);
    if (place->time_ns > order->newest_ns)
        order->newest_ns = place->time_ns;
    return true;
}

enum weft_code perf_order_fill(struct perf_order *order, struct weft_err *err)
{
    const struct perf_records *records = &order->file->records;
    struct perf_record record;
    bool is_good = true;
    if (order->at == records->n_bytes && order->n_ready == order->places.n)
        return WEFT_OK;
    drop_given(order);
    while (is_good && order->next == order->n_ready) {
        const uint64_t at = order->at;
        if (!perf_record_next(records, &order->at, &record)) {
            is_good = make_ready(order, UINT64_MAX, 0);
            break;
        }
        if (is_of_kernel(&record)) {
            const size_t n_waiting = order->places.n + 1 - order->n_ready;
            is_good = queue_record(order, &record, at);
            if (n_waiting >= order->most_queued)
                is_good = is_good && make_ready(order, 0, n_waiting / 2 + 1);
        } else if (record.type == PERF_OWN_FINISHED_ROUND) {
            is_good = make_ready(order, order->round_ns, 0);
            order->round_ns = order->newest_ns;
        }
    }
    return is_good ? WEFT_OK
                   : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory to sort records");
}
