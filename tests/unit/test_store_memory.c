/* SPDX-License-Identifier: MIT
 *
 * Writing and reading with every allocation failing in turn (the linker wraps malloc, calloc and
 * realloc): an error, no leak, no crash, and never a file or a trace that lacks something.
 */
#include "failing_alloc.h"
#include "model/calls/lod.h"
#include "small_trace.h"
#include "store/reader.h"
#include "tap.h"

enum { MOST_FAILURES = 100000 };

static char path[512], cut_path[512], levels_path[512];
static uint64_t n_calls_want; /* calls and other events */

static enum weft_code file_write(void)
{
    return small_trace_write(path, NULL);
}

static enum weft_code file_load(const char *name, uint64_t *n_calls)
{
    struct weft_store *store;
    enum weft_code code = weft_store_open(name, &store, NULL);
    if (code != WEFT_OK)
        return code;
    struct weft_block_buf *buf = weft_block_buf_new();
    struct weft_event_buf *event_buf = weft_event_buf_new();
    if (!buf || !event_buf)
        code = WEFT_E_NOMEM;
    *n_calls = 0;
    for (uint32_t i = 0; i < weft_store_meta_get(store)->n_threads && code == WEFT_OK; i++) {
        const uint64_t n_blocks = weft_store_thread_get(store, i)->n_blocks;
        for (uint64_t j = 0; j < n_blocks && code == WEFT_OK; j++) {
            struct weft_calls calls = { 0 };
            code = weft_store_load(store, i, j, buf, &calls, NULL);
            *n_calls += calls.n_rows;
        }
        const uint64_t n_event_blocks = weft_store_thread_get(store, i)->n_event_blocks;
        for (uint64_t j = 0; j < n_event_blocks && code == WEFT_OK; j++) {
            const struct weft_event *events;
            size_t n_events = 0;
            code = weft_store_load_events(store, i, j, event_buf, &events, &n_events, NULL);
            *n_calls += n_events;
        }
    }
    weft_event_buf_free(event_buf);
    weft_block_buf_free(buf);
    weft_store_close(store);
    return code;
}

static enum weft_code file_read_whole(void)
{
    uint64_t n_calls;
    const enum weft_code code = file_load(path, &n_calls);
    return code == WEFT_OK && n_calls != n_calls_want ? WEFT_E_MALFORMED : code;
}

static enum weft_code file_read_cut(void)
{
    static uint64_t n_first;
    uint64_t n_calls;
    const enum weft_code code = file_load(cut_path, &n_calls);
    if (code == WEFT_OK && n_first == 0)
        n_first = n_calls;
    return code == WEFT_OK && n_calls != n_first ? WEFT_E_MALFORMED : code;
}

/* Lets the first allocation fail, then the second, and so on until the work is done without. */
static void fail_all(const char *name, enum weft_code (*work)(void))
{
    int n_failures = 0;
    bool is_good = work() == WEFT_OK;
    for (; n_failures < MOST_FAILURES && is_good; n_failures++) {
        n_until_failure = n_failures;
        const enum weft_code code = work();
        const bool has_failed = n_until_failure < 0;
        n_until_failure = -1;
        if (!has_failed) {
            is_good = code == WEFT_OK;
            break;
        }
        is_good = code == WEFT_E_NOMEM || code == WEFT_OK;
        if (!is_good)
            tap_note("allocation %d: %s", n_failures, weft_code_name(code));
    }
    tap_ok(is_good && n_failures > 0, "%s: %d failed allocations", name, n_failures);
}

/* ---- levels of detail ------------------------------------------------------------------------ */

enum { LEVEL_EVENTS = 40000 };

/* Calls of two depths, so regular that all levels are worth keeping. */
static enum weft_code levels_write(void)
{
    static struct weft_call_event events[LEVEL_EVENTS];
    for (size_t i = 0; i < LEVEL_EVENTS; i++)
        events[i] = (struct weft_call_event){ .time_ns = i * 70000 + i * i % 60013,
                                              .kind = i % 4 < 2 ? WEFT_CALL_ENTER : WEFT_CALL_EXIT,
                                              .function_key = i % 4 == 0 || i % 4 == 3 ? 1 : 2 };
    struct weft_writer *writer;
    const struct weft_writer_opts opts = { .block_rows = 2048, .cell_rows = 256 };
    enum weft_code code = weft_writer_open(levels_path, &opts, &writer, NULL);
    if (code != WEFT_OK)
        return code;
    struct weft_sink *sink = weft_writer_sink(writer);
    const struct weft_sink_begin begin = { .format = WEFT_STR("levels") };
    const struct weft_thread_info info = { .tid = 1 };
    uint32_t thread;
    code = sink->ops->begin(sink, &begin, NULL);
    if (code == WEFT_OK)
        code = sink->ops->thread(sink, &info, &thread, NULL);
    if (code == WEFT_OK)
        code = sink->ops->calls(sink, thread, events, LEVEL_EVENTS, NULL);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, NULL);
    weft_writer_abort(writer);
    return code;
}

static enum weft_code lod_ask(struct weft_lod_reader *reader, uint64_t span_ns, uint32_t width,
                              struct weft_lod_parts *used)
{
    struct weft_lod lod;
    const enum weft_code code = weft_lod(reader, 0, 1000, span_ns, width, &lod, NULL);
    used->calls += lod.parts.calls;
    used->cells += lod.parts.cells;
    used->blocks += lod.parts.blocks;
    return code;
}

static enum weft_code levels_read(void)
{
    struct weft_trace *trace;
    struct weft_lod_parts used = { 0 };
    enum weft_code code = weft_trace_open(levels_path, &trace, NULL);
    if (code != WEFT_OK)
        return code;
    struct weft_lod_reader *reader = weft_lod_reader_new(trace);
    if (!reader)
        code = WEFT_E_NOMEM;
    static const uint32_t widths[] = { 3, 700, 50000 };
    for (size_t i = 0; i < 3 && code == WEFT_OK; i++)
        code = lod_ask(reader, UINT64_C(2800000000), widths[i], &used);
    weft_lod_reader_free(reader);
    weft_trace_close(trace);
    const bool is_whole = used.calls > 0 && used.cells > 0 && used.blocks > 0;
    return code == WEFT_OK && !is_whole ? WEFT_E_MALFORMED : code;
}

static void file_cut(void)
{
    FILE *in = fopen(path, "rb");
    FILE *out = fopen(cut_path, "wb");
    for (int i = 0, byte; in && out && i < 4000 && (byte = fgetc(in)) != EOF; i++)
        (void)fputc(byte, out);
    if (!in || !out || fclose(in) != 0 || fclose(out) != 0)
        abort();
}

int main(void)
{
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/memory.weft", root ? root : ".");
    (void)snprintf(cut_path, sizeof cut_path, "%s/memory_cut.weft", root ? root : ".");
    fail_all("writing", file_write);
    tap_ok(file_write() == WEFT_OK && file_load(path, &n_calls_want) == WEFT_OK, "a whole file");
    fail_all("reading", file_read_whole);
    file_cut();
    fail_all("recovering", file_read_cut);
    (void)snprintf(levels_path, sizeof levels_path, "%s/memory_levels.weft", root ? root : ".");
    fail_all("writing levels of detail", levels_write);
    tap_ok(levels_write() == WEFT_OK, "a file with levels of detail");
    fail_all("reading levels of detail", levels_read);
    (void)remove(levels_path);
    (void)remove(path);
    (void)remove(cut_path);
    return tap_done();
}
