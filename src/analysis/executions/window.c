/* SPDX-License-Identifier: MIT
 *
 * Cuts a thread's executions into windows of rows; for each window the borders of its executions
 * are sorted and events are added by sums.c. Totals at the start of executions that are still open
 * are carried to the next window.
 */
#include "analysis/executions/window.h"

#include "base/checked.h"
#include "base/vec.h"

#include <stdlib.h>

void weft_execution_window_init(struct weft_execution_window *window,
                                const struct weft_execution_span *spans, size_t n_spans)
{
    *window = (struct weft_execution_window){ .spans = spans, .n_spans = n_spans };
}

void weft_execution_window_fini(struct weft_execution_window *window)
{
    for (unsigned k = 0; k < WEFT_EXECUTION_SUMS; k++)
        weft_sums_fini(&window->sums[k]);
    free(window->borders.ns);
    WEFT_VEC_FINI(&window->open);
}

/* ---- borders --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_last(const struct weft_execution_window *window)
{
    return window->behind == window->n_spans;
}

static void push_border(struct weft_sum_borders *borders, uint64_t at_ns, bool *is_sorted)
{
    *is_sorted &= borders->n == 0 || borders->ns[borders->n - 1] <= at_ns;
    borders->ns[borders->n++] = at_ns;
}

/* Executions one after the other make them in their order. */
static void order_borders(struct weft_sum_borders *borders, bool is_sorted)
{
    size_t n = 0;
    if (!is_sorted)
        qsort(borders->ns, borders->n, sizeof *borders->ns, by_number);
    for (size_t i = 0; i < borders->n; i++)
        if (n == 0 || borders->ns[i] != borders->ns[n - 1])
            borders->ns[n++] = borders->ns[i];
    borders->n = n;
}

static bool make_borders(struct weft_execution_window *window)
{
    struct weft_sum_borders *borders = &window->borders;
    const size_t n_most = 2 * (window->behind - window->first) + window->open.n + 1;
    bool is_sorted = true;
    borders->n = 0;
    if (!weft_vec_reserve(&borders->ns, &borders->cap, n_most, sizeof *borders->ns))
        return false;
    for (size_t i = 0; i < window->open.n; i++)
        if (window->open.items[i].end_ns <= window->to_ns)
            push_border(borders, window->open.items[i].end_ns, &is_sorted);
    for (size_t i = window->first; i < window->behind; i++) {
        push_border(borders, window->spans[i].start_ns, &is_sorted);
        if (window->spans[i].end_ns <= window->to_ns)
            push_border(borders, window->spans[i].end_ns, &is_sorted);
    }
    if (!is_last(window))
        push_border(borders, window->to_ns, &is_sorted);
    order_borders(borders, is_sorted);
    return true;
}

enum weft_code weft_execution_window_next(struct weft_execution_window *window, size_t n_rows,
                                          bool *is_there, struct weft_err *err)
{
    *is_there = window->behind < window->n_spans;
    if (!*is_there)
        return WEFT_OK;
    const bool is_first = window->behind == 0;
    /* As many rows as are open: else walking through those again and again would add up. */
    const size_t n_wanted = n_rows > window->open.n ? n_rows : window->open.n;
    const size_t n_left = window->n_spans - window->behind;
    window->first = window->behind;
    window->behind += n_wanted < n_left ? n_wanted : n_left;
    window->from_ns = window->to_ns;
    window->to_ns = is_last(window) ? UINT64_MAX : window->spans[window->behind].start_ns;
    if (!make_borders(window))
        return weft_no_memory(err, "metrics of executions");
    window->first_ns = is_first ? window->borders.ns[0] : window->from_ns;
    window->last_ns = window->borders.ns[window->borders.n - 1];
    return WEFT_OK;
}

/* ---- sums ------------------------------------------------------------------------------------ */

enum weft_code weft_execution_window_add(struct weft_execution_window *window, unsigned sum,
                                         uint64_t at_ns, uint64_t amount, struct weft_err *err)
{
    window->seen |= UINT32_C(1) << sum;
    if (at_ns < window->from_ns || at_ns >= window->to_ns)
        return WEFT_OK;
    return weft_sums_add(&window->sums[sum], &window->borders, at_ns, amount)
               ? WEFT_OK
               : weft_no_memory(err, "metrics of executions");
}

enum weft_code weft_execution_window_add_time(struct weft_execution_window *window, unsigned sum,
                                              uint64_t start_ns, uint64_t end_ns,
                                              struct weft_err *err)
{
    window->seen |= UINT32_C(1) << sum;
    return weft_sums_add_time(&window->sums[sum], &window->borders,
                              weft_max_u64(start_ns, window->from_ns),
                              weft_min_u64(end_ns, window->to_ns))
               ? WEFT_OK
               : weft_no_memory(err, "metrics of executions");
}

/* What lies before a border of the window, from the begin of the first one on. */
static struct weft_execution_totals before(struct weft_execution_window *window, uint64_t at_ns)
{
    struct weft_execution_totals totals = window->carried;
    const size_t place = weft_sum_place(&window->borders, at_ns);
    for (unsigned k = 0; k < WEFT_EXECUTION_SUMS; k++)
        totals.of[k] += weft_sums_before(&window->sums[k], &window->borders, place);
    return totals;
}

static struct weft_execution_totals difference(const struct weft_execution_totals *behind,
                                               const struct weft_execution_totals *before)
{
    struct weft_execution_totals totals;
    for (unsigned k = 0; k < WEFT_EXECUTION_SUMS; k++)
        totals.of[k] = behind->of[k] - before->of[k];
    return totals;
}

/* ---- executions ------------------------------------------------------------------------------ */

static enum weft_code end_one(struct weft_execution_window *window, size_t place, uint64_t end_ns,
                              const struct weft_execution_totals *at_start,
                              weft_execution_totals_fn see, void *context, struct weft_err *err)
{
    const struct weft_execution_totals at_end = before(window, end_ns);
    const struct weft_execution_totals totals = difference(&at_end, at_start);
    return see(context, place, &totals, err);
}

static enum weft_code end_open(struct weft_execution_window *window, weft_execution_totals_fn see,
                               void *context, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    size_t n = 0;
    for (size_t i = 0; i < window->open.n && code == WEFT_OK; i++) {
        const struct weft_execution_open *open = &window->open.items[i];
        if (open->end_ns <= window->to_ns)
            code = end_one(window, open->place, open->end_ns, &open->before, see, context, err);
        else
            window->open.items[n++] = *open;
    }
    window->open.n = n;
    return code;
}

static enum weft_code begin_one(struct weft_execution_window *window, size_t place,
                                weft_execution_totals_fn see, void *context, struct weft_err *err)
{
    const struct weft_execution_span *span = &window->spans[place];
    const struct weft_execution_totals at_start = before(window, span->start_ns);
    if (span->end_ns <= window->to_ns)
        return end_one(window, place, span->end_ns, &at_start, see, context, err);
    struct weft_execution_open *open = WEFT_VEC_PUSH(&window->open);
    if (!open)
        return weft_no_memory(err, "metrics of executions");
    *open = (struct weft_execution_open){ span->end_ns, place, at_start };
    return WEFT_OK;
}

enum weft_code weft_execution_window_end(struct weft_execution_window *window,
                                         weft_execution_totals_fn see, void *context,
                                         struct weft_err *err)
{
    enum weft_code code = end_open(window, see, context, err);
    for (size_t i = window->first; i < window->behind && code == WEFT_OK; i++)
        code = begin_one(window, i, see, context, err);
    window->carried = before(window, window->last_ns);
    for (unsigned k = 0; k < WEFT_EXECUTION_SUMS; k++)
        weft_sums_reset(&window->sums[k]);
    return code;
}
