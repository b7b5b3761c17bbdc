#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""CPU time of threads that switch often is that of their own clocks; kernel time is not shown as user
time; what a recording cannot tell is null, in JSON, and "-", in text. Without the right to record the
kernel only the latter is tested.
usage: test_record_time.py WEFT SWITCHES"""
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, skip  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(os.path.abspath(sys.argv[1]))


def document(*arguments):
    return json.loads(weft(*arguments, "--json").stdout)


def record(name, *arguments, options=()):
    """The recording's output, and the program's threads."""
    got = weft("record", "-o", name, *options, "--", PROGRAM, *arguments)
    ok(got.returncode == 0, f"{name} is recorded", got.stderr)
    return got.stdout, document("waits", name)["threads"]


def test_clocks(options=(), means="BPF"):
    """As near as 1 % or 50 us. A thread runs on after it has looked at its clock, to end: those that do nothing else
    say for how long."""
    told, threads = record("switches.weft", "turns", 3000, options=options)
    if options and not any(thread["cpu_clocked_ns"] for thread in threads):
        skip(f"{means}: tracepoints cannot be read here")
        return
    # perf leaves switches out on a busy machine, and their time with them: the trace has to say so.
    misses_some = options and document("info", "switches.weft")["lost"] > 0
    of_tid = {thread["tid"]: thread for thread in threads}
    told = [(of_tid[int(tid)], int(cpu_ns), way) for tid, cpu_ns, way in (line.split() for line in told.splitlines())]
    end_ns = max(thread["cpu_ns"] - cpu_ns for thread, cpu_ns, way in told if way == "none")
    for thread, cpu_ns, way in told:
        off_ns = thread["cpu_ns"] - cpu_ns
        near_ns = max(cpu_ns // 100, 50_000)
        ok((misses_some or -near_ns <= off_ns) and off_ns <= near_ns + end_ns,
           f"{means}: {way}: CPU time is that of the thread's clock",
           f"{thread['cpu_ns']} instead of {cpu_ns} ns: {off_ns} ns, to end {end_ns} ns")
        ok(misses_some or way == "none" or thread["cpu_clocked_ns"] and thread["cpu_clocked_ns"] >= 0.9 * thread["cpu_ns"],
           f"{means}: {way}: it is by that clock", thread)
    life_is_tiled = all(sum(thread[key] or 0 for key in ("running_ns", "interrupted_ns", "preempted_ns",
                                                         "blocked_ns", "unknown_ns")) ==
                        thread["life_ns"] for thread in threads)
    ok(life_is_tiled, "states tile the life of each thread all the same", threads)


def test_modes(options=(), means="BPF"):
    for way, key, other in (("kernel", "running_kernel_ns", "running_user_ns"),
                            ("spin", "running_user_ns", "running_kernel_ns")):
        name = f"{way}.weft"
        _, threads = record(name, way, 300, options=options)
        thread = max(threads, key=lambda one: one["running_ns"])
        ok(thread[key] and thread[key] >= 0.8 * thread["running_ns"] and
           thread[other] <= 0.2 * thread["running_ns"],
           f"{means}: {way}: nearly all time is in that mode", thread)
        low, high = thread["kernel_low_ns"], thread["kernel_high_ns"]
        ok(thread["mode_source"] == "samples" and low <= thread["running_kernel_ns"] <= high,
           f"{means}: {way}: by samples, with an interval", thread)
        stacks = weft("flame", name, "--weight", "samples", "-f", "folded").stdout
        has_kernel = "read_zero" in stacks or ";[kernel]" in stacks
        ok(has_kernel == (way == "kernel"), f"{means}: {way}: stacks have the kernel's frames, if it ran",
           stacks[-2000:])


def test_unknown():
    """Without samples, and without a kernel: nothing is 0 that is not known."""
    _, threads = record("unsampled.weft", "kernel", 100, options=("--no-stacks",))
    thread = max(threads, key=lambda one: one["running_ns"] or 0)
    ok(thread["running_ns"] and thread["running_user_ns"] is None and thread["running_kernel_ns"] is None and
       thread["mode_unknown_ns"] == thread["running_ns"] and thread["mode_source"] is None,
       "without samples the mode is unknown", thread)
    ok(thread["futex_ns"] is None and thread["interrupted_ns"] is None,
       "without system calls time in futex is unknown, without interrupts theirs", thread)
    processors = document("cpu", "unsampled.weft")["processors"]
    ok(all(row["user_ns"] is None and row["kernel_ns"] is None for row in processors if row["running_ns"]),
       "of processors, too", processors)
    states = {row["state"] for row in document("states", "unsampled.weft")["states"]}
    ok("running" in states and not states & {"running_user", "running_kernel"},
       "states are running, of no mode", states)


def test_without_kernel():
    weft("record", "-q", "--no-kernel", "-o", "alone.weft", "--", PROGRAM, "turns", 10)
    threads = document("waits", "alone.weft")["threads"]
    ok(all(thread["running_ns"] is None and thread["cpu_ns"] is None and thread["blocked_ns"] is None
           for thread in threads), "without a kernel nothing is known of when threads ran", threads[:2])
    path = document("path", "alone.weft", "--thread", document("info", "alone.weft")["thread_list"][0]["tid"])
    ok(all(row["user_ns"] is None or row["running_ns"] == 0 for row in path["threads"]) and
       all(row["interrupted_ns"] is None and row["preempted_ns"] is None for row in path["threads"]),
       "nor on a path", path["threads"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        probe = weft("record", "-o", "probe.weft", "--", "true")
        if probe.returncode == 0 and "BPF programs" not in probe.stderr and \
                document("cpu", "probe.weft")["processors"]:
            test_clocks()
            test_clocks(("--no-bpf",), "perf events")
            test_modes()
            test_modes(("--no-bpf",), "perf events")
            test_unknown()
        else:
            skip("the kernel is not recorded here: CPU time and modes")
        test_without_kernel()
        os.chdir("/")
    tap.done()


main()
