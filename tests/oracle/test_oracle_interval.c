/* SPDX-License-Identifier: MIT
 *
 * Intervals against a naive twin: random traces are written and read back, and every interval is
 * answered a second time by looking at each call. Blocks of many sizes, so that answers come from
 * calls, from contexts of blocks and from groups of blocks of two levels.
 */
#include "model/calls/innermost.h"
#include "model/interval/interval.h"
#include "random_calls.h"
#include "store/context_tree.h"
#include "store/writer.h"
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SMALL_TRACES = 1500, INTERVALS = 12 };

/* A call as the store gives it back, with its caller. */
struct call {
    uint64_t start_ns, end_ns;
    uint32_t function_id;
    int64_t parent;
};

struct calls {
    struct call *items;
    size_t n;
};

/* ---- the naive answer ------------------------------------------------------------------------ */

struct naive_context {
    int64_t parent; /* index, or -1 */
    uint32_t function_id;
    uint64_t count, sum_ns, self_ns;
};

struct naive {
    struct naive_context *items;
    size_t n;
};

static uint64_t clipped_ns(const struct call *call, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t begin_ns = call->start_ns > from_ns ? call->start_ns : from_ns;
    uint64_t end_ns = call->end_ns < to_ns ? call->end_ns : to_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

static bool counts(const struct call *call, uint64_t from_ns, uint64_t to_ns)
{
    if (call->start_ns == call->end_ns)
        return call->start_ns >= from_ns && call->start_ns < to_ns;
    return call->start_ns < to_ns && call->end_ns > from_ns;
}

static int64_t context_of(struct naive *naive, const struct calls *calls, int64_t call)
{
    if (call < 0)
        return -1;
    int64_t parent = context_of(naive, calls, calls->items[call].parent);
    uint32_t function_id = calls->items[call].function_id;
    for (size_t i = 0; i < naive->n; i++)
        if (naive->items[i].parent == parent && naive->items[i].function_id == function_id)
            return (int64_t)i;
    naive->items[naive->n] = (struct naive_context){ .parent = parent, .function_id = function_id };
    return (int64_t)naive->n++;
}

static struct naive naive_interval(const struct calls *calls, uint64_t from_ns, uint64_t to_ns)
{
    struct naive naive = { malloc((calls->n + 1) * sizeof *naive.items), 0 };
    for (size_t i = 0; i < calls->n; i++) {
        const struct call *call = &calls->items[i];
        if (!counts(call, from_ns, to_ns))
            continue;
        struct naive_context *context = &naive.items[context_of(&naive, calls, (int64_t)i)];
        uint64_t inside_ns = clipped_ns(call, from_ns, to_ns);
        context->count++;
        context->sum_ns += inside_ns;
        context->self_ns += inside_ns;
        if (context->parent >= 0)
            naive.items[context->parent].self_ns -= inside_ns;
    }
    return naive;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static int64_t find_naive(const struct naive *naive, const struct weft_interval *got, uint32_t at)
{
    if (at == WEFT_ID_NONE)
        return -1;
    int64_t parent = find_naive(naive, got, got->contexts[at].parent);
    for (size_t i = 0; i < naive->n; i++)
        if (naive->items[i].parent == parent &&
            naive->items[i].function_id == got->contexts[at].function_id)
            return (int64_t)i;
    return -2;
}

static bool is_equal(const struct weft_interval *got, const struct naive *want)
{
    bool is_ok = got->n_contexts == want->n;
    uint64_t calls = 0;
    for (uint32_t i = 0; is_ok && i < got->n_contexts; i++) {
        const struct weft_interval_context *context = &got->contexts[i];
        int64_t at = find_naive(want, got, i);
        is_ok = at >= 0 && want->items[at].count == context->count &&
                want->items[at].sum_ns == context->sum_ns &&
                want->items[at].self_ns == context->self_ns;
        calls += context->count;
    }
    return is_ok && calls == got->calls;
}

/* Of an answer that leaves contexts out: those that are there are exact, and what is folded is what
 * they lack. */
static bool is_part(const struct weft_interval *got, const struct naive *want)
{
    struct naive_context *sums = calloc(got->n_contexts + 1, sizeof *sums); /* of callees */
    uint64_t calls = 0, folded_calls = 0, folded_ns = 0, top_ns = 0, want_calls = 0, want_ns = 0;
    bool is_ok = true;
    for (uint32_t i = 0; is_ok && i < got->n_contexts; i++) {
        const struct weft_interval_context *context = &got->contexts[i];
        int64_t at = find_naive(want, got, i);
        is_ok = at >= 0 && want->items[at].count == context->count &&
                want->items[at].sum_ns == context->sum_ns &&
                want->items[at].self_ns == context->self_ns;
        *(context->parent == WEFT_ID_NONE ? &top_ns : &sums[context->parent].sum_ns) +=
            context->sum_ns;
        calls += context->count;
        folded_calls += context->folded_calls;
        folded_ns += context->folded_ns;
    }
    for (uint32_t i = 0; is_ok && i < got->n_contexts; i++)
        is_ok = got->contexts[i].sum_ns ==
                got->contexts[i].self_ns + got->contexts[i].folded_ns + sums[i].sum_ns;
    for (size_t i = 0; i < want->n; i++) {
        want_calls += want->items[i].count;
        want_ns += want->items[i].parent < 0 ? want->items[i].sum_ns : 0;
    }
    free(sums);
    /* What the thread's root leaves over is in the totals alone. */
    return is_ok && got->calls == want_calls && calls + got->folded_calls == want_calls &&
           folded_calls <= got->folded_calls && folded_ns <= got->folded_ns &&
           top_ns + got->folded_ns - folded_ns == want_ns;
}

static uint64_t called_ns(const struct naive *naive)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < naive->n; i++)
        if (naive->items[i].parent < 0)
            sum_ns += naive->items[i].sum_ns;
    return sum_ns;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static struct calls read_calls(const struct weft_trace *trace, uint32_t thread_id)
{
    struct weft_store *store = weft_trace_store(trace);
    const struct weft_model_thread *thread = weft_trace_thread(trace, thread_id);
    struct calls calls = { calloc(thread->calls + thread->cut_calls + 1, sizeof *calls.items), 0 };
    int64_t *at_depth = calloc(thread->max_depth + thread->cut_calls + 2, sizeof *at_depth);
    struct weft_block_buf *buf = weft_block_buf_new();
    size_t n_cut = 0;
    const struct weft_open_call *cut = weft_store_cut_calls(store, thread_id, &n_cut);
    for (size_t i = 0; i < n_cut; i++) {
        calls.items[calls.n] =
            (struct call){ cut[i].start_ns, cut[i].end_ns, cut[i].function_id, (int64_t)i - 1 };
        at_depth[i] = (int64_t)calls.n++;
    }
    for (uint64_t block = 0; block < thread->n_blocks; block++) {
        struct weft_calls rows;
        if (weft_store_load(store, thread_id, block, buf, &rows, NULL))
            break;
        for (size_t i = 0; i < rows.n_rows; i++) {
            int64_t parent = rows.depth[i] ? at_depth[rows.depth[i] - 1] : -1;
            calls.items[calls.n] =
                (struct call){ rows.start_ns[i], rows.end_ns[i], rows.function_id[i], parent };
            at_depth[rows.depth[i]] = (int64_t)calls.n++;
        }
    }
    weft_block_buf_free(buf);
    free(at_depth);
    return calls;
}

static const char *write_trace(const struct weft_call_event *events, size_t n_events,
                               uint32_t block_rows)
{
    static char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/interval.%d.weft", root ? root : ".", (int)getpid());
    struct weft_writer *writer = NULL;
    const struct weft_writer_opts opts = { .block_rows = block_rows };
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

/* A time of an event, or beside one. */
static uint64_t random_time(uint64_t *state, const struct calls *calls)
{
    const struct call *call = &calls->items[tap_random(state) % calls->n];
    uint64_t time_ns = tap_random(state) % 2 ? call->start_ns : call->end_ns;
    uint64_t shift_ns = tap_random(state) % 3;
    return tap_random(state) % 16 == 0 ? 0 : (time_ns + shift_ns > 1 ? time_ns + shift_ns - 1 : 0);
}

/* How often answers used what, in all traces. */
static struct weft_interval_parts used;

static uint64_t n_folded, n_whole;

/* At most `limit` contexts, by a reader that has answered before and by one that has not. */
static bool compare_limited(struct weft_interval_reader *reader, const struct weft_trace *trace,
                            const struct naive *want, uint64_t from_ns, uint64_t to_ns,
                            size_t limit)
{
    struct weft_interval_reader *other = weft_interval_reader_new(trace);
    struct weft_interval got, again;
    weft_interval_reader_limit(reader, limit);
    weft_interval_reader_limit(other, limit);
    bool is_ok = other && !weft_interval_cct(other, 0, from_ns, to_ns, &again, NULL) &&
                 !weft_interval_cct(reader, 0, from_ns, to_ns, &got, NULL) &&
                 got.n_contexts <= limit && is_part(&got, want) &&
                 again.n_contexts == got.n_contexts && again.folded_calls == got.folded_calls &&
                 again.folded_ns == got.folded_ns && is_part(&again, want);
    if (is_ok && got.n_contexts == want->n)
        n_whole++;
    else
        n_folded++;
    weft_interval_reader_limit(reader, 0);
    weft_interval_reader_free(other);
    return is_ok;
}

static uint64_t n_innermost;

static int64_t find_top(const struct naive *naive, const struct weft_innermost_block *block,
                        uint32_t at)
{
    if (at == WEFT_ID_NONE)
        return -1;
    const int64_t parent = find_top(naive, block, block->contexts[at].parent);
    for (size_t i = 0; i < naive->n; i++)
        if (naive->items[i].parent == parent &&
            naive->items[i].function_id == block->contexts[at].function_id)
            return (int64_t)i;
    return -2;
}

/* What is on top in an interval, asked for until it is written down, if it lies in a block. */
static bool compare_innermost(struct weft_innermost *innermost, const struct naive *want,
                              uint64_t from_ns, uint64_t to_ns)
{
    struct weft_innermost_block *block = NULL;
    size_t place = 0;
    if (from_ns == to_ns)
        return true;
    for (unsigned i = 0; i < 20 && !block; i++)
        if (weft_innermost_find(innermost, 0, from_ns, to_ns, &block, &place, NULL))
            return false;
    if (!block)
        return true;
    n_innermost++;
    uint64_t *sums = calloc(want->n + 1, sizeof *sums);
    bool is_ok = place < block->n && block->items[place].start_ns <= from_ns;
    for (; is_ok && block->items[place].start_ns < to_ns; place++) {
        const struct weft_innermost_call *top = &block->items[place];
        const struct call part = { top->start_ns, top[1].start_ns, 0, -1 };
        const uint64_t ns = clipped_ns(&part, from_ns, to_ns);
        const int64_t at = find_top(want, block, top->context);
        is_ok = top[1].start_ns > top->start_ns && place + 1 < block->n && at >= -1;
        if (is_ok && at >= 0)
            sums[at] += ns;
    }
    for (size_t i = 0; is_ok && i < want->n; i++)
        is_ok = sums[i] == want->items[i].self_ns;
    free(sums);
    if (!is_ok)
        tap_note("[%" PRIu64 ", %" PRIu64 "): other innermost", from_ns, to_ns);
    return is_ok;
}

static bool compare(struct weft_interval_reader *reader, struct weft_innermost *innermost,
                    const struct weft_trace *trace, const struct calls *calls, uint64_t from_ns,
                    uint64_t to_ns)
{
    const struct weft_model_thread *thread = weft_trace_thread(trace, 0);
    struct weft_interval got;
    struct weft_err err = { 0 };
    if (weft_interval_cct(reader, 0, from_ns, to_ns, &got, &err)) {
        tap_note("error: %s", err.text);
        return false;
    }
    used.calls += got.parts.calls;
    used.blocks += got.parts.blocks;
    used.groups += got.parts.groups;
    used.subtracted += got.parts.subtracted;
    used.prefixes += got.parts.prefixes;
    used.remainders += got.parts.remainders;
    struct naive want = naive_interval(calls, from_ns, to_ns);
    uint64_t first_ns = thread->cut_calls ? 0 : thread->first_ns;
    const struct call life = { first_ns, thread->last_ns, 0, -1 };
    uint64_t alive_ns = clipped_ns(&life, from_ns, to_ns);
    bool is_ok = is_equal(&got, &want) && got.outside_ns == to_ns - from_ns - alive_ns &&
                 got.no_call_ns == alive_ns - called_ns(&want);
    if (!is_ok)
        tap_note("[%" PRIu64 ", %" PRIu64 "): %zu contexts, %" PRIu64 " calls; wanted %zu", from_ns,
                 to_ns, got.n_contexts, got.calls, want.n);
    is_ok = is_ok && compare_limited(reader, trace, &want, from_ns, to_ns, 2 + want.n * 2 / 3) &&
            compare_limited(reader, trace, &want, from_ns, to_ns, 2 + want.n * 3) &&
            compare_innermost(innermost, &want, from_ns, to_ns);
    free(want.items);
    return is_ok;
}

/* Few contexts, so that the file keeps those of blocks and groups; a few calls are open at the
 * begin, and their exits come at any time. */
static void fill_shallow(uint64_t *state, struct weft_call_event *events, size_t n_events)
{
    uint32_t stack[4];
    size_t depth = 0, n_cut = tap_random(state) % 4, n_functions = 1 + tap_random(state) % 3;
    uint64_t time_ns = 1000;
    for (size_t i = 0; i < n_events; i++) {
        time_ns += random_delta_ns(state) % 100000;
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

/* How many contexts the traces so far had, by level: blocks, groups, groups of groups. */
static uint64_t n_known[3];

static void count_known(const struct weft_trace *trace)
{
    struct weft_block_buf *buf = weft_block_buf_new();
    struct weft_context_tree tree = { 0 };
    struct weft_context_entries entries = { 0 };
    uint64_t n_blocks = weft_trace_thread(trace, 0)->n_blocks;
    for (unsigned level = 0; level < 3; level++)
        for (uint64_t block = 0; block < n_blocks; block += UINT64_C(1) << (4 * level)) {
            bool is_known = false;
            if (weft_context_tree_reset(&tree) &&
                weft_store_contexts(weft_trace_store(trace), 0, block, level, buf, &tree, &entries,
                                    &is_known, NULL) == WEFT_OK)
                n_known[level] += is_known;
        }
    weft_context_tree_fini(&tree);
    free(entries.items);
    weft_block_buf_free(buf);
}

/* One random trace, several intervals. */
static bool test_trace(uint64_t *state, size_t n_events, uint32_t block_rows, bool is_shallow)
{
    struct random_calls random = { .state = tap_random(state),
                                   .n_functions = 1 + (uint32_t)(n_events % 9),
                                   .enter_percent = 40 + (unsigned)(tap_random(state) % 20),
                                   .odd_percent = (unsigned)(tap_random(state) % 3) * 4 };
    struct weft_call_event *events = calloc(n_events, sizeof *events);
    uint32_t *stack = calloc(n_events, sizeof *stack);
    if (is_shallow)
        fill_shallow(state, events, n_events);
    else
        random_calls_fill(&random, events, n_events, stack);
    const char *path = write_trace(events, n_events, block_rows);
    free(events);
    free(stack);
    struct weft_trace *trace = NULL;
    if (!path || weft_trace_open(path, &trace, NULL))
        return false;
    struct calls calls = read_calls(trace, 0);
    count_known(trace);
    struct weft_interval_reader *reader = weft_interval_reader_new(trace);
    static const size_t kept_bytes[] = { 0, 4000, 1 << 20 };
    weft_interval_reader_keep(reader, kept_bytes[n_events % 3]);
    struct weft_innermost *innermost = weft_innermost_new(trace, 0);
    bool is_ok = true;
    for (unsigned i = 0; is_ok && calls.n > 0 && i < INTERVALS; i++) {
        uint64_t from_ns = random_time(state, &calls), to_ns = random_time(state, &calls);
        if (i == 0) {
            from_ns = 0;
            to_ns = UINT64_MAX >> 1;
        }
        if (i % 3 == 2)
            to_ns = from_ns + tap_random(state) % 4;
        is_ok = compare(reader, innermost, trace, &calls, from_ns < to_ns ? from_ns : to_ns,
                        from_ns < to_ns ? to_ns : from_ns);
    }
    free(calls.items);
    weft_interval_reader_free(reader);
    weft_innermost_free(innermost);
    weft_trace_close(trace);
    (void)unlink(path);
    return is_ok;
}

int main(void)
{
    uint64_t state = tap_seed(41);
    static const uint32_t rows[] = { 1, 2, 5, 16, 64 };
    unsigned n_bad = 0;
    for (unsigned i = 0; i < SMALL_TRACES && !n_bad; i++)
        n_bad += !test_trace(&state, 1 + tap_random(&state) % 300, rows[i % 5], false);
    tap_ok(n_bad == 0, "%d random traces of small blocks", SMALL_TRACES);
    for (unsigned i = 0; i < 60 && !n_bad; i++)
        n_bad += !test_trace(&state, 1000 + tap_random(&state) % 30000, i % 2 ? 128 : 512, true);
    tap_ok(n_bad == 0, "shallow traces with groups of blocks");
    for (unsigned i = 0; i < 4 && !n_bad; i++)
        n_bad += !test_trace(&state, 150000 + tap_random(&state) % 100000, 128, true);
    tap_ok(n_bad == 0, "shallow traces with groups of groups");
    for (unsigned level = 0; level < 3; level++)
        tap_ok(n_known[level] > 0, "%" PRIu64 " contexts of level %u took part", n_known[level],
               level);
    tap_ok(n_folded > 0 && n_whole > 0,
           "%" PRIu64 " answers leave contexts out, %" PRIu64 " do not", n_folded, n_whole);
    tap_ok(n_innermost > 1000, "%" PRIu64 " intervals in a block were sums of what is on top",
           n_innermost);
    tap_ok(used.calls > 0, "%" PRIu64 " calls were looked at", used.calls);
    tap_ok(used.blocks > 0, "%" PRIu64 " blocks were added", used.blocks);
    tap_ok(used.groups > 0, "%" PRIu64 " groups were added", used.groups);
    tap_ok(used.subtracted > 0, "%" PRIu64 " units were subtracted", used.subtracted);
    tap_ok(used.prefixes > 0, "%" PRIu64 " sums of all blocks before one", used.prefixes);
    tap_ok(used.remainders > 0, "%" PRIu64 " blocks less a part", used.remainders);
    return tap_done();
}
