/* SPDX-License-Identifier: MIT
 *
 * Interplay against what really happened: threads that lock, wait, signal and post are simulated
 * step by step, so that who ended each wait is known, and from where. The run is told as calls with
 * arguments, or its mutexes as events of a lock library. Every wait must be joined with the release
 * of the simulation; sums by window, by lane and by column must be those of a count, ns by ns.
 */
#include "analysis/interplay.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum {
    SEEDS = 240,
    SEEDS_A_LINE = 40,
    MOST_THREADS = 5,
    OBJECTS = 4, /* two mutexes, a condition, a semaphore */
    MOST_WAITS = 1000,
    MOST_HOLDS = 1000,
    MOST_CALLS = 12000,
    STEPS = 900,
    STEP_NS = 4,
    DELAY_STEPS = 3, /* from a release until who waited goes on */
    FIRST_TID = 100,
    PID = 77,
    ADDRESS = 0x4000,
    PLACES = 5, /* functions of the program */
    NOBODY = 255,
};

enum function {
    FN_LOCK = PLACES,
    FN_UNLOCK,
    FN_WAIT,
    FN_SIGNAL,
    FN_BROADCAST,
    FN_SEM_WAIT,
    FN_POST,
    FUNCTIONS
};
enum object { MUTEX_A, MUTEX_B, CONDITION, SEMAPHORE };

struct wait {
    uint64_t start_ns, end_ns, release_ns;
    unsigned thread, object, releaser, place, release_place;
    bool is_over;
};

struct hold {
    uint64_t got_ns, end_ns;
    unsigned thread, object;
    bool is_over;
};

/* A call that is told; `end_ns` 0: still open. */
struct call {
    uint64_t start_ns, end_ns, argument;
    unsigned function;
};

struct thread {
    struct call calls[MOST_CALLS]; /* in order of their begin */
    size_t n_calls;
    size_t outer; /* the open call of the program, + 1 */
    unsigned place;
    size_t wait;          /* + 1: it waits */
    size_t hold;          /* + 1 */
    size_t inner;         /* the open call that waits, + 1 */
    uint64_t resume_step; /* it goes on then; UINT64_MAX: not known */
};

struct world {
    uint64_t state, step;
    unsigned n_threads, tickets;
    bool is_told_by_events;
    struct thread threads[MOST_THREADS];
    struct wait waits[MOST_WAITS];
    struct hold holds[MOST_HOLDS];
    size_t n_waits, n_holds;
    size_t owner[2]; /* of mutexes: hold + 1; or being handed over */
    bool is_handed[2];
    uint64_t last_ns, told_ns; /* of all, and of what is told */
};

static char path[64], what[300];
static struct world world;

static uint64_t roll(uint64_t n)
{
    return tap_random(&world.state) % n;
}

static bool differ(const char *field, uint64_t got, uint64_t want)
{
    (void)snprintf(what + strlen(what), sizeof what - strlen(what),
                   "%s is %" PRIu64 ", not %" PRIu64, field, got, want);
    return false;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    return world.step * STEP_NS;
}

static size_t call_add(struct thread *thread, unsigned function, uint64_t argument)
{
    if (thread->n_calls == MOST_CALLS)
        exit(1);
    thread->calls[thread->n_calls++] =
        (struct call){ .start_ns = now_ns(), .function = function, .argument = argument };
    return thread->n_calls;
}

static void call_at_once(struct thread *thread, unsigned function, uint64_t argument)
{
    const size_t call = call_add(thread, function, argument);
    thread->calls[call - 1].end_ns = now_ns();
}

static uint64_t address_of(unsigned object)
{
    return ADDRESS + object * UINT64_C(64);
}

/* Begins to wait; who ends it is not known yet. */
static void begin_wait(unsigned t, unsigned object)
{
    struct thread *thread = &world.threads[t];
    if (world.n_waits == MOST_WAITS)
        exit(1);
    world.waits[world.n_waits++] = (struct wait){ .start_ns = now_ns(),
                                                  .thread = t,
                                                  .object = object,
                                                  .releaser = NOBODY,
                                                  .place = thread->place };
    thread->wait = world.n_waits;
    thread->resume_step = UINT64_MAX;
}

/* The thread `t` lets the one that waits go on, some steps later. */
static void release(unsigned t, struct thread *waiter)
{
    struct wait *wait = &world.waits[waiter->wait - 1];
    wait->releaser = t;
    wait->release_ns = now_ns();
    wait->release_place = world.threads[t].place;
    waiter->resume_step = world.step + DELAY_STEPS;
}

static struct thread *waiting_for(unsigned object, unsigned first)
{
    for (unsigned i = 0; i < world.n_threads; i++) {
        struct thread *thread = &world.threads[(first + i) % world.n_threads];
        if (thread->wait && thread->resume_step == UINT64_MAX &&
            world.waits[thread->wait - 1].object == object)
            return thread;
    }
    return NULL;
}

static void get(unsigned t, unsigned mutex)
{
    if (world.n_holds == MOST_HOLDS)
        exit(1);
    world.holds[world.n_holds++] =
        (struct hold){ .got_ns = now_ns(), .thread = t, .object = mutex };
    world.threads[t].hold = world.owner[mutex] = world.n_holds;
    world.is_handed[mutex] = false;
}

static void lock(unsigned t, unsigned mutex)
{
    struct thread *thread = &world.threads[t];
    const size_t call = call_add(thread, FN_LOCK, address_of(mutex));
    if (world.owner[mutex] || world.is_handed[mutex]) {
        thread->inner = call;
        begin_wait(t, mutex);
        return;
    }
    thread->calls[call - 1].end_ns = now_ns();
    get(t, mutex);
}

static void unlock(unsigned t)
{
    struct thread *thread = &world.threads[t];
    struct hold *hold = &world.holds[thread->hold - 1];
    struct thread *waiter = waiting_for(hold->object, (unsigned)roll(world.n_threads));
    call_at_once(thread, FN_UNLOCK, address_of(hold->object));
    hold->end_ns = now_ns();
    hold->is_over = true;
    world.owner[hold->object] = thread->hold = 0;
    world.is_handed[hold->object] = waiter != NULL;
    if (waiter)
        release(t, waiter);
}

static void signal_one(unsigned t, bool is_all)
{
    struct thread *waiter = waiting_for(CONDITION, (unsigned)roll(world.n_threads));
    call_at_once(&world.threads[t], is_all ? FN_BROADCAST : FN_SIGNAL, address_of(CONDITION));
    for (; waiter; waiter = is_all ? waiting_for(CONDITION, 0) : NULL)
        release(t, waiter);
}

static void post(unsigned t)
{
    struct thread *waiter = waiting_for(SEMAPHORE, (unsigned)roll(world.n_threads));
    call_at_once(&world.threads[t], FN_POST, address_of(SEMAPHORE));
    if (waiter)
        release(t, waiter);
    else
        world.tickets++;
}

static void wait_for(unsigned t, unsigned object)
{
    struct thread *thread = &world.threads[t];
    const size_t call =
        call_add(thread, object == CONDITION ? FN_WAIT : FN_SEM_WAIT, address_of(object));
    if (object == SEMAPHORE && world.tickets) {
        world.tickets--;
        thread->calls[call - 1].end_ns = now_ns();
        return;
    }
    thread->inner = call;
    begin_wait(t, object);
}

/* Goes into another function of the program, or out of it. */
static void move(unsigned t)
{
    struct thread *thread = &world.threads[t];
    if (thread->outer)
        thread->calls[thread->outer - 1].end_ns = now_ns();
    thread->place = (unsigned)roll(PLACES);
    thread->outer = call_add(thread, thread->place, 0);
}

static void go_on(unsigned t)
{
    struct thread *thread = &world.threads[t];
    struct wait *wait = &world.waits[thread->wait - 1];
    wait->end_ns = now_ns();
    wait->is_over = true;
    thread->calls[thread->inner - 1].end_ns = now_ns();
    thread->wait = thread->inner = 0;
    if (wait->object <= MUTEX_B)
        get(t, wait->object);
}

static void act(unsigned t)
{
    struct thread *thread = &world.threads[t];
    const uint64_t dice = roll(20);
    if (thread->wait) {
        if (world.step >= thread->resume_step)
            go_on(t);
        return;
    }
    if (!thread->outer || (dice < 2 && !thread->hold))
        move(t);
    else if (dice < 7)
        thread->hold ? unlock(t) : lock(t, (unsigned)roll(2));
    else if (dice < 9 && thread->hold)
        unlock(t);
    else if (dice < 11 && !thread->hold)
        wait_for(t, CONDITION + (unsigned)roll(2));
    else if (dice < 14)
        signal_one(t, dice == 13);
    else if (dice < 16)
        post(t);
}

/* Each step one thread does something: those that are to go on first, in the order of their time.
 */
static void simulate(void)
{
    world.n_threads = 2 + (unsigned)roll(MOST_THREADS - 1);
    world.is_told_by_events = roll(2);
    for (world.step = 1; world.step < STEPS; world.step++) {
        unsigned t = (unsigned)roll(world.n_threads);
        for (unsigned i = 0; i < world.n_threads; i++)
            if (world.threads[i].wait && world.threads[i].resume_step <= world.step &&
                (!world.threads[t].wait ||
                 world.threads[i].resume_step < world.threads[t].resume_step))
                t = i;
        act(t);
    }
    world.last_ns = now_ns();
    for (unsigned t = 0; t < world.n_threads; t++)
        for (size_t i = 0; i < world.threads[t].n_calls; i++) {
            const struct call *call = &world.threads[t].calls[i];
            const uint64_t end_ns = call->end_ns > call->start_ns ? call->end_ns : call->start_ns;
            world.told_ns = end_ns > world.told_ns ? end_ns : world.told_ns;
        }
}

/* ---- how it is told -------------------------------------------------------------------------- */

static bool is_event(const struct call *call)
{
    return world.is_told_by_events && (call->function == FN_LOCK || call->function == FN_UNLOCK);
}

static enum weft_code tell_lock(struct weft_sink *sink, uint32_t id, const struct call *call,
                                enum weft_event_kind kind, uint64_t at_ns, struct weft_err *err)
{
    const struct weft_event event = { .time_ns = at_ns,
                                      .kind = kind,
                                      .cpu = -1,
                                      .value = call->argument,
                                      .name = WEFT_STR("mutex_lock"),
                                      .next_thread_id = WEFT_ID_NONE,
                                      .object_id = WEFT_ID_NONE,
                                      .stack_id = WEFT_ID_NONE };
    return sink->ops->events(sink, id, &event, 1, err);
}

static enum weft_code tell_event(struct weft_sink *sink, uint32_t id, const struct call *call,
                                 struct weft_err *err)
{
    if (call->function == FN_UNLOCK)
        return tell_lock(sink, id, call, WEFT_EVENT_LOCK_RELEASED, call->start_ns, err);
    enum weft_code code = tell_lock(sink, id, call, WEFT_EVENT_LOCK_REQUEST, call->start_ns, err);
    return code == WEFT_OK && call->end_ns
               ? tell_lock(sink, id, call, WEFT_EVENT_LOCK_ACQUIRED, call->end_ns, err)
               : code;
}

static enum weft_code tell_call(struct weft_sink *sink, uint32_t id, uint64_t time_ns, uint32_t key,
                                enum weft_call_kind kind, struct weft_err *err)
{
    const struct weft_call_event event = { .time_ns = time_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    return sink->ops->calls(sink, id, &event, 1, err);
}

static enum weft_code tell_thread(struct weft_sink *sink, uint32_t id, struct weft_err *err)
{
    const struct thread *thread = &world.threads[id];
    const struct call *outer = NULL;
    enum weft_code code = WEFT_OK;
    for (size_t i = 0; i < thread->n_calls && code == WEFT_OK; i++) {
        const struct call *call = &thread->calls[i];
        const bool is_outer = call->function < PLACES;
        if (is_outer && outer)
            code = tell_call(sink, id, outer->end_ns, outer->function, WEFT_CALL_EXIT, err);
        outer = is_outer ? call : outer;
        if (is_event(call)) {
            code = code == WEFT_OK ? tell_event(sink, id, call, err) : code;
            continue;
        }
        if (code == WEFT_OK)
            code = tell_call(sink, id, call->start_ns, call->function, WEFT_CALL_ENTER, err);
        if (code == WEFT_OK && !is_outer)
            code = tell_call(sink, id, call->argument, 0, WEFT_CALL_ARG, err);
        if (code == WEFT_OK && !is_outer && call->end_ns)
            code = tell_call(sink, id, call->end_ns, call->function, WEFT_CALL_EXIT, err);
    }
    return code;
}

static enum weft_code announce(struct weft_sink *sink, struct weft_err *err)
{
    static const char *const names[FUNCTIONS] = { "parse",
                                                  "plan",
                                                  "fetch",
                                                  "store",
                                                  "reply",
                                                  "pthread_mutex_lock",
                                                  "pthread_mutex_unlock",
                                                  "pthread_cond_wait",
                                                  "pthread_cond_signal",
                                                  "pthread_cond_broadcast",
                                                  "sem_wait",
                                                  "sem_post" };
    const struct weft_sink_begin begin = { .format = WEFT_STR("told"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t key = 0; key < FUNCTIONS && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key, .name = weft_str_of(names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < world.n_threads && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = FIRST_TID + id, .pid = PID };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    return code;
}

static enum weft_code tell(struct weft_err *err)
{
    const struct weft_writer_opts opts = { .source_name = "interplay", .block_rows = 4 };
    struct weft_writer *writer = NULL;
    enum weft_code code = weft_writer_open(path, &opts, &writer, err);
    struct weft_sink *sink = code == WEFT_OK ? weft_writer_sink(writer) : NULL;
    if (code == WEFT_OK)
        code = announce(sink, err);
    for (uint32_t id = 0; id < world.n_threads && code == WEFT_OK; id++) {
        code = tell_thread(sink, id, err);
        if (code == WEFT_OK)
            code = sink->ops->thread_end(sink, id, 0, err);
    }
    return code == WEFT_OK ? weft_writer_commit(writer, NULL, err) : code;
}

/* ---- the waits ------------------------------------------------------------------------------- */

static const struct wait *find_wait(unsigned thread, uint64_t start_ns)
{
    for (size_t i = 0; i < world.n_waits; i++)
        if (world.waits[i].thread == thread && world.waits[i].start_ns == start_ns)
            return &world.waits[i];
    return NULL;
}

static const char *function_name(unsigned place)
{
    static const char *const names[PLACES] = { "parse", "plan", "fetch", "store", "reply" };
    return names[place];
}

static bool site_same(const struct weft_interplay_table *table, uint32_t site, unsigned place)
{
    return site != WEFT_ID_NONE &&
           weft_str_equal(table->sites[site].function, weft_str_of(function_name(place)));
}

static bool row_same(const struct weft_interplay_table *table,
                     const struct weft_correspondence *row)
{
    const struct wait *wait = find_wait(row->waiter_id, row->start_ns);
    if (!wait)
        return differ("a wait that was none, of thread", row->waiter_id, 0);
    if (!site_same(table, row->wait_site, wait->place))
        return differ("the function of a wait at", row->start_ns, wait->place);
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

static bool waits_same(const struct weft_interplay_table *table)
{
    for (size_t i = 0; i < table->n_rows; i++)
        if (!row_same(table, &table->rows[i]))
            return false;
    for (size_t i = 0; i < world.n_waits; i++) /* what begins last is nobody's wait yet */
        if (world.waits[i].start_ns < world.told_ns && !has_row(table, &world.waits[i]))
            return differ("no wait at", world.waits[i].start_ns, world.waits[i].end_ns);
    return true;
}

/* Threads that gave the object back, signalled it or posted it. */
static bool releasers_same(const struct weft_interplay *interplay)
{
    for (unsigned object = 0; object < OBJECTS; object++) {
        uint32_t want = 0, got = 0;
        for (unsigned t = 0; t < world.n_threads; t++) {
            bool has_any = false;
            for (size_t i = 0; i < world.threads[t].n_calls; i++) {
                const struct call *call = &world.threads[t].calls[i];
                has_any |= call->argument == address_of(object) &&
                           (call->function == FN_UNLOCK || call->function == FN_SIGNAL ||
                            call->function == FN_BROADCAST || call->function == FN_POST);
            }
            want += has_any;
        }
        for (size_t i = 0; i < interplay->objects.n; i++)
            if (interplay->objects.items[i].address == address_of(object))
                got = interplay->objects.items[i].n_releasers;
        if (got != want)
            return differ("releasers of an object", got, want);
    }
    return true;
}

/* ---- counts, ns by ns ------------------------------------------------------------------------ */

/* The end of a wait that does not end is where the answer says. */
static uint64_t end_of(const struct wait *wait, const struct weft_interplay *interplay)
{
    for (size_t i = 0; !wait->is_over && i < interplay->waits.n; i++)
        if (interplay->waits.items[i].waiter_id == wait->thread &&
            interplay->waits.items[i].start_ns == wait->start_ns)
            return interplay->waits.items[i].end_ns;
    return wait->end_ns;
}

static bool cells_same(const struct weft_interplay *interplay,
                       const struct weft_interplay_table *table)
{
    uint64_t all_ns = 0;
    for (size_t i = 0; i < table->n_cells; i++) {
        const struct weft_interplay_cell *cell = &table->cells[i];
        uint64_t sum_ns = 0;
        for (size_t k = 0; k < world.n_waits; k++) {
            const struct wait *wait = &world.waits[k];
            const uint32_t releaser = wait->is_over ? wait->releaser : WEFT_ID_NONE;
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

static bool is_waiting(const struct weft_interplay *interplay, unsigned thread, unsigned object,
                       uint64_t ns)
{
    for (size_t i = 0; i < world.n_waits; i++) {
        const struct wait *wait = &world.waits[i];
        if ((thread == NOBODY || wait->thread == thread) &&
            (object == OBJECTS || wait->object == object) && ns >= wait->start_ns &&
            ns < end_of(wait, interplay))
            return true;
    }
    return false;
}

static bool is_holding(unsigned thread, unsigned object, uint64_t ns)
{
    for (size_t i = 0; i < world.n_holds; i++)
        if (world.holds[i].is_over && world.holds[i].thread == thread &&
            world.holds[i].object == object && ns >= world.holds[i].got_ns &&
            ns < world.holds[i].end_ns)
            return true;
    return false;
}

static bool lane_same(const struct weft_interplay *interplay,
                      const struct weft_lock_lanes_table *table, const struct weft_lock_lane *lane)
{
    const unsigned object =
        (unsigned)((table->objects[lane->object].address - ADDRESS) / UINT64_C(64));
    uint64_t ns[WEFT_LANE_STATES] = { 0 }, drawn_ns = 0, last_ns = 0;
    for (size_t i = 0; i < world.n_holds; i++) /* of those that do not end, less is known */
        if (!world.holds[i].is_over && world.holds[i].object == object)
            return true;
    for (uint64_t at = table->from_ns; at < table->to_ns; at++) {
        const bool is_held = is_holding(lane->thread_id, object, at);
        const bool is_waited = is_waiting(interplay, NOBODY, object, at);
        ns[WEFT_LANE_HELD] += is_held && !is_waited;
        ns[WEFT_LANE_HELD_WAITED] += is_held && is_waited;
        ns[WEFT_LANE_WAITS] += is_waiting(interplay, lane->thread_id, object, at);
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
                want_ns += is_waiting(interplay, thread->thread_id, OBJECTS, at);
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

static bool failed(const struct weft_err *err)
{
    (void)snprintf(what + strlen(what), sizeof what - strlen(what), "%.200s", err->text);
    return false;
}

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
    is_same = is_same && (from_ns > 0 || to_ns < UINT64_MAX / 2 || waits_same(table));
    is_same = is_same && cells_same(interplay, table);
    for (size_t i = 0; is_same && i < lanes->n_lanes; i++)
        is_same = lane_same(interplay, lanes, &lanes->lanes[i]);
    is_same = is_same && columns_same(interplay, columns) && bundles_same(interplay, curves, limit);
    weft_interplay_table_free(table);
    weft_lock_lanes_table_free(lanes);
    weft_blocking_table_free(columns);
    weft_correspondences_table_free(curves);
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
    const bool is_same = waits_same(table);
    weft_interplay_table_free(table);
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
    struct weft_err err = { 0 };
    memset(&world, 0, sizeof world);
    world.state = seed;
    simulate();
    (void)snprintf(what, sizeof what, "%s, seed %" PRIu64 ": ",
                   world.is_told_by_events ? "events" : "calls", seed);
    if (tell(&err) != WEFT_OK || weft_trace_open(path, &trace, &err) != WEFT_OK)
        return failed(&err);
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
