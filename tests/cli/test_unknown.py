#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a source cannot tell is null in JSON, empty in CSV and "-" in text, and never 0; what it can tell is a
number. usage: test_unknown.py WEFT"""
import csv
import io
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

weft = tap.runner(os.path.abspath(sys.argv[1]))
SWITCH = "sched_switch: prev_comm={} prev_pid={} prev_prio=120 prev_state={} ==> next_comm={} next_pid={} next_prio=120"
APP, IDLE = ("app", 100), ("swapper/0", 0)


def put_functions():
    with open("functions.csv", "w", encoding="ascii") as out:
        out.write("tid,name,start_ns,end_ns\n1,work,0,100000\n1,step,10000,50000\n2,work,5000,70000\n")


def put_kernel(path, wakeups, calls, interrupts):
    """A thread that waits 20 times for a timer."""
    lines, at = [], 1.0

    def say(task, text, after):
        lines.append(f" {task[0]}-{task[1]} [000] d..2. {at + after:.6f}: {text}")
    for _ in range(20):
        if calls:
            say(APP, "sys_enter: NR 202 (1, 0, 0, 0, 0, 0)", 10e-6)
        say(APP, SWITCH.format("app", 100, "S", *IDLE), 20e-6)
        if interrupts:
            say(IDLE, "softirq_entry: vec=1 [action=TIMER]", 100e-6)
        if wakeups:
            say(IDLE, "sched_waking: comm=app pid=100 prio=120 target_cpu=000", 105e-6)
        if interrupts:
            say(IDLE, "softirq_exit: vec=1 [action=TIMER]", 110e-6)
        say(IDLE, SWITCH.format("swapper/0", 0, "R", *APP), 120e-6)
        if interrupts:
            say(APP, "softirq_entry: vec=9 [action=RCU]", 130e-6)
            say(APP, "softirq_exit: vec=9 [action=RCU]", 131e-6)
        if calls:
            say(APP, "sys_exit: NR 202 = 0", 140e-6)
        at += 200e-6
    with open(path, "w", encoding="ascii") as out:
        out.write("# tracer: nop\n" + "\n".join(lines) + "\n")


def document(*arguments):
    done = weft(*arguments, "--json")
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def check(what, row, unknown, known):
    """Exactly these keys are null, and these are numbers."""
    wrong = [key for key in unknown if row.get(key, 0) is not None]
    wrong += [key for key in known if not isinstance(row.get(key), (int, float))]
    ok(not wrong, f"{what}: what it cannot tell is null, and what it can is not", (wrong, row))


OF_STATES = ["cpu_ns", "running_ns", "running_user_ns", "running_kernel_ns", "interrupted_ns", "preempted_ns",
             "blocked_ns", "unknown_ns", "timer_ns", "network_ns", "block_device_ns", "woken_by_thread_ns",
             "unexplained_ns", "futex_ns", "preempted", "blocked", "unexplained_share"]
OF_WAITS = ["n_waits", "wait_ns", "joined", "uncontended", "io", "io_ns"]


def test_functions():
    put_functions()
    weft("import", "-q", "-o", "functions.weft", "functions.csv")
    check("functions, info", document("info", "functions.weft"), ["lost"], ["repaired", "calls"])
    ok("does not count losses" in weft("info", "functions.weft").stdout, "functions: text says why")
    table = list(csv.DictReader(io.StringIO(weft("info", "--format", "csv", "functions.weft").stdout)))
    ok(table[0]["lost"] == "" and table[0]["repaired"] == "0", "functions: empty in CSV", table)
    for thread in document("waits", "functions.weft")["threads"]:
        check("functions, waits", thread, OF_STATES, [])
    about = document("interplay", "functions.weft")
    check("functions, interplay", about, [*OF_WAITS, "lost"], [])
    check("functions, interplay of a thread", about["threads"][0],
          ["waits", "wait_ns", "share", "releasers", "io", "uncontended", "releases", "released", "failed"], [])
    check("functions, path", document("path", "--thread", 1, "functions.weft")["threads"][0],
          ["user_ns", "kernel_ns", "interrupted_ns", "preempted_ns"], ["running_ns", "blocked_ns"])


def test_kernel(name, wakeups, calls, interrupts):
    put_kernel("kernel.txt", wakeups, calls, interrupts)
    weft("import", "-q", "-o", "kernel.weft", "kernel.txt")
    check(f"{name}, info", document("info", "kernel.weft"), ["bytes_per_call"], ["lost", "calls"])
    thread = next(one for one in document("waits", "kernel.weft")["threads"] if one["tid"] == 100)
    unknown, known = ["cpu_clocked_ns", "kernel_low_ns", "kernel_high_ns"], ["cpu_ns", "running_ns", "blocked_ns"]
    (known if calls else unknown).extend(["running_user_ns", "running_kernel_ns", "futex_ns"])
    (known if wakeups else unknown).extend(["timer_ns", "network_ns", "woken_by_thread_ns"])
    (known if interrupts else unknown).append("interrupted_ns")
    check(f"{name}, waits", thread, unknown, known)
    ok(thread["mode_source"] == ("system_calls" if calls else None), f"{name}: from where the mode is known", thread)
    row = document("cpu", "kernel.weft")["processors"][0]
    check(f"{name}, cpu", row, [] if calls else ["user_ns", "kernel_ns"],
          ["running_ns", "idle_ns", "unknown_ns"] + (["user_ns", "kernel_ns"] if calls else []))
    words = {state["state"] for state in document("states", "--tid", 100, "kernel.weft")["states"]}
    ok(calls or not words & {"running_user", "running_kernel"}, f"{name}: states", words)
    about = document("interplay", "kernel.weft")
    check(f"{name}, interplay", about, ["uncontended"] + ([] if wakeups else ["io"]), ["lost"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_functions()
        test_kernel("switches", False, False, False)
        test_kernel("switches and wakeups", True, False, False)
        test_kernel("all", True, True, True)
        os.chdir("/")
    tap.done()


main()
