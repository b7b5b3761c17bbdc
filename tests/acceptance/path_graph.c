/* SPDX-License-Identifier: MIT
 *
 * Prints the path through a graph: path_graph ROWS EDGES THREAD FROM TO
 * (tests/support/plain_graph.h has the notation).
 */
#include "plain_graph.h"

int main(int argc, char **argv)
{
    struct plain_graph *plain = calloc(1, sizeof *plain);
    char *text = calloc(1, PLAIN_TEXT);
    struct weft_path_walked walked = { 0 };
    struct weft_err err = { 0 };
    if (argc != 6 || !plain || !text)
        return 2;
    plain_graph_read(plain, argv[1], argv[2]);
    const struct weft_path_walk_opts opts = { .thread_id = (uint32_t)strtoul(argv[3], NULL, 10),
                                              .from_ns = strtoull(argv[4], NULL, 10),
                                              .to_ns = strtoull(argv[5], NULL, 10) };
    if (weft_path_walk(&plain->graph, &opts, &walked, &err) != WEFT_OK)
        return 1;
    plain_path_text(&walked, text);
    puts(text);
    weft_path_walked_fini(&walked);
    free(text);
    free(plain);
    return 0;
}
