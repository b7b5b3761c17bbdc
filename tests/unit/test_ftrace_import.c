/* SPDX-License-Identifier: MIT
 *
 * Text of perf script and ftrace: lines of every form become the events of the kernel that they
 * tell, stacks become samples.
 */
#include "ingest/ftrace/ftrace.h"
#include "ingest/ftrace/line.h"
#include "recording_sink.h"
#include "tap.h"

static struct weft_mapped mapped(const char *text)
{
    return (struct weft_mapped){ .bytes = (const uint8_t *)text, .n_bytes = strlen(text) };
}

/* What the sink was told, or the error; the caller frees. */
static char *import(const char *text)
{
    struct rec_sink rec;
    struct weft_err err = { 0 };
    const struct weft_mapped file = mapped(text);
    rec_init(&rec);
    const enum weft_code code = weft_ftrace_import(&file, &rec.sink, NULL, &err);
    char *got = code == WEFT_OK ? rec_whole(&rec) : strdup(err.text);
    rec_fini(&rec);
    return got;
}

static void expect(const char *text, const char *want, const char *what)
{
    char *got = import(text);
    tap_eq_str(got, want, "%s", what);
    free(got);
}

/* One of the lines of what the sink was told. */
static void expect_line(const char *text, const char *want, const char *what)
{
    char *got = import(text);
    const bool is_there = strstr(got, want) != NULL;
    tap_ok(is_there, "%s", what);
    if (!is_there)
        tap_note("no \"%s\" in: %s", want, got);
    free(got);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void test_lines(void)
{
    static const struct {
        const char *text, *comm, *event, *fields, *symbol;
        int64_t tid, pid;
        int32_t cpu;
        uint64_t time_ns, period;
    } rows[] = {
        { "            perf 26775/26776 [000]  3466.127372250:     sched:sched_waking: comm=a "
          "pid=18 "
          "ffffffff81399969 __traceiter ([kernel.kallsyms])",
          "perf", "sched:sched_waking", "comm=a pid=18", "__traceiter", 26776, 26775, 0,
          3466127372250, 1 },
        { "Web Content  4711 [012] 12.000001:     250000 cpu-clock:pppH: ", "Web Content",
          "cpu-clock:pppH", "", "", 4711, -1, 12, 12000001000, 250000 },
        { "a-b 12 3.5: cycles:      55d0c0 std::f(int) const+0x1 (/bin/x)", "a-b", "cycles", "",
          "std::f(int) const+0x1", 12, -1, -1, 3500000000, 1 },
        { "          <idle>-0     [001] d..2.  1234.567890: sched_switch: prev_comm=x", "<idle>",
          "sched_switch", "prev_comm=x", "", 0, -1, 1, 1234567890000, 1 },
        { "    kworker/0:1-ev-77   (  70) [000] d.h3.   0.000001: irq_handler_entry: irq=1",
          "kworker/0:1-ev", "irq_handler_entry", "irq=1", "", 77, 70, 0, 1000, 1 },
        { " my prog-9  (-------) [003] ....  1.5: sys_read(fd: 3, buf: 7f00)", "my prog",
          "sys_read", "fd: 3, buf: 7f00", "", 9, -1, 3, 1500000000, 1 },
        { " p-9  [003]  1.5: sys_read -> 0x20", "p", "sys_read", "-> 0x20", "", 9, -1, 3,
          1500000000, 1 },
        { " p-9  [003]  1.5: schedule <-do_nothing", "p", "schedule", "<-do_nothing", "", 9, -1, 3,
          1500000000, 1 },
        { ":-1  -1 [000] 7.25: power:cpu_idle: state=1", ":-1", "power:cpu_idle", "state=1", "", -1,
          -1, 0, 7250000000, 1 },
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct ftrace_line line;
        tap_ok(ftrace_line_read(weft_str_of(rows[k].text), &line), "line %zu is an event", k);
        tap_ok(weft_str_equal(line.comm, weft_str_of(rows[k].comm)), "line %zu: command %.*s", k,
               (int)line.comm.n_bytes, line.comm.bytes ? line.comm.bytes : "");
        tap_ok(weft_str_equal(line.event, weft_str_of(rows[k].event)), "line %zu: event %.*s", k,
               (int)line.event.n_bytes, line.event.bytes ? line.event.bytes : "");
        tap_ok(weft_str_equal(line.fields, weft_str_of(rows[k].fields)), "line %zu: fields %.*s", k,
               (int)line.fields.n_bytes, line.fields.bytes ? line.fields.bytes : "");
        tap_ok(weft_str_equal(line.symbol, weft_str_of(rows[k].symbol)), "line %zu: symbol %.*s", k,
               (int)line.symbol.n_bytes, line.symbol.bytes ? line.symbol.bytes : "");
        tap_eq_i64(line.tid, rows[k].tid, "line %zu: tid", k);
        tap_eq_i64(line.pid, rows[k].pid, "line %zu: pid", k);
        tap_eq_i64(line.cpu, rows[k].cpu, "line %zu: processor", k);
        tap_eq_u64(line.time_ns, rows[k].time_ns, "line %zu: time", k);
        tap_eq_u64(line.period, rows[k].period, "line %zu: period", k);
    }
}

static void test_no_lines(void)
{
    static const char *const rows[] = {
        "",
        "# tracer: nop",
        "1.5: x: y",
        "p-9 [000] 1.5:",
        "p 9 [0",
        "0 main 100",
        "--> f 1 100",
        "p-9 [000] 1.: x: y",
        "a 1 b",
        "p-9 [000] 99999999999999999999.5: x: y",
        "start_us,dur_us,name",
        "p [000] 1.5: x: y",
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct ftrace_line line;
        tap_ok(!ftrace_line_read(weft_str_of(rows[k]), &line), "\"%s\" is no event", rows[k]);
        tap_ok(!weft_ftrace_sniff((const uint8_t *)rows[k], strlen(rows[k])), "\"%s\" is not ours",
               rows[k]);
    }
    tap_eq_u64(ftrace_line_lost(WEFT_STR("CPU:2 [LOST 12 EVENTS]")), 12, "lost events");
    tap_eq_u64(ftrace_line_lost(WEFT_STR("CPU 2 [7 EVENTS DROPPED]")), 7, "dropped events");
    tap_eq_u64(ftrace_line_lost(WEFT_STR("CPU is fine")), 0, "no loss");
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char kernel[] =
    "# tracer: nop\n"
    "#\n"
    "cpus=2\n"
    "    a-10  [000] d..2.  5.000000100: sched_waking: comm=b c pid=11 prio=120 target_cpu=001\n"
    "    a-10  [000]  5.000000200: sched_wakeup: b c:11 [120] success=1 CPU:001\n"
    "    a-10  [000]  5.000000300: sched_switch: a:10 [120] D ==> b c:11 [120]\n"
    "  b c-11  [000]  5.000000400: sched_switch: prev_comm=b c prev_pid=11 prev_prio=120 "
    "prev_state=R+ ==> next_comm=a next_pid=10 next_prio=120\n"
    "    a-10  [000]  5.000000500: irq_handler_entry: irq=36 name=virtio1-req.0\n"
    "    a-10  [000]  5.000000600: irq_handler_exit: irq=36 ret=handled\n"
    "    a-10  [000]  5.000000700: local_timer_entry: vector=236\n"
    "    a-10  [000]  5.000000800: softirq_entry: vec=9 [action=RCU]\n"
    "    a-10  [000]  5.000000900: sys_enter: NR 59 (7f40, 41, 3)\n"
    "    a-10  [000]  5.000001000: sys_exit: NR 59 = -2\n"
    "    a-10  [000]  5.000001100: sys_read(fd: 3, buf: 7ffc1b5fca7c, count: 400)\n"
    "    a-10  [000]  5.000001200: sys_read -> 0x10\n"
    "    a-10  [000]  5.000001300: block_rq_issue: 253,1 WS 4096 () 65 + 8 [x]\n"
    "    a-10  [000]  5.000001400: block_rq_complete: 253,1 WS () 65 + 8 [0]\n"
    "    a-10  [000]  5.000001500: tracing_mark_write: hello = there\n"
    "    a-10  [000]  5.000001600: custom: x=1, y=two words\n"
    "CPU:1 [LOST 3 EVENTS]\n"
    "what is this\n"
    "    a-10  [000]  5.000001500: custom: x=2\n";

static void test_kernel(void)
{
    expect_line(kernel, "thread 0 tid 10 pid 0 name a\n", "a thread");
    expect_line(kernel, "thread 1 tid 11 pid 0 name b c\n", "a thread whose name has a blank");
    expect_line(kernel, "clock 1000000000 zero 5000000100\n", "the first event is time 0");
    expect_line(kernel, "waking", "a waking");
    expect_line(kernel, "switch @200 cpu 0 next 1 state 2\n", "a switch as trace-cmd prints it");
    expect_line(kernel, "switch @300 cpu 0 next 0 state 256\n", "a switch as ftrace prints it");
    expect_line(kernel, "irq_enter irq [virtio1-req.0] 36 @400", "an interrupt");
    expect_line(kernel, "irq_exit irq [] 36 @500", "its end");
    expect_line(kernel, "irq_enter local_timer [] 236 @600", "an interrupt of the processor");
    expect_line(kernel, "irq_enter softirq [] 9 @700", "a softirq");
    expect_line(kernel, "syscall_enter #59 [] 32576 'A' @800", "a system call by number");
    expect_line(kernel, "syscall_exit #59 [] 18446744073709551614 @900", "what it returned");
    expect_line(kernel, "syscall_enter read [] 3 '|' @1000", "a system call by name");
    expect_line(kernel, "syscall_exit read [] 16 @1100", "its end");
    expect_line(kernel, "io_begin WS [block] 4096 'A' @1200", "a request");
    expect_line(kernel, "io_end WS [block] 4096 'A' @1300", "its end");
    expect_line(kernel, "I tracing_mark_write 0 cpu 0 @1400", "a mark is a point");
    expect_line(kernel, "I custom 0 cpu 0 @1500", "as is any other event");
    expect_line("# arch : x86_64\n"
                "    a-10  [000]  5.000000900: sys_enter: NR 202 (7f40, 81, 3, 0, 0, 0)\n",
                "syscall_enter futex [] 32576", "a machine that is told names system calls");
    expect_line(kernel, "note lost_records 3", "lost events are noted");
    expect_line(kernel, "note unknown_record 1 at 0x", "so is a line that is none");
    expect_line(kernel, "note time_backward 1", "so is time that steps back");
}

static const char stacks[] = "prog  7/8 [000] 1.5:     1000 cpu-clock: \n"
                             "\t    55d0c0 leaf+0x10 (/bin/prog)\n"
                             "\t    55d0d0 operator new(unsigned long)+0x1 (/bin/prog)\n"
                             "\t    55d0e0 [unknown] (/lib/libx.so.1)\n"
                             "\n"
                             "prog  7/8 [000] 1.6: sched:sched_waking: comm=x pid=9 target_cpu=0\n"
                             "\tffffffff81399969 __wake ([kernel.kallsyms])\n"
                             "\n"
                             "prog  7/8 [000] 1.7: cycles:  55d0c0 lone (/bin/prog)\n";

static void test_stacks(void)
{
    expect_line(stacks, "thread 0 tid 8 pid 7 name prog\n", "perf tells the process");
    expect_line(stacks, "sample libx.so.1;operator new(unsigned long);leaf [cpu-clock] 1000 @0",
                "a stack, outermost first, with its period");
    expect_line(stacks, "sample __wake [sched:sched_waking] 0 @100000000",
                "the stack of an event of the kernel has no weight");
    expect_line(stacks, "waking", "and the event stays");
    expect_line(stacks, "sample lone [cycles] 1 @200000000", "a sample without a stack");
}

static void test_refusals(void)
{
    expect("# tracer: nop\n", "expected events as perf script or ftrace print them, found none",
           "a text without events");
    tap_ok(weft_ftrace_sniff((const uint8_t *)kernel, sizeof kernel - 1), "ftrace is told");
    tap_ok(weft_ftrace_sniff((const uint8_t *)stacks, sizeof stacks - 1), "perf script is told");
}

/* ---- damage ---------------------------------------------------------------------------------- */

static void test_damage(void)
{
    uint64_t state = tap_seed(11);
    unsigned n_read = 0;
    for (unsigned round = 0; round < 3000; round++) {
        char *text = strdup(round % 2 ? kernel : stacks);
        const size_t n_text = strlen(text);
        for (unsigned k = 0; k < 1 + round % 5; k++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
            const char byte = "\n :-[]()=,0f.\x80 \t"[(state >> 50) % 16];
            text[(state >> 30) % n_text] = byte ? byte : 'x';
        }
        struct rec_sink rec;
        rec_init(&rec);
        const struct weft_mapped file = mapped(text);
        n_read += weft_ftrace_import(&file, &rec.sink, NULL, NULL) == WEFT_OK;
        tap_ok(rec.n_order_errors == 0 || round > 2, "damaged text keeps the order of the sink");
        rec_fini(&rec);
        free(text);
        if (round > 2 && n_read == 0)
            break;
    }
    tap_ok(n_read > 2000, "damaged text does no harm; %u of 3000 still have events", n_read);
}

int main(void)
{
    test_lines();
    test_no_lines();
    test_kernel();
    test_stacks();
    test_refusals();
    test_damage();
    return tap_done();
}
