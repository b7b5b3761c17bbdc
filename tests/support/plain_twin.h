/* SPDX-License-Identifier: MIT
 *
 * A twin of the walk through a graph: fills one element for each nanosecond of the path; and random
 * graphs to walk through.
 */
#ifndef WEFT_TESTS_PLAIN_TWIN_H
#define WEFT_TESTS_PLAIN_TWIN_H

#include "plain_graph.h"

#include <stddef.h>

enum { LENGTH = 400, TWIN_LINKS = 4096 };

/* ---- the twin -------------------------------------------------------------------------------- */

/* On whose behalf the path is on a thread. */
struct link {
    uint32_t thread_id;
    int parent; /* link of the thread that waits; -1: the thread asked for */
    uint64_t wait_ns;
    bool is_task;
};

/* What the path is at one nanosecond. */
struct instant {
    uint32_t thread_id;
    char letter; /* of the row's state; '~' in flight, '?' not followed */
    char cause;  /* of what is in flight, or not followed: N packet, W thread, K something to do */
    int link;
    unsigned piece;   /* number of what was found at once */
    uint64_t wait_ns; /* where the state began */
};

struct twin {
    const struct plain_graph *plain;
    struct instant path[LENGTH];
    struct link links[TWIN_LINKS];
    int n_links;
    unsigned n_pieces;
    uint64_t wait_ns; /* of what is put next */
    char cause;
    bool is_on_stack[PLAIN_THREADS];
    uint64_t hop_ns; /* where it came to a task's poster last */
};

static void put(struct twin *twin, uint64_t from_ns, uint64_t to_ns, int link, char letter)
{
    twin->n_pieces++;
    for (uint64_t at = from_ns; at < to_ns; at++)
        twin->path[at] = (struct instant){
            twin->links[link].thread_id, letter, twin->cause, link, twin->n_pieces, twin->wait_ns
        };
}

static int add_link(struct twin *twin, struct link link)
{
    if (twin->n_links == TWIN_LINKS)
        abort();
    twin->links[twin->n_links] = link;
    return twin->n_links++;
}

static char letter_before(const struct plain_row *row, uint64_t at_ns, uint64_t *start_ns,
                          uint64_t *end_ns)
{
    *start_ns = 0;
    for (size_t i = 0; i + 1 < row->n; i++)
        if (row->at_ns[i] < at_ns && at_ns <= row->at_ns[i + 1]) {
            *start_ns = row->at_ns[i];
            *end_ns = row->at_ns[i + 1];
            return row->state[i];
        }
    if (row->n && at_ns > row->at_ns[row->n - 1])
        *start_ns = row->at_ns[row->n - 1];
    *end_ns = UINT64_MAX;
    return '.';
}

static bool waits(char letter)
{
    return letter && strchr("BTND", letter);
}

static void fill(struct twin *twin, int link, uint64_t low_ns, uint64_t high_ns);

/* Goes over an edge that arrived at `at_ns` and ended what began at start_ns. */
static void cross(struct twin *twin, int link, const struct plain_edge *edge, uint64_t start_ns,
                  uint64_t at_ns)
{
    const uint64_t from_ns = edge->from_ns < at_ns ? edge->from_ns : at_ns;
    if (from_ns <= start_ns) {
        put(twin, start_ns, at_ns, link, '~');
        return;
    }
    put(twin, from_ns, at_ns, link, '~');
    const struct link made = { edge->from, link, twin->wait_ns, false };
    fill(twin, add_link(twin, made), start_ns, from_ns);
}

static const struct plain_edge *edge_to(const struct twin *twin, uint32_t thread_id, uint64_t at_ns)
{
    const struct plain_edge *found = NULL;
    for (size_t i = 0; i < twin->plain->n_edges; i++) {
        const struct plain_edge *edge = &twin->plain->edges[i];
        if (edge->to == thread_id && edge->from != thread_id && edge->to_ns == at_ns)
            found = edge;
    }
    return found;
}

static const struct plain_edge *first_edge(const struct twin *twin, uint32_t thread_id,
                                           uint64_t low_ns, uint64_t high_ns)
{
    const struct plain_edge *found = NULL;
    for (size_t i = 0; i < twin->plain->n_edges; i++) {
        const struct plain_edge *edge = &twin->plain->edges[i];
        uint64_t start_ns, end_ns;
        if (edge->to == thread_id && edge->to_ns >= low_ns && edge->to_ns <= high_ns &&
            !waits(letter_before(&twin->plain->rows[thread_id], edge->to_ns, &start_ns, &end_ns)) &&
            (!found || edge->to_ns < found->to_ns))
            found = edge;
    }
    return found;
}

static void fill(struct twin *twin, int link, uint64_t low_ns, uint64_t high_ns)
{
    uint32_t thread_id = twin->links[link].thread_id;
    twin->is_on_stack[thread_id] = true;
    for (uint64_t at_ns = high_ns; at_ns > low_ns;) {
        uint64_t start_ns, end_ns;
        const char letter = letter_before(&twin->plain->rows[thread_id], at_ns, &start_ns, &end_ns);
        const bool is_begin = (letter == '.' || letter == 'U') && start_ns <= low_ns;
        const uint64_t state_ns = start_ns;
        start_ns = start_ns > low_ns ? start_ns : low_ns;
        const struct plain_edge *edge = waits(letter) ? edge_to(twin, thread_id, end_ns)
                                        : is_begin    ? first_edge(twin, thread_id, at_ns, high_ns)
                                                      : NULL;
        const bool is_task = edge && edge->is_task && !is_begin;
        twin->wait_ns = waits(letter) ? state_ns : start_ns;
        twin->cause = !edge ? 0 : edge->is_packet ? 'N' : is_begin ? 'K' : 'W';
        const bool is_ring = is_task && edge->from_ns >= at_ns && twin->hop_ns == at_ns;
        const bool is_taken =
            is_ring || (edge && twin->is_on_stack[edge->from] &&
                        (is_begin || edge->from_ns > (is_task ? low_ns : start_ns)));
        if (is_task && !is_taken) { /* who posted it takes the place of the thread */
            const uint64_t from_ns = edge->from_ns < at_ns ? edge->from_ns : at_ns;
            high_ns = from_ns > low_ns ? from_ns : low_ns;
            put(twin, high_ns, at_ns, link, '~');
            at_ns = high_ns;
            if (at_ns > low_ns) {
                twin->is_on_stack[thread_id] = false;
                thread_id = edge->from;
                struct link made = twin->links[link];
                made.thread_id = thread_id;
                made.is_task = true;
                link = add_link(twin, made);
                twin->is_on_stack[thread_id] = true;
                twin->hop_ns = at_ns;
            }
            continue;
        }
        if (edge && !is_taken)
            cross(twin, link, edge, start_ns, is_begin ? edge->to_ns : at_ns);
        else
            put(twin, start_ns, at_ns, link,
                is_taken && !is_begin ? '?'
                : letter == '.'       ? 'U'
                                      : letter);
        at_ns = start_ns;
    }
    twin->is_on_stack[thread_id] = false;
}

static void twin_fill(struct twin *twin, const struct plain_graph *plain, uint32_t thread_id,
                      uint64_t from_ns, uint64_t to_ns)
{
    *twin = (struct twin){ .plain = plain, .hop_ns = UINT64_MAX };
    fill(twin, add_link(twin, (struct link){ thread_id, -1, from_ns, false }), from_ns, to_ns);
}

/* ---- random graphs --------------------------------------------------------------------------- */

static void random_row(uint64_t *state, struct plain_row *row)
{
    static const char letters[] = "RRRBBBPTIUD";
    uint64_t at_ns = tap_random(state) % 3 ? 0 : tap_random(state) % (LENGTH / 2);
    *row = (struct plain_row){ .n = 1, .at_ns = { at_ns } };
    while (at_ns < LENGTH && row->n < 40) {
        at_ns += 1 + tap_random(state) % 40;
        row->state[row->n - 1] = letters[tap_random(state) % (sizeof letters - 1)];
        row->at_ns[row->n++] = at_ns;
    }
}

/* Most edges end waits, at their ends; some end anywhere, some were sent earlier. */
static void random_edge(uint64_t *state, struct plain_graph *plain, uint32_t n_threads)
{
    const uint32_t to = (uint32_t)(tap_random(state) % n_threads);
    const struct plain_row *row = &plain->rows[to];
    const size_t vertex = tap_random(state) % row->n;
    const uint64_t to_ns = row->at_ns[vertex];
    const uint64_t lag_ns = tap_random(state) % 4 ? 0 : tap_random(state) % 30;
    plain->edges[plain->n_edges++] =
        (struct plain_edge){ .from = (uint32_t)(tap_random(state) % n_threads),
                             .to = to,
                             .from_ns = to_ns > lag_ns ? to_ns - lag_ns : 0,
                             .to_ns = to_ns,
                             .is_packet = tap_random(state) % 3 == 0,
                             .is_task = tap_random(state) % 4 == 0 };
}

static void random_graph(uint64_t *state, struct plain_graph *plain, uint32_t n_threads)
{
    *plain = (struct plain_graph){ .graph = { .ops = &plain_ops } };
    for (uint32_t i = 0; i < n_threads; i++)
        random_row(state, &plain->rows[i]);
    const size_t n_edges = tap_random(state) % PLAIN_EDGES;
    for (size_t i = 0; i < n_edges; i++)
        random_edge(state, plain, n_threads);
}

#endif
