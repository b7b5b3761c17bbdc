/* SPDX-License-Identifier: MIT
 *
 * Proposes cuts between usual and slow durations: between two humps (Otsu's split of the
 * logarithms), where the upper tail departs from a power law (normalised spacings; Renyi 1953, Hill
 * 1975), and before a few single outliers. Each must pass its thresholds and a test that counts all
 * places looked at. O(n log n).
 */
#include "analysis/compare/tail.h"

#include "base/order.h"
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>

/* A uniform distribution, the least humped of those with one hump, has exactly 75 %. */
static const double SEPARATION = 0.76;
static const double SMALL = 3; /* more than that by this / n: small samples are parted by chance */
static const double SLOWER = 1.2;
static const double EXCESS = 0.02;
static const double RARE_EXCESS = 0.005; /* of few, that are as many times slower */
static const double CHANCE = 0.01;       /* of a tail to be believed, over all places looked at */
static const double APART = 2;           /* times the slowest of the others, of single ones */
static const double FEW = 0.1;           /* of all executions, */
static const double COSTLY = 0.2;        /* of all time, and */
static const double FAR = 20;            /* times the usual duration, */
static const double BESIDE = 1.25;       /* times the slowest of the others, */
static const double FAR_FROM_MEAN = 10;  /* and the mean of the others: far and costly */
static const double GAP = 5;             /* times the mean normalised spacing */
static const double FALL = 0.1; /* spacings of logarithms below this are the clock's, or chance */
enum { RARE_EXECUTIONS = 10, ALONE_MOST = 4, DECADES = 4, WINDOW = 4, BELOW_MOST = 256 };

/* Durations and their logarithms, ascending. */
struct sorted {
    double *ns, *logs;
    double *sums; /* by i: of the logarithms of the slowest i */
    size_t n;
};

/* The place at which the variance between both sides is greatest, and its share. */
static size_t find_split(const double *logs, size_t n, double *separation)
{
    double mean = 0, squares = 0, sum = 0, most = 0;
    size_t split = 0;
    for (size_t i = 0; i < n; i++)
        mean += logs[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (logs[i] - mean) * (logs[i] - mean);
    for (size_t i = 1; i < n; i++) {
        sum += logs[i - 1] - mean;
        const double below = (double)i, above = (double)(n - i);
        const double between = sum * sum * (1 / below + 1 / above);
        if (i < WEFT_TAIL_EXECUTIONS || n - i < WEFT_TAIL_EXECUTIONS || logs[i] == logs[i - 1] ||
            between <= most)
            continue;
        most = between;
        split = i;
    }
    *separation = squares > 0 ? most / squares : 0;
    return split;
}

/* Between the humps lies the widest gap: of those from the middle of the fast ones up to the split,
 * if it is wider than that of the split, so that a second, smaller hump is not torn apart. */
static size_t find_gap(const double *logs, size_t split)
{
    size_t gap = split;
    for (size_t i = split; i > split / 2 + 1 && i > WEFT_TAIL_EXECUTIONS; i--)
        if (logs[i] - logs[i - 1] > logs[gap] - logs[gap - 1])
            gap = i;
    return gap;
}

/* The greatest durations are rounded to 2^64 as doubles. */
static uint64_t whole_ns(double ns)
{
    return ns < 0x1p64 ? (uint64_t)ns : UINT64_MAX;
}

static void measure(const struct sorted *sorted, size_t split, struct weft_slow_tail *tail)
{
    const double *ns = sorted->ns;
    double all_ns = 0, excess_ns = 0;
    tail->n_fast = split;
    tail->n_slow = sorted->n - split;
    tail->fast_max_ns = whole_ns(ns[split - 1]);
    tail->slow_min_ns = whole_ns(ns[split]);
    tail->fast_median_ns = weft_sorted_quantile(ns, split, 0.5);
    tail->slow_median_ns = weft_sorted_quantile(ns + split, sorted->n - split, 0.5);
    for (size_t i = 0; i < sorted->n; i++) {
        all_ns += ns[i];
        excess_ns += i >= split ? ns[i] - tail->fast_median_ns : 0;
    }
    tail->excess_share = all_ns > 0 ? excess_ns / all_ns : 0;
}

static void cut_between_humps(const struct sorted *sorted, struct weft_slow_tail *tail)
{
    *tail = (struct weft_slow_tail){ .n_fast = sorted->n };
    const size_t split = find_split(sorted->logs, sorted->n, &tail->separation);
    if (split == 0)
        return;
    measure(sorted, find_gap(sorted->logs, split), tail);
    tail->is_worthy =
        tail->slow_median_ns >= SLOWER * tail->fast_median_ns && tail->excess_share >= EXCESS;
    tail->is_found = tail->is_worthy && tail->separation >= SEPARATION + SMALL / (double)sorted->n;
}

/* If the fast hump is the smaller one, also between the humps above it. */
static void cut_above(const struct sorted *sorted, struct weft_slow_tails *tails)
{
    const struct weft_slow_tail *first = &tails->cuts[0];
    struct weft_slow_tail tail = { .n_fast = 0 };
    const size_t n_below = first->n_fast;
    if (!first->is_found || first->n_slow <= n_below)
        return;
    const size_t n = sorted->n - n_below;
    const size_t split = find_split(sorted->logs + n_below, n, &tail.separation);
    if (split == 0)
        return;
    measure(sorted, n_below + find_gap(sorted->logs + n_below, split), &tail);
    tail.is_worthy =
        tail.slow_median_ns >= SLOWER * tail.fast_median_ns && tail.excess_share >= EXCESS;
    tail.is_found = tail.is_worthy && tail.separation >= SEPARATION + SMALL / (double)n;
    if (tail.is_found)
        tails->cuts[tails->n_cuts++] = tail;
}

/* ---- the tail -------------------------------------------------------------------------------- */

/* The mean of the normalised spacings number from + 1 to `to` from the top: how much the logarithm
 * falls while the slower ones become e times as many. For a power law they are exponential, all of
 * one mean (Renyi 1953, Hill 1975); for any lighter tail they become smaller towards the top. */
static double fall(const struct sorted *sorted, size_t from, size_t to)
{
    const double *logs = sorted->logs + sorted->n - 1; /* logs[-i]: of the slowest but i */
    const double top = sorted->sums[from] - (double)from * logs[-(ptrdiff_t)from];
    const double all = sorted->sums[to] - (double)to * logs[-(ptrdiff_t)to];
    return fmax((all - top) / (double)(to - from), FALL);
}

/* How likely the slowest k are so far out, if the tail goes on as in the spacings up to `to`. */
static double p_of_tail(const struct sorted *sorted, size_t k, size_t to)
{
    const double ratio = fall(sorted, 0, k) / fall(sorted, k, to);
    const double n_top = (double)k, n_below = (double)(to - k);
    const double x = n_below / (n_below + n_top * ratio);
    return weft_incomplete_beta(n_below, n_top, x, 1 - x); /* F with 2 k and 2 (to - k) degrees */
}

/* The change point of the spacings up to `to`: how many of the slowest lie beyond it. */
static size_t change_point(const struct sorted *sorted, size_t least, size_t most, size_t to)
{
    const double *top = sorted->logs + sorted->n;
    double best = -(double)INFINITY;
    size_t found = 0;
    for (size_t k = least; k <= most; k++) {
        const double out = fall(sorted, 0, k), in = fall(sorted, k, to);
        const double likely = -(double)k * log(out) - (double)(to - k) * log(in);
        if (out > in && likely > best && top[-(ptrdiff_t)k] > top[-(ptrdiff_t)k - 1]) {
            best = likely;
            found = k;
        }
    }
    return found;
}

/* The change point is likeliest somewhat below a gap that parts slow from fast: the gap itself, if
 * one of the spacings above it is so much wider than the others there. */
static size_t gap_above(const struct sorted *sorted, size_t k)
{
    const double *top = sorted->logs + sorted->n;
    double widest = GAP * fall(sorted, 0, k);
    size_t found = k;
    for (size_t i = WEFT_TAIL_EXECUTIONS; i <= k; i++) {
        const double gap = (double)i * (top[-(ptrdiff_t)i] - top[-(ptrdiff_t)i - 1]);
        if (gap > widest) {
            widest = gap;
            found = i;
        }
    }
    return found;
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Around the slowest 1 / `part` of all: from a third to three times as many. */
static void cut_tail(const struct sorted *sorted, size_t part, struct weft_slow_tails *tails)
{
    const size_t around = sorted->n / part, most = least_of(3 * around, sorted->n / 4);
    const size_t least = around / 3 > RARE_EXECUTIONS ? around / 3 : RARE_EXECUTIONS;
    const size_t to = least_of(WINDOW * most, sorted->n * 3 / 4);
    struct weft_slow_tail *tail = &tails->cuts[tails->n_cuts];
    const size_t changed = around >= RARE_EXECUTIONS ? change_point(sorted, least, most, to) : 0;
    const size_t k = changed > 0 ? gap_above(sorted, changed) : 0;
    const bool is_beyond = changed == most || (changed == least && changed > RARE_EXECUTIONS);
    *tail = (struct weft_slow_tail){ 0 };
    if (k == 0 || (k == changed && is_beyond))
        return;
    measure(sorted, sorted->n - k, tail);
    tail->p = fmin(1, p_of_tail(sorted, k, to) * (double)(most - least + 1) * DECADES);
    tail->is_worthy =
        tail->slow_median_ns >= SLOWER * tail->fast_median_ns && tail->excess_share >= RARE_EXCESS;
    tail->is_found = tail->is_worthy && tail->p < CHANCE;
    for (size_t i = 0; i < tails->n_cuts; i++)
        if (tails->cuts[i].n_slow == tail->n_slow) { /* the same, for another reason */
            tails->cuts[i].is_worthy |= tail->is_worthy;
            tails->cuts[i].is_found |= tail->is_found;
            tails->cuts[i].p = tail->p;
            return;
        }
    tails->n_cuts += tail->is_worthy;
}

/* Are they so few, so far from the usual ones and so much of all time that they are what there is
 * to explain, whatever lies between? */
static bool is_far_and_costly(const struct sorted *sorted, const struct weft_slow_tail *tail)
{
    double fast_ns = 0;
    for (size_t i = 0; i < tail->n_fast; i++)
        fast_ns += sorted->ns[i];
    return tail->excess_share >= COSTLY && tail->slow_median_ns >= FAR * tail->fast_median_ns &&
           tail->slow_median_ns >= FAR_FROM_MEAN * fast_ns / (double)tail->n_fast;
}

/* Before the first gap that leaves such ones: what is slow for several reasons has gaps, too. */
static void cut_costly(const struct sorted *sorted, struct weft_slow_tails *tails)
{
    const double *top = sorted->logs + sorted->n;
    struct weft_slow_tail found = { 0 };
    for (size_t k = (size_t)(FEW * (double)sorted->n); k >= WEFT_TAIL_EXECUTIONS && !found.is_found;
         k--) {
        struct weft_slow_tail tail = { .is_worthy = true, .p = 1 };
        if (top[-(ptrdiff_t)k] - top[-(ptrdiff_t)k - 1] < log(BESIDE))
            continue;
        measure(sorted, sorted->n - k, &tail);
        tail.is_found = is_far_and_costly(sorted, &tail);
        found = tail;
    }
    for (size_t i = 0; i < tails->n_cuts && found.is_found; i++)
        if (tails->cuts[i].n_slow == found.n_slow) {
            tails->cuts[i].is_worthy = tails->cuts[i].is_found = true;
            return;
        }
    if (found.is_found)
        tails->cuts[tails->n_cuts++] = found;
}

/* The slowest few, if they are apart: before the widest gap of those that chance does not make. */
static void cut_alone(const struct sorted *sorted, struct weft_slow_tails *tails)
{
    const double *top = sorted->logs + sorted->n;
    const size_t to = least_of(sorted->n / 2, BELOW_MOST);
    double widest = log(APART), p = 1;
    size_t found = 0;
    for (size_t k = 1; k <= ALONE_MOST && 2 * k < to; k++) {
        const double gap = top[-(ptrdiff_t)k] - top[-(ptrdiff_t)k - 1];
        const double p_k = p_of_tail(sorted, k, to) * ALONE_MOST;
        if (gap < widest || p_k >= CHANCE)
            continue;
        widest = gap;
        p = p_k;
        found = k;
    }
    if (found == 0)
        return;
    struct weft_slow_tail *tail = &tails->cuts[tails->n_cuts++];
    *tail = (struct weft_slow_tail){ .is_worthy = true, .is_alone = true, .p = p };
    measure(sorted, sorted->n - found, tail);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool sorted_init(struct sorted *sorted, const uint64_t *durations_ns, size_t n)
{
    *sorted = (struct sorted){ .ns = calloc(n + 1, sizeof *sorted->ns),
                               .logs = calloc(n + 1, sizeof *sorted->logs),
                               .sums = calloc(n + 1, sizeof *sorted->sums),
                               .n = n };
    struct weft_order order = { 0 };
    if (!sorted->ns || !sorted->logs || !sorted->sums || !weft_order_reserve(&order, n))
        return false;
    for (size_t i = 0; i < n; i++)
        order.items[i] = (struct weft_order_item){ durations_ns[i], (uint32_t)i };
    weft_order_sort(&order, n);
    for (size_t i = 0; i < n; i++)
        sorted->ns[i] = (double)order.items[i].key;
    weft_order_fini(&order);
    for (size_t i = 0; i < n; i++)
        sorted->logs[i] = log(sorted->ns[i] > 1 ? sorted->ns[i] : 1);
    for (size_t i = 0; i < n; i++)
        sorted->sums[i + 1] = sorted->sums[i] + sorted->logs[n - 1 - i];
    return true;
}

static void sorted_fini(struct sorted *sorted)
{
    free(sorted->ns);
    free(sorted->logs);
    free(sorted->sums);
}

enum weft_code weft_slow_tails_find(const uint64_t *durations_ns, size_t n,
                                    struct weft_slow_tails *tails, struct weft_err *err)
{
    struct sorted sorted;
    const bool has_memory = sorted_init(&sorted, durations_ns, n);
    *tails = (struct weft_slow_tails){ .n_cuts = 1 };
    tails->cuts[0].n_fast = n;
    if (has_memory && n > 1) {
        cut_between_humps(&sorted, &tails->cuts[0]);
        cut_above(&sorted, tails);
        for (size_t i = 0, part = 10; i < DECADES; i++, part *= 10)
            cut_tail(&sorted, part, tails);
        cut_costly(&sorted, tails);
        cut_alone(&sorted, tails);
    }
    sorted_fini(&sorted);
    return has_memory
               ? WEFT_OK
               : weft_fail(err, WEFT_E_NOMEM, WEFT_NO_OFFSET, "no memory for %zu durations", n);
}
