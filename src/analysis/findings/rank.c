/* SPDX-License-Identifier: MIT
 *
 * Problems of all types together: one cause is one row, what is behind others comes first.
 */
#include "analysis/findings/rank.h"

#include "analysis/findings/causes.h"
#include "analysis/findings/event_loops.h"
#include "analysis/findings/kinds.h"
#include "analysis/findings/problems.h"

#include <stdlib.h>
#include <string.h>

static const double WITHOUT_LOCK = 0.25; /* of what waits for a lock cost */

static bool ends_in_one(const struct weft_chain *a, const struct weft_chain *b)
{
    return a->n > 0 && b->n > 0 &&
           weft_str_equal(a->links[a->n - 1]->name, b->links[b->n - 1]->name);
}

/* The thread at the end of a problem, and its functions. */
struct culprit {
    struct weft_str thread;
    const struct weft_chain *chain;
};

static struct culprit culprit_of(const struct weft_problem *problem)
{
    if (problem->last.n_bytes > 0)
        return (struct culprit){ problem->last, &problem->lasting };
    if (problem->holder.n_bytes > 0)
        return (struct culprit){ problem->holder, &problem->holding };
    return (struct culprit){ problem->waiter, &problem->waiting };
}

/* What the thread at the end does: it works, whether others wait for it or not. */
static enum weft_problem_kind deed_of(const struct weft_problem *problem)
{
    switch (problem->kind) {
    case WEFT_PROBLEM_QUEUE:
    case WEFT_PROBLEM_HEAD_OF_LINE:
        return WEFT_PROBLEM_CODE;
    case WEFT_PROBLEM_LOCK_WAIT:
        return problem->last.n_bytes > 0 ? WEFT_PROBLEM_CODE : WEFT_PROBLEM_LOCK_WAIT;
    default:
        return problem->kind;
    }
}

/* Is the function the one that the problem's type of executions is named after? */
static bool is_type(const struct weft_problem *problem, const struct weft_frame *function)
{
    return weft_str_equal(function->name, problem->finding->type);
}

/* Do the functions end alike: the last three, as far as both have them, and up to those that the
 * types are named after? One that many call, such as a sleep, says little alone. */
static bool ends_alike(const struct weft_problem *a, const struct weft_chain *x,
                       const struct weft_problem *b, const struct weft_chain *y)
{
    enum { ALIKE = 3 };
    size_t n = 0;
    while (n < ALIKE && n < x->n && n < y->n) {
        const struct weft_frame *f = x->links[x->n - 1 - n], *g = y->links[y->n - 1 - n];
        if (n > 0 && (is_type(a, f) || is_type(b, g)))
            break;
        if (!weft_str_equal(f->name, g->name))
            return false;
        n++;
    }
    return n > 0;
}

/* What depends on the place in the program alone. */
static bool is_of_thread(enum weft_problem_kind deed)
{
    switch (deed) {
    case WEFT_PROBLEM_CODE:
    case WEFT_PROBLEM_SPIN:
    case WEFT_PROBLEM_ALLOCATOR:
    case WEFT_PROBLEM_FSYNC:
    case WEFT_PROBLEM_DISK:
    case WEFT_PROBLEM_FAULT:
    case WEFT_PROBLEM_MINOR_FAULT:
    case WEFT_PROBLEM_TIMEOUT:
    case WEFT_PROBLEM_SLEEP:
        return true;
    default:
        return false;
    }
}

/* Does one thread in one function cost both: those that wait for it, and its own executions? */
static bool is_of_one_thread(const struct weft_problem *a, const struct weft_problem *b)
{
    const struct culprit x = culprit_of(a), y = culprit_of(b);
    return deed_of(a) == deed_of(b) && is_of_thread(deed_of(a)) &&
           ends_alike(a, x.chain, b, y.chain) && weft_threads_are_alike(x.thread, y.thread);
}

/* Does one thread have the CPUs that both need? */
static bool is_for_one_thread(const struct weft_problem *a, const struct weft_problem *b)
{
    return a->kind == b->kind && (a->kind == WEFT_PROBLEM_CPU || a->kind == WEFT_PROBLEM_OTHER) &&
           a->preemptor.n_bytes > 0 && weft_threads_are_alike(a->preemptor, b->preemptor);
}

/* The row before `n` that is of the same cause, or NULL: for the same thread or object, or in the
 * same function. */
static struct weft_problem *find_same(struct weft_problem *rows, size_t n,
                                      const struct weft_problem *problem)
{
    for (size_t k = 0; k < n; k++)
        if (is_of_one_thread(&rows[k], problem) || is_for_one_thread(&rows[k], problem) ||
            (rows[k].key == problem->key &&
             (rows[k].holder.n_bytes > 0 || rows[k].object.n_bytes > 0 ||
              ends_alike(&rows[k], &rows[k].waiting, problem, &problem->waiting))))
            return &rows[k];
    return NULL;
}

/* Of those that wait for a thread some hold a lock at that time, which others of them want: if
 * enough wait without the lock, it is the thread that all wait for. */
static bool is_without_lock(const struct weft_problem *problem, const struct weft_problem *locked)
{
    return locked->kind == WEFT_PROBLEM_LOCK_WAIT && problem->kind == WEFT_PROBLEM_QUEUE &&
           !problem->is_small && problem->cost_ns >= WITHOUT_LOCK * locked->cost_ns;
}

/* Each type once: so there is room in `also` for those that are not its own. */
static bool names_type(const struct weft_problem *problem, struct weft_str type)
{
    bool is_named = weft_str_equal(problem->finding->type, type);
    for (size_t i = 0; i < problem->n_also; i++)
        is_named = is_named || weft_str_equal(problem->also[i]->type, type);
    return is_named;
}

static void add_type(struct weft_problem *problem, const struct weft_finding *finding)
{
    if (!names_type(problem, finding->type))
        problem->also[problem->n_also++] = finding;
}

static void swap_all_but_types(struct weft_problem *a, struct weft_problem *b)
{
    const struct weft_problem before = *a;
    *a = *b;
    *b = before;
    b->also = a->also;
    b->n_also = a->n_also;
    a->also = before.also;
    a->n_also = before.n_also;
}

/* Takes the types of the other row. Of two rows of one type the one that tells more comes first, as
 * their numbers are of different executions: the other one is small, unless it is of a lock. Else
 * one is enough: false. */
static bool is_kept(struct weft_problem *same, struct weft_problem *problem)
{
    const bool is_of_one_type = same->finding == problem->finding;
    for (size_t k = 0; k < problem->n_also; k++) /* rows were merged before */
        add_type(same, problem->also[k]);
    problem->n_also = 0;
    const bool is_locked = is_of_one_type && is_without_lock(problem, same);
    if (is_locked)
        swap_all_but_types(same, problem);
    add_type(same, problem->finding);
    problem->is_small |= !is_locked;
    return is_of_one_type;
}

/* One cause of several types is one problem, of the type that comes first; the others are named
 * beside it. False without memory. */
static bool merge(struct weft_problems_table *table, size_t n_types)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        struct weft_problem *same = find_same(table->rows, n, &table->rows[i]);
        if (same && !same->also)
            same->also = WEFT_ARENA_NEW(table->arena, n_types, const struct weft_finding *);
        if (same && !same->also)
            return false;
        if (!same || is_kept(same, &table->rows[i]))
            table->rows[n++] = table->rows[i];
    }
    table->n_rows = n;
    return true;
}

/* Is `problem` why the other one is there? Threads that spin take the CPUs of others. */
static bool is_behind(const struct weft_problem *problem, const struct weft_problem *other)
{
    return !problem->is_small && problem->kind == WEFT_PROBLEM_SPIN &&
           other->kind == WEFT_PROBLEM_CPU && problem->finding == other->finding;
}

static void put_causes_first(struct weft_problem *rows, size_t n)
{
    for (size_t cause = 0; cause < n; cause++) {
        size_t at = 0;
        while (at < cause && !is_behind(&rows[cause], &rows[at]))
            at++;
        const struct weft_problem first = rows[cause];
        memmove(&rows[at + 1], &rows[at], (cause - at) * sizeof *rows);
        rows[at] = first;
    }
}

/* Is `other` time of executions that hold the lock of `problem`, at what the others wait for? What
 * costs more than the waits is more than that. */
static bool is_of_holder(const struct weft_problem *problem, const struct weft_problem *other)
{
    const bool is_kind =
        other->kind == WEFT_PROBLEM_CODE || weft_kind_of_lock(other->kind) == problem->kind;
    return !problem->is_small && weft_problem_is_of_lock(problem->kind) &&
           !weft_problem_is_of_lock(other->kind) && is_kind && other->cost_ns <= problem->cost_ns &&
           !is_without_lock(other, problem) &&
           (ends_in_one(&problem->holding, &other->waiting) ||
            (problem->lasting.n > 0 && ends_in_one(&problem->lasting, &other->holding)));
}

/* One cause is named once: what holders do is small. Then small ones are behind the others, each in
 * their order. Returns the number of the others. */
static size_t put_holders_last(struct weft_problem *rows, size_t n)
{
    size_t n_first = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            rows[k].is_small |= k != i && is_of_holder(&rows[i], &rows[k]);
    for (size_t i = 0; i < n; i++) {
        if (rows[i].is_small)
            continue;
        const struct weft_problem first = rows[i];
        memmove(&rows[n_first + 1], &rows[n_first], (i - n_first) * sizeof *rows);
        rows[n_first++] = first;
    }
    return n_first;
}

/* Types whose problems are all outside the program have none. */
static void drop_outside(struct weft_problems_table *table)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        bool has_inside = false;
        for (size_t k = 0; k < table->n_rows && !has_inside; k++)
            has_inside = table->rows[k].finding == table->rows[i].finding &&
                         !weft_kind_is_outside(table->rows[k].kind);
        if (has_inside)
            table->rows[n++] = table->rows[i];
    }
    table->n_rows = n;
}

/* What may be chance is worth a look where nothing else is found. */
static void step_back(struct weft_problems_table *table)
{
    bool has_evident = false;
    for (size_t i = 0; i < table->n_rows; i++)
        has_evident |= table->rows[i].is_evident && !table->rows[i].is_small;
    for (size_t i = 0; i < table->n_rows; i++)
        table->rows[i].is_small |= has_evident && !table->rows[i].is_evident;
}

static int by_rank(const void *a, const void *b)
{
    const struct weft_problem *x = a, *y = b;
    if (x->is_small != y->is_small)
        return x->is_small ? 1 : -1;
    if (x->is_evident != y->is_evident)
        return x->is_evident ? -1 : 1;
    if (x->finding->rank != y->finding->rank)
        return x->finding->rank < y->finding->rank ? -1 : 1;
    return weft_problem_by_cost(a, b);
}

/* Single executions that are far slower are worth a look, too, whatever statistics say; and where
 * other programs had the CPU, what is slow without that. */
static bool is_listed(const struct weft_finding *finding)
{
    return finding->table && (finding->is_significant || finding->verdict == WEFT_VERDICT_SINGLE ||
                              weft_finding_is_of_other_programs(finding));
}

static size_t n_rows_of(const struct weft_problems_table *table, const struct weft_finding *finding)
{
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        n += table->rows[i].finding == finding;
    return n;
}

/* Why findings have no rows, if they have none now and had none before. */
static void say_why(const struct weft_findings_table *findings, struct weft_problems_table *table,
                    enum weft_unlisted why)
{
    for (size_t i = 0; i < findings->n_rows; i++)
        if (is_listed(&findings->rows[i]) &&
            !weft_finding_is_of_other_programs(&findings->rows[i]) &&
            table->unlisted[i] == WEFT_LISTED && n_rows_of(table, &findings->rows[i]) == 0)
            table->unlisted[i] = (uint8_t)why;
}

enum weft_code weft_problems_rank(struct weft_problems_table *table, size_t n_types,
                                  struct weft_err *err)
{
    qsort(table->rows, table->n_rows, sizeof *table->rows, by_rank);
    if (!merge(table, n_types))
        return weft_no_memory(err, "problems");
    put_causes_first(table->rows, put_holders_last(table->rows, table->n_rows));
    return WEFT_OK;
}

static enum weft_code list_all(const struct weft_findings_table *findings,
                               struct weft_problems_table *table, struct weft_err *err)
{
    for (size_t i = 0; i < findings->n_rows; i++)
        if (is_listed(&findings->rows[i]))
            WEFT_TRY(weft_problems_add(&findings->rows[i], table, err));
    if (!weft_event_loops_mark(findings, table))
        return weft_no_memory(err, "problems");
    say_why(findings, table, WEFT_UNLISTED_SPREAD);
    drop_outside(table);
    say_why(findings, table, WEFT_UNLISTED_OUTSIDE);
    step_back(table);
    return weft_problems_rank(table, findings->n_rows, err);
}

enum weft_code weft_problems_run(const struct weft_findings_table *findings,
                                 struct weft_problems_table **table, struct weft_err *err)
{
    struct weft_arena *arena = weft_arena_new(0);
    struct weft_problems_table *made =
        arena ? WEFT_ARENA_NEW(arena, 1, struct weft_problems_table) : NULL;
    /* of each type, of all of some, and of the critical path */
    const size_t n_rows = (2 * findings->n_rows + 1) * WEFT_PROBLEMS_OF_TYPE;
    *table = NULL;
    if (made)
        *made = (struct weft_problems_table){
            .arena = arena,
            .rows = WEFT_ARENA_NEW(arena, n_rows, struct weft_problem),
            .unlisted = WEFT_ARENA_NEW(arena, findings->n_rows + 1, uint8_t),
        };
    const enum weft_code code = made && made->rows && made->unlisted
                                    ? list_all(findings, made, err)
                                    : weft_no_memory(err, "problems");
    if (code == WEFT_OK)
        *table = made;
    else if (arena)
        weft_arena_free(arena);
    return code;
}
