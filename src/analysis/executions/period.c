/* SPDX-License-Identifier: MIT
 *
 * Sorts the starts of executions by thread, takes the median of their distances, and accepts it as
 * a period if the middle half lies close to it and there are at least LEAST_DISTANCES. Works on the
 * matrix of a comparison, not on a trace.
 */
#include "analysis/executions/period.h"

#include "base/vec.h"

#include <stdlib.h>

enum { LEAST_DISTANCES = 10 };

struct begin {
    uint64_t tid, at_ns;
    uint32_t source, item;
};

static int by_thread(const void *a, const void *b)
{
    const struct begin *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of the n begins of a thread, which become their distances. */
static struct weft_period rhythm_of(const struct weft_ecct_matrix *matrix,
                                    const struct begin *begins, size_t n, uint64_t *distances_ns)
{
    struct weft_period period = { .thread = matrix->items[begins[0].item].thread };
    const size_t n_distances = n - 1;
    if (n_distances < LEAST_DISTANCES)
        return period;
    for (size_t i = 0; i < n_distances; i++)
        distances_ns[i] = begins[i + 1].at_ns - begins[i].at_ns;
    qsort(distances_ns, n_distances, sizeof *distances_ns, ascending);
    const uint64_t middle_ns = distances_ns[n_distances * 3 / 4] - distances_ns[n_distances / 4];
    period.period_ns = (double)distances_ns[n_distances / 2];
    period.is_one = (double)middle_ns <= WEFT_PERIOD_SPREAD * period.period_ns;
    return period;
}

/* A name that several threads have, or one thread with several types, has no one period. */
static bool add_one(struct weft_periods *periods, struct weft_period period)
{
    for (size_t i = 0; i < periods->n; i++)
        if (weft_str_equal(periods->items[i].thread, period.thread)) {
            periods->items[i].is_one = false;
            return true;
        }
    periods->has_too_many |= periods->n == WEFT_PERIOD_THREADS_MOST;
    if (periods->has_too_many)
        return true;
    struct weft_period *added = WEFT_VEC_PUSH(periods);
    if (added)
        *added = period;
    return added;
}

static bool add_threads(struct weft_periods *periods, const struct weft_ecct_matrix *matrix,
                        struct begin *begins, uint64_t *distances_ns)
{
    bool is_done = true;
    for (size_t i = 0; i < matrix->n_items; i++) {
        const struct weft_execution_item *item = &matrix->items[i];
        begins[i] = (struct begin){ item->tid, item->start_ns, item->source, (uint32_t)i };
    }
    qsort(begins, matrix->n_items, sizeof *begins, by_thread);
    for (size_t first = 0, n; first < matrix->n_items && is_done; first += n) {
        for (n = 1; first + n < matrix->n_items; n++)
            if (begins[first + n].tid != begins[first].tid ||
                begins[first + n].source != begins[first].source)
                break;
        is_done = add_one(periods, rhythm_of(matrix, &begins[first], n, distances_ns));
    }
    return is_done;
}

enum weft_code weft_periods_add(struct weft_periods *periods, const struct weft_ecct_matrix *matrix,
                                struct weft_err *err)
{
    struct begin *begins = malloc((matrix->n_items + 1) * sizeof *begins);
    uint64_t *distances_ns = malloc((matrix->n_items + 1) * sizeof *distances_ns);
    const bool is_done =
        begins && distances_ns && add_threads(periods, matrix, begins, distances_ns);
    free(begins);
    free(distances_ns);
    return is_done ? WEFT_OK : weft_no_memory(err, "periods");
}

double weft_periods_of_ns(const struct weft_periods *periods, struct weft_str thread)
{
    if (periods->has_too_many)
        return 0;
    for (size_t i = 0; i < periods->n; i++)
        if (weft_str_equal(periods->items[i].thread, thread))
            return periods->items[i].is_one ? periods->items[i].period_ns : 0;
    return 0;
}
