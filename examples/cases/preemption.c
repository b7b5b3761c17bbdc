/* SPDX-License-Identifier: MIT
 *
 * A control loop of 100 Hz shares a processor with a telemetry thread of 30 Hz whose priority is
 * the higher one, though the control loop's should be: every now and then a step takes twice as
 * long, because telemetry preempts it. Fixed: the control loop has the real-time priority that it
 * needs (or, without the privilege, the lower nice value).
 *
 * After TraceCompare 4.1, CPU contention in a real-time application.
 */
#include "cases.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { CONTROL_NS = 10000000, TELEMETRY_NS = 33333333 };

static struct case_options options;
static _Atomic bool is_over;
static uint64_t *durations;

CASE_PLAIN void set_nice(int nice_value)
{
    const int status = setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice_value);
    if (status != 0 && nice_value < 0) /* without the privilege, the difference stays */
        (void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 0);
}

CASE_PLAIN void bind_to_first(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_ZERO(&allowed);
            CPU_SET(cpu, &allowed);
            (void)sched_setaffinity(0, sizeof allowed, &allowed);
            return;
        }
}

CASE_CALL void read_sensors(void)
{
    case_work_us(1000);
}

CASE_CALL void compute_output(void)
{
    case_work_us(4000);
}

CASE_CALL void control_step(void)
{
    read_sensors();
    compute_output();
}

CASE_CALL void compress_block(void)
{
    case_work_us(1250);
}

CASE_CALL void telemetry_encode(void)
{
    for (int i = 0; i < 4; i++)
        compress_block();
}

CASE_CALL void *control(void *unused)
{
    const struct sched_param first = { .sched_priority = 10 };
    case_name("control-100hz");
    bind_to_first();
    if (!options.is_fixed)
        set_nice(10);
    else if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0)
        set_nice(-10);
    uint64_t next_ns = case_now_ns();
    for (unsigned i = 0; i < options.n_runs; i++) {
        case_sleep_until(next_ns += CONTROL_NS);
        const uint64_t start_ns = case_now_ns();
        weft_mark_begin("control", i);
        control_step();
        weft_mark_end("control", i);
        durations[i] = case_now_ns() - start_ns;
    }
    is_over = true;
    return unused;
}

CASE_CALL void *telemetry(void *unused)
{
    case_name("telemetry-30hz");
    bind_to_first();
    set_nice(options.is_fixed ? 10 : -10);
    uint64_t next_ns = case_now_ns();
    while (!is_over) {
        case_sleep_until(next_ns += TELEMETRY_NS);
        telemetry_encode();
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    options = case_options(argc, argv, 500);
    durations = calloc(options.n_runs + 1, sizeof *durations);
    if (!durations)
        return 1;
    case_start(&threads[0], control, NULL);
    case_start(&threads[1], telemetry, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    case_say("control steps", durations, options.n_runs);
    free(durations);
    return 0;
}
