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
    const struct weft_frame *within; /* a library's, that the last one calls; or NULL */
    double ns;
};

/* The same of one node. */
struct functions {
    const struct weft_frame *items[LEVELS];
    size_t n;
    const struct weft_frame *within;
};

void weft_chain_stacks_fini(struct weft_chain_stacks *stacks)
{
    WEFT_VEC_FINI(&stacks->functions);
    WEFT_VEC_FINI(stacks);
}

/* ---- functions of a thread ------------------------------------------------------------------- */

/* Is it a function of a library that works for the program: zlib's, not the C library's? */
static bool is_worker(const struct weft_frame *frame)
{
    static const char *const others[] = { "libc.",      "libc-",    "libpthread",  "ld-",
                                          "librt",      "libdl",    "libstdc++",   "libc++",
                                          "libgcc_s.",  "libweft-", "libjemalloc", "libtcmalloc",
                                          "libmimalloc" };
    return weft_module_is_library(frame->module) &&
           !WEFT_STR_BEGINS(weft_str_base(frame->module), others) && !weft_frame_is_address(frame);
}

/* Functions of a part that count, the outermost first. Of a thread that runs the last stack may be
 * that of its last wait: then a function of libc says nothing. */
static void functions_of(const struct weft_frame_path *path, const struct weft_path_part *part,
                         bool is_running, struct functions *found)
{
    const struct weft_frame *library = NULL;
    for (size_t i = part->from; i < part->to && found->n < LEVELS; i++) {
        const struct weft_frame *frame = path->frames[i];
        if (frame->kind != WEFT_FRAME_FUNCTION || weft_frame_is_nameless(frame))
            continue;
        if (frame->flags & WEFT_FRAME_WRAPS_WAITS && found->n > 0)
            continue;
        const bool is_call = frame->module.n_bytes == 0 && weft_frame_is_call(frame);
        if (is_call || weft_path_is_library(path, part->from, i) ||
            (weft_frame_is_address(frame) && found->n > 0)) { /* within a function with a name */
            library = frame;
            if (!found->within && is_worker(frame))
                found->within = frame;
            continue;
        }
        found->within = NULL;
        if (found->n == 0 || !weft_str_equal(found->items[found->n - 1]->name, frame->name))
            found->items[found->n++] = frame; /* else a call, and the stack that was seen of it */
    }
    if (found->n == 0 && library && !is_running) {
        found->items[found->n++] = library;
        found->within = NULL;
    }
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

/* Of the threads that the problem names; none: the path is not of these, or has no functions. */
static void functions_at(const struct weft_finding *finding, const struct weft_problem *problem,
                         const struct weft_frame_path *path, enum whose whose,
                         struct functions *found)
{
    const struct weft_kind kind = weft_kind_of(path);
    const struct weft_path_part *part = whose == WAITING   ? &kind.waiting
                                        : whose == HOLDING ? &kind.holding
                                                           : &kind.lasting;
    const bool is_other =
        whose == LASTING && (!kind.last || !weft_str_equal(kind.last->name, problem->last));
    found->n = 0;
    found->within = NULL;
    if (!is_other)
        functions_of(path, part, is_running_in(finding, path, part), found);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static bool add_stack(struct weft_chain_stacks *stacks, const struct functions *found, double ns)
{
    const size_t from = stacks->functions.n;
    struct weft_chain_stack *stack = WEFT_VEC_PUSH(stacks);
    if (!stack || !weft_vec_reserve(&stacks->functions.items, &stacks->functions.cap,
                                    from + found->n, sizeof *stacks->functions.items))
        return false;
    memcpy(&stacks->functions.items[from], found->items, found->n * sizeof *found->items);
    stacks->functions.n += found->n;
    *stack = (struct weft_chain_stack){ from, found->n, found->within, ns };
    return true;
}

/* What slow executions have more at the nodes of the group. */
static bool gather(struct weft_chain_stacks *stacks, const struct weft_finding *finding,
                   const struct weft_problem *problem, const uint32_t *of, uint32_t group,
                   enum whose whose)
{
    const struct weft_compare_table *table = finding->table;
    struct functions found;
    stacks->n = stacks->functions.n = 0;
    for (size_t i = 0; i < table->n_nodes && stacks->functions.n < MOST_FUNCTIONS; i++) {
        const struct weft_compare_node *row = &table->nodes[i];
        struct weft_frame_path path;
        if (of[row->node] != group || row->difference_ns <= 0)
            continue;
        weft_frame_path_of(finding->matrix, row->node, &path);
        functions_at(finding, problem, &path, whose, &found);
        if (found.n > 0 && !add_stack(stacks, &found, row->difference_ns))
            return false; /* where no stack is known, all is open */
    }
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* The function at that level of a stack; with `is_end` the library's that its last one calls, if
 * that is the one before. */
static const struct weft_frame *function_at(const struct weft_chain_stacks *stacks, size_t stack,
                                            size_t level, bool is_end)
{
    const struct weft_chain_stack *at = &stacks->items[stack];
    if (is_end)
        return at->n == level ? at->within : NULL;
    return at->n > level ? stacks->functions.items[at->from + level] : NULL;
}

/* The only function that can have more than half of what lies at a level (Boyer and Moore 1981);
 * NULL: none. */
static const struct weft_frame *choose(const struct weft_chain_stacks *stacks, size_t level,
                                       bool is_end)
{
    const struct weft_frame *chosen = NULL;
    double weight = 0;
    for (size_t i = 0; i < stacks->n; i++) {
        const double ns = stacks->items[i].ns;
        const struct weft_frame *next = function_at(stacks, i, level, is_end);
        if (!next)
            continue;
        if (chosen && weft_str_equal(chosen->name, next->name)) {
            weight += ns;
        } else if (!chosen || ns > weight) {
            weight = chosen ? ns - weight : ns;
            chosen = next;
        } else {
            weight -= ns;
        }
    }
    return chosen;
}

static bool is_at(const struct weft_chain_stacks *stacks, size_t stack, size_t level, bool is_end,
                  struct weft_str name)
{
    const struct weft_frame *function = function_at(stacks, stack, level, is_end);
    return function && weft_str_equal(function->name, name);
}

/* How much lies in stacks that have the function at that level. */
static double weigh(const struct weft_chain_stacks *stacks, size_t level, bool is_end,
                    struct weft_str name)
{
    double ns = 0;
    for (size_t i = 0; i < stacks->n; i++)
        ns += is_at(stacks, i, level, is_end, name) ? stacks->items[i].ns : 0;
    return ns;
}

/* Of the stacks those that have the function at that level. */
static void keep(struct weft_chain_stacks *stacks, size_t level, struct weft_str name)
{
    size_t n = 0;
    for (size_t i = 0; i < stacks->n; i++)
        if (is_at(stacks, i, level, false, name))
            stacks->items[n++] = stacks->items[i];
    stacks->n = n;
}

static struct weft_chain descend(struct weft_chain_stacks *stacks)
{
    const struct weft_frame *links[LEVELS];
    struct weft_chain chain = { .n = 0 };
    double all_ns = 0;
    size_t n = 0;
    for (size_t i = 0; i < stacks->n; i++)
        all_ns += stacks->items[i].ns;
    for (; n < LEVELS && (links[n] = choose(stacks, n, false)); n++) {
        if (weigh(stacks, n, false, links[n]->name) < MOST * all_ns)
            break;
        keep(stacks, n, links[n]->name);
    }
    const struct weft_frame *within = n > 0 ? choose(stacks, n, true) : NULL;
    if (within && weigh(stacks, n, true, within->name) >= MOST * all_ns)
        chain.within = within;
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
