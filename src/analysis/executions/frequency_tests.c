/* SPDX-License-Identifier: MIT
 *
 * Keeps counts for each pair of label and execution, in memory and work bounded by MOST_PAIRS and
 * MOST_LOOKS; beyond that it gives up, and the table has counts without tests. Labels of few
 * occurrences get no test, as means of few are not normal.
 */
#include "analysis/executions/frequency_tests.h"

#include "base/map.h"
#include "base/search.h"
#include "base/statistics.h"
#include "base/vec.h"
#include "schema/compare.h"

#include <math.h>
#include <stdlib.h>

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

struct scope {
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
        struct scope *items;
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

struct weft_frequency_tests *weft_frequency_tests_new(uint64_t memory_bytes, uint64_t n_looks)
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

void weft_frequency_tests_free(struct weft_frequency_tests *tests)
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

enum weft_code weft_frequency_tests_piece(struct weft_frequency_tests *tests, uint32_t scope,
                                          uint32_t execution, enum weft_frequency_group group,
                                          uint64_t start_ns, uint64_t end_ns, struct weft_err *err)
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

void weft_frequency_tests_seal(struct weft_frequency_tests *tests)
{
    for (size_t i = 0; i < tests->scopes.n; i++) {
        struct scope *scope = &tests->scopes.items[i];
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
static size_t n_before(const struct scope *scope, uint64_t t_ns)
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

enum weft_code weft_frequency_tests_count(struct weft_frequency_tests *tests, uint32_t scope,
                                          uint32_t label_id, uint64_t start_ns, uint64_t end_ns,
                                          struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (tests->has_given_up || scope >= tests->scopes.n)
        return WEFT_OK;
    const struct scope *pieces = &tests->scopes.items[scope];
    const uint64_t behind_ns = end_ns > start_ns ? end_ns : start_ns + 1;
    for (size_t i = n_before(pieces, behind_ns); code == WEFT_OK && !tests->has_given_up && i > 0 &&
                                                 pieces->items[i - 1].last_end_ns > start_ns;
         i--)
        code = look(tests, label_id, &pieces->items[i - 1], start_ns, end_ns, err);
    return code;
}

bool weft_frequency_tests_gave_up(const struct weft_frequency_tests *tests)
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

enum weft_code weft_frequency_tests_finish(const struct weft_frequency_tests *tests,
                                           const struct weft_frequency_row *rows, size_t n_labels,
                                           const uint64_t n_executions[WEFT_FREQUENCY_GROUPS],
                                           double *p, struct weft_err *err)
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
