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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok  # noqa: E402

WEFT, PROGRAM = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
weft = tap.runner(WEFT)
# Kinds that `locks` lists, and of those the ones with a holder.
LOCKS = {"mutex_a", "mutex_b", "condition", "rwlock", "semaphore", "join", "spin", "barrier"}
HELD = {"mutex_a", "mutex_b", "rwlock", "spin"}
# A thread is created, starts and is heard of: so much may pass between its log and its wait.
TOLERANCE_NS = 50_000_000


def record(name, *options, seconds):
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
        ok(wait and abs(wait["wait_ns"] - want_ns) < TOLERANCE_NS and wait["open"],
           f"{name}, {kind}: lasts to the end, open", (wait, want_ns))
        if kind in HELD:
            ok(wait and wait["holder_tid"] is not None, f"{name}, {kind}: its holder is named", wait)
    a, b = log["mutex_a"][0], log["mutex_b"][0]
    ok(waits.get(a, {}).get("holder_tid") == b and waits.get(b, {}).get("holder_tid") == a and
       waits[a]["deadlock"] == waits[b]["deadlock"] == 1 == locks["deadlocks"],
       f"{name}: a deadlock of two", (waits.get(a), waits.get(b)))
    lines = [line for line in weft("locks", f"{name}.weft").stdout.splitlines() if line.startswith("deadlock: ")]
    ok(len(lines) == 1 and lines[0].count("waits for") == 2 and "second held by" in lines[0] and
       "first held by" in lines[0], f"{name}: in one line", lines)
    ok(all(row["failed"] == 0 for row in locks["locks"]), f"{name}: open waits did not fail", locks["locks"])


def test_interplay(name, log, zero_ns, end_ns):
    waits = json.loads(weft("interplay", f"{name}.weft", "--json", "--limit", 0).stdout)["waits"]
    for kind, (tid, at_ns) in sorted(log.items()):
        if kind in ("read", "futex"):  # input is no wait of its own; a bare futex needs a kernel
            continue
        want_ns = end_ns - (at_ns - zero_ns)
        mine = [wait for wait in waits if wait["waiter_tid"] == tid and wait["wait_ns"] > want_ns / 2]
        ok(len(mine) == 1 and abs(mine[0]["wait_ns"] - want_ns) < TOLERANCE_NS and mine[0]["open"],
           f"{name}, {kind}: one open wait", mine)
        if kind in HELD:
            ok(mine and mine[0]["holder_tid"] is not None, f"{name}, {kind}: held by", mine)


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


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test("killed", "--no-kernel", lasts_ns=900_000_000)
        test("ended", "--no-kernel", "-d", "1s", seconds=3, lasts_ns=900_000_000)
        if os.geteuid() == 0:
            test("kernel_killed", lasts_ns=900_000_000)
            test("kernel_ended", "-d", "1s", seconds=3, lasts_ns=900_000_000)
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
