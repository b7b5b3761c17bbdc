/* SPDX-License-Identifier: MIT
 *
 * Slow executions beside usual ones, each of which spends time on one path, made by hand; and the
 * problems that are found in them, as one line.
 */
#ifndef WEFT_TESTS_PROBLEMS_SCENE_H
#define WEFT_TESTS_PROBLEMS_SCENE_H

#include "analysis/findings/rank.h"
#include "findings_scene.h"
#include "schema/locks.h"
#include "schema/result.h"

#include <stdio.h>

/* What the threads of a path are waited for with, a letter each. */
static void set_waits(struct scene *scene, uint32_t node, const char *letters)
{
    static const char known[] = "mrcbjfps"; /* in the order of enum weft_lock_kind */
    size_t n = 0;
    for (uint32_t at = node; at; at = scene->nodes[at].parent)
        n += scene->frames[at].kind == WEFT_FRAME_THREAD;
    for (uint32_t at = node; at; at = scene->nodes[at].parent) {
        if (scene->frames[at].kind != WEFT_FRAME_THREAD)
            continue;
        const char *found = letters[--n] == '-' ? NULL : strchr(known, letters[n]);
        scene->frames[at].waited_for = found ? (uint8_t)(found - known + 1) : 0;
    }
}

/* A path, and what its threads are waited for with. */
struct way {
    const char *letters, *names[14];
};

#define WAY(letters, ...) (&(const struct way){ letters, { __VA_ARGS__, NULL } })

static uint32_t add_way(struct scene *scene, const struct way *way)
{
    const uint32_t node = path(scene, way->names);
    set_waits(scene, node, way->letters);
    return node;
}

/* Executions that spend so long on a path. */
struct some {
    unsigned n;
    const struct way *way;
    double ns;
};

enum { MOST_SOME = 5 }; /* ways in which executions are usual, or slow */

/* Executions that are compared: what all do takes `base_ns`. */
struct beside {
    const char *thread, *type;   /* NULL: "worker", "request" */
    double base_ns;              /* 0: 100 */
    const struct way *slow_base; /* what slow ones do instead; NULL: the same */
    struct some usual[MOST_SOME], slow[MOST_SOME];
    bool is_detected; /* slow ones are those that are slow; else both groups were given */
};

struct compared {
    struct scene scene;
    uint32_t usual[MOST], slow[MOST];
    struct weft_finding finding;
};

static size_t add_some(struct scene *scene, const struct beside *beside, const struct some *some,
                       uint32_t *items)
{
    size_t n_items = 0;
    const uint32_t base = some == beside->slow && beside->slow_base
                              ? add_way(scene, beside->slow_base)
                              : PATH(scene, "handle", ":running");
    for (; some->n > 0; some++) {
        const uint32_t node = add_way(scene, some->way);
        for (unsigned i = 0; i < some->n; i++) {
            items[n_items++] = (uint32_t)scene->matrix.n_items;
            add_item(scene, beside->thread ? beside->thread : "worker", node, (uint64_t)some->ns,
                     base, beside->base_ns > 0 ? (uint64_t)beside->base_ns : 100);
        }
    }
    return n_items;
}

static double mean_at(const struct scene *scene, const uint32_t *items, size_t n, uint32_t node)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (uint64_t at = scene->starts[items[i]]; at < scene->starts[items[i] + 1]; at++)
            sum += scene->node[at] == node ? (double)scene->ns[at] : 0;
    return n ? sum / (double)n : 0;
}

static void compare(struct compared *it, const struct beside *beside)
{
    struct scene *scene = &it->scene;
    struct weft_compare_table *table = &scene->table;
    begin(scene, beside->type ? beside->type : "request");
    table->n_a = add_some(scene, beside, beside->usual, it->usual);
    table->n_b = add_some(scene, beside, beside->slow, it->slow);
    table->items_a = it->usual;
    table->items_b = it->slow;
    for (uint32_t node = 1; node < scene->matrix.n_nodes; node++) {
        const double usual = mean_at(scene, it->usual, table->n_a, node);
        const double slow = mean_at(scene, it->slow, table->n_b, node);
        if (usual > 0 || slow > 0)
            scene->rows[table->n_nodes++] = (struct weft_compare_node){
                .node = node, .mean_a_ns = usual, .mean_b_ns = slow, .difference_ns = slow - usual
            };
    }
    it->finding = (struct weft_finding){ .type = scene->facts.type,
                                         .matrix = &scene->matrix,
                                         .table = table,
                                         .is_versus = !beside->is_detected,
                                         .is_significant = true };
}

/* Of findings, which they borrow; NULL: it failed. */
static struct weft_problems_table *problems_of(struct weft_finding *findings, size_t n)
{
    struct weft_problems_table *table = NULL;
    struct weft_err err = { 0 };
    const struct weft_findings_table all = { .rows = findings, .n_rows = n };
    return weft_problems_run(&all, &table, &err) == WEFT_OK ? table : NULL;
}

/* "lock_held_across_io; fsync small": what is found, which is freed. */
static const char *said_of(struct weft_problems_table *table)
{
    static char said[200];
    said[0] = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const size_t n = strlen(said);
        (void)snprintf(said + n, sizeof said - n, "%s%s%s", i ? "; " : "",
                       weft_problem_kind_name(table->rows[i].kind),
                       table->rows[i].is_small ? " small" : "");
    }
    weft_result_free(table);
    return said;
}

/* What is found where some are slow beside others. */
__attribute__((unused)) static const char *found_in(const struct beside *beside)
{
    static struct compared it;
    compare(&it, beside);
    return said_of(problems_of(&it.finding, 1));
}

#define FOUND(wanted, ...)                                                                         \
    do {                                                                                           \
        const char *found = found_in(&(const struct beside){ __VA_ARGS__ });                       \
        tap_ok(strcmp(found, wanted) == 0, "%s: %s", wanted, found);                               \
    } while (0)

#endif
