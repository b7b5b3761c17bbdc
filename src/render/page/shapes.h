/* SPDX-License-Identifier: MIT
 *
 * The key `shapes` of the report page (docs/page-data.md): as much of the table as a budget of
 * bytes allows. What is omitted is counted, and the page says it.
 */
#ifndef WEFT_RENDER_PAGE_SHAPES_H
#define WEFT_RENDER_PAGE_SHAPES_H

#include "base/arena.h"
#include "base/error.h"
#include "render/json/json.h"
#include "render/page/page.h"
#include "schema/shapes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the shapes take at most, as base64; and what they may take however large the rest is: the
 * last level, which has something of each thread, takes no more. */
enum {
    WEFT_PAGE_SHAPES_BYTES = 394 * 1000,
    WEFT_PAGE_SHAPES_LEAST = 120 * 1000,
    WEFT_PAGE_SHAPES_OF_THREAD = 40,
};

static inline uint64_t weft_page_shapes_least(const struct weft_page *page)
{
    return WEFT_PAGE_SHAPES_LEAST + page->regtime->n_threads * WEFT_PAGE_SHAPES_OF_THREAD;
}

/* The page's index of a function, -1 for none; of a thread, its place in the table. */
int64_t weft_page_function(const struct weft_page *page, uint32_t function_id);
uint64_t weft_page_thread(const struct weft_page *page, uint32_t thread_id);

/* How much of which part is sent. */
struct weft_page_level {
    uint32_t cell;            /* columns below which runs are merged with their neighbours */
    uint32_t longest_columns; /* a run's longest occurrence is sent if it lasts so many */
    uint32_t listed;          /* clusters with name, count and sum */
    uint32_t full;            /* clusters with all their numbers */
    uint32_t spreads;         /* clusters with the distribution of their durations */
    uint32_t members;         /* shapes a full cluster */
    uint32_t shapes;          /* shapes in all */
    uint32_t trees;           /* clusters whose typical, slowest and first calls are sent */
    uint32_t nodes;           /* calls of each */
    uint32_t typicals;        /* clusters whose typical calls are sent */
    uint32_t run_trees;       /* runs, the widest first, of whose longest the calls are sent */
    uint32_t run_nodes;       /* calls of each, and of the typical ones beyond `trees` */
    uint32_t presences;       /* clusters a thread */
    uint32_t threads;         /* threads with ribbons: those of most calls */
    uint32_t marks;           /* spikes, drops, each */
};

/* ---- ribbons --------------------------------------------------------------------------------- */

/* A run as it is sent. */
struct weft_page_run {
    uint32_t first_column, n_columns;
    uint32_t cluster; /* the page's index */
    uint32_t n_others;
    uint64_t count, covered_ns;
    uint64_t start_ns, end_ns; /* of the longest occurrence */
    uint32_t shape_id;
};

struct weft_page_runs {
    struct weft_page_run *rows;
    size_t n_rows;
    uint64_t n_unlisted; /* runs left out: their clusters are not listed */
};

/* The runs of a ribbon, those shorter than `cell` columns merged with neighbours of the same cell.
 * `cluster_at` gives the page's index by cluster id; clusters from `n_listed` on are left out.
 * `rows` has room for all runs of the ribbon. O(runs x cell). */
void weft_page_merge_runs(const struct weft_shape_ribbon *ribbon, uint32_t cell,
                          const uint32_t *cluster_at, uint32_t n_listed,
                          struct weft_page_runs *runs);

/* ---- the calls of occurrences ---------------------------------------------------------------- */

struct weft_page_call {
    uint64_t order; /* in the occurrence, entry by entry */
    uint64_t start_ns, end_ns;
    uint32_t function_id;
    uint32_t level; /* 0: the occurrence itself */
};

struct weft_page_calls {
    struct weft_page_call *rows; /* pre-order; with every call, its callers */
    size_t n_rows;
    uint64_t n_all; /* calls of the occurrence; 0: it was not found */
};

struct weft_page_wanted {
    const struct weft_shape_occurrence *at;
    uint32_t function_id;
    size_t limit; /* calls kept of it: the longest, itself among them */
    struct weft_page_calls *calls;
};

/* From the first of their starts to the last of their ends. */
struct weft_window weft_page_window(const struct weft_page_wanted *wanted, size_t n_wanted);

/* The calls of occurrences of one thread, ascending by start; they may lie in each other. Reads the
 * blocks of their time once; memory O(sum of limits + depth). WEFT_E_NOMEM, or what reading says.
 */
WEFT_CHECKED enum weft_code weft_page_read_calls(const struct weft_trace *trace, uint32_t thread_id,
                                                 const struct weft_page_wanted *wanted,
                                                 size_t n_wanted, struct weft_arena *arena,
                                                 struct weft_err *err);

/* ---- what all levels share, and the choice of the level at hand ------------------------------ */

/* At any level. */
enum {
    WEFT_PAGE_TREES = 60,
    WEFT_PAGE_NODES = 400,
    WEFT_PAGE_TYPICALS = 400,
    WEFT_PAGE_RUN_TREES = 2000,
    WEFT_PAGE_RUN_NODES = 64,
};

struct weft_page_ranked {
    uint64_t rank;
    uint32_t id;
};

enum weft_page_kind { WEFT_PAGE_TYPICAL, WEFT_PAGE_SLOWEST, WEFT_PAGE_FIRST, WEFT_PAGE_KINDS };

/* An occurrence whose calls the page may hold. */
struct weft_page_tree {
    struct weft_shape_occurrence at;
    uint32_t cluster;         /* the page's index */
    enum weft_page_kind kind; /* WEFT_PAGE_KINDS: the longest of a run */
    uint32_t order;           /* of a run: how many are wider, or as wide and earlier */
    uint32_t rank;
    struct weft_page_calls calls;
    size_t n_sent;
};

/* One of its calls as it is sent. */
struct weft_page_node {
    uint32_t n_closed; /* calls left since the one before was entered */
    int64_t function;  /* the page's index, or -1 */
    int64_t before_ns; /* since the last entry or exit that is sent */
    int64_t after_ns;  /* from the last entry or exit inside to its own exit */
};

/* What all levels share, and the choice of the level at hand. */
struct weft_page_shapes {
    const struct weft_page *page;
    const struct weft_shapes_table *table;
    struct weft_arena *arena;
    uint32_t *order;  /* ids of the clusters that are not trivial, most time first */
    uint32_t n_order; /* elements of it */
    struct weft_shape_times *function_times; /* by model function id; no quantiles */
    uint32_t *cluster_at;         /* by cluster id: its place in `order`, or WEFT_ID_NONE */
    struct weft_page_tree *trees; /* in the order in which they are sent */
    size_t n_trees;
    struct weft_page_node *nodes;       /* room for the calls of all */
    const struct weft_shape_rare *rare; /* that have no listed cause inside, best score first */
    size_t n_rare, n_rare_found;
    uint32_t *shape_at;         /* by shape id: the page's index, or WEFT_ID_NONE */
    uint32_t *shape_ids;        /* by the page's index */
    uint64_t *thread_rank;      /* by place: how many have more calls */
    uint32_t *member_at;        /* by the page's index of a shape: its place in its cluster */
    uint32_t *n_members;        /* by the page's index of a cluster */
    struct weft_page_run *runs; /* thread by thread, ribbon by ribbon */
    size_t *ribbon_ends;        /* behind the last run of each */
    size_t n_ribbon_ends;
    struct weft_page_ranked *ranked;

    const struct weft_page_level *level;
    uint32_t n_listed, n_full, n_sent_shapes;
    uint64_t n_runs, n_runs_sent, n_bare_runs, n_bare_threads;
    struct weft_json *json;
};

/* For qsort: highest rank first, of equals the lowest id. */
int weft_page_compare_ranked(const void *a, const void *b);

/* By the page's index. */
const struct weft_shape_cluster *weft_page_cluster(const struct weft_page_shapes *shapes,
                                                   uint32_t place);
const struct weft_shape_occurrence *weft_page_occurrence(const struct weft_shape_cluster *cluster,
                                                         enum weft_page_kind kind);
bool weft_page_lists(const struct weft_page_shapes *shapes, uint32_t cluster_id);

/* The calls that any level may send. WEFT_E_NOMEM, or what reading says. */
WEFT_CHECKED enum weft_code weft_page_read_trees(struct weft_page_shapes *shapes,
                                                 struct weft_err *err);

/* The rare shapes that any level may send. WEFT_E_NOMEM. */
WEFT_CHECKED enum weft_code weft_page_find_rare(struct weft_page_shapes *shapes,
                                                struct weft_err *err);

/* The key `calls` of the level at hand. */
void weft_page_put_trees(struct weft_page_shapes *shapes);

/* The keys `clusters`, `table`, `calls`, `spikes`, `drops` and `rare` of the level at hand. */
WEFT_CHECKED enum weft_code weft_page_put_clusters(struct weft_page_shapes *shapes,
                                                   struct weft_err *err);

/* ---- all of it ------------------------------------------------------------------------------- */

/* Writes the value under `shapes`, null without a table. Takes the first level that seems to fit
 * page->shapes_bytes when compressed with little effort, and does when it is with much; the last is
 * taken as it is. */
WEFT_CHECKED enum weft_code weft_page_put_shapes(const struct weft_page *page,
                                                 struct weft_json *json, struct weft_err *err);

#endif
