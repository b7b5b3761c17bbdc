/* SPDX-License-Identifier: MIT
 *
 *     each slow execution: where is it slower?      descend from the root while one child has at
 *                                                   least half of all that it is slower
 *     those with the same such node                 are a cluster
 *     clusters that are alike                       are joined: the same innermost functions, one
 *                                                   within the other, or the same largest node
 */
#include "analysis/compare/causes.h"

#include "analysis/compare/causes_tree.h"
#include "analysis/compare/names.h"
#include "base/map.h"
#include "schema/event.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNATURE_FUNCTIONS = 3, NEST_CLUSTERS_MAX = 1024 };

static const double HALF = 0.5;   /* of what is slower, for a node that stands out */
static const double NAMING = 0.1; /* of what is slower below a context, for what does not only
                                   * happen to the thread to name it */
static const double SEEN = 0.05;  /* of what ran in no stack that is known, for a function to stand
                                   * for it */
static const double NESTED =
    0.3; /* of what a cluster is slower, for one within it to be the same */

/* Sums by node of one or several executions; only what is touched is cleared. */
struct profile {
    double *own, *total; /* exclusive, inclusive */
    double *weighted;    /* exclusive; one execution far slower than the others counts less */
    double *best;        /* largest excess of a child */
    uint32_t *best_child;
    bool *is_touched;
    uint32_t *touched; /* ascending once ended */
    size_t n_touched;
    double n_items, weight;
};

struct cluster {
    uint32_t key;    /* node that stands out; WEFT_ID_NONE: nothing is slower */
    uint32_t joined; /* cluster that it is part of; itself: of none */
    uint32_t n_items;
};

struct causes {
    const struct weft_causes_base *base;
    struct weft_compare_table *table;
    struct weft_cause_tree tree;
    double *own_ns; /* by node of the matrix, of one cluster */
    struct profile profile;
    struct cluster *clusters;
    uint32_t n_clusters;
    uint32_t *by_cluster; /* places in items_b, those of a cluster together */
    struct weft_map *keys;
};

/* ---- profiles -------------------------------------------------------------------------------- */

static bool profile_init(struct profile *profile, size_t n_nodes)
{
    *profile = (struct profile){
        .own = calloc(n_nodes, sizeof(double)),
        .total = calloc(n_nodes, sizeof(double)),
        .weighted = calloc(n_nodes, sizeof(double)),
        .best = calloc(n_nodes, sizeof(double)),
        .best_child = calloc(n_nodes, sizeof(uint32_t)),
        .is_touched = calloc(n_nodes, sizeof(bool)),
        .touched = calloc(n_nodes, sizeof(uint32_t)),
    };
    return profile->own && profile->total && profile->weighted && profile->best &&
           profile->best_child && profile->is_touched && profile->touched;
}

static void profile_fini(struct profile *profile)
{
    free(profile->own);
    free(profile->total);
    free(profile->weighted);
    free(profile->best);
    free(profile->best_child);
    free(profile->is_touched);
    free(profile->touched);
}

static void profile_clear(struct profile *profile)
{
    for (size_t i = 0; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        profile->own[node] = profile->total[node] = profile->weighted[node] = 0;
        profile->is_touched[node] = false;
    }
    profile->n_touched = 0;
    profile->n_items = profile->weight = 0;
}

static void touch(struct profile *profile, const struct weft_cause_tree *tree, uint32_t node)
{
    for (; node != WEFT_ID_NONE && !profile->is_touched[node]; node = tree->parent[node]) {
        profile->is_touched[node] = true;
        profile->touched[profile->n_touched++] = node;
    }
}

static void profile_add(struct causes *causes, uint32_t item, double weight)
{
    const struct weft_ecct_matrix *matrix = causes->base->matrix;
    struct profile *profile = &causes->profile;
    touch(profile, &causes->tree, 0);
    for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++) {
        const uint32_t node = causes->tree.of[matrix->node[at]];
        touch(profile, &causes->tree, node);
        profile->own[node] += (double)matrix->ns[at];
        profile->weighted[node] += weight * (double)matrix->ns[at];
    }
    profile->n_items++;
    profile->weight += weight;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Makes means of sums, and inclusive ones of exclusive ones. */
static void profile_end(struct profile *profile, const struct weft_cause_tree *tree)
{
    qsort(profile->touched, profile->n_touched, sizeof *profile->touched, ascending);
    for (size_t i = 0; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        profile->own[node] /= profile->n_items;
        profile->weighted[node] /= profile->weight;
        profile->total[node] = profile->own[node];
    }
    for (size_t i = profile->n_touched; i-- > 1;) {
        const uint32_t node = profile->touched[i];
        profile->total[tree->parent[node]] += profile->total[node];
    }
}

static double excess(const struct causes *causes, uint32_t node)
{
    return causes->profile.total[node] - causes->tree.total_ns[node];
}

/* Is it what happens to a thread anywhere? Which thread took the processor, and where that one was,
 * does not separate executions: it depends on chance, and on the stacks that the trace has. */
static bool is_kept(const struct causes *causes, uint32_t node)
{
    return weft_frame_happens_anywhere(&causes->base->matrix->frames[causes->tree.frame[node]]);
}

/* The deepest node that has at least half of all that the profile is slower, as have all above it;
 * WEFT_ID_NONE if it is not slower. */
static uint32_t standing_out(struct causes *causes)
{
    struct profile *profile = &causes->profile;
    const double all_ns = excess(causes, 0);
    if (!(all_ns > 0))
        return WEFT_ID_NONE;
    for (size_t i = 0; i < profile->n_touched; i++)
        profile->best[profile->touched[i]] = 0;
    for (size_t i = 1; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        const uint32_t parent = causes->tree.parent[node];
        const double slower_ns = excess(causes, node);
        if (slower_ns > profile->best[parent]) {
            profile->best[parent] = slower_ns;
            profile->best_child[parent] = node;
        }
    }
    uint32_t node = 0;
    while (profile->best[node] >= HALF * all_ns && !is_kept(causes, profile->best_child[node]))
        node = profile->best_child[node];
    return node;
}

static bool is_below(const struct weft_cause_tree *tree, uint32_t node, uint32_t ancestor)
{
    while (node > ancestor) /* a parent is before its children */
        node = tree->parent[node];
    return node == ancestor;
}

/* Does something between `context` and `node` only happen to the thread? */
static bool is_mishap(const struct causes *causes, uint32_t node, uint32_t context)
{
    for (; node > context; node = causes->tree.parent[node])
        if (weft_frame_happens_anywhere(&causes->base->matrix->frames[causes->tree.frame[node]]))
            return true;
    return false;
}

/* What takes time below a context: a wait or work; what only happens to the thread, because of
 * threads of its program or of another one. */
enum kind { KIND_WORK, KIND_MISHAP, KIND_MISHAP_OF_OTHERS };

static enum kind kind_of(const struct causes *causes, uint32_t node, uint32_t context)
{
    const struct weft_frame *frames = causes->base->matrix->frames;
    if (!is_mishap(causes, node, context))
        return KIND_WORK;
    for (; node > context; node = causes->tree.parent[node]) {
        const struct weft_frame *frame = &frames[causes->tree.frame[node]];
        if (frame->kind == WEFT_FRAME_THREAD && frame->module.n_bytes > 0)
            return KIND_MISHAP_OF_OTHERS;
    }
    return KIND_MISHAP;
}

/* What is slower at `context` and below, exclusive means that exceed A's, of a kind; and the node
 * of it that has most, WEFT_ID_NONE if none has any. */
struct largest {
    uint32_t node;
    double most_ns, sum_ns;
};

static struct largest largest_of(const struct causes *causes, uint32_t context, enum kind kind)
{
    const struct profile *profile = &causes->profile;
    struct largest largest = { .node = WEFT_ID_NONE };
    for (size_t i = 0; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        const double slower_ns = profile->weighted[node] - causes->tree.mean_ns[node];
        if (!(slower_ns > 0) || !is_below(&causes->tree, node, context) ||
            kind_of(causes, node, context) != kind)
            continue;
        largest.sum_ns += slower_ns;
        if (slower_ns > largest.most_ns) {
            largest.most_ns = slower_ns;
            largest.node = node;
        }
    }
    return largest;
}

/* Does the execution's own thread compute, where the usual ones do too? It does so longer whenever
 * it was interrupted. */
static bool is_noise(const struct causes *causes, uint32_t node)
{
    const struct weft_cause_tree *tree = &causes->tree;
    const struct weft_frame *frames = causes->base->matrix->frames;
    if (!tree->is_usual[node])
        return false;
    for (; node != 0; node = tree->parent[node]) {
        const struct weft_frame *frame = &frames[tree->frame[node]];
        if (frame->kind == WEFT_FRAME_THREAD || frame->kind == WEFT_FRAME_LOCK ||
            (frame->kind == WEFT_FRAME_STATE && !weft_frame_is_running(frame)))
            return false;
    }
    return true;
}

/* Is it the place of a thread that runs in no stack that is known? */
static bool is_blank(const struct causes *causes, uint32_t node)
{
    const struct weft_frame *frames = causes->base->matrix->frames;
    if (node == 0 || node == WEFT_ID_NONE ||
        !weft_frame_is_running(&frames[causes->tree.frame[node]]))
        return false;
    const uint32_t parent = causes->tree.parent[node];
    return parent == 0 || frames[causes->tree.frame[parent]].kind == WEFT_FRAME_THREAD;
}

/* Does a node show in which function its thread, whose place is `parent`, ran? */
static bool tells_function(const struct causes *causes, uint32_t node, uint32_t parent)
{
    const struct weft_frame *frames = causes->base->matrix->frames;
    bool is_in_function = false;
    if (node == parent || node == WEFT_ID_NONE || !is_below(&causes->tree, node, parent))
        return false;
    for (; node != parent; node = causes->tree.parent[node]) {
        const struct weft_frame *frame = &frames[causes->tree.frame[node]];
        if (frame->kind == WEFT_FRAME_THREAD || frame->kind == WEFT_FRAME_LOCK ||
            (frame->kind == WEFT_FRAME_STATE && !weft_frame_is_running(frame)))
            return false;
        is_in_function |= frame->kind == WEFT_FRAME_FUNCTION;
    }
    return is_in_function;
}

/* Samples miss stacks: what ran in none that is known is taken for what the thread is seen to do
 * else. */
static uint32_t function_for(const struct causes *causes, uint32_t blank)
{
    const struct profile *profile = &causes->profile;
    const uint32_t parent = causes->tree.parent[blank];
    double most_ns = SEEN * (profile->weighted[blank] - causes->tree.mean_ns[blank]);
    uint32_t found = blank;
    for (size_t i = 0; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        const double slower_ns = profile->weighted[node] - causes->tree.mean_ns[node];
        if (slower_ns > most_ns && tells_function(causes, node, parent)) {
            most_ns = slower_ns;
            found = node;
        }
    }
    return found;
}

/* What names a context: what happens to the thread anywhere only if there is little else. A thread
 * that holds a lock is preempted all the longer the busier the machine is, but it is the lock that
 * others wait for. What threads of the program do to most slow executions names them, even if
 * another program does more. */
static uint32_t largest_own(const struct causes *causes, uint32_t context, size_t n_items)
{
    const struct largest work = largest_of(causes, context, KIND_WORK);
    const struct largest own = largest_of(causes, context, KIND_MISHAP);
    const struct largest others = largest_of(causes, context, KIND_MISHAP_OF_OTHERS);
    const double mishaps_ns = own.sum_ns + others.sum_ns;
    const double of_work = work.node != WEFT_ID_NONE && is_noise(causes, work.node) ? HALF : NAMING;
    const bool is_of_most = (double)n_items > HALF * (double)causes->table->n_b;
    const double of_own = is_of_most ? NAMING : HALF;
    if (work.node != WEFT_ID_NONE && work.sum_ns >= of_work * (work.sum_ns + mishaps_ns))
        return is_blank(causes, work.node) ? function_for(causes, work.node) : work.node;
    return own.node != WEFT_ID_NONE && own.sum_ns >= of_own * mishaps_ns ? own.node : others.node;
}

/* ---- likeness -------------------------------------------------------------------------------- */

bool weft_frame_is_running(const struct weft_frame *frame)
{
    return frame->kind == WEFT_FRAME_STATE && frame->state != WEFT_FRAME_BLOCKED &&
           frame->state != WEFT_FRAME_PREEMPTED;
}

/* What stands for a node that stands out: its function, if only slow executions call it; else, as
 * what runs in one place now and now is interrupted there is the same, its function. */
static uint32_t function_of(const struct causes *causes, uint32_t node)
{
    const struct weft_cause_tree *tree = &causes->tree;
    const struct weft_frame *frames = causes->base->matrix->frames;
    if (node == WEFT_ID_NONE || node == 0)
        return node;
    uint32_t found = node;
    if (tree->parent[node] != 0 && weft_frame_is_running(&frames[tree->frame[node]]))
        found = tree->parent[node];
    for (; node != 0; node = tree->parent[node])
        if (frames[tree->frame[node]].kind == WEFT_FRAME_FUNCTION)
            return tree->is_usual[node] ? found : node;
    return found;
}

/* A number that stacks share which differ in nothing that matters: the three innermost functions
 * and locks, and the states and threads among them, digits of thread names left out. */
static uint64_t likeness(const struct causes *causes, uint32_t node)
{
    const struct weft_frame *frames = causes->base->matrix->frames;
    uint64_t hash = WEFT_FRAME_HASH;
    for (unsigned n_functions = 0; node != 0 && n_functions < SIGNATURE_FUNCTIONS;
         node = causes->tree.parent[node]) {
        const struct weft_frame *frame = &frames[causes->tree.frame[node]];
        hash = weft_frame_hash(hash, frame);
        n_functions += frame->kind == WEFT_FRAME_FUNCTION || frame->kind == WEFT_FRAME_LOCK;
    }
    return hash;
}

/* The same for what a sentence would say of the node. */
static uint64_t spoken_likeness(const struct causes *causes, uint32_t node)
{
    const struct weft_frame *frames = causes->base->matrix->frames;
    struct weft_frame_path path = { .n = 0 };
    for (; node != 0 && path.n < WEFT_PATH_DEPTH; node = causes->tree.parent[node])
        path.frames[path.n++] = &frames[causes->tree.frame[node]];
    weft_frame_path_turn(&path);
    return weft_path_likeness(&path);
}

/* ---- clusters -------------------------------------------------------------------------------- */

static uint32_t cluster_of(const struct causes *causes, uint32_t cluster)
{
    while (causes->clusters[cluster].joined != cluster)
        cluster = causes->clusters[cluster].joined;
    return cluster;
}

/* The lower one stays. */
static void join(struct causes *causes, uint32_t a, uint32_t b)
{
    a = cluster_of(causes, a);
    b = cluster_of(causes, b);
    if (a < b)
        causes->clusters[b].joined = a;
    else
        causes->clusters[a].joined = b;
}

/* Puts each execution's cluster where its cause will stand: clusters become causes later. */
static enum weft_code find_clusters(struct causes *causes, struct weft_err *err)
{
    for (size_t i = 0; i < causes->table->n_b; i++) {
        profile_clear(&causes->profile);
        profile_add(causes, causes->table->items_b[i], 1);
        profile_end(&causes->profile, &causes->tree);
        const uint32_t key = function_of(causes, standing_out(causes));
        const uint32_t cluster = weft_map_add(causes->keys, key, NULL);
        if (cluster == WEFT_MAP_NONE)
            return weft_no_memory(err, "the causes");
        causes->table->cause_of[i] = cluster;
    }
    causes->n_clusters = weft_map_count(causes->keys);
    causes->clusters = calloc(causes->n_clusters + 1, sizeof *causes->clusters);
    if (!causes->clusters)
        return weft_no_memory(err, "the causes");
    for (uint32_t k = 0; k < causes->n_clusters; k++)
        causes->clusters[k] =
            (struct cluster){ .key = (uint32_t)weft_map_key(causes->keys, k), .joined = k };
    return WEFT_OK;
}

/* Joins those whose innermost functions are the same. */
static enum weft_code join_alike(struct causes *causes, struct weft_err *err)
{
    weft_map_reset(causes->keys);
    uint32_t *first = calloc(causes->n_clusters + 1, sizeof *first);
    enum weft_code code = first ? WEFT_OK : weft_no_memory(err, "the causes");
    for (uint32_t k = 0; code == WEFT_OK && k < causes->n_clusters; k++) {
        bool is_new;
        if (causes->clusters[k].key == WEFT_ID_NONE)
            continue;
        const uint32_t id =
            weft_map_add(causes->keys, likeness(causes, causes->clusters[k].key), &is_new);
        if (id == WEFT_MAP_NONE)
            code = weft_no_memory(err, "the causes");
        else if (is_new)
            first[id] = k;
        else
            join(causes, first[id], k);
    }
    free(first);
    return code;
}

/* Sorts the executions by cluster (counting, so that they stay in order), where joined ones are
 * one; starts[k] is where cluster k begins. */
static void sort_items(struct causes *causes, size_t *starts)
{
    struct weft_compare_table *table = causes->table;
    memset(starts, 0, (causes->n_clusters + 1) * sizeof *starts);
    for (size_t i = 0; i < table->n_b; i++) {
        table->cause_of[i] = cluster_of(causes, table->cause_of[i]);
        starts[table->cause_of[i] + 1]++;
    }
    for (uint32_t k = 0; k < causes->n_clusters; k++) {
        causes->clusters[k].n_items = (uint32_t)starts[k + 1];
        starts[k + 1] += starts[k];
    }
    for (size_t i = 0; i < table->n_b; i++)
        causes->by_cluster[starts[table->cause_of[i]]++] = (uint32_t)i;
    for (uint32_t k = causes->n_clusters; k > 0; k--)
        starts[k] = starts[k - 1];
    starts[0] = 0;
}

/* How much longer an execution lasts than those of A. */
static double slower_ns(const struct causes *causes, uint32_t item)
{
    const struct weft_execution_item *of = &causes->base->matrix->items[item];
    return (double)(of->end_ns - of->start_ns) - causes->tree.total_ns[0];
}

/* The profile of a cluster's executions, each of which counts alike however slow it is, but for
 * those that are least slow. */
static void profile_cluster(struct causes *causes, const size_t *starts, uint32_t cluster)
{
    const uint32_t *items_b = causes->table->items_b;
    const double n = (double)(starts[cluster + 1] - starts[cluster]);
    double mean_ns = 0;
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; i++)
        mean_ns += slower_ns(causes, items_b[causes->by_cluster[i]]) / n;
    profile_clear(&causes->profile);
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; i++) {
        const uint32_t item = items_b[causes->by_cluster[i]];
        const double least_ns = fmax(HALF * mean_ns, 1);
        profile_add(causes, item, 1 / fmax(slower_ns(causes, item), least_ns));
    }
    profile_end(&causes->profile, &causes->tree);
}

/* The cluster whose node lies below that of `outer` and has most of what `outer` is slower;
 * WEFT_ID_NONE if none has enough. */
static uint32_t find_nested(const struct causes *causes, uint32_t outer)
{
    const uint32_t key = causes->clusters[outer].key;
    uint32_t found = WEFT_ID_NONE;
    double most_ns = NESTED * excess(causes, 0);
    for (uint32_t k = 0; k < causes->n_clusters; k++) {
        const uint32_t inner = causes->clusters[k].key;
        if (cluster_of(causes, k) == outer || inner == WEFT_ID_NONE || inner == key ||
            !causes->profile.is_touched[inner] || !is_below(&causes->tree, inner, key))
            continue;
        if (excess(causes, inner) > most_ns) {
            most_ns = excess(causes, inner);
            found = k;
        }
    }
    return found;
}

/* Joins a cluster with that which explains it more exactly. */
static void join_nested(struct causes *causes, size_t *starts)
{
    sort_items(causes, starts);
    for (uint32_t k = 0; k < causes->n_clusters && causes->n_clusters <= NEST_CLUSTERS_MAX; k++) {
        if (causes->clusters[k].key == WEFT_ID_NONE || causes->clusters[k].n_items == 0)
            continue;
        profile_cluster(causes, starts, k);
        const uint32_t inner = find_nested(causes, cluster_of(causes, k));
        if (inner != WEFT_ID_NONE)
            join(causes, k, inner);
    }
}

/* What a cluster, whose profile is there, is named by: those of one name are one. */
static uint64_t name_of(struct causes *causes, uint32_t cluster, uint32_t *largest)
{
    *largest = WEFT_ID_NONE;
    if (causes->clusters[cluster].key == WEFT_ID_NONE)
        return UINT64_MAX;
    const uint32_t context = standing_out(causes);
    *largest = largest_own(causes, context == WEFT_ID_NONE ? 0 : context,
                           causes->clusters[cluster].n_items);
    return *largest == WEFT_ID_NONE ? UINT64_MAX - 1 : spoken_likeness(causes, *largest);
}

/* Joins those that ran in no stack that is known with the largest one whose thread is seen to run
 * in a function there; `largest` are the nodes that name them. */
static void join_blank(struct causes *causes, const uint32_t *largest)
{
    for (uint32_t k = 0; k < causes->n_clusters; k++) {
        uint32_t found = WEFT_ID_NONE;
        if (causes->clusters[k].n_items == 0 || !is_blank(causes, largest[k]))
            continue;
        for (uint32_t i = 0; i < causes->n_clusters; i++)
            if (causes->clusters[i].n_items > 0 && largest[i] != WEFT_ID_NONE &&
                tells_function(causes, largest[i], causes->tree.parent[largest[k]]) &&
                (found == WEFT_ID_NONE ||
                 causes->clusters[i].n_items > causes->clusters[found].n_items))
                found = i;
        if (found != WEFT_ID_NONE &&
            causes->clusters[found].n_items >= SEEN * causes->clusters[k].n_items)
            join(causes, k, found);
    }
}

/* Joins those that would be named alike. */
static enum weft_code join_names(struct causes *causes, size_t *starts, struct weft_err *err)
{
    weft_map_reset(causes->keys);
    sort_items(causes, starts);
    uint32_t *first = calloc(causes->n_clusters + 1, sizeof *first);
    uint32_t *largest = calloc(causes->n_clusters + 1, sizeof *largest);
    enum weft_code code = first && largest ? WEFT_OK : weft_no_memory(err, "the causes");
    for (uint32_t k = 0; code == WEFT_OK && k < causes->n_clusters; k++) {
        bool is_new;
        largest[k] = WEFT_ID_NONE;
        if (causes->clusters[k].n_items == 0)
            continue;
        profile_cluster(causes, starts, k);
        const uint32_t id = weft_map_add(causes->keys, name_of(causes, k, &largest[k]), &is_new);
        if (id == WEFT_MAP_NONE)
            code = weft_no_memory(err, "the causes");
        else if (is_new)
            first[id] = k;
        else
            join(causes, first[id], k);
    }
    if (code == WEFT_OK)
        join_blank(causes, largest);
    free(largest);
    free(first);
    return code;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static double duration_ns(const struct weft_ecct_matrix *matrix, uint32_t item)
{
    return (double)(matrix->items[item].end_ns - matrix->items[item].start_ns);
}

/* The execution whose duration is next to the mean; of equal ones the first. */
static uint32_t find_example(const struct causes *causes, const size_t *starts, uint32_t cluster,
                             double mean_ns)
{
    uint32_t example = 0;
    double least_ns = (double)INFINITY;
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; i++) {
        const uint32_t item = causes->table->items_b[causes->by_cluster[i]];
        const double apart_ns = fabs(duration_ns(causes->base->matrix, item) - mean_ns);
        if (apart_ns < least_ns) {
            least_ns = apart_ns;
            example = item;
        }
    }
    return example;
}

/* The node of the matrix that stands for `named`, a node of the tree of causes: the one with the
 * largest difference. */
static uint32_t real_node(struct causes *causes, const size_t *starts, uint32_t cluster,
                          uint32_t named, double *difference_ns)
{
    const struct weft_ecct_matrix *matrix = causes->base->matrix;
    uint32_t found = WEFT_ID_NONE;
    memset(causes->own_ns, 0, matrix->n_nodes * sizeof *causes->own_ns);
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; i++) {
        const uint32_t item = causes->table->items_b[causes->by_cluster[i]];
        for (uint64_t at = matrix->starts[item]; at < matrix->starts[item + 1]; at++)
            causes->own_ns[matrix->node[at]] += (double)matrix->ns[at];
    }
    *difference_ns = 0;
    for (uint32_t node = 0; node < matrix->n_nodes; node++) {
        const double slower_ns = causes->own_ns[node] / (double)causes->clusters[cluster].n_items -
                                 causes->base->mean_ns[node];
        if (causes->tree.of[node] == named && slower_ns > *difference_ns) {
            *difference_ns = slower_ns;
            found = node;
        }
    }
    return found;
}

/* The node of the matrix next to the root that stands for a node of the tree of causes, on the way
 * to `below`; the root if there is none. */
static uint32_t real_context(const struct causes *causes, uint32_t context, uint32_t below)
{
    uint32_t found = 0;
    for (uint32_t node = below; node != WEFT_ID_NONE && node != 0;
         node = causes->base->matrix->nodes[node].parent)
        if (causes->tree.of[node] == context)
            found = node;
    return found;
}

/* The share of what the cluster, whose profile is there, is slower that lies in what names it, in
 * whatever place. A context below the root is named too, and with it all that is done there: it has
 * at least half. */
static double explained(const struct causes *causes, uint32_t context, uint32_t named)
{
    const struct profile *profile = &causes->profile;
    const double all_ns = excess(causes, 0);
    const bool is_in_context = context != 0 && !is_mishap(causes, named, context);
    const uint32_t anchor = weft_cause_tree_anchor(&causes->tree, causes->base->matrix, named);
    double sum_ns = 0;
    for (size_t i = 0; i < profile->n_touched; i++) {
        const uint32_t node = profile->touched[i];
        if ((is_in_context && is_below(&causes->tree, node, context) &&
             kind_of(causes, node, context) == KIND_WORK) ||
            weft_cause_tree_is_like(&causes->tree, node, anchor))
            sum_ns += profile->own[node] - causes->tree.mean_ns[node];
    }
    return all_ns > 0 ? fmin(1, fmax(0, sum_ns / all_ns)) : 0;
}

static void fill_cause(struct causes *causes, const size_t *starts, uint32_t cluster,
                       struct weft_compare_cause *cause)
{
    double sum_ns = 0;
    profile_cluster(causes, starts, cluster);
    for (size_t i = starts[cluster]; i < starts[cluster + 1]; i++)
        sum_ns += duration_ns(causes->base->matrix, causes->table->items_b[causes->by_cluster[i]]);
    *cause = (struct weft_compare_cause){ .node = WEFT_ID_NONE,
                                          .n_items = causes->clusters[cluster].n_items,
                                          .context = 0,
                                          .explained = 1 };
    cause->duration_ns = sum_ns / (double)cause->n_items;
    cause->example = find_example(causes, starts, cluster, cause->duration_ns);
    if (causes->clusters[cluster].key == WEFT_ID_NONE)
        return;
    uint32_t context = standing_out(causes);
    context = context == WEFT_ID_NONE ? 0 : context;
    const uint32_t named = largest_own(causes, context, cause->n_items);
    cause->context_ns = excess(causes, context);
    if (named != WEFT_ID_NONE) {
        cause->explained = named == 0 ? 1 : explained(causes, context, named);
        cause->node = real_node(causes, starts, cluster, named, &cause->difference_ns);
    }
    cause->context = real_context(causes, context, cause->node);
}

struct ranked {
    struct weft_compare_cause cause;
    uint32_t cluster;
};

/* Most executions first, then the largest difference; what does not stand out is last. */
static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if ((x->cause.node == WEFT_ID_NONE) != (y->cause.node == WEFT_ID_NONE))
        return x->cause.node == WEFT_ID_NONE ? 1 : -1;
    if (x->cause.n_items != y->cause.n_items)
        return x->cause.n_items > y->cause.n_items ? -1 : 1;
    if (x->cause.difference_ns != y->cause.difference_ns)
        return x->cause.difference_ns > y->cause.difference_ns ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

static enum weft_code answer(struct causes *causes, size_t *starts, struct weft_err *err)
{
    struct weft_compare_table *table = causes->table;
    struct ranked *ranked = calloc(causes->n_clusters + 1, sizeof *ranked);
    uint32_t *place = calloc(causes->n_clusters + 1, sizeof *place);
    table->causes = WEFT_ARENA_NEW(table->arena, causes->n_clusters, struct weft_compare_cause);
    const bool has_memory = ranked && place && table->causes;
    size_t n = 0;
    for (uint32_t k = 0; has_memory && k < causes->n_clusters; k++)
        if (causes->clusters[k].n_items > 0) {
            ranked[n].cluster = k;
            fill_cause(causes, starts, k, &ranked[n++].cause);
        }
    if (has_memory) {
        qsort(ranked, n, sizeof *ranked, by_rank);
        for (size_t i = 0; i < n; i++) {
            table->causes[i] = ranked[i].cause;
            place[ranked[i].cluster] = (uint32_t)i;
        }
        for (size_t i = 0; i < table->n_b; i++)
            table->cause_of[i] = place[table->cause_of[i]];
        table->n_causes = n;
    }
    free(ranked);
    free(place);
    return has_memory ? WEFT_OK : weft_no_memory(err, "the causes");
}

static enum weft_code find(struct causes *causes, struct weft_err *err)
{
    enum weft_code code = find_clusters(causes, err);
    size_t *starts = code == WEFT_OK ? calloc(causes->n_clusters + 2, sizeof *starts) : NULL;
    if (code == WEFT_OK && !starts)
        code = weft_no_memory(err, "the causes");
    WEFT_THEN(code, join_alike(causes, err));
    if (code == WEFT_OK) {
        join_nested(causes, starts);
        code = join_names(causes, starts, err);
    }
    if (code == WEFT_OK) {
        sort_items(causes, starts);
        code = answer(causes, starts, err);
    }
    free(starts);
    return code;
}

enum weft_code weft_compare_find_causes(const struct weft_causes_base *base,
                                        struct weft_compare_table *table, struct weft_err *err)
{
    struct causes causes = { .base = base, .table = table, .keys = weft_map_new() };
    table->cause_of = WEFT_ARENA_NEW(table->arena, table->n_b, uint32_t);
    causes.by_cluster = calloc(table->n_b + 1, sizeof *causes.by_cluster);
    causes.own_ns = calloc(base->matrix->n_nodes + 1, sizeof *causes.own_ns);
    const bool has_memory = profile_init(&causes.profile, base->matrix->n_nodes + 1) &&
                            table->cause_of && causes.by_cluster && causes.keys && causes.own_ns &&
                            weft_cause_tree_init(&causes.tree, base, causes.keys);
    const enum weft_code code = has_memory ? find(&causes, err) : weft_no_memory(err, "the causes");
    profile_fini(&causes.profile);
    weft_cause_tree_fini(&causes.tree);
    free(causes.own_ns);
    weft_map_free(causes.keys);
    free(causes.by_cluster);
    free(causes.clusters);
    return code;
}
