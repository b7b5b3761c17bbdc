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

#include "base/error.h"
#include "base/map.h"
#include "base/search.h"
#include "base/statistics.h"
#include "base/vec.h"
#include "schema/compare.h"
#include "schema/frequencies.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- frequency tests ------------------------------------------------------------------------- */

/* Is there more of something in slow executions than chance puts there? What each execution has of
 * each label is kept, and Welch's test done with it (docs/analyses/frequencies.md).
 *
 *     weft_frequency_tests_new; weft_frequency_tests_piece ...; weft_frequency_tests_seal
 *     weft_frequency_tests_count ...
 *     weft_frequency_tests_finish
 *
 * Keeps counts for each pair of label and execution, in memory and work bounded by MOST_PAIRS and
 * MOST_LOOKS; beyond that it gives up, and the table has counts without tests. Labels of few
 * occurrences get no test, as means of few are not normal. */

struct weft_frequency_tests;

enum {
    MOST_PAIRS = 1 << 22,
    MOST_LOOKS = 1 << 25, /* at pieces, of all that is counted; each may be a miss in the map */
    SHARE = 4,            /* of the memory there is, for pairs */
};

static const double ROUNDING = 1e-12;

struct piece {
    uint64_t start_ns, end_ns;
    uint64_t last_end_ns; /* of all pieces up to this one */
    uint32_t execution;
    uint8_t group;
};

struct test_scope {
    struct piece *items; /* ascending by start, once sealed */
    size_t n, cap;
};

/* What an execution has of a label. */
struct pair {
    uint64_t count, sum_ns;
    uint8_t group;
};

/* Of a pair, while what holds it grows: it, its key and its slots, old and new ones. */
static const uint64_t PAIR_BYTES = 3 * (sizeof(struct pair) + sizeof(uint64_t)) + 24;

struct weft_frequency_tests {
    struct {
        struct test_scope *items;
        size_t n, cap;
    } scopes;
    struct weft_map *keys; /* label and execution */
    struct {
        struct pair *items;
        size_t n, cap;
    } pairs;
    uint64_t n_looks, most_looks, most_pairs;
    bool has_given_up;
};

static uint64_t most_pairs(uint64_t memory_bytes)
{
    const uint64_t n = memory_bytes / SHARE / PAIR_BYTES;
    return memory_bytes && n < MOST_PAIRS ? n : MOST_PAIRS;
}

/* What it keeps of labels takes a quarter of `memory_bytes`, at most (0: 4 million pairs of
 * executions and labels, which is always the most); it looks `n_looks` times (0: 33 million) at
 * pieces. NULL without memory. */
static struct weft_frequency_tests *weft_frequency_tests_new(uint64_t memory_bytes,
                                                             uint64_t n_looks)
{
    struct weft_frequency_tests *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->keys = weft_map_new();
    made->most_pairs = most_pairs(memory_bytes);
    made->most_looks = n_looks ? n_looks : MOST_LOOKS;
    if (made->keys)
        return made;
    free(made);
    return NULL;
}

/* NULL is allowed. */
static void weft_frequency_tests_free(struct weft_frequency_tests *tests)
{
    if (!tests)
        return;
    for (size_t i = 0; i < tests->scopes.n; i++)
        WEFT_VEC_FINI(&tests->scopes.items[i]);
    WEFT_VEC_FINI(&tests->scopes);
    WEFT_VEC_FINI(&tests->pairs);
    weft_map_free(tests->keys);
    free(tests);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* [start_ns, end_ns) of an execution, or of a piece of it, in a dense scope. WEFT_E_NOMEM. */
static enum weft_code weft_frequency_tests_piece(struct weft_frequency_tests *tests, uint32_t scope,
                                                 uint32_t execution,
                                                 enum weft_frequency_group group, uint64_t start_ns,
                                                 uint64_t end_ns, struct weft_err *err)
{
    while (tests->scopes.n <= scope)
        if (!WEFT_VEC_PUSH(&tests->scopes))
            return weft_no_memory(err, "tests of frequencies");
    struct piece *piece = WEFT_VEC_PUSH(&tests->scopes.items[scope]);
    if (!piece)
        return weft_no_memory(err, "tests of frequencies");
    *piece = (struct piece){
        .start_ns = start_ns, .end_ns = end_ns, .execution = execution, .group = (uint8_t)group
    };
    return WEFT_OK;
}

static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->execution < y->execution ? -1 : x->execution > y->execution;
}

/* There are no more pieces. O(n log n). */
static void weft_frequency_tests_seal(struct weft_frequency_tests *tests)
{
    for (size_t i = 0; i < tests->scopes.n; i++) {
        struct test_scope *scope = &tests->scopes.items[i];
        uint64_t last_ns = 0;
        if (scope->n > 0)
            qsort(scope->items, scope->n, sizeof *scope->items, by_start);
        for (size_t k = 0; k < scope->n; k++) {
            last_ns = scope->items[k].end_ns > last_ns ? scope->items[k].end_ns : last_ns;
            scope->items[k].last_end_ns = last_ns;
        }
    }
}

/* ---- counting -------------------------------------------------------------------------------- */

/* How many pieces begin before t_ns. */
static size_t n_before(const struct test_scope *scope, uint64_t t_ns)
{
    size_t place;
    WEFT_SEARCH(place, scope->n, scope->items[place].start_ns < t_ns);
    return place;
}

static enum weft_code add_pair(struct weft_frequency_tests *tests, uint32_t label,
                               const struct piece *piece, uint64_t start_ns, uint64_t end_ns,
                               struct weft_err *err)
{
    const uint64_t key = (uint64_t)label << 32 | piece->execution;
    const uint64_t from_ns = start_ns > piece->start_ns ? start_ns : piece->start_ns;
    const uint64_t to_ns = end_ns < piece->end_ns ? end_ns : piece->end_ns;
    bool is_new = false;
    const uint32_t id = weft_map_add(tests->keys, key, &is_new);
    if (id == WEFT_MAP_NONE || (is_new && !WEFT_VEC_PUSH(&tests->pairs)))
        return weft_no_memory(err, "tests of frequencies");
    struct pair *pair = &tests->pairs.items[id];
    pair->group = piece->group;
    pair->count++;
    pair->sum_ns += to_ns > from_ns ? to_ns - from_ns : 0;
    return WEFT_OK;
}

/* Whatever was kept is of no use any more. */
static void give_up(struct weft_frequency_tests *tests)
{
    tests->has_given_up = true;
    weft_map_free(tests->keys);
    tests->keys = NULL;
    WEFT_VEC_FINI(&tests->pairs);
}

/* Looks at a piece; at one too many it gives up. */
static enum weft_code look(struct weft_frequency_tests *tests, uint32_t label_id,
                           const struct piece *piece, uint64_t start_ns, uint64_t end_ns,
                           struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (piece->end_ns > start_ns)
        code = add_pair(tests, label_id, piece, start_ns, end_ns, err);
    tests->n_looks++;
    if (tests->pairs.n > tests->most_pairs || tests->n_looks > tests->most_looks)
        give_up(tests);
    return code;
}

/* Something from start_ns to end_ns, or a point. O(pieces that begin before its end and after the
 * last one that had ended for good). Gives up for all labels, which is no failure, once there are
 * too many pairs of executions and labels to be kept, or to be looked at. WEFT_E_NOMEM. */
static enum weft_code weft_frequency_tests_count(struct weft_frequency_tests *tests, uint32_t scope,
                                                 uint32_t label_id, uint64_t start_ns,
                                                 uint64_t end_ns, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (tests->has_given_up || scope >= tests->scopes.n)
        return WEFT_OK;
    const struct test_scope *pieces = &tests->scopes.items[scope];
    const uint64_t behind_ns = end_ns > start_ns ? end_ns : start_ns + 1;
    for (size_t i = n_before(pieces, behind_ns); code == WEFT_OK && !tests->has_given_up && i > 0 &&
                                                 pieces->items[i - 1].last_end_ns > start_ns;
         i--)
        code = look(tests, label_id, &pieces->items[i - 1], start_ns, end_ns, err);
    return code;
}

/* Were there too many? */
static bool weft_frequency_tests_gave_up(const struct weft_frequency_tests *tests)
{
    return tests->has_given_up;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Sums of squares of a label, by group. */
struct squares {
    double of[WEFT_FREQUENCY_GROUPS];
};

static struct weft_sample sample_of(uint64_t n, uint64_t sum, double squares)
{
    const double mean = (double)sum / (double)n;
    const double rest = squares - (double)sum * mean;
    const double apart = rest > ROUNDING * squares ? rest : 0; /* all alike: no variance at all */
    return (struct weft_sample){ .n = n, .mean = mean, .variance = apart / (double)(n - 1) };
}

static double test(const struct weft_frequency_row *row, const struct squares *squares,
                   const uint64_t n[WEFT_FREQUENCY_GROUPS])
{
    const bool has_time = row->sum_ns[WEFT_FREQUENCY_SLOW] + row->sum_ns[WEFT_FREQUENCY_OTHERS] > 0;
    const uint64_t *sums = has_time ? row->sum_ns : row->count;
    struct weft_sample samples[WEFT_FREQUENCY_GROUPS];
    for (unsigned g = 0; g < WEFT_FREQUENCY_GROUPS; g++) {
        if (n[g] < WEFT_TRUSTED_EXECUTIONS)
            return (double)NAN; /* the tests take means for normal ones: of few they are not */
        samples[g] = sample_of(n[g], sums[g], squares->of[g]);
    }
    return weft_samples_p(&samples[WEFT_FREQUENCY_OTHERS], &samples[WEFT_FREQUENCY_SLOW]);
}

/* Sets p[label] of `n_labels` labels, rows[label] of which are what was counted of them: of their
 * time, if they have any, else of their number. NaN where nothing is known: it gave up, or a group
 * has fewer than WEFT_TRUSTED_EXECUTIONS. WEFT_E_NOMEM. */
static enum weft_code
weft_frequency_tests_finish(const struct weft_frequency_tests *tests,
                            const struct weft_frequency_row *rows, size_t n_labels,
                            const uint64_t n_executions[WEFT_FREQUENCY_GROUPS], double *p,
                            struct weft_err *err)
{
    struct squares *squares = calloc(n_labels + 1, sizeof *squares);
    if (!squares)
        return weft_no_memory(err, "tests of frequencies");
    for (uint32_t i = 0; i < tests->pairs.n; i++) {
        const uint32_t label = (uint32_t)(weft_map_key(tests->keys, i) >> 32);
        const struct weft_frequency_row *row = &rows[label];
        const struct pair *pair = &tests->pairs.items[i];
        const bool has_time = row->sum_ns[0] + row->sum_ns[1] > 0;
        const double value = (double)(has_time ? pair->sum_ns : pair->count);
        squares[label].of[pair->group] += value * value;
    }
    for (size_t i = 0; i < n_labels; i++)
        p[i] = tests->has_given_up ? (double)NAN : test(&rows[i], &squares[i], n_executions);
    free(squares);
    return WEFT_OK;
}

/* ---- frequencies ----------------------------------------------------------------------------- */

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
