#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Waits that never end last to the end of the recording, or of the program that is killed, and are marked
open: every kind that open_waits.c has, with a kernel and without, compared with the program's own log.
usage: test_open_waits.py WEFT OPEN_WAITS"""
import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
weft = tap.runner(WEFT)
# Kinds that `locks` lists, and of those the ones with a holder.
LOCKS = {"mutex_a", "mutex_b", "condition", "rwlock", "semaphore", "join", "spin", "barrier"}
HELD = {"mutex_a", "mutex_b", "rwlock", "spin"}
# A thread may wait for a processor between its log and its wait; and one that spins, to die.
START = time.monotonic()
TOLERANCE_NS, LATE_NS = 50_000_000, 500_000_000


def is_near(wait_ns, want_ns):
    return want_ns - TOLERANCE_NS < wait_ns < want_ns + LATE_NS


def record(name, *options, seconds):
    if os.path.exists(f"{name}.weft"):
        os.remove(f"{name}.weft")
    made = subprocess.run([WEFT, "record", "-q", "-o", f"{name}.weft", *options, "--", PROGRAM, str(seconds)],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    lines = [line.split() for line in made.stdout.splitlines()]
    return {kind: (int(tid), int(at_ns)) for tid, kind, at_ns in lines}


def test_locks(name, log, zero_ns, end_ns):
    locks = json.loads(weft("locks", f"{name}.weft", "--json", "--limit", 0).stdout)
    waits = {wait["waiter_tid"]: wait for wait in locks["open"]}
    for kind in sorted(LOCKS):
        tid, at_ns = log[kind]
        wait, want_ns = waits.get(tid), end_ns - (at_ns - zero_ns)
        ok(wait and is_near(wait["wait_ns"], want_ns) and wait["open"],
           f"{name}, {kind}: lasts to the end, open", (wait, want_ns))
        if kind in HELD:
            ok(wait and wait["holder_tid"] is not None, f"{name}, {kind}: its holder is named", wait)
    ok(waits.get(log["spin"][0], {}).get("kind") == "spinlock", f"{name}: locks list a spin lock as such", waits)
    a, b = log["mutex_a"][0], log["mutex_b"][0]
    ok(waits.get(a, {}).get("holder_tid") == b and waits.get(b, {}).get("holder_tid") == a and
       waits[a]["deadlock"] == waits[b]["deadlock"] == 1 == locks["deadlocks"],
       f"{name}: a deadlock of two", (waits.get(a), waits.get(b)))
    ok(waits.get(log["join"][0], {}).get("holder_tid") == a, f"{name}: the joined thread is named",
       waits.get(log["join"][0]))
    text = weft("locks", f"{name}.weft").stdout
    lines = [line for line in text.splitlines() if ") waits for " in line]
    ok(text.count("deadlock:\n") == 1 and len(lines) == 2 and any("second, held by" in line for line in lines) and
       any("first, held by" in line for line in lines), f"{name}: a line a wait", lines)
    ok(all(row["failed"] == 0 for row in locks["locks"]), f"{name}: open waits did not fail", locks["locks"])


def test_interplay(name, log, zero_ns, end_ns):
    waits = json.loads(weft("interplay", f"{name}.weft", "--json", "--limit", 0).stdout)["waits"]
    for kind, (tid, at_ns) in sorted(log.items()):
        if kind in ("read", "futex"):  # input is no wait of its own; a bare futex needs a kernel
            continue
        want_ns = end_ns - (at_ns - zero_ns)
        mine = [wait for wait in waits if wait["waiter_tid"] == tid and wait["open"]]
        ok(len(mine) == 1 and is_near(mine[0]["wait_ns"], want_ns) and mine[0]["open"],
           f"{name}, {kind}: one open wait", mine)
        if kind in HELD:
            ok(mine and mine[0]["holder_tid"] is not None, f"{name}, {kind}: held by", mine)
        if kind == "spin":
            ok(mine and mine[0]["kind"] == "spinlock", f"{name}: interplay lists a spin lock as such", mine)
        if kind == "join":
            ok(mine and mine[0]["holder_tid"] == log["mutex_a"][0], f"{name}: the thread to end", mine)


def test_kernel(name, log, zero_ns, end_ns, is_ended):
    """What only a kernel records: input from a pipe, and a futex call of the program's own."""
    states = json.loads(weft("states", f"{name}.weft", "--json", "--limit", 0).stdout)["states"]
    rows = json.loads(weft("waits", f"{name}.weft", "--json", "--limit", 0).stdout)["threads"]
    threads = json.loads(weft("interplay", f"{name}.weft", "--json", "--limit", 0).stdout)["threads"]
    for kind in ("read", "futex", "sleep"):
        tid, at_ns = log[kind]
        want_ns = end_ns - (at_ns - zero_ns)
        blocked = [one for one in states if one["tid"] == tid and one["state"] == "blocked"]
        last = max(blocked, key=lambda one: one["duration_ns"], default=None)
        ok(last and is_near(last["duration_ns"], want_ns) and last["open"] == is_ended,
           f"{name}, {kind}: blocked to the end", (last, want_ns))
        row = [one for one in rows if one["tid"] == tid]
        ok(row and row[0]["blocked_ns"] >= last["duration_ns"], f"{name}, {kind}: counted by waits", row)
        row = [one for one in threads if one["tid"] == tid]
        ok(row and row[0]["wait_ns"] + row[0]["io_ns"] > want_ns - TOLERANCE_NS,
           f"{name}, {kind}: counted by interplay", row)
        path = json.loads(weft("path", f"{name}.weft", "--thread", tid, "--json").stdout)
        waits = [one for one in path["segments"] if one["tid"] == tid and one["state"] == "blocked"]
        ok(sum(one["end_ns"] - one["start_ns"] for one in waits) > want_ns - TOLERANCE_NS,
           f"{name}, {kind}: on the path", path["segments"])


def test_earlier(*options):
    """Threads that are blocked when a recording of their process begins, and when it ends."""
    name = "earlier" + "".join(options)
    with subprocess.Popen([PROGRAM, "60"], stdout=subprocess.PIPE, text=True) as program:
        lines = [program.stdout.readline().split() for _ in range(13)]
        tids = sorted({int(line[0]) for line in lines} - {int(line[0]) for line in lines if line[1] == "spin"})
        time.sleep(0.5)
        made = subprocess.run([WEFT, "record", "-q", "-o", f"{name}.weft", *options, "-d", "300ms", "-p",
                               str(program.pid)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120)
        program.kill()
    ok(made.returncode == 0, f"{name}: is recorded", made.stderr)
    info = json.loads(weft("info", f"{name}.weft", "--threads", "--json").stdout)
    listed = {one["tid"] for one in info["thread_list"]}
    ok(listed.issuperset(tids), f"{name}: info lists the threads", (listed, tids))
    states = json.loads(weft("states", f"{name}.weft", "--json", "--limit", 0).stdout)["states"]
    rows = json.loads(weft("waits", f"{name}.weft", "--json", "--limit", 0).stdout)["threads"]
    for tid in tids:
        mine = [one for one in states if one["tid"] == tid]
        ok(len(mine) == 1 and mine[0]["state"] == "blocked" and mine[0]["open"] and mine[0]["earlier"] and
           mine[0]["start_ns"] < TOLERANCE_NS and mine[0]["end_ns"] == info["duration_ns"],
           f"{name}, {tid}: blocked from begin to end", (mine, info["duration_ns"]))
        row = [one for one in rows if one["tid"] == tid]
        ok(row and mine and row[0]["blocked_ns"] == mine[0]["duration_ns"], f"{name}, {tid}: in waits", row)


def test_path(name, log, zero_ns, end_ns):
    for kind in ("mutex_a", "rwlock"):
        tid, at_ns = log[kind]
        path = json.loads(weft("path", f"{name}.weft", "--thread", tid, "--json").stdout)
        lengths = [one["end_ns"] - one["start_ns"] for one in path["segments"]]
        ok(sum(lengths) == path["to_ns"] - path["from_ns"], f"{name}, {kind}: segments fill the path", path)
        locks = [one for one in path["segments"] if one["reason"] == "lock" and one["other_tid"] is not None]
        want_ns = end_ns - (at_ns - zero_ns)
        ok(sum(one["end_ns"] - one["start_ns"] for one in locks) > want_ns - TOLERANCE_NS,
           f"{name}, {kind}: the path ends in a wait for the holder", path["segments"])


def test(name, *options, seconds=1, lasts_ns):
    log = {}
    while len(log) < 13 and time.monotonic() < START + 90:  # a busy machine may kill it too early
        log = record(name, *options, seconds=seconds)
    info = json.loads(weft("info", f"{name}.weft", "--json").stdout)
    ok(len(log) == 13, f"{name}: is recorded", (log, info))
    zero_ns, end_ns = info["clock"]["monotonic_ns"], info["duration_ns"]
    ok(end_ns >= lasts_ns, f"{name}: the trace ends when the recording does", end_ns)
    alarm_ns = log.pop("alarm")[1]
    end_ns = min(end_ns, alarm_ns - zero_ns + seconds * 1_000_000_000)
    test_locks(name, log, zero_ns, end_ns)
    test_interplay(name, log, zero_ns, end_ns)
    test_path(name, log, zero_ns, end_ns)
    if name.startswith("kernel"):
        test_kernel(name, log, zero_ns, end_ns, name == "kernel_ended")


IMPORTED = """--> main 1 1000
--> main 2 1000
--> pthread_mutex_lock 1 2000 a
<-- pthread_mutex_lock 1 2100 a
--> pthread_mutex_lock 2 3000 b
<-- pthread_mutex_lock 2 3100 b
--> pthread_mutex_lock 1 10000 b
--> pthread_mutex_lock 2 11000 a
--> pthread_cond_wait 4 12000 never
--> pthread_mutex_lock 5 13000 c
<-- pthread_mutex_lock 5 13100 c
--> pthread_mutex_lock 5 14000 c
--> work 3 900000
<-- work 3 1001000
"""


def test_imported():
    """A trace that does not state when threads end: open waits last to its end."""
    with open("deadlock.txt", "w", encoding="utf-8") as out:
        out.write(IMPORTED)
    made = weft("import", "-q", "-o", "imported.weft", "deadlock.txt")
    ok(made.returncode == 0, "a text trace is imported", made.stderr)
    locks = json.loads(weft("locks", "imported.weft", "--json").stdout)
    waits = {wait["waiter_tid"]: wait for wait in locks["open"]}
    want = {1: 991_000, 2: 990_000, 4: 989_000, 5: 987_000}
    ok({tid: wait["wait_ns"] for tid, wait in waits.items()} == want, "imported: to the end of the trace", waits)
    ok([waits[tid]["holder_tid"] for tid in (1, 2, 4, 5)] == [2, 1, None, 5], "imported: holders", waits)
    lines = [line for line in weft("locks", "imported.weft").stdout.splitlines() if line == "deadlock:"]
    ok(len(lines) == 2 and locks["deadlocks"] == 2, "imported: a deadlock of two, and of one with itself", lines)


KERNEL = """# tracer: nop
          <idle>-0     [000] d..2   100.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=server next_pid=11 next_prio=120
          server-11    [000] d..2   100.010000: sched_switch: prev_comm=server prev_pid=11 prev_prio=120 prev_state=D ==> next_comm=client next_pid=12 next_prio=120
          client-12    [000] d..2   100.020000: sched_switch: prev_comm=client prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=worker next_pid=10 next_prio=120
          worker-10    [000] d..3   100.500000: sched_waking: comm=client pid=12 prio=120 target_cpu=000
          worker-10    [000] d..2   100.600000: sched_switch: prev_comm=worker prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=client next_pid=12 next_prio=120
          client-12    [000] d..2   100.700000: sched_switch: prev_comm=client prev_pid=12 prev_prio=120 prev_state=S ==> next_comm=worker next_pid=10 next_prio=120
          worker-10    [000] d..2   101.000000: sched_switch: prev_comm=worker prev_pid=10 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
"""


def blocked(name):
    states = json.loads(weft("states", name, "--json", "--limit", 0).stdout)["states"]
    return [(one["tid"], one["start_ns"], one["end_ns"], one["uninterruptible"], one["earlier"], one["open"])
            for one in states if one["state"] == "blocked"]


def test_kernel_imported():
    """A thread that is blocked when a trace of a kernel ends; and when a part of the trace begins."""
    with open("kernel.txt", "w", encoding="utf-8") as out:
        out.write(KERNEL)
    made = weft("import", "-q", "-o", "kernel.weft", "kernel.txt")
    ok(made.returncode == 0, "a text trace of a kernel is imported", made.stderr)
    want = [(11, 10_000_000, 1_000_000_000, True, False, True), (12, 20_000_000, 500_000_000, False, False, False),
            (12, 700_000_000, 1_000_000_000, False, False, True)]
    ok(sorted(blocked("kernel.weft")) == want, "imported: blocked to the end of the trace", blocked("kernel.weft"))
    rows = json.loads(weft("waits", "kernel.weft", "--json").stdout)["threads"]
    ok({row["tid"]: row["blocked_ns"] for row in rows if row["blocked_ns"]} == {11: 990_000_000, 12: 780_000_000},
       "imported: waits count them", rows)
    path = json.loads(weft("path", "kernel.weft", "--thread", 11, "--json").stdout)
    ok(path["to_ns"] == 1_000_000_000 and path["segments"][-1]["state"] == "blocked",
       "imported: the path ends with the wait", path)
    for start, end, want in (
            (200, 300, [(11, 0, 100_000_000, True, True, True), (12, 0, 100_000_000, False, True, True)]),
            (400, 650, [(11, 0, 250_000_000, True, True, True), (12, 0, 100_000_000, False, True, False)]),
            (550, 650, [(11, 0, 100_000_000, True, True, True)]),
            (800, 2000, [(11, 0, 200_000_000, True, True, True), (12, 0, 200_000_000, False, True, True)])):
        name = f"cut_{start}.weft"
        to = ("--to", f"{end}ms") if end < 1000 else ()
        made = weft("cut", "-q", "--from", f"{start}ms", *to, "-o", name, "kernel.weft")
        ok(made.returncode == 0 and sorted(blocked(name)) == want, f"cut at {start} ms: waits stay open",
           (made.stderr, blocked(name)))


# The thread 13 sleeps while it ends, then leaves for good in a state without 1 and 2, as LTTng's traces have it.
ENDS = """# tracer: nop
          <idle>-0     [000] d..2   100.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ends next_pid=13 next_prio=120
            ends-13    [000] d..2   100.100000: sched_process_exit: comm=ends pid=13 prio=120
            ends-13    [000] d..2   100.200000: sched_switch: prev_comm=ends prev_pid=13 prev_prio=120 prev_state=S ==> next_comm=worker next_pid=10 next_prio=120
          worker-10    [000] d..3   100.400000: sched_waking: comm=ends pid=13 prio=120 target_cpu=000
          worker-10    [000] d..2   100.500000: sched_switch: prev_comm=worker prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=ends next_pid=13 next_prio=120
            ends-13    [000] d..2   100.600000: sched_switch: prev_comm=ends prev_pid=13 prev_prio=120 prev_state=P ==> next_comm=worker next_pid=10 next_prio=120
          worker-10    [000] d..2   101.000000: sched_switch: prev_comm=worker prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=swapper/0 next_pid=0 next_prio=120
"""


def test_ended_before_part():
    """A thread that ended before a part of a trace begins is not in it; one that sleeps while it ends is."""
    with open("ends.txt", "w", encoding="utf-8") as out:
        out.write(ENDS)
    made = weft("import", "-q", "-o", "ends.weft", "ends.txt")
    ok(made.returncode == 0 and blocked("ends.weft") == [(13, 200_000_000, 400_000_000, False, False, False)],
       "imported: a thread that ended is not blocked", (made.stderr, blocked("ends.weft")))
    for start, end, want in ((300, 550, [(13, 0, 100_000_000, False, True, False)]), (800, 1000, [])):
        name = f"ends_{start}.weft"
        made = weft("cut", "-q", "--from", f"{start}ms", "--to", f"{end}ms", "-o", name, "ends.weft")
        ok(made.returncode == 0 and blocked(name) == want, f"cut at {start} ms: threads that ended stay so",
           (made.stderr, blocked(name)))
    info = weft("info", "--threads", "ends_800.weft")
    ok(info.returncode == 0 and "worker" in info.stdout and "ends " not in info.stdout.split("threads", 1)[-1],
       "cut at 800 ms: the thread that ended is left out", info.stdout)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_imported()
        test_kernel_imported()
        test_ended_before_part()
        test("killed", "--no-kernel", lasts_ns=900_000_000)
        test("ended", "--no-kernel", "-d", "1s", seconds=3, lasts_ns=900_000_000)
        if os.geteuid() == 0:
            test("kernel_killed", lasts_ns=900_000_000)
            test("kernel_ended", "-d", "1s", seconds=3, lasts_ns=900_000_000)
            test_earlier()
            test_earlier("--no-bpf")
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
