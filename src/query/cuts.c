/* SPDX-License-Identifier: MIT
 *
 * Runs the comparison for each cut worth it, between the groups `duration<=X` and `duration>=Y`,
 * and keeps the table that the caller's judge rates highest.
 */
#include "query/cuts.h"

#include "analysis/compare/compare.h"
#include "analysis/compare/tail.h"
#include "query/comparison.h"
#include "schema/compare_cut.h"
#include "schema/result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum weft_code find_tails(const struct weft_ecct_matrix *matrix,
                                 struct weft_slow_tails *tails, struct weft_err *err)
{
    uint64_t *durations_ns = calloc(matrix->n_items + 1, sizeof *durations_ns);
    if (!durations_ns)
        return weft_no_memory(err, "durations");
    for (size_t i = 0; i < matrix->n_items; i++)
        durations_ns[i] = matrix->items[i].end_ns - matrix->items[i].start_ns;
    const enum weft_code code = weft_slow_tails_find(durations_ns, matrix->n_items, tails, err);
    free(durations_ns);
    return code;
}

static uint32_t count_worthy(const struct weft_slow_tails *tails)
{
    uint32_t n = 0;
    for (size_t i = 0; i < tails->n_cuts; i++)
        n += tails->cuts[i].is_worthy && !tails->cuts[i].is_alone;
    return n;
}

/* Compares by the filters that stand for the groups in what is printed. */
static enum weft_code compare(struct weft_comparison *comparison, struct weft_compare_cut *cut,
                              uint32_t n_looks, struct weft_err *err)
{
    const struct weft_comparison_opts how = { .a = weft_str_of(cut->a),
                                              .b = weft_str_of(cut->b),
                                              .n_bootstrap = WEFT_COMPARE_BOOTSTRAP,
                                              .with_causes = true,
                                              .n_looks = n_looks };
    return weft_comparison_run(comparison, &how, &cut->table, err);
}

static void cut_at(struct weft_compare_cut *cut, const struct weft_slow_tail *tail)
{
    *cut = (struct weft_compare_cut){ .tail = *tail };
    (void)snprintf(cut->a, sizeof cut->a, "duration<=%" PRIu64 "ns", tail->fast_max_ns);
    (void)snprintf(cut->b, sizeof cut->b, "duration>=%" PRIu64 "ns", tail->slow_min_ns);
}

enum weft_code weft_comparison_cut_find(struct weft_comparison *comparison,
                                        const struct weft_cut_judge *judge,
                                        struct weft_compare_cut *cut, struct weft_err *err)
{
    struct weft_slow_tails tails;
    *cut = (struct weft_compare_cut){ 0 };
    enum weft_code code = find_tails(weft_comparison_matrix(comparison), &tails, err);
    if (code != WEFT_OK)
        return code;
    cut->tail = tails.cuts[0];
    const uint32_t n_looks = count_worthy(&tails);
    for (size_t i = 0; i < tails.n_cuts && code == WEFT_OK; i++) {
        struct weft_compare_cut next;
        if (!tails.cuts[i].is_worthy)
            continue;
        cut_at(&next, &tails.cuts[i]);
        code = compare(comparison, &next, n_looks, err);
        if (code != WEFT_OK)
            break;
        const bool is_new = judge->is_better(judge->context, cut, &next);
        weft_result_free(is_new ? cut->table : next.table);
        if (is_new)
            *cut = next;
    }
    if (code != WEFT_OK) {
        weft_result_free(cut->table);
        cut->table = NULL;
    }
    return code;
}
