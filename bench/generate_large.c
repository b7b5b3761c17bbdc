/* SPDX-License-Identifier: MIT
 *
 * Traces that are large in one way:
 *
 * usage: generate_large locks FILE [OPERATIONS] [THREADS]   so many acquisitions (default:
 *        20,000,000) of 64 mutexes by threads (8) that serve requests and wait for each other
 *        generate_large deep FILE [DEPTH]   calls so deep (default: 100,000): one thread goes down
 *        and up once, another three times, with short calls at the bottom, a third stays there
 */
#include "store/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOCKS = 64, MOST_THREADS = 256, BATCH = 512, FIRST_ADDRESS = 0x10000, TID = 100 };
enum { FN_MAIN, FN_HANDLE, FN_WORK, FN_DOWN, FN_LEAF, FUNCTIONS };

struct output {
    struct weft_writer *writer;
    struct weft_sink *sink;
    struct weft_err err;
    enum weft_code code;
    uint32_t ids[MOST_THREADS];
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void call(struct output *out, unsigned thread, uint64_t at_ns, uint32_t key,
                 enum weft_call_kind kind)
{
    const struct weft_call_event event = { .time_ns = at_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    if (out->code == WEFT_OK)
        out->code = out->sink->ops->calls(out->sink, out->ids[thread], &event, 1, &out->err);
}

static void begin(struct output *out, const char *path, unsigned n_threads)
{
    static const char *const names[FUNCTIONS] = { "main", "handle_request", "work", "go_down",
                                                  "leaf" };
    const struct weft_writer_opts opts = { .source_name = "generate_large" };
    const struct weft_sink_begin start = { .format = WEFT_STR("made up"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    out->code = weft_writer_open(path, &opts, &out->writer, &out->err);
    if (out->code != WEFT_OK)
        return;
    out->sink = weft_writer_sink(out->writer);
    out->code = out->sink->ops->begin(out->sink, &start, &out->err);
    if (out->code == WEFT_OK)
        out->code = out->sink->ops->clock(out->sink, &clock, &out->err);
    for (uint32_t key = 0; key < FUNCTIONS && out->code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        out->code = out->sink->ops->function(out->sink, &info, &out->err);
    }
    for (unsigned i = 0; i < n_threads && out->code == WEFT_OK; i++) {
        const struct weft_thread_info info = { .tid = TID + i, .pid = TID };
        out->code = out->sink->ops->thread(out->sink, &info, &out->ids[i], &out->err);
    }
}

static int end(struct output *out, unsigned n_threads)
{
    for (unsigned i = 0; i < n_threads && out->code == WEFT_OK; i++)
        out->code = out->sink->ops->thread_end(out->sink, out->ids[i], 0, &out->err);
    if (out->code == WEFT_OK)
        out->code = weft_writer_commit(out->writer, NULL, &out->err);
    if (out->code != WEFT_OK)
        fprintf(stderr, "generate_large: %s\n", out->err.text);
    return out->code != WEFT_OK;
}

/* ---- locks -------------------------------------------------------------------------------------
 */

struct batch {
    struct weft_event events[BATCH];
    size_t n;
};

static void flush(struct output *out, unsigned thread, struct batch *batch)
{
    if (out->code == WEFT_OK && batch->n > 0)
        out->code =
            out->sink->ops->events(out->sink, out->ids[thread], batch->events, batch->n, &out->err);
    batch->n = 0;
}

static void event(struct output *out, unsigned thread, struct batch *batch, uint64_t at_ns,
                  enum weft_event_kind kind, uint64_t lock)
{
    batch->events[batch->n++] = (struct weft_event){ .time_ns = at_ns,
                                                     .value = FIRST_ADDRESS + 64 * lock,
                                                     .name = WEFT_STR("mutex"),
                                                     .next_thread_id = WEFT_ID_NONE,
                                                     .object_id = WEFT_ID_NONE,
                                                     .stack_id = WEFT_ID_NONE,
                                                     .cpu = -1,
                                                     .kind = kind };
    if (batch->n == BATCH)
        flush(out, thread, batch);
}

/* The thread that is ready first asks for a lock, and has it when it is free. */
static void write_locks(struct output *out, uint64_t n_ops, unsigned n_threads)
{
    static struct batch batches[MOST_THREADS];
    uint64_t ready_ns[MOST_THREADS], free_ns[LOCKS] = { 0 }, random = 88172645463325252U;
    for (unsigned i = 0; i < n_threads; i++) {
        ready_ns[i] = 100 + i;
        call(out, i, i, FN_MAIN, WEFT_CALL_ENTER);
    }
    for (uint64_t i = 0; i < n_ops && out->code == WEFT_OK; i++) {
        unsigned thread = 0;
        for (unsigned k = 1; k < n_threads; k++)
            thread = ready_ns[k] < ready_ns[thread] ? k : thread;
        const uint64_t draw = next_random(&random), at_ns = ready_ns[thread];
        const uint64_t lock = draw % 7 ? draw % LOCKS : 0;
        const uint64_t got_ns = free_ns[lock] > at_ns + 20 ? free_ns[lock] : at_ns + 20;
        const uint64_t end_ns = got_ns + 30 + (draw >> 32) % 400;
        call(out, thread, at_ns - 5, FN_HANDLE, WEFT_CALL_ENTER);
        event(out, thread, &batches[thread], at_ns, WEFT_EVENT_LOCK_REQUEST, lock);
        event(out, thread, &batches[thread], got_ns, WEFT_EVENT_LOCK_ACQUIRED, lock);
        event(out, thread, &batches[thread], end_ns, WEFT_EVENT_LOCK_RELEASED, lock);
        call(out, thread, end_ns + 5, FN_HANDLE, WEFT_CALL_EXIT);
        free_ns[lock] = end_ns;
        ready_ns[thread] = end_ns + 20 + (draw >> 20) % 900;
    }
    for (unsigned i = 0; i < n_threads; i++) {
        flush(out, i, &batches[i]);
        call(out, i, ready_ns[i] + 10, FN_MAIN, WEFT_CALL_EXIT);
    }
}

/* ---- depth -------------------------------------------------------------------------------------
 */

static uint64_t go_down(struct output *out, unsigned thread, uint64_t at_ns, uint64_t depth)
{
    for (uint64_t i = 0; i < depth && out->code == WEFT_OK; i++)
        call(out, thread, at_ns += 10,
             i == 0  ? FN_MAIN
             : i % 3 ? FN_DOWN
                     : FN_WORK,
             WEFT_CALL_ENTER);
    for (unsigned i = 0; i < 1000; i++) {
        call(out, thread, at_ns += 10, FN_LEAF, WEFT_CALL_ENTER);
        call(out, thread, at_ns += 10 + i % 50, FN_LEAF, WEFT_CALL_EXIT);
    }
    return at_ns;
}

static uint64_t come_up(struct output *out, unsigned thread, uint64_t at_ns, uint64_t depth)
{
    for (uint64_t i = depth; i-- > 0 && out->code == WEFT_OK;)
        call(out, thread, at_ns += 10,
             i == 0  ? FN_MAIN
             : i % 3 ? FN_DOWN
                     : FN_WORK,
             WEFT_CALL_EXIT);
    return at_ns;
}

static void write_deep(struct output *out, uint64_t depth)
{
    uint64_t at_ns = go_down(out, 0, 0, depth);
    (void)come_up(out, 0, at_ns, depth);
    at_ns = 50;
    for (unsigned i = 0; i < 3; i++) {
        at_ns = go_down(out, 1, at_ns, depth / 3);
        at_ns = come_up(out, 1, at_ns, depth / 3);
    }
    (void)go_down(out, 2, 0, depth / 2);
}

int main(int argc, char **argv)
{
    struct output out = { 0 };
    if (argc < 3 || (strcmp(argv[1], "locks") != 0 && strcmp(argv[1], "deep") != 0)) {
        fputs("usage: generate_large locks FILE [OPERATIONS] [THREADS] | deep FILE [DEPTH]\n",
              stderr);
        return 2;
    }
    const bool is_deep = argv[1][0] == 'd';
    const uint64_t n = argc > 3 ? strtoull(argv[3], NULL, 10) : is_deep ? 100000 : 20000000;
    unsigned n_threads = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 8;
    n_threads = is_deep                    ? 3
                : n_threads < 1            ? 1
                : n_threads < MOST_THREADS ? n_threads
                                           : MOST_THREADS;
    begin(&out, argv[2], n_threads);
    if (out.code == WEFT_OK && is_deep)
        write_deep(&out, n);
    else if (out.code == WEFT_OK)
        write_locks(&out, n, n_threads);
    return end(&out, n_threads);
}
