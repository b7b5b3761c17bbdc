/* SPDX-License-Identifier: MIT
 *
 * The recorder's ledger: what sources report, in orders in which they report it, and what becomes
 * of each process. Times are ms.
 */
#include "record/session/ledger_table.h"
#include "tap.h"

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
    test_limits();
    return tap_done();
}
