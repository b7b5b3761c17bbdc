/* SPDX-License-Identifier: MIT
 *
 * Merges of random traces: every thread of every trace is there, its times moved by what its clock
 * says, its calls those of the same functions by name; on one clock those of a kernel and those of
 * a program are one thread; identities are unique; the bytes do not depend on the number of
 * workers.
 */
#include "import/merge.h"
#include "plain_trace.h"
#include "random_stored.h"

#include <unistd.h>

enum { SEEDS = 200, SEEDS_A_LINE = 50, MOST_TRACES = 4, MOST_CALLS = 150 };

#define S UINT64_C(1000000000)

#define PROGRAM_KINDS                                                                              \
    (1U << WEFT_EVENT_SPAN | 1U << WEFT_EVENT_INSTANT | 1U << WEFT_EVENT_CALL_ARGS |               \
     1U << WEFT_EVENT_LOCK_REQUEST)

static char path_in[MOST_TRACES][512], path_out[2][512];
static char what[400];
static struct weft_run run[2];

static bool fail(const char *text)
{
    (void)snprintf(what, sizeof what, "%s", text);
    return false;
}

/* ---- the slow twin --------------------------------------------------------------------------- */

/* By how much the trace is later than the earliest. */
static uint64_t slow_shift(const struct random_stored *traces, size_t n, size_t k)
{
    bool all_monotonic = true, all_realtime = true;
    for (size_t i = 0; i < n; i++) {
        all_monotonic = all_monotonic && traces[i].clock.has_monotonic;
        all_realtime = all_realtime && traces[i].clock.has_realtime;
    }
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct weft_clock *clock = &traces[i].clock;
        const uint64_t at = all_monotonic ? clock->monotonic_ns : clock->realtime_ns;
        least = at < least ? at : least;
    }
    if (!all_monotonic && !all_realtime)
        return 0;
    return (all_monotonic ? traces[k].clock.monotonic_ns : traces[k].clock.realtime_ns) - least;
}

static const struct weft_store_function *slow_function(const struct weft_store *store, uint32_t key)
{
    for (uint32_t id = 0; id < weft_store_meta_get(store)->n_functions; id++)
        if (weft_store_function_get(store, id)->key == key)
            return weft_store_function_get(store, id);
    abort();
}

static bool functions_same(const struct weft_store *a, uint32_t key_a, const struct weft_store *b,
                           uint32_t key_b)
{
    const struct weft_store_function *x = slow_function(a, key_a), *y = slow_function(b, key_b);
    return x->address == y->address && weft_str_equal(x->name, y->name) &&
           weft_str_equal(x->module, y->module);
}

static bool calls_same(const struct plain_trace *merged, const struct plain_thread *got,
                       const struct plain_trace *trace, const struct plain_thread *want,
                       uint64_t shift_ns)
{
    if (got->n_calls != want->n_calls)
        return fail("number of calls");
    for (size_t i = 0; i < got->n_calls; i++) {
        const struct plain_call *a = &got->calls[i], *b = &want->calls[i];
        if (a->end_ns != b->end_ns + shift_ns || a->depth != b->depth || a->flags != b->flags ||
            a->n_args != b->n_args || a->is_cut != b->is_cut ||
            a->start_ns != (b->is_cut ? 0 : b->start_ns + shift_ns))
            return fail(plain_differ("call", i, a->end_ns, b->end_ns + shift_ns));
        if (!functions_same(merged->store, a->key, trace->store, b->key))
            return fail(plain_differ("function of call", i, a->key, b->key));
    }
    return true;
}

/* ---- which threads are one ------------------------------------------------------------------- */

/* What the traces have of one thread. */
struct slow_part {
    size_t trace;
    uint32_t thread_id;
};

struct slow_thread {
    struct slow_part parts[MOST_TRACES];
    size_t n_parts;
};

struct slow_merge {
    const struct random_stored *traces;
    struct plain_trace plain[MOST_TRACES];
    uint64_t shifts_ns[MOST_TRACES];
    size_t n;
    struct slow_thread threads[MOST_TRACES * STORED_MOST_THREADS];
    uint32_t n_threads;
};

static const struct plain_thread *slow_plain(const struct slow_merge *merge,
                                             const struct slow_part *part)
{
    return &merge->plain[part->trace].threads[part->thread_id];
}

static bool slow_is_kernel(const struct slow_merge *merge, size_t trace)
{
    const struct weft_store_meta *meta = weft_store_meta_get(merge->plain[trace].store);
    for (unsigned kind = 0; kind < WEFT_EVENT_KINDS; kind++)
        if (weft_event_is_kernel((enum weft_event_kind)kind) && meta->events_of_kind[kind])
            return true;
    return false;
}

static void slow_life(const struct slow_merge *merge, const struct slow_part *part,
                      uint64_t *first_ns, uint64_t *last_ns)
{
    const struct weft_store_thread *info = &slow_plain(merge, part)->info;
    *first_ns = (info->cut_calls ? 0 : info->first_ns) + merge->shifts_ns[part->trace];
    *last_ns = info->last_ns + merge->shifts_ns[part->trace];
}

/* For how many ns both were seen; 0: they are not one. */
static uint64_t slow_common(const struct slow_merge *merge, const struct slow_thread *thread,
                            const struct slow_part *part)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0, part_first_ns, part_last_ns;
    const struct weft_store_thread *info = &slow_plain(merge, part)->info;
    slow_life(merge, part, &part_first_ns, &part_last_ns);
    for (size_t i = 0; i < thread->n_parts; i++) {
        const struct slow_part *other = &thread->parts[i];
        const struct weft_store_thread *other_info = &slow_plain(merge, other)->info;
        uint64_t other_first_ns, other_last_ns;
        slow_life(merge, other, &other_first_ns, &other_last_ns);
        first_ns = other_first_ns < first_ns ? other_first_ns : first_ns;
        last_ns = other_last_ns > last_ns ? other_last_ns : last_ns;
        if (other_info->info.tid != info->info.tid || other->trace == part->trace ||
            (slow_is_kernel(merge, other->trace) && slow_is_kernel(merge, part->trace)) ||
            (other_info->calls + other_info->cut_calls && info->calls + info->cut_calls))
            return 0;
    }
    first_ns = part_first_ns > first_ns ? part_first_ns : first_ns;
    last_ns = part_last_ns < last_ns ? part_last_ns : last_ns;
    return last_ns >= first_ns ? last_ns - first_ns + 1 : 0;
}

static void slow_join(struct slow_merge *merge, bool joins)
{
    for (size_t k = 0; k < merge->n; k++)
        for (uint32_t id = 0; id < merge->plain[k].n_threads; id++) {
            const struct slow_part part = { k, id };
            struct slow_thread *into = NULL;
            uint64_t most_ns = 0;
            for (uint32_t i = 0; joins && i < merge->n_threads; i++) {
                const uint64_t ns = slow_common(merge, &merge->threads[i], &part);
                into = ns > most_ns ? &merge->threads[i] : into;
                most_ns = ns > most_ns ? ns : most_ns;
            }
            into = into ? into : &merge->threads[merge->n_threads++];
            into->parts[into->n_parts++] = part;
        }
}

static uint32_t slow_id(const struct slow_merge *merge, size_t trace, uint32_t thread_id)
{
    for (uint32_t i = 0; i < merge->n_threads; i++)
        for (size_t k = 0; k < merge->threads[i].n_parts; k++)
            if (merge->threads[i].parts[k].trace == trace &&
                merge->threads[i].parts[k].thread_id == thread_id)
                return i;
    abort();
}

/* ---- their events ---------------------------------------------------------------------------- */

struct slow_event {
    struct weft_event event; /* as the merged trace should have it */
    uint64_t order_ns;
    size_t place;
};

/* Events change places within their trace if time descends in it a few times only, and arguments of
 * calls keep theirs. */
static bool slow_is_sorted(const struct plain_thread *thread)
{
    size_t n_runs = 1;
    bool has_args = false, had_args = false;
    for (size_t i = 0; i < thread->n_events; i++) {
        if (i > 0 && thread->events[i].time_ns < thread->events[i - 1].time_ns) {
            n_runs++;
            had_args |= has_args;
            has_args = false;
        }
        has_args |= thread->events[i].kind == WEFT_EVENT_CALL_ARGS;
        if (n_runs > 16 || (had_args && has_args))
            return false;
    }
    return true;
}

static size_t slow_add(const struct slow_merge *merge, const struct slow_thread *thread,
                       const struct slow_part *part, struct slow_event *events, size_t n)
{
    const struct plain_thread *plain = slow_plain(merge, part);
    const bool is_sorted = thread->n_parts > 1 && slow_is_sorted(plain);
    uint64_t most_ns = 0;
    for (size_t i = 0; i < plain->n_events; i++, n++) {
        struct weft_event event = plain->events[i];
        event.time_ns += merge->shifts_ns[part->trace];
        most_ns = event.time_ns > most_ns ? event.time_ns : most_ns;
        if (event.next_thread_id != WEFT_ID_NONE)
            event.next_thread_id = slow_id(merge, part->trace, event.next_thread_id);
        events[n] = (struct slow_event){ event, is_sorted ? event.time_ns : most_ns, n };
    }
    return n;
}

static int slow_order(const void *a, const void *b)
{
    const struct slow_event *x = a, *y = b;
    if (x->order_ns != y->order_ns)
        return x->order_ns < y->order_ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool events_same(const struct plain_thread *got, const struct slow_merge *merge,
                        const struct slow_thread *thread)
{
    static struct slow_event want[MOST_TRACES * 4 * STORED_MOST_EVENTS];
    size_t n = 0;
    for (size_t i = 0; i < thread->n_parts; i++)
        n = slow_add(merge, thread, &thread->parts[i], want, n);
    if (n != got->n_events)
        return fail("number of events");
    if (thread->n_parts > 1)
        qsort(want, n, sizeof *want, slow_order);
    for (size_t i = 0; i < n; i++) {
        const struct weft_event *a = &got->events[i], *b = &want[i].event;
        if (a->kind != b->kind || a->time_ns != b->time_ns || a->value != b->value ||
            a->duration_ns != b->duration_ns || a->next_thread_id != b->next_thread_id ||
            !weft_str_equal(a->name, b->name) || !weft_str_equal(a->payload, b->payload))
            return fail(plain_differ("event", i, a->time_ns, b->time_ns));
    }
    return true;
}

static bool identities_unique(const struct plain_trace *merged)
{
    for (uint32_t a = 0; a < merged->n_threads; a++)
        for (uint32_t b = 0; b < a; b++) {
            const struct weft_thread_info *x = &merged->threads[a].info.info;
            const struct weft_thread_info *y = &merged->threads[b].info.info;
            if (x->tid == y->tid && x->pid == y->pid && x->host_id == y->host_id &&
                x->generation == y->generation)
                return fail("two threads of one identity");
        }
    return true;
}

/* Named functions are there once a (module, name, address), unnamed ones once a trace. */
static bool functions_once(const struct plain_trace *merged)
{
    uint32_t n_unnamed = 0, n_functions = weft_store_meta_get(merged->store)->n_functions;
    for (uint32_t a = 0; a < n_functions; a++) {
        const struct weft_store_function *x = weft_store_function_get(merged->store, a);
        n_unnamed += x->module.n_bytes == 0;
        for (uint32_t b = 0; b < a && x->module.n_bytes; b++)
            if (functions_same(merged->store, x->key, merged->store,
                               weft_store_function_get(merged->store, b)->key))
                return fail("two functions of one name");
    }
    return n_functions <= 5 + n_unnamed || fail("functions");
}

/* The part that has calls, or the first. */
static const struct slow_part *slow_caller(const struct slow_merge *merge,
                                           const struct slow_thread *thread)
{
    for (size_t i = 0; i < thread->n_parts; i++)
        if (slow_plain(merge, &thread->parts[i])->n_calls)
            return &thread->parts[i];
    return &thread->parts[0];
}

static bool thread_same(const struct plain_trace *merged, uint32_t id,
                        const struct slow_merge *merge)
{
    const struct slow_thread *thread = &merge->threads[id];
    const struct slow_part *caller = slow_caller(merge, thread);
    const struct plain_thread *got = &merged->threads[id];
    const enum weft_note_kind open = WEFT_NOTE_OPEN_AT_END;
    uint64_t last_ns = 0, n_open = 0;
    for (size_t i = 0; i < thread->n_parts; i++) {
        const struct slow_part *part = &thread->parts[i];
        uint64_t first_ns, part_last_ns;
        slow_life(merge, part, &first_ns, &part_last_ns);
        last_ns = part_last_ns > last_ns ? part_last_ns : last_ns;
        n_open += plain_note(&merge->plain[part->trace], open, part->thread_id, "");
    }
    if (got->info.info.tid != slow_plain(merge, caller)->info.info.tid ||
        got->info.last_ns != last_ns)
        return fail("thread");
    if (plain_note(merged, open, id, "") != n_open)
        return fail("notes of a thread");
    return calls_same(merged, got, &merge->plain[caller->trace], slow_plain(merge, caller),
                      merge->shifts_ns[caller->trace]) &&
           events_same(got, merge, thread);
}

static uint64_t n_joined; /* over all cases */

static bool traces_same(const struct random_stored *traces, size_t n)
{
    struct plain_trace merged = plain_trace_open(path_out[0]);
    struct slow_merge *merge = calloc(1, sizeof *merge);
    bool is_same = identities_unique(&merged) && functions_once(&merged);
    bool joins = true;
    uint64_t n_calls = 0, n_threads = 0;
    if (!merge)
        abort();
    merge->traces = traces;
    merge->n = n;
    for (size_t k = 0; k < n; k++) {
        merge->plain[k] = plain_trace_open(path_in[k]);
        merge->shifts_ns[k] = slow_shift(traces, n, k);
        joins = joins && traces[k].clock.has_monotonic;
        n_calls += weft_store_meta_get(merge->plain[k].store)->calls;
        n_threads += merge->plain[k].n_threads;
        if (is_same &&
            plain_note(&merged, WEFT_NOTE_BAD_RECORD, WEFT_ID_NONE, traces[k].source) != 3)
            is_same = fail("the note of a trace");
    }
    slow_join(merge, joins);
    n_joined += n_threads - merge->n_threads;
    if (is_same && (merge->n_threads != merged.n_threads ||
                    n_calls != weft_store_meta_get(merged.store)->calls))
        is_same = fail("numbers of threads or calls");
    for (uint32_t id = 0; id < merge->n_threads && is_same; id++)
        is_same = thread_same(&merged, id, merge);
    for (size_t k = 0; k < n; k++)
        plain_trace_close(&merge->plain[k]);
    plain_trace_close(&merged);
    free(merge);
    return is_same;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static bool files_same(const char *a, const char *b)
{
    struct weft_mapped file_a, file_b;
    if (weft_mapped_open(a, &file_a, NULL) != WEFT_OK ||
        weft_mapped_open(b, &file_b, NULL) != WEFT_OK)
        abort();
    const bool is_same = file_a.n_bytes == file_b.n_bytes &&
                         memcmp(file_a.bytes, file_b.bytes, (size_t)file_a.n_bytes) == 0;
    weft_mapped_close(&file_a);
    weft_mapped_close(&file_b);
    return is_same || fail("the number of workers shows");
}

static bool case_run(uint64_t seed, const char *bytes)
{
    static const char *const sources[] = { "oracle_merge.0.weft", "oracle_merge.1.weft",
                                           "oracle_merge.2.weft", "oracle_merge.3.weft" };
    uint64_t state = seed * 77;
    const char *paths[MOST_TRACES];
    struct random_stored traces[MOST_TRACES] = { 0 };
    const size_t n = 2 + tap_random(&state) % (MOST_TRACES - 1);
    const uint64_t clocks = tap_random(&state) % 4;
    for (size_t k = 0; k < n; k++) {
        const uint64_t at_ns = tap_random(&state) % (seed % 2 ? 1000 * S : 200000);
        const uint64_t what_it_tells = tap_random(&state) % 3;
        traces[k] = (struct random_stored){
            .seed = seed * 10 + k,
            .bytes = bytes,
            .most_calls = MOST_CALLS,
            .has_events = what_it_tells > 0 || tap_random(&state) % 2,
            .has_no_calls = what_it_tells == 1,
            .kinds = what_it_tells == 1   ? ~(UINT32_C(1) << WEFT_EVENT_CALL_ARGS)
                     : what_it_tells == 2 ? PROGRAM_KINDS
                                          : 0,
            .source = sources[k],
            .clock = { .frequency_hz = S,
                       .has_monotonic = clocks & 1,
                       .monotonic_ns = 5 * S + at_ns,
                       .has_realtime = clocks & 2,
                       .realtime_ns = S * S + at_ns },
        };
        (void)random_stored_write(&traces[k], path_in[k]);
        paths[k] = path_in[k];
    }
    for (int i = 0; i < 2; i++) {
        const struct weft_merge_opts opts = { .inputs = paths,
                                              .n_inputs = n,
                                              .output = path_out[i] };
        struct weft_err err = { 0 };
        if (weft_merge_run(&opts, &run[i], NULL, &err) != WEFT_OK)
            return fail(err.text);
    }
    return files_same(path_out[0], path_out[1]) && traces_same(traces, n);
}

/* ---- alignment by table ---------------------------------------------------------------------- */

struct align_row {
    const char *name;
    struct weft_clock clocks[2];
    enum weft_alignment alignment;
    uint64_t shifts_ns[2];
};

static const struct align_row align_rows[] = {
    { "one boot",
      { { .has_monotonic = true,
          .monotonic_ns = 70 * S,
          .has_realtime = true,
          .realtime_ns = 1070 * S },
        { .has_monotonic = true,
          .monotonic_ns = 50 * S,
          .has_realtime = true,
          .realtime_ns = 1051 * S } },
      WEFT_ALIGNED_MONOTONIC,
      { 20 * S, 0 } },
    { "two boots",
      { { .has_monotonic = true,
          .monotonic_ns = 70 * S,
          .has_realtime = true,
          .realtime_ns = 1070 * S },
        { .has_monotonic = true,
          .monotonic_ns = 50 * S,
          .has_realtime = true,
          .realtime_ns = 9000 * S } },
      WEFT_ALIGNED_REALTIME,
      { 0, 7930 * S } },
    { "one without a monotonic clock",
      { { .has_monotonic = true,
          .monotonic_ns = 70 * S,
          .has_realtime = true,
          .realtime_ns = 1070 * S },
        { .has_realtime = true, .realtime_ns = 1000 * S } },
      WEFT_ALIGNED_REALTIME,
      { 70 * S, 0 } },
    { "no common clock",
      { { .has_monotonic = true, .monotonic_ns = 70 * S },
        { .has_realtime = true, .realtime_ns = 1000 * S } },
      WEFT_ALIGNED_NOT,
      { 0, 0 } },
};

/* Offsets move the zeros of the traces before the earliest is looked for. */
static void test_offsets(void)
{
    struct weft_merge_input inputs[2] = { { .offset_ns = -3 }, { .offset_ns = 5 } };
    uint64_t shifts_ns[2];
    struct weft_clock clock;
    for (size_t k = 0; k < 2; k++) {
        struct random_stored stored = {
            .seed = k + 1,
            .bytes = "text",
            .clock = { .frequency_hz = S, .has_monotonic = true, .monotonic_ns = 100 + k }
        };
        (void)random_stored_write(&stored, path_in[k]);
        if (weft_store_open(path_in[k], &inputs[k].store, NULL) != WEFT_OK)
            abort();
    }
    (void)weft_merge_align(inputs, 2, shifts_ns, &clock);
    tap_eq_u64(shifts_ns[0], 0, "offsets: the first trace is the earliest");
    tap_eq_u64(shifts_ns[1], 9, "offsets: the second is later by both");
    tap_eq_u64(clock.monotonic_ns, 97, "offsets: the clock of the earliest is moved, too");
    weft_store_close(inputs[0].store);
    weft_store_close(inputs[1].store);
}

static void test_align(const struct align_row *row)
{
    struct weft_merge_input inputs[2] = { 0 };
    for (size_t k = 0; k < 2; k++) {
        struct random_stored stored = { .seed = k + 1, .bytes = "text", .clock = row->clocks[k] };
        stored.clock.frequency_hz = S;
        (void)random_stored_write(&stored, path_in[k]);
        if (weft_store_open(path_in[k], &inputs[k].store, NULL) != WEFT_OK)
            abort();
    }
    uint64_t shifts_ns[2];
    struct weft_clock clock;
    tap_eq_u64(weft_merge_align(inputs, 2, shifts_ns, &clock), row->alignment, "%s", row->name);
    tap_eq_u64(shifts_ns[0], row->shifts_ns[0], "%s: shift of the first", row->name);
    tap_eq_u64(shifts_ns[1], row->shifts_ns[1], "%s: shift of the second", row->name);
    const struct weft_clock *first = &row->clocks[row->shifts_ns[0] > 0];
    if (row->alignment != WEFT_ALIGNED_NOT)
        tap_eq_u64(clock.realtime_ns, first->realtime_ns, "%s: the wall clock", row->name);
    tap_eq_u64(clock.has_monotonic, row->alignment == WEFT_ALIGNED_MONOTONIC,
               "%s: the monotonic clock", row->name);
    weft_store_close(inputs[0].store);
    weft_store_close(inputs[1].store);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    for (int k = 0; k < MOST_TRACES; k++)
        (void)snprintf(path_in[k], sizeof path_in[k], "%s/oracle_merge.%d.weft", root ? root : ".",
                       k);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(path_out[k], sizeof path_out[k], "%s/oracle_merge.out%d.weft",
                       root ? root : ".", k);
        run[k].pool = weft_pool_new(k ? 3 : 1);
    }
    char *bytes = random_stored_bytes();
    for (size_t k = 0; k < sizeof align_rows / sizeof *align_rows; k++)
        test_align(&align_rows[k]);
    test_offsets();
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t i = 0; i < SEEDS_A_LINE && !failed_seed; i++)
            if (!case_run(seed + i, bytes))
                failed_seed = seed + i;
        tap_ok(!failed_seed, "%d random merges from seed %" PRIu64 " on", SEEDS_A_LINE, seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
    tap_ok(n_joined > 50, "threads were joined: %" PRIu64, n_joined);
    free(bytes);
    for (int k = 0; k < MOST_TRACES; k++)
        (void)unlink(path_in[k]);
    for (int k = 0; k < 2; k++) {
        (void)unlink(path_out[k]);
        weft_pool_free(run[k].pool);
    }
    return tap_done();
}
