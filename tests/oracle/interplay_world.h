/* SPDX-License-Identifier: MIT
 *
 * Threads that lock, wait, signal and post are simulated step by step, so that who ended each wait
 * is known, and from where. The run is told as calls with arguments, or its mutexes as events of a
 * lock library. Objects are destroyed and made anew at their address: then whoever waits for the
 * old one waits for ever.
 */
#ifndef WEFT_TESTS_INTERPLAY_WORLD_H
#define WEFT_TESTS_INTERPLAY_WORLD_H

#include "analysis/interplay/interplay.h"
#include "store/writer.h"
#include "tap.h"

#include <unistd.h>

enum {
    MOST_THREADS = 5,
    OBJECTS = 4, /* two mutexes, a condition, a semaphore */
    MOST_WAITS = 1000,
    MOST_HOLDS = 1000,
    MOST_CALLS = 12000,
    MOST_LIVES = 64,
    MOST_STUCK = 1, /* threads that wait for what is no more */
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
    FN_INIT, /* of a mutex, a condition, a semaphore */
    FN_DESTROY = FN_INIT + 3,
    FUNCTIONS = FN_DESTROY + 3
};
enum object { MUTEX_A, MUTEX_B, CONDITION, SEMAPHORE };

struct wait {
    uint64_t start_ns, end_ns, release_ns;
    unsigned thread, object, life, releaser, place, release_place;
    bool is_over;
};

struct hold {
    uint64_t got_ns, end_ns;
    unsigned thread, object, life;
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
    uint64_t lives_ns[OBJECTS][MOST_LIVES]; /* when the object at an address became another one */
    unsigned n_lives[OBJECTS], n_stuck;
    size_t owner[2]; /* of mutexes: hold + 1; or being handed over */
    bool is_handed[2];
    uint64_t last_ns, told_ns; /* of all, and of what is told */
};

static char path[64], what[300]; /* the trace; what differs */
static struct world world;

static inline uint64_t roll(uint64_t n)
{
    return tap_random(&world.state) % n;
}

static inline bool differ(const char *field, uint64_t got, uint64_t want)
{
    (void)snprintf(what + strlen(what), sizeof what - strlen(what),
                   "%s is %" PRIu64 ", not %" PRIu64, field, got, want);
    return false;
}

/* ---- what happens ---------------------------------------------------------------------------- */

static inline uint64_t now_ns(void)
{
    return world.step * STEP_NS;
}

static inline size_t call_add(struct thread *thread, unsigned function, uint64_t argument)
{
    if (thread->n_calls == MOST_CALLS)
        exit(1);
    thread->calls[thread->n_calls++] =
        (struct call){ .start_ns = now_ns(), .function = function, .argument = argument };
    return thread->n_calls;
}

static inline void call_at_once(struct thread *thread, unsigned function, uint64_t argument)
{
    const size_t call = call_add(thread, function, argument);
    thread->calls[call - 1].end_ns = now_ns();
}

static inline uint64_t address_of(unsigned object)
{
    return ADDRESS + object * UINT64_C(64);
}

/* Begins to wait; who ends it is not known yet. */
static inline void begin_wait(unsigned t, unsigned object)
{
    struct thread *thread = &world.threads[t];
    if (world.n_waits == MOST_WAITS)
        exit(1);
    world.waits[world.n_waits++] = (struct wait){ .start_ns = now_ns(),
                                                  .thread = t,
                                                  .object = object,
                                                  .life = world.n_lives[object],
                                                  .releaser = NOBODY,
                                                  .place = thread->place };
    thread->wait = world.n_waits;
    thread->resume_step = UINT64_MAX;
}

/* The thread `t` lets the one that waits go on, some steps later. */
static inline void release(unsigned t, struct thread *waiter)
{
    struct wait *wait = &world.waits[waiter->wait - 1];
    wait->releaser = t;
    wait->release_ns = now_ns();
    wait->release_place = world.threads[t].place;
    waiter->resume_step = world.step + DELAY_STEPS;
}

static inline struct thread *waiting_for(unsigned object, unsigned first)
{
    for (unsigned i = 0; i < world.n_threads; i++) {
        struct thread *thread = &world.threads[(first + i) % world.n_threads];
        if (thread->wait && thread->resume_step == UINT64_MAX &&
            world.waits[thread->wait - 1].object == object &&
            world.waits[thread->wait - 1].life == world.n_lives[object])
            return thread;
    }
    return NULL;
}

static inline void get(unsigned t, unsigned mutex)
{
    if (world.n_holds == MOST_HOLDS)
        exit(1);
    world.holds[world.n_holds++] = (struct hold){
        .got_ns = now_ns(), .thread = t, .object = mutex, .life = world.n_lives[mutex]
    };
    world.threads[t].hold = world.owner[mutex] = world.n_holds;
    world.is_handed[mutex] = false;
}

static inline void lock(unsigned t, unsigned mutex)
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

static inline void unlock(unsigned t)
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

static inline void signal_one(unsigned t, bool is_all)
{
    struct thread *waiter = waiting_for(CONDITION, (unsigned)roll(world.n_threads));
    call_at_once(&world.threads[t], is_all ? FN_BROADCAST : FN_SIGNAL, address_of(CONDITION));
    for (; waiter; waiter = is_all ? waiting_for(CONDITION, 0) : NULL)
        release(t, waiter);
}

static inline void post(unsigned t)
{
    struct thread *waiter = waiting_for(SEMAPHORE, (unsigned)roll(world.n_threads));
    call_at_once(&world.threads[t], FN_POST, address_of(SEMAPHORE));
    if (waiter)
        release(t, waiter);
    else
        world.tickets++;
}

static inline void wait_for(unsigned t, unsigned object)
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

/* The object is destroyed, made anew, or both. Of a mutex, only when nobody uses it. */
static inline void remake(unsigned t, unsigned object)
{
    static const unsigned functions[OBJECTS] = { 0, 0, 1, 2 };
    struct thread *thread = &world.threads[t];
    const bool is_waited = waiting_for(object, 0) != NULL;
    const unsigned how = (unsigned)roll(3);
    if (world.n_lives[object] == MOST_LIVES ||
        (object <= MUTEX_B && (world.owner[object] || world.is_handed[object] || is_waited)) ||
        (is_waited && (world.n_stuck >= MOST_STUCK || world.n_threads < MOST_THREADS)))
        return;
    for (unsigned i = 0; i < world.n_threads; i++)
        world.n_stuck += world.threads[i].wait && world.threads[i].resume_step == UINT64_MAX &&
                         world.waits[world.threads[i].wait - 1].object == object;
    if (how != 0)
        call_at_once(thread, FN_DESTROY + functions[object], address_of(object));
    if (how != 1)
        call_at_once(thread, FN_INIT + functions[object], address_of(object));
    world.lives_ns[object][world.n_lives[object]++] = now_ns();
    world.tickets = object == SEMAPHORE ? 0 : world.tickets;
}

/* Goes into another function of the program, or out of it. */
static inline void move(unsigned t)
{
    struct thread *thread = &world.threads[t];
    if (thread->outer)
        thread->calls[thread->outer - 1].end_ns = now_ns();
    thread->place = (unsigned)roll(PLACES);
    thread->outer = call_add(thread, thread->place, 0);
}

static inline void go_on(unsigned t)
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

static inline void act(unsigned t)
{
    struct thread *thread = &world.threads[t];
    const uint64_t dice = roll(200) ? roll(20) : 20;
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
    else if (dice == 20)
        remake(t, (unsigned)roll(OBJECTS));
}

/* Each step one thread does something: those that are to go on first, in the order of their time.
 */
static inline void simulate(void)
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

static inline bool is_event(const struct call *call)
{
    return world.is_told_by_events && (call->function == FN_LOCK || call->function == FN_UNLOCK);
}

static inline enum weft_code tell_lock(struct weft_sink *sink, uint32_t id, const struct call *call,
                                       enum weft_event_kind kind, uint64_t at_ns,
                                       struct weft_err *err)
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

static inline enum weft_code tell_event(struct weft_sink *sink, uint32_t id,
                                        const struct call *call, struct weft_err *err)
{
    if (call->function == FN_UNLOCK)
        return tell_lock(sink, id, call, WEFT_EVENT_LOCK_RELEASED, call->start_ns, err);
    enum weft_code code = tell_lock(sink, id, call, WEFT_EVENT_LOCK_REQUEST, call->start_ns, err);
    return code == WEFT_OK && call->end_ns
               ? tell_lock(sink, id, call, WEFT_EVENT_LOCK_ACQUIRED, call->end_ns, err)
               : code;
}

static inline enum weft_code tell_call(struct weft_sink *sink, uint32_t id, uint64_t time_ns,
                                       uint32_t key, enum weft_call_kind kind, struct weft_err *err)
{
    const struct weft_call_event event = { .time_ns = time_ns,
                                           .function_key = key,
                                           .kind = (uint8_t)kind };
    return sink->ops->calls(sink, id, &event, 1, err);
}

static inline enum weft_code tell_thread(struct weft_sink *sink, uint32_t id, struct weft_err *err)
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

static const char *const function_names[FUNCTIONS] = { "parse",
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
                                                       "sem_post",
                                                       "pthread_mutex_init",
                                                       "pthread_cond_init",
                                                       "sem_init",
                                                       "pthread_mutex_destroy",
                                                       "pthread_cond_destroy",
                                                       "sem_destroy" };

static inline enum weft_code announce(struct weft_sink *sink, struct weft_err *err)
{
    const struct weft_sink_begin begin = { .format = WEFT_STR("told"), .is_parallel = true };
    const struct weft_clock clock = { .frequency_hz = 1000000000 };
    enum weft_code code = sink->ops->begin(sink, &begin, err);
    if (code == WEFT_OK)
        code = sink->ops->clock(sink, &clock, err);
    for (uint32_t key = 0; key < FUNCTIONS && code == WEFT_OK; key++) {
        const struct weft_function_info info = { .key = key,
                                                 .name = weft_str_of(function_names[key]) };
        code = sink->ops->function(sink, &info, err);
    }
    for (uint32_t id = 0; id < world.n_threads && code == WEFT_OK; id++) {
        const struct weft_thread_info info = { .tid = FIRST_TID + id, .pid = PID };
        uint32_t given;
        code = sink->ops->thread(sink, &info, &given, err);
    }
    return code;
}

static inline enum weft_code tell(struct weft_err *err)
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

/* ---- lives of objects ------------------------------------------------------------------------ */

static inline unsigned life_at(unsigned object, uint64_t ns)
{
    unsigned life = 0;
    while (life < world.n_lives[object] && world.lives_ns[object][life] <= ns)
        life++;
    return life;
}

static inline unsigned object_of(const struct weft_shared_object *object)
{
    return (unsigned)((object->address - ADDRESS) / UINT64_C(64));
}

/* Is anything but making and destroying it told of a life of an object? */
static inline bool is_life_used(unsigned object, unsigned life)
{
    for (unsigned t = 0; t < world.n_threads; t++)
        for (size_t i = 0; i < world.threads[t].n_calls; i++) {
            const struct call *call = &world.threads[t].calls[i];
            if (call->function >= FN_LOCK && call->function < FN_INIT &&
                call->argument == address_of(object) && life_at(object, call->start_ns) == life)
                return true;
        }
    return false;
}

/* Objects of one address are told in the order of their lives. */
static inline unsigned life_of(const struct weft_interplay *interplay, uint64_t id)
{
    const struct weft_shared_object *items = interplay->objects.items;
    const unsigned object = object_of(&items[id]);
    unsigned n_before = 0, life = 0;
    for (uint64_t i = 0; i < id; i++)
        n_before += items[i].address == items[id].address;
    for (; life <= world.n_lives[object]; life++)
        if (is_life_used(object, life) && n_before-- == 0)
            break;
    return life;
}

/* ---- what is so at a time ---------------------------------------------------------------------
 */

/* The end of a wait that does not end is where the answer says. */
static inline uint64_t end_of(const struct wait *wait, const struct weft_interplay *interplay)
{
    for (size_t i = 0; !wait->is_over && i < interplay->waits.n; i++)
        if (interplay->waits.items[i].waiter_id == wait->thread &&
            interplay->waits.items[i].start_ns == wait->start_ns)
            return interplay->waits.items[i].end_ns;
    return wait->end_ns;
}

/* Whom the thread waits for: who ended the wait, or holds the lock while it does not end. */
static inline uint32_t blocker_of(const struct wait *wait)
{
    if (wait->is_over)
        return wait->releaser;
    for (size_t i = 0; i < world.n_holds && wait->object <= MUTEX_B; i++)
        if (!world.holds[i].is_over && world.holds[i].object == wait->object &&
            world.holds[i].life == wait->life && world.holds[i].thread != wait->thread)
            return world.holds[i].thread;
    return UINT32_MAX;
}

static inline bool is_waiting(const struct weft_interplay *interplay, unsigned thread,
                              unsigned object, unsigned life, uint64_t ns)
{
    for (size_t i = 0; i < world.n_waits; i++) {
        const struct wait *wait = &world.waits[i];
        if ((thread == NOBODY || wait->thread == thread) &&
            (object == OBJECTS || (wait->object == object && wait->life == life)) &&
            ns >= wait->start_ns && ns < end_of(wait, interplay))
            return true;
    }
    return false;
}

static inline bool is_holding(unsigned thread, unsigned object, unsigned life, uint64_t ns)
{
    for (size_t i = 0; i < world.n_holds; i++)
        if (world.holds[i].is_over && world.holds[i].thread == thread &&
            world.holds[i].object == object && world.holds[i].life == life &&
            ns >= world.holds[i].got_ns && ns < world.holds[i].end_ns)
            return true;
    return false;
}

static inline bool failed(const struct weft_err *err)
{
    (void)snprintf(what + strlen(what), sizeof what - strlen(what), "%.200s", err->text);
    return false;
}

/* A run of this seed, told to `path`. */
static inline bool make_world(uint64_t seed, struct weft_trace **trace)
{
    struct weft_err err = { 0 };
    memset(&world, 0, sizeof world);
    world.state = seed;
    simulate();
    (void)snprintf(what, sizeof what, "%s, seed %" PRIu64 ": ",
                   world.is_told_by_events ? "events" : "calls", seed);
    return (tell(&err) == WEFT_OK && weft_trace_open(path, trace, &err) == WEFT_OK) || failed(&err);
}

#endif
