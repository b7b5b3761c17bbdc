/* SPDX-License-Identifier: MIT
 *
 * Executions of a type, their matrix and what was compared, made by hand, as facts to be judged.
 */
#ifndef WEFT_TESTS_FINDINGS_SCENE_H
#define WEFT_TESTS_FINDINGS_SCENE_H

#include "analysis/findings/facts.h"
#include "analysis/findings/verdicts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64, VALUES = 512 };

#define US 1e3
#define MS 1e6

/* Everything that a facts borrows. */
struct scene {
    struct weft_frame frames[MOST];
    struct weft_ecct_node nodes[MOST];
    struct weft_execution_item items[MOST];
    uint64_t starts[MOST + 1], ns[VALUES];
    uint32_t node[VALUES];
    struct weft_compare_node rows[MOST];
    struct weft_compare_cause causes[MOST];
    struct weft_compare_metric duration;
    struct weft_ecct_matrix matrix;
    struct weft_compare_table table;
    struct weft_facts facts;
    struct weft_relations relations;
};

static void begin(struct scene *scene, const char *type)
{
    memset(scene, 0, sizeof *scene);
    scene->nodes[0].parent = WEFT_ID_NONE;
    scene->matrix = (struct weft_ecct_matrix){ .frames = scene->frames,
                                               .nodes = scene->nodes,
                                               .n_nodes = 1,
                                               .items = scene->items,
                                               .starts = scene->starts,
                                               .node = scene->node,
                                               .ns = scene->ns };
    scene->table = (struct weft_compare_table){
        .nodes = scene->rows, .causes = scene->causes, .metrics = &scene->duration, .n_metrics = 1
    };
    scene->facts = (struct weft_facts){ .type = weft_str_of(type),
                                        .matrix = &scene->matrix,
                                        .table = &scene->table,
                                        .is_proposed = true,
                                        .trace_ns = { 1e10, true } };
}

static uint32_t child(struct scene *scene, uint32_t parent, uint8_t kind, const char *text)
{
    const struct weft_str name = weft_str_of(text);
    for (uint32_t i = 1; i < scene->matrix.n_nodes; i++)
        if (scene->nodes[i].parent == parent && scene->frames[i].kind == kind &&
            weft_str_equal(scene->frames[i].name, name))
            return i;
    const uint32_t node = (uint32_t)scene->matrix.n_nodes++;
    scene->frames[node] = (struct weft_frame){ .name = name, .kind = kind };
    weft_frame_read_state(&scene->frames[node]);
    scene->nodes[node] = (struct weft_ecct_node){ .parent = parent, .frame = node };
    scene->matrix.n_frames = scene->matrix.n_nodes;
    return node;
}

/* A path of frames, NULL at its end: a function, "~function that its callers wait in", "module|its
 * function", or "-lock", ":state", "@thread", "!thread of another program", "=thread of the same
 * process", "<thread of a child process". */
static uint32_t path(struct scene *scene, const char *const *names)
{
    uint32_t node = 0;
    for (; *names; names++) {
        const char first = **names;
        const uint8_t kind = first == '-'            ? WEFT_FRAME_LOCK
                             : first == ':'          ? WEFT_FRAME_STATE
                             : strchr("@!=<", first) ? WEFT_FRAME_THREAD
                                                     : WEFT_FRAME_FUNCTION;
        const char *end = kind == WEFT_FRAME_FUNCTION ? strchr(*names, '|') : NULL;
        const bool is_marked = kind != WEFT_FRAME_FUNCTION || first == '~';
        node = child(scene, node, kind, end ? end + 1 : *names + is_marked);
        if (end)
            scene->frames[node].module = (struct weft_str){ *names, (size_t)(end - *names) };
        else if (first == '!')
            scene->frames[node].module = WEFT_STR("other");
        else if (strchr("=<~", first))
            scene->frames[node].flags = first == '='   ? WEFT_FRAME_OF_PROCESS
                                        : first == '<' ? WEFT_FRAME_OF_CHILD
                                                       : WEFT_FRAME_WRAPS_WAITS;
    }
    return node;
}

#define PATH(scene, ...) path(scene, (const char *const[]){ __VA_ARGS__, NULL })

/* An execution on a thread, all of whose time is at two nodes. */
__attribute__((unused)) static void add_item(struct scene *scene, const char *thread, uint32_t node,
                                             uint64_t ns, uint32_t other, uint64_t other_ns)
{
    const size_t i = scene->matrix.n_items++;
    const uint64_t at = scene->starts[i];
    scene->items[i] =
        (struct weft_execution_item){ .thread = weft_str_of(thread), .end_ns = ns + other_ns };
    scene->node[at] = node;
    scene->ns[at] = ns;
    scene->node[at + 1] = other;
    scene->ns[at + 1] = other_ns;
    scene->starts[i + 1] = at + 2;
}

/* How long usual executions are at a node. */
__attribute__((unused)) static void set_usual(struct scene *scene, uint32_t node, double usual_ns,
                                              double slow_ns)
{
    struct weft_compare_node *row = &scene->rows[scene->table.n_nodes++];
    *row = (struct weft_compare_node){ .node = node,
                                       .n_a = usual_ns > 0 ? 1000 : 0,
                                       .n_b = 20,
                                       .mean_a_ns = usual_ns,
                                       .mean_b_ns = slow_ns,
                                       .difference_ns = slow_ns - usual_ns,
                                       .interval = { .low_ns = 1, .high_ns = 2 * slow_ns },
                                       .is_sure = true };
    scene->duration.mean_a += usual_ns;
}

/* Of `n` executions of `n_all`: `n_b` are slow. */
__attribute__((unused)) static struct weft_compare_cause *
set_cause(struct scene *scene, uint32_t node, uint32_t n, size_t n_all, double duration_ns)
{
    const double usual_ns = scene->duration.mean_a;
    scene->causes[0] = (struct weft_compare_cause){ .node = node,
                                                    .n_items = n,
                                                    .duration_ns = duration_ns,
                                                    .difference_ns = duration_ns - usual_ns,
                                                    .p = 0.001 };
    scene->table.n_causes = 1;
    scene->table.n_a = n_all - n;
    scene->table.n_b = n;
    scene->matrix.n_items = n_all;
    scene->facts.tail = (struct weft_slow_tail){ .is_found = true,
                                                 .is_worthy = true,
                                                 .n_fast = n_all - n,
                                                 .n_slow = n,
                                                 .fast_median_ns = usual_ns,
                                                 .slow_median_ns = duration_ns };
    scene->facts.all_ns = (double)(n_all - n) * usual_ns + n * duration_ns;
    return &scene->causes[0];
}

#endif
