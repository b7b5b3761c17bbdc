#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same answer by two routes: what weft records of a program, others that are installed record, too.
perf and weft watch one run: the switches and wakings of its threads are the same, in the same order.
uftrace and LTTng tell of another run of a program that does the same each time: the same calls, with
the same nesting. LTTng's wrapper of pthread and weft's count the locks of one run.
usage: test_record_routes.py WEFT RECORDED    (RECORDED: recorded.c)"""
import collections
import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, skip  # noqa: E402

WEFT, PROGRAM = map(os.path.abspath, sys.argv[1:3])
LTTNG = "/usr/lib/x86_64-linux-gnu/liblttng-ust-"


def run(*command, **more):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          timeout=120, **more)


def last_lines(got):
    return "\n".join((got.stdout + got.stderr).splitlines()[-5:])


# ---- switches and wakings: perf ------------------------------------------------------------------


SWITCH = re.compile(r"prev_pid=(\d+) .*next_pid=(\d+) ")
WAKING = re.compile(r"pid=(\d+) prio=")
LINE = re.compile(r"\s*(\d+)\s+\[(\d+)\]\s+([\d.]+):\s+sched:(\w+):\s+(.*)")


def by_perf(path):
    """(what, who ran, other thread) in order of time, and whether something is missing."""
    got = run("perf", "script", "-i", path, "--ns", "-F", "tid,cpu,time,event,trace")
    found = []
    for line in got.stdout.splitlines():
        parts = LINE.match(line)
        if not parts:
            continue
        tid, _, at, event, text = parts.groups()
        if event == "sched_switch":
            previous, following = SWITCH.search(text + " ").groups()
            found.append((float(at), "switch", int(previous), int(following)))
        elif event == "sched_waking":
            found.append((float(at), "waking", int(tid), int(WAKING.search(text)[1])))
    lost = run("perf", "report", "-i", path, "--stats").stdout
    return sorted(found), "LOST" in lost


def by_weft(path):
    """Likewise, on perf's clock."""
    trace = json.loads(run(WEFT, "export", path, "--format", "chrome").stdout)
    zero_ns = trace["otherData"]["monotonic_ns"]
    found = []
    for event in trace["traceEvents"]:
        about = event.get("args", {}).get("weft", {}) if event["ph"] == "i" else {}
        if about.get("kind") in ("switch", "waking") and "next_tid" in about: # not of threads that waited before
            found.append(((zero_ns + 1000 * event["ts"]) / 1e9, about["kind"], event["tid"],
                          about["next_tid"]))
    return sorted(found)


def of_thread(events, what, tid, from_s, to_s):
    """Switches to and from a thread, or its wakings: of each kind one is after the other, while a
    waking and a switch may happen at once on two processors."""
    return [event[2:] for event in events if event[1] == what and from_s < event[0] < to_s and
            (event[3] == tid or (what == "switch" and event[2] == tid))]


def is_part(part, whole):
    """Does it stand in the other without a gap? Both have times of their own of what is at the edge."""
    return any(whole[k:k + len(part)] == part for k in range(len(whole) - len(part) + 1))


def alternates(switches, tid):
    """Does the thread come and leave in turn? Then no switch is missing, and none was invented."""
    return all((before[0] == tid) != (after[0] == tid) for before, after in zip(switches, switches[1:]))


def is_told(part, whole, tid):
    """Does all of it stand in the other, in the same order? perf leaves some switches out, on a quiet machine more
    than a tenth: then ours have to be whole by themselves."""
    rest = iter(whole)
    return all(event in rest for event in part) and (len(whole) <= 1.1 * len(part) + 10 or alternates(whole, tid))


def test_scheduling():
    if not shutil.which("perf"):
        skip("perf is not installed")
        return
    for _ in range(5):
        same = compare_scheduling()
        if same is None or same[0]:
            break
    if same:
        ok(same[0], "perf and weft tell the same switches and wakings, in the same order", same[1])
        print(f"# {same[2]} events compared")


def compare_scheduling():
    """None: skipped. Else whether both agree, what differs, and how much was compared."""
    got = run("perf", "record", "-q", "-a", "-k", "CLOCK_MONOTONIC", "-m", "2048", "-e",
              "sched:sched_switch", "-e", "sched:sched_waking", "-o", "perf.data", "--", WEFT,
              "record", "-q", "--no-functions", "-o", "both.weft", "--", PROGRAM, "hand", 4, 300)
    about = run(WEFT, "info", "both.weft", "--json", "--threads")
    levels = about.stdout if about.returncode == 0 else ""
    if got.returncode != 0 or "kernel by" not in levels:
        skip(f"the kernel cannot be recorded here twice: {last_lines(got)}")
        return None
    theirs, is_missing = by_perf("perf.data")
    ours = by_weft("both.weft")
    tids = [thread["tid"] for thread in json.loads(about.stdout)["thread_list"]
            if thread["name"].startswith("hand")]
    if is_missing:
        skip("perf lost records")
        return None
    n_compared, wrong = 0, []
    for tid in tids:
        times = [event[0] for event in ours if tid in event[2:]]
        from_s, to_s = min(times) + 0.001, max(times) - 0.001
        for what in ("switch", "waking"):
            a = of_thread(ours, what, tid, from_s, to_s)
            b = of_thread(theirs, what, tid, from_s - 1e-4, to_s + 1e-4)
            n_compared += len(a)
            inner = of_thread(theirs, what, tid, from_s + 1e-4, to_s - 1e-4)
            if not is_part(a, b) and not is_told(inner, a, tid):
                wrong.append((tid, what, len(a), len(b), a[:5], b[:5]))
    return len(tids) == 4 and n_compared > 400 and not wrong, (tids, wrong), n_compared


# ---- calls: uftrace and LTTng --------------------------------------------------------------------


def calls_by_weft():
    """Of each thread, the calls in order: (depth, function)."""
    run(WEFT, "record", "-q", "--no-kernel", "-o", "calls.weft", "--", PROGRAM, "known", 3, 200)
    threads = collections.defaultdict(list)
    table = run(WEFT, "export", "calls.weft", "--format", "csv").stdout
    for row in csv.DictReader(io.StringIO(table)):
        if row["function"] in ("thread", "step", "leaf"):
            threads[row["tid"]].append((int(row["start_ns"]), int(row["depth"]), row["function"]))
    return sorted([call[1:] for call in sorted(calls)] for calls in threads.values())


def test_uftrace(ours):
    if not shutil.which("uftrace"):
        skip("uftrace is not installed")
        return
    got = run("uftrace", "record", "-d", "uftrace", "--no-libcall", PROGRAM, "known", 3, 200)
    threads = collections.defaultdict(list)
    for line in run("uftrace", "replay", "-d", "uftrace", "-f", "tid").stdout.splitlines():
        parts = re.match(r" \[ *(\d+)\] \| ( *)(\w+)\(\)", line)
        if parts:
            threads[parts[1]].append((len(parts[2]) // 2, parts[3]))
    ok(got.returncode == 0 and ours == sorted(threads.values()) and len(ours) == 3,
       f"uftrace and weft tell the same {sum(map(len, ours))} calls, with the same nesting",
       (last_lines(got), [len(calls) for calls in ours], [len(calls) for calls in threads.values()]))


@contextlib.contextmanager
def lttng_session(folder):
    """A session of our own, with a daemon of our own unless one is there. None: it does not work."""
    name = f"weft-test-{os.getpid()}"
    daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    try:
        for _ in range(200): # until it answers
            if run("lttng", "list").returncode == 0:
                break
            time.sleep(0.05)
        done = [run("lttng", *command) for command in (
            ["create", name, f"--output={folder}/lttng"],
            ["enable-channel", "-u", "c", "--subbuf-size=1M", "--num-subbuf=8"],
            ["enable-event", "-u", "-a", "-c", "c"],
            ["add-context", "-u", "-c", "c", "-t", "vtid", "-t", "vpid"], ["start", name])]
        yield name if all(one.returncode == 0 for one in done) else None
    finally:
        run("lttng", "destroy", name)
        daemon.terminate()
        daemon.wait()


UNDER_LTTNG = ("sh", "-c", 'LD_PRELOAD="$LD_PRELOAD${LD_PRELOAD:+:}$0" exec "$@"', "LTTNG")


def by_lttng(libraries, *command):
    """Lines of babeltrace of what a command did that has a part UNDER_LTTNG; None: it cannot be
    told."""
    if not shutil.which("lttng") or not shutil.which("babeltrace2") or \
            not all(os.path.exists(f"{LTTNG}{name}.so") for name in libraries):
        return None
    with tempfile.TemporaryDirectory() as folder, lttng_session(folder) as session:
        if not session:
            return None
        preload = ":".join(f"{LTTNG}{name}.so" for name in libraries)
        got = run(*[preload if word == "LTTNG" else word for word in command],
                  env={**os.environ, "LTTNG_UST_REGISTER_TIMEOUT": "20000"})
        run("lttng", "stop", session)
        return run("babeltrace2", f"{folder}/lttng").stdout.splitlines() if got.returncode == 0 else None


def nested(kinds):
    """The depths of entries, in order."""
    depth, depths = 0, []
    for kind in kinds:
        if kind == "func_entry":
            depths.append(depth)
        depth += 1 if kind == "func_entry" else -1
    return depths


def test_lttng_calls(ours):
    lines = by_lttng(["cyg-profile-fast"], *UNDER_LTTNG, PROGRAM, "known", 3, 200)
    if lines is None:
        skip("LTTng does not work here")
        return
    threads = collections.defaultdict(list)
    for line in lines:
        parts = re.search(r"lttng_ust_cyg_profile_fast:(func_\w+): .*vtid = (\d+)", line)
        if parts:
            threads[parts[2]].append(parts[1])
    theirs = sorted(nested(kinds) for kinds in threads.values())
    ok(theirs == sorted([call[0] for call in calls] for calls in ours),
       f"LTTng and weft tell the same {sum(map(len, theirs))} calls, with the same nesting",
       [len(calls) for calls in theirs])


# ---- locks: LTTng --------------------------------------------------------------------------------


def test_locks():
    lines = by_lttng(["pthread-wrapper"], WEFT, "record", "-q", "--no-kernel", "--no-functions", "-o",
                     "locks.weft", "--", *UNDER_LTTNG, PROGRAM, "locks", 500)
    if lines is None:
        skip("LTTng does not work here")
        return
    theirs = collections.Counter()
    for line in lines:
        parts = re.search(r"pthread_mutex_(lock_acq|trylock|unlock): .*mutex = (0x[0-9A-Fa-f]+), "
                          r"status = (-?\d+)", line)
        if parts and parts[3] == "0": # weft tries first
            theirs[parts[1] == "unlock", int(parts[2], 16)] += 1
    found = json.loads(run(WEFT, "locks", "locks.weft", "--json").stdout)
    own = next(site["lock"] for site in found["sites"] if site["function"] == "lock_here")
    address = next(lock["address"] for lock in found["locks"] if lock["lock"] == own)
    counts = [lock["acquisitions"] for lock in found["locks"] if lock["lock"] == own]
    counts += [theirs[is_unlock, int(address, 16)] for is_unlock in (False, True)]
    ok(counts == [750] * 3, "LTTng and weft count the same locks of one run", (own, counts))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        test_scheduling()
        ours = calls_by_weft()
        test_uftrace(ours)
        test_lttng_calls(ours)
        test_locks()
        os.chdir("/")
    tap.done()


if __name__ == "__main__":
    main()
