/* SPDX-License-Identifier: MIT
 *
 * Exact quantiles by iterated refinement of histograms.
 */
#include "analysis/calls/quantiles.h"

#include "base/vec.h"
#include "schema/event.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    TARGET_CELLS = 4096,          /* values collected, or parts counted, per target */
    PASS_CELLS = 8 * 1024 * 1024, /* of all targets of one pass: 64 MiB */
    FIRST_PAGES = 256,
};

static const uint32_t per_mille[WEFT_QUANTILES] = { 500, 900, 990, 999 };

enum weft_code weft_hist_set_init(struct weft_hist_set *set, uint32_t n_functions,
                                  struct weft_err *err)
{
    *set = (struct weft_hist_set){ .n_functions = n_functions };
    set->page_of = calloc((size_t)n_functions * WEFT_HIST_PAGES + 1, sizeof *set->page_of);
    return set->page_of ? WEFT_OK : weft_no_memory(err, "histograms");
}

void weft_hist_set_fini(struct weft_hist_set *set)
{
    free(set->page_of);
    free(set->pages);
    *set = (struct weft_hist_set){ 0 };
}

bool weft_hist_grow(struct weft_hist_set *set, size_t cell)
{
    if (set->n_pages == set->cap_pages) {
        size_t cap = set->cap_pages ? set->cap_pages * 2 : FIRST_PAGES;
        uint64_t *pages = realloc(set->pages, cap * WEFT_HIST_SLOTS * sizeof *pages);
        if (!pages)
            return false;
        set->pages = pages;
        set->cap_pages = cap;
    }
    memset(set->pages + set->n_pages * WEFT_HIST_SLOTS, 0, WEFT_HIST_SLOTS * sizeof *set->pages);
    set->page_of[cell] = (uint32_t)++set->n_pages;
    return true;
}

enum weft_code weft_hist_merge(struct weft_hist_set *set, const struct weft_hist_set *from,
                               struct weft_err *err)
{
    size_t n_cells = (size_t)set->n_functions * WEFT_HIST_PAGES;
    for (size_t cell = 0; cell < n_cells; cell++) {
        if (!from->page_of[cell])
            continue;
        if (!set->page_of[cell] && !weft_hist_grow(set, cell))
            return weft_no_memory(err, "histograms");
        uint64_t *to = set->pages + (size_t)(set->page_of[cell] - 1) * WEFT_HIST_SLOTS;
        const uint64_t *add = from->pages + (size_t)(from->page_of[cell] - 1) * WEFT_HIST_SLOTS;
        for (size_t slot = 0; slot < WEFT_HIST_SLOTS; slot++)
            to[slot] += add[slot];
    }
    return WEFT_OK;
}

static uint64_t count_values(const struct weft_hist_set *set, uint32_t function_id)
{
    const uint32_t *page_of = set->page_of + (size_t)function_id * WEFT_HIST_PAGES;
    uint64_t n = 0;
    for (uint32_t page = 0; page < WEFT_HIST_PAGES; page++) {
        if (!page_of[page])
            continue;
        const uint64_t *slots = set->pages + (size_t)(page_of[page] - 1) * WEFT_HIST_SLOTS;
        for (uint32_t slot = 0; slot < WEFT_HIST_SLOTS; slot++)
            n += slots[slot];
    }
    return n;
}

struct target_vec {
    struct weft_quantile_target *items;
    size_t n, cap;
};

/* Adds the ranks that lie in this slot, which holds values number n_below + 1 .. + n_in. */
static bool take_slot(struct weft_quantiles *quantiles, struct target_vec *targets,
                      uint32_t function_id, const uint64_t *ranks, uint64_t n_below, uint64_t n_in,
                      uint64_t low, uint64_t width)
{
    struct weft_quantile_target *target = NULL;
    for (uint32_t q = 0; q < WEFT_QUANTILES; q++) {
        if (ranks[q] <= n_below || ranks[q] > n_below + n_in)
            continue;
        if (width == 1) {
            quantiles->value_ns[function_id][q] = low;
            continue;
        }
        if (!target) {
            target = WEFT_VEC_PUSH(targets);
            if (!target)
                return false;
            target->function_id = function_id;
            target->low = low;
            target->width = width;
            target->n_values = n_in;
        }
        target->rank[target->n_wanted] = ranks[q] - n_below;
        target->quantile[target->n_wanted++] = q;
    }
    return true;
}

/* Makes the targets of one function for the wanted ranks; a rank of 0 is not wanted. */
static bool take_ranks(struct weft_quantiles *quantiles, const struct weft_hist_set *set,
                       uint32_t function_id, const uint64_t *ranks, struct target_vec *targets)
{
    const uint32_t *page_of = set->page_of + (size_t)function_id * WEFT_HIST_PAGES;
    uint64_t n_below = 0;
    for (uint32_t page = 0; page < WEFT_HIST_PAGES; page++) {
        if (!page_of[page])
            continue;
        const uint64_t *slots = set->pages + (size_t)(page_of[page] - 1) * WEFT_HIST_SLOTS;
        for (uint32_t slot = 0; slot < WEFT_HIST_SLOTS; slot++) {
            if (slots[slot] &&
                !take_slot(quantiles, targets, function_id, ranks, n_below, slots[slot],
                           weft_hist_floor(page, slot), weft_hist_width(page)))
                return false;
            n_below += slots[slot];
        }
    }
    return true;
}

static bool take_function(struct weft_quantiles *quantiles, const struct weft_hist_set *set,
                          const struct weft_quantile_marks *marks, uint32_t function_id,
                          struct target_vec *targets)
{
    uint64_t n = count_values(set, function_id);
    uint64_t ranks[WEFT_QUANTILES] = { 0 };
    if (n == 0)
        return true;
    for (uint32_t q = 0; q < (marks ? 1 : WEFT_QUANTILES); q++)
        ranks[q] = weft_nearest_rank(n, per_mille[q]);
    size_t n_before = targets->n;
    if (!take_ranks(quantiles, set, function_id, ranks, targets))
        return false;
    if (marks && targets->n > n_before) {
        uint64_t low = targets->items[n_before].low, top = marks->top_ns[function_id];
        if (top < marks->least_ns || (double)top <= marks->factor * (double)low) {
            quantiles->value_ns[function_id][0] = low;
            targets->n = n_before;
        }
    }
    return true;
}

enum weft_code weft_quantiles_init(struct weft_quantiles *quantiles,
                                   const struct weft_hist_set *set,
                                   const struct weft_quantile_marks *marks, struct weft_err *err)
{
    struct target_vec targets = { 0 };
    *quantiles = (struct weft_quantiles){ .n_functions = set->n_functions };
    size_t n = (size_t)set->n_functions + 1;
    quantiles->value_ns = calloc(n, sizeof *quantiles->value_ns);
    quantiles->first_target = calloc(n, sizeof *quantiles->first_target);
    bool is_ok = quantiles->value_ns && quantiles->first_target;
    for (uint32_t id = 0; is_ok && id < set->n_functions; id++)
        is_ok = take_function(quantiles, set, marks, id, &targets);
    quantiles->targets = targets.items;
    quantiles->n_targets = targets.n;
    return is_ok ? WEFT_OK : weft_no_memory(err, "histograms");
}

void weft_quantiles_fini(struct weft_quantiles *quantiles)
{
    for (size_t i = 0; i < quantiles->n_targets; i++)
        free(quantiles->targets[i].cells);
    free(quantiles->targets);
    free(quantiles->first_target);
    free(quantiles->value_ns);
    *quantiles = (struct weft_quantiles){ 0 };
}

enum weft_code weft_quantiles_begin(struct weft_quantiles *quantiles, bool *is_needed,
                                    struct weft_err *err)
{
    size_t n_cells_pass = 0;
    memset(quantiles->first_target, 0, quantiles->n_functions * sizeof *quantiles->first_target);
    for (size_t i = 0; i < quantiles->n_targets && n_cells_pass < PASS_CELLS; i++) {
        struct weft_quantile_target *target = &quantiles->targets[i];
        bool is_few = target->n_values <= TARGET_CELLS;
        uint64_t n_parts = target->width < TARGET_CELLS ? target->width : TARGET_CELLS;
        size_t n_cells = is_few ? (size_t)target->n_values : (size_t)n_parts;
        target->part_width = is_few ? 0 : target->width / n_parts; /* both are powers of two */
        target->cells = calloc(n_cells, sizeof *target->cells);
        if (!target->cells)
            return weft_no_memory(err, "histograms");
        target->n_seen = 0;
        n_cells_pass += n_cells;
        if (!quantiles->first_target[target->function_id])
            quantiles->first_target[target->function_id] = (uint32_t)i + 1;
    }
    *is_needed = n_cells_pass > 0;
    return WEFT_OK;
}

void weft_quantiles_see(struct weft_quantiles *quantiles, uint32_t function_id, uint64_t value)
{
    for (size_t i = quantiles->first_target[function_id] - 1U; i < quantiles->n_targets; i++) {
        struct weft_quantile_target *target = &quantiles->targets[i];
        if (target->function_id != function_id || value < target->low || !target->cells)
            return;
        if (value - target->low >= target->width)
            continue;
        uint64_t seen = __atomic_fetch_add(&target->n_seen, 1, __ATOMIC_RELAXED);
        uint64_t part = target->part_width ? (value - target->low) / target->part_width : 0;
        if (target->part_width)
            __atomic_fetch_add(&target->cells[part], 1, __ATOMIC_RELAXED);
        else if (seen < target->n_values)
            target->cells[seen] = value; /* its own cell */
        return;
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The collected values hold every wanted one. */
static void resolve(struct weft_quantiles *quantiles, struct weft_quantile_target *target)
{
    uint64_t *values = target->cells;
    qsort(values, (size_t)target->n_values, sizeof *values, by_value);
    for (uint32_t i = 0; i < target->n_wanted; i++)
        quantiles->value_ns[target->function_id][target->quantile[i]] = values[target->rank[i] - 1];
}

/* Each wanted rank moves to the part that holds it. */
static bool narrow(struct weft_quantiles *quantiles, const struct weft_quantile_target *target,
                   struct target_vec *next)
{
    uint64_t ranks[WEFT_QUANTILES] = { 0 };
    for (uint32_t i = 0; i < target->n_wanted; i++)
        ranks[target->quantile[i]] = target->rank[i];
    uint64_t n_parts = target->width / target->part_width, n_below = 0;
    for (uint64_t part = 0; part < n_parts; part++) {
        uint64_t n_in = target->cells[part];
        if (n_in && !take_slot(quantiles, next, target->function_id, ranks, n_below, n_in,
                               target->low + part * target->part_width, target->part_width))
            return false;
        n_below += n_in;
    }
    return true;
}

enum weft_code weft_quantiles_end(struct weft_quantiles *quantiles, struct weft_err *err)
{
    struct target_vec next = { 0 };
    for (size_t i = 0; i < quantiles->n_targets; i++) {
        struct weft_quantile_target *target = &quantiles->targets[i];
        bool is_ok = true;
        if (!target->cells) { /* its turn comes later */
            struct weft_quantile_target *kept = WEFT_VEC_PUSH(&next);
            is_ok = kept != NULL;
            if (is_ok)
                *kept = *target;
        } else if (target->n_seen != target->n_values) {
            free(next.items);
            return weft_fail(err, WEFT_E_MALFORMED, WEFT_NO_OFFSET,
                             "expected %" PRIu64 " calls of function %" PRIu32
                             " in a range, found %" PRIu64,
                             target->n_values, target->function_id, target->n_seen);
        } else if (target->part_width) {
            is_ok = narrow(quantiles, target, &next);
        } else {
            resolve(quantiles, target);
        }
        if (!is_ok) {
            free(next.items);
            return weft_no_memory(err, "histograms");
        }
    }
    for (size_t i = 0; i < quantiles->n_targets; i++)
        free(quantiles->targets[i].cells);
    free(quantiles->targets);
    quantiles->targets = next.items;
    quantiles->n_targets = next.n;
    return WEFT_OK;
}
