/* SPDX-License-Identifier: MIT
 *
 * The views of Shapes on a table made by hand: four functions, seven shapes, on two threads.
 */
#include "analysis/shapes/metric.h"
#include "analysis/shapes/rare.h"
#include "analysis/shapes/shapes.h"
#include "analysis/shapes/verify.h"
#include "model/trace.h"
#include "render/text/render.h"
#include "small_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAIN, READ, LOCK, COMPRESS }; /* functions of the small trace, by dense id */
enum { N_SHAPES = 7, N_CLUSTERS = 5 };

#define AT(thread, shape, start, end)                                                              \
    {                                                                                              \
        .thread_id = (thread), .shape_id = (shape), .start_ns = (start), .end_ns = (end)           \
    }

/* Of n durations whose standard deviation is 100 ns. */
#define SQUARES(n, sum) ((weft_u128)(sum) * (sum) / (n) + (n)*10000)

/* lock; compress; read > lock; read > lock, compress; main > read; main > both reads; and a main
 * that calls itself. */
static const uint32_t children[] = { 0, 0, 1, 2, 2, 3, 2, 4 };
static const struct weft_shape_repeat repeats[] = { { 10, 1, 1 }, { 12, 3, 3 }, { 4, 1, 1 },
                                                    { 24, 1, 7 }, { 6, 3, 3 },  { 2, 1, 1 },
                                                    { 5, 5, 5 },  { 1, 1, 1 } };
static struct weft_shape shapes[N_SHAPES] = {
    { .function_id = LOCK,
      .depth = 1,
      .cluster_id = 0,
      .count = 30,
      .sum_ns = 3000,
      .sum_squares = SQUARES(30, 3000),
      .min_ns = 50,
      .max_ns = 900,
      .n_threads = 2,
      .first = AT(0, 0, 10, 110),
      .slowest = AT(1, 0, 400, 1300) },
    { .function_id = COMPRESS,
      .depth = 1,
      .cluster_id = 1,
      .count = 4,
      .sum_ns = 400,
      .sum_squares = SQUARES(4, 400),
      .min_ns = 100,
      .max_ns = 100,
      .n_threads = 1,
      .first = AT(0, 1, 20, 120),
      .slowest = AT(0, 1, 20, 120) },
    { .function_id = READ,
      .depth = 2,
      .cluster_id = 2,
      .n_children = 1,
      .children = children,
      .repeats = repeats,
      .count = 10,
      .sum_ns = 20000,
      .sum_squares = SQUARES(10, 20000),
      .min_ns = 1000,
      .max_ns = 11000,
      .n_threads = 2,
      .first = AT(0, 2, 5, 1005),
      .slowest = AT(1, 2, 300, 11300) },
    { .function_id = READ,
      .depth = 2,
      .cluster_id = 2,
      .n_children = 2,
      .children = children + 1,
      .repeats = repeats + 1,
      .count = 4,
      .sum_ns = 6000,
      .sum_squares = SQUARES(4, 6000),
      .min_ns = 1500,
      .max_ns = 1500,
      .n_threads = 1,
      .first = AT(0, 3, 50, 1550),
      .slowest = AT(0, 3, 50, 1550) },
    { .function_id = MAIN,
      .depth = 3,
      .cluster_id = 3,
      .n_children = 1,
      .children = children + 3,
      .repeats = repeats + 3,
      .count = 8,
      .sum_ns = 80000,
      .sum_squares = SQUARES(8, 80000),
      .min_ns = 10000,
      .max_ns = 10000,
      .n_threads = 1,
      .first = AT(1, 4, 0, 10000),
      .slowest = AT(1, 4, 0, 10000) },
    { .function_id = MAIN,
      .depth = 3,
      .cluster_id = 3,
      .n_children = 2,
      .children = children + 4,
      .repeats = repeats + 4,
      .count = 2,
      .sum_ns = 30000,
      .sum_squares = SQUARES(2, 30000),
      .min_ns = 15000,
      .max_ns = 15000,
      .n_threads = 1,
      .first = AT(0, 5, 1, 15001),
      .slowest = AT(0, 5, 1, 15001) },
    { .function_id = MAIN,
      .depth = 4,
      .cluster_id = 4,
      .n_children = 2,
      .children = children + 6,
      .repeats = repeats + 6,
      .count = 1,
      .sum_ns = 90000,
      .sum_squares = SQUARES(1, 90000),
      .min_ns = 90000,
      .max_ns = 90000,
      .n_threads = 1,
      .first = AT(0, 6, 100, 90100),
      .slowest = AT(0, 6, 100, 90100) },
};

#define TIMES(n, sum, min, max, p50, p99)                                                          \
    {                                                                                              \
        .count = (n), .sum_ns = (sum), .sum_squares = SQUARES(n, sum), .min_ns = (min),            \
        .max_ns = (max), .p50_ns = (p50), .p90_ns = (p99), .p99_ns = (p99), .p999_ns = (p99)       \
    }

static const uint32_t members[N_SHAPES] = { 0, 1, 2, 3, 4, 5, 6 };
static struct weft_shape_cluster clusters[N_CLUSTERS] = {
    { .function_id = LOCK,
      .depth = 1,
      .n_shapes = 1,
      .shape_ids = members,
      .is_trivial = true,
      .ribbon = WEFT_ID_NONE,
      .n_threads = 2,
      .times = TIMES(30, 3000, 50, 900, 80, 900) },
    { .function_id = COMPRESS,
      .depth = 1,
      .n_shapes = 1,
      .shape_ids = members + 1,
      .is_trivial = true,
      .ribbon = WEFT_ID_NONE,
      .n_threads = 1,
      .times = TIMES(4, 400, 100, 100, 100, 100) },
    { .function_id = READ,
      .depth = 2,
      .n_shapes = 2,
      .shape_ids = members + 2,
      .ribbon = 0,
      .n_threads = 2,
      .times = TIMES(14, 26000, 1000, 11000, 1000, 11000),
      .first = AT(0, 2, 5, 1005),
      .typical = AT(0, 2, 5, 1005),
      .slowest = AT(1, 2, 300, 11300),
      .n_spikes = 1,
      .surprise = 1.5 },
    { .function_id = MAIN,
      .depth = 3,
      .n_shapes = 2,
      .shape_ids = members + 4,
      .ribbon = 1,
      .n_threads = 2,
      .times = TIMES(10, 110000, 10000, 15000, 10000, 15000),
      .first = AT(1, 4, 0, 10000),
      .typical = AT(1, 4, 0, 10000),
      .slowest = AT(0, 5, 1, 15001),
      .n_drops = 1 },
    { .function_id = MAIN,
      .depth = 4,
      .n_shapes = 1,
      .shape_ids = members + 6,
      .ribbon = 2,
      .n_threads = 1,
      .times = TIMES(1, 90000, 90000, 90000, 90000, 90000),
      .first = AT(0, 6, 100, 90100),
      .typical = AT(0, 6, 100, 90100),
      .slowest = AT(0, 6, 100, 90100),
      .surprise = 3.5 },
};

static const struct weft_shape_presence presences[] = {
    { .cluster_id = 2,
      .ribbon = 0,
      .first_ns = 5,
      .times = TIMES(9, 9000, 1000, 1500, 1000, 1500) },
    { .cluster_id = 3,
      .ribbon = 1,
      .first_ns = 1,
      .times = TIMES(2, 30000, 15000, 15000, 15000, 15000) },
    { .cluster_id = 2,
      .ribbon = 0,
      .first_ns = 8,
      .times = TIMES(5, 17000, 1000, 11000, 1000, 11000) },
};
static const struct weft_shape_thread threads[] = {
    { .thread_id = 0,
      .n_shapes = 4,
      .n_new_shapes = 4,
      .n_clusters = 3,
      .n_new_clusters = 3,
      .calls = 40,
      .cut_calls = 2,
      .presences = presences,
      .n_presences = 2 },
    { .thread_id = 1,
      .n_shapes = 2,
      .n_new_shapes = 1,
      .n_clusters = 2,
      .n_new_clusters = 0,
      .calls = 19,
      .presences = presences + 2,
      .n_presences = 1,
      .group = 1 },
};
static struct weft_shape_spike spikes[] = {
    { .at = AT(1, 2, 300, 11300), .cluster_id = 2, .times_median = 11 },
};
static struct weft_shape_drop drops[] = {
    { .cluster_id = 3, .from_ns = 20000, .to_ns = 40000, .count = 1, .expected = 4.5 },
};

static struct weft_shapes_table table = {
    .to_ns = 100000,
    .threshold_halves = 3,
    .shapes = shapes,
    .n_shapes = N_SHAPES,
    .n_trivial_shapes = 2,
    .clusters = clusters,
    .n_clusters = N_CLUSTERS,
    .n_trivial_clusters = 2,
    .n_ribbons = 3,
    .n_threads = 2,
    .spikes = spikes,
    .n_spikes = 1,
    .spikes_found = 1,
    .drops = drops,
    .n_drops = 1,
    .drops_found = 1,
    .calls = 59,
    .cut_calls = 2,
};

static struct weft_shapes_opts settings = {
    .threshold_halves = 3, .spike_factor = 10, .drop_fraction = 0.5, .n_windows = 200
};
static struct weft_trace *trace;

/* What is printed; the caller frees it. */
static char *print(enum weft_format format, const struct weft_shapes_view *how)
{
    struct weft_view view = { .trace = trace, .path = "it's.weft", .format = format };
    struct weft_shapes_view opts = *how;
    opts.settings = &settings;
    if (weft_output_to_memory(&view.out, NULL) != WEFT_OK)
        abort();
    weft_render_shapes(&view, &table, &opts);
    struct weft_str held = weft_output_held(view.out);
    char *text = strndup(held.bytes ? held.bytes : "", held.n_bytes);
    tap_eq_u64(weft_output_close(view.out, NULL), WEFT_OK, "written");
    return text;
}

static void holds(enum weft_format format, const struct weft_shapes_view *how, const char *want,
                  const char *what)
{
    char *text = print(format, how);
    if (!tap_ok(strstr(text, want) != NULL, "%s", what))
        tap_note("no '%s' in:\n%s", want, text);
    free(text);
}

/* The first line, then `want`. */
static void equals(const struct weft_shapes_view *how, const char *want, const char *what)
{
    static const char first[] = "it's.weft   47.7 h \xc2\xb7 3 threads \xc2\xb7 call patterns "
                                "\xc2\xb7 complete\n";
    char *text = print(WEFT_FORMAT_TEXT, how);
    const bool has_first = strncmp(text, first, sizeof first - 1) == 0;
    if (!tap_ok(has_first && strcmp(text + sizeof first - 1, want) == 0, "%s", what))
        tap_note("%s", text);
    free(text);
}

static void summary(void)
{
    struct weft_shapes_view how = { .part = WEFT_SHAPES_SUMMARY };
    holds(WEFT_FORMAT_TEXT, &how, "59 calls: 5 shapes in 3 clusters, 3 ribbons", "totals");
    holds(WEFT_FORMAT_TEXT, &how, "2 shapes of functions that call nothing", "trivial ones apart");
    holds(WEFT_FORMAT_TEXT, &how, "2 calls cut by the range boundaries", "cut calls are said");
    holds(WEFT_FORMAT_TEXT, &how, "1 drops (intervals below", "drops are said");
    holds(WEFT_FORMAT_JSON, &how, "\"shapes\":5,\"clusters\":3,\"ribbons\":3", "stable numbers");
    holds(WEFT_FORMAT_JSON, &how, "\"all_shapes\":5,", "shapes of a thread and those before");
    holds(WEFT_FORMAT_JSON, &how, "\"shape_ids\":[4,5]", "a cluster's shapes");
    holds(WEFT_FORMAT_CSV, &how, "\n3,10,110000,11000,", "the longest cluster");
    how.limit = 1;
    holds(WEFT_FORMAT_TEXT, &how, "2 more clusters: --limit 0", "the limit is said");
    settings.min_count = 5;
    how.limit = 0;
    holds(WEFT_FORMAT_TEXT, &how, "1 cluster of fewer than 5 calls omitted", "rare ones are said");
    settings.min_count = 500;
    holds(WEFT_FORMAT_TEXT, &how, "no cluster has 500 calls", "too rare, all of them");
    settings.min_count = 0;
}

/* The first id of the list in each order. */
static void orders(void)
{
    static const struct {
        enum weft_shapes_sort sort;
        const char *cluster, *shape;
    } rows[] = {
        { WEFT_SHAPES_BY_TIME, "3,", "6," },    { WEFT_SHAPES_BY_COUNT, "2,", "0," },
        { WEFT_SHAPES_BY_MEAN, "4,", "6," },    { WEFT_SHAPES_BY_MAX, "4,", "6," },
        { WEFT_SHAPES_BY_THREADS, "2,", "0," }, { WEFT_SHAPES_BY_FIRST, "3,", "4," },
        { WEFT_SHAPES_BY_ID, "2,", "0," },      { WEFT_SHAPES_BY_DEPTH, "4,", "6," },
        { WEFT_SHAPES_BY_P50, "4,", NULL },     { WEFT_SHAPES_BY_P99, "4,", NULL },
        { WEFT_SHAPES_BY_SHAPES, "2,", NULL },  { WEFT_SHAPES_BY_SURPRISE, "4,", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int list = 0; list < 2; list++) {
            const char *want = list ? rows[i].shape : rows[i].cluster;
            const struct weft_shapes_view how = { .part =
                                                      list ? WEFT_SHAPES_LIST : WEFT_SHAPES_SUMMARY,
                                                  .sort = rows[i].sort };
            char *text = want ? print(WEFT_FORMAT_CSV, &how) : NULL;
            const char *first = text ? strchr(text, '\n') : NULL;
            if (text)
                tap_ok(first && strncmp(first + 1, want, strlen(want)) == 0, "order %d of %s",
                       (int)rows[i].sort, list ? "shapes" : "clusters");
            free(text);
        }
}

static void empty(void)
{
    const struct weft_shapes_table full = table;
    struct weft_shapes_view how = { .part = WEFT_SHAPES_SUMMARY };
    table.n_clusters = table.n_trivial_clusters = 2;
    holds(WEFT_FORMAT_TEXT, &how, "no cluster: none of 59 calls calls anything", "all trivial");
    table.n_clusters = table.n_shapes = table.n_trivial_clusters = table.n_trivial_shapes = 0;
    table.calls = table.cut_calls = 0;
    holds(WEFT_FORMAT_TEXT, &how, "no shape: there are no calls", "no calls");
    table.excluded_calls = 59;
    how.excluded = "e";
    how.n_excluded = 4;
    holds(WEFT_FORMAT_TEXT, &how, "no shape: all functions match 'e'", "all excluded");
    table.excluded_calls = 0;
    table.cut_calls = 3;
    holds(WEFT_FORMAT_TEXT, &how, "no shape: no call starts and ends in the range", "all cut");
    table = full;
}

static void trees(void)
{
    struct weft_shapes_view how = { .part = WEFT_SHAPES_CLUSTER, .id = 3 };
    holds(
        WEFT_FORMAT_TEXT, &how,
        "  first    thread 501 at 0.000000 s for 10.0 \xc2\xb5s\n    weft interval --from 0ns --to "
        "10000ns --tid 501 'it'\\''s.weft'\n",
        "the command that shows an occurrence, safe in a shell");
    holds(WEFT_FORMAT_TEXT, &how,
          "shape 4  8 calls (80.0 %), mean 10.0 \xc2\xb5s, 10.0 \xc2\xb5s to 10.0 \xc2\xb5s, on 1 "
          "thread\n"
          "       4  main\n"
          "       2    read_block(int)  x1-7, mean 3.00\n"
          "       0      lock\n",
          "a tree with repetitions");
    holds(WEFT_FORMAT_TEXT, &how,
          "       5  main\n"
          "       2    read_block(int)  x3\n"
          "       0      lock\n"
          "       3    read_block(int)\n"
          "       0      lock  x3\n"
          "       1      compress\n",
          "the next one");
    how.limit = 2;
    holds(WEFT_FORMAT_TEXT, &how,
          "       4  main\n"
          "       2    read_block(int)  x1-7, mean 3.00  ...\n"
          "          1 more lines; --limit 0 draws all\n\n"
          "1 more shapes; --limit 0 draws all\n",
          "cut, and how much");
    how.limit = 0;
    how.id = 4;
    holds(WEFT_FORMAT_TEXT, &how,
          "       6  main\n"
          "       2    read_block(int)  x5\n"
          "       0      lock\n"
          "       4    main\n"
          "       2      read_block(int)  x1-7, mean 3.00  (drawn once)\n",
          "what stands twice is drawn once");
    holds(WEFT_FORMAT_JSON, &how, "\"nodes_cut\":0", "nothing cut");
    holds(
        WEFT_FORMAT_JSON, &how,
        "{\"shape\":2,\"level\":2,\"function\":\"read_block(int)\",\"min\":1,\"max\":7,\"mean\":3,"
        "\"again\":true,\"cut\":false}",
        "a node");
    how.id = 2;
    holds(WEFT_FORMAT_CSV, &how,
          "\n500,t,9,9000,1000,100,1000,1000,1500,1500,1500,1500,90000,5,0\n",
          "statistics of a thread");
}

static void pairs(void)
{
    static const struct weft_shape_match match[] = {
        { .a = 2, .b = 3, .distance = 1, .is_critical = true },
        { .a = 0, .b = 0, .level = 1 },
        { .a = WEFT_SHAPE_NULL, .b = 1, .level = 1, .distance = 1, .is_critical = true },
    };
    struct weft_shapes_view how = {
        .part = WEFT_SHAPES_DIFF, .id = 2, .other_id = 3, .match = match, .n_match = 3
    };
    equals(&how,
           "distance        shape 2             shape 3\n"
           "0.5       *  2  read_block(int)  3  read_block(int)\n"
           "0            0    lock           0    lock\n"
           "0.5       *  -    -              1    compress\n"
           "\n"
           "distance 0.5; * makes it up; equal callees are shown once\n",
           "side by side");
    holds(WEFT_FORMAT_CSV, &how, "\n1,0.5,1,,,1,compress\n", "as CSV, null is nothing");
    holds(WEFT_FORMAT_JSON, &how, "\"distance\":0.5,\"cut\":false", "as JSON");
}

static void lists(void)
{
    static const struct weft_shape_near near[] = { { .shape = 3, .distance = 1 } };
    struct weft_shapes_view how = {
        .part = WEFT_SHAPES_NEAR, .id = 2, .bound_halves = 3, .near = near, .n_near = 1
    };
    holds(WEFT_FORMAT_TEXT, &how,
          "1 of 7 shapes within 1.5 of shape 2, read_block(int) of cluster 2 (10 calls)\n", "near");
    holds(WEFT_FORMAT_JSON, &how, "\"near\":[\n{\"distance\":0.5,\"id\":3,", "near, as JSON");
    how = (struct weft_shapes_view){ .part = WEFT_SHAPES_SPIKES };
    equals(&how,
           "tid       start     time   median  x median  cluster  shape  function\n"
           "501  0.000000 s  11.0 \xc2\xb5s  1.00 \xc2\xb5s      11.0        2      2  "
           "read_block(int)\n"
           "\n"
           "1 of 1 shown, most unusual first: calls longer than 10.0 times their cluster's median, "
           "and than its p99.9\n",
           "spikes");
    how.part = WEFT_SHAPES_DROPS;
    equals(
        &how,
        "      from          to     time  calls  usual  cluster  function\n"
        "0.000020 s  0.000040 s  20.0 \xc2\xb5s      1   4.50        3  main\n"
        "\n"
        "1 of 1 shown, greatest loss first: stretches at less than 50.0 % of the cluster's usual "
        "rate\n",
        "drops");
    how.part = WEFT_SHAPES_LIST;
    holds(WEFT_FORMAT_JSON, &how,
          "\"children\":[{\"id\":2,\"min\":3,\"max\":3,\"mean\":3},{\"id\":3,\"min\":1,\"max\":1,"
          "\"mean\":1}]",
          "callees");
}

static void rare(void)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_shape_rare *rare = NULL;
    struct weft_shapes_view how = { .part = WEFT_SHAPES_RARE };
    tap_eq_u64(weft_shape_rare_find(&table, 10, arena, &rare, &how.n_rare, NULL), WEFT_OK, "rare");
    how.rare = rare;
    /* main called once so, of 11 times: log2(11) bits x 90 us. */
    tap_ok(how.n_rare == 5 && rare[0].shape_id == 6 && rare[0].is_once && !rare[0].is_slow,
           "the rarest");
    tap_ok(rare[0].surprise > 3.459 && rare[0].surprise < 3.460 && rare[0].time_ns == 90000,
           "its surprise");
    size_t n_slow = 0;
    for (size_t i = 0; i < how.n_rare; i++) {
        n_slow += rare[i].is_slow;
        tap_ok(i == 0 || rare[i - 1].score >= rare[i].score, "rank %zu", i);
        tap_ok(rare[i].shape_id != 1, "of a function on one thread, one thread is no surprise");
    }
    tap_eq_u64(n_slow, 1, "one shape has a slow call");
    holds(WEFT_FORMAT_TEXT, &how, "seen once", "reasons");
    holds(WEFT_FORMAT_CSV, &how, "\n500,100,90000,1,1,0,1,", "as CSV");
    weft_arena_free(arena);
}

int main(void)
{
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/render_shapes.weft", root ? root : ".");
    table.threads = (struct weft_shape_thread *)(uintptr_t)threads;
    if (!tap_ok(small_trace_write(path, NULL) == WEFT_OK &&
                    weft_trace_open(path, &trace, NULL) == WEFT_OK,
                "the small trace opens"))
        return tap_done();
    summary();
    orders();
    empty();
    trees();
    pairs();
    lists();
    rare();
    weft_trace_close(trace);
    (void)remove(path);
    return tap_done();
}
