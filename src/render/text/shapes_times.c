/* SPDX-License-Identifier: MIT
 *
 * How long the calls of a cluster last: beside those of all its function, and as a histogram.
 */
#include "render/human.h"
#include "render/text/shapes.h"

#include <string.h>

/* ---- of the cluster and its function --------------------------------------------------------- */

struct weft_shape_times weft_shapes_function_times(const struct weft_shapes_table *table,
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

static const struct weft_column times_columns[] = { { "of", "", WEFT_CELL_TEXT },
                                                    WEFT_SHAPES_TIMES_COLUMNS };

/* Of a cluster and of its function. */
static void times_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct weft_shape_times *times = context;
    enum { P50 = 5, P999 = 7 };
    cells[0].text = row == 0 ? WEFT_STR("this cluster") : WEFT_STR("its function");
    weft_shapes_times_cells(&times[row], cells + 1);
    for (size_t i = 1 + P50; row == 1 && i <= 1 + P999; i++)
        cells[i].is_null = true;
}

static void print_times(const struct weft_shapes_page *page,
                        const struct weft_shape_cluster *cluster)
{
    const struct weft_shape_times times[] = {
        cluster->times, weft_shapes_function_times(page->table, cluster->function_id)
    };
    const struct weft_table table = { .columns = times_columns,
                                      .n_columns = sizeof times_columns / sizeof *times_columns,
                                      .n_rows = 2,
                                      .row = times_row,
                                      .context = times };
    weft_table_text(&table, &page->view->style, page->view->out);
}

/* ---- the histogram --------------------------------------------------------------------------- */

enum { BAR_COLUMNS = 32, MAX_OCTAVES = 65 };

/* Calls by power of two, of which the fullest has `most`. */
struct octaves {
    const struct weft_shapes_page *page;
    uint64_t count[MAX_OCTAVES]; /* [0]: 0 ns; [i]: from 2^(i-1) to before 2^i */
    uint32_t shown[MAX_OCTAVES]; /* ascending; of many empty ones in a row the first */
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
            octaves->shown[octaves->n_shown++] = empty;
        octaves->shown[octaves->n_shown++] = octave;
        end = octave + 1;
    }
}

/* In eighths of a column, at least one for a call. */
static struct weft_str bar_of(const struct octaves *octaves, uint64_t count)
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
    size_t n = (size_t)((double)count / (double)octaves->most * BAR_COLUMNS * 8);
    size_t n_bytes = 0;
    if (count == 0)
        return WEFT_STR("");
    n = n == 0 ? 1 : n;
    for (; n >= 8; n -= 8, n_bytes += BLOCK_BYTES)
        memcpy(bytes + n_bytes, "\xe2\x96\x88", BLOCK_BYTES);
    memcpy(bytes + n_bytes, parts[n], strlen(parts[n]) + 1);
    return weft_arena_copy(octaves->page->arena, weft_str_of(bytes));
}

static const struct weft_column octave_columns[] = {
    { "from_ns", "from", WEFT_CELL_NS },
    { "count", "calls", WEFT_CELL_COUNT },
    { "share", "share", WEFT_CELL_SHARE },
    { "bar", "", WEFT_CELL_TEXT },
};

static void octave_row(const void *context, size_t row, struct weft_cell *cells)
{
    const struct octaves *octaves = context;
    const uint32_t octave = octaves->shown[row];
    const uint64_t count = octaves->count[octave];
    const bool is_gap = row + 1 < octaves->n_shown && octaves->shown[row + 1] > octave + 1;
    cells[0].number = octave ? UINT64_C(1) << (octave - 1) : 0;
    cells[1].number = count;
    cells[2] =
        (struct weft_cell){ .real = (double)count / (double)octaves->all, .is_null = count == 0 };
    cells[3].text = is_gap ? WEFT_STR("...") : bar_of(octaves, count);
}

static void print_histogram(const struct weft_shapes_page *page,
                            const struct weft_shape_cluster *cluster)
{
    struct octaves octaves = { .page = page };
    count_octaves(&octaves, cluster);
    choose_octaves(&octaves);
    const struct weft_table table = { .columns = octave_columns,
                                      .n_columns = sizeof octave_columns / sizeof *octave_columns,
                                      .n_rows = octaves.n_shown,
                                      .row = octave_row,
                                      .context = &octaves };
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
    const struct weft_shape_times all =
        weft_shapes_function_times(page->table, cluster->function_id);
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
