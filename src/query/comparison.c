/* SPDX-License-Identifier: MIT
 *
 * Connects a matrix of executions, its comparer (analysis/compare) and the filters (filter.c). Each
 * question marks the members of both groups again; what the comparer keeps makes small changes
 * cheap.
 */
#include "query/comparison.h"

#include "analysis/compare/compare.h"
#include "query/build.h"
#include "query/database/database.h"
#include "query/filter.h"
#include "schema/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct weft_comparison {
    struct weft_ecct_matrix *matrix;
    struct weft_comparer *comparer; /* NULL: nothing was asked yet */
    struct weft_filter_scope *scope;
    uint8_t *members;                     /* by item, of the last question */
    const struct weft_progress *progress; /* or NULL */
};

enum weft_code weft_comparison_of(struct weft_ecct_matrix *matrix,
                                  struct weft_comparison **comparison, struct weft_err *err)
{
    struct weft_comparison *made = *comparison = calloc(1, sizeof *made);
    if (!made) {
        weft_result_free(matrix);
        return weft_no_memory(err, "a comparison");
    }
    made->matrix = matrix;
    made->scope = weft_filter_scope_new(matrix);
    made->members = calloc(matrix->n_items + 1, 1);
    const enum weft_code code =
        made->scope && made->members ? WEFT_OK : weft_no_memory(err, "a comparison");
    if (code != WEFT_OK) {
        weft_comparison_close(made);
        *comparison = NULL;
    }
    return code;
}

enum weft_code weft_comparison_open(const char *path, struct weft_str type, const char *map_path,
                                    const struct weft_progress *progress,
                                    struct weft_comparison **comparison, struct weft_err *err)
{
    struct weft_database *database = NULL;
    struct weft_ecct_matrix *matrix = NULL;
    *comparison = NULL;
    enum weft_code code = weft_database_open(path, WEFT_DATABASE_READ, &database, err);
    if (code == WEFT_OK)
        weft_database_watch(database, progress);
    if (code == WEFT_OK && map_path)
        code = weft_database_map_names(database, map_path, err);
    WEFT_THEN(code, weft_database_load(database, type, &matrix, err));
    weft_database_close(database);
    WEFT_THEN(code, weft_comparison_of(matrix, comparison, err));
    if (code == WEFT_OK)
        weft_comparison_watch(*comparison, progress);
    return code;
}

void weft_comparison_watch(struct weft_comparison *comparison, const struct weft_progress *progress)
{
    comparison->progress = progress;
}

void weft_comparison_rest(struct weft_comparison *comparison)
{
    weft_comparer_free(comparison->comparer);
    comparison->comparer = NULL;
}

static enum weft_code need_comparer(struct weft_comparison *comparison, struct weft_err *err)
{
    return comparison->comparer ? WEFT_OK
                                : weft_comparer_new(comparison->matrix, &comparison->comparer, err);
}

void weft_comparison_close(struct weft_comparison *comparison)
{
    if (!comparison)
        return;
    weft_comparer_free(comparison->comparer);
    weft_filter_scope_free(comparison->scope);
    weft_result_free(comparison->matrix);
    free(comparison->members);
    free(comparison);
}

const struct weft_ecct_matrix *weft_comparison_matrix(const struct weft_comparison *comparison)
{
    return comparison->matrix;
}

const uint8_t *weft_comparison_members(const struct weft_comparison *comparison)
{
    return comparison->members;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Names of those that have executions: "page, event". */
static void list_types(const struct weft_executions_table *table, char *names, size_t n_bytes)
{
    size_t n = 0;
    names[0] = '\0';
    for (uint32_t i = 0; i < table->n_types; i++) {
        const struct weft_str name = table->types[i].name;
        const int put = table->types[i].count == 0
                            ? 0
                            : snprintf(names + n, n_bytes - n, "%s%.*s", n ? ", " : "",
                                       (int)(name.n_bytes < 60 ? name.n_bytes : 60), name.bytes);
        n += put > 0 && (size_t)put < n_bytes - n ? (size_t)put : 0;
    }
}

/* The place of the type `name`, or of the only one (NULL) that has executions. */
static enum weft_code choose_type(const struct weft_executions_table *table, const char *name,
                                  uint32_t *type, struct weft_err *err)
{
    enum { NAMES_BYTES = 200 };
    char names[NAMES_BYTES];
    size_t n_found = 0;
    for (uint32_t i = 0; i < table->n_types; i++) {
        const bool is_wanted = !name || weft_str_equal(table->types[i].name, weft_str_of(name));
        if (!is_wanted || table->types[i].count == 0)
            continue;
        *type = i;
        n_found++;
    }
    list_types(table, names, sizeof names);
    if (n_found == 1)
        return WEFT_OK;
    if (n_found > 1)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "executions of %zu types: expected --type NAME, one of %s", n_found,
                         names);
    if (!name || !names[0])
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "the trace has no execution by these rules");
    return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET,
                     "no executions are of type '%.60s'; there are %s", name, names);
}

enum weft_code weft_comparison_of_type(struct weft_session *session,
                                       const struct weft_executions_table *executions,
                                       const char *type, const char *rules,
                                       const struct weft_build_opts *opts,
                                       struct weft_comparison **comparison, struct weft_err *err)
{
    struct weft_ecct_matrix *matrix = NULL;
    uint32_t place = 0;
    *comparison = NULL;
    enum weft_code code = choose_type(executions, type, &place, err);
    WEFT_THEN(code, weft_executions_matrix(session, executions, place, opts, &matrix, err));
    if (code == WEFT_OK && rules)
        for (size_t i = 0; i < matrix->n_sources; i++)
            matrix->sources[i].rules = weft_str_of(rules);
    WEFT_THEN(code, weft_comparison_of(matrix, comparison, err));
    if (code == WEFT_OK)
        weft_comparison_watch(*comparison, weft_session_run(session)->progress);
    return code;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static enum weft_code choose(struct weft_comparison *comparison, struct weft_str text, uint8_t bit,
                             uint8_t *members, struct weft_err *err)
{
    struct weft_filter *filter;
    enum weft_code code = weft_filter_parse(text, &filter, err);
    WEFT_THEN(code, weft_filter_apply(filter, comparison->scope, bit, members, err));
    weft_filter_free(filter);
    return code == WEFT_OK ? code : weft_within(err, "group %s", bit == WEFT_IN_A ? "A" : "B");
}

/* Compares groups given by item: bits WEFT_IN_A, WEFT_IN_B (analysis/compare/sums.h). */
static enum weft_code run_members(struct weft_comparison *comparison, const uint8_t *members,
                                  const struct weft_comparison_opts *opts,
                                  struct weft_compare_table **table, struct weft_err *err)
{
    const struct weft_compare_opts how = { .members = comparison->members,
                                           .n_bootstrap = opts->n_bootstrap,
                                           .with_causes = opts->with_causes,
                                           .n_looks = opts->n_looks,
                                           .progress = comparison->progress };
    WEFT_TRY(need_comparer(comparison, err));
    memmove(comparison->members, members, comparison->matrix->n_items);
    return weft_comparer_run(comparison->comparer, &how, table, err);
}

enum weft_code weft_comparison_run(struct weft_comparison *comparison,
                                   const struct weft_comparison_opts *opts,
                                   struct weft_compare_table **table, struct weft_err *err)
{
    uint8_t *members = calloc(comparison->matrix->n_items + 1, 1);
    *table = NULL;
    if (!members)
        return weft_no_memory(err, "a comparison");
    enum weft_code code = choose(comparison, opts->a, WEFT_IN_A, members, err);
    WEFT_THEN(code, choose(comparison, opts->b, WEFT_IN_B, members, err));
    WEFT_THEN(code, run_members(comparison, members, opts, table, err));
    free(members);
    return code;
}

/* ---- histograms ------------------------------------------------------------------------------ */

/* The bin of a value from low to high; rounding must not put it beside its edges. */
static size_t bin_of(const struct weft_metric_histogram *histogram, double value)
{
    const double share = histogram->is_log
                             ? log(value / histogram->low) / log(histogram->high / histogram->low)
                             : (value - histogram->low) / (histogram->high - histogram->low);
    const double at = share * (double)histogram->n_bins;
    size_t bin = at > 0 ? (size_t)at : 0; /* not a number, if low is high: the first */
    bin = bin < histogram->n_bins ? bin : histogram->n_bins - 1;
    if (bin > 0 && value < weft_metric_histogram_edge(histogram, bin))
        bin--;
    else if (bin + 1 < histogram->n_bins && value >= weft_metric_histogram_edge(histogram, bin + 1))
        bin++;
    return bin;
}

static void count_value(struct weft_metric_histogram *histogram, double value, uint8_t member)
{
    const uint32_t in_a = (member & WEFT_IN_A) != 0, in_b = (member & WEFT_IN_B) != 0;
    if (histogram->is_log && !(value > 0)) {
        histogram->below_all++;
        histogram->below_a += in_a;
        histogram->below_b += in_b;
        return;
    }
    const size_t bin = bin_of(histogram, value);
    histogram->all[bin]++;
    histogram->a[bin] += in_a;
    histogram->b[bin] += in_b;
}

static void set_range(struct weft_metric_histogram *histogram,
                      const struct weft_metric_order *order)
{
    size_t first = 0;
    while (histogram->is_log && first < order->n && !(order->values[first] > 0))
        first++;
    if (first < order->n) {
        histogram->low = order->values[first];
        histogram->high = order->values[order->n - 1];
    }
}

enum weft_code weft_comparison_histogram(struct weft_comparison *comparison, size_t metric,
                                         size_t n_bins, bool is_log, struct weft_arena *arena,
                                         struct weft_metric_histogram *histogram,
                                         struct weft_err *err)
{
    enum { BINS_MAX = 4096 };
    *histogram = (struct weft_metric_histogram){ .is_log = is_log, .n_bins = n_bins };
    if (metric >= comparison->matrix->n_metrics)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected a metric below %zu, found %zu",
                         comparison->matrix->n_metrics, metric);
    if (n_bins < 1 || n_bins > BINS_MAX)
        return weft_fail(err, WEFT_E_ARG, WEFT_NO_OFFSET, "expected 1 to %d bins, found %zu",
                         BINS_MAX, n_bins);
    WEFT_TRY(need_comparer(comparison, err));
    histogram->all = WEFT_ARENA_NEW(arena, n_bins, uint32_t);
    histogram->a = WEFT_ARENA_NEW(arena, n_bins, uint32_t);
    histogram->b = WEFT_ARENA_NEW(arena, n_bins, uint32_t);
    if (!histogram->all || !histogram->a || !histogram->b)
        return weft_no_memory(err, "a comparison");
    const struct weft_metric_order *order = weft_comparer_order(comparison->comparer, metric);
    set_range(histogram, order);
    for (size_t i = 0; i < order->n; i++)
        count_value(histogram, order->values[i], comparison->members[order->items[i]]);
    return WEFT_OK;
}
