/* SPDX-License-Identifier: MIT
 *
 * Levels of detail against a naive twin: random traces are written and read back, and every answer
 * is compared with what a look at each call says. Blocks and cells of many sizes, so that answers
 * come from calls, cells, groups of cells, blocks and groups of blocks.
 */
#include "model/calls/lod.h"
#include "random_calls.h"
#include "store/writer.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL_TRACES = 1500, SHALLOW_TRACES = 60, DEEP_TRACES = 4, WINDOWS = 12 };

struct call {
    uint64_t start_ns, end_ns;
    uint32_t depth, function_id;
};

struct calls {
    struct call *items; /* by depth, then start */
    size_t n;
};

struct window {
    uint64_t from_ns, to_ns, pixel_ns;
    uint32_t width;
};

/* How often answers used what, in all traces. */
static struct weft_lod_parts used;
static uint64_t n_unknown;

/* ---- traces ---------------------------------------------------------------------------------- */

static int by_depth(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static struct calls read_calls(const struct weft_trace *trace)
{
    struct weft_store *store = weft_trace_store(trace);
    const struct weft_model_thread *thread = weft_trace_thread(trace, 0);
    struct calls calls = { calloc(thread->calls + thread->cut_calls + 1, sizeof *calls.items), 0 };
    struct weft_block_buf *buf = weft_block_buf_new();
    size_t n_cut = 0;
    const struct weft_open_call *cut = weft_store_cut_calls(store, 0, &n_cut);
    for (size_t i = 0; i < n_cut; i++)
        calls.items[calls.n++] =
            (struct call){ cut[i].start_ns, cut[i].end_ns, (uint32_t)i, cut[i].function_id };
    for (uint64_t block = 0; block < thread->n_blocks; block++) {
        struct weft_calls rows;
        if (weft_store_load(store, 0, block, buf, &rows, NULL))
            break;
        for (size_t i = 0; i < rows.n_rows; i++)
            calls.items[calls.n++] = (struct call){ rows.start_ns[i], rows.end_ns[i], rows.depth[i],
                                                    rows.function_id[i] };
    }
    weft_block_buf_free(buf);
    qsort(calls.items, calls.n, sizeof *calls.items, by_depth);
    return calls;
}

static const char *write_trace(const struct weft_call_event *events, size_t n_events,
                               const struct weft_writer_opts *opts)
{
    static char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/lod.%d.weft", root ? root : ".", (int)getpid());
    struct weft_writer *writer = NULL;
    if (weft_writer_open(path, opts, &writer, NULL))
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

/* ---- the naive answer ------------------------------------------------------------------------ */

static bool is_long(const struct window *window, const struct call *call)
{
    return call->end_ns - call->start_ns > window->pixel_ns;
}

/* Column of a time: the last that begins at or before it. */
static uint32_t column_of(const struct window *window, uint64_t time_ns)
{
    uint32_t column = 0;
    uint64_t span_ns = window->to_ns - window->from_ns;
    for (uint32_t c = 1; c < window->width; c++) {
        /* c * span / width without overflow */
        uint64_t begin_ns = window->from_ns + span_ns / window->width * c +
                            span_ns % window->width * c / window->width;
        if (begin_ns <= time_ns)
            column = c;
    }
    return column;
}

/* Calls longer than a pixel: the same in both, in the same order. */
static bool long_calls_equal(const struct window *window, const struct calls *calls,
                             const struct weft_lod *lod)
{
    size_t at = 0;
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->items[i];
        if (!is_long(window, call) || call->start_ns >= window->to_ns ||
            call->end_ns <= window->from_ns)
            continue;
        while (at < lod->n_items && lod->items[at].is_cluster)
            at++;
        const struct weft_lod_item *item = &lod->items[at];
        if (at == lod->n_items || item->start_ns != call->start_ns ||
            item->end_ns != call->end_ns || item->depth != call->depth ||
            item->function_id != call->function_id || item->count != 1 ||
            item->longest_ns != call->end_ns - call->start_ns ||
            item->longest_function_id != call->function_id ||
            item->column != column_of(window, call->start_ns)) {
            tap_note("long call [%" PRIu64 ", %" PRIu64 ") of depth %u", call->start_ns,
                     call->end_ns, call->depth);
            return false;
        }
        at++;
    }
    for (; at < lod->n_items; at++)
        if (!lod->items[at].is_cluster)
            return false;
    return true;
}

/* What the short calls of a depth say about a cluster: those that begin inside belong to it, those
 * that begin with it or with its end may. */
struct bounds {
    uint64_t count, covered_ns, longest_ns;
};

static bool is_between(const struct bounds *least, const struct weft_lod_item *item,
                       const struct bounds *most)
{
    return least->count <= item->count && item->count <= most->count &&
           least->covered_ns <= item->covered_ns && item->covered_ns <= most->covered_ns &&
           least->longest_ns <= item->longest_ns && item->longest_ns <= most->longest_ns;
}

static void bounds_add(struct bounds *bounds, const struct call *call)
{
    uint64_t duration_ns = call->end_ns - call->start_ns;
    bounds->count++;
    bounds->covered_ns += duration_ns;
    bounds->longest_ns = duration_ns > bounds->longest_ns ? duration_ns : bounds->longest_ns;
}

/* Function with most time among the calls of a depth that begin in [start_ns, end_ns]. */
static uint32_t dominant(const struct window *window, const struct calls *calls,
                         const struct weft_lod_item *item)
{
    uint64_t sums[256] = { 0 };
    bool has[256] = { false };
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->items[i];
        if (call->depth == item->depth && !is_long(window, call) &&
            call->start_ns >= item->start_ns && call->start_ns <= item->end_ns) {
            sums[call->function_id] += call->end_ns - call->start_ns;
            has[call->function_id] = true;
        }
    }
    uint32_t best = 0;
    while (!has[best])
        best++;
    for (uint32_t id = best; id < 256; id++)
        if (has[id] && sums[id] > sums[best])
            best = id;
    return best;
}

static bool cluster_fits(const struct window *window, const struct calls *calls,
                         const struct weft_lod *lod, const struct weft_lod_item *item)
{
    struct bounds least = { 0 }, most = { 0 };
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->items[i];
        if (call->depth != item->depth || is_long(window, call) ||
            call->start_ns < item->start_ns || call->start_ns > item->end_ns)
            continue;
        bounds_add(&most, call);
        if (call->start_ns > item->start_ns && call->start_ns < item->end_ns)
            bounds_add(&least, call);
    }
    bool is_ok = is_between(&least, item, &most) && item->longest_ns <= window->pixel_ns &&
                 item->column <= column_of(window, item->start_ns);
    const struct weft_lod_parts *parts = &lod->parts;
    if (is_ok && parts->cells + parts->cell_groups + parts->blocks + parts->block_groups == 0 &&
        item->count == most.count)
        is_ok = item->function_id == dominant(window, calls, item);
    if (!is_ok)
        tap_note("cluster [%" PRIu64 ", %" PRIu64 "] of depth %u: %" PRIu64 " calls, %" PRIu64
                 " ns, column %u; wanted %" PRIu64 " to %" PRIu64 " calls",
                 item->start_ns, item->end_ns, item->depth, item->count, item->covered_ns,
                 item->column, least.count, most.count);
    return is_ok;
}

/* Clusters of a depth follow each other, in columns of their own, and hold what they say; no short
 * call that begins in the window is in none of them. */
static bool clusters_fit(const struct window *window, const struct calls *calls,
                         const struct weft_lod *lod)
{
    const struct weft_lod_item *before = NULL;
    for (size_t i = 0; i < lod->n_items; i++) {
        const struct weft_lod_item *item = &lod->items[i];
        if (i > 0 && (item->depth < item[-1].depth ||
                      (item->depth == item[-1].depth && item->start_ns < item[-1].start_ns)))
            return false;
        if (!item->is_cluster)
            continue;
        if (before && before->depth == item->depth && before->column >= item->column) {
            tap_note("clusters [%" PRIu64 ", %" PRIu64 "] and [%" PRIu64 ", %" PRIu64 "]",
                     before->start_ns, before->end_ns, item->start_ns, item->end_ns);
            return false;
        }
        before = item;
        if (!cluster_fits(window, calls, lod, item))
            return false;
    }
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->items[i];
        bool is_there = is_long(window, call) || call->start_ns < window->from_ns ||
                        call->start_ns >= window->to_ns;
        for (size_t j = 0; j < lod->n_items && !is_there; j++)
            is_there = lod->items[j].is_cluster && lod->items[j].depth == call->depth &&
                       lod->items[j].start_ns <= call->start_ns &&
                       call->start_ns <= lod->items[j].end_ns;
        if (!is_there) {
            tap_note("short call [%" PRIu64 ", %" PRIu64 ") of depth %u is missing", call->start_ns,
                     call->end_ns, call->depth);
            return false;
        }
    }
    return true;
}

/* Over the whole thread sums are exact, and no depth has more items than it may. */
static bool totals_fit(const struct window *window, const struct calls *calls,
                       const struct weft_lod *lod)
{
    uint64_t n_items = 0, count = 0, covered_ns = 0, want_count = 0, want_ns = 0;
    for (size_t i = 0; i < lod->n_items; i++) {
        n_items = i && lod->items[i - 1].depth == lod->items[i].depth ? n_items + 1 : 1;
        if (n_items > 2 * (uint64_t)window->width + 2)
            return false;
        count += lod->items[i].count;
        covered_ns += lod->items[i].covered_ns;
    }
    for (size_t i = 0; i < calls->n; i++) {
        want_count++;
        want_ns += calls->items[i].end_ns - calls->items[i].start_ns;
        /* Cut frames that ended at 0 have no part in any window. */
        if (is_long(window, &calls->items[i]) && calls->items[i].end_ns <= window->from_ns)
            return true;
    }
    bool is_whole = window->from_ns == 0 && window->to_ns > UINT64_MAX / 4;
    if (is_whole && (count > want_count || covered_ns > want_ns || covered_ns + 1 < want_ns))
        tap_note("%" PRIu64 " calls of %" PRIu64 ", %" PRIu64 " ns of %" PRIu64, count, want_count,
                 covered_ns, want_ns);
    return !is_whole || (count == want_count && covered_ns == want_ns);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool compare(struct weft_lod_reader *reader, const struct calls *calls,
                    const struct window *window)
{
    struct weft_lod lod;
    struct weft_err err = { 0 };
    if (weft_lod(reader, 0, window->from_ns, window->to_ns, window->width, &lod, &err)) {
        tap_note("error: %s", err.text);
        return false;
    }
    used.calls += lod.parts.calls;
    used.cells += lod.parts.cells;
    used.cell_groups += lod.parts.cell_groups;
    used.blocks += lod.parts.blocks;
    used.block_groups += lod.parts.block_groups;
    n_unknown += lod.n_unknown;
    bool is_ok = lod.pixel_ns == window->pixel_ns && long_calls_equal(window, calls, &lod) &&
                 clusters_fit(window, calls, &lod) && totals_fit(window, calls, &lod);
    if (!is_ok)
        tap_note("[%" PRIu64 ", %" PRIu64 ") on %u pixels: %zu items", window->from_ns,
                 window->to_ns, window->width, lod.n_items);
    return is_ok;
}

/* A time of a call, or beside one. */
static uint64_t random_time(uint64_t *state, const struct calls *calls)
{
    const struct call *call = &calls->items[tap_random(state) % calls->n];
    uint64_t time_ns = tap_random(state) % 2 ? call->start_ns : call->end_ns;
    uint64_t shift_ns = tap_random(state) % 3;
    return tap_random(state) % 16 == 0 ? 0 : (time_ns + shift_ns > 1 ? time_ns + shift_ns - 1 : 0);
}

static struct window random_window(uint64_t *state, const struct calls *calls, unsigned index)
{
    static const uint32_t widths[] = { 1, 2, 3, 7, 16, 40, 100 };
    uint64_t a = random_time(state, calls), b = random_time(state, calls);
    struct window window = { a < b ? a : b, a < b ? b : a, 0,
                             widths[tap_random(state) % (sizeof widths / sizeof widths[0])] };
    if (index == 0) {
        window.from_ns = 0;
        window.to_ns = UINT64_MAX / 2;
    }
    window.pixel_ns = (window.to_ns - window.from_ns) / window.width;
    return window;
}

/* One random trace, several windows. */
static bool test_trace(uint64_t *state, const struct weft_call_event *events, size_t n_events,
                       const struct weft_writer_opts *opts, unsigned n_windows)
{
    const char *path = write_trace(events, n_events, opts);
    struct weft_trace *trace = NULL;
    if (!path || weft_trace_open(path, &trace, NULL))
        return false;
    struct calls calls = read_calls(trace);
    struct weft_lod_reader *reader = weft_lod_reader_new(trace);
    bool is_ok = true;
    for (unsigned i = 0; is_ok && calls.n > 0 && i < n_windows; i++) {
        struct window window = random_window(state, &calls, i);
        is_ok = compare(reader, &calls, &window);
    }
    free(calls.items);
    weft_lod_reader_free(reader);
    weft_trace_close(trace);
    (void)unlink(path);
    return is_ok;
}

static bool test_small(uint64_t *state, unsigned index)
{
    static const uint32_t rows[] = { 1, 2, 5, 16, 64 };
    size_t n_events = 1 + tap_random(state) % 300;
    struct random_calls random = { .state = tap_random(state),
                                   .n_functions = 1 + (uint32_t)(n_events % 9),
                                   .enter_percent = 40 + (unsigned)(tap_random(state) % 20),
                                   .odd_percent = (unsigned)(tap_random(state) % 3) * 4 };
    struct weft_call_event *events = calloc(n_events, sizeof *events);
    uint32_t *stack = calloc(n_events, sizeof *stack);
    random_calls_fill(&random, events, n_events, stack);
    const struct weft_writer_opts opts = { .block_rows = rows[index % 5],
                                           .cell_rows = 1 + (uint32_t)(tap_random(state) % 20) };
    bool is_ok = test_trace(state, events, n_events, &opts, WINDOWS);
    free(events);
    free(stack);
    return is_ok;
}

/* Few functions and depths, and long times, so that the file keeps all levels; a few calls are open
 * at the begin, and their exits come at any time. Now and then nothing happens for long. */
static void fill_shallow(uint64_t *state, struct weft_call_event *events, size_t n_events)
{
    uint32_t stack[4];
    size_t depth = 0, n_cut = tap_random(state) % 4, n_functions = 1 + tap_random(state) % 3;
    uint64_t time_ns = 1000;
    for (size_t i = 0; i < n_events; i++) {
        time_ns += random_delta_ns(state) % 100000 + tap_random(state) % 300 * 1000;
        if (tap_random(state) % 200 == 0)
            time_ns += 1000000 * (1 + tap_random(state) % 30);
        struct weft_call_event *event = &events[i];
        *event = (struct weft_call_event){ .time_ns = time_ns, .kind = WEFT_CALL_EXIT };
        if (depth == 0 && n_cut > 0 && tap_random(state) % (n_events / 4) == 0) {
            event->function_key = 7 * (uint32_t)--n_cut;
        } else if (depth == 0 || (depth < 4 && tap_random(state) % 2)) {
            event->kind = WEFT_CALL_ENTER;
            event->function_key = 7 * (uint32_t)(tap_random(state) % n_functions);
            stack[depth++] = event->function_key;
        } else {
            event->function_key = stack[--depth];
        }
    }
}

static bool test_shallow(uint64_t *state, size_t n_events, uint32_t block_rows, uint32_t cell_rows,
                         unsigned n_windows)
{
    struct weft_call_event *events = calloc(n_events, sizeof *events);
    fill_shallow(state, events, n_events);
    const struct weft_writer_opts opts = { .block_rows = block_rows, .cell_rows = cell_rows };
    bool is_ok = test_trace(state, events, n_events, &opts, n_windows);
    free(events);
    return is_ok;
}

int main(void)
{
    uint64_t state = tap_seed(43);
    unsigned n_bad = 0;
    for (unsigned i = 0; i < SMALL_TRACES && !n_bad; i++)
        n_bad += !test_small(&state, i);
    tap_ok(n_bad == 0, "%d random traces of small blocks", SMALL_TRACES);
    for (unsigned i = 0; i < SHALLOW_TRACES && !n_bad; i++)
        n_bad += !test_shallow(&state, 1000 + tap_random(&state) % 8000, i % 2 ? 512 : 2048,
                               i % 3 ? 64 : 128, WINDOWS);
    tap_ok(n_bad == 0, "%d shallow traces with cells", SHALLOW_TRACES);
    for (unsigned i = 0; i < DEEP_TRACES && !n_bad; i++)
        n_bad += !test_shallow(&state, 40000 + tap_random(&state) % 20000, 512, 64, 6);
    tap_ok(n_bad == 0, "%d shallow traces with groups of blocks", DEEP_TRACES);
    tap_note("%" PRIu64 " blocks without", n_unknown);
    tap_ok(used.calls > 0, "%" PRIu64 " calls took part", used.calls);
    tap_ok(used.cells > 0, "%" PRIu64 " cells took part", used.cells);
    tap_ok(used.cell_groups > 0, "%" PRIu64 " groups of cells took part", used.cell_groups);
    tap_ok(used.blocks > 0, "%" PRIu64 " blocks took part", used.blocks);
    tap_ok(used.block_groups > 0, "%" PRIu64 " groups of blocks took part", used.block_groups);
    return tap_done();
}
