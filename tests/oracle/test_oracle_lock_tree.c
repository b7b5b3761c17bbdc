/* SPDX-License-Identifier: MIT
 *
 * Trees of waits, of critical sections and of what went on meanwhile, against a count of the
 * simulation (interplay_world.h), ns by ns.
 */
#include "analysis/interplay/interplay.h"
#include "interplay_world.h"
#include "schema/interplay.h"
#include "schema/result.h"

enum {
    SEEDS = 120,
    SEEDS_A_LINE = 40,
    NO_CALL = FUNCTIONS,
    PATHS = (PLACES + 1) * (FUNCTIONS + 1)
};

/* Time by path: a thread (0 but of what went on meanwhile), a place or none, a call below or none.
 */
static uint64_t want_ns[MOST_THREADS][PATHS], thread_ns[MOST_THREADS];
static const struct weft_interplay *interplay;

static size_t path_of(unsigned place, unsigned call)
{
    return place * (size_t)(FUNCTIONS + 1) + call;
}

/* ---- the count ------------------------------------------------------------------------------- */

static uint64_t inside(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t ns = 0;
    for (uint64_t at = from_ns; at < to_ns; at++)
        ns += at >= start_ns && at < end_ns;
    return ns;
}

static unsigned call_of(unsigned object)
{
    if (object <= MUTEX_B)
        return world.is_told_by_events ? NO_CALL : FN_LOCK;
    return object == CONDITION ? FN_WAIT : FN_SEM_WAIT;
}

static void count_waits(uint64_t from_ns, uint64_t to_ns)
{
    for (size_t i = 0; i < world.n_waits; i++) {
        const struct wait *wait = &world.waits[i];
        want_ns[0][path_of(wait->place, call_of(wait->object))] +=
            inside(wait->start_ns, end_of(wait, interplay), from_ns, to_ns);
    }
}

static uint64_t hold_end(const struct hold *hold)
{
    return hold->is_over ? hold->end_ns : world.told_ns;
}

/* The function of the program in which a thread is; PLACES: none. */
static unsigned place_at(const struct thread *thread, uint64_t at_ns)
{
    unsigned place = PLACES;
    for (size_t i = 0; i < thread->n_calls && thread->calls[i].start_ns <= at_ns; i++)
        if (thread->calls[i].function < PLACES)
            place = thread->calls[i].function;
    return place;
}

static void count_sections(uint64_t from_ns, uint64_t to_ns)
{
    for (size_t i = 0; i < world.n_holds; i++) {
        const struct hold *hold = &world.holds[i];
        want_ns[0][path_of(place_at(&world.threads[hold->thread], hold->got_ns),
                           call_of(hold->object))] +=
            inside(hold->got_ns, hold_end(hold), from_ns, to_ns);
    }
}

/* Whether thread `t` makes this one wait at that time. */
static bool is_blamed(const struct wait *wait, unsigned t, uint64_t at_ns)
{
    if (at_ns < wait->start_ns || at_ns >= end_of(wait, interplay) || t == wait->thread)
        return false;
    if (wait->object > MUTEX_B)
        return wait->is_over && wait->releaser == t && at_ns < wait->release_ns;
    for (size_t i = 0; i < world.n_holds; i++) {
        const struct hold *hold = &world.holds[i];
        if (hold->thread == t && hold->object == wait->object && hold->life == wait->life &&
            at_ns >= hold->got_ns && at_ns < hold_end(hold))
            return true;
    }
    return false;
}

/* The call below the program's function, in which it is; NO_CALL: none. */
static unsigned inner_at(const struct thread *thread, uint64_t at_ns)
{
    for (size_t i = 0; i < thread->n_calls; i++) {
        const struct call *call = &thread->calls[i];
        const bool is_open = call->end_ns == 0 || at_ns < call->end_ns;
        if (call->function >= PLACES && !is_event(call) && call->start_ns <= at_ns && is_open)
            return call->function;
    }
    return NO_CALL;
}

static void count_meanwhile(uint64_t from_ns, uint64_t to_ns)
{
    for (unsigned t = 0; t < world.n_threads; t++)
        for (uint64_t at_ns = from_ns; at_ns < to_ns; at_ns++) {
            const struct thread *thread = &world.threads[t];
            bool is_any = false;
            for (size_t i = 0; i < world.n_waits && !is_any; i++)
                is_any = is_blamed(&world.waits[i], t, at_ns);
            if (!is_any)
                continue;
            thread_ns[t]++;
            if (at_ns < interplay->last_ns[t] && place_at(thread, at_ns) < PLACES)
                want_ns[t][path_of(place_at(thread, at_ns), inner_at(thread, at_ns))]++;
        }
}

/* ---- the comparison -------------------------------------------------------------------------- */

static unsigned function_of(struct weft_str name)
{
    unsigned function = 0;
    while (function < FUNCTIONS && !weft_str_equal(name, weft_str_of(function_names[function])))
        function++;
    return function;
}

/* Own times of rows are those that were counted, and all of them. */
static bool rows_same(const struct weft_lock_tree_table *table, unsigned base)
{
    uint64_t left_ns = 0;
    unsigned t = 0, place = PLACES;
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_lock_tree_row *row = &table->rows[i];
        if (base == 1 && row->depth == 0) {
            const char *open = memchr(row->name.bytes, '(', row->name.n_bytes);
            t = open ? (unsigned)strtoul(open + 1, NULL, 10) - FIRST_TID : MOST_THREADS;
            if (t >= world.n_threads || row->sum_ns != thread_ns[t])
                return differ("a thread", row->sum_ns, t < world.n_threads ? thread_ns[t] : 0);
            continue;
        }
        const unsigned function = function_of(row->name);
        place = row->depth == base ? function : place;
        if (function == FUNCTIONS || place >= PLACES)
            return differ("a function that was not called, at row", i, row->depth);
        uint64_t *ns = &want_ns[t][path_of(place, row->depth == base ? NO_CALL : function)];
        if (row->self_ns != *ns)
            return differ("own time", row->self_ns, *ns);
        *ns = 0;
    }
    for (unsigned k = 0; k < MOST_THREADS; k++)
        for (size_t at = 0; at < PATHS; at++)
            left_ns += want_ns[k][at];
    return left_ns == 0 || differ("time of paths that are missing", 0, left_ns);
}

static bool tree_same(const struct weft_run *run, enum weft_lock_tree_kind kind, uint64_t from_ns,
                      uint64_t to_ns)
{
    const struct weft_lock_tree_opts opts = {
        .from_ns = from_ns, .to_ns = to_ns, .kind = kind, .object_id = UINT64_MAX
    };
    struct weft_lock_tree_table *table = NULL;
    struct weft_err err = { 0 };
    memset(want_ns, 0, sizeof want_ns);
    memset(thread_ns, 0, sizeof thread_ns);
    if (kind == WEFT_LOCK_TREE_WAITS)
        count_waits(from_ns, to_ns);
    else if (kind == WEFT_LOCK_TREE_SECTIONS)
        count_sections(from_ns, to_ns);
    else
        count_meanwhile(from_ns, to_ns);
    if (weft_lock_tree_run(interplay, NULL, &opts, run, &table, &err) != WEFT_OK)
        return failed(&err);
    const size_t n = strlen(what);
    (void)snprintf(what + n, sizeof what - n, "tree %u: ", (unsigned)kind);
    const bool is_same = rows_same(table, kind == WEFT_LOCK_TREE_MEANWHILE);
    if (is_same)
        what[n] = '\0';
    weft_result_free(table);
    return is_same;
}

static bool try_seed(uint64_t seed, const struct weft_run *run)
{
    struct weft_trace *trace = NULL;
    struct weft_interplay *made = NULL;
    struct weft_err err = { 0 };
    if (!make_world(seed, &trace))
        return false;
    const uint64_t from_ns = roll(world.last_ns / 2), to_ns = from_ns + roll(world.last_ns);
    bool is_same =
        weft_interplay_open(trace, NULL, UINT64_MAX, run, &made, &err) == WEFT_OK || failed(&err);
    interplay = made;
    for (unsigned kind = 0; kind <= WEFT_LOCK_TREE_MEANWHILE && is_same; kind++)
        is_same = tree_same(run, (enum weft_lock_tree_kind)kind, 0, world.last_ns) &&
                  tree_same(run, (enum weft_lock_tree_kind)kind, from_ns, to_ns);
    weft_interplay_close(made);
    weft_trace_close(trace);
    return is_same;
}

int main(void)
{
    const struct weft_run run = { .pool = weft_pool_new(2) };
    const uint64_t seed = tap_seed(1);
    (void)snprintf(path, sizeof path, "/tmp/weft_oracle_lock_tree.%d.weft", (int)getpid());
    bool is_good = true;
    for (uint64_t i = 0; i < SEEDS && is_good; i++) {
        is_good = try_seed(seed + i, &run);
        if (!is_good || (i + 1) % SEEDS_A_LINE == 0)
            tap_ok(is_good, "trees are as they were simulated%s%s", is_good ? "" : ": ",
                   is_good ? "" : what);
    }
    (void)unlink(path);
    weft_pool_free(run.pool);
    return tap_done();
}
