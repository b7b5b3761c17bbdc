/* SPDX-License-Identifier: MIT
 *
 * Problems of several types together: which are one, which come first, and which are small beside
 * others. Random rows are merged a second time, slowly.
 */
#include "analysis/findings/findings.h"
#include "analysis/findings/problems.h"
#include "problems_scene.h"
#include "tap.h"

#define HANDLE WAY("", "handle", ":running")
#define USUAL .usual = { { 24, HANDLE, 100 } }

/* ---- what holders do ------------------------------------------------------------------------- */

/* Executions that hold a lock and others that wait for it are slow for one reason. */
static void test_holders(void)
{
    const struct way *wait =
        WAY("m", "put", "-m", "@log", "commit", "fsync", ":blocked: block device");
    const struct way *hold = WAY("", "commit", "fsync", ":blocked: block device");
    const struct way *elsewhere = WAY("", "rotate", "fsync", ":blocked: block device");
    const struct way *reading = WAY("", "commit", "pread64", ":blocked: block device");
    const struct way *code = WAY("", "commit", ":running");
    const struct way *network = WAY("", "commit", "recv", ":blocked: network");
    FOUND("lock_held_across_io; fsync small", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, hold, MS } });
    FOUND("fsync; lock_held_across_io", USUAL, .slow = { { 12, wait, MS }, { 12, hold, 2 * MS } });
    FOUND("lock_held_across_io; fsync", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, elsewhere, MS } });
    FOUND("lock_held_across_io; disk_io small", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, reading, MS } });
    FOUND("lock_held_across_io; slower_code small", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, code, MS } });
    FOUND("lock_held_across_io; network", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, network, MS } });
}

/* Locks beside locks, what is no lock, and a lock that is small make nothing small. */
static void test_no_holders(void)
{
    const struct way *wait = WAY("m", "put", "-m", "@log", "commit", ":running");
    FOUND("lock_contention; lock_contention", USUAL,
          .slow = { { 12, wait, 2 * MS },
                    { 12, WAY("m", "commit", "-n", "@b", "work", ":running"), MS } });
    FOUND("waiting_for_thread; slower_code", USUAL,
          .slow = {
              { 12, WAY("c", "put", "pthread_cond_wait", "@log", "commit", ":running"), 2 * MS },
              { 12, WAY("", "commit", ":running"), MS } });
    FOUND("slower_code; lock_contention small", USUAL,
          .slow = { { 1, wait, 13 * MS }, { 12, WAY("", "commit", ":running"), MS } });
}

/* Small ones come last; threads that spin come before those whose CPUs they take. */
static void test_order(void)
{
    const struct way *spinning = WAY("", "get", "sched_yield", ":running");
    const struct way *taken = WAY("-", "get", ":preempted", "@other");
    FOUND("lock_held_across_io; network; fsync small", USUAL,
          .slow = {
              { 12, WAY("m", "put", "-m", "@log", "commit", "fsync", ":blocked: device"), 3 * MS },
              { 12, WAY("", "commit", "fsync", ":blocked: device"), 2 * MS },
              { 12, WAY("", "ask", "recv", ":blocked: network"), MS } });
    FOUND("spinning; cpu_saturation", USUAL,
          .slow = { { 12, spinning, MS }, { 12, taken, 2 * MS } });
    FOUND("cpu_saturation; slower_code", USUAL,
          .slow = { { 12, WAY("", "get", ":running"), MS }, { 12, taken, 2 * MS } });
    FOUND("cpu_saturation; spinning small", .base_ns = 100, .usual = { { 24, HANDLE, 100 } },
          .slow = { { 1, spinning, 11 * MS }, { 12, taken, 2 * MS } });
}

/* What may be chance comes behind what is none; a type that is slow for other programs alone has no
 * problem. */
static void test_steps_back(void)
{
    const struct way *network = WAY("", "ask", "recv", ":blocked: network");
    const struct way *disk = WAY("", "commit", "fsync", ":blocked: device");
    FOUND("fsync; network small", USUAL, .slow = { { 1, network, 60 * MS }, { 12, disk, 2 * MS } });
    FOUND("network", USUAL, .slow = { { 1, network, 60 * MS } });
    FOUND("", USUAL, .slow = { { 12, WAY("-", "get", ":preempted", "!burner"), MS } });
    FOUND("", USUAL, .slow = { { 12, WAY("", "get", ":interrupted"), MS } });
}

/* What the holder waits for, for which others wait as well: the thread at the end is the cause, if
 * enough wait for it without the lock. */
static void test_holders_that_wait(void)
{
    const struct way *wait =
        WAY("mc", "put", "-m", "@log", "commit", "pthread_cond_wait", "@zip", "pack", ":running");
    const struct way *same = WAY("c", "rotate", "pthread_cond_wait", "@zip", "pack", ":running");
    const struct way *other = WAY("c", "rotate", "pthread_cond_wait", "@zip", "sort", ":running");
    FOUND("waiting_for_thread; lock_held_while_waiting", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, same, MS } });
    FOUND("lock_held_while_waiting; waiting_for_thread small", USUAL,
          .slow = { { 12, wait, 5 * MS }, { 12, same, MS } });
    FOUND("lock_held_while_waiting; waiting_for_thread", USUAL,
          .slow = { { 12, wait, 2 * MS }, { 12, other, MS } });
}

/* One function that two others call is two places. */
static void test_callers(void)
{
    FOUND("slower_code; slower_code", USUAL,
          .slow = { { 12, WAY("", "serve", "rebuild", "hash", ":running"), 2 * MS },
                    { 12, WAY("", "serve", "resize", "hash", ":running"), MS } });
    FOUND("slower_code", USUAL,
          .slow = { { 12, WAY("", "get", "rebuild", "hash", ":running"), 2 * MS },
                    { 12, WAY("", "put", "rebuild", "hash", ":running"), MS } });
}

/* ---- types together -------------------------------------------------------------------------- */

/* "slower_code of get, also put": what is found in two types of executions. */
static const char *found_in_two(const struct beside *one, const struct beside *other)
{
    static struct compared its[2];
    static char said[200];
    compare(&its[0], one);
    compare(&its[1], other);
    struct weft_finding findings[] = { its[0].finding, its[1].finding };
    findings[1].rank = 1;
    struct weft_problems_table *table = problems_of(findings, 2);
    said[0] = 0;
    for (size_t i = 0; table && i < table->n_rows; i++) {
        const struct weft_problem *row = &table->rows[i];
        const size_t n = strlen(said);
        (void)snprintf(said + n, sizeof said - n, "%s%s of %.*s%s%.*s", i ? "; " : "",
                       weft_problem_kind_name(row->kind), (int)row->finding->type.n_bytes,
                       row->finding->type.bytes, row->n_also ? ", also " : "",
                       row->n_also ? (int)row->also[0]->type.n_bytes : 0,
                       row->n_also ? row->also[0]->type.bytes : "");
    }
    weft_result_free(table);
    return said;
}

#define TWO_FOUND(wanted, one, other)                                                              \
    tap_eq_str(found_in_two(&(const struct beside){ .type = "get", USUAL, SLOW(one) },             \
                            &(const struct beside){ .type = "put", USUAL, SLOW(other) }),          \
               wanted, "%s", wanted)
#define SLOW(way) .slow = { { 12, way, MS } }

static void test_two_types(void)
{
    TWO_FOUND("slower_code of get, also put", WAY("", "get", "compress", ":running"),
              WAY("", "put", "compress", ":running"));
    TWO_FOUND("slower_code of get; slower_code of put", WAY("", "get", "compress", ":running"),
              WAY("", "put", "parse", ":running"));
    TWO_FOUND("slower_code of get; slower_code of put",
              WAY("", "serve", "rebuild", "hash", ":running"),
              WAY("", "serve", "resize", "hash", ":running"));
    TWO_FOUND("sleep of get; sleep of put",
              WAY("", "serve", "retry", "nap", "nanosleep", ":blocked: timer"),
              WAY("", "serve", "throttle", "nap", "nanosleep", ":blocked: timer"));
    TWO_FOUND("lock_contention of get, also put", WAY("m", "get", "-m", "@b", "work", ":running"),
              WAY("m", "put", "-m", "@b", "sort", ":running"));
    TWO_FOUND("lock_contention of get; lock_contention of put",
              WAY("m", "get", "-m", "@b", "work", ":running"),
              WAY("m", "put", "-n", "@b", "work", ":running"));
    TWO_FOUND("waiting_for_thread of get, also put",
              WAY("c", "get", "pthread_cond_wait", "@b", "work", ":running"),
              WAY("c", "put", "pthread_cond_wait", "@b", "work", ":running"));
    TWO_FOUND("waiting_for_thread of get, also put",
              WAY("c", "get", "pthread_cond_wait", "@worker", "work", ":running"),
              WAY("", "work", ":running"));
    TWO_FOUND("waiting_for_thread of get; slower_code of put",
              WAY("c", "get", "pthread_cond_wait", "@b", "work", ":running"),
              WAY("", "work", ":running"));
    TWO_FOUND(
        "sleep of get, also put",
        WAY("c", "get", "pthread_cond_wait", "@worker", "retry", "nanosleep", ":blocked: timer"),
        WAY("", "retry", "nanosleep", ":blocked: timer"));
    TWO_FOUND("cpu_saturation of get, also put", WAY("-", "get", ":preempted", "@other"),
              WAY("-", "put", ":preempted", "@other"));
    TWO_FOUND("cpu_saturation of get; cpu_saturation of put",
              WAY("-", "get", ":preempted", "@other"), WAY("-", "put", ":preempted", "@third"));
    TWO_FOUND("fsync of get, also put", WAY("", "get", "commit", "fsync", ":blocked: device"),
              WAY("", "put", "commit", "fsync", ":blocked: device"));
}

/* ---- random rows ----------------------------------------------------------------------------- */

enum { TYPES = 6, ROWS = 24, KEYS = 4, TRIES = 2000 };

/* Rows of a few keys and types, in two parts: the second comes when the first is merged. */
struct rows {
    struct weft_finding findings[TYPES];
    struct weft_frame functions[KEYS];
    struct weft_problem rows[ROWS];
    size_t n_first, n;
};

static void make_rows(struct rows *it, uint64_t *seed)
{
    static const char *const types[TYPES] = { "get", "put", "scan", "get", "list", "drop" };
    memset(it, 0, sizeof *it);
    for (unsigned i = 0; i < TYPES; i++)
        it->findings[i] = (struct weft_finding){ .type = weft_str_of(types[i]), .rank = i };
    for (unsigned i = 0; i < KEYS; i++)
        it->functions[i].name = WEFT_STR("sort");
    it->functions[1].name = WEFT_STR("parse");
    it->n = tap_random(seed) % ROWS;
    it->n_first = tap_random(seed) % (it->n + 1);
    for (size_t i = 0; i < it->n; i++) {
        struct weft_problem *row = &it->rows[i];
        *row = (struct weft_problem){ .finding = &it->findings[tap_random(seed) % TYPES],
                                      .kind = WEFT_PROBLEM_CODE,
                                      .key = tap_random(seed) % KEYS,
                                      .cost_ns = (double)(i + 1),
                                      .is_evident = tap_random(seed) % 2,
                                      .is_small = tap_random(seed) % 4 == 0 };
        if (row->key == 0)
            row->holder = WEFT_STR("log");
        else if (row->key == 1)
            row->object = WEFT_STR("mutex");
        else if (tap_random(seed) % 4 > 0)
            row->waiting =
                (struct weft_chain){ .n = 1, .links = { &it->functions[tap_random(seed) % 2] } };
    }
}

/* Of one cause: of one key, for a thread or an object; or threads alike in one function. */
static bool is_same(const struct weft_problem *a, const struct weft_problem *b)
{
    const bool is_named = a->holder.n_bytes > 0 || a->object.n_bytes > 0;
    const bool is_in_one = a->waiting.n > 0 && b->waiting.n > 0 &&
                           weft_str_equal(a->waiting.links[0]->name, b->waiting.links[0]->name);
    const bool is_by_itself = a->holder.n_bytes == 0 && b->holder.n_bytes == 0;
    return (a->key == b->key && is_named) || (is_in_one && (a->key == b->key || is_by_itself));
}

static bool has_type(const struct weft_problem *problem, struct weft_str type)
{
    size_t n = weft_str_equal(problem->finding->type, type);
    for (size_t i = 0; i < problem->n_also; i++)
        n += weft_str_equal(problem->also[i]->type, type);
    return n == 1;
}

/* Is there a row of its cause that names the type of the input row, and is no smaller? */
static bool is_told(const struct weft_problem *problem, const struct weft_problems_table *table)
{
    for (size_t k = 0; k < table->n_rows; k++) {
        const struct weft_problem *row = &table->rows[k];
        if ((row->cost_ns == problem->cost_ns || is_same(row, problem)) &&
            has_type(row, problem->finding->type) && row->is_small <= problem->is_small)
            return true;
    }
    return false;
}

/* Is each row of one cause, or of the same type as one of its cause that is not smaller, and small?
 * Small ones are last. */
static bool is_right(const struct rows *it, const struct weft_problems_table *table)
{
    bool is_good = table->n_rows <= it->n;
    for (size_t i = 0; i < it->n; i++)
        is_good = is_good && is_told(&it->rows[i], table);
    for (size_t i = 0; i < table->n_rows; i++)
        for (size_t k = i + 1; k < table->n_rows; k++) {
            const struct weft_problem *a = &table->rows[i], *b = &table->rows[k];
            is_good = is_good && a->is_small <= b->is_small &&
                      (!is_same(a, b) || (b->is_small && a->finding == b->finding));
        }
    return is_good;
}

static bool rank_twice(const struct rows *it, struct weft_problems_table *table)
{
    struct weft_err err = { 0 };
    memcpy(table->rows, it->rows, it->n_first * sizeof *it->rows);
    table->n_rows = it->n_first;
    if (weft_problems_rank(table, TYPES, &err) != WEFT_OK)
        return false;
    memcpy(&table->rows[table->n_rows], &it->rows[it->n_first],
           (it->n - it->n_first) * sizeof *it->rows);
    table->n_rows += it->n - it->n_first;
    return weft_problems_rank(table, TYPES, &err) == WEFT_OK;
}

static void test_random_rows(void)
{
    static struct rows it;
    uint64_t seed = tap_seed(1);
    size_t n_merged = 0, n_wrong = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        struct weft_problem room[ROWS];
        struct weft_problems_table table = { .arena = weft_arena_new(0), .rows = room };
        make_rows(&it, &seed);
        n_wrong += !table.arena || !rank_twice(&it, &table) || !is_right(&it, &table);
        n_merged += it.n - table.n_rows;
        weft_arena_free(table.arena);
    }
    tap_ok(n_merged > TRIES && n_wrong == 0, "%zu rows merged in %d tables: %zu wrong", n_merged,
           TRIES, n_wrong);
}

/* ---- goroutines ------------------------------------------------------------------------------ */

/* Is the first problem of a critical path small? */
static bool is_small_on_path(const char *function)
{
    static struct compared it;
    struct weft_err err = { 0 };
    compare(&it,
            &(const struct beside){ .slow = { { 1, WAY("", function, "work", ":running"), MS } } });
    struct weft_problem room[2 * WEFT_PROBLEMS_OF_TYPE];
    struct weft_problems_table problems = { .rows = room };
    struct weft_findings_table findings = { .arena = weft_arena_new(0), .problems = &problems };
    const bool is_small = findings.arena &&
                          weft_findings_add_whole(&findings, &it.scene.matrix, &err) == WEFT_OK &&
                          problems.n_rows > 0 && room[0].is_small;
    weft_arena_free(findings.arena);
    return is_small;
}

/* Threads of Go carry goroutines from one to the other, and their critical path says nothing. */
static void test_goroutines(void)
{
    static const char *const names[] = { "runtime.goexit",       "runtime.goexit.abi0",
                                         "runtime.mcall",        "runtime.schedule",
                                         "runtime.findRunnable", "runtime.mstart1",
                                         "runtime.mstart.abi0" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tap_ok(is_small_on_path(names[i]), "below %s", names[i]);
    tap_ok(!is_small_on_path("main.main") && !is_small_on_path("runtime.goexit1"),
           "not of other programs");
}

int main(void)
{
    test_holders();
    test_no_holders();
    test_order();
    test_steps_back();
    test_holders_that_wait();
    test_callers();
    test_two_types();
    test_random_rows();
    test_goroutines();
    return tap_done();
}
