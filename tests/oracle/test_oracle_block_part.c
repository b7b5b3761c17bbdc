/* SPDX-License-Identifier: MIT
 *
 * Parts of blocks against whole ones: any rows of a block must be those that weft_store_load hands
 * out, and the calls open around them those that a look at each row says. Random traces with times
 * of every length, stacks that exceed what a byte can say of exits, and more functions than a byte
 * can number.
 */
#include "random_calls.h"
#include "store/block_part.h"
#include "store/writer.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* After OFTEN questions all times of a block are kept. */
enum { TRACES = 600, RANGES = 6, OFTEN = 32, SPURT = 400 };

/* What took part, in all traces. */
static struct seen {
    uint64_t rows, below, inside, left, wide, spurts, found, often;
} seen;

/* Now and then a stack of hundreds of calls grows and falls at once. */
static void add_spurts(uint64_t *state, struct weft_call_event *events, size_t n_events)
{
    for (size_t at = 0; n_events > 3 * SPURT && at < n_events - 3 * SPURT;) {
        at += tap_random(state) % n_events;
        if (at >= n_events - 2 * SPURT)
            return;
        for (size_t i = 0; i < 2 * SPURT; i++) {
            struct weft_call_event *event = &events[at + i];
            const size_t depth = i < SPURT ? i : 2 * SPURT - 1 - i;
            if (event->kind == WEFT_CALL_ARG)
                continue;
            event->kind = i < SPURT ? WEFT_CALL_ENTER : WEFT_CALL_EXIT;
            event->function_key = 7 * (uint32_t)(depth % 5);
        }
        at += 2 * SPURT;
        seen.spurts++;
    }
}

static const char *write_trace(const struct weft_call_event *events, size_t n_events,
                               uint32_t block_rows)
{
    static char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/part.%d.weft", root ? root : ".", (int)getpid());
    const struct weft_writer_opts opts = { .block_rows = block_rows };
    struct weft_writer *writer = NULL;
    if (weft_writer_open(path, &opts, &writer, NULL))
        return NULL;
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("test") };
    const struct weft_thread_info info = { .tid = 7 };
    uint32_t thread = 0;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < n_events; i++)
        if (events[i].kind != WEFT_CALL_ARG && events[i].time_ns > last_ns)
            last_ns = events[i].time_ns;
    if (sink->ops->begin(sink, &begin, NULL) || sink->ops->thread(sink, &info, &thread, NULL) ||
        sink->ops->calls(sink, thread, events, n_events, NULL) ||
        sink->ops->thread_end(sink, thread, last_ns + 5, NULL)) {
        weft_writer_abort(writer);
        return NULL;
    }
    return weft_writer_commit(writer, NULL, NULL) ? NULL : path;
}

/* The call of the whole block that is open at `depth` when row `row` - 1 has been entered. */
static struct weft_open_call open_of(const struct weft_calls *whole, size_t row, size_t depth)
{
    while (row > 0 && whole->depth[row - 1] != depth)
        row--;
    if (row == 0)
        return whole->open[depth];
    return (struct weft_open_call){ .start_ns = whole->start_ns[row - 1],
                                    .end_ns = whole->end_ns[row - 1],
                                    .row = whole->first_row + row - 1,
                                    .function_id = whole->function_id[row - 1],
                                    .depth = (uint32_t)depth };
}

/* Deeper calls hide those of equal depth before them, so that a look from the innermost out finds
 * each. */
static bool open_equal(const struct weft_calls *whole, size_t first, const struct weft_calls *calls)
{
    const size_t n_open = first ? (size_t)whole->depth[first - 1] + 1 : whole->n_open;
    if (calls->n_open != n_open)
        return false;
    size_t row = first;
    for (size_t depth = n_open; depth-- > 0;) {
        const struct weft_open_call want = open_of(whole, row, depth), *got = &calls->open[depth];
        if (got->start_ns != want.start_ns || got->end_ns != want.end_ns || got->row != want.row ||
            got->function_id != want.function_id || got->depth != depth)
            return false;
        const bool is_inside = want.row != UINT64_MAX && want.row >= whole->first_row;
        row = is_inside ? (size_t)(want.row - whole->first_row) : 0;
        *(is_inside ? &seen.inside : &seen.below) += 1;
    }
    return true;
}

static bool rows_equal(const struct weft_calls *whole, size_t first, const struct weft_calls *calls)
{
    if (calls->first_row != whole->first_row + first)
        return false;
    for (size_t i = 0; i < calls->n_rows; i++)
        if (calls->start_ns[i] != whole->start_ns[first + i] ||
            calls->end_ns[i] != whole->end_ns[first + i] ||
            calls->function_id[i] != whole->function_id[first + i] ||
            calls->depth[i] != whole->depth[first + i])
            return false;
    seen.rows += calls->n_rows;
    return open_equal(whole, first, calls);
}

static size_t naive_find(const struct weft_calls *whole, uint64_t time_ns)
{
    size_t row = 0;
    while (row < whole->n_rows && whole->start_ns[row] < time_ns)
        row++;
    return row;
}

static bool range_fits(uint64_t *state, struct weft_block_part *part,
                       const struct weft_calls *whole)
{
    const size_t a = tap_random(state) % (whole->n_rows + 1);
    const size_t b = tap_random(state) % (whole->n_rows + 1);
    const size_t first = a < b ? a : b, end = a < b ? b : a;
    const uint64_t time_ns =
        (first < whole->n_rows ? whole->start_ns[first] : 0) + tap_random(state) % 3;
    struct weft_calls calls;
    seen.found++;
    return weft_block_part_find(part, time_ns) == naive_find(whole, time_ns) &&
           weft_block_part_rows(part, first, end, &calls, NULL) == WEFT_OK &&
           calls.n_rows == end - first && rows_equal(whole, first, &calls);
}

static bool blocks_fit(uint64_t *state, struct weft_store *store)
{
    struct weft_block_part *part = weft_block_part_new();
    struct weft_block_buf *buf = weft_block_buf_new();
    bool is_ok = part && buf;
    const uint64_t n_blocks = weft_store_thread_get(store, 0)->n_blocks;
    for (uint64_t block = 0; is_ok && block < n_blocks; block++) {
        struct weft_calls whole, calls;
        struct weft_err err = { 0 };
        is_ok = weft_store_load(store, 0, block, buf, &whole, &err) == WEFT_OK &&
                weft_block_part_open(store, 0, block, part, &err) == WEFT_OK &&
                weft_block_part_n_rows(part) == whole.n_rows;
        if (!is_ok)
            tap_note("%s", err.text);
        is_ok = is_ok && weft_block_part_rows(part, 0, whole.n_rows, &calls, NULL) == WEFT_OK &&
                rows_equal(&whole, 0, &calls);
        const bool is_often = tap_random(state) % 8 == 0;
        for (int i = 0; is_ok && i < (is_often ? OFTEN + RANGES : RANGES); i++)
            is_ok = range_fits(state, part, &whole);
        seen.often += is_often;
        size_t n_left = 0;
        (void)weft_store_left_calls(store, 0, block, &n_left);
        seen.left += n_left;
        seen.wide += weft_store_block_get(store, 0, block)->n_functions > 256;
        if (!is_ok)
            tap_note("block %" PRIu64 " of %" PRIu64, block, n_blocks);
    }
    weft_block_buf_free(buf);
    weft_block_part_free(part);
    return is_ok;
}

static bool test_trace(uint64_t *state, unsigned index)
{
    static const uint32_t few_rows[] = { 1, 3, 16, 64, 300 }, many_rows[] = { 500, 2000, 5000 };
    const size_t n_events = 1 + tap_random(state) % (index % 8 ? 300 : 8000);
    struct random_calls random = { .state = tap_random(state),
                                   .n_functions = index % 16 ? 1 + (uint32_t)(n_events % 9) : 2000,
                                   .enter_percent = 40 + (unsigned)(tap_random(state) % 13),
                                   .odd_percent = (unsigned)(tap_random(state) % 3) * 4 };
    struct weft_call_event *events = calloc(n_events, sizeof *events);
    uint32_t *stack = calloc(n_events, sizeof *stack);
    random_calls_fill(&random, events, n_events, stack);
    if (index % 8 == 0)
        add_spurts(state, events, n_events);
    const char *path =
        write_trace(events, n_events, index % 8 ? few_rows[index % 5] : many_rows[index % 3]);
    struct weft_store *store = NULL;
    bool is_ok = path && weft_store_open(path, &store, NULL) == WEFT_OK;
    is_ok = is_ok && blocks_fit(state, store);
    weft_store_close(store);
    if (path)
        (void)unlink(path);
    free(events);
    free(stack);
    return is_ok;
}

int main(void)
{
    uint64_t state = tap_seed(47);
    unsigned n_bad = 0;
    for (unsigned i = 0; i < TRACES && !n_bad; i++)
        n_bad += !test_trace(&state, i);
    tap_ok(n_bad == 0, "%d random traces, %" PRIu64 " ranges", TRACES, seen.found);
    tap_ok(seen.rows > 0, "%" PRIu64 " rows", seen.rows);
    tap_ok(seen.below > 0, "%" PRIu64 " open calls of earlier blocks", seen.below);
    tap_ok(seen.inside > 0, "%" PRIu64 " open calls of the block", seen.inside);
    tap_ok(seen.often > 0, "%" PRIu64 " blocks that were asked often", seen.often);
    tap_ok(seen.left > 0, "%" PRIu64 " calls left open", seen.left);
    tap_ok(seen.wide > 0, "%" PRIu64 " blocks of many functions", seen.wide);
    tap_ok(seen.spurts > 0, "%" PRIu64 " deep stacks", seen.spurts);
    return tap_done();
}
