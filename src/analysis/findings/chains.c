/* SPDX-License-Identifier: MIT
 *
 * Descends the functions of one thread, from the outermost inward, into the one that has most of a
 * problem, as long as that is at least half of it. Only functions of the program count; the
 * innermost one of a library where there is none.
 */
#include "analysis/findings/chains.h"

#include "analysis/findings/kinds.h"
#include "base/str.h"

enum { LEVELS = 32, CHILDREN = 64 };
static const double MOST = 0.5;

/* Whose functions are descended. */
enum whose { WAITING, HOLDING, LASTING };

struct descent {
    const struct weft_finding *finding;
    const uint32_t *of;
    uint32_t group;
    enum whose whose;
    const struct weft_frame *links[LEVELS];
    size_t n;
};

/* Functions of a part that count, the outermost first; their number, at most `most`. Of a thread
 * that runs the last stack may be that of its last wait: then a function of libc says nothing. */
static size_t functions_of(const struct weft_frame_path *path, const struct weft_path_part *part,
                           bool is_running, const struct weft_frame **functions, size_t most)
{
    const struct weft_frame *library = NULL;
    size_t n = 0;
    for (size_t i = part->from; i < part->to && n < most; i++) {
        const struct weft_frame *frame = path->frames[i];
        if (frame->kind != WEFT_FRAME_FUNCTION || weft_frame_is_nameless(frame))
            continue;
        if (weft_path_is_library(path, part->from, i) || weft_kind_has_call(frame->name))
            library = frame;
        else if (n == 0 || !weft_str_equal(functions[n - 1]->name, frame->name))
            functions[n++] = frame; /* else a call, and the stack that was seen of it */
    }
    if (n == 0 && library && !is_running)
        functions[n++] = library;
    return n;
}

/* A function below the links so far, and how much of the problem is in it. */
struct child {
    const struct weft_frame *frame;
    double ns;
};

static void add_child(struct child *children, size_t *n, const struct weft_frame *frame, double ns)
{
    for (size_t i = 0; i < *n; i++) {
        if (!weft_str_equal(children[i].frame->name, frame->name))
            continue;
        children[i].ns += ns;
        return;
    }
    if (*n < CHILDREN)
        children[(*n)++] = (struct child){ frame, ns };
}

static void take_path(const struct descent *descent, const struct weft_frame_path *path, double ns,
                      struct child *children, size_t *n, double *all_ns)
{
    const struct weft_frame *functions[LEVELS];
    const struct weft_kind kind = weft_kind_of(path);
    const struct weft_path_part *part = descent->whose == WAITING   ? &kind.waiting
                                        : descent->whose == HOLDING ? &kind.holding
                                                                    : &kind.lasting;
    const bool is_running = descent->whose == LASTING && kind.preemptor;
    const size_t n_functions = functions_of(path, part, is_running, functions, LEVELS);
    *all_ns += n_functions > 0 ? ns : 0; /* where no stack is known, all is open */
    for (size_t i = 0; i < descent->n; i++)
        if (i >= n_functions || !weft_str_equal(functions[i]->name, descent->links[i]->name))
            return;
    if (descent->n < n_functions)
        add_child(children, n, functions[descent->n], ns);
}

/* One level further inward; false at the end. */
static bool descend(struct descent *descent)
{
    const struct weft_compare_table *table = descent->finding->table;
    struct child children[CHILDREN];
    struct weft_frame_path path;
    size_t n = 0, most = 0;
    double all_ns = 0;
    for (size_t i = 0; i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        if (descent->of[row->node] != descent->group || row->difference_ns <= 0)
            continue;
        weft_frame_path_of(descent->finding->matrix, row->node, &path);
        take_path(descent, &path, row->difference_ns, children, &n, &all_ns);
    }
    for (size_t i = 1; i < n; i++)
        most = children[i].ns > children[most].ns ? i : most;
    if (n == 0 || children[most].ns < MOST * all_ns)
        return false;
    descent->links[descent->n++] = children[most].frame;
    return descent->n < LEVELS;
}

static struct weft_chain chain_of(struct descent descent, enum whose whose)
{
    struct weft_chain chain = { .n = 0 };
    descent.whose = whose;
    while (descend(&descent))
        ;
    const size_t n = descent.n;
    const size_t from = n > WEFT_CHAIN_LINKS ? n - WEFT_CHAIN_LINKS : 0;
    for (size_t i = from; i < n; i++)
        chain.links[chain.n++] = descent.links[i];
    chain.is_cut = from > 0;
    return chain;
}

void weft_chains_of(const struct weft_finding *finding, const uint32_t *of, uint32_t group,
                    struct weft_problem *problem)
{
    const struct descent descent = { .finding = finding, .of = of, .group = group };
    problem->waiting = chain_of(descent, WAITING);
    if (problem->holder.n_bytes > 0)
        problem->holding = chain_of(descent, HOLDING);
    if (problem->last.n_bytes > 0)
        problem->lasting = chain_of(descent, LASTING);
}
