/* SPDX-License-Identifier: MIT
 *
 * Evaluates parsed filters (filter_parse.c) over all executions at once, an array of flags for each
 * test. Metrics and context times are computed at the first use and kept in the scope, since the
 * next filter mostly names the same.
 */
#include "query/filter.h"

#include "analysis/compare/metrics.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/statistics.h"
#include "base/str.h"
#include "base/vec.h"
#include "query/filter_parts.h"
#include "query/match.h"
#include "query/parse.h"
#include "schema/ecct.h"
#include "schema/event.h"

#include <fnmatch.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- filter context -------------------------------------------------------------------------- */

/* The time that executions spend in a context, which a filter names. Marks nodes from the root
 * down: a parent precedes its children, so one pass suffices, with the number of parts matched so
 * far for each node. */

enum { PARTS_MAX = 512 };

/* One of the names of "a>b": the frames that it fits. */
struct part {
    struct weft_str name; /* followed by a NUL */
    bool *fits;           /* by frame */
};

struct search {
    const struct weft_ecct_matrix *matrix;
    struct weft_arena *arena;
    struct part parts[PARTS_MAX];
    size_t n_parts;
    struct weft_err *err;
};

static struct weft_str trim(struct weft_str text)
{
    while (text.n_bytes > 0 && text.bytes[0] == ' ') {
        text.bytes++;
        text.n_bytes--;
    }
    while (text.n_bytes > 0 && text.bytes[text.n_bytes - 1] == ' ')
        text.n_bytes--;
    return text;
}

/* The texts between the bytes `mark`, without spaces around them. */
static enum weft_code split(struct search *search, struct weft_str text, char mark)
{
    search->n_parts = 0;
    for (const char *end = text.bytes + text.n_bytes; text.bytes <= end;) {
        const char *next =
            text.bytes < end ? memchr(text.bytes, mark, (size_t)(end - text.bytes)) : NULL;
        const size_t n_bytes = (size_t)((next ? next : end) - text.bytes);
        if (search->n_parts == PARTS_MAX)
            return weft_fail(search->err, WEFT_E_LIMIT, WEFT_NO_OFFSET,
                             "a context of more than %d frames", PARTS_MAX);
        struct part *part = &search->parts[search->n_parts++];
        part->name = weft_arena_copy(
            search->arena, trim((struct weft_str){ .bytes = text.bytes, .n_bytes = n_bytes }));
        if (!part->name.bytes)
            return weft_no_memory(search->err, "a filter");
        text.bytes += n_bytes + 1;
    }
    return WEFT_OK;
}

/* Marks the frames of exactly this name; false if there is none. */
static bool find_whole(const struct weft_ecct_matrix *matrix, struct weft_str name, bool *fits)
{
    bool is_found = false;
    for (size_t i = 0; i < matrix->n_frames; i++)
        is_found |= fits[i] = weft_str_equal(matrix->frames[i].name, name);
    return is_found;
}

/* Marks those that match a pattern (query/match.h). */
static enum weft_code find_pattern(struct search *search, const struct part *part)
{
    struct weft_matcher *matcher;
    enum weft_code code = weft_matcher_new(part->name.bytes, &matcher, search->err);
    for (size_t i = 0; code == WEFT_OK && i < search->matrix->n_frames; i++)
        code = weft_matcher_matches(matcher, search->matrix->frames[i].name, &part->fits[i],
                                    search->err);
    weft_matcher_free(matcher);
    return code;
}

static enum weft_code find_parts(struct search *search, bool is_whole)
{
    for (size_t k = 0; k < search->n_parts; k++) {
        struct part *part = &search->parts[k];
        part->fits = WEFT_ARENA_NEW(search->arena, search->matrix->n_frames, bool);
        if (!part->fits)
            return weft_no_memory(search->err, "a filter");
        if (find_whole(search->matrix, part->name, part->fits) || is_whole)
            continue;
        WEFT_TRY(part->name.n_bytes > 0 ? find_pattern(search, part) : WEFT_OK);
    }
    return WEFT_OK;
}

/* Follows each path from the root: how many parts it has met so far. If it must be the whole path,
 * each frame is the next part, or the path is lost. */
static enum weft_code follow(struct search *search, bool is_whole, bool *is_in, bool *is_found)
{
    const struct weft_ecct_matrix *matrix = search->matrix;
    const uint32_t lost = UINT32_MAX;
    uint32_t *met = WEFT_ARENA_NEW(search->arena, matrix->n_nodes, uint32_t);
    if (!met)
        return weft_no_memory(search->err, "a filter");
    *is_found = false;
    for (size_t node = 0; node < matrix->n_nodes; node++) {
        const uint32_t parent = matrix->nodes[node].parent;
        is_in[node] = parent != WEFT_ID_NONE && is_in[parent];
        if (parent == WEFT_ID_NONE || is_in[node])
            continue;
        met[node] = met[parent];
        if (met[node] == lost)
            continue;
        if (search->parts[met[node]].fits[matrix->nodes[node].frame])
            met[node]++;
        else if (is_whole)
            met[node] = lost;
        is_in[node] = met[node] == search->n_parts;
        *is_found |= is_in[node];
    }
    return WEFT_OK;
}

static enum weft_code try_parts(struct search *search, struct weft_str text, char mark,
                                bool is_whole, bool *is_in, bool *is_found)
{
    enum weft_code code = split(search, text, mark);
    WEFT_THEN(code, find_parts(search, is_whole));
    WEFT_THEN(code, follow(search, is_whole, is_in, is_found));
    return code;
}

/* No name holds a NUL that matters: the whole text is one part. */
static enum weft_code try_one(struct search *search, struct weft_str text, bool *is_in,
                              bool *is_found)
{
    return try_parts(search, text, '\0', false, is_in, is_found);
}

static bool is_regex(struct weft_str text)
{
    return text.n_bytes > 1 && text.bytes[0] == '/' && text.bytes[text.n_bytes - 1] == '/';
}

static enum weft_code mark(struct search *search, struct weft_str text, bool *is_in)
{
    bool is_found = false;
    enum weft_code code = WEFT_OK;
    if (!is_regex(text) && memchr(text.bytes, ';', text.n_bytes))
        code = try_parts(search, text, ';', true, is_in, &is_found);
    if (code == WEFT_OK && !is_found)
        code = try_one(search, text, is_in, &is_found);
    if (code == WEFT_OK && !is_found && !is_regex(text) && memchr(text.bytes, '>', text.n_bytes))
        code = try_parts(search, text, '>', false, is_in, &is_found);
    if (code == WEFT_OK && !is_found)
        return weft_fail(search->err, WEFT_E_ARG, WEFT_NO_OFFSET,
                         "no execution has a context '%.*s': expected the name of a frame, or a "
                         "part of it, or a path of them such as 'handle>fsync'",
                         text.n_bytes > 80 ? 80 : (int)text.n_bytes, text.bytes);
    return code;
}

/* Marks the nodes that `text` (followed by a NUL) names, and all below them. The first that fits:
 *   "a;b;c"    the one path from the root, whole names
 *   "/regex/"  names that match
 *   "name"     nodes called so
 *   "a>b"      nodes "b" somewhere below nodes "a", each in one of these ways
 *   "part"     nodes whose names hold it, in letters of either case
 * WEFT_E_ARG if there is no such node. */
static enum weft_code weft_context_mark(const struct weft_ecct_matrix *matrix, struct weft_str text,
                                        bool *is_in, struct weft_err *err)
{
    struct search *search = calloc(1, sizeof *search);
    struct weft_arena *arena = weft_arena_new(0);
    enum weft_code code;
    if (!search || !arena) {
        code = weft_no_memory(err, "a filter");
    } else {
        *search = (struct search){ .matrix = matrix, .arena = arena, .err = err };
        code = mark(search, text, is_in);
    }
    weft_arena_free(arena);
    free(search);
    return code;
}

/* The time of each item in the nodes marked: inclusive, no part of it twice. */
static void weft_context_times(const struct weft_ecct_matrix *matrix, const bool *is_in,
                               double *times_ns)
{
    for (size_t item = 0; item < matrix->n_items; item++) {
        uint64_t sum_ns = 0;
        for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
            sum_ns += is_in[matrix->node[at]] ? matrix->ns[at] : 0;
        times_ns[item] = (double)sum_ns;
    }
}

/* ---- filter ---------------------------------------------------------------------------------- */

/* A number an item that filters asked for: a metric, or the time in a context. */
struct known {
    enum weft_test_kind kind;
    char *name; /* owned */
    enum weft_metric_unit unit;
    const double *values; /* NAN: none, which counts as 0 */
    double *owned;        /* of a context; else NULL */
    double *ascending;    /* for percentiles; made when one is asked for */
};

struct weft_filter_scope {
    const struct weft_ecct_matrix *matrix;
    struct {
        struct known *items;
        size_t n, cap;
    } known;
};

struct application {
    const struct weft_filter *filter;
    struct weft_filter_scope *scope;
    struct weft_err *err;
};

enum { KNOWN_MAX = 256, NAME_BYTES = 60 };

struct weft_filter_scope *weft_filter_scope_new(const struct weft_ecct_matrix *matrix)
{
    struct weft_filter_scope *scope = calloc(1, sizeof *scope);
    if (scope)
        scope->matrix = matrix;
    return scope;
}

static void forget(struct weft_filter_scope *scope)
{
    for (size_t i = 0; i < scope->known.n; i++) {
        free(scope->known.items[i].name);
        free(scope->known.items[i].owned);
        free(scope->known.items[i].ascending);
    }
    scope->known.n = 0;
}

void weft_filter_scope_free(struct weft_filter_scope *scope)
{
    if (!scope)
        return;
    forget(scope);
    WEFT_VEC_FINI(&scope->known);
    free(scope);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static enum weft_code unknown_metric(const struct application *application,
                                     const struct weft_test *test)
{
    const struct weft_ecct_matrix *matrix = application->scope->matrix;
    char what[240];
    size_t n = (size_t)snprintf(what, sizeof what, "a metric (");
    for (size_t i = 0; i < matrix->n_metrics && n < sizeof what; i++) {
        const struct weft_str name = matrix->metrics[i].name;
        n += (size_t)snprintf(what + n, sizeof what - n, "%s%.*s", i ? ", " : "",
                              name.n_bytes > NAME_BYTES ? NAME_BYTES : (int)name.n_bytes,
                              name.bytes);
    }
    if (n < sizeof what)
        n += (size_t)snprintf(what + n, sizeof what - n, ")");
    if (n >= sizeof what)
        memcpy(what + sizeof what - 5, "...)", 5);
    return weft_filter_expected(application->filter, test->at, what, application->err);
}

static enum weft_code find_metric(const struct application *application,
                                  const struct weft_test *test, struct known *known)
{
    const struct weft_ecct_matrix *matrix = application->scope->matrix;
    for (size_t i = 0; i < matrix->n_metrics; i++)
        if (weft_str_equal(matrix->metrics[i].name, test->name)) {
            known->unit = matrix->metrics[i].unit;
            known->values = matrix->metrics[i].values;
            return WEFT_OK;
        }
    return unknown_metric(application, test);
}

static enum weft_code find_context(const struct application *application,
                                   const struct weft_test *test, struct known *known)
{
    const struct weft_ecct_matrix *matrix = application->scope->matrix;
    bool *is_in = calloc(matrix->n_nodes + 1, sizeof *is_in);
    enum weft_code code = is_in ? weft_context_mark(matrix, test->name, is_in, application->err)
                                : weft_no_memory(application->err, "a filter");
    if (code == WEFT_OK) {
        known->unit = WEFT_METRIC_NS;
        known->values = known->owned = calloc(matrix->n_items + 1, sizeof *known->owned);
        if (known->owned)
            weft_context_times(matrix, is_in, known->owned);
        else
            code = weft_no_memory(application->err, "a filter");
    }
    free(is_in);
    return code;
}

/* The numbers that a test is about; computed once. */
static enum weft_code find_known(const struct application *application,
                                 const struct weft_test *test, struct known **found)
{
    struct weft_filter_scope *scope = application->scope;
    struct known made = { .kind = test->kind };
    for (size_t i = 0; i < scope->known.n; i++) {
        *found = &scope->known.items[i];
        if ((*found)->kind == test->kind && strcmp((*found)->name, test->name.bytes) == 0)
            return WEFT_OK;
    }
    if (scope->known.n >= KNOWN_MAX)
        forget(scope);
    WEFT_TRY(test->kind == WEFT_TEST_METRIC ? find_metric(application, test, &made)
                                            : find_context(application, test, &made));
    made.name = strdup(test->name.bytes);
    *found = made.name ? WEFT_VEC_PUSH(&scope->known) : NULL;
    if (!*found) {
        free(made.name);
        free(made.owned);
        return weft_no_memory(application->err, "a filter");
    }
    **found = made;
    return WEFT_OK;
}

static double value_of(const struct known *known, size_t item)
{
    return isnan(known->values[item]) ? 0 : known->values[item];
}

/* ---- values ---------------------------------------------------------------------------------- */

/* "p95" or "p99.9": false if it is nothing of the kind. */
static bool read_percentile(const char *text, double *share)
{
    char *end;
    if (text[0] != 'p' || text[1] < '0' || text[1] > '9')
        return false;
    *share = strtod(text + 1, &end) / 100;
    return *end == '\0' && *share <= 1;
}

static enum weft_code percentile(const struct application *application, struct known *known,
                                 double share, double *value)
{
    const size_t n = application->scope->matrix->n_items;
    if (!known->ascending) {
        known->ascending = calloc(n + 1, sizeof *known->ascending);
        if (!known->ascending)
            return weft_no_memory(application->err, "a filter");
        for (size_t i = 0; i < n; i++)
            known->ascending[i] = value_of(known, i);
        qsort(known->ascending, n, sizeof *known->ascending, weft_order_double);
    }
    *value = weft_sorted_quantile(known->ascending, n, share);
    return WEFT_OK;
}

static bool read_number(const char *text, double *value)
{
    static const char *const hex = "xXnN"; /* no hexadecimal number, "nan" or "inf" */
    char *end;
    if (strpbrk(text, hex))
        return false;
    *value = strtod(text, &end);
    if (end != text && end[0] != '\0' && end[1] == '\0') {
        const char *steps = "kMG", *step = strchr(steps, *end);
        for (const char *at = steps; step && at <= step; at++)
            *value *= 1000;
        end += step != NULL;
    }
    return end != text && *end == '\0' && isfinite(*value);
}

static enum weft_code read_value(const struct application *application, struct known *known,
                                 const struct weft_test_value *text, double *value)
{
    uint64_t whole = 0;
    double share;
    const char *what = "a number such as 3, 2.5 or 10k, or a percentile such as p95";
    bool is_ok = false;
    if (read_percentile(text->text.bytes, &share))
        return percentile(application, known, share, value);
    if (known->unit == WEFT_METRIC_NS) {
        what = "a duration such as 300us, 20ms or 1.5s, or a percentile such as p95";
        is_ok = weft_parse_duration(text->text.bytes, &whole, NULL) == WEFT_OK;
    } else if (known->unit == WEFT_METRIC_BYTES) {
        what = "a size such as 4096, 64k or 2MB, or a percentile such as p95";
        is_ok = weft_parse_bytes(text->text.bytes, &whole, NULL) == WEFT_OK;
    } else {
        is_ok = read_number(text->text.bytes, value);
    }
    if (!is_ok)
        return weft_filter_expected(application->filter, text->at, what, application->err);
    if (known->unit == WEFT_METRIC_NS || known->unit == WEFT_METRIC_BYTES)
        *value = (double)whole;
    return WEFT_OK;
}

static bool holds(enum weft_test_op op, double value, const double *bounds)
{
    switch (op) {
    case WEFT_OP_LT:
        return value < bounds[0];
    case WEFT_OP_LE:
        return value <= bounds[0];
    case WEFT_OP_GT:
        return value > bounds[0];
    case WEFT_OP_GE:
        return value >= bounds[0];
    case WEFT_OP_EQ:
        return value == bounds[0];
    case WEFT_OP_NE:
        return value != bounds[0];
    case WEFT_OP_IN:
        return value >= bounds[0] && value <= bounds[1];
    }
    return false;
}

static enum weft_code apply_numeric(const struct application *application,
                                    const struct weft_test *test, bool *chosen)
{
    struct known *known;
    double bounds[2] = { 0 };
    enum weft_code code = find_known(application, test, &known);
    WEFT_THEN(code, read_value(application, known, &test->values[0], &bounds[0]));
    if (code == WEFT_OK && test->op == WEFT_OP_IN)
        code = read_value(application, known, &test->values[1], &bounds[1]);
    if (code == WEFT_OK && test->op == WEFT_OP_IN && bounds[1] < bounds[0])
        code = weft_filter_expected(application->filter, test->values[1].at,
                                    "an end of the range that is not below its begin",
                                    application->err);
    for (size_t item = 0; code == WEFT_OK && item < application->scope->matrix->n_items; item++)
        chosen[item] = holds(test->op, value_of(known, item), bounds);
    return code;
}

/* ---- words ----------------------------------------------------------------------------------- */

/* '*' stands for any text; `text` may hold any bytes but is compared up to a NUL. */
static bool fits(const char *pattern, struct weft_str text)
{
    char buffer[4096];
    if (!strchr(pattern, '*'))
        return weft_str_equal(text, weft_str_of(pattern));
    if (text.n_bytes >= sizeof buffer)
        return false;
    if (text.n_bytes > 0)
        memcpy(buffer, text.bytes, text.n_bytes);
    buffer[text.n_bytes] = '\0';
    return fnmatch(pattern, buffer, 0) == 0;
}

/* A trace fits by its path, or by its last part. */
static bool fits_path(const char *pattern, struct weft_str path)
{
    struct weft_str last = path;
    for (size_t i = path.n_bytes; i > 0; i--)
        if (path.bytes[i - 1] == '/') {
            last.bytes = path.bytes + i;
            last.n_bytes = path.n_bytes - i;
            break;
        }
    return fits(pattern, path) || fits(pattern, last);
}

static bool fits_item(const struct weft_ecct_matrix *matrix, const struct weft_test *test,
                      size_t item)
{
    const struct weft_execution_item *row = &matrix->items[item];
    const struct weft_execution_source *source = &matrix->sources[row->source];
    const char *pattern = test->values[0].text.bytes;
    if (test->kind == WEFT_TEST_TAG)
        return fits(pattern, source->tag);
    if (test->kind == WEFT_TEST_HOST)
        return fits(pattern, source->host);
    if (test->kind == WEFT_TEST_TRACE)
        return fits_path(pattern, source->path);
    return fits(pattern, row->thread);
}

static const struct {
    const char *name;
    uint32_t flag;
} flags[] = { { "cut_start", WEFT_EXECUTION_CUT_START },
              { "lossy", WEFT_EXECUTION_LOSSY },
              { "nested", WEFT_EXECUTION_NESTED },
              { "unfinished", WEFT_EXECUTION_UNFINISHED } };

static enum weft_code apply_flag(const struct application *application,
                                 const struct weft_test *test, bool *chosen)
{
    const struct weft_ecct_matrix *matrix = application->scope->matrix;
    uint32_t flag = 0;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (weft_str_equal(test->values[0].text, weft_str_of(flags[i].name)))
            flag = flags[i].flag;
    if (flag == 0)
        return weft_filter_expected(application->filter, test->values[0].at,
                                    "cut_start, lossy, nested or unfinished", application->err);
    for (size_t item = 0; item < matrix->n_items; item++)
        chosen[item] = ((matrix->items[item].flags & flag) != 0) == (test->op == WEFT_OP_EQ);
    return WEFT_OK;
}

static void apply_wordy(const struct application *application, const struct weft_test *test,
                        bool *chosen)
{
    const struct weft_ecct_matrix *matrix = application->scope->matrix;
    for (size_t item = 0; item < matrix->n_items; item++)
        chosen[item] = fits_item(matrix, test, item) == (test->op == WEFT_OP_EQ);
}

/* ---- all tests ------------------------------------------------------------------------------- */

static enum weft_code apply(const struct application *application, uint32_t place, bool *chosen);

static enum weft_code apply_both(const struct application *application,
                                 const struct weft_test *test, bool *chosen)
{
    const size_t n_items = application->scope->matrix->n_items;
    bool *other = calloc(n_items + 1, sizeof *other);
    if (!other)
        return weft_no_memory(application->err, "a filter");
    enum weft_code code = apply(application, test->left, chosen);
    WEFT_THEN(code, apply(application, test->right, other));
    for (size_t item = 0; item < n_items; item++)
        chosen[item] =
            test->kind == WEFT_TEST_AND ? chosen[item] && other[item] : chosen[item] || other[item];
    free(other);
    return code;
}

/* Recursion is bounded by the tests of a filter. */
static enum weft_code apply(const struct application *application, uint32_t place, bool *chosen)
{
    const struct weft_test *test = &application->filter->tests[place];
    const size_t n_items = application->scope->matrix->n_items;
    enum weft_code code = WEFT_OK;
    switch (test->kind) {
    case WEFT_TEST_ALL:
        memset(chosen, true, n_items);
        break;
    case WEFT_TEST_AND:
    case WEFT_TEST_OR:
        return apply_both(application, test, chosen);
    case WEFT_TEST_NOT:
        code = apply(application, test->left, chosen);
        for (size_t item = 0; item < n_items; item++)
            chosen[item] = !chosen[item];
        break;
    case WEFT_TEST_METRIC:
    case WEFT_TEST_CONTEXT:
        return apply_numeric(application, test, chosen);
    case WEFT_TEST_FLAG:
        return apply_flag(application, test, chosen);
    case WEFT_TEST_TAG:
    case WEFT_TEST_TRACE:
    case WEFT_TEST_HOST:
    case WEFT_TEST_THREAD:
        apply_wordy(application, test, chosen);
        break;
    }
    return code;
}

enum weft_code weft_filter_apply(const struct weft_filter *filter, struct weft_filter_scope *scope,
                                 uint8_t bit, uint8_t *members, struct weft_err *err)
{
    const size_t n_items = scope->matrix->n_items;
    bool *chosen = calloc(n_items + 1, sizeof *chosen);
    const struct application application = { .filter = filter, .scope = scope, .err = err };
    enum weft_code code =
        chosen ? apply(&application, filter->top, chosen) : weft_no_memory(err, "a filter");
    for (size_t item = 0; code == WEFT_OK && item < n_items; item++)
        members[item] = (uint8_t)(chosen[item] ? members[item] | bit : members[item] & ~bit);
    free(chosen);
    return code;
}
