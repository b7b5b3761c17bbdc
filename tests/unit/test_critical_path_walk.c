/* SPDX-License-Identifier: MIT
 *
 * Paths through small graphs. The graphs and paths named "known" are those of public descriptions
 * of the algorithm; times and edges alone.
 */
#include "plain_graph.h"
#include "schema/path.h"

struct path_case {
    const char *name;
    const char *rows, *edges;
    uint32_t thread_id;
    uint64_t from_ns, to_ns;
    const char *path;
};

static const struct path_case cases[] = {
    { "known: one thread that runs", "0: 0 R 1", "", 0, 0, 1, "0R0-1" },
    { "known: woken by its own timer", "0: 0 R 1 R 2 T 3 R 4", "0@1>0@3", 0, 0, 4,
      "0R0-2 0T2-3 0R3-4" },
    { "known: nothing tells who woke it", "0: 0 R 2 B 4 R 6", "", 0, 0, 6, "0R0-2 0B2-4 0R4-6" },
    { "known: of the waker nothing is known", "0: 0 R 2 B 4 R 6 / 1: 3", "1@3>0@4n", 0, 0, 6,
      "0R0-2 1U2-3 0N3-4~ 0R4-6 | 0@2>1@2 1@3>0@4" },
    { "known: the waker is older than the wait", "0: 0 R 2 R 4 B 6 R 8 / 1: 3 R 6",
      "0@2>1@3 1@6>0@6", 0, 0, 8, "0R0-4 1R4-6 0R6-8 | 0@4>1@4 1@6>0@6" },
    { "known: sent before the wait began", "0: 0 R 3 B 6 R 9 / 1: 0 R 2 R 5", "1@2>0@6", 0, 0, 9,
      "0R0-3 0W3-6~ 0R6-9 | 1@2>0@6" },
    { "known: a join", "0: 0 R 3 B 6 R 9 / 1: 0 R 6 R 9", "1@6>0@6", 0, 0, 9,
      "0R0-3 1R3-6 0R6-9 | 0@3>1@3 1@6>0@6" },
    { "known: each woke the other", "0: 0 R 1 R 2 R 3 B 4 R 5 / 1: 0 R 1 B 2 R 3 R 4 R 5",
      "0@2>1@2 1@4>0@4", 0, 0, 5, "0R0-3 1R3-4 0R4-5 | 0@3>1@3 1@4>0@4" },
    { "known: two waits, one after the other",
      "0: 0 R 2 R 4 R 6 B 8 B 10 R 12 / 1: 4 R 8 / 2: 2 R 10", "0@2>2@2 0@4>1@4 1@8>0@8 2@10>0@10",
      0, 0, 12, "0R0-6 1R6-8 2R8-10 0R10-12 | 0@6>1@6 0@8>2@8 1@8>0@8 2@10>0@10" },
    { "known: two waits, interleaved", "0: 0 R 2 R 4 R 6 B 8 B 10 R 12 / 1: 2 R 8 / 2: 4 R 10",
      "0@2>1@2 0@4>2@4 1@8>0@8 2@10>0@10", 0, 0, 12,
      "0R0-6 1R6-8 2R8-10 0R10-12 | 0@6>1@6 0@8>2@8 1@8>0@8 2@10>0@10" },
    { "known: waits within waits",
      "0: 0 R 1 B 6 R 7 / 1: 1 R 2 B 5 R 6 / 2: 2 R 3 B 4 R 5 / 3: 3 R 4",
      "0@1>1@1 1@2>2@2 2@3>3@3 3@4>2@4 2@5>1@5 1@6>0@6", 0, 0, 7,
      "0R0-1 1R1-2 2R2-3 3R3-4 2R4-5 1R5-6 0R6-7 | "
      "0@1>1@1 1@2>2@2 2@3>3@3 3@4>2@4 2@5>1@5 1@6>0@6" },
    { "known: threads that only messages lead to",
      "0: 0 R 1 B 11 R 12 / 1: 3 R 4 R 5 / 2: 6 R 7 R 8 / 3: 9 R 10 R 11",
      "1@4>2@7n 2@8>3@10n 3@11>0@11", 0, 0, 12,
      "0R0-1 1U1-3 1R3-4 2N4-7~ 2R7-8 3N8-10~ 3R10-11 0R11-12 | "
      "0@1>3@1 2@1>1@1 3@1>2@1 1@4>2@7 2@8>3@10 3@11>0@11" },
    /* A 0, B 2, C 10, D 12 on thread 1; E 0, F 2, G 4, H 8, I 10, J 12 on 2; K 0, L 4, M 8, N 12
     * on 3: the path A, B, F, G, L, M, H, I, C, D. */
    { "known: figure 1 of TraceCompare",
      "1: 0 R 2 B 10 R 12 / 2: 0 B 2 R 4 B 8 R 10 B 12 / "
      "3: 0 B 4 R 8 B 12",
      "1@2>2@2 2@4>3@4 3@8>2@8 2@10>1@10", 1, 0, 12,
      "1R0-2 2R2-4 3R4-8 2R8-10 1R10-12 | 1@2>2@2 2@4>3@4 3@8>2@8 2@10>1@10" },
    { "cut at both ends", "0: 0 R 3 B 6 R 9 / 1: 0 R 6 R 9", "1@6>0@6", 0, 2, 7,
      "0R2-3 1R3-6 0R6-7 | 0@3>1@3 1@6>0@6" },
    { "begins within a wait", "0: 0 R 3 B 6 R 9 / 1: 0 R 6 R 9", "1@6>0@6", 0, 4, 9,
      "1R4-6 0R6-9 | 0@4>1@4 1@6>0@6" },
    { "ends within a wait", "0: 0 R 3 B 6 R 9 / 1: 0 R 6 R 9", "1@6>0@6", 0, 0, 5,
      "0R0-3 1R3-5 | 0@3>1@3 1@5>0@5" },
    { "empty", "0: 0 R 3", "", 0, 2, 2, "" },
    { "beyond all that is known", "0: 3 R 5", "", 0, 1, 9, "0U1-3 0R3-5 0U5-9" },
    { "a child begins with the fork", "0: 0 R 9 / 1: 4 P 5 R 7", "0@4>1@4", 1, 2, 7,
      "0R2-4 1P4-5 1R5-7 | 1@2>0@2 0@4>1@4" },
    { "both wait for each other", "0: 0 R 2 B 6 R 8 / 1: 0 R 1 B 5 R 7", "1@6>0@6 0@5>1@5", 0, 0, 8,
      "0R0-2 1W2-5? 1R5-6 0R6-8 | 0@2>1@2 1@6>0@6" },
    { "preempted while another waits for it", "1: 0 R 10 B 30 P 32 R 40 / 2: 1 R 15 P 25 R 30",
      "2@30>1@30", 1, 0, 40,
      "1R0-10 2R10-15 2P15-25 2R25-30 1P30-32 1R32-40 | 1@10>2@10 "
      "2@30>1@30" },
};

static void check_case(const struct path_case *one)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    char *text = calloc(1, PLAIN_TEXT);
    struct weft_path_walked walked = { 0 };
    struct weft_err err = { 0 };
    if (!plain || !text)
        abort();
    plain_graph_read(plain, one->rows, one->edges);
    const struct weft_path_walk_opts opts = { .thread_id = one->thread_id,
                                              .from_ns = one->from_ns,
                                              .to_ns = one->to_ns };
    if (tap_ok(weft_path_walk(&plain->graph, &opts, &walked, &err) == WEFT_OK, "%s: is found",
               one->name)) {
        plain_path_text(&walked, text);
        tap_eq_str(text, one->path, "%s", one->name);
    }
    weft_path_walked_fini(&walked);
    free(text);
    free(plain);
}

/* A thread woken by the next one, that by the next ... the last by the first. */
static void check_ring(void)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    struct weft_path_walked walked = { 0 };
    struct weft_err err = { 0 };
    if (!plain)
        abort();
    plain->graph.ops = &plain_ops;
    for (uint32_t i = 0; i < PLAIN_THREADS; i++) {
        plain->rows[i] = (struct plain_row){ .n = 3, .at_ns = { 0, 100 - i, 200 }, .state = "BR" };
        plain->edges[plain->n_edges++] = (struct plain_edge){
            .from = (i + 1) % PLAIN_THREADS, .to = i, .from_ns = 100 - i, .to_ns = 100 - i
        };
    }
    const struct weft_path_walk_opts opts = { .from_ns = 0, .to_ns = 150 };
    tap_ok(weft_path_walk(&plain->graph, &opts, &walked, &err) == WEFT_OK, "a ring ends");
    tap_eq_u64(walked.n_cycles, 1, "a ring is met once");
    tap_eq_u64(walked.segments.n ? walked.segments.items[0].flags & WEFT_PATH_CYCLE : 0,
               WEFT_PATH_CYCLE, "and said");
    weft_path_walked_fini(&walked);
    free(plain);
}

static void check_limit(void)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    struct weft_path_walked walked = { 0 };
    struct weft_err err = { 0 };
    if (!plain)
        abort();
    plain_graph_read(plain, "0: 0 R 1 P 2 R 3 P 4 R 5", "");
    struct weft_path_walk_opts opts = { .to_ns = 5, .max_segments = 4 };
    tap_eq_u64(weft_path_walk(&plain->graph, &opts, &walked, &err), WEFT_E_LIMIT,
               "more segments than memory admits");
    weft_path_walked_fini(&walked);
    opts.max_segments = 5;
    err = (struct weft_err){ 0 };
    tap_eq_u64(weft_path_walk(&plain->graph, &opts, &walked, &err), WEFT_OK, "just enough");
    weft_path_walked_fini(&walked);
    free(plain);
}

/* Waits that all end at one time: seven arrows there, seven back, and one segment. */
static void check_limit_of_arrows(void)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    struct weft_path_walked walked = { 0 };
    struct weft_err err = { 0 };
    if (!plain)
        abort();
    plain_graph_read(plain,
                     "0: 0 B 9 / 1: 0 B 9 / 2: 0 B 9 / 3: 0 B 9 / 4: 0 B 9 / 5: 0 B 9 / "
                     "6: 0 B 9 / 7: 0 R 9",
                     "1@9>0@9 2@9>1@9 3@9>2@9 4@9>3@9 5@9>4@9 6@9>5@9 7@9>6@9");
    struct weft_path_walk_opts opts = { .to_ns = 9, .max_segments = 3 };
    tap_eq_u64(weft_path_walk(&plain->graph, &opts, &walked, &err), WEFT_E_LIMIT,
               "more arrows than memory admits");
    weft_path_walked_fini(&walked);
    opts.max_segments = 4;
    err = (struct weft_err){ 0 };
    tap_eq_u64(weft_path_walk(&plain->graph, &opts, &walked, &err), WEFT_OK,
               "just enough for arrows");
    tap_eq_u64(walked.arrows.n, 14, "arrows there and back");
    tap_eq_u64(walked.segments.n, 1, "of one segment");
    weft_path_walked_fini(&walked);
    free(plain);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_case(&cases[i]);
    check_ring();
    check_limit();
    check_limit_of_arrows();
    return tap_done();
}
