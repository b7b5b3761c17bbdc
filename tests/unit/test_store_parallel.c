/* SPDX-License-Identifier: MIT
 *
 * The bytes of the file do not depend on the number of workers, nor on whether finished blocks had
 * to wait in memory or in the temporary file.
 */
#include "base/pool.h"
#include "random_calls.h"
#include "store/reader.h"
#include "store/writer.h"
#include "tap.h"

enum { THREADS = 40, MAX_WORKERS = 4 };

struct job {
    struct weft_sink *sink;
    uint64_t seed;
};

/* Threads differ in length by a factor of a hundred, so that some wait long for others. */
static enum weft_code thread_write(void *context, size_t item, unsigned worker,
                                   struct weft_err *err)
{
    const struct job *job = context;
    (void)worker;
    uint64_t state = job->seed + item;
    const size_t n_events = 20 + tap_random(&state) % (item % 7 == 0 ? 4000 : 200);
    struct weft_call_event *events = calloc(n_events, sizeof *events);
    uint32_t *stack = calloc(n_events, sizeof *stack);
    struct random_calls random = {
        .state = state, .n_functions = 9, .enter_percent = 50, .odd_percent = 5
    };
    random_calls_fill(&random, events, n_events, stack);
    enum weft_code code = WEFT_OK;
    for (size_t at = 0; at < n_events && code == WEFT_OK; at += 100)
        code = job->sink->ops->calls(job->sink, (uint32_t)item, events + at,
                                     n_events - at < 100 ? n_events - at : 100, err);
    const struct weft_note note = { .kind = WEFT_NOTE_BAD_RECORD,
                                    .count = item,
                                    .thread_id = WEFT_ID_NONE,
                                    .at_off = 1000 - item };
    if (code == WEFT_OK)
        code = job->sink->ops->note(job->sink, &note, err);
    if (code == WEFT_OK)
        code = job->sink->ops->thread_end(job->sink, (uint32_t)item, 0, err);
    free(events);
    free(stack);
    return code;
}

static enum weft_code threads_write(const char *path, unsigned n_workers, uint64_t backlog_bytes,
                                    uint64_t seed, struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "parallel",
                                           .backlog_limit_bytes = backlog_bytes,
                                           .block_rows = 30 };
    struct weft_writer *writer;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    if (code != WEFT_OK)
        return code;
    struct weft_pool *pool = weft_pool_new(n_workers);
    struct job job = { .sink = weft_writer_sink(writer), .seed = seed };
    const struct weft_sink_begin begin = { .format = WEFT_STR("test"), .is_parallel = true };
    code = job.sink->ops->begin(job.sink, &begin, err);
    for (uint32_t i = 0; i < THREADS && code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = i };
        uint32_t thread_id;
        code = job.sink->ops->thread(job.sink, &info, &thread_id, err);
    }
    if (code == WEFT_OK)
        code = weft_pool_run(pool, THREADS, thread_write, &job, NULL, err);
    weft_pool_free(pool);
    if (code == WEFT_OK)
        return weft_writer_commit(writer, NULL, err);
    weft_writer_abort(writer);
    return code;
}

static size_t file_read(const char *path, uint8_t *bytes, size_t cap)
{
    FILE *file = fopen(path, "rb");
    const size_t n_bytes = file ? fread(bytes, 1, cap, file) : 0;
    if (file)
        (void)fclose(file);
    return n_bytes;
}

int main(void)
{
    enum { CAP = 8 << 20 };
    char path[512];
    const char *root = getenv("WEFT_BUILD_ROOT");
    (void)snprintf(path, sizeof path, "%s/parallel.weft", root ? root : ".");
    uint8_t *first = malloc(CAP);
    uint8_t *bytes = malloc(CAP);
    const uint64_t seed = tap_seed(1);
    for (uint64_t round = 0; round < 8; round++) {
        size_t n_first = 0;
        for (unsigned n_workers = 1; n_workers <= MAX_WORKERS; n_workers++) {
            const uint64_t backlog_bytes = n_workers % 2 ? 1 : 0; /* all spilled, or none */
            struct weft_err err = { 0 };
            if (!tap_ok(threads_write(path, n_workers, backlog_bytes, seed + round, &err) ==
                            WEFT_OK,
                        "round %d: %u workers write", (int)round, n_workers)) {
                tap_note("%s", err.text);
                continue;
            }
            const size_t n_bytes = file_read(path, n_workers == 1 ? first : bytes, CAP);
            if (n_workers == 1) {
                n_first = n_bytes;
                continue;
            }
            tap_eq_u64(n_bytes, n_first, "%u workers: size", n_workers);
            tap_eq_mem(bytes, first, n_first, "%u workers: bytes", n_workers);
        }
    }
    free(first);
    free(bytes);
    (void)remove(path);
    return tap_done();
}
