/* SPDX-License-Identifier: MIT
 *
 * What a facts tells of as slow, and what does not matter: waits of who has nothing to do,
 * threads that nobody waits for in vain, small tails, what a busy machine makes. Of matrices and
 * tables made by hand.
 */
#include "analysis/findings/causes.h"
#include "analysis/findings/findings.h"
#include "analysis/findings/idle.h"
#include "analysis/findings/verdicts.h"
#include "findings_scene.h"
#include "tap.h"

static enum weft_cause_place place_of(const struct scene *scene)
{
    return weft_cause_place_of(&scene->facts, &scene->causes[0], NULL);
}

static struct weft_judgement judge(const struct scene *scene)
{
    return weft_verdict_of(&scene->facts, &scene->relations, NULL);
}

static enum weft_verdict verdict_of(const struct scene *scene)
{
    return judge(scene).verdict;
}

static bool serves(const struct weft_facts *facts, const struct weft_facts *other)
{
    bool is = false;
    return weft_facts_find_serves(facts, other, &is) && is;
}

static bool is_significant(const struct scene *scene)
{
    return judge(scene).is_significant;
}

static const struct weft_str wholes[] = { { "take", 4 }, { "serve", 5 }, { "ask_slowly", 10 } };

static void know_wholes(struct scene *scene)
{
    scene->facts.wholes = wholes;
    scene->facts.n_wholes = sizeof wholes / sizeof *wholes;
}

/* ---- idle ------------------------------------------------------------------------------------ */

static void test_idle_place(void)
{
    struct scene s;
    begin(&s, "take");
    know_wholes(&s);
    const uint32_t idle = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                               "nanosleep", ":blocked: timer");
    const uint32_t at_work = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                                  "ask_slowly", "nanosleep", ":blocked: timer");
    const uint32_t running =
        PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main", ":running");
    const uint32_t locked =
        PATH(&s, "loop", "take", "-m", "@boss", "main", "nanosleep", ":blocked: timer");
    const uint32_t mutex = PATH(&s, "loop", "take", "pthread_mutex_lock", "-m", "@boss", "main",
                                "nanosleep", ":blocked: timer");
    const uint32_t own = PATH(&s, "loop", "take", "nanosleep", ":blocked: timer");
    tap_ok(weft_facts_is_idle_at(&s.facts, idle),
           "who waits for a thread that sleeps between its work is idle");
    tap_ok(!weft_facts_is_idle_at(&s.facts, at_work), "not while it sleeps within that");
    tap_ok(!weft_facts_is_idle_at(&s.facts, running), "nor while it runs");
    tap_ok(!weft_facts_is_idle_at(&s.facts, locked) && !weft_facts_is_idle_at(&s.facts, mutex),
           "nor who waits for a lock");
    tap_ok(!weft_facts_is_idle_at(&s.facts, own), "nor who sleeps itself");
    s.facts.n_wholes = 0;
    tap_ok(!weft_facts_is_idle_at(&s.facts, idle), "without functions nothing is known");
}

/* A thread is idle where its loop iterations begin, and at work where it waits amid one. */
static void test_idle_iteration(void)
{
    static const struct weft_loop_name loop = { .thread = { "boss", 4 }, .call = { "read", 4 } };
    struct scene s;
    begin(&s, "take");
    know_wholes(&s);
    s.facts.loops = &loop;
    s.facts.n_loops = 1;
    const uint32_t begins = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                                 "__GI___libc_read", ":blocked: network");
    const uint32_t amid = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                               "nanosleep", ":blocked: timer");
    const uint32_t other = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@timer", "main",
                                "nanosleep", ":blocked: timer");
    const uint32_t bare =
        PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", ":blocked: timer");
    tap_ok(weft_facts_is_idle_at(&s.facts, begins), "where its iterations begin it is idle");
    tap_ok(!weft_facts_is_idle_at(&s.facts, amid), "elsewhere it is at work");
    tap_ok(weft_facts_is_idle_at(&s.facts, other), "of another thread nothing is known");
    tap_ok(weft_facts_is_idle_at(&s.facts, bare), "nor where no stack is");
}

/* Most iterations of a loop may wait for another thread; a function that does is there to wait. */
static void test_iterations_that_wait(void)
{
    struct scene s;
    begin(&s, "serve after read");
    const uint32_t wait = PATH(&s, "serve", "call", "sem_wait", "-slots", "@serve", "call", "read",
                               ":blocked: timer");
    set_usual(&s, PATH(&s, "serve", ":running"), 5 * MS, 5 * MS);
    set_usual(&s, wait, 0, 8 * MS);
    (void)set_cause(&s, wait, 800, 1000, 13 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_SPREAD, "a function that waits is there for that");
    const enum weft_verdict of_function = verdict_of(&s);
    s.facts.is_turn = true;
    tap_ok(verdict_of(&s) != WEFT_VERDICT_IDLE && of_function == WEFT_VERDICT_IDLE,
           "an iteration is not idle for that");
}

/* With debug symbols of libc, the innermost function of a wait for a mutex is one that waits. */
static void test_lock_is_not_idle(void)
{
    struct scene s;
    begin(&s, "take");
    know_wholes(&s);
    const uint32_t node = PATH(&s, "loop", "take", "pthread_mutex_lock", "__lll_lock_wait",
                               "futex_wait", "-m", "@boss", "main", "nanosleep", ":blocked: timer");
    const uint32_t boss = PATH(&s, "loop", "take", "pthread_mutex_lock", "__lll_lock_wait",
                               "futex_wait", "-m", "@boss");
    const uint32_t disk = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                               "fdatasync", ":blocked: block device");
    tap_ok(weft_facts_is_idle_at(&s.facts, node), "a futex of an unknown kind may be idle");
    s.frames[boss].waited_for = 1 + WEFT_LOCK_MUTEX;
    tap_ok(!weft_facts_is_idle_at(&s.facts, node), "a lock that is held is not");
    tap_ok(!weft_facts_is_idle_at(&s.facts, disk), "nor is a thread that waits for a disk");
}

static void test_idle_cause(void)
{
    struct scene s;
    begin(&s, "take");
    know_wholes(&s);
    const uint32_t idle = PATH(&s, "loop", "take", "pthread_cond_wait", "-cv", "@boss", "main",
                               "nanosleep", ":blocked: timer");
    set_usual(&s, PATH(&s, "loop", "take", ":running"), US, US);
    set_usual(&s, idle, 0, 10 * MS);
    (void)set_cause(&s, idle, 300, 900, 10 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_SPREAD, "waiting for work makes no function slow");
    tap_ok(!is_significant(&s), "and is nothing significant");
    s.facts.is_proposed = false;
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "unless somebody asks about it");
    s.facts.is_proposed = true;
    s.rows[0].mean_a_ns = s.duration.mean_a = 400 * US;
    (void)set_cause(&s, idle, 300, 900, 10 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "nor if it works, too, as usual");
}

/* ---- who waits for it ------------------------------------------------------------------------ */

/* Clients half of whose time the server works, or is idle, or has taken their processor. */
static void clients(struct scene *s, const char *how)
{
    uint32_t wait;
    begin(s, "ask");
    know_wholes(s);
    if (strcmp(how, "idle") == 0)
        wait = PATH(s, "ask", "recv", "@server-1", "loop", "recv", ":blocked: network");
    else if (strcmp(how, "preempted") == 0)
        wait = PATH(s, "ask", ":preempted", "@server-1", "loop", "serve", ":running");
    else
        wait = PATH(s, "ask", "recv", "@server-1", "loop", "serve", ":running");
    const uint32_t own = PATH(s, "ask", ":running");
    for (size_t i = 0; i < 20; i++)
        add_item(s, "client", own, 100, wait, 100);
}

static void test_unfelt(void)
{
    struct scene server, client;
    begin(&server, "serve");
    add_item(&server, "server-2", PATH(&server, "serve", ":running"), 50, 0, 0);
    clients(&client, "works");
    tap_ok(serves(&server.facts, &client.facts), "clients wait for a server at work");
    tap_ok(!weft_facts_is_felt(&server.facts, &client.facts), "and are not slow for it");
    server.relations.unfelt_by = &client.facts;
    set_usual(&server, 1, US, MS);
    (void)set_cause(&server, 1, 20, 900, 50 * MS);
    tap_ok(!is_significant(&server), "then what the server is slow for matters to nobody");
    server.relations.unfelt_by = NULL;
    tap_ok(is_significant(&server), "it does if nobody is known");
    clients(&client, "idle");
    tap_ok(!serves(&server.facts, &client.facts), "not clients of a server that has nothing to do");
    clients(&client, "preempted");
    tap_ok(!serves(&server.facts, &client.facts), "nor those that it takes the processor from");
    clients(&client, "works");
    for (size_t i = 0; i < client.matrix.n_items; i++)
        client.items[i].thread = WEFT_STR("server-9");
    tap_ok(!serves(&server.facts, &client.facts), "nor threads of the same name");
}

static void test_felt(void)
{
    struct scene server, client;
    begin(&server, "serve");
    add_item(&server, "server-2", PATH(&server, "serve", ":running"), 50, 0, 0);
    clients(&client, "works");
    const uint32_t wait =
        PATH(&client, "ask", "recv", "@server-1", "loop", "serve", "nanosleep", ":blocked: timer");
    set_usual(&client, PATH(&client, "ask", ":running"), 100 * US, 100 * US);
    set_usual(&client, wait, 0, 50 * MS);
    (void)set_cause(&client, wait, 20, 60, 50 * MS);
    tap_ok(is_significant(&client) && weft_facts_is_felt(&server.facts, &client.facts),
           "clients that are slow for the server feel it");
}

/* ---- what matters ---------------------------------------------------------------------------- */

static void test_small(void)
{
    struct scene s;
    begin(&s, "serve");
    s.facts.trace_ns.is_known = false;
    const uint32_t slow = PATH(&s, "serve", "fsync", ":blocked: block device");
    set_usual(&s, PATH(&s, "serve", ":running"), MS, MS);
    set_usual(&s, slow, 0, 8 * MS);
    const struct weft_compare_cause *cause = set_cause(&s, slow, 11, 1000, 9 * MS);
    tap_ok(weft_cause_is_small(&s.facts, cause) && weft_cause_share(&s.facts, cause) < 0.1,
           "8 %% of all time, 9 times as long: a small tail");
    tap_ok(verdict_of(&s) == WEFT_VERDICT_UNNOTICED && !is_significant(&s),
           "of a function that nobody asked about that is nothing significant");
    s.facts.is_proposed = false;
    tap_ok(is_significant(&s), "of what somebody asked about it is");
    cause = set_cause(&s, slow, 6, 1000, 9 * MS);
    tap_ok(!is_significant(&s), "unless it is half of that");
    cause = set_cause(&s, slow, 6, 1000, 11 * MS);
    tap_ok(is_significant(&s), "and no longer");
    s.facts.is_proposed = true;
    cause = set_cause(&s, slow, 11, 1000, 11 * MS);
    tap_ok(!weft_cause_is_small(&s.facts, cause), "11 times as long is not small");
    cause = set_cause(&s, slow, 40, 1000, 9 * MS);
    tap_ok(!weft_cause_is_small(&s.facts, cause), "nor is a quarter of all time");
}

static void test_percentile(void)
{
    struct scene s;
    begin(&s, "serve");
    const uint32_t slow = PATH(&s, "serve", "pthread_mutex_lock", ":blocked: lock");
    set_usual(&s, PATH(&s, "serve", ":running"), 5 * MS, 5 * MS);
    set_usual(&s, slow, 0, 20 * MS);
    const struct weft_compare_cause *cause = set_cause(&s, slow, 20, 1000, 25 * MS);
    tap_ok(weft_cause_is_small(&s.facts, cause) && is_significant(&s),
           "2 %% that take 25 ms instead of 5 are a small tail, and significant");
    const unsigned rank = judge(&s).rank;
    cause = set_cause(&s, slow, 20, 1000, 9 * MS);
    tap_ok(!is_significant(&s), "9 ms instead of 5 are not");
    (void)set_cause(&s, slow, 100, 1000, 55 * MS);
    tap_ok(judge(&s).rank < rank, "half of all time comes before that");
    set_usual(&s, PATH(&s, "serve", ":running"), 500 * MS, 500 * MS);
    cause = set_cause(&s, slow, 20, 1000, 600 * MS);
    tap_ok(!is_significant(&s), "nor 600 ms instead of 500");
}

static void test_trifle(void)
{
    struct scene s;
    begin(&s, "serve");
    const uint32_t slow = PATH(&s, "serve", "fsync", ":blocked: block device");
    set_usual(&s, PATH(&s, "serve", ":running"), US, US);
    set_usual(&s, slow, 0, 2 * MS);
    (void)set_cause(&s, slow, 40, 1000, 2 * MS);
    tap_ok(verdict_of(&s) == WEFT_VERDICT_TRIFLE, "80 ms of 10 s, 2 ms each: a trifle");
    (void)set_cause(&s, slow, 4, 1000, 19 * MS);
    tap_ok(verdict_of(&s) != WEFT_VERDICT_TRIFLE, "76 ms of 10 s, 19 ms each: not");
    s.facts.trace_ns.value *= 1000;
    tap_ok(verdict_of(&s) == WEFT_VERDICT_TRIFLE, "but of hours");
    (void)set_cause(&s, slow, 4, 1000, 150 * MS);
    tap_ok(verdict_of(&s) != WEFT_VERDICT_TRIFLE, "150 ms each are noticed, then, too");
    tap_ok(!weft_execution_is_noticed(&s.facts, (uint64_t)(50 * MS)) &&
               weft_execution_is_noticed(&s.facts, (uint64_t)(150 * MS)),
           "as is a single one, and not one of 50 ms");
    s.facts.trace_ns.value = 5e8;
    tap_ok(weft_execution_is_noticed(&s.facts, (uint64_t)(50 * MS)),
           "unless it is a tenth of what was recorded");
}

/* How many numbers the rule of single executions names; SIZE_MAX: it was not tried. */
static size_t n_numbers_of_singles(const struct scene *scene)
{
    struct weft_rule_log log = { .arena = weft_arena_new(0) };
    size_t n = SIZE_MAX;
    (void)weft_verdict_of(&scene->facts, &scene->relations, &log);
    for (size_t i = 0; i < log.tried.n; i++)
        if (strcmp(log.tried.items[i].name, "single_unnoticed") == 0)
            n = log.tried.items[i].n_numbers;
    weft_arena_free(log.arena);
    return n;
}

/* Without the recorded duration there is no limit to name, and 0 is none. */
static void test_single_limit(void)
{
    struct scene s;
    uint32_t items_b[] = { 0 }, cause_of[] = { 0 };
    begin(&s, "serve");
    const uint32_t slow = PATH(&s, "serve", "fsync", ":blocked: block device");
    set_usual(&s, PATH(&s, "serve", ":running"), US, US);
    set_usual(&s, slow, 0, 50 * MS);
    (void)set_cause(&s, slow, 1, 1000, 50 * MS);
    s.items[0].end_ns = (uint64_t)(50 * MS);
    s.table.items_b = items_b;
    s.table.cause_of = cause_of;
    s.facts.tail.is_alone = true;
    tap_ok(verdict_of(&s) == WEFT_VERDICT_SINGLE_UNNOTICED && n_numbers_of_singles(&s) == 1,
           "50 ms of 10 s once: not noticed, and by how much");
    s.facts.trace_ns = (struct weft_fact){ .is_known = false };
    tap_ok(verdict_of(&s) == WEFT_VERDICT_SINGLE && n_numbers_of_singles(&s) == 0,
           "of an unknown time: told, without a limit");
    struct weft_findings_table *table;
    struct weft_err err = { 0 };
    (void)set_cause(&s, slow, 1, MOST, 50 * MS);
    s.facts.trace_ns = (struct weft_fact){ 0x1p64, true }; /* of several traces together */
    if (weft_findings_run(&s.facts, 1, &table, &err) != WEFT_OK)
        abort();
    tap_eq_u64(table->rows[0].trace_ns, UINT64_MAX, "the longest time that was recorded");
    weft_result_free(table);
}

static void test_kind(void)
{
    struct scene s;
    begin(&s, "send");
    const uint32_t slow = PATH(&s, "send", "wake", ":running");
    set_usual(&s, PATH(&s, "send", ":running"), US, US);
    set_usual(&s, slow, 0, 50 * US);
    (void)set_cause(&s, slow, 500, 900, 500 * US);
    tap_ok(place_of(&s) == WEFT_CAUSE_SPREAD, "what more than half do is not slow");
    (void)set_cause(&s, slow, 300, 900, 500 * US);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "a third is");
}

static void test_preempted(void)
{
    struct scene s;
    begin(&s, "serve");
    const uint32_t taken = PATH(&s, "serve", ":preempted", "@client", "ask", ":running");
    set_usual(&s, PATH(&s, "serve", ":running"), MS, MS);
    set_usual(&s, taken, 0, 2 * MS);
    (void)set_cause(&s, taken, 300, 900, 3 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_CHANCE, "a turn of the scheduler is how threads share");
    (void)set_cause(&s, taken, 300, 900, 8 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "longer is a cause");
}

static void test_without_kernel(void)
{
    struct scene s;
    begin(&s, "route");
    s.facts.has_switches = WEFT_FACT_NO;
    const uint32_t most = PATH(&s, "route", "forward");
    const uint32_t part = PATH(&s, "route", "look_up");
    set_usual(&s, PATH(&s, "route", ":running"), 10 * US, 10 * US);
    set_usual(&s, most, 120 * US, 7 * MS);
    set_usual(&s, part, 20 * US, 7 * MS);
    (void)set_cause(&s, most, 16, 1000, 7 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD,
           "7 ms more where all are most of the time may be waits for a processor");
    (void)set_cause(&s, most, 16, 1000, 30 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "30 ms more are not");
    (void)set_cause(&s, part, 60, 1000, 7 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "nor many where they seldom are");
    s.facts.has_switches = WEFT_FACT_YES;
    (void)set_cause(&s, most, 16, 1000, 7 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "with a kernel it is known who had the processor");
}

/* 20 of 1,000 executions wait for a lock, `n_holds` times at once, for a thread of which nothing is
 * recorded but that it holds the lock. */
static void held(struct scene *s, uint32_t wait, uint32_t n_holds, double longer_ns)
{
    static uint32_t items_b[20], cause_of[20];
    set_usual(s, PATH(s, ":blocked: unknown"), 50 * US, 50 * US);
    set_usual(s, wait, 0, longer_ns);
    (void)set_cause(s, wait, 20, 1000, longer_ns + 50 * US);
    for (uint32_t i = 0; i < 20; i++) {
        items_b[i] = i;
        s->items[i].start_ns = i % n_holds * UINT64_C(1000000000) + i;
        s->items[i].end_ns = s->items[i].start_ns + (uint64_t)longer_ns;
    }
    s->table.items_b = items_b;
    s->table.cause_of = cause_of;
    s->facts.all_ns = 2 * 20 * longer_ns;
    s->facts.has_switches = WEFT_FACT_NO;
}

static void test_held_without_kernel(void)
{
    struct scene s;
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "-store", "@flusher", ":blocked: unknown"), 10, 15 * MS);
    tap_ok(
        place_of(&s) == WEFT_CAUSE_INSIDE && is_significant(&s),
        "a lock that a thread holds for 15 ms, again and again, is a cause without a kernel, too");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "@flusher", ":blocked: unknown"), 10, 15 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "so is one without a name");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "-a", "@other", "-b", "@flusher", ":blocked: unknown"), 10, 15 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "and one that a holder waits for");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "-store", "@flusher", ":blocked: unknown"), 10, 3 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD, "not for a time slice: the holder may lack a CPU");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "-store", "@flusher", ":blocked: unknown"), 4, 15 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD, "not if it was held so long four times");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "pthread_cond_wait", "-ready", "@flusher", ":blocked: unknown"), 10, 15 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD, "nor a condition that another thread signals");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, ":blocked: unknown"), 10, 15 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD, "nor the executions' own threads");
    begin(&s, "client after nanosleep");
    held(&s, PATH(&s, "-store", "@flusher", ":blocked: unknown"), 10, 15 * MS);
    s.causes[1] = s.causes[0];
    s.causes[1].node = PATH(&s, ":blocked: unknown");
    s.causes[1].n_items = 30;
    s.table.n_causes = 2;
    tap_ok(place_of(&s) == WEFT_CAUSE_UNTOLD,
           "nor where more executions seem to wait for CPUs than for the lock");
}

static void test_polling(void)
{
    struct scene s;
    begin(&s, "ticker after nanosleep");
    const uint32_t work = PATH(&s, "tick", "expire", ":running");
    set_usual(&s, PATH(&s, "tick", ":running"), 2 * US, 2 * US);
    set_usual(&s, work, 0, 40 * MS);
    s.items[0].thread = WEFT_STR("ticker");
    (void)set_cause(&s, work, 30, 400, 40 * MS);
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "what somebody may have asked for is slow");
    s.facts.is_after_sleep = true;
    tap_ok(place_of(&s) == WEFT_CAUSE_SPREAD, "who wakes by itself finds something to do at times");
    s.rows[0].mean_a_ns = s.duration.mean_a = 50 * US;
    tap_ok(place_of(&s) == WEFT_CAUSE_INSIDE, "not if there is as usual");
}

static void test_more_work(void)
{
    struct scene s;
    begin(&s, "process");
    s.facts.trace_ns.value = 1e9;
    const uint32_t decode = PATH(&s, "process", "decode");
    set_usual(&s, decode, 35 * US, 1400 * US);
    (void)set_cause(&s, decode, 70, 1000, 1400 * US);
    tap_ok(weft_str_equal(weft_facts_work_of(&s.facts), WEFT_STR("decode")),
           "the calls of the function that computes longer are counted");
    s.facts.work = (struct weft_work){ .is_known = true,
                                       .function = WEFT_STR("decode"),
                                       .usual_calls = 1,
                                       .slow_calls = 39,
                                       .usual_ns = 35 * US,
                                       .slow_ns = 36 * US };
    tap_ok(verdict_of(&s) == WEFT_VERDICT_MORE_WORK && !is_significant(&s),
           "more calls, each as long: a bigger task is not slow");
    s.facts.work.slow_calls = 1;
    s.facts.work.slow_ns = 1400 * US;
    tap_ok(verdict_of(&s) != WEFT_VERDICT_MORE_WORK && is_significant(&s),
           "one call that is longer is");
    s.facts.work.slow_calls = 10;
    s.facts.work.slow_ns = 140 * US;
    tap_ok(verdict_of(&s) != WEFT_VERDICT_MORE_WORK, "so are more calls that are longer, too");
}

int main(void)
{
    test_idle_place();
    test_idle_iteration();
    test_iterations_that_wait();
    test_lock_is_not_idle();
    test_idle_cause();
    test_unfelt();
    test_felt();
    test_small();
    test_percentile();
    test_trifle();
    test_single_limit();
    test_kind();
    test_preempted();
    test_without_kernel();
    test_held_without_kernel();
    test_polling();
    test_more_work();
    return tap_done();
}
