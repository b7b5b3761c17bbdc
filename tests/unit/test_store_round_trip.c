/* SPDX-License-Identifier: MIT
 *
 * What is written is what is read: random streams of events against the slow oracle, with blocks so
 * small that calls cross their borders all the time.
 */
#include "../oracle/slow_calls.h"
#include "random_calls.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tap.h"

enum { MAX_THREADS = 3, SEEDS = 3000, SEEDS_A_LINE = 100 };

static char path[512];
static char what[200]; /* what differed first */

static bool differ(const char *name, uint64_t at, uint64_t got, uint64_t want)
{
    (void)snprintf(what, sizeof what, "%s at %" PRIu64 ": got %" PRIu64 ", want %" PRIu64, name, at,
                   got, want);
    return false;
}

#define SAME(got, want, name, at)                                                                  \
    do {                                                                                           \
        const uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want);                           \
        if (got_ != want_)                                                                         \
            return differ(name, at, got_, want_);                                                  \
    } while (0)

/* One thread of a case. */
struct stream {
    struct weft_call_event *events;
    size_t n_events;
    uint64_t last_ns;
    struct slow_calls want;
};

static uint32_t key_of(const struct weft_store *store, uint32_t function_id)
{
    return weft_store_function_get(store, function_id)->key;
}

static bool summary_same(const struct weft_block_info *info, const struct slow_calls *want,
                         uint64_t block, uint32_t block_rows)
{
    const uint64_t first = block * block_rows;
    uint64_t last_ns = 0;
    uint64_t longest_gap_ns = 0;
    uint64_t longest_call_ns = 0;
    for (size_t i = 0; i < want->n_steps; i++) {
        const struct slow_step *step = &want->steps[i];
        /* A step belongs to the block of the latest entry up to and with itself. */
        const uint64_t rows = step->entries_before + step->is_entry;
        const uint64_t in_block = rows ? (rows - 1) / block_rows : 0;
        if (in_block != block)
            continue;
        last_ns = step->time_ns;
        const struct slow_step *before = i ? step - 1 : NULL;
        const bool is_leaf_body = before && before->is_entry && !step->is_entry;
        if (before && !is_leaf_body && step->time_ns - before->time_ns > longest_gap_ns)
            longest_gap_ns = step->time_ns - before->time_ns;
    }
    for (uint64_t i = first; i < first + info->n_rows; i++)
        if (want->rows[i].end_ns - want->rows[i].start_ns > longest_call_ns)
            longest_call_ns = want->rows[i].end_ns - want->rows[i].start_ns;
    SAME(info->last_ns, last_ns, "last event of block", block);
    SAME(info->longest_gap_ns, longest_gap_ns, "longest gap of block", block);
    SAME(info->longest_call_ns, longest_call_ns, "longest call of block", block);
    return true;
}

/* The calls open when row `first` is entered: the last `level` ancestors by definition. */
static bool open_same(const struct weft_store *store, const struct weft_calls *got,
                      const struct slow_calls *want)
{
    size_t n_open = 0;
    for (size_t i = 0; i < got->n_open; i++) {
        const struct weft_open_call *open = &got->open[i];
        SAME(open->depth, i, "depth of open call", i);
        const struct slow_call *call =
            open->row == UINT64_MAX ? &want->cut[want->n_cut - 1 - i] : &want->rows[open->row];
        if (open->row != UINT64_MAX && open->row >= got->first_row)
            return differ("row of open call", i, open->row, got->first_row);
        SAME(open->start_ns, call->start_ns, "start of open call", i);
        SAME(open->end_ns, call->end_ns, "end of open call", i);
        SAME(open->flags, call->flags, "flags of open call", i);
        SAME(key_of(store, open->function_id), call->key, "function of open call", i);
        n_open++;
    }
    SAME(n_open, got->n_open, "open calls", got->first_row);
    return true;
}

static bool rows_same(const struct weft_store *store, const struct weft_calls *got,
                      const struct slow_calls *want)
{
    size_t arg = 0;
    for (size_t i = 0; i < got->n_rows; i++) {
        const uint64_t row = got->first_row + i;
        const struct slow_call *call = &want->rows[row];
        SAME(got->start_ns[i], call->start_ns, "start", row);
        SAME(got->end_ns[i], call->end_ns, "end", row);
        SAME(key_of(store, got->function_id[i]), call->key, "function", row);
        SAME(got->depth[i], call->level + (int64_t)want->n_cut, "depth", row);
        SAME(got->flags ? got->flags[i] : 0, call->flags, "flags", row);
        if (i == 0 && got->depth[0] > got->n_open)
            return differ("depth of the first row", row, got->depth[0], got->n_open);
        for (unsigned j = 0; j < call->n_args; j++, arg++) {
            if (arg >= got->n_args)
                return differ("arguments", row, got->n_args, arg + 1);
            SAME(got->arg_row[arg], i, "row of argument", arg);
            SAME(got->arg_value[arg], call->args[j], "argument", arg);
        }
    }
    SAME(got->n_args, arg, "arguments of block", got->first_row);
    return true;
}

static uint64_t note_count(const struct weft_store *store, enum weft_note_kind kind,
                           uint32_t thread_id)
{
    for (size_t i = 0; i < weft_store_meta_get(store)->n_notes; i++) {
        const struct weft_note *note = weft_store_note_get(store, i);
        if (note->kind == kind && note->thread_id == thread_id)
            return note->count;
    }
    return 0;
}

static bool thread_same(struct weft_store *store, uint32_t thread_id, const struct slow_calls *want,
                        uint32_t block_rows, struct weft_block_buf *buf)
{
    const struct weft_store_thread *got = weft_store_thread_get(store, thread_id);
    SAME(got->calls, want->n_rows, "calls of thread", thread_id);
    SAME(got->cut_calls, want->n_cut, "cut calls of thread", thread_id);
    SAME(got->last_ns, want->last_ns, "last event of thread", thread_id);
    SAME(got->first_ns, want->n_steps ? want->steps[0].time_ns : want->last_ns,
         "first event of thread", thread_id);
    SAME(note_count(store, WEFT_NOTE_EXIT_WITHOUT_ENTRY_CUT, thread_id), want->n_cut, "cut notes",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_EXIT_IGNORED, thread_id), want->n_ignored, "ignored",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_MISSING_EXIT, thread_id), want->n_repaired, "repaired",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_OPEN_AT_END, thread_id), want->n_open, "open at end",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_TIME_BACKWARD, thread_id), want->n_backward, "backward",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_DEPTH_LIMIT, thread_id), want->n_too_deep, "too deep",
         thread_id);
    SAME(note_count(store, WEFT_NOTE_NOT_KEPT, thread_id), want->n_args_dropped, "lost arguments",
         thread_id);
    uint64_t n_rows = 0;
    uint32_t max_depth = want->n_cut ? (uint32_t)want->n_cut - 1 : 0;
    for (uint64_t i = 0; i < got->n_blocks; i++) {
        struct weft_calls calls;
        struct weft_err err = { 0 };
        if (weft_store_load(store, thread_id, i, buf, &calls, &err) != WEFT_OK) {
            weft_err_print(&err, what, sizeof what);
            return false;
        }
        const struct weft_block_info *info = weft_store_block_get(store, thread_id, i);
        SAME(info->n_rows, calls.n_rows, "rows of block", i);
        SAME(calls.first_row, n_rows, "first row of block", i);
        SAME(info->n_open, calls.n_open, "open calls of block", i);
        if (!rows_same(store, &calls, want) || !open_same(store, &calls, want) ||
            !summary_same(info, want, i, block_rows))
            return false;
        if (calls.n_rows)
            SAME(info->first_ns, calls.start_ns[0], "first start of block", i);
        for (size_t j = 0; j < calls.n_rows; j++)
            max_depth = calls.depth[j] > max_depth ? calls.depth[j] : max_depth;
        const uint32_t *ids;
        size_t n_ids;
        if (weft_store_block_functions(store, thread_id, i, buf, &ids, &n_ids, &err) != WEFT_OK)
            return differ("functions of block", i, 0, 1);
        SAME(n_ids, info->n_functions, "functions of block", i);
        n_rows += calls.n_rows;
    }
    SAME(n_rows, want->n_rows, "rows of all blocks of thread", thread_id);
    SAME(got->max_depth, max_depth, "greatest depth of thread", thread_id);
    size_t n_cut;
    const struct weft_open_call *cut = weft_store_cut_calls(store, thread_id, &n_cut);
    for (size_t i = 0; i < n_cut; i++) {
        SAME(cut[i].end_ns, want->cut[want->n_cut - 1 - i].end_ns, "end of cut frame", i);
        SAME(cut[i].start_ns, 0, "start of cut frame", i);
    }
    return true;
}

static bool failed(const struct weft_err *err)
{
    weft_err_print(err, what, sizeof what);
    return false;
}

static bool is_foreign(uint32_t stream, uint32_t block_rows)
{
    return block_rows >> stream & 1;
}

/* Every second one has a name, told after another one's; of two for one place the first counts. */
static struct weft_object_info object_of(uint32_t stream)
{
    return (struct weft_object_info){ .host_id = stream % 2,
                                      .pid = 1000 - stream,
                                      .address = UINT64_C(0xffff800000000000) + stream,
                                      .name = stream % 2 ? WEFT_STR("lock") : WEFT_STR("a+0x28") };
}

static enum weft_code objects_write(struct weft_sink *sink, uint32_t n_streams,
                                    struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < 2 * n_streams && code == WEFT_OK; i++) {
        struct weft_object_info info = object_of(i % n_streams);
        if (i >= n_streams)
            info.name = WEFT_STR("later");
        code = i % n_streams % 3 ? weft_sink_object(sink, &info, err) : WEFT_OK;
    }
    return code;
}

static bool objects_same(const struct weft_store *store, uint32_t n_streams)
{
    for (uint32_t i = 0; i < n_streams; i++) {
        const struct weft_object_info info = object_of(i);
        const struct weft_str want = i % 3 ? info.name : WEFT_STR("");
        if (!weft_str_equal(weft_store_object_name(store, info.host_id, info.pid, info.address),
                            want) ||
            weft_store_object_name(store, info.host_id, info.pid, info.address + 1).n_bytes ||
            weft_store_object_name(store, info.host_id + 1, info.pid, info.address).n_bytes)
            return differ("the name of an object", i, want.n_bytes, 0);
    }
    return true;
}

/* Functions of libraries, several a stream, as traces that are merged have them: some again, and
 * one in two modules. */
enum { LIBRARIES = 3 };

static struct weft_library_function library_of(uint32_t stream)
{
    static const char *const names[] = { "inflate", "deflate", "crc32" };
    const bool is_other = stream % 3 == 2 && stream % 2 == 1;
    return (struct weft_library_function){ .name = weft_str_of(names[stream % 3]),
                                           .module = is_other ? WEFT_STR("liblzma.so.5")
                                                              : WEFT_STR("libz.so.1") };
}

/* Does the file have what the stream announced: is it the first of the name, in one module? */
static bool is_kept(uint32_t stream, uint32_t n_streams)
{
    const struct weft_library_function own = library_of(stream);
    bool is_so = true;
    for (uint32_t i = 0; i < n_streams; i++) {
        const struct weft_library_function other = library_of(i);
        if (weft_str_equal(other.name, own.name))
            is_so = is_so && i >= stream && weft_str_equal(other.module, own.module);
    }
    return is_so;
}

static enum weft_code libraries_write(struct weft_sink *sink, uint32_t n_streams,
                                      struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    for (uint32_t i = 0; i < n_streams && code == WEFT_OK; i++) {
        const struct weft_library_function function = library_of(i);
        code = weft_sink_library(sink, &function, err);
    }
    return code;
}

static bool libraries_same(const struct weft_store *store, uint32_t n_streams)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_streams; i++) {
        const struct weft_library_function want = library_of(i);
        if (!is_kept(i, n_streams))
            continue;
        if (n == weft_store_n_libraries(store))
            return differ("functions of libraries", i, n + 1, n);
        const struct weft_library_function *found = weft_store_library_get(store, n++);
        if (!weft_str_equal(found->name, want.name) || !weft_str_equal(found->module, want.module))
            return differ("a function of a library", i, want.name.n_bytes, found->name.n_bytes);
    }
    return weft_store_n_libraries(store) == n ||
           differ("functions of libraries", 0, n, weft_store_n_libraries(store));
}

/* Writes the streams one after the other, in batches. */
static bool streams_write(const struct stream *streams, uint32_t n_streams, uint32_t block_rows,
                          size_t batch)
{
    struct weft_err err = { 0 };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .source_name = "random", .block_rows = block_rows };
    if (weft_writer_open(path, &opts, &writer, &err) != WEFT_OK)
        return failed(&err);
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("random"),
                                           .has_some_calls = n_streams % 2 };
    enum weft_code code = sink->ops->begin(sink, &begin, &err);
    for (uint32_t i = 0; i < n_streams && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = 100 + i,
                                               .is_foreign = is_foreign(i, block_rows),
                                               .name = WEFT_STR("worker") };
        uint32_t thread_id;
        code = sink->ops->thread(sink, &info, &thread_id, &err);
        for (size_t at = 0; at < streams[i].n_events && code == WEFT_OK; at += batch) {
            const size_t left = streams[i].n_events - at;
            code = sink->ops->calls(sink, thread_id, streams[i].events + at,
                                    left < batch ? left : batch, &err);
        }
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, thread_id, streams[i].last_ns, &err);
    }
    if (code == WEFT_OK)
        code = objects_write(sink, n_streams, &err);
    if (code == WEFT_OK)
        code = libraries_write(sink, LIBRARIES * n_streams, &err);
    if (code != WEFT_OK) {
        weft_writer_abort(writer);
        return failed(&err);
    }
    return weft_writer_commit(writer, NULL, &err) == WEFT_OK || failed(&err);
}

static bool streams_same(const struct stream *streams, uint32_t n_streams, uint32_t block_rows)
{
    struct weft_err err = { 0 };
    struct weft_store *store;
    if (weft_store_open(path, &store, &err) != WEFT_OK)
        return failed(&err);
    struct weft_block_buf *buf = weft_block_buf_new();
    const struct weft_store_meta *meta = weft_store_meta_get(store);
    bool is_same = !meta->is_recovered && meta->n_threads == n_streams && buf &&
                   meta->has_some_calls == n_streams % 2;
    if (!is_same)
        (void)snprintf(what, sizeof what, "the file needed recovery");
    for (uint32_t i = 0; i < n_streams && is_same; i++) /* twice: unchecked the second time */
        is_same = thread_same(store, i, &streams[i].want, block_rows, buf) &&
                  thread_same(store, i, &streams[i].want, block_rows, buf);
    for (uint32_t i = 0; i < n_streams && is_same; i++)
        is_same =
            weft_store_thread_get(store, i)->info.is_foreign == is_foreign(i, block_rows) ||
            differ("a foreign thread", i, !is_foreign(i, block_rows), is_foreign(i, block_rows));
    is_same =
        is_same && objects_same(store, n_streams) && libraries_same(store, LIBRARIES * n_streams);
    weft_block_buf_free(buf);
    weft_store_close(store);
    return is_same;
}

static bool case_run(uint64_t seed)
{
    uint64_t state = seed;
    struct stream streams[MAX_THREADS] = { 0 };
    const uint32_t n_streams = 1 + (uint32_t)(tap_random(&state) % MAX_THREADS);
    const uint32_t block_rows = 1 + (uint32_t)(tap_random(&state) % 50);
    for (uint32_t i = 0; i < n_streams; i++) {
        struct stream *stream = &streams[i];
        const bool is_wide = seed % 50 == 0; /* more functions than one byte tells apart */
        stream->n_events = tap_random(&state) % (is_wide ? 3000 : 300);
        stream->events = calloc(stream->n_events + 1, sizeof *stream->events);
        struct random_calls random = {
            .state = tap_random(&state),
            .n_functions = is_wide ? 900 : 1 + (uint32_t)(tap_random(&state) % 6),
            .enter_percent = 20 + (unsigned)(tap_random(&state) % 60),
            .odd_percent = (unsigned)(tap_random(&state) % 3) * 15,
            .has_marked_exits = seed % 2,
        };
        uint32_t *stack = calloc(stream->n_events + 1, sizeof *stack);
        random_calls_fill(&random, stream->events, stream->n_events, stack);
        free(stack);
        stream->last_ns = tap_random(&state) % 2 ? 0 : UINT64_C(1) << 50;
        stream->want = slow_calls_build(stream->events, stream->n_events, stream->last_ns);
    }
    const size_t batch = 1 + (size_t)(tap_random(&state) % 64);
    const uint32_t rows = seed % 50 == 0 ? 2000 : block_rows;
    const bool is_same =
        streams_write(streams, n_streams, rows, batch) && streams_same(streams, n_streams, rows);
    for (uint32_t i = 0; i < n_streams; i++) {
        free(streams[i].events);
        slow_calls_free(&streams[i].want);
    }
    return is_same;
}

/* A stack that only grows, past the limit, and then comes down: long runs of exits, too. */
static void deep_stack(void)
{
    enum { DEPTH = 70000 };
    struct stream stream = { .n_events = 2 * DEPTH + 100 };
    stream.events = calloc(stream.n_events, sizeof *stream.events);
    for (size_t i = 0; i < stream.n_events; i++)
        stream.events[i] = (struct weft_call_event){
            .time_ns = i,
            .function_key = 3,
            .kind = i < DEPTH ? WEFT_CALL_ENTER : WEFT_CALL_EXIT,
        };
    stream.want = slow_calls_build(stream.events, stream.n_events, 0);
    tap_eq_u64(stream.want.n_too_deep, DEPTH - SLOW_MAX_DEPTH, "calls beyond the depth limit");
    const bool is_same = streams_write(&stream, 1, 1000, 4096) && streams_same(&stream, 1, 1000);
    tap_ok(is_same, "a stack of %d calls%s%s", DEPTH, is_same ? "" : ": ", is_same ? "" : what);
    for (size_t i = 0; i < stream.n_events; i++)
        stream.events[i].kind = WEFT_CALL_EXIT; /* all cut frames */
    slow_calls_free(&stream.want);
    stream.want = slow_calls_build(stream.events, stream.n_events, 0);
    const bool is_cut = streams_write(&stream, 1, 1000, 4096) && streams_same(&stream, 1, 1000);
    tap_ok(is_cut, "only exits%s%s", is_cut ? "" : ": ", is_cut ? "" : what);
    slow_calls_free(&stream.want);
    free(stream.events);
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/round_trip.weft", root ? root : ".");
    const uint64_t first = tap_seed(1);
    for (uint64_t seed = first; seed < first + SEEDS; seed += SEEDS_A_LINE) {
        uint64_t failed_seed = 0;
        for (uint64_t i = 0; i < SEEDS_A_LINE && !failed_seed; i++)
            if (!case_run(seed + i))
                failed_seed = seed + i;
        tap_ok(!failed_seed, "%d random traces from seed %" PRIu64 " on", SEEDS_A_LINE, seed);
        if (failed_seed)
            tap_note("seed %" PRIu64 ": %s", failed_seed, what);
    }
    deep_stack();
    (void)remove(path);
    return tap_done();
}
