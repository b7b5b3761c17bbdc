/* SPDX-License-Identifier: MIT */
#include "render/text/path_picture.h"

#include "base/u128.h"
#include "render/human.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 16, NAME_COLUMNS = 16 };

/* Lines 0, 2, 4 ... are threads, those between them hold arrows. */
struct picture {
    const struct weft_path_table *table;
    const struct weft_trace *trace;
    uint32_t width;
    uint32_t thread_ids[ROWS_MAX]; /* in order of their first segments */
    size_t n_rows;
    char *cells;          /* 2 * n_rows lines of `width` */
    uint64_t *longest_ns; /* by row and column: of the segments there */
};

static size_t row_of(const struct picture *picture, uint32_t thread_id)
{
    size_t row = 0;
    while (row < picture->n_rows && picture->thread_ids[row] != thread_id)
        row++;
    return row;
}

static void find_rows(struct picture *picture)
{
    for (size_t i = 0; i < picture->table->n_segments && picture->n_rows < ROWS_MAX; i++) {
        const uint32_t id = picture->table->segments[i].thread_id;
        if (row_of(picture, id) == picture->n_rows)
            picture->thread_ids[picture->n_rows++] = id;
    }
}

static char *cell(const struct picture *picture, size_t line, uint32_t column)
{
    return &picture->cells[line * picture->width + column];
}

static uint32_t column_of(const struct picture *picture, uint64_t at_ns)
{
    const uint64_t length_ns = picture->table->to_ns - picture->table->from_ns;
    const uint64_t into_ns = at_ns - picture->table->from_ns;
    const uint64_t column =
        length_ns ? (uint64_t)((weft_u128)into_ns * picture->width / length_ns) : 0;
    return column < picture->width ? (uint32_t)column : picture->width - 1;
}

/* The first instant of a column. */
static uint64_t time_of(const struct picture *picture, uint32_t column)
{
    const uint64_t length_ns = picture->table->to_ns - picture->table->from_ns;
    return picture->table->from_ns + (uint64_t)((weft_u128)length_ns * column / picture->width);
}

static char letter_of(const struct weft_path_segment *segment)
{
    static const char states[WEFT_PATH_STATES] = {
        [WEFT_PATH_UNKNOWN] = '?', [WEFT_PATH_RUNNING] = '=',     [WEFT_PATH_USER] = '=',
        [WEFT_PATH_KERNEL] = '#',  [WEFT_PATH_INTERRUPTED] = '!', [WEFT_PATH_PREEMPTED] = '-',
    };
    static const char reasons[WEFT_PATH_REASONS] = { '.', 't', 'n', 'd', 'd', '.',
                                                     '.', 'l', '.', '.', '.' };
    return segment->state == WEFT_PATH_BLOCKED ? reasons[segment->reason] : states[segment->state];
}

/* In each column the segment that takes most of it, of equal ones the first. */
static void draw_segment(struct picture *picture, const struct weft_path_segment *segment)
{
    const size_t row = row_of(picture, segment->thread_id);
    if (row == picture->n_rows)
        return;
    const uint32_t last = column_of(picture, segment->end_ns - 1);
    for (uint32_t column = column_of(picture, segment->start_ns); column <= last; column++) {
        const uint64_t begin_ns = time_of(picture, column), end_ns = time_of(picture, column + 1);
        const uint64_t from_ns = segment->start_ns > begin_ns ? segment->start_ns : begin_ns;
        const uint64_t to_ns = segment->end_ns < end_ns ? segment->end_ns : end_ns;
        uint64_t *longest_ns = &picture->longest_ns[row * picture->width + column];
        if (to_ns <= from_ns && *longest_ns)
            continue;
        const uint64_t length_ns = to_ns > from_ns ? to_ns - from_ns : 1;
        if (length_ns > *longest_ns) {
            *longest_ns = length_ns;
            *cell(picture, 2 * row, column) = letter_of(segment);
        }
    }
}

static void draw_arrow(struct picture *picture, const struct weft_path_arrow *arrow)
{
    const size_t from = 2 * row_of(picture, arrow->from_thread_id);
    const size_t to = 2 * row_of(picture, arrow->to_thread_id);
    const uint64_t at_ns =
        arrow->to_ns > picture->table->from_ns ? arrow->to_ns : picture->table->from_ns;
    if (from >= 2 * picture->n_rows || to >= 2 * picture->n_rows || from == to)
        return;
    const uint32_t column = column_of(picture, at_ns);
    const size_t low = from < to ? from : to, high = from < to ? to : from;
    for (size_t line = low + 1; line < high; line++) {
        char *at = cell(picture, line, column);
        if (*at == ' ' || (*at == '|' && line % 2))
            *at = '|';
    }
    char *head = cell(picture, from < to ? to - 1 : to + 1, column);
    if (*head == ' ' || *head == '|')
        *head = from < to ? 'v' : '^';
}

static void print_line(const struct picture *picture, size_t line, struct weft_output *out)
{
    const char *from = cell(picture, line, 0);
    size_t n = picture->width;
    while (n > 0 && from[n - 1] == ' ')
        n--;
    if (line % 2) {
        if (n)
            weft_output_printf(out, "%*s %.*s\n", NAME_COLUMNS + 9, "", (int)n, from);
        return;
    }
    const struct weft_thread_info *info =
        &weft_trace_thread(picture->trace, picture->thread_ids[line / 2])->info;
    const size_t n_name = info->name.n_bytes < NAME_COLUMNS ? info->name.n_bytes : NAME_COLUMNS;
    weft_output_printf(out, "%8" PRIu64 " %-*.*s %.*s\n", info->tid, NAME_COLUMNS, (int)n_name,
                       info->name.bytes, (int)n, from);
}

static void print_more(const struct picture *picture, struct weft_output *out)
{
    if (picture->table->n_threads > picture->n_rows)
        weft_output_printf(out, "and %zu threads that come later\n",
                           picture->table->n_threads - picture->n_rows);
    weft_output_text(out, WEFT_PATH_LEGEND);
}

bool weft_path_picture(const struct weft_path_table *table, const struct weft_trace *trace,
                       uint32_t width, struct weft_output *out)
{
    struct picture picture = { .table = table, .trace = trace, .width = width };
    find_rows(&picture);
    const size_t n_cells = 2 * picture.n_rows * width;
    picture.cells = malloc(n_cells + 1);
    picture.longest_ns = calloc(picture.n_rows * width + 1, sizeof *picture.longest_ns);
    const bool is_ok = picture.cells && picture.longest_ns;
    if (is_ok && n_cells) {
        memset(picture.cells, ' ', n_cells);
        for (size_t i = 0; i < table->n_segments; i++)
            draw_segment(&picture, &table->segments[i]);
        for (size_t i = 0; i < table->n_arrows; i++)
            draw_arrow(&picture, &table->arrows[i]);
        for (size_t line = 0; line + 1 < 2 * picture.n_rows; line++)
            print_line(&picture, line, out);
        print_more(&picture, out);
    }
    free(picture.cells);
    free(picture.longest_ns);
    return is_ok;
}
