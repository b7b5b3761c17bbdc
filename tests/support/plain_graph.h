/* SPDX-License-Identifier: MIT
 *
 * An execution graph held in memory, written as text:
 *
 *     rows    "0: 0 R 2 B 4 R 6 / 1: 3 R 6"     thread: time, state up to the next time, ...
 *     edges   "1@6>0@6 2@1>1@3n"                source thread @ time > target; n: a packet, t: a
 * task
 *
 * States: R runs, P preempted, I interrupted, U unknown; waits: B for nobody knows what, T timer,
 * N network, D block device. '.' is no state: nothing is known.
 */
#ifndef WEFT_TESTS_PLAIN_GRAPH_H
#define WEFT_TESTS_PLAIN_GRAPH_H

#include "analysis/path/walk.h"
#include "tap.h"

#include <ctype.h>
#include <stddef.h>

enum { PLAIN_THREADS = 32, PLAIN_VERTICES = 128, PLAIN_EDGES = 256, PLAIN_TEXT = 1 << 14 };

struct plain_row {
    size_t n; /* vertices */
    uint64_t at_ns[PLAIN_VERTICES];
    char state[PLAIN_VERTICES]; /* up to the next one */
};

struct plain_edge {
    uint32_t from, to;
    uint64_t from_ns, to_ns;
    bool is_packet, is_task;
};

struct plain_graph {
    struct weft_graph graph; /* first */
    struct plain_row rows[PLAIN_THREADS];
    struct plain_edge edges[PLAIN_EDGES];
    size_t n_edges;
};

static enum weft_path_state plain_state(char letter)
{
    return letter == 'R'   ? WEFT_PATH_USER
           : letter == 'P' ? WEFT_PATH_PREEMPTED
           : letter == 'I' ? WEFT_PATH_INTERRUPTED
           : letter == 'U' ? WEFT_PATH_UNKNOWN
           : letter == '.' ? WEFT_PATH_UNKNOWN
                           : WEFT_PATH_BLOCKED;
}

static enum weft_path_reason plain_reason(char letter)
{
    return letter == 'T'   ? WEFT_PATH_TIMER
           : letter == 'N' ? WEFT_PATH_NETWORK
           : letter == 'D' ? WEFT_PATH_BLOCK_DEVICE
           : letter == 'B' ? WEFT_PATH_WAKER_UNKNOWN
                           : WEFT_PATH_NO_REASON;
}

static char plain_letter(const struct weft_path_segment *segment)
{
    static const char states[] = "URRRIPB";
    if (segment->state != WEFT_PATH_BLOCKED)
        return states[segment->state];
    return segment->reason == WEFT_PATH_TIMER          ? 'T'
           : segment->reason == WEFT_PATH_NETWORK      ? 'N'
           : segment->reason == WEFT_PATH_BLOCK_DEVICE ? 'D'
           : segment->reason == WEFT_PATH_THREAD       ? 'W'
                                                       : 'B';
}

static enum weft_code plain_before(struct weft_graph *graph, uint32_t thread_id, uint64_t at_ns,
                                   struct weft_graph_state *state, struct weft_err *err)
{
    const struct plain_row *row = &((struct plain_graph *)graph)->rows[thread_id];
    (void)err;
    *state = (struct weft_graph_state){ .end_ns = UINT64_MAX,
                                        .cpu = -1,
                                        .waker_thread_id = WEFT_ID_NONE };
    for (size_t i = 0; i < row->n; i++) {
        if (row->at_ns[i] >= at_ns) {
            state->end_ns = row->at_ns[i];
            break;
        }
        state->start_ns = row->at_ns[i];
        state->state = i + 1 < row->n ? plain_state(row->state[i]) : WEFT_PATH_UNKNOWN;
        state->reason = i + 1 < row->n ? plain_reason(row->state[i]) : WEFT_PATH_NO_REASON;
    }
    return WEFT_OK;
}

/* The last edge given that arrives when the wait ends. */
static enum weft_code plain_cause(struct weft_graph *graph, uint32_t thread_id,
                                  struct weft_graph_state *state, struct weft_graph_edge *edge,
                                  struct weft_err *err)
{
    const struct plain_graph *plain = (const struct plain_graph *)graph;
    (void)err;
    for (size_t i = 0; i < plain->n_edges; i++) {
        const struct plain_edge *from = &plain->edges[i];
        if (from->to != thread_id || from->to_ns != state->end_ns || from->from == thread_id)
            continue;
        state->reason = from->is_packet ? WEFT_PATH_NETWORK : WEFT_PATH_THREAD;
        *edge =
            (struct weft_graph_edge){ .from_ns = from->from_ns,
                                      .to_ns = from->to_ns,
                                      .from_thread_id = from->from,
                                      .kind = from->is_packet ? WEFT_PATH_PACKET : WEFT_PATH_WAKEUP,
                                      .is_task = from->is_task };
    }
    return WEFT_OK;
}

static enum weft_code plain_arrival(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                                    uint64_t to_ns, struct weft_graph_edge *edge,
                                    struct weft_err *err)
{
    const struct plain_graph *plain = (const struct plain_graph *)graph;
    for (size_t i = 0; i < plain->n_edges; i++) {
        const struct plain_edge *from = &plain->edges[i];
        struct weft_graph_state state;
        if (from->to != thread_id || from->to_ns < from_ns || from->to_ns > to_ns ||
            (weft_graph_has_source(edge) && edge->to_ns <= from->to_ns))
            continue;
        if (plain_before(graph, thread_id, from->to_ns, &state, err) == WEFT_OK &&
            state.state == WEFT_PATH_BLOCKED)
            continue;
        *edge =
            (struct weft_graph_edge){ .from_ns = from->from_ns,
                                      .to_ns = from->to_ns,
                                      .from_thread_id = from->from,
                                      .kind = from->is_packet ? WEFT_PATH_PACKET : WEFT_PATH_FORK };
    }
    return WEFT_OK;
}

static const struct weft_graph_ops plain_ops = { plain_before, plain_cause, plain_arrival, NULL,
                                                 NULL };

static void plain_read_rows(struct plain_graph *plain, const char *at)
{
    struct plain_row *row = plain->rows;
    while (*at) {
        char *end;
        const uint64_t number = strtoull(at, &end, 10);
        if (end == at) {
            if (isalpha((unsigned char)*at) || *at == '.')
                row->state[row->n - 1] = *at;
            at++;
        } else if (*end == ':') {
            row = &plain->rows[number];
            at = end + 1;
        } else {
            row->at_ns[row->n++] = number;
            at = end;
        }
    }
}

static void plain_read_edges(struct plain_graph *plain, const char *at)
{
    uint64_t numbers[4];
    size_t n = 0;
    while (*at) {
        char *end;
        const uint64_t number = strtoull(at, &end, 10);
        if (end == at) {
            if (*at == 'n')
                plain->edges[plain->n_edges - 1].is_packet = true;
            if (*at == 't')
                plain->edges[plain->n_edges - 1].is_task = true;
            at++;
            continue;
        }
        numbers[n++] = number;
        at = end;
        if (n == 4) {
            plain->edges[plain->n_edges++] = (struct plain_edge){ .from = (uint32_t)numbers[0],
                                                                  .to = (uint32_t)numbers[2],
                                                                  .from_ns = numbers[1],
                                                                  .to_ns = numbers[3] };
            n = 0;
        }
    }
}

__attribute__((unused)) static void plain_graph_read(struct plain_graph *plain, const char *rows,
                                                     const char *edges)
{
    *plain = (struct plain_graph){ .graph = { .ops = &plain_ops } };
    plain_read_rows(plain, rows);
    plain_read_edges(plain, edges);
}

/* "0R0-2 1R2-4 0N4-6~ | 0@2>1@2 1@4>0@6": segments (~: in flight, ?: not followed), then arrows.
 * Neighbours that differ in nothing shown are one. */
__attribute__((unused)) static void plain_path_text(const struct weft_path_walked *walked,
                                                    char text[PLAIN_TEXT])
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < walked->segments.n && n < PLAIN_TEXT - 100; i++) {
        const struct weft_path_segment *segment = &walked->segments.items[i];
        const uint64_t start_ns = segment->start_ns;
        while (i + 1 < walked->segments.n && segment[1].thread_id == segment->thread_id &&
               plain_letter(&segment[1]) == plain_letter(segment) &&
               segment[1].flags == segment->flags)
            segment = &walked->segments.items[++i];
        n += (size_t)snprintf(text + n, PLAIN_TEXT - n, "%s%u%c%" PRIu64 "-%" PRIu64 "%s%s",
                              n ? " " : "", segment->thread_id, plain_letter(segment), start_ns,
                              segment->end_ns, segment->flags & WEFT_PATH_IN_FLIGHT ? "~" : "",
                              segment->flags & (WEFT_PATH_CYCLE | WEFT_PATH_TOO_DEEP) ? "?" : "");
    }
    for (size_t i = 0; i < walked->arrows.n && n < PLAIN_TEXT - 100; i++) {
        const struct weft_path_arrow *arrow = &walked->arrows.items[i];
        n += (size_t)snprintf(text + n, PLAIN_TEXT - n, "%s%u@%" PRIu64 ">%u@%" PRIu64,
                              i ? " " : " | ", arrow->from_thread_id, arrow->from_ns,
                              arrow->to_thread_id, arrow->to_ns);
    }
}

#endif
