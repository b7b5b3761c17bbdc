/* SPDX-License-Identifier: MIT
 *
 * How long the calls of a cluster last: beside those of all its function, and as a histogram.
 */
#include "render/human.h"
#include "render/text/shapes.h"

#include <string.h>

/* ---- of the cluster and its function --------------------------------------------------------- */

/* All calls of a function that have a shape, without quantiles. O(clusters). */
static struct weft_shape_times function_times(const struct weft_shapes_table *table,
                                              uint32_t function_id)
{
    struct weft_shape_times all = { 0 };
    for (size_t c = 0; c < table->n_clusters; c++) {
        const struct weft_shape_times *times = &table->clusters[c].times;
        if (table->clusters[c].function_id != function_id || times->count == 0)
            continue;
        all.min_ns = all.count && all.min_ns < times->min_ns ? all.min_ns : times->min_ns;
        all.max_ns = all.max_ns > times->max_ns ? all.max_ns : times->max_ns;
        all.count += times->count;
        all.sum_ns += times->sum_ns;
        all.sum_squares += times->sum_squares;
    }
    return all;
}

/* Of a cluster and of its function, of which no percentiles are known. */
struct times_row {
    const char *of;
    bool has_percentiles;
    struct weft_shape_times times;
};

#define ROW struct times_row

static const struct weft_field times_fields[] = {
    WEFT_FIELD("of", "", TEXT, of, "whose calls"),
    WEFT_SHAPE_TIMES(times, .given = WEFT_MEMBER(ROW, has_percentiles)),
};

static const struct weft_table_type times_type =
    WEFT_TABLE_TYPE("shape_times", "durations of a cluster and of its function", times_fields, ROW);

static void print_times(const struct weft_shapes_page *page,
                        const struct weft_shape_cluster *cluster)
{
    const struct times_row times[] = { { "this cluster", true, cluster->times },
                                       { "its function", false,
                                         function_times(page->table, cluster->function_id) } };
    const struct weft_table table = weft_shapes_rows(page, &times_type, times, 2);
    weft_table_text(&table, &page->view->style, page->view->out);
}

/* ---- the histogram --------------------------------------------------------------------------- */

enum { BAR_COLUMNS = 32, MAX_OCTAVES = 65 };

/* Calls by power of two, of which the fullest has `most`. */
struct octaves {
    uint64_t count[MAX_OCTAVES]; /* [0]: 0 ns; [i]: from 2^(i-1) to before 2^i */
    struct octave_row {
        bool is_gap; /* and more empty ones follow */
        uint64_t from_ns, count;
    } shown[MAX_OCTAVES]; /* ascending; of many empty ones in a row the first */
    size_t n_shown;
    uint64_t all, most;
};

static uint32_t octave_of(uint64_t ns)
{
    return ns ? 64 - (uint32_t)__builtin_clzll(ns) : 0;
}

static void count_octaves(struct octaves *octaves, const struct weft_shape_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->n_bins; i++) {
        const uint32_t octave = octave_of(cluster->bins[i].from_ns);
        octaves->all += cluster->bins[i].count;
        octaves->count[octave] += cluster->bins[i].count;
        if (octaves->count[octave] > octaves->most)
            octaves->most = octaves->count[octave];
    }
}

static void show_octave(struct octaves *octaves, uint32_t octave, bool is_gap)
{
    octaves->shown[octaves->n_shown++] =
        (struct octave_row){ is_gap, octave ? UINT64_C(1) << (octave - 1) : 0,
                             octaves->count[octave] };
}

/* From the first to the last that holds calls. */
static void choose_octaves(struct octaves *octaves)
{
    enum { MANY = 4 };
    uint32_t end = 0;
    for (uint32_t octave = 0; octave < MAX_OCTAVES; octave++) {
        if (octaves->count[octave] == 0)
            continue;
        const bool is_gap = end > 0 && octave - end >= MANY;
        for (uint32_t empty = end; end > 0 && empty < (is_gap ? end + 1 : octave); empty++)
            show_octave(octaves, empty, is_gap);
        show_octave(octaves, octave, false);
        end = octave + 1;
    }
}

/* In eighths of a column, at least one for a call. */
static struct weft_str bar_of(struct weft_arena *arena, uint64_t count, uint64_t most)
{
    static const char *const parts[] = { "",
                                         "\xe2\x96\x8f",
                                         "\xe2\x96\x8e",
                                         "\xe2\x96\x8d",
                                         "\xe2\x96\x8c",
                                         "\xe2\x96\x8b",
                                         "\xe2\x96\x8a",
                                         "\xe2\x96\x89" };
    enum { BLOCK_BYTES = 3 };
    char bytes[BAR_COLUMNS * BLOCK_BYTES + 1] = "";
    size_t n = (size_t)((double)count / (double)most * BAR_COLUMNS * 8);
    size_t n_bytes = 0;
    if (count == 0)
        return WEFT_STR("");
    n = n == 0 ? 1 : n;
    for (; n >= 8; n -= 8, n_bytes += BLOCK_BYTES)
        memcpy(bytes + n_bytes, "\xe2\x96\x88", BLOCK_BYTES);
    memcpy(bytes + n_bytes, parts[n], strlen(parts[n]) + 1);
    return weft_arena_copy(arena, weft_str_of(bytes));
}

#undef ROW
#define ROW struct octave_row

static WEFT_GET(get_share)
{
    const struct octaves *octaves = context->of;
    cell->real = weft_share_of(((const ROW *)row)->count, octaves->all);
}

static WEFT_GET(get_bar)
{
    const struct octaves *octaves = context->of;
    const ROW *octave = row;
    cell->text =
        octave->is_gap ? WEFT_STR("...") : bar_of(context->arena, octave->count, octaves->most);
}

static const struct weft_field octave_fields[] = {
    WEFT_FIELD("from_ns", "from", NS, from_ns, "from this duration up to twice it"),
    WEFT_FIELD("count", "calls", COUNT, count, "calls"),
    WEFT_GETTER("share", "share", SHARE, get_share, "share of the calls",
                .given = WEFT_MEMBER(ROW, count)),
    WEFT_GETTER("bar", "", TEXT, get_bar, "calls as a bar"),
};

static const struct weft_table_type octaves_type =
    WEFT_TABLE_TYPE("shape_octaves", "calls of a cluster by duration", octave_fields, ROW);

static void print_histogram(const struct weft_shapes_page *page,
                            const struct weft_shape_cluster *cluster)
{
    struct octaves octaves = { 0 };
    count_octaves(&octaves, cluster);
    choose_octaves(&octaves);
    struct weft_table table = weft_shapes_rows(page, &octaves_type, octaves.shown, octaves.n_shown);
    table.in.of = &octaves;
    if (cluster->n_bins)
        weft_table_text(&table, &page->view->style, page->view->out);
}

/* ---- both ------------------------------------------------------------------------------------ */

void weft_shapes_print_times(const struct weft_shapes_page *page,
                             const struct weft_shape_cluster *cluster)
{
    print_times(page, cluster);
    weft_output_text(page->view->out, "\n");
    print_histogram(page, cluster);
    weft_output_text(page->view->out, "\n");
}

void weft_shapes_times_json(const struct weft_shapes_page *page,
                            const struct weft_shape_cluster *cluster, struct weft_json *json)
{
    const struct weft_shape_times *times = &cluster->times;
    const struct weft_shape_times all = function_times(page->table, cluster->function_id);
    weft_json_u64(json, "mean_ns", weft_shapes_mean(times->sum_ns, times->count));
    weft_json_u64(json, "stddev_ns", weft_shapes_deviation(times));
    weft_json_u64(json, "min_ns", times->min_ns);
    weft_json_u64(json, "p50_ns", times->p50_ns);
    weft_json_u64(json, "p90_ns", times->p90_ns);
    weft_json_u64(json, "p99_ns", times->p99_ns);
    weft_json_u64(json, "p999_ns", times->p999_ns);
    weft_json_u64(json, "max_ns", times->max_ns);
    weft_json_u64(json, "function_count", all.count);
    weft_json_u64(json, "function_total_ns", all.sum_ns);
    weft_json_u64(json, "function_mean_ns", weft_shapes_mean(all.sum_ns, all.count));
    weft_json_u64(json, "function_stddev_ns", weft_shapes_deviation(&all));
    weft_json_begin_array(json, "bins");
    for (uint32_t i = 0; i < cluster->n_bins; i++) {
        weft_json_begin_object(json, NULL);
        weft_json_u64(json, "from_ns", cluster->bins[i].from_ns);
        weft_json_u64(json, "to_ns", cluster->bins[i].to_ns);
        weft_json_u64(json, "count", cluster->bins[i].count);
        weft_json_end_object(json);
    }
    weft_json_end_array(json);
}
