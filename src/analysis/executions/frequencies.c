/* SPDX-License-Identifier: MIT
 *
 * How many intervals does [b, e) share time with? Those that begin before e, less those that end
 * by b: two searches in sorted times, however many there are. How much time is shared with them?
 * The intervals before t hold
 *
 *     F(t) = sum of (t - start) over those that began - sum of (t - end) over those that ended
 *
 * and so it is F(e) - F(b), by sums of sorted times. Numbers wrap, which cancels.
 */
#include "analysis/executions/frequencies.h"

#include "analysis/executions/frequency_tests.h"
#include "base/map.h"
#include "base/statistics.h"
#include "base/vec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times of begins, or of ends, ascending once they are sealed. */
struct times {
    uint64_t *items;
    size_t n, cap;
    uint64_t *sums; /* sums[i]: of the first i */
};

struct scope {
    struct {
        struct times starts, ends;
    } groups[WEFT_FREQUENCY_GROUPS];
};

struct weft_frequencies {
    struct weft_map *scope_ids;
    struct weft_frequency_tests *tests;
    struct {
        struct scope *items;
        size_t n, cap;
    } scopes;
    struct {
        struct weft_frequency_row *items; /* by label; without the label */
        size_t n, cap;
    } rows;
};

struct weft_frequencies *weft_frequencies_new(uint64_t memory_bytes, uint64_t n_looks)
{
    struct weft_frequencies *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->scope_ids = weft_map_new();
    made->tests = weft_frequency_tests_new(memory_bytes, n_looks);
    if (made->scope_ids && made->tests)
        return made;
    weft_frequencies_free(made);
    return NULL;
}

static void times_fini(struct times *times)
{
    free(times->sums);
    WEFT_VEC_FINI(times);
}

void weft_frequencies_free(struct weft_frequencies *frequencies)
{
    if (!frequencies)
        return;
    for (size_t i = 0; i < frequencies->scopes.n; i++)
        for (unsigned g = 0; g < WEFT_FREQUENCY_GROUPS; g++) {
            times_fini(&frequencies->scopes.items[i].groups[g].starts);
            times_fini(&frequencies->scopes.items[i].groups[g].ends);
        }
    weft_map_free(frequencies->scope_ids);
    weft_frequency_tests_free(frequencies->tests);
    WEFT_VEC_FINI(&frequencies->scopes);
    WEFT_VEC_FINI(&frequencies->rows);
    free(frequencies);
}

/* ---- intervals ------------------------------------------------------------------------------- */

enum weft_code weft_frequencies_interval(struct weft_frequencies *frequencies, uint64_t scope,
                                         uint32_t execution, enum weft_frequency_group group,
                                         uint64_t start_ns, uint64_t end_ns, struct weft_err *err)
{
    bool is_new = false;
    if (end_ns <= start_ns)
        return WEFT_OK; /* nothing lies in it */
    const uint32_t id = weft_map_add(frequencies->scope_ids, scope, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&frequencies->scopes)))
        return weft_no_memory(err, "frequencies");
    struct times *starts = &frequencies->scopes.items[id].groups[group].starts,
                 *ends = &frequencies->scopes.items[id].groups[group].ends;
    uint64_t *start = WEFT_VEC_PUSH(starts), *end = WEFT_VEC_PUSH(ends);
    if (!start || !end)
        return weft_no_memory(err, "frequencies");
    *start = start_ns;
    *end = end_ns;
    return weft_frequency_tests_piece(frequencies->tests, id, execution, group, start_ns, end_ns,
                                      err);
}

static int by_time(const void *a_void, const void *b_void)
{
    const uint64_t a = *(const uint64_t *)a_void, b = *(const uint64_t *)b_void;
    return (a > b) - (a < b);
}

static bool times_seal(struct times *times)
{
    times->sums = calloc(times->n + 1, sizeof *times->sums);
    if (!times->sums)
        return false;
    if (times->n)
        qsort(times->items, times->n, sizeof *times->items, by_time);
    for (size_t i = 0; i < times->n; i++)
        times->sums[i + 1] = times->sums[i] + times->items[i];
    return true;
}

enum weft_code weft_frequencies_seal(struct weft_frequencies *frequencies, struct weft_err *err)
{
    for (size_t i = 0; i < frequencies->scopes.n; i++)
        for (unsigned g = 0; g < WEFT_FREQUENCY_GROUPS; g++)
            if (!times_seal(&frequencies->scopes.items[i].groups[g].starts) ||
                !times_seal(&frequencies->scopes.items[i].groups[g].ends))
                return weft_no_memory(err, "frequencies");
    weft_frequency_tests_seal(frequencies->tests);
    return WEFT_OK;
}

/* ---- counting -------------------------------------------------------------------------------- */

/* How many times are before t_ns. */
static size_t before(const struct times *times, uint64_t t_ns)
{
    size_t low = 0, high = times->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (times->items[middle] < t_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of all times before t_ns, how long ago they are, together. */
static uint64_t past_ns(const struct times *times, uint64_t t_ns)
{
    const size_t n = before(times, t_ns);
    return n * t_ns - times->sums[n];
}

static void count_in(const struct scope *scope, struct weft_frequency_row *row, uint64_t start_ns,
                     uint64_t end_ns)
{
    const uint64_t behind_ns = end_ns > start_ns ? end_ns : start_ns + 1;
    for (unsigned g = 0; g < WEFT_FREQUENCY_GROUPS; g++) {
        const struct times *starts = &scope->groups[g].starts, *ends = &scope->groups[g].ends;
        const size_t n_begun = before(starts, behind_ns), n_ended = before(ends, start_ns + 1);
        row->count[g] += n_begun > n_ended ? n_begun - n_ended : 0;
        if (end_ns > start_ns)
            row->sum_ns[g] += past_ns(starts, end_ns) - past_ns(ends, end_ns) -
                              past_ns(starts, start_ns) + past_ns(ends, start_ns);
    }
}

enum weft_code weft_frequencies_count(struct weft_frequencies *frequencies, uint64_t scope,
                                      uint32_t label_id, uint64_t start_ns, uint64_t end_ns,
                                      struct weft_err *err)
{
    while (frequencies->rows.n <= label_id)
        if (!WEFT_VEC_PUSH(&frequencies->rows))
            return weft_no_memory(err, "frequencies");
    struct weft_frequency_row *row = &frequencies->rows.items[label_id];
    const uint32_t id = weft_map_find(frequencies->scope_ids, scope);
    row->n_all++;
    if (id == WEFT_MAP_NONE)
        return WEFT_OK;
    count_in(&frequencies->scopes.items[id], row, start_ns, end_ns);
    return weft_frequency_tests_count(frequencies->tests, id, label_id, start_ns, end_ns, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Of a slow execution more than of another, on average; of the first group alone, its own. */
static double more(const struct weft_frequencies_table *table, const uint64_t *sums)
{
    double mean[WEFT_FREQUENCY_GROUPS] = { 0 };
    for (unsigned g = 0; g < WEFT_FREQUENCY_GROUPS; g++)
        if (table->n_executions[g])
            mean[g] = (double)sums[g] / (double)table->n_executions[g];
    return mean[WEFT_FREQUENCY_SLOW] - mean[WEFT_FREQUENCY_OTHERS];
}

static int by_more(const void *a_void, const void *b_void, void *context)
{
    const struct weft_frequency_row *a = a_void, *b = b_void;
    const double a_ns = more(context, a->sum_ns), b_ns = more(context, b->sum_ns);
    const double a_n = more(context, a->count), b_n = more(context, b->count);
    if (a_ns != b_ns)
        return a_ns > b_ns ? -1 : 1;
    if (a_n != b_n)
        return a_n > b_n ? -1 : 1;
    return weft_str_compare(a->label, b->label);
}

static enum weft_code adjust(struct weft_frequencies_table *table, struct weft_err *err)
{
    double *p = calloc(table->n_rows + 1, sizeof *p);
    uint32_t *order = calloc(table->n_rows + 1, sizeof *order);
    const bool has_memory = p && order;
    /* all of them have a p, or none has */
    const bool is_tested = table->n_rows > 0 && !isnan(table->rows[0].p);
    for (size_t i = 0; has_memory && i < table->n_rows; i++)
        p[i] = table->rows[i].p;
    if (has_memory && is_tested)
        weft_adjust_p(p, table->n_rows, order, p);
    for (size_t i = 0; has_memory && i < table->n_rows; i++)
        table->rows[i].p_adjusted = p[i];
    free(p);
    free(order);
    return has_memory ? WEFT_OK : weft_no_memory(err, "frequencies");
}

/* The rows of what is in any execution; p by label. */
static enum weft_code list_rows(const struct weft_frequencies *frequencies,
                                const struct weft_strtab *labels, const double *p,
                                struct weft_frequencies_table *table, struct weft_err *err)
{
    const size_t n = frequencies->rows.n;
    table->rows = WEFT_ARENA_NEW(table->arena, n + 1, struct weft_frequency_row);
    if (!table->rows)
        return weft_no_memory(err, "frequencies");
    for (uint32_t i = 0; i < n; i++) {
        struct weft_frequency_row *row = &table->rows[table->n_rows];
        *row = frequencies->rows.items[i];
        row->p = p[i];
        if (row->count[WEFT_FREQUENCY_SLOW] + row->count[WEFT_FREQUENCY_OTHERS] == 0)
            continue;
        row->label = weft_arena_copy(table->arena, weft_strtab_get(labels, i));
        if (!row->label.bytes)
            return weft_no_memory(err, "frequencies");
        table->n_rows++;
    }
    return adjust(table, err);
}

enum weft_code weft_frequencies_finish(const struct weft_frequencies *frequencies,
                                       const struct weft_strtab *labels,
                                       struct weft_frequencies_table *table, struct weft_err *err)
{
    const size_t n = frequencies->rows.n;
    double *p = calloc(n + 1, sizeof *p);
    table->is_too_much = weft_frequency_tests_gave_up(frequencies->tests);
    enum weft_code code =
        p ? weft_frequency_tests_finish(frequencies->tests, frequencies->rows.items, n,
                                        table->n_executions, p, err)
          : weft_no_memory(err, "frequencies");
    WEFT_THEN(code, list_rows(frequencies, labels, p, table, err));
    free(p);
    if (code != WEFT_OK)
        return code;
    if (table->n_rows)
        qsort_r(table->rows, table->n_rows, sizeof *table->rows, by_more, table);
    return WEFT_OK;
}
