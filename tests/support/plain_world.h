/* SPDX-License-Identifier: MIT
 *
 * A graph with stacks: of each thread at each nanosecond, who had the processors, who used a
 * device.
 */
#ifndef WEFT_TESTS_PLAIN_WORLD_H
#define WEFT_TESTS_PLAIN_WORLD_H

#include "analysis/ecct/fill.h"
#include "base/vec.h"
#include "plain_graph.h"

enum { WORLD_LENGTH = 512, WORLD_REQUESTS = 24, WORLD_TEXT = 4096, WORLD_PATHS = 1024 };

struct plain_request {
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
};

struct plain_world {
    struct plain_graph plain;                        /* first: its graph is the first of all */
    const char *stacks[PLAIN_THREADS][WORLD_LENGTH]; /* "a;b", NULL: in none */
    uint32_t occupants[WORLD_LENGTH];                /* WEFT_ID_NONE: nobody */
    struct plain_request requests[WORLD_REQUESTS];   /* by from_ns */
    size_t n_requests;
    uint32_t idle_thread_id;
};

/* ---- as a graph ------------------------------------------------------------------------------ */

static enum weft_code world_occupants(struct weft_graph *graph, uint32_t thread_id, int32_t cpu,
                                      uint64_t from_ns, uint64_t to_ns, weft_graph_see_fn see,
                                      void *context, struct weft_err *err)
{
    const struct plain_world *world = (const struct plain_world *)graph;
    enum weft_code code = WEFT_OK;
    (void)cpu;
    for (uint64_t at = from_ns, end; at < to_ns && code == WEFT_OK; at = end) {
        for (end = at + 1; end < to_ns && world->occupants[end] == world->occupants[at];)
            end++;
        if (world->occupants[at] != WEFT_ID_NONE && world->occupants[at] != thread_id)
            code = see(context, world->occupants[at], at, end, err);
    }
    return code;
}

static enum weft_code world_sharers(struct weft_graph *graph, uint32_t thread_id, uint64_t from_ns,
                                    uint64_t to_ns, weft_graph_see_fn see, void *context,
                                    struct weft_err *err)
{
    const struct plain_world *world = (const struct plain_world *)graph;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < world->n_requests && code == WEFT_OK; i++) {
        const struct plain_request *request = &world->requests[i];
        const uint64_t start_ns = request->from_ns > from_ns ? request->from_ns : from_ns;
        const uint64_t end_ns = request->to_ns < to_ns ? request->to_ns : to_ns;
        if (request->thread_id != thread_id && start_ns < end_ns)
            code = see(context, request->thread_id, start_ns, end_ns, err);
    }
    return code;
}

static const struct weft_graph_ops world_ops = { plain_before, plain_cause, plain_arrival,
                                                 world_occupants, world_sharers };

/* ---- as stacks ------------------------------------------------------------------------------- */

static enum weft_code world_go_down(struct weft_ecct_tree *tree, const char *stack,
                                    struct weft_ecct_spot *spot, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    while (stack && *stack && code == WEFT_OK) {
        const size_t n = strcspn(stack, ";");
        uint32_t frame;
        code = weft_ecct_tree_frame(tree, (struct weft_str){ stack, n }, (struct weft_str){ 0 },
                                    WEFT_FRAME_FUNCTION, &frame, err);
        if (code == WEFT_OK)
            code = weft_ecct_tree_node(tree, spot->node, frame, spot->confidence, &spot->node, err);
        stack += n + (stack[n] == ';');
    }
    return code;
}

static enum weft_code world_running(void *stacks, struct weft_ecct_tree *tree,
                                    const struct weft_ecct_interval *interval,
                                    const struct weft_ecct_spot *below,
                                    struct weft_ecct_parts *parts, bool *is_share,
                                    struct weft_err *err)
{
    const struct plain_world *world = stacks;
    enum weft_code code = WEFT_OK;
    *is_share = false;
    for (uint64_t at = interval->from_ns; at < interval->to_ns && code == WEFT_OK; at++) {
        struct weft_ecct_spot spot = *below;
        const char *stack = world->stacks[interval->thread_id][at];
        code = world_go_down(tree, stack, &spot, err);
        struct weft_ecct_part *part = stack ? WEFT_VEC_PUSH(parts) : NULL;
        if (part)
            *part = (struct weft_ecct_part){ spot, 1 };
    }
    return code;
}

static enum weft_code world_waiting(void *stacks, struct weft_ecct_tree *tree, uint32_t thread_id,
                                    uint64_t at_ns, struct weft_ecct_spot *spot,
                                    struct weft_err *err)
{
    const struct plain_world *world = stacks;
    return world_go_down(tree, world->stacks[thread_id][at_ns], spot, err);
}

static struct weft_frame world_thread(void *stacks, uint32_t thread_id, uint32_t first)
{
    static const char names[PLAIN_THREADS][5] = {
        "T0",  "T1",  "T2",  "T3",  "T4",  "T5",  "T6",  "T7",  "T8",  "T9",  "T10",
        "T11", "T12", "T13", "T14", "T15", "T16", "T17", "T18", "T19", "T20", "T21",
        "T22", "T23", "T24", "T25", "T26", "T27", "T28", "T29", "T30", "T31",
    };
    (void)first;
    return (struct weft_frame){ .name = thread_id == ((struct plain_world *)stacks)->idle_thread_id
                                            ? (struct weft_str){ 0 }
                                            : weft_str_of(names[thread_id]),
                                .kind = WEFT_FRAME_THREAD };
}

static const struct weft_lock_object *world_lock(void *stacks, struct weft_graph *graph,
                                                 uint32_t lock)
{
    static const struct weft_lock_object object = { .name = { "lock", 4 },
                                                    .kind = WEFT_LOCK_MUTEX };
    (void)stacks;
    (void)graph;
    (void)lock;
    return &object;
}

static const struct weft_ecct_ops world_stacks = { world_running, world_waiting, world_thread,
                                                   world_lock };

/* ---- trees as text --------------------------------------------------------------------------- */

/* A path from the root, as "a;b;T1;c", and the time spent in it. */
struct plain_spent {
    char text[WORLD_TEXT / 8];
    uint64_t ns;
};

struct plain_spents {
    struct plain_spent items[WORLD_PATHS];
    size_t n;
};

static void spents_add(struct plain_spents *spents, const char *text, uint64_t ns)
{
    size_t i = 0;
    while (i < spents->n && strcmp(spents->items[i].text, text) != 0)
        i++;
    if (i == WORLD_PATHS)
        abort();
    if (i == spents->n) {
        (void)snprintf(spents->items[i].text, sizeof spents->items[i].text, "%s", text);
        spents->items[spents->n++].ns = 0;
    }
    spents->items[i].ns += ns;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct plain_spent *)a)->text, ((const struct plain_spent *)b)->text);
}

static void spents_path(const struct weft_ecct_tree *tree, uint32_t node, char *text)
{
    const struct weft_ecct_node *from = &weft_ecct_tree_nodes(tree)[node];
    if (node == 0)
        return;
    spents_path(tree, from->parent, text);
    const struct weft_frame *frame = &weft_ecct_tree_frames(tree)[from->frame];
    const size_t n = strlen(text);
    (void)snprintf(text + n, WORLD_TEXT / 8 - n, "%s%.*s", n ? ";" : "", (int)frame->name.n_bytes,
                   frame->name.bytes);
}

/* What an execution came to, sorted. */
__attribute__((unused)) static void spents_read(struct plain_spents *spents,
                                                const struct weft_ecct_tree *tree,
                                                const struct weft_ecct_filled *filled)
{
    spents->n = 0;
    for (size_t i = 0; i < filled->n_entries; i++) {
        char text[WORLD_TEXT / 8] = "";
        spents_path(tree, filled->entries[i].node, text);
        spents_add(spents, text, filled->entries[i].ns);
    }
    qsort(spents->items, spents->n, sizeof *spents->items, by_path);
}

/* "A=4 A;B=1" */
__attribute__((unused)) static void spents_text(const struct plain_spents *spents,
                                                char text[WORLD_TEXT])
{
    size_t n = 0;
    text[0] = 0;
    for (size_t i = 0; i < spents->n && n < WORLD_TEXT; i++)
        n += (size_t)snprintf(text + n, WORLD_TEXT - n, "%s%s=%" PRIu64, n ? " " : "",
                              spents->items[i].text, spents->items[i].ns);
}

#endif
