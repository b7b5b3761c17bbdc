/* SPDX-License-Identifier: MIT
 *
 * A hang monitor that never comes into action: it should look after the main thread now and then,
 * but it waits for a semaphore that only the main thread posts, when the program ends. When the
 * main thread hangs, nobody notices. Fixed: the monitor waits with a time limit.
 *
 * After SyncTrace V, the defunct hang monitor of Firefox.
 */
#include "cases.h"

#include <semaphore.h>
#include <stdatomic.h>

enum { MONITOR_NS = 20000000, HANG_NS = 60000000 };

static struct case_options options;
static sem_t shutdown_wanted;
static _Atomic uint64_t last_event_ns;
static unsigned n_hangs;

CASE_CALL void report_hang(void)
{
    n_hangs++;
    weft_mark_instant("hang");
}

CASE_CALL void check_responsiveness(void)
{
    static bool is_reported;
    const bool is_hung = case_now_ns() - last_event_ns > HANG_NS;
    if (is_hung && !is_reported)
        report_hang();
    is_reported = is_hung;
}

/* True when the program ends. */
CASE_CALL bool wait_for_shutdown(void)
{
    if (!options.is_fixed)
        return sem_wait(&shutdown_wanted) == 0;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += MONITOR_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return sem_timedwait(&shutdown_wanted, &until) == 0;
}

CASE_CALL void *monitor(void *unused)
{
    case_name("hang-monitor");
    while (!wait_for_shutdown())
        check_responsiveness();
    return unused;
}

CASE_CALL void handle_event(unsigned number)
{
    case_work_us(number % 40 == 39 ? 200000 : 500); /* every 40th hangs */
}

CASE_CALL void process_events(uint64_t *durations)
{
    for (unsigned i = 0; i < options.n_runs; i++) {
        const uint64_t start_ns = case_now_ns();
        last_event_ns = start_ns;
        weft_mark_begin("event", i);
        handle_event(i);
        weft_mark_end("event", i);
        durations[i] = case_now_ns() - start_ns;
        case_sleep_until(case_now_ns() + 2000000);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread;
    options = case_options(argc, argv, 120);
    uint64_t *durations = calloc(options.n_runs + 1, sizeof *durations);
    if (!durations)
        return 1;
    sem_init(&shutdown_wanted, 0, 0);
    last_event_ns = case_now_ns();
    case_start(&thread, monitor, NULL);
    process_events(durations);
    sem_post(&shutdown_wanted);
    pthread_join(thread, NULL);
    case_say("events", durations, options.n_runs);
    printf("%u hangs were reported\n", n_hangs);
    free(durations);
    return 0;
}
