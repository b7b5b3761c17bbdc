/* SPDX-License-Identifier: MIT
 *
 * The recorder's ledger: what sources report, in orders in which they report it, and what becomes
 * of each process. Times are ms.
 */
#include "record/session/ledger_table.h"
#include "record/session/ticks.h"
#include "tap.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers that no process of this machine has. */
enum { TARGET = 9000100, CHILD = 9000200, THREAD = 9000101, OPERATIONS = WEFT_RING_OPERATIONS };

static const uint64_t ms = 1000000;

static struct ledger *start(bool has_kernel, bool follows)
{
    const struct ledger_opts opts = { .has_library = true, .follows = follows };
    struct ledger *ledger = ledger_new(&opts);
    ledger_begin(ledger, TARGET, "", 0, has_kernel);
    if (has_kernel) /* /proc has no process of this number, or another one */
        ledger_set_tid(ledger, TARGET, &ledger->processes.items[0]);
    ledger->processes.items[0].n_live = ledger->processes.items[0].n_kernel_threads = has_kernel;
    return ledger;
}

static void record(struct ledger *ledger, unsigned at, uint32_t tid, enum weft_kernel_type type,
                   uint32_t low, uint32_t high)
{
    struct weft_kernel_record made = {
        .time_ns = at * ms, .tid = tid, .type = (uint16_t)type, .a = low | (uint64_t)high << 32
    };
    ledger_take_record(ledger, &made, "");
}

static void kernel_fork(struct ledger *ledger, unsigned at, uint32_t by, uint32_t tid, uint32_t pid)
{
    record(ledger, at, by, WEFT_KERNEL_FORK, tid, pid);
}

static void kernel_exec(struct ledger *ledger, unsigned at, uint32_t pid)
{
    record(ledger, at, pid, WEFT_KERNEL_EXEC, pid, pid);
}

static void kernel_exit(struct ledger *ledger, unsigned at, uint32_t tid)
{
    record(ledger, at, tid, WEFT_KERNEL_EXIT, tid, 0);
}

static uint32_t ring(struct ledger *ledger, unsigned at, uint32_t pid, bool is_fork)
{
    return ledger_add_ring(ledger, &(struct ledger_ring_news){ .pid = pid,
                                                               .parent = TARGET,
                                                               .library = OPERATIONS,
                                                               .start_ns = at * ms,
                                                               .is_fork = is_fork,
                                                               .is_new_program = !is_fork,
                                                               .exe = "" });
}

static void entry(struct ledger *ledger, unsigned at, enum weft_journal_kind kind, uint32_t pid,
                  uint32_t parent, uint32_t value)
{
    const struct weft_journal_entry made = {
        .kind = kind, .pid = pid, .parent = parent, .value = value
    };
    ledger_take_entry(ledger, &made, at * ms);
}

/* "9000100 recorded none, 9000200 partly not_loaded" */
static void expect(struct ledger *ledger, unsigned at, const char *want, const char *name)
{
    char got[1024] = "";
    size_t n = 0;
    ledger_finish(ledger, WEFT_LEDGER_OUTLIVED, at * ms);
    for (size_t k = 0; k < ledger->processes.n; k++) {
        const struct weft_ledger_process made =
            ledger_describe(ledger, &ledger->processes.items[k]);
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%u %s %s %u", k ? ", " : "",
                              (unsigned)made.pid, weft_ledger_state_name(made.state),
                              weft_ledger_why_name(made.why), made.n_threads);
    }
    tap_eq_str(got, want, "%s", name);
    ledger_free(ledger);
}

static void test_kernel(void)
{
    struct ledger *ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    kernel_fork(ledger, 3, TARGET, THREAD, TARGET);
    kernel_fork(ledger, 4, THREAD, CHILD, CHILD);
    kernel_fork(ledger, 4, 9000999, 9000998, 9000998); /* of another program */
    kernel_exit(ledger, 5, CHILD);
    kernel_exit(ledger, 6, THREAD);
    kernel_exit(ledger, 7, TARGET);
    expect(ledger, 9, "9000100 recorded none 2, 9000200 recorded none 1", "a thread and a child");

    /* The records of one processor come after those of another that they are the cause of. */
    ledger = start(true, true);
    kernel_exit(ledger, 7, CHILD);
    kernel_exec(ledger, 5, CHILD);
    (void)ring(ledger, 6, CHILD, false);
    kernel_fork(ledger, 4, TARGET, CHILD, CHILD);
    (void)ring(ledger, 2, TARGET, false);
    kernel_exec(ledger, 1, TARGET);
    kernel_exit(ledger, 8, TARGET);
    expect(ledger, 9, "9000100 recorded none 1, 9000200 recorded none 1", "records in no order");

    ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    kernel_fork(ledger, 4, TARGET, CHILD, CHILD);
    kernel_exec(ledger, 5, CHILD);
    kernel_exit(ledger, 8, CHILD);
    kernel_fork(ledger, 20, TARGET, CHILD, CHILD); /* the number again */
    kernel_exit(ledger, 21, CHILD);
    kernel_exit(ledger, 22, TARGET);
    expect(ledger, 30,
           "9000100 recorded none 1, 9000200 partly not_loaded 1, 9000200 recorded none 1",
           "a program without the library, and a number that is used twice");

    ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    kernel_exec(ledger, 10, TARGET);
    kernel_exit(ledger, 20, TARGET);
    expect(ledger, 30, "9000100 partly not_loaded 1", "recorded until it runs another program");

    ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    kernel_exit(ledger, 20, TARGET);
    ledger_advance(ledger, 25 * ms);
    (void)ring(ledger, 2, TARGET, false); /* late */
    expect(ledger, 30, "9000100 recorded none 1", "a ring that is reported after the end");
}

static void test_options(void)
{
    struct ledger *ledger = start(true, false);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    kernel_fork(ledger, 4, TARGET, CHILD, CHILD);
    expect(ledger, 9, "9000100 partly outlived 1, 9000200 partly no_follow 1",
           "children that are excluded, and an end before that of the program");
}

static void test_counts(void)
{
    struct ledger *ledger = start(false, true);
    const uint32_t first = ring(ledger, 2, TARGET, false);
    uint64_t n_further;
    ledger_count(ledger, first,
                 &(struct ledger_counts){ .n_records = 5, .n_threads = 9, .n_lost_threads = 7 });
    ledger_advance(ledger, 5 * ms);
    ledger_count(ledger, first,
                 &(struct ledger_counts){ .n_records = 8, .n_threads = 9, .n_lost_threads = 7 });
    const uint32_t second = ledger_add_ring(
        ledger, &(struct ledger_ring_news){
                    .pid = TARGET, .library = WEFT_RING_FUNCTIONS, .start_ns = 2 * ms, .exe = "" });
    ledger_advance(ledger, 6 * ms);
    ledger_count(ledger, second, &(struct ledger_counts){ .n_threads = 9, .n_lost_threads = 7 });
    ledger_count(ledger, second, &(struct ledger_counts){ .n_threads = 1 }); /* no library does */
    ledger_count(ledger, 12345, &(struct ledger_counts){ .n_threads = 1 });
    const struct weft_ledger_totals totals = ledger_totals(ledger, &n_further);
    tap_eq_u64(totals.n_lost_threads, 7, "threads of two libraries are counted once");
    tap_eq_u64(totals.n_threads, 17, "beside those that have a ring, and the main one");
    tap_eq_u64(ledger->processes.items[0].n_records, 8, "records are those of the last count");
    ledger_ended(ledger, TARGET, 8 * ms);
    expect(ledger, 9, "9000100 partly threads_lost 17", "which the process is listed with");
}

static void test_journal(void)
{
    struct ledger *ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD, TARGET, 0);
    entry(ledger, 4, WEFT_JOURNAL_NO_RING, CHILD, TARGET, WEFT_REACH_DENIED);
    entry(ledger, 5, WEFT_JOURNAL_FORK, CHILD + 1, TARGET, 0);
    entry(ledger, 6, WEFT_JOURNAL_EXEC, CHILD + 2, TARGET, 0); /* of vfork */
    entry(ledger, 7, WEFT_JOURNAL_NO_EXEC, CHILD + 2, TARGET, 0);
    entry(ledger, 8, WEFT_JOURNAL_FORK, CHILD + 3, TARGET, 0);
    entry(ledger, 9, WEFT_JOURNAL_EXEC, CHILD + 3, TARGET, 0);
    entry(ledger, 9, WEFT_JOURNAL_NO_RING, CHILD + 4, TARGET, 77);
    entry(ledger, 9, (enum weft_journal_kind)77, CHILD + 5, TARGET, 0);
    entry(ledger, 9, WEFT_JOURNAL_FORK, 0, TARGET, 0);
    for (uint32_t pid = CHILD; pid < CHILD + 6; pid++)
        ledger_ended(ledger, pid, 20 * ms);
    ledger_ended(ledger, TARGET, 21 * ms);
    expect(ledger, 30,
           "9000100 recorded none 1, 9000200 not_recorded unreachable 1, 9000201 recorded none 1, "
           "9000202 recorded none 1, 9000203 not_recorded not_loaded 1, 9000204 not_recorded "
           "unreachable 1",
           "what only the journal reports");
}

/* Entries are the program's to write: of processes that are not of the program, nothing is taken.
 */
static void test_strangers(void)
{
    struct ledger *ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    entry(ledger, 3, WEFT_JOURNAL_FORK, 1, TARGET, 0);
    entry(ledger, 3, WEFT_JOURNAL_EXEC, 1, 0, 0);
    entry(ledger, 3, WEFT_JOURNAL_NO_RING, 1, TARGET, WEFT_REACH_DENIED);
    (void)ring(ledger, 4, 1, false);
    entry(ledger, 5, WEFT_JOURNAL_FORK, CHILD, CHILD + 1, 0); /* of a parent that is not known */
    entry(ledger, 6, WEFT_JOURNAL_EXEC, CHILD + 2, 0, 0);
    entry(ledger, 7, WEFT_JOURNAL_NO_RING, CHILD + 3, 1, WEFT_REACH_DENIED);
    ledger_ended(ledger, TARGET, 21 * ms);
    expect(ledger, 30, "9000100 recorded none 1", "processes that are not of the program");
}

/* A parent may write of a fork when its child has run another program, and ended. */
static void test_late_parent(void)
{
    struct ledger *ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    entry(ledger, 3, WEFT_JOURNAL_EXEC, CHILD, TARGET, 0);
    (void)ring(ledger, 4, CHILD, false);
    ledger_ended(ledger, CHILD, 5 * ms);
    ledger_advance(ledger, 6 * ms);
    entry(ledger, 7, WEFT_JOURNAL_FORK, CHILD, TARGET, 0);
    entry(ledger, 20, WEFT_JOURNAL_FORK, CHILD, TARGET, 0); /* the number again */
    ledger_ended(ledger, CHILD, 21 * ms);
    ledger_ended(ledger, TARGET, 22 * ms);
    expect(ledger, 30, "9000100 recorded none 1, 9000200 recorded none 1, 9000200 recorded none 1",
           "a fork that is reported late");

    /* /proc may show an orphan before what its parent wrote is taken. */
    ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    ledger_advance(ledger, 3 * ms);
    struct ledger_process *orphan = ledger_add(ledger, CHILD, 1, 5 * ms);
    orphan->is_orphan = orphan->image.is_exec = true;
    entry(ledger, 4, WEFT_JOURNAL_FORK, CHILD, TARGET, WEFT_JOURNAL_CHILD_HAS_RING);
    (void)ring(ledger, 4, CHILD, true);
    ledger_ended(ledger, TARGET, 5 * ms);
    ledger_ended(ledger, CHILD, 8 * ms);
    ledger_advance(ledger, 9 * ms);
    tap_eq_u64(ledger->processes.items[1].parent, TARGET, "its parent is found");
    expect(ledger, 30, "9000100 recorded none 1, 9000200 recorded none 1",
           "and its ring is its own");

    /* Or before its ring is taken. */
    ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    ledger_advance(ledger, 3 * ms);
    orphan = ledger_add(ledger, CHILD, TARGET, 9 * ms);
    orphan->image.is_exec = true;
    (void)ring(ledger, 4, CHILD, false);
    ledger_ended(ledger, CHILD, 10 * ms);
    ledger_ended(ledger, TARGET, 11 * ms);
    expect(ledger, 30, "9000100 recorded none 1, 9000200 recorded none 1",
           "a ring that is found late");

    /* What posix_spawn made may have ended when its parent writes of it. */
    ledger = start(false, true);
    (void)ring(ledger, 2, TARGET, false);
    (void)ring(ledger, 4, CHILD, false);
    ledger_ended(ledger, CHILD, 5 * ms);
    ledger_advance(ledger, 6 * ms);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD, TARGET, 0);
    entry(ledger, 3, WEFT_JOURNAL_EXEC, CHILD, TARGET, 0);
    entry(ledger, 7, WEFT_JOURNAL_FORK, CHILD + 1, TARGET, 0);
    ledger_ended(ledger, CHILD + 1, 9 * ms);
    ledger_advance(ledger, 10 * ms);
    entry(ledger, 8, WEFT_JOURNAL_EXEC, CHILD + 1, TARGET, 0);
    ledger_ended(ledger, TARGET, 22 * ms);
    expect(ledger, 30,
           "9000100 recorded none 1, 9000200 recorded none 1, 9000201 not_recorded not_loaded 1",
           "a program that is reported late");
}

/* A child of fork whose parent's library recorded makes a ring at once. */
static void test_expected_rings(void)
{
    struct ledger *ledger = start(false, true);
    const uint32_t has_ring = WEFT_JOURNAL_CHILD_HAS_RING;
    (void)ring(ledger, 2, TARGET, false);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD, TARGET, has_ring);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD + 1, TARGET, has_ring);
    (void)ring(ledger, 3, CHILD + 1, true);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD + 2, TARGET, 0); /* at its first record, if any */
    ledger_ended(ledger, CHILD, 4 * ms);
    ledger_ended(ledger, CHILD + 1, 4 * ms);
    ledger_ended(ledger, CHILD + 2, 4 * ms);
    entry(ledger, 5, WEFT_JOURNAL_FORK, CHILD + 3, TARGET, has_ring);
    ledger_advance(ledger, 10 * ms);
    tap_eq_u64(ledger_describe(ledger, &ledger->processes.items[4]).state, WEFT_LEDGER_RECORDED,
               "its ring may not have been found yet");
    expect(ledger, 2000,
           "9000100 partly outlived 1, 9000200 not_recorded not_loaded 1, 9000201 recorded none 1, "
           "9000202 recorded none 1, 9000203 not_recorded unreachable 1",
           "children that should have a ring, and do not");

    ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    kernel_fork(ledger, 3, TARGET, CHILD, CHILD);
    kernel_exit(ledger, 4, CHILD);
    entry(ledger, 5, WEFT_JOURNAL_FORK, CHILD, TARGET, has_ring);
    kernel_exit(ledger, 6, TARGET);
    ledger_advance(ledger, 10 * ms);
    expect(ledger, 20, "9000100 recorded none 1, 9000200 partly not_loaded 1",
           "a child of which only the kernel has something");
}

/* A process whose fork the kernel has lost, and that has a ring. */
static void test_lost_fork(void)
{
    struct ledger *ledger = start(true, true);
    kernel_exec(ledger, 1, TARGET);
    (void)ring(ledger, 2, TARGET, false);
    (void)ring(ledger, 3, CHILD, true);
    kernel_exit(ledger, 5, TARGET);
    expect(ledger, 9, "9000100 recorded none 1, 9000200 partly no_kernel_records 1",
           "a process that the kernel does not report");
}

static void test_damage(void)
{
    struct ledger *ledger = start(false, true);
    const uint32_t early = ring(ledger, 2, TARGET, false);
    ledger_count(ledger, early, &(struct ledger_counts){ .n_records = 9, .is_damaged = true });
    ledger_count(ledger, early, &(struct ledger_counts){ .n_records = 3 }); /* not known whose */
    ledger_advance(ledger, 5 * ms);
    tap_eq_u64(ledger->processes.items[0].n_records, 9, "counts do not go back before that either");
    const uint32_t second = ring(ledger, 5, TARGET, false);
    ledger_advance(ledger, 6 * ms);
    ledger->processes.items[0].is_changed = false;
    ledger_count(ledger, second, &(struct ledger_counts){ 0 });
    tap_eq_u64(ledger->processes.items[0].is_changed, false, "a sound ring changes nothing");
    ledger_ended(ledger, TARGET, 8 * ms);
    entry(ledger, 3, WEFT_JOURNAL_FORK, CHILD, TARGET, 0);
    ledger_bad_ring(ledger, CHILD, 4 * ms);
    ledger_ended(ledger, CHILD, 5 * ms);
    expect(ledger, 9, "9000100 partly damaged_ring 1, 9000200 not_recorded damaged_ring 1",
           "a ring that was damaged before it was known whose it is, and one that is none");
}

/* Times that a program makes up. */
static void test_times(void)
{
    struct ledger *ledger = start(false, true);
    struct weft_journal_entry made = { .kind = WEFT_JOURNAL_FORK, .pid = CHILD, .parent = TARGET };
    const struct weft_clock_pair pair = { .ticks = 1000, .monotonic_ns = 5000 };
    uint64_t now_ns;
    ledger_take_entry(ledger, &made, UINT64_MAX);
    made.pid++;
    ledger_take_entry(ledger, &made, session_clock_ns(CLOCK_MONOTONIC) + 3600 * 1000 * ms);
    (void)ledger_add_ring(
        ledger, &(struct ledger_ring_news){
                    .pid = TARGET, .library = OPERATIONS, .start_ns = UINT64_MAX - 1, .exe = "" });
    now_ns = session_clock_ns(CLOCK_MONOTONIC);
    ledger_advance(ledger, now_ns);
    tap_eq_u64(ledger->events.n, 0, "what was reported has happened");
    tap_eq_u64(ledger->processes.n, 3, "and is taken");
    ledger_free(ledger);

    tap_eq_u64(session_ns_of_ticks(&pair, 0.5, 3000), 6000, "ticks after a pair of clocks");
    tap_eq_u64(session_ns_of_ticks(&pair, 0.5, 600), 4800, "before it");
    tap_eq_u64(session_ns_of_ticks(&pair, 100, 0), 0, "before all times");
    tap_eq_u64(session_ns_of_ticks(&pair, 100, UINT64_MAX), UINT64_MAX, "behind all times");
    tap_eq_u64(session_ns_of_ticks(&pair, 1.0 / 0.0, 1000), 0, "at no time");
}

static void test_names(void)
{
    const struct ledger_opts opts = { .has_library = true, .follows = true };
    struct ledger *ledger = ledger_new(&opts);
    struct weft_journal_entry made = { .kind = WEFT_JOURNAL_EXEC, .pid = CHILD, .parent = TARGET };
    ledger_begin(ledger, TARGET, "/bin/target", 0, false);
    for (unsigned k = 0; k < 400 * 1000; k++) {
        (void)snprintf(made.path, sizeof made.path,
                       "/a/program/of/which/there/are/many/in/a/folder/whose/name/is/long/%u", k);
        ledger_take_entry(ledger, &made, 1 + k);
        if (k % 10000 == 0)
            ledger_advance(ledger, 1 + k);
    }
    tap_ok(ledger->n_name_bytes < 2 * LEDGER_NAME_BYTES, "names take %zu bytes",
           ledger->n_name_bytes);
    tap_ok(ledger_lost_reports(ledger) > 0 && ledger_lost_reports(ledger) < 400 * 1000,
           "%" PRIu64 " have no place", ledger_lost_reports(ledger));
    ledger_advance(ledger, 2 * ms);
    const struct weft_ledger_process child = ledger_describe(ledger, &ledger->processes.items[1]);
    tap_eq_u64(child.name.n_bytes, 0, "and are not known");
    ledger_free(ledger);
}

/* Threads of a process that is attached to. */
static void *sleep_on(void *arg)
{
    const int *fds = arg;
    char byte;
    const uint32_t tid = (uint32_t)syscall(SYS_gettid);
    (void)!write(fds[3], &tid, sizeof tid);
    (void)!read(fds[0], &byte, 1);
    return NULL;
}

static void test_attached(void)
{
    const struct ledger_opts opts = { .is_attached = true, .follows = true };
    const uint32_t pid = (uint32_t)getpid();
    pthread_t thread;
    int fds[4]; /* to it, and from it */
    uint32_t tid = 0;
    if (pipe(fds) != 0 || pipe(fds + 2) != 0 || pthread_create(&thread, NULL, sleep_on, fds) != 0)
        exit(1);
    (void)!read(fds[2], &tid, sizeof tid);
    struct ledger *ledger = ledger_new(&opts);
    ledger_begin(ledger, pid, "", 0, true);
    kernel_fork(ledger, 1, pid, tid, pid); /* began after the kernel's level did */
    ledger_advance(ledger, 2 * ms);
    tap_eq_u64(ledger_describe(ledger, &ledger->processes.items[0]).n_threads, 2,
               "a thread that /proc and the kernel show is one");
    kernel_exit(ledger, 3, tid);
    kernel_exit(ledger, 4, pid);
    ledger_advance(ledger, 5 * ms);
    tap_eq_u64(ledger->processes.items[0].end_ns, 4 * ms, "and ends once");
    ledger_free(ledger);
    (void)close(fds[1]);
    (void)pthread_join(thread, NULL);
    (void)close(fds[0]);
    (void)close(fds[2]);
    (void)close(fds[3]);
}

static void test_limits(void)
{
    struct ledger *ledger = start(false, true);
    uint64_t n_further;
    for (uint32_t k = 0; k < LEDGER_MOST + 10; k++)
        entry(ledger, 3, WEFT_JOURNAL_FORK, 9001000 + k, TARGET, 0);
    ledger_advance(ledger, 5 * ms);
    const struct weft_ledger_totals totals = ledger_totals(ledger, &n_further);
    tap_eq_u64(totals.n_processes, LEDGER_MOST, "so many processes are listed");
    tap_eq_u64(n_further, 11, "those beyond are counted");
    for (uint32_t k = LEDGER_MOST; k < LEDGER_MOST + 10; k++) {
        entry(ledger, 6, WEFT_JOURNAL_FORK, 9001000 + k, TARGET, 0);
        (void)ring(ledger, 6, 9001000 + k, false);
    }
    ledger_advance(ledger, 7 * ms);
    (void)ledger_totals(ledger, &n_further);
    tap_eq_u64(n_further, 11, "once, however many sources report them");
    tap_eq_u64(ledger_lost_reports(ledger), 0, "no report is lost");
    for (uint32_t k = 0; k < (1 << 20) + 5; k++)
        entry(ledger, 9, WEFT_JOURNAL_NO_EXEC, TARGET, 0, 0);
    (void)ledger_totals(ledger, &n_further);
    tap_eq_u64(ledger_lost_reports(ledger), 5, "reports without a place are");
    tap_eq_u64(n_further, 11, "and are no processes");
    ledger_free(ledger);
}

int main(void)
{
    test_kernel();
    test_options();
    test_counts();
    test_journal();
    test_strangers();
    test_late_parent();
    test_expected_rings();
    test_lost_fork();
    test_damage();
    test_times();
    test_names();
    test_attached();
    test_limits();
    return tap_done();
}
