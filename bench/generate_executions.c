/* SPDX-License-Identifier: MIT
 *
 * Writes a trace with any number of executions: calls of "handle", some of them nested, one after
 * the other on each thread, with what metrics are taken of: a system call that reads, waits for a
 * lock, faults, switches. The same arguments give the same trace.
 *
 * usage: generate_executions [-t THREADS] EXECUTIONS OUTPUT.weft
 */
#include "measure.h"
#include "schema/event.h"
#include "store/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 512, EVENTS_MOST = 8, CALLS_MOST = 4 };

static struct weft_err err;

static void must(enum weft_code code)
{
    if (code == WEFT_OK)
        return;
    fprintf(stderr, "generate_executions: %s\n", err.text);
    exit(1);
}

/* What a thread does, some executions at a time. */
struct piece {
    struct weft_call_event calls[PIECE * CALLS_MOST];
    struct weft_event events[PIECE * EVENTS_MOST];
    size_t n_calls, n_events;
    uint64_t at_ns, state;
    uint32_t thread_id;
};

static void call(struct piece *piece, enum weft_call_kind kind, uint64_t at_ns)
{
    piece->calls[piece->n_calls++] =
        (struct weft_call_event){ .time_ns = at_ns, .kind = (uint8_t)kind };
}

static struct weft_event *event(struct piece *piece, enum weft_event_kind kind, uint64_t at_ns,
                                const char *name)
{
    struct weft_event *made = &piece->events[piece->n_events++];
    *made = (struct weft_event){ .kind = kind,
                                 .time_ns = at_ns,
                                 .cpu = (int32_t)piece->thread_id,
                                 .next_thread_id = WEFT_ID_NONE,
                                 .object_id = WEFT_ID_NONE,
                                 .stack_id = WEFT_ID_NONE,
                                 .name = weft_str_of(name) };
    return made;
}

/* An execution of 1 to 20 us. */
static void make_one(struct piece *piece)
{
    const uint64_t random = bench_random(&piece->state), at_ns = piece->at_ns;
    const uint64_t length_ns = 1000 + random % 19000;
    call(piece, WEFT_CALL_ENTER, at_ns);
    event(piece, WEFT_EVENT_SYSCALL_EXIT, at_ns + length_ns / 4, "read")->value = random % 4096;
    event(piece, WEFT_EVENT_LOCK_REQUEST, at_ns + length_ns / 3, "pthread_mutex_lock")->object_id =
        piece->thread_id;
    event(piece, WEFT_EVENT_LOCK_ACQUIRED, at_ns + length_ns / 2, "pthread_mutex_lock")->object_id =
        piece->thread_id;
    if (random % 8 == 0) {
        call(piece, WEFT_CALL_ENTER, at_ns + length_ns / 2);
        call(piece, WEFT_CALL_EXIT, at_ns + length_ns * 2 / 3);
    }
    if (random % 5 == 0)
        event(piece, WEFT_EVENT_INSTANT, at_ns + length_ns / 2, "page fault");
    call(piece, WEFT_CALL_EXIT, at_ns + length_ns);
    piece->at_ns += length_ns + 500;
}

static void write_piece(struct weft_sink *sink, struct piece *piece, uint64_t n)
{
    piece->n_calls = piece->n_events = 0;
    for (uint64_t i = 0; i < n; i++)
        make_one(piece);
    must(sink->ops->calls(sink, piece->thread_id, piece->calls, piece->n_calls, &err));
    must(sink->ops->events(sink, piece->thread_id, piece->events, piece->n_events, &err));
}

static void write_threads(struct weft_sink *sink, uint32_t n_threads, uint64_t n_all)
{
    static struct piece piece;
    for (uint32_t t = 0; t < n_threads; t++) {
        const struct weft_thread_info info = { .tid = 100 + t, .pid = 100 };
        must(sink->ops->thread(sink, &info, &piece.thread_id, &err));
    }
    for (uint32_t t = 0; t < n_threads; t++) {
        piece = (struct piece){ .thread_id = t, .state = 7 + t, .at_ns = 100 * t };
        for (uint64_t n_left = n_all / n_threads; n_left > 0;) {
            const uint64_t n = n_left < PIECE ? n_left : PIECE;
            write_piece(sink, &piece, n);
            n_left -= n;
        }
        must(sink->ops->thread_end(sink, t, piece.at_ns, &err));
    }
}

int main(int argc, char **argv)
{
    const struct weft_writer_opts opts = { .source_name = "executions" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("executions") };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    const struct weft_function_info function = { .name = WEFT_STR("handle") };
    uint32_t n_threads = 4;
    struct weft_writer *writer = NULL;
    for (int c; (c = getopt(argc, argv, "t:")) != -1;)
        n_threads = c == 't' ? (uint32_t)strtoul(optarg, NULL, 10) : 0;
    if (argc - optind != 2 || n_threads == 0)
        return 2;
    must(weft_writer_open(argv[optind + 1], &opts, &writer, &err));
    struct weft_sink *sink = weft_writer_sink(writer);
    must(sink->ops->begin(sink, &begin, &err));
    must(sink->ops->clock(sink, &clock, &err));
    must(sink->ops->function(sink, &function, &err));
    write_threads(sink, n_threads, strtoull(argv[optind], NULL, 10));
    must(weft_writer_commit(writer, NULL, &err));
    return 0;
}
