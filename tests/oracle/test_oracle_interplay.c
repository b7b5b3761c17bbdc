/* SPDX-License-Identifier: MIT
 *
 * Interplay against what really happened (interplay_world.h). Every wait must be joined with the
 * release of the simulation; sums by window, by lane and by column must be those of a count, ns by
 * ns.
 */
#include "analysis/interplay/interplay.h"
#include "interplay_world.h"
#include "schema/interplay.h"
#include "schema/result.h"

enum { SEEDS = 240, SEEDS_A_LINE = 40 };

/* ---- the waits ------------------------------------------------------------------------------- */

static const struct wait *find_wait(unsigned thread, uint64_t start_ns)
{
    for (size_t i = 0; i < world.n_waits; i++)
        if (world.waits[i].thread == thread && world.waits[i].start_ns == start_ns)
            return &world.waits[i];
    return NULL;
}

static bool site_same(const struct weft_interplay_table *table, uint32_t site, unsigned place)
{
    return site != WEFT_ID_NONE &&
           weft_str_equal(table->sites[site].function, weft_str_of(function_names[place]));
}

static bool row_same(const struct weft_interplay *interplay,
                     const struct weft_interplay_table *table,
                     const struct weft_correspondence *row)
{
    const struct wait *wait = find_wait(row->waiter_id, row->start_ns);
    if (!wait)
        return differ("a wait that was none, of thread", row->waiter_id, 0);
    if (!site_same(table, row->wait_site, wait->place))
        return differ("the function of a wait at", row->start_ns, wait->place);
    if (life_of(interplay, table->objects[row->object].id) != wait->life)
        return differ("the life of an object", row->start_ns, wait->life);
    if (!wait->is_over) /* released, but it had not gone on, or never */
        return row->flags & WEFT_CORRESPONDENCE_CUT_END && row->releaser_id == WEFT_ID_NONE
                   ? true
                   : differ("a wait without end, flags", row->flags, 0);
    if (row->end_ns != wait->end_ns)
        return differ("the end of a wait", row->end_ns, wait->end_ns);
    if (row->releaser_id != wait->releaser)
        return differ("the releaser", row->releaser_id, wait->releaser);
    if (row->first_release_ns != wait->release_ns)
        return differ("the release", row->first_release_ns, wait->release_ns);
    return site_same(table, row->release_site, wait->release_place) ||
           differ("the function of a release at", wait->release_ns, wait->release_place);
}

static bool has_row(const struct weft_interplay_table *table, const struct wait *wait)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (table->rows[i].waiter_id == wait->thread && table->rows[i].start_ns == wait->start_ns)
            return true;
    return false;
}

static bool waits_same(const struct weft_interplay *interplay,
                       const struct weft_interplay_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (!row_same(interplay, table, &table->rows[i]))
            return false;
    for (size_t i = 0; i < world.n_waits; i++) /* what begins last is nobody's wait yet */
        if (world.waits[i].start_ns < world.told_ns && !has_row(table, &world.waits[i]))
            return differ("no wait at", world.waits[i].start_ns, world.waits[i].end_ns);
    return true;
}

/* Threads that gave the object back, signalled it or posted it. */
static uint32_t releasers_of(unsigned object, unsigned life)
{
    uint32_t n = 0;
    for (unsigned t = 0; t < world.n_threads; t++) {
        bool has_any = false;
        for (size_t i = 0; i < world.threads[t].n_calls; i++) {
            const struct call *call = &world.threads[t].calls[i];
            has_any |= call->argument == address_of(object) &&
                       life_at(object, call->start_ns) == life &&
                       (call->function == FN_UNLOCK || call->function == FN_SIGNAL ||
                        call->function == FN_BROADCAST || call->function == FN_POST);
        }
        n += has_any;
    }
    return n;
}

static bool releasers_same(const struct weft_interplay *interplay)
{
    for (size_t i = 0; i < interplay->objects.n; i++) {
        const struct weft_shared_object *object = &interplay->objects.items[i];
        const unsigned life = life_of(interplay, i);
        if (life > world.n_lives[object_of(object)])
            continue; /* made, and not used */
        if (object->n_releasers != releasers_of(object_of(object), life))
            return differ("releasers of an object", object->n_releasers, life);
    }
    return true;
}

/* ---- counts, ns by ns ------------------------------------------------------------------------ */

static bool cells_same(const struct weft_interplay *interplay,
                       const struct weft_interplay_table *table)
{
    uint64_t all_ns = 0;
    for (size_t i = 0; i < table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &table->cells[i];
        uint64_t sum_ns = 0;
        for (size_t k = 0; k < world.n_waits; k++) {
            const struct wait *wait = &world.waits[k];
            const uint32_t releaser = blocker_of(wait);
            for (uint64_t ns = table->from_ns; ns < table->to_ns; ns++)
                sum_ns += wait->thread == cell->waiter_id && releaser == cell->releaser_id &&
                          ns >= wait->start_ns && ns < end_of(wait, interplay);
        }
        if (cell->sum_ns != sum_ns)
            return differ("a cell", cell->sum_ns, sum_ns);
        all_ns += sum_ns;
    }
    return table->wait_ns == all_ns || differ("all cells", all_ns, table->wait_ns);
}

static bool lane_same(const struct weft_interplay *interplay,
                      const struct weft_lock_lanes_table *table, const struct weft_lock_lane *lane)
{
    const unsigned object = object_of(&table->objects[lane->object]);
    const unsigned life = life_of(interplay, table->objects[lane->object].id);
    uint64_t ns[WEFT_LANE_STATES] = { 0 }, drawn_ns = 0, last_ns = 0;
    for (size_t i = 0; i < world.n_holds; i++) /* of those that do not end, less is known */
        if (!world.holds[i].is_over && world.holds[i].object == object)
            return true;
    for (uint64_t at = table->from_ns; at < table->to_ns; at++) {
        const bool is_held = is_holding(lane->thread_id, object, life, at);
        const bool is_waited = is_waiting(interplay, NOBODY, object, life, at);
        ns[WEFT_LANE_HELD] += is_held && !is_waited;
        ns[WEFT_LANE_HELD_WAITED] += is_held && is_waited;
        ns[WEFT_LANE_WAITS] += is_waiting(interplay, lane->thread_id, object, life, at);
    }
    for (unsigned state = 0; state < WEFT_LANE_STATES; state++)
        if (lane->ns[state] != ns[state])
            return differ(weft_lane_state_name(state), lane->ns[state], ns[state]);
    for (size_t i = 0; i < lane->n_pieces; i++) {
        const struct weft_lane_piece *piece = &lane->pieces[i];
        if (piece->start_ns < last_ns || piece->end_ns < piece->start_ns)
            return differ("a piece begins at", piece->start_ns, last_ns);
        last_ns = piece->end_ns;
        drawn_ns += piece->ns[0] + piece->ns[1] + piece->ns[2];
    }
    return drawn_ns == ns[0] + ns[1] + ns[2] || differ("pieces", drawn_ns, ns[0] + ns[1] + ns[2]);
}

static bool columns_same(const struct weft_interplay *interplay,
                         const struct weft_blocking_table *table)
{
    for (size_t t = 0; t < table->n_threads; t++) {
        const struct weft_blocking_thread *thread = &table->threads[t];
        size_t next = 0;
        for (uint32_t column = 0; column < table->width; column++) {
            const uint64_t window_ns = table->to_ns - table->from_ns;
            const uint64_t from_ns = table->from_ns + window_ns * column / table->width;
            const uint64_t to_ns = table->from_ns + window_ns * (column + 1) / table->width;
            uint64_t want_ns = 0, got_ns = 0;
            for (uint64_t at = from_ns; at < to_ns; at++)
                want_ns += is_waiting(interplay, thread->thread_id, OBJECTS, 0, at);
            if (next < thread->n_columns && thread->columns[next].column == column)
                got_ns = thread->columns[next++].wait_ns;
            if (got_ns != want_ns)
                return differ("a column", got_ns, want_ns);
        }
    }
    return true;
}

/* Each wait is in one row: alone if it is long, else with those that begin in its column. */
static bool bundles_same(const struct weft_interplay *interplay,
                         const struct weft_correspondences_table *table, uint32_t limit)
{
    uint64_t n_found = 0, n_rows = 0;
    for (size_t i = 0; i < interplay->waits.n; i++) {
        const struct weft_wait *wait = &interplay->waits.items[i];
        n_found += wait->start_ns < table->to_ns && wait->end_ns > table->from_ns;
    }
    if (table->n_found != n_found)
        return differ("waits in the window", table->n_found, n_found);
    for (size_t i = 0; i < table->n_rows; i++) {
        const struct weft_correspondence *row = &table->rows[i];
        uint64_t count = 0, sum_ns = 0;
        n_rows += row->count;
        for (size_t k = 0; k < interplay->waits.n; k++) {
            const struct weft_wait *wait = &interplay->waits.items[k];
            const uint64_t wait_ns = wait->end_ns - wait->start_ns;
            if (wait->waiter_id != row->waiter_id || wait->releaser_id != row->releaser_id ||
                wait->start_ns < row->start_ns || wait->end_ns > row->end_ns ||
                (row->count > 1 && wait_ns >= table->column_ns))
                continue;
            count++;
            sum_ns += wait_ns;
        }
        if (row->count != count || row->sum_ns != sum_ns)
            return differ("a bundle", row->sum_ns, sum_ns);
        if (row->count > 1 && row->longest_ns >= table->column_ns)
            return differ("a long one in a bundle", row->longest_ns, table->column_ns);
    }
    return (table->n_rows <= limit || limit == 0 || table->column_ns > world.last_ns) &&
                   n_rows == n_found
               ? true
               : differ("rows", n_rows, n_found);
}

/* ---- the comparison -------------------------------------------------------------------------- */

static bool window_same(const struct weft_interplay *interplay, const struct weft_run *run,
                        uint64_t from_ns, uint64_t to_ns)
{
    const uint32_t limit = (uint32_t)roll(2) * 8, width = 1 + (uint32_t)roll(30);
    const struct weft_interplay_opts all = { .from_ns = from_ns, .to_ns = to_ns };
    const struct weft_lock_lanes_opts lane = {
        .from_ns = from_ns, .to_ns = to_ns, .object_id = UINT64_MAX, .width = width
    };
    const struct weft_blocking_opts column = { .from_ns = from_ns, .to_ns = to_ns, .width = width };
    const struct weft_correspondences_opts curve = {
        .from_ns = from_ns, .to_ns = to_ns, .object_id = UINT64_MAX, .width = width, .limit = limit
    };
    struct weft_interplay_table *table = NULL;
    struct weft_lock_lanes_table *lanes = NULL;
    struct weft_blocking_table *columns = NULL;
    struct weft_correspondences_table *curves = NULL;
    struct weft_err err = { 0 };
    bool is_same = weft_interplay_run(interplay, NULL, &all, run, &table, &err) == WEFT_OK &&
                   weft_lock_lanes_run(interplay, NULL, &lane, run, &lanes, &err) == WEFT_OK &&
                   weft_blocking_run(interplay, NULL, &column, run, &columns, &err) == WEFT_OK &&
                   weft_correspondences_run(interplay, NULL, &curve, run, &curves, &err) == WEFT_OK;
    if (!is_same)
        (void)failed(&err);
    is_same = is_same && (from_ns > 0 || to_ns < UINT64_MAX / 2 || waits_same(interplay, table));
    is_same = is_same && cells_same(interplay, table);
    for (size_t i = 0; is_same && i < lanes->n_lanes; i++)
        is_same = lane_same(interplay, lanes, &lanes->lanes[i]);
    is_same = is_same && columns_same(interplay, columns) && bundles_same(interplay, curves, limit);
    weft_result_free(table);
    weft_result_free(lanes);
    weft_result_free(columns);
    weft_result_free(curves);
    return is_same;
}

/* All of it, without a window. */
static bool all_same(const struct weft_interplay *interplay, const struct weft_run *run)
{
    const struct weft_interplay_opts all = { .to_ns = UINT64_MAX };
    struct weft_interplay_table *table = NULL;
    struct weft_err err = { 0 };
    if (weft_interplay_run(interplay, NULL, &all, run, &table, &err) != WEFT_OK)
        return failed(&err);
    const bool is_same = waits_same(interplay, table);
    weft_result_free(table);
    return is_same;
}

static bool models_same(const struct weft_interplay *a, const struct weft_interplay *b)
{
    bool is_same = a->waits.n == b->waits.n && a->places.n == b->places.n;
    for (size_t i = 0; i < a->waits.n && is_same; i++) {
        const struct weft_wait *x = &a->waits.items[i], *y = &b->waits.items[i];
        is_same = x->start_ns == y->start_ns && x->end_ns == y->end_ns &&
                  x->waiter_id == y->waiter_id && x->releaser_id == y->releaser_id &&
                  x->wait_site == y->wait_site && x->release_site == y->release_site &&
                  x->object == y->object && x->confidence == y->confidence;
    }
    return is_same || differ("with several workers", a->waits.n, b->waits.n);
}

static bool try_trace(const struct weft_trace *trace, const struct weft_run *run,
                      const struct weft_run *several)
{
    struct weft_interplay *interplay = NULL, *other = NULL;
    struct weft_err err = { 0 };
    bool is_same = weft_interplay_open(trace, NULL, UINT64_MAX, run, &interplay, &err) == WEFT_OK &&
                   weft_interplay_open(trace, NULL, UINT64_MAX, several, &other, &err) == WEFT_OK;
    if (!is_same)
        (void)failed(&err);
    const uint64_t from_ns = roll(world.last_ns / 2);
    is_same = is_same && models_same(interplay, other) && releasers_same(interplay) &&
              all_same(interplay, run) && window_same(interplay, run, 0, world.last_ns) &&
              window_same(interplay, run, from_ns, from_ns + 1 + roll(world.last_ns / 2));
    weft_interplay_close(interplay);
    weft_interplay_close(other);
    return is_same;
}

static bool try_seed(uint64_t seed, const struct weft_run *run, const struct weft_run *several)
{
    struct weft_trace *trace = NULL;
    if (!make_world(seed, &trace))
        return false;
    const bool is_same = try_trace(trace, run, several);
    weft_trace_close(trace);
    return is_same;
}

int main(void)
{
    struct weft_run run = { .pool = weft_pool_new(1) }, several = { .pool = weft_pool_new(3) };
    const uint64_t seed = tap_seed(1);
    (void)snprintf(path, sizeof path, "/tmp/weft_oracle_interplay.%d.weft", (int)getpid());
    bool is_good = true;
    for (uint64_t i = 0; i < SEEDS && is_good; i++) {
        is_good = try_seed(seed + i, &run, &several);
        if (!is_good || (i + 1) % SEEDS_A_LINE == 0)
            tap_ok(is_good, "interplay is as it was simulated%s%s", is_good ? "" : ": ",
                   is_good ? "" : what);
    }
    (void)unlink(path);
    weft_pool_free(run.pool);
    weft_pool_free(several.pool);
    return tap_done();
}
