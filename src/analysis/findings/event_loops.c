/* SPDX-License-Identifier: MIT
 *
 * Takes as evidence of a loop what its turns are named after ("server after epoll_wait"), or a wait
 * for descriptors below the function in which the thread is while others wait for it; of the
 * blocking, that slow executions of different threads overlap.
 */
#include "analysis/findings/event_loops.h"

#include "analysis/compare/names.h"
#include "analysis/findings/calls.h"
#include "analysis/findings/kinds.h"
#include "schema/executions.h"

#include <stdlib.h>
#include <string.h>

static const double OVERLAPPING = 0.2; /* of the slow executions that wait for the loop */

/* ---- is it a loop ---------------------------------------------------------------------------- */

static bool is_in(const struct weft_frame_path *path, const struct weft_path_part *part,
                  struct weft_str function)
{
    for (size_t i = part->from; i < part->to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
            weft_str_equal(path->frames[i]->name, function))
            return true;
    return false;
}

/* Is it a type of the holder's loop iterations, which begin where it waits for descriptors? */
static bool is_loop_of(struct weft_str type, const struct weft_frame_path *path,
                       const struct weft_kind *kind)
{
    const struct weft_loop_name loop = weft_loop_name_of(type);
    return weft_loop_is_of_thread(&loop, kind->holder->name) &&
           weft_call_is_of_descriptors(loop.call) &&
           (loop.function.n_bytes == 0 || is_in(path, &kind->holding, loop.function));
}

/* The outermost function of the program in a part; NULL: none is known. */
static const struct weft_frame *start_of(const struct weft_frame_path *path,
                                         const struct weft_path_part *part)
{
    for (size_t i = part->from; i < part->to; i++)
        if (path->frames[i]->kind == WEFT_FRAME_FUNCTION &&
            !weft_path_is_library(path, part->from, i))
            return path->frames[i];
    return NULL;
}

/* Does a thread of that name, but for its number, in that function, wait for descriptors at the
 * node? */
static bool waits_at(const struct weft_ecct_matrix *matrix, uint32_t node, struct weft_str thread,
                     const struct weft_frame *start)
{
    struct weft_frame_path path;
    const struct weft_frame *last = &matrix->frames[matrix->nodes[node].frame];
    if (last->kind != WEFT_FRAME_FUNCTION || !weft_call_is_of_descriptors(last->name))
        return false;
    weft_frame_path_of(matrix, node, &path);
    const size_t from = weft_path_last_thread(&path);
    if (from == 0 ||
        !weft_str_equal(weft_str_stem(path.frames[from - 1]->name), weft_str_stem(thread)))
        return false;
    const struct weft_path_part part = weft_path_part_at(&path, from);
    return is_in(&path, &part, start->name);
}

static bool is_loop(const struct weft_findings_table *findings, const struct weft_problem *problem,
                    const struct weft_frame_path *path, const struct weft_kind *kind)
{
    const struct weft_ecct_matrix *matrix = problem->finding->matrix;
    const struct weft_frame *start = start_of(path, &kind->holding);
    for (size_t i = 0; i < findings->n_rows; i++)
        if (is_loop_of(findings->rows[i].type, path, kind))
            return true;
    for (uint32_t node = 1; start && node < matrix->n_nodes; node++)
        if (waits_at(matrix, node, kind->holder->name, start))
            return true;
    return false;
}

/* ---- do several wait ------------------------------------------------------------------------- */

static int by_start(const void *a_void, const void *b_void, void *items_void)
{
    const struct weft_execution_item *items = items_void, *a = &items[*(const uint32_t *)a_void],
                                     *b = &items[*(const uint32_t *)b_void];
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Executions that begin before one of another thread ends that began earlier; `items` in order. */
static size_t count_overlapping(const struct weft_ecct_matrix *matrix, const uint32_t *items,
                                size_t n)
{
    size_t n_overlapping = 0;
    for (size_t i = 1, last = 0; i < n; i++) { /* `last` ends last of those before */
        const struct weft_execution_item *item = &matrix->items[items[i]],
                                         *before = &matrix->items[items[last]];
        n_overlapping += item->source == before->source && item->tid != before->tid &&
                         item->start_ns < before->end_ns;
        if (item->source != before->source || item->end_ns > before->end_ns)
            last = i;
    }
    return n_overlapping;
}

/* The slow executions that have time at one of the marked nodes; their number. */
static size_t list_items(const struct weft_finding *finding, const bool *is_marked, uint32_t *items)
{
    const struct weft_ecct_matrix *matrix = finding->matrix;
    size_t n = 0;
    for (size_t i = 0; i < finding->table->n_b; i++) {
        const uint32_t item = finding->table->items_b[i];
        uint64_t at = matrix->starts[item];
        while (at < matrix->starts[item + 1] && (!is_marked[matrix->node[at]] || !matrix->ns[at]))
            at++;
        if (at < matrix->starts[item + 1])
            items[n++] = item;
    }
    return n;
}

/* Nodes of which time is that problem's. */
static void mark_nodes(const struct weft_problem *problem, bool *is_marked)
{
    const struct weft_compare_table *table = problem->finding->table;
    struct weft_frame_path path;
    for (size_t i = 0; i < table->n_nodes; i++) {
        if (table->nodes[i].node == 0 || table->nodes[i].difference_ns <= 0)
            continue;
        weft_frame_path_of(problem->finding->matrix, table->nodes[i].node, &path);
        is_marked[table->nodes[i].node] = weft_kind_of(&path).key == problem->key;
    }
}

/* *several: do executions of several threads wait at one time? False without memory. */
static bool find_several(const struct weft_problem *problem, bool *several)
{
    const struct weft_finding *finding = problem->finding;
    bool *is_marked = calloc(finding->matrix->n_nodes + 1, sizeof *is_marked);
    uint32_t *items = calloc(finding->table->n_b + 1, sizeof *items);
    const bool is_good = is_marked && items;
    *several = false;
    if (is_good) {
        mark_nodes(problem, is_marked);
        const size_t n = list_items(finding, is_marked, items);
        qsort_r(items, n, sizeof *items, by_start, finding->matrix->items);
        *several = n > 1 &&
                   (double)count_overlapping(finding->matrix, items, n) >= OVERLAPPING * (double)n;
    }
    free(is_marked);
    free(items);
    return is_good;
}

bool weft_event_loops_mark(const struct weft_findings_table *findings,
                           struct weft_problems_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        struct weft_problem *problem = &table->rows[i];
        struct weft_frame_path path;
        bool several;
        if (problem->kind != WEFT_PROBLEM_QUEUE || problem->holding.n == 0)
            continue;
        weft_frame_path_of(problem->finding->matrix, problem->node, &path);
        const struct weft_kind kind = weft_kind_of(&path);
        if (!kind.holder || kind.last || !is_loop(findings, problem, &path, &kind))
            continue;
        if (!find_several(problem, &several))
            return false;
        if (several)
            problem->kind = WEFT_PROBLEM_HEAD_OF_LINE;
    }
    return true;
}
