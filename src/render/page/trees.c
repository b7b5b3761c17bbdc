/* SPDX-License-Identifier: MIT
 *
 * The calls of single occurrences that the page holds: of the clusters with most time the typical,
 * the slowest and the first one, of some more the typical one, and the longest of the widest runs,
 * so that a click on most of what can be seen shows real calls.
 */
#include "model/calls/walk.h"
#include "render/page/shapes.h"

#include <stdlib.h>

/* Calls that are read at most for one example, for one run, and for all of them. */
enum { CALLS_OF_ONE = 4 * 1000 * 1000, CALLS_OF_RUN = 128 * 1024, CALLS_OF_ALL = 48 * 1000 * 1000 };

/* ---- which occurrences ----------------------------------------------------------------------- */

static bool is_same(const struct weft_page_tree *a, const struct weft_page_tree *b)
{
    return a->cluster == b->cluster && a->at.thread_id == b->at.thread_id &&
           a->at.start_ns == b->at.start_ns && a->at.end_ns == b->at.end_ns;
}

static int compare_places(const void *a_ptr, const void *b_ptr)
{
    const struct weft_page_tree *a = a_ptr, *b = b_ptr;
    if (a->at.thread_id != b->at.thread_id)
        return a->at.thread_id < b->at.thread_id ? -1 : 1;
    if (a->at.start_ns != b->at.start_ns)
        return a->at.start_ns < b->at.start_ns ? -1 : 1;
    if (a->at.end_ns != b->at.end_ns)
        return a->at.end_ns < b->at.end_ns ? -1 : 1;
    if (a->cluster != b->cluster)
        return a->cluster < b->cluster ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

static int compare_ranks(const void *a_ptr, const void *b_ptr)
{
    const struct weft_page_tree *a = a_ptr, *b = b_ptr;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* An occurrence that is wanted for several reasons stays under the first of them. By place. */
static void keep_each_once(struct weft_page_shapes *shapes)
{
    struct weft_page_tree *trees = shapes->trees;
    size_t n_kept = 0;
    if (shapes->n_trees > 0)
        qsort(trees, shapes->n_trees, sizeof *trees, compare_places);
    for (size_t i = 0; i < shapes->n_trees; i++)
        if (n_kept == 0 || !is_same(&trees[n_kept - 1], &trees[i]))
            trees[n_kept++] = trees[i];
    shapes->n_trees = n_kept;
}

static void want(struct weft_page_shapes *shapes, const struct weft_page_tree *tree)
{
    shapes->trees[shapes->n_trees] = *tree;
    shapes->trees[shapes->n_trees].rank = (uint32_t)shapes->n_trees;
    shapes->n_trees++;
}

static void want_examples(struct weft_page_shapes *shapes)
{
    for (uint32_t i = 0; i < shapes->n_order && i < WEFT_PAGE_TYPICALS; i++)
        for (enum weft_page_kind kind = WEFT_PAGE_TYPICAL; kind < WEFT_PAGE_KINDS; kind++)
            if (kind == WEFT_PAGE_TYPICAL || i < WEFT_PAGE_TREES)
                want(shapes, &(struct weft_page_tree){
                                 .cluster = i,
                                 .kind = kind,
                                 .order = i,
                                 .at = *weft_page_occurrence(weft_page_cluster(shapes, i), kind),
                             });
}

/* Calls `visit` for each run of every ribbon, in order. */
static void each_run(struct weft_page_shapes *shapes, void *context,
                     void (*visit)(struct weft_page_shapes *, const struct weft_shape_run *,
                                   void *))
{
    const struct weft_shapes_table *table = shapes->table;
    for (size_t t = 0; t < table->n_threads; t++)
        for (size_t r = 0; r < table->threads[t].n_ribbons; r++) {
            const struct weft_shape_ribbon *ribbon = &table->threads[t].ribbons[r];
            for (size_t i = 0; i < ribbon->n_runs; i++)
                visit(shapes, &ribbon->runs[i], context);
        }
}

/* How many runs are so wide, by columns. */
struct widths {
    uint32_t *counts;
    uint32_t least;  /* columns of the narrowest run that is taken */
    uint32_t n_left; /* runs of that width that are taken */
};

static void count_width(struct weft_page_shapes *shapes, const struct weft_shape_run *run,
                        void *context)
{
    struct widths *widths = context;
    (void)shapes;
    widths->counts[run->n_columns]++;
}

static void want_run(struct weft_page_shapes *shapes, const struct weft_shape_run *run,
                     void *context)
{
    struct widths *widths = context;
    if (run->n_columns < widths->least || (run->n_columns == widths->least && widths->n_left == 0))
        return;
    widths->n_left -= run->n_columns == widths->least;
    want(shapes, &(struct weft_page_tree){
                     .cluster = shapes->cluster_at[run->cluster_id],
                     .kind = WEFT_PAGE_KINDS,
                     .order = UINT32_MAX - run->n_columns,
                     .at = run->longest,
                 });
}

static int compare_orders(const void *a_ptr, const void *b_ptr)
{
    const struct weft_page_tree *a = a_ptr, *b = b_ptr;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return compare_ranks(a, b);
}

/* The widest runs, widest first, of equals the first. */
static bool want_runs(struct weft_page_shapes *shapes)
{
    const uint32_t n_columns = shapes->table->n_columns;
    struct widths widths = { .counts = WEFT_ARENA_NEW(shapes->arena, n_columns + 1, uint32_t),
                             .least = n_columns,
                             .n_left = WEFT_PAGE_RUN_TREES };
    if (!widths.counts)
        return false;
    each_run(shapes, &widths, count_width);
    for (; widths.least > 1 && widths.counts[widths.least] < widths.n_left; widths.least--)
        widths.n_left -= widths.counts[widths.least];
    struct weft_page_tree *runs = shapes->trees + shapes->n_trees;
    const size_t n_before = shapes->n_trees;
    each_run(shapes, &widths, want_run);
    const size_t n_runs = shapes->n_trees - n_before;
    if (n_runs > 0)
        qsort(runs, n_runs, sizeof *runs, compare_orders);
    for (size_t i = 0; i < n_runs; i++) {
        runs[i].rank = (uint32_t)(n_before + i);
        runs[i].order = (uint32_t)i;
    }
    return true;
}

/* ---- reading them ---------------------------------------------------------------------------- */

/* Occurrences of one thread that are read together, because their blocks are the same. */
struct batch {
    struct weft_page_wanted *wanted;
    size_t n_wanted;
    uint32_t thread_id;
    uint64_t n_calls; /* of the blocks */
};

static uint64_t calls_of(const struct weft_page_shapes *shapes, uint32_t thread_id,
                         const struct weft_page_wanted *wanted, size_t n_wanted)
{
    const struct weft_window window = weft_page_window(wanted, n_wanted);
    return weft_walk_calls(shapes->page->trace, thread_id, &window);
}

/* True if it costs no more than to read it alone. */
static bool joins(const struct weft_page_shapes *shapes, struct batch *batch, uint32_t thread_id)
{
    if (batch->n_wanted == 0 || batch->thread_id != thread_id)
        return false;
    const uint64_t alone = calls_of(shapes, thread_id, batch->wanted + batch->n_wanted, 1);
    const uint64_t together = calls_of(shapes, thread_id, batch->wanted, batch->n_wanted + 1);
    if (together > batch->n_calls + alone)
        return false;
    batch->n_calls = together;
    return true;
}

static enum weft_code read_batch(struct weft_page_shapes *shapes, struct batch *batch,
                                 uint64_t *n_read, struct weft_err *err)
{
    enum weft_code code = WEFT_OK;
    if (batch->n_wanted > 0 && batch->n_calls <= CALLS_OF_ALL - *n_read) {
        *n_read += batch->n_calls;
        code = weft_page_read_calls(shapes->page->trace, batch->thread_id, batch->wanted,
                                    batch->n_wanted, shapes->arena, err);
    }
    batch->wanted += batch->n_wanted;
    batch->n_wanted = 0;
    return code;
}

/* Of examples, or of runs: those whose reading would take too long have no calls. */
static enum weft_code read_kind(struct weft_page_shapes *shapes, bool is_run,
                                struct weft_page_wanted *wanted, uint64_t *n_read,
                                struct weft_err *err)
{
    struct batch batch = { .wanted = wanted };
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; code == WEFT_OK && i < shapes->n_trees; i++) {
        struct weft_page_tree *tree = &shapes->trees[i];
        if ((tree->kind == WEFT_PAGE_KINDS) != is_run)
            continue;
        const struct weft_page_wanted one = {
            .at = &tree->at,
            .function_id = weft_page_cluster(shapes, tree->cluster)->function_id,
            .limit = is_run ? WEFT_PAGE_RUN_NODES : WEFT_PAGE_NODES,
            .calls = &tree->calls,
        };
        const uint64_t n_calls = calls_of(shapes, tree->at.thread_id, &one, 1);
        if (n_calls > (is_run ? CALLS_OF_RUN : CALLS_OF_ONE))
            continue;
        batch.wanted[batch.n_wanted] = one;
        if (!joins(shapes, &batch, tree->at.thread_id)) {
            code = read_batch(shapes, &batch, n_read, err);
            batch.wanted[0] = one;
            batch.thread_id = tree->at.thread_id;
            batch.n_calls = n_calls;
        }
        batch.n_wanted++;
    }
    return code == WEFT_OK ? read_batch(shapes, &batch, n_read, err) : code;
}

enum weft_code weft_page_read_trees(struct weft_page_shapes *shapes, struct weft_err *err)
{
    const size_t n_most =
        WEFT_PAGE_TYPICALS + (WEFT_PAGE_KINDS - 1) * WEFT_PAGE_TREES + WEFT_PAGE_RUN_TREES;
    shapes->trees = WEFT_ARENA_NEW(shapes->arena, n_most, struct weft_page_tree);
    struct weft_page_wanted *wanted =
        WEFT_ARENA_NEW(shapes->arena, n_most + 1, struct weft_page_wanted);
    if (!shapes->trees || !wanted)
        return weft_no_memory(err, "the page's calls");
    want_examples(shapes);
    if (!want_runs(shapes))
        return weft_no_memory(err, "the page's calls");
    keep_each_once(shapes);
    uint64_t n_read = 0;
    enum weft_code code = read_kind(shapes, false, wanted, &n_read, err);
    WEFT_THEN(code, read_kind(shapes, true, wanted, &n_read, err));
    size_t n_nodes = 0;
    for (size_t i = 0; i < shapes->n_trees; i++)
        n_nodes += shapes->trees[i].calls.n_rows;
    if (shapes->n_trees > 0)
        qsort(shapes->trees, shapes->n_trees, sizeof *shapes->trees, compare_ranks);
    shapes->nodes = WEFT_ARENA_NEW(shapes->arena, n_nodes + 1, struct weft_page_node);
    return code == WEFT_OK && !shapes->nodes ? weft_no_memory(err, "the page's calls") : code;
}

/* ---- writing them ---------------------------------------------------------------------------- */

static uint64_t length_of(const struct weft_page_call *call)
{
    return call->end_ns - call->start_ns;
}

/* At most `limit` calls, in order: the longest, as when they were read. */
static size_t pick(const struct weft_page_calls *calls, uint32_t limit,
                   const struct weft_page_call **rows)
{
    struct weft_page_ranked ranked[WEFT_PAGE_NODES];
    uint64_t least_ns = 0;
    size_t n_equal = calls->n_rows < limit ? calls->n_rows : limit, n_rows = 0;
    for (size_t i = 0; i < calls->n_rows; i++)
        ranked[i] = (struct weft_page_ranked){ length_of(&calls->rows[i]), (uint32_t)i };
    if (calls->n_rows > limit) {
        qsort(ranked, calls->n_rows, sizeof *ranked, weft_page_compare_ranked);
        least_ns = ranked[limit - 1].rank;
    }
    for (size_t i = 0; i < calls->n_rows; i++)
        n_equal -= length_of(&calls->rows[i]) > least_ns;
    for (size_t i = 0; i < calls->n_rows; i++) {
        uint64_t length_ns = length_of(&calls->rows[i]);
        if (length_ns < least_ns || (length_ns == least_ns && n_equal == 0))
            continue;
        n_equal -= length_ns == least_ns;
        rows[n_rows++] = &calls->rows[i];
    }
    return n_rows;
}

/* Entries and exits in turn: what passes between them is less, and more alike, than when they are.
 */
static size_t lay_out(const struct weft_page_shapes *shapes, const struct weft_page_tree *tree,
                      uint32_t limit, struct weft_page_node *nodes)
{
    const struct weft_page_call *rows[WEFT_PAGE_NODES];
    size_t stack[WEFT_PAGE_NODES], n_stack = 0;
    const size_t n = pick(&tree->calls, limit, rows);
    uint64_t last_ns = tree->at.start_ns;
    for (size_t i = 0; i <= n; i++) {
        const size_t level = i < n ? rows[i]->level : 0;
        uint32_t n_closed = 0;
        for (; n_stack > level; n_closed++) {
            const size_t closed = stack[--n_stack];
            nodes[closed].after_ns = (int64_t)(rows[closed]->end_ns - last_ns);
            last_ns = rows[closed]->end_ns;
        }
        if (i == n)
            break;
        nodes[i] = (struct weft_page_node){
            .n_closed = n_closed,
            .function = weft_page_function(shapes->page, rows[i]->function_id),
            .before_ns = (int64_t)(rows[i]->start_ns - last_ns),
        };
        last_ns = rows[i]->start_ns;
        stack[n_stack++] = i;
    }
    return n;
}

/* What the level sends of a tree: calls at most, 0 for none of it. */
static uint32_t limit_of(const struct weft_page_shapes *shapes, const struct weft_page_tree *tree)
{
    const struct weft_page_level *level = shapes->level;
    if (tree->calls.n_rows == 0 || tree->cluster >= shapes->n_listed)
        return 0;
    if (tree->kind == WEFT_PAGE_KINDS)
        return tree->order < level->run_trees ? level->run_nodes : 0;
    if (tree->cluster >= shapes->n_full)
        return 0;
    if (tree->cluster < level->trees)
        return level->nodes;
    return tree->kind == WEFT_PAGE_TYPICAL && tree->cluster < level->typicals ? level->run_nodes
                                                                              : 0;
}

static size_t lay_out_all(struct weft_page_shapes *shapes)
{
    size_t n_nodes = 0;
    for (size_t i = 0; i < shapes->n_trees; i++) {
        struct weft_page_tree *tree = &shapes->trees[i];
        const uint32_t limit = limit_of(shapes, tree);
        tree->n_sent = limit > 0 ? lay_out(shapes, tree, limit, shapes->nodes + n_nodes) : 0;
        n_nodes += tree->n_sent;
    }
    return n_nodes;
}

enum tree_column { TREE_CLUSTER, TREE_THREAD, TREE_START, TREE_SENT, TREE_ALL, N_TREE_COLUMNS };

static void put_trees(const struct weft_page_shapes *shapes)
{
    static const char *const keys[N_TREE_COLUMNS] = { "c", "h", "s", "n", "all" };
    for (enum tree_column column = TREE_CLUSTER; column < N_TREE_COLUMNS; column++) {
        weft_json_begin_array(shapes->json, keys[column]);
        for (size_t i = 0; i < shapes->n_trees; i++) {
            const struct weft_page_tree *tree = &shapes->trees[i];
            const uint64_t values[N_TREE_COLUMNS] = {
                tree->cluster, weft_page_thread(shapes->page, tree->at.thread_id),
                tree->at.start_ns, tree->n_sent, tree->calls.n_all
            };
            if (tree->n_sent > 0)
                weft_json_u64(shapes->json, NULL, values[column]);
        }
        weft_json_end_array(shapes->json);
    }
}

void weft_page_put_trees(struct weft_page_shapes *shapes)
{
    struct weft_json *json = shapes->json;
    const size_t n_nodes = lay_out_all(shapes);
    weft_json_begin_object(json, "calls");
    put_trees(shapes);
    weft_json_begin_array(json, "l");
    for (size_t i = 0; i < n_nodes; i++)
        weft_json_u64(json, NULL, shapes->nodes[i].n_closed);
    weft_json_end_array(json);
    weft_json_begin_array(json, "f");
    for (size_t i = 0; i < n_nodes; i++)
        weft_json_i64(json, NULL, shapes->nodes[i].function);
    weft_json_end_array(json);
    weft_json_begin_array(json, "b");
    for (size_t i = 0; i < n_nodes; i++)
        weft_json_i64(json, NULL, shapes->nodes[i].before_ns);
    weft_json_end_array(json);
    weft_json_begin_array(json, "e");
    for (size_t i = 0; i < n_nodes; i++)
        weft_json_i64(json, NULL, shapes->nodes[i].after_ns);
    weft_json_end_array(json);
    weft_json_end_object(json);
}
