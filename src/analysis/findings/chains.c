/* SPDX-License-Identifier: MIT
 *
 * Descends the functions of one thread, from the outermost inward, into the one that has most of a
 * problem, as long as that is at least half of it. Only functions of the program count; the
 * innermost one of a library where there is none.
 */
#include "analysis/findings/chains.h"

#include "analysis/findings/calls.h"
#include "analysis/findings/kinds.h"
#include "base/str.h"

enum { LEVELS = 128 }; /* functions of a stack */
/* Frames of paths that a chain looks at: of very deep recursion only the outer functions. */
static const size_t MOST_FRAMES = 16000000;
static const double MOST = 0.5;

/* Whose functions are descended. */
enum whose { WAITING, HOLDING, LASTING };

struct descent {
    const struct weft_finding *finding;
    const struct weft_problem *problem;
    const uint32_t *of;
    uint32_t group;
    enum whose whose;
    const struct weft_frame *links[LEVELS];
    const struct weft_frame **functions; /* room for LEVELS, of the path that is looked at */
    size_t n;
    size_t n_looked; /* at frames */
};

/* The function that has most, as far as is known. */
struct vote {
    const struct weft_frame *frame;
    double weight, frame_ns, all_ns;
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
        if (frame->flags & WEFT_FRAME_WRAPS_WAITS && n > 0)
            continue;
        const bool is_call = frame->module.n_bytes == 0 && weft_frame_is_call(frame);
        if (is_call || weft_path_is_library(path, part->from, i) ||
            (weft_frame_is_address(frame) && n > 0)) /* within a function with a name */
            library = frame;
        else if (n == 0 || !weft_str_equal(functions[n - 1]->name, frame->name))
            functions[n++] = frame; /* else a call, and the stack that was seen of it */
    }
    if (n == 0 && library && !is_running)
        functions[n++] = library;
    return n;
}

/* Does the thread run, or could it? With scheduling events that is what no state means, unless it
 * waits for another thread. */
static bool is_running_in(const struct weft_finding *finding, const struct weft_frame_path *path,
                          const struct weft_path_part *part)
{
    const uint8_t state =
        part->state < part->to ? path->frames[part->state]->state : WEFT_FRAME_NO_STATE;
    if (state == WEFT_FRAME_NO_STATE)
        return !finding->has_no_switches && part->to == path->n;
    return state == WEFT_FRAME_RUNNING || state == WEFT_FRAME_PREEMPTED;
}

/* Which function is next below the links so far, of a path: NULL if the path does not lead there,
 * or is not of the threads that the problem names. *has_any: does it have functions at all? */
static const struct weft_frame *next_of(const struct descent *descent,
                                        const struct weft_frame_path *path, bool *has_any)
{
    const struct weft_frame **const functions = descent->functions;
    const struct weft_kind kind = weft_kind_of(path);
    const struct weft_path_part *part = descent->whose == WAITING   ? &kind.waiting
                                        : descent->whose == HOLDING ? &kind.holding
                                                                    : &kind.lasting;
    const bool is_other = descent->whose == LASTING &&
                          (!kind.last || !weft_str_equal(kind.last->name, descent->problem->last));
    const bool is_running = is_running_in(descent->finding, path, part);
    const size_t n = is_other ? 0 : functions_of(path, part, is_running, functions, LEVELS);
    *has_any = n > 0;
    for (size_t i = 0; i < descent->n; i++)
        if (i >= n || !weft_str_equal(functions[i]->name, descent->links[i]->name))
            return NULL;
    return descent->n < n ? functions[descent->n] : NULL;
}

/* Calls for each path of the group: which function is next, and how much lies there. */
typedef void (*see_fn)(struct vote *vote, const struct weft_frame *next, double ns);

static void see_all(struct descent *descent, struct vote *vote, see_fn see)
{
    const struct weft_compare_table *table = descent->finding->table;
    struct weft_frame_path path;
    for (size_t i = 0; i < table->n_nodes; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        bool has_any;
        if (descent->of[row->node] != descent->group || row->difference_ns <= 0)
            continue;
        weft_frame_path_of(descent->finding->matrix, row->node, &path);
        descent->n_looked += path.n;
        const struct weft_frame *next = next_of(descent, &path, &has_any);
        if (has_any) /* where no stack is known, all is open */
            see(vote, next, row->difference_ns);
    }
}

/* The only one that can have more than half (Boyer and Moore 1981). */
static void choose(struct vote *vote, const struct weft_frame *next, double ns)
{
    if (!next)
        return;
    if (vote->frame && weft_str_equal(vote->frame->name, next->name)) {
        vote->weight += ns;
    } else if (!vote->frame || ns > vote->weight) {
        vote->weight = vote->frame ? ns - vote->weight : ns;
        vote->frame = next;
    } else {
        vote->weight -= ns;
    }
}

static void count(struct vote *vote, const struct weft_frame *next, double ns)
{
    vote->all_ns += ns;
    vote->frame_ns += next && weft_str_equal(next->name, vote->frame->name) ? ns : 0;
}

/* One level further inward; false at the end. */
static bool descend(struct descent *descent)
{
    struct vote vote = { .frame = NULL };
    see_all(descent, &vote, choose);
    if (!vote.frame || descent->n == LEVELS || descent->n_looked > MOST_FRAMES)
        return false;
    see_all(descent, &vote, count);
    if (vote.frame_ns < MOST * vote.all_ns)
        return false;
    descent->links[descent->n++] = vote.frame;
    return true;
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
    const struct weft_frame *functions[LEVELS];
    const struct descent descent = {
        .finding = finding, .problem = problem, .of = of, .group = group, .functions = functions
    };
    problem->waiting = chain_of(descent, WAITING);
    if (problem->holder.n_bytes > 0)
        problem->holding = chain_of(descent, HOLDING);
    if (problem->last.n_bytes > 0)
        problem->lasting = chain_of(descent, LASTING);
}
