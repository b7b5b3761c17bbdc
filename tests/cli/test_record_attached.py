#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that run before they are recorded: by number, name, cgroup and container, with all that descends
from them; their threads' names and their locks, without a library in them.
usage: test_record_attached.py WEFT ATTACHED"""
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tap  # noqa: E402
from tap import ok, running  # noqa: E402

WEFT = os.path.abspath(sys.argv[1])
PROGRAM = os.path.abspath(sys.argv[2])
weft = tap.runner(WEFT)
CGROUPS = pathlib.Path("/sys/fs/cgroup")
ID = "5e0f" * 16


def record(*options, output="attached.weft", seconds="1.5s"):
    return weft("record", "--force", "-o", output, "-d", seconds, *options)


def info(trace="attached.weft"):
    got = weft("info", "--json", trace)
    return json.loads(got.stdout) if got.returncode == 0 else {"thread_list": [], "process_list": [], "notes": []}


def own(about):
    return [thread for thread in about["thread_list"] if not thread["foreign"]]


def stacks(trace="attached.weft"):
    """Folded stacks, "NAME [TID];CATEGORY;outer;inner"."""
    lines = weft("flame", trace, "-f", "folded", "--weight", "stacks", "-q").stdout.splitlines()
    return [line.rsplit(" ", 1)[0].split(";") for line in lines]


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8")
    return {int(word) for word in text.split()}


# ---- which processes

def test_tree():
    """A master, its workers, and what they make while they are recorded."""
    with running(PROGRAM, "tree", 20) as master:
        workers = children(master.pid)
        got = record("-p", master.pid, seconds="2s")
    about = info()
    pids = {thread["pid"] for thread in own(about)}
    ok(got.returncode == 0 and workers | {master.pid} <= pids, "the workers that a process has made before",
       (got.stderr, workers, pids))
    ok(len(pids) >= len(workers) + 3, "and those that it makes later", pids)
    ok("recording" in got.stderr and str(master.pid) in got.stderr, "which processes these are is said", got.stderr)
    ledger = {process["pid"]: process for process in about["process_list"]}
    ok(pids == set(ledger) and all(process["name"].endswith("attached") for process in ledger.values()),
       "all are in the ledger, with their program", about["process_list"])
    of_pid = {}
    for stack in stacks():
        if "main" in stack:
            of_pid.setdefault(int(stack[0].split("[")[1][:-1]), []).append(" ".join(stack))
    named = {pid for pid, found in of_pid.items() if any("serve_child(" in stack for stack in found)}
    ok(workers <= named, "functions of the workers have names", (workers, of_pid.keys()))
    made = pids - workers - {master.pid}
    ok(made & named and any("run_tree" in stack for pid in made for stack in of_pid.get(pid, [])),
       "and those of a child of fork, which has its parent's maps", (made, of_pid.keys()))
    ok(any("run_tree" not in stack for pid in made & named for stack in of_pid[pid]),
       "and those of a child that runs a program of its own", made)


def test_no_follow():
    with running(PROGRAM, "tree", 20) as master:
        record("-p", master.pid, "--no-follow", seconds="1s")
    ok({thread["pid"] for thread in own(info())} == {master.pid}, "--no-follow: the process alone",
       own(info()))


def test_name():
    name = os.path.basename(PROGRAM)
    with running(PROGRAM, "tree", 20) as one, running(PROGRAM, "mutex", 20) as other:
        got = record("--name", name, seconds="1s")
    pids = {thread["pid"] for thread in own(info())}
    ok(got.returncode == 0 and {one.pid, other.pid} <= pids, "all processes of a name", (got.stderr, pids))
    with running(PROGRAM, "mutex", 20) as one, running("sh", "-c", "echo; sleep 20 & wait") as other:
        got = record("-p", other.pid, "--name", name, seconds="1s")
    pids = {thread["pid"] for thread in own(info())}
    ok({one.pid, other.pid} <= pids and len(pids) == 3, "beside a process by its number", (got.stderr, pids))


def make_cgroup(name):
    """A folder that processes can be moved to; None: that is not allowed here."""
    for front in (CGROUPS, CGROUPS / "systemd", CGROUPS / "cpu", CGROUPS / "freezer", CGROUPS / "pids"):
        if not (front / "cgroup.procs").exists():
            continue
        try:
            (front / name).mkdir(parents=True)
            return front / name
        except OSError:
            continue
    return None


def remove_cgroup(path):
    for _ in range(50):
        with contextlib.suppress(OSError):
            path.rmdir()
            return
        time.sleep(0.1)


def move(pid, path):
    (path / "cgroup.procs").write_text(str(pid), encoding="utf-8")


def test_cgroup():
    group = make_cgroup(f"weft-test-{os.getpid()}")
    container = make_cgroup(f"docker-{ID}.scope") if group else None
    if not container:
        tap.skip("no cgroup can be made here")
        return
    try:
        empty = record("--cgroup", group, seconds="1s")
        ok(empty.returncode == 1 and "no process runs in this cgroup" in empty.stderr, "an empty cgroup is an error",
           empty.stderr)
        with running(PROGRAM, "tree", 20) as inside, running(PROGRAM, "mutex", 20) as outside:
            move(inside.pid, group)
            got = record("--cgroup", group, seconds="1s")
            relative = record("--cgroup", str(group).replace(str(CGROUPS) + "/", ""), seconds="1s",
                              output="relative.weft")
            pids = {thread["pid"] for thread in own(info())}
            ok(got.returncode == 0 and inside.pid in pids and outside.pid not in pids, "processes of a cgroup",
               (got.stderr, pids))
            ok(relative.returncode == 0 and inside.pid in {thread["pid"] for thread in own(info("relative.weft"))},
               "which may be written below the mount", relative.stderr)
            move(outside.pid, container)
            got = record("--container", ID[:12], seconds="1s")
            pids = {thread["pid"] for thread in own(info())}
            ok(got.returncode == 0 and pids == {outside.pid}, "of a container, by the front of its id",
               (got.stderr, pids))
    finally:
        remove_cgroup(group)
        remove_cgroup(container)


# ---- what goes wrong

def test_errors():
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    for options, words in ((("-p", gone.pid), f"there is no process {gone.pid}"),
                           (("--name", "weft-no-such"), "no process has this name"),
                           (("--cgroup", "weft/no/such"), "there is no such cgroup"),
                           (("--cgroup", "../../proc"), "there is no such cgroup"),
                           (("--container", "0123456789ab"), "no container that runs has this id")):
        got = record(*options, output="none.weft")
        ok(got.returncode == 1 and words in got.stderr and not os.path.exists("none.weft"),
           f"{' '.join(map(str, options[:1]))}: {words}", (got.returncode, got.stderr))
    with running(PROGRAM, "mutex", 20) as program:
        tid = next(int(tid) for tid in os.listdir(f"/proc/{program.pid}/task") if int(tid) != program.pid)
        got = record("-p", tid, output="none.weft")
        ok(got.returncode == 1 and f"use -p {program.pid}" in got.stderr, "a thread is no process", got.stderr)
        for options in (("-p", program.pid, "-a"), ("--name", "x", "--", "true"), ("--name", "x", "--no-kernel")):
            ok(weft("record", *options).returncode == 2, f"usage: {options[0]} {options[-1]}")
        if os.geteuid() == 0 and shutil.which("setpriv"):
            os.chmod(".", 0o777)
            got = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "--inh-caps=-all", WEFT, "record",
                                  "-o", "none.weft", "-p", str(program.pid), "-d", "1s"],
                                 capture_output=True, text=True, check=False)
            ok(got.returncode != 0 and program.poll() is None, "another user's process, without the right to it",
               got.stderr)
            ok("run weft as root" in got.stderr or "not permitted" in got.stderr.lower() or
               "denied" in got.stderr.lower(), "is refused with a reason", got.stderr)


def test_end():
    """The recording ends with the process, and two of them may run at once."""
    with running(PROGRAM, "mutex", 2) as program:
        recorders = [subprocess.Popen([WEFT, "record", "-q", "--force", "-o", f"both{k}.weft", "-p", str(program.pid)])
                     for k in range(2)]
        codes = [recorder.wait(timeout=60) for recorder in recorders]
        program.wait()
    ok(codes == [0, 0] and program.returncode == 0, "two recorders at once, until the process ends", codes)
    for k in range(2):
        about = info(f"both{k}.weft")
        ok(len(own(about)) == 7, "each has all threads", own(about))


# ---- threads

def test_threads():
    with running(PROGRAM, "mutex", 20) as program:
        record("-p", program.pid, seconds="1.5s")
    names = sorted(thread["name"] for thread in own(info()) if thread["tid"] != program.pid)
    main = [thread["name"] for thread in own(info()) if thread["tid"] == program.pid]
    ok(names == ["flusher", "housekeeper"] + ["run_threads::{lambda#1}"] + ["worker"] * 3,
       "threads are called after their start functions", names)
    ok(main == [os.path.basename(PROGRAM)], "the main thread after the program", main)
    notes = {note["kind"]: note["count"] for note in info()["notes"]}
    ok(notes.get("threads_named") == 5, "which is noted", notes)


# ---- locks

def test_locks():
    """Without a library in the process: each futex word that was waited for is a lock, with its releaser."""
    with running(PROGRAM, "mutex", 20) as program:
        record("-p", program.pid, seconds="2.5s", output="locks.weft")
    found = json.loads(weft("locks", "locks.weft", "--json").stdout)
    lock = {row["lock"]: row for row in found["locks"]}.get("table_mutex")
    if not ok(lock and lock["kind"] == "mutex" and lock["sources"] == "futex" and lock["contended"] >= 6,
              "a mutex is found, and called after its variable", found["locks"]):
        return
    blockers = [row for row in found["blockers"] if row["lock"] == "table_mutex"]
    ok(blockers and blockers[0]["blocker"] == "flusher" and blockers[0]["waiter"] == "worker" and
       sum(row["sum_ns"] for row in blockers if row["blocker"] == "flusher") > 0.9 * lock["blocking_ns"],
       "the thread that held it", blockers)
    sites = {row["function"]: row for row in found["sites"] if row["lock"] == "table_mutex"}
    ok(sites.get("lookup(int)", {"contended": 0})["contended"] == lock["contended"] and
       "flush_table()" in sites, "where it is acquired", sites.keys())
    ok(lock["longest_wait_ns"] < 2_000_000_000 and lock["hold_ns"] < 2 * 2_500_000_000,
       "waits end where the thread got it", lock)
    pairs = json.loads(weft("interplay", "locks.weft", "--json").stdout)["pairs"]
    pair = [row for row in pairs if row["kind"] == "mutex" and row["wait_function"] == "lookup(int)" and
            row["release_function"] == "flush_table()"]
    ok(pair and pair[0]["confirmed"] > 0, "where it was released, by the waker's stack", pairs)
    wait = max((row for row in json.loads(weft("interplay", "locks.weft", "--json", "--limit", 0).stdout)["waits"]
                if row["object"] == "table_mutex"), key=lambda row: row["wait_ns"])
    path = json.loads(weft("path", "locks.weft", "--json", "--thread", wait["waiter_tid"], "--from",
                           f"{wait['start_ns']}ns", "--to", f"{wait['end_ns']}ns").stdout)
    ok(any(row["thread"] == "flusher" for row in path["segments"]) and
       any(arrow["edge"] == "release" for arrow in path["arrows"]), "the path leads to the holder", path["arrows"])
    notes = {note["kind"] for note in info("locks.weft")["notes"]}
    ok("contended_only" in notes, "that uncontended operations are missing is said", notes)


def test_diagnosis():
    """What repeats is found, and why it is slow, without a rule by hand."""
    with running(PROGRAM, "mutex", 20) as program:
        record("-p", program.pid, seconds="4s", output="slow.weft")
    found = json.loads(weft("executions", "slow.weft", "--json").stdout)["proposals"]
    ok(any(row["type"] == "worker after nanosleep" for row in found), "turns of threads are executions", found)
    said = weft("diagnose", "slow.weft").stdout
    ok("table_mutex" in said and "flusher" in said and "flush_table()" in said,
       "the lock, and the thread that holds it", said[:1500])


def test_shared_lock():
    with running(PROGRAM, "shared", 20) as program:
        record("-p", program.pid, seconds="2s", output="shared.weft")
    found = json.loads(weft("locks", "shared.weft", "--json").stdout)
    lock = [row for row in found["locks"] if row["lock"].startswith("index_mutex")]
    ok(lock and found["blockers"] and found["blockers"][0]["blocker"] == "flusher", "a std::shared_mutex, likewise",
       found["locks"])
    ok("read_index(int)" in {row["function"] for row in found["sites"]}, "with where it is acquired", found["sites"])


def test_deep():
    """A stack that is longer than what is copied of each."""
    with running(PROGRAM, "deep", 20) as program:
        record("-p", program.pid, seconds="2s", output="deep.weft")
    lines = weft("flame", "deep.weft", "-f", "folded", "--weight", "stacks", "-q").stdout.splitlines()
    waits = [(line.rsplit(" ", 1)[0].split(";"), int(line.rsplit(" ", 1)[1])) for line in lines if ";wait;" in line]
    n_all = sum(n for stack, n in waits if any("wait_below" in frame for frame in stack))
    n_whole = sum(n for stack, n in waits if "main" in stack and any("event_loop" in frame for frame in stack))
    ok(n_all >= 20 and n_whole >= 0.95 * n_all, "deep stacks of waits lead to main", (n_all, n_whole, waits[:3]))


def test_workers():
    """A trace does not depend on how many workers make it."""
    with running(PROGRAM, "mutex", 20) as program:
        recorder = subprocess.Popen([WEFT, "record", "-q", "--force", "-o", "killed.weft", "-p", str(program.pid)])
        time.sleep(1.5)
        recorder.kill()
        recorder.wait()
    made = []
    for jobs in (1, 4):
        shutil.copy("killed.weft", "made.weft")
        weft("info", "made.weft", "-j", jobs)
        made.append([info("made.weft")["thread_list"], weft("locks", "made.weft", "--json").stdout, stacks("made.weft")])
    ok(made[0] == made[1] and len(made[0][0]) > 6, "a recording becomes the same trace by one worker and by four")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with running(PROGRAM, "mutex", 20) as program:
            got = record("-p", program.pid, seconds="0.3s")
        if got.returncode != 0 or "kernel by BPF" not in weft("info", "attached.weft").stdout:
            tap.skip(f"the kernel cannot be recorded: {got.stderr}")
            tap.done()
        for test in (test_tree, test_no_follow, test_name, test_cgroup, test_errors, test_end, test_threads, test_locks,
                     test_diagnosis, test_shared_lock, test_deep, test_workers):
            test()
        os.chdir("/")
    tap.done()


main()
