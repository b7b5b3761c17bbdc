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
#include "base/vec.h"

#include <string.h>

enum { LEVELS = 128 }; /* functions of a stack */
/* Functions of all stacks of a problem together: of more than that stacks are left out. */
static const size_t MOST_FUNCTIONS = 4000000;
static const double MOST = 0.5;

/* Whose functions are descended. */
enum whose { WAITING, HOLDING, LASTING };

/* Functions of a thread at a node, and how much lies there. */
struct weft_chain_stack {
    size_t from; /* in `functions` */
    size_t n;
    double ns;
};

void weft_chain_stacks_fini(struct weft_chain_stacks *stacks)
{
    WEFT_VEC_FINI(&stacks->functions);
    WEFT_VEC_FINI(stacks);
}

/* ---- functions of a thread ------------------------------------------------------------------- */

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

/* Of the threads that the problem names; 0: the path is not of these, or has no functions. */
static size_t functions_at(const struct weft_finding *finding, const struct weft_problem *problem,
                           const struct weft_frame_path *path, enum whose whose,
                           const struct weft_frame **functions)
{
    const struct weft_kind kind = weft_kind_of(path);
    const struct weft_path_part *part = whose == WAITING   ? &kind.waiting
                                        : whose == HOLDING ? &kind.holding
                                                           : &kind.lasting;
    const bool is_other =
        whose == LASTING && (!kind.last || !weft_str_equal(kind.last->name, problem->last));
    return is_other
               ? 0
               : functions_of(path, part, is_running_in(finding, path, part), functions, LEVELS);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool add_stack(struct weft_chain_stacks *stacks, const struct weft_frame *const *functions,
                      size_t n, double ns)
{
    const size_t from = stacks->functions.n;
    struct weft_chain_stack *stack = WEFT_VEC_PUSH(stacks);
    if (!stack || !weft_vec_reserve(&stacks->functions.items, &stacks->functions.cap, from + n,
                                    sizeof *stacks->functions.items))
        return false;
    memcpy(&stacks->functions.items[from], functions, n * sizeof(*functions));
    stacks->functions.n += n;
    *stack = (struct weft_chain_stack){ from, n, ns };
    return true;
}

/* What slow executions have more at the nodes of the group. */
static bool gather(struct weft_chain_stacks *stacks, const struct weft_finding *finding,
                   const struct weft_problem *problem, const uint32_t *of, uint32_t group,
                   enum whose whose)
{
    const struct weft_frame *functions[LEVELS];
    const struct weft_compare_table *table = finding->table;
    stacks->n = stacks->functions.n = 0;
    for (size_t i = 0; i < table->n_nodes && stacks->functions.n < MOST_FUNCTIONS; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        struct weft_frame_path path;
        if (of[row->node] != group || row->difference_ns <= 0)
            continue;
        weft_frame_path_of(finding->matrix, row->node, &path);
        const size_t n = functions_at(finding, problem, &path, whose, functions);
        if (n > 0 && !add_stack(stacks, functions, n, row->difference_ns))
            return false; /* where no stack is known, all is open */
    }
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* The only function that can have more than half of what lies `level` functions deep (Boyer and
 * Moore 1981); NULL: none. */
static const struct weft_frame *choose(const struct weft_chain_stacks *stacks, size_t level)
{
    const struct weft_frame *chosen = NULL;
    double weight = 0;
    for (size_t i = 0; i < stacks->n; i++) {
        const struct weft_chain_stack *stack = &stacks->items[i];
        if (stack->n <= level)
            continue;
        const struct weft_frame *next = stacks->functions.items[stack->from + level];
        if (chosen && weft_str_equal(chosen->name, next->name)) {
            weight += stack->ns;
        } else if (!chosen || stack->ns > weight) {
            weight = chosen ? stack->ns - weight : stack->ns;
            chosen = next;
        } else {
            weight -= stack->ns;
        }
    }
    return chosen;
}

/* Keeps the stacks that have the function at that level; how much lies there. */
static double keep(struct weft_chain_stacks *stacks, size_t level, struct weft_str name)
{
    double ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < stacks->n; i++) {
        const struct weft_chain_stack stack = stacks->items[i];
        if (stack.n <= level ||
            !weft_str_equal(stacks->functions.items[stack.from + level]->name, name))
            continue;
        stacks->items[n++] = stack;
        ns += stack.ns;
    }
    stacks->n = n;
    return ns;
}

static struct weft_chain descend(struct weft_chain_stacks *stacks)
{
    const struct weft_frame *links[LEVELS];
    struct weft_chain chain = { .n = 0 };
    double all_ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < stacks->n; i++)
        all_ns += stacks->items[i].ns;
    while (n < LEVELS && (links[n] = choose(stacks, n)) &&
           keep(stacks, n, links[n]->name) >= MOST * all_ns)
        n++;
    const size_t from = n > WEFT_CHAIN_LINKS ? n - WEFT_CHAIN_LINKS : 0;
    for (size_t i = from; i < n; i++)
        chain.links[chain.n++] = links[i];
    chain.is_cut = from > 0;
    return chain;
}

bool weft_chains_of(struct weft_chain_stacks *stacks, const struct weft_finding *finding,
                    const uint32_t *of, uint32_t group, struct weft_problem *problem)
{
    struct weft_chain *const chains[] = {
        [WAITING] = &problem->waiting, [HOLDING] = &problem->holding, [LASTING] = &problem->lasting
    };
    for (enum whose whose = WAITING; whose <= LASTING; whose++) {
        if ((whose == HOLDING && problem->holder.n_bytes == 0) ||
            (whose == LASTING && problem->last.n_bytes == 0))
            continue;
        if (!gather(stacks, finding, problem, of, group, whose))
            return false;
        *chains[whose] = descend(stacks);
    }
    return true;
}
