/* SPDX-License-Identifier: MIT
 *
 * Collects sources, executions and entries in the caller's node ids, and renumbers at the end:
 * unused nodes are dropped, nodes that become equal (after a map of names) are merged and their
 * times added.
 */
#include "query/database/matrix.h"

#include "analysis/ecct/tree.h"
#include "base/vec.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>

struct entry {
    uint32_t node;
    uint64_t ns;
};

struct column {
    double *items;
    size_t n, cap;
    bool is_used;
};

struct weft_matrix_maker {
    struct weft_strtab *texts;
    struct weft_metric *metrics; /* without values */
    struct column *columns;
    size_t n_metrics;
    struct {
        struct weft_execution_source *items;
        size_t n, cap;
    } sources;
    struct {
        struct weft_execution_item *items;
        size_t n, cap;
    } items;
    struct {
        uint64_t *items; /* in entries: where that of an item end */
        size_t n, cap;
    } ends;
    struct {
        struct entry *items;
        size_t n, cap;
    } entries;
};

/* ---- what is added --------------------------------------------------------------------------- */

static bool keep_text(struct weft_matrix_maker *maker, struct weft_str *text)
{
    uint32_t id;
    if (weft_strtab_intern(maker->texts, *text, &id, NULL) != WEFT_OK)
        return false;
    *text = weft_strtab_get(maker->texts, id);
    return true;
}

struct weft_matrix_maker *weft_matrix_maker_new(const struct weft_metric *metrics, size_t n_metrics)
{
    struct weft_matrix_maker *maker = calloc(1, sizeof *maker);
    if (!maker)
        return NULL;
    maker->texts = weft_strtab_new();
    maker->metrics = calloc(n_metrics + 1, sizeof *maker->metrics);
    maker->columns = calloc(n_metrics + 1, sizeof *maker->columns);
    bool is_good = maker->texts && maker->metrics && maker->columns;
    for (size_t i = 0; is_good && i < n_metrics; i++) {
        maker->metrics[i] = metrics[i];
        maker->n_metrics++;
        is_good = keep_text(maker, &maker->metrics[i].name);
    }
    if (is_good)
        return maker;
    weft_matrix_maker_free(maker);
    return NULL;
}

void weft_matrix_maker_free(struct weft_matrix_maker *maker)
{
    if (!maker)
        return;
    for (size_t i = 0; i < maker->n_metrics; i++)
        free(maker->columns[i].items);
    free(maker->columns);
    free(maker->metrics);
    weft_strtab_free(maker->texts);
    WEFT_VEC_FINI(&maker->sources);
    WEFT_VEC_FINI(&maker->items);
    WEFT_VEC_FINI(&maker->ends);
    WEFT_VEC_FINI(&maker->entries);
    free(maker);
}

void weft_matrix_keep_metric(struct weft_matrix_maker *maker, size_t metric)
{
    maker->columns[metric].is_used = true;
}

enum weft_code weft_matrix_source(struct weft_matrix_maker *maker,
                                  const struct weft_execution_source *source, struct weft_err *err)
{
    struct weft_execution_source *made = WEFT_VEC_PUSH(&maker->sources);
    if (!made)
        return weft_no_memory(err, "executions");
    *made = *source;
    return keep_text(maker, &made->path) && keep_text(maker, &made->host) &&
                   keep_text(maker, &made->tag) && keep_text(maker, &made->facts.wholes) &&
                   keep_text(maker, &made->facts.work.function)
               ? WEFT_OK
               : weft_no_memory(err, "executions");
}

enum weft_code weft_matrix_add(struct weft_matrix_maker *maker, const struct weft_matrix_row *row,
                               struct weft_err *err)
{
    for (size_t i = 0; i < row->n_nodes; i++) {
        struct entry *entry = WEFT_VEC_PUSH(&maker->entries);
        if (!entry)
            return weft_no_memory(err, "executions");
        *entry = (struct entry){ row->nodes[i], row->ns[i] };
    }
    for (size_t i = 0; i < maker->n_metrics; i++) {
        double *value = WEFT_VEC_PUSH(&maker->columns[i]);
        if (!value)
            return weft_no_memory(err, "executions");
        *value = row->values[i];
        maker->columns[i].is_used |= !isnan(*value);
    }
    struct weft_execution_item *item = WEFT_VEC_PUSH(&maker->items);
    uint64_t *end = WEFT_VEC_PUSH(&maker->ends);
    if (!item || !end)
        return weft_no_memory(err, "executions");
    *item = *row->item;
    *end = maker->entries.n;
    return keep_text(maker, &item->thread) ? WEFT_OK : weft_no_memory(err, "executions");
}

/* ---- the tree -------------------------------------------------------------------------------- */

struct renaming {
    struct weft_ecct_tree *tree; /* what the matrix gets */
    uint32_t *places;            /* in it, of the caller's nodes; WEFT_ID_NONE: not used */
};

static void mark_used(const struct weft_matrix_maker *maker, const struct weft_matrix_tree *from,
                      uint32_t *places)
{
    for (size_t i = 0; i < from->n_nodes; i++)
        places[i] = WEFT_ID_NONE;
    for (size_t i = 0; i < maker->entries.n; i++)
        places[maker->entries.items[i].node] = 0;
    for (size_t i = from->n_nodes; i-- > 1;)
        if (places[i] == 0)
            places[from->nodes[i].parent] = 0;
}

static enum weft_code put_node(struct renaming *renaming, const struct weft_matrix_tree *from,
                               size_t i, struct weft_err *err)
{
    const struct weft_ecct_node *node = &from->nodes[i];
    const struct weft_frame *frame = &from->frames[node->frame];
    uint32_t id;
    WEFT_TRY(weft_ecct_tree_add(renaming->tree, frame, &id, err));
    return weft_ecct_tree_node(renaming->tree, renaming->places[node->parent], id, node->confidence,
                               &renaming->places[i], err);
}

static enum weft_code rename_nodes(const struct weft_matrix_maker *maker,
                                   const struct weft_matrix_tree *from, struct renaming *renaming,
                                   struct weft_err *err)
{
    renaming->tree = weft_ecct_tree_new();
    renaming->places = calloc(from->n_nodes + 1, sizeof *renaming->places);
    if (!renaming->tree || !renaming->places)
        return weft_no_memory(err, "executions");
    mark_used(maker, from, renaming->places);
    renaming->places[0] = 0;
    enum weft_code code = WEFT_OK;
    for (size_t i = 1; i < from->n_nodes && code == WEFT_OK; i++)
        if (renaming->places[i] == 0)
            code = put_node(renaming, from, i, err);
    return code;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

static int by_node(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return (x->node > y->node) - (x->node < y->node);
}

/* The entries of one item under their new names: sorted, equal ones added up. Gives how many. */
static size_t rename_entries(struct entry *entries, size_t n, const uint32_t *places)
{
    bool is_sorted = true;
    size_t n_kept = 0;
    for (size_t i = 0; i < n; i++) {
        entries[i].node = places[entries[i].node];
        is_sorted = is_sorted && (i == 0 || entries[i - 1].node < entries[i].node);
    }
    if (!is_sorted)
        qsort(entries, n, sizeof *entries, by_node);
    for (size_t i = 0; i < n; i++)
        if (n_kept && entries[n_kept - 1].node == entries[i].node)
            entries[n_kept - 1].ns += entries[i].ns;
        else
            entries[n_kept++] = entries[i];
    return n_kept;
}

static bool fill_rows(const struct weft_matrix_maker *maker, const uint32_t *places,
                      struct weft_ecct_matrix *matrix)
{
    matrix->starts = WEFT_ARENA_NEW(matrix->arena, maker->items.n + 1, uint64_t);
    matrix->node = WEFT_ARENA_NEW(matrix->arena, maker->entries.n, uint32_t);
    matrix->ns = WEFT_ARENA_NEW(matrix->arena, maker->entries.n, uint64_t);
    if (!matrix->starts || !matrix->node || !matrix->ns)
        return false;
    uint64_t at = 0, first = 0;
    for (size_t i = 0; i < maker->items.n; i++) {
        struct entry *entries = maker->entries.n > 0 ? &maker->entries.items[first] : NULL;
        const size_t n = rename_entries(entries, maker->ends.items[i] - first, places);
        for (size_t k = 0; k < n; k++, at++) {
            matrix->node[at] = entries[k].node;
            matrix->ns[at] = entries[k].ns;
        }
        first = maker->ends.items[i];
        matrix->starts[i + 1] = at;
    }
    return true;
}

static bool keep(struct weft_arena *arena, struct weft_str *text)
{
    if (text->n_bytes == 0)
        return true;
    *text = weft_arena_copy(arena, *text);
    return text->bytes != NULL;
}

static bool fill_tree(const struct weft_ecct_tree *tree, struct weft_ecct_matrix *matrix)
{
    matrix->n_frames = weft_ecct_tree_n_frames(tree);
    matrix->n_nodes = weft_ecct_tree_n_nodes(tree);
    bool is_good =
        weft_arena_copy_items(matrix->arena, &matrix->frames, weft_ecct_tree_frames(tree),
                              matrix->n_frames, sizeof *matrix->frames) &&
        weft_arena_copy_items(matrix->arena, &matrix->nodes, weft_ecct_tree_nodes(tree),
                              matrix->n_nodes, sizeof *matrix->nodes);
    for (size_t i = 0; is_good && i < matrix->n_frames; i++)
        is_good = keep(matrix->arena, &matrix->frames[i].name) &&
                  keep(matrix->arena, &matrix->frames[i].module);
    return is_good;
}

/* Names of threads are kept once each. */
static bool fill_items(struct weft_matrix_maker *maker, struct weft_ecct_matrix *matrix)
{
    const uint32_t n_texts = weft_strtab_count(maker->texts);
    struct weft_str *kept = calloc((size_t)n_texts + 1, sizeof *kept);
    bool is_good = kept != NULL;
    matrix->n_sources = maker->sources.n;
    matrix->n_items = maker->items.n;
    is_good = is_good &&
              weft_arena_copy_items(matrix->arena, &matrix->sources, maker->sources.items,
                                    matrix->n_sources, sizeof *matrix->sources) &&
              weft_arena_copy_items(matrix->arena, &matrix->items, maker->items.items,
                                    matrix->n_items, sizeof *matrix->items);
    for (size_t i = 0; is_good && i < matrix->n_sources; i++)
        is_good = keep(matrix->arena, &matrix->sources[i].path) &&
                  keep(matrix->arena, &matrix->sources[i].host) &&
                  keep(matrix->arena, &matrix->sources[i].tag) &&
                  keep(matrix->arena, &matrix->sources[i].facts.wholes) &&
                  keep(matrix->arena, &matrix->sources[i].facts.work.function);
    for (size_t i = 0; is_good && i < matrix->n_items; i++) {
        struct weft_str *thread = &matrix->items[i].thread;
        uint32_t id = 0;
        is_good = weft_strtab_intern(maker->texts, *thread, &id, NULL) == WEFT_OK;
        if (is_good && !kept[id].bytes)
            kept[id] = weft_arena_copy(matrix->arena, *thread);
        *thread = is_good ? kept[id] : *thread;
        is_good = is_good && thread->bytes;
    }
    free(kept);
    return is_good;
}

static struct weft_metric *add_metric(struct weft_ecct_matrix *matrix, struct weft_str name,
                                      enum weft_metric_unit unit)
{
    struct weft_metric *metric = &matrix->metrics[matrix->n_metrics++];
    *metric =
        (struct weft_metric){ .name = weft_arena_copy(matrix->arena, name),
                              .unit = unit,
                              .values = WEFT_ARENA_NEW(matrix->arena, matrix->n_items, double) };
    return metric->name.bytes && metric->values ? metric : NULL;
}

static bool fill_metrics(const struct weft_matrix_maker *maker, struct weft_ecct_matrix *matrix)
{
    matrix->metrics = WEFT_ARENA_NEW(matrix->arena, maker->n_metrics + 2, struct weft_metric);
    if (!matrix->metrics)
        return false;
    struct weft_metric *duration = add_metric(matrix, WEFT_STR("duration"), WEFT_METRIC_NS);
    struct weft_metric *start = add_metric(matrix, WEFT_STR("start"), WEFT_METRIC_NS);
    if (!duration || !start)
        return false;
    for (size_t i = 0; i < matrix->n_items; i++) {
        duration->values[i] = (double)(matrix->items[i].end_ns - matrix->items[i].start_ns);
        start->values[i] = (double)matrix->items[i].start_ns;
    }
    for (size_t i = 0; i < maker->n_metrics; i++) {
        if (!maker->columns[i].is_used)
            continue;
        struct weft_metric *metric =
            add_metric(matrix, maker->metrics[i].name, maker->metrics[i].unit);
        if (!metric)
            return false;
        if (matrix->n_items)
            memcpy(metric->values, maker->columns[i].items, matrix->n_items * sizeof(double));
    }
    return true;
}

enum weft_code weft_matrix_finish(struct weft_matrix_maker *maker,
                                  const struct weft_matrix_tree *tree,
                                  struct weft_ecct_matrix **matrix, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_ecct_matrix *made =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_ecct_matrix) : NULL;
    struct renaming renaming = { 0 };
    enum weft_code code =
        made ? rename_nodes(maker, tree, &renaming, err) : weft_no_memory(err, "executions");
    if (made)
        made->arena = arena;
    if (code == WEFT_OK && (!fill_tree(renaming.tree, made) || !fill_items(maker, made) ||
                            !fill_rows(maker, renaming.places, made) || !fill_metrics(maker, made)))
        code = weft_no_memory(err, "executions");
    weft_ecct_tree_free(renaming.tree);
    free(renaming.places);
    *matrix = code == WEFT_OK ? made : NULL;
    if (code != WEFT_OK && arena)
        weft_arena_free(arena);
    return code;
}
